//! Keys: their types, how values become their bytes, and how these compare.
//!
//! CDX and NSX write numbers as doubles whose bytes sort (big-endian, the sign bit turned around when positive, all bits
//! when negative), dates as the double of their Julian day and times as its fraction, logicals as `T` or `F`. NTX writes
//! what `STR()` and `DTOS()` give: zeros for a number's leading blanks, and the digits of a negative one as `,` for 0 down
//! to `#` for 9. dBASE's indexes have numbers and dates in forms of their own ([`dbase_key`](super::dbase_key)), which are read
//! into doubles that sort; a date that is blank is a very high one. Sources: the index sections of the FoxPro documentation ("numbers are converted to 8 bytes"), and the keys
//! of the corpus. This module does not evaluate expressions.

use std::fmt;

use crate::error::{Error, Result};
use crate::julian;

use super::adi::AdiKey;

/// The type of an order's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// `C`: text.
    Character,
    /// `N`: numbers.
    Number,
    /// `D`: days.
    Date,
    /// `T`: moments.
    Timestamp,
    /// `L`: true and false.
    Logical,
}

impl KeyType {
    /// The letter of the xBase type.
    pub fn letter(self) -> char {
        match self {
            Self::Character => 'C',
            Self::Number => 'N',
            Self::Date => 'D',
            Self::Timestamp => 'T',
            Self::Logical => 'L',
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// A value that is or becomes a key.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum KeyValue<'a> {
    /// Text in the table's code page.
    Character(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
    /// Days since 1970-01-01; `None` is the blank date.
    Date(Option<i32>),
    /// Milliseconds since 1970-01-01; `None` is the blank time.
    Timestamp(Option<i64>),
    /// True or false.
    Logical(bool),
}

impl KeyValue<'_> {
    fn kind(&self) -> KeyType {
        match self {
            Self::Character(_) => KeyType::Character,
            Self::Integer(_) | Self::Number(_) => KeyType::Number,
            Self::Date(_) => KeyType::Date,
            Self::Timestamp(_) => KeyType::Timestamp,
            Self::Logical(_) => KeyType::Logical,
        }
    }
}

/// What is looked for in an order, or bounds a scope. The default has no bytes: every key begins so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key {
    bytes: Vec<u8>,
    /// Whether whole days are compared, of keys that are doubles.
    by_day: bool,
}

impl Key {
    /// The bytes of a stored key, or its beginning: every key that begins so is equal to it.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            by_day: false,
        }
    }

    /// Becomes what [`Key::raw`] is of these bytes.
    pub fn set_raw(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.by_day = false;
    }

    /// Whether it stands for every moment of a day.
    pub(crate) fn is_by_day(&self) -> bool {
        self.by_day
    }

    /// The bytes that are compared.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How the values of one order become keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyCodec {
    pub(crate) key_type: KeyType,
    pub(crate) len: usize,
    pub(crate) encoding: KeyEncoding,
    /// Whether a byte in front says that the key is not NULL.
    pub(crate) is_nullable: bool,
    /// Whether a byte behind is left over: the keys of a candidate index of Visual FoxPro whose field can be NULL have room for that byte,
    /// and do not have it.
    pub(crate) has_spare: bool,
}

/// How numbers and dates are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyEncoding {
    /// Doubles whose bytes sort, or 4 bytes of an integer whose bytes sort.
    Binary,
    /// As text with so many decimals.
    Text(u8),
    /// The weights of a text in a collation that is not known here: the bytes sort, and no key can be made.
    Collated,
    /// A bit for each record instead of keys.
    Bitmap,
    /// Doubles whose bytes sort, a date that is blank behind all others (dBASE).
    Dbase,
    /// Doubles whose bytes sort, of moments to the second (Visual FoxPro).
    Seconds,
    /// As Advantage writes them: zeros for NULL.
    Adi(AdiKey),
    /// Words of full-text search, or packed digits (ADI), or those of an expression that does not compile: they are kept, and not made.
    Unknown,
}

/// What a key that can be NULL begins with when it is not.
const NOT_NULL: u8 = 0x80;
/// The length of a double.
pub(super) const DOUBLE: usize = 8;
const DAY_MS: i64 = 86_400_000;
/// The blank date of dBASE's indexes, as CodeBase writes it.
const DBASE_BLANK: f64 = 1e300;
/// No day of dBASE's indexes is as high.
const DBASE_DAY_END: f64 = 1e9;

