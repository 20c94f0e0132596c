//! Values and their types.

use std::borrow::Cow;
use std::cmp::Ordering;
use tidemill_xbase::julian::{civil_from_unix_days, unix_days_from_civil};

use super::error::{Error, Kind, Result};

/// A value of a parameter, a literal, a variable.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// `unscaled` / 10^`scale`.
    Decimal {
        /// The digits.
        unscaled: i128,
        /// How many of them are behind the point.
        scale: u8,
    },
    /// A double.
    Double(f64),
    /// True or false.
    Logical(bool),
    /// Days since 1970-01-01; [`EMPTY_DATE`] is the blank date of a DBF.
    Date(i32),
    /// Milliseconds since midnight.
    Time(i32),
    /// Milliseconds since 1970-01-01 without a zone; [`EMPTY_TIMESTAMP`] is the blank one of a DBF.
    Timestamp(i64),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The date that a blank field holds. It comes before every day.
pub const EMPTY_DATE: i32 = i32::MIN;
/// The timestamp that a blank field holds. It comes before every moment.
pub const EMPTY_TIMESTAMP: i64 = i64::MIN;
/// Milliseconds of a day.
pub(super) const DAY_MS: i64 = 86_400_000;

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// Not known, or NULL.
    Unknown,
    /// Text of at most so many characters; 0 where nobody knows.
    Text(u32),
    /// Text in a memo.
    Memo,
    /// A whole number.
    Integer,
    /// A number with so many digits behind the point.
    Decimal(u8),
    /// A double.
    Double,
    /// True or false.
    Logical,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time.
    Timestamp,
    /// Bytes.
    Bytes,
}

impl Type {
    /// What faults call it.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Unknown => "a value",
            Self::Text(_) | Self::Memo => "character",
            Self::Integer | Self::Decimal(_) | Self::Double => "numeric",
            Self::Logical => "logical",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Bytes => "binary",
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal(_) | Self::Double | Self::Unknown)
    }

    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Memo | Self::Unknown)
    }

    /// The type of values that may be of either; `None` where they do not go together.
    pub fn with(self, other: Self) -> Option<Self> {
        use Type as T;
        Some(match (self, other) {
            (T::Unknown, other) | (other, T::Unknown) => other,
            (T::Memo, T::Text(_) | T::Memo) | (T::Text(_), T::Memo) => T::Memo,
            (T::Text(0), T::Text(_)) | (T::Text(_), T::Text(0)) => T::Text(0),
            (T::Text(a), T::Text(b)) => T::Text(a.max(b)),
            (T::Double, other) | (other, T::Double) if other.is_number() => T::Double,
            (T::Decimal(a), T::Decimal(b)) => T::Decimal(a.max(b)),
            (T::Decimal(a), T::Integer) | (T::Integer, T::Decimal(a)) => T::Decimal(a),
            (T::Date, T::Timestamp) | (T::Timestamp, T::Date) => T::Timestamp,
            (a, b) if a == b => a,
            _ => return None,
        })
    }
}

