//! `a IN (SELECT b …)` within a condition, where it may be neither true nor false.
//!
//! It is unknown where `a` is NULL and there are rows, or where a `b` is NULL and none is `a` (ISO/IEC 9075-2, 8.4 and 8.9). The planner knows
//! that of a NOT IN that is a condition by itself. Within others it takes what is unknown for false, which matters wherever the
//! condition is not only asked whether it is true: behind NOT, in CASE, before IS NULL, as a column.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinConstraint, OrderByKind, Query, Select, SetExpr, UnaryOperator,
};
use tidemill_ads::sql::{join_constraint_mut, walk};

use super::{
    aliases, check_length, is_there, names_one_of, outside_queries, parser, plain_column, try_for_each_conjunct,
    where_also,
};
use crate::Result;

/// Gives the conditions and columns of a SELECT the form in which the planner knows what is unknown. `outer` are the names of its tables.
///
/// # Errors
///
/// [`Error::Unsupported`](crate::Error::Unsupported) for subqueries that are too long within each other.
pub(super) fn put(select: &mut Select, outer: &[String]) -> Result<()> {
    for condition in [&mut select.selection, &mut select.having].into_iter().flatten() {
        try_for_each_conjunct(condition, &mut |part| {
            if let Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } = part
                && let Some(negated) = not(expr)
            {
                *part = negated;
            }
            match part {
                // Alone it is known as it is.
                Expr::InSubquery { .. } => Ok(()),
                part => within(part, outer),
            }
        })?;
    }
    for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
        if let Some(JoinConstraint::On(on)) = join_constraint_mut(&mut join.join_operator) {
            try_for_each_conjunct(on, &mut |part| within(part, outer))?;
        }
    }
    for item in &mut select.projection {
        everywhere(item, outer)?;
    }
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        keys.iter_mut().try_for_each(|key| everywhere(key, outer))?;
    }
    Ok(())
}

/// As [`put`], for the keys by which a SELECT is sorted.
///
/// # Errors
///
/// As [`put`].
pub(super) fn put_into_order(query: &mut Query) -> Result<()> {
    let (SetExpr::Select(select), Some(order)) = (&*query.body, &mut query.order_by) else {
        return Ok(());
    };
    let outer = aliases(&select.from);
    match &mut order.kind {
        OrderByKind::Expressions(keys) => keys.iter_mut().try_for_each(|key| everywhere(&mut key.expr, &outer)),
        OrderByKind::All(_) => Ok(()),
    }
}

/// Gives each IN of an expression whose value counts three values. Those of the queries within have theirs already.
fn everywhere(tree: &mut impl walk::Tree, outer: &[String]) -> Result<()> {
    outside_queries(tree, &mut |expr| {
        if let Expr::InSubquery { subquery, .. } = expr {
            check_length(subquery)?;
            if let Some(known) = three_valued(expr, outer) {
                *expr = known;
            }
        }
        Ok(())
    })
}

/// Of a condition that is only asked whether it is true.
fn within(expr: &mut Expr, outer: &[String]) -> Result<()> {
    match expr {
        Expr::Nested(inner) => within(inner, outer),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And | BinaryOperator::Or,
            right,
        } => {
            within(left, outer)?;
            within(right, outer)
        }
        // False, or unknown: no difference.
        Expr::InSubquery { negated: false, .. } => Ok(()),
        other => everywhere(other, outer),
    }
}

/// The negation of a condition that is nothing but IN.
fn not(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Nested(inner) => not(inner),
        Expr::InSubquery {
            expr,
            subquery,
            negated,
        } => Some(Expr::InSubquery {
            expr: expr.clone(),
            subquery: subquery.clone(),
            negated: !negated,
        }),
        _ => None,
    }
}

/// IN as true, false or NULL; `None` where that is not known.
fn three_valued(expr: &Expr, outer: &[String]) -> Option<Expr> {
    let Expr::InSubquery {
        expr: value,
        subquery,
        negated,
    } = expr
    else {
        return None;
    };
    let has_rows = is_there(subquery, outer, false);
    let has_nulls = is_there(&nulls_of(subquery, outer)?, outer, false);
    let (yes, no) = if *negated { ("FALSE", "TRUE") } else { ("TRUE", "FALSE") };
    let text = format!(
        "CASE WHEN {value} IN ({subquery}) THEN {yes} WHEN (({value}) IS NULL AND {has_rows}) OR {has_nulls} THEN NULL ELSE {no} END"
    );
    parser(&text)?.parse_expr().ok()
}

/// The rows of a query of one column in which it is NULL.
fn nulls_of(query: &Query, outer: &[String]) -> Option<Query> {
    if let Some(column) = plain_column(query) {
        let column = Expr::Nested(Box::new(column.clone()));
        return Some(where_also(query, Expr::IsNull(Box::new(column))));
    }
    // A table in FROM knows nothing of those around it.
    if names_one_of(query, outer) {
        return None;
    }
    let text = format!("SELECT 1 FROM ({query}) AS \"values\" (\"value\") WHERE \"value\" IS NULL");
    parser(&text)?.parse_query().ok().map(|query| *query)
}
