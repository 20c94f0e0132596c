//! `a IN (1, 2, b)`: lists that are not constant.
//!
//! DataFusion evaluates the list over an empty batch and treats it as constant if that succeeds, as it does for
//! `CASE WHEN c THEN 1 ELSE b END`. Rows that equal `b` are then lost. So only literals stay in the list; other values become comparisons.
//!
//! It also computes `a IN (1, 2) AND a IN (3)` in advance, as false. For NULL the result is NULL.

use std::collections::HashSet;

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};
use tidemill_ads::sql::joined_in_pairs;

/// Moves values that are not constant out of lists.
#[derive(Debug)]
pub(crate) struct ListsOfLiterals;

impl FunctionRewrite for ListsOfLiterals {
    fn name(&self) -> &'static str {
        "lists_of_literals"
    }

    fn rewrite(&self, expr: Expr, _: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let InList { expr, list, negated } = match expr {
            Expr::BinaryExpr(of) => return Ok(decided(of)),
            Expr::InList(of) if of.list.iter().any(|value| !is_constant(value)) && !of.expr.is_volatile() => of,
            other => return Ok(Transformed::no(other)),
        };
        let (literals, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(is_constant);
        let (op, join): (_, fn(Expr, Expr) -> Expr) = match negated {
            true => (Operator::NotEq, Expr::and),
            false => (Operator::Eq, Expr::or),
        };
        let compared = others.into_iter().map(|value| {
            let (left, right) = (expr.clone(), Box::new(value));
            Expr::BinaryExpr(BinaryExpr { left, op, right })
        });
        let mut parts: Vec<Expr> = compared.collect();
        if !literals.is_empty() {
            parts.insert(0, Expr::InList(InList::new(expr, literals, negated)));
        }
        Ok(match joined_in_pairs(parts, join) {
            Some(joined) => Transformed::yes(joined),
            None => return internal_err!("IN of an empty list"),
        })
    }
}

/// Two lists for one value that decide the result, unless the value is NULL.
fn decided(of: BinaryExpr) -> Transformed<Expr> {
    let (Expr::InList(left), Expr::InList(right)) = (&*of.left, &*of.right) else {
        return Transformed::no(Expr::BinaryExpr(of));
    };
    let mut literals = left.list.iter().chain(&right.list).map(type_of_literal);
    let first = literals.next().flatten();
    // Literals of other types may be equal, and a NULL among them is unknown.
    if left.expr != right.expr || first.is_none() || !literals.all(|other| other == first) {
        return Transformed::no(Expr::BinaryExpr(of));
    }
    let values = |list: &InList| list.list.iter().cloned().collect::<HashSet<Expr>>();
    let (of_left, of_right) = (values(left), values(right));
    let is_decided = match (of.op, left.negated, right.negated) {
        (Operator::And, false, false) | (Operator::Or, true, true) => of_left.is_disjoint(&of_right),
        (Operator::And, false, true) | (Operator::Or, true, false) => of_left.is_subset(&of_right),
        (Operator::And, true, false) | (Operator::Or, false, true) => of_right.is_subset(&of_left),
        _ => false,
    };
    if !is_decided {
        return Transformed::no(Expr::BinaryExpr(of));
    }
    let value = left.expr.as_ref().clone();
    let unknown = lit(ScalarValue::Boolean(None));
    Transformed::yes(match of.op {
        Operator::And => value.is_null().and(unknown),
        _ => value.is_not_null().or(unknown),
    })
}

fn type_of_literal(value: &Expr) -> Option<DataType> {
    match value {
        Expr::Literal(value, _) if !value.is_null() => Some(value.data_type()),
        _ => None,
    }
}

fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::Literal(..) | Expr::Placeholder(_) => true,
        Expr::Cast(cast) => is_constant(&cast.expr),
        Expr::Negative(inner) => is_constant(inner),
        _ => false,
    }
}
