//! New files of a table in the making, in a folder of their own beside it that goes away with them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name::{self, folder_of};
use crate::regular_file;
use crate::storage::DataFile;
use crate::transaction::Disk;
use crate::under_way::UnderWay;

/// A folder for new files.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    _under_way: UnderWay,
}

/// A new file, which is open here alone.
#[derive(Debug)]
pub(crate) struct DraftFile {
    handle: Arc<File>,
    data: DataFile,
}

impl Draft {
    /// Makes the folder beside a file, under a name that nobody has.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn beside(file: &Path, disk: &Arc<dyn Disk>) -> Result<Self> {
        let (folder, ()) = own_name::make(folder_of(file), own_name::DRAFT, "", |path| {
            std::fs::create_dir(path).map_err(|e| match e.kind() {
                std::io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
                _ => Error::io(path, "create", e),
            })
        })?;
        Ok(Self {
            _under_way: UnderWay::new(&folder),
            folder,
            disk: Arc::clone(disk),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a new file that is to take the place of one, with its permissions.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn file(&self, old: &Path) -> Result<DraftFile> {
        let path = self.folder.join(old.file_name().unwrap_or_default());
        let handle = Arc::new(regular_file::create(&path)?);
        let mode = std::fs::metadata(old)
            .map_err(|e| Error::io(old, "open", e))?
            .permissions();
        handle
            .set_permissions(mode)
            .map_err(|e| Error::io(&path, "create", e))?;
        open_shared_or_exclusive(&handle, &path, Sharing::Exclusive, Duration::ZERO)?;
        let storage = self.disk.storage(&path, Arc::clone(&handle));
        Ok(DraftFile {
            data: DataFile::new(&path, Box::new(storage)),
            handle,
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Once its files are in their places there is none.
        let _ = self.disk.remove_folder(&self.folder);
    }
}

impl DraftFile {
    pub(crate) fn handle(&self) -> &Arc<File> {
        &self.handle
    }

    pub(crate) fn data(&self) -> &DataFile {
        &self.data
    }
}