impl Value {
    /// Its type.
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Unknown,
            Self::Text(text) => Type::Text(u32::try_from(text.chars().count()).unwrap_or(0)),
            Self::Integer(_) => Type::Integer,
            Self::Decimal { scale, .. } => Type::Decimal(*scale),
            Self::Double(_) => Type::Double,
            Self::Logical(_) => Type::Logical,
            Self::Date(_) => Type::Date,
            Self::Time(_) => Type::Time,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Bytes(_) => Type::Bytes,
        }
    }

    /// A number as it is written in a statement.
    pub(super) fn number(digits: &str) -> Option<Self> {
        if digits.contains(['e', 'E']) {
            return digits.parse().ok().map(Self::Double);
        }
        let Some((whole, fraction)) = digits.split_once('.') else {
            return match digits.parse() {
                Ok(number) => Some(Self::Integer(number)),
                Err(_) => match digits.parse() {
                    Ok(unscaled) if has_room(unscaled) => Some(Self::Decimal { unscaled, scale: 0 }),
                    _ => digits.parse().ok().map(Self::Double),
                },
            };
        };
        let unscaled = format!("{whole}{fraction}")
            .parse()
            .ok()
            .filter(|unscaled| has_room(*unscaled));
        match (unscaled, u8::try_from(fraction.len())) {
            (Some(unscaled), Ok(scale)) if scale <= 30 => Some(Self::Decimal { unscaled, scale }),
            _ => digits.parse().ok().map(Self::Double),
        }
    }

    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is asked for")]
    pub(super) fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Decimal { unscaled, scale } => Some(decimal_to_f64(*unscaled, *scale)),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }

    /// The number with the other sign; what is none stays as it is.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Integer(number) => match number.checked_neg() {
                Some(number) => Self::Integer(number),
                None => Self::Decimal {
                    unscaled: -i128::from(number),
                    scale: 0,
                },
            },
            Self::Decimal { unscaled, scale } => {
                let unscaled = unscaled.saturating_neg();
                // The digits of the least whole number are none of 64 bits without their sign.
                match unscaled == i64::MIN.into() && scale == 0 {
                    true => Self::Integer(i64::MIN),
                    false => Self::Decimal { unscaled, scale },
                }
            }
            Self::Double(number) => Self::Double(-number),
            other => other,
        }
    }

    /// The whole number, cut at the point.
    pub(super) fn to_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Decimal { unscaled, scale } => i64::try_from(unscaled / power_of_ten(*scale)).ok(),
            Self::Double(number) => f64_to_i64(*number),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// As text, without blanks at its end.
    pub(super) fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Integer(number) => number.to_string().into(),
            Self::Decimal { unscaled, scale } => decimal_text(*unscaled, *scale).into(),
            Self::Double(number) => number.to_string().into(),
            Self::Logical(value) => Cow::Borrowed(if *value { "True" } else { "False" }),
            Self::Date(days) => date_text(*days).into(),
            Self::Time(ms) => time_text(i64::from(*ms)).into(),
            Self::Timestamp(ms) => timestamp_text(*ms).into(),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        }
    }

    /// How two values of one kind stand; `None` for NULL and for those that cannot be compared. Blanks at the end of texts do not
    /// count.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(trimmed(a).cmp(trimmed(b))),
            (Self::Logical(a), Self::Logical(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) | (Self::Time(a), Self::Time(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Timestamp(b)) => Some(midnight(*a).cmp(b)),
            (Self::Timestamp(a), Self::Date(b)) => Some(a.cmp(&midnight(*b))),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            _ => self.to_f64()?.partial_cmp(&other.to_f64()?),
        }
    }
}

/// Whether a decimal has at most 38 digits.
pub(super) fn has_room(unscaled: i128) -> bool {
    unscaled.unsigned_abs() < 10_u128.pow(38)
}

/// 10 to the power, as far as 128 bits go.
pub(super) fn power_of_ten(exponent: u8) -> i128 {
    10_i128.checked_pow(u32::from(exponent)).unwrap_or(i128::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is asked for")]
pub(super) fn decimal_to_f64(unscaled: i128, scale: u8) -> f64 {
    unscaled as f64 / 10_f64.powi(i32::from(scale))
}

/// Cut at the point; `None` for what 64 bits do not hold.
pub(super) fn f64_to_i64(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "within the limits")]
    let cut = number.trunc() as i64;
    (number.is_finite() && number.abs() < LIMIT).then_some(cut)
}

/// Without blanks at the end.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_end_matches([' ', '\0'])
}

pub(super) fn midnight(days: i32) -> i64 {
    match days {
        EMPTY_DATE => EMPTY_TIMESTAMP,
        days => i64::from(days) * DAY_MS,
    }
}

/// The day of a moment.
pub(super) fn day_of(ms: i64) -> i32 {
    match ms {
        EMPTY_TIMESTAMP => EMPTY_DATE,
        ms => i32::try_from(ms.div_euclid(DAY_MS)).unwrap_or(EMPTY_DATE),
    }
}

pub(super) fn decimal_text(unscaled: i128, scale: u8) -> String {
    if scale == 0 {
        return unscaled.to_string();
    }
    let scale = usize::from(scale);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" })
}

