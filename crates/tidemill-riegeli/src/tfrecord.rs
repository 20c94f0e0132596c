//! TFRecord files: records one after another, each between its length and a checksum. What TensorFlow pipelines have, and
//! what moves to and from Riegeli without a change to a record.
//!
//! Layout of a record: length (u64), masked CRC-32C of these eight bytes (u32), the bytes, masked CRC-32C of the bytes
//! (u32), all little-endian. Masked: rotated right by 15 bits, plus `0xa282ead8`. Source: tensorflow/tensorflow,
//! `tensorflow/core/lib/io/record_writer.h` and `tensorflow/core/lib/hash/crc32c.h`.
//!
//! A file may be compressed as a whole, by gzip or zlib.
//!
//! Nothing marks where a record begins, but a length and a record with their checksums are hardly ever there by chance: so
//! [`TfRecordReader::recover`] finds the records after damage.

mod compression;
mod recovery;
mod writer;

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

pub use self::compression::TfRecordCompression;
pub(crate) use self::compression::compression_of_records;
pub use self::writer::TfRecordWriter;
use self::{compression::Input, recovery::Recovery};
use crate::{
    BLOCK_HEADER_SIZE, BlockHeader, CHUNK_HEADER_SIZE, Error, ReaderOptions, Result, SkippedRegion, Verification,
    error::{Damage, FileName, Frame},
    foreign_file::foreign_file,
    reader_options::DEFAULT_MAX_EXPANSION,
    source::{Source, SourceReader},
};

const LENGTH_SIZE: usize = 8;
const CHECKSUM_SIZE: usize = 4;
/// A length and its checksum.
const HEAD_SIZE: usize = LENGTH_SIZE + CHECKSUM_SIZE;

/// Bytes between a file and what reads or writes it.
const BUFFER: usize = 256 << 10;

/// Bytes fetched at a time, so that a length that lies costs no memory.
const PIECE: u64 = 1 << 20;

/// Reads the records of a TFRecord file in order, whether it is compressed as a whole or not.
///
/// ```
/// use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordReader, TfRecordWriter};
///
/// let mut writer = TfRecordWriter::compressed(Vec::new(), TfRecordCompression::Gzip);
/// writer.write_record(b"first")?;
/// let file = writer.close()?;
/// assert!(file.starts_with(&[0x1f, 0x8b]));
///
/// let mut reader = TfRecordReader::new(&file[..]);
/// assert_eq!(reader.compression()?, TfRecordCompression::Gzip);
/// assert_eq!(reader.read_record()?, Some(&b"first"[..]));
/// assert_eq!(reader.read_record()?, None);
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct TfRecordReader<R> {
    source: Input<R>,
    file: FileName,
    max_record_size: u64,
    max_expansion: u64,
    /// How many bytes the source has, if that is known.
    size: Option<u64>,
    pos: u64,
    record: Vec<u8>,
    recovery: Option<Box<Recovery>>,
}

impl TfRecordReader<BufReader<File>> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let source = File::open(path).map_err(|source| Error::Io {
            file: file.clone(),
            action: "open the file",
            source,
        })?;
        Ok(Self {
            size: source.metadata().ok().map(|metadata| metadata.len()),
            file,
            ..Self::new(BufReader::with_capacity(BUFFER, source))
        })
    }
}

impl<S: Source> TfRecordReader<BufReader<SourceReader<S>>> {
    /// Reads `source` from its beginning; errors call it `name`.
    ///
    /// # Errors
    /// [`Error::Io`] when the source does not tell its size, unless it is a stream.
    pub fn from_source(source: S, name: &str) -> Result<Self> {
        let file = FileName::new(Path::new(name));
        let size = match source.is_stream() {
            true => None,
            false => Some(source.size().map_err(|source| Error::Io {
                file: file.clone(),
                action: "find the size of the file",
                source,
            })?),
        };
        Ok(Self {
            size,
            file,
            ..Self::new(BufReader::with_capacity(BUFFER, SourceReader::new(source)))
        })
    }
}

impl<R: Read> TfRecordReader<R> {
    /// Reads from `source`, a record at a time: small records gain from a buffered source.
    pub fn new(source: R) -> Self {
        Self {
            source: Input::new(source),
            file: FileName::default(),
            max_record_size: 1 << 30,
            max_expansion: DEFAULT_MAX_EXPANSION,
            size: None,
            pos: 0,
            record: Vec::new(),
            recovery: None,
        }
    }

