//! Dates, times and intervals: counts of a unit.
//!
//! Arrow counts dates in 32 bits and times in 64, and has no unit between the thousandth powers, so narrower counts are
//! widened, and ticks of other precisions multiplied up to the next finer unit. Writing does the opposite, and refuses a
//! value that would not come back.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray,
    types::{
        Date32Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
        Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    },
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use super::{
    Input, Output, number,
    number::{read_converted, read_scalars},
};
use crate::{
    DataType, Result,
    arrow_type::{StringType, arrow_type, arrow_type_in, precision},
};

pub(super) async fn read(
    input: &mut Input<'_>,
    data_type: &DataType,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let arrow_type = arrow_type_in(data_type, StringType::default(), input.session_zone.as_deref());
    let ticks = match data_type {
        DataType::Date32 => return number::read::<Date32Type>(input, rows, nulls).await,
        DataType::Date => {
            let days = read_converted(input, rows, |bytes| i32::from(u16::from_le_bytes(bytes))).await?;
            return Ok(Arc::new(PrimitiveArray::<Date32Type>::try_new(days.into(), nulls)?));
        }
        DataType::DateTime(_) => read_converted(input, rows, |bytes| i64::from(u32::from_le_bytes(bytes)))
            .await?
            .into(),
        DataType::Time => read_converted(input, rows, |bytes| i64::from(i32::from_le_bytes(bytes)))
            .await?
            .into(),
        DataType::DateTime64(digits, _) | DataType::Time64(digits) => {
            let ticks = read_scalars::<i64>(input, rows).await?;
            match scale(*digits, &arrow_type) {
                1 => ticks,
                scale => scaled_up(input, &ticks, scale, nulls.as_ref())?,
            }
        }
        _ => read_scalars::<i64>(input, rows).await?,
    };
    array(&arrow_type, ticks, nulls)
}

fn array(arrow_type: &ArrowType, ticks: ScalarBuffer<i64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(
        arrow_type: &ArrowType,
        ticks: ScalarBuffer<i64>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        Ok(Arc::new(
            PrimitiveArray::<T>::try_new(ticks, nulls)?.with_data_type(arrow_type.clone()),
        ))
    }
    match arrow_type {
        ArrowType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(arrow_type, ticks, nulls),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(arrow_type, ticks, nulls),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(arrow_type, ticks, nulls),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(arrow_type, ticks, nulls),
        ArrowType::Duration(TimeUnit::Second) => of::<DurationSecondType>(arrow_type, ticks, nulls),
        ArrowType::Duration(TimeUnit::Millisecond) => of::<DurationMillisecondType>(arrow_type, ticks, nulls),
        ArrowType::Duration(TimeUnit::Microsecond) => of::<DurationMicrosecondType>(arrow_type, ticks, nulls),
        ArrowType::Duration(TimeUnit::Nanosecond) => of::<DurationNanosecondType>(arrow_type, ticks, nulls),
        _ => of::<Int64Type>(&ArrowType::Int64, ticks, nulls),
    }
}

fn scaled_up(
    input: &mut Input<'_>,
    ticks: &[i64],
    scale: i64,
    nulls: Option<&NullBuffer>,
) -> Result<ScalarBuffer<i64>> {
    input.charge(8 * ticks.len() as u64)?;
    let mut scaled = Vec::with_capacity(ticks.len());
    for (row, tick) in ticks.iter().enumerate() {
        scaled.push(match tick.checked_mul(scale) {
            Some(tick) => tick,
            None if nulls.is_some_and(|nulls| nulls.is_null(row)) => 0,
            None => return Err(input.error("a time", "ticks that Arrow can count", format!("{tick} in row {row}"))),
        });
    }
    Ok(scaled.into())
}

pub(super) fn write(output: &mut Output<'_>, data_type: &DataType, array: &dyn Array) -> Result<()> {
    let expected = arrow_type(data_type, StringType::default());
    match data_type {
        DataType::Date32 => return number::write::<Date32Type>(output, array),
        DataType::Date => {
            let days = output.primitive::<Date32Type>(array)?.values();
            return write_converted(output, array, days, |days| {
                u16::try_from(days).ok().map(u16::to_le_bytes)
            });
        }
        _ => {}
    }
    let ticks = ticks(output, &expected, array)?;
    match data_type {
        DataType::DateTime(_) => write_converted(output, array, ticks, |ticks| {
            u32::try_from(ticks).ok().map(u32::to_le_bytes)
        }),
        DataType::Time => write_converted(output, array, ticks, |ticks| {
            i32::try_from(ticks).ok().map(i32::to_le_bytes)
        }),
        DataType::DateTime64(digits, _) | DataType::Time64(digits) if scale(*digits, &expected) != 1 => {
            let scale = scale(*digits, &expected);
            write_converted(output, array, ticks, |ticks| {
                (ticks % scale == 0).then(|| (ticks / scale).to_le_bytes())
            })
        }
        _ => {
            output.bytes.extend_from_slice(ticks.inner().as_slice());
            Ok(())
        }
    }
}

/// The ticks of an array of the expected unit; the time zone of an instant does not matter.
fn ticks<'a>(output: &Output<'_>, expected: &ArrowType, array: &'a dyn Array) -> Result<&'a ScalarBuffer<i64>> {
    fn of<'a, T: ArrowPrimitiveType<Native = i64>>(
        output: &Output<'_>,
        array: &'a dyn Array,
    ) -> Result<&'a ScalarBuffer<i64>> {
        Ok(output.primitive::<T>(array)?.values())
    }
    match expected {
        ArrowType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(output, array),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(output, array),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(output, array),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(output, array),
        ArrowType::Duration(TimeUnit::Second) => of::<DurationSecondType>(output, array),
        ArrowType::Duration(TimeUnit::Millisecond) => of::<DurationMillisecondType>(output, array),
        ArrowType::Duration(TimeUnit::Microsecond) => of::<DurationMicrosecondType>(output, array),
        ArrowType::Duration(TimeUnit::Nanosecond) => of::<DurationNanosecondType>(output, array),
        _ => of::<Int64Type>(output, array),
    }
}

fn write_converted<N: Copy + Default + std::fmt::Display, const W: usize>(
    output: &mut Output<'_>,
    array: &dyn Array,
    values: &[N],
    convert: impl Fn(N) -> Option<[u8; W]>,
) -> Result<()> {
    output.bytes.reserve(values.len() * W);
    for (row, value) in values.iter().enumerate() {
        match convert(*value) {
            Some(bytes) => output.bytes.extend_from_slice(&bytes),
            None if array.is_null(row) => output.bytes.extend_from_slice(&[0; W]),
            None => return Err(output.error("a time", "a value of the type's range", format!("{value} in row {row}"))),
        }
    }
    Ok(())
}

/// How many ticks of the Arrow type a tick of `digits` is.
fn scale(digits: u8, arrow_type: &ArrowType) -> i64 {
    let unit = match arrow_type {
        ArrowType::Timestamp(unit, _) | ArrowType::Duration(unit) => *unit,
        _ => return 1,
    };
    10_i64.pow(u32::from(precision(unit).saturating_sub(digits)))
}
