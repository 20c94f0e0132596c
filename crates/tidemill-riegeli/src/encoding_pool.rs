//! Threads that encode chunks for one writer.
//!
//! The writer gives the records of a chunk away and gets them back in the same order, encoded and hashed. It writes them
//! itself, so what it writes to need not move between threads. Each thread keeps one encoder, whose tables and codec context
//! stay in its cache. Small chunks travel together: handing one over costs more than encoding a few kilobytes.

use crate::{
    chunk_encoder::{EncodedChunk, Encoder},
    chunk_header::ChunkHeader,
    error::Damage,
    hash::hash_parts,
    ordered_pool::{NoThread, OrderedPool},
};

/// Bytes of records that are worth handing over.
const BATCH: usize = 256 << 10;

pub(crate) struct EncodingPool {
    /// How many batches may be in work.
    capacity: usize,
    batch: Vec<ChunkInWork>,
    batch_size: usize,
    pool: OrderedPool<Vec<ChunkInWork>>,
    spare: Vec<ChunkInWork>,
}

/// The records of a chunk, and what becomes of them.
#[derive(Default)]
pub(crate) struct ChunkInWork {
    records: Vec<u8>,
    limits: Vec<usize>,
    header: Option<Result<ChunkHeader, Damage>>,
    /// The data, as in [`PartsInWork`].
    parts: [Vec<u8>; 2],
    paid: bool,
}

/// The data of a chunk, one part after the other.
pub(crate) type PartsInWork<'a> = [&'a [u8]; 2];

impl ChunkInWork {
    /// Adds a record that consists of `parts`.
    #[inline]
    pub(crate) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.records.extend_from_slice(part);
        }
        self.limits.push(self.records.len());
    }

    #[inline]
    pub(crate) fn num_records(&self) -> u64 {
        self.limits.len() as u64
    }

    /// Returns the header and the parts of the data, when the chunk has been through the pool.
    pub(crate) fn encoded(&self) -> Result<Option<(&ChunkHeader, PartsInWork<'_>)>, Damage> {
        match &self.header {
            Some(Ok(header)) => Ok(Some((header, self.parts.each_ref().map(Vec::as_slice)))),
            Some(Err(damage)) => Err(damage.clone()),
            None => Ok(None),
        }
    }

    /// Returns whether the chunk was dear enough to encode for a thread.
    pub(crate) fn paid(&self) -> bool {
        self.paid
    }

    fn encode(&mut self, encoder: &mut Encoder) {
        encoder.clear();
        encoder.add_records(&mut self.records, &self.limits);
        let encoded = encoder.encode().map(|()| {
            let EncodedChunk {
                chunk_type,
                parts,
                num_records,
                decoded_data_size,
            } = encoder.encoded();
            let size = parts.iter().map(|part| part.len() as u64).sum();
            ChunkHeader::new(chunk_type, size, hash_parts(&parts), num_records, decoded_data_size)
        });
        self.paid = encoder.pays_threads();
        // The encoder continues with the memory of a chunk that was written.
        encoder.swap_encoded(&mut self.parts);
        self.header = Some(encoded);
    }

    fn clear(&mut self) {
        self.records.clear();
        self.limits.clear();
        self.header = None;
    }
}

impl EncodingPool {
    /// Returns a pool of up to `threads` threads. Each makes an encoder for itself.
    pub(crate) fn new(threads: usize, make_encoder: impl Fn() -> Encoder + Send + Sync + 'static) -> Self {
        Self {
            capacity: threads,
            batch: Vec::new(),
            batch_size: 0,
            pool: OrderedPool::new(threads, move || {
                let mut encoder = make_encoder();
                Box::new(move |batch: &mut Vec<ChunkInWork>| {
                    for chunk in batch {
                        chunk.encode(&mut encoder);
                    }
                })
            }),
            spare: Vec::new(),
        }
    }

    /// Returns whether no chunk is waiting or in work.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.pool.pending() == 0
    }

    /// Takes the records of a chunk and leaves an empty one. [`Self::finished`] must be called before the next one.
    pub(crate) fn push(&mut self, chunk: &mut ChunkInWork) -> Result<(), NoThread> {
        let full = std::mem::replace(chunk, self.spare.pop().unwrap_or_default());
        self.batch_size += full.records.len();
        self.batch.push(full);
        match self.batch_size >= BATCH {
            true => self.submit(),
            false => Ok(()),
        }
    }

    /// Gives what was taken to the threads, however little it is.
    pub(crate) fn submit(&mut self) -> Result<(), NoThread> {
        self.batch_size = 0;
        match self.batch.is_empty() {
            true => Ok(()),
            false => self.pool.submit(std::mem::take(&mut self.batch)),
        }
    }

    /// Returns the oldest batch, if it is done. Waits for it when `all` is wanted, or more are in work than may be.
    pub(crate) fn finished(&mut self, all: bool) -> Result<Option<Vec<ChunkInWork>>, NoThread> {
        self.pool.take(all || self.pool.pending() > self.capacity)
    }

    /// Takes a written chunk back, to use its memory again.
    pub(crate) fn recycle(&mut self, mut chunk: ChunkInWork) {
        chunk.clear();
        self.spare.push(chunk);
    }
}
