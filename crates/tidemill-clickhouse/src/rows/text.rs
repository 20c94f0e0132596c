//! Values as text, and back: dates, times, decimals, numbers of 256 bits, UUIDs.
//!
//! The forms are those of ISO 8601 and RFC 3339, with a year of more than four digits where it has them; times of day may be
//! beyond a day, as ClickHouse's are.

use std::fmt::Write;

use arrow_buffer::i256;

/// `2024-12-31`, of days since 1970-01-01.
pub(crate) fn date(days: i64) -> String {
    let (year, month, day) = civil(days);
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `2024-12-31T23:59:59.125Z`, of ticks of `digits` since 1970-01-01.
pub(crate) fn instant(ticks: i64, digits: u8) -> String {
    let unit = 10_i64.pow(digits.min(9).into());
    let (seconds, part) = (ticks.div_euclid(unit), ticks.rem_euclid(unit));
    let mut text = date(seconds.div_euclid(DAY));
    text.push('T');
    clock(
        &mut text,
        seconds.rem_euclid(DAY).unsigned_abs(),
        part.unsigned_abs(),
        digits,
    );
    text.push('Z');
    text
}

/// `-123:59:59.125`, of ticks of `digits`.
pub(crate) fn duration(ticks: i64, digits: u8) -> String {
    let unit = 10_u64.pow(digits.min(9).into());
    let mut text = String::new();
    if ticks < 0 {
        text.push('-');
    }
    let ticks = ticks.unsigned_abs();
    clock(&mut text, ticks / unit, ticks % unit, digits);
    text
}

/// `-12.50`, of 1250 units of two digits.
pub(crate) fn decimal(units: i256, scale: u8) -> String {
    let text = units.to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let scale = usize::from(scale);
    if scale == 0 {
        return text;
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{part}")
}

/// The digits of 32 bytes, little-endian, without a sign.
pub(crate) fn unsigned256(bytes: [u8; 32]) -> String {
    // From the most significant: four digits of the base 2^64, divided by 10^19 until nothing is left.
    let (words, _) = bytes.as_chunks::<8>();
    let mut words: Vec<u64> = words.iter().rev().map(|word| u64::from_le_bytes(*word)).collect();
    let mut groups = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u128;
        for word in &mut words {
            let dividend = rest << 64 | u128::from(*word);
            // The rest is less than the divisor, so the quotient fits.
            *word = u64::try_from(dividend / TEN_19).unwrap_or(u64::MAX);
            rest = dividend % TEN_19;
        }
        groups.push(rest);
    }
    let mut text = groups.pop().unwrap_or_default().to_string();
    for group in groups.into_iter().rev() {
        let _ = write!(text, "{group:019}");
    }
    text
}

/// The form with hyphens.
pub(crate) fn uuid(bytes: [u8; 16]) -> String {
    uuid::Uuid::from_bytes(bytes).hyphenated().to_string()
}

/// Days since 1970-01-01 of `2024-12-31`.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let mut parts = rest.split('-');
    let [year, month, day] = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() || year.len() < 4 || year.len() > 9 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month, day) = (sign * number(year)?, number(month)?, number(day)?);
    let days = days(year, month, day);
    // A day that a month does not have is another one.
    (civil(days) == (year, month, day)).then_some(days)
}

/// Ticks of `digits` since 1970-01-01 of a date, `T` or a space, a time and an offset from UTC (`Z`, `+02:00`).
pub(crate) fn parse_instant(text: &str, digits: u8) -> Option<i64> {
    let (date, rest) = text.split_at_checked(text.find(['T', 't', ' '])?)?;
    let rest = rest.get(1..)?;
    let (time, offset) = match rest.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => {
            let (time, offset) = rest.split_at_checked(rest.rfind(['+', '-'])?)?;
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            if hours.len() != 2 || minutes.len() != 2 {
                return None;
            }
            let minutes = number(hours)? * 60 + number(minutes)?;
            (
                time,
                if offset.starts_with('-') {
                    -60 * minutes
                } else {
                    60 * minutes
                },
            )
        }
    };
    let (seconds, part) = parse_clock(time, digits)?;
    if seconds >= DAY {
        return None;
    }
    let seconds = parse_date(date)?.checked_mul(DAY)?.checked_add(seconds - offset)?;
    seconds
        .checked_mul(10_i64.checked_pow(digits.into())?)?
        .checked_add(part)
}

/// Seconds since 1970-01-01 in the time of its place, and ticks of `digits`, of a date alone or with a time after it.
pub(crate) fn parse_local(text: &str, digits: u8) -> Option<(i64, i64)> {
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let (seconds, part) = parse_clock(time, digits)?;
    if seconds >= DAY {
        return None;
    }
    Some((parse_date(date)?.checked_mul(DAY)?.checked_add(seconds)?, part))
}

/// Ticks of `digits` of a time.
pub(crate) fn parse_duration(text: &str, digits: u8) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (seconds, part) = parse_clock(rest, digits)?;
    let ticks = seconds
        .checked_mul(10_i64.checked_pow(digits.into())?)?
        .checked_add(part)?;
    Some(sign * ticks)
}

