//! A file of a table as it is read and written through a log.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::TransactionLog;
use super::layer::Slot;
use super::state::State;
use crate::error::Error;
use crate::stamp::FileStamp;
use crate::storage::Storage;

/// A file whose changes go through the log. It is a storage like any other, so that whoever writes tables, memos and
/// indexes need not know.
#[derive(Debug)]
pub(crate) struct LoggedFile {
    log: TransactionLog,
    slot: Arc<Slot>,
}

impl LoggedFile {
    pub(super) fn new(log: TransactionLog, slot: Arc<Slot>) -> Self {
        Self { log, slot }
    }

    /// Writes in a transaction of its own where none is under way.
    fn change(&self, write: impl FnOnce(&mut State) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.log.state();
        if state.under_way() {
            return write(&mut state);
        }
        let depth = state.enter().map_err(io::Error::other)?;
        match write(&mut state) {
            Ok(()) => state.leave(depth).map_err(|e| match e {
                Error::Io { source, .. } => source,
                e => io::Error::other(e),
            }),
            Err(e) => {
                state.abandon(depth);
                Err(e)
            }
        }
    }
}

impl Storage for LoggedFile {
    fn len(&self) -> io::Result<u64> {
        let state = self.log.state();
        let len = self.slot.storage.len()?;
        let overlays = state.overlays(&self.slot);
        Ok(overlays.fold(len, |len, overlay| overlay.len(len)))
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.log.state();
        let overlays = state.overlays(&self.slot);
        if overlays.clone().next().is_none() {
            return self.slot.storage.read_exact_at(buf, offset);
        }
        self.slot.read_over(overlays, offset, buf)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.change(|state| {
            state.newest(&self.slot)?.write(offset, bytes);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|state| {
            let below = state.len_below(&self.slot)?;
            state.newest(&self.slot)?.set_len(len, below);
            Ok(())
        })
    }

    fn stamp(&self) -> Option<FileStamp> {
        let state = self.log.state();
        let is_bare = state.overlays(&self.slot).next().is_none();
        is_bare.then(|| self.slot.storage.stamp()).flatten()
    }

    /// What is committed is brought to the disk with the log, so there is nothing to do in a transaction.
    fn sync(&self) -> io::Result<()> {
        self.log.settle().map_err(io::Error::other)
    }

    fn takes_back(&self) -> bool {
        true
    }

    fn taken_back(&self) -> u64 {
        self.slot.taken_back.load(Ordering::Acquire)
    }
}
