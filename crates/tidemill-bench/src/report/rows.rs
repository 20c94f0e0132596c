//! Reports as record batches, so that every format can hold them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};

use super::{Better, Quantity, Report, quantities};
use crate::{
    Result,
    stats::{
        Estimate, Sample,
        comparison::{Basis, Comparison, Test, adjust, combine, compare},
    },
};

/// A number of a report, with that of its baseline.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compared {
    /// Which number, and its value over all runs of the report; that of the baseline where the report has none.
    pub quantity: Quantity,
    /// Whether the report has it.
    pub present: bool,
    /// Its value over all runs of the baseline.
    pub baseline: Option<Estimate>,
    /// How they differ.
    pub comparison: Option<Comparison>,
}

impl Compared {
    /// Its probability as it is shown: adjusted for the number of numbers, or in brackets where no verdict follows from it.
    pub fn probability(&self) -> Option<String> {
        let comparison = self.comparison?;
        match comparison.basis {
            Basis::Runs => comparison.p_adjusted.map(|p| format!("{p:.5}")),
            Basis::WithinRuns => comparison.p_value.map(|p| format!("({p:.5})")),
        }
    }

    /// `better` or `worse` where the difference is significant, otherwise nothing.
    pub fn verdict(&self) -> &'static str {
        let significant = self.comparison.filter(Comparison::is_significant);
        let change = significant.and_then(|comparison| comparison.change);
        match (change, self.quantity.better) {
            (Some(change), Better::Higher) if change > 0.0 => "better",
            (Some(change), Better::Lower) if change < 0.0 => "better",
            (Some(_), Better::Higher | Better::Lower) => "worse",
            _ => "",
        }
    }
}

/// All numbers of a report, over all its runs, with those of a baseline.
pub fn compared(report: &Report, baseline: Option<&Report>) -> Vec<Compared> {
    let runs =
        |report: &Report| -> Vec<Vec<Quantity>> { report.runs.iter().map(|run| quantities(&run.results)).collect() };
    let (runs, before) = (runs(report), baseline.map(runs).unwrap_or_default());
    let mut list: Vec<(Quantity, bool)> = Vec::new();
    for (quantity, present) in runs
        .iter()
        .flatten()
        .map(|one| (one, true))
        .chain(before.iter().flatten().map(|one| (one, false)))
    {
        if !list.iter().any(|(known, _)| known.matches(quantity)) {
            // Kinds of errors, functions and statements of later runs are grouped with those of the same kind.
            let like = |(known, _): &(Quantity, bool)| {
                known.step == quantity.step && known.scope == quantity.scope && known.name == quantity.name
            };
            let at = list.iter().rposition(like).map_or(list.len(), |index| index + 1);
            list.insert(at, (quantity.clone(), present));
        }
    }
    let mut all_values = Vec::new();
    let compared = list.into_iter().map(|(mut quantity, present)| {
        let (own, other) = (values(&runs, &quantity), values(&before, &quantity));
        if let Some(value) = combine(&own) {
            quantity.estimate = quantity.bounded(value);
        }
        let mut comparison = match quantity.better {
            Better::Neither => None,
            _ => compare(&other, &own),
        };
        if let (Some(comparison), false) = (&mut comparison, quantity.may_be_negative()) {
            // It cannot become less than nothing.
            comparison.low = comparison.low.map(|low| low.max(-1.0));
        }
        all_values.push(other.iter().chain(&own).map(|one| one.value).collect::<Vec<f64>>());
        Compared {
            comparison,
            present,
            baseline: combine(&other).map(|value| quantity.bounded(value)),
            quantity,
        }
    });
    let mut compared: Vec<Compared> = compared.collect();
    let tests = compared.iter_mut().zip(all_values).filter_map(|(one, runs)| {
        let comparison = one.comparison.as_mut()?;
        Some(Test { comparison, runs })
    });
    adjust(&mut tests.collect::<Vec<_>>());
    compared
}

/// The values of a quantity, one a run of its step. A kind of error that a run did not have is none, not missing.
fn values(runs: &[Vec<Quantity>], quantity: &Quantity) -> Vec<Estimate> {
    let runs = runs
        .iter()
        .filter(|run| run.first().is_some_and(|one| one.step == quantity.step));
    let found = runs.map(|run| run.iter().find(|one| one.matches(quantity)));
    let is_count = quantity.name.ends_with("_errors");
    let values = found.filter_map(|found| match found {
        Some(one) => Some(one.estimate),
        None => is_count.then(|| Estimate::bare(0.0)),
    });
    values.collect()
}

