//! Whole numbers of any size: two's complement, the highest byte first, as CQL's `varint` and the digits of its `decimal` have them.

/// The shortest bytes of a number that is written in decimal digits, with or without a sign.
pub(super) fn from_decimal(digits: &str) -> Option<Vec<u8>> {
    let (is_negative, digits) = match digits.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Nine digits at a time into limbs of 32 bits, the lowest first.
    let mut limbs: Vec<u32> = Vec::new();
    let (first, rest) = digits.split_at(digits.len() % 9);
    for group in std::iter::once(first)
        .filter(|group| !group.is_empty())
        .chain(rest.chunks(9))
    {
        let mut carry = group.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
        let factor = 10_u64.pow(u32::try_from(group.len()).ok()?);
        for limb in &mut limbs {
            let product = u64::from(*limb) * factor + carry;
            *limb = (product & u64::from(u32::MAX)) as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let mut bytes = vec![0];
    bytes.extend(limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()));
    if is_negative {
        negate(&mut bytes);
    }
    Some(shortest(&bytes))
}

/// The shortest bytes of a number.
pub(super) fn from_integer(number: i64) -> Vec<u8> {
    shortest(&number.to_be_bytes())
}

/// The digits of a number, with a minus before those of a negative one.
pub(super) fn to_decimal(bytes: &[u8]) -> String {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let mut magnitude = bytes.to_vec();
    if is_negative {
        negate(&mut magnitude);
        // The lowest number of its width is its own negative, as an unsigned one.
    }
    let mut digits = Vec::new();
    while magnitude.iter().any(|byte| *byte != 0) {
        let mut remainder = 0;
        for byte in &mut magnitude {
            let dividend = remainder * 256 + u32::from(*byte);
            *byte = (dividend / 10) as u8;
            remainder = dividend % 10;
        }
        digits.push(char::from(b'0' + remainder as u8));
    }
    if digits.is_empty() {
        digits.push('0');
    }
    if is_negative {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

fn negate(bytes: &mut [u8]) {
    let mut carry = true;
    for byte in bytes.iter_mut().rev() {
        let (sum, overflow) = (!*byte).overflowing_add(u8::from(carry));
        *byte = sum;
        carry = overflow;
    }
}

/// Drops bytes in front that only repeat the sign.
fn shortest(bytes: &[u8]) -> Vec<u8> {
    let is_repeated =
        |pair: &[u8]| matches!(pair, [0, next] if *next < 0x80) || matches!(pair, [0xff, next] if *next >= 0x80);
    let repeated = bytes.windows(2).take_while(|pair| is_repeated(pair)).count();
    bytes[repeated..].to_vec()
}

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
            assert_eq!(from_decimal(number).unwrap(), bytes, "{number}");
            assert_eq!(to_decimal(bytes), number);
            assert_eq!(from_integer(number.parse().unwrap()), bytes);
        }
    }

    #[test]
    fn numbers_of_any_size_come_back() {
        for number in [
            "170141183460469231731687303715884105727",
            "-170141183460469231731687303715884105728",
            "340282366920938463463374607431768211456",
            "-99999999999999999999999999999999999999999999999999",
            "1000000000000000000000000000",
        ] {
            let bytes = from_decimal(number).unwrap();
            assert_eq!(to_decimal(&bytes), number);
            if let Ok(small) = number.parse::<i128>() {
                assert_eq!(bytes, shortest(&small.to_be_bytes()), "{number}");
            }
        }
        for number in [i64::MIN, -65_537, 255, i64::MAX] {
            assert_eq!(to_decimal(&from_integer(number)), number.to_string());
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", "-", "1x", "1.5", "0x10", " 1"] {
            assert_eq!(from_decimal(text), None, "{text:?}");
        }
    }
}
