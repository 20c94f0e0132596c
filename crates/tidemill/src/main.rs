//! The command line: queries, copies and checks data in legacy formats.
//!
//! This crate only reads arguments, calls a library, and writes the result. Data goes to standard output, everything else to standard
//! error. The exit code is 0 for success, 1 for a negative result (`verify` found damage, copies of the tour disagree), 2 for an error, and
//! 128 plus the signal's number if a signal ends it: 129 (HUP), 130 (INT), 143 (TERM).

mod args;
mod commands;
mod limits;
mod output;
mod progress;
mod signals;
mod terminal;
mod tour;

use std::any::Any;
use std::io;
#[cfg(feature = "shell")]
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::anyhow;
use clap::Parser;
use tidemill_sql::{FOR_DAMAGED_INDEX, stoppable};
use tokio::runtime::Runtime;

use crate::args::{Args, Command};
use crate::limits::Limits;
use crate::signals::Signals;
use crate::terminal::tell;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        #[cfg(feature = "shell")]
        Err(_) if std::env::args_os().len() == 1 && io::stdin().is_terminal() && io::stdout().is_terminal() => Args {
            command: Command::Shell(args::ShellArgs::default()),
        },
        Err(error) => return misuse(&error),
    };
    // Load tests create their own threads and runtimes.
    #[cfg(feature = "bench")]
    if let Command::Bench(bench) = args.command {
        let (log, command) = (bench.log, bench.command);
        return tidemill_bench::commands::main(tidemill_bench::args::Cli { log, command });
    }
    panic::set_hook(Box::new(note_panic));
    if args.command.is_quiet() {
        terminal::be_quiet();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(args.command.threads())
        // Planning recurses over expressions; statements with thousands of terms must not overflow the stack.
        .thread_stack_size(16 << 20)
        .build();
    let outcome = match runtime {
        Ok(runtime) => run_to_an_end(runtime, args.command),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.code()),
        // A reader that stops early, such as `head`, is not an error.
        Err(_) if terminal::is_closed() => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(why) = terminal::failed() {
                tell!("tidemill: cannot write to standard output: {why}");
                return ExitCode::from(2);
            }
            let hint = if is_index_damaged(&error) {
                format!("; {FOR_DAMAGED_INDEX}")
            } else if is_damage(&error) {
                "; verify lists all damage, --recover skips it".to_owned()
            } else {
                full_disk(&error).unwrap_or_default()
            };
            tell!("tidemill: {error:#}{hint}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command until it ends, a signal arrives, or a limit is reached. In the last two cases the work is aborted, and drafts are
/// removed.
fn run_to_an_end(runtime: Runtime, command: Command) -> anyhow::Result<Outcome> {
    let limits = command.limits();
    // Timers and signals have their own runtime: busy worker threads would delay them.
    let watch = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _in_it = watch.enter();
        Signals::new()?
    };
    // The command runs on a worker thread, which has the large stack.
    let ends_itself = command.ends_itself();
    let takes_interrupts = command.takes_interrupts();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let is_ending = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_ending);
    let mut work = runtime.spawn(stoppable(move || asked.load(Relaxed), run(command, stopped)));
    let outcome = watch.block_on(async {
        if ends_itself {
            // The first signal asks the command to end; a second one ends it at once.
            tokio::select! {
                done = &mut work => return ended(done),
                _ = signals.next() => drop(stop.send(true)),
            }
        }
        let outcome = tokio::select! {
            done = &mut work => return ended(done),
            signal = signals.next_but(takes_interrupts) => signal.map(Outcome::Interrupted).map_err(Into::into),
            limit = limits.reached() => Err(limit.into()),
        };
        if let Some(change) = commands::changing::under_way() {
            let advice = change.advice;
            is_ending.store(true, Relaxed);
            match tokio::time::timeout(CHANGE, &mut work).await {
                Ok(Ok(Ok(_))) => tell!("tidemill: the change was done before it could be stopped"),
                Ok(_) if change.is_undone => tell!("tidemill: the change was stopped, and nothing of it is left"),
                Ok(_) => tell!("tidemill: the change was stopped; {advice}"),
                Err(_) => tell!("tidemill: it is not known whether the change was done; {advice}"),
            }
        }
        work.abort();
        outcome
    });
    // A thread that is still busy does not delay the exit further.
    const GRACE: Duration = Duration::from_millis(300);
    runtime.shutdown_timeout(GRACE);
    tidemill_sql::remove_drafts();
    outcome
}

