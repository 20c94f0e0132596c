//! Temporary tables: `#name`, which one connection alone sees, and which are gone with it ("Temporary Tables" in ADS's help).
//!
//! They are tables like others, in a folder of their own below that of the system's temporary files, which nobody else may look into. The
//! folder is locked for as long as the connection is open: one that nobody has locked was left by a process that died, and is removed by
//! the next connection that makes one. Their fields have names of up to 128 characters: where the 10 bytes of a DBF do not suffice, the file has shorter ones, and the connection
//! remembers the others for as long as the table is there.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::{FieldSpec, own_name};

use crate::connection::{AreaId, Connection};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::work_area::{TableOptions, TableType};

/// The most characters of a field's name.
const LONGEST: usize = 128;
/// The most bytes of a name in the file.
const IN_FILE: usize = 10;
/// What the names of the folders end with.
const END: &str = ".temporary";

/// The temporary tables of a connection.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    folder: Option<OwnFolder>,
    tables: HashMap<String, Known>,
    made: u64,
}

/// A temporary table of a connection, for who reads it by other means than the connection's statements. It is gone when it is dropped
/// and when the connection is closed.
#[derive(Debug, Clone, Copy)]
pub struct TemporaryTable<'c> {
    /// Its name, which begins with `#`, in small letters.
    pub name: &'c str,
    /// Its file.
    pub path: &'c Path,
    /// The names of its fields, in table order, where the file has shorter ones: what
    /// [`OpenOptions::field_names`](tidemill_xbase::OpenOptions::field_names) takes. `None`: those of the file.
    pub field_names: Option<&'c Arc<[String]>>,
}

impl Connection {
    /// Makes an empty table that this connection alone sees, with fields as [`Connection::create_table`] takes them, and opens it. It is
    /// `#name` in statements, and it is gone with the connection.
    ///
    /// # Errors
    /// [`ErrorCode::FileError`] for a name that such a table has already; as [`Connection::create_table`].
    pub fn create_memory_table(
        &mut self,
        name: &str,
        fields: &str,
        options: &TableOptions,
        settings: &Settings,
    ) -> Result<AreaId> {
        let name = format!("#{}", name.trim().trim_start_matches('#'));
        if name.len() == 1 || !Temporary::is_one(&name) {
            let what = format!("{name}: a table in memory has a name without a folder");
            return Err(Error::new(ErrorCode::InvalidPath, what));
        }
        if self.temporary.path(&name).is_some() {
            let what = format!("{name}: the connection has a table in memory of this name");
            return Err(Error::new(ErrorCode::FileError, what));
        }
        self.create_table(&name, fields, options, settings)
    }
}

#[derive(Debug)]
struct Known {
    path: PathBuf,
    names: OwnNames,
}

/// The names of all fields, where they are not those of the file.
type OwnNames = Option<Arc<[String]>>;

impl Temporary {
    /// Whether a name is that of a temporary table.
    pub(crate) fn is_one(name: &str) -> bool {
        name.trim().starts_with('#') && !name.contains(['/', '\\'])
    }

    /// The tables, in the order of their names.
    pub(crate) fn tables(&self) -> impl Iterator<Item = TemporaryTable<'_>> {
        let mut tables: Vec<_> = self.tables.iter().collect();
        tables.sort_by_key(|(name, _)| *name);
        tables.into_iter().map(|(name, known)| TemporaryTable {
            name,
            path: &known.path,
            field_names: known.names.as_ref(),
        })
    }

    /// The file of a table that there is.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.tables.get(&key(name)).map(|known| known.path.as_path())
    }

    /// The names of the fields of a file, where they are not those that the file has.
    pub(crate) fn field_names(&self, path: &Path) -> OwnNames {
        let known = self.tables.values().find(|known| known.path == path)?;
        known.names.clone()
    }

    /// A place for a new table, and its fields as the file has them.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldDefinition`] for a name that is empty, too long or there twice; [`ErrorCode::FileError`] when there can
    /// be no folder.
    pub(crate) fn add(
        &mut self,
        name: &str,
        fields: &[FieldSpec],
        table_type: TableType,
    ) -> Result<(PathBuf, Vec<FieldSpec>)> {
        let (in_file, names) = match (in_file(name, fields)?, table_type) {
            // The names of an ADT are as long.
            (_, TableType::Adt) => (fields.to_vec(), None),
            (named, _) => named,
        };
        let folder = self.folder()?;
        self.made += 1;
        let key = key(name);
        let letters = key.chars().map(|c| if c.is_alphanumeric() { c } else { '_' });
        let stem: String = letters.skip(1).take(40).collect();
        let path = folder.join(format!("{stem}{}.{}", self.made, table_type.extension()));
        let known = Known {
            path: path.clone(),
            names,
        };
        self.tables.insert(key, known);
        Ok((path, in_file))
    }

    /// Forgets a table whose file is gone.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.tables.retain(|_, known| known.path != path);
    }

    fn folder(&mut self) -> Result<PathBuf> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => OwnFolder::make(&std::env::temp_dir())?,
        };
        Ok(self.folder.insert(folder).path.clone())
    }
}

