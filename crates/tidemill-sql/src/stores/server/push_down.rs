//! Pushes groups, joins and limits down to a server, so that the rows below them need not be sent.
//!
//! The rule processes the physical plan before it is distributed or sorted. If everything below an operator is read from one server, and
//! the server's store confirms that it executes the operator with exactly the same result ([`ServerRead::push_down`]), a single scan
//! replaces it all. EXPLAIN shows the scan's text.
//!
//! A join alone is not pushed down, since it may return more rows than it reads; a join below a group is.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, SortOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, NullEquality, Result, ScalarValue};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;

use super::computed::{Computed, Test, Value};
use super::scan::{ServerRead, ServerScan};

/// An operation that a server applies to the rows of a read.
#[derive(Debug)]
pub(crate) enum Operation<'a> {
    /// Select these columns, in this order.
    Columns(&'a [usize]),
    /// Compute these values from each row.
    Compute(&'a [Computed]),
    /// Group them.
    Group {
        /// The grouping columns, which come first; without any, all rows are one group, even if there are none.
        keys: &'a [usize],
        aggregates: &'a [Aggregate],
    },
    /// Sort, skip some rows, and return the next ones. They may come in another order, and more than requested.
    First {
        order: &'a [(usize, SortOptions)],
        skipped: usize,
        rows: usize,
    },
    /// Skip some rows, and return the next ones, in any order.
    Range { skipped: usize, rows: Option<usize> },
    /// Keep the rows whose key occurs in another read of the same server, or does not. NULL equals nothing.
    Semi {
        other: &'a dyn ServerRead,
        /// Whether the key must occur.
        is_there: bool,
        /// The key columns of this read and of the other.
        on: (usize, usize),
    },
    /// Keep the rows for which all conditions are true: HAVING, if the rows are groups.
    Filter { conditions: &'a [Test] },
    /// Keep at least the rows with one of these values in a column; none of the values is NULL.
    Among { column: usize, values: &'a [ScalarValue] },
    /// Append the rows of other reads of the same server, whose columns are in the same order.
    Union { others: &'a [&'a dyn ServerRead] },
    /// Join with another read of the same server by equal keys; this read's columns come first. NULL equals nothing.
    Join {
        other: &'a dyn ServerRead,
        /// The key columns of this read and of the other.
        on: &'a [(usize, usize)],
        /// Whether rows without a match are kept, with NULL for the other's columns.
        is_outer: bool,
    },
}

/// A change of a table's rows by the server.
#[derive(Debug)]
pub(crate) enum RowChange {
    Delete,
    /// Columns in the table's spelling, with their new values.
    Update(Vec<(String, NewValue)>),
}

/// The new value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NewValue {
    /// It may be NULL.
    Constant(ScalarValue),
    /// Computed from the columns of the read.
    Computed(Computed),
}

/// An aggregate of a group.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) function: Function,
    /// The column; none for COUNT(*).
    pub(crate) column: Option<usize>,
    /// Whether DISTINCT is set.
    pub(crate) distinct: bool,
    /// The type of the result.
    pub(crate) data_type: DataType,
}

/// Aggregate functions. Without values, all but COUNT are NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Count,
    Sum,
    Min,
    Max,
    Average,
}

/// Replaces parts of a plan by scans of servers.
#[derive(Debug)]
pub(crate) struct PushDown;

impl PhysicalOptimizerRule for PushDown {
    fn name(&self) -> &'static str {
        "PushDown"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let pushed = plan.transform_down(|plan| {
            Ok(match replaced(&plan)? {
                Some(scan) => Transformed::new(scan, true, TreeNodeRecursion::Jump),
                None => Transformed::no(plan),
            })
        });
        pushed.data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The replacement of a plan; `None` if it is unchanged.
fn replaced(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    // The rows may be unordered, and more than requested, so that the sort stays.
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        let first = sort.fetch().and_then(|rows| first(sort, 0, rows));
        return Ok(first.map(|first| Arc::new(over(sort, first)) as _));
    }
    if let Some(limit) = plan.downcast_ref::<GlobalLimitExec>().filter(|limit| limit.skip() > 0) {
        return Ok(without_offset(limit));
    }
    let is_semi_join = |join: &HashJoinExec| {
        matches!(
            join.join_type(),
            JoinType::LeftSemi | JoinType::RightSemi | JoinType::LeftAnti | JoinType::RightAnti
        )
    };
    let is_pushed = plan.is::<AggregateExec>()
        || plan.is::<FilterExec>()
        || plan.downcast_ref::<HashJoinExec>().is_some_and(is_semi_join);
    Ok(match is_pushed {
        true => read(plan).map(scan),
        false => None,
    })
}

fn scan(read: Arc<dyn ServerRead>) -> Arc<dyn ExecutionPlan> {
    DataSourceExec::from_data_source(ServerScan::new(read))
}

