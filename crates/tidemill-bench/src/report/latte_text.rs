//! A report in the layout of Latte's fork, for programs that read what it prints: the labels and units of its summary, its percentiles, and
//! twelve numbers for each sample. Each number stands alone between blanks; the end of an interval is after it in brackets.

use std::io::{self, Write};

use super::text::{estimate, write_config};
use super::{Compared, Report, Scope};
use crate::stats::{Estimate, Sample};

/// Writes what was run and what it amounts to. Of a report of several runs the numbers are those of all.
///
/// # Errors
/// When `out` refuses.
pub(crate) fn write_latte_text(report: &Report, compared: &[Compared], out: &mut dyn Write) -> io::Result<()> {
    write_config(report, None, out)?;
    writeln!(out, "\nSUMMARY STATS {}", "═".repeat(86))?;
    let of_run = |name: &str, statistic: &str| {
        let mut run = compared.iter().map(|one| &one.quantity);
        run.find(|one| one.scope == Scope::Run && one.name == name && one.statistic == statistic)
            .map(|one| one.estimate)
    };
    let errors: f64 = compared
        .iter()
        .filter(|one| one.quantity.scope == Scope::Run && one.quantity.name == "cycle_errors")
        .map(|one| one.quantity.estimate.value)
        .fold(0.0, |sum, count| sum + count);
    let cycles = of_run("cycles", "total");
    let lines = [
        ("Elapsed time", "s", of_run("elapsed", "total"), 3),
        ("CPU time", "s", of_run("cpu", "total"), 3),
        ("CPU utilisation", "%", of_run("cpu_used", "mean"), 1),
        ("Cycles", "op", cycles, 0),
        ("Errors", "op", Some(Estimate::bare(errors)), 0),
        ("Requests", "req", of_run("requests", "total"), 0),
        ("Rows", "row", of_run("rows", "total"), 0),
        ("Concurrency", "req", of_run("concurrency", "mean"), 0),
        ("Throughput", "op/s", of_run("cycles_per_s", "mean"), 0),
        ("Request rate", "req/s", of_run("requests_per_s", "mean"), 0),
        ("Row rate", "row/s", of_run("rows_per_s", "mean"), 0),
        ("Cycle latency", "ms", of_run("cycle_latency", "mean"), 3),
        ("Request latency", "ms", of_run("request_latency", "mean"), 3),
    ];
    for (label, unit, value, decimals) in lines {
        if let Some(value) = value {
            line(label, unit, &value, decimals, out)?;
        }
    }
    // Whoever reads on to the last has the latencies of requests.
    for (title, name) in [
        ("CYCLE LATENCY [ms]", "cycle_latency"),
        ("REQUEST LATENCY [ms]", "request_latency"),
    ] {
        if of_run(name, "mean").is_none() {
            continue;
        }
        writeln!(out, "\n{title} {}", "═".repeat(100 - title.len() - 1))?;
        for (label, statistic) in PERCENTILES {
            if let Some(value) = of_run(name, statistic) {
                line(label, "", &value, 3, out)?;
            }
        }
    }
    Ok(())
}

/// The lines above those of [`latte_sample`].
pub(crate) const SAMPLES: &str = "\
    LOG ════════════════════════════════════════════════════════════════════════════════════════════════\n    \
    Time    Cycles    Errors    Thrpt.  ───────────────── Latency [ms/op] ─────────────────────────────\n     \
    [s]      [op]      [op]    [op/s]       Min       50       75       90       95       99     99.9      Max";

/// A sample as twelve numbers: seconds, cycles, errors, cycles a second, and milliseconds.
pub(crate) fn latte_sample(sample: &Sample) -> String {
    let latencies = sample.cycle_latencies();
    let mut line = format!(
        "{:8.3} {:9} {:9} {:9.0}  ",
        sample.start_s + sample.duration_s,
        sample.cycles(),
        sample.cycle_errors(),
        sample.cycles() as f64 / sample.duration_s.max(1e-9),
    );
    for quantile in [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0] {
        line += &format!(" {:8.3}", latencies.quantile(quantile) as f64 / 1e6);
    }
    line
}

fn line(label: &str, unit: &str, value: &Estimate, decimals: usize, out: &mut dyn Write) -> io::Result<()> {
    let unit = match unit {
        "" => String::new(),
        unit => format!("[{unit}]"),
    };
    let whole = estimate(value);
    let interval = whole.split_once(' ').map_or("", |(_, interval)| interval);
    writeln!(out, "{label:>16} {unit:>9}  {:9.decimals$} {interval}", value.value)
}

/// As they are labelled there, and in reports here.
const PERCENTILES: [(&str, &str); 11] = [
    ("Min", "min"),
    ("25", "p25"),
    ("50", "p50"),
    ("75", "p75"),
    ("90", "p90"),
    ("95", "p95"),
    ("98", "p98"),
    ("99", "p99"),
    ("99.9", "p99.9"),
    ("99.99", "p99.99"),
    ("Max", "max"),
];
