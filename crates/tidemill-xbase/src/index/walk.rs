//! The entries of an order one after the other.

use std::iter::FusedIterator;

use crate::error::Result;

use super::cursor::Cursor;
use super::order::{Direction, Entry};

/// An iterator over the entries of an order, from [`Order::walk`](super::Order::walk) or [`Cursor::walk`]. It ends behind
/// the first error. A file whose tree runs in circles gives an error after as many pages as the file has.
#[derive(Debug)]
pub struct Walk {
    cursor: Cursor,
    direction: Direction,
    is_done: bool,
}

impl Walk {
    pub(super) fn new(cursor: Cursor, direction: Direction) -> Self {
        let mut walk = Self {
            cursor,
            direction,
            is_done: false,
        };
        walk.cursor.restart(direction);
        walk
    }
}

impl Cursor {
    /// The entries of the scope, from its first to its last or back.
    pub fn walk(&self, direction: Direction) -> Walk {
        Walk::new(self.clone(), direction)
    }
}

impl Iterator for Walk {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        match self.cursor.step(self.direction) {
            Ok(true) => self.cursor.entry().map(Ok),
            Ok(false) => {
                self.is_done = true;
                None
            }
            Err(e) => {
                self.is_done = true;
                Some(Err(e))
            }
        }
    }
}

impl FusedIterator for Walk {}
