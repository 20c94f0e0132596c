//! `--find-max`: the highest rate that keeps a latency.
//!
//! A run without a rate shows what the store can do at most; the interval below it is halved, a run each, until its ends are 5 percent apart. The
//! last rate that kept the latency is run three times more: it must keep it each time, or a lower one is tried, by 5 percent, then by 10,
//! 22, … The next rate above is run as often, and all of these runs together say how sure the result is ([`Threshold`]). So a search has
//! no more than [`MOST_RUNS`] runs, whatever the store does.

use std::time::Duration;

use super::outputs::{Outputs, Watched};
use super::phase;
use crate::args::{Extent, RunArgs};
use crate::error::{Error, Result};
use crate::run::{Interrupt, Pace, Workers};
use crate::stats::{Estimate, Results, Threshold};

/// What is to be kept.
#[derive(Debug, Clone, Copy)]
struct Goal {
    percent: f64,
    limit_ms: f64,
}

/// What a run at a rate came to.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    is_kept: bool,
    latency: Estimate,
    achieved: f64,
    /// Cycles that were due and did not begin.
    unstarted: u64,
    /// Cycles that failed.
    failed: u64,
}

/// How far apart the ends of the interval may be.
const PRECISION: f64 = 1.05;
/// How often the rate that was found is run again.
const CONFIRMATIONS: u32 = 3;
/// Below this no rate is tried.
const LEAST: f64 = 1.0;
/// How often the interval is halved at most: a millionth of what the store does at most is the least that is found.
const HALVINGS: u32 = 24;
/// How often a rate that was not kept again is followed by a lower one. The last is a twentieth of the first.
const STEPS_DOWN: u32 = 5;
/// The runs of a search, at most: as fast as possible, the halvings, the confirmations of each rate, and those of the rate above.
const MOST_RUNS: u32 = 1 + HALVINGS + CONFIRMATIONS * (STEPS_DOWN + 1) + CONFIRMATIONS;

/// What a search came to.
#[derive(Debug, Default)]
struct Found {
    /// The rate that was kept whenever it was tried again.
    rate: Option<f64>,
    /// The least rate above it that was not kept.
    above: f64,
    /// Every rate that was tried, and whether it was kept.
    trials: Vec<(f64, bool)>,
}

/// The pace to run at, or `None` when no rate keeps the latency or the search was interrupted.
pub(super) fn find_max(
    args: &RunArgs,
    workers: &mut Workers,
    outputs: &mut Outputs,
    interrupt: &Interrupt,
) -> Result<Option<Pace>> {
    let goal = Goal::of(args)?;
    eprintln!(
        "info: Searching the highest rate that keeps {goal}, in {MOST_RUNS} runs at most{}...",
        at_most(args)
    );
    let base = Pace::constant(LEAST);
    let found = search(|rate| {
        if interrupt.came() {
            return Ok(None);
        }
        let pace = rate.map(|rate| base.at_rate(rate));
        let Watched { summary, ended, .. } = outputs.watch("Searching", workers, phase(args, pace)?, true)?;
        if let Some(error) = ended.error {
            return Err(error);
        }
        let attempt = goal.judge(&summary.results(), ended.unstarted)?;
        let why = match (attempt.unstarted, attempt.failed) {
            (0, 0) => String::new(),
            (0, failed) => format!(": {failed} cycles failed"),
            (unstarted, _) => format!(": {unstarted} cycles that were due did not begin"),
        };
        let verdict = if attempt.is_kept { "kept" } else { "missed" };
        eprintln!(
            "info: {:.0}/s: p{} is {} ms, {verdict}{why}",
            rate.unwrap_or(attempt.achieved),
            goal.percent,
            shown(&attempt.latency)
        );
        Ok(Some(attempt))
    })?;
    if interrupt.came() {
        return Ok(None);
    }
    let Some(rate) = found.rate else {
        match found.trials.iter().any(|(_, is_kept)| *is_kept) {
            false => eprintln!("warning: No rate from {LEAST}/s on keeps {goal}"),
            true => eprintln!(
                "warning: No rate kept {goal} in {CONFIRMATIONS} more runs, down to {:.0}/s: the store is not the same from run to run. \
                 Make --duration longer",
                found.above
            ),
        }
        return Ok(None);
    };
    eprintln!(
        "info: {rate:.0}/s keeps {goal}: in {CONFIRMATIONS} of {CONFIRMATIONS} more runs. {:.0}/s did not, or not always",
        found.above
    );
    if let Some(threshold) = Threshold::of(&found.trials) {
        let end = |end: Option<f64>| end.map_or_else(|| "an unknown rate".to_owned(), |rate| format!("{rate:.0}/s"));
        eprintln!(
            "info: The rate that one run in two keeps lies between {} and {} (95 %, profile likelihood of a logistic curve \
             over the {} runs of the search)",
            end(threshold.low),
            end(threshold.high),
            found.trials.len()
        );
    }
    Ok(Some(base.at_rate(rate)))
}

