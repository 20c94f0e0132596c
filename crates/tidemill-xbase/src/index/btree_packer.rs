//! Packs sorted keys into the pages of a tree whose branches hold entries (NTX, NSX), as Harbour does it when it makes an
//! index over a table (`hb_ntxSortOut` in `dbfntx1.c`, `hb_nsxSortOut` in `dbfnsx1.c`): a page is filled, the key that it
//! has no room for goes into the branch above, and a page takes the next place of the file when it is full.
//!
//! At the end the two formats differ: NTX shares the keys of the last two pages of a level where the last is not half
//! full, NSX only sees to it that the last leaf is not empty.

use crate::error::{Error, Result};

use super::page::{KeyBytes, Node, PageWriter};

/// One tree that is being made.
pub(super) struct BTreePacker<'a> {
    file: &'a mut Vec<u8>,
    /// Where the bytes begin in the file.
    base: usize,
    format: &'a dyn PageWriter,
    keys: KeyBytes,
    /// Leaves have room for records up to the table's last.
    record_count: u32,
    levels: Vec<Level>,
    last: Option<Vec<u8>>,
}

/// The pages of one level that can still change.
struct Level {
    open: Page,
    used: usize,
    /// The page before, and where it stands.
    closed: Option<(u32, Page)>,
}

struct Page {
    node: Node,
    before: Option<Vec<u8>>,
}

impl<'a> BTreePacker<'a> {
    /// A packer of pages that follow `base` bytes and those of `file`.
    pub(super) fn new(
        base: usize,
        file: &'a mut Vec<u8>,
        format: &'a dyn PageWriter,
        keys: KeyBytes,
        record_count: u32,
    ) -> Self {
        Self {
            file,
            base,
            format,
            keys,
            record_count,
            levels: Vec::new(),
            last: None,
        }
    }

    pub(super) fn add(&mut self, key: &[u8], recno: u32) -> Result<()> {
        let (mut level, mut below) = (0, None);
        loop {
            if level == self.levels.len() {
                let first = self.page(None);
                self.levels.push(first);
            }
            let has_room = self.has_room(level, key);
            let Some(place) = self.levels.get_mut(level) else { break };
            place.open.node.children.extend(below);
            if let Some(used) = has_room {
                place.open.node.push(key, recno);
                place.used += used;
                break;
            }
            below = Some(self.close(level, key)?);
            level += 1;
        }
        match &mut self.last {
            Some(last) => last.copy_from_slice(key),
            none => *none = Some(key.to_vec()),
        }
        Ok(())
    }

    /// What a key takes of the open page; `None` when there is no room for it.
    fn has_room(&self, level: usize, key: &[u8]) -> Option<usize> {
        let open = self.levels.get(level)?;
        if level > 0 {
            return (open.open.node.len() < self.format.branch_room(self.keys)).then_some(0);
        }
        let recno_len = self.format.recno_len(self.keys, self.record_count);
        let len = recno_len + self.format.entry_len(self.keys, self.last.as_deref(), key);
        (open.used + len <= self.format.leaf_room()).then_some(len)
    }

    fn page(&self, before: Option<Vec<u8>>) -> Level {
        let mut node = Node::new(self.keys.len, 0);
        node.recno_floor = self.record_count;
        Level {
            open: Page { node, before },
            used: 0,
            closed: None,
        }
    }

    /// Gives the open page of a level its place; the one that follows comes behind `key`.
    fn close(&mut self, level: usize, key: &[u8]) -> Result<u32> {
        let place = self.place()?;
        let next = self.page(Some(key.to_vec()));
        let Some(old) = self.levels.get_mut(level) else {
            return Ok(place);
        };
        let full = std::mem::replace(&mut old.open, next.open);
        old.used = 0;
        if let Some((place, page)) = old.closed.replace((place, full)) {
            self.write(place, &page, false);
        }
        Ok(place)
    }

