//! Days: the civil calendar, Julian day numbers and the days since 1970-01-01 that Arrow counts.
//!
//! The calendar is the Gregorian one throughout, as in every xBase program. Arithmetic after the well-known reckoning in
//! eras of 400 years that begin in March, so that the leap day comes last.

/// The Julian day number of 1970-01-01.
const UNIX_EPOCH: u32 = 2_440_588;
/// The Julian day number of 10000-01-01: xBase dates have four digits for the year.
const YEAR_10000: u32 = 5_373_485;

/// Days since 1970-01-01 of a Julian day number; `None` from the year 10000 on.
pub(crate) fn unix_days(julian: u32) -> Option<i32> {
    if julian >= YEAR_10000 {
        return None;
    }
    i32::try_from(i64::from(julian) - i64::from(UNIX_EPOCH)).ok()
}

/// The Julian day number of days since 1970-01-01; `None` outside what xBase can store.
pub(crate) fn from_unix_days(days: i32) -> Option<u32> {
    u32::try_from(i64::from(days) + i64::from(UNIX_EPOCH))
        .ok()
        .filter(|j| (1..YEAR_10000).contains(j))
}

/// Days since 1970-01-01; `None` when there is no such day in the years 1 to 9999.
pub fn unix_days_from_civil(year: i32, month: i32, day: i32) -> Option<i32> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of days since 1970-01-01.
pub fn civil_from_unix_days(days: i32) -> (i32, u32, u32) {
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day = shifted.rem_euclid(146_097);
    let of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + of_era + i64::from(month <= 2);
    let narrow = |n: i64| u32::try_from(n).unwrap_or_default();
    (i32::try_from(year).unwrap_or_default(), narrow(month), narrow(of_month))
}

/// How many days a month from 1 to 12 has.
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        for (year, month, day, expected) in [
            (1970, 1, 1, Some(0)),
            (2000, 2, 29, Some(11_016)),
            (1900, 2, 29, None),
            (2024, 2, 29, Some(19_782)),
            (2023, 13, 1, None),
            (2023, 4, 31, None),
            (0, 1, 1, None),
            (1, 1, 1, Some(-719_162)),
            (9999, 12, 31, Some(2_932_896)),
        ] {
            assert_eq!(unix_days_from_civil(year, month, day), expected, "{year}-{month}-{day}");
        }
        // The day of the golden tables: 0x00258AD2 is 2024-02-29.
        assert_eq!(unix_days(0x0025_8AD2), Some(19_782));
        assert_eq!(unix_days(YEAR_10000), None);
    }

    #[test]
    fn every_day_of_ten_thousand_years_comes_back() {
        for days in -719_162..=2_932_896 {
            let (year, month, day) = civil_from_unix_days(days);
            let back = unix_days_from_civil(year, month.cast_signed(), day.cast_signed());
            assert_eq!(back, Some(days));
        }
    }
}
