//! An open table with a current record: what a table handle of ACE is.

mod changes;
mod copies;
mod cursor;
mod fields;
mod filters;
mod firing;
mod index_texts;
mod locate;
mod locks;
mod orders;
mod raw_key;
mod segments;
mod walk;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidemill_xbase::aof::{Aof, Filter};
use tidemill_xbase::expression::{Environment, Letters};
use tidemill_xbase::index::Key;
use tidemill_xbase::{
    ChangeNumber, CodePage, Dialect, EditOptions, Field, KeySettings, LockScheme, OpenMode, OpenOptions, Place, Table,
    TableCursor, TableEditor, TableOrder, TransactionLog,
};

use crate::dictionary::Rights;
use crate::error::{Error, ErrorCode, Result};
use crate::progress::Work;
use crate::settings::{Settings, today};
use filters::{KnownCondition, KnownOrders};

use cursor::Cursor;
pub(crate) use cursor::rows_in_memory;
pub use fields::FieldType;
pub(crate) use firing::AreaTriggers;
pub use orders::{IndexOptions, OrderId, SeekKey, SeekKind};
pub use raw_key::KeyLength;
pub use walk::Counted;

/// Which program's kind of table it is: it decides on the index files, the memo file and where locks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TableType {
    /// Clipper: NTX index files of one order, DBT memos, Clipper's locks.
    Ntx,
    /// FoxPro 2: CDX index files that open with the table, FPT memos, FoxPro's locks. Default.
    #[default]
    Cdx,
    /// Visual FoxPro: as FoxPro 2, and its field types.
    Vfp,
    /// Advantage's own tables: ADI index files that open with the table, ADM memos, NULL, and deleted records that are gone.
    Adt,
}

impl TableType {
    /// The extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Ntx | Self::Cdx | Self::Vfp => "dbf",
            Self::Adt => "adt",
        }
    }

    /// The type of a [number](TableType::number).
    pub fn from_number(number: u16) -> Option<Self> {
        [Self::Ntx, Self::Cdx, Self::Vfp, Self::Adt]
            .into_iter()
            .find(|known| known.number() == number)
    }

    /// Its number (`ADS_NTX`, `ADS_CDX`, `ADS_ADT`, `ADS_VFP` of `ace.h`).
    pub fn number(self) -> u16 {
        match self {
            Self::Ntx => 1,
            Self::Cdx => 2,
            Self::Adt => 3,
            Self::Vfp => 4,
        }
    }

    /// The extension of its index files.
    pub fn index_extension(self) -> &'static str {
        match self {
            Self::Ntx => "ntx",
            Self::Cdx | Self::Vfp => "cdx",
            Self::Adt => "adi",
        }
    }

    /// How many bytes a block of the memo file has that a program asks for: 0 is the format's own size, 1 to 32 are so many times
    /// 512 bytes, 33 to 1024 are bytes; of an ADT 8 to 1024 are bytes. The blocks of DBT files have 512 whatever is asked for (SAP's
    /// help, `AdsCreateTable`).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidMemoBlockSize`] for others.
    pub fn memo_block_size(self, asked: u16) -> Result<Option<u16>> {
        match (self, asked) {
            (Self::Ntx, _) | (_, 0) => Ok(None),
            (Self::Adt, 8..=1024) => Ok(Some(asked)),
            (Self::Adt, other) => Err(Error::new(
                ErrorCode::InvalidMemoBlockSize,
                format!("memo blocks of an ADT have 8 to 1024 bytes, and {other} are asked for"),
            )),
            (_, 1..=32) => Ok(Some(asked * 512)),
            (_, 33..=1024) => Ok(Some(asked)),
            (_, more) => Err(Error::new(
                ErrorCode::InvalidMemoBlockSize,
                format!("memo blocks have at most 1024 bytes, and {more} are asked for"),
            )),
        }
    }

    /// The format of new tables.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Ntx => Dialect::Dbase3,
            Self::Cdx => Dialect::FoxPro2,
            Self::Vfp => Dialect::VisualFoxPro,
            Self::Adt => Dialect::Adt,
        }
    }
}

