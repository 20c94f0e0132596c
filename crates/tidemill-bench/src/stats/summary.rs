//! Samples added up in constant memory.

use std::collections::BTreeMap;

use super::{
    ClientLoad, Counts, Distribution, Estimate, FunctionResults, FunctionSample, Levels, MetricResults, MetricSample,
    PERCENTS, Results, Sample, Series, StatementResults, StatementSample, Timings,
    batches::Batches,
    cores,
    quantile::percentile,
    sample::{add_counts, total},
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
    functions: BTreeMap<String, Function>,
    statements: BTreeMap<String, Statement>,
    metrics: BTreeMap<String, MetricSample>,
    cycles: Rate,
    requests: Rate,
    rows: Rate,
    concurrency: Option<Rate>,
    cycle_latency: Times,
    service_time: Times,
    request_latency: Times,
    cpu_s: Option<f64>,
    /// Seconds that the busiest worker computed, and of how many.
    busiest_worker: Option<(f64, f64)>,
}

#[derive(Clone, Debug, Default)]
struct Function {
    sum: FunctionSample,
    rate: Rate,
    latency: Times,
    service: Times,
}

#[derive(Clone, Debug, Default)]
struct Statement {
    sum: StatementSample,
    rate: Rate,
    latency: Times,
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
            functions: BTreeMap::new(),
            statements: BTreeMap::new(),
            metrics: BTreeMap::new(),
            cycles: Rate::default(),
            requests: Rate::default(),
            rows: Rate::default(),
            concurrency: None,
            cycle_latency: Times::default(),
            service_time: Times::default(),
            request_latency: Times::default(),
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

        let (mut latency, mut service, mut request) = (Timings::default(), Timings::default(), Timings::default());
        for (name, sample) in &sample.functions {
            let function = self.functions.entry(name.clone()).or_default();
            function.sum.cycles = function.sum.cycles.saturating_add(sample.cycles);
            add_counts(&mut function.sum.errors, &sample.errors);
            function.rate.add(sample.cycles as f64, whole);
            for (timings, times, all) in [
                (&sample.latency, &mut function.latency, &mut latency),
                (&sample.service, &mut function.service, &mut service),
            ] {
                if let Some(timings) = timings {
                    times.add(timings);
                    all.add(timings);
                }
            }
        }
        for (name, sample) in &sample.statements {
            let statement = self.statements.entry(name.clone()).or_default();
            statement.sum.requests = statement.sum.requests.saturating_add(sample.requests);
            statement.sum.rows = statement.sum.rows.saturating_add(sample.rows);
            statement.sum.retries = statement.sum.retries.saturating_add(sample.retries);
            add_counts(&mut statement.sum.errors, &sample.errors);
            statement.rate.add(sample.requests as f64, whole);
            statement.latency.add(&sample.latency);
            request.add(&sample.latency);
        }
        self.cycle_latency.add(&latency);
        self.service_time.add(&service);
        self.request_latency.add(&request);
        for (name, metric) in &sample.metrics {
            self.metrics.entry(name.clone()).or_default().add(metric);
        }
    }

    /// What the samples amount to.
    pub fn results(&self) -> Results {
        let mut cycle_errors = Counts::new();
        let mut request_errors = Counts::new();
        for function in self.functions.values() {
            add_counts(&mut cycle_errors, &function.sum.errors);
        }
        for statement in self.statements.values() {
            add_counts(&mut request_errors, &statement.sum.errors);
        }
        let functions = self.functions.iter().map(|(name, function)| {
            let results = FunctionResults {
                cycles: function.sum.cycles,
                errors: function.sum.errors.clone(),
                cycles_per_s: function.rate.estimate(self.seconds),
                cycle_latency_ms: function.latency.distribution(),
                service_time_ms: function.service.distribution(),
            };
            (name.clone(), results)
        });
        let statements = self.statements.iter().map(|(name, statement)| {
            let results = StatementResults {
                requests: statement.sum.requests,
                rows: statement.sum.rows,
                retries: statement.sum.retries,
                errors: statement.sum.errors.clone(),
                requests_per_s: statement.rate.estimate(self.seconds),
                request_latency_ms: statement.latency.distribution(),
            };
            (name.clone(), results)
        });
        let metrics = self.metrics.iter();
        Results {
            elapsed_s: self.seconds,
            samples: self.samples,
            cycles: total(self.functions.values().map(|function| function.sum.cycles)),
            requests: total(self.statements.values().map(|statement| statement.sum.requests)),
            rows: total(self.statements.values().map(|statement| statement.sum.rows)),
            retries: total(self.statements.values().map(|statement| statement.sum.retries)),
            cycle_errors,
            request_errors,
            cycles_per_s: self.cycles.estimate(self.seconds),
            requests_per_s: self.requests.estimate(self.seconds),
            rows_per_s: self.rows.estimate(self.seconds),
            concurrency: self.concurrency.as_ref().map(|rate| rate.estimate(self.seconds)),
            client: self.client(),
            cycle_latency_ms: self.cycle_latency.distribution(),
            service_time_ms: self.service_time.distribution(),
            request_latency_ms: self.request_latency.distribution(),
            functions: functions.collect(),
            statements: statements.collect(),
            metrics: metrics
                .map(|(name, metric)| (name.clone(), metric_results(metric)))
                .collect(),
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
        Estimate::mean(self.count / seconds, std_err / 1e3, freedom)
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

    fn distribution(&self) -> Option<Distribution> {
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
            mean: Estimate::mean(latencies.mean(), std_err, freedom).in_units_of(NANOSECONDS_IN_MS),
            deviation: latencies.deviation() / NANOSECONDS_IN_MS,
            percentiles: percentiles.collect(),
            histogram: latencies.clone(),
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
