//! Where written records are, or will be.

use std::sync::{Arc, OnceLock};

use crate::RecordPosition;

/// The position of a record whose chunk may not be written yet, because those before it are being encoded.
///
/// Source of the idea: google/riegeli, `riegeli/records/record_position.h`, `FutureRecordPosition`, which waits; this one is
/// known after the next flush, at the latest.
#[derive(Clone, Debug)]
pub struct FutureRecordPosition {
    pub(super) chunk_begin: ChunkBegin,
    pub(super) record_index: u64,
}

impl FutureRecordPosition {
    /// Returns the position, `None` as long as it is not known. It stays unknown when the writer fails or is dropped before.
    pub fn get(&self) -> Option<RecordPosition> {
        Some(RecordPosition::new(self.chunk_begin.get()?, self.record_index))
    }
}

/// Where a chunk begins that is not written yet.
#[derive(Clone, Debug)]
pub(super) enum ChunkBegin {
    Known(u64),
    Later(Arc<OnceLock<u64>>),
}

impl ChunkBegin {
    pub(super) fn later() -> Self {
        Self::Later(Arc::new(OnceLock::new()))
    }

    #[inline]
    pub(super) fn get(&self) -> Option<u64> {
        match self {
            Self::Known(begin) => Some(*begin),
            Self::Later(begin) => begin.get().copied(),
        }
    }

    /// Tells everybody who asked. The beginning of a chunk does not change.
    pub(super) fn set(&self, begin: u64) {
        if let Self::Later(later) = self {
            later.get_or_init(|| begin);
        }
    }
}
