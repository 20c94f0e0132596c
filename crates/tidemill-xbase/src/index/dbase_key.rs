//! The numbers and dates of dBASE's indexes: as the file has them, and as keys whose bytes sort.
//!
//! NDX has doubles in the order of Intel's bytes; a date is that of its Julian day. MDX has dates so too, and numbers as decimals
//! of 12 bytes: 34 (hexadecimal) and the number of digits before the point, a byte with the sign (80) and the number of digits
//! (in the bits 7C; 01 is always set), and 20 digits, two to a byte, the first of them not 0. The point stands before the first
//! digit, so that 0.5 has 34 and 57 has 36. Sources: the description of MDX files by Erik Bachmann ("Xbase File Format
//! Description"), and files of the Borland Database Engine, whose numbers of digits are sometimes more than there are (31 in a
//! negative number): what follows the digits are zeros, which change nothing.
//!
//! Decimals are read as the doubles that stand nearest to them, as the fields of a table are when expressions are evaluated:
//! of numbers with more than 15 digits some have the same key.

use super::key::{double, sortable};
use super::page::{DECIMAL_LEN, KeyForm, NUMBER, Node};

/// The digits of a decimal.
const DIGITS: usize = 2 * (DECIMAL_LEN - 2);
/// The first byte of a decimal without digits before the point.
const POINT: u8 = 0x34;
const NEGATIVE: u8 = 0x80;
const ALWAYS_SET: u8 = 0x01;
/// Every number of so many digits is a double.
const EXACT_DIGITS: usize = 15;

/// Appends a key as the file has it to a page; `false`, and nothing appended, when it is none.
#[must_use]
pub(super) fn push(node: &mut Node, form: KeyForm, stored: &[u8], recno: u32) -> bool {
    let number = match form {
        KeyForm::Plain => {
            node.push(stored, recno);
            return true;
        }
        KeyForm::Double => stored.first_chunk().map(|bytes| f64::from_le_bytes(*bytes)),
        KeyForm::Decimal => stored.first_chunk().and_then(decimal),
    };
    let Some(number) = number.filter(|number| !number.is_nan()) else {
        return false;
    };
    node.push(&sortable(number), recno);
    true
}

/// A key as the file has it, of [`KeyBytes::stored_len`](super::page::KeyBytes::stored_len) bytes.
pub(super) fn stored(form: KeyForm, key: &[u8]) -> Stored<'_> {
    match form {
        KeyForm::Plain => Stored::Plain(key),
        KeyForm::Double => Stored::Double(double(key).unwrap_or_default().to_le_bytes()),
        KeyForm::Decimal => Stored::Decimal(of_number(double(key).unwrap_or_default())),
    }
}

/// The bytes of a key in a file.
#[derive(Debug)]
pub(super) enum Stored<'a> {
    Plain(&'a [u8]),
    Double([u8; NUMBER]),
    Decimal([u8; DECIMAL_LEN]),
}

impl Stored<'_> {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Double(bytes) => bytes,
            Self::Decimal(bytes) => bytes,
        }
    }
}

/// The number that a decimal is; `None` where a digit is none.
fn decimal(bytes: &[u8; DECIMAL_LEN]) -> Option<f64> {
    let [before_point, sign, packed @ ..] = bytes;
    let mut digits = [0; DIGITS];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(packed) {
        pair.copy_from_slice(&[byte >> 4, byte & 0x0F]);
    }
    if digits.iter().any(|digit| *digit > 9) {
        return None;
    }
    let len = digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
    let digits = digits.get(..len)?;
    let exponent = i32::from(*before_point) - i32::from(POINT) - i32::try_from(len).ok()?;
    let size = if len <= EXACT_DIGITS && exponent.abs() <= EXACT_POWER {
        let whole = digits.iter().fold(0_u64, |whole, digit| 10 * whole + u64::from(*digit));
        // Both are exact, so that there is one rounding.
        match exponent {
            0.. => whole as f64 * 10_f64.powi(exponent),
            _ => whole as f64 / 10_f64.powi(-exponent),
        }
    } else {
        let digits = digits.iter().map(|digit| char::from(b'0' + digit));
        let text: String = digits.chain(format!("e{exponent}").chars()).collect();
        text.parse().ok()?
    };
    Some(if sign & NEGATIVE == 0 { size } else { -size })
}

