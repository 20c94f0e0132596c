//! Joins of few rows with a table of a server, or with an xBase table that has an index: the rows whose keys the other side has are looked
//! up, and not all are read.
//!
//! A hash join reads its first side to the end before it takes rows of the second. [`Keys`] of the first side are kept as they pass
//! ([`KeyCollector`]), and the scan of the second waits for them ([`KeyLookup`]). Where they are few ([`MOST_KEYS`]) and can be asked
//! for, they are a condition of the scan: in the SELECT of a server ([`Operation::Among`]), or by a tag of the production index. Else
//! the scan is as it was. The join then compares all keys itself: the scan may give more rows than are wanted, and no fewer.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};

use arrow_array::{Array as _, RecordBatch};
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

/// More keys are not asked for: all rows are read as quickly.
const MOST_KEYS: usize = 1_000;

/// Tables of more rows have more keys, most likely.
const MOST_ROWS: usize = 1_000_000;

/// Puts the server's side of a join behind the other, before the planner chooses sides by what it knows of their sizes.
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

/// Whether a plan gives rows of a server's table as they are.
fn is_looked_up(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.downcast_ref::<DataSourceExec>() {
        Some(source) => source.data_source().downcast_ref::<ServerScan>().is_some(),
        None => plan
            .downcast_ref::<ProjectionExec>()
            .is_some_and(|projection| is_looked_up(projection.input())),
    }
}

/// How many rows a plan gives, where that is known, or at most.
fn rows(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<usize>> {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::default())?;
    Ok(match statistics.num_rows {
        Precision::Exact(rows) | Precision::Inexact(rows) => Some(rows),
        Precision::Absent => None,
    })
}

/// Has scans wait for the keys of the other side of their join.
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

/// The join whose second side is asked for the keys of the first; `None` where rows without such a key are wanted too.
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
        if !has_exact_keys(schema.field(left).data_type()) {
            continue;
        }
        let keys = Arc::new(Keys::new(join.left().output_partitioning().partition_count()));
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

/// The plan whose scan waits for the keys of a column; `None` where there is none that can be asked for keys.
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

/// Where a column of a plan is in the plan's input, for plans that give each row of their input by itself, or not.
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

/// The scan of the rows that have one of these values in a column; `None` where they cannot be asked for.
fn among(scan: &Arc<dyn ExecutionPlan>, column: usize, values: &[ScalarValue]) -> Option<Arc<dyn ExecutionPlan>> {
    let source = scan.downcast_ref::<DataSourceExec>()?.data_source();
    if let Some(scan) = source.downcast_ref::<ServerScan>() {
        let operation = Operation::Among { column, values };
        let read = scan.read.push_down(&operation, scan.read.schema())?;
        return Some(DataSourceExec::from_data_source(scan.with_read(read)));
    }
    xbase::among(source, column, values)
}

/// A value of a type, to see whether a store can be asked for such; `None` where values that are equal may differ.
fn sample(data_type: &DataType) -> Option<ScalarValue> {
    match data_type {
        DataType::Utf8 => Some(ScalarValue::from("a")),
        data_type if has_exact_keys(data_type) => ScalarValue::new_zero(data_type).ok(),
        _ => None,
    }
}

/// Whether values of a type are equal where their texts are, and a value of one such type is at most one of another.
fn has_exact_keys(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Utf8 | DataType::Decimal128(..) | DataType::Date32)
}

/// The place of a bare column.
fn column(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// The place of a column that is given as it is, or as a type that holds its values exactly.
fn column_or_cast(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) if has_exact_keys(cast.cast_type()) => column(cast.expr()),
        Some(_) => None,
        None => column(expr),
    }
}

/// The values of a column, once all rows have been seen.
struct Keys {
    /// `None` where there are too many.
    seen: Mutex<Option<HashSet<ScalarValue>>>,
    /// Partitions that have not ended.
    open: AtomicUsize,
    known: watch::Sender<Known>,
}

/// Nothing before all rows were seen; then the keys, or that there are too many.
type Known = Option<Option<Arc<Vec<ScalarValue>>>>;

impl Keys {
    fn new(partitions: usize) -> Self {
        Self {
            seen: Mutex::new(Some(HashSet::new())),
            open: AtomicUsize::new(partitions),
            known: watch::Sender::new(None),
        }
    }

    fn add(&self, batch: &RecordBatch, column: usize) -> Result<()> {
        let values = batch.column(column);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for row in 0..values.len() {
            let Some(keys) = &mut *seen else { return Ok(()) };
            if values.is_valid(row) {
                keys.insert(ScalarValue::try_from_array(values, row)?);
            }
            if keys.len() > MOST_KEYS {
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
            let keys = seen.map(|keys| Arc::new(keys.into_iter().collect()));
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

/// A partition whose keys are collected. What ends before its last row has keys that nobody knows.
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

/// Keeps the keys of the rows that pass.
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
    /// The scan of the rows with these keys, or the one without a condition.
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

/// The value of a type that is equal to another; `None` where there is none.
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
