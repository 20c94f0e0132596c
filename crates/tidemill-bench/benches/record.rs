//! What recording costs: a million cycles of one request each, whose latencies vary, in processor time. The clock isn't read
//! here: instants are made beforehand. `cargo bench -p tidemill-bench --bench record`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tidemill_bench::stats::{FunctionId, ProcessClock, Recorder, Sample, Summary};

const CYCLES: u32 = 1_000_000;
const ROUNDS: usize = 9;

fn main() {
    let start = Instant::now();
    // Latencies from 0.2 to 1.2 ms with a tail, in no order.
    let ended: Vec<Instant> = (0..CYCLES)
        .map(|cycle| {
            let random = cycle.wrapping_mul(2_654_435_761) >> 12;
            let tail = if random % 1_000 == 0 { 20_000_000 } else { 0 };
            start + Duration::from_nanos(u64::from(200_000 + random + tail))
        })
        .collect();
    let mut recorder = Recorder::new(&["run".into()], start);
    let statement = recorder.statement("insert");
    let function = FunctionId(0);
    report("cycle()", &mut || {
        for &ended in &ended {
            recorder.cycle(function, start, start, black_box(ended), Ok(()));
        }
    });
    report("request_started() and request()", &mut || {
        for &ended in &ended {
            recorder.request_started(start);
            recorder.request(statement, start, black_box(ended), 1, 0, Ok(()));
        }
    });
    report("all three", &mut || {
        for &ended in &ended {
            recorder.request_started(start);
            recorder.request(statement, start, black_box(ended), 1, 0, Ok(()));
            recorder.cycle(function, start, start, black_box(ended), Ok(()));
        }
    });

    let sample = Sample::merge([recorder.take(start + Duration::from_secs(1))], None);
    let mut summary = Summary::default();
    let mut clock = ProcessClock::start();
    for _ in 0..100 {
        summary.add(&sample);
    }
    let add = clock.lap();
    let line = serde_json::to_string(&sample).expect("a sample is JSON");
    let write = clock.lap();
    black_box(summary.results());
    let results = clock.lap();
    println!(
        "a sample: {:.2} ms to add up, {:.2} ms to write, {} bytes",
        add.as_secs_f64() * 10.0,
        write.as_secs_f64() * 1e3,
        line.len()
    );
    println!("the results: {:.2} ms", results.as_secs_f64() * 1e3);
}

/// The median of several rounds.
fn report(what: &str, round: &mut dyn FnMut()) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut clock = ProcessClock::start();
            round();
            clock.lap().as_secs_f64() * 1e9 / f64::from(CYCLES)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{what}: {:.1} ns ({:.1} to {:.1})",
        times[ROUNDS / 2],
        times[0],
        times[ROUNDS - 1]
    );
}
