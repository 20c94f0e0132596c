//! Blocking engines behind DataFusion's table interface.
//!
//! An engine that reads files returns batches from an ordinary iterator. [`EngineTable`] makes it a DataFusion table: projection, filters
//! and limit are pushed down into the scan, and the iterator runs on tokio's blocking pool behind a channel of two batches, until its
//! receiver is dropped. One implementation serves every such engine. A table may consist of multiple engines, which are read in sequence or
//! in parallel.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{
    Column, ColumnStatistics, DFSchema, DataFusionError, Result, ScalarValue, Statistics, internal_err,
};
use datafusion::datasource::TableType;
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use tidemill_ads::sql::joined_in_pairs;

use crate::checked_arithmetic::checked_expr;
use crate::planned_scan::planned_scan;

mod chosen;
mod members;
mod offsets;

pub(crate) use chosen::Chosen;
pub(crate) use members::Members;
use members::Reads;
pub(crate) use offsets::Offsets;

/// Batches in the channel between the reading thread and the consumer.
pub(crate) const BATCHES_IN_FLIGHT: usize = 2;

/// A source of batches that reads in the calling thread.
pub(crate) trait Engine: Send + Sync + 'static {
    /// The name of this engine's scan in EXPLAIN.
    fn scan_name(&self) -> &'static str;

    /// The file, for EXPLAIN.
    fn file(&self) -> String;

    fn schema(&self) -> SchemaRef;

    /// The number of rows of an unfiltered scan, if known without reading them.
    fn row_count(&self) -> Precision<usize>;

    /// The approximate size of a row in memory, in bytes; `None` if it is unknown. Default: unknown.
    fn row_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether a scan can be divided into parts that are read in parallel.
    fn divisible(&self) -> bool;

    /// Whether a scan reads less if [`Request::members`] names the required members of structs. Default: no.
    fn reads_members(&self) -> bool {
        false
    }

    /// Whether a scan without a filter can start at a row number. Default: no.
    fn skips(&self) -> bool {
        false
    }

    /// The form in which a filter is pushed down to the engine, which must apply it exactly. Default: a predicate.
    fn condition(&self, filter: &Expr) -> Condition {
        let _ = filter;
        Condition::Predicate
    }

    /// The index that a scan with these conditions uses to read only some rows, for EXPLAIN. Default: none.
    fn index(&self, conditions: &[Expr]) -> Option<String> {
        let _ = conditions;
        None
    }

    fn scan(&self, request: Request) -> crate::Result<Batches>;
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn scan_name(&self) -> &'static str {
        (**self).scan_name()
    }

    fn file(&self) -> String {
        (**self).file()
    }

    fn schema(&self) -> SchemaRef {
        (**self).schema()
    }

    fn row_count(&self) -> Precision<usize> {
        (**self).row_count()
    }

    fn row_bytes(&self) -> Option<u64> {
        (**self).row_bytes()
    }

    fn divisible(&self) -> bool {
        (**self).divisible()
    }

    fn reads_members(&self) -> bool {
        (**self).reads_members()
    }

    fn skips(&self) -> bool {
        (**self).skips()
    }

    fn condition(&self, filter: &Expr) -> Condition {
        (**self).condition(filter)
    }

    fn index(&self, conditions: &[Expr]) -> Option<String> {
        (**self).index(conditions)
    }

    fn scan(&self, request: Request) -> crate::Result<Batches> {
        (**self).scan(request)
    }
}

pub(crate) type Batches = Box<dyn Iterator<Item = crate::Result<RecordBatch>> + Send>;

/// The form in which a filter is pushed down to an engine.
pub(crate) enum Condition {
    /// A predicate over batches of the engine's columns.
    Predicate,
    /// Text in the engine's own language.
    Text(String),
    /// It is not pushed down: the plan evaluates it after the scan.
    None,
}

