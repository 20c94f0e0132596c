//! Scalar subqueries that depend on their outer row and are not an aggregate: `(SELECT name FROM customers c WHERE c.id = o.customer)`.
//!
//! DataFusion takes aggregates only, which it makes a join with groups. So the rows of such a subquery are put into an aggregate: a list
//! of at most two of them, whose only element is taken behind the join. Two are an error there, and not before: groups without an outer
//! row may have any number. With `ORDER BY … LIMIT 1` the aggregate is `first_value`.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::take::take;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{Result, ScalarValue, exec_err, internal_err};
use datafusion::functions_aggregate::first_last::first_value;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, Aggregate, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, FetchType, LogicalPlan, Projection,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, SkipType, SortExpr, Subquery, Volatility,
};
use datafusion::optimizer::AnalyzerRule;

/// Makes aggregates of such subqueries.
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
                    part => Ok(Transformed::no(part)),
                })?;
                Ok(changed.update_data(|expr| name.restore(expr)))
            })?;
            match changed.transformed {
                true => changed.map_data(LogicalPlan::recompute_schema),
                false => Ok(changed),
            }
        })
        .data()
    }
}

fn aggregated(subquery: Subquery) -> Result<Transformed<Expr>> {
    let rows = &subquery.subquery;
    if is_aggregate(rows) || rows.schema().fields().len() != 1 {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let of = |plan: LogicalPlan| Subquery {
        subquery: Arc::new(plan),
        ..subquery.clone()
    };
    if let Some(First { value, order, input }) = First::of(rows)? {
        let first = named_as(rows, input, first_value(value, order))?;
        return Ok(Transformed::yes(Expr::ScalarSubquery(of(first))));
    }
    if rows.max_rows().is_some_and(|rows| rows <= 1) {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let column = Expr::Column(rows.schema().columns().remove(0));
    let listed = named_as(rows, Arc::clone(rows), one_or_two().call(vec![column]))?;
    let only = ScalarFunction::new_udf(only_element(), vec![Expr::ScalarSubquery(of(listed))]);
    Ok(Transformed::yes(Expr::ScalarFunction(only)))
}

/// Whether a plan is what DataFusion takes for one that has a row at most: an aggregate, perhaps with HAVING, below projections.
fn is_aggregate(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_aggregate(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_aggregate(&alias.input),
        LogicalPlan::Filter(filter) => matches!(*filter.input, LogicalPlan::Aggregate(_)),
        LogicalPlan::Aggregate(_) => true,
        _ => false,
    }
}

/// An aggregate of all rows of a plan, under the name of the column of another one.
fn named_as(named: &LogicalPlan, input: Arc<LogicalPlan>, aggregate: Expr) -> Result<LogicalPlan> {
    let aggregate = Aggregate::try_new(input, Vec::new(), vec![aggregate])?;
    let value = Expr::Column(aggregate.schema.columns().remove(0));
    let (relation, field) = named.schema().qualified_field(0);
    let value = value.alias_qualified(relation.cloned(), field.name());
    let projection = Projection::try_new(vec![value], Arc::new(LogicalPlan::Aggregate(aggregate)))?;
    Ok(LogicalPlan::Projection(projection))
}

/// The value of the first row in an order.
struct First {
    value: Expr,
    order: Vec<SortExpr>,
    input: Arc<LogicalPlan>,
}

impl First {
    /// Of `SELECT value … ORDER BY order LIMIT 1`.
    fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        let LogicalPlan::Limit(limit) = plan else {
            return Ok(None);
        };
        let is_first = matches!(limit.get_skip_type()?, SkipType::Literal(0))
            && matches!(limit.get_fetch_type()?, FetchType::Literal(Some(1)));
        if !is_first {
            return Ok(None);
        }
        let value = || Expr::Column(plan.schema().columns().remove(0));
        Ok(match &*limit.input {
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => Some(Self {
                value: value(),
                order: sort.expr.clone(),
                input: Arc::clone(&sort.input),
            }),
            // A key that is not selected is dropped behind the sort.
            LogicalPlan::Projection(projection) => match (&*projection.input, projection.expr.as_slice()) {
                (LogicalPlan::Sort(sort), [value]) if sort.fetch.is_none() => Some(Self {
                    value: value.clone().unalias(),
                    order: sort.expr.clone(),
                    input: Arc::clone(&sort.input),
                }),
                _ => Some(Self {
                    value: value(),
                    order: Vec::new(),
                    input: Arc::clone(&limit.input),
                }),
            },
            _ => Some(Self {
                value: value(),
                order: Vec::new(),
                input: Arc::clone(&limit.input),
            }),
        })
    }
}

/// The aggregate, which a worker finds by its name.
pub(crate) fn one_or_two() -> Arc<AggregateUDF> {
    static FUNCTION: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| {
        Arc::new(AggregateUDF::from(OneOrTwo {
            signature: Signature::any(1, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// The function, which a worker finds by its name.
pub(crate) fn only_element() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(OnlyElement {
            signature: Signature::any(1, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// A list of the values of at most two rows.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OneOrTwo {
    signature: Signature,
}

impl AggregateUDFImpl for OneOrTwo {
    /// No statement calls a function by a name with a space.
    fn name(&self) -> &'static str {
        "one or two"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [of] => Ok(DataType::new_list(of.clone(), true)),
            _ => internal_err!("{} of {} values", self.name(), types.len()),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.return_type() {
            DataType::List(of) => Ok(Box::new(Values {
                data_type: of.data_type().clone(),
                values: Vec::new(),
            })),
            other => internal_err!("{} gives {other}", self.name()),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "values");
        Ok(vec![Arc::new(Field::new(name, args.return_type().clone(), true))])
    }
}

#[derive(Debug)]
struct Values {
    data_type: DataType,
    /// Of the first rows, at most two.
    values: Vec<ScalarValue>,
}

impl Values {
    fn add(&mut self, column: &ArrayRef) -> Result<()> {
        for row in 0..column.len().min(2 - self.values.len()) {
            self.values.push(ScalarValue::try_from_array(column, row)?);
        }
        Ok(())
    }
}

impl Accumulator for Values {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.iter().try_for_each(|column| self.add(column))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for lists in states {
            for list in lists.as_list::<i32>().iter().flatten() {
                self.add(&list)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let list = ScalarValue::new_list(&self.values, &self.data_type, true);
        Ok(ScalarValue::List(list))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn size(&self) -> usize {
        size_of_val(self) + ScalarValue::size_of_vec(&self.values) - size_of_val(&self.values)
    }
}

/// The only element of a list, or NULL without one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyElement {
    signature: Signature,
}

impl ScalarUDFImpl for OnlyElement {
    /// No statement calls a function by a name with a space.
    fn name(&self) -> &'static str {
        "only element"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::List(of)] => Ok(of.data_type().clone()),
            _ => internal_err!("{} of {types:?}", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let lists = ColumnarValue::values_to_arrays(&args.args)?;
        let [lists] = lists.as_slice() else {
            return internal_err!("{} of {} values", self.name(), lists.len());
        };
        let lists = lists.as_list::<i32>();
        let mut places = Vec::with_capacity(lists.len());
        for (row, ends) in lists.value_offsets().windows(2).enumerate() {
            let count = if lists.is_null(row) { 0 } else { ends[1] - ends[0] };
            match count {
                0 => places.push(None),
                1 => places.push(u64::try_from(ends[0]).ok()),
                _ => return exec_err!("Scalar subquery returned more than one row"),
            }
        }
        Ok(ColumnarValue::Array(take(
            lists.values(),
            &UInt64Array::from(places),
            None,
        )?))
    }
}
