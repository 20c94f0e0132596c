//! Lines over time and over percentiles, from samples and histograms.

use std::path::Path;

use super::Line;
use crate::{
    Result,
    report::{Report, percentile_name},
    stats::{Latencies, Sample},
};

/// More points than a picture has columns say nothing more.
const MOST_POINTS: usize = 2_000;

/// Throughput and latencies of a run over time, sample by sample.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    percents: Vec<f64>,
    throughput: Vec<(f64, f64)>,
    /// By percentile; powers of ten, in milliseconds.
    latencies: Vec<Vec<(f64, f64)>>,
    /// The longest sample and the last one, in seconds.
    longest_s: f64,
    last_s: f64,
}

/// A last sample that is shorter than this share of the others says little of a rate.
const WHOLE: f64 = 0.9;

impl Timeline {
    /// An empty one, of these percentiles of the cycles' latency.
    pub(crate) fn new(percents: &[f64]) -> Self {
        Self {
            percents: percents.to_vec(),
            throughput: Vec::new(),
            latencies: vec![Vec::new(); percents.len()],
            longest_s: 0.0,
            last_s: 0.0,
        }
    }

    /// A report, and the timeline of each of its runs.
    ///
    /// # Errors
    /// Those of [`Report::read`].
    pub(crate) fn of_report(path: &Path, percents: &[f64]) -> Result<(Report, Vec<Self>)> {
        let mut timelines: Vec<Self> = Vec::new();
        let report = Report::read(path, &mut |run, sample| {
            if timelines.len() <= run {
                timelines.resize(run + 1, Self::new(percents));
            }
            timelines[run].push(&sample);
            Ok(())
        })?;
        Ok((report, timelines))
    }

    /// Adds a sample; those of the warm-up are left out. A point stands at the end of its interval.
    pub(crate) fn push(&mut self, sample: &Sample) {
        if sample.warm_up || sample.duration_s <= 0.0 {
            return;
        }
        self.last_s = sample.duration_s;
        self.longest_s = self.longest_s.max(sample.duration_s);
        let time = sample.start_s + sample.duration_s;
        self.throughput.push((time, sample.cycles() as f64 / sample.duration_s));
        let latencies = sample.cycle_latencies();
        if latencies.count() > 0 {
            for (line, percent) in self.latencies.iter_mut().zip(&self.percents) {
                line.push((time, milliseconds_log(latencies.quantile(percent / 100.0))));
            }
        }
    }

    /// Cycles a second, of the report with the number `side`. A last sample of some milliseconds is no point of it.
    pub(crate) fn throughput(&self, label: &str, side: usize) -> Line {
        let points = match &self.throughput[..] {
            [points @ .., _] if !points.is_empty() && self.last_s < WHOLE * self.longest_s => points,
            points => points,
        };
        let points = thinned(points, |values| values.iter().sum::<f64>() / values.len() as f64);
        Line {
            label: label.into(),
            points,
            kind: 0,
            side,
        }
    }

    /// Latencies, a line a percentile, of the report with the number `side`. Without a label the lines are more of those before them.
    pub(crate) fn latencies(&self, label: Option<&str>, side: usize) -> Vec<Line> {
        let lines = self.percents.iter().zip(&self.latencies).enumerate();
        lines
            .map(|(kind, (&percent, points))| Line {
                label: label.map_or_else(String::new, |label| {
                    format!("{} {label}", percentile_name(percent)).trim_end().into()
                }),
                // What a picture leaves out must not be the slow ones.
                points: thinned(points, |values| values.iter().copied().fold(f64::MIN, f64::max)),
                kind,
                side,
            })
            .collect()
    }
}

