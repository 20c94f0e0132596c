//! The errors of statements and copies.

use std::io;
use std::path::{Path, PathBuf};

use datafusion::error::DataFusionError;
use tidemill_trust::with_causes;
use tidemill_xbase::index::IndexDialect;

use crate::plain::Plain;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement or a copy failed. The text names the table or file and, if known, a hint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation, as a verb phrase: "open", "create".
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A name in a statement or on the command line does not match a table.
    #[error("{name}: no such table; {hint}")]
    NotFound {
        /// The name as it was given.
        name: String,
        /// Where it was looked for, and what exists there.
        hint: String,
    },
    /// A name matches more than one table.
    #[error("{name}: could be any of {}; name one with its extension", candidates.join(", "))]
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// The matching files.
        candidates: Vec<String>,
    },
    /// The parser does not accept the statement.
    #[error("{message}")]
    Parse {
        /// The parser's message, with line and column.
        message: String,
    },
    /// Something that this version does not support.
    #[error("{what} is not supported; {hint}")]
    Unsupported {
        /// What was requested.
        what: String,
        /// A hint.
        hint: String,
    },
    /// Something that this session is not allowed to do.
    #[error("{what} is not allowed here; {hint}")]
    Denied {
        /// What was requested.
        what: String,
        /// A hint.
        hint: String,
    },
    /// A file that is not a table, by its bytes and its name.
    #[error("{place}: {what}; {hint}")]
    NotATable {
        /// The file.
        place: String,
        /// What it is.
        what: String,
        /// A hint.
        hint: String,
    },
    /// A part of a file would exceed a memory limit.
    #[error("{place}: {what}; --max-memory SIZE allows more")]
    TooLarge {
        /// The file.
        place: String,
        /// Which part, and how much.
        what: String,
    },
    /// The destination of a copy exists already.
    #[error("{place}: already exists; --overwrite replaces it")]
    Exists {
        /// The destination.
        place: String,
    },
    /// The finished copy has another number of rows than were written.
    #[error("{place}: {found} rows were found after copying {written}; {left}")]
    RowCount {
        /// The destination.
        place: String,
        /// Rows that were written.
        written: u64,
        /// Rows found when the copy was read.
        found: u64,
        /// What remains of the copy.
        left: Left,
    },
    /// A followed table is shorter than the part already copied.
    #[error("{place}: it ends at {found}, and was copied as far as {copied}: it is not the table that was followed")]
    Shrunk {
        /// The source.
        place: String,
        /// The position that was reached.
        copied: u64,
        /// The position where the source ends.
        found: u64,
    },
    /// A followed table, or its target, is not the same table as before.
    #[error("{place}: {why}; to follow from the beginning, remove the target and follow again")]
    Replaced {
        /// The source, or the target.
        place: String,
        /// The difference.
        why: String,
    },
    /// A copy has other values than those written.
    #[error("{place}: column {column} does not hold what was written: {written} went in, {found} came back; {left}")]
    Checksum {
        /// The destination.
        place: String,
        /// The column, or the rows as a whole.
        column: String,
        /// The checksum of the written values, their NULLs, or their type.
        written: String,
        /// The same of the values found.
        found: String,
        /// What remains of the copy.
        left: Left,
    },
    /// Values may lose something in the column types of the copy.
    #[error("{place}: {}; --lossy copies them so", columns.join("; "))]
    Lossy {
        /// The destination.
        place: String,
        /// The columns, their types in the source and in the copy, and what they lose.
        columns: Vec<String>,
    },
    /// A table of a server cannot store a column of the rows, or one of its values.
    #[error("{place}: column {column}: {why}; {hint}")]
    UnfitColumn {
        /// The destination.
        place: String,
        /// The column's name in the table.
        column: String,
        /// Why not, with the row of the value if it is one.
        why: String,
        /// A hint.
        hint: String,
    },
    /// A new table cannot store a value.
    #[error("{place}: row {row}, column {column}: expected {expected}, found {found}; {hint}")]
    Unfit {
        /// The destination.
        place: String,
        /// The row, counted from 1.
        row: u64,
        /// The column's name in the copy.
        column: String,
        /// What the column accepts.
        expected: String,
        /// The value.
        found: String,
        /// A hint.
        hint: &'static str,
    },
    /// An xBase table could not be read or written.
    #[error(transparent)]
    Xbase(Box<tidemill_xbase::Error>),
    /// A statement was refused or failed. The message is that of [`Error::plain`]; the inner error has the message of ADS.
    #[error("{}", Plain::of(.0))]
    Ads(Box<tidemill_ads::Error>),
    /// A Riegeli file could not be read or written.
    #[error(transparent)]
    Riegeli(Box<tidemill_riegeli::Error>),
    /// A file of FORMAT Native could not be read or written.
    #[error("{place}: {}", with_causes(.error))]
    Native {
        /// The file.
        place: String,
        /// The error.
        error: Box<tidemill_clickhouse::Error>,
    },
    /// A CSV file could not be read or written.
    #[error("{place}: {error}")]
    Csv {
        /// The file.
        place: String,
        /// The error.
        error: Box<tidemill_csv::Error>,
    },
    /// A record of a JSON file could not be read.
    #[error("{place}: {at}: {what}")]
    Json {
        /// The file.
        place: String,
        /// The record, by its line or its number, both counted from 1.
        at: String,
        /// The error.
        what: String,
    },
    /// A workbook could not be read or written.
    #[cfg(feature = "excel")]
    #[error("{place}: {error}")]
    Excel {
        /// The file.
        place: String,
        /// The error.
        error: Box<tidemill_excel::Error>,
    },
    /// A server did not answer, or refused.
    #[error("{place}: {}", with_causes(&**.error))]
    Server {
        /// The URL of the table without its password.
        place: String,
        /// What the error is about.
        fault: Fault,
        /// Whether the server could not be reached, or the connection broke.
        is_of_connection: bool,
        /// The error of the client or the server.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The query engine panicked.
    #[error("a defect of Tidemill: {what}; please report it with the statement and, if you may, the file")]
    Defect {
        /// The message of the panic.
        what: String,
    },
    /// Planning or execution failed in the query engine.
    #[error("{}", own(.0).map_or_else(|| words(.0), ToString::to_string))]
    Engine(Box<DataFusionError>),
}

