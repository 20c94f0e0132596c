//! A table as the planner scans it.
//!
//! A scan reads the ring in ranges of tokens, several at a time, or, where conditions name the partitions that are wanted, those alone
//! (`condition.rs`). Its columns, its limit and these conditions are in the text of its statements, which EXPLAIN shows; what is
//! left of the statement runs here. A scan that wants no columns but only rows to count has them counted by the cluster. Rows
//! come in the order of their tokens, and in a partition in that of its clustering key.

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column, DataFusionError, Result as EngineResult, ScalarValue};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use tidemill_cql::{Rows, Scan, Table};
use tokio::sync::mpsc::Sender;

use super::condition::Key;
use super::{NamedTable, error_at};
use crate::Result;
use crate::planned_scan::planned_scan;
use crate::stores::decimals::{widen, widened};
use crate::stores::server::counted;
use crate::stores::server::push_down::Operation;
use crate::stores::server::scan::{ServerRead, ServerScan};

/// The table as the planner scans it.
pub(super) async fn open(named: NamedTable) -> Result<Arc<dyn TableProvider>> {
    let table = Arc::new(named.find().await?);
    Ok(Arc::new(CassandraTable {
        schema: widened(&table.schema()),
        key: Arc::new(Key::new(&table)),
        place: named.place,
        table,
    }))
}

struct CassandraTable {
    table: Arc<Table>,
    /// The URL without its password.
    place: String,
    schema: SchemaRef,
    key: Arc<Key>,
}

impl fmt::Debug for CassandraTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassandraTable")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl CassandraTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let restriction = self.key.restrict(&filters.iter().collect::<Vec<_>>());
        if restriction.taken.contains(&false) {
            return Err(DataFusionError::Internal(format!(
                "{}: a condition that was promised to the cluster",
                self.place
            )));
        }
        let is_whole = restriction.parts.is_none() && limit.is_none();
        let rows = restriction.parts.map_or(Rows::All, Rows::Where);
        let scan = Scan::new(Arc::clone(&self.table), &projection, rows);
        let scan = scan.map_err(|error| DataFusionError::External(Box::new(error_at(&self.place)(error))))?;
        let scan = CassandraScan {
            scan: scan.limit(limit.map(|limit| limit as u64)),
            place: self.place.clone(),
            projected: Arc::new(self.schema.project(&projection)?),
            whole: is_whole.then(|| Whole {
                table: Arc::clone(&self.table),
                key: Arc::clone(&self.key),
                projection,
            }),
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for CassandraTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    planned_scan!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        let pushed = self.key.restrict(filters).taken.into_iter().map(|taken| match taken {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}

/// The read of a table.
#[derive(Clone, Debug)]
struct CassandraScan {
    scan: Scan,
    place: String,
    projected: SchemaRef,
    whole: Option<Whole>,
}

/// The columns of all rows of a table, of which some can be asked for by their key.
#[derive(Clone)]
struct Whole {
    table: Arc<Table>,
    key: Arc<Key>,
    projection: Vec<usize>,
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whole")
            .field("projection", &self.projection)
            .finish_non_exhaustive()
    }
}

impl Whole {
    /// The rows that have one of these values in a column; `None` where it is not the partition key.
    fn among(&self, name: &str, values: &[ScalarValue]) -> Option<Scan> {
        let values = values.iter().map(|value| Expr::Literal(value.clone(), None));
        let filter = Expr::Column(Column::from_name(name)).in_list(values.collect(), false);
        let parts = self.key.restrict(&[&filter]).parts?;
        Scan::new(Arc::clone(&self.table), &self.projection, Rows::Where(parts)).ok()
    }
}

#[async_trait::async_trait]
impl ServerRead for CassandraScan {
    fn name(&self) -> &'static str {
        "CassandraScan"
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn query(&self) -> String {
        self.scan.text()
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, _: &Count) -> Result<()> {
        let failed = || error_at(&self.place);
        if self.projected.fields().is_empty() {
            let count = self.scan.count().await.map_err(failed())?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        let mut batches = self.scan.batches();
        while let Some(batch) = batches.next().await.map_err(failed())? {
            if sender.send(Ok(widen(batch, &self.projected)?)).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let Operation::Among { column, values } = *operation else {
            return None;
        };
        let scan = self.whole.as_ref()?.among(schema.field(column).name(), values)?;
        Some(Arc::new(Self {
            scan,
            place: self.place.clone(),
            projected: Arc::clone(schema),
            whole: None,
        }))
    }
}
