//! A report as one page that needs nothing else: numbers, throughput and latencies over time, percentile curves.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use super::{
    Compared, Report, Scope, compared,
    text::{estimate, local_time},
};
use crate::{
    Error, Result,
    plot::{Chart, Line, Timeline, escaped, lines_of_runs, percentile_curve, svg},
    stats::{Latencies, comparison::Basis},
};

/// Pictures for a wide window, and for that of a telephone.
const WIDE: (u32, u32) = (1_100, 460);
const NARROW: (u32, u32) = (370, 330);
const PERCENTS: [f64; 3] = [50.0, 99.0, 99.9];

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--paper:#fff;--line:#ccc;--better:#00694a;--worse:#a33c00;--note:#555}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--line:#4a4d52;--better:#5fd3a8;--worse:#ff9d6b;--note:#b0b3b8}}\
body{font:15px/1.45 system-ui,sans-serif;max-width:1140px;margin:2em auto;padding:0 1em;color:var(--ink);background:var(--paper)}\
h1{font-size:1.5em;overflow-wrap:anywhere}\
.scroll{overflow-x:auto;margin:1em 0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.15em .8em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}\
tbody th{font-weight:400}caption{text-align:left;font-weight:600;padding:.4em 0;overflow-wrap:anywhere}\
.n{text-align:right;white-space:nowrap}.text{overflow-wrap:anywhere;min-width:10em}\
.better{color:var(--better)}.worse{color:var(--worse)}.note{color:var(--note)}\
figure{margin:1em 0}svg{display:block;max-width:100%;height:auto}figure.narrow{display:none}\
.ink{fill:var(--ink)}.paper{fill:var(--paper)}.ink-line{stroke:var(--ink)}.paper-line{stroke:var(--paper)}\
@media(max-width:700px){figure.wide{display:none}figure.narrow{display:block}\
body{margin:1em auto;padding:0 .6em;font-size:14px}th,td{padding:.15em .4em}}\
@media(max-width:480px){.n{white-space:normal}.text{min-width:0}}";

/// The page of a report, compared with a baseline when there is one.
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
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    configs(&mut page, &sides);
    warnings(&mut page, &sides);
    for chart in charts(&sides) {
        // A report that dropped its samples has no lines over time.
        if chart.lines.iter().any(|line| !line.points.is_empty()) {
            for (class, size) in [("wide", WIDE), ("narrow", NARROW)] {
                let picture = in_colours_of_the_page(&svg(std::slice::from_ref(&chart), size)?);
                let _ = writeln!(page, "<figure class=\"{class}\">{picture}</figure>");
            }
        }
    }
    errors(&mut page, &sides);
    numbers(&mut page, &compared(&own, baseline), baseline.is_some());
    page += "</main>\n</body></html>\n";
    Ok(page)
}

/// A picture whose black and white are those of the page, in the light and in the dark.
fn in_colours_of_the_page(picture: &str) -> String {
    picture
        .replace("fill=\"#FFFFFF\"", "class=\"paper\"")
        .replace("fill=\"#000000\"", "class=\"ink\"")
        .replace("stroke=\"#FFFFFF\"", "class=\"paper-line\"")
        .replace("stroke=\"#000000\"", "class=\"ink-line\"")
}

/// Opens a table that is moved sideways by itself where the window is narrow.
fn open_table(page: &mut String, caption: &str, columns: &[&str]) {
    let caption = escaped(caption);
    let _ = writeln!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>"
    );
    if !columns.is_empty() {
        let heads = columns
            .iter()
            .map(|column| format!("<th scope=\"col\">{}</th>", escaped(column)));
        let _ = writeln!(page, "<thead><tr>{}</tr></thead>", heads.collect::<String>());
    }
    *page += "<tbody>\n";
}

fn close_table(page: &mut String) {
    *page += "</tbody></table></div>\n";
}

fn configs(page: &mut String, sides: &[(&str, &Report, &[Timeline])]) {
    let names: Vec<&str> = match sides {
        [_] => Vec::new(),
        sides => std::iter::once("")
            .chain(sides.iter().map(|(name, ..)| *name))
            .collect(),
    };
    open_table(page, "What was run", &names);
    let mut row = |label: &str, of: &dyn Fn(&Report) -> String| {
        let values: Vec<String> = sides.iter().map(|(_, report, _)| escaped(&of(report))).collect();
        if values.iter().any(|value| !value.is_empty()) {
            let values = values.join("</td><td class=\"text\">");
            let _ = writeln!(
                page,
                "<tr><th scope=\"row\">{label}</th><td class=\"text\">{values}</td></tr>"
            );
        }
    };
    if sides.len() > 1 {
        row("Report", &|report| report.path.display().to_string());
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
        let steps = report.config.settings.get("concurrency_steps");
        let concurrency = steps.cloned().unwrap_or_else(|| report.config.concurrency.to_string());
        format!("{} × {concurrency}", report.config.threads)
    });
    row("Rate [1/s]", &|report| {
        report.config.rate.map(|rate| rate.to_string()).unwrap_or_default()
    });
    row("Runs", &|report| report.runs.len().to_string());
    close_table(page);
}

