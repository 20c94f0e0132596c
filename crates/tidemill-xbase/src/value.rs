//! One value of one field, and its bytes in a record.
//!
//! Bulk writing and writing in place encode here, so that both refuse the same values. Decoding is the business of
//! `column`. Memos are not encoded: what a record holds of them is a pointer.

use std::io::Write;

use crate::codepage::CodePage;
use crate::column;
use crate::digits::decimal_text;
use crate::field::FieldKind;
use crate::julian;
use crate::numeric_text;
use crate::wide;

/// A value to write into a field.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value: NULL in a nullable field, else blank. Integers, doubles, currency and times that are not nullable have
    /// no blank and refuse it.
    Null,
    /// Text, for fields `C`, `M`, and `V` of Visual FoxPro.
    Text(&'a str),
    /// Text that is in the table's code page already, where [`Value::Text`] could stand.
    Encoded(&'a [u8]),
    /// Bytes, for the binary forms of `C` and `M`, and for `Q`, `W`, `G`, `P`.
    Bytes(&'a [u8]),
    /// True or false, for `L`.
    Logical(bool),
    /// A whole number, for every field that holds numbers.
    Integer(i64),
    /// `unscaled` / 10^`scale`, for every field that holds numbers. More digits behind the point than a field of decimal
    /// numbers has are refused unless they are zeros.
    Decimal {
        /// The digits.
        unscaled: i128,
        /// How many of them are behind the point.
        scale: u8,
    },
    /// A double, for `B` and `O`, rounded to the field's decimals for `N`, `F` and `Y`, and where it is exactly a number
    /// of the field for `I` and `+`.
    Double(f64),
    /// Days since 1970-01-01, for `D`.
    Date(i32),
    /// Milliseconds since midnight, for `T` of 4 bytes.
    Time(i32),
    /// Milliseconds since 1970-01-01 without a zone, for `T` and `@`.
    Timestamp(i64),
}

/// What encoding must know about a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    pub(crate) kind: FieldKind,
    pub(crate) width: usize,
    pub(crate) decimals: u8,
    pub(crate) codepage: CodePage,
    /// Whether the field takes both text and bytes (NOCPTRANS).
    pub(crate) is_untranslated: bool,
}

impl Format {
    /// Appends the bytes of a value other than [`Value::Null`]: at most the field's width.
    ///
    /// # Errors
    /// What the value would have to be.
    pub(crate) fn encode(&self, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        let before = out.len();
        match (self.kind, value) {
            (FieldKind::Character | FieldKind::Varchar | FieldKind::Memo, Value::Text(text)) => self.text(text, out)?,
            (FieldKind::CharacterBinary | FieldKind::Varbinary | FieldKind::MemoBinary, Value::Text(text))
                if self.is_untranslated =>
            {
                self.text(text, out)?;
            }
            (FieldKind::Character | FieldKind::Varchar | FieldKind::Memo, Value::Bytes(bytes))
                if self.is_untranslated =>
            {
                out.extend_from_slice(bytes);
            }
            (FieldKind::VarcharWide, Value::Text(_) | Value::Encoded(_)) => {
                match value {
                    Value::Encoded(text) => wide::encode(&self.codepage.decode(text), out),
                    Value::Text(text) => wide::encode(text, out),
                    _ => {}
                }
                let most = self.width.saturating_sub(2);
                if out.len() - before > most {
                    return Err(format!("at most {} characters", most / 2));
                }
            }
            (FieldKind::CharacterWide | FieldKind::MemoWide, Value::Text(text)) => wide::encode(text, out),
            (FieldKind::CharacterWide | FieldKind::MemoWide, Value::Encoded(text)) => {
                wide::encode(&self.codepage.decode(text), out);
            }
            (FieldKind::CharacterBinary | FieldKind::Varbinary | FieldKind::MemoBinary, Value::Bytes(bytes))
            | (FieldKind::Character | FieldKind::Varchar | FieldKind::Memo, Value::Encoded(bytes)) => {
                out.extend_from_slice(bytes);
            }
            (FieldKind::Logical, Value::Logical(value)) => out.push(if value { b'T' } else { b'F' }),
            (FieldKind::Float | FieldKind::NumericDouble, Value::Double(value)) if value.is_finite() => {
                out.resize(before + self.width, b' ');
                if !numeric_text::put_double(value, self.decimals, out.get_mut(before..).unwrap_or_default()) {
                    out.truncate(before);
                    self.rounded(value, out)?;
                }
            }
            (FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble, Value::Double(value)) => {
                self.rounded(value, out)?;
            }
            (FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble, _) => {
                out.resize(before + self.width, b' ');
                self.number(value, out.get_mut(before..).unwrap_or_default())?;
            }
            (FieldKind::Currency, _) => {
                let value = i64::try_from(self.unscaled(value)?);
                let value = value.map_err(|_| "an amount below 922337203685477.5808".to_owned())?;
                out.extend(value.to_le_bytes());
            }
            (FieldKind::Integer, _) => {
                let value = i64::try_from(self.unscaled(value)?).ok();
                let bits = 8 * u32::try_from(self.width).unwrap_or(8) - 1;
                let fits = value.filter(|v| self.width == 8 || (-(1i64 << bits)..1i64 << bits).contains(v));
                let value = fits.ok_or_else(|| format!("an integer of {} bytes", self.width))?;
                out.extend_from_slice(value.to_le_bytes().get(..self.width).unwrap_or_default());
            }
            (FieldKind::Counter, _) => {
                let value = u32::try_from(self.unscaled(value)?);
                out.extend(value.map_err(|_| "an integer from 0 to 4294967295")?.to_le_bytes());
            }
            (FieldKind::IntegerDbase7, _) => {
                // The smallest integer would be the four zero bytes that mean blank.
                let value = i32::try_from(self.unscaled(value)?).ok().filter(|v| *v != i32::MIN);
                let value = value.ok_or("an integer from -2147483647 to 2147483647")?;
                out.extend((value.cast_unsigned() ^ 0x8000_0000).to_be_bytes());
            }
            (FieldKind::Double, _) => out.extend(self.double(value)?.to_le_bytes()),
            (FieldKind::DoubleDbase7, _) => {
                let (bits, sign) = (self.double(value)?.to_bits(), 1 << 63);
                let sortable = if bits & sign == 0 { bits | sign } else { !bits };
                out.extend(sortable.to_be_bytes());
            }
            (FieldKind::Date, Value::Date(days)) => {
                let (year, month, day) = civil(days)?;
                // Writing to a vector does not fail.
                let _ = write!(out, "{year:04}{month:02}{day:02}");
            }
            (FieldKind::DateBinary, Value::Date(days)) => {
                let day = julian::from_unix_days(days).ok_or("a year up to 9999")?;
                out.extend_from_slice(day.to_le_bytes().get(..self.width).unwrap_or_default());
            }
            (FieldKind::DatePacked, Value::Date(days)) => {
                let (year, month, day) = civil(days)?;
                let [_, packed @ ..] = (year.cast_unsigned() << 9 | month << 5 | day).to_be_bytes();
                out.extend(packed);
            }
            (FieldKind::Time, Value::Time(ms)) if (0..86_400_000).contains(&ms) => out.extend(ms.to_le_bytes()),
            (FieldKind::Time, Value::Time(_)) => return Err("a time of day before 24:00".to_owned()),
            (FieldKind::Timestamp, Value::Timestamp(ms)) => {
                let day = i32::try_from(ms.div_euclid(86_400_000)).ok();
                let day = day.and_then(julian::from_unix_days).ok_or("a year up to 9999")?;
                let of_day = u32::try_from(ms.rem_euclid(86_400_000)).unwrap_or_default();
                out.extend(day.to_le_bytes());
                out.extend(of_day.to_le_bytes());
            }
            (FieldKind::TimestampDbase7, Value::Timestamp(ms)) => {
                let stored = ms.saturating_add(column::DBASE7_EPOCH_MS);
                #[expect(clippy::cast_precision_loss, reason = "below 2^53, as is checked by reading it back")]
                let bytes = (stored as f64).to_be_bytes();
                if column::timestamp_dbase7(&bytes) != Ok(Some(ms)) {
                    return Err("a year from 1 to 9999".to_owned());
                }
                out.extend(bytes);
            }
            (FieldKind::Variant, _) => return Err("nothing: fields of any type are only read".to_owned()),
            _ => return Err(self.wanted().to_owned()),
        }
        let in_record = !matches!(self.kind, FieldKind::Memo | FieldKind::MemoBinary | FieldKind::MemoWide);
        if in_record && out.len() - before > self.width {
            return Err(format!("at most {} bytes", self.width));
        }
        Ok(())
    }

    /// Writes a value other than [`Value::Null`] into the field's cell and returns how long it is. What has to be encoded
    /// first is so in `scratch`.
    ///
    /// # Errors
    /// What the value would have to be; the cell then holds anything.
    pub(crate) fn put(&self, value: Value<'_>, cell: &mut [u8], scratch: &mut Vec<u8>) -> Result<usize, String> {
        if let (FieldKind::Numeric | FieldKind::Float, Value::Integer(_) | Value::Decimal { .. }) = (self.kind, value) {
            self.number(value, cell)?;
            return Ok(cell.len());
        }
        if let (FieldKind::Numeric, Value::Double(value)) = (self.kind, value)
            && self.put_nearest(value, cell)
        {
            return Ok(cell.len());
        }
        // Every code page has the bytes of ASCII.
        let as_it_is = match (self.kind, value) {
            (FieldKind::Character, Value::Text(text)) if text.is_ascii() => Some(text.as_bytes()),
            (FieldKind::Character, Value::Encoded(text)) => Some(text),
            _ => None,
        };
        if let Some(text) = as_it_is
            && let Some((own, blanks)) = cell.split_at_mut_checked(text.len())
        {
            own.copy_from_slice(text);
            blanks.fill(b' ');
            return Ok(text.len());
        }
        self.put_encoded(value, cell, scratch)
    }

    fn put_encoded(&self, value: Value<'_>, cell: &mut [u8], scratch: &mut Vec<u8>) -> Result<usize, String> {
        scratch.clear();
        self.encode(value, scratch)?;
        self.place(scratch, cell);
        Ok(scratch.len())
    }

    /// Puts encoded bytes at the beginning of the field's cell.
    fn place(&self, bytes: &[u8], cell: &mut [u8]) {
        let Some(free) = cell.len().checked_sub(bytes.len()) else {
            return;
        };
        if self.kind == FieldKind::VarcharWide {
            wide::put_varying(bytes, cell);
            return;
        }
        if self.kind == FieldKind::CharacterWide {
            cell.as_chunks_mut::<2>().0.fill([b' ', 0]);
        } else {
            cell.fill(if self.varies() { 0 } else { b' ' });
        }
        if let Some(slot) = cell.get_mut(..bytes.len()) {
            slot.copy_from_slice(bytes);
        }
        // A shorter value has its length in the last byte, and a bit says so.
        if let (true, true, Some(last), Ok(len)) = (self.varies(), free > 0, cell.last_mut(), u8::try_from(bytes.len()))
        {
            *last = len;
        }
    }

    /// Whether a value may be shorter than the field, with its length in the last byte.
    pub(crate) fn varies(&self) -> bool {
        matches!(self.kind, FieldKind::Varchar | FieldKind::Varbinary)
    }

    /// The byte that an empty cell is filled with; Harbour's blank records have it too (`src/rdd/dbf1.c`).
    pub(crate) fn blank_byte(&self) -> u8 {
        match self.kind {
            FieldKind::Character | FieldKind::CharacterBinary | FieldKind::Logical => b' ',
            FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble | FieldKind::Date => b' ',
            FieldKind::Memo | FieldKind::MemoBinary if !matches!(self.width, 4 | ADT_MEMO) => b' ',
            _ => 0,
        }
    }

    /// Whether the blank cell reads as a value, 0, so that only a NULL bit can tell that there is none.
    pub(crate) fn blank_is_zero(&self) -> bool {
        use FieldKind::{Counter, Currency, Double, Integer, Time};
        matches!(self.kind, Integer | Counter | Double | Currency | Time)
    }

    fn text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        self.codepage
            .encode(text, out)
            .map_err(|c| format!("characters of {}, which has no {c:?}", self.codepage))
    }

    /// The number in units of the field's last decimal.
    fn unscaled(&self, value: Value<'_>) -> Result<i128, String> {
        let (unscaled, scale) = match value {
            Value::Integer(value) => (i128::from(value), 0),
            Value::Decimal { unscaled, scale } => (unscaled, scale),
            Value::Double(value) => return self.unscaled_double(value),
            _ => return Err(self.wanted().to_owned()),
        };
        if scale == self.decimals {
            return Ok(unscaled);
        }
        let power = 10i128.checked_pow(u32::from(self.decimals.abs_diff(scale)));
        let scaled = match power {
            _ if unscaled == 0 => Some(0),
            Some(power) if scale <= self.decimals => unscaled.checked_mul(power),
            Some(power) => (unscaled % power == 0).then(|| unscaled / power),
            None => None,
        };
        scaled.ok_or_else(|| format!("a number with at most {} decimals that fits", self.decimals))
    }

    /// The same of a double, which amounts round and integers take as it is.
    fn unscaled_double(&self, value: f64) -> Result<i128, String> {
        let digits = format!("{value:.0$}", usize::from(self.decimals));
        let is_same = || digits.parse().is_ok_and(|again: f64| again == value);
        if !value.is_finite() {
            return Err("a finite number".to_owned());
        }
        if self.kind != FieldKind::Currency && !is_same() {
            return Err(format!("a number with at most {} decimals", self.decimals));
        }
        let unscaled = digits.replace('.', "").parse();
        unscaled.map_err(|_| "a number that fits".to_owned())
    }

    /// Digits at the end of the field's cell.
    fn number(&self, value: Value<'_>, cell: &mut [u8]) -> Result<(), String> {
        if write_number(self.unscaled(value)?, self.decimals, cell) {
            return Ok(());
        }
        Err(format!("at most {} characters", self.width))
    }

    /// Digits of a double at the end of the cell of a field of decimal numbers. `false` where it takes more to find them, or where
    /// they do not fit; the cell then holds anything.
    pub(crate) fn put_nearest(&self, value: f64, cell: &mut [u8]) -> bool {
        let unscaled = self.nearest(value);
        unscaled.is_some_and(|unscaled| write_number(unscaled, self.decimals, cell))
    }

    /// The number in units of the field's last decimal, rounded; `None` where that takes more than a multiplication: for large
    /// numbers, those that lie about half way between two, and a zero with a sign.
    fn nearest(&self, value: f64) -> Option<i128> {
        // Below this the product is exact to a thousandth and more.
        const SAFE: f64 = (1_u64 << 40) as f64;
        let power = POWERS_OF_TEN.get(usize::from(self.decimals))?;
        let scaled = value.abs() * power;
        if scaled.is_nan() || scaled >= SAFE {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "below 2^40, where every whole number is a double"
        )]
        let (whole, fraction) = (scaled as i64, scaled - (scaled as i64) as f64);
        if (fraction - 0.5).abs() < 0.001 {
            return None;
        }
        let unscaled = i128::from(whole + i64::from(fraction > 0.5));
        match value.is_sign_negative() {
            true if unscaled == 0 => None,
            true => Some(-unscaled),
            false => Some(unscaled),
        }
    }

    fn rounded(&self, value: f64, out: &mut Vec<u8>) -> Result<(), String> {
        if !value.is_finite() {
            return Err("a finite number".to_owned());
        }
        let (before, width, decimals) = (out.len(), self.width, usize::from(self.decimals));
        // Writing to a vector does not fail.
        let _ = write!(out, "{value:>width$.decimals$}");
        if out.len() - before > width {
            return Err(format!("at most {width} characters"));
        }
        Ok(())
    }

    fn double(&self, value: Value<'_>) -> Result<f64, String> {
        match value {
            Value::Double(value) => Ok(value),
            // Every integer of 53 bits is a double; beyond, and for decimals, the nearest one is taken.
            Value::Integer(value) => value.to_string().parse().map_err(|_| self.wanted().to_owned()),
            Value::Decimal { unscaled, scale } => {
                let text = decimal_text(unscaled, scale);
                text.parse().map_err(|_| self.wanted().to_owned())
            }
            _ => Err(self.wanted().to_owned()),
        }
    }

    fn wanted(&self) -> &'static str {
        match self.kind {
            FieldKind::Character
            | FieldKind::CharacterWide
            | FieldKind::VarcharWide
            | FieldKind::Varchar
            | FieldKind::Memo
            | FieldKind::MemoWide => "text",
            FieldKind::CharacterBinary | FieldKind::Varbinary | FieldKind::MemoBinary => "bytes",
            FieldKind::Logical => "true or false",
            FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => "a date",
            FieldKind::Time => "a time of day",
            FieldKind::Timestamp | FieldKind::TimestampDbase7 => "a timestamp",
            FieldKind::Variant | FieldKind::System => "nothing",
            _ => "a number",
        }
    }
}

