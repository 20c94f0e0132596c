//! The values of one column, as a prepared statement sends them.

use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, DecimalType, DurationMicrosecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, TimeUnit};

use crate::arrow_type;
use crate::calendar;
use crate::data_type::Type;
use crate::error::{Error, Misfit, Result};
use crate::reader::Reader;

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
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    UInt8(PrimitiveBuilder<UInt8Type>),
    UInt16(PrimitiveBuilder<UInt16Type>),
    UInt32(PrimitiveBuilder<UInt32Type>),
    UInt64(PrimitiveBuilder<UInt64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal128(PrimitiveBuilder<Decimal128Type>, u8, i8),
    Decimal256(PrimitiveBuilder<Decimal256Type>, u8, i8),
    Bool(BooleanBuilder),
    Bits(PrimitiveBuilder<UInt64Type>),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<DurationMicrosecondType>),
    DateTime(PrimitiveBuilder<TimestampMicrosecondType>),
}

impl Values {
    pub(super) fn new(field: &Field, typ: &Type) -> Result<Self> {
        let data_type = field.data_type();
        if arrow_type::data_type(typ) != *data_type {
            return Err(Error::Unsupported {
                what: format!("column {}: reading {typ} as {data_type}", field.name()),
                hint: "cast it in the SELECT".to_owned(),
            });
        }
        Ok(match data_type {
            DataType::Int8 => Self::Int8(PrimitiveBuilder::new()),
            DataType::Int16 => Self::Int16(PrimitiveBuilder::new()),
            DataType::Int32 => Self::Int32(PrimitiveBuilder::new()),
            DataType::Int64 => Self::Int64(PrimitiveBuilder::new()),
            DataType::UInt8 => Self::UInt8(PrimitiveBuilder::new()),
            DataType::UInt16 => Self::UInt16(PrimitiveBuilder::new()),
            DataType::UInt32 => Self::UInt32(PrimitiveBuilder::new()),
            DataType::UInt64 if matches!(typ, Type::Bit(_)) => Self::Bits(PrimitiveBuilder::new()),
            DataType::UInt64 => Self::UInt64(PrimitiveBuilder::new()),
            DataType::Float32 => Self::Float32(PrimitiveBuilder::new()),
            DataType::Float64 => Self::Float64(PrimitiveBuilder::new()),
            DataType::Decimal128(precision, scale) => Self::Decimal128(typed(data_type), *precision, *scale),
            DataType::Decimal256(precision, scale) => Self::Decimal256(typed(data_type), *precision, *scale),
            DataType::Boolean => Self::Bool(BooleanBuilder::new()),
            DataType::Binary => Self::Bytes(BinaryBuilder::new()),
            DataType::Date32 => Self::Date(PrimitiveBuilder::new()),
            DataType::Duration(TimeUnit::Microsecond) => Self::Time(PrimitiveBuilder::new()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Self::DateTime(typed(data_type)),
            _ => Self::Text(StringBuilder::new()),
        })
    }

    /// Takes a value, and tells about how many bytes of memory it takes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        match self {
            Self::Int8(values) => values.append_value(i8::from_le_bytes(exact(bytes)?)),
            Self::Int16(values) => values.append_value(i16::from_le_bytes(exact(bytes)?)),
            Self::Int32(values) => values.append_value(i32::from_le_bytes(exact(bytes)?)),
            Self::Int64(values) => values.append_value(i64::from_le_bytes(exact(bytes)?)),
            Self::UInt8(values) => values.append_value(u8::from_le_bytes(exact(bytes)?)),
            Self::UInt16(values) => values.append_value(u16::from_le_bytes(exact(bytes)?)),
            Self::UInt32(values) => values.append_value(u32::from_le_bytes(exact(bytes)?)),
            Self::UInt64(values) => values.append_value(u64::from_le_bytes(exact(bytes)?)),
            Self::Float32(values) => values.append_value(f32::from_le_bytes(exact(bytes)?)),
            Self::Float64(values) => values.append_value(f64::from_le_bytes(exact(bytes)?)),
            Self::Decimal128(values, precision, scale) => {
                let value = decimal128(bytes, *scale);
                let value = value.filter(|value| Decimal128Type::is_valid_decimal_precision(*value, *precision));
                values.append_value(value.ok_or_else(|| not_decimal(bytes, *precision, *scale))?);
            }
            Self::Decimal256(values, precision, scale) => {
                let value = decimal256(bytes, *scale);
                let value = value.filter(|value| Decimal256Type::is_valid_decimal_precision(*value, *precision));
                values.append_value(value.ok_or_else(|| not_decimal(bytes, *precision, *scale))?);
            }
            Self::Bool(values) => values.append_value(bits(bytes)? != 0),
            Self::Bits(values) => values.append_value(bits(bytes)?),
            Self::Text(values) => {
                let text = std::str::from_utf8(bytes).map_err(|error| {
                    Misfit::new(
                        "text in UTF-8",
                        format!("bytes that are none behind {}", error.valid_up_to()),
                    )
                })?;
                values.append_value(text);
                return Ok(bytes.len() + 4);
            }
            Self::Bytes(values) => {
                values.append_value(bytes);
                return Ok(bytes.len() + 4);
            }
            Self::Date(values) => match Moment::parse(bytes)? {
                moment if moment.microseconds() == 0 => values.append_value(moment.day()?),
                moment => return Err(Misfit::new("a date", moment.shown()).into()),
            },
            Self::DateTime(values) => {
                let moment = Moment::parse(bytes)?;
                values.append_value(i64::from(moment.day()?) * DAY + moment.microseconds());
                return Ok(8);
            }
            Self::Time(values) => values.append_value(time(bytes)?),
        }
        Ok(bytes.len())
    }

    pub(super) fn append_null(&mut self) {
        match self {
            Self::Int8(values) => values.append_null(),
            Self::Int16(values) => values.append_null(),
            Self::Int32(values) => values.append_null(),
            Self::Int64(values) => values.append_null(),
            Self::UInt8(values) => values.append_null(),
            Self::UInt16(values) => values.append_null(),
            Self::UInt32(values) => values.append_null(),
            Self::UInt64(values) | Self::Bits(values) => values.append_null(),
            Self::Float32(values) => values.append_null(),
            Self::Float64(values) => values.append_null(),
            Self::Decimal128(values, ..) => values.append_null(),
            Self::Decimal256(values, ..) => values.append_null(),
            Self::Bool(values) => values.append_null(),
            Self::Text(values) => values.append_null(),
            Self::Bytes(values) => values.append_null(),
            Self::Date(values) => values.append_null(),
            Self::Time(values) => values.append_null(),
            Self::DateTime(values) => values.append_null(),
        }
    }

    /// The values since the last time.
    pub(super) fn finish(&mut self) -> ArrayRef {
        let values: &mut dyn ArrayBuilder = match self {
            Self::Int8(values) => values,
            Self::Int16(values) => values,
            Self::Int32(values) => values,
            Self::Int64(values) => values,
            Self::UInt8(values) => values,
            Self::UInt16(values) => values,
            Self::UInt32(values) => values,
            Self::UInt64(values) | Self::Bits(values) => values,
            Self::Float32(values) => values,
            Self::Float64(values) => values,
            Self::Decimal128(values, ..) => values,
            Self::Decimal256(values, ..) => values,
            Self::Bool(values) => values,
            Self::Text(values) => values,
            Self::Bytes(values) => values,
            Self::Date(values) => values,
            Self::Time(values) => values,
            Self::DateTime(values) => values,
        };
        values.finish()
    }
}

