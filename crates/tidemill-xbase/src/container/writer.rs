//! New containers: one table and the names of its fields, in files beside it.
//!
//! The objects, their order and the index are those of containers that Visual FoxPro made: five of the database, the table, its
//! fields; the tags OBJECTNAME and OBJECTTYPE over records that are not deleted.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::property::{FILE, KIND, VERSION, put};
use super::{BACKLINK, options};
use crate::beside::beside;
use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::expression::Environment;
use crate::field_spec::FieldSpec;
use crate::header::Dialect;
use crate::index::OrderSpec;
use crate::memo::MemoDialect;
use crate::memo_writer::{MemoWriter, block_size};
use crate::orders::{KeySettings, build_index};
use crate::regular_file;
use crate::table::Table;
use crate::table_writer::{CreateOptions, Layout};

/// A container that is to be made for a new table.
pub(crate) struct NewContainer {
    path: PathBuf,
    table: Vec<u8>,
    file: Vec<u8>,
    names: Vec<Vec<u8>>,
}

/// The file of a container beside its table, under its name; in upper case if the table's extension is.
fn companion(table: &Path, extension: &str) -> PathBuf {
    let is_upper = table.extension().is_some_and(|own| own == "DBF" || own == "DBC");
    match is_upper {
        true => table.with_extension(extension.to_uppercase()),
        false => table.with_extension(extension),
    }
}

impl NewContainer {
    /// The container of the table at this path, with these names of its fields.
    ///
    /// # Errors
    /// [`Error::Misuse`] for names that are too long, and for a table's name that the code page does not have.
    pub(crate) fn new(table: &Path, fields: &[FieldSpec], codepage: CodePage) -> Result<Self> {
        let path = companion(table, "dbc");
        let encode = |what: &str, name: &str, limit: usize| {
            let mut bytes = Vec::new();
            let lacks = codepage.encode(name, &mut bytes).err();
            let fits = (1..=limit).contains(&bytes.len()) && !bytes.contains(&0);
            match lacks {
                None if fits => Ok(bytes),
                None => Err(Error::Misuse(format!(
                    "{what} {name:?}: a name in a database container has 1 to {limit} bytes"
                ))),
                Some(c) => Err(Error::Misuse(format!(
                    "{what} {name:?}: the code page {codepage} has no {c:?}; create the table in UTF-8"
                ))),
            }
        };
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        // The path of the container must have room in the table's header, with a NUL behind it.
        encode("table", &part(path.file_name()), BACKLINK - 1)?;
        let names = fields.iter().map(|field| encode("field", &field.name, NAME_LEN));
        Ok(Self {
            table: encode("table", &part(table.file_stem()), NAME_LEN)?,
            file: encode("table", &part(table.file_name()), BACKLINK - 1)?,
            names: names.collect::<Result<_>>()?,
            path,
        })
    }

    /// Writes the container's name at the end of the table's header.
    pub(crate) fn put_backlink(&self, header: &mut [u8], codepage: CodePage) {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let mut bytes = Vec::new();
        // It was encoded before, as a check.
        let _ = codepage.encode(&name, &mut bytes);
        let at = header.len().saturating_sub(BACKLINK);
        let slots = header.iter_mut().skip(at);
        slots.zip(bytes).for_each(|(slot, byte)| *slot = byte);
    }

    /// Refuses to write over a file that is there.
    ///
    /// # Errors
    /// [`Error::Exists`].
    pub(crate) fn refuse_existing(&self) -> Result<()> {
        self.refuse_strangers(&[])
    }

    /// Refuses to write over a file that is there, but for these, which are about to go.
    ///
    /// # Errors
    /// [`Error::Exists`].
    pub(crate) fn refuse_strangers(&self, own: &[PathBuf]) -> Result<()> {
        let there = EXTENSIONS
            .iter()
            .filter_map(|extension| beside(&self.path, &[extension]).ok());
        match there.into_iter().find(|path| !own.contains(path)) {
            Some(path) => Err(Error::Exists { path }),
            None => Ok(()),
        }
    }

    /// The path of the `.dbc`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the three files in a folder, for them to be moved to where they belong.
    ///
    /// # Errors
    /// As [`NewContainer::write`].
    pub(crate) fn write_in(&self, folder: &Path, create: &CreateOptions) -> Result<()> {
        let moved = Self {
            path: folder.join(self.path.file_name().unwrap_or_default()),
            table: self.table.clone(),
            file: self.file.clone(),
            names: self.names.clone(),
        };
        moved.write(create)
    }

