//! Snappy's compression: which matches are taken decides the bytes, and these are those of the C++ library.
//!
//! Blocks of 64 KiB are compressed for themselves. Level 1 looks for matches of four bytes in one hash table, and looks less and
//! less often where there are none. Level 2 has two tables, for matches of eight and of four bytes, looks again one byte
//! further on, and extends matches backwards. Sources: google/snappy 1.2.1, `format_description.txt` and `snappy.cc`
//! (`CompressFragment`, `CompressFragmentDoubleHash`), built without CRC instructions, as Riegeli's is by default.
//!
//! What the code relies on without checking it again:
//!
//! - Matches are only sought at positions with [`MARGIN`] bytes after them, so that words can be read there, and literals that
//!   end there can be copied sixteen bytes at a time.
//! - A table has positions of its own block only: it is cleared before, and filled from the left to the right. What it says is
//!   behind no position that is looked at.
//! - A block has room for its worst case, see [`bound`].
//!
//! Offsets beyond a block, and so copies of the longest form, do not exist here.

#![expect(
    unsafe_code,
    reason = "reads and writes of whole words without bounds checks make this 1.1 to 1.4 times as fast"
)]

use std::{mem::replace, ptr};

use super::Level;
use crate::varint::write_varint64;

const BLOCK: usize = 1 << 16;
const TABLE_BITS: u32 = 15;
const MIN_TABLE: usize = 1 << 8;
/// So near the end of a block there is no search.
const MARGIN: usize = 15;
/// So many bytes of a literal are moved at once.
const MOVE: usize = 16;

/// One table of level 2, or half the table of level 1.
type Table = [u16; 1 << (TABLE_BITS - 1)];

/// Positions in a block by the hash of the bytes there.
pub(super) struct Encoder {
    tables: Box<[Table; 2]>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            tables: Box::new([[0; 1 << (TABLE_BITS - 1)]; 2]),
        }
    }
}

impl Encoder {
    /// Appends the compressed `section`, which is below 4 GiB.
    pub(super) fn compress(&mut self, section: &[u8], level: Level, out: &mut Vec<u8>) {
        write_varint64(section.len() as u64, out);
        for bytes in section.chunks(BLOCK) {
            let block = Block { bytes };
            let mut sink = Sink::new(out, bytes.len());
            let size = bytes.len().next_power_of_two().clamp(MIN_TABLE, 1 << TABLE_BITS);
            match level {
                Level::One => {
                    let table = self.tables.as_flattened_mut();
                    table[..size].fill(0);
                    if let Some(table) = table.first_chunk_mut() {
                        block.compress(table, size - 1, &mut sink);
                    }
                }
                Level::Two => {
                    let size = size / 2;
                    let [fours, eights] = &mut *self.tables;
                    fours[..size].fill(0);
                    eights[..size].fill(0);
                    block.compress_densely(Fours(fours, size - 1), Eights(eights, size - 1), &mut sink);
                }
            }
            sink.finish();
        }
    }
}

/// Returns how much room a block takes at most. A copy is shorter than what it stands for, by one byte at least; the tag of a
/// literal takes a byte, a second one from 61 bytes on, a third from 257 bytes on. Moves go up to 19 bytes beyond the end.
const fn bound(size: usize) -> usize {
    size + size / 32 + 64
}

/// At most [`BLOCK`] bytes.
#[derive(Clone, Copy)]
struct Block<'a> {
    bytes: &'a [u8],
}

