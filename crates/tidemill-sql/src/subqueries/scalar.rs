//! Correlated scalar subqueries that are not an aggregate: `(SELECT name FROM customers c WHERE c.id = o.customer)`.
//!
//! DataFusion supports only aggregates, which it turns into a join with groups. So such a subquery returns its first value with the number
//! of its rows, and the value is extracted after the join. More than one row is an error only then: groups without an outer row may have
//! any number. With `ORDER BY … LIMIT 1`, the aggregate is `first_value`.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BooleanArray};
use arrow_schema::DataType;
use arrow_select::nullif::nullif;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::functions::core::expr_fn::r#struct;
use datafusion::functions_aggregate::first_last::first_value;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, ColumnarValue, Expr, FetchType, LogicalPlan, Projection, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, SkipType, SortExpr, Subquery, Volatility, lit,
};
use datafusion::optimizer::AnalyzerRule;

use super::three_valued::has_one_row;

/// Turns such subqueries into aggregates.
#[derive(Debug)]
pub(crate) struct ScalarSubqueries;

impl AnalyzerRule for ScalarSubqueries {
    fn name(&self) -> &'static str {
        "scalar_subqueries"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| {
            let names = NamePreserver::new(&node);
            let changed = node.map_expressions(|expr| {
                let name = names.save(&expr);
                let changed = expr.transform_up(|part| match part {
                    Expr::ScalarSubquery(subquery) if !subquery.outer_ref_columns.is_empty() => aggregated(subquery),
                    Expr::ScalarSubquery(subquery) => with_null(subquery),
                    part => Ok(Transformed::no(part)),
                })?;
                Ok(match changed.transformed {
                    true => changed.update_data(|expr| name.restore(expr)),
                    false => changed,
                })
            })?;
            match changed.transformed {
                true => changed.map_data(LogicalPlan::recompute_schema),
                false => Ok(changed),
            }
        })
        .data()
    }
}

/// A subquery that may have no row gives NULL then, whatever its column holds: `(SELECT 5 FROM orders WHERE FALSE) IS NULL`.
fn with_null(subquery: Subquery) -> Result<Transformed<Expr>> {
    let rows = &subquery.subquery;
    let (fields, columns) = (rows.schema().fields(), rows.schema().columns());
    let ([field], [column]) = (&**fields, columns.as_slice()) else {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    };
    if field.is_nullable() || has_one_row(rows) {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let value = ScalarFunction::new_udf(perhaps_value(), vec![Expr::Column(column.clone())]);
    let value = Expr::ScalarFunction(value).alias(field.name());
    let plan = LogicalPlan::Projection(Projection::try_new(vec![value], Arc::clone(rows))?);
    Ok(Transformed::yes(Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(plan),
        ..subquery
    })))
}

/// The function of [`with_null`], which a worker finds by its name.
pub(crate) fn perhaps_value() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(PerhapsValue {
            // A constant is not folded, which would take its column for one without NULL again.
            signature: Signature::any(1, Volatility::Volatile),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// Returns its argument, in a column that may have NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PerhapsValue {
    signature: Signature,
}

impl ScalarUDFImpl for PerhapsValue {
    /// The space in the name keeps statements from calling it.
    fn name(&self) -> &'static str {
        "perhaps value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [only] => Ok(only.clone()),
            _ => internal_err!("{} of {types:?}", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [only] => Ok(only.clone()),
            _ => internal_err!("{} of {} values", self.name(), args.args.len()),
        }
    }
}

