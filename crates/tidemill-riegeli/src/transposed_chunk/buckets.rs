//! Buckets: groups of buffers that are compressed together, decompressed when one of their buffers is wanted.
//!
//! The values of a field are in one buffer, in the order in which the state machine takes them. All buckets are decompressed
//! one after the other into one arena, or lie in the chunk data as they are, so that a buffer is a range and a value is
//! found by one position.

use std::ops::Range;

use super::header::HeaderReader;
use crate::{
    codec::{CompressionType, Decompressor, Scratch, Size},
    error::Damage,
    varint::read_varint64,
};

/// Bytes before the first bucket, so that a value can be loaded together with some bytes before it.
const SLACK: usize = 32;

/// What is left of a buffer, as positions in [`Buckets::bytes`].
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) pos: usize,
    pub(super) end: usize,
}

struct Bucket {
    /// Where it is in the chunk data.
    section: Range<usize>,
    /// Its size when decompressed.
    size: usize,
    buffers: Range<usize>,
    present: bool,
}

/// The buckets of a chunk, and the buffers that they consist of.
#[derive(Default)]
pub(super) struct Buckets {
    compression: Option<CompressionType>,
    buckets: Vec<Bucket>,
    /// The size of each buffer and the bucket that it is in.
    buffers: Vec<(usize, usize)>,
    /// One for each buffer, empty until its bucket is present, and an empty one for values without bytes.
    cursors: Vec<Cursor>,
    arena: Scratch,
    loaded: usize,
}

impl Buckets {
    /// Reads the sizes of buckets and buffers from `header`. The buckets are in `data` from `start` on; returns where they
    /// end. No more than `limit` bytes are decompressed.
    pub(super) fn read(
        &mut self,
        compression: CompressionType,
        header: &mut HeaderReader<'_>,
        data: &[u8],
        start: usize,
        limit: usize,
    ) -> Result<usize, Damage> {
        self.compression = Some(compression);
        self.loaded = 0;
        self.buckets.clear();
        self.buffers.clear();
        self.cursors.clear();
        self.arena.clear();
        let num_buckets = header.count("number of buckets")?;
        let num_buffers = header.count("number of buffers")?;
        if num_buckets == 0 && num_buffers > 0 {
            return Err(invalid("number of buckets"));
        }
        let mut end = start;
        let mut left = limit;
        for _ in 0..num_buckets {
            let length = header.length("bucket size")?;
            let begin = end;
            end = begin
                .checked_add(length)
                .filter(|&end| end <= data.len())
                .ok_or(invalid("bucket size"))?;
            let size = decompressed_size(compression, &data[begin..end], limit)?;
            left = left.checked_sub(size).ok_or(too_large(limit))?;
            self.buckets.push(Bucket {
                section: begin..end,
                size,
                buffers: 0..0,
                present: false,
            });
        }
        self.read_buffers(num_buffers, header)?;
        if compression != CompressionType::None {
            // All at once if the sizes are plausible; the rest grows with the data.
            let plausible = data.len().saturating_mul(16);
            self.arena.room(SLACK + (limit - left).min(plausible));
            self.arena.advance(SLACK);
        }
        let none = match compression {
            CompressionType::None => data.len(),
            _ => SLACK,
        };
        self.cursors.resize(num_buffers, Cursor::default());
        self.cursors.push(Cursor { pos: none, end: none });
        Ok(end)
    }

    /// Divides the buckets into buffers: each bucket begins with the first buffer after the end of the one before.
    fn read_buffers(&mut self, num_buffers: usize, header: &mut HeaderReader<'_>) -> Result<(), Damage> {
        let mut buckets = self.buckets.iter_mut().enumerate().peekable();
        let Some((mut index, mut bucket)) = buckets.next() else {
            return Ok(());
        };
        let mut left = bucket.size;
        for buffer in 0..num_buffers {
            let size = header.length("buffer size")?;
            left = left.checked_sub(size).ok_or(invalid("buffer size"))?;
            self.buffers.push((size, index));
            bucket.buffers.end = buffer + 1;
            while left == 0
                && let Some((next_index, next)) = buckets.next()
            {
                (index, bucket) = (next_index, next);
                bucket.buffers = buffer + 1..buffer + 1;
                left = bucket.size;
            }
        }
        match left == 0 && buckets.peek().is_none() {
            true => Ok(()),
            false => Err(invalid("bucket: bytes are left over")),
        }
    }

    pub(super) fn num_buffers(&self) -> usize {
        self.buffers.len()
    }

    /// The index of the empty cursor.
    pub(super) fn no_buffer(&self) -> usize {
        self.buffers.len()
    }

