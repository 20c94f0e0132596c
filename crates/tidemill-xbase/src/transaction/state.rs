//! What a log knows while it is open: the layers over the files, and how they get into the log and the files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::admission;
use super::folder_logs::FolderLogs;
use super::group::{FileChange, Group};
use super::kept_locks::{HeldLocks, LockOrder};
use super::layer::{Layer, Slot};
use super::log_file::AppendError;
use super::{Durability, LogOptions};
use crate::error::{Error, Result};
use crate::file_overlay::FileOverlay;
use crate::lock::{FileIdentity, FileLocks, LockSubject, Sharing};
use crate::storage::Storage;

#[derive(Debug)]
pub(super) struct State {
    logs: FolderLogs,
    durability: Durability,
    checkpoint_bytes: u64,
    slots: Vec<Weak<Slot>>,
    attached: u64,
    numbers: Vec<Weak<AtomicU32>>,
    locks: Vec<Weak<HeldLocks>>,
    /// Committed and in the log, but neither on the disk nor in the files.
    waiting: Layer,
    waiting_commits: u32,
    /// What the transaction wrote, a layer for each savepoint and for a statement that is under way; none without one.
    layers: Vec<Layer>,
    /// Whether [`TransactionLog::begin`] began the transaction, and not a statement.
    explicit: bool,
    begun: u64,
    savepoints: u64,
    /// How often something that was written was forgotten.
    rollbacks: u64,
    statements: usize,
    /// What to unlock at the end of the transaction.
    to_unlock: Vec<(Arc<HeldLocks>, LockSubject)>,
    /// Of the locks that are held, the last in the order of all.
    last_lock: Option<LockOrder>,
    /// Written since the log was emptied, and perhaps not on the disk.
    unsynced: BTreeMap<u64, Arc<Slot>>,
    /// Why nothing goes any more.
    broken: Option<String>,
}

impl State {
    pub(super) fn new(logs: FolderLogs, options: &LogOptions) -> Self {
        Self {
            logs,
            durability: options.durability,
            checkpoint_bytes: options.checkpoint_bytes,
            slots: Vec::new(),
            attached: 0,
            numbers: Vec::new(),
            locks: Vec::new(),
            waiting: Layer::default(),
            waiting_commits: 0,
            layers: Vec::new(),
            explicit: false,
            begun: 0,
            savepoints: 0,
            rollbacks: 0,
            statements: 0,
            to_unlock: Vec::new(),
            last_lock: None,
            unsynced: BTreeMap::new(),
            broken: None,
        }
    }

    pub(super) fn attach(
        &mut self,
        path: &Path,
        file: &Arc<File>,
        sharing: Sharing,
        storage: Arc<dyn Storage>,
    ) -> Result<Arc<Slot>> {
        let identity = FileIdentity::of(file, path).map_err(|e| Error::io(path, "open", e))?;
        self.slots.retain(|slot| slot.strong_count() > 0);
        let known = self
            .slots
            .iter()
            .filter_map(Weak::upgrade)
            .find(|slot| slot.identity == identity);
        if let Some(slot) = known {
            return Ok(slot);
        }
        admission::check_attached(path, file)?;
        let real = std::fs::canonicalize(path).map_err(|e| Error::io(path, "open", e))?;
        let gate = admission::is_table(path)
            .then(|| FileLocks::new(Arc::clone(file), path))
            .transpose()?;
        self.attached += 1;
        let slot = Arc::new(Slot {
            id: self.attached,
            path: path.to_owned(),
            folder: real.parent().unwrap_or(Path::new("/")).to_owned(),
            name: real.file_name().unwrap_or_default().into(),
            identity,
            sharing,
            storage,
            gate,
            taken_back: AtomicU64::new(0),
        });
        self.slots.push(Arc::downgrade(&slot));
        Ok(slot)
    }

