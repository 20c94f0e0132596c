//! `FixedString`: the bytes of all values, one after the other. Other types of fixed width that Arrow has no number for
//! (`IPv6`, integers of 256 bits) have the same form.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;

use super::{Input, Output, number::byte_length};
use crate::Result;

pub(super) async fn read(
    input: &mut Input<'_>,
    length: u32,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (width, size) = sizes(length);
    let bytes = input
        .bytes(byte_length(input, rows, width)?, 1, "values of fixed length")
        .await?;
    Ok(Arc::new(FixedSizeBinaryArray::try_new(size, bytes, nulls)?))
}

pub(super) fn write(output: &mut Output<'_>, length: u32, array: &dyn Array) -> Result<()> {
    let (width, size) = sizes(length);
    match array.data_type() {
        ArrowType::FixedSizeBinary(found) if *found == size => {
            // A slice of an array has only its own values here.
            let values = array.as_fixed_size_binary();
            output
                .bytes
                .extend_from_slice(values.value_data().get(..values.len() * width).unwrap_or_default());
            Ok(())
        }
        found => Err(output.array_type(ArrowType::FixedSizeBinary(size).to_string(), found)),
    }
}

/// The length as Arrow and memory count. Types are shorter than 2^24.
fn sizes(length: u32) -> (usize, i32) {
    let size = i32::try_from(length).unwrap_or(i32::MAX);
    (usize::try_from(size).unwrap_or_default(), size)
}
