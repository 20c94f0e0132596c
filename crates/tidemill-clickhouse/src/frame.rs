//! Frames: pieces of the byte stream, compressed and with a checksum.
//!
//! When a query asks for compression, blocks travel inside of frames. A frame is 16 bytes of checksum, a byte for the method,
//! the size of the frame without its checksum (4 bytes), the size of what is inside (4 bytes), and the compressed bytes. The
//! checksum is [`city_hash_128`] of all that follows it. Frames say nothing of blocks: a block may be in many.
//!
//! Source: `Compression/CompressedReadBufferBase.cpp`, `CompressionInfo.h` and `ICompressionCodec.cpp` of ClickHouse.
//!
//! LZ4 is read by `lz4_flex`, which has no unsafe code here, and written by the C library. Decompressing 64 MB of one column,
//! `lz4_flex` is 1.27 times as fast as the C library for ascending numbers, which are the slowest to decompress (1.63 and
//! 1.28 GB/s), 0.80 for small random numbers (3.0 and 3.8), 0.83 for short texts (5.5 and 6.6), 0.90 for prices (3.4 and 3.7), and
//! equal for lines of a log (3.0) and for what cannot be compressed. It compresses at 0.6 to 0.9 of the C library's speed, and
//! has no LZ4HC. Measured on 2026-11-21 on two cores of an AMD EPYC, lz4 1.28.1 (liblz4 1.10.0) and lz4_flex 0.14.0, by
//! `peers/benches/lz4_benchmarks.rs`.
//!
//! Codecs of columns on disk (`Delta`, `Gorilla`, several in one another) do not travel and are not here.

mod city_hash;

use std::fmt;

use lz4::block::CompressionMode;

pub use self::city_hash::city_hash_128;
use crate::{Error, Result};

/// How a client wants blocks to be compressed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Compression {
    /// No frames at all.
    None,
    /// Frames with bytes as they are: only the checksum.
    Checksum,
    /// LZ4, fast.
    #[default]
    Lz4,
    /// LZ4 that takes its time to write, with a level from 1 to 12. It is read like LZ4.
    Lz4Hc(u8),
    /// Zstandard, with a level from 1 to 22.
    Zstd(u8),
}

impl Compression {
    /// Whether blocks travel in frames.
    #[must_use]
    pub fn has_frames(self) -> bool {
        self != Self::None
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Checksum => f.write_str("checksum"),
            Self::Lz4 => f.write_str("lz4"),
            Self::Lz4Hc(level) => write!(f, "lz4hc({level})"),
            Self::Zstd(level) => write!(f, "zstd({level})"),
        }
    }
}

impl std::str::FromStr for Compression {
    type Err = Error;

    /// Parses `none`, `checksum`, `lz4`, `lz4hc`, `zstd`, the last two with or without a level as in `zstd(3)`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`].
    fn from_str(text: &str) -> Result<Self> {
        let (name, level) = match text.split_once('(') {
            Some((name, level)) => (name, level.strip_suffix(')').and_then(|level| level.parse::<u8>().ok())),
            None => (text, Some(0)),
        };
        match (name.to_ascii_lowercase().as_str(), level) {
            ("none" | "0" | "false", Some(0)) => Ok(Self::None),
            ("checksum", Some(0)) => Ok(Self::Checksum),
            ("lz4" | "1" | "true", Some(0)) => Ok(Self::Lz4),
            ("lz4hc", Some(0)) => Ok(Self::Lz4Hc(9)),
            ("lz4hc", Some(level @ 1..=12)) => Ok(Self::Lz4Hc(level)),
            ("zstd", Some(0)) => Ok(Self::Zstd(1)),
            ("zstd", Some(level @ 1..=22)) => Ok(Self::Zstd(level)),
            _ => Err(Error::Option {
                option: format!("compression={text}"),
                expected: "none, checksum, lz4, lz4hc, lz4hc(1..12), zstd or zstd(1..22)".to_owned(),
            }),
        }
    }
}

/// The bytes in front of what a frame holds, decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameHeader {
    checksum: u128,
    method: Method,
    compressed: usize,
    decompressed: usize,
}

