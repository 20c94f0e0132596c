//! Columns that are filled from their last value to their first.
//!
//! Transposed chunks give the last field of the last record first, so everything is appended in that order and turned round
//! in the end. It suits protobuf: of a field that may occur once the last occurrence counts, which is the first to come.
//!
//! A slot is the place of a value in its column: the number of the record from the end, or in what is below a list the number
//! of the list's value. Slots that nothing was put into are null, or zero where the column has no nulls.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use crate::FieldKind;

/// A column of scalars.
pub(super) struct Leaf {
    kind: FieldKind,
    values: Values,
    present: Option<Presence>,
}

enum Values {
    /// Varints as they are, the bits of other numbers.
    Numbers(Vec<u64>),
    Bytes {
        lengths: Vec<u32>,
        bytes: BackwardBytes,
    },
}

impl Leaf {
    pub(super) fn new(kind: FieldKind, nullable: bool) -> Self {
        let values = match kind {
            FieldKind::String | FieldKind::Bytes => Values::Bytes {
                lengths: Vec::new(),
                bytes: BackwardBytes::default(),
            },
            _ => Values::Numbers(Vec::new()),
        };
        Self {
            kind,
            values,
            present: nullable.then(Presence::default),
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
        values.push(number);
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

    /// Returns how many slots were filled or passed over.
    pub(super) fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Bytes { lengths, .. } => lengths.len(),
        }
    }

    /// Returns the column of `slots` values and leaves it empty.
    pub(super) fn finish(&mut self, slots: usize) -> Result<ArrayRef, ArrowError> {
        let nulls = self.present.as_mut().and_then(|present| present.finish(slots));
        Ok(match &mut self.values {
            Values::Numbers(values) => {
                values.resize(slots, 0);
                let array = numbers(self.kind, values, nulls)?;
                values.clear();
                array
            }
            Values::Bytes { lengths, bytes } => {
                lengths.resize(slots, 0);
                let offsets = offsets(lengths)?;
                lengths.clear();
                let bytes = bytes.finish();
                match self.kind {
                    FieldKind::String => Arc::new(StringArray::try_new(offsets, bytes, nulls)?),
                    _ => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
                }
            }
        })
    }

    pub(super) fn clear(&mut self) {
        if let Some(present) = &mut self.present {
            present.clear();
        }
        match &mut self.values {
            Values::Numbers(values) => values.clear(),
            Values::Bytes { lengths, bytes } => {
                lengths.clear();
                bytes.finish();
            }
        }
    }
}

/// Which slots have a value.
#[derive(Default)]
pub(super) struct Presence {
    present: Vec<bool>,
}

impl Presence {
    #[inline]
    pub(super) fn put(&mut self, slot: usize) {
        if self.present.len() > slot {
            return;
        }
        if self.present.len() < slot {
            self.present.resize(slot, false);
        }
        self.present.push(true);
    }

    pub(super) fn len(&self) -> usize {
        self.present.len()
    }

    /// Returns the nulls among `slots` values, `None` if there are none, and leaves it empty.
    pub(super) fn finish(&mut self, slots: usize) -> Option<NullBuffer> {
        self.present.resize(slots, false);
        let nulls = NullBuffer::new(self.present.iter().rev().copied().collect());
        self.present.clear();
        Some(nulls).filter(|nulls| nulls.null_count() > 0)
    }

    pub(super) fn clear(&mut self) {
        self.present.clear();
    }
}

/// How many values the list in each slot has.
#[derive(Default)]
pub(super) struct Lists {
    lengths: Vec<u32>,
    values: usize,
}

impl Lists {
    /// Adds a value to the list in `slot`, which is the last that was added to or behind it, and returns the slot of the value.
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

    /// Returns the number of values in all lists.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Returns the offsets of `slots` lists and leaves it empty.
    pub(super) fn finish(&mut self, slots: usize) -> Result<OffsetBuffer<i32>, ArrowError> {
        self.lengths.resize(slots, 0);
        let offsets = offsets(&self.lengths);
        self.clear();
        offsets
    }

    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.values = 0;
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

    fn finish(&mut self) -> Buffer {
        let begin = std::mem::take(&mut self.begin);
        Buffer::from_vec(std::mem::take(&mut self.bytes)).slice(begin)
    }
}

