//! `--abort-below`: a run that is too slow is ended.

use std::collections::VecDeque;
use std::time::Duration;

use crate::stats::{Aborted, Sample};

/// Looks at the throughput of the last samples.
#[derive(Debug)]
pub(super) struct Floor {
    below: f64,
    within: Duration,
    /// Seconds and cycles of the samples that are looked at.
    samples: VecDeque<(f64, u64)>,
}

impl Floor {
    pub(super) fn new(below: f64, within: Duration) -> Self {
        Self {
            below,
            within,
            samples: VecDeque::new(),
        }
    }

    /// Adds a sample. Gives what was found when the samples of the time that is looked at were too slow together.
    pub(super) fn add(&mut self, sample: &Sample) -> Option<Aborted> {
        self.samples.push_back((sample.duration_s, sample.cycles()));
        let within = self.within.as_secs_f64();
        // The fewest samples that are as long together.
        let mut seconds: f64 = self.samples.iter().map(|(seconds, _)| seconds).sum();
        while let Some((first, _)) = self.samples.front().filter(|(first, _)| seconds - first >= within) {
            seconds -= first;
            self.samples.pop_front();
        }
        if seconds < within || seconds <= 0.0 {
            return None;
        }
        let cycles: u64 = self.samples.iter().map(|(_, cycles)| cycles).sum();
        let found = cycles as f64 / seconds;
        (found < self.below).then_some(Aborted {
            below_per_s: self.below,
            found_per_s: found,
            within_s: seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::FunctionSample;

    #[test]
    fn only_what_stays_below_ends_a_run() {
        let mut floor = Floor::new(100.0, Duration::from_secs(3));
        let mut add = |cycles: u64| {
            let function = FunctionSample {
                cycles,
                ..FunctionSample::default()
            };
            floor.add(&Sample {
                duration_s: 1.0,
                functions: [("run".to_owned(), function)].into(),
                ..Sample::default()
            })
        };
        // Not before the time is over, and not while the mean is enough.
        for cycles in [0, 0, 300, 0, 0, 300, 100, 100] {
            assert_eq!(add(cycles), None, "{cycles}");
        }
        let aborted = add(99).unwrap();
        assert_eq!((aborted.below_per_s, aborted.within_s), (100.0, 3.0));
        assert!((aborted.found_per_s - 299.0 / 3.0).abs() < 1e-9);
    }
}
