//! The pages of one order as a tree, and a path from its root to an entry.
//!
//! A forged file can make a tree that runs in circles: a path is never deeper than [`DEPTH_MAX`], and enters no more pages
//! than the file has. A page whose keys are out of order, or not between those of the branch above it, is an error as soon
//! as a path enters it, so that a broken tree does not answer wrongly. (It is one with the wrong collation, too.)

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::source::Source;

use super::key_order::KeyOrder;
use super::page::{KeyBytes, Node, PageFormat};

/// No tree is deeper: with two keys to a page it would have 2^32 records long before.
pub(crate) const DEPTH_MAX: usize = 40;

/// The pages that are reached from one root.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) source: Arc<Source>,
    pub(crate) format: Arc<dyn PageFormat>,
    pub(crate) root: u32,
    pub(crate) keys: KeyBytes,
    pub(crate) order: KeyOrder,
    cache: Mutex<PageCache>,
}

impl Tree {
    pub(crate) fn new(
        source: Arc<Source>,
        format: Arc<dyn PageFormat>,
        root: u32,
        keys: KeyBytes,
        order: KeyOrder,
        cache_bytes: usize,
    ) -> Self {
        Self {
            source,
            format,
            root,
            keys,
            order,
            cache: Mutex::new(PageCache::new(cache_bytes)),
        }
    }

    /// How many pages the file has room for.
    pub(crate) fn page_count(&self) -> u64 {
        self.source.len() / self.format.page_len() as u64
    }

    /// The offset of a page in the file.
    pub(crate) fn offset(&self, page: u32) -> u64 {
        u64::from(page) * self.format.page_unit()
    }

    /// A page, decoded; `before` is the key before its first.
    pub(crate) fn load(&self, page: u32, before: Option<&[u8]>) -> Result<Arc<Node>> {
        // The cache is let go of before another page is read.
        let known = self.cache().get(page);
        match known {
            Some(node) => Ok(node),
            None => self.load_anew(page, before),
        }
    }

    #[cold]
    fn load_anew(&self, page: u32, before: Option<&[u8]>) -> Result<Arc<Node>> {
        let mut window = Vec::new();
        let bytes = self.read(page, &mut window)?;
        self.decoded(page, bytes, before.filter(|_| self.format.branches_hold_entries()))
    }

    /// As [`Tree::load`], of a page whose bytes were read.
    pub(crate) fn decoded(&self, page: u32, bytes: &[u8], before: Option<&[u8]>) -> Result<Arc<Node>> {
        if let Some(node) = self.cache().get(page) {
            return Ok(node);
        }
        let node = self.format.decode(bytes, self.keys, before);
        let mut node = node.map_err(|fault| fault.into_error(self.source.path(), self.offset(page)))?;
        node.is_sorted = self.order.is_sorted(&node);
        let node = Arc::new(node);
        self.cache().insert(page, Arc::clone(&node));
        Ok(node)
    }

    /// The bytes of a page.
    pub(crate) fn read<'a>(&'a self, page: u32, window: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let offset = self.checked_offset(page)?;
        self.source.read("index page", offset, self.format.page_len(), window)
    }

    /// The offset of a page where one can be.
    pub(crate) fn checked_offset(&self, page: u32) -> Result<u64> {
        const ALIGNMENT: u64 = 512;
        let offset = self.offset(page);
        if page == 0 || !offset.is_multiple_of(ALIGNMENT) {
            let expected = format!("a multiple of {ALIGNMENT} above 0");
            return Err(self.corrupt("page number", offset, expected, offset.to_string()));
        }
        Ok(offset)
    }

    pub(crate) fn corrupt(
        &self,
        what: &str,
        offset: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error::corrupt(self.source.path(), what, offset, expected, found)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, PageCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way from the root to an entry, or to nothing.
///
/// The last step stands at an entry; the others say which page below was taken. Where branches hold entries, the last
/// step may be one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreePath {
    steps: Vec<Step>,
    entered: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) page: u32,
    pub(crate) node: Arc<Node>,
    pub(crate) slot: usize,
}

