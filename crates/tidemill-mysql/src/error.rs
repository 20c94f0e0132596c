//! What can go wrong between a table and its rows.

use std::fmt;
use std::io;

use tidemill_trust::{printable, without_secrets};

use crate::reader::Reader;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a server could not be asked, or a table not be read or filled. No text has a password in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL of a server is not understood.
    #[error("{what}")]
    Url {
        /// Which part, what was expected and what was found.
        what: String,
    },
    /// What connections are to be encrypted with could not be read or used.
    #[error("TLS: {what}")]
    Tls {
        /// The file or the setting, and why.
        what: String,
    },
    /// The server could not be reached, or did not let the user in.
    #[error("cannot connect to {host}: {what}")]
    Connect {
        /// The server's address.
        host: String,
        /// Why, in the words of the server or of the system.
        what: String,
        /// The server's own error, where it sent one.
        server: Option<Box<ServerError>>,
    },
    /// There is no such database, table or column.
    #[error("{name}: no such {kind}; {hint}")]
    NotFound {
        /// `database`, `table` or `column`.
        kind: &'static str,
        /// The name, with its database: `shop.orders`.
        name: String,
        /// What is there.
        hint: String,
    },
    /// A table that was to be made is there.
    #[error("{name}: the table is there already")]
    Exists {
        /// The database and the table.
        name: String,
    },
    /// The server refused a statement.
    #[error("{doing}: {error}")]
    Server {
        /// What was tried, as a noun: "reading shop.orders".
        doing: String,
        /// The server's words.
        error: Box<ServerError>,
    },
    /// The connection broke, or the server sent what the protocol does not have.
    #[error("{doing}: the connection broke: {what}")]
    Broken {
        /// What was tried, as a noun.
        doing: String,
        /// What happened.
        what: String,
    },
    /// The server did not answer in time.
    #[error("{doing}: the server did not answer within {seconds} s; the option timeout allows more")]
    Timeout {
        /// What was tried, as a noun.
        doing: String,
        /// The limit.
        seconds: f64,
    },
    /// The bytes of a row are not those of its types, or a value is one that its column or its Arrow type does not have.
    #[error("{place}: row {row}, column {column}: expected {expected}, found {found}")]
    Value {
        /// The table or the statement.
        place: String,
        /// The row among all that were read or written, from 1.
        row: u64,
        /// The column's name.
        column: String,
        /// What the type has.
        expected: String,
        /// What there was instead, and what to do about it.
        found: String,
    },
    /// Rows are not sent as the protocol has it.
    #[error("{place}: row {row}: expected {expected}, found {found}")]
    Corrupt {
        /// The table or the statement.
        place: String,
        /// The row among all that were read, from 1.
        row: u64,
        /// What the protocol has.
        expected: String,
        /// What there was instead.
        found: String,
    },
    /// The server took fewer rows than it was sent, or took some only in part. Nothing is left of them, but in tables of engines
    /// without transactions.
    #[error("{place}: expected {expected} rows, found {found}; {why}")]
    Count {
        /// The table.
        place: String,
        /// How many rows were sent.
        expected: u64,
        /// How many the server has.
        found: u64,
        /// The server's first warning.
        why: String,
    },
    /// Something that MySQL, or this crate, has no place for.
    #[error("{what} is not supported; {hint}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// Arrays could not be put together.
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
}

impl Error {
    /// The server's own error, where there is one.
    #[must_use]
    pub fn server(&self) -> Option<&ServerError> {
        match self {
            Self::Server { error, .. } => Some(error),
            Self::Connect { server, .. } => server.as_deref(),
            _ => None,
        }
    }

    /// The number of the server's error, where there is one: 1146.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        self.server().map(|error| error.code)
    }

    /// The SQLSTATE of the server's error, where there is one: `42S02`.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        self.server().map(|error| error.sqlstate.as_str())
    }

    pub(crate) fn of(doing: impl Into<String>, fault: Fault) -> Self {
        let doing = doing.into();
        match fault {
            Fault::Server(error) => Self::Server { doing, error },
            Fault::Io(error) => Self::Broken {
                doing,
                what: error.to_string(),
            },
            Fault::Protocol(what) => Self::Broken { doing, what },
        }
    }
}

/// An error as the server sent it. What a terminal would obey in it is spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerError {
    /// Its number: 1146.
    pub code: u16,
    /// The five letters that name its kind: `42S02`. `HY000` where the server sent none.
    pub sqlstate: String,
    /// What happened.
    pub message: String,
}

impl ServerError {
    /// Of a packet, behind its first byte.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(payload);
        let code = reader.u16()?;
        let (sqlstate, message) = match reader
            .rest()
            .strip_prefix(b"#")
            .and_then(|rest| rest.split_at_checked(5))
        {
            Some((sqlstate, message)) => (shown(sqlstate), message),
            // Before the handshake is over.
            None => ("HY000".to_owned(), reader.rest()),
        };
        Some(Self {
            code,
            sqlstate,
            message: shown(message),
        })
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error {}, SQLSTATE {})", self.message, self.code, self.sqlstate)
    }
}

/// A text of the server.
pub(crate) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = printable(&text);
    without_secrets(&text).into_owned()
}

/// What came of a request, before it is known what it was for.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server refused.
    Server(Box<ServerError>),
    /// The connection broke.
    Io(io::Error),
    /// The server sent what the protocol does not have there.
    Protocol(String),
}

impl Fault {
    /// An answer that is not what the protocol has there.
    pub(crate) fn unexpected(expected: &str, payload: &[u8]) -> Self {
        let begin = payload.get(..payload.len().min(16)).unwrap_or_default();
        Self::Protocol(format!(
            "expected {expected}, found {} bytes that begin with {begin:02x?}",
            payload.len()
        ))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A value that does not fit its type. The caller adds the table, the row and the column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Misfit {
    pub(crate) fn new(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self {
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    pub(crate) fn at(self, place: &str, row: u64, column: &str) -> Error {
        Error::Value {
            place: place.to_owned(),
            row,
            column: column.to_owned(),
            expected: self.expected,
            found: self.found,
        }
    }
}
