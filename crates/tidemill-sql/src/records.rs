//! Records as bytes, read from and written to record files without decoding.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;

use tidemill_riegeli::array_record::ArrayRecordWriter;
use tidemill_riegeli::tfrecord::{TfRecordReader, TfRecordWriter};
use tidemill_riegeli::{
    ReaderOptions, RecordReader, RecordWriter, SharedSource, SkippedRegion, Source, SourceReader, StreamSource,
};

use crate::format::{FileName, Format};
use crate::location::{Location, Place};
use crate::sink::FileOptions;
use crate::stores::standard_input::standard_input;
use crate::{Error, Result};

/// The records of a table's files, one file after another.
pub struct Records {
    files: Vec<RecordFile>,
    options: ReaderOptions,
}

struct RecordFile {
    name: String,
    bytes: Bytes,
}

enum Bytes {
    Riegeli(SharedSource),
    TfRecord(SharedSource),
    StandardInput,
}

/// What recovery skipped in a file.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// The range, and the reason.
    pub region: SkippedRegion,
}

impl Records {
    /// Finds the files of a table.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a format without records; [`Error::Io`].
    pub async fn open(location: &Location, options: &ReaderOptions) -> Result<Self> {
        let mut files = Vec::new();
        for (part, source) in location.sources().await? {
            if !part.format.has_records() {
                return Err(Error::Unsupported {
                    what: format!("{part}: reading records of {}", part.format),
                    hint: "Riegeli, ArrayRecord and TFRecord files have records".to_owned(),
                });
            }
            let bytes = match (source, part.format) {
                (None, _) => Bytes::StandardInput,
                (Some(source), Format::TfRecord) => Bytes::TfRecord(source),
                (Some(source), _) => Bytes::Riegeli(source),
            };
            files.push(RecordFile {
                name: part.to_string(),
                bytes,
            });
        }
        // A named Riegeli file is read to its end; a pipe has no name, and may contain an ArrayRecord file.
        let index_is_data = location.format != Format::ArrayRecord && location.place != Place::StandardInput;
        Ok(Self {
            files,
            options: options.clone().stop_at_footer(!index_is_data),
        })
    }

