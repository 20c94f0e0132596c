//! Relations: where one work area goes, another follows.

use tidemill_xbase::expression::{Program, RecordBytes, Value};

use crate::connection::AreaId;
use crate::error::Result;
use crate::settings::Settings;
use crate::work_area::{OrderId, SeekKey, SeekKind, WorkArea};

/// A work area that follows another one.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) parent: AreaId,
    pub(crate) child: AreaId,
    /// The order in which the child looks for the key; without one the key is a record number.
    pub(crate) order: Option<OrderId>,
    pub(crate) expression: String,
    /// Whether the child shows only the records of the key.
    pub(crate) is_scoped: bool,
}

impl Relation {
    /// What the child has to look for while the parent is at its record; `None` where the parent is at none.
    pub(crate) fn key(&self, parent: &mut WorkArea, settings: &Settings) -> Result<Option<Value<'static>>> {
        if !parent.has_current_record() {
            return Ok(None);
        }
        let program = Program::compile(&self.expression, parent.fields(), &parent.environment(settings))?;
        let table = std::sync::Arc::clone(parent.table()?);
        let record = parent.record_number()?;
        let bytes = parent.record_bytes()?;
        let bytes = RecordBytes::new(&table, record, bytes);
        let value = program.evaluate_record(&bytes)?;
        Ok(Some(value.into_owned()))
    }

    /// Moves the child to what it has to look for.
    pub(crate) fn follow(&self, child: &mut WorkArea, key: Option<&Value<'_>>, settings: &Settings) -> Result<()> {
        let text;
        let key = match key {
            None | Some(Value::Null) => None,
            Some(Value::Character(bytes)) => Some(SeekKey::Text(bytes)),
            Some(Value::Number(number)) => Some(SeekKey::Number(*number)),
            #[expect(clippy::cast_precision_loss, reason = "days are few")]
            Some(Value::Date(day)) => Some(SeekKey::Number(*day as f64)),
            #[expect(
                clippy::cast_precision_loss,
                reason = "milliseconds of a calendar are exact in a double"
            )]
            Some(Value::Timestamp(ms)) => Some(SeekKey::Number(*ms as f64 / 86_400_000.0)),
            Some(Value::Logical(value)) => {
                text = if *value { b"T" } else { b"F" };
                Some(SeekKey::Text(text))
            }
        };
        match (self.order, key) {
            (_, None) => child.go_to(0).map(drop),
            (Some(order), Some(key)) if self.is_scoped => {
                child.set_scope(order, true, key, settings)?;
                child.set_scope(order, false, key, settings)?;
                child.go_top(Some(order), settings)
            }
            (Some(order), Some(key)) => child.seek(order, key, SeekKind::Hard, settings).map(drop),
            (None, Some(SeekKey::Number(number))) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "no record has such a number"
                )]
                let record = number as u32;
                child.go_to(record).map(drop)
            }
            (None, Some(_)) => child.go_to(0).map(drop),
        }
    }
}
