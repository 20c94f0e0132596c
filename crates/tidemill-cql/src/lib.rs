//! Cassandra: tables as Arrow columns over the `scylla` driver, and the connection that load tests use.
//!
//! A [`Client`] finds a [`Table`]; a [`Scan`] reads it in parallel over ranges of tokens, and an [`Insert`] fills it. Values go
//! between the pages of the protocol and Arrow's buffers without a value in between ([`arrow_type`] has the table of types).
//!
//! ```no_run
//! # async fn example() -> Result<(), tidemill_cql::Error> {
//! use std::sync::Arc;
//! use tidemill_cql::{Client, Options, Rows, Scan};
//!
//! let (options, _) = Options::parse("cql://localhost:9042")?;
//! let client = Client::connect(options).await?;
//! let table = Arc::new(client.table("shop", "orders").await?);
//! let mut batches = Scan::new(table, &[0, 1], Rows::All)?.batches();
//! while let Some(batch) = batches.next().await? {
//!     println!("{} rows", batch.num_rows());
//! }
//! # Ok(()) }
//! ```
//!
//! What this crate does not do: it knows no SQL and plans no statement, it changes and deletes no rows, and it makes no
//! user-defined types, indexes or keyspaces.

pub mod arrow_type;
mod client;
pub mod connection;
pub mod cql_text;
pub mod decimal;
mod decode;
mod encode;
mod error;
mod insert;
mod options;
pub mod relay;
mod remembered;
mod scan;
mod table;
pub mod tls;
mod towards_token;
pub mod vint;

pub use arrow_array;
pub use arrow_schema;
pub use client::Client;
pub use decode::array_of_cells;
pub use encode::{accepts, cells_of_array};
pub use error::{Error, Result};
pub use insert::Insert;
pub use options::{Options, Path, TlsOptions};
pub use scan::{Batches, GroupValue, Rows, Scan};
pub use scylla;
pub use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};
pub use table::{Role, Table, TableColumn};
pub use tidemill_client::with_causes;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
