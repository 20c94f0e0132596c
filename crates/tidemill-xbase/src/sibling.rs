//! A new file that is written beside an old one and then takes its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name::{self, folder_of};
use crate::regular_file;
use crate::storage::DataFile;
use crate::under_way::{NEW, UnderWay, publishing};

/// A new file that takes the place of an old one; removed unless it does.
pub(crate) struct Sibling {
    path: PathBuf,
    target: PathBuf,
    handle: Arc<File>,
    done: bool,
    _under_way: UnderWay,
}

impl Sibling {
    /// Makes the file beside `target` under a name that nobody has, with the permissions of the file `like`, and keeps others
    /// from opening it. Where `target` is a link it would take the place of the link: see [`regular_file::behind_link`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn create(target: &Path, like: &Path) -> Result<Self> {
        let (path, file) = own_name::make(folder_of(target), own_name::PREFIX, NEW, regular_file::create)?;
        let sibling = Self {
            _under_way: UnderWay::new(&path),
            path,
            target: target.to_owned(),
            handle: Arc::new(file),
            done: false,
        };
        let mode = fs::metadata(like)
            .map_err(|e| Error::io(like, "open", e))?
            .permissions();
        let given = sibling.handle.set_permissions(mode);
        given.map_err(|e| Error::io(&sibling.path, "create", e))?;
        open_shared_or_exclusive(&sibling.handle, &sibling.path, Sharing::Exclusive, Duration::ZERO)?;
        Ok(sibling)
    }

    pub(crate) fn data_file(&self) -> DataFile {
        DataFile::new(&self.path, Box::new(Arc::clone(&self.handle)))
    }

    /// Takes the place of the old file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn replace(mut self) -> Result<()> {
        let _publishing = publishing(&self.target)?;
        fs::rename(&self.path, &self.target).map_err(|e| Error::io(&self.target, "replace", e))?;
        self.done = true;
        // The new name is on the disk once its folder is; where folders cannot be opened, the system sees to it.
        if let Ok(folder) = File::open(folder_of(&self.target)) {
            folder.sync_all().map_err(|e| Error::io(&self.target, "sync", e))?;
        }
        Ok(())
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.path);
        }
    }
}
