//! A page of an index, decoded once: its keys in one buffer, their records, and the pages below.
//!
//! The formats differ in how a page is packed and in what the keys of its branches are; [`PageFormat`] is all that the
//! tree, the orders and the checker know of that. This module does not know where pages come from.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// No page, where a format says so with all ones.
pub(crate) const NO_PAGE: u32 = u32::MAX;

/// A page as its format's decoder leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    key_len: usize,
    keys: Vec<u8>,
    recnos: Vec<u32>,
    /// The pages below, as the file writes them: none on a leaf, and on a branch as many as keys, or one more where branches
    /// hold entries or keys that part their pages.
    pub(crate) children: Vec<u32>,
    /// Whether no key comes before the one before it; set by who knows how keys compare.
    pub(crate) is_sorted: bool,
    /// The pages to the left and right on the same level, where the format links them.
    pub(crate) siblings: Option<[u32; 2]>,
    /// A record that the page has room for, whatever its own are.
    pub(crate) recno_floor: u32,
    /// The page that was made before this one, where the format says it (MDX).
    pub(crate) made_behind: u32,
}

/// The length of keys that are numbers or dates, of which there are most.
pub(crate) const NUMBER: usize = 8;
/// The length of a number in an MDX file.
pub(crate) const DECIMAL_LEN: usize = 12;

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
            recno_floor: 0,
            made_behind: 0,
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

    /// The keys as numbers that are in the order of their bytes, where they have eight.
    pub(crate) fn numbers(&self) -> Option<impl Iterator<Item = u64>> {
        let keys = self.keys.as_chunks().0.iter();
        (self.key_len == NUMBER).then(|| keys.map(|key| u64::from_be_bytes(*key)))
    }

    /// Appends a key of exactly the page's key length.
    pub(crate) fn push(&mut self, key: &[u8], recno: u32) {
        debug_assert_eq!(key.len(), self.key_len);
        self.keys.extend_from_slice(key);
        self.recnos.push(recno);
    }

    /// Appends a key of eight bytes, which is that of the page's keys, as a number.
    pub(crate) fn push_number(&mut self, key: u64, recno: u32) {
        debug_assert_eq!(NUMBER, self.key_len);
        self.keys.extend_from_slice(&key.to_be_bytes());
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

    /// As [`Node::partition`], of keys of eight bytes as numbers that are in the order of their bytes.
    pub(crate) fn partition_numbers(&self, is_before: impl Fn(u64) -> bool) -> usize {
        debug_assert_eq!(NUMBER, self.key_len);
        let keys = self.keys.as_chunks().0;
        keys.partition_point(|key| is_before(u64::from_be_bytes(*key)))
    }

    /// Puts an entry before the one at `slot`, which is at most the number of keys.
    pub(crate) fn insert(&mut self, slot: usize, key: &[u8], recno: u32) {
        debug_assert_eq!(key.len(), self.key_len);
        let slot = slot.min(self.len());
        let (begin, end) = (slot * self.key_len, self.keys.len());
        self.keys.extend_from_slice(key);
        if let Some(moved) = self.keys.get_mut(begin..)
            && begin < end
        {
            moved.rotate_right(self.key_len);
        }
        self.recnos.insert(slot, recno);
    }

    /// Takes the entry at `slot` away; none when there is none.
    pub(crate) fn remove(&mut self, slot: usize) {
        if slot < self.len() {
            let begin = slot * self.key_len;
            self.keys.drain(begin..begin + self.key_len);
            self.recnos.remove(slot);
        }
    }

    /// Overwrites the entry at `slot`.
    pub(crate) fn replace(&mut self, slot: usize, key: &[u8], recno: u32) {
        let begin = slot * self.key_len;
        if let (Some(old), Some(old_recno)) = (
            self.keys.get_mut(begin..begin + self.key_len),
            self.recnos.get_mut(slot),
        ) {
            old.copy_from_slice(key);
            *old_recno = recno;
        }
    }

    /// Takes the entries from `slot` on to a page of their own. Pages below and neighbours stay where they are.
    pub(crate) fn split_off(&mut self, slot: usize) -> Self {
        let slot = slot.min(self.len());
        Self {
            key_len: self.key_len,
            keys: self.keys.split_off(slot * self.key_len),
            recnos: self.recnos.split_off(slot),
            children: Vec::new(),
            is_sorted: true,
            siblings: self.siblings.map(|_| [NO_PAGE; 2]),
            recno_floor: self.recno_floor,
            made_behind: 0,
        }
    }

    /// Appends the entries and the pages below of another page of the same tree.
    pub(crate) fn append(&mut self, other: &Self) {
        self.keys.extend_from_slice(&other.keys);
        self.recnos.extend_from_slice(&other.recnos);
        self.children.extend_from_slice(&other.children);
    }

    /// The highest record that the page has room for.
    pub(crate) fn recno_max(&self) -> u32 {
        self.recnos
            .iter()
            .max()
            .copied()
            .unwrap_or_default()
            .max(self.recno_floor)
    }

    /// About how much memory the page takes.
    pub(crate) fn memory(&self) -> usize {
        self.keys.len() + 4 * (self.recnos.len() + self.children.len()) + 128
    }
}