impl FrameHeader {
    /// The bytes of a header.
    pub const SIZE: usize = CHECKSUM_SIZE + METHOD_AND_SIZES;

    /// The largest frame that is read, compressed or not: 64 MiB. ClickHouse itself writes frames of 1 MiB.
    pub const MAX_FRAME: usize = 64 << 20;

    /// Decodes a header. `offset` is where in the stream of frames it is, for errors.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] for an unknown method and for sizes that the method cannot have, [`Error::Limit`] for a frame of
    /// more than [`FrameHeader::MAX_FRAME`] bytes.
    pub fn decode(bytes: &[u8; Self::SIZE], offset: u64) -> Result<Self> {
        let [checksum @ .., m, c0, c1, c2, c3, d0, d1, d2, d3] = *bytes;
        let broken = |what, expected, found| {
            Err(Error::Protocol {
                what,
                offset,
                expected,
                found,
            })
        };
        let Some(method) = Method::of_byte(m) else {
            return broken("the method of a frame", "0x02, 0x82 or 0x90", format!("0x{m:02x}"));
        };
        let with_header = size("the compressed size of a frame", u32::from_le_bytes([c0, c1, c2, c3]))?;
        let decompressed = size("the size of a frame's data", u32::from_le_bytes([d0, d1, d2, d3]))?;
        let Some(compressed) = with_header.checked_sub(METHOD_AND_SIZES) else {
            return broken("the compressed size of a frame", "9 or more", with_header.to_string());
        };
        let possible = match method {
            Method::None => compressed == decompressed,
            // A byte of LZ4 stands for at most 255 bytes, and the last token for a few more.
            Method::Lz4 => decompressed <= compressed.saturating_mul(255).saturating_add(64),
            Method::Zstd => true,
        };
        if !possible {
            return broken(
                "the size of a frame's data",
                "one that its compressed bytes can have",
                format!("{decompressed} from {compressed}"),
            );
        }
        Ok(Self {
            checksum: u128::from_le_bytes(checksum),
            method,
            compressed,
            decompressed,
        })
    }

    /// How many bytes follow the header.
    #[must_use]
    pub fn compressed(&self) -> usize {
        self.compressed
    }

    /// How many bytes the frame holds.
    #[must_use]
    pub fn decompressed(&self) -> usize {
        self.decompressed
    }
}

/// Decompresses frames, one after another.
#[derive(Default)]
pub struct FrameDecoder {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl FrameDecoder {
    /// Checks `frame`, which is a header and the bytes after it, and decompresses it into `out`, which has
    /// [`FrameHeader::decompressed`] bytes. `offset` is where in the stream of frames it is, for errors.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] when `frame` is shorter than its header says, [`Error::Checksum`] when bytes were changed, and
    /// [`Error::Protocol`] when they do not decompress to as many bytes as the header says.
    pub fn decode(&mut self, header: &FrameHeader, frame: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
        let end = FrameHeader::SIZE + header.compressed;
        let (Some(hashed), Some(payload)) = (frame.get(CHECKSUM_SIZE..end), frame.get(FrameHeader::SIZE..end)) else {
            return Err(Error::Truncated {
                what: "a frame",
                offset: frame.len() as u64,
            });
        };
        let found = city_hash_128(hashed);
        if found != header.checksum {
            return Err(Error::Checksum {
                offset,
                expected: header.checksum,
                found,
            });
        }
        let broken = |found: String| Error::Protocol {
            what: "the data of a frame",
            offset,
            expected: "bytes that decompress to the size in its header",
            found,
        };
        let written = match header.method {
            Method::None => {
                if out.len() != payload.len() {
                    return Err(broken(format!("{} bytes for {}", payload.len(), out.len())));
                }
                out.copy_from_slice(payload);
                out.len()
            }
            Method::Lz4 => lz4_flex::block::decompress_into(payload, out).map_err(|error| broken(error.to_string()))?,
            Method::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(Error::io("prepare zstd"))?),
                };
                zstd.decompress_to_buffer(payload, out)
                    .map_err(|error| broken(error.to_string()))?
            }
        };
        if written == out.len() {
            Ok(())
        } else {
            Err(broken(format!("{written} bytes for {}", out.len())))
        }
    }
}

impl fmt::Debug for FrameDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameDecoder").finish_non_exhaustive()
    }
}

