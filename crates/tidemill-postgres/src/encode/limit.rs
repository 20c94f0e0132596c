//! What a column keeps of the values of its type.
//!
//! A server rounds times to the digits of a `timestamp(0)`, fills `101` up for a `bit(4)`, and cuts the blanks behind a `varchar(3)`, all
//! without a word. Such values are errors here. The limit looks at the bytes that are to be sent, so that it does not matter from which array they come.

use super::cell::shown;
use crate::data_type::Type;
use crate::error::Misfit;

/// What values of a column have to keep to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Of a `time`, a `timestamp` or one with time zone: so many digits behind the second.
    Digits(u32),
    /// Of an `interval`: its smallest unit.
    Smallest(Unit),
    /// Of a text that is cast to a `time with time zone`: so many digits behind the second.
    DigitsOfText(u32),
    /// Of a text that is cast to a `bit(n)`.
    Bits(u32),
    /// Of a text that is cast to a `varbit(n)`.
    BitsAtMost(u32),
    /// Of a text that is cast to `money`.
    Cents,
    /// Of a `varchar(n)`.
    Letters(u32),
    /// Of the items of an array.
    Items(Box<Limit>),
    /// Of the items of an array that is sent as its text.
    ItemsOfText(Box<Limit>),
}

/// The smallest unit of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    /// With so many digits behind the second.
    Second(u32),
}

impl Limit {
    /// The limit of a type, with what the catalogue says of the column beyond its type (`atttypmod`, -1 for nothing).
    pub(crate) fn of(typ: &Type, modifier: i32) -> Option<Self> {
        match typ {
            Type::Time | Type::Timestamp | Type::TimestampTz => {
                let digits = u32::try_from(modifier).ok().filter(|digits| *digits < MOST_DIGITS)?;
                Some(Self::Digits(digits))
            }
            Type::Interval => Unit::of_modifier(modifier).map(Self::Smallest),
            Type::Varchar(length) => length.map(Self::Letters),
            Type::Other(name) => Self::of_text(name),
            Type::Array(element) => {
                let items = Box::new(Self::of(element, modifier)?);
                Some(match typ.is_known() {
                    true => Self::Items(items),
                    false => Self::ItemsOfText(items),
                })
            }
            _ => None,
        }
    }

    /// The limit of the texts that are cast to a type.
    fn of_text(name: &str) -> Option<Self> {
        let (name, length) = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
            Some((name, length)) => (name, Some(length.parse().ok()?)),
            None => (name, None),
        };
        match name {
            "bit" => length.map(Self::Bits),
            "varbit" => length.map(Self::BitsAtMost),
            "timetz" => Some(Self::DigitsOfText(length.unwrap_or(MOST_DIGITS))),
            "money" => Some(Self::Cents),
            _ => None,
        }
    }

    /// Looks at a value, as it is sent.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), Misfit> {
        // Texts are sent in UTF-8, and whatever else they were would not be one of these values.
        let text = || str::from_utf8(bytes).unwrap_or_default();
        match self {
            Self::Digits(digits) => match bytes.first_chunk() {
                Some(time) => whole("time", i64::from_be_bytes(*time), *digits),
                None => Ok(()),
            },
            Self::Smallest(unit) => unit.check(bytes),
            Self::DigitsOfText(digits) => digits_of_text(text(), *digits),
            Self::Bits(length) => {
                let expected = || format!("a bit({length}), which has {length} digits, each of them 0 or 1");
                match bits(text()) {
                    Some(found) if found == u64::from(*length) => Ok(()),
                    _ => Err(Misfit::new(expected(), shown(text()))),
                }
            }
            Self::BitsAtMost(length) => {
                let expected = || format!("a varbit({length}), which has at most {length} digits, each of them 0 or 1");
                match bits(text()) {
                    Some(found) if found <= u64::from(*length) => Ok(()),
                    _ => Err(Misfit::new(expected(), shown(text()))),
                }
            }
            Self::Cents => cents(text()),
            Self::Letters(length) => letters(text(), *length),
            Self::Items(limit) => items(bytes).try_for_each(|item| limit.check(item)),
            Self::ItemsOfText(limit) => items_of_text(text())
                .iter()
                .try_for_each(|item| limit.check(item.as_bytes())),
        }
    }
}

