//! What is done with a logical plan before it is optimised, in this order.

use std::sync::Arc;

use datafusion::optimizer::{Analyzer, AnalyzerRule};

use crate::checked_arithmetic::WindowArguments;
use crate::floats_with_decimals::ColumnsWithDecimals;
use crate::numeric_text::SortedByKeys;
use crate::scalar_subqueries::ScalarSubqueries;

/// The engine's own rules, among those of this crate.
pub(crate) fn rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![
        Arc::new(SortedByKeys),
        Arc::new(ColumnsWithDecimals),
        // Behind the keys of sorts.
        Arc::new(ScalarSubqueries),
    ];
    rules.extend(Analyzer::new().rules);
    rules.push(Arc::new(WindowArguments));
    rules
}
