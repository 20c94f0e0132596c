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
use tidemill_mysql::{Answer as Statement, Client, Read, Table, Unrepresentable};
use tokio::sync::mpsc::Sender;

use super::dialect::{Columns, MysqlSql, compared, plain};
use super::{NamedTable, error_at};
use crate::answer::Answer;
use crate::planned_scan::planned_scan;
use crate::stores::server::condition::{condition, pushed, texts_of};
use crate::stores::server::counted;
use crate::stores::server::push_down::{Operation, RowChange};
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::Select;
use crate::{Error, Result};

/// Opens the table for the planner.
pub(super) async fn open(named: NamedTable) -> Result<Arc<dyn TableProvider>> {
    let table = named.find().await?;
    // Values that are read as NULL are not NULL on the server.
    let is_exact = named.client.options().unrepresentable == Unrepresentable::Error;
    Ok(Arc::new(MysqlTable {
        schema: table.schema(),
        columns: match is_exact {
            true => Columns::new(&table.columns),
            false => Columns::new(&[]),
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

/// The answer of the last of these statements in the server's own SQL.
pub(super) async fn answer(named: NamedTable, statements: &str) -> Result<Answer> {
    let rows = match named.client.run(statements).await.map_err(error_at(&named.place))? {
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

/// The result of a query that returns a single text; `None` without a row.
pub(super) async fn text_of(client: &Client, place: &str, query: &str) -> Result<Option<String>> {
    let failed = || error_at(place);
    let mut read = Read::begin(client, place, query, None).await.map_err(failed())?;
    let batch = read.next().await.map_err(failed())?;
    // The connection can be reused only after the last row.
    while read.next().await.map_err(failed())?.is_some() {}
    let batch = batch.filter(|batch| batch.num_rows() > 0);
    Ok(batch.and_then(|batch| Some(batch.column(0).as_string_opt::<i32>()?.value(0).to_owned())))
}

/// The result of a query that returns a single number.
pub(super) async fn number_of(client: &Client, place: &str, query: &str) -> Result<u64> {
    let failed = || error_at(place);
    let mut read = Read::begin(client, place, query, None).await.map_err(failed())?;
    let batch = read.next().await.map_err(failed())?;
    // The connection can be reused only after the last row.
    while read.next().await.map_err(failed())?.is_some() {}
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
struct MysqlTable {
    source: Source,
    table: Table,
    schema: SchemaRef,
    columns: Columns,
}

impl MysqlTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let conditions = texts_of(filters, |filter| condition(&self.columns, filter))?;
        let columns: Vec<_> = projection
            .iter()
            .filter_map(|&column| self.table.columns.get(column))
            .collect();
        let select = |columns| Select::new(columns, &self.table.quoted_name(), &conditions, limit);
        let scan = MysqlScan {
            source: self.source.clone(),
            read: Some(select(columns.iter().map(|column| plain(column)).collect())),
            select: select(columns.iter().map(|column| compared(column)).collect()),
            projected: Arc::new(self.schema.project(&projection)?),
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for MysqlTable {
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
struct MysqlScan {
    source: Source,
    /// The SELECT of the columns as they are read; `None` if more than the table's scan was pushed down.
    read: Option<Select<MysqlSql>>,
    /// The SELECT of the columns as they are compared, with texts as bytes.
    select: Select<MysqlSql>,
    /// Without columns, the server returns the number of rows.
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for MysqlScan {
    fn name(&self) -> &'static str {
        "MysqlScan"
    }

    fn place(&self) -> &str {
        &self.source.place
    }

    fn query(&self) -> String {
        match (&self.read, self.projected.fields().is_empty()) {
            (_, true) => self.select.count(),
            (Some(read), false) => read.text(),
            (None, false) => self.select.text(),
        }
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, _: &Count) -> Result<()> {
        let Source { client, place, .. } = &self.source;
        let failed = || error_at(place);
        if self.projected.fields().is_empty() {
            let count = number_of(client, place, &self.query()).await?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        let schema = self.read.is_some().then_some(&self.projected);
        let read = Read::begin(client, place, &self.query(), schema).await;
        let mut read = read.map_err(failed())?;
        while let Some(batch) = read.next().await.map_err(failed())? {
            let batch = match schema {
                None => self.select.answer(&batch, &self.projected)?,
                Some(_) => batch,
            };
            if sender.send(Ok(batch)).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    fn change(&self, change: &RowChange) -> Option<String> {
        self.source.is_exact.then(|| self.select.change(change))?
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let other = |other: &dyn ServerRead| -> Option<Select<MysqlSql>> {
            let other = (other as &dyn Any).downcast_ref::<Self>()?;
            (self.source.server == other.source.server).then(|| other.select.clone())
        };
        if !self.source.is_exact {
            return None;
        }
        let select = self.select.after(operation, other)?;
        Some(Arc::new(Self {
            source: self.source.clone(),
            read: None,
            select,
            projected: Arc::clone(schema),
        }))
    }
}

impl fmt::Debug for MysqlScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MysqlScan")
            .field("place", &self.source.place)
            .field("query", &self.query())
            .finish_non_exhaustive()
    }
}
