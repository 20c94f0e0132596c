//! Which texts a field holds, and how many records have each.
//!
//! A field of up to eight bytes is one word. Words are looked up in a table of open addressing, and before that, in a loop
//! without a branch that depends on the data, among the few that were met lately: most fields that anybody groups by hold
//! few texts. A longer field is looked up by its bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::Block;
use super::text::{TextCell, place};

/// The texts of a field, each with a number in the order in which they were met, and how many records have it.
#[derive(Debug)]
pub(crate) struct Texts {
    lookup: Lookup,
    found: Found,
}

/// Texts and counts by number.
#[derive(Debug, Default)]
struct Found {
    texts: Vec<Box<[u8]>>,
    counts: Vec<u64>,
}

#[derive(Debug)]
enum Lookup {
    Words(WordTable, Lately),
    Bytes(TextCell, HashMap<Box<[u8]>, u32>),
}

/// Words and their numbers, open addressing.
#[derive(Debug)]
struct WordTable {
    cell: WordKey,
    /// The bytes that are read and come before the field.
    lead: usize,
    len: usize,
    /// How far a hash is shifted down to be a place.
    shift: u32,
    /// Word and number; a free place has 0 and [`FREE`].
    places: Vec<(u64, u32)>,
}

/// From a record to the word that its text is.
#[derive(Debug, Clone, Copy)]
struct WordKey {
    at: usize,
    mask: u64,
    /// Odd, and nobody knows it: a file cannot be made whose texts all meet at one place.
    factor: u64,
}

impl WordKey {
    #[inline(always)]
    fn word(self, record: &[u8]) -> u64 {
        let word = record
            .get(self.at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or_default();
        u64::from_le_bytes(word) & self.mask
    }

    #[inline(always)]
    fn hash(self, word: u64) -> u64 {
        word.wrapping_mul(self.factor)
    }
}

/// The words that were met lately, two in each of some buckets, and how many records were counted since a word is here.
#[derive(Debug)]
struct Lately {
    words: Box<[u64; 2 * BUCKETS]>,
    counts: Box<[u32; 2 * BUCKETS]>,
    numbers: Box<[u32; 2 * BUCKETS]>,
}

const FREE: u32 = u32::MAX;
/// The places that a new table has.
const PLACE_BITS: u32 = 10;
/// The words take 8 KiB and the counts half of that: the processor keeps them near. Of 26 texts three meet in one bucket
/// once in a hundred times.
const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 9;

impl Texts {
    pub(crate) fn new(cell: TextCell, stride: usize) -> Self {
        let words = || {
            let (at, lead) = place(cell.at, cell.len, stride)?;
            let mut mask = [0; 8];
            mask.get_mut(lead..lead + cell.len)?.fill(u8::MAX);
            let cell = WordKey {
                at,
                mask: u64::from_le_bytes(mask),
                // The highest bit leads the word 1 away from the first bucket.
                factor: RandomState::new().hash_one(0) | 1 | 1 << 63,
            };
            Some((cell, lead))
        };
        Self {
            lookup: match words() {
                Some((word, lead)) => Lookup::Words(WordTable::new(word, lead, cell.len), Lately::new()),
                None => Lookup::Bytes(cell, HashMap::new()),
            },
            found: Found::default(),
        }
    }

    /// The texts by their numbers, each with the number of records that were counted.
    pub(crate) fn into_counts(self) -> impl Iterator<Item = (Box<[u8]>, u64)> {
        let Self { lookup, mut found } = self;
        if let Lookup::Words(_, lately) = &lookup {
            for (count, number) in lately.counts.iter().zip(&*lately.numbers) {
                found.count(*number, u64::from(*count));
            }
        }
        found.texts.into_iter().zip(found.counts)
    }

    /// Counts each record that `selects` takes, by its place in the block and its bytes.
    #[inline(always)]
    pub(crate) fn count(&mut self, block: &Block<'_>, selects: impl Fn(usize, &[u8]) -> bool) {
        let Lookup::Words(words, lately) = &mut self.lookup else {
            return self.visit(block, selects, |_, _| ());
        };
        let mut records = block.records().enumerate();
        while let Some(word) = lately.count_known(words.cell, block.stride, &mut records, &selects) {
            lately.meet(word, words, &mut self.found);
        }
    }

