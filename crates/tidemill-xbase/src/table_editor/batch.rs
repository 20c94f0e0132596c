//! Many records at once: a record batch becomes one write.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;

use super::TableEditor;
use super::record::counts;
use crate::error::Result;
use crate::value::{Value, Values, cast};

impl TableEditor {
    /// Appends the rows of a batch, whose columns go to the fields in order, and returns the numbers of the new records.
    ///
    /// Columns are cast to what the fields hold; times finer than milliseconds are cut. Columns of counters and of times of
    /// change must be null, since the table gives those itself. Beside others, the header is locked meanwhile, and the new records are not locked
    /// afterwards: they appear complete.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) with record, field and value for the first that does not fit, and
    /// [`Error::Io`](crate::Error::Io): no record is appended then, though memos of earlier rows may stay behind in the
    /// memo file. [`Error::Misuse`](crate::Error::Misuse) when the batch has other columns than the table has fields;
    /// [`Error::Locked`](crate::Error::Locked).
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<Range<u32>> {
        self.writable()?;
        self.make_room()?;
        if batch.num_columns() != self.fields.visible.len() {
            let (given, wanted) = (batch.num_columns(), self.fields.visible.len());
            return Err(self.misuse(&format!("{given} columns for {wanted} fields")));
        }
        self.as_one(|table| table.under_header_lock(|table| table.append_batch_locked(batch)))
    }

    fn append_batch_locked(&mut self, batch: &RecordBatch) -> Result<Range<u32>> {
        let rows = u32::try_from(batch.num_rows()).map_err(|_| self.misuse("more than 2^32 - 1 rows in one batch"))?;
        let first = self.next_record(rows)?;
        if rows == 0 {
            return Ok(first..first);
        }
        let columns = self.cast_columns(first, batch)?;
        let columns = columns.iter().zip(&self.fields.visible);
        let columns: Vec<_> = columns
            .map(|(column, field)| Values::of(column, field.decimals))
            .collect();
        let blank = self.blank_record();
        let mut bytes = Vec::with_capacity(blank.len().saturating_mul(batch.num_rows()).saturating_add(1));
        let mut values = Vec::with_capacity(columns.len());
        for (row, record) in (first..=first - 1 + rows).enumerate() {
            values.clear();
            for (index, (column, field)) in columns.iter().zip(&self.fields.visible).enumerate() {
                let value = column.get(row);
                if value != Value::Null || !counts(field) {
                    values.push((index, value));
                }
            }
            let start = bytes.len();
            bytes.extend_from_slice(&blank);
            self.fill(record, bytes.get_mut(start..).unwrap_or_default(), &values)?;
        }
        if self.fields.visible.iter().any(counts) {
            for (record, bytes) in (first..).zip(bytes.chunks_exact_mut(blank.len())) {
                self.count_on(record, bytes, true)?;
                self.stamp(record, bytes)?;
            }
        }
        self.write_appended(first, rows, &mut bytes)?;
        Ok(first..first + rows)
    }

    fn cast_columns(&self, first: u32, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let columns = batch.columns().iter().zip(&self.fields.visible);
        columns
            .map(|(given, field)| {
                let data_type = field.data_type();
                cast(given, &data_type)?.map_err(|row| {
                    let record = first.saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
                    let found = array_value_to_string(given, row).unwrap_or_default();
                    self.bad(record, field, format!("a value that {data_type} holds"), found)
                })
            })
            .collect()
    }
}
