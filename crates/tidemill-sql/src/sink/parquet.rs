//! Parquet, in row groups of limited size.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::compute_leaves;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::Sink;
use crate::Result;

/// A row group is buffered in memory until it is complete. The writer's own limit counts rows, which does not limit memory.
const ROW_GROUP_BYTES: usize = 48 << 20;

/// The encoders of a column take 25 to 65 KB before the first value. Wider tables are encoded column by column.
const MOST_ENCODERS: usize = 500;

/// A sink for the width of a table.
pub(super) fn sink<'a, W: Write + Send + 'a>(schema: &SchemaRef, out: W) -> Result<Box<dyn Sink + 'a>> {
    let writer = writer(SchemaRef::clone(schema), out)?;
    if schema.flattened_fields().len() <= MOST_ENCODERS {
        return Ok(Box::new(AllColumns(writer)));
    }
    let (file, _) = writer.into_serialized_writer()?;
    Ok(Box::new(ColumnByColumn {
        file,
        batches: Vec::new(),
        bytes: 0,
    }))
}

fn writer<W: Write + Send>(schema: SchemaRef, out: W) -> Result<ArrowWriter<W>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(concat!("tidemill ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    Ok(ArrowWriter::try_new(out, schema, Some(properties))?)
}

/// Encodes all columns of a row group at once, batch by batch.
struct AllColumns<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> Sink for AllColumns<W> {
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

/// Buffers the batches of a row group, and encodes them column by column.
struct ColumnByColumn<W: Write + Send> {
    file: SerializedFileWriter<W>,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl<W: Write + Send> ColumnByColumn<W> {
    fn flush(&mut self) -> Result<()> {
        let batches = mem::take(&mut self.batches);
        self.bytes = 0;
        let Some(first) = batches.first() else {
            return Ok(());
        };
        let schema = first.schema();
        let mut group = self.file.next_row_group()?;
        for (column, field) in schema.fields().iter().enumerate() {
            write_column(&mut group, field, &batches, column)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Encodes one column of the batches, and writes its chunks.
fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    field: &FieldRef,
    batches: &[RecordBatch],
    column: usize,
) -> Result<()> {
    let alone = Arc::new(Schema::new([FieldRef::clone(field)]));
    let (_, factory) = writer(alone, io::sink())?.into_serialized_writer()?;
    let mut encoders = factory.create_column_writers(0)?;
    for batch in batches {
        let leaves = compute_leaves(field, batch.column(column))?;
        for (encoder, leaf) in encoders.iter_mut().zip(&leaves) {
            encoder.write(leaf)?;
        }
    }
    for encoder in encoders {
        encoder.close()?.append_to_row_group(group)?;
    }
    Ok(())
}

impl<W: Write + Send> Sink for ColumnByColumn<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for column in batch.columns() {
            self.bytes += column.to_data().get_slice_memory_size()?;
        }
        self.batches.push(batch.clone());
        if self.bytes > ROW_GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        self.file.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::{ArrayRef, Int64Array, StringArray, StructArray};
    use arrow_select::concat::concat_batches;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    /// Rows whose columns are numbers, texts, lists and structs in turn, some of them NULL.
    fn batch(columns: usize, rows: i32) -> RecordBatch {
        let some = |row: i32, column: usize| !(row as usize + column).is_multiple_of(3);
        let column = |column: usize| -> ArrayRef {
            let numbers = (0..rows).map(|row| some(row, column).then_some(i64::from(row)));
            let numbers = Arc::new(Int64Array::from_iter(numbers));
            let texts = (0..rows).map(|row| some(row, column).then(|| format!("{column}/{row}")));
            let texts = Arc::new(StringArray::from_iter(texts));
            match column % 4 {
                0 => numbers,
                1 => texts,
                2 => {
                    let mut lists = ListBuilder::new(Int32Builder::new());
                    for row in 0..rows {
                        lists.append_option(some(row, column).then(|| (0..row % 4).map(Some)));
                    }
                    Arc::new(lists.finish())
                }
                _ => Arc::new(
                    StructArray::try_from(vec![("n", numbers as ArrayRef), ("t", texts as ArrayRef)]).expect("columns"),
                ),
            }
        };
        RecordBatch::try_from_iter_with_nullable((0..columns).map(|index| (format!("c{index}"), column(index), true)))
            .expect("columns of one length")
    }

    #[test]
    fn wide_tables_come_back() {
        let wide = batch(MOST_ENCODERS, 50);
        let schema = wide.schema();
        assert!(schema.flattened_fields().len() > MOST_ENCODERS);
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut sink = sink(&schema, file.reopen().expect("open")).expect("a sink");
        for part in [wide.slice(0, 7), wide.slice(7, 0), wide.slice(7, 43)] {
            sink.write(&part).expect("written");
        }
        sink.finish().expect("finished");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.reopen().expect("open")).expect("Parquet");
        assert_eq!(reader.schema(), &schema);
        let batches: Vec<_> = reader
            .build()
            .expect("a reader")
            .map(|batch| batch.expect("rows"))
            .collect();
        assert_eq!(concat_batches(&schema, &batches).expect("one schema"), wide);
    }

    #[test]
    fn wide_tables_without_rows_keep_their_columns() {
        let schema = batch(MOST_ENCODERS + 1, 0).schema();
        let file = tempfile::NamedTempFile::new().expect("a file");
        sink(&schema, file.reopen().expect("open"))
            .expect("a sink")
            .finish()
            .expect("finished");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.reopen().expect("open")).expect("Parquet");
        assert_eq!(reader.schema(), &schema);
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
