//! Replicated columns: values, and for each row the index of its value. Joins make them.
//!
//! The number of rows, the width of the indexes in bytes, the indexes, the number of values, and the values in the form of
//! the type.
//!
//! Source: `DataTypes/Serializations/SerializationReplicated.cpp` of ClickHouse.
//!
//! Columns are never written in this way: servers accept any form.

use arrow_array::{Array, ArrayRef, UInt32Array};

use super::{Input, Kinds, Prefix, expand, kind, number::read_converted};
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