/// The parameters of a scan.
pub(crate) struct Request {
    /// Indices into the engine's schema, in output order.
    pub(crate) projection: Vec<usize>,
    /// Columns of the projection or the filter of which only these struct members are required.
    pub(crate) members: Members,
    pub(crate) filter: Option<Filter>,
    /// The conditions of the filter.
    pub(crate) conditions: Arc<[Expr]>,
    /// Pushed-down conditions in the engine's own language; all must hold.
    pub(crate) texts: Vec<String>,
    /// How many rows to skip at the start, if the engine [can](Engine::skips); there is no filter then.
    pub(crate) offset: usize,
    /// The limit of rows after the filter.
    pub(crate) limit: Option<usize>,
    pub(crate) batch_rows: usize,
    /// The number of the part, and the number of parts.
    pub(crate) part: (usize, usize),
}

/// The most values of a batch: batches of very many columns have fewer rows.
const BATCH_VALUES: usize = 1 << 20;

/// The number of rows in a batch of these columns.
fn batch_rows(schema: &Schema, rows: usize) -> usize {
    fn values(field: &FieldRef) -> usize {
        match field.data_type() {
            DataType::Struct(members) => members.iter().map(values).sum(),
            DataType::List(element) | DataType::LargeList(element) => values(element),
            _ => 1,
        }
    }
    let values: usize = schema.fields().iter().map(values).sum();
    rows.min(BATCH_VALUES / values.max(1)).max(1)
}

/// A condition over some columns; the engine decodes these first, and the other columns only for the selected rows.
pub(crate) struct Filter {
    /// Indices into the engine's schema, ascending: the columns that `predicate` receives.
    pub(crate) columns: Vec<usize>,
    pub(crate) predicate: Predicate,
}

pub(crate) type Predicate = Box<dyn FnMut(&RecordBatch) -> Result<BooleanArray, ArrowError> + Send>;

/// One or more [`Engine`]s as a table.
pub(crate) struct EngineTable<E> {
    engines: Arc<Shards<E>>,
}

/// Engines of one schema.
struct Shards<E> {
    name: String,
    schema: SchemaRef,
    all: Vec<Arc<E>>,
}

impl<E: Engine> EngineTable<E> {
    /// The table of all engines' rows, one engine after another. `name` is its name in EXPLAIN.
    ///
    /// # Errors
    ///
    /// If an engine has other columns than the first, or there are none.
    pub(crate) fn new(name: String, engines: Vec<E>) -> crate::Result<Self> {
        let Some(first) = engines.first() else {
            return Err(crate::Error::NotFound {
                name,
                hint: "it has no files".to_owned(),
            });
        };
        let schema = first.schema();
        if let Some(other) = engines
            .iter()
            .find(|engine| engine.schema().fields() != schema.fields())
        {
            return Err(crate::Error::Unsupported {
                what: format!(
                    "{name}: one table of {} and {}, which have other columns,",
                    first.file(),
                    other.file()
                ),
                hint: "name files of the same columns".to_owned(),
            });
        }
        Ok(Self {
            engines: Arc::new(Shards {
                name,
                schema,
                all: engines.into_iter().map(Arc::new).collect(),
            }),
        })
    }
}

impl<E: Engine> EngineTable<E> {
    /// The largest [`Engine::row_bytes`] of the engines.
    pub(crate) fn row_bytes(&self) -> Option<u64> {
        self.engines.all.iter().filter_map(|engine| engine.row_bytes()).max()
    }
}

impl<E: Engine> Shards<E> {
    fn row_count(&self) -> Precision<usize> {
        let counts = self.all.iter().map(|engine| engine.row_count());
        counts.fold(Precision::Exact(0), |sum, count| sum.add(&count))
    }

    fn read_members(&self) -> bool {
        self.all.iter().all(|engine| engine.reads_members())
    }

    /// All engines of a table push filters down in the same form.
    fn condition(&self, filter: &Expr) -> Condition {
        self.all
            .first()
            .map_or(Condition::None, |engine| engine.condition(filter))
    }

    /// Into how many parts a scan can be divided, of those wanted.
    fn parts(&self, wanted: usize) -> usize {
        match self.all.as_slice() {
            [engine] if engine.divisible() => wanted,
            [_] => 1,
            engines => wanted.min(engines.len()),
        }
    }

