//! Codecs: how sections of chunk data are compressed.
//!
//! A compressed section is a varint with its decompressed size followed by the codec's bytes; an uncompressed one has no such
//! prefix. Contexts and buffers are kept from section to section.
//!
//! Sources: google/riegeli, `doc/riegeli_records_file_format.md`, "Chunk data"; the byte of snappy and its form (raw, without
//! frames) are in `riegeli/chunk_encoding/constants.h` and `riegeli/chunk_encoding/compressor.cc`.
//!
//! Dictionaries do not exist here.

mod brotli;
mod snappy;
mod zstd;

use std::{fmt, ops::RangeInclusive};

use crate::{
    error::Damage,
    varint::{read_varint64, write_varint64},
};

/// The codec of a chunk, the first byte of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CompressionType {
    /// 0: not compressed.
    None,
    /// `b`: Brotli.
    Brotli,
    /// `z`: Zstandard.
    Zstd,
    /// `s`: Snappy.
    Snappy,
}

impl CompressionType {
    /// Returns the codec that the byte means.
    pub(crate) fn from_byte(byte: u8) -> Result<Self, Damage> {
        match byte {
            0 => Ok(Self::None),
            b'b' => Ok(Self::Brotli),
            b'z' => Ok(Self::Zstd),
            b's' => Ok(Self::Snappy),
            byte => Err(Damage::UnknownCompression { byte }),
        }
    }

    /// Returns the byte that stands for the codec.
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Brotli => b'b',
            Self::Zstd => b'z',
            Self::Snappy => b's',
        }
    }
}

impl fmt::Display for CompressionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
            Self::Snappy => "snappy",
        })
    }
}

/// How a writer compresses. Default: `Brotli` of quality 6, as in the C++ library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// Brotli.
    Brotli {
        /// 0 (fast) to 11 (small).
        quality: u32,
        /// Logarithm of the window size, 10 to 30. Default: 22.
        window_log: Option<u32>,
    },
    /// Zstandard.
    Zstd {
        /// -131072 (fast) to 22 (small).
        level: i32,
        /// Logarithm of the window size, 10 to 31. Default: by level and size.
        window_log: Option<u32>,
    },
    /// Snappy of level 1, which is fast.
    Snappy,
    /// Snappy of level 2: smaller, slower, and the same format.
    SnappyDense,
}

impl Compression {
    /// Returns Brotli of a quality from 0 to 11.
    pub fn brotli(quality: u32) -> Self {
        Self::Brotli {
            quality: quality.min(11),
            window_log: None,
        }
    }

    /// Returns Zstandard of a level from -131072 to 22.
    pub fn zstd(level: i32) -> Self {
        Self::Zstd {
            level: level.clamp(-131_072, 22),
            window_log: None,
        }
    }

    /// Returns the codec.
    pub fn compression_type(self) -> CompressionType {
        match self {
            Self::None => CompressionType::None,
            Self::Brotli { .. } => CompressionType::Brotli,
            Self::Zstd { .. } => CompressionType::Zstd,
            Self::Snappy | Self::SnappyDense => CompressionType::Snappy,
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::brotli(6)
    }
}

/// Pieces of these lengths are copied in parts of [`PART`] bytes. The C library reads the end of what it copies first, which is waited
/// for where it comes from memory; longer ones it has the processor copy.
const IN_PARTS: RangeInclusive<usize> = PART + 1..=2_048;
const PART: usize = 512;

/// Compresses sections, keeping the codec's context.
pub(crate) struct Compressor {
    compression: Compression,
    brotli: brotli::Encoder,
    zstd: zstd::Encoder,
    snappy: snappy::Encoder,
}

/// A section whose bytes come one piece after another. Brotli compresses it as it grows, while the pieces are in the nearest
/// cache. Zstandard and Snappy gain nothing by that.
pub(crate) struct Section {
    /// What it was expected to grow to.
    size_hint: Option<u64>,
    /// The size of what does not wait any more.
    taken: u64,
    /// What was not compressed so far.
    waiting: Vec<u8>,
    compressed: Vec<u8>,
    compressing: Result<(), Damage>,
}

impl Section {
    pub(crate) fn new(size_hint: Option<u64>) -> Self {
        Self {
            size_hint,
            taken: 0,
            waiting: Vec::new(),
            compressed: Vec::new(),
            compressing: Ok(()),
        }
    }

    /// Appends a piece of [`IN_PARTS`]. It is not inlined, so that shorter ones are added by few instructions.
    #[inline(never)]
    fn append_in_parts(&mut self, piece: &[u8]) {
        self.waiting.reserve(piece.len());
        let parts = piece.chunks(PART);
        parts.for_each(|part| self.waiting.extend_from_slice(part));
    }

