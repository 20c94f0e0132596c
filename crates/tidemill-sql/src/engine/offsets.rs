//! Pushes `OFFSET` into a scan that can start at a row number: earlier rows are not read.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::GlobalLimitExec;

use super::{Engine, EngineScan};

/// Moves the offset of a limit into the scan below it.
#[derive(Debug)]
pub(crate) struct Offsets;

impl PhysicalOptimizerRule for Offsets {
    fn name(&self) -> &'static str {
        "Offsets"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let moved = plan.transform_up(|plan| {
            Ok(match plan.downcast_ref::<GlobalLimitExec>().and_then(without_offset) {
                Some(limit) => Transformed::yes(limit),
                None => Transformed::no(plan),
            })
        });
        moved.data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn without_offset(limit: &GlobalLimitExec) -> Option<Arc<dyn ExecutionPlan>> {
    let source = limit.input().downcast_ref::<DataSourceExec>()?;
    let scan = source.data_source().downcast_ref::<EngineScan<Box<dyn Engine>>>()?;
    let scan = scan.beginning_at(limit.skip()).filter(|_| limit.skip() > 0)?;
    let scan = DataSourceExec::from_data_source(scan);
    Some(Arc::new(GlobalLimitExec::new(scan, 0, limit.fetch())))
}
