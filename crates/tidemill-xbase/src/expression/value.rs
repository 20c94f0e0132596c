//! Types and values of the language.

use std::borrow::Cow;

use crate::julian;

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;
/// Julian day number of 1970-01-01.
const UNIX_EPOCH: i64 = 2_440_588;

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Bytes in the table's code page.
    Character,
    /// A double.
    Number,
    /// True or false.
    Logical,
    /// A day, or none.
    Date,
    /// A day and a time of it.
    Timestamp,
    /// `.NULL.` and nothing else.
    Null,
}

impl Type {
    /// The letter that index headers and `VALTYPE()` have for it; `U` for [`Type::Null`].
    pub fn letter(self) -> char {
        match self {
            Self::Character => 'C',
            Self::Number => 'N',
            Self::Logical => 'L',
            Self::Date => 'D',
            Self::Timestamp => 'T',
            Self::Null => 'U',
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Character => "a text",
            Self::Number => "a number",
            Self::Logical => "a logical",
            Self::Date => "a date",
            Self::Timestamp => "a timestamp",
            Self::Null => ".NULL.",
        }
    }
}

/// A value of one record.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value<'a> {
    /// `.NULL.`
    #[default]
    Null,
    /// Bytes in the table's code page.
    Character(Cow<'a, [u8]>),
    /// A double.
    Number(f64),
    /// True or false.
    Logical(bool),
    /// A Julian day number; 0 is the empty date.
    Date(i64),
    /// Milliseconds since the beginning of Julian day 0; 0 is the empty timestamp.
    Timestamp(i64),
}

impl<'a> Value<'a> {
    /// A text.
    pub fn text(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self::Character(bytes.into())
    }

    /// The day that lies `days` after 1970-01-01.
    pub fn from_unix_days(days: i32) -> Self {
        Self::Date(i64::from(days) + UNIX_EPOCH)
    }

    /// The moment that lies `ms` milliseconds after 1970-01-01 00:00.
    pub fn from_unix_ms(ms: i64) -> Self {
        Self::Timestamp(ms.saturating_add(UNIX_EPOCH * DAY_MS))
    }

    /// The day in days since 1970-01-01, of a timestamp too; `None` when it is empty, none, or outside the years 1 to 9999.
    pub fn unix_days(&self) -> Option<i32> {
        unix_days(self.day())
    }

    /// The moment in milliseconds since 1970-01-01 00:00; `None` when it is empty or none.
    pub fn unix_ms(&self) -> Option<i64> {
        match self {
            Self::Timestamp(ms) if *ms != 0 => Some(unix_ms(*ms)),
            _ => None,
        }
    }

    /// The value with everything that it borrows copied.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Character(bytes) => Value::Character(Cow::Owned(bytes.into_owned())),
            Self::Number(n) => Value::Number(n),
            Self::Logical(l) => Value::Logical(l),
            Self::Date(d) => Value::Date(d),
            Self::Timestamp(t) => Value::Timestamp(t),
        }
    }

    pub(crate) fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Character(_) => Type::Character,
            Self::Number(_) => Type::Number,
            Self::Logical(_) => Type::Logical,
            Self::Date(_) => Type::Date,
            Self::Timestamp(_) => Type::Timestamp,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// The bytes; of another type: none.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Character(bytes) => bytes,
            _ => &[],
        }
    }

    /// The bytes, taken out.
    pub(super) fn take_bytes(&mut self) -> Cow<'a, [u8]> {
        match std::mem::take(self) {
            Self::Character(bytes) => bytes,
            _ => Cow::Borrowed(&[]),
        }
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Number(n) => *n,
            _ => 0.0,
        }
    }

    /// The number as programs take it for a position or a width: cut at the point, and never beyond what a text can have.
    pub(crate) fn integer(&self) -> i64 {
        integer(self.number())
    }

    pub(crate) fn logical(&self) -> bool {
        matches!(self, Self::Logical(true))
    }

    /// The Julian day number, of a timestamp too; 0 when empty.
    pub(crate) fn day(&self) -> i64 {
        match self {
            Self::Date(day) => *day,
            Self::Timestamp(ms) => ms.div_euclid(DAY_MS),
            _ => 0,
        }
    }

    /// Milliseconds since midnight.
    pub(crate) fn ms_of_day(&self) -> i64 {
        match self {
            Self::Timestamp(ms) => ms.rem_euclid(DAY_MS),
            _ => 0,
        }
    }
}

/// Cut at the point, within ±2^53; what is not a number is 0.
pub(super) fn integer(n: f64) -> i64 {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "clamped, and `as` takes NaN to 0")]
    let cut = n.clamp(-LIMIT, LIMIT) as i64;
    cut
}

/// Year, month and day of a Julian day number; `None` when empty or outside the years 1 to 9999.
pub(super) fn civil(day: i64) -> Option<(i32, u32, u32)> {
    unix_days(day).map(julian::civil_from_unix_days)
}

/// Days since 1970-01-01 of a Julian day number; `None` when empty or outside the years 1 to 9999.
pub(crate) fn unix_days(day: i64) -> Option<i32> {
    let days = i32::try_from(day.checked_sub(UNIX_EPOCH)?).ok()?;
    (-719_162..=2_932_896).contains(&days).then_some(days)
}

/// The Julian day number of a civil date; `None` when there is no such day.
pub(super) fn julian_day(year: i64, month: i64, day: i64) -> Option<i64> {
    let narrow = |n: i64| i32::try_from(n).ok();
    let days = julian::unix_days_from_civil(narrow(year)?, narrow(month)?, narrow(day)?)?;
    Some(i64::from(days) + UNIX_EPOCH)
}

/// Milliseconds since 1970-01-01 of a timestamp.
pub(super) fn unix_ms(ms: i64) -> i64 {
    ms.saturating_sub(UNIX_EPOCH * DAY_MS)
}
