//! A page of an index, decoded once: its keys in one buffer, their records, and the pages below.
//!
//! The three formats differ in how a page is packed and in whether its branches hold entries; [`PageFormat`] is all that
//! the tree, the orders and the checker know of that. This module does not know where pages come from.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// A page as its format's decoder leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    key_len: usize,
    keys: Vec<u8>,
    recnos: Vec<u32>,
    /// The pages below, as the file writes them: none on a leaf, and on a branch as many as keys, or one more where branches
    /// hold entries.
    pub(crate) children: Vec<u32>,
    /// Whether no key comes before the one before it; set by who knows how keys compare.
    pub(crate) is_sorted: bool,
    /// The pages to the left and right on the same level, where the format links them.
    pub(crate) siblings: Option<[u32; 2]>,
}

impl Node {
    /// An empty page for `count` keys of `key_len` bytes, which is not 0.
    pub(crate) fn new(key_len: usize, count: usize) -> Self {
        Self {
            key_len,
            keys: Vec::with_capacity(key_len * count),
            recnos: Vec::with_capacity(count),
            children: Vec::new(),
            is_sorted: true,
            siblings: None,
        }
    }

    /// How many keys the page holds.
    pub(crate) fn len(&self) -> usize {
        self.recnos.len()
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// The key at `slot`; no bytes when there is none.
    pub(crate) fn key(&self, slot: usize) -> &[u8] {
        let begin = slot * self.key_len;
        self.keys.get(begin..begin + self.key_len).unwrap_or_default()
    }

    /// The record at `slot`; 0 when there is none.
    pub(crate) fn recno(&self, slot: usize) -> u32 {
        self.recnos.get(slot).copied().unwrap_or_default()
    }

    /// The records in the order of their slots.
    pub(crate) fn records(&self) -> &[u32] {
        &self.recnos
    }

    /// The keys in the order of their slots.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.chunks_exact(self.key_len)
    }

    /// Appends a key of exactly the page's key length.
    pub(crate) fn push(&mut self, key: &[u8], recno: u32) {
        debug_assert_eq!(key.len(), self.key_len);
        self.keys.extend_from_slice(key);
        self.recnos.push(recno);
    }

    /// Appends a key whose first `shared` bytes are those of the last key (of `before` for the first one), then `own`,
    /// then `trail` up to the key length. `false`, and nothing appended, when that does not fit.
    #[must_use]
    pub(crate) fn push_packed(&mut self, before: &[u8], shared: usize, own: &[u8], trail: u8, recno: u32) -> bool {
        let begin = self.keys.len();
        let end = begin + self.key_len;
        if shared + own.len() > self.key_len {
            return false;
        }
        if shared > 0 {
            if begin >= self.key_len {
                let last = begin - self.key_len;
                self.keys.extend_from_within(last..last + shared);
            } else {
                let Some(before) = before.get(..shared) else {
                    return false;
                };
                self.keys.extend_from_slice(before);
            }
        }
        self.keys.extend_from_slice(own);
        self.keys.resize(end, trail);
        self.recnos.push(recno);
        true
    }

    /// The first slot whose entry does not come before what is looked for; the number of keys when all do.
    pub(crate) fn partition(&self, mut is_before: impl FnMut(&[u8], u32) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if is_before(self.key(middle), self.recno(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// About how much memory the page takes.
    pub(crate) fn memory(&self) -> usize {
        self.keys.len() + 4 * (self.recnos.len() + self.children.len()) + 128
    }
}

/// How a format packs its pages.
pub(crate) trait PageFormat: fmt::Debug + Send + Sync {
    /// Bytes in a page.
    fn page_len(&self) -> usize;

    /// What a page number counts: bytes, or pages in the large variants of Harbour.
    fn page_unit(&self) -> u64;

    /// Whether the keys of branches are entries of the order (a B-tree) or copies of the last key below (a B+ tree).
    fn branches_hold_entries(&self) -> bool;

    /// Whether equal keys lie in record order for certain.
    fn ties_are_sorted(&self) -> bool;

    /// Whether a descending order is stored descending, instead of ascending and walked backwards.
    fn descends_in_file(&self) -> bool;

    /// Decodes a page of [`PageFormat::page_len`] bytes. `before` is the key before its first one in the order, where the
    /// walk to the page has seen one.
    fn decode(&self, page: &[u8], keys: KeyBytes, before: Option<&[u8]>) -> Result<Node, Fault>;

    /// The number of keys of a leaf without decoding it; `None` for a branch.
    fn leaf_len(&self, page: &[u8]) -> Result<Option<usize>, Fault>;

    /// The free page behind a free page; 0 for none.
    fn next_free(&self, page: &[u8]) -> Option<u32>;
}

/// What a page's decoder has to know of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyBytes {
    /// The length of every key, not 0.
    pub(crate) len: usize,
    /// The byte that is left out at a key's end.
    pub(crate) trail: u8,
}

/// Why a page cannot be decoded; the caller knows the file and the page.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Offset in the page.
    at: usize,
    what: &'static str,
    expected: String,
    found: String,
}

impl Fault {
    pub(crate) fn new(at: usize, what: &'static str, expected: impl Into<String>, found: impl fmt::Display) -> Self {
        Self {
            at,
            what,
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    pub(crate) fn into_error(self, path: &Path, page: u64) -> Error {
        let what = format!("index page at {page}, {}", self.what);
        Error::corrupt(path, what, page + self.at as u64, self.expected, self.found)
    }
}

/// The `N` bytes at `at` of a page or header; zeros never pass for what is not there.
pub(crate) fn bytes<const N: usize>(page: &[u8], at: usize) -> Result<[u8; N], Fault> {
    page.get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or_else(|| Fault::new(at, "number", format!("{N} bytes"), "the end of the page"))
}

pub(crate) fn u16_le(page: &[u8], at: usize) -> Result<usize, Fault> {
    Ok(usize::from(u16::from_le_bytes(bytes(page, at)?)))
}

pub(crate) fn u32_le(page: &[u8], at: usize) -> Result<u32, Fault> {
    Ok(u32::from_le_bytes(bytes(page, at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_keys_share_fill_and_refuse_what_does_not_fit() {
        let mut node = Node::new(4, 3);
        assert!(node.push_packed(b"", 0, b"ab", b' ', 1));
        assert!(node.push_packed(b"", 2, b"c", b' ', 2));
        assert!(!node.push_packed(b"", 3, b"de", b' ', 3));
        assert_eq!((node.key(0), node.key(1), node.len()), (&b"ab  "[..], &b"abc "[..], 2));
        let mut node = Node::new(4, 1);
        assert!(!node.push_packed(b"", 1, b"x", b' ', 1), "there is no key before");
        assert!(node.push_packed(b"wxyz", 2, b"", b'.', 7));
        assert_eq!((node.key(0), node.recno(0), node.recno(1)), (&b"wx.."[..], 7, 0));
    }

    #[test]
    fn partition_finds_the_first_that_is_not_before() {
        let mut node = Node::new(1, 5);
        for (key, recno) in [(b"a", 1), (b"b", 2), (b"b", 4), (b"d", 3)] {
            node.push(key, recno);
        }
        for (probe, expected) in [(b"0", 0), (b"a", 0), (b"b", 1), (b"c", 3), (b"d", 3), (b"e", 4)] {
            assert_eq!(node.partition(|key, _| key < &probe[..]), expected);
        }
        assert_eq!(node.partition(|key, recno| (key, recno) < (b"b", 4)), 2);
    }
}
