//! How to write an ArrayRecord file, as options and as the original's option string.
//!
//! Source of the string: google/array_record, `cpp/array_record_writer.h` and the parser in `cpp/array_record_writer.cc`.

use std::{fmt, str::FromStr};

use prost::Message;

use crate::{Compression, Error, RecordsMetadata, Result, options_parser, writer_options::with_window_log};

/// The window of Zstandard unless another one is asked for: 1 MiB.
const ZSTD_WINDOW_LOG: u32 = 20;

/// Options of an [`ArrayRecordWriter`](super::ArrayRecordWriter).
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayRecordWriterOptions {
    pub(super) group_size: u32,
    pub(super) compression: Compression,
    pub(super) transpose: bool,
    pub(super) transpose_bucket_size: u64,
    pub(super) pad_to_block_boundary: bool,
    pub(super) max_parallelism: Option<u32>,
    pub(super) metadata: Option<Vec<u8>>,
}

impl Default for ArrayRecordWriterOptions {
    fn default() -> Self {
        Self {
            group_size: 1,
            compression: with_zstd_window(Compression::zstd(3)),
            transpose: false,
            transpose_bucket_size: 256,
            pad_to_block_boundary: false,
            max_parallelism: None,
            metadata: None,
        }
    }
}

impl ArrayRecordWriterOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many records are compressed together, at least 1: more make the file smaller, and reading a single record
    /// slower. Default: 1.
    #[must_use]
    pub fn group_size(mut self, records: u32) -> Self {
        self.group_size = records.max(1);
        self
    }

    /// Sets the codec. Zstandard gets a window of 2^20 bytes unless it has another one. Default: `zstd` of level 3.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = with_zstd_window(compression);
        self
    }

    /// Takes records that are protobuf messages apart by field, which compresses them better. Default: false.
    #[must_use]
    pub fn transpose(mut self, transpose: bool) -> Self {
        self.transpose = transpose;
        self
    }

    /// Sets how many bytes of a transposed chunk are compressed together, at least 1. Default: 256.
    #[must_use]
    pub fn transpose_bucket_size(mut self, bytes: u64) -> Self {
        self.transpose_bucket_size = bytes.max(1);
        self
    }

    /// Pads every chunk to a multiple of 64 KiB, so that damage to one leaves the others to readers that recover. Default:
    /// false.
    #[must_use]
    pub fn pad_to_block_boundary(mut self, pad: bool) -> Self {
        self.pad_to_block_boundary = pad;
        self
    }

    /// Encodes on up to this many threads, if they are more than one. Default: `None`, without threads.
    #[must_use]
    pub fn max_parallelism(mut self, threads: Option<u32>) -> Self {
        self.max_parallelism = threads.filter(|&threads| threads > 0);
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
}

/// Parses options separated by commas: `default`, `group_size:N`, `uncompressed`, `brotli[:0..11]`, `zstd[:-131072..22]`,
/// `snappy[:1..2]`, `window_log:auto|10..31`, `transpose[:true|false]`, `transpose_bucket_size:auto|SIZE`,
/// `pad_to_block_boundary[:true|false]`, `max_parallelism:auto|N`, and `saturation_delay_ms:N`, which has no effect: a full
/// queue is waited for. Sizes, empty options and empty values are those of [`WriterOptions`](crate::WriterOptions).
///
/// `pad_to_block_boundary` without a value is false, as for the original.
///
/// # Errors
/// [`Error::Option`] for any other text.
impl FromStr for ArrayRecordWriterOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut options = Self::default();
        let mut window_log = None;
        for option in options_parser::options(text)? {
            if let Some(codec) = option.codec()? {
                options.compression = codec;
                continue;
            }
            let positive = || {
                option
                    .int(1..=i64::from(i32::MAX))
                    .and_then(|number| u32::try_from(number).ok())
                    .ok_or_else(|| option.expected("a number from 1"))
            };
            match option.key {
                "default" => {}
                "group_size" => options.group_size = positive()?,
                "max_parallelism" if option.value == "auto" => options.max_parallelism = None,
                "max_parallelism" => options.max_parallelism = Some(positive()?),
                "saturation_delay_ms" => {
                    positive()?;
                }
                "window_log" => window_log = option.window_log()?,
                "transpose" => options.transpose = option.bool(true)?,
                "transpose_bucket_size" if option.value == "auto" => options.transpose_bucket_size = 256,
                "transpose_bucket_size" => {
                    let size = option.bytes();
                    options.transpose_bucket_size =
                        size.ok_or_else(|| option.expected("auto, or a size such as 1k"))?;
                }
                "pad_to_block_boundary" => options.pad_to_block_boundary = option.bool(false)?,
                _ => return Err(option.expected("an option of an ArrayRecord writer")),
            }
        }
        options.compression = match window_log {
            Some(log) => with_window_log(options.compression, log)?,
            None => with_zstd_window(options.compression),
        };
        Ok(options)
    }
}

