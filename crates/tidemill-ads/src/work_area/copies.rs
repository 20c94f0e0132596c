//! Records that are copied into another table.

use std::ops::Range;

use tidemill_xbase::expression::{Record, RecordBytes, Value as Moment};
use tidemill_xbase::{AdtType, FieldKind, Value};

use super::changes::decimal;
use super::{Counted, OrderId, WorkArea};
use crate::error::{ErrorCode, Result};
use crate::settings::Settings;

impl WorkArea {
    /// Appends records to another table, in an order: pairs of fields say where values go. Deleted ones are among them only
    /// when they are shown. Of those that would be copied, `copied` says which are, from 0.
    ///
    /// # Errors
    /// [`ErrorCode::CopyAborted`] when it is stopped, and what was appended stays; when a value does not fit.
    pub(crate) fn copy_into(
        &mut self,
        target: &mut Self,
        pairs: &[(usize, usize)],
        order: Option<OrderId>,
        (counted, copied): (Counted, &Range<u64>),
        settings: &Settings,
    ) -> Result<()> {
        let records = self.records_of(order, counted, settings)?;
        let all = records.len() as u64;
        self.at_length(settings, |area| {
            let mut number = 0;
            for (record, done) in records.into_iter().zip(0..) {
                if number >= copied.end {
                    break;
                }
                if area.work.tell(done, all).is_break() {
                    return area.refuse(
                        ErrorCode::CopyAborted,
                        format!("the copy was stopped after {done} of {all} records"),
                    );
                }
                area.go_to(record)?;
                if !area.shows_deleted(settings) && area.is_deleted()? {
                    continue;
                }
                if copied.contains(&number) {
                    area.copy_record(target, pairs, settings)?;
                }
                number += 1;
            }
            Ok(())
        })
    }

    /// The numbers of records, in an order.
    fn records_of(&mut self, order: Option<OrderId>, counted: Counted, settings: &Settings) -> Result<Vec<u32>> {
        self.write_record()?;
        self.with_counted(order, counted, settings, |_, cursor, is_reversed| {
            let (mut records, step) = (Vec::new(), if is_reversed { -1 } else { 1 });
            match is_reversed {
                true => cursor.go_last()?,
                false => cursor.go_first()?,
            };
            while let Some(record) = cursor.record() {
                records.push(record);
                cursor.skip(step)?;
            }
            Ok(records)
        })
    }

    fn copy_record(&mut self, target: &mut Self, pairs: &[(usize, usize)], settings: &Settings) -> Result<()> {
        target.append_record()?;
        for (from, to) in pairs {
            let is_given = match target.field(*to)?.adt_type {
                Some(AdtType::AutoIncrement) => target.editor.enforces_autoincrement(),
                Some(adt_type) => adt_type.is_automatic(),
                None => false,
            };
            if is_given {
                continue;
            }
            if !self.is_empty(*from)? {
                self.copy_field(*from, target, *to, settings)?;
            }
        }
        let is_deleted = self.is_deleted()?;
        target.write_record()?;
        if is_deleted {
            target.set_deleted(true)?;
            target.write_record()?;
        }
        Ok(())
    }

    /// Gives a field of another area's record the value that a field has here: exactly where both are of one kind, else what it
    /// is as text.
    fn copy_field(&mut self, from: usize, target: &mut Self, to: usize, settings: &Settings) -> Result<()> {
        let record = self.current()?;
        let (own, other) = (self.field(from)?, target.field(to)?);
        let is_same_text = self.codepage() == target.codepage() && self.options.is_oem == target.options.is_oem;
        let is_as_number = is_number(own.kind) && is_number(other.kind);
        if (own.kind != other.kind && !is_as_number) || (own.kind == FieldKind::Memo && !is_same_text) {
            let text = self.text(from, settings)?;
            return target.set_text(to, &text, settings);
        }
        if own.kind.uses_memo() {
            return target.put_memo(to, Some(self.memo(from)?));
        }
        let cell = self
            .record
            .bytes
            .get(own.offset..own.offset + own.width)
            .unwrap_or_default();
        let text = || String::from_utf8_lossy(cell).trim().to_owned();
        let bytes = RecordBytes::new(&self.table, record, &self.record.bytes);
        let value = bytes.value(from)?;
        match (own.kind, value) {
            (FieldKind::Character | FieldKind::Varchar, Moment::Character(text)) if is_same_text => {
                target.put(to, Value::Encoded(text.trim_ascii_end()))
            }
            (FieldKind::Character | FieldKind::Varchar, Moment::Character(text)) => {
                target.put(to, Value::Text(self.codepage().decode(&text).trim_end()))
            }
            (FieldKind::CharacterBinary | FieldKind::Varbinary, Moment::Character(bytes)) => {
                target.put(to, Value::Bytes(&bytes))
            }
            (FieldKind::Numeric | FieldKind::Float, Moment::Number(number)) if !is_double(other.kind) => {
                target.put(to, decimal(&text()).unwrap_or(Value::Double(number)))
            }
            (_, Moment::Null) => Ok(()),
            (FieldKind::Integer | FieldKind::Currency, Moment::Number(number))
                if own.width == 8 && !is_double(other.kind) =>
            {
                let decimals = if own.kind == FieldKind::Currency {
                    4
                } else {
                    own.decimals
                };
                match cell.first_chunk() {
                    Some(bytes) => target.set_decimal(to, i64::from_le_bytes(*bytes).into(), decimals),
                    None => target.set_number(to, number),
                }
            }
            (_, Moment::Number(number)) => target.set_number(to, number),
            (_, Moment::Logical(value)) => target.put(to, Value::Logical(value)),
            (_, date @ Moment::Date(_)) => target.put(to, date.unix_days().map_or(Value::Null, Value::Date)),
            (FieldKind::Time, Moment::Timestamp(ms)) => target.set_milliseconds(to, ms),
            (_, moment @ Moment::Timestamp(_)) => {
                target.put(to, moment.unix_ms().map_or(Value::Null, Value::Timestamp))
            }
            (_, Moment::Character(text)) => target.put(to, Value::Text(&self.codepage().decode(&text))),
        }
    }
}

fn is_number(kind: FieldKind) -> bool {
    use FieldKind::{Counter, Currency, Float, Integer, IntegerDbase7, Numeric};
    is_double(kind) || matches!(kind, Numeric | Float | Integer | Counter | IntegerDbase7 | Currency)
}

fn is_double(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble
    )
}
