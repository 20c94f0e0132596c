//! Types that are written: those of literals, and those that CAST and CONVERT name.

use sqlparser::ast::{self, TimezoneInfo};

use crate::sql::conversion::{Conversion, Limits};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value, parse_date, parse_time, parse_timestamp};
use crate::sql::vector::DIGITS;

/// The most digits behind the point.
const MAX_SCALE: u32 = 30;
/// So many digits have room in 64 bits, whichever they are.
const WHOLE_DIGITS: u32 = 18;

/// Whether there are literals of a type: those of days, times and moments, with milliseconds.
pub(super) fn has_literals(data_type: &ast::DataType) -> bool {
    use ast::DataType as T;
    match data_type {
        T::Date | T::Timestamp(None | Some(3), _) | T::Datetime(None | Some(3)) => true,
        T::Time(None | Some(3), zone) => matches!(zone, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone),
        _ => false,
    }
}

/// `DATE '…'`, `{d '…'}` and their like.
pub(super) fn typed_literal(data_type: &ast::DataType, text: &str) -> Result<Value> {
    if !has_literals(data_type) {
        let why = format!("ADS SQL has no literals of the type {data_type}");
        return Err(Error::new(Kind::Unsupported, why));
    }
    let value = match data_type {
        ast::DataType::Date => parse_date(text).map(Value::Date),
        ast::DataType::Time(..) => parse_time(text).map(Value::Time),
        ast::DataType::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => {
            parse_zoned(text).map(Value::Timestamp)
        }
        _ => parse_timestamp(text).map(Value::Timestamp),
    };
    value.ok_or_else(|| Error::new(Kind::Value, format!("Invalid literal: {data_type} '{text}'")))
}

/// Converts a timestamp with a UTC offset or `Z` to UTC: `2024-05-15 13:45:30+02:00`. Without an offset it is read as UTC.
fn parse_zoned(text: &str) -> Option<i64> {
    const MINUTE: i64 = 60_000;
    let text = text.trim();
    if let Some(moment) = text.strip_suffix(['Z', 'z']) {
        return parse_timestamp(moment);
    }
    // The signs of a date stand before its time.
    let time = text.find([':'])?;
    let Some(at) = text.get(time..)?.find(['+', '-']).map(|at| time + at) else {
        return parse_timestamp(text);
    };
    let (moment, zone) = text.split_at(at);
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let is_plain = zone.chars().skip(1).all(|c| c.is_ascii_digit() || c == ':');
    let number = |part: &str| part.parse::<i64>().ok();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (number(&digits)?, 0),
        4 => (number(digits.get(..2)?)?, number(digits.get(2..)?)?),
        _ => return None,
    };
    if !is_plain || hours > 15 || minutes > 59 {
        return None;
    }
    let distance = (hours * 60 + minutes) * MINUTE;
    let moment = parse_timestamp(moment.trim_end())?;
    match zone.starts_with('-') {
        true => moment.checked_add(distance),
        false => moment.checked_sub(distance),
    }
}

/// What CAST and CONVERT make of a value, by the type that they name.
///
/// # Errors
/// [`Kind::Unsupported`] for a type that ADS SQL has not, and for lengths, digits and zones that it would not obey.
pub(super) fn conversion(data_type: &ast::DataType, is_try: bool) -> Result<Conversion> {
    let text = data_type.to_string();
    let unsupported = || Error::new(Kind::Unsupported, format!("No type to convert to: {text}"));
    let (name, sizes) = match text.split_once('(') {
        None => (text.as_str(), Vec::new()),
        Some((name, rest)) => {
            let sizes = rest.strip_suffix(')').ok_or_else(unsupported)?;
            (name, sizes.split(',').map(str::trim).collect())
        }
    };
    let number = |size: &str| size.parse::<u32>().map_err(|_| unsupported());
    let name = name.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SQL_").unwrap_or(&name);
    let (mut to, mut length, mut range) = (type_called(name).ok_or_else(unsupported)?, 0, None);
    match (to, sizes.as_slice()) {
        (Type::Text(_), [] | ["MAX"]) => {}
        (Type::Text(_), [size]) => length = number(size.strip_suffix(" CHARACTERS").unwrap_or(size))?,
        // Milliseconds are what times have.
        (Type::Time | Type::Timestamp, ["3"]) => {}
        (Type::Decimal(_), [digits, rest @ ..]) if name != "MONEY" && rest.len() < 2 => {
            let digits = number(digits)?;
            let scale = rest.first().map(|scale| number(scale)).transpose()?;
            if !(1..=u32::from(DIGITS)).contains(&digits) || scale.unwrap_or(0) > digits.min(MAX_SCALE) {
                return Err(unsupported());
            }
            to = match scale {
                None if digits <= WHOLE_DIGITS => Type::Integer,
                scale => Type::Decimal(u8::try_from(scale.unwrap_or(0)).map_err(|_| unsupported())?),
            };
            let greatest = 10_i128.pow(digits) - 1;
            range = Some((-greatest, greatest));
        }
        (Type::Decimal(_), []) if name != "MONEY" => to = Type::Double,
        (_, []) => range = range_of(name),
        _ => return Err(unsupported()),
    }
    let limits = range.map(|(least, greatest)| Limits {
        name: text.clone(),
        least,
        greatest,
        scale: match to {
            Type::Decimal(scale) => scale,
            _ => 0,
        },
    });
    Ok(Conversion {
        to,
        length,
        limits,
        is_try,
    })
}

