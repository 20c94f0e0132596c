//! Subqueries in places where DataFusion does not take them.
//!
//! DataFusion plans IN and EXISTS in conditions of WHERE and HAVING alone, scalar subqueries in conditions and columns, and no LIMIT where a
//! subquery depends on its outer row.
//!
//! | module | what |
//! |---|---|
//! | [`below`] | the arguments of aggregates, keys of sorts, windows and conditions of joins get the value of a subquery from a column below |
//! | [`limited`] | a LIMIT for each outer row |
//! | [`marks`] | IN and EXISTS among columns are the marks of joins |
//! | [`scalar`] | a value of the first row, and the error of several |

pub(crate) mod below;
pub(crate) mod limited;
pub(crate) mod marks;
pub(crate) mod scalar;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode as _;
use datafusion::logical_expr::Expr;

/// Whether IN or EXISTS over a subquery is part of an expression.
fn has_predicate(expr: &Expr) -> Result<bool> {
    expr.exists(|part| Ok(matches!(part, Expr::InSubquery(_) | Expr::Exists(_))))
}
