//! Days since 1970 and dates, in the Gregorian calendar for all years, as MySQL counts.

/// The day since 1970 of a date; `None` where there is no such day.
pub(crate) fn days(year: u16, month: u8, day: u8) -> Option<i32> {
    if !(1..=12).contains(&month) || day == 0 || day > length(year, month) {
        return None;
    }
    // Years begin in March, so that the day that some have stands at the end.
    let (year, month) = (i32::from(year), i32::from(month));
    let year = if month < 3 { year - 1 } else { year };
    let century = year.div_euclid(400);
    let of_century = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + i32::from(day) - 1;
    Some(century * 146_097 + of_century * 365 + of_century / 4 - of_century / 100 + of_year - FROM_YEAR_0)
}

/// The year, the month and the day of a day since 1970.
pub(crate) fn date(days: i64) -> (i64, u8, u8) {
    let since = days + i64::from(FROM_YEAR_0);
    let (century, of_century) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_century - of_century / 1460 + of_century / 36_524 - of_century / 146_096) / 365;
    let of_year = of_century - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let narrow = |number| u8::try_from(number).unwrap_or(0);
    (century * 400 + year + i64::from(month <= 2), narrow(month), narrow(day))
}

fn length(year: u16, month: u8) -> u8 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the 1st of March of the year 0 to 1970.
const FROM_YEAR_0: i32 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_go_together() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(date(day), expected);
        }
        let first = days(0, 1, 1).expect("a day");
        assert_eq!(first, -719_528);
        let mut before = (-1, 12, 31);
        for day in first..=2_932_896 {
            let found = date(i64::from(day));
            let (year, month, day_of_month) = found;
            let year = u16::try_from(year).expect("a year");
            assert_eq!(days(year, month, day_of_month), Some(day), "{found:?}");
            assert!(found > before);
            before = found;
        }
    }

    #[test]
    fn days_that_are_none() {
        for (year, month, day) in [
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 0, 1),
            (2024, 1, 0),
            (2024, 13, 1),
            (2024, 4, 31),
        ] {
            assert_eq!(days(year, month, day), None);
        }
    }
}
