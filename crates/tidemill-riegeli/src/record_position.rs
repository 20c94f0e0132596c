//! Where a record is: the beginning of its chunk and its number in the chunk.
//!
//! Source: google/riegeli, `riegeli/records/record_position.h`: the text form is `chunk_begin/record_index`, and the sum of
//! both numbers orders records like a file position. The bytes form is two ordered varints (`riegeli/ordered_varint/`,
//! `ordered_varint_writing.h`): as many bytes as seven-bit groups, at most 9; the first begins with a one bit for each byte
//! after it and a zero bit, and the number follows in big endian. Bytes order as the positions do.
//!
//! The older bytes form, two numbers of eight bytes each, is read but not written. Sixteen bytes that are two ordered varints
//! are taken for those: as the older form they would be a position beyond 2^63, where no file reaches.

use std::{fmt, str::FromStr};

use crate::Error;

/// The position of a record, or of the place where the next one will be. Positions order as the records do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPosition {
    /// File position of the chunk.
    pub chunk_begin: u64,
    /// Number of the record in the chunk, from 0.
    pub record_index: u64,
}

impl RecordPosition {
    /// Returns the position of record `record_index` of the chunk at `chunk_begin`.
    pub fn new(chunk_begin: u64, record_index: u64) -> Self {
        Self {
            chunk_begin,
            record_index,
        }
    }

    /// Returns the number resembling a file position that stands for the record: unique in the file, and inside its chunk.
    pub fn numeric(self) -> u64 {
        self.chunk_begin.saturating_add(self.record_index)
    }

    /// Returns the position as 2 to 18 bytes, which order as the positions do. Another position never begins with the same
    /// bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * MAX_ORDERED_VARINT);
        write_ordered_varint(self.chunk_begin, &mut bytes);
        write_ordered_varint(self.record_index, &mut bytes);
        bytes
    }

    /// Returns the position that the bytes stand for, in either form.
    ///
    /// # Errors
    /// [`Error::Position`] for anything else, and where the sum of both numbers does not fit 64 bits.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::try_from_bytes(bytes).ok_or_else(|| Error::Position {
            text: format!("{bytes:02x?}"),
        })
    }

    fn try_from_bytes(bytes: &[u8]) -> Option<Self> {
        let (chunk_begin, record_index) = read_ordered_varints(bytes).or_else(|| read_fixed(bytes))?;
        Self::checked(chunk_begin, record_index)
    }

    /// Returns the position if it has a number resembling a file position.
    fn checked(chunk_begin: u64, record_index: u64) -> Option<Self> {
        chunk_begin.checked_add(record_index)?;
        Some(Self::new(chunk_begin, record_index))
    }
}

impl fmt::Display for RecordPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.chunk_begin, self.record_index)
    }
}

impl FromStr for RecordPosition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.split_once('/')
            .and_then(|(chunk, index)| Self::checked(chunk.parse().ok()?, index.parse().ok()?))
            .ok_or_else(|| Error::Position { text: text.to_owned() })
    }
}

fn read_ordered_varints(bytes: &[u8]) -> Option<(u64, u64)> {
    let (chunk_begin, rest) = read_ordered_varint(bytes)?;
    let (record_index, rest) = read_ordered_varint(rest)?;
    rest.is_empty().then_some((chunk_begin, record_index))
}

fn read_fixed(bytes: &[u8]) -> Option<(u64, u64)> {
    let (chunk_begin, rest) = bytes.split_first_chunk::<8>()?;
    let (record_index, rest) = rest.split_first_chunk::<8>()?;
    let numbers = (u64::from_be_bytes(*chunk_begin), u64::from_be_bytes(*record_index));
    rest.is_empty().then_some(numbers)
}

/// The longest ordered varint.
const MAX_ORDERED_VARINT: usize = 9;

fn write_ordered_varint(value: u64, out: &mut Vec<u8>) {
    let length = match value {
        0 => 1,
        // A 64th bit has room in the ninth byte.
        _ => (value.ilog2() as usize / 7 + 1).min(MAX_ORDERED_VARINT),
    };
    let bytes = value.to_be_bytes();
    if length == MAX_ORDERED_VARINT {
        out.push(0xff);
        out.extend_from_slice(&bytes);
        return;
    }
    let start = out.len();
    out.extend_from_slice(&bytes[8 - length..]);
    out[start] |= leading_ones(length);
}

