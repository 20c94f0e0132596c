//! What can go wrong, as facts: the file, what was being read, where, what was expected and what was found.

use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

use crate::lock::LockRefused;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a table could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; `source` says why.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done: open, read, map, create, write, sync, lock.
        action: &'static str,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// Something is there where a file would be made.
    #[error("{} already exists", path.display())]
    Exists {
        /// What is there.
        path: PathBuf,
    },
    /// A folder, a pipe, a device, or a symbolic link where nothing is written through one. Nothing was read of it.
    #[error("{}: expected a regular file, found {found}", path.display())]
    NotRegular {
        /// What was to be opened.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// The bytes of a file contradict its format or themselves.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// One field of one record holds something that its type does not allow.
    #[error(transparent)]
    Value(Box<BadValue>),
    /// The text of an expression is wrong, or its types are, or a value that it makes is too large.
    #[error(transparent)]
    Expression(Box<BadExpression>),
    /// An order cannot be opened or made; `source` says why.
    #[error("{}: index tag {order}", path.display())]
    Order {
        /// The index file.
        path: PathBuf,
        /// The order's name.
        order: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A memo column was asked for and its memo file is not there.
    #[error(
        "{}: the values of field {field} are in a memo file, but none of {looked_for} exists; put it next to the \
         table, leave the field out, or read with recovery (the field is then NULL)",
        path.display()
    )]
    MissingMemo {
        /// The table.
        path: PathBuf,
        /// The first memo field that was asked for.
        field: String,
        /// The names that were tried.
        looked_for: String,
    },
    /// The file is sound, and it is of a kind that this crate does not read.
    #[error("{}: {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// No code page has this name.
    #[error("no code page is called {name:?}; names look like cp850, cp1252, koi8-r, utf-8, gbk")]
    UnknownCodePage {
        /// The name as it was given.
        name: String,
    },
    /// A value exceeds what an Arrow column can hold.
    #[error("{}: record {record}, field {field}: {bytes} bytes in one value, more than the {limit} that a column holds", path.display())]
    Limit {
        /// The file.
        path: PathBuf,
        /// The record, counted from 1.
        record: u32,
        /// The field.
        field: String,
        /// The size of the value.
        bytes: u64,
        /// The largest size allowed.
        limit: u64,
    },
    /// Somebody else holds a lock that is needed.
    #[error(transparent)]
    Locked(Box<LockRefused>),
    /// A log cannot bring a table back to what was committed; the log is left as it is.
    #[error(transparent)]
    Recovery(Box<NotRecovered>),
    /// A log says what no log of ours says; it is not obeyed, and left as it is.
    #[error(transparent)]
    RefusedLog(Box<RefusedLog>),
    /// A log has a part of a transaction over several folders, and cannot be recovered without the others.
    #[error(transparent)]
    Incomplete(Box<IncompleteTransaction>),
    /// A table cannot be read before a log is recovered that has changes of it.
    #[error(transparent)]
    Pending(Box<PendingChanges>),
    /// Something failed in a way that leaves it open whether it was done.
    #[error(transparent)]
    Unknown(Box<UnknownOutcome>),
    /// An index has not the entries of all records, or entries of others: the table was changed without it.
    #[error(
        "{}: index tag {order} has {entries} entries, which do not match the {records} records of the table; reindex",
        path.display()
    )]
    StaleIndex {
        /// The index file.
        path: PathBuf,
        /// The order.
        order: String,
        /// How many entries it has.
        entries: u64,
        /// How many records the table has.
        records: u32,
    },
    /// Another record has the key already, and the order is a candidate index. Inside of [`Error::Order`].
    #[error("record {record} would have the same key as record {holder}, and the index tag allows each key once")]
    DuplicateKey {
        /// The record that may not have it.
        record: u32,
        /// The record that has it.
        holder: u32,
    },
    /// A record would have no key, and the order is a candidate index. Inside of [`Error::Order`].
    #[error("the key of record {record} would be NULL, and the index tag allows no NULL")]
    NullKey {
        /// The record.
        record: u32,
    },
    /// A record breaks a rule of its table.
    #[error(transparent)]
    Rule(Box<BrokenRule>),
    /// Nobody knows how the texts of an order are sorted. Inside of [`Error::Order`].
    #[error(
        "collation not known: the index tag can be walked as it is stored, but not searched or changed; rebuild \
         it, and name the language of the program that made it"
    )]
    UnknownCollation,
    /// An index of Advantage has words (full-text search) or keys of Numeric fields, which are not made. Inside of [`Error::Order`].
    #[error(
        "its keys are words of full-text search or numbers of Numeric fields, which are read and not made: a change of \
         these fields would leave it stale; drop the index tag, or make the change with Advantage"
    )]
    UnknownKeys,
    /// The expressions of an order are not understood, so that its keys are not known. Inside of [`Error::Order`].
    #[error(
        "its keys cannot be made ({why}): the index tag can be walked as it is stored, but not searched or changed; drop it, or make the \
         change with the program that made it"
    )]
    UnknownExpression {
        /// What is wrong with them, for a person.
        why: String,
    },
    /// An order has a bit for each record and no keys. Inside of [`Error::Order`].
    #[error("a BINARY index of Visual FoxPro has one bit per record and no keys; it can be neither walked nor changed")]
    NoKeys,
    /// Who was told of the progress stopped it.
    #[error("cancelled by the program")]
    Cancelled,
    /// The caller asked for something that makes no sense for this table.
    #[error("{0}")]
    Misuse(String),
    /// Arrow refused to build or to cast an array.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Where and how a file contradicts its format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what} at byte {offset}: expected {expected}, found {found}", path.display())]
