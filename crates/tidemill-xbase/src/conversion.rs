//! The value of a field as a field of another type would hold it.
//!
//! Nothing is lost in silence: what has no exact equal in the other type is refused. Dates become eight digits of text and
//! come from these or from `YYYY-MM-DD`; logicals become `T` and `F`.

use std::borrow::Cow;

use crate::digits::{decimal_text, parse_text};
use crate::field::FieldKind;
use crate::julian;
use crate::value::Value;

const DAY_MS: i64 = 86_400_000;

/// A value that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Converted<'a> {
    Text(Cow<'a, str>),
    Other(Value<'a>),
}

impl Converted<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(text),
            Self::Other(value) => *value,
        }
    }
}

/// Converts a value to what a field of this kind takes. Blank text is no value, except for text. A field that is exempt from code page
/// translation takes both text and bytes.
///
/// # Errors
/// What the value would have to be.
pub(crate) fn convert(value: Value<'_>, to: FieldKind, is_untranslated: bool) -> Result<Converted<'_>, &'static str> {
    if is_untranslated && matches!(value, Value::Text(_) | Value::Bytes(_)) {
        return Ok(Converted::Other(value));
    }
    let blank = matches!(value, Value::Text(text) if text.trim().is_empty());
    Ok(match to {
        FieldKind::Character
        | FieldKind::CharacterWide
        | FieldKind::VarcharWide
        | FieldKind::Varchar
        | FieldKind::Memo
        | FieldKind::MemoWide => return text(value).map(Converted::Text),
        _ if blank || value == Value::Null => Converted::Other(Value::Null),
        FieldKind::Numeric
        | FieldKind::Float
        | FieldKind::NumericDouble
        | FieldKind::Integer
        | FieldKind::Counter
        | FieldKind::IntegerDbase7
        | FieldKind::Double
        | FieldKind::DoubleDbase7
        | FieldKind::Currency => Converted::Other(match value {
            Value::Text(text) => number(text).ok_or("a number")?,
            Value::Integer(_) | Value::Decimal { .. } | Value::Double(_) => value,
            _ => return Err("a number"),
        }),
        FieldKind::Logical => Converted::Other(match value {
            Value::Logical(_) => value,
            Value::Text(text) => Value::Logical(match text.trim() {
                "T" | "t" | "Y" | "y" => true,
                "F" | "f" | "N" | "n" => false,
                _ => return Err("T, F, Y or N"),
            }),
            _ => return Err("a logical value"),
        }),
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => Converted::Other(match value {
            Value::Date(_) => value,
            Value::Text(text) => Value::Date(date(text).ok_or("a date as YYYYMMDD or YYYY-MM-DD")?),
            Value::Timestamp(ms) if ms.rem_euclid(DAY_MS) == 0 => {
                Value::Date(i32::try_from(ms.div_euclid(DAY_MS)).map_err(|_| "a date")?)
            }
            Value::Timestamp(_) => return Err("a day without a time"),
            _ => return Err("a date"),
        }),
        FieldKind::Timestamp | FieldKind::TimestampDbase7 => Converted::Other(match value {
            Value::Timestamp(_) => value,
            Value::Date(days) => Value::Timestamp(i64::from(days) * DAY_MS),
            Value::Text(text) => Value::Timestamp(i64::from(date(text).ok_or("a date")?) * DAY_MS),
            _ => return Err("a date or a time stamp"),
        }),
        FieldKind::Time => match value {
            Value::Time(_) => Converted::Other(value),
            _ => return Err("a time"),
        },
        FieldKind::CharacterBinary | FieldKind::MemoBinary | FieldKind::Varbinary => match value {
            Value::Bytes(_) => Converted::Other(value),
            _ => return Err("bytes"),
        },
        FieldKind::Variant | FieldKind::System => return Err("nothing: the type is only read"),
    })
}

fn text(value: Value<'_>) -> Result<Cow<'_, str>, &'static str> {
    Ok(match value {
        Value::Null => Cow::Borrowed(""),
        Value::Text(text) => Cow::Borrowed(text),
        Value::Logical(value) => Cow::Borrowed(if value { "T" } else { "F" }),
        Value::Integer(value) => Cow::Owned(value.to_string()),
        Value::Decimal { unscaled, scale } => Cow::Owned(decimal_text(unscaled, scale)),
        Value::Double(value) => Cow::Owned(value.to_string()),
        Value::Date(days) => Cow::Owned(eight_digits(days)),
        Value::Timestamp(ms) => {
            let days = i32::try_from(ms.div_euclid(DAY_MS)).map_err(|_| "a date")?;
            Cow::Owned(format!("{} {}", eight_digits(days), time(ms.rem_euclid(DAY_MS))))
        }
        Value::Time(ms) => Cow::Owned(time(ms.into())),
        Value::Bytes(_) | Value::Encoded(_) => return Err("text"),
    })
}

