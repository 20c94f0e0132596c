//! Locks of records and of the table.

use tidemill_xbase::{OpenMode, Place};

use super::WorkArea;
use crate::error::{ErrorCode, Result};

impl WorkArea {
    /// Locks a record, or with 0 the current one, and reads it anew.
    ///
    /// # Errors
    /// [`ErrorCode::LockFailed`] when someone else holds it; [`ErrorCode::NoCurrentRecord`].
    pub fn lock_record(&mut self, record: u32) -> Result<()> {
        let record = self.meant(record)?;
        if self.is_alone() || self.is_file_locked || self.locked.contains(&record) {
            return Ok(());
        }
        match self.locked_for_change == Some(record) {
            true => self.locked_for_change = None,
            false => {
                self.editor.lock_record(record)?;
                if !self.record.is_changed {
                    self.record.number = 0;
                }
            }
        }
        self.locked.insert(record);
        Ok(())
    }

    /// Locks the current record until it is written or left, as a change does; 0 means it too.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRecordNumber`] for another record, which no move would unlock; as [`WorkArea::lock_record`].
    pub fn lock_until_left(&mut self, record: u32) -> Result<()> {
        let (record, current) = (self.meant(record)?, self.meant(0)?);
        if record != current {
            let why = format!("record {record} is not the current one, which is {current}; lock it with AdsLockRecord");
            return self.refuse(ErrorCode::InvalidRecordNumber, why);
        }
        self.lock_for_change().map(drop)
    }

    /// Writes what was changed, and unlocks a record, or with 0 the current one.
    ///
    /// # Errors
    /// [`ErrorCode::RecordNotLocked`]; [`ErrorCode::InvalidRecordNumber`] for a record that there is not; as [`WorkArea::write_record`].
    pub fn unlock_record(&mut self, record: u32) -> Result<()> {
        let record = self.meant(record)?;
        self.write_record()?;
        if self.is_alone() {
            return Ok(());
        }
        if !self.locked.contains(&record) && !(1..=self.record_count()?.saturating_add(1)).contains(&record) {
            return self.refuse(ErrorCode::InvalidRecordNumber, format!("there is no record {record}"));
        }
        if !self.locked.remove(&record) {
            return self.refuse(ErrorCode::RecordNotLocked, format!("record {record} is not locked"));
        }
        Ok(self.editor.unlock_record(record)?)
    }

    /// Locks all records; locks of single ones are given back.
    ///
    /// # Errors
    /// [`ErrorCode::LockFailed`] when someone else holds one.
    pub fn lock_table(&mut self) -> Result<()> {
        self.write_record()?;
        if self.is_alone() || self.is_file_locked {
            return Ok(());
        }
        self.locked.clear();
        self.editor.lock_file()?;
        self.is_file_locked = true;
        self.record.number = 0;
        Ok(())
    }

    /// Gives all locks of the table and its records back.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotLocked`] when there are none; [`ErrorCode::TableNotShared`] for one that nobody else has open.
    pub fn unlock_table(&mut self) -> Result<()> {
        self.write_record()?;
        if self.is_alone() {
            return self.refuse(ErrorCode::TableNotShared, "the table is open exclusively");
        }
        if !self.is_file_locked && self.locked.is_empty() {
            return self.refuse(ErrorCode::TableNotLocked, "nothing is locked");
        }
        self.is_file_locked = false;
        self.locked.clear();
        Ok(self.editor.unlock_all()?)
    }

    /// Whether this handle holds a record, or with 0 the current one.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`].
    pub fn is_record_locked(&self, record: u32) -> Result<bool> {
        // The list of locks is what is asked, and where there is no record there is none in it.
        let record = match (record, self.place) {
            (0, Place::Record(current)) => current,
            (0, _) => return Ok(false),
            (record, _) => record,
        };
        let is_changed = self.locked_for_change == Some(record);
        Ok(self.is_alone() || self.is_file_locked || is_changed || self.locked.contains(&record))
    }

    /// Whether this handle has locked all records; not where it has the table alone and needs no lock.
    pub fn is_table_locked(&self) -> bool {
        !self.is_alone() && self.is_file_locked
    }

    /// The records that this handle holds, in ascending order.
    pub fn locked_records(&self) -> Vec<u32> {
        let mut records = self.locked.clone();
        records.extend(self.locked_for_change);
        records.into_iter().collect()
    }

    /// Forgets the locks that the end of a transaction has given back.
    pub(super) fn forget_given_back(&mut self) {
        let editor = &self.editor;
        self.is_file_locked &= editor.is_file_locked();
        self.locked.retain(|record| editor.is_record_locked(*record));
        self.locked_for_change = self.locked_for_change.filter(|record| editor.is_record_locked(*record));
    }

    fn is_alone(&self) -> bool {
        self.options.mode == OpenMode::Exclusive
    }

    fn meant(&self, record: u32) -> Result<u32> {
        match (record, self.place) {
            (0, Place::Record(current)) => Ok(current),
            (0, _) => self.refuse(ErrorCode::NoCurrentRecord, "there is no current record"),
            (record, _) => Ok(record),
        }
    }
}
