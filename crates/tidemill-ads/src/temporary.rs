//! Temporary tables: `#name`, which one connection alone sees, and which are gone with it ("Temporary Tables" in ADS's help).
//!
//! They are tables like others, in a folder of their own below that of the system's temporary files, which nobody else may look into. Their
//! fields have names of up to 128 characters: where the 10 bytes of a DBF do not suffice, the file has shorter ones, and the connection
//! remembers the others for as long as the table is there.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::FieldSpec;

use crate::error::{Error, ErrorCode, Result};

/// The most characters of a field's name.
const LONGEST: usize = 128;
/// The most bytes of a name in the file.
const IN_FILE: usize = 10;

/// The temporary tables of a connection.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    folder: Option<PathBuf>,
    tables: HashMap<String, Known>,
    made: u64,
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

    /// The names of the tables, in their order.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.tables.keys().cloned().collect();
        names.sort();
        names
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
    pub(crate) fn add(&mut self, name: &str, fields: &[FieldSpec]) -> Result<(PathBuf, Vec<FieldSpec>)> {
        let (in_file, names) = in_file(name, fields)?;
        let folder = self.folder()?;
        self.made += 1;
        let key = key(name);
        let letters = key.chars().map(|c| if c.is_alphanumeric() { c } else { '_' });
        let stem: String = letters.skip(1).take(40).collect();
        let path = folder.join(format!("{stem}{}.dbf", self.made));
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
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let number = RandomState::new().hash_one(std::process::id());
        let folder = std::env::temp_dir().join(format!("tidemill-{}-{number:016x}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
            let what = format!("{}: no folder for temporary tables: {error}", folder.display());
            Error::new(ErrorCode::FileError, what)
        })?;
        self.folder = Some(folder.clone());
        Ok(folder)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // What cannot be removed is the system's to clean up.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// A name without its extension, in small letters.
fn key(name: &str) -> String {
    let name = name.trim().to_lowercase();
    name.strip_suffix(".dbf").unwrap_or(&name).to_owned()
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
            return Err(bad(name, "the name is there twice"));
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
