//! What the table itself counts: autoincrement values, row versions, and times of changes.

use super::TableEditor;
use super::record::cell;
use crate::adt;
use crate::conversion::shown;
use crate::error::Result;
use crate::expression::{self, Record as _, RecordBytes};
use crate::field::Field;
use crate::header::{Dialect, u32_at};
use crate::value::Value;

impl TableEditor {
    /// Gives the record the time of its change, as Harbour does at each write (`src/rdd/dbf1.c`).
    pub(super) fn stamp(&self, record: u32, bytes: &mut [u8]) -> Result<()> {
        for field in self.fields.visible.iter().filter(|field| field.letter == MODIFIED) {
            let now = (self.options.clock)();
            self.put_own(record, field, Value::Timestamp(now), bytes)?;
        }
        Ok(())
    }

    /// Writes a value that the table gives itself.
    pub(super) fn put_own(&self, record: u32, field: &Field, value: Value<'_>, bytes: &mut [u8]) -> Result<()> {
        let put = self.format(field).put(value, cell(field, bytes), &mut Vec::new());
        put.map_err(|expected| self.bad(record, field, expected, shown(value)))?;
        self.set_bit(bytes, field.null_bit, false);
        Ok(())
    }

    /// Gives the record the next values of the table's counters: autoincrement when it is new and was not given, row versions always.
    ///
    /// The counters are in the field descriptors: autoincrement in four bytes at 19 with the step at 23 (dBASE 7: at 40),
    /// row versions in the eight bytes at 24 (Harbour, `src/rdd/dbf1.c`). The caller has the header locked, and says of a new record
    /// which of its autoincrement fields were given values. Returns the first value of an autoincrement field.
    pub(super) fn count_on(&self, record: u32, bytes: &mut [u8], new: Option<&[usize]>) -> Result<Option<u32>> {
        let mut counted = None;
        for (index, field) in self.fields.visible.iter().enumerate() {
            let next = if field.letter == '^' {
                let (at, mut counter) = (version_at(self.header.dialect, field), [0; 8]);
                self.file.read("row version", at, &mut counter)?;
                let next = u64::from_le_bytes(counter).wrapping_add(1);
                self.file.write(at, &next.to_le_bytes())?;
                next.cast_signed()
            } else if let (Some(_), Some(given)) = (field.autoincrement, new) {
                if given.contains(&index) {
                    self.count_behind(record, bytes, index)?;
                    continue;
                }
                let (value, step) = self.counter(field)?;
                self.write_counter(field, value.wrapping_add(step))?;
                counted = counted.or(Some(value));
                i64::from(value)
            } else {
                continue;
            };
            self.put_own(record, field, Value::Integer(next), bytes)?;
        }
        Ok(counted)
    }

    /// Lets an autoincrement field, given by its index in [`TableEditor::fields`], count from `next` on: the next record gets it.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a field that does not count, and unless the table is open exclusively;
    /// [`Error::Io`](crate::Error::Io).
    pub fn count_from(&mut self, field: usize, next: u32) -> Result<()> {
        self.alone("setting a counter")?;
        match self
            .fields
            .visible
            .get(field)
            .filter(|field| field.autoincrement.is_some())
        {
            Some(field) => self.write_counter(field, next),
            None => Err(self.misuse(&format!("field {field} does not count"))),
        }
    }

    /// Lets the counter of an autoincrement field go on behind the value that a record was given. The caller has the header locked.
    pub(super) fn count_behind(&self, record: u32, bytes: &[u8], index: usize) -> Result<()> {
        let bytes = RecordBytes::new(&self.orders.table, record, bytes);
        let (Some(field), expression::Value::Number(value)) = (self.fields.visible.get(index), bytes.value(index)?)
        else {
            return Ok(());
        };
        let (next, step) = self.counter(field)?;
        if value < f64::from(next) {
            return Ok(());
        }
        if value >= f64::from(u32::MAX) {
            let expected = format!("less than {}, the end of the counter", u32::MAX);
            return Err(self.bad(record, field, expected, value.to_string()));
        }
        self.write_counter(field, (value as u32).saturating_add(step.max(1)))
    }

    /// The next value of an autoincrement field, and by how much it grows then.
    fn counter(&self, field: &Field) -> Result<(u32, u32)> {
        let mut counter = [0; 5];
        let at = counter_at(self.header.dialect, field);
        self.file.read("autoincrement", at, &mut counter)?;
        let step = match self.header.dialect {
            Dialect::Dbase7 | Dialect::Adt => 1,
            _ => u32::from(counter[4]),
        };
        let next = u32_at(&counter, 0).unwrap_or_default();
        // An ADT that never counted begins with 1.
        Ok((if self.is_adt() { next.max(1) } else { next }, step))
    }

    fn write_counter(&self, field: &Field, next: u32) -> Result<()> {
        let at = counter_at(self.header.dialect, field);
        self.file.write(at, &next.to_le_bytes())
    }

    /// Whether the table and not the caller gives a field its values now.
    pub(super) fn gives(&self, field: &Field) -> bool {
        counts(field) && (self.enforces_autoincrement || field.autoincrement.is_none())
    }
}

/// Whether the table and not the caller gives the value.
pub(super) fn counts(field: &Field) -> bool {
    matches!(field.letter, '^' | MODIFIED) || field.autoincrement.is_some()
}

/// Where the file has the next value of a field that counts.
pub(super) fn counter_at(dialect: Dialect, field: &Field) -> u64 {
    let within = match dialect {
        Dialect::Adt => return adt::AUTOINCREMENT_AT,
        Dialect::Dbase7 => 40,
        _ => 19,
    };
    field.descriptor_at + within
}

/// Where the file has the row version that was given last.
fn version_at(dialect: Dialect, field: &Field) -> u64 {
    match dialect {
        Dialect::Adt => adt::ROW_VERSION_AT,
        _ => field.descriptor_at + 24,
    }
}

/// The letter of fields with the time of the record's last change (Harbour, `HB_FT_MODTIME` in `include/hbapirdd.h`).
pub(super) const MODIFIED: char = '=';
