//! Values numbered in the order in which they are met: what groups rows, finds duplicates and ranks texts.

use std::collections::HashSet;

use super::value::{Type, Value, trimmed};
use super::vector::Vector;

/// Numbers for words and texts.
#[derive(Debug, Default)]
pub(super) struct Interner {
    /// One more than the number of the entry, or 0; a power of two of them.
    slots: Vec<u32>,
    words: Vec<u64>,
    texts: Vec<Box<str>>,
    /// The number of NULL, which is in no slot.
    null: Option<u32>,
    pairs: HashSet<(u32, u32)>,
}

impl Interner {
    /// The number of a word.
    #[inline]
    pub(super) fn word(&mut self, word: u64) -> u32 {
        self.find(hash(word), word, None)
    }

    /// The number of a text.
    #[inline]
    pub(super) fn text(&mut self, text: &str) -> u32 {
        let hash = hash_text(text);
        self.find(hash, hash, Some(text))
    }

    /// The number of NULL.
    pub(super) fn null(&mut self, is_text: bool) -> u32 {
        *self.null.get_or_insert_with(|| {
            self.words.push(0);
            if is_text {
                self.texts.push(String::new().into());
            }
            u32::try_from(self.words.len() - 1).unwrap_or(u32::MAX)
        })
    }

    pub(super) fn texts(&self) -> &[Box<str>] {
        &self.texts
    }

    /// Whether this pair was not asked for before.
    pub(super) fn is_new_pair(&mut self, a: u32, b: u32) -> bool {
        self.pairs.insert((a, b))
    }

