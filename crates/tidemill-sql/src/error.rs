//! What can go wrong between a statement and its answer.

use std::io;
use std::path::{Path, PathBuf};

use datafusion::error::DataFusionError;
use tidemill_trust::with_causes;
use tidemill_xbase::index::IndexDialect;

use crate::plain::Plain;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement or a copy failed. The text names the table or file and, where there is one, the next thing to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb phrase: "open", "create".
        action: &'static str,
        /// The refusal.
        source: io::Error,
    },
    /// A name in a statement or on the command line leads to no table.
    #[error("{name}: no such table; {hint}")]
    NotFound {
        /// The name as it was given.
        name: String,
        /// Where it was looked for and what is there.
        hint: String,
    },
    /// A name fits more than one table.
    #[error("{name}: could be any of {}; name one with its extension", candidates.join(", "))]
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// The files that it fits.
        candidates: Vec<String>,
    },
    /// The statement is not SQL that the parser knows.
    #[error("{message}")]
    Parse {
        /// The parser's words, with line and column.
        message: String,
    },
    /// Something that this version does not do.
    #[error("{what} is not supported; {hint}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// Something that this session may not do.
    #[error("{what} is not allowed here; {hint}")]
    Denied {
        /// What was asked for.
        what: String,
        /// The next thing to try.
        hint: String,
    },
    /// A file that is no table, by its bytes and its name.
    #[error("{place}: {what}; {hint}")]
    NotATable {
        /// The file.
        place: String,
        /// What it is.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A part of a file would take more memory than it may.
    #[error("{place}: {what}; --max-memory SIZE allows more")]
    TooLarge {
        /// The file.
        place: String,
        /// Which part, and how much.
        what: String,
    },
    /// The destination of a copy is there already.
    #[error("{place}: already exists; --overwrite replaces it")]
    Exists {
        /// The destination.
        place: String,
    },
    /// The destination of a finished copy holds another number of rows than were read.
    #[error("{place}: {found} rows were found after copying {written}; {left}")]
    RowCount {
        /// The destination.
        place: String,
        /// Rows that were written.
        written: u64,
        /// Rows that a reader finds in the result.
        found: u64,
        /// What became of the copy.
        left: Left,
    },
    /// A table that is followed is shorter than what was copied of it.
    #[error("{place}: it ends at {found}, and was copied as far as {copied}: it is not the table that was followed")]
    Shrunk {
        /// The source.
        place: String,
        /// The position that was reached.
        copied: u64,
        /// The position where the source ends.
        found: u64,
    },
    /// A table that is followed, or the one that it is followed into, is not the one that it was.
    #[error("{place}: {why}; to follow from the beginning, remove the target and follow again")]
    Replaced {
        /// The source, or the target.
        place: String,
        /// By what it differs.
        why: String,
    },
    /// A copy holds other values than those that were written.
    #[error("{place}: column {column} does not hold what was written: {written} went in, {found} came back; {left}")]
    Checksum {
        /// The destination.
        place: String,
        /// The column, or that it is the rows as a whole.
        column: String,
        /// The checksum of what was written, its NULLs, or its type.
        written: String,
        /// The same of what is found.
        found: String,
        /// What became of the copy.
        left: Left,
    },
    /// Values of a copy may lose something by the types of its columns.
    #[error("{place}: {}; --lossy copies them so", columns.join("; "))]
    Lossy {
        /// The destination.
        place: String,
        /// The columns, their types there and here, and what they lose.
        columns: Vec<String>,
    },
    /// A table of a server does not take a column of the rows, or a value of it.
    #[error("{place}: column {column}: {why}; {hint}")]
    UnfitColumn {
        /// The destination.
        place: String,
        /// The column's name in the table.
        column: String,
        /// What it does not take, with the row where it is a value.
        why: String,
        /// What to do next.
        hint: String,
    },
    /// A table that is made cannot hold a value.
    #[error("{place}: row {row}, column {column}: expected {expected}, found {found}; {hint}")]
    Unfit {
        /// The destination.
        place: String,
        /// The row, counted from 1.
        row: u64,
        /// The column's name in the copy.
        column: String,
        /// What the column takes.
        expected: String,
        /// The value.
        found: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// An xBase table could not be read or written.
    #[error(transparent)]
    Xbase(Box<tidemill_xbase::Error>),
    /// A statement was refused or failed. The text is [`Error::plain`]'s; that of ADS is the inner error's own.
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
        /// What was wrong.
        error: Box<tidemill_clickhouse::Error>,
    },
    /// A CSV file could not be read or written.
    #[error("{place}: {error}")]
    Csv {
        /// The file.
        place: String,
        /// What was wrong.
        error: Box<tidemill_csv::Error>,
    },
    /// A record of a JSON file could not be read.
    #[error("{place}: {at}: {what}")]
    Json {
        /// The file.
        place: String,
        /// The record, by its line or its number, both counted from 1.
        at: String,
        /// What was wrong.
        what: String,
    },
    /// A workbook could not be read or written.
    #[cfg(feature = "excel")]
    #[error("{place}: {error}")]
    Excel {
        /// The file.
        place: String,
        /// What was wrong.
        error: Box<tidemill_excel::Error>,
    },
    /// A server could not be asked, or refused.
    #[error("{place}: {}", with_causes(&**.error))]
    Server {
        /// The URL of the table without its password.
        place: String,
        /// What the error is about.
        fault: Fault,
        /// Whether the server could not be reached, or went away.
        is_of_connection: bool,
        /// What the client or the server found wrong.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Planning or execution failed in the query engine.
    #[error("{}", own(.0).map_or_else(|| words(.0), ToString::to_string))]
    Engine(Box<DataFusionError>),
}

/// What an error of the planner or of a server is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Something that it does not do.
    Unsupported,
    /// A table or a database that is not there.
    NotFound,
    /// The statement: its grammar, a name, a type, an option.
    Statement,
    /// A value that was met: a text that is no number, an overflow, a damaged Parquet file.
    Value,
    /// The operating system, the network, an object store, a server that refuses, or memory that is used up.
    Io,
    /// The planner itself.
    Internal,
}

