//! The checker: every page of every order, and no stop at the first fault.
//!
//! What it finds are values with file and page. It compares an index with itself and with the number of records; whether
//! each record has the key that its fields give is for who can evaluate expressions.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::key::KeyEncoding;
use super::key_order::KeyOrder;
use super::order::Order;
use super::page::{KeyBytes, NO_PAGE, Node};
use super::tag::Tag;
use super::tree::{DEPTH_MAX, Tree};
use super::{Index, IndexDialect};

/// Something wrong with an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// The offset of the page in the file.
    pub page: u64,
    /// The order; `None` for the directory of orders, the free pages and the file as a whole.
    pub tag: Option<String>,
    /// What is wrong there.
    pub what: IndexFault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, page at {}: ", self.path.display(), self.page)?;
        if let Some(tag) = &self.tag {
            write!(f, "index tag {tag}: ")?;
        }
        self.what.fmt(f)
    }
}

impl Finding {
    /// Whether it is no damage: FoxPro's DELETE TAG leaves the pages of the order behind, which nothing reaches any more.
    pub fn is_note(&self) -> bool {
        matches!(self.what, IndexFault::Unreachable { .. })
    }

    /// Whether this is a key that differs from the table, in a tag that may otherwise be sound. [`OutOfDate`](super::OutOfDate) sums up the
    /// findings of a tag.
    pub fn is_out_of_date(&self) -> bool {
        use IndexFault as F;
        match self.what {
            F::NoSuchRecord { recno, .. } => recno > 0,
            F::RepeatedRecord { .. }
            | F::WrongKey { .. }
            | F::MissingKeys { .. }
            | F::MissingWord { .. }
            | F::SurplusWord { .. } => true,
            _ => false,
        }
    }

    /// The first record of the finding.
    pub(super) fn first_record(&self) -> Option<u32> {
        match self.what {
            IndexFault::MissingWord { recno, .. } | IndexFault::SurplusWord { recno, .. } => Some(recno),
            _ => self.records().map(|(first, _)| first),
        }
    }

    /// The first and the last record that it is about, where it is about records.
    pub fn records(&self) -> Option<(u32, u32)> {
        use IndexFault as F;
        match self.what {
            F::OutOfOrder { recno, .. }
            | F::RepeatedKey { recno, .. }
            | F::RepeatedRecord { recno }
            | F::NoSuchRecord { recno, .. }
            | F::WrongKey { recno, .. } => Some((recno, recno)),
            F::MissingKeys { first, last, .. } => Some((first, last)),
            _ => None,
        }
    }

    /// Whether it is not known if the order is sound, as far as this goes.
    pub fn is_unknown(&self) -> bool {
        use IndexFault::{Bitmap, UnknownCollation, UnknownExpression, UnknownLetters};
        matches!(
            self.what,
            UnknownCollation { .. } | UnknownExpression { .. } | Bitmap | UnknownLetters { .. }
        )
    }
}

