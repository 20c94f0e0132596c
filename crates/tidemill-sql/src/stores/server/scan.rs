//! The scan of a server's table: a task that sends the query, and streams the result.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as EngineResult, Statistics};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::TryStreamExt as _;
use tokio::sync::mpsc::Sender;

use super::push_down::{Operation, RowChange};
use crate::Result;

/// A query to a server.
#[async_trait::async_trait]
pub(crate) trait ServerRead: fmt::Debug + Any + Send + Sync {
    /// The name of the scan in EXPLAIN.
    fn name(&self) -> &'static str;

    /// The URL of the table, without its password.
    fn place(&self) -> &str;

    /// The text of the query.
    fn query(&self) -> String;

    /// The number of connections, each for a part of the rows. Default: one.
    fn connections(&self) -> usize {
        1
    }

    /// The columns of the batches.
    fn schema(&self) -> &SchemaRef;

    /// Sends batches to the end, or while the receiver exists. `received` counts the bytes from the server, if the client reports them.
    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, received: &Count) -> Result<()>;

    /// The statement that makes the server change these rows; `None` if they are not a plain selection of a table's rows, or if a value
    /// might differ there. Default: not supported.
    fn change(&self, change: &RowChange) -> Option<String> {
        let _ = change;
        None
    }

    /// The query for the result of an operation on these rows, with these columns. `None` if the result might differ from that of the same
    /// operation here. Default: not supported.
    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let _ = (operation, schema);
        None
    }
}

/// The metric of bytes received from a server.
pub(crate) const RECEIVED_BYTES: &str = "received_bytes";

/// A scan, in the physical plan.
pub(crate) struct ServerScan {
    pub(crate) read: Arc<dyn ServerRead>,
    metrics: ExecutionPlanMetricsSet,
}

impl ServerScan {
    pub(crate) fn new(read: Arc<dyn ServerRead>) -> Self {
        Self {
            read,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The scan with another query; its rows count as those of this scan.
    pub(crate) fn with_read(&self, read: Arc<dyn ServerRead>) -> Self {
        Self {
            read,
            metrics: self.metrics.clone(),
        }
    }
}

impl DataSource for ServerScan {
    fn open(&self, partition: usize, _context: Arc<TaskContext>) -> EngineResult<SendableRecordBatchStream> {
        const BATCHES_IN_FLIGHT: usize = 2;
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(self.read.schema()), BATCHES_IN_FLIGHT);
        let received = MetricBuilder::new(&self.metrics).counter(RECEIVED_BYTES, partition);
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        let (sender, scan) = (stream.tx(), Arc::clone(&self.read));
        stream.spawn(async move {
            let run = scan.run(&sender, &received).await;
            run.map_err(|error| DataFusionError::External(Box::new(error)))
        });
        let counted = stream.build().inspect_ok(move |batch| rows.add(batch.num_rows()));
        let schema = Arc::clone(self.read.schema());
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }

    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                let (name, place, query) = (self.read.name(), self.read.place(), self.read.query());
                write!(f, "{name}: server={place}, query={query}")?;
                match self.read.connections() {
                    1 => Ok(()),
                    connections => write!(f, ", connections={connections}"),
                }
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "scan={}", self.read.name())?;
                writeln!(f, "query={}", self.read.query())
            }
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(1)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(self.read.schema()))
    }

    /// The channel to the reading task yields to the tokio scheduler.
    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, _partition: Option<usize>) -> EngineResult<Arc<Statistics>> {
        Ok(Arc::new(Statistics::new_unknown(self.read.schema())))
    }

    fn with_fetch(&self, _limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        None
    }

    fn fetch(&self) -> Option<usize> {
        None
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    fn try_swapping_with_projection(&self, _projection: &ProjectionExprs) -> EngineResult<Option<Arc<dyn DataSource>>> {
        Ok(None)
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> EngineResult<TreeNodeRecursion>,
    ) -> EngineResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

impl fmt::Debug for ServerScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.read.name())
            .field("query", &self.read.query())
            .finish_non_exhaustive()
    }
}
