//! Percentiles, and the ranks between which the true one lies.
//!
//! A percentile is an order statistic. How many of m independent latencies are below the true one is binomial, whatever
//! their distribution is, so the ends of the interval are order statistics too: those whose ranks are the quantiles of
//! that binomial (Thompson 1936; David and Nagaraja 2003, section 7.1). With m the effective sample size the same holds for
//! latencies that resemble each other. The latency of rank k among m lies, on average, where a share k / (m + 1) of all is below it: there
//! the n latencies that were measured are read. Its standard error is the width of the interval over that of a normal one (Woodruff 1952).

use serde::{Deserialize, Serialize};

use super::{
    Latencies,
    estimate::{CONFIDENCE, Estimate, normal_quantile, student_quantile},
};

/// The percentiles that are reported, those of Latte's reports.
pub const PERCENTS: [f64; 15] = [
    0.0, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 100.0,
];

/// From this variance on, the normal approximation with the correction for skew is off by less than a rank.
const NORMAL_FROM: f64 = 200.0;

/// A percentile.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Percentile {
    /// Which: 50 is the median, 0 the shortest, 100 the longest.
    pub percent: f64,
    /// Its value.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A percentile of latencies in nanoseconds, of which only `effective` are independent. The variance behind that number was
/// estimated with `freedom` degrees of freedom.
pub(crate) fn percentile(latencies: &Latencies, percent: f64, effective: f64, freedom: f64) -> Percentile {
    let share = percent / 100.0;
    let value = latencies.quantile(share) as f64;
    let bare = Percentile {
        percent,
        estimate: Estimate::bare(value),
    };
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // The extremes have an interval on no side: what is beyond them was not seen.
    if effective < 2.0 || share <= 0.0 || share >= 1.0 {
        return bare;
    }
    // An uncertain variance widens the interval as Student's t does.
    let Some(t) = student_quantile(1.0 - tail, freedom) else {
        return bare;
    };
    let z = normal_quantile(1.0 - tail);
    let trials = (effective * (z / t) * (z / t)).floor().max(1.0);
    let lower = binomial_quantile(tail, trials as u64, share);
    let upper = binomial_quantile(1.0 - tail, trials as u64, share) as f64 + 1.0;
    // Of few trials the last one may be below the percentile, and is far from the longest latency then: its share says where it lies.
    let at = |rank: f64| latencies.quantile(rank / (trials + 1.0)) as f64;
    let low = (lower > 0).then(|| at(lower as f64).min(value));
    let high = (upper <= trials).then(|| at(upper).max(value));
    Percentile {
        percent,
        estimate: Estimate {
            value,
            std_err: low.zip(high).map(|(low, high)| (high - low) / (2.0 * t)),
            freedom: low.and(high).map(|_| freedom),
            low,
            high,
        },
    }
}

/// The smallest k with P(X ≤ k) ≥ `probability`, for X binomial of `trials` trials that succeed with probability `share`.
fn binomial_quantile(probability: f64, trials: u64, share: f64) -> u64 {
    // The rarer outcome is the one to count.
    if share > 0.5 {
        return trials - failures_quantile(probability, trials, 1.0 - share);
    }
    let variance = trials as f64 * share * (1.0 - share);
    if variance >= NORMAL_FROM {
        return normal_rank(probability, trials, share);
    }
    let mut sum = 0.0;
    for (k, chance) in chances(trials, share) {
        sum += chance;
        if sum >= probability {
            return k;
        }
    }
    trials
}

/// The largest k of failures with P(failures ≥ k) ≥ `probability`.
fn failures_quantile(probability: f64, trials: u64, share: f64) -> u64 {
    let variance = trials as f64 * share * (1.0 - share);
    if variance >= NORMAL_FROM {
        return trials - normal_rank(probability, trials, 1.0 - share);
    }
    let mut beyond = 1.0;
    for (k, chance) in chances(trials, share) {
        beyond -= chance;
        if beyond < probability {
            return k;
        }
    }
    trials
}

/// The probabilities of 0, 1, 2, … successes, each from the one before.
fn chances(trials: u64, share: f64) -> impl Iterator<Item = (u64, f64)> {
    let odds = share / (1.0 - share);
    let first = (trials as f64 * (-share).ln_1p()).exp();
    std::iter::successors(Some((0_u64, first)), move |&(k, chance)| {
        (k < trials).then(|| (k + 1, chance * odds * (trials - k) as f64 / (k + 1) as f64))
    })
}

