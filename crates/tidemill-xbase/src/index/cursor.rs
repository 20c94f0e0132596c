//! A place in an order: moves, seeks, scopes, and the numbers of entries.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::Result;

use super::key::Key;
use super::order::{Direction, End, Entry, Order};
use super::tree::TreePath;

/// A place in an order: at an entry, before the first or behind the last of its scope.
///
/// Every move says whether it ends at an entry. A move that fails leaves the cursor behind the last entry.
#[derive(Debug, Clone)]
pub struct Cursor {
    order: Arc<Order>,
    path: TreePath,
    /// Where the cursor is when the path leads to nothing.
    outside: Outside,
    top: Option<Key>,
    bottom: Option<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    Before,
    Behind,
}

impl Cursor {
    pub(super) fn new(order: Arc<Order>) -> Self {
        Self {
            order,
            path: TreePath::default(),
            outside: Outside::Before,
            top: None,
            bottom: None,
        }
    }

    /// The order that the cursor moves in.
    pub fn order(&self) -> &Arc<Order> {
        &self.order
    }

    /// The key at the cursor, as it is stored.
    pub fn key(&self) -> Option<&[u8]> {
        self.path.entry().map(|step| step.node.key(step.slot))
    }

    /// The record at the cursor, counted from 1.
    pub fn recno(&self) -> Option<u32> {
        self.path.entry().map(|step| step.node.recno(step.slot))
    }

    /// Key and record at the cursor.
    pub fn entry(&self) -> Option<Entry> {
        self.path
            .entry()
            .map(|step| Entry::new(Arc::clone(&step.node), step.slot))
    }

    /// Whether the cursor is behind the last entry.
    pub fn is_behind(&self) -> bool {
        self.path.entry().is_none() && self.outside == Outside::Behind
    }

    /// Limits the order to the entries from `top` to `bottom`, both included: an entry that begins with the bytes of a
    /// bound is within. Bounds are in the order's own direction; `None` and a bound without bytes are no limit. The cursor
    /// then is before the first entry.
    pub fn set_scope(&mut self, top: Option<Key>, bottom: Option<Key>) {
        let limit = |key: Option<Key>| key.filter(|key| !key.as_bytes().is_empty());
        self.top = limit(top);
        self.bottom = limit(bottom);
        self.leave(Outside::Before);
    }

    /// The bounds of the scope.
    pub fn scope(&self) -> (Option<&Key>, Option<&Key>) {
        (self.top.as_ref(), self.bottom.as_ref())
    }

    /// Goes to the first entry of the scope.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) and [`Error::Corrupt`](crate::Error::Corrupt) with file and page, as every move.
    pub fn go_first(&mut self) -> Result<bool> {
        self.path.allow_all_pages();
        self.enter_first()
    }

