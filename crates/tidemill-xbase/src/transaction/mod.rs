//! Transactions over several tables and their memos, and what brings them back after a crash.
//!
//! Tables that were opened with [`EditOptions::log`](crate::EditOptions::log) are changed by transactions only. What a
//! transaction writes stays in memory, laid over the files, where the tables of the same log see it. A commit writes all of
//! it as one group with a checksum into the log, brings the log to the disk, and only then writes to the files: other
//! programs, which know nothing of the log, see committed states, except for the moment in which the files are being written. Who
//! holds a table's [`CommitGate`](crate::CommitGate) while he reads keeps that moment out.
//! Opening the log again after a crash writes the groups that it has once more; what did not get into the log has touched no
//! file, so nothing is undone. A commit that the disk has no room for is taken back at once, out of the files and the log.
//!
//! # Beside others
//!
//! A lock that is taken in a transaction is held until its end, and so is one that would be given back in it: others see
//! neither what is not committed nor a record count that could be rolled back. So the first record that a transaction
//! appends locks the header of the table, and nobody else appends to the table before the transaction ends; reserving record
//! numbers instead would leave holes after a rollback, and a DBF has none. The log is emptied before the locks are given
//! back: what another program changes later is never written over, not even after a crash.
//!
//! A request waits for a lock only if the lock comes after all that the transaction holds, in an order that is the same in
//! every process: tables by device and inode, in a table the header, then records in ascending order, then memo and index
//! files. A request out of that order is tried once. Transactions of Tidemill processes therefore never wait for each other in
//! a circle. [`Transaction::lock`] takes in the right order what a transaction will need.
//!
//! # What is in the log after a crash
//!
//! | moment of the crash | what opening the log does |
//! |---|---|
//! | before the group is whole in the log | drops it; the tables are as before the transaction |
//! | later, before the tables were written | writes them |
//! | while the tables are written | writes them again |
//! | after the log was emptied | nothing |
//!
//! # What this module does not do
//!
//! A log belongs to one process at a time and has one transaction at a time; several processes share a table each with a log of
//! its own. Packing cannot be rolled back and is refused in a transaction. Bytes are redone, not meanings: if a table was changed
//! between a crash and the recovery where the log would write, that is an error and nothing is written.
//!
//! # Who recovers
//!
//! A log lies in the folder of the tables that it changes, and of these alone; a transaction over several folders has one in each.
//! Reading writes nothing: a table that a log of a dead process names is not read ([`Error::Pending`]) until somebody opens it for
//! writing, which recovers it, or calls [`recover`]. A log is bytes in a folder that anybody may have put there: what it may
//! name says the module `admission`, and one that says more is refused and left alone.

mod admission;
mod contents;
mod folder_logs;
mod group;
mod kept_locks;
mod layer;
mod log_file;
mod logged_file;
mod payload;
mod pending;
mod recovery;
mod replacement;
mod replacing;
mod state;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use contents::{LogContents, LoggedChange, LoggedReplacement, LoggedTransaction};
pub(crate) use kept_locks::{KeptLocks, LockOrder};
pub(crate) use logged_file::LoggedFile;
pub use pending::{PendingLog, pending_logs, recover, recover_folders, recover_table};
pub(crate) use pending::{Readable, readable};
pub use recovery::Recovered;
pub(crate) use replacement::{Replacement, Step};
pub(crate) use replacing::replace;

use crate::error::{Error, Result};
use crate::lock::{FileIdentity, Sharing, is_free_to_open, new_owner, open_shared_or_exclusive};
use crate::regular_file;
use crate::storage::Storage;
use crate::table_editor::TableEditor;
use folder_logs::{FolderLogs, OpenLog};
use log_file::{LogFile, Room};
use recovery::HeldLog;
use state::State;

/// What a power cut may take with it. The death of the process takes nothing that was committed, whatever is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// Nothing that was committed: each commit brings the log to the disk. Default.
    #[default]
    Commit,
    /// The last commits, at most this many, each as a whole: the log is brought to the disk once for so many commits, and
    /// other programs see them then. A commit that changes a table beside others is brought to the disk at once.
    Group(u32),
    /// What the system had not written yet, and tables may be left with a part of it: nothing is brought to the disk.
    None,
}

