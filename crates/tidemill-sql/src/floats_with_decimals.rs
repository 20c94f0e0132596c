//! Comparisons of decimals with floating-point numbers.
//!
//! DataFusion converts the floating-point number to a decimal of 15 places: 1234567.89 becomes 1234567.889999999795200, which equals no
//! other decimal. Here a literal becomes the decimal that was written; otherwise the decimal becomes a floating-point number, as in
//! PostgreSQL and DuckDB.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::common::{DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable as _, Join, LogicalPlan, LogicalPlanBuilder, Union};
use datafusion::optimizer::AnalyzerRule;

use crate::comparisons::compared;

/// Unifies the types of compared values.
#[derive(Debug)]
pub(crate) struct FloatsWithDecimals;

impl FunctionRewrite for FloatsWithDecimals {
    fn name(&self) -> &'static str {
        "floats_with_decimals"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_changed = match &mut expr {
            Expr::InSubquery(InSubquery { expr, subquery, .. }) => {
                let given = subquery.subquery.schema().fields().first();
                let is_float = given.is_some_and(|field| is_float(field.data_type()));
                let is_changed = is_float && type_of(expr, schema).is_some_and(|of| is_decimal(&of));
                if is_changed {
                    to_float(expr);
                }
                is_changed
            }
            expr => fit(&mut compared(expr), schema),
        };
        Ok(Transformed::new_transformed(expr, is_changed))
    }
}

/// As [`FloatsWithDecimals`], outside of expressions: columns of `USING`, `EXCEPT`, `INTERSECT` and `UNION`.
#[derive(Debug)]
pub(crate) struct ColumnsWithDecimals;

impl AnalyzerRule for ColumnsWithDecimals {
    fn name(&self) -> &'static str {
        "columns_with_decimals"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Join(join) => Ok(of_join(join)),
            LogicalPlan::Union(union) => of_union(union),
            other => Ok(Transformed::no(other)),
        })
        .data()
    }
}

fn of_join(mut join: Join) -> Transformed<LogicalPlan> {
    let mut is_changed = false;
    for (left, right) in &mut join.on {
        let types = type_of(left, join.left.schema()).zip(type_of(right, join.right.schema()));
        let Some((of_left, of_right)) = types else { continue };
        if is_decimal(&of_left) && is_float(&of_right) {
            to_float(left);
            is_changed = true;
        } else if is_float(&of_left) && is_decimal(&of_right) {
            to_float(right);
            is_changed = true;
        }
    }
    Transformed::new_transformed(LogicalPlan::Join(join), is_changed)
}

fn of_union(union: Union) -> Result<Transformed<LogicalPlan>> {
    let columns = union.schema.fields().len();
    let mixed: Vec<bool> = (0..columns)
        .map(|column| {
            let types = |fits: fn(&DataType) -> bool| {
                let mut inputs = union.inputs.iter();
                inputs.any(|input| {
                    let field = input.schema().fields().get(column);
                    field.is_some_and(|field| fits(field.data_type()))
                })
            };
            types(is_decimal) && types(is_float)
        })
        .collect();
    if !mixed.contains(&true) {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let mut inputs = Vec::with_capacity(union.inputs.len());
    for input in union.inputs {
        let columns = input.schema().columns();
        let columns = columns.into_iter().zip(input.schema().fields()).zip(&mixed);
        let columns = columns.map(|((column, field), is_mixed)| {
            let (relation, name) = (column.relation.clone(), column.name.clone());
            let mut expr = Expr::Column(column);
            if *is_mixed && is_decimal(field.data_type()) {
                to_float(&mut expr);
                expr = expr.alias_qualified(relation, name);
            }
            expr
        });
        let columns: Vec<Expr> = columns.collect();
        inputs.push(Arc::new(
            LogicalPlanBuilder::from(Arc::clone(&input)).project(columns)?.build()?,
        ));
    }
    let union = Union::try_new_with_loose_types(inputs)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}

/// Unifies the types of compared values, if some are decimals and some floating-point numbers. Returns whether it did.
fn fit(values: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Option<Vec<DataType>> = values.iter().map(|value| type_of(value, schema)).collect();
    let Some(types) = types else { return false };
    if !types.iter().any(is_decimal) || !types.iter().any(is_float) {
        return false;
    }
    let floats = || (0..types.len()).filter(|at| types.get(*at).is_some_and(is_float));
    let written: Option<Vec<(usize, ScalarValue)>> =
        floats().map(|at| Some((at, as_written(values.get(at)?)?))).collect();
    if let Some(written) = written {
        for (at, value) in written {
            if let Some(place) = values.get_mut(at) {
                **place = Expr::Literal(value, None);
            }
        }
        return true;
    }
    for (value, of) in values.iter_mut().zip(&types) {
        if is_decimal(of) {
            to_float(value);
        }
    }
    true
}

fn type_of(expr: &Expr, schema: &dyn ExprSchema) -> Option<DataType> {
    expr.get_type(schema).ok()
}

pub(crate) fn is_decimal(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..)
    )
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

fn to_float(expr: &mut Expr) {
    let inner = std::mem::take(expr);
    *expr = Expr::Cast(Cast::new(Box::new(inner), DataType::Float64));
}

/// The decimal that a literal was written as; `None` for other expressions, and if no decimal can represent it.
pub(crate) fn as_written(expr: &Expr) -> Option<ScalarValue> {
    let text = match expr {
        Expr::Literal(ScalarValue::Float64(Some(value)), _) => value.to_string(),
        Expr::Literal(ScalarValue::Float32(Some(value)), _) => value.to_string(),
        _ => return None,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = whole.trim_start_matches('-').len() + fraction.len();
    let (precision, scale) = (u8::try_from(digits).ok()?, i8::try_from(fraction.len()).ok()?);
    if precision > arrow_schema::DECIMAL128_MAX_PRECISION {
        return None;
    }
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some(ScalarValue::Decimal128(Some(unscaled), precision, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_what_was_written() {
        for (value, expected) in [
            (0.07, Some((7, 3, 2))),
            (1_234_567.89, Some((123_456_789, 9, 2))),
            (-2.5, Some((-25, 2, 1))),
            (1e20, Some((100_000_000_000_000_000_000, 21, 0))),
            (1e-20, Some((1, 21, 20))),
            (1e300, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            let literal = Expr::Literal(ScalarValue::Float64(Some(value)), None);
            let expected =
                expected.map(|(unscaled, precision, scale)| ScalarValue::Decimal128(Some(unscaled), precision, scale));
            assert_eq!(as_written(&literal), expected, "{value}");
        }
    }
}
