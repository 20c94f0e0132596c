//! Which dates and instants a reader of blocks shows as they are.
//!
//! Dates and times are numbers of 16 to 64 bits, and any number can be stored. What ClickHouse makes of one depends on its
//! version: beyond the range it shows, compares and casts the first or the last day of it, without an error, while the number
//! that it stored is still the old one. So whoever writes has to know the range.
//!
//! | version | `Date32` | `DateTime64` | source |
//! |---|---|---|---|
//! | before 21.4 | none | 1970-01-01 to 2106-02-06 | what 18.16 shows of `DateTime` |
//! | 21.4 to 22.7 | 1925-01-01 to 2283-11-11, since 21.9 | the same | pull request 9404 |
//! | 22.8 to 26.7 | 1900-01-01 to 2299-12-31 | the same | pull request 39425 |
//! | 26.8 | 1900-01-01 to 2299-12-31 | 0000-01-01 to 9999-12-31 | pull request 107907 |
//! | from 26.9 | 0000-01-01 to 9999-12-31 | the same | pull request 111534 |
//!
//! `Date` and `DateTime` have all days that their bits can count, to 2149-06-06 and 2106-02-07; before 21.4 to 2106-02-07 and
//! 2106-02-06, behind which comes 1970 again. `Time` and `Time64` have less than 1000 hours in both directions.
//!
//! Instants are compared in UTC: within a day of an end of the range a time zone decides, which is not looked at here. Ticks of
//! many digits end before the range does, where 64 bits do: those of nanoseconds are in 1677-09-21 to 2262-04-11.

/// The dates and instants that a reader shows as they are. See the [module's table](self) for those of servers.
///
/// What is written for one is checked against it: a value outside of it is an error instead of another date.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Calendar {
    /// The last day of `Date`, since 1970-01-01.
    pub(crate) last_date: i32,
    /// The first and the last day of `Date32`, since then.
    pub(crate) days: (i32, i32),
    /// The last second of `DateTime`, since then.
    pub(crate) last_second: i64,
    /// The first and the last second of `DateTime64`, since then.
    seconds: (i64, i64),
    /// The greatest time of `Time` and `Time64`, in seconds, in both directions.
    clock: i64,
}

impl Calendar {
    /// Every number that the types can hold, whatever a server makes of it.
    pub const ANY: Self = Self {
        last_date: u16::MAX as i32,
        days: (i32::MIN, i32::MAX),
        last_second: u32::MAX as i64,
        seconds: (i64::MIN, i64::MAX),
        clock: i64::MAX,
    };
    /// 1970-01-01 to 2106-02-06: servers before 21.4, whose `DateTime64` is no wider than `DateTime`.
    pub const UNTIL_2106: Self = Self {
        last_date: 49_710,
        last_second: 49_710 * DAY - 1,
        ..Self::of_days(0, 49_709)
    };
    /// 1925-01-01 to 2283-11-11: servers from 21.4 to 22.7.
    pub const UNTIL_2283: Self = Self::of_days(-16_436, 114_635);
    /// 1900-01-01 to 2299-12-31: servers from 22.8 to 26.7, and what those of every later version show too.
    pub const UNTIL_2299: Self = Self::of_days(-25_567, 120_529);
    /// 0000-01-01 to 9999-12-31: servers from 26.9 on.
    pub const UNTIL_9999: Self = Self::of_days(-719_528, 2_932_896);

    /// That of a server of this version, as it says in its hello ([`ServerHello`](crate::packet::server::ServerHello)).
    #[must_use]
    pub const fn of_version(major: u64, minor: u64) -> Self {
        match (major, minor) {
            (0..=20, _) | (21, 0..=3) => Self::UNTIL_2106,
            (21, _) | (22, 0..=7) => Self::UNTIL_2283,
            (22..=25, _) | (26, 0..=7) => Self::UNTIL_2299,
            (26, 8) => Self {
                seconds: Self::UNTIL_9999.seconds,
                ..Self::UNTIL_2299
            },
            _ => Self::UNTIL_9999,
        }
    }

    const fn of_days(first: i32, last: i32) -> Self {
        Self {
            days: (first, last),
            seconds: (first as i64 * DAY, (last as i64 + 1) * DAY - 1),
            clock: 1000 * 3600 - 1,
            ..Self::ANY
        }
    }

    /// The first and the last tick of `DateTime64`, of `digits` digits after the second.
    pub(crate) fn ticks(&self, digits: u8) -> (i64, i64) {
        let (first, last) = self.seconds;
        (
            first.saturating_mul(10_i64.saturating_pow(digits.into())),
            last_tick(last, digits),
        )
    }

    /// The least and the greatest tick of `Time` and `Time64`.
    pub(crate) fn clock_ticks(&self, digits: u8) -> (i64, i64) {
        let last = last_tick(self.clock, digits);
        (last.saturating_neg(), last)
    }
}

/// The last tick in a second.
fn last_tick(second: i64, digits: u8) -> i64 {
    let scale = 10_i64.saturating_pow(digits.into());
    second.saturating_mul(scale).saturating_add(scale - 1)
}

const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::text;

    #[test]
    fn ranges_are_the_dates_of_the_table() {
        for ((major, minor), days, instants) in [
            ((18, 16), ["1970-01-01", "2106-02-06"], ["1970-01-01", "2106-02-06"]),
            ((21, 3), ["1970-01-01", "2106-02-06"], ["1970-01-01", "2106-02-06"]),
            ((21, 9), ["1925-01-01", "2283-11-11"], ["1925-01-01", "2283-11-11"]),
            ((22, 7), ["1925-01-01", "2283-11-11"], ["1925-01-01", "2283-11-11"]),
            ((22, 8), ["1900-01-01", "2299-12-31"], ["1900-01-01", "2299-12-31"]),
            ((26, 7), ["1900-01-01", "2299-12-31"], ["1900-01-01", "2299-12-31"]),
            ((26, 8), ["1900-01-01", "2299-12-31"], ["0000-01-01", "9999-12-31"]),
            ((26, 9), ["0000-01-01", "9999-12-31"], ["0000-01-01", "9999-12-31"]),
            ((27, 1), ["0000-01-01", "9999-12-31"], ["0000-01-01", "9999-12-31"]),
        ] {
            let calendar = Calendar::of_version(major, minor);
            let (first, last) = calendar.days;
            assert_eq!([first, last].map(|day| text::date(day.into())), days, "{major}.{minor}");
            let (first, last) = calendar.ticks(3);
            let ends = [(first, "T00:00:00.000Z"), (last, "T23:59:59.999Z")];
            for ((tick, clock), day) in ends.into_iter().zip(instants) {
                assert_eq!(text::instant(tick, 3), format!("{day}{clock}"), "{major}.{minor}");
            }
        }
        assert_eq!(Calendar::UNTIL_9999.ticks(9), (i64::MIN, i64::MAX));
        assert_eq!(Calendar::ANY.ticks(0), (i64::MIN, i64::MAX));
    }
}
