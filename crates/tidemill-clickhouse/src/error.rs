//! What can go wrong, as facts: what was being read, where, what was expected and what was found.

use std::{io, time::Duration};

use arrow_schema::ArrowError;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why data could not be read, written or exchanged with a server.
///
/// Kinds are kept apart by what the caller can do: the system refused ([`Error::Io`], [`Error::Timeout`],
/// [`Error::Closed`]), the server refused ([`Error::Server`]), bytes that break the format ([`Error::Protocol`],
/// [`Error::Block`], [`Error::Checksum`], [`Error::Truncated`]), sound data that this version does not read
/// ([`Error::Unsupported`]), a bound ([`Error::Limit`]), and wrong use (the others).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The server answered with an exception.
    #[error(transparent)]
    Server(Box<ServerException>),
    /// A packet that breaks the protocol.
    #[error("{what} at byte {offset}: expected {expected}, found {found}")]
    Protocol {
        /// What was being read.
        what: &'static str,
        /// How many bytes of the packet were read before it.
        offset: u64,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Text that is not a data type.
    #[error("`{text}` is not a data type: {problem} at byte {offset}")]
    Type {
        /// The text, or its beginning.
        text: Box<str>,
        /// Where in it reading stopped.
        offset: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A block that does not hold together.
    #[error(transparent)]
    Block(Box<BlockError>),
    /// The data end where more must follow.
    #[error("the data end in {what}, after {offset} bytes")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// How many bytes were read.
        offset: u64,
    },
    /// The checksum of a compressed frame is not that of its bytes.
    #[error("checksum of the frame at byte {offset} is {found:032x}, expected {expected:032x}")]
    Checksum {
        /// Where the frame begins.
        offset: u64,
        /// The checksum in the frame.
        expected: u128,
        /// The checksum of the frame's bytes.
        found: u128,
    },
    /// A size beyond a bound.
    #[error("{what} is {found}, more than the limit of {limit}")]
    Limit {
        /// Which size.
        what: &'static str,
        /// The bound.
        limit: u64,
        /// The size.
        found: u64,
    },
    /// Sound data of a kind that is not read or written.
    #[error("{what} cannot be exchanged: {hint}")]
    Unsupported {
        /// What it is.
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// Something took longer than its limit.
    #[error("{action} took longer than {limit:?}")]
    Timeout {
        /// What was being done.
        action: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// An option that does not parse or does not go with others.
    #[error("option `{option}`: expected {expected}")]
    Option {
        /// The option, as written.
        option: String,
        /// What it may be.
        expected: String,
    },
    /// The connection was closed, by the server or after an earlier error.
    #[error("the connection is closed: {why}")]
    Closed {
        /// Why.
        why: &'static str,
    },
    /// The query was cancelled by its handle.
    #[error("the query was cancelled")]
    Cancelled,
    /// A row that does not fit the Rust type that it is wanted as, or the column that it is written to.
    #[error(transparent)]
    Row(Box<RowError>),
    /// Rows in the text of an `INSERT` that cannot be read.
    #[error("row {row} of the INSERT, at byte {offset} of its text: expected {expected}, found `{found}`")]
    InsertText {
        /// How many rows come before it.
        row: u64,
        /// How many bytes of the statement come before it.
        offset: u64,
        /// What may stand there.
        expected: &'static str,
        /// What stands there, or its beginning.
        found: String,
    },
    /// One row was asked for, and the answer has none.
    #[error("the query returned no rows")]
    RowNotFound,
    /// Columns that do not make a record batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

impl Error {
    /// Makes an error of the system's answer to `action`.
    pub(crate) fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// Says in which row of the column the value is, where only its place among the values of the level below was known.
    pub(crate) fn map_row(mut self, row_of: impl FnOnce(usize) -> Option<usize>) -> Self {
        if let Self::Block(error) = &mut self {
            let row = error.row.and_then(|row| usize::try_from(row).ok()).and_then(row_of);
            error.row = row.map(|row| row as u64);
        }
        self
    }

    /// Counts rows of the error from the begin of all that was written, of which `rows` came before the block.
    pub(crate) fn behind_rows(mut self, rows: u64) -> Self {
        if let Self::Block(error) = &mut self {
            error.row = error.row.map(|row| row + rows);
        }
        self
    }

    /// Names the column that the error is about, if it is about one.
    pub(crate) fn in_column(mut self, name: &str) -> Self {
        if let Self::Block(error) = &mut self
            && error.column.is_empty()
        {
            error.column = name.to_owned();
        }
        self
    }
}

/// An exception of the server, with what caused it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("server: {message} (code {code}, {name})")]
pub struct ServerException {
    /// ClickHouse's number of the error.
    pub code: i32,
    /// The class of the exception, such as `DB::Exception`.
    pub name: String,
    /// What it says.
    pub message: String,
    /// Where the server's code was, for its developers.
    pub stack_trace: String,
    /// The exception that led to this one.
    #[source]
    pub nested: Option<Box<ServerException>>,
}

/// Where in a block something is wrong, and what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}{what}, at byte {offset} of the block: expected {expected}, found {found}",
    InColumn(column, *row)
)]
#[non_exhaustive]
pub struct BlockError {
    /// The column, empty for the block itself.
    pub column: String,
    /// How many rows come before the one that a value of does not fit: rows of the block, or of all that an insert or a file
    /// was given. `None` where it is not about a value.
    pub row: Option<u64>,
    /// What was being read or written.
    pub what: &'static str,
    /// How many bytes of the block were read before the end of what is wrong.
    pub offset: u64,
    /// What may stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// Where a row and a Rust type do not go together, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}{}{}: {problem}", OfColumn(column, data_type), AsType(rust_type))]
#[non_exhaustive]
pub struct RowError {
    /// How many rows of the answer, or of the insert, come before it.
    pub row: u64,
    /// The column, empty when it is about the row as a whole.
    pub column: String,
    /// The column's type in ClickHouse, empty when there is no such column.
    pub data_type: String,
    /// The type of the value in Rust, as far as it is known.
    pub rust_type: &'static str,
    /// What is wrong.
    pub problem: String,
}

struct OfColumn<'a>(&'a str, &'a str);

impl std::fmt::Display for OfColumn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, self.1) {
            ("", _) => Ok(()),
            (column, "") => write!(f, ", column `{column}`"),
            (column, data_type) => write!(f, ", column `{column}` of type {data_type}"),
        }
    }
}

struct AsType<'a>(&'a str);

impl std::fmt::Display for AsType<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, ", {} in Rust", self.0)
        }
    }
}

struct InColumn<'a>(&'a str, Option<u64>);

impl std::fmt::Display for InColumn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, self.1) {
            ("", None) => Ok(()),
            ("", Some(row)) => write!(f, "row {row}: "),
            (column, None) => write!(f, "column `{column}`: "),
            (column, Some(row)) => write!(f, "column `{column}`, row {row}: "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<Error>() <= 80, "{} bytes", size_of::<Error>());
    }
}