/// How to open a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    durability: Durability,
    lock_timeout: Duration,
    checkpoint_bytes: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            lock_timeout: Duration::from_secs(1),
            checkpoint_bytes: 16 << 20,
        }
    }
}

impl LogOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a power cut may take with it. Default: [`Durability::Commit`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long to wait for the log, and while recovering for the tables, where others have them. Default: one second.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// How long the log may grow before the tables are brought to the disk and the log is emptied. Beside others that
    /// happens with every commit. Default: 16 MiB.
    #[must_use]
    pub fn checkpoint_bytes(mut self, bytes: u64) -> Self {
        self.checkpoint_bytes = bytes;
        self
    }
}

/// The log of a connection: tables that are opened with it change together. Cloning it gives another handle on the same log.
///
/// It is a file in the folder of the tables; tables of other folders have one there.
///
/// ```
/// use tidemill_xbase::{
///     CivilDate, CreateOptions, EditOptions, FieldSpec, LogOptions, TableEditor, TableWriter, TransactionLog, Value,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let today = CivilDate { year: 2026, month: 11, day: 21 };
/// let log = TransactionLog::open(folder.path().join("shop.tmlog"), &LogOptions::new())?;
/// let open = |name| {
///     let path = folder.path().join(name);
///     TableWriter::create(&path, &[FieldSpec::new("ITEM", 'C', 10, 0)], &CreateOptions::new(today))?.finish()?;
///     TableEditor::open(&path, &EditOptions::new(today).log(&log))
/// };
/// let (mut stock, mut sold) = (open("stock.dbf")?, open("sold.dbf")?);
/// stock.append_values(&[(0, Value::Text("lamp"))])?;
///
/// let mut transaction = log.begin()?;
/// stock.delete(1)?;
/// let before_note = transaction.savepoint()?;
/// sold.append_values(&[(0, Value::Text("chair"))])?;
/// transaction.rollback_to(before_note)?;
/// sold.append_values(&[(0, Value::Text("lamp"))])?;
/// transaction.commit()?;
///
/// assert!(stock.is_deleted(1)?);
/// assert_eq!((sold.record_count(), sold.record_bytes(1)?), (1, b" lamp      ".to_vec()));
/// # Ok(())
/// # }
/// ```
///
/// Tables that are opened with a log may be dropped before or after it. A change outside of a transaction is one of its own.
#[derive(Debug, Clone)]
pub struct TransactionLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    recovered: usize,
    /// Who its transactions' locks belong to.
    owner: u64,
    /// Whether what is committed is written, and the logs are removed, when the last handle is dropped.
    closes: bool,
    state: Mutex<State>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.closes {
            // What is left is worked off by whoever opens the tables next.
            let _ = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).close();
        }
    }
}

/// A transaction that has begun. Dropping it rolls it back.
#[derive(Debug)]
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction {
    log: TransactionLog,
    number: u64,
    ended: bool,
}

/// A point that a transaction can go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Savepoint {
    transaction: u64,
    serial: u64,
}

/// What a transaction will need of a table that others have open too.
#[derive(Debug)]
pub struct LockRequest<'a> {
    table: &'a mut TableEditor,
    records: Vec<u32>,
    appends: bool,
    memos: bool,
}

/// Where the files of tables and logs really are; tests put a disk there that fails.
pub(crate) trait Disk: std::fmt::Debug + Send + Sync {
    fn storage(&self, path: &Path, file: Arc<File>) -> Arc<dyn Storage>;

    /// Brings the names in a folder to the disk.
    fn sync_folder(&self, folder: &Path) -> Result<()>;

    /// Gives a file another name in the place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file; one that is gone is no error.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Removes a folder with all that is in it; one that is gone is no error.
    fn remove_folder(&self, path: &Path) -> Result<()>;
}

/// The disk of the machine.
#[derive(Debug)]
pub(crate) struct TheDisk;

impl Disk for TheDisk {
    fn storage(&self, _path: &Path, file: Arc<File>) -> Arc<dyn Storage> {
        Arc::new(file)
    }

