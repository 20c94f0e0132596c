//! Chunk headers: the 40 bytes that say what a chunk holds.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Chunk"; the chunk types are in
//! `riegeli/chunk_encoding/constants.h`.

use std::fmt;

use crate::{block_header::chunk_end, hash::hash};

/// Size of a chunk header.
pub const CHUNK_HEADER_SIZE: usize = 40;
/// The largest number of records in a chunk: the field has seven bytes.
pub const MAX_NUM_RECORDS: u64 = u64::MAX >> 8;

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkType {
    /// `s`: the first chunk of a file, without data.
    FileSignature,
    /// `m`: a serialized `RecordsMetadata`, encoded like a transposed chunk.
    FileMetadata,
    /// `p`: fills space.
    Padding,
    /// `r`: record sizes and concatenated record values.
    Simple,
    /// `t`: records taken apart by field.
    Transposed,
    /// A type that this library does not know.
    Unknown(u8),
}

impl ChunkType {
    /// Returns the type that a chunk header's byte means.
    pub fn from_byte(byte: u8) -> Self {
        match byte {
            b's' => Self::FileSignature,
            b'm' => Self::FileMetadata,
            b'p' => Self::Padding,
            b'r' => Self::Simple,
            b't' => Self::Transposed,
            other => Self::Unknown(other),
        }
    }

    /// Returns the byte that stands for the type in a chunk header.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::FileSignature => b's',
            Self::FileMetadata => b'm',
            Self::Padding => b'p',
            Self::Simple => b'r',
            Self::Transposed => b't',
            Self::Unknown(byte) => byte,
        }
    }
}

impl fmt::Display for ChunkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileSignature => f.write_str("file signature"),
            Self::FileMetadata => f.write_str("file metadata"),
            Self::Padding => f.write_str("padding"),
            Self::Simple => f.write_str("simple"),
            Self::Transposed => f.write_str("transposed"),
            Self::Unknown(byte) => write!(f, "unknown (0x{byte:02x})"),
        }
    }
}

/// The 40 bytes at the beginning of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The stored hash of the other fields.
    pub header_hash: u64,
    /// Bytes of data after the header, block headers not counted.
    pub data_size: u64,
    /// The stored hash of the data.
    pub data_hash: u64,
    /// What the data are.
    pub chunk_type: ChunkType,
    /// Number of records after decoding, at most [`MAX_NUM_RECORDS`].
    pub num_records: u64,
    /// Sum of the record sizes after decoding.
    pub decoded_data_size: u64,
}

impl ChunkHeader {
    /// Returns a header with the hash that belongs to it. `num_records` must not exceed [`MAX_NUM_RECORDS`].
    pub(crate) fn new(
        chunk_type: ChunkType,
        data_size: u64,
        data_hash: u64,
        num_records: u64,
        decoded_data_size: u64,
    ) -> Self {
        debug_assert!(num_records <= MAX_NUM_RECORDS);
        let mut header = Self {
            header_hash: 0,
            data_size,
            data_hash,
            chunk_type,
            num_records,
            decoded_data_size,
        };
        header.header_hash = header.computed_hash();
        header
    }

    /// Takes the fields as they are stored; the hash is not verified.
    pub fn from_bytes(bytes: &[u8; CHUNK_HEADER_SIZE]) -> Self {
        let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            header_hash: field(0),
            data_size: field(8),
            data_hash: field(16),
            chunk_type: ChunkType::from_byte(bytes[24]),
            num_records: field(24) >> 8,
            decoded_data_size: field(32),
        }
    }

    /// Returns the 40 bytes.
    pub fn to_bytes(self) -> [u8; CHUNK_HEADER_SIZE] {
        let mut bytes = [0; CHUNK_HEADER_SIZE];
        let type_and_records = self.num_records << 8 | u64::from(self.chunk_type.to_byte());
        for (at, field) in [
            (0, self.header_hash),
            (8, self.data_size),
            (16, self.data_hash),
            (24, type_and_records),
            (32, self.decoded_data_size),
        ] {
            bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Returns the hash that `header_hash` should be.
    pub fn computed_hash(self) -> u64 {
        Self::hash_of(&self.to_bytes())
    }

    /// Returns the hash that the first field of a stored header should be.
    pub(crate) fn hash_of(bytes: &[u8; CHUNK_HEADER_SIZE]) -> u64 {
        hash(&bytes[8..])
    }

    /// Returns the position after the chunk, padding and block headers included, if it begins at `chunk_begin`.
    pub(crate) fn chunk_end(self, chunk_begin: u64) -> u64 {
        let stored_size = self.data_size.saturating_add(CHUNK_HEADER_SIZE as u64);
        chunk_end(chunk_begin, stored_size, self.num_records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_of_every_file() {
        let mut bytes = [0; CHUNK_HEADER_SIZE];
        bytes[..8].copy_from_slice(&[0x91, 0xba, 0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9]);
        bytes[16..25].copy_from_slice(&[0xe1, 0x9f, 0x13, 0xc0, 0xe9, 0xb1, 0xc3, 0x72, b's']);
        let header = ChunkHeader::from_bytes(&bytes);
        assert_eq!(header, ChunkHeader::new(ChunkType::FileSignature, 0, hash(b""), 0, 0));
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(header.chunk_end(0), 64);
    }

    #[test]
    fn records_share_eight_bytes_with_the_type() {
        let header = ChunkHeader::new(ChunkType::Unknown(0xfe), 1, 2, MAX_NUM_RECORDS, 3);
        assert_eq!(ChunkHeader::from_bytes(&header.to_bytes()), header);
    }
}
