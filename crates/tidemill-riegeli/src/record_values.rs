//! The records of a chunk, one after another: borrowed from the chunk data or from a section that is decompressed as far as records
//! are asked for.

use std::ops::Range;

use crate::{
    codec::{CompressionType, Decompressor, Scratch, Size},
    error::Damage,
};

/// The records of a chunk, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct RecordSlices<'a> {
    values: &'a [u8],
    /// Where each ends in the values, in the order in which they lie there.
    limits: &'a [usize],
    order: Order,
}

/// In which order records lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    FirstToLast,
    LastToFirst,
}

impl Order {
    /// Returns where in this order the record of number `index` of `count` is, and the other way round. `index` is below `count`.
    #[inline]
    fn place(self, index: usize, count: usize) -> usize {
        match self {
            Self::FirstToLast => index,
            Self::LastToFirst => count - 1 - index,
        }
    }
}

impl<'a> RecordSlices<'a> {
    /// Returns the records that end in `values` at `limits`, which go up and stay inside.
    #[inline]
    pub(crate) fn new(values: &'a [u8], limits: &'a [usize]) -> Self {
        Self {
            values,
            limits,
            order: Order::FirstToLast,
        }
    }

    /// Returns the number of records.
    #[inline]
    pub fn len(&self) -> usize {
        self.limits.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Returns the record of a number, from 0, `None` after the last one.
    #[inline]
    pub fn try_get(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.get(index))
    }

    /// Returns the records in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let records = *self;
        (0..self.len()).map(move |index| records.get(index))
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        let place = self.order.place(index, self.limits.len());
        let start = match place.checked_sub(1) {
            Some(before) => self.limits[before],
            None => 0,
        };
        &self.values[start..self.limits[place]]
    }
}

/// Appends where each record ends by the `lengths` of all of them, and returns where the last one does. `None`, and nothing is
/// appended, unless there is one byte for each.
pub(crate) fn read_short_limits(lengths: &[u8], num_records: u64, limits: &mut Vec<usize>) -> Option<usize> {
    // Without a branch for each, which lets many be looked at together.
    let are_short = lengths.iter().fold(0, |all, &byte| all | byte) < 0x80;
    if !are_short || lengths.len() as u64 != num_records {
        return None;
    }
    let mut end = 0_usize;
    limits.extend(lengths.iter().map(|&length| {
        // Less than 128 times what is in memory.
        end = end.wrapping_add(usize::from(length));
        end
    }));
    Some(end)
}

/// Decodes the values of chunks one after another into the same buffers.
#[derive(Default)]
pub(crate) struct RecordValues {
    order: Order,
    /// Where each record ends in the values, in the order in which they lie there.
    limits: Vec<usize>,
    /// Where the values are in the chunk data, when they are not compressed.
    in_data: Option<usize>,
    decompressed: Scratch,
    /// How many of the records, in the order in which they lie, have their values.
    available: usize,
    /// The values that are not decompressed yet: where their section is in the data, and how much of it was read.
    rest: Option<(Range<usize>, usize)>,
}

impl RecordValues {
    /// Forgets the records, of which there are none then.
    pub(crate) fn clear(&mut self) {
        self.limits.clear();
        self.available = 0;
        self.rest = None;
    }

    /// Begins a chunk whose records lie in this `order`, and returns the list of where they end, which is to be filled.
    pub(crate) fn start(&mut self, order: Order) -> &mut Vec<usize> {
        self.clear();
        self.order = order;
        &mut self.limits
    }

    /// Returns the records of the chunk that was decoded from `data`. Only those that are available may be taken.
    #[inline]
    pub(crate) fn records<'a>(&'a self, data: &'a [u8]) -> RecordSlices<'a> {
        let values = match self.in_data {
            Some(start) => data.get(start..).unwrap_or_default(),
            None => self.decompressed.as_slice(),
        };
        let limits = match self.order {
            Order::FirstToLast => &self.limits[..self.available],
            Order::LastToFirst => &self.limits[..],
        };
        RecordSlices {
            values,
            limits,
            order: self.order,
        }
    }

    /// Returns the records that are available: all of them, unless only some were wanted.
    pub(crate) fn available(&self) -> Range<u64> {
        let (count, available) = (self.limits.len() as u64, self.available as u64);
        match self.order {
            Order::FirstToLast => 0..available,
            Order::LastToFirst => count - available..count,
        }
    }

    /// Decodes the values in `section` of `data`, where the records end where [`Self::start`] let it be filled in. Records behind
    /// that of number `wanted`, in the order in which they lie, may be left to [`Self::extend`]. After an error there are none.
    pub(crate) fn decode(
        &mut self,
        decompressor: &mut Decompressor,
        compression: CompressionType,
        data: &[u8],
        section: Range<usize>,
        wanted: u64,
    ) -> Result<(), Damage> {
        let decoded = self.decode_section(decompressor, compression, data, section, wanted);
        match decoded {
            Ok(()) if self.rest.is_none() => self.available = self.limits.len(),
            Ok(()) => {}
            Err(_) => self.clear(),
        }
        decoded
    }

    fn decode_section(
        &mut self,
        decompressor: &mut Decompressor,
        compression: CompressionType,
        data: &[u8],
        section: Range<usize>,
        wanted: u64,
    ) -> Result<(), Damage> {
        if compression == CompressionType::None {
            self.in_data = Some(section.start);
            return Ok(());
        }
        self.in_data = None;
        let size = self.size();
        let values = data.get(section.clone()).unwrap_or_default();
        // A part is decompressed a little slower than the same part of the whole.
        if self.end_of(wanted) < size / 8 * 7 {
            let begun = decompressor.begin(compression, values, size, &mut self.decompressed)?;
            if let Some(read) = begun {
                self.rest = Some((section, read));
                return self.extend(decompressor, data, wanted);
            }
        }
        decompressor.decompress(compression, values, Size::Exactly(size), &mut self.decompressed)
    }

    /// Makes the record of number `index` available, and those before it in the order in which they lie; all of them for a number
    /// after the last. `data` are those that the chunk was decoded from, and `decompressor` did nothing else meanwhile. After an
    /// error there are no records.
    pub(crate) fn extend(&mut self, decompressor: &mut Decompressor, data: &[u8], index: u64) -> Result<(), Damage> {
        let Some((section, mut read)) = self.rest.clone() else {
            return Ok(());
        };
        if self.available().contains(&index) {
            return Ok(());
        }
        let (until, size) = (self.end_of(index), self.size());
        let values = data.get(section.clone()).unwrap_or_default();
        let advanced = decompressor.advance(values, &mut read, until, size, &mut self.decompressed);
        let all = advanced.inspect_err(|_| self.clear())?;
        self.rest = (!all).then_some((section, read));
        // A block holds more than was asked for.
        let filled = self.decompressed.len();
        self.available = self.limits.partition_point(|&limit| limit <= filled);
        Ok(())
    }

    /// Returns how many bytes all values have.
    fn size(&self) -> usize {
        self.limits.last().copied().unwrap_or_default()
    }

    /// Returns where the record of number `index` ends in the values, or where all end when there is none.
    fn end_of(&self, index: u64) -> usize {
        let count = self.limits.len();
        let index = usize::try_from(index).ok().filter(|&index| index < count);
        let end = index.and_then(|index| self.limits.get(self.order.place(index, count)));
        end.copied().unwrap_or_else(|| self.size())
    }
}
