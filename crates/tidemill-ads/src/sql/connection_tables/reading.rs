//! A table as a statement reads it: as its file has it, or with what this connection has changed.

use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::expression::Environment;
use tidemill_xbase::{Columns, Dialect, OpenOptions, Sharing, Table};

use super::surroundings::{index_state, is_read_only, state_of};
use super::{ConnectionTables, Orders};
use crate::TableType;
use crate::dictionary::Rights;
use crate::sql::error::Result;
use crate::sql::given::snapshot_of;
use crate::sql::statement::TableName;
use crate::sql::tables::Snapshot;

impl ConnectionTables<'_> {
    /// A table as it is for this connection.
    pub(super) fn snapshot_with(&mut self, name: &TableName, orders: Orders) -> Result<Arc<Snapshot>> {
        self.connection.check_process()?;
        let (blanks, cache) = (self.options.blanks, Arc::clone(&self.connection.statements.cache));
        if let Some(given) = self.connection.statements.given.get(name) {
            return snapshot_of(given, &OpenOptions::new().blank(blanks), &cache);
        }
        if let Some(shown) = self.connection.statements.shown.get(name) {
            return snapshot_of(shown, &OpenOptions::new().blank(blanks), &cache);
        }
        let path = self.path(name)?;
        self.connection.check_rights_at(&path, Rights::READ)?;
        let is_linked = self.connection.linked_rights(&path).is_some();
        let snapshot = match !is_linked && self.has_more_than_its_file(&path) {
            true => self.uncommitted(name, &path),
            false => self.committed(name, &path, orders),
        }?;
        self.state().codepage = Some(snapshot.table().codepage());
        Ok(snapshot)
    }

    /// A table as the file has it.
    fn committed(&mut self, name: &TableName, path: &Path, orders: Orders) -> Result<Arc<Snapshot>> {
        // Changes are counted before the files are looked at, so that one meanwhile is noticed.
        let changes = self.changes();
        self.hold(path)?;
        if let Some(open) = self.connection.statements.open.get_mut(path)
            && let Some(snapshot) = &open.snapshot
            && snapshot.table().blank() == self.options.blanks
        {
            if changes.is_some() && changes == open.seen {
                return Ok(Arc::clone(snapshot));
            }
            if snapshot.table().is_current().unwrap_or(false) {
                if orders == Orders::Unasked {
                    return Ok(Arc::clone(snapshot));
                }
                let index = open.index.get_or_insert_with(|| index_state(snapshot.table()));
                let is_same = match index {
                    Some((path, state)) => *state == state_of(path),
                    None => index_state(snapshot.table()).is_none(),
                };
                if is_same {
                    open.seen = changes;
                    return Ok(Arc::clone(snapshot));
                }
            }
        }
        self.hold_anew(path)?;
        let opened = Table::open(path, &self.read_options(path));
        let table = Arc::new(self.opened_file(name, opened.map_err(crate::Error::from))?);
        self.state()
            .cursors
            .retain(|area| area.path() != path || area.is_at_its_path());
        let index = (orders == Orders::Asked).then(|| index_state(&table));
        let has_index = self.options.table.table_type != TableType::Ntx || table.header().dialect == Dialect::Adt;
        let environment = Environment::with_all_letters(table.codepage());
        let columns = Columns::new(&table, &self.connection.statements.cache, Sharing::Shared)?;
        let snapshot = Arc::new(Snapshot::new(columns, has_index, environment));
        let seen = changes.filter(|changes| index.is_some() && self.changes() == Some(*changes));
        let open = self.state().open.entry(path.into()).or_default();
        (open.snapshot, open.index, open.seen) = (Some(Arc::clone(&snapshot)), index, seen);
        Ok(snapshot)
    }

    /// A table with what is under way, and what its work area has not yet written.
    fn uncommitted(&mut self, name: &TableName, path: &Path) -> Result<Arc<Snapshot>> {
        let (options, cache) = (self.read_options(path), Arc::clone(&self.connection.statements.cache));
        let area = self.connection.areas.iter_mut().find(|(_, area)| area.path() == path);
        let editor = match area {
            Some((_, area)) => area.editor_to_read(),
            None if is_read_only(path) => return self.committed(name, path, Orders::Asked),
            None => self.own_editor(name, path)?,
        };
        editor.refresh()?;
        let table = Arc::new(editor.table_with(&options)?);
        let (mut orders, mut words) = (Vec::new(), Vec::new());
        // Those of Advantage whose words are not made here are not asked.
        let known = editor
            .orders()
            .filter(|tag| !tag.is_full_text || tag.full_text.is_some());
        let names: Vec<(String, bool)> = known.map(|tag| (tag.name.clone(), tag.is_full_text)).collect();
        for (name, is_full_text) in names {
            let order = editor.order(&name)?;
            if is_full_text { &mut words } else { &mut orders }.push(order);
        }
        let environment = Environment::with_all_letters(table.codepage());
        let columns = Columns::new(&table, &cache, Sharing::Shared)?;
        Ok(Arc::new(
            Snapshot::new(columns, false, environment).with_orders(orders, words),
        ))
    }
}
