//! Records to rows: tags are looked up in a table, values are kept aside until the message ends (the last one wins), then
//! appended to flat column buffers.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, RecordBatch, RecordBatchOptions,
    StringArray, StringViewArray, make_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::column::{Storage, column_index};
use crate::{
    Result,
    error::RowProblem,
    varint::{read_varint32, read_varint64},
};

/// The deepest nesting of groups that is skipped.
const MAX_DEPTH: usize = 100;
/// The most that nulls of a FixedSizeBinary column may fill in a batch.
const MAX_FIXED_BYTES: usize = 256 << 20;

/// Decodes messages into record batches. The seam for fuzzers: no files, any bytes.
pub struct RowDecoder {
    schema: SchemaRef,
    /// The slot of each column of the file, if it is wanted.
    slots_by_column: Vec<Option<usize>>,
    columns: Vec<ColumnBuffer>,
    slots: Vec<Slot>,
    rows: usize,
    row: u64,
    raw: bool,
}

/// The value of a field in the message at hand.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The number of the row that the value belongs to, so that slots need no clearing.
    row: u64,
    /// The number, or where the bytes begin.
    value: u64,
    length: usize,
}

impl RowDecoder {
    /// Decodes rows of `schema` into the columns of `projection`, in its order. A column may be asked for once.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) for columns that are not there or asked for twice,
    /// [`Error::ColumnType`](crate::Error::ColumnType) for one without a mapping.
    pub fn new(schema: &SchemaRef, projection: &[usize]) -> Result<Self> {
        Self::with_mode(schema, projection, false)
    }

    /// Takes records as they are into one binary column.
    pub(super) fn raw(schema: &SchemaRef, projection: &[usize]) -> Result<Self> {
        Self::with_mode(schema, projection, true)
    }

    fn with_mode(schema: &SchemaRef, projection: &[usize], raw: bool) -> Result<Self> {
        let projected = Arc::new(schema.project(projection)?);
        let mut slots_by_column = vec![None; schema.fields().len()];
        for (slot, &column) in projection.iter().enumerate() {
            if slots_by_column[column].replace(slot).is_some() {
                return Err(
                    ArrowError::InvalidArgumentError(format!("column {column} is in the projection twice")).into(),
                );
            }
        }
        let columns = projected
            .fields()
            .iter()
            .map(|field| Ok(ColumnBuffer::new(Storage::of(field)?, field.is_nullable())))
            .collect::<Result<Vec<_>>>()?;
        let slots = vec![Slot::default(); columns.len()];
        Ok(Self {
            schema: projected,
            slots_by_column,
            columns,
            slots,
            rows: 0,
            row: 0,
            raw,
        })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows that were pushed since the last batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Decodes a record. After an error the row is left out of the batch.
    ///
    /// # Errors
    /// The column, as a position in the projection, and what is wrong with it.
    pub fn push(&mut self, record: &[u8]) -> Result<(), (Option<usize>, RowProblem)> {
        self.row += 1;
        if self.raw {
            if let Some(slot) = self.slots.first_mut() {
                *slot = Slot {
                    row: self.row,
                    value: 0,
                    length: record.len(),
                };
            }
        } else {
            self.read_fields(record)?;
        }
        // Values are checked before any is appended, so that columns stay of one length.
        for (index, (column, slot)) in self.columns.iter().zip(&self.slots).enumerate() {
            let found = slot.row == self.row;
            column
                .check(found.then_some(slot), record)
                .map_err(|problem| (Some(index), problem))?;
        }
        for (column, slot) in self.columns.iter_mut().zip(&self.slots) {
            let found = slot.row == self.row;
            column.append(found.then_some(slot), record);
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns the rows so far and begins a new batch.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) when a column exceeds what its type can hold.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        let columns = self
            .columns
            .iter_mut()
            .zip(self.schema.fields())
            .map(|(column, field)| column.finish(rows, field.data_type()))
            .collect::<Result<Vec<_>, ArrowError>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            self.schema.clone(),
            columns,
            &options,
        )?)
    }

    fn read_fields(&mut self, record: &[u8]) -> Result<(), (Option<usize>, RowProblem)> {
        let mut left = record;
        while !left.is_empty() {
            let offset = record.len() - left.len();
            let truncated = RowProblem::Truncated { offset };
            let (tag, behind) = read_varint32(left).ok_or((None, RowProblem::Tag { offset }))?;
            let (number, wire_type) = (tag >> 3, tag & 7);
            if number == 0 || wire_type > 5 || wire_type == 4 {
                return Err((None, RowProblem::Tag { offset }));
            }
            let slot = column_index(number).and_then(|column| self.slots_by_column.get(column).copied().flatten());
            let Some(index) = slot else {
                left = skip(number, wire_type, behind).map_err(|depth| {
                    (
                        None,
                        if depth {
                            RowProblem::Depth { limit: MAX_DEPTH }
                        } else {
                            truncated
                        },
                    )
                })?;
                continue;
            };
            let expected = self.columns[index].storage.wire_type();
            if u32::from(expected) != wire_type {
                let found = (tag & 7) as u8;
                return Err((
                    Some(index),
                    RowProblem::WireType {
                        number,
                        expected,
                        found,
                    },
                ));
            }
            let (value, length, rest) = read_value(wire_type, behind, record.len()).ok_or((Some(index), truncated))?;
            self.slots[index] = Slot {
                row: self.row,
                value,
                length,
            };
            left = rest;
        }
        Ok(())
    }
}

