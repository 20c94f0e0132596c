//! Tests of character fields: equal to a text, or between two.
//!
//! Up to eight bytes are compared as one word, up to sixteen as two. A text without regard to case is still one word where
//! capital and small letter differ in one bit, as ASCII's do.

use super::Block;

/// Some bytes of a record that are text: a field, or a part of it, perhaps seen through a table of letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextCell {
    /// The offset in the record.
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// What each byte is taken for.
    pub(crate) map: Option<Box<[u8; 256]>>,
}

impl TextCell {
    /// The bytes as they stand in the record.
    #[inline(always)]
    pub(crate) fn stored<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        record.get(self.at..self.at + self.len).unwrap_or_default()
    }
}

/// Whether the text of a record is a certain one, or lies between two.
#[derive(Debug, Clone)]
pub(crate) enum TextTest {
    /// Every record, or none.
    Always(bool),
    /// These bits of eight bytes.
    Word { at: usize, mask: u64, expected: u64 },
    /// These bits of twice eight bytes.
    Words([(usize, u64, u64); 2]),
    /// The cell begins with these bytes.
    Begins(TextCell, Vec<u8>),
    /// These bits of eight bytes as a number of which the first byte is the highest.
    Between { at: usize, mask: u64, low: u64, high: u64 },
}

impl TextTest {
    /// Whether a cell begins with `expected`, which is not longer than it, in records of `stride` bytes.
    pub(crate) fn begins(cell: &TextCell, expected: &[u8], stride: usize) -> Self {
        if expected.is_empty() {
            return Self::Always(true);
        }
        let mut bits = Vec::with_capacity(expected.len());
        for byte in expected {
            match bits_of(*byte, cell.map.as_deref()) {
                Bits::Never => return Self::Always(false),
                Bits::Masked(mask, value) => bits.push((mask, value)),
                Bits::Many => return Self::Begins(cell.clone(), expected.to_vec()),
            }
        }
        let (head, tail) = bits.split_at(bits.len().min(8));
        match (word(cell.at, head, stride), word(cell.at + head.len(), tail, stride)) {
            (Some((at, mask, expected)), _) if tail.is_empty() => Self::Word { at, mask, expected },
            (Some(head), Some(tail)) if bits.len() <= 16 => Self::Words([head, tail]),
            _ => Self::Begins(cell.clone(), expected.to_vec()),
        }
    }

    /// Whether the first `len` bytes of a cell, at most eight, lie between two texts of that length, both included.
    /// `None` where a word cannot tell.
    pub(crate) fn between(cell: &TextCell, len: usize, low: u64, high: u64, stride: usize) -> Option<Self> {
        if cell.map.is_some() || len > cell.len {
            return None;
        }
        if low > high {
            return Some(Self::Always(false));
        }
        let (at, lead) = place(cell.at, len, stride)?;
        let lead = 8 * u32::try_from(lead).ok()?;
        Some(Self::Between {
            at,
            mask: upper(len)? >> lead,
            low: low >> lead,
            high: high >> lead,
        })
    }

    /// One bit a record.
    pub(crate) fn run(&self, block: &Block<'_>, out: &mut [u64]) {
        match self {
            Self::Always(all) => block.collect(out, |_| *all),
            Self::Word { at, mask, expected } => {
                let (mask, expected) = (*mask, *expected);
                block.collect_words::<8>(out, *at, |word| u64::from_le_bytes(word) & mask == expected);
            }
            Self::Words([(at, mask, expected), (other_at, other_mask, other)]) => {
                block.collect_words::<8>(out, *at, |word| u64::from_le_bytes(word) & mask == *expected);
                let mut others = vec![0; out.len()];
                block.collect_words::<8>(&mut others, *other_at, |word| {
                    u64::from_le_bytes(word) & other_mask == *other
                });
                for (word, other) in out.iter_mut().zip(others) {
                    *word &= other;
                }
            }
            Self::Begins(cell, expected) => match &cell.map {
                None => block.collect(out, |record| cell.stored(record).starts_with(expected)),
                Some(map) => block.collect(out, |record| {
                    let stored = cell.stored(record);
                    stored.len() >= expected.len()
                        && stored
                            .iter()
                            .zip(expected)
                            .all(|(byte, wanted)| map[usize::from(*byte)] == *wanted)
                }),
            },
            Self::Between { at, mask, low, high } => {
                let (mask, low, span) = (*mask, *low, high - low);
                block.collect_words::<8>(out, *at, |word| {
                    (u64::from_be_bytes(word) & mask).wrapping_sub(low) <= span
                });
            }
        }
    }
}

/// Up to eight bytes as a number of which the first byte is the highest, and those that are missing 0.
pub(crate) fn ranked(text: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(..text.len())?.copy_from_slice(text);
    Some(u64::from_be_bytes(word))
}

/// The bits of the highest `len` bytes.
pub(crate) fn upper(len: usize) -> Option<u64> {
    let unused = 8 * u32::try_from(8_usize.checked_sub(len)?).ok()?;
    Some(u64::MAX.checked_shl(unused).unwrap_or(0))
}

/// Which bytes are taken for a byte.
enum Bits {
    Never,
    /// Those that have these values in these bits.
    Masked(u8, u8),
    Many,
}

fn bits_of(byte: u8, map: Option<&[u8; 256]>) -> Bits {
    let Some(map) = map else {
        return Bits::Masked(u8::MAX, byte);
    };
    let mut taken = (0..=u8::MAX).filter(|b| map[usize::from(*b)] == byte);
    match (taken.next(), taken.next(), taken.next()) {
        (None, ..) => Bits::Never,
        (Some(one), None, _) => Bits::Masked(u8::MAX, one),
        (Some(one), Some(other), None) if (one ^ other).is_power_of_two() => {
            let mask = !(one ^ other);
            Bits::Masked(mask, one & mask)
        }
        _ => Bits::Many,
    }
}

/// Where eight bytes of a record are read so that `len` at `at` are among them, and how many others come before those.
pub(super) fn place(at: usize, len: usize, stride: usize) -> Option<(usize, usize)> {
    if at.checked_add(8)? <= stride {
        return Some((at, 0));
    }
    let from = (at + len).checked_sub(8)?;
    Some((from, at - from))
}

fn word(at: usize, bits: &[(u8, u8)], stride: usize) -> Option<(usize, u64, u64)> {
    let (from, lead) = place(at, bits.len(), stride)?;
    let (mut mask, mut expected) = ([0; 8], [0; 8]);
    for (i, (m, e)) in bits.iter().enumerate() {
        *mask.get_mut(lead + i)? = *m;
        *expected.get_mut(lead + i)? = *e;
    }
    Some((from, u64::from_le_bytes(mask), u64::from_le_bytes(expected)))
}
