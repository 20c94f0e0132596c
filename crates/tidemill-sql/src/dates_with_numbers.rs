//! Refuses comparisons of dates and times with numbers.
//!
//! DataFusion converts a number to days or other units since 1970, so that `day > 20240115` is true for no date, and a UNION turns numbers
//! into dates. PostgreSQL, DuckDB and the lanes of ADS SQL refuse it too.

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::expr::{InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

use crate::Error;
use crate::comparisons::compared;

/// Refuses such comparisons in expressions.
#[derive(Debug)]
pub(crate) struct DatesWithNumbers;

impl FunctionRewrite for DatesWithNumbers {
    fn name(&self) -> &'static str {
        "dates_with_numbers"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let of = |expr: &Expr| expr.get_type(schema).ok();
        let types: Vec<DataType> = match &mut expr {
            Expr::InSubquery(InSubquery { expr, subquery, .. })
            | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
                let given = subquery.subquery.schema().fields().first();
                let given = given.map(|field| field.data_type().clone());
                of(expr).into_iter().chain(given).collect()
            }
            Expr::Case(case) => match &case.expr {
                Some(operand) => {
                    let tests = case.when_then_expr.iter().filter_map(|(when, _)| of(when));
                    of(operand).into_iter().chain(tests).collect()
                }
                None => Vec::new(),
            },
            other => compared(other).into_iter().filter_map(|side| of(side)).collect(),
        };
        check(&types).map(|()| Transformed::no(expr))
    }
}

/// Refuses them outside of expressions: columns of USING, EXCEPT, INTERSECT and UNION.
#[derive(Debug)]
pub(crate) struct ColumnsOfDatesAndNumbers;

impl AnalyzerRule for ColumnsOfDatesAndNumbers {
    fn name(&self) -> &'static str {
        "columns_of_dates_and_numbers"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.apply_with_subqueries(|node| {
            match node {
                LogicalPlan::Join(join) => {
                    for (left, right) in &join.on {
                        let (left, right) = (left.get_type(join.left.schema()), right.get_type(join.right.schema()));
                        check(&[left.ok(), right.ok()].into_iter().flatten().collect::<Vec<_>>())?;
                    }
                }
                LogicalPlan::Union(union) => {
                    for column in 0..union.schema.fields().len() {
                        let inputs = union.inputs.iter();
                        let fields = inputs.filter_map(|input| input.schema().fields().get(column).cloned());
                        check(&fields.map(|field| field.data_type().clone()).collect::<Vec<_>>())?;
                    }
                }
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(plan)
    }
}

/// # Errors
///
/// [`Error::Unsupported`] if some of these types are dates or times, and others are numbers.
fn check(types: &[DataType]) -> Result<()> {
    let moment = types.iter().find(|of| is_moment(of));
    let number = types.iter().find(|of| of.is_numeric());
    match (moment, number) {
        (Some(moment), Some(number)) => Err(DataFusionError::External(Box::new(Error::Unsupported {
            what: format!("a {moment} beside a number ({number})"),
            hint: "write DATE '2024-01-15' or TIMESTAMP '2024-01-15 12:00:00', or compare EXTRACT(YEAR FROM …)"
                .to_owned(),
        }))),
        _ => Ok(()),
    }
}

fn is_moment(of: &DataType) -> bool {
    matches!(
        of,
        DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..)
    )
}
