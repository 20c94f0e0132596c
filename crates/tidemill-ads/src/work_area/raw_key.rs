//! Keys that a program puts together: it sets fields of a record that is in no table, and gets the key of it.
//!
//! A key ends where the fields end that were set: of `NAME + FIRST` with a short `FIRST` it is a part, which a seek takes as
//! the beginning of a key. No expression tells which of its bytes come from where, so the key is made a second time with other
//! letters and digits in those fields, and the last byte that differs is the end.

use tidemill_xbase::expression::RecordBytes;
use tidemill_xbase::index::KeyType;
use tidemill_xbase::{FieldKind, OpenMode, Place};

use super::{CurrentRecord, OrderId, WorkArea};
use crate::error::{ErrorCode, Result};

/// How much of a key is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyLength {
    /// Up to the end of what was set.
    Partial,
    /// Up to the end of the last field that was set.
    Fields,
    /// The whole key.
    Full,
}

/// The number of a record that is in no table.
pub(super) const NOWHERE: u32 = u32::MAX;

impl WorkArea {
    /// Begins a key for an order: its fields are blank.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`].
    pub fn begin_raw_key(&mut self, order: OrderId) -> Result<()> {
        self.order_mut(order)?;
        let record = CurrentRecord {
            number: NOWHERE,
            bytes: self.editor.blank_record(),
            ..CurrentRecord::default()
        };
        self.raw_key = Some((order, record));
        Ok(())
    }

    /// Whether fields that are set for an order belong to a key.
    pub fn builds_raw_key(&self, order: OrderId) -> bool {
        self.raw_key.as_ref().is_some_and(|(known, _)| *known == order)
    }

    /// Sets fields of the key, as `work` would set them of the current record. Nothing is locked or written.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`] when no key was begun; those of `work`.
    pub fn in_raw_key<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some((order, key)) = self.raw_key.take() else {
            return self.refuse(ErrorCode::InvalidIndexHandle, "no key was begun");
        };
        let record = std::mem::replace(&mut self.record, key);
        let place = std::mem::replace(&mut self.place, Place::Record(NOWHERE));
        // Who is alone needs no lock.
        let mode = std::mem::replace(&mut self.options.mode, OpenMode::Exclusive);
        let done = work(self);
        self.options.mode = mode;
        self.place = place;
        let key = std::mem::replace(&mut self.record, record);
        self.raw_key = Some((order, key));
        done
    }

    /// The key of the fields that were set.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`] when no key was begun for the order; that of the key's expression.
    pub fn raw_key(&mut self, order: OrderId, length: KeyLength) -> Result<Vec<u8>> {
        let keys = self.keys(order)?.clone();
        let bytes = match &self.raw_key {
            Some((known, key)) if *known == order => key.bytes.clone(),
            _ => return self.refuse(ErrorCode::InvalidIndexHandle, "no key was begun for the order"),
        };
        let make = |bytes: &[u8]| keys.key_whatever_the_condition(&RecordBytes::new(&self.table, 1, bytes));
        let mut key = make(&bytes)?;
        let parts = keys.parts();
        if length != KeyLength::Full && parts.len() > 1 {
            key.truncate(self.set_parts(&bytes, &key, &parts, length));
            return Ok(key);
        }
        if length == KeyLength::Full || keys.key_type() != KeyType::Character {
            return Ok(key);
        }
        let blank = self.editor.blank_record();
        let mut other = bytes.clone();
        for field in self.fields() {
            let place = field.offset..field.offset + field.width;
            let (Some(cell), Some(blank)) = (other.get_mut(place.clone()), blank.get(place)) else {
                continue;
            };
            if cell == blank || field.kind.uses_memo() {
                continue;
            }
            let set = match (length, field.kind) {
                (KeyLength::Partial, FieldKind::Character) => cell.trim_ascii_end().len(),
                _ => cell.len(),
            };
            for byte in cell.iter_mut().take(set) {
                *byte = match *byte {
                    digit @ b'0'..=b'9' if field.kind != FieldKind::Character => b'0' + (digit - b'0' + 1) % 10,
                    b'a' | b'A' => b'B',
                    _ if field.kind == FieldKind::Character => b'A',
                    other => other,
                };
            }
        }
        // What cannot be made of other digits, such as a day that is none, says nothing of where the key ends.
        let Ok(other) = make(&other) else { return Ok(key) };
        let end = key.iter().zip(&other).rposition(|(byte, other)| byte != other);
        key.truncate(end.map_or(0, |last| last + 1));
        Ok(key)
    }

    /// How many bytes of a key of several parts are those of parts with fields that were set.
    fn set_parts(&self, bytes: &[u8], key: &[u8], parts: &[(Vec<usize>, usize)], length: KeyLength) -> usize {
        let blank = self.editor.blank_record();
        let is_set = |field: &usize| {
            let cell = |record: &'_ [u8]| {
                let field = self.fields().get(*field)?;
                record.get(field.offset..field.offset + field.width).map(<[u8]>::to_vec)
            };
            cell(bytes) != cell(&blank)
        };
        let (mut end, mut set) = (0, 0);
        for (fields, len) in parts {
            let begin = end;
            end += len;
            if !fields.iter().any(is_set) {
                continue;
            }
            let is_text = |field: &usize| {
                self.fields()
                    .get(*field)
                    .is_some_and(|field| field.kind == FieldKind::Character)
            };
            set = match (length, key.get(begin..end)) {
                (KeyLength::Partial, Some(part)) if fields.iter().all(is_text) => begin + part.trim_ascii_end().len(),
                _ => end,
            };
        }
        set
    }
}
