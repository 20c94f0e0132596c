//! How dates are written: a picture such as `MM/DD/CCYY`, and the century that two digits of a year mean.

use chrono::{Datelike, Local, Timelike};
use tidemill_xbase::expression::Value;
use tidemill_xbase::julian::{civil_from_unix_days, unix_days_from_civil};

use crate::error::{Error, ErrorCode, Result};

/// A picture of dates. `M` and `D` stand for the digits of month and day, `CCYY` or `YYYY` for the year and `YY` for its last
/// two digits; every other character stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat {
    picture: String,
}

impl DateFormat {
    /// A picture with day, month and year.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidDateFormat`] for one that lacks a part, has one twice, or in other widths than 2, 2 and 2 or 4.
    pub fn new(picture: &str) -> Result<Self> {
        let picture = picture.to_ascii_uppercase();
        let count = |letter| picture.bytes().filter(|byte| *byte == letter).count();
        let years = (count(b'C'), count(b'Y'));
        let is_whole = (1..=2).contains(&count(b'M')) && (1..=2).contains(&count(b'D'));
        if !is_whole || !matches!(years, (0, 2 | 4) | (2, 2)) || !picture.is_ascii() || parts(&picture).len() != 3 {
            let what = format!("{picture:?} is no date format; one looks like MM/DD/CCYY");
            return Err(Error::new(ErrorCode::InvalidDateFormat, what));
        }
        Ok(Self { picture })
    }

    /// The picture in capitals.
    pub fn picture(&self) -> &str {
        &self.picture
    }

    /// A Julian day number as text; 0, the empty date, as blanks between the separators.
    pub fn format(&self, julian: i64) -> String {
        let date = Value::Date(julian).unix_days().map(civil_from_unix_days);
        let mut text = String::with_capacity(self.picture.len());
        for (letter, width) in runs(&self.picture) {
            let number = date.map(|(year, month, day)| match letter {
                'M' => month,
                'D' => day,
                _ => year.unsigned_abs(),
            });
            match (letter, number) {
                ('M' | 'D' | 'Y', Some(number)) => {
                    let digits = format!("{number:0width$}");
                    text.push_str(digits.get(digits.len() - width..).unwrap_or(&digits));
                }
                ('M' | 'D' | 'Y', None) => text.extend(std::iter::repeat_n(' ', width)),
                (other, _) => text.extend(std::iter::repeat_n(other, width)),
            }
        }
        text
    }

    /// The Julian day number of a text; 0 for one without digits. Two digits of a year mean one of the hundred from `epoch` on.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidMonth`] and [`ErrorCode::InvalidDay`] for those that there are not, [`ErrorCode::InvalidDate`] for another text
    /// that is no date in this format.
    pub fn parse(&self, text: &str, epoch: u16) -> Result<i64> {
        let no_date = |code| Error::new(code, format!("{text:?} is no date like {}", self.picture));
        let bad = || no_date(ErrorCode::InvalidDate);
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Ok(0);
        }
        let (mut year, mut month, mut day) = (0, 0, 0);
        let mut left = text.trim();
        let is_packed = !self.picture.bytes().any(|byte| !byte.is_ascii_alphabetic());
        for (letter, width) in parts(&self.picture) {
            left = left.trim_start_matches(|c: char| !c.is_ascii_digit());
            let most = if is_packed { width } else { width.max(4) };
            let len = left.bytes().take(most).take_while(u8::is_ascii_digit).count();
            let (digits, rest) = left.split_at_checked(len).ok_or_else(bad)?;
            let number: u32 = digits.parse().map_err(|_| bad())?;
            match letter {
                'M' => month = number,
                'D' => day = number,
                _ => year = if len <= 2 { in_century(number, epoch) } else { number },
            }
            left = rest;
        }
        let [year, month, day] = [year, month, day].map(i32::try_from);
        match (year, month, day) {
            (Ok(year @ 1..), Ok(month), Ok(day)) => julian(year, month, day).ok_or_else(|| {
                no_date(match month {
                    1..=12 => ErrorCode::InvalidDay,
                    _ => ErrorCode::InvalidMonth,
                })
            }),
            _ => Err(bad()),
        }
    }
}

