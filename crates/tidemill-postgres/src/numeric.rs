//! `numeric`: groups of four decimal digits (`numeric_send` in PostgreSQL's `numeric.c`).
//!
//! | bytes | meaning |
//! |---|---|
//! | `int16` | how many groups |
//! | `int16` | weight: the first group counts 10000 to this power |
//! | `uint16` | sign: 0, 0x4000 below zero, 0xC000 `NaN`, 0xD000 `Infinity`, 0xF000 `-Infinity` |
//! | `uint16` | how many digits behind the point are shown |
//! | `int16` each | groups, 0 to 9999 |

use arrow_buffer::i256;

use crate::error::Misfit;

/// A number as it is sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Numeric<'a> {
    Number(Number<'a>),
    NaN,
    Infinity { is_negative: bool },
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Number<'a> {
    is_negative: bool,
    weight: i16,
    /// Digits behind the point.
    scale: u16,
    /// Two bytes each.
    groups: &'a [u8],
}

impl<'a> Numeric<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Misfit> {
        let wrong = |found: String| Misfit::new("a numeric", found);
        let [c1, c0, w1, w0, s1, s0, d1, d0, groups @ ..] = bytes else {
            return Err(wrong(format!("{} bytes", bytes.len())));
        };
        let count = i16::from_be_bytes([*c1, *c0]);
        if usize::try_from(count).ok().map(|count| count * 2) != Some(groups.len()) {
            return Err(wrong(format!("{count} groups in {} bytes", groups.len())));
        }
        let sign = u16::from_be_bytes([*s1, *s0]);
        let is_negative = match sign {
            POSITIVE => false,
            NEGATIVE => true,
            NAN => return Ok(Self::NaN),
            INFINITY => return Ok(Self::Infinity { is_negative: false }),
            NEGATIVE_INFINITY => return Ok(Self::Infinity { is_negative: true }),
            _ => return Err(wrong(format!("the sign 0x{sign:04x}"))),
        };
        let scale = u16::from_be_bytes([*d1, *d0]);
        if scale > LARGEST_SCALE {
            return Err(wrong(format!("{scale} digits behind the point")));
        }
        let number = Number {
            is_negative,
            weight: i16::from_be_bytes([*w1, *w0]),
            scale,
            groups,
        };
        let wrong_group = number.groups().find(|group| *group >= BASE);
        match wrong_group {
            Some(group) => Err(wrong(format!("the group {group}"))),
            None => Ok(Self::Number(number)),
        }
    }

    /// The text that PostgreSQL shows.
    pub(crate) fn text(&self) -> String {
        let mut text = Vec::new();
        self.push_text(&mut text);
        text.into_iter().map(char::from).collect()
    }

    /// Appends the text that PostgreSQL shows, in ASCII.
    pub(crate) fn push_text(&self, out: &mut Vec<u8>) {
        match self {
            Self::Number(number) => number.push_text(out),
            Self::NaN => out.extend_from_slice(b"NaN"),
            Self::Infinity { is_negative: false } => out.extend_from_slice(b"Infinity"),
            Self::Infinity { is_negative: true } => out.extend_from_slice(b"-Infinity"),
        }
    }
}

