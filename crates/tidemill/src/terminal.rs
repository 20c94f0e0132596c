//! Standard output and standard error: data to the one, everything else to the other.
//!
//! Text that is for a person goes through [`say`], [`tell`] and [`note`], which show what others wrote as [`printable`] does, and URLs without
//! their secrets. Whoever reads standard output may stop, as `head` does; that is known here, by the write that failed, and is no error.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tidemill_trust::{TerminalWriter, printable, without_secrets};

/// Writes a line for a person to standard output.
macro_rules! say {
    ($($arg:tt)*) => { $crate::terminal::say_line(&format!($($arg)*)) };
}

/// Writes a line for a person to standard error.
macro_rules! tell {
    ($($arg:tt)*) => { $crate::terminal::tell_line(&format!($($arg)*)) };
}

/// Writes a line for a person to standard error that says what was done, unless nobody wants to know.
macro_rules! note {
    ($($arg:tt)*) => { $crate::terminal::note_line(&format!($($arg)*)) };
}

pub(crate) use {note, say, tell};

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves notes and progress out from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

pub(crate) fn note_line(line: &str) {
    if !is_quiet() {
        tell_line(line);
    }
}

/// # Errors
///
/// What writing to standard output meets.
pub(crate) fn say_line(line: &str) -> io::Result<()> {
    let mut out = Output::new();
    writeln!(out, "{}", shown(line))
}

/// Nobody may read standard error, and there is nowhere else to say so.
pub(crate) fn tell_line(line: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

/// What others wrote, without secrets and with nothing that a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    printable(&without_secrets(text)).into_owned()
}

/// Standard output, which remembers that nobody reads it any more.
#[derive(Debug)]
pub(crate) struct Output(io::Stdout);

impl Output {
    pub(crate) fn new() -> Self {
        Self(io::stdout())
    }

    /// For data that is text: on a terminal a person reads it.
    pub(crate) fn of_text() -> Box<dyn Write + Send> {
        match io::stdout().is_terminal() {
            true => Box::new(TerminalWriter::new(Self::new())),
            false => Box::new(Self::new()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        noted(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        noted(self.0.flush())
    }
}

fn noted<T>(written: io::Result<T>) -> io::Result<T> {
    written.inspect_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CLOSED.store(true, Ordering::Release),
        // It is asked again.
        io::ErrorKind::Interrupted => {}
        _ => drop(FAILED.set(error.to_string())),
    })
}

/// Whether whoever read our output stopped reading.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Acquire)
}

/// The error with which writing to standard output failed, if it did.
pub(crate) fn failed() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}

static CLOSED: AtomicBool = AtomicBool::new(false);
static FAILED: OnceLock<String> = OnceLock::new();
