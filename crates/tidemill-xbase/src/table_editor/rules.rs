//! Rules of the table's records: what new ones begin with, and what is refused.

use super::TableEditor;
use crate::error::Result;
use crate::expression;
use crate::field::FieldKind;
use crate::rules::Rules;
use crate::value::Value;

impl TableEditor {
    /// Holds records that are changed here to rules from now on, and lets new ones begin with their default values. A record that
    /// [`TableEditor::append_record`] appends is held to them once it is changed or finished. Default: none.
    pub fn set_rules(&mut self, rules: Option<Rules>) {
        self.rules = rules.map(Box::new);
    }

    /// Whether records are held to rules.
    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The places of the fields whose rules have a default value.
    pub fn fields_with_default(&self) -> Vec<usize> {
        self.rules.as_ref().map_or_else(Vec::new, |rules| rules.with_default())
    }

    /// Looks through the records for one that breaks the rules.
    ///
    /// # Errors
    /// [`Error::Rule`](crate::Error::Rule) with the first that does; [`Error::Io`](crate::Error::Io).
    pub fn check_records(&mut self) -> Result<()> {
        for record in 1..=self.refresh()? {
            let bytes = self.record_bytes(record)?;
            self.check_rules(record, &bytes, None)?;
        }
        Ok(())
    }

    /// Gives fields of a record their default values, or NULL where they have none.
    ///
    /// # Errors
    /// As [`TableEditor::replace`].
    pub fn replace_with_defaults(&mut self, record: u32, fields: &[usize]) -> Result<()> {
        let defaults = self.defaults()?;
        let values: Vec<_> = fields
            .iter()
            .map(|field| {
                let kind = self.fields.visible.get(*field).map(|field| field.kind);
                let default = defaults.iter().find(|(known, _)| known == field);
                (*field, default.map_or(Value::Null, |(_, value)| stored(value, kind)))
            })
            .collect();
        self.replace(record, &values)
    }

    /// The default values of fields, now.
    pub(super) fn defaults(&self) -> Result<Vec<(usize, expression::Value<'static>)>> {
        self.rules.as_ref().map_or(Ok(Vec::new()), |rules| rules.defaults())
    }

    /// Puts the default values into the bytes of a new record.
    pub(super) fn fill_defaults(&self, record: u32, bytes: &mut [u8]) -> Result<()> {
        self.fill_stored(record, bytes, &self.defaults()?)
    }

    /// Puts values of expressions into the bytes of a record.
    pub(super) fn fill_stored(
        &self,
        record: u32,
        bytes: &mut [u8],
        values: &[(usize, expression::Value<'_>)],
    ) -> Result<()> {
        let kind = |field: &usize| self.fields.visible.get(*field).map(|field| field.kind);
        let values = values.iter().map(|(field, value)| (*field, stored(value, kind(field))));
        self.fill(record, bytes, values)
    }

    /// Refuses a record that breaks a rule; one that is deleted breaks none. Of a new record there is no `before`.
    pub(super) fn check_rules(&self, record: u32, bytes: &[u8], before: Option<&[u8]>) -> Result<()> {
        match &self.rules {
            Some(rules) if !self.header.dialect.is_deleted(bytes) => {
                rules.check(&self.orders.table, record, (bytes, &self.blank), before)
            }
            _ => Ok(()),
        }
    }
}

/// A value of an expression as a field of a kind takes it.
fn stored<'v>(value: &'v expression::Value<'_>, kind: Option<FieldKind>) -> Value<'v> {
    let is_binary = |kind| {
        matches!(
            kind,
            FieldKind::CharacterBinary | FieldKind::Varbinary | FieldKind::MemoBinary
        )
    };
    match value {
        expression::Value::Null => Value::Null,
        expression::Value::Character(bytes) if kind.is_some_and(is_binary) => Value::Bytes(bytes),
        expression::Value::Character(bytes) => Value::Encoded(bytes),
        expression::Value::Number(number) => Value::Double(*number),
        expression::Value::Logical(value) => Value::Logical(*value),
        expression::Value::Date(_) | expression::Value::Timestamp(_) => match kind {
            Some(FieldKind::Time) => i32::try_from(value.ms_of_day()).map_or(Value::Null, Value::Time),
            Some(FieldKind::Timestamp | FieldKind::TimestampDbase7) => {
                let day = value.unix_days().map(|day| i64::from(day) * expression::DAY_MS);
                value.unix_ms().or(day).map_or(Value::Null, Value::Timestamp)
            }
            _ => value.unix_days().map_or(Value::Null, Value::Date),
        },
    }
}