/// How to open a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    /// An ADT is [`TableType::Adt`] whatever is said here, and a DBF is not. Default: [`TableType::Cdx`].
    pub table_type: TableType,
    /// Who else may have it open. Default: [`OpenMode::Shared`].
    pub mode: OpenMode,
    /// The name that relations and expressions know the table by. Default: that of the file.
    pub alias: Option<String>,
    /// The code page, where the file names none or a wrong one. Default: the one that its language byte names.
    pub codepage: Option<CodePage>,
    /// Whether the code page of a table that names none is the one that its text looks like ([`OpenOptions::look_at_text`]). Default: false,
    /// as ADS has it.
    pub looks_at_text: bool,
    /// Whether programs see text in the code page of Windows and the table holds it in that of DOS. Default: false, text goes
    /// through as it is.
    pub is_oem: bool,
    /// Whether the program asked for the server's own way to lock. Both ways lock the bytes that other xBase programs lock, so that
    /// this is no more than remembered. Default: false.
    pub is_proprietary: bool,
    /// How many bytes a block of the memo file of a new table has; see [`TableType::memo_block_size`]. Default: the format's own.
    pub memo_block_size: Option<u16>,
    /// The names of the fields, where they are not those of the file: of a temporary table. Default: those of the file.
    pub field_names: Option<Arc<[String]>>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            table_type: TableType::default(),
            mode: OpenMode::Shared,
            alias: None,
            codepage: None,
            looks_at_text: false,
            is_oem: false,
            is_proprietary: false,
            memo_block_size: None,
            field_names: None,
        }
    }
}

impl TableOptions {
    /// As an open table makes them. An ADT is one whatever a program takes it for, and knows no text in a code page of DOS (SAP's help,
    /// `AdsOpenTable`).
    pub(crate) fn for_table(&self, table: &Table) -> Self {
        let mut options = self.clone();
        match (table.header().dialect, self.table_type) {
            (Dialect::Adt, _) => (options.table_type, options.is_oem) = (TableType::Adt, false),
            (Dialect::VisualFoxPro, TableType::Adt) => options.table_type = TableType::Vfp,
            (_, TableType::Adt) => options.table_type = TableType::Cdx,
            _ => {}
        }
        options
    }

    /// Nothing is changed.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.mode = OpenMode::ReadOnly;
        self
    }

    /// Nobody else has it open.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.mode = OpenMode::Exclusive;
        self
    }
}

/// An open table with a current record.
///
/// Moves, and what depends on what a program has set, are methods of [`Connection`](crate::Connection), because relations
/// move the areas that they lead to.
#[derive(Debug)]
pub struct WorkArea {
    /// What its changes fire.
    triggers: Option<Box<AreaTriggers>>,
    /// What the user may do with it.
    rights: Rights,
    editor: TableEditor,
    /// As the table was when its records were counted last.
    table: Arc<Table>,
    options: TableOptions,
    alias: String,
    /// Those of the code page.
    letters: Letters,
    /// The order of the file, and those of the open index files.
    natural: Option<Box<Way>>,
    ways: Vec<AreaOrder>,
    /// The open full-text indexes.
    words: Vec<words::AreaWords>,
    next_order: u32,
    /// As [`TableEditor::orders_relisted`] when they were listed.
    relisted: u64,
    place: Place,
    is_bof: bool,
    is_eof: bool,
    /// Whether it is nowhere, as after it was told to go to a record that is not there: a step back then leads before the first
    /// record, and not to the last.
    is_nowhere: bool,
    is_found: bool,
    record: CurrentRecord,
    filter: Option<(String, Filter)>,
    aof: Option<AreaFilter>,
    /// One that rests, until it is used again.
    resting_aof: Option<AreaFilter>,
    /// What it shows of the table where it is the answer of a statement.
    cursor: Option<Cursor>,
    /// The last ones, the newest last.
    known_conditions: Vec<KnownCondition>,
    known_orders: KnownOrders,
    /// The file alone, as long as nothing cuts it.
    mapped: Option<Arc<Table>>,
    locked: BTreeSet<u32>,
    is_file_locked: bool,
    /// Whether changes go through a log now.
    has_log: bool,
    /// Whether its production index is damaged, and it was opened without it.
    has_damaged_index: bool,
    /// Whether each update is brought to the disk at once.
    pub(crate) syncs_updates: bool,
    /// The log that changes go through outside of transactions.
    resting_log: Option<TransactionLog>,
    /// Why it is read only although it was to be changed.
    why_read_only: Option<String>,
    /// A record that was locked because it is being changed, and is unlocked once it is written.
    locked_for_change: Option<u32>,
    /// The current record, when it was appended and neither written nor given up since.
    appended: Option<u32>,
    /// What a field held that is being changed.
    before: Vec<u8>,
    /// What takes long, while it is under way.
    work: Work,
    /// What was located last.
    search: Option<locate::Search>,
    last_autoincrement: u32,
    /// What was sought last.
    sought: Key,
    /// A key that is put together for an order, as the record that it is the key of.
    raw_key: Option<(OrderId, CurrentRecord)>,
}

