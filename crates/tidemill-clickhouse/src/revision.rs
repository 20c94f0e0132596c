//! The revisions of the native protocol that change a block, by number.
//!
//! A block is written for the older of the two revisions that client and server announced; a file of `FORMAT Native` is
//! written for [`Revision::FILE`], which is older than all of them.
//!
//! Numbers: `src/Core/ProtocolDefines.h` of ClickHouse.

use std::fmt;

/// A revision of the native protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Revision(pub u64);

impl Revision {
    /// No protocol at all: files of `FORMAT Native`.
    pub const FILE: Self = Self(0);
    /// The oldest server that is understood.
    pub const OLDEST: Self = Self(54032);
    /// The time zone of `DateTime` is a part of its type.
    pub const DATE_TIME_ZONE: Self = Self(54337);
    /// `LowCardinality` is a type of the wire.
    pub const LOW_CARDINALITY: Self = Self(54405);
    /// Each column says whether it has a serialization other than its type's own.
    pub const CUSTOM_SERIALIZATION: Self = Self(54454);
    /// `Dynamic` and `JSON` are written without their limits.
    pub const DYNAMIC_V2: Self = Self(54473);
    /// The information about a block tells which buckets of an aggregation are out of order.
    pub const OUT_OF_ORDER_BUCKETS: Self = Self(54480);
    /// Columns that repeat their values may be written as indexes into them.
    pub const REPLICATED_SERIALIZATION: Self = Self(54482);
    /// The values of a `String` column are written behind all of their offsets.
    pub const STRING_OFFSETS: Self = Self(54492);
    /// The newest that is understood in full, which is what a client announces.
    pub const NEWEST: Self = Self(54492);
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
