//! Typed rows: Arrow record batches as protobuf messages, one message a row, that any protobuf tool can read.
//!
//! The message type is made from the Arrow schema: a proto2 message with one optional field for each column, numbered in
//! schema order from 1 (the reserved range 19000 to 19999 is left out). A null is an absent field; every other value is
//! written. The descriptor is stored in the file's metadata, as `record_type_name` and `file_descriptor`, and beside it the
//! Arrow schema itself, so that the columns come back with their types.
//!
//! | Arrow type | field type | value |
//! |---|---|---|
//! | Boolean | bool | |
//! | Int8, Int16, Int32 | sint32 | zigzag: small negative numbers stay small |
//! | Int64 | sint64 | zigzag |
//! | UInt8, UInt16, UInt32 | uint32 | |
//! | UInt64 | uint64 | |
//! | Float32, Float64 | float, double | |
//! | Utf8, LargeUtf8, Utf8View | string | |
//! | Binary, LargeBinary, BinaryView, FixedSizeBinary | bytes | |
//! | Decimal128 of precision up to 18 | sint64 | unscaled |
//! | Decimal128 of more digits | bytes | unscaled: 16 bytes, two's complement, big-endian |
//! | Date32, Date64 | sint32, sint64 | days, milliseconds since 1970-01-01 |
//! | Time32, Time64 | sint32, sint64 | in the unit of the type |
//! | Timestamp, Duration | sint64 | in the unit of the type; the zone is in the Arrow schema |
//!
//! | Struct | a message of its own | a field for each child, as in a row |
//! | List, LargeList, FixedSizeList of items without nulls, itself without nulls | repeated | packed for numbers |
//! | the same with nulls | a message of `items` and `nulls` | so null differs from empty; `nulls` has the positions of null items, which are zero or empty in `items` |
//! | Map | as a list of its entries | |
//! | Dictionary | as its values | comes back as them |
//!
//! Fields may come in any order, the last one of a number wins, and unknown ones are skipped, as protobuf demands. A file
//! without an Arrow schema in its metadata reads as one column `record` of type Binary.
//!
//! Of transposed files a scan decompresses only the columns that it needs. Unions and run-end encoded columns have no mapping.

mod decode;
mod descriptor;
mod encode;
mod field_writer;
mod file;
mod mapping;
mod message_reader;
mod scalar_buffer;

pub use decode::RowDecoder;
pub use encode::RowWriter;
pub use file::{RowBatches, RowFile, RowFilter, RowScan};
