//! How to write a file, as options and as the C++ library's option string.
//!
//! Source of the string: google/riegeli, `doc/record_writer_options.md`.

use std::str::FromStr;

use prost::Message;

use crate::{
    Compression, Error, FileName, RecordType, RecordsMetadata, Result, block_header::BLOCK_SIZE, options_parser,
};

/// Options of a [`RecordWriter`](crate::RecordWriter).
#[derive(Clone, Debug, PartialEq)]
pub struct WriterOptions {
    pub(crate) compression: Compression,
    pub(crate) chunk_size: Option<u64>,
    pub(crate) transpose: bool,
    pub(crate) bucket_fraction: f64,
    pub(crate) metadata: Option<Vec<u8>>,
    pub(crate) initial_padding: u64,
    pub(crate) final_padding: u64,
    pub(crate) parallelism: usize,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            compression: Compression::default(),
            chunk_size: None,
            transpose: false,
            bucket_fraction: 1.0,
            metadata: None,
            initial_padding: 1,
            final_padding: 1,
            parallelism: 0,
        }
    }
}

impl WriterOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the codec. Default: Brotli of quality 6.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the wanted size of a chunk before compression, where a record counts 8 bytes more than it has. Default: 1 MiB, or
    /// 4 KiB when uncompressed.
    #[must_use]
    pub fn chunk_size(mut self, chunk_size: u64) -> Self {
        self.chunk_size = Some(chunk_size.max(1));
        self
    }

    /// Sets whether chunks are transposed: messages are taken apart by field, which compresses better and lets readers leave
    /// fields out. Records that are no messages are stored too. Default: no.
    #[must_use]
    pub fn transpose(mut self, transpose: bool) -> Self {
        self.transpose = transpose;
        self
    }

    /// Sets how much of a transposed chunk is compressed together, as a part of its wanted size from 0 to 1. With less,
    /// readers that leave fields out decompress less, and the file is larger. Default: 1.
    #[must_use]
    pub fn bucket_fraction(mut self, fraction: f64) -> Self {
        self.bucket_fraction = fraction.clamp(0.0, 1.0);
        self
    }

    /// Sets the file metadata. Default: none.
    #[must_use]
    pub fn metadata(self, metadata: &RecordsMetadata) -> Self {
        self.serialized_metadata(metadata.encode_to_vec())
    }

    /// Sets the file metadata, a serialized `RecordsMetadata`. Default: none.
    #[must_use]
    pub fn serialized_metadata(mut self, metadata: Vec<u8>) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Pads at the beginning, when appending, and at the end up to a multiple of `padding`. With 64 KiB files can be
    /// concatenated as they are. Default: 1.
    #[must_use]
    pub fn padding(self, padding: u64) -> Self {
        self.initial_padding(padding).final_padding(padding)
    }

    /// Pads up to a multiple of `padding` before anything is appended to a file. Default: 1.
    #[must_use]
    pub fn initial_padding(mut self, padding: u64) -> Self {
        self.initial_padding = padding.max(1);
        self
    }

    /// Pads up to a multiple of `padding` at the end of the file and at every flush. Default: 1.
    #[must_use]
    pub fn final_padding(mut self, padding: u64) -> Self {
        self.final_padding = padding.max(1);
        self
    }

    /// Returns whether metadata are set.
    pub fn has_metadata(&self) -> bool {
        self.metadata.is_some()
    }

    /// Encodes up to `chunks` chunks at a time on threads of their own. They are written in their order, by the thread that
    /// calls the writer. Uncompressed simple chunks have nothing to gain and are encoded where they are written. Default: 0.
    #[must_use]
    pub fn parallelism(mut self, chunks: usize) -> Self {
        self.parallelism = chunks;
        self
    }

    /// Sets the type of the records in the file metadata, which are otherwise kept. Default: none.
    ///
    /// # Errors
    /// [`Error::Metadata`] when metadata were set that are not a `RecordsMetadata`.
    pub fn record_type(self, record_type: RecordType) -> Result<Self> {
        let metadata = RecordsMetadata::decode(self.metadata.as_deref().unwrap_or_default());
        let mut metadata = metadata.map_err(|error| Error::Metadata {
            file: FileName::default(),
            problem: format!("not a RecordsMetadata message: {error}"),
        })?;
        metadata.set_record_type(record_type);
        Ok(self.metadata(&metadata))
    }

    /// Returns the wanted size of a chunk.
    pub fn effective_chunk_size(&self) -> u64 {
        self.chunk_size.unwrap_or(match self.compression {
            Compression::None => 4 << 10,
            _ => 1 << 20,
        })
    }
}

