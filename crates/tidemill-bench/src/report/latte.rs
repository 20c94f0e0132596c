//! Reports by Latte 0.29, as its documentation and its files have them.
//!
//! Its "cycle latency" counts from the send, so here it is a service time; it knows no statements, so all requests are one.
//! Latencies are milliseconds, an error of a mean is one standard error.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;

use super::{RunConfig, WeightedFunction};
use crate::stats::{
    ClientLoad, Distribution, Estimate, FunctionResults, FunctionSample, Latencies, PERCENTS, Percentile, Results,
    Sample, StatementResults, StatementSample, Timings,
};

/// The one statement of reports that know none.
const ALL_REQUESTS: &str = "all requests";

#[derive(Deserialize)]
pub(super) struct LatteReport {
    conf: Conf,
    result: Outcome,
}

#[derive(Deserialize)]
struct Conf {
    workload: String,
    #[serde(default)]
    functions: Vec<WeightedFunction>,
    #[serde(default)]
    rate: Option<f64>,
    #[serde(default)]
    threads: u64,
    #[serde(default)]
    concurrency: u64,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    params: Vec<(String, String)>,
    #[serde(default)]
    timestamp: Option<i64>,
    #[serde(default)]
    cluster_name: Option<String>,
    #[serde(default)]
    cass_version: Option<String>,
    #[serde(default)]
    warmup_duration: Option<Value>,
    #[serde(default)]
    run_duration: Option<Value>,
    #[serde(default)]
    sampling_interval: Option<Value>,
    #[serde(default)]
    connection: Connection,
}

/// Holds a password too, which is not read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Connection {
    count: Option<u64>,
    addresses: Vec<String>,
    datacenter: Option<String>,
    consistency: Option<String>,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(default)]
    start_time: Option<String>,
    elapsed_time_s: f64,
    #[serde(default)]
    cpu_time_s: Option<f64>,
    /// In percent.
    #[serde(default)]
    cpu_util: Option<f64>,
    cycle_count: u64,
    #[serde(default)]
    request_count: u64,
    #[serde(default)]
    request_retry_count: u64,
    #[serde(default)]
    error_count: u64,
    #[serde(default)]
    row_count: u64,
    cycle_throughput: Mean,
    req_throughput: Mean,
    row_throughput: Mean,
    cycle_latency: Times,
    #[serde(default)]
    cycle_latency_by_fn: BTreeMap<String, Times>,
    #[serde(default)]
    request_latency: Option<Times>,
    #[serde(default)]
    concurrency: Option<Mean>,
    #[serde(default)]
    log: Vec<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    time_s: f64,
    duration_s: f64,
    #[serde(default)]
    cycle_error_count: u64,
    #[serde(default)]
    request_count: u64,
    #[serde(default)]
    req_retry_count: u64,
    #[serde(default)]
    row_count: u64,
    #[serde(default)]
    mean_queue_len: Option<f64>,
    #[serde(default)]
    cycle_latency_by_fn: BTreeMap<String, Times>,
    request_latency: Times,
}

#[derive(Deserialize)]
struct Times {
    mean: Mean,
    percentiles: Vec<Mean>,
    histogram: Latencies,
}

#[derive(Clone, Copy, Deserialize)]
struct Mean {
    /// Null where a division by zero was written.
    value: Option<f64>,
    n: u64,
    std_err: Option<f64>,
}

impl LatteReport {
    pub(super) fn into_parts(self) -> (RunConfig, Results, Vec<Sample>) {
        let started_ms = self
            .result
            .start_time
            .as_deref()
            .and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        let started_ms = started_ms.map(|time| time.timestamp_millis());
        let started_ms = started_ms.or(self.conf.timestamp.map(|seconds| seconds.saturating_mul(1_000)));
        let config = self.conf.into_config(started_ms.unwrap_or(0));
        let (results, log) = self.result.into_results();
        (config, results, log.into_iter().map(Interval::into_sample).collect())
    }
}

impl Conf {
    fn into_config(self, started_ms: i64) -> RunConfig {
        let settings = [
            ("consistency", self.connection.consistency),
            ("datacenter", self.connection.datacenter),
        ];
        let settings = settings
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let duration = |value: Option<Value>| value.as_ref().map(interval).unwrap_or_default();
        RunConfig {
            client: "latte".into(),
            started_ms,
            command: "run".into(),
            workload: self.workload,
            functions: self.functions,
            target: self.connection.addresses.join(" "),
            cluster: self.cluster_name,
            target_version: self.cass_version,
            tags: self.tags,
            params: self.params.into_iter().collect(),
            threads: self.threads,
            connections: self.connection.count,
            concurrency: self.concurrency,
            rate: self.rate,
            warm_up: duration(self.warmup_duration),
            duration: duration(self.run_duration),
            sampling: duration(self.sampling_interval),
            cores: None,
            settings: settings.collect(),
        }
        .without_secrets()
    }
}

