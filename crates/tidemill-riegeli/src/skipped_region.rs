//! Damage as a value: the part of a file that recovery left out, and why.
//!
//! Source of the shape: google/riegeli, `riegeli/records/skipped_region.h`.

use std::fmt;

/// A part of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRegion {
    /// First byte left out.
    pub begin: u64,
    /// First byte after the region. It may lie after the last byte that is damaged.
    pub end: u64,
    /// What was wrong at `begin`, without the name of the file.
    pub why: String,
}

impl fmt::Display for SkippedRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped region [{}, {}): {}", self.begin, self.end, self.why)
    }
}
