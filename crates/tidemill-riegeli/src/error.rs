//! What can go wrong, as facts: which file, where, what was expected and what was found.

use std::{fmt, io, path::Path, sync::Arc};

#[cfg(feature = "arrow")]
use arrow_schema::{ArrowError, DataType};

#[cfg(feature = "arrow")]
use crate::tensorflow_example::ExampleError;
use crate::{ChunkType, RecordPosition, SkippedRegion};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written.
///
/// Kinds are kept apart by what the caller can do: a system error ([`Error::Io`]), damage that recovery can pass
/// ([`Error::Corrupt`], [`Error::Truncated`]), sound data that this version does not read ([`Error::Unsupported`]), a bound
/// set by an option ([`Error::Limit`]), and wrong use (the others).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{file}cannot {action}")]
    Io {
        /// The file, where one is known.
        file: FileName,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Bytes that break the format.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// The file ends inside a chunk.
    #[error("{file}truncated: the chunk at byte {chunk_begin} has {found} bytes{}", Expected(*expected))]
    Truncated {
        /// The file.
        file: FileName,
        /// Where the incomplete chunk begins.
        chunk_begin: u64,
        /// How many bytes of it there are.
        found: u64,
        /// How many there should be, when its header could be read.
        expected: Option<u64>,
    },
    /// Sound data of a kind that is not read yet.
    #[error("{file}{what} at byte {offset} cannot be read by this version")]
    Unsupported {
        /// The file.
        file: FileName,
        /// What it is.
        what: String,
        /// Where its chunk begins.
        offset: u64,
    },
    /// A record of a TFRecord file that does not hold together.
    #[error(transparent)]
    Frame(Box<Frame>),
    /// A file without a sound index of records.
    #[error("{file}not an ArrayRecord file: {problem}")]
    ArrayRecord {
        /// The file.
        file: FileName,
        /// What is wrong.
        problem: ArrayRecordProblem,
    },
    /// A size beyond a bound of [`ReaderOptions`](crate::ReaderOptions).
    #[error(
        "{file}{what} of the chunk at byte {offset} is {found} bytes, more than the limit of {limit}; if the file is \
         trusted, raise `max_expansion` or `max_chunk_size` of the reader options"
    )]
    Limit {
        /// The file.
        file: FileName,
        /// Which size.
        what: &'static str,
        /// Where the chunk begins.
        offset: u64,
        /// The bound.
        limit: u64,
        /// The size, or how much of it was seen.
        found: u64,
    },
    /// Writer options that do not parse or do not go together.
    #[error("option `{option}`: expected {expected}")]
    Option {
        /// The option, as written.
        option: String,
        /// What it may be.
        expected: String,
    },
    /// Text that is not a record position.
    #[error("`{text}` is not a record position: expected CHUNK/RECORD, two numbers")]
    Position {
        /// The text.
        text: String,
    },
    /// A path that does not lead to a field.
    #[error(
        "`{text}` is not a field: expected `root` or numbers up to 2^29 - 1 with points between, 0 only at the end"
    )]
    Field {
        /// The path.
        text: String,
    },
    /// A column whose type has no protobuf mapping.
    #[cfg(feature = "arrow")]
    #[error("column `{column}`: type {data_type} cannot be stored in a row; {hint}")]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        data_type: DataType,
        /// What to do instead.
        hint: &'static str,
    },
    /// A record that is not a row of the file's schema.
    #[error(transparent)]
    Row(Box<RowError>),
    /// A message that is not of its type.
    #[error(transparent)]
    Message(Box<MessageError>),
    /// A record that is no `tensorflow.Example`, or does not fit the columns found by others.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Example(Box<ExampleError>),
    /// Metadata or a schema that does not hold together.
    #[error("{file}metadata: {problem}")]
    Metadata {
        /// The file.
        file: FileName,
        /// What is wrong.
        problem: String,
    },
    /// A batch or projection that does not fit the schema, or an error of a row filter.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Bytes that break the format, and where.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{file}corrupt at byte {offset}, in the chunk at byte {chunk_begin}: {damage}")]
#[non_exhaustive]
pub struct Corrupt {
    /// The file.
    pub file: FileName,
    /// Where the chunk begins that was being read.
    pub chunk_begin: u64,
    /// How far reading came.
    pub offset: u64,
    /// What was wrong.
    pub damage: Damage,
}

/// A record of a TFRecord file that does not hold together, and where.
#[derive(Debug, thiserror::Error)]
#[error("{file}the record at byte {offset}: {damage}")]
#[non_exhaustive]
pub struct Frame {
    /// The file.
    pub file: FileName,
    /// Where the record begins; in a compressed file, in what is compressed.
    pub offset: u64,
    /// What was wrong.
    pub damage: Damage,
}

