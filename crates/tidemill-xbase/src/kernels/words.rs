//! The cells of one field as words of one width, one behind the other, as they are kept of a table that is asked again and
//! again: a test is then one comparison a record, of bytes that lie side by side.
//!
//! A number is its whole number (see [`super::number`]), blanks are 0; a text of up to eight bytes is a number of which the first
//! byte is the highest. Which half of a word's range a number lies in does not matter to the tests: they subtract first.

use std::ops::Range;

use super::number::{NumberCell, NumberTest};
use super::text::{TextTest, place, upper};
use super::{Block, Understood};
use crate::digits::Number;
use crate::field::{Field, FieldKind};
use crate::table::Table;

/// The cells of a field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Numbers of 32 bits with their sign, or texts of up to four bytes.
    Narrow(Box<[u32]>),
    Wide(Box<[u64]>),
}

/// How the cells of a field become words.
#[derive(Debug)]
pub(crate) enum WordCell {
    Number(NumberCell),
    /// Eight bytes at a place, as a number shifted up by some bits, of which these count.
    Text {
        at: usize,
        shift: u32,
        bits: u64,
    },
}

impl WordCell {
    /// `None` for fields that no word holds.
    pub(crate) fn new(field: &Field, table: &Table) -> Option<Self> {
        let is_text = matches!(field.kind, FieldKind::Character | FieldKind::CharacterBinary);
        if !is_text {
            return NumberCell::new(field, table).map(Self::Number);
        }
        let bits = upper(field.width).filter(|bits| *bits != 0)?;
        let (at, lead) = place(field.offset, field.width, table.stride())?;
        let shift = 8 * u32::try_from(lead).ok()?;
        Some(Self::Text { at, shift, bits })
    }

    /// The words of a block; those of cells that have none count for nothing.
    fn read(&self, block: &Block<'_>, words: &mut Vec<u64>) -> Understood {
        words.clear();
        let mut understood = true;
        let mut unused = vec![0; (block.len as usize).div_ceil(64)];
        match self {
            Self::Text { at, shift, bits } => block.collect_words::<8>(&mut unused, *at, |bytes| {
                words.push(u64::from_be_bytes(bytes) << shift & bits);
                false
            }),
            Self::Number(cell) => cell.collect(block, &mut unused, |number| {
                words.push(match number {
                    Number::Value(number) => number.cast_unsigned(),
                    Number::Blank => 0,
                    Number::Other => {
                        understood = false;
                        0
                    }
                });
                false
            }),
        }
        Understood::when(understood && words.len() == block.len as usize)
    }

    fn narrow(&self, word: u64) -> Option<u32> {
        match self {
            Self::Text { bits, .. } if bits << 32 != 0 => None,
            Self::Text { .. } => u32::try_from(word >> 32).ok(),
            Self::Number(_) => i32::try_from(word.cast_signed()).ok().map(i32::cast_unsigned),
        }
    }

    fn wide(&self, word: u32) -> u64 {
        match self {
            Self::Text { .. } => u64::from(word) << 32,
            Self::Number(_) => i64::from(word.cast_signed()).cast_unsigned(),
        }
    }
}

/// Words that are read block by block, in as little memory as they need.
#[derive(Debug)]
pub(crate) struct WordsBuilder {
    cell: WordCell,
    block: Vec<u64>,
    narrow: Vec<u32>,
    /// All of them, once one did not fit into 32 bits.
    wide: Option<Vec<u64>>,
    understood: bool,
}

impl WordsBuilder {
    pub(crate) fn new(cell: WordCell, records: usize) -> Self {
        Self {
            cell,
            block: Vec::new(),
            narrow: Vec::with_capacity(records),
            wide: None,
            understood: true,
        }
    }

    pub(crate) fn add(&mut self, block: &Block<'_>) {
        self.understood &= self.cell.read(block, &mut self.block) == Understood::Yes;
        if self.wide.is_none() {
            let before = self.narrow.len();
            let mut fits = true;
            self.narrow.extend(self.block.iter().map(|word| {
                let narrow = self.cell.narrow(*word);
                fits &= narrow.is_some();
                narrow.unwrap_or_default()
            }));
            if fits {
                return;
            }
            self.narrow.truncate(before);
            let mut wide = Vec::with_capacity(self.narrow.capacity());
            wide.extend(self.narrow.iter().map(|word| self.cell.wide(*word)));
            self.narrow = Vec::new();
            self.wide = Some(wide);
        }
        self.wide.get_or_insert_default().extend_from_slice(&self.block);
    }

