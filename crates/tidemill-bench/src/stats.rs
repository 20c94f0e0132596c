//! What is measured, and how sure it is.
//!
//! A worker keeps a [`Recorder`] of its own: integers and histograms, no locks. Once an interval it gives a [`Chunk`]; the
//! chunks of all workers merge into a [`Sample`], and samples into a [`Summary`], whose size does not grow with time. Its
//! [`Results`] are estimates with intervals of confidence, and [`comparison`] says whether two of them differ.
//!
//! Times are recorded in nanoseconds and reported in milliseconds. The methods and their sources are in `docs/statistics.md`.

mod batches;
mod client;
pub mod comparison;
mod estimate;
mod histogram;
mod quantile;
mod recorder;
mod results;
mod sample;
mod series;
mod summary;
mod threshold;

pub use client::{ProcessClock, cores};
pub use estimate::{CONFIDENCE, Estimate};
pub use histogram::Latencies;
pub use quantile::{PERCENTS, Percentile};
pub use recorder::{Chunk, FunctionId, Recorder, StatementId};
pub use results::{Aborted, ClientLoad, Distribution, FunctionResults, MetricResults, Results, StatementResults};
pub(crate) use sample::add_counts;
pub use sample::{Counts, FunctionSample, MetricSample, Sample, StatementSample, Timings};
pub use series::Levels;
pub(crate) use series::Series;
pub use summary::Summary;
pub(crate) use threshold::Threshold;