/// A folder that one connection has, locked until it is dropped and removed then.
#[derive(Debug)]
struct OwnFolder {
    path: PathBuf,
    process: u32,
    /// Holds the lock.
    _held: File,
}

impl OwnFolder {
    /// Makes a folder in another one, and removes those that processes which died have left there.
    ///
    /// # Errors
    /// [`ErrorCode::FileError`] when there can be none.
    fn make(within: &Path) -> Result<Self> {
        let bad = |path: &Path, error: &dyn std::fmt::Display| {
            let what = format!("{}: no folder for temporary tables: {error}", path.display());
            Error::new(ErrorCode::FileError, what)
        };
        sweep(within);
        loop {
            let create = |path: &Path| {
                DirBuilder::new()
                    .mode(0o700)
                    .create(path)
                    .map_err(|error| own_error(path, error))
            };
            let (path, ()) =
                own_name::make(within, own_name::PREFIX, END, create).map_err(|error| bad(within, &error))?;
            let held = File::open(&path).map_err(|error| bad(&path, &error))?;
            // Somebody who looks for folders that nobody has may be faster.
            if held.try_lock().is_ok() && is_at(&path, &held) {
                return Ok(Self {
                    path,
                    process: std::process::id(),
                    _held: held,
                });
            }
        }
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // A forked child has the folder of its parent, which goes on with it.
        if self.process == std::process::id() {
            // What cannot be removed is, by the next connection that looks.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn own_error(path: &Path, error: io::Error) -> tidemill_xbase::Error {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::AlreadyExists => tidemill_xbase::Error::Exists { path },
        _ => tidemill_xbase::Error::Io {
            path,
            action: "create",
            source: error,
        },
    }
}

/// Removes folders for temporary tables that nobody has: those of this user, whose process died.
fn sweep(within: &Path) {
    let is_own = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(own_name::PREFIX) && name.ends_with(END)
    };
    let user = std::fs::metadata("/proc/self").map(|about| about.uid()).ok();
    let entries = std::fs::read_dir(within).into_iter().flatten().flatten();
    for path in entries.filter(is_own).map(|entry| entry.path()) {
        let found = std::fs::symlink_metadata(&path);
        if !found.is_ok_and(|found| found.is_dir() && Some(found.uid()) == user) {
            continue;
        }
        let Ok(held) = File::open(&path) else { continue };
        if held.try_lock().is_ok() && is_at(&path, &held) {
            // A folder that cannot be removed does no harm.
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Whether a path leads to what was opened there.
fn is_at(path: &Path, open: &File) -> bool {
    let same = |a: Metadata, b: Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    let there = std::fs::symlink_metadata(path).ok();
    there
        .zip(open.metadata().ok())
        .is_some_and(|(there, open)| same(there, open))
}

/// A name without its extension, in small letters.
fn key(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let ends = [".dbf", ".adt"].into_iter();
    let bare = ends.filter_map(|end| name.strip_suffix(end)).next();
    bare.unwrap_or(&name).to_owned()
}

/// Fields with names that fit into the file, and the names as they were given, where these differ.
fn in_file(table: &str, fields: &[FieldSpec]) -> Result<(Vec<FieldSpec>, OwnNames)> {
    let bad = |field: &str, why: &str| {
        let what = format!("{table}: field {field:?}: {why}");
        Error::new(ErrorCode::InvalidFieldDefinition, what)
    };
    let mut known: Vec<String> = Vec::with_capacity(fields.len());
    for FieldSpec { name, .. } in fields {
        let folded = name.to_lowercase();
        if name.trim().is_empty() || name.chars().count() > LONGEST {
            return Err(bad(name, &format!("a name has 1 to {LONGEST} characters")));
        }
        if known.contains(&folded) {
            return Err(bad(name, "the name exists twice"));
        }
        known.push(folded);
    }
    let is_short = |name: &str| name.len() <= IN_FILE && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if fields.iter().all(|field| is_short(&field.name)) {
        return Ok((fields.to_vec(), None));
    }
    let numbered = (1..).zip(fields).map(|(number, field)| {
        let mut field = field.clone();
        field.name = format!("F{number}");
        field
    });
    let names = fields.iter().map(|field| field.name.clone()).collect();
    Ok((numbered.collect(), Some(names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_nobody_has_are_removed_and_no_others() {
        let within = tempfile::tempdir().unwrap();
        let within = within.path();
        let dead = within.join(format!("{}0123456789abcdef{END}", own_name::PREFIX));
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("t1.dbf"), b"left").unwrap();
        let others = [within.join("tidemill-other"), within.join(format!("other{END}"))];
        others.iter().for_each(|other| std::fs::create_dir(other).unwrap());
        let link = within.join(format!("{}fedcba9876543210{END}", own_name::PREFIX));
        std::os::unix::fs::symlink(&others[0], &link).unwrap();

        let (first, second) = (OwnFolder::make(within).unwrap(), OwnFolder::make(within).unwrap());
        assert!(!dead.exists());
        assert!(first.path.is_dir() && second.path.is_dir() && first.path != second.path);
        assert!(others.iter().all(|other| other.is_dir()) && link.is_symlink());
        let paths = [first.path.clone(), second.path.clone()];
        drop((first, second));
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
