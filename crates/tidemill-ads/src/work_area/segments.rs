//! The fields of keys, and what a record says of its fields besides their bytes.

use tidemill_xbase::expression::{Environment, Program, RecordBytes, Value};
use tidemill_xbase::{OpenMode, Place};

use super::raw_key::NOWHERE;
use super::{CurrentRecord, OrderId, TableType, WorkArea};
use crate::error::{ErrorCode, Result};

impl WorkArea {
    /// The fields that the expression of an order names, by their places, each once, in the order in which it does.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`], [`ErrorCode::InvalidExpression`].
    pub fn fields_of_key(&self, order: OrderId) -> Result<Vec<usize>> {
        if self.is_adt() {
            let mut fields: Vec<usize> = Vec::new();
            for field in self.keys(order)?.parts().into_iter().flat_map(|(fields, _)| fields) {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
            return Ok(fields);
        }
        let expression = self.order_tag(order)?.expression;
        let environment = Environment::with_all_letters(self.table.codepage());
        Ok(Program::compile_key(&expression, self.fields(), &environment)?.fields())
    }

    /// Where in a key the bytes of one of [`WorkArea::fields_of_key`] begin, from 0.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldNumber`] for a number that none has, from 0; [`ErrorCode::NotImplemented`] where the expression is more
    /// than a sum of terms whose widths are known; as [`WorkArea::fields_of_key`].
    pub fn offset_in_key(&self, order: OrderId, number: usize) -> Result<usize> {
        let fields = self.fields_of_key(order)?;
        let Some(field) = fields.get(number) else {
            let why = format!(
                "the key has {} fields, and none with the number {}",
                fields.len(),
                number + 1
            );
            return self.refuse(ErrorCode::InvalidFieldNumber, why);
        };
        let keys = self.keys(order)?;
        let mut begin = 0;
        for (fields, len) in keys.parts() {
            match fields.contains(field) {
                false => begin += len,
                true if fields.len() == 1 => return Ok(begin),
                true => break,
            }
        }
        let expression = self.order_tag(order)?.expression;
        let environment = Environment::with_all_letters(self.table.codepage());
        let is_unclear = || {
            let why = format!("where the fields of {expression} lie in its keys is not known");
            self.refuse(ErrorCode::NotImplemented, why)
        };
        if self.is_adt() {
            return is_unclear();
        }
        // Digits are letters, numbers and days.
        let full = vec![b'1'; self.record.bytes.len()];
        let (mut begin, mut found) = (0, None);
        for term in terms(&expression) {
            let Ok(term) = Program::compile_key(term, self.fields(), &environment) else {
                return is_unclear();
            };
            // TRIM is shorter over blanks than over values. That moves the terms after it.
            let full = RecordBytes::new(&self.table, NOWHERE, &full);
            let value = term.evaluate_record(&full);
            if !matches!(&value, Ok(Value::Character(text)) if text.len() == term.key_len()) {
                return is_unclear();
            }
            if term.fields().as_slice() == [*field] && found.is_none() {
                found = Some(begin);
            }
            begin += term.key_len();
        }
        match found {
            Some(found) if begin == keys.key_len() => Ok(found),
            _ => is_unclear(),
        }
    }

    /// Whether a field is NULL in the bytes of a record that are in no table; only a table of Visual FoxPro marks it there.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRecordLength`], [`ErrorCode::InvalidFieldNumber`]; [`ErrorCode::NotNullable`] for a field that no mark belongs to.
    pub fn null_mark(&mut self, field: usize, record: &[u8]) -> Result<bool> {
        self.check_null_mark(field, record)?;
        self.in_record(&mut record.to_vec(), |area| area.is_null(field))
    }

    /// Marks a field as NULL in the bytes of a record that are in no table, or takes the mark away. Its value stays.
    ///
    /// # Errors
    /// As [`WorkArea::null_mark`].
    pub fn set_null_mark(&mut self, field: usize, record: &mut Vec<u8>, is_null: bool) -> Result<()> {
        self.check_null_mark(field, record)?;
        let (offset, width) = self.field(field).map(|field| (field.offset, field.width))?;
        let cell = record
            .get(offset..offset + width)
            .map(<[u8]>::to_vec)
            .unwrap_or_default();
        self.in_record(record, |area| match is_null {
            true => area.set_null(field),
            false => area.set_empty(field),
        })?;
        if let Some(place) = record.get_mut(offset..offset + width) {
            place.copy_from_slice(&cell);
        }
        Ok(())
    }

    fn check_null_mark(&self, field: usize, record: &[u8]) -> Result<()> {
        let known = self.field(field)?;
        if record.len() != self.record.bytes.len() {
            let (given, wanted) = (record.len(), self.record.bytes.len());
            return self.refuse(
                ErrorCode::InvalidRecordLength,
                format!("{given} bytes for a record of {wanted}"),
            );
        }
        match self.options.table_type == TableType::Vfp && known.nullable {
            true => Ok(()),
            false => self.refuse(
                ErrorCode::NotNullable,
                format!("field {} has no mark of NULL", known.name),
            ),
        }
    }

    /// Does something with the bytes of a record that is in no table, as with the current one. Nothing is locked or written.
    fn in_record<T>(&mut self, bytes: &mut Vec<u8>, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let given = CurrentRecord {
            number: NOWHERE,
            bytes: std::mem::take(bytes),
            ..CurrentRecord::default()
        };
        let record = std::mem::replace(&mut self.record, given);
        let place = std::mem::replace(&mut self.place, Place::Record(NOWHERE));
        // Who is alone needs no lock.
        let mode = std::mem::replace(&mut self.options.mode, OpenMode::Exclusive);
        let done = work(self);
        self.options.mode = mode;
        self.place = place;
        *bytes = std::mem::replace(&mut self.record, record).bytes;
        done
    }
}

/// The terms of a sum, in their order: an expression is cut at each `+` outside of brackets and quotes.
fn terms(expression: &str) -> Vec<&str> {
    let (mut terms, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, letter) in expression.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, '+') if depth == 0 => {
                terms.push(&expression[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&expression[begin..]);
    terms
}
