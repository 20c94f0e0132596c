//! A report as one page that needs nothing else: numbers, throughput and latencies over time, percentile curves.

use std::{fmt::Write as _, path::Path};

use super::{
    Compared, Report, compared,
    text::{estimate, local_time},
};
use crate::{
    Error, Result,
    plot::{Chart, Line, Timeline, percentile_curve, svg},
    stats::{Latencies, comparison::Basis},
};

const SIZE: (u32, u32) = (1_100, 460);
const PERCENTS: [f64; 3] = [50.0, 99.0, 99.9];

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1140px;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}\
th,td{padding:.15em .8em;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}\
td.n{text-align:right}caption{text-align:left;font-weight:600;padding:.4em 0}\
.better{color:#00694a}.worse{color:#a33c00}.note{color:#666}svg{max-width:100%;height:auto}";

/// The page of a report, beside a baseline when there is one.
///
/// # Errors
/// When a report can't be read, or when nothing was measured.
pub fn html(report: &Path, baseline: Option<&Path>) -> Result<String> {
    let (own, own_timelines) = Timeline::of_report(report, &PERCENTS)?;
    let other = baseline.map(|path| Timeline::of_report(path, &PERCENTS)).transpose()?;
    for report in std::iter::once(&own).chain(other.as_ref().map(|(report, _)| report)) {
        if report.runs.is_empty() {
            let path = report.path.display();
            return Err(Error::Misuse(format!("{path}: nothing was measured")));
        }
    }
    let sides: Vec<(&str, &Report, &[Timeline])> = match &other {
        None => vec![("", &own, &own_timelines)],
        Some((report, timelines)) => vec![("A", &own, &own_timelines), ("B (baseline)", report, timelines)],
    };
    let baseline = other.as_ref().map(|(report, _)| report);

    let mut page = String::new();
    let title = escaped(&format!("{}: {}", own.config.workload, own.config.function_list()));
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head>\
         <body>\n<h1>{title}</h1>\n"
    );
    configs(&mut page, &sides);
    warnings(&mut page, &sides);
    for chart in charts(&sides) {
        // A report that dropped its samples has no lines over time.
        if chart.lines.iter().any(|line| !line.points.is_empty()) {
            page += &svg(&[chart], SIZE)?;
            page.push('\n');
        }
    }
    numbers(&mut page, &compared(&own, baseline), baseline.is_some());
    page += "</body></html>\n";
    Ok(page)
}

fn configs(page: &mut String, sides: &[(&str, &Report, &[Timeline])]) {
    *page += "<table>\n";
    let mut row = |label: &str, of: &dyn Fn(&Report) -> String| {
        let values: Vec<String> = sides.iter().map(|(_, report, _)| escaped(&of(report))).collect();
        if values.iter().any(|value| !value.is_empty()) {
            let _ = writeln!(page, "<tr><th>{label}</th><td>{}</td></tr>", values.join("</td><td>"));
        }
    };
    if sides.len() > 1 {
        row("", &|report| report.path.display().to_string());
    }
    row("Time", &|report| {
        local_time(report.config.started_ms, "%Y-%m-%d %H:%M:%S %z")
    });
    row("Target", &|report| report.config.target.clone());
    row("Version", &|report| {
        report.config.target_version.clone().unwrap_or_default()
    });
    row("Tags", &|report| report.config.tags.join(", "));
    row("Parameters", &|report| {
        let params = report.config.params.iter();
        params
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    });
    row("Threads × concurrency", &|report| {
        format!("{} × {}", report.config.threads, report.config.concurrency)
    });
    row("Rate [1/s]", &|report| {
        report.config.rate.map(|rate| rate.to_string()).unwrap_or_default()
    });
    row("Runs", &|report| report.runs.len().to_string());
    *page += "</table>\n";
}

