//! How far a phase is, on a terminal.

use std::io::{IsTerminal as _, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::run::Phase;

/// A bar on standard error, when that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar for a phase.
    pub(crate) fn new(title: &str, phase: &Phase, is_quiet: bool) -> Self {
        if is_quiet || !stderr().is_terminal() {
            return Self(None);
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
        Self(Some(bar))
    }

    /// Moves the bar.
    pub(crate) fn show(&self, phase: &Phase) {
        let Some(bar) = &self.0 else { return };
        let cycles = phase.cycles.taken();
        bar.set_position(match phase.duration {
            Some(_) => u64::try_from(phase.start.elapsed().as_millis()).unwrap_or(u64::MAX),
            None => cycles,
        });
        let rate = cycles as f64 / phase.start.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{cycles} cycles, {rate:.0}/s"));
    }

    /// Prints a line above the bar.
    pub(crate) fn line(&self, print: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
