//! What can go wrong with a statement, in the shape that programs for ADS take apart.
//!
//! Clients look for `NativeError = ` and for `Location of error in the SQL statement is: ` in the text (FireDAC's ADS driver, for
//! one), so both are always where ADS has them:
//!
//! ```text
//! Error 7200:  AQE Error:  State = 42000;   NativeError = 2115;  [SAP][Advantage SQL Engine]Expected … -- Location of error in
//! the SQL statement is: 15 (line: 1 column: 15)
//! ```
//!
//! The shape is that of ADS's help ("7200 Advantage SQL Error") and of messages that its users published. Codes of 5000 and more
//! are the client's and the server's own; of SQL's, 2010 (the table exists) is published and 2229 (an ambiguous name) documented.
//! The help calls the others subject to change; the rest of [`Kind`]'s are chosen here.

use sqlparser::tokenizer::Location;
use tidemill_trust::with_causes;
use tidemill_xbase as xbase;

use crate::{ErrorCode, Refusal};

/// The result of everything that runs SQL.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement was refused or failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Error(Box<Fault>);

#[derive(Debug)]
struct Fault {
    kind: Kind,
    message: String,
    location: Option<Location>,
    /// Characters before the fault.
    offset: Option<usize>,
    source: Option<xbase::Error>,
    /// The native code, where it is not that of the kind.
    code: Option<ErrorCode>,
    /// The names of columns that there are, in the place of one that there is not.
    columns: Vec<String>,
}

/// What kind of fault it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The text is no statement.
    Syntax,
    /// A table that there is not.
    NoTable,
    /// A table, view or index that is there already.
    Exists,
    /// A column that the table has not got.
    NoColumn,
    /// A name that means two things.
    Ambiguous,
    /// A function or procedure that there is not, or with other arguments.
    NoFunction,
    /// An expression that ADS SQL does not have.
    NoExpression,
    /// Operands whose types do not fit.
    Type,
    /// A column beside aggregates that is not grouped by, or an aggregate where none can be.
    Grouping,
    /// A value that cannot be converted, or does not fit.
    Value,
    /// A parameter without a value.
    Parameter,
    /// A join, a subquery, a window: what needs the analytical engine, and there is none.
    NeedsAnalytical,
    /// More records to sort or group than the caller leaves here ([`StatementOptions::most_sorted`](super::StatementOptions::most_sorted)).
    Large,
    /// What these lanes do not do.
    Unsupported,
    /// Options of a definition that cannot be together, or that nobody would keep.
    Definition,
    /// A transaction where none can be, or none where one must be.
    Transaction,
    /// A savepoint that the transaction does not have.
    NoSavepoint,
    /// A script raised it: its class and code.
    Raised {
        /// The class, in the letters of the statement.
        class: String,
        /// The code.
        code: i64,
    },
    /// A script, or a text, that goes on for too long.
    Limit,
    /// Whoever watches the statement has stopped it.
    Stopped,
    /// A table has other fields than those that the statement was bound to.
    StructureChanged,
    /// The tables could not be read or written.
    Engine,
}

impl Kind {
    /// SQLSTATE and native code.
    fn codes(&self) -> (&'static str, i64) {
        match self {
            Self::Syntax => ("42000", 2115),
            Self::NoTable => ("HY000", 7041),
            Self::Exists => ("S0000", 2010),
            Self::NoColumn => ("S0022", 2121),
            Self::Ambiguous => ("42000", 2229),
            Self::NoFunction => ("42000", 2134),
            Self::Type => ("42000", 2124),
            Self::Grouping => ("42000", 2149),
            Self::Value => ("22000", 2213),
            Self::Parameter => ("07001", 2205),
            Self::NeedsAnalytical | Self::Large | Self::Unsupported | Self::NoExpression => ("HYC00", 2208),
            Self::Definition => ("42000", 2215),
            Self::Transaction => ("25000", 2220),
            Self::NoSavepoint => ("3B001", 5000),
            Self::Raised { code, .. } => ("HY000", *code),
            Self::Limit => ("54000", 2210),
            Self::Stopped => ("HY008", 7209),
            Self::StructureChanged => ("HY000", 2230),
            Self::Engine => ("HY000", 5000),
        }
    }
}

