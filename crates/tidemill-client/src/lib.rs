//! What the clients of ClickHouse, Cassandra, MySQL and PostgreSQL have in common: [TLS](tls) by PEM, [URLs](url), their [keys] and values,
//! and [errors with their causes](with_causes).
//!
//! It has no runtime and opens no file or socket: names of files are the clients' business.

pub mod keys;
pub mod tls;
pub mod url;

/// Its `ClientConfig` stands in public signatures, in this version.
pub use rustls;
pub use tidemill_trust::with_causes;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
