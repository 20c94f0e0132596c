//! Functions of dates and times. A text where a date belongs is read as one; the parts of a blank date are 0.

use arrow_array::{Date32Array, Int64Array, TimestampMillisecondArray};
use tidemill_xbase::julian::{civil_from_unix_days, days_in_month};

use super::{Call, Function, Gives, argument, columns, kernel, nulls, session};
use crate::sql::arithmetic::Numbers;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{
    DAY_MS, EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value, day_of, days_from_civil, f64_to_i64, midnight, time_text,
};
use crate::sql::vector::Vector;

const NUMBER: Gives = Gives::Is(Type::Integer);
const DATE: Gives = Gives::Is(Type::Date);
const MOMENT: Gives = Gives::Is(Type::Timestamp);

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    columns("CREATETIMESTAMP", "NNNNNNN", MOMENT, create),
    kernel("CTOD", "C", DATE, &["CTOD(T1)"]),
    kernel("CTOT", "C", MOMENT, &["CTOT(T1)"]),
    kernel("CTOTS", "C", MOMENT, &["CTOTS(T1)"]),
    session("CURDATE", Type::Date, |session| Value::Date(day_of(session.now))),
    session("CURRENT_DATE", Type::Date, |session| Value::Date(day_of(session.now))),
    session("CURRENT_TIME", Type::Time, clock),
    session("CURRENT_TIMESTAMP", Type::Timestamp, |session| Value::Timestamp(session.now)),
    session("CURRENT_TIMESTAMP_UTC", Type::Timestamp, |session| Value::Timestamp(session.now - session.utc_offset)),
    session("CURTIME", Type::Time, clock),
    session("DATE", Type::Date, |session| Value::Date(day_of(session.now))),
    columns("DAY", "D", NUMBER, |call, a| parts(call, a, |day, _| i64::from(civil_from_unix_days(day).2))),
    kernel("DAYNAME", "D", Gives::Is(Type::Text(9)), &["CDOW(D1)"]),
    columns("DAYOFMONTH", "D", NUMBER, |call, a| parts(call, a, |day, _| i64::from(civil_from_unix_days(day).2))),
    columns("DAYOFWEEK", "D", NUMBER, |call, a| parts(call, a, |day, _| day_of_week(day) + 1)),
    columns("DAYOFYEAR", "D", NUMBER, |call, a| parts(call, a, |day, _| day_of_year(day))),
    kernel("DTOC", "D[*", Gives::Is(Type::Text(10)), &["DTOC(D1)", "DTOC(D1)"]),
    kernel("DTOS", "D", Gives::Is(Type::Text(8)), &["DTOS(D1)"]),
    columns("FRAC_SECOND", "D", NUMBER, |call, a| parts(call, a, |_, ms| ms % 1000)),
    columns("HOUR", "T", NUMBER, |call, a| parts(call, a, |_, ms| ms / 3_600_000)),
    columns("ISOWEEK", "D", NUMBER, |call, a| parts(call, a, |day, _| iso_week(day))),
    columns("MINUTE", "T", NUMBER, |call, a| parts(call, a, |_, ms| ms / 60_000 % 60)),
    columns("MONTH", "D", NUMBER, |call, a| parts(call, a, |day, _| i64::from(civil_from_unix_days(day).1))),
    kernel("MONTHNAME", "D", Gives::Is(Type::Text(9)), &["CMONTH(D1)"]),
    session("NOW", Type::Timestamp, |session| Value::Timestamp(session.now)),
    session("NOW_UTC", Type::Timestamp, |session| Value::Timestamp(session.now - session.utc_offset)),
    columns("QUARTER", "D", NUMBER, |call, a| parts(call, a, |day, _| (i64::from(civil_from_unix_days(day).1) + 2) / 3)),
    columns("SECOND", "T", NUMBER, |call, a| parts(call, a, |_, ms| ms / 1000 % 60)),
    kernel("STOD", "C", DATE, &["STOD(T1)"]),
    columns("STOTS", "C", MOMENT, compact),
    session("TIME", Type::Text(8), |session| Value::Text(time_text(session.now.rem_euclid(DAY_MS)))),
    columns("TIMESTAMPADD", "CND", MOMENT, add),
    columns("TIMESTAMPDIFF", "CDD", NUMBER, difference),
    session("TODAY", Type::Date, |session| Value::Date(day_of(session.now))),
    columns("TSTOD", "D", DATE, |call, a| {
        let moments = moments(call, a, 0)?;
        let days = (0..call.rows).map(|row| moments.value(row)).map(day_of);
        Ok(Vector::Date(Date32Array::new(days.collect(), nulls(a))))
    }),
    kernel("TTOC", "D[*", Gives::Is(Type::Text(22)), &["TTOC(S1)", "TTOC(S1)"]),
    columns("WEEK", "D", NUMBER, |call, a| parts(call, a, |day, _| {
        let (year, ..) = civil_from_unix_days(day);
        let first = days_from_civil(i64::from(year), 1, 1).unwrap_or(day);
        (day_of_year(day) + day_of_week(first) - 1) / 7 + 1
    })),
    columns("YEAR", "D", NUMBER, |call, a| parts(call, a, |day, _| i64::from(civil_from_unix_days(day).0))),
];