impl Block<'_> {
    /// Level 1.
    fn compress(self, table: &mut [u16; 1 << TABLE_BITS], mask: usize, sink: &mut Sink<'_>) {
        let mut note = |four: u32, at: usize| -> usize {
            let hash = four.wrapping_mul(0x1e35_a7bd) >> (32 - TABLE_BITS);
            // A position in a block fits 16 bits.
            usize::from(replace(&mut table[hash as usize & mask], at as u16))
        };
        let mut emitted = 0;
        let Some(last) = self.last_match() else {
            sink.append_rest(self, emitted);
            return;
        };
        // SAFETY: a match is sought up to `last`, and there are more than eight bytes behind.
        let mut ahead = unsafe { self.four(1) };
        'literals: loop {
            let mut at = emitted + 1;
            let mut skip = 32;
            let mut candidate = 'search: {
                if at + MOVE <= last {
                    for step in (0..MOVE).step_by(4) {
                        // SAFETY: `at + step` is below `last`.
                        let word = unsafe { self.eight(at + step) };
                        for byte in 0..4 {
                            // The first four bytes were read with the match before, and their hash is waited for.
                            let four = if step + byte == 0 {
                                ahead
                            } else {
                                (word >> (8 * byte)) as u32
                            };
                            let candidate = note(four, at + step + byte);
                            // SAFETY: a candidate is before the position, which is below `last`.
                            if four == unsafe { self.four(candidate) } {
                                at += step + byte;
                                // SAFETY: `MOVE` bytes from `emitted` on end before `last`.
                                unsafe { sink.append_short_literal(self, emitted, at) };
                                break 'search candidate;
                            }
                        }
                    }
                    at += MOVE;
                    skip += MOVE;
                }
                // The longer there is no match, the more bytes are passed over.
                loop {
                    let next = at + (skip >> 5);
                    if next > last {
                        break 'literals;
                    }
                    // SAFETY: `at` is below `next`, and so below `last`.
                    let four = unsafe { self.four(at) };
                    let candidate = note(four, at);
                    // SAFETY: a candidate is before the position.
                    if four == unsafe { self.four(candidate) } {
                        // SAFETY: `emitted` is before `at`, and `at` before `last`.
                        unsafe { sink.append_literal(self, emitted, at) };
                        break 'search candidate;
                    }
                    skip += skip >> 5;
                    at = next;
                }
            };
            loop {
                // SAFETY: `at` is `last` at most, and the candidate before it.
                let (length, word) = unsafe { self.extend_match(candidate, at) };
                // SAFETY: what is appended stands for bytes of the block, each once.
                unsafe { sink.append_copy(at - candidate, length) };
                at += length;
                emitted = at;
                if at >= last {
                    break 'literals;
                }
                // SAFETY: `at` is below `last`, and after a match.
                note(unsafe { self.four(at - 1) }, at - 1);
                let four = word as u32;
                candidate = note(four, at);
                // SAFETY: a candidate is before the position.
                if four != unsafe { self.four(candidate) } {
                    ahead = (word >> 8) as u32;
                    break;
                }
            }
        }
        sink.append_rest(self, emitted);
    }

    /// Level 2.
    fn compress_densely(self, mut fours: Fours<'_>, mut eights: Eights<'_>, sink: &mut Sink<'_>) {
        let mut emitted = 0;
        let Some(last) = self.last_match() else {
            sink.append_rest(self, emitted);
            return;
        };
        // Every position that is read is `last + 3` at most, or a candidate, which is before a position up to `last + 1`.
        // SAFETY: more than eight bytes follow all of these.
        let four = |at: usize| unsafe { self.four(at) };
        // SAFETY: as above.
        let eight = |at: usize| unsafe { self.eight(at) };
        // SAFETY: as above; four bytes after such a position, a match is not after the end of the block.
        let match_length = |first: usize, second: usize| unsafe { self.match_length(first, second) };
        'literals: loop {
            let mut at = emitted + 1;
            let mut skip = 512;
            let mut candidate;
            let mut length;
            loop {
                let next = at + (skip >> 9);
                skip += 1;
                if next > last {
                    break 'literals;
                }
                let word = eight(at);
                candidate = eights.note(word, at);
                if word as u32 == four(candidate) {
                    length = 4 + match_length(candidate + 4, at + 4);
                    break;
                }
                candidate = fours.note(word as u32, at);
                if word as u32 == four(candidate) {
                    length = 4 + match_length(candidate + 4, at + 4);
                    // One byte further on there may be a longer one.
                    let entry = eights.entry(eight(at + 1));
                    let other = usize::from(*entry);
                    let other_length = match_length(other, at + 1);
                    if other_length > length {
                        *entry = at as u16;
                        candidate = other;
                        length = other_length;
                        at += 1;
                    }
                    break;
                }
                at = next;
            }
            while at > emitted && candidate > 0 && self.bytes[at - 1] == self.bytes[candidate - 1] {
                at -= 1;
                candidate -= 1;
                length += 1;
            }
            eights.note(eight(at + 1), at + 1);
            eights.note(eight(at + 2), at + 2);
            fours.note(four(at + 1), at + 1);
            if at > emitted {
                // SAFETY: `emitted` is before `at`, and `at` is `last + 1` at most.
                unsafe { sink.append_literal(self, emitted, at) };
            }
            loop {
                // SAFETY: what is appended stands for bytes of the block, each once.
                unsafe { sink.append_copy(at - candidate, length) };
                at += length;
                emitted = at;
                if at >= last {
                    break 'literals;
                }
                if at > 7 {
                    eights.note(eight(at - 7), at - 7);
                    eights.note(eight(at - 4), at - 4);
                }
                eights.note(eight(at - 3), at - 3);
                eights.note(eight(at - 2), at - 2);
                fours.note(four(at - 2), at - 2);
                fours.note(four(at - 1), at - 1);
                let word = eight(at);
                candidate = eights.note(word, at);
                if word as u32 != four(candidate) {
                    candidate = fours.note(word as u32, at);
                    if word as u32 != four(candidate) {
                        break;
                    }
                }
                length = 4 + match_length(candidate + 4, at + 4);
            }
        }
        sink.append_rest(self, emitted);
    }

    /// Returns up to where matches may begin. `None` when that is nowhere.
    fn last_match(self) -> Option<usize> {
        self.bytes.len().checked_sub(MARGIN).filter(|&last| last > 0)
    }

    /// Returns the four bytes at a position.
    ///
    /// # Safety
    ///
    /// They are in the block.
    #[inline(always)]
    unsafe fn four(self, at: usize) -> u32 {
        debug_assert!(at + 4 <= self.bytes.len());
        // SAFETY: the caller says that the bytes are there; they need not be aligned.
        u32::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u32>().read_unaligned() })
    }

    /// Returns the eight bytes at a position.
    ///
    /// # Safety
    ///
    /// They are in the block.
    #[inline(always)]
    unsafe fn eight(self, at: usize) -> u64 {
        debug_assert!(at + 8 <= self.bytes.len());
        // SAFETY: the caller says that the bytes are there; they need not be aligned.
        u64::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// Returns the 32 bytes at a position.
    ///
    /// # Safety
    ///
    /// They are in the block.
    #[inline(always)]
    unsafe fn many(&self, at: usize) -> &[u8; 32] {
        debug_assert!(at + 32 <= self.bytes.len());
        // SAFETY: the caller says that the bytes are there.
        unsafe { &*self.bytes.as_ptr().add(at).cast() }
    }

    /// Returns how long a match of four bytes is, and the bytes after it: five of them at least, unless the match ends behind
    /// the last position where another may begin.
    ///
    /// # Safety
    ///
    /// `candidate` is before `at`, and `at` is [`Self::last_match`] at most.
    #[inline(always)]
    unsafe fn extend_match(self, candidate: usize, at: usize) -> (usize, u64) {
        let first = candidate + 4;
        let second = at + 4;
        if second + 12 <= self.bytes.len() {
            // SAFETY: twelve bytes follow `second`, and `first` is before it.
            let (earlier, later, behind) = unsafe { (self.eight(first), self.eight(second), self.eight(second + 4)) };
            let differs = earlier ^ later;
            if differs != 0 {
                // The next match waits for the bytes after this one. They come faster out of words that did not wait for the
                // candidate than from memory.
                let bits = differs.trailing_zeros();
                let word = if differs as u32 == 0 { behind } else { later };
                return (4 + bits as usize / 8, word >> (bits & 24));
            }
        }
        // SAFETY: the caller says so.
        let length = 4 + unsafe { self.match_length(first, second) };
        let end = at + length;
        let word = match end + 8 <= self.bytes.len() {
            // SAFETY: the bytes are there.
            true => unsafe { self.eight(end) },
            false => 0,
        };
        (length, word)
    }

    /// Returns how many bytes at `first` are those at `second`.
    ///
    /// # Safety
    ///
    /// `first` is `second` at most, and that is in the block or its end.
    #[inline]
    unsafe fn match_length(self, first: usize, second: usize) -> usize {
        debug_assert!(first <= second && second <= self.bytes.len());
        let left = self.bytes.len() - second;
        let mut length = 0;
        // SAFETY: `left` bytes follow `second`, of which this reads up to `length + 8`, and `first` is not after it.
        let differs = |length: usize| unsafe { self.eight(first + length) ^ self.eight(second + length) };
        if left >= 8 {
            let bits = differs(0);
            if bits != 0 {
                return bits.trailing_zeros() as usize / 8;
            }
        }
        // SAFETY: as above, up to `length + 32`.
        while length + 32 <= left && unsafe { self.many(first + length) == self.many(second + length) } {
            length += 32;
        }
        while length + 8 <= left {
            let bits = differs(length);
            if bits != 0 {
                return length + bits.trailing_zeros() as usize / 8;
            }
            length += 8;
        }
        let rest = self.bytes[first + length..].iter().zip(&self.bytes[second + length..]);
        length + rest.take_while(|(a, b)| a == b).count()
    }
}