    /// The words; `None` where some cell had none.
    pub(crate) fn finish(self) -> Option<Words> {
        let words = match self.wide {
            Some(words) => Words::Wide(words.into()),
            None => Words::Narrow(self.narrow.into()),
        };
        self.understood.then_some(words)
    }
}

impl Words {
    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(words) => size_of_val(&**words),
            Self::Wide(words) => size_of_val(&**words),
        }
    }

    /// Whether one of these numbers is greater than another.
    pub(crate) fn any_above(&self, places: Range<usize>, other: i64) -> bool {
        match self {
            Self::Narrow(words) => match i32::try_from(other) {
                Ok(other) => holds_of_any(words.get(places), |word: u32| word.cast_signed() > other),
                Err(_) => other < 0,
            },
            Self::Wide(words) => holds_of_any(words.get(places), |word: u64| word.cast_signed() > other),
        }
    }

    /// Whether one of these numbers is less than another.
    pub(crate) fn any_below(&self, places: Range<usize>, other: i64) -> bool {
        match self {
            Self::Narrow(words) => match i32::try_from(other) {
                Ok(other) => holds_of_any(words.get(places), |word: u32| word.cast_signed() < other),
                Err(_) => other > 0,
            },
            Self::Wide(words) => holds_of_any(words.get(places), |word: u64| word.cast_signed() < other),
        }
    }

    /// The number of a record, where they are numbers.
    pub(crate) fn number(&self, place: usize) -> Option<i64> {
        match self {
            Self::Narrow(words) => words.get(place).map(|word| i64::from(word.cast_signed())),
            Self::Wide(words) => words.get(place).map(|word| word.cast_signed()),
        }
    }
}

/// Whether some bits of a word, as a number, lie between two, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordTest {
    bits: u64,
    low: u64,
    high: u64,
    is_outside: bool,
    is_number: bool,
}

impl WordTest {
    /// The test of numbers.
    pub(crate) fn number(test: &NumberTest) -> Self {
        Self {
            bits: u64::MAX,
            low: test.low.cast_unsigned(),
            high: test.high.cast_unsigned(),
            is_outside: test.is_outside,
            is_number: true,
        }
    }

    /// The test of a text in the field at `at` of `len` bytes; `None` where one word does not tell.
    pub(crate) fn text(test: &TextTest, at: usize, len: usize, is_outside: bool) -> Option<Self> {
        let (from, bits, low, high) = match test {
            TextTest::Word { at, mask, expected } => {
                let expected = expected.swap_bytes();
                (*at, mask.swap_bytes(), expected, expected)
            }
            TextTest::Between { at, mask, low, high } => (*at, *mask, *low, *high),
            TextTest::Always(_) | TextTest::Words(_) | TextTest::Begins(..) => return None,
        };
        // From a word that begins at `from` to one that begins at `at`; nothing that is asked for may lie outside of it.
        let lead = 8 * u32::try_from(at.abs_diff(from)).ok()?;
        let moved = |word: u64| match from <= at {
            true => word.checked_shl(lead).unwrap_or(0),
            false => word.checked_shr(lead).unwrap_or(0),
        };
        let test = Self {
            bits: moved(bits),
            low: moved(low),
            high: moved(high),
            is_outside,
            is_number: false,
        };
        let is_whole = test.bits.count_ones() == bits.count_ones() && test.bits & !upper(len)? == 0;
        (is_whole && low <= high).then_some(test)
    }

