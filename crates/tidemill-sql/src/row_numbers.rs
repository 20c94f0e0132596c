//! Row numbers within a plan.

use datafusion::common::{Column, Result};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, ExprFunctionExt as _, LogicalPlanBuilder, SortExpr, WindowFunctionDefinition};

/// Adds a column with the number of each row, from 1, among those with equal keys, in the given order, or in any order if that is empty.
/// Returns that column too.
pub(crate) fn with_row_number(
    rows: LogicalPlanBuilder,
    keys: Vec<Expr>,
    order: Vec<SortExpr>,
) -> Result<(LogicalPlanBuilder, Expr)> {
    let function = WindowFunctionDefinition::WindowUDF(row_number_udwf());
    let number = Expr::from(WindowFunction::new(function, Vec::new())).partition_by(keys);
    let number = match order.is_empty() {
        true => number.build()?,
        false => number.order_by(order).build()?,
    };
    let column = Expr::Column(Column::new_unqualified(number.schema_name().to_string()));
    Ok((rows.window([number])?, column))
}
