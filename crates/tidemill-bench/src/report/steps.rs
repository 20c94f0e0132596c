//! Steps of concurrency, a line each: what more of it buys, and what it costs.

use std::io::{self, Write};

use super::{
    Compared, Scope,
    text::{estimate, number},
};

/// The columns after the throughput, of the latency of cycles.
const PERCENTILES: [&str; 4] = ["p50", "p99", "p99.9", "max"];

/// Writes a table of the steps, with what they change of the same steps of a baseline.
///
/// # Errors
/// When `out` refuses.
pub(super) fn write_steps(compared: &[Compared], with_baseline: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nSTEPS OF CONCURRENCY {}", "═".repeat(79))?;
    writeln!(
        out,
        "{:>9}  {:<32}  {:>9}  {:>9}  {:>9}  {:>9}  {:>11}  {:>9}",
        "at once", "cycles [1/s]", "p50 [ms]", "p99 [ms]", "p99.9", "max", "in flight", "errors"
    )?;
    let mut steps: Vec<Option<u64>> = compared.iter().map(|one| one.quantity.step).collect();
    steps.sort_unstable();
    steps.dedup();
    for step in steps {
        let of_run = |name: &str, statistic: &str| {
            compared.iter().find(|one| {
                let quantity = &one.quantity;
                (quantity.step, &quantity.scope) == (step, &Scope::Run)
                    && (quantity.name, quantity.statistic.as_str()) == (name, statistic)
            })
        };
        let value = |found: Option<&Compared>| {
            let found = found.filter(|one| one.present);
            found.map(|one| number(one.quantity.estimate.value)).unwrap_or_default()
        };
        let rate = of_run("cycles_per_s", "mean");
        let own = rate
            .filter(|one| one.present)
            .map(|one| estimate(&one.quantity.estimate));
        let latencies = PERCENTILES.map(|percentile| value(of_run("cycle_latency", percentile)));
        let errors = |name: &str| {
            let kinds = compared.iter().filter(|one| {
                (one.quantity.step, &one.quantity.scope, one.quantity.name) == (step, &Scope::Run, name) && one.present
            });
            kinds.fold(0.0, |sum, one| sum + one.quantity.estimate.value)
        };
        // Requests may fail without their cycles, and cycles without a request.
        let errors = errors("cycle_errors").max(errors("request_errors"));
        let [p50, p99, tail, max] = latencies;
        writeln!(
            out,
            "{:>9}  {:<32}  {p50:>9}  {p99:>9}  {tail:>9}  {max:>9}  {:>11}  {:>9}",
            step.map(|step| step.to_string()).unwrap_or_default(),
            own.unwrap_or_default(),
            value(of_run("concurrency", "mean")),
            number(errors)
        )?;
        if with_baseline {
            let changes = [("cycles/s", rate), ("p99", of_run("cycle_latency", "p99"))];
            let changes = changes
                .into_iter()
                .filter_map(|(name, found)| Some((name, change(found?)?)));
            let changes: Vec<String> = changes.map(|(name, change)| format!("{name} {change}")).collect();
            writeln!(out, "{:>9}  compared with the baseline: {}", "", changes.join(", "))?;
        }
    }
    writeln!(out, "\nAll numbers of each step: show --format csv, or export --html.")
}

fn change(one: &Compared) -> Option<String> {
    let comparison = one.comparison?;
    let change = format!("{:+.1} %", comparison.change? * 100.0);
    let p = one.probability().map(|p| format!(" p {p}")).unwrap_or_default();
    let verdict = one.verdict();
    Some(
        format!("{change}{p} {}{verdict}", comparison.stars())
            .trim_end()
            .to_owned(),
    )
}
