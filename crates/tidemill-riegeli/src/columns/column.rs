//! Columns that are filled from the last value of a chunk to its first.
//!
//! Transposed chunks give the last field of the last record first, so everything is collected in that order and turned round
//! at the end of the chunk. It suits protobuf: of a field that may occur once the last occurrence counts, which is the first to
//! come.
//!
//! A slot is the place of a value in its column: the number of the record from the end of the chunk, or in what is below a list
//! the number of the list's value. Slots that nothing was put into are null, or zero where the column has no nulls.

use std::{iter::repeat_n, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_buffer::{
    BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::ArrowError;

use crate::FieldKind;

/// A column of scalars.
pub(super) struct Leaf {
    kind: FieldKind,
    /// Those of the chunk, reversed.
    values: Values,
    /// Bits that every number gets.
    mark: u64,
    present: Option<Presence>,
    /// Those of the chunks before.
    done: Done,
}

enum Values {
    /// Varints as they are, the bits of other numbers.
    Numbers(Vec<u64>),
    Bytes {
        lengths: Vec<u32>,
        bytes: BackwardBytes,
    },
}

enum Done {
    Bits(BooleanBufferBuilder),
    Words(Vec<u32>),
    Longs(Vec<u64>),
    Bytes { offsets: Offsets, bytes: Vec<u8> },
}

impl Leaf {
    pub(super) fn new(kind: FieldKind, nullable: bool) -> Self {
        let bytes = matches!(kind, FieldKind::String | FieldKind::Bytes);
        Self {
            kind,
            mark: 0,
            values: match bytes {
                true => Values::Bytes {
                    lengths: Vec::new(),
                    bytes: BackwardBytes::default(),
                },
                false => Values::Numbers(Vec::new()),
            },
            present: nullable.then(Presence::default),
            done: match (kind, kind.wire_type()) {
                (FieldKind::Bool, _) => Done::Bits(BooleanBufferBuilder::new(0)),
                (FieldKind::Int64 | FieldKind::UInt64 | FieldKind::SInt64, _) | (_, 1) => Done::Longs(Vec::new()),
                (_, 0 | 5) => Done::Words(Vec::new()),
                _ => Done::Bytes {
                    offsets: Offsets::default(),
                    bytes: Vec::new(),
                },
            },
        }
    }

    /// Returns a column that is true in the slots that any number is put into, and false in the others.
    pub(super) fn existence() -> Self {
        Self {
            mark: 1,
            ..Self::new(FieldKind::Bool, false)
        }
    }

    /// Puts a number into `slot`, unless there is one already. Columns of bytes take none.
    #[inline]
    pub(super) fn put_number(&mut self, slot: usize, number: u64) {
        let Values::Numbers(values) = &mut self.values else {
            return;
        };
        if values.len() > slot {
            return;
        }
        if values.len() < slot {
            values.resize(slot, 0);
        }
        values.push(number | self.mark);
        if let Some(present) = &mut self.present {
            present.put(slot);
        }
    }

    /// Puts bytes into `slot`, unless there are some already. False if they are too long for a column.
    #[inline]
    pub(super) fn put_bytes(&mut self, slot: usize, value: &[u8]) -> bool {
        let Values::Bytes { lengths, bytes } = &mut self.values else {
            return true;
        };
        if lengths.len() > slot {
            return true;
        }
        let Ok(length) = u32::try_from(value.len()) else {
            return false;
        };
        if lengths.len() < slot {
            lengths.resize(slot, 0);
        }
        lengths.push(length);
        bytes.prepend(value);
        if let Some(present) = &mut self.present {
            present.put(slot);
        }
        true
    }

    /// Returns how many slots of the chunk were filled or passed over.
    pub(super) fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Bytes { lengths, .. } => lengths.len(),
        }
    }

    /// Returns whether the values of the chunk are text, if they should be.
    pub(super) fn is_valid(&self) -> bool {
        let Values::Bytes { lengths, bytes } = &self.values else {
            return true;
        };
        if self.kind != FieldKind::String || bytes.as_slice().is_ascii() {
            return true;
        }
        let Ok(text) = std::str::from_utf8(bytes.as_slice()) else {
            return false;
        };
        let mut end = 0;
        lengths.iter().rev().all(|&length| {
            end += length as usize;
            text.is_char_boundary(end)
        })
    }

    /// Ends the chunk, which has `slots` slots.
    pub(super) fn end_chunk(&mut self, slots: usize) {
        if let Some(present) = &mut self.present {
            present.end_chunk(slots);
        }
        match (&mut self.values, &mut self.done) {
            (Values::Numbers(values), done) => {
                values.resize(slots, 0);
                append_numbers(self.kind, values, done);
                values.clear();
            }
            (Values::Bytes { lengths, bytes }, Done::Bytes { offsets, bytes: done }) => {
                lengths.resize(slots, 0);
                offsets.append_reversed(lengths);
                done.extend_from_slice(bytes.as_slice());
                lengths.clear();
                bytes.clear();
            }
            // Columns of bytes keep bytes.
            (Values::Bytes { .. }, _) => {}
        }
    }

    /// Returns the values of all chunks and leaves the column empty.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.present.as_mut().and_then(Presence::finish);
        Ok(match &mut self.done {
            Done::Bits(bits) => Arc::new(BooleanArray::new(bits.finish(), nulls)),
            Done::Words(words) => {
                let words = Buffer::from_vec(std::mem::take(words));
                match self.kind {
                    FieldKind::UInt32 | FieldKind::Fixed32 => primitive::<UInt32Type>(words, nulls)?,
                    FieldKind::Float => primitive::<Float32Type>(words, nulls)?,
                    _ => primitive::<Int32Type>(words, nulls)?,
                }
            }
            Done::Longs(longs) => {
                let longs = Buffer::from_vec(std::mem::take(longs));
                match self.kind {
                    FieldKind::UInt64 | FieldKind::Fixed64 => primitive::<UInt64Type>(longs, nulls)?,
                    FieldKind::Double => primitive::<Float64Type>(longs, nulls)?,
                    _ => primitive::<Int64Type>(longs, nulls)?,
                }
            }
            Done::Bytes { offsets, bytes } => {
                let offsets = offsets.finish()?;
                let bytes = Buffer::from_vec(std::mem::take(bytes));
                match self.kind {
                    FieldKind::String => Arc::new(StringArray::try_new(offsets, bytes, nulls)?),
                    _ => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
                }
            }
        })
    }

    /// Drops the values of the chunk.
    pub(super) fn drop_chunk(&mut self) {
        if let Some(present) = &mut self.present {
            present.drop_chunk();
        }
        match &mut self.values {
            Values::Numbers(values) => values.clear(),
            Values::Bytes { lengths, bytes } => {
                lengths.clear();
                bytes.clear();
            }
        }
    }
}

