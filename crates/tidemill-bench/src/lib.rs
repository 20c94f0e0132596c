//! Load tests for Cassandra, ClickHouse, PostgreSQL, SQLite and xBase tables in this process: workloads are scripts as Latte 0.29 has
//! them. Cycles are due by an absolute schedule, and one that is late counts its wait.
//!
//! The crate is a program, `tidemill-bench`; the library is for programs that have it as a command of their own ([`args`], [`commands`])
//! and for those that read its reports ([`report`], [`stats`]):
//!
//! ```
//! use tidemill_bench::{args::Cli, clap::Parser as _, commands, report::Report};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let path = std::env::temp_dir().join(format!("first-{}.json", std::process::id()));
//!     let mut line = vec!["tidemill-bench", "run", "empty.rn", "mem:", "-d", "1000", "-q", "-o"];
//!     line.push(path.to_str().ok_or("a name that is not text")?);
//!     commands::main(Cli::parse_from(line));
//!
//!     for run in &Report::load(&path)?.runs {
//!         println!("{} cycles in {} s", run.results.cycles, run.results.elapsed_s);
//!     }
//!     std::fs::remove_file(&path)?;
//!     Ok(())
//! }
//! ```
//!
//! | | |
//! |---|---|
//! | Cassandra and what speaks its protocol | yes |
//! | ClickHouse, PostgreSQL, SQLite | yes |
//! | xBase tables of a folder or in memory | yes |
//! | scripts of Latte 0.29 and of its fork | yes |
//! | rates, Poisson arrivals, ramps, sines, steps of concurrency, a search for the highest rate | yes |
//! | comparisons of repeated runs, with the significance of each difference | yes |
//! | several machines in one run | partly: their reports can be merged |
//! | stores over HTTP | no |
//!
//! A workload is a script whose functions get a context to ask a target with; the run calls them on a schedule. What is measured is in
//! [`stats`]: recorders without locks, one per worker, merged each interval into a sample, and samples into a summary of constant size. What
//! is kept is in [`report`]: lines of JSON, written while the run goes.

pub mod args;
pub mod commands;
mod context;
mod error;
mod hdr;
mod log;
pub mod output;
mod plot;
mod progress;
mod prometheus;
pub mod report;
mod run;
mod script;
pub mod stats;
mod target;

/// The crates whose types and traits stand in public signatures, in their versions.
pub use arrow_array;
pub use chrono;
pub use clap;
pub use error::{Error, Result};

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
