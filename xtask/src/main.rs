//! The project's own chores, run as `cargo xtask …`.
//!
//! Each chore is a module and does its own set-up, so that a fresh clone needs nothing but a Rust toolchain. What a chore
//! cannot have (a server, an installed tool) it says in one line and goes on where that is honest; `CI=true` turns what
//! was left out into a failure.
//!
//! Nothing here ships: a rule about the product belongs into the product's own tests, a rule about the sources into
//! [`tidy`].

mod bench;
mod cargo;
mod check;
mod command_line;
mod dist;
mod fuzz;
mod package;
mod provision;
mod soak;
mod test;
mod tidy;
mod wheel;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use workspace::Workspace;

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every test, after fetching the servers that some of them need.
    Test(test::Args),
    /// The inner loop for one crate: format, lints, tests.
    Check(check::Args),
    /// Check the design's rules against the sources and the dependency graph.
    Tidy,
    /// Fetch the servers that the tests talk to into a cache folder, without root.
    Provision,
    /// Run the benchmarks of the leaf crates.
    Bench(bench::Args),
    /// Run the fuzz targets, seeded from the corpus.
    Fuzz(fuzz::Args),
    /// Try the clients with servers that lie; let system calls of the command line fail, kill it, and look at what is left.
    Soak(soak::Args),
    /// Write docs/command-line.md from what the program prints.
    CommandLine(command_line::Args),
    /// Build `libace.so` and `tidemill-bench` as they ship.
    Dist(dist::Args),
    /// Make a Debian package and an archive of the command line, the libraries and the service, and try them.
    Package(package::Args),
}

fn main() -> ExitCode {
    match fuzz::compile().unwrap_or_else(|| run(Cli::parse())) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// 0 is done, 1 is a negative result (a test failed, a rule is broken), an `Err` becomes 2.
fn run(cli: Cli) -> Result<ExitCode> {
    let workspace = Workspace::load()?;
    let good = match cli.chore {
        Chore::Test(args) => test::run(&workspace, &args)?,
        Chore::Check(args) => check::run(&workspace, &args)?,
        Chore::Tidy => tidy::run(&workspace)?,
        Chore::Provision => provision::run()?,
        Chore::Bench(args) => bench::run(&workspace, &args)?,
        Chore::Fuzz(args) => fuzz::run(&workspace, &args)?,
        Chore::Soak(args) => soak::run(&workspace, &args)?,
        Chore::CommandLine(args) => command_line::run(&workspace, &args)?,
        Chore::Dist(args) => dist::run(&workspace, &args)?,
        Chore::Package(args) => package::run(&workspace, &args)?,
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
