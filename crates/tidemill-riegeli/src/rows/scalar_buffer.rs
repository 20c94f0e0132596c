//! Flat buffers of scalar columns, and the values of fields on their way there.

use std::{ops::Range, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
    make_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

use super::mapping::Storage;
use crate::{error::RowProblem, varint::read_varint64};

/// The most that nulls of a FixedSizeBinary column may fill in a batch.
const MAX_FIXED_BYTES: usize = 256 << 20;

/// The value of a field in a record.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// The number, or where the bytes begin.
    value: u64,
    length: usize,
}

impl Slot {
    /// Splits the value of a field off `bytes`, which reach to `end` of the record. `None` if it is cut off.
    #[inline]
    pub(super) fn read(bytes: &[u8], end: usize, wire_type: u32) -> Option<(Self, &[u8])> {
        let number = |value: u64| Self { value, length: 0 };
        match wire_type {
            0 => read_varint64(bytes).map(|(value, rest)| (number(value), rest)),
            1 => bytes
                .split_first_chunk()
                .map(|(value, rest)| (number(u64::from_le_bytes(*value)), rest)),
            5 => bytes
                .split_first_chunk()
                .map(|(value, rest)| (number(u32::from_le_bytes(*value).into()), rest)),
            _ => {
                let (length, rest) = read_varint64(bytes)?;
                let length = usize::try_from(length).ok()?;
                let behind = rest.get(length..)?;
                let value = (end - rest.len()) as u64;
                Some((Self { value, length }, behind))
            }
        }
    }

    /// Returns the value that the bytes at `range` of the record are.
    pub(super) fn of_bytes(range: Range<usize>) -> Self {
        Self {
            value: range.start as u64,
            length: range.len(),
        }
    }

    /// Returns the number, if it is one.
    pub(super) fn number(self) -> u64 {
        self.value
    }

    /// Returns where the bytes are, if it is bytes.
    pub(super) fn bytes(self) -> Range<usize> {
        // It has been a usize before.
        let start = usize::try_from(self.value).unwrap_or(usize::MAX - self.length);
        start..start + self.length
    }
}

/// The values of a scalar column.
pub(super) struct ScalarBuffer {
    storage: Storage,
    values: Values,
}

enum Values {
    Bits(BooleanBufferBuilder),
    W1(Vec<i8>),
    W2(Vec<i16>),
    W4(Vec<i32>),
    W8(Vec<i64>),
    W16(Vec<i128>),
    Bytes { ends: Vec<usize>, bytes: Vec<u8> },
}

impl ScalarBuffer {
    pub(super) fn new(storage: Storage) -> Self {
        let values = match storage {
            Storage::Bool => Values::Bits(BooleanBufferBuilder::new(0)),
            Storage::Signed(1) | Storage::Unsigned(1) => Values::W1(Vec::new()),
            Storage::Signed(2) | Storage::Unsigned(2) => Values::W2(Vec::new()),
            Storage::Signed(4) | Storage::Unsigned(4) | Storage::Fixed32 => Values::W4(Vec::new()),
            Storage::Signed(_) | Storage::Unsigned(_) | Storage::Fixed64 => Values::W8(Vec::new()),
            Storage::SmallDecimal | Storage::LargeDecimal => Values::W16(Vec::new()),
            Storage::Utf8 | Storage::Bytes | Storage::FixedBytes(_) => Values::Bytes {
                ends: Vec::new(),
                bytes: Vec::new(),
            },
        };
        Self { storage, values }
    }

    pub(super) fn storage(&self) -> Storage {
        self.storage
    }

    /// Appends a value if it fits the column.
    #[inline(always)]
    pub(super) fn append(&mut self, slot: Slot, record: &[u8]) -> Result<(), RowProblem> {
        let signed = matches!(self.storage, Storage::Signed(_) | Storage::SmallDecimal);
        let number = if signed {
            unzigzag(slot.value)
        } else {
            slot.value.cast_signed()
        };
        let bytes = || record.get(slot.bytes()).unwrap_or_default();
        let fits = match self.storage {
            Storage::Signed(8) | Storage::Unsigned(8) | Storage::Fixed32 | Storage::Fixed64 => true,
            Storage::Bool | Storage::SmallDecimal | Storage::Bytes => true,
            Storage::Signed(width) => {
                let bound = 1_i64 << (8 * width - 1);
                (-bound..bound).contains(&number)
            }
            Storage::Unsigned(width) => slot.value >> (8 * width) == 0,
            Storage::LargeDecimal => slot.length == 16,
            Storage::FixedBytes(width) => i32::try_from(slot.length) == Ok(width),
            Storage::Utf8 => {
                std::str::from_utf8(bytes()).map_err(|_| RowProblem::Utf8)?;
                true
            }
        };
        if !fits {
            return Err(RowProblem::Range);
        }
        match &mut self.values {
            Values::Bits(bits) => bits.append(slot.value != 0),
            // The lower bits are the value: it was seen above that there are no others.
            Values::W1(values) => values.push(number as i8),
            Values::W2(values) => values.push(number as i16),
            Values::W4(values) => values.push(number as i32),
            Values::W8(values) => values.push(number),
            Values::W16(values) => values.push(match self.storage {
                Storage::LargeDecimal => bytes().try_into().map_or(0, i128::from_be_bytes),
                _ => number.into(),
            }),
            Values::Bytes { ends, bytes: out } => {
                out.extend_from_slice(bytes());
                ends.push(out.len());
            }
        }
        Ok(())
    }