impl Number<'_> {
    fn groups(&self) -> impl Iterator<Item = u16> {
        let pairs = self.groups.chunks_exact(2);
        pairs.map(|pair| match pair {
            [high, low] => u16::from_be_bytes([*high, *low]),
            _ => 0,
        })
    }

    /// The number times 10 to `scale`, when that is a whole number of at most 128 bits.
    pub(crate) fn to_i128(&self, scale: i8) -> Option<i128> {
        let mut whole: i128 = 0;
        for group in self.groups() {
            whole = whole.checked_mul(i128::from(BASE))?.checked_add(i128::from(group))?;
        }
        if whole == 0 {
            return Some(0);
        }
        let shift = self.shift(scale);
        let power = 10_i128.checked_pow(shift.unsigned_abs())?;
        let whole = match shift {
            0.. => whole.checked_mul(power)?,
            _ if whole % power == 0 => whole / power,
            _ => return None,
        };
        Some(if self.is_negative { -whole } else { whole })
    }

    /// [`Number::to_i128`], of 256 bits.
    pub(crate) fn to_i256(&self, scale: i8) -> Option<i256> {
        let mut digits: String = self.groups().map(|group| format!("{group:04}")).collect();
        let shift = self.shift(scale);
        let zeros = usize::try_from(shift.unsigned_abs()).ok()?;
        match shift {
            _ if digits.bytes().all(|digit| digit == b'0') => return Some(i256::ZERO),
            // More digits than the type has, whatever they are.
            0.. if zeros > 80 => return None,
            0.. => digits.extend(std::iter::repeat_n('0', zeros)),
            _ => {
                let kept = digits.len().checked_sub(zeros)?;
                if digits.get(kept..)?.bytes().any(|digit| digit != b'0') {
                    return None;
                }
                digits.truncate(kept);
            }
        }
        let whole = i256::from_string(digits.trim_start_matches('0'))?;
        Some(if self.is_negative { whole.wrapping_neg() } else { whole })
    }

    /// By how many digits the groups, as one whole number, stand too far right for the number times 10 to `scale`.
    fn shift(&self, scale: i8) -> i32 {
        // As many as a length of two bytes says.
        let groups = i32::try_from(self.groups.len() / 2).unwrap_or(i32::MAX);
        4 * (i32::from(self.weight) - groups + 1) + i32::from(scale)
    }

    #[cfg(test)]
    fn text(&self) -> String {
        let mut text = Vec::new();
        self.push_text(&mut text);
        text.into_iter().map(char::from).collect()
    }

    fn push_text(&self, out: &mut Vec<u8>) {
        if self.is_negative {
            out.push(b'-');
        }
        let begin = out.len();
        let mut groups = self.groups();
        let weight = i32::from(self.weight);
        for _ in 0..=weight {
            let digits = digits_of(groups.next().unwrap_or_default());
            // Zeros before the first digit are not shown.
            let zeros = match out.len() == begin {
                true => digits.iter().position(|digit| *digit != b'0').unwrap_or(3),
                false => 0,
            };
            out.extend_from_slice(digits.get(zeros..).unwrap_or_default());
        }
        if out.len() == begin {
            out.push(b'0');
        }
        if self.scale > 0 {
            out.push(b'.');
            let point = out.len();
            let scale = usize::from(self.scale);
            // Groups of zeros between the point and the first group.
            for _ in weight..-1 {
                if out.len() - point >= scale {
                    break;
                }
                out.extend_from_slice(b"0000");
            }
            while out.len() - point < scale {
                out.extend_from_slice(&digits_of(groups.next().unwrap_or_default()));
            }
            out.truncate(point + scale);
        }
    }
}

/// The four digits of a group.
fn digits_of(group: u16) -> [u8; 4] {
    [1000, 100, 10, 1].map(|place| b'0' + u8::try_from(group / place % 10).unwrap_or(0))
}

/// A number that is about to be sent: its digits without a point, and how many of them stand behind it.
pub(crate) struct Decimal<'a> {
    pub(crate) is_negative: bool,
    /// ASCII digits.
    pub(crate) digits: &'a [u8],
    /// Below 0 for zeros that are left out at the end.
    pub(crate) scale: i32,
}

impl<'a> Decimal<'a> {
    /// Checks that a column `numeric(precision, scale)` holds exactly this number.
    pub(crate) fn fits(&self, precision: u16, scale: i16) -> bool {
        let digits = trimmed(self.digits);
        let zeros = self.digits.len()
            - self
                .digits
                .iter()
                .rposition(|digit| *digit != b'0')
                .map_or(0, |at| at + 1);
        if digits.is_empty() {
            return true;
        }
        let behind = self.scale.saturating_sub(i32::try_from(zeros).unwrap_or(i32::MAX));
        let before = i32::try_from(digits.len())
            .unwrap_or(i32::MAX)
            .saturating_sub(self.scale);
        behind <= i32::from(scale) && before <= i32::from(precision) - i32::from(scale)
    }

    /// Appends the number as it is sent; `None` when it has more digits than `numeric` has.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        let digits = trimmed(self.digits);
        let shown = u16::try_from(self.scale.max(0))
            .ok()
            .filter(|shown| *shown <= LARGEST_SCALE)?;
        if digits.is_empty() {
            return header(out, 0, 0, false, shown);
        }
        // The digits end with a whole group: `scale + padding` is a multiple of four.
        let padding = (4 - self.scale.rem_euclid(4)) % 4;
        let behind = (self.scale + padding) / 4;
        let padded = digits.len() + usize::try_from(padding).ok()?;
        let mut groups = padded.div_ceil(4);
        let weight = i32::try_from(groups).ok()? - behind - 1;
        let digit = |place: usize| digits.get(place).map_or(0, |digit| u16::from(digit - b'0'));
        let lead = groups * 4 - padded;
        let group = |number: usize| {
            (0..4).fold(0, |group, place| match (number * 4 + place).checked_sub(lead) {
                Some(at) => group * 10 + digit(at),
                None => group * 10,
            })
        };
        while groups > 0 && group(groups - 1) == 0 {
            groups -= 1;
        }
        header(
            out,
            i16::try_from(groups).ok()?,
            i16::try_from(weight).ok()?,
            self.is_negative,
            shown,
        )?;
        (0..groups).for_each(|number| out.extend_from_slice(&group(number).to_be_bytes()));
        Some(())
    }
}

