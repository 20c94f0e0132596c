//! Database containers of Visual FoxPro: what a `.dbc` file says of tables, above all the long names of their fields.
//!
//! A container is itself a table (`.dbc`) with a memo file (`.dct`) and an index (`.dcx`). Its records are objects: the database,
//! each table, and below each table its fields in the order in which the table has them. A table of a database names its
//! container in the last 263 bytes of its header. docs/formats/xbase-container.md has the layouts and their sources.
//!
//! What a file says never leads out of the table's own folder: of the container's path only the file name counts, and only a
//! regular file of that name beside the table is opened.
//!
//! What this module does not do: it runs no stored procedure and no trigger, and changes no container that is there. Rules are those of
//! [`RuleTexts::of_container`](crate::RuleTexts::of_container).

mod link;
mod property;
mod writer;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::beside::beside;
use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::field::Field;
use crate::header::u32_at;
use crate::memo::MemoReader;
use crate::regular_file;
use crate::stamp::{FileMemo, FileStamp};
use crate::table::{OpenOptions, Table};

pub use link::ContainerLink;
pub(crate) use link::{BACKLINK, link_of};
use property::properties;
pub(crate) use writer::NewContainer;

/// A database container: its tables, and what it says of their fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    path: PathBuf,
    tables: Vec<ContainerTable>,
    has_more: bool,
    /// What its files were when they were read; `None` of one in memory.
    stamps: Option<Stamps>,
}

/// What the files of a container are: that of its memos need not be there.
type Stamps = (FileStamp, Option<FileStamp>);

/// What a container says of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ContainerTable {
    /// The table's long name.
    pub name: String,
    /// Where the table's file is, from the container's folder, as the container writes it; `None` without the container's memos.
    pub file: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The expression that every record must make true, and what is said where one does not.
    pub rule: Option<String>,
    /// The text that Visual FoxPro shows when the rule is broken: an expression.
    pub rule_text: Option<String>,
    /// The tag of the primary key.
    pub primary_key: Option<String>,
    /// What is called when a record is added, changed and deleted: expressions.
    pub insert_trigger: Option<String>,
    /// See [`ContainerTable::insert_trigger`].
    pub update_trigger: Option<String>,
    /// See [`ContainerTable::insert_trigger`].
    pub delete_trigger: Option<String>,
    /// The fields, in table order.
    pub fields: Vec<ContainerField>,
    /// The relations to other tables, whose keys this table has.
    pub relations: Vec<ContainerRelation>,
}

/// A relation of a table to its parent: a persistent relationship, in Visual FoxPro's words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ContainerRelation {
    /// The index tag of the table itself.
    pub tag: String,
    /// The long name of the parent.
    pub parent: String,
    /// The index tag of the parent that the keys are in.
    pub parent_tag: String,
    /// What a change of a key of the parent does to the table's records; `None` where nobody has chosen.
    pub on_update: Option<IntegrityRule>,
    /// What deleting a record of the parent does.
    pub on_delete: Option<IntegrityRule>,
    /// Whether a new record must have a parent: [`IntegrityRule::Restrict`] if it must.
    pub on_insert: Option<IntegrityRule>,
}

/// What referential integrity asks for, in Visual FoxPro's Referential Integrity Builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntegrityRule {
    /// The records are changed, or deleted, too.
    Cascade,
    /// The change is refused.
    Restrict,
    /// Nothing is done.
    Ignore,
}

impl IntegrityRule {
    fn of_letter(letter: u8) -> Option<Self> {
        match letter {
            b'C' => Some(Self::Cascade),
            b'R' => Some(Self::Restrict),
            b'I' => Some(Self::Ignore),
            _ => None,
        }
    }
}

/// What a container says of a field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ContainerField {
    /// The long name: up to 128 bytes.
    pub name: String,
    /// What stands above the field in a grid.
    pub caption: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The expression of the value that a new record gets.
    pub default: Option<String>,
    /// The expression that every value must make true.
    pub rule: Option<String>,
    /// The text that Visual FoxPro shows when the rule is broken: an expression.
    pub rule_text: Option<String>,
    /// Which characters can be typed in.
    pub input_mask: Option<String>,
    /// How values are shown.
    pub format: Option<String>,
}

