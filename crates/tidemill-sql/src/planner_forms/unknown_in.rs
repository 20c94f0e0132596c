//! `a IN (SELECT b …)` within a condition, where it may be neither true nor false.
//!
//! It is unknown where `a` is NULL and there are rows, or where a `b` is NULL and none is `a` (ISO/IEC 9075-2, 8.4 and 8.9). The planner knows
//! that of a NOT IN that is a condition by itself. Within others it takes what is unknown for false, which matters wherever the
//! condition is not only asked whether it is true: behind NOT, in CASE, before IS NULL, as a column.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinConstraint, OrderByKind, Query, Select, SetExpr, UnaryOperator, VisitorMut,
};
use tidemill_ads::sql::{join_constraint_mut, walk};

use super::{aliases, for_each_conjunct, is_there, names_one_of, parser, plain_column, where_also};
use crate::{Error, Result};

/// The longest text of a subquery that is written several times. Within others of its kind it grows by three times each.
const MOST_TEXT: usize = 64 << 10;

/// Gives the conditions of a SELECT the form in which the planner knows what is unknown. `outer` are the names of its tables.
///
/// # Errors
///
/// [`Error::Unsupported`] for subqueries that are too long within each other.
pub(super) fn put(select: &mut Select, outer: &[String]) -> Result<()> {
    let mut known = Known::new(outer);
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
                known.within(part);
            }
        });
    }
    for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
        if let Some(JoinConstraint::On(on)) = join_constraint_mut(&mut join.join_operator) {
            for_each_conjunct(on, &mut |part| known.within(part));
        }
    }
    for item in &mut select.projection {
        known.everywhere(item);
    }
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        keys.iter_mut().for_each(|key| known.everywhere(key));
    }
    known.done()
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
    let mut known = Known::new(&outer);
    if let OrderByKind::Expressions(keys) = &mut order.kind {
        keys.iter_mut().for_each(|key| known.everywhere(&mut key.expr));
    }
    known.done()
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

/// Gives each IN of a condition three values, but for those of the queries within, which have theirs already.
struct Known<'o> {
    outer: &'o [String],
    /// How many queries of the condition are around.
    depth: usize,
    is_too_long: bool,
}

impl<'o> Known<'o> {
    fn new(outer: &'o [String]) -> Self {
        Self {
            outer,
            depth: 0,
            is_too_long: false,
        }
    }

    fn done(self) -> Result<()> {
        match self.is_too_long {
            true => Err(Error::Unsupported {
                what: "IN (SELECT …) within others of its kind, whose text is too long,".to_owned(),
                hint: "put the inner subqueries into WITH".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Of an expression whose value counts.
    fn everywhere(&mut self, expr: &mut impl walk::Tree) {
        // It never breaks off.
        let _ = walk::change(expr, self);
    }

    /// Of a condition that is only asked whether it is true.
    fn within(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Nested(inner) => self.within(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And | BinaryOperator::Or,
                right,
            } => {
                self.within(left);
                self.within(right);
            }
            // False, or unknown: no difference.
            Expr::InSubquery { negated: false, .. } => {}
            other => self.everywhere(other),
        }
    }
}

impl VisitorMut for Known<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.depth == 0
            && let Expr::InSubquery { subquery, .. } = expr
        {
            match subquery.to_string().len() > MOST_TEXT {
                true => self.is_too_long = true,
                false => *expr = three_valued(expr, self.outer).unwrap_or_else(|| expr.clone()),
            }
        }
        ControlFlow::Continue(())
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