fn clock(session: &super::Session<'_>) -> Value {
    Value::Time(i32::try_from(session.now.rem_euclid(DAY_MS)).unwrap_or_default())
}

/// An argument as moments; a time of day is one of 1970-01-01.
fn moments(call: &Call<'_>, arguments: &[Vector], place: usize) -> Result<TimestampMillisecondArray> {
    let vector = argument(arguments, place).clone();
    let wrong = || {
        Error::new(
            Kind::Type,
            format!("Argument {} of {}() is a date or time", place + 1, call.name),
        )
    };
    let vector = match vector {
        Vector::Time(array) => {
            let values = array.values().iter().map(|ms| i64::from(*ms));
            return Ok(TimestampMillisecondArray::new(values.collect(), array.nulls().cloned()));
        }
        Vector::Constant(Value::Time(ms)) => Vector::Constant(Value::Timestamp(i64::from(ms))),
        Vector::Constant(Value::Text(text)) if text.contains(':') && !text.trim().contains([' ', 'T', '-']) => {
            let ms = crate::sql::value::parse_time(&text).ok_or_else(wrong)?;
            Vector::Constant(Value::Timestamp(i64::from(ms)))
        }
        other => other,
    };
    match vector.cast(Type::Timestamp, call.rows)?.into_rows(call.rows) {
        Vector::Timestamp(array) => Ok(array),
        _ => Err(wrong()),
    }
}

/// A number of each day and time of it; 0 of a blank one.
fn parts(call: &Call<'_>, arguments: &[Vector], part: impl Fn(i32, i64) -> i64) -> Result<Vector> {
    if let Vector::Date(array) = argument(arguments, 0) {
        let of = |day: &i32| if *day == EMPTY_DATE { 0 } else { part(*day, 0) };
        let values = array.values().iter().map(of).collect();
        return Ok(Vector::Integer(Int64Array::new(values, array.nulls().cloned())));
    }
    let moments = moments(call, arguments, 0)?;
    let of = |ms: i64| match ms {
        EMPTY_TIMESTAMP => 0,
        ms => part(day_of(ms), ms.rem_euclid(DAY_MS)),
    };
    let values = moments.values().iter().map(|ms| of(*ms)).collect();
    Ok(Vector::Integer(Int64Array::new(values, moments.nulls().cloned())))
}

/// From 0, Sunday.
fn day_of_week(day: i32) -> i64 {
    (i64::from(day) + 4).rem_euclid(7)
}

fn day_of_year(day: i32) -> i64 {
    let (year, ..) = civil_from_unix_days(day);
    days_from_civil(i64::from(year), 1, 1).map_or(0, |first| i64::from(day) - i64::from(first) + 1)
}

/// The week whose Thursday is in the year.
fn iso_week(day: i32) -> i64 {
    let of_week = (i64::from(day) + 3).rem_euclid(7);
    let thursday = i64::from(day) - of_week + 3;
    i32::try_from(thursday).map_or(0, |thursday| (day_of_year(thursday) - 1) / 7 + 1)
}

