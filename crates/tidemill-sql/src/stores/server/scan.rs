//! The scan of a table of a server: one task that asks it and sends what it answers.

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
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use tokio::sync::mpsc::Sender;

use super::push_down::Operation;
use crate::Result;

/// What is asked of a server.
#[async_trait::async_trait]
pub(crate) trait ServerRead: fmt::Debug + Any + Send + Sync {
    /// The name of the scan in EXPLAIN.
    fn name(&self) -> &'static str;

    /// The URL of the table, without its password.
    fn place(&self) -> &str;

    /// The text that the server is asked.
    fn query(&self) -> String;

    /// By how many connections it is asked, each for a part of the rows. Default: one.
    fn connections(&self) -> usize {
        1
    }

    /// The columns of the batches.
    fn schema(&self) -> &SchemaRef;

    /// Sends batches until there are no more, or nobody wants them.
    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>) -> Result<()>;

    /// The read of what the server makes of these rows, in these columns. `None` where it cannot, or might give other rows than the same
    /// operation here. Default: it does nothing.
    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let _ = (operation, schema);
        None
    }
}

/// A scan, as the physical plan holds it.
pub(crate) struct ServerScan(pub(crate) Arc<dyn ServerRead>);

impl DataSource for ServerScan {
    fn open(&self, _partition: usize, _context: Arc<TaskContext>) -> EngineResult<SendableRecordBatchStream> {
        const BATCHES_IN_FLIGHT: usize = 2;
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(self.0.schema()), BATCHES_IN_FLIGHT);
        let (sender, scan) = (stream.tx(), Arc::clone(&self.0));
        stream.spawn(async move {
            let run = scan.run(&sender).await;
            run.map_err(|error| DataFusionError::External(Box::new(error)))
        });
        Ok(stream.build())
    }

    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                let (name, place, query) = (self.0.name(), self.0.place(), self.0.query());
                write!(f, "{name}: server={place}, query={query}")?;
                match self.0.connections() {
                    1 => Ok(()),
                    connections => write!(f, ", connections={connections}"),
                }
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "scan={}", self.0.name())?;
                writeln!(f, "query={}", self.0.query())
            }
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(1)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(self.0.schema()))
    }

    /// The channel to the reading task yields to other tasks by itself.
    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, _partition: Option<usize>) -> EngineResult<Arc<Statistics>> {
        Ok(Arc::new(Statistics::new_unknown(self.0.schema())))
    }

    fn with_fetch(&self, _limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        None
    }

    fn fetch(&self) -> Option<usize> {
        None
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
        f.debug_struct(self.0.name())
            .field("query", &self.0.query())
            .finish_non_exhaustive()
    }
}
