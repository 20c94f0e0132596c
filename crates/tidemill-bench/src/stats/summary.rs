//! Samples added up in constant memory.

use std::collections::BTreeMap;

use super::{
    ClientLoad, Counts, Distribution, Estimate, FunctionResults, FunctionSample, Levels, MetricResults, MetricSample,
    PERCENTS, Results, Sample, Series, StatementResults, StatementSample, Timings,
    batches::Batches,
    cores,
    quantile::percentile,
    sample::{add_counts, add_texts, total},
};

/// A worker that computes this share of its time has none left to wait for answers.
const BUSY_WORKER: f64 = 0.9;
/// Cores of which this share is used by the client leave the rest to nobody.
const BUSY_CORES: f64 = 0.9;
const NANOSECONDS_IN_MS: f64 = 1e6;

/// The samples of a run, added up.
#[derive(Clone, Debug)]
pub struct Summary {
    cores: Option<usize>,
    seconds: f64,
    samples: u64,
    longest_sample_s: f64,
    functions: Named<Function>,
    statements: Named<Statement>,
    metrics: BTreeMap<String, MetricSample>,
    error_texts: BTreeMap<String, String>,
    cycles: Rate,
    requests: Rate,
    rows: Rate,
    concurrency: Option<Rate>,
    cpu_s: Option<f64>,
    /// Seconds that the busiest worker computed, and of how many.
    busiest_worker: Option<(f64, f64)>,
}

/// Parts of a run by their names, and all of them as one. While there is one name, its part is all there is.
#[derive(Clone, Debug, Default)]
struct Named<T> {
    parts: BTreeMap<String, T>,
    all: Option<T>,
}

#[derive(Clone, Debug, Default)]
struct Function {
    cycles: u64,
    errors: Counts,
    rate: Rate,
    latency: Times,
    /// None as long as all cycles began when they were due.
    service: Option<Times>,
}

#[derive(Clone, Debug, Default)]
struct Statement {
    requests: u64,
    rows: u64,
    retries: u64,
    errors: Counts,
    rate: Rate,
    latency: Times,
}

/// What is measured of a part.
trait Part: Clone + Default {
    type Sample: Default;
    type Results: Clone + Default;

    /// Adds a sample, which is of so many seconds if its rate says something.
    fn add(&mut self, sample: &Self::Sample, whole: Option<f64>);

    /// Adds the sample of another part to `sum`.
    fn merge(sum: &mut Self::Sample, other: &Self::Sample);

    /// What the samples amount to, which took so many seconds.
    fn results(self, seconds: f64) -> Self::Results;
}

/// Something counted, sample by sample.
#[derive(Clone, Debug, Default)]
struct Rate {
    count: f64,
    /// In thousandths a second.
    series: Series,
}

/// Times of one kind.
#[derive(Clone, Debug, Default)]
struct Times {
    sum: Timings,
    batches: Batches,
}

impl Default for Summary {
    fn default() -> Self {
        Self::on_cores(cores())
    }
}

impl Summary {
    /// A summary of nothing yet, measured by a client with so many cores, if that is known.
    pub fn on_cores(cores: impl Into<Option<usize>>) -> Self {
        Self {
            cores: cores.into().filter(|cores| *cores > 0),
            seconds: 0.0,
            samples: 0,
            longest_sample_s: 0.0,
            functions: Named::default(),
            statements: Named::default(),
            metrics: BTreeMap::new(),
            error_texts: BTreeMap::new(),
            cycles: Rate::default(),
            requests: Rate::default(),
            rows: Rate::default(),
            concurrency: None,
            cpu_s: None,
            busiest_worker: None,
        }
    }

    /// Adds a sample. Those of the warm-up count for nothing.
    pub fn add(&mut self, sample: &Sample) {
        if sample.warm_up {
            return;
        }
        let seconds = sample.duration_s;
        self.samples += 1;
        self.seconds += seconds;
        self.longest_sample_s = self.longest_sample_s.max(seconds);
        // The last sample is often a short one, whose rate says little.
        let whole = (seconds >= 0.9 * self.longest_sample_s).then_some(seconds);

        self.cycles.add(sample.cycles() as f64, whole);
        self.requests.add(sample.requests() as f64, whole);
        let rows = sample.statements.values().map(|statement| statement.rows);
        self.rows.add(total(rows) as f64, whole);
        if let Some(concurrency) = sample.concurrency {
            self.concurrency
                .get_or_insert_default()
                .add(concurrency * seconds, whole);
        }
        if let Some(cpu) = sample.cpu_s {
            *self.cpu_s.get_or_insert(0.0) += cpu;
        }
        if let Some(share) = sample.busiest_worker {
            let (computed, of) = self.busiest_worker.get_or_insert((0.0, 0.0));
            *computed += share * seconds;
            *of += seconds;
        }

        add_texts(&mut self.error_texts, &sample.error_texts);
        self.functions.add(&sample.functions, whole);
        self.statements.add(&sample.statements, whole);
        for (name, metric) in &sample.metrics {
            self.metrics.entry(name.clone()).or_default().add(metric);
        }
    }