impl TreePath {
    /// The page and slot of the entry; `None` when the path leads to nothing.
    pub(crate) fn entry(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// From the root to the entry.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Starts to count anew how many pages are entered.
    pub(crate) fn allow_all_pages(&mut self) {
        self.entered = 0;
    }

    /// Goes to the first entry; `false` when there is none.
    pub(crate) fn first(&mut self, tree: &Tree) -> Result<bool> {
        self.clear();
        let found = self.descend_first(tree, tree.root);
        self.settle(found, |path| path.settle_forward(tree))
    }

    /// Goes to the last entry; `false` when there is none.
    pub(crate) fn last(&mut self, tree: &Tree) -> Result<bool> {
        self.clear();
        let found = self.descend_last(tree, tree.root);
        self.settle(found, |path| path.settle_backward(tree))
    }

    /// Goes to the first entry that does not come before what is looked for; `false` when all do.
    pub(crate) fn seek(&mut self, tree: &Tree, mut is_before: impl FnMut(&[u8], u32) -> bool) -> Result<bool> {
        self.seek_slot(tree, |node| node.partition(&mut is_before))
    }

    /// As [`TreePath::seek`]; `slot_of` tells the first slot of a page that does not come before what is looked for, or how many
    /// there are.
    pub(crate) fn seek_slot(&mut self, tree: &Tree, slot_of: impl FnMut(&Node) -> usize) -> Result<bool> {
        let found = self.descend_to(tree, slot_of);
        self.settle(found, |path| path.settle_forward(tree))
    }

    /// Goes to the entry behind; `false`, and the path leads to nothing, when there is none.
    pub(crate) fn next(&mut self, tree: &Tree) -> Result<bool> {
        let Some(step) = self.steps.last_mut() else {
            return Ok(false);
        };
        step.slot += 1;
        let found = match step.node.children.get(step.slot).copied() {
            None => Ok(step.slot < step.node.len()),
            Some(child) => self.descend_first(tree, child),
        };
        self.settle(found, |path| path.settle_forward(tree))
    }

    /// Goes to the entry before; `false`, and the path leads to nothing, when there is none.
    pub(crate) fn previous(&mut self, tree: &Tree) -> Result<bool> {
        let Some(step) = self.steps.last_mut() else {
            return Ok(false);
        };
        let found = match step.node.children.get(step.slot).copied() {
            None if step.slot > 0 => {
                step.slot -= 1;
                Ok(true)
            }
            None => Ok(false),
            Some(child) => self.descend_last(tree, child),
        };
        self.settle(found, |path| path.settle_backward(tree))
    }

    /// Leaves the page that the path ends in.
    pub(crate) fn leave_page(&mut self) {
        self.steps.pop();
    }

    /// The page behind the one below the last step, which is not entered; `None`, and the path leads to nothing, when there is
    /// none. For trees whose branches hold no entries.
    pub(crate) fn next_below(&mut self) -> Option<u32> {
        while let Some(step) = self.steps.last_mut() {
            if let Some(child) = step.node.children.get(step.slot + 1).copied() {
                step.slot += 1;
                return Some(child);
            }
            self.steps.pop();
        }
        None
    }

    /// Adds a page to the path.
    pub(crate) fn enter(&mut self, tree: &Tree, page: u32) -> Result<&mut Step> {
        self.enter_at(self.steps.len(), tree, page)
    }

    /// Goes on with a page at a depth. What the path has there and below is of an earlier way: the step stays where it is of this
    /// page, and those below it do, for [`TreePath::enter_at`] to look at them.
    fn enter_at(&mut self, depth: usize, tree: &Tree, page: u32) -> Result<&mut Step> {
        // A path of so few pages is within the limits of any tree.
        if depth >= DEPTH_MAX || self.entered > DEPTH_MAX as u64 {
            self.check_limits(depth, tree, page)?;
        }
        self.entered += 1;
        let (above, old) = self.steps.split_at_checked(depth).unwrap_or((&self.steps, &[]));
        let (low, high) = bounds(above);
        let known = old.first().filter(|step| step.page == page);
        let loaded = match known {
            Some(_) => None,
            None => Some(tree.load(page, low)?),
        };
        let fits = |node: &Node| {
            let is_within = || {
                low.is_none_or(|low| tree.order.compare(low, node.key(0)).is_le())
                    && high.is_none_or(|high| tree.order.compare(node.key(node.len() - 1), high).is_le())
            };
            node.is_sorted && (node.len() == 0 || !tree.order.is_known() || is_within())
        };
        match (&loaded, known) {
            (Some(node), _) | (None, Some(Step { node, .. })) if !fits(node) => {
                return Err(misplaced(tree, page, node));
            }
            _ => {}
        }
        if let Some(node) = loaded {
            self.steps.truncate(depth);
            self.steps.push(Step { page, node, slot: 0 });
        }
        // The step is one of the path's, or was pushed above.
        self.steps
            .get_mut(depth)
            .ok_or_else(|| tree.corrupt("index page", tree.offset(page), "a step", "none"))
    }

    fn check_limits(&self, depth: usize, tree: &Tree, page: u32) -> Result<()> {
        if depth < DEPTH_MAX && self.entered <= tree.page_count() + DEPTH_MAX as u64 {
            return Ok(());
        }
        let found = format!("a path of {depth} pages after {} others", self.entered);
        let expected = format!("a tree of {} pages and depth {DEPTH_MAX}", tree.page_count());
        Err(tree.corrupt("index page", tree.offset(page), expected, found))
    }

    fn descend_first(&mut self, tree: &Tree, mut page: u32) -> Result<bool> {
        loop {
            let step = self.enter(tree, page)?;
            match step.node.children.first().copied() {
                None => return Ok(step.node.len() > 0),
                Some(child) => page = child,
            }
        }
    }

    fn descend_last(&mut self, tree: &Tree, mut page: u32) -> Result<bool> {
        loop {
            let step = self.enter(tree, page)?;
            step.slot = step.node.children.len().saturating_sub(1);
            match step.node.children.last().copied() {
                None => {
                    let len = step.node.len();
                    step.slot = len.saturating_sub(1);
                    return Ok(len > 0);
                }
                Some(child) => page = child,
            }
        }
    }

    fn descend_to(&mut self, tree: &Tree, mut slot_of: impl FnMut(&Node) -> usize) -> Result<bool> {
        let (mut page, mut depth) = (tree.root, 0);
        loop {
            let step = self.enter_at(depth, tree, page)?;
            step.slot = slot_of(&step.node);
            if !step.node.is_leaf() {
                // Without entries of its own a branch has as many pages below as keys: behind the last is the last.
                step.slot = step.slot.min(step.node.children.len() - 1);
            }
            match step.node.children.get(step.slot).copied() {
                None => {
                    let found = step.slot < step.node.len();
                    self.steps.truncate(depth + 1);
                    return Ok(found);
                }
                Some(child) => (page, depth) = (child, depth + 1),
            }
        }
    }

    /// Ends a move: at an entry, at the next one when the page had none, or nowhere.
    fn settle(&mut self, found: Result<bool>, go_on: impl FnOnce(&mut Self) -> Result<bool>) -> Result<bool> {
        let found = match found {
            Ok(false) => go_on(self),
            found => found,
        };
        if !matches!(found, Ok(true)) {
            self.clear();
        }
        found
    }

    /// From a page that is used up to the next entry.
    fn settle_forward(&mut self, tree: &Tree) -> Result<bool> {
        self.steps.pop();
        while let Some(step) = self.steps.last_mut() {
            if tree.format.branches_hold_entries() {
                if step.slot < step.node.len() {
                    return Ok(true);
                }
            } else if let Some(child) = step.node.children.get(step.slot + 1).copied() {
                step.slot += 1;
                if self.descend_first(tree, child)? {
                    return Ok(true);
                }
            }
            self.steps.pop();
        }
        Ok(false)
    }

    fn settle_backward(&mut self, tree: &Tree) -> Result<bool> {
        self.steps.pop();
        while let Some(step) = self.steps.last_mut() {
            if let Some(before) = step.slot.checked_sub(1) {
                step.slot = before;
                if tree.format.branches_hold_entries() {
                    return Ok(true);
                }
                let child = step.node.children.get(before).copied().unwrap_or_default();
                if self.descend_last(tree, child)? {
                    return Ok(true);
                }
            }
            self.steps.pop();
        }
        Ok(false)
    }

    /// Sets the path to what `goto` found; for moves by position.
    pub(crate) fn set_slot(&mut self, slot: usize) {
        if let Some(step) = self.steps.last_mut() {
            step.slot = slot;
        }
    }
}

/// The keys of branches that stand before and behind everything below the last step's slot.
fn bounds(steps: &[Step]) -> (Option<&[u8]>, Option<&[u8]>) {
    let low = steps.iter().rev().find(|step| step.slot > 0);
    let high = steps.iter().rev().find(|step| step.slot < step.node.len());
    (
        low.map(|step| step.node.key(step.slot - 1)),
        high.map(|step| step.node.key(step.slot)),
    )
}

/// Why a page cannot be where it is.
#[cold]
fn misplaced(tree: &Tree, page: u32, node: &Node) -> Error {
    let what = format!("index page at {}, keys", tree.offset(page));
    let (expected, found) = match node.is_sorted {
        false => (
            format!(
                "keys in order, under the collation given ({})",
                tree.order.collation_name()
            ),
            "keys out of order",
        ),
        true => (
            "keys between those of the branch above".to_owned(),
            "keys from elsewhere",
        ),
    };
    tree.corrupt(&what, tree.offset(page), expected, found)
}

/// Decoded pages: the recently used half stays when the cache is full.
#[derive(Debug)]
struct PageCache {
    young: Pages,
    old: Pages,
    young_bytes: usize,
    half: usize,
}

type Pages = HashMap<u32, Arc<Node>, BuildHasherDefault<PageHasher>>;

impl PageCache {
    fn new(limit: usize) -> Self {
        Self {
            young: Pages::default(),
            old: Pages::default(),
            young_bytes: 0,
            half: limit / 2,
        }
    }

    fn get(&mut self, page: u32) -> Option<Arc<Node>> {
        if let Some(node) = self.young.get(&page) {
            return Some(Arc::clone(node));
        }
        let node = self.old.remove(&page)?;
        self.insert(page, Arc::clone(&node));
        Some(node)
    }

    fn insert(&mut self, page: u32, node: Arc<Node>) {
        if self.young_bytes > self.half {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += node.memory();
        self.young.insert(page, node);
    }
}

/// Page numbers are chosen by the file, but a page that collides costs no more than reading it again would.
#[derive(Default)]
pub(super) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        // The golden ratio spreads the multiples of the page length over the upper bits, which the table uses too.
        let spread = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = spread ^ (spread >> 32);
    }
}