    /// The engines of a part, and which part of each is read.
    fn of_part(&self, (part, parts): (usize, usize)) -> (Vec<Arc<E>>, (usize, usize)) {
        match self.all.as_slice() {
            [engine] => (vec![Arc::clone(engine)], (part, parts)),
            engines => (engines.iter().skip(part).step_by(parts).cloned().collect(), (0, 1)),
        }
    }
}

impl<E: Engine> fmt::Debug for EngineTable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineTable").field("name", &self.engines.name).finish()
    }
}

impl<E: Engine> EngineTable<E> {
    fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = &self.engines.schema;
        let projection = projection.map_or_else(|| (0..schema.fields().len()).collect(), Clone::clone);
        let (mut predicates, mut texts) = (Vec::new(), Vec::new());
        for filter in filters {
            match self.engines.condition(filter) {
                Condition::Text(text) => texts.push(text),
                Condition::Predicate => predicates.push(filter.clone()),
                Condition::None => return internal_err!("the scan of {} cannot evaluate {filter}", self.engines.name),
            }
        }
        let filter = match joined_in_pairs(predicates.clone(), Expr::and) {
            Some(filter) => {
                let filter = state.create_physical_expr(filter, &DFSchema::try_from(Arc::clone(schema))?)?;
                Some(checked_expr(&filter, schema)?)
            }
            None => None,
        };
        let projected = Arc::new(schema.project(&projection)?);
        let scan = EngineScan {
            engines: Arc::clone(&self.engines),
            projection,
            projected,
            output: None,
            filter,
            conditions: predicates.into(),
            texts,
            offset: 0,
            limit,
            parts: 1,
            metrics: ExecutionPlanMetricsSet::new(),
        };
        Ok(DataSourceExec::from_data_source(scan))
    }
}

#[async_trait::async_trait]
impl<E: Engine> TableProvider for EngineTable<E> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.engines.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    planned_scan!();

    fn statistics(&self) -> Option<Statistics> {
        Some(Statistics {
            num_rows: self.engines.row_count(),
            ..Statistics::new_unknown(&self.engines.schema)
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
                Ok(
                    match reaches_out || matches!(self.engines.condition(filter), Condition::None) {
                        true => TableProviderFilterPushDown::Unsupported,
                        false => TableProviderFilterPushDown::Exact,
                    },
                )
            })
            .collect()
    }
}

/// One scan of a table, as the physical plan holds it.
pub(crate) struct EngineScan<E> {
    engines: Arc<Shards<E>>,
    projection: Vec<usize>,
    projected: SchemaRef,
    /// A projection over these columns, if any.
    output: Option<Output>,
    filter: Option<Arc<dyn PhysicalExpr>>,
    /// The conditions of the filter.
    conditions: Arc<[Expr]>,
    texts: Vec<String>,
    /// How many rows are skipped at the start.
    offset: usize,
    limit: Option<usize>,
    parts: usize,
    metrics: ExecutionPlanMetricsSet,
}

/// Expressions over the columns of a scan, and the schema of their results.
#[derive(Clone)]
struct Output {
    exprs: ProjectionExprs,
    schema: SchemaRef,
}

