//! The files that this process is making, which go away when a signal ends it.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Sharing, is_free_to_open};
use crate::own_name::PREFIX;
use crate::regular_file;

/// What the name of a new file ends with that is to take the place of another.
pub(crate) const NEW: &str = ".new";

static MADE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Whether nothing takes its place any more. Held while something does.
static GIVEN_UP: RwLock<bool> = RwLock::new(false);

fn made() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // Each change of it is made at once.
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file, or a folder of files, that is being made: known from here on until this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay(PathBuf);

impl UnderWay {
    pub(crate) fn new(path: &Path) -> Self {
        // The program may stand elsewhere when it ends.
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        made().insert(whole.clone());
        Self(whole)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        made().remove(&self.0);
    }
}

/// Has [`remove_drafts`] wait while something that was made takes its place.
///
/// # Errors
/// [`Error::Io`] when the program is ending.
pub(crate) fn publishing(target: &Path) -> Result<RwLockReadGuard<'static, bool>> {
    let given_up = GIVEN_UP.read().unwrap_or_else(PoisonError::into_inner);
    match *given_up {
        false => Ok(given_up),
        true => Err(Error::io(target, "replace", io::ErrorKind::Interrupted.into())),
    }
}

/// Removes the new files that this process is making: indexes, and tables in the making. None takes its place from now on: for a
/// program that ends.
pub fn remove_drafts() {
    let mut given_up = GIVEN_UP.write().unwrap_or_else(PoisonError::into_inner);
    *given_up = true;
    for path in std::mem::take(&mut *made()) {
        let _ = match path.is_dir() {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
    }
}

/// The new files in a folder that nobody is making any more: of programs that were killed.
///
/// # Errors
/// [`Error::Io`] when the folder cannot be read.
pub fn abandoned_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read", e))? {
        let entry = entry.map_err(|e| Error::io(folder, "read", e))?;
        let name = entry.file_name();
        let made_up = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(NEW));
        let is_ours = made_up.is_some_and(|bits| bits.len() == 16 && bits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_ours && is_old(&entry) && is_let_go(&entry.path()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Whether its maker has had the time to lock it.
fn is_old(entry: &DirEntry) -> bool {
    const AGE: Duration = Duration::from_secs(10);
    let changed = entry.metadata().and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= AGE))
}

/// Whether nobody has it open as its maker.
fn is_let_go(path: &Path) -> bool {
    let Ok(file) = regular_file::open_to_write(path) else {
        return false;
    };
    is_free_to_open(&file, path, Sharing::Exclusive).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sibling::Sibling;

    #[test]
    fn what_a_killed_program_left_is_told_from_what_is_being_made() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.dbf");
        std::fs::write(&table, b"x").unwrap();
        let left = folder.path().join("tidemill-0123456789abcdef.new");
        std::fs::write(&left, b"x").unwrap();
        assert!(abandoned_files(folder.path()).unwrap().is_empty());
        let before = std::time::SystemTime::now() - Duration::from_secs(60);
        std::fs::File::options()
            .write(true)
            .open(&left)
            .unwrap()
            .set_modified(before)
            .unwrap();
        std::fs::write(folder.path().join("tidemill-notes.new"), b"x").unwrap();
        let making = Sibling::create(&folder.path().join("t.cdx"), &table).unwrap();
        assert_eq!(abandoned_files(folder.path()).unwrap(), [left]);
        drop(making);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
