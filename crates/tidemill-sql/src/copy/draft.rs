//! Files in the making.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

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

/// Files in the making, in a folder of their own that goes away with this value.
pub(super) struct Draft {
    folder: TempDir,
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
        let folder = tempfile::Builder::new().prefix(".tidemill-").tempdir_in(parent);
        let folder = folder.map_err(Error::io(parent, "write to"))?;
        Ok(Self {
            file: folder.path().join(name),
            folder,
        })
    }

    /// Moves the files to where they belong, the table itself last: who sees the table finds its memo file.
    pub(super) fn publish(self, destination: &Path) -> Result<u64> {
        let parent = parent(destination);
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
        Ok(bytes)
    }
}

fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
