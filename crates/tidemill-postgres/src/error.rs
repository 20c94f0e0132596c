//! What can go wrong between a table and its rows.

use std::error::Error as _;
use std::fmt;

use tidemill_trust::{printable, without_secrets};

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
    /// There is no such schema or table.
    #[error("{name}: no such {kind}; {hint}")]
    NotFound {
        /// `schema` or `table`.
        kind: &'static str,
        /// The name, with its schema: `public.orders`.
        name: String,
        /// What is there.
        hint: String,
    },
    /// A table that was to be made is there.
    #[error("{name}: the table is there already")]
    Exists {
        /// The schema and the table.
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
    /// The bytes of a row are not those of its types, or a value is one that its Arrow type does not have.
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
    /// The rows do not begin, end or follow one another as COPY's format has it.
    #[error("{place}: row {row}: expected {expected}, found {found}")]
    Corrupt {
        /// The table or the statement.
        place: String,
        /// The row among all that were read, from 1.
        row: u64,
        /// What the format has.
        expected: String,
        /// What there was instead.
        found: String,
    },
    /// Something that PostgreSQL, or this crate, has no place for.
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

    /// The SQLSTATE of the server's error, where there is one: `42P01`.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        self.server().map(|error| error.sqlstate.as_str())
    }

    pub(crate) fn of(doing: impl Into<String>, error: &tokio_postgres::Error) -> Self {
        let doing = doing.into();
        match error.as_db_error() {
            Some(found) => Self::Server {
                doing,
                error: Box::new(ServerError::new(found)),
            },
            None => Self::Broken {
                doing,
                what: words(error),
            },
        }
    }
}

/// An error as the server sent it. What a terminal would obey in it is spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerError {
    /// The five letters that name the error: `42P01`.
    pub sqlstate: String,
    /// What happened.
    pub message: String,
    /// More of it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// The place in the statement, in characters from 1.
    pub position: Option<u32>,
    /// Where the server was, as in `COPY orders, line 3, column id`.
    pub context: Option<String>,
    /// The column that it is about.
    pub column: Option<String>,
    /// The constraint that it is about.
    pub constraint: Option<String>,
}

impl ServerError {
    pub(crate) fn new(error: &tokio_postgres::error::DbError) -> Self {
        use tokio_postgres::error::ErrorPosition;
        let text = |text: Option<&str>| text.map(shown);
        Self {
            sqlstate: shown(error.code().code()),
            message: shown(error.message()),
            detail: text(error.detail()),
            hint: text(error.hint()),
            position: match error.position() {
                Some(ErrorPosition::Original(position)) => Some(*position),
                _ => None,
            },
            context: text(error.where_()),
            column: text(error.column()),
            constraint: text(error.constraint()),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {}", self.message, self.sqlstate)?;
        if let Some(position) = self.position {
            write!(f, ", at character {position}")?;
        }
        write!(f, ")")?;
        let rest = [&self.detail, &self.hint, &self.context];
        rest.into_iter().flatten().try_for_each(|text| write!(f, "; {text}"))
    }
}

/// A text of the server.
fn shown(text: &str) -> String {
    let text = printable(text);
    without_secrets(&text).into_owned()
}

/// The words of the driver and of what caused its error.
pub(crate) fn words(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => shown(&cause.to_string()),
        None => shown(&error.to_string()),
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
