//! `a IN (SELECT b …)` when the result may be NULL.
//!
//! It is NULL if `a` is NULL and the subquery has rows, or if some `b` is NULL and none equals `a` (ISO/IEC 9075-2, 8.4 and 8.9). DataFusion
//! implements that only for an uncorrelated NOT IN over a column that is a condition by itself. Elsewhere it returns false for NULL, which makes
//! a difference under NOT, in CASE, under IS NULL and in the SELECT list.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema as _, Result, ScalarValue};
use datafusion::functions_aggregate::count::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, ExprSchemable as _, Filter, LogicalPlan, Operator, Projection, Subquery, lit, not,
    when,
};

use super::has_predicate;

/// Rewrites the IN predicates of a plan and of its subqueries so that DataFusion computes NULL correctly.
pub(crate) fn put(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let mut has_any = false;
        node.apply_expressions(|expr| {
            has_any |= has_predicate(expr)? || has_comparison(expr)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        if !has_any {
            return Ok(Transformed::no(node));
        }
        let mut schema = DFSchema::empty();
        for input in node.inputs() {
            schema.merge(input.schema());
        }
        let (is_filter, is_join) = (
            matches!(node, LogicalPlan::Filter(_)),
            matches!(node, LogicalPlan::Join(_)),
        );
        let names = NamePreserver::new(&node);
        let changed = node.map_expressions(|expr| {
            if !has_predicate(&expr)? && !has_comparison(&expr)? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            let expr = expr.transform_up(of_one_row)?.data;
            let changed = match is_filter || is_join {
                true => {
                    let parts = split_conjunction_owned(expr).into_iter();
                    let parts = parts.map(|part| conjunct(part, is_filter, &schema));
                    let parts = parts.collect::<Result<Vec<_>>>()?;
                    conjunction(parts).unwrap_or_else(|| lit(true))
                }
                false => everywhere(expr, &schema)?,
            };
            Ok(Transformed::yes(name.restore(changed)))
        })?;
        match changed.transformed {
            true => changed.map_data(LogicalPlan::recompute_schema),
            false => Ok(changed),
        }
    })
    .data()
}

fn has_comparison(expr: &Expr) -> Result<bool> {
    expr.exists(|part| Ok(matches!(part, Expr::SetComparison(_))))
}

/// Rewrites IN, ANY, ALL and EXISTS over an aggregate without GROUP BY, which always has one row: they become comparisons, EXISTS a constant.
///
/// DataFusion decorrelates such a subquery into groups, and an empty input then has no group.
fn of_one_row(part: Expr) -> Result<Transformed<Expr>> {
    Ok(match part {
        Expr::InSubquery(of) if has_one_row(&of.subquery.subquery) => {
            let op = if of.negated { Operator::NotEq } else { Operator::Eq };
            let right = Box::new(Expr::ScalarSubquery(of.subquery));
            let left = of.expr;
            Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
        }
        Expr::SetComparison(of) if has_one_row(&of.subquery.subquery) => {
            let right = Box::new(Expr::ScalarSubquery(of.subquery));
            let (left, op) = (of.expr, of.op);
            Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
        }
        Expr::Exists(of) if has_one_row(&of.subquery.subquery) => Transformed::yes(lit(!of.negated)),
        other => Transformed::no(other),
    })
}

pub(super) fn has_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => has_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => has_one_row(&alias.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

/// A part of a condition that must be true for the whole to be true. In a filter, DataFusion has a join for NOT IN.
fn conjunct(expr: Expr, is_filter: bool, schema: &DFSchema) -> Result<Expr> {
    match expr {
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(of) => conjunct(
                Expr::InSubquery(InSubquery {
                    negated: !of.negated,
                    ..of
                }),
                is_filter,
                schema,
            ),
            other => everywhere(not(other), schema),
        },
        Expr::InSubquery(of) if of.negated && loses_null(&of)? => Ok(match not_exists(&of, schema)? {
            Some(none_equals) => none_equals,
            None => everywhere(Expr::InSubquery(of), schema)?,
        }),
        Expr::InSubquery(of) if of.negated && is_filter => Ok(Expr::InSubquery(of)),
        other => whether_true(other, schema),
    }
}

/// Whether DataFusion would return true for NULL of a NOT IN: its value is a constant, or may be simplified to one, or the subquery is
/// correlated.
fn loses_null(of: &InSubquery) -> Result<bool> {
    let may_be_constant = |part: &Expr| {
        let is_null = matches!(part, Expr::Literal(value, _) if value.is_null());
        Ok(is_null || matches!(part, Expr::Case(_)))
    };
    Ok(!of.subquery.outer_ref_columns.is_empty()
        || of.expr.column_refs().is_empty()
        || has_predicate(&of.expr)?
        || of.expr.exists(may_be_constant)?)
}

