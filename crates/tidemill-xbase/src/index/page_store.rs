//! The pages of an index file while it is changed: decoded once, changed in memory, written when they are flushed.
//!
//! Everything goes through one [`DataFile`], so that who stands behind it sees every read and write. What is freed is
//! kept in the file's list of free pages, as the original programs do, and taken from there first. This module knows
//! pages but no trees.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::storage::DataFile;

use super::page::{COUNTERS_LEN, Counters, KeyBytes, NO_PAGE, Node, PageWriter};
use super::tree::PageHasher;

/// The pages of one file, and its counters.
#[derive(Debug)]
pub(super) struct PageStore {
    file: Arc<DataFile>,
    pub(super) format: Arc<dyn PageWriter>,
    pages: HashMap<u32, Slot, BuildHasherDefault<PageHasher>>,
    memory: usize,
    memory_limit: usize,
    /// The head of the header as it was read or written last.
    header: [u8; COUNTERS_LEN],
    counters: Counters,
    /// The counters as the file has them.
    counters_written: Counters,
    /// The page behind the last one.
    end: u32,
    /// Pages that are free in a file that has no list of such.
    spare: Vec<u32>,
}

/// A page of a tree, and what a change has to know of it.
#[derive(Debug)]
pub(super) struct EditPage {
    pub(super) node: Node,
    pub(super) keys: KeyBytes,
    pub(super) is_root: bool,
    /// The key before the first one in the order, where branches hold entries.
    before: Option<Vec<u8>>,
    /// How much the keys of a leaf take, without the records.
    used: usize,
    /// No record of a leaf is higher.
    recno_max: u32,
    is_dirty: bool,
}

#[derive(Debug)]
enum Slot {
    Used(Box<EditPage>),
    /// A page of the list of free ones that the file does not have yet.
    Free {
        next: u32,
    },
    /// A free page in a file that has no list of such.
    Spare,
}

/// How many bytes are written at once.
const RUN_MAX: usize = 1 << 18;

impl PageStore {
    /// Reads the head of the header.
    pub(super) fn open(file: Arc<DataFile>, format: Arc<dyn PageWriter>, memory_limit: usize) -> Result<Self> {
        let mut store = Self {
            file,
            format,
            pages: HashMap::default(),
            memory: 0,
            memory_limit,
            header: [0; COUNTERS_LEN],
            counters: Counters {
                first_free: 0,
                end: None,
            },
            counters_written: Counters {
                first_free: 0,
                end: None,
            },
            end: 0,
            spare: Vec::new(),
        };
        let header = store.read_header()?;
        store.start_from(header)?;
        Ok(store)
    }

    pub(super) fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    /// The page behind the last one.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// The head of the header as the file has it now.
    pub(super) fn read_header(&self) -> Result<[u8; COUNTERS_LEN]> {
        let mut header = [0; COUNTERS_LEN];
        let head = header.get_mut(..self.format.counters_len()).unwrap_or_default();
        self.file.read("index header", 0, head)?;
        Ok(header)
    }

    /// Whether the file's header is the one that this store has read or written last.
    pub(super) fn is_current(&self, header: &[u8; COUNTERS_LEN]) -> bool {
        self.format.counts_changes() && self.header == *header
    }

    /// Forgets all pages, changed ones too, and goes on from a header that was read just now.
    pub(super) fn start_from(&mut self, header: [u8; COUNTERS_LEN]) -> Result<()> {
        self.drop_pages();
        self.header = header;
        self.counters = self
            .format
            .read_counters(&header)
            .map_err(|fault| fault.into_error(self.file.path(), 0))?;
        let end = self.file.len()?.next_multiple_of(self.format.page_alignment()) / self.format.page_unit();
        self.end = u32::try_from(end).map_err(|_| self.too_large())?;
        // A header that names an end within the file is wrong, and must not let pages be overwritten.
        if let Some(end) = &mut self.counters.end {
            *end = self.end;
        }
        // A page behind the end is as good as none (MDX).
        if self.counters.first_free == self.end {
            self.counters.first_free = 0;
        }
        self.counters_written = self.counters;
        Ok(())
    }

