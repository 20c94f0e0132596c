//! `run`: functions of a workload, measured.

use std::collections::BTreeMap;
use std::io::stdout;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::args::{Extent, RunArgs};
use crate::commands::show::ShowArgs;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::report::{Report, ReportWriter, RunConfig, WeightedFunction};
use crate::run::{Chooser, Crew, Cycles, Interrupt, Pace, Phase, Prepared};
use crate::stats::{Results, Sample, Summary};

/// Runs the functions that `args` names, prints what was measured and writes the report.
///
/// # Errors
/// What the script or the store says. What was measured until then is printed and in the report.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    // Before anything takes time: a baseline that cannot be read.
    if let Some(path) = &args.baseline {
        Report::load(path)?;
    }
    let (target, stage) = super::schema::open(&args.workload, &args.connection)?;
    let target = Arc::new(target);
    let about = stage.about();
    let interrupt = Interrupt::on_ctrl_c()?;
    stage.tell_functions(&args.functions)?;
    let chooser = Chooser::new(stage.program(), &args.functions)?;
    super::load::make_in_memory(&target, &stage)?;
    if stage.has("prepare") {
        eprintln!("info: Preparing...");
        stage.call("prepare")?;
    }
    let is_ephemeral = target.is_ephemeral();
    let prepared = stage.finish(target)?;
    if is_ephemeral {
        load_in_memory(args, &prepared, &interrupt)?;
    }
    let mut crew = Crew::assemble(&prepared, &chooser, args.threads.get(), interrupt.clone())?;
    if let Some(phase) = warm_up(args)? {
        eprintln!("info: Warming up...");
        let progress = Progress::new("Warming up", &phase, args.quiet);
        let ended = crew.work(phase, |_| Ok(()), |phase| progress.show(phase))?;
        progress.finish();
        if let Some(error) = ended.error {
            return Err(error);
        }
    }
    let config = config(args, &prepared, &about.name, &about.version);
    let path = report_path(args.output.as_deref(), config.started_ms);
    let mut writer = ReportWriter::create(&path, &config)?;
    eprintln!("info: Running benchmark...");
    let mut has_errors = false;
    let mut failed = None;
    if args.format.is_none() {
        println!("{LOG_HEADER}");
    }
    for repetition in 1..=args.repeat.get() {
        if interrupt.came() {
            break;
        }
        if args.repeat.get() > 1 {
            eprintln!("info: Run {repetition} of {}...", args.repeat);
        }
        let (results, error) = measure(args, &mut crew, &mut writer)?;
        writer.results(&results)?;
        has_errors |= !results.cycle_errors.is_empty() || !results.request_errors.is_empty();
        failed = error;
        if failed.is_some() {
            break;
        }
    }
    drop(crew);
    let shown = ShowArgs {
        report: path.clone(),
        baseline: args.baseline.clone(),
        log: false,
        format: args.format,
    };
    super::show::show(&shown, &mut stdout().lock())?;
    eprintln!("info: Saved report to {}", path.display());
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(match (interrupt.came(), has_errors) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// One run: its results, and what ended it early.
fn measure(args: &RunArgs, crew: &mut Crew, writer: &mut ReportWriter) -> Result<(Results, Option<Error>)> {
    let (duration, limit) = extent(args.duration);
    let phase = Phase {
        cycles: Cycles::new(args.start_cycle, args.end_cycle, limit)?,
        duration,
        pace: Pace::of(&args.pace, duration),
        sampling: Some(args.sampling),
        concurrency: args.concurrency.get(),
        start: Instant::now(),
    };
    let progress = Progress::new("Running", &phase, args.quiet);
    let mut summary = Summary::default();
    let mut keep = |sample: Sample| {
        summary.add(&sample);
        if !args.drop_sampling_log {
            writer.sample(&sample)?;
        }
        if args.format.is_none() {
            progress.line(|| print_sample(&sample));
        }
        Ok(())
    };
    let ended = crew.work(phase, &mut keep, |phase| progress.show(phase))?;
    progress.finish();
    if ended.unstarted > 0 {
        eprintln!(
            "warning: {} workers had cycles due at the end that could not begin: the store, or the concurrency, did not keep up with the rate",
            ended.unstarted
        );
    }
    Ok((summary.results(), ended.error))
}

fn extent(extent: Extent) -> (Option<Duration>, u64) {
    match extent {
        Extent::Time(duration) => (Some(duration), u64::MAX),
        Extent::Count(count) => (None, count),
    }
}

fn warm_up(args: &RunArgs) -> Result<Option<Phase>> {
    let (duration, limit) = extent(args.warmup);
    if limit == 0 || duration.is_some_and(|duration| duration.is_zero()) {
        return Ok(None);
    }
    Ok(Some(Phase {
        cycles: Cycles::new(args.start_cycle, args.end_cycle, limit)?,
        duration,
        pace: None,
        sampling: None,
        concurrency: args.concurrency.get(),
        start: Instant::now(),
    }))
}

fn load_in_memory(args: &RunArgs, prepared: &Prepared, interrupt: &Interrupt) -> Result<()> {
    let loading = super::load::Loading {
        threads: args.threads.get(),
        concurrency: args.concurrency.get(),
        rate: None,
        is_quiet: args.quiet,
    };
    loading.run(prepared, interrupt.clone())
}

fn config(args: &RunArgs, prepared: &Prepared, name: &str, version: &str) -> RunConfig {
    let shown = |extent: Extent| match extent {
        Extent::Count(count) => count.to_string(),
        Extent::Time(time) => format!("{time:?}"),
    };
    let connection = &args.connection;
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    RunConfig {
        client: concat!("tidemill-bench ", env!("CARGO_PKG_VERSION")).to_owned(),
        started_ms: chrono::Utc::now().timestamp_millis(),
        command: "run".to_owned(),
        workload: args.workload.workload.display().to_string(),
        functions: args
            .functions
            .iter()
            .map(|function| WeightedFunction {
                name: function.name.clone(),
                weight: function.weight,
            })
            .collect(),
        target: connection.addresses.join(" "),
        cluster: some(name),
        target_version: some(version),
        tags: args.tags.clone(),
        params: args.workload.params.iter().cloned().collect(),
        threads: args.threads.get() as u64,
        connections: Some(connection.connections.get() as u64),
        concurrency: args.concurrency.get() as u64,
        rate: args.pace.rate,
        warm_up: shown(args.warmup),
        duration: shown(args.duration),
        sampling: shown(args.sampling),
        cores: std::thread::available_parallelism().ok().map(usize::from),
        settings: settings(args, &prepared.setup.fields),
    }
}

fn settings(args: &RunArgs, fields: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let connection = &args.connection;
    let mut settings = fields.clone();
    let mut set = |name: &str, value: String| settings.insert(name.to_owned(), value);
    set("consistency", connection.consistency.clone());
    set("request_timeout", format!("{:?}", connection.request_timeout));
    set("retries", connection.retries.to_string());
    set("arrivals", format!("{:?}", args.pace.arrivals).to_lowercase());
    if let Some(to) = args.pace.ramp_to {
        set("ramp_to", to.to_string());
    }
    if let Some(amplitude) = args.pace.rate_sine_amplitude {
        set("rate_sine_amplitude", amplitude.to_string());
        set("rate_sine_period", format!("{:?}", args.pace.rate_sine_period));
    }
    settings
}

/// The file that is named, or one named after the time, in the folder that is named or here.
fn report_path(output: Option<&Path>, started_ms: i64) -> PathBuf {
    let started = chrono::DateTime::from_timestamp_millis(started_ms).unwrap_or_default();
    let name = started.format("tidemill-bench-%Y%m%d-%H%M%S.json").to_string();
    match output {
        Some(path) if path.is_dir() => path.join(name),
        Some(path) => path.to_owned(),
        None => PathBuf::from(name),
    }
}

const LOG_HEADER: &str = "  Time [s]      Cycles      Errors  Cycles/s    p50 [ms]    p90 [ms]    p99 [ms]    max [ms]";

fn print_sample(sample: &Sample) {
    let latencies = sample.cycle_latencies();
    let ms = |quantile: f64| latencies.quantile(quantile) as f64 / 1e6;
    println!(
        "{:10.3} {:11} {:11} {:9.0} {:11.3} {:11.3} {:11.3} {:11.3}",
        sample.start_s + sample.duration_s,
        sample.cycles(),
        sample.cycle_errors(),
        sample.cycles() as f64 / sample.duration_s.max(1e-9),
        ms(0.5),
        ms(0.9),
        ms(0.99),
        ms(1.0),
    );
}