/// Positions by the hash of four bytes, with the mask of the hashes.
struct Fours<'a>(&'a mut Table, usize);

impl Fours<'_> {
    /// Notes the position of the bytes, and returns the one that was noted before, or 0.
    #[inline(always)]
    fn note(&mut self, bytes: u32, at: usize) -> usize {
        let hash = bytes.wrapping_mul(2_654_435_761) >> (33 - TABLE_BITS);
        // A position in a block fits 16 bits.
        usize::from(replace(&mut self.0[hash as usize & self.1], at as u16))
    }
}

/// Positions by the hash of eight bytes, with the mask of the hashes.
struct Eights<'a>(&'a mut Table, usize);

impl Eights<'_> {
    #[inline(always)]
    fn entry(&mut self, bytes: u64) -> &mut u16 {
        let hash = bytes.wrapping_mul(58_295_818_150_454_627) >> (65 - TABLE_BITS);
        &mut self.0[hash as usize & self.1]
    }

    /// Notes the position of the bytes, and returns the one that was noted before, or 0.
    #[inline(always)]
    fn note(&mut self, bytes: u64, at: usize) -> usize {
        // A position in a block fits 16 bits.
        usize::from(replace(self.entry(bytes), at as u16))
    }
}

/// Where a compressed block goes: room for its worst case after what a vector has.
struct Sink<'a> {
    out: &'a mut Vec<u8>,
    length: usize,
}