impl Unit {
    /// Of an interval's modifier (`intervaltypmodin` in PostgreSQL's `timestamp.c`): above, a bit for each unit; below, the digits.
    fn of_modifier(modifier: i32) -> Option<Self> {
        // The numbers of the bits are those of `datetime.h`.
        const MONTH: i32 = 1 << 1;
        const YEAR: i32 = 1 << 2;
        const DAY: i32 = 1 << 3;
        const HOUR: i32 = 1 << 10;
        const MINUTE: i32 = 1 << 11;
        const SECOND: i32 = 1 << 12;
        let (units, digits) = (modifier >> 16, u32::try_from(modifier & 0xffff).ok()?);
        let has = |unit| units & unit != 0;
        Some(match () {
            () if modifier < 0 => return None,
            () if has(SECOND) => Self::Second(Some(digits).filter(|digits| *digits < MOST_DIGITS)?),
            () if has(MINUTE) => Self::Minute,
            () if has(HOUR) => Self::Hour,
            () if has(DAY) => Self::Day,
            () if has(MONTH) => Self::Month,
            () if has(YEAR) => Self::Year,
            () => return None,
        })
    }

    /// `AdjustIntervalForTypmod` in PostgreSQL's `timestamp.c` sets what is below the unit to zero.
    fn check(self, bytes: &[u8]) -> Result<(), Misfit> {
        const MINUTE: i64 = 60_000_000;
        let Some((microseconds, rest)) = bytes.split_first_chunk() else {
            return Ok(());
        };
        let microseconds = i64::from_be_bytes(*microseconds);
        let (days, months) = match rest {
            [d0, d1, d2, d3, m0, m1, m2, m3] => (
                i32::from_be_bytes([*d0, *d1, *d2, *d3]),
                i32::from_be_bytes([*m0, *m1, *m2, *m3]),
            ),
            _ => return Ok(()),
        };
        let (name, is_whole) = match self {
            Self::Second(digits) => return whole("interval", microseconds, digits),
            Self::Minute => ("minutes", microseconds % MINUTE == 0),
            Self::Hour => ("hours", microseconds % (60 * MINUTE) == 0),
            Self::Day => ("days", microseconds == 0),
            Self::Month => ("months", microseconds == 0 && days == 0),
            Self::Year => ("years", microseconds == 0 && days == 0 && months % 12 == 0),
        };
        match is_whole {
            true => Ok(()),
            false => Err(Misfit::new(
                format!("an interval of whole {name}"),
                format!("{months} months, {days} days and {microseconds} µs"),
            )),
        }
    }
}

fn whole(kind: &str, microseconds: i64, digits: u32) -> Result<(), Misfit> {
    let unit = 10_i64.pow(MOST_DIGITS.saturating_sub(digits));
    match microseconds.rem_euclid(unit) {
        0 => Ok(()),
        _ => Err(Misfit::new(
            with_digits(kind, digits),
            format!("{} µs", microseconds.rem_euclid(1_000_000)),
        )),
    }
}

fn with_digits(kind: &str, digits: u32) -> String {
    let article = if kind.starts_with('i') { "an" } else { "a" };
    let plural = if digits == 1 { "" } else { "s" };
    format!("{article} {kind} with {digits} digit{plural} behind the second")
}

/// The only point in the text of a time stands behind its second.
fn digits_of_text(text: &str, digits: u32) -> Result<(), Misfit> {
    let fraction = text.split_once('.').map_or("", |(_, behind)| leading_digits(behind));
    match significant(fraction) > digits as usize {
        false => Ok(()),
        true => Err(Misfit::new(with_digits("time", digits), shown(text))),
    }
}

/// How many bits a text has, in the forms that `bit_in` takes: `1010`, `b1010` and `xA`.
fn bits(text: &str) -> Option<u64> {
    let (digits, base, bits_of_digit) = match text.split_at_checked(1) {
        Some(("b" | "B", digits)) => (digits, 2, 1),
        Some(("x" | "X", digits)) => (digits, 16, 4),
        _ => (text, 2, 1),
    };
    let is_right = digits.chars().all(|digit| digit.is_digit(base));
    is_right.then_some(digits.len() as u64 * bits_of_digit)
}

/// The server rounds to its currency's cents. In a number the point is a point; in what else it takes for money, as `$1,234.50`, the
/// last one is, unless it parts thousands: `1.234,50 €`.
fn cents(text: &str) -> Result<(), Misfit> {
    let Some((before, behind)) = text.rsplit_once('.') else {
        return Ok(());
    };
    let fraction = leading_digits(behind);
    let parts_thousands = before.contains('.') || behind.contains(',');
    match significant(fraction) > 2 && !parts_thousands {
        false => Ok(()),
        true => Err(Misfit::new(
            "an amount of money with at most two digits behind the point",
            shown(text),
        )),
    }
}