/// What can be wrong with a page of an index. Keys are shown with their odd bytes escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexFault {
    /// The page cannot be read or decoded.
    #[error("{0}")]
    Unreadable(String),
    /// The page is reached a second time: the tree runs in circles, or two trees share it.
    #[error("the page is reached twice")]
    ReachedTwice,
    /// The page lies deeper than any tree is.
    #[error("the page is deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// A leaf that is not on the level of the first one.
    #[error("a leaf on level {found}, not {expected}")]
    UnevenLeaves {
        /// The level of the first leaf.
        expected: usize,
        /// The level of this one.
        found: usize,
    },
    /// An entry that does not come behind the one before it.
    #[error("key \"{key}\" of record {recno} follows \"{before}\" of record {before_recno}, out of order")]
    OutOfOrder {
        /// The key.
        key: String,
        /// Its record.
        recno: u32,
        /// The key before it.
        before: String,
        /// The record before it.
        before_recno: u32,
    },
    /// An order of unique keys has a key twice.
    #[error("key \"{key}\" exists more than once, also for record {recno}")]
    RepeatedKey {
        /// The key.
        key: String,
        /// The record that has it again.
        recno: u32,
    },
    /// A record is in the order twice.
    #[error("record {recno} has more than one key")]
    RepeatedRecord {
        /// The record.
        recno: u32,
    },
    /// A record that the table does not have.
    #[error("a key of record {recno}, but the table has {records} records")]
    NoSuchRecord {
        /// The record.
        recno: u32,
        /// The table's last record; the largest number where it is not known.
        records: u32,
    },
    /// The key of a branch is not the last one below it.
    #[error("key \"{key}\" of record {recno} is not the last one of the page at {below}")]
    WrongBranchKey {
        /// The key.
        key: String,
        /// Its record.
        recno: u32,
        /// The page below.
        below: u64,
    },
    /// A page has a key that belongs to the right of it, as the branch above says.
    #[error(
        "key \"{key}\" of record {recno} on the page at {below} is greater than the key of that page in the branch"
    )]
    BehindBranchKey {
        /// The key.
        key: String,
        /// Its record.
        recno: u32,
        /// The page.
        below: u64,
    },
    /// A page has a key that belongs to the left of it, or of its own keys.
    #[error("key \"{key}\" follows \"{before}\" of a branch, out of order")]
    BeforeBranchKey {
        /// The key.
        key: String,
        /// The key of the branch.
        before: String,
    },
    /// An entry whose record has another key, or is not in the order.
    #[error("the index has key \"{key}\" for record {recno}, which {}", belongs(expected.as_deref()))]
    WrongKey {
        /// The record.
        recno: u32,
        /// The key in the file.
        key: String,
        /// The key that its fields give; `None` where the FOR expression leaves the record out.
        expected: Option<String>,
    },
    /// Records that are not in the order: those from `first` to `last` that the FOR expression chooses.
    #[error("{}", no_keys(*first, *last, *count))]
    MissingKeys {
        /// The first of them.
        first: u32,
        /// The last of them.
        last: u32,
        /// How many they are: others between them may be left out.
        count: u32,
    },
    /// An index of words lacks one that is in the text of a record.
    #[error("no entry of the word \"{word}\" for record {recno}")]
    MissingWord {
        /// The record.
        recno: u32,
        /// The word, as the index would have it.
        word: String,
    },
    /// An index of words has one that is not in the text of its record.
    #[error("the word \"{word}\" for record {recno}, which does not have it")]
    SurplusWord {
        /// The record.
        recno: u32,
        /// The word in the file.
        word: String,
    },
    /// A page names another neighbour than the tree has.
    #[error("the page names {found} as its {side} neighbour, and has {expected}")]
    WrongNeighbour {
        /// `left` or `right`.
        side: &'static str,
        /// The neighbour's offset in the tree; `None` at the edge.
        expected: String,
        /// The neighbour that the page names.
        found: String,
    },
    /// Nobody knows how the texts of the order are sorted: its entries were not compared with one another, or not with the records.
    #[error("collation not known{}: the pages were checked, but the keys were not compared", shown_name(collation.as_deref()))]
    UnknownCollation {
        /// The name of the collation, where the file has one.
        collation: Option<String>,
    },
    /// The expressions of the order are not understood: its pages were checked, and its keys were not compared.
    #[error("keys cannot be made ({why}): the pages were checked, but the keys were not compared")]
    UnknownExpression {
        /// What is wrong with them, for a person.
        why: String,
    },
    /// A BINARY index of Visual FoxPro, which has no keys.
    #[error("a BINARY index; its bits were not compared with the records")]
    Bitmap,
    /// Keys that cannot be compared with those of the records: they differ in letters that nobody knows.
    #[error(
        "the code page of the keys is not known: {count} keys differ from their records in letters only, first that of record {recno}"
    )]
    UnknownLetters {
        /// How many.
        count: u64,
        /// The first of these records.
        recno: u32,
    },
    /// Pages that no order and no list of free pages reaches.
    #[error("{pages} pages from here on are unreachable")]
    Unreachable {
        /// How many.
        pages: u64,
    },
}

