//! Numbers stored as text because no Arrow type holds all of them: PostgreSQL's `numeric` without a scale, Cassandra's `decimal` and
//! `varint`.
//!
//! Such a column has each number's digits as the server sent them. Statements still treat it as numbers: it is compared, sorted and
//! aggregated by MIN and MAX through a [`key`] whose bytes have the order of the numbers, and summed digit by digit ([`sum`]). Intervals
//! have a similar problem: Arrow compares their months, days and nanoseconds one after the other. They are compared as in PostgreSQL, with
//! months of 30 days and days of 24 hours.
//!
//! GROUP BY, DISTINCT and set operations compare the text: 1.0 and 1.00 are two groups.

pub(crate) mod key;
pub(crate) mod sum;

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, IntervalUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue, not_impl_err};
use datafusion::functions::encoding::expr_fn::encode;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, InSubquery, ScalarFunction, Sort, WindowFunction};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    Cast, Expr, ExprSchemable as _, LogicalPlan, LogicalPlanBuilder, ScalarUDF, Subquery, lit,
};
use datafusion::optimizer::AnalyzerRule;

use crate::comparisons;

/// The functions used in plans, which a worker finds by their names.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [key::numeric_key(), key::interval_key()]
}

/// Whether a text column holds numbers, by the metadata of tidemill-postgres and tidemill-cql. A file copied from such a table has it too.
pub(crate) fn is_numeric(field: &Field) -> bool {
    let metadata = field.metadata();
    let is_called = |key: &str, names: &[&str]| {
        let name = metadata.get(key).map(|name| name.split('(').next().unwrap_or_default());
        name.is_some_and(|name| names.contains(&name))
    };
    field.data_type().is_string()
        && (is_called("postgres.type", &["numeric"]) || is_called("cql.type", &["decimal", "varint"]))
}

/// The column and the number, as text, that a condition compares by key.
#[cfg(feature = "postgres")]
pub(crate) fn compared<'a>(value: &'a Expr, with: &ScalarValue) -> Option<(&'a Column, String)> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = value else {
        return None;
    };
    match (args.as_slice(), with) {
        ([Expr::Column(column)], ScalarValue::Binary(Some(bytes))) if func.name() == key::NUMERIC_KEY => {
            Some((column, key::number(bytes)?))
        }
        _ => None,
    }
}

/// Compares such numbers, and intervals, by their keys.
#[derive(Debug)]
pub(crate) struct ByKeys;

impl FunctionRewrite for ByKeys {
    fn name(&self) -> &'static str {
        "numeric_text_by_keys"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_changed = match &mut expr {
            Expr::InSubquery(InSubquery { expr, subquery, .. }) => put_keys_of_subquery(expr, subquery, schema)?,
            Expr::AggregateFunction(function) => {
                let is_sorted = sort_by_keys(&mut function.params.order_by, schema);
                least_or_greatest(function, schema) || is_sorted
            }
            Expr::WindowFunction(function) => {
                let WindowFunction { fun, params } = function.as_mut();
                refuse_least_or_greatest(fun.name(), &params.args, schema)?;
                let is_changed = sort_by_keys(&mut params.order_by, schema);
                params.order_by.iter_mut().for_each(as_text);
                is_changed
            }
            expr => put_keys(&mut comparisons::compared(expr), schema),
        };
        Ok(Transformed::new_transformed(expr, is_changed))
    }
}

/// As [`ByKeys`], outside of expressions: sort keys, and columns of `USING`.
#[derive(Debug)]
pub(crate) struct SortedByKeys;

impl AnalyzerRule for SortedByKeys {
    fn name(&self) -> &'static str {
        "numeric_text_sorted_by_keys"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|mut node| {
            let is_changed = match &mut node {
                LogicalPlan::Sort(sort) => sort_by_keys(&mut sort.expr, sort.input.schema().as_ref()),
                LogicalPlan::Join(join) => {
                    let mut schema = DFSchema::clone(join.left.schema());
                    schema.merge(join.right.schema());
                    let mut is_changed = false;
                    for (left, right) in &mut join.on {
                        is_changed |= put_keys(&mut [left, right], &schema);
                    }
                    is_changed
                }
                _ => false,
            };
            Ok(Transformed::new_transformed(node, is_changed))
        })
        .data()
    }
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Numeric,
    Interval,
}

impl Kind {
    fn of(field: &Field) -> Option<Self> {
        match field.data_type() {
            DataType::Interval(_) => Some(Self::Interval),
            _ if is_numeric(field) => Some(Self::Numeric),
            _ => None,
        }
    }