    /// Sets what it is expected to grow to. It is empty.
    pub(crate) fn set_size_hint(&mut self, size_hint: Option<u64>) {
        self.size_hint = size_hint;
    }

    /// Returns how many bytes its buffers have.
    pub(crate) fn memory(&self) -> usize {
        self.waiting.capacity() + self.compressed.capacity()
    }

    /// Returns the size of what was pushed.
    pub(crate) fn size(&self) -> u64 {
        self.taken + self.waiting.len() as u64
    }
}

impl Compressor {
    pub(crate) fn new(compression: Compression) -> Self {
        Self {
            compression,
            brotli: brotli::Encoder::default(),
            zstd: zstd::Encoder::default(),
            snappy: snappy::Encoder::default(),
        }
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// Appends `section` to `out`, size prefix included. `size_hint` is what the section was expected to grow to.
    pub(crate) fn append(&mut self, section: &[u8], size_hint: Option<u64>, out: &mut Vec<u8>) -> Result<(), Damage> {
        self.append_size(section.len() as u64, out);
        self.append_rest(section, size_hint, out)
    }

    /// Adds a piece to a section. There is one at a time.
    #[inline]
    pub(crate) fn push(&mut self, piece: &[u8], section: &mut Section) {
        match self.compression {
            Compression::Brotli { quality, window_log } => {
                let parameters = brotli::Parameters::new(quality, window_log, section.size_hint);
                self.push_and_compress(piece, parameters, section);
            }
            _ if IN_PARTS.contains(&piece.len()) => section.append_in_parts(piece),
            _ => section.waiting.extend_from_slice(piece),
        }
    }

    /// Makes an empty section of `bytes`, without copying them, and leaves other memory in their place; or leaves them alone,
    /// where pieces are better.
    pub(crate) fn take_all(&mut self, bytes: &mut Vec<u8>, section: &mut Section) -> bool {
        let takes = !matches!(self.compression, Compression::Brotli { .. });
        if takes {
            std::mem::swap(&mut section.waiting, bytes);
        }
        takes
    }

    fn push_and_compress(&mut self, piece: &[u8], parameters: brotli::Parameters, section: &mut Section) {
        let size = section.size() + piece.len() as u64;
        let Section {
            taken,
            waiting,
            compressed,
            compressing,
            ..
        } = section;
        if !parameters.take_pieces() {
            waiting.extend_from_slice(piece);
        } else if compressing.is_ok() {
            *compressing = self.brotli.push(piece, waiting, parameters, compressed);
        }
        *taken = size - waiting.len() as u64;
    }

    /// Compresses what is left of a section.
    pub(crate) fn finish(&mut self, section: &mut Section) -> Result<(), Damage> {
        section.compressing.clone()?;
        match self.compression {
            Compression::None => Ok(()),
            _ => self.append_rest(&section.waiting, section.size_hint, &mut section.compressed),
        }
    }

    /// Returns the bytes of a section that was finished. Its size comes before them.
    pub(crate) fn finished<'a>(&self, section: &'a Section) -> &'a [u8] {
        match self.compression {
            Compression::None => &section.waiting,
            _ => &section.compressed,
        }
    }

    /// As [`Self::finished`], to take it.
    pub(crate) fn finished_mut<'a>(&self, section: &'a mut Section) -> &'a mut Vec<u8> {
        match self.compression {
            Compression::None => &mut section.waiting,
            _ => &mut section.compressed,
        }
    }

    /// Empties the section, and keeps its memory.
    pub(crate) fn clear(&mut self, section: &mut Section) {
        self.brotli.abandon();
        section.taken = 0;
        section.waiting.clear();
        section.compressed.clear();
        section.compressing = Ok(());
    }

    /// Appends the size prefix of a section.
    pub(crate) fn append_size(&self, size: u64, out: &mut Vec<u8>) {
        if self.compression != Compression::None {
            write_varint64(size, out);
        }
    }

    /// Appends what is left of a section, or all of it, compressed.
    fn append_rest(&mut self, rest: &[u8], size_hint: Option<u64>, out: &mut Vec<u8>) -> Result<(), Damage> {
        match self.compression {
            Compression::None => {
                out.extend_from_slice(rest);
                Ok(())
            }
            Compression::Brotli { quality, window_log } => {
                let parameters = brotli::Parameters::new(quality, window_log, size_hint);
                self.brotli.finish(rest, parameters, out)
            }
            Compression::Zstd { level, window_log } => self.zstd.append(rest, level, window_log, out),
            Compression::Snappy => self.snappy.append(rest, snappy::Level::One, out),
            Compression::SnappyDense => self.snappy.append(rest, snappy::Level::Two, out),
        }
    }
}