/// A part of a condition for which false and NULL make no difference.
fn whether_true(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::And | Operator::Or),
            right,
        }) => Ok(Expr::BinaryExpr(BinaryExpr {
            left: Box::new(whether_true(*left, schema)?),
            op,
            right: Box::new(whether_true(*right, schema)?),
        })),
        Expr::InSubquery(of) if !has_predicate(&of.expr)? && !of.negated => Ok(Expr::InSubquery(of)),
        other => everywhere(other, schema),
    }
}

/// Rewrites each IN of an expression, so that NULL is distinguished from false.
fn everywhere(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let changed = expr.transform_up(|part| match part {
        Expr::InSubquery(of) => three_valued(of, schema).map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    });
    changed.data()
}

/// IN with its three values.
fn three_valued(of: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let has_null = match nullable(&of.subquery) {
        true => Some(is_there(nulls_of(&of.subquery)?)?),
        false => None,
    };
    // The type of an outer reference is not in this schema.
    let unknown = match of.expr.nullable(schema).unwrap_or(true) {
        true => Some(of.expr.clone().is_null().and(is_there(of.subquery.clone())?)),
        false => None,
    };
    let Some(unknown) = unknown.into_iter().chain(has_null).reduce(Expr::or) else {
        return Ok(Expr::InSubquery(of));
    };
    let (found, absent) = (lit(!of.negated), lit(of.negated));
    let is_in = Expr::InSubquery(InSubquery { negated: false, ..of });
    when(is_in, found)
        .when(unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(absent)
}

/// NOT IN as NOT EXISTS over the rows whose value may be equal; `None` if the value cannot be computed in the subquery.
fn not_exists(of: &InSubquery, schema: &DFSchema) -> Result<Option<Expr>> {
    let InSubquery { expr, subquery, .. } = of;
    let is_subquery = |part: &Expr| {
        Ok(matches!(
            part,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)
        ))
    };
    if expr.is_volatile() || expr.exists(is_subquery)? {
        return Ok(None);
    }
    let mut outer = subquery.outer_ref_columns.clone();
    let value = expr.as_ref().clone().transform_up(|part| match part {
        Expr::Column(column) => {
            let field = schema.field_from_column(&column)?;
            let reference = Expr::OuterReferenceColumn(Arc::clone(field), column);
            if !outer.contains(&reference) {
                outer.push(reference.clone());
            }
            Ok(Transformed::yes(reference))
        }
        other => Ok(Transformed::no(other)),
    });
    let is_equal = Expr::BinaryExpr(BinaryExpr {
        left: Box::new(value.data()?),
        op: Operator::Eq,
        right: Box::new(column_of(subquery)),
    });
    let may_be_equal = filtered(subquery, Expr::IsNotFalse(Box::new(is_equal)))?;
    Ok(Some(Expr::Exists(Exists {
        subquery: Subquery {
            outer_ref_columns: outer,
            ..may_be_equal
        },
        negated: true,
    })))
}

/// The column of an IN subquery.
fn column_of(subquery: &Subquery) -> Expr {
    Expr::Column(Column::from(subquery.subquery.schema().qualified_field(0)))
}

fn nullable(subquery: &Subquery) -> bool {
    subquery.subquery.schema().field(0).is_nullable()
}

/// The rows of a subquery whose column is NULL.
fn nulls_of(subquery: &Subquery) -> Result<Subquery> {
    filtered(subquery, column_of(subquery).is_null())
}

fn filtered(subquery: &Subquery, condition: Expr) -> Result<Subquery> {
    let filter = Filter::try_new(condition, Arc::clone(&subquery.subquery))?;
    Ok(Subquery {
        subquery: Arc::new(LogicalPlan::Filter(filter)),
        ..subquery.clone()
    })
}

/// Whether a subquery has rows; an uncorrelated one is counted once.
fn is_there(subquery: Subquery) -> Result<Expr> {
    if !subquery.outer_ref_columns.is_empty() {
        return Ok(Expr::Exists(Exists {
            subquery,
            negated: false,
        }));
    }
    let counted = Aggregate::try_new(Arc::clone(&subquery.subquery), Vec::new(), vec![count(lit(1_i64))])?;
    let number = Expr::Column(Column::from(counted.schema.qualified_field(0)));
    let is_there = Projection::try_new(
        vec![number.gt(lit(0_i64)).alias("is there")],
        Arc::new(LogicalPlan::Aggregate(counted)),
    )?;
    Ok(Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(LogicalPlan::Projection(is_there)),
        ..subquery
    }))
}
