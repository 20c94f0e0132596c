//! Writing TFRecord files.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use super::{
    BUFFER,
    compression::{Output, TfRecordCompression},
    masked_crc,
};
use crate::{Error, FileName, Result, chunk_reader::create_file};

/// Writes a TFRecord file.
pub struct TfRecordWriter<W: Write> {
    dest: Output<W>,
    file: FileName,
}

impl TfRecordWriter<BufWriter<File>> {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_compressed(path, TfRecordCompression::None)
    }

    /// Creates the file, or empties it, and compresses what is written as a whole.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create_compressed(path: impl AsRef<Path>, compression: TfRecordCompression) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let dest = create_file(path, &file)?;
        Ok(Self {
            file,
            ..Self::compressed(BufWriter::with_capacity(BUFFER, dest), compression)
        })
    }
}

impl<W: Write> TfRecordWriter<W> {
    /// Writes to `dest`, in four pieces a record: small records gain from a buffered destination.
    pub fn new(dest: W) -> Self {
        Self::compressed(dest, TfRecordCompression::None)
    }

    /// Writes to `dest`, compressed as a whole. Only [`close`](Self::close) ends it, and tells whether that succeeded.
    pub fn compressed(dest: W, compression: TfRecordCompression) -> Self {
        Self {
            dest: Output::new(dest, compression),
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

    /// Takes what was written to the destination, and flushes that. Often done, it costs compression.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn flush(&mut self) -> Result<()> {
        self.dest.flush().map_err(|source| Error::Io {
            file: self.file.clone(),
            action: "write the file",
            source,
        })
    }

    /// Ends what is compressed, flushes, and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn close(self) -> Result<W> {
        let Self { dest, file } = self;
        dest.finish().map_err(|source| Error::Io {
            file,
            action: "write the file",
            source,
        })
    }
}
