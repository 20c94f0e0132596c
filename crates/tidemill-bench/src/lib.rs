//! Load tests: Latte's workloads, three kinds of target, honest latencies.
//!
//! The crate is a program, `tidemill-bench`; the library is for those that have it as a command of their own ([`args`], [`commands`]) and for those
//! that read its reports ([`report`], [`stats`]):
//!
//! ```no_run
//! use tidemill_bench::report::Report;
//!
//! let report = Report::load("tidemill-bench-20300131-120000.json".as_ref())?;
//! for run in &report.runs {
//!     println!("{} cycles in {} s", run.results.cycles, run.results.elapsed_s);
//! }
//! # Ok::<(), tidemill_bench::Error>(())
//! ```
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

pub use error::{Error, Result};

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
