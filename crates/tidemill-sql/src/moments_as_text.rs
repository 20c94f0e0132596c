//! Converts timestamps to text, as in `CAST(at AS VARCHAR)` and `'at ' || at`, with a blank between date and time, as ADS, PostgreSQL and
//! the SQL standard do. Arrow's cast writes a `T`.

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{DFSchema, Result};
use datafusion::functions::datetime::to_char;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable as _, LogicalPlan, TryCast, lit};
use datafusion::optimizer::AnalyzerRule;

/// Replaces such casts by `to_char`. Runs after DataFusion's type coercion.
#[derive(Debug)]
pub(crate) struct MomentsAsText;

impl AnalyzerRule for MomentsAsText {
    fn name(&self) -> &'static str {
        "moments_as_text"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| {
            let schema = merge_schema(&node.inputs());
            let names = NamePreserver::new(&node);
            node.map_expressions(|expr| {
                let name = names.save(&expr);
                let changed = expr.transform_up(|part| Ok(as_text(part, &schema)))?;
                Ok(match changed.transformed {
                    true => changed.update_data(|expr| name.restore(expr)),
                    false => changed,
                })
            })
        })
        .data()
    }
}

fn as_text(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let (of, to) = match &expr {
        Expr::Cast(Cast { expr: of, field }) | Expr::TryCast(TryCast { expr: of, field }) => (of, field.data_type()),
        _ => return Transformed::no(expr),
    };
    let format = match of.get_type(schema) {
        Ok(DataType::Timestamp(_, None)) => "%Y-%m-%d %H:%M:%S%.f",
        Ok(DataType::Timestamp(_, Some(_))) => "%Y-%m-%d %H:%M:%S%.f%:z",
        _ => return Transformed::no(expr),
    };
    if !to.is_string() {
        return Transformed::no(expr);
    }
    let text = ScalarFunction::new_udf(to_char(), vec![(**of).clone(), lit(format)]);
    let text = Expr::ScalarFunction(text);
    Transformed::yes(match to {
        DataType::Utf8 => text,
        to => Expr::Cast(Cast::new(Box::new(text), to.clone())),
    })
}