/// Which slots have a value.
pub(super) struct Presence {
    /// How many slots there are before the first without a value.
    first: usize,
    /// Those after them.
    rest: Vec<bool>,
    done: NullBufferBuilder,
}

impl Default for Presence {
    fn default() -> Self {
        Self {
            first: 0,
            rest: Vec::new(),
            done: NullBufferBuilder::new(0),
        }
    }
}

impl Presence {
    #[inline]
    pub(super) fn put(&mut self, slot: usize) {
        if slot == self.first && self.rest.is_empty() {
            self.first += 1;
            return;
        }
        // Slots before `first` have a value.
        let Some(slot) = slot.checked_sub(self.first) else {
            return;
        };
        if self.rest.len() <= slot {
            self.rest.resize(slot, false);
            self.rest.push(true);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first + self.rest.len()
    }

    pub(super) fn end_chunk(&mut self, slots: usize) {
        let missing = slots - self.len();
        match (missing, &self.rest[..]) {
            (0, []) => {}
            (missing, []) => self.done.append_n_nulls(missing),
            (missing, rest) => {
                self.done.append_n_nulls(missing);
                let last = rest.len() - 1;
                let rest = BooleanBuffer::collect_bool(rest.len(), |index| rest[last - index]);
                self.done.append_buffer(&NullBuffer::new(rest));
            }
        }
        self.done.append_n_non_nulls(self.first);
        self.drop_chunk();
    }

    /// Returns where the nulls of all chunks are, `None` if there are none, and leaves it empty.
    pub(super) fn finish(&mut self) -> Option<NullBuffer> {
        self.done.finish()
    }

    pub(super) fn drop_chunk(&mut self) {
        self.first = 0;
        self.rest.clear();
    }
}

/// How many values the list in each slot has.
#[derive(Default)]
pub(super) struct Lists {
    lengths: Vec<u32>,
    values: usize,
    done: Offsets,
}

impl Lists {
    /// Adds a value to the list in `slot`, which is the last that was added to or after it, and returns the slot of the value.
    /// `None` if there would be too many.
    #[inline]
    pub(super) fn add(&mut self, slot: usize) -> Option<usize> {
        if self.lengths.len() <= slot {
            self.lengths.resize(slot + 1, 0);
        }
        let length = self.lengths.last_mut()?;
        *length = length.checked_add(1)?;
        let value = self.values;
        self.values += 1;
        Some(value)
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the number of values in all lists of the chunk.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    pub(super) fn end_chunk(&mut self, slots: usize) {
        self.lengths.resize(slots, 0);
        self.done.append_reversed(&self.lengths);
        self.drop_chunk();
    }

    /// Returns the offsets of the lists of all chunks and leaves it empty.
    pub(super) fn finish(&mut self) -> Result<OffsetBuffer<i32>, ArrowError> {
        self.done.finish()
    }

    pub(super) fn drop_chunk(&mut self) {
        self.lengths.clear();
        self.values = 0;
    }
}

/// The ends of values that follow each other.
#[derive(Default)]
struct Offsets {
    ends: Vec<i32>,
    total: u64,
}

impl Offsets {
    /// Appends values whose lengths are given from the last to the first.
    fn append_reversed(&mut self, lengths: &[u32]) {
        self.ends.extend(lengths.iter().rev().map(|&length| {
            self.total += u64::from(length);
            // Checked in the end: the total is the greatest.
            self.total as i32
        }));
    }

