//! What the statements of a connection have open: closed, kept and forgotten.

use std::path::Path;

use super::StatementTables;
use crate::sql::statement::TableName;
use crate::{Settings, TableOptions, TableType, WorkArea};

impl StatementTables {
    /// Names may mean other tables from now on.
    pub(crate) fn forget_names(&mut self) {
        self.found.clear();
        self.known.clear();
        self.functions = None;
        self.close_all();
    }

    /// Whether a name is that of a table in memory now.
    pub(super) fn has_in_memory(&mut self, name: &TableName) -> bool {
        self.given.get(name).is_some() || self.shown.has(name)
    }

    pub(crate) fn has_view(&self, name: &str) -> bool {
        self.views.contains_key(&name.to_ascii_lowercase())
    }

    /// Closes what is open for changes, once nothing is under way.
    pub(crate) fn close_editors(&mut self) {
        self.made.clear();
        for open in self.open.values_mut() {
            (open.editor, open.is_changed) = (None, false);
        }
    }

    /// Writes what waits, and closes everything that is open, for who takes part in the transaction of somebody else.
    pub(crate) fn lay_down(&mut self) -> crate::Result<()> {
        let mut editors = self.open.values_mut().filter_map(|open| open.editor.as_mut());
        let flushed = editors.try_for_each(|editor| Ok(editor.flush()?));
        self.let_commits_in();
        self.point = None;
        self.close_editors();
        self.close_all();
        flushed
    }

    /// Closes what is open for changes, and the log of statements: for who disconnects.
    ///
    /// # Errors
    /// As [`TransactionLog::close`](tidemill_xbase::TransactionLog::close).
    pub(crate) fn end(&mut self) -> crate::Result<()> {
        self.close_editors();
        self.own.end()
    }

    /// Closes what statements have open, but for what is under way.
    pub(crate) fn close_all(&mut self) {
        self.open.retain(|_, open| open.editor.is_some());
        self.close_cached_cursors();
    }

    /// Closes a table, for who wants it alone.
    pub(crate) fn close(&mut self, path: &Path) {
        self.open.remove(path);
        self.cursors.retain(|area| area.path() != path);
    }

    /// Forgets which tables were read. As in ACE, a statement that makes or changes tables, or ends with a semicolon, closes the
    /// cursors that are kept.
    pub(crate) fn begin_run(&mut self, text: &str, settings: &Settings) {
        (self.codepage, self.run_autoincrement) = (None, None);
        self.runs += 1;
        self.cached_cursors = settings.cached_cursors;
        let begins_with = |word: &str| {
            let begin = text.trim_start().get(..word.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        };
        if ["CREATE", "ALTER", "DROP"].into_iter().any(begins_with) || text.trim_end().ends_with(';') {
            self.close_cached_cursors();
        }
    }

    /// Keeps a cursor that a program has closed.
    pub(crate) fn rest(&mut self, mut area: Box<WorkArea>) {
        if self.cached_cursors > 0 && area.rest().unwrap_or(false) {
            let beyond = (self.cursors.len() + 1).saturating_sub(self.cached_cursors);
            self.cursors.drain(..beyond.min(self.cursors.len()));
            self.cursors.push(area);
        }
    }

    /// A cursor over a table that was closed before.
    pub(crate) fn cached(&mut self, path: &Path, options: &TableOptions) -> Option<Box<WorkArea>> {
        let is_it = |area: &WorkArea| {
            let wanted = TableOptions {
                table_type: area.options().table_type,
                ..options.clone()
            };
            let is_type = area.is_adt()
                || options.table_type == TableType::Adt
                || area.options().table_type == options.table_type;
            area.path() == path && is_type && *area.options() == wanted
        };
        let at = self.cursors.iter().rposition(|area| is_it(area))?;
        Some(self.cursors.remove(at))
    }

    /// Closes the cursors that are kept.
    pub(crate) fn close_cached_cursors(&mut self) {
        self.cursors.clear();
    }
}