    /// The key of a value; `None` for a value that cannot be compared with values of this kind.
    fn key(self, value: &Expr, field: &Field) -> Option<Expr> {
        let data_type = field.data_type();
        let (function, wanted) = match self {
            Self::Numeric => {
                if let Expr::Literal(value, _) = value
                    && let Some(Some(text)) = value.try_as_str()
                {
                    return Some(Expr::Literal(ScalarValue::Binary(Some(key::numeric(text)?)), None));
                }
                if !is_numeric(field) && !data_type.is_numeric() && !data_type.is_null() {
                    return None;
                }
                (key::numeric_key(), DataType::Utf8)
            }
            Self::Interval => {
                let is_literal = matches!(value, Expr::Literal(value, _) if value.data_type().is_string());
                if !is_literal && !matches!(data_type, DataType::Interval(_) | DataType::Null) {
                    return None;
                }
                (key::interval_key(), DataType::Interval(IntervalUnit::MonthDayNano))
            }
        };
        let value = match *data_type == wanted {
            true => value.clone(),
            false => Expr::Cast(Cast::new(Box::new(value.clone()), wanted)),
        };
        Some(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![value])))
    }
}

/// Replaces compared values by their keys, if one of them has a key. Returns whether it did.
fn put_keys(values: &mut [&mut Expr], schema: &dyn ExprSchema) -> bool {
    let fields: Option<Vec<FieldRef>> = values.iter().map(|value| field_of(value, schema)).collect();
    let Some(fields) = fields else { return false };
    let Some(kind) = fields.iter().find_map(|field| Kind::of(field)) else {
        return false;
    };
    let keys = values.iter().zip(&fields).map(|(value, field)| kind.key(value, field));
    let Some(keys) = keys.collect::<Option<Vec<Expr>>>() else {
        return false;
    };
    for (value, key) in values.iter_mut().zip(keys) {
        **value = key;
    }
    true
}

fn put_keys_of_subquery(expr: &mut Expr, subquery: &mut Subquery, schema: &dyn ExprSchema) -> Result<bool> {
    let given: Vec<_> = subquery.subquery.schema().iter().collect();
    let (Some(field), [(qualifier, column)]) = (field_of(expr, schema), given.as_slice()) else {
        return Ok(false);
    };
    let Some(kind) = Kind::of(&field).or_else(|| Kind::of(column)) else {
        return Ok(false);
    };
    let value = Expr::Column(Column::new(qualifier.cloned(), column.name()));
    let (Some(key), Some(key_there)) = (kind.key(expr, &field), kind.key(&value, column)) else {
        return Ok(false);
    };
    let there = LogicalPlanBuilder::from(Arc::clone(&subquery.subquery)).project([key_there])?;
    *subquery = subquery.with_plan(Arc::new(there.build()?));
    *expr = key;
    Ok(true)
}

/// Replaces sort keys. Returns whether any was replaced.
fn sort_by_keys(sorted: &mut [Sort], schema: &dyn ExprSchema) -> bool {
    let mut is_changed = false;
    for sort in sorted {
        is_changed |= put_keys(&mut [&mut sort.expr], schema);
    }
    is_changed
}

/// Converts a binary key to text with the same order: window frames do not support ranges of bytes.
fn as_text(sorted: &mut Sort) {
    if matches!(&sorted.expr, Expr::ScalarFunction(function) if function.name() == key::NUMERIC_KEY) {
        let key = std::mem::take(&mut sorted.expr);
        sorted.expr = encode(key, lit("hex"));
    }
}

/// Replaces MIN and MAX by the first value in the order of the keys. Returns whether it did.
fn least_or_greatest(function: &mut AggregateFunction, schema: &dyn ExprSchema) -> bool {
    let is_least = match function.func.name() {
        "min" => true,
        "max" => false,
        _ => return false,
    };
    let [value] = function.params.args.as_slice() else {
        return false;
    };
    let mut key = value.clone();
    if !put_keys(&mut [&mut key], schema) {
        return false;
    }
    function.func = first_value_udaf();
    function.params.distinct = false;
    // NULL comes last, so that it is returned only if all values are NULL.
    function.params.order_by = vec![Sort::new(key, is_least, false)];
    true
}

/// Refuses MIN and MAX as window functions: a window's first value would be another one.
fn refuse_least_or_greatest(function: &str, values: &[Expr], schema: &dyn ExprSchema) -> Result<()> {
    let has_key = |value: &Expr| field_of(value, schema).is_some_and(|field| Kind::of(&field).is_some());
    if matches!(function, "min" | "max") && values.iter().any(has_key) {
        return not_impl_err!(
            "{function} OVER of intervals and of numbers without a scale; CAST(… AS DECIMAL(38, 10)) has one"
        );
    }
    Ok(())
}

fn field_of(value: &Expr, schema: &dyn ExprSchema) -> Option<FieldRef> {
    Some(value.to_field(schema).ok()?.1)
}
