//! A set of records: one bit a record, in words of 64.
//!
//! A filter, the deletion flags and the selection of an aggregate are all such sets, so that they combine word by word.
//! Numbers of members (`rank`) and members by number (`select`) cost a few steps with counts that are made once after a
//! change. Which records a table shows is not decided here.

use std::ops::Range;
use std::sync::OnceLock;

/// A set of the records 1 to [`Bitmap::len`]. Four bytes of memory hold 32 of them.
#[derive(Debug, Clone, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    len: u32,
    /// The words outside of these have no members, so that a walk over few records does not look at them.
    occupied: Range<usize>,
    /// The members before each span of [`SPAN`] words, and all at the end.
    before: OnceLock<Box<[u32]>>,
}

/// Words between two counts.
const SPAN: usize = 8;

impl Bitmap {
    /// The empty set of a table with `len` records.
    pub fn new(len: u32) -> Self {
        Self::from_words(vec![0; word_count(len)], len)
    }

    /// The set of all records of a table with `len` records.
    pub fn full(len: u32) -> Self {
        Self::from_words(vec![u64::MAX; word_count(len)], len)
    }

    /// The set whose words are given: record 1 is the lowest bit of the first one. Bits behind `len` do not count, and
    /// missing words are empty.
    pub(crate) fn from_words(mut words: Vec<u64>, len: u32) -> Self {
        words.resize(word_count(len), 0);
        if let (Some(last), used @ 1..) = (words.last_mut(), len % 64) {
            *last &= (1 << used) - 1;
        }
        Self {
            occupied: 0..words.len(),
            words,
            len,
            before: OnceLock::new(),
        }
    }

    /// The same set, for who knows that words outside of these have no members.
    pub(crate) fn occupying(mut self, words: Range<usize>) -> Self {
        let end = words.end.min(self.words.len());
        self.occupied = words.start.min(end)..end;
        self
    }

    /// The number of records in the table, members or not.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no record is a member.
    pub fn is_empty(&self) -> bool {
        self.occupied().iter().all(|word| *word == 0)
    }

    /// The words; bits behind [`Bitmap::len`] are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether a record is a member; false for records that the table does not have.
    pub fn contains(&self, recno: u32) -> bool {
        place(recno).is_some_and(|(word, mask)| self.words.get(word).is_some_and(|w| w & mask != 0))
    }

    /// Takes a record in or out. A record behind the end makes the set longer; record 0 is none.
    pub fn set(&mut self, recno: u32, is_member: bool) {
        let Some((word, mask)) = place(recno) else {
            return;
        };
        if recno > self.len {
            self.resize(recno);
        }
        if let Some(word) = self.words.get_mut(word) {
            let changed = if is_member { *word | mask } else { *word & !mask };
            if *word != changed {
                *word = changed;
                self.before.take();
                let at = (recno - 1) as usize / 64;
                self.occupied = self.occupied.start.min(at)..self.occupied.end.max(at + 1);
            }
        }
    }

    /// Makes room for as many records, or forgets those behind them.
    pub fn resize(&mut self, len: u32) {
        let words = std::mem::take(&mut self.words);
        *self = Self::from_words(words, len);
    }

    /// The number of members.
    pub fn count(&self) -> u32 {
        match self.before.get() {
            Some(before) => before.last().copied().unwrap_or_default(),
            None => count(self.occupied()),
        }
    }

    /// The first member.
    pub fn first(&self) -> Option<u32> {
        self.next(0)
    }

    /// The last member.
    pub fn last(&self) -> Option<u32> {
        self.previous(u32::MAX)
    }

