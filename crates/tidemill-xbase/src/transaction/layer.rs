//! What a transaction wrote to all files since a savepoint, and how it gets into the files.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Weak};

use super::group::FileChange;
use crate::error::{Error, Result};
use crate::file_overlay::FileOverlay;
use crate::lock::{Closed, FileIdentity, FileLocks, Sharing};
use crate::storage::Storage;

/// What was written to all files, above what is below.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// The savepoint that began it.
    pub(super) savepoint: Option<u64>,
    /// By the number of the file.
    pub(super) files: BTreeMap<u64, (Arc<Slot>, FileOverlay)>,
    /// Numbers as they were when the layer began.
    pub(super) numbers: Vec<(Weak<AtomicU32>, u32)>,
}

/// A file that is open in this log, however many handles there are on it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: u64,
    pub(super) path: PathBuf,
    /// Where the file really is, without links, and its name there.
    pub(super) folder: PathBuf,
    pub(super) name: PathBuf,
    pub(super) identity: FileIdentity,
    pub(super) sharing: Sharing,
    pub(super) storage: Arc<dyn Storage>,
    /// Where readers of the table are kept out; memos and indexes are read with their table.
    pub(super) gate: Option<FileLocks>,
    /// How often something that was written to it was forgotten.
    pub(super) taken_back: AtomicU64,
}

impl Layer {
    pub(super) fn absorb(&mut self, above: Self) {
        for (id, (slot, overlay)) in above.files {
            match self.files.get_mut(&id) {
                Some((_, below)) => below.absorb(overlay),
                None => {
                    self.files.insert(id, (slot, overlay));
                }
            }
        }
    }

    /// Keeps readers out of the tables that it changes, until what comes back is dropped.
    pub(super) fn close_gates(&self) -> Closed<'_> {
        Closed::all(self.files.values().filter_map(|(slot, _)| slot.gate.as_ref()))
    }

    /// Writes all files, first what may need room on the disk. Those that become shorter keep their ends until
    /// [`Layer::cut_files`], so that what fails here can be taken back.
    pub(super) fn write_to_files(&self) -> Result<()> {
        for (slot, overlay) in self.files.values() {
            let io = |e| Error::io(&slot.path, "write", e);
            let old_len = slot.storage.len().map_err(io)?;
            let extents: Vec<_> = overlay.extents().collect();
            let (inside, behind): (Vec<_>, Vec<_>) = extents
                .into_iter()
                .partition(|(start, bytes)| start + bytes.len() as u64 <= old_len);
            for (start, bytes) in behind.into_iter().chain(inside) {
                slot.storage.write_all_at(bytes, start).map_err(io)?;
            }
            let (len, new_len) = (slot.storage.len().map_err(io)?, overlay.len(old_len));
            if len < new_len {
                slot.storage.set_len(new_len).map_err(io)?;
            }
        }
        Ok(())
    }

    pub(super) fn cut_files(&self) -> Result<()> {
        for (slot, overlay) in self.files.values() {
            let io = |e| Error::io(&slot.path, "write", e);
            let len = slot.storage.len().map_err(io)?;
            let new_len = overlay.len(len);
            if new_len < len {
                slot.storage.set_len(new_len).map_err(io)?;
            }
        }
        Ok(())
    }
}

impl Slot {
    /// Writes what was there before a change, and makes the file as long as it was.
    pub(super) fn undo(&self, change: &FileChange) -> Result<()> {
        let io = |e| Error::io(&self.path, "write", e);
        for piece in &change.pieces {
            if !piece.before.is_empty() {
                self.storage.write_all_at(&piece.before, piece.offset).map_err(io)?;
            }
        }
        match self.storage.len().map_err(io)? {
            len if len > change.old_len => self.storage.set_len(change.old_len).map_err(io),
            _ => Ok(()),
        }
    }

    /// The length with an overlay.
    pub(super) fn len_over(&self, overlay: Option<&FileOverlay>) -> Result<u64> {
        let len = self.storage.len().map_err(|e| Error::io(&self.path, "read", e))?;
        Ok(overlay.map_or(len, |overlay| overlay.len(len)))
    }

    /// Fills `buf` from the file with overlays above it.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when it ends before.
    pub(super) fn read_over<'a>(
        &self,
        overlays: impl DoubleEndedIterator<Item = &'a FileOverlay> + Clone,
        offset: u64,
        buf: &mut [u8],
    ) -> io::Result<()> {
        // What was written lately is read again often, and needs no look at the file.
        if overlays
            .clone()
            .next_back()
            .is_some_and(|newest| newest.read(offset, buf))
        {
            return Ok(());
        }
        let file_len = self.storage.len()?;
        let len = overlays.clone().fold(file_len, |len, overlay| overlay.len(len));
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let there = usize::try_from(file_len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (from_file, behind) = buf.split_at_mut(there.min(buf.len()));
        behind.fill(0);
        if !from_file.is_empty() {
            self.storage.read_exact_at(from_file, offset)?;
        }
        overlays.for_each(|overlay| overlay.read_over(offset, buf));
        Ok(())
    }
}
