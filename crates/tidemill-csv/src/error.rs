//! What can be wrong with a CSV file.

use std::fmt;
use std::io;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a CSV file could not be read or written. It does not name the file, which only the caller knows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be had, or not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The text breaks the rules.
    #[error("{0}")]
    Fault(Fault),
    /// An option that is not known, or a value that it does not take.
    #[error("{what}; {hint}")]
    Option {
        /// The option as it was given.
        what: String,
        /// What there is instead.
        hint: String,
    },
    /// A value or a type that CSV, or the encoding, does not have.
    #[error("{what}; {hint}")]
    Unwritable {
        /// The column, and what is in it.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// Arrow refused an array.
    #[error("{0}")]
    Arrow(#[from] arrow_schema::ArrowError),
}

/// Where a text breaks the rules, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1, in which the record begins. In a part of a file it is counted from the beginning of the part.
    pub line: u64,
    /// What was expected, and what was found.
    pub what: String,
    /// The next thing to try.
    pub hint: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; {}", self.line, self.what, self.hint)
    }
}

/// What a file must be to be read by another delimiter, quote or encoding than was found.
pub(crate) const SAY_HOW: &str =
    "options behind the name say how to read it: 'FILE.csv?delim=;&quote=none&encoding=cp1252'";

/// What to do about a record with fewer values than the first.
pub(crate) const TOO_FEW: &str = "an empty field is NULL, but its delimiter must be there; an end of a line within a field must stand in \
     quotes; if the delimiter is another one ('tidemill inspect FILE.csv' tells), say so: 'FILE.csv?delim=;'";

/// What to do about a record with more values than the first.
pub(crate) const TOO_MANY: &str = "a field that has the delimiter in it must stand in quotes; if the delimiter is another one \
     ('tidemill inspect FILE.csv' tells), say so: 'FILE.csv?delim=;'";
