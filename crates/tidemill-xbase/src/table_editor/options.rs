//! How a table is opened for changes.

use std::time::{Duration, SystemTime};

use crate::header::CivilDate;
use crate::lock::LockScheme;
use crate::orders::{BuildOptions, KeySettings};
use crate::table::OpenOptions;
use crate::transaction::TransactionLog;

/// Who else may have the table open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenMode {
    /// Nobody: changes need no locks, and [`TableEditor::pack`](super::TableEditor::pack) and
    /// [`TableEditor::zap`](super::TableEditor::zap) are allowed. Default.
    #[default]
    Exclusive,
    /// Programs that share it: changes need locks.
    Shared,
    /// Programs that share it: nothing is changed, and locks keep others from changing what they cover.
    ReadOnly,
}

/// How to open a table for changes.
#[derive(Debug, Clone)]
pub struct EditOptions {
    pub(super) mode: OpenMode,
    pub(super) scheme: LockScheme,
    pub(super) lock_timeout: Duration,
    pub(super) brief_lock_timeout: Option<Duration>,
    pub(super) today: CivilDate,
    pub(super) open: OpenOptions,
    pub(super) log: Option<TransactionLog>,
    pub(super) keys: Option<KeySettings>,
    pub(super) production_index: bool,
    pub(super) build: BuildOptions,
    pub(super) clock: fn() -> i64,
    pub(super) waiting_bytes: usize,
}

impl EditOptions {
    /// Every option at its default; headers name `today` as the day of the last change.
    pub fn new(today: CivilDate) -> Self {
        Self {
            mode: OpenMode::default(),
            scheme: LockScheme::Vfp,
            lock_timeout: Duration::from_secs(1),
            brief_lock_timeout: None,
            today,
            open: OpenOptions::new(),
            log: None,
            keys: None,
            production_index: true,
            build: BuildOptions::new(),
            clock: now,
            waiting_bytes: 1 << 20,
        }
    }

    /// Who else may have the table open. Default: [`OpenMode::Exclusive`].
    #[must_use]
    pub fn mode(mut self, mode: OpenMode) -> Self {
        self.mode = mode;
        self
    }

    /// Which bytes are locked; all programs that share a table must agree. Those that Advantage locks in an ADT are not known: such
    /// tables are shared by programs of ours alone. Default: [`LockScheme::Vfp`].
    #[must_use]
    pub fn scheme(mut self, scheme: LockScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// How long a lock is asked for again and again while others hold it. Default: one second.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// How long locks are waited for that programs hold for a moment only, those of the header, the memo file and index files.
    /// Default: as [`EditOptions::lock_timeout`].
    #[must_use]
    pub fn brief_lock_timeout(mut self, timeout: Duration) -> Self {
        self.brief_lock_timeout = Some(timeout);
        self
    }

    /// Whether changes may wait where there is no log.
    pub(super) fn lets_wait(&self) -> bool {
        self.mode == OpenMode::Exclusive && self.waiting_bytes > 0
    }

    pub(super) fn brief_timeout(&self) -> Duration {
        self.brief_lock_timeout.unwrap_or(self.lock_timeout)
    }

    /// How the table is read; recovering is refused. Default: [`OpenOptions::new`].
    #[must_use]
    pub fn open(mut self, open: OpenOptions) -> Self {
        self.open = open;
        self
    }

    /// What time it is for fields that keep the time of a record's last change (`=`), in milliseconds since 1970-01-01
    /// without a zone; all programs that share a table should mean the same zone. Default: the system's clock, in universal
    /// time.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> i64) -> Self {
        self.clock = clock;
        self
    }

    /// The log that changes go through, so that a change is made as a whole or not at all, and several changes in one
    /// [`Transaction`](crate::Transaction). Default: none, changes go straight to the files.
    #[must_use]
    pub fn log(mut self, log: &TransactionLog) -> Self {
        self.log = Some(log.clone());
        self
    }

    /// How the expressions of index files are compiled and their text is sorted: it must be as the programs do that share
    /// them, since no index file says it. Under another collation keys would be put where those programs do not find them.
    /// Opening an index looks at some of its pages and refuses keys that are out of order there, but keys of letters that all
    /// collations sort alike say nothing. Default: [`KeySettings::new`] with the table's code page, which sorts by bytes.
    #[must_use]
    pub fn keys(mut self, keys: KeySettings) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Whether the production index is opened with the table, so that its orders follow every change. Default: true.
    #[must_use]
    pub fn production_index(mut self, opens: bool) -> Self {
        self.production_index = opens;
        self
    }

    /// How many bytes of changed records and memos may wait in memory while the table is open exclusively and has no log; the
    /// change that finds more there writes them before it is made. With 0 nothing waits. Default: 1 MiB.
    #[must_use]
    pub fn waiting_bytes(mut self, bytes: usize) -> Self {
        self.waiting_bytes = bytes;
        self
    }

    /// How indexes are made from the records: for [`create_order`](super::TableEditor::create_order) and
    /// [`reindex`](super::TableEditor::reindex) of an editor, and after packing. Default: [`BuildOptions::new`].
    #[must_use]
    pub fn build(mut self, build: BuildOptions) -> Self {
        self.build = build;
        self
    }
}

fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
