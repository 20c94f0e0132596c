//! Sparse columns: only the values that are not the type's default, and how many defaults are before each.
//!
//! The counts are varints; the last one, of the defaults after the last value, has bit 62 set. Values follow in the form
//! of the type. The default of a `Nullable` type is `NULL`, and its values have no null map.
//!
//! Source: `DataTypes/Serializations/SerializationSparse.cpp` of ClickHouse.
//!
//! Which columns are written in this way is decided in `form`.

use arrow_array::{Array, ArrayRef, UInt32Array};

use super::{Input, Kinds, Output, Prefix, expand, kind};
use crate::{DataType, Result};

/// Marks the last count.
const END: u64 = 1 << 62;

pub(super) async fn read(
    input: &mut Input<'_>,
    data_type: &DataType,
    prefix: &Prefix,
    kinds: &Kinds,
    below: &[kind::Kind],
    rows: usize,
) -> Result<ArrayRef> {
    let at = read_positions(input, rows).await?;
    let (value_type, prefix, nullable) = match data_type {
        DataType::Nullable(inner) => (&**inner, prefix.child(0), true),
        other => (other, prefix, false),
    };
    let values = kind::read_stacked(input, value_type, prefix, kinds, below, at.len()).await?;
    input.charge(4 * rows as u64)?;
    // The default comes after the values.
    let default = u32::try_from(at.len()).unwrap_or(u32::MAX);
    let mut indexes = vec![(!nullable).then_some(default); rows];
    for (index, row) in (0..).zip(at) {
        if let Some(slot) = indexes.get_mut(row) {
            *slot = Some(index);
        }
    }
    let indexes = UInt32Array::from(indexes);
    if nullable {
        return expand::expand(input, &*values, &indexes);
    }
    let default = expand::zero(value_type, input)?;
    let values = if values.is_empty() {
        default
    } else {
        expand::concat(&values, &default)?
    };
    expand::expand(input, &*values, &indexes)
}

/// The rows of the values, in order.
async fn read_positions(input: &mut Input<'_>, rows: usize) -> Result<Vec<usize>> {
    let mut positions = Vec::new();
    let mut row = 0_u64;
    loop {
        let count = input.varint("the defaults before a value").await?;
        let (defaults, end) = (count & !END, count & END != 0);
        row = row.saturating_add(defaults);
        if row > rows as u64 || (end && row != rows as u64) || (!end && row == rows as u64) {
            return Err(input.error(
                "the defaults before a value",
                format!("{rows} rows"),
                format!("row {row}"),
            ));
        }
        if end {
            return Ok(positions);
        }
        input.charge(8)?;
        positions.push(usize::try_from(row).unwrap_or(usize::MAX));
        row += 1;
    }
}

/// Writes how many defaults are before each of the values at `positions`, and after the last.
pub(super) fn write_positions(output: &mut Output<'_>, positions: &[u32], rows: usize) {
    let mut next = 0;
    for position in positions {
        let position = u64::from(*position);
        output.varint(position - next);
        next = position + 1;
    }
    output.varint((rows as u64 - next) | END);
}