impl WriterOptions {
    /// Returns how many bytes of a transposed chunk are compressed together: at least 1.
    pub(crate) fn bucket_size(&self) -> u64 {
        let size = (self.effective_chunk_size() as f64 * self.bucket_fraction).round();
        // A cast that keeps within bounds.
        (size as u64).max(1)
    }
}

/// Parses options separated by commas: `default`, `uncompressed`, `brotli[:0..11]`, `zstd[:-131072..22]`, `snappy[:1..2]`,
/// `window_log:auto|10..31`, `brotli_encoder:cbrotli`, `chunk_size:auto|SIZE`, `transpose[:true|false]`,
/// `bucket_fraction:0..1`, `padding[:SIZE]`, `initial_padding[:SIZE]`, `final_padding[:SIZE]`,
/// `parallelism:N`. A size is a real number with an optional `B`, `k`, `K`, `M`, `G`, `T`, `P` or `E`, rounded to bytes of which
/// there is at least one. Options may be empty, and an empty value is none: `zstd:,,padding:` is `zstd,padding`.
///
/// # Errors
/// [`Error::Option`] for any other text.
impl FromStr for WriterOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut options = Self::default();
        let mut window_log = None;
        for option in options_parser::options(text)? {
            if let Some(codec) = option.codec()? {
                options.compression = codec;
                continue;
            }
            match option.key {
                "default" => {}
                "window_log" => window_log = option.window_log()?,
                "brotli_encoder" => match option.value {
                    "cbrotli" | "rbrotli_or_cbrotli" => {}
                    _ => return Err(option.expected("cbrotli, the only encoder here")),
                },
                "chunk_size" if option.value == "auto" => options.chunk_size = None,
                "chunk_size" => {
                    let size = option.bytes();
                    options.chunk_size = Some(size.ok_or_else(|| option.expected("auto, or a size such as 1M"))?);
                }
                "padding" | "initial_padding" | "final_padding" => {
                    let padding = match option.value {
                        "" => BLOCK_SIZE,
                        _ => option.bytes().ok_or_else(|| option.expected("a size such as 64K"))?,
                    };
                    if option.key != "final_padding" {
                        options.initial_padding = padding;
                    }
                    if option.key != "initial_padding" {
                        options.final_padding = padding;
                    }
                }
                "transpose" => options.transpose = option.bool(true)?,
                "bucket_fraction" => {
                    let fraction = option.real(0.0..=1.0);
                    options.bucket_fraction = fraction.ok_or_else(|| option.expected("a number from 0 to 1"))?;
                }
                "parallelism" => {
                    options.parallelism = option
                        .int(0..=i64::from(i32::MAX))
                        .and_then(|number| usize::try_from(number).ok())
                        .ok_or_else(|| option.expected("a number from 0"))?;
                }
                _ => return Err(option.expected("an option of a Riegeli/records writer")),
            }
        }
        if let Some(log) = window_log {
            options.compression = with_window_log(options.compression, log)?;
        }
        Ok(options)
    }
}

