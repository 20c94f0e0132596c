//! PostgreSQL: tables read and filled as Arrow columns by `COPY` in its binary format.

pub mod arrow_type;
mod bounded;
mod calendar;
mod client;
mod connection;
mod data_type;
mod decode;
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

pub use arrow_array;
pub use arrow_schema;
pub use client::Client;
pub use data_type::Type;
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
