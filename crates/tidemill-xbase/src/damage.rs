//! What was left out because it could not be read: a value, not an error.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A stretch of a table that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The first byte, as an offset in the table's file.
    pub begin: u64,
    /// The byte after the last.
    pub end: u64,
    /// The records concerned, counted from 0; `None` when the header is meant.
    pub records: Option<Range<u32>>,
    /// Why, for a person.
    pub why: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}..{}): {}", self.begin, self.end, self.why)
    }
}

/// Collects damage from several scans: the same bytes are reported once.
#[derive(Debug, Default)]
pub(crate) struct DamageLog {
    found: Mutex<BTreeMap<(u64, u64), Damage>>,
}

impl DamageLog {
    /// A file can hold millions of bad values; after this many the report is long enough.
    const LIMIT: usize = 100_000;

    pub(crate) fn add(&self, damage: Damage) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() < Self::LIMIT {
            found.entry((damage.begin, damage.end)).or_insert(damage);
        }
    }

    pub(crate) fn list(&self) -> Vec<Damage> {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_reported_once_and_in_file_order() {
        let log = DamageLog::default();
        for begin in [40, 10, 40] {
            log.add(Damage {
                begin,
                end: begin + 5,
                records: Some(0..1),
                why: format!("bad {begin}"),
            });
        }
        let list: Vec<_> = log.list().iter().map(ToString::to_string).collect();
        assert_eq!(list, ["[10..15): bad 10", "[40..45): bad 40"]);
    }
}