    /// What the samples amount to.
    pub fn results(self) -> Results {
        let seconds = self.seconds;
        let client = self.client();
        let (functions, cycles) = self.functions.results(seconds);
        let (statements, requests) = self.statements.results(seconds);
        let metrics = self.metrics.into_iter();
        Results {
            elapsed_s: seconds,
            samples: self.samples,
            concurrency_limit: None,
            cycles: cycles.cycles,
            requests: requests.requests,
            rows: requests.rows,
            retries: requests.retries,
            unstarted_cycles: 0,
            aborted: None,
            unawaited_calls: Counts::new(),
            cycle_errors: cycles.errors,
            request_errors: requests.errors,
            error_texts: self.error_texts,
            cycles_per_s: self.cycles.estimate(seconds),
            requests_per_s: self.requests.estimate(seconds),
            rows_per_s: self.rows.estimate(seconds),
            concurrency: self.concurrency.map(|rate| rate.estimate(seconds)),
            client,
            cycle_latency_ms: cycles.cycle_latency_ms,
            service_time_ms: cycles.service_time_ms,
            request_latency_ms: requests.request_latency_ms,
            functions,
            statements,
            metrics: metrics.map(|(name, metric)| (name, metric_results(&metric))).collect(),
        }
    }

    fn client(&self) -> ClientLoad {
        let known = self.cpu_s.zip(self.cores).filter(|_| self.seconds > 0.0);
        let share = known.map(|(cpu, cores)| cpu / self.seconds / cores as f64);
        let worker = self.busiest_worker.filter(|(_, of)| *of > 0.0);
        let worker = worker.map(|(computed, of)| computed / of);
        let warning = match (share, worker) {
            (Some(share), _) if share >= BUSY_CORES => Some(format!(
                "the client used {:.0} % of its cores, so it measured itself: run it on a machine of its own, or on several",
                share * 100.0
            )),
            (_, Some(worker)) if worker >= BUSY_WORKER => Some(format!(
                "a thread of the client was busy {:.0} % of the time, so it measured itself: give it more threads (-t)",
                worker * 100.0
            )),
            _ => None,
        };
        ClientLoad {
            cpu_s: self.cpu_s,
            cpu_share: share,
            busiest_worker: worker,
            warning,
        }
    }
}

impl<T: Part> Named<T> {
    fn add(&mut self, samples: &BTreeMap<String, T::Sample>, whole: Option<f64>) {
        let fresh = samples.keys().filter(|name| !self.parts.contains_key(*name));
        if self.all.is_none() && self.parts.len() + fresh.count() > 1 {
            self.all = Some(self.parts.values().next().cloned().unwrap_or_default());
        }
        if let Some(all) = &mut self.all {
            let mut sum = T::Sample::default();
            samples.values().for_each(|sample| T::merge(&mut sum, sample));
            all.add(&sum, whole);
        }
        for (name, sample) in samples {
            self.parts.entry(name.clone()).or_default().add(sample, whole);
        }
    }

    /// The results of each part, and of all of them.
    fn results(self, seconds: f64) -> (BTreeMap<String, T::Results>, T::Results) {
        let all = self.all.map(|all| all.results(seconds));
        let parts = self.parts.into_iter();
        let parts: BTreeMap<_, _> = parts.map(|(name, part)| (name, part.results(seconds))).collect();
        let all = all.or_else(|| parts.values().next().cloned()).unwrap_or_default();
        (parts, all)
    }
}

impl Part for Function {
    type Sample = FunctionSample;
    type Results = FunctionResults;

    fn add(&mut self, sample: &FunctionSample, whole: Option<f64>) {
        self.cycles = self.cycles.saturating_add(sample.cycles);
        add_counts(&mut self.errors, &sample.errors);
        self.rate.add(sample.cycles as f64, whole);
        if self.service.is_none() && sample.service.is_some() {
            self.service = Some(self.latency.clone());
        }
        if let (Some(service), Some(timings)) = (&mut self.service, sample.service()) {
            service.add(timings);
        }
        sample.latency.iter().for_each(|timings| self.latency.add(timings));
    }

    fn merge(sum: &mut FunctionSample, other: &FunctionSample) {
        sum.add(other);
    }

    fn results(self, seconds: f64) -> FunctionResults {
        let cycle_latency_ms = self.latency.distribution();
        FunctionResults {
            cycles: self.cycles,
            errors: self.errors,
            cycles_per_s: self.rate.estimate(seconds),
            service_time_ms: match self.service {
                Some(service) => service.distribution(),
                None => cycle_latency_ms.clone(),
            },
            cycle_latency_ms,
        }
    }
}

impl Part for Statement {
    type Sample = StatementSample;
    type Results = StatementResults;

    fn add(&mut self, sample: &StatementSample, whole: Option<f64>) {
        self.requests = self.requests.saturating_add(sample.requests);
        self.rows = self.rows.saturating_add(sample.rows);
        self.retries = self.retries.saturating_add(sample.retries);
        add_counts(&mut self.errors, &sample.errors);
        self.rate.add(sample.requests as f64, whole);
        self.latency.add(&sample.latency);
    }

