//! Some records one behind the other, and the loop that makes a bit of each.

use crate::error::Result;
use crate::header::Deletion;
use crate::table::Table;

/// Records as they stand in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// Whole records.
    pub(crate) bytes: &'a [u8],
    /// The length of a record, not 0.
    pub(crate) stride: usize,
    /// The index of the first record in the table.
    pub(crate) first: u32,
    pub(crate) len: u32,
    /// How a record says that it is deleted.
    pub(crate) deletion: Deletion,
}

/// Whether a kernel knew the form of every cell. If not, what it gave does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Understood {
    Yes,
    No,
}

impl Understood {
    pub(crate) fn when(all: bool) -> Self {
        if all { Self::Yes } else { Self::No }
    }
}

impl<'a> Block<'a> {
    /// The records, each of the table's length.
    pub(crate) fn records(&self) -> std::slice::ChunksExact<'a, u8> {
        self.bytes.chunks_exact(self.stride)
    }

    /// The records 64 by 64.
    pub(crate) fn words(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        let (stride, first, len, deletion) = (self.stride, self.first, self.len, self.deletion);
        let parts = self.bytes.chunks(64 * stride).zip((0..len).step_by(64));
        parts.map(move |(bytes, before)| Block {
            bytes,
            stride,
            first: first + before,
            len: (len - before).min(64),
            deletion,
        })
    }

    /// One bit a record into words of 64.
    #[inline(always)]
    pub(crate) fn collect(&self, out: &mut [u64], mut test: impl FnMut(&'a [u8]) -> bool) {
        let mut records = self.bytes;
        for word in out {
            let mut bits = 0_u64;
            let mut count = 0;
            while count < 64
                && let Some((record, rest)) = records.split_at_checked(self.stride)
            {
                bits = (bits | u64::from(test(record))).rotate_right(1);
                records = rest;
                count += 1;
            }
            // The first record's bit is as far from the lowest as records are missing.
            *word = bits.checked_shr(64 - count).unwrap_or(0);
        }
    }

    /// One bit a record for the words that it is read into: `N` bytes at `at` of each.
    #[inline(always)]
    pub(crate) fn collect_words<const N: usize>(
        &self,
        out: &mut [u64],
        at: usize,
        mut test: impl FnMut([u8; N]) -> bool,
    ) {
        self.collect(out, |record| {
            record
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .is_some_and(|word| test(*word))
        });
    }

    /// How many records are not deleted.
    pub(crate) fn undeleted(&self) -> u32 {
        self.records()
            .map(|record| u32::from(!self.deletion.is_deleted(record)))
            .sum()
    }

    /// Whether each record is deleted.
    pub(crate) fn deleted(&self, out: &mut [u64]) {
        self.collect(out, |record| self.deletion.is_deleted(record));
    }
}

impl Table {
    /// All records in blocks of a multiple of 64 that stay in the processor's cache; the last one may be any size.
    ///
    /// # Errors
    /// When the file cannot be read, and the first error of `visit`.
    pub(crate) fn visit_blocks(
        &self,
        records: std::ops::Range<u32>,
        mut visit: impl FnMut(Block<'_>) -> Result<()>,
    ) -> Result<()> {
        /// A block and the words that are made of it fit into the second level.
        const BLOCK_BYTES: usize = 128 << 10;
        let stride = self.stride();
        let per_block = u32::try_from(BLOCK_BYTES / stride / 64 * 64)
            .unwrap_or(u32::MAX)
            .max(64);
        let per_window = self.window_records(8192).max(per_block) / per_block * per_block;
        let (mut next, end) = (records.start, records.end.min(self.record_count()));
        let mut window = Vec::new();
        while next < end {
            let held = per_window.min(end - next);
            let bytes = self.read_records(next, held, &mut window)?;
            for part in bytes.chunks(per_block as usize * stride) {
                let len = u32::try_from(part.len() / stride).unwrap_or(u32::MAX);
                visit(Block {
                    bytes: part,
                    stride,
                    first: next,
                    len,
                    deletion: self.deletion(),
                })?;
                next += len;
            }
        }
        Ok(())
    }
}