/// The category of an error of the planner or of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An unsupported feature.
    Unsupported,
    /// A table or a database that does not exist.
    NotFound,
    /// The statement: its grammar, a name, a type, an option.
    Statement,
    /// A value: a text that is not a number, an overflow, a damaged Parquet file.
    Value,
    /// The operating system, the network, an object store, a server that refuses, or exhausted memory.
    Io,
    /// A defect of the planner.
    Internal,
}

/// What remains of a copy that failed its verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Removed,
    /// The copy: rows that a server has stored, or a table that has its name already.
    Kept,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Removed => "the copy was removed",
            Self::Kept => "what was copied is still there",
        })
    }
}

/// A message with the name of its file.
fn named(message: String, file: &str) -> String {
    match message.starts_with(file) {
        true => message,
        false => format!("{file}: {message}"),
    }
}

impl Error {
    /// The same error for a copy that remains.
    pub(crate) fn of_kept_copy(mut self) -> Self {
        if let Self::RowCount { left, .. } | Self::Checksum { left, .. } = &mut self {
            *left = Left::Kept;
        }
        self
    }

    /// Renames the draft in an error to the destination.
    pub(crate) fn of_copy(self, destination: &str) -> Self {
        use tidemill_xbase::Error as Xbase;
        let place = destination.to_owned();
        match self {
            Self::Io { action, source, .. } => Self::Io {
                path: destination.into(),
                action,
                source,
            },
            Self::Native { error, .. } => Self::Native { place, error },
            Self::Csv { error, .. } => Self::Csv { place, error },
            #[cfg(feature = "excel")]
            Self::Excel { error, .. } => Self::Excel { place, error },
            Self::Xbase(error) => match *error {
                Xbase::Value(bad) => Self::Unfit {
                    place,
                    row: u64::from(bad.record),
                    column: bad.field,
                    hint: match bad.expected.as_str() {
                        expected if expected.starts_with("characters of") => {
                            "--to-codepage NAME chooses a code page that has it"
                        }
                        _ if bad.found == "null" => "--to-dialect visual-foxpro makes a table that keeps NULL",
                        _ => "give it another type or value with a SELECT",
                    },
                    expected: bad.expected,
                    found: bad.found,
                },
                Xbase::Io { action, source, .. } => Self::Xbase(Box::new(Xbase::Io {
                    path: destination.into(),
                    action,
                    source,
                })),
                Xbase::Misuse(what) => Self::Xbase(Box::new(Xbase::Misuse(named(what, destination)))),
                other => Self::Xbase(Box::new(other)),
            },
            Self::Unsupported { what, hint } => Self::Unsupported {
                what: named(what, destination),
                hint,
            },
            // Libraries that write formats do not name the file of an I/O error.
            other => match refusal(&other) {
                Some(source) => Self::io(destination, "write")(source),
                None => other,
            },
        }
    }