    fn merge(sum: &mut StatementSample, other: &StatementSample) {
        sum.add(other);
    }

    fn results(self, seconds: f64) -> StatementResults {
        StatementResults {
            requests: self.requests,
            rows: self.rows,
            retries: self.retries,
            errors: self.errors,
            requests_per_s: self.rate.estimate(seconds),
            request_latency_ms: self.latency.distribution(),
        }
    }
}

impl Rate {
    fn add(&mut self, count: f64, whole: Option<f64>) {
        self.count += count;
        if let Some(seconds) = whole
            && seconds > 0.0
        {
            self.series.record((count / seconds * 1e3) as u64);
        }
    }

    fn estimate(&self, seconds: f64) -> Estimate {
        if seconds <= 0.0 {
            return Estimate::bare(0.0);
        }
        let (std_err, freedom) = mean_error(self.series.levels());
        Estimate::mean(self.count / seconds, std_err / 1e3, freedom).cut_at_zero()
    }
}

/// The standard error of a series' mean, and its degrees of freedom.
fn mean_error(levels: &Levels) -> (f64, f64) {
    let correlation = levels.correlation();
    let count = levels.count() as f64;
    let freedom = correlation.batches as f64 - 1.0;
    ((correlation.time * levels.variance() / count).sqrt(), freedom)
}

impl Times {
    fn add(&mut self, timings: &Timings) {
        self.sum.add(timings);
        self.batches.add(&timings.histogram);
    }

    fn distribution(self) -> Option<Distribution> {
        let latencies = &self.sum.histogram;
        let count = latencies.count() as f64;
        if latencies.count() == 0 {
            return None;
        }
        let limits = PERCENTS.map(|percent| latencies.quantile(percent / 100.0));
        let stretches = self.batches.stretches(&limits);
        let variance = latencies.deviation().powi(2);
        let own = self.sum.series.correlation();
        let (mut time, mut freedom) = (own.time, own.batches as f64 - 1.0);
        // Reports by others have no series.
        if self.sum.series.count() == 0 {
            freedom = count - 1.0;
        }
        if let Some(between) = stretches.mean(variance)
            && between.time > time
        {
            (time, freedom) = (between.time, between.freedom);
        }
        let percentiles = PERCENTS.iter().enumerate().map(|(index, &percent)| {
            let correlation = stretches.indicator(index);
            let (time, freedom) = correlation.map_or((time, freedom), |found| (found.time, found.freedom));
            let mut percentile = percentile(latencies, percent, count / time, freedom);
            percentile.estimate = percentile.estimate.in_units_of(NANOSECONDS_IN_MS);
            percentile
        });
        let std_err = (time * variance / count).sqrt();
        Some(Distribution {
            count: latencies.count(),
            effective_count: (count / time).max(1.0),
            mean: Estimate::mean(latencies.mean(), std_err, freedom)
                .cut_at_zero()
                .in_units_of(NANOSECONDS_IN_MS),
            deviation: latencies.deviation() / NANOSECONDS_IN_MS,
            percentiles: percentiles.collect(),
            histogram: self.sum.histogram,
        })
    }
}

fn metric_results(metric: &MetricSample) -> MetricResults {
    let count = metric.count as f64;
    let deviation = if metric.count > 1 {
        (metric.squares / (count - 1.0)).sqrt()
    } else {
        0.0
    };
    MetricResults {
        count: metric.count,
        mean: Estimate::mean(metric.mean, deviation / count.sqrt(), count - 1.0),
        deviation,
        min: metric.min,
        max: metric.max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(functions: &[(&str, u64)]) -> Sample {
        let functions = functions.iter().map(|&(name, nanoseconds)| {
            let mut latency = Timings::default();
            latency.histogram.record(nanoseconds);
            let function = FunctionSample {
                cycles: 1,
                latency: Some(latency),
                ..FunctionSample::default()
            };
            (name.to_owned(), function)
        });
        Sample {
            duration_s: 1.0,
            functions: functions.collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn all_functions_are_those_that_turn_up_late_too() {
        let mut summary = Summary::default();
        for _ in 0..3 {
            summary.add(&sample(&[("read", 1_000)]));
        }
        let results = summary.clone().results();
        assert_eq!(results.cycles, 3);
        assert_eq!(results.cycle_latency_ms, results.functions["read"].cycle_latency_ms);
        for _ in 0..2 {
            summary.add(&sample(&[("read", 1_000), ("write", 9_000)]));
        }
        summary.add(&sample(&[("write", 9_000)]));
        let results = summary.results();
        let counts = |name: &str| results.functions[name].cycles;
        assert_eq!((results.cycles, counts("read"), counts("write")), (8, 5, 3));
        let mut all = results.functions["read"].cycle_latency_ms.clone().unwrap().histogram;
        all.add(&results.functions["write"].cycle_latency_ms.clone().unwrap().histogram);
        assert_eq!(results.cycle_latency_ms.unwrap().histogram, all);
    }
}
