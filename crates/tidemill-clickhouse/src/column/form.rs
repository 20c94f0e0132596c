//! How a column is written: in the serialization of its type, or in another kind over it, where the reader knows that kind
//! and it is shorter.
//!
//! ClickHouse decides by the column that it has in memory (`Formats/NativeWriter.cpp`); here what decides is the array: the
//! share of default values in it, and whether it is a dictionary. Readers accept any kind that their revision knows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray, UInt32Array, cast::AsArray, new_null_array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType as ArrowType;
use arrow_select::take::take;

use super::{
    Output, expand,
    kind::{Kind, element_types},
    replicated, sparse, write_prefix, write_valid_values, write_values,
};
use crate::{DataType, Result, revision::Revision};

/// When columns are written in another form than that of their type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The least share of default values in a sparse column.
    pub(crate) sparse_from: Option<f64>,
    /// Whether a dictionary is written as one.
    pub(crate) replicated: bool,
    pub(crate) revision: Revision,
}

/// What is written of a column.
pub(crate) enum Form {
    /// The values, in the serialization of the type.
    Own(ArrayRef),
    /// The values at these rows, of so many. All others are the default.
    Sparse {
        array: ArrayRef,
        positions: UInt32Array,
        rows: usize,
    },
    /// Values, and which of them each row has.
    Replicated { values: ArrayRef, indexes: Vec<u32> },
    /// A tuple of which an element has another form than its own.
    Tuple(Vec<Self>),
}

impl Form {
    /// Decides for a column of `data_type`.
    pub(crate) fn of(choice: &Choice, data_type: &DataType, array: &ArrayRef) -> Result<Self> {
        if matches!(array.data_type(), ArrowType::Dictionary(_, _)) && !has_dictionary(data_type) {
            return Self::of_dictionary(choice, data_type, array);
        }
        match (data_type, array.as_struct_opt()) {
            (DataType::Tuple(_) | DataType::Point, Some(tuples)) => Self::of_tuple(choice, data_type, array, tuples),
            _ => Ok(Self::sparse(choice, data_type, array).unwrap_or_else(|| Self::Own(Arc::clone(array)))),
        }
    }

    fn of_dictionary(choice: &Choice, data_type: &DataType, array: &ArrayRef) -> Result<Self> {
        let dictionary = array.as_any_dictionary();
        let nulls = dictionary.nulls().filter(|nulls| nulls.null_count() > 0);
        let has_null = nulls.is_some() || dictionary.values().null_count() > 0;
        let is_nullable = matches!(data_type, DataType::Nullable(_));
        let is_shorter = dictionary.values().len() < array.len();
        let is_known = choice.revision >= Revision::REPLICATED_SERIALIZATION;
        if !choice.replicated || !is_known || !is_shorter || (has_null && !is_nullable) {
            let values = take(dictionary.values(), dictionary.keys(), None)?;
            return Self::of(choice, data_type, &values);
        }
        let mut values = Arc::clone(dictionary.values());
        // Null rows have the value behind all others.
        let null = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if nulls.is_some() {
            values = expand::concat(&values, &new_null_array(values.data_type(), 1))?;
        }
        let keys = dictionary.normalized_keys();
        let index = |(row, key): (usize, &usize)| match nulls {
            Some(nulls) if nulls.is_null(row) => null,
            _ => u32::try_from(*key).unwrap_or(u32::MAX),
        };
        let indexes = keys.iter().enumerate().map(index).collect();
        Ok(Self::Replicated { values, indexes })
    }

    fn of_tuple(choice: &Choice, data_type: &DataType, array: &ArrayRef, tuples: &StructArray) -> Result<Self> {
        let own = || Ok(Self::Own(Arc::clone(array)));
        let types = element_types(data_type);
        // What does not fit is refused where it is written. Where a tuple is null its elements may be.
        if types.len() != tuples.num_columns() || tuples.null_count() > 0 {
            return own();
        }
        let columns = types.iter().zip(tuples.columns());
        let forms = columns.map(|(data_type, column)| Self::of(choice, data_type, column));
        let forms = forms.collect::<Result<Vec<_>>>()?;
        let is_own =
            |(form, column): (&Self, &ArrayRef)| matches!(form, Self::Own(array) if Arc::ptr_eq(array, column));
        if forms.iter().zip(tuples.columns()).all(is_own) {
            return own();
        }
        Ok(Self::Tuple(forms))
    }

