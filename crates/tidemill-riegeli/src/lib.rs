//! Riegeli/records files: reader, writer, recovery, and typed Arrow rows in protobuf records.
//!
//! A file is a sequence of chunks, each with a number of records, interrupted by a block header every 64 KiB so that a reader
//! can find its way after damage. [`RecordReader`] lends records as slices of the decoded chunk; [`RecordWriter`] writes what
//! the C++ library would have written; [`columns`] and [`rows`] read messages as Arrow columns. Modules are named as the format
//! names its parts.
//!
//! Sources: google/riegeli, `doc/riegeli_records_file_format.md`, and the sources of the C++ library where that document is
//! silent; `docs/formats/riegeli.md` of this project has both in one place.
//!
//! Not here: asynchronous input and output.

pub mod array_record;
mod block_header;
mod chunk_decoder;
mod chunk_encoder;
mod chunk_header;
mod chunk_reader;
mod chunk_writer;
mod codec;
pub mod columns;
mod encoding_pool;
mod error;
mod field_projection;
mod flush;
mod foreign_file;
mod hash;
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
pub mod rows;
mod simple_chunk;
mod skipped_region;
mod source;
pub mod tensorflow_example;
pub mod tfrecord;
mod transposed_chunk;
mod varint;
mod verify;
mod window;
mod wire_format;
mod writer;
mod writer_options;

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
pub use message_schema::{FieldKind, MessageField, MessageSchema};
pub use metadata::{RecordType, RecordsMetadata};
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
