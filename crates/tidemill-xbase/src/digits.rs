//! Decimal digits to integers: eight or sixteen characters at once, without a branch per digit.
//!
//! A numeric field is text, right-aligned, padded with blanks, its point at a fixed place. So a field of up to sixteen
//! characters is one machine word: the point is cut out by shifting, the blanks and the sign are found by counting zero
//! bits, and the digits are added up by three multiplications. What does not look like that (other alignment, an
//! exponent, garbage) goes to [`parse_text`], which is exact and slow. Fields of more than 16 characters always do.

/// What a numeric field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number<T> {
    /// The value times ten to the power of the field's decimals.
    Value(T),
    /// Nothing but blanks.
    Blank,
    /// Not the usual form: ask [`parse_text`].
    Other,
}

/// The words of one column: its shape, worked out once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<W> {
    /// Which bytes of a word belong to the field: the upper ones.
    keep: W,
    blanks: W,
    /// Which bytes are decimals, when there is a point.
    fraction: W,
    /// Which bytes stand before the point.
    whole: W,
    /// Where the point is.
    point: u32,
}

/// A number in its usual form, not yet read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain<W> {
    /// The first one highest.
    pub(crate) digits: W,
    /// Says with `bytes`, to [`Shape::is_plain`], that the form is another: a sign, no point, anything else. The digits then
    /// mean nothing.
    pub(crate) excess: W,
    pub(crate) bytes: W,
}

const BLANKS: u128 = u128::from_le_bytes([b' '; 16]);
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

macro_rules! shape {
    ($word:ty, $bytes:literal) => {
        impl Shape<$word> {
            /// For fields of `width` bytes with `decimals`; `None` where a word cannot hold them.
            pub(crate) fn new(width: usize, decimals: u8) -> Option<Self> {
                let decimals = u32::from(decimals);
                let width = u32::try_from(width)
                    .ok()
                    .filter(|w| (1..=$bytes).contains(w) && (decimals == 0 || decimals < *w))?;
                let blanks = BLANKS as $word;
                let keep = <$word>::MAX << (8 * ($bytes - width));
                if decimals == 0 {
                    return Some(Self {
                        keep,
                        blanks,
                        fraction: <$word>::MAX,
                        whole: 0,
                        point: 0,
                    });
                }
                let point = 8 * ($bytes - 1 - decimals);
                let fraction = <$word>::MAX << (point + 8);
                Some(Self {
                    keep,
                    blanks,
                    fraction,
                    whole: (1 << point) - 1,
                    point,
                })
            }

            /// Reads the bytes that end where the field ends, first character lowest.
            #[inline(always)]
            pub(crate) fn parse(&self, bytes: [u8; $bytes]) -> Number<i64> {
                let mut word = <$word>::from_le_bytes(bytes);
                word = (word & self.keep) | (self.blanks & !self.keep);
                if self.whole != 0 {
                    // An all-blank field has no point.
                    let point = (word >> self.point) as u8;
                    if point != b'.' {
                        return if word == self.blanks {
                            Number::Blank
                        } else {
                            Number::Other
                        };
                    }
                    word = (word & self.fraction) | ((word & self.whole) << 8) | <$word>::from(b' ');
                }
                let mut first = (word ^ self.blanks).trailing_zeros() & !7;
                if first == <$word>::BITS {
                    return Number::Blank;
                }
                // The digits behind the point begin here: no blank may stand among them, and no sign.
                let fraction = if self.whole == 0 {
                    <$word>::BITS
                } else {
                    self.point + 8
                };
                if first > fraction {
                    return Number::Other;
                }
                let negative = first < fraction && (word >> first) as u8 == b'-';
                first += 8 * u32::from(negative);
                if first == <$word>::BITS {
                    return Number::Other;
                }
                let digits = <$word>::MAX << first;
                let zeros = (self.blanks >> 1) | self.blanks;
                let word = (word & digits) | (zeros & !digits);
                match Self::sum(word) {
                    Some(sum) => Number::Value(if negative { -sum } else { sum }),
                    None => Number::Other,
                }
            }

            /// The bytes that end where the field ends as digits whose order is that of the numbers: no sign, zeros for
            /// leading blanks and for the point.
            #[inline(always)]
            pub(crate) fn plain(&self, bytes: [u8; $bytes]) -> Plain<$word> {
                const ONES: $word = <$word>::MAX / 255;
                let point = !(self.whole | self.fraction);
                // Bytes that become 0 when they are what they should be; a blank is the bit of 16 then.
                let usual = (ONES * u8::from(b'0') as $word) ^ (point & (ONES * (b'0' ^ b'.') as $word));
                let usual = usual & self.keep | ONES * 0x10 & !self.keep;
                let bytes = (<$word>::from_le_bytes(bytes) & self.keep) ^ usual;
                // The bits below the first byte that is no blank.
                let blanks = bytes ^ (ONES * 0x10);
                let blanks = blanks.wrapping_sub(1) & !blanks & (ONES * 0x10);
                let digits = bytes ^ blanks;
                Plain {
                    digits: digits.swap_bytes(),
                    // The highest bit of a byte that is above 9 is set here, or set when 0x76 is added.
                    excess: digits | digits.wrapping_add(ONES * 0x76),
                    bytes,
                }
            }

            /// Whether bits that were collected of [`Plain::excess`] and [`Plain::bytes`] say that all were in that form.
            #[inline(always)]
            pub(crate) fn is_plain(&self, excess: $word, bytes: $word) -> bool {
                excess & (<$word>::MAX / 255 * 0x80) == 0 && bytes & !(self.whole | self.fraction) == 0
            }

            /// The digits of [`Shape::plain`] for a number that is not below 0; `None` for more than it has.
            pub(crate) fn plain_digits(&self, number: i64) -> Option<$word> {
                let fraction = if self.whole == 0 {
                    0
                } else {
                    ($bytes * 8 - 8 - self.point) / 8
                };
                let (mut digits, mut left): ($word, _) = (0, u64::try_from(number).ok()?);
                for place in 0..$bytes {
                    let digit = if self.whole != 0 && place == fraction {
                        0
                    } else {
                        let digit = left % 10;
                        left /= 10;
                        digit
                    };
                    digits |= <$word>::from(digit) << (8 * place);
                }
                (left == 0).then_some(digits)
            }
        }
    };
}

