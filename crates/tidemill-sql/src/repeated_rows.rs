//! `EXCEPT ALL` and `INTERSECT ALL`, which count duplicate rows.
//!
//! A row that occurs `m` times on one side and `n` times on the other results in `m - n` or `min(m, n)` rows (ISO/IEC 9075-2, 7.17).
//! DataFusion plans both as semi or anti joins, which only test whether the other side has the row. So equal rows are numbered on both
//! sides, and the numbers are compared too.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::common::{Column, NullEquality, Result};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;

use crate::row_numbers::with_row_number;

/// Numbers the rows of both sides.
#[derive(Debug)]
pub(crate) struct RepeatedRows;

impl AnalyzerRule for RepeatedRows {
    fn name(&self) -> &'static str {
        "repeated_rows"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Join(join) if counts(&join) => Ok(Transformed::yes(numbered(join)?)),
            node => Ok(Transformed::no(node)),
        })
        .data()
    }
}

/// Whether this is the join of such a statement: no other join treats NULL as equal to NULL, and without ALL its left rows are distinct.
fn counts(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && join.on.len() == join.left.schema().fields().len()
        && !matches!(*join.left, LogicalPlan::Distinct(_))
}

fn numbered(mut join: Join) -> Result<LogicalPlan> {
    let columns = join.left.schema().columns();
    // Names that no statement uses.
    let names = ["number on the left", "number on the right"];
    let [left, right] = names.map(Column::new_unqualified);
    join.on.push((Expr::Column(left), Expr::Column(right)));
    let joined = Join::try_new(
        Arc::new(with_number(join.left, names[0])?),
        Arc::new(with_number(join.right, names[1])?),
        join.on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(joined))
        .project(columns.into_iter().map(Expr::Column))?
        .build()
}

/// Adds the number of each row among equal ones.
fn with_number(rows: Arc<LogicalPlan>, name: &str) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
    let (rows, number) = with_row_number(LogicalPlanBuilder::from(rows), columns.clone(), Vec::new())?;
    rows.project(columns.into_iter().chain([number.alias(name)]))?.build()
}
