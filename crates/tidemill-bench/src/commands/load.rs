//! `load`: the data of a workload.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use crate::args::{LoadArgs, WeightedFunction};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::run::{Chooser, Cycles, Interrupt, Pace, Phase, Prepared, Stage, Workers};
use crate::target::AnyTarget;

/// Calls the script's functions `prepare` and `erase`, and `load` as often as `ctx.load_cycle_count` says.
///
/// # Errors
/// What the script or the store says; a row that could not be written is one.
pub(crate) fn load(args: &LoadArgs) -> Result<()> {
    let (target, stage) = super::schema::open(&args.workload, &args.connection)?;
    let target = Arc::new(target);
    let interrupt = Interrupt::on_ctrl_c()?;
    make_in_memory(&target, &stage)?;
    if stage.has("prepare") {
        eprintln!("info: Preparing...");
        stage.call("prepare")?;
    }
    erase(&stage)?;
    let prepared = stage.finish(target)?;
    let loading = Loading {
        threads: args.threads.get(),
        concurrency: args.concurrency.get(),
        rate: args.rate,
        is_quiet: args.quiet,
    };
    loading.run(&prepared, interrupt)
}

/// A store that ends with the process gets its tables first.
pub(super) fn make_in_memory(target: &AnyTarget, stage: &Stage) -> Result<()> {
    if target.is_ephemeral() && stage.has("schema") {
        eprintln!("info: Creating schema...");
        stage.call("schema")?;
    }
    Ok(())
}

pub(super) fn erase(stage: &Stage) -> Result<()> {
    if stage.has("erase") {
        eprintln!("info: Erasing data...");
        stage.call("erase")?;
    }
    Ok(())
}

/// How rows are loaded.
pub(super) struct Loading {
    pub(super) threads: usize,
    pub(super) concurrency: usize,
    pub(super) rate: Option<f64>,
    pub(super) is_quiet: bool,
}

impl Loading {
    pub(super) fn run(&self, prepared: &Prepared, interrupt: Interrupt) -> Result<()> {
        let count = u64::try_from(prepared.setup.load_cycle_count)
            .map_err(|_| Error::Misuse(format!("ctx.load_cycle_count is {}", prepared.setup.load_cycle_count)))?;
        if count == 0 {
            return Ok(());
        }
        eprintln!("info: Loading data...");
        let functions = ["load".parse::<WeightedFunction>().map_err(Error::Misuse)?];
        let chooser = Chooser::new(&prepared.program, &functions)?;
        let threads = self.threads.min(usize::try_from(count).unwrap_or(usize::MAX));
        let mut workers = Workers::start(prepared, &chooser, threads, interrupt.clone())?;
        let phase = Phase {
            cycles: Cycles::new(0, i64::MAX, count)?,
            duration: None,
            pace: self.rate.map(Pace::constant),
            sampling: None,
            concurrency: self.concurrency,
            start: Instant::now(),
        };
        let progress = Progress::new("Loading", &phase, self.is_quiet);
        let mut failed = 0;
        let ended = workers.work(
            phase,
            |sample| {
                failed += sample.cycle_errors();
                Ok(ControlFlow::Continue(()))
            },
            |phase| progress.show(phase),
        )?;
        progress.finish();
        if let Some(error) = ended.error {
            return Err(error);
        }
        if failed > 0 {
            return Err(Error::Misuse(format!(
                "{failed} of {count} calls of load failed: data are missing"
            )));
        }
        if interrupt.came() {
            return Err(Error::Misuse("loading was interrupted: data are missing".to_owned()));
        }
        Ok(())
    }
}