    /// The offset of a page in the file.
    pub(super) fn offset(&self, page: u32) -> u64 {
        u64::from(page) * self.format.page_unit()
    }

    pub(super) fn corrupt(&self, page: u32, expected: impl Into<String>, found: impl Into<String>) -> Error {
        let offset = self.offset(page);
        let what = format!("index page at {offset}");
        Error::corrupt(self.file.path(), what, offset, expected, found)
    }

    /// Whether a page need not be read.
    pub(super) fn has(&self, page: u32) -> bool {
        self.pages.contains_key(&page)
    }

    /// A page that need not be read, with how its keys are.
    pub(super) fn known(&self, page: u32) -> Option<&EditPage> {
        match self.pages.get(&page) {
            Some(Slot::Used(found)) => Some(found),
            _ => None,
        }
    }

    /// Whether a page has none below it, without decoding its keys.
    pub(super) fn is_leaf(&self, page: u32, keys: KeyBytes) -> Result<bool> {
        let mut bytes = vec![0; self.format.page_len()];
        self.read(page, &mut bytes)?;
        let keys = self.format.leaf_len(&bytes, keys);
        let keys = keys.map_err(|fault| fault.into_error(self.file.path(), self.offset(page)))?;
        Ok(keys.is_some())
    }

    /// Reads a page of a tree that [`PageStore::has`] not. `before` is the key before its first.
    pub(super) fn load(&mut self, page: u32, keys: KeyBytes, is_root: bool, before: Option<Vec<u8>>) -> Result<&Node> {
        let mut bytes = vec![0; self.format.page_len()];
        self.read(page, &mut bytes)?;
        let node = self.format.decode(&bytes, keys, before.as_deref());
        let node = node.map_err(|fault| fault.into_error(self.file.path(), self.offset(page)))?;
        let mut loaded = EditPage {
            node,
            keys,
            is_root,
            before,
            used: 0,
            recno_max: 0,
            is_dirty: false,
        };
        loaded.count(&*self.format);
        self.put(page, Box::new(loaded));
        self.get(page).map(|page| &page.node)
    }

    pub(super) fn get(&self, page: u32) -> Result<&EditPage> {
        self.known(page).ok_or_else(|| self.not_there(page))
    }

    /// A page that will be changed.
    pub(super) fn get_mut(&mut self, page: u32) -> Result<&mut EditPage> {
        let offset = self.offset(page);
        match self.pages.get_mut(&page) {
            Some(Slot::Used(found)) => {
                found.is_dirty = true;
                Ok(found)
            }
            _ => Err(reached_again(self.file.path(), offset)),
        }
    }

    /// Takes a page out, to be changed together with others.
    pub(super) fn take(&mut self, page: u32) -> Result<Box<EditPage>> {
        match self.pages.remove(&page) {
            Some(Slot::Used(mut found)) => {
                self.memory = self.memory.saturating_sub(found.node.memory());
                found.is_dirty = true;
                Ok(found)
            }
            _ => Err(self.not_there(page)),
        }
    }

    pub(super) fn put(&mut self, page: u32, content: Box<EditPage>) {
        self.memory += content.node.memory();
        self.pages.insert(page, Slot::Used(content));
    }

    /// The number of a page that is free: the first of the list, or one behind the end of the file.
    pub(super) fn allocate(&mut self) -> Result<u32> {
        if let Some(page) = self.spare.pop() {
            self.pages.remove(&page);
            return Ok(page);
        }
        let page = self.counters.first_free;
        if page == 0 || page == NO_PAGE {
            return self.allocate_at_end(1);
        }
        let next = match self.pages.get(&page) {
            Some(Slot::Free { next }) => *next,
            Some(Slot::Used(_) | Slot::Spare) => {
                return Err(self.corrupt(page, "a free page, as the list of free pages says", "a page in use"));
            }
            None => self.read_next_free(page)?,
        };
        if next == page {
            return Err(self.corrupt(page, "another free page behind this one", "the same page"));
        }
        self.pages.remove(&page);
        self.counters.first_free = next;
        Ok(page)
    }