    #[inline]
    fn find(&mut self, hash: u64, word: u64, text: Option<&str>) -> u32 {
        if self.words.len() * 2 >= self.slots.len() {
            self.grow(text.is_some());
        }
        let mask = self.slots.len() - 1;
        let mut at = place(hash, mask);
        loop {
            match self.slots.get(at).copied().unwrap_or(0) {
                0 => {
                    let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
                    self.words.push(word);
                    if let Some(text) = text {
                        self.texts.push(text.into());
                    }
                    if let Some(slot) = self.slots.get_mut(at) {
                        *slot = number + 1;
                    }
                    return number;
                }
                taken => {
                    let number = taken - 1;
                    let is_same = self.words.get(number as usize) == Some(&word)
                        && text
                            .is_none_or(|text| self.texts.get(number as usize).is_some_and(|known| **known == *text));
                    if is_same {
                        return number;
                    }
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self, are_texts: bool) {
        let len = (self.slots.len() * 2).max(64);
        let mut slots = vec![0; len];
        for (number, word) in (1..).zip(&self.words) {
            if self.null == Some(number - 1) {
                continue;
            }
            let hash = if are_texts { *word } else { hash(*word) };
            let mut at = place(hash, len - 1);
            while slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & (len - 1);
            }
            if let Some(slot) = slots.get_mut(at) {
                *slot = number;
            }
        }
        self.slots = slots;
    }
}

fn place(hash: u64, mask: usize) -> usize {
    usize::try_from(hash >> 32).unwrap_or(0) & mask
}

/// Fibonacci hashing: the high bits depend on all.
#[inline]
fn hash(word: u64) -> u64 {
    (word ^ (word >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn hash_text(text: &str) -> u64 {
    let mut state = text.len() as u64;
    let mut chunks = text.as_bytes().chunks_exact(8);
    for chunk in &mut chunks {
        let word = <[u8; 8]>::try_from(chunk).map_or(0, u64::from_le_bytes);
        state = hash(state ^ word);
    }
    let mut rest = [0; 8];
    for (slot, byte) in rest.iter_mut().zip(chunks.remainder()) {
        *slot = *byte;
    }
    hash(state.rotate_left(5) ^ u64::from_le_bytes(rest))
}

/// The distinct combinations of several columns, numbered.
#[derive(Debug)]
pub(super) struct Keys {
    columns: Vec<KeyColumn>,
    /// Numbers of pairs, for the second key and each further one.
    combined: Vec<Interner>,
    /// For each combination the number of each key's value.
    parts: Vec<Vec<u32>>,
    len: usize,
}

#[derive(Debug, Default)]
struct KeyColumn {
    numbers: Interner,
    /// The values by number.
    values: Vec<Value>,
}

impl Keys {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: (0..columns).map(|_| KeyColumn::default()).collect(),
            combined: (1..columns).map(|_| Interner::default()).collect(),
            parts: vec![Vec::new(); columns],
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of each row's combination.
    pub(super) fn number(&mut self, keys: &[Vector], rows: usize) -> Vec<u32> {
        let parts: Vec<Vec<u32>> = self
            .columns
            .iter_mut()
            .zip(keys)
            .map(|(column, key)| column.number(key, rows))
            .collect();
        let Some((first, rest)) = parts.split_first() else {
            self.len = self.len.max(usize::from(rows > 0));
            return vec![0; rows];
        };
        let mut numbers = first.clone();
        for (part, pairs) in rest.iter().zip(&mut self.combined) {
            for (number, part) in numbers.iter_mut().zip(part) {
                *number = pairs.word(u64::from(*number) << 32 | u64::from(*part));
            }
        }
        // Numbers count up from 0, so a new one is the next.
        for (row, number) in numbers.iter().enumerate() {
            if *number as usize == self.len {
                self.len += 1;
                for (known, part) in self.parts.iter_mut().zip(&parts) {
                    known.push(part.get(row).copied().unwrap_or(0));
                }
            }
        }
        numbers
    }

    /// The values of the combinations.
    pub(super) fn into_columns(self, types: &[Type]) -> Vec<Vector> {
        let columns = self.columns.into_iter().zip(self.parts).zip(types);
        columns
            .map(|((column, parts), type_of)| {
                let value = |number: &u32| column.values.get(*number as usize).cloned().unwrap_or_default();
                let values: Vec<Value> = parts.iter().map(value).collect();
                let found = values
                    .iter()
                    .map(Value::type_of)
                    .fold(*type_of, |a, b| a.with(b).unwrap_or(a));
                let values = values.into_iter().map(|value| value.cast(found).unwrap_or_default());
                Vector::of_values(values.collect(), found)
            })
            .collect()
    }

    /// The numbers of the values of one column.
    pub(super) fn once(vector: &Vector, rows: usize, numbers: &mut Interner) -> Vec<u32> {
        each(vector, rows, numbers)
    }
}

impl KeyColumn {
    fn number(&mut self, key: &Vector, rows: usize) -> Vec<u32> {
        let ids = each(key, rows, &mut self.numbers);
        // Values are taken from the row in which each number was met first.
        for (row, id) in ids.iter().enumerate() {
            if *id as usize == self.values.len() {
                let value = match key.value(row) {
                    Value::Text(text) => Value::Text(trimmed(&text).to_owned()),
                    value => value,
                };
                self.values.push(value);
            }
        }
        ids
    }
}

/// A number for the value of each row; NULL has one, too.
fn each(vector: &Vector, rows: usize, numbers: &mut Interner) -> Vec<u32> {
    let nulls = vector.nulls();
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
    match vector {
        Vector::Text(array, _) => (0..rows)
            .map(|row| match is_null(row) {
                true => numbers.null(true),
                false => numbers.text(trimmed(array.value(row))),
            })
            .collect(),
        Vector::Constant(Value::Text(text)) => vec![numbers.text(trimmed(text)); rows],
        Vector::Bytes(array) => (0..rows)
            .map(|row| match is_null(row) {
                true => numbers.null(true),
                false => numbers.text(
                    &array
                        .value(row)
                        .iter()
                        .map(|byte| char::from(*byte))
                        .collect::<String>(),
                ),
            })
            .collect(),
        Vector::Constant(Value::Null) => vec![numbers.null(false); rows],
        // Numbers of more than 18 digits are told apart by 64 bits of them.
        Vector::Decimal(array, _) => (0..rows)
            .map(|row| match (is_null(row), i64::try_from(array.value(row))) {
                (true, _) => numbers.null(false),
                (false, Ok(number)) => numbers.word(number.cast_unsigned()),
                (false, Err(_)) => {
                    let number = array.value(row).cast_unsigned();
                    let halves =
                        [number >> 64, number & u128::from(u64::MAX)].map(|half| u64::try_from(half).unwrap_or(0));
                    numbers.word(hash(halves[0]) ^ halves[1].rotate_left(17))
                }
            })
            .collect(),
        other => {
            let words = super::sort::words(other, rows);
            let words = words.iter().enumerate();
            words
                .map(|(row, word)| match is_null(row) {
                    true => numbers.null(false),
                    false => numbers.word(*word),
                })
                .collect()
        }
    }
}
