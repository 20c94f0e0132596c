//! Run it, query it, move it, prove it: the command line.
//!
//! This crate lists what there is and decides nothing: it reads arguments, calls a library, and writes what comes back.
//! Data goes to standard output, everything else to standard error. It exits with 0 when it is done, 1 for a negative
//! result (`verify` found damage, copies of the tour disagree), 2 for an error and 130 when it is interrupted.

mod args;
mod commands;
mod output;
mod progress;
mod tour;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use tidemill_bench::args::Cli;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    // Load tests have threads and runtimes of their own.
    if let Command::Bench(bench) = args.command {
        let (log, command) = (bench.log, bench.command);
        return tidemill_bench::commands::main(Cli { log, command });
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Planning recurses along expressions; a statement with thousands of terms is to be an answer, not a crash.
        .thread_stack_size(16 << 20)
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(async {
            // On a worker's stack, see above.
            let work = tokio::spawn(run(args.command));
            tokio::select! {
                outcome = work => outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())),
                _ = tokio::signal::ctrl_c() => Ok(Outcome::Interrupted),
            }
        }),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(Outcome::Done as u8),
        Err(error) => {
            let hint = if is_damage(&error) {
                "; verify lists all damage, --recover goes on behind it"
            } else {
                ""
            };
            let _ = writeln!(io::stderr(), "tidemill: {error:#}{hint}");
            ExitCode::from(2)
        }
    }
}

/// How a command ended, if not by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done = 0,
    Negative = 1,
    Interrupted = 130,
}

async fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Sql(args) => commands::sql::run(args).await,
        Command::Copy(args) => commands::copy::run(args).await,
        Command::Inspect(args) => commands::inspect::run(args).await,
        Command::Cat(args) => commands::cat::run(args).await,
        Command::Verify(args) => commands::verify::run(args).await,
        Command::Reindex(args) => commands::reindex::run(args),
        Command::Salvage(args) => commands::salvage::run(args).await,
        Command::Tour(args) => tour::run(args).await,
        Command::Bench(_) => unreachable!("main has run it"),
    }
}

/// Whether whoever read our output stopped reading, as `head` does. That is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            // arrow's writers turn the error into text.
            || cause.to_string().contains("Broken pipe")
    })
}

/// Whether a file turned out to be damaged.
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