/// The width of a memo in an ADT, whose pointer is binary.
const ADT_MEMO: usize = 9;

/// Those that doubles hold exactly, and whose product with a small number is exact to far below its last decimal.
const POWERS_OF_TEN: [f64; 16] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

fn civil(days: i32) -> Result<(i32, u32, u32), String> {
    let date = julian::civil_from_unix_days(days);
    if (1..=9999).contains(&date.0) {
        Ok(date)
    } else {
        Err("a year from 1 to 9999".to_owned())
    }
}

/// Writes a scaled integer with its point to the end of a cell, behind blanks; a zero before the point is left out where
/// there is no room for it. `false` when it does not fit; the cell then holds anything.
pub(crate) fn write_number(value: i128, decimals: u8, cell: &mut [u8]) -> bool {
    // Almost every number fits into 64 bits, whose division is a multiplication.
    match u64::try_from(value.unsigned_abs()) {
        Ok(mut rest) => {
            let next = || {
                let digit = (rest % 10) as u8;
                rest /= 10;
                (digit, rest > 0)
            };
            write_digits(next, value, decimals, cell)
        }
        Err(_) => {
            let mut rest = value.unsigned_abs();
            let next = || {
                let digit = (rest % 10) as u8;
                rest /= 10;
                (digit, rest > 0)
            };
            write_digits(next, value, decimals, cell)
        }
    }
}