impl KeyCodec {
    /// What every day of an index of dBASE comes before, and no blank one does that is written as a high number.
    pub(crate) fn end_of_days() -> Key {
        Key::raw(sortable(DBASE_DAY_END))
    }

    /// Whether two stored keys stand for one value: there are several blank days, and moments a step or two beside the second.
    pub(crate) fn are_alike(self, a: &[u8], b: &[u8]) -> bool {
        a == b
            || self.encoding == KeyEncoding::Seconds && self.beside(a).any(|beside| beside == b)
            || self.encoding == KeyEncoding::Dbase && self.decode(a).is_some_and(|value| self.decode(b) == Some(value))
    }

    /// The keys that a moment may have instead of its own: Visual FoxPro makes the key of a double that it does not store, and one of
    /// 2,071 keys of a public file is a step beside the others.
    pub(crate) fn beside(self, key: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        let spare = usize::from(self.has_spare).min(key.len());
        let (own, spare) = key.split_at(key.len() - spare);
        let spare = spare.to_vec();
        let parts = own.split_last_chunk::<DOUBLE>();
        let parts = parts.filter(|_| self.encoding == KeyEncoding::Seconds);
        let bits = parts.map(|(front, bits)| (front.to_vec(), u64::from_be_bytes(*bits)));
        [-1, 1, -2, 2].into_iter().filter_map(move |steps| {
            let (front, bits) = bits.as_ref()?;
            Some([front, &bits.checked_add_signed(steps)?.to_be_bytes()[..], &spare].concat())
        })
    }

    /// The codec of a candidate index, whose keys may be one byte longer than their values.
    pub(crate) fn of_candidate(self, is_candidate: bool) -> Self {
        let is_value = |len| match self.key_type {
            // Texts have room for any byte.
            KeyType::Character => false,
            KeyType::Number => matches!(len, 4 | DOUBLE),
            KeyType::Date | KeyType::Timestamp => len == DOUBLE,
            KeyType::Logical => len == 1,
        };
        let is_of_fox = matches!(self.encoding, KeyEncoding::Binary | KeyEncoding::Seconds) && !self.is_nullable;
        let has_spare = is_candidate && is_of_fox && self.len.checked_sub(1).is_some_and(is_value);
        Self { has_spare, ..self }
    }

    /// Whether keys of this type can have this length.
    ///
    /// # Errors
    /// [`Error::Misuse`] when not: the type given is not that of the expression.
    pub(crate) fn check(self, name: &str) -> Result<Self> {
        let len = self.value().len;
        let fits = match (self.encoding, self.key_type) {
            (KeyEncoding::Bitmap, key_type) => key_type == KeyType::Logical,
            // Which form numbers and moments have is the expression's to say.
            (KeyEncoding::Adi(_) | KeyEncoding::Unknown, _) => len > 0,
            (_, KeyType::Character) => true,
            (KeyEncoding::Collated, _) => false,
            (KeyEncoding::Binary, KeyType::Number) => matches!(len, 4 | DOUBLE),
            (KeyEncoding::Binary, KeyType::Date | KeyType::Timestamp) => len == DOUBLE,
            (KeyEncoding::Binary, KeyType::Logical) => len == 1,
            (KeyEncoding::Dbase, KeyType::Number | KeyType::Date) => len == DOUBLE,
            (KeyEncoding::Dbase, KeyType::Timestamp | KeyType::Logical) => false,
            (KeyEncoding::Seconds, key_type) => key_type == KeyType::Timestamp && len == DOUBLE,
            (KeyEncoding::Text(_), KeyType::Number) => len <= 40,
            (KeyEncoding::Text(_), KeyType::Date) => len >= 8,
            (KeyEncoding::Text(_), KeyType::Timestamp) => len == 17,
            (KeyEncoding::Text(_), KeyType::Logical) => len == 1,
        };
        if fits {
            return Ok(self);
        }
        let (key_type, len) = (self.key_type, self.len);
        if self.encoding == KeyEncoding::Dbase && matches!(key_type, KeyType::Timestamp | KeyType::Logical) {
            let instead = "make a text or a number of the value, as IIF( … ) does";
            return Err(Error::Misuse(format!(
                "index tag {name}: MDX and NDX files have no keys of type {key_type}; {instead}"
            )));
        }
        Err(Error::Misuse(format!(
            "index tag {name} has keys of {len} bytes, which are not of type {key_type}"
        )))
    }

