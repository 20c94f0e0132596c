//! The tables of a folder: what an embedded program, a test and the command line run statements over.
//!
//! A table is opened when it is first named, with its production index, and read through one cache of columns. What is written goes through a
//! log of transactions in the folder, so that a statement is made as a whole or not at all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    Access, Blank, CivilDate, CodePage, ColumnCache, Columns, CreateOptions, EditOptions, FieldSpec, KeySettings,
    LogOptions, OpenMode, OpenOptions, Savepoint, Sharing, Table, TableEditor, TableIndex, TableWriter, Transaction,
    TransactionLog,
};

use super::error::{Error, Kind, Result};
use super::statement::{Select, TableName};
use super::tables::{Clock, Snapshot, Tables};
use super::value::{DAY_MS, day_of};

/// The tables of a folder, for one user at a time.
#[derive(Debug)]
pub struct FolderTables {
    folder: PathBuf,
    cache: Arc<ColumnCache>,
    open: HashMap<PathBuf, Open>,
    /// Where tables were found, by their names.
    paths: HashMap<TableName, PathBuf>,
    log: Option<TransactionLog>,
    transaction: Option<Transaction>,
    savepoints: Vec<(String, Savepoint)>,
    views: HashMap<String, Select>,
    environment: Environment,
    create: CreateOptions,
    access: Access,
    clock: fn() -> Clock,
}

#[derive(Debug, Default)]
struct Open {
    snapshot: Option<Arc<Snapshot>>,
    editor: Option<TableEditor>,
}

/// The file in a folder that transactions are logged in.
const LOG: &str = "tidemill.log";

/// Bytes of decoded columns that are kept.
const CACHE: usize = 256 << 20;

impl FolderTables {
    /// The tables of a folder. Nothing is opened yet.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        let mut create = CreateOptions::new(today(&system_clock()));
        create.format = tidemill_xbase::Dialect::VisualFoxPro;
        Self {
            folder: folder.as_ref().to_owned(),
            cache: ColumnCache::new(CACHE),
            open: HashMap::new(),
            paths: HashMap::new(),
            log: None,
            transaction: None,
            savepoints: Vec::new(),
            views: HashMap::new(),
            environment: Environment::new(CodePage::Cp1252),
            create,
            access: Access::Positional,
            clock: system_clock,
        }
    }

    /// How files are read. Default: [`Access::Positional`].
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// What the clock shows, for a test. Default: the system's, in universal time.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How tables are made. Default: tables of Visual FoxPro in cp1252.
    #[must_use]
    pub fn create_options(mut self, create: CreateOptions) -> Self {
        self.create = create;
        self
    }

    /// The file of a table, looked for once.
    fn path(&mut self, name: &TableName) -> Result<PathBuf> {
        if let Some(path) = self.paths.get(name) {
            return Ok(path.clone());
        }
        let path = self.find(name)?;
        self.paths.insert(name.clone(), path.clone());
        Ok(path)
    }

    /// The file of a table, whatever the case of its name and with `.dbf` or without.
    fn find(&self, name: &TableName) -> Result<PathBuf> {
        let written = name.to_string().replace('\\', "/");
        let wanted = Path::new(&written);
        let mut candidates = vec![self.folder.join(wanted), self.folder.join(format!("{written}.dbf"))];
        if name.parts.len() > 1 {
            candidates.push(self.folder.join(format!("{}.dbf", name.last())));
        }
        for candidate in &candidates {
            if candidate.is_file() {
                return Ok(candidate.clone());
            }
            let (Some(folder), Some(file)) = (candidate.parent(), candidate.file_name()) else {
                continue;
            };
            let Ok(entries) = std::fs::read_dir(folder) else {
                continue;
            };
            let same = entries
                .flatten()
                .find(|entry| entry.file_name().eq_ignore_ascii_case(file));
            if let Some(entry) = same.filter(|entry| entry.path().is_file()) {
                return Ok(entry.path());
            }
        }
        let why = format!(
            "Either ACE could not find the specified file, or you do not have sufficient rights to access the file.  Table name: {name}"
        );
        Err(Error::new(Kind::NoTable, why))
    }

    fn options(&self) -> OpenOptions {
        OpenOptions::new().blank(Blank::Zero).access(self.access)
    }

    fn edit_options(&self, mode: OpenMode) -> EditOptions {
        EditOptions::new(today(&(self.clock)()))
            .mode(mode)
            .open(OpenOptions::new().blank(Blank::Zero))
    }

    fn log(&mut self) -> Result<TransactionLog> {
        if let Some(log) = &self.log {
            return Ok(log.clone());
        }
        let log = TransactionLog::open(self.folder.join(LOG), &LogOptions::new())?;
        self.log = Some(log.clone());
        Ok(log)
    }

    fn forget(&mut self, path: &Path) {
        self.open.remove(path);
        self.paths.retain(|_, known| known != path);
    }
}

