//! Changing a table in place, alone or beside other programs.
//!
//! Beside others, a record is changed only while this handle holds its lock or that of all records, and records are
//! appended under the lock of the header, where the count is taken from the file's length again, as Harbour does
//! (`src/rdd/dbf1.c`), and every change is handed to the operating system at once.
//!
//! Alone, and without a log, changed records and memos wait in memory, as index pages and the header do, until they are as
//! many as [`EditOptions::waiting_bytes`] says, or the table is flushed, synchronised, packed, altered, given a log or closed,
//! or an order is made or dropped. They are then written together: memos first, then records, behind the last ones before
//! those that were there, with the header, and index pages in the end. What waits is lost with the process; a crash while it is
//! written leaves some of it in the file. When writing fails, the file stays as it was and everything waits on.
//! [`TableEditor::sync`] brings what was changed to the disk.
//!
//! # What this module does not do
//!
//! Index files that are not open do not follow: see [`TableEditor::open_index`]. Several changes are not one
//! transaction unless the table has a log: without one, a crash between two writes of one call can leave a memo without a
//! record that points at it, though never
//! a record that points at nothing.

mod alter;
mod batch;
mod changes;
mod counters;
mod deleted_keys;
mod dictionary;
mod files;
mod followers;
mod free_records;
mod memory;
mod options;
mod orders;
mod pack;
mod record;
mod reindex;
mod rules;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod waiting_tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::adt;
use crate::codepage::CodePage;
use crate::error::{BadValue, Error, Result};
use crate::field::{Field, Fields};
use crate::header::{CivilDate, Dialect, Header};
use crate::lock::{FileLocks, LockKind, LockRange, LockScheme, LockSubject, TableLocks};
use crate::memo_editor::MemoEditor;
use crate::orders::mdx_of;
use crate::rules::Rules;
use crate::stamp::FileStamp;
use crate::storage::DataFile;
use crate::table::{OpenOptions, Table};
use crate::transaction::{KeptLocks, LockOrder, Readable, TransactionLog, readable, recover_table};
use crate::value::Format;
use changes::History;
pub use changes::{ChangeNumber, Changes};
use files::{open_file, open_table, record_file};
pub use followers::{Follower, RecordChange};
pub use options::{EditOptions, OpenMode};
use orders::Orders;
use record::Buffers;

/// A table that is open for changes. Records are numbered from 1, fields from 0 in the order of [`TableEditor::fields`].
///
/// ```
/// use tidemill_xbase::{
///     CivilDate, CreateOptions, EditOptions, FieldSpec, OpenMode, TableEditor, TableWriter, Value,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("orders.dbf");
/// let today = CivilDate { year: 2026, month: 11, day: 21 };
/// let fields = [FieldSpec::new("NAME", 'C', 20, 0), FieldSpec::new("AMT", 'N', 8, 2)];
/// TableWriter::create(&path, &fields, &CreateOptions::new(today))?.finish()?;
///
/// let mut table = TableEditor::open(&path, &EditOptions::new(today).mode(OpenMode::Shared))?;
/// let record = table.append_values(&[(0, Value::Text("Smith")), (1, Value::Integer(12))])?;
/// table.unlock_record(record)?;
///
/// table.lock_records([record])?;
/// table.replace(record, &[(1, Value::Decimal { unscaled: 1250, scale: 2 })])?;
/// table.unlock_all()?;
/// table.sync()?;
/// assert_eq!(table.record_bytes(record)?, b" Smith                  12.50");
/// # Ok(())
/// # }
/// ```
///
/// Dropping it writes the header if need be, without a report of what fails, and gives all locks back.
#[derive(Debug)]
pub struct TableEditor {
    file: DataFile,
    locks: KeptLocks,
    memo: Option<MemoEditor>,
    memo_looked_for: String,
    header: Header,
    fields: Arc<Fields>,
    codepage: CodePage,
    ranges: TableLocks,
    options: EditOptions,
    is_in_memory: bool,
    /// Goes back when a transaction is rolled back.
    record_count: Arc<AtomicU32>,
    /// Whether the header on disk still has an older count or day.
    header_stale: bool,
    orders: Orders,
    /// The production index of a dBASE table, without which its records are not changed.
    mdx: Option<PathBuf>,
    history: History,
    /// A record without values.
    blank: Vec<u8>,
    /// What the record appended last got from the table's counter, until somebody asks.
    counted: Option<u32>,
    /// Whether there are memos, counters or times of changes.
    has_own_values: bool,
    enforces_autoincrement: bool,
    rules: Option<Box<Rules>>,
    /// The record that [`TableEditor::append_record`] appended last, until it is changed or finished.
    unfinished: Option<u32>,
    reuses_deleted: bool,
    follower: Option<Box<dyn Follower>>,
    buffers: Buffers,
}

