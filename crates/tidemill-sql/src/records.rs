//! Records as they are: bytes that go from one file of records to another, or to a program, without being looked into.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tidemill_riegeli::array_record::ArrayRecordWriter;
use tidemill_riegeli::tfrecord::{TfRecordReader, TfRecordWriter};
use tidemill_riegeli::{ReaderOptions, RecordReader, RecordWriter, SharedSource, SkippedRegion, Source, StreamSource};

use crate::location::{Format, Location};
use crate::sink::FileOptions;
use crate::{Error, Result};

/// The records of a table's files, one file behind another.
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
    RiegeliStream,
    TfRecord(PathBuf),
}

/// What reading has left out of a file.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// The range and why.
    pub region: SkippedRegion,
}

impl Records {
    /// Finds the table's files.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a format whose rows are no records; [`Error::Io`].
    pub async fn open(location: &Location, options: &ReaderOptions) -> Result<Self> {
        let mut files = Vec::new();
        for part in location.parts() {
            let bytes = match part.format {
                Format::Riegeli | Format::ArrayRecord => {
                    part.source().await?.map_or(Bytes::RiegeliStream, Bytes::Riegeli)
                }
                Format::TfRecord => Bytes::TfRecord(part.file()?.to_path_buf()),
                other => {
                    return Err(Error::Unsupported {
                        what: format!("{part}: reading records of {other}"),
                        hint: "Riegeli, ArrayRecord and TFRecord files have records".to_owned(),
                    });
                }
            };
            files.push(RecordFile {
                name: part.to_string(),
                bytes,
            });
        }
        let index_is_data = location.format != Format::ArrayRecord;
        Ok(Self {
            files,
            options: options.clone().stop_at_footer(!index_is_data),
        })
    }

    /// The metadata of the first file, serialized; empty where there are none, and of a stream, which is read once.
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

    /// How many records there are, all of them read.
    pub(crate) fn count(self) -> Result<u64> {
        let mut count = 0;
        self.read(|_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Gives every record to `take` until it breaks, and returns what recovery left out. Waits for disk and network in
    /// the calling thread.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`], which names the file; what `take` returns.
    pub fn read(self, mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>>) -> Result<Vec<Skipped>> {
        let mut skipped = Vec::new();
        for RecordFile { name, bytes } in self.files {
            let (flow, regions) = match bytes {
                Bytes::Riegeli(source) => {
                    read_riegeli(RecordReader::from_source(source, &name, &self.options)?, &mut take)?
                }
                Bytes::RiegeliStream => {
                    let stream = StreamSource::new(std::io::stdin().lock());
                    read_riegeli(RecordReader::from_source(stream, &name, &self.options)?, &mut take)?
                }
                Bytes::TfRecord(path) => {
                    let mut reader = TfRecordReader::open(path)?;
                    let mut flow = ControlFlow::Continue(());
                    while flow.is_continue()
                        && let Some(record) = reader.read_record()?
                    {
                        flow = take(record)?;
                    }
                    (flow, Vec::new())
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

fn read_riegeli<S: Source>(
    mut reader: RecordReader<S>,
    take: &mut impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
) -> Result<(ControlFlow<()>, Vec<SkippedRegion>)> {
    while let Some(record) = reader.read_record()? {
        if take(record)?.is_break() {
            // What is behind was not asked for, whole or not.
            return Ok((ControlFlow::Break(()), reader.skipped().to_vec()));
        }
    }
    Ok((ControlFlow::Continue(()), reader.close()?))
}

/// Makes a file of records.
pub(crate) enum RecordsSink {
    Riegeli(Box<RecordWriter<BufWriter<File>>>),
    ArrayRecord(Box<ArrayRecordWriter<BufWriter<File>>>),
    TfRecord(TfRecordWriter<BufWriter<File>>),
}

impl RecordsSink {
    /// `metadata` are serialized, and empty if there are none.
    pub(crate) fn create(format: Format, path: &Path, options: &FileOptions, metadata: Vec<u8>) -> Result<Self> {
        Ok(match format {
            Format::ArrayRecord => {
                let mut options = options.array_record.clone();
                if !metadata.is_empty() {
                    options = options.serialized_metadata(metadata);
                }
                Self::ArrayRecord(Box::new(ArrayRecordWriter::create(path, options)?))
            }
            Format::TfRecord => Self::TfRecord(TfRecordWriter::create(path)?),
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

    /// Returns when the records are on disk.
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