    /// The file or folder of an I/O error.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } => Some(path),
            Self::Xbase(error) => match &**error {
                tidemill_xbase::Error::Io { path, .. } => Some(path),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an index file is damaged; the table can be read without it.
    pub fn is_of_index(&self) -> bool {
        match self {
            Self::Xbase(error) => is_of_index(error),
            Self::Ads(error) => is_of_damaged_index(error),
            Self::Engine(error) => own(error).is_some_and(Self::is_of_index),
            _ => false,
        }
    }

    /// Whether a file is damaged, so that recovery could skip the damage.
    pub fn is_damage(&self) -> bool {
        use tidemill_riegeli::Error as Riegeli;
        use tidemill_xbase::Error as Xbase;
        match self {
            Self::Xbase(error) => matches!(**error, Xbase::Corrupt(_) | Xbase::Value(_) | Xbase::MissingMemo { .. }),
            Self::Riegeli(error) => matches!(
                **error,
                Riegeli::Corrupt(_) | Riegeli::Truncated { .. } | Riegeli::Row(_) | Riegeli::Frame(_)
            ),
            Self::Engine(error) => own(error).is_some_and(Self::is_damage),
            _ => false,
        }
    }

    /// The error of a statement for users: what, where, and a hint. `None` for other errors.
    pub fn plain(&self) -> Option<Plain> {
        match self {
            Self::Ads(error) => Some(Plain::of(error)),
            _ => None,
        }
    }

    /// Whether a server could not be reached, or the connection broke: a later attempt may succeed.
    pub fn is_of_connection(&self) -> bool {
        match self {
            Self::Server { is_of_connection, .. } => *is_of_connection,
            Self::Engine(error) => own(error).is_some_and(Self::is_of_connection),
            _ => false,
        }
    }

    /// The violated rule of an xBase table, if the error is one.
    pub fn constraint(&self) -> Option<tidemill_ads::ErrorCode> {
        match self {
            Self::Ads(inner) => inner.constraint(),
            _ => None,
        }
    }

    /// The SQLSTATE of this error, as in ODBC and ADS SQL.
    pub fn sqlstate(&self) -> &'static str {
        use tidemill_xbase::Error as Xbase;
        match self {
            Self::NotFound { .. } => "42S02",
            Self::Ambiguous { .. } | Self::Parse { .. } => "42000",
            Self::Unsupported { .. } => "0A000",
            Self::Denied { .. } => "42501",
            Self::Exists { .. } => "42S01",
            error if error.constraint().is_some() => "23000",
            Self::Ads(inner) => match &**inner {
                tidemill_ads::Error::Statement(statement) => statement.state(),
                _ => "HY000",
            },
            error if error.is_of_connection() => "08001",
            Self::Lossy { .. } | Self::Unfit { .. } | Self::UnfitColumn { .. } => "22000",
            error if error.is_damage() => "HY000",
            Self::Xbase(inner) => match **inner {
                // A type or a name that xBase does not support.
                Xbase::Misuse(_) => "0A000",
                Xbase::Io { .. } => "HY000",
                _ => "22000",
            },
            error => match error.fault() {
                Some(Fault::Unsupported) => "0A000",
                Some(Fault::NotFound) => "42S02",
                Some(Fault::Statement) => "42000",
                Some(Fault::Value) => "22000",
                _ => "HY000",
            },
        }
    }