    /// One bit a word.
    pub(crate) fn run(&self, words: &Words, out: &mut [u64]) {
        let flips = if self.is_outside { u64::MAX } else { 0 };
        match words {
            Words::Wide(words) => {
                let is_empty = self.is_number && self.low.cast_signed() > self.high.cast_signed();
                let span = self.high.wrapping_sub(self.low);
                collect(words, out, flips, |word| {
                    ((word & self.bits).wrapping_sub(self.low) <= span) & !is_empty
                });
            }
            Words::Narrow(words) => {
                let Some((bits, low, high)) = self.narrow() else {
                    return out.fill(flips);
                };
                let span = high.wrapping_sub(low);
                collect(words, out, flips, |word| (word & bits).wrapping_sub(low) <= span);
            }
        }
    }

    /// As a test of 32 bits; `None` where nothing lies between the two.
    fn narrow(&self) -> Option<(u32, u32, u32)> {
        if self.is_number {
            let low = self.low.cast_signed().max(i32::MIN.into());
            let high = self.high.cast_signed().min(i32::MAX.into());
            let [low, high] = [i32::try_from(low).ok()?, i32::try_from(high).ok()?];
            return (low <= high).then_some((u32::MAX, low.cast_unsigned(), high.cast_unsigned()));
        }
        let upper = |word: u64| u32::try_from(word >> 32).ok();
        Some((upper(self.bits)?, upper(self.low)?, upper(self.high)?))
    }
}

/// Whether it holds of any word; all are looked at, several at once.
#[inline(always)]
fn holds_of_any<W: Copy>(words: Option<&[W]>, test: impl Fn(W) -> bool) -> bool {
    let words = words.unwrap_or_default();
    words.iter().fold(false, |holds, word| holds | test(*word))
}

/// One bit a word: the lowest of the first is that of the first word. Bits behind the last word do not count.
#[inline(always)]
fn collect<W: Copy>(words: &[W], out: &mut [u64], flips: u64, test: impl Fn(W) -> bool) {
    for (bits, words) in out.iter_mut().zip(words.chunks(64)) {
        // Bytes first, which processors make several of at once.
        let mut holds = [0_u8; 64];
        for (holds, word) in holds.iter_mut().zip(words) {
            *holds = u8::from(test(*word));
        }
        let mut packed = 0;
        for (eight, place) in holds.as_chunks::<8>().0.iter().zip((0..64).step_by(8)) {
            // Byte n has bit 8n, and meets the factor's bit 56 - 7n at 56 + n.
            let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            packed |= gathered << place;
        }
        *bits = packed ^ flips;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_those_of_the_words(words in prop::collection::vec(any::<u32>(), 0..300), low: u32, span: u32) {
            let mut out = vec![0; words.len().div_ceil(64)];
            collect(&words, &mut out, 0, |word| word.wrapping_sub(low) <= span);
            for (place, word) in words.iter().enumerate() {
                let bit = out[place / 64] >> (place % 64) & 1 != 0;
                prop_assert_eq!(bit, word.wrapping_sub(low) <= span, "{}", place);
            }
        }

        #[test]
        fn numbers_of_any_width_lie_between_the_same_bounds(
            numbers in prop::collection::vec(prop_oneof![any::<i64>(), -5..5_i64, any::<i32>().prop_map(i64::from)], 1..100),
            low in prop_oneof![any::<i64>(), -5..5_i64],
            high in prop_oneof![any::<i64>(), -5..5_i64],
            is_outside: bool,
        ) {
            let test = WordTest {
                bits: u64::MAX,
                low: low.cast_unsigned(),
                high: high.cast_unsigned(),
                is_outside,
                is_number: true,
            };
            let wide: Vec<u64> = numbers.iter().map(|number| number.cast_unsigned()).collect();
            let narrow: Option<Box<[u32]>> = numbers
                .iter()
                .map(|number| i32::try_from(*number).ok().map(i32::cast_unsigned))
                .collect();
            for words in [Some(Words::Wide(wide.into())), narrow.map(Words::Narrow)].into_iter().flatten() {
                let mut out = vec![0; numbers.len().div_ceil(64)];
                test.run(&words, &mut out);
                for (place, number) in numbers.iter().enumerate() {
                    let bit = out[place / 64] >> (place % 64) & 1 != 0;
                    prop_assert_eq!(bit, (low..=high).contains(number) != is_outside, "{} in {:?}", place, words);
                    prop_assert_eq!(words.number(place), Some(*number));
                }
            }
        }
    }
}
