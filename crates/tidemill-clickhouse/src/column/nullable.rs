//! `Nullable`: a byte for each row, 1 where it is `NULL`, then values for all rows.
//!
//! Source: `DataTypes/Serializations/SerializationNullable.cpp` of ClickHouse.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;

use super::{Input, Kinds, Output, Prefix, boolean, read_values, write_valid_values};
use crate::{DataType, Result};

pub(super) async fn read(
    input: &mut Input<'_>,
    inner: &DataType,
    prefix: &Prefix,
    kinds: &Kinds,
    rows: usize,
) -> Result<ArrayRef> {
    let map = input.bytes(rows, 1, "a null map").await?;
    let nulls = NullBuffer::new(!&boolean::pack(map.as_slice()));
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    read_values(input, inner, prefix, kinds, rows, nulls).await
}

pub(super) fn write(output: &mut Output<'_>, inner: &DataType, array: &dyn Array) -> Result<()> {
    // An array of the type Null has no null map of its own.
    let nulls = match array.data_type() {
        ArrowType::Null => array.logical_nulls(),
        _ => array.nulls().cloned(),
    };
    match nulls {
        Some(nulls) => boolean::unpack(output.bytes, nulls.inner(), 1),
        None => output.bytes.resize(output.bytes.len() + array.len(), 0),
    }
    write_valid_values(output, inner, array)
}