impl Default for DateFormat {
    /// `MM/DD/CCYY`, as ACE begins.
    fn default() -> Self {
        Self {
            picture: "MM/DD/CCYY".to_owned(),
        }
    }
}

/// The Julian day number of a day of the calendar; `None` when there is no such day in the years 1 to 9999.
pub(crate) fn julian(year: i32, month: i32, day: i32) -> Option<i64> {
    match Value::from_unix_days(unix_days_from_civil(year, month, day)?) {
        Value::Date(julian) => Some(julian),
        _ => None,
    }
}

/// The Julian day number of this day and the milliseconds since midnight, where this machine is.
pub fn now() -> (i64, i64) {
    let now = Local::now();
    let ms = i64::from(now.num_seconds_from_midnight()) * 1000 + i64::from(now.timestamp_subsec_millis());
    let [month, day] = [now.month(), now.day()].map(u32::cast_signed);
    (julian(now.year(), month, day).unwrap_or(0), ms)
}

/// A time of day, in milliseconds since midnight, as ACE writes it: `02:03:04 PM`.
pub fn clock(ms: i64) -> String {
    let seconds = ms / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let half = if hour < 12 { "AM" } else { "PM" };
    let hour = match hour % 12 {
        0 => 12,
        hour => hour,
    };
    format!("{hour:02}:{minute:02}:{second:02} {half}")
}

impl DateFormat {
    /// The Julian day number and the milliseconds since midnight of a text: a date in this format or as CCYY-MM-DD, perhaps
    /// with a time behind a blank.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidDate`], [`ErrorCode::InvalidValue`].
    pub fn parse_moment(&self, text: &str, epoch: u16) -> Result<(i64, i64)> {
        let text = text.trim();
        let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
        let is_sorted = day.len() == 10 && day.as_bytes().get(4) == Some(&b'-');
        let day = match is_sorted {
            true => Self::new("CCYY-MM-DD")?.parse(day, epoch)?,
            false => self.parse(day, epoch)?,
        };
        match time.trim() {
            "" => Ok((day, 0)),
            time => Ok((day, time_of(time)?)),
        }
    }
}

/// The milliseconds since midnight of a time as [`clock`] writes it, or in 24 hours, with seconds and a part of one or without.
///
/// # Errors
/// [`ErrorCode::InvalidValue`].
pub fn time_of(text: &str) -> Result<i64> {
    let bad = || Error::new(ErrorCode::InvalidValue, format!("{text:?} is no time like 02:03:04 PM"));
    let upper = text.trim().to_ascii_uppercase();
    let (digits, half) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        _ => (upper.as_str(), None),
    };
    let (digits, part) = digits.trim().split_once('.').unwrap_or((digits.trim(), ""));
    let part = match part.len() {
        0 => 0,
        1..=3 if part.bytes().all(|byte| byte.is_ascii_digit()) => format!("{part:0<3}").parse().map_err(|_| bad())?,
        _ => return Err(bad()),
    };
    let parts = digits
        .split(':')
        .map(str::parse)
        .collect::<Result<Vec<i64>, _>>()
        .map_err(|_| bad())?;
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return Err(bad()),
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return Err(bad()),
        None => hour,
    };
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
        return Err(bad());
    }
    Ok(((hour * 60 + minute) * 60 + second) * 1000 + part)
}

fn in_century(year: u32, epoch: u16) -> u32 {
    let epoch = u32::from(epoch);
    let century = epoch - epoch % 100;
    if century + year < epoch {
        century + 100 + year
    } else {
        century + year
    }
}

/// Runs of one letter; the digits of the century count to the year.
fn runs(picture: &str) -> Vec<(char, usize)> {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for letter in picture.chars().map(|c| if c == 'C' { 'Y' } else { c }) {
        match runs.last_mut() {
            Some((last, width)) if *last == letter => *width += 1,
            _ => runs.push((letter, 1)),
        }
    }
    runs
}

