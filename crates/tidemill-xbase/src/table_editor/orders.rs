//! The orders of a table that is open for changes: every change of a record's bytes goes through here, and the entries of
//! all open orders follow.
//!
//! What changes is known before anything is written: a record whose key cannot be made is not written. Beside others the
//! index files that have to change are then locked, looked at again, changed, flushed and unlocked around the write of the
//! record; alone their pages stay in memory until [`TableEditor::flush`]. Index files are locked behind the header and the
//! records, in the order of their paths, so that two programs never wait for each other in a circle.
//!
//! With a log every change is handed to it at once, and what was in memory is read anew after something was rolled back.
//!
//! An entry that is the first of its key in a UNIQUE order goes with its record, and no other record takes its place, as in
//! Clipper, FoxPro and Harbour (`hb_cdxGoCold` in `dbfcdx1.c`). Custom orders are the program's.

mod candidates;
mod custom;
mod drafts;
mod fresh;
mod kept;
mod making;
mod mdx;
mod relisted;
mod words;

pub(super) use drafts::Renumbered;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::files::{data_file, open_file};
use super::{EditOptions, OpenMode, TableEditor};
use crate::error::{Error, Result};
use crate::expression::{Record, RecordBytes};
use crate::field::Field;
use crate::full_text::FieldText;
use crate::index::{IndexDialect, IndexEditor, IndexOptions, Tag};
use crate::lock::{FileIdentity, FileLocks, LockKind, LockRange, LockScheme, LockSubject};
use crate::memo::Memo;
use crate::orders::{KeySettings, MadeKey, OrderKeys, Seen, TableOrder, production_extension, production_path};
use crate::stamp::FileStamp;
use crate::storage::DataFile;
use crate::table::Table;
use crate::transaction::{KeptLocks, TransactionLog};

/// The index files that are open with a table.
#[derive(Debug)]
pub(super) struct Orders {
    /// What expressions are evaluated over; its records are not read.
    pub(super) table: Arc<Table>,
    settings: KeySettings,
    files: Vec<OrderFile>,
    /// Whether candidate indexes refuse anything.
    enforces: bool,
}

/// One index file.
#[derive(Debug)]
struct OrderFile {
    /// No other file that is open in this process has it.
    number: u64,
    index: IndexEditor,
    settings: KeySettings,
    /// What its expressions are compiled over.
    table: Arc<Table>,
    /// The keys of the orders, in that of the index's tags.
    keys: Vec<OrderKeys>,
    /// Which of the lists of orders that the file has had these are.
    relisted: u64,
    /// What the numbers of fields in the expressions of an ADI become, while the table gets others.
    renumbered: Option<Renumbered>,
    /// Beside others.
    locks: Option<(KeptLocks, LockRange)>,
    log: Option<TransactionLog>,
    /// How often something had been rolled back when the pages in memory were looked at.
    rollbacks: u64,
    is_locked: bool,
    /// Whether the table is open for changes.
    is_written: bool,
}

/// How expressions are compiled and text is sorted, by the path of an index file and what the file looks like.
type SettingsOf<'s> = dyn Fn(&Path, Option<&FileStamp>) -> KeySettings + 's;

/// The number of the next index file.
static FILE_NUMBER: AtomicU64 = AtomicU64::new(1);

/// What a change of records does to the orders.
#[derive(Debug, Default)]
struct Changes {
    changes: Vec<Change>,
    keys: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Change {
    file: usize,
    order: usize,
    key: Range<usize>,
    recno: u32,
    is_insertion: bool,
}

impl TableEditor {
    /// Opens an index file, whose orders then follow every change. The production index is open already, unless
    /// [`EditOptions::production_index`](super::EditOptions::production_index) says otherwise.
    ///
    /// # Errors
    /// As [`TableIndex::open`](crate::TableIndex::open); [`Error::StaleIndex`] when an order has not followed the table, as far
    /// as the last record's entry and the leaves at the ends of the order tell: records that were appended without it are
    /// noticed, others that were changed without it are not (see [`Index::verify`](crate::index::Index::verify));
    /// [`Error::Order`] with [`Error::Corrupt`] when keys on the way there are in another order than that of the
    /// [`KeySettings`]; [`Error::Misuse`] when it is open already; [`Error::Locked`].
    pub fn open_index(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let settings = self.orders.settings.clone();
        self.open_index_with(path, &settings)
    }

