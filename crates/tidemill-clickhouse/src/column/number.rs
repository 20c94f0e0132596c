//! Numbers, as they are in memory: little-endian, at their full width.
//!
//! Integers of 128 bits become decimals of 39 digits, which hold all of them and can be calculated with; `BFloat16` becomes
//! `Float32`, whose upper half it is. Integers of 256 bits have up to 78 digits, more than Arrow's decimals have, and stay
//! bytes (`fixed_string`).

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Decimal256Array, PrimitiveArray,
    types::{Decimal256Type, Float32Type},
};
use arrow_buffer::{NullBuffer, ScalarBuffer, i256};

use super::{Input, Output};
use crate::Result;

pub(super) async fn read<T: ArrowPrimitiveType>(
    input: &mut Input<'_>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let values = read_scalars::<T::Native>(input, rows).await?;
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values, nulls)?))
}

/// [`read`] where that takes no waiting.
pub(super) fn received<T: ArrowPrimitiveType>(input: &mut Input<'_>, rows: usize) -> Option<Result<ArrayRef>> {
    let bytes = input.received(rows.checked_mul(size_of::<T::Native>())?, align_of::<T::Native>())?;
    Some(bytes.and_then(|bytes| {
        let values = ScalarBuffer::new(bytes, 0, rows);
        Ok(Arc::new(PrimitiveArray::<T>::try_new(values, None)?) as ArrayRef)
    }))
}

/// The values of a column without the array around them.
pub(super) async fn read_scalars<N: arrow_buffer::ArrowNativeType>(
    input: &mut Input<'_>,
    rows: usize,
) -> Result<ScalarBuffer<N>> {
    let length = byte_length(input, rows, size_of::<N>())?;
    let bytes = input.bytes(length, align_of::<N>(), "numbers").await?;
    Ok(ScalarBuffer::new(bytes, 0, rows))
}

/// Values of `N` bytes, each turned into one of another type.
pub(super) async fn read_converted<const N: usize, T>(
    input: &mut Input<'_>,
    rows: usize,
    convert: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    read_seen(input, rows, convert, |_| ()).await
}

/// [`read_converted`], that shows the values as they are on the wire while they are in the cache.
pub(super) async fn read_seen<const N: usize, T>(
    input: &mut Input<'_>,
    rows: usize,
    convert: impl Fn([u8; N]) -> T,
    mut see: impl FnMut(&[[u8; N]]),
) -> Result<Vec<T>> {
    const WHAT: &str = "numbers";
    input.need(byte_length(input, rows, N)?, WHAT)?;
    input.charge(byte_length(input, rows, size_of::<T>())? as u64)?;
    // Memory beyond this is set aside as the bytes arrive.
    let mut values = Vec::with_capacity(rows.min(MAX_UNSEEN));
    while values.len() < rows {
        let (chunks, _) = input.some(WHAT).await?.as_chunks::<N>();
        let count = chunks.len().min(rows - values.len()).min(PIECE);
        match chunks.get(..count) {
            Some(chunks) if count > 0 => {
                see(chunks);
                values.extend(chunks.iter().map(|chunk| convert(*chunk)));
                input.consume(count * N);
            }
            // One that is there in part.
            _ => {
                let chunk = input.array(WHAT).await?;
                see(&[chunk]);
                values.push(convert(chunk));
            }
        }
    }
    Ok(values)
}

pub(super) fn byte_length(input: &Input<'_>, rows: usize, width: usize) -> Result<usize> {
    let length = rows
        .checked_mul(width)
        .filter(|length| isize::try_from(*length).is_ok());
    length.ok_or_else(|| {
        input.error(
            "numbers",
            "as many as memory can hold",
            format!("{rows} of {width} bytes"),
        )
    })
}

pub(super) async fn read_bfloat16(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let values = read_converted(input, rows, bfloat16).await?;
    Ok(Arc::new(PrimitiveArray::<Float32Type>::try_new(values.into(), nulls)?))
}

pub(super) fn bfloat16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// The upper half of a number, rounded to the nearest, to even when two are as near. NaN stays NaN.
pub(super) fn to_bfloat16(number: f32) -> [u8; 2] {
    let bits = number.to_bits();
    let rounded = if number.is_nan() {
        // A bit that stays, if none of the others does.
        bits | if bits & 0x7F_0000 == 0 { 0x40_0000 } else { 0 }
    } else {
        bits.wrapping_add(0x7FFF + (bits >> 16 & 1))
    };
    let [_, _, low, high] = rounded.to_le_bytes();
    [low, high]
}

pub(super) async fn read_int128(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let values = read_converted(input, rows, |bytes| i256::from_i128(i128::from_le_bytes(bytes))).await?;
    decimal256(values, nulls)
}

pub(super) async fn read_uint128(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let values = read_converted(input, rows, |bytes| i256::from_parts(u128::from_le_bytes(bytes), 0)).await?;
    decimal256(values, nulls)
}

fn decimal256(values: Vec<i256>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    Ok(Arc::new(
        Decimal256Array::try_new(values.into(), nulls)?.with_precision_and_scale(39, 0)?,
    ))
}

pub(super) fn write<T: ArrowPrimitiveType>(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    let values = output.primitive::<T>(array)?.values();
    output.bytes.extend_from_slice(values.inner().as_slice());
    Ok(())
}

pub(super) fn write_bfloat16(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    let values = output.primitive::<Float32Type>(array)?.values();
    output
        .bytes
        .extend(values.iter().flat_map(|number| to_bfloat16(*number)));
    Ok(())
}

pub(super) fn write_int128(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    write_integers(output, array, "Int128", |number| {
        number.to_i128().map(i128::to_le_bytes)
    })
}

pub(super) fn write_uint128(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    write_integers(output, array, "UInt128", |number| match number.to_parts() {
        (low, 0) => Some(low.to_le_bytes()),
        _ => None,
    })
}

fn write_integers(
    output: &mut Output<'_>,
    array: &dyn Array,
    name: &'static str,
    convert: impl Fn(i256) -> Option<[u8; 16]>,
) -> Result<()> {
    let numbers = output.primitive::<Decimal256Type>(array)?;
    if numbers.scale() != 0 {
        return Err(output.array_type("Decimal256 of scale 0", array.data_type()));
    }
    output.bytes.reserve(numbers.len() * 16);
    for (row, number) in numbers.values().iter().enumerate() {
        match convert(*number) {
            Some(bytes) => output.bytes.extend_from_slice(&bytes),
            None if numbers.is_null(row) => output.bytes.extend_from_slice(&[0; 16]),
            None => return Err(output.value_error(row, "a number", name, number.to_string())),
        }
    }
    Ok(())
}

const MAX_UNSEEN: usize = 1 << 20;
/// How many values are turned into others at a time.
const PIECE: usize = 1 << 12;
