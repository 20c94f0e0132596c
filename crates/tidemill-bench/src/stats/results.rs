//! What a run amounts to: estimates with intervals of confidence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Counts, Estimate, Latencies, Percentile};

/// The results of a run. Latencies are in milliseconds, rates per second.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Results {
    /// How long it was measured, without warm-up.
    pub elapsed_s: f64,
    /// In how many samples.
    pub samples: u64,
    /// How many cycles each thread had under way at most, where the runs of a report are steps of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_limit: Option<u64>,
    /// Cycles that ended, those with errors too.
    pub cycles: u64,
    /// Requests that ended, those with errors too.
    pub requests: u64,
    /// Rows that they sent or got.
    pub rows: u64,
    /// How often requests were sent again.
    pub retries: u64,
    /// Cycles that were due before the end and could not begin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unstarted_cycles: u64,
    /// Why the run was ended before its time, when its throughput was what ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Aborted>,
    /// Calls of the script that nobody awaited, by the names of the methods: they asked nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unawaited_calls: Counts,
    /// Errors of cycles, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cycle_errors: Counts,
    /// Errors of requests, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub request_errors: Counts,
    /// The first text of each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub error_texts: BTreeMap<String, String>,
    /// Cycles a second.
    pub cycles_per_s: Estimate,
    /// Requests a second.
    pub requests_per_s: Estimate,
    /// Rows a second.
    pub rows_per_s: Estimate,
    /// Requests in flight, on average over the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Estimate>,
    /// The client's own work.
    pub client: ClientLoad,
    /// Cycles from their schedule to their end. Missing in reports by Latte 0.29, which does not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_latency_ms: Option<Distribution>,
    /// Cycles from their start to their end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time_ms: Option<Distribution>,
    /// Requests from the send to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_latency_ms: Option<Distribution>,
    /// By function of the workload.
    pub functions: BTreeMap<String, FunctionResults>,
    /// By statement.
    #[serde(default)]
    pub statements: BTreeMap<String, StatementResults>,
    /// By metric that the script defines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricResults>,
}

impl Results {
    /// What makes the numbers say less than they seem to.
    pub fn warnings(&self) -> Vec<String> {
        let unstarted = (self.unstarted_cycles > 0).then(|| {
            format!(
                "{} cycles were due that could not begin: the store, or the concurrency (-p), did not keep up with the rate; \
                 the latencies do not count them",
                self.unstarted_cycles
            )
        });
        let unawaited = self.unawaited_calls.iter().map(|(method, count)| {
            format!("{count} calls of {method} were not awaited, so that they asked nothing: is an .await missing?")
        });
        let aborted = self.aborted.map(|aborted| {
            format!(
                "the run was ended: {:.1} cycles a second in the last {:.1} s are fewer than {}",
                aborted.found_per_s, aborted.within_s, aborted.below_per_s
            )
        });
        let client = self.client.warning.iter().cloned();
        client.chain(aborted).chain(unstarted).chain(unawaited).collect()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The throughput that ended a run, in cycles a second.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Aborted {
    /// It was to be this at least.
    pub below_per_s: f64,
    /// It was this.
    pub found_per_s: f64,
    /// In so many seconds.
    pub within_s: f64,
}

/// The client's own work.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ClientLoad {
    /// Its processor time in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The share of its cores that it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// The share of its time that the busiest worker's thread computed, on average over the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_worker: Option<f64>,
    /// Said when the client is what limits the throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// How times are distributed, in milliseconds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Distribution {
    /// How many there are.
    pub count: u64,
    /// So many independent ones would say as much of the mean.
    pub effective_count: f64,
    /// The mean.
    pub mean: Estimate,
    /// The standard deviation.
    pub deviation: f64,
    /// The percentiles of [`super::PERCENTS`].
    pub percentiles: Vec<Percentile>,
    /// All of them, in nanoseconds.
    pub histogram: Latencies,
}

/// The results of a function.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FunctionResults {
    /// Cycles that ended, those with errors too.
    pub cycles: u64,
    /// Those with errors, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Counts,
    /// Cycles a second.
    pub cycles_per_s: Estimate,
    /// Cycles from their schedule to their end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_latency_ms: Option<Distribution>,
    /// Cycles from their start to their end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time_ms: Option<Distribution>,
}

/// The results of a statement.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatementResults {
    /// Requests that ended, those with errors too.
    pub requests: u64,
    /// Rows that they sent or got.
    pub rows: u64,
    /// How often they were sent again.
    pub retries: u64,
    /// Those with errors, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Counts,
    /// Requests a second.
    pub requests_per_s: Estimate,
    /// Requests from the send to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_latency_ms: Option<Distribution>,
}

/// The values of a metric.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricResults {
    /// How many.
    pub count: u64,
    /// Their mean, its error that of independent values.
    pub mean: Estimate,
    /// Their standard deviation.
    pub deviation: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Distribution {
    /// The percentile with this number, if it is one of [`super::PERCENTS`].
    pub fn percentile(&self, percent: f64) -> Option<Estimate> {
        let found = self.percentiles.iter().find(|percentile| percentile.percent == percent);
        found.map(|percentile| percentile.estimate)
    }
}
