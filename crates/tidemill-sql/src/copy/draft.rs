//! Drafts: files that are being written.
//!
//! The drafts of the process are registered, so that a program that a signal ends can remove them ([`remove_drafts`]) while threads still
//! write to them. A killed program leaves its folder behind. Each folder is locked while it is in use, so that the next copy in the same
//! place recognises abandoned ones, and removes them.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tempfile::TempDir;
use tidemill_xbase::{Existing, TableSet, abandoned_files, pending_logs};

use crate::error::refusal;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::stores::{object, standard_input};
use crate::{Error, Result};

/// Checks whether the destination of a copy may be written.
///
/// # Errors
///
/// [`Error::Exists`] for a file that may not be replaced; for an xBase table also its memo files and the like ([`TableSet::replaced`]).
pub(super) fn check_place(destination: &Path, format: Format, existing: Existing) -> Result<()> {
    if format == Format::Xbase {
        let replaced = TableSet::of(destination).replaced(existing);
        return replaced.map(drop).map_err(|error| match error {
            tidemill_xbase::Error::Exists { path } if existing != Existing::Refuse => Error::NotATable {
                place: path.display().to_string(),
                what: "a file that belongs to no table of the destination".to_owned(),
                hint: "move it away, or name another destination".to_owned(),
            },
            error => of_xbase(error),
        });
    }
    match existing == Existing::Refuse && destination.symlink_metadata().is_ok() {
        true => Err(exists(destination)),
        false => Ok(()),
    }
}

/// [`check_place`] for a file, or for an object, whose store is asked.
///
/// # Errors
///
/// [`Error::Exists`]; [`Error::Unsupported`] for a format that cannot be read from an object store.
pub(super) async fn check_destination(destination: &Location, existing: Existing) -> Result<()> {
    match (&destination.place, destination.format) {
        (Place::File(path), format) => check_place(path, format, existing),
        (Place::Shards { files, .. }, format) => {
            let mut files = files.iter();
            files.try_for_each(|path| check_place(path, format, existing))
        }
        (Place::Object(_), Format::Xbase | Format::Native(_)) => Err(Error::Unsupported {
            what: format!("{destination}: {} as an object", destination.format),
            hint: "copy to a file, or to a format that is read from there too, such as Parquet or Riegeli".to_owned(),
        }),
        (Place::Object(url), _) => object::check_place(url, existing).await,
        _ => Ok(()),
    }
}

/// Removes all drafts of this process, and aborts its uploads. From now on nothing is published. For a program that ends.
pub fn remove_drafts() {
    object::abort_uploads();
    standard_input::remove();
    tidemill_xbase::remove_drafts();
    let mut drafts = drafts();
    drafts.given_up = true;
    for folder in std::mem::take(&mut drafts.folders) {
        // A thread may create a file while this one removes the folder; it gets an error when it publishes.
        const TRIES: usize = 3;
        let _ = (0..TRIES).find(|_| fs::remove_dir_all(&folder).is_ok());
    }
}

/// The folders of existing drafts.
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
    // Each change is atomic, so that a poisoned lock is harmless.
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The drafts that killed programs have left in a folder: files, and folders of files.
///
/// # Errors
///
/// [`Error::Io`] if the folder cannot be listed.
pub fn remains_in(folder: &Path) -> Result<Vec<PathBuf>> {
    // A pending transaction log may still need the files of one.
    if pending_logs(folder).map_or(true, |logs| !logs.is_empty()) {
        return Ok(Vec::new());
    }
    let mut remains = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        // Not the target of a link.
        let is_ours = entry
            .metadata()
            .is_ok_and(|found| found.is_dir() && is_old(&found) && is_own(&found));
        if is_ours && is_draft(&entry) && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            remains.push(entry.path());
        }
    }
    remains.extend(abandoned_files(folder).unwrap_or_default());
    remains.sort();
    Ok(remains)
}

/// Whether a folder has the name and the contents of a draft: only files.
fn is_draft(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    let Some(made_up) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
        return false;
    };
    // Named by tempfile, and by the xBase engine.
    let is_made_up = match made_up.len() {
        6 => made_up.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        16 => made_up.bytes().all(|byte| byte.is_ascii_hexdigit()),
        _ => false,
    };
    let is_file =
        |entry: io::Result<DirEntry>| entry.is_ok_and(|entry| entry.file_type().is_ok_and(|found| found.is_file()));
    is_made_up && fs::read_dir(folder.path()).is_ok_and(|mut entries| entries.all(is_file))
}

