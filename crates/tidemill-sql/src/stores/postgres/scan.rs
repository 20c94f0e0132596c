//! A table as the planner scans it.
//!
//! A scan is one SELECT: its columns, its limit, and the conditions that mean the same there as here are in the text, which EXPLAIN
//! shows; what is left of the statement runs here. Groups, joins and first rows may be made there too (`dialect.rs`).

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
use crate::stores::server::condition::{condition, pushed};
use crate::stores::server::counted;
use crate::stores::server::push_down::{Operation, RowChange};
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::{Output, Select};
use crate::{Error, Result};

/// The table as the planner scans it.
pub(super) async fn open(named: NamedTable) -> Result<Arc<dyn TableProvider>> {
    let table = named.find().await?;
    // What is read as NULL is not NULL there.
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

/// The text that a query gives.
async fn text_of(named: &NamedTable, query: &str) -> Result<String> {
    let failed = || error_at(&named.place);
    let mut read = Read::begin(&named.client, &named.place, query, None)
        .await
        .map_err(failed())?;
    let batch = read.next().await.map_err(failed())?;
    let text = batch.and_then(|batch| Some(batch.column(0).as_string_opt::<i32>()?.value(0).to_owned()));
    Ok(text.unwrap_or_default())
}

/// What statements of PostgreSQL's own SQL give: the last one of them.
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

/// The number that a query gives.
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

/// Where rows come from.
#[derive(Clone, Debug)]
struct Source {
    client: Client,
    /// Whether every value is read as it is there.
    is_exact: bool,
    /// The server and the database, and who asks.
    server: String,
    /// The URL without its password.
    place: String,
}

#[derive(Debug)]
struct PostgresTable {
    source: Source,
    table: Table,
    schema: SchemaRef,
    /// The columns in the list of a SELECT.
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
        let conditions = filters.iter().filter_map(|filter| condition(&self.columns, filter));
        let conditions: Vec<String> = conditions.map(|condition| condition.text).collect();
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

/// One SELECT, as the physical plan holds it.
#[derive(Clone)]
struct PostgresScan {
    source: Source,
    select: Select<PostgresSql>,
    /// Whether the SELECT does more than the table's scan was asked for.
    is_pushed: bool,
    /// Without columns, the number of rows is asked for.
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
