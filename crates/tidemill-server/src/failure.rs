//! The parts of an error, the same for every protocol.

use std::borrow::Cow;

use tidemill_ads::ErrorCode;
use tidemill_ads::sql::Kind;
use tidemill_sql::{Error, Fault, with_causes};
use tidemill_trust::printable;

/// An error, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The SQLSTATE, as PostgreSQL has it.
    pub(crate) state: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The position of the error in the statement, in characters from 1.
    pub(crate) position: Option<usize>,
}

impl Failure {
    pub(crate) fn new(state: &'static str, message: impl Into<String>) -> Self {
        Self {
            state: state.into(),
            message: printable(&message.into()).into_owned(),
            hint: None,
            position: None,
        }
    }

    /// Adds a hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The client cancelled the statement.
    pub(crate) fn cancelled() -> Self {
        Self::new("57014", "canceling statement due to user request")
    }

    /// The statement exceeded the statement time of its user.
    pub(crate) fn out_of_time() -> Self {
        Self::new("57014", "the statement took longer than this user is allowed")
    }

    /// The result has more rows than its user may read.
    pub(crate) fn too_many_rows() -> Self {
        Self::new("54000", "the answer has more rows than this user may take at once")
            .with_hint("ask for fewer by LIMIT, or have the administrator allow more (rows= in the file of users)")
    }

    /// A user with read-only rights tried a change.
    pub(crate) fn only_reads() -> Self {
        Self::new("42501", "permission denied: this user may only read")
            .with_hint("have the administrator add `write` to the user's line in the file of users")
    }

    /// In one line, for the log.
    pub(crate) fn line(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        format!("{}: {first}", self.state)
    }

    /// Converts an error of a session.
    pub(crate) fn of(error: &Error, text: &str) -> Self {
        let state = state(error);
        let (message, hint, position) = match error {
            Error::Ads(inner) => match &**inner {
                tidemill_ads::Error::Statement(statement) => {
                    let place = statement.line_and_column();
                    let position = place.and_then(|(line, column)| position(text, line, column));
                    let plain = error.plain();
                    let what = plain
                        .as_ref()
                        .map_or_else(|| statement.message().to_owned(), |plain| plain.what.clone());
                    (what, plain.and_then(|plain| plain.hint), position)
                }
                _ => (with_causes(error), None, None),
            },
            // The parser's whole message names the underlying library.
            Error::Parse { .. } => match tidemill_ads::sql::parse(text) {
                Err(fault) => {
                    let place = fault.line_and_column();
                    let position = place.and_then(|(line, column)| position(text, line, column));
                    (fault.message().to_owned(), None, position)
                }
                Ok(_) => (with_causes(error), None, None),
            },
            Error::NotFound { name, hint } => {
                let position = text.find(name.as_str()).map(|at| letters(text, at) + 1);
                (format!("{name}: no such table"), Some(hint.clone()), position)
            }
            Error::Unsupported { what, hint } => (format!("{what} is not supported"), Some(hint.clone()), None),
            Error::Denied { what, hint } => (format!("{what} is not allowed here"), Some(hint.clone()), None),
            other => (with_causes(other), None, None),
        };
        Self {
            state: state.into(),
            message: printable(&message).into_owned(),
            hint,
            position,
        }
    }
}

/// The SQLSTATE of an error ("PostgreSQL Error Codes" in PostgreSQL's documentation).
pub(crate) fn state(error: &Error) -> &'static str {
    if let Some(constraint) = error.constraint() {
        return match constraint {
            ErrorCode::DuplicateKey => "23505",
            ErrorCode::ColumnCannotBeNull | ErrorCode::NotNullable | ErrorCode::KeyCannotBeNull => "23502",
            ErrorCode::NoPrimaryKeyExists | ErrorCode::RiRestrict | ErrorCode::RiCascade => "23503",
            _ => "23514",
        };
    }
    if let Error::Ads(inner) = error
        && let tidemill_ads::Error::Statement(statement) = &**inner
    {
        return match statement.kind() {
            Kind::Syntax => "42601",
            Kind::NoSavepoint => "3B001",
            Kind::NoTable => "42P01",
            Kind::Exists => "42P07",
            Kind::NoColumn => "42703",
            Kind::Ambiguous => "42702",
            Kind::NoFunction => "42883",
            Kind::Type => "42804",
            Kind::Grouping => "42803",
            Kind::Value => state_of_words(statement.message()).unwrap_or("22P02"),
            Kind::Parameter => "08P01",
            Kind::NeedsAnalytical | Kind::Unsupported | Kind::NoExpression => "0A000",
            Kind::Transaction => "25000",
            Kind::Raised { .. } => "P0001",
            Kind::Limit => "54000",
            Kind::Stopped => "57014",
            _ => match statement.native_code() {
                // A name that leads outside the served folders.
                code if code == i64::from(ErrorCode::InvalidPath.number()) => "42501",
                code if code == i64::from(ErrorCode::IndexExists.number()) => "42P07",
                code if LOCKED.iter().any(|locked| code == i64::from(locked.number())) => "55P03",
                _ => state_of_words(statement.message()).unwrap_or("XX000"),
            },
        };
    }
    let is_of_values = matches!(error, Error::Xbase(_) | Error::Ads(_)) || error.fault() == Some(Fault::Value);
    if is_of_values && let Some(state) = state_of_words(&error.to_string()) {
        return state;
    }
    match error.sqlstate() {
        "42S02" => "42P01",
        "42S01" => "42P07",
        "42000" => "42601",
        // A value that is too large, or not valid for its type.
        "22000" => "22P02",
        "HY000" => "XX000",
        other => other,
    }
}

