//! Values of parameters: the rows of a batch.

use std::sync::Arc;

use adbc_core::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use tidemill_ads::sql::Value;

use crate::error::{invalid, of_session};

/// The values of each row, in the order of a text's parameters: its columns go by their places, or by their names.
///
/// # Errors
///
/// [`Status::InvalidArguments`](adbc_core::error::Status::InvalidArguments) for a type that ADS SQL has not, and for a name without a
/// column.
pub(crate) fn rows(batch: &RecordBatch, names: &[Option<String>], by_name: bool) -> Result<Vec<Vec<Value>>> {
    let schema = batch.schema();
    let named = |name: &Option<String>| {
        let Some(name) = name else {
            return Err(invalid("values go by names, and a parameter is ?, which has none"));
        };
        let mut fields = schema.fields().iter();
        let place = fields.position(|field| field.name().trim_start_matches(':').eq_ignore_ascii_case(name));
        place.ok_or_else(|| invalid(format!("parameter :{name} has no value")))
    };
    let order = match by_name {
        true => names.iter().map(named).collect::<Result<Vec<_>>>()?,
        false => (0..batch.num_columns()).collect(),
    };
    let columns = order.into_iter().filter_map(|place| batch.columns().get(place));
    let columns = columns.map(plain).collect::<Result<Vec<_>>>()?;
    // A row of no columns is a run without values.
    let row = |row| columns.iter().map(|column| value(column, row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

/// The values of the first row, with others of their columns' types in place of NULL; `None` where it has no NULL.
///
/// # Errors
///
/// As [`rows`].
pub(crate) fn without_nulls(
    batch: &RecordBatch,
    names: &[Option<String>],
    by_name: bool,
) -> Result<Option<Vec<Value>>> {
    let first = batch.slice(0, batch.num_rows().min(1));
    let has_null = |column: &ArrayRef| column.is_null(0) && *column.data_type() != DataType::Null;
    if first.num_rows() == 0 || !first.columns().iter().any(has_null) {
        return Ok(None);
    }
    let columns = first.columns().iter().map(|column| match has_null(column) {
        true => {
            // Zeros, and empty texts: values of every type that a parameter has.
            let data = arrow_array::new_null_array(column.data_type(), 1).into_data();
            let data = data.into_builder().nulls(None).build()?;
            Ok(arrow_array::make_array(data))
        }
        false => Ok(Arc::clone(column)),
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, arrow_schema::ArrowError>>()?;
    let schema = first.schema();
    let fields = schema
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let filled = RecordBatch::try_new(schema, columns)?;
    Ok(rows(&filled, names, by_name)?.pop())
}

/// The names and types of a text's parameters. A type is known when a value is bound.
///
/// # Errors
///
/// As [`parameters`](tidemill_ads::sql::parameters).
pub(crate) fn schema(sql: &str) -> Result<Schema> {
    let names = names(sql)?.into_iter();
    let fields = names.map(|name| Field::new(name.unwrap_or_default(), DataType::Null, true));
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

/// # Errors
///
/// As [`parameters`](tidemill_ads::sql::parameters).
pub(crate) fn names(sql: &str) -> Result<Vec<Option<String>>> {
    tidemill_ads::sql::parameters(sql).map_err(|error| of_session(error.into()))
}

/// A column in one of the types that values have.
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
        T::Timestamp(_, Some(zone)) if !is_universal(zone) => {
            return Err(invalid(format!(
                "a parameter of the zone {zone}: a timestamp of SQL has no zone; convert it to UTC, or leave the zone out"
            )));
        }
        T::Timestamp(_, _) => T::Timestamp(TimeUnit::Millisecond, None),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Dictionary(_, values) => return plain(&cast(column, values)?),
        other => {
            return Err(invalid(format!(
                "a parameter of the type {other} is no value of SQL; cast it"
            )));
        }
    };
    let cast_whole = arrow_cast::CastOptions {
        safe: false,
        ..arrow_cast::CastOptions::default()
    };
    arrow_cast::cast_with_options(column, &wanted, &cast_whole).map_err(|error| invalid(error.to_string()))
}

fn is_universal(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "Z" | "+00:00")
}

/// A value of a column that [`plain`] made.
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
        // The type without values.
        _ => Value::Null,
    }
}

/// A scale below 0 is zeros before the point.
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
    use arrow_array::{
        Date64Array, Decimal128Array, Int32Array, NullArray, StringArray, TimestampMicrosecondArray, UInt64Array,
    };

    use super::*;

    #[track_caller]
    fn check(array: ArrayRef, expected: &[Value]) {
        let batch = RecordBatch::try_from_iter([("a", array)]).expect("a batch");
        let rows = rows(&batch, &[None], false).expect("values");
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
            Arc::new(TimestampMicrosecondArray::from(vec![1_500]).with_timezone("UTC")),
            &[Value::Timestamp(1)],
        );
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
        let batch = RecordBatch::try_from_iter([("a", array)]).expect("a batch");
        assert!(rows(&batch, &[None], false).is_err());
    }

    #[test]
    fn named_parameters_go_by_name_and_others_by_place() {
        let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("b", text("B")), ("a", text("A"))]).expect("a batch");
        let named = [Some("A".to_owned()), Some("B".to_owned())];
        let letters = |by_name| rows(&batch, &named, by_name).expect("values").remove(0);
        let value = |text: &str| Value::Text(text.to_owned());
        assert_eq!(letters(true), [value("A"), value("B")]);
        assert_eq!(letters(false), [value("B"), value("A")]);
        for unknown in [None, Some("C".to_owned())] {
            assert!(rows(&batch, &[unknown], true).is_err());
        }
    }
}
