//! Load tests: Latte's workloads, three kinds of target, honest latencies.
//!
//! What is measured is in [`stats`]: recorders without locks, one per worker, merged each interval into a sample, and samples
//! into a summary of constant size. What is kept is in [`report`]: lines of JSON, written while the run goes.

pub mod commands;
mod error;
pub mod hdr;
pub mod output;
pub mod plot;
pub mod prometheus;
pub mod report;
pub mod stats;

pub use error::{Error, Result};
