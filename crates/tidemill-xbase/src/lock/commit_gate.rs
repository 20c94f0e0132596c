//! The moment in which a commit is written into a table: readers of much of it keep that moment out, and it waits for them.
//!
//! Two bytes far behind every range of other programs. A commit holds both exclusively while it writes. A reader goes past the
//! first, which a commit takes before it waits for the second, so that readers who come one after another do not keep a commit
//! waiting; then it shares the second. No side waits for ever: a commit goes on after [`PATIENCE`] beside a reader that is
//! still there, and a reader is refused.
//!
//! What this module does not do: other programs know nothing of the two bytes. Where a file system has no locks of ranges,
//! nobody waits.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::file_locks::{FileIdentity, FileLocks, Pauses};
use super::{LockHolder, LockKind, LockRange, LockRefused, LockSubject};
use crate::error::{Error, Result};
use crate::regular_file;

/// Where readers go past, and where they stay.
const ENTRANCE: LockRange = LockRange {
    start: 0x7E00_0000_0000_0000,
    end: 0x7E00_0000_0000_0000,
};
const INSIDE: LockRange = LockRange {
    start: 0x7E00_0000_0000_0001,
    end: 0x7E00_0000_0000_0001,
};

const BOTH: LockRange = LockRange {
    start: ENTRANCE.start,
    end: INSIDE.end,
};

/// How long a commit waits for readers that are inside.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// A table's gate, for somebody who reads it. While [`CommitGate::hold`] lasts, what Tidemill commits to the table waits at
/// most a second; so a read of up to a second sees all of a commit or nothing of it, whoever commits in whatever process.
/// Changes outside of transactions, and those of other programs, do not wait.
///
/// ```
/// use tidemill_xbase::{CommitGate, OpenOptions, Table};
///
/// # fn main() -> Result<(), tidemill_xbase::Error> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
/// let mut gate = CommitGate::of(path)?;
/// gate.hold(std::time::Duration::from_secs(5))?;
/// let deleted = Table::open(path, &OpenOptions::new())?.deleted_count()?;
/// gate.let_go();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CommitGate {
    file: Arc<File>,
    locks: FileLocks,
    is_held: bool,
    /// What is locked while it is held.
    held: LockRange,
}

impl CommitGate {
    /// The gate of the table at a path, open.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotRegular`] when the table cannot be read.
    pub fn of(table: impl AsRef<Path>) -> Result<Self> {
        let table = table.as_ref();
        let file = Arc::new(regular_file::open_to_read(table)?);
        let locks = FileLocks::new(Arc::clone(&file), table)?;
        Ok(Self {
            file,
            locks,
            is_held: false,
            held: INSIDE,
        })
    }

    /// Whether a path still leads to the file that the gate is of, and not to one that took its place.
    pub fn is_at(&self, table: impl AsRef<Path>) -> bool {
        regular_file::is_at(table.as_ref(), &self.file)
    }

    /// Waits for a commit that is being written, as long as `wait`, and keeps further ones out until [`CommitGate::let_go`].
    /// What was read of the table before may be of another moment. Holding it twice is holding it once.
    ///
    /// # Errors
    /// [`Error::Locked`] when a commit takes longer.
    pub fn hold(&mut self, wait: Duration) -> Result<()> {
        if self.is_held {
            return Ok(());
        }
        // Both at once: where a commit has the one or the other, neither is taken.
        match taken(&self.locks, BOTH, LockKind::Shared, Instant::now() + wait) {
            Attempt::Taken => {}
            Attempt::Held(holder) => {
                return Err(Error::Locked(Box::new(LockRefused {
                    path: self.locks.path().to_owned(),
                    subject: LockSubject::Commit,
                    range: BOTH,
                    holder,
                    waited: wait,
                })));
            }
            // There are no locks, and a commit finds none either.
            Attempt::Impossible => return Ok(()),
        }
        self.is_held = true;
        // What cannot be given back now is with the rest.
        self.held = match self.locks.keep_end(BOTH, INSIDE.start) {
            Ok(()) => INSIDE,
            Err(_) => BOTH,
        };
        Ok(())
    }

    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Lets commits in again.
    pub fn let_go(&mut self) {
        if std::mem::take(&mut self.is_held) {
            // One that cannot be given back is when the gate is dropped.
            let _ = self.locks.unlock(self.held);
        }
    }
}

