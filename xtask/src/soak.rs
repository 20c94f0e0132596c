//! `cargo xtask soak`: servers that lie to the clients, then faults, kills and signals around the command line as it ships, for as long as
//! one likes.
//!
//! The same tests run for seconds in `cargo xtask test` (`hostile_nodes` of `tidemill-cql`, `hostile_servers` of `tidemill-clickhouse`,
//! `crates/tidemill/tests/soak`). They begin at another place each time and print the seed by which a failure comes again:
//! `TIDEMILL_SOAK_SEED`.

use anyhow::Result;
use clap::Args as ClapArgs;

use crate::{
    cargo::{cargo, run as run_command},
    workspace::Workspace,
};

/// For how long.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Minutes that all take: a quarter each for Cassandra's and ClickHouse's client, the rest for the command line.
    #[arg(long, default_value_t = 1)]
    minutes: u32,
    /// Try the clients only, which needs no DataFusion.
    #[arg(long)]
    clients: bool,
}

/// Runs them; true when nothing was lost or mixed.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    let of_client = args.minutes * 60 / 4;
    let mut command = cargo(&workspace.root);
    // All leaf crates, so that none of their dependencies is built with other features.
    command
        .args(["test", "--test", "hostile_nodes", "--test", "hostile_servers"])
        .args(workspace.leaves().iter().flat_map(|name| ["-p", name]))
        .args(["--", "--nocapture"])
        .env("TIDEMILL_SOAK_SECONDS", of_client.to_string());
    let holds = run_command(&mut command)?;
    if args.clients || !holds {
        return Ok(holds);
    }
    let mut command = cargo(&workspace.root);
    // All crates over DataFusion, so that it is not built with other features.
    command
        .args(["test", "--release", "--test", "soak"])
        .args(workspace.heavy().iter().flat_map(|name| ["-p", name]))
        .args(["--", "--nocapture"])
        .env("TIDEMILL_SOAK_SECONDS", (args.minutes * 60 - 2 * of_client).to_string());
    run_command(&mut command)
}