fn header(out: &mut Vec<u8>, groups: i16, weight: i16, is_negative: bool, scale: u16) -> Option<()> {
    let sign = if is_negative { NEGATIVE } else { POSITIVE };
    out.extend_from_slice(&groups.to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&scale.to_be_bytes());
    Some(())
}

/// `NaN`, as it is sent.
pub(crate) const NAN_BYTES: [u8; 8] = [0, 0, 0, 0, 0xc0, 0, 0, 0];
/// `Infinity` and `-Infinity`, as they are sent.
pub(crate) const INFINITY_BYTES: [[u8; 8]; 2] = [[0, 0, 0, 0, 0xd0, 0, 0, 0], [0, 0, 0, 0, 0xf0, 0, 0, 0]];

fn trimmed(digits: &[u8]) -> &[u8] {
    let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    digits.get(first..).unwrap_or_default()
}

const BASE: u16 = 10_000;
const POSITIVE: u16 = 0;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const NEGATIVE_INFINITY: u16 = 0xf000;
/// `NUMERIC_DSCALE_MAX`.
const LARGEST_SCALE: u16 = 0x3fff;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use proptest::prelude::*;

    use super::*;

    fn sent(digits: &str, scale: i32) -> Vec<u8> {
        let (is_negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        let mut bytes = Vec::new();
        let decimal = Decimal {
            is_negative,
            digits: digits.as_bytes(),
            scale,
        };
        decimal.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn numbers_are_those_of_the_server() {
        // What `SELECT numeric_send(n)` gives.
        for (digits, scale, text, expected) in [
            ("0", 0, "0", "0000000000000000"),
            ("1", 0, "1", "00010000000000000001"),
            ("-1234567", 2, "-12345.67", "0003000140000002000109291a2c"),
            ("5", 3, "0.005", "0001ffff000000030032"),
            ("5", 9, "0.000000005", "0001fffd000000091388"),
            ("12", -4, "120000", "0001000100000000000c"),
        ] {
            let found = sent(digits, scale);
            let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected, "{text}");
            let Numeric::Number(number) = Numeric::parse(&found).unwrap() else {
                panic!("{text}")
            };
            assert_eq!(number.text(), text);
        }
    }

    #[test]
    fn what_no_column_holds_is_told() {
        for (digits, scale, fits) in [
            ("12345", 2, true),
            ("123450", 3, true),
            ("123456", 3, false),
            ("123456", 2, false),
            ("000012345", 2, true),
            ("1", -2, true),
            ("1", -3, false),
            ("0", 9, true),
        ] {
            let decimal = Decimal {
                is_negative: false,
                digits: digits.as_bytes(),
                scale,
            };
            assert_eq!(decimal.fits(5, 2), fits, "{digits} {scale}");
        }
    }

    #[test]
    fn bytes_that_are_no_number_are_refused() {
        let whole = sent("123456789", 4);
        for end in 0..whole.len() {
            assert!(Numeric::parse(&whole[..end]).is_err(), "{end}");
        }
        for (at, byte) in [(0, 0xff), (4, 0x10), (6, 0x7f), (8, 0x7f)] {
            let mut bent = whole.clone();
            bent[at] = byte;
            assert!(Numeric::parse(&bent).is_err(), "{at}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read_back(number in any::<i128>(), scale in 0_i8..=37, zeros in 0_u32..38) {
            let number = number / 10_i128.pow(zeros);
            let bytes = sent(&number.to_string(), i32::from(scale));
            let Numeric::Number(read) = Numeric::parse(&bytes).unwrap() else { panic!("no number") };
            prop_assert_eq!(read.to_i256(scale), Some(i256::from_i128(number)));
            if let Some(small) = read.to_i128(scale) {
                prop_assert_eq!(small, number);
            } else {
                prop_assert!(number.unsigned_abs() > 10_u128.pow(34));
            }
            let text = read.text();
            let digits: String = text.chars().filter(|letter| *letter != '.').collect();
            prop_assert_eq!(digits.parse::<i128>().unwrap(), number);
        }

        #[test]
        fn no_bytes_are_worse_than_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40), scale in any::<i8>()) {
            if let Ok(numeric) = Numeric::parse(&bytes) {
                let text = numeric.text();
                prop_assert!(text.len() < 200_000);
                if let Numeric::Number(number) = numeric {
                    let (small, large) = (number.to_i128(scale), number.to_i256(scale));
                    if let Some(small) = small {
                        prop_assert_eq!(large, Some(i256::from_i128(small)));
                    }
                }
            }
        }
    }
}
