//! What several serializations do with arrays: pick rows, also many times, and find the different ones.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, DictionaryArray, GenericByteArray, ListArray, MapArray,
    PrimitiveArray, StructArray, UInt32Array,
    cast::AsArray,
    downcast_primitive_array, make_array, new_null_array,
    types::{ByteArrayType, Int32Type, UInt32Type},
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType};
use arrow_select::take::{TakeOptions, take};

use super::{Input, Kinds, Prefix, read_values, run};
use crate::{DataType, Result, column::Limits, revision::Revision, source::SliceSource};

/// The rows of `array` that `indexes` say; a null index is a null row.
///
/// Few bytes can ask for much memory here, so what the rows take is charged first.
pub(super) fn expand(input: &mut Input<'_>, array: &dyn Array, indexes: &UInt32Array) -> Result<ArrayRef> {
    let sizes = RowSizes::of(array);
    let total = indexes
        .iter()
        .flatten()
        .fold(0_u64, |total, index| total.saturating_add(sizes.row(index.as_usize())));
    input.charge(total)?;
    Ok(take(array, indexes, Some(TakeOptions { check_bounds: true }))?)
}

/// `first`, then `second`.
pub(super) fn concat(first: &dyn Array, second: &dyn Array) -> Result<ArrayRef> {
    Ok(arrow_select::concat::concat(&[first, second])?)
}

/// The value of a sparse column where none is written, as the columns of `like` have it: the one whose bytes are all zero.
pub(super) fn zero(data_type: &DataType, like: &Input<'_>) -> Result<ArrayRef> {
    let width = match data_type {
        DataType::FixedString(length) => usize::try_from(*length).unwrap_or(usize::MAX),
        _ => MAX_WIDTH,
    };
    let zeros = vec![0; width];
    let mut source = SliceSource::new(&zeros);
    let mut input = Input::new(&mut source, Revision::FILE, like.strings, Limits::default());
    input.session_zone.clone_from(&like.session_zone);
    run(read_values(
        &mut input,
        data_type,
        &Prefix::None,
        &Kinds::DEFAULT,
        1,
        None,
    ))
}

/// The rows whose values are not all zeros, or without bytes: those that a sparse column has. `None` for arrays of other
/// types.
pub(super) fn non_zero(array: &dyn Array) -> Option<BooleanBuffer> {
    Some(match array.data_type() {
        ArrowType::Boolean => array.as_boolean().values().clone(),
        ArrowType::Utf8 => non_empty(array.as_string::<i32>()),
        ArrowType::LargeUtf8 => non_empty(array.as_string::<i64>()),
        ArrowType::Binary => non_empty(array.as_binary::<i32>()),
        ArrowType::LargeBinary => non_empty(array.as_binary::<i64>()),
        ArrowType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            BooleanBuffer::collect_bool(values.len(), |row| values.value(row).iter().any(|byte| *byte != 0))
        }
        _ => downcast_primitive_array!(
            array => {
                let values = array.values();
                let zero = Default::default();
                // Negative zero is not the default.
                BooleanBuffer::collect_bool(values.len(), |row| values.get(row).is_some_and(|value| value.is_ne(zero)))
            },
            _ => return None
        ),
    })
}

fn non_empty<T: ByteArrayType>(array: &GenericByteArray<T>) -> BooleanBuffer {
    let offsets = array.value_offsets();
    BooleanBuffer::collect_bool(array.len(), |row| offsets.get(row) != offsets.get(row + 1))
}

/// A value of this Arrow type: 0, or no bytes.
pub(super) fn default_value(arrow_type: &ArrowType) -> Result<ArrayRef> {
    without_nulls(&new_null_array(arrow_type, 1))
}

/// The same values, with some value where there was none.
pub(super) fn without_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    if array.nulls().is_none() {
        return Ok(Arc::clone(array));
    }
    Ok(make_array(array.to_data().into_builder().nulls(None).build()?))
}

/// The different values of an array and where they are; null rows have null keys.
pub(crate) fn to_dictionary(array: &dyn Array) -> Result<DictionaryArray<Int32Type>, ArrowError> {
    match array.data_type() {
        ArrowType::Utf8 => bytes_to_dictionary(
            array,
            array.as_string::<i32>().iter().map(|value| value.map(str::as_bytes)),
        ),
        ArrowType::LargeUtf8 => bytes_to_dictionary(
            array,
            array.as_string::<i64>().iter().map(|value| value.map(str::as_bytes)),
        ),
        ArrowType::Utf8View => bytes_to_dictionary(
            array,
            array.as_string_view().iter().map(|value| value.map(str::as_bytes)),
        ),
        ArrowType::Binary => bytes_to_dictionary(array, array.as_binary::<i32>().iter()),
        ArrowType::LargeBinary => bytes_to_dictionary(array, array.as_binary::<i64>().iter()),
        ArrowType::BinaryView => bytes_to_dictionary(array, array.as_binary_view().iter()),
        ArrowType::FixedSizeBinary(_) => bytes_to_dictionary(array, array.as_fixed_size_binary().iter()),
        _ => downcast_primitive_array!(
            array => primitive_to_dictionary(array),
            other => Err(ArrowError::NotYetImplemented(format!("a dictionary of {other}")))
        ),
    }
}

fn primitive_to_dictionary<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
) -> Result<DictionaryArray<Int32Type>, ArrowError> {
    let width = size_of::<T::Native>();
    let bytes = array.values().inner().as_slice().chunks_exact(width);
    bytes_to_dictionary(
        array,
        bytes
            .enumerate()
            .map(|(row, bytes)| array.is_valid(row).then_some(bytes)),
    )
}

