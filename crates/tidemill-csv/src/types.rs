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

use crate::digits::{ALWAYS_KEPT, Written, double, kept_double};

/// What a value may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There was no value yet.
    Nothing,
    Boolean,
    Number(Number),
    /// NaN or an infinity: among numbers a number, by itself text.
    NotFinite,
    Date {
        is_far: bool,
    },
    /// A date with a time of the day.
    Moment {
        unit: Unit,
        has_zone: bool,
        /// Some are outside of the years that nanoseconds have room for.
        is_far: bool,
    },
    Text,
}

/// What numbers need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Number {
    /// The most digits before the point, and behind it.
    whole: u8,
    decimals: u8,
    has_point: bool,
    has_exponent: bool,
    /// A whole number has more digits than 64 bits hold.
    is_wide: bool,
    /// A number without an exponent has digits that a double does not keep.
    is_fine: bool,
}

impl Number {
    /// `None` also for what neither a double nor a decimal number holds.
    fn of(text: &str, decimal: u8) -> Option<Self> {
        let written = Written::of(text, decimal)?;
        let is_kept = !written.has_exponent() && text.len() <= ALWAYS_KEPT
            || double(text, decimal).is_some_and(|nearest| written.is_kept_by(nearest));
        let is_wide = written.is_whole() && text.parse::<i64>().is_err();
        if written.has_exponent() && !is_kept || is_wide && written.whole_digits() > MOST_DIGITS {
            return None;
        }
        Some(Self {
            whole: u8::try_from(written.whole_digits()).unwrap_or(u8::MAX),
            decimals: u8::try_from(written.decimals()).unwrap_or(u8::MAX),
            has_point: !written.is_whole() && !written.has_exponent(),
            has_exponent: written.has_exponent(),
            is_wide,
            is_fine: !is_kept,
        })
    }

    /// What NaN and the infinities need, as numbers with an exponent do: a double.
    const NOT_FINITE: Self = Self {
        whole: 0,
        decimals: 0,
        has_point: false,
        has_exponent: true,
        is_wide: false,
        is_fine: false,
    };

    /// What the numbers of both need.
    fn and(self, other: Self) -> Self {
        Self {
            whole: self.whole.max(other.whole),
            decimals: self.decimals.max(other.decimals),
            has_point: self.has_point || other.has_point,
            has_exponent: self.has_exponent || other.has_exponent,
            is_wide: self.is_wide || other.is_wide,
            is_fine: self.is_fine || other.is_fine,
        }
    }

    fn data_type(self) -> DataType {
        let digits = usize::from(self.whole) + usize::from(self.decimals);
        let needs_decimal = self.is_wide || self.is_fine;
        match (self.has_point, self.has_exponent) {
            (false, false) if !self.is_wide => DataType::Int64,
            (_, true) | (true, false) if !needs_decimal => DataType::Float64,
            (_, false) if digits <= MOST_DIGITS => match i8::try_from(self.decimals) {
                Ok(scale) => DataType::Decimal128(DECIMAL_PRECISION, scale),
                Err(_) => DataType::Utf8,
            },
            _ => DataType::Utf8,
        }
    }
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

    pub(crate) fn of(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Second | TimeUnit::Millisecond => Self::Milliseconds,
            TimeUnit::Microsecond => Self::Microseconds,
            TimeUnit::Nanosecond => Self::Nanoseconds,
        }
    }

    /// How many decimals a fraction has at most.
    pub(crate) fn decimals(self) -> usize {
        match self {
            Self::Milliseconds => 3,
            Self::Microseconds => 6,
            Self::Nanoseconds => 9,
        }
    }

    /// How many there are since 1970; `None` for more than 64 bits hold.
    fn count(self, (seconds, nanos): (i64, u32)) -> Option<i64> {
        let rest = i64::from(nanos) / (1_000_000_000 / self.per_second());
        seconds.checked_mul(self.per_second())?.checked_add(rest)
    }

    fn per_second(self) -> i64 {
        match self {
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }
}

/// Digits that a decimal number may have.
const DECIMAL_PRECISION: u8 = arrow_schema::DECIMAL128_MAX_PRECISION;
const MOST_DIGITS: usize = DECIMAL_PRECISION as usize;

