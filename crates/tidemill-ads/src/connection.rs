//! Connections: a folder, the work areas that are open in it, and how they follow one another.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tidemill_xbase::{Alteration, FieldSpec, OpenMode, TableEditor, TableSet, TableWriter, process};

use crate::dictionary::{Dictionary, Links, Login, ObjectKind, Rights};
use crate::error::{Error, ErrorCode, Result};
use crate::events::Events;
use crate::field_definitions;
use crate::relation::Relation;
use crate::settings::{Settings, today};
use crate::sole_use::SoleUse;
use crate::sql::{Analytical, StatementTables};
use crate::temporary::{Temporary, TemporaryTable};
use crate::transactions::Transactions;
use crate::triggers::Runner;
use crate::work_area::{Counted, OrderId, SeekKey, SeekKind, TableOptions, TableType, WorkArea};

/// An open work area of a connection. No two of one connection are the same, also not one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AreaId(u32);

/// A connection to the tables of a folder. It belongs to the process that opened it: in a forked child its statements, and what opens
/// tables, are [`ErrorCode::InvalidConnectionHandle`], and dropping it changes nothing.
#[derive(Debug)]
pub struct Connection {
    /// Who opened it.
    process: u32,
    /// Among those of the process, from 1.
    pub(crate) number: u64,
    folder: PathBuf,
    /// Before the log, which they give back first.
    pub(crate) areas: Vec<(AreaId, Box<WorkArea>)>,
    next_area: u32,
    relations: Vec<Relation>,
    pub(crate) statements: StatementTables,
    pub(crate) transactions: Transactions,
    pub(crate) events: Events,
    pub(crate) analytical: Option<Arc<dyn Analytical>>,
    pub(crate) sole_use: Option<SoleUse>,
    pub(crate) enforcement: Enforcement,
    pub(crate) syncs_updates: bool,
    /// What a connection to a data dictionary opens tables by.
    pub(crate) dictionary: Option<Dictionary>,
    pub(crate) links: Links,
    /// Who uses it.
    pub(crate) login: Login,
    /// The user for whom it runs triggers and functions, where it does.
    pub(crate) acts_for: Option<String>,
    /// What runs triggers.
    pub(crate) runner: Arc<Runner>,
    /// Behind all that has their files open.
    pub(crate) temporary: Temporary,
}

/// What the tables of a connection refuse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enforcement {
    unique: bool,
    autoincrement: bool,
}

impl Enforcement {
    pub(crate) fn apply(self, editor: &mut TableEditor) {
        editor.enforce_candidates(self.unique);
        editor.enforce_autoincrement(self.autoincrement);
    }
}

/// How long ago the first connection of the process was opened.
pub(crate) fn up_time() -> Duration {
    STARTED.get_or_init(Instant::now).elapsed()
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            // What waits is the parent's to write, the locks are its to give back, and the log and the temporary tables are its own.
            std::mem::forget(std::mem::take(&mut self.areas));
            std::mem::forget(std::mem::take(&mut self.statements));
            std::mem::forget(std::mem::take(&mut self.transactions));
            std::mem::forget(self.dictionary.take());
            std::mem::forget(std::mem::take(&mut self.temporary));
        }
    }
}

static STARTED: OnceLock<Instant> = OnceLock::new();