    /// The number of the first of so many free pages that lie one behind the other, where there are such: the fewest that suffice, or
    /// those at the end of the file, which grows then. They are taken out of the list of free ones.
    pub(super) fn allocate_run(&mut self, pages: u32) -> Result<Option<u32>> {
        let step = u32::try_from(self.format.page_len() as u64 / self.format.page_unit()).unwrap_or(u32::MAX);
        let (mut listed, mut page) = (Vec::new(), self.counters.first_free);
        while page != 0 && page != NO_PAGE {
            // A list that comes back to a page, or leads out of the file, is not followed further.
            if page >= self.end || listed.len() as u64 > u64::from(self.end / step.max(1)) {
                return Ok(None);
            }
            listed.push(page);
            page = match self.pages.get(&page) {
                Some(Slot::Free { next }) => *next,
                Some(Slot::Used(_) | Slot::Spare) => return Ok(None),
                None => self.read_next_free(page)?,
            };
        }
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        let runs: Vec<&[u32]> = sorted.chunk_by(|a, b| a.checked_add(step) == Some(*b)).collect();
        let enough = runs.iter().filter(|run| run.len() as u64 >= u64::from(pages));
        let at_end = |run: &&&[u32]| run.last().and_then(|last| last.checked_add(step)) == Some(self.end);
        let found = enough.min_by_key(|run| run.len()).or_else(|| runs.iter().find(at_end));
        let Some((&first, run)) = found.and_then(|run| Some((run.first()?, *run))) else {
            return Ok(None);
        };
        let taken: Vec<u32> = run.iter().take(pages as usize).copied().collect();
        if let Some(missing) = u32::try_from(taken.len())
            .ok()
            .and_then(|taken| pages.checked_sub(taken))
        {
            self.allocate_at_end(missing)?;
        }
        listed.retain(|page| taken.binary_search(page).is_err());
        taken.iter().for_each(|page| drop(self.pages.remove(page)));
        // The list goes on from each page that is left to the next one.
        let mut next = page;
        for left in listed.into_iter().rev() {
            self.pages.insert(left, Slot::Free { next });
            next = left;
        }
        self.counters.first_free = next;
        Ok(Some(first))
    }

    /// The free page behind a free page that is not in memory; 0 for none.
    fn read_next_free(&self, page: u32) -> Result<u32> {
        let mut bytes = vec![0; self.format.page_len()];
        self.read(page, &mut bytes)?;
        let next = self.format.next_free(&bytes).unwrap_or_default();
        Ok(if next == self.end { 0 } else { next })
    }

    /// The number of the first of so many new pages behind the end of the file.
    pub(super) fn allocate_at_end(&mut self, pages: u32) -> Result<u32> {
        let page = self.end;
        let step = self.format.page_len() as u64 / self.format.page_unit();
        let end = u64::from(page) + u64::from(pages) * step;
        self.end = u32::try_from(end)
            .ok()
            .filter(|end| *end != NO_PAGE)
            .ok_or_else(|| self.too_large())?;
        if let Some(end) = &mut self.counters.end {
            *end = self.end;
        }
        Ok(page)
    }

    /// Puts a page at the head of the list of free ones, or keeps it to be used again.
    pub(super) fn free(&mut self, page: u32) {
        let next = self.counters.first_free;
        let is_listed = self.format.lists_free_pages();
        let slot = if is_listed { Slot::Free { next } } else { Slot::Spare };
        if let Some(Slot::Used(old)) = self.pages.insert(page, slot) {
            self.memory = self.memory.saturating_sub(old.node.memory());
        }
        if is_listed {
            self.counters.first_free = page;
        } else {
            self.spare.push(page);
        }
    }

    /// Whether the pages take more memory than they may. They are dropped once they are written.
    pub(super) fn is_full(&self) -> bool {
        self.memory > self.memory_limit
    }

