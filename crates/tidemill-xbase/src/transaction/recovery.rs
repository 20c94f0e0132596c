//! What is in a log after a crash is written to the files once more.
//!
//! Before anything is written, every byte that would be is looked at: it must be what it was before one of the groups or
//! after one, whichever part of the writes the crash left behind. Anything else was written by somebody since, and redo
//! would destroy it. Two things pass that check which were not there: zeros behind the old end, which a file system leaves
//! where a file had grown, and anything where a group had cut the file off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Disk;
use super::group::{FileChange, Group, Piece};
use crate::error::{Error, NotRecovered, Result};
use crate::file_overlay::FileOverlay;
use crate::lock::{FileLocks, LockKind, LockSubject, Sharing, open_shared_or_exclusive};
use crate::storage::{DataFile, Storage};

/// Writes all groups, in order, and brings the files to the disk; or writes nothing.
pub(super) fn redo(groups: &[Group], folder: &Path, log: &Path, disk: &dyn Disk, timeout: Duration) -> Result<()> {
    let mut changes: BTreeMap<PathBuf, Vec<&FileChange>> = BTreeMap::new();
    for change in groups.iter().flat_map(|group| &group.files) {
        changes.entry(folder.join(&change.path)).or_default().push(change);
    }
    let targets = changes
        .into_iter()
        .map(|(path, changes)| Target::open(path, changes, log, disk, timeout));
    let targets = targets.collect::<Result<Vec<_>>>()?;
    targets.iter().try_for_each(|target| target.check(log))?;
    targets.iter().try_for_each(Target::write)
}

/// A file with all that the log says of it.
struct Target<'a> {
    file: DataFile,
    changes: Vec<&'a FileChange>,
    /// What all changes make of the file.
    overlay: FileOverlay,
    len: u64,
    /// From here on a group had cut the file off.
    cut: Option<u64>,
    _locks: FileLocks,
}

impl<'a> Target<'a> {
    fn open(
        path: PathBuf,
        changes: Vec<&'a FileChange>,
        log: &Path,
        disk: &dyn Disk,
        timeout: Duration,
    ) -> Result<Self> {
        let file = match File::options().read(true).write(true).open(&path) {
            Ok(file) => Arc::new(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(not_recovered(log, &path, "is not there".to_owned()));
            }
            Err(e) => return Err(Error::io(&path, "open", e)),
        };
        let shared = changes.iter().any(|change| change.shared);
        let sharing = if shared { Sharing::Shared } else { Sharing::Exclusive };
        open_shared_or_exclusive(&file, &path, sharing, timeout)?;
        let locks = FileLocks::new(Arc::clone(&file), &path)?;
        for range in changes.iter().flat_map(|change| &change.locks) {
            // What the range stood for is not in the log, and does not matter.
            locks.lock(LockSubject::File, *range, LockKind::Exclusive, timeout)?;
        }
        let storage: Arc<dyn Storage> = disk.storage(&path, file);
        let file = DataFile::new(&path, Box::new(storage));
        let len = file.len()?;
        let (mut overlay, mut cut) = (FileOverlay::default(), None);
        for change in &changes {
            for piece in &change.pieces {
                overlay.write(piece.offset, &piece.after);
            }
            if change.new_len < change.old_len {
                overlay.set_len(change.new_len, len);
                cut = Some(cut.map_or(change.new_len, |cut: u64| cut.min(change.new_len)));
            }
        }
        overlay.fill_holes(len);
        Ok(Self {
            file,
            changes,
            overlay,
            len,
            cut,
            _locks: locks,
        })
    }

    /// # Errors
    /// [`Error::Recovery`] for a byte that somebody wrote since.
    fn check(&self, log: &Path) -> Result<()> {
        let longest = self
            .changes
            .iter()
            .map(|change| change.old_len.max(change.new_len))
            .max();
        if self.cut.is_some() && longest.is_some_and(|longest| self.len > longest) {
            let why = format!("has {} bytes, more than it had when it was cut", self.len);
            return Err(not_recovered(log, self.file.path(), why));
        }
        for (start, after) in self.overlay.extents() {
            let there = usize::try_from(self.len.saturating_sub(start)).unwrap_or(usize::MAX);
            let mut found = vec![0; after.len().min(there)];
            self.file.read("what the log changes", start, &mut found)?;
            let mut known = vec![false; after.len()];
            let known_from = self
                .cut
                .map(|cut| usize::try_from(cut.saturating_sub(start)).unwrap_or(usize::MAX));
            known
                .get_mut(known_from.unwrap_or(usize::MAX)..)
                .unwrap_or_default()
                .fill(true);
            for piece in self.changes.iter().flat_map(|change| &change.pieces) {
                mark_known(piece, start, &found, &mut known);
            }
            if let Some(at) = known.iter().position(|known| !known) {
                let offset = start + at as u64;
                let found = found
                    .get(at)
                    .map_or("the end of the file".to_owned(), |byte| format!("{byte:02x}"));
                let why = format!("was changed since: byte {offset} is {found}, which the log does not know");
                return Err(not_recovered(log, self.file.path(), why));
            }
        }
        Ok(())
    }

    fn write(&self) -> Result<()> {
        for (start, after) in self.overlay.extents() {
            self.file.write(start, after)?;
        }
        let new_len = self.changes.last().map_or(self.len, |change| change.new_len);
        if self.cut.is_some() || self.file.len()? < new_len {
            self.file.set_len(new_len)?;
        }
        self.file.sync()
    }
}

/// Notes which of the bytes `found` from `start` on a piece accounts for.
fn mark_known(piece: &Piece, start: u64, found: &[u8], known: &mut [bool]) {
    for (i, after) in (0u64..).zip(&piece.after) {
        let Some(at) = (piece.offset + i)
            .checked_sub(start)
            .and_then(|at| usize::try_from(at).ok())
        else {
            continue;
        };
        let before = usize::try_from(i).ok().and_then(|i| piece.before.get(i));
        if let Some(known) = known.get_mut(at) {
            *known |= match found.get(at) {
                Some(byte) => byte == after || *byte == before.copied().unwrap_or(0),
                None => before.is_none(),
            };
        }
    }
}

fn not_recovered(log: &Path, path: &Path, why: String) -> Error {
    Error::Recovery(Box::new(NotRecovered {
        log: log.to_owned(),
        path: path.to_owned(),
        why,
    }))
}
