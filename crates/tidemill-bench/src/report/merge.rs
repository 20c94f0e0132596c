//! Reports of several machines that loaded the same target at the same time, as one.
//!
//! Samples of the same interval are added: counts and histograms exactly. Each report is read by a thread of its own that
//! waits until its samples are used, so that long runs need no more memory than short ones.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use super::{Report, ReportWriter};
use crate::{
    Error, Result,
    stats::{Sample, Summary, add_counts},
};

/// Clocks and starts may differ by this share of an interval before samples are of other intervals.
const SAME_INTERVAL: f64 = 0.5;

/// Merges reports into a new one: runs by their number, samples by the time that they were taken.
///
/// # Errors
/// When a report can't be read, when the reports don't have the same number of runs or the same length of samples, or when
/// the new one can't be written.
pub fn merge(paths: &[PathBuf], output: &Path) -> Result<()> {
    if paths.len() < 2 {
        return Err(Error::Misuse("two reports at least are needed to merge them".into()));
    }
    if let Some(path) = paths.iter().find(|path| same_file(path, output)) {
        let path = path.display();
        return Err(Error::Misuse(format!("{path}: can't be merged into itself")));
    }
    let reports = paths
        .iter()
        .map(|path| Report::load(path))
        .collect::<Result<Vec<_>>>()?;
    let first = &reports[0];
    let steps = |report: &Report| {
        report
            .runs
            .iter()
            .map(|run| run.results.concurrency_limit)
            .collect::<Vec<_>>()
    };
    for other in &reports[1..] {
        if other.runs.len() == first.runs.len() && steps(other) != steps(first) {
            return Err(Error::Misuse(format!(
                "{} and {} have other steps of concurrency: merge reports of the same runs",
                first.path.display(),
                other.path.display()
            )));
        }
        if other.runs.len() != first.runs.len() {
            return Err(Error::Misuse(format!(
                "{} has {} runs, {} has {}: merge reports of the same runs",
                first.path.display(),
                first.runs.len(),
                other.path.display(),
                other.runs.len()
            )));
        }
    }
    let started_ms = reports.iter().map(|report| report.config.started_ms).min().unwrap_or(0);
    let mut config = first.config.clone();
    config.started_ms = started_ms;
    for other in &reports[1..] {
        config.threads = config.threads.saturating_add(other.config.threads);
        config.concurrency = config.concurrency.saturating_add(other.config.concurrency);
        config.cores = config
            .cores
            .zip(other.config.cores)
            .map(|(sum, cores)| sum.saturating_add(cores));
        config.rate = config.rate.zip(other.config.rate).map(|(sum, rate)| sum + rate);
    }
    config.settings.insert("clients".into(), reports.len().to_string());
    let mut writer = ReportWriter::create(output, &config)?;

    thread::scope(|scope| {
        let mut streams = Vec::new();
        for report in &reports {
            let (sender, samples) = sync_channel(2);
            let behind_s = (report.config.started_ms - started_ms) as f64 / 1_000.0;
            let path = &report.path;
            scope.spawn(move || {
                let read = Report::read(path, &mut |run, mut sample| {
                    if sample.warm_up {
                        // Nothing counts it, and each machine warms up as long as it takes.
                        return Ok(());
                    }
                    sample.start_s += behind_s;
                    let sent = sender.send(Ok((run, sample)));
                    sent.map_err(|_| Error::Misuse("the merge ended".into()))
                });
                if let Err(error) = read {
                    // Nobody listens any more when the merge has failed already.
                    let _ = sender.send(Err(error));
                }
            });
            streams.push(Stream {
                path,
                samples,
                head: None,
            });
        }
        for run in 0..first.runs.len() {
            let mut summary = Summary::on_cores(config.cores);
            read_heads(&mut streams)?;
            // Where all say that they were sampled alike, a sample that is shorter is all that there was.
            let sampling = &first.config.sampling;
            if sampling.is_empty() || reports.iter().any(|report| report.config.sampling != *sampling) {
                check_sampling(&streams, run)?;
            }
            while let Some(sample) = next(&mut streams, run)? {
                writer.sample(&sample)?;
                summary.add(&sample);
            }
            let mut results = summary.results();
            let unstarted = reports.iter().map(|report| report.runs[run].results.unstarted_cycles);
            results.unstarted_cycles = unstarted.fold(0, u64::saturating_add);
            results.concurrency_limit = first.runs[run].results.concurrency_limit;
            for report in &reports {
                add_counts(&mut results.unawaited_calls, &report.runs[run].results.unawaited_calls);
            }
            writer.results(&results)?;
        }
        Ok(())
    })
}

struct Stream<'a> {
    path: &'a Path,
    samples: Receiver<Result<(usize, Sample)>>,
    head: Option<(usize, Sample)>,
}

/// Reads the next sample of each stream whose last one was used. A stream that ended has none.
fn read_heads(streams: &mut [Stream<'_>]) -> Result<()> {
    for stream in streams.iter_mut().filter(|stream| stream.head.is_none()) {
        stream.head = stream.samples.recv().ok().transpose()?;
    }
    Ok(())
}

/// It is not known to which interval samples of different lengths belong.
fn check_sampling(streams: &[Stream<'_>], run: usize) -> Result<()> {
    let heads = streams
        .iter()
        .filter_map(|stream| Some((stream.path, stream.head.as_ref()?)));
    let heads = heads.filter(|(_, (of, _))| *of == run);
    let mut lengths = heads.map(|(path, (_, sample))| (path, sample.duration_s));
    let Some((first, length)) = lengths.next() else {
        return Ok(());
    };
    match lengths.find(|(_, other)| *other > 1.5 * length || length > 1.5 * *other) {
        None => Ok(()),
        Some((path, other)) => Err(Error::Misuse(format!(
            "{} has samples of {length:.3} s, {} of {other:.3} s: merge reports of the same sampling",
            first.display(),
            path.display()
        ))),
    }
}

/// The sum of the samples of the earliest interval of a run that is left.
fn next(streams: &mut [Stream<'_>], run: usize) -> Result<Option<Sample>> {
    read_heads(streams)?;
    let heads = streams.iter().filter_map(|stream| stream.head.as_ref());
    let heads = heads.filter(|(of, _)| *of == run).map(|(_, sample)| sample);
    let Some(first) = heads
        .clone()
        .min_by(|left, right| left.start_s.total_cmp(&right.start_s))
    else {
        return Ok(None);
    };
    let start = first.start_s;
    // The last sample of a run may be a short one.
    let longest = heads.map(|sample| sample.duration_s).fold(0.0, f64::max);
    let mut sum: Option<Sample> = None;
    for stream in streams {
        let due = stream
            .head
            .take_if(|(of, sample)| *of == run && sample.start_s - start < SAME_INTERVAL * longest);
        let Some((_, sample)) = due else { continue };
        match &mut sum {
            Some(sum) => sum.add(&sample),
            None => sum = Some(sample),
        }
    }
    Ok(sum)
}

fn same_file(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}
