//! Records that somebody is still filling.

use std::sync::Arc;

use super::{FileLocks, LockRange, LockScheme};
use crate::Table;
use crate::error::Result;
use crate::regular_file;

impl Table {
    /// How many of the records are filled, as far as locks tell: those before the first one behind `from` that somebody else has
    /// locked. Programs that share a table append a blank record, and keep it locked until they have filled it.
    ///
    /// Locks of every [`LockScheme`] are looked for, and none is taken.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn filled_records(&self, from: u32) -> Result<u32> {
        let count = self.record_count();
        if from >= count {
            return Ok(count);
        }
        let file = regular_file::open_to_read(self.path())?;
        let locks = FileLocks::new(Arc::new(file), self.path())?;
        let mut filled = count;
        for scheme in LockScheme::ALL {
            let places = scheme.table(self.header());
            let is_held = |first: u32, last: u32| {
                let (one, other) = (places.record(first), places.record(last));
                locks.is_held(LockRange {
                    start: one.start.min(other.start),
                    end: one.end.max(other.end),
                })
            };
            let mut first = from + 1;
            if first > filled || !is_held(first, filled)? {
                continue;
            }
            let mut last = filled;
            while first < last {
                let middle = first + (last - first) / 2;
                match is_held(first, middle)? {
                    true => last = middle,
                    false => first = middle + 1,
                }
            }
            filled = first - 1;
        }
        Ok(filled)
    }
}