    /// The codec of the value, without the byte that says whether a key is NULL.
    fn value(self) -> Self {
        let others = usize::from(self.is_nullable) + usize::from(self.has_spare);
        Self {
            len: self.len.saturating_sub(others),
            is_nullable: false,
            has_spare: false,
            ..self
        }
    }

    /// Whether keys can be made of values.
    pub(crate) fn is_known(self) -> bool {
        !matches!(
            self.encoding,
            KeyEncoding::Collated | KeyEncoding::Bitmap | KeyEncoding::Unknown
        )
    }

    /// The byte that packed pages leave out at a key's end.
    pub(crate) fn trail(self) -> u8 {
        match (self.key_type, self.encoding) {
            (KeyType::Character, KeyEncoding::Collated) => 0,
            (KeyType::Character, _) => b' ',
            _ => 0,
        }
    }

    /// What to look for: text as far as it goes, everything else whole.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a value of another type, or a number that no key can hold.
    pub(crate) fn key(self, value: &KeyValue<'_>) -> Result<Key> {
        let mut key = Key {
            bytes: Vec::with_capacity(self.len),
            by_day: false,
        };
        self.put_key(value, &mut key)?;
        Ok(key)
    }

    /// As [`KeyCodec::key`], in the place of another key.
    ///
    /// # Errors
    /// As [`KeyCodec::key`].
    #[inline]
    pub(crate) fn put_key(self, value: &KeyValue<'_>, key: &mut Key) -> Result<()> {
        let are_doubles = self.key_type == KeyType::Number
            && !matches!(self.encoding, KeyEncoding::Text(_) | KeyEncoding::Adi(_))
            && self.len == DOUBLE;
        match value {
            // What is looked for most often.
            KeyValue::Number(number) if are_doubles && !number.is_nan() => {
                key.set_raw(&sortable(*number));
                Ok(())
            }
            _ => self.put_any(value, key),
        }
    }

    fn put_any(self, value: &KeyValue<'_>, key: &mut Key) -> Result<()> {
        key.bytes.clear();
        key.by_day = false;
        self.put(value, &mut key.bytes)?;
        if let (KeyType::Timestamp, KeyValue::Date(_)) = (self.key_type, value) {
            match self.encoding {
                // The beginning of the moments' keys.
                KeyEncoding::Adi(_) => {}
                KeyEncoding::Text(_) => key.bytes.truncate(8),
                _ => key.by_day = true,
            }
        }
        Ok(())
    }

    /// The whole key of a value, as it is stored.
    ///
    /// # Errors
    /// As [`KeyCodec::key`].
    pub(crate) fn encode(self, value: &KeyValue<'_>) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.len);
        self.put(value, &mut bytes)?;
        bytes.resize(self.len, self.trail());
        Ok(bytes)
    }

    /// Puts a value's bytes behind `out`: text as far as it goes, everything else whole.
    ///
    /// # Errors
    /// As [`KeyCodec::key`].
    pub(crate) fn put(self, value: &KeyValue<'_>, out: &mut Vec<u8>) -> Result<()> {
        match self.encoding {
            KeyEncoding::Collated => return Err(Error::UnknownCollation),
            KeyEncoding::Bitmap => return Err(Error::NoKeys),
            KeyEncoding::Unknown => return Err(Error::UnknownKeys),
            KeyEncoding::Adi(kind) => {
                return match kind.put(value, self.len, out) {
                    true => Ok(()),
                    false => Err(Error::Misuse(format!(
                        "no key of type {} holds a value of type {}",
                        self.key_type,
                        value.kind()
                    ))),
                };
            }
            KeyEncoding::Binary | KeyEncoding::Text(_) | KeyEncoding::Dbase | KeyEncoding::Seconds => {}
        }
        if self.is_nullable {
            out.push(NOT_NULL);
        }
        if self.is_nullable || self.has_spare {
            return self.value().put(value, out);
        }
        match (self.key_type, value) {
            (KeyType::Character, KeyValue::Character(text)) => {
                out.extend_from_slice(text.get(..self.len).unwrap_or(text));
            }
            (KeyType::Number, KeyValue::Integer(number)) => self.number(*number as f64, Some(*number), out)?,
            (KeyType::Number, KeyValue::Number(number)) => self.number(*number, None, out)?,
            (KeyType::Date | KeyType::Timestamp, KeyValue::Date(days)) => self.moment(*days, 0, out)?,
            (KeyType::Date, KeyValue::Timestamp(ms)) => self.moment(days_of(*ms)?, 0, out)?,
            (KeyType::Timestamp, KeyValue::Timestamp(ms)) => {
                self.moment(days_of(*ms)?, ms.unwrap_or_default().rem_euclid(DAY_MS), out)?;
            }
            (KeyType::Logical, KeyValue::Logical(value)) => out.push(if *value { b'T' } else { b'F' }),
            (expected, value) => {
                let found = value.kind();
                return Err(Error::Misuse(format!(
                    "a value of type {found} was looked for in an order of type {expected}"
                )));
            }
        }
        Ok(())
    }