    fn finish(&mut self) -> Result<OffsetBuffer<i32>, ArrowError> {
        let (ends, total) = (std::mem::take(&mut self.ends), std::mem::take(&mut self.total));
        if i32::try_from(total).is_err() {
            return Err(ArrowError::OffsetOverflowError(
                usize::try_from(total).unwrap_or(usize::MAX),
            ));
        }
        let offsets: Vec<i32> = repeat_n(0, 1).chain(ends).collect();
        Ok(OffsetBuffer::new(offsets.into()))
    }
}

/// Bytes that grow at their beginning.
#[derive(Default)]
struct BackwardBytes {
    /// Those from `begin` on are in use.
    bytes: Vec<u8>,
    begin: usize,
}

impl BackwardBytes {
    #[inline]
    fn prepend(&mut self, value: &[u8]) {
        if value.len() > self.begin {
            self.grow(value.len());
        }
        let begin = self.begin - value.len();
        self.bytes[begin..self.begin].copy_from_slice(value);
        self.begin = begin;
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        let used = self.bytes.len() - self.begin;
        let length = (used + wanted).max(used * 2).max(1 << 10);
        let mut bytes = vec![0; length];
        bytes[length - used..].copy_from_slice(&self.bytes[self.begin..]);
        self.begin = length - used;
        self.bytes = bytes;
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    fn clear(&mut self) {
        self.begin = self.bytes.len();
    }
}

/// Appends numbers that are given from the last to the first.
fn append_numbers(kind: FieldKind, reversed: &[u64], done: &mut Done) {
    let reversed = reversed.iter().rev().copied();
    // Of a varint that is too long for its type the low bits count.
    let low = |number: u64| number as u32;
    match (done, kind) {
        (Done::Bits(bits), _) => reversed.for_each(|number| bits.append(number != 0)),
        (Done::Words(words), FieldKind::SInt32) => words.extend(reversed.map(|number| {
            let number = low(number);
            number >> 1 ^ (number & 1).wrapping_neg()
        })),
        (Done::Words(words), _) => words.extend(reversed.map(low)),
        (Done::Longs(longs), FieldKind::SInt64) => {
            longs.extend(reversed.map(|number| number >> 1 ^ (number & 1).wrapping_neg()));
        }
        (Done::Longs(longs), _) => longs.extend(reversed),
        // Columns of numbers keep numbers.
        (Done::Bytes { .. }, _) => {}
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Buffer, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(
        ScalarBuffer::from(values),
        nulls,
    )?))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, cast::AsArray};

    use super::*;

    #[test]
    fn the_first_value_of_a_slot_stays_and_gaps_are_null() {
        let mut leaf = Leaf::new(FieldKind::SInt32, true);
        for (slot, number) in [(0, 8), (1, 3), (1, 4), (4, 2)] {
            leaf.put_number(slot, number);
        }
        assert_eq!(leaf.len(), 5);
        leaf.end_chunk(6);
        leaf.put_number(0, 6);
        leaf.end_chunk(1);
        let array = leaf.finish().expect("numbers");
        let found: Vec<Option<i32>> = array.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(found, [None, Some(1), None, None, Some(-2), Some(4), Some(3)]);
        leaf.end_chunk(2);
        assert_eq!(leaf.finish().expect("nulls").null_count(), 2);
    }

    #[test]
    fn bytes_come_out_in_the_order_of_the_records() {
        let mut leaf = Leaf::new(FieldKind::String, false);
        let texts: Vec<String> = (0..500)
            .map(|number| "ä".repeat(number % 70) + &number.to_string())
            .collect();
        for chunk in texts.chunks(200) {
            for (slot, text) in chunk.iter().rev().enumerate() {
                assert!(leaf.put_bytes(slot, text.as_bytes()));
            }
            assert!(leaf.is_valid());
            leaf.end_chunk(chunk.len());
        }
        leaf.end_chunk(1);
        let array = leaf.finish().expect("text");
        let array = array.as_string::<i32>();
        assert!((0..500).all(|row| array.value(row) == texts[row]));
        assert_eq!(array.value(500), "");

        // Each value is text, not only all together.
        leaf.put_bytes(0, &[0xa9]);
        leaf.put_bytes(1, &[0xc3]);
        assert!(!leaf.is_valid());
        leaf.drop_chunk();
        leaf.put_bytes(0, &[0xff]);
        assert!(!leaf.is_valid());
    }

    #[test]
    fn lists_count_their_values() {
        let mut lists = Lists::default();
        let slots: Vec<Option<usize>> = [1, 1, 3].map(|slot| lists.add(slot)).to_vec();
        assert_eq!(slots, [Some(0), Some(1), Some(2)]);
        assert_eq!((lists.len(), lists.values()), (4, 3));
        lists.end_chunk(5);
        assert_eq!(lists.add(0), Some(0));
        lists.end_chunk(1);
        assert_eq!(&lists.finish().expect("offsets")[..], [0, 0, 1, 1, 3, 3, 4]);
    }
}
