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
        self.append_batch_without(batch, &[])
    }

    /// As [`TableEditor::append_batch`], but for fields of these places.
    pub(super) fn append_batch_without(&mut self, batch: &RecordBatch, fields: &[usize]) -> Result<Range<u32>> {
        self.writable()?;
        self.make_room()?;
        if batch.num_columns() != self.fields.visible.len() {
            let (given, wanted) = (batch.num_columns(), self.fields.visible.len());
            return Err(self.misuse(&format!("{given} columns for {wanted} fields")));
        }
        self.can_be_followed()?;
        self.as_one(|table| {
            let records = table.under_header_lock(|table| table.append_batch_locked(batch, fields))?;
            if table.has_follower() {
                for record in records.clone() {
                    let bytes = table.record_bytes(record)?;
                    table.carry_on(record, None, Some(&bytes))?;
                }
            }
            Ok(records)
        })
    }

    fn append_batch_locked(&mut self, batch: &RecordBatch, left_out: &[usize]) -> Result<Range<u32>> {
        let rows = u32::try_from(batch.num_rows()).map_err(|_| self.misuse("more than 2^32 - 1 rows in one batch"))?;
        let first = self.next_record(rows)?;
        if rows == 0 {
            return Ok(first..first);
        }
        let columns = self.columns_of(batch, left_out)?;
        let blank = self.blank_record();
        let mut bytes = Vec::with_capacity(blank.len().saturating_mul(batch.num_rows()).saturating_add(1));
        let mut values = Vec::with_capacity(columns.len());
        let mut given = Vec::new();
        let defaults = match left_out.is_empty() {
            true => Vec::new(),
            false => self.defaults()?,
        };
        for (row, record) in (first..=first - 1 + rows).enumerate() {
            self.values_of(&columns, row, record, &mut values)?;
            if self.has_own_values {
                let counters = values.iter().map(|(index, _)| *index);
                given.push(counters.filter(|index| self.is_counter(*index)).collect::<Vec<_>>());
            }
            let start = bytes.len();
            bytes.extend_from_slice(&blank);
            let values = values.iter().map(|(index, value)| (*index, value.value()));
            let bytes = bytes.get_mut(start..).unwrap_or_default();
            self.fill_stored(record, bytes, &defaults)?;
            self.fill(record, bytes, values)?;
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
            self.check_rules(record, bytes, None)?;
        }
        self.write_appended(first, rows, (&mut bytes, true))?;
        self.note_counted(counted);
        Ok(first..first + rows)
    }

    /// The columns of a batch, by the places of their fields.
    fn columns_of<'b>(&self, batch: &'b RecordBatch, left_out: &[usize]) -> Result<Vec<(usize, ArrayValues<'b>)>> {
        let columns = batch.columns().iter().zip(&self.fields.visible).enumerate();
        let columns = columns.filter(|(place, _)| !left_out.contains(place));
        columns
            .map(|(place, (array, field))| Ok((place, ArrayValues::new(&field.name, array)?)))
            .collect()
    }

    /// The values of a row as their fields take them; counters that are NULL have none.
    fn values_of<'c>(
        &self,
        columns: &'c [(usize, ArrayValues<'_>)],
        row: usize,
        record: u32,
        values: &mut Vec<(usize, Converted<'c>)>,
    ) -> Result<()> {
        values.clear();
        for (place, column) in columns {
            let field = self.visible(*place)?;
            let value = match column.get(row) {
                Value::Null if counts(field) => continue,
                Value::Null => Converted::Other(Value::Null),
                value => convert(value, field.kind, field.is_untranslated())
                    .map_err(|expected| self.bad(record, field, expected.to_owned(), shown(value)))?,
            };
            values.push((*place, value));
        }
        Ok(())
    }

    /// Appends the rows of a batch one by one, all of them or none where there is a log.
    pub(super) fn append_row_by_row(&mut self, batch: &RecordBatch, left_out: &[usize]) -> Result<u64> {
        let columns = self.columns_of(batch, left_out)?;
        self.as_one(|table| {
            let mut values = Vec::with_capacity(columns.len());
            for row in 0..batch.num_rows() {
                table.values_of(&columns, row, table.record_count().saturating_add(1), &mut values)?;
                let values: Vec<_> = values.iter().map(|(place, value)| (*place, value.value())).collect();
                table.append_complete(&values)?;
            }
            Ok(batch.num_rows() as u64)
        })
    }
}
