//! Ctrl-C.

use std::process;
use std::thread;

use tokio::sync::watch;

use crate::error::{Error, Result};

/// Whether the run is to end early. Clones watch the same.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// Waits for Ctrl-C on a thread of its own. The second one ends the process at once, with 130 as shells do.
    ///
    /// # Errors
    /// When the system gives no thread or no signals.
    pub(crate) fn on_ctrl_c() -> Result<Self> {
        let (sender, receiver) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::Output)?;
        thread::Builder::new()
            .name("ctrl-c".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    if tokio::signal::ctrl_c().await.is_err() {
                        // Without signals the run continues to its end.
                        return std::future::pending::<()>().await;
                    }
                    eprintln!("\ninfo: Stopping after the calls in flight; Ctrl-C again stops at once");
                    sender.send_replace(true);
                    if tokio::signal::ctrl_c().await.is_ok() {
                        process::exit(130);
                    }
                });
            })
            .map_err(Error::Output)?;
        Ok(Self(receiver))
    }

    /// One that a program sends itself.
    pub(crate) fn by_hand() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Whether it came.
    pub(crate) fn came(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it comes; for ever, when nobody can send it any more.
    pub(super) async fn wait(&mut self) {
        if self.0.wait_for(|came| *came).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