/// Units of `scale` digits of a decimal number. Digits beyond the scale must be zeros.
pub(crate) fn parse_decimal(text: &str, scale: u8) -> Option<i256> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = rest.split_once('.').unwrap_or((rest, ""));
    if whole.len() + part.len() == 0 || !whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kept = part.trim_end_matches('0');
    let zeros = usize::from(scale).checked_sub(kept.len())?;
    let digits = format!("{whole}{kept}{:0<zeros$}", "");
    let digits = digits.trim_start_matches('0');
    match digits {
        "" => Some(i256::ZERO),
        _ if digits.len() > 77 => None,
        _ => i256::from_string(&format!("{sign}{digits}")),
    }
}

/// 32 bytes, little-endian, of a number's digits.
pub(crate) fn parse256(text: &str, is_signed: bool) -> Option<[u8; 32]> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || (is_negative && !is_signed) {
        return None;
    }
    let mut words = [0_u64; 4];
    for digit in digits.bytes() {
        let mut carry = u128::from(digit - b'0');
        for word in &mut words {
            let product = u128::from(*word) * 10 + carry;
            [*word, _] = halves(product);
            carry = product >> 64;
        }
        if carry != 0 {
            return None;
        }
    }
    let mut bytes = [0; 32];
    let (places, _) = bytes.as_chunks_mut::<8>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    if is_negative {
        let mut carry = true;
        for byte in &mut bytes {
            (*byte, carry) = (!*byte).overflowing_add(carry.into());
        }
    }
    let has_sign = bytes.last().is_some_and(|last| *last >= 0x80);
    let is_zero = bytes == [0; 32];
    (!is_signed || is_zero || has_sign == is_negative).then_some(bytes)
}

fn halves(number: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = number.to_le_bytes();
    [u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(rest)]
}

fn clock(text: &mut String, seconds: u64, part: u64, digits: u8) {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(text, "{hours:02}:{minutes:02}:{seconds:02}");
    if digits > 0 {
        let _ = write!(text, ".{part:0width$}", width = usize::from(digits));
    }
}

/// Seconds and ticks of `hh:mm`, `hh:mm:ss` or `hh:mm:ss.part`.
fn parse_clock(text: &str, digits: u8) -> Option<(i64, i64)> {
    let mut parts = text.split(':');
    let [hours, minutes] = [parts.next()?, parts.next()?];
    let (seconds, part) = match parts.next() {
        Some(seconds) => seconds.split_once('.').unwrap_or((seconds, "")),
        None => ("00", ""),
    };
    if parts.next().is_some() || hours.len() > 4 || minutes.len() != 2 || seconds.len() != 2 {
        return None;
    }
    let (hours, minutes, seconds) = (number(hours)?, number(minutes)?, number(seconds)?);
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let kept = part.trim_end_matches('0');
    let zeros = usize::from(digits).checked_sub(kept.len())?;
    let part = format!("0{kept}{:0<zeros$}", "");
    Some((hours * 3600 + minutes * 60 + seconds, number(&part)?))
}

fn number(digits: &str) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Year, month and day of days since 1970-01-01, in the Gregorian calendar at all times.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The other way, `days_from_civil` of the same source.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

const DAY: i64 = 86_400;
const TEN_19: u128 = 10_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_and_times_have_their_text() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (65_535, "2149-06-06"),
            (-25_567, "1900-01-01"),
            (-719_529, "-0001-12-31"),
        ] {
            assert_eq!(date(days), text);
            assert_eq!(parse_date(text), Some(days));
        }
        assert_eq!(instant(-1, 3), "1969-12-31T23:59:59.999Z");
        assert_eq!(duration(-3_599_999, 0), "-999:59:59");
        assert_eq!(parse_instant("2000-01-01 01:30+01:30", 0), Some(946_684_800));
        for wrong in ["1999-02-29", "2000-1-01", "2000-01-01x", "", "2000-13-01"] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
        for wrong in [
            "2000-01-01T00:00:00",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:60Z",
            "2000-01-01T00:00:00.5Z",
        ] {
            assert_eq!(parse_instant(wrong, 0), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn text_of_times_is_read_back(ticks in -4_000_000_000_000_000_000_i64..4_000_000_000_000_000_000, digits in 0_u8..=9) {
            let ticks = if digits < 3 { ticks >> 24 } else { ticks };
            prop_assert_eq!(parse_instant(&instant(ticks, digits), digits), Some(ticks));
            let short = ticks % (3_600_000 * 10_i64.pow(digits.into()));
            prop_assert_eq!(parse_duration(&duration(short, digits), digits), Some(short));
        }

        #[test]
        fn text_of_wide_numbers_is_read_back(low: u128, high: i128, scale in 0_u8..=76) {
            let number = i256::from_parts(low, high);
            let bytes = number.to_le_bytes();
            prop_assert_eq!(parse256(&number.to_string(), true), Some(bytes));
            prop_assert_eq!(parse256(&unsigned256(bytes), false), Some(bytes));
            let units = i256::from_parts(low, high >> 8);
            prop_assert_eq!(parse_decimal(&decimal(units, scale), scale), Some(units));
        }
    }
}
