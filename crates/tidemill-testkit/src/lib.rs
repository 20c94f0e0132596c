//! What the tests of several crates share: the corpus, real servers, Python packages and Go modules.
//!
//! A test that needs a server asks for it and returns when it cannot be had:
//!
//! ```no_run
//! use tidemill_testkit::ClickHouse;
//!
//! let Some(server) = ClickHouse::need() else { return };
//! assert_eq!(server.query("SELECT 1").expect("an answer"), "1\n");
//! ```
//!
//! [`Python`] is had in the same way, with packages from PyPI, an object store ([`S3`]), and [`GoModule`] with the modules that it requires.
//!
//! Such a test does not pass silently: [`need`] writes its name and the reason past the test runner's capture, and into
//! the file named by [`NOT_RUN_ENV`], from which `cargo xtask test` makes its list. The servers themselves are put into a
//! cache folder ([`cache_folder`]) by `cargo xtask provision`; each start has a data folder and ports of its own, and the
//! server dies with the value that stands for it.
//!
//! This crate is for tests and chores only: nothing that ships depends on it, and it knows no format and no protocol
//! beyond what it takes to see that a server answers.

mod browser;
mod cassandra;
mod chdb;
mod clickhouse;
mod corpus;
pub mod debian;
mod error;
mod go;
mod hostile_http;
mod installation;
mod jar;
mod mariadb;
mod need;
mod no_storage;
mod npm;
mod odbc;
mod postgres;
mod process;
mod python;
mod s3;
mod soak;

pub use browser::Browser;
pub use cassandra::Cassandra;
pub use chdb::Chdb;
pub use clickhouse::{ClickHouse, ServerPem};
pub use corpus::{corpus, corpus_bytes};
pub use error::ServerError;
pub use go::GoModule;
pub use hostile_http::{HostileHttp, Misbehaviour};
pub use installation::{Installation, Server, cache_folder, java};
pub use jar::jar;
pub use mariadb::MariaDb;
pub use need::{NOT_RUN_ENV, lacks, need};
pub use no_storage::{NoStorage, Reply};
pub use npm::npm_package;
pub use odbc::PsqlOdbc;
pub use postgres::Postgres;
pub use python::Python;
pub use s3::S3;
pub use soak::{Chance, soak_time};
