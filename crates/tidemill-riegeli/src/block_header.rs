//! Block headers, which interrupt the chunks at every multiple of 64 KiB, and the position arithmetic around them.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Block header" and "Implementation notes".
//!
//! This module knows no chunk contents; it only answers where bytes of a chunk lie in the file.

use crate::hash::hash;

/// Distance between block headers.
pub const BLOCK_SIZE: u64 = 1 << 16;
/// Size of a block header: three 64-bit numbers.
pub const BLOCK_HEADER_SIZE: usize = 24;

const HEADER: u64 = BLOCK_HEADER_SIZE as u64;
const USABLE_BLOCK_SIZE: u64 = BLOCK_SIZE - HEADER;

/// The 24 bytes at a block boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// The stored hash of the two other fields.
    pub header_hash: u64,
    /// Distance from the beginning of the interrupted chunk to the block.
    pub previous_chunk: u64,
    /// Distance from the block to the end of the interrupted chunk.
    pub next_chunk: u64,
}

impl BlockHeader {
    /// Returns a header with the hash that belongs to it.
    pub fn new(previous_chunk: u64, next_chunk: u64) -> Self {
        let mut header = Self {
            header_hash: 0,
            previous_chunk,
            next_chunk,
        };
        header.header_hash = header.computed_hash();
        header
    }

    /// Takes the fields as they are stored; the hash is not verified.
    pub fn from_bytes(bytes: &[u8; BLOCK_HEADER_SIZE]) -> Self {
        let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            header_hash: field(0),
            previous_chunk: field(8),
            next_chunk: field(16),
        }
    }

    /// Returns the 24 bytes.
    pub fn to_bytes(self) -> [u8; BLOCK_HEADER_SIZE] {
        let mut bytes = [0; BLOCK_HEADER_SIZE];
        bytes[..8].copy_from_slice(&self.header_hash.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.previous_chunk.to_le_bytes());
        bytes[16..].copy_from_slice(&self.next_chunk.to_le_bytes());
        bytes
    }

    /// Returns the hash that `header_hash` should be.
    pub fn computed_hash(self) -> u64 {
        hash(&self.to_bytes()[8..])
    }
}

/// Returns how many bytes are left in the block, 0 at a block boundary.
pub(crate) fn remaining_in_block(pos: u64) -> u64 {
    pos.wrapping_neg() % BLOCK_SIZE
}

/// Returns the beginning of the block that `pos` lies in.
pub(crate) fn block_begin(pos: u64) -> u64 {
    pos - pos % BLOCK_SIZE
}

/// Returns how many bytes of a block header are left at `pos`: 24 at a block boundary, 0 after the header.
pub(crate) fn remaining_in_block_header(pos: u64) -> usize {
    // The difference is at most 24.
    HEADER.saturating_sub(pos % BLOCK_SIZE) as usize
}

/// Returns whether a chunk may begin at `pos`: not inside nor immediately after a block header.
pub(crate) fn is_possible_chunk_boundary(pos: u64) -> bool {
    remaining_in_block(pos) < USABLE_BLOCK_SIZE
}

/// Returns the position `length` chunk bytes behind `chunk_begin`, which must be a possible chunk boundary, block headers
/// included. Saturates at the largest position.
pub(crate) fn add_with_overhead(chunk_begin: u64, length: u64) -> u64 {
    let in_block = (chunk_begin % BLOCK_SIZE + USABLE_BLOCK_SIZE - 1) % BLOCK_SIZE;
    let headers = length.saturating_add(in_block) / USABLE_BLOCK_SIZE;
    chunk_begin
        .saturating_add(length)
        .saturating_add(headers.saturating_mul(HEADER))
}

/// Returns the number of chunk bytes from `chunk_begin` to `pos`, block headers left out.
pub(crate) fn distance_without_overhead(chunk_begin: u64, pos: u64) -> u64 {
    let without_headers = |pos: u64| pos - (pos % BLOCK_SIZE).min(HEADER) - pos / BLOCK_SIZE * HEADER;
    without_headers(pos).saturating_sub(without_headers(chunk_begin))
}

/// Returns where a chunk of `num_records` records with `stored_size` bytes (header and data) ends.
pub(crate) fn chunk_end(chunk_begin: u64, stored_size: u64, num_records: u64) -> u64 {
    let by_records = chunk_begin.saturating_add(num_records);
    let boundary = by_records.saturating_add(remaining_in_block(by_records).saturating_sub(USABLE_BLOCK_SIZE - 1));
    add_with_overhead(chunk_begin, stored_size).max(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_header_of_every_file() {
        let bytes = [
            0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(BlockHeader::from_bytes(&bytes), BlockHeader::new(0, 64));
        assert_eq!(BlockHeader::new(0, 64).to_bytes(), bytes);
    }

    #[test]
    fn chunk_boundaries_avoid_block_headers() {
        let possible: Vec<u64> = (BLOCK_SIZE - 2..BLOCK_SIZE + 27)
            .filter(|&pos| is_possible_chunk_boundary(pos))
            .collect();
        assert_eq!(possible, [65_534, 65_535, 65_536, 65_561, 65_562]);
    }

    #[test]
    fn positions_skip_block_headers() {
        // (chunk begin, chunk bytes, position after them)
        for (begin, length, end) in [
            (0, 40, 64),
            (64, 40, 104),
            (64, 65_472, 65_536),
            (64, 65_473, 65_561),
            (65_536, 1, 65_561),
            (65_536, 65_512, 131_072),
            (65_536, 65_513, 131_097),
        ] {
            assert_eq!(add_with_overhead(begin, length), end, "{begin} + {length}");
            assert_eq!(distance_without_overhead(begin, end), length, "{begin}..{end}");
        }
    }

    #[test]
    fn the_end_leaves_room_for_the_record_numbers() {
        assert_eq!(chunk_end(64, 41, 0), 105);
        assert_eq!(chunk_end(64, 41, 1_000), 1_064);
        // 64 + 65,473 falls after a block boundary: the next possible boundary is after the block header.
        assert_eq!(chunk_end(64, 41, 65_473), 65_561);
        assert_eq!(chunk_end(64, u64::MAX, u64::MAX), u64::MAX);
    }
}
