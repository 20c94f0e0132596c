//! The measurements of all workers in one interval: what a report keeps line by line.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Chunk, Latencies, Levels};

/// How often something of each name happened.
pub type Counts = BTreeMap<String, u64>;

/// All measurements of an interval.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Sample {
    /// When the interval began, in seconds since the start of the run.
    pub start_s: f64,
    /// How long it was, in seconds.
    pub duration_s: f64,
    /// Whether it belongs to the warm-up, which no summary counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// By function of the workload.
    pub functions: BTreeMap<String, FunctionSample>,
    /// By statement.
    #[serde(default)]
    pub statements: BTreeMap<String, StatementSample>,
    /// By metric that the script defines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricSample>,
    /// The first text of each kind of error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub error_texts: BTreeMap<String, String>,
    /// How many requests were in flight, on average over the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<f64>,
    /// The processor time of the client, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The share of its time that the busiest worker's thread computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_worker: Option<f64>,
}

/// The cycles of a function.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FunctionSample {
    /// How many cycles ended, those with errors too.
    pub cycles: u64,
    /// Those with errors, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Counts,
    /// Times from the schedule to the end. Latte's reports don't have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Timings>,
    /// Times from the start to the end. None where all cycles began when they were due: see [`Self::service`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Timings>,
}

/// The requests of a statement.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatementSample {
    /// How many ended, those with errors too.
    pub requests: u64,
    /// Rows that they sent or got.
    #[serde(default)]
    pub rows: u64,
    /// How often they were sent again.
    #[serde(default)]
    pub retries: u64,
    /// Those with errors, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Counts,
    /// Times from the send to the answer.
    pub latency: Timings,
}

/// Times of one kind, in nanoseconds.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timings {
    /// How they are distributed.
    pub histogram: Latencies,
    /// How they follow one another.
    #[serde(default)]
    pub series: Levels,
}