fn aggregated(subquery: Subquery) -> Result<Transformed<Expr>> {
    let rows = &subquery.subquery;
    if is_aggregate(rows) || rows.schema().fields().len() != 1 {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let of = |plan: LogicalPlan| {
        Expr::ScalarSubquery(Subquery {
            subquery: Arc::new(plan),
            ..subquery.clone()
        })
    };
    if let Some(First { value, order, input }) = First::of(rows)? {
        let first = named_as(rows, input, vec![first_value(value, order)], |mut first| {
            first.remove(0)
        })?;
        return Ok(Transformed::yes(of(first)));
    }
    if rows.max_rows().is_some_and(|rows| rows <= 1) {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    // COUNT would be 0 for no rows, which DataFusion handles in a complicated way; SUM is NULL.
    let aggregates = vec![sum(lit(1_i64)), first_value(column_of(rows), Vec::new())];
    let counted = named_as(rows, Arc::clone(rows), aggregates, r#struct)?;
    let only = ScalarFunction::new_udf(only_value(), vec![of(counted)]);
    Ok(Transformed::yes(Expr::ScalarFunction(only)))
}

/// Whether DataFusion takes a plan for one of at most one row: an aggregate, perhaps with HAVING, below projections.
fn is_aggregate(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_aggregate(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_aggregate(&alias.input),
        LogicalPlan::Filter(filter) => matches!(*filter.input, LogicalPlan::Aggregate(_)),
        LogicalPlan::Aggregate(_) => true,
        _ => false,
    }
}

/// The first column of a plan.
fn column_of(plan: &LogicalPlan) -> Expr {
    Expr::Column(plan.schema().columns().remove(0))
}

/// Aggregates over all rows of a plan, combined to one value with the name of another plan's column.
fn named_as(
    named: &LogicalPlan,
    input: Arc<LogicalPlan>,
    aggregates: Vec<Expr>,
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<LogicalPlan> {
    let aggregate = Aggregate::try_new(input, Vec::new(), aggregates)?;
    let columns = aggregate.schema.columns().into_iter().map(Expr::Column);
    let (relation, field) = named.schema().qualified_field(0);
    let value = value(columns.collect()).alias_qualified(relation.cloned(), field.name());
    let projection = Projection::try_new(vec![value], Arc::new(LogicalPlan::Aggregate(aggregate)))?;
    Ok(LogicalPlan::Projection(projection))
}

/// The value of the first row of a sorted query.
struct First {
    value: Expr,
    order: Vec<SortExpr>,
    input: Arc<LogicalPlan>,
}

impl First {
    /// Matches `SELECT value … ORDER BY order LIMIT 1`.
    fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        let LogicalPlan::Limit(limit) = plan else {
            return Ok(None);
        };
        let is_first = matches!(limit.get_skip_type()?, SkipType::Literal(0))
            && matches!(limit.get_fetch_type()?, FetchType::Literal(Some(1)));
        if !is_first {
            return Ok(None);
        }
        // A sort key that is not selected is dropped after the sort.
        let (sorted, value) = match &*limit.input {
            LogicalPlan::Projection(projection) => (&*projection.input, projection.expr.first()),
            other => (other, None),
        };
        Ok(Some(match sorted {
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => Self {
                value: value.map_or_else(|| column_of(plan), |value| value.clone().unalias()),
                order: sort.expr.clone(),
                input: Arc::clone(&sort.input),
            },
            _ => Self {
                value: column_of(plan),
                order: Vec::new(),
                input: Arc::clone(&limit.input),
            },
        }))
    }
}

/// The function, which a worker finds by its name.
pub(crate) fn only_value() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(OnlyValue {
            signature: Signature::any(1, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// Returns the value for a number of rows and a value: NULL without rows, an error for more than one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyValue {
    signature: Signature,
}

impl ScalarUDFImpl for OnlyValue {
    /// The space in the name keeps statements from calling it.
    fn name(&self) -> &'static str {
        "only value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::Struct(fields)] if fields.len() == 2 => Ok(fields[1].data_type().clone()),
            _ => internal_err!("{} of {types:?}", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let counted = ColumnarValue::values_to_arrays(&args.args)?;
        let [counted] = counted.as_slice() else {
            return internal_err!("{} of {} values", self.name(), counted.len());
        };
        let counted = counted.as_struct();
        let rows = counted.column(0).as_primitive::<Int64Type>();
        let is_there = |row: usize| counted.is_valid(row) && rows.is_valid(row);
        if (0..counted.len()).any(|row| is_there(row) && rows.value(row) > 1) {
            return exec_err!("Scalar subquery returned more than one row");
        }
        let absent: BooleanArray = (0..counted.len()).map(|row| Some(!is_there(row))).collect();
        Ok(ColumnarValue::Array(nullif(counted.column(1), &absent)?))
    }
}
