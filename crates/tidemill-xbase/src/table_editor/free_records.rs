//! The deleted records of an ADT: a deletion puts its record at the head of a list, and an append takes the first one there.
//!
//! The list is changed under the lock of the header. A record is written as deleted before it is listed, and taken out of the list before
//! it is written anew, so that what fails in between leaves no list that leads to a record in use.

use super::TableEditor;
use crate::adt;
use crate::error::{Error, Result};
use crate::header::{Dialect, u32_at};

/// The head of the list, and how many records are in it.
#[derive(Debug, Clone, Copy)]
struct Head {
    first: u32,
    count: u32,
}

impl TableEditor {
    pub(super) fn is_adt(&self) -> bool {
        self.header.dialect == Dialect::Adt
    }

    /// Deletes a record for good: its space is the next record's. One that is deleted stays as it is.
    pub(super) fn free_record(&mut self, record: u32) -> Result<()> {
        let before = self.record_bytes(record)?;
        if self.header.dialect.is_deleted(&before) {
            return Ok(());
        }
        let head = self.free_head()?;
        let mut after = before.clone();
        if let Some((flag, rest)) = after.split_first_mut()
            && let Some(link) = rest.first_chunk_mut()
        {
            (*flag, *link) = (adt::DELETED, head.first.to_le_bytes());
        }
        let offset = self.record_offset(record);
        self.history.note(record..=record);
        let put_back = |table: &mut Self| {
            let _ = table.put_free_head(head);
            let _ = table.file.write(offset, &before);
        };
        let write = |table: &mut Self| {
            let new = Head {
                first: record,
                count: head.count.saturating_add(1),
            };
            let written = table.file.write(offset, &after).and_then(|()| table.put_free_head(new));
            if written.is_err() {
                put_back(table);
            }
            written
        };
        self.with_rewritten(record, (&before, &after), write, put_back)
    }

    /// The record that the next one takes the space of, where there is one. The caller has the header locked.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a list that leads astray; [`Error::Io`].
    pub(super) fn first_free(&self) -> Result<Option<u32>> {
        if !self.is_adt() {
            return Ok(None);
        }
        let Head { first, .. } = self.free_head()?;
        if first == 0 {
            return Ok(None);
        }
        let fault = |expected: String, found: String| {
            let what = "list of free records";
            Err(Error::corrupt(self.path(), what, adt::FIRST_FREE_AT, expected, found))
        };
        if first > self.record_count() {
            return fault(format!("a record up to {}", self.record_count()), first.to_string());
        }
        let bytes = self.record_bytes(first)?;
        if !self.header.dialect.is_deleted(&bytes) {
            return fault("a deleted record".to_owned(), format!("record {first}, which is not"));
        }
        if u32_at(&bytes, 1) == Some(first) {
            return fault("another record behind it".to_owned(), format!("record {first} again"));
        }
        Ok(Some(first))
    }

    /// Writes a record in the place of the [first free one](TableEditor::first_free), and its entries.
    pub(super) fn write_reused(&mut self, record: u32, bytes: &[u8], is_finished: bool) -> Result<()> {
        let before = self.record_bytes(record)?;
        let head = self.free_head()?;
        let offset = self.record_offset(record);
        self.history.note(record..=record);
        let put_back = |table: &mut Self| {
            let _ = table.file.write(offset, &before);
            let _ = table.put_free_head(head);
        };
        let write = |table: &mut Self| {
            let next = Head {
                first: u32_at(&before, 1).unwrap_or_default(),
                count: head.count.saturating_sub(1),
            };
            let written = table.put_free_head(next).and_then(|()| table.file.write(offset, bytes));
            if written.is_err() {
                put_back(table);
            }
            written
        };
        self.with_appended(record, (bytes, is_finished), write, put_back)
    }

    /// Empties the list, for a table whose deleted records are gone; `versions` are to be counted from the beginning again, too.
    pub(super) fn forget_free(to: &crate::storage::DataFile, versions: bool) -> Result<()> {
        to.write(adt::FIRST_FREE_AT, &[0; 4])?;
        to.write(adt::FREE_COUNT_AT, &[0; 4])?;
        match versions {
            true => to.write(adt::ROW_VERSION_AT, &[0; 8]),
            false => Ok(()),
        }
    }

    fn free_head(&self) -> Result<Head> {
        let number = |at| {
            let mut bytes = [0; 4];
            self.file.read("list of free records", at, &mut bytes)?;
            Ok::<_, Error>(u32::from_le_bytes(bytes))
        };
        Ok(Head {
            first: number(adt::FIRST_FREE_AT)?,
            count: number(adt::FREE_COUNT_AT)?,
        })
    }

    fn put_free_head(&self, head: Head) -> Result<()> {
        self.file.write(adt::FIRST_FREE_AT, &head.first.to_le_bytes())?;
        self.file.write(adt::FREE_COUNT_AT, &head.count.to_le_bytes())
    }
}