    /// The first member behind a record; that record need not be one.
    pub fn next(&self, recno: u32) -> Option<u32> {
        // Record n has bit n - 1, so the bit of the record behind it is n.
        let (from, bit) = (recno as usize / 64, recno % 64);
        let begin = self.occupied.start;
        let (from, mut mask) = if from < begin {
            (begin, u64::MAX)
        } else {
            (from, u64::MAX << bit)
        };
        let rest = self.words.get(from..self.occupied.end)?;
        for (word, at) in rest.iter().zip(from..) {
            let word = word & mask;
            if word != 0 {
                return member(at, word.trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }

    /// The last member before a record; that record need not be one.
    pub fn previous(&self, recno: u32) -> Option<u32> {
        let bits = recno.saturating_sub(1).min(self.len);
        let (whole, rest) = (bits as usize / 64, bits % 64);
        let part = self.words.get(whole).map_or(0, |word| word & ((1 << rest) - 1));
        if part != 0 {
            return member(whole, part.ilog2());
        }
        let begin = self.occupied.start;
        let before = self.words.get(begin..whole.min(self.occupied.end))?;
        let at = before.iter().rposition(|word| *word != 0)?;
        member(begin + at, before.get(at)?.checked_ilog2()?)
    }

    /// How many members there are up to a record, itself included. The first call after a change counts the set once.
    pub fn rank(&self, recno: u32) -> u32 {
        let bits = recno.min(self.len);
        let (word, rest) = (bits as usize / 64, bits % 64);
        let span = word / SPAN;
        let before = self.before().get(span).copied().unwrap_or_default();
        let whole = self.words.get(span * SPAN..word).map_or(0, count);
        let part = self.words.get(word).map_or(0, |word| word & ((1 << rest) - 1));
        before + whole + part.count_ones()
    }

    /// The member with this number, counted from 1. The first call after a change counts the set once.
    pub fn select(&self, number: u32) -> Option<u32> {
        let mut left = number.checked_sub(1)?;
        let before = self.before();
        let span = before.partition_point(|before| *before <= left).checked_sub(1)?;
        left -= before.get(span)?;
        let from = span * SPAN;
        for (word, at) in self.words.get(from..)?.iter().zip(from..) {
            let mut word = *word;
            let ones = word.count_ones();
            if left < ones {
                for _ in 0..left {
                    word &= word - 1;
                }
                return member(at, word.trailing_zeros());
            }
            left -= ones;
        }
        None
    }

    /// The member that lies `count` members behind a record, or before it when that is negative; the record itself for 0.
    /// The record need not be a member. `None` when there are not so many.
    pub fn skip(&self, recno: u32, count: i64) -> Option<u32> {
        match count {
            0 => self.contains(recno).then_some(recno),
            1 => self.next(recno),
            -1 => self.previous(recno),
            _ => {
                let before = if count > 0 {
                    self.rank(recno)
                } else {
                    self.rank(recno.saturating_sub(1)) + 1
                };
                self.select(u32::try_from(i64::from(before).checked_add(count)?).ok()?)
            }
        }
    }

    /// The members in the order of the table.
    pub fn iter(&self) -> Members<'_> {
        let begin = u32::try_from(self.occupied.start * 64).unwrap_or(u32::MAX);
        Members {
            words: self.occupied().iter(),
            word: 0,
            base: 0,
            next_base: begin.saturating_add(1),
        }
    }

    /// The members that are in the other set too. Records that the other set does not have are in none.
    pub fn intersect(&mut self, other: &Self) {
        self.combine(other, |a, b| a & b);
    }

    /// The members of either set; the set gets no longer.
    pub fn unite(&mut self, other: &Self) {
        self.combine(other, |a, b| a | b);
    }

    /// The members that are not in the other set.
    pub fn subtract(&mut self, other: &Self) {
        self.combine(other, |a, b| a & !b);
    }

    /// The records that are no members.
    pub fn invert(&mut self) {
        let words = self.words.iter().map(|word| !word).collect();
        *self = Self::from_words(words, self.len);
    }

    fn occupied(&self) -> &[u64] {
        self.words.get(self.occupied.clone()).unwrap_or_default()
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        let words = self.words.iter().zip(others).map(|(a, b)| operation(*a, b)).collect();
        *self = Self::from_words(words, self.len);
    }

    fn before(&self) -> &[u32] {
        self.before.get_or_init(|| {
            let mut sum = 0;
            let spans = self.words.chunks(SPAN).map(count);
            let before = spans.map(|ones| {
                sum += ones;
                sum
            });
            std::iter::once(0).chain(before).collect()
        })
    }
}

impl PartialEq for Bitmap {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.words == other.words
    }
}

impl Eq for Bitmap {}

impl<'a> IntoIterator for &'a Bitmap {
    type Item = u32;
    type IntoIter = Members<'a>;

