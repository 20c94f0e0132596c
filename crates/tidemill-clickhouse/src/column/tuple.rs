//! `Tuple`: the columns of the elements, one after the other. A tuple without elements is a byte for each value.
//!
//! Source: `DataTypes/Serializations/SerializationTuple.cpp` of ClickHouse.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Fields};

use super::{Input, Kinds, Output, Prefix, kind, nothing, write_valid_values, write_values};
use crate::{
    DataType, Result,
    arrow_type::{element_names, field_of},
    data_type::Element,
};

pub(super) async fn read(
    input: &mut Input<'_>,
    elements: &[Element],
    prefix: &Prefix,
    kinds: &Kinds,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    if elements.is_empty() {
        nothing::skip(input, rows).await?;
        return Ok(Arc::new(StructArray::new_empty_fields(rows, nulls)));
    }
    let mut fields = Vec::with_capacity(elements.len());
    let mut columns = Vec::with_capacity(elements.len());
    for (index, (element, name)) in elements.iter().zip(element_names(elements)).enumerate() {
        let column = kind::read(input, &element.data_type, prefix.child(index), kinds.child(index), rows).await?;
        fields.push(field_of(name, &element.data_type, column.data_type().clone()));
        columns.push(column);
    }
    Ok(Arc::new(StructArray::try_new(Fields::from(fields), columns, nulls)?))
}

/// Reads points, whose coordinates have names in Arrow.
pub(super) async fn read_point(
    input: &mut Input<'_>,
    kinds: &Kinds,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (x, y) = (
        kind::read(input, &DataType::Float64, &Prefix::None, kinds.child(0), rows).await?,
        kind::read(input, &DataType::Float64, &Prefix::None, kinds.child(1), rows).await?,
    );
    let fields = ["x", "y"].map(|name| field_of(name, &DataType::Float64, ArrowType::Float64));
    Ok(Arc::new(StructArray::try_new(
        Fields::from(fields.to_vec()),
        vec![x, y],
        nulls,
    )?))
}

pub(super) fn write_prefix(output: &mut Output<'_>, elements: &[Element], array: &dyn Array) -> Result<()> {
    let columns = columns(output, elements.len(), array)?;
    let mut pairs = elements.iter().zip(columns);
    pairs.try_for_each(|(element, column)| super::write_prefix(output, &element.data_type, column))
}

pub(super) fn write(output: &mut Output<'_>, elements: &[Element], array: &dyn Array) -> Result<()> {
    let columns = columns(output, elements.len(), array)?;
    if elements.is_empty() {
        nothing::write(output, array.len());
    }
    for (element, column) in elements.iter().zip(columns) {
        // Where the tuple is null its elements may be, too.
        if array.null_count() == 0 {
            write_values(output, &element.data_type, column)?;
        } else {
            write_valid_values(output, &element.data_type, column)?;
        }
    }
    Ok(())
}

pub(super) fn write_point(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    let coordinates = [DataType::Float64, DataType::Float64].map(Element::unnamed);
    write(output, &coordinates, array)
}

/// The columns of a struct with `count` fields, whatever their names.
fn columns<'a>(output: &Output<'_>, count: usize, array: &'a dyn Array) -> Result<&'a [ArrayRef]> {
    match array.as_struct_opt() {
        Some(tuples) if tuples.num_columns() == count => Ok(tuples.columns()),
        _ => Err(output.array_type(format!("Struct of {count} fields"), array.data_type())),
    }
}
