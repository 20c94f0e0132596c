//! Caches the files of table names, until the file or a searched folder changes.
//!
//! Searching a folder takes longer than a statement that reads one record.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidemill_xbase::stamp::FileStamp;

use super::{Attached, Names};
use crate::location::{Location, Place};

/// The most cached names.
const MOST: usize = 1_000;

/// File names without a path, or after the name of an attached folder, each with its table.
#[derive(Debug, Default)]
pub(crate) struct KnownNames(Mutex<HashMap<String, Known>>);

#[derive(Debug)]
struct Known {
    table: Location,
    /// Of the searched folders, and of the file.
    stamps: Stamps,
}

/// Files and folders with their stamps.
pub(crate) type Stamps = Vec<(PathBuf, FileStamp)>;

impl KnownNames {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached table of this name, if its stamps have not changed.
    pub(crate) fn get(&self, name: &str) -> Option<Location> {
        let known = self.lock();
        let known = known.get(name)?;
        let is_same =
            |(path, stamp): &(PathBuf, FileStamp)| FileStamp::of(path).is_ok_and(|now| stamp.vouches_for(&now));
        known.stamps.iter().all(is_same).then(|| known.table.clone())
    }

    /// The stamps of the folders that determine the meaning of a name, to be taken before they are searched. `None` for a name that is not
    /// cached.
    pub(crate) fn folders(names: &Names, name: &str) -> Option<Stamps> {
        let is_plain = name
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
        let is_attached = |(attached, _): (&str, &str)| attached.eq_ignore_ascii_case(name);
        if !is_plain || names.attached().any(is_attached) {
            return None;
        }
        let folder = match names.within_attached(name).ok()? {
            Some((Attached::Folder(folder), _)) if folder.is_absolute() => Some(folder),
            Some(_) => return None,
            None if names.database().is_some() => return None,
            None => names.folder().map(Path::to_owned),
        };
        let current = (!names.is_confined).then(|| PathBuf::from("."));
        let stamped = folder.into_iter().chain(current).map(|folder| {
            let stamp = FileStamp::of(&folder).ok()?;
            Some((folder, stamp))
        });
        stamped.collect()
    }

    /// Caches the table of a name, if it is a file in one of the folders.
    pub(crate) fn insert(&self, name: &str, table: &Location, folders: Stamps) {
        let Place::File(path) = &table.place else { return };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let is_within = folders.iter().any(|(folder, _)| parent == folder);
        // A link may be changed to another file.
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

    /// A change shortly after another may leave a file's times unchanged.
    const SETTLED: Duration = Duration::from_millis(200);

    /// The table of a name, and whether it was cached.
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
    fn names_of_attached_folders_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("t.csv"), b"a\n1\n").expect("written");
        let mut names = Names::default();
        names.attach("shop", folder.path().to_str().expect("a text"));
        names.attach("one", folder.path().join("t.csv").to_str().expect("a text"));
        let known = KnownNames::default();
        sleep(SETTLED);
        for (name, is_known) in [("shop.t", true), ("shop.t.csv", true), ("one", false)] {
            let first = found(&known, &names, name);
            assert_eq!(first, (folder.path().join("t.csv"), false), "{name}");
            assert_eq!(found(&known, &names, name).1, is_known, "{name}");
        }
        fs::write(folder.path().join("other.csv"), b"a\n1\n").expect("written");
        assert!(!found(&known, &names, "shop.t").1);
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
