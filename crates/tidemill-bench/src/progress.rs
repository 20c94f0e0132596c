//! How far a phase is, on a terminal.

use std::cell::RefCell;
use std::io::{IsTerminal as _, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::run::Phase;
use crate::stats::Sample;

/// A bar on standard error, when that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// The percentiles of the last sample.
    latencies: RefCell<String>,
}

impl Progress {
    /// A bar for a phase.
    pub(crate) fn new(title: &str, phase: &Phase, is_quiet: bool) -> Self {
        if is_quiet || !stderr().is_terminal() {
            return Self {
                bar: None,
                latencies: RefCell::default(),
            };
        }
        let length = match phase.duration {
            Some(duration) => u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            None => phase.cycles.limit(),
        };
        let bar = ProgressBar::new(length);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {percent}% {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        Self {
            bar: Some(bar),
            latencies: RefCell::default(),
        }
    }

    /// Moves the bar.
    pub(crate) fn show(&self, phase: &Phase) {
        let Some(bar) = &self.bar else { return };
        let cycles = phase.cycles.taken();
        bar.set_position(match phase.duration {
            Some(_) => u64::try_from(phase.start.elapsed().as_millis()).unwrap_or(u64::MAX),
            None => cycles,
        });
        let rate = cycles as f64 / phase.start.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{cycles} cycles, {rate:.0}/s{}", self.latencies.borrow()));
    }

    /// Takes the percentiles of a sample for the bar.
    pub(crate) fn note(&self, sample: &Sample) {
        if self.bar.is_some() {
            let latencies = sample.cycle_latencies();
            let ms = |quantile: f64| latencies.quantile(quantile) as f64 / 1e6;
            let text = format!(", p50 {:.3} p99 {:.3} ms", ms(0.5), ms(0.99));
            self.latencies.replace(text);
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn line(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
