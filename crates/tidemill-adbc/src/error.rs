//! Errors in the terms of ADBC: a status, a SQLSTATE, and the native code for errors of ADS SQL.

use std::ffi::c_char;

use adbc_core::error::{Error, Status};
use arrow_schema::ArrowError;
use tidemill_ads::sql::Kind;
use tidemill_sql::{Fault, with_causes};

/// Converts an error of a session.
pub(crate) fn of_session(error: tidemill_sql::Error) -> Error {
    use tidemill_sql::Error as E;
    if let Some(own) = error.external::<Error>() {
        return own.clone();
    }
    let status = match &error {
        E::NotFound { .. } => Status::NotFound,
        E::Ambiguous { .. } | E::Parse { .. } => Status::InvalidArguments,
        E::Unsupported { .. } => Status::NotImplemented,
        E::Denied { .. } => Status::Unauthorized,
        E::Exists { .. } => {
            let text = with_causes(&error).replace("--overwrite replaces it", "use the mode replace to overwrite it");
            return with_state(text, Status::AlreadyExists, error.sqlstate());
        }
        E::Ads(inner) => return of_ads(inner, &error),
        E::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Status::NotFound,
        E::Io { .. } => Status::IO,
        error if error.is_of_connection() => Status::IO,
        E::Lossy { .. } => {
            // The option has another name on the command line.
            let text =
                with_causes(&error).replace("--lossy copies them so", "set tidemill.ingest.lossy to accept that");
            return with_state(text, Status::InvalidData, error.sqlstate());
        }
        error if error.is_damage() => Status::InvalidData,
        E::NotATable { .. } | E::UnfitColumn { .. } => Status::InvalidData,
        E::RowCount { .. } | E::Checksum { .. } | E::Shrunk { .. } | E::Replaced { .. } => Status::Integrity,
        E::Xbase(inner) => of_xbase(inner),
        E::Riegeli(_) => Status::InvalidData,
        E::Engine(_) | E::Native { .. } | E::Server { .. } => match error.fault() {
            Some(Fault::Unsupported) => Status::NotImplemented,
            Some(Fault::NotFound) => Status::NotFound,
            Some(Fault::Statement) => Status::InvalidArguments,
            Some(Fault::Value) => Status::InvalidData,
            Some(Fault::Io) => Status::IO,
            _ => Status::Internal,
        },
        _ => Status::Internal,
    };
    with_state(with_causes(&error), status, error.sqlstate())
}

/// Wraps an error of the driver to pass it through a session; [`of_session`] unwraps it.
pub(crate) fn for_session(error: Error) -> tidemill_sql::Error {
    ArrowError::ExternalError(Box::new(error)).into()
}

fn of_xbase(error: &tidemill_xbase::Error) -> Status {
    use tidemill_xbase::Error as X;
    match error {
        X::Misuse(_) => Status::NotImplemented,
        X::Io { .. } => Status::IO,
        _ => Status::InvalidData,
    }
}

fn of_ads(inner: &tidemill_ads::Error, whole: &tidemill_sql::Error) -> Error {
    let tidemill_ads::Error::Statement(statement) = inner else {
        let status = inner.constraint().map_or(Status::Internal, |_| Status::Integrity);
        let error = with_state(with_causes(whole), status, whole.sqlstate());
        return with_native_code(error, inner.code().number().into());
    };
    let status = match statement.kind() {
        _ if inner.constraint().is_some() => Status::Integrity,
        Kind::NoTable => Status::NotFound,
        Kind::Exists => Status::AlreadyExists,
        Kind::NeedsAnalytical | Kind::Unsupported | Kind::NoExpression => Status::NotImplemented,
        Kind::Transaction | Kind::StructureChanged => Status::InvalidState,
        Kind::Value => Status::InvalidData,
        Kind::Engine => Status::IO,
        Kind::Raised { .. } => Status::Unknown,
        _ => Status::InvalidArguments,
    };
    let error = with_state(whole.to_string(), status, whole.sqlstate());
    with_native_code(error, statement.native_code())
}

/// The SQLSTATE of a column that does not exist ([`Kind::NoColumn`]).
const NO_COLUMN: &[u8] = b"S0022";

/// If the table lacks a column of the rows, the error becomes `AlreadyExists`: a table with other columns is in the way.
pub(crate) fn of_another_table(error: Error) -> Error {
    let state = error.sqlstate.map(c_char::to_ne_bytes);
    match state.as_flattened() == NO_COLUMN {
        true => Error {
            status: Status::AlreadyExists,
            ..error
        },
        false => error,
    }
}

/// Stores the code in `vendor_code`, for programs of ADBC 1.0, and as a detail, where later programs look for it.
fn with_native_code(mut error: Error, code: i64) -> Error {
    error.vendor_code = i32::try_from(code).unwrap_or(0);
    error.details = Some(vec![("native_code".to_owned(), code.to_string().into_bytes())]);
    error
}

fn with_state(message: String, status: Status, state: &str) -> Error {
    // C strings end at a zero byte.
    let mut error = Error::with_message_and_status(message.replace('\0', "\\0"), status);
    for (place, letter) in error.sqlstate.iter_mut().zip(state.bytes()) {
        *place = c_char::from_ne_bytes([letter]);
    }
    error
}

pub(crate) fn panicked(why: &str) -> Error {
    let message = format!("the library has failed, and this is a fault of it (please report it): {why}");
    with_state(message, Status::Internal, "XX000")
}

pub(crate) fn cancelled() -> Error {
    with_state("the statement was cancelled".to_owned(), Status::Cancelled, "57014")
}

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::with_message_and_status(message, Status::InvalidArguments)
}

pub(crate) fn invalid_state(message: impl Into<String>) -> Error {
    Error::with_message_and_status(message, Status::InvalidState)
}

pub(crate) fn read_only(what: &str) -> Error {
    let what: String = what.chars().take(80).collect();
    with_state(
        format!("{what}: the connection only reads (adbc.connection.readonly)"),
        Status::InvalidState,
        "25006",
    )
}

pub(crate) fn not_implemented(message: impl Into<String>) -> Error {
    with_state(message.into(), Status::NotImplemented, "0A000")
}

pub(crate) fn no_option(key: &str) -> Error {
    Error::with_message_and_status(format!("there is no value of the option {key}"), Status::NotFound)
}
