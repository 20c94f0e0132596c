//! Dates and timestamps: PostgreSQL counts from the year 2000, Arrow from 1970. Both count as the Gregorian calendar does, for all years.

/// Days.
pub(crate) mod date {
    use crate::error::Misfit;

    /// From 1970-01-01 to 2000-01-01.
    pub(crate) const EPOCH: i32 = 10_957;
    /// `DATE_END_JULIAN` in PostgreSQL's `timestamp.h`: the year 5874898.
    const END: i32 = 2_145_031_949;
    /// 4713-11-24 BC, the day 0 of the Julian count.
    const BEGIN: i32 = -2_451_545;

    /// The day since 1970 of a date that was sent.
    pub(crate) fn read(days: i32) -> Result<i32, Misfit> {
        let expected = "a finite date";
        match days {
            i32::MAX => Err(super::infinite(expected, "infinity")),
            i32::MIN => Err(super::infinite(expected, "-infinity")),
            _ => days.checked_add(EPOCH).ok_or_else(|| super::infinite(expected, days)),
        }
    }

    /// A day since 1970, as it is sent.
    pub(crate) fn write(days: i32) -> Option<i32> {
        days.checked_sub(EPOCH).filter(|days| (BEGIN..END).contains(days))
    }
}

/// Microseconds.
pub(crate) mod timestamp {
    use crate::error::Misfit;

    /// From 1970-01-01 to 2000-01-01.
    const EPOCH: i64 = super::date::EPOCH as i64 * 86_400_000_000;
    /// `END_TIMESTAMP` and `MIN_TIMESTAMP` in PostgreSQL's `timestamp.h`.
    const END: i64 = 9_223_371_331_200_000_000;
    const BEGIN: i64 = -211_813_488_000_000_000;

    /// Microseconds since 1970 of a timestamp that was sent.
    pub(crate) fn read(microseconds: i64) -> Result<i64, Misfit> {
        let expected = "a finite timestamp before the year 294247";
        match microseconds {
            i64::MAX => Err(super::infinite(expected, "infinity")),
            i64::MIN => Err(super::infinite(expected, "-infinity")),
            _ => {
                let since = microseconds.checked_add(EPOCH);
                since.ok_or_else(|| super::infinite(expected, format!("{microseconds} µs since 2000")))
            }
        }
    }

    /// Microseconds since 1970, as they are sent.
    pub(crate) fn write(microseconds: i64) -> Option<i64> {
        microseconds
            .checked_sub(EPOCH)
            .filter(|since| (BEGIN..END).contains(since))
    }
}

fn infinite(expected: &str, found: impl std::fmt::Display) -> crate::error::Misfit {
    let found = format!("{found}, which Arrow has no value for (unrepresentable=null reads NULL)");
    crate::error::Misfit::new(expected, found)
}