impl<'a> Sink<'a> {
    /// Makes room for a block of `size`.
    fn new(out: &'a mut Vec<u8>, size: usize) -> Self {
        out.reserve(bound(size));
        let length = out.len();
        Self { out, length }
    }

    fn finish(self) {
        debug_assert!(self.length <= self.out.capacity());
        // SAFETY: there was room, and all bytes up to here were written.
        unsafe { self.out.set_len(self.length) };
    }

    /// Returns where the next byte goes.
    #[inline(always)]
    fn end(&mut self) -> *mut u8 {
        debug_assert!(self.length + 20 <= self.out.capacity());
        // SAFETY: the room ends after what is filled.
        unsafe { self.out.as_mut_ptr().add(self.length) }
    }

    /// Appends the low `length` bytes of a word.
    ///
    /// # Safety
    ///
    /// There is room for a word.
    #[inline(always)]
    unsafe fn append_word(&mut self, word: u32, length: usize) {
        // SAFETY: the caller says that there is room. More is written than is needed; the rest is overwritten.
        unsafe { self.end().cast::<u32>().write_unaligned(word.to_le()) };
        self.length += length;
    }

    /// Appends the tag of a literal of `length` bytes, which is not 0.
    ///
    /// # Safety
    ///
    /// There is room for a word.
    #[inline(always)]
    unsafe fn append_literal_tag(&mut self, length: usize) {
        // A block is of 64 KiB, so this loses nothing.
        let less = (length - 1) as u32;
        let (word, size) = match less {
            0..60 => (less << 2, 1),
            60..256 => (60 << 2 | less << 8, 2),
            _ => (61 << 2 | less << 8, 3),
        };
        // SAFETY: the caller says that there is room.
        unsafe { self.append_word(word, size) };
    }

