//! The values of one column, as their type is sent.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, NullBufferBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, DecimalType, Float32Type, Float64Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType, UInt32Type,
};
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

use crate::calendar::{date, timestamp};
use crate::data_type::Type;
use crate::error::{Error, Misfit, Result};
use crate::numeric::Numeric;

/// Why a value was not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Its bytes are not those of the type.
    Corrupt(Misfit),
    /// It is a value of the type that Arrow's type does not have.
    Unrepresentable(Misfit),
}

impl From<Misfit> for Refusal {
    fn from(misfit: Misfit) -> Self {
        Self::Corrupt(misfit)
    }
}

/// The values of one column.
pub(super) enum Values {
    Bool(BooleanBuilder),
    Int2(PrimitiveBuilder<Int16Type>),
    Int4(PrimitiveBuilder<Int32Type>),
    Int8(PrimitiveBuilder<Int64Type>),
    Oid(PrimitiveBuilder<UInt32Type>),
    Float4(PrimitiveBuilder<Float32Type>),
    Float8(PrimitiveBuilder<Float64Type>),
    Decimal128(PrimitiveBuilder<Decimal128Type>, u8, i8),
    Decimal256(PrimitiveBuilder<Decimal256Type>, u8, i8),
    NumericText(StringBuilder),
    Text(StringBuilder, Form),
    Bytea(BinaryBuilder),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time64MicrosecondType>),
    Timestamp(PrimitiveBuilder<TimestampMicrosecondType>),
    Interval(PrimitiveBuilder<IntervalMonthDayNanoType>),
    Uuid(FixedSizeBinaryBuilder),
    List(Box<List>),
}

/// How a text is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// With blanks at the end that are no part of it.
    Padded,
    /// Behind a byte that is 1: `jsonb_send`.
    Versioned,
}

/// Arrays of one dimension.
pub(super) struct List {
    field: FieldRef,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
    items: Values,
}

impl Values {
    pub(super) fn new(field: &Field, typ: &Type) -> Result<Self> {
        let data_type = field.data_type();
        Ok(match (typ, data_type) {
            (Type::Bool, DataType::Boolean) => Self::Bool(BooleanBuilder::new()),
            (Type::Int2, DataType::Int16) => Self::Int2(PrimitiveBuilder::new()),
            (Type::Int4, DataType::Int32) => Self::Int4(PrimitiveBuilder::new()),
            (Type::Int8, DataType::Int64) => Self::Int8(PrimitiveBuilder::new()),
            (Type::Oid, DataType::UInt32) => Self::Oid(PrimitiveBuilder::new()),
            (Type::Float4, DataType::Float32) => Self::Float4(PrimitiveBuilder::new()),
            (Type::Float8, DataType::Float64) => Self::Float8(PrimitiveBuilder::new()),
            (Type::Numeric(_), DataType::Decimal128(precision, scale)) => {
                Self::Decimal128(typed(data_type), *precision, *scale)
            }
            (Type::Numeric(_), DataType::Decimal256(precision, scale)) => {
                Self::Decimal256(typed(data_type), *precision, *scale)
            }
            (Type::Numeric(_), DataType::Utf8) => Self::NumericText(StringBuilder::new()),
            (Type::Bpchar(_), DataType::Utf8) => Self::Text(StringBuilder::new(), Form::Padded),
            (Type::Jsonb, DataType::Utf8) => Self::Text(StringBuilder::new(), Form::Versioned),
            (Type::Bytea, DataType::Binary) => Self::Bytea(BinaryBuilder::new()),
            (Type::Date, DataType::Date32) => Self::Date(PrimitiveBuilder::new()),
            (Type::Time, DataType::Time64(TimeUnit::Microsecond)) => Self::Time(PrimitiveBuilder::new()),
            (Type::Timestamp, DataType::Timestamp(TimeUnit::Microsecond, None))
            | (Type::TimestampTz, DataType::Timestamp(TimeUnit::Microsecond, Some(_))) => {
                Self::Timestamp(typed(data_type))
            }
            (Type::Interval, DataType::Interval(_)) => Self::Interval(PrimitiveBuilder::new()),
            (Type::Uuid, DataType::FixedSizeBinary(UUID_BYTES)) => Self::Uuid(FixedSizeBinaryBuilder::new(UUID_BYTES)),
            (Type::Array(element), DataType::List(item)) if typ.is_known() => Self::List(Box::new(List {
                field: Arc::clone(item),
                offsets: vec![0],
                nulls: NullBufferBuilder::new(0),
                items: Self::new(item, element)?,
            })),
            (
                Type::Text | Type::Varchar(_) | Type::Name | Type::Xml | Type::Enum(_) | Type::Json | Type::Void,
                DataType::Utf8,
            ) => Self::Text(StringBuilder::new(), Form::Plain),
            _ => {
                return Err(Error::Unsupported {
                    what: format!("column {}: reading {typ} as {data_type}", field.name()),
                    hint: "cast it to text in the SELECT".to_owned(),
                });
            }
        })
    }

