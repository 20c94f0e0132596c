//! The tests of tidemill-clickhouse in one program, which is compiled and linked once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

mod any_type;
mod chdb;
mod client;
mod client_failures;
mod client_pool;
mod client_rows;
mod client_tables;
mod client_tls;
mod dictionaries;
mod generate;
mod goldens;
mod hostile;
mod impatient;
mod kinds;
mod kinds_chdb;
mod packets;
mod predecessor;
mod protocol_page;
mod ranges;
mod roundtrip;
mod rows;
mod rows_chdb;
mod session;
mod sharing;
mod statements;
mod table_read;
mod types;
mod waiting;
