//! Operations that ClickHouse executes with exactly the same results.
//!
//! What is pushed down, and what is not (see `condition.rs` for conditions):
//!
//! - Groups, joins and orders, over columns whose values have the same equality and order there: whole numbers, text by its bytes,
//!   logicals, dates, instants, decimals. Groups and joins by floating-point numbers are not: NaN and -0 are distinguished differently.
//!   For an order that begins with one, the server returns the first rows both of the NaN values and of the others, and they are sorted
//!   here.
//! - SUM, MIN and MAX of no values are NULL here and 0 there, so that they are selected together with a count.
//! - Sums of floating-point numbers depend on the order of rows, and are computed here.
//! - A sum of numbers of 64 bits wraps around there, so that it is computed as a decimal; beyond 64 bits it is an error here.
//! - The average of whole numbers is their sum as a decimal divided by their count, which does not overflow on old servers; that of
//!   decimals is truncated to four more decimals, as here.

use arrow_schema::DataType as ArrowType;
use datafusion::common::ScalarValue;
use tidemill_clickhouse::DataType;

use super::condition::{bare, literal};
use crate::stores::server::computed::Computed;
use crate::stores::server::condition::Comparison;
use crate::stores::server::push_down::{Aggregate, Function};
use crate::stores::server::select::{Dialect, Expression, FloatKey, Output, Row, in_list};

/// The SQL of ClickHouse, as all versions understand it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClickHouseSql;

impl Dialect for ClickHouseSql {
    type Type = DataType;

    const INNER_JOIN: &'static str = "ALL INNER JOIN";

    // The setting `join_use_nulls` produces NULL; without it, 0 and empty strings.
    const LEFT_JOIN: &'static str = "ALL LEFT JOIN";

    fn range(skipped: usize, rows: Option<usize>) -> String {
        match rows {
            Some(rows) => format!("LIMIT {skipped}, {rows}"),
            None => format!("LIMIT {skipped}, {}", i64::MAX),
        }
    }

    fn has_null(data_type: &DataType) -> bool {
        has_null(data_type)
    }

    fn with_null(data_type: &DataType) -> Option<DataType> {
        match data_type {
            DataType::Nullable(_) => Some(data_type.clone()),
            DataType::LowCardinality(_) => None,
            _ if is_key(data_type) || matches!(data_type, DataType::Float32 | DataType::Float64) => {
                Some(DataType::Nullable(data_type.clone().into()))
            }
            _ => None,
        }
    }

    fn is_ordered(data_type: &DataType) -> bool {
        is_ordered(data_type)
    }

    fn is_key(data_type: &DataType) -> bool {
        is_key(data_type)
    }

    fn is_same_key(one: &DataType, other: &DataType) -> bool {
        is_key(one) && bare(one) == bare(other)
    }

    /// Version 18.16.1 crashes on nullable keys of text.
    fn join_key(key: &Expression<DataType>) -> String {
        match has_null(&key.data_type) {
            true => format!("assumeNotNull({})", key.text),
            false => key.text.clone(),
        }
    }

    /// Otherwise NULL would match the value that represents it.
    fn null_mark(key: &Expression<DataType>) -> Option<(String, &'static str)> {
        has_null(&key.data_type).then(|| (format!("isNull({})", key.text), "toUInt8(0)"))
    }

    fn float_key(key: &Expression<DataType>) -> Option<FloatKey> {
        let text = &key.text;
        matches!(bare(&key.data_type), DataType::Float32 | DataType::Float64).then(|| FloatKey {
            is_number: format!("(isNull({text}) OR NOT isNaN({text}))"),
            is_nan: format!("isNaN({text})"),
            zeros: format!("if({text} = 0, 1 / {text}, 0)"),
            bits: format!("reinterpretAsInt64(reinterpretAsString({text}))"),
        })
    }

    fn compared(column: &Expression<DataType>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let data_type = bare(&column.data_type);
        let value = literal(value, data_type).filter(|_| is_ordered(data_type))?;
        Some(format!("{} {} {value}", column.text, comparison.sign()))
    }

    fn among(column: &Expression<DataType>, values: &[ScalarValue]) -> Option<String> {
        let data_type = bare(&column.data_type);
        let values = values.iter().map(|value| literal(value, data_type));
        is_ordered(data_type).then(|| in_list(&column.text, values)).flatten()
    }

