//! Records that statements change, in tables and as views show them, and the triggers that they fire.

use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::Value as Stored;

use super::ConnectionTables;
use crate::dictionary::{TableTriggers, TriggerEvent, TriggerMoment};
use crate::sql::error::Result;
use crate::sql::given::{GivenTables, like};
use crate::sql::statement::TableName;
use crate::sql::tables::{FiredChange, Tables as _};
use crate::triggers::{Firing, Runner};

impl ConnectionTables<'_> {
    /// The triggers of a table that an event fires now.
    fn triggers_of(
        &mut self,
        name: &TableName,
        event: TriggerEvent,
    ) -> Result<Option<(Arc<Path>, Arc<TableTriggers>)>> {
        if self.connection.dictionary.is_none() || self.connection.statements.given.get(name).is_some() {
            return Ok(None);
        }
        let path = self.path(name)?;
        let triggers = self.connection.dictionary.as_ref();
        let triggers = triggers.and_then(|dictionary| dictionary.triggers_at(&path));
        Ok(triggers
            .filter(|triggers| self.connection.runner.fires(triggers, event))
            .map(|triggers| (path, triggers)))
    }

    pub(super) fn fires_at(&mut self, name: &TableName, event: TriggerEvent) -> Result<bool> {
        if let Some(triggers) = self.connection.statements.shown.triggers(name) {
            let triggers = Arc::clone(triggers);
            return self.check_fires(name, &triggers, event).map(|()| true);
        }
        Ok(self.triggers_of(name, event)?.is_some())
    }

    /// Makes a change of a record, within the transaction of the statement, and fires what it fires.
    pub(super) fn change_and_fire(&mut self, name: &TableName, change: &FiredChange<'_>) -> Result<()> {
        let event = change.event();
        let runner = Arc::clone(&self.connection.runner);
        if let Some(triggers) = self.connection.statements.shown.triggers(name) {
            let triggers = Arc::clone(triggers);
            return self.change_view(name, &triggers, change);
        }
        let Some((path, triggers)) = self.triggers_of(name, event)? else {
            let _permit = runner.permit();
            return change.make(self.editor(name)?).map(drop);
        };
        let (wants_values, wants_memos) = triggers.wants(event);
        let mut rows = GivenTables::default();
        if wants_values {
            self.give_rows(name, Some(&path), change, wants_memos, &mut rows)?;
        }
        self.fire(&runner, (&triggers, event, TriggerMoment::Before), &mut rows)?;
        if runner.has(&triggers, event, TriggerMoment::InsteadOf) {
            return self.fire(&runner, (&triggers, event, TriggerMoment::InsteadOf), &mut rows);
        }
        let permit = runner.permit();
        let table = self.editor(name)?;
        let record = change.make(table)?;
        table.flush()?;
        drop(permit);
        if !runner.has(&triggers, event, TriggerMoment::After) {
            return Ok(());
        }
        if wants_values && event != TriggerEvent::Delete {
            let table = self.editor_of(name)?;
            let now = table.record_bytes(record)?;
            rows.give("__new", table, (record, &now), &[], wants_memos)?;
        }
        self.fire(&runner, (&triggers, event, TriggerMoment::After), &mut rows)
    }

    /// Has the triggers of a view make of a change what they make of it. What the view shows is changed beside it, as far as the statement goes.
    fn change_view(&mut self, name: &TableName, triggers: &TableTriggers, change: &FiredChange<'_>) -> Result<()> {
        let event = change.event();
        self.check_fires(name, triggers, event)?;
        let runner = Arc::clone(&self.connection.runner);
        let (wants_values, wants_memos) = triggers.wants(event);
        let mut rows = GivenTables::default();
        let (mut values, mut is_insert) = (Vec::new(), None);
        if let FiredChange::Insert {
            values: given,
            is_deleted,
        } = change
        {
            // A column that is given nothing is NULL: a view has no default values.
            let count = self.editor_of(name)?.fields().len();
            values.extend((0..count).map(|field| (field, Stored::Null)));
            for (field, value) in *given {
                if let Some(slot) = values.get_mut(*field) {
                    slot.1 = *value;
                }
            }
            is_insert = Some(*is_deleted);
        }
        let change = match is_insert {
            Some(is_deleted) => &FiredChange::Insert {
                values: &values,
                is_deleted,
            },
            None => change,
        };
        if wants_values {
            self.give_rows(name, None, change, wants_memos, &mut rows)?;
        }
        self.fire(&runner, (triggers, event, TriggerMoment::InsteadOf), &mut rows)?;
        change.make(self.editor_of(name)?).map(drop)
    }

    /// Gives triggers the record before the change, and as it is to be.
    fn give_rows(
        &mut self,
        name: &TableName,
        path: Option<&Path>,
        change: &FiredChange<'_>,
        wants_memos: bool,
        rows: &mut GivenTables,
    ) -> Result<()> {
        let settings = self.settings;
        let table = self.editor_of(name)?;
        let mut new = like("__new", table)?;
        let values: &[(usize, Stored<'_>)] = match change {
            FiredChange::Insert { values, .. } => values,
            FiredChange::Update { record, values, .. } => {
                let before = table.record_bytes(*record)?;
                rows.give("__old", table, (*record, &before), &[], wants_memos)?;
                rows.give("__new", table, (*record, &before), &[], wants_memos)?;
                if let Some(given) = rows.get(&TableName::new("__new")) {
                    std::mem::swap(&mut new, given);
                }
                values
            }
            FiredChange::Delete { record } => {
                let before = table.record_bytes(*record)?;
                return Ok(rows.give("__old", table, (*record, &before), &[], wants_memos)?);
            }
        };
        // A change that a rule refuses fires nothing.
        let rules = self.connection.dictionary.as_ref().zip(path);
        let rules = rules.map(|(dictionary, path)| dictionary.rules_for(path, new.opened(), settings));
        new.set_rules(rules.transpose()?.flatten());
        let fields: Vec<bool> = new
            .fields()
            .iter()
            .map(|field| wants_memos || !field.kind.uses_memo())
            .collect();
        let values: Vec<_> = values
            .iter()
            .filter(|(field, _)| fields.get(*field).copied().unwrap_or(false))
            .copied()
            .collect();
        match change {
            FiredChange::Insert { .. } => {
                new.append_values(&values)?;
            }
            _ => new.replace(1, &values)?,
        }
        new.set_rules(None);
        rows.put("__new", new);
        Ok(())
    }

    fn fire(
        &mut self,
        runner: &Runner,
        (triggers, event, moment): (&TableTriggers, TriggerEvent, TriggerMoment),
        rows: &mut GivenTables,
    ) -> Result<()> {
        let Some(dictionary) = &self.connection.dictionary else {
            return Ok(());
        };
        let dictionary = dictionary.file().to_owned();
        let log = self.log();
        let firing = Firing {
            triggers,
            event,
            dictionary,
            user: self.connection.user_name(),
            settings: self.settings,
            options: self.options,
            analytical: self.connection.analytical.clone(),
            log: &log,
        };
        Ok(runner.fire(&firing, moment, rows)?)
    }
}