impl ContainerTable {
    /// Whether the container says more than the names of the table and of its fields.
    pub(crate) fn says_more(&self) -> bool {
        let named = Self {
            name: self.name.clone(),
            file: self.file.clone(),
            fields: self.fields.clone(),
            ..Self::default()
        };
        let is_named = |field: &ContainerField| {
            let name = field.name.clone();
            *field
                == ContainerField {
                    name,
                    ..ContainerField::default()
                }
        };
        *self != named || !self.fields.iter().all(is_named)
    }
}

impl Container {
    /// Opens the container at `path`, with its memo file when that lies beside it as a regular file; without it there are names
    /// only.
    ///
    /// # Errors
    /// As [`Table::open`]; [`Error::NotRegular`] also for a symbolic link; [`Error::Corrupt`] for a table that is no container, and
    /// for more properties than any container has.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let stamps = stamps_of(path);
        let file = Arc::new(regular_file::open_found_to_read(path)?);
        let table = Table::of_open(path, file, &options())?;
        let memo = beside(path, &["dct"]).ok();
        let is_link = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let container = Self::of(&table, memo.is_some_and(|memo| !is_link(&memo)))?;
        Ok(Self { stamps, ..container })
    }

    /// Whether its files certainly are what they were.
    pub(crate) fn is_current(&self) -> bool {
        let Some((dbc, dct)) = &self.stamps else {
            return true;
        };
        let Some((dbc_now, dct_now)) = stamps_of(&self.path) else {
            return false;
        };
        let is_memo = match (dct, &dct_now) {
            (Some(dct), Some(now)) => dct.vouches_for(now),
            (None, None) => true,
            _ => false,
        };
        dbc.vouches_for(&dbc_now) && is_memo
    }

    /// A container in memory. Errors call it `memory.dbf`.
    ///
    /// # Errors
    /// As [`Container::open`].
    pub fn from_bytes(dbc: Vec<u8>, dct: Option<Vec<u8>>) -> Result<Self> {
        let has_memos = dct.is_some();
        Self::of(&Table::from_bytes(dbc, dct, &options())?, has_memos)
    }

    /// The container's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tables, in the order of their objects.
    pub fn tables(&self) -> &[ContainerTable] {
        &self.tables
    }

    /// What it says of the table in a file: the one whose file is called so, else the one that has its name, in any case.
    pub fn table_at(&self, file: &Path) -> Option<&ContainerTable> {
        self.index_of(file).and_then(|index| self.tables.get(index))
    }

    /// The file of the table that has this name, in any case: a regular file in the container's own folder. Of the path that the container
    /// has for it only the name counts.
    pub fn file_of(&self, name: &str) -> Option<PathBuf> {
        let mut tables = self.tables.iter();
        let table = tables.find(|table| table.name.to_lowercase() == name.to_lowercase())?;
        let own = || format!("{}.dbf", table.name);
        let file = table
            .file
            .as_deref()
            .map_or_else(own, |file| last_part(file).to_owned());
        let path = link::beside_table(&self.path, &file)?;
        std::fs::symlink_metadata(&path)
            .is_ok_and(|found| found.is_file())
            .then_some(path)
    }

    fn index_of(&self, file: &Path) -> Option<usize> {
        let called = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, stem) = (called(file.file_name()), called(file.file_stem()));
        let is_file = |table: &ContainerTable| {
            let file = table.file.as_deref().map(last_part);
            file.is_some_and(|file| file.to_lowercase() == name)
        };
        let by_file = self.tables.iter().position(is_file);
        by_file.or_else(|| self.tables.iter().position(|table| table.name.to_lowercase() == stem))
    }

    /// Whether it holds this table's names and nothing else: no other table, view, connection, relation or stored procedure.
    pub(crate) fn is_only_of(&self, table: &Path) -> bool {
        self.tables.len() == 1 && !self.has_more && self.index_of(table).is_some()
    }

    fn of(table: &Table, has_memos: bool) -> Result<Self> {
        let places = Places::find(table)?;
        let codepage = table.codepage();
        let mut objects = Objects::default();
        let mut memos = MemoReader::default();
        let (mut next, mut window, mut budget) = (0, Vec::new(), PROPERTIES_LIMIT);
        let per_window = table.window_records(8192);
        while next < table.record_count() {
            let count = per_window.min(table.record_count() - next);
            let bytes = table.read_records(next, count, &mut window)?;
            for record in bytes
                .chunks_exact(table.stride())
                .filter(|record| !table.deletion().is_deleted(record))
            {
                let mut values = Vec::new();
                if let Some(memo) = table.memo().filter(|_| has_memos) {
                    // A memo that is damaged says nothing; the names are in the records.
                    let _ = memos.read(memo, places.properties.cell(record), &mut values);
                }
                budget = budget.checked_sub(values.len()).ok_or_else(|| {
                    let expected = format!("at most {PROPERTIES_LIMIT} bytes of properties");
                    Error::corrupt(table.path(), "database container", 0, expected, "more")
                })?;
                objects.add(&places, record, &values, codepage);
            }
            next += count;
        }
        Ok(objects.into_container(table.path()))
    }
}

