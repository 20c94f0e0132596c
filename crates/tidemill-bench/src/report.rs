//! What is kept of a run, in lines of JSON.
//!
//! The first line says what was run, then comes a line for each sample, then one with the results; `--repeat` continues with
//! the samples of the next run. Every line is written at once, so a killed run leaves a report of all but its last interval.
//! The schema is in `docs/bench-report.md`.

mod config;
mod html;
mod latte;
mod latte_text;
mod merge;
mod quantities;
mod reader;
mod rows;
mod steps;
mod text;
mod writer;

pub use config::{RunConfig, WeightedFunction};
pub use html::html;
pub(crate) use latte_text::{SAMPLES, latte_sample, write_latte_text};
pub use merge::merge;
pub(crate) use quantities::percentile_name;
pub use quantities::{Better, Quantity, Scope, quantities};
pub use reader::{Report, Run, Visitor};
pub use rows::{Compared, SampleRows, compared, rows};
pub(crate) use text::local_time;
pub use text::write_text;
pub use writer::ReportWriter;

/// The version of the schema, in the first line.
pub const VERSION: u32 = 1;
