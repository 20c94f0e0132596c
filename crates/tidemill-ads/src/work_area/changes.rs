//! Changes of records: fields, appending, deleting, and of whole tables.
//!
//! Fields are changed in memory; [`WorkArea::write_record`], a move to another record or closing the table writes them. Beside
//! others a record that is not locked is locked at the first change, and unlocked once it is written.

use tidemill_xbase::expression::Value as Moment;
use tidemill_xbase::{Field, FieldKind, OpenMode, Place, Value};

use super::fields::is_day;
use super::{TableType, WorkArea};
use crate::date_format::time_of;
use crate::dictionary::{Rights, TriggerEvent};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

impl WorkArea {
    /// Appends a blank record and goes to it. Beside others it is locked until it is left.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`], [`ErrorCode::AppendLockFailed`]; as
    /// [`TableEditor::append`](tidemill_xbase::TableEditor::append).
    pub fn append_record(&mut self) -> Result<u32> {
        self.leave_record()?;
        self.changeable()?;
        self.may(Rights::INSERT)?;
        self.record.number = 0;
        let record = self.editor.append_record(&mut self.record.bytes)?;
        self.record.number = record;
        if self.options.mode == OpenMode::Shared && !self.is_file_locked && !self.locked.contains(&record) {
            self.locked_for_change = Some(record);
        }
        self.appended = Some(record);
        self.place = Place::Record(record);
        (self.is_bof, self.is_eof) = (false, false);
        if let Some(value) = self.editor.take_counted() {
            self.last_autoincrement = value;
        }
        if self.is_view() {
            // A view has no default values.
            for field in 0..self.fields().len() {
                match self.shape(field)?.kind.uses_memo() {
                    true => self.put_memo(field, None)?,
                    false => self.put(field, Value::Null)?,
                }
            }
            self.record.is_changed = false;
        }
        Ok(record)
    }

    /// Writes what was changed in the current record. One that was appended and stays as it is counts for candidate indexes from
    /// now on.
    ///
    /// # Errors
    /// [`ErrorCode::DuplicateKey`] and [`ErrorCode::KeyCannotBeNull`] for a record that a candidate index may not have, and as
    /// [`TableEditor::replace`](tidemill_xbase::TableEditor::replace); the changes then still wait.
    #[inline]
    pub fn write_record(&mut self) -> Result<()> {
        // Most often there is nothing to write.
        let waits = self.record.is_changed || self.record.is_deleted;
        match waits || self.appended.is_some() || self.locked_for_change.is_some() {
            true => self.write_changes(),
            false => Ok(()),
        }
    }

    fn write_changes(&mut self) -> Result<()> {
        let record = self.record.number;
        if self.record.is_deleted {
            match self.appended {
                // A record that was never written was never there.
                Some(_) => self.without_firing(|area| Ok(area.editor.delete(record)?))?,
                None => self.firing(TriggerEvent::Delete, record, |area| Ok(area.editor.delete(record)?))?,
            }
            self.forget_changes();
            if self.locked.remove(&record) {
                self.editor.unlock_record(record)?;
            }
        } else if self.record.is_changed {
            self.keep_within_constraint()?;
            let event = match self.appended {
                Some(_) => TriggerEvent::Insert,
                None => TriggerEvent::Update,
            };
            self.firing(event, record, |area| area.write_fields(record))?;
            self.forget_changes();
        } else if let Some(record) = self.appended {
            self.firing(TriggerEvent::Insert, record, |area| {
                Ok(area.editor.finish_appended(record)?)
            })?;
        }
        self.appended = None;
        self.unlock_after_change()?;
        self.sync_update()
    }

    /// Brings an update to the disk, where each is to be there at once. In a transaction its end does.
    fn sync_update(&mut self) -> Result<()> {
        match self.syncs_updates && !self.has_log {
            true => Ok(self.editor.sync()?),
            false => Ok(()),
        }
    }

