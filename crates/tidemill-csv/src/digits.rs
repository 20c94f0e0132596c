//! Numbers as they are written, digit by digit.
//!
//! A double keeps 15 significant digits of any number, and more of some. [`Written::is_kept_by`] says whether it keeps those that are
//! written, and [`Written::unscaled`] gives a decimal number that keeps all of them. What begins with a zero that a number would lose, as
//! a postal code does, is no number here.

use arrow_array::types::Float64Type;
use arrow_cast::parse::Parser as _;

/// A number as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'t> {
    is_negative: bool,
    /// The digits before the point, and behind it.
    whole: &'t [u8],
    fraction: &'t [u8],
    has_point: bool,
    has_exponent: bool,
}

impl<'t> Written<'t> {
    /// `None` for what is no number, or begins with a zero that a number would lose.
    pub(crate) fn of(text: &'t str, decimal: u8) -> Option<Self> {
        let (is_negative, digits) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let (whole, rest) = digits.split_at(leading_digits(digits));
        if whole.len() > 1 && whole.starts_with(b"0") {
            return None;
        }
        let (has_point, (fraction, rest)) = match rest {
            [point, rest @ ..] if *point == decimal => (true, rest.split_at(leading_digits(rest))),
            rest => (false, rest.split_at(0)),
        };
        let has_exponent = match rest {
            [] => false,
            [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..]
                if !digits.is_empty() && leading_digits(digits) == digits.len() =>
            {
                true
            }
            _ => return None,
        };
        (whole.len() + fraction.len() > 0).then_some(Self {
            is_negative,
            whole,
            fraction,
            has_point,
            has_exponent,
        })
    }

    /// Whether it is a whole number by the way it is written: neither a point nor an exponent.
    pub(crate) fn is_whole(&self) -> bool {
        !self.has_point && !self.has_exponent
    }

    pub(crate) fn has_exponent(&self) -> bool {
        self.has_exponent
    }

    /// How many digits stand before the point; a zero alone is none.
    pub(crate) fn whole_digits(&self) -> usize {
        match self.whole {
            b"0" => 0,
            whole => whole.len(),
        }
    }

    /// How many digits stand behind the point.
    pub(crate) fn decimals(&self) -> usize {
        self.fraction.len()
    }

    /// How many of them say something: those without the zeros at the end.
    pub(crate) fn needed_decimals(&self) -> usize {
        self.fraction.len() - beginning_zeros(self.fraction.iter().rev())
    }

    /// Whether the nearest double keeps the digits of the number: rounded to the same number of significant digits, it gives them, or
    /// they are the shortest digits that identify the double. A number with an exponent, which programs write for doubles, only has to
    /// be in range.
    pub(crate) fn is_kept_by(&self, nearest: f64) -> bool {
        let all = self.whole.len() + self.fraction.len();
        let zeros = beginning_zeros(self.whole.iter().chain(self.fraction));
        if zeros == all {
            return true;
        }
        if !nearest.is_finite() || nearest == 0.0 || self.has_exponent {
            return nearest.is_finite() && nearest != 0.0;
        }
        let zeros_behind = beginning_zeros(self.whole.iter().chain(self.fraction).rev());
        let count = all - zeros - zeros_behind;
        match count {
            ..=ALWAYS_KEPT if nearest.is_normal() => return true,
            EVER_KEPT.. => return false,
            _ => {}
        }
        let digits = || self.whole.iter().chain(self.fraction).skip(zeros).take(count);
        if count <= IN_64_BITS
            && let Some(places) = self.fraction.len().checked_sub(zeros_behind)
            && let Some(is_kept) = rounds_to(
                nearest,
                digits().fold(0, |number, digit| number * 10 + value(*digit)),
                places,
            )
        {
            return is_kept;
        }
        // Half way between two numbers of so many digits either may be written.
        let rounded = format!("{:.*e}", count - 1, nearest.abs());
        let shortest = format!("{:e}", nearest.abs());
        [rounded, shortest].iter().any(|text| {
            let mantissa = text.bytes().take_while(|byte| *byte != b'e');
            mantissa.filter(|byte| *byte != b'.').eq(digits().copied())
        })
    }

    /// The number times ten to the power of `scale`. `None` if it has an exponent, more decimals that are not 0, or more than `precision`
    /// digits.
    pub(crate) fn unscaled(&self, precision: u8, scale: u8) -> Option<i128> {
        if self.has_exponent || self.needed_decimals() > usize::from(scale) {
            return None;
        }
        let kept = self
            .fraction
            .iter()
            .chain(std::iter::repeat(&b'0'))
            .take(usize::from(scale));
        let unscaled = self.whole.iter().chain(kept).try_fold(0_i128, |number, digit| {
            number.checked_mul(10)?.checked_add(i128::from(value(*digit)))
        })?;
        let is_inside = 10_i128
            .checked_pow(u32::from(precision))
            .is_none_or(|end| unscaled < end);
        is_inside.then_some(if self.is_negative { -unscaled } else { unscaled })
    }
}

/// The double that is nearest to a number.
pub(crate) fn double(text: &str, decimal: u8) -> Option<f64> {
    match decimal {
        b'.' => Float64Type::parse(text),
        _ => Float64Type::parse(&text.replace(char::from(decimal), ".")),
    }
}