impl Tables for FolderTables {
    fn snapshot(&mut self, name: &TableName) -> Result<Arc<Snapshot>> {
        let path = self.path(name)?;
        let (options, cache) = (self.options(), Arc::clone(&self.cache));
        let open = self.open.entry(path.clone()).or_default();
        if let Some(snapshot) = &open.snapshot
            && (open.editor.is_some() || snapshot.table().is_current()?)
        {
            return Ok(Arc::clone(snapshot));
        }
        let (table, orders) = match &mut open.editor {
            Some(editor) => {
                let table = Arc::new(editor.table()?);
                let names: Vec<String> = editor.orders().map(|tag| tag.name.clone()).collect();
                let orders = names.iter().map(|name| editor.order(name));
                (table, orders.collect::<Result<Vec<_>, _>>()?)
            }
            None => {
                let table = Arc::new(Table::open(&path, &options)?);
                let settings = KeySettings::new(table.codepage());
                let index = TableIndex::production(&table, &settings)?;
                (table, index.map_or_else(Vec::new, |index| index.orders().to_vec()))
            }
        };
        let environment = Environment::new(table.codepage());
        let columns = Columns::new(&table, &cache, Sharing::Shared)?;
        let snapshot = Arc::new(Snapshot::new(columns, orders, environment));
        open.snapshot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    fn editor(&mut self, name: &TableName) -> Result<&mut TableEditor> {
        let path = self.path(name)?;
        let options = self.edit_options(OpenMode::Exclusive).log(&self.log()?);
        let open = self.open.entry(path.clone()).or_default();
        if open.editor.is_none() {
            open.snapshot = None;
            open.editor = Some(TableEditor::open(&path, &options)?);
        }
        let missing = || Error::new(Kind::Engine, "a table is open no more");
        open.editor.as_mut().ok_or_else(missing)
    }

    fn changed(&mut self, name: &TableName) {
        if let Ok(path) = self.path(name)
            && let Some(open) = self.open.get_mut(&path)
        {
            open.snapshot = None;
        }
    }

    fn exclusively(&mut self, name: &TableName, work: &mut dyn FnMut(&mut TableEditor) -> Result<()>) -> Result<()> {
        let path = self.path(name)?;
        if self.transaction.is_some() {
            return Err(Error::new(
                Kind::Transaction,
                "The structure of a table is not changed in a transaction",
            ));
        }
        self.forget(&path);
        if let Some(log) = &self.log {
            log.checkpoint()?;
        }
        let mut editor = TableEditor::open(&path, &self.edit_options(OpenMode::Exclusive))?;
        work(&mut editor)?;
        editor.sync()?;
        Ok(())
    }

    fn create_table(&mut self, name: &TableName, fields: &[FieldSpec]) -> Result<()> {
        if self.path(name).is_ok() {
            return Err(Error::new(Kind::Exists, format!("ISAM table already exists: {name}")));
        }
        let written = name.to_string().replace('\\', "/");
        let has_extension = Path::new(&written).extension().is_some();
        let file = if has_extension {
            written
        } else {
            format!("{written}.dbf")
        };
        let mut options = self.create.clone();
        options.last_update = today(&(self.clock)());
        TableWriter::create(self.folder.join(file), fields, &options)?.finish()?;
        Ok(())
    }

    fn drop_table(&mut self, name: &TableName) -> Result<()> {
        let path = self.path(name)?;
        if self.transaction.is_some() {
            return Err(Error::new(Kind::Transaction, "A table is not dropped in a transaction"));
        }
        self.forget(&path);
        if let Some(log) = &self.log {
            log.checkpoint()?;
        }
        let io = |error: std::io::Error| Error::new(Kind::Engine, format!("cannot remove {}: {error}", path.display()));
        std::fs::remove_file(&path).map_err(io)?;
        for extension in ["fpt", "dbt", "smt", "cdx", "cpg"] {
            let beside = path.with_extension(extension);
            if beside.is_file() {
                std::fs::remove_file(&beside).map_err(io)?;
            }
        }
        Ok(())
    }

    fn table_names(&mut self) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(&self.folder);
        let entries =
            entries.map_err(|e| Error::new(Kind::Engine, format!("cannot read {}: {e}", self.folder.display())))?;
        let is_table = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("dbf"))
        };
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(is_table)
            .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    fn is_alone(&self, _: &TableName) -> bool {
        true
    }

    fn in_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    fn begin(&mut self) -> Result<()> {
        if self.transaction.is_some() {
            return Err(Error::new(Kind::Transaction, "A transaction is under way"));
        }
        self.transaction = Some(self.log()?.begin()?);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let transaction = self.transaction.take().ok_or_else(none)?;
        self.savepoints.clear();
        self.open.values_mut().for_each(|open| open.snapshot = None);
        Ok(transaction.commit()?)
    }

    fn rollback(&mut self) -> Result<()> {
        let transaction = self.transaction.take().ok_or_else(none)?;
        self.savepoints.clear();
        self.open.values_mut().for_each(|open| open.snapshot = None);
        Ok(transaction.rollback()?)
    }

    fn savepoint(&mut self, name: &str) -> Result<()> {
        let point = self.transaction.as_mut().ok_or_else(none)?.savepoint()?;
        self.savepoints.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.savepoints.push((name.to_owned(), point));
        Ok(())
    }

    fn rollback_to(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        let point = self.savepoints.get(at).map(|(_, point)| *point);
        self.savepoints.truncate(at + 1);
        self.open.values_mut().for_each(|open| open.snapshot = None);
        match (self.transaction.as_mut(), point) {
            (Some(transaction), Some(point)) => Ok(transaction.rollback_to(point)?),
            _ => Err(none()),
        }
    }

    fn release(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        let point = self.savepoints.get(at).map(|(_, point)| *point);
        self.savepoints.truncate(at);
        match (self.transaction.as_mut(), point) {
            (Some(transaction), Some(point)) => Ok(transaction.release(point)?),
            _ => Err(none()),
        }
    }

    fn clock(&self) -> Clock {
        (self.clock)()
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn database(&self) -> &str {
        self.folder.to_str().unwrap_or_default()
    }

    fn view(&self, name: &TableName) -> Option<Select> {
        self.views.get(&name.to_string().to_ascii_lowercase()).cloned()
    }

    fn set_view(&mut self, name: &TableName, select: Option<Select>) -> Result<()> {
        let key = name.to_string().to_ascii_lowercase();
        match select {
            Some(_) if self.views.contains_key(&key) => {
                Err(Error::new(Kind::Exists, format!("View already exists: {name}")))
            }
            Some(select) => {
                self.views.insert(key, select);
                Ok(())
            }
            None => match self.views.remove(&key) {
                Some(_) => Ok(()),
                None => Err(Error::new(Kind::NoTable, format!("View not found: {name}"))),
            },
        }
    }
}

impl FolderTables {
    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let found = self
            .savepoints
            .iter()
            .position(|(known, _)| known.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::new(Kind::Transaction, format!("There is no savepoint {name}")))
    }
}

fn none() -> Error {
    Error::new(Kind::Transaction, "No transaction is under way")
}

fn system_clock() -> Clock {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Clock {
        local: i64::try_from(since.as_millis()).unwrap_or(0),
        utc_offset: 0,
    }
}

fn today(clock: &Clock) -> CivilDate {
    let day = day_of(clock.local - clock.local.rem_euclid(DAY_MS));
    let (year, month, day) = tidemill_xbase::julian::civil_from_unix_days(day);
    CivilDate {
        year: u16::try_from(year).unwrap_or(1970),
        month: u8::try_from(month).unwrap_or(1),
        day: u8::try_from(day).unwrap_or(1),
    }
}
