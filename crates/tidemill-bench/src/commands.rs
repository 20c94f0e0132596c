//! The commands, a file each.

mod edit;
pub mod export;
pub mod hdr;
pub mod list;
mod load;
pub mod plot;
mod run;
mod schema;
pub mod show;
mod version;

use std::error::Error as _;
use std::io::{ErrorKind, stdout};
use std::process::ExitCode;

use tidemill_trust::printable;

use crate::args::{Cli, Command};
use crate::error::{Error, Result};
use crate::log;

/// Does what the command line says, and says what went wrong. Ends with 0 when it is done, with 1 when a run measured errors, with 2 when it could
/// not be done, and with 130 when it was interrupted.
pub fn main(cli: Cli) -> ExitCode {
    match log::begin(&cli.log).and_then(|()| dispatch(&cli.command)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", printable(&error.to_string()));
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  because: {}", printable(&error.to_string()));
                cause = error.source();
            }
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Edit(args) => edit::edit(args)?,
        Command::Schema(args) => schema::schema(args)?,
        Command::Load(args) => load::load(args)?,
        Command::Run(args) => return run::run(args),
        Command::Show(args) => printed(show::show(args, &mut stdout().lock()))?,
        Command::List(args) => printed(list::list(args, &mut stdout().lock()))?,
        Command::Plot(args) => printed(plot::plot(args, &mut stdout().lock()))?,
        Command::Hdr(args) => printed(hdr::hdr(args, &mut stdout().lock()))?,
        Command::Export(args) => printed(export::export(args, &mut stdout().lock()))?,
        Command::Version(args) => printed(version::version(*args, &mut stdout().lock()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The reader of the output may stop early, as `head` does.
fn printed(result: Result<()>) -> Result<()> {
    match result {
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
