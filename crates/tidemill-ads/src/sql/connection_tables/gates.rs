//! Which tables commits are kept out of while a statement reads.
//!
//! A commit waits for a statement, and a statement for a commit that is being written, so that a statement sees all of it or nothing
//! ([`CommitGate`]). The gate of a table is held from the first look at it to the end of the statement. It is opened before this
//! connection locks, changes or commits something: the owner of a lock may itself be waiting for the gate.

use std::path::Path;
use std::time::Duration;

use tidemill_xbase::CommitGate;

use super::{ConnectionTables, OpenTable, StatementTables};
use crate::sql::error::Result;

/// How long a commit of others is waited for that is being written.
const COMMITS_WITHIN: Duration = Duration::from_secs(5);
/// The same, while they wait for this read.
const MEANWHILE: Duration = Duration::from_millis(50);

impl StatementTables {
    pub(super) fn begin_reading(&mut self) {
        self.reads += 1;
    }

    pub(super) fn end_reading(&mut self) {
        self.reads = self.reads.saturating_sub(1);
        if self.reads == 0 {
            self.let_commits_in();
        }
    }

    /// Lets commits into all tables again: before one of this connection, and at the end of a read.
    pub(crate) fn let_commits_in(&mut self) {
        let gates = self.open.values_mut().filter_map(|open| open.gate.as_mut());
        gates.for_each(CommitGate::let_go);
    }
}

impl ConnectionTables<'_> {
    /// Keeps commits out of a table that is read, from now to the end of the read.
    pub(super) fn hold(&mut self, path: &Path) -> Result<()> {
        let statements = &mut self.connection.statements;
        if statements.reads == 0 {
            return Ok(());
        }
        // Who has the gate of a table and waits for that of another may wait for a commit that waits for him.
        let is_first = !statements.open.values().any(OpenTable::is_held);
        let wait = if is_first { COMMITS_WITHIN } else { MEANWHILE };
        if statements.open.get(path).is_none_or(|open| open.gate.is_none()) {
            // What is wrong with the file is told by who reads it.
            let Ok(gate) = CommitGate::of(path) else { return Ok(()) };
            statements.open.entry(path.into()).or_default().gate = Some(gate);
        }
        let Some(gate) = statements.open.get_mut(path).and_then(|open| open.gate.as_mut()) else {
            return Ok(());
        };
        match gate.hold(wait) {
            Err(tidemill_xbase::Error::Locked(_)) if !is_first => Ok(()),
            held => Ok(held?),
        }
    }

    /// As [`ConnectionTables::hold`], of the file that is there now.
    pub(super) fn hold_anew(&mut self, path: &Path) -> Result<()> {
        let statements = &mut self.connection.statements;
        if let Some(open) = statements.open.get_mut(path)
            && open.gate.as_ref().is_some_and(|gate| !gate.is_at(path))
        {
            open.gate = None;
        }
        self.hold(path)
    }
}

impl OpenTable {
    fn is_held(&self) -> bool {
        self.gate.as_ref().is_some_and(CommitGate::is_held)
    }
}
