//! `LowCardinality`: a dictionary of values and an index into it for each row.
//!
//! The prefix is a version, 1. Then come flags with the width of the indexes, the values, and the indexes; nothing at all
//! when there are no rows. The first value of the dictionary is the type's default; for `Nullable` types it stands for
//! `NULL`, and the values themselves are not nullable. In Arrow it is a dictionary with keys of 32 bits, `NULL` being a null
//! key.
//!
//! Source: `DataTypes/Serializations/SerializationLowCardinality.cpp` of ClickHouse.
//!
//! Dictionaries that several blocks share are not a part of `Native`, and refused.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, cast::AsArray, types::Int32Type};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType as ArrowType;

use super::{Input, Kinds, Output, Prefix, expand, number::read_converted, read_values, write_values};
use crate::{DataType, Result};

/// The version in the prefix.
const VERSION: u64 = 1;
/// A dictionary of several blocks is needed.
const NEEDS_GLOBAL_DICTIONARY: u64 = 1 << 8;
/// The values are a part of the block.
const HAS_ADDITIONAL_KEYS: u64 = 1 << 9;
/// The dictionary of several blocks changes.
const NEEDS_UPDATE: u64 = 1 << 10;

pub(super) async fn read_prefix(input: &mut Input<'_>) -> Result<()> {
    match input.u64("the version of a dictionary").await? {
        VERSION => Ok(()),
        other => Err(input.error("the version of a dictionary", VERSION.to_string(), other.to_string())),
    }
}

pub(super) async fn read(input: &mut Input<'_>, inner: &DataType, rows: usize) -> Result<ArrayRef> {
    let (value_type, nullable) = value_type(inner);
    let flags = input.u64("the flags of a dictionary").await?;
    if flags & (NEEDS_GLOBAL_DICTIONARY | HAS_ADDITIONAL_KEYS) != HAS_ADDITIONAL_KEYS {
        let expected = "values in the block itself";
        return Err(input.error("the flags of a dictionary", expected, format!("0x{flags:x}")));
    }
    let count = input.u64("the size of a dictionary").await?;
    if count > i32::MAX as u64 {
        return Err(input.error(
            "the size of a dictionary",
            "at most 2147483647 values",
            count.to_string(),
        ));
    }
    let values = usize::try_from(count).unwrap_or_default();
    input.in_dictionary = true;
    let values = read_values(input, value_type, &Prefix::None, &Kinds::DEFAULT, values, None).await?;
    input.in_dictionary = false;
    let indexes = input.u64("the number of indexes").await?;
    if indexes != rows as u64 {
        return Err(input.error("the number of indexes", rows.to_string(), indexes.to_string()));
    }
    let keys = match flags & !(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE) {
        0 => read_converted(input, rows, |bytes| i32::from(u8::from_le_bytes(bytes))).await?,
        1 => read_converted(input, rows, |bytes| i32::from(u16::from_le_bytes(bytes))).await?,
        // Those that are too large become negative, which no key may be.
        2 => read_converted(input, rows, i32::from_le_bytes).await?,
        3 => {
            read_converted(input, rows, |bytes| {
                i32::try_from(u64::from_le_bytes(bytes)).unwrap_or(-1)
            })
            .await?
        }
        _ => {
            return Err(input.error(
                "the flags of a dictionary",
                "a width of indexes",
                format!("0x{flags:x}"),
            ));
        }
    };
    let nulls = nullable.then(|| NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| keys.get(row) != Some(&0))));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let size = values.len();
    if let Some(row) = keys
        .iter()
        .position(|key| usize::try_from(*key).map_or(true, |key| key >= size))
    {
        let found = format!("another in row {row}");
        return Err(input.error("an index", format!("less than the dictionary's size, {size}"), found));
    }
    let keys = PrimitiveArray::<Int32Type>::try_new(keys.into(), nulls)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

pub(super) fn write_prefix(output: &mut Output<'_>) {
    output.u64(VERSION);
}

/// Writes a dictionary, or an array of plain values after finding the different ones.
pub(super) fn write(output: &mut Output<'_>, inner: &DataType, array: &dyn Array) -> Result<()> {
    let (value_type, nullable) = value_type(inner);
    let plain;
    let array = match array.data_type() {
        ArrowType::Dictionary(_, _) => array,
        _ => {
            plain = expand::to_dictionary(array).map_err(|_| output.array_type("a dictionary", array.data_type()))?;
            &plain
        }
    };
    if !nullable && array.null_count() > 0 {
        return Err(output.error(
            "a value",
            format!("no NULL in a column of LowCardinality({inner})"),
            "NULL",
        ));
    }
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    let keys = dictionary.normalized_keys();
    // What the indexes say: the value of a key, or `None`.
    let value_of = |row: usize| {
        let key = keys.get(row).copied()?;
        (array.is_valid(row) && values.is_valid(key)).then_some(key)
    };
    let default = expand::default_value(values.data_type())?;
    let begins_with_default = !values.is_empty()
        && values.is_valid(0)
        && *values.slice(0, 1) == *default
        // The first value of a nullable dictionary is not one that rows can have.
        && !(nullable && (0..keys.len()).any(|row| value_of(row) == Some(0)));
    let shift = usize::from(!begins_with_default);
    let count = values.len() + shift;
    let index = |row: usize| value_of(row).map_or(0, |key| key + shift);
    if !nullable && shift == 1 && values.null_count() > 0 && (0..keys.len()).any(|row| value_of(row).is_none()) {
        return Err(output.error(
            "a value",
            format!("no NULL in a column of LowCardinality({inner})"),
            "NULL",
        ));
    }
    let width = match count {
        0..=0x100 => 0,
        0x101..=0x1_0000 => 1,
        0x1_0001..=0x1_0000_0000 => 2,
        _ => 3,
    };
    output.u64(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE | width);
    output.u64(count as u64);
    let values = expand::without_nulls(values)?;
    let values = if begins_with_default {
        values
    } else {
        expand::concat(&default, &values)?
    };
    output.in_dictionary = true;
    write_values(output, value_type, &*values)?;
    output.in_dictionary = false;
    output.u64(array.len() as u64);
    output.bytes.reserve(keys.len() << width);
    let rows = 0..keys.len();
    match width {
        0 => output.bytes.extend(rows.map(|row| index(row).to_le_bytes()[0])),
        1 => output.bytes.extend(rows.flat_map(|row| first_bytes::<2>(index(row)))),
        2 => output.bytes.extend(rows.flat_map(|row| first_bytes::<4>(index(row)))),
        _ => output.bytes.extend(rows.flat_map(|row| first_bytes::<8>(index(row)))),
    }
    Ok(())
}

fn value_type(inner: &DataType) -> (&DataType, bool) {
    match inner {
        DataType::Nullable(value) => (value, true),
        value => (value, false),
    }
}

fn first_bytes<const N: usize>(index: usize) -> [u8; N] {
    let bytes = (index as u64).to_le_bytes();
    let mut first = [0; N];
    first.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    first
}