/// The double that keeps a number. Short ones have no digits to be looked at.
#[inline]
pub(crate) fn kept_double(text: &str, decimal: u8) -> Option<f64> {
    let written = Written::of(text, decimal)?;
    let nearest = double(text, decimal)?;
    (text.len() <= ALWAYS_KEPT && nearest.is_normal() || written.is_kept_by(nearest)).then_some(nearest)
}

fn leading_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// How many zeros an order of digits begins with.
fn beginning_zeros<'d>(digits: impl Iterator<Item = &'d u8>) -> usize {
    digits.take_while(|digit| **digit == b'0').count()
}

fn value(digit: u8) -> u64 {
    u64::from(digit - b'0')
}

/// Whether a double, rounded to so many places behind the point, has these digits, by whole numbers alone. `None` where these do not tell.
fn rounds_to(number: f64, digits: u64, places: usize) -> Option<bool> {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    // Five to a higher power, times 53 bits, may leave 128 bits.
    const MOST_PLACES: usize = 27;
    if places > MOST_PLACES || !number.is_normal() {
        return None;
    }
    let bits = number.abs().to_bits();
    let mantissa = u128::from(bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS);
    let places = u32::try_from(places).ok()?;
    // The number is mantissa / 2^(1075 - exponent), and 10^places is 5^places * 2^places.
    let exponent = u32::try_from(bits >> FRACTION_BITS).ok()?;
    let shift = 1075_u32.checked_sub(exponent)?.checked_sub(places)?;
    if !(1..=63).contains(&shift) {
        return None;
    }
    let off = (mantissa * 5_u128.pow(places)).abs_diff(u128::from(digits) << shift);
    let half = 1 << (shift - 1);
    (off != half).then_some(off < half)
}

/// Significant digits that every double keeps.
pub(crate) const ALWAYS_KEPT: usize = f64::DIGITS as usize;
/// No double has as many significant digits.
const EVER_KEPT: usize = 768;
/// Digits of every number of 64 bits.
const IN_64_BITS: usize = 19;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_kept(text: &str) -> bool {
        let written = Written::of(text, b'.').expect(text);
        written.is_kept_by(double(text, b'.').expect(text))
    }

    #[test]
    fn digits_that_a_double_does_not_give_back_are_found() {
        for (text, expected) in [
            ("0", true),
            ("-0.000", true),
            // 96082989776542.125
            ("-96082989776542.13", true),
            ("-96082989776542.12", true),
            ("123456789012345", true),
            ("0.000123456789012345", true),
            ("9007199254740992", true),
            ("9007199254740993", false),
            ("-9007199254740993", false),
            ("123456789012345680000", true),
            ("123456789012345678000", false),
            ("0.1", true),
            ("0.10000000000000001", true),
            ("0.10000000000000000555", true),
            ("0.100000000000000005", false),
            ("0.12345678901234567", false),
            ("0.1234567890123456789", false),
            ("99999999999999999.99", false),
            ("1e308", true),
            ("1e309", false),
            ("1e-323", true),
            ("1e-324", false),
            ("0e999", true),
            ("1.2345678901234567890123e5", true),
        ] {
            assert_eq!(is_kept(text), expected, "{text}");
        }
        assert!(!is_kept(&"9".repeat(400)));
        assert!(!is_kept(&format!("0.{}1", "0".repeat(400))));
        assert!(!is_kept(&format!("0.{}", "1".repeat(70_000))));
    }

    #[test]
    fn decimals_have_all_digits_or_are_none() {
        for (text, precision, scale, expected) in [
            ("1.5", 38, 1, Some(15)),
            ("-1.5", 38, 3, Some(-1500)),
            (".5", 38, 1, Some(5)),
            ("5.", 38, 0, Some(5)),
            ("0.500", 38, 1, Some(5)),
            ("0.55", 38, 1, None),
            ("1e1", 38, 1, None),
            ("9.99", 3, 2, Some(999)),
            ("10.00", 3, 2, None),
            (
                "99999999999999999999999999999999999999",
                38,
                0,
                Some(10_i128.pow(38) - 1),
            ),
            ("100000000000000000000000000000000000000", 38, 0, None),
            ("9999999999999999999999999999999999999999999", 38, 0, None),
        ] {
            let written = Written::of(text, b'.').expect(text);
            assert_eq!(written.unscaled(precision, scale), expected, "{text}");
        }
    }

    proptest! {
        /// The quick way agrees with the text that Rust makes of the double.
        #[test]
        fn whole_numbers_tell_what_the_text_does(digits in 1_u64.., places in 0_usize..30) {
            prop_assume!(digits % 10 != 0);
            let number: f64 = format!("{digits}e-{places}").parse().expect("a number");
            if let Some(is_kept) = rounds_to(number, digits, places) {
                let count = digits.to_string().len();
                let rounded = format!("{:.*e}", count - 1, number).replace('.', "");
                let text = rounded.split('e').next().expect("digits");
                prop_assert_eq!(is_kept, text == digits.to_string());
            }
        }

        /// Doubles are kept, however programs write them.
        #[test]
        fn what_was_a_double_is_kept(number in any::<f64>().prop_filter("a number", |number| number.is_finite())) {
            for text in [format!("{number}"), format!("{number:e}"), format!("{number:.16e}"), format!("{number:.20}")] {
                if text.parse::<f64>() == Ok(number) {
                    prop_assert!(is_kept(&text), "{}", text);
                }
            }
        }
    }
}
