//! Key look-ups: a join of a few rows with a large table reads only the rows with matching keys, if the table is on a server or is an
//! xBase table with an index.
//!
//! A hash join reads its build side to the end before it reads its probe side. [`KeyCollector`] collects the distinct [`Keys`] of the
//! build side as rows pass. [`KeyLookup`], the scan of the probe side, waits for them. If there are at most [`MOST_KEYS`], they become a
//! condition of the scan: in the SELECT of a server ([`Operation::Among`]), or through a tag of the production index. Otherwise the
//! whole table is scanned. The scan may return more rows than match, but never fewer, because the join compares all keys again.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, NullEquality, Result, ScalarValue};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, PlanProperties,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::watch;

use super::server::push_down::Operation;
use super::server::scan::ServerScan;
use super::xbase;

/// With more keys, scanning the whole table is as fast.
const MOST_KEYS: usize = 1_000;

/// A build side with more rows most likely has too many keys.
const MOST_ROWS: usize = 1_000_000;

/// Makes a server's table the probe side of a join. This runs before the planner chooses sides by their sizes, which servers don't tell.
#[derive(Debug)]
pub(crate) struct ServersLast;

impl PhysicalOptimizerRule for ServersLast {
    fn name(&self) -> &'static str {
        "ServersLast"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let swapped = plan.transform_up(|plan| {
            let Some(join) = plan.downcast_ref::<HashJoinExec>() else {
                return Ok(Transformed::no(plan));
            };
            let is_last = *join.join_type() == JoinType::Inner
                && is_looked_up(join.left())
                && !is_looked_up(join.right())
                && rows(join.right())?.is_some_and(|rows| rows <= MOST_ROWS);
            Ok(match is_last {
                true => Transformed::yes(join.swap_inputs(PartitionMode::Auto)?),
                false => Transformed::no(plan),
            })
        });
        swapped.data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether a plan is a scan of a server's table, perhaps with a projection.
fn is_looked_up(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.downcast_ref::<DataSourceExec>() {
        Some(source) => source.data_source().downcast_ref::<ServerScan>().is_some(),
        None => plan
            .downcast_ref::<ProjectionExec>()
            .is_some_and(|projection| is_looked_up(projection.input())),
    }
}

/// The number of rows of a plan, exact or estimated; `None` if it is unknown.
fn rows(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<usize>> {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::default())?;
    Ok(match statistics.num_rows {
        Precision::Exact(rows) | Precision::Inexact(rows) => Some(rows),
        Precision::Absent => None,
    })
}

/// Adds key look-ups to the joins that allow them.
#[derive(Debug)]
pub(crate) struct KeyLookups;

impl PhysicalOptimizerRule for KeyLookups {
    fn name(&self) -> &'static str {
        "KeyLookups"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        // Its plan is run several times, and keys are collected once.
        if plan.exists(|plan| Ok(plan.is::<RecursiveQueryExec>()))? {
            return Ok(plan);
        }
        let looked_up = plan.transform_up(|plan| {
            let looked_up = match plan.downcast_ref::<HashJoinExec>() {
                Some(join) => with_lookup(join)?,
                None => None,
            };
            Ok(match looked_up {
                Some(join) => Transformed::yes(join),
                None => Transformed::no(plan),
            })
        });
        looked_up.data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The join with a key look-up on its probe side; `None` if the join needs probe rows without a matching key, or no scan can look keys up.
fn with_lookup(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let needs_keys = matches!(
        join.join_type(),
        JoinType::Inner
            | JoinType::Left
            | JoinType::LeftSemi
            | JoinType::LeftAnti
            | JoinType::LeftMark
            | JoinType::RightSemi
    );
    let is_plain = needs_keys && !join.null_aware && join.null_equality() == NullEquality::NullEqualsNothing;
    if !is_plain || rows(join.left())?.is_some_and(|rows| rows > MOST_ROWS) {
        return Ok(None);
    }
    for (left, right) in join.on() {
        let (Some(left), Some(right)) = (column(left), column(right)) else {
            continue;
        };
        let schema = join.left().schema();
        let data_type = schema.field(left).data_type();
        if !has_exact_keys(data_type) {
            continue;
        }
        let partitions = join.left().output_partitioning().partition_count();
        let keys = Arc::new(Keys::new(data_type, partitions)?);
        if let Some(lookup) = scan_with_keys(join.right(), right, &keys)? {
            let collector = Arc::new(KeyCollector {
                input: Arc::clone(join.left()),
                column: left,
                keys,
            });
            let join = join.builder().with_new_children(vec![collector, lookup])?.build()?;
            return Ok(Some(Arc::new(join)));
        }
    }
    Ok(None)
}

/// The plan with a key look-up in place of its scan; `None` if its scan cannot look keys up.
fn scan_with_keys(
    plan: &Arc<dyn ExecutionPlan>,
    column: usize,
    keys: &Arc<Keys>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if plan.is::<DataSourceExec>() {
        let schema = plan.schema();
        let value = schema.fields().get(column).and_then(|field| sample(field.data_type()));
        let is_asked = value.is_some_and(|value| among(plan, column, &[value]).is_some());
        return Ok(is_asked.then(|| -> Arc<dyn ExecutionPlan> {
            Arc::new(KeyLookup {
                scan: Arc::clone(plan),
                column,
                keys: Arc::clone(keys),
            })
        }));
    }
    let below = place_below(plan, column);
    let children = plan.children();
    let ([input], Some(below)) = (children.as_slice(), below) else {
        return Ok(None);
    };
    Ok(match scan_with_keys(input, below, keys)? {
        Some(input) => Some(replace_children_if_necessary(Arc::clone(plan), vec![input])?),
        None => None,
    })
}

/// The place in a plan's input of one of the plan's columns; `None` for operators that do more than keep or drop single rows.
fn place_below(plan: &Arc<dyn ExecutionPlan>, place: usize) -> Option<usize> {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return column_or_cast(&projection.expr().get(place)?.expr);
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        return match filter.projection().as_deref() {
            _ if filter.fetch().is_some() => None,
            Some(columns) => columns.get(place).copied(),
            None => Some(place),
        };
    }
    let is_whole_sort = plan
        .downcast_ref::<SortExec>()
        .is_some_and(|sort| sort.fetch().is_none());
    (is_whole_sort || plan.is::<RepartitionExec>() || plan.is::<CooperativeExec>()).then_some(place)
}

/// The scan restricted to rows that have one of these values in a column; `None` if the store cannot do it.
fn among(scan: &Arc<dyn ExecutionPlan>, column: usize, values: &[ScalarValue]) -> Option<Arc<dyn ExecutionPlan>> {
    let source = scan.downcast_ref::<DataSourceExec>()?.data_source();
    if let Some(scan) = source.downcast_ref::<ServerScan>() {
        let operation = Operation::Among { column, values };
        let read = scan.read.push_down(&operation, scan.read.schema())?;
        return Some(DataSourceExec::from_data_source(scan.with_read(read)));
    }
    xbase::among(source, column, values)
}

/// A value of a type, to try whether a store can look such values up; `None` for types whose equal values may be written differently.
fn sample(data_type: &DataType) -> Option<ScalarValue> {
    match data_type {
        DataType::Utf8 => Some(ScalarValue::from("a")),
        data_type if has_exact_keys(data_type) => ScalarValue::new_zero(data_type).ok(),
        _ => None,
    }
}

/// Whether equal values of a type are always written alike, and a value has at most one equal in another such type.
fn has_exact_keys(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Utf8 | DataType::Decimal128(..) | DataType::Date32)
}

