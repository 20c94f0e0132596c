//! The signals that ask a program to end.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// They are waited for from here on; before, they end the program by themselves.
#[cfg(unix)]
pub(crate) struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    /// In the runtime that looks at them.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for one and gives its number: 1 for HUP, 2 for INT, 15 for TERM.
    pub(crate) async fn next(&mut self) -> io::Result<u8> {
        Ok(tokio::select! {
            _ = self.hangup.recv() => 1,
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        })
    }
}

/// Elsewhere there is Ctrl-C, which is called 2 too.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> io::Result<u8> {
        tokio::signal::ctrl_c().await.map(|()| 2)
    }
}

impl Signals {
    /// As [`Signals::next`], but for INT where the command takes it itself.
    pub(crate) async fn next_but(&mut self, takes_interrupts: bool) -> io::Result<u8> {
        loop {
            match self.next().await? {
                2 if takes_interrupts => {}
                signal => return Ok(signal),
            }
        }
    }
}
