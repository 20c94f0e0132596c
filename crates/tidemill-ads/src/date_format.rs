//! How dates are written: a picture such as `MM/DD/CCYY`, and the century that two digits of a year mean.

use chrono::{Datelike, NaiveDate};

use crate::error::{Error, ErrorCode, Result};

/// The Julian day number of the day before 0001-01-01.
const JULIAN_BEFORE_YEAR_ONE: i64 = 1_721_425;

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
        let date = civil(julian);
        let mut text = String::with_capacity(self.picture.len());
        for (letter, width) in runs(&self.picture) {
            let number = date.map(|date| match letter {
                'M' => date.month(),
                'D' => date.day(),
                _ => date.year().unsigned_abs(),
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
    /// [`ErrorCode::InvalidDate`] for a text that is no date in this format.
    pub fn parse(&self, text: &str, epoch: u16) -> Result<i64> {
        let bad = || {
            Error::new(
                ErrorCode::InvalidDate,
                format!("{text:?} is no date like {}", self.picture),
            )
        };
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
        let year = i32::try_from(year).map_err(|_| bad())?;
        NaiveDate::from_ymd_opt(year, month, day)
            .filter(|date| (1..=9999).contains(&date.year()))
            .map(julian)
            .ok_or_else(bad)
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

/// The Julian day number of a date.
pub(crate) fn julian(date: NaiveDate) -> i64 {
    i64::from(date.num_days_from_ce()) + JULIAN_BEFORE_YEAR_ONE
}

/// The date of a Julian day number; `None` for the empty date and what no calendar has.
pub(crate) fn civil(julian: i64) -> Option<NaiveDate> {
    let days = i32::try_from(julian - JULIAN_BEFORE_YEAR_ONE).ok()?;
    NaiveDate::from_num_days_from_ce_opt(days).filter(|date| (1..=9999).contains(&date.year()))
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
        let day = julian(NaiveDate::from_ymd_opt(2024, 1, 31).unwrap());
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
    fn what_is_no_date_or_no_format_is_an_error() {
        for picture in ["", "MM/DD", "MM/DD/YYY", "MM/MM/YY", "DDMMM/YY", "D/M/YY/D"] {
            assert_eq!(
                DateFormat::new(picture).unwrap_err().code(),
                ErrorCode::InvalidDateFormat,
                "{picture}"
            );
        }
        let format = DateFormat::default();
        for text in [
            "02/30/2024",
            "13/01/2024",
            "1",
            "1/2",
            "00/00/0000",
            "99999999999999999999",
        ] {
            assert_eq!(
                format.parse(text, 1900).unwrap_err().code(),
                ErrorCode::InvalidDate,
                "{text}"
            );
        }
    }
}
