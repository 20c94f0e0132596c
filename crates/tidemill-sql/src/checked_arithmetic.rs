//! Arithmetic of whole numbers that reports an overflow as an error, as other databases do. DataFusion's `+`, `-` and `*` wrap around.

use std::sync::Arc;

use arrow_schema::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    BinaryExpr as Logical, Expr, ExprSchemable as _, LogicalPlan, Operator, Projection, Window,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_expr::expressions::{BinaryExpr, Literal, NegativeExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, PhysicalGroupBy};
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, HashJoinExecBuilder, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

/// Makes the arithmetic in projections, filters, groups, sorts and joins check for overflow.
#[derive(Debug)]
pub(crate) struct CheckedArithmetic;

impl PhysicalOptimizerRule for CheckedArithmetic {
    fn name(&self) -> &'static str {
        "CheckedArithmetic"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let checked = if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
                of_projection(projection)?
            } else if let Some(filter) = plan.downcast_ref::<FilterExec>() {
                of_filter(filter)?
            } else if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
                of_aggregate(aggregate)?
            } else if let Some(sort) = plan.downcast_ref::<SortExec>() {
                of_sort(sort)?
            } else if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
                let filter = of_join(join.filter())?;
                let join = filter.map(|filter| HashJoinExecBuilder::from(join).with_filter(Some(filter)).build());
                join.transpose()?.map(|join| Arc::new(join) as _)
            } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
                let filter = of_join(join.filter())?;
                let join = filter.map(|filter| NestedLoopJoinExecBuilder::from(join).with_filter(Some(filter)).build());
                join.transpose()?.map(|join| Arc::new(join) as _)
            } else {
                None
            };
            Ok(checked.map_or_else(|| Transformed::no(plan), Transformed::yes))
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

type Checked = Result<Option<Arc<dyn ExecutionPlan>>>;

fn of_projection(projection: &ProjectionExec) -> Checked {
    let schema = projection.input().schema();
    let mut changed = false;
    let expressions = projection.expr().iter().map(|projected| {
        Ok(ProjectionExpr {
            expr: checked(&projected.expr, &schema, &mut changed)?,
            alias: projected.alias.clone(),
        })
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    if !changed {
        return Ok(None);
    }
    let (input, names) = (Arc::clone(projection.input()), projection.schema());
    let projection = ProjectionExec::try_new_with_schema_metadata(expressions, input, &names)?;
    Ok(Some(Arc::new(projection)))
}

fn of_filter(filter: &FilterExec) -> Checked {
    let mut changed = false;
    let predicate = checked(filter.predicate(), &filter.input().schema(), &mut changed)?;
    if !changed {
        return Ok(None);
    }
    let filter = FilterExecBuilder::from(filter).with_predicate(predicate).build()?;
    Ok(Some(Arc::new(filter)))
}

fn of_aggregate(aggregate: &AggregateExec) -> Checked {
    let schema = aggregate.input_schema();
    let mut changed = false;
    let mut all = |expressions: Vec<Arc<dyn PhysicalExpr>>| -> Result<Vec<_>> {
        let expressions = expressions.iter().map(|expr| checked(expr, &schema, &mut changed));
        expressions.collect()
    };
    let mut functions = Vec::with_capacity(aggregate.aggr_expr().len());
    for function in aggregate.aggr_expr() {
        let parts = function.all_expressions();
        let checked = function.with_new_expressions(all(parts.args)?, all(parts.order_by_exprs)?);
        // A reversed function would lose that mark. Besides, only its order could be checked.
        functions.push(match checked.filter(|_| !function.is_reversed()) {
            Some(checked) => Arc::new(checked),
            None => Arc::clone(function),
        });
    }
    let filters = aggregate.filter_expr().iter().map(|filter| match filter {
        Some(filter) => Ok(all(vec![Arc::clone(filter)])?.pop()),
        None => Ok(None),
    });
    let filters = filters.collect::<Result<Vec<_>>>()?;
    let group_by = aggregate.group_expr();
    let mut groups = Vec::with_capacity(group_by.expr().len());
    for (expr, name) in group_by.expr() {
        groups.extend(
            all(vec![Arc::clone(expr)])?
                .into_iter()
                .map(|expr| (expr, name.clone())),
        );
    }
    let limit = aggregate.limit_options();
    if !changed {
        return Ok(None);
    }
    let (nulls, sets) = (group_by.null_expr().to_vec(), group_by.groups().to_vec());
    let group_by = PhysicalGroupBy::new(groups, nulls, sets, group_by.has_grouping_set());
    let input = Arc::clone(aggregate.input());
    let aggregate = AggregateExec::try_new(*aggregate.mode(), group_by, functions, filters, input, schema)?;
    Ok(Some(Arc::new(aggregate.with_limit_options(limit))))
}

fn of_sort(sort: &SortExec) -> Checked {
    let schema = sort.input().schema();
    let mut changed = false;
    let mut order = sort.expr().to_vec();
    for key in &mut order {
        key.expr = checked(&key.expr, &schema, &mut changed)?;
    }
    let Some(order) = LexOrdering::new(order).filter(|_| changed) else {
        return Ok(None);
    };
    let checked = SortExec::new(order, Arc::clone(sort.input()))
        .with_fetch(sort.fetch())
        .with_preserve_partitioning(sort.preserve_partitioning());
    Ok(Some(Arc::new(checked)))
}

/// The condition of a join.
fn of_join(filter: Option<&JoinFilter>) -> Result<Option<JoinFilter>> {
    let Some(filter) = filter else { return Ok(None) };
    let mut changed = false;
    let expression = checked(filter.expression(), filter.schema(), &mut changed)?;
    let (columns, schema) = (filter.column_indices().to_vec(), Arc::clone(filter.schema()));
    Ok(changed.then(|| JoinFilter::new(expression, columns, schema)))
}

/// An expression over a scan's columns that checks for overflow.
pub(crate) fn checked_expr(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
    checked(expr, schema, &mut false)
}

fn checked(expr: &Arc<dyn PhysicalExpr>, schema: &Schema, changed: &mut bool) -> Result<Arc<dyn PhysicalExpr>> {
    let expr = Arc::clone(expr).transform_up(|expr| {
        if let Some(negative) = expr.downcast_ref::<NegativeExpr>() {
            let of = negative.arg().data_type(schema)?;
            if !of.is_integer() {
                return Ok(Transformed::no(expr));
            }
            // The least number has no negation, so that it is subtracted from zero.
            let zero = Arc::new(Literal::new(ScalarValue::new_zero(&of)?));
            let negated = BinaryExpr::new(zero, Operator::Minus, Arc::clone(negative.arg()));
            let negated = negated.with_fail_on_overflow(true);
            return Ok(Transformed::yes(Arc::new(negated) as Arc<dyn PhysicalExpr>));
        }
        let Some(binary) = expr.downcast_ref::<BinaryExpr>() else {
            return Ok(Transformed::no(expr));
        };
        if !is_arithmetic(*binary.op()) || !binary.data_type(schema)?.is_integer() {
            return Ok(Transformed::no(expr));
        }
        let checked = binary.clone().with_fail_on_overflow(true);
        Ok(Transformed::yes(Arc::new(checked) as Arc<dyn PhysicalExpr>))
    })?;
    *changed |= expr.transformed;
    Ok(expr.data)
}

/// Folds constants before DataFusion does, which would wrap around.
#[derive(Debug)]
pub(crate) struct CheckedConstants;

impl FunctionRewrite for CheckedConstants {
    fn name(&self) -> &'static str {
        "checked_constants"
    }

    fn rewrite(&self, expr: Expr, _: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let folded = match &expr {
            Expr::BinaryExpr(Logical { left, op, right }) => match (left.as_ref(), right.as_ref()) {
                (Expr::Literal(left, _), Expr::Literal(right, _)) => folded(left, *op, right)?,
                _ => None,
            },
            _ => None,
        };
        Ok(match folded {
            Some(value) => Transformed::yes(Expr::Literal(value, None)),
            None => Transformed::no(expr),
        })
    }
}

/// The result of an operation on two whole numbers of one type.
fn folded(left: &ScalarValue, op: Operator, right: &ScalarValue) -> Result<Option<ScalarValue>> {
    if left.data_type() != right.data_type() || !left.data_type().is_integer() {
        return Ok(None);
    }
    Ok(Some(match op {
        Operator::Plus => left.add_checked(right)?,
        Operator::Minus => left.sub_checked(right)?,
        Operator::Multiply => left.mul_checked(right)?,
        _ => return Ok(None),
    }))
}

/// Moves the arguments of window functions into a projection below the window, where [`CheckedArithmetic`] finds them: the physical plan
/// does not expose a window's arguments.
#[derive(Debug)]
pub(crate) struct WindowArguments;

impl AnalyzerRule for WindowArguments {
    fn name(&self) -> &'static str {
        "window_arguments"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Window(window) => over_arguments(window),
            other => Ok(Transformed::no(other)),
        })
        .data()
    }
}

