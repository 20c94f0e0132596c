//! Tables of Cassandra (and other servers of CQL) as Arrow columns, over the `scylla` driver. They are read in ranges of tokens in
//! parallel, or by the partitions that are wanted, and filled from record batches.
//!
//! A [`Client`] finds a [`Table`]; a [`Scan`] reads it in parallel over ranges of tokens, and an [`Insert`] fills it. Values go
//! between the pages of the protocol and Arrow's buffers without a value in between ([`arrow_type`] has the table of types).
//!
//! ```no_run
//! use std::sync::Arc;
//! use tidemill_cql::{Client, Options, Rows, Scan};
//!
//! #[tokio::main]
//! async fn main() -> tidemill_cql::Result<()> {
//!     let (options, _) = Options::parse("cql://localhost:9042")?;
//!     let client = Client::connect(options).await?;
//!     let table = Arc::new(client.table("shop", "orders").await?);
//!     let mut batches = Scan::new(table, &[0, 1], Rows::All)?.batches();
//!     while let Some(batch) = batches.next().await? {
//!         println!("{} rows", batch.num_rows());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! | | |
//! |---|---|
//! | all types of CQL 4, both ways | yes: [`arrow_type`] |
//! | reading all rows, ranges of tokens or partitions | yes: [`Scan`] |
//! | filling tables | yes: [`Insert`] |
//! | prepared statements that bypass the driver, for load tests | yes: [`connection`] |
//! | guarding any session of the driver from its nodes | yes: [`relay`] |
//! | ScyllaDB | partly: not tried, its ports for each shard are not used |
//! | SQL; changes and deletes of rows; making types, indexes and keyspaces | no |

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
mod scan;
mod table;
mod table_comment;
pub mod tls;
mod towards_token;
pub mod vint;

/// The crates whose types stand in public signatures, in their versions.
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
pub use tokio_rustls::rustls;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
