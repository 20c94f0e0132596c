//! Limits how much a part of a file may expand in memory.

use std::fmt;

/// The allowed multiple of the size in the file, to which the session's limit is added.
const TIMES: u64 = 8;

/// A part of a file that exceeds the limit.
#[derive(Debug)]
pub(super) struct Expansion {
    /// Its offset.
    at: u64,
    /// Its size in the file.
    stored: u64,
    needed: u64,
    limit: u64,
}

impl Expansion {
    /// `None` if it is within the limit.
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
