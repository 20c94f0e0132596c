//! A table as a statement reads it: as its file has it, or with what this connection has changed.

use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::expression::Environment;
use tidemill_xbase::{Columns, Dialect, OpenOptions, Sharing, Table};

use super::surroundings::{FileState, is_read_only};
use super::{ConnectionTables, OpenTable, Orders};
use crate::TableType;
use crate::dictionary::Rights;
use crate::sql::error::Result;
use crate::sql::given::snapshot_of;
use crate::sql::statement::TableName;
use crate::sql::tables::Snapshot;

/// A table as it was read last, with the index that it had then.
///
/// Reading a few of its records needs no lock. If the files have not changed since they were opened, all records are of that state. If a
/// commit has changed one of them, the caller sees it, and waits until the commit has changed all.
#[derive(Debug)]
pub struct LastRead {
    snapshot: Arc<Snapshot>,
    index: Arc<FileState>,
}

impl LastRead {
    /// The table.
    pub(in crate::sql) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Whether the table and its index certainly are what they were, but for memos.
    pub(in crate::sql) fn is_still(&self) -> bool {
        self.snapshot.table().has_current_records().unwrap_or(false) && self.index.is_current()
    }
}

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

    /// A table as it was read last, where its files will tell whether it still was so afterwards.
    ///
    /// None where what is under way counts too, and where changes are counted: then the table need not be looked at.
    pub(super) fn last_read(&mut self, name: &TableName) -> Result<Option<LastRead>> {
        self.connection.check_process()?;
        if self.changes().is_some() || self.state().has_in_memory(name) {
            return Ok(None);
        }
        let path = self.path(name)?;
        self.connection.check_rights_at(&path, Rights::READ)?;
        if self.connection.linked_rights(&path).is_some() || self.has_more_than_its_file(&path) {
            return Ok(None);
        }
        let statements = &mut self.connection.statements;
        let Some(OpenTable {
            snapshot: Some(snapshot),
            index: Some(Some(index)),
            ..
        }) = statements.open.get(&path)
        else {
            return Ok(None);
        };
        let table = snapshot.table();
        if table.blank() != self.options.blanks || !index.is_at_rest() || !table.tells_changes_at_once() {
            return Ok(None);
        }
        statements.codepage = Some(table.codepage());
        Ok(Some(LastRead {
            snapshot: Arc::clone(snapshot),
            index: Arc::clone(index),
        }))
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
                let index = open
                    .index
                    .get_or_insert_with(|| FileState::of_index(snapshot.table()).map(Arc::new));
                let is_same = match index {
                    Some(index) => index.is_current(),
                    None => FileState::of_index(snapshot.table()).is_none(),
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
        let index = (orders == Orders::Asked).then(|| FileState::of_index(&table).map(Arc::new));
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use crate::sql::{Answer, Prepared, StatementOptions, Value};
    use crate::{Connection, Settings};

    /// Whether commits were kept out since this was asked last, in a connection that has one table open.
    fn kept_commits_out(connection: &mut Connection) -> bool {
        let mut open = connection.statements.open.values_mut();
        open.next().is_some_and(|open| open.gate.take().is_some())
    }

    fn looked_up(connection: &mut Connection, text: &str) -> usize {
        let (settings, options) = (Settings::default(), StatementOptions::default());
        let mut tables = connection.tables(&settings, &options);
        let prepared = Prepared::new(text, &mut tables).expect("a statement");
        let rows = prepared.look_up(&mut tables, &[Value::Integer(7)]).expect("an answer");
        rows.expect("a look-up").count()
    }

    fn run(connection: &mut Connection, text: &str) -> Answer {
        let (settings, options) = (Settings::default(), StatementOptions::default());
        let mut tables = connection.tables(&settings, &options);
        let prepared = Prepared::new(text, &mut tables).expect("a statement");
        prepared.run(&mut tables, &[]).expect("an answer")
    }

    #[test]
    fn nobody_waits_for_who_looks_a_record_up_or_opens_a_live_cursor() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = Connection::open(folder.path()).expect("a connection");
        let mut other = Connection::open(folder.path()).expect("a connection");
        for text in [
            "CREATE TABLE t ( id Integer )",
            "CREATE INDEX id ON t ( id )",
            "INSERT INTO t VALUES ( 7 )",
        ] {
            run(&mut other, text);
        }
        let look_up = "SELECT id FROM t WHERE id = ?";
        // So that the times of the files tell every change.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(looked_up(&mut connection, look_up), 1);
        assert!(
            kept_commits_out(&mut connection),
            "it was not known what the table holds"
        );
        assert_eq!(looked_up(&mut connection, look_up), 1);
        assert!(!kept_commits_out(&mut connection));
        run(&mut other, "INSERT INTO t VALUES ( 7 )");
        assert_eq!(looked_up(&mut connection, look_up), 2);
        assert!(kept_commits_out(&mut connection), "another has changed the table");

        assert!(matches!(
            run(&mut connection, "SELECT id FROM t WHERE id = 7"),
            Answer::Live(_)
        ));
        assert!(!kept_commits_out(&mut connection));
        run(&mut connection, "SELECT COUNT(*) FROM t");
        assert!(kept_commits_out(&mut connection));
    }
}