fn over_arguments(window: Window) -> Result<Transformed<LogicalPlan>> {
    let below = window.input.schema();
    let mut computed = Vec::new();
    let mut functions = Vec::with_capacity(window.window_expr.len());
    for function in &window.window_expr {
        let (relation, name) = function.qualified_name();
        let changed = function.clone().transform_up(|part| {
            let Expr::WindowFunction(mut call) = part else {
                return Ok(Transformed::no(part));
            };
            let mut is_changed = false;
            for argument in &mut call.params.args {
                if may_overflow(argument, below)? {
                    let name = format!("__argument_{}", computed.len());
                    let column = Expr::Column(Column::from_name(&name));
                    computed.push(std::mem::replace(argument, column).alias(name));
                    is_changed = true;
                }
            }
            Ok(Transformed::new_transformed(Expr::WindowFunction(call), is_changed))
        })?;
        functions.push(match changed.transformed {
            true => changed.data.alias_qualified(relation, name),
            false => changed.data,
        });
    }
    if computed.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let columns = |schema: &DFSchema| schema.columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
    let arguments: Vec<Expr> = columns(below).into_iter().chain(computed).collect();
    let arguments = Projection::try_new(arguments, Arc::clone(&window.input))?;
    let over = Window::try_new(functions, Arc::new(LogicalPlan::Projection(arguments)))?;
    // The arguments are not columns of the result.
    let result = Projection::try_new(columns(&window.schema), Arc::new(LogicalPlan::Window(over)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(result)))
}

/// Whether an expression contains arithmetic of whole numbers.
fn may_overflow(expr: &Expr, schema: &DFSchema) -> Result<bool> {
    expr.exists(|part| match part {
        Expr::BinaryExpr(Logical { op, .. }) if is_arithmetic(*op) => Ok(part.get_type(schema)?.is_integer()),
        _ => Ok(false),
    })
}

fn is_arithmetic(op: Operator) -> bool {
    matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply)
}