    /// The value of a stored key; `None` when its bytes are none, and for NULL where the key says so.
    pub(crate) fn decode(self, key: &[u8]) -> Option<KeyValue<'_>> {
        if self.is_nullable {
            let value = key.split_first().filter(|(first, _)| **first == NOT_NULL)?.1;
            return self.value().decode(value);
        }
        if self.has_spare {
            let value = self.value();
            return value.decode(key.get(..value.len)?);
        }
        Some(match (self.key_type, self.encoding) {
            (_, KeyEncoding::Adi(kind)) => return kind.decode(key),
            (KeyType::Character, KeyEncoding::Binary | KeyEncoding::Text(_) | KeyEncoding::Dbase) => {
                KeyValue::Character(key)
            }
            (KeyType::Logical, KeyEncoding::Binary | KeyEncoding::Text(_) | KeyEncoding::Dbase) => match key.first()? {
                b'T' => KeyValue::Logical(true),
                b'F' => KeyValue::Logical(false),
                _ => return None,
            },
            (KeyType::Number, KeyEncoding::Binary) if self.len == 4 => {
                let number = u32::from_be_bytes(*key.first_chunk()?) ^ 0x8000_0000;
                KeyValue::Integer(i64::from(number.cast_signed()))
            }
            (KeyType::Number, KeyEncoding::Binary | KeyEncoding::Dbase) => KeyValue::Number(double(key)?),
            (KeyType::Number, KeyEncoding::Text(_)) => {
                let text: String = match key.first()? {
                    b'#'..=b',' => {
                        let digits = key.iter().map(|byte| {
                            if *byte == b'.' {
                                '.'
                            } else {
                                char::from(0x5C_u8.wrapping_sub(*byte))
                            }
                        });
                        std::iter::once('-').chain(digits).collect()
                    }
                    _ => key.iter().copied().map(char::from).collect(),
                };
                KeyValue::Number(text.trim().parse().ok()?)
            }
            (KeyType::Date, KeyEncoding::Binary) => match double(key)? {
                0.0 => KeyValue::Date(None),
                julian => KeyValue::Date(Some(julian::unix_days(whole(julian)?)?)),
            },
            (KeyType::Date, KeyEncoding::Dbase) => match double(key)? {
                julian if julian == 0.0 || julian >= DBASE_DAY_END => KeyValue::Date(None),
                julian => KeyValue::Date(Some(julian::unix_days(whole(julian)?)?)),
            },
            (KeyType::Timestamp, KeyEncoding::Binary | KeyEncoding::Dbase | KeyEncoding::Seconds) => match double(key)?
            {
                0.0 => KeyValue::Timestamp(None),
                julian => {
                    let days = i64::from(julian::unix_days(whole(julian.floor())?)?);
                    let ms = (julian.fract() * DAY_MS as f64).round() as i64;
                    KeyValue::Timestamp(Some(days * DAY_MS + ms))
                }
            },
            (KeyType::Date, KeyEncoding::Text(_)) => KeyValue::Date(civil(key)?),
            (KeyType::Timestamp, KeyEncoding::Text(_)) => match civil(key)? {
                None => KeyValue::Timestamp(None),
                Some(days) => {
                    let [hours, minutes, seconds, ms] = [
                        digits(key, 8..10)?,
                        digits(key, 10..12)?,
                        digits(key, 12..14)?,
                        digits(key, 14..17)?,
                    ];
                    let time = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
                    KeyValue::Timestamp(Some(i64::from(days) * DAY_MS + time))
                }
            },
            (_, KeyEncoding::Collated | KeyEncoding::Bitmap | KeyEncoding::Unknown | KeyEncoding::Seconds) => {
                return None;
            }
        })
    }

    fn number(self, number: f64, exact: Option<i64>, out: &mut Vec<u8>) -> Result<()> {
        let refuse = || {
            Err(Error::Misuse(format!(
                "number {number} fits into no key of {} bytes",
                self.len
            )))
        };
        match self.encoding {
            KeyEncoding::Binary if self.len == 4 => {
                let whole = number.trunc();
                if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole) {
                    return refuse();
                }
                out.extend_from_slice(&((whole as i32).cast_unsigned() ^ 0x8000_0000).to_be_bytes());
            }
            KeyEncoding::Binary | KeyEncoding::Dbase if number.is_nan() => return refuse(),
            KeyEncoding::Binary
            | KeyEncoding::Dbase
            | KeyEncoding::Seconds
            | KeyEncoding::Collated
            | KeyEncoding::Bitmap
            | KeyEncoding::Unknown
            | KeyEncoding::Adi(_) => {
                out.extend_from_slice(&sortable(number));
            }
            KeyEncoding::Text(decimals) => {
                let decimals = usize::from(decimals);
                let text = match exact {
                    Some(exact) if decimals == 0 => exact.to_string(),
                    _ => {
                        // `format!` rounds halves to even; STR() rounds them away from zero.
                        let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or_default());
                        let rounded = (number * scale).round() / scale;
                        format!("{:.decimals$}", if rounded == 0.0 { 0.0 } else { rounded })
                    }
                };
                if !text.ends_with(|c: char| c.is_ascii_digit()) || text.len() > self.len {
                    return refuse();
                }
                let (is_negative, text) = match text.strip_prefix('-') {
                    Some(text) => (true, text),
                    None => (false, text.as_str()),
                };
                let zeros = std::iter::repeat_n(b'0', self.len - text.len());
                out.extend(zeros.chain(text.bytes()).map(|byte| match byte {
                    b'0'..=b'9' if is_negative => 0x5C - byte,
                    byte => byte,
                }));
            }
        }
        Ok(())
    }

    fn moment(self, days: Option<i32>, ms: i64, out: &mut Vec<u8>) -> Result<()> {
        match self.encoding {
            KeyEncoding::Binary
            | KeyEncoding::Dbase
            | KeyEncoding::Seconds
            | KeyEncoding::Collated
            | KeyEncoding::Bitmap
            | KeyEncoding::Unknown
            | KeyEncoding::Adi(_) => {
                let julian = match days {
                    None if self.encoding == KeyEncoding::Dbase => DBASE_BLANK,
                    None => 0.0,
                    Some(days) => f64::from(julian::from_unix_days(days).ok_or_else(|| no_day(days))?),
                };
                let part = match self.encoding {
                    KeyEncoding::Seconds => part_of_day_to_the_second(ms),
                    _ => ms as f64 / DAY_MS as f64,
                };
                out.extend_from_slice(&sortable(julian + part));
            }
            KeyEncoding::Text(_) => {
                match days {
                    None => out.extend_from_slice(b"        "),
                    Some(days) => {
                        julian::from_unix_days(days).ok_or_else(|| no_day(days))?;
                        let (year, month, day) = julian::civil_from_unix_days(days);
                        out.extend_from_slice(format!("{year:04}{month:02}{day:02}").as_bytes());
                    }
                }
                if self.key_type == KeyType::Timestamp {
                    let seconds = ms / 1000;
                    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                    out.extend_from_slice(
                        format!("{hours:02}{minutes:02}{:02}{:03}", seconds % 60, ms % 1000).as_bytes(),
                    );
                }
            }
        }
        Ok(())
    }
}