    /// The error of the program that supplied rows or values, if this is one: the error that its iterator returned as
    /// [`ArrowError::ExternalError`](arrow_schema::ArrowError::ExternalError).
    pub fn external<E: std::error::Error + 'static>(&self) -> Option<&E> {
        let Self::Engine(error) = self else { return None };
        match error.find_root() {
            DataFusionError::External(inner) => inner.downcast_ref(),
            _ => None,
        }
    }

    /// The category of an error of the planner or of a server; `None` for other errors.
    pub fn fault(&self) -> Option<Fault> {
        use DataFusionError as D;
        Some(match self {
            Self::Engine(error) => match error.find_root() {
                D::NotImplemented(_) => Fault::Unsupported,
                D::SQL(..) | D::Plan(_) | D::SchemaError(..) | D::Configuration(_) => Fault::Statement,
                D::Execution(_) | D::ArrowError(..) | D::ParquetError(_) => Fault::Value,
                D::IoError(_) | D::ObjectStore(_) | D::ResourcesExhausted(_) => Fault::Io,
                _ => Fault::Internal,
            },
            Self::Defect { .. } => Fault::Internal,
            Self::Native { error, .. } => clickhouse_fault(error),
            Self::Csv { error, .. } => match **error {
                tidemill_csv::Error::Io(_) => Fault::Io,
                tidemill_csv::Error::Option { .. } => Fault::Statement,
                tidemill_csv::Error::Unwritable { .. } => Fault::Unsupported,
                _ => Fault::Value,
            },
            #[cfg(feature = "excel")]
            Self::Excel { error, .. } => match **error {
                tidemill_excel::Error::NoSheet { .. } => Fault::NotFound,
                tidemill_excel::Error::Unwritable { .. } => Fault::Unsupported,
                tidemill_excel::Error::Write(_) => Fault::Io,
                _ => Fault::Value,
            },
            Self::Server { fault, .. } => *fault,
            Self::Json { .. } => Fault::Value,
            _ => return None,
        })
    }

    pub(crate) fn native(file: impl std::fmt::Display) -> impl FnOnce(tidemill_clickhouse::Error) -> Self {
        let place = file.to_string();
        move |error| Self::Native {
            place,
            error: Box::new(error),
        }
    }

    pub(crate) fn csv(file: impl std::fmt::Display) -> impl FnOnce(tidemill_csv::Error) -> Self {
        let place = file.to_string();
        move |error| Self::Csv {
            place,
            error: Box::new(error),
        }
    }

    #[cfg(feature = "excel")]
    pub(crate) fn excel(file: impl std::fmt::Display) -> impl FnOnce(tidemill_excel::Error) -> Self {
        let place = file.to_string();
        move |error| match error {
            tidemill_excel::Error::TooLarge { .. } => Self::TooLarge {
                place,
                what: error.to_string(),
            },
            error => Self::Excel {
                place,
                error: Box::new(error),
            },
        }
    }

    pub(crate) fn io(path: impl AsRef<Path>, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { path, action, source }
    }
}

/// The operating system's error in the causes of an error.
pub(crate) fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<io::Error> {
    let refused = std::iter::successors(Some(error), |error| error.source());
    let number = refused
        .filter_map(|error| error.downcast_ref::<io::Error>()?.raw_os_error())
        .last();
    number.map(io::Error::from_raw_os_error)
}

/// The category of an error of FORMAT Native, or of a client of ClickHouse.
pub(crate) fn clickhouse_fault(error: &tidemill_clickhouse::Error) -> Fault {
    use tidemill_clickhouse::Error as E;
    match error {
        E::Unsupported { .. } => Fault::Unsupported,
        // UNKNOWN_TABLE and UNKNOWN_DATABASE.
        E::Server(exception) if matches!(exception.code, 60 | 81) => Fault::NotFound,
        E::Option { .. } | E::Type { .. } => Fault::Statement,
        E::Row(_) | E::InsertText { .. } | E::Arrow(_) | E::Limit { .. } => Fault::Value,
        _ => Fault::Io,
    }
}

impl From<tidemill_xbase::Error> for Error {
    fn from(error: tidemill_xbase::Error) -> Self {
        Self::Xbase(Box::new(error))
    }
}

impl From<tidemill_riegeli::Error> for Error {
    fn from(error: tidemill_riegeli::Error) -> Self {
        Self::Riegeli(Box::new(error))
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::from(DataFusionError::from(error))
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::from(DataFusionError::from(error))
    }
}

