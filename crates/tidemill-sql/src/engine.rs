//! Blocking engines behind DataFusion's table interface.
//!
//! An engine that reads files gives batches from an ordinary iterator. [`EngineTable`] makes it a table: projection,
//! filters and limit go down into the scan, the iterator runs on tokio's blocking pool behind a channel of two batches,
//! and it stops when nobody takes its batches any more. One implementation serves every such engine.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, DFSchema, DataFusionError, Result, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};

/// A source of batches that reads in the calling thread.
pub(crate) trait Engine: Send + Sync + 'static {
    /// What EXPLAIN calls a scan of this engine.
    fn scan_name(&self) -> &'static str;

    /// The file that is read, for EXPLAIN.
    fn file(&self) -> String;

    fn schema(&self) -> SchemaRef;

    /// Rows of an unfiltered scan, if that is known without reading them.
    fn row_count(&self) -> Precision<usize>;

    /// Whether a scan can be cut into parts that are read side by side.
    fn divisible(&self) -> bool;

    fn scan(&self, request: Request) -> crate::Result<Batches>;
}

pub(crate) type Batches = Box<dyn Iterator<Item = crate::Result<RecordBatch>> + Send>;

/// What a scan is asked for.
pub(crate) struct Request {
    /// Indices into the engine's schema, in output order.
    pub(crate) projection: Vec<usize>,
    pub(crate) filter: Option<Filter>,
    /// Rows after the filter.
    pub(crate) limit: Option<usize>,
    pub(crate) batch_rows: usize,
    /// Which part of how many.
    pub(crate) part: (usize, usize),
}

/// A condition over some columns; the engine decodes these first and the others for the chosen rows only.
pub(crate) struct Filter {
    /// Indices into the engine's schema, ascending: the columns of the batches that `predicate` is given.
    pub(crate) columns: Vec<usize>,
    pub(crate) predicate: Predicate,
}

pub(crate) type Predicate = Box<dyn FnMut(&RecordBatch) -> Result<BooleanArray, ArrowError> + Send>;

/// An [`Engine`] as a table.
pub(crate) struct EngineTable<E> {
    engine: Arc<E>,
}

impl<E: Engine> EngineTable<E> {
    pub(crate) fn new(engine: E) -> Self {
        Self {
            engine: Arc::new(engine),
        }
    }
}

impl<E: Engine> fmt::Debug for EngineTable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineTable")
            .field("file", &self.engine.file())
            .finish()
    }
}

#[async_trait::async_trait]
impl<E: Engine> TableProvider for EngineTable<E> {
    fn schema(&self) -> SchemaRef {
        self.engine.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.engine.schema();
        let projection = projection.map_or_else(|| (0..schema.fields().len()).collect(), Clone::clone);
        let filter = match conjunction(filters.iter().cloned()) {
            Some(filter) => Some(state.create_physical_expr(filter, &DFSchema::try_from(Arc::clone(&schema))?)?),
            None => None,
        };
        let projected = Arc::new(schema.project(&projection)?);
        let scan = EngineScan {
            engine: Arc::clone(&self.engine),
            projection,
            projected,
            filter,
            limit,
            parts: 1,
        };
        Ok(DataSourceExec::from_data_source(scan))
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(Statistics {
            num_rows: self.engine.row_count(),
            ..Statistics::new_unknown(&self.engine.schema())
        })
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        filters
            .iter()
            .map(|filter| {
                let reaches_out = filter.exists(|part| {
                    Ok(matches!(
                        part,
                        Expr::ScalarSubquery(_)
                            | Expr::InSubquery(_)
                            | Expr::Exists(_)
                            | Expr::SetComparison(_)
                            | Expr::OuterReferenceColumn(..)
                    ))
                })?;
                Ok(match reaches_out {
                    true => TableProviderFilterPushDown::Unsupported,
                    false => TableProviderFilterPushDown::Exact,
                })
            })
            .collect()
    }
}

/// One scan of an [`Engine`], as the physical plan holds it.
struct EngineScan<E> {
    engine: Arc<E>,
    projection: Vec<usize>,
    projected: SchemaRef,
    filter: Option<Arc<dyn PhysicalExpr>>,
    limit: Option<usize>,
    parts: usize,
}

