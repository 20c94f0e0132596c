//! ADI: the index of the Advantage Database Server's own tables. It is a compact CDX whose pages go by number instead of by offset, with
//! names of 128 bytes and keys of its own.
//!
//! Learned from 55 files that Advantage wrote (139 orders, each key compared with its record): pages, tag headers and the directory are
//! those of a CDX, but for what [`Cdx`](super::cdx::Cdx) has as parameters. Expressions name fields by number (`F1`), and `;` puts keys one
//! behind the other. docs/formats/adt.md has the layout.
//!
//! | key of | bytes |
//! |---|---|
//! | text, bytes | as in the record; CICharacter in small letters |
//! | Logical | `T` or `F` |
//! | Integer, ShortInt, AutoIncrement, Double, CurDouble, numbers of expressions | a double whose bytes sort |
//! | Date | the double of the Julian day |
//! | Money, LongInt, RowVersion | 64 bits, big-endian, the sign bit turned |
//! | TimeStamp, ModTime | Julian day (4) and milliseconds + 1 (4), big-endian |
//! | Time | milliseconds + 1 (4), big-endian |
//! | NULL | zeros |
//!
//! The key of a Time and that of a LongInt were in no file; they follow from the others and from the help's lengths. The keys of Numeric
//! fields are packed digits, of which too little is known.

use super::key::{KeyType, KeyValue, double, sortable};
use crate::julian;

/// The length of a name in the directory of tags.
pub(super) const NAME_LEN: usize = 128;

/// What newer files have at 20 of their header.
pub(super) const STAMP: [u8; 4] = [0x73, 0x8C, 0x05, 0x29];

/// What the bytes of a key are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AdiKey {
    /// Text or bytes.
    Text,
    Logical,
    /// A number as a double.
    Double,
    /// A whole number of units of the last decimal.
    Whole {
        decimals: u8,
    },
    Day,
    Moment,
    Time,
}

const DAY_MS: i64 = 86_400_000;
const SIGN: u64 = 1 << 63;

impl AdiKey {
    /// What a key of this type is where no field says it.
    pub(crate) fn of_type(key_type: KeyType) -> Self {
        match key_type {
            KeyType::Character => Self::Text,
            KeyType::Number => Self::Double,
            KeyType::Date => Self::Day,
            KeyType::Timestamp => Self::Moment,
            KeyType::Logical => Self::Logical,
        }
    }

    /// The length of every key; `None` for text.
    pub(crate) fn len(self) -> Option<usize> {
        match self {
            Self::Text => None,
            Self::Logical => Some(1),
            Self::Time => Some(4),
            Self::Double | Self::Whole { .. } | Self::Day | Self::Moment => Some(8),
        }
    }

    /// Puts the key of a value behind `out`, text as far as it goes up to `len` bytes.
    ///
    /// # Errors
    /// `false` for a value that no such key holds; `out` is then as before.
    #[must_use]
    pub(crate) fn put(self, value: &KeyValue<'_>, len: usize, out: &mut Vec<u8>) -> bool {
        match (self, value) {
            (Self::Text, KeyValue::Character(text)) => out.extend_from_slice(text.get(..len).unwrap_or(text)),
            (Self::Logical, KeyValue::Logical(value)) => out.push(if *value { b'T' } else { b'F' }),
            (Self::Double, KeyValue::Integer(number)) => out.extend(sortable(*number as f64)),
            (Self::Double, KeyValue::Number(number)) if !number.is_nan() => out.extend(sortable(*number)),
            (Self::Whole { decimals }, KeyValue::Integer(number)) => {
                let Some(number) = 10_i64
                    .checked_pow(decimals.into())
                    .and_then(|power| number.checked_mul(power))
                else {
                    return false;
                };
                out.extend(whole_key(number));
            }
            (Self::Whole { decimals }, KeyValue::Number(number)) => {
                let unscaled = (number * 10_f64.powi(decimals.into())).round();
                // 2^63 is the first number behind the last one.
                if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&unscaled) {
                    return false;
                }
                out.extend(whole_key(unscaled as i64));
            }
            (Self::Day, KeyValue::Date(Some(days))) => match julian::from_unix_days(*days) {
                Some(day) => out.extend(sortable(f64::from(day))),
                None => return false,
            },
            (Self::Moment, KeyValue::Timestamp(Some(ms))) => {
                let day = i32::try_from(ms.div_euclid(DAY_MS))
                    .ok()
                    .and_then(julian::from_unix_days);
                let (Some(day), Ok(ms)) = (day, u32::try_from(ms.rem_euclid(DAY_MS))) else {
                    return false;
                };
                out.extend(day.to_be_bytes());
                out.extend((ms + 1).to_be_bytes());
            }
            // A day is sought as the beginning of the keys of its moments.
            (Self::Moment, KeyValue::Date(Some(days))) => match julian::from_unix_days(*days) {
                Some(day) => out.extend(day.to_be_bytes()),
                None => return false,
            },
            (Self::Time, KeyValue::Timestamp(Some(ms))) => match u32::try_from(*ms) {
                Ok(ms) if i64::from(ms) < DAY_MS => out.extend((ms + 1).to_be_bytes()),
                _ => return false,
            },
            (Self::Day, KeyValue::Date(None)) | (Self::Moment | Self::Time, KeyValue::Timestamp(None)) => {
                out.resize(out.len() + self.len().unwrap_or(len), 0);
            }
            _ => return false,
        }
        true
    }

    /// The value that a key begins with; `None` for NULL, and bytes that are none.
    pub(crate) fn decode(self, key: &[u8]) -> Option<KeyValue<'_>> {
        let own = key.get(..self.len().unwrap_or(key.len()))?;
        if own.iter().all(|byte| *byte == 0) {
            return None;
        }
        let number = |at: usize| own.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        Some(match self {
            Self::Text => KeyValue::Character(own),
            Self::Logical => match own {
                b"T" => KeyValue::Logical(true),
                b"F" => KeyValue::Logical(false),
                _ => return None,
            },
            Self::Double => KeyValue::Number(double(own)?),
            Self::Whole { decimals } => {
                let number = (u64::from_be_bytes(*own.first_chunk()?) ^ SIGN).cast_signed();
                match decimals {
                    0 => KeyValue::Integer(number),
                    _ => KeyValue::Number(number as f64 / 10_f64.powi(decimals.into())),
                }
            }
            Self::Day => {
                let day = double(own)?;
                let is_day = day.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&day);
                KeyValue::Date(Some(julian::unix_days(is_day.then_some(day as u32)?)?))
            }
            Self::Moment => {
                let days = i64::from(julian::unix_days(number(0)?)?);
                let ms = i64::from(number(4)?.checked_sub(1)?);
                KeyValue::Timestamp(Some(days * DAY_MS + ms))
            }
            Self::Time => KeyValue::Timestamp(Some(i64::from(number(0)?.checked_sub(1)?))),
        })
    }
}

