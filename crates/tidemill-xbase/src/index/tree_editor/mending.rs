//! What becomes of pages that are not half full: they are merged with a neighbour, dropped when they are empty, and the root with them.

use super::{Entry, LeftOver, Step, TreeEditor};
use crate::error::Result;
use crate::index::page::NO_PAGE;
use crate::index::page_store::PageStore;

impl TreeEditor {
    /// Merges pages that are not half full and drops empty ones, from the path's end upwards. Returns an entry that has
    /// to be put in again.
    pub(super) fn mend(&mut self, store: &mut PageStore) -> Result<Option<LeftOver>> {
        let format = store.format.clone();
        let mut left_over = None;
        while let Some(Step { page, .. }) = self.path.last().copied() {
            let level = self.path.len() - 1;
            if level == 0 {
                self.shrink(store)?;
                break;
            }
            let parts = format.branches_part_pages();
            let content = store.get(page)?;
            let is_empty = content.node.len() == 0;
            if !content.is_underfull(&*format) && !is_empty {
                break;
            }
            let is_bare_branch = is_empty && !content.node.is_leaf();
            if is_empty && !format.branches_hold_entries() && !(parts && is_bare_branch) {
                self.drop_empty(store, level)?;
            } else if !self.merge(store, level, is_empty)? {
                if is_bare_branch {
                    self.rotate(store, level)?;
                    break;
                }
                if !is_empty {
                    break;
                }
                let [next, behind] = self.following(store)?;
                left_over = self.drop_leaf(store)?.map(|entry| LeftOver {
                    next: if next.as_ref() == Some(&entry) { behind } else { next },
                    entry,
                });
                continue;
            }
            self.path.pop();
        }
        Ok(left_over)
    }

    /// Makes the root what is left of it.
    fn shrink(&mut self, store: &mut PageStore) -> Result<()> {
        let least = usize::from(!store.format.branches_hold_entries() && !store.format.branches_part_pages());
        loop {
            let root = &store.get(self.root)?.node;
            let Some(child) = root.children.first().copied().filter(|_| root.len() <= least) else {
                return Ok(());
            };
            if !store.has(child) {
                store.load(child, self.keys, true, None)?;
            }
            store.get_mut(child)?.is_root = true;
            store.free(self.root);
            self.root = child;
        }
    }

    /// Takes an empty page out of a tree whose branches only copy keys.
    fn drop_empty(&mut self, store: &mut PageStore, level: usize) -> Result<()> {
        let Some((above, empty)) = level
            .checked_sub(1)
            .and_then(|above| Some((*self.path.get(above)?, *self.path.get(level)?)))
        else {
            return Ok(());
        };
        let [left, right] = store.get(empty.page)?.node.siblings.unwrap_or([NO_PAGE; 2]);
        self.set_neighbour(store, left, 1, right)?;
        self.set_neighbour(store, right, 0, left)?;
        store.free(empty.page);
        if store.format.branches_part_pages() {
            let branch = store.get_mut(above.page)?;
            // Behind the last page there is no key.
            branch.node.remove(above.slot.min(branch.node.len().saturating_sub(1)));
            if above.slot < branch.node.children.len() {
                branch.node.children.remove(above.slot);
            }
            return Ok(());
        }
        let branch = store.get_mut(above.page)?;
        branch.node.remove(above.slot);
        if above.slot < branch.node.children.len() {
            branch.node.children.remove(above.slot);
        }
        let len = branch.node.len();
        if len == 0 {
            // A root without pages below is an empty leaf; another branch is dropped next.
            return Ok(());
        }
        if above.slot == len {
            let (key, recno) = (branch.node.key(len - 1).to_vec(), branch.node.recno(len - 1));
            self.raise_last(store, level - 1, &key, recno)?;
        }
        Ok(())
    }