/// How large a section may become.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// Exactly this many bytes, else the section is damaged.
    Exactly(usize),
    /// Any size up to this many bytes.
    AtMost(usize),
}

impl Size {
    /// The number of bytes that must not be exceeded.
    fn bound(self) -> usize {
        match self {
            Self::Exactly(size) | Self::AtMost(size) => size,
        }
    }

    /// What to say when the bound is exceeded.
    fn exceeded(self) -> Damage {
        match self {
            Self::Exactly(size) => Damage::Mismatch {
                what: "decompressed size",
                expected: size as u64,
                found: size as u64 + 1,
            },
            Self::AtMost(limit) => Damage::TooLarge {
                what: "a decompressed section",
                limit: limit as u64,
                found: limit as u64 + 1,
            },
        }
    }
}

/// A buffer that keeps its bytes initialized, so that refilling it costs nothing.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    length: usize,
}

impl Scratch {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns room for at least `wanted` more bytes after what is filled.
    pub(crate) fn room(&mut self, wanted: usize) -> &mut [u8] {
        let end = self.length + wanted;
        if self.bytes.len() < end {
            match self.length {
                // Pages that the system gives out as zeros are not written twice.
                0 => self.bytes = vec![0; with_reserve(end)],
                _ => self.bytes.resize(end, 0),
            }
        }
        &mut self.bytes[self.length..]
    }

    /// Returns the first `size` bytes, filled or not. They stay where they are as long as no more room is asked for.
    fn whole(&mut self, size: usize) -> &mut [u8] {
        self.room(size.saturating_sub(self.length));
        &mut self.bytes[..size]
    }

    /// Counts `count` bytes of the room as filled.
    pub(crate) fn advance(&mut self, count: usize) {
        self.length = (self.length + count).min(self.bytes.len());
    }
}

/// Decompresses sections, keeping the codecs' contexts.
#[derive(Default)]
pub(crate) struct Decompressor {
    brotli: brotli::Memory,
    zstd: zstd::Decoder,
    snappy: snappy::Decoder,
}

impl Decompressor {
    /// Replaces `out` by the decompressed `section`, as [`Self::append`] does.
    pub(crate) fn decompress(
        &mut self,
        compression: CompressionType,
        section: &[u8],
        size: Size,
        out: &mut Scratch,
    ) -> Result<(), Damage> {
        out.clear();
        self.append(compression, section, size, out)
    }

    /// Begins a section of `size` bytes that [`Self::advance`] decompresses piece by piece, and returns how much of it was read.
    /// `None` when the codec, or the section, is not one for that.
    pub(crate) fn begin(
        &mut self,
        compression: CompressionType,
        section: &[u8],
        size: usize,
        out: &mut Scratch,
    ) -> Result<Option<usize>, Damage> {
        out.clear();
        let (_declared_size, compressed) = read_varint64(section).ok_or(Damage::Invalid {
            what: "decompressed size of a section",
        })?;
        let begun = compression == CompressionType::Zstd && self.zstd.begin(compressed, size)?;
        Ok(begun.then_some(section.len() - compressed.len()))
    }

    /// Decompresses a section from what was `read` of it on, until `out` has `until` bytes of its `size`, and returns whether
    /// it has all. No other section may have been decompressed, and `out` not been changed, since it was begun.
    pub(crate) fn advance(
        &mut self,
        section: &[u8],
        read: &mut usize,
        until: usize,
        size: usize,
        out: &mut Scratch,
    ) -> Result<bool, Damage> {
        self.zstd.advance(section, read, until, size, out)
    }

