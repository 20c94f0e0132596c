//! Cassandra: tables as Arrow columns over the `scylla` driver, and the connection that load tests use.

pub mod connection;
