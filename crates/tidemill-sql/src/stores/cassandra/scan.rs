//! The table provider.
//!
//! A scan reads the ring in ranges of tokens, concurrently, or, if conditions name partitions, only those (`condition.rs`). Its columns,
//! its limit and these conditions are in its statements, which EXPLAIN shows; the rest of the query runs here. The cluster counts the rows
//! of a scan without columns, groups by the first columns of the primary key, and returns the first rows of a partition by its clustering
//! key. Rows are in the order of their tokens, and within a partition in that of its clustering key.

use std::fmt;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef, SortOptions};
use datafusion::arrow::compute::kernels::cmp::eq;
use datafusion::arrow::compute::nullif;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column, DataFusionError, Result as EngineResult, ScalarValue};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use tidemill_cql::{GroupValue, Rows, Scan, Table};
use tokio::sync::mpsc::Sender;

use super::condition::Key;
use super::{NamedTable, error_at};
use crate::Result;
use crate::planned_scan::planned_scan;
use crate::stores::decimals::{widen, widened};
use crate::stores::server::counted;
use crate::stores::server::push_down::{Aggregate, Function, Operation};
use crate::stores::server::scan::{ServerRead, ServerScan};

/// Opens the table for the planner.
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
        let rows = restriction.parts.map_or(Rows::All, Rows::Where);
        let scan = Scan::new(Arc::clone(&self.table), &projection, rows.clone());
        let scan = scan.map_err(|error| DataFusionError::External(Box::new(error_at(&self.place)(error))))?;
        let scan = CassandraScan {
            scan: scan.limit(limit.map(|limit| limit as u64)),
            place: self.place.clone(),
            projected: Arc::new(self.schema.project(&projection)?),
            sums: Vec::new(),
            source: limit.is_none().then(|| Source {
                table: Arc::clone(&self.table),
                key: Arc::clone(&self.key),
                projection,
                rows,
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

/// A read of a table.
#[derive(Clone, Debug)]
struct CassandraScan {
    scan: Scan,
    place: String,
    projected: SchemaRef,
    /// The positions of sums. Each is followed by its count, which is not a column of the answer.
    sums: Vec<usize>,
    /// For further pushdown; `None` if the rows are no longer those of the table.
    source: Option<Source>,
}

/// The rows of a table, in the table's own columns.
#[derive(Clone)]
struct Source {
    table: Arc<Table>,
    key: Arc<Key>,
    projection: Vec<usize>,
    rows: Rows,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("projection", &self.projection)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// The rows with one of these values in a column; `None` if it is not the partition key.
    fn among(&self, name: &str, values: &[ScalarValue]) -> Option<Scan> {
        if self.rows != Rows::All {
            return None;
        }
        let values = values.iter().map(|value| Expr::Literal(value.clone(), None));
        let filter = Expr::Column(Column::from_name(name)).in_list(values.collect(), false);
        let parts = self.key.restrict(&[&filter]).parts?;
        Scan::new(Arc::clone(&self.table), &self.projection, Rows::Where(parts)).ok()
    }

    /// Selects these columns, in this order.
    fn columns(&self, columns: &[usize]) -> Option<Self> {
        let projection = columns.iter().map(|&column| self.projection.get(column).copied());
        Some(Self {
            projection: projection.collect::<Option<_>>()?,
            ..self.clone()
        })
    }

    fn scan(&self) -> Option<Scan> {
        Scan::new(Arc::clone(&self.table), &self.projection, self.rows.clone()).ok()
    }

    /// Groups of the rows, and the positions of the sums among the columns.
    fn groups(&self, keys: &[usize], aggregates: &[Aggregate]) -> Option<(Scan, Vec<usize>)> {
        let place = |column: usize| self.projection.get(column).copied();
        let keys = keys.iter().map(|&key| place(key)).collect::<Option<Vec<_>>>()?;
        let (mut values, mut sums) = (Vec::new(), Vec::new());
        for aggregate in aggregates {
            if aggregate.distinct {
                return None;
            }
            let of = match aggregate.column {
                Some(column) => Some(place(column)?),
                None => None,
            };
            let is_ordered = |of: &usize| Key::is_ordered(&self.table, *of);
            match (aggregate.function, of) {
                (Function::Count, None) => values.push(GroupValue::Rows),
                (Function::Count, Some(of)) => values.push(GroupValue::Count(of)),
                (Function::Min, Some(of)) if is_ordered(&of) => values.push(GroupValue::Min(of)),
                (Function::Max, Some(of)) if is_ordered(&of) => values.push(GroupValue::Max(of)),
                (Function::Sum, Some(of)) if aggregate.data_type == DataType::Int64 => {
                    // Positions among the columns of the answer, which exclude the counts.
                    sums.push(keys.len() + values.len() - sums.len());
                    values.extend([GroupValue::Sum(of), GroupValue::Count(of)]);
                }
                _ => return None,
            }
        }
        let scan = Scan::groups(Arc::clone(&self.table), &keys, &values, self.rows.clone()).ok()?;
        Some((scan, sums))
    }

    /// The first rows of each partition, by the first column of the clustering key.
    fn first(&self, order: &[(usize, SortOptions)], rows: usize) -> Option<Scan> {
        let &[(column, options)] = order else { return None };
        let place = self.projection.get(column)?;
        let is_first = self.table.clustering_key().first() == Some(place) && Key::is_ordered(&self.table, *place);
        let is_of_partitions = matches!(self.rows, Rows::Where(_));
        let scan = self.scan().filter(|_| is_first && is_of_partitions)?;
        Some(scan.first_by_clustering_key(options.descending, rows as u64))
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
            let batch = self.without_sums_of_nothing(batch)?;
            if sender.send(Ok(widen(batch, &self.projected)?)).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let source = self.source.as_ref()?;
        let (scan, sums, source) = match *operation {
            Operation::Among { column, values } => {
                (source.among(schema.field(column).name(), values)?, Vec::new(), None)
            }
            Operation::Columns(columns) => {
                let source = source.columns(columns)?;
                (source.scan()?, Vec::new(), Some(source))
            }
            Operation::Group { keys, aggregates } => {
                let (scan, sums) = source.groups(keys, aggregates)?;
                (scan, sums, None)
            }
            Operation::First {
                order,
                skipped: 0,
                rows,
            } => (source.first(order, rows)?, Vec::new(), None),
            _ => return None,
        };
        Some(Arc::new(Self {
            scan,
            place: self.place.clone(),
            projected: Arc::clone(schema),
            sums,
            source,
        }))
    }
}

impl CassandraScan {
    /// Removes the counts: a sum of no values is NULL here, and 0 in Cassandra.
    fn without_sums_of_nothing(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.sums.is_empty() {
            return Ok(batch);
        }
        let mut columns = Vec::new();
        let mut given = batch.columns().iter();
        while let Some(column) = given.next() {
            let counts = match self.sums.contains(&columns.len()) {
                true => given.next(),
                false => None,
            };
            columns.push(match counts {
                Some(counts) => nullif(column, &eq(counts, &Int64Array::new_scalar(0))?)?,
                None => Arc::clone(column),
            });
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.projected), columns)?)
    }
}