/// Returns the number, or the offset and length of the bytes, and what follows.
#[inline]
fn read_value(wire_type: u32, bytes: &[u8], record_length: usize) -> Option<(u64, usize, &[u8])> {
    match wire_type {
        0 => read_varint64(bytes).map(|(value, rest)| (value, 0, rest)),
        1 => bytes
            .split_first_chunk()
            .map(|(value, rest)| (u64::from_le_bytes(*value), 0, rest)),
        5 => bytes
            .split_first_chunk()
            .map(|(value, rest)| (u32::from_le_bytes(*value).into(), 0, rest)),
        _ => {
            let (length, rest) = read_varint64(bytes)?;
            let length = usize::try_from(length).ok()?;
            let behind = rest.get(length..)?;
            Some(((record_length - rest.len()) as u64, length, behind))
        }
    }
}

/// Skips the value of a field that is not wanted. The error says whether groups are nested too deeply.
fn skip(number: u32, wire_type: u32, bytes: &[u8]) -> Result<&[u8], bool> {
    if wire_type != 3 {
        return read_value(wire_type, bytes, bytes.len())
            .map(|(_, _, rest)| rest)
            .ok_or(false);
    }
    let mut open = vec![number];
    let mut left = bytes;
    while let Some(&innermost) = open.last() {
        let (tag, behind) = read_varint32(left).ok_or(false)?;
        left = match (tag & 7, tag >> 3) {
            (_, 0) | (6 | 7, _) => return Err(false),
            (3, number) => {
                if open.len() >= MAX_DEPTH {
                    return Err(true);
                }
                open.push(number);
                behind
            }
            (4, number) if number == innermost => {
                open.pop();
                behind
            }
            (4, _) => return Err(false),
            (wire_type, _) => read_value(wire_type, behind, behind.len())
                .map(|(_, _, rest)| rest)
                .ok_or(false)?,
        };
    }
    Ok(left)
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

struct ColumnBuffer {
    storage: Storage,
    nullable: bool,
    validity: BooleanBufferBuilder,
    values: Values,
}

impl ColumnBuffer {
    fn new(storage: Storage, nullable: bool) -> Self {
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
        Self {
            storage,
            nullable,
            validity: BooleanBufferBuilder::new(0),
            values,
        }
    }

    /// Checks that the value fits the column.
    #[inline]
    fn check(&self, slot: Option<&Slot>, record: &[u8]) -> Result<(), RowProblem> {
        let Some(slot) = slot else {
            return match (self.nullable, self.storage, &self.values) {
                (false, ..) => Err(RowProblem::Missing),
                // A null takes room here that the record does not have.
                (true, Storage::FixedBytes(width), Values::Bytes { bytes, .. })
                    if bytes.len().saturating_add(usize::try_from(width).unwrap_or(0)) > MAX_FIXED_BYTES =>
                {
                    Err(RowProblem::Range)
                }
                _ => Ok(()),
            };
        };
        let fits = match self.storage {
            Storage::Signed(8) | Storage::Unsigned(8) | Storage::Fixed32 | Storage::Fixed64 => true,
            Storage::Bool | Storage::SmallDecimal | Storage::Bytes => true,
            Storage::Signed(width) => {
                let bound = 1_i64 << (8 * width - 1);
                (-bound..bound).contains(&unzigzag(slot.value))
            }
            Storage::Unsigned(width) => slot.value >> (8 * width) == 0,
            Storage::LargeDecimal => slot.length == 16,
            Storage::FixedBytes(width) => i32::try_from(slot.length) == Ok(width),
            Storage::Utf8 => {
                return match std::str::from_utf8(bytes(slot, record)) {
                    Ok(_) => Ok(()),
                    Err(_) => Err(RowProblem::Utf8),
                };
            }
        };
        if fits { Ok(()) } else { Err(RowProblem::Range) }
    }

    /// Appends a value that was checked, or a null.
    #[inline]
    fn append(&mut self, slot: Option<&Slot>, record: &[u8]) {
        self.validity.append(slot.is_some());
        let none = Slot::default();
        let present = slot.is_some();
        let slot = slot.unwrap_or(&none);
        let signed = matches!(self.storage, Storage::Signed(_) | Storage::SmallDecimal);
        let number = if signed {
            unzigzag(slot.value)
        } else {
            slot.value.cast_signed()
        };
        match &mut self.values {
            Values::Bits(bits) => bits.append(slot.value != 0),
            // The lower bits are the value: `check` has seen that there are no others.
            Values::W1(values) => values.push(number as i8),
            Values::W2(values) => values.push(number as i16),
            Values::W4(values) => values.push(number as i32),
            Values::W8(values) => values.push(number),
            Values::W16(values) => values.push(match self.storage {
                Storage::LargeDecimal => {
                    let stored = bytes(slot, record).try_into().map_or(0, i128::from_be_bytes);
                    if present { stored } else { 0 }
                }
                _ => number.into(),
            }),
            Values::Bytes { ends, bytes: out } => {
                if present {
                    out.extend_from_slice(bytes(slot, record));
                } else if let Storage::FixedBytes(width) = self.storage {
                    out.resize(out.len() + usize::try_from(width).unwrap_or(0), 0);
                }
                ends.push(out.len());
            }
        }
    }

    fn finish(&mut self, rows: usize, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let nulls = NullBuffer::new(self.validity.finish());
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
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

/// Returns the bytes of a value; `read_value` has checked that they are in the record.
#[inline]
fn bytes<'a>(slot: &Slot, record: &'a [u8]) -> &'a [u8] {
    let start = usize::try_from(slot.value).unwrap_or(usize::MAX);
    record.get(start..start.saturating_add(slot.length)).unwrap_or_default()
}

#[inline]
fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}
