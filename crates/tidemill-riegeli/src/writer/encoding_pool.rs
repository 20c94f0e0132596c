//! Threads that encode chunks for one writer.
//!
//! The writer gives full encoders away and gets them back in the same order, encoded and hashed. It writes them itself, so
//! what it writes to need not move between threads. Small chunks travel together: handing one over costs more than encoding
//! a few kilobytes.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use crate::{chunk_encoder::ChunkEncoder, chunk_header::ChunkHeader, error::Damage, hash::hash_parts};

/// Bytes of records that are worth handing over.
const BATCH: u64 = 256 << 10;

pub(super) struct EncodingPool {
    /// How many batches may be in work.
    capacity: usize,
    batch: Vec<ChunkEncoder>,
    batch_size: u64,
    jobs: Option<Sender<Job>>,
    queue: Arc<Mutex<Receiver<Job>>>,
    threads: Vec<JoinHandle<()>>,
    max_threads: usize,
    /// Batches in work, the oldest first.
    pending: VecDeque<Receiver<Vec<Encoded>>>,
    spare: Vec<ChunkEncoder>,
}

/// An encoder that was encoded, with the header of its chunk, or why it could not be.
pub(super) struct Encoded {
    pub(super) encoder: ChunkEncoder,
    pub(super) header: Result<ChunkHeader, Damage>,
}

struct Job {
    batch: Vec<ChunkEncoder>,
    done: Sender<Vec<Encoded>>,
}

/// An encoding thread panicked.
#[derive(Debug)]
pub(super) struct ThreadDied;

impl EncodingPool {
    /// Returns a pool of up to `parallelism` threads. They are started when there is work for them.
    pub(super) fn new(parallelism: usize) -> Self {
        let (jobs, queue) = mpsc::channel();
        Self {
            capacity: parallelism,
            batch: Vec::new(),
            batch_size: 0,
            jobs: Some(jobs),
            queue: Arc::new(Mutex::new(queue)),
            threads: Vec::new(),
            max_threads: parallelism.min(thread::available_parallelism().map_or(1, usize::from)),
            pending: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Returns whether no chunk is waiting or in work.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.pending.is_empty()
    }

    /// Returns an encoder that was used before, if there is one.
    pub(super) fn spare(&mut self) -> Option<ChunkEncoder> {
        self.spare.pop()
    }

    /// Takes an encoder back.
    pub(super) fn recycle(&mut self, mut encoder: ChunkEncoder) {
        encoder.clear();
        self.spare.push(encoder);
    }

    /// Takes a full encoder. What is returned by [`Self::finished`] makes room for it.
    pub(super) fn push(&mut self, encoder: ChunkEncoder) {
        self.batch_size += encoder.decoded_data_size();
        self.batch.push(encoder);
        if self.batch_size >= BATCH {
            self.submit();
        }
    }

    /// Gives what was taken to the threads, however little it is.
    pub(super) fn submit(&mut self) {
        self.batch_size = 0;
        if self.batch.is_empty() {
            return;
        }
        if self.threads.len() < self.max_threads && self.threads.len() <= self.pending.len() {
            let queue = Arc::clone(&self.queue);
            // Without a thread more, those that there are do the work.
            if let Ok(thread) = thread::Builder::new()
                .name("riegeli-encode".to_owned())
                .spawn(move || encode(&queue))
            {
                self.threads.push(thread);
            }
        }
        let (done, encoded) = mpsc::channel();
        let job = Job {
            batch: std::mem::take(&mut self.batch),
            done,
        };
        if self.threads.is_empty() {
            job.run();
        } else if let Some(jobs) = &self.jobs {
            // The queue lives as long as this does.
            let _sent = jobs.send(job);
        }
        self.pending.push_back(encoded);
    }

    /// Returns the oldest batch, if it is done. Waits for it when `all` is wanted, or more are in work than may be.
    pub(super) fn finished(&mut self, all: bool) -> Result<Option<Vec<Encoded>>, ThreadDied> {
        let Some(oldest) = self.pending.front() else {
            return Ok(None);
        };
        let encoded = if all || self.pending.len() > self.capacity {
            oldest.recv().map_err(|_| ThreadDied)?
        } else {
            match oldest.try_recv() {
                Ok(encoded) => encoded,
                Err(mpsc::TryRecvError::Empty) => return Ok(None),
                Err(mpsc::TryRecvError::Disconnected) => return Err(ThreadDied),
            }
        };
        self.pending.pop_front();
        Ok(Some(encoded))
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

impl Job {
    fn run(self) {
        let encoded = self
            .batch
            .into_iter()
            .map(|mut encoder| {
                let header = encoder.encode().map(|()| {
                    let chunk = encoder.encoded();
                    let size = chunk.parts.iter().map(|part| part.len() as u64).sum();
                    let hash = hash_parts(&chunk.parts);
                    ChunkHeader::new(chunk.chunk_type, size, hash, chunk.num_records, chunk.decoded_data_size)
                });
                Encoded { encoder, header }
            })
            .collect();
        // A writer that is dropped does not want it any more.
        let _sent = self.done.send(encoded);
    }
}

/// Runs jobs until there are no more.
fn encode(queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job.run(),
            Err(_) => return,
        }
    }
}
