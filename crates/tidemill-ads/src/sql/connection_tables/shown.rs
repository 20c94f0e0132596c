//! What views show while statements change them: rows in memory, whose changes are what the triggers of the view make of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidemill_xbase::TableEditor;

use super::{ConnectionTables, Tables as _};
use crate::dictionary::{ObjectKind, Rights, TableTriggers, TriggerEvent, TriggerMoment};
use crate::sql::error::{Error, Result};
use crate::sql::given;
use crate::sql::statement::{Select, TableName};
use crate::sql::view_of;
use crate::work_area::rows_in_memory;
use crate::{Error as Refused, ErrorCode};

/// Views by their names, in small letters.
#[derive(Debug, Default)]
pub(super) struct ShownViews(BTreeMap<String, ShownView>);

#[derive(Debug)]
struct ShownView {
    rows: TableEditor,
    triggers: Arc<TableTriggers>,
}

impl ShownViews {
    pub(super) fn has(&self, name: &TableName) -> bool {
        // Most statements change tables.
        !self.0.is_empty() && self.0.contains_key(&key(name))
    }

    pub(super) fn get(&mut self, name: &TableName) -> Option<&mut TableEditor> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get_mut(&key(name)).map(|shown| &mut shown.rows),
        }
    }

    pub(super) fn triggers(&self, name: &TableName) -> Option<&Arc<TableTriggers>> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get(&key(name)).map(|shown| &shown.triggers),
        }
    }

    pub(super) fn remove(&mut self, name: &TableName) {
        self.0.remove(&key(name));
    }
}

fn key(name: &TableName) -> String {
    name.to_string().to_ascii_lowercase()
}

impl ConnectionTables<'_> {
    /// Has what a view shows as a table in memory, where the view has triggers; returns whether that is so, and was not before.
    pub(super) fn show(&mut self, name: &TableName) -> Result<bool> {
        let statements = &self.connection.statements;
        let Some(dictionary) = &self.connection.dictionary else {
            return Ok(false);
        };
        let written = name.to_string();
        if statements.has_view(&written) || statements.shown.has(name) || !self.connection.runner.is_on() {
            return Ok(false);
        }
        let Some(triggers) = dictionary.triggers_of_view(&written)? else {
            return Ok(false);
        };
        // Who may only add records may see what they are made of.
        self.lend_rights(true);
        let rows = given::answer(&written, self);
        self.lend_rights(false);
        let rows = rows_in_memory(&rows?, self.codepage())?;
        let shown = ShownView { rows, triggers };
        self.state().shown.0.insert(key(name), shown);
        Ok(true)
    }

    /// What a view shows, where none of this name is a table in memory.
    pub(super) fn view_called(&mut self, name: &TableName) -> Result<Option<Select>> {
        if self.state().shown.has(name) {
            return Ok(None);
        }
        let key = name.to_string();
        if let Some(view) = self.connection.statements.views.get(&key.to_ascii_lowercase()) {
            return Ok(Some(view.clone()));
        }
        let Some(text) = self.connection.view_text(&key) else {
            return Ok(None);
        };
        self.connection.check_rights_to(ObjectKind::View, &key, Rights::READ)?;
        match view_of(&text) {
            Ok(select) => Ok(Some(select)),
            Err(error) => Err(Error::new(
                error.kind().clone(),
                format!("View {name}: {}", error.message()),
            )),
        }
    }

    /// Refuses what the user may not do with a view.
    pub(super) fn may_change_view(&self, name: &TableName, wanted: Rights) -> Result<()> {
        let checked = self
            .connection
            .check_rights_to(ObjectKind::View, &name.to_string(), wanted);
        Ok(checked?)
    }

    /// Refuses an event for which a view has no trigger, or one that runs: its rows are nowhere else.
    pub(super) fn check_fires(&self, name: &TableName, triggers: &TableTriggers, event: TriggerEvent) -> Result<()> {
        let runner = &self.connection.runner;
        match runner.has(triggers, event, TriggerMoment::InsteadOf) {
            true => Ok(()),
            false => Err(no_trigger(&name.to_string(), triggers, event).into()),
        }
    }
}

/// What is said of a change of a view that fires no trigger.
pub(crate) fn no_trigger(view: &str, triggers: &TableTriggers, event: TriggerEvent) -> Refused {
    let name = event.name();
    let what = match triggers.of(event, TriggerMoment::InsteadOf).next() {
        Some(running) => format!(
            "the trigger {} of view {view} does not fire within itself, and the view has no records of its own",
            running.name
        ),
        None => format!("view {view} has triggers, and none INSTEAD OF {name}"),
    };
    Refused::new(ErrorCode::NoTriggerForEvent, what)
}