shape!(u64, 8);
shape!(u128, 16);

impl Shape<u64> {
    /// Whether any of the fields whose [`Plain::bytes`] were collected ends with a blank, as blank ones do.
    pub(crate) fn ends_blank(&self, bytes: u64) -> bool {
        bytes >> 60 != 0
    }

    /// The number of which each place, from the last one, has so much: the digits of [`Shape::plain`], or sums of them.
    pub(crate) fn plain_value(&self, digits: impl Fn(u32) -> u64) -> i128 {
        let point = if self.whole == 0 { 8 } else { 7 - self.point / 8 };
        let (mut value, mut unit) = (0, 1);
        for place in (0..8).filter(|place| *place != point) {
            value += i128::from(digits(place)) * unit;
            unit *= 10;
        }
        value
    }

    #[inline(always)]
    fn sum(word: u64) -> Option<i64> {
        all_digits(word).then(|| sum_of_digits(word) as i64)
    }
}

impl Shape<u128> {
    #[inline(always)]
    fn sum(word: u128) -> Option<i64> {
        let (low, high) = (word as u64, (word >> 64) as u64);
        (all_digits(low) & all_digits(high)).then(|| (sum_of_digits(low) * 100_000_000 + sum_of_digits(high)) as i64)
    }
}

#[inline(always)]
fn all_digits(word: u64) -> bool {
    let above = word.wrapping_add(0x0606_0606_0606_0606);
    ((word & 0xF0F0_F0F0_F0F0_F0F0) ^ ZEROS) | ((above & 0xF0F0_F0F0_F0F0_F0F0) ^ ZEROS) == 0
}

