//! Are two values different, and by how much.
//!
//! Welch's t-test (1947) on the very quantities that are printed. What decides is how much the runs of one side differ among
//! themselves: on a shared machine that is far more than what one run knows of its own error, so a verdict needs
//! `--repeat` on one side at least. From one run each there is a probability for orientation, and no verdict.
//!
//! A report compares dozens of numbers, so that one of them would differ by chance as often as not. The probabilities are adjusted for their
//! number, as Holm (1979) does, which holds whatever the numbers have to do with each other.

use super::estimate::{CONFIDENCE, Estimate, student_quantile, student_two_sided};

/// Probabilities below this are called significant.
pub const SIGNIFICANT: f64 = 0.01;

/// Histograms keep three digits: the standard deviation of rounding to them, as a share of the value.
const ROUNDING: f64 = 2.9e-4;

/// Runs of one process share where its memory lies, its connections, and what the machine did in those minutes, and another process has all of
/// that again: the standard deviation between processes, as a share of the value, which runs of one cannot show (Mytkowicz, Diwan,
/// Hauswirth and Sweeney, ASPLOS 2009; Kalibera and Jones, ISMM 2013).
const BETWEEN_PROCESSES: f64 = 0.01;

/// How a value differs from that of a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The difference over the baseline's value.
    pub change: Option<f64>,
    /// The lower end of its interval of confidence.
    pub low: Option<f64>,
    /// The upper end of its interval of confidence.
    pub high: Option<f64>,
    /// The probability of such a difference if there is none.
    pub p_value: Option<f64>,
    /// The same, adjusted for all the numbers that were compared with it, once they were (Holm). None from one run each.
    pub p_adjusted: Option<f64>,
    /// The difference in standard deviations between runs (Hedges 1981).
    pub effect: Option<f64>,
    /// What the probability rests on.
    pub basis: Basis,
}

/// What a comparison rests on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Basis {
    /// Several runs of one side at least: the probability counts how runs differ.
    Runs,
    /// One run each: the probability knows nothing of how runs differ, so nothing follows from it.
    WithinRuns,
}

impl Comparison {
    /// Whether the difference is more than chance, as far as runs were repeated.
    pub fn is_significant(&self) -> bool {
        self.p_adjusted.is_some_and(|p| p < SIGNIFICANT)
    }

    /// A star for each power of ten below a tenth, at most five; none where there is no verdict.
    pub fn stars(&self) -> &'static str {
        let Some(p) = self.p_adjusted.filter(|_| self.is_significant()) else {
            return "";
        };
        match p {
            p if p < 1e-6 => "*****",
            p if p < 1e-5 => "****",
            p if p < 1e-4 => "***",
            p if p < 1e-3 => "**",
            _ => "*",
        }
    }
}

/// The value of several runs: their mean, whose error is that between the runs. That of one run is its own.
pub(crate) fn combine(runs: &[Estimate]) -> Option<Estimate> {
    match runs {
        [] => None,
        [run] => Some(*run),
        runs => {
            let (mean, deviation) = moments(runs);
            let count = runs.len() as f64;
            Some(Estimate::mean(mean, deviation / count.sqrt(), count - 1.0))
        }
    }
}

/// Compares the runs of one thing with those of its baseline.
pub(crate) fn compare(baseline: &[Estimate], runs: &[Estimate]) -> Option<Comparison> {
    let (before, after) = (combine(baseline)?, combine(runs)?);
    let difference = after.value - before.value;
    let side = |one: Estimate| {
        one.std_err
            .zip(one.freedom)
            .map(|(error, freedom)| Side { error, freedom })
    };
    let (basis, sides) = match (baseline, runs) {
        ([_], [_]) => (Basis::WithinRuns, side(before).zip(side(after))),
        // One run is taken to vary as those of the other side.
        ([_], runs) => (Basis::Runs, side(after).map(|other| (other.of_one(runs.len()), other))),
        (baseline, [_]) => (
            Basis::Runs,
            side(before).map(|other| (other, other.of_one(baseline.len()))),
        ),
        _ => (Basis::Runs, side(before).zip(side(after))),
    };
    let shared = baseline.len() == 1 || runs.len() == 1;
    let between = match basis {
        Basis::Runs => BETWEEN_PROCESSES.powi(2) * (before.value.powi(2) + after.value.powi(2)),
        Basis::WithinRuns => 0.0,
    };
    let tested = sides.map(|(left, right)| {
        let rounding =
            [(before, baseline), (after, runs)].map(|(one, runs)| (one.value * ROUNDING).powi(2) / runs.len() as f64);
        let (left_square, right_square) = (left.error.powi(2) + rounding[0], right.error.powi(2) + rounding[1]);
        let estimated = left_square + right_square;
        // Those of what is estimated: an error that came out small by chance is not made sure by what is added to it.
        let freedom = match basis {
            // Both errors are one estimate.
            Basis::Runs if shared => left.freedom,
            _ => estimated * estimated / (left_square.powi(2) / left.freedom + right_square.powi(2) / right.freedom),
        };
        ((estimated + between).sqrt(), freedom)
    });
    let scale = (before.value != 0.0).then(|| 1.0 / before.value.abs());
    let margin =
        tested.and_then(|(error, freedom)| Some(error * student_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom)?));
    let ends = scale.zip(margin);
    let p_value = match tested {
        Some(_) if difference == 0.0 => Some(1.0),
        Some((error, freedom)) => student_two_sided(difference / error, freedom),
        None => None,
    };
    Some(Comparison {
        change: scale.map(|scale| difference * scale),
        low: ends.map(|(scale, margin)| (difference - margin) * scale),
        high: ends.map(|(scale, margin)| (difference + margin) * scale),
        p_value,
        p_adjusted: p_value.filter(|_| basis == Basis::Runs),
        effect: (basis == Basis::Runs)
            .then(|| effect(baseline, runs, difference))
            .flatten(),
        basis,
    })
}