fn typed<T: ArrowPrimitiveType>(data_type: &DataType) -> PrimitiveBuilder<T> {
    PrimitiveBuilder::new().with_data_type(data_type.clone())
}

fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Misfit> {
    let found = bytes.try_into();
    found.map_err(|_| Misfit::new(format!("{N} bytes"), bytes.len()))
}

/// A number of at most 8 bytes, the highest first.
fn bits(bytes: &[u8]) -> Result<u64, Misfit> {
    match bytes.len() {
        1..=8 => Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
        length => Err(Misfit::new("1 to 8 bytes of bits", length)),
    }
}

/// The digits of a decimal's text, without its point, and whether it is negative; `None` for a text that is none or has more digits behind
/// the point than the scale.
fn digits(bytes: &[u8], scale: i8) -> Option<(bool, impl Iterator<Item = u8>)> {
    let (is_negative, unsigned) = match bytes.strip_prefix(b"-") {
        Some(unsigned) => (true, unsigned),
        None => (false, bytes),
    };
    let point = unsigned.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (unsigned.get(..at)?, unsigned.get(at + 1..)?),
        None => (unsigned, [].as_slice()),
    };
    let missing = usize::try_from(scale).ok()?.checked_sub(fraction.len())?;
    let is_number = !unsigned.is_empty() && whole.iter().chain(fraction).all(u8::is_ascii_digit);
    let all = whole.iter().chain(fraction).map(|digit| digit - b'0');
    is_number.then(|| (is_negative, all.chain(std::iter::repeat_n(0, missing))))
}