    /// Opens an index file as [`TableEditor::open_index`] does, with expressions compiled and text sorted in a way of its own.
    ///
    /// # Errors
    /// As [`TableEditor::open_index`].
    pub fn open_index_with(&mut self, path: impl AsRef<Path>, settings: &KeySettings) -> Result<()> {
        self.open_index_by(path.as_ref(), &|_, _| settings.clone())
    }

    fn open_index_by(&mut self, path: &Path, settings: &SettingsOf<'_>) -> Result<()> {
        self.in_files("opening an index")?;
        if self.orders.files.iter().any(|file| file.index.path() == path) {
            return Err(self.misuse(&format!("{} is open already", path.display())));
        }
        let file = self
            .orders
            .open_file(path, self.locks.table(), &self.options, settings)?;
        let is_alone = self.options.mode == OpenMode::Exclusive;
        self.orders.files.push(file);
        let last = self.orders.files.len() - 1;
        let checked = match is_alone {
            true => self.check_fresh(last),
            false => match self.is_known_to_be_fresh(last) {
                Ok(true) => Ok(()),
                _ => self.under_header_lock(|table| {
                    table.refresh()?;
                    table.check_fresh(last)
                }),
            },
        };
        if checked.is_err() {
            self.orders.files.pop();
        }
        self.orders.files.sort_by(|a, b| a.index.path().cmp(b.index.path()));
        checked
    }

    /// Closes an index file, whose orders do not follow the table any more. `false` when it is not open.
    ///
    /// # Errors
    /// [`Error::Io`] for changes that cannot be written; it is open then.
    pub fn close_index(&mut self, path: impl AsRef<Path>) -> Result<bool> {
        let wanted = std::fs::canonicalize(path.as_ref()).ok();
        let is_wanted = |file: &OrderFile| {
            file.index.path() == path.as_ref()
                || (wanted.is_some() && std::fs::canonicalize(file.index.path()).ok() == wanted)
        };
        let Some(at) = self.orders.files.iter().position(is_wanted) else {
            return Ok(false);
        };
        self.flush_orders()?;
        self.orders.files.remove(at);
        Ok(true)
    }

    /// What the headers of the open index files say of their orders.
    pub fn orders(&self) -> impl Iterator<Item = &Tag> {
        self.orders.files.iter().flat_map(|file| file.index.tags())
    }

    /// An order of the open index files by its name, in any case, with the entries that it has now. Later changes do not
    /// show in it.
    ///
    /// # Errors
    /// [`Error::Misuse`] when no open file has it; [`Error::Locked`], [`Error::Io`], [`Error::Corrupt`].
    pub fn order(&mut self, name: &str) -> Result<TableOrder> {
        let (file, order) = self.find_order(name)?;
        self.order_at(file, order)
    }

    fn order_at(&mut self, file: usize, order: usize) -> Result<TableOrder> {
        let Some(file) = self.orders.files.get_mut(file) else {
            return Err(self.misuse("an index file is open no more"));
        };
        let name = file.index.tags().get(order).map(|tag| tag.name.clone());
        file.lock(LockKind::Shared, &self.options)?;
        let found = file.place_of(&name.unwrap_or_default());
        let found = found.and_then(|order| file.reader(order));
        file.unlock().and(found)
    }

    /// What the headers of the open index files say of their orders, with the file of each, in the order of the files' paths.
    pub fn orders_of_files(&self) -> impl Iterator<Item = (&Path, &Tag)> {
        let files = self.orders.files.iter();
        files.flat_map(|file| file.index.tags().iter().map(|tag| (file.index.path(), tag)))
    }

    /// An order of one of the open index files, as [`TableEditor::order`].
    ///
    /// # Errors
    /// As [`TableEditor::order`].
    pub fn order_in(&mut self, index: impl AsRef<Path>, name: &str) -> Result<TableOrder> {
        let (file, order) = self.find_order_in(index.as_ref(), name)?;
        self.order_at(file, order)
    }