fn warnings(page: &mut String, sides: &[(&str, &Report, &[Timeline])]) {
    for (name, report, _) in sides {
        for warning in report.warnings() {
            // Of two reports, each warning says which one it is about.
            let of = if name.is_empty() { "" } else { ": " };
            let warning = escaped(&warning);
            let _ = writeln!(page, "<p class=\"worse\">Warning: {name}{of}{warning}</p>");
        }
    }
}

/// How many errors there were of each kind, and the first text of each.
fn errors(page: &mut String, sides: &[(&str, &Report, &[Timeline])]) {
    let mut kinds: BTreeMap<(usize, &str), [u64; 2]> = BTreeMap::new();
    let mut texts: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for (side, (_, report, _)) in sides.iter().enumerate() {
        for run in &report.runs {
            let counted = [&run.results.cycle_errors, &run.results.request_errors];
            for (which, counts) in counted.into_iter().enumerate() {
                for (kind, count) in counts {
                    let sum = &mut kinds.entry((side, kind)).or_default()[which];
                    *sum = sum.saturating_add(*count);
                }
            }
            for (kind, text) in &run.results.error_texts {
                texts.entry((side, kind)).or_insert(text);
            }
        }
    }
    if kinds.is_empty() {
        return;
    }
    open_table(
        page,
        "Errors",
        &["report", "kind", "cycles", "requests", "the first one"][usize::from(sides.len() == 1)..],
    );
    for ((side, kind), [cycles, requests]) in kinds {
        *page += "<tr>";
        if sides.len() > 1 {
            let _ = write!(page, "<td>{}</td>", sides[side].0);
        }
        let text = texts.get(&(side, kind)).copied().unwrap_or_default();
        let _ = writeln!(
            page,
            "<th scope=\"row\">{}</th><td class=\"n\">{cycles}</td><td class=\"n\">{requests}</td><td class=\"text\">{}</td></tr>",
            escaped(kind),
            escaped(text)
        );
    }
    close_table(page);
}

fn charts(sides: &[(&str, &Report, &[Timeline])]) -> [Chart; 3] {
    let (mut throughput, mut latencies, mut curves): (Vec<Line>, Vec<Line>, Vec<Line>) = Default::default();
    for (side, (name, report, timelines)) in sides.iter().enumerate() {
        let (rates, times) = lines_of_runs(timelines, name, side);
        throughput.extend(rates);
        latencies.extend(times);
        curves.extend(percentile_curves(name, report, side));
    }
    [
        Chart::throughput(throughput),
        Chart::latency(latencies),
        Chart::percentiles(curves),
    ]
}

/// The latencies of all runs together, from the schedule and from the send where these differ; of each step of concurrency by itself.
fn percentile_curves(name: &str, report: &Report, side: usize) -> Vec<Line> {
    let mut steps: Vec<Option<u64>> = report.runs.iter().map(|run| run.results.concurrency_limit).collect();
    steps.sort_unstable();
    steps.dedup();
    let mut curves: Vec<Line> = Vec::new();
    for (kind, step) in steps.iter().enumerate() {
        let (mut from_schedule, mut from_send) = (Latencies::default(), Latencies::default());
        for run in report.runs.iter().filter(|run| run.results.concurrency_limit == *step) {
            let times = [
                (&run.results.cycle_latency_ms, &mut from_schedule),
                (&run.results.service_time_ms, &mut from_send),
            ];
            for (times, sum) in times {
                times.iter().for_each(|times| sum.add(&times.histogram));
            }
        }
        let step = step.map(|step| format!("{step} at once, ")).unwrap_or_default();
        let mut curve = |label: &str, sum: &Latencies, kind: usize| {
            if sum.count() > 0 {
                curves.push(percentile_curve(format!("{name} {step}{label}").trim_start(), sum).of(kind, side));
            }
        };
        match from_schedule == from_send {
            true => curve("from the schedule and from the send", &from_schedule, kind),
            false if steps.len() > 1 => curve("from the schedule", &from_schedule, kind),
            false => {
                curve("from the schedule", &from_schedule, kind);
                curve("from the send", &from_send, kind + 1);
            }
        }
    }
    curves
}