    fn sync_folder(&self, folder: &Path) -> Result<()> {
        // Where folders cannot be opened, the system sees to it.
        match File::open(folder) {
            Ok(opened) => opened.sync_all().map_err(|e| Error::io(folder, "sync", e)),
            Err(_) => Ok(()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to).map_err(|e| Error::io(to, "replace", e))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        or_gone(std::fs::remove_file(path)).map_err(|e| Error::io(path, "remove", e))
    }

    fn remove_folder(&self, path: &Path) -> Result<()> {
        or_gone(std::fs::remove_dir_all(path)).map_err(|e| Error::io(path, "remove", e))
    }
}

fn or_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

impl TransactionLog {
    /// The log of tables wherever they lie: it has no file until the first commit, then one in each folder that is changed, under
    /// a name that nobody else has; they go with the last handle.
    pub fn beside_tables(options: &LogOptions) -> Self {
        Self::beside_tables_on(Arc::new(TheDisk), options)
    }

    pub(crate) fn beside_tables_on(disk: Arc<dyn Disk>, options: &LogOptions) -> Self {
        let logs = FolderLogs::new(Arc::clone(&disk));
        Self::with(disk, logs, 0, true, options)
    }

    /// Opens the log at `path`, creates it if it is not there, and writes what it still has to the tables that it names. It is the
    /// log of its folder, and stays when it is closed.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has the log, or a table that has to be recovered, until the timeout.
    /// [`Error::Recovery`] when a table that has to be recovered is not there, or was changed since, [`Error::RefusedLog`] when the
    /// log says what none of ours says, [`Error::Incomplete`] when a transaction has parts in other folders; nothing is
    /// written then, and the log stays as it is (see [`TransactionLog::discard`]). [`Error::Corrupt`] when the file is no log; a
    /// part of a group at its end is dropped without an error, since it was never acknowledged. [`Error::NotRegular`],
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: &LogOptions) -> Result<Self> {
        Self::open_on(Arc::new(TheDisk), path.as_ref(), options)
    }

    pub(crate) fn open_on(disk: Arc<dyn Disk>, path: &Path, options: &LogOptions) -> Result<Self> {
        let path = std::path::absolute(path).map_err(|e| Error::io(path, "open", e))?;
        let handle = loop {
            let handle = match regular_file::create(&path) {
                Err(Error::Exists { .. }) => regular_file::open_to_write(&path),
                created => created,
            };
            let handle = Arc::new(handle?);
            open_shared_or_exclusive(&handle, &path, Sharing::Exclusive, options.lock_timeout)?;
            // Whoever had it may have removed it.
            if regular_file::is_at(&path, &handle) {
                break handle;
            }
        };
        let mut log = HeldLog::of(&path, handle, &*disk)?;
        if let Some(part) = log.part() {
            return Err(Error::incomplete(&path, part.others.clone()));
        }
        recovery::redo(std::slice::from_ref(&log), &*disk, options.lock_timeout)?;
        log.file.forget()?;
        disk.sync_folder(&log.folder)?;
        let mut logs = FolderLogs::new(Arc::clone(&disk));
        let (file, handle) = (log.file, log.handle);
        logs.put(
            log.folder,
            OpenLog {
                path,
                file,
                _handle: handle,
            },
        );
        Ok(Self::with(disk, logs, log.groups.len(), false, options))
    }