    /// Goes to the last entry of the scope.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn go_last(&mut self) -> Result<bool> {
        self.path.allow_all_pages();
        self.enter_last()
    }

    /// Goes to the next entry; from before the first to that one.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn go_next(&mut self) -> Result<bool> {
        self.path.allow_all_pages();
        self.step(Direction::Forward)
    }

    /// Goes to the entry before; from behind the last to that one.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn go_previous(&mut self) -> Result<bool> {
        self.path.allow_all_pages();
        self.step(Direction::Backward)
    }

    /// Goes `count` entries on, or back when it is negative, as far as there are any; returns how many it went. When there
    /// are fewer, the cursor is before the first or behind the last.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn skip(&mut self, count: i64) -> Result<u64> {
        let direction = if count < 0 {
            Direction::Backward
        } else {
            Direction::Forward
        };
        let mut gone = 0;
        while gone < count.unsigned_abs() {
            self.path.allow_all_pages();
            if !self.step(direction)? {
                break;
            }
            gone += 1;
        }
        Ok(gone)
    }

    /// Goes to the first entry of the next key, or of the key before when backward.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn skip_unique(&mut self, direction: Direction) -> Result<bool> {
        self.path.allow_all_pages();
        let Some(key) = self.key().map(Key::raw) else {
            return self.step(direction);
        };
        if !self.order.is_known() {
            return self.skip_same(direction);
        }
        match direction {
            Direction::Forward => {
                if !self.guarded(|order, path| order.go_key(path, &key, End::Last))? {
                    return Ok(false);
                }
                self.step(Direction::Forward)
            }
            Direction::Backward => {
                if !self.guarded(|order, path| order.go_key(path, &key, End::First))?
                    || !self.step(Direction::Backward)?
                {
                    return Ok(false);
                }
                let Some(before) = self.key().map(Key::raw) else {
                    return Ok(false);
                };
                let found = self.guarded(|order, path| order.go_key(path, &before, End::First))?;
                self.within(found, Outside::Before)
            }
        }
    }

    /// As [`Cursor::skip_unique`], one entry after another.
    fn skip_same(&mut self, direction: Direction) -> Result<bool> {
        let skip = |cursor: &mut Self, key: Option<Vec<u8>>| -> Result<bool> {
            while cursor.step(direction)? {
                cursor.path.allow_all_pages();
                if cursor.key() != key.as_deref() {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let key = self.key().map(<[u8]>::to_vec);
        if !skip(self, key)? || direction == Direction::Forward {
            return Ok(self.path.entry().is_some());
        }
        // Now at the last entry of the key before.
        let before = self.key().map(<[u8]>::to_vec);
        skip(self, before)?;
        self.step(Direction::Forward)
    }

    /// Looks for a key and returns whether it is there; the cursor then is at the first or the last entry that has it.
    ///
    /// When it is not there: a soft seek of the first ends at the first entry behind it in the order, a soft seek of the
    /// last at the last entry before it, as Clipper's and Harbour's do; a hard one, and one that has no such entry, behind
    /// the last entry. In a scope, what lies before it is taken for its first entry.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn seek(&mut self, key: &Key, end: End, is_soft: bool) -> Result<bool> {
        self.path.allow_all_pages();
        let landed = self.guarded(|order, path| order.go_key(path, key, end))?;
        let is_in = match landed {
            true if self.top.is_none() && self.bottom.is_none() => true,
            false => false,
            true if self.compare_bound(self.bottom.as_ref()).is_lt() => false,
            true if self.compare_bound(self.top.as_ref()).is_gt() => self.enter_first()?,
            true => true,
        };
        let is_found = is_in && self.is_at(key);
        if !is_in || (!is_found && !is_soft) {
            self.leave(Outside::Behind);
        }
        Ok(is_found)
    }

    /// Whether the key of its entry begins with this one.
    pub(crate) fn is_at(&self, key: &Key) -> bool {
        self.key().is_some_and(|stored| self.order.probe(key, stored).is_eq())
    }

    /// Goes to the entry of a record and returns whether it is there, given the whole key that the record has in this order.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn seek_record(&mut self, key: &[u8], recno: u32) -> Result<bool> {
        self.path.allow_all_pages();
        if !self.order.is_known() {
            return self.look_for_record(recno);
        }
        let order = Arc::clone(&self.order);
        let sorted = order.tree.format.ties_are_sorted();
        let mut found = self.guarded(|order, path| {
            path.seek(&order.tree, |stored, at| match order.tree.order.compare(stored, key) {
                Ordering::Equal => sorted && at < recno,
                other => other.is_lt(),
            })
        })?;
        while found {
            let Some(step) = self.path.entry() else { break };
            if order.tree.order.compare(step.node.key(step.slot), key).is_ne() {
                break;
            }
            if step.node.recno(step.slot) == recno {
                return self.within(true, Outside::Behind);
            }
            if sorted {
                break;
            }
            found = self.guarded(|order, path| path.next(&order.tree))?;
        }
        self.leave(Outside::Behind);
        Ok(false)
    }

    /// Goes to the entry of a record by a walk through all entries.
    fn look_for_record(&mut self, recno: u32) -> Result<bool> {
        let mut found = self.enter_first()?;
        while found && self.recno() != Some(recno) {
            self.path.allow_all_pages();
            found = self.step(Direction::Forward)?;
        }
        Ok(found)
    }

    /// The number of entries in the scope. The first call of an order reads its tree once.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn key_count(&self) -> Result<u64> {
        let (first, behind) = self.span()?;
        Ok(behind.saturating_sub(first))
    }

    /// The number of the entry at the cursor within the scope, from 1; `None` outside. The first call of an order reads
    /// its tree once, the others cost a step per level.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn key_no(&self) -> Result<Option<u64>> {
        let Some(number) = self.number(&self.path)? else {
            return Ok(None);
        };
        let (first, _) = self.span()?;
        Ok(number.checked_sub(first).map(|number| number + 1))
    }

    /// Goes to the entry of a number within the scope, from 1.
    ///
    /// # Errors
    /// As [`Cursor::go_first`].
    pub fn go_key_no(&mut self, number: u64) -> Result<bool> {
        self.path.allow_all_pages();
        let (first, behind) = self.span()?;
        let wanted = number
            .checked_sub(1)
            .and_then(|number| number.checked_add(first))
            .filter(|number| *number < behind);
        let Some(wanted) = wanted else {
            self.leave(if number == 0 { Outside::Before } else { Outside::Behind });
            return Ok(false);
        };
        let found = self.guarded(|order, path| {
            let positions = order.positions()?;
            let in_tree = if order.walks_back {
                positions.total() - 1 - wanted
            } else {
                wanted
            };
            positions.go(&order.tree, path, in_tree)
        })?;
        self.within(found, Outside::Behind)
    }

    pub(super) fn step(&mut self, direction: Direction) -> Result<bool> {
        if self.path.entry().is_none() {
            return match (direction, self.outside) {
                (Direction::Forward, Outside::Before) => self.enter_first(),
                (Direction::Backward, Outside::Behind) => self.enter_last(),
                (Direction::Forward, Outside::Behind) | (Direction::Backward, Outside::Before) => Ok(false),
            };
        }
        let outside = match direction {
            Direction::Forward => Outside::Behind,
            Direction::Backward => Outside::Before,
        };
        let found = self.guarded(|order, path| order.step(path, direction))?;
        self.within(found, outside)
    }

    /// Goes to where a walk in a direction begins; from there on pages are counted.
    pub(super) fn restart(&mut self, direction: Direction) {
        self.path.allow_all_pages();
        self.leave(match direction {
            Direction::Forward => Outside::Before,
            Direction::Backward => Outside::Behind,
        });
    }

    fn enter_first(&mut self) -> Result<bool> {
        let top = self.top.take();
        let found = self.guarded(|order, path| match &top {
            None => order.go_end(path, End::First),
            Some(top) => order.go_key(path, top, End::First),
        });
        self.top = top;
        self.within(found?, Outside::Behind)
    }

    fn enter_last(&mut self) -> Result<bool> {
        let bottom = self.bottom.take();
        let found = self.guarded(|order, path| match &bottom {
            None => order.go_end(path, End::Last),
            Some(bottom) => order.go_key(path, bottom, End::Last),
        });
        self.bottom = bottom;
        self.within(found?, Outside::Behind)
    }

    /// Where a bound stands against the cursor's entry; equal when there is no bound.
    fn compare_bound(&self, bound: Option<&Key>) -> Ordering {
        match (bound, self.key()) {
            (Some(bound), Some(key)) => self.order.probe(bound, key),
            _ => Ordering::Equal,
        }
    }

    /// Ends a move: what lies outside the scope is left.
    fn within(&mut self, found: bool, outside: Outside) -> Result<bool> {
        if found && self.compare_bound(self.bottom.as_ref()).is_lt() {
            self.leave(Outside::Behind);
        } else if found && self.compare_bound(self.top.as_ref()).is_gt() {
            self.leave(Outside::Before);
        } else if !found {
            self.leave(outside);
        }
        Ok(self.path.entry().is_some())
    }

    fn leave(&mut self, outside: Outside) {
        self.path.clear();
        self.outside = outside;
    }

    /// A move of the path that ends behind the last entry when it fails.
    fn guarded(&mut self, go: impl FnOnce(&Order, &mut TreePath) -> Result<bool>) -> Result<bool> {
        let result = go(&self.order, &mut self.path);
        if !matches!(result, Ok(true)) {
            self.leave(Outside::Behind);
        }
        result
    }

    /// The number of a path's entry in the order, from 0.
    fn number(&self, path: &TreePath) -> Result<Option<u64>> {
        if path.entry().is_none() {
            return Ok(None);
        }
        let positions = self.order.positions()?;
        let number = positions.number(path).and_then(|number| match self.order.walks_back {
            true => positions.total().checked_sub(number + 1),
            false => Some(number),
        });
        if number.is_none() {
            let tree = &self.order.tree;
            let offset = path.entry().map_or(0, |step| tree.offset(step.page));
            return Err(tree.corrupt("index page", offset, "a page that was counted", "another"));
        }
        Ok(number)
    }

    /// The numbers of the scope's first entry and of the one behind its last.
    fn span(&self) -> Result<(u64, u64)> {
        let total = self.order.positions()?.total();
        let edge = |bound: &Key, end| -> Result<Option<u64>> {
            let mut path = TreePath::default();
            self.order.go_key(&mut path, bound, end)?;
            self.number(&path)
        };
        let first = match &self.top {
            None => 0,
            Some(top) => edge(top, End::First)?.unwrap_or(total),
        };
        let behind = match &self.bottom {
            None => total,
            Some(bottom) => edge(bottom, End::Last)?.map_or(0, |last| last + 1),
        };
        Ok((first, behind))
    }
}
