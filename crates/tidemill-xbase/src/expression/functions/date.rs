//! Functions over dates, timestamps and the clock.

use super::super::environment::Environment;
use super::super::format;
use super::super::lexer::time_of;
use super::super::program::Call;
use super::super::value::{DAY_MS, Type, Value, civil, julian_day};
use super::{Answer, Function, Gives, Nature, function};

const TEXT: Gives = Gives::Is(Type::Character);
const DATE: Gives = Gives::Is(Type::Date);
const MOMENT: Gives = Gives::Is(Type::Timestamp);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

pub(super) const FUNCTIONS: &[Function] = &[
    function("CDOW", "T", TEXT, |_, a| name(&DAYS, day_of_week(a[0].day()))),
    function("CMONTH", "T", TEXT, |_, a| {
        name(&MONTHS, civil(a[0].day()).map_or(0, |(_, month, _)| month))
    }),
    function("CTOD", "C", DATE, |call, a| {
        Ok(Value::Date(format::parse_date(a[0].bytes(), call.environment)))
    }),
    function("CTOT", "C", MOMENT, |call, a| {
        Ok(moment(a[0].bytes(), call.environment))
    }),
    function("CTOTS", "C", MOMENT, |call, a| {
        Ok(moment(a[0].bytes(), call.environment))
    }),
    function("DATE", "[NNN", DATE, |call, a| match a {
        [] => Ok(Value::Date(now(call).day())),
        _ => {
            let part = |i: usize| a.get(i).map_or(1, Value::integer);
            Ok(Value::Date(julian_day(part(0), part(1), part(2)).unwrap_or(0)))
        }
    })
    .nature(Nature::Clock),
    function("DAY", "T", Gives::Whole(3), |_, a| {
        part(&a[0], |(_, _, day)| f64::from(day))
    }),
    function("DOW", "T", Gives::Whole(3), |_, a| {
        Ok(Value::Number(f64::from(day_of_week(a[0].day()))))
    }),
    function("DTOC", "T[N", TEXT, |call, a| {
        Ok(Value::text(match a.get(1) {
            // FoxPro's way to ask for what sorts.
            Some(_) => format::compact_date(a[0].day()).to_vec(),
            None => format::date(a[0].day(), call.environment),
        }))
    }),
    function("DTOS", "T", TEXT, |_, a| {
        Ok(Value::text(format::compact_date(a[0].day()).to_vec()))
    }),
    function("DTOT", "T", MOMENT, |_, a| {
        Ok(Value::Timestamp(a[0].day().saturating_mul(DAY_MS)))
    }),
    function("HOUR", "T", Gives::Whole(3), |_, a| clock(&a[0], 3_600_000, 24)),
    function("MINUTE", "T", Gives::Whole(3), |_, a| clock(&a[0], 60_000, 60)),
    function("MONTH", "T", Gives::Whole(3), |_, a| {
        part(&a[0], |(_, month, _)| f64::from(month))
    }),
    function("NOW", "", MOMENT, |call, _| Ok(now(call))).nature(Nature::Clock),
    function("SEC", "T", Gives::Whole(3), |_, a| clock(&a[0], 1000, 60)),
    function("STOD", "C", DATE, |_, a| {
        Ok(Value::Date(format::parse_compact_date(a[0].bytes())))
    }),
    function("STOTS", "C", MOMENT, |_, a| Ok(compact_moment(a[0].bytes()))),
    function("TIME", "", TEXT, |call, _| {
        Ok(Value::text(format::clock(now(call).ms_of_day()).into_bytes()))
    })
    .nature(Nature::Clock),
    function("TODAY", "", DATE, |call, _| Ok(Value::Date(now(call).day()))).nature(Nature::Clock),
    function("TSTOD", "T", DATE, |_, a| Ok(Value::Date(a[0].day()))),
    function("TTOC", "T[N", TEXT, |call, a| {
        Ok(Value::text(match a.get(1) {
            // Zeros throughout, as keys of FoxPro's have it.
            Some(_) if call.environment.is_foxpro && a[0].day() == 0 => vec![b'0'; 14],
            Some(_) => {
                let clock = format::clock(a[0].ms_of_day()).replace(':', "");
                [&format::compact_date(a[0].day())[..], clock.as_bytes()].concat()
            }
            None => show(&a[0], call.environment),
        }))
    }),
    function("TTOD", "T", DATE, |_, a| Ok(Value::Date(a[0].day()))),
    function("YEAR", "T", Gives::Whole(5), |_, a| {
        part(&a[0], |(year, _, _)| f64::from(year))
    }),
];

/// A timestamp as `DTOC()` and the time of day.
pub(super) fn show(moment: &Value<'_>, environment: &Environment) -> Vec<u8> {
    let mut out = format::date(moment.day(), environment);
    out.push(b' ');
    out.extend_from_slice(format::clock(moment.ms_of_day()).as_bytes());
    out
}

fn now<'a>(call: &Call<'_>) -> Value<'a> {
    Value::from_unix_ms(call.environment.now)
}

/// Sunday is 1; 0 for the empty date.
fn day_of_week(day: i64) -> u32 {
    match civil(day) {
        // Julian day 0 was a Monday.
        Some(_) => u32::try_from((day + 1).rem_euclid(7)).unwrap_or_default() + 1,
        None => 0,
    }
}

/// A name by its number from 1; an empty text for 0.
fn name<'a>(names: &[&'static str], number: u32) -> Answer<'a> {
    let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
    Ok(Value::text(
        index.and_then(|i| names.get(i)).copied().unwrap_or_default().as_bytes(),
    ))
}

fn part<'a>(value: &Value<'_>, part: impl Fn((i32, u32, u32)) -> f64) -> Answer<'a> {
    Ok(Value::Number(civil(value.day()).map_or(0.0, part)))
}

fn clock<'a>(value: &Value<'_>, unit: i64, most: i64) -> Answer<'a> {
    let n = i32::try_from(value.ms_of_day() / unit % most).unwrap_or_default();
    Ok(Value::Number(f64::from(n)))
}

/// A date as `CTOD()` reads it and a time of day, or one of them.
fn moment<'a>(text: &[u8], environment: &Environment) -> Value<'a> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, time),
        None if text.contains(':') => ("", text),
        None => (text, ""),
    };
    let day = format::parse_date(date.as_bytes(), environment);
    let time = if time.is_empty() { Some(0) } else { time_of(time) };
    match time {
        Some(ms) if day != 0 || date.is_empty() => Value::Timestamp(day * DAY_MS + ms),
        _ => Value::Timestamp(0),
    }
}

/// YYYYMMDDhhmmss, or as much of it as there is.
fn compact_moment<'a>(text: &[u8]) -> Value<'a> {
    let day = format::parse_compact_date(text);
    let clock = |from: usize, most: i64| match text.get(from..from + 2).map(format::digits) {
        Some(Some(n)) if n < most => n,
        _ => 0,
    };
    if day == 0 {
        return Value::Timestamp(0);
    }
    let seconds = (clock(8, 24) * 60 + clock(10, 60)) * 60 + clock(12, 60);
    Value::Timestamp(day * DAY_MS + seconds * 1000)
}
