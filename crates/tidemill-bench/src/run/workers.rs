//! The threads of a run.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::worker::{Ending, Worker};
use super::{Chooser, Interrupt, Phase, Prepared};
use crate::error::{Error, Result};
use crate::stats::{Chunk, Counts, ProcessClock, Sample, add_counts};

/// Connected threads that run one phase after another.
pub(crate) struct Workers {
    clock: ProcessClock,
    orders: Vec<UnboundedSender<Order>>,
    events: mpsc::Receiver<Event>,
    threads: Vec<JoinHandle<()>>,
    interrupt: Interrupt,
}

/// How a phase ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// The error that ended it early.
    pub error: Option<Error>,
    /// How many cycles were due before its end and could not start. Above 0, the store did not keep up with the rate.
    pub unstarted: u64,
    /// Calls that were not awaited, by the names of the methods.
    pub unawaited: Counts,
}

struct Order {
    phase: Arc<Phase>,
    stop: Interrupt,
}

enum Event {
    Ready,
    Chunk(usize, Box<Chunk>),
    Done(usize, Ending, Box<Chunk>),
    Broken(Error),
}

impl Workers {
    /// Starts the threads and waits until all are connected.
    ///
    /// # Errors
    /// The error of the first thread that cannot connect.
    pub(crate) fn start(prepared: &Prepared, chooser: &Chooser, threads: usize, interrupt: Interrupt) -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let mut workers = Self {
            clock: ProcessClock::start(),
            orders: Vec::new(),
            events,
            threads: Vec::new(),
            interrupt,
        };
        for number in 0..threads {
            let (order, orders) = unbounded_channel();
            let (prepared, chooser, sender) = (prepared.clone(), chooser.clone(), sender.clone());
            let thread = thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || run_thread(number, threads, &prepared, chooser, orders, &sender))?;
            workers.orders.push(order);
            workers.threads.push(thread);
        }
        drop(sender);
        let mut ready = 0;
        while ready < threads {
            match workers.next_event()? {
                Some(Event::Ready) => ready += 1,
                Some(Event::Broken(error)) => return Err(error),
                _ => {}
            }
        }
        Ok(workers)
    }

    /// Runs a phase on all workers. `on_sample` gets each sample when all workers have sent their part of it, and may end the phase;
    /// `on_wait` is called several times a second.
    ///
    /// # Errors
    /// The errors of `on_sample`, and a thread that died. Errors of the script or the store are in [`Ended`], with the measurements.
    pub(crate) fn work(
        &mut self,
        phase: Phase,
        mut on_sample: impl FnMut(Sample) -> Result<ControlFlow<()>>,
        mut on_wait: impl FnMut(&Phase),
    ) -> Result<Ended> {
        self.clock.lap();
        let phase = Arc::new(phase);
        let (stop, stopped) = Interrupt::by_hand();
        for order in &self.orders {
            let (phase, stop) = (Arc::clone(&phase), stopped.clone());
            order.send(Order { phase, stop }).map_err(|_| broken())?;
        }
        let mut ended = Ended::default();
        let mut chunks: Vec<VecDeque<Chunk>> = self.orders.iter().map(|_| VecDeque::new()).collect();
        let mut time = PhaseTime::new(self.orders.len());
        let mut working = vec![true; self.orders.len()];
        while working.contains(&true) {
            match self.next_event()? {
                Some(Event::Chunk(number, chunk)) => chunks[number].push_back(*chunk),
                Some(Event::Done(number, ending, chunk)) => {
                    working[number] = false;
                    chunks[number].push_back(*chunk);
                    ended.unstarted += ending.unstarted;
                    add_counts(&mut ended.unawaited, &ending.unawaited);
                    if let Some(error) = ending.error {
                        ended.error.get_or_insert(error);
                        stop.send_replace(true);
                    }
                }
                Some(Event::Broken(error)) => return Err(error),
                Some(Event::Ready) | None => {}
            }
            if self.interrupt.came() {
                stop.send_replace(true);
            }
            while let Some(parts) = complete(&mut chunks, &working) {
                let is_last = !working.contains(&true) && chunks.iter().all(VecDeque::is_empty);
                let sample = time.sample(parts, is_last, self.clock.lap());
                // The rest of a worker whose last interval ended with its last cycle.
                if sample.duration_s <= 0.0 && sample.cycles() == 0 && sample.requests() == 0 {
                    continue;
                }
                if on_sample(sample)?.is_break() {
                    stop.send_replace(true);
                }
            }
            on_wait(&phase);
        }
        Ok(ended)
    }

    /// The next event of a worker, or `None` after a tenth of a second. No thread ends while there may be orders, unless it panicked.
    fn next_event(&self) -> Result<Option<Event>> {
        match self.events.recv_timeout(Duration::from_millis(100)) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) if self.threads.iter().any(JoinHandle::is_finished) => Err(broken()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(broken()),
        }
    }
}

