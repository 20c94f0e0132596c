//! `String`: bytes of any length.
//!
//! Up to revision 54491 each value is after its length, a varint. From 54492 on all ends come first, as 64-bit numbers
//! counted from the beginning of the column, and then all values. In Arrow both are one buffer of offsets and one of values.
//!
//! Source: `DataTypes/Serializations/SerializationString.cpp` of ClickHouse.

use std::{ops::Range, sync::Arc};

use arrow_array::{Array, ArrayRef, BinaryArray, GenericByteArray, StringArray, cast::AsArray, types::ByteArrayType};
use arrow_buffer::{ArrowNativeType, Buffer, MutableBuffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;

use super::{
    Input, Output,
    number::{byte_length, read_scalars},
};
use crate::{Error, Result, arrow_type::StringType};

pub(super) async fn read(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let strings = input.strings;
    read_as(input, rows, nulls, strings).await
}

pub(super) async fn read_as(
    input: &mut Input<'_>,
    rows: usize,
    nulls: Option<NullBuffer>,
    strings: StringType,
) -> Result<ArrayRef> {
    let (offsets, values) = if input.string_offsets() {
        read_behind_offsets(input, rows).await?
    } else {
        read_inline(input, rows).await?
    };
    match strings {
        StringType::Utf8 => match StringArray::try_new(offsets, values, nulls) {
            Ok(array) => Ok(Arc::new(array)),
            Err(error) => Err(input.error("strings", NO_TEXT, error.to_string())),
        },
        StringType::Binary | StringType::ByContent => Ok(Arc::new(BinaryArray::try_new(offsets, values, nulls)?)),
    }
}

/// Reads values after their lengths, whatever the revision says.
pub(super) async fn read_inline(input: &mut Input<'_>, rows: usize) -> Result<(OffsetBuffer<i32>, Buffer)> {
    input.charge(byte_length(input, rows, 4)? as u64)?;
    let mut values = MutableBuffer::new(0);
    let mut offsets: Vec<i32> = Vec::with_capacity((rows + 1).min(MAX_UNSEEN));
    offsets.push(0);
    while offsets.len() <= rows {
        let missing = rows + 1 - offsets.len();
        // As many as are there in whole.
        let before = values.len();
        let chunk = input.some("strings").await?;
        values.reserve(chunk.len().min(MAX_UNSEEN));
        let taken = take_whole(chunk, missing, &mut values, &mut offsets);
        let taken = taken.map_err(|()| too_long(input, values.len() as u64))?;
        input.consume(taken);
        input.charge((values.len() - before) as u64)?;
        if offsets.len() > rows {
            break;
        }
        // One that continues after what is there.
        let length = input.count("the length of a string", i32::MAX as u64).await?;
        let end = i32::try_from(values.len() + length).map_err(|_| too_long(input, (values.len() + length) as u64))?;
        let value = input.bytes(length, 1, "a string").await?;
        values.extend_from_slice(value.as_slice());
        offsets.push(end);
    }
    Ok((OffsetBuffer::new(offsets.into()), values.into()))
}

/// Takes up to `missing` values that are in `chunk` altogether, and returns how many bytes they took.
fn take_whole(chunk: &[u8], missing: usize, values: &mut MutableBuffer, offsets: &mut Vec<i32>) -> Result<usize, ()> {
    let mut at = 0;
    let mut end = values.len();
    for _ in 0..missing {
        let Some((length, begin)) = length(chunk, at) else {
            break;
        };
        let Some(value) = chunk.get(begin..).and_then(|rest| rest.get(..length)) else {
            break;
        };
        values.extend_from_slice(value);
        end += length;
        offsets.push(i32::try_from(end).map_err(|_| ())?);
        at = begin + length;
    }
    Ok(at)
}

/// The length at `at`, and where the value begins. `None` when they are not there in whole, or too long to be.
#[inline]
fn length(chunk: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = *chunk.get(at)?;
    if first < 0x80 {
        return Some((usize::from(first), at + 1));
    }
    let mut length = usize::from(first & 0x7F);
    for (index, byte) in chunk.get(at + 1..)?.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7F) << (7 * (index + 1));
        if *byte < 0x80 {
            return Some((length, at + index + 2));
        }
    }
    None
}

async fn read_behind_offsets(input: &mut Input<'_>, rows: usize) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let ends = read_scalars::<u64>(input, rows).await?;
    let offsets = offsets(input, &ends)?;
    let length = offsets.last().copied().unwrap_or_default().as_usize();
    let values = input.bytes(length, 1, "strings").await?;
    Ok((offsets, values))
}

/// The offsets of Arrow for the ends of ClickHouse.
pub(super) fn offsets(input: &mut Input<'_>, ends: &[u64]) -> Result<OffsetBuffer<i32>> {
    let last = ends.last().copied().unwrap_or_default();
    if last > i32::MAX as u64 {
        return Err(too_long(input, last));
    }
    input.charge(4 * (ends.len() as u64 + 1))?;
    let mut offsets: Vec<i32> = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    // Those that are too large are larger than the last, and found with those that are out of order.
    offsets.extend(ends.iter().map(|end| i32::try_from(*end).unwrap_or(i32::MAX)));
    if let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let found = format!("an end before that of the row before, in row {row}");
        return Err(input.error("offsets", "ends in order", found));
    }
    Ok(OffsetBuffer::new(offsets.into()))
}

