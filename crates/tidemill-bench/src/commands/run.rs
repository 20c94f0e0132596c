//! `run`: functions of a workload, measured.

mod find_max;
mod floor;
mod outputs;

use std::collections::BTreeMap;
use std::io::stdout;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::outputs::Outputs;
use crate::args::{Extent, RunArgs};
use crate::commands::show::ShowArgs;
use crate::error::{Error, Result};
use crate::report::{Report, RunConfig, WeightedFunction};
use crate::run::{Chooser, Cycles, Interrupt, Pace, Phase, Prepared, Workers};

/// Runs the functions that `args` names, prints what was measured and writes the report.
///
/// # Errors
/// What the script or the store says. What was measured until then is printed and in the report.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    if args.find_max && args.has_steps() {
        let why = "--find-max searches with one concurrency (-p); run it once for each concurrency";
        return Err(Error::Misuse(why.to_owned()));
    }
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
    let mut workers = Workers::start(&prepared, &chooser, args.threads.get(), interrupt.clone())?;
    let config = config(args, &prepared, &about.name, &about.version);
    let mut outputs = Outputs::create(args, &config)?;
    if let Some(phase) = warm_up(args)? {
        eprintln!("info: Warming up...");
        let ended = outputs.watch("Warming up", &mut workers, phase, true)?.ended;
        if let Some(error) = ended.error {
            return Err(error);
        }
    }
    wait_until(args.start_at, &interrupt);
    let pace = if args.find_max {
        let Some(found) = find_max::find_max(args, &mut workers, &mut outputs, &interrupt)? else {
            return Ok(ExitCode::from(if interrupt.came() { 130 } else { 1 }));
        };
        Some(found)
    } else {
        Pace::of(&args.pace, extent(args.duration).0)
    };
    eprintln!("info: Running benchmark...");
    let mut has_errors = false;
    let mut is_too_slow = false;
    let mut failed = None;
    let runs = (1..=args.repeat.get())
        .flat_map(|repetition| args.concurrency.iter().map(move |step| (repetition, step.get())));
    for (repetition, concurrency) in runs {
        if interrupt.came() {
            break;
        }
        if args.repeat.get() > 1 {
            eprintln!("info: Run {repetition} of {}...", args.repeat);
        }
        if args.has_steps() {
            eprintln!("info: With {concurrency} at once in each thread...");
        }
        let phase = Phase {
            concurrency,
            ..phase(args, pace)?
        };
        let watched = outputs.watch("Running", &mut workers, phase, false)?;
        let ended = watched.ended;
        let mut results = watched.summary.results();
        results.aborted = watched.aborted;
        results.concurrency_limit = args.has_steps().then_some(concurrency as u64);
        results.unstarted_cycles = ended.unstarted;
        results.unawaited_calls = ended.unawaited;
        if args.format.is_some() {
            // The text for people has them.
            results
                .warnings()
                .iter()
                .for_each(|warning| eprintln!("warning: {warning}"));
        }
        outputs.finish(&results)?;
        has_errors |= !results.cycle_errors.is_empty() || !results.request_errors.is_empty();
        failed = ended.error;
        is_too_slow |= watched.aborted.is_some();
        if failed.is_some() || is_too_slow {
            break;
        }
    }
    drop(workers);
    let path = outputs.close();
    let shown = ShowArgs {
        report: path.clone(),
        baseline: args.baseline.clone(),
        log: false,
        format: args.format,
        layout: args.layout,
    };
    if interrupt.came() && Report::load(&path)?.runs.is_empty() {
        return Ok(ExitCode::from(130));
    }
    super::printed(super::show::show(&shown, &mut stdout().lock()))?;
    eprintln!("info: Saved report to {}", path.display());
    if let Some(error) = failed {
        return Err(error);
    }
    if is_too_slow {
        eprintln!(
            "error: The run was ended, since its throughput was below --abort-below; what was measured until then is in the report"
        );
    }
    Ok(match (interrupt.came(), has_errors || is_too_slow) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// A phase of the length that the command line names.
fn phase(args: &RunArgs, pace: Option<Pace>) -> Result<Phase> {
    let (duration, limit) = extent(args.duration);
    Ok(Phase {
        cycles: Cycles::new(args.start_cycle, args.end_cycle, limit)?,
        duration,
        pace,
        sampling: Some(args.sampling),
        concurrency: args.highest_concurrency(),
        start: Instant::now(),
    })
}

fn wait_until(time: Option<chrono::DateTime<chrono::Utc>>, interrupt: &Interrupt) {
    let Some(time) = time else { return };
    eprintln!("info: Waiting until {time}...");
    while !interrupt.came()
        && let Ok(left) = (time - chrono::Utc::now()).to_std()
        && !left.is_zero()
    {
        std::thread::sleep(left.min(Duration::from_millis(100)));
    }
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
        // What is not to be loaded more is not before either.
        pace: args.pace.rate.map(Pace::constant),
        sampling: None,
        concurrency: args.highest_concurrency(),
        start: Instant::now(),
    }))
}

fn load_in_memory(args: &RunArgs, prepared: &Prepared, interrupt: &Interrupt) -> Result<()> {
    let loading = super::load::Loading {
        threads: args.threads.get(),
        concurrency: args.highest_concurrency(),
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
        started_ms: match args.timestamp {
            Some(seconds) => seconds.saturating_mul(1_000),
            None => chrono::Utc::now().timestamp_millis(),
        },
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
        target: connection.shown_addresses(),
        cluster: some(name),
        target_version: some(version),
        tags: args.tags.clone(),
        params: args.workload.params.iter().cloned().collect(),
        threads: args.threads.get() as u64,
        connections: Some(connection.connections.get() as u64),
        concurrency: args.highest_concurrency() as u64,
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
    if args.has_steps() {
        let steps = args.concurrency.iter().map(ToString::to_string);
        set("concurrency_steps", steps.collect::<Vec<_>>().join(","));
    }
    if args.pace.no_catch_up {
        set("no_catch_up", "true".to_owned());
    }
    if let Some(to) = args.pace.ramp_to {
        set("ramp_to", to.to_string());
    }
    if let Some(amplitude) = args.pace.rate_sine_amplitude {
        set("rate_sine_amplitude", amplitude.to_string());
        set("rate_sine_period", format!("{:?}", args.pace.rate_sine_period));
    }
    settings
}