/// No higher power of ten is a double.
const EXACT_POWER: i32 = 22;

/// The decimal of a number, with an even number of digits as the Borland Database Engine has it. Numbers that are too small for a
/// decimal are 0, those that are too large the largest.
fn of_number(number: f64) -> [u8; DECIMAL_LEN] {
    let mut bytes = [0; DECIMAL_LEN];
    [bytes[0], bytes[1]] = [POINT, ALWAYS_SET];
    if number == 0.0 || number.is_nan() {
        return bytes;
    }
    // The shortest digits that stand for the double: "1.25e-3".
    let text = format!("{:e}", number.abs().min(f64::MAX));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let before_point = exponent.parse::<i32>().unwrap_or_default() + 1 + i32::from(POINT);
    if before_point < 0 {
        return bytes;
    }
    bytes[0] = u8::try_from(before_point).unwrap_or(u8::MAX);
    let mut count = 0;
    for digit in digits.bytes().filter(u8::is_ascii_digit).take(DIGITS) {
        if let Some(place) = bytes.get_mut(2 + count / 2) {
            *place |= (digit - b'0') << if count % 2 == 0 { 4 } else { 0 };
        }
        count += 1;
    }
    bytes[1] |= (count.next_multiple_of(2) as u8) << 2;
    if number < 0.0 {
        bytes[1] |= NEGATIVE;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> [u8; DECIMAL_LEN] {
        let mut bytes = [0; DECIMAL_LEN];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        }
        bytes
    }

    #[test]
    fn decimals_are_read_and_written() {
        for (hex, number) in [
            ("3401", 0.0),
            ("350930", 3.0),
            ("360957", 57.0),
            ("36890016", -0.16),
            ("36891600", -16.0),
            ("37113170", 317.0),
            ("3b2110234950", 1_023_495.0),
            ("340950", 0.5),
            ("320925", 0.0025),
            ("3409ff", f64::NAN),
        ] {
            let found = decimal(&bytes(hex));
            if number.is_nan() {
                assert_eq!(found, None, "{hex}");
            } else {
                assert_eq!(found, Some(number), "{hex}");
                if hex != "36890016" {
                    assert_eq!(of_number(number), bytes(hex), "{number}");
                }
            }
        }
        // The Borland Database Engine's counts are not always those of the digits.
        assert_eq!(decimal(&bytes("36fd16")), Some(-16.0));
        assert_eq!(decimal(&bytes("38413579")), Some(3579.0));
    }

    #[test]
    fn every_double_that_a_decimal_can_hold_comes_back() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state
        };
        for _ in 0..20_000 {
            let number = (random() >> 11) as f64 * 10_f64.powi((random() >> 40) as i32 % 60 - 40);
            for number in [number, -number, number.round(), (number * 100.0).round() / 100.0] {
                assert_eq!(decimal(&of_number(number)), Some(number + 0.0), "{number}");
            }
        }
        assert_eq!(decimal(&of_number(1e-60)), Some(0.0));
        assert_eq!(decimal(&of_number(1e300)).map(|large| large > 1e200), Some(true));
    }

    #[test]
    fn digits_of_more_places_than_a_double_has_are_rounded_once() {
        let long = bytes("484d12345678901234567891");
        assert_eq!(decimal(&long), Some(12_345_678_901_234_567_891.0));
        let mut node = Node::new(NUMBER, 1);
        assert!(push(&mut node, KeyForm::Decimal, &long, 7));
        assert_eq!(double(node.key(0)), Some(12_345_678_901_234_567_891.0));
        assert!(!push(&mut node, KeyForm::Double, &f64::NAN.to_le_bytes(), 7));
        assert!(!push(&mut node, KeyForm::Double, &[1; 7], 7));
        assert_eq!(
            stored(KeyForm::Double, &sortable(-2.5)).as_bytes(),
            (-2.5_f64).to_le_bytes()
        );
    }
}