/// The numbers as rows: `concurrency_limit` where the runs are steps of it, `scope`, `scope_name`, `quantity`, `statistic`, `unit`, `value`, `std_err`, `low`, `high`, and with a
/// baseline `baseline`, `change_percent` with its interval, `p_value`, `p_adjusted`, `effect_size`, `significant` and `basis`.
///
/// # Errors
/// None that numbers can cause.
pub fn rows(compared: &[Compared], with_baseline: bool) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Compared) -> Option<String>| -> ArrayRef {
        Arc::new(compared.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&Compared) -> Option<f64>| -> ArrayRef {
        Arc::new(compared.iter().map(of).collect::<Float64Array>())
    };
    let steps: ArrayRef = Arc::new(compared.iter().map(|one| one.quantity.step).collect::<UInt64Array>());
    let has_steps = compared.iter().any(|one| one.quantity.step.is_some());
    let own = |of: fn(&Estimate) -> Option<f64>| {
        number(&move |one| one.present.then_some(&one.quantity.estimate).and_then(of))
    };
    let mut columns = vec![
        ("scope", text(&|one| Some(one.quantity.scope.kind().into()))),
        ("scope_name", text(&|one| one.quantity.scope.name().map(str::to_owned))),
        ("quantity", text(&|one| Some(one.quantity.name.into()))),
        ("statistic", text(&|one| Some(one.quantity.statistic.clone()))),
        (
            "unit",
            text(&|one| {
                Some(one.quantity.unit)
                    .filter(|unit| !unit.is_empty())
                    .map(str::to_owned)
            }),
        ),
        ("value", own(|estimate| Some(estimate.value))),
        ("std_err", own(|estimate| estimate.std_err)),
        ("low", own(|estimate| estimate.low)),
        ("high", own(|estimate| estimate.high)),
    ];
    if has_steps {
        columns.insert(0, ("concurrency_limit", steps));
    }
    if with_baseline {
        let compared = |of: fn(&Comparison) -> Option<f64>| number(&move |one| one.comparison.as_ref().and_then(of));
        columns.extend([
            ("baseline", number(&|one| one.baseline.map(|estimate| estimate.value))),
            (
                "change_percent",
                compared(|one| one.change.map(|change| change * 100.0)),
            ),
            (
                "change_low_percent",
                compared(|one| one.low.map(|change| change * 100.0)),
            ),
            (
                "change_high_percent",
                compared(|one| one.high.map(|change| change * 100.0)),
            ),
            ("p_value", compared(|one| one.p_value)),
            ("p_adjusted", compared(|one| one.p_adjusted)),
            ("effect_size", compared(|one| one.effect)),
            (
                "significant",
                text(&|one| {
                    let verdict = one.comparison.filter(|comparison| comparison.basis == Basis::Runs)?;
                    Some(if verdict.is_significant() { "yes" } else { "no" }.into())
                }),
            ),
            (
                "basis",
                text(&|one| {
                    one.comparison.map(|comparison| match comparison.basis {
                        Basis::Runs => "runs".to_owned(),
                        Basis::WithinRuns => "within_runs".to_owned(),
                    })
                }),
            ),
        ]);
    }
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )?)
}

/// Samples as rows, one a sample: times in seconds, counts, rates, latencies in milliseconds.
#[derive(Debug, Default)]
pub struct SampleRows {
    runs: Vec<u64>,
    counts: [Vec<u64>; 3],
    numbers: [Vec<Option<f64>>; 11],
}

const COUNTS: [&str; 3] = ["cycles", "cycle_errors", "requests"];
const NUMBERS: [&str; 11] = [
    "start_s",
    "duration_s",
    "cycles_per_s",
    "requests_per_s",
    "concurrency",
    "cycle_latency_p50_ms",
    "cycle_latency_p90_ms",
    "cycle_latency_p99_ms",
    "cycle_latency_p99_9_ms",
    "cycle_latency_max_ms",
    "cpu_s",
];

impl SampleRows {
    /// Adds a sample of a run, counted from 0.
    pub fn push(&mut self, run: usize, sample: &Sample) {
        self.runs.push(run as u64 + 1);
        let counts = [sample.cycles(), sample.cycle_errors(), sample.requests()];
        self.counts
            .iter_mut()
            .zip(counts)
            .for_each(|(column, count)| column.push(count));
        let latencies = sample.cycle_latencies();
        let rate = |count: u64| (sample.duration_s > 0.0).then(|| count as f64 / sample.duration_s);
        let at = |share: f64| (latencies.count() > 0).then(|| latencies.quantile(share) as f64 / 1e6);
        let numbers = [
            Some(sample.start_s),
            Some(sample.duration_s),
            rate(sample.cycles()),
            rate(sample.requests()),
            sample.concurrency,
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            at(1.0),
            sample.cpu_s,
        ];
        self.numbers
            .iter_mut()
            .zip(numbers)
            .for_each(|(column, number)| column.push(number));
    }

    /// The rows.
    ///
    /// # Errors
    /// None that numbers can cause.
    pub fn finish(self) -> Result<RecordBatch> {
        let run = ("run", Arc::new(UInt64Array::from(self.runs)) as ArrayRef);
        let counts = COUNTS.into_iter().zip(self.counts);
        let counts = counts.map(|(name, column)| (name, Arc::new(UInt64Array::from(column)) as ArrayRef));
        let numbers = NUMBERS.into_iter().zip(self.numbers);
        let numbers = numbers.map(|(name, column)| (name, Arc::new(Float64Array::from(column)) as ArrayRef));
        Ok(RecordBatch::try_from_iter_with_nullable(
            std::iter::once(run)
                .chain(counts)
                .chain(numbers)
                .map(|(name, column)| (name, column, true)),
        )?)
    }
}
