//! The entries of custom orders, which are the program's.

use std::sync::Arc;

use super::{OrderFile, TableEditor};
use crate::error::{Error, Result};
use crate::expression::{Record, RecordBytes};
use crate::index::KeyValue;
use crate::lock::LockKind;

impl TableEditor {
    /// Adds an entry to a custom order: the record under this key, or under that of its fields. `false` when it is there
    /// already.
    ///
    /// # Errors
    /// [`Error::Misuse`] for an order that is not custom, a record that is not there, and a value of another type;
    /// [`Error::Locked`], [`Error::Io`], [`Error::Corrupt`].
    pub fn add_custom_key(&mut self, order: &str, record: u32, key: Option<&KeyValue<'_>>) -> Result<bool> {
        self.as_one(|table| table.change_custom(order, record, key, true))
    }

    /// Takes an entry out of a custom order; `false` when it is not there.
    ///
    /// # Errors
    /// As [`TableEditor::add_custom_key`].
    pub fn drop_custom_key(&mut self, order: &str, record: u32, key: Option<&KeyValue<'_>>) -> Result<bool> {
        self.as_one(|table| table.change_custom(order, record, key, false))
    }

    fn change_custom(
        &mut self,
        name: &str,
        record: u32,
        key: Option<&KeyValue<'_>>,
        is_insertion: bool,
    ) -> Result<bool> {
        self.writable()?;
        let bytes = self.record_bytes(record)?;
        let (at, _) = self.find_order(name)?;
        let table = Arc::clone(&self.orders.table);
        let options = &self.options;
        let Some(file) = self.orders.files.get_mut(at) else {
            return Ok(false);
        };
        file.lock(LockKind::Exclusive, options)?;
        let changed = file.change_custom(name, &RecordBytes::new(&table, record, &bytes), key, is_insertion);
        file.unlock().and(changed)
    }
}

impl OrderFile {
    fn change_custom(
        &mut self,
        name: &str,
        record: &RecordBytes<'_>,
        key: Option<&KeyValue<'_>>,
        is_insertion: bool,
    ) -> Result<bool> {
        let order = self.place_of(name)?;
        let (Some(keys), Some(tag)) = (self.keys.get(order), self.index.tags().get(order)) else {
            return Ok(false);
        };
        if !tag.is_custom {
            let path = self.index.path().display();
            return Err(Error::Misuse(format!(
                "{path}: index tag {name} is not custom; its entries follow the records"
            )));
        }
        let key = match key {
            Some(value) => Some(keys.stored_key(value)?),
            None => keys.key(record)?,
        };
        let Some(key) = key else { return Ok(false) };
        match is_insertion {
            true => self.index.insert(order, &key, record.record_no()),
            false => self.index.remove(order, &key, record.record_no()),
        }
    }
}
