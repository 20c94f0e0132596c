//! What is left of reading and writing a file when nothing is done but what cannot be left out: the codec's work on every
//! section, by the same C libraries (snappy by the crate snap), and the hash of all data.

mod brotli;

use tidemill_riegeli::{ChunkReader, ChunkType, hash};
use zstd_safe::{CCtx, CParameter, DCtx};

use crate::clock::Times;

/// The chunks of a file, taken apart.
pub struct CodecLimit {
    /// The data of each chunk as stored, which are hashed.
    data: Vec<Vec<u8>>,
    codec: Codec,
    sections: Vec<Section>,
}

struct Section {
    compressed: Vec<u8>,
    raw: Vec<u8>,
    /// How large Brotli is told that it is. The C++ library says so of the values of simple chunks before it knows.
    size_hint: usize,
}

#[derive(Clone, Copy)]
enum Codec {
    None,
    Brotli,
    Zstd,
    Snappy,
}

impl CodecLimit {
    /// Takes a file apart whose chunks have one codec.
    ///
    /// # Panics
    ///
    /// When the file is damaged.
    pub fn new(file: &[u8]) -> Self {
        let mut limit = Self {
            data: Vec::new(),
            codec: Codec::None,
            sections: Vec::new(),
        };
        let mut chunks = ChunkReader::from_bytes(file).expect("a file");
        while let Some(chunk) = chunks.next_chunk().expect("a chunk") {
            limit.data.push(chunk.data.to_vec());
            let Some((&codec, sections)) = chunk.data.split_first() else {
                continue;
            };
            limit.codec = match codec {
                b'b' => Codec::Brotli,
                b'z' => Codec::Zstd,
                b's' => Codec::Snappy,
                _ => Codec::None,
            };
            match (limit.codec, chunk.header.chunk_type) {
                (Codec::None, _) => {}
                (_, ChunkType::Transposed) => limit.add_transposed(sections),
                _ => limit.add_simple(sections),
            }
        }
        limit
    }

    /// Seconds of processor time to compress all sections and hash the data.
    pub fn write(&self) -> f64 {
        let mut zstd = CCtx::create();
        zstd.set_parameter(CParameter::CompressionLevel(3)).expect("a level");
        let mut snappy = snap::raw::Encoder::new();
        let most = self
            .sections
            .iter()
            .map(|section| section.raw.len())
            .max()
            .unwrap_or_default();
        let mut room = vec![0; 2 * most + 1_024];
        self.cpu(|Section { raw, size_hint, .. }| match self.codec {
            Codec::None => {}
            Codec::Brotli => brotli::compress(raw, *size_hint, &mut room),
            Codec::Zstd => drop(zstd.compress2(&mut room[..], raw).expect("room")),
            Codec::Snappy => drop(snappy.compress(raw, &mut room).expect("room")),
        })
    }

    /// Seconds of processor time to decompress all sections and hash the data.
    pub fn read(&self) -> f64 {
        let mut zstd = DCtx::create();
        let mut snappy = snap::raw::Decoder::new();
        let most = self
            .sections
            .iter()
            .map(|section| section.raw.len())
            .max()
            .unwrap_or_default();
        let mut room = vec![0; most];
        self.cpu(|Section { compressed, raw, .. }| {
            let room = &mut room[..raw.len()];
            match self.codec {
                Codec::None => {}
                Codec::Brotli => brotli::decompress(compressed, room),
                Codec::Zstd => drop(zstd.decompress(room, compressed).expect("a frame")),
                Codec::Snappy => drop(snappy.decompress(compressed, room).expect("a section")),
            }
        })
    }

    fn cpu(&self, mut work: impl FnMut(&Section)) -> f64 {
        let times = Times::of(
            || (),
            |()| {
                self.sections.iter().for_each(&mut work);
                self.data.iter().fold(0, |sum, data| sum ^ hash(data))
            },
        );
        times.cpu.as_secs_f64()
    }

    /// The sizes, then the values.
    fn add_simple(&mut self, sections: &[u8]) {
        let (size, sections) = varint(sections);
        let (sizes, values) = sections.split_at(size);
        self.add(sizes, Some(0));
        self.add(values, Some(1 << 20));
    }

    /// The header, which has the sizes of the buckets, the buckets, the transitions.
    fn add_transposed(&mut self, sections: &[u8]) {
        let (size, sections) = varint(sections);
        let (header, mut sections) = sections.split_at(size);
        self.add(header, None);
        let header = self.sections.last().expect("the header").raw.clone();
        let (buckets, header) = varint(&header);
        let (_buffers, mut header) = varint(header);
        for _ in 0..buckets {
            let (size, behind) = varint(header);
            header = behind;
            let (bucket, rest) = sections.split_at(size);
            self.add(bucket, None);
            sections = rest;
        }
        self.add(sections, None);
    }

    fn add(&mut self, section: &[u8], size_hint: Option<usize>) {
        let (size, compressed) = varint(section);
        let mut raw = vec![0; size];
        match self.codec {
            Codec::None => {}
            Codec::Brotli => brotli::decompress(compressed, &mut raw),
            Codec::Zstd => drop(zstd_safe::decompress(&mut raw[..], compressed).expect("a frame")),
            Codec::Snappy => drop(
                snap::raw::Decoder::new()
                    .decompress(compressed, &mut raw)
                    .expect("a section"),
            ),
        }
        self.sections.push(Section {
            compressed: compressed.to_vec(),
            size_hint: size_hint.unwrap_or(raw.len()),
            raw,
        });
    }
}

fn varint(bytes: &[u8]) -> (usize, &[u8]) {
    let length = 1 + bytes.iter().take_while(|&&byte| byte >= 0x80).count();
    let (number, behind) = bytes.split_at(length);
    let bits = number.iter().zip((0..).step_by(7));
    (
        bits.fold(0, |value, (&byte, shift)| value | usize::from(byte & 0x7f) << shift),
        behind,
    )
}