    fn write_fields(&mut self, record: u32) -> Result<()> {
        let memos: Vec<(usize, Value<'_>)> = self
            .record
            .memos
            .iter()
            .map(|(field, value)| {
                let is_text = self
                    .editor
                    .fields()
                    .get(*field)
                    .is_some_and(|field| matches!(field.kind, FieldKind::Memo | FieldKind::MemoWide));
                let value = match value {
                    None => Value::Null,
                    Some(bytes) if is_text => Value::Encoded(bytes),
                    Some(bytes) => Value::Bytes(bytes),
                };
                (*field, value)
            })
            .collect();
        Ok(self.editor.replace_bytes(record, &self.record.bytes, &memos)?)
    }

    /// Forgets what was changed in the current record and not written. One that was appended and never written is deleted, and
    /// stays blank (SAP's help, `AdsCancelUpdate`).
    ///
    /// # Errors
    /// When the record cannot be marked as deleted, and when the lock cannot be given back.
    pub fn cancel_update(&mut self) -> Result<()> {
        self.forget_changes();
        if let Some(record) = self.appended {
            self.without_firing(|area| Ok(area.editor.delete(record)?))?;
        }
        self.cancel_changes()
    }

    /// Forgets what was changed in the current record and not written, and that it was appended.
    ///
    /// # Errors
    /// When the lock cannot be given back.
    pub(crate) fn cancel_changes(&mut self) -> Result<()> {
        self.forget_changes();
        self.appended = None;
        self.unlock_after_change()
    }

    /// Whether changes of the current record wait to be written.
    pub fn has_changes(&self) -> bool {
        self.record.is_changed || self.record.is_deleted
    }

    fn forget_changes(&mut self) {
        (self.record.is_changed, self.record.is_deleted) = (false, false);
        self.record.memos.clear();
        self.record.number = 0;
    }

    /// Marks the current record as deleted, or takes the mark away. What was changed is written with it.
    ///
    /// From an ADT the record is deleted for good when it is written, as at a move to another, and recalled until then; its lock is
    /// given back then, and its space is the next record's (SAP's help, `AdsDeleteRecord`).
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::TableReadOnly`], [`ErrorCode::LockFailed`]; [`ErrorCode::InvalidRecordNumber`] for a
    /// record that was deleted from an ADT before.
    pub fn set_deleted(&mut self, is_deleted: bool) -> Result<()> {
        self.may(Rights::DELETE)?;
        let record = self.lock_for_change()?;
        if self.is_adt() {
            if self.table.header().dialect.is_deleted(&self.record.bytes) {
                let why = format!("record {record} was deleted, which is for good in an ADT");
                return self.refuse(ErrorCode::InvalidRecordNumber, why);
            }
            self.record.is_deleted = is_deleted;
            return Ok(());
        }
        if self.record.is_changed {
            let lock = self.locked_for_change.take();
            let written = self.write_record();
            self.locked_for_change = lock;
            written?;
        }
        match is_deleted {
            true => self.firing(TriggerEvent::Delete, record, |area| Ok(area.editor.delete(record)?))?,
            false if self.is_view() => {
                let why = format!("record {record} of a view was deleted by a trigger, which is for good");
                return self.refuse(ErrorCode::NotImplemented, why);
            }
            false => self.editor.recall(record)?,
        }
        self.appended = None;
        self.record.number = 0;
        self.sync_update()
    }

    /// Takes the mark of deletion from every record. Beside others each is locked for a moment.
    ///
    /// # Errors
    /// As [`WorkArea::set_deleted`]; [`ErrorCode::NotImplemented`] for an ADT.
    pub fn recall_all(&mut self) -> Result<()> {
        self.write_record()?;
        self.changeable()?;
        self.may(Rights::DELETE)?;
        if self.is_adt() {
            return self.refuse(ErrorCode::NotImplemented, "what is deleted from an ADT is not recalled");
        }
        let place = self.place;
        for record in 1..=self.record_count()? {
            self.read(record)?;
            if self.table.header().dialect.is_deleted(&self.record.bytes) {
                self.place = Place::Record(record);
                let recalled = self.set_deleted(false).and_then(|()| self.write_record());
                self.place = place;
                recalled?;
            }
        }
        Ok(())
    }

    /// Forgets what was changed in the current record and reads it anew.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`].
    pub fn refresh_record(&mut self) -> Result<()> {
        let appended = self.appended;
        self.cancel_changes()?;
        self.appended = appended;
        self.current().map(drop)
    }

