//! The records of an order, page by page and without their keys.
//!
//! A filter wants the set of records between two keys, and to walk a set in an order it wants the place of each record: both
//! take whole pages. The order is the tree's own; who walks an order backwards turns the sequence around.

use std::cmp::Ordering;

use crate::error::Result;
use crate::stamp::FileMemo;

use super::key::Key;
use super::order::Order;
use super::page_run::PageRun;
use super::page_set::PageSet;
use super::tree::{Tree, TreePath};

/// One end of a range of keys.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// Every key that begins so is equal to it.
    pub(crate) key: Key,
    /// Whether keys that are equal belong to the range.
    pub(crate) is_included: bool,
}

/// The records of an order one behind the other, and where in it each one is.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// Record numbers, from the first entry of the order to the last.
    records: Box<[u32]>,
    /// For record n the place in `records`, at n - 1; [`NOWHERE`] for records that the order has not.
    places: Box<[u32]>,
    has_repeats: bool,
}

const NOWHERE: u32 = u32::MAX;

impl Sequence {
    /// Reads the order once. A record that has several entries counts where the last of them is.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded, and for a record number above
    /// `record_count`.
    pub(crate) fn read(order: &Order, record_count: u32) -> Result<Self> {
        let mut records = Vec::with_capacity(record_count as usize);
        order.visit_records(None, None, record_count, |page| records.extend_from_slice(page))?;
        if order.walks_back {
            records.reverse();
        }
        let mut places = vec![NOWHERE; record_count as usize];
        for (place, recno) in (0..NOWHERE).zip(&records) {
            if let Some(slot) = recno.checked_sub(1).and_then(|index| places.get_mut(index as usize)) {
                *slot = place;
            }
        }
        let placed = places.iter().filter(|place| **place != NOWHERE).count();
        Ok(Self {
            has_repeats: placed != records.len(),
            records: records.into(),
            places: places.into(),
        })
    }

    /// Whether a record has several entries.
    pub(crate) fn has_repeats(&self) -> bool {
        self.has_repeats
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(NOWHERE)
    }

    /// The record at a place that counts from 0.
    pub(crate) fn record(&self, place: u32) -> Option<u32> {
        self.records.get(place as usize).copied()
    }

    /// The place of a record, from 0; `None` where the order has not got it.
    pub(crate) fn place(&self, recno: u32) -> Option<u32> {
        let place = self.places.get(recno.checked_sub(1)? as usize)?;
        (*place != NOWHERE).then_some(*place)
    }
}

/// Whether trees, by their roots, have each of so many records once.
static HAS_EACH: FileMemo<(u32, u32), bool> = FileMemo::new(64);

impl Order {
    /// Whether the order is one of all of so many records: each has one entry in it, and no other record has one. Orders with a
    /// condition, unique and custom ones are not made to be that. A candidate index is looked through, once for a state of its
    /// file: it need not have entries of deleted records, and of those whose key another one has.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded.
    pub fn has_each(&self, records: u32) -> Result<bool> {
        match self.each.get() {
            Some((asked, has_each)) if *asked == records || *has_each => return Ok(*asked == records && *has_each),
            _ => {}
        }
        let (path, stamp, key) = (
            self.tree.source.path(),
            self.tree.source.stamp(),
            (self.tree.root, records),
        );
        let known = stamp.as_ref().and_then(|stamp| HAS_EACH.get(path, stamp, &key));
        let has_each = match known {
            Some(known) => known,
            None => {
                let has_each = self.look_for_each(records)?;
                if let Some(stamp) = &stamp {
                    HAS_EACH.put(path, stamp, key, has_each);
                }
                has_each
            }
        };
        self.each.get_or_init(|| (records, has_each));
        Ok(has_each)
    }

    fn look_for_each(&self, records: u32) -> Result<bool> {
        let mut seen = vec![0_u64; (records as usize).div_ceil(64)];
        let (mut entries, mut are_new) = (0_u64, true);
        self.visit_records(None, None, NOWHERE, |page| {
            entries += page.len() as u64;
            for recno in page {
                let place = recno.wrapping_sub(1);
                let (at, bit) = (place / 64, 1 << (place % 64));
                match seen
                    .get_mut(at as usize)
                    .filter(|word| **word & bit == 0 && *recno <= records)
                {
                    Some(word) => *word |= bit,
                    None => are_new = false,
                }
            }
        })?;
        Ok(are_new && entries == u64::from(records))
    }

