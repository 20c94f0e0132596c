//! Which texts a field holds, and which of them each record has.
//!
//! A field of up to eight bytes is looked up as one word in a table of its own; a longer one by its bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::Block;
use super::text::{TextCell, place};

/// The texts of a field, each with a number in the order in which they were met.
#[derive(Debug)]
pub(crate) struct Texts {
    lookup: Lookup,
    found: Vec<Box<[u8]>>,
}

#[derive(Debug)]
enum Lookup {
    Words(Words),
    Bytes(TextCell, HashMap<Box<[u8]>, u32>),
}

/// Words and their numbers, open addressing.
#[derive(Debug)]
struct Words {
    probe: Probe,
    /// The bytes that are read and come before the field.
    lead: usize,
    len: usize,
    /// Word and number; a free place has 0 and [`FREE`].
    places: Vec<(u64, u32)>,
}

/// From a record to the place where its text is looked for.
#[derive(Debug, Clone, Copy)]
struct Probe {
    at: usize,
    mask: u64,
    /// Odd, and nobody knows it: a file cannot be made whose texts all meet at one place.
    factor: u64,
    /// How far a hash is shifted down to be a place.
    shift: u32,
}

impl Probe {
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
    fn home(self, word: u64) -> usize {
        // The shift leaves fewer bits than a place has.
        usize::try_from(word.wrapping_mul(self.factor) >> self.shift).unwrap_or_default()
    }
}

const FREE: u32 = u32::MAX;
/// The places that a new table has, 16 KiB: the processor keeps them near.
const PLACE_BITS: u32 = 10;

impl Texts {
    pub(crate) fn new(cell: TextCell, stride: usize) -> Self {
        let words = || {
            let (at, lead) = place(cell.at, cell.len, stride)?;
            let mut mask = [0; 8];
            mask.get_mut(lead..lead + cell.len)?.fill(u8::MAX);
            Some(Words {
                probe: Probe {
                    at,
                    mask: u64::from_le_bytes(mask),
                    factor: RandomState::new().hash_one(0) | 1,
                    shift: 64 - PLACE_BITS,
                },
                lead,
                len: cell.len,
                places: vec![(0, FREE); 1 << PLACE_BITS],
            })
        };
        Self {
            lookup: match words() {
                Some(words) => Lookup::Words(words),
                None => Lookup::Bytes(cell, HashMap::new()),
            },
            found: Vec::new(),
        }
    }

    /// The texts by their numbers.
    pub(crate) fn into_texts(self) -> Vec<Box<[u8]>> {
        self.found
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Gives the number of the text of each record that `selects` takes, by its place in the block and its bytes.
    #[inline(always)]
    pub(crate) fn visit<'a>(
        &mut self,
        block: &Block<'a>,
        selects: impl Fn(usize, &[u8]) -> bool,
        mut visit: impl FnMut(u32, &'a [u8]),
    ) {
        let Self { lookup, found } = self;
        let records = block.records().enumerate().filter(|(i, record)| selects(*i, record));
        match lookup {
            Lookup::Words(words) => {
                let mut probe = words.probe;
                for (_, record) in records {
                    let word = probe.word(record);
                    let number = match words.places.get(probe.home(word)) {
                        Some((known, number)) if *known == word && word != 0 => *number,
                        _ => {
                            let number = words.look_further(word, found);
                            probe = words.probe;
                            number
                        }
                    };
                    visit(number, record);
                }
            }
            Lookup::Bytes(cell, numbers) => records.for_each(|(_, record)| {
                let text = cell.stored(record);
                let number = match numbers.get(text) {
                    Some(number) => *number,
                    None => {
                        let number = next_number(found);
                        found.push(text.into());
                        numbers.insert(text.into(), number);
                        number
                    }
                };
                visit(number, record);
            }),
        }
    }
}

impl Words {
    #[cold]
    fn look_further(&mut self, word: u64, found: &mut Vec<Box<[u8]>>) -> u32 {
        let mut place = self.probe.home(word);
        loop {
            match self.places.get(place) {
                Some((known, number)) if *known == word && *number != FREE => return *number,
                Some((_, number)) if *number != FREE => place = (place + 1) & (self.places.len() - 1),
                _ => return self.add(word, found),
            }
        }
    }

    #[cold]
    fn add(&mut self, word: u64, found: &mut Vec<Box<[u8]>>) -> u32 {
        let number = next_number(found);
        let bytes = word.to_le_bytes();
        found.push(bytes.get(self.lead..self.lead + self.len).unwrap_or_default().into());
        // At most a quarter of the places are taken: few texts meet at one.
        if found.len() * 4 > self.places.len() {
            let old = std::mem::take(&mut self.places);
            self.places = vec![(0, FREE); old.len() * 2];
            self.probe.shift -= 1;
            for (word, number) in old.into_iter().filter(|(_, number)| *number != FREE) {
                self.put(word, number);
            }
        }
        self.put(word, number);
        number
    }

    fn put(&mut self, word: u64, number: u32) {
        let mut place = self.probe.home(word);
        while self.places.get(place).is_some_and(|(_, number)| *number != FREE) {
            place = (place + 1) & (self.places.len() - 1);
        }
        if let Some(free) = self.places.get_mut(place) {
            *free = (word, number);
        }
    }
}

/// A table has fewer records than there are numbers.
fn next_number(found: &[Box<[u8]>]) -> u32 {
    u32::try_from(found.len()).unwrap_or(FREE - 1)
}