/// How many characters a name in the header of a table has at most.
const SHORT_NAME: usize = 10;

impl Field {
    /// The place of the field of this name, in any case: by its own name, else by the one in the table's header. Letters beyond ASCII
    /// have cases too, of which the exact one is looked for first.
    pub fn find(fields: &[Self], name: &str) -> Option<usize> {
        let place = |is_it: &dyn Fn(&str) -> bool| {
            let by_name = fields.iter().position(|field| is_it(&field.name));
            by_name.or_else(|| fields.iter().position(|field| is_it(&field.short_name)))
        };
        let found = place(&|own| own.eq_ignore_ascii_case(name));
        if found.is_some() || name.is_ascii() {
            return found;
        }
        let capitals = name.to_uppercase();
        place(&|own| own.to_uppercase() == capitals)
    }

    /// The place of the field that a container would call so, for a table whose container is not there: its name is the first ten
    /// characters. `None` where another field may be meant too: digits tell short names apart that begin alike.
    pub(crate) fn find_shortened(fields: &[Self], name: &str) -> Option<usize> {
        let end = name.char_indices().nth(SHORT_NAME)?.0;
        let short = name.get(..end)?;
        if fields.iter().any(|field| field.name != field.short_name) {
            return None;
        }
        let found = Self::find(fields, short)?;
        let capitals = short.to_uppercase();
        let is_told_apart = |(place, field): (usize, &Self)| {
            let own = field.name.to_uppercase();
            let begin = own.trim_end_matches(|c: char| c.is_ascii_digit());
            place != found && own.chars().count() == SHORT_NAME && begin != own && capitals.starts_with(begin)
        };
        (!fields.iter().enumerate().any(is_told_apart)).then_some(found)
    }
}

/// The stamps of the container at `path`, and of its memos.
fn stamps_of(path: &Path) -> Option<Stamps> {
    let memos = beside(path, &["dct"]).ok();
    Some((
        FileStamp::of(path).ok()?,
        memos.and_then(|memos| FileStamp::of(&memos).ok()),
    ))
}

/// Containers as they were found in their files.
static KNOWN: FileMemo<(), Arc<Container>> = FileMemo::new(16);

/// [`Container::open`], remembered for as long as the file is what it was.
pub(crate) fn open_known(path: &Path) -> Result<Arc<Container>> {
    let stamp = FileStamp::of(path).ok();
    let known = stamp.as_ref().and_then(|stamp| KNOWN.get(path, stamp, &()));
    if let Some(known) = known.filter(|known| known.is_current()) {
        return Ok(known);
    }
    let found = Arc::new(Container::open(path)?);
    if let Some(stamp) = &stamp {
        KNOWN.put(path, stamp, (), Arc::clone(&found));
    }
    Ok(found)
}