    /// Takes a value, and tells about how many bytes of memory it takes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        match self {
            Self::Bool(values) => {
                values.append_value(match bytes {
                    [0] => false,
                    [1] => true,
                    _ => return Err(misfit("a boolean of one byte, 0 or 1", bytes).into()),
                });
            }
            Self::Int2(values) => values.append_value(i16::from_be_bytes(exact(bytes, "a smallint")?)),
            Self::Int4(values) => values.append_value(i32::from_be_bytes(exact(bytes, "an integer")?)),
            Self::Int8(values) => values.append_value(i64::from_be_bytes(exact(bytes, "a bigint")?)),
            Self::Oid(values) => values.append_value(u32::from_be_bytes(exact(bytes, "an oid")?)),
            Self::Float4(values) => values.append_value(f32::from_be_bytes(exact(bytes, "a real")?)),
            Self::Float8(values) => values.append_value(f64::from_be_bytes(exact(bytes, "a double precision")?)),
            Self::Decimal128(values, precision, scale) => {
                let expected = || format!("a number with {precision} digits, {scale} of them behind the point");
                let numeric = Numeric::parse(bytes)?;
                let Numeric::Number(number) = &numeric else {
                    return Err(unrepresentable(expected(), numeric.text()));
                };
                let value = number.to_i128(*scale).or_else(|| number.to_i256(*scale)?.to_i128());
                let value = value.filter(|value| Decimal128Type::is_valid_decimal_precision(*value, *precision));
                values.append_value(value.ok_or_else(|| Misfit::new(expected(), numeric.text()))?);
            }
            Self::Decimal256(values, precision, scale) => {
                let expected = || format!("a number with {precision} digits, {scale} of them behind the point");
                let numeric = Numeric::parse(bytes)?;
                let Numeric::Number(number) = &numeric else {
                    return Err(unrepresentable(expected(), numeric.text()));
                };
                let value = number.to_i256(*scale);
                let value = value.filter(|value| Decimal256Type::is_valid_decimal_precision(*value, *precision));
                values.append_value(value.ok_or_else(|| Misfit::new(expected(), numeric.text()))?);
            }
            Self::NumericText(values) => {
                let text = Numeric::parse(bytes)?.text();
                values.append_value(&text);
                return Ok(text.len() + OVERHEAD);
            }
            Self::Text(values, form) => {
                let bytes = match (*form, bytes) {
                    (Form::Versioned, [1, rest @ ..]) => rest,
                    (Form::Versioned, _) => return Err(misfit("jsonb of version 1", bytes).into()),
                    _ => bytes,
                };
                let text = std::str::from_utf8(bytes).map_err(|error| {
                    let found = format!(
                        "bytes that are none at byte {}; cast it to bytea in the SELECT",
                        error.valid_up_to()
                    );
                    Misfit::new("text in UTF-8", found)
                })?;
                values.append_value(match form {
                    Form::Padded => text.trim_end_matches(' '),
                    _ => text,
                });
            }
            Self::Bytea(values) => values.append_value(bytes),
            Self::Date(values) => {
                values.append_value(date::read(i32::from_be_bytes(exact(bytes, "a date")?)).map_err(outside)?)
            }
            Self::Time(values) => {
                let time = i64::from_be_bytes(exact(bytes, "a time")?);
                match time {
                    0..DAY => values.append_value(time),
                    DAY => return Err(unrepresentable("a time before 24:00", "24:00:00")),
                    _ => return Err(Misfit::new("a time of less than a day", format!("{time} µs")).into()),
                }
            }
            Self::Timestamp(values) => {
                let found = i64::from_be_bytes(exact(bytes, "a timestamp")?);
                values.append_value(timestamp::read(found).map_err(outside)?);
            }
            Self::Interval(values) => values.append_value(interval(bytes)?),
            Self::Uuid(values) => {
                exact::<16>(bytes, "a uuid")?;
                // Its length was looked at.
                let _ = values.append_value(bytes);
            }
            Self::List(list) => return list.append(bytes),
        }
        Ok(bytes.len() + OVERHEAD)
    }

    pub(super) fn append_null(&mut self) {
        match self {
            Self::Bool(values) => values.append_null(),
            Self::Int2(values) => values.append_null(),
            Self::Int4(values) => values.append_null(),
            Self::Int8(values) => values.append_null(),
            Self::Oid(values) => values.append_null(),
            Self::Float4(values) => values.append_null(),
            Self::Float8(values) => values.append_null(),
            Self::Decimal128(values, ..) => values.append_null(),
            Self::Decimal256(values, ..) => values.append_null(),
            Self::NumericText(values) | Self::Text(values, _) => values.append_null(),
            Self::Bytea(values) => values.append_null(),
            Self::Date(values) => values.append_null(),
            Self::Time(values) => values.append_null(),
            Self::Timestamp(values) => values.append_null(),
            Self::Interval(values) => values.append_null(),
            Self::Uuid(values) => values.append_null(),
            Self::List(list) => {
                list.nulls.append_null();
                list.end();
            }
        }
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(values) => Arc::new(values.finish()),
            Self::Int2(values) => Arc::new(values.finish()),
            Self::Int4(values) => Arc::new(values.finish()),
            Self::Int8(values) => Arc::new(values.finish()),
            Self::Oid(values) => Arc::new(values.finish()),
            Self::Float4(values) => Arc::new(values.finish()),
            Self::Float8(values) => Arc::new(values.finish()),
            Self::Decimal128(values, ..) => Arc::new(values.finish()),
            Self::Decimal256(values, ..) => Arc::new(values.finish()),
            Self::NumericText(values) | Self::Text(values, _) => Arc::new(values.finish()),
            Self::Bytea(values) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
            Self::Time(values) => Arc::new(values.finish()),
            Self::Timestamp(values) => Arc::new(values.finish()),
            Self::Interval(values) => Arc::new(values.finish()),
            Self::Uuid(values) => Arc::new(values.finish()),
            Self::List(list) => list.finish(),
        }
    }

    fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        match self {
            Self::Bool(values) => values.len(),
            Self::Int2(values) => values.len(),
            Self::Int4(values) => values.len(),
            Self::Int8(values) => values.len(),
            Self::Oid(values) => values.len(),
            Self::Float4(values) => values.len(),
            Self::Float8(values) => values.len(),
            Self::Decimal128(values, ..) => values.len(),
            Self::Decimal256(values, ..) => values.len(),
            Self::NumericText(values) | Self::Text(values, _) => values.len(),
            Self::Bytea(values) => values.len(),
            Self::Date(values) => values.len(),
            Self::Time(values) => values.len(),
            Self::Timestamp(values) => values.len(),
            Self::Interval(values) => values.len(),
            Self::Uuid(values) => values.len(),
            Self::List(list) => list.offsets.len() - 1,
        }
    }
}