/// The place of a bare column.
fn column(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// The place of a column, or of a column cast to a type that holds its values exactly.
fn column_or_cast(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) if has_exact_keys(cast.cast_type()) => column(cast.expr()),
        Some(_) => None,
        None => column(expr),
    }
}

/// The distinct values of a column, known once all rows have passed.
struct Keys {
    /// `None` where there are too many.
    seen: Mutex<Option<Seen>>,
    /// Partitions that have not ended.
    open: AtomicUsize,
    known: watch::Sender<Known>,
}

/// Distinct values in row format. Only new values are copied.
struct Seen {
    converter: RowConverter,
    values: HashSet<Box<[u8]>>,
}

impl Seen {
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let rows = self.converter.convert_columns(std::slice::from_ref(values))?;
        for (_, row) in rows.iter().enumerate().filter(|(place, _)| values.is_valid(*place)) {
            if !self.values.contains(row.as_ref()) {
                self.values.insert(row.as_ref().into());
                if self.values.len() > MOST_KEYS {
                    break;
                }
            }
        }
        Ok(())
    }

    fn values(&self) -> Result<Vec<ScalarValue>> {
        let parser = self.converter.parser();
        let rows = self.values.iter().map(|value| parser.parse(value));
        let columns = self.converter.convert_rows(rows)?;
        let values = columns
            .iter()
            .flat_map(|column| (0..column.len()).map(move |row| (column, row)));
        values
            .map(|(column, row)| ScalarValue::try_from_array(column, row))
            .collect()
    }
}

/// `None` until all rows have passed; then the keys, or `Some(None)` if there are too many.
type Known = Option<Option<Arc<Vec<ScalarValue>>>>;