pub(super) fn date_text(days: i32) -> String {
    if days == EMPTY_DATE {
        return String::new();
    }
    let (year, month, day) = civil_from_unix_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

pub(super) fn time_text(ms: i64) -> String {
    format!("{:02}:{:02}:{:02}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60)
}

pub(super) fn timestamp_text(ms: i64) -> String {
    if ms == EMPTY_TIMESTAMP {
        return String::new();
    }
    let (day, of_day) = (day_of(ms), ms.rem_euclid(DAY_MS));
    let fraction = match of_day % 1000 {
        0 => String::new(),
        ms => format!(".{ms:03}"),
    };
    format!("{} {}{fraction}", date_text(day), time_text(of_day))
}

/// Days since 1970-01-01; `None` when there is no such day in the years 1 to 9999.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i32> {
    let [year, month, day] = [year, month, day].map(i32::try_from);
    unix_days_from_civil(year.ok()?, month.ok()?, day.ok()?)
}

/// `YYYY-MM-DD`, `YYYYMMDD`, or the American `MM/DD/YYYY`; blank text is the empty date.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    if text.is_empty() {
        return Some(EMPTY_DATE);
    }
    let number = |part: &str| part.trim().parse::<i64>().ok().filter(|_| part.trim().len() <= 4);
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => days_from_civil(number(year)?, number(month)?, number(day)?),
        [month, day, year] if year.len() == 4 && text.contains('/') => {
            days_from_civil(number(year)?, number(month)?, number(day)?)
        }
        [digits] if digits.len() == 8 && digits.is_ascii() => {
            let (year, rest) = digits.split_at(4);
            let (month, day) = rest.split_at(2);
            days_from_civil(number(year)?, number(month)?, number(day)?)
        }
        _ => None,
    }
}

/// `HH:MM[:SS[.fff]] [AM|PM]` in milliseconds since midnight.
pub(super) fn parse_time(text: &str) -> Option<i32> {
    let text = text.trim().to_ascii_uppercase();
    let (clock, half) = match (text.strip_suffix("AM"), text.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim(), Some(0)),
        (_, Some(clock)) => (clock.trim(), Some(12)),
        _ => (text.as_str(), None),
    };
    let mut parts = clock.split(':');
    let mut whole = |limit: i32| {
        let part = parts.next()?;
        part.parse().ok().filter(|n| (0..limit).contains(n))
    };
    let (mut hour, minute) = (whole(24)?, whole(60)?);
    if let Some(half) = half {
        hour = (hour <= 12 && hour > 0).then_some(hour % 12 + half)?;
    }
    let ms = match (parts.next(), parts.next()) {
        (None, _) => 0,
        (Some(_), Some(_)) => return None,
        (Some(seconds), None) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            let whole = whole.parse::<i32>().ok().filter(|n| (0..60).contains(n))?;
            let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
            whole * 1000 + fraction.parse::<i32>().ok().filter(|n| *n >= 0)?
        }
    };
    Some(hour * 3_600_000 + minute * 60_000 + ms)
}

/// A date and a time with a blank or a `T` between them; a date alone is its midnight.
pub(super) fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let day = parse_date(date)?;
    if day == EMPTY_DATE {
        return Some(EMPTY_TIMESTAMP);
    }
    Some(midnight(day) + i64::from(time.map_or(Some(0), parse_time)?))
}

/// A fault about a value that does not become another type.
pub(super) fn cannot_convert(value: &str, wanted: &str) -> Error {
    Error::new(Kind::Value, format!("Cannot convert {value:?} to {wanted}"))
}

/// A fault about a number that a column of whole numbers does not hold.
fn beyond_64_bits(value: &Value) -> Error {
    let number = match value {
        Value::Double(number) => format!("{number:e}"),
        number => number.to_text().into_owned(),
    };
    Error::new(Kind::Value, format!("{number} is beyond 64 bits"))
}

