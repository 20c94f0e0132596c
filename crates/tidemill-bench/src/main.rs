//! The binary `tidemill-bench`.

use std::process::ExitCode;

use clap::Parser as _;
use tidemill_bench::args::Cli;
use tidemill_bench::commands;

fn main() -> ExitCode {
    commands::main(Cli::parse())
}
