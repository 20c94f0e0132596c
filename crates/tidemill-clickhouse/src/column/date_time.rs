//! Dates, times and intervals: counts of a unit.
//!
//! Arrow counts dates in 32 bits and times in 64, and has no unit between the thousandth powers, so narrower counts are
//! widened, and ticks of other precisions multiplied up to the next finer unit. Writing does the opposite, and refuses a
//! value that would not come back, or that its reader would show as another ([`Calendar`](crate::Calendar)).

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
    rows::text,
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
    if let DataType::Date | DataType::Date32 = data_type {
        return write_days(output, data_type, array);
    }
    let expected = arrow_type(data_type, StringType::default());
    let ticks = ticks(output, &expected, array)?;
    let digits = unit(&expected).map_or(0, precision);
    let range = match data_type {
        DataType::DateTime(_) => Some((0, output.calendar.last_second)),
        DataType::DateTime64(..) => Some(output.calendar.ticks(digits)),
        DataType::Time => {
            let (first, last) = output.calendar.clock_ticks(digits);
            Some((first.max(i32::MIN.into()), last.min(i32::MAX.into())))
        }
        DataType::Time64(_) => Some(output.calendar.clock_ticks(digits)),
        _ => None,
    };
    let text = |ticks| match data_type {
        DataType::DateTime(_) | DataType::DateTime64(..) => text::instant(ticks, digits),
        _ => text::duration(ticks, digits),
    };
    if let Some(range) = range {
        check_range(output, data_type, array, ticks, range, text)?;
    }
    match data_type {
        // Without what null rows have beyond the range.
        DataType::DateTime(_) => output
            .bytes
            .extend(ticks.iter().flat_map(|ticks| (*ticks as u32).to_le_bytes())),
        DataType::Time => output
            .bytes
            .extend(ticks.iter().flat_map(|ticks| (*ticks as i32).to_le_bytes())),
        DataType::DateTime64(own, _) | DataType::Time64(own) if *own != digits => {
            let scale = scale(*own, &expected);
            output.bytes.reserve(ticks.len() * 8);
            for (row, value) in ticks.iter().enumerate() {
                if value % scale != 0 && array.is_valid(row) {
                    let expected = format!("no more decimals of a second than {data_type} has; round the column first");
                    return Err(output.value_error(row, "a time", expected, text(*value)));
                }
                output.bytes.extend_from_slice(&(value / scale).to_le_bytes());
            }
        }
        _ => output.bytes.extend_from_slice(ticks.inner().as_slice()),
    }
    Ok(())
}

fn write_days(output: &mut Output<'_>, data_type: &DataType, array: &dyn Array) -> Result<()> {
    let days = output.primitive::<Date32Type>(array)?.values();
    let text = |days: i32| text::date(days.into());
    if let DataType::Date32 = data_type {
        check_range(output, data_type, array, days, output.calendar.days, text)?;
        output.bytes.extend_from_slice(days.inner().as_slice());
        return Ok(());
    }
    check_range(output, data_type, array, days, (0, output.calendar.last_date), text)?;
    // Without what null rows have beyond the range.
    output
        .bytes
        .extend(days.iter().flat_map(|days| (*days as u16).to_le_bytes()));
    Ok(())
}

/// Refuses a value that is not in the range, unless its row is null.
fn check_range<N: Copy + PartialOrd>(
    output: &Output<'_>,
    data_type: &DataType,
    array: &dyn Array,
    values: &[N],
    (first, last): (N, N),
    text: impl Fn(N) -> String,
) -> Result<()> {
    let is_outside = |value: &N| *value < first || *value > last;
    // Without leaving the loop at the first: so a processor compares many at a time.
    let is_any = values.iter().fold(false, |any, value| any | is_outside(value));
    if !is_any {
        return Ok(());
    }
    match (0..)
        .zip(values)
        .find(|(row, value)| is_outside(value) && array.is_valid(*row))
    {
        None => Ok(()),
        Some((row, value)) => {
            let hint = match data_type {
                DataType::Date => "Date32, where the server has it, holds more; as text it has all: CAST(… AS VARCHAR)",
                DataType::DateTime(_) => {
                    "DateTime64, where the server has it, holds more; as text it has all: CAST(… AS VARCHAR)"
                }
                _ => "beyond it the server shows another value; as text it has all: CAST(… AS VARCHAR)",
            };
            let (first, last) = (text(first), text(last));
            let expected = format!("{first} to {last}, which {data_type} holds there ({hint})");
            Err(output.value_error(row, what(data_type), expected, text(*value)))
        }
    }
}

fn what(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Date | DataType::Date32 => "a date",
        DataType::DateTime(_) | DataType::DateTime64(..) => "an instant",
        _ => "a time",
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

/// How many ticks of the Arrow type a tick of `digits` is.
fn scale(digits: u8, arrow_type: &ArrowType) -> i64 {
    let Some(unit) = unit(arrow_type) else { return 1 };
    10_i64.pow(u32::from(precision(unit).saturating_sub(digits)))
}

fn unit(arrow_type: &ArrowType) -> Option<TimeUnit> {
    match arrow_type {
        ArrowType::Timestamp(unit, _) | ArrowType::Duration(unit) => Some(*unit),
        _ => None,
    }
}
