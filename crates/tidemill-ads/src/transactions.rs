//! Transactions of a connection: over all its tables, with named savepoints, and what a crash left behind.
//!
//! The log lies in the folders of the tables that it changes, from the first commit there to the end of the connection. While a
//! transaction is under way every table of the connection goes through it; otherwise changes go straight to the files. A log
//! that a dead process left is worked off, and removed, when a table that it names is to be changed; who reads one is told.

use std::path::Path;

use tidemill_xbase::{Durability, LogOptions, Savepoint, Transaction, TransactionLog, recover_table};

use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// How deep transactions nest.
const MAX_DEPTH: usize = 1000;

/// The log of a connection, and the open transaction in it.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    log: Option<TransactionLog>,
    current: Option<Current>,
    /// Whether somebody else has begun it, and ends it.
    is_joined: bool,
}

/// An open transaction, with those that are nested in it: they only count how deep it is ("Nesting Transactions" in the help of ADS).
#[derive(Debug)]
struct Current {
    transaction: Transaction,
    savepoints: Vec<(String, Savepoint)>,
    /// How many savepoints there were when each nested transaction began. Only those of the innermost can be named.
    nested: Vec<usize>,
}

impl Current {
    /// The place of the newest savepoint of a name in the innermost transaction.
    fn savepoint_named(&self, name: &str) -> Result<usize> {
        let outer = self.nested.last().copied().unwrap_or(0);
        let own = self.savepoints.get(outer..).unwrap_or_default();
        match own.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(at) => Ok(outer + at),
            None => Err(Error::new(
                ErrorCode::NotFound,
                format!("no savepoint is called {name:?}"),
            )),
        }
    }

    /// Forgets savepoints from a place on; what was changed since stays.
    fn forget(&mut self, from: usize) -> Result<()> {
        let first = self.savepoints.get(from).map(|(_, savepoint)| *savepoint);
        self.savepoints.truncate(from);
        match first {
            Some(savepoint) => Ok(self.transaction.release(savepoint)?),
            None => Ok(()),
        }
    }
}

impl Transactions {
    /// Takes part in the transaction that is under way in a log.
    ///
    /// # Errors
    /// As [`TransactionLog::join`].
    pub(crate) fn joined(log: &TransactionLog) -> Result<Self> {
        let current = Current {
            transaction: log.join()?,
            savepoints: Vec::new(),
            nested: Vec::new(),
        };
        Ok(Self {
            log: Some(log.clone()),
            current: Some(current),
            is_joined: true,
        })
    }

    fn check_own(&self) -> Result<()> {
        match self.is_joined {
            true => Err(Error::new(
                ErrorCode::IllegalCommandDuringTransaction,
                "what a trigger does belongs to the transaction of what fired it: it begins and ends none",
            )),
            false => Ok(()),
        }
    }

    /// The log that tables go through now.
    pub(crate) fn log(&self) -> Option<&TransactionLog> {
        self.log.as_ref().filter(|_| self.current.is_some())
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.current.is_some()
    }

    /// The transaction of the program that is under way.
    pub(crate) fn current(&mut self) -> Option<&mut Transaction> {
        self.current.as_mut().map(|current| &mut current.transaction)
    }

    /// How many transactions are nested, the outermost counted; 0 without one.
    pub(crate) fn depth(&self) -> usize {
        self.current.as_ref().map_or(0, |current| current.nested.len() + 1)
    }

    /// Takes back what is under way, and closes the log.
    ///
    /// # Errors
    /// As [`TransactionLog::close`].
    pub(crate) fn end(&mut self) -> Result<()> {
        let mut ending = std::mem::take(self);
        ending.current = None;
        match &ending.log {
            Some(log) if !ending.is_joined => Ok(log.close()?),
            _ => Ok(()),
        }
    }

    /// The log, which is made where there is none yet; it has no file before the first commit.
    pub(crate) fn opened(&mut self, settings: &Settings, durability: Durability) -> TransactionLog {
        let options = LogOptions::new()
            .lock_timeout(settings.lock_timeout)
            .durability(durability);
        let made = || TransactionLog::beside_tables(&options);
        self.log.get_or_insert_with(made).clone()
    }
}

impl Drop for Transactions {
    fn drop(&mut self) {
        // Before the log, which is closed with its last handle.
        self.current = None;
    }
}

impl Connection {
    /// Whether each update of a record is brought to the disk at once, in all tables of the connection; in a transaction, at its end.
    /// Default: false.
    pub fn sync_updates(&mut self, syncs: bool) {
        self.syncs_updates = syncs;
        for (_, area) in &mut self.areas {
            area.syncs_updates = syncs;
        }
    }

    /// Whether each update is written to the disk at once.
    pub fn syncs_updates(&self) -> bool {
        self.syncs_updates
    }

    /// Brings a table that is about to be changed to what processes that died had committed. Logs of other folders are looked
    /// for below the connection's folder.
    ///
    /// # Errors
    /// As [`recover_table`]; [`ErrorCode::TableReadOnly`] for a table of the connection's data dictionary.
    pub(crate) fn ready_to_write(&self, table: &Path) -> Result<()> {
        if let Some(dictionary) = &self.dictionary {
            dictionary.check_change(table)?;
        }
        recover_table(table, Some(self.folder()))?;
        Ok(())
    }

