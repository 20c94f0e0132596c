//! Pages that are read one behind the other: several at a time where they lie so in the file.

use crate::error::Result;

use super::tree::Tree;

/// How many bytes are read at first and at most.
const LEAST: usize = 4 << 10;
const MOST: usize = 32 << 10;
/// So many pages may lie between two that follow one another, as those of branches do.
const GAP: u64 = 4;

/// What was read of an index file last.
#[derive(Debug)]
pub(super) struct PageRun {
    window: Vec<u8>,
    begin: u64,
    /// How many bytes the next look at the file reads.
    ahead: usize,
}

impl PageRun {
    pub(super) fn new() -> Self {
        Self {
            window: Vec::new(),
            begin: 0,
            ahead: LEAST,
        }
    }

    /// The bytes of a page.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub(super) fn read<'a>(&'a mut self, tree: &'a Tree, page: u32) -> Result<&'a [u8]> {
        if tree.source.lends() {
            return tree.read(page, &mut self.window);
        }
        let (offset, len) = (tree.checked_offset(page)?, tree.format.page_len());
        let end = self.begin + self.window.len() as u64;
        if offset < self.begin || offset + len as u64 > end {
            if !self.window.is_empty() {
                let follows = offset >= self.begin && offset <= end + GAP * len as u64;
                self.ahead = if follows { (2 * self.ahead).min(MOST) } else { len };
            }
            let left = usize::try_from(tree.source.len().saturating_sub(offset)).unwrap_or(usize::MAX);
            let wanted = self.ahead.min(left).max(len);
            self.begin = offset;
            if let Err(e) = tree.source.read("index page", offset, wanted, &mut self.window) {
                self.window.clear();
                return Err(e);
            }
        }
        let at = usize::try_from(offset - self.begin).unwrap_or(usize::MAX);
        Ok(self
            .window
            .get(at..)
            .and_then(|rest| rest.get(..len))
            .unwrap_or_default())
    }
}