/// The limit without its offset, which is pushed down.
fn without_offset(limit: &GlobalLimitExec) -> Option<Arc<dyn ExecutionPlan>> {
    let (skipped, rows) = (limit.skip(), limit.fetch());
    let input: Arc<dyn ExecutionPlan> = match limit.input().downcast_ref::<SortExec>() {
        Some(sort) => Arc::new(over(&sort.with_fetch(rows), first(sort, skipped, rows?)?)),
        None => {
            let operation = Operation::Range { skipped, rows };
            scan(read(limit.input())?.push_down(&operation, &limit.schema())?)
        }
    };
    Some(Arc::new(GlobalLimitExec::new(input, 0, rows)))
}

fn first(sort: &SortExec, skipped: usize, rows: usize) -> Option<Arc<dyn ServerRead>> {
    let order = sort.expr().iter().map(|key| Some((column(&key.expr)?, key.options)));
    let order = order.collect::<Option<Vec<_>>>()?;
    let operation = Operation::First {
        order: &order,
        skipped,
        rows,
    };
    read(sort.input())?.push_down(&operation, &sort.schema())
}

/// A sort over a read.
fn over(sort: &SortExec, input: Arc<dyn ServerRead>) -> SortExec {
    SortExec::new(sort.expr().clone(), scan(input)).with_fetch(sort.fetch())
}

/// The read that returns the rows of a plan.
fn read(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ServerRead>> {
    if let Some(source) = plan.downcast_ref::<DataSourceExec>() {
        let scan = source.data_source().downcast_ref::<ServerScan>()?;
        // The rows of a scan without columns are counted already.
        return (!scan.read.schema().fields().is_empty()).then(|| Arc::clone(&scan.read));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let below = projection.input().schema();
        let values = projection.expr().iter().map(|one| Computed::of(&one.expr, &below));
        return computed(
            read(projection.input())?,
            &values.collect::<Option<Vec<_>>>()?,
            &plan.schema(),
        );
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return group(aggregate, &plan.schema());
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        return filtered(filter, &plan.schema());
    }
    if let Some(union) = plan.downcast_ref::<UnionExec>() {
        let reads = union.inputs().iter().map(read).collect::<Option<Vec<_>>>()?;
        let (first, others) = reads.split_first()?;
        let others: Vec<&dyn ServerRead> = others.iter().map(|read| &**read).collect();
        return first.push_down(&Operation::Union { others: &others }, &plan.schema());
    }
    join(plan.downcast_ref::<HashJoinExec>()?, &plan.schema())
}

/// The read of a plan's rows, and the values that it computes from them; `None` if the server might choose other rows, or a value cannot be
/// represented.
pub(crate) fn read_of_rows(plan: &Arc<dyn ExecutionPlan>) -> Option<(Arc<dyn ServerRead>, Vec<NewValue>)> {
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return Some((read(plan)?, Vec::new()));
    };
    let below = projection.input().schema();
    let values = projection
        .expr()
        .iter()
        .map(|one| match one.expr.downcast_ref::<Literal>() {
            Some(literal) => Some(NewValue::Constant(literal.value().clone())),
            None => Computed::or_error(&one.expr, &below).map(NewValue::Computed),
        });
    Some((read(projection.input())?, values.collect::<Option<_>>()?))
}

/// A read that computes values.
fn computed(read: Arc<dyn ServerRead>, values: &[Computed], schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
    let columns: Option<Vec<usize>> = values.iter().map(Computed::as_column).collect();
    match columns {
        Some(columns) => read.push_down(&Operation::Columns(&columns), schema),
        None => read.push_down(&Operation::Compute(values), schema),
    }
}

/// A read with the conditions of a filter, if they have the same meaning there.
fn filtered(filter: &FilterExec, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
    if filter.fetch().is_some() {
        return None;
    }
    let below = filter.input().schema();
    let conditions = split_conjunction(filter.predicate()).into_iter();
    let conditions = conditions.map(|condition| Test::of(condition, &below));
    let conditions = conditions.collect::<Option<Vec<_>>>()?;
    let input = read(filter.input())?;
    let kept = input.push_down(
        &Operation::Filter {
            conditions: &conditions,
        },
        input.schema(),
    )?;
    match filter.projection().as_deref() {
        None => Some(kept),
        Some(columns) => kept.push_down(&Operation::Columns(columns), schema),
    }
}

fn group(whole: &AggregateExec, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
    // The final of two aggregation steps refers to the groups of the first.
    let grouping = match whole.mode() {
        AggregateMode::Single | AggregateMode::SinglePartitioned => whole,
        AggregateMode::Final | AggregateMode::FinalPartitioned => {
            let first = whole.input().downcast_ref::<AggregateExec>()?;
            (*first.mode() == AggregateMode::Partial).then_some(first)?
        }
        _ => return None,
    };
    let by = grouping.group_expr();
    let is_plain = by.is_single() && whole.limit_options().is_none();
    if !is_plain {
        return None;
    }
    let below = grouping.input().schema();
    let mut values = Values::default();
    let keys = by
        .expr()
        .iter()
        .map(|(key, _)| Some(values.place(Computed::of(key, &below)?)));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let aggregates = grouping.aggr_expr().iter().zip(grouping.filter_expr());
    let aggregates = aggregates.map(|(one, filter)| aggregate(one, filter.as_ref(), &below, &mut values));
    let aggregates = aggregates.collect::<Option<Vec<_>>>()?;
    let operation = Operation::Group {
        keys: &keys,
        aggregates: &aggregates,
    };
    let rows = computed(read(grouping.input())?, &values.0, &values.schema())?;
    rows.push_down(&operation, schema)
}

