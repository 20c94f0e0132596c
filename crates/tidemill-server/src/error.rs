//! Why a server does not start.

use std::io;

/// The result of starting a server.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a server does not start, or ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, and with which file or address.
        what: String,
        /// The refusal.
        source: io::Error,
    },
    /// A file of users is not understood.
    #[error("{place}: {what}")]
    Users {
        /// The file and the line.
        place: String,
        /// What was expected and what was found.
        what: String,
    },
    /// The settings do not go together.
    #[error("{what}; {hint}")]
    Settings {
        /// Why not.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// A folder or a store that is to be served is not there.
    #[error(transparent)]
    Store(#[from] tidemill_sql::Error),
}
