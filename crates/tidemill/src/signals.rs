//! The signals that ask a program to end.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Handles the signals once it is created; until then they end the program.
#[cfg(unix)]
pub(crate) struct Signals {
    /// `None` if the program was started to outlive its terminal, as by nohup.
    hangup: Option<Signal>,
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Must be called in the runtime that waits for them.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: match is_ignored(HANGUP) {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for a signal, and returns its number: 1 for HUP, 2 for INT, 15 for TERM.
    pub(crate) async fn next(&mut self) -> io::Result<u8> {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        Ok(tokio::select! {
            _ = hangup => HANGUP,
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        })
    }
}

#[cfg(unix)]
const HANGUP: u8 = 1;

/// Whether a signal is ignored (proc_pid_status(5)); false if unknown.
#[cfg(unix)]
fn is_ignored(signal: u8) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// On other systems: only Ctrl-C, as number 2.
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
    /// As [`Signals::next`], but skips INT if the command handles it itself.
    pub(crate) async fn next_but(&mut self, takes_interrupts: bool) -> io::Result<u8> {
        loop {
            match self.next().await? {
                2 if takes_interrupts => {}
                signal => return Ok(signal),
            }
        }
    }
}
