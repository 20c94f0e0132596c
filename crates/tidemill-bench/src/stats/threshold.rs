//! How far a scale can be gone up until something is no longer kept, from trials at some points of it.
//!
//! The chance that a trial keeps it falls along the logarithm of the scale as a logistic curve. What is sought is its middle, where the
//! chance is a half. How wide the curve is, is not known either: the interval holds every middle that a likelihood-ratio test does
//! not reject, with the width that suits that middle best (profile likelihood: Venzon and Moolgavkar, Applied Statistics 37, 1988).
//! That points were chosen by what came of earlier trials does not change the likelihood.

/// An end of an interval is missing where the trials set none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// Below this it is sooner kept than not.
    pub(crate) low: Option<f64>,
    /// Above this it is sooner missed than not.
    pub(crate) high: Option<f64>,
}

/// Widths of the curve, in units of the natural logarithm: from a machine on which half a percent tells, to one on which nothing does.
const WIDTHS: (f64, f64) = (0.003, 1.0);
const WIDTH_STEPS: u32 = 24;
/// How far apart middles are that are looked at first, in the same unit, and how often the last step is halved.
const STEP: f64 = 0.05;
const HALVINGS: u32 = 6;
/// Ends further away than this from every trial, in the same unit, are none.
const FARTHEST: f64 = 5.0;

impl Threshold {
    /// From points above 0 and whether it was kept there; `None` without any.
    pub(crate) fn of(trials: &[(f64, bool)]) -> Option<Self> {
        let trials: Vec<(f64, bool)> = trials.iter().map(|(point, kept)| (point.ln(), *kept)).collect();
        let points = trials.iter().map(|(point, _)| *point).filter(|point| point.is_finite());
        let (least, most) = points.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), point| {
            (least.min(point), most.max(point))
        });
        if least > most {
            return None;
        }
        // Likelihoods have their tops at trials and between neighbours.
        let mut candidates: Vec<f64> = trials.iter().map(|(point, _)| *point).collect();
        candidates.sort_by(f64::total_cmp);
        let between: Vec<f64> = candidates
            .windows(2)
            .map(|pair| f64::midpoint(pair[0], pair[1]))
            .collect();
        candidates.extend(between);
        let (from, to) = (least - FARTHEST, most + FARTHEST);
        let steps = ((to - from) / STEP).ceil();
        candidates.extend((0..=steps as u32).map(|step| from + (to - from) * f64::from(step) / steps));
        candidates.sort_by(f64::total_cmp);
        let likelihoods: Vec<f64> = candidates.iter().map(|middle| profile(&trials, *middle)).collect();
        let best = likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_kept = |likelihood: f64| 2.0 * (best - likelihood) <= CUT;
        let first = likelihoods.iter().position(|likelihood| is_kept(*likelihood))?;
        let last = likelihoods.iter().rposition(|likelihood| is_kept(*likelihood))?;
        let end = |kept: usize, rejected: Option<usize>| {
            let (mut kept, mut rejected) = (*candidates.get(kept)?, *candidates.get(rejected?)?);
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(kept, rejected);
                *(if is_kept(profile(&trials, middle)) {
                    &mut kept
                } else {
                    &mut rejected
                }) = middle;
            }
            Some(kept.exp())
        };
        Some(Self {
            low: end(first, first.checked_sub(1)),
            high: end(last, Some(last + 1)),
        })
    }
}

/// The logarithm of the likelihood of a middle, with the width that suits it best.
fn profile(trials: &[(f64, bool)], middle: f64) -> f64 {
    let ratio = (WIDTHS.1 / WIDTHS.0).ln() / f64::from(WIDTH_STEPS);
    let widths = (0..=WIDTH_STEPS).map(|step| WIDTHS.0 * (ratio * f64::from(step)).exp());
    let likelihood = |width: f64| -> f64 {
        let of = |(point, kept): &(f64, bool)| {
            let above = (point - middle) / width;
            // The logarithm of 1 / (1 + e^above), or of what is left of 1.
            -(if *kept { above } else { -above }).exp().ln_1p()
        };
        trials.iter().map(of).map(|log| log.max(-700.0)).sum()
    };
    widths.map(likelihood).fold(f64::NEG_INFINITY, f64::max)
}

/// What the likelihood may lose: the 99th percentile of chi-squared with one degree of freedom. That is for many trials; of a dozen, as a
/// search makes them, the 95th lets intervals cover the truth 70 to 90 times in 100, and this one about 95 times (simulated in the
/// tests of `--find-max`).
const CUT: f64 = 6.634_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sided_trials_set_one_end() {
        assert_eq!(Threshold::of(&[]), None);
        let kept = Threshold::of(&[(100.0, true); 6]).unwrap();
        assert!(kept.low.is_some_and(|low| (80.0..=101.0).contains(&low)), "{kept:?}");
        assert_eq!(kept.high, None);
        let missed = Threshold::of(&[(100.0, false); 6]).unwrap();
        assert_eq!(missed.low, None);
        assert!(
            missed.high.is_some_and(|high| (99.0..=125.0).contains(&high)),
            "{missed:?}"
        );
        // One trial says next to nothing.
        let one = Threshold::of(&[(100.0, true)]).unwrap();
        assert!(one.low.is_none_or(|low| low < 10.0) && one.high.is_none(), "{one:?}");
    }

    #[test]
    fn clear_trials_leave_what_lies_between_and_few_steps_beside() {
        let trials = [
            (60.0, true),
            (80.0, true),
            (90.0, true),
            (94.0, true),
            (94.0, true),
            (94.0, true),
        ];
        let missed = [(98.0, false), (100.0, false), (110.0, false), (130.0, false)];
        let found = Threshold::of(&[&trials[..], &missed[..]].concat()).unwrap();
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(
            (85.0..94.5).contains(&low) && (98.0..125.0).contains(&high),
            "{found:?}"
        );
        // The same unit may be any.
        let scaled: Vec<_> = trials.iter().map(|(point, kept)| (point * 1e4, *kept)).collect();
        let scaled_missed: Vec<_> = missed.iter().map(|(point, kept)| (point * 1e4, *kept)).collect();
        let again = Threshold::of(&[scaled, scaled_missed].concat()).unwrap();
        assert!((again.low.unwrap() / low / 1e4 - 1.0).abs() < 0.01);
    }
}