    /// Lets a number go back with what is rolled back. It is now as the file has it.
    pub(super) fn remember(&mut self, number: &Arc<AtomicU32>) {
        self.numbers.retain(|known| known.strong_count() > 0);
        let weak = Arc::downgrade(number);
        if self.numbers.iter().any(|known| known.ptr_eq(&weak)) {
            return;
        }
        for layer in &mut self.layers {
            layer.numbers.push((Weak::clone(&weak), number.load(Ordering::Relaxed)));
        }
        self.numbers.push(weak);
    }

    pub(super) fn remember_locks(&mut self, locks: &Arc<HeldLocks>) {
        self.locks.retain(|known| known.strong_count() > 0);
        let weak = Arc::downgrade(locks);
        if !self.locks.iter().any(|known| known.ptr_eq(&weak)) {
            self.locks.push(weak);
        }
    }

    pub(super) fn begin(&mut self, owner: u64) -> Result<u64> {
        self.sound()?;
        if !self.layers.is_empty() {
            return Err(self.misuse("a transaction has begun already"));
        }
        self.begun += 1;
        self.explicit = true;
        self.find_last_lock();
        for locks in self.locks.iter().filter_map(Weak::upgrade) {
            locks.give_to(owner);
        }
        self.push_layer(None);
        Ok(self.begun)
    }

    /// Looks at the locks that are held for the last of them.
    pub(super) fn find_last_lock(&mut self) {
        let locks = self.locks.iter().filter_map(Weak::upgrade);
        self.last_lock = locks.filter_map(|locks| locks.last()).max();
    }

    /// The number of the transaction that is under way.
    pub(super) fn joined(&self) -> Result<u64> {
        match self.keeps_locks() {
            true => Ok(self.begun),
            false => Err(self.misuse("no transaction is under way that could be taken part in")),
        }
    }

    /// Whether a transaction has begun that holds on to every lock.
    pub(super) fn keeps_locks(&self) -> bool {
        self.explicit && !self.layers.is_empty()
    }

    /// Whether waiting for this lock can never be waiting in a circle.
    pub(super) fn may_wait_for(&self, order: &LockOrder) -> bool {
        self.last_lock.as_ref().is_none_or(|last| last < order)
    }

    /// Leaves giving a lock back to the end of the transaction; false where there is none.
    pub(super) fn keep(&mut self, locks: &Arc<HeldLocks>, subject: LockSubject) -> bool {
        if self.layers.is_empty() {
            return false;
        }
        if locks.mark(subject) {
            self.last_lock = self.last_lock.take().max(Some(locks.order(subject)));
            self.to_unlock.push((Arc::clone(locks), subject));
        }
        true
    }

    /// Whether there is a transaction, if only for a statement.
    pub(super) fn under_way(&self) -> bool {
        !self.layers.is_empty()
    }

    pub(super) fn outside(&self, what: &str) -> Result<()> {
        if self.layers.is_empty() {
            return Ok(());
        }
        Err(self.misuse(&format!("{what} is not possible in a transaction")))
    }

    /// Begins a statement and returns how many layers there were.
    pub(super) fn enter(&mut self) -> Result<usize> {
        self.sound()?;
        let depth = self.layers.len();
        self.explicit &= depth > 0;
        self.push_layer(None);
        self.statements += 1;
        Ok(depth)
    }

    /// Ends a statement that was done.
    pub(super) fn leave(&mut self, depth: usize) -> Result<()> {
        self.statements = self.statements.saturating_sub(1);
        if self.layers.len() <= depth {
            return Err(self.misuse("the transaction ended while a table was being changed"));
        }
        if depth == 0 {
            return self.commit();
        }
        self.join(depth);
        Ok(())
    }

    /// Ends a statement that was not done.
    pub(super) fn abandon(&mut self, depth: usize) {
        self.statements = self.statements.saturating_sub(1);
        self.drop_layers(depth);
        if depth == 0 {
            // What cannot be unlocked is when its file is closed.
            let _ = self.end();
        }
    }

    pub(super) fn rollbacks(&self) -> u64 {
        self.rollbacks
    }

    pub(super) fn savepoint(&mut self) -> Result<u64> {
        self.at_rest()?;
        self.savepoints += 1;
        self.push_layer(Some(self.savepoints));
        Ok(self.savepoints)
    }

