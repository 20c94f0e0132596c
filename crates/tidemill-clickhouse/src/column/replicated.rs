//! Replicated columns: values, and for each row the index of its value. Joins make them.
//!
//! The number of rows, the width of the indexes in bytes, the indexes, the number of values, and the values in the form of
//! the type.
//!
//! Source: `DataTypes/Serializations/SerializationReplicated.cpp` of ClickHouse.
//!
//! Which columns are written in this way is decided in `form`.

use arrow_array::{Array, ArrayRef, UInt32Array};

use super::{Input, Kinds, Output, Prefix, expand, kind, number::read_converted};
use crate::{DataType, Result};

pub(super) async fn read(
    input: &mut Input<'_>,
    data_type: &DataType,
    prefix: &Prefix,
    kinds: &Kinds,
    below: &[kind::Kind],
    rows: usize,
) -> Result<ArrayRef> {
    let count = input.varint("the number of indexes").await?;
    if count != rows as u64 {
        return Err(input.error("the number of indexes", rows.to_string(), count.to_string()));
    }
    let indexes = match input.u8("the width of indexes").await? {
        1 => read_converted(input, rows, |bytes| u32::from(u8::from_le_bytes(bytes))).await?,
        2 => read_converted(input, rows, |bytes| u32::from(u16::from_le_bytes(bytes))).await?,
        4 => read_converted(input, rows, u32::from_le_bytes).await?,
        8 => {
            read_converted(input, rows, |bytes| {
                u32::try_from(u64::from_le_bytes(bytes)).unwrap_or(u32::MAX)
            })
            .await?
        }
        other => return Err(input.error("the width of indexes", "1, 2, 4 or 8 bytes", other.to_string())),
    };
    let limit = input.limits().rows;
    let count = input.count("the number of values", limit).await?;
    let values = kind::read_stacked(input, data_type, prefix, kinds, below, count).await?;
    if let Some(row) = indexes
        .iter()
        .position(|index| u64::from(*index) >= values.len() as u64)
    {
        let found = format!("another in row {row}");
        return Err(input.error(
            "an index",
            format!("less than the number of values, {}", values.len()),
            found,
        ));
    }
    expand::expand(input, &*values, &UInt32Array::from(indexes))
}

/// Writes the index of each row, in the least width that holds all indexes of `values` values, and the number of values.
pub(super) fn write_indexes(output: &mut Output<'_>, indexes: &[u32], values: usize) {
    output.varint(indexes.len() as u64);
    let width = match values {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    };
    output.bytes.push(width);
    for index in indexes {
        let bytes = index.to_le_bytes();
        output.bytes.extend(bytes.iter().take(usize::from(width)));
    }
    output.varint(values as u64);
}