    /// The root of the tree.
    pub(super) fn finish(mut self, balances: bool) -> Result<u32> {
        if self.levels.is_empty() {
            let only = self.page(None);
            self.levels.push(only);
        }
        let mut root = 0;
        let mut places = Vec::with_capacity(self.levels.len());
        for level in 0..self.levels.len() {
            root = self.place()?;
            places.push(root);
            if let Some(above) = self.levels.get_mut(level + 1) {
                above.open.node.children.push(root);
            }
        }
        if balances {
            self.balance();
        } else {
            self.fill_last_leaf();
        }
        for (place, level) in places.into_iter().zip(std::mem::take(&mut self.levels)) {
            if let Some((place, page)) = &level.closed {
                self.write(*place, page, false);
            }
            self.write(place, &level.open, place == root);
        }
        Ok(root)
    }

    /// Shares the keys of the last two pages of each level where the last is not half full, from the root down.
    fn balance(&mut self) {
        let half = self.format.branch_room(self.keys) / 2;
        for below in (0..self.levels.len().saturating_sub(1)).rev() {
            let Some([level, above]) = self
                .levels
                .get_mut(below..below + 2)
                .and_then(|pair| pair.first_chunk_mut::<2>())
            else {
                continue;
            };
            let (last, between) = (&mut level.open.node, &mut above.open.node);
            let Some((Some((_, first)), slot)) = between.len().checked_sub(1).map(|slot| (level.closed.as_mut(), slot))
            else {
                continue;
            };
            let first = &mut first.node;
            let wanted = (first.len() + last.len()).div_ceil(2);
            if last.len() >= half || first.len() <= wanted {
                continue;
            }
            // All behind the wanted ones: the first of them goes up, what was there goes down.
            let mut moved = first.split_off(wanted);
            if !first.children.is_empty() {
                moved.children = first.children.split_off(wanted + 1);
            }
            let (key, recno) = (moved.key(0).to_vec(), moved.recno(0));
            moved.remove(0);
            moved.push(between.key(slot), between.recno(slot));
            moved.append(last);
            moved.recno_floor = last.recno_floor;
            *last = moved;
            between.replace(slot, &key, recno);
        }
    }

    /// Moves the last key of all into the last leaf when that is empty, and the one before in its place.
    fn fill_last_leaf(&mut self) {
        let Some((leaves, branches)) = self.levels.split_first_mut() else {
            return;
        };
        if leaves.open.node.len() > 0 {
            return;
        }
        let branch = branches.iter_mut().find(|level| level.open.node.len() > 0);
        let (Some(branch), Some((_, full))) = (branch, &mut leaves.closed) else {
            return;
        };
        let (branch, full) = (&mut branch.open.node, &mut full.node);
        let (last, slot) = (full.len().saturating_sub(1), branch.len().saturating_sub(1));
        leaves.open.node.push(branch.key(slot), branch.recno(slot));
        leaves.open.before = Some(full.key(last).to_vec());
        branch.replace(slot, full.key(last), full.recno(last));
        full.remove(last);
    }

    /// The place of a new page.
    fn place(&mut self) -> Result<u32> {
        let at = self.file.len();
        self.file.resize(at + self.format.page_len(), 0);
        let page = (self.base + at) as u64 / self.format.page_unit();
        u32::try_from(page).map_err(|_| Error::Misuse("an index file of more than 4 GiB".to_owned()))
    }

    fn write(&mut self, place: u32, page: &Page, is_root: bool) {
        let begin = usize::try_from(u64::from(place) * self.format.page_unit()).unwrap_or(usize::MAX);
        let begin = begin.saturating_sub(self.base);
        let bytes = self
            .file
            .get_mut(begin..)
            .and_then(|rest| rest.get_mut(..self.format.page_len()));
        let before = page.before.as_deref();
        self.format
            .encode(&page.node, self.keys, is_root, before, bytes.unwrap_or_default());
    }
}