    pub(super) fn rollback_to(&mut self, savepoint: u64) -> Result<()> {
        let depth = self.depth_of(savepoint)?;
        self.drop_layers(depth);
        self.push_layer(Some(savepoint));
        Ok(())
    }

    pub(super) fn release(&mut self, savepoint: u64) -> Result<()> {
        let depth = self.depth_of(savepoint)?;
        self.join(depth);
        Ok(())
    }

    pub(super) fn rollback(&mut self) -> Result<()> {
        self.drop_layers(0);
        self.end()
    }

    /// Puts what the transaction wrote into the log and the files; an error leaves both as they were.
    pub(super) fn commit(&mut self) -> Result<()> {
        let committed = self
            .sound()
            .and_then(|()| self.at_rest())
            .and_then(|()| self.commit_layers());
        if committed.is_err() {
            self.drop_layers(0);
        }
        let ended = self.end();
        committed?;
        ended
    }

    fn commit_layers(&mut self) -> Result<()> {
        self.join(1);
        let Some(layer) = self.layers.first_mut() else {
            return Ok(());
        };
        layer.files.retain(|_, (_, overlay)| !overlay.is_empty());
        if layer.files.is_empty() {
            return Ok(());
        }
        let shared = layer.files.values().any(|(slot, _)| slot.sharing == Sharing::Shared);
        let mut folders = layer.files.values().map(|(slot, _)| &slot.folder);
        let first = folders.next();
        // Others may change what a later recovery would write, and a part of a transaction stands alone in its log.
        let is_parted = folders.any(|folder| Some(folder) != first);
        let at_once = shared || is_parted;
        let later = match self.durability {
            Durability::Group(most) if !at_once && most > 1 => Some(most),
            _ => None,
        };
        if self.waiting_commits > 0 && later.is_none_or(|most| self.waiting_commits >= most) {
            self.write_waiting()?;
        }
        if is_parted && self.logs.len() > 0 {
            self.empty_log()?;
        }
        let mut groups = self.groups()?;
        let durable = later.is_none() && self.durability != Durability::None;
        let appended = self.logs.append(&mut groups, durable);
        appended.map_err(|e| match e {
            AppendError::Undone(e) => e,
            AppendError::Unknown(e) => self.unknown(e),
        })?;
        let Some(layer) = self.layers.pop() else {
            return Ok(());
        };
        if later.is_some() {
            self.waiting.absorb(layer);
            self.waiting_commits += 1;
            return Ok(());
        }
        let closed = layer.close_gates();
        if let Err(e) = layer.write_to_files() {
            let e = self.take_back(&layer, &groups, e);
            drop(closed);
            self.layers.push(layer);
            return Err(e);
        }
        // From here on the transaction is committed whatever happens; the next one hears of it.
        if let Err(e) = layer.cut_files() {
            self.distrust(e);
            return Ok(());
        }
        drop(closed);
        self.written(layer);
        if at_once || self.logs.len() >= self.checkpoint_bytes {
            // The transaction is committed, so a failure here only leaves it in the log. Beside others that is not
            // harmless: they may change what a later recovery would write.
            let emptied = self.empty_log();
            if let (Err(e), true) = (emptied, at_once) {
                self.broken = Some(format!(
                    "a transaction is committed, but its tables are not on the disk ({e})"
                ));
            }
        }
        Ok(())
    }

    /// Writes back what was in the files, after the error `e`, which it returns.
    fn take_back(&mut self, layer: &Layer, groups: &BTreeMap<PathBuf, Group>, e: Error) -> Error {
        let mut slots = layer.files.values();
        let undone = slots.try_for_each(|(slot, _)| {
            let mut changes = groups.get(&slot.folder).into_iter().flat_map(|group| &group.files);
            let change = changes.find(|change| change.path == slot.name);
            change.map_or(Ok(()), |change| slot.undo(change))
        });
        match undone.and_then(|()| self.logs.take_back()) {
            Ok(()) => e,
            Err(_) => self.unknown(e),
        }
    }