    /// The files that [`NewContainer::write`] makes.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        EXTENSIONS.iter().map(|extension| companion(&self.path, extension))
    }

    /// Makes the three files.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Io`].
    pub(crate) fn write(&self, create: &CreateOptions) -> Result<()> {
        let mut create = create.clone();
        (create.format, create.memo, create.long_names) = (Dialect::VisualFoxPro, None, false);
        let layout = Layout::new(&fields(), &create)?;
        let mut bytes = layout.header(&create)?;
        if let Some(flags) = bytes.get_mut(FLAGS) {
            *flags |= IS_CONTAINER | HAS_INDEX;
        }
        let dct = companion(&self.path, "dct");
        let mut memo = MemoWriter::create(&dct, MemoDialect::Fpt, block_size(MemoDialect::Fpt))?;
        let mut count = 0u32;
        let mut object = |parent: u32, kind: &str, name: &[u8], properties: &[u8]| -> Result<u32> {
            count += 1;
            let mut pointer = [0; 4];
            if !properties.is_empty() {
                let place = memo.append(properties, true)?;
                let place = place.map_err(|why| Error::Misuse(format!("{}: expected {why}", dct.display())))?;
                place.put(MemoDialect::Fpt, &mut pointer);
            }
            bytes.push(b' ');
            bytes.extend(count.to_le_bytes());
            bytes.extend(parent.to_le_bytes());
            padded(&mut bytes, kind.as_bytes(), KIND_LEN);
            padded(&mut bytes, name, NAME_LEN);
            bytes.extend(pointer);
            bytes.extend([0; 4]);
            padded(&mut bytes, b"", REFERENCES_LEN);
            bytes.extend([0; 4]);
            Ok(count)
        };
        let mut version = Vec::new();
        put(&mut version, VERSION, &FORMAT_VERSION);
        let database = object(1, "Database", b"Database", &version)?;
        for name in DATABASE {
            object(database, "Database", name.as_bytes(), &[])?;
        }
        let mut properties = Vec::new();
        put(&mut properties, KIND, &[1]);
        put(&mut properties, FILE, &[&self.file[..], &[0]].concat());
        let table = object(database, "Table", &self.table, &properties)?;
        for name in &self.names {
            object(table, "Field", name, &[])?;
        }
        if let Some(slot) = bytes.get_mut(4..8) {
            slot.copy_from_slice(&count.to_le_bytes());
        }
        bytes.push(0x1A);
        memo.finish()?;
        let mut file = regular_file::create(&self.path)?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        written.map_err(|e| Error::io(&self.path, "write", e))?;
        self.index(create.codepage)
    }

    fn index(&self, codepage: CodePage) -> Result<()> {
        let table = Table::open(&self.path, &options().codepage(codepage))?;
        let environment = Environment::with_all_letters(codepage);
        let settings = KeySettings::new(codepage).environment(environment);
        let orders = TAGS.map(|(tag, expression)| OrderSpec::new(tag, expression).condition(NOT_DELETED));
        build_index(companion(&self.path, "dcx"), &table, &orders, &settings)
    }
}

/// What the names of a container's files end in.
const EXTENSIONS: [&str; 3] = ["dbc", "dct", "dcx"];
/// Where the flags of the header are, and what they say of a container.
const FLAGS: usize = 28;
const HAS_INDEX: u8 = 1;
const IS_CONTAINER: u8 = 4;
const KIND_LEN: usize = 10;
const NAME_LEN: usize = 128;
const REFERENCES_LEN: usize = 6;
/// The objects of every database.
const DATABASE: [&str; 4] = [
    "TransactionLog",
    "StoredProceduresSource",
    "StoredProceduresObject",
    "StoredProceduresDependencies",
];
/// The version of the layout, as Visual FoxPro writes it: a big-endian 10.
const FORMAT_VERSION: [u8; 4] = [0, 0, 0, 10];
const TAGS: [(&str, &str); 2] = [
    ("OBJECTNAME", "STR(parentid)+objecttype+LOWER(objectname)"),
    ("OBJECTTYPE", "STR(parentid)+objecttype"),
];
const NOT_DELETED: &str = ".NOT.DELETED()";

fn padded(out: &mut Vec<u8>, text: &[u8], len: usize) {
    let end = out.len() + len;
    out.extend(text);
    out.resize(end, b' ');
}

fn fields() -> [FieldSpec; 8] {
    [
        FieldSpec::new("OBJECTID", 'I', 4, 0),
        FieldSpec::new("PARENTID", 'I', 4, 0),
        FieldSpec::new("OBJECTTYPE", 'C', 10, 0),
        FieldSpec::new("OBJECTNAME", 'C', 128, 0),
        FieldSpec::new("PROPERTY", 'M', 4, 0).binary(true),
        FieldSpec::new("CODE", 'M', 4, 0).binary(true),
        FieldSpec::new("RIINFO", 'C', 6, 0),
        FieldSpec::new("USER", 'M', 4, 0),
    ]
}