fn whole_key(number: i64) -> [u8; 8] {
    (number.cast_unsigned() ^ SIGN).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_advantage_and_sort_as_their_values_do() {
        let key = |kind: AdiKey, value: KeyValue<'_>| {
            let mut out = Vec::new();
            assert!(kind.put(&value, 4, &mut out), "{kind:?} {value:?}");
            out
        };
        let moment = |day: i64, ms: i64| KeyValue::Timestamp(Some((day - 2_440_588) * DAY_MS + ms));
        for (kind, value, expected) in [
            (AdiKey::Double, KeyValue::Integer(1), "bff0000000000000"),
            (AdiKey::Double, KeyValue::Number(-1.0), "400fffffffffffff"),
            (
                AdiKey::Whole { decimals: 4 },
                KeyValue::Number(-9980.3136),
                "7ffffffffa0d2000",
            ),
            (
                AdiKey::Whole { decimals: 0 },
                KeyValue::Integer(0x1311),
                "8000000000001311",
            ),
            // The moment of which a table has the bytes aa812500d8dd2e03.
            (AdiKey::Moment, moment(0x0025_81AA, 0x032E_DDD8), "002581aa032eddd9"),
            (AdiKey::Time, KeyValue::Timestamp(Some(0)), "00000001"),
            (AdiKey::Day, KeyValue::Date(None), "0000000000000000"),
            (AdiKey::Logical, KeyValue::Logical(false), "46"),
            (AdiKey::Text, KeyValue::Character(b"abcdef"), "61626364"),
        ] {
            let shown: String = key(kind, value).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(shown, expected, "{kind:?} {value:?}");
        }
        for (kind, values) in [
            (AdiKey::Double, [-1.5, -0.25, 0.0, 1e-9, 7.0].map(KeyValue::Number)),
            (
                AdiKey::Whole { decimals: 2 },
                [-1.5, -0.25, 0.0, 0.01, 7.0].map(KeyValue::Number),
            ),
            (
                AdiKey::Day,
                [-700_000, -1, 0, 1, 20_000].map(|day| KeyValue::Date(Some(day))),
            ),
            (
                AdiKey::Moment,
                [-1, 0, 1, DAY_MS, 2 * DAY_MS].map(|ms| KeyValue::Timestamp(Some(ms))),
            ),
            (
                AdiKey::Time,
                [0, 1, 255, 256, DAY_MS - 1].map(|ms| KeyValue::Timestamp(Some(ms))),
            ),
        ] {
            let keys = values.map(|value| key(kind, value));
            assert!(keys.is_sorted_by(|a, b| a < b), "{kind:?}");
            assert!(
                keys.iter().all(|key| key > &vec![0; key.len()]),
                "{kind:?}: NULL comes first"
            );
            for (key, value) in keys.iter().zip(values) {
                assert_eq!(kind.decode(key), Some(value), "{kind:?}");
            }
            assert_eq!(kind.decode(&vec![0; keys[0].len()]), None);
            assert_eq!(kind.decode(&[]), None);
        }
    }

    #[test]
    fn what_no_key_holds_is_refused() {
        for (kind, value) in [
            (AdiKey::Double, KeyValue::Number(f64::NAN)),
            (AdiKey::Double, KeyValue::Logical(true)),
            (AdiKey::Whole { decimals: 4 }, KeyValue::Number(1e300)),
            (AdiKey::Whole { decimals: 4 }, KeyValue::Integer(i64::MAX)),
            (AdiKey::Time, KeyValue::Timestamp(Some(DAY_MS))),
            (AdiKey::Time, KeyValue::Timestamp(Some(-1))),
            (AdiKey::Day, KeyValue::Date(Some(i32::MIN))),
            (AdiKey::Moment, KeyValue::Timestamp(Some(i64::MAX))),
        ] {
            let mut out = b"x".to_vec();
            assert!(!kind.put(&value, 8, &mut out), "{kind:?} {value:?}");
            assert_eq!(out, b"x");
        }
    }
}
