//! What the benchmarks against other libraries share: how they measure, the records they use, and how the rivals are driven.

pub mod clock;
mod comparison;
pub mod cpp;
pub mod payload;
pub mod records;

pub use comparison::Comparison;