    /// As [`TableEditor::order_in`], for who brings the order up to the moment with [`TableEditor::hold_order`] whenever it is
    /// used: nobody is kept away meanwhile.
    ///
    /// # Errors
    /// As [`TableEditor::order`].
    pub fn order_to_hold(&mut self, index: impl AsRef<Path>, name: &str) -> Result<TableOrder> {
        let (file, order) = self.find_order_in(index.as_ref(), name)?;
        match self.orders.files.get_mut(file).map(|file| file.reader(order)) {
            Some(Ok(found)) => Ok(found),
            // In the middle of a change by another program the headers may be neither the old nor the new ones.
            _ => self.order_at(file, order),
        }
    }

    fn find_order_in(&self, index: &Path, name: &str) -> Result<(usize, usize)> {
        let is_file = |file: &OrderFile| file.index.path() == index;
        let found = self.orders.files.iter().position(is_file).and_then(|at| {
            let tags = self.orders.files.get(at)?.index.tags();
            let order = tags.iter().position(|tag| tag.name.eq_ignore_ascii_case(name))?;
            Some((at, order))
        });
        found.ok_or_else(|| self.misuse(&format!("no open order of {} is called {name:?}", index.display())))
    }

    /// Brings an order up to this moment, and keeps other programs from changing its file until
    /// [`TableEditor::release_orders`]; returns whether it is another order than before.
    ///
    /// Alone, and when nothing changed, this costs a few nanoseconds; beside others a lock and a look at the file's header.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the order is not one of [`TableEditor::order`] or its file is not open any more;
    /// [`Error::Locked`], [`Error::Io`], [`Error::Corrupt`].
    pub fn hold_order(&mut self, order: &mut TableOrder) -> Result<bool> {
        let is_file = |file: &OrderFile| file.number == order.seen.file;
        let Some(at) = self.orders.files.iter().position(is_file) else {
            let name = &order.order().tag().name;
            return Err(self.misuse(&format!("the index file of index tag {name} is not open")));
        };
        let Some(file) = self.orders.files.get_mut(at) else {
            return Ok(false);
        };
        if file.locks.is_none() && file.log.is_none() && file.index.version() == order.seen.version {
            return Ok(false);
        }
        file.lock(LockKind::Shared, &self.options)?;
        if file.index.version() == order.seen.version {
            return Ok(false);
        }
        let name = &order.order().tag().name;
        match file.place_of(name).and_then(|place| file.reader(place)) {
            Ok(current) => {
                *order = current;
                Ok(true)
            }
            Err(e) => file.unlock().and(Err(e)),
        }
    }

    /// Lets other programs change the index files again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn release_orders(&mut self) -> Result<()> {
        self.orders.unlock()
    }