    /// Lets nothing go any more: the error `e` leaves it open whether a transaction was committed.
    fn unknown(&mut self, e: Error) -> Error {
        self.broken = Some(format!("it is unknown whether a transaction was committed ({e})"));
        let log = self.logs.paths().into_iter().next().unwrap_or_default();
        Error::unknown(&log, "a transaction is committed", e)
    }

    /// What the first layer changes in the files, by their folders.
    fn groups(&mut self) -> Result<BTreeMap<PathBuf, Group>> {
        let mut groups: BTreeMap<PathBuf, Group> = BTreeMap::new();
        let (waiting, locks) = (&self.waiting, &self.locks);
        let Some(layer) = self.layers.first_mut() else {
            return Ok(groups);
        };
        for (id, (slot, overlay)) in &mut layer.files {
            let (path, below) = (&slot.path, waiting.files.get(id).map(|(_, overlay)| overlay));
            let old_len = slot.len_over(below)?;
            overlay.fill_holes(old_len);
            let mut change = FileChange {
                path: slot.name.clone(),
                shared: slot.sharing == Sharing::Shared,
                old_len,
                new_len: overlay.len(old_len),
                locks: locks
                    .iter()
                    .filter_map(Weak::upgrade)
                    .filter(|held| *held.identity() == slot.identity)
                    .flat_map(|held| held.held_ranges())
                    .collect(),
                pieces: Vec::new(),
            };
            change.locks.sort_unstable();
            for (offset, after) in overlay.extents() {
                let there = usize::try_from(old_len.saturating_sub(offset)).unwrap_or(usize::MAX);
                let mut before = vec![0; after.len().min(there)];
                slot.read_over(below.into_iter(), offset, &mut before)
                    .map_err(|e| Error::io(path, "read", e))?;
                change.push(offset, &before, after);
            }
            groups.entry(slot.folder.clone()).or_default().files.push(change);
        }
        Ok(groups)
    }

    /// Brings commits that wait for others to the disk and into the files.
    fn write_waiting(&mut self) -> Result<()> {
        if self.waiting_commits == 0 {
            return Ok(());
        }
        if let Err(e) = self.logs.sync() {
            return Err(self.distrust(e));
        }
        let closed = self.waiting.close_gates();
        self.waiting.write_to_files()?;
        self.waiting.cut_files()?;
        drop(closed);
        self.waiting_commits = 0;
        let layer = std::mem::take(&mut self.waiting);
        self.written(layer);
        if self.logs.len() >= self.checkpoint_bytes {
            self.empty_log()?;
        }
        Ok(())
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.logs.paths()
    }

