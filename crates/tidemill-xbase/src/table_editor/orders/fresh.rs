//! Whether the orders of an index file have followed the table, looked at when the file is opened.

use std::sync::Arc;

use super::{OpenMode, OrderFile, TableEditor};
use crate::error::{Error, Result};
use crate::expression::RecordBytes;
use crate::lock::{LockKind, LockSubject};
use crate::orders::KeySettings;
use crate::stamp::{FileMemo, FileStamp};

/// What the orders of index files were found to have followed.
static FOLLOWED: FileMemo<Followed, ()> = FileMemo::new(64);

/// The state of a table, and how keys are made of its records.
#[derive(Debug, PartialEq)]
struct Followed {
    records: u32,
    last: Option<Vec<u8>>,
    settings: KeySettings,
}

impl TableEditor {
    /// Looks whether the orders of an index file have followed the table: each that the last record belongs to, but UNIQUE and
    /// custom ones, must have its entry (candidate indexes, unless it is blank or deleted), and none may have entries of records
    /// that are not there, as far as three of its leaves tell. Where equal keys are in no order (NTX), those of an order with all
    /// records are counted instead.
    pub(super) fn check_fresh(&mut self, at: usize) -> Result<()> {
        if let Some(file) = self.orders.files.get_mut(at) {
            file.lock(LockKind::Shared, &self.options)?;
        }
        // While the file is locked nobody ends a change of the last record, so that who is changing it still has it locked.
        let checked = self.check_locked(at);
        let unlocked = self.orders.files.get_mut(at).map_or(Ok(()), OrderFile::unlock);
        checked.and(unlocked)
    }

    /// Whether an index file looks as it did when its orders had followed the table as it is now.
    pub(super) fn is_known_to_be_fresh(&mut self, at: usize) -> Result<bool> {
        let Some((followed, stamp)) = self.followed(at)? else {
            return Ok(true);
        };
        let path = self.orders.files.get(at).map(|file| file.index.path());
        let known = path
            .zip(stamp)
            .and_then(|(path, stamp)| FOLLOWED.get(path, &stamp, &followed));
        Ok(known.is_some())
    }

    /// What an index file has to have followed, and what it looks like.
    fn followed(&mut self, at: usize) -> Result<Option<(Followed, Option<FileStamp>)>> {
        let records = self.record_count();
        let last = match records {
            0 => None,
            last => Some(self.record_bytes(last)?),
        };
        let Some(file) = self.orders.files.get_mut(at) else {
            return Ok(None);
        };
        let stamp = file.index.stamp()?;
        let followed = Followed {
            records,
            last,
            settings: file.settings.clone(),
        };
        Ok(Some((followed, stamp)))
    }

    fn check_locked(&mut self, at: usize) -> Result<()> {
        let Some((followed, stamp)) = self.followed(at)? else {
            return Ok(());
        };
        let records = followed.records;
        let table = Arc::clone(&self.orders.table);
        let is_unfinished = followed
            .last
            .as_ref()
            .is_some_and(|bytes| self.header.dialect.is_deleted(bytes) || self.is_blank(bytes));
        let Some(file) = self.orders.files.get_mut(at) else {
            return Ok(());
        };
        let path = file.index.path().to_owned();
        if let Some(stamp) = &stamp
            && FOLLOWED.get(&path, stamp, &followed).is_some()
        {
            return Ok(());
        }
        let last = followed.last.as_ref();
        let record = last.map(|bytes| RecordBytes::new(&table, records, bytes));
        match file.stale_order(records, record.as_ref(), is_unfinished)? {
            Some((_, entries)) if entries <= u64::from(records) && self.is_being_changed(records)? => Ok(()),
            Some((order, entries)) => Err(Error::StaleIndex {
                path,
                order,
                entries,
                records,
            }),
            None => {
                if let Some(stamp) = &stamp {
                    FOLLOWED.put(&path, stamp, followed, ());
                }
                Ok(())
            }
        }
    }

    /// Whether another program holds the lock of the last record: it has appended or changed it, and its entries will follow.
    fn is_being_changed(&self, last: u32) -> Result<bool> {
        if last == 0 || self.options.mode == OpenMode::Exclusive || self.is_record_locked(last) {
            return Ok(false);
        }
        let range = self.ranges.record(last);
        let taken = self.locks.lock(
            LockSubject::Record(last),
            range,
            LockKind::Shared,
            std::time::Duration::ZERO,
        );
        match taken {
            Ok(()) => self.locks.unlock(LockSubject::Record(last)).map(|()| false),
            Err(Error::Locked(_)) => Ok(true),
            Err(e) => Err(e),
        }
    }
}

impl OrderFile {
    /// The first order that has not followed the table's records, of which the last one is given, and how many entries it has.
    /// Candidate indexes need none of a last record that was never filled, or given up.
    fn stale_order(
        &mut self,
        records: u32,
        last: Option<&RecordBytes<'_>>,
        is_unfinished: bool,
    ) -> Result<Option<(String, u64)>> {
        let reader = self.index.reader()?;
        let mut orders: Vec<_> = reader.tags().iter().zip(&self.keys).collect();
        // That of the shortest keys is looked at first, and has all records if there is one.
        orders.sort_by_key(|(tag, _)| (tag.condition.is_some(), tag.key_len));
        for (tag, keys) in orders {
            // Words are more than records, or fewer; how other keys are sorted may not be known.
            if tag.is_full_text || keys.why_not_compiled().is_some() {
                continue;
            }
            let named = |e| Error::order(self.index.path(), &tag.name, e);
            let order = reader
                .order(&tag.name, keys.key_type(), &self.settings.collation)
                .map_err(named)?;
            // A record whose key cannot be made was not put in here.
            let key = match last {
                _ if tag.is_unique || tag.is_custom || (tag.is_candidate && is_unfinished) => None,
                Some(last) => keys.key(last).ok().flatten(),
                None => None,
            };
            let has_followed = match order.has_followed(records, key.as_deref()).map_err(named)? {
                Some(has_followed) => has_followed,
                None => tag.condition.is_some() || order.key_count().map_err(named)? == u64::from(records),
            };
            if !has_followed {
                return Ok(Some((tag.name.clone(), order.key_count().map_err(named)?)));
            }
        }
        Ok(None)
    }
}
