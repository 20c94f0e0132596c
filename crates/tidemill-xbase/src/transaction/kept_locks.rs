//! The locks of a file that a transaction may hold on to, and the order in which it may wait for them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::TransactionLog;
use crate::error::Result;
use crate::lock::{FileIdentity, FileLocks, LockKind, LockRange, LockSubject};

/// The byte-range locks of one file that is open for changes; dropping it gives them back, at the end of a transaction if
/// one is under way.
#[derive(Debug)]
pub(crate) struct KeptLocks {
    held: Arc<HeldLocks>,
    log: Option<TransactionLog>,
}

/// What is locked now.
#[derive(Debug)]
pub(crate) struct HeldLocks {
    locks: FileLocks,
    table: FileIdentity,
    ranges: Mutex<HashMap<LockSubject, Held>>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    range: LockRange,
    kind: LockKind,
    /// Whether the end of the transaction gives it back.
    kept: bool,
}

/// Where a lock stands in the order that is the same in every process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockOrder {
    table: FileIdentity,
    rank: (u8, u32),
    /// Several index files of a table stand in the order of their names.
    name: Option<OsString>,
}

impl KeptLocks {
    /// The locks of a table.
    pub(crate) fn of_table(locks: FileLocks, log: Option<&TransactionLog>) -> Self {
        let table = locks.identity().clone();
        Self::of_companion(locks, table, log)
    }

    /// The locks of a memo or index file of the table.
    pub(crate) fn of_companion(locks: FileLocks, table: FileIdentity, log: Option<&TransactionLog>) -> Self {
        let held = Arc::new(HeldLocks {
            locks,
            table,
            ranges: Mutex::default(),
        });
        if let Some(log) = log {
            log.state().remember_locks(&held);
        }
        Self {
            held,
            log: log.cloned(),
        }
    }

    /// Lets a log's transactions keep the locks, or none.
    pub(crate) fn use_log(&mut self, log: Option<&TransactionLog>) {
        if let Some(log) = log {
            log.state().remember_locks(&self.held);
            if log.is_under_way() {
                self.held.give_to(log.owner());
            }
        }
        self.log = log.cloned();
    }

    /// The table that the file belongs to.
    pub(crate) fn table(&self) -> &FileIdentity {
        &self.held.table
    }

    pub(crate) fn holds(&self, subject: LockSubject) -> bool {
        self.held.ranges().contains_key(&subject)
    }

    /// The numbers of the records that are locked, in no order.
    pub(crate) fn records(&self) -> Vec<u32> {
        let ranges = self.held.ranges();
        let records = ranges.keys().filter_map(|subject| match subject {
            LockSubject::Record(record) => Some(*record),
            _ => None,
        });
        records.collect()
    }

    /// Takes a lock, which a transaction holds to its end. One that is held already stays as it is, or becomes exclusive.
    ///
    /// # Errors
    /// [`Error::Locked`](crate::Error::Locked) when others hold it until the timeout, or hold it now and waiting for it
    /// could be waiting in a circle; [`Error::Io`](crate::Error::Io).
    pub(crate) fn lock(&self, subject: LockSubject, range: LockRange, kind: LockKind, timeout: Duration) -> Result<()> {
        let held = self.held.ranges().get(&subject).map(|held| held.kind);
        if held == Some(LockKind::Exclusive) || held == Some(kind) {
            return Ok(());
        }
        let Some(log) = self.log.as_ref().filter(|log| log.state().keeps_locks()) else {
            return self.held.lock(None, subject, range, kind, timeout);
        };
        // Two that read and both wait to write would wait for each other.
        let in_order = held.is_none() && log.state().may_wait_for(&self.order(subject));
        let timeout = if in_order { timeout } else { Duration::ZERO };
        // What another handle has locked for the transaction is locked for this one.
        self.held.lock(Some(log.owner()), subject, range, kind, timeout)?;
        log.state().keep(&self.held, subject);
        Ok(())
    }

    /// Gives a lock back, or leaves that to the end of a transaction. One that is not held is no error.
    pub(crate) fn unlock(&self, subject: LockSubject) -> Result<()> {
        let later = self
            .log
            .as_ref()
            .is_some_and(|log| log.state().keep(&self.held, subject));
        if later { Ok(()) } else { self.held.unlock(subject) }
    }

    /// Gives a lock back before the end of a transaction that only shares it, for who has read what he wanted. One that is
    /// exclusive, or that another handle goes by, stays.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub(crate) fn unlock_shared(&self, subject: LockSubject) -> Result<()> {
        let held = self.held.ranges().get(&subject).copied();
        let Some(held) = held.filter(|held| held.kind == LockKind::Shared) else {
            return Ok(());
        };
        if self.held.locks.is_lending(held.range) {
            return Ok(());
        }
        self.held.unlock(subject)?;
        if let Some(log) = &self.log {
            log.state().find_last_lock();
        }
        Ok(())
    }

    /// Where a lock of this file stands in the order of all locks.
    pub(crate) fn order(&self, subject: LockSubject) -> LockOrder {
        self.held.order(subject)
    }
}

impl HeldLocks {
    /// Lets the other tables of a log have what was locked before its transaction began.
    pub(super) fn give_to(&self, owner: u64) {
        self.locks.give_to(owner);
    }

    pub(super) fn identity(&self) -> &FileIdentity {
        self.locks.identity()
    }

    pub(super) fn held_ranges(&self) -> Vec<LockRange> {
        self.ranges().values().map(|held| held.range).collect()
    }

    /// The last of the locks that are held, in the order of all.
    pub(super) fn last(&self) -> Option<LockOrder> {
        self.ranges().keys().map(|subject| self.order(*subject)).max()
    }

    /// Marks a lock for the end of the transaction; false when it is not held, or marked already.
    pub(super) fn mark(&self, subject: LockSubject) -> bool {
        self.ranges()
            .get_mut(&subject)
            .is_some_and(|held| !std::mem::replace(&mut held.kept, true))
    }

    pub(super) fn order(&self, subject: LockSubject) -> LockOrder {
        let rank = match subject {
            LockSubject::Open => (0, 0),
            LockSubject::Header => (1, 0),
            LockSubject::File => (2, 0),
            LockSubject::Record(record) => (2, record),
            LockSubject::Memo => (3, 0),
            LockSubject::Index => (4, 0),
            // It is taken when all others are held, and no others are taken then.
            LockSubject::Commit => (5, 0),
        };
        LockOrder {
            table: self.table.clone(),
            rank,
            name: matches!(subject, LockSubject::Index).then(|| self.locks.file_name()),
        }
    }

    pub(super) fn unlock(&self, subject: LockSubject) -> Result<()> {
        let Some(held) = self.ranges().remove(&subject) else {
            return Ok(());
        };
        self.locks.unlock(held.range)
    }

    fn lock(
        &self,
        owner: Option<u64>,
        subject: LockSubject,
        range: LockRange,
        kind: LockKind,
        timeout: Duration,
    ) -> Result<()> {
        match owner {
            Some(owner) => self.locks.lock_for(owner, subject, range, kind, timeout)?,
            None => self.locks.lock(subject, range, kind, timeout)?,
        }
        let mut ranges = self.ranges();
        let kept = ranges.get(&subject).is_some_and(|held| held.kept);
        ranges.insert(subject, Held { range, kind, kept });
        Ok(())
    }

    fn ranges(&self) -> MutexGuard<'_, HashMap<LockSubject, Held>> {
        // A thread that panicked left whole entries behind.
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