/// Returns the offsets of values whose lengths are given from the last to the first.
fn offsets(reversed_lengths: &[u32]) -> Result<OffsetBuffer<i32>, ArrowError> {
    let total: u64 = reversed_lengths.iter().map(|&length| u64::from(length)).sum();
    if i32::try_from(total).is_err() {
        return Err(ArrowError::OffsetOverflowError(
            usize::try_from(total).unwrap_or(usize::MAX),
        ));
    }
    let mut offset = 0_i32;
    let mut offsets = Vec::with_capacity(reversed_lengths.len() + 1);
    offsets.push(0);
    offsets.extend(reversed_lengths.iter().rev().map(|&length| {
        // The sum fits, so do its parts.
        offset += length.cast_signed();
        offset
    }));
    Ok(OffsetBuffer::new(offsets.into()))
}

fn numbers(kind: FieldKind, reversed: &[u64], nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    fn of<T: ArrowPrimitiveType>(
        reversed: &[u64],
        nulls: Option<NullBuffer>,
        value: impl Fn(u64) -> T::Native,
    ) -> Result<ArrayRef, ArrowError> {
        let values: Vec<T::Native> = reversed.iter().rev().map(|&number| value(number)).collect();
        Ok(Arc::new(PrimitiveArray::<T>::try_new(
            ScalarBuffer::from(values),
            nulls,
        )?))
    }
    // Of a varint that is too long for its type the low bits count.
    let low = |number: u64| number as u32;
    match kind {
        FieldKind::Bool => {
            let bits: BooleanBuffer = reversed.iter().rev().map(|&number| number != 0).collect();
            Ok(Arc::new(BooleanArray::new(bits, nulls)))
        }
        FieldKind::Int32 | FieldKind::Enum | FieldKind::SFixed32 => {
            of::<Int32Type>(reversed, nulls, |number| low(number).cast_signed())
        }
        FieldKind::SInt32 => of::<Int32Type>(reversed, nulls, |number| {
            let number = low(number);
            (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
        }),
        FieldKind::UInt32 | FieldKind::Fixed32 => of::<UInt32Type>(reversed, nulls, low),
        FieldKind::Float => of::<Float32Type>(reversed, nulls, |number| f32::from_bits(low(number))),
        FieldKind::SInt64 => of::<Int64Type>(reversed, nulls, |number| {
            (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
        }),
        FieldKind::UInt64 | FieldKind::Fixed64 => of::<UInt64Type>(reversed, nulls, |number| number),
        FieldKind::Double => of::<Float64Type>(reversed, nulls, f64::from_bits),
        FieldKind::Int64
        | FieldKind::SFixed64
        // Columns of bytes and of messages hold no numbers.
        | FieldKind::String
        | FieldKind::Bytes
        | FieldKind::Message
        | FieldKind::Group => of::<Int64Type>(reversed, nulls, u64::cast_signed),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, cast::AsArray};

    use super::*;

    #[test]
    fn the_first_value_of_a_slot_stays_and_gaps_are_null() {
        let mut leaf = Leaf::new(FieldKind::SInt32, true);
        for (slot, number) in [(1, 3), (1, 4), (4, 2)] {
            leaf.put_number(slot, number);
        }
        assert_eq!(leaf.len(), 5);
        let array = leaf.finish(6).expect("numbers");
        let found: Vec<Option<i32>> = array.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(found, [None, Some(1), None, None, Some(-2), None]);
        assert_eq!(leaf.finish(1).expect("a null").null_count(), 1);
    }

    #[test]
    fn bytes_come_out_in_the_order_of_the_records() {
        let mut leaf = Leaf::new(FieldKind::String, false);
        let texts: Vec<String> = (0..500)
            .map(|number| "x".repeat(number % 70) + &number.to_string())
            .collect();
        for (slot, text) in texts.iter().rev().enumerate() {
            assert!(leaf.put_bytes(slot, text.as_bytes()));
        }
        let array = leaf.finish(501).expect("text");
        let array = array.as_string::<i32>();
        assert_eq!(array.value(0), "");
        assert!((0..500).all(|row| array.value(row + 1) == texts[row]));

        let mut leaf = Leaf::new(FieldKind::String, false);
        leaf.put_bytes(0, &[0xa9]);
        leaf.put_bytes(1, &[0xc3]);
        assert!(leaf.finish(2).is_err(), "each value is text, not only all together");
    }

    #[test]
    fn lists_count_their_values() {
        let mut lists = Lists::default();
        let slots: Vec<Option<usize>> = [1, 1, 3].map(|slot| lists.add(slot)).to_vec();
        assert_eq!(slots, [Some(0), Some(1), Some(2)]);
        assert_eq!((lists.len(), lists.values()), (4, 3));
        assert_eq!(&lists.finish(5).expect("offsets")[..], [0, 0, 1, 1, 3, 3]);
    }
}
