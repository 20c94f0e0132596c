//! Comparisons of dates and times with numbers, which are refused.
//!
//! DataFusion takes a number for the days or the units since 1970, so that `day > 20240115` is true of no date. PostgreSQL, DuckDB and the
//! lanes of ADS SQL refuse it too.

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable as _};

use crate::Error;
use crate::comparisons::compared;

/// Refuses them.
#[derive(Debug)]
pub(crate) struct DatesWithNumbers;

impl FunctionRewrite for DatesWithNumbers {
    fn name(&self) -> &'static str {
        "dates_with_numbers"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let types: Vec<DataType> = compared(&mut expr)
            .into_iter()
            .filter_map(|side| side.get_type(schema).ok())
            .collect();
        let moment = types.iter().find(|of| is_moment(of));
        let number = types.iter().find(|of| of.is_numeric());
        match (moment, number) {
            (Some(moment), Some(number)) => Err(DataFusionError::External(Box::new(Error::Unsupported {
                what: format!("comparing a {moment} with a number ({number})"),
                hint: "write DATE '2024-01-15' or TIMESTAMP '2024-01-15 12:00:00', or compare EXTRACT(YEAR FROM …)"
                    .to_owned(),
            }))),
            _ => Ok(Transformed::no(expr)),
        }
    }
}

fn is_moment(of: &DataType) -> bool {
    matches!(
        of,
        DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..)
    )
}
