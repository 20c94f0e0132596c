//! What collects the records of the open chunk: an encoder, or, for threads that encode, a buffer.
//!
//! To hand records over costs a copy of them and some waiting for memory that another processor wrote. Where encoding is hardly more
//! than that the threads gain nothing, so the writer encodes such chunks itself. How dear messages are to be taken apart is known
//! only then, and so is the size of chunks: a chunk is made here or elsewhere as those before it were found to be.

use std::collections::VecDeque;

use super::position::ChunkBegin;
use crate::{
    Compression, WriterOptions,
    chunk_encoder::Encoder,
    encoding_pool::{ChunkInWork, EncodingPool},
};

/// The open chunk, and what makes chunks.
pub(super) struct Open {
    /// What the writer encodes with.
    pub(super) encoder: Encoder,
    pub(super) threads: Option<Box<Threads>>,
    /// Whether the threads get the open chunk.
    is_elsewhere: bool,
}

/// Threads that encode, the chunk that they will get next, and the places of those that they have.
pub(super) struct Threads {
    pub(super) chunk: ChunkInWork,
    pub(super) pool: EncodingPool,
    /// Where the chunks in work will begin.
    pub(super) in_work: VecDeque<ChunkBegin>,
    /// Whether the chunks that came back last were worth it.
    pub(super) pay: bool,
}

impl Open {
    pub(super) fn new(options: &WriterOptions) -> Self {
        // Records that are stored as they are never pay.
        let may_pay = options.transpose || options.compression != Compression::None;
        let threads = (options.parallelism > 0 && may_pay).then(|| {
            let options = options.clone();
            Box::new(Threads {
                chunk: ChunkInWork::default(),
                pool: EncodingPool::new(options.parallelism, move || Encoder::new(&options)),
                in_work: VecDeque::new(),
                pay: true,
            })
        });
        let encoder = Encoder::new(options);
        Self {
            is_elsewhere: threads.is_some() && encoder.pays_threads(),
            encoder,
            threads,
        }
    }

    /// Returns what gets the open chunk, if threads do.
    #[inline]
    pub(super) fn elsewhere(&mut self) -> Option<&mut Threads> {
        match self.is_elsewhere {
            true => self.threads.as_deref_mut(),
            false => None,
        }
    }

    /// Says whether threads get the next chunk, if there are any. The open one must be empty, and none be in work.
    pub(super) fn set_elsewhere(&mut self, elsewhere: bool) {
        if let Some(threads) = &mut self.threads {
            threads.pay = true;
            self.is_elsewhere = elsewhere;
        }
    }

    /// Returns whether chunks wait for threads or are in work.
    pub(super) fn has_chunks_in_work(&self) -> bool {
        self.threads.as_ref().is_some_and(|threads| !threads.pool.is_empty())
    }

    #[inline]
    pub(super) fn add_record(&mut self, record: &[u8]) {
        match self.is_elsewhere {
            false => self.encoder.add_record(record),
            true => self.add_record_parts(&[record]),
        }
    }

    #[inline(never)]
    pub(super) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        match self.elsewhere() {
            Some(threads) => threads.chunk.add_record_parts(parts),
            None => self.encoder.add_record_parts(parts),
        }
    }

    #[inline]
    pub(super) fn num_records(&self) -> u64 {
        if self.is_elsewhere
            && let Some(threads) = &self.threads
        {
            return threads.chunk.num_records();
        }
        self.encoder.num_records()
    }
}