/// The last part of a path that Windows or another system wrote.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\', ':']).next().unwrap_or_default()
}

/// More bytes than the properties of any database have: views keep a statement each.
const PROPERTIES_LIMIT: usize = 64 << 20;

fn options() -> OpenOptions {
    // Damage in the memo file must not hide the names.
    OpenOptions::new().recover(true).long_names(false)
}

/// Where a field of the container lies in a record.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    width: usize,
}

impl Place {
    fn cell(self, record: &[u8]) -> &[u8] {
        record.get(self.offset..self.offset + self.width).unwrap_or_default()
    }

    fn number(self, record: &[u8]) -> Option<u32> {
        u32_at(self.cell(record), 0)
    }
}

struct Places {
    id: Place,
    parent: Place,
    kind: Place,
    name: Place,
    properties: Place,
    code: Place,
    /// Rules of referential integrity.
    rules: Option<Place>,
}

impl Places {
    fn find(table: &Table) -> Result<Self> {
        let place = |name: &str, letter: char| {
            let is_it = |field: &&Field| field.short_name.eq_ignore_ascii_case(name) && field.letter == letter;
            let found = table.fields().iter().find(is_it);
            let (offset, width) = found.map(|field| (field.offset, field.width)).ok_or_else(|| {
                let expected = format!("a field {name} of type {letter}, as database containers have");
                Error::corrupt(table.path(), "database container", 32, expected, "none")
            })?;
            Ok::<_, Error>(Place { offset, width })
        };
        Ok(Self {
            rules: place("RIINFO", 'C').ok(),
            id: place("OBJECTID", 'I')?,
            parent: place("PARENTID", 'I')?,
            kind: place("OBJECTTYPE", 'C')?,
            name: place("OBJECTNAME", 'C')?,
            properties: place("PROPERTY", 'M')?,
            code: place("CODE", 'M')?,
        })
    }
}

/// The objects of a container, before fields are given to their tables.
#[derive(Default)]
struct Objects {
    tables: Vec<(u32, ContainerTable)>,
    fields: Vec<(u32, u32, ContainerField)>,
    relations: Vec<(u32, ContainerRelation)>,
    has_more: bool,
}

impl Objects {
    fn add(&mut self, places: &Places, record: &[u8], values: &[u8], codepage: CodePage) {
        let (Some(id), Some(parent)) = (places.id.number(record), places.parent.number(record)) else {
            return;
        };
        let text = |place: Place| codepage.decode(place.cell(record).trim_ascii_end());
        let properties = properties(values, codepage);
        let name = text(places.name);
        self.has_more |= places.code.cell(record).iter().any(|byte| !matches!(byte, 0 | b' '));
        match text(places.kind).to_ascii_lowercase().as_str() {
            "table" => self.tables.push((id, properties.table(name))),
            "field" => self.fields.push((parent, id, properties.field(name))),
            "database" | "index" => {}
            "relation" => {
                self.has_more = true;
                let rules = places.rules.map(|place| place.cell(record)).unwrap_or_default();
                self.relations
                    .extend(properties.relation(rules).map(|relation| (parent, relation)));
            }
            _ => self.has_more = true,
        }
    }

    fn into_container(mut self, path: &Path) -> Container {
        let places: HashMap<u32, usize> = self.tables.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        // Fields have the order of their numbers, which is that of the table; views have fields too.
        self.fields.sort_by_key(|(_, id, _)| *id);
        for (parent, _, field) in self.fields {
            if let Some((_, table)) = places.get(&parent).and_then(|at| self.tables.get_mut(*at)) {
                table.fields.push(field);
            }
        }
        for (parent, relation) in self.relations {
            if let Some((_, table)) = places.get(&parent).and_then(|at| self.tables.get_mut(*at)) {
                table.relations.push(relation);
            }
        }
        Container {
            path: path.to_owned(),
            tables: self.tables.into_iter().map(|(_, table)| table).collect(),
            has_more: self.has_more,
            stamps: None,
        }
    }
}