    /// Decompresses every bucket of the chunk whose data are `data`.
    pub(super) fn load_all(&mut self, data: &[u8], decompressor: &mut Decompressor) -> Result<(), Damage> {
        (0..self.buckets.len()).try_for_each(|bucket| self.load_bucket(bucket, data, decompressor))
    }

    /// Decompresses the bucket of `buffer`.
    pub(super) fn load(&mut self, buffer: usize, data: &[u8], decompressor: &mut Decompressor) -> Result<(), Damage> {
        match self.buffers.get(buffer) {
            Some(&(_, bucket)) => self.load_bucket(bucket, data, decompressor),
            None => Ok(()),
        }
    }

    fn load_bucket(&mut self, index: usize, data: &[u8], decompressor: &mut Decompressor) -> Result<(), Damage> {
        let Some(bucket) = self.buckets.get_mut(index).filter(|bucket| !bucket.present) else {
            return Ok(());
        };
        bucket.present = true;
        self.loaded += bucket.size;
        let mut pos = match self.compression {
            None | Some(CompressionType::None) => bucket.section.start,
            Some(compression) => {
                let start = self.arena.len();
                let section = data.get(bucket.section.clone()).ok_or(invalid("bucket"))?;
                decompressor.append(compression, section, Size::Exactly(bucket.size), &mut self.arena)?;
                start
            }
        };
        for buffer in bucket.buffers.clone() {
            let (Some(&(size, _)), Some(cursor)) = (self.buffers.get(buffer), self.cursors.get_mut(buffer)) else {
                continue;
            };
            // Sizes of buffers add up to the size of their bucket.
            *cursor = Cursor { pos, end: pos + size };
            pos += size;
        }
        Ok(())
    }

    /// Returns the bytes that cursors are positions in.
    #[inline]
    pub(super) fn bytes<'a>(&'a self, data: &'a [u8]) -> &'a [u8] {
        match self.compression {
            None | Some(CompressionType::None) => data,
            Some(_) => self.arena.as_slice(),
        }
    }

    /// Returns the bytes that cursors are positions in, and the cursors.
    pub(super) fn bytes_and_cursors<'a>(&'a mut self, data: &'a [u8]) -> (&'a [u8], &'a mut [Cursor]) {
        let bytes = match self.compression {
            None | Some(CompressionType::None) => data,
            Some(_) => self.arena.as_slice(),
        };
        (bytes, &mut self.cursors)
    }

    /// Returns the buffer of the lengths of the records that are no messages, which is the last one, and the bucket that has only
    /// their `values`: where it is in the chunk data, and how large it is when decompressed.
    pub(super) fn non_proto(&self, values: usize) -> Option<(usize, (Range<usize>, usize))> {
        let lengths = self.buffers.len().checked_sub(1)?;
        let &(_, bucket) = self.buffers.get(values)?;
        let bucket = self.buckets.get(bucket)?;
        (lengths != values && bucket.buffers == (values..values + 1))
            .then(|| (lengths, (bucket.section.clone(), bucket.size)))
    }

    /// Returns the positions of a buffer, which is empty until its bucket was decompressed.
    pub(super) fn buffer(&self, buffer: usize) -> Range<usize> {
        self.cursors.get(buffer).map_or(0..0, |cursor| cursor.pos..cursor.end)
    }

    /// Returns of each buffer its size, and its share of the stored size of its bucket.
    pub(super) fn buffer_sizes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buffers.iter().map(|&(size, bucket)| {
            let size = size as u64;
            let stored = self.buckets.get(bucket).map_or(0, |bucket| {
                let part = u128::from(size) * bucket.section.len() as u128;
                // At most the size of the bucket.
                (part / (bucket.size.max(1) as u128)) as u64
            });
            (size, stored)
        })
    }

    /// Returns how many bytes the buckets that were decompressed hold.
    pub(super) fn loaded(&self) -> usize {
        self.loaded
    }
}

/// Returns the size of `section` when decompressed, which is at most `limit`.
pub(super) fn decompressed_size(compression: CompressionType, section: &[u8], limit: usize) -> Result<usize, Damage> {
    let size = match compression {
        CompressionType::None => section.len() as u64,
        _ => {
            read_varint64(section)
                .ok_or(invalid("decompressed size of a section"))?
                .0
        }
    };
    usize::try_from(size)
        .ok()
        .filter(|&size| size <= limit)
        .ok_or(Damage::TooLarge {
            what: "a decompressed section",
            limit: limit as u64,
            found: size,
        })
}

fn too_large(limit: usize) -> Damage {
    Damage::TooLarge {
        what: "the decompressed buckets",
        limit: limit as u64,
        found: limit as u64 + 1,
    }
}

fn invalid(what: &'static str) -> Damage {
    Damage::Invalid { what }
}
