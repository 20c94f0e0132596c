//! `PREPARE name (types) AS statement` and `EXECUTE name (values)`: statements prepared in SQL, as `psql` and scripts do.
//!
//! EXECUTE runs the statement with the values in place of `$1` and so on. Drivers prepare through messages of the protocol instead, whose
//! statements have a separate namespace.

use std::collections::HashMap;
use std::ops::ControlFlow;

use pgwire::error::PgWireError;
use sqlparser::ast::{CastKind, DataType, Expr, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;

use super::failure::{error, hinted};
use super::parameters::placeholder;

/// A PREPARE.
#[derive(Clone, Debug)]
pub(crate) struct PrepareStatement {
    pub(super) name: String,
    /// The types of the first parameters.
    types: Vec<DataType>,
    statement: Statement,
}

/// Parses a PREPARE or EXECUTE.
fn parse(text: &str) -> Result<Option<Statement>, PgWireError> {
    let mut statements =
        Parser::parse_sql(&PostgreSqlDialect {}, text).map_err(|wrong| error("42601", wrong.to_string()))?;
    Ok(statements.pop().filter(|_| statements.is_empty()))
}

/// The parts of a PREPARE; `None` for other statements.
///
/// # Errors
///
/// SQLSTATE 42601 for a text that is not a statement, or a statement that cannot be prepared.
pub(super) fn prepare(text: &str) -> Result<Option<PrepareStatement>, PgWireError> {
    let Some(Statement::Prepare {
        name,
        data_types,
        statement,
    }) = parse(text)?
    else {
        return Ok(None);
    };
    let is_possible = matches!(
        *statement,
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_)
    );
    if !is_possible {
        return Err(error(
            "42601",
            "only SELECT, INSERT, UPDATE, DELETE, MERGE and VALUES can be prepared",
        ));
    }
    Ok(Some(PrepareStatement {
        name: folded(&name),
        types: data_types,
        statement: *statement,
    }))
}

/// The name and the values of an EXECUTE, as SQL; `None` for other statements, such as EXECUTE PROCEDURE.
///
/// # Errors
///
/// SQLSTATE 42601 for a text that is not a statement.
pub(super) fn execute(text: &str) -> Result<Option<(String, Vec<Expr>)>, PgWireError> {
    let Ok(Some(Statement::Execute {
        name: Some(name),
        parameters,
        ..
    })) = parse(text)
    else {
        return Ok(None);
    };
    let has_parameters = parameters.iter().any(|value| {
        let found = walk::expressions(value, &mut |part| match placeholder(part) {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        found.is_break()
    });
    if has_parameters {
        return Err(error("42P02", "the values of EXECUTE have no parameters"));
    }
    let name = name.0.last().and_then(|part| part.as_ident()).map(folded);
    Ok(name.map(|name| (name, parameters)))
}

/// A name as PostgreSQL folds it: in lower case unless quoted.
fn folded(name: &sqlparser::ast::Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    }
}

/// The statements of a connection that PREPARE has stored, by name.
#[derive(Debug, Default)]
pub(crate) struct PreparedByName(HashMap<String, PrepareStatement>);

impl PreparedByName {
    /// # Errors
    ///
    /// SQLSTATE 42P05 if the name is in use.
    pub(super) fn add(&mut self, prepare: &PrepareStatement) -> Result<(), PgWireError> {
        let name = &prepare.name;
        if self.0.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(hinted("42P05", message, format!("DEALLOCATE {name} forgets it")));
        }
        self.0.insert(name.clone(), prepare.clone());
        Ok(())
    }

    /// Removes one, or all. Returns whether there was one.
    pub(super) fn forget(&mut self, name: Option<&str>) -> bool {
        match name {
            Some(name) => self.0.remove(name).is_some(),
            None => {
                self.0.clear();
                true
            }
        }
    }

    /// The statement with these values.
    ///
    /// # Errors
    ///
    /// SQLSTATE 26000 for an unknown name, 08P01 for a wrong number of values.
    pub(super) fn with_values(&self, name: &str, values: &[Expr]) -> Result<String, PgWireError> {
        let prepared = self
            .0
            .get(name)
            .ok_or_else(|| error("26000", format!("prepared statement \"{name}\" does not exist")))?;
        let mut statement = prepared.statement.clone();
        let mut wanted = prepared.types.len();
        let _ = walk::expressions_mut(&mut statement, &mut |expression| {
            let Some(number) = placeholder(expression) else {
                return ControlFlow::<()>::Continue(());
            };
            wanted = wanted.max(number);
            if let Some(value) = values.get(number - 1) {
                let value = Box::new(value.clone());
                *expression = match prepared.types.get(number - 1) {
                    Some(of) => Expr::Cast {
                        kind: CastKind::Cast,
                        expr: value,
                        data_type: of.clone(),
                        array: false,
                        format: None,
                    },
                    None => Expr::Nested(value),
                };
            }
            ControlFlow::Continue(())
        });
        match wanted == values.len() {
            true => Ok(statement.to_string()),
            false => {
                let message = format!("wrong number of values for the prepared statement \"{name}\"");
                Err(hinted(
                    "08P01",
                    message,
                    format!("expected {wanted}, found {}", values.len()),
                ))
            }
        }
    }
}