impl Value {
    /// The value as another type, exactly or cut: what CAST does.
    ///
    /// # Errors
    /// [`Kind::Value`] for text that is no value of that type.
    pub(super) fn cast(&self, wanted: Type) -> Result<Self> {
        let fail = || cannot_convert(&self.to_text(), wanted.noun());
        Ok(match (self, wanted) {
            (Self::Null, _) | (_, Type::Unknown) => self.clone(),
            (Self::Text(_), Type::Text(_) | Type::Memo) => self.clone(),
            (_, Type::Text(_) | Type::Memo) => Self::Text(self.to_text().into_owned()),
            (Self::Text(text), Type::Integer | Type::Decimal(_) | Type::Double) => {
                let number = text.trim();
                let (negative, digits) = match number.strip_prefix('-') {
                    Some(digits) => (true, digits),
                    None => (false, number.strip_prefix('+').unwrap_or(number)),
                };
                let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
                let parsed = Self::number(digits).filter(|_| is_number).ok_or_else(fail)?;
                let signed = if negative { parsed.negated() } else { parsed };
                return signed.cast(wanted);
            }
            (Self::Logical(value), Type::Integer | Type::Decimal(_) | Type::Double) => {
                return Self::Integer(i64::from(*value)).cast(wanted);
            }
            (_, Type::Integer) => Self::Integer(self.to_i64().ok_or_else(|| match self.to_f64() {
                Some(number) if number.is_finite() => beyond_64_bits(self),
                _ => fail(),
            })?),
            (_, Type::Double) => Self::Double(self.to_f64().ok_or_else(fail)?),
            (_, Type::Decimal(scale)) => Self::Decimal {
                unscaled: self.unscaled(scale).filter(|made| has_room(*made)).ok_or_else(fail)?,
                scale,
            },
            (Self::Text(text), Type::Logical) => match text.trim().to_ascii_lowercase().as_str() {
                "t" | "true" | "y" | "yes" | "1" => Self::Logical(true),
                "f" | "false" | "n" | "no" | "0" | "" => Self::Logical(false),
                _ => return Err(fail()),
            },
            (_, Type::Logical) if self.to_f64().is_some() => Self::Logical(self.to_f64() != Some(0.0)),
            (Self::Text(text), Type::Date) => match parse_timestamp(text) {
                Some(ms) => Self::Date(day_of(ms)),
                None => return Err(fail()),
            },
            (Self::Timestamp(ms), Type::Date) => Self::Date(day_of(*ms)),
            (Self::Text(text), Type::Time) => Self::Time(parse_time(text).ok_or_else(fail)?),
            (Self::Timestamp(ms), Type::Time) => Self::Time(i32::try_from(ms.rem_euclid(DAY_MS)).unwrap_or_default()),
            (Self::Text(text), Type::Timestamp) => Self::Timestamp(parse_timestamp(text).ok_or_else(fail)?),
            (Self::Date(days), Type::Timestamp) => Self::Timestamp(midnight(*days)),
            (Self::Text(text), Type::Bytes) => Self::Bytes(text.clone().into_bytes()),
            (_, wanted) if std::mem::discriminant(&self.type_of()) == std::mem::discriminant(&wanted) => self.clone(),
            _ => return Err(fail()),
        })
    }

    /// The number in units of its last digit behind the point, rounded half away from zero.
    fn unscaled(&self, wanted: u8) -> Option<i128> {
        match self {
            Self::Integer(number) => i128::from(*number).checked_mul(power_of_ten(wanted)),
            Self::Decimal { unscaled, scale } => rescale(*unscaled, *scale, wanted),
            Self::Double(number) => {
                let scaled = (number * 10_f64.powi(i32::from(wanted))).round();
                #[expect(clippy::cast_possible_truncation, reason = "within the limits")]
                let unscaled = scaled as i128;
                (scaled.is_finite() && scaled.abs() < 1e37).then_some(unscaled)
            }
            _ => None,
        }
    }
}

/// A number with other digits behind the point, rounded half away from zero.
pub(super) fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return unscaled.checked_mul(10_i128.checked_pow(u32::from(to - from))?);
    }
    let divisor = 10_i128.checked_pow(u32::from(from - to))?;
    let (quotient, rest) = (unscaled / divisor, unscaled % divisor);
    Some(match rest.unsigned_abs() * 2 >= divisor.unsigned_abs() {
        true => quotient + rest.signum(),
        false => quotient,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let decimal = |unscaled, scale| Some(Value::Decimal { unscaled, scale });
        assert_eq!(Value::number("50000"), Some(Value::Integer(50_000)));
        assert_eq!(Value::number("1.50"), decimal(150, 2));
        assert_eq!(Value::number(".5"), decimal(5, 1));
        assert_eq!(Value::number("1e3"), Some(Value::Double(1000.0)));
        assert_eq!(decimal_text(-5, 2), "-0.05");
    }

    #[test]
    fn dates_are_read_in_three_forms() {
        let day = days_from_civil(2024, 2, 29);
        for text in ["2024-02-29", "20240229", "02/29/2024"] {
            assert_eq!(parse_date(text), day, "{text}");
        }
        assert_eq!(parse_date("2023-02-29"), None);
        assert_eq!(parse_date("  "), Some(EMPTY_DATE));
        assert_eq!(parse_time("1:05:09.5 PM"), Some(47_109_500));
        assert_eq!(parse_time("24:00"), None);
        assert_eq!(parse_timestamp("1970-01-02 00:00:01"), Some(DAY_MS + 1000));
    }

    proptest! {
        #[test]
        fn a_day_is_what_its_year_month_and_day_say(days in -719_162_i32..=2_932_896) {
            let (year, month, day) = civil_from_unix_days(days);
            prop_assert_eq!(days_from_civil(year.into(), month.into(), day.into()), Some(days));
        }

        #[test]
        fn text_reads_as_what_it_was_written_from(text in "\\PC{0,30}") {
            let _ = (parse_date(&text), parse_time(&text), parse_timestamp(&text), Value::number(&text));
        }
    }
}