    /// Drops all pages; the caller has flushed them.
    pub(super) fn drop_pages(&mut self) {
        self.pages.clear();
        self.spare.clear();
        self.memory = 0;
    }

    /// Writes every changed page; returns whether there was one.
    pub(super) fn flush_pages(&mut self) -> Result<bool> {
        let is_changed = |slot: &Slot| match slot {
            Slot::Used(page) => page.is_dirty,
            Slot::Free { .. } => true,
            Slot::Spare => false,
        };
        let mut changed: Vec<u32> = self
            .pages
            .iter()
            .filter(|(_, slot)| is_changed(slot))
            .map(|(page, _)| *page)
            .collect();
        changed.sort_unstable();
        let page_len = self.format.page_len();
        let (mut run, mut begin) = (Vec::new(), 0);
        for page in changed.iter().copied() {
            let offset = self.offset(page);
            if !run.is_empty() && (begin + run.len() as u64 != offset || run.len() >= RUN_MAX) {
                self.file.write(begin, &run)?;
                run.clear();
            }
            if run.is_empty() {
                begin = offset;
            }
            let at = run.len();
            run.resize(at + page_len, 0);
            let bytes = run.get_mut(at..).unwrap_or_default();
            match self.pages.get(&page) {
                Some(Slot::Used(used)) => {
                    debug_assert!(used.fits(&*self.format), "a page that holds more than it can");
                    let before = used.before.as_deref();
                    self.format.encode(&used.node, used.keys, used.is_root, before, bytes);
                }
                Some(Slot::Free { next }) => self.format.encode_free(*next, bytes),
                Some(Slot::Spare) | None => {}
            }
        }
        if !run.is_empty() {
            self.file.write(begin, &run)?;
        }
        // Only now, so that what failed is written by the next attempt.
        for page in &changed {
            match self.pages.get_mut(page) {
                Some(Slot::Used(used)) => used.is_dirty = false,
                _ => {
                    self.pages.remove(page);
                }
            }
        }
        Ok(!changed.is_empty())
    }

    /// Writes the head of the header when its counters changed, and when `has_changed` beside others, who must notice.
    /// `root` is the root of the file's own tree, where the head of the header has one, with its offset.
    pub(super) fn flush_header(&mut self, has_changed: bool, is_shared: bool, root: Option<(u64, u32)>) -> Result<()> {
        let mut header = self.header;
        if let Some((at, root)) = root
            && let Some(place) = usize::try_from(at).ok().and_then(|at| header.get_mut(at..at + 4))
        {
            place.copy_from_slice(&root.to_le_bytes());
        }
        let is_new = header != self.header || self.counters != self.counters_written;
        if !(is_new || has_changed && is_shared) {
            return Ok(());
        }
        self.format.write_counters(self.counters, is_shared, &mut header);
        let head = header.get(..self.format.counters_len()).unwrap_or_default();
        self.file.write(0, head)?;
        self.header = header;
        self.counters_written = self.counters;
        Ok(())
    }

    fn read(&self, page: u32, bytes: &mut [u8]) -> Result<()> {
        const ALIGNMENT: u64 = 512;
        let offset = self.offset(page);
        if page == 0 || !offset.is_multiple_of(ALIGNMENT) {
            let expected = format!("a multiple of {ALIGNMENT} above 0");
            return Err(Error::corrupt(
                self.file.path(),
                "page number",
                offset,
                expected,
                offset.to_string(),
            ));
        }
        self.file.read("index page", offset, bytes)
    }

    fn not_there(&self, page: u32) -> Error {
        reached_again(self.file.path(), self.offset(page))
    }

    fn too_large(&self) -> Error {
        let bytes = u64::from(u32::MAX) * self.format.page_unit();
        Error::Misuse(format!(
            "{}: an index file of more than {bytes} bytes",
            self.file.path().display()
        ))
    }
}

