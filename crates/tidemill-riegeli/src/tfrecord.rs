//! TFRecord files: records one after another, each between its length and a checksum. What TensorFlow pipelines have, and
//! what moves to and from Riegeli without a change to a record.
//!
//! Layout of a record: length (u64), masked CRC-32C of these eight bytes (u32), the bytes, masked CRC-32C of the bytes
//! (u32), all little-endian. Masked: rotated right by 15 bits, plus `0xa282ead8`. Source: tensorflow/tensorflow,
//! `tensorflow/core/lib/io/record_writer.h` and `tensorflow/core/lib/hash/crc32c.h`.
//!
//! There are no files compressed as a whole here, and no way to go on behind a damaged length: nothing marks where the next
//! record begins.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Write},
    path::Path,
};

use crate::{
    Error, Result,
    error::{Damage, FileName, Frame},
};

const LENGTH_SIZE: usize = 8;
const CHECKSUM_SIZE: usize = 4;

/// Bytes fetched at a time, so that a length that lies costs no memory.
const PIECE: u64 = 1 << 20;

/// Reads the records of a TFRecord file in order.
pub struct TfRecordReader<R> {
    source: R,
    file: FileName,
    max_record_size: u64,
    pos: u64,
    record: Vec<u8>,
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
            file,
            ..Self::new(BufReader::with_capacity(256 << 10, source))
        })
    }
}

impl<R: Read> TfRecordReader<R> {
    /// Reads from `source`, a record at a time: small records gain from a buffered source.
    pub fn new(source: R) -> Self {
        Self {
            source,
            file: FileName::default(),
            max_record_size: 1 << 30,
            pos: 0,
            record: Vec::new(),
        }
    }

    /// Bounds the length of a record. Default: 1 GiB.
    #[must_use]
    pub fn max_record_size(mut self, bytes: u64) -> Self {
        self.max_record_size = bytes;
        self
    }

    /// Returns where the next record begins.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Returns the next record, lent until the next call; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Frame`] for a checksum that does not match, a length beyond the bound, and a file that ends inside a record;
    /// [`Error::Io`].
    pub fn read_record(&mut self) -> Result<Option<&[u8]>> {
        let mut head = [0; LENGTH_SIZE + CHECKSUM_SIZE];
        let found = fill(&mut self.source, &mut head).map_err(|error| self.io(error))?;
        if found == 0 {
            return Ok(None);
        }
        if found < head.len() {
            return Err(self.damaged(Damage::Invalid {
                what: "length: the file ends in it",
            }));
        }
        let [l0, l1, l2, l3, l4, l5, l6, l7, checksum @ ..] = head;
        let length_bytes = [l0, l1, l2, l3, l4, l5, l6, l7];
        self.check("checksum of the length", &length_bytes, checksum)?;
        let length = u64::from_le_bytes(length_bytes);
        if length > self.max_record_size {
            return Err(self.damaged(Damage::TooLarge {
                what: "the record",
                limit: self.max_record_size,
                found: length,
            }));
        }

        self.record.clear();
        while (self.record.len() as u64) < length {
            let piece = PIECE.min(length - self.record.len() as u64);
            let taken = (&mut self.source).take(piece).read_to_end(&mut self.record);
            if taken.map_err(|error| self.io(error))? == 0 {
                return Err(self.damaged(Damage::Mismatch {
                    what: "the number of bytes of it",
                    expected: length,
                    found: self.record.len() as u64,
                }));
            }
        }
        let mut checksum = [0; CHECKSUM_SIZE];
        if fill(&mut self.source, &mut checksum).map_err(|error| self.io(error))? < CHECKSUM_SIZE {
            return Err(self.damaged(Damage::Invalid {
                what: "checksum: the file ends in it",
            }));
        }
        self.check("checksum of the record", &self.record, checksum)?;
        self.pos += (LENGTH_SIZE + 2 * CHECKSUM_SIZE) as u64 + length;
        Ok(Some(&self.record))
    }

    fn check(&self, what: &'static str, bytes: &[u8], stored: [u8; CHECKSUM_SIZE]) -> Result<()> {
        let (expected, found) = (masked_crc(bytes), u32::from_le_bytes(stored));
        if expected == found {
            return Ok(());
        }
        Err(self.damaged(Damage::Mismatch {
            what,
            expected: expected.into(),
            found: found.into(),
        }))
    }

    fn damaged(&self, damage: Damage) -> Error {
        Error::Frame(Box::new(Frame {
            file: self.file.clone(),
            offset: self.pos,
            damage,
        }))
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io {
            file: self.file.clone(),
            action: "read the file",
            source,
        }
    }
}

/// Writes a TFRecord file.
pub struct TfRecordWriter<W> {
    dest: W,
    file: FileName,
}

impl TfRecordWriter<BufWriter<File>> {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let dest = File::create(path).map_err(|source| Error::Io {
            file: file.clone(),
            action: "create the file",
            source,
        })?;
        Ok(Self {
            file,
            ..Self::new(BufWriter::with_capacity(256 << 10, dest))
        })
    }
}

impl<W: Write> TfRecordWriter<W> {
    /// Writes to `dest`, in four pieces a record: small records gain from a buffered destination.
    pub fn new(dest: W) -> Self {
        Self {
            dest,
            file: FileName::default(),
        }
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_record(&mut self, record: &[u8]) -> Result<()> {
        let length = (record.len() as u64).to_le_bytes();
        let parts: [&[u8]; 4] = [
            &length,
            &masked_crc(&length).to_le_bytes(),
            record,
            &masked_crc(record).to_le_bytes(),
        ];
        for part in parts {
            self.dest.write_all(part).map_err(|source| Error::Io {
                file: self.file.clone(),
                action: "write the file",
                source,
            })?;
        }
        Ok(())
    }

    /// Flushes, and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn close(mut self) -> Result<W> {
        self.dest.flush().map_err(|source| Error::Io {
            file: self.file.clone(),
            action: "write the file",
            source,
        })?;
        Ok(self.dest)
    }
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

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
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
