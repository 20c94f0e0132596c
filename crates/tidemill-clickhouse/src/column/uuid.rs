//! `UUID`: two halves, the first eight bytes of the text form first, each half little-endian. In Arrow the bytes are in
//! the order of the text (`arrow.uuid`).
//!
//! Source: `DataTypes/Serializations/SerializationUUID.cpp` and `base/base/extended_types.h` of ClickHouse.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer};

use super::{Input, Output, fixed_string, number::read_converted};
use crate::Result;

pub(super) async fn read(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let halves = read_converted(input, rows * 2, |bytes| u64::from_le_bytes(bytes).swap_bytes()).await?;
    Ok(Arc::new(FixedSizeBinaryArray::try_new(
        16,
        Buffer::from(halves),
        nulls,
    )?))
}

pub(super) fn write(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    let begin = output.bytes.len();
    fixed_string::write(output, 16, array)?;
    let (halves, _) = output.bytes.get_mut(begin..).unwrap_or_default().as_chunks_mut::<8>();
    halves.iter_mut().for_each(|half| half.reverse());
    Ok(())
}