/// The values of a metric.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricSample {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their distances from the mean.
    pub squares: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Sample {
    /// Merges what all workers measured in an interval. `cpu` is the processor time of the process.
    pub fn merge(chunks: impl IntoIterator<Item = Chunk>, cpu: Option<Duration>) -> Self {
        let mut sample = Self::default();
        let mut workers = 0_u32;
        let mut durations = Duration::ZERO;
        let mut in_flight = Duration::ZERO;
        let mut start: Option<Duration> = None;
        for chunk in chunks {
            workers += 1;
            durations += chunk.duration;
            in_flight = in_flight.saturating_add(chunk.in_flight);
            start = Some(start.map_or(chunk.start, |start| start.min(chunk.start)));
            if let Some(spent) = chunk.thread
                && chunk.duration > Duration::ZERO
            {
                let share = spent.as_secs_f64() / chunk.duration.as_secs_f64();
                sample.busiest_worker = Some(sample.busiest_worker.unwrap_or(0.0).max(share));
            }
            add_texts(&mut sample.error_texts, &chunk.error_texts);
            if workers == 1 {
                (sample.functions, sample.statements, sample.metrics) =
                    (chunk.functions, chunk.statements, chunk.metrics);
            } else {
                sample.add_parts(&chunk.functions, &chunk.statements, &chunk.metrics);
            }
        }
        sample.start_s = start.unwrap_or_default().as_secs_f64();
        sample.duration_s = durations.as_secs_f64() / f64::from(workers.max(1));
        if sample.duration_s > 0.0 {
            sample.concurrency = Some(in_flight.as_secs_f64() / sample.duration_s);
        }
        sample.cpu_s = cpu.map(|cpu| cpu.as_secs_f64());
        sample
    }

    /// Gives it another interval, which its parts were measured in as well.
    pub(crate) fn set_span(&mut self, start: Duration, duration: Duration) {
        let seconds = duration.as_secs_f64();
        // Requests were in flight for a sum of time, whatever their mean is taken over.
        self.concurrency = match seconds > 0.0 {
            true => self.concurrency.map(|mean| mean * self.duration_s / seconds),
            false => None,
        };
        self.start_s = start.as_secs_f64();
        self.duration_s = seconds;
    }

    /// Adds a sample of the same interval that another client took: counts, histograms and series exactly, and what they had
    /// in flight.
    pub fn add(&mut self, other: &Self) {
        self.add_parts(&other.functions, &other.statements, &other.metrics);
        add_texts(&mut self.error_texts, &other.error_texts);
        self.start_s = self.start_s.min(other.start_s);
        self.duration_s = self.duration_s.max(other.duration_s);
        let sum =
            |left: Option<f64>, right: Option<f64>| left.into_iter().chain(right).reduce(|left, right| left + right);
        self.concurrency = sum(self.concurrency, other.concurrency);
        self.cpu_s = sum(self.cpu_s, other.cpu_s);
        let both = self.busiest_worker.into_iter().chain(other.busiest_worker);
        self.busiest_worker = both.reduce(f64::max);
    }

    fn add_parts(
        &mut self,
        functions: &BTreeMap<String, FunctionSample>,
        statements: &BTreeMap<String, StatementSample>,
        metrics: &BTreeMap<String, MetricSample>,
    ) {
        for (name, function) in functions {
            self.functions.entry(name.clone()).or_default().add(function);
        }
        for (name, statement) in statements {
            self.statements.entry(name.clone()).or_default().add(statement);
        }
        for (name, metric) in metrics {
            self.metrics.entry(name.clone()).or_default().add(metric);
        }
    }

    /// How many cycles ended.
    pub fn cycles(&self) -> u64 {
        total(self.functions.values().map(|function| function.cycles))
    }

    /// How many cycles ended with an error.
    pub fn cycle_errors(&self) -> u64 {
        total(
            self.functions
                .values()
                .flat_map(|function| function.errors.values().copied()),
        )
    }

    /// How many requests ended.
    pub fn requests(&self) -> u64 {
        total(self.statements.values().map(|statement| statement.requests))
    }

    /// The latencies of all cycles from their schedule, or their service times where no schedule was measured.
    pub fn cycle_latencies(&self) -> Cow<'_, Latencies> {
        let timings = self.functions.values();
        sum(timings.filter_map(|function| function.latency.as_ref().or(function.service.as_ref())))
    }

    /// The latencies of all requests.
    pub fn request_latencies(&self) -> Cow<'_, Latencies> {
        sum(self.statements.values().map(|statement| &statement.latency))
    }
}

fn sum<'a>(mut timings: impl Iterator<Item = &'a Timings>) -> Cow<'a, Latencies> {
    let first = timings.next().map(|first| Cow::Borrowed(&first.histogram));
    timings.fold(first.unwrap_or_default(), |mut sum, timings| {
        sum.to_mut().add(&timings.histogram);
        sum
    })
}

/// Adds the texts of kinds that have none.
pub(super) fn add_texts(texts: &mut BTreeMap<String, String>, more: &BTreeMap<String, String>) {
    for (kind, text) in more {
        texts.entry(kind.clone()).or_insert_with(|| text.clone());
    }
}

impl FunctionSample {
    pub(super) fn add(&mut self, other: &Self) {
        self.cycles = self.cycles.saturating_add(other.cycles);
        add_counts(&mut self.errors, &other.errors);
        if self.service.is_none() && other.service.is_some() {
            self.service = Some(self.latency.clone().unwrap_or_default());
        }
        if let (Some(service), Some(other)) = (&mut self.service, other.service()) {
            service.add(other);
        }
        if let Some(other) = &other.latency {
            self.latency.get_or_insert_default().add(other);
        }
    }

    /// Times from the start to the end.
    pub fn service(&self) -> Option<&Timings> {
        self.service.as_ref().or(self.latency.as_ref())
    }
}

impl StatementSample {
    pub(super) fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.rows = self.rows.saturating_add(other.rows);
        self.retries = self.retries.saturating_add(other.retries);
        add_counts(&mut self.errors, &other.errors);
        self.latency.add(&other.latency);
    }
}

impl Timings {
    /// Adds the times of another worker.
    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram);
        self.series.add(&other.series);
    }
}