/// A way through the records.
#[derive(Debug)]
struct Way {
    cursor: TableCursor,
    order: Option<TableOrder>,
    /// Which state of the filter its set is.
    filter: u64,
}

/// An open order.
#[derive(Debug)]
struct AreaOrder {
    id: OrderId,
    index: PathBuf,
    is_production: bool,
    name: String,
    is_reversed: bool,
    /// What was given as the bounds of its scope, and their stored form.
    scope: [Option<Vec<u8>>; 2],
    /// Not there while it is being walked.
    way: Option<Box<Way>>,
}

/// A filter by bitmaps.
#[derive(Debug)]
struct AreaFilter {
    /// As the program gave it; `None` for that of a statement alone.
    text: Option<String>,
    aof: Aof,
    /// Another one for each filter that was set, and for each change by hand.
    version: u64,
    /// The moment up to which it has followed the table.
    seen: ChangeNumber,
}

/// The record that the area is at, as it was read, with what was changed since.
#[derive(Debug, Default)]
struct CurrentRecord {
    /// 0 when none was read.
    number: u32,
    bytes: Vec<u8>,
    is_changed: bool,
    /// Whether it is deleted when it is written: in an ADT, where that is for good.
    is_deleted: bool,
    /// New values of memo fields, by field; `None` empties one.
    memos: Vec<(usize, Option<Vec<u8>>)>,
}

/// How long locks are waited for that programs hold for a moment only.
const BRIEF_LOCKS: Duration = Duration::from_secs(10);

impl WorkArea {
    /// Opens the table at `path` and goes to its first record.
    pub(crate) fn open(path: &Path, options: &TableOptions, settings: &Settings) -> Result<Self> {
        Self::open_in(None, path, options, None, settings)
    }

    /// Opens the table as one that belongs to the transaction of a log. Where its code page is known it is not looked for.
    pub(crate) fn open_in(
        log: Option<&TransactionLog>,
        path: &Path,
        options: &TableOptions,
        codepage: Option<CodePage>,
        settings: &Settings,
    ) -> Result<Self> {
        let open = |options: &TableOptions, has_index| {
            let work = Work::default();
            let read = (open_options(options.codepage.or(codepage), options), &work);
            let editor = match has_index {
                true => open_editor(path, options, settings, read, log)?,
                false => open_without_index(path, options, settings, read, log)?,
            };
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let alias = options.alias.clone().or(stem).unwrap_or_default();
            Self::over((editor, work), options, alias, settings)
        };
        let mut area = match open(options, true) {
            // As ACE does since 6.1 (error 5072 in SAP's help): what cannot be written is opened for reading.
            Err(error) if options.mode == OpenMode::Shared && error.is_no_permission() => {
                open(&options.clone().read_only(), true)?
            }
            // Who has it alone may make the index anew.
            Err(error) if options.mode == OpenMode::Exclusive && error.is_of_index() => {
                let mut area = open(options, false)?;
                area.has_damaged_index = true;
                area
            }
            opened => opened?,
        };
        area.has_log = log.is_some();
        Ok(area)
    }

