//! Whether a file is still what it was, without reading it.
//!
//! A DBF counts no changes, so its length, its times and its first bytes have to tell. Times are only as fine as the
//! file system's clock: a file that changed just before its stamp was taken may change again within the same tick and
//! show the same times. Such a stamp is racy and never vouches for anything (the rule of Git's index, "racy-git" in its
//! technical documentation).

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, SystemTime};

/// What a file looked like at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    len: u64,
    modified: Option<SystemTime>,
    changed: Changed,
    racy: bool,
}

impl FileStamp {
    /// The stamp of the file that the path names.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::new(&std::fs::metadata(path)?, SystemTime::now()))
    }

    /// The stamp of a file that had this metadata at `now`.
    pub(crate) fn new(meta: &Metadata, now: SystemTime) -> Self {
        let modified = meta.modified().ok();
        Self {
            len: meta.len(),
            modified,
            changed: Changed::of(meta),
            racy: modified.is_none_or(|modified| is_racy(modified, now)),
        }
    }

    /// Whether it vouches for anything.
    pub fn is_at_rest(&self) -> bool {
        !self.racy
    }

    /// Whether both are of one file, whatever it held, where the system numbers its files.
    pub(crate) fn is_of_file(&self, other: &Self) -> bool {
        self.changed.is_of_file(&other.changed)
    }

    /// Whether a file that looks like `later` holds what it held when this stamp was taken. False when it is not certain.
    pub fn vouches_for(&self, later: &Self) -> bool {
        !self.racy && self.len == later.len && self.modified == later.modified && self.changed == later.changed
    }
}

/// What was found in files, remembered for as long as they look as they did: so many findings, the last ones.
#[derive(Debug)]
pub struct FileMemo<K, T> {
    most: usize,
    known: Mutex<Vec<Finding<K, T>>>,
}

#[derive(Debug)]
struct Finding<K, T> {
    path: PathBuf,
    stamp: FileStamp,
    key: K,
    value: T,
}

impl<K: PartialEq, T: Clone> FileMemo<K, T> {
    /// Nothing yet, and at most so many findings.
    pub const fn new(most: usize) -> Self {
        Self {
            most,
            known: Mutex::new(Vec::new()),
        }
    }

    /// What was found under this key in the file, which certainly holds what it held then.
    pub fn get(&self, path: &Path, stamp: &FileStamp, key: &K) -> Option<T> {
        let known = locked_soon(&self.known)?;
        let finding = known
            .iter()
            .find(|finding| finding.key == *key && finding.path == path && finding.stamp.vouches_for(stamp))?;
        Some(finding.value.clone())
    }

    /// Remembers what was found after the stamp was taken, unless the file may change without another stamp.
    pub fn put(&self, path: &Path, stamp: &FileStamp, key: K, value: T) {
        if stamp.racy {
            return;
        }
        let Some(mut known) = locked_soon(&self.known) else {
            return;
        };
        known.retain(|finding| finding.key != key || finding.path != path);
        if known.len() >= self.most {
            known.remove(0);
        }
        known.push(Finding {
            path: path.to_owned(),
            stamp: stamp.clone(),
            key,
            value,
        });
    }
}

/// What is remembered for all threads. `None` when it cannot be had soon, as in a child that was forked while another thread was at
/// it: then nothing is known.
pub fn locked_soon<T>(known: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    const TRIES: usize = 200;
    for _ in 0..TRIES {
        match known.try_lock() {
            Ok(known) => return Some(known),
            // A thread that panicked left whole entries behind.
            Err(TryLockError::Poisoned(known)) => return Some(known.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// Whether another change at `now` could show the same time.
fn is_racy(modified: SystemTime, now: SystemTime) -> bool {
    /// Linux stamps files with the time of the last timer tick, at most 10 ms ago.
    const TICK: Duration = Duration::from_millis(20);
    /// FAT counts in two seconds, and other old file systems in one.
    const WHOLE_SECONDS: Duration = Duration::from_secs(2);
    let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let tick = if since_epoch.subsec_nanos() == 0 {
        WHOLE_SECONDS
    } else {
        TICK
    };
    modified.checked_add(tick).is_none_or(|end| now <= end)
}

/// What only the system changes, so that a program that sets the time of modification back is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Changed {
    #[cfg(unix)]
    at: (u64, u64, i64, i64),
}

impl Changed {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            at: (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn of(_meta: &Metadata) -> Self {
        Self {}
    }

    #[cfg(unix)]
    fn is_of_file(&self, other: &Self) -> bool {
        (self.at.0, self.at.1) == (other.at.0, other.at.1)
    }

    #[cfg(not(unix))]
    fn is_of_file(&self, _other: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_vouches_only_for_a_file_that_was_at_rest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"one").unwrap();
        let meta = || std::fs::metadata(file.path()).unwrap();
        let later = SystemTime::now() + Duration::from_secs(5);
        let stamp = FileStamp::new(&meta(), later);
        assert!(stamp.vouches_for(&FileStamp::new(&meta(), later)));
        let racy = FileStamp::new(&meta(), meta().modified().unwrap());
        assert!(!racy.vouches_for(&racy.clone()));

        let before = meta().modified().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        std::fs::write(file.path(), b"two").unwrap();
        assert!(!stamp.vouches_for(&FileStamp::new(&meta(), later)));
        // The same length, and the time of modification set back.
        std::fs::File::options()
            .write(true)
            .open(file.path())
            .unwrap()
            .set_modified(before)
            .unwrap();
        assert_eq!(meta().modified().unwrap(), before);
        assert_eq!(stamp.vouches_for(&FileStamp::new(&meta(), later)), cfg!(not(unix)));
    }

    #[test]
    fn findings_are_remembered_while_their_file_is_at_rest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path();
        std::fs::write(path, b"one").unwrap();
        let at = |now| FileStamp::new(&std::fs::metadata(path).unwrap(), now);
        let later = SystemTime::now() + Duration::from_secs(5);
        let memo = FileMemo::new(2);
        memo.put(path, &at(SystemTime::now()), 'a', 1);
        assert_eq!(memo.get(path, &at(later), &'a'), None, "racy");
        memo.put(path, &at(later), 'a', 1);
        memo.put(path, &at(later), 'b', 2);
        assert_eq!(memo.get(path, &at(later), &'a'), Some(1));
        assert_eq!(memo.get(path, &at(later), &'c'), None);
        assert_eq!(memo.get(Path::new("another"), &at(later), &'a'), None);
        memo.put(path, &at(later), 'c', 3);
        assert_eq!(memo.get(path, &at(later), &'a'), None, "the oldest makes room");
        assert_eq!(memo.get(path, &at(later), &'b'), Some(2));
        std::fs::write(path, b"longer").unwrap();
        assert_eq!(memo.get(path, &at(later), &'b'), None, "another file");
    }

    #[test]
    fn times_in_whole_seconds_are_racy_for_longer() {
        let at = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        for (modified, now, racy) in [
            (5_001, 5_001, true),
            (5_001, 5_021, true),
            (5_001, 5_022, false),
            (5_000, 7_000, true),
            (5_000, 7_001, false),
            (9_001, 5_000, true),
        ] {
            assert_eq!(is_racy(at(modified), at(now)), racy, "{modified} {now}");
        }
    }
}