    /// The records whose keys lie between two bounds, in the order of the tree, a page at a time.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded, and for a record number that is 0 or above
    /// `record_count`.
    pub(crate) fn visit_records(
        &self,
        low: Option<&Bound>,
        high: Option<&Bound>,
        record_count: u32,
        mut visit: impl FnMut(&[u32]),
    ) -> Result<()> {
        let tree = &self.tree;
        // Bounds are in the order of the values.
        let (first, last) = if tree.order.is_reversed() {
            (high, low)
        } else {
            (low, high)
        };
        let is_outside = |bound: Option<&Bound>, outside: Ordering, stored: &[u8]| {
            bound.is_some_and(|bound| {
                let order = tree.order.probe(&bound.key, stored);
                order == outside || (order.is_eq() && !bound.is_included)
            })
        };
        let is_before = |stored: &[u8]| is_outside(first, Ordering::Greater, stored);
        let is_behind = |stored: &[u8]| is_outside(last, Ordering::Less, stored);
        let mut visit = |page: u32, records: &[u32]| {
            // One comparison for 0 and for those above: 0 wraps around.
            if records.iter().any(|recno| recno.wrapping_sub(1) >= record_count) {
                let found = records.iter().find(|recno| recno.wrapping_sub(1) >= record_count);
                let found = found.map_or_else(String::new, u32::to_string);
                let expected = format!("1 to {record_count}");
                return Err(tree.corrupt("record number", tree.offset(page), expected, found));
            }
            visit(records);
            Ok(())
        };
        let mut path = TreePath::default();
        let mut found = path.seek(tree, |stored, _| is_before(stored))?;
        if !tree.format.branches_hold_entries() {
            return visit_leaves(tree, path, is_behind, visit);
        }
        while found {
            let Some(step) = path.entry() else { break };
            let node = &step.node;
            // A branch's own entry stands alone between the pages below it.
            let from = step.slot;
            let whole = if node.is_leaf() { node.len() } else { from + 1 };
            let end = match is_behind(node.key(whole.saturating_sub(1))) {
                false => whole,
                true => node.partition(|stored, _| !is_behind(stored)).clamp(from, whole),
            };
            visit(step.page, node.records().get(from..end).unwrap_or_default())?;
            if end < whole {
                break;
            }
            path.set_slot(whole - 1);
            found = path.next(tree)?;
        }
        Ok(())
    }
}

/// The records from a path's entry on, as long as their keys are not behind the range. Of a leaf that lies within it only the
/// records are decoded: the branch above says that no key of the leaf comes behind its own, and a key that does not belong
/// there is for the checker to find.
fn visit_leaves(
    tree: &Tree,
    mut path: TreePath,
    is_behind: impl Fn(&[u8]) -> bool,
    mut visit: impl FnMut(u32, &[u32]) -> Result<()>,
) -> Result<()> {
    let (mut pages, mut records, mut reached) = (PageRun::new(), Vec::new(), PageSet::new(tree));
    while let Some(step) = path.entry() {
        let (node, from) = (&step.node, step.slot);
        let end = node.partition(|stored, _| !is_behind(stored)).max(from);
        reached.reach(tree, step.page)?;
        visit(step.page, node.records().get(from..end).unwrap_or_default())?;
        if end < node.len() {
            return Ok(());
        }
        path.leave_page();
        let mut next = path.next_below();
        while let Some(page) = next {
            let is_within = path
                .entry()
                .is_some_and(|above| above.slot < above.node.len() && !is_behind(above.node.key(above.slot)));
            if is_within {
                records.clear();
                let bytes = pages.read(tree, page)?;
                let read = tree.format.leaf_records(bytes, &mut records);
                if read.map_err(|fault| fault.into_error(tree.source.path(), tree.offset(page)))? {
                    reached.reach(tree, page)?;
                    visit(page, &records)?;
                    next = path.next_below();
                    continue;
                }
            }
            let node = &path.enter(tree, page)?.node;
            next = node.children.first().copied();
        }
    }
    Ok(())
}