fn bytes_to_dictionary<'a>(
    array: &dyn Array,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<DictionaryArray<Int32Type>, ArrowError> {
    let mut seen: HashMap<&[u8], i32> = HashMap::new();
    let mut first_rows: Vec<u32> = Vec::new();
    let mut keys = Vec::with_capacity(array.len());
    for (row, value) in (0_u32..).zip(values) {
        keys.push(match value {
            None => 0,
            Some(value) => *seen.entry(value).or_insert_with(|| {
                first_rows.push(row);
                i32::try_from(first_rows.len() - 1).unwrap_or(i32::MAX)
            }),
        });
    }
    let values = take(array, &PrimitiveArray::<UInt32Type>::from(first_rows), None)?;
    DictionaryArray::try_new(PrimitiveArray::try_new(keys.into(), array.nulls().cloned())?, values)
}

/// The same values without dictionaries among them.
pub(crate) fn without_dictionaries(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        ArrowType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            take(dictionary.values(), dictionary.keys(), None)?
        }
        ArrowType::List(field) => {
            let lists = array.as_list::<i32>();
            let items = without_dictionaries(lists.values())?;
            let field = Arc::new(field.as_ref().clone().with_data_type(items.data_type().clone()));
            Arc::new(ListArray::try_new(
                field,
                lists.offsets().clone(),
                items,
                lists.nulls().cloned(),
            )?)
        }
        ArrowType::Map(entries, sorted) => {
            let maps = array.as_map();
            let pairs = without_dictionaries(&(Arc::new(maps.entries().clone()) as ArrayRef))?;
            let entries = Arc::new(entries.as_ref().clone().with_data_type(pairs.data_type().clone()));
            let (offsets, nulls) = (maps.offsets().clone(), maps.nulls().cloned());
            Arc::new(MapArray::try_new(
                entries,
                offsets,
                pairs.as_struct().clone(),
                nulls,
                *sorted,
            )?)
        }
        ArrowType::Struct(fields) if !fields.is_empty() => {
            let structs = array.as_struct();
            let columns = structs
                .columns()
                .iter()
                .map(without_dictionaries)
                .collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&columns);
            let fields =
                fields.map(|(field, column)| field.as_ref().clone().with_data_type(column.data_type().clone()));
            Arc::new(StructArray::try_new(
                fields.collect(),
                columns,
                structs.nulls().cloned(),
            )?)
        }
        _ => Arc::clone(array),
    })
}

/// How many bytes the rows of an array take.
enum RowSizes {
    Same(u64),
    /// The sum of the sizes of the rows before each row, and of all.
    Sums(Vec<u64>),
}

impl RowSizes {
    fn of(array: &dyn Array) -> Self {
        match array.data_type() {
            ArrowType::Utf8 => Self::of_bytes(array.as_string::<i32>()),
            ArrowType::Binary => Self::of_bytes(array.as_binary::<i32>()),
            ArrowType::List(_) => {
                let lists = array.as_list::<i32>();
                Self::of_lists(lists.offsets(), &Self::of(lists.values()))
            }
            ArrowType::Map(_, _) => {
                let maps = array.as_map();
                Self::of_lists(maps.offsets(), &Self::of(maps.entries()))
            }
            ArrowType::FixedSizeList(_, length) => {
                let item = Self::of(array.as_fixed_size_list().values()).row(0);
                Self::Same(
                    item.saturating_mul(u64::try_from(*length).unwrap_or_default())
                        .saturating_add(1),
                )
            }
            ArrowType::FixedSizeBinary(length) => Self::Same(u64::try_from(*length).unwrap_or_default() + 1),
            ArrowType::Struct(_) => {
                let columns: Vec<Self> = array
                    .as_struct()
                    .columns()
                    .iter()
                    .map(|column| Self::of(column))
                    .collect();
                Self::sums((0..array.len()).map(|row| columns.iter().map(|column| column.row(row)).sum::<u64>() + 1))
            }
            ArrowType::Union(_, _) => {
                let unions = array.as_union();
                let members: HashMap<i8, Self> = match array.data_type() {
                    ArrowType::Union(fields, _) => {
                        fields.iter().map(|(id, _)| (id, Self::of(unions.child(id)))).collect()
                    }
                    _ => HashMap::new(),
                };
                Self::sums((0..array.len()).map(|row| {
                    let member = members.get(&unions.type_id(row));
                    member.map_or(0, |member| member.row(unions.value_offset(row))) + 5
                }))
            }
            other => Self::Same(other.primitive_width().map_or(4, |width| width as u64) + 1),
        }
    }

    fn of_bytes<T: ByteArrayType<Offset = i32>>(array: &arrow_array::GenericByteArray<T>) -> Self {
        Self::of_lists(array.offsets(), &Self::Same(1))
    }

    fn of_lists(offsets: &OffsetBuffer<i32>, items: &Self) -> Self {
        Self::sums(offsets.windows(2).map(|pair| {
            let (begin, end) = (pair[0].as_usize(), pair[1].as_usize());
            items.sum(end).saturating_sub(items.sum(begin)) + 5
        }))
    }

    fn sums(sizes: impl Iterator<Item = u64>) -> Self {
        let mut total = 0_u64;
        let sums = std::iter::once(0).chain(sizes.map(|size| {
            total = total.saturating_add(size);
            total
        }));
        Self::Sums(sums.collect())
    }

    /// The size of the rows before `row`.
    fn sum(&self, row: usize) -> u64 {
        match self {
            Self::Same(size) => size.saturating_mul(row as u64),
            Self::Sums(sums) => sums.get(row).copied().unwrap_or_default(),
        }
    }

    fn row(&self, row: usize) -> u64 {
        self.sum(row + 1).saturating_sub(self.sum(row))
    }
}

/// The widest value of any type but `FixedString`.
const MAX_WIDTH: usize = 32;
