//! Faults of statements in the shape that programs for ADS take apart, whoever found them.

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, SchemaError};
use sqlparser::ast::{Expr, Ident, Spanned as _, Statement};
use sqlparser::tokenizer::Location;
use tidemill_ads::sql::{Error as SqlError, Kind};

use crate::Error;
use crate::server_url::without_passwords;

/// A name that leads to no table, and what is there instead.
pub(crate) fn absent(error: Error, place: Location, sql: &str) -> Error {
    match error {
        Error::NotFound { name, hint } => {
            let why = format!(
                "Either ACE could not find the specified file, or you do not have sufficient rights to access the file.  \
                 Table name: {name}; {hint}"
            );
            SqlError::new(Kind::NoTable, why).at(place).within(sql).into()
        }
        other => other,
    }
}

/// What the engine finds wrong with a statement before it runs.
pub(crate) fn of_planning(error: Error, statement: &Statement, sql: &str) -> Error {
    let Error::Engine(engine) = &error else { return error };
    let (kind, message) = match engine.find_root() {
        DataFusionError::SchemaError(found, _) => match &**found {
            SchemaError::FieldNotFound { field, .. } => {
                return of_column(Kind::NoColumn, "Column not found", field.name(), statement, sql).into();
            }
            SchemaError::AmbiguousReference { field } => {
                return of_column(Kind::Ambiguous, "Ambiguous reference", field.name(), statement, sql).into();
            }
            other => (Kind::Ambiguous, other.to_string()),
        },
        DataFusionError::SQL(parser, _) => (Kind::Syntax, parser.to_string()),
        DataFusionError::NotImplemented(what) => (Kind::Unsupported, what.clone()),
        DataFusionError::Plan(what) => return of_plan(what, statement, sql).into(),
        _ => return error,
    };
    SqlError::new(kind, without_passwords(&message)).into()
}

/// A fault of a column, which is called as the statement calls it.
fn of_column(kind: Kind, what: &str, column: &str, statement: &Statement, sql: &str) -> SqlError {
    match mention_of(column, statement) {
        Some(Ident { value, span, .. }) => {
            let fault = SqlError::new(kind, format!("{what}: {value}"));
            fault.at(span.start).within(sql)
        }
        None => SqlError::new(kind, format!("{what}: {column}")),
    }
}

/// The planner tells these apart by their words alone.
fn of_plan(what: &str, statement: &Statement, sql: &str) -> SqlError {
    let quoted = |quote: char| what.split(quote).nth(1).unwrap_or_default();
    let (kind, message, place) = if what.contains("must appear in the GROUP BY clause") {
        let column = quoted('"').rsplit('.').next().unwrap_or_default();
        let why = format!("Column {column} is not grouped by");
        (Kind::Grouping, why, place_of(column, statement))
    } else if what.starts_with("Aggregate functions are not allowed") {
        (Kind::Grouping, "An aggregate cannot stand here".to_owned(), None)
    } else if what.starts_with("Invalid function") {
        let (name, place) = function_of(quoted('\''), statement);
        (Kind::NoFunction, format!("Scalar function not found: {name}"), place)
    } else {
        (Kind::Type, without_passwords(what), None)
    };
    let fault = SqlError::new(kind, message);
    match place {
        Some(place) => fault.at(place).within(sql),
        None => fault,
    }
}

/// A function as a statement writes it, and where.
fn function_of(name: &str, statement: &Statement) -> (String, Option<Location>) {
    let found = sqlparser::ast::visit_expressions(statement, |expr| match expr {
        Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case(name) => {
            ControlFlow::Break((function.name.to_string(), Some(function.name.span().start)))
        }
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(found) => found,
        ControlFlow::Continue(()) => (name.to_owned(), None),
    }
}

/// Where a statement names a column first.
fn place_of(column: &str, statement: &Statement) -> Option<Location> {
    mention_of(column, statement).map(|ident| ident.span.start)
}

/// The name by which a statement first names a column.
fn mention_of(column: &str, statement: &Statement) -> Option<Ident> {
    let found = sqlparser::ast::visit_expressions(statement, |expr| {
        let last = match expr {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        match last {
            Some(ident) if ident.value.eq_ignore_ascii_case(column) => ControlFlow::Break(ident.clone()),
            _ => ControlFlow::Continue(()),
        }
    });
    match found {
        ControlFlow::Break(ident) => Some(ident),
        ControlFlow::Continue(()) => None,
    }
}
