//! `Array`: the ends of all lists as 64-bit numbers, counted from the beginning of the column, then the items of all lists.
//!
//! Source: `DataTypes/Serializations/SerializationArray.cpp` of ClickHouse.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, OffsetSizeTrait, cast::AsArray};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_schema::DataType as ArrowType;

use super::{Input, Kinds, Output, Prefix, number::read_scalars, read_values, string, write_values};
use crate::{
    DataType, Result,
    arrow_type::{ITEM, field_of},
};

pub(super) async fn read(input: &mut Input<'_>, item: &DataType, prefix: &Prefix, rows: usize) -> Result<ArrayRef> {
    let (offsets, length) = read_offsets(input, rows).await?;
    let items = read_values(input, item, prefix, &Kinds::DEFAULT, length, None).await?;
    let field = Arc::new(field_of(ITEM, item, items.data_type().clone()));
    Ok(Arc::new(ListArray::try_new(field, offsets, items, None)?))
}

/// Reads the offsets of lists, and how many items they have altogether.
pub(super) async fn read_offsets(input: &mut Input<'_>, rows: usize) -> Result<(OffsetBuffer<i32>, usize)> {
    let ends = read_scalars::<u64>(input, rows).await?;
    let offsets = string::offsets(input, &ends)?;
    let length = offsets.last().copied().unwrap_or_default().as_usize();
    Ok((offsets, length))
}

pub(super) fn write_prefix(output: &mut Output<'_>, item: &DataType, array: &dyn Array) -> Result<()> {
    super::write_prefix(output, item, &*items(output, array)?)
}

pub(super) fn write(output: &mut Output<'_>, item: &DataType, array: &dyn Array) -> Result<()> {
    let items = items(output, array)?;
    match array.data_type() {
        ArrowType::LargeList(_) => write_lists(output, item, &*items, array.as_list::<i64>().value_offsets()),
        ArrowType::FixedSizeList(_, length) => {
            let length = usize::try_from(*length).unwrap_or_default();
            let offsets: Vec<i64> = (0..=array.len()).map(|row| (row * length) as i64).collect();
            write_lists(output, item, &*items, &offsets)
        }
        _ => write_lists(output, item, &*items, array.as_list::<i32>().value_offsets()),
    }
}

fn write_lists<O: OffsetSizeTrait>(
    output: &mut Output<'_>,
    item: &DataType,
    items: &dyn Array,
    offsets: &[O],
) -> Result<()> {
    string::write_offsets(output, offsets);
    write_values(output, item, items).map_err(|error| error.map_row(|at| row_of(offsets, at)))
}

/// The row that has the item at this place among those of all rows.
pub(super) fn row_of<O: OffsetSizeTrait>(offsets: &[O], at: usize) -> Option<usize> {
    let first = offsets.first()?.as_usize();
    offsets
        .partition_point(|offset| offset.as_usize() <= first + at)
        .checked_sub(1)
}

/// The items of the lists of an array, which may be a part of another one.
fn items(output: &Output<'_>, array: &dyn Array) -> Result<ArrayRef> {
    let (begin, end, items) = match array.data_type() {
        ArrowType::List(_) => {
            let lists = array.as_list::<i32>();
            let offsets = lists.value_offsets();
            (
                offsets.first().map(|o| o.as_usize()),
                offsets.last().map(|o| o.as_usize()),
                lists.values(),
            )
        }
        ArrowType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let offsets = lists.value_offsets();
            (
                offsets.first().map(|o| o.as_usize()),
                offsets.last().map(|o| o.as_usize()),
                lists.values(),
            )
        }
        // A slice of an array has only its own values here.
        ArrowType::FixedSizeList(_, _) => return Ok(Arc::clone(array.as_fixed_size_list().values())),
        other => return Err(output.array_type("List", other)),
    };
    let (begin, end) = (begin.unwrap_or_default(), end.unwrap_or_default());
    Ok(items.slice(begin, end - begin))
}
