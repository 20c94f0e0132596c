//! Which format a file of records has, by its bytes: its name says nothing that they do not say better.

use std::io;

use crate::{
    Error, FileName, ReaderOptions, Result, Source,
    array_record::find_ending,
    chunk_reader::ChunkReader,
    source::SourceReader,
    tfrecord::{TfRecordCompression, compression_of_records},
};

/// A format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordFormat {
    /// Riegeli/records, read by [`RecordReader`](crate::RecordReader).
    Riegeli,
    /// [ArrayRecord](crate::array_record). A [`RecordReader`](crate::RecordReader) reads it too, with
    /// [`ReaderOptions::stop_at_footer`]: without this, the index is read as records.
    ArrayRecord,
    /// [TFRecord](crate::tfrecord), perhaps compressed as a whole.
    TfRecord(TfRecordCompression),
}

impl RecordFormat {
    /// Returns the format of a file under any name, `None` where it is none of them or empty.
    ///
    /// - Riegeli/records begins with its signature. It is ArrayRecord if the postscript of that is in its last 64 KiB, or if it
    ///   lost its postscript but has a footer at its end. A file that was cut off before its footer is not known as ArrayRecord.
    /// - A damaged beginning with a sound postscript at the end is ArrayRecord, too.
    /// - TFRecord begins with a length and the checksum of that, perhaps inside of gzip or zlib.
    ///
    /// Reads the beginning, and for what may be ArrayRecord a few blocks at the end: some hundred KiB at most, and the last chunk of
    /// records where the postscript is missing.
    ///
    /// ```
    /// use tidemill_riegeli::{BytesSource, RecordFormat, array_record::ArrayRecordWriter};
    ///
    /// let mut writer = ArrayRecordWriter::new(Vec::new(), "group_size:1".parse()?)?;
    /// writer.write_record(b"a record")?;
    /// let file = writer.close()?;
    /// assert_eq!(RecordFormat::of(&BytesSource(&file))?, Some(RecordFormat::ArrayRecord));
    /// // A download that broke off.
    /// assert_eq!(RecordFormat::of(&BytesSource(&file[..70_000]))?, Some(RecordFormat::ArrayRecord));
    /// assert_eq!(RecordFormat::of(&BytesSource(b"id,name\n1,a\n"))?, None);
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`], also for a stream, of which [`Self::of_beginning`] tells what can be told.
    pub fn of<S: Source>(source: &S) -> Result<Option<Self>> {
        if source.is_stream() {
            return Err(Error::Io {
                file: FileName::default(),
                action: "find the format of a stream by its end",
                source: io::ErrorKind::Unsupported.into(),
            });
        }
        let options = ReaderOptions::new();
        let mut chunks = ChunkReader::new(source, &options)?;
        let is_riegeli = match chunks.check_file_format() {
            Ok(is_riegeli) => is_riegeli,
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(_) => false,
        };
        if !is_riegeli {
            let compression = compression_of_records(SourceReader::new(source));
            let compression = compression.map_err(|source| Error::Io {
                file: FileName::default(),
                action: "read the file",
                source,
            })?;
            if let Some(compression) = compression {
                return Ok(Some(Self::TfRecord(compression)));
            }
        }
        let is_array_record = find_ending(&mut chunks, &options)?.footer().is_some();
        Ok(match (is_array_record, is_riegeli) {
            (true, _) => Some(Self::ArrayRecord),
            (false, true) => Some(Self::Riegeli),
            (false, false) => None,
        })
    }

    /// Returns the format of a file that begins with these bytes, as far as they tell: Riegeli for ArrayRecord as well. Sixty-four
    /// bytes are enough but for what is compressed, where a KiB or more is needed; `None` where they do not suffice.
    #[must_use]
    pub fn of_beginning(bytes: &[u8]) -> Option<Self> {
        let mut chunks = ChunkReader::from_bytes(bytes).ok()?;
        if chunks.check_file_format().is_ok_and(|is_riegeli| is_riegeli) {
            return Some(Self::Riegeli);
        }
        compression_of_records(bytes).ok().flatten().map(Self::TfRecord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BytesSource, RecordWriter, StreamSource, WriterOptions, array_record::ArrayRecordWriter,
        tfrecord::TfRecordWriter,
    };

    fn format(file: &[u8]) -> Option<RecordFormat> {
        RecordFormat::of(&BytesSource(file)).expect("memory")
    }

    #[test]
    fn files_are_known_under_any_name() {
        let mut writer = RecordWriter::new(Vec::new(), WriterOptions::new()).expect("memory");
        writer.write_record(b"a record").expect("memory");
        let riegeli = writer.close().expect("memory");
        let mut writer = ArrayRecordWriter::new(Vec::new(), "zstd".parse().expect("options")).expect("memory");
        writer.write_record(b"a record").expect("memory");
        let array_record = writer.close().expect("memory");
        assert_eq!(format(&riegeli), Some(RecordFormat::Riegeli));
        assert_eq!(format(&array_record), Some(RecordFormat::ArrayRecord));
        for file in [&riegeli, &array_record] {
            assert_eq!(RecordFormat::of_beginning(&file[..64]), Some(RecordFormat::Riegeli));
        }
        // Without its end, without its beginning, and without both.
        assert_eq!(format(&array_record[..65_536]), Some(RecordFormat::ArrayRecord));
        let mut damaged = array_record.clone();
        damaged[3] ^= 1;
        assert_eq!(format(&damaged), Some(RecordFormat::ArrayRecord));
        assert_eq!(format(&damaged[..100]), None);
        // What is left of a file that was cut off before its footer tells nothing.
        assert_eq!(format(&array_record[..120]), Some(RecordFormat::Riegeli));

        for compression in [
            TfRecordCompression::None,
            TfRecordCompression::Gzip,
            TfRecordCompression::Zlib,
        ] {
            let mut writer = TfRecordWriter::compressed(Vec::new(), compression);
            for number in 0..5_000_u32 {
                writer
                    .write_record(&number.wrapping_mul(0x9e37_79b9).to_le_bytes())
                    .expect("memory");
            }
            let file = writer.close().expect("memory");
            assert_eq!(format(&file), Some(RecordFormat::TfRecord(compression)));
            assert_eq!(RecordFormat::of_beginning(&file[..2_000]), format(&file));
        }
        // Other files, of the first of which gzip and zlib can be made.
        let text = b"id,name\n1,someone\n".repeat(5_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        io::Write::write_all(&mut gzip, &text).expect("memory");
        for file in [&text[..], &gzip.finish().expect("memory"), b"", b"x", &[0; 200_000]] {
            assert_eq!(format(file), None);
            assert_eq!(RecordFormat::of_beginning(file), None);
        }
        assert!(RecordFormat::of(&StreamSource::new(&riegeli[..])).is_err());
    }
}