/// How long the search takes at most, when that is known in advance.
fn at_most(args: &RunArgs) -> String {
    match args.duration {
        Extent::Time(each) => format!(" of {each:?} each: {:?}", each.saturating_mul(MOST_RUNS)),
        Extent::Count(each) => format!(" of {each} cycles each"),
    }
}

/// Looks for the highest rate that is kept. `attempt` runs at a rate, or as fast as possible; `None` ends the search.
fn search(mut attempt: impl FnMut(Option<f64>) -> Result<Option<Attempt>>) -> Result<Found> {
    let mut found = Found::default();
    let Some(most) = attempt(None)? else { return Ok(found) };
    let mut low = 0.0;
    // As fast as possible the latency is that of full slots: even when it is kept, a schedule is the fairer judge.
    found.above = most.achieved;
    let mut halvings = 0;
    while halvings < HALVINGS && found.above > LEAST && (low == 0.0 || found.above / low > PRECISION) {
        halvings += 1;
        let middle = if low == 0.0 {
            found.above / 2.0
        } else {
            (low * found.above).sqrt()
        };
        let Some(tried) = attempt(Some(middle))? else {
            return Ok(found);
        };
        found.trials.push((middle, tried.is_kept));
        if tried.is_kept {
            low = middle;
        } else {
            found.above = middle;
        }
    }
    let mut step = PRECISION;
    let mut tried_rates = 0;
    while low >= LEAST && tried_rates <= STEPS_DOWN {
        tried_rates += 1;
        let mut kept = 0;
        for _ in 0..CONFIRMATIONS {
            let Some(tried) = attempt(Some(low))? else {
                return Ok(found);
            };
            found.trials.push((low, tried.is_kept));
            kept += u32::from(tried.is_kept);
        }
        if kept == CONFIRMATIONS {
            found.rate = Some(low);
            // As much is to be known of the other end.
            for _ in 0..CONFIRMATIONS {
                let above = found.above;
                let Some(tried) = attempt(Some(above))? else { break };
                found.trials.push((above, tried.is_kept));
            }
            return Ok(found);
        }
        eprintln!("info: {low:.0}/s kept it in {kept} of {CONFIRMATIONS} more runs: too few");
        found.above = low;
        low /= step;
        // In a store that is not the same from run to run small steps would have no end.
        step *= step;
    }
    Ok(found)
}

fn shown(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.3} ({low:.3} to {high:.3})", estimate.value),
        _ => format!("{:.3}", estimate.value),
    }
}

impl Goal {
    fn of(args: &RunArgs) -> Result<Self> {
        let ms = |limit: Duration| limit.as_secs_f64() * 1e3;
        match (args.p99, args.p999) {
            (Some(limit), _) => Ok(Self {
                percent: 99.0,
                limit_ms: ms(limit),
            }),
            (None, Some(limit)) => Ok(Self {
                percent: 99.9,
                limit_ms: ms(limit),
            }),
            (None, None) => Err(Error::Misuse("--find-max wants --p99 or --p999".to_owned())),
        }
    }

