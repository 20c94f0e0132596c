//! A report for a person, compared with a baseline when there is one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, Write},
};

use chrono::{DateTime, Local};

use super::{Quantity, Report, RunConfig, Scope, rows::Compared, steps};
use tidemill_trust::printable;

use crate::stats::{Estimate, comparison::Basis};

/// Which percentiles are printed; reports hold more.
const PRINTED: [&str; 12] = [
    "mean", "min", "p25", "p50", "p75", "p90", "p95", "p98", "p99", "p99.9", "p99.99", "max",
];

/// Writes what was run and what it amounts to.
///
/// # Errors
/// When `out` refuses.
pub fn write_text(
    report: &Report,
    baseline: Option<&Report>,
    compared: &[Compared],
    out: &mut dyn Write,
) -> io::Result<()> {
    write_config(report, baseline, out)?;
    match compared.iter().any(|one| one.quantity.step.is_some()) {
        true => steps::write_steps(compared, baseline.is_some(), out)?,
        false => write_numbers(report, baseline.is_some(), compared, out)?,
    }
    for (name, report) in [("", Some(report)), ("the baseline: ", baseline)] {
        let Some(report) = report else { continue };
        let mut texts: BTreeMap<&str, &str> = BTreeMap::new();
        for (kind, text) in report.runs.iter().flat_map(|run| &run.results.error_texts) {
            texts.entry(kind).or_insert(text);
        }
        if !texts.is_empty() {
            writeln!(out, "\n{name}the first error of each kind:")?;
        }
        for (kind, text) in texts {
            writeln!(out, "{kind:>27}  {}", printable(&text.replace(['\r', '\n', '\t'], " ")))?;
        }
        for warning in report.warnings() {
            writeln!(out, "\nwarning: {name}{warning}")?;
        }
    }
    let mut bases = compared
        .iter()
        .filter_map(|one| one.comparison)
        .map(|comparison| comparison.basis);
    if bases.clone().any(|basis| basis == Basis::Runs) {
        writeln!(
            out,
            "\nP-values are adjusted for the number of different numbers that are compared (Holm)."
        )?;
    }
    if bases.any(|basis| basis == Basis::WithinRuns) {
        writeln!(
            out,
            "\nP-values in brackets come from one run each and know nothing of how runs differ, so they give no verdict:\n\
             run both with --repeat 5, or one of them."
        )?;
    }
    Ok(())
}

pub(super) fn write_config(report: &Report, baseline: Option<&Report>, out: &mut dyn Write) -> io::Result<()> {
    heading("CONFIG", baseline.is_some(), out)?;
    let configs: Vec<&RunConfig> = std::iter::once(report)
        .chain(baseline)
        .map(|report| &report.config)
        .collect();
    let reports: Vec<&Report> = std::iter::once(report).chain(baseline).collect();
    let mut line = |label: &str, of: &dyn Fn(&RunConfig) -> String| -> io::Result<()> {
        let values: Vec<String> = configs.iter().map(|config| of(config)).collect();
        match values.iter().all(String::is_empty) {
            true => Ok(()),
            false => columns(label, &values, out),
        }
    };
    line("Date", &|config| local_time(config.started_ms, "%a, %d %b %Y"))?;
    line("Time", &|config| local_time(config.started_ms, "%H:%M:%S %z"))?;
    line("Client", &|config| config.client.clone())?;
    line("Target", &|config| config.target.clone())?;
    line("Cluster", &|config| config.cluster.clone().unwrap_or_default())?;
    line("Version", &|config| config.target_version.clone().unwrap_or_default())?;
    line("Workload", &|config| config.workload.clone())?;
    line("Functions", &RunConfig::function_list)?;
    line("Tags", &|config| config.tags.join(", "))?;
    let params: BTreeSet<&String> = configs.iter().flat_map(|config| config.params.keys()).collect();
    for name in params {
        line(&format!("-P {name}"), &|config| {
            config.params.get(name).cloned().unwrap_or_default()
        })?;
    }
    line("Threads", &|config| config.threads.to_string())?;
    line("Connections", &|config| {
        config.connections.map(|count| count.to_string()).unwrap_or_default()
    })?;
    line("Concurrency", &|config| config.concurrency.to_string())?;
    line("Rate [1/s]", &|config| {
        config.rate.map(|rate| rate.to_string()).unwrap_or_default()
    })?;
    line("Warm-up", &|config| config.warm_up.clone())?;
    line("Duration", &|config| config.duration.clone())?;
    line("Sampling", &|config| config.sampling.clone())?;
    let settings: BTreeSet<&String> = configs.iter().flat_map(|config| config.settings.keys()).collect();
    for name in settings {
        line(name, &|config| config.settings.get(name).cloned().unwrap_or_default())?;
    }
    if reports.iter().any(|report| report.runs.len() != 1) {
        let runs: Vec<String> = reports.iter().map(|report| report.runs.len().to_string()).collect();
        columns("Runs", &runs, out)?;
    }
    Ok(())
}

fn columns(label: &str, values: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut line = format!("{label:>27}  ");
    for value in values {
        // What is longer than its column, such as a path, is still a word of its own.
        let _ = write!(line, "{value:<32} ");
    }
    writeln!(out, "{}", line.trim_end())
}

