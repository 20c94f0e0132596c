//! How much larger than its file a part of it may become in memory.

use std::fmt;

/// So many times what it takes in the file, and the session's limit more.
const TIMES: u64 = 8;

/// A part of a file that would become too large.
#[derive(Debug)]
pub(super) struct Expansion {
    /// Where it begins, in bytes.
    at: u64,
    /// What it takes in the file.
    stored: u64,
    needed: u64,
    limit: u64,
}

impl Expansion {
    /// `None` where it is within the limit.
    pub(super) fn of(at: u64, stored: u64, needed: u64, max_expansion: u64) -> Option<Self> {
        let limit = stored.saturating_mul(TIMES).saturating_add(max_expansion);
        (needed > limit).then_some(Self {
            at,
            stored,
            needed,
            limit,
        })
    }
}

impl fmt::Display for Expansion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            stored,
            needed,
            limit,
        } = self;
        write!(
            out,
            "at byte {at}, {stored} bytes expand to {needed} in memory, more than the limit of {limit}"
        )
    }
}
