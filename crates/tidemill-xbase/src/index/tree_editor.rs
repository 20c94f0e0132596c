//! Changes of one tree: an entry goes in or out, and pages are divided, merged, freed on the way up.
//!
//! Where branches only copy keys (CDX, IDX), every copy follows the last key below it, and neighbours are linked. Where they part
//! pages (MDX, NDX), the key behind a page does, so that it always is a key that was there. Where they
//! hold entries (NTX, NSX), an entry that leaves a branch is replaced by the one behind it in the order, so that what
//! leaves share with the key before them stays true. Pages that are less than half full are merged with a neighbour
//! under the same branch when both have room in one; keys are not moved to even pages out, and pages that grow at the
//! end of the order are left full. Neither do the original programs agree on these two.
//!
//! A change that fails half way leaves the tree in memory unusable, which its owner has to remember.

mod mending;

use std::cmp::Ordering;

use crate::error::{Error, Result};

use super::key_order::KeyOrder;
use super::page::{KeyBytes, NO_PAGE, Node, TagChange};
use super::page_store::{EditPage, PageStore};
use super::tree::DEPTH_MAX;

/// A tree that is changed.
#[derive(Debug)]
pub(super) struct TreeEditor {
    pub(super) keys: KeyBytes,
    pub(super) order: KeyOrder,
    pub(super) root: u32,
    /// Where the file keeps the root.
    pub(super) root_at: u64,
    /// The root as the file has it.
    pub(super) root_written: u32,
    /// Whether a key may be there once only.
    pub(super) is_unique: bool,
    /// What has happened since the header of the tag was written; `None` for nothing.
    pub(super) change: Option<TagChange>,
    /// From the root to where the last look-up ended.
    path: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    page: u32,
    slot: usize,
}

/// A key and its record.
type Entry = (Vec<u8>, u32);

/// An entry that has lost its place in a branch.
struct LeftOver {
    entry: Entry,
    /// The one behind it.
    next: Option<Entry>,
}

/// The keys before and behind a part of the tree.
type Bounds<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

impl TreeEditor {
    pub(super) fn new(keys: KeyBytes, order: KeyOrder, root: u32, root_at: u64, is_unique: bool) -> Self {
        Self {
            keys,
            order,
            root,
            root_at,
            root_written: root,
            is_unique,
            change: None,
            path: Vec::new(),
        }
    }

    /// Puts an entry in. `false` when it is there already, or, in a tree of unique keys, its key.
    pub(super) fn insert(&mut self, store: &mut PageStore, key: &[u8], recno: u32) -> Result<bool> {
        let (is_unique, ties_are_sorted) = (self.is_unique, store.format.ties_are_sorted());
        let place = |order: &KeyOrder, stored: &[u8], at: u32| match order.compare(stored, key) {
            Ordering::Equal if is_unique => Ordering::Equal,
            Ordering::Equal if ties_are_sorted => at.cmp(&recno),
            // Behind all that are equal.
            Ordering::Equal => Ordering::Less,
            other => other,
        };
        if self.is_loose(store) && is_unique && self.find_key(store, key)? {
            return Ok(false);
        }
        // The keys of branches that have no records may be those of entries that are gone.
        let stops_early = store.format.branches_hold_entries() || (is_unique && store.format.branches_copy_entries());
        if self.descend(store, stops_early, place)? {
            return Ok(false);
        }
        self.insert_here(store, key, recno)
    }

    /// Puts an entry in where the path ends, at a leaf.
    fn insert_here(&mut self, store: &mut PageStore, key: &[u8], recno: u32) -> Result<bool> {
        let Some(step) = self.path.last().copied() else {
            return Ok(false);
        };
        self.change.get_or_insert_default();
        let format = store.format.clone();
        let page = store.get_mut(step.page)?;
        page.insert(&*format, step.slot, key, recno);
        let (is_last, fits) = (step.slot + 1 == page.node.len(), page.fits(&*format));
        if is_last && !format.branches_hold_entries() {
            self.raise_last(store, self.path.len() - 1, key, recno)?;
        }
        if !fits {
            self.split_up(store)?;
        }
        Ok(true)
    }

