//! ArrayRecord files: Riegeli/records files with an index, in which record *n* is found at once.
//!
//! The chunks of records are followed by a footer chunk, whose records say where each chunk begins and how many records it
//! has, and in the last 64 KiB by a postscript chunk that says where the footer is. Each chunk holds `group_size` records, one
//! unless told otherwise.
//!
//! Source: google/array_record, `cpp/layout.proto`, `cpp/array_record_writer.cc` and `cpp/array_record_reader.cc`.
//!
//! ```
//! use tidemill_riegeli::array_record::{ArrayRecordReader, ArrayRecordWriter, ArrayRecordWriterOptions};
//!
//! let options: ArrayRecordWriterOptions = "group_size:10,zstd:3".parse()?;
//! let mut writer = ArrayRecordWriter::new(Vec::new(), options)?;
//! for number in 0..1_000 {
//!     writer.write_record(format!("record {number}").as_bytes())?;
//! }
//! let file = writer.close()?;
//!
//! let mut reader = ArrayRecordReader::from_bytes(file)?;
//! assert_eq!(reader.len(), 1_000);
//! assert_eq!(reader.get(777)?, Some(&b"record 777"[..]));
//! assert_eq!(reader.get(1_000)?, None);
//! # Ok::<(), tidemill_riegeli::Error>(())
//! ```
//!
//! A [`RecordReader`](crate::RecordReader) reads such a file too, and its footer and postscript as further records, unless
//! [`ReaderOptions::stop_at_footer`](crate::ReaderOptions::stop_at_footer) keeps them out.
//!
//! Nothing is appended to these files, by the original neither.

mod ending;
mod footer;
mod options;
mod reader;
mod writer;

pub(crate) use self::{
    ending::{Ending, LostPostscript, find_ending, may_be_index},
    footer::{ChunkOfRecords, IndexChunk, disagreements},
};
pub use self::{options::ArrayRecordWriterOptions, reader::ArrayRecordReader, writer::ArrayRecordWriter};
