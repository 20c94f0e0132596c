//! Moves subqueries in aggregates, sorts, windows and joins into columns of their input.
//!
//! `sum(CASE WHEN EXISTS (…) THEN 1 END)` becomes a sum over a projection with the EXISTS as a column. A condition of an outer, semi or
//! anti join may contain a subquery that depends on one side of the join: it becomes a column of that side.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;

use crate::Error;

/// Moves subqueries into a projection below.
#[derive(Debug)]
pub(crate) struct SubqueriesBelow;

impl AnalyzerRule for SubqueriesBelow {
    fn name(&self) -> &'static str {
        "subqueries_below"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Aggregate(_) | LogicalPlan::Sort(_) | LogicalPlan::Window(_) => of_one_input(node),
            LogicalPlan::Join(join) => of_join(join),
            node => Ok(Transformed::no(node)),
        })
        .data()
    }
}

fn of_one_input(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let [input] = node.inputs()[..] else {
        return Ok(Transformed::no(node));
    };
    let (input, names) = (input.clone(), NamePreserver::new(&node));
    let mut moved = Moved::default();
    let columns = node.schema().columns();
    let (is_sort, is_aggregate) = (
        matches!(node, LogicalPlan::Sort(_)),
        matches!(node, LogicalPlan::Aggregate(_)),
    );
    let changed = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let changed = moved.out_of(expr, &[input.schema()])?;
        Ok(match changed.transformed {
            true => changed.update_data(|expr| name.restore(expr)),
            false => changed,
        })
    })?;
    if is_sort
        && changed
            .data
            .expressions()
            .iter()
            .any(|expr| is_left(expr).unwrap_or(false))
    {
        return Err(unsupported(
            "a subquery in ORDER BY that names a column which is not selected",
            "select the subquery AS name, and write ORDER BY name",
        ));
    }
    if !changed.transformed {
        return Ok(changed);
    }
    let exprs = changed.data.expressions();
    let changed = changed
        .data
        .with_new_exprs(exprs, vec![with_columns(input, moved.of(0))?])?;
    // Sorts and windows return all columns of their input.
    let changed = match is_aggregate {
        true => changed,
        false => only(changed, columns)?,
    };
    Ok(Transformed::yes(changed))
}

fn of_join(join: Join) -> Result<Transformed<LogicalPlan>> {
    let Some(filter) = join.filter.clone() else {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    };
    let mut moved = Moved::default();
    let filter = moved.out_of(filter, &[join.left.schema(), join.right.schema()])?;
    if is_left(&filter.data)? {
        return Err(unsupported(
            "a subquery in the ON of an outer, SEMI or ANTI join that names columns of both sides",
            "join a subquery that has the condition in its WHERE: LEFT JOIN (SELECT … WHERE …) AS t ON …",
        ));
    }
    if !filter.transformed {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let columns = join.schema.columns();
    let left = with_columns(Arc::unwrap_or_clone(join.left), moved.of(0))?;
    let right = with_columns(Arc::unwrap_or_clone(join.right), moved.of(1))?;
    let joined = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        join.on,
        Some(filter.data),
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    Ok(Transformed::yes(only(LogicalPlan::Join(joined), columns)?))
}

/// The subqueries that became columns.
#[derive(Default)]
struct Moved {
    /// Each with the number of its input.
    columns: Vec<(usize, Expr)>,
}

impl Moved {
    /// Replaces the subqueries of an expression by columns, if one of the inputs has all columns that they need.
    fn out_of(&mut self, expr: Expr, inputs: &[&Arc<DFSchema>]) -> Result<Transformed<Expr>> {
        expr.transform_up(|part| {
            let Some(names) = columns_around(&part)? else {
                return Ok(Transformed::no(part));
            };
            let has_all = |schema: &Arc<DFSchema>| names.iter().all(|name| schema.has_column(name));
            let Some(input) = inputs.iter().position(|schema| has_all(schema)) else {
                return Ok(Transformed::no(part));
            };
            // A name that no statement uses.
            let name = format!("subquery {}", self.columns.len() + 1);
            self.columns.push((input, part.alias(&name)));
            Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name))))
        })
    }

    /// Takes the columns of one input.
    fn of(&mut self, input: usize) -> Vec<Expr> {
        let (of_it, others) = std::mem::take(&mut self.columns)
            .into_iter()
            .partition(|(of, _)| *of == input);
        self.columns = others;
        of_it.into_iter().map(|(_, expr)| expr).collect()
    }
}

/// The columns of the outer row that a subquery needs, including those of its left operand; `None` for other expressions.
fn columns_around(expr: &Expr) -> Result<Option<HashSet<Column>>> {
    let (subquery, value) = match expr {
        Expr::ScalarSubquery(subquery) => (subquery, None),
        Expr::Exists(exists) => (&exists.subquery, None),
        Expr::InSubquery(of) => (&of.subquery, Some(&*of.expr)),
        Expr::SetComparison(of) => (&of.subquery, Some(&*of.expr)),
        _ => return Ok(None),
    };
    let mut columns: HashSet<Column> = value.into_iter().flat_map(Expr::column_refs).cloned().collect();
    for outer in &subquery.outer_ref_columns {
        outer.apply(|part| {
            if let Expr::OuterReferenceColumn(_, column) = part {
                columns.insert(column.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(Some(columns))
}

/// Whether an expression still contains a correlated subquery or a predicate over a subquery.
fn is_left(expr: &Expr) -> Result<bool> {
    expr.exists(|part| {
        Ok(match part {
            Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_) => true,
            Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
            _ => false,
        })
    })
}

pub(super) fn unsupported(what: &str, hint: &str) -> DataFusionError {
    DataFusionError::External(Box::new(Error::Unsupported {
        what: what.to_owned(),
        hint: hint.to_owned(),
    }))
}

/// Adds columns to a plan.
fn with_columns(plan: LogicalPlan, more: Vec<Expr>) -> Result<LogicalPlan> {
    if more.is_empty() {
        return Ok(plan);
    }
    let columns = plan.schema().columns().into_iter().map(Expr::Column);
    let columns: Vec<Expr> = columns.chain(more).collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// Selects only these columns of a plan.
fn only(plan: LogicalPlan, columns: Vec<Column>) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan)
        .project(columns.into_iter().map(Expr::Column))?
        .build()
}
