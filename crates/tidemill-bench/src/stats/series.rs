//! How much a series of measurements is worth when neighbours resemble each other.
//!
//! Latencies that follow one another are not independent, so a million of them say less about the mean than a million
//! draws would. The method is that of batch means at all dyadic levels (Flyvbjerg and Petersen 1989): level k holds the
//! sums of 2^k measurements in a row. Were they independent, the variance of a batch's mean would be 2^k times less than
//! that of a measurement; by how much it is more, is the correlation time. The level is the one of Lee, Conduit, Nemec,
//! López Ríos and Drummond (2011): the smallest whose batches are long enough, 8^k > 2 n τ².
//!
//! Sums are integers, so they merge exactly and in any order.

use serde::{Deserialize, Serialize};

/// Batches of 2^39 measurements are the longest.
const LEVELS: usize = 40;
/// Levels with fewer batches say too little of a variance.
const LEAST_BATCHES: u64 = 8;

/// The sums of batches, and the batches that are not full.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    sums: Levels,
    /// The full half of a batch of each level, where the bit in `halves` is set.
    half: [u64; LEVELS],
    halves: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            sums: Levels::default(),
            half: [0; LEVELS],
            halves: 0,
        }
    }
}

impl Series {
    /// Adds the next measurement. On average it touches two levels.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let mut sum = value;
        for level in 0..LEVELS {
            self.sums.0[level].add(sum);
            let bit = 1 << level;
            if self.halves & bit == 0 {
                self.half[level] = sum;
                self.halves |= bit;
                return;
            }
            self.halves &= !bit;
            sum = sum.saturating_add(self.half[level]);
        }
    }

    /// The sums since the last call. Batches that are not full continue, so a series may be taken in parts.
    pub(crate) fn take(&mut self) -> Levels {
        std::mem::take(&mut self.sums)
    }

    /// The sums until now.
    pub(crate) fn levels(&self) -> &Levels {
        &self.sums
    }
}

/// Sums of batches, of one series or of several that ran side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels([Level; LEVELS]);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Level {
    batches: u64,
    sum: u128,
    squares: u128,
}

/// How long measurements resemble each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Correlation {
    /// So many measurements are worth one independent one; at least 1.
    pub(crate) time: f64,
    /// From so many batches that was estimated.
    pub(crate) batches: u64,
}

impl Default for Levels {
    fn default() -> Self {
        Self([Level::default(); LEVELS])
    }
}

impl Levels {
    /// Adds another series.
    pub(crate) fn add(&mut self, other: &Self) {
        for (level, other) in self.0.iter_mut().zip(&other.0) {
            level.batches = level.batches.saturating_add(other.batches);
            level.sum = level.sum.saturating_add(other.sum);
            level.squares = level.squares.saturating_add(other.squares);
        }
    }

    /// How many measurements there are.
    pub(crate) fn count(&self) -> u64 {
        self.0[0].batches
    }

    /// The variance of the measurements.
    pub(crate) fn variance(&self) -> f64 {
        self.0[0].variance()
    }

    /// The correlation time.
    pub(crate) fn correlation(&self) -> Correlation {
        let count = self.count() as f64;
        let variance = self.variance();
        let mut found = Correlation {
            time: 1.0,
            batches: self.count(),
        };
        if variance <= 0.0 {
            return found;
        }
        for (index, level) in self.0.iter().enumerate() {
            if level.batches < LEAST_BATCHES {
                break;
            }
            let length = (1_u64 << index) as f64;
            // The variance of a batch's mean is that of its sum over the square of its length.
            let time = level.variance() / (length * variance);
            if time > found.time || index == 0 {
                found = Correlation {
                    time: time.max(1.0),
                    batches: level.batches,
                };
            }
            if length.powi(3) > 2.0 * count * time * time {
                return Correlation {
                    time: time.max(1.0),
                    batches: level.batches,
                };
            }
        }
        found
    }
}

impl Level {
    #[inline]
    fn add(&mut self, sum: u64) {
        let sum = u128::from(sum);
        self.batches += 1;
        self.sum = self.sum.saturating_add(sum);
        self.squares = self.squares.saturating_add(sum * sum);
    }

    fn mean(&self) -> f64 {
        match self.batches {
            0 => 0.0,
            batches => self.sum as f64 / batches as f64,
        }
    }

    fn variance(&self) -> f64 {
        if self.batches < 2 {
            return 0.0;
        }
        let batches = self.batches as f64;
        let mean = self.mean();
        ((self.squares as f64 / batches - mean * mean) * batches / (batches - 1.0)).max(0.0)
    }
}

