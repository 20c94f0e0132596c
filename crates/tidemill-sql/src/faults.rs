//! Faults of statements in the shape that programs for ADS take apart, whoever found them.

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, SchemaError};
use sqlparser::ast::{Expr, Spanned as _, Statement};
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
                let name = field.name();
                let fault = SqlError::new(Kind::NoColumn, format!("Column not found: {name}"));
                return match place_of(name, statement) {
                    Some(place) => fault.at(place).within(sql),
                    None => fault,
                }
                .into();
            }
            SchemaError::AmbiguousReference { field } => {
                (Kind::Ambiguous, format!("Ambiguous reference: {}", field.name()))
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
    let found = sqlparser::ast::visit_expressions(statement, |expr| {
        let last = match expr {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        match last {
            Some(ident) if ident.value.eq_ignore_ascii_case(column) => ControlFlow::Break(ident.span.start),
            _ => ControlFlow::Continue(()),
        }
    });
    match found {
        ControlFlow::Break(place) => Some(place),
        ControlFlow::Continue(()) => None,
    }
}
