//! Parquet, in row groups that are bounded by their bytes.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Sink;
use crate::Result;

/// Tables of more columns are written without dictionaries, each of which takes 40 KB of memory before it has a value.
const MOST_DICTIONARIES: usize = 1_000;

pub(super) struct ParquetSink<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> ParquetSink<W> {
    pub(super) fn new(schema: &SchemaRef, out: W) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_dictionary_enabled(schema.flattened_fields().len() <= MOST_DICTIONARIES)
            .set_created_by(concat!("tidemill ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        Ok(Self(ArrowWriter::try_new(
            out,
            SchemaRef::clone(schema),
            Some(properties),
        )?))
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch)?;
        if self.0.memory_size() > ROW_GROUP_BYTES {
            self.0.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        Ok(())
    }
}

/// A row group is held in memory until it is whole. The writer's own limit counts rows, which says nothing of memory.
const ROW_GROUP_BYTES: usize = 48 << 20;
