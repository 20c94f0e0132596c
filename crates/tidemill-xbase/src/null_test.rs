//! How a record says that a field is NULL: by a bit of its own, or by what its cell holds.

/// Where in a record it is written that a field is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullTest {
    /// A bit of `_NullFlags` (Visual FoxPro).
    Bit { at: usize, mask: u8 },
    /// A cell of up to eight bytes that holds this number, little-endian (ADT).
    Word { at: usize, len: usize, word: u64 },
    /// A cell of nothing but zero bytes (ADT).
    Zeros { at: usize, len: usize },
    /// A cell of nothing but blanks, or of nothing but zero bytes (ADT).
    Unset { at: usize, len: usize },
}

/// What a cell of an ADT holds that is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullCell {
    /// This number, little-endian, over the width of the field.
    Word(u64),
    /// Zeros in the four bytes that have the length of a memo.
    Memo,
    /// Zeros in the four bytes that have the day of a moment.
    Moment,
    /// Zeros throughout.
    Zeros,
    /// Blanks throughout, or zeros.
    Unset,
}

impl NullTest {
    /// For a field of `len` bytes at `at` of a record.
    pub(crate) fn of_cell(cell: NullCell, at: usize, len: usize) -> Self {
        match cell {
            NullCell::Word(word) => Self::Word { at, len, word },
            NullCell::Memo => Self::Word {
                at: at + MEMO_LENGTH_AT,
                len: 4,
                word: 0,
            },
            NullCell::Moment => Self::Word { at, len: 4, word: 0 },
            NullCell::Zeros => Self::Zeros { at, len },
            NullCell::Unset => Self::Unset { at, len },
        }
    }

    /// Whether the field is NULL in a record. False where the record ends before.
    #[inline(always)]
    pub(crate) fn is_null(self, record: &[u8]) -> bool {
        match self {
            Self::Bit { at, mask } => record.get(at).is_some_and(|flags| flags & mask != 0),
            Self::Word { at, len, word } => cell(record, at, len).is_some_and(|cell| number(cell) == word),
            Self::Zeros { at, len } => cell(record, at, len).is_some_and(|cell| are_all(cell, 0)),
            Self::Unset { at, len } => {
                cell(record, at, len).is_some_and(|cell| are_all(cell, b' ') || are_all(cell, 0))
            }
        }
    }
}

impl NullCell {
    /// Lets a cell say that its field is NULL.
    pub(crate) fn put(self, cell: &mut [u8]) {
        match self {
            Self::Word(word) => {
                for (byte, own) in cell.iter_mut().zip(word.to_le_bytes()) {
                    *byte = own;
                }
            }
            // Advantage leaves no time of day either.
            Self::Moment => {
                cell.fill(0xFF);
                cell.iter_mut().take(4).for_each(|byte| *byte = 0);
            }
            Self::Memo | Self::Zeros => cell.fill(0),
            Self::Unset => cell.fill(b' '),
        }
    }
}

/// Where a memo's length is in the cell of an ADT.
const MEMO_LENGTH_AT: usize = 4;

#[inline(always)]
fn cell(record: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    record.get(at..)?.get(..len).filter(|cell| !cell.is_empty())
}

/// Most texts differ in the first byte.
#[inline(always)]
fn are_all(cell: &[u8], byte: u8) -> bool {
    cell.first() == Some(&byte) && cell.iter().all(|own| *own == byte)
}

#[inline(always)]
fn number(cell: &[u8]) -> u64 {
    match *cell {
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => cell.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_for_null_is_null_and_nothing_else_is() {
        for (null, len, others) in [
            (NullCell::Word(0x8000), 2, [&b"\0\0"[..], b"\xFF\xFF"]),
            (NullCell::Word(0x8000_0000), 4, [b"\0\0\0\0", b"\0\0\0\x7F"]),
            (
                NullCell::Word(0x8000_0000_0000_0020),
                8,
                [&[0; 8], b"\x21\0\0\0\0\0\0\x80"],
            ),
            (NullCell::Memo, 9, [b"\x08\0\0\0\x01\0\0\0\0", b"\0\0\0\0\0\x01\0\0\0"]),
            (
                NullCell::Moment,
                8,
                [b"\x01\0\0\0\0\0\0\0", b"\x01\0\0\0\xFF\xFF\xFF\xFF"],
            ),
            (NullCell::Zeros, 3, [b"   ", b"\0\0a"]),
            (NullCell::Unset, 1, [b"T", b"F"]),
        ] {
            let test = NullTest::of_cell(null, 5, len);
            let mut record = vec![b'?'; 5 + len];
            assert!(!test.is_null(&record), "{null:?}");
            null.put(&mut record[5..]);
            assert!(test.is_null(&record), "{null:?}");
            for other in others {
                record[5..].copy_from_slice(other);
                assert!(!test.is_null(&record), "{null:?} {other:02x?}");
            }
            for cut in 0..record.len() {
                assert!(!test.is_null(&record[..cut]), "{null:?} cut at {cut}");
            }
        }
    }
}
