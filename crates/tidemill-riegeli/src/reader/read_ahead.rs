//! Decoding the chunks to come on threads of their own.
//!
//! The reader's own thread reads the chunks and verifies their hashes; the threads decompress and decode them, each with its
//! own buffers, which go back and forth. Reading ahead stops where something is wrong, so what is wrong is told when the
//! records before it were read, as without threads. It stops as well before small chunks, and before those that are not
//! compressed, which are lent where they are, and it begins with the second chunk of a row that is read to its end.

use std::collections::VecDeque;

use crate::{
    ChunkHeader, ChunkReader, ChunkType, Error, ReaderOptions, Result, Source,
    chunk_decoder::ChunkDecoder,
    error::Damage,
    ordered_pool::{NoThread, OrderedPool},
};

/// Bytes of decoded records that are worth handing over, and those that are worth a decoder of their own.
const BATCH: u64 = 256 << 10;
const SMALL: u64 = 64 << 10;

pub(super) struct ReadAhead {
    /// How many batches may be in work.
    capacity: usize,
    pool: OrderedPool<Vec<AheadChunk>>,
    /// Decoded chunks, and where they and those in work begin.
    ready: VecDeque<AheadChunk>,
    begins: VecDeque<u64>,
    spare: Vec<AheadChunk>,
}

/// A chunk that was read ahead.
pub(super) struct AheadChunk {
    pub(super) begin: u64,
    pub(super) header: ChunkHeader,
    pub(super) data: Vec<u8>,
    pub(super) decoder: ChunkDecoder,
    pub(super) decoded: Result<(), Damage>,
}

impl ReadAhead {
    /// Returns threads as the options ask for, if they do.
    pub(super) fn new(options: &ReaderOptions, size: Option<u64>) -> Option<Box<Self>> {
        let shared = options.clone();
        (options.parallelism > 0).then(|| {
            Box::new(Self {
                capacity: options.parallelism,
                pool: OrderedPool::new(options.parallelism, move || {
                    let options = shared.clone();
                    Box::new(move |batch: &mut Vec<AheadChunk>| {
                        for chunk in batch {
                            let limit = options.decoded_limit(size, chunk.data.len());
                            chunk.decoded = chunk.decoder.decode(&chunk.header, &chunk.data, limit);
                        }
                    })
                }),
                ready: VecDeque::new(),
                begins: VecDeque::new(),
                spare: Vec::new(),
            })
        })
    }

    /// Returns where the next chunk begins, when it was read ahead.
    pub(super) fn next_begin(&self) -> Option<u64> {
        self.begins.front().copied()
    }

    /// Returns whether chunks were read ahead, or the next one is worth it. Where none is, as in files that are not compressed, this
    /// is all that a chunk costs more.
    #[inline]
    pub(super) fn is_worth_it<S: Source>(&self, chunks: &mut ChunkReader<S>) -> bool {
        !self.begins.is_empty() || matches!(chunks.peek_header(), Ok(Some(header)) if pays(&header))
    }

    /// Reads chunks until enough are in work, or something else is to be done with one.
    pub(super) fn fill<S: Source>(&mut self, chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<()> {
        while self.pool.pending() < self.capacity {
            let mut batch = Vec::new();
            let mut size = 0;
            while size < BATCH {
                // What is wrong is still wrong when its turn comes.
                let Ok(Some(header)) = chunks.peek_header() else {
                    break;
                };
                if !pays(&header) {
                    break;
                }
                let Ok(Some(chunk)) = chunks.next_chunk() else {
                    break;
                };
                let mut ahead = self.spare.pop().unwrap_or_else(|| AheadChunk::new(options));
                (ahead.begin, ahead.header) = (chunk.begin, chunk.header);
                ahead.data.clear();
                ahead.data.extend_from_slice(chunk.data);
                size += header.decoded_data_size.saturating_add(header.num_records);
                self.begins.push_back(chunk.begin);
                batch.push(ahead);
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.pool.submit(batch).map_err(|NoThread| no_thread(chunks))?;
        }
        Ok(())
    }

    /// Returns the next chunk, waiting for it, or `None` when none was read ahead.
    pub(super) fn take<S: Source>(&mut self, chunks: &ChunkReader<S>) -> Result<Option<AheadChunk>> {
        if self.ready.is_empty()
            && let Some(batch) = self.pool.take(true).map_err(|NoThread| no_thread(chunks))?
        {
            self.ready.extend(batch);
        }
        let chunk = self.ready.pop_front();
        if chunk.is_some() {
            self.begins.pop_front();
        }
        Ok(chunk)
    }

    /// Takes a chunk back whose records are not needed any more.
    pub(super) fn recycle(&mut self, chunk: AheadChunk) {
        self.spare.push(chunk);
    }

    /// Forgets all chunks, and buffers that were made for other options.
    pub(super) fn clear(&mut self) {
        self.pool.forget();
        self.ready.clear();
        self.begins.clear();
        self.spare.clear();
    }
}

impl AheadChunk {
    fn new(options: &ReaderOptions) -> Self {
        let mut decoder = ChunkDecoder::default();
        decoder.set_projection(&options.field_projection);
        Self {
            begin: 0,
            header: ChunkHeader::new(ChunkType::Padding, 0, 0, 0, 0),
            data: Vec::new(),
            decoder,
            decoded: Ok(()),
        }
    }
}

/// Returns whether decoding the chunk is work.
fn pays(header: &ChunkHeader) -> bool {
    let compressed = match header.chunk_type {
        // What is as long as its records is copied at most.
        ChunkType::Simple | ChunkType::Transposed => header.data_size < header.decoded_data_size,
        _ => false,
    };
    compressed && header.num_records > 0 && header.decoded_data_size >= SMALL
}

fn no_thread<S: Source>(chunks: &ChunkReader<S>) -> Error {
    Error::Io {
        file: chunks.file().clone(),
        action: "decode on a thread",
        source: std::io::Error::other("a decoding thread ended or did not start"),
    }
}