impl TableEditor {
    /// Opens the table at `path`, its memo file and its production index. To be written, it is first brought to what programs
    /// that died had committed ([`crate::recover`]).
    ///
    /// # Errors
    /// To be read only, [`Error::Pending`] as of [`Table::open`]; else as [`crate::recover`];
    /// [`Error::StaleIndex`] when the production index has not followed the table, and as [`TableEditor::open_index`];
    /// [`Error::Locked`] when other programs have it open in a way that excludes this until the timeout;
    /// [`Error::Misuse`] for options that recover; [`Error::Unsupported`] to change a table whose production index is an MDX that cannot be
    /// changed; and as
    /// [`Table::open`].
    pub fn open(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        let path = path.as_ref();
        if options.open.recover {
            let why = "a table is not changed while recovering";
            return Err(Error::Misuse(format!("{}: {why}", path.display())));
        }
        if let Some(log) = &options.log {
            // A table that was closed is open as long as the log has to write to it.
            log.settle()?;
        }
        if options.mode != OpenMode::ReadOnly {
            recover_table(path, None)?;
        }
        let handle = open_table(path, options)?;
        if options.mode == OpenMode::ReadOnly && readable(path)? == Readable::Soon {
            return Err(Error::Misuse(format!("{}: somebody is replacing it", path.display())));
        }
        let table = Table::of_open(path, Arc::clone(&handle), &options.open)?;
        // One way of locking for all who have an ADT open, whatever they take it for.
        let in_adt = (table.header().dialect == Dialect::Adt).then(|| options.clone().scheme(LockScheme::Vfp));
        let options = in_adt.as_ref().unwrap_or(options);
        if table.is_compressed() {
            let what = "a compressed table of DATASUS is only read; copy it to a table to change that";
            let (path, what) = (path.to_owned(), what.to_owned());
            return Err(Error::Unsupported { path, what });
        }
        if table.header().record_len == 0 {
            return Err(Error::corrupt(path, "record length", 10, "at least 1", "0"));
        }
        let locks = KeptLocks::of_table(FileLocks::new(Arc::clone(&handle), path)?, options.log.as_ref());
        let memo = table.memo().map(|memo| {
            let file = open_file(memo.path(), options)?;
            let mut editor = MemoEditor::new(memo, record_file(memo.path(), &file, options)?);
            if options.mode != OpenMode::Exclusive {
                let (own, table) = (FileLocks::new(file, memo.path())?, locks.table().clone());
                let locks = KeptLocks::of_companion(own, table, options.log.as_ref());
                editor.share(locks, options.scheme, options.brief_timeout());
            }
            Ok::<_, Error>(editor)
        });
        let file = record_file(path, &handle, options)?;
        let mut editor = Self::of(table, file, memo.transpose()?, locks, options);
        editor.refresh()?;
        if options.production_index {
            editor.open_production()?;
        }
        Ok(editor)
    }

    fn of(table: Table, file: DataFile, memo: Option<MemoEditor>, locks: KeptLocks, options: &EditOptions) -> Self {
        let header = table.header().clone();
        let record_count = Arc::new(AtomicU32::new(header.record_count));
        if let Some(log) = &options.log {
            log.remember(&record_count);
        }
        let mut editor = Self {
            file,
            memo,
            locks,
            memo_looked_for: table.memo_looked_for().to_owned(),
            fields: Arc::clone(&table.fields),
            codepage: table.codepage(),
            ranges: options.scheme.table(&header),
            options: options.clone(),
            is_in_memory: false,
            record_count,
            header,
            header_stale: false,
            mdx: mdx_of(&table),
            orders: Orders::new(Arc::new(table), options.keys.clone()),
            history: History::default(),
            blank: Vec::new(),
            counted: None,
            has_own_values: false,
            enforces_autoincrement: true,
            rules: None,
            unfinished: None,
            reuses_deleted: false,
            follower: None,
            buffers: Buffers::default(),
        };
        editor.look_at_fields();
        editor
    }

