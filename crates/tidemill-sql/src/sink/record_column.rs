//! Writes the single binary column of a query over a record file as records.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::{FileOptions, Sink};
use crate::format::Format;
use crate::records::RecordsSink;
use crate::{Error, Result};

pub(super) struct RecordColumnSink {
    sink: RecordsSink,
    path: PathBuf,
    rows: u64,
}

impl RecordColumnSink {
    /// # Errors
    ///
    /// [`Error::Unsupported`] for rows that are not records; [`Error::Riegeli`] if the file cannot be created.
    pub(super) fn create(format: Format, path: &Path, schema: &Schema, options: &FileOptions) -> Result<Self> {
        match schema.fields().as_ref() {
            [only] if matches!(only.data_type(), DataType::Binary | DataType::LargeBinary) => Ok(Self {
                sink: RecordsSink::create(format, path, options, Vec::new())?,
                path: path.to_path_buf(),
                rows: 0,
            }),
            _ => Err(Error::Unsupported {
                what: format!("{}: writing rows of columns as {format}", path.display()),
                hint: format!(
                    "{format} has records, that is one binary column; copy to a .riegeli file, which has rows too"
                ),
            }),
        }
    }
}

impl Sink for RecordColumnSink {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let column = batch.column(0);
        if let Some(row) = (0..column.len()).find(|row| column.is_null(*row)) {
            return Err(Error::Unsupported {
                what: format!("NULL as a record, in row {},", self.rows + row as u64 + 1),
                hint: format!(
                    "leave such rows out with a SELECT … WHERE {} IS NOT NULL",
                    batch.schema_ref().field(0).name()
                ),
            });
        }
        match column.as_binary_opt::<i32>() {
            Some(records) => records
                .iter()
                .flatten()
                .try_for_each(|record| self.sink.write(record))?,
            None => {
                let records = column.as_binary::<i64>();
                records
                    .iter()
                    .flatten()
                    .try_for_each(|record| self.sink.write(record))?;
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.sink.finish(&self.path)
    }
}
