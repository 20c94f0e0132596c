//! A change of a record, which may fire triggers.

use tidemill_xbase as xbase;
use tidemill_xbase::TableEditor;

use crate::TriggerEvent;
use crate::sql::error::Result;

/// A change of a record that may fire triggers.
#[derive(Debug, Clone, Copy)]
pub enum FiredChange<'c> {
    /// A new record.
    Insert {
        /// Fields and their values.
        values: &'c [(usize, xbase::Value<'c>)],
        /// Whether it is marked as deleted.
        is_deleted: bool,
    },
    /// Values of a record.
    Update {
        /// The record.
        record: u32,
        /// Fields and their values.
        values: &'c [(usize, xbase::Value<'c>)],
        /// How the deletion mark changes.
        deletion: Option<bool>,
    },
    /// A record goes.
    Delete {
        /// The record.
        record: u32,
    },
}

impl FiredChange<'_> {
    /// What it fires.
    pub fn event(&self) -> TriggerEvent {
        match self {
            Self::Insert { .. } => TriggerEvent::Insert,
            Self::Update {
                deletion: Some(true), ..
            }
            | Self::Delete { .. } => TriggerEvent::Delete,
            Self::Update { .. } => TriggerEvent::Update,
        }
    }

    /// Makes it, and returns the number of the record.
    ///
    /// # Errors
    /// As the editor.
    pub fn make(&self, table: &mut TableEditor) -> Result<u32> {
        match *self {
            Self::Insert { values, is_deleted } => {
                let record = table.append_complete(values)?;
                if is_deleted {
                    table.lock_record(record)?;
                    table.delete(record)?;
                    table.unlock_record(record)?;
                }
                Ok(record)
            }
            Self::Update {
                record,
                values,
                deletion,
            } => {
                table.replace(record, values)?;
                match deletion {
                    Some(true) => table.delete(record)?,
                    Some(false) => table.recall(record)?,
                    None => {}
                }
                Ok(record)
            }
            Self::Delete { record } => {
                table.delete(record)?;
                Ok(record)
            }
        }
    }
}
