//! `Decimal`: whole numbers of units of the scale, in 32, 64, 128 or 256 bits. Arrow's decimals are the same.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, PrimitiveArray,
    types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType},
};
use arrow_buffer::NullBuffer;

use super::{Input, Output, number::read_scalars};
use crate::{DataType, Result};

pub(super) async fn read(
    input: &mut Input<'_>,
    precision: u8,
    scale: u8,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match DataType::decimal_width(precision) {
        4 => read_as::<Decimal32Type>(input, precision, scale, rows, nulls).await,
        8 => read_as::<Decimal64Type>(input, precision, scale, rows, nulls).await,
        16 => read_as::<Decimal128Type>(input, precision, scale, rows, nulls).await,
        _ => read_as::<Decimal256Type>(input, precision, scale, rows, nulls).await,
    }
}

async fn read_as<T: DecimalType>(
    input: &mut Input<'_>,
    precision: u8,
    scale: u8,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let values = read_scalars::<T::Native>(input, rows).await?;
    let array = PrimitiveArray::<T>::try_new(values, nulls)?;
    Ok(Arc::new(array.with_precision_and_scale(
        precision,
        i8::try_from(scale).unwrap_or(i8::MAX),
    )?))
}

pub(super) fn write(output: &mut Output<'_>, precision: u8, scale: u8, array: &dyn Array) -> Result<()> {
    match DataType::decimal_width(precision) {
        4 => write_as::<Decimal32Type>(output, precision, scale, array),
        8 => write_as::<Decimal64Type>(output, precision, scale, array),
        16 => write_as::<Decimal128Type>(output, precision, scale, array),
        _ => write_as::<Decimal256Type>(output, precision, scale, array),
    }
}

fn write_as<T: DecimalType>(output: &mut Output<'_>, precision: u8, scale: u8, array: &dyn Array) -> Result<()> {
    let expected = || format!("{}({precision}, {scale})", T::PREFIX);
    let Some(decimals) = array.as_any().downcast_ref::<PrimitiveArray<T>>() else {
        return Err(output.array_type(expected(), array.data_type()));
    };
    if decimals.precision() > precision || i16::from(decimals.scale()) != i16::from(scale) {
        return Err(output.array_type(expected(), array.data_type()));
    }
    output.bytes.extend_from_slice(decimals.values().inner().as_slice());
    Ok(())
}
