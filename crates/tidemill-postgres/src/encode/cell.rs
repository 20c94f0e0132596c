//! How the values of an array are written to a column of a type.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    RunEndIndexType,
};
use arrow_array::{Array, RunArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::bytea::bytea;
use super::measured;
use super::number::number;
use super::time::{date, time, timestamp};
use crate::data_type::Type;
use crate::error::Misfit;

/// Writes the value of a row that is not null, without its length.
pub(crate) type Cell<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> Result<(), Misfit> + 'a>;

/// `None` where values of the array's type are none of the column's.
pub(crate) fn cell<'a>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    match array.data_type() {
        // No row has a value.
        DataType::Null => return Some(Box::new(|_, _| Ok(()))),
        DataType::Dictionary(_, _) => return dictionary(array, typ),
        DataType::RunEndEncoded(ends, _) => {
            return match ends.data_type() {
                DataType::Int16 => runs::<Int16Type>(array, typ),
                DataType::Int32 => runs::<Int32Type>(array, typ),
                _ => runs::<Int64Type>(array, typ),
            };
        }
        _ => {}
    }
    match typ {
        Type::Bool => boolean(array),
        Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid | Type::Float4 | Type::Float8 | Type::Numeric(_) => {
            number(array, typ)
        }
        Type::Text | Type::Varchar(_) | Type::Bpchar(_) | Type::Name | Type::Other(_) => words(array),
        Type::Enum(_) | Type::Json | Type::Xml => sent_text(array, b""),
        Type::Jsonb => sent_text(array, b"\x01"),
        Type::Bytea => bytea(array),
        Type::Date => date(array),
        Type::Time => time(array),
        Type::Timestamp => timestamp(array, false),
        Type::TimestampTz => timestamp(array, true),
        Type::Interval => interval(array),
        Type::Uuid => uuid(array),
        Type::Array(element) if typ.is_known() => list(array, element),
        Type::Array(_) => words(array),
        Type::Void => None,
    }
}

fn dictionary<'a>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    let dictionary = array.as_any_dictionary_opt()?;
    if dictionary.values().is_empty() {
        return cell(dictionary.values().as_ref(), typ)
            .map(|_| Box::new(|_: usize, _: &mut Vec<u8>| Ok(())) as Cell<'a>);
    }
    let (keys, values) = (dictionary.normalized_keys(), cell(dictionary.values().as_ref(), typ)?);
    Some(Box::new(move |row, out| match keys.get(row) {
        Some(key) => values(*key, out),
        None => Ok(()),
    }))
}

fn runs<'a, E: RunEndIndexType>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    let runs: &RunArray<E> = array.as_any().downcast_ref()?;
    let values = cell(runs.values().as_ref(), typ)?;
    Some(Box::new(move |row, out| values(runs.get_physical_index(row), out)))
}

/// The texts of an array of texts.
pub(super) fn texts<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> &'a str + 'a>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|row| array.value(row))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|row| array.value(row))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|row| array.value(row))
        }
        _ => return None,
    })
}

/// The bytes of an array of bytes.
pub(super) fn bytes<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> &'a [u8] + 'a>> {
    Some(match array.data_type() {
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(|row| array.value(row))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(|row| array.value(row))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Box::new(|row| array.value(row))
        }
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Box::new(|row| array.value(row))
        }
        _ => return None,
    })
}

fn boolean(array: &dyn Array) -> Option<Cell<'_>> {
    if let Some(array) = array.as_boolean_opt() {
        return Some(Box::new(|row, out| {
            out.push(u8::from(array.value(row)));
            Ok(())
        }));
    }
    let texts = texts(array)?;
    Some(Box::new(move |row, out| {
        let text = texts(row);
        // What `bool_in` takes in full, and what xBase shows.
        let is_true = match text.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => true,
            "false" | "f" | "no" | "n" | "off" | "0" => false,
            _ => return Err(Misfit::new("true or false", shown(text))),
        };
        out.push(u8::from(is_true));
        Ok(())
    }))
}

fn sent_text<'a>(array: &'a dyn Array, head: &'static [u8]) -> Option<Cell<'a>> {
    let texts = texts(array)?;
    Some(Box::new(move |row, out| {
        out.extend_from_slice(head);
        push_text(texts(row), out)
    }))
}

