//! Which bytes the programs lock.
//!
//! Source of all offsets: `include/hbrdddbf.h` (`DBF_LOCKPOS_*`, `DBF_FLCKSIZE_*`, `IDX_LOCKPOS_*`, `IDX_LOCKPOOL_*`),
//! `include/hbrddfpt.h` and `hbrdddbt.h` (memo files) and `src/rdd/dbf1.c` of Harbour 3.2; corpus/xbase/locks.json is
//! what the Linux kernel showed while Harbour held such locks. This module takes no locks.

use std::fmt;

use crate::header::Header;

/// Where a program locks, under the names that Harbour gives them.
///
/// Programs share a table safely only when all of them use the same scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockScheme {
    /// CA-Clipper and Harbour's DBFNTX: records from 1,000,000,001 on. Advantage's compatible locking of NTX tables.
    Clipper,
    /// Clipper 5.3 with its table of large files (`NTXLOCK2`): records from 4,000,000,001 on.
    Clipper2,
    /// Comix for Clipper (CDX): as Clipper, and indexes behind 0xFFFEFFFF.
    Comix,
    /// FoxPro and Visual FoxPro, and Advantage's compatible locking of CDX tables: downwards from 0x7FFFFFFE for tables
    /// with a production index, else at 0x40000000 plus the record's own place.
    Vfp,
    /// Harbour's own for files below 4 GiB.
    Hb32,
    /// Harbour's own for files of any size: records behind 0x7F00000000000000.
    Hb64,
}

/// Whether others may hold the same range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockKind {
    /// Others may hold it shared too.
    Shared,
    /// Nobody else holds it.
    Exclusive,
}

/// What a lock protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockSubject {
    /// One record, counted from 1.
    Record(u32),
    /// All records.
    File,
    /// The header, while the record count changes.
    Header,
    /// A memo file, while a value is written.
    Memo,
    /// An index file.
    Index,
    /// What a commit writes into the table: see [`CommitGate`](crate::CommitGate).
    Commit,
    /// The opening of the file, by `flock` over all of it.
    Open,
}

/// Bytes `start..=end` of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockRange {
    /// The first byte.
    pub start: u64,
    /// The last byte.
    pub end: u64,
}

/// Where one table's records, its header and the whole of it are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableLocks {
    position: u64,
    file_len: u64,
    place: Place,
}

/// Where one index file is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLock {
    position: u64,
    pool: u64,
}

impl LockScheme {
    /// Every scheme, in the order of Harbour's numbers (`DB_DBFLOCK_CLIPPER` = 1 to `DB_DBFLOCK_CLIPPER2` = 6).
    pub const ALL: [Self; 6] = [
        Self::Clipper,
        Self::Comix,
        Self::Vfp,
        Self::Hb32,
        Self::Hb64,
        Self::Clipper2,
    ];

    /// Where the table with this header is locked.
    pub fn table(self, header: &Header) -> TableLocks {
        let (position, file_len, place) = match self {
            Self::Clipper | Self::Comix => (1_000_000_000, 1_000_000_000, Place::Up),
            Self::Clipper2 | Self::Hb32 => (4_000_000_000, 294_967_295, Place::Up),
            Self::Vfp if header.production_index => (0x7FFF_FFFE, 0x07FF_FFFF, Place::Down),
            Self::Vfp => {
                let (header_len, record_len) = (header.header_len.into(), header.record_len.into());
                (0x4000_0000, 0x3FFF_FFFD, Place::Record { header_len, record_len })
            }
            Self::Hb64 => (0x7F00_0000_0000_0000, 0xFFFF_FFFE, Place::Up),
        };
        TableLocks {
            position,
            file_len,
            place,
        }
    }

    /// Where an index file is locked. DBFNTX uses [`LockScheme::Clipper2`] where [`LockScheme::Comix`] is asked for.
    pub fn index(self) -> IndexLock {
        let (position, pool) = match self {
            Self::Clipper | Self::Clipper2 => (1_000_000_000, 0),
            Self::Comix | Self::Hb32 => (0xFFFE_FFFF, 0x1_0000),
            Self::Vfp => (0x7FFF_FFFE, 0),
            Self::Hb64 => (0x7FFF_FFFF_0000_0001, 0x1_0000),
        };
        IndexLock { position, pool }
    }

    /// The byte of a memo file that is locked while it changes; the same in every scheme.
    pub fn memo(self) -> LockRange {
        LockRange::new(0, 1)
    }
}

impl TableLocks {
    /// The byte of record `record`, counted from 1.
    pub fn record(&self, record: u32) -> LockRange {
        let record = u64::from(record);
        let at = match self.place {
            Place::Up => self.position + record,
            Place::Down => self.position.saturating_sub(record),
            Place::Record { header_len, record_len } => {
                self.position + header_len + record.saturating_sub(1) * record_len
            }
        };
        LockRange::new(at, 1)
    }

    /// The bytes of all records.
    pub fn file(&self) -> LockRange {
        let start = match self.place {
            Place::Down => self.position - self.file_len,
            Place::Up | Place::Record { .. } => self.position + 1,
        };
        LockRange::new(start, self.file_len)
    }

    /// The byte of the header; appending takes it too.
    pub fn header(&self) -> LockRange {
        LockRange::new(self.position, 1)
    }
}

impl IndexLock {
    /// How many slots readers choose from; 0 where they all share one byte.
    pub fn pool(&self) -> u64 {
        self.pool
    }

    /// What a writer takes, exclusively: the byte and all slots.
    pub fn write(&self) -> LockRange {
        LockRange::new(self.position, self.pool + 1)
    }

    /// What a reader takes, shared: one of the slots (`slot` is taken modulo their number, callers choose it at random),
    /// or the one byte there is.
    pub fn read(&self, slot: u64) -> LockRange {
        match slot.checked_rem(self.pool) {
            Some(slot) => LockRange::new(self.position + 1 + slot, 1),
            None => LockRange::new(self.position, 1),
        }
    }
}

impl LockRange {
    /// `len` bytes from `start`, at least one.
    const fn new(start: u64, len: u64) -> Self {
        Self {
            start,
            end: start + len.saturating_sub(1),
        }
    }

    /// The number of bytes.
    pub fn byte_len(&self) -> u64 {
        (self.end - self.start).saturating_add(1)
    }

    /// Whether a byte belongs to both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

impl fmt::Display for LockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}..={}", self.start, self.end)
    }
}

impl fmt::Display for LockSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(record) => write!(f, "record {record}"),
            Self::File => f.write_str("all records"),
            Self::Header => f.write_str("the header"),
            Self::Memo => f.write_str("the memo file"),
            Self::Index => f.write_str("the index"),
            Self::Commit => f.write_str("what a commit writes"),
            Self::Open => f.write_str("the file itself"),
        }
    }
}

/// How a record number becomes a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Up,
    Down,
    Record { header_len: u64, record_len: u64 },
}
