//! Data dictionaries (`.add`): which tables there are, by which names, and where their files are.
//!
//! A dictionary is an ADT whose records are objects: each has a number, the number of the object that it belongs to, a type, a name, and
//! `Property`, a list of values of which each stands behind its length in two bytes, FFFF for none. The first value of a `Table` and of
//! an `Index` is the path of its file, which begins at the dictionary's folder (docs/formats/adt.md).
//!
//! What else a dictionary says is not looked at: users and rights are encrypted, and rules (constraints, defaults, relations, triggers)
//! are not enforced. So a program has to say that it trusts the dictionary, and the tables are read and not changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use tidemill_xbase::{CodePage, OpenOptions, Scan, Table};

use crate::error::{Error, ErrorCode, Result};
use crate::paths::Paths;

/// The tables of a data dictionary.
#[derive(Debug)]
pub(crate) struct Dictionary {
    file: PathBuf,
    tables: Vec<DictionaryTable>,
}

#[derive(Debug)]
struct DictionaryTable {
    number: i64,
    name: String,
    /// Where it is, or why it cannot be had.
    file: Result<PathBuf, (ErrorCode, String)>,
    indexes: Vec<PathBuf>,
}

/// The fields that are read, in the order of the file.
const FIELDS: [&str; 5] = ["Object ID", "Parent ID", "Object Type", "Object Name", "Property"];
/// What stands in the place of the length of a value that there is none of.
const NONE: u16 = 0xFFFF;

impl Dictionary {
    /// Reads a dictionary. Paths in it that begin with a drive or a share are those of `paths`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPath`] for a file that is none; as [`Table::open`] and for what is damaged.
    pub(crate) fn read(file: &Path, paths: &Paths) -> Result<Self> {
        let options = OpenOptions::new().codepage(CodePage::Cp1252);
        let table = Arc::new(Table::open(file, &options)?);
        let is_one = table.header().adt.as_ref().is_some_and(|adt| adt.is_dictionary);
        let fields = table.fields();
        let known = FIELDS
            .iter()
            .map(|name| fields.iter().position(|field| field.name == *name));
        let Some(columns) = known.collect::<Option<Vec<usize>>>().filter(|_| is_one) else {
            let what = format!("{} is no data dictionary", file.display());
            return Err(Error::new(ErrorCode::InvalidPath, what));
        };
        let folder = file.parent().unwrap_or(Path::new("."));
        let (mut tables, mut indexes) = (Vec::new(), Vec::new());
        for batch in table.scan(Scan::new().projection(columns))? {
            let batch = batch?;
            for object in (0..batch.num_rows()).filter_map(|row| Object::of(&batch, row)) {
                let place = first_value(&object.property).filter(|path| !path.is_empty());
                let path = match place {
                    Some(path) => {
                        let resolved = paths.resolve(&CodePage::Cp1252.decode(path), folder);
                        resolved.map_err(|error| (error.code(), error.to_string()))
                    }
                    None => {
                        let what = format!("{}: {} has no file", file.display(), object.name);
                        Err((ErrorCode::FileNotFound, what))
                    }
                };
                match object.kind.as_str() {
                    "Table" => tables.push(DictionaryTable {
                        number: object.number,
                        name: object.name,
                        file: path,
                        indexes: Vec::new(),
                    }),
                    "Index" => indexes.extend(path.ok().map(|path| (object.parent, path))),
                    _ => {}
                }
            }
        }
        for (parent, path) in indexes {
            if let Some(table) = tables.iter_mut().find(|table| table.number == parent) {
                table.indexes.push(path);
            }
        }
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            file: file.to_owned(),
            tables,
        })
    }

    /// The file of a table, by its name in any case; `None` where there is none of this name.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(crate) fn path(&self, name: &str) -> Option<Result<PathBuf>> {
        let name = name.trim();
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        found.map(|table| table.file.clone().map_err(|(code, what)| Error::new(code, what)))
    }

    /// The names of its tables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.name.as_str())
    }

    fn table_at(&self, path: &Path) -> Option<&DictionaryTable> {
        let is_at = |table: &&DictionaryTable| table.file.as_deref().is_ok_and(|file| file == path);
        self.tables.iter().find(is_at)
    }

    /// Whether a file is one of its tables.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.table_at(path).is_some()
    }

    /// The index files of a table.
    pub(crate) fn indexes(&self, path: &Path) -> Vec<PathBuf> {
        self.table_at(path).map_or_else(Vec::new, |table| table.indexes.clone())
    }

    /// Refuses to change one of its tables.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`].
    pub(crate) fn check_change(&self, path: &Path) -> Result<()> {
        match self.table_at(path) {
            None => Ok(()),
            Some(table) => {
                let what = format!(
                    "{} belongs to the data dictionary {}, whose rules are not enforced: it is read and not changed",
                    table.name,
                    self.file.display()
                );
                Err(Error::new(ErrorCode::TableReadOnly, what))
            }
        }
    }
}

/// A record of a dictionary.
struct Object {
    number: i64,
    parent: i64,
    kind: String,
    name: String,
    property: Vec<u8>,
}

impl Object {
    /// `None` where a value is missing, or of another type than it should be.
    fn of(batch: &RecordBatch, row: usize) -> Option<Self> {
        let column = |at: usize| batch.columns().get(at).filter(|column| column.is_valid(row));
        let text = |at| Some(column(at)?.as_string_opt::<i32>()?.value(row).trim().to_owned());
        Some(Self {
            number: column(0)?.as_primitive_opt::<Int64Type>()?.value(row),
            parent: column(1)?.as_primitive_opt::<Int32Type>()?.value(row).into(),
            kind: text(2)?,
            name: text(3)?,
            property: column(4)?.as_binary_opt::<i32>()?.value(row).to_vec(),
        })
    }
}

/// The first value of a list, without the NUL at its end.
fn first_value(property: &[u8]) -> Option<&[u8]> {
    let (len, rest) = property.split_first_chunk()?;
    let len = u16::from_le_bytes(*len);
    let value = rest.get(..usize::from(len)).filter(|_| len != NONE)?;
    Some(value.split(|byte| *byte == 0).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_ends_within_its_list() {
        for (list, expected) in [
            (&b"\x05\0.\\a\0x\xFF\xFF"[..], Some(&b".\\a"[..])),
            (b"\x03\0abc", Some(b"abc")),
            (b"\0\0", Some(b"")),
            (b"\xFF\xFF\x03\0abc", None),
            (b"\x04\0abc", None),
            (b"\x04", None),
            (b"", None),
        ] {
            assert_eq!(first_value(list), expected, "{list:02x?}");
        }
    }
}