impl Kind {
    /// The narrowest type of a value.
    pub(crate) fn of(value: &str, decimal: u8) -> Self {
        if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
            return Self::Boolean;
        }
        match value.as_bytes() {
            [b'0'..=b'9' | b'-' | b'.' | b',', ..] => {}
            _ if not_finite(value).is_some() => return Self::NotFinite,
            _ => return Self::Text,
        }
        if let Some(number) = Number::of(value, decimal) {
            return Self::Number(number);
        }
        if not_finite(value).is_some() {
            return Self::NotFinite;
        }
        let is_far = |instant| Unit::Nanoseconds.count(instant).is_none();
        if let Some(midnight) = day(value) {
            return Self::Date {
                is_far: is_far(midnight),
            };
        }
        moment(value).map_or(Self::Text, |(unit, has_zone, instant)| Self::Moment {
            unit,
            has_zone,
            is_far: is_far(instant),
        })
    }

    /// The type that holds the values of both.
    pub(crate) fn and(self, other: Self) -> Self {
        use Kind as K;
        match (self, other) {
            (one, other) if one == other => one,
            (K::Nothing, kind) | (kind, K::Nothing) => kind,
            (K::Number(one), K::Number(other)) => K::Number(one.and(other)),
            (K::Number(number), K::NotFinite) | (K::NotFinite, K::Number(number)) => {
                K::Number(number.and(Number::NOT_FINITE))
            }
            (K::Date { is_far }, K::Date { is_far: other }) => K::Date {
                is_far: is_far || other,
            },
            (
                K::Moment { unit, has_zone, is_far },
                K::Moment {
                    unit: other,
                    has_zone: zone,
                    is_far: far,
                },
            ) if has_zone == zone => K::Moment {
                unit: unit.max(other),
                has_zone,
                is_far: is_far || far,
            },
            (
                K::Date { is_far: far },
                K::Moment {
                    unit,
                    has_zone: false,
                    is_far,
                },
            )
            | (
                K::Moment {
                    unit,
                    has_zone: false,
                    is_far,
                },
                K::Date { is_far: far },
            ) => K::Moment {
                unit,
                has_zone: false,
                is_far: is_far || far,
            },
            _ => K::Text,
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::NotFinite | Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Number(number) => number.data_type(),
            Self::Date { .. } => DataType::Date32,
            Self::Moment {
                unit: Unit::Nanoseconds,
                is_far: true,
                ..
            } => DataType::Utf8,
            Self::Moment { unit, has_zone, .. } => {
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

/// NaN and the infinities, as programs write them.
fn not_finite(value: &str) -> Option<f64> {
    Some(match value {
        "NaN" | "nan" | "NAN" => f64::NAN,
        _ => {
            let (is_negative, name) = value.strip_prefix('-').map_or((false, value), |name| (true, name));
            let is_infinite = ["inf", "infinity"].iter().any(|of| name.eq_ignore_ascii_case(of));
            is_infinite.then_some(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY })?
        }
    })
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

/// The beginning of a day, as a [`moment`].
fn day(value: &str) -> Option<(i64, u32)> {
    let days = is_date(value).then(|| Date32Type::parse(value)).flatten()?;
    Some((i64::from(days) * 86_400, 0))
}

pub(crate) fn is_day(value: &str) -> bool {
    day(value).is_some()
}

/// A moment, with its seconds since 1970 and the nanoseconds behind them; without a zone as if in UTC.
pub(crate) fn moment(value: &str) -> Option<(Unit, bool, (i64, u32))> {
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
        DataType::Int64 => primitive::<Int64Type>(values, filled, |text| {
            let is_whole = Written::of(text, decimal)?.is_whole();
            is_whole.then(|| text.parse().ok()).flatten()
        })?,
        DataType::Decimal128(precision, scale @ 0..) => {
            let exact = primitive::<Decimal128Type>(values, filled, |text| {
                Written::of(text, decimal)?.unscaled(*precision, scale.unsigned_abs())
            })?;
            Arc::new(
                exact
                    .as_primitive::<Decimal128Type>()
                    .clone()
                    .with_data_type(data_type.clone()),
            )
        }
        DataType::Float64 => primitive::<Float64Type>(values, filled, |text| {
            kept_double(text, decimal).or_else(|| not_finite(text))
        })?,
        DataType::Date32 => primitive::<Date32Type>(values, filled, |text| {
            is_date(text).then(|| Date32Type::parse(text)).flatten()
        })?,
        DataType::Timestamp(unit, zone) => {
            let unit = Unit::of(*unit);
            let parse = |text: &str| match moment(text) {
                Some((finer, has_zone, instant)) if finer <= unit && has_zone == zone.is_some() => unit.count(instant),
                None if zone.is_none() => unit.count(day(text)?),
                _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn moment_of(unit: Unit) -> Kind {
        Kind::Moment {
            unit,
            has_zone: false,
            is_far: false,
        }
    }

    fn kind_of(value: &str) -> Kind {
        Kind::of(value, b'.')
    }

    const MILLIS: Kind = Kind::Moment {
        unit: Unit::Milliseconds,
        has_zone: false,
        is_far: false,
    };
    const ZONED: Kind = Kind::Moment {
        unit: Unit::Milliseconds,
        has_zone: true,
        is_far: false,
    };

    #[test]
    fn values_have_the_narrowest_type_that_loses_nothing() {
        for (value, kind) in [
            ("true", DataType::Boolean),
            ("FALSE", DataType::Boolean),
            ("0", DataType::Int64),
            ("-12", DataType::Int64),
            ("9223372036854775807", DataType::Int64),
            ("9223372036854775808", DataType::Decimal128(38, 0)),
            ("123456789012345678901234567890123456789", DataType::Utf8),
            ("00123", DataType::Utf8),
            ("-007", DataType::Utf8),
            ("0.5", DataType::Float64),
            (".5", DataType::Float64),
            ("5.", DataType::Float64),
            ("1e9", DataType::Float64),
            ("-1.5E-7", DataType::Float64),
            ("1e", DataType::Utf8),
            (".", DataType::Utf8),
            ("-", DataType::Utf8),
            ("1.2.3", DataType::Utf8),
            ("1,5", DataType::Utf8),
            ("+5", DataType::Utf8),
            ("2026-11-27", DataType::Date32),
            ("2026-02-30", DataType::Utf8),
            ("2026-11-27 10:00:00", MILLIS.data_type()),
            ("2026-11-27 10:00:00.120000", MILLIS.data_type()),
            ("2026-11-27T10:00:00.123456", moment_of(Unit::Microseconds).data_type()),
            (
                "2026-11-27T10:00:00.123456700",
                moment_of(Unit::Nanoseconds).data_type(),
            ),
            ("2026-11-27T10:00:00Z", ZONED.data_type()),
            ("2026-11-27T10:00:00+02:00", ZONED.data_type()),
            ("2026-11-27 25:00:00", DataType::Utf8),
            ("12:30", DataType::Utf8),
            ("1/2/2026", DataType::Utf8),
            ("inf", DataType::Utf8),
            ("NaN", DataType::Utf8),
        ] {
            assert_eq!(kind_of(value).data_type(), kind, "{value}");
        }
        assert_eq!(Kind::of("-1,5", b',').data_type(), DataType::Float64);
        assert_eq!(Kind::of("1.5", b',').data_type(), DataType::Utf8);
    }

    #[test]
    fn two_kinds_have_one_that_holds_both() {
        let day = kind_of("2026-11-27");
        for (one, other, both) in [
            (kind_of("1"), kind_of("1.5"), DataType::Float64),
            (kind_of("1"), kind_of("1e5"), DataType::Float64),
            (
                kind_of("1"),
                kind_of("9223372036854775808"),
                DataType::Decimal128(38, 0),
            ),
            (
                kind_of("1.5"),
                kind_of("9223372036854775808"),
                DataType::Decimal128(38, 1),
            ),
            (kind_of("1e5"), kind_of("9223372036854775808"), DataType::Utf8),
            (Kind::Nothing, day, DataType::Date32),
            (day, MILLIS, MILLIS.data_type()),
            (
                MILLIS,
                moment_of(Unit::Nanoseconds),
                moment_of(Unit::Nanoseconds).data_type(),
            ),
            (kind_of("1600-01-01"), MILLIS, MILLIS.data_type()),
            (kind_of("1600-01-01"), moment_of(Unit::Nanoseconds), DataType::Utf8),
            (day, ZONED, DataType::Utf8),
            (MILLIS, ZONED, DataType::Utf8),
            (Kind::Boolean, kind_of("1"), DataType::Utf8),
            (kind_of("1"), kind_of("NaN"), DataType::Float64),
            (kind_of("-Infinity"), kind_of("1.5"), DataType::Float64),
            (kind_of("inf"), kind_of("nan"), DataType::Utf8),
            (kind_of("inf"), kind_of("9223372036854775808"), DataType::Utf8),
            (kind_of("1.5"), kind_of("Inf."), DataType::Utf8),
            (kind_of("1.5"), kind_of("-nan"), DataType::Utf8),
            (Kind::Nothing, kind_of("NaN"), DataType::Utf8),
            (day, kind_of("NaN"), DataType::Utf8),
        ] {
            let (one_way, other_way) = (one.and(other).data_type(), other.and(one).data_type());
            assert_eq!((&one_way, &other_way), (&both, &both), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_named() {
        let of = |data_type: &DataType, values: &[&'static str]| {
            let values: Vec<_> = values.iter().map(|value| Some((*value, false))).collect();
            array(data_type, b'.', values.into_iter()).map(|array| array.null_count())
        };
        for (data_type, values, found) in [
            (DataType::Int64, &["1", "", "x"][..], Err(2)),
            (DataType::Int64, &["1", "", "2"], Ok(1)),
            (DataType::Int64, &["1", "007"], Err(1)),
            (DataType::Int64, &["9223372036854775808"], Err(0)),
            (DataType::Decimal128(38, 0), &["9223372036854775808", "1"], Ok(0)),
            (DataType::Float64, &["1", "1.5", "1e5", "a"], Err(3)),
            (DataType::Date32, &["2026-01-01", "2026-01-01 10:00:00"], Err(1)),
            (MILLIS.data_type(), &["2026-01-01", "2026-01-01 10:00:00.5"], Ok(0)),
            (MILLIS.data_type(), &["2026-01-01 10:00:00.1234"], Err(0)),
            (
                ZONED.data_type(),
                &["2026-01-01T10:00:00Z", "2026-01-01T10:00:00"],
                Err(1),
            ),
            (DataType::Boolean, &["true", "yes"], Err(1)),
            (DataType::Utf8, &["true", ""], Ok(1)),
        ] {
            assert_eq!(of(&data_type, values), found, "{data_type:?} {values:?}");
        }
    }
}
