//! Adjusts the conditions that prune parts of Parquet files.
//!
//! The minimum and maximum of a floating-point column in a file ignore NaN, which is greater than all numbers here: conditions that are
//! true for NaN must not prune.
//!
//! Long conditions become balanced trees. DataFusion joins the parts of a condition one by one, to a tree as deep as there are parts. For
//! each node, the Parquet reader computes the type of the whole subtree, which takes seconds for thousands of parts.

use std::sync::Arc;

use arrow_schema::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::physical_plan::{FileScanConfig, FileSource as _, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal, lit};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use tidemill_ads::sql::joined_in_pairs;

/// Changes the conditions of Parquet scans.
#[derive(Debug)]
pub(crate) struct ParquetConditions;

impl PhysicalOptimizerRule for ParquetConditions {
    fn name(&self) -> &'static str {
        "ParquetConditions"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let scan = plan.downcast_ref::<DataSourceExec>();
            let config = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
            Ok(match config.and_then(changed) {
                Some(config) => Transformed::yes(DataSourceExec::from_data_source(config) as _),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn changed(config: &FileScanConfig) -> Option<FileScanConfig> {
    let source = config.file_source.downcast_ref::<ParquetSource>()?;
    let predicate = &source.filter()?;
    let schema = source.table_schema().table_schema();
    let whole = without_floats(predicate, schema);
    let predicate = match (even(whole.as_ref().unwrap_or(predicate)), whole) {
        (None, None) => return None,
        (Some(even), _) => even,
        (None, Some(whole)) => whole,
    };
    let mut config = config.clone();
    config.file_source = Arc::new(source.with_predicate(predicate));
    Some(config)
}

/// A condition without the parts that may be true for NaN in a floating-point column; `None` if there are none.
fn without_floats(condition: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    let may_hold = |part: &Arc<dyn PhysicalExpr>| {
        let columns = collect_columns(part);
        let mut types = columns
            .iter()
            .filter_map(|column| schema.field_with_name(column.name()).ok());
        types.any(|field| field.data_type().is_floating()) && !is_false_of_nan(part)
    };
    if !may_hold(condition) {
        return None;
    }
    let kept = parts(condition, Operator::And)
        .into_iter()
        .filter(|part| !may_hold(part));
    let kept = joined_in_pairs(kept.collect(), |left, right| {
        Arc::new(BinaryExpr::new(left, Operator::And, right))
    });
    Some(kept.unwrap_or_else(|| lit(true)))
}

/// Whether a comparison of a column with a number is false for NaN, which is greater than all numbers: `f < 5`, `5 >= f`, `f = 5`.
fn is_false_of_nan(part: &Arc<dyn PhysicalExpr>) -> bool {
    let Some(compared) = part.downcast_ref::<BinaryExpr>() else {
        return false;
    };
    let is_number = |side: &Arc<dyn PhysicalExpr>| {
        side.downcast_ref::<Literal>()
            .is_some_and(|literal| match literal.value() {
                ScalarValue::Float64(Some(value)) => !value.is_nan(),
                ScalarValue::Float32(Some(value)) => !value.is_nan(),
                _ => false,
            })
    };
    let is_column = |side: &Arc<dyn PhysicalExpr>| side.downcast_ref::<Column>().is_some();
    match compared.op() {
        Operator::Eq | Operator::Lt | Operator::LtEq if is_column(compared.left()) => is_number(compared.right()),
        Operator::Eq | Operator::Gt | Operator::GtEq if is_column(compared.right()) => is_number(compared.left()),
        _ => false,
    }
}

/// A condition of many parts as a balanced tree; `None` for others.
fn even(condition: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn PhysicalExpr>> {
    /// With fewer parts, the shape of the tree does not matter.
    const MANY: usize = 32;
    let operator = *condition.downcast_ref::<BinaryExpr>()?.op();
    if !matches!(operator, Operator::And | Operator::Or) {
        return None;
    }
    let parts = parts(condition, operator);
    if parts.len() < MANY {
        return None;
    }
    let parts = parts.into_iter().map(|part| even(&part).unwrap_or(part));
    joined_in_pairs(parts.collect(), |left, right| {
        Arc::new(BinaryExpr::new(left, operator, right))
    })
}

/// The operands of a chain of one operator, in order.
fn parts(condition: &Arc<dyn PhysicalExpr>, operator: Operator) -> Vec<Arc<dyn PhysicalExpr>> {
    let (mut parts, mut open) = (Vec::new(), vec![condition]);
    while let Some(next) = open.pop() {
        match next.downcast_ref::<BinaryExpr>() {
            Some(joined) if *joined.op() == operator => open.extend([joined.right(), joined.left()]),
            _ => parts.push(Arc::clone(next)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use arrow_array::record_batch;
    use datafusion::physical_expr::expressions::col;

    use super::*;

    fn depth(condition: &Arc<dyn PhysicalExpr>) -> usize {
        1 + condition.children().into_iter().map(depth).max().unwrap_or(0)
    }

    #[test]
    fn a_long_condition_is_as_deep_as_its_length_has_digits_and_means_the_same() {
        let batch = record_batch!(("a", Int32, [Some(1), None, Some(700)])).expect("a batch");
        let column = col("a", &batch.schema()).expect("a column");
        let compared = |number: i32, operator| -> Arc<dyn PhysicalExpr> {
            Arc::new(BinaryExpr::new(Arc::clone(&column), operator, lit(number)))
        };
        for (join, compare) in [(Operator::And, Operator::NotEq), (Operator::Or, Operator::Eq)] {
            let long = (1..=1_000).map(|number| compared(number * 7, compare));
            let long = long.reduce(|left, right| Arc::new(BinaryExpr::new(left, join, right)) as _);
            let long = long.expect("parts");
            let evened = even(&long).expect("it is long");
            assert_eq!((depth(&long), depth(&evened)), (1_001, 12));
            let value = |condition: &Arc<dyn PhysicalExpr>| {
                let value = condition.evaluate(&batch).expect("evaluated");
                let mut shown = String::new();
                let _ = write!(shown, "{:?}", value.into_array(3).expect("an array"));
                shown
            };
            assert_eq!(value(&long), value(&evened));
            assert!(even(&compared(1, compare)).is_none());
        }
    }
}
