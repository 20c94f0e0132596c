//! `list`: the reports in a folder.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use clap::Args;

use crate::{
    Error, Result,
    output::{Format, write_rows},
    report::{Report, Run, local_time, quantities},
    stats::comparison::combine,
};

/// List reports
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Only reports of workloads whose path contains this
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Only reports of this function
    #[arg(short, long)]
    pub function: Option<String>,
    /// Only reports with all these tags
    #[arg(long = "tag", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Folder of the reports
    #[arg(short, long, default_value = ".", num_args = 1)]
    pub output: Vec<PathBuf>,
    /// Include subfolders
    #[arg(short, long)]
    pub recursive: bool,
    /// Print the list as rows in this format
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

/// Writes a row for each report. Files that are not reports are named on standard error.
///
/// # Errors
/// When a folder can't be read or `out` refuses.
pub fn list(args: &ListArgs, out: &mut dyn Write) -> Result<()> {
    let mut paths = Vec::new();
    for folder in &args.output {
        collect(folder, args.recursive, &mut paths)?;
    }
    paths.sort();
    let mut reports = Vec::new();
    for path in paths {
        match Report::load(&path) {
            Ok(report) if matches(&report, args) => reports.push(report),
            Ok(_) => {}
            Err(error) => eprintln!("warning: {error}"),
        }
    }
    reports.sort_by_cached_key(|report| {
        let config = &report.config;
        let params: Vec<(String, String)> = config.params.clone().into_iter().collect();
        (
            config.workload.clone(),
            config.function_list(),
            params,
            config.tags.clone(),
            config.started_ms,
        )
    });
    write_rows(&rows(&reports)?, args.format.unwrap_or_else(Format::for_stdout), out)
}

fn collect(folder: &Path, recursive: bool, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    for entry in entries {
        let entry = entry.map_err(Error::io("list", folder))?;
        let path = entry.path();
        // Links are not followed, so that a loop of them ends.
        let kind = entry.file_type().map_err(Error::io("inspect", &path))?;
        if kind.is_dir() && recursive {
            collect(&path, true, paths)?;
        } else if kind.is_file()
            && path
                .extension()
                .is_some_and(|extension| extension == "json" || extension == "jsonl")
        {
            paths.push(path);
        }
    }
    Ok(())
}

fn matches(report: &Report, args: &ListArgs) -> bool {
    let config = &report.config;
    let workload = args.workload.as_ref().is_none_or(|part| config.workload.contains(part));
    let named = |name: &String| config.functions.iter().any(|function| function.name == *name);
    workload && args.function.as_ref().is_none_or(named) && args.tags.iter().all(|tag| config.tags.contains(tag))
}

/// The runs of a report; where they are steps of concurrency, those of the last.
fn last_step(report: &Report) -> impl Iterator<Item = &Run> {
    let last = report
        .runs
        .iter()
        .map(|run| run.results.concurrency_limit)
        .max()
        .flatten();
    let runs = report.runs.iter();
    runs.filter(move |run| run.results.concurrency_limit == last)
}

fn rows(reports: &[Report]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Report) -> String| -> ArrayRef {
        let texts = reports
            .iter()
            .map(|report| Some(of(report)).filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&Report) -> Option<f64>| -> ArrayRef {
        Arc::new(reports.iter().map(of).collect::<Float64Array>())
    };
    // The first latency that a report has: from the schedule, or from the send.
    let latency = |statistic: &'static str| {
        number(&move |report| {
            let names = ["cycle_latency", "service_time"];
            names.iter().find_map(|name| {
                let runs = last_step(report).map(|run| quantities(&run.results));
                let found = runs.filter_map(|run| {
                    run.into_iter()
                        .find(|one| one.name == *name && one.statistic == statistic)
                });
                let values: Vec<_> = found.map(|one| one.estimate).collect();
                combine(&values).map(|estimate| estimate.value)
            })
        })
    };
    let params = |report: &Report| {
        let params = report.config.params.iter();
        params
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let throughput = |report: &Report| {
        let values: Vec<_> = last_step(report).map(|run| run.results.cycles_per_s).collect();
        combine(&values).map(|estimate| estimate.value)
    };
    let columns = [
        ("file", text(&|report| report.path.display().to_string())),
        (
            "time",
            text(&|report| local_time(report.config.started_ms, "%Y-%m-%d %H:%M:%S")),
        ),
        ("workload", text(&|report| report.config.workload.clone())),
        ("functions", text(&|report| report.config.function_list())),
        ("params", text(&params)),
        ("tags", text(&|report| report.config.tags.join(","))),
        ("rate_per_s", number(&|report| report.config.rate)),
        ("runs", number(&|report| Some(report.runs.len() as f64))),
        ("cycles_per_s", number(&throughput)),
        ("latency_p50_ms", latency("p50")),
        ("latency_p99_ms", latency("p99")),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    )?)
}
