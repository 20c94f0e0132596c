//! `QBit`: vectors of numbers, stored by bits. For each bit of a number, the highest first, there is a column of strings
//! of one length; the string of a row has that bit of all numbers of its vector, the first number in the lowest bit of the
//! last byte.
//!
//! In Arrow it is a list of fixed size.
//!
//! Source: `DataTypes/Serializations/SerializationQBit.cpp` of ClickHouse, and the bytes that ClickHouse 26.9 writes.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float32Array, Float64Array,
    cast::AsArray,
    types::{Float32Type, Float64Type},
};
use arrow_buffer::NullBuffer;

use super::{
    Input, Output,
    number::{bfloat16, byte_length, to_bfloat16},
};
use crate::{
    DataType, Result,
    arrow_type::{ITEM, field_of},
};

pub(super) async fn read(
    input: &mut Input<'_>,
    number: &DataType,
    dimension: u32,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (dimension, size) = sizes(dimension);
    let stride = dimension.div_ceil(8);
    let count = byte_length(input, rows, dimension)?;
    let bits = width(number) * 8;
    input.charge(byte_length(input, count, 8)? as u64)?;
    let mut words = vec![0_u64; if rows == 0 { 0 } else { dimension }];
    let plane = byte_length(input, rows, stride)?;
    let mut planes = Vec::with_capacity(bits);
    for _ in 0..bits {
        planes.push(input.bytes(plane, 1, "bits of vectors").await?);
    }
    let mut vectors = Vec::with_capacity(count);
    for row in 0..rows {
        words.fill(0);
        for plane in &planes {
            let bytes = plane.as_slice().get(row * stride..).unwrap_or_default();
            let bytes = bytes.get(..stride).unwrap_or_default();
            for (index, word) in words.iter_mut().enumerate() {
                let byte = bytes.get(stride - 1 - index / 8).copied().unwrap_or_default();
                *word = *word << 1 | u64::from(byte >> (index % 8) & 1);
            }
        }
        vectors.extend(words.iter().map(|word| word.to_le_bytes()));
    }
    let values: ArrayRef = match number {
        DataType::Float64 => Arc::new(Float64Array::from_iter_values(
            vectors.into_iter().map(f64::from_le_bytes),
        )),
        DataType::Float32 => Arc::new(Float32Array::from_iter_values(
            vectors
                .into_iter()
                .map(|[a, b, c, d, ..]| f32::from_le_bytes([a, b, c, d])),
        )),
        _ => Arc::new(Float32Array::from_iter_values(
            vectors.into_iter().map(|[low, high, ..]| bfloat16([low, high])),
        )),
    };
    let field = Arc::new(field_of(ITEM, number, values.data_type().clone()));
    Ok(Arc::new(FixedSizeListArray::try_new(field, size, values, nulls)?))
}

pub(super) fn write(output: &mut Output<'_>, number: &DataType, dimension: u32, array: &dyn Array) -> Result<()> {
    let (dimension, size) = sizes(dimension);
    let expected = || format!("FixedSizeList of {dimension} numbers");
    let vectors = array
        .as_fixed_size_list_opt()
        .filter(|vectors| vectors.value_length() == size);
    let vectors = vectors.ok_or_else(|| output.array_type(expected(), array.data_type()))?;
    let words: Vec<u64> = match number {
        DataType::Float64 => {
            let numbers = vectors.values().as_primitive_opt::<Float64Type>();
            numbers.map(|numbers| numbers.values().iter().map(|number| number.to_bits()).collect())
        }
        other => {
            let numbers = vectors.values().as_primitive_opt::<Float32Type>();
            numbers.map(|numbers| {
                let bits = |number: &f32| match other {
                    DataType::Float32 => u64::from(number.to_bits()),
                    _ => u64::from(u16::from_le_bytes(to_bfloat16(*number))),
                };
                numbers.values().iter().map(bits).collect()
            })
        }
    }
    .ok_or_else(|| output.array_type(expected(), array.data_type()))?;
    let stride = dimension.div_ceil(8);
    for bit in (0..width(number) * 8).rev() {
        for vector in words.chunks_exact(dimension) {
            let begin = output.bytes.len();
            output.bytes.resize(begin + stride, 0);
            let bytes = output.bytes.get_mut(begin..).unwrap_or_default();
            for (index, word) in vector.iter().enumerate() {
                if let Some(byte) = bytes.get_mut(stride - 1 - index / 8) {
                    *byte |= u8::from(word >> bit & 1 == 1) << (index % 8);
                }
            }
        }
    }
    Ok(())
}

/// Bytes of a number.
fn width(number: &DataType) -> usize {
    match number {
        DataType::Float64 => 8,
        DataType::Float32 => 4,
        _ => 2,
    }
}

/// The dimension as memory and Arrow count. Types have less than 2^24.
fn sizes(dimension: u32) -> (usize, i32) {
    let size = i32::try_from(dimension).unwrap_or(i32::MAX);
    (usize::try_from(size).unwrap_or_default(), size)
}