    /// Lets other programs change the index files again that a transaction has only read; what it has changed stays locked to its
    /// end. For who has looked for records and is about to lock or write them: two who did that with the files locked for reading
    /// would each wait for the other.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn release_read_orders(&mut self) -> Result<()> {
        let locks = self.orders.files.iter().filter(|file| !file.is_locked);
        let mut locks = locks.filter_map(|file| file.locks.as_ref());
        locks.try_for_each(|(locks, _)| locks.unlock_shared(LockSubject::Index))
    }

    pub(super) fn open_production(&mut self) -> Result<()> {
        let settings = self.orders.settings.clone();
        self.open_production_index(|_, _| settings.clone())
    }

    /// Opens the production index, if there is one, with settings that are found by its path and by what its file looks like. As in
    /// Harbour, one that the header names and that is gone is no error.
    ///
    /// # Errors
    /// As [`TableEditor::open_index`].
    pub fn open_production_index(&mut self, settings: impl Fn(&Path, Option<&FileStamp>) -> KeySettings) -> Result<()> {
        let usual = self.path().with_extension(production_extension(self.path()));
        match self.open_index_by(&usual, &settings) {
            // It may have a name in other letters.
            Err(Error::Io { source, .. }) if is_no_file(&source) => {}
            opened => return opened,
        }
        match production_path(&self.orders.table) {
            Ok(Some(path)) if IndexDialect::from_path(&path) == Some(IndexDialect::Mdx) => {
                self.open_mdx(&path, &settings)
            }
            Ok(Some(path)) => self.open_index_by(&path, &settings),
            Ok(None) | Err(Error::Unsupported { .. }) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Writes new records by `write` and adds their entries, but for candidate indexes when the records are to be finished later.
    /// When entries cannot be added, `undo` takes the records back.
    pub(super) fn with_appended(
        &mut self,
        first: u32,
        (records, are_finished): (&[u8], bool),
        write: impl FnOnce(&mut Self) -> Result<()>,
        undo: impl FnOnce(&mut Self),
    ) -> Result<()> {
        let stride = self.header.record_len as usize;
        let memo = self.memo_of_words()?;
        self.with_changes(
            |orders| orders.of_appended(first, (records, are_finished), stride, memo.as_ref()),
            write,
            undo,
        )
    }

    /// Writes a record by `write` and lets its entries follow. When these cannot, `undo` writes the record as it was.
    pub(super) fn with_rewritten(
        &mut self,
        record: u32,
        (before, after): (&[u8], &[u8]),
        write: impl FnOnce(&mut Self) -> Result<()>,
        undo: impl FnOnce(&mut Self),
    ) -> Result<()> {
        let memo = self.memo_of_words()?;
        let changes = |orders: &Orders| orders.of_rewritten(record, (before, after), memo.as_ref());
        self.with_changes(changes, write, undo)
    }

    fn with_changes(
        &mut self,
        changes: impl Fn(&Orders) -> Result<Changes>,
        write: impl FnOnce(&mut Self) -> Result<()>,
        undo: impl FnOnce(&mut Self),
    ) -> Result<()> {
        self.followed_by_mdx()?;
        if self.orders.files.is_empty() {
            return write(self);
        }
        let locked = self.locked_changes(changes);
        let done = locked.and_then(|changes| {
            self.orders.refuse_duplicates(&changes)?;
            write(self)?;
            let applied = self.orders.apply(&changes);
            if applied.is_err() {
                undo(self);
            }
            applied
        });
        // What was changed is flushed here.
        let unlocked = self.orders.unlock();
        done.and(unlocked)
    }

    /// Writes what the orders have not written yet.
    pub(super) fn flush_orders(&mut self) -> Result<()> {
        if self.options.mode == OpenMode::Exclusive && self.options.log.is_none() {
            self.orders.files.iter_mut().try_for_each(|file| file.index.flush())?;
        }
        Ok(())
    }

    /// Brings the index files to the disk.
    pub(super) fn sync_orders(&mut self) -> Result<()> {
        match (self.options.mode, &self.options.log) {
            (OpenMode::ReadOnly, _) | (_, Some(_)) => Ok(()),
            (OpenMode::Exclusive, None) => self.orders.files.iter_mut().try_for_each(|file| file.index.sync()),
            (OpenMode::Shared, None) => self.orders.files.iter().try_for_each(|file| file.index.sync_file()),
        }
    }

    /// Whether every open order can be made over other fields.
    ///
    /// # Errors
    /// [`Error::Order`] for the first that cannot.
    pub(super) fn check_orders(&self, fields: &[Field]) -> Result<()> {
        self.check_known_orders()?;
        let mut files = self.orders.files.iter();
        files.try_for_each(|file| file.keys_over(fields).map(drop))
    }

    /// Whether every open order can be made anew.
    ///
    /// # Errors
    /// [`Error::Order`] with [`Error::UnknownCollation`] or [`Error::NoKeys`] for the first that cannot.
    pub(super) fn check_known_orders(&self) -> Result<()> {
        self.orders.files.iter().try_for_each(|file| {
            let mut orders = file.keys.iter().zip(file.index.tags());
            orders.try_for_each(|(keys, tag)| {
                keys.check_known()
                    .map_err(|e| Error::order(file.index.path(), &tag.name, e))
            })
        })
    }

    /// The file and the place in it of an order.
    fn find_order(&self, name: &str) -> Result<(usize, usize)> {
        let files = self.orders.files.iter().enumerate();
        let mut found = files.flat_map(|(at, file)| file.index.tags().iter().enumerate().map(move |tag| (at, tag)));
        let found = found.find(|(_, (_, tag))| tag.name.eq_ignore_ascii_case(name));
        found.map(|(at, (order, _))| (at, order)).ok_or_else(|| {
            let known: Vec<_> = self.orders().map(|tag| tag.name.as_str()).collect();
            self.misuse(&format!(
                "no open order is called {name:?}; there are {}",
                known.join(", ")
            ))
        })
    }
}

/// Whether a file could not be opened because there is none of this name.
fn is_no_file(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotFound};
    matches!(error.kind(), NotFound | IsADirectory)
}