/// A comparison that is to be adjusted, and the values of the runs that it is of: the baseline's, and the others.
pub(crate) struct Test<'a> {
    /// What was found.
    pub(crate) comparison: &'a mut Comparison,
    /// The values of all runs.
    pub(crate) runs: Vec<f64>,
}

/// Adjusts the probabilities of comparisons that are made together for their number (Holm 1979): that any of them is significant where
/// nothing differs is as rare as it is for a single one. What has the same value in each run is the same number under another name, as the
/// latency of requests that are all there is to a cycle, and counts once. Returns how many numbers there were.
pub(crate) fn adjust(tests: &mut [Test<'_>]) -> usize {
    let mut order: Vec<(usize, f64)> = tests
        .iter()
        .enumerate()
        .filter_map(|(index, test)| Some((index, test.comparison.p_adjusted.and(test.comparison.p_value)?)))
        .collect();
    order.sort_by(|left, right| left.1.total_cmp(&right.1));
    // Each number's first test in this order, and all of its tests.
    let mut numbers: Vec<Vec<usize>> = Vec::new();
    for (index, _) in &order {
        let same = numbers
            .iter_mut()
            .find(|known| is_same(&tests[known[0]].runs, &tests[*index].runs));
        match same {
            Some(known) => known.push(*index),
            None => numbers.push(vec![*index]),
        }
    }
    let count = numbers.len();
    let mut least = 0.0_f64;
    for (place, number) in numbers.iter().enumerate() {
        let p = tests[number[0]].comparison.p_value.unwrap_or(1.0);
        least = least.max((p * (count - place) as f64).min(1.0));
        for index in number {
            tests[*index].comparison.p_adjusted = Some(least);
        }
    }
    count
}

/// Whether two numbers are the same in all runs, as far as histograms tell.
fn is_same(left: &[f64], right: &[f64]) -> bool {
    const DIGITS: f64 = 1e-3;
    let pairs = left.iter().zip(right);
    left.len() == right.len()
        && pairs
            .into_iter()
            .all(|(left, right)| (left - right).abs() <= DIGITS * left.abs().max(right.abs()))
}

/// The error of a side's value.
#[derive(Clone, Copy)]
struct Side {
    error: f64,
    freedom: f64,
}

impl Side {
    /// The error of a single run, when this is that of the mean of so many.
    fn of_one(self, runs: usize) -> Self {
        Self {
            error: self.error * (runs as f64).sqrt(),
            freedom: self.freedom,
        }
    }
}

fn effect(baseline: &[Estimate], runs: &[Estimate], difference: f64) -> Option<f64> {
    let squares = |runs: &[Estimate]| match runs {
        [_] => 0.0,
        runs => moments(runs).1.powi(2) * (runs.len() - 1) as f64,
    };
    let freedom = (baseline.len() + runs.len()).checked_sub(2)? as f64;
    let deviation = ((squares(baseline) + squares(runs)) / freedom).sqrt();
    // Hedges's correction for few runs, as an approximation by himself.
    (deviation > 0.0).then(|| difference / deviation * (1.0 - 3.0 / (4.0 * freedom - 1.0)))
}

/// The mean and the standard deviation of at least two runs.
fn moments(runs: &[Estimate]) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run.value).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run.value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

    use super::*;

    fn bare(values: &[f64]) -> Vec<Estimate> {
        values.iter().copied().map(Estimate::bare).collect()
    }

    /// The sum of twelve uniform draws is normal enough.
    fn normal(random: &mut StdRng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    #[test]
    fn as_computed_by_hand() {
        // Means 11 and 14, variances 1 and 4, three runs each, and a hundredth between processes: t = 3 / √square, freedom
        // (5/3)² / ((1/3)² + (4/3)²) · 2.
        let found = compare(&bare(&[10.0, 11.0, 12.0]), &bare(&[12.0, 14.0, 16.0])).unwrap();
        let square = 5.0 / 3.0 + 1e-4 * (121.0 + 196.0_f64);
        let freedom = (5.0_f64 / 3.0).powi(2) / ((1.0_f64 / 9.0 + 16.0 / 9.0) / 2.0);
        let expected = student_two_sided(3.0 / square.sqrt(), freedom).unwrap();
        assert!((found.p_value.unwrap() - expected).abs() < 1e-4);
        assert!((found.change.unwrap() - 3.0 / 11.0).abs() < 1e-12);
        let effect = 3.0 / 2.5_f64.sqrt() * (1.0 - 3.0 / 15.0);
        assert!((found.effect.unwrap() - effect).abs() < 1e-12);
        assert_eq!(found.basis, Basis::Runs);
        assert!(found.low.unwrap() < 0.0 && found.high.unwrap() > 0.5);
    }

    #[test]
    fn one_run_each_gives_no_verdict() {
        // Errors of a hundredth, as one run knows them, and values that differ by half.
        let runs = [100.0, 150.0].map(|value| [Estimate::mean(value, 1.0, 300.0)]);
        let found = compare(&runs[0], &runs[1]).unwrap();
        assert!(found.p_value.unwrap() < 1e-9);
        assert_eq!((found.is_significant(), found.stars()), (false, ""));
        assert_eq!(found.effect, None);
    }

    #[test]
    fn without_errors_there_is_no_probability() {
        let found = compare(&bare(&[10.0]), &bare(&[12.0])).unwrap();
        assert_eq!((found.p_value, found.low), (None, None));
        assert_eq!(compare(&[], &bare(&[1.0])), None);
        assert_eq!(compare(&bare(&[0.0]), &bare(&[1.0])).unwrap().change, None);
    }

    #[test]
    fn runs_that_round_alike_are_not_told_apart() {
        let found = compare(&bare(&[0.597; 3]), &bare(&[0.5971; 3])).unwrap();
        assert!(!found.is_significant(), "{found:?}");
        // Nor those that differ by as much as two processes do.
        assert!(!compare(&bare(&[0.597; 3]), &bare(&[0.61; 3])).unwrap().is_significant());
        assert!(!compare(&bare(&[0.597; 3]), &bare(&[0.61])).unwrap().is_significant());
        assert!(compare(&bare(&[0.597; 3]), &bare(&[0.7; 3])).unwrap().is_significant());
    }

    #[test]
    fn probabilities_are_adjusted_for_their_number_as_holm_does() {
        let mut found: Vec<Comparison> = [0.01, 0.04, 0.03, 0.005, 0.04]
            .into_iter()
            .map(|p| {
                let compared = compare(&bare(&[1.0, 2.0]), &bare(&[1.0, 2.0])).unwrap();
                Comparison {
                    p_value: Some(p),
                    p_adjusted: Some(p),
                    ..compared
                }
            })
            .collect();
        let mut tests: Vec<Test<'_>> = found
            .iter_mut()
            .enumerate()
            // The last is the second under another name, as far as three digits tell.
            .map(|(number, comparison)| Test {
                comparison,
                runs: vec![if number == 4 { 1.0005 } else { number as f64 }, 5.0],
            })
            .collect();
        assert_eq!(adjust(&mut tests), 4);
        let adjusted: Vec<f64> = found.iter().map(|one| one.p_adjusted.unwrap()).collect();
        // Holm's own example: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04, which cannot be less than the one before.
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02, 0.06]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        // From one run each there is nothing to adjust.
        let mut one = compare(&[Estimate::mean(1.0, 0.1, 9.0)], &[Estimate::mean(2.0, 0.1, 9.0)]).unwrap();
        assert_eq!(one.p_adjusted, None);
        let mut tests = [Test {
            comparison: &mut one,
            runs: vec![1.0, 2.0],
        }];
        assert_eq!((adjust(&mut tests), one.p_adjusted), (0, None));
    }

    /// A noisy machine: runs of the same thing differ by a tenth, each thinking that it knows itself to a hundredth.
    fn share_of_significant(before: usize, after: usize, change: f64) -> f64 {
        const TRIALS: usize = 1_000;
        let mut random = StdRng::seed_from_u64(11);
        let mut side = |count: usize, mean: f64| -> Vec<Estimate> {
            let runs = (0..count).map(|_| Estimate::mean(mean * (1.0 + 0.1 * normal(&mut random)), 0.01 * mean, 200.0));
            runs.collect()
        };
        let significant = (0..TRIALS).filter(|_| {
            let (before, after) = (side(before, 100.0), side(after, 100.0 * (1.0 + change)));
            compare(&before, &after).unwrap().is_significant()
        });
        significant.count() as f64 / TRIALS as f64
    }

    #[test]
    fn false_positives_are_as_rare_as_claimed() {
        assert_eq!(share_of_significant(1, 1, 0.0), 0.0);
        for (before, after) in [(2, 2), (3, 3), (5, 5), (10, 4), (1, 5), (5, 1)] {
            let share = share_of_significant(before, after, 0.0);
            assert!(share < 2.0 * SIGNIFICANT, "{before} and {after} runs: {share}");
        }
    }

    #[test]
    fn true_differences_are_found() {
        assert!(share_of_significant(5, 5, 0.5) > 0.95);
        assert!(share_of_significant(10, 10, 0.2) > 0.8);
    }
}