    /// The latency is kept when it is below the limit, no cycle failed, and every cycle that was due began.
    fn judge(&self, results: &Results, unstarted: u64) -> Result<Attempt> {
        let latency = results
            .cycle_latency_ms
            .as_ref()
            .and_then(|distribution| distribution.percentile(self.percent))
            .ok_or_else(|| Error::Misuse("the search ran no cycle: make --duration longer".to_owned()))?;
        let achieved = results.cycles as f64 / results.elapsed_s.max(1e-9);
        let failed = results.cycle_errors.values().sum();
        Ok(Attempt {
            is_kept: latency.value <= self.limit_ms && unstarted == 0 && failed == 0,
            latency,
            achieved,
            unstarted,
            failed,
        })
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a p{} of {} ms", self.percent, self.limit_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};

    /// A search in a store that keeps the latency up to `limit`, give or take: how much, as a share of the rate, is drawn for each run.
    fn simulated(limit: f64, noise: f64, random: &mut SmallRng) -> Found {
        let search = search(|rate| {
            let achieved = rate.unwrap_or(limit * 1.7);
            // Twelve even numbers add up to nearly a normal one.
            let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            Ok(Some(Attempt {
                is_kept: achieved < limit * (noise * normal).exp(),
                latency: Estimate::bare(1.0),
                achieved,
                unstarted: 0,
                failed: 0,
            }))
        });
        search.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Whatever a store does, a search ends when it was said to.
    #[test]
    fn a_search_is_bounded() {
        let mut random = SmallRng::seed_from_u64(12);
        for chance in [0.0, 0.3, 0.5, 0.8, 0.95, 1.0] {
            for most in [0.5, 3.0, 1e4, 1e9] {
                for _ in 0..50 {
                    let mut runs = 0;
                    let found = search(|rate| {
                        runs += 1;
                        Ok(Some(Attempt {
                            is_kept: random.random_bool(chance),
                            latency: Estimate::bare(1.0),
                            achieved: rate.unwrap_or(most),
                            unstarted: 0,
                            failed: 0,
                        }))
                    });
                    let found = found.unwrap();
                    assert!(runs <= MOST_RUNS, "{runs} runs");
                    assert!(found.rate.is_none_or(|rate| rate >= LEAST && rate < most), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn the_interval_of_the_rate_covers_the_truth() {
        const SEARCHES: u32 = 100;
        let mut random = SmallRng::seed_from_u64(11);
        for noise in [0.01, 0.05, 0.15] {
            let (mut covered, mut bracketed, mut spread) = (0, 0, 0.0);
            for _ in 0..SEARCHES {
                let limit = 10_f64.powf(random.random_range(2.0..6.0));
                let found = simulated(limit, noise, &mut random);
                let threshold = Threshold::of(&found.trials).unwrap_or_else(|| panic!("there were trials"));
                let (low, high) = (threshold.low.unwrap_or(0.0), threshold.high.unwrap_or(f64::INFINITY));
                covered += u32::from((low..=high).contains(&limit));
                bracketed += u32::from((found.rate.unwrap_or(0.0)..=found.above).contains(&limit));
                spread += (high / low).min(10.0) / f64::from(SEARCHES);
            }
            println!("noise {noise}: {covered} covered, {bracketed} between the last two rates, width {spread:.2}");
            assert!(covered * 100 >= SEARCHES * 88, "noise {noise}: {covered} of {SEARCHES}");
            // An interval of everything would cover as much.
            assert!(spread < 1.0 + 25.0 * noise.max(0.02), "noise {noise}: {spread}");
            // What the search ends between is no interval of confidence.
            assert!(
                noise < 0.05 || bracketed * 100 < SEARCHES * 80,
                "noise {noise}: {bracketed}"
            );
        }
    }
}
