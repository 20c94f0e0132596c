//! `Enum8` and `Enum16`: numbers that stand for names. In Arrow a dictionary of the names, in the order of the numbers.

use std::{collections::HashMap, fmt, sync::Arc};

use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, StringArray, cast::AsArray, types::Int32Type};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;

use super::{Input, Output, number::read_converted};
use crate::{Result, data_type::Enum};

pub(super) async fn read_enum8(
    input: &mut Input<'_>,
    names: &Enum<i8>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let numbers = read_converted(input, rows, i8::from_le_bytes).await?;
    read(input, names, &numbers, nulls)
}

pub(super) async fn read_enum16(
    input: &mut Input<'_>,
    names: &Enum<i16>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let numbers = read_converted(input, rows, i16::from_le_bytes).await?;
    read(input, names, &numbers, nulls)
}

fn read<N: Copy + Ord + fmt::Display + Into<i32>>(
    input: &mut Input<'_>,
    names: &Enum<N>,
    numbers: &[N],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    input.charge(4 * numbers.len() as u64)?;
    let pairs = names.pairs();
    let first = pairs.first().map_or(0, |(_, number)| (*number).into());
    let last = pairs.last().map_or(0, |(_, number)| (*number).into());
    // The key of each number from the first to the last, -1 for those without a name.
    let mut keys_of = vec![-1_i32; usize::try_from(last - first).unwrap_or_default() + 1];
    for (key, (_, number)) in (0..).zip(pairs) {
        let number: i32 = (*number).into();
        if let Some(slot) = usize::try_from(number - first)
            .ok()
            .and_then(|index| keys_of.get_mut(index))
        {
            *slot = key;
        }
    }
    let mut keys = Vec::with_capacity(numbers.len());
    for (row, number) in numbers.iter().enumerate() {
        let value: i32 = (*number).into();
        let key = usize::try_from(value - first).ok().and_then(|index| keys_of.get(index));
        keys.push(match key {
            Some(key) if *key >= 0 => *key,
            _ if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) => 0,
            _ => {
                return Err(input.error(
                    "an enumeration",
                    "a number with a name",
                    format!("{number} in row {row}"),
                ));
            }
        });
    }
    let keys = PrimitiveArray::<Int32Type>::try_new(keys.into(), nulls)?;
    let values: StringArray = pairs.iter().map(|(name, _)| Some(&**name)).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(values))?))
}

pub(super) fn write_enum8(output: &mut Output<'_>, names: &Enum<i8>, array: &dyn Array) -> Result<()> {
    write(output, names, array, |number| number.to_le_bytes())
}

pub(super) fn write_enum16(output: &mut Output<'_>, names: &Enum<i16>, array: &dyn Array) -> Result<()> {
    write(output, names, array, |number| number.to_le_bytes())
}

/// Writes the numbers of names, which are text or a dictionary of text.
fn write<N: Copy + Ord, const W: usize>(
    output: &mut Output<'_>,
    names: &Enum<N>,
    array: &dyn Array,
    bytes: impl Fn(N) -> [u8; W],
) -> Result<()> {
    let numbers: HashMap<&str, N> = names.pairs().iter().map(|(name, number)| (&**name, *number)).collect();
    let default = names.pairs().first().map_or([0; W], |(_, number)| bytes(*number));
    // Where a row is null its name does not matter.
    let number_of = |output: &Output<'_>, name: Option<&str>, row: usize| match name.and_then(|name| numbers.get(name))
    {
        Some(number) => Ok(bytes(*number)),
        None if array.is_null(row) || name.is_none() => Ok(default),
        None => {
            let found = format!("{:?}", name.unwrap_or_default());
            Err(output.value_error(row, "an enumeration", "one of its names", found))
        }
    };
    output.bytes.reserve(array.len() * W);
    match array.data_type() {
        ArrowType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let Some(values) = dictionary.values().as_string_opt::<i32>() else {
                return Err(output.array_type("text or a dictionary of Utf8", array.data_type()));
            };
            let keys = dictionary.normalized_keys();
            for (row, key) in keys.into_iter().enumerate() {
                let name = (!values.is_empty() && values.is_valid(key)).then(|| values.value(key));
                let number = number_of(output, name, row)?;
                output.bytes.extend_from_slice(&number);
            }
        }
        ArrowType::Utf8 => {
            for (row, name) in array.as_string::<i32>().iter().enumerate() {
                let number = number_of(output, name, row)?;
                output.bytes.extend_from_slice(&number);
            }
        }
        other => return Err(output.array_type("text or a dictionary of Utf8", other)),
    }
    Ok(())
}