    /// The sparse form, if there is one and there are defaults enough.
    fn sparse(choice: &Choice, data_type: &DataType, array: &ArrayRef) -> Option<Self> {
        let least = choice.sparse_from?;
        let since = match data_type {
            DataType::Nullable(_) => Revision::NULLABLE_SPARSE_SERIALIZATION,
            _ => Revision::SPARSE_SERIALIZATION,
        };
        if choice.revision < since || array.is_empty() || !may_be_sparse(data_type) {
            return None;
        }
        let is_set = match (data_type, array.nulls()) {
            (DataType::Nullable(_), nulls) => nulls?.inner().clone(),
            // It is refused where it is written.
            (_, Some(nulls)) if nulls.null_count() > 0 => return None,
            _ => expand::non_zero(&**array)?,
        };
        let rows = array.len();
        let defaults = rows - is_set.count_set_bits();
        // Lossless up to 2^53 rows.
        if (defaults as f64) < least * rows as f64 {
            return None;
        }
        Some(Self::Sparse {
            array: Arc::clone(array),
            positions: positions(&is_set),
            rows,
        })
    }

    /// Whether a column has another form than that of its type.
    pub(crate) fn is_custom(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Sparse { .. } | Self::Replicated { .. } => true,
            Self::Tuple(elements) => elements.iter().any(Self::is_custom),
        }
    }

    /// Writes the kinds of the column and of the elements of a tuple, as [`super::Kinds::read`] reads them.
    pub(crate) fn write_kinds(&self, output: &mut Output<'_>, data_type: &DataType) {
        output.bytes.push(match self {
            Self::Own(_) | Self::Tuple(_) => 0,
            Self::Sparse { .. } => Kind::Sparse.number(),
            Self::Replicated { .. } => Kind::Replicated.number(),
        });
        let types = element_types(data_type);
        match self {
            Self::Tuple(forms) => {
                let elements = forms.iter().zip(&types);
                elements.for_each(|(form, element)| form.write_kinds(output, element));
            }
            _ => types.iter().for_each(|element| write_own_kinds(output, element)),
        }
    }

    /// Writes the prefix of the column.
    pub(crate) fn write_prefix(&self, output: &mut Output<'_>, data_type: &DataType) -> Result<()> {
        match self {
            Self::Own(array) | Self::Sparse { array, .. } | Self::Replicated { values: array, .. } => {
                write_prefix(output, data_type, &**array)
            }
            Self::Tuple(forms) => {
                let types = element_types(data_type);
                let mut elements = forms.iter().zip(&types);
                elements.try_for_each(|(form, element)| form.write_prefix(output, element))
            }
        }
    }

    /// Writes the values of the column.
    pub(crate) fn write_values(&self, output: &mut Output<'_>, data_type: &DataType) -> Result<()> {
        match self {
            Self::Own(array) => write_values(output, data_type, &**array),
            Self::Sparse { array, positions, rows } => {
                let inner = match data_type {
                    DataType::Nullable(inner) => inner,
                    other => other,
                };
                // An array that does not fit is refused even when none of its values is written.
                let end = output.bytes.len();
                write_valid_values(output, inner, &*array.slice(0, 1))?;
                output.bytes.truncate(end);
                sparse::write_positions(output, positions.values(), *rows);
                let row_of = |at: usize| positions.values().get(at).map(|row| *row as usize);
                write_valid_values(output, inner, &*take(array, positions, None)?)
                    .map_err(|error| error.map_row(row_of))
            }
            Self::Replicated { values, indexes } => {
                replicated::write_indexes(output, indexes, values.len());
                let row_of = |at: usize| indexes.iter().position(|index| *index as usize == at);
                write_values(output, data_type, &**values).map_err(|error| error.map_row(row_of))
            }
            Self::Tuple(forms) => {
                let types = element_types(data_type);
                let mut elements = forms.iter().zip(&types);
                elements.try_for_each(|(form, element)| form.write_values(output, element))
            }
        }
    }
}

fn write_own_kinds(output: &mut Output<'_>, data_type: &DataType) {
    output.bytes.push(0);
    for element in &element_types(data_type) {
        write_own_kinds(output, element);
    }
}

/// Whether the values of a type are a dictionary in Arrow.
fn has_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::LowCardinality(_) | DataType::Enum8(_) | DataType::Enum16(_) => true,
        DataType::Nullable(inner) => has_dictionary(inner),
        other => other.underlying().is_some_and(|inner| has_dictionary(&inner)),
    }
}

/// Whether ClickHouse has sparse columns of a type. Which arrays have a default that is all zeros is another matter.
fn may_be_sparse(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nullable(inner) => may_be_sparse(inner),
        DataType::SimpleAggregateFunction(function) => function.arguments.first().is_some_and(may_be_sparse),
        DataType::Enum8(_)
        | DataType::Enum16(_)
        | DataType::Nothing
        | DataType::Array(_)
        | DataType::Tuple(_)
        | DataType::Map(..)
        | DataType::LowCardinality(_)
        | DataType::Variant(_)
        | DataType::Dynamic { .. }
        | DataType::Json(_)
        | DataType::QBit(..)
        | DataType::AggregateFunction(_) => false,
        other => other.underlying().is_none(),
    }
}

/// The rows of the bits that are set. A block has fewer than 2^32 rows.
fn positions(bits: &BooleanBuffer) -> UInt32Array {
    bits.set_indices()
        .map(|row| u32::try_from(row).unwrap_or(u32::MAX))
        .collect()
}
