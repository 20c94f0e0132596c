//! What can go wrong, as facts: which file, which line, what was expected and what was found.

use std::{
    io,
    path::{Path, PathBuf},
};

use arrow_schema::ArrowError;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a load test could not be run, or its report not be written, read or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Output could not be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    /// A file that is not a report, or a damaged one.
    #[error("{}:{line}: expected {expected}, found {found}", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Sound data in a form that this version doesn't read.
    #[error("{}: {what} is not supported", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is in it.
        what: String,
    },
    /// Rows that can't be laid out.
    #[error("cannot lay out rows")]
    Rows(#[from] ArrowError),
    /// A picture that can't be drawn.
    #[error("cannot draw: {0}")]
    Drawing(String),
    /// Wrong use.
    #[error("{0}")]
    Misuse(String),
    /// A script that cannot be read or compiled, or that was stopped.
    #[error("{}: {what}", script.display())]
    Script {
        /// The script.
        script: PathBuf,
        /// Why, with the lines at fault.
        what: String,
    },
    /// A function of the workload failed.
    #[error("function {function} failed: {what}")]
    Function {
        /// Its name.
        function: String,
        /// Why, or where it was stopped.
        what: String,
    },
    /// No connection to the target.
    #[error("cannot connect to {address}: {what}")]
    Connect {
        /// Its address.
        address: String,
        /// The target's answer.
        what: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