impl Connection {
    /// A connection to a folder. Nothing in it is changed: what a process that died there had committed is brought into a table
    /// when that is opened to be changed, and until then reading it is refused.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPath`] when it is none.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if !folder.is_dir() {
            let what = format!("{} is no folder", folder.display());
            return Err(Error::new(ErrorCode::InvalidPath, what));
        }
        STARTED.get_or_init(Instant::now);
        static OPENED: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            process: process::id(),
            number: OPENED.fetch_add(1, Ordering::Relaxed) + 1,
            folder: folder.to_owned(),
            areas: Vec::new(),
            next_area: 1,
            relations: Vec::new(),
            statements: StatementTables::default(),
            transactions: Transactions::default(),
            events: Events::default(),
            analytical: None,
            sole_use: None,
            enforcement: Enforcement {
                unique: true,
                autoincrement: true,
            },
            syncs_updates: false,
            dictionary: None,
            links: Links::default(),
            runner: Arc::default(),
            login: Login::default(),
            acts_for: None,
            temporary: Temporary::default(),
        })
    }

    /// Gives joins, subqueries and windows to an engine. Default: none, they are refused.
    pub fn set_analytical(&mut self, engine: Option<Arc<dyn Analytical>>) {
        self.analytical = engine;
        // They were bound for another engine, or for none.
        self.statements.known.clear();
    }

    /// Shares the promise that nothing but the statements of the connections that have it changes the folder's tables. To be called
    /// before any statement. Default: none, other programs may change them.
    pub fn set_sole_use(&mut self, sole_use: Option<SoleUse>) {
        if let Some(sole_use) = sole_use.as_ref().filter(|_| !self.areas.is_empty()) {
            sole_use.give_up();
        }
        self.sole_use = sole_use;
    }

    /// The temporary tables of the connection, in the order of their names.
    pub fn temporary_tables(&self) -> impl Iterator<Item = TemporaryTable<'_>> {
        self.temporary.tables()
    }

    /// Whether CREATE VIEW has made a view of this name on the connection, in any case.
    pub fn has_view(&self, name: &str) -> bool {
        self.statements.has_view(name)
    }

    /// Refuses a forked child that has the connection of its parent: both would write to the same files under the same locks.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidConnectionHandle`].
    pub(crate) fn check_process(&self) -> Result<()> {
        let here = process::id();
        if self.process == here {
            return Ok(());
        }
        let what = format!(
            "the connection was opened by process {}, from which this one ({here}) was forked; open one here",
            self.process
        );
        Err(Error::new(ErrorCode::InvalidConnectionHandle, what))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a file that a program names: below the default folder where one is set, else below the connection's. A name
    /// without an extension gets one. `#name` is a temporary table, where the connection has one of this name.
    ///
    /// # Errors
    /// As [`Paths::resolve`](crate::Paths::resolve).
    pub fn path_of(&self, name: &str, extension: &str, settings: &Settings) -> Result<PathBuf> {
        self.check_process()?;
        if let Some(path) = self.temporary.path(name) {
            return Ok(path.to_owned());
        }
        if let Some(file) = settings.paths.attached(name)? {
            return Ok(file);
        }
        if let Some(file) = self.dictionary.as_ref().and_then(|dictionary| dictionary.path(name)) {
            return file;
        }
        let default = settings.paths.default_path()?;
        let folder = default.as_deref().unwrap_or(&self.folder);
        let has_extension = name.rsplit(['/', '\\']).next().is_some_and(|file| file.contains('.'));
        match has_extension || extension.is_empty() {
            true => settings.paths.resolve(name, folder),
            false => settings.paths.resolve(&format!("{}.{extension}", name.trim()), folder),
        }
    }

    /// The path of an index file: a name without a folder is looked for beside the table. The name of the table alone is that of its MDX
    /// where there is one, and no file of the given extension.
    ///
    /// # Errors
    /// As [`Connection::path_of`].
    pub fn index_path(&self, name: &str, extension: &str, table: &Path, settings: &Settings) -> Result<PathBuf> {
        let path = self.path_of(name, extension, settings)?;
        let beside = table.parent().filter(|_| !name.contains(['/', '\\', ':']));
        let path = match (beside, path.file_name()) {
            (Some(folder), Some(file)) if !path.exists() => settings.paths.resolve(&file.to_string_lossy(), folder)?,
            _ => path,
        };
        let has_extension = name.rsplit(['/', '\\']).next().is_some_and(|file| file.contains('.'));
        let (Some(folder), Some(stem)) = (table.parent(), table.file_stem()) else {
            return Ok(path);
        };
        let is_of_table =
            path.parent() == Some(folder) && path.file_stem().is_some_and(|own| own.eq_ignore_ascii_case(stem));
        if has_extension || !is_of_table || path.exists() {
            return Ok(path);
        }
        let mdx = settings
            .paths
            .resolve(&format!("{}.mdx", stem.to_string_lossy()), folder)?;
        Ok(if mdx.is_file() { mdx } else { path })
    }

    /// The names of files that a mask with `*` and `?` names, in the order of their names.
    ///
    /// # Errors
    /// As [`Connection::path_of`]; [`ErrorCode::FileError`] when the folder cannot be read.
    pub fn find_files(&self, mask: &str, settings: &Settings) -> Result<Vec<String>> {
        let path = self.path_of(mask, "", settings)?;
        let folder = path.parent().unwrap_or(&self.folder);
        let mask = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        // Brackets are letters here.
        let mask = mask.replace('[', "[[]");
        let bad = |error| Error::new(ErrorCode::InvalidPath, format!("{mask:?}: {error}"));
        let pattern = glob::Pattern::new(&mask).map_err(bad)?;
        let entries = std::fs::read_dir(folder).map_err(|error| {
            Error::new(
                ErrorCode::FileError,
                format!("cannot read {}: {error}", folder.display()),
            )
        })?;
        let files = entries
            .filter_map(|entry| entry.ok())
            .filter(|entry| entry.path().is_file());
        let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| pattern.matches(&name.to_lowercase())).collect();
        names.sort();
        Ok(names)
    }

    /// The type of a table that a program says nothing of but its name: an ADT where the name ends so, or where there is one of this name
    /// and no DBF.
    ///
    /// # Errors
    /// As [`Connection::path_of`].
    pub fn table_type_of(&self, name: &str, settings: &Settings) -> Result<TableType> {
        let is_adt = |path: &Path| path.extension().is_some_and(|own| own.eq_ignore_ascii_case("adt"));
        let path = self.path_of(name, TableType::Cdx.extension(), settings)?;
        if is_adt(&path) {
            return Ok(TableType::Adt);
        }
        let adt = self.path_of(name, TableType::Adt.extension(), settings)?;
        match !path.is_file() && is_adt(&adt) && adt.is_file() {
            true => Ok(TableType::Adt),
            false => Ok(TableType::Cdx),
        }
    }

    /// Opens a table; a name without an extension gets that of the table type.
    ///
    /// # Errors
    /// [`ErrorCode::FileNotFound`], [`ErrorCode::FileInUse`]; [`ErrorCode::InvalidTableType`] for a DBF that is opened as an ADT; as
    /// [`TableEditor::open`](tidemill_xbase::TableEditor::open).
    pub fn open_table(&mut self, name: &str, options: &TableOptions, settings: &Settings) -> Result<AreaId> {
        self.renew_dictionary()?;
        if let Some(view) = self.view_text(name) {
            self.check_rights_to(ObjectKind::View, name, Rights::READ)?;
            let rights = self.rights_to_view(name);
            let area = self.open_view(&view, options, settings)?;
            self.area(area)?.set_rights(rights);
            if options.mode != OpenMode::ReadOnly {
                self.hold_area_to_view(name, area, settings)?;
            }
            return Ok(area);
        }
        let path = self.path_of(name, options.table_type.extension(), settings)?;
        let path = TableSet::home(&path).unwrap_or(path);
        if options.mode == OpenMode::Exclusive {
            self.statements.close(&path);
        }
        let mut area = self.area_over(&path, options, settings)?;
        let indexes = self.dictionary.as_ref().map(|dictionary| dictionary.indexes(&path));
        for index in indexes.unwrap_or_default() {
            if !area.is_production(&index) && index.is_file() {
                area.open_index(&index)?;
            }
        }
        if options.table_type == TableType::Adt && !area.is_adt() {
            let what = format!("{} is no ADT but a DBF; open it as the type that it is", path.display());
            return Err(Error::new(ErrorCode::InvalidTableType, what));
        }
        Ok(self.add(area))
    }

    /// Opens a table once more, with the same index files and filters and at the same record.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotShared`] for one that nobody else may have open; as [`Connection::open_table`].
    pub fn clone_table(&mut self, id: AreaId, settings: &Settings) -> Result<AreaId> {
        let area = self.area(id)?;
        area.write_record()?;
        if area.options().mode == OpenMode::Exclusive {
            let what = format!("{} is open exclusively", area.path().display());
            return Err(Error::new(ErrorCode::TableNotShared, what));
        }
        let (path, options) = (area.path().to_owned(), area.options().clone());
        let mut clone = self.area_over(&path, &options, settings)?;
        let area = self.area(id)?;
        let mut indexes: Vec<PathBuf> = Vec::new();
        for order in area.orders() {
            let index = area.index_path(order)?;
            if !area.is_production(index) && indexes.last().is_none_or(|last| last != index) {
                indexes.push(index.to_owned());
            }
        }
        for index in indexes {
            clone.open_index(&index)?;
        }
        if let Some(filter) = area.filter() {
            clone.set_filter(filter, settings)?;
        }
        if let Some(filter) = area.aof() {
            clone.set_aof(filter, settings)?;
        }
        clone.go_back(area.record_number()?)?;
        Ok(self.add(clone))
    }

    /// Where a new table goes, and its fields as the file has them.
    ///
    /// # Errors
    /// As [`Connection::path_of`]; [`ErrorCode::InvalidFieldDefinition`] for names of fields that cannot be.
    pub(crate) fn place_for(
        &mut self,
        name: &str,
        fields: Vec<FieldSpec>,
        table_type: TableType,
        settings: &Settings,
    ) -> Result<(PathBuf, Vec<FieldSpec>)> {
        match Temporary::is_one(name) && self.temporary.path(name).is_none() {
            true => self.temporary.add(name, &fields, table_type),
            false => {
                self.check_administrator()?;
                Ok((self.path_of(name, table_type.extension(), settings)?, fields))
            }
        }
    }

    /// Makes an empty table with fields as `NAME,Character,20;AMT,Numeric,8,2` and opens it exclusively.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldDefinition`]; when the file cannot be made.
    pub fn create_table(
        &mut self,
        name: &str,
        fields: &str,
        options: &TableOptions,
        settings: &Settings,
    ) -> Result<AreaId> {
        let is_adt = options.table_type == TableType::Adt;
        let first = field_definitions::first_autoincrement(fields).filter(|_| is_adt);
        let fields = field_definitions::fields(fields, options.table_type)?;
        let (path, fields) = self.place_for(name, fields, options.table_type, settings)?;
        let create = options.create_options(today());
        self.statements.close(&path);
        let made = TableWriter::create(&path, &fields, &create).and_then(TableWriter::finish);
        if made.is_err() {
            self.temporary.forget(&path);
        }
        made?;
        let options = self.options_of(&path, options).into_owned().exclusive();
        let mut area = WorkArea::open(&path, &options, settings)?;
        let counter = area.fields().iter().position(|field| field.autoincrement.is_some());
        if let (Some(first), Some(counter)) = (first, counter) {
            area.editor()?.count_from(counter, first)?;
        }
        Ok(self.add(area))
    }

    /// Adds fields to a table, takes some out and changes others, in the place of the file. Nobody else may have it open.
    /// Changed fields are named by their old names: `OLD,NEW,Character,30`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldDefinition`], [`ErrorCode::InvalidFieldName`], [`ErrorCode::FileInUse`]; as
    /// [`TableEditor::alter`](tidemill_xbase::TableEditor::alter).
    pub fn restructure_table(
        &mut self,
        name: &str,
        (added, dropped, changed): (&str, &str, &str),
        options: &TableOptions,
        settings: &Settings,
    ) -> Result<()> {
        self.outside_of_transactions("changing the fields of a table")?;
        let _changing = SoleUse::changing(self.sole_use.as_ref());
        let path = self.path_of(name, options.table_type.extension(), settings)?;
        self.statements.close(&path);
        self.check_administrator()?;
        self.ready_to_write(&path)?;
        let mut area = WorkArea::open(&path, &options.clone().exclusive(), settings)?;
        self.hold_to_rules(area.editor_to_read(), settings)?;
        let table_type = area.options().table_type;
        let (mut alteration, mut places) = (Alteration::of(area.fields()), Vec::new());
        for name in dropped.split(';').map(str::trim).filter(|name| !name.is_empty()) {
            alteration = alteration.drop_field(name)?;
        }
        for definition in changed
            .split(';')
            .map(str::trim)
            .filter(|definition| !definition.is_empty())
        {
            let Some((old, new)) = definition.split_once(',') else {
                let what = format!("{definition:?}: a changed field has its old name before its new definition");
                return Err(Error::new(ErrorCode::InvalidFieldDefinition, what));
            };
            let (new, place) = field_definitions::placed(new);
            for spec in field_definitions::fields(new, table_type)? {
                places.extend(place.map(|place| (spec.name.clone(), place)));
                alteration = alteration
                    .rename_field(old.trim(), &spec.name.clone())?
                    .change_field(&spec.name.clone(), spec)?;
            }
        }
        for definition in added.split(';') {
            let (definition, place) = field_definitions::placed(definition);
            for spec in field_definitions::fields(definition, table_type)? {
                places.extend(place.map(|place| (spec.name.clone(), place)));
                alteration = alteration.add_field(spec);
            }
        }
        self.alter(area.editor()?, alteration.place_fields(&places)?, settings)?;
        drop(area);
        self.note_keys(&path, settings)
    }

    /// Whether candidate indexes refuse what they forbid, in all tables of the connection (SAP's help,
    /// `AdsDisableUniqueEnforcement`). Making one over two records of a key is refused all the same. Default: true.
    pub fn enforce_unique(&mut self, enforces: bool) {
        self.enforcement.unique = enforces;
        self.enforce();
    }

    /// Whether programs are refused to give autoincrement fields values, in all tables of the connection (SAP's help,
    /// `AdsDisableAutoIncEnforcement`). Where they are not, the counters go on behind what was given. Default: true.
    pub fn enforce_autoincrement(&mut self, enforces: bool) {
        self.enforcement.autoincrement = enforces;
        self.enforce();
    }

    fn enforce(&mut self) {
        for (_, area) in &mut self.areas {
            self.enforcement.apply(area.editor_to_read());
        }
    }

    pub(crate) fn add(&mut self, area: impl Into<Box<WorkArea>>) -> AreaId {
        let mut area = area.into();
        self.enforcement.apply(area.editor_to_read());
        area.syncs_updates = self.syncs_updates;
        if let Some(sole_use) = self
            .sole_use
            .as_ref()
            .filter(|_| area.options().mode != OpenMode::ReadOnly)
        {
            sole_use.give_up();
        }
        let id = AreaId(self.next_area);
        self.next_area += 1;
        self.areas.push((id, area));
        id
    }

    /// Writes what waits in a work area and closes it, with the relations from it and to it.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidHandle`]; when it cannot be written, and it is closed all the same.
    pub fn close_table(&mut self, id: AreaId) -> Result<()> {
        self.check_process()?;
        let area = self.area(id)?;
        let written = area.write_record();
        if written.is_err() {
            // It would be tried again, and fail again.
            let _ = area.cancel_update();
        }
        let written = written.and_then(|()| Ok(area.editor()?.flush()?));
        self.relations
            .retain(|relation| relation.parent != id && relation.child != id);
        if let Some(at) = self.areas.iter().position(|(known, _)| *known == id) {
            let (_, area) = self.areas.remove(at);
            if written.is_ok() && area.is_cursor() {
                self.statements.rest(area);
            }
        }
        written
    }

    /// Closes every table that is open, and what statements have read or keep for the next: nothing holds a file any more. The
    /// connection stays.
    ///
    /// # Errors
    /// The first of [`Connection::close_table`]; all are closed all the same.
    pub fn close_all(&mut self) -> Result<()> {
        self.check_process()?;
        let open: Vec<AreaId> = self.areas.iter().map(|(id, _)| *id).collect();
        let closed = open
            .into_iter()
            .map(|id| self.close_table(id))
            .fold(Ok(()), Result::and);
        self.statements.close_all();
        closed
    }

    /// Closes the cursors that stay open for the next statement.
    pub fn close_cached_cursors(&mut self) {
        self.statements.close_cached_cursors();
    }

    /// A work area.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidHandle`] when it is closed.
    pub fn area(&mut self, id: AreaId) -> Result<&mut WorkArea> {
        let found = self.areas.iter_mut().find(|(known, _)| *known == id);
        found
            .map(|(_, area)| &mut **area)
            .ok_or_else(|| Error::new(ErrorCode::InvalidHandle, "the table is closed"))
    }

    /// Whether a work area is open.
    pub fn is_open(&self, id: AreaId) -> bool {
        self.areas.iter().any(|(known, _)| *known == id)
    }

    /// The open work areas.
    pub fn areas(&self) -> impl Iterator<Item = (AreaId, &WorkArea)> {
        self.areas.iter().map(|(id, area)| (*id, &**area))
    }

    /// Goes to the first record of an order, or of the table.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidHandle`], [`ErrorCode::InvalidIndexHandle`]; when the record that is left cannot be written, or the
    /// index cannot be read.
    pub fn go_top(&mut self, id: AreaId, order: Option<OrderId>, settings: &Settings) -> Result<()> {
        self.area(id)?.go_top(order, settings)?;
        self.moved(id, settings)
    }

    /// Goes to the last record of an order, or of the table.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn go_bottom(&mut self, id: AreaId, order: Option<OrderId>, settings: &Settings) -> Result<()> {
        self.area(id)?.go_bottom(order, settings)?;
        self.moved(id, settings)
    }

    /// Goes so many records on in an order or in the table, or back.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn skip(&mut self, id: AreaId, order: Option<OrderId>, count: i64, settings: &Settings) -> Result<()> {
        self.area(id)?.skip(order, count, settings)?;
        self.moved(id, settings)
    }

    /// Goes so many keys of an order on, or back: no further than behind the last one, or before the first.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn skip_unique(&mut self, id: AreaId, order: OrderId, keys: i32, settings: &Settings) -> Result<()> {
        for _ in 0..keys.unsigned_abs() {
            let area = self.area(id)?;
            area.skip_unique(order, keys > 0, settings)?;
            let is_at_end = if keys > 0 { area.is_eof() } else { area.is_bof() };
            self.moved(id, settings)?;
            if is_at_end {
                break;
            }
        }
        Ok(())
    }

    /// Goes to a record, shown or not; behind the last one when there is none of this number, which is `false`.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn go_to(&mut self, id: AreaId, record: u32, settings: &Settings) -> Result<bool> {
        let is_there = self.area(id)?.go_to(record)?;
        self.moved(id, settings)?;
        Ok(is_there)
    }

    /// Looks for a key in an order, and returns whether it is there.
    ///
    /// # Errors
    /// As [`Connection::go_top`]; [`ErrorCode::InvalidDataType`] for a key of another type.
    pub fn seek(
        &mut self,
        id: AreaId,
        order: OrderId,
        key: SeekKey<'_>,
        kind: SeekKind,
        settings: &Settings,
    ) -> Result<bool> {
        let is_found = self.area(id)?.seek(order, key, kind, settings)?;
        self.moved(id, settings)?;
        Ok(is_found)
    }

    /// Goes to the first record of a condition in an order or in the table, or to the last one, and returns whether there is
    /// one. Every record that is shown is looked at.
    ///
    /// # Errors
    /// As [`Connection::go_top`]; [`ErrorCode::InvalidExpression`].
    pub fn locate(
        &mut self,
        id: AreaId,
        order: Option<OrderId>,
        condition: &str,
        is_forward: bool,
        settings: &Settings,
    ) -> Result<bool> {
        let is_found = self.area(id)?.locate(order, condition, is_forward, settings)?;
        self.moved(id, settings)?;
        Ok(is_found)
    }

    /// Goes to the next record that [`Connection::locate`] looks for.
    ///
    /// # Errors
    /// As [`Connection::go_top`]; [`ErrorCode::InvalidContinue`].
    pub fn locate_on(&mut self, id: AreaId, settings: &Settings) -> Result<bool> {
        let is_found = self.area(id)?.locate_on(settings)?;
        self.moved(id, settings)?;
        Ok(is_found)
    }

    /// How many records there are.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn count(&mut self, id: AreaId, order: Option<OrderId>, counted: Counted, settings: &Settings) -> Result<u64> {
        self.area(id)?.count(order, counted, settings)
    }

    /// The number of the current record among those that are counted, from 1; 0 when it is none of them.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn number(&mut self, id: AreaId, order: Option<OrderId>, counted: Counted, settings: &Settings) -> Result<u64> {
        self.area(id)?.number(order, counted, settings)
    }

    /// Goes to the record of a number among those that are shown.
    ///
    /// # Errors
    /// As [`Connection::go_top`].
    pub fn go_number(&mut self, id: AreaId, order: Option<OrderId>, number: u64, settings: &Settings) -> Result<()> {
        self.area(id)?.go_number(order, number, settings)?;
        self.moved(id, settings)
    }

    /// Appends a blank record to a table and goes to it.
    ///
    /// # Errors
    /// As [`WorkArea::append_record`].
    pub fn append(&mut self, id: AreaId, settings: &Settings) -> Result<u32> {
        let record = self.area(id)?.append_record()?;
        self.moved(id, settings)?;
        Ok(record)
    }

    /// Takes deleted records out of a table for good, and goes to the first one left.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotExclusive`].
    pub fn pack(&mut self, id: AreaId, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("packing a table")?;
        self.area(id)?.pack(settings)?;
        self.moved(id, settings)
    }

    /// Takes all records out of a table.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotExclusive`].
    pub fn zap(&mut self, id: AreaId, settings: &Settings) -> Result<()> {
        self.area(id)?.zap(settings)?;
        self.moved(id, settings)
    }

    /// Lets an area follow another: where the parent goes, the child looks for the value of the expression there, in the order
    /// or by record number, and shows only the records of that key when the relation is scoped.
    ///
    /// # Errors
    /// [`ErrorCode::CyclicRelation`] when the parent would follow itself; [`ErrorCode::InvalidExpression`].
    pub fn set_relation(
        &mut self,
        parent: AreaId,
        (child, order): (AreaId, Option<OrderId>),
        expression: &str,
        is_scoped: bool,
        settings: &Settings,
    ) -> Result<()> {
        self.area(child)?;
        if !self.area(parent)?.is_valid(expression, settings) {
            let what = format!("{expression:?} cannot be evaluated in {}", self.area(parent)?.alias());
            return Err(Error::new(ErrorCode::InvalidExpression, what));
        }
        if child == parent || self.leads_to(child, parent) {
            let what = format!("{} would follow itself", self.area(parent)?.alias());
            return Err(Error::new(ErrorCode::CyclicRelation, what));
        }
        self.relations
            .retain(|relation| relation.parent != parent || relation.child != child);
        self.relations.push(Relation {
            parent,
            child,
            order,
            expression: expression.to_owned(),
            is_scoped,
        });
        self.moved(parent, settings)
    }

    /// Nothing follows an area any more.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidHandle`].
    pub fn clear_relations(&mut self, parent: AreaId) -> Result<()> {
        self.area(parent)?;
        self.relations.retain(|relation| relation.parent != parent);
        Ok(())
    }

    fn leads_to(&self, from: AreaId, to: AreaId) -> bool {
        let mut children = self.relations.iter().filter(|relation| relation.parent == from);
        children.any(|relation| relation.child == to || self.leads_to(relation.child, to))
    }

    /// Lets the areas follow that are related to one that has moved.
    pub(crate) fn moved(&mut self, parent: AreaId, settings: &Settings) -> Result<()> {
        if self.relations.is_empty() {
            return Ok(());
        }
        let relations = std::mem::take(&mut self.relations);
        let done = self.follow(&relations, parent, settings);
        self.relations = relations;
        done
    }

    fn follow(&mut self, relations: &[Relation], parent: AreaId, settings: &Settings) -> Result<()> {
        for relation in relations.iter().filter(|relation| relation.parent == parent) {
            let key = relation.key(self.area(parent)?, settings)?;
            relation.follow(self.area(relation.child)?, key.as_ref(), settings)?;
            self.follow(relations, relation.child, settings)?;
        }
        Ok(())
    }
}

/// Deletes a file.
///
/// # Errors
/// [`ErrorCode::FileNotFound`], [`ErrorCode::FileError`].
pub fn delete_file(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::FileNotFound,
            _ => ErrorCode::FileError,
        };
        Error::new(code, format!("cannot delete {}: {error}", path.display()))
    })
}
