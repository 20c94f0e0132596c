//! Threads that work on what they are given and give it back in the same order.
//!
//! Each thread has a state of its own, such as a codec context, that stays in its cache. Threads are started when there is
//! work for them, and there are no more than processors. Nothing is bounded here: who submits looks at what is pending.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender, TryRecvError},
    },
    thread::{self, JoinHandle},
};

pub(crate) struct OrderedPool<T> {
    start: Arc<dyn Fn() -> Work<T> + Send + Sync>,
    jobs: Option<Sender<Job<T>>>,
    queue: Arc<Mutex<Receiver<Job<T>>>>,
    threads: Vec<JoinHandle<()>>,
    max_threads: usize,
    /// What is in work, the oldest first.
    pending: VecDeque<Receiver<T>>,
}

/// What a thread does, with its state.
pub(crate) type Work<T> = Box<dyn FnMut(&mut T)>;

/// A thread panicked, or none could be started.
#[derive(Debug)]
pub(crate) struct NoThread;

type Job<T> = (T, Sender<T>);

impl<T: Send + 'static> OrderedPool<T> {
    /// Returns a pool of up to `threads` threads. Each calls `start` once for what it will do.
    pub(crate) fn new(threads: usize, start: impl Fn() -> Work<T> + Send + Sync + 'static) -> Self {
        let (jobs, queue) = mpsc::channel();
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            start: Arc::new(start),
            jobs: Some(jobs),
            queue: Arc::new(Mutex::new(queue)),
            threads: Vec::new(),
            max_threads: threads.min(processors),
            pending: VecDeque::new(),
        }
    }

    /// Returns how many jobs were submitted and not taken back.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Gives a job to the threads.
    pub(crate) fn submit(&mut self, job: T) -> Result<(), NoThread> {
        if self.threads.len() < self.max_threads && self.threads.len() <= self.pending.len() {
            let (queue, start) = (Arc::clone(&self.queue), Arc::clone(&self.start));
            let thread = thread::Builder::new().name("riegeli".to_owned());
            match thread.spawn(move || run(&queue, start())) {
                Ok(thread) => self.threads.push(thread),
                // Those that there are do the work.
                Err(_) if !self.threads.is_empty() => {}
                Err(_) => return Err(NoThread),
            }
        }
        let (done, result) = mpsc::channel();
        let jobs = self.jobs.as_ref().ok_or(NoThread)?;
        jobs.send((job, done)).map_err(|_| NoThread)?;
        self.pending.push_back(result);
        Ok(())
    }

    /// Returns the oldest job, if it is done or one should `wait` for it. `None` as well when there is none.
    pub(crate) fn take(&mut self, wait: bool) -> Result<Option<T>, NoThread> {
        let Some(oldest) = self.pending.front() else {
            return Ok(None);
        };
        let job = if wait {
            oldest.recv().map_err(|_| NoThread)?
        } else {
            match oldest.try_recv() {
                Ok(job) => job,
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(NoThread),
            }
        };
        self.pending.pop_front();
        Ok(Some(job))
    }

    /// Forgets the jobs that are in work.
    pub(crate) fn forget(&mut self) {
        self.pending.clear();
    }
}

impl<T> Drop for OrderedPool<T> {
    fn drop(&mut self) {
        // Threads end when nobody can send a job any more; those that panicked have told by their silence.
        self.jobs = None;
        self.pending.clear();
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

/// Does jobs until there are no more.
fn run<T>(queue: &Mutex<Receiver<Job<T>>>, mut work: Work<T>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((mut job, done)) = job else {
            return;
        };
        work(&mut job);
        // Who forgot the job does not want it any more.
        let _sent = done.send(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_back_in_order_whichever_is_done_first() {
        let mut pool = OrderedPool::new(3, || {
            Box::new(|job: &mut (u64, u64)| {
                thread::sleep(std::time::Duration::from_millis(job.0 % 3));
                job.1 = job.0 * job.0;
            })
        });
        for number in 0..20 {
            pool.submit((number, 0)).expect("a thread");
        }
        assert_eq!(pool.pending(), 20);
        for number in 0..20 {
            assert_eq!(pool.take(true).expect("a thread"), Some((number, number * number)));
        }
        assert!(matches!(pool.take(true), Ok(None)));
    }

    #[test]
    fn a_panic_is_no_result() {
        let mut pool = OrderedPool::new(1, || Box::new(|job: &mut u32| assert!(*job < 1, "a test panics")));
        pool.submit(0).expect("a thread");
        assert_eq!(pool.take(true).expect("a thread"), Some(0));
        pool.submit(1).expect("a thread");
        assert!(pool.take(true).is_err());
    }
}