    /// Continues after damage and keeps a list of what was left out, instead of returning an error: at the next length that has its
    /// checksum and is that of a record that has its own. A damaged record between two sound lengths is left out alone. Where a
    /// length is damaged whose record has TFRecords inside, these are taken for records.
    ///
    /// What is left is read once, and hashed a few times at most. Memory is bounded by
    /// [`max_record_size`](Self::max_record_size), and for files and sources of a known size by what is left of them.
    ///
    /// A file that is compressed as a whole is read without recovery: after damage nothing can be decompressed. Default: false.
    ///
    /// ```
    /// use tidemill_riegeli::tfrecord::{TfRecordReader, TfRecordWriter};
    ///
    /// let mut writer = TfRecordWriter::new(Vec::new());
    /// for record in ["first", "second", "third"] {
    ///     writer.write_record(record.as_bytes())?;
    /// }
    /// let mut file = writer.close()?;
    /// file[21] ^= 1; // in the length of the second record
    ///
    /// let mut reader = TfRecordReader::new(&file[..]).recover(true);
    /// assert_eq!(reader.read_record()?, Some(&b"first"[..]));
    /// assert_eq!(reader.read_record()?, Some(&b"third"[..]));
    /// assert_eq!(reader.read_record()?, None);
    /// assert_eq!((reader.skipped()[0].begin, reader.skipped()[0].end), (21, 43));
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recovery = recover.then(Box::default);
        self
    }

    /// Returns the regions that recovery left out so far.
    pub fn skipped(&self) -> &[SkippedRegion] {
        self.recovery.as_ref().map_or(&[], |recovery| recovery.skipped())
    }

    /// Bounds the length of a record. Default: 1 GiB.
    #[must_use]
    pub fn max_record_size(mut self, bytes: u64) -> Self {
        self.max_record_size = bytes;
        self
    }

    /// Bounds how much longer a record of a compressed file may be than the file, or than what was read of it where its size is not
    /// known. Default: 96 MiB.
    #[must_use]
    pub fn max_expansion(mut self, bytes: u64) -> Self {
        self.max_expansion = bytes;
        self
    }

    /// Takes the file for one that is compressed this way, before anything is read. Default: what its first bytes look like,
    /// [`TfRecordCompression::of_beginning`].
    #[must_use]
    pub fn with_compression(mut self, compression: TfRecordCompression) -> Self {
        self.source.set_compression(compression);
        self
    }

    /// Returns how the file is compressed. Its first bytes are read for that, unless [`Self::with_compression`] said so.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn compression(&mut self) -> Result<TfRecordCompression> {
        self.source.compression().map_err(|error| self.io(error))
    }

    /// Returns where the next record begins; in a compressed file, in what is compressed.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Returns the next record, lent until the next call; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Frame`] for a checksum that does not match, a length beyond the bound and a file that ends inside a record, unless
    /// recovering, and for compressed data that do not decompress or are cut off; [`Error::Io`].
    pub fn read_record(&mut self) -> Result<Option<&[u8]>> {
        if self.recovery.is_some() && self.compression()? == TfRecordCompression::None {
            return self.read_recovering();
        }
        let mut head = [0; HEAD_SIZE];
        let found = fill(&mut self.source, &mut head).map_err(|error| self.failed(error))?;
        if found == 0 {
            return Ok(None);
        }
        if found < head.len() {
            return Err(self.damaged(Damage::Invalid {
                what: "length: the file ends in it",
            }));
        }
        let length = self.length(&head).map_err(|damage| self.damaged(damage))?;

        // What is there from the record before is overwritten.
        let mut filled = 0;
        while (filled as u64) < length {
            let piece = usize::try_from(PIECE.min(length - filled as u64)).unwrap_or(usize::MAX);
            if self.record.len() < filled + piece {
                self.record.resize(filled + piece, 0);
            }
            let room = self.record.get_mut(filled..filled + piece).unwrap_or_default();
            let read = fill(&mut self.source, room).map_err(|error| self.failed(error))?;
            filled += read;
            if read < piece {
                return Err(self.damaged(Damage::Mismatch {
                    what: "the number of bytes of it",
                    expected: length,
                    found: filled as u64,
                }));
            }
        }
        self.record.truncate(filled);
        let mut checksum = [0; CHECKSUM_SIZE];
        if fill(&mut self.source, &mut checksum).map_err(|error| self.failed(error))? < CHECKSUM_SIZE {
            return Err(self.damaged(Damage::Invalid {
                what: "checksum: the file ends in it",
            }));
        }
        checked("checksum of the record", &self.record, checksum).map_err(|damage| self.damaged(damage))?;
        self.pos += (LENGTH_SIZE + 2 * CHECKSUM_SIZE) as u64 + length;
        Ok(Some(&self.record))
    }

    /// Returns the length that a record begins with, if it has its checksum and is within the bound.
    fn length(&self, head: &[u8; HEAD_SIZE]) -> Result<u64, Damage> {
        let [l0, l1, l2, l3, l4, l5, l6, l7, checksum @ ..] = *head;
        let length_bytes = [l0, l1, l2, l3, l4, l5, l6, l7];
        if let Err(damage) = checked("checksum of the length", &length_bytes, checksum) {
            return Err(match foreign_file(head).or_else(|| riegeli(head)) {
                Some(what) if self.pos == 0 => Damage::ForeignFile { what },
                _ => damage,
            });
        }
        let length = u64::from_le_bytes(length_bytes);
        if length > self.max_record_size {
            return Err(Damage::TooLarge {
                what: "the record",
                limit: self.max_record_size,
                found: length,
            });
        }
        // What is not compressed takes no more memory than the file has bytes: it grows as they come.
        if let Some(given) = self.source.compressed_bytes() {
            let limit = self.max_expansion.saturating_add(self.size.unwrap_or(given));
            if length > limit {
                return Err(Damage::TooLarge {
                    what: "the decompressed record (see `max_expansion`)",
                    limit,
                    found: length,
                });
            }
        }
        Ok(length)
    }

    fn damaged(&self, damage: Damage) -> Error {
        Error::Frame(Box::new(Frame {
            file: self.file.clone(),
            offset: self.pos,
            damage,
        }))
    }

    /// Returns what a read failed by: the compressed data, or the system.
    fn failed(&self, error: io::Error) -> Error {
        match self.source.damage(&error) {
            Some(damage) => self.damaged(damage),
            None => self.io(error),
        }
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io {
            file: self.file.clone(),
            action: "read the file",
            source,
        }
    }
}