/// The arguments of aggregates, without duplicates.
#[derive(Default)]
struct Values(Vec<Computed>);

impl Values {
    fn place(&mut self, value: Computed) -> usize {
        let known = self.0.iter().position(|known| *known == value);
        known.unwrap_or_else(|| {
            self.0.push(value);
            self.0.len() - 1
        })
    }

    fn schema(&self) -> SchemaRef {
        let fields = self.0.iter().enumerate();
        let fields = fields.map(|(place, value)| Field::new(format!("v{place}"), value.data_type.clone(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// Converts an aggregate. FILTER becomes a CASE that is NULL for the other rows.
fn aggregate(
    expr: &AggregateFunctionExpr,
    filter: Option<&Arc<dyn PhysicalExpr>>,
    below: &Schema,
    values: &mut Values,
) -> Option<Aggregate> {
    let function = match expr.fun().name() {
        "count" => Function::Count,
        "sum" => Function::Sum,
        "min" => Function::Min,
        "max" => Function::Max,
        "avg" => Function::Average,
        _ => return None,
    };
    let arguments = expr.expressions();
    let [argument] = arguments.as_slice() else { return None };
    let is_count = function == Function::Count;
    let is_plain = expr.order_bys().is_empty() && !expr.ignore_nulls() && (is_count || !expr.is_distinct());
    if !is_plain {
        return None;
    }
    let value = match argument.downcast_ref::<Literal>() {
        Some(literal) if is_count && !literal.value().is_null() && !expr.is_distinct() => None,
        Some(_) => return None,
        // SUM and AVG cast their argument to a wider type.
        None => match argument.downcast_ref::<CastExpr>() {
            Some(cast) if matches!(function, Function::Sum | Function::Average) => {
                Some(Computed::of(cast.expr(), below)?)
            }
            Some(_) => return None,
            None => Some(Computed::of(argument, below)?),
        },
    };
    let value = match filter {
        None => value,
        Some(filter) => {
            let chosen = value.unwrap_or_else(|| Computed {
                value: Value::Literal(ScalarValue::Int64(Some(1))),
                data_type: DataType::Int64,
            });
            Some(Computed {
                data_type: chosen.data_type.clone(),
                value: Value::Choice(vec![(Test::of(filter, below)?, chosen)], None),
            })
        }
    };
    Some(Aggregate {
        function,
        column: value.map(|value| values.place(value)),
        distinct: expr.is_distinct(),
        data_type: expr.field().data_type().clone(),
    })
}

fn join(join: &HashJoinExec, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
    // For NOT IN, NULL has special rules.
    let is_plain = join.filter().is_none()
        && !join.null_aware
        && join.null_equality() == NullEquality::NullEqualsNothing
        && !join.contains_projection();
    if !is_plain {
        return None;
    }
    let on = join
        .on()
        .iter()
        .map(|(left, right)| Some((column(left)?, column(right)?)));
    let on = on.collect::<Option<Vec<_>>>()?;
    let (left, right) = (read(join.left())?, read(join.right())?);
    match (join.join_type(), on.as_slice()) {
        (kind @ (JoinType::Inner | JoinType::Left), on) => {
            let (other, is_outer) = (&*right, *kind == JoinType::Left);
            left.push_down(&Operation::Join { other, on, is_outer }, schema)
        }
        (JoinType::Right, on) => {
            let on: Vec<(usize, usize)> = on.iter().map(|&(left, right)| (right, left)).collect();
            let (lefts, rights) = (left.schema().fields().len(), right.schema().fields().len());
            let swapped = Schema::new([&right, &left].map(|side| side.schema().fields().to_vec()).concat());
            let joined = right.push_down(
                &Operation::Join {
                    other: &*left,
                    on: &on,
                    is_outer: true,
                },
                &Arc::new(swapped),
            )?;
            let columns: Vec<usize> = (rights..rights + lefts).chain(0..rights).collect();
            joined.push_down(&Operation::Columns(&columns), schema)
        }
        (kind @ (JoinType::LeftSemi | JoinType::LeftAnti), &[on]) => {
            let (other, is_there) = (&*right, *kind == JoinType::LeftSemi);
            left.push_down(&Operation::Semi { other, is_there, on }, schema)
        }
        (kind @ (JoinType::RightSemi | JoinType::RightAnti), &[(there, here)]) => {
            let (other, is_there, on) = (&*left, *kind == JoinType::RightSemi, (here, there));
            right.push_down(&Operation::Semi { other, is_there, on }, schema)
        }
        _ => None,
    }
}

/// The position of a bare column.
fn column(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}