    /// Takes an empty leaf whose neighbours are full out of a tree whose branches hold entries, and with it every branch
    /// that has nothing else below. The path then ends at a branch that has lost an entry, which is returned.
    fn drop_leaf(&mut self, store: &mut PageStore) -> Result<Option<Entry>> {
        let format = store.format.clone();
        let Some(leaf) = self.path.pop() else {
            return Ok(None);
        };
        let before = store.get(leaf.page)?.before().map(<[u8]>::to_vec);
        store.free(leaf.page);
        while let Some(step) = self.path.last().copied() {
            if step.slot == 0 && store.get(step.page)?.node.len() > 0 {
                // The leaf behind loses the key before its first, which it has to be read with.
                let depth = self.path.len();
                if let Some(step) = self.path.last_mut() {
                    step.slot = 1;
                }
                self.descend_first(store)?;
                if let Some(next) = self.path.last().copied() {
                    store.get_mut(next.page)?.set_before(&*format, before.clone());
                }
                self.path.truncate(depth);
            }
            let branch = store.get_mut(step.page)?;
            if branch.node.len() == 0 {
                if self.path.len() == 1 {
                    branch.node.children.clear();
                    branch.set_before(&*format, None);
                    return Ok(None);
                }
                store.free(step.page);
                self.path.pop();
                continue;
            }
            let lost = step.slot.saturating_sub(1);
            let entry = (branch.node.key(lost).to_vec(), branch.node.recno(lost));
            branch.node.remove(lost);
            if step.slot < branch.node.children.len() {
                branch.node.children.remove(step.slot);
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }

    /// Puts an entry in that mending left over. It was there already, so it is no repeated key.
    pub(super) fn put_back(&mut self, store: &mut PageStore, LeftOver { entry, next }: &LeftOver) -> Result<()> {
        let (key, recno) = entry;
        // Where equal keys keep the order in which they came, it goes before the one that came later.
        if let Some((next, next_recno)) = next.as_ref().filter(|(next, _)| next == key)
            && !store.format.ties_are_sorted()
            && self.find(store, next, *next_recno)?
        {
            while let Some(step) = self.path.last().copied() {
                let Some(child) = store.get(step.page)?.node.children.get(step.slot).copied() else {
                    break;
                };
                self.enter(store, child)?;
                let slot = store.get(child)?.node.len();
                self.path.push(Step { page: child, slot });
            }
            return self.insert_here(store, key, *recno).map(|_| ());
        }
        self.insert(store, key, *recno).map(|_| ())
    }

    /// The two entries behind the path's end.
    fn following(&mut self, store: &mut PageStore) -> Result<[Option<Entry>; 2]> {
        let path = self.path.clone();
        let mut following = [None, None];
        let mut is_there = self.settle(store)?;
        for place in &mut following {
            if let Some(step) = self.path.last().filter(|_| is_there) {
                let node = &store.get(step.page)?.node;
                *place = Some((node.key(step.slot).to_vec(), node.recno(step.slot)));
                is_there = self.next(store)?;
            }
        }
        self.path = path;
        Ok(following)
    }

    /// Merges the page at a level with a neighbour below the same branch; `false` when none has room.
    fn merge(&mut self, store: &mut PageStore, level: usize, is_tight: bool) -> Result<bool> {
        let Some(above) = level.checked_sub(1).and_then(|above| self.path.get(above)).copied() else {
            return Ok(false);
        };
        for slot in [Some(above.slot), above.slot.checked_sub(1)].into_iter().flatten() {
            let node = &store.get(above.page)?.node;
            let Some([left, right]) = node
                .children
                .get(slot..slot + 2)
                .and_then(|pair| pair.first_chunk::<2>())
                .copied()
            else {
                continue;
            };
            for (page, slot) in [(left, slot), (right, slot + 1)] {
                if !store.has(page) {
                    let below = self.path.split_off(level);
                    if let Some(step) = self.path.last_mut() {
                        step.slot = slot;
                    }
                    let entered = self.enter(store, page);
                    if let Some(step) = self.path.last_mut() {
                        step.slot = above.slot;
                    }
                    self.path.extend(below);
                    entered?;
                }
            }
            if self.merge_pair(store, (above.page, slot), [left, right], is_tight)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn merge_pair(
        &self,
        store: &mut PageStore,
        (above, slot): (u32, usize),
        [left, right]: [u32; 2],
        is_tight: bool,
    ) -> Result<bool> {
        let format = store.format.clone();
        let node = &store.get(above)?.node;
        let between = (node.key(slot).to_vec(), node.recno(slot));
        if store.get(left)?.node.is_leaf() != store.get(right)?.node.is_leaf() {
            return Err(store.corrupt(right, "a page on the level of its neighbour", "one on another level"));
        }
        let mut first = store.take(left)?;
        let second = match store.take(right) {
            Ok(second) => second,
            Err(e) => {
                store.put(left, first);
                return Err(e);
            }
        };
        let is_merged = first.merge(&*format, (&between.0, between.1), &second, is_tight);
        let behind = second.node.siblings.map(|[_, behind]| behind);
        if let (true, Some([_, next]), Some(behind)) = (is_merged, &mut first.node.siblings, behind) {
            *next = behind;
        }
        store.put(left, first);
        store.put(right, second);
        if !is_merged {
            return Ok(false);
        }
        if let Some(behind) = behind {
            self.set_neighbour(store, behind, 0, left)?;
        }
        store.free(right);
        let branch = store.get_mut(above)?;
        if !format.branches_hold_entries() && !format.branches_part_pages() {
            let (key, recno) = (branch.node.key(slot + 1).to_vec(), branch.node.recno(slot + 1));
            branch.node.replace(slot, &key, recno);
            branch.node.remove(slot + 1);
        } else {
            branch.node.remove(slot);
        }
        if slot + 1 < branch.node.children.len() {
            branch.node.children.remove(slot + 1);
        }
        Ok(true)
    }

    /// Gives a branch without keys one of a neighbour's, where branches hold entries or part pages.
    fn rotate(&self, store: &mut PageStore, level: usize) -> Result<()> {
        let Some((above, bare)) = level
            .checked_sub(1)
            .and_then(|above| Some((*self.path.get(above)?, self.path.get(level)?.page)))
        else {
            return Ok(());
        };
        let node = &store.get(above.page)?.node;
        let (slot, neighbour, is_right) = match (node.children.get(above.slot + 1), above.slot.checked_sub(1)) {
            (Some(right), _) => (above.slot, *right, true),
            (None, Some(slot)) => (slot, node.children.get(slot).copied().unwrap_or_default(), false),
            // The only page below a branch of another program; it can stay.
            (None, None) => return Ok(()),
        };
        let (key, recno) = (node.key(slot).to_vec(), node.recno(slot));
        let mut other = store.take(neighbour)?;
        let edge = if is_right {
            0
        } else {
            other.node.len().saturating_sub(1)
        };
        let moved = (other.node.key(edge).to_vec(), other.node.recno(edge));
        other.node.remove(edge);
        let child = match is_right {
            true if !other.node.children.is_empty() => Some(other.node.children.remove(0)),
            true => None,
            false => other.node.children.pop(),
        };
        store.put(neighbour, other);
        let branch = store.get_mut(bare)?;
        branch.node.push(&key, recno);
        if let Some(child) = child {
            let at = if is_right { branch.node.children.len() } else { 0 };
            branch.node.children.insert(at, child);
        }
        store.get_mut(above.page)?.node.replace(slot, &moved.0, moved.1);
        Ok(())
    }
}