/// Adds neighbours: digits to pairs, pairs to fours, fours to eight. The first character is the lowest byte.
#[inline(always)]
fn sum_of_digits(word: u64) -> u64 {
    let word = (word & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let word = (word & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (word & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// Reads a number in any form that xBase programs leave in a field: blanks around it, a sign, a point, an exponent.
/// The value is times ten to the power of `decimals`.
///
/// Stars are what programs write when a number does not fit: they are blank, and so is a point alone, which a picture leaves. More digits behind the point than
/// `decimals` are an error when they are not zero, unless `round` (half away from zero) is asked for.
///
/// # Errors
/// Why the text is no such number, as what was expected.
#[cold]
pub(crate) fn parse_text(cell: &[u8], decimals: u8, round: bool) -> Result<Option<i128>, &'static str> {
    let text = without_blank_decimals(trim(cell));
    if text.iter().all(|b| *b == b'*') || text == b"." {
        return Ok(None);
    }
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut value: i128 = 0;
    let mut exponent: i32 = 0;
    let (mut digits, mut point) = (0, false);
    let plain = without_thousands(text);
    let text = plain.as_deref().unwrap_or(text);
    let mut rest = text.iter();
    for &b in rest.by_ref() {
        match b {
            b'0'..=b'9' => {
                digits += 1;
                let next = value.checked_mul(10).and_then(|v| v.checked_add(i128::from(b - b'0')));
                value = next.ok_or("at most 38 digits")?;
                exponent -= i32::from(point);
            }
            // A comma alone is the point of another country, and before a point it parts thousands.
            b'.' | b',' if !point => point = true,
            b'e' | b'E' if digits > 0 => {
                exponent = exponent
                    .checked_add(power(rest.as_slice())?)
                    .ok_or("a smaller exponent")?;
                break;
            }
            _ => return Err("a number"),
        }
    }
    if digits == 0 {
        return Err("a number");
    }
    let value = if negative { -value } else { value };
    let shift = exponent + i32::from(decimals);
    if value == 0 {
        return Ok(Some(0));
    }
    if shift >= 0 {
        let factor = 10i128
            .checked_pow(shift.unsigned_abs())
            .and_then(|f| value.checked_mul(f));
        return factor.map(Some).ok_or("at most 38 digits");
    }
    let Some(divisor) = 10i128.checked_pow(shift.unsigned_abs()) else {
        return if round {
            Ok(Some(0))
        } else {
            Err("no more decimals than the field has")
        };
    };
    let (quotient, remainder) = (value / divisor, value % divisor);
    if remainder == 0 {
        return Ok(Some(quotient));
    }
    if !round {
        return Err("no more decimals than the field has");
    }
    let away = i128::from(remainder.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2));
    Ok(Some(quotient + away * value.signum()))
}

/// The text without the commas that part thousands: groups of three digits, and a point behind them or more than one comma.
fn without_thousands(text: &[u8]) -> Option<Vec<u8>> {
    let commas = text.iter().filter(|byte| **byte == b',').count();
    if commas == 0 || (commas == 1 && !text.contains(&b'.')) {
        return None;
    }
    let whole = text.split(|byte| *byte == b'.').next().unwrap_or_default();
    let mut groups = whole.split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    let is_parted = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let are_before_point = whole.iter().filter(|byte| **byte == b',').count() == commas;
    (is_parted && are_before_point).then(|| text.iter().copied().filter(|byte| *byte != b',').collect())
}

fn power(text: &[u8]) -> Result<i32, &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "an exponent")?;
    let power: i32 = text.parse().map_err(|_| "an exponent")?;
    if power.abs() > 400 {
        Err("a smaller exponent")
    } else {
        Ok(power)
    }
}

/// Drops a point that no decimals follow. Programs that fill in a picture write `0   . `, as in CodeBase's examples, whose key for it is 0.
pub(crate) fn without_blank_decimals(text: &[u8]) -> &[u8] {
    match text.strip_suffix(b".").map(|whole| (whole, trim(whole))) {
        Some((whole, number)) if number.len() < whole.len() && number.last().is_some_and(u8::is_ascii_digit) => number,
        _ => text,
    }
}

