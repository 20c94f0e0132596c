//! Snappy's level 2: which matches are taken decides the bytes, and these are those of the C++ library.
//!
//! Blocks of 64 KiB are compressed for themselves. Two hash tables have the positions of eight and of four bytes. After a match
//! of four a longer one is looked for one byte further on, and matches are extended backwards. Sources: google/snappy 1.2.1,
//! `format_description.txt`, and `snappy.cc`, `CompressFragmentDoubleHash`.

use crate::{codec::Scratch, varint::varint64_bytes};

const BLOCK: usize = 1 << 16;
const TABLE_BITS: u32 = 15;
const MIN_TABLE: usize = 1 << 8;
/// So near the end of a block there is no search.
const MARGIN: usize = 15;

/// Positions in a block by the hash of the bytes there.
pub(super) struct DenseEncoder {
    table: Box<[u16; 1 << TABLE_BITS]>,
}

impl Default for DenseEncoder {
    fn default() -> Self {
        Self {
            table: Box::new([0; 1 << TABLE_BITS]),
        }
    }
}

impl DenseEncoder {
    /// Fills `out` with the compressed `section`.
    pub(super) fn compress(&mut self, section: &[u8], out: &mut Scratch) {
        out.clear();
        // Literals grow by a byte in sixty at most, and a copy is shorter than what it stands for; moves go a little beyond.
        let mut sink = Sink {
            room: out.room(section.len() + section.len() / 32 + 128),
            length: 0,
        };
        let (bytes, length) = varint64_bytes(section.len() as u64);
        sink.append(&bytes[..length]);
        for block in section.chunks(BLOCK) {
            let size = block.len().next_power_of_two().clamp(MIN_TABLE, 1 << TABLE_BITS);
            self.table[..size].fill(0);
            self.compress_block(block, size / 2, &mut sink);
        }
        let length = sink.length;
        out.advance(length);
    }

    /// Compresses a block with tables of `size`.
    fn compress_block(&mut self, block: &[u8], size: usize, sink: &mut Sink<'_>) {
        let (fours, eights) = self.table.split_at_mut(size);
        let mask = size - 1;
        let mut four = |word: u64, at: usize| -> usize {
            let hash = (word as u32).wrapping_mul(2_654_435_761) >> (33 - TABLE_BITS);
            usize::from(std::mem::replace(&mut fours[hash as usize & mask], at as u16))
        };
        let eight_slot = |word: u64| (word.wrapping_mul(58_295_818_150_454_627) >> (65 - TABLE_BITS)) as usize & mask;
        let mut eight = |word: u64, at: usize| -> usize {
            usize::from(std::mem::replace(&mut eights[eight_slot(word)], at as u16))
        };
        let last = block.len().saturating_sub(MARGIN);
        let mut emitted = 0;
        let mut at = 1;
        while at <= last && block.len() >= MARGIN {
            let mut skip = 512;
            let mut candidate;
            let mut length;
            loop {
                let next = at + (skip >> 9);
                skip += 1;
                if next > last {
                    sink.append_literal(block, emitted, block.len());
                    return;
                }
                let word = load(block, at);
                candidate = eight(word, at);
                if word as u32 == load_half(block, candidate) {
                    length = 4 + match_length(block, candidate + 4, at + 4);
                    break;
                }
                candidate = four(word, at);
                if word as u32 == load_half(block, candidate) {
                    length = 4 + match_length(block, candidate + 4, at + 4);
                    // One byte further on there may be a longer one.
                    let ahead = load(block, at + 1);
                    let other = eight(ahead, at);
                    let other_length = match_length(block, other, at + 1);
                    if other_length > length {
                        candidate = other;
                        length = other_length;
                        at += 1;
                    } else {
                        // Only a match is noted here.
                        eight(ahead, other);
                    }
                    break;
                }
                at = next;
            }
            while at > emitted && candidate > 0 && block[at - 1] == block[candidate - 1] {
                at -= 1;
                candidate -= 1;
                length += 1;
            }
            eight(load(block, at + 1), at + 1);
            eight(load(block, at + 2), at + 2);
            four(load(block, at + 1), at + 1);
            sink.append_literal(block, emitted, at);
            loop {
                sink.append_copy(at - candidate, length);
                at += length;
                emitted = at;
                if at >= last {
                    sink.append_literal(block, emitted, block.len());
                    return;
                }
                if at > 7 {
                    eight(load(block, at - 7), at - 7);
                    eight(load(block, at - 4), at - 4);
                }
                eight(load(block, at - 3), at - 3);
                eight(load(block, at - 2), at - 2);
                four(load(block, at - 2), at - 2);
                four(load(block, at - 1), at - 1);
                let word = load(block, at);
                candidate = eight(word, at);
                if word as u32 != load_half(block, candidate) {
                    candidate = four(word, at);
                    if word as u32 != load_half(block, candidate) {
                        break;
                    }
                }
                length = 4 + match_length(block, candidate + 4, at + 4);
            }
            at += 1;
        }
        sink.append_literal(block, emitted, block.len());
    }
}

