//! Packs sorted keys into the pages of a tree whose branches hold keys without records (MDX, NDX, IDX).
//!
//! A page is filled before the next one begins, as dBASE and the Borland Database Engine leave an index that they have just made; a
//! page takes its place in the file when the one behind it is full, so that the last branch of a level is never left with a single
//! page below it.

use crate::error::{Error, Result};

use super::page::{KeyBytes, NO_PAGE, Node, PageWriter};

/// One tree that is being made.
pub(super) struct BPlusPacker<'a> {
    file: &'a mut Vec<u8>,
    /// Where the bytes begin in the file.
    base: usize,
    format: &'a dyn PageWriter,
    keys: KeyBytes,
    levels: Vec<Level>,
    /// The page that took its place last; 0 before the first.
    last: u32,
    first: u32,
}

/// The pages of one level that can still change.
struct Level {
    open: Part,
    /// The page before, which is full.
    full: Option<Part>,
    /// The page before that, which lacks its right neighbour.
    placed: Option<(u32, Node)>,
}

struct Part {
    node: Node,
    /// The last key below.
    last: Vec<u8>,
}

/// A tree that is packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed {
    pub(super) root: u32,
    /// The pages that took their places first and last.
    pub(super) first: u32,
    pub(super) last: u32,
}

impl<'a> BPlusPacker<'a> {
    /// A packer of pages that follow `base` bytes and those of `file`.
    pub(super) fn new(base: usize, file: &'a mut Vec<u8>, format: &'a dyn PageWriter, keys: KeyBytes) -> Self {
        Self {
            file,
            base,
            format,
            keys,
            levels: Vec::new(),
            last: 0,
            first: 0,
        }
    }

    pub(super) fn add(&mut self, key: &[u8], recno: u32) -> Result<()> {
        let most = self.format.leaf_room() / self.format.entry_len(self.keys, None, key).max(1);
        if self.levels.first().is_some_and(|leaves| leaves.open.node.len() >= most) {
            self.close(0)?;
        }
        let leaf = self.level(0);
        leaf.open.node.push(key, recno);
        leaf.open.last.clear();
        leaf.open.last.extend_from_slice(key);
        Ok(())
    }

    /// The root of the tree, and where its pages are.
    pub(super) fn finish(mut self) -> Result<Packed> {
        self.level(0);
        let mut level = 0;
        loop {
            self.fill_last(level);
            let full = self.levels.get_mut(level).and_then(|level| level.full.take());
            if let Some(full) = full {
                self.raise(level, full)?;
            }
            let is_root = level + 1 == self.levels.len();
            let next = Part::new(self.keys);
            let open = std::mem::replace(&mut self.level(level).open, next);
            if is_root {
                let root = self.place()?;
                self.write(root, &open.node, true);
                return Ok(Packed {
                    root,
                    first: self.first,
                    last: self.last,
                });
            }
            self.raise(level, open)?;
            let placed = self.levels.get_mut(level).and_then(|level| level.placed.take());
            if let Some((place, node)) = placed {
                self.write(place, &node, false);
            }
            level += 1;
        }
    }

    fn level(&mut self, level: usize) -> &mut Level {
        while self.levels.len() <= level {
            self.levels.push(Level {
                open: Part::new(self.keys),
                full: None,
                placed: None,
            });
        }
        // The loop has seen to it.
        #[expect(clippy::indexing_slicing, reason = "levels were added up to this one")]
        &mut self.levels[level]
    }

    /// Begins another page on a level.
    fn close(&mut self, level: usize) -> Result<()> {
        let next = Part::new(self.keys);
        let level_now = self.level(level);
        let closed = std::mem::replace(&mut level_now.open, next);
        match level_now.full.replace(closed) {
            Some(full) => self.raise(level, full),
            None => Ok(()),
        }
    }

    /// Gives a full page its place, and its last key to the branch above.
    fn raise(&mut self, level: usize, part: Part) -> Result<()> {
        let (before, place) = (self.last, self.place()?);
        let mut node = part.node;
        node.made_behind = before;
        if let Some((left, mut other)) = self.level(level).placed.take() {
            other.siblings = other.siblings.map(|[left, _]| [left, place]);
            node.siblings = Some([left, NO_PAGE]);
            self.write(left, &other, false);
        } else {
            node.siblings = Some([NO_PAGE; 2]);
        }
        self.level(level).placed = Some((place, node));
        let (room, parts) = (self.format.branch_room(self.keys), self.parts());
        if self.level(level + 1).open.node.children.len() > if parts { room } else { room - 1 } {
            self.close(level + 1)?;
        }
        let branch = &mut self.level(level + 1).open;
        if parts && !branch.node.children.is_empty() {
            branch.node.push(&branch.last, 0);
        }
        if !parts {
            branch.node.push(&part.last, 0);
        }
        branch.node.children.push(place);
        branch.last = part.last;
        Ok(())
    }

    /// Whether a branch has one page more than keys.
    fn parts(&self) -> bool {
        self.format.branches_part_pages()
    }

    /// Gives the last branch of a level a second page when it has only one.
    fn fill_last(&mut self, level: usize) {
        let parts = self.parts();
        let Some(Level {
            open, full: Some(full), ..
        }) = self.levels.get_mut(level)
        else {
            return;
        };
        if !parts || open.node.children.len() != 1 {
            return;
        }
        let (Some(last), Some(child)) = (full.node.len().checked_sub(1), full.node.children.pop()) else {
            return;
        };
        let below = full.node.key(last).to_vec();
        full.node.remove(last);
        open.node.children.insert(0, child);
        open.node.push(&std::mem::replace(&mut full.last, below), 0);
    }

    /// The place of a new page.
    fn place(&mut self) -> Result<u32> {
        let at = self.file.len();
        self.file.resize(at + self.format.page_len(), 0);
        let page = (self.base + at) as u64 / self.format.page_unit();
        let page = u32::try_from(page).map_err(|_| Error::Misuse("an index file of more than 4 GiB".to_owned()))?;
        self.last = page;
        if self.first == 0 {
            self.first = page;
        }
        Ok(page)
    }

    fn write(&mut self, place: u32, node: &Node, is_root: bool) {
        let begin = usize::try_from(u64::from(place) * self.format.page_unit()).unwrap_or(usize::MAX);
        let begin = begin.saturating_sub(self.base);
        let bytes = self
            .file
            .get_mut(begin..)
            .and_then(|rest| rest.get_mut(..self.format.page_len()));
        self.format
            .encode(node, self.keys, is_root, None, bytes.unwrap_or_default());
    }
}

impl Part {
    fn new(keys: KeyBytes) -> Self {
        Self {
            node: Node::new(keys.len, 0),
            last: Vec::new(),
        }
    }
}
