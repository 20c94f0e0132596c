//! The table provider.
//!
//! A scan is one SELECT with its columns, its limit, and the conditions that have the same meaning there. EXPLAIN shows the text; the rest
//! of the query runs here. Groups, joins, and LIMIT with ORDER BY may be pushed down too (`dialect.rs`).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use tidemill_postgres::{Answer as Statement, Client, Read, Table, Unrepresentable};
use tokio::sync::mpsc::Sender;

use super::dialect::{Columns, PostgresSql, Typed, selected};
use super::{NamedTable, error_at};
use crate::answer::Answer;
use crate::planned_scan::planned_scan;
use crate::stores::server::condition::{condition, pushed, texts_of};
use crate::stores::server::counted;
use crate::stores::server::push_down::{Operation, RowChange};
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::{Output, Select};
use crate::{Error, Result};

/// Opens the table for the planner.
pub(super) async fn open(named: NamedTable) -> Result<Arc<dyn TableProvider>> {
    let table = named.find().await?;
    // Values that are read as NULL are not NULL on the server.
    let is_exact = named.client.options().unrepresentable == Unrepresentable::Error;
    let is_utf8 = text_of(&named, "SELECT pg_catalog.current_setting('server_encoding')").await? == "UTF8";
    Ok(Arc::new(PostgresTable {
        schema: table.schema(),
        selected: table.columns.iter().map(|column| selected(column, is_utf8)).collect(),
        columns: match is_exact {
            true => Columns::new(&table.columns, is_utf8),
            false => Columns::new(&[], is_utf8),
        },
        source: Source {
            is_exact,
            client: named.client,
            server: named.server,
            place: named.place,
        },
        table,
    }))
}

/// The result of a query that returns a single text.
async fn text_of(named: &NamedTable, query: &str) -> Result<String> {
    let failed = || error_at(&named.place);
    let mut read = Read::begin(&named.client, &named.place, query, None)
        .await
        .map_err(failed())?;
    let batch = read.next().await.map_err(failed())?;
    let text = batch.and_then(|batch| Some(batch.column(0).as_string_opt::<i32>()?.value(0).to_owned()));
    Ok(text.unwrap_or_default())
}

/// The answer of the last of these statements in PostgreSQL's own SQL.
pub(super) async fn answer(named: NamedTable, statements: &str) -> Result<Answer> {
    let failed = || error_at(&named.place);
    let session = named.client.session().await.map_err(failed())?;
    let rows = match session.run(statements).await.map_err(failed())? {
        Statement::Changed(rows) => return Answer::counted(rows),
        Statement::Rows(rows) => rows,
    };
    let schema = Arc::clone(rows.schema());
    let batches = futures::stream::unfold((rows, named.place), |(mut rows, place)| async move {
        let batch = rows.next().await.map_err(error_at(&place)).transpose()?;
        let batch = batch.map_err(|error| DataFusionError::External(Box::new(error)));
        Some((batch, (rows, place)))
    });
    Ok(Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(
        schema, batches,
    ))))
}

/// The result of a query that returns a single number.
pub(super) async fn number_of(client: &Client, place: &str, query: &str) -> Result<u64> {
    let failed = || error_at(place);
    let mut read = Read::begin(client, place, query, None).await.map_err(failed())?;
    let batch = read.next().await.map_err(failed())?;
    let number = batch.and_then(|batch| Some(batch.column(0).as_primitive_opt::<Int64Type>()?.value(0)));
    number
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| Error::Unsupported {
            what: format!("{place}: an answer without a number to {query}"),
            hint: "please report it".to_owned(),
        })
}

/// The source of rows.
#[derive(Clone, Debug)]
struct Source {
    client: Client,
    /// Whether every value is read exactly.
    is_exact: bool,
    /// The server, the database and the user.
    server: String,
    /// The URL without its password.
    place: String,
}

#[derive(Debug)]
struct PostgresTable {
    source: Source,
    table: Table,
    schema: SchemaRef,
    /// The columns in the SELECT list.
    selected: Vec<Output<Typed>>,
    columns: Columns,
}

impl PostgresTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let conditions = texts_of(filters, |filter| condition(&self.columns, filter))?;
        let columns = projection
            .iter()
            .filter_map(|&column| self.selected.get(column).cloned());
        let scan = PostgresScan {
            source: self.source.clone(),
            select: Select::new(columns.collect(), &self.table.quoted_name(), &conditions, limit),
            is_pushed: false,
            projected: Arc::new(self.schema.project(&projection)?),
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for PostgresTable {
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
struct PostgresScan {
    source: Source,
    select: Select<PostgresSql>,
    /// Whether more than the table's scan was pushed down.
    is_pushed: bool,
    /// Without columns, the server returns the number of rows.
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for PostgresScan {
    fn name(&self) -> &'static str {
        "PostgresScan"
    }

    fn place(&self) -> &str {
        &self.source.place
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

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, received: &Count) -> Result<()> {
        let Source { client, place, .. } = &self.source;
        let failed = || error_at(place);
        if self.projected.fields().is_empty() {
            let count = number_of(client, place, &self.query()).await?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        let schema = (!self.is_pushed).then_some(&self.projected);
        let read = Read::begin(client, place, &self.query(), schema).await;
        let mut read = read.map_err(failed())?;
        while let Some(batch) = read.next().await.map_err(failed())? {
            let batch = match self.is_pushed {
                true => self.select.answer(&batch, &self.projected)?,
                false => batch,
            };
            if sender.send(Ok(batch)).await.is_err() {
                break;
            }
        }
        received.add(counted::bytes(read.received_bytes()));
        Ok(())
    }

    fn change(&self, change: &RowChange) -> Option<String> {
        self.source.is_exact.then(|| self.select.change(change))?
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let other = |other: &dyn ServerRead| -> Option<Select<PostgresSql>> {
            let other = (other as &dyn Any).downcast_ref::<Self>()?;
            (self.source.server == other.source.server).then(|| other.select.clone())
        };
        if !self.source.is_exact {
            return None;
        }
        let select = self.select.after(operation, other)?;
        Some(Arc::new(Self {
            source: self.source.clone(),
            select,
            is_pushed: true,
            projected: Arc::clone(schema),
        }))
    }
}

impl fmt::Debug for PostgresScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresScan")
            .field("place", &self.source.place)
            .field("query", &self.query())
            .finish_non_exhaustive()
    }
}
