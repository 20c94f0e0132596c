//! The table provider: a scan is one SELECT, whose rows are streamed from the driver.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use adbc_core::{Connection, Statement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_schema::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result as EngineResult, ScalarValue};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use tokio::sync::mpsc::Sender;

use super::driver::Table;
use super::error_at;
use crate::answer::Answer;
use crate::planned_scan::planned_scan;
use crate::stores::decimals::{widen, widened};
use crate::stores::server::begun::{self, Begun};
use crate::stores::server::condition::{
    Comparing, Comparison, Condition, Pattern, condition, exactly, pushed, texts_of, whole_number,
};
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::{Error, Result};

/// Opens the table for the planner.
pub(super) async fn open(table: Table) -> Result<Arc<dyn TableProvider>> {
    let (name, schema) = table
        .wait(|table| {
            let name = table.found()?;
            let schema = table.connect()?.get_table_schema(None, None, &name);
            Ok((name, schema.map_err(error_at(table.place()))?))
        })
        .await?;
    let schema = widened(&Arc::new(schema));
    let columns = schema.fields().iter();
    let columns = columns.map(|field| {
        (
            field.name().clone(),
            (table.quoted(field.name()), field.data_type().clone()),
        )
    });
    Ok(Arc::new(AdbcTable {
        columns: Columns(columns.collect()),
        schema,
        name,
        table,
    }))
}

#[derive(Debug)]
struct AdbcTable {
    table: Table,
    /// In the database's spelling.
    name: String,
    schema: SchemaRef,
    columns: Columns,
}

/// Quoted columns and their types, by name.
#[derive(Debug)]
struct Columns(HashMap<String, (String, DataType)>);

/// Compares only what has the same meaning in all databases: whole numbers, and IS NULL. Strings are not compared there, since many
/// databases ignore case.
impl Comparing for Columns {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let (name, data_type) = self.0.get(&column.name)?;
        let value = whole_number(value).filter(|_| data_type.is_integer())?;
        let sign = match comparison {
            Comparison::NotEqual => "<>",
            comparison => comparison.sign(),
        };
        Some(exactly(format!("{name} {sign} {value}")))
    }

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        let (name, _) = self.0.get(column)?;
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!("{name} IS {not}NULL")))
    }

    fn is(&self, _column: &str, _wanted: bool) -> Option<Condition> {
        None
    }

    fn like(&self, _column: &Expr, _pattern: Pattern<'_>, _wanted: bool) -> Option<Condition> {
        None
    }
}

impl AdbcTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let projected: SchemaRef = Arc::new(self.schema.project(&projection)?);
        let names = projected.fields().iter().map(|field| self.table.quoted(field.name()));
        let names: Vec<String> = names.collect();
        let columns = match names.is_empty() {
            true => "1".to_owned(),
            false => names.join(", "),
        };
        let mut query = format!("SELECT {columns} FROM {}", self.table.quoted(&self.name));
        let conditions = texts_of(filters, |filter| condition(&self.columns, filter))?;
        if !conditions.is_empty() {
            query += &format!(" WHERE {}", conditions.join(" AND "));
        }
        let scan = AdbcScan {
            table: self.table.clone(),
            query,
            projected,
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for AdbcTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    planned_scan!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        Ok(pushed(filters, |filter| condition(&self.columns, filter)))
    }
}

/// One SELECT, in the physical plan.
#[derive(Clone)]
struct AdbcScan {
    table: Table,
    query: String,
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for AdbcScan {
    fn name(&self) -> &'static str {
        "AdbcScan"
    }

    fn place(&self) -> &str {
        self.table.place()
    }

    fn query(&self) -> String {
        self.query.clone()
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, _: &Count) -> Result<()> {
        let (scan, sender) = (self.clone(), sender.clone());
        self.table
            .wait(move |table| {
                run(table, &scan.query, |rows| {
                    for batch in rows {
                        let batch = as_promised(batch?, &scan.projected, table.place())?;
                        if sender.blocking_send(Ok(batch)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                })
            })
            .await
    }
}

/// Runs a query, and passes its rows to `take`.
fn run<T>(table: &Table, query: &str, take: impl FnOnce(Box<dyn RecordBatchReader + Send>) -> Result<T>) -> Result<T> {
    let failed = || error_at(table.place());
    let mut connection = table.connect()?;
    let mut statement = connection.new_statement().map_err(failed())?;
    statement.set_sql_query(query).map_err(failed())?;
    let rows = statement.execute().map_err(failed())?;
    take(rows)
}

/// Converts a batch to the schema of the plan: a driver may report other types for a table than its queries return.
fn as_promised(batch: RecordBatch, promised: &SchemaRef, place: &str) -> Result<RecordBatch> {
    if promised.fields().is_empty() {
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        return Ok(RecordBatch::try_new_with_options(
            Arc::clone(promised),
            Vec::new(),
            &options,
        )?);
    }
    if batch.num_columns() != promised.fields().len() {
        return Err(Error::Unsupported {
            what: format!(
                "{place}: {} columns for {}",
                batch.num_columns(),
                promised.fields().len()
            ),
            hint: "the table may have been altered: ask again".to_owned(),
        });
    }
    let columns = batch.columns().iter().zip(promised.fields());
    let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
        true => Ok(Arc::clone(column)),
        false => cast(column, field.data_type()),
    });
    Ok(RecordBatch::try_new(
        Arc::clone(promised),
        columns.collect::<std::result::Result<_, _>>()?,
    )?)
}

/// The answer of a statement in the database's own SQL.
pub(super) async fn answer(table: Table, statement: String) -> Result<Answer> {
    begun::answer(|told| async move {
        let done = table.wait(move |table| {
            run(table, &statement, |rows| {
                let schema = widened(&rows.schema());
                let begun = match schema.fields().is_empty() {
                    true => Begun::Changed(None),
                    false => Begun::Rows(Arc::clone(&schema)),
                };
                if told.begun.send(begun).is_err() || schema.fields().is_empty() {
                    return Ok(());
                }
                for batch in rows {
                    if told.rows.blocking_send(widen(batch?, &schema)).is_err() {
                        break;
                    }
                }
                Ok(())
            })
        });
        done.await
    })
    .await
}

impl fmt::Debug for AdbcScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdbcScan")
            .field("place", &self.table.place())
            .field("query", &self.query)
            .finish_non_exhaustive()
    }
}