fn write_numbers(report: &Report, with_baseline: bool, compared: &[Compared], out: &mut dyn Write) -> io::Result<()> {
    // What is the same for the whole run and its only function is said once.
    let functions = report
        .runs
        .iter()
        .flat_map(|run| run.results.functions.keys())
        .collect::<BTreeSet<_>>();
    let statements = report
        .runs
        .iter()
        .flat_map(|run| run.results.statements.keys())
        .collect::<BTreeSet<_>>();
    let mut sections: Vec<Section<'_>> = Vec::new();
    for one in compared {
        let quantity = &one.quantity;
        let is_repeated = match quantity.scope {
            Scope::Function(_) => functions.len() == 1,
            Scope::Statement(_) => statements.len() == 1,
            Scope::Run | Scope::Metric(_) => false,
        };
        let is_times = quantity.unit == "ms";
        if is_repeated || is_times && !PRINTED.contains(&quantity.statistic.as_str()) {
            continue;
        }
        let name = if is_times { quantity.name } else { "" };
        let key = (&quantity.scope, name);
        if sections.last().is_none_or(|section| section.key != key) {
            sections.push(Section {
                key,
                title: title(quantity, is_times),
                lines: Vec::new(),
            });
        }
        if let Some(section) = sections.last_mut() {
            section.lines.push(number_line(one, is_times, with_baseline));
        }
    }
    for (index, section) in sections.iter().enumerate() {
        let is_times = !section.key.1.is_empty();
        let same = sections[..index]
            .iter()
            .find(|before| is_times && before.lines == section.lines);
        match same {
            Some(same) => writeln!(out, "\n{} is the same as {}", section.title, same.title)?,
            None => {
                heading(&section.title, with_baseline, out)?;
                section.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
        }
    }
    Ok(())
}

/// Numbers under one heading.
struct Section<'a> {
    /// Of what, and which times; nothing where they are none.
    key: (&'a Scope, &'a str),
    title: String,
    lines: Vec<String>,
}

fn number_line(one: &Compared, is_times: bool, with_baseline: bool) -> String {
    let quantity = &one.quantity;
    let label = match is_times {
        true => quantity.statistic.clone(),
        false => label(quantity),
    };
    let own = Some(&quantity.estimate)
        .filter(|_| one.present)
        .map(estimate)
        .unwrap_or_default();
    let mut line = format!("{label:>27}  {own:<33}");
    if with_baseline {
        let before = one.baseline.as_ref().map(estimate).unwrap_or_default();
        let _ = write!(line, "{before:<33}");
        if let Some(comparison) = one.comparison {
            let change = comparison.change.map(|change| format!("{:+.1} %", change * 100.0));
            let effect = comparison.effect.map(|effect| format!("{effect:+.1}"));
            let texts = [change, one.probability(), effect].map(Option::unwrap_or_default);
            let stars = comparison.stars();
            let _ = write!(
                line,
                "{:>9}  {:>9}  {:>6}  {stars} {}",
                texts[0],
                texts[1],
                texts[2],
                one.verdict()
            );
        }
    }
    line.truncate(line.trim_end().len());
    line
}

fn heading(title: &str, with_baseline: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{title} {}",
        "═".repeat(100_usize.saturating_sub(title.chars().count()))
    )?;
    if with_baseline {
        let names = format!("{:>27}  {:<33}{:<33}", "", "A", "B (baseline)");
        writeln!(out, "{names}{:>9}  {:>9}  {:>6}", "Change", "P-value", "Effect")?;
    }
    Ok(())
}

fn title(quantity: &Quantity, is_times: bool) -> String {
    let mut title = match (is_times, &quantity.scope) {
        (true, _) => quantity.name.replace('_', " ").to_uppercase(),
        (false, Scope::Run) => "SUMMARY".into(),
        (false, scope) => scope.kind().to_uppercase(),
    };
    if let Some(name) = quantity.scope.name() {
        // A statement may be long.
        let short: String = name
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(60)
            .collect();
        title += if is_times { " of " } else { " " };
        title += &short;
    }
    if is_times {
        title += " [ms]";
    }
    title
}

fn label(quantity: &Quantity) -> String {
    let mut label = quantity.name.replace("_per_s", "").replace('_', " ");
    if !matches!(quantity.statistic.as_str(), "total" | "mean") {
        label = format!("{label}: {}", quantity.statistic);
    }
    match quantity.unit {
        "" => label,
        unit => format!("{label} [{unit}]"),
    }
}

/// `0.597 (0.559 … 0.635)`, with as many digits as matter.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    let value = number(estimate.value);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{value} ({} … {})", number(low), number(high)),
        (Some(low), None) => format!("{value} ({} … )", number(low)),
        (None, Some(high)) => format!("{value} ( … {})", number(high)),
        (None, None) => value,
    }
}

/// Whole numbers whole, others to four digits or three decimals.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1_000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.6}"),
    }
}

/// A moment in the time zone of whoever reads it; nothing where none was recorded.
pub(crate) fn local_time(milliseconds: i64, format: &str) -> String {
    let time = DateTime::from_timestamp_millis(milliseconds).filter(|_| milliseconds != 0);
    time.map(|time| time.with_timezone(&Local).format(format).to_string())
        .unwrap_or_default()
}