/// Writes the digits that `next` gives, the last one first, each with whether there are more.
#[inline]
fn write_digits(mut next: impl FnMut() -> (u8, bool), value: i128, decimals: u8, cell: &mut [u8]) -> bool {
    let mut places = cell.iter_mut().rev();
    let mut digit;
    let mut more = value != 0;
    for _ in 0..decimals {
        let Some(place) = places.next() else { return false };
        (digit, more) = next();
        *place = b'0' + digit;
    }
    if decimals > 0 {
        let Some(place) = places.next() else { return false };
        *place = b'.';
    }
    if more || decimals == 0 || places.len() > usize::from(value < 0) {
        loop {
            let Some(place) = places.next() else { return false };
            (digit, more) = next();
            *place = b'0' + digit;
            if !more {
                break;
            }
        }
    }
    if value < 0 {
        let Some(place) = places.next() else { return false };
        *place = b'-';
    }
    places.for_each(|place| *place = b' ');
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_the_bytes_of_their_field() {
        let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
        for (kind, width, decimals, value, expected) in [
            (FieldKind::Numeric, 6, 2, Value::Integer(-12), "-12.00".as_bytes()),
            (FieldKind::Numeric, 6, 2, decimal(12_300, 4), b"  1.23"),
            (FieldKind::Numeric, 3, 2, decimal(5, 1), b".50"),
            (FieldKind::Numeric, 8, 3, Value::Double(0.0625), b"   0.062"),
            (FieldKind::Float, 8, 3, Value::Double(0.0625), b"  0.0625"),
            (FieldKind::Float, 5, 3, Value::Double(0.0625), b"0.062"),
            (FieldKind::Integer, 3, 0, Value::Integer(-2), b"\xFE\xFF\xFF"),
            (FieldKind::Integer, 2, 1, decimal(25, 1), b"\x19\x00"),
            (FieldKind::Currency, 8, 4, decimal(15, 1), b"\x98\x3A\0\0\0\0\0\0"),
            (FieldKind::IntegerDbase7, 4, 0, Value::Integer(1), b"\x80\0\0\x01"),
            (FieldKind::IntegerDbase7, 4, 0, Value::Integer(-1), b"\x7F\xFF\xFF\xFF"),
            (
                FieldKind::DoubleDbase7,
                8,
                0,
                Value::Integer(1),
                b"\xBF\xF0\0\0\0\0\0\0",
            ),
            (
                FieldKind::DoubleDbase7,
                8,
                0,
                Value::Double(-1.0),
                b"\x40\x0F\xFF\xFF\xFF\xFF\xFF\xFF",
            ),
            (FieldKind::Double, 8, 0, decimal(15, 1), b"\0\0\0\0\0\0\xF8\x3F"),
            (FieldKind::Integer, 2, 1, Value::Double(2.5), b"\x19\x00"),
            (
                FieldKind::Currency,
                8,
                4,
                Value::Double(0.000_16),
                b"\x02\0\0\0\0\0\0\0",
            ),
            (FieldKind::Date, 8, 0, Value::Date(-719_162), b"00010101"),
            (FieldKind::DatePacked, 3, 0, Value::Date(0), b"\x0F\x64\x21"),
            (FieldKind::DateBinary, 3, 0, Value::Date(0), b"\x8C\x3D\x25"),
            (FieldKind::Varchar, 4, 0, Value::Text("ab"), b"ab\0\x02"),
            (FieldKind::Character, 4, 0, Value::Text("\u{e9}"), b"\xE9   "),
        ] {
            let format = format(kind, width, decimals);
            let (mut scratch, mut cell) = (Vec::new(), vec![b'?'; width]);
            format.put(value, &mut cell, &mut scratch).unwrap();
            assert_eq!(cell, expected, "{kind:?} {value:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn doubles_are_rounded_as_their_decimal_digits_say(
            unscaled in -2_000_000_000_000_i64..2_000_000_000_000,
            shift in 0_i32..16,
            nudge in -2_i64..=2,
            decimals in 0_u8..=9,
        ) {
            #[expect(clippy::cast_precision_loss, reason = "any double will do")]
            let near = unscaled as f64 / 10_f64.powi(shift);
            let value = f64::from_bits(near.to_bits().wrapping_add_signed(nudge));
            let format = format(FieldKind::Numeric, 40, decimals);
            let (mut scratch, mut cell) = (Vec::new(), vec![b'?'; 40]);
            if value.is_finite() {
                format.put(Value::Double(value), &mut cell, &mut scratch).unwrap();
                let expected = std::format!("{value:>40.0$}", usize::from(decimals));
                proptest::prop_assert_eq!(String::from_utf8(cell).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_a_field_cannot_hold_is_refused_and_said() {
        for (kind, width, value, expected) in [
            (
                FieldKind::IntegerDbase7,
                4,
                Value::Integer(i64::from(i32::MIN)),
                "an integer from -2147483647 to 2147483647",
            ),
            (FieldKind::Date, 8, Value::Date(-719_163), "a year from 1 to 9999"),
            (
                FieldKind::DatePacked,
                3,
                Value::Date(2_932_897),
                "a year from 1 to 9999",
            ),
            (FieldKind::Timestamp, 8, Value::Timestamp(i64::MAX), "a year up to 9999"),
            (FieldKind::Numeric, 20, Value::Text("1"), "a number"),
            (
                FieldKind::Integer,
                4,
                Value::Double(1.5),
                "a number with at most 0 decimals",
            ),
            (FieldKind::Integer, 4, Value::Double(1e40), "a number that fits"),
            (FieldKind::Currency, 8, Value::Double(f64::NAN), "a finite number"),
            (
                FieldKind::Numeric,
                40,
                Value::Decimal {
                    unscaled: 1,
                    scale: 255,
                },
                "a number with at most 0 decimals that fits",
            ),
            (FieldKind::Logical, 1, Value::Integer(1), "true or false"),
            (
                FieldKind::Variant,
                6,
                Value::Integer(1),
                "nothing: fields of any type are only read",
            ),
            (FieldKind::Varbinary, 2, Value::Bytes(b"abc"), "at most 2 bytes"),
        ] {
            let refused = format(kind, width, 0).encode(value, &mut Vec::new());
            assert_eq!(refused, Err(expected.to_owned()), "{kind:?} {value:?}");
        }
    }

    fn format(kind: FieldKind, width: usize, decimals: u8) -> Format {
        Format {
            kind,
            width,
            decimals,
            is_untranslated: false,
            codepage: CodePage::Cp1252,
        }
    }
}
