//! Where the measurements of a run go: the report, the log of histograms, Prometheus, the terminal.

use std::fs::File;
use std::io::{BufWriter, Write as _, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::floor::Floor;
use crate::args::RunArgs;
use crate::error::{Error, Result};
use crate::hdr::{HdrLog, Of};
use crate::output::Layout;
use crate::progress::Progress;
use crate::prometheus::Endpoint;
use crate::report::{ReportWriter, RunConfig, SAMPLES, latte_sample};
use crate::run::{Ended, Phase, Workers};
use crate::stats::{Aborted, Results, Sample, Summary};

/// All places that get each sample.
pub(super) struct Outputs {
    path: PathBuf,
    writer: ReportWriter,
    log: Option<HdrLog<BufWriter<File>>>,
    endpoint: Option<Endpoint>,
    is_quiet: bool,
    prints_samples: bool,
    layout: Layout,
    keeps_samples: bool,
    abort_below: Option<f64>,
    abort_after: Duration,
}

/// What a phase came to.
pub(super) struct Watched {
    pub(super) summary: Summary,
    pub(super) ended: Ended,
    /// The throughput that ended it.
    pub(super) aborted: Option<Aborted>,
}

impl Outputs {
    /// Makes the files and listens where that is asked for.
    pub(super) fn create(args: &RunArgs, config: &RunConfig) -> Result<Self> {
        let path = report_path(args.output.as_deref(), config.started_ms);
        let log = args.hdrfile.as_deref().map(|path| {
            let file = File::create(path).map_err(Error::io("create", path))?;
            HdrLog::create(BufWriter::new(file), config.started_ms, None, Of::Functions)
        });
        let outputs = Self {
            writer: ReportWriter::create(&path, config)?,
            path,
            log: log.transpose()?,
            endpoint: args.prometheus.as_deref().map(Endpoint::listen).transpose()?,
            is_quiet: args.quiet,
            prints_samples: args.format.is_none(),
            layout: Layout::or_by_program_name(args.layout),
            keeps_samples: !args.drop_sampling_log,
            abort_below: args.abort_below,
            abort_after: args.abort_after,
        };
        if outputs.prints_samples {
            print_line(match outputs.layout {
                Layout::Full => HEADER,
                Layout::Latte => SAMPLES,
            });
        }
        Ok(outputs)
    }

    /// Runs a phase on the workers, and stores what they measure.
    pub(super) fn watch(
        &mut self,
        title: &str,
        workers: &mut Workers,
        phase: Phase,
        is_warm_up: bool,
    ) -> Result<Watched> {
        let progress = Progress::new(title, &phase, self.is_quiet);
        let mut summary = Summary::default();
        let mut aborted = None;
        let below = self.abort_below.filter(|_| !is_warm_up);
        let mut floor = below.map(|below| Floor::new(below, self.abort_after));
        let keep = |mut sample: Sample| {
            summary.add(&sample);
            progress.note(&sample);
            // The report's own summary leaves it out.
            sample.warm_up = is_warm_up;
            if self.keeps_samples {
                self.writer.sample(&sample)?;
            }
            if let Some(log) = &mut self.log {
                log.sample(&sample)?;
            }
            if let Some(endpoint) = &self.endpoint {
                endpoint.add(&sample);
            }
            if self.prints_samples && !is_warm_up {
                progress.line(|| match self.layout {
                    Layout::Full => print(&sample),
                    Layout::Latte => print_line(&latte_sample(&sample)),
                });
            }
            if aborted.is_none() {
                aborted = floor.as_mut().and_then(|floor| floor.add(&sample));
            }
            Ok(match aborted {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            })
        };
        let ended = workers.work(phase, keep, |phase| progress.show(phase))?;
        progress.finish();
        Ok(Watched {
            summary,
            ended,
            aborted,
        })
    }

    /// Writes what a run amounts to.
    pub(super) fn finish(&mut self, results: &Results) -> Result<()> {
        self.writer.results(results)
    }

    /// Closes the files, and says where the report is.
    pub(super) fn close(self) -> PathBuf {
        self.path
    }
}

/// The file that is named, or one named after the time, in the folder that is named or here.
fn report_path(output: Option<&Path>, started_ms: i64) -> PathBuf {
    let started = chrono::DateTime::from_timestamp_millis(started_ms).unwrap_or_default();
    let name = started.format("tidemill-bench-%Y%m%d-%H%M%S.json").to_string();
    match output {
        Some(path) if path.is_dir() => path.join(name),
        Some(path) => path.to_owned(),
        None => PathBuf::from(name),
    }
}

const HEADER: &str = "  Time [s]      Cycles      Errors  Cycles/s    p50 [ms]    p90 [ms]    p99 [ms]    max [ms]";

fn print(sample: &Sample) {
    let latencies = sample.cycle_latencies();
    let ms = |quantile: f64| latencies.quantile(quantile) as f64 / 1e6;
    print_line(&format!(
        "{:10.3} {:11} {:11} {:9.0} {:11.3} {:11.3} {:11.3} {:11.3}",
        sample.start_s + sample.duration_s,
        sample.cycles(),
        sample.cycle_errors(),
        sample.cycles() as f64 / sample.duration_s.max(1e-9),
        ms(0.5),
        ms(0.9),
        ms(0.99),
        ms(1.0),
    ));
}

/// Prints a line while the run goes. Whoever has seen enough and closed the pipe ends no run by that.
fn print_line(line: &str) {
    let _ = writeln!(stdout().lock(), "{line}");
}
