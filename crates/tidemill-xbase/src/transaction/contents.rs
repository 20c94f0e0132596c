//! What a log still has to write, for people to look at.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::log_file::Found;
use crate::error::{Error, Result};
use crate::lock::LockRange;
use crate::storage::DataFile;

/// What opening a log would write to its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogContents {
    /// The committed transactions, oldest first; none in a log that was closed.
    pub transactions: Vec<LoggedTransaction>,
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
    /// What it changes, a file each.
    pub files: Vec<LoggedChange>,
}

/// What a transaction changes in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedChange {
    /// The file, from the log's folder on, or an absolute path where it lies elsewhere.
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
    /// [`Error::Corrupt`] when it is no log, [`Error::Io`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, "read", e))?;
        Self::of(path, bytes)
    }

    /// The log that these bytes are; errors call it `memory.tmlog`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when they are none.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(Path::new("memory.tmlog"), bytes)
    }

    fn of(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let len = bytes.len() as u64;
        let found = Found::read(&DataFile::in_memory(path, bytes))?;
        let transactions = (0..).zip(found.groups).map(|(n, group)| LoggedTransaction {
            sequence: found.first_sequence.wrapping_add(n),
            files: group.files.into_iter().map(LoggedChange::from).collect(),
        });
        Ok(Self {
            transactions: transactions.collect(),
            used_bytes: found.end.min(len),
            torn_bytes: len.saturating_sub(found.end),
        })
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