    fn into_iter(self) -> Members<'a> {
        self.iter()
    }
}

/// The members of a [`Bitmap`], as record numbers in ascending order.
#[derive(Debug, Clone)]
pub struct Members<'a> {
    words: std::slice::Iter<'a, u64>,
    word: u64,
    /// The record of the lowest bit of `word`.
    base: u32,
    next_base: u32,
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base = self.next_base;
            self.next_base = self.next_base.wrapping_add(64);
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.base.wrapping_add(bit))
    }
}

fn word_count(len: u32) -> usize {
    (len as usize).div_ceil(64)
}

/// Where the bit of a record is; record 0 is none.
fn place(recno: u32) -> Option<(usize, u64)> {
    let bit = recno.checked_sub(1)?;
    Some((bit as usize / 64, 1 << (bit % 64)))
}

fn member(word: usize, bit: u32) -> Option<u32> {
    u32::try_from(word)
        .ok()?
        .checked_mul(64)?
        .checked_add(bit)?
        .checked_add(1)
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bitmap(members: &BTreeSet<u32>, len: u32) -> Bitmap {
        let mut bitmap = Bitmap::new(len);
        for member in members {
            bitmap.set(*member, true);
        }
        bitmap
    }

    #[test]
    fn the_ends_of_a_set_are_where_its_records_end() {
        for len in [0, 1, 63, 64, 65, 128, 1000] {
            let full = Bitmap::full(len);
            assert_eq!((full.count(), full.last()), (len, (len > 0).then_some(len)));
            assert_eq!(full.iter().count(), len as usize);
            assert!(!full.contains(0) && !full.contains(len + 1));
            let mut none = full.clone();
            none.invert();
            assert!(none.is_empty());
            assert_eq!(
                (none.first(), none.last(), none.select(1), none.rank(u32::MAX)),
                (None, None, None, 0)
            );
            none.set(len + 70, true);
            assert_eq!((none.len(), none.count(), none.first()), (len + 70, 1, Some(len + 70)));
        }
    }

    proptest! {
        #[test]
        fn a_bitmap_is_a_set_of_records(
            members in prop::collection::btree_set(1..1500u32, 0..200),
            others in prop::collection::btree_set(1..1500u32, 0..200),
            probe in 0..1600u32,
            is_narrow: bool,
        ) {
            let (mut set, other) = (bitmap(&members, 1500), bitmap(&others, 1500));
            if let (Some(first), Some(last), true) = (set.first(), set.last(), is_narrow) {
                set = set.occupying((first as usize - 1) / 64..(last as usize - 1) / 64 + 1);
            }
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), members.clone());
            prop_assert_eq!(set.count() as usize, members.len());
            prop_assert_eq!(set.contains(probe), members.contains(&probe));
            prop_assert_eq!(set.next(probe), members.range(probe + 1..).next().copied());
            prop_assert_eq!(set.previous(probe), members.range(..probe).next_back().copied());
            prop_assert_eq!(set.rank(probe) as usize, members.range(..=probe).count());
            prop_assert_eq!(set.select(probe), probe.checked_sub(1).and_then(|n| members.iter().nth(n as usize).copied()));
            for (number, member) in (1..).zip(&members) {
                prop_assert_eq!((set.select(number), set.rank(*member)), (Some(*member), number));
            }
            for count in -5..=5_i64 {
                let steps = count.unsigned_abs() as usize;
                let expected = match count {
                    0 => members.get(&probe).copied(),
                    1.. => members.range(probe + 1..).nth(steps - 1).copied(),
                    _ => members.range(..probe).rev().nth(steps - 1).copied(),
                };
                prop_assert_eq!(set.skip(probe, count), expected, "{} {}", probe, count);
            }
            set.unite(&other);
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), &members | &others);
            set.subtract(&other);
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), &members - &others);
            set.invert();
            set.intersect(&other);
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), others.clone());
            // A change is counted anew.
            set.set(777, true);
            prop_assert_eq!(set.rank(1500) as usize, others.len() + usize::from(!others.contains(&777)));
        }
    }
}
