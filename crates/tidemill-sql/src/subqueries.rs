//! Subqueries in places where DataFusion does not support them.
//!
//! DataFusion supports IN and EXISTS only in conditions of WHERE and HAVING, scalar subqueries only in conditions and columns, and no LIMIT
//! in a correlated subquery.
//!
//! | module | what |
//! |---|---|
//! | [`below`] | for arguments of aggregates, sort keys, windows and join conditions, the subquery becomes a column of their input |
//! | [`correlated_names`] | columns of one name in conditions on the outer row are named apart |
//! | [`limited`] | a LIMIT per outer row |
//! | [`marks`] | IN and EXISTS in the SELECT list become marks of joins |
//! | [`three_valued`] | IN is NULL where the standard says so |
//! | [`scalar`] | the value of a single row, and the error for more than one |

pub(crate) mod below;
pub(crate) mod correlated_names;
pub(crate) mod limited;
pub(crate) mod marks;
pub(crate) mod scalar;
pub(crate) mod three_valued;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode as _;
use datafusion::logical_expr::Expr;

/// Whether an expression contains IN or EXISTS over a subquery.
fn has_predicate(expr: &Expr) -> Result<bool> {
    expr.exists(|part| Ok(matches!(part, Expr::InSubquery(_) | Expr::Exists(_))))
}
