//! The tests of tidemill-cql in one program, which is compiled and linked once.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod cluster;
mod connection;
mod guarded;
mod tables;
mod values;
