//! Everything that a run's results say, as one list: what is shown, compared and exported is the same.

use crate::stats::{Counts, Distribution, Estimate, Results};

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Quantity {
    /// With how many cycles under way at once in each thread, where the runs of a report are steps of that.
    pub step: Option<u64>,
    /// Of what.
    pub scope: Scope,
    /// Which, as the report names it.
    pub name: &'static str,
    /// `mean`, `p99`, `max`, or a kind of error.
    pub statistic: String,
    /// `ms`, `1/s`, …
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The number.
    pub estimate: Estimate,
}

/// Of what a number is.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Scope {
    /// All of the run.
    Run,
    /// A function of the workload.
    Function(String),
    /// A statement.
    Statement(String),
    /// A metric that the script defines.
    Metric(String),
}

/// Which way a number is better.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It is what it is.
    Neither,
}

impl Scope {
    /// `run`, `function`, `statement` or `metric`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Function(_) => "function",
            Self::Statement(_) => "statement",
            Self::Metric(_) => "metric",
        }
    }

    /// The name of the function, statement or metric.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Run => None,
            Self::Function(name) | Self::Statement(name) | Self::Metric(name) => Some(name),
        }
    }
}

impl Quantity {
    /// Whether the other one is the same number of another run.
    pub fn matches(&self, other: &Self) -> bool {
        self.name == other.name
            && self.statistic == other.statistic
            && self.scope == other.scope
            && self.step == other.step
    }

    /// An estimate of it, whose interval holds its value and nothing that cannot be: only metrics of scripts may be below 0.
    pub fn bounded(&self, estimate: Estimate) -> Estimate {
        let estimate = match self.may_be_negative() {
            true => estimate,
            false => estimate.cut_at_zero(),
        };
        estimate.with_ends_that_hold()
    }

    /// Whether it is a value that the script itself measures.
    pub(super) fn may_be_negative(&self) -> bool {
        matches!(self.scope, Scope::Metric(_))
    }
}

/// All numbers of a run's results.
pub fn quantities(results: &Results) -> Vec<Quantity> {
    let mut list = List {
        step: results.concurrency_limit,
        scope: Scope::Run,
        quantities: Vec::new(),
    };
    let known = |value: f64| Estimate::bare(value);
    list.add("elapsed", "total", "s", Better::Neither, known(results.elapsed_s));
    list.add_some("cpu", "total", "s", Better::Lower, results.client.cpu_s.map(known));
    let percent = |share: Option<f64>| share.map(|share| known(share * 100.0));
    list.add_some(
        "cpu_used",
        "mean",
        "%",
        Better::Neither,
        percent(results.client.cpu_share),
    );
    list.add_some(
        "busiest_worker",
        "mean",
        "%",
        Better::Neither,
        percent(results.client.busiest_worker),
    );
    list.add("cycles", "total", "", Better::Neither, known(results.cycles as f64));
    list.add("requests", "total", "", Better::Neither, known(results.requests as f64));
    list.add("rows", "total", "", Better::Neither, known(results.rows as f64));
    list.add("retries", "total", "", Better::Lower, known(results.retries as f64));
    if results.unstarted_cycles > 0 {
        let unstarted = known(results.unstarted_cycles as f64);
        list.add("unstarted_cycles", "total", "", Better::Neither, unstarted);
    }
    list.errors("cycle_errors", &results.cycle_errors);
    list.errors("request_errors", &results.request_errors);
    list.add_some("concurrency", "mean", "", Better::Neither, results.concurrency);
    list.add("cycles_per_s", "mean", "1/s", Better::Higher, results.cycles_per_s);
    list.add("requests_per_s", "mean", "1/s", Better::Higher, results.requests_per_s);
    list.add("rows_per_s", "mean", "1/s", Better::Higher, results.rows_per_s);
    list.times("cycle_latency", results.cycle_latency_ms.as_ref());
    list.times("service_time", results.service_time_ms.as_ref());
    list.times("request_latency", results.request_latency_ms.as_ref());
    for (name, function) in &results.functions {
        list.scope = Scope::Function(name.clone());
        list.add("cycles", "total", "", Better::Neither, known(function.cycles as f64));
        list.errors("cycle_errors", &function.errors);
        list.add("cycles_per_s", "mean", "1/s", Better::Higher, function.cycles_per_s);
        list.times("cycle_latency", function.cycle_latency_ms.as_ref());
        list.times("service_time", function.service_time_ms.as_ref());
    }
    for (name, statement) in &results.statements {
        list.scope = Scope::Statement(name.clone());
        list.add(
            "requests",
            "total",
            "",
            Better::Neither,
            known(statement.requests as f64),
        );
        list.add("rows", "total", "", Better::Neither, known(statement.rows as f64));
        list.add("retries", "total", "", Better::Lower, known(statement.retries as f64));
        list.errors("request_errors", &statement.errors);
        list.add(
            "requests_per_s",
            "mean",
            "1/s",
            Better::Higher,
            statement.requests_per_s,
        );
        list.times("request_latency", statement.request_latency_ms.as_ref());
    }
    for (name, metric) in &results.metrics {
        list.scope = Scope::Metric(name.clone());
        list.add("metric", "count", "", Better::Neither, known(metric.count as f64));
        list.add("metric", "mean", "", Better::Neither, metric.mean);
        list.add("metric", "min", "", Better::Neither, known(metric.min));
        list.add("metric", "max", "", Better::Neither, known(metric.max));
    }
    list.quantities
}

/// The name of a percentile: `min`, `p50`, `p99.9`, `max`.
pub(crate) fn percentile_name(percent: f64) -> String {
    match percent {
        percent if percent <= 0.0 => "min".into(),
        percent if percent >= 100.0 => "max".into(),
        percent => format!("p{percent}"),
    }
}

struct List {
    step: Option<u64>,
    scope: Scope,
    quantities: Vec<Quantity>,
}

impl List {
    fn add(
        &mut self,
        name: &'static str,
        statistic: impl Into<String>,
        unit: &'static str,
        better: Better,
        estimate: Estimate,
    ) {
        let quantity = Quantity {
            step: self.step,
            scope: self.scope.clone(),
            name,
            statistic: statistic.into(),
            unit,
            better,
            estimate,
        };
        self.quantities.push(Quantity {
            estimate: quantity.bounded(estimate),
            ..quantity
        });
    }

    fn add_some(
        &mut self,
        name: &'static str,
        statistic: &str,
        unit: &'static str,
        better: Better,
        estimate: Option<Estimate>,
    ) {
        if let Some(estimate) = estimate {
            self.add(name, statistic, unit, better, estimate);
        }
    }

    fn errors(&mut self, name: &'static str, kinds: &Counts) {
        for (kind, count) in kinds {
            self.add(name, kind, "", Better::Lower, Estimate::bare(*count as f64));
        }
    }

    fn times(&mut self, name: &'static str, times: Option<&Distribution>) {
        let Some(times) = times else { return };
        self.add(name, "mean", "ms", Better::Lower, times.mean);
        for percentile in &times.percentiles {
            self.add(
                name,
                percentile_name(percentile.percent),
                "ms",
                Better::Lower,
                percentile.estimate,
            );
        }
    }
}
