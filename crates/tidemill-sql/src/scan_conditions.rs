//! Simplification of filters that were pushed into a scan.
//!
//! DataFusion asks a table once which filters it supports, and removes those from the plan above the scan. The next optimizer pass simplifies the
//! filters in the scan: `i IN (3, i)` becomes `i = 3 OR i IS NOT NULL OR NULL`. If the table does not support the new form, nothing would
//! evaluate it. So a filter keeps its form unless the table supports the simplified one in the same way.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// DataFusion's rule, which changes the filters of a scan only if the table supports the result as it supported them.
#[derive(Debug)]
pub(crate) struct SimplifySupported(pub(crate) SimplifyExpressions);

impl OptimizerRule for SimplifySupported {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::TableScan(scan) = plan else {
            return self.0.rewrite(plan, config);
        };
        if scan.filters.is_empty() {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        }
        let pushed = scan.clone();
        let simplified = self.0.rewrite(LogicalPlan::TableScan(scan), config)?;
        Ok(match &simplified.data {
            LogicalPlan::TableScan(scan) if are_supported_alike(&pushed, scan)? => simplified,
            _ => Transformed::no(LogicalPlan::TableScan(pushed)),
        })
    }
}

fn are_supported_alike(one: &TableScan, other: &TableScan) -> Result<bool> {
    let supported = |scan: &TableScan| {
        let filters: Vec<&Expr> = scan.filters.iter().collect();
        scan.source.supports_filters_pushdown(&filters)
    };
    Ok(supported(one)? == supported(other)?)
}
