//! `a IN (SELECT b …)` within a condition, where it may be neither true nor false.
//!
//! It is unknown where `a` is NULL and there are rows, or where a `b` is NULL and none is `a` (ISO/IEC 9075-2, 8.4 and 8.9). The planner knows
//! that of a NOT IN that is a condition by itself. Within others it takes what is unknown for false, which matters wherever the
//! condition is not only asked whether it is true: behind NOT, in CASE, before IS NULL.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Query, Select, SelectItem, SetExpr, UnaryOperator};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;

use super::{counted, for_each_conjunct, is_ungrouped, names_one_of};

/// Gives the conditions of a SELECT the form in which the planner knows what is unknown. `outer` are the names of its tables.
pub(super) fn put(select: &mut Select, outer: &[String]) {
    for condition in [&mut select.selection, &mut select.having].into_iter().flatten() {
        for_each_conjunct(condition, &mut |part| {
            if let Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } = part
                && let Some(negated) = not(expr)
            {
                *part = negated;
            }
            // Alone it is known as it is.
            if !matches!(part, Expr::InSubquery { .. }) {
                within(part, outer);
            }
        });
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

/// Of a condition that is only asked whether it is true.
fn within(expr: &mut Expr, outer: &[String]) {
    match expr {
        Expr::Nested(inner) => within(inner, outer),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And | BinaryOperator::Or,
            right,
        } => {
            within(left, outer);
            within(right, outer);
        }
        // False, or unknown: no difference.
        Expr::InSubquery { negated: false, .. } => {}
        other => {
            let _: ControlFlow<()> = walk::expressions_mut(other, &mut |part| {
                if let Some(known) = three_valued(part, outer) {
                    *part = known;
                }
                ControlFlow::Continue(())
            });
        }
    }
}

/// IN as true, false or NULL; `None` for other expressions.
fn three_valued(expr: &Expr, outer: &[String]) -> Option<Expr> {
    let Expr::InSubquery {
        expr: value,
        subquery,
        negated,
    } = expr
    else {
        return None;
    };
    let (has_rows, has_nulls) = (counted(subquery, false), counted(&nulls_of(subquery, outer)?, false));
    let (yes, no) = if *negated { ("FALSE", "TRUE") } else { ("TRUE", "FALSE") };
    let text = format!(
        "CASE WHEN {value} IN ({subquery}) THEN {yes} WHEN ({value} IS NULL AND {has_rows}) OR {has_nulls} THEN NULL ELSE {no} END"
    );
    parser(&text)?.parse_expr().ok()
}

/// The rows of a query of one column in which it is NULL.
fn nulls_of(query: &Query, outer: &[String]) -> Option<Query> {
    if let SetExpr::Select(select) = &*query.body
        && let [SelectItem::UnnamedExpr(column) | SelectItem::ExprWithAlias { expr: column, .. }] =
            select.projection.as_slice()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.with.is_none()
        && is_ungrouped(select)
    {
        let is_null = Expr::IsNull(Box::new(Expr::Nested(Box::new(column.clone()))));
        let mut select = select.clone();
        select.selection = Some(match select.selection.take() {
            None => is_null,
            Some(condition) => Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(condition))),
                op: BinaryOperator::And,
                right: Box::new(is_null),
            },
        });
        return Some(Query {
            body: Box::new(SetExpr::Select(select)),
            ..query.clone()
        });
    }
    // A table in FROM knows nothing of those around it.
    if names_one_of(query, outer) {
        return None;
    }
    let text = format!("SELECT 1 FROM ({query}) AS \"values\" (\"value\") WHERE \"value\" IS NULL");
    parser(&text)?.parse_query().ok().map(|query| *query)
}

fn parser(text: &str) -> Option<Parser<'static>> {
    Parser::new(&GenericDialect {}).try_with_sql(text).ok()
}