impl List {
    /// `array_send` in PostgreSQL's `arrayfuncs.c`: dimensions, whether there are NULLs, the type's number; for each dimension its length
    /// and its first index; items as fields of a row are.
    fn append(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        let size = self.append_items(bytes)?;
        self.nulls.append_non_null();
        self.end();
        Ok(size)
    }

    fn append_items(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        let wrong = || Misfit::new("an array", format!("{} bytes that are none", bytes.len()));
        let (head, rest) = bytes.split_first_chunk::<12>().ok_or_else(wrong)?;
        let [d3, d2, d1, d0, _, _, _, _, _, _, _, _] = *head;
        let dimensions = i32::from_be_bytes([d3, d2, d1, d0]);
        let (length, mut rest) = match dimensions {
            0 if rest.is_empty() => return Ok(OVERHEAD),
            1 => {
                let (shape, rest) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
                let [l3, l2, l1, l0, ..] = *shape;
                let length = i32::from_be_bytes([l3, l2, l1, l0]);
                match length {
                    0.. => (length, rest),
                    _ => return Err(wrong().into()),
                }
            }
            2..=6 => {
                let found = format!("one of {dimensions} dimensions; cast it to text in the SELECT");
                return Err(unrepresentable("an array of one dimension", found));
            }
            _ => return Err(wrong().into()),
        };
        let mut size = OVERHEAD;
        for number in 1..=length {
            // The bytes that are left bound the loop: each item has four at least.
            let Ok(Some((item, behind))) = super::field(rest) else {
                let found = format!("{} bytes for item {number} of {length}", rest.len());
                return Err(Misfit::new("an array's item", found).into());
            };
            size += match item {
                Some(item) => self.items.append(item)?,
                None => {
                    self.items.append_null();
                    OVERHEAD
                }
            };
            rest = behind;
        }
        match rest.is_empty() {
            true => Ok(size),
            false => Err(Misfit::new("the end of an array", format!("{} bytes more", rest.len())).into()),
        }
    }

