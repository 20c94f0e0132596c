//! CSV.

use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidemill_csv::{CsvOptions, CsvWriter, WriteDialect};

use super::moments::check_moments;
use super::{Sink, packing};
use crate::stores::csv::usual_delimiter;
use crate::uuid_text::with_uuids_as_text;
use crate::{Error, Result};

pub(super) struct CsvSink<W: Write> {
    writer: CsvWriter<W>,
    place: String,
}

impl<W: Write> CsvSink<W> {
    /// Writes with these options; those not set follow from the name of the file.
    pub(super) fn new(schema: &SchemaRef, path: impl AsRef<Path>, said: &CsvOptions, out: W) -> Result<Self> {
        let (path, place) = (path.as_ref(), path.as_ref().display().to_string());
        let dialect = WriteDialect::new(said, packing(path), usual_delimiter(path));
        let writer = dialect.and_then(|dialect| CsvWriter::new(schema, dialect, out));
        Ok(Self {
            writer: writer.map_err(Error::csv(&place))?,
            place,
        })
    }
}

impl<W: Write + Send> Sink for CsvSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        check_moments(batch)?;
        let batch = with_uuids_as_text(batch)?;
        self.writer.write(&batch).map_err(Error::csv(&self.place))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.finish().map(drop).map_err(Error::csv(&self.place))
    }
}