fn decimal128(bytes: &[u8], scale: i8) -> Option<i128> {
    let (is_negative, digits) = digits(bytes, scale)?;
    let mut value: i128 = 0;
    for digit in digits {
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(if is_negative { -value } else { value })
}

fn decimal256(bytes: &[u8], scale: i8) -> Option<i256> {
    let (is_negative, digits) = digits(bytes, scale)?;
    let text: String = digits.map(|digit| char::from(digit + b'0')).collect();
    let value = i256::from_string(&text)?;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

fn not_decimal(bytes: &[u8], precision: u8, scale: i8) -> Misfit {
    let begin = bytes.get(..bytes.len().min(80)).unwrap_or_default();
    Misfit::new(
        format!("a number with {precision} digits, {scale} of them behind the point"),
        format!("{:?}", String::from_utf8_lossy(begin)),
    )
}

/// What a DATE, a DATETIME or a TIMESTAMP is sent as; all that is not sent is 0.
#[derive(Default)]
struct Moment {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    fraction: u32,
}

impl Moment {
    fn parse(bytes: &[u8]) -> Result<Self, Misfit> {
        let moment = Self::fields(bytes).filter(|moment| {
            moment.hour < 24 && moment.minute < 60 && moment.second < 60 && moment.fraction < 1_000_000
        });
        moment.ok_or_else(|| Misfit::new("a date or a timestamp", format!("{bytes:02x?}")))
    }

    fn fields(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut moment = Self::default();
        if !bytes.is_empty() {
            (moment.year, moment.month, moment.day) = (reader.u16()?, reader.u8()?, reader.u8()?);
        }
        if bytes.len() > 4 {
            (moment.hour, moment.minute, moment.second) = (reader.u8()?, reader.u8()?, reader.u8()?);
        }
        if bytes.len() > 7 {
            moment.fraction = reader.u32()?;
        }
        reader.rest().is_empty().then_some(moment)
    }

    /// Since 1970.
    fn day(&self) -> Result<i32, Refusal> {
        calendar::days(self.year, self.month, self.day).ok_or_else(|| {
            let found = format!(
                "{}, which Arrow has no value for (unrepresentable=null reads NULL)",
                self.shown()
            );
            Refusal::Unrepresentable(Misfit::new("a day of the calendar", found))
        })
    }

    /// Since the begin of the day.
    fn microseconds(&self) -> i64 {
        let seconds = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
        seconds * 1_000_000 + i64::from(self.fraction)
    }

    fn shown(&self) -> String {
        let Self { year, month, day, .. } = self;
        match self.microseconds() {
            0 => format!("{year:04}-{month:02}-{day:02}"),
            _ => format!(
                "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:06}",
                self.hour, self.minute, self.second, self.fraction
            ),
        }
    }
}

/// A TIME in microseconds.
fn time(bytes: &[u8]) -> Result<i64, Misfit> {
    let parse = || {
        if bytes.is_empty() {
            return Some(0);
        }
        let mut reader = Reader::new(bytes);
        let (is_negative, days) = (reader.u8()?, reader.u32()?);
        let (hour, minute, second) = (reader.u8()?, reader.u8()?, reader.u8()?);
        let fraction = if bytes.len() > 8 { reader.u32()? } else { 0 };
        let is_time =
            is_negative < 2 && days <= LONGEST_TIME && hour < 24 && minute < 60 && second < 60 && fraction < 1_000_000;
        let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        let is_whole = is_time && reader.rest().is_empty();
        is_whole.then(|| {
            let value = i64::from(days) * DAY + seconds * 1_000_000 + i64::from(fraction);
            if is_negative == 1 { -value } else { value }
        })
    };
    parse().ok_or_else(|| Misfit::new("a time", format!("{bytes:02x?}")))
}

/// In days: 838 hours are 34 of them and more.
const LONGEST_TIME: u32 = 34;
/// In microseconds.
const DAY: i64 = 86_400_000_000;