    /// Gives a field a text: numbers, dates and logical values are read from it.
    ///
    /// # Errors
    /// [`ErrorCode::DataTooLong`] for what does not fit, [`ErrorCode::InvalidDate`], [`ErrorCode::InvalidValue`] for a text that
    /// is no number; as [`WorkArea::set_number`].
    pub fn set_text(&mut self, field: usize, text: &[u8], settings: &Settings) -> Result<()> {
        let trimmed = || String::from_utf8_lossy(text.trim_ascii());
        match self.shape(field)?.kind {
            FieldKind::Character | FieldKind::CharacterWide | FieldKind::Varchar => {
                let text = self.to_table(text);
                self.put(field, Value::Encoded(&text))
            }
            FieldKind::CharacterBinary | FieldKind::Varbinary => self.put(field, Value::Bytes(text)),
            FieldKind::Memo | FieldKind::MemoWide => {
                let text = self.to_table(text).into_owned();
                self.put_memo(field, Some(text))
            }
            FieldKind::MemoBinary => self.put_memo(field, Some(text.to_vec())),
            FieldKind::Logical => match text.trim_ascii().first() {
                None | Some(b'?') => self.set_empty(field),
                Some(letter) => self.set_logical(field, matches!(letter, b'T' | b't' | b'Y' | b'y' | b'1')),
            },
            FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => {
                let day = settings.date_format.parse(&trimmed(), settings.epoch)?;
                self.set_julian(field, day)
            }
            FieldKind::Time | FieldKind::Timestamp | FieldKind::TimestampDbase7 if trimmed().is_empty() => {
                self.set_empty(field)
            }
            FieldKind::Time => self.set_milliseconds(field, time_of(&trimmed())?),
            FieldKind::Timestamp | FieldKind::TimestampDbase7 => {
                let (day, ms) = settings.date_format.parse_moment(&trimmed(), settings.epoch)?;
                self.set_julian(field, day)?;
                self.set_milliseconds(field, ms)
            }
            _ if text.trim_ascii().is_empty() => self.set_empty(field),
            FieldKind::Numeric | FieldKind::Float => match decimal(&trimmed()) {
                Some(value) => self.put(field, value),
                None => self.set_number(field, self.number_of(&trimmed())?),
            },
            _ => self.set_number(field, self.number_of(&trimmed())?),
        }
    }

    /// As [`WorkArea::set_text`], but what is too long for a field of characters is cut, and the rest is in the field.
    ///
    /// # Errors
    /// [`ErrorCode::DataTruncated`] where it was cut (SAP's help, `AdsSetString`); as [`WorkArea::set_text`].
    pub fn set_text_cut(&mut self, field: usize, text: &[u8], settings: &Settings) -> Result<()> {
        let known = self.shape(field)?;
        let room = match known.kind {
            FieldKind::Character | FieldKind::Varchar => known.width,
            FieldKind::CharacterWide => known.width / 2,
            _ => return self.set_text(field, text, settings),
        };
        let whole = self.to_table(text);
        let Some(fits) = whole.get(..room).filter(|fits| fits.len() < whole.len()) else {
            return self.set_text(field, text, settings);
        };
        let codepage = self.table.codepage();
        let fits = match codepage.is_multibyte() {
            // A letter of two bytes is not cut in its middle.
            true => {
                let letters = codepage.decode(&whole);
                let (mut fits, mut next) = (Vec::new(), Vec::new());
                for letter in letters.chars() {
                    next.clear();
                    let is_known = codepage.encode(letter.encode_utf8(&mut [0; 4]), &mut next).is_ok();
                    if !is_known || fits.len() + next.len() > room {
                        break;
                    }
                    fits.extend_from_slice(&next);
                }
                fits
            }
            false => fits.to_vec(),
        };
        let len = whole.len();
        drop(whole);
        self.put(field, Value::Encoded(&fits))?;
        let name = &self.field(field)?.name;
        let why = format!("field {name}: of {len} bytes the first {} have room", fits.len());
        self.refuse(ErrorCode::DataTruncated, why)
    }