    /// Takes an entry out; `false` when it is not there.
    pub(super) fn remove(&mut self, store: &mut PageStore, key: &[u8], recno: u32) -> Result<bool> {
        if !self.find(store, key, recno)? {
            return Ok(false);
        }
        self.change.get_or_insert_default();
        let format = store.format.clone();
        let Some(step) = self.path.last().copied() else {
            return Ok(false);
        };
        if store.get(step.page)?.node.is_leaf() {
            store.get_mut(step.page)?.remove(&*format, step.slot);
        } else {
            self.replace_by_next(store)?;
        }
        if !format.branches_hold_entries() {
            let node = &store.get(step.page)?.node;
            let len = node.len();
            if step.slot == len && len > 0 {
                let (last, last_recno) = (node.key(len - 1).to_vec(), node.recno(len - 1));
                self.raise_last(store, self.path.len() - 1, &last, last_recno)?;
            }
        }
        self.mend(store)
            .and_then(|left_over| match left_over {
                None => Ok(()),
                Some(left_over) => self.put_back(store, &left_over),
            })
            .map(|()| true)
    }

    /// Whether an entry is there.
    pub(super) fn contains(&mut self, store: &mut PageStore, key: &[u8], recno: u32) -> Result<bool> {
        self.find(store, key, recno)
    }

    /// The first record that has a key.
    pub(super) fn holder(&mut self, store: &mut PageStore, key: &[u8]) -> Result<Option<u32>> {
        let is_there = match self.is_loose(store) {
            true => self.find_key(store, key)?,
            false => self.descend(store, false, |order, stored, _| order.compare(stored, key))?,
        };
        let Some(step) = self.path.last().filter(|_| is_there) else {
            return Ok(None);
        };
        Ok(Some(store.get(step.page)?.node.recno(step.slot)))
    }

    /// Gives every page of the tree back.
    pub(super) fn free_all(&mut self, store: &mut PageStore) -> Result<()> {
        let mut pages: Vec<(u32, usize, Option<Vec<u8>>)> = vec![(self.root, 0, None)];
        while let Some((page, depth, before)) = pages.pop() {
            if depth >= DEPTH_MAX {
                return Err(store.corrupt(page, format!("at most {DEPTH_MAX} levels"), "more"));
            }
            if !store.has(page) {
                if store.is_leaf(page, self.keys)? {
                    store.free(page);
                    continue;
                }
                store.load(page, self.keys, false, before.clone())?;
            }
            let node = &store.get(page)?.node;
            for (slot, child) in node.children.iter().enumerate() {
                let own = slot.checked_sub(1).filter(|_| store.format.branches_hold_entries());
                let before = own.map(|slot| node.key(slot).to_vec()).or_else(|| before.clone());
                pages.push((*child, depth + 1, before));
            }
            store.free(page);
        }
        Ok(())
    }

    /// Goes to an entry.
    fn find(&mut self, store: &mut PageStore, key: &[u8], recno: u32) -> Result<bool> {
        if store.format.ties_are_sorted() {
            let place = |order: &KeyOrder, stored: &[u8], at: u32| order.compare(stored, key).then(at.cmp(&recno));
            let stops_early = store.format.branches_hold_entries();
            return self.descend(store, stops_early, place);
        }
        // The first of the equal ones, which may stand below another.
        let mut is_there = self.go_first(store, key)?;
        while is_there {
            let Some(step) = self.path.last() else { break };
            let node = &store.get(step.page)?.node;
            if self.order.compare(node.key(step.slot), key).is_ne() {
                break;
            }
            if node.recno(step.slot) == recno {
                return Ok(true);
            }
            is_there = self.next(store)?;
        }
        Ok(false)
    }

    /// Whether the keys of branches are not those of entries below, so that what is looked for may stand behind the page that they
    /// lead to.
    fn is_loose(&self, store: &PageStore) -> bool {
        !store.format.branches_hold_entries() && !store.format.branches_copy_entries()
    }

    /// Goes to the first entry that does not come before a key; `false` when there is none.
    fn go_first(&mut self, store: &mut PageStore, key: &[u8]) -> Result<bool> {
        self.descend(store, true, |order, stored, _| match order.compare(stored, key) {
            Ordering::Less => Ordering::Less,
            _ => Ordering::Greater,
        })?;
        self.settle(store)
    }

