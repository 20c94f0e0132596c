//! What follows from changes of a table's records: in other tables, where relations lead to them.

use std::fmt;

use super::TableEditor;
use crate::error::Result;
use crate::index::{End, Key};
use crate::transaction::TransactionLog;

/// A record that was changed.
#[derive(Debug, Clone, Copy)]
pub struct RecordChange<'a> {
    /// The record, counted from 1.
    pub record: u32,
    /// Its bytes before; `None` for a new one.
    pub before: Option<&'a [u8]>,
    /// Its bytes now; `None` for one that is deleted.
    pub after: Option<&'a [u8]>,
}

/// Who is told of every change of a table before it is final, and makes what follows from it, or refuses it.
pub trait Follower: fmt::Debug + Send {
    /// Does what follows from a change, which `table` has already. What it does to tables of the log of `table` is one with the change: an
    /// error takes back both.
    ///
    /// # Errors
    /// Why the change cannot be.
    fn follow(&mut self, table: &mut TableEditor, change: RecordChange<'_>) -> Result<()>;

    /// Closes what it has open.
    fn let_go(&mut self);
}

impl TableEditor {
    /// Tells who follows of every change from now on. The table then has to have a log. Default: nobody.
    pub fn set_follower(&mut self, follower: Option<Box<dyn Follower>>) {
        self.follower = follower;
    }

    /// Whether somebody follows.
    pub fn has_follower(&self) -> bool {
        self.follower.is_some()
    }

    /// The log that changes go through.
    pub fn log(&self) -> Option<&TransactionLog> {
        self.options.log.as_ref()
    }

    /// The records that have a key in an order, which has [`OrderKeys::key_len`](crate::OrderKeys::key_len) bytes, in the order of the index.
    ///
    /// # Errors
    /// As [`TableEditor::order`].
    pub fn records_of_key(&mut self, order: &str, key: &[u8]) -> Result<Vec<u32>> {
        let order = self.order(order)?;
        let mut cursor = order.order().cursor();
        let key = Key::raw(key);
        let mut records = Vec::new();
        let mut found = cursor.seek(&key, End::First, false)?;
        while found {
            records.extend(cursor.recno());
            found = cursor.go_next()? && cursor.is_at(&key);
        }
        Ok(records)
    }

    /// Does something, and what follows from it, in a transaction of their own, in which all tables share their locks.
    pub(super) fn as_transaction<T>(
        &mut self,
        log: &TransactionLog,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let transaction = log.begin()?;
        let done = work(self);
        let ended = match done {
            Ok(_) => transaction.commit(),
            Err(_) => transaction.rollback(),
        };
        if let Some(follower) = &mut self.follower {
            follower.let_go();
        }
        // The first error is returned.
        let done = done?;
        ended.map(|()| done)
    }

    /// Refuses a change that cannot be taken back when what follows from it fails.
    pub(super) fn can_be_followed(&self) -> Result<()> {
        match self.follower.is_some() && self.options.log.is_none() {
            false => Ok(()),
            true => Err(self.misuse("relations are kept in a transaction, and the table has no log")),
        }
    }

    /// Does what follows from a change. Records that are marked as deleted are none.
    pub(super) fn carry_on(&mut self, record: u32, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<()> {
        let Some(mut follower) = self.follower.take() else {
            return Ok(());
        };
        let dialect = self.header.dialect;
        let is_live = |bytes: &&[u8]| !dialect.is_deleted(bytes);
        let change = RecordChange {
            record,
            before: before.filter(is_live),
            after: after.filter(is_live),
        };
        let done = match change.before.is_none() && change.after.is_none() {
            true => Ok(()),
            false => follower.follow(self, change),
        };
        self.follower.get_or_insert(follower);
        done
    }
}
