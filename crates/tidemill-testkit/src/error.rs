//! Why a server of the tests could not be had.

use std::{error::Error as _, path::PathBuf, time::Duration};

use thiserror::Error;

/// Why a server of the tests could not be had, or did not answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The server is not in the cache folder.
    #[error("{server} is not in {folder}: `cargo xtask provision` puts it there")]
    NotProvisioned {
        /// Name of the server.
        server: &'static str,
        /// The folder that was looked into.
        folder: PathBuf,
    },
    /// The file that describes an installation cannot be read.
    #[error("{path}: {why}")]
    Stamp {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no Java of a version that the server runs on.
    #[error("no java 11 or 17 in JAVA_HOME, /usr/lib/jvm or PATH")]
    Java,
    /// The operating system refused.
    #[error("{what}")]
    Io {
        /// What was being done.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
    /// The server ended before it answered.
    #[error("{server} ended with {status} before it answered; its last words:\n{log}")]
    Ended {
        /// Name of the server.
        server: &'static str,
        /// How it ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// The server did not answer in time.
    #[error("{server} did not answer within {}s; its last words:\n{log}", waited.as_secs())]
    Silent {
        /// Name of the server.
        server: &'static str,
        /// How long was waited.
        waited: Duration,
        /// The end of its log.
        log: String,
    },
    /// The server answered something else than was asked for.
    #[error("{server} answered {found:?} where {expected} was expected")]
    Answer {
        /// Name of the server.
        server: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What came.
        found: String,
    },
}

impl ServerError {
    /// Fails the calling test with this error and its cause.
    pub(crate) fn fail(&self) -> ! {
        match self.source() {
            Some(cause) => panic!("{self}: {cause}"),
            None => panic!("{self}"),
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