/// In reports, `[batches, sum, squares]` a level. Numbers of JSON are doubles, which is more than a variance needs.
impl Serialize for Levels {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let used = self.0.iter().take_while(|level| level.batches > 0);
        serializer.collect_seq(used.map(|level| (level.batches, level.sum as f64, level.squares as f64)))
    }
}

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read: Vec<(u64, f64, f64)> = Vec::deserialize(deserializer)?;
        if read.len() > LEVELS {
            let problem = format!("{} levels of batches, more than {LEVELS}", read.len());
            return Err(serde::de::Error::custom(problem));
        }
        let mut levels = Self::default();
        for (level, (batches, sum, squares)) in levels.0.iter_mut().zip(read) {
            *level = Level {
                batches,
                sum: sum as u128,
                squares: squares as u128,
            };
        }
        Ok(levels)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

    use super::*;

    /// Normal draws by the polar method, so that tests need no more than uniform ones.
    fn normal(random: &mut StdRng) -> f64 {
        loop {
            let (x, y): (f64, f64) = (random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// An autoregressive series of first order has correlation time (1 + φ) / (1 - φ).
    fn autoregressive(seed: u64, phi: f64, count: usize) -> Series {
        let mut random = StdRng::seed_from_u64(seed);
        let mut series = Series::default();
        let mut value = normal(&mut random) / (1.0 - phi * phi).sqrt();
        for _ in 0..count {
            series.record((1e6 + 1e4 * value) as u64);
            value = phi * value + normal(&mut random);
        }
        series
    }

    #[test]
    fn correlation_time_of_autoregressive_series() {
        for (phi, tolerance) in [(0.0, 0.1), (0.5, 0.2), (0.9, 0.3), (0.97, 0.45)] {
            let expected = (1.0 + phi) / (1.0 - phi);
            let times: Vec<f64> = (0..6)
                .map(|seed| autoregressive(seed, phi, 100_000).levels().correlation().time)
                .collect();
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            assert!(
                (mean / expected - 1.0).abs() < tolerance / 2.0,
                "φ {phi}: mean {mean}, expected {expected}"
            );
            for time in times {
                assert!(
                    (time / expected - 1.0).abs() < tolerance,
                    "φ {phi}: {time}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn parts_of_a_series_are_the_series() {
        let mut whole = Series::default();
        let mut parted = Series::default();
        let mut parts = Levels::default();
        for value in 0..10_007_u64 {
            let value = value * value % 7_919;
            whole.record(value);
            parted.record(value);
            if value % 31 == 0 {
                parts.add(&parted.take());
            }
        }
        parts.add(&parted.take());
        assert_eq!(&parts, whole.levels());
    }

    #[test]
    fn moments_are_those_of_the_measurements() {
        let mut series = Series::default();
        for value in [2_u64, 4, 4, 4, 5, 5, 7, 9] {
            series.record(value);
        }
        assert_eq!(series.levels().0[0].mean(), 5.0);
        assert!((series.levels().variance() - 32.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn the_largest_measurements_overflow_nothing() {
        let mut series = Series::default();
        for _ in 0..1_000 {
            series.record(u64::MAX);
        }
        assert_eq!(series.levels().count(), 1_000);
        assert!(series.levels().correlation().time >= 1.0);
    }

    #[test]
    fn constant_and_short_series_have_no_correlation() {
        let mut series = Series::default();
        assert_eq!(series.levels().correlation().time, 1.0);
        for _ in 0..100 {
            series.record(7);
            assert_eq!(series.levels().correlation().time, 1.0);
        }
    }

    #[test]
    fn json_round_trips() {
        let levels = autoregressive(1, 0.5, 1_000).take();
        let text = serde_json::to_string(&levels).unwrap();
        let read: Levels = serde_json::from_str(&text).unwrap();
        assert_eq!((read.count(), read.0[0].mean()), (levels.count(), levels.0[0].mean()));
        assert!((read.variance() / levels.variance() - 1.0).abs() < 1e-9);
        assert!((read.correlation().time / levels.correlation().time - 1.0).abs() < 1e-9);
        let hostile = format!("[{}[1,1,1]]", "[1,1,1],".repeat(40));
        assert!(
            serde_json::from_str::<Levels>(&hostile)
                .unwrap_err()
                .to_string()
                .contains("41 levels")
        );
    }
}
