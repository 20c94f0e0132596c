//! What is in logs after a crash is written to the files once more.
//!
//! Before anything is written, every byte that would be is looked at: it must be what it was before one of the groups or
//! after one, whichever part of the writes the crash left behind. Anything else was written by somebody since, and redo
//! would destroy it. Two things pass that check which were not there: zeros behind the old end, which a file system leaves
//! where a file had grown, and anything where a group had cut the file off. Which files a log may name at all says
//! [`admission`](super::admission).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Disk;
use super::admission::{self, Owner, not_recovered, refused};
use super::group::{FileChange, Group, Part, Piece};
use super::log_file::{LogFile, Logged, Room};
use super::replacing;
use crate::error::{Error, Result};
use crate::file_overlay::FileOverlay;
use crate::lock::{FileLocks, LockKind, LockSubject, Sharing, open_shared_or_exclusive};
use crate::own_name::{self, folder_of};
use crate::regular_file;
use crate::storage::{DataFile, Storage};

/// A log that nobody else has, to work it off.
#[derive(Debug)]
pub(super) struct HeldLog {
    pub(super) path: PathBuf,
    /// Without links.
    pub(super) folder: PathBuf,
    pub(super) file: LogFile,
    pub(super) groups: Vec<Logged>,
    owner: Owner,
    pub(super) handle: Arc<File>,
}

/// What became of a log that a dead process had left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The log, which is gone now if its name was ours, and else empty.
    pub log: PathBuf,
    /// How many transactions were written to the tables, and tables replaced.
    pub transactions: usize,
    /// How many were not whole, since another folder's log had no part of it: they had either changed nothing, or were in the
    /// tables already.
    pub discarded: usize,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

impl HeldLog {
    /// Takes the log at a path, as long as a process that has it keeps it until the timeout; `None` where it is gone.
    ///
    /// # Errors
    /// [`Error::Locked`] when a living process has it; [`Error::RefusedLog`], [`Error::Corrupt`], [`Error::Io`].
    pub(super) fn take(path: &Path, disk: &dyn Disk, timeout: Duration) -> Result<Option<Self>> {
        let handle = match regular_file::open_to_write(path) {
            Ok(handle) => Arc::new(handle),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(Error::NotRegular { found, .. }) => {
                return Err(refused(path, path, "a regular file".to_owned(), found.to_owned()));
            }
            Err(e) => return Err(e),
        };
        open_shared_or_exclusive(&handle, path, Sharing::Exclusive, timeout)?;
        match regular_file::is_at(path, &handle) {
            true => Self::of(path, handle, disk).map(Some),
            // Whoever had it has worked it off.
            false => Ok(None),
        }
    }

    /// A log that is locked already.
    ///
    /// # Errors
    /// [`Error::RefusedLog`], [`Error::Corrupt`], [`Error::Io`].
    pub(super) fn of(path: &Path, handle: Arc<File>, disk: &dyn Disk) -> Result<Self> {
        let folder = folder_of(path);
        let folder = std::fs::canonicalize(folder).map_err(|e| Error::io(folder, "open", e))?;
        let owner = admission::check_log(path, &folder, &handle)?;
        let room = Room::of(path, &handle)?;
        let (file, groups) = LogFile::open(path, disk.storage(path, Arc::clone(&handle)), room)?;
        let log = Self {
            path: path.to_owned(),
            folder,
            file,
            groups,
            owner,
            handle,
        };
        log.check()?;
        Ok(log)
    }

    /// # Errors
    /// [`Error::RefusedLog`] for what no log of ours says.
    fn check(&self) -> Result<()> {
        for group in &self.groups {
            match group {
                Logged::Changes(group) => admission::check_group(&self.path, group)?,
                Logged::Replacement(replacement) => replacing::check(&self.path, replacement)?,
            }
        }
        let is_plain = |group: &Logged| matches!(group, Logged::Changes(Group { part: None, .. }));
        if self.groups.len() > 1 && !self.groups.iter().all(is_plain) {
            let expected = "a part of a transaction, or the replacement of a table, alone in its log".to_owned();
            let found = format!("{} groups", self.groups.len());
            return Err(refused(&self.path, &self.path, expected, found));
        }
        Ok(())
    }

    pub(super) fn part(&self) -> Option<&Part> {
        match self.groups.first() {
            Some(Logged::Changes(group)) => group.part.as_ref(),
            _ => None,
        }
    }

    /// Forgets what it has, and removes it if nobody but us gave it its name.
    fn end(mut self, disk: &dyn Disk) -> Result<()> {
        self.file.forget()?;
        if is_own(&self.path) {
            disk.remove(&self.path)?;
            disk.sync_folder(&self.folder)?;
        }
        Ok(())
    }
}

/// Whether a log has a name that we made up.
pub(super) fn is_own(log: &Path) -> bool {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(own_name::PREFIX)
}

