//! Stops statements that run on their own threads: on request, or when their result is no longer needed.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidemill_ads::sql::Watch;

type IsStopped = Arc<dyn Fn() -> bool + Send + Sync>;

tokio::task_local! {
    /// The stop condition of the current work.
    static ASKED: IsStopped;
}

/// Waits for work. Its statements over xBase tables stop as soon as `is_stopped` returns true, with an [`Error::Ads`](crate::Error::Ads),
/// and have then changed nothing. Other statements continue; they stop when their future is dropped.
pub async fn stoppable<T>(is_stopped: impl Fn() -> bool + Send + Sync + 'static, work: impl Future<Output = T>) -> T {
    ASKED.scope(Arc::new(is_stopped), work).await
}

/// Stops the work of another thread when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// The stop condition for the other thread.
    pub(crate) fn watch(&self) -> Watch {
        let (is_dropped, asked) = (Arc::clone(&self.0), ASKED.try_with(Arc::clone).ok());
        Watch::new(move || {
            match is_dropped.load(Ordering::Relaxed) || asked.as_ref().is_some_and(|is_stopped| is_stopped()) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
