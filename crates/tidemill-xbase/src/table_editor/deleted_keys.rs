//! New records whose key a deleted record has: they take its place.
//!
//! A candidate index has the keys of deleted records too, as in Visual FoxPro and ADS, so that nobody can append a record with the key
//! of one that is deleted. Programs of SQL delete a row and insert another with its key. A new record then overwrites the
//! deleted one, which cannot be recalled afterwards, and the index keeps its rule.

use arrow_array::RecordBatch;

use super::TableEditor;
use crate::error::{Error, Result};
use crate::value::Value;

impl TableEditor {
    /// Whether a new record takes the place of a deleted one that has its key in a candidate index. Otherwise, and in tables that have
    /// relations or triggers, it is refused. Default: false.
    pub fn reuse_deleted(&mut self, reuses: bool) {
        self.reuses_deleted = reuses;
    }

    /// The deleted record whose place a record can take that was not appended.
    ///
    /// # Errors
    /// Why it was not, where there is none.
    pub(super) fn deleted_holder(&self, refused: Error) -> Result<u32> {
        let holder = match &refused {
            Error::Order { source, .. } => match **source {
                Error::DuplicateKey { holder, .. } => Some(holder),
                _ => None,
            },
            _ => None,
        };
        let takes_places = self.reuses_deleted && !self.is_adt() && !self.has_follower();
        // A batch may have a key twice itself.
        let is_there = |holder: &u32| *holder <= self.record_count();
        match holder.filter(|holder| takes_places && is_there(holder)) {
            Some(holder) if self.is_deleted(holder)? => Ok(holder),
            _ => Err(refused),
        }
    }

    /// Overwrites a deleted record with a new one.
    pub(super) fn take_place(&mut self, record: u32, values: &[(usize, Value<'_>)]) -> Result<()> {
        let had_lock = self.is_record_locked(record);
        self.lock_record(record)?;
        let taken = self.take_locked_place(record, values);
        if !had_lock {
            self.unlock_record(record)?;
        }
        taken
    }

    fn take_locked_place(&mut self, record: u32, values: &[(usize, Value<'_>)]) -> Result<()> {
        // Others may have recalled it meanwhile.
        if !self.is_deleted(record)? {
            return Err(self.misuse(&format!("record {record} was recalled while its place was being taken")));
        }
        self.unfinished = Some(record);
        let taken = self.changed(record, |table, _, after| {
            after.extend_from_slice(&table.blank);
            table.fill_defaults(record, after)?;
            table.fill(record, after, values.iter().copied())?;
            if table.has_own_values {
                let given = table.given(values);
                table.under_header_lock(|table| table.count_on(record, after, Some(&given)))?;
            }
            Ok(())
        });
        self.unfinished = None;
        taken
    }

    /// Appends the rows of a batch and returns their number. Fields of these places keep the values that new records begin with: their
    /// columns are not looked at. Rows may take the places of deleted records, see [`TableEditor::reuse_deleted`].
    ///
    /// # Errors
    /// As [`TableEditor::append_batch`].
    pub fn append_rows(&mut self, batch: &RecordBatch, without: &[usize]) -> Result<u64> {
        match self.append_batch_without(batch, without) {
            Ok(records) => Ok(u64::from(records.end - records.start)),
            Err(refused) => {
                self.deleted_holder(refused)?;
                self.append_row_by_row(batch, without)
            }
        }
    }
}