fn parts(picture: &str) -> Vec<(char, usize)> {
    let is_part = |(letter, _): &(char, usize)| matches!(letter, 'M' | 'D' | 'Y');
    runs(picture).into_iter().filter(is_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_and_read_in_every_format() {
        let day = julian(2024, 1, 31).unwrap();
        assert_eq!(day, 2_460_341);
        for (picture, text) in [
            ("MM/DD/CCYY", "01/31/2024"),
            ("DD.MM.YY", "31.01.24"),
            ("yyyymmdd", "20240131"),
            ("CCYYMMDD", "20240131"),
            ("YYYY-MM-DD", "2024-01-31"),
        ] {
            let format = DateFormat::new(picture).unwrap();
            assert_eq!(format.format(day), text);
            assert_eq!(format.parse(text, 1930).unwrap(), day);
            assert_eq!(format.parse(&format.format(0), 1930).unwrap(), 0);
        }
        let short = DateFormat::new("DD.MM.YY").unwrap();
        assert_eq!(
            short.parse("1.2.30", 1930).unwrap(),
            short.parse("01.02.1930", 1930).unwrap()
        );
        assert_eq!(
            short.parse("1.2.29", 1930).unwrap(),
            short.parse("01.02.2029", 1930).unwrap()
        );
        assert_eq!(short.format(0), "  .  .  ");
    }

    #[test]
    fn a_time_is_written_and_read() {
        for (ms, text) in [
            (0, "12:00:00 AM"),
            (45_296_000, "12:34:56 PM"),
            (86_399_000, "11:59:59 PM"),
        ] {
            assert_eq!(clock(ms), text);
            assert_eq!(time_of(text).unwrap(), ms);
        }
        assert_eq!(time_of("13:05").unwrap(), 47_100_000);
        assert_eq!(time_of("00:00:01.5").unwrap(), 1500);
        assert_eq!(time_of("00:00:01.007").unwrap(), 1007);
        for bad in [
            "",
            "0:00:01.1234",
            "0:00:01.x",
            "24:00",
            "0:00 AM",
            "1",
            "1:2:3:4",
            "-1:00",
            "1:60",
        ] {
            assert_eq!(time_of(bad).unwrap_err().code(), ErrorCode::InvalidValue, "{bad}");
        }
    }

    #[test]
    fn a_moment_is_read_in_the_format_and_in_the_order_that_sorts() {
        let format = DateFormat::default();
        for (text, expected) in [
            ("01/02/2000", (2_451_546, 0)),
            ("01/02/2000 01:00:00 PM", (2_451_546, 46_800_000)),
            ("2000-01-02 13:00:00.250", (2_451_546, 46_800_250)),
            ("2000-01-02T13:00", (2_451_546, 46_800_000)),
        ] {
            assert_eq!(format.parse_moment(text, 1900).unwrap(), expected, "{text}");
        }
        for bad in ["2000-13-01", "01/02/2000 25:00", "1/2 1:00"] {
            format.parse_moment(bad, 1900).unwrap_err();
        }
    }

    #[test]
    fn what_is_no_date_or_no_format_is_an_error() {
        for picture in ["", "MM/DD", "MM/DD/YYY", "MM/MM/YY", "DDMMM/YY", "D/M/YY/D"] {
            assert_eq!(
                DateFormat::new(picture).unwrap_err().code(),
                ErrorCode::InvalidDateFormat,
                "{picture}"
            );
        }
        let format = DateFormat::default();
        for (text, code) in [
            ("02/30/2024", ErrorCode::InvalidDay),
            ("04/00/2024", ErrorCode::InvalidDay),
            ("13/01/2024", ErrorCode::InvalidMonth),
            ("00/01/2024", ErrorCode::InvalidMonth),
            ("1", ErrorCode::InvalidDate),
            ("1/2", ErrorCode::InvalidDate),
            ("00/00/0000", ErrorCode::InvalidDate),
            ("01/01/0000", ErrorCode::InvalidDate),
            ("99999999999999999999", ErrorCode::InvalidMonth),
        ] {
            assert_eq!(format.parse(text, 1900).unwrap_err().code(), code, "{text}");
        }
    }
}
