//! `cargo xtask soak`: faults, kills and signals around the command line as it ships, for as long as one likes.
//!
//! The same tests run for seconds in `cargo xtask test` (`crates/tidemill/tests/soak`). They begin at another place each time and print
//! the seed by which a failure comes again: `TIDEMILL_SOAK_SEED`.

use anyhow::Result;
use clap::Args as ClapArgs;

use crate::{
    cargo::{cargo, run as run_command},
    workspace::Workspace,
};

/// For how long.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Minutes that each test takes.
    #[arg(long, default_value_t = 1)]
    minutes: u32,
}

/// Runs them; true when nothing was lost or mixed.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    let mut command = cargo(&workspace.root);
    // All crates over DataFusion, so that it is not built with other features.
    command
        .args(["test", "--release", "--test", "soak"])
        .args(workspace.heavy().iter().flat_map(|name| ["-p", name]))
        .args(["--", "--nocapture"])
        .env("TIDEMILL_SOAK_SECONDS", (args.minutes * 60).to_string());
    run_command(&mut command)
}
