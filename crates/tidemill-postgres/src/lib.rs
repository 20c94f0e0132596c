//! PostgreSQL: tables read and filled as Arrow columns by `COPY` in its binary format.

pub use arrow_array;
pub use arrow_schema;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