/// The gates of all tables that a commit changes, closed until this is dropped.
#[derive(Debug)]
pub(crate) struct Closed<'a> {
    gates: Vec<&'a FileLocks>,
}

impl<'a> Closed<'a> {
    /// Closes the gates of some files, each once and in one order, so that no two commits wait for each other in a circle.
    pub(crate) fn all(gates: impl Iterator<Item = &'a FileLocks>) -> Self {
        let mut gates: Vec<&FileLocks> = gates.collect();
        gates.sort_by_key(|gate| -> &FileIdentity { gate.identity() });
        let until = Instant::now() + PATIENCE;
        for range in [ENTRANCE, INSIDE] {
            for gate in &gates {
                // A reader that takes longer sees the commit while it is written; one that never ends must not keep it away.
                let _ = taken(gate, range, LockKind::Exclusive, until);
            }
        }
        Self { gates }
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        for gate in &self.gates {
            let _ = gate.unlock(INSIDE);
            let _ = gate.unlock(ENTRANCE);
        }
    }
}

enum Attempt {
    Taken,
    Held(LockHolder),
    /// The file has no locks.
    Impossible,
}

/// Takes a range, and asks again until a moment.
fn taken(locks: &FileLocks, range: LockRange, kind: LockKind, until: Instant) -> Attempt {
    let mut pauses = Pauses::default();
    loop {
        match locks.try_range(range, kind) {
            Ok(None) => return Attempt::Taken,
            Err(_) => return Attempt::Impossible,
            Ok(Some(holder)) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Attempt::Held(holder);
                }
                pauses.sleep(left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(path: &Path) -> FileLocks {
        let file = File::options().read(true).write(true).open(path).unwrap();
        FileLocks::new(Arc::new(file), path).unwrap()
    }

    #[test]
    fn a_reader_waits_for_a_commit_and_a_commit_for_readers() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locks = writer(file.path());
        let (mut one, mut two) = (
            CommitGate::of(file.path()).unwrap(),
            CommitGate::of(file.path()).unwrap(),
        );
        let closed = Closed::all([&locks].into_iter());
        assert!(matches!(one.hold(Duration::ZERO), Err(Error::Locked(_))));
        drop(closed);
        one.hold(Duration::ZERO).unwrap();
        two.hold(Duration::ZERO).unwrap();
        two.hold(Duration::ZERO).unwrap();
        two.let_go();
        std::thread::scope(|scope| {
            let (begun, locks) = (Instant::now(), &locks);
            let commit = scope.spawn(move || {
                let _closed = Closed::all([locks].into_iter());
                begun.elapsed()
            });
            std::thread::sleep(Duration::from_millis(50));
            // A reader that comes now does not come in before the commit.
            let refused = two.hold(Duration::ZERO);
            assert!(matches!(refused, Err(Error::Locked(_))), "{refused:?}");
            one.let_go();
            let waited = commit.join().unwrap();
            assert!(waited >= Duration::from_millis(50) && waited < PATIENCE, "{waited:?}");
        });
        two.hold(Duration::ZERO).unwrap();
    }

    #[test]
    fn a_reader_that_stays_keeps_a_commit_for_a_second_and_no_longer() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locks = writer(file.path());
        let mut reader = CommitGate::of(file.path()).unwrap();
        reader.hold(Duration::ZERO).unwrap();
        let begun = Instant::now();
        drop(Closed::all([&locks].into_iter()));
        assert!(begun.elapsed() >= PATIENCE);
    }
}
