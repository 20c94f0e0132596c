//! Candidate indexes: no two records have one key there, and none has a key that is NULL.
//!
//! A change that would break this is refused while the index files that it changes are locked and before anything is written, so
//! that two programs never both get a key in, and what is refused leaves table and indexes as they were. Deleted records count,
//! as in Visual FoxPro and ADS ("Xbase Candidate Indexes" in its help), unless the FOR expression leaves them out.
//!
//! A record that [`TableEditor::append_record`] appends has no entry until it is changed or [`TableEditor::finish_appended`] is
//! asked for it: its key is that of a blank record until then, which another program may be about to fill as well. One that is
//! deleted without ever being finished never gets an entry. Whatever else changes a record sees to it that its entry is there.
//!
//! # What this module does not do
//!
//! Harbour takes candidate indexes for custom orders, to which it adds nothing. Records that it appends are noticed when the table
//! is opened, as for every index that has not followed.

use super::{Change, Changes, OrderFile, Orders, TableEditor};
use crate::error::{Error, Result};
use crate::expression::Record;
use crate::field::Field;
use crate::index::{KeySorter, OrderSpec};
use crate::table::Table;

impl TableEditor {
    /// Adds the entries that candidate indexes lack of a record which [`TableEditor::append_record`] has appended, and which
    /// stays as it is. Those of other records are there.
    ///
    /// # Errors
    /// [`Error::Order`] with [`Error::DuplicateKey`] or [`Error::NullKey`], [`Error::Rule`], and as [`TableEditor::replace`].
    pub fn finish_appended(&mut self, record: u32) -> Result<()> {
        if !self.orders.has_candidates() && !self.has_rules() && !self.has_follower() {
            return Ok(());
        }
        self.can_be_followed()?;
        let bytes = self.record_bytes(record)?;
        self.check_rules(record, &bytes, None)?;
        self.unfinished = None;
        self.as_one(|table| {
            table.with_rewritten(record, (&bytes, &bytes), |_| Ok(()), |_| ())?;
            table.carry_on(record, None, Some(&bytes))
        })
    }

    /// Whether changes through this handle are refused that candidate indexes forbid. Where they are not, a second record with a
    /// key has no entry there, and stays so until it is changed. Making an index over such records is refused all the same.
    /// Default: true.
    pub fn enforce_candidates(&mut self, enforces: bool) {
        self.orders.enforces = enforces;
    }

    /// Whether the candidate indexes of all open index files can be made over the records of a table, or those that are kept of
    /// them, with other fields.
    ///
    /// # Errors
    /// [`Error::Order`] with [`Error::DuplicateKey`] or [`Error::NullKey`] for the first that cannot.
    pub(in crate::table_editor) fn check_candidates(
        &self,
        table: &Table,
        fields: &[Field],
        are_kept: impl Fn(&dyn Record) -> bool,
    ) -> Result<()> {
        for file in self.orders.files.iter().filter(|file| file.has_candidates()) {
            for (tag, keys) in file.index.tags().iter().zip(file.keys_over(fields)?) {
                if tag.is_candidate {
                    let order = keys.of_order(&OrderSpec::from(tag), &file.settings);
                    let mut sorter = KeySorter::new(&order, file.index.dialect(), table.record_count())?;
                    let sorted = keys.sort_those(table, |record| are_kept(record), &mut sorter);
                    let checked = sorted.and_then(|()| sorter.check());
                    checked.map_err(|e| Error::order(file.index.path(), &tag.name, e))?;
                }
            }
        }
        Ok(())
    }
}

impl Orders {
    pub(in crate::table_editor) fn has_candidates(&self) -> bool {
        self.files.iter().any(OrderFile::has_candidates)
    }

    /// Refuses changes that give a record a key which another has. The files are locked that they change.
    ///
    /// # Errors
    /// [`Error::Order`] with [`Error::DuplicateKey`].
    pub(super) fn refuse_duplicates(&mut self, changes: &Changes) -> Result<()> {
        if !self.enforces || !self.has_candidates() {
            return Ok(());
        }
        let key = |change: &Change| changes.keys.get(change.key.clone()).unwrap_or_default();
        let mut before: Option<&Change> = None;
        for change in changes.changes.iter().filter(|change| change.is_insertion) {
            let Some(file) = self.files.get_mut(change.file) else {
                continue;
            };
            if !file.is_candidate(change.order) {
                continue;
            }
            // Records that are appended together are in the order of their keys.
            let twin = before.filter(|before| {
                (before.file, before.order) == (change.file, change.order) && key(before) == key(change)
            });
            match twin {
                Some(twin) => return Err(file.duplicate(change.order, change.recno, twin.recno)),
                None => file.refuse_duplicate(change.order, key(change), change.recno)?,
            }
            before = Some(change);
        }
        Ok(())
    }
}

impl OrderFile {
    pub(super) fn has_candidates(&self) -> bool {
        self.index.tags().iter().any(|tag| tag.is_candidate)
    }

    pub(super) fn is_candidate(&self, order: usize) -> bool {
        self.index.tags().get(order).is_some_and(|tag| tag.is_candidate)
    }

    /// Refuses a key that another record has.
    pub(super) fn refuse_duplicate(&mut self, order: usize, key: &[u8], record: u32) -> Result<()> {
        match self.index.holder(order, key)? {
            Some(holder) if holder != record => Err(self.duplicate(order, record, holder)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn duplicate(&self, order: usize, record: u32, holder: u32) -> Error {
        let name = self.index.tags().get(order).map_or("", |tag| tag.name.as_str());
        Error::order(self.index.path(), name, Error::DuplicateKey { record, holder })
    }
}