fn too_long(_: &Input<'_>, found: u64) -> Error {
    Error::Limit {
        what: "values of one column of a block",
        limit: i32::MAX as u64,
        found,
    }
}

pub(super) fn write(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    if output.string_offsets() {
        write_behind_offsets(output, array)
    } else {
        write_inline(output, array)
    }
}

/// Writes values after their lengths, whatever the revision says.
pub(super) fn write_inline(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    match array.data_type() {
        ArrowType::Utf8 => write_array_inline(output, array.as_string::<i32>()),
        ArrowType::Binary => write_array_inline(output, array.as_binary::<i32>()),
        ArrowType::LargeUtf8 => write_array_inline(output, array.as_string::<i64>()),
        ArrowType::LargeBinary => write_array_inline(output, array.as_binary::<i64>()),
        _ => with_values(output, array, &mut |output, values| {
            values.for_each(|value| output.string(value));
        })?,
    }
    Ok(())
}

fn write_array_inline<T: ByteArrayType>(output: &mut Output<'_>, array: &GenericByteArray<T>) {
    let offsets = array.value_offsets();
    let values = array.value_data();
    let (first, last) = (offsets.first(), offsets.last());
    let length = last.map_or(0, |end| end.as_usize()) - first.map_or(0, |begin| begin.as_usize());
    // Most lengths take a byte.
    output.bytes.reserve(length + array.len() + array.len() / 4);
    let mut begin = first.map_or(0, |begin| begin.as_usize());
    for end in offsets.iter().skip(1) {
        let end = end.as_usize();
        output.string(values.get(begin..end).unwrap_or_default());
        begin = end;
    }
}

fn write_behind_offsets(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    match array.data_type() {
        ArrowType::Utf8 => write_array_behind_offsets(output, array.as_string::<i32>()),
        ArrowType::Binary => write_array_behind_offsets(output, array.as_binary::<i32>()),
        ArrowType::LargeUtf8 => write_array_behind_offsets(output, array.as_string::<i64>()),
        ArrowType::LargeBinary => write_array_behind_offsets(output, array.as_binary::<i64>()),
        _ => {
            let mut all = Vec::new();
            with_values(output, array, &mut |output, values| {
                for value in values {
                    all.extend_from_slice(value);
                    output.u64(all.len() as u64);
                }
            })?;
            output.bytes.extend_from_slice(&all);
        }
    }
    Ok(())
}

fn write_array_behind_offsets<T: ByteArrayType>(output: &mut Output<'_>, array: &GenericByteArray<T>) {
    let Range { start, end } = write_offsets(output, array.value_offsets());
    output
        .bytes
        .extend_from_slice(array.value_data().get(start..end).unwrap_or_default());
}

/// Writes the ends that belong to `offsets`, counted from the first, and returns the range of values they span.
pub(super) fn write_offsets<O: ArrowNativeType>(output: &mut Output<'_>, offsets: &[O]) -> Range<usize> {
    let start = offsets.first().map_or(0, |start| start.as_usize());
    output.bytes.reserve(offsets.len() * 8);
    let ends = offsets.iter().skip(1).map(|end| (end.as_usize() - start) as u64);
    output.bytes.extend(ends.flat_map(u64::to_le_bytes));
    start..offsets.last().map_or(0, |end| end.as_usize())
}

/// Writes values without anything between them.
pub(super) fn write_without_lengths(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    match array.data_type() {
        ArrowType::Binary => {
            let values = array.as_binary::<i32>();
            let range = values.value_offsets().first().zip(values.value_offsets().last());
            let (begin, end) = range.map_or((0, 0), |(begin, end)| (begin.as_usize(), end.as_usize()));
            output
                .bytes
                .extend_from_slice(values.value_data().get(begin..end).unwrap_or_default());
            Ok(())
        }
        other => Err(output.array_type("Binary", other)),
    }
}

/// Writes values that come one by one.
type WriteValues<'a> = dyn FnMut(&mut Output<'_>, &mut dyn Iterator<Item = &[u8]>) + 'a;

/// Gives `write` the values of an array of any string type.
fn with_values(output: &mut Output<'_>, array: &dyn Array, write: &mut WriteValues<'_>) -> Result<()> {
    match array.data_type() {
        ArrowType::Utf8View => write(
            output,
            &mut array
                .as_string_view()
                .iter()
                .map(|value| value.unwrap_or_default().as_bytes()),
        ),
        ArrowType::BinaryView => write(
            output,
            &mut array.as_binary_view().iter().map(Option::unwrap_or_default),
        ),
        ArrowType::FixedSizeBinary(_) => {
            write(
                output,
                &mut array.as_fixed_size_binary().iter().map(Option::unwrap_or_default),
            );
        }
        other => return Err(output.array_type("a string type", other)),
    }
    Ok(())
}

const MAX_UNSEEN: usize = 1 << 20;
/// What strings of a column of text must be, and what to do when they are not.
pub(crate) const NO_TEXT: &str = "UTF-8; with the option `binary_strings=true` they are read as Binary";