    /// An area over an open table, at its first record.
    fn over(
        (mut editor, work): (TableEditor, Work),
        options: &TableOptions,
        alias: String,
        settings: &Settings,
    ) -> Result<Self> {
        let table = Arc::new(editor.table()?);
        let options = &options.for_table(&table);
        let natural = Way {
            cursor: TableCursor::new(&table),
            order: None,
            filter: 0,
        };
        let mut area = Self {
            record: CurrentRecord {
                bytes: vec![b' '; editor.header().record_len as usize],
                ..CurrentRecord::default()
            },
            letters: Letters::of(table.codepage()),
            editor,
            table: Arc::clone(&table),
            options: options.clone(),
            alias,
            natural: Some(Box::new(natural)),
            ways: Vec::new(),
            words: Vec::new(),
            next_order: 1,
            relisted: 0,
            place: Place::Behind,
            is_bof: false,
            is_eof: false,
            is_nowhere: false,
            is_found: false,
            filter: None,
            aof: None,
            resting_aof: None,
            cursor: None,
            known_conditions: Vec::new(),
            known_orders: KnownOrders::none(&table),
            mapped: None,
            locked: BTreeSet::new(),
            is_file_locked: false,
            has_log: false,
            has_damaged_index: false,
            syncs_updates: false,
            resting_log: None,
            why_read_only: None,
            locked_for_change: None,
            appended: None,
            before: Vec::new(),
            work,
            search: None,
            last_autoincrement: 0,
            triggers: None,
            rights: Rights::ALL,
            sought: Key::default(),
            raw_key: None,
        };
        area.list_orders()?;
        area.go_top(None, settings)?;
        Ok(area)
    }

    /// Lets changes outside of transactions go through a log, or straight to the files.
    pub(crate) fn rest_in(&mut self, log: Option<&TransactionLog>) -> Result<()> {
        self.resting_log = log.cloned();
        if !self.has_log {
            self.mapped = None;
            self.editor.use_log(log)?;
        }
        Ok(())
    }

    /// Says why it is read only although it was to be changed.
    pub(crate) fn is_read_because(&mut self, why: String) {
        self.why_read_only = Some(why);
        self.options.mode = OpenMode::ReadOnly;
    }

    /// Whether it is one of Advantage's own tables.
    pub(crate) fn is_adt(&self) -> bool {
        self.options.table_type == TableType::Adt
    }

    /// The format of the table's file.
    pub(crate) fn dialect(&self) -> Dialect {
        self.editor.header().dialect
    }

    /// The data dictionary that the table says it belongs to, as the name of its file; `None` where it says none.
    pub(crate) fn dictionary(&self) -> Option<&str> {
        let adt = self.editor.header().adt.as_deref().filter(|adt| adt.in_dictionary)?;
        Some(adt.dictionary.as_str()).filter(|file| !file.is_empty())
    }

    /// The table's file.
    pub fn path(&self) -> &Path {
        self.editor.path()
    }

    /// Whether the table's file is still the one that its path leads to.
    pub(crate) fn is_at_its_path(&self) -> bool {
        self.editor.is_at_its_path()
    }

    /// The name that relations and expressions know the table by.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// How it was opened.
    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    /// The fields, in the order of the table.
    pub fn fields(&self) -> &[Field] {
        self.editor.fields()
    }

    /// The length of a record in bytes, with its deletion flag.
    pub fn record_len(&self) -> u32 {
        self.editor.header().record_len
    }

    /// The code page of the table's text.
    pub fn codepage(&self) -> CodePage {
        self.table.codepage()
    }

    /// The table as it is now, to scan.
    ///
    /// # Errors
    /// As [`TableEditor::table`].
    pub fn table(&mut self) -> Result<&Arc<Table>> {
        self.look_for_records()?;
        Ok(&self.table)
    }

    /// The table and its indexes, to change. What is waiting to be written is written first; afterwards the current record is
    /// read anew.
    ///
    /// # Errors
    /// As [`WorkArea::write_record`].
    pub fn editor(&mut self) -> Result<&mut TableEditor> {
        self.write_record()?;
        self.record.number = 0;
        self.give_up_what_was_made();
        Ok(&mut self.editor)
    }

