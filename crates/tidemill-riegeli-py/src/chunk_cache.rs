//! The decoded chunks of a data source that no call is using, each with the reader that holds it.
//!
//! A call takes a reader out and puts it back, so that several threads read at once. Those that another thread uses when the
//! process forks are lost to the child, which opens its own.

use crate::record_data_source::ShardReader;

pub(crate) struct ChunkCache {
    /// From the one whose use is longest ago.
    idle: Vec<Idle>,
    capacity: usize,
}

/// A reader, and the chunk of a file that it holds.
pub(crate) struct Idle {
    shard: usize,
    chunk_begin: u64,
    reader: Box<ShardReader>,
}

impl ChunkCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            idle: Vec::new(),
            capacity: capacity.max(1),
        }
    }

    /// Takes a reader of the file out, and says whether it holds the chunk. One that does not is given up only when there is
    /// no room for another.
    pub(crate) fn take(&mut self, shard: usize, chunk_begin: u64) -> Option<(Box<ShardReader>, bool)> {
        let holds = |idle: &Idle| idle.shard == shard && idle.chunk_begin == chunk_begin;
        if let Some(at) = self.idle.iter().rposition(holds) {
            return Some((self.idle.remove(at).reader, true));
        }
        if self.idle.len() < self.capacity {
            return None;
        }
        let at = self.idle.iter().position(|idle| idle.shard == shard)?;
        Some((self.idle.remove(at).reader, false))
    }

    /// Puts a reader back that holds a chunk. Returns one that there is no room for.
    pub(crate) fn put(&mut self, shard: usize, chunk_begin: u64, reader: Box<ShardReader>) -> Option<Idle> {
        self.idle.push(Idle {
            shard,
            chunk_begin,
            reader,
        });
        (self.idle.len() > self.capacity).then(|| self.idle.remove(0))
    }

    /// Takes all out.
    pub(crate) fn clear(&mut self) -> Vec<Idle> {
        std::mem::take(&mut self.idle)
    }
}
