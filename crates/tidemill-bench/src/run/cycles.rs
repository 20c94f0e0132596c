//! The numbers of cycles, shared by all workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Gives each number of a range to one worker, and starts again after the last.
#[derive(Debug, Clone)]
pub(crate) struct Cycles {
    taken: Arc<AtomicU64>,
    first: i64,
    /// How many numbers there are before it starts again.
    range: u64,
    /// How many are given in all.
    limit: u64,
}

impl Cycles {
    /// The numbers from `first` on and below `end`, `limit` in all.
    ///
    /// # Errors
    /// [`Error::Misuse`] for an empty range.
    pub(crate) fn new(first: i64, end: i64, limit: u64) -> Result<Self> {
        if end <= first {
            return Err(Error::Misuse(format!(
                "the last cycle, {end}, must be above the first, {first}"
            )));
        }
        Ok(Self {
            taken: Arc::default(),
            first,
            range: end.abs_diff(first),
            limit,
        })
    }

    /// The next number, until all are given.
    pub(crate) fn next(&self) -> Option<i64> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        if taken >= self.limit {
            return None;
        }
        Some(self.first.wrapping_add_unsigned(taken % self.range))
    }

    /// How many were given.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed).min(self.limit)
    }

    /// How many are given in all.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_again_at_the_end_and_stops_at_the_limit() {
        let cycles = Cycles::new(-1, 2, 5).unwrap();
        let all: Vec<i64> = std::iter::from_fn(|| cycles.next()).collect();
        assert_eq!(all, [-1, 0, 1, -1, 0]);
        assert_eq!(cycles.next(), None);
        assert_eq!(cycles.taken(), 5);
    }

    #[test]
    fn has_the_whole_range_of_numbers() {
        let cycles = Cycles::new(i64::MIN, i64::MAX, 1).unwrap();
        assert_eq!(cycles.next(), Some(i64::MIN));
        assert!(Cycles::new(3, 3, 1).is_err());
    }

    #[test]
    fn no_number_is_given_twice() {
        let cycles = Cycles::new(0, i64::MAX, 10_000).unwrap();
        let mut all: Vec<i64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| cycles.next()).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..10_000));
    }
}