    /// The table's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether the path still leads to the file that is open, and not to another that took its place. False while changes wait to
    /// be written.
    pub fn is_at_its_path(&self) -> bool {
        let there = FileStamp::of(self.path()).ok();
        let stamps = self.file.storage().stamp().zip(there);
        stamps.is_some_and(|(open, there)| open.is_of_file(&there))
    }

    /// The visible fields in table order.
    pub fn fields(&self) -> &[Field] {
        &self.fields.visible
    }

    /// What the header said when the table was opened.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The table as it is seen here, to scan: with what waits in memory, with what the transaction under way has changed, and
    /// with commits that the log has not yet brought into the files. Its reads see later changes too, and it is never current;
    /// records that are rolled back or packed away later are an error when they are read.
    ///
    /// # Errors
    /// As [`TableEditor::flush`] and [`Table::open`].
    pub fn table(&mut self) -> Result<Table> {
        self.table_with(&self.options.open.clone())
    }

    /// The table as it was when it was opened here, for what it is made of: records are scanned in [`TableEditor::table`].
    pub fn opened(&self) -> &Arc<Table> {
        &self.orders.table
    }

    /// The table as of [`TableEditor::table`], to be scanned under other options; its code page is that of the editor.
    ///
    /// # Errors
    /// As [`TableEditor::table`].
    pub fn table_with(&mut self, options: &OpenOptions) -> Result<Table> {
        self.renew_header()?;
        let memo = self.memo.as_ref().map(MemoEditor::file);
        // The fields hold what the counters of the file said when they were read.
        let counts = |field: &Field| field.autoincrement.is_some();
        let known = (!self.fields.visible.iter().any(counts)).then_some(&self.fields);
        Table::edited(&self.file, memo, known, self.codepage, options)
    }

    /// The number of records, deleted ones included, as of the last [`TableEditor::refresh`] or change by this handle.
    pub fn record_count(&self) -> u32 {
        self.record_count.load(Ordering::Relaxed)
    }

    /// Looks how many records there are now, since others may have appended some, and returns their number.
    ///
    /// Beside others the file's length decides, as in Harbour; alone, the header does.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] when the file has become shorter than its records.
    pub fn refresh(&mut self) -> Result<u32> {
        if self.options.mode != OpenMode::Exclusive {
            let count = self.count_in_file()?;
            if count < self.record_count() {
                let (expected, at) = (format!("{} records", self.record_count()), self.file.len()?);
                return Err(Error::corrupt(
                    self.path(),
                    "records",
                    at,
                    expected,
                    format!("{count}: another program shortened the table"),
                ));
            }
            self.grow(count);
        }
        Ok(self.record_count())
    }

    /// Locks one record and waits for it until the timeout. Records need not exist yet. Alone, nothing needs a lock.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Io`].
    pub fn lock_record(&mut self, record: u32) -> Result<()> {
        if self.options.mode == OpenMode::Exclusive || self.is_file_locked() {
            return Ok(());
        }
        self.lock(LockSubject::Record(record), self.ranges.record(record))
    }

    /// Locks several records, each once and in ascending order whatever the order given, so that two programs that do so
    /// never wait for each other; or none of them. Locks that were held before are kept.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Io`]; no further record is locked then.
    pub fn lock_records(&mut self, records: impl IntoIterator<Item = u32>) -> Result<()> {
        let held = |record: &u32| self.locks.holds(LockSubject::Record(*record));
        let wanted: BTreeSet<u32> = records.into_iter().filter(|record| !held(record)).collect();
        let mut taken = Vec::with_capacity(wanted.len());
        for record in wanted {
            if let Err(e) = self.lock_record(record) {
                taken.into_iter().try_for_each(|record| self.unlock_record(record))?;
                return Err(e);
            }
            taken.push(record);
        }
        Ok(())
    }

    /// Locks the records that a statement changes, each as [`TableEditor::lock_records`] does, or more than a thousand of them
    /// by one lock of all records: the kernel looks through the locks of a file for each further one. Where that lock would
    /// have to wait, or the handle holds single records already, they are locked one by one.
    ///
    /// # Errors
    /// As [`TableEditor::lock_records`].
    pub fn lock_records_or_file(&mut self, records: impl IntoIterator<Item = u32>) -> Result<()> {
        const MOST_SINGLE: usize = 1000;
        let records: Vec<u32> = records.into_iter().collect();
        let is_alone = self.options.mode == OpenMode::Exclusive;
        if records.len() > MOST_SINGLE && !is_alone && self.locks.records().is_empty() {
            let taken = self.lock_within(LockSubject::File, self.ranges.file(), Duration::ZERO);
            if !matches!(taken, Err(Error::Locked(_))) {
                return taken;
            }
        }
        self.lock_records(records)
    }