impl Output {
    fn of(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns = self
            .exprs
            .expr_iter()
            .map(|expr| expr.evaluate(batch)?.into_array(rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }
}

impl<E: Engine> EngineScan<E> {
    /// The same scan with an offset, if it can skip rows without reading them.
    fn beginning_at(&self, offset: usize) -> Option<Self> {
        let engines = &self.engines.all;
        let is_counted = engines.iter().all(|engine| engine.row_count().is_exact() == Some(true));
        let can_skip = engines.iter().all(|engine| engine.skips()) && is_counted;
        let is_whole = self.filter.is_none() && self.texts.is_empty() && self.parts == 1;
        (can_skip && is_whole).then(|| Self {
            offset: self.offset.saturating_add(offset),
            limit: self.limit.map(|limit| limit.saturating_sub(offset)),
            ..self.clone()
        })
    }

    /// This scan, restricted to the rows that an index finds for these values of a column, which may include others; `None` without such an
    /// index.
    pub(crate) fn among(&self, column: usize, values: &[ScalarValue]) -> Option<Arc<dyn ExecutionPlan>> {
        let column = *self.projection.get(column)?;
        let name = Column::from_name(self.engines.schema.field(column).name());
        let is_none = values.is_empty();
        let values = values.iter().map(|value| Expr::Literal(value.clone(), None));
        let keys = Expr::Column(name).in_list(values.collect(), false);
        let conditions: Arc<[Expr]> = self.conditions.iter().cloned().chain([keys.clone()]).collect();
        let is_whole = self.limit.is_none() && self.offset == 0 && self.output.is_none();
        let mut engines = self.engines.all.iter();
        let is_found = |engine: &Arc<E>| is_none || engine.index(std::slice::from_ref(&keys)).is_some();
        (is_whole && engines.all(is_found)).then(|| -> Arc<dyn ExecutionPlan> {
            DataSourceExec::from_data_source(Self {
                conditions,
                limit: is_none.then_some(0),
                metrics: self.metrics.clone(),
                ..self.clone()
            })
        })
    }

    /// The schema of the batches in the plan.
    fn schema(&self) -> &SchemaRef {
        self.output.as_ref().map_or(&self.projected, |output| &output.schema)
    }

    /// Which parts of each column the plan reads.
    fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        match &self.output {
            None => self.projection.iter().for_each(|column| reads.add_column(*column)),
            Some(output) => self.add_reads(&mut reads, &output.exprs),
        }
        reads
    }

    fn add_reads(&self, reads: &mut Reads, exprs: &ProjectionExprs) {
        let number = |column| self.projection.get(column).copied().unwrap_or(usize::MAX);
        exprs
            .expr_iter()
            .for_each(|expr| reads.add(&expr, &self.projected, &number));
    }

    /// The columns of which only some members are read.
    fn members(&self) -> Members {
        if !self.engines.read_members() {
            return Members::new();
        }
        let mut reads = self.reads();
        if let Some(filter) = &self.filter {
            reads.add(filter, &self.engines.schema, &|column| column);
        }
        reads.members()
    }

    fn filter(&self) -> Result<Option<Filter>> {
        let Some(expr) = &self.filter else { return Ok(None) };
        let schema = &self.engines.schema;
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
        let members = self.reads().members();
        let columns = self.projection.iter().zip(self.projected.fields());
        let names = columns.flat_map(|(column, field)| match members.get(column) {
            None => vec![field.name().clone()],
            Some(paths) => {
                let path = |path: &Vec<String>| format!("{}.{}", field.name(), path.join("."));
                paths.iter().map(path).collect()
            }
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

impl<E> Clone for EngineScan<E> {
    fn clone(&self) -> Self {
        Self {
            engines: Arc::clone(&self.engines),
            projection: self.projection.clone(),
            projected: Arc::clone(&self.projected),
            output: self.output.clone(),
            filter: self.filter.clone(),
            conditions: Arc::clone(&self.conditions),
            texts: self.texts.clone(),
            offset: self.offset,
            limit: self.limit,
            parts: self.parts,
            // A copy of the scan has its own metrics.
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl<E: Engine> DataSource for EngineScan<E> {
    fn open(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (engines, part) = self.engines.of_part((partition, self.parts));
        let members = self.members();
        let mut requests = Vec::new();
        let mut offset = self.offset;
        for engine in engines {
            // Engines whose rows all lie before the offset are skipped. Their row counts are exact.
            let rows = engine.row_count().get_value().copied().unwrap_or_default();
            if offset > 0 && rows <= offset {
                offset -= rows;
                continue;
            }
            let request = Request {
                projection: self.projection.clone(),
                members: members.clone(),
                filter: self.filter()?,
                conditions: Arc::clone(&self.conditions),
                texts: self.texts.clone(),
                offset: std::mem::take(&mut offset),
                limit: self.limit,
                batch_rows: batch_rows(self.schema(), context.session_config().batch_size()),
                part,
            };
            requests.push((engine, request));
        }
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(self.schema()), BATCHES_IN_FLIGHT);
        let (sender, output) = (stream.tx(), self.output.clone());
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        stream.spawn_blocking(move || {
            for (engine, request) in requests {
                if left == 0 {
                    break;
                }
                let request = Request {
                    limit: request.limit.map(|limit| limit.min(left)),
                    ..request
                };
                for batch in engine.scan(request).map_err(external)? {
                    let read = batch.as_ref().map_or(0, RecordBatch::num_rows);
                    left = left.saturating_sub(read);
                    rows.add(read);
                    let batch = match (batch, &output) {
                        (Ok(batch), Some(output)) => output.of(&batch),
                        (batch, _) => batch.map_err(external),
                    };
                    if sender.blocking_send(batch).is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        Ok(stream.build())
    }

    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.engines.all.first().map_or("Scan", |engine| engine.scan_name());
        let file = &self.engines.name;
        match kind {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "{name}: file={file}, ")?;
                if self.engines.all.len() > 1 {
                    write!(f, "files={}, ", self.engines.all.len())?;
                }
                write!(f, "columns=[{}]", self.column_names())?;
                if let Some(filter) = &self.filter {
                    write!(f, ", filter={filter}")?;
                }
                if !self.texts.is_empty() {
                    write!(f, ", filter={}", self.texts.join(" AND "))?;
                }
                if let [engine] = self.engines.all.as_slice()
                    && let Some(index) = engine.index(&self.conditions)
                {
                    write!(f, ", index={index}")?;
                }
                if self.offset > 0 {
                    write!(f, ", offset={}", self.offset)?;
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
                writeln!(f, "file={file}")
            }
        }
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        _repartition_file_min_size: usize,
        output_ordering: Option<LexOrdering>,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let parts = self.engines.parts(target_partitions);
        let worth_it =
            parts > 1 && output_ordering.is_none() && self.limit.is_none() && self.offset == 0 && self.parts == 1;
        Ok(worth_it.then(|| -> Arc<dyn DataSource> {
            Arc::new(Self {
                limit: None,
                parts,
                ..self.clone()
            })
        }))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.parts)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(self.schema()))
    }

    /// The channel to the reading thread yields to the tokio scheduler.
    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let rows = self.engines.row_count();
        let mut rows = rows.map(|rows| rows.saturating_sub(self.offset));
        if let Some(limit) = self.limit {
            rows = rows.min(&Precision::Exact(limit));
        }
        if self.filter.is_some() || !self.texts.is_empty() || (partition.is_some() && self.parts > 1) {
            rows = rows.to_inexact();
        }
        Ok(Arc::new(Statistics {
            num_rows: rows,
            total_byte_size: Precision::Absent,
            column_statistics: vec![ColumnStatistics::new_unknown(); self.schema().fields().len()],
        }))
    }

    fn with_fetch(&self, _limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        None
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    /// Pulls expressions that read members of structs into the scan, so that it need not read the other members.
    fn try_swapping_with_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn DataSource>>> {
        let mut reads = Reads::default();
        self.add_reads(&mut reads, projection);
        if self.output.is_some() || !self.engines.read_members() || reads.members().is_empty() {
            return Ok(None);
        }
        let output = Output {
            exprs: projection.clone(),
            schema: Arc::new(projection.project_schema(&self.projected)?),
        };
        Ok(Some(Arc::new(Self {
            output: Some(output),
            ..self.clone()
        })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let made = self.output.iter().flat_map(|output| output.exprs.expr_iter());
        for expr in self.filter.iter().cloned().chain(made) {
            if f(&expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}

impl<E: Engine> fmt::Debug for EngineScan<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineScan")
            .field("table", &self.engines.name)
            .field("projection", &self.projection)
            .finish()
    }
}

fn external(error: crate::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Estimates the number of rows of a text file from its size and the mean length of its first rows. For compressed text the estimate is
/// rough.
pub(crate) fn estimated_rows(size: u64, is_packed: bool, row_length: u64) -> Precision<usize> {
    const PACKED: u64 = 4;
    let size = if is_packed { size.saturating_mul(PACKED) } else { size };
    usize::try_from(size.div_ceil(row_length.max(1))).map_or(Precision::Absent, Precision::Inexact)
}