/// Where the compressed bytes go: room that is enough for the worst case.
struct Sink<'a> {
    room: &'a mut [u8],
    length: usize,
}

impl Sink<'_> {
    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        self.room[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Appends the low `length` bytes of a word.
    #[inline]
    fn append_word(&mut self, word: u32, length: usize) {
        // More than is needed; the rest is overwritten.
        self.room[self.length..self.length + 4].copy_from_slice(&word.to_le_bytes());
        self.length += length;
    }

    /// Appends the bytes of the block from `start` to `end` as they are, if there are any.
    #[inline]
    fn append_literal(&mut self, block: &[u8], start: usize, end: usize) {
        let length = end - start;
        if length == 0 {
            return;
        }
        // A block is of 64 KiB, so this loses nothing.
        let less = (length - 1) as u32;
        match less {
            0..60 => self.append_word(less << 2, 1),
            60..256 => self.append_word(60 << 2 | less << 8, 2),
            _ => self.append_word(61 << 2 | less << 8, 3),
        }
        if length <= 64
            && let Some(chunk) = block[start..].first_chunk::<64>()
            && let Some(room) = self.room[self.length..].first_chunk_mut::<64>()
        {
            // More than is needed; the rest is overwritten.
            let (chunk, rest) = chunk.split_at(16);
            room[..16].copy_from_slice(chunk);
            if length > 16 {
                room[16..].copy_from_slice(rest);
            }
            self.length += length;
            return;
        }
        self.append(&block[start..end]);
    }

    #[inline]
    fn append_copy(&mut self, offset: usize, mut length: usize) {
        // Offsets are within a block, and lengths below 2^16, so this loses nothing.
        let far = 2 | (offset as u32) << 8;
        // What is left must be a copy of its own, of at least four bytes.
        while length >= 68 {
            self.append_word(far | 63 << 2, 3);
            length -= 64;
        }
        if length > 64 {
            self.append_word(far | 59 << 2, 3);
            length -= 60;
        }
        let less = length as u32 - 1;
        let is_near = length < 12 && offset < 2_048;
        let near = 1 | less.wrapping_sub(3) << 2 | (offset as u32 >> 8) << 5 | (offset as u32 & 0xff) << 8;
        let (word, size) = if is_near { (near, 2) } else { (far | less << 2, 3) };
        self.append_word(word, size);
    }
}

/// Returns the eight bytes at a position, or zero where there are fewer.
#[inline(always)]
fn load(block: &[u8], at: usize) -> u64 {
    let bytes = block.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Returns the four bytes at a position, or zero where there are fewer.
#[inline(always)]
fn load_half(block: &[u8], at: usize) -> u32 {
    let bytes = block.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns how many bytes at `first` are those at `second`, which is behind it.
#[inline]
fn match_length(block: &[u8], first: usize, second: usize) -> usize {
    let later = &block[second..];
    let earlier = &block[first..first + later.len()];
    let differs = load(earlier, 0) ^ load(later, 0);
    if differs != 0 && later.len() >= 8 {
        return differs.trailing_zeros() as usize / 8;
    }
    let mut length = 0;
    for (a, b) in earlier.chunks_exact(32).zip(later.chunks_exact(32)) {
        if a != b {
            break;
        }
        length += 32;
    }
    for (a, b) in earlier[length..].chunks_exact(8).zip(later[length..].chunks_exact(8)) {
        let differs = load(a, 0) ^ load(b, 0);
        if differs != 0 {
            return length + differs.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = earlier[length..].iter().zip(&later[length..]);
    length + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(encoder: &mut DenseEncoder, section: &[u8]) {
        let mut compressed = Scratch::default();
        encoder.compress(section, &mut compressed);
        let found = snap::raw::Decoder::new().decompress_vec(compressed.as_slice());
        assert!(found.as_deref() == Ok(section), "{} bytes", section.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sections_come_back(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 1..12),
            order in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..90), 0..4_000),
        ) {
            let mut section = Vec::new();
            for (index, length) in order {
                let piece = index.get(&pieces);
                section.extend_from_slice(&piece[..length.min(piece.len())]);
            }
            let mut encoder = DenseEncoder::default();
            check(&mut encoder, &section);
            check(&mut encoder, &section[..section.len() / 3]);
        }
    }

    #[test]
    fn the_worst_sections_have_room() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let mut encoder = DenseEncoder::default();
        // Literals of such lengths between matches of four bytes that are far away.
        for literal in [1, 59, 60, 61, 62, 100, 256, 257, 100_000] {
            let mut section: Vec<u8> = (0..8_000).map(|_| random()).collect();
            for at in (0..7_900).step_by(4).cycle().take(200_000 / (literal + 4)) {
                section.extend_from_within(at..at + 4);
                section.extend((0..literal).map(|_| random()));
            }
            check(&mut encoder, &section);
        }
        for length in 0..40 {
            check(&mut encoder, &vec![7; length]);
        }
        check(&mut encoder, &vec![0; 300_000]);
    }
}