    fn computed(value: &Computed, row: &Row<'_, Self>) -> Option<Expression<DataType>> {
        super::computed::computed(value, row)
    }

    fn value_of_group(
        aggregate: &Aggregate,
        of: Option<&Expression<DataType>>,
        may_be_empty: bool,
    ) -> Option<Output<DataType>> {
        value_of_group(aggregate, of, may_be_empty)
    }
}

fn value_of_group(
    aggregate: &Aggregate,
    of: Option<&Expression<DataType>>,
    may_be_empty: bool,
) -> Option<Output<DataType>> {
    let count = |text: String| {
        Output::Value(Expression {
            text: format!("toInt64({text})"),
            data_type: DataType::Int64,
        })
    };
    let Some(of) = of else {
        return Some(count("count()".to_owned()));
    };
    let (text, data_type) = (&of.text, &of.data_type);
    // An aggregate of no values is NULL here, but not there.
    let or_null = |value: String, data_type: DataType| {
        let value = match may_be_empty || has_null(&of.data_type) {
            true => format!("if(count({text}) = 0, NULL, {value})"),
            false => value,
        };
        Expression {
            text: value,
            data_type: DataType::Nullable(data_type.into()),
        }
    };
    Some(match aggregate.function {
        Function::Count if aggregate.distinct => match is_key(data_type) {
            // Old servers return NULL for no values of a nullable column.
            true => count(format!("ifNull(uniqExact({text}), 0)")),
            false => return None,
        },
        Function::Count => match bare(data_type) {
            DataType::Variant(_) | DataType::Dynamic { .. } | DataType::Json(_) | DataType::Geometry => return None,
            _ => count(format!("count({text})")),
        },
        Function::Min | Function::Max if is_ordered(data_type) => {
            let name = if aggregate.function == Function::Min {
                "min"
            } else {
                "max"
            };
            Output::Value(or_null(format!("{name}({text})"), bare(data_type).clone()))
        }
        Function::Sum => {
            let decimal = |scale| DataType::Decimal { precision: 38, scale };
            let (summed, sum) = match bare(data_type) {
                DataType::Int8 | DataType::Int16 | DataType::Int32 => (text.clone(), DataType::Int64),
                DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => (text.clone(), DataType::UInt64),
                DataType::Int64 | DataType::UInt64 => (format!("toDecimal128({text}, 0)"), decimal(0)),
                DataType::Decimal { precision, scale } if *precision <= SUMMED_DIGITS => {
                    (text.clone(), decimal(*scale))
                }
                _ => return None,
            };
            Output::Value(or_null(format!("sum({summed})"), sum))
        }
        Function::Average => {
            let (summed, scale) = match (bare(data_type), &aggregate.data_type) {
                (data_type, ArrowType::Float64) if is_whole(data_type) => (format!("toDecimal128({text}, 0)"), 0),
                (DataType::Decimal { precision, scale }, ArrowType::Decimal128(..)) if *precision <= SUMMED_DIGITS => {
                    (text.clone(), *scale)
                }
                _ => return None,
            };
            Output::Average {
                sum: Expression {
                    text: format!("sum({summed})"),
                    data_type: DataType::Nullable(DataType::Decimal { precision: 38, scale }.into()),
                },
                count: Expression {
                    text: format!("toInt64(count({text}))"),
                    data_type: DataType::Int64,
                },
            }
        }
        _ => return None,
    })
}

/// The most digits of decimals whose sum, with ten more, fits into 38.
const SUMMED_DIGITS: u8 = 28;

fn is_whole(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
    )
}

/// Whether values have the same order there.
fn is_ordered(data_type: &DataType) -> bool {
    match bare(data_type) {
        DataType::String
        | DataType::FixedString(_)
        | DataType::Bool
        | DataType::Date
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::DateTime64(..) => true,
        DataType::Decimal { precision, .. } => *precision <= 38,
        other => is_whole(other),
    }
}

/// Whether values have the same equality there.
fn is_key(data_type: &DataType) -> bool {
    is_ordered(data_type)
        || matches!(
            bare(data_type),
            DataType::Uuid | DataType::Enum8(_) | DataType::Enum16(_)
        )
}

pub(super) fn has_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nullable(_) => true,
        DataType::LowCardinality(inner) => has_null(inner),
        _ => false,
    }
}