    fn with(disk: Arc<dyn Disk>, logs: FolderLogs, recovered: usize, closes: bool, options: &LogOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                disk,
                recovered,
                owner: new_owner(),
                closes,
                state: Mutex::new(State::new(logs, options)),
            }),
        }
    }

    /// Gives up what a log still has to write, empties it, and returns what it was: for a log that [`TransactionLog::open`]
    /// refuses with [`Error::Recovery`] because a table cannot be put back as it was.
    ///
    /// The tables are left as they are. Where the crash came while they were being written, a transaction may be in them in
    /// part: verify them, and make their indexes anew.
    ///
    /// # Errors
    /// [`Error::Locked`] when somebody has the log open, until the timeout; [`Error::Corrupt`] when the file is no log, and it
    /// is left alone then; [`Error::Io`], too when it is not there.
    pub fn discard(path: impl AsRef<Path>, options: &LogOptions) -> Result<LogContents> {
        let path = path.as_ref();
        let handle = Arc::new(regular_file::open_to_write(path)?);
        open_shared_or_exclusive(&handle, path, Sharing::Exclusive, options.lock_timeout)?;
        let contents = LogContents::read(path)?;
        let room = Room::of(path, &handle)?;
        let (mut file, _) = LogFile::open(path, TheDisk.storage(path, handle), room)?;
        file.restart()?;
        Ok(contents)
    }

    /// The files that the log has now, one a folder.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state().paths()
    }

    /// Whether both are handles on the same log.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many transactions opening the log found in it and wrote to the tables once more.
    pub fn recovered(&self) -> usize {
        self.shared.recovered
    }

    /// Begins a transaction: what the tables of this log are changed by from now on, from whichever thread, belongs to it.
    ///
    /// # Errors
    /// [`Error::Misuse`] when one has begun already, or when an earlier error left the log in a state that only opening it
    /// again clears up.
    pub fn begin(&self) -> Result<Transaction> {
        let number = self.state().begin(self.shared.owner)?;
        Ok(Transaction {
            log: self.clone(),
            number,
            ended: false,
        })
    }

    /// The transaction that is under way, for somebody who takes part in it: points are set in it and gone back to. Who began it ends it;
    /// dropping this does nothing.
    ///
    /// # Errors
    /// [`Error::Misuse`] when none is under way.
    pub fn join(&self) -> Result<Transaction> {
        let number = self.state().joined()?;
        Ok(Transaction {
            log: self.clone(),
            number,
            ended: true,
        })
    }

    /// Whether a transaction is under way that [`TransactionLog::begin`] began.
    pub fn is_under_way(&self) -> bool {
        self.state().keeps_locks()
    }

    /// Brings everything that is committed to the log, to the disk and into the tables, whatever the durability, and
    /// empties the log.
    ///
    /// # Errors
    /// [`Error::Io`]; nothing that is committed is lost, and the next call or opening the log tries again.
    pub fn checkpoint(&self) -> Result<()> {
        self.state().checkpoint()
    }

    /// Brings everything that is committed into the tables, and removes the files of a log that was made with
    /// [`TransactionLog::beside_tables`]. Dropping the last handle does the same, and tells nobody when it fails.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Misuse`] when an earlier error left what is committed in the log alone, from where [`recover`] brings it
    /// into the tables.
    pub fn close(&self) -> Result<()> {
        match self.shared.closes {
            true => self.state().close(),
            false => self.checkpoint(),
        }
    }

    /// A file of a table, whose changes go through this log.
    pub(crate) fn attach(&self, path: &Path, file: &Arc<File>, sharing: Sharing) -> Result<LoggedFile> {
        let storage = self.shared.disk.storage(path, Arc::clone(file));
        let path = std::path::absolute(path).map_err(|e| Error::io(path, "open", e))?;
        let slot = self.state().attach(&path, file, sharing, storage)?;
        Ok(LoggedFile::new(self.clone(), slot))
    }

    pub(crate) fn owner(&self) -> u64 {
        self.shared.owner
    }

    /// As [`TransactionLog::attach`], for a file that this handle only reads: what other handles change is written through the
    /// first one that was attached, so it has to be one that can.
    pub(crate) fn attach_reader(&self, path: &Path, file: &Arc<File>) -> Result<LoggedFile> {
        let identity = FileIdentity::of(file, path).map_err(|e| Error::io(path, "open", e))?;
        let own = regular_file::open_named_to_write(path).ok();
        let is_same = |own: &File| {
            let found = FileIdentity::of(own, path);
            found.is_ok_and(|found| found == identity) && is_free_to_open(own, path, Sharing::Shared).unwrap_or(false)
        };
        match own.filter(is_same) {
            Some(own) => self.attach(path, &Arc::new(own), Sharing::Shared),
            None => self.attach(path, file, Sharing::Shared),
        }
    }

    /// How often something that was written was forgotten: whoever keeps a part of a file in memory reads it anew then.
    pub(crate) fn rollbacks(&self) -> u64 {
        self.state().rollbacks()
    }

    /// A number that goes back to what it was when a transaction is rolled back.
    pub(crate) fn remember(&self, number: &Arc<AtomicU32>) {
        self.state().remember(number);
    }

    /// Does something as a whole or not at all: as a part of the transaction that has begun, or as one of its own.
    pub(crate) fn statement<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let depth = self.state().enter()?;
        let mut statement = Statement {
            log: self,
            depth,
            done: false,
        };
        let done = work()?;
        statement.done = true;
        self.state().leave(depth)?;
        Ok(done)
    }

    /// Lets go of files that were closed, so that they can be opened exclusively.
    pub(crate) fn settle(&self) -> Result<()> {
        self.state().settle()
    }

    /// # Errors
    /// [`Error::Misuse`] while a transaction is under way.
    pub(crate) fn outside(&self, what: &str) -> Result<()> {
        self.state().outside(what)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked left whole layers behind.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes back what a statement wrote unless it was done.
struct Statement<'a> {
    log: &'a TransactionLog,
    depth: usize,
    done: bool,
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.log.state().abandon(self.depth);
        }
    }
}

