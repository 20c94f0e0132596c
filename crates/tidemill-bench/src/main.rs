//! The binary `tidemill-bench`.

mod heap;

use std::process::ExitCode;

use clap::Parser as _;
use tidemill_bench::{args::Cli, commands};

fn main() -> ExitCode {
    let cli = Cli::parse();
    heap::one_for_each_worker(&cli.command);
    commands::main(cli)
}