impl Error {
    /// A fault without a place.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Fault {
            kind,
            message: message.into(),
            location: None,
            offset: None,
            source: None,
            code: None,
            columns: Vec::new(),
        }))
    }

    /// That this needs the analytical engine, which the connection has not got.
    pub(super) fn needs_analytical(what: impl std::fmt::Display) -> Self {
        let why = format!("{what} needs the analytical engine, and this connection has none");
        Self::new(Kind::NeedsAnalytical, why)
    }

    /// A column that the statement names and its table has not got. `columns` are those that it has.
    pub fn no_column(name: &str, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(Kind::NoColumn, format!("Column not found: {name}")).among(columns)
    }

    /// Among which names one was looked for.
    #[must_use]
    pub fn among(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.0.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// At a place of the statement; one that is known already stays.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        if self.0.location.is_none() && location.line > 0 {
            self.0.location = Some(location);
        }
        self
    }

    /// At another place, or without one.
    pub(super) fn moved(mut self, location: Option<Location>) -> Self {
        (self.0.location, self.0.offset) = (None, None);
        match location {
            Some(location) => self.at(location),
            None => self,
        }
    }

    /// Counts the characters before the fault.
    #[must_use]
    pub fn within(mut self, text: &str) -> Self {
        if let (Some(location), None) = (self.0.location, self.0.offset) {
            let line = usize::try_from(location.line).unwrap_or(usize::MAX).saturating_sub(1);
            let before: usize = text
                .split_inclusive('\n')
                .take(line)
                .map(|line| line.chars().count())
                .sum();
            let column = usize::try_from(location.column).unwrap_or(usize::MAX).saturating_sub(1);
            self.0.offset = Some(before.saturating_add(column));
        }
        self
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// The code that clients call native: what ADS's help lists.
    pub fn native_code(&self) -> i64 {
        match self.0.code {
            Some(code) => code.number().into(),
            None => self.0.kind.codes().1,
        }
    }

    /// The SQLSTATE.
    pub fn state(&self) -> &'static str {
        self.0.kind.codes().0
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Line and column of the fault, counted from 1.
    pub fn line_and_column(&self) -> Option<(u64, u64)> {
        self.0.location.map(|location| (location.line, location.column))
    }

    /// The names of columns that there are, where one was not found.
    pub fn columns(&self) -> &[String] {
        &self.0.columns
    }

    /// What the tables said.
    pub fn engine(&self) -> Option<&xbase::Error> {
        self.0.source.as_ref()
    }

    fn text(&self) -> String {
        let Fault {
            kind,
            message,
            location,
            offset,
            ..
        } = &*self.0;
        let (state, native) = (self.state(), self.native_code());
        let origin = match kind {
            Kind::Engine | Kind::NoTable => format!("[SAP][Advantage SQL][ASA] Error {native}:  "),
            Kind::Raised { class, .. } => format!("[SAP][Advantage SQL Engine]{class}: "),
            _ => "[SAP][Advantage SQL Engine]".to_owned(),
        };
        let mut text =
            format!("Error 7200:  AQE Error:  State = {state};   NativeError = {native};  {origin}{message}");
        if let Some(Location { line, column }) = location {
            let offset = offset.map_or(*column, |offset| {
                u64::try_from(offset).unwrap_or(u64::MAX).saturating_add(1)
            });
            text.push_str(&format!(
                " -- Location of error in the SQL statement is: {offset} (line: {line} column: {column})"
            ));
        }
        text
    }
}

impl From<xbase::Error> for Error {
    fn from(source: xbase::Error) -> Self {
        let message = with_causes(&source);
        let kind = match &source {
            xbase::Error::Value(_) => Kind::Value,
            _ => Kind::Engine,
        };
        let mut error = Self::new(kind, message);
        if error.0.kind == Kind::Engine {
            error.0.code = Some(crate::error::code_of(&source));
        }
        error.0.source = Some(source);
        error
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Engine(source) => (*source).into(),
            crate::Error::Statement(error) => error,
            crate::Error::Refused(refusal) => {
                let Refusal { code, what } = *refusal;
                let kind = match code {
                    ErrorCode::TransactionOutOfSequence | ErrorCode::IllegalCommandDuringTransaction => {
                        Kind::Transaction
                    }
                    ErrorCode::NotFound => Kind::NoSavepoint,
                    _ => Kind::Engine,
                };
                let mut error = Self::new(kind, what);
                error.0.code = Some(code);
                error
            }
        }
    }
}

impl From<arrow_schema::ArrowError> for Error {
    /// What went wrong may be one of these on its way through Arrow.
    fn from(error: arrow_schema::ArrowError) -> Self {
        match error {
            arrow_schema::ArrowError::ExternalError(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::new(Kind::Value, other.to_string()),
            },
            other => Self::new(Kind::Value, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_state_code_and_place_as_ads_does() {
        let error = Error::new(Kind::Syntax, "Expected lexical element not found: FROM")
            .at(Location { line: 2, column: 4 })
            .within("SELECT\nx  y");
        assert_eq!(
            error.to_string(),
            "Error 7200:  AQE Error:  State = 42000;   NativeError = 2115;  [SAP][Advantage SQL Engine]Expected lexical \
             element not found: FROM -- Location of error in the SQL statement is: 11 (line: 2 column: 4)"
        );
        assert_eq!((error.native_code(), error.line_and_column()), (2115, Some((2, 4))));
        // Of an exception of a script the class is told too, and is no part of its message.
        let kind = Kind::Raised {
            class: "Bad_Table".to_owned(),
            code: 18,
        };
        let error = Error::new(kind, "emp");
        let text =
            "Error 7200:  AQE Error:  State = HY000;   NativeError = 18;  [SAP][Advantage SQL Engine]Bad_Table: emp";
        assert_eq!((error.to_string().as_str(), error.message()), (text, "emp"));
    }
}
