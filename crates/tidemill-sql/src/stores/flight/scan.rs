//! The table provider: a scan is one SELECT, whose rows are streamed from the server.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::sync::mpsc::Sender;

use super::client::{Found, NamedTable, failed, quoted};
use super::dialect::{Columns, TidemillSql};
use super::error_at;
use crate::answer::Answer;
use crate::planned_scan::planned_scan;
use crate::stores::decimals::widened;
use crate::stores::server::condition::{Condition, condition, pushed, texts_of};
use crate::stores::server::counted;
use crate::stores::server::push_down::Operation;
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::{Output, Select};
use crate::{Error, Result, from_programs};

/// Opens the table for the planner.
pub(super) async fn open(named: NamedTable) -> Result<Arc<dyn TableProvider>> {
    let found = named.found().await?;
    if found.columns.fields().is_empty() {
        return Err(Error::Unsupported {
            what: format!("{}: a table that its server cannot open", named.place),
            hint: "ask the server itself for what is wrong with it: tidemill sql --server URL \"SELECT ...\""
                .to_owned(),
        });
    }
    let schema = widened(&from_programs(&found.columns));
    let columns = schema.fields().iter();
    let columns = columns.map(|field| (field.name().clone(), field.data_type().clone()));
    Ok(Arc::new(FlightTable {
        columns: Columns(columns.collect()),
        schema,
        found,
        named,
    }))
}

/// The answer of a statement in the server's own language.
pub(super) async fn answer(named: NamedTable, statement: &str) -> Result<Answer> {
    let place: Arc<str> = named.place.as_str().into();
    let mut rows = named.query(statement).await?;
    let first = rows.try_next().await.map_err(failed(&place))?;
    let Some(schema) = rows.schema().cloned() else {
        return Answer::counted(None);
    };
    if schema.fields().is_empty() {
        // The statement is a change.
        return Answer::counted(None);
    }
    let schema = from_programs(&schema);
    let named = Arc::clone(&schema);
    let batches = futures::stream::iter(first.map(Ok)).chain(rows).map(move |batch| {
        let batch = batch
            .map_err(failed(&place))
            .and_then(|batch| Ok(batch.with_schema(Arc::clone(&named))?));
        batch.map_err(|error| DataFusionError::External(Box::new(error)))
    });
    Ok(Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(
        schema, batches,
    ))))
}

#[derive(Debug)]
struct FlightTable {
    named: NamedTable,
    found: Found,
    schema: SchemaRef,
    columns: Columns,
}

impl FlightTable {
    fn condition(&self, filter: &Expr) -> Option<Condition> {
        self.named
            .client
            .is_tidemill
            .then(|| condition(&self.columns, filter))?
    }
}

impl FlightTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let projected: SchemaRef = Arc::new(self.schema.project(&projection)?);
        let conditions = texts_of(filters, |filter| self.condition(filter))?;
        let columns = projected.fields().iter();
        let columns = columns.map(|field| Output::column(quoted(field.name()), field.data_type().clone()));
        let scan = FlightScan {
            named: self.named.clone(),
            select: Select::new(columns.collect(), &self.found.quoted(), &conditions, limit),
            is_pushed: false,
            projected,
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for FlightTable {
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
struct FlightScan {
    named: NamedTable,
    select: Select<TidemillSql>,
    /// Whether more than the table's scan was pushed down.
    is_pushed: bool,
    /// Without columns, the server returns the number of rows.
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for FlightScan {
    fn name(&self) -> &'static str {
        "FlightScan"
    }

    fn place(&self) -> &str {
        &self.named.place
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
            let count = self.named.number(&self.query()).await?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        let mut rows = self.named.query(&self.query()).await?;
        loop {
            let batch = tokio::select! {
                batch = rows.try_next() => batch.map_err(error_at(&self.named.place))?,
                // The receiver is gone. Dropping the request cancels it on the server.
                () = sender.closed() => return Ok(()),
            };
            let Some(batch) = batch else { return Ok(()) };
            let batch = match self.is_pushed {
                true => self.select.answer(&batch, &self.projected)?,
                false => self.as_promised(&batch)?,
            };
            if sender.send(Ok(batch)).await.is_err() {
                return Ok(());
            }
        }
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        if !self.named.client.is_tidemill {
            return None;
        }
        let other = |other: &dyn ServerRead| -> Option<Select<TidemillSql>> {
            let other = (other as &dyn Any).downcast_ref::<Self>()?;
            (self.named.server == other.named.server).then(|| other.select.clone())
        };
        Some(Arc::new(Self {
            named: self.named.clone(),
            select: self.select.after(operation, other)?,
            is_pushed: true,
            projected: Arc::clone(schema),
        }))
    }
}

impl FlightScan {
    /// Converts a batch to the schema of the plan.
    fn as_promised(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let (found, wanted) = (batch.num_columns(), self.projected.fields().len());
        if found != wanted {
            return Err(Error::Unsupported {
                what: format!("{}: {found} columns for {wanted}", self.named.place),
                hint: "the table may have been altered: ask again".to_owned(),
            });
        }
        let columns = batch.columns().iter().zip(self.projected.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(Arc::clone(column)),
            false => cast(column, field.data_type()),
        });
        Ok(RecordBatch::try_new(
            Arc::clone(&self.projected),
            columns.collect::<Result<_, _>>()?,
        )?)
    }
}

impl fmt::Debug for FlightScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightScan")
            .field("place", &self.named.place)
            .field("query", &self.query())
            .finish_non_exhaustive()
    }
}
