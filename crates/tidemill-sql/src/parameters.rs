//! Parameter values from Arrow arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef, TimestampMillisecondArray};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use tidemill_ads::sql::Value;

use crate::{Error, Result};

/// The values of each row, in the order of the columns; each column has `rows` rows.
///
/// # Errors
///
/// [`Error::Unsupported`] for a type without SQL values, and for a value outside the range of its SQL type.
pub fn values_of(columns: &[ArrayRef], rows: usize) -> Result<Vec<Vec<Value>>> {
    let columns = columns.iter().map(plain).collect::<Result<Vec<_>>>()?;
    // A row without columns is a run without values.
    let row = |row| columns.iter().map(|column| value(column, row)).collect();
    Ok((0..rows).map(row).collect())
}

/// The values of the first row, with stand-ins of the column's type for NULL, which has no type: a query with these values has the schema
/// of all runs. `None` if the row has no NULL, and if there is no row.
///
/// # Errors
///
/// As [`values_of`].
pub fn stand_ins(columns: &[ArrayRef]) -> Result<Option<Vec<Value>>> {
    let first = |column: &ArrayRef| column.slice(0, column.len().min(1));
    let has_null = |column: &ArrayRef| column.is_null(0) && *column.data_type() != DataType::Null;
    let columns: Vec<ArrayRef> = columns.iter().map(first).collect();
    if columns.iter().any(|column| column.is_empty()) || !columns.iter().any(has_null) {
        return Ok(None);
    }
    let columns = columns.iter().map(|column| match has_null(column) {
        true => {
            // Zeros and empty texts, for every type of a parameter.
            let data = arrow_array::new_null_array(column.data_type(), 1).into_data();
            let data = data.into_builder().nulls(None).build()?;
            Ok(arrow_array::make_array(data))
        }
        false => Ok(Arc::clone(column)),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(values_of(&columns, 1)?.pop())
}

fn unsupported(what: String, hint: &str) -> Error {
    Error::Unsupported {
        what,
        hint: hint.to_owned(),
    }
}

/// Converts a column to one of the types of values.
fn plain(column: &ArrayRef) -> Result<ArrayRef> {
    use DataType as T;
    let wanted = match column.data_type() {
        T::Null | T::Boolean | T::Date32 => return Ok(column.clone()),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => T::Utf8,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => T::Int64,
        T::Float16 | T::Float32 | T::Float64 => T::Float64,
        T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale) => T::Decimal128(38, *scale),
        T::Date64 => T::Date32,
        T::Time32(_) | T::Time64(_) => T::Time32(TimeUnit::Millisecond),
        T::Timestamp(unit, _) => return milliseconds(column, *unit),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Dictionary(_, values) => return plain(&cast(column, values)?),
        other => {
            return Err(unsupported(format!("a parameter of the type {other}"), "cast it"));
        }
    };
    let cast_whole = arrow_cast::CastOptions {
        safe: false,
        ..arrow_cast::CastOptions::default()
    };
    arrow_cast::cast_with_options(column, &wanted, &cast_whole)
        .map_err(|error| unsupported(format!("a parameter: {error}; this"), "give a smaller value"))
}

/// Timestamps in milliseconds, rounded down. A timestamp with a time zone is converted to UTC.
fn milliseconds(column: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef> {
    let ticks = arrow_cast::cast(column, &DataType::Int64)?;
    let ticks = ticks.as_primitive::<Int64Type>();
    let too_large = || {
        unsupported(
            "a parameter: a moment beyond all years; this".to_owned(),
            "give an earlier one",
        )
    };
    let milliseconds: TimestampMillisecondArray = match unit {
        TimeUnit::Second => ticks.try_unary(|ticks| ticks.checked_mul(1_000).ok_or_else(too_large))?,
        TimeUnit::Millisecond => ticks.unary(|ticks| ticks),
        TimeUnit::Microsecond => ticks.unary(|ticks| ticks.div_euclid(1_000)),
        TimeUnit::Nanosecond => ticks.unary(|ticks| ticks.div_euclid(1_000_000)),
    };
    Ok(Arc::new(milliseconds))
}

/// A value of a column from [`plain`].
fn value(column: &ArrayRef, row: usize) -> Value {
    use DataType as T;
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        T::Boolean => Value::Logical(column.as_boolean().value(row)),
        T::Utf8 => Value::Text(column.as_string::<i32>().value(row).to_owned()),
        T::Int64 => Value::Integer(column.as_primitive::<Int64Type>().value(row)),
        T::Float64 => Value::Double(column.as_primitive::<Float64Type>().value(row)),
        T::Decimal128(_, scale) => decimal(column.as_primitive::<Decimal128Type>().value(row), *scale),
        T::Date32 => Value::Date(column.as_primitive::<Date32Type>().value(row)),
        T::Time32(_) => Value::Time(column.as_primitive::<Time32MillisecondType>().value(row)),
        T::Timestamp(..) => Value::Timestamp(column.as_primitive::<TimestampMillisecondType>().value(row)),
        T::Binary => Value::Bytes(column.as_binary::<i32>().value(row).to_vec()),
        // The type NULL.
        _ => Value::Null,
    }
}

/// A negative scale means zeros before the point.
fn decimal(unscaled: i128, scale: i8) -> Value {
    match u8::try_from(scale) {
        Ok(scale) => Value::Decimal { unscaled, scale },
        Err(_) => Value::Decimal {
            unscaled: unscaled.saturating_mul(10_i128.saturating_pow(scale.unsigned_abs().into())),
            scale: 0,
        },
    }
}
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Date64Array, Decimal128Array, Int32Array, NullArray, StringArray, TimestampMicrosecondArray,
        TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
    };

    use super::*;

    #[track_caller]
    fn check(array: ArrayRef, expected: &[Value]) {
        let rows = array.len();
        let rows = values_of(&[array], rows).expect("values");
        assert_eq!(rows.into_iter().flatten().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn arrow_values_are_values_of_sql() {
        check(
            Arc::new(Int32Array::from(vec![Some(7), None])),
            &[Value::Integer(7), Value::Null],
        );
        check(Arc::new(NullArray::new(1)), &[Value::Null]);
        check(
            Arc::new(TimestampMicrosecondArray::from(vec![1_500]).with_timezone("Asia/Tokyo")),
            &[Value::Timestamp(1)],
        );
        check(
            Arc::new(TimestampNanosecondArray::from(vec![-1, 1])),
            &[Value::Timestamp(-1), Value::Timestamp(0)],
        );
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
        assert!(values_of(&[seconds], 1).is_err());
        check(Arc::new(Date64Array::from(vec![86_400_000])), &[Value::Date(1)]);
        let decimal = Decimal128Array::from(vec![1250])
            .with_precision_and_scale(8, 2)
            .expect("fits");
        let expected = Value::Decimal {
            unscaled: 1250,
            scale: 2,
        };
        check(Arc::new(decimal), &[expected]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let array: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert!(values_of(&[array], 1).is_err());
    }

    #[test]
    fn rows_have_the_values_of_all_columns() {
        let columns = ["a", "b"].map(|text| Arc::new(StringArray::from(vec![text, "c"])) as ArrayRef);
        let text = |text: &str| Value::Text(text.to_owned());
        let rows = values_of(&columns, 2).expect("values");
        assert_eq!(rows, [[text("a"), text("b")], [text("c"), text("c")]]);
        assert_eq!(values_of(&[], 2).expect("rows"), [[], []] as [[Value; 0]; 2]);
    }
}