/// `{"Time":{"secs":60,"nanos":0}}`, `{"Count":1000}` or `"Unbounded"`.
fn interval(value: &Value) -> String {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    match (number("/Count"), number("/Time/secs"), number("/Time/nanos")) {
        (Some(count), _, _) => count.to_string(),
        (_, Some(seconds), Some(0)) => format!("{seconds}s"),
        (_, Some(seconds), Some(nanos)) => {
            format!("{}ms", seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
        }
        _ => String::new(),
    }
}

impl Outcome {
    fn into_results(self) -> (Results, Vec<Interval>) {
        let errors = || match self.error_count {
            0 => BTreeMap::new(),
            count => [("error".to_owned(), count)].into(),
        };
        let functions = self.cycle_latency_by_fn.into_iter().map(|(name, times)| {
            let cycles = times.histogram.count();
            let rate = match self.elapsed_time_s > 0.0 {
                true => Estimate::bare(cycles as f64 / self.elapsed_time_s),
                false => Estimate::default(),
            };
            let results = FunctionResults {
                cycles,
                cycles_per_s: rate,
                service_time_ms: times.into_distribution(),
                ..FunctionResults::default()
            };
            (name, results)
        });
        let functions = functions.collect();
        let request_latency_ms = self.request_latency.and_then(Times::into_distribution);
        let requests_per_s = self.req_throughput.estimate();
        let statement = StatementResults {
            requests: self.request_count,
            rows: self.row_count,
            retries: self.request_retry_count,
            errors: BTreeMap::new(),
            requests_per_s,
            request_latency_ms: request_latency_ms.clone(),
        };
        let results = Results {
            elapsed_s: self.elapsed_time_s,
            samples: self.log.len() as u64,
            cycles: self.cycle_count,
            requests: self.request_count,
            rows: self.row_count,
            retries: self.request_retry_count,
            cycle_errors: errors(),
            cycles_per_s: self.cycle_throughput.estimate(),
            requests_per_s,
            rows_per_s: self.row_throughput.estimate(),
            concurrency: self.concurrency.map(Mean::estimate),
            client: ClientLoad {
                cpu_s: self.cpu_time_s,
                cpu_share: self.cpu_util.map(|percent| percent / 100.0),
                ..ClientLoad::default()
            },
            service_time_ms: self.cycle_latency.into_distribution(),
            request_latency_ms,
            functions,
            statements: [(ALL_REQUESTS.to_owned(), statement)].into(),
            ..Results::default()
        };
        (results, self.log)
    }
}

impl Interval {
    fn into_sample(self) -> Sample {
        let timings = |times: Times| Timings {
            histogram: times.histogram,
            ..Timings::default()
        };
        let mut errors = match self.cycle_error_count {
            0 => BTreeMap::new(),
            count => [("error".to_owned(), count)].into(),
        };
        let functions = self.cycle_latency_by_fn.into_iter().map(|(name, times)| {
            let sample = FunctionSample {
                cycles: times.histogram.count(),
                // Latte counts them for all functions together.
                errors: std::mem::take(&mut errors),
                latency: None,
                service: Some(timings(times)),
            };
            (name, sample)
        });
        let statement = StatementSample {
            requests: self.request_count,
            rows: self.row_count,
            retries: self.req_retry_count,
            errors: BTreeMap::new(),
            latency: timings(self.request_latency),
        };
        Sample {
            start_s: self.time_s,
            duration_s: self.duration_s,
            functions: functions.collect(),
            statements: [(ALL_REQUESTS.to_owned(), statement)].into(),
            concurrency: self.mean_queue_len,
            ..Sample::default()
        }
    }
}

impl Times {
    fn into_distribution(self) -> Option<Distribution> {
        let percentiles = PERCENTS.iter().zip(&self.percentiles);
        (self.histogram.count() > 0).then(|| Distribution {
            count: self.histogram.count(),
            effective_count: self.mean.n as f64,
            mean: self.mean.estimate(),
            deviation: self.histogram.deviation() / 1e6,
            percentiles: percentiles
                .map(|(&percent, mean)| Percentile {
                    percent,
                    estimate: mean.estimate(),
                })
                .collect(),
            histogram: self.histogram,
        })
    }
}

impl Mean {
    fn estimate(self) -> Estimate {
        let value = self.value.unwrap_or(0.0);
        match self.std_err {
            Some(std_err) => Estimate::mean(value, std_err, self.n as f64 - 1.0).cut_at_zero(),
            None => Estimate::bare(value),
        }
    }
}
