//! Blanks of xBase tables in the query engine: a blank date is a value before every day, and becomes NULL in the answer.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result as EngineResult, ScalarValue};
use datafusion::functions::core::expr_fn::nullif;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable as _};
use tidemill_ads::sql::{BLANK_IS_NULL, EMPTY_DATE, EMPTY_TIMESTAMP, Type};

use crate::scalars;

/// Passes NULL for blank dates to DataFusion's functions, which would take them for days outside the calendar.
#[derive(Debug)]
pub(crate) struct BlanksToFunctions;

impl FunctionRewrite for BlanksToFunctions {
    fn name(&self) -> &'static str {
        "blanks_to_functions"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> EngineResult<Transformed<Expr>> {
        // Functions that return an argument, or count, see the blanks.
        const TRANSPARENT: [&str; 13] = [
            "coalesce",
            "nvl",
            "nvl2",
            "nullif",
            "greatest",
            "least",
            "min",
            "max",
            "count",
            "first_value",
            "last_value",
            "nth_value",
            "arrow_typeof",
        ];
        let without_blanks = |arguments: Vec<Expr>| -> EngineResult<Vec<Expr>> {
            arguments
                .into_iter()
                .map(|argument| without_blank(argument, schema))
                .collect()
        };
        match expr {
            Expr::ScalarFunction(mut call)
                if !scalars::is_of_ads(&call.func) && !TRANSPARENT.contains(&call.name()) =>
            {
                call.args = without_blanks(call.args)?;
                Ok(Transformed::yes(Expr::ScalarFunction(call)))
            }
            Expr::AggregateFunction(mut call) if !TRANSPARENT.contains(&call.func.name()) => {
                call.params.args = without_blanks(call.params.args)?;
                Ok(Transformed::yes(Expr::AggregateFunction(call)))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

/// The expression, with NULL for a blank date.
fn without_blank(expr: Expr, schema: &DFSchema) -> EngineResult<Expr> {
    if matches!(expr, Expr::Literal(..)) {
        return Ok(expr);
    }
    let blank = match expr.get_type(schema)? {
        DataType::Date32 => ScalarValue::Date32(Some(EMPTY_DATE)),
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            ScalarValue::TimestampMillisecond(Some(EMPTY_TIMESTAMP), None)
        }
        _ => return Ok(expr),
    };
    Ok(nullif(expr, Expr::Literal(blank, None)))
}

/// A batch with values for its blank dates. `schema` has the fields of the columns.
pub(crate) fn filled(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(array, field)| match field.metadata().contains_key(BLANK_IS_NULL) {
        true => fill(array),
        false => Arc::clone(array),
    });
    of(schema, columns.collect(), batch.num_rows())
}

fn fill(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        _ if array.null_count() == 0 => Arc::clone(array),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            let days = days.iter().map(|day| Some(day.unwrap_or(EMPTY_DATE)));
            Arc::new(days.collect::<PrimitiveArray<Date32Type>>())
        }
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            let moments = array.as_primitive::<TimestampMillisecondType>();
            let moments = moments.iter().map(|moment| Some(moment.unwrap_or(EMPTY_TIMESTAMP)));
            Arc::new(moments.collect::<PrimitiveArray<TimestampMillisecondType>>())
        }
        _ => Arc::clone(array),
    }
}

/// The columns of an answer: fields of a table keep their types, computed columns have those of ADS SQL.
pub(crate) fn settled_schema(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let mut metadata = field.metadata().clone();
        metadata.remove(BLANK_IS_NULL);
        let data_type = match metadata.contains_key("xbase.type") {
            true => field.data_type().clone(),
            false => Type::of_arrow(field.data_type(), None).map_or(field.data_type().clone(), Type::data_type),
        };
        Field::new(field.name(), data_type, true).with_metadata(metadata)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A batch converted to a schema of [`settled_schema`]; blank dates become NULL.
pub(crate) fn settled(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(array, field)| {
        let array = match array.data_type() == field.data_type() {
            true => Arc::clone(array),
            false => cast(array, field.data_type())?,
        };
        Ok(match array.data_type() {
            DataType::Date32 => without(array.as_primitive::<Date32Type>(), EMPTY_DATE),
            DataType::Timestamp(TimeUnit::Millisecond, None) => {
                without(array.as_primitive::<TimestampMillisecondType>(), EMPTY_TIMESTAMP)
            }
            _ => array,
        })
    });
    of(
        schema,
        columns.collect::<Result<Vec<_>, ArrowError>>()?,
        batch.num_rows(),
    )
}

fn without<T: arrow_array::ArrowPrimitiveType>(array: &PrimitiveArray<T>, blank: T::Native) -> ArrayRef
where
    T::Native: PartialEq,
{
    match array.values().contains(&blank) {
        true => Arc::new(
            array
                .iter()
                .map(|value| value.filter(|value| *value != blank))
                .collect::<PrimitiveArray<T>>(),
        ),
        false => Arc::new(array.clone()),
    }
}

fn of(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}
