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
        /// The operation that failed, with its file or address.
        what: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of users cannot be parsed.
    #[error("{place}: {what}")]
    Users {
        /// The file and the line.
        place: String,
        /// What was expected and what was found.
        what: String,
    },
    /// Settings that contradict each other.
    #[error("{what}; {hint}")]
    Settings {
        /// The contradiction.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// A listener has ended while the server ran: a defect, whose panic the inner error describes.
    #[error("the server no longer accepts connections at one of its addresses; start it again")]
    Listener(#[source] Option<tokio::task::JoinError>),
    /// A folder or a store that is to be served does not exist.
    #[error(transparent)]
    Store(#[from] tidemill_sql::Error),
}