impl Orders {
    pub(super) fn new(table: Arc<Table>, settings: Option<KeySettings>) -> Self {
        let settings = settings.unwrap_or_else(|| KeySettings::new(table.codepage()));
        Self {
            table,
            settings,
            files: Vec::new(),
            enforces: true,
        }
    }

    pub(super) fn data_files(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter().map(|file| file.index.file())
    }

    pub(super) fn use_log(&mut self, log: Option<&TransactionLog>) -> Result<()> {
        for file in &mut self.files {
            // What was rolled back in the log that it had may still be in memory.
            if file.log.as_ref().is_some_and(|old| old.rollbacks() != file.rollbacks) {
                file.index.reload()?;
                file.follow_list()?;
            }
            if let Some((locks, _)) = &mut file.locks {
                locks.use_log(log);
            }
            file.rollbacks = log.map_or(0, TransactionLog::rollbacks);
            file.log = log.cloned();
        }
        Ok(())
    }

    fn open_file(
        &self,
        path: &Path,
        table: &FileIdentity,
        options: &EditOptions,
        settings: &SettingsOf<'_>,
    ) -> Result<OrderFile> {
        let handle = open_file(path, options)?;
        let is_shared = options.mode != OpenMode::Exclusive;
        let data = Arc::new(data_file(path, &handle, options)?);
        let settings = settings(path, data.storage().stamp().as_ref()).over(&self.table);
        let index_options = IndexOptions::new()
            .codepage(settings.environment.codepage)
            .table_dialect(self.table.header().dialect);
        let index = IndexEditor::new(data, &index_options, is_shared)?;
        let locks = match is_shared {
            false => None,
            true => {
                // DBFNTX has no locks of its own under Comix.
                let scheme = match (index.dialect(), options.scheme) {
                    (IndexDialect::Ntx, LockScheme::Comix) => LockScheme::Clipper2,
                    (_, scheme) => scheme,
                };
                let locks = KeptLocks::of_companion(FileLocks::new(handle, path)?, table.clone(), options.log.as_ref());
                Some((locks, scheme.index().write()))
            }
        };
        let mut file = OrderFile {
            number: FILE_NUMBER.fetch_add(1, Ordering::Relaxed),
            index,
            settings,
            table: Arc::clone(&self.table),
            keys: Vec::new(),
            relisted: 0,
            renumbered: None,
            locks,
            rollbacks: options.log.as_ref().map_or(0, TransactionLog::rollbacks),
            log: options.log.clone(),
            is_locked: false,
            is_written: options.mode != OpenMode::ReadOnly,
        };
        file.compile()?;
        file.prepare()?;
        Ok(file)
    }

    fn of_appended(
        &self,
        first: u32,
        (records, are_finished): (&[u8], bool),
        stride: usize,
        memo: Option<&Memo>,
    ) -> Result<Changes> {
        let (mut changes, mut text) = (Changes::default(), FieldText::default());
        if self.files.is_empty() {
            return Ok(changes);
        }
        for (recno, bytes) in (first..).zip(records.chunks_exact(stride.max(1))) {
            let record = RecordBytes::new(&self.table, recno, bytes);
            self.each_order(|(file, order), keys, tag| {
                if let Some(words) = keys.words() {
                    return changes.of_words((file, order), words, [None, Some(&record)], memo, &mut text);
                }
                let begin = changes.keys.len();
                if !keys.are_known() {
                    return match keys.is_left_out(&record)? {
                        true => Ok(()),
                        false => keys.check_known(),
                    };
                }
                let has_key = match tag.is_candidate {
                    true if !are_finished => false,
                    true if self.enforces => keys.put_candidate_key(&record, &mut changes.keys)?,
                    _ => keys.put_key(&record, &mut changes.keys)?,
                };
                if has_key {
                    changes.changes.push(Change {
                        file,
                        order,
                        key: begin..changes.keys.len(),
                        recno,
                        is_insertion: true,
                    });
                }
                Ok(())
            })?;
        }
        if records.len() > stride {
            // Entries that lie beside one another are put in one behind the other.
            let Changes { changes, keys } = &mut changes;
            let key = |change: &Change| keys.get(change.key.clone());
            changes.sort_by(|a, b| (a.file, a.order, key(a)).cmp(&(b.file, b.order, key(b))));
        }
        Ok(changes)
    }