    /// Appends 1 to [`MOVE`] bytes of the block, from `start` to `end`, as they are.
    ///
    /// # Safety
    ///
    /// The block has `MOVE` bytes at `start`, and what was appended stands for the bytes before, each once.
    #[inline(always)]
    unsafe fn append_short_literal(&mut self, block: Block<'_>, start: usize, end: usize) {
        debug_assert!(start < end && end <= start + MOVE && start + MOVE <= block.bytes.len());
        // SAFETY: `bound` has room for the move, and the caller says that the block has the bytes.
        unsafe {
            self.append_word(((end - start - 1) as u32) << 2, 1);
            ptr::copy_nonoverlapping(block.bytes.as_ptr().add(start), self.end(), MOVE);
        }
        self.length += end - start;
    }

    /// Appends the bytes of the block from `start` to `end`, one at least, as they are.
    ///
    /// # Safety
    ///
    /// `MOVE - 1` bytes follow in the block, and what was appended stands for the bytes before, each once.
    #[inline(always)]
    unsafe fn append_literal(&mut self, block: Block<'_>, start: usize, end: usize) {
        let length = end - start;
        debug_assert!(start < end && end + MOVE - 1 <= block.bytes.len());
        // SAFETY: `bound` has room for the moves, the last of which begins before `end`.
        unsafe {
            self.append_literal_tag(length);
            let from = block.bytes.as_ptr().add(start);
            let to = self.end();
            let mut moved = 0;
            while moved < length {
                ptr::copy_nonoverlapping(from.add(moved), to.add(moved), MOVE);
                moved += MOVE;
            }
        }
        self.length += length;
    }

    /// Appends the bytes of the block from `start` to its end, if there are any, as they are. Nothing follows them.
    fn append_rest(&mut self, block: Block<'_>, start: usize) {
        let rest = &block.bytes[start..];
        if rest.is_empty() {
            return;
        }
        // SAFETY: `bound` has room for each byte of the block, and for the tag.
        unsafe {
            self.append_literal_tag(rest.len());
            ptr::copy_nonoverlapping(rest.as_ptr(), self.end(), rest.len());
        }
        self.length += rest.len();
    }

    /// Appends copies of `length` bytes, four at least, from `offset` bytes before.
    ///
    /// # Safety
    ///
    /// What was appended stands for the bytes of the block before, each once.
    #[inline(always)]
    unsafe fn append_copy(&mut self, offset: usize, mut length: usize) {
        // Offsets are within a block, and lengths below 2^16, so this loses nothing.
        let far = 2 | (offset as u32) << 8;
        // SAFETY: `bound` has room for every copy, and for a word more.
        unsafe {
            if length >= 12 {
                // What is left must be a copy of its own, of at least four bytes.
                while length >= 68 {
                    self.append_word(far | 63 << 2, 3);
                    length -= 64;
                }
                if length > 64 {
                    self.append_word(far | 59 << 2, 3);
                    length -= 60;
                }
                if length >= 12 {
                    self.append_word(far | (length as u32 - 1) << 2, 3);
                    return;
                }
            }
            // Whether an offset is near is hard to foretell.
            let is_near = offset < 2_048;
            let near = 1 | (length as u32 - 4) << 2 | (offset as u32 >> 8) << 5 | (offset as u32 & 0xff) << 8;
            let word = if is_near { near } else { far | (length as u32 - 1) << 2 };
            self.append_word(word, 3 - usize::from(is_near));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(encoder: &mut Encoder, section: &[u8]) {
        for level in [Level::One, Level::Two] {
            // What is there already stays.
            let mut out = vec![7; 3];
            encoder.compress(section, level, &mut out);
            assert_eq!(out[..3], [7; 3]);
            let found = snap::raw::Decoder::new().decompress_vec(&out[3..]);
            assert!(found.as_deref() == Ok(section), "{level:?}, {} bytes", section.len());
        }
    }

    fn random_bytes(seed: u64) -> impl Iterator<Item = u8> {
        let step = |&state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        std::iter::successors(Some(seed), step).map(|state| (state >> 56) as u8)
    }

    /// How long sections are in which blocks end everywhere around where they can.
    fn sizes() -> impl Strategy<Value = usize> {
        prop_oneof![
            0..2_000_usize,
            BLOCK - 40..BLOCK + 40,
            2 * BLOCK - 40..2 * BLOCK + 40,
            0..4 * BLOCK
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn sections_come_back(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 1..12),
            order in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..90), 1..4_000),
            size in sizes(),
        ) {
            let section: Vec<u8> = order
                .iter()
                .flat_map(|(index, length)| index.get(&pieces).iter().take(*length))
                .copied()
                .collect();
            let mut encoder = Encoder::default();
            check(&mut encoder, &section);
            // The same table for another section.
            let repeated: Vec<u8> = section.iter().copied().cycle().take(size).collect();
            check(&mut encoder, &repeated);
        }

        #[test]
        fn random_bytes_come_back(seed: u64, size in sizes(), bits in 0_u8..8) {
            let section: Vec<u8> = random_bytes(seed).map(|byte| byte >> bits).take(size).collect();
            check(&mut Encoder::default(), &section);
        }
    }