    /// Begins a transaction: what the tables of this connection are changed by from now on belongs to it. Within another it only
    /// counts: the commit of the outermost is the one that keeps what was done, and a rollback takes back all of it.
    ///
    /// # Errors
    /// When a record that waits cannot be written, or a table that is open cannot be in a transaction;
    /// [`ErrorCode::TransactionOutOfSequence`] for more than 1000 within each other.
    pub fn begin_transaction(&mut self, settings: &Settings) -> Result<()> {
        self.check_process()?;
        self.transactions.check_own()?;
        if let Some(current) = &mut self.transactions.current {
            if current.nested.len() >= MAX_DEPTH {
                let why = format!("transactions nest more than {MAX_DEPTH} deep");
                return Err(Error::new(ErrorCode::TransactionOutOfSequence, why));
            }
            current.nested.push(current.savepoints.len());
            return Ok(());
        }
        let log = self.transactions.opened(settings, Durability::Commit);
        for (_, area) in &mut self.areas {
            area.write_record()?;
        }
        let taken = self.areas.iter_mut().try_for_each(|(_, area)| area.use_log(Some(&log)));
        match taken.and_then(|()| Ok(log.begin()?)) {
            Ok(transaction) => {
                self.transactions.current = Some(Current {
                    transaction,
                    savepoints: Vec::new(),
                    nested: Vec::new(),
                });
                Ok(())
            }
            Err(error) => self.lay_log_down().and(Err(error)),
        }
    }

    /// Brings what the transaction changed to the disk, and into the tables. The end of one within another forgets its savepoints, and
    /// nothing is written yet.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction; when it cannot be written, and nothing of it is in the
    /// tables then.
    pub fn commit_transaction(&mut self) -> Result<()> {
        self.check_process()?;
        self.transactions.check_own()?;
        let Some(current) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is open"));
        };
        if let Some(first) = current.nested.pop() {
            return current.forget(first);
        }
        self.statements.let_commits_in();
        for (_, area) in &mut self.areas {
            area.write_record()?;
        }
        let committed = match self.transactions.current.take() {
            Some(current) => current.transaction.commit(),
            None => Ok(()),
        };
        if committed.is_err() {
            self.read_anew()?;
        }
        self.statements.close_editors();
        let laid_down = self.lay_log_down();
        committed?;
        self.events.let_out();
        laid_down
    }

    /// Takes back what the transaction changed, also what waits to be written, and those around it with it.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction.
    pub fn rollback_transaction(&mut self) -> Result<()> {
        self.check_process()?;
        self.transactions.check_own()?;
        let Some(Current { transaction, .. }) = self.transactions.current.take() else {
            return Err(out_of_sequence("no transaction is open"));
        };
        self.events.forget();
        for (_, area) in &mut self.areas {
            area.cancel_changes()?;
        }
        let rolled_back = transaction.rollback();
        self.statements.close_editors();
        let laid_down = self.lay_log_down();
        rolled_back?;
        laid_down?;
        self.read_anew()
    }

    /// Sets a point that [`Connection::rollback_to_savepoint`] goes back to. A name that is used again means the newer point.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction.
    pub fn create_savepoint(&mut self, name: &str) -> Result<()> {
        for (_, area) in &mut self.areas {
            area.write_record()?;
        }
        let Some(current) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is open"));
        };
        let savepoint = current.transaction.savepoint()?;
        current.savepoints.push((name.to_owned(), savepoint));
        Ok(())
    }

    /// Takes back what was changed since a savepoint, which stays.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction; [`ErrorCode::NotFound`] for a name that no savepoint of the
    /// innermost transaction has.
    pub fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        let Some(current) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is open"));
        };
        let at = current.savepoint_named(name)?;
        current.savepoints.truncate(at + 1);
        for (_, area) in &mut self.areas {
            area.cancel_changes()?;
        }
        if let Some((_, savepoint)) = current.savepoints.last() {
            current.transaction.rollback_to(*savepoint)?;
        }
        self.read_anew()
    }

    /// Forgets a savepoint and those behind it; what was changed since stays.
    ///
    /// # Errors
    /// As [`Connection::rollback_to_savepoint`].
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let Some(current) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is open"));
        };
        let at = current.savepoint_named(name)?;
        current.forget(at)
    }

    /// Takes back the open transaction, if there is one, and removes the log: for who disconnects.
    ///
    /// # Errors
    /// As [`Connection::rollback_transaction`] and [`TransactionLog::close`].
    pub fn end_transactions(&mut self) -> Result<()> {
        self.check_process()?;
        let ended = match self.transactions.is_under_way() {
            true => self.rollback_transaction(),
            false => Ok(()),
        };
        // The first error is returned.
        ended.and(self.statements.end()).and(self.transactions.end())
    }

    /// Whether a transaction is under way.
    pub fn is_in_transaction(&self) -> bool {
        self.transactions.is_under_way()
    }

    /// How many transactions are within each other: 0 when none is under way, 1 where it has none within it.
    pub fn transaction_count(&self) -> usize {
        self.transactions.depth()
    }

    fn lay_log_down(&mut self) -> Result<()> {
        self.areas.iter_mut().try_for_each(|(_, area)| area.use_log(None))
    }

    /// After changes were taken back every area looks again what its table holds.
    pub(crate) fn read_anew(&mut self) -> Result<()> {
        self.areas.iter_mut().try_for_each(|(_, area)| area.read_anew())
    }

    /// What cannot be taken back is not done in a transaction.
    pub(crate) fn outside_of_transactions(&self, what: &str) -> Result<()> {
        match self.transactions.is_under_way() {
            true => Err(Error::new(
                ErrorCode::IllegalCommandDuringTransaction,
                format!("{what} cannot be rolled back, and a transaction is open"),
            )),
            false => Ok(()),
        }
    }
}

fn out_of_sequence(what: &str) -> Error {
    Error::new(ErrorCode::TransactionOutOfSequence, what)
}
