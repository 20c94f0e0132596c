//! `SELECT 1 AS kind, … UNION ALL SELECT 2, … ORDER BY kind, day LIMIT 7`: a sort key that is constant in each part of a UNION.
//!
//! DataFusion sorts each part by `day` only, since `kind` is constant there. But the parts share one TopK threshold for `day`, which removes rows
//! with a smaller `kind`. So each part is sorted by the whole order.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

/// Adds [`TopRowsByWholeOrder`] before the rule that pushes TopK thresholds into scans.
pub(crate) fn place(rules: &mut Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>) {
    let filters = FilterPushdown::new_post_optimization();
    let place = rules.iter().position(|rule| rule.name() == filters.name());
    rules.insert(place.unwrap_or(rules.len()), Arc::new(TopRowsByWholeOrder));
}

/// Gives a TopK sort below a merge the order of the merge.
#[derive(Debug)]
struct TopRowsByWholeOrder;

impl PhysicalOptimizerRule for TopRowsByWholeOrder {
    fn name(&self) -> &'static str {
        "TopRowsByWholeOrder"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let sorted = plan.transform_up(|node| {
            let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else {
                return Ok(Transformed::no(node));
            };
            let Some(sort) = merge.input().downcast_ref::<SortExec>() else {
                return Ok(Transformed::no(node));
            };
            if sort.fetch().is_none() || !sort.preserve_partitioning() || sort.expr() == merge.expr() {
                return Ok(Transformed::no(node));
            }
            let sort = SortExec::new(merge.expr().clone(), Arc::clone(sort.input()))
                .with_preserve_partitioning(true)
                .with_fetch(sort.fetch());
            let merge = SortPreservingMergeExec::new(merge.expr().clone(), Arc::new(sort)).with_fetch(merge.fetch());
            Ok(Transformed::yes(Arc::new(merge) as _))
        });
        sorted.data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}
