//! What compresses a file as a whole.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// What compresses a file as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packing {
    /// Nothing.
    #[default]
    None,
    /// gzip (RFC 1952), of one member or several.
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Packing {
    /// What the first bytes of a file tell.
    pub fn of_beginning(beginning: &[u8]) -> Self {
        match beginning {
            [0x1F, 0x8B, 8, ..] => Self::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// What the last extension of a name tells: `.gz`, `.zst`.
    pub fn of_name(name: &Path) -> Self {
        let extension = name
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_ascii_lowercase();
        match extension.as_str() {
            "gz" => Self::Gzip,
            "zst" | "zstd" => Self::Zstd,
            _ => Self::None,
        }
    }

    /// The name, as messages have it; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The bytes as they were before they were compressed.
    ///
    /// # Errors
    ///
    /// What the decoder needs and cannot have.
    pub fn unpacked<'a>(self, bytes: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::None => Box::new(bytes),
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, bytes))),
            Self::Zstd => Box::new(zstd::Decoder::with_buffer(BufReader::with_capacity(CHUNK, bytes))?),
        })
    }

    /// A writer that compresses what it is given into `out`.
    ///
    /// # Errors
    ///
    /// What the encoder needs and cannot have.
    pub fn packed<W: Write>(self, out: W) -> io::Result<Packed<W>> {
        Ok(match self {
            Self::None => Packed::None(out),
            Self::Gzip => Packed::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Self::Zstd => Packed::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }
}

/// A writer that compresses, or not.
pub enum Packed<W: Write> {
    /// What is written goes on as it is.
    None(W),
    /// By gzip.
    Gzip(GzEncoder<W>),
    /// By Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packed<W> {
    /// Finishes the compressed stream and flushes the writer.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Self::None(out) => out,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::None(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

const CHUNK: usize = 256 << 10;
