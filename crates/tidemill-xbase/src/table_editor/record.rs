//! One record: appended blank, its fields replaced, marked as deleted and recalled.

use super::counters::counts;
use super::{OpenMode, TableEditor};
use crate::adt;
use crate::conversion::shown;
use crate::error::{Error, Result};
use crate::field::{Field, FieldKind};
use crate::header::Dialect;
use crate::lock::LockSubject;
use crate::memo::{Memo, MemoReader};
use crate::memo_editor::MemoPlace;
use crate::source::Source;
use crate::value::Value;

/// Memory of the changes of records, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    before: Vec<u8>,
    after: Vec<u8>,
    /// The record whose bytes `after` holds, and how many changes there had been when it was written.
    written: Option<(u32, u64)>,
}

/// The byte behind the last record.
pub(super) const END_OF_FILE: u8 = 0x1A;

impl TableEditor {
    /// Appends a blank record and returns its number. Beside others it is locked afterwards.
    ///
    /// Its fields are as Harbour leaves them: nullable ones are NULL, counters have counted on, integers and doubles are 0.
    ///
    /// # Errors
    /// [`Error::Locked`] when others hold the header or the new record; [`Error::Io`], and the table is then as before as
    /// far as the file can still be written; [`Error::Misuse`] when it is open for reading only or full.
    pub fn append(&mut self) -> Result<u32> {
        self.append_values(&[])
    }

    /// As [`TableEditor::append`], for a record that is filled or given up later; `bytes` are those of the new record afterwards,
    /// the deletion flag first. Candidate indexes have no entry of it until it is changed, or [`TableEditor::finish_appended`] says
    /// that it stays as it is; when it is given up it is deleted.
    ///
    /// # Errors
    /// As [`TableEditor::append`]; [`Error::Misuse`] for a buffer that is not as long as a record. `bytes` then are as before.
    pub fn append_record(&mut self, bytes: &mut [u8]) -> Result<u32> {
        if bytes.len() != self.header.record_len as usize {
            return Err(self.misuse(&format!("{} bytes are no record", bytes.len())));
        }
        self.appended((&[], false), |written| bytes.copy_from_slice(written))
    }