/// Texts, and the texts of other values, as Arrow shows them.
fn words(array: &dyn Array) -> Option<Cell<'_>> {
    if texts(array).is_some() {
        return sent_text(array, b"");
    }
    if array.data_type().is_nested() || bytes(array).is_some() {
        return None;
    }
    // Fails here, before the first value, for a time zone that this build does not know.
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::default()).ok()?;
    Some(Box::new(move |row, out| {
        let mut text = String::new();
        match write!(text, "{}", formatter.value(row)) {
            Ok(()) => push_text(&text, out),
            Err(_) => Err(Misfit::new("a value that has a text", "one that has none")),
        }
    }))
}

fn push_text(text: &str, out: &mut Vec<u8>) -> Result<(), Misfit> {
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(Misfit::new(
            "text without the character NUL, which PostgreSQL has no place for",
            format!("one at byte {at}"),
        ));
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn interval(array: &dyn Array) -> Option<Cell<'_>> {
    fn push(out: &mut Vec<u8>, microseconds: i64, days: i32, months: i32) {
        out.extend_from_slice(&microseconds.to_be_bytes());
        out.extend_from_slice(&days.to_be_bytes());
        out.extend_from_slice(&months.to_be_bytes());
    }
    fn duration<'a, T: ArrowPrimitiveType<Native = i64>>(array: &'a dyn Array, units: i64, per: i64) -> Cell<'a> {
        let array = array.as_primitive::<T>();
        Box::new(move |row, out| {
            let microseconds = scaled(array.value(row), units, per)?;
            push(out, microseconds, 0, 0);
            Ok(())
        })
    }
    Some(match array.data_type() {
        DataType::Interval(IntervalUnit::YearMonth) => {
            let array = array.as_primitive::<IntervalYearMonthType>();
            Box::new(|row, out| {
                push(out, 0, 0, array.value(row));
                Ok(())
            })
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let array = array.as_primitive::<IntervalDayTimeType>();
            Box::new(|row, out| {
                let value = array.value(row);
                push(out, i64::from(value.milliseconds) * 1000, value.days, 0);
                Ok(())
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(|row, out| {
                let value = array.value(row);
                push(out, scaled(value.nanoseconds, 1, 1000)?, value.days, value.months);
                Ok(())
            })
        }
        DataType::Duration(TimeUnit::Second) => duration::<DurationSecondType>(array, 1_000_000, 1),
        DataType::Duration(TimeUnit::Millisecond) => duration::<DurationMillisecondType>(array, 1000, 1),
        DataType::Duration(TimeUnit::Microsecond) => duration::<DurationMicrosecondType>(array, 1, 1),
        DataType::Duration(TimeUnit::Nanosecond) => duration::<DurationNanosecondType>(array, 1, 1000),
        _ => return None,
    })
}

/// Whole microseconds of a number of units.
pub(super) fn scaled(value: i64, times: i64, per: i64) -> Result<i64, Misfit> {
    let refused = |expected: &str| Misfit::new(expected, format!("{value} units of {times}/{per} µs"));
    match value.checked_rem(per) {
        Some(0) => (value / per)
            .checked_mul(times)
            .ok_or_else(|| refused("a time of 64 bits of microseconds")),
        _ => Err(refused("whole microseconds, as PostgreSQL counts them")),
    }
}

fn uuid(array: &dyn Array) -> Option<Cell<'_>> {
    if let Some(bytes) = bytes(array) {
        return Some(Box::new(move |row, out| {
            let value = bytes(row);
            match value.len() {
                16 => out.extend_from_slice(value),
                length => return Err(Misfit::new("a uuid of 16 bytes", format!("{length} bytes"))),
            }
            Ok(())
        }));
    }
    let texts = texts(array)?;
    Some(Box::new(move |row, out| {
        let text = texts(row).trim();
        let wrong = || Misfit::new("a uuid, such as 67e55044-10b1-426f-9247-bb680e5fe0c8", shown(text));
        let bare = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
            .unwrap_or(text);
        let digits: Vec<u8> = bare.bytes().filter(|byte| *byte != b'-').collect();
        let value = std::str::from_utf8(&digits).ok().filter(|digits| digits.len() == 32);
        let value = value.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = value.and_then(|digits| u128::from_str_radix(digits, 16).ok());
        out.extend_from_slice(&value.ok_or_else(wrong)?.to_be_bytes());
        Ok(())
    }))
}