    fn of_rewritten(&self, recno: u32, (before, after): (&[u8], &[u8]), memo: Option<&Memo>) -> Result<Changes> {
        let (mut changes, mut text) = (Changes::default(), FieldText::default());
        if self.files.is_empty() || (before == after && !self.has_candidates()) {
            return Ok(changes);
        }
        let (old_bytes, new_bytes) = (before, after);
        let [before, after] = [before, after].map(|bytes| RecordBytes::new(&self.table, recno, bytes));
        self.each_order(|(file, order), keys, tag| {
            if let Some(words) = keys.words() {
                return match keys.is_untouched(self.table.fields(), old_bytes, new_bytes) {
                    true => Ok(()),
                    false => changes.of_words((file, order), words, [Some(&before), Some(&after)], memo, &mut text),
                };
            }
            let begin = changes.keys.len();
            if !keys.are_known() {
                return match keys.is_untouched(self.table.fields(), old_bytes, new_bytes) {
                    true => Ok(()),
                    false => keys.check_known(),
                };
            }
            let was_in = keys.put_key(&before, &mut changes.keys)?;
            let middle = changes.keys.len();
            let made = keys.put_key_or_null(&after, &mut changes.keys)?;
            let is_in = made != MadeKey::LeftOut;
            let (old, new) = (begin..middle, middle..changes.keys.len());
            let is_same = was_in == is_in && changes.keys.get(old.clone()) == changes.keys.get(new.clone());
            // The entry may not have been made yet. One that is not there need not be made when the record is deleted.
            let is_wanted = tag.is_candidate && is_in && !after.is_deleted();
            if is_same && !is_wanted {
                changes.keys.truncate(begin);
                return Ok(());
            }
            if tag.is_candidate && made == MadeKey::Null && self.enforces {
                return Err(Error::NullKey { record: recno });
            }
            for (is_there, key, is_insertion) in [(was_in && !is_same, old, false), (is_in, new, true)] {
                if is_there {
                    changes.changes.push(Change {
                        file,
                        order,
                        key,
                        recno,
                        is_insertion,
                    });
                }
            }
            Ok(())
        })?;
        Ok(changes)
    }

    /// Shows every order that follows the records: its file, its place there, its keys and its tag.
    fn each_order(&self, mut visit: impl FnMut((usize, usize), &OrderKeys, &Tag) -> Result<()>) -> Result<()> {
        for (at, file) in self.files.iter().enumerate() {
            for (order, (keys, tag)) in file.keys.iter().zip(file.index.tags()).enumerate() {
                let is_fixed = tag.full_text.as_ref().is_some_and(|options| options.is_fixed);
                if !tag.is_custom && !is_fixed {
                    visit((at, order), keys, tag).map_err(|e| Error::order(file.index.path(), &tag.name, e))?;
                }
            }
        }
        Ok(())
    }

    /// Locks the files that change, and beside others those that somebody else has changed since they were looked at.
    fn lock(&mut self, changes: &Changes, options: &EditOptions) -> Result<()> {
        for (at, file) in self.files.iter_mut().enumerate() {
            if changes.changes.iter().any(|change| change.file == at) {
                file.lock(LockKind::Exclusive, options)?;
            } else if file.locks.is_some() && file.index.has_been_changed()? {
                file.lock(LockKind::Shared, options)?;
            }
        }
        Ok(())
    }

    /// Makes all the changes, or as far as the files allow it none of them.
    fn apply(&mut self, changes: &Changes) -> Result<()> {
        let mut done = Vec::with_capacity(changes.changes.len());
        for change in &changes.changes {
            match self.make(change, &changes.keys, change.is_insertion) {
                Ok(true) => done.push(change),
                Ok(false) => {}
                Err(e) => {
                    for change in done.into_iter().rev() {
                        // The file that failed is of no use any more, and says so when it is asked.
                        let _ = self.make(change, &changes.keys, !change.is_insertion);
                    }
                    return Err(e);
                }
            }
        }
        Ok(())
    }

