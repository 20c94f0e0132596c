//! What makes and drops objects of a data dictionary.

use super::Parser;
use crate::sql::error::Result;
use crate::sql::statement::{Body, Definition, StatementKind, TriggerDefinition};
use crate::{TriggerEvent, TriggerMoment};

/// `ADS_TRIGOPTIONS_WANT_VALUES`, `ADS_TRIGOPTIONS_WANT_MEMOS_AND_BLOBS` and `ADS_TRIGOPTIONS_NO_TRANSACTION` of `ace.h`.
const VALUES: u32 = 1;
const MEMOS: u32 = 2;
const NO_TRANSACTION: u32 = 4;

impl Parser<'_> {
    /// What stands behind CREATE TRIGGER, or with `replaces` behind ALTER TRIGGER.
    pub(super) fn trigger(&mut self, replaces: bool) -> Result<StatementKind> {
        let name = self.ident()?.value;
        self.expect("ON")?;
        if self.is_next("DATABASE") {
            let why = "triggers of the database itself are not fired: give the trigger a table";
            return Err(self.refusal(why));
        }
        let table = self.table_name()?.to_string();
        let moment = match self.take_any(&["BEFORE", "INSTEAD", "AFTER", "CONFLICT", "ON"]) {
            Some(0) => TriggerMoment::Before,
            Some(1) => {
                self.expect("OF")?;
                TriggerMoment::InsteadOf
            }
            Some(2) => TriggerMoment::After,
            Some(3) => {
                self.take("ON");
                TriggerMoment::OnConflict
            }
            Some(_) => {
                self.expect("CONFLICT")?;
                TriggerMoment::OnConflict
            }
            None => return Err(self.unexpected("BEFORE, INSTEAD OF, AFTER or CONFLICT ON")),
        };
        let event = match self.take_any(&["INSERT", "UPDATE", "DELETE"]) {
            Some(0) => TriggerEvent::Insert,
            Some(1) => TriggerEvent::Update,
            Some(_) => TriggerEvent::Delete,
            None => return Err(self.unexpected("INSERT, UPDATE or DELETE")),
        };
        let body = self.body()?;
        let (mut options, mut priority) = (VALUES | MEMOS, 1);
        loop {
            match self.take_any(&["NO", "PRIORITY"]) {
                Some(0) => match self.take_any(&["VALUES", "MEMOS", "TRANSACTION"]) {
                    Some(0) => options &= !(VALUES | MEMOS),
                    Some(1) => options &= !MEMOS,
                    Some(_) => options |= NO_TRANSACTION,
                    None => return Err(self.unexpected("VALUES, MEMOS or TRANSACTION")),
                },
                Some(_) => {
                    let number = u32::try_from(self.number()?);
                    priority = number.map_err(|_| self.fault("A priority is a number below 4,294,967,296"))?;
                }
                None => break,
            }
        }
        let definition = TriggerDefinition {
            name,
            table,
            event,
            moment,
            body,
            priority,
            options,
            replaces,
        };
        Ok(StatementKind::Define(Box::new(Definition::Trigger(definition))))
    }

    /// `BEGIN … END` or `FUNCTION … IN LIBRARY …`.
    fn body(&mut self) -> Result<Body> {
        if self.take("FUNCTION") {
            let function = self.ident()?.value;
            self.expect("IN")?;
            let is_com = match self.take_any(&["LIBRARY", "ASSEMBLY", "COMLIBRARY"]) {
                Some(kind) => kind > 0,
                None => return Err(self.unexpected("LIBRARY, ASSEMBLY or COMLIBRARY")),
            };
            let library = self.table_name()?.to_string();
            return Ok(Body::Library {
                function,
                library,
                is_com,
            });
        }
        self.expect("BEGIN")?;
        let begin = self.place();
        let statements = self.statements(&["END"])?;
        let script = match statements.is_empty() {
            true => String::new(),
            false => self.written_from(begin),
        };
        self.expect("END")?;
        Ok(Body::Script(script))
    }

    /// What stands behind DROP TRIGGER.
    pub(super) fn drop_trigger(&mut self) -> Result<StatementKind> {
        let mut written = self.table_name()?;
        let name = written.parts.pop().unwrap_or_default();
        let table = written.to_string();
        Ok(StatementKind::Define(Box::new(Definition::DropTrigger { table, name })))
    }
}
