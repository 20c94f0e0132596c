//! Whole numbers and decimals of any size, as CQL has them: two's complement, the highest byte first, and for a `decimal` the
//! number of digits after the point in front (CQL binary protocol v4, sections 6.7 and 6.22).

use num_bigint::BigInt;

/// The digits of a `varint`, a minus before those of a negative number. No bytes are no number.
pub fn varint_to_text(bytes: &[u8]) -> Option<String> {
    match small(bytes) {
        Some(number) => Some(number.to_string()),
        None if bytes.is_empty() || bytes.len() > LONGEST => None,
        None => Some(BigInt::from_signed_bytes_be(bytes).to_string()),
    }
}

/// The shortest bytes of a whole number in decimal digits, with or without a sign.
pub fn varint_from_text(digits: &str) -> Option<Vec<u8>> {
    if let Ok(number) = digits.parse::<i128>() {
        return Some(varint(number));
    }
    let is_number = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    if is_number.is_empty() || digits.len() > LONGEST || !is_number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse::<BigInt>().ok()?.to_signed_bytes_be())
}

/// The shortest bytes of a number.
pub fn varint(number: i128) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let sign = if number < 0 { 0xff } else { 0 };
    let repeated = bytes
        .windows(2)
        .take_while(|pair| pair[0] == sign && (pair[1] ^ sign) < 0x80)
        .count();
    bytes[repeated..].to_vec()
}

/// A number of at most 16 bytes.
pub(crate) fn small(bytes: &[u8]) -> Option<i128> {
    let first = *bytes.first()?;
    let mut wide = [if first >= 0x80 { 0xff } else { 0 }; 16];
    let start = wide.len().checked_sub(bytes.len())?;
    wide[start..].copy_from_slice(bytes);
    Some(i128::from_be_bytes(wide))
}

/// A `decimal` as text: `-12.50`, or with an exponent (`7E+2`) where it has more zeros than digits to tell.
pub(crate) fn decimal_to_text(bytes: &[u8]) -> Option<String> {
    let (scale, digits) = bytes.split_first_chunk()?;
    unscaled_to_text(digits, i32::from_be_bytes(*scale))
}

/// A decimal as text, `-12.50`, or with an exponent (`7E+2`) where it has more zeros than digits to tell: from the bytes of its digits and
/// how many of them stand after the point.
pub fn unscaled_to_text(digits: &[u8], scale: i32) -> Option<String> {
    Some(point(&varint_to_text(digits)?, scale))
}

/// The bytes of a `decimal` from its text: digits, a point among them, an exponent after them.
pub fn decimal_from_text(text: &str) -> Option<Vec<u8>> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.trim_start_matches(['-', '+']).is_empty() && fraction.is_empty() {
        return None;
    }
    let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let mut bytes = i32::try_from(scale).ok()?.to_be_bytes().to_vec();
    bytes.extend(varint_from_text(&format!("{whole}{fraction}"))?);
    Some(bytes)
}

/// Digits with a point before the last `scale` of them.
fn point(digits: &str, scale: i32) -> String {
    const ZEROS: usize = 100;
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    match usize::try_from(scale) {
        Ok(0) => format!("{sign}{digits}"),
        Ok(places) if places < digits.len() + ZEROS => {
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}{digits}E{:+}", -i64::from(scale)),
    }
}

/// The longest number that is read or written, in bytes and in digits: making text of a number takes the square of its length.
const LONGEST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_bytes_of_the_protocol() {
        // The table of section 6.22 of the CQL binary protocol, version 4.
        for (number, bytes) in [
            ("0", &[0x00][..]),
            ("1", &[0x01]),
            ("127", &[0x7f]),
            ("128", &[0x00, 0x80]),
            ("129", &[0x00, 0x81]),
            ("-1", &[0xff]),
            ("-128", &[0x80]),
            ("-129", &[0xff, 0x7f]),
        ] {
            assert_eq!(varint_from_text(number).unwrap(), bytes, "{number}");
            assert_eq!(varint_to_text(bytes).unwrap(), number);
        }
    }

    #[test]
    fn numbers_of_any_size_come_back() {
        for number in [
            "170141183460469231731687303715884105727",
            "-170141183460469231731687303715884105728",
            "340282366920938463463374607431768211456",
            "-99999999999999999999999999999999999999999999999999",
            "9223372036854775808",
        ] {
            assert_eq!(varint_to_text(&varint_from_text(number).unwrap()).unwrap(), number);
        }
        for text in ["", "-", "+-1", "1x", "1.5", "0x10", " 1"] {
            assert_eq!(varint_from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn decimals_come_back_with_their_scale() {
        for (text, scale) in [
            ("123.45", 2),
            ("-0.005", 3),
            ("7", 0),
            ("7E+2", -2),
            ("1.50", 2),
            ("0.00", 2),
            ("7E-2147483647", i32::MAX),
            ("7E+2147483648", i32::MIN),
            ("-99999999999999999999999999999999999999999999999999.9", 1),
        ] {
            let bytes = decimal_from_text(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(bytes[..4], scale.to_be_bytes(), "{text}");
            assert_eq!(decimal_to_text(&bytes).unwrap(), text);
        }
        for text in ["", ".", "-", "1.2.3", "1e", "1e99999999999", "e5", "1.-5"] {
            assert_eq!(decimal_from_text(text), None, "{text:?}");
        }
        assert_eq!(decimal_to_text(&[0, 0, 0, 1]), None);
    }
}