/// `varchar_input` cuts blanks without a word; other letters are an error of its own.
fn letters(text: &str, length: u32) -> Result<(), Misfit> {
    let most = usize::try_from(length).unwrap_or(usize::MAX);
    if text.len() <= most {
        return Ok(());
    }
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Ok(());
    };
    match text
        .get(end..)
        .is_some_and(|surplus| surplus.bytes().all(|byte| byte == b' '))
    {
        false => Ok(()),
        true => Err(Misfit::new(
            format!("a text of at most {length} characters, the blanks at its end among them"),
            format!("{} characters: {}", text.chars().count(), shown(text)),
        )),
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// How many digits behind a point there are before those that are all zero.
fn significant(fraction: &str) -> usize {
    fraction.trim_end_matches('0').len()
}

/// The values of an array of one dimension, as it is sent, without those that are NULL.
fn items(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Dimensions, whether there are NULLs, the type; of the dimension its length and its first number.
    let mut rest = bytes.get(20..).unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            let (length, behind) = rest.split_first_chunk()?;
            rest = behind;
            // NULL has a length of -1.
            if let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) {
                let (item, behind) = rest.split_at_checked(length)?;
                rest = behind;
                return Some(item);
            }
        }
    })
}

/// The items of an array's text, as `array_in` reads it: `{1,NULL,"a b"}`, without those that are NULL. Those of arrays of several
/// dimensions come one after another.
fn items_of_text(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let (mut item, mut is_quoted, mut was_quoted) = (String::new(), false, false);
    // Before the first brace stands where the indexes begin.
    let mut letters = text
        .find('{')
        .and_then(|begin| text.get(begin..))
        .unwrap_or(text)
        .chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => item.extend(letters.next()),
            '"' => {
                is_quoted = !is_quoted;
                was_quoted = true;
            }
            ',' | '{' | '}' if !is_quoted => {
                let found = std::mem::take(&mut item);
                match std::mem::take(&mut was_quoted) {
                    true => items.push(found),
                    false if found.is_empty() || found.eq_ignore_ascii_case("null") => {}
                    false => items.push(found),
                }
            }
            letter if letter.is_ascii_whitespace() && !is_quoted => {}
            letter => item.push(letter),
        }
    }
    items
}

/// What PostgreSQL counts time in are millionths of a second.
const MOST_DIGITS: u32 = 6;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn items_of_an_array_are_read_as_the_server_reads_them() {
        for (text, expected) in [
            ("{}", vec![]),
            ("{1,NULL, \"a,b\" ,\"NULL\",\"\"}", vec!["1", "a,b", "NULL", ""]),
            ("[2:3]={{1},{2}}", vec!["1", "2"]),
            (r#"{"a\"b",c\,d}"#, vec!["a\"b", "c,d"]),
        ] {
            assert_eq!(items_of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn modifiers_of_intervals_tell_their_smallest_unit() {
        for (modifier, expected) in [
            (-1, None),
            // interval(0), interval(6), interval
            (0x7fff_0000, Some(Unit::Second(0))),
            (0x7fff_0006, None),
            (0x7fff_ffff, None),
            // interval year, year to month, day to second(3)
            ((4 << 16) | 0xffff, Some(Unit::Year)),
            ((6 << 16) | 0xffff, Some(Unit::Month)),
            ((0x1c08 << 16) | 3, Some(Unit::Second(3))),
        ] {
            assert_eq!(Unit::of_modifier(modifier), expected, "{modifier:x}");
        }
    }

    #[test]
    fn amounts_of_money_have_cents() {
        for (text, is_right) in [
            ("12", true),
            ("12.30", true),
            ("12.300", true),
            ("12.345", false),
            (".001", false),
            ("$1,234.50", true),
            ("$1,234.505", false),
            ("1.234,50 €", true),
            ("1.234.567 €", true),
            ("¥1,234", true),
        ] {
            assert_eq!(cents(text).is_ok(), is_right, "{text}");
        }
    }

    #[test]
    fn no_bytes_are_worse_than_an_error() {
        for typ in [
            "time[]",
            "interval",
            "varchar(1)",
            "bit(1)",
            "bit(1)[]",
            "money",
            "timetz",
        ] {
            for modifier in [-1, 0, 0x0800_ffff] {
                let Some(limit) = Limit::of(&Type::named(typ).unwrap(), modifier) else {
                    continue;
                };
                for length in 0..40 {
                    for byte in [0, 1, b'{', b'.', b'"', b'\\', 0xff] {
                        let _ = limit.check(&vec![byte; length]);
                    }
                }
            }
        }
    }
}