    /// The serialized metadata of the first file; empty if there is none, and for a stream, which can be read only once.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`].
    pub fn metadata(&self) -> Result<Vec<u8>> {
        match self.files.first() {
            Some(RecordFile {
                bytes: Bytes::Riegeli(source),
                name,
            }) => {
                let mut reader = RecordReader::from_source(SharedSource::clone(source), name, &self.options)?;
                Ok(reader.metadata()?.unwrap_or_default().to_vec())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Reads all records, and returns their number.
    pub(crate) fn count(self) -> Result<u64> {
        let mut count = 0;
        self.read(|_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Passes each record to `take` until it breaks, and returns what recovery skipped. Blocks the calling thread.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`], which names the file; errors of `take`.
    pub fn read(self, mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>>) -> Result<Vec<Skipped>> {
        let mut skipped = Vec::new();
        for RecordFile { name, bytes } in self.files {
            let (flow, regions) = match bytes {
                Bytes::Riegeli(source) => read_riegeli(source, &name, &self.options, &mut take)?,
                Bytes::TfRecord(source) => read_tfrecord(source, &name, &self.options, &mut take)?,
                Bytes::StandardInput => {
                    let (format, stream) = standard_input()?;
                    let stream = StreamSource::new(stream);
                    match format {
                        Format::TfRecord => read_tfrecord(stream, &name, &self.options, &mut take)?,
                        _ => read_riegeli(stream, &name, &self.options, &mut take)?,
                    }
                }
            };
            skipped.extend(regions.into_iter().map(|region| Skipped {
                file: name.clone(),
                region,
            }));
            if flow.is_break() {
                break;
            }
        }
        Ok(skipped)
    }
}

/// Reads the records of a file one by one.
pub(crate) enum RecordsReader {
    Riegeli(Box<RecordReader<SharedSource>>),
    TfRecord(Box<TfRecordReader<BufReader<SourceReader<SharedSource>>>>),
    /// After the end, with what recovery skipped.
    Ended(Vec<SkippedRegion>),
}

impl RecordsReader {
    pub(crate) fn open(source: SharedSource, name: &str, format: Format, options: &ReaderOptions) -> Result<Self> {
        Ok(match format {
            Format::TfRecord => {
                let reader = TfRecordReader::from_source(source, name)?.recover(options.recovers());
                Self::TfRecord(Box::new(reader.max_expansion(options.expansion())))
            }
            _ => Self::Riegeli(Box::new(RecordReader::from_source(source, name, options)?)),
        })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`], which names the file.
    pub(crate) fn read_record(&mut self) -> Result<Option<&[u8]>> {
        if let Self::Riegeli(reader) = self
            && !reader.has_record()?
        {
            // Only at the end it is known whether the file is complete.
            let Self::Riegeli(reader) = std::mem::replace(self, Self::Ended(Vec::new())) else {
                return Ok(None);
            };
            *self = Self::Ended(reader.close()?);
        }
        Ok(match self {
            Self::Riegeli(reader) => reader.read_record()?,
            Self::TfRecord(reader) => reader.read_record()?,
            Self::Ended(_) => None,
        })
    }

    /// What recovery has skipped so far.
    pub(crate) fn skipped(&self) -> &[SkippedRegion] {
        match self {
            Self::Riegeli(reader) => reader.skipped(),
            Self::TfRecord(reader) => reader.skipped(),
            Self::Ended(skipped) => skipped,
        }
    }
}

type Flow = (ControlFlow<()>, Vec<SkippedRegion>);

fn read_tfrecord<S: Source>(
    source: S,
    name: &str,
    options: &ReaderOptions,
    take: &mut impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
) -> Result<Flow> {
    let reader = TfRecordReader::from_source(source, name)?.recover(options.recovers());
    let mut reader = reader.max_expansion(options.expansion());
    let mut flow = ControlFlow::Continue(());
    while flow.is_continue()
        && let Some(record) = reader.read_record()?
    {
        flow = take(record)?;
    }
    Ok((flow, reader.skipped().to_vec()))
}

fn read_riegeli<S: Source>(
    source: S,
    name: &str,
    options: &ReaderOptions,
    take: &mut impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
) -> Result<Flow> {
    let mut reader = RecordReader::from_source(source, name, options)?;
    while let Some(record) = reader.read_record()? {
        if take(record)?.is_break() {
            // The rest of the file was not requested, and is not checked.
            return Ok((ControlFlow::Break(()), reader.skipped().to_vec()));
        }
    }
    Ok((ControlFlow::Continue(()), reader.close()?))
}

/// Writes a record file.
pub(crate) enum RecordsSink {
    Riegeli(Box<RecordWriter<BufWriter<File>>>),
    ArrayRecord(Box<ArrayRecordWriter<BufWriter<File>>>),
    TfRecord(TfRecordWriter<BufWriter<File>>),
}

impl RecordsSink {
    /// `metadata` is serialized, and empty if there is none.
    pub(crate) fn create(format: Format, path: &Path, options: &FileOptions, metadata: Vec<u8>) -> Result<Self> {
        Ok(match format {
            Format::ArrayRecord => {
                let mut options = options.array_record.clone();
                if !metadata.is_empty() {
                    options = options.serialized_metadata(metadata);
                }
                Self::ArrayRecord(Box::new(ArrayRecordWriter::create(path, options)?))
            }
            Format::TfRecord => {
                let compression =
                    FileName::of(path).map_or_else(Default::default, |name| name.compression.of_records());
                Self::TfRecord(TfRecordWriter::create_compressed(path, compression)?)
            }
            _ => {
                let mut options = options.riegeli.clone();
                if !metadata.is_empty() && !options.has_metadata() {
                    options = options.serialized_metadata(metadata);
                }
                Self::Riegeli(Box::new(RecordWriter::create(path, options)?))
            }
        })
    }

    pub(crate) fn write(&mut self, record: &[u8]) -> Result<()> {
        match self {
            Self::Riegeli(writer) => writer.write_record(record)?,
            Self::ArrayRecord(writer) => {
                writer.write_record(record)?;
            }
            Self::TfRecord(writer) => writer.write_record(record)?,
        }
        Ok(())
    }

    /// Returns once the records are on disk.
    pub(crate) fn finish(self, path: &Path) -> Result<()> {
        let dest = match self {
            Self::Riegeli(writer) => writer.close()?,
            Self::ArrayRecord(writer) => writer.close()?,
            Self::TfRecord(writer) => writer.close()?,
        };
        let synchronised = dest
            .into_inner()
            .map_err(std::io::Error::from)
            .and_then(|file| file.sync_all());
        synchronised.map_err(Error::io(path, "write"))
    }
}
