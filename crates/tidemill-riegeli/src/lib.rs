//! Reads and writes files of records: Riegeli/records, ArrayRecord and TFRecord, with recovery after damage, and their messages as
//! Arrow columns. It needs no C++, no protoc and no async runtime.
//!
//! ```
//! use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};
//!
//! fn main() -> tidemill_riegeli::Result<()> {
//!     let mut writer = RecordWriter::new(Vec::new(), "transpose,zstd:3".parse::<WriterOptions>()?)?;
//!     for record in ["first", "second", "third"] {
//!         writer.write_record(record.as_bytes())?;
//!     }
//!     let file = writer.close()?;
//!
//!     let mut reader = RecordReader::from_bytes(&file)?;
//!     while let Some(record) = reader.read_record()? {
//!         println!("{}", String::from_utf8_lossy(record));
//!     }
//!     reader.close()?;
//!     Ok(())
//! }
//! ```
//!
//! A file is a sequence of chunks, each with a number of records, interrupted by a block header every 64 KiB so that a reader
//! can find its way after damage. [`RecordReader`] returns records as slices of the decoded chunk; [`RecordWriter`] writes what
//! the C++ library would have written. Modules are named as the format names its parts.
//!
//! # What works
//!
//! | | read | write | is in |
//! |---|---|---|---|
//! | Riegeli/records: simple and transposed chunks, every codec | yes | yes, but for `rbrotli` | [`RecordReader`], [`RecordWriter`] |
//! | messages of any type as Arrow columns | yes | no | [`columns`], [`MessageSchema`] |
//! | Arrow rows as messages that any protobuf tool reads | yes | yes | [`rows`] |
//! | ArrayRecord | yes | yes | [`array_record`] |
//! | TFRecord, also gzip and zlib | yes | yes | [`tfrecord`] |
//! | `tensorflow.Example`, `SequenceExample` as columns | yes | no | [`tensorflow_example`] |
//! | damage passed and listed, files verified | yes | | [`ReaderOptions::recover`], [`verify()`] |
//! | asynchronous input and output | no | no | |
//!
//! The feature `arrow`, which is on by default, has the columns: [`columns`], [`rows`], [`tensorflow_example`] and [`MessageSchema`]. All
//! else works without it, and without Arrow.
//!
//! Sources: google/riegeli, `doc/riegeli_records_file_format.md`, and the sources of the C++ library where that document is silent.

#![cfg_attr(
    not(feature = "arrow"),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        reason = "only the columns use it"
    )
)]

pub mod array_record;
mod block_header;
mod chunk_decoder;
mod chunk_encoder;
mod chunk_header;
mod chunk_reader;
mod chunk_writer;
mod codec;
#[cfg(feature = "arrow")]
pub mod columns;
mod encoding_pool;
mod error;
mod field_projection;
mod flush;
mod foreign_file;
mod hash;
#[cfg(feature = "arrow")]
mod message_schema;
mod metadata;
mod options_parser;
mod ordered_pool;
mod reader;
mod reader_options;
mod record_format;
mod record_index;
mod record_position;
mod record_values;
#[cfg(feature = "arrow")]
pub mod rows;
mod simple_chunk;
mod skipped_region;
mod source;
#[cfg(feature = "arrow")]
pub mod tensorflow_example;
pub mod tfrecord;
mod transposed_chunk;
mod varint;
mod verify;
mod window;
mod wire_format;
mod writer;
mod writer_options;

/// The crates whose types stand in public signatures, in their versions.
#[cfg(feature = "arrow")]
pub use arrow_array;
#[cfg(feature = "arrow")]
pub use arrow_schema;
pub use block_header::{BLOCK_HEADER_SIZE, BLOCK_SIZE, BlockHeader};
pub use chunk_decoder::ChunkDecoder;
pub use chunk_encoder::{ChunkEncoder, EncodedChunk};
pub use chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType, MAX_NUM_RECORDS};
pub use chunk_reader::{Chunk, ChunkReader};
pub use chunk_writer::ChunkWriter;
pub use codec::{Compression, CompressionType};
pub use error::{
    ArrayRecordProblem, Corrupt, Damage, Error, FileName, Frame, MessageError, Result, RowError, RowProblem,
};
pub use field_projection::{Field, FieldProjection};
pub use flush::{Durable, FlushType};
pub use foreign_file::foreign_file;
pub use hash::hash;
#[cfg(feature = "arrow")]
pub use message_schema::{FieldKind, MessageField, MessageSchema};
pub use metadata::{RecordType, RecordsMetadata};
pub use prost;
pub use prost_types;
pub use reader::{ChunkSummary, RecordReader};
pub use reader_options::ReaderOptions;
pub use record_format::RecordFormat;
pub use record_index::RecordIndex;
pub use record_position::RecordPosition;
pub use record_values::RecordSlices;
pub use skipped_region::SkippedRegion;
pub use source::{BytesSource, FileSource, SharedSource, Source, SourceReader, StreamSource};
pub use transposed_chunk::{FieldSize, FieldSizes};
pub use verify::{Verification, verify, verify_source, verify_source_within};
pub use writer::{FutureRecordPosition, RecordWriter};
pub use writer_options::WriterOptions;

/// The examples of the README are run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