impl<E: Engine> EngineScan<E> {
    fn filter(&self) -> Result<Option<Filter>> {
        let Some(expr) = &self.filter else { return Ok(None) };
        let schema = self.engine.schema();
        let columns: BTreeSet<usize> = collect_columns(expr).iter().map(|column| column.index()).collect();
        let columns: Vec<usize> = columns.into_iter().collect();
        let expr = reassign_expr_columns(Arc::clone(expr), &schema.project(&columns)?)?;
        let predicate: Predicate = Box::new(move |batch| {
            let chosen = expr
                .evaluate(batch)
                .and_then(|value| value.into_array(batch.num_rows()));
            let chosen = chosen.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            match chosen.as_any().downcast_ref::<BooleanArray>() {
                Some(chosen) => Ok(chosen.clone()),
                None => Err(ArrowError::ComputeError(format!(
                    "a filter gave {}, not Boolean",
                    chosen.data_type()
                ))),
            }
        });
        Ok(Some(Filter { columns, predicate }))
    }

    fn column_names(&self) -> String {
        self.projected
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl<E: Engine> DataSource for EngineScan<E> {
    fn open(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        const BATCHES_IN_FLIGHT: usize = 2;
        let request = Request {
            projection: self.projection.clone(),
            filter: self.filter()?,
            limit: self.limit,
            batch_rows: context.session_config().batch_size(),
            part: (partition, self.parts),
        };
        let engine = Arc::clone(&self.engine);
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.projected), BATCHES_IN_FLIGHT);
        let sender = stream.tx();
        stream.spawn_blocking(move || {
            let batches = engine.scan(request).map_err(external)?;
            for batch in batches {
                if sender.blocking_send(batch.map_err(external)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Ok(stream.build())
    }

    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.engine.scan_name();
        match kind {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(
                    f,
                    "{name}: file={}, columns=[{}]",
                    self.engine.file(),
                    self.column_names()
                )?;
                if let Some(filter) = &self.filter {
                    write!(f, ", filter={filter}")?;
                }
                if let Some(limit) = self.limit {
                    write!(f, ", limit={limit}")?;
                }
                match self.parts {
                    1 => Ok(()),
                    parts => write!(f, ", parts={parts}"),
                }
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "scan={name}")?;
                writeln!(f, "file={}", self.engine.file())
            }
        }
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        _repartition_file_min_size: usize,
        output_ordering: Option<LexOrdering>,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let worth_it = self.engine.divisible() && output_ordering.is_none() && self.limit.is_none() && self.parts == 1;
        Ok((worth_it && target_partitions > 1).then(|| -> Arc<dyn DataSource> {
            Arc::new(Self {
                engine: Arc::clone(&self.engine),
                projection: self.projection.clone(),
                projected: Arc::clone(&self.projected),
                filter: self.filter.clone(),
                limit: None,
                parts: target_partitions,
            })
        }))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.parts)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(&self.projected))
    }

    /// The channel to the reading thread yields to other tasks by itself.
    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut rows = self.engine.row_count();
        if let Some(limit) = self.limit {
            rows = rows.min(&Precision::Exact(limit));
        }
        if self.filter.is_some() || (partition.is_some() && self.parts > 1) {
            rows = rows.to_inexact();
        }
        Ok(Arc::new(Statistics {
            num_rows: rows,
            total_byte_size: Precision::Absent,
            column_statistics: vec![ColumnStatistics::new_unknown(); self.projected.fields().len()],
        }))
    }

    fn with_fetch(&self, _limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        None
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn try_swapping_with_projection(&self, _projection: &ProjectionExprs) -> Result<Option<Arc<dyn DataSource>>> {
        Ok(None)
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.filter.as_ref().map_or(Ok(TreeNodeRecursion::Continue), f)
    }
}

impl<E: Engine> fmt::Debug for EngineScan<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineScan")
            .field("file", &self.engine.file())
            .field("projection", &self.projection)
            .finish()
    }
}

fn external(error: crate::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