/// Works logs off: what is whole is written to the files, what is a part of something that was never whole is forgotten. Logs
/// that have nothing to do with each other are worked off one after another, also when one cannot be.
///
/// `folders` are those that were looked through, without links. Of their logs `in_use` says that a living process has one, and
/// `refused` why another is not obeyed.
///
/// # Errors
/// `refused`, or the first of those that cannot be worked off: [`Error::Incomplete`] for a part of a transaction whose other
/// parts may be in folders that were not looked through; `in_use` where that log may be one; as [`TransactionLog::open`].
pub(super) fn work_off(
    logs: Vec<HeldLog>,
    folders: &[PathBuf],
    (mut in_use, refused): (Option<Error>, Option<Error>),
    disk: &dyn Disk,
    timeout: Duration,
) -> Result<Vec<Recovered>> {
    let mut batches: BTreeMap<Option<[u8; 16]>, Vec<HeldLog>> = BTreeMap::new();
    let mut alone = Vec::new();
    for log in logs {
        match log.part().map(|part| part.transaction) {
            Some(transaction) => batches.entry(Some(transaction)).or_default().push(log),
            None => alone.push(vec![log]),
        }
    }
    let (mut recovered, is_refused, mut first) = (Vec::new(), refused.is_some(), refused);
    for batch in alone.into_iter().chain(batches.into_values()) {
        let done = match missing(&batch, folders) {
            Parts::Missing if is_refused => continue,
            Parts::Missing if in_use.is_some() => Err(in_use.take()),
            Parts::Elsewhere(e) => Err(Some(e)),
            Parts::Missing => forget(batch, disk).map_err(Some),
            Parts::Whole => redo(&batch, disk, timeout)
                .and_then(|files| end(batch, &files, disk))
                .map_err(Some),
        };
        match done {
            Ok(done) => recovered.extend(done),
            Err(e) => first = first.or(e),
        }
    }
    match first {
        Some(e) => Err(e),
        None => Ok(recovered),
    }
}

/// Whether all parts of a transaction are there.
enum Parts {
    Whole,
    /// All folders were looked through, and one has none.
    Missing,
    /// They may be in folders that were not looked through.
    Elsewhere(Error),
}

fn missing(batch: &[HeldLog], folders: &[PathBuf]) -> Parts {
    let Some((log, part)) = batch.first().and_then(|log| Some((log, log.part()?))) else {
        return Parts::Whole;
    };
    if batch.len() > part.others.len() {
        return Parts::Whole;
    }
    // A name that leads nowhere is shown as it is.
    let others = part.others.iter().map(|other| {
        let other = log.folder.join(other);
        std::fs::canonicalize(&other).unwrap_or(other)
    });
    let unknown: Vec<_> = others.filter(|other| !folders.contains(other)).collect();
    match unknown.is_empty() {
        true => Parts::Missing,
        false => Parts::Elsewhere(Error::incomplete(&log.path, unknown)),
    }
}

fn forget(batch: Vec<HeldLog>, disk: &dyn Disk) -> Result<Vec<Recovered>> {
    let forgotten = batch.into_iter().map(|log| {
        let recovered = Recovered {
            log: log.path.clone(),
            transactions: 0,
            discarded: log.groups.len(),
            files: Vec::new(),
        };
        log.end(disk).map(|()| recovered)
    });
    forgotten.collect()
}

fn end(batch: Vec<HeldLog>, files: &[Vec<PathBuf>], disk: &dyn Disk) -> Result<Vec<Recovered>> {
    let ended = batch.into_iter().zip(files).map(|(log, files)| {
        let recovered = Recovered {
            log: log.path.clone(),
            transactions: log.groups.len(),
            discarded: 0,
            files: files.clone(),
        };
        log.end(disk).map(|()| recovered)
    });
    ended.collect()
}

/// Writes all groups of logs that are one, in order, and brings the files to the disk; or writes nothing. Returns the files of
/// each log.
pub(super) fn redo(logs: &[HeldLog], disk: &dyn Disk, timeout: Duration) -> Result<Vec<Vec<PathBuf>>> {
    let mut targets = Vec::new();
    let mut files = Vec::new();
    for log in logs {
        let mut changes: BTreeMap<PathBuf, Vec<&FileChange>> = BTreeMap::new();
        let mut of_log = Vec::new();
        for group in &log.groups {
            match group {
                Logged::Changes(group) => {
                    for change in &group.files {
                        changes.entry(log.folder.join(&change.path)).or_default().push(change);
                    }
                }
                Logged::Replacement(replacement) => {
                    let done = replacing::finish(&log.path, &log.folder, log.owner, replacement, disk, timeout)?;
                    of_log.extend(done);
                }
            }
        }
        of_log.extend(changes.keys().cloned());
        files.push(of_log);
        for (path, changes) in changes {
            targets.push((log, Target::open(path, changes, log, disk, timeout)?));
        }
    }
    targets.iter().try_for_each(|(log, target)| target.check(&log.path))?;
    targets.iter().try_for_each(|(_, target)| target.write())?;
    Ok(files)
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
        log: &HeldLog,
        disk: &dyn Disk,
        timeout: Duration,
    ) -> Result<Self> {
        let file = Arc::new(admission::open_target(&log.path, log.owner, &path)?);
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