/// What is wrong with the index of an ArrayRecord file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayRecordProblem {
    /// A file that cannot have a postscript at its end.
    #[error("its size of {found} bytes is no multiple of 65536")]
    Size {
        /// The size.
        found: u64,
    },
    /// No postscript in the last block.
    #[error(
        "there is no postscript in its last 64 KiB, at byte {offset}: it is cut off, or was not closed after writing"
    )]
    NoPostscript {
        /// Where it should be.
        offset: u64,
    },
    /// More than padding between the footer and the postscript.
    #[error(
        "its footer ends at byte {end}, far before its postscript: concatenated ArrayRecord files are not one file; split \
         them, or copy their records into a new one"
    )]
    BehindFooter {
        /// Where the footer ends.
        end: u64,
    },
    /// A version that is not known.
    #[error("its footer is of version {}, expected 1", found.unwrap_or_default())]
    Version {
        /// The version.
        found: Option<u32>,
    },
    /// A record of the footer that is not what it should be.
    #[error("record {record} of its footer is invalid")]
    Footer {
        /// Its number.
        record: usize,
    },
    /// A number in the index that disagrees with what there is.
    #[error("there are {found} {what}, by its footer {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// By the footer.
        expected: u64,
        /// What there are.
        found: u64,
    },
}

/// What is wrong with the bytes of a chunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// A block header's hash does not match.
    #[error("block header hash is 0x{stored:016x}, computed 0x{computed:016x}")]
    BlockHeaderHash {
        /// The hash in the file.
        stored: u64,
        /// The hash of the bytes in the file.
        computed: u64,
    },
    /// A chunk header's hash does not match.
    #[error("chunk header hash is 0x{stored:016x}, computed 0x{computed:016x}")]
    ChunkHeaderHash {
        /// The hash in the file.
        stored: u64,
        /// The hash of the bytes in the file.
        computed: u64,
    },
    /// The hash of a chunk's data does not match.
    #[error("chunk data hash is 0x{stored:016x}, computed 0x{computed:016x}")]
    ChunkDataHash {
        /// The hash in the file.
        stored: u64,
        /// The hash of the bytes in the file.
        computed: u64,
    },
    /// A block header places the interrupted chunk elsewhere.
    #[error("the block header at byte {block} puts the {which} of its chunk at byte {found}, expected {expected}")]
    BlockHeaderDisagrees {
        /// Where the block begins.
        block: u64,
        /// "beginning" or "end".
        which: &'static str,
        /// By the chunk header.
        expected: u64,
        /// By the block header, modulo 2^64.
        found: u64,
    },
    /// The file does not begin with a file signature.
    #[error("missing file signature: the file does not begin with the 64 bytes of Riegeli/records")]
    MissingSignature,
    /// Another file than its reader is for, by its first bytes.
    #[error("the file is {what}")]
    ForeignFile {
        /// What it is, and what to do about it.
        what: &'static str,
    },
    /// A position after the last byte.
    #[error("the position is past the end of the file, which has {size} bytes")]
    PastEnd {
        /// The size of the file.
        size: u64,
    },
    /// A chunk with records of a type that is not known.
    #[error("the {chunk_type} chunk of {num_records} records")]
    UnknownChunkType {
        /// The type.
        chunk_type: ChunkType,
        /// How many records it has.
        num_records: u64,
    },
    /// A position where no chunk can begin.
    #[error("no chunk can begin here")]
    ChunkBoundary,
    /// A chunk without records that claims some, or data where there must not be any.
    #[error("{chunk_type} chunk with {field} {found}, expected 0")]
    NotEmpty {
        /// The type of the chunk.
        chunk_type: ChunkType,
        /// The header field.
        field: &'static str,
        /// Its value.
        found: u64,
    },
    /// A part of the chunk data that is cut off or not well formed.
    #[error("invalid {what}")]
    Invalid {
        /// Which part.
        what: &'static str,
    },
    /// A number that disagrees with another.
    #[error("{what} is {found}, expected {expected}")]
    Mismatch {
        /// Which number.
        what: &'static str,
        /// By the other place.
        expected: u64,
        /// By this place.
        found: u64,
    },
    /// An ArrayRecord file that ends without a sound postscript.
    #[error(
        "this is an ArrayRecord file with its footer at byte {footer}, but without a valid postscript after it: the file was \
         probably truncated at byte {size}; get the file again, or read the records before the footer with recovery"
    )]
    NoPostscript {
        /// Where the footer begins: the end of the records.
        footer: u64,
        /// Where the file ends.
        size: u64,
    },
    /// ArrayRecord files one after another.
    #[error(
        "this is an ArrayRecord file with its footer at byte {footer}, followed by others up to byte {size}: concatenated \
         ArrayRecord files are not one file; read them as a stream, or the records before the footer with recovery"
    )]
    BehindFooter {
        /// Where the footer of the first file begins.
        footer: u64,
        /// Where the last file ends.
        size: u64,
    },
    /// Compressed data that do not decompress.
    #[error("{codec} data do not decompress: {reason}")]
    Codec {
        /// The codec.
        codec: &'static str,
        /// What the codec says.
        reason: String,
    },
    /// A codec that is not known.
    #[error("unknown compression type 0x{byte:02x}")]
    UnknownCompression {
        /// The compression type.
        byte: u8,
    },
    /// More data than a limit allows.
    #[error("{what} is {found} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Which size.
        what: &'static str,
        /// The bound.
        limit: u64,
        /// The size, or how much of it was seen.
        found: u64,
    },
}