/// Returns whether a file that begins with these bytes, of which sixty-four are enough, looks like TFRecord: by the length of
/// its first record, or as one that is compressed as a whole, which other files of gzip and zlib look like too:
/// [`RecordFormat`](crate::RecordFormat) looks into those.
#[must_use]
pub fn is_beginning(bytes: &[u8]) -> bool {
    is_tfrecord(bytes) || TfRecordCompression::of_beginning(bytes) != TfRecordCompression::None
}

/// Reads all of a source, which errors call `name`, continuing after damage. Of a file that is compressed as a whole the damage
/// reaches from where it was met, in what is compressed, to the end.
///
/// # Errors
/// [`Error::Io`].
pub fn verify_source<S: Source>(source: S, name: &str) -> Result<Verification> {
    verify_source_within(source, name, &ReaderOptions::new())
}

/// [`verify_source`] within the limit of [`ReaderOptions::max_expansion`].
///
/// # Errors
/// As [`verify_source`].
pub fn verify_source_within<S: Source>(source: S, name: &str, limits: &ReaderOptions) -> Result<Verification> {
    let reader = TfRecordReader::from_source(source, name)?.recover(true);
    let mut reader = reader.max_expansion(limits.expansion());
    let mut records = 0;
    let stopped = loop {
        match reader.read_record() {
            Ok(Some(_)) => records += 1,
            Ok(None) => break None,
            Err(Error::Frame(frame)) => break Some(frame),
            Err(error) => return Err(error),
        }
    };
    let mut damaged = reader.skipped().to_vec();
    damaged.extend(stopped.map(|frame| SkippedRegion {
        begin: frame.offset,
        end: reader.size.unwrap_or_default().max(frame.offset),
        why: frame.damage.to_string(),
    }));
    Ok(Verification { records, damaged })
}

