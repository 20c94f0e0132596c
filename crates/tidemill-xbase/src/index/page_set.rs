//! Which pages of a file were reached: each may be once.

use crate::error::Result;

use super::tree::Tree;

/// One bit for every page that a file has room for.
#[derive(Debug)]
pub(super) struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    pub(super) fn new(tree: &Tree) -> Self {
        let units = usize::try_from(tree.source.len() / UNIT).unwrap_or(usize::MAX);
        Self {
            words: vec![0; units / 64 + 1],
        }
    }

    /// Takes note that a page is reached.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when it was before.
    pub(super) fn reach(&mut self, tree: &Tree, page: u32) -> Result<()> {
        let offset = tree.offset(page);
        let unit = offset / UNIT;
        let word = usize::try_from(unit / 64).ok().and_then(|at| self.words.get_mut(at));
        // What lies behind the end of the file is an error when it is read.
        let Some(word) = word else { return Ok(()) };
        let bit = 1 << (unit % 64);
        if *word & bit != 0 {
            let expected = "a tree that reaches each page once";
            return Err(tree.corrupt("index page", offset, expected, "a page that was there before"));
        }
        *word |= bit;
        Ok(())
    }
}

/// No page is shorter, and each begins at a multiple of it.
const UNIT: u64 = 512;
