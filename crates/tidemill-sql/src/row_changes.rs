//! UPDATE and DELETE of rows of a server's table, executed by the server as one statement.
//!
//! The condition and the new values are planned as a query over the table. If the server might choose other rows than this query, or
//! compute another value, nothing is changed.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use sqlparser::ast::{Expr, Ident, SelectItem, SetExpr};
use tidemill_ads::sql::{Delete, Select, StatementKind, TableName, Update, Value};

use crate::answer::Answer;
use crate::changes::check_once;
use crate::lowering::{self, Parameters};
use crate::options::SessionOptions;
use crate::session::Session;
use crate::stores::server::push_down::{NewValue, RowChange, read_of_rows};
use crate::stores::server::{ServerUrl, fitting};
use crate::{Error, Result};

/// The changed table, its name in the statement, the assignments, and the condition.
struct Change {
    table: TableName,
    alias: Option<Ident>,
    assignments: Vec<(Ident, Expr)>,
    selection: Option<Expr>,
}

impl Change {
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a change that joins other tables, and for a change of deletion marks, which servers lack.
    fn of(kind: StatementKind) -> Result<Self> {
        let change = match kind {
            StatementKind::Update(update) => {
                let Update {
                    table,
                    alias,
                    assignments,
                    from: None,
                    selection,
                    deletion: None,
                } = *update
                else {
                    return Err(refused(
                        "UPDATE … FROM, WITH DELETE or WITH RECALL",
                        "a table of a server",
                    ));
                };
                Self {
                    table,
                    alias,
                    assignments,
                    selection,
                }
            }
            StatementKind::Delete(delete) => {
                let Delete {
                    table,
                    alias,
                    from: None,
                    selection,
                } = *delete
                else {
                    return Err(refused("DELETE … FROM a join", "a table of a server"));
                };
                Self {
                    table,
                    alias,
                    assignments: Vec::new(),
                    selection,
                }
            }
            _ => return Err(refused("this change", "a table of a server")),
        };
        Ok(change)
    }

    /// The query of the rows and their new values. It is only planned, so that selecting all columns costs nothing.
    fn query(&self) -> Result<Select> {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut from = quoted(&self.table.to_string());
        if let Some(alias) = &self.alias {
            from = format!("{from} {}", quoted(&alias.value));
        }
        let mut statements = tidemill_ads::sql::parse(&format!("SELECT * FROM {from}"))?;
        let Some(StatementKind::Select(mut select)) = statements.pop().map(|statement| statement.kind) else {
            return Err(refused("this change", &self.table.to_string()));
        };
        if let SetExpr::Select(body) = &mut *select.query.body {
            let values = self.assignments.iter().enumerate();
            body.projection
                .extend(values.map(|(place, (_, value))| SelectItem::ExprWithAlias {
                    expr: value.clone(),
                    alias: Ident::new(format!("_tidemill_value_{place}")),
                }));
            body.selection.clone_from(&self.selection);
        }
        Ok(*select)
    }
}

impl Session {
    /// Makes a server change rows of its table.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the server cannot evaluate a part of the statement; [`Error::UnfitColumn`] for a value that does not fit
    /// its column; errors of the server.
    pub(crate) async fn change_rows(
        &self,
        server: &ServerUrl,
        kind: StatementKind,
        (sql, values): (&str, &[Value]),
        options: &SessionOptions,
    ) -> Result<Answer> {
        let is_update = matches!(kind, StatementKind::Update(_));
        let change = Change::of(kind)?;
        check_once(change.assignments.iter().map(|(column, _)| column))?;
        let place = server.to_string();
        let statement = lowering::statement(&change.query()?, false, &Parameters::of(sql, values)?)?;
        let plan = self.physical_plan(&statement, sql, options).await?;
        let not_there = || Error::Unsupported {
            what: format!(
                "{place}: a change whose condition or new values the server would not compute exactly as they are computed here"
            ),
            hint:
                "compare columns with constants, or run the statement in the server's own SQL (tidemill sql --server)"
                    .to_owned(),
        };
        let (read, mut computed) = plan.as_ref().and_then(read_of_rows).ok_or_else(not_there)?;
        let row_change = match is_update {
            false => RowChange::Delete,
            true => {
                // The columns of the table come first.
                let new = computed.split_off(computed.len().saturating_sub(change.assignments.len()));
                let values = change.assignments.iter().zip(new);
                let values = values.map(|((column, _), value)| assigned(read.schema(), &column.value, value, &place));
                RowChange::Update(values.collect::<Result<Option<_>>>()?.ok_or_else(not_there)?)
            }
        };
        let text = read.change(&row_change).ok_or_else(not_there)?;
        self.connection.change_at_once(&place)?;
        self.servers.of(server)?.answer(server, &text).await
    }
}

/// A column in the table's spelling, with its new value in the column's type; `None` for a computed value of another type.
fn assigned(schema: &SchemaRef, column: &str, value: NewValue, place: &str) -> Result<Option<(String, NewValue)>> {
    let mut fields = schema.fields().iter();
    let field = fields.find(|field| field.name().eq_ignore_ascii_case(column));
    let field = field.ok_or_else(|| Error::UnfitColumn {
        place: place.to_owned(),
        column: column.to_owned(),
        why: "the table has no such column".to_owned(),
        hint: "name one that it has".to_owned(),
    })?;
    let value = match value {
        NewValue::Constant(constant) => NewValue::Constant(fitted(&constant, field, place)?),
        NewValue::Computed(computed) if computed.is_assignable(field.data_type()) => NewValue::Computed(computed),
        NewValue::Computed(_) => return Ok(None),
    };
    Ok(Some((field.name().clone(), value)))
}

/// A constant converted to the type of a column.
fn fitted(constant: &ScalarValue, field: &Field, place: &str) -> Result<ScalarValue> {
    if constant.is_null() && field.is_nullable() {
        return Ok(ScalarValue::try_from(field.data_type())?);
    }
    let row: ArrayRef = constant.to_array()?;
    let given = Field::new(field.name(), row.data_type().clone(), true);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![given])), vec![row])?;
    let expected = Arc::new(Schema::new(vec![field.clone()]));
    let batch = fitting::fitted(&batch, &expected, place, 0)?;
    Ok(ScalarValue::try_from_array(batch.column(0), 0)?)
}

fn refused(what: &str, of: &str) -> Error {
    Error::Unsupported {
        what: format!("{what} of {of}"),
        hint: "run the statement in the server's own SQL (tidemill sql --server)".to_owned(),
    }
}
