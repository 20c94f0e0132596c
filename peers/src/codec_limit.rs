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
    /// The sections of all chunks, compressed, and what is in them.
    sections: Vec<(Vec<u8>, Vec<u8>)>,
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
        let most = self.sections.iter().map(|(_, raw)| raw.len()).max().unwrap_or_default();
        let mut room = vec![0; 2 * most + 1_024];
        self.cpu(|_, raw| match self.codec {
            Codec::None => {}
            Codec::Brotli => brotli::compress(raw, &mut room),
            Codec::Zstd => drop(zstd.compress2(&mut room[..], raw).expect("room")),
            Codec::Snappy => drop(snappy.compress(raw, &mut room).expect("room")),
        })
    }

    /// Seconds of processor time to decompress all sections and hash the data.
    pub fn read(&self) -> f64 {
        let mut zstd = DCtx::create();
        let mut snappy = snap::raw::Decoder::new();
        let most = self.sections.iter().map(|(_, raw)| raw.len()).max().unwrap_or_default();
        let mut room = vec![0; most];
        self.cpu(|compressed, raw| {
            let room = &mut room[..raw.len()];
            match self.codec {
                Codec::None => {}
                Codec::Brotli => brotli::decompress(compressed, room),
                Codec::Zstd => drop(zstd.decompress(room, compressed).expect("a frame")),
                Codec::Snappy => drop(snappy.decompress(compressed, room).expect("a section")),
            }
        })
    }

    fn cpu(&self, mut work: impl FnMut(&[u8], &[u8])) -> f64 {
        let times = Times::of(
            || (),
            |()| {
                for (compressed, raw) in &self.sections {
                    work(compressed, raw);
                }
                self.data.iter().fold(0, |sum, data| sum ^ hash(data))
            },
        );
        times.cpu.as_secs_f64()
    }

    /// The sizes, then the values.
    fn add_simple(&mut self, sections: &[u8]) {
        let (size, sections) = varint(sections);
        let (sizes, values) = sections.split_at(size);
        self.add(sizes);
        self.add(values);
    }

    /// The header, which has the sizes of the buckets, the buckets, the transitions.
    fn add_transposed(&mut self, sections: &[u8]) {
        let (size, sections) = varint(sections);
        let (header, mut sections) = sections.split_at(size);
        self.add(header);
        let (_, header) = self.sections.last().expect("the header").clone();
        let (buckets, header) = varint(&header);
        let (_buffers, mut header) = varint(header);
        for _ in 0..buckets {
            let (size, behind) = varint(header);
            header = behind;
            let (bucket, rest) = sections.split_at(size);
            self.add(bucket);
            sections = rest;
        }
        self.add(sections);
    }

    fn add(&mut self, section: &[u8]) {
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
        self.sections.push((compressed.to_vec(), raw));
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
