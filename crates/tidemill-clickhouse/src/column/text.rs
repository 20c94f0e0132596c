//! Strings that were decoded as bytes, as text.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields, UnionFields};

use crate::DataType;

/// The values with all their strings as [`ArrowType::Utf8`], by the same buffers. States of aggregate functions are no strings:
/// a column that has them stays as it is.
///
/// # Errors
///
/// Those of Arrow, which say where bytes are not UTF-8.
pub(crate) fn as_text(data_type: &DataType, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if data_type.has_states() {
        return Ok(array.clone());
    }
    Ok(match text_type(array.data_type()) {
        Some(_) => make_array(text_data(array.to_data())?),
        None => array.clone(),
    })
}

fn text_data(data: ArrayData) -> Result<ArrayData, ArrowError> {
    let Some(data_type) = text_type(data.data_type()) else {
        return Ok(data);
    };
    let children = data.child_data().iter().cloned().map(text_data);
    let children = children.collect::<Result<Vec<_>, _>>()?;
    data.into_builder().data_type(data_type).child_data(children).build()
}

/// The type with text for bytes, `None` when it has no bytes. Its depth is that of a type of ClickHouse, which has a bound.
fn text_type(data_type: &ArrowType) -> Option<ArrowType> {
    let field = |field: &FieldRef| {
        Some(
            field
                .as_ref()
                .clone()
                .with_data_type(text_type(field.data_type())?)
                .into(),
        )
    };
    let either = |one: &FieldRef| field(one).unwrap_or_else(|| one.clone());
    Some(match data_type {
        ArrowType::Binary => ArrowType::Utf8,
        ArrowType::List(item) => ArrowType::List(field(item)?),
        ArrowType::FixedSizeList(item, length) => ArrowType::FixedSizeList(field(item)?, *length),
        ArrowType::Map(entries, is_sorted) => ArrowType::Map(field(entries)?, *is_sorted),
        ArrowType::Dictionary(key, value) => ArrowType::Dictionary(key.clone(), Box::new(text_type(value)?)),
        ArrowType::Struct(fields) => {
            fields.iter().find_map(field)?;
            ArrowType::Struct(fields.iter().map(either).collect::<Fields>())
        }
        ArrowType::Union(fields, mode) => {
            fields.iter().find_map(|(_, one)| field(one))?;
            let fields = fields.iter().map(|(id, one)| (id, either(one)));
            ArrowType::Union(fields.collect::<UnionFields>(), *mode)
        }
        _ => return None,
    })
}
