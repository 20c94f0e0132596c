//! Load tests: Latte's workloads, three kinds of target, honest latencies.
//!
//! A workload is a script ([`script`]) whose functions get a [`context`] to ask a [`target`] with; [`run`] calls them on a schedule.
//! What is measured is in [`stats`]: recorders without locks, one per worker, merged each interval into a sample, and samples
//! into a summary of constant size. What is kept is in [`report`]: lines of JSON, written while the run goes.

pub mod args;
pub mod commands;
pub mod context;
mod error;
pub mod hdr;
mod log;
pub mod output;
pub mod plot;
mod progress;
pub mod prometheus;
pub mod report;
pub mod run;
pub mod script;
pub mod stats;
pub mod target;

pub use error::{Error, Result};
