//! Numbers and dates as text, and back.
//!
//! Rounding is that of decimal digits, half away from zero, after the number has been taken to 15 significant digits:
//! 8.995, which as a double is a little less, becomes 9.00 with two decimals, as in Clipper and Harbour (`hb_itemStrBuf`).

use super::environment::{DateOrder, Environment};
use super::value::{civil, julian_day};

/// What `STR()` makes of a number without being told width and decimals: its digits before the point and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `None`: 10, and 20 for large ones.
    pub(super) whole: Option<u16>,
    pub(super) decimals: u8,
}

impl Shape {
    pub(super) const INTEGER: Self = Self {
        whole: None,
        decimals: 0,
    };

    /// The width of the text that `STR(n)` gives.
    fn width(self, n: f64) -> usize {
        let whole = self
            .whole
            .map_or(if n.abs() > 9_999_999_999.0 { 20 } else { 10 }, usize::from);
        match self.decimals {
            0 => whole,
            decimals => whole + 1 + usize::from(decimals),
        }
    }
}

/// The number, right-aligned in `width` bytes; stars when it does not fit.
pub(super) fn number(n: f64, width: usize, decimals: u8) -> Vec<u8> {
    match rounded(n, i32::from(decimals)) {
        // With decimals there is always a place for a digit before the point.
        Some(text) if text.len() <= width => {
            let mut out = vec![b' '; width - text.len()];
            out.extend_from_slice(text.as_bytes());
            out
        }
        _ => vec![b'*'; width],
    }
}

/// As [`number`], with the width that belongs to the shape.
pub(super) fn shaped(n: f64, shape: Shape) -> Vec<u8> {
    number(n, shape.width(n), shape.decimals)
}

/// The number rounded to `decimals` (negative ones: tens, hundreds, …) as a number again.
pub(super) fn round(n: f64, decimals: i32) -> f64 {
    if decimals >= 0 {
        return rounded(n, decimals.min(30))
            .and_then(|text| text.parse().ok())
            .unwrap_or(n);
    }
    let unit = 10f64.powi(-decimals.max(-300));
    rounded(n / unit, 0)
        .and_then(|text| text.parse::<f64>().ok())
        .map_or(n, |tens| tens * unit)
}

