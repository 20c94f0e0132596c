//! The files of one table, which belong together: the table, its memo file, its production index, its code page.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::own_name::folder_of;

/// What lies beside a table under its name and belongs to it. Index files that the program names itself, such as those of
/// Clipper, do not: nobody knows whose they are.
const COMPANIONS: [&str; 5] = ["fpt", "dbt", "smt", "cdx", "cpg"];

/// The files of a table. It need not be there yet.
#[derive(Debug, Clone)]
pub struct TableSet {
    table: PathBuf,
}

impl TableSet {
    /// Those of the table at this path.
    pub fn of(table: impl AsRef<Path>) -> Self {
        Self {
            table: table.as_ref().to_owned(),
        }
    }

    /// The table's path.
    pub fn table(&self) -> &Path {
        &self.table
    }

    /// Those of its files that are there, the table first: `people.dbf`, and `people.fpt`, `.dbt`, `.smt`, `.cdx`, `.cpg` in any
    /// case, but not those of another table whose name differs by case alone. Links, folders and the like count too.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let folder = folder_of(&self.table);
        let io = |e| Error::io(folder, "read", e);
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(e)),
        };
        let names = entries
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<Vec<_>>>();
        let names = names.map_err(io)?;
        let own = self.table.file_name().unwrap_or_default();
        let mut files: Vec<&OsString> = names.iter().filter(|name| self.has_companion(name, &names)).collect();
        files.sort();
        let table = names.iter().filter(|name| *name == own);
        Ok(table.chain(files).map(|name| self.table.with_file_name(name)).collect())
    }

    /// Refuses to make a table where one of its files is there, be it a stranger's: a new table would write over it, or take it
    /// for its own.
    ///
    /// # Errors
    /// [`Error::Exists`] with the first that is there; [`Error::Io`].
    pub fn refuse_existing(&self) -> Result<()> {
        match self.files()?.into_iter().next() {
            Some(path) => Err(Error::Exists { path }),
            None => Ok(()),
        }
    }

    fn has_companion(&self, name: &OsStr, all: &[OsString]) -> bool {
        let path = Path::new(name);
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let (stem, own) = (
            path.file_stem().unwrap_or_default(),
            self.table.file_stem().unwrap_or_default(),
        );
        if !COMPANIONS.contains(&extension.as_str()) {
            return false;
        }
        stem == own || (lower(stem) == lower(own) && !all.iter().any(|other| is_table_of(Path::new(other), stem)))
    }
}

fn is_table_of(path: &Path, stem: &OsStr) -> bool {
    path.file_stem() == Some(stem)
        && path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("dbf"))
}

fn lower(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_table_are_those_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let check = |there: &[&str], table: &str, expected: &[&str]| {
            for name in there {
                std::fs::write(folder.path().join(name), b"").unwrap();
            }
            let set = TableSet::of(folder.path().join(table));
            let found: Vec<_> = set.files().unwrap();
            let expected: Vec<_> = expected.iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(found, expected, "{table}");
            assert_eq!(set.refuse_existing().is_err(), !expected.is_empty());
        };
        check(&["other.dbf", "people.txt", "people.ntx"], "people.dbf", &[]);
        check(&["people.FPT"], "people.dbf", &["people.FPT"]);
        check(&["PEOPLE.CDX"], "people.dbf", &["PEOPLE.CDX", "people.FPT"]);
        check(
            &["people.dbf", "people.cdx"],
            "people.dbf",
            &["people.dbf", "PEOPLE.CDX", "people.FPT", "people.cdx"],
        );
        // Two tables.
        check(
            &["PEOPLE.DBF"],
            "people.dbf",
            &["people.dbf", "people.FPT", "people.cdx"],
        );
        check(&[], "PEOPLE.DBF", &["PEOPLE.DBF", "PEOPLE.CDX"]);
        assert_eq!(
            TableSet::of(folder.path().join("none/x.dbf")).files().unwrap(),
            [] as [PathBuf; 0]
        );
    }
}