    fn end(&mut self) {
        // A batch has less bytes than that.
        let end = i32::try_from(self.items.len()).unwrap_or(i32::MAX);
        self.offsets.push(end);
    }

    fn finish(&mut self) -> ArrayRef {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Arc::new(ListArray::new(
            Arc::clone(&self.field),
            offsets,
            self.items.finish(),
            self.nulls.finish(),
        ))
    }
}

fn typed<T: ArrowPrimitiveType>(data_type: &DataType) -> PrimitiveBuilder<T> {
    PrimitiveBuilder::new().with_data_type(data_type.clone())
}

/// Microseconds, days and months: `interval_send`.
fn interval(bytes: &[u8]) -> Result<IntervalMonthDayNano, Refusal> {
    let [time @ .., d3, d2, d1, d0, m3, m2, m1, m0] = exact::<16>(bytes, "an interval")?;
    let time = i64::from_be_bytes(time);
    let nanoseconds = time.checked_mul(1000).ok_or_else(|| {
        unrepresentable(
            "an interval whose time has 64 bits of nanoseconds",
            format!("{time} µs"),
        )
    })?;
    let (days, months) = (
        i32::from_be_bytes([d3, d2, d1, d0]),
        i32::from_be_bytes([m3, m2, m1, m0]),
    );
    match (months, days, time) {
        // `interval.c` of PostgreSQL 17.
        (i32::MAX, i32::MAX, i64::MAX) | (i32::MIN, i32::MIN, i64::MIN) => {
            Err(unrepresentable("a finite interval", "infinity"))
        }
        _ => Ok(IntervalMonthDayNano::new(months, days, nanoseconds)),
    }
}

fn exact<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N], Misfit> {
    <[u8; N]>::try_from(bytes)
        .map_err(|_| Misfit::new(format!("{what} of {N} bytes"), format!("{} bytes", bytes.len())))
}

fn misfit(expected: &str, bytes: &[u8]) -> Misfit {
    let shown = bytes.get(..bytes.len().min(8)).unwrap_or_default();
    Misfit::new(expected, format!("{} bytes, {shown:02x?}", bytes.len()))
}

fn outside(misfit: Misfit) -> Refusal {
    Refusal::Unrepresentable(misfit)
}

fn unrepresentable(expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Refusal {
    Refusal::Unrepresentable(Misfit::new(
        expected,
        format!("{found}, which Arrow has no value for (unrepresentable=null reads NULL)"),
    ))
}

/// What a value takes besides its bytes, about.
const OVERHEAD: usize = 4;
const UUID_BYTES: i32 = 16;
/// In microseconds.
const DAY: i64 = 86_400_000_000;
