//! The number of every entry in its order: how many entries lie below each page.
//!
//! No format writes counts down, so that one pass over the tree makes them; leaves are only asked for their number of
//! keys. Afterwards the number of an entry and the entry of a number cost one step per level.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::stamp::FileMemo;

use super::page_run::PageRun;
use super::page_set::PageSet;
use super::tree::{DEPTH_MAX, Tree, TreePath};

/// The counts of trees by their roots, so that every connection of a program need not read them again.
static COUNTED: FileMemo<u32, Arc<Positions>> = FileMemo::new(64);

/// The counts of one tree.
#[derive(Debug)]
pub(crate) struct Positions {
    total: u64,
    /// For each branch, the entries before each page below, and all entries at the end.
    starts: BTreeMap<u32, Box<[u64]>>,
}

impl Positions {
    /// The counts as they were found before, where the file is certainly what it was.
    ///
    /// # Errors
    /// As [`Positions::count`].
    pub(crate) fn of_file(tree: &Tree) -> Result<Arc<Self>> {
        let Some(stamp) = tree.source.stamp() else {
            return Ok(Arc::new(Self::count(tree)?));
        };
        if let Some(known) = COUNTED.get(tree.source.path(), &stamp, &tree.root) {
            return Ok(known);
        }
        let positions = Arc::new(Self::count(tree)?);
        COUNTED.put(tree.source.path(), &stamp, tree.root, Arc::clone(&positions));
        Ok(positions)
    }

    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded, and for a tree that reaches a page twice.
    pub(crate) fn count(tree: &Tree) -> Result<Self> {
        let mut positions = Self {
            total: 0,
            starts: BTreeMap::new(),
        };
        positions.total = positions.visit(tree, tree.root, (&mut PageSet::new(tree), &mut PageRun::new()), 0)?;
        Ok(positions)
    }

    /// The number of entries in the order.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The number of the entry that the path leads to, from 0, in the order of the tree; `None` when the path leads to
    /// nothing, or through pages that were others when they were counted.
    pub(crate) fn number(&self, path: &TreePath) -> Option<u64> {
        let (last, above) = path.steps().split_last()?;
        let mut number = 0;
        for step in above {
            number += self.starts.get(&step.page)?.get(step.slot)?;
        }
        Some(match self.starts.get(&last.page) {
            None => number + last.slot as u64,
            // The entry of a branch stands right before the page above it.
            Some(starts) => number + starts.get(last.slot + 1)?.checked_sub(1)?,
        })
    }

    /// Goes to the entry of a number, from 0; `false` when there is none.
    pub(crate) fn go(&self, tree: &Tree, path: &mut TreePath, mut number: u64) -> Result<bool> {
        path.clear();
        if number >= self.total {
            return Ok(false);
        }
        let mut page = tree.root;
        loop {
            let step = path.enter(tree, page)?;
            let Some(starts) = self.starts.get(&page) else {
                let (slot, len) = (usize::try_from(number).unwrap_or(usize::MAX), step.node.len());
                if slot >= len {
                    path.clear();
                    let found = format!("{len} keys");
                    return Err(tree.corrupt(
                        "index page",
                        tree.offset(page),
                        "the keys that it had when they were counted",
                        found,
                    ));
                }
                path.set_slot(slot);
                return Ok(true);
            };
            // The last page that begins at or before the number; empty pages begin where the next one does.
            let slot = starts.partition_point(|start| *start <= number).saturating_sub(1);
            let slot = slot.min(step.node.children.len().saturating_sub(1));
            let start = starts.get(slot).copied().unwrap_or_default();
            let next = starts.get(slot + 1).copied().unwrap_or_default();
            path.set_slot(slot);
            if tree.format.branches_hold_entries()
                && number + 1 == next
                && path.entry().is_some_and(|step| slot < step.node.len())
            {
                return Ok(true);
            }
            page = path
                .entry()
                .and_then(|step| step.node.children.get(slot).copied())
                .unwrap_or_default();
            number -= start;
        }
    }

    fn visit(
        &mut self,
        tree: &Tree,
        page: u32,
        (reached, pages): (&mut PageSet, &mut PageRun),
        depth: usize,
    ) -> Result<u64> {
        reached.reach(tree, page)?;
        if depth >= DEPTH_MAX {
            let (expected, found) = (format!("a tree of at most {DEPTH_MAX} levels"), "a deeper one");
            return Err(tree.corrupt("index page", tree.offset(page), expected, found));
        }
        let bytes = pages.read(tree, page)?;
        let leaf = tree.format.leaf_len(bytes, tree.keys);
        if let Some(len) = leaf.map_err(|fault| fault.into_error(tree.source.path(), tree.offset(page)))? {
            return Ok(len as u64);
        }
        // A branch holds its keys whole: it can be decoded without the key before.
        let node = tree.decoded(page, bytes, None)?;
        let mut starts = Vec::with_capacity(node.children.len() + 1);
        let mut below = 0;
        for (slot, child) in node.children.iter().copied().enumerate() {
            starts.push(below);
            below += self.visit(tree, child, (&mut *reached, &mut *pages), depth + 1)?;
            if tree.format.branches_hold_entries() && slot < node.len() {
                below += 1;
            }
        }
        starts.push(below);
        self.starts.insert(page, starts.into_boxed_slice());
        Ok(below)
    }
}