    /// Appends what is after a null.
    #[inline]
    pub(super) fn append_null(&mut self) -> Result<(), RowProblem> {
        match &mut self.values {
            Values::Bits(bits) => bits.append(false),
            Values::W1(values) => values.push(0),
            Values::W2(values) => values.push(0),
            Values::W4(values) => values.push(0),
            Values::W8(values) => values.push(0),
            Values::W16(values) => values.push(0),
            Values::Bytes { ends, bytes } => {
                if let Storage::FixedBytes(width) = self.storage {
                    // A null takes room here that the record does not have.
                    let length = bytes.len().saturating_add(usize::try_from(width).unwrap_or(0));
                    if length > MAX_FIXED_BYTES.max(bytes.len()) {
                        return Err(RowProblem::Range);
                    }
                    bytes.resize(length, 0);
                }
                ends.push(bytes.len());
            }
        }
        Ok(())
    }

    /// Cuts the column back to `rows`.
    pub(super) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Bits(bits) => bits.truncate(rows),
            Values::W1(values) => values.truncate(rows),
            Values::W2(values) => values.truncate(rows),
            Values::W4(values) => values.truncate(rows),
            Values::W8(values) => values.truncate(rows),
            Values::W16(values) => values.truncate(rows),
            Values::Bytes { ends, bytes } => {
                ends.truncate(rows);
                bytes.truncate(ends.last().copied().unwrap_or(0));
            }
        }
    }

    /// Returns the column of `rows` and begins a new one.
    pub(super) fn finish(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ArrowError> {
        let buffer = match &mut self.values {
            Values::Bits(bits) => bits.finish().into_inner(),
            Values::W1(values) => Buffer::from_vec(std::mem::take(values)),
            Values::W2(values) => Buffer::from_vec(std::mem::take(values)),
            Values::W4(values) => Buffer::from_vec(std::mem::take(values)),
            Values::W8(values) => Buffer::from_vec(std::mem::take(values)),
            Values::W16(values) => Buffer::from_vec(std::mem::take(values)),
            Values::Bytes { ends, bytes } => {
                let (ends, bytes) = (std::mem::take(ends), std::mem::take(bytes));
                if !matches!(data_type, DataType::FixedSizeBinary(_)) {
                    return variable(data_type, &ends, Buffer::from_vec(bytes), nulls);
                }
                Buffer::from_vec(bytes)
            }
        };
        let data = ArrayData::builder(data_type.clone())
            .len(rows)
            .add_buffer(buffer)
            .nulls(nulls)
            .build()?;
        Ok(make_array(data))
    }
}

fn variable(
    data_type: &DataType,
    ends: &[usize],
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let large = matches!(data_type, DataType::LargeUtf8 | DataType::LargeBinary);
    if !large && i32::try_from(bytes.len()).is_err() {
        return Err(ArrowError::OffsetOverflowError(bytes.len()));
    }
    let offsets = || {
        // Checked above: the last end is the length.
        let ends = ends.iter().map(|&end| end as i32);
        OffsetBuffer::new(std::iter::once(0).chain(ends).collect::<Vec<i32>>().into())
    };
    let large_offsets = || {
        let ends = ends.iter().map(|&end| end as i64);
        OffsetBuffer::new(std::iter::once(0).chain(ends).collect::<Vec<i64>>().into())
    };
    Ok(match data_type {
        DataType::LargeUtf8 => Arc::new(LargeStringArray::try_new(large_offsets(), bytes, nulls)?),
        DataType::LargeBinary => Arc::new(LargeBinaryArray::try_new(large_offsets(), bytes, nulls)?),
        DataType::Utf8 => Arc::new(StringArray::try_new(offsets(), bytes, nulls)?),
        DataType::Utf8View => Arc::new(StringViewArray::from(&StringArray::try_new(offsets(), bytes, nulls)?)),
        DataType::BinaryView => Arc::new(BinaryViewArray::from(&BinaryArray::try_new(offsets(), bytes, nulls)?)),
        _ => Arc::new(BinaryArray::try_new(offsets(), bytes, nulls)?),
    })
}

#[inline]
fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}