/// The ADS codes of a record, table or file that another user has locked.
const LOCKED: [ErrorCode; 3] = [ErrorCode::LockFailed, ErrorCode::FileInUse, ErrorCode::AppendLockFailed];

/// Derives the SQLSTATE from the text of an error, for errors of the tables and of Arrow that carry no code; `None` if it is not
/// recognised.
fn state_of_words(words: &str) -> Option<&'static str> {
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if words.ends_with("already exists") {
        return Some("42P07");
    }
    if has(&[" is locked by "]) {
        return Some("55P03");
    }
    if has(&["ivide by zero", "ivision by zero"]) {
        return Some("22012");
    }
    let overflows = [
        "verflow",
        "Can't cast value",
        "too large to store in a Decimal",
        "at most 38 digits",
        "that fits",
    ];
    if has(&overflows) {
        return Some("22003");
    }
    // A value, a number or a text, that does not fit into its field.
    let (_, rest) = words.split_once("expected at most ")?;
    let (room, found) = rest.split_once(", found ")?;
    let is_of_room = room.ends_with(" characters") || room.ends_with(" bytes");
    is_of_room.then(|| match found.trim_matches('"').parse::<f64>() {
        Ok(_) => "22003",
        Err(_) => "22001",
    })
}

/// The character position of a line and column; all are counted from 1.
fn position(text: &str, line: u64, column: u64) -> Option<usize> {
    let line = usize::try_from(line.checked_sub(1)?).ok()?;
    let column = usize::try_from(column).ok().filter(|column| *column > 0)?;
    let before: usize = text.split('\n').take(line).map(|line| line.chars().count() + 1).sum();
    let at = before + column;
    (at <= text.chars().count() + 1).then_some(at)
}

fn letters(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_letters() {
        for (line, column, expected) in [
            (1, 1, Some(1)),
            (2, 1, Some(4)),
            (2, 3, Some(6)),
            (3, 9, None),
            (0, 1, None),
        ] {
            assert_eq!(position("äb\nSELECT", line, column), expected, "{line}:{column}");
        }
    }

    #[test]
    fn states_are_told_by_words_where_nothing_else_tells_them() {
        for (words, expected) in [
            ("Divide by zero error", Some("22012")),
            ("Arithmetic overflow: 9 + 1", Some("22003")),
            (
                "t.dbf: record 1, field A: expected at most 5 characters, found 123456",
                Some("22003"),
            ),
            (
                "t.dbf: record 1, field A: expected at most 5 bytes, found \"abcdef\"",
                Some("22001"),
            ),
            (
                "t.dbf: record 7 is locked by process 9 (1..2); waited 0 ms",
                Some("55P03"),
            ),
            ("index tag A: already exists", Some("42P07")),
            ("Cannot convert 'x' to an integer", None),
        ] {
            assert_eq!(state_of_words(words), expected, "{words}");
        }
    }

    #[test]
    fn hints_stand_apart() {
        let error = Error::NotFound {
            name: "ordes".to_owned(),
            hint: "there is orders".to_owned(),
        };
        let failure = Failure::of(&error, "SELECT * FROM ordes");
        assert_eq!((&*failure.state, failure.position), ("42P01", Some(15)));
        assert_eq!(failure.hint.as_deref(), Some("there is orders"));
    }
}
