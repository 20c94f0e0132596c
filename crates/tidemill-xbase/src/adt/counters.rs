//! What a new ADT counts while its records are written: the list of free ones, autoincrement values, row versions.

use arrow_array::{Array, BooleanArray};

use crate::header::u32_at;

use super::{AUTOINCREMENT_AT, AdtType, DELETED, FIRST_FREE_AT, FREE_COUNT_AT, LIVE, RECORD_COUNT_AT, ROW_VERSION_AT};

#[derive(Debug)]
pub(crate) struct Counters {
    first_free: u32,
    free_count: u32,
    next_autoincrement: u32,
    row_version: u64,
    has_autoincrement: bool,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            first_free: 0,
            free_count: 0,
            next_autoincrement: 1,
            row_version: 0,
            has_autoincrement: false,
        }
    }
}

impl Counters {
    /// Begins records behind `before` others: their flags, and the links of deleted ones.
    pub(crate) fn begin<'r>(
        &mut self,
        before: u32,
        records: impl Iterator<Item = &'r mut [u8]>,
        deleted: Option<&BooleanArray>,
    ) {
        for ((i, record), number) in records.enumerate().zip(before + 1..) {
            let is_deleted = deleted.is_some_and(|deleted| deleted.is_valid(i) && deleted.value(i));
            let (flag, link) = match is_deleted {
                true => (DELETED, std::mem::replace(&mut self.first_free, number)),
                false => (LIVE, 0),
            };
            self.free_count += u32::from(is_deleted);
            if let Some((own, links)) = record.split_first_mut()
                && let Some(links) = links.first_chunk_mut()
            {
                (*own, *links) = (flag, link.to_le_bytes());
            }
        }
    }

    /// Looks at a value of a field that the table counts, or gives it one where it has none.
    pub(crate) fn count(&mut self, adt_type: AdtType, cell: &mut [u8]) {
        match adt_type {
            AdtType::AutoIncrement => {
                self.has_autoincrement = true;
                let given = u32_at(cell, 0).filter(|value| *value != 0);
                let value = given.unwrap_or(self.next_autoincrement);
                self.next_autoincrement = self.next_autoincrement.max(value.saturating_add(1));
                if let Some(cell) = cell.first_chunk_mut() {
                    *cell = value.to_le_bytes();
                }
            }
            AdtType::RowVersion => {
                if let Some(cell) = cell.first_chunk_mut() {
                    let value = match u64::from_le_bytes(*cell) {
                        0 => self.row_version.saturating_add(1),
                        given => given,
                    };
                    self.row_version = self.row_version.max(value);
                    *cell = value.to_le_bytes();
                }
            }
            _ => {}
        }
    }

    /// What the header of a table of so many records has, and where.
    pub(crate) fn written(&self, records: u32) -> Vec<(u64, Vec<u8>)> {
        let mut written = vec![
            (RECORD_COUNT_AT, records.to_le_bytes().to_vec()),
            (FIRST_FREE_AT, self.first_free.to_le_bytes().to_vec()),
            (FREE_COUNT_AT, self.free_count.to_le_bytes().to_vec()),
            (ROW_VERSION_AT, self.row_version.to_le_bytes().to_vec()),
        ];
        if self.has_autoincrement {
            written.push((AUTOINCREMENT_AT, self.next_autoincrement.to_le_bytes().to_vec()));
        }
        written
    }
}
