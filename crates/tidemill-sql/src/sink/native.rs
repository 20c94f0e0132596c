//! ClickHouse's FORMAT Native, with one block per batch.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{Schema, SchemaRef};
use tidemill_clickhouse::arrow_type::{self, StringType};
use tidemill_clickhouse::{BlockEncoder, Calendar, DataType, NativeWriter};

use super::Sink;
use crate::{Error, Result};

pub(super) struct NativeSink<W> {
    writer: NativeWriter<W>,
    types: Vec<DataType>,
    /// The columns in the types of the format: decimals have the least size that holds their digits.
    schema: SchemaRef,
    path: PathBuf,
    empty: Option<RecordBatch>,
}

impl<W: Write> NativeSink<W> {
    pub(super) fn new(schema: &SchemaRef, out: W, path: &Path, wide_dates: bool) -> Result<Self> {
        let encoder = BlockEncoder {
            calendar: match wide_dates {
                true => Calendar::UNTIL_9999,
                false => Calendar::UNTIL_2299,
            },
            ..BlockEncoder::default()
        };
        let types = schema.fields().iter().map(|field| arrow_type::data_type(field));
        let types: Vec<DataType> = types.collect::<Result<_, _>>().map_err(Error::native(path.display()))?;
        let fields = schema.fields().iter().zip(&types).map(|(field, data_type)| {
            let inner = match data_type {
                DataType::Nullable(inner) => &**inner,
                plain => plain,
            };
            let field = field.as_ref().clone();
            match inner {
                DataType::Decimal { .. } => field.with_data_type(arrow_type::arrow_type(inner, StringType::default())),
                _ => field,
            }
        });
        Ok(Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            writer: NativeWriter::new(out).with_encoder(encoder),
            types,
            path: path.to_path_buf(),
            empty: Some(RecordBatch::new_empty(SchemaRef::clone(schema))),
        })
    }

    fn write_block(&mut self, batch: &RecordBatch) -> Result<()> {
        let strict = CastOptions {
            safe: false,
            ..CastOptions::default()
        };
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(Arc::clone(column)),
            false => cast_with_options(column, field.data_type(), &strict),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = columns.collect::<Result<_, _>>()?;
        let batch = RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?;
        let written = self.writer.write_batch(&batch, &self.types);
        written.map_err(Error::native(self.path.display()))
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
        // A table without rows is written as an empty block with its columns.
        if let Some(empty) = self.empty.take() {
            self.write_block(&empty)?;
        }
        let flushed = self.writer.into_inner().flush();
        flushed.map_err(Error::io(&self.path, "write"))
    }
}
