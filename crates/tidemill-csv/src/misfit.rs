//! Why a value does not fit the type of its column, for messages.

use arrow_schema::{DataType, TimeUnit};

use crate::digits::{Written, double};
use crate::sniff::LOOKED_AT;
use crate::types::{Unit, is_day, moment};

/// What is wrong with a value, to be said behind it.
pub(crate) fn misfit(data_type: &DataType, decimal: u8, value: &str) -> String {
    let number = Written::of(value, decimal);
    let reason = match data_type {
        DataType::Int64 | DataType::Decimal128(..) | DataType::Float64 if number.is_none() => {
            leading_zeros(value, decimal)
        }
        DataType::Int64 | DataType::Decimal128(..) if number.is_some_and(|number| number.has_exponent()) => Some(
            format!("has an exponent, and {data_type}, the type of this column, is for numbers without one"),
        ),
        DataType::Int64 => number
            .filter(Written::is_whole)
            .map(|_| "is a whole number too large for 64 bits".to_owned()),
        DataType::Decimal128(_, 0) if number.is_some_and(|number| !number.is_whole()) => None,
        DataType::Decimal128(precision, scale) => number.map(|number| outside_of_decimal(number, *precision, *scale)),
        DataType::Float64 => number.map(|_| outside_of_double(double(value, decimal).unwrap_or(f64::NAN)).to_owned()),
        DataType::Timestamp(unit, zone) => outside_of_times(*unit, zone.is_some(), value),
        _ => None,
    };
    reason.unwrap_or_else(|| format!("is not {}", in_words(data_type)))
}

fn leading_zeros(value: &str, decimal: u8) -> Option<String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let shorter = digits.trim_start_matches('0');
    let is_number = shorter.is_empty() || Written::of(shorter, decimal).is_some();
    (digits.starts_with('0') && is_number).then(|| "begins with zeros, which a number would lose".to_owned())
}

fn outside_of_decimal(number: Written<'_>, precision: u8, scale: i8) -> String {
    let data_type = DataType::Decimal128(precision, scale);
    let room = usize::try_from(scale).unwrap_or_default();
    let decimals = number.needed_decimals();
    if decimals > room {
        let are = if decimals == 1 { "decimal" } else { "decimals" };
        return format!("has {decimals} {are}, and {data_type}, the type of this column, has room for {room}");
    }
    let digits = number.whole_digits();
    let room = usize::from(precision).saturating_sub(room);
    format!("has {digits} digits before the decimals, and {data_type}, the type of this column, has room for {room}")
}

fn outside_of_double(nearest: f64) -> &'static str {
    match nearest {
        _ if nearest.is_infinite() => "is too large for a 64-bit floating point number",
        0.0 => "is too small for a 64-bit floating point number, which would be 0",
        _ => "has more digits than the 64-bit floating point numbers of this column keep",
    }
}

fn outside_of_times(of_column: TimeUnit, column_has_zone: bool, value: &str) -> Option<String> {
    let unit = Unit::of(of_column);
    let looked_at = format!("(up to {},{:03} are looked at)", LOOKED_AT / 1000, LOOKED_AT % 1000);
    match moment(value) {
        Some((_, true, _)) if !column_has_zone => {
            Some(format!("has a zone, and the first lines have none {looked_at}"))
        }
        Some((_, false, _)) if column_has_zone => None,
        None if column_has_zone || !is_day(value) => None,
        Some((finer, ..)) if finer > unit => {
            let most = unit.decimals();
            Some(format!(
                "has more than {most} decimals, and none of the first lines has {looked_at}"
            ))
        }
        _ => Some("is outside of 1677 to 2262, the years that nanoseconds have room for".to_owned()),
    }
}

/// What values of a type look like.
fn in_words(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "true or false",
        DataType::Int64 | DataType::Decimal128(_, 0) => "a whole number",
        DataType::Float64 | DataType::Decimal128(..) => "a number",
        DataType::Date32 => "a date as 2026-11-27",
        DataType::Timestamp(_, None) => "a time as 2026-11-27 10:00:00",
        DataType::Timestamp(..) => "a time with its zone as 2026-11-27T10:00:00Z",
        _ => "text",
    }
}
