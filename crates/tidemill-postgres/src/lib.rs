//! PostgreSQL: tables read and filled as Arrow columns by `COPY` in its binary format.
//!
//! A [`Client`] finds a [`Table`]; a [`Read`] gives the rows of a query, a [`Fill`] writes rows into a table, and a [`Session`] runs
//! statements of one's own. [`arrow_type`] is the table of types, and [`wire`] is for programs that are servers themselves.
//!
//! ```no_run
//! # async fn example() -> Result<(), tidemill_postgres::Error> {
//! use tidemill_postgres::{Client, Options, Read};
//!
//! let (options, _) = Options::parse("postgres://ann:secret@localhost/shop")?;
//! let client = Client::connect(options).await?;
//! let table = client.table(None, "orders").await?;
//! let mut batches = Read::begin(&client, "orders", &table.select(&[0, 1]), None).await?;
//! while let Some(batch) = batches.next().await? {
//!     println!("{} rows", batch.num_rows());
//! }
//! # Ok(()) }
//! ```
//!
//! What this crate does not do: it plans no query, and it knows nothing of replication and notifications.

pub mod arrow_type;
mod binary_copy;
mod bounded;
mod calendar;
mod client;
mod connection;
mod data_type;
mod decode;
mod dedicated;
mod encode;
mod error;
mod fill;
mod new_table;
mod numeric;
mod options;
mod read;
mod session;
pub mod sql_text;
mod statements;
mod table;
mod tls;
pub mod wire;

pub use arrow_array;
pub use arrow_schema;
pub use binary_copy::{CopyReader, copy_of_rows, rows_of_copy};
pub use client::Client;
pub use data_type::Type;
pub use dedicated::{Dedicated, Outcome, Parameter, Prepared};
pub use error::{Error, Result, ServerError};
pub use fill::{Fill, IfThere};
pub use new_table::{NewColumn, NewIndex, NewTable};
pub use options::{Options, Path, TlsOptions, Unrepresentable};
pub use read::{BatchLimits, Read};
pub use session::{Answer, Rows, Session};
pub use table::{Column, Table, TableKind};
pub use tidemill_client::with_causes;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Whether a [`Fill`] takes arrays of an Arrow type for a column of a type. Each value is looked at when it is written.
#[must_use]
pub fn accepts(data_type: &arrow_schema::DataType, typ: &Type) -> bool {
    encode::accepts(&arrow_array::new_empty_array(data_type), typ)
}
