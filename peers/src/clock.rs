//! Two clocks: the processor time of this process, kernel time with it, and the time on the wall.
//!
//! Processor time is what ratios are made of: it stays the same when other programs run beside.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// How long one run took.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Processor time, the median of the runs.
    pub cpu: Duration,
    /// Time on the wall, the shortest of the runs.
    pub wall: Duration,
}

impl Times {
    /// Runs `run` once to warm up and then until there are five runs, and more as long as a third of a second is not over.
    /// What `prepare` does, and what happens to the answer, is not counted.
    pub fn of<P, A>(mut prepare: impl FnMut() -> P, mut run: impl FnMut(P) -> A) -> Self {
        black_box(run(black_box(prepare())));
        let mut cpu = Vec::new();
        let mut wall = Vec::new();
        let begin = Instant::now();
        while cpu.len() < 5 || (begin.elapsed() < Duration::from_millis(333) && cpu.len() < 201) {
            let prepared = black_box(prepare());
            let (clock, cpu_clock) = (Instant::now(), processor_time());
            let answer = run(prepared);
            cpu.push(processor_time() - cpu_clock);
            wall.push(clock.elapsed());
            black_box(answer);
        }
        cpu.sort_unstable();
        Self {
            cpu: cpu[cpu.len() / 2],
            wall: wall.into_iter().min().unwrap_or_default(),
        }
    }
}

/// The processor time of this process so far, kernel time with it.
pub fn processor_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(tv_sec.unsigned_abs(), u32::try_from(tv_nsec).unwrap_or_default())
}
