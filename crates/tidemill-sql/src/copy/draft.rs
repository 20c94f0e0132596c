//! Files in the making.
//!
//! Those of the whole process are known, so that a program that a signal ends can remove them ([`remove_drafts`]) while threads still
//! write to them. A program that was killed leaves its folder. Each is locked as long as somebody works in it, so that the next copy beside
//! it knows which are remains, and removes them.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

use crate::{Error, Result};

/// # Errors
///
/// [`Error::Exists`].
pub(super) fn absent(destination: &Path) -> Result<()> {
    match destination.exists() {
        true => Err(Error::Exists {
            place: destination.display().to_string(),
        }),
        false => Ok(()),
    }
}

/// Removes all files in the making of this process, whoever makes them. What was to be published is not, from now on: for a program
/// that ends.
pub fn remove_drafts() {
    let mut drafts = drafts();
    drafts.given_up = true;
    for folder in std::mem::take(&mut drafts.folders) {
        // A thread may make a file again while this one removes the folder; it is told what happened when it publishes.
        const TRIES: usize = 3;
        let _ = (0..TRIES).find(|_| fs::remove_dir_all(&folder).is_ok());
    }
}

/// The folders of drafts that are there.
#[derive(Default)]
struct Drafts {
    folders: BTreeSet<PathBuf>,
    given_up: bool,
}

static DRAFTS: Mutex<Drafts> = Mutex::new(Drafts {
    folders: BTreeSet::new(),
    given_up: false,
});

fn drafts() -> MutexGuard<'static, Drafts> {
    // Each change of it is made at once.
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folders in which programs made files here that were killed before they could remove them.
///
/// # Errors
///
/// [`Error::Io`] when the folder cannot be listed.
pub fn remains_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut remains = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        let name = entry.file_name();
        // Not what a link leads to.
        let is_draft = name.to_str().is_some_and(|name| name.starts_with(PREFIX))
            && entry.metadata().is_ok_and(|found| found.is_dir() && is_old(&found));
        if is_draft && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            remains.push(entry.path());
        }
    }
    remains.sort();
    Ok(remains)
}

/// Whether whoever made a folder has had the time to lock it.
fn is_old(folder: &Metadata) -> bool {
    let age = folder.modified().ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(10))
}

/// How the names of drafts' folders begin.
const PREFIX: &str = ".tidemill-";

/// Files in the making, in a folder of their own that goes away with this value.
pub(super) struct Draft {
    folder: TempDir,
    /// Tells others that somebody works there.
    _lock: File,
    pub(super) file: PathBuf,
}

impl Draft {
    /// A draft of a destination that is not there yet, or may be replaced.
    pub(super) fn checked(destination: &Path, may_replace: bool) -> Result<Self> {
        if !may_replace {
            absent(destination)?;
        }
        Self::beside(destination)
    }

    fn beside(destination: &Path) -> Result<Self> {
        let parent = parent(destination);
        let name = destination.file_name().ok_or_else(|| Error::Unsupported {
            what: format!("{}: a destination without a file name", destination.display()),
            hint: "name the file to be made".to_owned(),
        })?;
        for remains in remains_in(parent).unwrap_or_default() {
            // Whoever else sees it may be first.
            let _ = fs::remove_dir_all(remains);
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let folder = folder.map_err(Error::io(parent, "write to"))?;
        let lock = File::open(folder.path()).map_err(Error::io(folder.path(), "open"))?;
        // File systems without locks have no remains that anybody could be sure of.
        let _ = lock.try_lock();
        drafts().folders.insert(folder.path().to_path_buf());
        Ok(Self {
            file: folder.path().join(name),
            folder,
            _lock: lock,
        })
    }

    /// Moves the files to where they belong, the table itself last: who sees the table finds its memo file.
    pub(super) fn publish(self, destination: &Path) -> Result<u64> {
        let parent = parent(destination);
        // All of it or nothing: whoever removes the drafts waits, or comes first.
        let drafts = drafts();
        if drafts.given_up {
            return Err(Error::io(destination, "publish the copy as")(
                io::ErrorKind::Interrupted.into(),
            ));
        }
        let mut bytes = 0;
        let mut made = Vec::new();
        for entry in fs::read_dir(self.folder.path()).map_err(Error::io(parent, "list"))? {
            let path = entry.map_err(Error::io(parent, "list"))?.path();
            bytes += fs::metadata(&path).map_err(Error::io(&path, "read"))?.len();
            made.push(path);
        }
        made.sort_by_key(|path| *path == self.file);
        for path in made {
            let Some(name) = path.file_name() else { continue };
            fs::rename(&path, parent.join(name)).map_err(Error::io(destination, "rename the copy to"))?;
        }
        File::open(parent)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(parent, "synchronise"))?;
        drop(drafts);
        Ok(bytes)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drafts().folders.remove(self.folder.path());
    }
}

fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