    /// Brings everything that is committed into the tables and removes the logs that have a name of ours.
    pub(super) fn close(&mut self) -> Result<()> {
        self.checkpoint()?;
        self.logs.remove()
    }

    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.sound()?;
        self.write_waiting()?;
        self.empty_log()
    }

    /// [`State::checkpoint`] unless a transaction is under way.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.layers.is_empty() {
            self.checkpoint()
        } else {
            Ok(())
        }
    }

    /// Brings the files to the disk and empties the log.
    fn empty_log(&mut self) -> Result<()> {
        let sync = |slot: &Arc<Slot>| slot.storage.sync().map_err(|e| Error::io(&slot.path, "sync", e));
        let emptied = match self.durability {
            _ if self.logs.len() == 0 => Ok(()),
            Durability::None => self.logs.restart(false),
            _ => self
                .unsynced
                .values()
                .try_for_each(sync)
                .and_then(|()| self.logs.restart(true)),
        };
        emptied.map_err(|e| self.distrust(e))?;
        self.unsynced.clear();
        Ok(())
    }

    /// Lets nothing go any more after the error `e`, which it returns. A system that could not bring a file to the disk may
    /// have forgotten what it should have written, and say at the next attempt that all is well; the log knows better.
    fn distrust(&mut self, e: Error) -> Error {
        self.broken = Some(format!("what is committed could not be brought into the files ({e})"));
        e
    }

    fn written(&mut self, layer: Layer) {
        let slots = layer.files.into_iter().map(|(id, (slot, _))| (id, slot));
        self.unsynced.extend(slots);
    }

    /// Ends the transaction and gives the locks back that it kept.
    fn end(&mut self) -> Result<()> {
        self.layers.clear();
        self.explicit = false;
        let mut first = Ok(());
        // The header after the records that were appended under it: who appends next wants the same ones after a rollback.
        for (locks, subject) in std::mem::take(&mut self.to_unlock).into_iter().rev() {
            first = first.and(locks.unlock(subject));
        }
        first
    }

    fn push_layer(&mut self, savepoint: Option<u64>) {
        let numbers = self.numbers.iter().filter_map(|weak| {
            let number = weak.upgrade()?;
            Some((Weak::clone(weak), number.load(Ordering::Relaxed)))
        });
        self.layers.push(Layer {
            savepoint,
            files: BTreeMap::new(),
            numbers: numbers.collect(),
        });
    }

    /// Makes one layer of the one below `depth` and all from there on.
    fn join(&mut self, depth: usize) {
        while self.layers.len() > depth.max(1) {
            if let (Some(above), Some(below)) = (self.layers.pop(), self.layers.last_mut()) {
                below.absorb(above);
            }
        }
    }

    /// Forgets the layers from `depth` on, and what changed in memory with them.
    fn drop_layers(&mut self, depth: usize) {
        self.rollbacks += u64::from(depth < self.layers.len());
        for layer in self.layers.drain(depth.min(self.layers.len())..).rev() {
            for (weak, number) in layer.numbers {
                if let Some(slot) = weak.upgrade() {
                    slot.store(number, Ordering::Relaxed);
                }
            }
            for (slot, _) in layer.files.values() {
                slot.taken_back.fetch_add(1, Ordering::Release);
            }
        }
    }

    fn depth_of(&self, savepoint: u64) -> Result<usize> {
        self.at_rest()?;
        let depth = self.layers.iter().position(|layer| layer.savepoint == Some(savepoint));
        depth.ok_or_else(|| self.misuse("the savepoint has ended"))
    }

    fn at_rest(&self) -> Result<()> {
        if self.statements > 0 {
            return Err(self.misuse("another thread is changing a table"));
        }
        Ok(())
    }

    fn sound(&self) -> Result<()> {
        match &self.broken {
            Some(why) => Err(self.misuse(&format!("{why}; close this connection and recover the folder"))),
            None => Ok(()),
        }
    }

    fn misuse(&self, why: &str) -> Error {
        Error::Misuse(format!("{}: {why}", self.logs.name()))
    }

    /// What is written over a file, the oldest first.
    pub(super) fn overlays(&self, slot: &Slot) -> impl DoubleEndedIterator<Item = &FileOverlay> + Clone {
        let (layers, id) = (std::iter::once(&self.waiting).chain(&self.layers), slot.id);
        layers.filter_map(move |layer| layer.files.get(&id).map(|(_, overlay)| overlay))
    }

    /// What the newest layer writes to a file.
    pub(super) fn newest(&mut self, slot: &Arc<Slot>) -> io::Result<&mut FileOverlay> {
        let layer = self.layers.last_mut().ok_or_else(|| {
            // Whoever writes has begun a statement.
            io::Error::other("a file with a log is written outside of a transaction")
        })?;
        let file = layer.files.entry(slot.id);
        let (_, overlay) = file.or_insert_with(|| (Arc::clone(slot), FileOverlay::default()));
        Ok(overlay)
    }

    /// How long a file is below the newest layer.
    pub(super) fn len_below(&self, slot: &Slot) -> io::Result<u64> {
        let (_, lower) = self.layers.split_last().unwrap_or((&self.waiting, &[]));
        let lower = std::iter::once(&self.waiting).chain(lower);
        let lower = lower.filter_map(|layer| layer.files.get(&slot.id));
        Ok(lower.fold(slot.storage.len()?, |len, (_, overlay)| overlay.len(len)))
    }
}