impl From<DataFusionError> for Error {
    /// Unwraps errors of this crate and of the engines from DataFusion's.
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(inner) => match inner.downcast::<DataFusionError>() {
                    Ok(inner) => Self::from(*inner),
                    Err(inner) => match inner.downcast::<tidemill_ads::sql::Error>() {
                        Ok(fault) => Self::from(*fault),
                        Err(inner) => Self::Engine(Box::new(DataFusionError::External(inner))),
                    },
                },
            },
            DataFusionError::ArrowError(inner, backtrace) => match *inner {
                arrow_schema::ArrowError::ExternalError(inner) => Self::from(DataFusionError::External(inner)),
                other => Self::Engine(Box::new(DataFusionError::ArrowError(Box::new(other), backtrace))),
            },
            DataFusionError::ParquetError(inner) => match *inner {
                parquet::errors::ParquetError::External(inner) => Self::from(DataFusionError::External(inner)),
                other => Self::Engine(Box::new(DataFusionError::ParquetError(Box::new(other)))),
            },
            DataFusionError::Context(_, inner) => Self::from(*inner),
            other => Self::Engine(Box::new(other)),
        }
    }
}

/// The message of a DataFusion error, without the names of the libraries that it passed through.
fn words(error: &DataFusionError) -> String {
    plain(&error.strip_backtrace())
}

/// Simplifies a message of DataFusion.
pub(crate) fn plain(text: &str) -> String {
    let text = without_request(text);
    if let Some(words) = no_function(&text) {
        return words;
    }
    let mut words = text.as_str();
    while let Some(rest) = [
        "Arrow error: ",
        "Compute error: ",
        "Execution error: ",
        "Internal error: ",
    ]
    .iter()
    .find_map(|name| words.strip_prefix(name))
    {
        words = rest;
    }
    words.trim_end().to_owned()
}

/// Removes DataFusion's request to report the error to its authors.
fn without_request(text: &str) -> String {
    let request = text.split_once("This issue was likely caused by a bug in DataFusion's code.");
    match request {
        Some((before, rest)) => {
            let rest = rest.split_once("/issues").map_or("", |(_, rest)| rest);
            format!("{}{}", before.trim_end(), rest.trim_start_matches('.'))
        }
        None => text.to_owned(),
    }
}

/// The message about a function that does not accept its arguments' types.
fn no_function(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("No function matches the given name and argument types '")?;
    let (call, rest) = rest.split_once('\'')?;
    let (_, candidates) = rest.split_once("Candidate functions:")?;
    let candidates: Vec<&str> = candidates
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Some(format!(
        "there is no function {call}, there is {}: convert its arguments by CAST",
        candidates.join(", ")
    ))
}

/// This crate's error inside DataFusion's, which may share it between partitions.
fn own(error: &DataFusionError) -> Option<&Error> {
    match error {
        DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(own) => Some(own),
            None => own(inner.downcast_ref::<DataFusionError>()?),
        },
        DataFusionError::ArrowError(inner, _) => match &**inner {
            arrow_schema::ArrowError::ExternalError(inner) => match inner.downcast_ref::<Error>() {
                Some(own) => Some(own),
                None => own(inner.downcast_ref::<DataFusionError>()?),
            },
            _ => None,
        },
        DataFusionError::ParquetError(inner) => match &**inner {
            parquet::errors::ParquetError::External(inner) => inner.downcast_ref::<Error>(),
            _ => None,
        },
        DataFusionError::Context(_, inner) => own(inner),
        DataFusionError::Shared(inner) => own(inner),
        _ => None,
    }
}

/// Whether an error has one of ADS's numbers for a damaged index file.
pub(crate) fn is_of_damaged_index(error: &tidemill_ads::Error) -> bool {
    use tidemill_ads::ErrorCode as Code;
    let number = match error {
        tidemill_ads::Error::Statement(error) => error.native_code(),
        error => error.code().number().into(),
    };
    [Code::DamagedIndex, Code::DamagedNtx]
        .iter()
        .any(|code| i64::from(code.number()) == number)
}

/// Whether an error of the xBase engine is about a damaged index file.
pub fn is_of_index(error: &tidemill_xbase::Error) -> bool {
    match error {
        tidemill_xbase::Error::Corrupt(corrupt) => IndexDialect::from_path(&corrupt.path).is_some(),
        tidemill_xbase::Error::Order { source, .. } => is_of_index(source),
        _ => false,
    }
}