    /// Counts each record that `selects` takes, by its place in the block and its bytes, and gives the number of its text.
    #[inline(always)]
    pub(crate) fn visit<'a>(
        &mut self,
        block: &Block<'a>,
        selects: impl Fn(usize, &[u8]) -> bool,
        mut visit: impl FnMut(u32, &'a [u8]),
    ) {
        let Self { lookup, found } = self;
        let records = block.records().enumerate().filter(|(i, record)| selects(*i, record));
        for (_, record) in records {
            let number = match lookup {
                Lookup::Words(words, _) => words.number(words.cell.word(record), found),
                Lookup::Bytes(cell, numbers) => {
                    let text = cell.stored(record);
                    match numbers.get(text) {
                        Some(number) => *number,
                        None => {
                            let number = found.add(text);
                            numbers.insert(text.into(), number);
                            number
                        }
                    }
                }
            };
            found.count(number, 1);
            visit(number, record);
        }
    }
}

impl Lately {
    fn new() -> Self {
        // 0 has its place in the first bucket, where 1 has not: what is free is never taken for a word.
        let mut words = Box::new([0; 2 * BUCKETS]);
        (words[0], words[1]) = (1, 1);
        Self {
            words,
            counts: Box::new([0; 2 * BUCKETS]),
            numbers: Box::new([FREE; 2 * BUCKETS]),
        }
    }

    /// Counts records until one is selected whose word is not here, and returns that word.
    #[inline(always)]
    fn count_known<'a>(
        &mut self,
        cell: WordKey,
        stride: usize,
        records: &mut impl Iterator<Item = (usize, &'a [u8])>,
        selects: &impl Fn(usize, &[u8]) -> bool,
    ) -> Option<u64> {
        // So it is ([`place`]); said here, it need not be looked at for each record.
        if cell.at.saturating_add(8) > stride {
            return None;
        }
        let (words, counts) = (&*self.words, &mut *self.counts);
        for (i, record) in records {
            let (word, is_selected) = (cell.word(record), selects(i, record));
            let bucket = bucket(cell.hash(word));
            // Which of the two it is cannot be foreseen, so that nothing is to depend on it.
            let slot = 2 * bucket + usize::from(words[2 * bucket + 1] == word);
            if words[slot] == word {
                counts[slot] += u32::from(is_selected);
            } else if is_selected {
                return Some(word);
            }
        }
        None
    }

    /// Counts a record whose word is not here; the word takes the place of the one in its bucket that is here longest.
    #[cold]
    #[inline(never)]
    fn meet(&mut self, word: u64, words: &mut WordTable, found: &mut Found) {
        let number = words.number(word, found);
        let first = 2 * bucket(words.cell.hash(word));
        let second = first + 1;
        found.count(self.numbers[second], u64::from(self.counts[second]));
        (self.words[second], self.words[first]) = (self.words[first], word);
        (self.counts[second], self.counts[first]) = (self.counts[first], 1);
        (self.numbers[second], self.numbers[first]) = (self.numbers[first], number);
    }
}

impl WordTable {
    fn new(cell: WordKey, lead: usize, len: usize) -> Self {
        Self {
            cell,
            lead,
            len,
            shift: 64 - PLACE_BITS,
            places: vec![(0, FREE); 1 << PLACE_BITS],
        }
    }

    #[inline]
    fn number(&mut self, word: u64, found: &mut Found) -> u32 {
        let mut place = self.home(word);
        loop {
            match self.places.get(place) {
                Some((known, number)) if *known == word && *number != FREE => return *number,
                Some((_, number)) if *number != FREE => place = (place + 1) & (self.places.len() - 1),
                _ => return self.add(word, found),
            }
        }
    }

    fn home(&self, word: u64) -> usize {
        // The shift leaves fewer bits than a place has.
        usize::try_from(self.cell.hash(word) >> self.shift).unwrap_or_default()
    }

    #[cold]
    fn add(&mut self, word: u64, found: &mut Found) -> u32 {
        let bytes = word.to_le_bytes();
        let number = found.add(bytes.get(self.lead..self.lead + self.len).unwrap_or_default());
        // At most a quarter of the places are taken: few texts meet at one.
        if found.texts.len() * 4 > self.places.len() {
            let old = std::mem::take(&mut self.places);
            self.places = vec![(0, FREE); old.len() * 2];
            self.shift -= 1;
            for (word, number) in old.into_iter().filter(|(_, number)| *number != FREE) {
                self.put(word, number);
            }
        }
        self.put(word, number);
        number
    }

