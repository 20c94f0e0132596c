//! The files of a log while it is open: one in each folder whose tables it changes.
//!
//! A transaction over one folder is a group in the log there. One over several is a part in the log of each; it counts once
//! all parts are on the disk. Each part is alone in its log: the logs are emptied before it and after it, so that a crash
//! while they are emptied leaves nothing beside it that would be written over what it wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Disk;
use super::group::{Group, Part};
use super::log_file::{AppendError, LogFile, Room};
use super::pending;
use super::recovery::is_own;
use crate::error::Result;
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name;
use crate::regular_file;

/// What the names of logs end with.
pub(super) const EXTENSION: &str = "tmlog";

#[derive(Debug)]
pub(super) struct FolderLogs {
    disk: Arc<dyn Disk>,
    /// By folder, without links.
    open: BTreeMap<PathBuf, OpenLog>,
    /// Where the logs were cut off before the last group: its beginning.
    last: Vec<(PathBuf, u64)>,
}

/// A log that this process has.
#[derive(Debug)]
pub(super) struct OpenLog {
    pub(super) path: PathBuf,
    pub(super) file: LogFile,
    /// Keeps other processes away.
    pub(super) _handle: Arc<File>,
}

impl FolderLogs {
    pub(super) fn new(disk: Arc<dyn Disk>) -> Self {
        Self {
            disk,
            open: BTreeMap::new(),
            last: Vec::new(),
        }
    }

    pub(super) fn put(&mut self, folder: PathBuf, log: OpenLog) {
        self.open.insert(folder, log);
    }

    /// How many bytes of groups the longest has.
    pub(super) fn len(&self) -> u64 {
        self.open.values().map(|log| log.file.len()).max().unwrap_or(0)
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.open.values().map(|log| log.path.clone()).collect()
    }

    /// What errors call it.
    pub(super) fn name(&self) -> String {
        let names: Vec<_> = self.open.values().map(|log| log.path.display().to_string()).collect();
        match names.is_empty() {
            true => "the transaction".to_owned(),
            false => names.join(", "),
        }
    }

    /// Writes a transaction, by folder, behind what the logs have. If that fails they are as before, unless the error says
    /// otherwise. One over several folders finds its logs empty.
    pub(super) fn append(&mut self, groups: &mut BTreeMap<PathBuf, Group>, durable: bool) -> Result<(), AppendError> {
        self.last.clear();
        if groups.len() > 1 {
            let mut transaction = [0; 16];
            transaction[..8].copy_from_slice(&own_name::random_bits().to_le_bytes());
            transaction[8..].copy_from_slice(&own_name::random_bits().to_le_bytes());
            let folders: Vec<_> = groups.keys().cloned().collect();
            for (folder, group) in groups.iter_mut() {
                let others = folders.iter().filter(|other| *other != folder);
                group.part = Some(Part {
                    transaction,
                    others: others.map(|other| relative(folder, other)).collect(),
                });
            }
        }
        for folder in groups.keys() {
            self.make(folder).map_err(AppendError::Undone)?;
        }
        for (folder, group) in groups {
            let Some(log) = self.open.get_mut(folder) else { continue };
            let before = log.file.len();
            match log.file.append(group, durable) {
                Ok(()) => self.last.push((folder.clone(), before)),
                Err(AppendError::Undone(e)) => {
                    return Err(match self.take_back() {
                        Ok(()) => AppendError::Undone(e),
                        Err(_) => AppendError::Unknown(e),
                    });
                }
                Err(unknown) => return Err(unknown),
            }
        }
        Ok(())
    }

    /// Takes back what was written last.
    pub(super) fn take_back(&mut self) -> Result<()> {
        for (folder, before) in std::mem::take(&mut self.last) {
            if let Some(log) = self.open.get_mut(&folder) {
                log.file.take_back(before)?;
            }
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.open.values().try_for_each(|log| log.file.sync())
    }

    /// Forgets all groups; with `syncs` even a power cut does not bring them back.
    pub(super) fn restart(&mut self, syncs: bool) -> Result<()> {
        let folders: Vec<_> = self.open.keys().cloned().collect();
        for folder in folders {
            let Some(log) = self.open.get_mut(&folder).filter(|log| log.file.len() > 0) else {
                continue;
            };
            let restarted = match syncs {
                true => log.file.restart(),
                false => log.file.restart_without_sync(),
            };
            match restarted {
                // The tables have what the groups say: a log that cannot be emptied is not needed, and would keep readers away.
                Err(_) if syncs && is_own(&log.path) => {
                    self.disk.remove(&log.path)?;
                    self.disk.sync_folder(&folder)?;
                    self.open.remove(&folder);
                }
                restarted => restarted?,
            }
        }
        Ok(())
    }

    /// Removes those that have nothing to write and a name of ours.
    pub(super) fn remove(&mut self) -> Result<()> {
        let is_done = |log: &OpenLog| log.file.len() == 0 && is_own(&log.path);
        for (folder, log) in std::mem::take(&mut self.open) {
            if is_done(&log) {
                // It is still locked while it is removed.
                self.disk.remove(&log.path)?;
            } else {
                self.open.insert(folder, log);
            }
        }
        Ok(())
    }

    /// Makes the log of a folder, if there is none yet.
    fn make(&mut self, folder: &Path) -> Result<()> {
        if !self.open.contains_key(folder) {
            let log = new_log(folder, &*self.disk)?;
            self.disk.sync_folder(folder)?;
            pending::sweep(folder, &*self.disk);
            self.open.insert(folder.to_owned(), log);
        }
        Ok(())
    }
}

/// An empty log in a folder, under a name that nobody else has.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn new_log(folder: &Path, disk: &dyn Disk) -> Result<OpenLog> {
    loop {
        let (path, handle) = own_name::make(folder, own_name::PREFIX, ".tmlog", regular_file::create)?;
        let handle = Arc::new(handle);
        // Whoever looks for logs that nobody has may be faster.
        let locked = open_shared_or_exclusive(&handle, &path, Sharing::Exclusive, Duration::from_millis(100));
        if locked.is_err() || !regular_file::is_at(&path, &handle) {
            continue;
        }
        let made = Room::of(&path, &handle).and_then(|room| {
            let storage = disk.storage(&path, Arc::clone(&handle));
            LogFile::open(&path, storage, room)
        });
        return match made {
            Ok((file, _)) => Ok(OpenLog {
                path,
                file,
                _handle: handle,
            }),
            Err(e) => {
                let _ = disk.remove(&path);
                Err(e)
            }
        };
    }
}

/// How a folder is called from another one; both are without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    // Only the root is the same, or not even that.
    if shared <= 1 {
        return to.to_owned();
    }
    let up = from.components().skip(shared).map(|_| std::path::Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_from_each_other() {
        for (from, to, expected) in [
            ("/d/a", "/d/b", "../b"),
            ("/d", "/d/sub/x", "sub/x"),
            ("/d/sub/x", "/d", "../.."),
            ("/d/a", "/e/b", "/e/b"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected));
        }
    }
}
