//! What the clients of ClickHouse and Cassandra have in common: [TLS](tls) by PEM, the [keys] of URLs and their values, and
//! [errors with their causes](with_causes).
//!
//! It has no runtime and opens no file or socket: names of files are the clients' business.

mod causes;
pub mod keys;
pub mod tls;

pub use causes::with_causes;