    /// Appends the decompressed `section`, which must not be of type `None`, to `out`. Memory grows with the data that
    /// arrive, not with what the section declares.
    pub(crate) fn append(
        &mut self,
        compression: CompressionType,
        section: &[u8],
        size: Size,
        out: &mut Scratch,
    ) -> Result<(), Damage> {
        let start = out.len();
        let (_declared_size, compressed) = read_varint64(section).ok_or(Damage::Invalid {
            what: "decompressed size of a section",
        })?;
        match compression {
            CompressionType::None => {
                return Err(Damage::Invalid {
                    what: "compression type",
                });
            }
            CompressionType::Brotli => brotli::decompress(compressed, size, &mut self.brotli, out)?,
            CompressionType::Zstd => self.zstd.decompress(compressed, size, out)?,
            CompressionType::Snappy => self.snappy.decompress(compressed, size, out)?,
        }
        match size {
            Size::Exactly(expected) if out.len() - start != expected => Err(Damage::Mismatch {
                what: "decompressed size",
                expected: expected as u64,
                found: (out.len() - start) as u64,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns how much memory to take where `wanted` is needed: chunks are of about the same size, and one that is a little larger
/// than those before should find its place.
pub(crate) fn with_reserve(wanted: usize) -> usize {
    wanted.saturating_add(wanted / 16)
}

/// Returns how much room to offer next when `filled` bytes have come out of `compressed` bytes: generous as long as that is
/// cheap, then doubling.
fn next_room(compressed: usize, filled: usize, bound: usize) -> usize {
    const CHEAP: usize = 1 << 20;
    let wanted = filled.max(compressed.saturating_mul(8)).max(CHEAP);
    wanted.min((bound - filled).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compression; 7] = [
        Compression::Brotli {
            quality: 6,
            window_log: None,
        },
        Compression::Brotli {
            quality: 0,
            window_log: Some(10),
        },
        Compression::Zstd {
            level: 3,
            window_log: None,
        },
        Compression::Zstd {
            level: -5,
            window_log: Some(12),
        },
        Compression::Zstd {
            level: 19,
            window_log: None,
        },
        Compression::Snappy,
        Compression::SnappyDense,
    ];

    fn sections() -> Vec<Vec<u8>> {
        let text: Vec<u8> = b"customer,amount\n".iter().copied().cycle().take(70_000).collect();
        let mixed: Vec<u8> = (0..40_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        vec![vec![], vec![7], text, mixed, vec![0; 3 << 20]]
    }

    #[test]
    fn sections_come_back() {
        let mut decompressor = Decompressor::default();
        let mut out = Scratch::default();
        for compression in ALL {
            let mut compressor = Compressor::new(compression);
            for section in sections() {
                let mut compressed = Vec::new();
                compressor.append(&section, None, &mut compressed).expect("compresses");
                for size in [Size::Exactly(section.len()), Size::AtMost(section.len())] {
                    decompressor
                        .decompress(compression.compression_type(), &compressed, size, &mut out)
                        .expect("decompresses");
                    assert_eq!(out.as_slice(), section, "{compression:?}, {size:?}");
                }
            }
        }
    }

    #[test]
    fn sections_in_pieces_are_those_compressed_as_a_whole() {
        for compression in ALL {
            let mut compressor = Compressor::new(compression);
            let mut grown = Section::new(Some(1 << 20));
            let text: Vec<u8> = (0..300_000_u32).map(|i| (i.wrapping_mul(i) >> 9) as u8 & 15).collect();
            for size in [0, 1, 4_096, 65_535, 65_536, 65_537, 131_072, 300_000] {
                let section = &text[..size];
                let mut whole = Vec::new();
                compressor
                    .append(section, Some(1 << 20), &mut whole)
                    .expect("compresses");
                for step in [100, 4_096, 4_097, 65_536, 100_000] {
                    compressor.clear(&mut grown);
                    section
                        .chunks(step)
                        .for_each(|piece| compressor.push(piece, &mut grown));
                    compressor.finish(&mut grown).expect("compresses");
                    let mut pieces = Vec::new();
                    compressor.append_size(grown.size(), &mut pieces);
                    pieces.extend_from_slice(compressor.finished(&grown));
                    assert!(pieces == whole, "{compression:?}, {size} bytes by {step}");
                }
            }
        }
    }

    #[test]
    fn sections_of_another_size_are_refused() {
        let mut decompressor = Decompressor::default();
        let mut out = Scratch::default();
        for compression in ALL {
            for section in sections() {
                let mut compressed = Vec::new();
                Compressor::new(compression)
                    .append(&section, None, &mut compressed)
                    .expect("compresses");
                let mut check = |compressed: &[u8], size: Size, why: &str| {
                    let result = decompressor.decompress(compression.compression_type(), compressed, size, &mut out);
                    assert!(result.is_err(), "{compression:?}, {} bytes, {why}", section.len());
                };
                check(&compressed, Size::Exactly(section.len() + 1), "one byte more");
                if let Some(less) = section.len().checked_sub(1) {
                    check(&compressed, Size::Exactly(less), "one byte less");
                    check(&compressed, Size::AtMost(less), "one byte less");
                }
                for cut in 0..compressed.len().min(300) {
                    check(&compressed[..cut], Size::Exactly(section.len()), "cut");
                    check(&compressed[..cut], Size::AtMost(section.len()), "cut");
                }
                compressed.push(0);
                check(&compressed, Size::Exactly(section.len()), "trailing byte");
                check(&compressed, Size::AtMost(section.len()), "trailing byte");
            }
        }
    }
}
