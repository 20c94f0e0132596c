//! Columns straight from messages: record batches of any protobuf message type, without generated code.
//!
//! ```no_run
//! use tidemill_riegeli::{FieldProjection, MessageSchema, ReaderOptions, RecordReader, columns::ColumnReader};
//!
//! let mut reader = RecordReader::open("requests.riegeli", &ReaderOptions::new())?;
//! let metadata = reader.records_metadata()?;
//! let set = prost_types::FileDescriptorSet { file: metadata.file_descriptor.clone() };
//! let schema = MessageSchema::new(&set, metadata.record_type_name())?;
//! let wanted: FieldProjection = "1,4.2".parse()?;
//! for batch in ColumnReader::new(reader, &schema.project(&wanted)) {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), tidemill_riegeli::Error>(())
//! ```
//!
//! In a transposed chunk the values of a field are stored together. They go from there into columns: the state machine that
//! would put messages together says which record each value is of, and buckets of other fields are not decompressed. Simple
//! chunks go field by field through the messages. Both give the same rows: the schema decides, as [`MessageSchema`] describes,
//! and not how a chunk is stored.
//!
//! Of a field that may occur once the last occurrence counts, and messages are merged, as protobuf demands. Unknown fields,
//! and fields of another wire type than the descriptor says, are passed over.
//!
//! Messages that are elsewhere than in a Riegeli file go into columns by [`MessageColumns`].
//!
//! Not here: rows whose Arrow schema is stored in the file, which [`rows`](crate::rows) reads and writes.

mod column;
mod fill;
mod messages;
mod plan;
mod reader;
mod transposed;

#[cfg(doc)]
use crate::MessageSchema;
pub use messages::MessageColumns;
pub use reader::ColumnReader;
