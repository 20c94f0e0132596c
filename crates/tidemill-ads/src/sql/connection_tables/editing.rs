//! A table that statements change: through the work area that has it open, or an editor beside others.

use std::path::Path;

use tidemill_xbase::{OpenMode, TableEditor};

use super::ConnectionTables;
use super::surroundings::read_only;
use crate::progress::Work;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::statement::TableName;
use crate::work_area::open_editor;
use crate::{TableOptions, WorkArea};

impl ConnectionTables<'_> {
    /// The work area that a table is changed through.
    pub(super) fn area_to_change(&mut self, path: &Path) -> Option<&mut WorkArea> {
        let mut areas = self.connection.areas.iter_mut().map(|(_, area)| &mut **area);
        areas.find(|area| area.path() == path && area.options().mode != OpenMode::ReadOnly)
    }

    /// A table to change: that of a work area, where one has it open.
    pub(super) fn editor_of(&mut self, name: &TableName) -> Result<&mut TableEditor> {
        self.connection.check_process()?;
        if self.connection.statements.given.get(name).is_some() {
            let missing = || Error::new(Kind::Engine, "a table is given no more");
            return self.connection.statements.given.get(name).ok_or_else(missing);
        }
        if self.connection.statements.shown.has(name) {
            let missing = || Error::new(Kind::Engine, "a view is shown no more");
            return self.connection.statements.shown.get(name).ok_or_else(missing);
        }
        let path = self.path(name)?;
        if self.area_to_change(&path).is_none() {
            return self.own_editor(name, &path);
        }
        let log = match self.connection.statements.statement.is_some() {
            true => Some(self.log()),
            false => None,
        };
        let missing = || Error::new(Kind::Engine, "a table is open no more");
        let area = self.area_to_change(&path).ok_or_else(missing)?;
        if let Some(log) = log.filter(|_| !area.has_log()) {
            area.write_record()?;
            area.use_log(Some(&log))?;
        }
        Ok(area.editor()?)
    }

    pub(super) fn own_editor(&mut self, name: &TableName, path: &Path) -> Result<&mut TableEditor> {
        let is_open = self
            .connection
            .statements
            .open
            .get(path)
            .is_some_and(|open| open.editor.is_some());
        if !is_open {
            self.connection.renew_dictionary()?;
            self.connection.ready_to_write(path)?;
            let log = self.log();
            let shared = TableOptions {
                mode: OpenMode::Shared,
                ..self.options.table.clone()
            };
            let opened = open_editor(
                path,
                &shared,
                self.settings,
                (self.open_options(path), &Work::default()),
                Some(&log),
            );
            let mut editor = self.opened_file(name, opened.map_err(|error| read_only(path, error)))?;
            self.connection.open_indexes_of(&mut editor)?;
            self.connection.hold_to_rules(&mut editor, self.settings)?;
            editor.reuse_deleted(self.options.reuses_deleted);
            self.state().open.entry(path.into()).or_default().editor = Some(editor);
        }
        let open = self.connection.statements.open.get_mut(path);
        let missing = || Error::new(Kind::Engine, "a table is open no more");
        open.and_then(|open| open.editor.as_mut()).ok_or_else(missing)
    }
}
