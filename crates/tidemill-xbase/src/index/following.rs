//! Whether an order has followed its table, by a look at three leaves.
//!
//! Counting the entries of an order reads all of its pages, which is too much for every opening of a table. But a record that
//! was appended without the order has no entry in it, so that looking for the entry of the table's last record tells. Where
//! records went without the order, it has entries of records that are not there any more, and one of them often stands at its
//! ends or beside the last record's.
//!
//! # What this module does not do
//!
//! It does not notice a record in the middle that was changed without the order; the checker does.

use std::cmp::Ordering;

use crate::error::Result;

use super::order::Order;
use super::tree::TreePath;

impl Order {
    /// Whether the order has the entry of the last of `records` records, where `key` is given (a candidate index, an entry of that
    /// key), and whether the first and the last leaf and that of this entry are of records up to it. The keys of the pages on the
    /// way there are in order under the order's collation, or this is an error. `None` where equal keys are in no order, or
    /// nobody knows how keys are sorted, so that all of them would have to be looked at.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) with file and page.
    pub(crate) fn has_followed(&self, records: u32, key: Option<&[u8]>) -> Result<Option<bool>> {
        let tree = &self.tree;
        let mut path = TreePath::default();
        let is_of_records = |path: &TreePath| {
            let node = path.entry().map(|step| &step.node);
            node.is_none_or(|node| node.records().iter().all(|recno| recno.wrapping_sub(1) < records))
        };
        if self.tag().is_bitmap {
            return Ok(Some(true));
        }
        path.first(tree)?;
        let mut has_followed = is_of_records(&path);
        path.last(tree)?;
        has_followed &= is_of_records(&path);
        let Some(key) = key.filter(|_| has_followed) else {
            return Ok(Some(has_followed));
        };
        if !tree.format.ties_are_sorted() || !self.is_known() {
            return Ok(None);
        }
        path.seek(tree, |stored, recno| match tree.order.compare(stored, key) {
            Ordering::Less => true,
            // Of two records with a key a candidate index has one, as long as nobody enforced it.
            Ordering::Equal => recno < records && !self.tag().is_candidate,
            Ordering::Greater => false,
        })?;
        let is_last = path.entry().is_some_and(|step| {
            let is_its = step.node.recno(step.slot) == records || self.tag().is_candidate;
            is_its && step.node.key(step.slot) == key
        });
        Ok(Some(is_last && is_of_records(&path)))
    }
}
