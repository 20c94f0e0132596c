//! What was made of tables, kept within a limit of memory: decoded columns, and what was counted and added up.
//!
//! An entry belongs to a chunk of [`CHUNK`] records and to the state of the file that it was made of. A DBF counts no changes,
//! so the file's stamp tells whether that state still is: an entry that the stamp does not vouch for is made anew. The least
//! recently used entries go first. What entries are made of is not known here.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, ArrayRef};

use crate::aggregate::Counted;
use crate::codepage::CodePage;
use crate::kernels::summary::Tally;
use crate::kernels::words::Words;
use crate::stamp::FileStamp;
use crate::table::{Blank, Table};

/// Records of a chunk.
pub(crate) const CHUNK: u32 = 1 << 16;

/// A cache that the handles of any tables share. It is `Send` and `Sync`.
#[derive(Debug)]
pub struct ColumnCache {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// The keys by the time of their last use.
    by_use: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    value: Held,
    bytes: usize,
    /// What the file looked like before it was read; `None` for a table in memory.
    stamp: Option<FileStamp>,
    records: u32,
    used: u64,
}

/// What an entry is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) table: Arc<TableKey>,
    pub(crate) chunk: u32,
    pub(crate) what: What,
}

/// A table as it was opened: the same bytes can be read in several ways.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableKey {
    path: PathBuf,
    /// Tells tables in memory apart.
    memory: Option<u64>,
    blank_is_zero: bool,
    keeps_blanks: bool,
    recovers: bool,
    codepage: CodePage,
}

impl TableKey {
    pub(crate) fn new(table: &Table, memory: Option<u64>) -> Self {
        Self {
            path: table.path().to_owned(),
            memory,
            blank_is_zero: table.options.blank == Blank::Zero,
            keeps_blanks: table.options.keep_trailing_blanks,
            recovers: table.options.passes_over(),
            codepage: table.codepage(),
        }
    }
}

/// What was made of the records of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// How many are not deleted.
    Undeleted,
    /// The column of a field.
    Column(usize),
    /// The cells of a field as words.
    Words(usize),
    /// Nothing but that the words of a field of the whole table, or its deletion marks, were asked for.
    Asked(Option<usize>),
    /// Which records are marked as deleted.
    Deleted,
    /// A numeric field added up, of all records or of those that are not deleted.
    Tally { field: usize, with_deleted: bool },
    /// The texts of a field, counted, with a numeric field added up for each.
    Groups {
        field: usize,
        sum_of: Option<usize>,
        with_deleted: bool,
    },
}

/// What an entry holds.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    Count(u32),
    Column(ArrayRef),
    /// `None` where some cell has no word.
    Words(Option<Arc<Words>>),
    Deleted(Arc<[u64]>),
    Tally(Tally),
    /// `None` for too many.
    Groups(Option<Arc<[Counted]>>),
}

/// What vouches for entries.
#[derive(Debug)]
pub(crate) enum Voucher {
    /// The stamp of the file as it is now.
    Stamp(FileStamp),
    /// Nobody else can have written.
    Exclusive,
    /// Nothing does: a transaction may change the table at any time, and take its changes back.
    Nothing,
}

impl ColumnCache {
    /// A cache that holds about so many bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            limit,
        })
    }

    /// Whether so many bytes leave room for much else.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        bytes <= self.limit / 4
    }

    /// About how many bytes are held.
    pub fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    /// What is held of a chunk that has so many records, if it is vouched for.
    pub(crate) fn find(&self, key: &Key, records: u32, voucher: &Voucher) -> Option<Held> {
        let mut state = self.state();
        let State {
            entries, by_use, clock, ..
        } = &mut *state;
        let entry = entries.get_mut(key)?;
        let is_current = entry.records == records
            && match (voucher, &entry.stamp) {
                (Voucher::Exclusive, _) => true,
                (Voucher::Stamp(now), Some(stamp)) => stamp.vouches_for(now),
                (Voucher::Stamp(_), None) | (Voucher::Nothing, _) => false,
            };
        if !is_current {
            state.remove(key);
            return None;
        }
        *clock += 1;
        let before = std::mem::replace(&mut entry.used, *clock);
        if let Some(key) = by_use.remove(&before) {
            by_use.insert(*clock, key);
        }
        Some(entry.value.clone())
    }

    /// Holds what was made of a chunk after its file had this stamp.
    pub(crate) fn hold(&self, key: &Key, records: u32, stamp: Option<FileStamp>, value: Held) {
        let bytes = ENTRY_BYTES
            + match &value {
                Held::Column(array) => array.get_array_memory_size(),
                Held::Words(words) => words.as_ref().map_or(0, |words| words.bytes()),
                Held::Deleted(words) => size_of_val(&**words),
                Held::Groups(groups) => groups.iter().flat_map(|groups| groups.iter()).map(Counted::bytes).sum(),
                Held::Count(_) | Held::Tally(_) => 0,
            };
        if bytes > self.limit {
            return;
        }
        let mut state = self.state();
        state.remove(key);
        while state.bytes + bytes > self.limit {
            let Some((_, oldest)) = state.by_use.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            state.remove(&oldest);
        }
        state.clock += 1;
        state.bytes += bytes;
        let used = state.clock;
        state.by_use.insert(used, key.clone());
        let entry = Entry {
            value,
            bytes,
            stamp,
            records,
            used,
        };
        state.entries.insert(key.clone(), entry);
    }

    /// Forgets what was made of some chunks of a table, in whichever way it was opened.
    pub(crate) fn forget(&self, table: &TableKey, chunks: std::ops::RangeInclusive<u32>) {
        let mut state = self.state();
        let is_of = |key: &&Key| {
            key.table.path == table.path && key.table.memory == table.memory && chunks.contains(&key.chunk)
        };
        let keys: Vec<Key> = state.entries.keys().filter(is_of).cloned().collect();
        for key in keys {
            state.remove(&key);
        }
    }

    /// Forgets what the stamp of a table's file does not vouch for.
    pub(crate) fn forget_outdated(&self, table: &TableKey, now: &FileStamp) {
        let mut state = self.state();
        let is_outdated = |(key, entry): &(&Key, &Entry)| {
            key.table.path == table.path && !entry.stamp.as_ref().is_some_and(|stamp| stamp.vouches_for(now))
        };
        let keys = state.entries.iter().filter(is_outdated).map(|(key, _)| key.clone());
        for key in keys.collect::<Vec<_>>() {
            state.remove(&key);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}

/// About what an entry takes beside its column.
const ENTRY_BYTES: usize = 256;