    /// The table and its indexes, to read them; what waits stays.
    pub(crate) fn editor_to_read(&mut self) -> &mut TableEditor {
        &mut self.editor
    }

    /// Whether it is before the first record, as after a step back from it; also where there is no record to show.
    pub fn is_bof(&self) -> bool {
        self.is_bof
    }

    /// Says whether it is before the first record, until the next move. The current record stays.
    pub fn set_bof(&mut self, is_bof: bool) {
        self.is_bof = is_bof;
    }

    /// Says whether the table holds text in the code page of DOS ([`TableOptions::is_oem`]).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidOption`] for an ADT, which holds none (SAP's help, `AdsOpenTable`); as [`WorkArea::write_record`].
    pub fn set_oem(&mut self, is_oem: bool) -> Result<()> {
        if is_oem && self.is_adt() {
            return self.refuse(ErrorCode::InvalidOption, "an ADT holds no text in a code page of DOS");
        }
        self.write_record()?;
        self.options.is_oem = is_oem;
        Ok(())
    }

    /// Whether it is behind the last record.
    pub fn is_eof(&self) -> bool {
        self.is_eof
    }

    /// Whether the last seek found its key.
    pub fn is_found(&self) -> bool {
        self.is_found
    }

    /// The number of the current record, from 1; behind the last one the number of the next that is appended, and before the
    /// first one 0.
    ///
    /// # Errors
    /// As [`WorkArea::record_count`].
    pub fn record_number(&mut self) -> Result<u32> {
        Ok(match self.place {
            Place::Record(record) => record,
            Place::Behind => self.record_count()?.saturating_add(1),
            Place::Before => 0,
        })
    }

    /// How many records the table has, deleted ones too, as others see it now.
    ///
    /// # Errors
    /// As [`TableEditor::refresh`].
    pub fn record_count(&mut self) -> Result<u32> {
        Ok(self.editor.refresh()?)
    }

    /// Lets what changes from now on go through a log, or straight to the files.
    pub(crate) fn use_log(&mut self, log: Option<&TransactionLog>) -> Result<()> {
        self.mapped = None;
        let log_now = log.or(self.resting_log.as_ref());
        self.editor.use_log(log_now)?;
        if let Some(view) = self.triggers.as_mut().and_then(|triggers| triggers.view.as_mut()) {
            *view = log_now.cloned();
        }
        self.has_log = log.is_some();
        self.forget_given_back();
        Ok(())
    }

    /// Whether changes go through a log now.
    pub(crate) fn has_log(&self) -> bool {
        self.has_log
    }

    /// Gives up what was made of the table's fields and file, which may become others.
    fn give_up_what_was_made(&mut self) {
        self.mapped = None;
        self.known_conditions.clear();
        self.known_orders = KnownOrders::none(&self.table);
    }

    fn open_options(&self) -> OpenOptions {
        open_options(Some(self.table.codepage()), &self.options)
    }

    /// Looks again what the table holds, after changes were taken back: the area stays at its record, or goes behind the last
    /// one when that is gone.
    pub(crate) fn read_anew(&mut self) -> Result<()> {
        self.record.number = 0;
        self.read_table()?;
        if let Place::Record(record) = self.place
            && record > self.editor.record_count()
        {
            self.arrive(Place::Behind);
        }
        Ok(())
    }

    /// What expressions of the table depend on.
    pub(crate) fn environment(&self, settings: &Settings) -> Environment {
        settings.environment(self.table.codepage(), &self.letters, &self.alias)
    }

    fn key_settings(&self) -> KeySettings {
        KeySettings::new(self.table.codepage())
    }

    /// Reads a record unless it is the one that was read last.
    fn read(&mut self, record: u32) -> Result<()> {
        if self.record.number != record {
            self.record.number = 0;
            self.editor.read_record(record, &mut self.record.bytes)?;
            self.record.number = record;
        }
        Ok(())
    }

