//! Runs of made-up servers on a made-up clock: the recorders see instants that nobody waited for.

use std::time::{Duration, Instant};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use tidemill_bench::stats::{FunctionId, Recorder, Sample};

/// A run of `seconds`, a sample each, with `rate` cycles a second whose service takes `service(scheduled, random)`. One
/// worker serves them one behind another, so a slow one makes the next ones late.
pub(crate) fn queue(
    seed: u64,
    seconds: u64,
    rate: u64,
    mut service: impl FnMut(Duration, &mut StdRng) -> Duration,
    mut sample: impl FnMut(Sample),
) {
    let mut random = StdRng::seed_from_u64(seed);
    let start = Instant::now();
    let mut recorder = Recorder::new(&["read".into()], start);
    let statement = recorder.statement("SELECT v FROM t WHERE k = ?");
    let mut free = start;
    for second in 0..seconds {
        for cycle in 0..rate {
            let since_start = Duration::from_secs(second) + Duration::from_secs(1) * cycle as u32 / rate as u32;
            let scheduled = start + since_start;
            let started = scheduled.max(free);
            let ended = started + service(started - start, &mut random);
            free = ended;
            recorder.request_started(started);
            recorder.request(statement, started, ended, 1, 0, Ok(()));
            let outcome = if random.random_bool(0.001) {
                Err("timeout")
            } else {
                Ok(())
            };
            recorder.cycle(FunctionId(0), scheduled, started, ended, outcome);
        }
        let chunk = recorder.take(start + Duration::from_secs(second + 1));
        sample(Sample::merge([chunk], Some(Duration::from_millis(20))));
    }
}

/// An exponential time with this mean.
pub(crate) fn exponential(random: &mut StdRng, mean: Duration) -> Duration {
    mean.mul_f64(-(1.0 - random.random::<f64>()).ln())
}