/// How long a change may take to stop and roll itself back.
const CHANGE: Duration = Duration::from_millis(600);

/// The outcome of a command's task.
fn ended(done: Result<anyhow::Result<Outcome>, tokio::task::JoinError>) -> anyhow::Result<Outcome> {
    done.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => Err(defect(&*panic)),
        Err(error) => Err(error.into()),
    })
}

/// Asks a command that handles signals itself to end.
type Stopped = tokio::sync::watch::Receiver<bool>;

/// How a command ended, unless by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Negative,
    /// By a signal of this number.
    Interrupted(u8),
}

impl Outcome {
    fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Negative => 1,
            Self::Interrupted(signal) => 128 + signal,
        }
    }
}

async fn run(command: Command, stopped: Stopped) -> anyhow::Result<Outcome> {
    #[cfg(not(any(feature = "serve", feature = "workers")))]
    drop(stopped);
    match command {
        Command::Sql(args) => commands::sql::run(args).await,
        #[cfg(feature = "shell")]
        Command::Shell(args) => commands::shell::run(args).await,
        Command::Copy(args) => commands::copy::run(args).await,
        Command::Inspect(args) => commands::inspect::run(args).await,
        Command::Cat(args) => commands::cat::run(args).await,
        Command::Head(args) => commands::head::run(args).await,
        Command::Sample(args) => commands::sample::run(args).await,
        Command::Summarize(args) => commands::summarize::run(args).await,
        Command::Diff(args) => commands::diff::run(args).await,
        #[cfg(feature = "chart")]
        Command::Chart(args) => commands::chart::run(args).await,
        Command::Verify(args) => commands::verify::run(args).await,
        Command::Reindex(args) => commands::reindex::run(args).await,
        Command::Recover(args) => commands::recover::run(args),
        Command::Salvage(args) => commands::salvage::run(args).await,
        Command::Tour(args) => tour::run(args).await,
        Command::SelfCheck(args) => commands::self_check::run(args).await,
        Command::Completions(args) => Ok(commands::manual::completions(&args)),
        Command::Man(args) => commands::manual::man(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(args, stopped).await,
        #[cfg(feature = "serve")]
        Command::User(args) => commands::user::run(args),
        #[cfg(feature = "workers")]
        Command::Worker(args) => commands::worker::run(args, stopped).await,
        #[cfg(feature = "bench")]
        Command::Bench(_) => unreachable!("main has run it"),
    }
}

impl Command {
    /// Whether the command handles signals itself.
    fn ends_itself(&self) -> bool {
        match self {
            #[cfg(feature = "serve")]
            Self::Serve(_) => true,
            #[cfg(feature = "workers")]
            Self::Worker(_) => true,
            _ => false,
        }
    }

    /// The number of worker threads.
    fn threads(&self) -> usize {
        /// A join may occupy a thread until it finds a row. Spare threads serve the other clients meanwhile.
        const SPARE: usize = 32;
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if self.ends_itself() {
            processors + SPARE
        } else {
            processors
        }
    }

    /// Whether the command handles Ctrl-C itself.
    fn takes_interrupts(&self) -> bool {
        #[cfg(feature = "shell")]
        return matches!(self, Self::Shell(_));
        #[cfg(not(feature = "shell"))]
        false
    }

    /// Whether only errors and damage are printed.
    fn is_quiet(&self) -> bool {
        let notes = match self {
            Self::Sql(args) => args.notes,
            Self::Copy(args) => args.notes,
            Self::Cat(args) => args.notes,
            Self::Head(args) => args.notes,
            Self::Sample(args) => args.notes,
            Self::Summarize(args) => args.notes,
            Self::Diff(args) => args.notes,
            #[cfg(feature = "chart")]
            Self::Chart(args) => args.notes,
            Self::Inspect(args) => args.notes,
            Self::Verify(args) => args.notes,
            Self::Salvage(args) => args.notes,
            Self::Reindex(args) => args.notes,
            Self::Recover(args) => args.notes,
            _ => return false,
        };
        notes.quiet
    }

    fn limits(&self) -> Limits {
        match self {
            Self::Sql(args) => args.limits.limits(),
            Self::Copy(args) => args.limits.limits(),
            Self::Cat(args) => args.limits.limits(),
            Self::Head(args) => args.limits.limits(),
            Self::Sample(args) => args.limits.limits(),
            Self::Summarize(args) => args.limits.limits(),
            Self::Diff(args) => args.limits.limits(),
            #[cfg(feature = "chart")]
            Self::Chart(args) => args.limits.limits(),
            Self::Inspect(args) => args.limits.limits(),
            Self::Verify(args) => args.limits.limits(),
            _ => Limits::default(),
        }
    }
}

/// Prints help and versions to standard output; errors of arguments to standard error, without secrets.
fn misuse(error: &clap::Error) -> ExitCode {
    let plain = error.render().to_string();
    // Help is our own text, so that its sample URLs are shown in full.
    if !error.use_stderr() || terminal::shown(&plain) == plain {
        let _ = error.print();
    } else {
        tell!("{}", plain.trim_end());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The location of the last panic, which its payload lacks.
static PANICKED_AT: Mutex<String> = Mutex::new(String::new());

fn note_panic(panic: &panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    // Only the end of the path: the rest depends on the build machine.
    let parts: Vec<&str> = place.rsplit(['/', '\\']).take(3).collect();
    let parts: Vec<&str> = parts.into_iter().rev().collect();
    if let Ok(mut noted) = PANICKED_AT.lock() {
        *noted = parts.join("/");
    }
}

/// Converts a panic to an error: it is our defect, not the user's.
fn defect(panic: &(dyn Any + Send)) -> anyhow::Error {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let place = PANICKED_AT.lock().map(|noted| noted.clone()).unwrap_or_default();
    anyhow!("a defect of Tidemill, at {place}: {said}; please report it with the command and, if you may, the file")
}

/// How much space is free, if the disk was full.
fn full_disk(error: &anyhow::Error) -> Option<String> {
    let is_full = |cause: &io::Error| matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if !error.chain().filter_map(|cause| cause.downcast_ref()).any(is_full) {
        return None;
    }
    let file = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<tidemill_sql::Error>()?.path());
    // The file may no longer exist.
    let folder = file.and_then(|file| file.ancestors().find(|path| path.is_dir()));
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let free = free_bytes(folder)?;
    Some(format!(
        "; {} are free on the file system of {}",
        indicatif::HumanBytes(free),
        folder.display()
    ))
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    // The types differ between systems.
    #[allow(clippy::useless_conversion, reason = "not on all systems")]
    u64::from(found.blocks_available()).checked_mul(u64::from(found.fragment_size()))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Whether an index file is damaged; the table can be read without it.
fn is_index_damaged(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_table = cause.downcast_ref::<tidemill_sql::Error>();
        of_table.is_some_and(tidemill_sql::Error::is_of_index)
            || cause.downcast_ref().is_some_and(tidemill_sql::is_of_index)
    })
}

/// Whether a file is damaged.
fn is_damage(error: &anyhow::Error) -> bool {
    use tidemill_riegeli::Error as Riegeli;
    use tidemill_xbase::Error as Xbase;
    error.chain().any(|cause| {
        cause
            .downcast_ref::<tidemill_sql::Error>()
            .is_some_and(tidemill_sql::Error::is_damage)
            || cause
                .downcast_ref()
                .is_some_and(|cause| matches!(cause, Riegeli::Corrupt(_) | Riegeli::Truncated { .. }))
            || cause
                .downcast_ref()
                .is_some_and(|cause| matches!(cause, Xbase::Corrupt(_) | Xbase::Value(_)))
    })
}