/// Writes the options as the original notes them in the footer, where Snappy has no level.
impl fmt::Display for ArrayRecordWriterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "group_size:{},transpose:{},pad_to_block_boundary:{}",
            self.group_size, self.transpose, self.pad_to_block_boundary
        )?;
        if self.transpose {
            write!(f, ",transpose_bucket_size:{}", self.transpose_bucket_size)?;
        }
        let window_log = match self.compression {
            Compression::None => {
                f.write_str(",uncompressed")?;
                None
            }
            Compression::Brotli { quality, window_log } => {
                write!(f, ",brotli:{quality}")?;
                window_log
            }
            Compression::Zstd { level, window_log } => {
                write!(f, ",zstd:{level}")?;
                window_log
            }
            Compression::Snappy | Compression::SnappyDense => {
                f.write_str(",snappy")?;
                None
            }
        };
        if let Some(window_log) = window_log {
            write!(f, ",window_log:{window_log}")?;
        }
        // The original has at least the thread that writes.
        write!(f, ",max_parallelism:{}", self.max_parallelism.unwrap_or(1))
    }
}

fn with_zstd_window(compression: Compression) -> Compression {
    match compression {
        Compression::Zstd {
            level,
            window_log: None,
        } => Compression::Zstd {
            level,
            window_log: Some(ZSTD_WINDOW_LOG),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_noted_as_the_original_notes_them() {
        for (text, noted) in [
            (
                "",
                "group_size:1,transpose:false,pad_to_block_boundary:false,zstd:3,window_log:20,max_parallelism:1",
            ),
            (
                "default,group_size:100,saturation_delay_ms:5",
                "group_size:100,transpose:false,pad_to_block_boundary:false,zstd:3,window_log:20,max_parallelism:1",
            ),
            (
                "transpose,uncompressed,transpose_bucket_size:1k,max_parallelism:auto",
                "group_size:1,transpose:true,pad_to_block_boundary:false,transpose_bucket_size:1024,uncompressed,\
                 max_parallelism:1",
            ),
            (
                "brotli,pad_to_block_boundary:true,transpose:false,max_parallelism:4",
                "group_size:1,transpose:false,pad_to_block_boundary:true,brotli:6,max_parallelism:4",
            ),
            (
                "zstd:-3,window_log:12,pad_to_block_boundary",
                "group_size:1,transpose:false,pad_to_block_boundary:false,zstd:-3,window_log:12,max_parallelism:1",
            ),
            (
                "snappy,transpose:true,transpose_bucket_size:auto",
                "group_size:1,transpose:true,pad_to_block_boundary:false,transpose_bucket_size:256,snappy,\
                 max_parallelism:1",
            ),
            (
                "window_log:22,brotli:3",
                "group_size:1,transpose:false,pad_to_block_boundary:false,brotli:3,window_log:22,max_parallelism:1",
            ),
            (
                ",group_size:2,,transpose:,transpose_bucket_size:1.5k,pad_to_block_boundary:,snappy:2",
                "group_size:2,transpose:true,pad_to_block_boundary:false,transpose_bucket_size:1536,snappy,\
                 max_parallelism:1",
            ),
        ] {
            let options: ArrayRecordWriterOptions = text.parse().expect(text);
            assert_eq!(options.to_string(), noted, "{text:?}");
            assert_eq!(
                noted.parse::<ArrayRecordWriterOptions>().expect(noted).to_string(),
                noted
            );
        }
        let built = ArrayRecordWriterOptions::new()
            .compression(Compression::zstd(5))
            .group_size(0);
        assert_eq!(built, "zstd:5".parse().expect("options"));
    }

    #[test]
    fn both_levels_of_snappy_are_written() {
        for (text, compression) in [
            ("snappy", Compression::Snappy),
            ("snappy:", Compression::Snappy),
            ("snappy:1", Compression::Snappy),
            ("snappy:2", Compression::SnappyDense),
        ] {
            let options: ArrayRecordWriterOptions = text.parse().expect(text);
            assert_eq!(options.compression, compression, "{text}");
        }
    }

    #[test]
    fn other_strings_are_refused_with_what_is_expected() {
        for (text, expected) in [
            ("group_size:0", "option `group_size:0`: expected a number from 1"),
            ("group_size", "option `group_size`: expected a number from 1"),
            ("zstd,brotli", "option `brotli`: expected one codec"),
            (
                "uncompressed,window_log:20",
                "option `window_log:20`: expected brotli or zstd with a window",
            ),
            (
                "chunk_size:1M",
                "option `chunk_size:1M`: expected an option of an ArrayRecord writer",
            ),
            (
                "group_size:2,group_size:3",
                "option `group_size:3`: expected each option once",
            ),
            ("group_size:", "option `group_size:`: expected a number from 1"),
            ("snappy:3", "option `snappy:3`: expected snappy:1 or snappy:2"),
            (
                "pad_to_block_boundary:no",
                "option `pad_to_block_boundary:no`: expected pad_to_block_boundary, pad_to_block_boundary:true or \
                 pad_to_block_boundary:false",
            ),
            (
                "transpose_bucket_size:0.3",
                "option `transpose_bucket_size:0.3`: expected auto, or a size such as 1k",
            ),
            (
                "saturation_delay_ms:x",
                "option `saturation_delay_ms:x`: expected a number from 1",
            ),
        ] {
            let error = text.parse::<ArrayRecordWriterOptions>().expect_err(text);
            assert_eq!(error.to_string(), expected);
        }
    }
}
