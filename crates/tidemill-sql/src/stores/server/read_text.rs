//! Detects text that loses something when it is parsed: `'12.345'` as a decimal of two places becomes 12.35, and a date drops a time.

use std::cmp::Ordering;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};

use crate::Result;

/// The first row in which `read` has less than `text`, and the text.
pub(super) fn first_loss(text: &dyn Array, read: &dyn Array) -> Result<Option<(usize, String)>> {
    let is_lost: fn(&str, &str, &DataType) -> bool = match read.data_type() {
        to if to.is_numeric() => |text, kept, _| match (Number::of(text), Number::of(kept)) {
            (Some(text), Some(kept)) => text != kept,
            // A number that became infinity.
            (Some(_), None) => true,
            // Infinity and the like, which are parsed or refused.
            (None, _) => false,
        },
        DataType::Date32 | DataType::Date64 => |text, _, _| has_time(text),
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            |text, _, to| decimals_of_second(text) > most_decimals(to)
        }
        _ => return Ok(None),
    };
    let (text, kept) = (cast(text, &DataType::Utf8)?, cast(read, &DataType::Utf8)?);
    let rows = text.as_string::<i32>().iter().zip(kept.as_string::<i32>());
    let mut lost = rows.enumerate().filter_map(|(row, (text, kept))| {
        let (text, kept) = (text?.trim(), kept?);
        is_lost(text, kept, read.data_type()).then(|| (row, kept.to_owned()))
    });
    Ok(lost.next())
}

/// The exact value of a number's text: 0.`digits` × 10^`exponent`.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    is_negative: bool,
    /// Without leading and trailing zeros.
    digits: String,
    exponent: i64,
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (unsigned, 0_i64),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        if !is_number || whole.len() + fraction.len() == 0 {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let leading = i64::try_from(digits.len() - significant.len()).ok()?;
        let significant = significant.trim_end_matches('0');
        Some(match significant.len().cmp(&0) {
            Ordering::Equal => Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            },
            _ => Self {
                is_negative,
                digits: significant.to_owned(),
                exponent: exponent.checked_add(i64::try_from(whole.len()).ok()? - leading)?,
            },
        })
    }
}

/// Whether the text of a date contains a time other than midnight.
fn has_time(text: &str) -> bool {
    match text.split_once(['T', 't', ' ']) {
        Some((_, time)) => time.bytes().any(|byte| matches!(byte, b'1'..=b'9')),
        None => false,
    }
}

/// The number of decimals of the seconds, without trailing zeros.
fn decimals_of_second(text: &str) -> usize {
    let Some((_, fraction)) = text.rsplit_once('.') else {
        return 0;
    };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    fraction[..digits].trim_end_matches('0').len()
}

fn most_decimals(to: &DataType) -> usize {
    match to {
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => match unit {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        },
        _ => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, StringArray};

    use super::*;

    #[test]
    fn what_is_rounded_or_cut_is_found() {
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        for (text, to, loss) in [
            ("12.345", DataType::Decimal128(9, 2), Some("12.35")),
            ("12.340", DataType::Decimal128(9, 2), None),
            ("1.2e1", DataType::Decimal128(9, 2), None),
            ("-0.005", DataType::Decimal128(9, 2), Some("-0.01")),
            ("-0.00", DataType::Decimal128(9, 2), None),
            ("007", DataType::UInt8, None),
            ("16777217", DataType::Float32, Some("16777216.0")),
            ("0.1", DataType::Float32, None),
            ("0.1234567891", DataType::Float32, Some("0.12345679")),
            ("1e300", DataType::Float64, None),
            ("1e400", DataType::Float64, Some("inf")),
            ("inf", DataType::Float64, None),
            ("2024-01-31", DataType::Date32, None),
            ("2024-01-31T00:00:00", DataType::Date32, None),
            ("2024-01-31T23:59:59", DataType::Date32, Some("2024-01-31")),
            ("2024-01-31T23:59:59.999", seconds.clone(), Some("2024-01-31T23:59:59")),
            ("2024-01-31T23:59:59.000", seconds, None),
            (
                "2024-01-31T23:59:59.123",
                DataType::Timestamp(TimeUnit::Millisecond, None),
                None,
            ),
        ] {
            let text_array: ArrayRef = Arc::new(StringArray::from_iter_values(["0", text]));
            let only = text_array.slice(1, 1);
            let read = cast(&only, &to).expect(text);
            let found = first_loss(&only, &read).expect(text);
            assert_eq!(found.as_ref().map(|(_, kept)| kept.as_str()), loss, "{text} as {to}");
        }
    }
}
