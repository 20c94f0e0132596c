//! What a program sets for all its tables.

use std::time::Duration;

use chrono::{Datelike, Local};
use tidemill_xbase::expression::{DateOrder, Environment, Letters};
use tidemill_xbase::{CivilDate, CodePage};

use crate::date_format::DateFormat;
use crate::paths::Paths;
use crate::progress::Progress;

/// What a program sets for all its tables, as `SET` does in xBase programs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How dates are written in texts. Default: `MM/DD/CCYY`.
    pub date_format: DateFormat,
    /// How many decimals a number has in a text. Default: 2.
    pub decimals: u16,
    /// The first of the hundred years that two digits mean. Default: 1900.
    pub epoch: u16,
    /// Whether texts are equal only if they have the same length. Default: false.
    pub exact: bool,
    /// Whether records that are marked as deleted are shown. Default: true.
    pub show_deleted: bool,
    /// Where files are looked for, and how the names of other systems become paths.
    pub paths: Paths,
    /// How many cursors over tables stay open after they are closed, for the next statement over the same table. They keep others
    /// from opening it exclusively. Default: 25, as in ACE.
    pub cached_cursors: usize,
    /// How long a lock is asked for again and again while others hold it. Default: none at all, as ACE does.
    pub lock_timeout: Duration,
    /// Who is told how far long work is. Default: nobody.
    pub progress: Progress,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            date_format: DateFormat::default(),
            decimals: 2,
            epoch: 1900,
            exact: false,
            show_deleted: true,
            paths: Paths::default(),
            cached_cursors: 25,
            lock_timeout: Duration::ZERO,
            progress: Progress::default(),
        }
    }
}

impl Settings {
    /// Whether expressions mean the same under others, but for the clock.
    pub(crate) fn compile_alike(&self, other: &Self) -> bool {
        (self.exact, self.decimals, self.epoch) == (other.exact, other.decimals, other.epoch)
            && self.date_format.picture() == other.date_format.picture()
    }

    /// What expressions of a table depend on: the letters of its code page, and these settings.
    pub(crate) fn environment(&self, codepage: CodePage, letters: &Letters, alias: &str) -> Environment {
        let picture = self.date_format.picture();
        let order = match (picture.find('D'), picture.find('M'), picture.find('Y')) {
            (Some(day), Some(month), Some(year)) if year < month && month < day => DateOrder::YearMonthDay,
            (Some(day), Some(month), _) if day < month => DateOrder::DayMonthYear,
            _ => DateOrder::MonthDayYear,
        };
        let separator = picture.bytes().find(|byte| !byte.is_ascii_alphabetic()).unwrap_or(b'/');
        let century = picture.contains("CC") || picture.contains("YYYY");
        Environment::new(codepage)
            .letters(letters.clone())
            .exact(self.exact)
            .decimals(u8::try_from(self.decimals).unwrap_or(u8::MAX))
            .epoch(self.epoch)
            .date_format(order, separator, century)
            .now(local_now())
            .alias(alias)
    }
}

/// Milliseconds since 1970-01-01 00:00, local time.
pub(crate) fn local_now() -> i64 {
    Local::now().naive_local().and_utc().timestamp_millis()
}

/// The day that headers name as that of the last change.
pub(crate) fn today() -> CivilDate {
    let today = Local::now().date_naive();
    let narrow = |number: u32| u8::try_from(number).unwrap_or_default();
    CivilDate {
        year: u16::try_from(today.year()).unwrap_or_default(),
        month: narrow(today.month()),
        day: narrow(today.day()),
    }
}
