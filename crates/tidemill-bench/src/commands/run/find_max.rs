//! `--find-max`: the highest rate that keeps a latency.
//!
//! A run without a rate shows what the store can do at most; the interval below it is halved, a run each, until its ends are 5 percent apart. The
//! last rate that kept the latency is run three times more: it must keep it each time, or the next lower one is tried.

use std::time::Duration;

use super::outputs::Outputs;
use super::phase;
use crate::args::RunArgs;
use crate::error::{Error, Result};
use crate::run::{Crew, Interrupt, Pace};
use crate::stats::{Estimate, Results};

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
}

/// How far apart the ends of the interval may be.
const PRECISION: f64 = 1.05;
/// How often the rate that was found is run again.
const CONFIRMATIONS: u32 = 3;
/// Below this no rate is tried.
const LEAST: f64 = 1.0;

/// The pace to run at, or `None` when no rate keeps the latency or the search was interrupted.
pub(super) fn find_max(
    args: &RunArgs,
    crew: &mut Crew,
    outputs: &mut Outputs,
    interrupt: &Interrupt,
) -> Result<Option<Pace>> {
    let goal = Goal::of(args)?;
    eprintln!("info: Searching the highest rate that keeps {goal}...");
    let base = Pace::constant(LEAST);
    let mut attempt = |pace: Option<Pace>, rate: f64| -> Result<Attempt> {
        let (summary, ended) = outputs.watch("Searching", crew, phase(args, pace)?, true)?;
        if let Some(error) = ended.error {
            return Err(error);
        }
        let attempt = goal.judge(&summary.results(), ended.unstarted)?;
        let verdict = if attempt.is_kept { "kept" } else { "missed" };
        let rate = if pace.is_some() { rate } else { attempt.achieved };
        eprintln!(
            "info: {rate:.0}/s: p{} is {} ms, {verdict}",
            goal.percent,
            shown(&attempt.latency)
        );
        Ok(attempt)
    };
    let most = attempt(None, 0.0)?;
    let mut high = most.achieved;
    let mut low = 0.0;
    // As fast as possible the latency is that of full slots: even when it is kept, a schedule is the fairer judge.
    while high > LEAST && (low == 0.0 || high / low > PRECISION) {
        if interrupt.came() {
            return Ok(None);
        }
        let middle = if low == 0.0 { high / 2.0 } else { (low * high).sqrt() };
        if attempt(Some(base.at_rate(middle)), middle)?.is_kept {
            low = middle;
        } else {
            high = middle;
        }
    }
    while low >= LEAST {
        let mut kept = 0;
        for _ in 0..CONFIRMATIONS {
            if interrupt.came() {
                return Ok(None);
            }
            kept += u32::from(attempt(Some(base.at_rate(low)), low)?.is_kept);
        }
        if kept == CONFIRMATIONS {
            eprintln!(
                "info: {low:.0}/s keeps {goal}: in {kept} of {CONFIRMATIONS} more runs. {high:.0}/s did not, or was not tried. \
                 If one run in two missed it, {kept} in a row would keep it by chance with a probability of {:.1} %",
                100.0 / 2_f64.powi(CONFIRMATIONS.cast_signed())
            );
            return Ok(Some(base.at_rate(low)));
        }
        eprintln!("info: {low:.0}/s kept it in {kept} of {CONFIRMATIONS} more runs: too few");
        high = low;
        low /= PRECISION;
    }
    eprintln!("warning: No rate from {LEAST}/s on keeps {goal}");
    Ok(None)
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
        Ok(Attempt {
            is_kept: latency.value <= self.limit_ms && unstarted == 0 && results.cycle_errors.is_empty(),
            latency,
            achieved,
        })
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a p{} of {} ms", self.percent, self.limit_ms)
    }
}