/// Whether a folder belongs to the user of this process; false if the system does not say.
fn is_own(folder: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|process| process.uid() == folder.uid())
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// Whether the creator of a folder has had the time to lock it.
fn is_old(folder: &Metadata) -> bool {
    let age = folder.modified().ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(10))
}

/// The prefix of the names of drafts' folders.
const PREFIX: &str = TableSet::DRAFT;

/// A draft: files in a temporary folder, which is removed when this is dropped.
pub(super) struct Draft {
    folder: TempDir,
    /// Marks the folder as in use.
    _lock: File,
    /// At least one; for a table of more than one file, the main file.
    pub(super) files: Vec<PathBuf>,
}

impl Draft {
    /// A draft for a destination that [`check_destination`] has accepted: next to a file, or in the system's temporary folder for an
    /// object.
    pub(super) fn of(destination: &Location) -> Result<Self> {
        match &destination.place {
            Place::Object(url) => {
                let path = percent_decode_str(url.url().path()).decode_utf8_lossy().into_owned();
                Self::new(&std::env::temp_dir(), &[path], destination)
            }
            Place::Shards { files, .. } => {
                let parent = files.first().map_or(Path::new("."), |file| folder_of(file));
                Self::new(parent, files, destination)
            }
            _ => {
                let file = destination.file()?;
                Self::new(folder_of(file), &[file], destination)
            }
        }
    }

    fn new(parent: &Path, files: &[impl AsRef<Path>], destination: &Location) -> Result<Self> {
        let names = files.iter().map(|file| file.as_ref().file_name());
        let names = names.collect::<Option<Vec<_>>>().filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| Error::Unsupported {
            what: format!("{destination}: a destination without a file name"),
            hint: "name the file to be made".to_owned(),
        })?;
        for remains in remains_in(parent).unwrap_or_default() {
            // Another program may have removed it first.
            let _ = match remains.is_dir() {
                true => fs::remove_dir_all(remains),
                false => fs::remove_file(remains),
            };
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let folder = folder.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NotATable {
                place: destination.to_string(),
                what: format!("there is no folder {}", parent.display()),
                hint: "make it first, or name another destination".to_owned(),
            },
            _ => Error::io(parent, "write to")(refusal(&error).unwrap_or(error)),
        })?;
        let lock = File::open(folder.path()).map_err(Error::io(folder.path(), "open"))?;
        // Without locks, nothing is recognised as abandoned.
        let _ = lock.try_lock();
        drafts().folders.insert(folder.path().to_path_buf());
        Ok(Self {
            files: names.iter().map(|name| folder.path().join(name)).collect(),
            folder,
            _lock: lock,
        })
    }

    /// Replaces the draft in an error by its destination.
    pub(super) fn named(&self, error: Error, destination: &str) -> Error {
        match error {
            Error::Unsupported { mut what, hint } => {
                for file in &self.files {
                    what = what.replace(&*file.to_string_lossy(), destination);
                }
                Error::Unsupported { what, hint }
            }
            error => error.of_copy(destination),
        }
    }

    /// The place of the copy before it is published.
    pub(super) fn place(&self, destination: &Location) -> Place {
        match (self.files.as_slice(), &destination.place) {
            (files, Place::Shards { pattern, .. }) => Place::Shards {
                pattern: pattern.clone(),
                files: files.to_vec(),
            },
            (files, _) => Place::File(files.first().cloned().unwrap_or_default()),
        }
    }

    /// Moves the files to the destination: those of an xBase table all at once ([`TableSet`]), for other formats the single file, which is
    /// uploaded if it becomes an object. Numbered files are moved after the old ones are gone, so that a reader misses a file rather than
    /// mixing old and new rows. Returns the size in bytes.
    pub(super) async fn publish(self, destination: &Location, existing: Existing) -> Result<u64> {
        match &destination.place {
            Place::Object(url) => {
                let file = self.files.first().map_or(Path::new(""), PathBuf::as_path);
                object::put(file, url, existing).await
            }
            Place::Shards { files, .. } => self.publish_as(files, destination.format, existing),
            _ => self.publish_as(&[destination.file()?], destination.format, existing),
        }
    }

    fn publish_as(self, destinations: &[impl AsRef<Path>], format: Format, existing: Existing) -> Result<u64> {
        let destination = destinations.first().map_or(Path::new(""), AsRef::as_ref);
        let parent = folder_of(destination);
        // Excludes [`remove_drafts`], so that the files are published completely or not at all.
        let drafts = drafts();
        if drafts.given_up {
            return Err(Error::io(destination, "publish the copy as")(
                io::ErrorKind::Interrupted.into(),
            ));
        }
        if existing == Existing::Replace {
            match format {
                Format::Xbase => self.take_permissions_of_set(destination)?,
                _ => {
                    for (file, destination) in self.files.iter().zip(destinations) {
                        take_permissions(file, destination.as_ref())?;
                    }
                }
            }
        }
        if format == Format::Xbase {
            let published = TableSet::of(destination).publish(self.folder.path(), existing);
            drop(drafts);
            return published.map_err(of_xbase);
        }
        let mut sizes = Vec::with_capacity(self.files.len());
        for file in &self.files {
            sizes.push(fs::metadata(file).map_err(Error::io(file, "read"))?.len());
        }
        let moved = match destinations.len() {
            1 => Vec::new(),
            _ => self.moved_away(destinations, existing)?,
        };
        for (place, (file, destination)) in self.files.iter().zip(destinations).enumerate() {
            if let Err(error) = put(file, destination.as_ref(), existing) {
                // First the files of this copy are removed, then the old ones restored.
                if destinations.len() > 1 {
                    let made = destinations.iter().take(place);
                    made.for_each(|made| drop(fs::remove_file(made)));
                }
                put_back(&moved);
                return Err(error);
            }
        }
        let bytes = sizes.iter().sum();
        File::open(parent)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(parent, "synchronise"))?;
        drop(drafts);
        Ok(bytes)
    }
}

