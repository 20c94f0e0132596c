//! `plot`: pictures of reports.

use std::{io::Write, path::PathBuf};

use clap::Args;

use crate::{
    Result,
    plot::{Chart, Timeline, lines_of_runs, write},
};

const WIDTH: u32 = 1_600;
const HEIGHT_OF_CHART: u32 = 800;

/// Plot throughput and latencies of reports over time
#[derive(Args, Clone, Debug)]
pub struct PlotArgs {
    /// The reports
    #[arg(value_name = "PATH", required = true)]
    pub reports: Vec<PathBuf>,
    /// Plot this percentile of the latencies; may be given several times
    #[arg(short, long = "percentile", num_args = 1, value_parser = parse_percent)]
    pub percentiles: Vec<f64>,
    /// Plot throughput. Default: throughput and latency
    #[arg(short, long)]
    pub throughput: bool,
    /// Output file, .svg or .png. Default: named after the time of the first report
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match (0.0..=100.0).contains(&percent) {
        true => Ok(percent),
        false => Err("a percentile is a number from 0 to 100".into()),
    }
}

/// Draws the picture and writes its name to `out`.
///
/// # Errors
/// When a report can't be read, there is nothing to draw, or the picture can't be written.
pub fn plot(args: &PlotArgs, out: &mut dyn Write) -> Result<()> {
    let neither = args.percentiles.is_empty() && !args.throughput;
    let percents = if neither {
        vec![50.0, 99.0]
    } else {
        args.percentiles.clone()
    };
    let mut throughput = Vec::new();
    let mut latencies = Vec::new();
    let mut started_ms = None;
    for (side, path) in args.reports.iter().enumerate() {
        let (report, timelines) = Timeline::of_report(path, &percents)?;
        started_ms.get_or_insert(report.config.started_ms);
        let name = match args.reports.len() {
            1 => String::new(),
            _ => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let (rates, times) = lines_of_runs(&timelines, &name, side);
        throughput.extend(rates);
        latencies.extend(times);
    }
    let mut charts = Vec::new();
    if args.throughput || neither {
        charts.push(Chart::throughput(throughput));
    }
    if !percents.is_empty() {
        charts.push(Chart::latency(latencies));
    }
    let default = || PathBuf::from(format!("tidemill-bench-{}.svg", started_ms.unwrap_or_default()));
    let path = args.output.clone().unwrap_or_else(default);
    write(&charts, (WIDTH, HEIGHT_OF_CHART * charts.len() as u32), &path)?;
    writeln!(out, "{}", path.display())?;
    Ok(())
}
