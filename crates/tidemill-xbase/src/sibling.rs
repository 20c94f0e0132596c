//! A new file that is written beside an old one and then takes its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::storage::DataFile;

/// A new file that takes the place of an old one; removed unless it does.
pub(crate) struct Sibling {
    path: PathBuf,
    handle: Arc<File>,
    done: bool,
}

impl Sibling {
    /// Makes the file beside `target`, with the permissions of the file `like`, and keeps others from opening it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn create(target: &Path, like: &Path) -> Result<Self> {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let path = target.with_file_name(name);
        let io = |action| move |e| (action, e);
        let created = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(io("create"))
            .and_then(|file| {
                let mode = fs::metadata(like).map_err(io("open"))?.permissions();
                file.set_permissions(mode).map_err(io("create"))?;
                Ok(file)
            });
        let file = created.map_err(|(action, e)| Error::io(&path, action, e))?;
        open_shared_or_exclusive(&file, &path, Sharing::Exclusive, Duration::ZERO)?;
        Ok(Self {
            path,
            handle: Arc::new(file),
            done: false,
        })
    }

    pub(crate) fn handle(&self) -> Arc<File> {
        Arc::clone(&self.handle)
    }

    pub(crate) fn data_file(&self) -> DataFile {
        DataFile::new(&self.path, Box::new(Arc::clone(&self.handle)))
    }

    /// Takes the place of the file at `path`; both are in one folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn replace(mut self, path: &Path) -> Result<Arc<File>> {
        fs::rename(&self.path, path).map_err(|e| Error::io(path, "replace", e))?;
        self.done = true;
        let folder = path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        // The new name is on the disk once its folder is; where folders cannot be opened, the system sees to it.
        if let Ok(folder) = File::open(folder) {
            folder.sync_all().map_err(|e| Error::io(path, "sync", e))?;
        }
        Ok(Arc::clone(&self.handle))
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.path);
        }
    }
}
