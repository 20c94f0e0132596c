//! `libtidemill_adbc.so`: one SQL over every store, for programs that speak ADBC, and the engine of `libace.so` for joins.
//!
//! - [`TidemillDriver`] is the driver that a driver manager loads, by the symbol `AdbcTidemillInit` or `AdbcDriverInit`. A database is a
//!   folder or a database of a server, a connection is a [`Session`](tidemill_sql::Session) over it, a statement is one text at a time.
//! - `TidemillAnalyticalQuery` is for `libace.so` alone: it lends tables for one query (`tidemill-analytical`).
//!
//! Statements run on the database's runtime, with a thread per processor. Files are read on a separate pool, a few batches ahead of the
//! consumer.
//!
//! `docs/adbc.md` in the project lists the options, and shows it from Python, Go and R.
//!
//! # What this crate does not do
//!
//! It has no logic of tables or of SQL: it only maps options, parameters, results and errors.

mod analytical;
mod cancel;
mod connection;
mod database;
mod driver;
mod error;
mod export;
mod info;
mod objects;
mod outcome;
mod parameters;
mod process_bound;
mod rows;
mod statement;

pub use connection::TidemillConnection;
pub use database::TidemillDatabase;
pub use driver::TidemillDriver;
pub use statement::TidemillStatement;