/// A value as errors show it.
pub(crate) fn shown(value: Value<'_>) -> String {
    let text = match (value, text(value)) {
        (Value::Null, _) => "null".to_owned(),
        (Value::Text(text), _) => format!("{text:?}"),
        (Value::Bytes(bytes) | Value::Encoded(bytes), _) => format!("{} bytes", bytes.len()),
        (_, Ok(text)) => text.into_owned(),
        (other, Err(_)) => format!("{other:?}"),
    };
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}

fn eight_digits(days: i32) -> String {
    let (year, month, day) = julian::civil_from_unix_days(days);
    format!("{year:04}{month:02}{day:02}")
}

fn time(ms: i64) -> String {
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{:02}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

/// All the decimals that the text has.
fn number(text: &str) -> Option<Value<'static>> {
    let text = text.trim();
    let behind_point = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let scale = u8::try_from(behind_point).ok()?;
    let unscaled = parse_text(text.as_bytes(), scale, false).ok()??;
    Some(Value::Decimal { unscaled, scale })
}

fn date(text: &str) -> Option<i32> {
    let text = text.trim();
    let digits: String = match text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _] => text.split('-').collect(),
        _ => text.to_owned(),
    };
    let part = |range: std::ops::Range<usize>| digits.get(range)?.parse::<u32>().ok();
    if digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, month, day) = (part(0..4)?, part(4..6)?, part(6..8)?);
    let (year, month, day) = (
        i32::try_from(year).ok()?,
        i32::try_from(month).ok()?,
        i32::try_from(day).ok()?,
    );
    julian::unix_days_from_civil(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_another_type_holds_or_are_refused() {
        let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
        let rows: [(Value<'_>, FieldKind, Result<Value<'_>, &str>); 26] = [
            (Value::Integer(-7), FieldKind::Character, Ok(Value::Text("-7"))),
            (decimal(-5, 2), FieldKind::Memo, Ok(Value::Text("-0.05"))),
            (decimal(1205, 1), FieldKind::Character, Ok(Value::Text("120.5"))),
            (Value::Double(0.25), FieldKind::Varchar, Ok(Value::Text("0.25"))),
            (Value::Logical(true), FieldKind::Character, Ok(Value::Text("T"))),
            (Value::Date(19_782), FieldKind::Character, Ok(Value::Text("20240229"))),
            (
                Value::Timestamp(1),
                FieldKind::Character,
                Ok(Value::Text("19700101 00:00:00.001")),
            ),
            (
                Value::Time(45_296_789),
                FieldKind::Character,
                Ok(Value::Text("12:34:56.789")),
            ),
            (Value::Bytes(b"a"), FieldKind::Character, Err("text")),
            (Value::Text("a"), FieldKind::MemoBinary, Err("bytes")),
            (Value::Text(" "), FieldKind::MemoBinary, Ok(Value::Null)),
            (Value::Null, FieldKind::Character, Ok(Value::Text(""))),
            (Value::Text("  "), FieldKind::Numeric, Ok(Value::Null)),
            (Value::Text(" -12.50 "), FieldKind::Numeric, Ok(decimal(-1250, 2))),
            (Value::Text("12x"), FieldKind::Integer, Err("a number")),
            (Value::Text("***"), FieldKind::Integer, Err("a number")),
            (Value::Logical(true), FieldKind::Numeric, Err("a number")),
            (Value::Text("y"), FieldKind::Logical, Ok(Value::Logical(true))),
            (Value::Text("?"), FieldKind::Logical, Err("T, F, Y or N")),
            (Value::Text("20240229"), FieldKind::Date, Ok(Value::Date(19_782))),
            (
                Value::Text("2024-02-29"),
                FieldKind::DateBinary,
                Ok(Value::Date(19_782)),
            ),
            (
                Value::Text("20230229"),
                FieldKind::Date,
                Err("a date as YYYYMMDD or YYYY-MM-DD"),
            ),
            (Value::Timestamp(DAY_MS), FieldKind::Date, Ok(Value::Date(1))),
            (
                Value::Timestamp(DAY_MS + 1),
                FieldKind::Date,
                Err("a day without a time"),
            ),
            (Value::Date(-1), FieldKind::Timestamp, Ok(Value::Timestamp(-DAY_MS))),
            (Value::Integer(1), FieldKind::Date, Err("a date")),
        ];
        for (value, kind, expected) in rows {
            let found = convert(value, kind, false);
            assert_eq!(
                found.as_ref().map(Converted::value).map_err(|e| *e),
                expected,
                "{value:?} to {kind:?}"
            );
        }
        for kind in [FieldKind::Character, FieldKind::CharacterBinary] {
            for value in [Value::Text(" "), Value::Text("a"), Value::Bytes(b"a")] {
                assert_eq!(convert(value, kind, true).unwrap().value(), value);
            }
        }
    }
}
