//! The folder that is served. What an input has changed there is put right before the next, so that each finds the same.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A folder with the tables `types` and `days`.
pub(super) struct Folder {
    /// Has nothing but the folder.
    around: PathBuf,
    path: PathBuf,
    /// What it looked like when it was made.
    made: Mutex<Vec<File>>,
}

/// The name of a file, its size, and when it was changed.
type File = (OsString, u64, Option<SystemTime>);

impl Folder {
    pub(super) fn new() -> Self {
        let around = std::env::temp_dir().join(format!("tidemill-door-{}", std::process::id()));
        // Of a process that had the same number.
        let _ = fs::remove_dir_all(&around);
        let folder = Self {
            path: around.join("served"),
            around,
            made: Mutex::default(),
        };
        folder.remake();
        folder
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it looks as it was made.
    pub(super) fn is_clean(&self) -> bool {
        let around = files(&self.around);
        assert!(
            around.iter().all(|(name, ..)| name == "served"),
            "something was written outside of the folder: {around:?}"
        );
        files(&self.path) == *self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces all files. A file that the server has open is removed from the folder, and keeps its content.
    pub(super) fn remake(&self) {
        fs::create_dir_all(&self.path).expect("a folder for temporary files");
        for (name, ..) in files(&self.path) {
            let path = self.path.join(name);
            // A statement that nobody waits for may remove its own files meanwhile.
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        for (name, content) in TABLES {
            fs::write(self.path.join(name), content).expect("room for the tables");
        }
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = files(&self.path);
    }
}

/// What is in a folder, by name.
fn files(folder: &Path) -> Vec<File> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<File> = entries
        .map(|entry| match entry.metadata() {
            Ok(about) => (entry.file_name(), about.len(), about.modified().ok()),
            // It has gone since.
            Err(_) => (entry.file_name(), 0, None),
        })
        .collect();
    files.sort();
    files
}

/// Every type of a Visual FoxPro table, with a memo file and an index; three plain columns of 300 records.
const TABLES: [(&str, &[u8]); 4] = [
    ("types.dbf", include_bytes!("../../../../corpus/xbase/types_vfp.dbf")),
    ("types.fpt", include_bytes!("../../../../corpus/xbase/types_vfp.fpt")),
    ("types.cdx", include_bytes!("../../../../corpus/xbase/types_vfp.cdx")),
    ("days.dbf", include_bytes!("../../../../corpus/xbase/hand.dbf")),
];