#[non_exhaustive]
pub struct Corrupt {
    /// The file.
    pub path: PathBuf,
    /// What was being read.
    pub what: String,
    /// The byte offset in the file.
    pub offset: u64,
    /// What the format demands there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// A field of a record that does not hold what its type allows, or cannot take the value given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: record {record}, field {field}: expected {expected}, found {found}", path.display())]
#[non_exhaustive]
pub struct BadValue {
    /// The table.
    pub path: PathBuf,
    /// The record, counted from 1.
    pub record: u32,
    /// The field's name.
    pub field: String,
    /// What the field's type allows.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// Which record breaks which rule of its table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}{}: record {record}{}: {rule}{}",
    message.as_ref().map(|said| format!("{said} (")).unwrap_or_default(),
    path.display(),
    field.as_ref().map(|field| format!(", field {field}")).unwrap_or_default(),
    if message.is_some() { ")" } else { "" },
)]
pub struct BrokenRule {
    /// The table.
    pub path: PathBuf,
    /// The record, counted from 1.
    pub record: u32,
    /// The field; `None` for a rule of the whole record.
    pub field: Option<String>,
    /// The rule.
    pub rule: RuleKind,
    /// What whoever made the rule wants to be said.
    pub message: Option<String>,
}

/// A rule of records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleKind {
    /// The field is not NULL.
    Required,
    /// The field has at least this value.
    Minimum(String),
    /// The field has at most this value.
    Maximum(String),
    /// The record fulfils this condition.
    Condition(String),
    /// A new record is given a value, as this default value of the field is not understood.
    Default(String),
    /// The record that a key refers to is there, by the relation of this name.
    Parent(String),
    /// No record refers to the key that would go, by the relation of this name.
    Restricted(String),
    /// What follows from the change in the other table can be done: the relation, and why it cannot.
    Cascade(String, String),
    /// The trigger of this name is fired, which a change made in this way does not.
    Trigger(String),
}

impl std::fmt::Display for RuleKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Required => f.write_str("expected a value, found NULL"),
            Self::Minimum(least) => write!(f, "expected at least {least}, found less"),
            Self::Maximum(greatest) => write!(f, "expected at most {greatest}, found more"),
            Self::Condition(condition) => write!(f, "expected {condition}, which it does not fulfil"),
            Self::Default(text) => write!(
                f,
                "expected a value, as the default value {text} is not understood here; found none"
            ),
            Self::Parent(relation) => write!(
                f,
                "relation {relation}: expected the record that it refers to, found none"
            ),
            Self::Restricted(relation) => {
                write!(
                    f,
                    "relation {relation}: expected no record that refers to it, found one"
                )
            }
            Self::Cascade(relation, why) => write!(f, "relation {relation}: {why}"),
            Self::Trigger(trigger) => write!(f, "trigger {trigger}: a change made in this way does not fire it"),
        }
    }
}