/// What the keys of a format's branches are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branches {
    /// Entries of the order: a B-tree (NTX, NSX).
    Entries,
    /// Copies of the last entry below each, with its record: a B+ tree (CDX).
    Copies,
    /// Bounds without a record: no key below one is behind it (IDX).
    Bounds,
    /// Bounds without a record, one fewer than pages below, which they part (MDX, NDX).
    Partings,
}

/// How a format packs its pages.
pub(crate) trait PageFormat: fmt::Debug + Send + Sync {
    /// Bytes in a page.
    fn page_len(&self) -> usize;

    /// What a page number counts: bytes, or pages in the large variants of Harbour.
    fn page_unit(&self) -> u64;

    /// What the offset of every page is a multiple of.
    fn page_alignment(&self) -> u64 {
        self.page_len() as u64
    }

    /// What the keys of branches are.
    fn branches(&self) -> Branches;

    fn branches_hold_entries(&self) -> bool {
        self.branches() == Branches::Entries
    }

    fn branches_copy_entries(&self) -> bool {
        self.branches() == Branches::Copies
    }

    fn branches_part_pages(&self) -> bool {
        self.branches() == Branches::Partings
    }

    /// Whether equal keys lie in record order for certain.
    fn ties_are_sorted(&self) -> bool;

    /// Whether a descending order is stored descending, instead of ascending and walked backwards.
    fn descends_in_file(&self) -> bool;

    /// Decodes a page of [`PageFormat::page_len`] bytes. `before` is the key before its first one in the order, where the
    /// walk to the page has seen one.
    fn decode(&self, page: &[u8], keys: KeyBytes, before: Option<&[u8]>) -> Result<Node, Fault>;

    /// The number of keys of a leaf without decoding it; `None` for a branch.
    fn leaf_len(&self, page: &[u8], keys: KeyBytes) -> Result<Option<usize>, Fault>;

    /// Appends the records of a leaf without looking at its keys. `false` for a branch, and where a format has no way to do
    /// that: decode the page.
    fn leaf_records(&self, _page: &[u8], _records: &mut Vec<u32>) -> Result<bool, Fault> {
        Ok(false)
    }

    /// The free page behind a free page; 0 for none.
    fn next_free(&self, page: &[u8]) -> Option<u32>;
}

/// How a format writes its pages and counts its changes.
///
/// How much of a leaf an entry takes depends on the key before it: on the page where branches only copy keys, in the whole
/// order where they hold entries. It is asked for one entry at a time, so that a change costs no second look at the page.
pub(crate) trait PageWriter: PageFormat {
    /// How much a leaf takes, in the unit of [`PageWriter::entry_len`].
    fn leaf_room(&self) -> usize;

    /// How much of a leaf an entry takes without its record.
    fn entry_len(&self, keys: KeyBytes, before: Option<&[u8]>, key: &[u8]) -> usize;

    /// How much of a leaf the record of each entry takes when the highest one is `recno_max`.
    fn recno_len(&self, keys: KeyBytes, recno_max: u32) -> usize;

    /// The most keys of a branch.
    fn branch_room(&self, keys: KeyBytes) -> usize;

    /// Writes a page that fits into zeros. `before` is the key before its first one in the order.
    fn encode(&self, node: &Node, keys: KeyBytes, is_root: bool, before: Option<&[u8]>, page: &mut [u8]);

    /// Writes a free page into zeros; `next` is the free page behind it as the file writes it.
    fn encode_free(&self, next: u32, page: &mut [u8]);

    /// Where the root of the order whose header is at `header` is written.
    fn root_at(&self, header: u64) -> u64;