fn broken() -> Error {
    Error::Misuse("a worker thread died".to_owned())
}

/// How much of a phase the samples have covered. They follow one another without gaps, and the last one ends when the last worker does: all
/// of them together are as long as the phase was.
struct PhaseTime {
    /// How long each worker has worked.
    worked: Vec<Duration>,
    start: Option<Duration>,
    covered: Duration,
}

impl PhaseTime {
    fn new(workers: usize) -> Self {
        Self {
            worked: vec![Duration::ZERO; workers],
            start: None,
            covered: Duration::ZERO,
        }
    }

    /// The sample of chunks that belong together, each with its worker. It ends where its workers were on average.
    fn sample(&mut self, parts: Vec<(usize, Chunk)>, is_last: bool, cpu: Duration) -> Sample {
        let mut sum = Duration::ZERO;
        for (number, chunk) in &parts {
            self.worked[*number] += chunk.duration;
            sum += self.worked[*number];
        }
        let mean = sum / u32::try_from(parts.len()).unwrap_or(u32::MAX).max(1);
        let end = match is_last {
            true => self.worked.iter().copied().max().unwrap_or_default(),
            false => mean,
        };
        let first = parts.iter().map(|(_, chunk)| chunk.start).min().unwrap_or_default();
        let start = *self.start.get_or_insert(first) + self.covered;
        let duration = end.saturating_sub(self.covered);
        self.covered += duration;
        let mut sample = Sample::merge(parts.into_iter().map(|(_, chunk)| chunk), Some(cpu));
        sample.set_span(start, duration);
        sample
    }
}

/// One chunk of each worker that still works or has one left, when there are.
fn complete(chunks: &mut [VecDeque<Chunk>], working: &[bool]) -> Option<Vec<(usize, Chunk)>> {
    let is_waiting = chunks
        .iter()
        .zip(working)
        .any(|(chunks, working)| chunks.is_empty() && *working);
    if is_waiting || chunks.iter().all(VecDeque::is_empty) {
        return None;
    }
    let parts = chunks.iter_mut().enumerate();
    let parts = parts.filter_map(|(number, chunks)| Some((number, chunks.pop_front()?)));
    Some(parts.collect())
}

/// The body of a thread: it connects, reports that, and runs phases until there are no more orders.
fn run_thread(
    number: usize,
    workers: usize,
    prepared: &Prepared,
    chooser: Chooser,
    mut orders: UnboundedReceiver<Order>,
    events: &mpsc::Sender<Event>,
) {
    // The receiver is gone if the run has failed in another thread.
    let report = |event| drop(events.send(event));
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return report(Event::Broken(e.into())),
    };
    runtime.block_on(async {
        let worker = match Worker::new(number, workers, prepared, chooser).await {
            Ok(worker) => worker,
            Err(error) => return report(Event::Broken(error)),
        };
        report(Event::Ready);
        while let Some(Order { phase, stop }) = orders.recv().await {
            let send = |chunk| report(Event::Chunk(number, Box::new(chunk)));
            let (ending, rest) = worker.work(&phase, stop, &send).await;
            report(Event::Done(number, ending, Box::new(rest)));
        }
    });
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.orders.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::stats::Recorder;

    /// The chunks of a worker that took them at these times, in milliseconds.
    fn chunks(times: &[u64]) -> Vec<Chunk> {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        let times = times.iter().map(|time| start + Duration::from_millis(*time));
        times.map(|time| recorder.take(time)).collect()
    }

    #[test]
    fn samples_are_as_long_together_as_the_phase() {
        // The first worker's last cycle ended long before the second's; samples came a little early and late.
        let workers = [chunks(&[990, 2_010, 2_500]), chunks(&[1_010, 1_990, 3_000, 4_000])];
        let mut queues = workers.map(VecDeque::from);
        let mut time = PhaseTime::new(2);
        let mut samples = Vec::new();
        while let Some(parts) = complete(&mut queues, &[false, false]) {
            let is_last = queues.iter().all(VecDeque::is_empty);
            samples.push(time.sample(parts, is_last, Duration::ZERO));
        }
        let spans: Vec<(f64, f64)> = samples.iter().map(|one| (one.start_s, one.duration_s)).collect();
        assert_eq!(spans, [(0.0, 1.0), (1.0, 1.0), (2.0, 0.75), (2.75, 1.25)]);
    }
}
