//! SQLite's errors, with their names.

use rusqlite::{Error, ErrorCode};

use crate::context::{Failure, FailureKind};

pub(super) fn failure(error: &Error) -> Failure {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FailureKind::Locked,
        Some(ErrorCode::OperationInterrupted) => FailureKind::Timeout,
        Some(ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::OutOfMemory) => FailureKind::Server,
        Some(ErrorCode::CannotOpen) => FailureKind::Connection,
        Some(ErrorCode::TypeMismatch) => FailureKind::Parameters,
        _ if matches!(error, Error::InvalidParameterCount(..)) => FailureKind::Parameters,
        _ => FailureKind::Refused,
    };
    let code = match error {
        Error::SqlInputError { error, .. } => Some(error),
        error => error.sqlite_error(),
    };
    match code {
        Some(code) => Failure::new(kind, format!("{error} ({})", name(code.extended_code))),
        None => Failure::new(kind, error.to_string()),
    }
}

/// SQLite's documentation, "Result and Error Codes": the primary code is the low byte, and the rest says which sort of it.
fn name(extended: i32) -> String {
    let primary = usize::try_from(extended & 0xff).ok().and_then(|code| NAMES.get(code));
    let name = match extended {
        787 => "CONSTRAINT_FOREIGNKEY",
        1299 => "CONSTRAINT_NOTNULL",
        275 => "CONSTRAINT_CHECK",
        1555 => "CONSTRAINT_PRIMARYKEY",
        2067 => "CONSTRAINT_UNIQUE",
        517 => "BUSY_SNAPSHOT",
        _ => match primary {
            Some(name) => name,
            None => return format!("SQLite code {extended}"),
        },
    };
    format!("SQLITE_{name}")
}

const NAMES: [&str; 27] = [
    "OK",
    "ERROR",
    "INTERNAL",
    "PERM",
    "ABORT",
    "BUSY",
    "LOCKED",
    "NOMEM",
    "READONLY",
    "INTERRUPT",
    "IOERR",
    "CORRUPT",
    "NOTFOUND",
    "FULL",
    "CANTOPEN",
    "PROTOCOL",
    "EMPTY",
    "SCHEMA",
    "TOOBIG",
    "CONSTRAINT",
    "MISMATCH",
    "MISUSE",
    "NOLFS",
    "AUTH",
    "FORMAT",
    "RANGE",
    "NOTADB",
];
