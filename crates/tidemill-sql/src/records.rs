//! Records as they are: bytes that go from one file of records to another, or to a program, without being looked into.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::Path;

use tidemill_riegeli::tfrecord::{TfRecordReader, TfRecordWriter};
use tidemill_riegeli::{ReaderOptions, RecordReader, RecordWriter, SharedSource, SkippedRegion, WriterOptions};

use crate::location::{Format, Location};
use crate::stores::shared_source;
use crate::{Error, Result};

/// The records of a table's files, one file behind another.
pub struct Records {
    files: Vec<RecordFile>,
    options: ReaderOptions,
}

struct RecordFile {
    location: Location,
    /// Of a Riegeli file.
    source: Option<SharedSource>,
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
        for location in location.parts() {
            let source = match location.format {
                Format::Riegeli => Some(shared_source(&location).await?),
                Format::TfRecord => None,
                other => {
                    return Err(Error::Unsupported {
                        what: format!("{location}: reading records of {other}"),
                        hint: "Riegeli and TFRecord files have records".to_owned(),
                    });
                }
            };
            files.push(RecordFile { location, source });
        }
        Ok(Self {
            files,
            options: options.clone(),
        })
    }

    /// The metadata of the first file, serialized; empty where there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`].
    pub fn metadata(&self) -> Result<Vec<u8>> {
        let Some(source) = self.files.first().and_then(|file| file.source.as_ref()) else {
            return Ok(Vec::new());
        };
        let mut reader = RecordReader::new(SharedSource::clone(source), &self.options)?;
        Ok(reader.metadata()?.unwrap_or_default().to_vec())
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
        for file in self.files {
            let name = file.location.to_string();
            let flow = match file.source {
                Some(source) => {
                    let mut reader = RecordReader::from_source(source, &name, &self.options)?;
                    let mut flow = ControlFlow::Continue(());
                    while flow.is_continue()
                        && let Some(record) = reader.read_record()?
                    {
                        flow = take(record)?;
                    }
                    let regions = match flow {
                        ControlFlow::Continue(()) => reader.close()?,
                        // What is behind was not asked for, whole or not.
                        ControlFlow::Break(()) => reader.skipped().to_vec(),
                    };
                    skipped.extend(regions.into_iter().map(|region| Skipped {
                        file: name.clone(),
                        region,
                    }));
                    flow
                }
                None => {
                    let mut reader = TfRecordReader::open(file.location.file()?)?;
                    let mut flow = ControlFlow::Continue(());
                    while flow.is_continue()
                        && let Some(record) = reader.read_record()?
                    {
                        flow = take(record)?;
                    }
                    flow
                }
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(skipped)
    }
}

/// Makes a file of records.
pub(crate) enum RecordsSink {
    Riegeli(Box<RecordWriter<BufWriter<File>>>),
    TfRecord(TfRecordWriter<BufWriter<File>>),
}

impl RecordsSink {
    pub(crate) fn create(format: Format, path: &Path, options: WriterOptions) -> Result<Self> {
        Ok(match format {
            Format::TfRecord => Self::TfRecord(TfRecordWriter::create(path)?),
            _ => Self::Riegeli(Box::new(RecordWriter::create(path, options)?)),
        })
    }

    pub(crate) fn write(&mut self, record: &[u8]) -> Result<()> {
        Ok(match self {
            Self::Riegeli(writer) => writer.write_record(record)?,
            Self::TfRecord(writer) => writer.write_record(record)?,
        })
    }

    /// Returns when the records are on disk.
    pub(crate) fn finish(self, path: &Path) -> Result<()> {
        let dest = match self {
            Self::Riegeli(writer) => writer.close()?,
            Self::TfRecord(writer) => writer.close()?,
        };
        let synchronised = dest
            .into_inner()
            .map_err(std::io::Error::from)
            .and_then(|file| file.sync_all());
        synchronised.map_err(Error::io(path, "write"))
    }
}