/// The part of a day that milliseconds are in a key of Visual FoxPro, which rounds them to seconds.
///
/// The number of the day leaves room for steps of 2^-31 of a day. Visual FoxPro takes the step that is nearest to 0.26 steps before the
/// second. CodeBase, which does the same, lists the seconds whose step is the one below (`flags4dateTimeFlags` in `i4conv.c`).
fn part_of_day_to_the_second(ms: i64) -> f64 {
    let seconds = (ms + 500).div_euclid(1000);
    // 2^31 / 86400 is 2^24 / 675.
    let steps = ((seconds << 24) + 161).div_euclid(675);
    steps as f64 / f64::from(1_u32 << 31)
}

/// The 8 bytes of a double that sort as doubles do; minus zero is zero.
pub(super) fn sortable(number: f64) -> [u8; DOUBLE] {
    let bits = (number + 0.0).to_bits();
    let sign = 1 << 63;
    (if bits & sign == 0 { bits | sign } else { !bits }).to_be_bytes()
}

pub(super) fn double(key: &[u8]) -> Option<f64> {
    let bits = u64::from_be_bytes(*key.first_chunk()?);
    let sign = 1 << 63;
    Some(f64::from_bits(if bits & sign == 0 { !bits } else { bits ^ sign }))
}

/// A Julian day that is a whole number.
fn whole(julian: f64) -> Option<u32> {
    ((0.0..=f64::from(u32::MAX)).contains(&julian) && julian.fract() == 0.0).then_some(julian as u32)
}

