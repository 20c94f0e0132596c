//! What names meant before, for as long as the files and folders that decide it are as they were.
//!
//! A look through a folder takes longer than a statement that reads one record.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidemill_xbase::stamp::FileStamp;

use super::Names;
use crate::location::{Location, Place};

/// As many names are remembered.
const MOST: usize = 1_000;

/// Names of files without path and extension, each with the table that it was.
#[derive(Debug, Default)]
pub(crate) struct KnownNames(Mutex<HashMap<String, Known>>);

#[derive(Debug)]
struct Known {
    table: Location,
    /// The folders that were looked through, and the file.
    stamps: Stamps,
}

/// Files and folders as they were.
pub(crate) type Stamps = Vec<(PathBuf, FileStamp)>;

impl KnownNames {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table of this name, where it is certain to be the one that it was.
    pub(crate) fn get(&self, name: &str) -> Option<Location> {
        let known = self.lock();
        let known = known.get(name)?;
        let is_same =
            |(path, stamp): &(PathBuf, FileStamp)| FileStamp::of(path).is_ok_and(|now| stamp.vouches_for(&now));
        known.stamps.iter().all(is_same).then(|| known.table.clone())
    }

    /// The folders that decide what a name means, to be looked at before the name is looked for; `None` for a name that is not
    /// remembered.
    pub(crate) fn folders(names: &Names, name: &str) -> Option<Stamps> {
        let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let is_attached = names
            .attached()
            .any(|(attached, _)| attached.eq_ignore_ascii_case(name));
        if !is_plain || is_attached || names.database().is_some() {
            return None;
        }
        let here = Path::new(".");
        let folders = names.folder().into_iter().chain([here]);
        folders
            .map(|folder| Some((folder.to_owned(), FileStamp::of(folder).ok()?)))
            .collect()
    }

    /// Remembers the table that a name means, where it is a file of one of the folders.
    pub(crate) fn insert(&self, name: &str, table: &Location, folders: Stamps) {
        let Place::File(path) = &table.place else { return };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let is_within = folders.iter().any(|(folder, _)| parent == folder);
        // The target of a link may become another one.
        let is_plain = fs::symlink_metadata(path).is_ok_and(|file| file.is_file());
        let (true, true, Ok(stamp)) = (is_within, is_plain, FileStamp::of(path)) else {
            return;
        };
        let mut stamps = folders;
        stamps.push((path.clone(), stamp));
        let mut known = self.lock();
        if known.len() >= MOST {
            known.clear();
        }
        let table = table.clone();
        known.insert(name.to_owned(), Known { table, stamps });
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::super::Found;
    use super::*;

    /// A change within the tick of the last one may leave the times of a file as they are.
    const SETTLED: Duration = Duration::from_millis(200);

    /// The table that a name means, and whether it was known.
    fn found(known: &KnownNames, names: &Names, name: &str) -> (PathBuf, bool) {
        let path = |table: &Location| table.file().expect("a file").to_owned();
        if let Some(table) = known.get(name) {
            return (path(&table), true);
        }
        let folders = KnownNames::folders(names, name);
        let Found::Table { location, .. } = names.find(name).expect("found") else {
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
        let now = |is_known: bool| assert_eq!(found(&known, &names, "t"), (file("t.csv"), is_known));
        write("t.csv");
        // Changed a moment ago.
        now(false);
        now(false);
        sleep(SETTLED);
        now(false);
        now(true);
        write("other.csv");
        now(false);
        sleep(SETTLED);
        now(false);
        now(true);
        // The bytes of the file, which tell its format.
        write("t.csv");
        now(false);
        sleep(SETTLED);
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
        sleep(SETTLED);
        for _ in 0..2 {
            assert_eq!(found(&known, &names, "t"), (folder.path().join("t.csv"), false));
        }
    }
}
