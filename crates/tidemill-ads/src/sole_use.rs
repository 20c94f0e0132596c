//! Tables that nobody changes but the statements of some connections of one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A promise that the tables of a folder are used by nobody but the connections that share this, and changed by nothing but their
/// statements. Such connections know by a counter whether a table is still what it was, where others ask the file system before each
/// statement.
///
/// A connection that opens a work area which can change its table gives the promise up, for all of them and for good: then they ask
/// again.
#[derive(Debug, Clone, Default)]
pub struct SoleUse(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    under_way: AtomicU64,
    made: AtomicU64,
}

/// A change that is under way until this is dropped.
#[derive(Debug)]
pub struct Changing(Option<SoleUse>);

impl SoleUse {
    /// Something is changed until the value that comes back is dropped.
    pub(crate) fn changing(this: Option<&Self>) -> Changing {
        if let Some(Self(counts)) = this {
            counts.under_way.fetch_add(1, Ordering::SeqCst);
        }
        Changing(this.cloned())
    }

    /// From now on changes are not counted.
    pub(crate) fn give_up(&self) {
        self.0.under_way.fetch_add(1, Ordering::SeqCst);
    }

    /// How many changes have been made; `None` while one is under way. Whoever gets the same number twice has had no change in between.
    pub(crate) fn changes(&self) -> Option<u64> {
        let is_changing = self.0.under_way.load(Ordering::SeqCst) > 0;
        (!is_changing).then(|| self.0.made.load(Ordering::SeqCst))
    }
}

impl Changing {
    /// For tables that count no changes.
    pub(crate) fn uncounted() -> Self {
        Self(None)
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        if let Some(SoleUse(counts)) = &self.0 {
            counts.made.fetch_add(1, Ordering::SeqCst);
            counts.under_way.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_twice_says_that_nothing_was_changed() {
        let all = SoleUse::default();
        let other = all.clone();
        let before = all.changes();
        assert_eq!((before.is_some(), all.changes()), (true, before));
        let (first, second) = (SoleUse::changing(Some(&other)), SoleUse::changing(Some(&all)));
        assert_eq!(all.changes(), None);
        drop(first);
        assert_eq!(all.changes(), None);
        drop(second);
        assert!(all.changes().is_some_and(|now| Some(now) != before));
        drop(SoleUse::changing(None));
        other.give_up();
        drop(SoleUse::changing(Some(&all)));
        assert_eq!(all.changes(), None);
    }
}