    /// Goes to the first entry that has a key.
    fn find_key(&mut self, store: &mut PageStore, key: &[u8]) -> Result<bool> {
        if !self.go_first(store, key)? {
            return Ok(false);
        }
        let Some(step) = self.path.last() else { return Ok(false) };
        let found = store.get(step.page)?.node.key(step.slot);
        Ok(self.order.compare(found, key).is_eq())
    }

    /// Goes down from the root to the place of an entry: `place` says where a stored one stands against it. `true` when
    /// it is there; the path then ends at it, in a branch only if that `stops_early`, else at the leaf where it would be.
    fn descend(
        &mut self,
        store: &mut PageStore,
        stops_early: bool,
        place: impl Fn(&KeyOrder, &[u8], u32) -> Ordering,
    ) -> Result<bool> {
        if !self.order.is_known() {
            return Err(Error::UnknownCollation);
        }
        self.path.clear();
        let mut page = self.root;
        loop {
            self.enter(store, page)?;
            let node = &store.get(page)?.node;
            let slot = node.partition(|key, recno| place(&self.order, key, recno).is_lt());
            let is_here = slot < node.len() && place(&self.order, node.key(slot), node.recno(slot)).is_eq();
            if node.is_leaf() || (is_here && stops_early) {
                self.path.push(Step { page, slot });
                return Ok(is_here);
            }
            let slot = slot.min(node.children.len() - 1);
            let child = node.children.get(slot).copied().unwrap_or_default();
            self.path.push(Step { page, slot });
            page = child;
        }
    }

    /// From behind a leaf's last entry to the next entry.
    fn settle(&mut self, store: &mut PageStore) -> Result<bool> {
        let holds_entries = store.format.branches_hold_entries();
        while let Some(step) = self.path.last_mut() {
            let node = &store.get(step.page)?.node;
            if node.is_leaf() || holds_entries {
                if step.slot < node.len() {
                    return Ok(true);
                }
                self.path.pop();
            } else if step.slot + 1 < node.children.len() {
                step.slot += 1;
                self.descend_first(store)?;
            } else {
                self.path.pop();
            }
        }
        Ok(false)
    }

    /// Goes to the next entry, where branches hold entries.
    fn next(&mut self, store: &mut PageStore) -> Result<bool> {
        if let Some(step) = self.path.last_mut() {
            step.slot += 1;
            self.descend_first(store)?;
        }
        self.settle(store)
    }

    /// From a branch down along the pages on the left.
    fn descend_first(&mut self, store: &mut PageStore) -> Result<()> {
        while let Some(step) = self.path.last().copied() {
            let Some(child) = store.get(step.page)?.node.children.get(step.slot).copied() else {
                break;
            };
            self.enter(store, child)?;
            self.path.push(Step { page: child, slot: 0 });
        }
        Ok(())
    }

    /// Has the page below the path's end in memory, and knows that it belongs there.
    fn enter(&self, store: &mut PageStore, page: u32) -> Result<()> {
        if self.path.len() >= DEPTH_MAX {
            return Err(store.corrupt(page, format!("a tree of at most {DEPTH_MAX} levels"), "more"));
        }
        if let Some(known) = store.known(page) {
            if known.keys != self.keys {
                return Err(store.corrupt(page, "a page of one order", "a page of two"));
            }
            // It is the page of another branch too, when it is known and does not belong here.
            return self.check_bounds(store, page, &known.node);
        }
        if store.has(page) {
            return Err(store.corrupt(page, "a page in use", "a page of the list of free ones"));
        }
        let before = self.bounds(store)?.0.filter(|_| store.format.branches_hold_entries());
        let before = before.map(<[u8]>::to_vec);
        store.load(page, self.keys, page == self.root, before)?;
        let node = &store.get(page)?.node;
        let order = &self.order;
        if !node.keys().is_sorted_by(|a, b| order.compare(a, b).is_le()) {
            let expected = format!("keys in order, under the collation given ({})", order.collation_name());
            return Err(store.corrupt(page, expected, "keys out of order"));
        }
        self.check_bounds(store, page, node)
    }

    fn check_bounds(&self, store: &PageStore, page: u32, node: &Node) -> Result<()> {
        let (low, high) = self.bounds(store)?;
        let is_within = node.len() == 0
            || (low.is_none_or(|low| self.order.compare(low, node.key(0)).is_le())
                && high.is_none_or(|high| self.order.compare(node.key(node.len() - 1), high).is_le()));
        if is_within {
            return Ok(());
        }
        Err(store.corrupt(page, "keys between those of the branch above", "keys from elsewhere"))
    }

