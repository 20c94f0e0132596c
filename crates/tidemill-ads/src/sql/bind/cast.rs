//! Types that are written: those of literals, and those that CAST and CONVERT name.

use sqlparser::ast;

use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value, parse_date, parse_time, parse_timestamp};

/// `DATE '…'`, `{d '…'}` and their like.
pub(super) fn typed_literal(data_type: &ast::DataType, text: &str) -> Result<Value> {
    let value = match data_type {
        ast::DataType::Date => parse_date(text).map(Value::Date),
        ast::DataType::Time(..) => parse_time(text).map(Value::Time),
        ast::DataType::Timestamp(_, ast::TimezoneInfo::WithTimeZone | ast::TimezoneInfo::Tz) => {
            parse_zoned(text).map(Value::Timestamp)
        }
        ast::DataType::Timestamp(..) | ast::DataType::Datetime(..) => parse_timestamp(text).map(Value::Timestamp),
        other => {
            return Err(Error::new(
                Kind::Unsupported,
                format!("ADS SQL has no literals of the type {other}"),
            ));
        }
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

/// The type that CAST and CONVERT name, and the length of its texts.
pub(super) fn cast_type(text: &str) -> Result<(Type, u32)> {
    let (name, rest) = text.split_once('(').unwrap_or((text, ""));
    let mut numbers = rest
        .trim_end_matches(')')
        .split(',')
        .map(|number| number.trim().parse::<u32>().ok());
    let (length, decimals) = (numbers.next().flatten(), numbers.next().flatten());
    let name = name.trim().to_ascii_uppercase();
    let type_of = match name.strip_prefix("SQL_").unwrap_or(&name) {
        "CHAR" | "VARCHAR" | "WCHAR" | "WVARCHAR" | "CICHAR" | "NCHAR" | "NVARCHAR" | "STRING" | "CHARACTER" => {
            Type::Text(0)
        }
        "LONGVARCHAR" | "WLONGVARCHAR" | "MEMO" => Type::Memo,
        "BINARY" | "VARBINARY" | "LONGVARBINARY" | "RAW" | "BLOB" => Type::Bytes,
        "BIT" | "LOGICAL" | "BOOLEAN" => Type::Logical,
        "INTEGER" | "INT" | "SMALLINT" | "SHORT" | "BIGINT" | "LONGINT" | "TINYINT" | "AUTOINC" => Type::Integer,
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "REAL" | "CURDOUBLE" => Type::Double,
        "NUMERIC" | "DECIMAL" => match decimals {
            Some(decimals) => Type::Decimal(u8::try_from(decimals.min(30)).unwrap_or(30)),
            None if length.is_some() => Type::Integer,
            None => Type::Double,
        },
        "MONEY" => Type::Decimal(4),
        "DATE" => Type::Date,
        "TIME" => Type::Time,
        "TIMESTAMP" | "DATETIME" => Type::Timestamp,
        other => return Err(Error::new(Kind::Type, format!("No type to convert to: {other}"))),
    };
    Ok((type_of, length.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
