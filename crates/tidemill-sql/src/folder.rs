//! The contents of a folder: its tables, and the files that are not tables.

use std::path::{Path, PathBuf};

use crate::location::Location;
use crate::{Error, Result};

/// The files of a folder, each in one of its lists.
#[derive(Debug, Default)]
pub struct Folder {
    /// The tables, by name: every file whose bytes or name identify a format. Companions of a table (memos, indexes, code pages, database
    /// containers, transaction logs) are not listed.
    pub tables: Vec<Location>,
    /// The other files and folders, with the reason for each. Hidden files are ignored.
    pub left_out: Vec<LeftOut>,
}

/// A file that is not a table.
#[derive(Debug)]
pub struct LeftOut {
    /// The file.
    pub path: PathBuf,
    /// Why it is none.
    pub why: String,
}

impl Folder {
    /// Inspects every file of the folder, but not its subfolders.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder cannot be listed.
    pub fn list(folder: &Path) -> Result<Self> {
        let mut listed = Self::default();
        for path in entries(folder)? {
            if is_companion(&path) {
                continue;
            }
            // Only regular files are opened: opening a pipe would wait for its writer.
            match path.metadata() {
                Ok(metadata) if metadata.is_file() => {}
                Ok(metadata) => {
                    let why = if metadata.is_dir() {
                        "a folder"
                    } else {
                        "no regular file"
                    };
                    listed.leave_out(path, why);
                    continue;
                }
                Err(error) => {
                    listed.leave_out(path, error.to_string());
                    continue;
                }
            }
            match Location::existing(&path) {
                Ok(location) => listed.tables.push(location),
                Err(Error::NotATable { what, .. }) => listed.leave_out(path, what),
                Err(error) => listed.leave_out(path, error.to_string()),
            }
        }
        Ok(listed)
    }

    fn leave_out(&mut self, path: PathBuf, why: impl Into<String>) {
        self.left_out.push(LeftOut { path, why: why.into() });
    }
}

/// The entries of a folder that are not hidden, by name.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let path = entry.map_err(Error::io(folder, "list"))?.path();
        let path = path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_path_buf);
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden {
            entries.push(path);
        }
    }
    entries.sort();
    Ok(entries)
}

/// Whether a file belongs to a table, by its extension.
pub(crate) fn is_companion(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        COMPANIONS
            .iter()
            .any(|companion| companion.eq_ignore_ascii_case(extension))
    })
}

/// Memos, indexes, code pages, database containers of Visual FoxPro, and transaction logs.
const COMPANIONS: [&str; 14] = [
    "fpt", "dbt", "smt", "cdx", "ntx", "nsx", "idx", "ndx", "mdx", "cpg", "dbc", "dct", "dcx", "tmlog",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_table_or_belongs_to_one_or_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("written");
        write("a.dbf", b"");
        write("a.FPT", b"");
        write("b.csv", b"x\n1\n");
        write("page.tfrecord", b"<html>");
        write("README", b"Read me");
        write(".hidden", b"");
        std::fs::create_dir(folder.path().join("old.dbf")).expect("a folder");
        let listed = Folder::list(folder.path()).expect("listed");
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let tables: Vec<String> = listed
            .tables
            .iter()
            .map(|table| name(table.file().expect("a file")))
            .collect();
        assert_eq!(tables, ["a.dbf", "b.csv"]);
        let left_out: Vec<(String, &str)> = listed
            .left_out
            .iter()
            .map(|left| (name(&left.path), left.why.as_str()))
            .collect();
        assert_eq!(
            left_out,
            [
                ("README".to_owned(), "a file of a format that is not known"),
                ("old.dbf".to_owned(), "a folder"),
                (
                    "page.tfrecord".to_owned(),
                    "an HTML page, as a server sends it in place of the file"
                ),
            ]
        );
    }
}
