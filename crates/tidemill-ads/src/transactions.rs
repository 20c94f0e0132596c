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

/// The log of a connection, and the transaction that is under way in it.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    log: Option<TransactionLog>,
    current: Option<(Transaction, Vec<(String, Savepoint)>)>,
}

impl Transactions {
    /// The log that tables go through now.
    pub(crate) fn log(&self) -> Option<&TransactionLog> {
        self.log.as_ref().filter(|_| self.current.is_some())
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.current.is_some()
    }

    /// The transaction of the program that is under way.
    pub(crate) fn current(&mut self) -> Option<&mut Transaction> {
        self.current.as_mut().map(|(transaction, _)| transaction)
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
    /// Brings a table that is about to be changed to what processes that died had committed. Logs of other folders are looked
    /// for below the connection's folder.
    ///
    /// # Errors
    /// As [`recover_table`].
    pub(crate) fn ready_to_write(&self, table: &Path) -> Result<()> {
        recover_table(table, Some(self.folder()))?;
        Ok(())
    }

    /// Begins a transaction: what the tables of this connection are changed by from now on belongs to it.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] when one is under way; when a record that waits cannot be written, or a
    /// table that is open cannot be in one.
    pub fn begin_transaction(&mut self, settings: &Settings) -> Result<()> {
        if self.transactions.is_under_way() {
            return Err(out_of_sequence("a transaction is under way already"));
        }
        let log = self.transactions.opened(settings, Durability::Commit);
        for (_, area) in &mut self.areas {
            area.write_record()?;
        }
        let taken = self.areas.iter_mut().try_for_each(|(_, area)| area.use_log(Some(&log)));
        match taken.and_then(|()| Ok(log.begin()?)) {
            Ok(transaction) => {
                self.transactions.current = Some((transaction, Vec::new()));
                Ok(())
            }
            Err(error) => self.lay_log_down().and(Err(error)),
        }
    }

    /// Brings what the transaction changed to the disk, and into the tables.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction; when it cannot be written, and nothing of it is in the
    /// tables then.
    pub fn commit_transaction(&mut self) -> Result<()> {
        if !self.transactions.is_under_way() {
            return Err(out_of_sequence("no transaction is under way"));
        }
        for (_, area) in &mut self.areas {
            area.write_record()?;
        }
        let committed = match self.transactions.current.take() {
            Some((transaction, _)) => transaction.commit(),
            None => Ok(()),
        };
        if committed.is_err() {
            self.read_anew()?;
        }
        self.statements.close_editors();
        let laid_down = self.lay_log_down();
        committed?;
        laid_down
    }

    /// Takes back what the transaction changed, also what waits to be written.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction.
    pub fn rollback_transaction(&mut self) -> Result<()> {
        let Some((transaction, _)) = self.transactions.current.take() else {
            return Err(out_of_sequence("no transaction is under way"));
        };
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
        let Some((transaction, savepoints)) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is under way"));
        };
        savepoints.push((name.to_owned(), transaction.savepoint()?));
        Ok(())
    }

    /// Takes back what was changed since a savepoint, which stays.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] without a transaction; [`ErrorCode::NotFound`] for a name that no savepoint has.
    pub fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.savepoint_named(name)?;
        let Some((transaction, savepoints)) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is under way"));
        };
        savepoints.truncate(at + 1);
        for (_, area) in &mut self.areas {
            area.cancel_changes()?;
        }
        if let Some((_, savepoint)) = savepoints.last() {
            transaction.rollback_to(*savepoint)?;
        }
        self.read_anew()
    }

    /// Forgets a savepoint and those behind it; what was changed since stays.
    ///
    /// # Errors
    /// As [`Connection::rollback_to_savepoint`].
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.savepoint_named(name)?;
        let Some((transaction, savepoints)) = &mut self.transactions.current else {
            return Err(out_of_sequence("no transaction is under way"));
        };
        let released = savepoints.get(at).map(|(_, savepoint)| *savepoint);
        savepoints.truncate(at);
        match released {
            Some(savepoint) => Ok(transaction.release(savepoint)?),
            None => Ok(()),
        }
    }

    /// The place of the newest savepoint of a name.
    fn savepoint_named(&self, name: &str) -> Result<usize> {
        let Some((_, savepoints)) = &self.transactions.current else {
            return Err(out_of_sequence("no transaction is under way"));
        };
        let found = savepoints
            .iter()
            .rposition(|(known, _)| known.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no savepoint is called {name:?}")))
    }

    /// Takes back the transaction that is under way, if there is one, and removes the log: for who disconnects.
    ///
    /// # Errors
    /// As [`Connection::rollback_transaction`].
    pub fn end_transactions(&mut self) -> Result<()> {
        let ended = match self.transactions.is_under_way() {
            true => self.rollback_transaction(),
            false => Ok(()),
        };
        self.statements.end();
        self.transactions = Transactions::default();
        ended
    }

    /// Whether a transaction is under way.
    pub fn is_in_transaction(&self) -> bool {
        self.transactions.is_under_way()
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
                format!("{what} cannot be rolled back, and a transaction is under way"),
            )),
            false => Ok(()),
        }
    }
}

fn out_of_sequence(what: &str) -> Error {
    Error::new(ErrorCode::TransactionOutOfSequence, what)
}
