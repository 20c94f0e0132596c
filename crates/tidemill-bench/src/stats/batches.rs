//! The latencies of a run, cut into stretches of time of the same number of samples.
//!
//! Latencies of different workers that wait for the same stall resemble each other, which no worker's own series shows. The
//! stretches show it: for a percentile, the share of latencies below it varies from stretch to stretch by more than it
//! would for independent ones, and by how much is the correlation time of that very percentile (batch means of the
//! indicator; Wood and Schmeiser 1995). There are between 16 and 31 stretches, however long the run: when 32 are full,
//! neighbours are joined. Their latencies have two digits: the correlation time of a percentile is that of its neighbours within
//! one percent.

use super::Latencies;

const MOST: usize = 32;
/// Fewer stretches say too little of a variance.
const LEAST: usize = 8;

/// Histograms of stretches of time.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    /// Encoded: a hundred of them may be alive.
    full: Vec<Vec<u8>>,
    /// How many samples a stretch has.
    samples_each: u32,
    open: Latencies,
    open_samples: u32,
}

/// What varies from stretch to stretch.
pub(crate) struct Stretches {
    means: Vec<(f64, f64)>,
    /// Per stretch the number of latencies, and how many are up to each limit.
    up_to: Vec<(u64, Vec<u64>)>,
}

/// A correlation time and the degrees of freedom of its estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchCorrelation {
    pub(crate) time: f64,
    pub(crate) freedom: f64,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            full: Vec::new(),
            samples_each: 1,
            open: Latencies::coarse(),
            open_samples: 0,
        }
    }
}

impl Batches {
    pub(crate) fn add(&mut self, sample: &Latencies) {
        self.open.add(sample);
        self.open_samples += 1;
        if self.open_samples < self.samples_each {
            return;
        }
        self.full.push(self.open.to_bytes());
        self.open = Latencies::coarse();
        self.open_samples = 0;
        if self.full.len() == MOST {
            let joined = self.full.chunks(2).map(|pair| {
                let mut sum = decoded(&pair[0]);
                pair[1..].iter().for_each(|other| sum.add(&decoded(other)));
                sum.to_bytes()
            });
            self.full = joined.collect();
            self.samples_each = self.samples_each.saturating_mul(2);
        }
    }

    /// What the full stretches hold up to each limit, in nanoseconds.
    pub(crate) fn stretches(&self, limits: &[u64]) -> Stretches {
        let histograms = self
            .full
            .iter()
            .map(|bytes| decoded(bytes))
            .filter(|one| one.count() > 0);
        let (means, up_to) = histograms
            .map(|one| {
                let count = one.count();
                ((count as f64, one.mean()), (count, one.counts_up_to(limits)))
            })
            .unzip();
        Stretches { means, up_to }
    }
}

fn decoded(bytes: &[u8]) -> Latencies {
    Latencies::from_bytes(bytes).expect("a histogram that was encoded here")
}

impl Stretches {
    /// The correlation time of the limit with this index.
    pub(crate) fn indicator(&self, limit: usize) -> Option<StretchCorrelation> {
        let shares = self.up_to.iter();
        let shares = shares.map(|(count, up_to)| (*count as f64, up_to[limit] as f64 / *count as f64));
        let total: f64 = self.up_to.iter().map(|(count, _)| *count as f64).sum();
        let below: f64 = self.up_to.iter().map(|(_, up_to)| up_to[limit] as f64).sum();
        let share = below / total;
        between(shares.collect(), share * (1.0 - share))
    }

    /// The correlation time of the mean of latencies that have this variance.
    pub(crate) fn mean(&self, variance: f64) -> Option<StretchCorrelation> {
        between(self.means.clone(), variance)
    }
}

/// How much more than by chance values of weighted stretches vary: the ratio of an analysis of variance.
fn between(stretches: Vec<(f64, f64)>, variance: f64) -> Option<StretchCorrelation> {
    if stretches.len() < LEAST || variance <= 0.0 {
        return None;
    }
    let weight: f64 = stretches.iter().map(|(weight, _)| weight).sum();
    let mean = stretches.iter().map(|(weight, value)| weight * value).sum::<f64>() / weight;
    let squares: f64 = stretches
        .iter()
        .map(|(weight, value)| weight * (value - mean) * (value - mean))
        .sum();
    let freedom = (stretches.len() - 1) as f64;
    Some(StretchCorrelation {
        time: (squares / freedom / variance).max(1.0),
        freedom,
    })
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

    use super::*;

    fn uniform(random: &mut StdRng, count: usize, around: u64) -> Latencies {
        let mut latencies = Latencies::default();
        for _ in 0..count {
            latencies.record(around + random.random_range(0..1_000_000));
        }
        latencies
    }

    #[test]
    fn memory_does_not_grow() {
        let mut random = StdRng::seed_from_u64(1);
        let mut batches = Batches::default();
        for sample in 1..=600_u64 {
            batches.add(&uniform(&mut random, 10, 1));
            assert!(batches.full.len() < MOST);
            let kept: u64 = batches.full.iter().map(|bytes| decoded(bytes).count()).sum();
            assert_eq!(kept + batches.open.count(), sample * 10);
        }
        assert_eq!(batches.samples_each, 32);
    }

    #[test]
    fn independent_latencies_are_worth_themselves() {
        let mut random = StdRng::seed_from_u64(2);
        let mut times = Vec::new();
        for _ in 0..30 {
            let mut batches = Batches::default();
            (0..31).for_each(|_| batches.add(&uniform(&mut random, 1_000, 1)));
            times.push(batches.stretches(&[500_000]).indicator(0).unwrap().time);
        }
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        // Cut off at 1 from below, the mean of chi-square over its freedom is a little more than 1.
        assert!((1.0..1.25).contains(&mean), "{mean}");
    }

    #[test]
    fn stretches_that_differ_count_once() {
        let mut random = StdRng::seed_from_u64(3);
        let mut batches = Batches::default();
        for stretch in 0..20 {
            batches.add(&uniform(&mut random, 1_000, 1 + stretch % 2 * 1_000_000));
        }
        // Half of the stretches are all below the limit and half above it: each is worth one measurement.
        let found = batches.stretches(&[1_000_500]).indicator(0).unwrap();
        assert!((900.0..1_200.0).contains(&found.time), "{}", found.time);
        assert_eq!(found.freedom, 19.0);
    }

    #[test]
    fn few_stretches_say_nothing() {
        let mut batches = Batches::default();
        (0..7).for_each(|_| batches.add(&uniform(&mut StdRng::seed_from_u64(4), 100, 1)));
        assert!(batches.stretches(&[1]).indicator(0).is_none());
        assert!(batches.stretches(&[1]).mean(1.0).is_none());
    }
}
