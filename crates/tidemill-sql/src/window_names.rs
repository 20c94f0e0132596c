//! Names of windows.
//!
//! Rules that change an expression keep its name by an alias, and several of them leave an alias of an alias. The planner panics on such a window.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Leaves one alias for each window.
#[derive(Debug)]
pub(crate) struct OneNamePerWindow;

impl OptimizerRule for OneNamePerWindow {
    fn name(&self) -> &'static str {
        "one_name_per_window"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Window(mut window) = plan else {
            return Ok(Transformed::no(plan));
        };
        let mut is_changed = false;
        for expr in &mut window.window_expr {
            while let Expr::Alias(Alias { expr: inner, .. }) = expr
                && let Expr::Alias(Alias { expr: innermost, .. }) = &mut **inner
            {
                let innermost = std::mem::replace(innermost, Box::new(Expr::default()));
                *inner = innermost;
                is_changed = true;
            }
        }
        Ok(Transformed::new_transformed(LogicalPlan::Window(window), is_changed))
    }
}