    fn put(&mut self, word: u64, number: u32) {
        let mut place = self.home(word);
        while self.places.get(place).is_some_and(|(_, number)| *number != FREE) {
            place = (place + 1) & (self.places.len() - 1);
        }
        if let Some(free) = self.places.get_mut(place) {
            *free = (word, number);
        }
    }
}

impl Found {
    /// The number of a new text.
    fn add(&mut self, text: &[u8]) -> u32 {
        // A table has fewer records than there are numbers.
        let number = u32::try_from(self.texts.len()).unwrap_or(FREE - 1);
        self.texts.push(text.into());
        self.counts.push(0);
        number
    }

    #[inline]
    fn count(&mut self, number: u32, records: u64) {
        if let Some(count) = self.counts.get_mut(number as usize) {
            *count += records;
        }
    }
}

#[inline(always)]
fn bucket(hash: u64) -> usize {
    // The shift leaves fewer bits than a place has.
    (hash >> (64 - BUCKET_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The counts of the texts in the order in which they are met, of records of one flag, a text and `tail` bytes more.
    fn check(texts: &[&[u8]], tail: usize) {
        let (len, mut bytes) = (texts.first().map_or(1, |text| text.len()), Vec::new());
        for (i, text) in texts.iter().enumerate() {
            bytes.push(if i % 7 == 3 { b'*' } else { b' ' });
            bytes.extend_from_slice(text);
            bytes.resize(bytes.len() + tail, b'x');
        }
        let stride = 1 + len + tail;
        let cell = || TextCell { at: 1, len, map: None };
        let block = Block {
            bytes: &bytes,
            stride,
            first: 0,
            len: u32::try_from(texts.len()).unwrap(),
            deletion: crate::header::Deletion::DBF,
        };
        let mut expected: Vec<(Box<[u8]>, u64)> = Vec::new();
        let mut places = BTreeMap::new();
        for (i, text) in texts.iter().enumerate().filter(|(i, _)| i % 7 != 3) {
            let place = *places.entry(text).or_insert(expected.len());
            assert!(i < texts.len());
            match expected.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => expected.push(((*text).into(), 1)),
            }
        }
        let selects = |_: usize, record: &[u8]| record[0] != b'*';
        let mut counted = Texts::new(cell(), stride);
        counted.count(&block, selects);
        let mut visited = Texts::new(cell(), stride);
        let mut numbers = Vec::new();
        visited.visit(&block, selects, |number, _| numbers.push(number));
        let places: Vec<u32> = texts
            .iter()
            .enumerate()
            .filter(|(i, _)| i % 7 != 3)
            .map(|(_, text)| u32::try_from(places[text]).unwrap())
            .collect();
        assert_eq!(numbers, places);
        assert_eq!(visited.into_counts().collect::<Vec<_>>(), expected);
        assert_eq!(counted.into_counts().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn records_are_counted_however_many_texts_there_are_and_however_long() {
        for (texts, records) in [(1_u64, 10), (26, 2000), (700, 5000), (3000, 9000)] {
            for len in [1, 4, 8, 9] {
                for tail in [0, 3, 20] {
                    let all: Vec<Vec<u8>> = (0..records)
                        .map(|i: u64| {
                            // Texts of NULs too, and such as come and go.
                            let text = (i * i / 3 + i) % texts.min(1 << (8 * len.min(7)));
                            let mut bytes = text.to_le_bytes().to_vec();
                            bytes.resize(len, b' ');
                            bytes
                        })
                        .collect();
                    check(&all.iter().map(|text| &**text).collect::<Vec<_>>(), tail);
                }
            }
        }
    }

    #[test]
    fn words_that_free_places_stand_for_are_counted() {
        let one = 1_u64.to_le_bytes();
        check(&[&[0; 8][..], &one, &[0; 8], &[0; 8], &one, &one, &one, &[0; 8]], 0);
        check(&[&[0; 4][..]; 5], 9);
    }
}