fn type_called(name: &str) -> Option<Type> {
    Some(match name {
        "CHAR" | "VARCHAR" | "WCHAR" | "WVARCHAR" | "CICHAR" | "NCHAR" | "NVARCHAR" | "STRING" | "CHARACTER"
        | "TEXT" => Type::Text(0),
        "LONGVARCHAR" | "WLONGVARCHAR" | "MEMO" => Type::Memo,
        "BINARY" | "VARBINARY" | "LONGVARBINARY" | "RAW" | "BLOB" => Type::Bytes,
        "BIT" | "LOGICAL" | "BOOLEAN" => Type::Logical,
        "INTEGER" | "INT" | "SMALLINT" | "SHORT" | "BIGINT" | "LONGINT" | "TINYINT" | "AUTOINC" => Type::Integer,
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "REAL" | "CURDOUBLE" => Type::Double,
        "NUMERIC" | "DECIMAL" => Type::Decimal(0),
        "MONEY" => Type::Decimal(4),
        "DATE" => Type::Date,
        "TIME" => Type::Time,
        "TIMESTAMP" | "DATETIME" => Type::Timestamp,
        _ => return None,
    })
}

/// The numbers of a type of so many bits, in units of its last digit ("Supported Data Types" in the help of ADS).
fn range_of(name: &str) -> Option<(i128, i128)> {
    let bits = |bits: u32| (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
    Some(match name {
        "TINYINT" => bits(8),
        "SMALLINT" | "SHORT" => bits(16),
        "INTEGER" | "INT" => bits(32),
        // 32 bits without a sign.
        "AUTOINC" => (0, u32::MAX.into()),
        "BIGINT" | "LONGINT" | "MONEY" => bits(64),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_milliseconds_and_times_no_zone() {
        use ast::DataType as T;
        for (data_type, text, expected) in [
            (T::Date, "2024-02-29", true),
            (T::Time(None, TimezoneInfo::None), "10:00", true),
            (T::Time(Some(3), TimezoneInfo::None), "10:00", true),
            (T::Time(Some(0), TimezoneInfo::None), "10:00", false),
            (T::Time(None, TimezoneInfo::WithTimeZone), "10:00", false),
            (T::Timestamp(None, TimezoneInfo::WithTimeZone), "2024-02-29 10:00", true),
            (T::Timestamp(Some(6), TimezoneInfo::None), "2024-02-29", false),
            (T::Datetime(Some(0)), "2024-02-29", false),
        ] {
            assert_eq!(has_literals(&data_type), expected, "{data_type}");
            assert_eq!(typed_literal(&data_type, text).is_ok(), expected, "{data_type}");
        }
    }

    #[test]
    fn moments_with_a_zone_are_in_utc() {
        let utc = parse_timestamp("2023-05-15 13:45:30").expect("a moment");
        for text in [
            "2023-05-15 13:45:30",
            "2023-05-15 13:45:30Z",
            "2023-05-15 13:45:30+00",
            "2023-05-15 15:45:30+02:00",
            "2023-05-15 08:15:30 -0530",
            "2023-05-15T13:45:30.000+00:00",
        ] {
            assert_eq!(parse_zoned(text), Some(utc), "{text}");
        }
        for text in ["2023-05-15", "2023-05-15 13:45:30+99", "2023-05-15 13:45:30+1a", "x"] {
            assert_eq!(parse_zoned(text), None, "{text}");
        }
    }
}
