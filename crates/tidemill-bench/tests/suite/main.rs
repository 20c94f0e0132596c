//! The tests of tidemill-bench in one program, which is compiled and linked once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

mod clickhouse;
mod cluster;
mod command_lines;
mod common;
mod cql;
mod embedded;
mod exports;
mod guarded;
mod hostile;
mod latte;
mod layout;
mod reports;
mod script;
mod simulation;
mod sql_servers;
mod statistics;
mod steps;
mod urls;