    /// The keys of branches before and behind everything below the path's end.
    fn bounds<'a>(&self, store: &'a PageStore) -> Result<Bounds<'a>> {
        let (mut low, mut high) = (None, None);
        for step in self.path.iter().rev() {
            if low.is_some() && high.is_some() {
                break;
            }
            let node = &store.get(step.page)?.node;
            if low.is_none() && step.slot > 0 {
                low = Some(node.key(step.slot - 1));
            }
            if high.is_none() && step.slot < node.len() {
                high = Some(node.key(step.slot));
            }
        }
        Ok((low, high))
    }

    /// Lets the copies above the page at `level`, or the key behind it, follow its last entry.
    fn raise_last(&self, store: &mut PageStore, level: usize, key: &[u8], recno: u32) -> Result<()> {
        let (parts, copies) = (store.format.branches_part_pages(), store.format.branches_copy_entries());
        let recno = if copies { recno } else { 0 };
        for step in self.path.iter().take(level).rev() {
            let branch = store.get_mut(step.page)?;
            if parts && step.slot == branch.node.len() {
                // The key behind the last page of a branch stands in one above.
                continue;
            }
            branch.node.replace(step.slot, key, recno);
            if parts {
                break;
            }
            if step.slot + 1 < branch.node.len() {
                break;
            }
        }
        Ok(())
    }

    /// Divides pages that have no room, from the path's end upwards.
    fn split_up(&mut self, store: &mut PageStore) -> Result<()> {
        let format = store.format.clone();
        for level in (0..self.path.len()).rev() {
            let Some(Step { page, slot }) = self.path.get(level).copied() else {
                return Ok(());
            };
            if store.get(page)?.fits(&*format) {
                return Ok(());
            }
            let mut left = store.take(page)?;
            let at_end = slot + 1 >= left.node.len() && self.is_last(store, level)?;
            let was_root = std::mem::take(&mut left.is_root);
            let mut pieces: Vec<(Vec<u8>, u32, u32, Box<EditPage>)> = Vec::new();
            loop {
                let last = pieces.last_mut().map_or(&mut left, |(_, _, _, piece)| piece);
                if last.fits(&*format) {
                    break;
                }
                let Some((key, recno, right)) = last.split(&*format, at_end) else {
                    return Err(store.corrupt(page, "a page with room for two keys", "a smaller one"));
                };
                pieces.push((key, recno, self.allocate(store)?, Box::new(right)));
            }
            self.link(store, (page, &mut left), &mut pieces)?;
            if !format.branches_hold_entries() && !format.branches_part_pages() {
                // Above, each page stands under its own last key.
                let copies = format.branches_copy_entries();
                let last = |page: &EditPage| {
                    let last = page.node.len().saturating_sub(1);
                    let recno = if copies { page.node.recno(last) } else { 0 };
                    (page.node.key(last).to_vec(), recno)
                };
                let mut lasts: Vec<_> = pieces.iter().map(|(_, _, _, piece)| last(piece)).collect();
                lasts.insert(0, last(&left));
                if was_root {
                    self.grow(store, page)?;
                }
                let (above, slot) = self.above(level, was_root)?;
                let branch = store.get_mut(above)?;
                for (index, ((key, recno), below)) in lasts
                    .iter()
                    .zip(std::iter::once(page).chain(pieces.iter().map(|piece| piece.2)))
                    .enumerate()
                {
                    match index {
                        0 if was_root => branch.node.push(key, *recno),
                        0 => branch.node.replace(slot, key, *recno),
                        _ => {
                            branch.node.insert(slot + index, key, *recno);
                            branch.node.children.insert(slot + index, below);
                        }
                    }
                }
            } else {
                if was_root {
                    self.grow(store, page)?;
                }
                let (above, slot) = self.above(level, was_root)?;
                let branch = store.get_mut(above)?;
                for (index, (key, recno, below, _)) in pieces.iter().enumerate() {
                    branch.node.insert(slot + index, key, *recno);
                    branch.node.children.insert(slot + index + 1, *below);
                }
            }
            let count = pieces.len();
            store.put(page, left);
            for (_, _, page, piece) in pieces {
                store.put(page, piece);
            }
            if was_root {
                return Ok(());
            }
            if let Some(step) = level.checked_sub(1).and_then(|level| self.path.get_mut(level)) {
                step.slot += count;
            }
        }
        Ok(())
    }

    /// The branch above a level of the path, and the slot of the page below it.
    fn above(&self, level: usize, was_root: bool) -> Result<(u32, usize)> {
        if was_root {
            return Ok((self.root, 0));
        }
        let above = level.checked_sub(1).and_then(|level| self.path.get(level));
        Ok(above.map_or((self.root, 0), |step| (step.page, step.slot)))
    }

    /// Puts an empty branch over the root.
    fn grow(&mut self, store: &mut PageStore, below: u32) -> Result<()> {
        let root = self.allocate(store)?;
        let mut node = Node::new(self.keys.len, 2);
        node.children.push(below);
        if !store.format.branches_hold_entries() && !store.format.branches_part_pages() {
            node.siblings = Some([NO_PAGE; 2]);
        }
        let mut page = EditPage::new(&*store.format, node, self.keys, None);
        page.is_root = true;
        store.put(root, Box::new(page));
        self.root = root;
        Ok(())
    }

    /// A page for this tree.
    fn allocate(&mut self, store: &mut PageStore) -> Result<u32> {
        let page = store.allocate()?;
        let change = self.change.get_or_insert_default();
        change.pages += 1;
        change.last = page;
        Ok(page)
    }

    /// Whether everything on the path above a level is the last page below its branch.
    fn is_last(&self, store: &PageStore, level: usize) -> Result<bool> {
        for step in self.path.iter().take(level) {
            if step.slot + 1 < store.get(step.page)?.node.children.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Links the pages into which one was divided with its neighbour on the right.
    fn link(
        &self,
        store: &mut PageStore,
        (page, left): (u32, &mut EditPage),
        pieces: &mut [(Vec<u8>, u32, u32, Box<EditPage>)],
    ) -> Result<()> {
        let Some([_, right]) = left.node.siblings else {
            return Ok(());
        };
        let mut next = right;
        let numbers: Vec<u32> = std::iter::once(page)
            .chain(pieces.iter().map(|piece| piece.2))
            .collect();
        for (index, (_, _, number, piece)) in pieces.iter_mut().enumerate().rev() {
            let before = numbers.get(index).copied().unwrap_or(NO_PAGE);
            piece.node.siblings = Some([before, next]);
            next = *number;
        }
        if let Some([_, to_right]) = &mut left.node.siblings {
            *to_right = next;
        }
        if let Some(last) = numbers.last() {
            self.set_neighbour(store, right, 0, *last)?;
        }
        Ok(())
    }

    /// Sets the left (0) or right (1) neighbour of a page, if there is such a page.
    fn set_neighbour(&self, store: &mut PageStore, page: u32, side: usize, neighbour: u32) -> Result<()> {
        if page == NO_PAGE {
            return Ok(());
        }
        if !store.has(page) {
            store.load(page, self.keys, page == self.root, None)?;
        }
        let found = store.get_mut(page)?;
        if found.keys != self.keys {
            return Err(store.corrupt(page, "a page of one order", "a page of two"));
        }
        if let Some(place) = found.node.siblings.as_mut().and_then(|siblings| siblings.get_mut(side)) {
            *place = neighbour;
        }
        Ok(())
    }

    /// Overwrites the entry of a branch at the path's end by the next one, which is a leaf's first and leaves it.
    fn replace_by_next(&mut self, store: &mut PageStore) -> Result<()> {
        let Some(step) = self.path.last_mut() else {
            return Ok(());
        };
        let branch = *step;
        step.slot += 1;
        self.descend_first(store)?;
        let leaf = self.path.last().map_or(branch.page, |step| step.page);
        let format = store.format.clone();
        let page = store.get_mut(leaf)?;
        if !page.node.is_leaf() || page.node.len() == 0 {
            return Err(store.corrupt(leaf, "a leaf with keys below a branch", "an empty one"));
        }
        let (key, recno) = (page.node.key(0).to_vec(), page.node.recno(0));
        page.remove(&*format, 0);
        // What is first now was behind that key, and still is.
        page.set_before(&*format, Some(key.clone()));
        store.get_mut(branch.page)?.node.replace(branch.slot, &key, recno);
        Ok(())
    }
}
