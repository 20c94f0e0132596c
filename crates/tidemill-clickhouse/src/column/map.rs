//! `Map`: an `Array` of pairs, with the keys of all maps before the values of all maps.
//!
//! Source: `DataTypes/Serializations/SerializationMap.cpp` of ClickHouse.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, MapArray, StructArray, cast::AsArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType as ArrowType, Fields};

use super::{
    Input, Kinds, Output, Prefix,
    array::{read_offsets, row_of},
    read_values, string, write_values,
};
use crate::{
    DataType, Result,
    arrow_type::{KEY, VALUE, entries, field_of},
};

pub(super) async fn read(
    input: &mut Input<'_>,
    key: &DataType,
    value: &DataType,
    prefix: &Prefix,
    rows: usize,
) -> Result<ArrayRef> {
    let (offsets, length) = read_offsets(input, rows).await?;
    let keys = read_values(input, key, prefix.child(0), &Kinds::DEFAULT, length, None).await?;
    let values = read_values(input, value, prefix.child(1), &Kinds::DEFAULT, length, None).await?;
    let key = Arc::new(field_of(KEY, key, keys.data_type().clone()));
    let value = Arc::new(field_of(VALUE, value, values.data_type().clone()));
    let pairs = StructArray::try_new(
        Fields::from([Arc::clone(&key), Arc::clone(&value)].to_vec()),
        vec![keys, values],
        None,
    )?;
    Ok(Arc::new(MapArray::try_new(
        entries(key, value),
        offsets,
        pairs,
        None,
        false,
    )?))
}

pub(super) fn write_prefix(output: &mut Output<'_>, key: &DataType, value: &DataType, array: &dyn Array) -> Result<()> {
    let (keys, values) = pairs(output, array)?;
    super::write_prefix(output, key, &*keys)?;
    super::write_prefix(output, value, &*values)
}

pub(super) fn write(output: &mut Output<'_>, key: &DataType, value: &DataType, array: &dyn Array) -> Result<()> {
    write_with(output, array, |output, keys, values| {
        write_values(output, key, keys)?;
        write_values(output, value, values)
    })
}

/// Writes the offsets of maps, and their keys and values as `write` does.
pub(super) fn write_with(
    output: &mut Output<'_>,
    array: &dyn Array,
    write: impl FnOnce(&mut Output<'_>, &dyn Array, &dyn Array) -> Result<()>,
) -> Result<()> {
    let (keys, values) = pairs(output, array)?;
    let offsets = array.as_map().value_offsets();
    string::write_offsets(output, offsets);
    write(output, &*keys, &*values).map_err(|error| error.map_row(|at| row_of(offsets, at)))
}

/// The keys and values of the maps of an array, which may be a part of another one.
fn pairs(output: &Output<'_>, array: &dyn Array) -> Result<(ArrayRef, ArrayRef)> {
    let ArrowType::Map(_, _) = array.data_type() else {
        return Err(output.array_type("Map", array.data_type()));
    };
    let maps = array.as_map();
    let offsets = maps.value_offsets();
    let begin = offsets.first().map_or(0, |offset| offset.as_usize());
    let length = offsets.last().map_or(0, |offset| offset.as_usize()) - begin;
    Ok((maps.keys().slice(begin, length), maps.values().slice(begin, length)))
}