    /// Gives a field a number, rounded to its decimals; dates take it as a Julian day number.
    ///
    /// # Errors
    /// [`ErrorCode::DataTooLong`] for one that does not fit; [`ErrorCode::InvalidFieldType`] for fields without numbers;
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::TableReadOnly`], [`ErrorCode::LockFailed`].
    pub fn set_number(&mut self, field: usize, number: f64) -> Result<()> {
        let known = self.shape(field)?;
        match known.kind {
            FieldKind::Numeric
            | FieldKind::Float
            | FieldKind::Double
            | FieldKind::DoubleDbase7
            | FieldKind::NumericDouble => self.put(field, Value::Double(number)),
            FieldKind::Integer | FieldKind::Counter | FieldKind::IntegerDbase7 | FieldKind::Currency => {
                let decimals = if known.kind == FieldKind::Currency {
                    4
                } else {
                    known.decimals
                };
                let scaled = (number * 10f64.powi(decimals.into())).round();
                if !scaled.is_finite() || scaled.abs() >= 1e19 {
                    return self.refuse(
                        ErrorCode::DataTooLong,
                        format!("{number} does not fit field {}", self.field(field)?.name),
                    );
                }
                #[expect(clippy::cast_possible_truncation, reason = "below 10^19")]
                let unscaled = scaled as i128;
                self.put(
                    field,
                    Value::Decimal {
                        unscaled,
                        scale: decimals,
                    },
                )
            }
            FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => {
                #[expect(clippy::cast_possible_truncation, reason = "a day that is none is an error below")]
                let day = number as i64;
                self.set_julian(field, day)
            }
            FieldKind::Character | FieldKind::CharacterWide => {
                let (width, decimals) = (known.width, usize::from(known.decimals));
                let text = format!("{number:>width$.decimals$}");
                self.put(field, Value::Encoded(text.as_bytes()))
            }
            _ => self.wrong_type(field, "numbers"),
        }
    }

    /// Gives a field the decimal `unscaled` / 10^`scale`, exactly.
    ///
    /// # Errors
    /// As [`WorkArea::set_number`].
    pub fn set_decimal(&mut self, field: usize, unscaled: i128, scale: u8) -> Result<()> {
        self.field(field)?;
        self.put(field, Value::Decimal { unscaled, scale })
    }

    /// Puts bytes into the record where a field lies, filled up with blanks; it is not NULL afterwards.
    ///
    /// # Errors
    /// [`ErrorCode::DataTooLong`]; [`ErrorCode::InvalidFieldType`] for memos; as [`WorkArea::set_number`].
    pub fn set_raw(&mut self, field: usize, bytes: &[u8]) -> Result<()> {
        let known = self.shape(field)?;
        if known.kind.uses_memo() {
            return self.put_memo(field, Some(bytes.to_vec()));
        }
        let record = self.lock_to_update()?;
        self.editor.encode_raw(record, &mut self.record.bytes, field, bytes)?;
        self.record.is_changed = true;
        Ok(())
    }

    /// Gives a field a whole number, exactly.
    ///
    /// # Errors
    /// As [`WorkArea::set_number`].
    pub fn set_integer(&mut self, field: usize, number: i64) -> Result<()> {
        match self.field(field)?.kind {
            FieldKind::Numeric
            | FieldKind::Float
            | FieldKind::NumericDouble
            | FieldKind::Integer
            | FieldKind::Counter
            | FieldKind::IntegerDbase7
            | FieldKind::Currency => self.put(field, Value::Integer(number)),
            #[expect(
                clippy::cast_precision_loss,
                reason = "what a double can hold of it is what the field can hold"
            )]
            _ => self.set_number(field, number as f64),
        }
    }

    /// Gives a date field a day by its Julian day number; 0 makes it blank.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidDate`]; as [`WorkArea::set_number`].
    pub fn set_julian(&mut self, field: usize, julian: i64) -> Result<()> {
        is_day(julian)?;
        let known = self.shape(field)?;
        let day = Moment::Date(julian).unix_days();
        match (known.kind, day) {
            (FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked, Some(day)) => {
                self.put(field, Value::Date(day))
            }
            (FieldKind::Timestamp | FieldKind::TimestampDbase7, Some(day)) => {
                self.put(field, Value::Timestamp(i64::from(day) * 86_400_000))
            }
            (
                FieldKind::Date
                | FieldKind::DateBinary
                | FieldKind::DatePacked
                | FieldKind::Timestamp
                | FieldKind::TimestampDbase7,
                None,
            ) => self.set_empty(field),
            _ => self.wrong_type(field, "dates"),
        }
    }

    /// Gives a time field the milliseconds since midnight, and a timestamp those of its day.
    ///
    /// # Errors
    /// As [`WorkArea::set_number`].
    pub fn set_milliseconds(&mut self, field: usize, ms: i64) -> Result<()> {
        let known = self.shape(field)?;
        match (
            known.kind,
            i32::try_from(ms).ok().filter(|ms| (0..86_400_000).contains(ms)),
        ) {
            (FieldKind::Time, Some(ms)) => self.put(field, Value::Time(ms)),
            (FieldKind::Timestamp | FieldKind::TimestampDbase7, Some(ms)) => {
                let day = Moment::Date(self.julian_in(field)?).unix_days().unwrap_or(0);
                self.put(field, Value::Timestamp(i64::from(day) * 86_400_000 + i64::from(ms)))
            }
            (FieldKind::Time | FieldKind::Timestamp | FieldKind::TimestampDbase7, None) => {
                self.refuse(ErrorCode::DataTooLong, format!("{ms} ms are more than a day"))
            }
            _ => self.wrong_type(field, "times"),
        }
    }

    /// Gives a logical field a value.
    ///
    /// # Errors
    /// As [`WorkArea::set_number`].
    pub fn set_logical(&mut self, field: usize, value: bool) -> Result<()> {
        let known = self.shape(field)?;
        match known.kind {
            FieldKind::Logical => self.put(field, Value::Logical(value)),
            _ => self.wrong_type(field, "truth"),
        }
    }

    /// Makes a field NULL; of tables without NULL, blank.
    ///
    /// # Errors
    /// [`ErrorCode::NotNullable`] for a field of Visual FoxPro that cannot be NULL; as [`WorkArea::set_number`].
    pub fn set_null(&mut self, field: usize) -> Result<()> {
        match (self.options.table_type, self.field(field)?.nullable) {
            (TableType::Vfp, true) => self.put(field, Value::Null),
            (TableType::Vfp, false) => self.refuse(ErrorCode::NotNullable, "the field cannot be NULL"),
            (TableType::Ntx | TableType::Cdx | TableType::Adt, _) => self.set_empty(field),
        }
    }

    /// Makes a field blank, and not NULL; of an ADT, NULL.
    ///
    /// # Errors
    /// [`ErrorCode::ColumnCannotBeNull`] for a field whose values an ADT gives itself; as [`WorkArea::set_number`].
    pub fn set_empty(&mut self, field: usize) -> Result<()> {
        let known = self.shape(field)?;
        match known.kind {
            kind if kind.uses_memo() => self.put_memo(field, None),
            _ if self.is_adt() => match self.field(field)?.nullable {
                true => self.put(field, Value::Null),
                false => self.refuse(ErrorCode::ColumnCannotBeNull, "the table gives the field its values"),
            },
            FieldKind::Integer | FieldKind::Double | FieldKind::Currency => self.put(field, Value::Integer(0)),
            FieldKind::Time => self.put(field, Value::Time(0)),
            FieldKind::Timestamp | FieldKind::TimestampDbase7 => self.set_raw(field, &[0; 8]),
            FieldKind::Character
            | FieldKind::CharacterBinary
            | FieldKind::Varchar
            | FieldKind::Varbinary
            | FieldKind::Numeric
            | FieldKind::Float
            | FieldKind::NumericDouble
            | FieldKind::Logical
            | FieldKind::Date => self.set_raw(field, b""),
            _ => self.put(field, Value::Null),
        }
    }

    /// Replaces the whole record but for its deletion flag, memos and counters.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRecordLength`]; as [`WorkArea::set_number`].
    pub fn set_record(&mut self, bytes: &[u8]) -> Result<()> {
        self.lock_to_update()?;
        if bytes.len() != self.record.bytes.len() {
            let (given, wanted) = (bytes.len(), self.record.bytes.len());
            return self.refuse(
                ErrorCode::InvalidRecordLength,
                format!("{given} bytes for a record of {wanted}"),
            );
        }
        // The deletion flag belongs to the table. So does the link that follows it in an ADT.
        let own = if self.is_adt() { 5 } else { 1 };
        let values = self.record.bytes.get_mut(own..).zip(bytes.get(own..));
        if let Some((values, given)) = values {
            values.copy_from_slice(given);
        }
        self.record.is_changed = true;
        Ok(())
    }

    /// Gives a memo field bytes as they are, or none.
    ///
    /// # Errors
    /// As [`WorkArea::set_number`].
    pub fn put_memo(&mut self, field: usize, bytes: Option<Vec<u8>>) -> Result<()> {
        let known = self.shape(field)?;
        if !known.kind.uses_memo() {
            return self.wrong_type(field, "memos");
        }
        self.lock_to_update()?;
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        match self.record.memos.iter_mut().find(|(changed, _)| *changed == field) {
            Some((_, value)) => *value = bytes,
            None => self.record.memos.push((field, bytes)),
        }
        self.record.is_changed = true;
        Ok(())
    }

    /// Takes deleted records out of the file for good.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotExclusive`], [`ErrorCode::TableReadOnly`]; as
    /// [`TableEditor::pack`](tidemill_xbase::TableEditor::pack).
    pub(crate) fn pack(&mut self, settings: &Settings) -> Result<()> {
        self.alone()?;
        self.give_up_what_was_made();
        self.at_length(settings, |area| Ok(area.editor.pack()?))?;
        self.start_again(settings)
    }

    /// Takes all records out of the file.
    ///
    /// # Errors
    /// As [`WorkArea::pack`].
    pub(crate) fn zap(&mut self, settings: &Settings) -> Result<()> {
        self.alone()?;
        self.give_up_what_was_made();
        self.editor.zap()?;
        self.start_again(settings)
    }

    fn alone(&mut self) -> Result<()> {
        self.write_record()?;
        self.changeable()?;
        self.may(Rights::ALL)?;
        if self.options.mode != OpenMode::Exclusive {
            return self.refuse(ErrorCode::TableNotExclusive, "others have the table open");
        }
        Ok(())
    }

    /// Everything is read anew, and the area goes to the first record.
    fn start_again(&mut self, settings: &Settings) -> Result<()> {
        self.record.number = 0;
        self.read_table()?;
        self.go_top(None, settings)
    }

    /// Puts a value into the record in memory. The record stays as it was where the value does not fit.
    pub(super) fn put(&mut self, field: usize, value: Value<'_>) -> Result<()> {
        let record = self.lock_to_update()?;
        let place = self.shape(field)?.place();
        self.before.clear();
        self.before
            .extend_from_slice(self.record.bytes.get(place.clone()).unwrap_or_default());
        let put = self.editor.encode(record, &mut self.record.bytes, field, value);
        match (&put, self.record.bytes.get_mut(place)) {
            (Ok(()), _) => self.record.is_changed = true,
            (Err(_), Some(cell)) if cell.len() == self.before.len() => cell.copy_from_slice(&self.before),
            (Err(_), _) => {}
        }
        Ok(put?)
    }

    /// Lets this work area do what the user may do with its table.
    pub(crate) fn set_rights(&mut self, rights: Rights) {
        self.rights = rights;
    }

    /// What the user may do with its table.
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// Refuses what the user may not do.
    ///
    /// # Errors
    /// [`ErrorCode::NoWriteRights`].
    pub(super) fn may(&self, wanted: Rights) -> Result<()> {
        match self.rights.has(wanted) {
            true => Ok(()),
            false => self.refuse(
                ErrorCode::NoWriteRights,
                "the user has not the permission for this change",
            ),
        }
    }

    /// As [`WorkArea::lock_for_change`], for new values of fields: those of a record that was appended belong to it.
    fn lock_to_update(&mut self) -> Result<u32> {
        let is_new = self.appended.is_some_and(|record| self.place == Place::Record(record));
        if !is_new {
            self.may(Rights::UPDATE)?;
        }
        self.lock_for_change()
    }

    /// Sees to it that the current record may be changed, and that it is in memory as it is now.
    pub(super) fn lock_for_change(&mut self) -> Result<u32> {
        let record = self.current()?;
        self.changeable()?;
        let is_locked = self.options.mode == OpenMode::Exclusive
            || self.is_file_locked
            || self.locked.contains(&record)
            || self.locked_for_change == Some(record);
        if !is_locked {
            self.editor.lock_record(record)?;
            self.locked_for_change = Some(record);
            // Others may have changed it before.
            self.record.number = 0;
            self.read(record)?;
        }
        Ok(record)
    }

    fn unlock_after_change(&mut self) -> Result<()> {
        if let Some(record) = self.locked_for_change.take() {
            self.editor.unlock_record(record)?;
        }
        Ok(())
    }

    fn changeable(&self) -> Result<()> {
        match self.options.mode {
            OpenMode::ReadOnly => match &self.why_read_only {
                Some(why) => Err(Error::new(ErrorCode::TableReadOnly, why.clone())),
                None => self.refuse(ErrorCode::TableReadOnly, "the table is open for reading only"),
            },
            OpenMode::Exclusive | OpenMode::Shared => Ok(()),
        }
    }

    fn number_of(&self, text: &str) -> Result<f64> {
        match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.refuse(ErrorCode::InvalidValue, format!("{text:?} is no number")),
        }
    }

    fn wrong_type(&self, field: usize, what: &str) -> Result<()> {
        let Field { name, letter, .. } = self.field(field)?;
        self.refuse(
            ErrorCode::InvalidFieldType,
            format!("field {name} of type {letter} has no {what}"),
        )
    }
}

/// A number that is written with digits and a point only, exactly.
pub(super) fn decimal(text: &str) -> Option<Value<'static>> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() > 30 || !is_digits(part) || !is_digits(whole.strip_prefix(['-', '+']).unwrap_or(whole))
    {
        return None;
    }
    let part = part.trim_end_matches('0');
    let unscaled = format!("{whole}{part}").parse().ok()?;
    let scale = u8::try_from(part.len()).ok()?;
    Some(Value::Decimal { unscaled, scale })
}