    fn make(&mut self, change: &Change, keys: &[u8], is_insertion: bool) -> Result<bool> {
        let key = keys.get(change.key.clone()).unwrap_or_default();
        match (self.files.get_mut(change.file), is_insertion) {
            (Some(file), true) => {
                let is_new = file.index.insert(change.order, key, change.recno)?;
                if !is_new && self.enforces && file.is_candidate(change.order) {
                    file.refuse_duplicate(change.order, key, change.recno)?;
                }
                Ok(is_new)
            }
            (Some(file), false) => {
                if file.index.remove(change.order, key, change.recno)? {
                    return Ok(true);
                }
                let beside = file.keys.get(change.order).map(|keys| keys.codec().beside(key));
                for key in beside.into_iter().flatten() {
                    if file.index.remove(change.order, &key, change.recno)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (None, _) => Ok(false),
        }
    }

    /// Flushes and unlocks what is locked.
    fn unlock(&mut self) -> Result<()> {
        let mut done = Ok(());
        for file in self.files.iter_mut().filter(|file| file.is_locked) {
            done = done.and(file.unlock());
        }
        done
    }
}

impl OrderFile {
    /// Compiles the expressions of the tags.
    fn compile(&mut self) -> Result<()> {
        let dialect = self.index.dialect();
        let keys = self.index.tags().iter().map(|tag| {
            let named = |e| Error::order(self.index.path(), &tag.name, e);
            let of_tag = OrderKeys::of_kept_tag;
            OrderKeys::of_any_tag(tag, dialect, &self.table, &self.settings, of_tag).map_err(named)
        });
        self.keys = keys.collect::<Result<_>>()?;
        Ok(())
    }

    /// Gets every order ready to be changed.
    fn prepare(&mut self) -> Result<()> {
        let tags: Vec<String> = self.index.tags().iter().map(|tag| tag.name.clone()).collect();
        for (tag, keys) in tags.iter().zip(&self.keys) {
            let digits = if self.is_written { keys.check_digits() } else { Ok(()) };
            digits.map_err(|e| Error::order(self.index.path(), tag, e))?;
            let prepared = self.index.order(tag, keys.key_type(), &keys.collation(&self.settings));
            prepared.map_err(|e| Error::order(self.index.path(), tag, e))?;
        }
        Ok(())
    }

    /// An order as it is now, for reading.
    fn reader(&mut self, order: usize) -> Result<TableOrder> {
        let reader = self.index.reader()?;
        let (Some(tag), Some(keys)) = (reader.tags().get(order), self.keys.get(order)) else {
            return Err(Error::Misuse(format!(
                "{}: no index tag {order}",
                self.index.path().display()
            )));
        };
        let order = keys.order(&reader, &tag.name, &self.settings)?;
        let seen = Seen {
            file: self.number,
            version: self.index.version(),
        };
        Ok(TableOrder::new(order, keys.clone(), seen))
    }

    /// Beside others, keeps them away and looks what they did.
    fn lock(&mut self, kind: LockKind, options: &EditOptions) -> Result<()> {
        if let Some(log) = &self.log
            && log.rollbacks() != self.rollbacks
        {
            self.index.reload()?;
            self.rollbacks = log.rollbacks();
            self.follow_list()?;
        }
        let Some((locks, range)) = &self.locks else {
            self.is_locked = true;
            return Ok(());
        };
        // Readers take the same bytes shared: with some schemes that is one of a pool of slots, with all of them enough.
        let kind = if options.mode == OpenMode::ReadOnly {
            LockKind::Shared
        } else {
            kind
        };
        locks.lock(LockSubject::Index, *range, kind, options.brief_timeout())?;
        let looked = self.index.look_again();
        let looked = looked.and_then(|()| self.follow_list());
        self.is_locked = looked.is_ok();
        match &self.locks {
            Some((locks, _)) if looked.is_err() => locks.unlock(LockSubject::Index).and(looked),
            _ => looked,
        }
    }

    /// Beside others and with a log, writes what was changed, and lets others in again.
    fn unlock(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_locked) {
            return Ok(());
        }
        let flushed = match self.locks.is_some() || self.log.is_some() {
            true => self.index.flush_if_sound(),
            false => Ok(()),
        };
        let unlocked = self
            .locks
            .as_ref()
            .map_or(Ok(()), |(locks, _)| locks.unlock(LockSubject::Index));
        flushed.and(unlocked)
    }
}
