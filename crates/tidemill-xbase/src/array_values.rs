//! The values of an Arrow array as fields take them.
//!
//! The array is looked at once, so that a value is read without a look at its type's parameters. Every type is here for which
//! [`FieldSpec::from_arrow`](crate::FieldSpec::from_arrow) knows a field.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, Result};
use crate::value::Value;

mod cells;

pub(crate) use cells::Cells;

/// An array, looked at once.
#[derive(Debug)]
pub(crate) struct ArrayValues<'a> {
    nulls: Option<&'a NullBuffer>,
    typed: Typed<'a>,
}

#[derive(Debug)]
enum Typed<'a> {
    Null,
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
    FixedBytes(&'a FixedSizeBinaryArray),
    Logical(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Half(&'a [<Float16Type as ArrowPrimitiveType>::Native]),
    Single(&'a [f32]),
    Double(&'a [f64]),
    Decimal32(&'a [i32], Scale),
    Decimal64(&'a [i64], Scale),
    Decimal128(&'a [i128], Scale),
    Date(&'a [i32]),
    /// Milliseconds.
    LongDate(&'a [i64]),
    Time(&'a [i32], Unit),
    LongTime(&'a [i64], Unit),
    Timestamp(&'a [i64], Unit),
    /// Which of the values each row has: dictionaries and runs.
    Chosen(Vec<usize>, Box<ArrayValues<'a>>),
}

/// What the integers of a decimal array stand for.
#[derive(Debug, Clone, Copy)]
enum Scale {
    Behind(u8),
    /// Ten to the power of a negative scale.
    Times(i128),
}

impl Scale {
    fn value(self, digits: i128) -> Value<'static> {
        match self {
            Self::Behind(scale) => Value::Decimal {
                unscaled: digits,
                scale,
            },
            Self::Times(power) => Value::Decimal {
                unscaled: digits.saturating_mul(power),
                scale: 0,
            },
        }
    }
}

/// How an array counts time.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Seconds,
    Milliseconds,
    /// So many of it are a millisecond.
    Finer(i64),
}

impl Unit {
    fn milliseconds(self, count: i64) -> i64 {
        match self {
            Self::Seconds => count.saturating_mul(1000),
            Self::Milliseconds => count,
            Self::Finer(parts) => count.div_euclid(parts),
        }
    }

    fn of_day(self, count: i64) -> Value<'static> {
        Value::Time(i32::try_from(self.milliseconds(count)).unwrap_or(i32::MAX))
    }
}

impl<'a> ArrayValues<'a> {
    /// The values of a column; its name is for the error.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a type of which no field has values.
    pub(crate) fn new(name: &str, array: &'a dyn Array) -> Result<Self> {
        let typed = Typed::of(name, array)?.ok_or_else(|| {
            let data_type = array.data_type();
            Error::Misuse(format!("column {name}: an xBase table has no type for {data_type}"))
        })?;
        Ok(Self {
            nulls: array.nulls(),
            typed,
        })
    }

    /// The value of a row; NULL where there is no such row.
    pub(crate) fn get(&self, row: usize) -> Value<'a> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return Value::Null;
        }
        self.typed.get(row).unwrap_or(Value::Null)
    }
}

impl<'a> Typed<'a> {
    fn of(name: &str, array: &'a dyn Array) -> Result<Option<Self>> {
        let chosen = |rows, values: &'a dyn Array| -> Result<Option<Self>> {
            Ok(Some(Self::Chosen(rows, Box::new(ArrayValues::new(name, values)?))))
        };
        Ok(Some(match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Utf8 => Self::Text(array.as_string()),
            DataType::LargeUtf8 => Self::LargeText(array.as_string()),
            DataType::Utf8View => Self::TextView(array.as_string_view()),
            DataType::Binary => Self::Bytes(array.as_binary()),
            DataType::LargeBinary => Self::LargeBytes(array.as_binary()),
            DataType::BinaryView => Self::BytesView(array.as_binary_view()),
            DataType::FixedSizeBinary(_) => Self::FixedBytes(array.as_fixed_size_binary()),
            DataType::Boolean => Self::Logical(array.as_boolean()),
            DataType::Int8 => Self::Int8(array.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Self::Int16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Self::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Self::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Self::UInt8(array.as_primitive::<UInt8Type>().values()),
            DataType::UInt16 => Self::UInt16(array.as_primitive::<UInt16Type>().values()),
            DataType::UInt32 => Self::UInt32(array.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Self::UInt64(array.as_primitive::<UInt64Type>().values()),
            DataType::Float16 => Self::Half(array.as_primitive::<Float16Type>().values()),
            DataType::Float32 => Self::Single(array.as_primitive::<Float32Type>().values()),
            DataType::Float64 => Self::Double(array.as_primitive::<Float64Type>().values()),
            DataType::Decimal32(_, scale) => {
                Self::Decimal32(array.as_primitive::<Decimal32Type>().values(), scale_of(*scale))
            }
            DataType::Decimal64(_, scale) => {
                Self::Decimal64(array.as_primitive::<Decimal64Type>().values(), scale_of(*scale))
            }
            DataType::Decimal128(_, scale) => {
                Self::Decimal128(array.as_primitive::<Decimal128Type>().values(), scale_of(*scale))
            }
            DataType::Date32 => Self::Date(array.as_primitive::<Date32Type>().values()),
            DataType::Date64 => Self::LongDate(array.as_primitive::<Date64Type>().values()),
            DataType::Time32(TimeUnit::Second) => {
                Self::Time(array.as_primitive::<Time32SecondType>().values(), Unit::Seconds)
            }
            DataType::Time32(_) => Self::Time(
                array.as_primitive::<Time32MillisecondType>().values(),
                Unit::Milliseconds,
            ),
            DataType::Time64(TimeUnit::Microsecond) => Self::LongTime(
                array.as_primitive::<Time64MicrosecondType>().values(),
                Unit::Finer(1000),
            ),
            DataType::Time64(_) => Self::LongTime(
                array.as_primitive::<Time64NanosecondType>().values(),
                Unit::Finer(1_000_000),
            ),
            DataType::Timestamp(unit, _) => {
                let (counts, unit): (&[i64], _) = match unit {
                    TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), Unit::Seconds),
                    TimeUnit::Millisecond => (
                        array.as_primitive::<TimestampMillisecondType>().values(),
                        Unit::Milliseconds,
                    ),
                    TimeUnit::Microsecond => (
                        array.as_primitive::<TimestampMicrosecondType>().values(),
                        Unit::Finer(1000),
                    ),
                    TimeUnit::Nanosecond => (
                        array.as_primitive::<TimestampNanosecondType>().values(),
                        Unit::Finer(1_000_000),
                    ),
                };
                Self::Timestamp(counts, unit)
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                return chosen(dictionary.normalized_keys(), &**dictionary.values());
            }
            DataType::RunEndEncoded(ends, _) => {
                let (rows, values) = match ends.data_type() {
                    DataType::Int16 => runs::<Int16Type>(array),
                    DataType::Int32 => runs::<Int32Type>(array),
                    _ => runs::<Int64Type>(array),
                };
                return chosen(rows, values);
            }
            _ => return Ok(None),
        }))
    }

    fn get(&self, row: usize) -> Option<Value<'a>> {
        let millisecond_days = |ms: i64| i32::try_from(ms.div_euclid(86_400_000)).unwrap_or(i32::MAX);
        Some(match self {
            Self::Null => Value::Null,
            Self::Text(array) => Value::Text(array.value(row)),
            Self::LargeText(array) => Value::Text(array.value(row)),
            Self::TextView(array) => Value::Text(array.value(row)),
            Self::Bytes(array) => Value::Bytes(array.value(row)),
            Self::LargeBytes(array) => Value::Bytes(array.value(row)),
            Self::BytesView(array) => Value::Bytes(array.value(row)),
            Self::FixedBytes(array) => Value::Bytes(array.value(row)),
            Self::Logical(array) => Value::Logical(array.value(row)),
            Self::Int8(values) => Value::Integer((*values.get(row)?).into()),
            Self::Int16(values) => Value::Integer((*values.get(row)?).into()),
            Self::Int32(values) => Value::Integer((*values.get(row)?).into()),
            Self::Int64(values) => Value::Integer(*values.get(row)?),
            Self::UInt8(values) => Value::Integer((*values.get(row)?).into()),
            Self::UInt16(values) => Value::Integer((*values.get(row)?).into()),
            Self::UInt32(values) => Value::Integer((*values.get(row)?).into()),
            Self::UInt64(values) => Scale::Behind(0).value((*values.get(row)?).into()),
            Self::Half(values) => Value::Double((*values.get(row)?).to_f64()),
            Self::Single(values) => Value::Double((*values.get(row)?).into()),
            Self::Double(values) => Value::Double(*values.get(row)?),
            Self::Decimal32(values, scale) => scale.value((*values.get(row)?).into()),
            Self::Decimal64(values, scale) => scale.value((*values.get(row)?).into()),
            Self::Decimal128(values, scale) => scale.value(*values.get(row)?),
            Self::Date(values) => Value::Date(*values.get(row)?),
            Self::LongDate(values) => Value::Date(millisecond_days(*values.get(row)?)),
            Self::Time(values, unit) => unit.of_day((*values.get(row)?).into()),
            Self::LongTime(values, unit) => unit.of_day(*values.get(row)?),
            Self::Timestamp(values, unit) => Value::Timestamp(unit.milliseconds(*values.get(row)?)),
            Self::Chosen(rows, values) => values.get(*rows.get(row)?),
        })
    }
}

fn scale_of(scale: i8) -> Scale {
    match u8::try_from(scale) {
        Ok(scale) => Scale::Behind(scale),
        Err(_) => Scale::Times(10_i128.saturating_pow(scale.unsigned_abs().into())),
    }
}

/// For each row the place of its value, and the values.
fn runs<E: RunEndIndexType>(array: &dyn Array) -> (Vec<usize>, &dyn Array) {
    let runs = array.as_run::<E>();
    let rows = (0..runs.len()).map(|row| runs.get_physical_index(row));
    (rows.collect(), &**runs.values())
}
