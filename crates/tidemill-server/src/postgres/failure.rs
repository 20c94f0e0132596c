//! Errors as PostgreSQL's clients expect them: severity, SQLSTATE, message, hint and position.

use datafusion::error::DataFusionError;
use pgwire::error::{ErrorInfo, PgWireError};
use tidemill_sql::{Error, with_causes};
use tidemill_trust::printable;

use crate::failure::Failure;

/// An error of a statement.
pub(crate) fn error(state: &str, message: impl Into<String>) -> PgWireError {
    of_severity("ERROR", state, message.into())
}

/// An error of a statement, with a hint.
pub(crate) fn hinted(state: &str, message: impl Into<String>, hint: impl Into<String>) -> PgWireError {
    let mut info = info("ERROR", state, message.into());
    info.hint = Some(hint.into());
    PgWireError::UserError(Box::new(info))
}

/// An error in one line, for the log.
pub(crate) fn line(error: &PgWireError) -> String {
    match error {
        PgWireError::UserError(info) => {
            let first = info.message.lines().next().unwrap_or_default();
            format!("{}: {first}", info.code)
        }
        other => other.to_string(),
    }
}

/// An error that ends the connection.
pub(crate) fn fatal(state: &str, message: impl Into<String>) -> PgWireError {
    of_severity("FATAL", state, message.into())
}

/// Makes an error of the login end the connection. Errors of pgwire keep their message.
pub(crate) fn of_login(error: PgWireError) -> PgWireError {
    let mut info: ErrorInfo = error.into();
    info.severity = "FATAL".to_owned();
    PgWireError::UserError(Box::new(info))
}

fn of_severity(severity: &str, state: &str, message: String) -> PgWireError {
    PgWireError::UserError(Box::new(info(severity, state, message)))
}

fn info(severity: &str, state: &str, message: String) -> ErrorInfo {
    let mut info = ErrorInfo::new(severity.to_owned(), state.to_owned(), printable(&message).into_owned());
    info.severity_nonlocalized = Some(severity.to_owned());
    info
}

/// Shifts the position of an error by the characters before its statement.
pub(crate) fn moved(mut error: PgWireError, letters: usize) -> PgWireError {
    if let PgWireError::UserError(info) = &mut error {
        let position = info
            .position
            .as_ref()
            .and_then(|position| position.parse::<usize>().ok());
        if let Some(position) = position {
            info.position = Some(position.saturating_add(letters).to_string());
        }
    }
    error
}

/// Converts an error of a session; `text` is the statement as the client sent it.
pub(crate) fn of_session(error: &Error, text: &str) -> PgWireError {
    Failure::of(error, text).into()
}

impl From<Failure> for PgWireError {
    fn from(failure: Failure) -> Self {
        let Failure {
            state,
            message,
            hint,
            position,
        } = failure;
        let mut info = info("ERROR", &state, message);
        info.hint = hint;
        info.position = position.map(|position| position.to_string());
        Self::UserError(Box::new(info))
    }
}

impl From<PgWireError> for Failure {
    fn from(error: PgWireError) -> Self {
        let info: ErrorInfo = error.into();
        Self {
            state: info.code.into(),
            message: info.message,
            hint: info.hint,
            position: info.position.and_then(|position| position.parse().ok()),
        }
    }
}

/// Converts DataFusion's error of a statement over the catalogue.
pub(crate) fn of_catalog(error: DataFusionError) -> PgWireError {
    // An error of our own functions has its own SQLSTATE.
    if let DataFusionError::External(inner) = error.find_root()
        && let Some(PgWireError::UserError(own)) = inner.downcast_ref::<PgWireError>()
    {
        let mut copy = info("ERROR", &own.code, own.message.clone());
        copy.hint.clone_from(&own.hint);
        return PgWireError::UserError(Box::new(copy));
    }
    let error = Error::from(error);
    self::error(crate::failure::state(&error), with_causes(&error))
}

/// Converts an error of a value's encoding.
pub(crate) fn of_value(error: &tidemill_postgres::Error) -> PgWireError {
    let state = match error {
        tidemill_postgres::Error::Unsupported { .. } => "0A000",
        _ => "22P02",
    };
    self::error(state, tidemill_postgres::with_causes(error))
}