    /// Literals, and matches of all lengths and distances, until the section has its size.
    fn mixed_section(size: usize) -> Vec<u8> {
        let mut random = random_bytes(size as u64).map(usize::from);
        let mut number = || {
            random
                .next()
                .zip(random.next())
                .map_or(0, |(low, high)| high << 8 | low)
        };
        let mut section = Vec::new();
        while section.len() < size {
            let many = number() % 5;
            let longest = [3, 12, 40, 300, 2_000][many];
            for _ in 0..=number() % longest {
                section.push((number() % 256) as u8);
            }
            let longest = [8, 20, 70, 140, 900][number() % 5];
            let back = 1 + number() % section.len().min([9, 300, 2_100, 65_536][number() % 4]);
            for _ in 0..=number() % longest {
                section.push(section[section.len() - back]);
            }
        }
        section.truncate(size);
        section
    }

    #[test]
    fn bytes_are_those_of_the_cpp_library() {
        // The hashes are of what google/snappy 1.2.1 makes of the sections, one after another; built by g++ 12 for x86-64
        // without CRC instructions.
        let sizes = [
            0, 1, 14, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1_000, 9_000, 32_768, 32_769,
        ];
        let around = [BLOCK, 2 * BLOCK, 4 * BLOCK].into_iter();
        let around = around.flat_map(|size| [size - 16, size - 1, size, size + 1, size + 14, size + 15, size + 17]);
        let sections: Vec<Vec<u8>> = sizes.into_iter().chain(around).map(mixed_section).collect();
        let mut encoder = Encoder::default();
        for (level, expected) in [(Level::One, 0x6c31_dfad_24f2_bfb4), (Level::Two, 0xab7d_4b26_dc7f_d000)] {
            let mut out = Vec::new();
            for section in &sections {
                encoder.compress(section, level, &mut out);
            }
            assert_eq!(crate::hash::hash(&out), expected, "{level:?}, {} bytes", out.len());
        }
    }

    #[test]
    fn the_worst_sections_have_room() {
        let mut random = random_bytes(1);
        let mut encoder = Encoder::default();
        // Literals of such lengths between matches of four bytes that are far away.
        for literal in [1, 59, 60, 61, 62, 100, 256, 257, 100_000] {
            let mut section: Vec<u8> = random.by_ref().take(8_000).collect();
            for at in (0..7_900).step_by(4).cycle().take(200_000 / (literal + 4)) {
                section.extend_from_within(at..at + 4);
                section.extend(random.by_ref().take(literal));
            }
            check(&mut encoder, &section);
            for level in [Level::One, Level::Two] {
                let mut out = Vec::new();
                encoder.compress(&section, level, &mut out);
                assert!(out.len() + 64 < bound(section.len()), "{literal}, {level:?}");
            }
        }
    }

    #[test]
    fn small_sections_come_back() {
        let mut encoder = Encoder::default();
        let text = b"to be, or not to be, that is the question: whether 'tis nobler in the mind";
        for length in 0..text.len() {
            check(&mut encoder, &text[..length]);
            check(&mut encoder, &vec![7; length]);
        }
    }

    #[test]
    fn matches_of_every_length_come_back() {
        let mut encoder = Encoder::default();
        let noise: Vec<u8> = random_bytes(5).take(5_000).collect();
        for length in 4..150 {
            for behind in [0, 1, 14, 15, 16, 40] {
                for offset in [length, 2_047, 2_048, 4_000] {
                    let from = noise.len() - offset.max(length);
                    let section = [&noise, &noise[from..from + length], &noise[..behind]].concat();
                    check(&mut encoder, &section);
                }
            }
        }
        check(&mut encoder, &vec![0; 300_000]);
    }
}
