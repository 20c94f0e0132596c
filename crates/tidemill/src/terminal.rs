//! Standard output, for data, and standard error, for everything else.
//!
//! Text for users goes through [`say`], [`tell`] and [`note`], which pass foreign text through [`printable`] and hide the secrets of URLs.
//! If the reader of standard output stops, as `head` does, a write fails; that is recorded here, and is not an error.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tidemill_trust::{TerminalWriter, printable, without_secrets};

/// Writes a line to standard output.
macro_rules! say {
    ($($arg:tt)*) => { $crate::terminal::say_line(&format!($($arg)*)) };
}

/// Writes a line to standard error.
macro_rules! tell {
    ($($arg:tt)*) => { $crate::terminal::tell_line(&format!($($arg)*)) };
}

/// Writes a line about finished work to standard error, unless `--quiet` is set.
macro_rules! note {
    ($($arg:tt)*) => { $crate::terminal::note_line(&format!($($arg)*)) };
}

pub(crate) use {note, say, tell};

/// Whether notes and progress are suppressed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes and progress from now on.
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
/// The error of a write to standard output.
pub(crate) fn say_line(line: &str) -> io::Result<()> {
    let mut out = Output::new();
    writeln!(out, "{}", shown(line))
}

/// Ignores errors: there is nowhere to report them.
pub(crate) fn tell_line(line: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

/// Foreign text without secrets and control characters.
pub(crate) fn shown(text: &str) -> String {
    printable(&without_secrets(text)).into_owned()
}

/// Standard output, which records whether its reader has stopped.
#[derive(Debug)]
pub(crate) struct Output(io::Stdout);

impl Output {
    pub(crate) fn new() -> Self {
        Self(io::stdout())
    }

    /// For text, which a terminal displays.
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
        // The write is retried.
        io::ErrorKind::Interrupted => {}
        _ => drop(FAILED.set(error.to_string())),
    })
}

/// Whether the reader of our output has stopped.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Acquire)
}

/// The error of a failed write to standard output, if any.
pub(crate) fn failed() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}

static CLOSED: AtomicBool = AtomicBool::new(false);
static FAILED: OnceLock<String> = OnceLock::new();
