//! What a log still has to write, for people to look at.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::log_file::{Found, Logged, Room};
use super::replacement::{Replacement, Step};
use crate::error::Result;
use crate::lock::LockRange;
use crate::regular_file;
use crate::storage::DataFile;

/// What opening a log would write to its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogContents {
    /// The committed transactions, oldest first; none in a log that was closed.
    pub transactions: Vec<LoggedTransaction>,
    /// The tables that others take the place of.
    pub replacements: Vec<LoggedReplacement>,
    /// How many bytes of the file they take, the log's header included.
    pub used_bytes: u64,
    /// How many bytes behind them belong to no whole transaction, and would be dropped.
    pub torn_bytes: u64,
}

/// A committed transaction in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedTransaction {
    /// Its number in this log.
    pub sequence: u64,
    /// The other folders whose logs have a part of it, from the log's folder on; it counts if all have.
    pub other_folders: Vec<PathBuf>,
    /// What it changes, a file each.
    pub files: Vec<LoggedChange>,
}

/// What a transaction changes in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedChange {
    /// The file, in the log's folder.
    pub path: PathBuf,
    /// Whether other programs could have the file open.
    pub shared: bool,
    /// The length before, in bytes.
    pub old_len: u64,
    /// The length after, in bytes.
    pub new_len: u64,
    /// The byte ranges that were locked meanwhile.
    pub locks: Vec<LockRange>,
    /// The byte ranges that are written.
    pub ranges: Vec<Range<u64>>,
}

impl LogContents {
    /// Reads the log at `path`, which may be in use, and changes nothing.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when it is no log, [`Error::Io`](crate::Error::Io).
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = regular_file::open_to_read(path)?;
        let room = Room::of(path, &file)?;
        Self::of(&DataFile::new(path, Box::new(Arc::new(file))), room)
    }

    /// The log that these bytes are; errors call it `memory.tmlog`.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when they are none.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(&DataFile::in_memory(Path::new("memory.tmlog"), bytes), Room::UNKNOWN)
    }

    fn of(file: &DataFile, room: Room) -> Result<Self> {
        let len = file.len()?;
        let found = Found::read(file, room)?;
        let (mut transactions, mut replacements) = (Vec::new(), Vec::new());
        for (n, group) in (0..).zip(found.groups) {
            match group {
                Logged::Changes(group) => transactions.push(LoggedTransaction {
                    sequence: found.first_sequence.wrapping_add(n),
                    other_folders: group.part.map(|part| part.others).unwrap_or_default(),
                    files: group.files.into_iter().map(LoggedChange::from).collect(),
                }),
                Logged::Replacement(replacement) => replacements.push(replacement.into()),
            }
        }
        Ok(Self {
            transactions,
            replacements,
            used_bytes: found.end.min(len),
            torn_bytes: len.saturating_sub(found.end),
        })
    }
}

/// A table whose files others take the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedReplacement {
    /// The folder with the new files, in the log's folder.
    pub draft: PathBuf,
    /// The names that get a new file.
    pub put: Vec<PathBuf>,
    /// The names that nothing has afterwards.
    pub removed: Vec<PathBuf>,
}

impl From<Replacement> for LoggedReplacement {
    fn from(replacement: Replacement) -> Self {
        let (mut put, mut removed) = (Vec::new(), Vec::new());
        for step in replacement.steps {
            match step {
                Step::Put(name, _) => put.push(name),
                Step::Remove(name) => removed.push(name),
            }
        }
        Self {
            draft: replacement.draft,
            put,
            removed,
        }
    }
}

impl From<super::group::FileChange> for LoggedChange {
    fn from(change: super::group::FileChange) -> Self {
        let ranges = change
            .pieces
            .iter()
            .map(|piece| piece.offset..piece.offset + piece.after.len() as u64);
        Self {
            ranges: ranges.collect(),
            path: change.path,
            shared: change.shared,
            old_len: change.old_len,
            new_len: change.new_len,
            locks: change.locks,
        }
    }
}