fn reached_again(path: &Path, offset: u64) -> Error {
    let (expected, found) = ("a page that its tree reaches once", "a page that it reaches again");
    Error::corrupt(path, format!("index page at {offset}"), offset, expected, found)
}

impl EditPage {
    /// A new page.
    pub(super) fn new(format: &dyn PageWriter, node: Node, keys: KeyBytes, before: Option<Vec<u8>>) -> Self {
        let mut page = Self {
            node,
            keys,
            is_root: false,
            before,
            used: 0,
            recno_max: 0,
            is_dirty: true,
        };
        page.count(format);
        page
    }

    /// Counts what the page takes.
    fn count(&mut self, format: &dyn PageWriter) {
        self.used = 0;
        self.recno_max = 0;
        if self.node.is_leaf() {
            let mut before = self.before.as_deref();
            for key in self.node.keys() {
                self.used += format.entry_len(self.keys, before, key);
                before = Some(key);
            }
            self.recno_max = self.node.recno_max();
        }
    }

    /// Whether the page has room for what it holds.
    pub(super) fn fits(&self, format: &dyn PageWriter) -> bool {
        if self.node.is_leaf() {
            self.size(format) <= format.leaf_room()
        } else {
            self.node.len() <= format.branch_room(self.keys)
        }
    }

    /// Whether less than half of the page is used.
    pub(super) fn is_underfull(&self, format: &dyn PageWriter) -> bool {
        if self.node.is_leaf() {
            2 * self.size(format) < format.leaf_room()
        } else {
            2 * self.node.len() < format.branch_room(self.keys)
        }
    }

    fn size(&self, format: &dyn PageWriter) -> usize {
        self.used + self.node.len() * format.recno_len(self.keys, self.recno_max)
    }

    /// Puts an entry into a leaf.
    pub(super) fn insert(&mut self, format: &dyn PageWriter, slot: usize, key: &[u8], recno: u32) {
        let before = self.key_before(slot);
        let mut used = self.used + format.entry_len(self.keys, before, key);
        if slot < self.node.len() {
            let next = self.node.key(slot);
            used += format.entry_len(self.keys, Some(key), next);
            used = used.saturating_sub(format.entry_len(self.keys, before, next));
        }
        self.used = used;
        self.recno_max = self.recno_max.max(recno);
        self.node.insert(slot, key, recno);
    }

    /// Takes an entry out of a leaf.
    pub(super) fn remove(&mut self, format: &dyn PageWriter, slot: usize) {
        let before = self.key_before(slot);
        let key = self.node.key(slot);
        let mut used = self.used;
        let mut gone = format.entry_len(self.keys, before, key);
        if slot + 1 < self.node.len() {
            let next = self.node.key(slot + 1);
            used += format.entry_len(self.keys, before, next);
            gone += format.entry_len(self.keys, Some(key), next);
        }
        self.used = used.saturating_sub(gone);
        self.node.remove(slot);
    }

