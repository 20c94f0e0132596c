//! Dates, times and timestamps.

use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_cast::parse::{Parser, string_to_datetime};
use arrow_schema::{DataType, TimeUnit};

use super::cell::{Write, shown, texts};
use crate::calendar;
use crate::error::Misfit;

/// A value that has a unit of its own, in microseconds.
type Microseconds<'a> = Box<dyn Fn(usize) -> Result<i64, Misfit> + 'a>;

pub(super) fn date(array: &dyn Array) -> Option<Write<'_>> {
    match array.data_type() {
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Some(Box::new(|row, out| push_date(i64::from(array.value(row)), out)))
        }
        DataType::Date64 | DataType::Timestamp(_, _) => {
            let instants = instants(array)?;
            Some(Box::new(move |row, out| {
                let microseconds = instants(row)?;
                match microseconds.rem_euclid(DAY) {
                    0 => push_date(microseconds.div_euclid(DAY), out),
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
                let days = Date32Type::parse(text);
                let days = days.ok_or_else(|| Misfit::new("a date, such as 2024-02-29", shown(text)))?;
                push_date(i64::from(days), out)
            }))
        }
    }
}

/// Times of a day, and spans, with so many digits behind the second.
pub(super) fn time(array: &dyn Array, digits: u8) -> Option<Write<'_>> {
    let times: Microseconds<'_> = match array.data_type() {
        DataType::Time32(TimeUnit::Second) => narrow::<Time32SecondType>(array, 1_000_000),
        DataType::Time32(_) => narrow::<Time32MillisecondType>(array, 1000),
        DataType::Time64(TimeUnit::Microsecond) => wide::<Time64MicrosecondType>(array, 1, 1),
        DataType::Time64(_) => wide::<Time64NanosecondType>(array, 1, 1000),
        DataType::Duration(TimeUnit::Second) => wide::<DurationSecondType>(array, 1_000_000, 1),
        DataType::Duration(TimeUnit::Millisecond) => wide::<DurationMillisecondType>(array, 1000, 1),
        DataType::Duration(TimeUnit::Microsecond) => wide::<DurationMicrosecondType>(array, 1, 1),
        DataType::Duration(TimeUnit::Nanosecond) => wide::<DurationNanosecondType>(array, 1, 1000),
        _ => {
            let texts = texts(array)?;
            Box::new(move |row| {
                let text = texts(row).trim();
                span(text).ok_or_else(|| Misfit::new("a time, such as 23:59:59 or -838:59:59", shown(text)))
            })
        }
    };
    Some(Box::new(move |row, out| {
        let time = times(row)?;
        if time.unsigned_abs() > LONGEST_TIME {
            return Err(Misfit::new("a time from -838:59:59 to 838:59:59", format!("{time} µs")));
        }
        if time < 0 {
            out.push(b'-');
        }
        push_time(time.unsigned_abs(), digits, out)
    }))
}

/// Timestamps with so many digits behind the second; `is_instant` for a column of the type `timestamp`. One without a zone counts as UTC
/// there. To a column without, an instant is written only where its zone is UTC.
pub(super) fn timestamp(array: &dyn Array, digits: u8, is_instant: bool) -> Option<Write<'_>> {
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
        if is_instant && !(FIRST_TIMESTAMP..LAST_TIMESTAMP).contains(&microseconds) {
            return Err(Misfit::new(
                "an instant from 1970-01-01 00:00:01 to 2038-01-19 03:14:07 (2106 on MariaDB 11.5), as the type timestamp has",
                format!("{microseconds} µs since 1970"),
            ));
        }
        push_date(microseconds.div_euclid(DAY), out)?;
        out.push(b' ');
        push_time(microseconds.rem_euclid(DAY).unsigned_abs(), digits, out)
    }))
}

fn push_date(days: i64, out: &mut Vec<u8>) -> Result<(), Misfit> {
    let (year, month, day) = calendar::date(days);
    match year {
        0..=9999 => {
            let _ = write!(out, "{year:04}-{month:02}-{day:02}");
            Ok(())
        }
        _ => Err(Misfit::new(
            "a date of the years 0 to 9999",
            format!("day {days} since 1970"),
        )),
    }
}

/// The server would round what stands behind the last digit.
fn push_time(microseconds: u64, digits: u8, out: &mut Vec<u8>) -> Result<(), Misfit> {
    let unit = 10_u64.pow(6_u32.saturating_sub(digits.into()));
    if !microseconds.is_multiple_of(unit) {
        return Err(Misfit::new(
            format!("a time with {digits} digits behind the second"),
            format!("{} µs", microseconds % 1_000_000),
        ));
    }
    let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let _ = write!(out, "{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if fraction > 0 {
        let _ = write!(out, ".{fraction:06}");
    }
    Ok(())
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
            return Err(wrong("whole microseconds, as MySQL counts them"));
        }
        Ok(found.timestamp_micros())
    }))
}

/// The microseconds of a text such as `-838:59:59.5`.
fn span(text: &str) -> Option<i64> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let (clock, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let number = |text: &str, longest: usize| {
        let is_number = (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_number)
    };
    let mut parts = clock.split(':');
    let hours = number(parts.next()?, 3)?;
    let minutes = number(parts.next()?, 2).filter(|minutes| *minutes < 60)?;
    let seconds = parts
        .next()
        .map_or(Some(0), |text| number(text, 2))
        .filter(|seconds| *seconds < 60)?;
    let fraction = match fraction {
        "" => 0,
        digits => number(&format!("{digits:0<6}"), 6)?,
    };
    let time = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction;
    parts.next().is_none().then_some(if is_negative { -time } else { time })
}

fn wide<'a, T: ArrowPrimitiveType<Native = i64>>(array: &'a dyn Array, times: i64, per: i64) -> Microseconds<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| scaled(array.value(row), times, per))
}

fn narrow<'a, T: ArrowPrimitiveType<Native = i32>>(array: &'a dyn Array, times: i64) -> Microseconds<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| scaled(i64::from(array.value(row)), times, 1))
}

/// Whole microseconds of a number of units.
fn scaled(value: i64, times: i64, per: i64) -> Result<i64, Misfit> {
    let refused = |expected: &str| Misfit::new(expected, format!("{value} units of {times}/{per} µs"));
    match value.checked_rem(per) {
        Some(0) => (value / per)
            .checked_mul(times)
            .ok_or_else(|| refused("a time of 64 bits of microseconds")),
        _ => Err(refused("whole microseconds, as MySQL counts them")),
    }
}

const UTC: [&str; 4] = ["UTC", "Z", "+00:00", "Etc/UTC"];
/// In microseconds.
const DAY: i64 = 86_400_000_000;
/// 838:59:59.
const LONGEST_TIME: u64 = 3_020_399_000_000;
/// The instant 0 stands for `0000-00-00 00:00:00`.
const FIRST_TIMESTAMP: i64 = 1_000_000;
/// What 32 bits of seconds have: servers that have fewer say so.
const LAST_TIMESTAMP: i64 = (1 << 32) * 1_000_000;
