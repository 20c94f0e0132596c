//! File metadata: what the records are.
//!
//! Source: google/riegeli, `riegeli/records/records_metadata.proto`. Messages of other tools may hold fields that are not
//! named here; they are left alone by keeping the serialized form.

use prost::Message;
use prost_types::FileDescriptorProto;

/// Information about a file, which helps to interpret its records.
#[derive(Clone, PartialEq, Message)]
pub struct RecordsMetadata {
    /// What the file holds, for people.
    #[prost(string, optional, tag = "1")]
    pub file_comment: Option<String>,
    /// If records are messages of one type, its full name.
    #[prost(string, optional, tag = "2")]
    pub record_type_name: Option<String>,
    /// Descriptors of that type and what it depends on, dependencies first.
    #[prost(message, repeated, tag = "3")]
    pub file_descriptor: Vec<FileDescriptorProto>,
    /// The options that the file was written with. Not needed to read it.
    #[prost(string, optional, tag = "4")]
    pub record_writer_options: Option<String>,
    /// Number of records, as a hint.
    #[prost(int64, optional, tag = "5")]
    pub num_records: Option<i64>,
    /// Extension of this library: the Arrow schema of typed rows, as an IPC stream without batches (Arrow columnar format,
    /// "IPC Streaming Format"). The range from 1000 is free for extensions; 29801 is `0x7469`, which spells `ti`.
    #[prost(bytes = "vec", optional, tag = "29801")]
    pub arrow_schema: Option<Vec<u8>>,
}