impl Transaction {
    /// Takes the locks that the transaction will need, of all tables in the one order in which no two transactions ever
    /// wait for each other, and holds them until its end. Tables that nobody else has open need none.
    ///
    /// # Errors
    /// [`Error::Locked`]; the locks that were taken until then are held. Roll back and try again. [`Error::Io`].
    pub fn lock<'a>(&mut self, requests: impl IntoIterator<Item = LockRequest<'a>>) -> Result<()> {
        let mut requests: Vec<_> = requests.into_iter().collect();
        requests.sort_by_key(|request| request.table.lock_order());
        let mut requests = requests.into_iter();
        requests.try_for_each(|request| {
            request
                .table
                .lock_for_transaction(request.records, request.appends, request.memos)
        })
    }

    /// Sets a point to go back to. Points nest: going back to an earlier one ends the later ones.
    ///
    /// # Errors
    /// [`Error::Misuse`] while another thread changes a table.
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        let serial = self.log.state().savepoint()?;
        Ok(Savepoint {
            transaction: self.number,
            serial,
        })
    }

    /// Takes back everything since the point was set. The point stays, and so do all locks.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a point of another transaction, or one that has ended.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        let serial = self.own(savepoint)?;
        self.log.state().rollback_to(serial)
    }

    /// Ends a point, and all later ones, and keeps what was changed since.
    ///
    /// # Errors
    /// As [`Transaction::rollback_to`].
    pub fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        let serial = self.own(savepoint)?;
        self.log.state().release(serial)
    }

    /// Makes all changes last, as the log's [`Durability`] says, and gives back the locks that were taken in the transaction.
    ///
    /// # Errors
    /// [`Error::Io`], such as a full disk, and then nothing has changed; [`Error::Unknown`] when that could not be taken back
    /// either, so that only recovery tells whether the transaction was committed.
    pub fn commit(mut self) -> Result<()> {
        self.check_own()?;
        self.ended = true;
        self.log.state().commit()
    }

    /// Takes all changes back and gives back the locks that were taken in the transaction. No file has been written.
    ///
    /// # Errors
    /// [`Error::Io`] when a lock cannot be given back.
    pub fn rollback(mut self) -> Result<()> {
        self.check_own()?;
        self.ended = true;
        self.log.state().rollback()
    }

    fn check_own(&self) -> Result<()> {
        match self.ended {
            true => Err(Error::Misuse("a transaction is ended by who began it".to_owned())),
            false => Ok(()),
        }
    }

    fn own(&self, savepoint: Savepoint) -> Result<u64> {
        if savepoint.transaction != self.number {
            let why = "the savepoint belongs to another transaction";
            return Err(Error::Misuse(why.to_owned()));
        }
        Ok(savepoint.serial)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.ended {
            // Who wants to know whether this works calls `rollback`.
            let _ = self.log.state().rollback();
        }
    }
}

impl<'a> LockRequest<'a> {
    /// Nothing yet of this table.
    pub fn new(table: &'a mut TableEditor) -> Self {
        Self {
            table,
            records: Vec::new(),
            appends: false,
            memos: false,
        }
    }

    /// These records are to be changed.
    #[must_use]
    pub fn records(mut self, records: impl IntoIterator<Item = u32>) -> Self {
        self.records.extend(records);
        self
    }

    /// Records are to be appended, which locks the header.
    #[must_use]
    pub fn appends(mut self) -> Self {
        self.appends = true;
        self
    }

    /// Memos are to be written.
    #[must_use]
    pub fn memos(mut self) -> Self {
        self.memos = true;
        self
    }
}

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod replacing_tests;