    /// Appends a record with these values; fields that are not named are blank.
    ///
    /// # Errors
    /// As [`TableEditor::append`] and [`TableEditor::replace`]; nothing is appended then.
    pub fn append_values(&mut self, values: &[(usize, Value<'_>)]) -> Result<u32> {
        self.appended((values, true), |_| ())
    }

    /// As [`TableEditor::append_values`], of a record that is finished with these values or not; `look` sees the bytes of the new
    /// record.
    fn appended(&mut self, record: (&[(usize, Value<'_>)], bool), look: impl FnOnce(&[u8])) -> Result<u32> {
        self.writable()?;
        self.can_be_followed()?;
        self.make_room()?;
        let is_finished = record.1;
        let mut buffers = std::mem::take(&mut self.buffers);
        let bytes = &mut buffers.after;
        // Nothing follows from a record that is filled later.
        let follower = if is_finished { None } else { self.follower.take() };
        let mut done = self.as_one(|table| {
            let record = table.under_header_lock(|table| table.append_locked(record, bytes))?;
            table.carry_on(record, None, Some(bytes))?;
            Ok(record)
        });
        self.follower = follower.or(self.follower.take());
        if let (Ok(record), true) = (&done, self.has_follower()) {
            // The transaction that the change was has given its locks back.
            done = self.lock_record(*record).map(|()| *record);
        }
        if done.is_ok() {
            look(bytes);
        }
        buffers.written = done.as_ref().ok().and_then(|record| self.moment_of(*record));
        self.buffers = buffers;
        done
    }

    /// As [`TableEditor::append_values`], for a record that is complete: it is not locked, and others see it as it is. In a
    /// transaction the header stays locked, and nobody sees it. It may take the place of a deleted record, see
    /// [`TableEditor::reuse_deleted`].
    ///
    /// # Errors
    /// As [`TableEditor::append_values`].
    pub fn append_complete(&mut self, values: &[(usize, Value<'_>)]) -> Result<u32> {
        self.writable()?;
        self.can_be_followed()?;
        self.make_room()?;
        let appended = self.as_one(|table| {
            let mut bytes = Vec::new();
            let record = table.under_header_lock(|table| {
                let record = table.place_of_next()?;
                table.append_at(record, (values, true), &mut bytes).map(|()| record)
            })?;
            table.carry_on(record, None, Some(&bytes))?;
            Ok(record)
        });
        appended.or_else(|refused| {
            let record = self.deleted_holder(refused)?;
            self.take_place(record, values).map(|()| record)
        })
    }

    /// Replaces the values of fields, each given by its index in [`TableEditor::fields`]. Others keep their bytes.
    ///
    /// # Errors
    /// [`Error::Value`] with field, what it would have to be, and the value, for the first one that does not fit; nothing
    /// is written then. [`Error::Order`] with [`Error::DuplicateKey`] or [`Error::NullKey`] for a record that a candidate index
    /// may not have; the table and its indexes are as before. [`Error::Misuse`] for records and fields that are not there, a record
    /// that is not locked, and a table that is open for reading only. [`Error::MissingMemo`], [`Error::Io`].
    pub fn replace(&mut self, record: u32, values: &[(usize, Value<'_>)]) -> Result<()> {
        self.changed(record, |table, before, after| {
            after.extend_from_slice(before);
            table.fill(record, after, values.iter().copied())
        })
    }

    /// Reads the bytes of a record as they are now into `bytes`, the deletion flag first.
    ///
    /// # Errors
    /// As [`TableEditor::record_bytes`]; [`Error::Misuse`] for a buffer that is not as long as a record.
    pub fn read_record(&self, record: u32, bytes: &mut [u8]) -> Result<()> {
        if record == 0 || record > self.record_count() || bytes.len() != self.header.record_len as usize {
            let (count, len) = (self.record_count(), bytes.len());
            return Err(self.misuse(&format!("no record {record} of {len} bytes among {count}")));
        }
        self.file
            .read(format_args!("record {record}"), self.record_offset(record), bytes)
    }

    /// The bytes of a memo, given the record's, without translation; none for a field that has no memo there.
    ///
    /// # Errors
    /// [`Error::Value`] for a pointer into nothing or a memo that is damaged; [`Error::Misuse`] for a field without memos;
    /// [`Error::MissingMemo`], [`Error::Io`].
    pub fn memo_bytes(&self, record: u32, bytes: &[u8], field: usize) -> Result<Vec<u8>> {
        let Some(field) = self.fields.visible.get(field).filter(|field| field.kind.uses_memo()) else {
            return Err(self.misuse(&format!("field {field} has no memos")));
        };
        let Some(memo) = &self.memo else {
            return Err(self.missing_memo(field));
        };
        let pointer = bytes.get(field.offset..field.offset + field.width).unwrap_or_default();
        let memo = Memo::named(Source::edited(memo.file())?, &self.header)?;
        let mut value = Vec::new();
        let read = MemoReader::default().read(&memo, pointer, &mut value);
        read.map_err(|fault| self.bad(record, field, fault.expected, fault.found))?;
        Ok(value)
    }

    fn missing_memo(&self, field: &Field) -> Error {
        Error::MissingMemo {
            path: self.path().to_owned(),
            field: field.name.clone(),
            looked_for: self.memo_looked_for.clone(),
        }
    }

    /// Puts a field's value into the bytes of a record, for [`TableEditor::replace_bytes`]: nothing is written. Memos are left
    /// out.
    ///
    /// # Errors
    /// [`Error::Value`] for a value that does not fit, [`Error::Misuse`] for a memo, and for bytes that are not as long as a
    /// record.
    pub fn encode(&self, record: u32, bytes: &mut [u8], field: usize, value: Value<'_>) -> Result<()> {
        let known = self.visible(field)?;
        if known.kind.uses_memo() || bytes.len() != self.header.record_len as usize {
            return Err(self.misuse("the bytes of a record hold no memos, and are as many as the header says"));
        }
        self.fill_field(record, bytes, known, value, &mut Vec::new())
    }

    /// Puts bytes into those of a record where a field lies, filled up with blanks, as [`TableEditor::encode`] puts values. The
    /// field is not NULL afterwards.
    ///
    /// # Errors
    /// As [`TableEditor::encode`]; [`Error::Value`] for more bytes than the field has.
    pub fn encode_raw(&self, record: u32, bytes: &mut [u8], field: usize, raw: &[u8]) -> Result<()> {
        let Some(known) = self.fields.visible.get(field).filter(|known| !known.kind.uses_memo()) else {
            return Err(self.misuse(&format!("field {field} is none that lies in the record")));
        };
        if self.format(known).varies() {
            let value = match known.kind {
                FieldKind::Varchar => Value::Encoded(raw),
                _ => Value::Bytes(raw),
            };
            return self.encode(record, bytes, field, value);
        }
        let Some((own, rest)) = cell(known, bytes).split_at_mut_checked(raw.len()) else {
            let (expected, found) = (format!("at most {} bytes", known.width), format!("{} bytes", raw.len()));
            return Err(self.bad(record, known, expected, found));
        };
        own.copy_from_slice(raw);
        rest.fill(b' ');
        self.set_bit(bytes, known.null_bit, false);
        Ok(())
    }

    /// Replaces a record by these bytes, and the values of memo fields by those that are given: what the bytes hold in the
    /// place of memos, counters and the deletion flag is left as it is in the table.
    ///
    /// # Errors
    /// As [`TableEditor::replace`].
    pub fn replace_bytes(&mut self, record: u32, bytes: &[u8], memos: &[(usize, Value<'_>)]) -> Result<()> {
        self.changed(record, |table, before, after| {
            if bytes.len() != before.len() {
                return Err(table.misuse(&format!("{} bytes are no record of {}", bytes.len(), before.len())));
            }
            after.extend_from_slice(bytes);
            if let (Some(flag), Some(old)) = (after.first_mut(), before.first()) {
                *flag = *old;
            }
            // What the table gives itself, and memos, are few fields' or none's.
            for field in table.fields.visible.iter().filter(|_| table.has_own_values) {
                if field.kind.uses_memo() || table.gives(field) {
                    let old = before.get(field.offset..field.offset + field.width);
                    cell(field, after).copy_from_slice(old.unwrap_or_default());
                }
                if field.kind.uses_memo() {
                    let is_null = table.bit(before, field.null_bit);
                    table.set_bit(after, field.null_bit, is_null);
                }
            }
            table.fill(record, after, memos.iter().copied())
        })
    }

    /// Marks a record as deleted. In an ADT it is gone: a record that is appended later takes its number.
    ///
    /// # Errors
    /// As [`TableEditor::replace`]; [`Error::Locked`] when others hold the header of an ADT.
    pub fn delete(&mut self, record: u32) -> Result<()> {
        if self.is_adt() {
            self.may_be_changed(record)?;
            let before = match self.has_follower() {
                true => self.record_bytes(record)?,
                false => Vec::new(),
            };
            return self.as_one(|table| {
                table.under_header_lock(|table| table.free_record(record))?;
                table.carry_on(record, Some(&before), None)
            });
        }
        self.flag(record, b'*')
    }

    /// Takes the mark of deletion away.
    ///
    /// # Errors
    /// As [`TableEditor::replace`]; [`Error::Misuse`] for a deleted record of an ADT.
    pub fn recall(&mut self, record: u32) -> Result<()> {
        if self.is_adt() {
            return match self.is_deleted(record)? {
                true => Err(self.misuse("what is deleted from an ADT is not recalled: its space is the next record's")),
                false => Ok(()),
            };
        }
        self.flag(record, b' ')
    }

    /// Whether a record is marked as deleted.
    ///
    /// # Errors
    /// As [`TableEditor::record_bytes`].
    pub fn is_deleted(&self, record: u32) -> Result<bool> {
        Ok(self.header.dialect.is_deleted(&self.record_bytes(record)?))
    }

    /// The bytes of a record as they are now, the deletion flag first.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a record that is not there, [`Error::Io`], and [`Error::Corrupt`] when another program
    /// shortened the table.
    pub fn record_bytes(&self, record: u32) -> Result<Vec<u8>> {
        if record == 0 || record > self.record_count() {
            return Err(self.misuse(&format!("no record {record} among {}", self.record_count())));
        }
        let mut bytes = vec![0; self.header.record_len as usize];
        self.read_record(record, &mut bytes)?;
        Ok(bytes)
    }

    fn append_locked(&mut self, values: (&[(usize, Value<'_>)], bool), bytes: &mut Vec<u8>) -> Result<u32> {
        let record = self.place_of_next()?;
        if self.options.mode == OpenMode::Exclusive {
            return self.append_at(record, values, bytes).map(|()| record);
        }
        let had_lock = self.locks.holds(LockSubject::Record(record));
        self.lock_record(record)?;
        let appended = self.append_at(record, values, bytes);
        if appended.is_err() && !had_lock {
            self.unlock_record(record)?;
        }
        appended.map(|()| record)
    }

    /// Appends a record, whose bytes are in `bytes` afterwards.
    fn append_at(
        &mut self,
        record: u32,
        (values, is_finished): (&[(usize, Value<'_>)], bool),
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        bytes.clear();
        bytes.extend_from_slice(&self.blank);
        self.fill_defaults(record, bytes)?;
        // The values first, so that one that does not fit leaves the counters alone.
        self.fill(record, bytes, values.iter().copied())?;
        let mut counted = None;
        if self.has_own_values {
            counted = self.count_on(record, bytes, Some(&self.given(values)))?;
            self.stamp(record, bytes)?;
        }
        if is_finished {
            self.check_rules(record, bytes, None)?;
        }
        self.write_appended(record, 1, (bytes, is_finished))?;
        self.unfinished = (!is_finished).then_some(record);
        self.note_counted(counted);
        Ok(())
    }

    /// Which of these values are those of autoincrement fields.
    pub(super) fn given(&self, values: &[(usize, Value<'_>)]) -> Vec<usize> {
        let fields = values.iter().map(|(index, _)| *index);
        fields.filter(|index| self.is_counter(*index)).collect()
    }

    pub(super) fn is_counter(&self, field: usize) -> bool {
        let field = self.fields.visible.get(field);
        field.is_some_and(|field| field.autoincrement.is_some())
    }

    /// Whether the values of autoincrement fields are refused that callers give. Where they are not, a record that is appended with
    /// one has it, one may be changed, and no two need be different; the counter goes on behind the greatest. Default: true.
    pub fn enforce_autoincrement(&mut self, enforces: bool) {
        self.enforces_autoincrement = enforces;
    }

    /// Whether [values of autoincrement fields](TableEditor::enforce_autoincrement) are refused.
    pub fn enforces_autoincrement(&self) -> bool {
        self.enforces_autoincrement
    }

    /// The value that the record which this handle appended last has in the first field that counts; `None` when nothing was
    /// appended since it was asked for, or no field counts.
    pub fn take_counted(&mut self) -> Option<u32> {
        self.counted.take()
    }

    /// Notes what records that were appended got.
    pub(super) fn note_counted(&mut self, counted: Option<u32>) {
        self.counted = counted.or(self.counted);
    }

    /// Writes `count` new records, of which `first` is the first and which are finished or not, and counts them, or takes them
    /// back.
    pub(super) fn write_appended(
        &mut self,
        first: u32,
        count: u32,
        (bytes, are_finished): (&mut Vec<u8>, bool),
    ) -> Result<()> {
        if first <= self.record_count() {
            return self.write_reused(first, bytes, are_finished);
        }
        let len = bytes.len();
        if !self.is_adt() {
            bytes.push(END_OF_FILE);
        }
        let records = bytes.get(..len).unwrap_or_default();
        let write = |table: &mut Self| table.put_appended(first, count, bytes);
        let written = self.with_appended(first, (records, are_finished), write, |table| table.take_back(first));
        bytes.truncate(len);
        written
    }

    fn put_appended(&mut self, first: u32, count: u32, bytes: &[u8]) -> Result<()> {
        let offset = self.record_offset(first);
        let mut written = self.file.write(offset, bytes);
        if written.is_ok() {
            self.count(first - 1 + count);
            self.history.note(first..=first - 1 + count);
            self.header_stale = true;
            // What is rolled back must not depend on a header that is written later.
            if self.options.mode != OpenMode::Exclusive || self.options.log.is_some() {
                written = self.write_header();
            }
        }
        if written.is_err() {
            self.take_back(first);
        }
        written
    }

    /// Takes new records back, of which `first` is the first, as far as the file can still be written.
    fn take_back(&mut self, first: u32) {
        // Without its end-of-file byte the file would still be as long as before.
        let offset = self.record_offset(first);
        self.count(first - 1);
        self.history.note_all();
        if self.is_adt() {
            let _ = self.file.set_len(offset);
            return;
        }
        let _ = self.file.write(offset, &[END_OF_FILE]);
        let _ = self.file.set_len(offset + 1);
    }

    /// The number of the record that is appended next: that of a deleted one where its space is used again.
    fn place_of_next(&mut self) -> Result<u32> {
        if self.is_adt() {
            // Another program may have appended the records that it has deleted since.
            self.refresh()?;
        }
        match self.first_free()? {
            Some(record) => Ok(record),
            None => self.next_record(1),
        }
    }

    /// The number of the next record; `count` of them have room.
    pub(super) fn next_record(&mut self, count: u32) -> Result<u32> {
        if self.options.mode != OpenMode::Exclusive {
            self.refresh()?;
        }
        let most = match self.header.dialect {
            Dialect::Dbase2 => u32::from(u16::MAX),
            _ => u32::MAX,
        };
        let last = self.record_count().checked_add(count).filter(|last| *last <= most);
        last.map(|_| self.record_count() + 1)
            .ok_or_else(|| self.misuse(&format!("the format holds {most} records at most")))
    }

    fn flag(&mut self, record: u32, flag: u8) -> Result<()> {
        self.changed(record, |_, before, after| {
            after.push(flag);
            after.extend_from_slice(before.get(1..).unwrap_or_default());
            Ok(())
        })
    }

    /// Changes a record: `change` is given its bytes and puts the new ones into an empty buffer.
    pub(super) fn changed(
        &mut self,
        record: u32,
        change: impl FnOnce(&mut Self, &[u8], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.may_be_changed(record)?;
        let Buffers {
            mut before,
            mut after,
            written,
        } = std::mem::take(&mut self.buffers);
        let read = match written.is_some() && written == self.moment_of(record) {
            true => {
                std::mem::swap(&mut before, &mut after);
                Ok(())
            }
            false => {
                before.resize(self.header.record_len as usize, 0);
                self.read_record(record, &mut before)
            }
        };
        after.clear();
        let done = read.and_then(|()| {
            self.as_one(|table| {
                change(table, &before, &mut after)?;
                table.rewrite(record, &before, &mut after)?;
                table.carry_on(record, Some(&before), Some(&after))
            })
        });
        self.buffers = Buffers {
            before,
            written: done.as_ref().ok().and_then(|()| self.moment_of(record)),
            after,
        };
        done
    }

    /// A record, and how many changes there have been: alone, it is until the next change what was written of it last. With a log
    /// it may be rolled back.
    fn moment_of(&self, record: u32) -> Option<(u32, u64)> {
        let is_alone = self.options.mode == OpenMode::Exclusive && self.options.log.is_none();
        is_alone.then(|| (record, self.history.serial()))
    }

    /// Whether a record may be changed now.
    pub(super) fn may_be_changed(&mut self, record: u32) -> Result<()> {
        self.writable()?;
        self.can_be_followed()?;
        self.make_room()?;
        if record > self.record_count() {
            self.refresh()?;
        }
        if self.options.mode != OpenMode::Exclusive && !self.is_record_locked(record) {
            let subject = LockSubject::Record(record);
            return Err(self.misuse(&format!("{subject} is not locked, and others have the table open")));
        }
        Ok(())
    }

    fn rewrite(&mut self, record: u32, before: &[u8], after: &mut [u8]) -> Result<()> {
        if self.has_own_values {
            if self.fields.visible.iter().any(|field| field.letter == '^') {
                self.under_header_lock(|table| table.count_on(record, after, None))?;
            }
            self.stamp(record, after)?;
            let is_new = |field: &Field| field.autoincrement.is_some() && own(field, before) != own(field, after);
            if !self.enforces_autoincrement && self.fields.visible.iter().any(is_new) {
                self.under_header_lock(|table| {
                    let mut counters = (0..table.fields.visible.len()).filter(|index| table.is_counter(*index));
                    counters.try_for_each(|index| table.count_behind(record, after, index))
                })?;
            }
        }
        let after = &*after;
        let is_new = self.unfinished == Some(record);
        self.check_rules(record, after, (!is_new).then_some(before))?;
        if is_new {
            self.unfinished = None;
        }
        let offset = self.record_offset(record);
        self.history.note(record..=record);
        let put_back = |table: &mut Self| {
            let _ = table.file.write(offset, before);
        };
        let write = |table: &mut Self| {
            let written = table.file.write(offset, after);
            if written.is_err() {
                put_back(table);
            }
            table.header_stale |= written.is_ok();
            written
        };
        self.with_rewritten(record, (before, after), write, put_back)
    }

    /// Puts values into the bytes of a record: first all that can be refused, then the memos.
    pub(super) fn fill<'v>(
        &self,
        record: u32,
        bytes: &mut [u8],
        values: impl IntoIterator<Item = (usize, Value<'v>)>,
    ) -> Result<()> {
        let (mut memos, mut scratch) = (Vec::new(), Vec::new());
        for (index, value) in values {
            let field = self.visible(index)?;
            if !field.kind.uses_memo() || matches!(value, Value::Null) {
                self.fill_field(record, bytes, field, value, &mut scratch)?;
                continue;
            }
            let mut encoded = Vec::new();
            if let Err(expected) = self.format(field).encode(value, &mut encoded) {
                return Err(self.bad(record, field, expected, shown(value)));
            }
            memos.push((field, encoded));
        }
        for (field, value) in memos {
            self.fill_memo(record, bytes, field, &value)?;
            self.set_bit(bytes, field.null_bit, false);
        }
        Ok(())
    }

    /// Puts a value, or that there is none, where a field lies.
    fn fill_field(
        &self,
        record: u32,
        bytes: &mut [u8],
        field: &Field,
        value: Value<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        if self.has_own_values && self.gives(field) {
            let expected = "no value, for the table gives it itself (leave the column out)".to_owned();
            return Err(self.bad(record, field, expected, shown(value)));
        }
        let format = self.format(field);
        if matches!(value, Value::Null) {
            if format.blank_is_zero() && !field.nullable {
                let expected = "a value: the type has no blank, and the field is not nullable".to_owned();
                return Err(self.bad(record, field, expected, shown(value)));
            }
            self.blank(field, bytes);
            return Ok(());
        }
        let len = match format.put(value, cell(field, bytes), scratch) {
            Ok(len) => len,
            Err(expected) => return Err(self.bad(record, field, expected, shown(value))),
        };
        if let (Some(null), Some(adt_type)) = (self.fields.null_test(field), field.adt_type)
            && null.is_null(bytes)
        {
            let expected = format!("another value: this one is NULL in a field of type {adt_type}");
            return Err(self.bad(record, field, expected, shown(value)));
        }
        if self.fields.null_flags.is_some() {
            self.set_bit(bytes, field.null_bit, false);
            self.set_bit(bytes, field.varlength_bit, len < field.width);
        }
        Ok(())
    }

    pub(super) fn visible(&self, index: usize) -> Result<&Field> {
        match self.fields.visible.get(index) {
            Some(field) => Ok(field),
            None => Err(self.no_field(index)),
        }
    }

    #[cold]
    fn no_field(&self, index: usize) -> Error {
        self.misuse(&format!("no field {index} among {}", self.fields.visible.len()))
    }

    fn fill_memo(&self, record: u32, bytes: &mut [u8], field: &Field, value: &[u8]) -> Result<()> {
        self.check_memo(field)?;
        let Some(memo) = &self.memo else {
            return Err(self.missing_memo(field));
        };
        let blank = self.format(field).blank_byte();
        let cell = cell(field, bytes);
        if value.is_empty() {
            cell.fill(blank);
            return Ok(());
        }
        // The words of an old text are taken out of an index when the record changes: it is still needed then.
        let is_kept = self.has_words_of(field);
        let old = memo.dialect().pointer(cell).ok().flatten().and_then(|(block, len)| {
            let block = u32::try_from(block).ok()?;
            (!is_kept).then_some(MemoPlace { block, len })
        });
        let text = field.kind == FieldKind::Memo;
        match memo.replace(old, value, text)? {
            Ok(place) => {
                place.put(memo.dialect(), cell);
                Ok(())
            }
            Err(expected) => {
                let found = format!("{} bytes", value.len());
                Err(self.bad(record, field, expected.to_owned(), found))
            }
        }
    }

    /// Whether a record has no values but those that the table gives itself.
    pub(super) fn is_blank(&self, bytes: &[u8]) -> bool {
        let mut blank = self.blank.clone();
        if let (Some(flag), Some(own)) = (blank.first_mut(), bytes.first()) {
            *flag = *own;
        }
        for field in self.fields.visible.iter().filter(|field| counts(field)) {
            let own = bytes.get(field.offset..field.offset + field.width);
            cell(field, &mut blank).copy_from_slice(own.unwrap_or_default());
            self.set_bit(&mut blank, field.null_bit, self.bit(bytes, field.null_bit));
        }
        blank == bytes
    }

    /// The bytes of a record without values, as Harbour appends it: all bits of `_NullFlags` that are in use are set.
    pub fn blank_record(&self) -> Vec<u8> {
        self.blank.clone()
    }

    /// What [`TableEditor::blank_record`] is for the fields that there are now, and whether what programs write of a record is all
    /// of it.
    pub(super) fn look_at_fields(&mut self) {
        let mut bytes = vec![b' '; self.header.record_len as usize];
        if self.is_adt() {
            bytes.fill(0);
            bytes.iter_mut().take(1).for_each(|flag| *flag = adt::LIVE);
        }
        if let Some((at, width)) = self.fields.null_flags
            && let Some(flags) = bytes.get_mut(at..at + width)
        {
            flags.fill(0);
        }
        for field in &self.fields.visible {
            self.blank(field, &mut bytes);
        }
        self.blank = bytes;
        self.has_own_values = self
            .fields
            .visible
            .iter()
            .any(|field| field.kind.uses_memo() || counts(field));
    }

    fn blank(&self, field: &Field, bytes: &mut [u8]) {
        if let Some(null) = field.null_cell {
            null.put(cell(field, bytes));
            return;
        }
        cell(field, bytes).fill(self.format(field).blank_byte());
        self.set_bit(bytes, field.null_bit, true);
        self.set_bit(bytes, field.varlength_bit, true);
    }

    pub(super) fn set_bit(&self, bytes: &mut [u8], bit: Option<u16>, on: bool) {
        if let (Some((at, _)), Some(bit)) = (self.fields.null_flags, bit)
            && let Some(byte) = bytes.get_mut(at + usize::from(bit / 8))
        {
            let mask = 1u8 << (bit % 8);
            *byte = if on { *byte | mask } else { *byte & !mask };
        }
    }

    pub(super) fn bit(&self, bytes: &[u8], bit: Option<u16>) -> bool {
        let (Some((at, _)), Some(bit)) = (self.fields.null_flags, bit) else {
            return false;
        };
        bytes
            .get(at + usize::from(bit / 8))
            .is_some_and(|byte| byte & 1 << (bit % 8) != 0)
    }
}

/// What a record has in a field.
fn own<'a>(field: &Field, bytes: &'a [u8]) -> &'a [u8] {
    bytes.get(field.offset..field.offset + field.width).unwrap_or_default()
}

pub(super) fn cell<'a>(field: &Field, bytes: &'a mut [u8]) -> &'a mut [u8] {
    bytes
        .get_mut(field.offset..field.offset + field.width)
        .unwrap_or_default()
}