    /// The key before the page's first one.
    pub(super) fn before(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// Gives the page's first entry another one before it, where branches hold entries.
    pub(super) fn set_before(&mut self, format: &dyn PageWriter, before: Option<Vec<u8>>) {
        if self.node.is_leaf() && self.node.len() > 0 {
            let first = self.node.key(0);
            let used = self.used + format.entry_len(self.keys, before.as_deref(), first);
            self.used = used.saturating_sub(format.entry_len(self.keys, self.before(), first));
        }
        self.before = before;
    }

    /// Divides the page. Returns what comes behind it: where branches hold entries the one between the two, where their keys part
    /// pages that key, and the new page. `at_end`: the page only grows at its end, so that it is left as full as can be.
    pub(super) fn split(&mut self, format: &dyn PageWriter, at_end: bool) -> Option<(Vec<u8>, u32, Self)> {
        let len = self.node.len();
        let holds_entries = format.branches_hold_entries();
        // The key between the two goes up, and is not copied.
        let moves_up = holds_entries || (format.branches_part_pages() && !self.node.is_leaf());
        let most = len.checked_sub(if moves_up { 2 } else { 1 }).filter(|most| *most > 0)?;
        let mut cut = if at_end {
            most
        } else {
            self.middle(format).clamp(1, most)
        };
        if !self.node.is_leaf() {
            // A branch may have got several pages at once.
            cut = cut.min(format.branch_room(self.keys));
        } else if at_end && self.len_to(format, cut) > format.leaf_room() {
            cut = self.middle(format).clamp(1, most);
        }
        let is_leaf = self.node.is_leaf();
        let mut right = self.node.split_off(cut);
        let (key, recno) = match is_leaf && format.branches_part_pages() {
            true => (self.node.key(cut - 1).to_vec(), 0),
            false => (right.key(0).to_vec(), right.recno(0)),
        };
        let mut before = None;
        if moves_up {
            right.remove(0);
        }
        if holds_entries {
            before = Some(key.clone());
        }
        if !is_leaf {
            right.children = self.node.children.split_off(cut + usize::from(moves_up));
        }
        self.count(format);
        let right = Self::new(format, right, self.keys, before);
        Some((key, recno, right))
    }

    /// Where about half of the page is on each side, and the left side has room.
    fn middle(&self, format: &dyn PageWriter) -> usize {
        if !self.node.is_leaf() {
            return self.node.len() / 2;
        }
        let recno_len = format.recno_len(self.keys, self.recno_max);
        let half = (self.size(format) / 2).min(format.leaf_room());
        let (mut size, mut before) = (0, self.before.as_deref());
        for (slot, key) in self.node.keys().enumerate() {
            size += format.entry_len(self.keys, before, key) + recno_len;
            if size > half {
                return slot;
            }
            before = Some(key);
        }
        self.node.len()
    }

    /// What the entries before `slot` take.
    fn len_to(&self, format: &dyn PageWriter, slot: usize) -> usize {
        let (mut size, mut before, mut recno_max) = (0, self.before.as_deref(), 0);
        for (slot, key) in self.node.keys().enumerate().take(slot) {
            size += format.entry_len(self.keys, before, key);
            recno_max = recno_max.max(self.node.recno(slot));
            before = Some(key);
        }
        size + slot * format.recno_len(self.keys, recno_max)
    }

    /// Appends the page behind this one, and between them the entry of the branch above where branches hold entries.
    /// `false`, and nothing is done, when that does not fit; `is_tight` allows the page to become quite full.
    pub(super) fn merge(
        &mut self,
        format: &dyn PageWriter,
        between: (&[u8], u32),
        right: &Self,
        is_tight: bool,
    ) -> bool {
        let holds_entries = format.branches_hold_entries();
        let comes_down = holds_entries || (format.branches_part_pages() && !self.node.is_leaf());
        let len = self.node.len() + right.node.len() + usize::from(comes_down);
        if !self.node.is_leaf() {
            if len > format.branch_room(self.keys) {
                return false;
            }
        } else {
            let last = self.node.len().checked_sub(1).map(|last| self.node.key(last));
            let mut recno_max = self.recno_max.max(right.recno_max);
            let mut used = self.used + right.used;
            if holds_entries {
                used += format.entry_len(self.keys, last.or(self.before()), between.0);
                recno_max = recno_max.max(between.1);
            } else if right.node.len() > 0 {
                let first = right.node.key(0);
                used += format.entry_len(self.keys, last, first);
                used = used.saturating_sub(format.entry_len(self.keys, None, first));
            }
            let room = format.leaf_room();
            let room = if is_tight { room } else { room - room / 8 };
            if used + len * format.recno_len(self.keys, recno_max) > room {
                return false;
            }
            self.used = used;
            self.recno_max = recno_max;
        }
        if comes_down {
            self.node.push(between.0, between.1);
        }
        self.node.append(&right.node);
        true
    }

    fn key_before(&self, slot: usize) -> Option<&[u8]> {
        match slot.checked_sub(1) {
            Some(slot) => Some(self.node.key(slot)),
            None => self.before(),
        }
    }
}