/// Compresses bytes into frames.
pub struct FrameEncoder {
    compression: Compression,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl FrameEncoder {
    /// Compresses by `compression`; for [`Compression::None`] as for [`Compression::Checksum`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a compressor cannot be made.
    pub fn new(compression: Compression) -> Result<Self> {
        let zstd = match compression {
            Compression::Zstd(level) => {
                Some(zstd::bulk::Compressor::new(i32::from(level)).map_err(Error::io("prepare zstd"))?)
            }
            _ => None,
        };
        Ok(Self { compression, zstd })
    }

    /// Writes `bytes` as frames of up to 1 MiB after what is in `out`. No bytes make no frame.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a compressor fails.
    pub fn encode(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        for piece in bytes.chunks(FRAME_DATA) {
            self.encode_frame(piece, out)?;
        }
        Ok(())
    }

    fn encode_frame(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let begin = out.len();
        let payload = begin + FrameHeader::SIZE;
        let bound = match self.compression {
            Compression::None | Compression::Checksum => bytes.len(),
            Compression::Lz4 | Compression::Lz4Hc(_) => {
                lz4::block::compress_bound(bytes.len()).map_err(Error::io("compress by LZ4"))?
            }
            Compression::Zstd(_) => zstd::zstd_safe::compress_bound(bytes.len()),
        };
        out.resize(payload + bound, 0);
        let room = out.get_mut(payload..).unwrap_or_default();
        let (method, length) = match (self.compression, &mut self.zstd) {
            (Compression::Lz4, _) => (
                Method::Lz4,
                lz4::block::compress_to_buffer(bytes, Some(CompressionMode::FAST(1)), false, room)
                    .map_err(Error::io("compress by LZ4"))?,
            ),
            (Compression::Lz4Hc(level), _) => (
                Method::Lz4,
                lz4::block::compress_to_buffer(
                    bytes,
                    Some(CompressionMode::HIGHCOMPRESSION(i32::from(level))),
                    false,
                    room,
                )
                .map_err(Error::io("compress by LZ4HC"))?,
            ),
            (Compression::Zstd(_), Some(zstd)) => (
                Method::Zstd,
                zstd.compress_to_buffer(bytes, room)
                    .map_err(Error::io("compress by zstd"))?,
            ),
            _ => {
                room.copy_from_slice(bytes);
                (Method::None, bytes.len())
            }
        };
        out.truncate(payload + length);
        // Both sizes are at most that of a piece and its bound.
        let sizes = [METHOD_AND_SIZES + length, bytes.len()].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        let [compressed, decompressed] = sizes.map(u32::to_le_bytes);
        let header = [&[method.byte()][..], &compressed, &decompressed].concat();
        if let Some(place) = out.get_mut(begin + CHECKSUM_SIZE..payload) {
            place.copy_from_slice(&header);
        }
        let checksum = city_hash_128(out.get(begin + CHECKSUM_SIZE..).unwrap_or_default());
        if let Some(place) = out.get_mut(begin..begin + CHECKSUM_SIZE) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
        Ok(())
    }
}

impl fmt::Debug for FrameEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameEncoder")
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

/// The byte that names a codec: `CompressionMethodByte` of ClickHouse.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Method {
    None,
    Lz4,
    Zstd,
}

impl Method {
    fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            0x02 => Some(Self::None),
            0x82 => Some(Self::Lz4),
            0x90 => Some(Self::Zstd),
            _ => None,
        }
    }

    fn byte(self) -> u8 {
        match self {
            Self::None => 0x02,
            Self::Lz4 => 0x82,
            Self::Zstd => 0x90,
        }
    }
}

fn size(what: &'static str, size: u32) -> Result<usize> {
    match usize::try_from(size) {
        Ok(size) if size <= FrameHeader::MAX_FRAME => Ok(size),
        _ => Err(Error::Limit {
            what,
            limit: FrameHeader::MAX_FRAME as u64,
            found: u64::from(size),
        }),
    }
}

const CHECKSUM_SIZE: usize = 16;
const METHOD_AND_SIZES: usize = 9;

