//! Records to rows.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};

use super::{mapping::Mapping, message_reader::MessageReader};
use crate::{Result, error::RowProblem};

/// Decodes messages into record batches. The seam for fuzzers: no files, any bytes.
pub struct RowDecoder {
    schema: SchemaRef,
    message: MessageReader,
    rows: usize,
    raw: bool,
}

impl RowDecoder {
    /// Decodes rows of `schema` into the columns of `projection`, in its order. A column may be asked for once.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) for columns that are not there or asked for twice,
    /// [`Error::ColumnType`](crate::Error::ColumnType) for one without a mapping.
    pub fn new(schema: &SchemaRef, projection: &[usize]) -> Result<Self> {
        Self::with_mode(schema, projection, false)
    }

    /// Takes records as they are into one binary column.
    pub(super) fn raw(schema: &SchemaRef, projection: &[usize]) -> Result<Self> {
        Self::with_mode(schema, projection, true)
    }

    fn with_mode(schema: &SchemaRef, projection: &[usize], raw: bool) -> Result<Self> {
        let projected = Arc::new(schema.project(projection)?);
        let mut slots = vec![None; schema.fields().len()];
        for (slot, &column) in projection.iter().enumerate() {
            if slots[column].replace(slot).is_some() {
                return Err(
                    ArrowError::InvalidArgumentError(format!("column {column} is in the projection twice")).into(),
                );
            }
        }
        let columns = Mapping::of_schema(&projected)?;
        Ok(Self {
            schema: projected,
            message: MessageReader::new(slots, &columns),
            rows: 0,
            raw,
        })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows that were pushed since the last batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Decodes a record. After an error the row is left out of the batch.
    ///
    /// # Errors
    /// The column, as a position in the projection, and what is wrong with it.
    pub fn push(&mut self, record: &[u8]) -> Result<(), (Option<usize>, RowProblem)> {
        let result = match self.raw {
            true => self.message.take_whole(record),
            false => self.message.read_whole(record),
        };
        match result {
            Ok(()) => self.rows += 1,
            Err(_) => self.message.truncate(self.rows),
        }
        result
    }

    /// Returns the rows so far and begins a new batch.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) when a column exceeds what its type can hold.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        let columns = self.message.finish(self.schema.fields())?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            self.schema.clone(),
            columns,
            &options,
        )?)
    }
}