/// Cornish and Fisher's expansion with the term for skew.
fn normal_rank(probability: f64, trials: u64, share: f64) -> u64 {
    let mean = trials as f64 * share;
    let deviation = (mean * (1.0 - share)).sqrt();
    let z = normal_quantile(probability);
    let rank = mean + z * deviation + (1.0 - 2.0 * share) * (z * z - 1.0) / 6.0 - 0.5;
    (rank.ceil().max(0.0) as u64).min(trials)
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
    use statrs::distribution::{Binomial, DiscreteCDF as _};

    use super::*;

    #[test]
    fn binomial_quantiles_agree_with_their_distribution() {
        for trials in [1_u64, 2, 10, 304, 5_000, 100_000] {
            for share in [0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.9999] {
                let binomial = Binomial::new(share, trials).unwrap();
                for probability in [0.005, 0.025, 0.5, 0.975, 0.995] {
                    let found = binomial_quantile(probability, trials, share);
                    let off = if trials as f64 * share * (1.0 - share) < NORMAL_FROM {
                        0
                    } else {
                        1
                    };
                    let at = binomial.cdf((found + off).min(trials));
                    assert!(
                        at >= probability - 1e-9,
                        "{trials} {share} {probability}: {found} has {at}"
                    );
                    if let Some(before) = found.checked_sub(off + 1) {
                        let at = binomial.cdf(before);
                        assert!(
                            at < probability + 1e-9,
                            "{trials} {share} {probability}: {before} has {at}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn more_than_two_to_the_31_trials() {
        let trials = 1_u64 << 40;
        let found = binomial_quantile(0.975, trials, 0.5) as f64;
        let expected = trials as f64 / 2.0 + 1.959_964 * (trials as f64 / 4.0).sqrt();
        assert!((found - expected).abs() < 2.0, "{found} {expected}");
        // Poisson of mean 109.95: its 97.5 % quantile is 131.
        assert_eq!(trials - binomial_quantile(0.025, trials, 1.0 - 1e-10), 131);
    }

    /// Intervals contain the true percentile as often as they claim.
    #[test]
    fn coverage_of_intervals() {
        let mut random = StdRng::seed_from_u64(7);
        const RUNS: usize = 400;
        const COUNT: usize = 3_000;
        let checked = [5.0, 50.0, 90.0, 99.0];
        let mut covered = [0_usize; 4];
        for _ in 0..RUNS {
            let mut latencies = Latencies::default();
            for _ in 0..COUNT {
                // Exponential, mean 1 ms.
                latencies.record((-1e6 * (1.0 - random.random::<f64>()).ln()) as u64);
            }
            for (covered, percent) in covered.iter_mut().zip(checked) {
                let truth = -1e6 * (1.0 - percent / 100.0_f64).ln();
                let estimate = percentile(&latencies, percent, COUNT as f64, COUNT as f64).estimate;
                // A histogram keeps three digits.
                let (low, high) = (estimate.low.unwrap() * 0.999, estimate.high.unwrap() * 1.001);
                *covered += usize::from(low <= truth && truth <= high);
            }
        }
        for (covered, percent) in covered.iter().zip(checked) {
            let share = *covered as f64 / RUNS as f64;
            assert!((0.92..=0.985).contains(&share), "{percent}: {share}");
        }
    }

    /// A burst makes ten thousand latencies worth a handful, and the interval still holds its value.
    #[test]
    fn intervals_of_few_trials_hold_their_value() {
        let mut latencies = Latencies::default();
        (1..=2_499_u64).for_each(|value| latencies.record(value * 40_000));
        for percent in PERCENTS {
            for effective in [2.0, 3.0, 4.0, 8.0, 20.0, 100.0, 2_499.0] {
                for freedom in [1.0, 3.0, 7.0, 300.0] {
                    let found = percentile(&latencies, percent, effective, freedom).estimate;
                    let at = format!("p{percent} of {effective} with freedom {freedom}: {found:?}");
                    assert!(found.low.is_none_or(|low| low <= found.value), "{at}");
                    assert!(found.high.is_none_or(|high| high >= found.value), "{at}");
                    // The last of a few trials is not the longest of all.
                    assert!(
                        effective > 100.0 || percent > 99.9 || found.low.is_none_or(|low| low < 99e6),
                        "{at}"
                    );
                }
            }
        }
        let four = percentile(&latencies, 99.9, 8.0, 7.0).estimate;
        // Four trials of 80 percent each: the last is below p99.9 in 99.6 of 100.
        assert!(
            four.low.is_some_and(|low| (0.7..0.95).contains(&(low / 1e8))),
            "{four:?}"
        );
        assert_eq!(four.high, None);
    }

    #[test]
    fn what_the_data_do_not_bound_has_no_end() {
        let mut latencies = Latencies::default();
        for value in 1..=300 {
            latencies.record(value * 1_000);
        }
        let tail = percentile(&latencies, 99.99, 300.0, 299.0).estimate;
        assert!(tail.low.is_some());
        assert_eq!((tail.high, tail.std_err), (None, None));
        let longest = percentile(&latencies, 100.0, 300.0, 299.0).estimate;
        assert_eq!(longest, Estimate::bare(300_031.0));
    }
}
