//! The processor time of the client itself: a client that is busy measures itself.

use std::{
    num::NonZero,
    thread::{self, ThreadId},
    time::Duration,
};

use nix::time::{ClockId, clock_gettime};

/// The processor time of this process since a moment.
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock {
    last: Duration,
}

impl ProcessClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self {
            last: spent(ClockId::CLOCK_PROCESS_CPUTIME_ID),
        }
    }

    /// The processor time since the last call, user and system, of all threads.
    pub fn lap(&mut self) -> Duration {
        let now = spent(ClockId::CLOCK_PROCESS_CPUTIME_ID);
        let lap = now.saturating_sub(self.last);
        self.last = now;
        lap
    }
}

/// The processor time of the thread that reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock {
    thread: ThreadId,
    last: Duration,
}

impl ThreadClock {
    pub(crate) fn start() -> Self {
        Self {
            thread: thread::current().id(),
            last: spent(ClockId::CLOCK_THREAD_CPUTIME_ID),
        }
    }

    /// The processor time since the last call; nothing when another thread made that one.
    pub(crate) fn lap(&mut self) -> Option<Duration> {
        let now = Self::start();
        let lap = (now.thread == self.thread).then(|| now.last.saturating_sub(self.last));
        *self = now;
        lap
    }
}

/// How many cores there are for the client.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn spent(clock: ClockId) -> Duration {
    clock_gettime(clock).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn clocks_count_work_and_not_sleep() {
        let (mut process, mut own) = (ProcessClock::start(), ThreadClock::start());
        let mut work = 0_u64;
        while own.lap().unwrap() == Duration::ZERO {
            (0..100_000).for_each(|step| work = black_box(work.wrapping_mul(31).wrapping_add(step)));
        }
        assert!(process.lap() > Duration::ZERO);
        own.lap();
        thread::sleep(Duration::from_millis(50));
        assert!(own.lap().unwrap() < Duration::from_millis(25));
    }

    #[test]
    fn another_thread_has_another_clock() {
        let mut clock = ThreadClock::start();
        thread::scope(|scope| scope.spawn(|| assert_eq!(clock.lap(), None)).join().unwrap());
    }
}
