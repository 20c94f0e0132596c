//! `tidemill completions` and `tidemill man`: files that packages install with the program.

use anyhow::Context;
use clap::CommandFactory;

use crate::Outcome;
use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::terminal::Output;

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    clap_complete::generate(args.shell, &mut Args::command(), "tidemill", &mut Output::new());
    Outcome::Done
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Outcome> {
    let folder = &args.folder;
    clap_mangen::generate_to(Args::command().disable_help_subcommand(true), folder)
        .with_context(|| folder.display().to_string())?;
    Ok(Outcome::Done)
}
