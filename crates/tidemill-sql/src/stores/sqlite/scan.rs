//! The table provider of a table or a view: a scan is one SELECT on a separate thread.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result as EngineResult;
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use tokio::sync::mpsc::Sender;

use super::database::{Database, Values};
use super::dialect::{Columns, SqliteSql, name, selected};
use super::error_at;
use super::kind::{Kind, Type};
use super::rows::{self, Batches, LOOKED_AT};
use crate::Result;
use crate::planned_scan::planned_scan;
use crate::stores::server::condition::{Condition, condition, pushed, texts_of};
use crate::stores::server::counted;
use crate::stores::server::push_down::{Operation, RowChange};
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::{Output, Select};

/// The columns of a table: their names and types.
pub(super) fn types(
    database: &Database,
    connection: &rusqlite::Connection,
    table: &str,
) -> Result<Vec<(String, Type)>> {
    let failed = || error_at(database.place());
    let listed = database.list(connection, table)?;
    if database.values() == Values::Text {
        let text = Type {
            kind: Kind::Text,
            is_converted: true,
        };
        return Ok(listed.into_iter().map(|(name, _)| (name, text)).collect());
    }
    let declared: Vec<Option<Kind>> = listed
        .iter()
        .map(|(_, declaration)| declaration.as_deref().and_then(Kind::declared))
        .collect();
    let first = format!("SELECT * FROM {} LIMIT {LOOKED_AT}", name(table));
    let mut first = connection.prepare(&first).map_err(failed())?;
    let types = rows::types(&mut first, &declared).map_err(failed())?;
    Ok(listed.into_iter().map(|(name, _)| name).zip(types).collect())
}

/// Opens the table for the planner.
pub(super) async fn open(database: Database) -> Result<Arc<dyn TableProvider>> {
    let (table, types) = database
        .wait(|database| {
            let connection = database.read()?;
            let table = database.found_by(&connection)?;
            let types = types(database, &connection, &table)?;
            Ok((table, types))
        })
        .await?;
    let fields = types
        .iter()
        .map(|(name, of)| Field::new(name, of.kind.data_type(), true));
    Ok(Arc::new(SqliteTable {
        schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
        columns: Columns::new(types.iter().map(|(name, of)| (name.as_str(), *of))),
        types,
        table,
        database,
    }))
}

#[derive(Debug)]
struct SqliteTable {
    database: Database,
    /// In the database's spelling.
    table: String,
    types: Vec<(String, Type)>,
    columns: Columns,
    schema: SchemaRef,
}

impl SqliteTable {
    fn condition(&self, filter: &Expr) -> Option<Condition> {
        // Values that are read as NULL are not NULL in the database.
        match self.database.values() {
            Values::Null => None,
            Values::Strict | Values::Text => condition(&self.columns, filter),
        }
    }
}

impl SqliteTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.types.len()).collect(), Clone::clone);
        let conditions = texts_of(filters, |filter| self.condition(filter))?;
        let types: Vec<&(String, Type)> = projection.iter().filter_map(|&place| self.types.get(place)).collect();
        let columns: Vec<Output<Type>> = types.iter().map(|(name, of)| selected(name, *of)).collect();
        let scan = SqliteScan {
            database: self.database.clone(),
            select: Select::new(columns, &name(&self.table), &conditions, limit),
            is_pushed: false,
            projected: Arc::new(self.schema.project(&projection)?),
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for SqliteTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    planned_scan!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        Ok(pushed(filters, |filter| self.condition(filter)))
    }
}

/// One SELECT, in the physical plan.
#[derive(Clone)]
struct SqliteScan {
    database: Database,
    select: Select<SqliteSql>,
    /// Whether more than the table's scan was pushed down.
    is_pushed: bool,
    /// Without columns, the number of rows is queried.
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for SqliteScan {
    fn name(&self) -> &'static str {
        "SqliteScan"
    }

    fn place(&self) -> &str {
        self.database.place()
    }

    fn query(&self) -> String {
        match self.projected.fields().is_empty() {
            true => self.select.count(),
            false => self.select.text(),
        }
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, _: &Count) -> Result<()> {
        if self.projected.fields().is_empty() {
            let count = self.database.number(self.query()).await?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        let (scan, sender) = (self.clone(), sender.clone());
        self.database.wait(move |database| scan.read(database, &sender)).await
    }

    fn change(&self, change: &RowChange) -> Option<String> {
        let is_exact = self.database.values() == Values::Strict;
        is_exact.then(|| self.select.change(change))?
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let other = |other: &dyn ServerRead| -> Option<Select<SqliteSql>> {
            let other = (other as &dyn Any).downcast_ref::<Self>()?;
            (self.database.path() == other.database.path()).then(|| other.select.clone())
        };
        if self.database.values() == Values::Null {
            return None;
        }
        let select = self.select.after(operation, other)?;
        Some(Arc::new(Self {
            database: self.database.clone(),
            select,
            is_pushed: true,
            projected: Arc::clone(schema),
        }))
    }
}

impl SqliteScan {
    fn read(&self, database: &Database, sender: &Sender<EngineResult<RecordBatch>>) -> Result<()> {
        /// Instructions of SQLite's virtual machine between two checks for a dropped receiver.
        const INSTRUCTIONS: i32 = 100_000;
        let mut connection = database.read()?;
        let waiting = sender.clone();
        let handler = connection.progress_handler(INSTRUCTIONS, Some(move || waiting.is_closed()));
        handler.map_err(error_at(database.place()))?;
        let types: Vec<Type> = self.select.types().copied().collect();
        let schema = match self.is_pushed {
            false => Arc::clone(&self.projected),
            true => {
                let fields = types.iter().enumerate();
                let fields = fields.map(|(place, of)| Field::new(place.to_string(), of.kind.data_type(), true));
                Arc::new(Schema::new(fields.collect::<Vec<_>>()))
            }
        };
        let mut batches = Batches::new(&types, schema, database.place(), database.values());
        let mut failed = None;
        let mut statement = connection.prepare(&self.query()).map_err(error_at(database.place()))?;
        let read = batches.read(&mut statement.raw_query(), |batch| {
            let batch = match self.is_pushed {
                true => self.select.answer(&batch, &self.projected),
                false => Ok(batch),
            };
            match batch {
                Ok(batch) => sender.blocking_send(Ok(batch)).is_ok(),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        match failed {
            Some(error) => Err(error),
            // It was interrupted because the receiver is gone.
            None if sender.is_closed() => Ok(()),
            None => read,
        }
    }
}

impl fmt::Debug for SqliteScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteScan")
            .field("place", &self.database.place())
            .field("query", &self.query())
            .finish_non_exhaustive()
    }
}