impl Keys {
    /// Of a column of this type.
    fn new(data_type: &DataType, partitions: usize) -> Result<Self> {
        let seen = Seen {
            converter: RowConverter::new(vec![SortField::new(data_type.clone())])?,
            values: HashSet::new(),
        };
        Ok(Self {
            seen: Mutex::new(Some(seen)),
            open: AtomicUsize::new(partitions),
            known: watch::Sender::new(None),
        })
    }

    fn add(&self, batch: &RecordBatch, column: usize) -> Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = &mut *seen {
            keys.add(batch.column(column))?;
            if keys.values.len() > MOST_KEYS {
                *seen = None;
            }
        }
        Ok(())
    }

    fn give_up(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn close(&self) {
        if self.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Values that cannot be converted back count as unknown.
            let keys = seen.and_then(|seen| seen.values().ok()).map(Arc::new);
            self.known.send_replace(Some(keys));
        }
    }

    /// Waits until all rows were seen.
    async fn all(&self) -> Option<Arc<Vec<ScalarValue>>> {
        let mut known = self.known.subscribe();
        let known = known.wait_for(Option::is_some).await;
        known.ok().and_then(|known| known.clone()).flatten()
    }
}

/// A partition whose keys are being collected. If it ends before its last row, its keys are unknown.
struct Collecting {
    keys: Arc<Keys>,
    is_whole: bool,
}

impl Drop for Collecting {
    fn drop(&mut self) {
        if !self.is_whole {
            self.keys.give_up();
        }
        self.keys.close();
    }
}

/// Passes rows on, and collects their keys.
struct KeyCollector {
    input: Arc<dyn ExecutionPlan>,
    column: usize,
    keys: Arc<Keys>,
}

impl fmt::Debug for KeyCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCollector")
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for KeyCollector {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyCollector: column={}", self.schema().field(self.column).name())
    }
}

impl ExecutionPlan for KeyCollector {
    fn name(&self) -> &'static str {
        "KeyCollector"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            input: children.swap_remove(0),
            column: self.column,
            keys: Arc::clone(&self.keys),
        }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let (keys, column) = (Arc::clone(&self.keys), self.column);
        let mut collecting = Some(Collecting {
            keys: Arc::clone(&keys),
            is_whole: false,
        });
        let rows = stream::poll_fn(move |context| {
            let next = ready!(input.poll_next_unpin(context));
            if next.is_none()
                && let Some(mut collecting) = collecting.take()
            {
                collecting.is_whole = true;
            }
            Poll::Ready(next.map(|batch| {
                let batch = batch?;
                keys.add(&batch, column)?;
                Ok(batch)
            }))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// A scan that waits for keys.
struct KeyLookup {
    scan: Arc<dyn ExecutionPlan>,
    column: usize,
    keys: Arc<Keys>,
}

impl KeyLookup {
    /// The scan restricted to these keys, or the whole scan.
    fn asked(scan: &Arc<dyn ExecutionPlan>, column: usize, keys: Option<&[ScalarValue]>) -> Arc<dyn ExecutionPlan> {
        let asked = keys.and_then(|keys| {
            let schema = scan.schema();
            let data_type = schema.field(column).data_type();
            let values: Vec<ScalarValue> = keys.iter().filter_map(|key| of_type(key, data_type)).collect();
            among(scan, column, &values)
        });
        asked.unwrap_or_else(|| Arc::clone(scan))
    }
}

/// The value of a type that equals another value; `None` if there is none.
fn of_type(value: &ScalarValue, data_type: &DataType) -> Option<ScalarValue> {
    if value.data_type() == *data_type {
        return Some(value.clone());
    }
    let cast = value.cast_to(data_type).ok()?;
    let back = cast.cast_to(&value.data_type()).ok()?;
    (back == *value).then_some(cast)
}

impl fmt::Debug for KeyLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyLookup")
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for KeyLookup {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.schema().field(self.column).name().clone();
        write!(f, "KeyLookup: column={name}, most={MOST_KEYS}")
    }
}

impl ExecutionPlan for KeyLookup {
    fn name(&self) -> &'static str {
        "KeyLookup"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.scan.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.scan]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            scan: children.swap_remove(0),
            column: self.column,
            keys: Arc::clone(&self.keys),
        }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (scan, column, keys) = (Arc::clone(&self.scan), self.column, Arc::clone(&self.keys));
        let rows = async move {
            let keys = keys.all().await;
            Self::asked(&scan, column, keys.as_deref().map(Vec::as_slice)).execute(partition, context)
        };
        let rows = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
