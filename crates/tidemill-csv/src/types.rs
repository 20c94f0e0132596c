//! The types of values, and values as arrays.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, NullArray, PrimitiveArray};
use arrow_cast::parse::{Parser, string_to_datetime};
use arrow_schema::{DataType, TimeUnit};

/// What a value may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There was no value yet.
    Nothing,
    Boolean,
    Whole,
    /// A whole number of more digits than 64 bits hold.
    Long,
    Number,
    Date,
    /// A date with a time of the day.
    Moment {
        unit: Unit,
        has_zone: bool,
    },
    Text,
}

/// What a fraction of a second is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Unit {
    /// The unit of a fraction of so many digits.
    fn of_digits(digits: usize) -> Self {
        match digits {
            0..=3 => Self::Milliseconds,
            4..=6 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    fn per_second(self) -> i64 {
        match self {
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }
}

/// Digits that a long whole number may have.
const LONG_DIGITS: usize = 38;

impl Kind {
    /// The narrowest type of a value.
    pub(crate) fn of(value: &str, decimal: u8) -> Self {
        if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
            return Self::Boolean;
        }
        match value.as_bytes() {
            [b'0'..=b'9' | b'-' | b'.' | b',', ..] => {}
            _ => return Self::Text,
        }
        if let Some(kind) = number(value, decimal) {
            return kind;
        }
        if is_date(value) && Date32Type::parse(value).is_some() {
            return Self::Date;
        }
        moment(value).map_or(Self::Text, |(unit, has_zone, _)| Self::Moment { unit, has_zone })
    }

    /// The type that holds the values of both.
    pub(crate) fn and(self, other: Self) -> Self {
        use Kind as K;
        match (self, other) {
            (one, other) if one == other => one,
            (K::Nothing, kind) | (kind, K::Nothing) => kind,
            (K::Whole, K::Long) | (K::Long, K::Whole) => K::Long,
            (K::Whole, K::Number) | (K::Number, K::Whole) => K::Number,
            (
                K::Moment { unit, has_zone },
                K::Moment {
                    unit: other,
                    has_zone: zone,
                },
            ) if has_zone == zone => K::Moment {
                unit: unit.max(other),
                has_zone,
            },
            (K::Date, moment @ K::Moment { has_zone: false, .. })
            | (moment @ K::Moment { has_zone: false, .. }, K::Date) => moment,
            _ => K::Text,
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Whole => DataType::Int64,
            Self::Long => DataType::Decimal128(38, 0),
            Self::Number => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Moment { unit, has_zone } => {
                let unit = match unit {
                    Unit::Milliseconds => TimeUnit::Millisecond,
                    Unit::Microseconds => TimeUnit::Microsecond,
                    Unit::Nanoseconds => TimeUnit::Nanosecond,
                };
                DataType::Timestamp(unit, has_zone.then(|| "UTC".into()))
            }
        }
    }
}

/// The kind of a number; `None` for what is none, or begins with a zero that a number would lose.
fn number(value: &str, decimal: u8) -> Option<Kind> {
    let digits = value.strip_prefix('-').unwrap_or(value).as_bytes();
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole > 1 && digits[0] == b'0' {
        return None;
    }
    let rest = &digits[whole..];
    if rest.is_empty() {
        return match whole {
            0 => None,
            _ if value.parse::<i64>().is_ok() => Some(Kind::Whole),
            1..=LONG_DIGITS => Some(Kind::Long),
            _ => None,
        };
    }
    let (fraction, rest) = match rest {
        [point, rest @ ..] if *point == decimal => {
            let fraction = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (fraction, &rest[fraction..])
        }
        rest => (0, rest),
    };
    let exponent = match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    (whole + fraction > 0 && exponent).then_some(Kind::Number)
}

fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| {
            if matches!(at, 4 | 7) {
                *byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}

/// A moment, with its seconds since 1970 and the nanoseconds behind them; without a zone as if in UTC.
fn moment(value: &str) -> Option<(Unit, bool, (i64, u32))> {
    let rest = value.get(10..).filter(|_| value.get(..10).is_some_and(is_date))?;
    let time = rest.strip_prefix(['T', ' ', 't'])?.trim_end();
    let clock = time.find(['Z', 'z', '+', '-']).map_or(time, |zone| &time[..zone]);
    let has_zone = clock.len() < time.len();
    let fraction = clock
        .split_once('.')
        .map_or(0, |(_, digits)| digits.trim_end().trim_end_matches('0').len());
    let instant = string_to_datetime(&chrono::Utc, value).ok()?;
    let count = (instant.timestamp(), instant.timestamp_subsec_nanos());
    Some((Unit::of_digits(fraction), has_zone, count))
}

/// The values of a column, `None` for NULL, as an array.
///
/// # Errors
///
/// The number of the first value that the type does not have.
pub(crate) fn array<'v>(
    data_type: &DataType,
    decimal: u8,
    values: impl ExactSizeIterator<Item = Option<(&'v str, bool)>> + Clone,
) -> Result<ArrayRef, usize> {
    // An empty text in quotes is a value of text alone.
    let filled = |value: Option<(&'v str, bool)>| value.filter(|(text, _)| !text.is_empty()).map(|(text, _)| text);
    Ok(match data_type {
        DataType::Boolean => {
            let parsed = values.enumerate().map(|(at, value)| match filled(value) {
                None => Ok(None),
                Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
                Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
                Some(_) => Err(at),
            });
            Arc::new(parsed.collect::<Result<BooleanArray, usize>>()?)
        }
        DataType::Int64 => primitive::<Int64Type>(values, filled, |text| match number(text, decimal)? {
            Kind::Whole => text.parse().ok(),
            _ => None,
        })?,
        DataType::Decimal128(38, 0) => {
            let long = primitive::<Decimal128Type>(values, filled, |text| match number(text, decimal)? {
                Kind::Whole | Kind::Long => text.parse().ok(),
                _ => None,
            })?;
            Arc::new(
                long.as_primitive::<Decimal128Type>()
                    .clone()
                    .with_data_type(data_type.clone()),
            )
        }
        DataType::Float64 => primitive::<Float64Type>(values, filled, |text| {
            number(text, decimal)?;
            match decimal {
                b'.' => Float64Type::parse(text),
                _ => Float64Type::parse(&text.replace(char::from(decimal), ".")),
            }
        })?,
        DataType::Date32 => primitive::<Date32Type>(values, filled, |text| {
            is_date(text).then(|| Date32Type::parse(text)).flatten()
        })?,
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second | TimeUnit::Millisecond => Unit::Milliseconds,
                TimeUnit::Microsecond => Unit::Microseconds,
                TimeUnit::Nanosecond => Unit::Nanoseconds,
            };
            let parse = |text: &str| {
                let (seconds, nanos) = match moment(text) {
                    Some((finer, has_zone, count)) if finer <= unit && has_zone == zone.is_some() => count,
                    None if zone.is_none() && is_date(text) => (i64::from(Date32Type::parse(text)?) * 86_400, 0),
                    _ => return None,
                };
                let rest = i64::from(nanos) / (1_000_000_000 / unit.per_second());
                seconds.checked_mul(unit.per_second())?.checked_add(rest)
            };
            let counts = match unit {
                Unit::Milliseconds => primitive::<TimestampMillisecondType>(values, filled, parse)?,
                Unit::Microseconds => primitive::<TimestampMicrosecondType>(values, filled, parse)?,
                Unit::Nanoseconds => primitive::<TimestampNanosecondType>(values, filled, parse)?,
            };
            arrow_cast::cast(&counts, data_type).map_err(|_| 0_usize)?
        }
        DataType::Null => Arc::new(NullArray::new(values.len())),
        _ => {
            // As large as it has to be: sorts count what an array could hold.
            let bytes = values.clone().flatten().map(|(text, _)| text.len()).sum();
            let mut texts = StringBuilder::with_capacity(values.len(), bytes);
            for value in values {
                texts.append_option(
                    value
                        .filter(|(text, is_quoted)| *is_quoted || !text.is_empty())
                        .map(|(text, _)| text),
                );
            }
            Arc::new(texts.finish())
        }
    })
}

fn primitive<'v, T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Option<(&'v str, bool)>>,
    filled: impl Fn(Option<(&'v str, bool)>) -> Option<&'v str>,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<ArrayRef, usize> {
    let parsed = values.enumerate().map(|(at, value)| match filled(value) {
        None => Ok(None),
        Some(text) => parse(text).map(Some).ok_or(at),
    });
    Ok(Arc::new(parsed.collect::<Result<PrimitiveArray<T>, usize>>()?))
}

/// What values of a type look like, for messages.
pub(crate) fn in_words(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "true or false",
        DataType::Int64 | DataType::Decimal128(..) => "a whole number",
        DataType::Float64 => "a number",
        DataType::Date32 => "a date as 2026-11-27",
        DataType::Timestamp(_, None) => "a time as 2026-11-27 10:00:00",
        DataType::Timestamp(..) => "a time with its zone as 2026-11-27T10:00:00Z",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment_of(unit: Unit) -> Kind {
        Kind::Moment { unit, has_zone: false }
    }

    const MILLIS: Kind = Kind::Moment {
        unit: Unit::Milliseconds,
        has_zone: false,
    };
    const ZONED: Kind = Kind::Moment {
        unit: Unit::Milliseconds,
        has_zone: true,
    };

    #[test]
    fn values_have_the_narrowest_type_that_loses_nothing() {
        for (value, kind) in [
            ("true", Kind::Boolean),
            ("FALSE", Kind::Boolean),
            ("0", Kind::Whole),
            ("-12", Kind::Whole),
            ("9223372036854775807", Kind::Whole),
            ("9223372036854775808", Kind::Long),
            ("123456789012345678901234567890123456789", Kind::Text),
            ("00123", Kind::Text),
            ("-007", Kind::Text),
            ("0.5", Kind::Number),
            (".5", Kind::Number),
            ("5.", Kind::Number),
            ("1e9", Kind::Number),
            ("-1.5E-7", Kind::Number),
            ("1e", Kind::Text),
            (".", Kind::Text),
            ("-", Kind::Text),
            ("1.2.3", Kind::Text),
            ("1,5", Kind::Text),
            ("+5", Kind::Text),
            ("2026-11-27", Kind::Date),
            ("2026-02-30", Kind::Text),
            ("2026-11-27 10:00:00", MILLIS),
            ("2026-11-27 10:00:00.120000", MILLIS),
            ("2026-11-27T10:00:00.123456", moment_of(Unit::Microseconds)),
            ("2026-11-27T10:00:00.123456700", moment_of(Unit::Nanoseconds)),
            ("2026-11-27T10:00:00Z", ZONED),
            ("2026-11-27T10:00:00+02:00", ZONED),
            ("2026-11-27 25:00:00", Kind::Text),
            ("12:30", Kind::Text),
            ("1/2/2026", Kind::Text),
            ("inf", Kind::Text),
        ] {
            assert_eq!(Kind::of(value, b'.'), kind, "{value}");
        }
        assert_eq!(Kind::of("-1,5", b','), Kind::Number);
        assert_eq!(Kind::of("1.5", b','), Kind::Text);
    }

    #[test]
    fn two_kinds_have_one_that_holds_both() {
        for (one, other, both) in [
            (Kind::Whole, Kind::Number, Kind::Number),
            (Kind::Whole, Kind::Long, Kind::Long),
            (Kind::Long, Kind::Number, Kind::Text),
            (Kind::Nothing, Kind::Date, Kind::Date),
            (Kind::Date, MILLIS, MILLIS),
            (MILLIS, moment_of(Unit::Nanoseconds), moment_of(Unit::Nanoseconds)),
            (Kind::Date, ZONED, Kind::Text),
            (MILLIS, ZONED, Kind::Text),
            (Kind::Boolean, Kind::Whole, Kind::Text),
        ] {
            assert_eq!((one.and(other), other.and(one)), (both, both), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_named() {
        let of = |data_type: &DataType, values: &[&'static str]| {
            let values: Vec<_> = values.iter().map(|value| Some((*value, false))).collect();
            array(data_type, b'.', values.into_iter()).map(|array| array.null_count())
        };
        for (kind, values, found) in [
            (Kind::Whole, &["1", "", "x"][..], Err(2)),
            (Kind::Whole, &["1", "", "2"], Ok(1)),
            (Kind::Whole, &["1", "007"], Err(1)),
            (Kind::Whole, &["9223372036854775808"], Err(0)),
            (Kind::Long, &["9223372036854775808", "1"], Ok(0)),
            (Kind::Number, &["1", "1.5", "1e5", "a"], Err(3)),
            (Kind::Date, &["2026-01-01", "2026-01-01 10:00:00"], Err(1)),
            (MILLIS, &["2026-01-01", "2026-01-01 10:00:00.5"], Ok(0)),
            (MILLIS, &["2026-01-01 10:00:00.1234"], Err(0)),
            (ZONED, &["2026-01-01T10:00:00Z", "2026-01-01T10:00:00"], Err(1)),
            (Kind::Boolean, &["true", "yes"], Err(1)),
            (Kind::Text, &["true", ""], Ok(1)),
        ] {
            assert_eq!(of(&kind.data_type(), values), found, "{kind:?} {values:?}");
        }
    }
}