/// Numbers of one kind of one scope: they stand together.
struct Section<'a> {
    step: Option<u64>,
    scope: &'a Scope,
    name: &'static str,
    unit: &'static str,
    /// The rows without what they are called, which may be those of another section.
    rows: Vec<String>,
}

fn numbers(page: &mut String, compared: &[Compared], with_baseline: bool) {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let (mut is_unsure, mut is_adjusted) = (false, false);
    for one in compared {
        let basis = one.comparison.map(|comparison| comparison.basis);
        is_unsure |= basis == Some(Basis::WithinRuns);
        is_adjusted |= basis == Some(Basis::Runs);
        let (step, scope, name) = (one.quantity.step, &one.quantity.scope, one.quantity.name);
        if sections
            .last()
            .is_none_or(|last| last.step != step || last.scope != scope || last.name != name)
        {
            sections.push(Section {
                step,
                scope,
                name,
                unit: one.quantity.unit,
                rows: Vec::new(),
            });
        }
        if let Some(section) = sections.last_mut() {
            section.rows.push(cells(one, with_baseline));
        }
    }
    let columns: &[&str] = match with_baseline {
        true => &["number", "", "A", "B (baseline)", "change", "p-value", "effect"],
        false => &["number", "", "value (95 % interval)"],
    };
    for (index, section) in sections.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &sections[before]);
        let is_first = before.is_none_or(|before| before.step != section.step || before.scope != section.scope);
        if is_first {
            if index > 0 {
                close_table(page);
            }
            let name = section.scope.name().unwrap_or_default();
            let step = section.step.map(|step| format!(", {step} at once")).unwrap_or_default();
            let caption = format!("{} {name}", section.scope.kind());
            open_table(page, &format!("{}{step}", caption.trim_end()), columns);
        }
        let name = section.name.replace("_per_s", "").replace('_', " ");
        let before = sections[..index]
            .iter()
            .find(|before| before.step == section.step && before.rows.len() > 1 && before.rows == section.rows);
        if let Some(before) = before {
            let whose = before
                .scope
                .name()
                .map(|name| format!(" of {}", escaped(name)))
                .unwrap_or_default();
            let same = format!("the same as {}{whose}", before.name.replace('_', " "));
            let _ = writeln!(
                page,
                "<tr><th scope=\"row\">{name}</th><td class=\"note\" colspan=\"{}\">{same}</td></tr>",
                columns.len() - 1
            );
            continue;
        }
        for (index, row) in section.rows.iter().enumerate() {
            *page += "<tr>";
            if index == 0 {
                let unit = match section.unit {
                    "" => String::new(),
                    unit => format!(" [{unit}]"),
                };
                let rows = section.rows.len();
                let _ = write!(page, "<th scope=\"rowgroup\" rowspan=\"{rows}\">{name}{unit}</th>");
            }
            let _ = writeln!(page, "{row}</tr>");
        }
    }
    if !sections.is_empty() {
        close_table(page);
    }
    if is_adjusted {
        *page += "<p class=\"note\">P-values are adjusted for the number of different numbers that are compared (Holm).</p>\n";
    }
    if is_unsure {
        *page += "<p class=\"note\">P-values in brackets come from one run each and know nothing of how runs differ, so they \
                  give no verdict: run both with --repeat 5, or one of them.</p>\n";
    }
}

/// What stands in a row after the name of its number.
fn cells(one: &Compared, with_baseline: bool) -> String {
    let quantity = &one.quantity;
    let own = match one.present {
        true => estimate(&quantity.estimate),
        false => String::new(),
    };
    let mut cells = format!(
        "<th scope=\"row\">{}</th><td class=\"n\">{own}</td>",
        escaped(&quantity.statistic)
    );
    if with_baseline {
        let before = one.baseline.as_ref().map(estimate).unwrap_or_default();
        let _ = write!(cells, "<td class=\"n\">{before}</td>");
        let comparison = one.comparison;
        let change = comparison
            .and_then(|one| one.change)
            .map(|change| format!("{:+.1} %", change * 100.0));
        let stars = comparison.map(|one| one.stars()).unwrap_or_default();
        let p = one.probability().map(|p| format!("{p} {stars}").trim_end().to_owned());
        let effect = comparison
            .and_then(|one| one.effect)
            .map(|effect| format!("{effect:+.1}"));
        let verdict = one.verdict();
        // Not by colour alone.
        let change = change.map(|change| format!("{change} {verdict}").trim_end().to_owned());
        for text in [change, p, effect] {
            let _ = write!(cells, "<td class=\"n {verdict}\">{}</td>", text.unwrap_or_default());
        }
    }
    cells
}