/// Throughput and latencies of all runs of a report, whose lines have one name.
pub(crate) fn lines_of_runs(timelines: &[Timeline], name: &str, side: usize) -> (Vec<Line>, Vec<Line>) {
    let runs = match timelines.len() {
        1 => String::new(),
        runs => format!(" ({runs} runs)"),
    };
    let rate = format!("{}{runs}", if name.is_empty() { "cycles" } else { name });
    let name = format!("{name}{runs}").trim_start().to_owned();
    let (mut throughput, mut latencies) = (Vec::new(), Vec::new());
    for (run, timeline) in timelines.iter().enumerate() {
        let label = (run == 0).then_some(name.as_str());
        throughput.push(timeline.throughput(if run == 0 { &rate } else { "" }, side));
        latencies.extend(timeline.latencies(label, side));
    }
    (throughput, latencies)
}

/// The latency below which each share of all lies, up to the last share that more than one latency exceeds.
pub(crate) fn percentile_curve(label: &str, latencies: &Latencies) -> Line {
    const STEPS_PER_NINE: usize = 40;
    let nines = (latencies.count().max(1) as f64).log10();
    let steps = (nines * STEPS_PER_NINE as f64).floor() as usize;
    let points = (0..=steps).map(|step| {
        let nines = step as f64 / STEPS_PER_NINE as f64;
        (nines, milliseconds_log(latencies.quantile(1.0 - 10_f64.powf(-nines))))
    });
    Line {
        label: label.into(),
        points: points.collect(),
        kind: 0,
        side: 0,
    }
}

fn milliseconds_log(nanoseconds: u64) -> f64 {
    (nanoseconds.max(1) as f64 / 1e6).log10()
}

/// At most as many points as a picture shows, each for neighbours.
fn thinned(points: &[(f64, f64)], combine: impl Fn(&[f64]) -> f64) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(MOST_POINTS).max(1);
    let parts = points.chunks(each);
    parts
        .map(|part| {
            let values: Vec<f64> = part.iter().map(|point| point.1).collect();
            (part[part.len() - 1].0, combine(&values))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_slowest() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|index| (f64::from(index), f64::from(index % 977)))
            .collect();
        let thin = thinned(&points, |values| values.iter().copied().fold(f64::MIN, f64::max));
        assert!(thin.len() <= MOST_POINTS);
        assert_eq!(thin.iter().map(|point| point.1).fold(0.0, f64::max), 976.0);
        assert_eq!(thin.last().unwrap().0, 99_999.0);
    }

    #[test]
    fn a_short_last_sample_is_no_rate() {
        let sample = |start_s: f64, duration_s: f64, cycles: u64| {
            let function = crate::stats::FunctionSample {
                cycles,
                ..Default::default()
            };
            Sample {
                start_s,
                duration_s,
                functions: [("run".to_owned(), function)].into(),
                ..Sample::default()
            }
        };
        let rates = |samples: &[(f64, f64, u64)]| {
            let mut timeline = Timeline::new(&[]);
            samples
                .iter()
                .for_each(|&(start, duration, cycles)| timeline.push(&sample(start, duration, cycles)));
            timeline
                .throughput("", 0)
                .points
                .iter()
                .map(|point| point.1)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            rates(&[(0.0, 1.0, 400), (1.0, 1.0, 401), (2.0, 0.005, 7)]),
            [400.0, 401.0]
        );
        assert_eq!(rates(&[(0.0, 1.0, 400), (1.0, 0.95, 380)]), [400.0, 400.0]);
        // A run of one short sample is all there is.
        assert_eq!(rates(&[(0.0, 0.5, 200)]), [400.0]);
    }

    #[test]
    fn a_curve_ends_with_its_last_latency() {
        let mut latencies = Latencies::default();
        (1..=1_000).for_each(|value| latencies.record(value * 1_000_000));
        let curve = percentile_curve("", &latencies).points;
        assert_eq!(curve.last().unwrap().0, 3.0);
        let at = |nines: f64| 10_f64.powf(curve.iter().find(|point| point.0 == nines).unwrap().1);
        assert!((at(1.0) / 900.0 - 1.0).abs() < 0.002 && (at(3.0) / 999.0 - 1.0).abs() < 0.002);
    }
}