/// Returns the codec with a window of 2^`log` bytes.
pub(crate) fn with_window_log(mut compression: Compression, log: u32) -> Result<Compression> {
    let (window_log, range) = match &mut compression {
        Compression::Brotli { window_log, .. } => (window_log, 10..=30),
        Compression::Zstd { window_log, .. } => (window_log, 10..=31),
        Compression::None | Compression::Snappy | Compression::SnappyDense => {
            return Err(Error::Option {
                option: format!("window_log:{log}"),
                expected: "brotli or zstd with a window".to_owned(),
            });
        }
    };
    if !range.contains(&log) {
        return Err(Error::Option {
            option: format!("window_log:{log}"),
            expected: format!("{} to {}", range.start(), range.end()),
        });
    }
    *window_log = Some(log);
    Ok(compression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_strings_of_the_cpp_library() {
        let base = WriterOptions::new();
        for (text, expected) in [
            ("", base.clone()),
            ("default", base.clone()),
            ("uncompressed", base.clone().compression(Compression::None)),
            ("brotli", base.clone().compression(Compression::brotli(6))),
            ("zstd:-5", base.clone().compression(Compression::zstd(-5))),
            ("snappy:1", base.clone().compression(Compression::Snappy)),
            ("snappy:2", base.clone().compression(Compression::SnappyDense)),
            (
                "brotli:11,window_log:10",
                base.clone().compression(Compression::Brotli {
                    quality: 11,
                    window_log: Some(10),
                }),
            ),
            (
                "window_log:31,zstd",
                base.clone().compression(Compression::Zstd {
                    level: 3,
                    window_log: Some(31),
                }),
            ),
            (
                "zstd:3,chunk_size:1M",
                base.clone().compression(Compression::zstd(3)).chunk_size(1 << 20),
            ),
            ("chunk_size:auto,transpose:false", base.clone()),
            ("parallelism:3", base.clone().parallelism(3)),
            ("transpose", base.clone().transpose(true)),
            (
                "transpose:true,bucket_fraction:0.5",
                base.clone().transpose(true).bucket_fraction(0.5),
            ),
            ("padding:1000", base.clone().padding(1_000)),
            ("padding", base.clone().padding(65_536)),
            ("final_padding:4k", base.clone().final_padding(4_096)),
            ("initial_padding:64K", base.clone().initial_padding(65_536)),
            ("chunk_size:1.5M", base.clone().chunk_size(3 << 19)),
            ("chunk_size:1e6", base.clone().chunk_size(1_000_000)),
            ("chunk_size:16E", base.clone().chunk_size(u64::MAX)),
            (
                "padding:0.5k,bucket_fraction:.25",
                base.clone().padding(512).bucket_fraction(0.25),
            ),
            (
                ",default:,,zstd:,transpose:,padding:,",
                base.clone()
                    .compression(Compression::zstd(3))
                    .transpose(true)
                    .padding(65_536),
            ),
            (",,", base.clone()),
            ("uncompressed:", base.clone().compression(Compression::None)),
            ("brotli:", base.clone().compression(Compression::brotli(6))),
            ("snappy:", base.clone().compression(Compression::Snappy)),
            ("initial_padding:", base.clone().initial_padding(65_536)),
            ("final_padding:", base.clone().final_padding(65_536)),
            ("parallelism: +2 ", base.clone().parallelism(2)),
        ] {
            assert_eq!(text.parse::<WriterOptions>().expect(text), expected, "{text:?}");
        }
    }

    #[test]
    fn other_strings_are_refused_with_what_is_expected() {
        for (text, expected) in [
            (
                "transpose:yes",
                "option `transpose:yes`: expected transpose, transpose:true or transpose:false",
            ),
            (
                "bucket_fraction:1.5",
                "option `bucket_fraction:1.5`: expected a number from 0 to 1",
            ),
            ("zstd:23", "option `zstd:23`: expected zstd:-131072 to zstd:22"),
            ("brotli:x", "option `brotli:x`: expected brotli:0 to brotli:11"),
            ("snappy:3", "option `snappy:3`: expected snappy:1 or snappy:2"),
            ("zstd,brotli", "option `brotli`: expected one codec"),
            ("zstd,zstd:4", "option `zstd:4`: expected each option once"),
            (
                "chunk_size:0",
                "option `chunk_size:0`: expected auto, or a size such as 1M",
            ),
            (
                "chunk_size:1MB",
                "option `chunk_size:1MB`: expected auto, or a size such as 1M",
            ),
            (
                "chunk_size:",
                "option `chunk_size:`: expected auto, or a size such as 1M",
            ),
            ("padding:0.4", "option `padding:0.4`: expected a size such as 64K"),
            ("parallelism:", "option `parallelism:`: expected a number from 0"),
            ("parallelism:1.5", "option `parallelism:1.5`: expected a number from 0"),
            (
                "bucket_fraction:",
                "option `bucket_fraction:`: expected a number from 0 to 1",
            ),
            (
                "window_log:",
                "option `window_log:`: expected auto, or a number from 10 to 31",
            ),
            (
                "zstd,default",
                "option `default`: expected `default` before all others, without a value",
            ),
            ("padding,,padding:", "option `padding:`: expected each option once"),
            ("window_log:9", "option `window_log:9`: expected 10 to 30"),
            (
                "uncompressed,window_log:20",
                "option `window_log:20`: expected brotli or zstd with a window",
            ),
            ("zstd,,snappy", "option `snappy`: expected one codec"),
            (":1", "option `:1`: expected an option of a Riegeli/records writer"),
            ("lzma", "option `lzma`: expected an option of a Riegeli/records writer"),
        ] {
            let error = text.parse::<WriterOptions>().expect_err(text);
            assert_eq!(error.to_string(), expected);
        }
    }
}
