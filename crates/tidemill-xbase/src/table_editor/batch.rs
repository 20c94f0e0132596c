//! Many records at once: a record batch becomes one write.

use std::ops::Range;

use arrow_array::RecordBatch;

use super::TableEditor;
use super::counters::counts;
use crate::array_values::ArrayValues;
use crate::conversion::{Converted, convert, shown};
use crate::error::Result;
use crate::value::Value;

impl TableEditor {
    /// Appends the rows of a batch, whose columns go to the fields in order, and returns the numbers of the new records.
    ///
    /// Values are converted as by [`TableEditor::alter`]; times finer than milliseconds are cut. Columns of counters and of times
    /// of change must be null, since the table gives those itself, but for [`TableEditor::enforce_autoincrement`]. Beside others,
    /// the header is locked meanwhile, and the new records are not locked afterwards: they appear complete.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) with record, field and value for the first that does not fit, and
    /// [`Error::Io`](crate::Error::Io): no record is appended then, though memos of earlier rows may stay behind in the
    /// memo file. [`Error::Misuse`](crate::Error::Misuse) when the batch has other columns than the table has fields,
    /// or one of a type that [`FieldSpec::from_arrow`](crate::FieldSpec::from_arrow) knows no field for;
    /// [`Error::Locked`](crate::Error::Locked).
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<Range<u32>> {
        self.writable()?;
        self.make_room()?;
        if batch.num_columns() != self.fields.visible.len() {
            let (given, wanted) = (batch.num_columns(), self.fields.visible.len());
            return Err(self.misuse(&format!("{given} columns for {wanted} fields")));
        }
        self.can_be_followed()?;
        self.as_one(|table| {
            let records = table.under_header_lock(|table| table.append_batch_locked(batch))?;
            if table.has_follower() {
                for record in records.clone() {
                    let bytes = table.record_bytes(record)?;
                    table.carry_on(record, None, Some(&bytes))?;
                }
            }
            Ok(records)
        })
    }

    fn append_batch_locked(&mut self, batch: &RecordBatch) -> Result<Range<u32>> {
        let rows = u32::try_from(batch.num_rows()).map_err(|_| self.misuse("more than 2^32 - 1 rows in one batch"))?;
        let first = self.next_record(rows)?;
        if rows == 0 {
            return Ok(first..first);
        }
        let columns = batch.columns().iter().zip(&self.fields.visible);
        let columns = columns.map(|(array, field)| Ok((ArrayValues::new(&field.name, array)?, field)));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let blank = self.blank_record();
        let mut bytes = Vec::with_capacity(blank.len().saturating_mul(batch.num_rows()).saturating_add(1));
        let mut values = Vec::with_capacity(columns.len());
        let mut given = Vec::new();
        for (row, record) in (first..=first - 1 + rows).enumerate() {
            values.clear();
            for (index, (column, field)) in columns.iter().enumerate() {
                let value = match column.get(row) {
                    Value::Null if counts(field) => continue,
                    Value::Null => Converted::Other(Value::Null),
                    value => convert(value, field.kind, field.is_untranslated())
                        .map_err(|expected| self.bad(record, field, expected.to_owned(), shown(value)))?,
                };
                values.push((index, value));
            }
            if self.has_own_values {
                let counters = values.iter().map(|(index, _)| *index);
                given.push(counters.filter(|index| self.is_counter(*index)).collect::<Vec<_>>());
            }
            let start = bytes.len();
            bytes.extend_from_slice(&blank);
            let values = values.iter().map(|(index, value)| (*index, value.value()));
            self.fill(record, bytes.get_mut(start..).unwrap_or_default(), values)?;
        }
        let mut counted = None;
        if self.fields.visible.iter().any(counts) {
            let records = (first..).zip(bytes.chunks_exact_mut(blank.len()));
            for ((record, bytes), given) in records.zip(&given) {
                counted = self.count_on(record, bytes, Some(given))?.or(counted);
                self.stamp(record, bytes)?;
            }
        }
        for (record, bytes) in (first..).zip(bytes.chunks_exact(blank.len())) {
            self.check_rules(record, bytes)?;
        }
        self.write_appended(first, rows, (&mut bytes, true))?;
        self.note_counted(counted);
        Ok(first..first + rows)
    }
}