/// Without blanks and NULs at both ends.
pub(crate) fn trim(cell: &[u8]) -> &[u8] {
    let is_blank = |b: &u8| matches!(b, b' ' | 0);
    let start = cell.iter().position(|b| !is_blank(b)).unwrap_or(cell.len());
    let end = cell.iter().rposition(|b| !is_blank(b)).map_or(start, |e| e + 1);
    cell.get(start..end).unwrap_or_default()
}

/// `unscaled` / 10^`scale` as it is written, with all of its decimals.
pub(crate) fn decimal_text(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len() - scale) {
        Some((whole, part)) if scale > 0 => format!("{sign}{whole}.{part}"),
        _ => format!("{sign}{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fast(text: &str, decimals: u8) -> Number<i64> {
        let bytes = text.as_bytes();
        if let Some(shape) = Shape::<u64>::new(bytes.len(), decimals) {
            let mut word = [b'7'; 8];
            word[8 - bytes.len()..].copy_from_slice(bytes);
            return shape.parse(word);
        }
        let mut word = [b'7'; 16];
        word[16 - bytes.len()..].copy_from_slice(bytes);
        Shape::<u128>::new(bytes.len(), decimals).unwrap().parse(word)
    }

    #[test]
    fn words_are_numbers() {
        use Number::{Blank, Other, Value};
        for (text, decimals, expected) in [
            ("12345678", 0, Value(12_345_678)),
            ("       7", 0, Value(7)),
            ("      -7", 0, Value(-7)),
            ("-9999999", 0, Value(-9_999_999)),
            ("        ", 0, Blank),
            ("0", 0, Value(0)),
            ("-", 0, Other),
            ("12 ", 0, Other),
            ("1 2", 0, Other),
            ("!23", 0, Other),
            ("***", 0, Other),
            ("1e3", 0, Other),
            ("\0\0\0", 0, Other),
            ("12345.67", 2, Value(1_234_567)),
            ("   -0.01", 2, Value(-1)),
            ("     .50", 2, Value(50)),
            ("    -.50", 2, Value(-50)),
            ("     5. ", 2, Other),
            ("99999", 2, Other),
            ("     ", 2, Blank),
            ("1.2.3", 1, Other),
            ("9999999999999999", 0, Value(9_999_999_999_999_999)),
            ("  -123456789.123", 3, Value(-123_456_789_123)),
            ("         ", 0, Blank),
            ("         ", 3, Blank),
            ("123456789", 0, Value(123_456_789)),
        ] {
            assert_eq!(fast(text, decimals), expected, "{text:?} {decimals}");
        }
    }

    #[test]
    fn any_text_is_read_exactly_or_refused() {
        for (text, decimals, round, expected) in [
            ("  12  ", 2, false, Ok(Some(1200))),
            ("+1.5", 2, false, Ok(Some(150))),
            ("****", 2, false, Ok(None)),
            ("\0\0\0\0", 2, false, Ok(None)),
            ("1.500", 1, false, Ok(Some(15))),
            ("1.55", 1, false, Err("no more decimals than the field has")),
            ("1.55", 1, true, Ok(Some(16))),
            ("-1.55", 1, true, Ok(Some(-16))),
            ("1.54", 1, true, Ok(Some(15))),
            ("1.5E+03", 0, true, Ok(Some(1500))),
            ("2e-400", 3, true, Ok(Some(0))),
            ("1e99", 3, true, Err("at most 38 digits")),
            ("1e9999999999", 3, true, Err("an exponent")),
            ("1e", 3, true, Err("an exponent")),
            ("abc", 0, false, Err("a number")),
            (" . ", 0, false, Ok(None)),
            ("0   . ", 2, false, Ok(Some(0))),
            (" -12  .", 1, false, Ok(Some(-120))),
            ("0   .1", 1, false, Err("a number")),
            ("1 2 .", 1, false, Err("a number")),
            ("  .   . ", 1, false, Err("a number")),
            ("***  . ", 1, false, Err("a number")),
            ("-.", 0, false, Err("a number")),
            ("-", 0, false, Err("a number")),
            ("1,5", 1, false, Ok(Some(15))),
            ("1,55", 1, false, Err("no more decimals than the field has")),
            ("1,200.50", 2, false, Ok(Some(120_050))),
            ("-1,234,567", 0, false, Ok(Some(-1_234_567))),
            ("1,2,3", 1, false, Err("a number")),
            ("12,34.5", 1, false, Err("a number")),
            (",5", 1, false, Ok(Some(5))),
            (",", 1, false, Err("a number")),
            (
                "99999999999999999999999999999999999999999",
                0,
                false,
                Err("at most 38 digits"),
            ),
        ] {
            assert_eq!(parse_text(text.as_bytes(), decimals, round), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn words_and_text_agree(text in "[ 0-9.*-]{1,16}", decimals in 0u8..6) {
            if usize::from(decimals) < text.len() {
                let slow = parse_text(text.as_bytes(), decimals, false);
                match fast(&text, decimals) {
                    Number::Value(v) => prop_assert_eq!(slow, Ok(Some(i128::from(v)))),
                    Number::Blank => prop_assert_eq!(slow, Ok(None)),
                    Number::Other => {}
                }
            }
        }

        #[test]
        fn plain_digits_order_as_numbers_do(text in "[ 0-9.*!/,-]{8}|[ ]{0,7}[0-9]{0,7}\\.?[0-9]{2}", decimals in 0u8..4) {
            let Some(bytes) = text.as_bytes().last_chunk::<8>() else { return Ok(()) };
            for width in 1 + usize::from(decimals)..=8 {
                let Some(shape) = Shape::<u64>::new(width, decimals) else { continue };
                let plain = shape.plain(*bytes);
                let is_plain = shape.is_plain(plain.excess, plain.bytes);
                let number = match shape.parse(*bytes) {
                    Number::Value(number) => Some(number),
                    Number::Blank if decimals == 0 => Some(0),
                    _ => None,
                };
                match number.filter(|n| *n >= 0) {
                    Some(number) if is_plain => {
                        prop_assert_eq!(Some(plain.digits), shape.plain_digits(number), "{:?} {}", &text, width);
                    }
                    // A sign before a zero.
                    Some(number) => prop_assert!(number == 0 && text.contains('-'), "{text:?} {width}"),
                    None => prop_assert!(!is_plain, "{text:?} {width}"),
                }
                let mut wide = [b'7'; 16];
                wide[8..].copy_from_slice(bytes);
                let Some(shape) = Shape::<u128>::new(width, decimals) else { continue };
                let both = shape.plain(wide);
                let both_plain = shape.is_plain(both.excess, both.bytes);
                prop_assert_eq!(both_plain, is_plain, "{:?} {}", &text, width);
                if let (true, Some(number)) = (both_plain, number) {
                    prop_assert_eq!(Some(both.digits), shape.plain_digits(number), "{:?} {}", &text, width);
                }
            }
        }

        #[test]
        fn words_and_text_agree_around_the_point(text in "[ 0-9-]{0,2}\\.[ 0-9-]{2}") {
            let slow = parse_text(text.as_bytes(), 2, false);
            match fast(&text, 2) {
                Number::Value(v) => prop_assert_eq!(slow, Ok(Some(i128::from(v)))),
                Number::Blank => prop_assert_eq!(slow, Ok(None)),
                Number::Other => {}
            }
        }

        #[test]
        fn what_is_written_is_read(value in -99_999_999i64..=99_999_999, decimals in 0u8..5) {
            let digits = format!("{:0width$}", value.abs(), width = usize::from(decimals) + 1);
            let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
            let point = if decimals > 0 { "." } else { "" };
            let sign = if value < 0 { "-" } else { "" };
            let text = format!("{:>16}", format!("{sign}{whole}{point}{fraction}"));
            prop_assert_eq!(fast(&text, decimals), Number::Value(value));
            prop_assert_eq!(fast(&text[4..], decimals), Number::Value(value));
        }
    }
}