impl Draft {
    /// Gives the files of a table the permissions of those that they replace; new files get those of the table.
    fn take_permissions_of_set(&self, table: &Path) -> Result<()> {
        let folder = self.folder.path();
        for entry in fs::read_dir(folder).map_err(Error::io(folder, "read"))? {
            let file = entry.map_err(Error::io(folder, "read"))?.path();
            let replaced = file.file_name().map(|name| table.with_file_name(name));
            let replaced = replaced.filter(|replaced| replaced.exists());
            take_permissions(&file, replaced.as_deref().unwrap_or(table))?;
        }
        Ok(())
    }

    /// Moves the files that numbered ones replace into the draft's folder. Returns the new and the old path of each.
    fn moved_away(&self, destinations: &[impl AsRef<Path>], existing: Existing) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut moved = Vec::new();
        for (number, destination) in destinations.iter().map(AsRef::as_ref).enumerate() {
            let found = match destination.symlink_metadata() {
                Ok(found) if existing == Existing::Replace => found,
                _ => continue,
            };
            let aside = self.folder.path().join(format!("replaced-{number}"));
            let done = match found.is_dir() {
                true => Err(io::ErrorKind::IsADirectory.into()),
                false => fs::rename(destination, &aside),
            };
            if let Err(error) = done {
                put_back(&moved);
                return Err(Error::io(destination, "replace")(error));
            }
            moved.push((aside, destination.to_path_buf()));
        }
        Ok(moved)
    }
}

/// Gives a file the permissions of the one that it replaces, so that it does not become readable for others.
fn take_permissions(file: &Path, replaced: &Path) -> Result<()> {
    match replaced.symlink_metadata() {
        Ok(found) if found.is_file() => {
            fs::set_permissions(file, found.permissions()).map_err(Error::io(file, "set the permissions of"))
        }
        _ => Ok(()),
    }
}

/// Moves a file to its destination.
fn put(file: &Path, destination: &Path, existing: Existing) -> Result<()> {
    let done = match existing {
        Existing::Replace => fs::rename(file, destination),
        // Unlike a rename, a hard link fails if the file was created meanwhile.
        Existing::Refuse => match fs::hard_link(file, destination) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(destination)),
            // The file system lacks hard links. The name is taken by an empty file first.
            Err(_) => match File::create_new(destination) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(destination)),
                Err(error) => Err(error),
                Ok(_) => fs::rename(file, destination).inspect_err(|_| drop(fs::remove_file(destination))),
            },
            linked => linked,
        },
    };
    done.map_err(Error::io(destination, "rename the copy to"))
}

/// Moves files back.
fn put_back(moved: &[(PathBuf, PathBuf)]) {
    for (aside, place) in moved {
        // The first error is the one to report.
        let _ = fs::rename(aside, place);
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drafts().folders.remove(self.folder.path());
    }
}

fn of_xbase(error: tidemill_xbase::Error) -> Error {
    match error {
        tidemill_xbase::Error::Exists { path } => exists(&path),
        error => Error::from(error),
    }
}

fn exists(path: &Path) -> Error {
    Error::Exists {
        place: path.display().to_string(),
    }
}

/// The folder of a file, also of one that is named without a folder.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
