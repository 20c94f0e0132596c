//! Dates, times and timestamps.

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::{
    Date32Type, Date64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_cast::parse::{Parser, string_to_datetime, string_to_time_nanoseconds};
use arrow_schema::{DataType, TimeUnit};

use super::cell::{Cell, scaled, shown, texts};
use crate::calendar;
use crate::error::Misfit;

/// A value that has a unit of its own, in microseconds.
type Microseconds<'a> = Box<dyn Fn(usize) -> Result<i64, Misfit> + 'a>;

pub(super) fn date(array: &dyn Array) -> Option<Cell<'_>> {
    fn push(days: i64, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let sent = i32::try_from(days).ok().and_then(calendar::date::write);
        let sent =
            sent.ok_or_else(|| Misfit::new("a date from 4714 BC to 5874897", format!("day {days} since 1970")))?;
        out.extend_from_slice(&sent.to_be_bytes());
        Ok(())
    }
    match array.data_type() {
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Some(Box::new(|row, out| push(i64::from(array.value(row)), out)))
        }
        DataType::Date64 | DataType::Timestamp(_, _) => {
            let instants = instants(array)?;
            Some(Box::new(move |row, out| {
                let microseconds = instants(row)?;
                match microseconds.rem_euclid(DAY) {
                    0 => push(microseconds.div_euclid(DAY), out),
                    time => Err(Misfit::new(
                        "a day without a time",
                        format!("{time} µs behind its begin"),
                    )),
                }
            }))
        }
        _ => {
            let texts = texts(array)?;
            Some(Box::new(move |row, out| {
                let text = texts(row).trim();
                let days =
                    Date32Type::parse(text).ok_or_else(|| Misfit::new("a date, such as 2024-02-29", shown(text)))?;
                push(i64::from(days), out)
            }))
        }
    }
}

pub(super) fn time(array: &dyn Array) -> Option<Cell<'_>> {
    let times: Microseconds<'_> = match array.data_type() {
        DataType::Time32(TimeUnit::Second) => narrow::<Time32SecondType>(array, 1_000_000),
        DataType::Time32(_) => narrow::<Time32MillisecondType>(array, 1000),
        DataType::Time64(TimeUnit::Microsecond) => wide::<Time64MicrosecondType>(array, 1, 1),
        DataType::Time64(_) => wide::<Time64NanosecondType>(array, 1, 1000),
        _ => {
            let texts = texts(array)?;
            Box::new(move |row| {
                let text = texts(row).trim();
                let found = string_to_time_nanoseconds(text);
                scaled(
                    found.map_err(|_| Misfit::new("a time, such as 23:59:59", shown(text)))?,
                    1,
                    1000,
                )
            })
        }
    };
    Some(Box::new(move |row, out| {
        let time = times(row)?;
        match time {
            0..DAY => out.extend_from_slice(&time.to_be_bytes()),
            _ => return Err(Misfit::new("a time of less than a day", format!("{time} µs"))),
        }
        Ok(())
    }))
}

/// Timestamps; `is_instant` for a column with time zone. One without a zone counts as UTC there. To a column without, an instant is
/// written only where its zone is UTC.
pub(super) fn timestamp(array: &dyn Array, is_instant: bool) -> Option<Cell<'_>> {
    if let DataType::Timestamp(_, Some(zone)) = array.data_type()
        && !is_instant
        && !UTC.iter().any(|name| zone.eq_ignore_ascii_case(name))
    {
        return None;
    }
    let instants = match instants(array) {
        Some(instants) => instants,
        None => read_instants(array, is_instant)?,
    };
    Some(Box::new(move |row, out| {
        let microseconds = instants(row)?;
        let sent = calendar::timestamp::write(microseconds);
        let sent = sent.ok_or_else(|| {
            Misfit::new(
                "a timestamp from 4714 BC to 294276",
                format!("{microseconds} µs since 1970"),
            )
        })?;
        out.extend_from_slice(&sent.to_be_bytes());
        Ok(())
    }))
}

fn instants(array: &dyn Array) -> Option<Microseconds<'_>> {
    Some(match array.data_type() {
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Box::new(|row| Ok(i64::from(array.value(row)) * DAY))
        }
        DataType::Date64 => wide::<Date64Type>(array, 1000, 1),
        DataType::Timestamp(TimeUnit::Second, _) => wide::<TimestampSecondType>(array, 1_000_000, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => wide::<TimestampMillisecondType>(array, 1000, 1),
        DataType::Timestamp(TimeUnit::Microsecond, _) => wide::<TimestampMicrosecondType>(array, 1, 1),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => wide::<TimestampNanosecondType>(array, 1, 1000),
        _ => return None,
    })
}

/// Texts in the form of ISO 8601.
fn read_instants(array: &dyn Array, is_instant: bool) -> Option<Microseconds<'_>> {
    let texts = texts(array)?;
    let utc: Tz = "+00:00".parse().ok()?;
    Some(Box::new(move |row| {
        let text = texts(row).trim();
        let wrong = |expected| Misfit::new(expected, shown(text));
        let found = string_to_datetime(&utc, text);
        let found = found.map_err(|_| wrong("a timestamp, such as 2024-02-29 23:59:59.5"))?;
        let time = text.get("2024-02-29".len()..).unwrap_or_default();
        if !is_instant && time.contains(['+', '-', 'Z', 'z']) {
            return Err(wrong("a timestamp without a time zone"));
        }
        if found.timestamp_subsec_nanos() % 1000 != 0 {
            return Err(wrong("whole microseconds, as PostgreSQL counts them"));
        }
        Ok(found.timestamp_micros())
    }))
}

fn wide<'a, T: ArrowPrimitiveType<Native = i64>>(array: &'a dyn Array, times: i64, per: i64) -> Microseconds<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| scaled(array.value(row), times, per))
}

fn narrow<'a, T: ArrowPrimitiveType<Native = i32>>(array: &'a dyn Array, times: i64) -> Microseconds<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| scaled(i64::from(array.value(row)), times, 1))
}

const UTC: [&str; 4] = ["UTC", "Z", "+00:00", "Etc/UTC"];
/// In microseconds.
const DAY: i64 = 86_400_000_000;
