//! Threads that encode chunks for one writer.
//!
//! The writer gives the records of a chunk away and gets them back in the same order, encoded and hashed. It writes them
//! itself, so what it writes to need not move between threads. Each thread keeps one encoder, whose tables and codec context
//! stay in its cache. Small chunks travel together: handing one over costs more than encoding a few kilobytes.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use crate::{WriterOptions, chunk_encoder::ChunkEncoder, chunk_header::ChunkHeader, error::Damage, hash::hash_parts};

/// Bytes of records that are worth handing over.
const BATCH: usize = 256 << 10;

pub(super) struct EncodingPool {
    options: Arc<WriterOptions>,
    batch: Vec<ChunkInWork>,
    batch_size: usize,
    jobs: Option<Sender<Job>>,
    queue: Arc<Mutex<Receiver<Job>>>,
    threads: Vec<JoinHandle<()>>,
    max_threads: usize,
    /// Batches in work, the oldest first.
    pending: VecDeque<Receiver<Vec<ChunkInWork>>>,
    spare: Vec<ChunkInWork>,
}

/// The records of a chunk, and what becomes of them.
#[derive(Default)]
pub(super) struct ChunkInWork {
    records: Vec<u8>,
    limits: Vec<usize>,
    header: Option<Result<ChunkHeader, Damage>>,
    data: Vec<u8>,
}

impl ChunkInWork {
    /// Adds a record that consists of `parts`.
    #[inline]
    pub(super) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.records.extend_from_slice(part);
        }
        self.limits.push(self.records.len());
    }

    #[inline]
    pub(super) fn num_records(&self) -> u64 {
        self.limits.len() as u64
    }

    /// Returns the header and the data, when the chunk has been through the pool.
    pub(super) fn encoded(&self) -> Result<Option<(&ChunkHeader, &[u8])>, Damage> {
        match &self.header {
            Some(Ok(header)) => Ok(Some((header, &self.data))),
            Some(Err(damage)) => Err(damage.clone()),
            None => Ok(None),
        }
    }

    fn encode(&mut self, encoder: &mut ChunkEncoder) {
        encoder.clear();
        let mut start = 0;
        for &limit in &self.limits {
            encoder.add_record(&self.records[start..limit]);
            start = limit;
        }
        let header = encoder.encode().map(|()| {
            let chunk = encoder.encoded();
            self.data.clear();
            for part in chunk.parts {
                self.data.extend_from_slice(part);
            }
            let hash = hash_parts(&[&self.data]);
            let size = self.data.len() as u64;
            ChunkHeader::new(chunk.chunk_type, size, hash, chunk.num_records, chunk.decoded_data_size)
        });
        self.header = Some(header);
    }

    fn clear(&mut self) {
        self.records.clear();
        self.limits.clear();
        self.header = None;
    }
}

struct Job {
    batch: Vec<ChunkInWork>,
    done: Sender<Vec<ChunkInWork>>,
}

/// An encoding thread panicked, or none could be started.
#[derive(Debug)]
pub(super) struct NoThread;

impl EncodingPool {
    /// Returns a pool of as many threads as the options ask for and the machine has processors. They are started when there
    /// is work for them.
    pub(super) fn new(options: &WriterOptions) -> Self {
        let (jobs, queue) = mpsc::channel();
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            options: Arc::new(options.clone()),
            batch: Vec::new(),
            batch_size: 0,
            jobs: Some(jobs),
            queue: Arc::new(Mutex::new(queue)),
            threads: Vec::new(),
            max_threads: options.parallelism.min(processors),
            pending: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Returns whether no chunk is waiting or in work.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.pending.is_empty()
    }

    /// Takes the records of a chunk and leaves an empty one. [`Self::finished`] must be called before the next one.
    pub(super) fn push(&mut self, chunk: &mut ChunkInWork) -> Result<(), NoThread> {
        let full = std::mem::replace(chunk, self.spare.pop().unwrap_or_default());
        self.batch_size += full.records.len();
        self.batch.push(full);
        match self.batch_size >= BATCH {
            true => self.submit(),
            false => Ok(()),
        }
    }

    /// Gives what was taken to the threads, however little it is.
    pub(super) fn submit(&mut self) -> Result<(), NoThread> {
        self.batch_size = 0;
        if self.batch.is_empty() {
            return Ok(());
        }
        if self.threads.len() < self.max_threads && self.threads.len() <= self.pending.len() {
            let (queue, options) = (Arc::clone(&self.queue), Arc::clone(&self.options));
            let thread = thread::Builder::new().name("riegeli-encode".to_owned());
            match thread.spawn(move || encode(&queue, &options)) {
                Ok(thread) => self.threads.push(thread),
                // Those that there are do the work.
                Err(_) if !self.threads.is_empty() => {}
                Err(_) => return Err(NoThread),
            }
        }
        let (done, encoded) = mpsc::channel();
        let batch = std::mem::take(&mut self.batch);
        let jobs = self.jobs.as_ref().ok_or(NoThread)?;
        jobs.send(Job { batch, done }).map_err(|_| NoThread)?;
        self.pending.push_back(encoded);
        Ok(())
    }

    /// Returns the oldest batch, if it is done. Waits for it when `all` is wanted, or more are in work than may be.
    pub(super) fn finished(&mut self, all: bool) -> Result<Option<Vec<ChunkInWork>>, NoThread> {
        let Some(oldest) = self.pending.front() else {
            return Ok(None);
        };
        let encoded = if all || self.pending.len() > self.options.parallelism {
            oldest.recv().map_err(|_| NoThread)?
        } else {
            match oldest.try_recv() {
                Ok(encoded) => encoded,
                Err(mpsc::TryRecvError::Empty) => return Ok(None),
                Err(mpsc::TryRecvError::Disconnected) => return Err(NoThread),
            }
        };
        self.pending.pop_front();
        Ok(Some(encoded))
    }

    /// Takes a written chunk back, to use its memory again.
    pub(super) fn recycle(&mut self, mut chunk: ChunkInWork) {
        chunk.clear();
        self.spare.push(chunk);
    }
}

impl Drop for EncodingPool {
    fn drop(&mut self) {
        // Threads end when nobody can send a job any more; those that panicked have told by their silence.
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

/// Runs jobs until there are no more.
fn encode(queue: &Mutex<Receiver<Job>>, options: &WriterOptions) {
    let mut encoder = ChunkEncoder::new(options);
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { mut batch, done }) = job else {
            return;
        };
        for chunk in &mut batch {
            chunk.encode(&mut encoder);
        }
        // A writer that is dropped does not want it any more.
        let _sent = done.send(batch);
    }
}