    /// How many bytes at the head of the file's header change with its pages.
    fn counters_len(&self) -> usize {
        16
    }

    /// Whether the head of the header tells that another program has changed the file.
    fn counts_changes(&self) -> bool {
        true
    }

    /// Whether pages that are free are listed in the file. Elsewhere they are used again by who has freed them.
    fn lists_free_pages(&self) -> bool {
        true
    }

    /// How many bytes at the head of a tag's header change with its tree beside the root; 0 for none.
    fn tag_counters_len(&self) -> usize {
        0
    }

    /// Counts a change in the head of a tag's header.
    fn count_tag_change(&self, _change: TagChange, _header: &mut [u8]) {}

    /// What the head of the file's header says of its pages.
    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault>;

    /// Writes the counters into the head of the file's header, and counts a change where the format has a counter and
    /// Harbour would count: `is_shared` says that others have the file open.
    fn write_counters(&self, counters: Counters, is_shared: bool, header: &mut [u8]);
}

/// No format has its counters behind so many bytes at the head of a file's header.
pub(crate) const COUNTERS_LEN: usize = 48;

/// What has happened to the tree of a tag since its header was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TagChange {
    /// How many pages the tree has got, whether it has them still or not.
    pub(crate) pages: u32,
    /// The last of them.
    pub(crate) last: u32,
}

/// What the head of a file's header says of its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    /// The first free page as the file writes it; 0 or all ones for none.
    pub(crate) first_free: u32,
    /// The page behind the last one, where the header says it.
    pub(crate) end: Option<u32>,
}

/// What a page's decoder has to know of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyBytes {
    /// The length of every key, not 0.
    pub(crate) len: usize,
    /// The byte that is left out at a key's end.
    pub(crate) trail: u8,
    /// How the file has them.
    pub(crate) form: KeyForm,
}

impl KeyBytes {
    /// Keys that the file has as they are.
    pub(crate) fn plain(len: usize, trail: u8) -> Self {
        Self {
            len,
            trail,
            form: KeyForm::Plain,
        }
    }

    /// How many bytes a key has in the file.
    pub(crate) fn stored_len(self) -> usize {
        match self.form {
            KeyForm::Plain => self.len,
            KeyForm::Double => NUMBER,
            KeyForm::Decimal => DECIMAL_LEN,
        }
    }
}

/// How a file has the keys of an order, whose length and order are those of the keys in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum KeyForm {
    /// As they are.
    #[default]
    Plain,
    /// Little-endian doubles (NDX, dates of MDX); in memory doubles whose bytes sort.
    Double,
    /// Decimals of 12 bytes (numbers of MDX); in memory doubles whose bytes sort.
    Decimal,
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

/// Writes bytes into a page; what does not fit is left out whole.
pub(crate) fn put(page: &mut [u8], at: usize, new: &[u8]) {
    if let Some(place) = page.get_mut(at..at + new.len()) {
        place.copy_from_slice(new);
    }
}

/// Writes a number within a page, less than 65536.
pub(crate) fn put_u16(page: &mut [u8], at: usize, number: usize) {
    put(page, at, &(number as u16).to_le_bytes());
}

pub(crate) fn put_u32(page: &mut [u8], at: usize, number: u32) {
    put(page, at, &number.to_le_bytes());
}

/// How many bytes two keys have in common at their beginning.
pub(crate) fn shared_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The length of a key without the bytes that are left out at its end.
pub(crate) fn own_len(key: &[u8], trail: u8) -> usize {
    key.len() - key.iter().rev().take_while(|byte| **byte == trail).count()
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

    #[test]
    fn entries_move_as_in_a_list() {
        let mut node = Node::new(2, 0);
        for (slot, key, recno) in [(0, b"bb", 2), (0, b"aa", 1), (2, b"dd", 4), (2, b"cc", 3)] {
            node.insert(slot, key, recno);
        }
        assert_eq!(node.keys().collect::<Vec<_>>(), [b"aa", b"bb", b"cc", b"dd"]);
        node.remove(1);
        node.remove(7);
        node.replace(0, b"ab", 9);
        let right = node.split_off(1);
        assert_eq!((node.key(0), node.recno(0), node.len()), (&b"ab"[..], 9, 1));
        assert_eq!((right.key(1), right.recno_max(), right.len()), (&b"dd"[..], 4, 2));
        node.append(&right);
        assert_eq!(node.keys().collect::<Vec<_>>(), [b"ab", b"cc", b"dd"]);
    }
}