/// The number with so many digits after the point; `None` when it is infinite or none.
fn rounded(n: f64, decimals: i32) -> Option<String> {
    /// As many digits as a double surely has.
    const SIGNIFICANT: usize = 15;
    if !n.is_finite() {
        return None;
    }
    let decimals = usize::try_from(decimals).unwrap_or(0);
    if n.fract() == 0.0 && n.abs() < 1e17 {
        // Whole numbers are exact, and the usual case.
        let whole = n.abs();
        let sign = if n < 0.0 { "-" } else { "" };
        return Some(match decimals {
            0 => format!("{sign}{whole:.0}"),
            _ => format!("{sign}{whole:.0}.{:0<decimals$}", ""),
        });
    }
    let scientific = format!("{:.*e}", SIGNIFICANT - 1, n.abs());
    let (mantissa, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    // The digit of 10^-decimals is the last one that stays.
    let keep = i64::from(exponent) + 1 + i64::try_from(decimals).ok()?;
    let mut kept: Vec<u8> = match usize::try_from(keep) {
        Ok(keep) => digits.iter().copied().chain(std::iter::repeat(0)).take(keep).collect(),
        Err(_) => Vec::new(),
    };
    let next = usize::try_from(keep)
        .ok()
        .and_then(|keep| digits.get(keep))
        .copied()
        .unwrap_or(0);
    if next >= 5 {
        match kept.iter_mut().rev().find(|digit| **digit < 9) {
            Some(_) => {
                for digit in kept.iter_mut().rev() {
                    *digit = (*digit + 1) % 10;
                    if *digit != 0 {
                        break;
                    }
                }
            }
            None => {
                kept.fill(0);
                kept.insert(0, 1);
            }
        }
    }
    let missing = (decimals + 1).saturating_sub(kept.len());
    let mut text: Vec<u8> = std::iter::repeat_n(b'0', missing)
        .chain(kept.iter().map(|d| d + b'0'))
        .collect();
    let is_zero = text.iter().all(|b| *b == b'0');
    if decimals > 0 {
        text.insert(text.len() - decimals, b'.');
    }
    if n < 0.0 && !is_zero {
        text.insert(0, b'-');
    }
    String::from_utf8(text).ok()
}

/// `VAL()`: blanks, a sign, digits, a point, digits; what follows does not count, and nothing at all is 0.
pub(super) fn value(text: &[u8]) -> f64 {
    let text = text.trim_ascii_start();
    let signed = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let whole = signed + digits(signed);
    let end = match text.get(whole) {
        Some(b'.') => whole + 1 + digits(whole + 1),
        _ => whole,
    };
    let number = text
        .get(..end)
        .and_then(|t| std::str::from_utf8(t).ok())
        .unwrap_or_default();
    number.parse().unwrap_or(0.0)
}

/// `DTOS()`: YYYYMMDD, eight blanks for the empty date.
pub(super) fn compact_date(day: i64) -> [u8; 8] {
    let Some((year, month, day)) = civil(day) else {
        return [b' '; 8];
    };
    let digit = |n: u32| b'0' + u8::try_from(n % 10).unwrap_or_default();
    let year = u32::try_from(year).unwrap_or_default();
    [
        digit(year / 1000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        digit(month / 10),
        digit(month),
        digit(day / 10),
        digit(day),
    ]
}

/// `STOD()`: the day of YYYYMMDD; 0 when there is none such.
pub(super) fn parse_compact_date(text: &[u8]) -> i64 {
    let part = |from: usize, to: usize| digits(text.get(from..to)?);
    let date = || julian_day(part(0, 4)?, part(4, 6)?, part(6, 8)?);
    date().unwrap_or(0)
}

/// `DTOC()`: as SET DATE and SET CENTURY say; blanks between the separators for the empty date.
pub(super) fn date(day: i64, environment: &Environment) -> Vec<u8> {
    let year_digits = if environment.century { 4 } else { 2 };
    let (year, month, day) = match civil(day) {
        Some((year, month, day)) => {
            let shown = if environment.century { year } else { year % 100 };
            (
                format!("{shown:0year_digits$}"),
                format!("{month:02}"),
                format!("{day:02}"),
            )
        }
        None => (" ".repeat(year_digits), "  ".to_owned(), "  ".to_owned()),
    };
    let parts = match environment.date_order {
        DateOrder::MonthDayYear => [month, day, year],
        DateOrder::DayMonthYear => [day, month, year],
        DateOrder::YearMonthDay => [year, month, day],
    };
    parts.map(String::into_bytes).join(&environment.date_separator)
}

/// `CTOD()`: three numbers in the order of SET DATE, and a year of two digits in the century of SET EPOCH; 0 when they
/// are no day. `^YYYY-MM-DD` is read in every order.
pub(super) fn parse_date(text: &[u8], environment: &Environment) -> i64 {
    let text = text.trim_ascii();
    let (text, order) = match text.strip_prefix(b"^") {
        Some(text) => (text, DateOrder::YearMonthDay),
        None => (text, environment.date_order),
    };
    let parts: Vec<&[u8]> = text
        .split(|b| !b.is_ascii_digit())
        .filter(|p| !p.is_empty())
        .take(3)
        .collect();
    let [first, second, third] = parts[..] else { return 0 };
    let (year, month, day) = match order {
        DateOrder::MonthDayYear => (third, first, second),
        DateOrder::DayMonthYear => (third, second, first),
        DateOrder::YearMonthDay => (first, second, third),
    };
    let date = || {
        let number = digits(year)?;
        let year = if year.len() > 2 {
            number
        } else {
            let epoch = i64::from(environment.epoch);
            let year = epoch - epoch % 100 + number;
            if year < epoch { year + 100 } else { year }
        };
        julian_day(year, digits(month)?, digits(day)?)
    };
    date().unwrap_or(0)
}

/// hh:mm:ss of milliseconds since midnight.
pub(super) fn clock(ms: i64) -> String {
    format!("{:02}:{:02}:{:02}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60)
}

/// A number of at most nine digits and nothing else.
pub(super) fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_decimals() {
        for (n, width, decimals, expected) in [
            (0.0, 10, 2, "      0.00"),
            (8.995, 6, 2, "  9.00"),
            (-8.995, 6, 2, " -9.00"),
            (1.005, 5, 2, " 1.01"),
            (0.5, 3, 0, "  1"),
            (-0.4, 3, 0, "  0"),
            (-0.004, 6, 2, "  0.00"),
            (0.004_999, 5, 2, " 0.00"),
            (999.5, 3, 0, "***"),
            (999.5, 4, 0, "1000"),
            (99.995, 6, 2, "100.00"),
            (0.5, 3, 2, "***"),
            (1e30, 10, 0, "**********"),
            (f64::NAN, 2, 0, "**"),
            (f64::INFINITY, 2, 0, "**"),
            (1234567.891, 10, 1, " 1234567.9"),
            (1.5e-9, 12, 10, "0.0000000015"),
        ] {
            let text = number(n, width, decimals);
            assert_eq!(String::from_utf8(text).unwrap(), expected, "{n}");
        }
        for (n, decimals, expected) in [
            (2.675, 2, 2.68),
            (-2.5, 0, -3.0),
            (1250.0, -2, 1300.0),
            (1e300, 2, 1e300),
        ] {
            assert_eq!(round(n, decimals), expected);
        }
    }

    #[test]
    fn what_is_no_number_counts_nothing() {
        for (text, expected) in [
            (" 12.5x", 12.5),
            ("-", 0.0),
            (".5", 0.5),
            ("1.2.3", 1.2),
            ("", 0.0),
            ("1e5", 1.0),
            ("+7.", 7.0),
            ("- 7", 0.0),
        ] {
            assert_eq!(value(text.as_bytes()), expected, "{text}");
        }
    }
}
