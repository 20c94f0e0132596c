//! ClickHouse's FORMAT Native, a block a batch.

use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidemill_clickhouse::{DataType, NativeWriter, arrow_type};

use super::Sink;
use crate::{Error, Result};

pub(super) struct NativeSink<W> {
    writer: NativeWriter<W>,
    types: Vec<DataType>,
    path: PathBuf,
    empty: Option<RecordBatch>,
}

impl<W: Write> NativeSink<W> {
    pub(super) fn new(schema: &SchemaRef, out: W, path: &Path) -> Result<Self> {
        let types = schema.fields().iter().map(|field| arrow_type::data_type(field));
        Ok(Self {
            writer: NativeWriter::new(out),
            types: types
                .collect::<Result<_, _>>()
                .map_err(Error::clickhouse(path.display()))?,
            path: path.to_path_buf(),
            empty: Some(RecordBatch::new_empty(SchemaRef::clone(schema))),
        })
    }

    fn write_block(&mut self, batch: &RecordBatch) -> Result<()> {
        let written = self.writer.write_batch(batch, &self.types);
        written.map_err(Error::clickhouse(self.path.display()))
    }
}

impl<W: Write + Send> Sink for NativeSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.empty = None;
        self.write_block(batch)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        // The columns of a table without rows are in a block without rows.
        if let Some(empty) = self.empty.take() {
            self.write_block(&empty)?;
        }
        let flushed = self.writer.into_inner().flush();
        flushed.map_err(Error::io(&self.path, "write"))
    }
}