/// ClickHouse's own size of a frame's data (`DBMS_DEFAULT_BUFFER_SIZE`).
const FRAME_DATA: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Compression; 5] = [
        Compression::None,
        Compression::Checksum,
        Compression::Lz4,
        Compression::Lz4Hc(9),
        Compression::Zstd(1),
    ];

    fn encoded(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        FrameEncoder::new(compression).unwrap().encode(bytes, &mut out).unwrap();
        out
    }

    fn decoded(mut frames: &[u8]) -> Result<Vec<u8>> {
        let mut decoder = FrameDecoder::default();
        let mut out = Vec::new();
        while !frames.is_empty() {
            let header = frames.first_chunk().ok_or(Error::Truncated {
                what: "a frame",
                offset: frames.len() as u64,
            })?;
            let header = FrameHeader::decode(header, 0)?;
            let begin = out.len();
            out.resize(begin + header.decompressed(), 0);
            decoder.decode(&header, frames, &mut out[begin..], 0)?;
            frames = &frames[FrameHeader::SIZE + header.compressed()..];
        }
        Ok(out)
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            pieces in proptest::collection::vec((any::<u8>(), 0..40_000_usize), 0..60),
            random in proptest::collection::vec(any::<u8>(), 0..5000),
        ) {
            let mut bytes = random;
            for (byte, count) in pieces {
                bytes.extend(std::iter::repeat_n(byte, count));
            }
            for compression in ALL {
                prop_assert_eq!(&decoded(&encoded(compression, &bytes)).unwrap(), &bytes);
            }
        }
    }

    #[test]
    fn a_changed_or_missing_byte_is_an_error() {
        for compression in ALL {
            let frame = encoded(compression, b"a frame with some bytes, some bytes, some bytes");
            for at in 0..frame.len() {
                assert!(at == 0 || decoded(&frame[..at]).is_err(), "{compression} cut at {at}");
                let mut changed = frame.clone();
                changed[at] ^= 0x40;
                assert!(decoded(&changed).is_err(), "{compression} changed at {at}");
            }
        }
    }

    #[test]
    fn sizes_are_bounded_before_memory_is_taken() {
        let header = |method: u8, compressed: u32, decompressed: u32| {
            let mut bytes = [0; FrameHeader::SIZE];
            bytes[16] = method;
            bytes[17..21].copy_from_slice(&compressed.to_le_bytes());
            bytes[21..].copy_from_slice(&decompressed.to_le_bytes());
            FrameHeader::decode(&bytes, 0)
        };
        assert!(header(0x82, 20, 100).is_ok());
        assert!(matches!(header(0x90, 20, u32::MAX), Err(Error::Limit { .. })));
        assert!(matches!(header(0x90, u32::MAX, 20), Err(Error::Limit { .. })));
        assert!(matches!(header(0x82, 20, 10_000), Err(Error::Protocol { .. })));
        assert!(matches!(header(0x02, 20, 12), Err(Error::Protocol { .. })));
        assert!(matches!(header(0x82, 8, 0), Err(Error::Protocol { .. })));
        assert!(matches!(header(0x91, 20, 20), Err(Error::Protocol { .. })));
    }

    #[test]
    fn a_frame_that_lies_about_its_data_is_an_error() {
        for compression in [Compression::Lz4, Compression::Zstd(1)] {
            let mut frame = encoded(compression, &[7; 1000]);
            for wrong in [999_u32, 1001, 0] {
                frame[21..25].copy_from_slice(&wrong.to_le_bytes());
                let checksum = city_hash_128(&frame[16..]);
                frame[..16].copy_from_slice(&checksum.to_le_bytes());
                assert!(
                    matches!(decoded(&frame), Err(Error::Protocol { .. })),
                    "{compression} {wrong}"
                );
            }
        }
    }

    #[test]
    fn compression_is_written_as_it_is_parsed() {
        for compression in ALL {
            assert_eq!(compression.to_string().parse::<Compression>().unwrap(), compression);
        }
        assert_eq!("ZSTD".parse::<Compression>().unwrap(), Compression::Zstd(1));
        for wrong in ["", "zst", "zstd(23)", "zstd(3", "lz4(2)", "none(1)"] {
            assert!(wrong.parse::<Compression>().is_err(), "{wrong}");
        }
    }
}