impl Default for MetricSample {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            min: f64::MAX,
            max: f64::MIN,
        }
    }
}

impl MetricSample {
    /// Adds a value (Welford 1962). What is no number is not a measurement.
    pub fn record(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the values of another worker (Chan, Golub and LeVeque 1983).
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let count = self.count.saturating_add(other.count);
        let distance = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        self.squares += other.squares + distance * distance * self.count as f64 * share;
        self.mean += distance * share;
        self.count = count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// A sum that stays at the end of u64, for counts that a damaged report may hold.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

pub(crate) fn add_counts(counts: &mut Counts, other: &Counts) {
    for (kind, count) in other {
        let sum = counts.entry(kind.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::stats::{FunctionId, Recorder};

    #[test]
    fn workers_merge_exactly() {
        let start = Instant::now();
        let names = ["read".to_owned(), "write".to_owned()];
        let mut workers: Vec<Recorder> = (0..3).map(|_| Recorder::new(&names, start)).collect();
        let mut alone = Recorder::new(&names, start);
        for cycle in 0..9_000_u32 {
            let ended = start + Duration::from_nanos(u64::from(cycle * cycle % 7_919));
            let function = FunctionId(cycle as usize % 2);
            let outcome = if cycle % 100 == 0 { Err("timeout") } else { Ok(()) };
            for recorder in [&mut workers[cycle as usize % 3], &mut alone] {
                let statement = recorder.statement("select");
                recorder.request_started(start);
                recorder.request(statement, start, ended, 2, 1, outcome);
                recorder.cycle(function, start, start, ended, outcome);
                recorder.metric("recall", f64::from(cycle % 10));
            }
        }
        let now = start + Duration::from_secs(1);
        let merged = Sample::merge(workers.iter_mut().map(|worker| worker.take(now)), None);
        let alone = Sample::merge([alone.take(now)], None);
        assert_eq!(
            (merged.cycles(), merged.cycle_errors(), merged.requests()),
            (9_000, 90, 9_000)
        );
        assert_eq!(merged.cycle_latencies(), alone.cycle_latencies());
        assert_eq!(merged.functions["read"].service, None);
        assert_eq!(merged.request_latencies(), alone.request_latencies());
        assert_eq!(merged.statements["select"].rows, 18_000);
        assert_eq!(merged.concurrency, alone.concurrency);
        let (left, right) = (merged.metrics["recall"], alone.metrics["recall"]);
        assert_eq!((left.count, left.min, left.max), (9_000, 0.0, 9.0));
        assert!((left.mean - right.mean).abs() < 1e-9 && (left.squares - right.squares).abs() < 1e-6);
    }

    #[test]
    fn a_worker_that_was_late_has_service_times_for_all() {
        let start = Instant::now();
        let ended = start + Duration::from_millis(9);
        let chunk = |late: u64| {
            let mut recorder = Recorder::new(&["run".into()], start);
            let started = start + Duration::from_millis(late);
            recorder.cycle(FunctionId(0), start, started, ended, Ok(()));
            recorder.take(ended)
        };
        for chunks in [[chunk(0), chunk(5)], [chunk(5), chunk(0)]] {
            let sample = Sample::merge(chunks, None);
            let function = &sample.functions["run"];
            let millis = |timings: Option<&Timings>| {
                let histogram = &timings.unwrap().histogram;
                (
                    histogram.count(),
                    histogram.min() / 1_000_000,
                    histogram.max() / 1_000_000,
                )
            };
            assert_eq!(millis(function.latency.as_ref()), (2, 8, 9));
            assert_eq!(millis(function.service()), (2, 3, 9));
        }
    }

    #[test]
    fn json_round_trips() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        for cycle in 1..1_000 {
            let ended = start + Duration::from_micros(cycle);
            recorder.cycle(FunctionId(0), start, start, ended, Ok(()));
        }
        let chunk = recorder.take(start + Duration::from_secs(1));
        let sample = Sample::merge([chunk], Some(Duration::from_millis(3)));
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
    }
}