fn warnings(page: &mut String, sides: &[(&str, &Report, &[Timeline])]) {
    for (name, report, _) in sides {
        for run in &report.runs {
            let cut = (!run.complete).then(|| "the run was cut off".to_owned());
            for warning in run.results.warnings().into_iter().chain(cut) {
                let _ = writeln!(page, "<p class=\"worse\">{name} {}</p>", escaped(&warning));
            }
        }
    }
}

fn charts(sides: &[(&str, &Report, &[Timeline])]) -> [Chart; 3] {
    let (mut throughput, mut latencies, mut curves): (Vec<Line>, Vec<Line>, Vec<Line>) = Default::default();
    for (name, report, timelines) in sides {
        for (run, timeline) in timelines.iter().enumerate() {
            let label = match timelines.len() {
                1 => (*name).to_owned(),
                _ => format!("{name} run {}", run + 1).trim_start().to_owned(),
            };
            throughput.push(timeline.throughput(if label.is_empty() { "cycles" } else { &label }));
            latencies.extend(timeline.latencies(&label));
        }
        let mut from_schedule = Latencies::default();
        let mut from_send = Latencies::default();
        for run in &report.runs {
            for (times, sum) in [
                (&run.results.cycle_latency_ms, &mut from_schedule),
                (&run.results.service_time_ms, &mut from_send),
            ] {
                if let Some(times) = times {
                    sum.add(&times.histogram);
                }
            }
        }
        for (kind, sum) in [("from the schedule", from_schedule), ("from the send", from_send)] {
            if sum.count() > 0 {
                curves.push(percentile_curve(format!("{name} {kind}").trim_start(), &sum));
            }
        }
    }
    [
        Chart::throughput(throughput),
        Chart::latency(latencies),
        Chart::percentiles(curves),
    ]
}

fn numbers(page: &mut String, compared: &[Compared], with_baseline: bool) {
    let mut section = None;
    let mut unsure = false;
    for one in compared {
        let quantity = &one.quantity;
        if section != Some(&quantity.scope) {
            if section.is_some() {
                *page += "</table>\n";
            }
            section = Some(&quantity.scope);
            let name = quantity.scope.name().unwrap_or_default();
            let _ = writeln!(
                page,
                "<table><caption>{} {}</caption>",
                quantity.scope.kind(),
                escaped(name)
            );
            *page += match with_baseline {
                true => {
                    "<tr><th></th><th></th><th>A</th><th>B (baseline)</th><th>change</th><th>p-value</th><th>effect</th></tr>\n"
                }
                false => "<tr><th></th><th></th><th>value (95 % interval)</th></tr>\n",
            };
        }
        let own = one.present.then(|| estimate(&quantity.estimate));
        let unit = match quantity.unit {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let _ = write!(
            page,
            "<tr><td>{}{unit}</td><td>{}</td><td class=\"n\">{}</td>",
            quantity.name.replace("_per_s", "").replace('_', " "),
            escaped(&quantity.statistic),
            own.unwrap_or_default()
        );
        if with_baseline {
            let before = one.baseline.as_ref().map(estimate).unwrap_or_default();
            let _ = write!(page, "<td class=\"n\">{before}</td>");
            if let Some(comparison) = one.comparison {
                unsure |= comparison.basis == Basis::WithinRuns;
                let change = comparison.change.map(|change| format!("{:+.1} %", change * 100.0));
                let p = one.probability().map(|p| format!("{p} {}", comparison.stars()));
                let effect = comparison.effect.map(|effect| format!("{effect:+.1}"));
                let class = one.verdict();
                for text in [change, p, effect] {
                    let _ = write!(page, "<td class=\"n {class}\">{}</td>", text.unwrap_or_default());
                }
            }
        }
        *page += "</tr>\n";
    }
    if section.is_some() {
        *page += "</table>\n";
    }
    if unsure {
        *page += "<p class=\"note\">P-values in brackets come from one run each and know nothing of how runs differ, so they \
                  give no verdict: run both with --repeat 5, or one of them.</p>\n";
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