/// What became of a copy that does not hold what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing is left of it.
    Removed,
    /// It is there: rows that a server has taken, or a table that has its name already.
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

/// A message that names its file.
fn named(message: String, file: &str) -> String {
    match message.starts_with(file) {
        true => message,
        false => format!("{file}: {message}"),
    }
}

impl Error {
    /// The same of a copy that is still there.
    pub(crate) fn of_kept_copy(mut self) -> Self {
        if let Self::RowCount { left, .. } | Self::Checksum { left, .. } = &mut self {
            *left = Left::Kept;
        }
        self
    }

    /// What went wrong in the making of a copy, which has another name until it is whole.
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
            // Libraries that write formats do not say which file the system refused.
            other => match refusal(&other) {
                Some(source) => Self::io(destination, "write")(source),
                None => other,
            },
        }
    }

    /// The file or folder on which the operating system refused an operation.
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

    /// Whether an index file is damaged, without which its table can be read.
    pub fn is_of_index(&self) -> bool {
        match self {
            Self::Xbase(error) => is_of_index(error),
            Self::Ads(error) => is_of_damaged_index(error),
            Self::Engine(error) => own(error).is_some_and(Self::is_of_index),
            _ => false,
        }
    }

    /// Whether a file is damaged, so that recovery would go on behind the damage.
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

    /// What is wrong with a statement, for people: what, where in it, and what to do. `None` for other errors.
    pub fn plain(&self) -> Option<Plain> {
        match self {
            Self::Ads(error) => Some(Plain::of(error)),
            _ => None,
        }
    }

    /// Whether a server could not be reached, or went away: it may be back later.
    pub fn is_of_connection(&self) -> bool {
        match self {
            Self::Server { is_of_connection, .. } => *is_of_connection,
            Self::Engine(error) => own(error).is_some_and(Self::is_of_connection),
            _ => false,
        }
    }

    /// The rule of an xBase table that refuses a record, if that is what the error is.
    pub fn constraint(&self) -> Option<tidemill_ads::ErrorCode> {
        match self {
            Self::Ads(inner) => inner.constraint(),
            _ => None,
        }
    }

    /// The SQLSTATE of this error, as ODBC and ADS SQL have it.
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
                // A type or a name that xBase has not.
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

    /// The error of the program that gave rows or values, where this is one: what their iterator returned as
    /// [`ArrowError::ExternalError`](arrow_schema::ArrowError::ExternalError).
    pub fn external<E: std::error::Error + 'static>(&self) -> Option<&E> {
        let Self::Engine(error) = self else { return None };
        match error.find_root() {
            DataFusionError::External(inner) => inner.downcast_ref(),
            _ => None,
        }
    }

    /// What an error of the planner or of a server is about; `None` for other errors.
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

/// The operating system's refusal that an error comes from.
pub(crate) fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<io::Error> {
    let refused = std::iter::successors(Some(error), |error| error.source());
    let number = refused
        .filter_map(|error| error.downcast_ref::<io::Error>()?.raw_os_error())
        .last();
    number.map(io::Error::from_raw_os_error)
}

/// What an error of FORMAT Native, or of a client of ClickHouse, is about.
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
    /// Takes this crate's and the engines' own errors out of the layers that the query engine wrapped around them.
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

/// The message of an error of the query engine, without the names of the libraries that it came through.
fn words(error: &DataFusionError) -> String {
    plain(&error.strip_backtrace())
}

/// A message of the query engine in plain words.
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

/// The words without DataFusion's request to report them to its authors.
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

/// What is said of a function whose arguments are of other types than it takes.
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

/// This crate's error in the layers that the query engine wrapped around it, which it may share between partitions.
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

/// Whether an error has a number that ADS gives for a damaged index file.
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

/// Whether an error of the xBase engine is of an index file that is damaged.
pub fn is_of_index(error: &tidemill_xbase::Error) -> bool {
    match error {
        tidemill_xbase::Error::Corrupt(corrupt) => IndexDialect::from_path(&corrupt.path).is_some(),
        tidemill_xbase::Error::Order { source, .. } => is_of_index(source),
        _ => false,
    }
}
