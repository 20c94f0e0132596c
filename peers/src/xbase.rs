//! Table engines, each put to the same questions about the same table.
//!
//! The table has ID N(8,0) from 1 on, TAG C(4), one of AAAA to ZZZZ, and AMT N(8,2), from a fixed seed. Every answer is checked
//! against the rows that the table was made of.

pub mod abi;
pub mod abi_joins;
pub mod abi_sql;
mod dbase;
pub mod limits;
mod python;
pub mod question;
mod rivals;
mod sqlite;
mod table;
pub mod tidemill;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

pub use self::{dbase::ask as ask_dbase, python::ask as ask_python, sqlite::ask as ask_sqlite, table::Reference};
use question::Answering;
pub use question::Question;

/// What an engine was asked, and how long it took.
#[derive(Clone, Debug)]
pub struct Line {
    /// What was done.
    pub question: Question,
    /// The filter whose records are walked, of a walk.
    pub filter: Option<Question>,
    /// By whom, and how.
    pub engine: String,
    /// How long it took.
    pub times: Spread,
    /// How many records, seeks or steps one run was for.
    pub units: usize,
    /// How many calls one run was through an interface that costs something each time; 0 for engines without.
    pub calls: usize,
    /// What else is to be said, such as the level of a filter.
    pub note: String,
}

/// The times of several runs on the wall.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// The shortest.
    pub min: Duration,
    /// The one in the middle.
    pub median: Duration,
    /// The longest.
    pub max: Duration,
}

impl Spread {
    /// Of some times; they are sorted.
    #[must_use]
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self {
            min: times.first().copied().unwrap_or_default(),
            median: times.get(times.len() / 2).copied().unwrap_or_default(),
            max: times.last().copied().unwrap_or_default(),
        }
    }

    /// Takes runs of another time in: the median is then the least of the medians.
    pub fn merge(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.median = self.median.min(other.median);
        self.max = self.max.max(other.max);
    }

    /// Runs `run` once to warm up and then `repeats` times. What `prepare` does is not counted. Answers must be `answer`.
    ///
    /// # Panics
    ///
    /// When an answer is another one.
    pub fn measure<P, A: PartialEq + std::fmt::Debug>(
        repeats: usize,
        answer: &A,
        mut prepare: impl FnMut() -> P,
        mut run: impl FnMut(P) -> A,
    ) -> Self {
        let mut one = || {
            let prepared = black_box(prepare());
            let begin = Instant::now();
            let found = run(prepared);
            let time = begin.elapsed();
            assert_eq!(&found, answer);
            time
        };
        one();
        Self::of(std::iter::repeat_with(one).take(repeats).collect())
    }
}
