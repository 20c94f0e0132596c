//! Progress on a terminal: rows, bytes, rate, time left. Nothing if standard error is not a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tidemill_sql::Progress;

use crate::terminal::{is_quiet, shown};

/// The progress of one copy.
pub(crate) struct CopyProgress {
    bar: ProgressBar,
    source_bytes: u64,
    drawn: bool,
}

impl CopyProgress {
    /// `source_bytes` is the size of the source, 0 if unknown.
    pub(crate) fn new(what: &str, source_bytes: u64) -> Self {
        let drawn = io::stderr().is_terminal() && !is_quiet();
        let bar = ProgressBar::hidden()
            .with_style(style("{prefix} {human_pos} rows"))
            .with_prefix(shown(what));
        if drawn {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        Self {
            bar,
            source_bytes,
            drawn,
        }
    }

    pub(crate) fn update(&mut self, progress: Progress) {
        self.update_rows(progress.rows, progress.expected_rows);
    }

    pub(crate) fn update_rows(&mut self, rows: u64, expected_rows: Option<u64>) {
        if !self.drawn {
            return;
        }
        if let Some(expected) = expected_rows
            && self.bar.length().is_none()
        {
            self.bar.set_length(expected);
            self.bar.set_style(style(
                "{prefix} {wide_bar} {human_pos}/{human_len} rows {msg} {eta} left",
            ));
        }
        if let Some(expected) = expected_rows.filter(|&expected| expected > 0) {
            let bytes = self.source_bytes as f64 * rows as f64 / expected as f64;
            let seconds = self.bar.elapsed().as_secs_f64().max(1e-3);
            self.bar.set_message(format!(
                "{}, {}/s",
                HumanBytes(bytes as u64),
                HumanBytes((bytes / seconds) as u64)
            ));
        }
        self.bar.set_position(rows);
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Plans a copy. After a second, a terminal shows that the source is read: text is measured for fields of fixed width.
pub(crate) async fn planned<T>(what: &str, plan: impl Future<Output = T>) -> T {
    let mut plan = std::pin::pin!(plan);
    tokio::select! {
        done = &mut plan => return done,
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    if !io::stderr().is_terminal() || is_quiet() {
        return plan.await;
    }
    let bar = ProgressBar::new_spinner()
        .with_style(style("{prefix}: measuring text for the width of its fields, {elapsed}"))
        .with_prefix(shown(what));
    bar.enable_steady_tick(Duration::from_millis(200));
    let done = plan.await;
    bar.finish_and_clear();
    done
}

/// The work in one line: rows, bytes if known, time and rate.
pub(crate) fn summary(rows: u64, source_bytes: u64, bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let mut text = format!("{} rows", HumanCount(rows));
    let known = [source_bytes, bytes].into_iter().filter(|&bytes| bytes > 0);
    let known: Vec<String> = known.map(|bytes| HumanBytes(bytes).to_string()).collect();
    if !known.is_empty() {
        text += &format!(", {}", known.join(" → "));
    }
    text += &format!(" in {seconds:.2} s");
    if source_bytes > 0 && seconds > 0.0 {
        text += &format!(" ({:.0} MB/s)", source_bytes as f64 / 1e6 / seconds);
    }
    text
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
