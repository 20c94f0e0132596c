//! What names meant before, for as long as the files and folders that decide it are as they were.
//!
//! A look through a folder takes longer than a statement that reads one record.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::Names;
use crate::location::{Location, Place};

/// As many names are remembered.
const MOST: usize = 1_000;

/// A change within this time of the last one may leave the times of a file as they are.
const TICK: Duration = Duration::from_millis(100);

/// Names of files without path and extension, each with the table that it was.
#[derive(Debug, Default)]
pub(crate) struct KnownNames(Mutex<HashMap<String, Known>>);

#[derive(Debug)]
struct Known {
    table: Location,
    /// The file, and the folders that were looked through.
    seen: Vec<(PathBuf, Seen)>,
}

/// What tells that a file or a folder was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn is_settled(&self, now: SystemTime) -> bool {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanoseconds) = self.changed;
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        changed.is_some_and(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds) + TICK < since)
    }
}

impl KnownNames {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table of this name, where it is certain to be the one that it was.
    pub(crate) fn get(&self, name: &str) -> Option<Location> {
        let known = self.lock();
        let known = known.get(name)?;
        let is_same = |(path, seen): &(PathBuf, Seen)| fs::metadata(path).is_ok_and(|now| Seen::of(&now) == *seen);
        known.seen.iter().all(is_same).then(|| known.table.clone())
    }

    /// What decides what a name means, looked at before the name is looked for; `None` for what is not remembered.
    pub(crate) fn folders(names: &Names, name: &str) -> Option<Folders> {
        let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let is_attached = names
            .attached()
            .any(|(attached, _)| attached.eq_ignore_ascii_case(name));
        if !is_plain || is_attached || names.database().is_some() {
            return None;
        }
        let here = Path::new(".");
        let folders = [names.folder().unwrap_or(here), here];
        let now = SystemTime::now();
        let mut seen = Vec::new();
        for folder in folders {
            let of_folder = Seen::of(&fs::metadata(folder).ok()?);
            if !of_folder.is_settled(now) {
                return None;
            }
            seen.push((folder.to_owned(), of_folder));
        }
        seen.dedup();
        Some(Folders { seen, at: now })
    }

    /// Remembers what a name means. What is no file of one of the folders is forgotten.
    pub(crate) fn insert(&self, name: &str, table: &Location, folders: Folders) {
        let Place::File(path) = &table.place else { return };
        let is_within = folders.seen.iter().any(|(folder, _)| {
            let parent = path.parent().unwrap_or(path);
            parent == folder || parent.as_os_str().is_empty() && folder == Path::new(".")
        });
        // The target of a link may be changed.
        let Some(file) = fs::symlink_metadata(path)
            .ok()
            .filter(|file| is_within && file.is_file())
        else {
            return;
        };
        let file = Seen::of(&file);
        if !file.is_settled(folders.at) {
            return;
        }
        let mut seen = folders.seen;
        seen.push((path.clone(), file));
        let mut known = self.lock();
        if known.len() >= MOST {
            known.clear();
        }
        let table = table.clone();
        known.insert(name.to_owned(), Known { table, seen });
    }
}

/// The folders that a name is looked for in, as they were before.
#[derive(Debug)]
pub(crate) struct Folders {
    seen: Vec<(PathBuf, Seen)>,
    at: SystemTime,
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    /// The table that a name means, and whether it was known.
    fn found(known: &KnownNames, names: &Names, name: &str) -> (PathBuf, bool) {
        let path = |table: &Location| table.file().expect("a file").to_owned();
        if let Some(table) = known.get(name) {
            return (path(&table), true);
        }
        let folders = KnownNames::folders(names, name);
        let super::super::Found::Table { location, .. } = names.find(name).expect("found") else {
            panic!("{name} is no file")
        };
        if let Some(folders) = folders {
            known.insert(name, &location, folders);
        }
        (path(&location), false)
    }

    #[test]
    fn a_name_is_known_until_something_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        let write = |name: &str| fs::write(file(name), b"a\n1\n").expect("written");
        let mut names = Names::default();
        names.set_dir(folder.path());
        let known = KnownNames::default();
        write("t.csv");
        // Changed a moment ago.
        assert_eq!(found(&known, &names, "t"), (file("t.csv"), false));
        sleep(2 * TICK);
        let now = |is_known: bool| assert_eq!(found(&known, &names, "t"), (file("t.csv"), is_known));
        now(false);
        now(true);
        write("other.csv");
        now(false);
        sleep(2 * TICK);
        now(false);
        now(true);
        // The bytes of the file, which tell its format.
        write("t.csv");
        now(false);
        sleep(2 * TICK);
        now(false);
        now(true);
        fs::rename(file("t.csv"), file("t.jsonl")).expect("renamed");
        assert_eq!(found(&known, &names, "t"), (file("t.jsonl"), false));
    }

    #[test]
    fn what_a_link_means_is_not_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("real.csv"), b"a\n1\n").expect("written");
        std::os::unix::fs::symlink("real.csv", folder.path().join("t.csv")).expect("a link");
        let mut names = Names::default();
        names.set_dir(folder.path());
        let known = KnownNames::default();
        sleep(2 * TICK);
        for _ in 0..2 {
            assert_eq!(found(&known, &names, "t"), (folder.path().join("t.csv"), false));
        }
    }
}