/// Reads until `buffer` is full or the source ends, and returns how many bytes there were.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match source.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns whether a file that begins with these bytes is TFRecord, uncompressed, by the length of its first record.
pub(crate) fn is_tfrecord(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(is_sound_head)
}

/// Says so when a file that begins with these bytes is Riegeli/records, whose first block header is always the same.
fn riegeli(head: &[u8; HEAD_SIZE]) -> Option<&'static str> {
    let header = BlockHeader::new(0, CHUNK_BEGIN).to_bytes();
    header
        .starts_with(head)
        .then_some("a Riegeli/records or ArrayRecord file")
}

/// Where the second chunk of a Riegeli/records file begins.
const CHUNK_BEGIN: u64 = (BLOCK_HEADER_SIZE + CHUNK_HEADER_SIZE) as u64;

/// Returns whether the length of a record has its checksum.
fn is_sound_head(head: &[u8; HEAD_SIZE]) -> bool {
    let (length, checksum) = head.split_at(LENGTH_SIZE);
    masked_crc(length).to_le_bytes() == checksum
}

/// Checks the stored checksum of `bytes`, which `what` calls.
fn checked(what: &'static str, bytes: &[u8], stored: [u8; CHECKSUM_SIZE]) -> Result<(), Damage> {
    let (expected, found) = (masked_crc(bytes), u32::from_le_bytes(stored));
    match expected == found {
        true => Ok(()),
        false => Err(Damage::Mismatch {
            what,
            expected: expected.into(),
            found: found.into(),
        }),
    }
}

