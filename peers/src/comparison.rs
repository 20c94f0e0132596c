//! One question put to several contenders: each does the same work on the same bytes in turn, and the shortest of its runs
//! counts.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// What is compared: the data and the question.
pub struct Comparison {
    rows: u64,
    bytes: u64,
    first: Option<Duration>,
}

impl Comparison {
    /// Prints the question and the head of the table. `rows` and `bytes` are those of the data that every contender reads.
    pub fn new(question: &str, rows: u64, bytes: u64) -> Self {
        println!("\n{question}: {rows} rows, {bytes} bytes");
        println!("{:<44} {:>9} {:>12} {:>9} {:>8}", "", "ms", "rows/s", "MB/s", "ratio");
        Self {
            rows,
            bytes,
            first: None,
        }
    }

    /// Measures one contender. `prepare` is not counted; `answer` is what `run` must return, or the line would compare
    /// unequal work. The ratio is to the first contender.
    ///
    /// # Panics
    ///
    /// When the answer is another one.
    pub fn contender<P, A: PartialEq + std::fmt::Debug>(
        &mut self,
        name: &str,
        answer: &A,
        mut prepare: impl FnMut() -> P,
        mut run: impl FnMut(P) -> A,
    ) {
        let best = (0..RUNS)
            .map(|_| {
                let prepared = black_box(prepare());
                let start = Instant::now();
                let found = run(prepared);
                let time = start.elapsed();
                assert_eq!(&found, answer, "{name}");
                time
            })
            .min()
            .unwrap_or_default();
        let first = *self.first.get_or_insert(best);
        let seconds = best.as_secs_f64();
        println!(
            "{name:<44} {:>9.2} {:>12.0} {:>9.1} {:>8.2}",
            seconds * 1e3,
            self.rows as f64 / seconds,
            self.bytes as f64 / seconds / 1e6,
            seconds / first.as_secs_f64(),
        );
    }
}

const RUNS: u32 = 9;