/// `array_recv` in PostgreSQL's `arrayfuncs.c`, with one dimension that begins at 1.
fn list<'a>(array: &'a dyn Array, element: &Type) -> Option<Cell<'a>> {
    type Extent<'a> = Box<dyn Fn(usize) -> (usize, usize) + 'a>;
    let (items, extent): (&'a dyn Array, Extent<'a>) = match array.data_type() {
        DataType::List(_) => {
            let array = array.as_list::<i32>();
            (
                array.values().as_ref(),
                Box::new(move |row| {
                    let offsets = array.value_offsets();
                    let at = |row| {
                        offsets
                            .get(row)
                            .and_then(|offset: &i32| usize::try_from(*offset).ok())
                            .unwrap_or(0)
                    };
                    (at(row), at(row + 1))
                }),
            )
        }
        DataType::LargeList(_) => {
            let array = array.as_list::<i64>();
            (
                array.values().as_ref(),
                Box::new(move |row| {
                    let offsets = array.value_offsets();
                    let at = |row| {
                        offsets
                            .get(row)
                            .and_then(|offset: &i64| usize::try_from(*offset).ok())
                            .unwrap_or(0)
                    };
                    (at(row), at(row + 1))
                }),
            )
        }
        DataType::FixedSizeList(_, _) => {
            let array = array.as_fixed_size_list();
            let length = usize::try_from(array.value_length()).ok()?;
            (
                array.values().as_ref(),
                Box::new(move |row| (row * length, (row + 1) * length)),
            )
        }
        _ => return None,
    };
    let (number, item, nulls) = (element_number(element)?, cell(items, element)?, items.logical_nulls());
    Some(Box::new(move |row, out| {
        let (begin, end) = extent(row);
        let too_long = || Misfit::new("an array of less than 1 GiB", format!("{} items", end - begin));
        let length = i32::try_from(end - begin).map_err(|_| too_long())?;
        let is_null = |item: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(item));
        let has_nulls = (begin..end).any(is_null);
        let dimensions = i32::from(length > 0);
        out.extend_from_slice(&dimensions.to_be_bytes());
        out.extend_from_slice(&i32::from(has_nulls).to_be_bytes());
        out.extend_from_slice(&number.to_be_bytes());
        if length == 0 {
            return Ok(());
        }
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&1_i32.to_be_bytes());
        for place in begin..end {
            match is_null(place) {
                true => out.extend_from_slice(&super::NULL),
                false => measured(out, |out| item(place, out))?,
            }
        }
        Ok(())
    }))
}

/// The number of a type, which is the same on every server. `None` for types that each server numbers itself.
pub(crate) fn element_number(typ: &Type) -> Option<u32> {
    use tokio_postgres::types::Type as WireType;
    Some(
        match typ {
            Type::Bool => WireType::BOOL,
            Type::Int2 => WireType::INT2,
            Type::Int4 => WireType::INT4,
            Type::Int8 => WireType::INT8,
            Type::Oid => WireType::OID,
            Type::Float4 => WireType::FLOAT4,
            Type::Float8 => WireType::FLOAT8,
            Type::Numeric(_) => WireType::NUMERIC,
            Type::Text => WireType::TEXT,
            Type::Varchar(_) => WireType::VARCHAR,
            Type::Bpchar(_) => WireType::BPCHAR,
            Type::Name => WireType::NAME,
            Type::Xml => WireType::XML,
            Type::Json => WireType::JSON,
            Type::Jsonb => WireType::JSONB,
            Type::Bytea => WireType::BYTEA,
            Type::Date => WireType::DATE,
            Type::Time => WireType::TIME,
            Type::Timestamp => WireType::TIMESTAMP,
            Type::TimestampTz => WireType::TIMESTAMPTZ,
            Type::Interval => WireType::INTERVAL,
            Type::Uuid => WireType::UUID,
            Type::Enum(_) | Type::Void | Type::Array(_) | Type::Other(_) => return None,
        }
        .oid(),
    )
}

/// A text as an error quotes it, shortened.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut letters = text.chars();
    let mut shown: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    format!("{shown:?}")
}