fn masked_crc(bytes: &[u8]) -> u32 {
    masked(crc32c::crc32c(bytes))
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(records: &[Vec<u8>]) -> Vec<u8> {
        let mut writer = TfRecordWriter::new(Vec::new());
        for record in records {
            writer.write_record(record).expect("written");
        }
        writer.close().expect("closed")
    }

    fn read(file: &[u8]) -> (Vec<Vec<u8>>, Option<Error>) {
        let mut reader = TfRecordReader::new(file);
        let mut records = Vec::new();
        loop {
            match reader.read_record() {
                Ok(Some(record)) => records.push(record.to_vec()),
                Ok(None) => return (records, None),
                Err(error) => return (records, Some(error)),
            }
        }
    }

    /// The published test vector of CRC-32C (RFC 3720, B.4: 32 bytes of zeros give `8a9136aa`), masked by hand.
    #[test]
    fn a_record_has_the_bytes_of_the_format() {
        let file = written(&[vec![0; 32]]);
        let masked = 0x8a91_36aa_u32.rotate_right(15).wrapping_add(0xa282_ead8);
        assert_eq!(file.len(), 8 + 4 + 32 + 4);
        assert_eq!(file[..8], 32_u64.to_le_bytes());
        assert_eq!(file[44..], masked.to_le_bytes());
    }

    #[test]
    fn errors_name_the_record_and_what_is_wrong() {
        let file = written(&[b"one".to_vec(), b"two".to_vec()]);
        let mut flipped = file.clone();
        flipped[19 + 12] ^= 1;
        let (records, error) = read(&flipped);
        assert_eq!(records, [b"one"]);
        let text = error.expect("an error").to_string();
        assert!(
            text.starts_with("the record at byte 19: checksum of the record is "),
            "{text}"
        );

        let (_, error) = read(&file[..file.len() - 5]);
        let text = error.expect("an error").to_string();
        assert_eq!(
            text,
            "the record at byte 19: the number of bytes of it is 2, expected 3"
        );

        let mut long = (1_u64 << 40).to_le_bytes().to_vec();
        long.extend(masked_crc(&long).to_le_bytes());
        let text = read(&long).1.expect("an error").to_string();
        assert_eq!(
            text,
            "the record at byte 0: the record is 1099511627776 bytes, more than the limit of 1073741824"
        );
    }

    fn compressed(records: &[Vec<u8>], compression: TfRecordCompression) -> Vec<u8> {
        let mut writer = TfRecordWriter::compressed(Vec::new(), compression);
        for record in records {
            writer.write_record(record).expect("written");
        }
        writer.close().expect("closed")
    }

    const COMPRESSED: [TfRecordCompression; 2] = [TfRecordCompression::Gzip, TfRecordCompression::Zlib];

    fn records() -> Vec<Vec<u8>> {
        let record = |number: u32| format!("{number}, ").repeat(number as usize % 40).into_bytes();
        (0..2_000).map(record).collect()
    }

    #[test]
    fn compressed_files_are_known_by_their_first_bytes() {
        for records in [vec![], vec![vec![]], records()] {
            for compression in COMPRESSED {
                let file = compressed(&records, compression);
                assert_eq!(TfRecordCompression::of_beginning(&file), compression);
                let (found, error) = read(&file);
                assert!(error.is_none(), "{error:?}");
                assert!(found == records);
            }
            let file = written(&records);
            assert_eq!(TfRecordCompression::of_beginning(&file), TfRecordCompression::None);
            assert!(
                records.is_empty() || file.len() < 1_000 || compressed(&records, COMPRESSED[0]).len() < file.len() / 4
            );
        }
        // Lengths that begin like gzip and zlib.
        for length in [0x08_8b1f, 0x9c78, 0x0178] {
            let file = written(&[vec![7; length]]);
            assert_eq!(TfRecordCompression::of_beginning(&file), TfRecordCompression::None);
            assert_eq!(read(&file).0.len(), 1);
        }
        // A damaged one is not taken for zlib.
        let mut file = written(&[vec![7; 0x9c78]]);
        file[8] ^= 1;
        let text = read(&file).1.expect("an error").to_string();
        assert!(
            text.starts_with("the record at byte 0: checksum of the length is "),
            "{text}"
        );
    }

    #[test]
    fn another_file_is_called_by_its_name() {
        let page = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>".to_vec();
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n".repeat(2);
        let riegeli = crate::RecordWriter::new(Vec::new(), crate::WriterOptions::new());
        let riegeli = riegeli.and_then(crate::RecordWriter::close).expect("memory");
        for (file, expected) in [
            (page, "the file is an HTML page"),
            (pointer, "the file is a Git LFS pointer"),
        ] {
            let text = read(&file).1.expect("an error").to_string();
            assert!(text.starts_with(&format!("the record at byte 0: {expected}")), "{text}");
            let text = crate::RecordReader::from_bytes(&file)
                .expect("memory")
                .read_record()
                .expect_err("an error");
            assert!(text.to_string().contains(expected), "{text}");
            let text = crate::array_record::ArrayRecordReader::from_bytes(&file)
                .err()
                .expect("an error");
            assert!(text.to_string().contains(expected), "{text}");
        }
        let text = read(&riegeli).1.expect("an error").to_string();
        assert!(
            text.ends_with("the file is a Riegeli/records or ArrayRecord file"),
            "{text}"
        );
        let file = written(&records());
        let text = crate::RecordReader::from_bytes(&file)
            .expect("memory")
            .read_record()
            .expect_err("an error");
        assert!(text.to_string().ends_with("the file is a TFRecord file"), "{text}");
        // A damaged beginning is damage.
        let mut file = written(&records());
        file[3] ^= 1;
        let text = read(&file).1.expect("an error").to_string();
        assert!(text.contains("checksum of the length"), "{text}");
    }

    #[test]
    fn zeros_behind_gzip_are_padding() {
        let (first, second) = (
            compressed(&records(), COMPRESSED[0]),
            compressed(&records(), COMPRESSED[0]),
        );
        for zeros in [1, 2, 511, 200_000] {
            let zeros = vec![0; zeros];
            let (found, error) = read(&[&first[..], &zeros].concat());
            assert!(error.is_none() && found == records(), "{error:?}");
            // As Python's gzip continues.
            let (found, error) = read(&[&first[..], &zeros, &second, &zeros].concat());
            assert!(error.is_none() && found == [records(), records()].concat(), "{error:?}");
            let (found, error) = read(&[&first[..], &zeros, b"\x01"].concat());
            assert!(error.is_some() && found == records());
        }
    }

    #[test]
    fn what_was_flushed_is_in_the_destination() {
        for compression in [TfRecordCompression::None, COMPRESSED[0], COMPRESSED[1]] {
            let mut file = Vec::new();
            let mut writer = TfRecordWriter::compressed(&mut file, compression);
            writer.write_record(b"first").expect("written");
            writer.flush().expect("flushed");
            // The end of what is compressed is not there.
            std::mem::forget(writer);
            let mut reader = TfRecordReader::new(&file[..]);
            assert_eq!(
                reader.read_record().expect("there"),
                Some(&b"first"[..]),
                "{compression:?}"
            );
        }
    }

    #[test]
    fn members_of_gzip_follow_one_another() {
        let (first, second) = (
            compressed(&records(), COMPRESSED[0]),
            compressed(&records(), COMPRESSED[0]),
        );
        let (found, error) = read(&[first, second].concat());
        assert!(error.is_none() && found == [records(), records()].concat());
    }

    #[test]
    fn the_compression_can_be_said() {
        let file = compressed(&records(), TfRecordCompression::Zlib);
        let mut reader = TfRecordReader::new(&file[..]).with_compression(TfRecordCompression::Zlib);
        assert_eq!(reader.read_record().expect("sound"), Some(&b""[..]));
        assert_eq!(reader.pos(), 16);
        let mut reader = TfRecordReader::new(&file[..]).with_compression(TfRecordCompression::None);
        let text = reader.read_record().expect_err("no length").to_string();
        assert!(text.contains("checksum of the length"), "{text}");
        let mut reader = TfRecordReader::new(&file[..]).with_compression(TfRecordCompression::Gzip);
        let text = reader.read_record().expect_err("no gzip").to_string();
        assert!(
            text.starts_with("the record at byte 0: gzip data do not decompress: "),
            "{text}"
        );
    }

    #[test]
    fn damage_of_what_is_compressed_is_found_and_says_where() {
        for compression in COMPRESSED {
            let file = compressed(&records(), compression);
            let all = records();
            let mut harmless = 0;
            for cut in (1..file.len()).filter(|cut| *cut < 40 || *cut > file.len() - 40 || cut % 97 == 0) {
                let (found, error) = read(&file[..cut]);
                assert!(all.starts_with(&found), "{compression:?} cut to {cut}");
                let text = error.expect("an error").to_string();
                let known = TfRecordCompression::of_beginning(&file[..cut]) == compression;
                let end = format!("do not decompress: the file ends in them, at byte {cut}");
                assert!(!known || text.ends_with(&end), "{compression:?} cut to {cut}: {text}");

                let mut flipped = file.clone();
                flipped[cut] ^= 0x10;
                let (found, error) = read(&flipped);
                assert!(all.starts_with(&found), "{compression:?} flipped at {cut}");
                // Of gzip's header the time, the level and the system say nothing about the data, and the same bytes may be found at
                // another distance.
                assert!(error.is_some() || found == all, "{compression:?} flipped at {cut}");
                harmless += usize::from(error.is_none());
            }
            assert!(harmless < 16, "{compression:?}: {harmless}");
            let (found, error) = read(&[&file[..], b"behind"].concat());
            assert!(found == all);
            let text = error.expect("an error").to_string();
            assert!(text.contains("data do not decompress: "), "{text}");
        }
    }

    /// A source that fails once its bytes are read.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_source_that_fails_is_no_damage() {
        for compression in COMPRESSED {
            let file = compressed(&records(), compression);
            let mut reader = TfRecordReader::new(Failing(&file[..file.len() / 2]));
            let error = loop {
                match reader.read_record() {
                    Ok(record) => assert!(record.is_some()),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, Error::Io { .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn records_come_back_and_cuts_and_flips_are_found(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..8),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let file = written(&records);
            let (found, error) = read(&file);
            prop_assert!(error.is_none());
            prop_assert_eq!(&found, &records);

            let cut = at.index(file.len());
            let (found, error) = read(&file[..cut]);
            prop_assert!(found.len() < records.len());
            prop_assert!(found.iter().eq(&records[..found.len()]));
            // A cut between two records cannot be told from an end.
            let boundary = written(&records[..found.len()]).len() == cut;
            prop_assert_eq!(error.is_none(), boundary);

            let mut flipped = file.clone();
            flipped[cut] ^= 1 << bit;
            let (found, error) = read(&flipped);
            prop_assert!(error.is_some());
            prop_assert!(found.iter().eq(&records[..found.len()]));
        }
    }
}