impl Index {
    /// Checks every page of the file: pages that cannot be decoded, keys out of order, records that are there twice or that
    /// a table of `record_count` records does not have, circles, wrong links, and pages that nothing reaches. A sound file
    /// gives an empty list.
    ///
    /// The keys of tags that `orders` does not have are not compared, since their type and collation are not known.
    ///
    /// # Errors
    /// [`Error::Misuse`] for an order of another file. Whatever is wrong with the file is in the list.
    pub fn verify(&self, orders: &[Arc<Order>], record_count: Option<u32>) -> Result<Vec<Finding>> {
        if let Some(stranger) = orders
            .iter()
            .find(|order| !Arc::ptr_eq(&order.tree.source, &self.source))
        {
            let path = self.path().display();
            return Err(Error::Misuse(format!("{stranger} is not an order of {path}")));
        }
        let mut check = Check {
            index: self,
            findings: Vec::new(),
            reached: HashSet::new(),
        };
        for tag in &self.tags {
            match orders.iter().find(|order| order.tag() == tag) {
                _ if tag.is_bitmap => {
                    check.add(tag.header, Some(tag), IndexFault::Bitmap);
                    check.reached.insert(u64::from(tag.root) * self.format.page_unit());
                }
                Some(order) => {
                    // Of others the reason is not known here.
                    if !order.is_known() && order.codec.encoding != KeyEncoding::Unknown {
                        let collation = tag.collation.clone();
                        check.add(tag.header, Some(tag), IndexFault::UnknownCollation { collation });
                    }
                    let keys = Some(&order.tree.order).filter(|order| order.is_known());
                    check.tree(&order.tree, Some(tag), keys, record_count);
                }
                None => check.tree(
                    &self.tree(
                        tag.root,
                        KeyBytes {
                            form: tag.form,
                            ..KeyBytes::plain(tag.key_len, 0)
                        },
                        KeyOrder::by_bytes(),
                    ),
                    Some(tag),
                    None,
                    record_count,
                ),
            }
        }
        if let Some(directory) = &self.directory {
            check.tree(directory, None, None, None);
        }
        check.free_pages();
        check.unreachable();
        Ok(check.findings)
    }
}

/// A file in which everything is wrong gives no longer list.
pub(crate) const FINDINGS_MAX: usize = 10_000;

/// The keys of branches before and behind what lies below them.
type Bounds<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

struct Check<'a> {
    index: &'a Index,
    findings: Vec<Finding>,
    /// Offsets of pages.
    reached: HashSet<u64>,
}

/// One tree while it is checked.
struct TreeCheck<'a> {
    tree: &'a Tree,
    tag: Option<&'a Tag>,
    keys: Option<&'a KeyOrder>,
    /// The last record that there can be; the directory's "records" are offsets.
    records: Option<u32>,
    recnos: HashSet<u32>,
    last: Option<(Vec<u8>, u32)>,
    leaf_level: Option<usize>,
    /// The last page of each level: its offset and its right neighbour.
    edges: Vec<Option<(u64, u32)>>,
}

