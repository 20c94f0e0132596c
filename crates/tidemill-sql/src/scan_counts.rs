//! What the scans of a statement read, for `tidemill sql --stats`.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::physical_plan::{ExecutionPlan, displayable};

use crate::session::Session;
use crate::stores::server::scan::RECEIVED_BYTES;

/// What one scan read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanCount {
    /// The scan as in EXPLAIN: its store, its table, and the query sent to a server.
    pub scan: String,
    /// Returned rows.
    pub rows: u64,
    /// Bytes received from a server, or read from Parquet files; `None` if they are not counted.
    pub bytes: Option<u64>,
}

/// The plans of executed statements.
#[derive(Default)]
pub(crate) struct RunPlans(Mutex<Vec<Arc<dyn ExecutionPlan>>>);

impl RunPlans {
    pub(crate) fn add(&self, plan: &Arc<dyn ExecutionPlan>) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push(Arc::clone(plan));
    }
}

impl Session {
    /// What the scans of the statements so far read, in the order of their plans. Only for sessions that [count
    /// scans](crate::SessionOptions::counts_scans), and only for statements that the planner runs.
    pub fn scan_counts(&self) -> Vec<ScanCount> {
        let plans = self.run_plans.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = Vec::new();
        for plan in &*plans {
            // Visiting cannot fail.
            let _ = plan.apply(|node| {
                if node.children().is_empty()
                    && let Some(metrics) = node.metrics()
                {
                    let bytes = [RECEIVED_BYTES, "bytes_scanned"].map(|name| metrics.sum_by_name(name));
                    let bytes = bytes.into_iter().flatten().map(|bytes| bytes.as_usize() as u64).max();
                    let scan = displayable(node.as_ref()).one_line().to_string();
                    counts.push(ScanCount {
                        scan: scan.trim_start_matches("DataSourceExec: ").trim_end().to_owned(),
                        rows: metrics.output_rows().unwrap_or_default() as u64,
                        // 0 means that the store does not count bytes.
                        bytes: bytes.filter(|bytes| *bytes > 0),
                    });
                }
                Ok(TreeNodeRecursion::Continue)
            });
        }
        counts
    }
}