impl Damage {
    /// Turns the damage into an error of the chunk at `chunk_begin`. `offset` says how far reading came.
    pub(crate) fn at(self, file: &FileName, chunk_begin: u64, offset: u64) -> Error {
        let file = file.clone();
        match self {
            Self::UnknownCompression { byte } => Error::Unsupported {
                file,
                what: format!("a chunk of compression type 0x{byte:02x}"),
                offset: chunk_begin,
            },
            Self::UnknownChunkType { .. } => Error::Unsupported {
                file,
                what: self.to_string(),
                offset: chunk_begin,
            },
            Self::TooLarge { what, limit, found } => Error::Limit {
                file,
                what,
                offset: chunk_begin,
                limit,
                found,
            },
            damage => Error::Corrupt(Box::new(Corrupt {
                file,
                chunk_begin,
                offset,
                damage,
            })),
        }
    }
}

/// A record that is not a row of the file's schema.
#[derive(Debug, thiserror::Error)]
#[error("{file}record {position}{}: {problem}", InColumn(column.as_deref()))]
#[non_exhaustive]
pub struct RowError {
    /// The file.
    pub file: FileName,
    /// Which record.
    pub position: RecordPosition,
    /// The column, where one was being read.
    pub column: Option<String>,
    /// What is wrong.
    pub problem: RowProblem,
}

/// A message that is not of its type.
#[derive(Debug, thiserror::Error)]
#[error("{place}{}: {problem}", InColumn(column.as_deref()))]
#[non_exhaustive]
pub struct MessageError {
    /// Which message, as the caller called it.
    pub place: String,
    /// The column, where one was being read.
    pub column: Option<String>,
    /// What is wrong.
    pub problem: RowProblem,
}

/// What is wrong with a record that should be a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// The message ends inside a field.
    #[error("the message ends inside the field at byte {offset}")]
    Truncated {
        /// Where the field begins in the record.
        offset: usize,
    },
    /// A tag that no protobuf message may hold.
    #[error("invalid protobuf tag at byte {offset}")]
    Tag {
        /// Where the tag is in the record.
        offset: usize,
    },
    /// A field of the schema with another wire type.
    #[error("field {number} has wire type {found}, expected {expected}")]
    WireType {
        /// The field number.
        number: u32,
        /// The wire type of the column.
        expected: u8,
        /// The wire type in the record.
        found: u8,
    },
    /// Packed values that end inside one.
    #[error("the packed values end inside a value")]
    Packed,
    /// A value outside of the column's type.
    #[error("the value does not fit the type of the column")]
    Range,
    /// Text that is not UTF-8.
    #[error("the text is not UTF-8")]
    Utf8,
    /// Groups nested deeper than protobuf parsers go.
    #[error("groups nested deeper than {limit}")]
    Depth {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// No value in a column that must have one.
    #[error("no value in a column that is not nullable")]
    Missing,
}

/// The name of the file that an error is about, empty for data in memory. Displays as the path and a colon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileName(Option<Arc<Path>>);

impl FileName {
    /// Returns the name for `path`; the empty one stands for no name.
    pub(crate) fn new(path: &Path) -> Self {
        Self((!path.as_os_str().is_empty()).then(|| path.into()))
    }

    /// Returns the path, `None` for data in memory.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Returns whether the file is another one than its reader is for.
    pub(crate) fn is_foreign_file(&self) -> bool {
        matches!(self, Self::Corrupt(corrupt) if matches!(corrupt.damage, Damage::ForeignFile { .. }))
    }

    /// Returns the region that recovery leaves out because of this error.
    pub(crate) fn skipped_region(&self, begin: u64, end: u64) -> SkippedRegion {
        let why = match self {
            Self::Corrupt(corrupt) => corrupt.damage.to_string(),
            Self::Truncated { found, expected, .. } => {
                format!("truncated: the chunk has {found} bytes{}", Expected(*expected))
            }
            other => other.to_string(),
        };
        SkippedRegion { begin, end, why }
    }
}

struct Expected(Option<u64>);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(expected) => write!(f, ", expected {expected}"),
            None => Ok(()),
        }
    }
}

struct InColumn<'a>(Option<&'a str>);

impl fmt::Display for InColumn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(column) => write!(f, ", column `{column}`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<Error>() <= 80, "{} bytes", size_of::<Error>());
    }
}