impl Check<'_> {
    fn tree(&mut self, tree: &Tree, tag: Option<&Tag>, keys: Option<&KeyOrder>, record_count: Option<u32>) {
        let mut state = TreeCheck {
            tree,
            tag,
            keys,
            records: tag.map(|_| record_count.unwrap_or(u32::MAX)),
            recnos: HashSet::new(),
            last: None,
            leaf_level: None,
            edges: Vec::new(),
        };
        self.visit(&mut state, tree.root, (None, None), 0);
        for (offset, right) in state.edges.into_iter().flatten() {
            self.neighbour(tree, tag, offset, "right", None, right);
        }
    }

    /// Checks a page and everything below it. Returns its last key, unless it cannot be read.
    fn visit(
        &mut self,
        state: &mut TreeCheck<'_>,
        page: u32,
        (before, behind): Bounds<'_>,
        level: usize,
    ) -> Option<(Vec<u8>, u32)> {
        let (tree, tag) = (state.tree, state.tag);
        let offset = tree.offset(page);
        if !self.reached.insert(offset) {
            self.add(offset, tag, IndexFault::ReachedTwice);
            return None;
        }
        if level >= DEPTH_MAX {
            self.add(offset, tag, IndexFault::TooDeep);
            return None;
        }
        let node = match tree.load(page, before) {
            Ok(node) => node,
            Err(e) => {
                self.add(offset, tag, unreadable(&e));
                state.last = None;
                state.edges.iter_mut().skip(level).for_each(|edge| *edge = None);
                return None;
            }
        };
        self.neighbours(state, &node, offset, level);
        let parts = !tree.format.branches_hold_entries() && !tree.format.branches_copy_entries();
        if parts {
            self.between(state, &node, offset, (before, behind));
        }
        if node.is_leaf() {
            let expected = *state.leaf_level.get_or_insert(level);
            if expected != level {
                self.add(offset, tag, IndexFault::UnevenLeaves { expected, found: level });
            }
            for slot in 0..node.len() {
                self.entry(state, offset, node.key(slot), node.recno(slot));
            }
        } else if tree.format.branches_hold_entries() {
            for (slot, child) in node.children.iter().copied().enumerate() {
                let before = slot.checked_sub(1).map(|slot| node.key(slot)).or(before);
                self.visit(state, child, (before, None), level + 1);
                if slot < node.len() {
                    self.entry(state, offset, node.key(slot), node.recno(slot));
                }
            }
        } else if parts {
            let mut last = None;
            for (slot, child) in node.children.iter().copied().enumerate() {
                let before = slot.checked_sub(1).map(|slot| node.key(slot)).or(before);
                let behind = if slot < node.len() {
                    Some(node.key(slot))
                } else {
                    behind
                };
                last = self.visit(state, child, (before, behind), level + 1);
                if let (Some((key, recno)), Some(order), true) = (&last, state.keys, slot < node.len())
                    && order.compare(key, node.key(slot)).is_gt()
                {
                    let (key, recno, below) = (shown(key), *recno, tree.offset(child));
                    self.add(offset, tag, IndexFault::BehindBranchKey { key, recno, below });
                }
            }
            return last;
        } else {
            for (slot, child) in node.children.iter().copied().enumerate() {
                let below = self.visit(state, child, (None, None), level + 1);
                let (key, recno) = (node.key(slot), node.recno(slot));
                // Without the type of the keys it is not known how those of the leaf end.
                let is_last = |below: (Vec<u8>, u32)| below.1 == recno && (state.keys.is_none() || below.0 == key);
                if !below.is_none_or(is_last) {
                    let (key, below) = (shown(key), tree.offset(child));
                    self.add(offset, tag, IndexFault::WrongBranchKey { key, recno, below });
                }
            }
        }
        let last = node.len().checked_sub(1)?;
        Some((node.key(last).to_vec(), node.recno(last)))
    }

    /// Looks at the keys of a page below branches that only part pages: the first is not before the key of the branch above, and
    /// a branch has its own in order and up to that.
    fn between(&mut self, state: &TreeCheck<'_>, node: &Node, offset: u64, (before, behind): Bounds<'_>) {
        let Some(order) = state.keys else { return };
        // Those of a leaf are looked at with the entries, and its last one with the branch.
        let (own, behind) = match node.is_leaf() {
            true => (0..node.len().min(1), None),
            false => (0..node.len(), behind),
        };
        let keys = before.into_iter().chain(own.map(|slot| node.key(slot))).chain(behind);
        let keys: Vec<&[u8]> = keys.collect();
        let wrong = keys
            .array_windows()
            .find(|[low, high]| order.compare(low, high).is_gt());
        if let Some([before, key]) = wrong {
            let (key, before) = (shown(key), shown(before));
            self.add(offset, state.tag, IndexFault::BeforeBranchKey { key, before });
        }
    }

    fn entry(&mut self, state: &mut TreeCheck<'_>, offset: u64, key: &[u8], recno: u32) {
        let tag = state.tag;
        if let Some(records) = state.records {
            if recno == 0 || recno > records {
                self.add(offset, tag, IndexFault::NoSuchRecord { recno, records });
            } else if !state.recnos.insert(recno) && tag.is_some_and(|tag| !tag.is_custom && !tag.is_full_text) {
                self.add(offset, tag, IndexFault::RepeatedRecord { recno });
            }
        }
        if let (Some(keys), Some((before, before_recno))) = (state.keys, &state.last) {
            let order = keys.compare(before, key);
            let is_tie_wrong = order.is_eq() && state.tree.format.ties_are_sorted() && *before_recno >= recno;
            if order.is_gt() || is_tie_wrong {
                let (key, before, before_recno) = (shown(key), shown(before), *before_recno);
                self.add(
                    offset,
                    tag,
                    IndexFault::OutOfOrder {
                        key,
                        recno,
                        before,
                        before_recno,
                    },
                );
            } else if order.is_eq() && tag.is_some_and(|tag| tag.is_unique || tag.is_candidate) {
                let key = shown(key);
                self.add(offset, tag, IndexFault::RepeatedKey { key, recno });
            }
        }
        state.last = Some((key.to_vec(), recno));
    }

    fn neighbours(&mut self, state: &mut TreeCheck<'_>, node: &Node, offset: u64, level: usize) {
        let Some([left, right]) = node.siblings else {
            return;
        };
        if state.edges.len() <= level {
            state.edges.resize(level + 1, None);
            self.neighbour(state.tree, state.tag, offset, "left", None, left);
        } else if let Some((before, before_right)) = state.edges.get(level).copied().flatten() {
            self.neighbour(state.tree, state.tag, before, "right", Some(offset), before_right);
            self.neighbour(state.tree, state.tag, offset, "left", Some(before), left);
        }
        if let Some(edge) = state.edges.get_mut(level) {
            *edge = Some((offset, right));
        }
    }

    fn neighbour(
        &mut self,
        tree: &Tree,
        tag: Option<&Tag>,
        page: u64,
        side: &'static str,
        expected: Option<u64>,
        found: u32,
    ) {
        let found = (found != NO_PAGE).then(|| tree.offset(found));
        if found != expected {
            let name = |offset: Option<u64>| offset.map_or("none".to_owned(), |offset| format!("the page at {offset}"));
            let (expected, found) = (name(expected), name(found));
            self.add(page, tag, IndexFault::WrongNeighbour { side, expected, found });
        }
    }

    /// Follows the list of free pages.
    fn free_pages(&mut self) {
        let tree = self.index.tree(0, KeyBytes::plain(1, 0), KeyOrder::by_bytes());
        let mut page = self.index.first_free;
        let mut window = Vec::new();
        while page != 0 && page != NO_PAGE {
            let offset = tree.offset(page);
            if !self.reached.insert(offset) {
                self.add(offset, None, IndexFault::ReachedTwice);
                return;
            }
            match tree.read(page, &mut window) {
                Ok(bytes) => page = tree.format.next_free(bytes).unwrap_or_default(),
                Err(e) => {
                    self.add(offset, None, unreadable(&e));
                    return;
                }
            }
        }
    }

    fn unreachable(&mut self) {
        let page_len = self.index.format.page_len() as u64;
        let headers = self.index.tags.iter().map(|tag| tag.header);
        let headers: BTreeSet<u64> = headers
            .flat_map(|header| (0..self.index.header_len.div_ceil(page_len)).map(move |page| header + page * page_len))
            .collect();
        let is_lost = |offset: &u64| !headers.contains(offset) && !self.reached.contains(offset);
        // Long pages begin at a multiple of their length, and MDX's behind the header, whatever its length is.
        let first = match self.index.dialect {
            IndexDialect::Mdx => self.index.first_page,
            _ => self.index.first_page.next_multiple_of(page_len),
        };
        let pages = self.index.source.len().saturating_sub(first) / page_len;
        let mut lost = (0..pages).map(|page| first + page * page_len).filter(is_lost);
        if let Some(first) = lost.next() {
            let pages = 1 + lost.count() as u64;
            self.add(first, None, IndexFault::Unreachable { pages });
        }
    }

    fn add(&mut self, page: u64, tag: Option<&Tag>, what: IndexFault) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding {
                path: self.index.path().to_owned(),
                page,
                tag: tag.map(|tag| tag.name.clone()),
                what,
            });
        }
    }
}

pub(crate) fn shown(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}

/// The finding says the file already.
pub(crate) fn unreadable(e: &Error) -> IndexFault {
    IndexFault::Unreadable(match e {
        Error::Corrupt(corrupt) => {
            format!(
                "{} at byte {}: expected {}, found {}",
                corrupt.what, corrupt.offset, corrupt.expected, corrupt.found
            )
        }
        other => other.to_string(),
    })
}

fn no_keys(first: u32, last: u32, count: u32) -> String {
    match last - first {
        0 => format!("no key of record {first}"),
        between if between < count => format!("no keys of records {first} to {last}"),
        _ => format!("no keys of {count} records from {first} to {last}"),
    }
}

fn shown_name(collation: Option<&str>) -> String {
    collation.map_or_else(String::new, |name| format!(" ({name})"))
}

fn belongs(expected: Option<&str>) -> String {
    match expected {
        Some(key) => format!("should have \"{key}\""),
        None => "does not meet the FOR condition".to_owned(),
    }
}