    /// Reads the current record.
    fn current(&mut self) -> Result<u32> {
        let Place::Record(record) = self.place else {
            return Err(self.no_record());
        };
        self.read(record)?;
        Ok(record)
    }

    #[cold]
    fn no_record(&self) -> Error {
        let what = format!("{}: there is no current record", self.alias);
        Error::new(ErrorCode::NoCurrentRecord, what)
    }

    /// Does something that takes long, and reports its progress to a program that registered for it.
    fn at_length<T>(&mut self, settings: &Settings, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.work.begin(&settings.progress, self.editor.record_count());
        let done = work(self);
        self.work.end();
        done
    }

    /// Brings the number of records, and the filter by bitmaps, up to now.
    fn look_for_records(&mut self) -> Result<()> {
        if self.options.mode != OpenMode::Exclusive {
            self.editor.refresh()?;
        }
        if self.relisted != self.editor.orders_relisted() {
            self.relisted = self.editor.orders_relisted();
            self.list_orders()?;
        }
        if self.table.record_count() != self.editor.record_count() {
            self.read_table()?;
        }
        self.follow_changes()
    }

    pub(super) fn read_table(&mut self) -> Result<()> {
        self.table = Arc::new(self.editor.table()?);
        Ok(())
    }

    #[cold]
    fn refuse<T>(&self, code: ErrorCode, why: impl std::fmt::Display) -> Result<T> {
        Err(Error::new(code, format!("{}: {why}", self.editor.path().display())))
    }
}

/// How a table is opened for changes: with the locks of its type, and without its index.
pub(crate) fn edit_options(options: &TableOptions, settings: &Settings, open: OpenOptions) -> EditOptions {
    let scheme = match options.table_type {
        TableType::Ntx => LockScheme::Clipper,
        TableType::Cdx | TableType::Vfp | TableType::Adt => LockScheme::Vfp,
    };
    EditOptions::new(today())
        .mode(options.mode)
        .scheme(scheme)
        .lock_timeout(settings.lock_timeout)
        .brief_lock_timeout(BRIEF_LOCKS)
        .open(open)
        .production_index(false)
}

/// Opens a table for changes, with the production index that its type has, under the alphabet of that. It belongs to the
/// transaction of a log, where one is given.
pub(crate) fn open_editor(
    path: &Path,
    options: &TableOptions,
    settings: &Settings,
    (open, work): (OpenOptions, &Work),
    log: Option<&TransactionLog>,
) -> Result<TableEditor> {
    let mut editor = open_without_index(path, options, settings, (open, work), log)?;
    if options.table_type != TableType::Ntx || editor.header().dialect == Dialect::Adt {
        open_own_index(&mut editor)?;
    }
    Ok(editor)
}

/// As [`open_editor`], without the production index.
pub(crate) fn open_without_index(
    path: &Path,
    options: &TableOptions,
    settings: &Settings,
    (open, work): (OpenOptions, &Work),
    log: Option<&TransactionLog>,
) -> Result<TableEditor> {
    let mut edit = edit_options(options, settings, open).build(work.build_options());
    if let Some(log) = log {
        edit = edit.log(log);
    }
    Ok(TableEditor::open(path, &edit)?)
}

/// Opens the production index of a table under its alphabet.
fn open_own_index(editor: &mut TableEditor) -> Result<()> {
    let table = Arc::clone(editor.opened());
    let opened = editor.open_production_index(|index, stamp| KeySettings::of_index(index, stamp, &table));
    opened.map_err(Error::of_opening)
}

/// How the table is read: programs see text fields in their whole width.
fn open_options(codepage: Option<CodePage>, options: &TableOptions) -> OpenOptions {
    let names = options.field_names.clone();
    let open = OpenOptions::new()
        .keep_trailing_blanks(true)
        .field_names(names)
        .look_at_text(options.looks_at_text);
    match codepage {
        Some(codepage) => open.codepage(codepage),
        None => open,
    }
}

impl Drop for WorkArea {
    fn drop(&mut self) {
        // Who wants to know whether this works writes before.
        if self.write_record().is_err() {
            let _ = self.cancel_update();
        }
    }
}