/// Splits an ordered varint off the front of `bytes`. `None` when it is cut off or longer than it needs to be.
fn read_ordered_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.first()?.leading_ones() as usize + 1;
    let (varint, rest) = bytes.split_at_checked(length)?;
    let mut value = 0_u64;
    for (index, &byte) in varint.iter().enumerate() {
        let byte = match index {
            0 => byte & !leading_ones(length),
            _ => byte,
        };
        value = value << 8 | u64::from(byte);
    }
    // Shorter ones hold what fits seven bits a byte.
    let shortest = length == 1 || value >= 1 << (7 * (length - 1));
    shortest.then_some((value, rest))
}

/// Returns the bits that begin the first of `length` bytes, 1 to 9.
fn leading_ones(length: usize) -> u8 {
    !0xff_u8.checked_shr(u32::try_from(length).unwrap_or(8) - 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_as_text() {
        let pos = RecordPosition::new(1_352, 299);
        assert_eq!(pos.to_string(), "1352/299");
        assert_eq!("1352/299".parse::<RecordPosition>().expect("a position"), pos);
        assert_eq!(pos.numeric(), 1_651);
        for wrong in ["", "1352", "1352/", "/1", "-1/0", "1/2/3", "18446744073709551615/1"] {
            assert!(wrong.parse::<RecordPosition>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn ordered_varints_take_seven_bits_a_byte() {
        // (value, bytes), by the description in ordered_varint_writing.h
        for (value, bytes) in [
            (0, &[0][..]),
            (0x7f, &[0x7f]),
            (0x80, &[0x80, 0x80]),
            (0x3fff, &[0xbf, 0xff]),
            (0x4000, &[0xc0, 0x40, 0]),
            (0x1f_ffff, &[0xdf, 0xff, 0xff]),
            (1 << 48, &[0xfd, 0, 0, 0, 0, 0, 0]),
            (1 << 49, &[0xfe, 2, 0, 0, 0, 0, 0, 0]),
            ((1 << 56) - 1, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (1 << 56, &[0xff, 1, 0, 0, 0, 0, 0, 0, 0]),
            (u64::MAX, &[0xff; 9]),
        ] {
            let mut out = Vec::new();
            write_ordered_varint(value, &mut out);
            assert_eq!(out, bytes, "{value:#x}");
            assert_eq!(read_ordered_varint(bytes), Some((value, &[][..])));
            for cut in 0..bytes.len() {
                assert_eq!(read_ordered_varint(&bytes[..cut]), None, "{value:#x} cut to {cut}");
            }
        }
        // Longer than they need to be.
        for bytes in [
            &[0x80, 0x7f][..],
            &[0xc0, 0x3f, 0xff],
            &[0xff, 0, 0xff, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(read_ordered_varint(bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn the_older_bytes_form_is_read() {
        let bytes = [[0, 0, 0, 0, 0, 0, 5, 0x48], [0, 0, 0, 0, 0, 0, 1, 0x2b]].concat();
        let pos = RecordPosition::from_bytes(&bytes).expect("a position");
        assert_eq!(pos, RecordPosition::new(1_352, 299));
        assert_eq!(pos.to_bytes(), [0x85, 0x48, 0x81, 0x2b]);
        for wrong in [&[][..], &[0], &[0, 0, 0], &[0xff; 16], &[0xff; 18]] {
            assert!(RecordPosition::from_bytes(wrong).is_err(), "{wrong:02x?}");
        }
    }

    #[test]
    fn positions_of_as_many_bytes_as_the_older_form_come_back() {
        for (chunk_begin, record_index) in [(1 << 61, 1 << 44), (1 << 50, 1 << 50), (1 << 44, 1 << 61)] {
            let pos = RecordPosition::new(chunk_begin, record_index);
            assert_eq!(pos.to_bytes().len(), 16);
            assert_eq!(RecordPosition::from_bytes(&pos.to_bytes()).expect("a position"), pos);
        }
    }

    fn position() -> impl Strategy<Value = RecordPosition> {
        let number = || (0_u32..63).prop_flat_map(|bits| 0..=1_u64 << bits);
        (number(), number()).prop_map(|(begin, index)| RecordPosition::new(begin, index))
    }

    proptest! {
        #[test]
        fn bytes_come_back_and_order_as_positions_do(a in position(), b in position()) {
            for pos in [a, b] {
                let bytes = pos.to_bytes();
                prop_assert_eq!(RecordPosition::from_bytes(&bytes).expect("a position"), pos);
                prop_assert_eq!(pos.to_string().parse::<RecordPosition>().expect("a position"), pos);
            }
            prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), a.cmp(&b));
        }
    }
}
