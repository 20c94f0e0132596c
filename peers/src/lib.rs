//! What the benchmarks against other libraries share: how they measure, the records they use, and how the rivals are driven.

pub mod clickhouse;
pub mod clock;
pub mod codec_limit;
mod comparison;
pub mod cpp;
pub mod figures;
pub mod gates;
pub mod payload;
pub mod process;
pub mod records;
pub mod xbase;

pub use comparison::Comparison;