/// Where and how the text of an expression is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}, found {found}")]
#[non_exhaustive]
pub struct BadExpression {
    /// The character at which the fault lies, counted from 1.
    pub column: u32,
    /// What could stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// Which file a log cannot bring back to what was committed, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: cannot recover {}: it {why}; put the file back as it was, or discard the log to give up what it still has to write",
    log.display(), path.display()
)]
#[non_exhaustive]
pub struct NotRecovered {
    /// The log.
    pub log: PathBuf,
    /// The file that the log would have to change.
    pub path: PathBuf,
    /// What is wrong with the file.
    pub why: String,
}

/// Which log is not obeyed, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} was not applied, and nothing was changed: {}: expected {expected}, found {found}; remove the log if no program of yours wrote it",
    log.display(), file.display()
)]
#[non_exhaustive]
pub struct RefusedLog {
    /// The log.
    pub log: PathBuf,
    /// The file that it names, or the log itself.
    pub file: PathBuf,
    /// What a log may say.
    pub expected: String,
    /// What this one says, or what is there.
    pub found: String,
}

/// Which folders have the other parts of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is one part of a transaction over several folders; recover its folder together with {}",
    log.display(), shown(missing)
)]
#[non_exhaustive]
pub struct IncompleteTransaction {
    /// The log.
    pub log: PathBuf,
    /// The folders that were not looked through, as the log calls them.
    pub missing: Vec<PathBuf>,
}

/// Which log has changes of a table that are not in it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: {} has committed changes that are not in the table yet{}; recover the folder first, or open the table for writing",
    table.display(), log.display(), if source.is_some() { ", or cannot be read" } else { "" }
)]
#[non_exhaustive]
pub struct PendingChanges {
    /// The table.
    pub table: PathBuf,
    /// The log.
    pub log: PathBuf,
    /// Why nobody knows what the log has.
    pub source: Option<Error>,
}

/// What may have been done or not.
#[derive(Debug, thiserror::Error)]
#[error(
    "it is unknown whether {what}, because the disk failed meanwhile; once it works again, recover the folder of {}, then check",
    log.display()
)]
#[non_exhaustive]
pub struct UnknownOutcome {
    /// The log that knows it.
    pub log: PathBuf,
    /// What was being done.
    pub what: &'static str,
    /// What failed.
    pub source: Error,
}

fn shown(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

impl Error {
    pub(crate) fn incomplete(log: &Path, missing: Vec<PathBuf>) -> Self {
        Self::Incomplete(Box::new(IncompleteTransaction {
            log: log.to_owned(),
            missing,
        }))
    }

    pub(crate) fn pending(table: &Path, log: &Path, source: Option<Error>) -> Self {
        Self::Pending(Box::new(PendingChanges {
            table: table.to_owned(),
            log: log.to_owned(),
            source,
        }))
    }

    pub(crate) fn unknown(log: &Path, what: &'static str, source: Error) -> Self {
        Self::Unknown(Box::new(UnknownOutcome {
            log: log.to_owned(),
            what,
            source,
        }))
    }

    pub(crate) fn expression(column: u32, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Expression(Box::new(BadExpression {
            column,
            expected: expected.into(),
            found: found.into(),
        }))
    }

    pub(crate) fn order(path: &Path, order: &str, source: Error) -> Self {
        match source {
            Self::Cancelled => Self::Cancelled,
            source => Self::Order {
                path: path.to_owned(),
                order: order.to_owned(),
                source: Box::new(source),
            },
        }
    }

    pub(crate) fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            action,
            source,
        }
    }

    pub(crate) fn corrupt(
        path: &Path,
        what: impl Into<String>,
        offset: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Corrupt(Box::new(Corrupt {
            path: path.to_owned(),
            what: what.into(),
            offset,
            expected: expected.into(),
            found: found.into(),
        }))
    }
}