fn days_of(ms: Option<i64>) -> Result<Option<i32>> {
    ms.map(|ms| i32::try_from(ms.div_euclid(DAY_MS)).map_err(|_| no_day(ms.div_euclid(DAY_MS))))
        .transpose()
}

fn no_day(days: impl fmt::Display) -> Error {
    Error::Misuse(format!("{days} days from 1970-01-01 is no day of the years 1 to 9999"))
}

/// The days of YYYYMMDD; blank is no day.
#[expect(clippy::option_option, reason = "the blank date is a key, and other bytes are none")]
fn civil(key: &[u8]) -> Option<Option<i32>> {
    if key.get(..8)?.iter().all(|byte| *byte == b' ') {
        return Some(None);
    }
    let part = |range| digits(key, range).and_then(|number| i32::try_from(number).ok());
    julian::unix_days_from_civil(part(0..4)?, part(4..6)?, part(6..8)?).map(Some)
}

fn digits(key: &[u8], range: std::ops::Range<usize>) -> Option<i64> {
    key.get(range)?.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::super::collation::Collation;
    use super::super::key_order::{KeyOrder, compare_bytes};
    use proptest::prelude::*;

    use super::*;

    fn codec(key_type: KeyType, len: usize, encoding: KeyEncoding) -> KeyCodec {
        KeyCodec {
            key_type,
            len,
            encoding,
            is_nullable: false,
            has_spare: false,
        }
        .check("test")
        .unwrap()
    }

    #[test]
    fn values_become_the_bytes_that_harbour_writes() {
        let ntx = |len, decimals| codec(KeyType::Number, len, KeyEncoding::Text(decimals));
        for (codec, value, expected) in [
            (ntx(10, 2), KeyValue::Number(1.5), &b"0000001.50"[..]),
            (ntx(10, 2), KeyValue::Number(-0.01), b",,,,,,,.,+"),
            (ntx(10, 2), KeyValue::Number(-149.99), b",,,,+(#.##"),
            (ntx(8, 0), KeyValue::Number(250.5), b"00000251"),
            (ntx(8, 0), KeyValue::Integer(-5), b",,,,,,,'"),
            (ntx(8, 2), KeyValue::Number(-0.0), b"00000.00"),
            (
                codec(KeyType::Date, 8, KeyEncoding::Text(0)),
                KeyValue::Date(Some(0)),
                b"19700101",
            ),
            (
                codec(KeyType::Date, 8, KeyEncoding::Text(0)),
                KeyValue::Date(None),
                b"        ",
            ),
            (
                codec(KeyType::Number, 8, KeyEncoding::Binary),
                KeyValue::Integer(1),
                b"\xBF\xF0\0\0\0\0\0\0",
            ),
            (
                codec(KeyType::Number, 8, KeyEncoding::Binary),
                KeyValue::Number(-0.0),
                b"\x80\0\0\0\0\0\0\0",
            ),
            (
                codec(KeyType::Number, 4, KeyEncoding::Binary),
                KeyValue::Integer(-1),
                b"\x7F\xFF\xFF\xFF",
            ),
            (
                codec(KeyType::Character, 4, KeyEncoding::Binary),
                KeyValue::Character(b"AB"),
                b"AB  ",
            ),
            (
                codec(KeyType::Logical, 1, KeyEncoding::Binary),
                KeyValue::Logical(true),
                b"T",
            ),
        ] {
            assert_eq!(codec.encode(&value).unwrap(), expected, "{value:?}");
        }
        for (codec, value) in [
            (ntx(4, 0), KeyValue::Integer(12_345)),
            (ntx(8, 0), KeyValue::Number(f64::INFINITY)),
            (ntx(30, 20), KeyValue::Number(1e300)),
            (codec(KeyType::Number, 4, KeyEncoding::Binary), KeyValue::Number(3e9)),
            (codec(KeyType::Number, 8, KeyEncoding::Binary), KeyValue::Logical(true)),
            (
                codec(KeyType::Date, 8, KeyEncoding::Binary),
                KeyValue::Date(Some(i32::MAX)),
            ),
        ] {
            assert!(codec.key(&value).is_err(), "{value:?}");
        }
    }

    #[test]
    fn a_type_that_the_key_length_forbids_is_refused() {
        for (key_type, len, encoding) in [
            (KeyType::Number, 9, KeyEncoding::Binary),
            (KeyType::Date, 4, KeyEncoding::Binary),
            (KeyType::Logical, 2, KeyEncoding::Binary),
            (KeyType::Date, 7, KeyEncoding::Text(0)),
            (KeyType::Timestamp, 8, KeyEncoding::Text(0)),
        ] {
            assert!(
                KeyCodec {
                    key_type,
                    len,
                    encoding,
                    is_nullable: false,
                    has_spare: false,
                }
                .check("t")
                .is_err(),
                "{key_type} {len}"
            );
        }
    }

    #[test]
    fn a_day_is_equal_to_every_moment_of_it() {
        let codec = codec(KeyType::Timestamp, 8, KeyEncoding::Binary);
        let order = KeyOrder::new(KeyType::Timestamp, &Collation::binary(), false);
        let day = codec.key(&KeyValue::Date(Some(10))).unwrap();
        for (ms, expected) in [
            (10 * DAY_MS - 1, Ordering::Greater),
            (10 * DAY_MS, Ordering::Equal),
            (11 * DAY_MS - 1, Ordering::Equal),
            (11 * DAY_MS, Ordering::Less),
        ] {
            let key = codec.encode(&KeyValue::Timestamp(Some(ms))).unwrap();
            assert_eq!(order.probe(&day, &key), expected, "{ms}");
        }
    }

    proptest! {
        #[test]
        fn texts_compare_by_their_bytes(
            a in prop::collection::vec(0_u8..3, 0..20),
            b in prop::collection::vec(0_u8..3, 0..20),
            shared in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let (a, b) = ([shared.clone(), a].concat(), [shared, b].concat());
            prop_assert_eq!(compare_bytes(&a, &b), a.cmp(&b));
        }

        #[test]
        fn keys_of_numbers_sort_as_the_numbers_do(a: i32, b: i32) {
            let (x, y) = (f64::from(a) / 100.0, f64::from(b) / 100.0);
            for codec in [codec(KeyType::Number, 8, KeyEncoding::Binary), codec(KeyType::Number, 12, KeyEncoding::Text(2))] {
                let [key_a, key_b] = [x, y].map(|n| codec.encode(&KeyValue::Number(n)).unwrap());
                prop_assert_eq!(key_a.cmp(&key_b), x.total_cmp(&y));
                prop_assert_eq!(codec.decode(&key_a), Some(KeyValue::Number(x)));
            }
        }

        #[test]
        fn keys_of_moments_come_back(ms in -62_135_596_800_000_i64..253_402_300_800_000) {
            for (len, encoding) in [(8, KeyEncoding::Binary), (17, KeyEncoding::Text(0))] {
                let codec = codec(KeyType::Timestamp, len, encoding);
                let value = KeyValue::Timestamp(Some(ms));
                let key = codec.encode(&value).unwrap();
                prop_assert_eq!(codec.decode(&key), Some(value));
            }
            for encoding in [KeyEncoding::Binary, KeyEncoding::Text(0)] {
                let codec = codec(KeyType::Date, 8, encoding);
                let value = KeyValue::Date(Some(i32::try_from(ms.div_euclid(DAY_MS)).unwrap()));
                let key = codec.encode(&value).unwrap();
                prop_assert_eq!(codec.decode(&key), Some(value));
            }
        }
    }
}
