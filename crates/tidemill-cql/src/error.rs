//! What can go wrong between a table and its rows.

use std::fmt;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a cluster could not be asked, or a table not be read or filled. No text has a password in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL of a cluster is not understood.
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
    /// No node of the cluster could be reached, or none let the user in.
    #[error("cannot connect to {hosts}: {what}")]
    Connect {
        /// The nodes that were tried.
        hosts: String,
        /// The driver's words.
        what: String,
    },
    /// There is no such keyspace or table.
    #[error("{name}: no such {kind}; {hint}")]
    NotFound {
        /// `keyspace` or `table`.
        kind: &'static str,
        /// The name, with its keyspace: `shop.orders`.
        name: String,
        /// What is there.
        hint: String,
    },
    /// The cluster refused a request, did not answer in time, or could not be reached any more.
    #[error("{place}: {doing}: {what}")]
    Request {
        /// The keyspace and table, or the statement.
        place: String,
        /// What was tried, as a noun: "reading", "inserting row 7".
        doing: String,
        /// The driver's words, causes and all.
        what: String,
    },
    /// The bytes of a value are not those of its type.
    #[error("{place}: column {column}: expected {expected}, found {found}")]
    Corrupt {
        /// The keyspace and table.
        place: String,
        /// The column's name.
        column: String,
        /// What the type has.
        expected: String,
        /// What there was instead.
        found: String,
    },
    /// A value that the column it is meant for can't hold.
    #[error("{place}: row {row}, column {column}: expected {expected}, found {found}")]
    Value {
        /// The keyspace and table.
        place: String,
        /// The row among all that were inserted, from 1.
        row: u64,
        /// The column's name.
        column: String,
        /// What the column holds.
        expected: String,
        /// The value.
        found: String,
    },
    /// Something that Cassandra has no place for.
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

/// A value that does not fit its type. The caller adds the table and the column.
#[derive(Debug)]
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

    pub(crate) fn read(self, place: &str, column: &str) -> Error {
        Error::Corrupt {
            place: place.to_owned(),
            column: column.to_owned(),
            expected: self.expected,
            found: self.found,
        }
    }

    pub(crate) fn written(self, place: &str, row: u64, column: &str) -> Error {
        Error::Value {
            place: place.to_owned(),
            row,
            column: column.to_owned(),
            expected: self.expected,
            found: self.found,
        }
    }
}
