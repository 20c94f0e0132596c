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

use std::{borrow::Cow, sync::Arc};

use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, DictionaryArray, PrimitiveArray, cast::AsArray, types::Int32Type,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType as ArrowType;

use super::{Input, Kinds, Output, Prefix, expand, number::read_seen, read_values, write_values};
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
    // Sought among the bytes of the wire, of which a processor compares more at a time than of keys.
    let mut greatest = 0;
    let keys = match flags & !(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE) {
        0 => read_keys(input, rows, u8::from_le_bytes, &mut greatest).await?,
        1 => read_keys(input, rows, u16::from_le_bytes, &mut greatest).await?,
        2 => read_keys(input, rows, u32::from_le_bytes, &mut greatest).await?,
        3 => read_keys(input, rows, u64::from_le_bytes, &mut greatest).await?,
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
    let keys = PrimitiveArray::<Int32Type>::try_new(keys.into(), nulls)?;
    let size = values.len();
    if greatest < size as u64 {
        // SAFETY: the greatest key, as a number without a sign, is less than the number of values, which a key of 32 bits can
        // count: so no key became negative, and each is that of a value.
        #[expect(unsafe_code, reason = "Arrow would go through the keys once more")]
        let array = unsafe { DictionaryArray::new_unchecked(keys, values) };
        return Ok(Arc::new(array));
    }
    // Keys of null rows may be beyond the values; all others are found by Arrow.
    match DictionaryArray::try_new(keys, values) {
        Ok(array) => Ok(Arc::new(array)),
        Err(error) => Err(input.error(
            "an index",
            format!("less than the dictionary's size, {size}"),
            error.to_string(),
        )),
    }
}

/// Reads keys of `N` bytes, and finds the greatest of them. Those that have no place in 32 bits become negative, which no key
/// may be.
async fn read_keys<const N: usize, K: Copy + Default + Ord + Into<u64>>(
    input: &mut Input<'_>,
    rows: usize,
    number: impl Fn([u8; N]) -> K,
    greatest: &mut u64,
) -> Result<Vec<i32>> {
    let see = |chunks: &[[u8; N]]| {
        let of_these = chunks
            .iter()
            .fold(K::default(), |greatest, chunk| greatest.max(number(*chunk)));
        *greatest = of_these.into().max(*greatest);
    };
    read_seen(
        input,
        rows,
        |chunk| i32::try_from(number(chunk).into()).unwrap_or(-1),
        see,
    )
    .await
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
    // Null where the key is, or the value of the key.
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    if !nullable && nulls.is_some() {
        return Err(output.error(
            "a value",
            format!("no NULL in a column of LowCardinality({inner})"),
            "NULL",
        ));
    }
    let keys = keys(dictionary);
    let default = expand::default_value(values.data_type())?;
    let begins_with_default = !values.is_empty()
        && values.is_valid(0)
        && *values.slice(0, 1) == *default
        // The first value of a nullable dictionary is not one that rows can have.
        && !(nullable && has_zero(&keys, nulls.as_ref()));
    let shift = u32::from(!begins_with_default);
    let values = expand::without_nulls(values)?;
    let values = if begins_with_default {
        values
    } else {
        expand::concat(&default, &values)?
    };
    let width = match values.len() {
        0..=0x100 => 0,
        0x101..=0x1_0000 => 1,
        _ => 2,
    };
    output.u64(HAS_ADDITIONAL_KEYS | NEEDS_UPDATE | width);
    output.u64(values.len() as u64);
    output.in_dictionary = true;
    let row_of = |at: usize| {
        let key = i32::try_from(at.checked_sub(usize::from(!begins_with_default))?).ok()?;
        keys.iter().position(|found| *found == key)
    };
    write_values(output, value_type, &*values).map_err(|error| error.map_row(row_of))?;
    output.in_dictionary = false;
    output.u64(keys.len() as u64);
    match nulls {
        None => write_indexes(output, width, keys.iter().map(|key| key.cast_unsigned() + shift)),
        Some(nulls) => {
            let rows = keys.iter().zip(nulls.iter());
            let index = |(key, valid): (&i32, bool)| if valid { key.cast_unsigned() + shift } else { 0 };
            write_indexes(output, width, rows.map(index));
        }
    }
    Ok(())
}

/// Writes indexes in the least width that holds them all: 1, 2 or 4 bytes.
fn write_indexes(output: &mut Output<'_>, width: u64, indexes: impl ExactSizeIterator<Item = u32>) {
    output.bytes.reserve(indexes.len() << width);
    match width {
        0 => output.bytes.extend(indexes.map(|index| index.to_le_bytes()[0])),
        1 => output.bytes.extend(indexes.flat_map(|index| {
            let [low, high, _, _] = index.to_le_bytes();
            [low, high]
        })),
        _ => output.bytes.extend(indexes.flat_map(u32::to_le_bytes)),
    }
}

/// The keys of a dictionary, of any type, as numbers of 32 bits. Those of null rows say nothing.
fn keys(dictionary: &dyn AnyDictionaryArray) -> Cow<'_, [i32]> {
    match dictionary.keys().as_primitive_opt::<Int32Type>() {
        Some(keys) => Cow::Borrowed(keys.values()),
        None => {
            // A dictionary of more values has more than an Arrow list can have.
            let keys = dictionary.normalized_keys().into_iter();
            keys.map(|key| i32::try_from(key).unwrap_or(i32::MAX)).collect()
        }
    }
}

fn has_zero(keys: &[i32], nulls: Option<&NullBuffer>) -> bool {
    match nulls {
        None => keys.contains(&0),
        Some(nulls) => keys.iter().zip(nulls.iter()).any(|(key, valid)| valid && *key == 0),
    }
}

fn value_type(inner: &DataType) -> (&DataType, bool) {
    match inner {
        DataType::Nullable(value) => (value, true),
        value => (value, false),
    }
}