    /// Locks all records, after it has given the locks of single ones back, as Harbour does.
    ///
    /// # Errors
    /// [`Error::Locked`]; no record is locked then. [`Error::Io`].
    pub fn lock_file(&mut self) -> Result<()> {
        if self.options.mode == OpenMode::Exclusive || self.is_file_locked() {
            return Ok(());
        }
        self.unlock_all()?;
        self.lock(LockSubject::File, self.ranges.file())
    }

    /// Whether this handle has locked a record, by itself or with all others.
    pub fn is_record_locked(&self, record: u32) -> bool {
        self.is_file_locked() || self.locks.holds(LockSubject::Record(record))
    }

    /// Whether this handle has locked all records at once.
    pub fn is_file_locked(&self) -> bool {
        self.locks.holds(LockSubject::File)
    }

    /// Gives the lock of one record back, at its end where there is a transaction. One that is not held is no error.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn unlock_record(&mut self, record: u32) -> Result<()> {
        self.locks.unlock(LockSubject::Record(record))
    }

    /// Gives the locks of all records back, at its end where there is a transaction.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn unlock_all(&mut self) -> Result<()> {
        for record in self.locks.records() {
            self.locks.unlock(LockSubject::Record(record))?;
        }
        self.locks.unlock(LockSubject::File)
    }

    /// Hands everything that waits in memory to the operating system: alone that is what was changed since the last time,
    /// with the header and the pages of indexes.
    ///
    /// # Errors
    /// [`Error::Io`]; what could not be written waits on.
    pub fn flush(&mut self) -> Result<()> {
        self.renew_header()?;
        self.write_out()?;
        self.flush_orders()
    }

    /// Brings every change to the disk: when this returns, they outlive a power cut. With a log, that is what is committed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        if let Some(log) = &self.options.log {
            return log.settle();
        }
        // Memos first: a record on the disk then never points at a memo that is not.
        if let Some(memo) = &self.memo {
            memo.sync()?;
        }
        self.file.sync()?;
        self.sync_orders()
    }

    /// Where this table stands in the order in which transactions lock tables.
    pub(crate) fn lock_order(&self) -> LockOrder {
        self.locks.order(LockSubject::Header)
    }

    /// Takes locks in the order of transactions: the header, then records, then the memo file.
    pub(crate) fn lock_for_transaction(&mut self, records: Vec<u32>, appends: bool, memos: bool) -> Result<()> {
        if self.options.mode == OpenMode::Exclusive {
            return Ok(());
        }
        if appends {
            self.lock(LockSubject::Header, self.ranges.header())?;
        }
        self.lock_records(records)?;
        match &self.memo {
            Some(memo) if memos => memo.lock(),
            _ => Ok(()),
        }
    }

    /// Does something as a whole or not at all, where there is a log.
    fn as_one<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        match self.options.log.clone() {
            Some(log) if self.has_follower() && !log.is_under_way() => self.as_transaction(&log, work),
            Some(log) => log.statement(|| work(self)),
            None => work(self),
        }
    }

    /// Brings all changes into the files, for what cannot be rolled back.
    fn committed(&mut self, what: &str) -> Result<()> {
        self.in_files(what)?;
        if let Some(log) = &self.options.log {
            log.outside(what)?;
        }
        self.flush()?;
        self.options.log.as_ref().map_or(Ok(()), TransactionLog::checkpoint)
    }

    /// Writes the day and the record count if they are others than in the header.
    fn renew_header(&mut self) -> Result<()> {
        match self.header_stale {
            true => self.as_one(|table| table.under_header_lock(Self::write_header)),
            false => Ok(()),
        }
    }

    /// Writes the records and memos that wait: memos first, so that no record in the file points at one that is not.
    fn write_out(&self) -> Result<()> {
        self.memo.as_ref().map_or(Ok(()), |memo| memo.file().write_out())?;
        self.file.write_out()
    }

    /// Sees to it that another change may wait. What fails here has changed nothing.
    fn make_room(&mut self) -> Result<()> {
        let memos = self.memo.as_ref().map_or(0, |memo| memo.file().waiting());
        if self.file.waiting().saturating_add(memos) <= self.options.waiting_bytes {
            return Ok(());
        }
        self.renew_header()?;
        self.write_out()
    }

    /// Counts the records that others have appended.
    fn grow(&mut self, records: u32) {
        self.history.note(self.record_count().saturating_add(1)..=records);
        self.count(records);
    }

    fn count(&self, records: u32) {
        self.record_count.store(records, Ordering::Relaxed);
    }

    fn lock(&self, subject: LockSubject, range: LockRange) -> Result<()> {
        let timeout = match subject {
            LockSubject::Header => self.options.brief_timeout(),
            _ => self.options.lock_timeout,
        };
        self.lock_within(subject, range, timeout)
    }

    fn lock_within(&self, subject: LockSubject, range: LockRange, timeout: Duration) -> Result<()> {
        // The kernel grants an exclusive lock only on a file that is open for writing.
        let kind = match self.options.mode {
            OpenMode::ReadOnly => LockKind::Shared,
            OpenMode::Exclusive | OpenMode::Shared => LockKind::Exclusive,
        };
        self.locks.lock(subject, range, kind, timeout)
    }

    /// Does something while no other program changes the header.
    fn under_header_lock<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.options.mode == OpenMode::Exclusive {
            return work(self);
        }
        let range = self.ranges.header();
        self.lock(LockSubject::Header, range)?;
        let done = work(self);
        let unlocked = self.locks.unlock(LockSubject::Header);
        let done = done?;
        unlocked.map(|()| done)
    }

    /// Writes the day and the record count. The rest of the header stays as it is.
    fn write_header(&mut self) -> Result<()> {
        if self.options.mode != OpenMode::Exclusive {
            self.grow(self.count_in_file()?.max(self.record_count()));
        }
        if self.is_adt() {
            self.file
                .write(adt::RECORD_COUNT_AT, &self.record_count().to_le_bytes())?;
            self.header_stale = false;
            return Ok(());
        }
        let CivilDate { year, month, day } = self.options.today;
        let year = u8::try_from(year.saturating_sub(1900)).unwrap_or_default();
        if self.header.dialect == Dialect::Dbase2 {
            let count = u16::try_from(self.record_count()).unwrap_or(u16::MAX);
            let [low, high] = count.to_le_bytes();
            self.file.write(1, &[low, high, month, day, year])?;
        } else {
            let [a, b, c, d] = self.record_count().to_le_bytes();
            self.file.write(1, &[year, month, day, a, b, c, d])?;
        }
        self.header_stale = false;
        Ok(())
    }

    /// How many whole records the file holds.
    fn count_in_file(&self) -> Result<u32> {
        let bytes = self.file.len()?.saturating_sub(u64::from(self.header.header_len));
        let count = bytes / u64::from(self.header.record_len.max(1));
        u32::try_from(count).map_err(|_| {
            let found = format!("{count}");
            Error::corrupt(self.path(), "records", 0, "fewer than 2^32 records", found)
        })
    }

    fn record_offset(&self, record: u32) -> u64 {
        let before = u64::from(record.saturating_sub(1)) * u64::from(self.header.record_len);
        u64::from(self.header.header_len) + before
    }

    fn format(&self, field: &Field) -> Format {
        Format {
            kind: field.kind,
            width: field.width,
            decimals: field.decimals,
            codepage: self.codepage,
            is_untranslated: field.is_untranslated(),
        }
    }

    fn writable(&self) -> Result<()> {
        if self.options.mode == OpenMode::ReadOnly {
            return Err(self.misuse("the table is open for reading only"));
        }
        Ok(())
    }

    fn alone(&self, what: &str) -> Result<()> {
        self.writable()?;
        if self.options.mode != OpenMode::Exclusive {
            return Err(self.misuse(&format!("{what} needs the table to be open exclusively")));
        }
        Ok(())
    }

    #[cold]
    fn misuse(&self, why: &str) -> Error {
        Error::Misuse(format!("{}: {why}", self.path().display()))
    }

    #[cold]
    fn bad(&self, record: u32, field: &Field, expected: String, found: String) -> Error {
        Error::Value(Box::new(BadValue {
            path: self.path().to_owned(),
            record,
            field: field.name.clone(),
            expected,
            found,
        }))
    }
}

impl Drop for TableEditor {
    fn drop(&mut self) {
        // Who wants to know whether this works calls `flush` and `sync` before.
        let _ = self.flush();
        if let Some(log) = &self.options.log {
            let _ = log.settle();
        }
    }
}