fn create(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let mut numbers = Vec::new();
    for place in 0..7 {
        let Some(part) = Numbers::of(argument(arguments, place)).map(Numbers::doubles) else {
            return Err(Error::new(Kind::Type, "CREATETIMESTAMP() takes numbers"));
        };
        numbers.push(part);
    }
    let moment = |row: usize| {
        let part = |place: usize| numbers.get(place).and_then(|part| f64_to_i64(part.get(row)));
        let day = days_from_civil(part(0)?, part(1)?, part(2)?)?;
        let (hour, minute, second, ms) = (part(3)?, part(4)?, part(5)?, part(6)?);
        let is_time = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..1000).contains(&ms);
        is_time.then(|| midnight(day) + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms)
    };
    Ok(Vector::Timestamp((0..call.rows).map(moment).collect()))
}

/// `YYYYMMDD HH:MM:SS.mmm`.
fn compact(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let texts = argument(arguments, 0).texts(call.rows);
    let moments =
        (0..call.rows).map(|row| crate::sql::value::parse_timestamp(texts.trimmed(row)).or(Some(EMPTY_TIMESTAMP)));
    Ok(Vector::Timestamp(moments.collect()))
}

/// The units of `TIMESTAMPADD` and `TIMESTAMPDIFF`: milliseconds, or months.
#[derive(Clone, Copy)]
enum Unit {
    Milliseconds(i64),
    Months(i64),
}

fn unit(call: &Call<'_>, arguments: &[Vector]) -> Result<Unit> {
    let named = argument(arguments, 0).value(0).to_text().to_ascii_uppercase();
    Ok(match named.strip_prefix("SQL_TSI_").unwrap_or(&named) {
        "FRAC_SECOND" => Unit::Milliseconds(1),
        "SECOND" => Unit::Milliseconds(1000),
        "MINUTE" => Unit::Milliseconds(60_000),
        "HOUR" => Unit::Milliseconds(3_600_000),
        "DAY" => Unit::Milliseconds(DAY_MS),
        "WEEK" => Unit::Milliseconds(7 * DAY_MS),
        "MONTH" => Unit::Months(1),
        "QUARTER" => Unit::Months(3),
        "YEAR" => Unit::Months(12),
        other => {
            let why = format!("{}() knows no interval {other}", call.name);
            return Err(Error::new(Kind::Value, why));
        }
    })
}

fn add(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let unit = unit(call, arguments)?;
    let moments = moments(call, arguments, 2)?;
    let Some(counts) = Numbers::of(argument(arguments, 1)).map(Numbers::doubles) else {
        return Err(Error::new(Kind::Type, "TIMESTAMPADD() takes a number of intervals"));
    };
    let later = |(row, ms): (usize, Option<i64>)| {
        let (ms, count) = (ms?, f64_to_i64(counts.get(row))?);
        if ms == EMPTY_TIMESTAMP {
            return Some(ms);
        }
        match unit {
            Unit::Milliseconds(unit) => ms.checked_add(unit.checked_mul(count)?),
            Unit::Months(unit) => {
                let (year, month, day) = civil_from_unix_days(day_of(ms));
                let months = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(unit.checked_mul(count)?)?;
                let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
                let last = days_in_month(i32::try_from(year).ok()?, i32::try_from(month).ok()?);
                let day = days_from_civil(year, month, i64::from(day).min(last.into()))?;
                Some(midnight(day) + ms.rem_euclid(DAY_MS))
            }
        }
    };
    Ok(Vector::Timestamp(moments.iter().enumerate().map(later).collect()))
}

/// How many whole intervals lie between two moments.
fn difference(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let unit = unit(call, arguments)?;
    let (from, to) = (moments(call, arguments, 1)?, moments(call, arguments, 2)?);
    let between = |(from, to): (Option<i64>, Option<i64>)| {
        let (from, to) = (from?, to?);
        if from == EMPTY_TIMESTAMP || to == EMPTY_TIMESTAMP {
            return Some(0);
        }
        Some(match unit {
            Unit::Milliseconds(unit) => (to - from) / unit,
            Unit::Months(unit) => {
                let months = |ms: i64| {
                    let (year, month, _) = civil_from_unix_days(day_of(ms));
                    i64::from(year) * 12 + i64::from(month)
                };
                let within = |ms: i64| (civil_from_unix_days(day_of(ms)).2, ms.rem_euclid(DAY_MS));
                let mut count = months(to) - months(from);
                if count > 0 && within(to) < within(from) {
                    count -= 1;
                } else if count < 0 && within(to) > within(from) {
                    count += 1;
                }
                count / unit
            }
        })
    };
    Ok(Vector::Integer(from.iter().zip(to.iter()).map(between).collect()))
}

use arrow_array::Array as _;
