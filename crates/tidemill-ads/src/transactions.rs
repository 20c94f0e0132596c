//! Transactions of a connection: over all its tables, with named savepoints, and what a crash left behind.
//!
//! The log is a file in the connection's folder that is there from the first transaction to the end of the connection. While a
//! transaction is under way every table of the connection goes through it; otherwise changes go straight to the files. A log
//! that a dead process left is worked off, and removed, when a connection to the folder is opened.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tidemill_xbase::{Durability, LogOptions, Savepoint, Transaction, TransactionLog};

use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// The log of a connection, and the transaction that is under way in it.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    log: Option<TransactionLog>,
    current: Option<(Transaction, Vec<(String, Savepoint)>)>,
}

/// What the names of logs begin and end with.
const NAME: (&str, &str) = ("tidemill-", ".tmlog");

/// The number of the next log of this process.
static NUMBER: AtomicU64 = AtomicU64::new(1);

impl Transactions {
    /// Works off the logs that dead processes left in a folder, and removes them.
    ///
    /// # Errors
    /// As [`TransactionLog::open`]; a log that a living process has is left alone.
    pub(crate) fn recover(folder: &Path) -> Result<usize> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Ok(0);
        };
        let mut recovered = 0;
        for entry in entries.filter_map(|entry| entry.ok()) {
            let is_log = entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1));
            if !is_log {
                continue;
            }
            match TransactionLog::open(entry.path(), &LogOptions::new().lock_timeout(std::time::Duration::ZERO)) {
                Ok(log) => {
                    recovered += log.recovered();
                    remove(&log)?;
                }
                Err(tidemill_xbase::Error::Locked(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(recovered)
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
        self.current.as_mut().map(|(transaction, _)| transaction)
    }

    /// The log, which is made where there is none yet.
    pub(crate) fn opened(
        &mut self,
        folder: &Path,
        settings: &Settings,
        durability: Durability,
    ) -> Result<TransactionLog> {
        if let Some(log) = &self.log {
            return Ok(log.clone());
        }
        let log = TransactionLog::open(
            name(folder),
            &LogOptions::new()
                .lock_timeout(settings.lock_timeout)
                .durability(durability),
        )?;
        self.log = Some(log.clone());
        Ok(log)
    }
}

impl Drop for Transactions {
    fn drop(&mut self) {
        self.current = None;
        if let Some(log) = self.log.take() {
            // What is left is worked off by the next connection.
            let _ = remove(&log);
        }
    }
}

fn name(folder: &Path) -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{}{}-{number}{}", NAME.0, std::process::id(), NAME.1))
}

/// Removes a log that has nothing left to write. It is still locked while it is removed.
fn remove(log: &TransactionLog) -> Result<()> {
    log.checkpoint()?;
    std::fs::remove_file(log.path()).map_err(|error| {
        Error::new(
            ErrorCode::FileError,
            format!("cannot remove {}: {error}", log.path().display()),
        )
    })
}

impl Connection {
    /// Begins a transaction: what the tables of this connection are changed by from now on belongs to it.
    ///
    /// # Errors
    /// [`ErrorCode::TransactionOutOfSequence`] when one is under way; when a record that waits cannot be written, or the log
    /// cannot be made.
    pub fn begin_transaction(&mut self, settings: &Settings) -> Result<()> {
        if self.transactions.is_under_way() {
            return Err(out_of_sequence("a transaction is under way already"));
        }
        let folder = self.folder().to_owned();
        let log = self.transactions.opened(&folder, settings, Durability::Commit)?;
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
