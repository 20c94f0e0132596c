//! ClickHouse's native protocol and the files of `FORMAT Native`, with Arrow arrays as columns. There is a client for tokio, one for
//! programs without it, and readers and writers of files that need neither a server nor a runtime.
//!
//! A block of ClickHouse is a table of columns. Here it is a record batch and the ClickHouse types of its columns
//! ([`Block`]), decoded once, straight into the buffers that Arrow keeps. [`arrow_type`] has the table of types.
//!
//! Files of `FORMAT Native` need no server:
//!
//! ```
//! use tidemill_clickhouse::{Block, NativeReader, NativeWriter};
//! use tidemill_clickhouse::arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
//! use std::sync::Arc;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let batch = RecordBatch::try_from_iter([
//!         ("id", Arc::new(UInt64Array::from(vec![1, 2])) as ArrayRef),
//!         ("name", Arc::new(StringArray::from(vec!["ebb", "flow"]))),
//!     ])?;
//!     let mut file = NativeWriter::new(Vec::new());
//!     file.write(&Block::new(batch.clone())?)?;
//!
//!     let bytes = file.into_inner();
//!     for block in NativeReader::new(bytes.as_slice()) {
//!         assert_eq!(block?.batch, batch);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! | | |
//! |---|---|
//! | all types of ClickHouse 26.9 as Arrow, both ways | yes: [`arrow_type`] |
//! | files of `FORMAT Native` | yes: [`NativeReader`], [`NativeWriter`] |
//! | queries and inserts over tokio | yes: [`client`] |
//! | the same without tokio in the caller | yes: [`blocking`] |
//! | rows by serde | yes: [`rows`] |
//! | packets and frames without I/O | yes: [`connection`], [`packet`], [`frame`] |
//! | other formats of results | no |
//! | HTTP, SSH keys, interserver queries | no |
//!
//! The clients, [`client`] and [`blocking`], are the feature `client`, which is on by default. Without it there is no runtime, TLS or
//! socket, and all else works.

#![cfg_attr(
    not(feature = "client"),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        reason = "only the clients use it"
    )
)]

pub mod arrow_type;
mod block;
#[cfg(feature = "client")]
pub mod blocking;
pub mod calendar;
#[cfg(feature = "client")]
pub mod client;
mod column;
pub mod connection;
pub mod data_type;
pub mod dictionaries;
mod error;
pub mod frame;
#[cfg(feature = "client")]
mod insert_text;
mod native;
pub mod packet;
mod revision;
pub mod rows;
pub mod source;
pub mod sql_text;
pub mod wire;

/// The crates whose types stand in public signatures, in their versions.
pub use arrow_array;
pub use arrow_schema;
pub use block::{Block, BlockDecoder, BlockEncoder, BlockInfo};
pub use calendar::Calendar;
pub use column::Limits;
pub use data_type::DataType;
pub use error::{BlockError, Error, Result, RowError, ServerException};
pub use frame::Compression;
pub use native::{NativeReader, NativeWriter};
pub use revision::Revision;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
