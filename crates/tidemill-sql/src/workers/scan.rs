//! A part of a table's scan, which a worker reads.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_distributed::{
    DesiredTaskCountEvent, DesiredTaskCountEventResponse, DistributedLeafExec, ScaleUpLeafNodeEvent,
    ScaleUpLeafNodeEventResponse, get_distributed_worker_resolver,
};
use datafusion_proto::bytes::Serializeable as _;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use datafusion_proto::protobuf;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::served::Reader;

/// The least size of a table per worker.
const BYTES_OF_TASK: u64 = 1 << 20;

/// The serializable description of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Travelling {
    pub(super) place: TravellingPlace,
    pub(super) format: String,
    /// The files at the time of planning.
    pub(super) files: Vec<TravellingFile>,
    /// The message type that was set in the session.
    pub(super) message: Option<String>,
    pub(super) max_expansion: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TravellingPlace {
    File(String),
    Shards { pattern: String, files: Vec<String> },
    Object(String),
    Objects(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TravellingFile {
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// Where a scan gets its table from.
#[derive(Clone)]
enum Table {
    Open(Arc<dyn TableProvider>, Box<SessionState>),
    /// The worker that received the scan opens it.
    Named(Arc<Reader>),
}

/// Some parts of a scan.
#[derive(Clone)]
pub(super) struct WorkerScan {
    travelling: Arc<Travelling>,
    /// The columns of the table.
    columns: SchemaRef,
    projection: Vec<usize>,
    filters: Vec<Expr>,
    limit: Option<usize>,
    /// The number of parts of the scan, and those read here.
    parts: usize,
    own: Range<usize>,
    table: Table,
    plan: Arc<OnceCell<Arc<dyn ExecutionPlan>>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// The parameters of a scan.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) projection: Vec<usize>,
    pub(super) filters: Vec<Expr>,
    pub(super) limit: Option<usize>,
}

impl WorkerScan {
    /// The scan of an open table.
    pub(super) fn new(
        travelling: Arc<Travelling>,
        provider: Arc<dyn TableProvider>,
        state: SessionState,
        question: Question,
    ) -> Result<Self> {
        let columns = provider.schema();
        let parts = state.config().target_partitions();
        let table = Table::Open(provider, Box::new(state));
        Self::of_parts(travelling, columns, question, (parts, 0..parts), table)
    }

    fn of_parts(
        travelling: Arc<Travelling>,
        columns: SchemaRef,
        Question {
            projection,
            filters,
            limit,
        }: Question,
        (parts, own): (usize, Range<usize>),
        table: Table,
    ) -> Result<Self> {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(columns.project(&projection)?)),
            Partitioning::UnknownPartitioning(own.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            travelling,
            columns,
            projection,
            filters,
            limit,
            parts,
            own,
            table,
            plan: Arc::default(),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    fn question(&self) -> Question {
        Question {
            projection: self.projection.clone(),
            filters: self.filters.clone(),
            limit: self.limit,
        }
    }

    /// The parts of one task; each of the tasks has as many as this scan.
    fn of_task(&self, task: usize, tasks: usize) -> Result<Self> {
        let own = self.own.len();
        let parts = (own * tasks, own * task..own * (task + 1));
        let (travelling, columns) = (Arc::clone(&self.travelling), Arc::clone(&self.columns));
        Self::of_parts(travelling, columns, self.question(), parts, self.table.clone())
    }

    /// The scan of the whole table, which all readers divide in the same way.
    async fn whole(&self) -> Result<Arc<dyn ExecutionPlan>> {
        let (provider, mut state) = match &self.table {
            Table::Open(provider, state) => (Arc::clone(provider), state.as_ref().clone()),
            Table::Named(reader) => reader.open(&self.travelling, &self.columns).await?,
        };
        let settings = state.config_mut().options_mut();
        settings.execution.target_partitions = self.parts;
        settings.optimizer.repartition_file_min_size = usize::try_from(BYTES_OF_TASK).unwrap_or(usize::MAX);
        let plan = provider
            .scan(&state, Some(&self.projection), &self.filters, self.limit)
            .await?;
        let cut = plan.repartitioned(self.parts, state.config_options())?;
        Ok(cut.unwrap_or(plan))
    }

    async fn part(self: Arc<Self>, part: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let plan = self.plan.get_or_try_init(|| self.whole()).await?;
        let partitions = plan.properties().output_partitioning().partition_count();
        let plan = Arc::clone(plan);
        // If the scan could not be divided into that many parts, each of its parts is still read exactly once.
        let rows = stream::iter((part..partitions).step_by(self.parts))
            .map(move |partition| plan.execute(partition, Arc::clone(&context)))
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

impl fmt::Debug for WorkerScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerScan")
            .field("table", &self.travelling)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for WorkerScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.travelling.place {
            TravellingPlace::File(path) | TravellingPlace::Shards { pattern: path, .. } => path.clone(),
            TravellingPlace::Object(url) | TravellingPlace::Objects(url) => {
                tidemill_trust::without_secrets(url).to_string()
            }
        };
        let columns = self
            .projection
            .iter()
            .map(|column| self.columns.field(*column).name().as_str());
        let columns: Vec<&str> = columns.collect();
        write!(f, "WorkerScan: table={place}, columns=[{}]", columns.join(", "))?;
        if !self.filters.is_empty() {
            let filters: Vec<String> = self.filters.iter().map(ToString::to_string).collect();
            write!(f, ", filters=[{}]", filters.join(", "))?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        write!(f, ", parts={}..{} of {}", self.own.start, self.own.end, self.parts)
    }
}

impl ExecutionPlan for WorkerScan {
    fn name(&self) -> &'static str {
        "WorkerScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let scan = Arc::new(self.clone());
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        let part = self.own.start + partition;
        let batches = stream::once(scan.part(part, context)).try_flatten();
        let batches = batches.inspect_ok(move |batch| rows.add(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], arguments: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let known = match &self.table {
            Table::Open(provider, _) if arguments.partition().is_none() => provider.statistics(),
            _ => None,
        };
        let known = known.unwrap_or_else(|| Statistics::new_unknown(&self.columns));
        let known = known.project(Some(&self.projection));
        let is_whole = self.filters.is_empty() && self.limit.is_none() && self.own.len() == self.parts;
        Ok(Arc::new(if is_whole { known } else { known.to_inexact() }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// One task per worker, except for small tables.
pub(super) fn desired_tasks(event: DesiredTaskCountEvent<'_>) -> Option<Result<DesiredTaskCountEventResponse>> {
    let scan = event.plan.downcast_ref::<WorkerScan>()?;
    let workers = get_distributed_worker_resolver(event.session_config).and_then(|workers| workers.get_urls());
    Some(workers.map(|workers| {
        let bytes: u64 = scan.travelling.files.iter().map(|file| file.bytes).sum();
        let worthwhile = usize::try_from(bytes / BYTES_OF_TASK).unwrap_or(usize::MAX);
        DesiredTaskCountEventResponse::desired(worthwhile.clamp(1, workers.len().max(1)))
    }))
}

/// The part of each task.
pub(super) fn part_of_task(event: ScaleUpLeafNodeEvent<'_>) -> Option<Result<ScaleUpLeafNodeEventResponse>> {
    let scan = event.plan.downcast_ref::<WorkerScan>()?;
    let tasks = (0..event.task_count).map(|task| {
        let scan = scan.of_task(task, event.task_count)?;
        Ok(Arc::new(scan) as Arc<dyn ExecutionPlan>)
    });
    let leaf = tasks.collect::<Result<Vec<_>>>().and_then(|tasks| {
        let leaf = DistributedLeafExec::try_new(Arc::clone(event.plan), tasks)?;
        Ok(ScaleUpLeafNodeEventResponse::new(Arc::new(leaf)))
    });
    Some(leaf)
}

/// Serializes scans.
#[derive(Debug, Default)]
pub(super) struct ScanCodec {
    /// Opens tables; `None` in a session that only sends scans.
    reader: Option<Arc<Reader>>,
}

impl ScanCodec {
    pub(super) fn of_worker(reader: Arc<Reader>) -> Self {
        Self { reader: Some(reader) }
    }
}

#[derive(Serialize, Deserialize)]
struct ScanMessage {
    table: Travelling,
    columns: String,
    projection: Vec<usize>,
    filters: Vec<String>,
    limit: Option<usize>,
    parts: usize,
    own: Range<usize>,
}

fn unreadable(what: impl fmt::Display) -> DataFusionError {
    DataFusionError::Execution(format!("a scan that was sent cannot be read: {what}"))
}

impl PhysicalExtensionCodec for ScanCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(reader) = &self.reader else {
            return Err(unreadable("this is no worker"));
        };
        let message: ScanMessage = serde_json::from_slice(bytes).map_err(unreadable)?;
        let decoded = |text: &String| STANDARD.decode(text).map_err(unreadable);
        let columns = protobuf::Schema::decode(decoded(&message.columns)?.as_slice()).map_err(unreadable)?;
        let columns = Schema::try_from(&columns).map_err(unreadable)?;
        let filters = message
            .filters
            .iter()
            .map(|filter| Expr::from_bytes_with_ctx(&decoded(filter)?, context));
        let question = Question {
            filters: filters.collect::<Result<_>>()?,
            projection: message.projection,
            limit: message.limit,
        };
        if message.own.start >= message.own.end || message.own.end > message.parts || message.parts > MOST_PARTS {
            return Err(unreadable(format_args!("{:?} of {} parts", message.own, message.parts)));
        }
        let parts = (message.parts, message.own);
        let table = Table::Named(Arc::clone(reader));
        let scan = WorkerScan::of_parts(Arc::new(message.table), Arc::new(columns), question, parts, table)?;
        Ok(Arc::new(scan))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = node.downcast_ref::<WorkerScan>() else {
            return Err(DataFusionError::NotImplemented(format!("{} on a worker", node.name())));
        };
        let filters = scan
            .filters
            .iter()
            .map(|filter| Ok(STANDARD.encode(filter.to_bytes()?)));
        let columns = protobuf::Schema::try_from(scan.columns.as_ref()).map_err(unreadable)?;
        let message = ScanMessage {
            table: scan.travelling.as_ref().clone(),
            columns: STANDARD.encode(columns.encode_to_vec()),
            projection: scan.projection.clone(),
            filters: filters.collect::<Result<_>>()?,
            limit: scan.limit,
            parts: scan.parts,
            own: scan.own.clone(),
        };
        serde_json::to_writer(bytes, &message).map_err(unreadable)
    }
}

/// More parts than any statement has.
const MOST_PARTS: usize = 1 << 16;
