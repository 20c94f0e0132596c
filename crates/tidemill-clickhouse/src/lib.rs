//! ClickHouse without a detour: the native protocol and the files of `FORMAT Native`, with Arrow arrays as columns.
//!
//! A block of ClickHouse is a table of columns. Here it is a
//! record batch and the ClickHouse types of its columns, decoded once, straight into the buffers that Arrow keeps.

pub mod data_type;
mod error;
mod revision;

pub use data_type::DataType;
pub use error::{BlockError, Error, Result, ServerException};
pub use revision::Revision;
