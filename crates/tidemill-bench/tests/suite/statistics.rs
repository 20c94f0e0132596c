//! What is reported of made-up servers is what theory says of them.

use std::time::{Duration, Instant};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::Value;
use tidemill_bench::{
    report::{Report, Run, RunConfig, compared},
    stats::{Distribution, Estimate, FunctionId, Recorder, Results, Sample, Summary},
};

use crate::simulation::{exponential, queue};

fn summarise(
    seed: u64,
    seconds: u64,
    rate: u64,
    service: impl FnMut(Duration, &mut rand::rngs::StdRng) -> Duration,
) -> Summary {
    let mut summary = Summary::on_cores(2);
    queue(seed, seconds, rate, service, |sample| summary.add(&sample));
    summary
}

fn percentile(times: &Option<Distribution>, percent: f64) -> f64 {
    let times = times.as_ref().expect("times that were measured");
    times.percentile(percent).expect("a percentile of the list").value
}

/// A server that answers in 50 µs and stalls once for 200 ms: of 10,000 cycles at 1,000 a second, 200 are due in the stall
/// and wait for what is left of it, less what the queue works off. Cycles that wait are 200 / (1 - 0.05) = 210.5; the
/// latency that a share s of all exceeds is 200 ms · (1 - s · 10,000 / 210.5).
#[test]
fn a_stall_counts_for_all_that_were_due_in_it() {
    let mut stalled = false;
    let summary = summarise(1, 10, 1_000, |at, _| {
        if !stalled && at >= Duration::from_secs(5) {
            stalled = true;
            return Duration::from_millis(200);
        }
        Duration::from_micros(50)
    });
    let results = summary.results();
    for percent in [98.0_f64, 99.0, 99.9, 99.99] {
        let waiting = 10_000.0 * (1.0 - percent / 100.0);
        let expected: f64 = 200.0 * (1.0 - waiting / (200.0 / 0.95));
        let expected = expected.max(0.05);
        let found = percentile(&results.cycle_latency_ms, percent);
        assert!(
            (found - expected).abs() < 1.2,
            "p{percent}: {found} ms, expected {expected} ms"
        );
    }
    assert!((percentile(&results.cycle_latency_ms, 50.0) - 0.05).abs() < 0.001);
    // From the send there is one slow cycle.
    assert!(percentile(&results.service_time_ms, 99.9) < 0.06);
    assert!((percentile(&results.service_time_ms, 100.0) - 200.0).abs() < 0.2);
    // 9,999 × 50 µs and 200 ms in 10 s.
    assert!((results.concurrency.unwrap().value - 0.07).abs() < 0.001);
}

/// An M/M/1-like queue at half load: the wait is exponential in theory when arrivals are Poisson; with fixed arrivals
/// (D/M/1) the mean latency is 1 / (μ (1 - σ)), σ the root of σ = exp(-(1 - σ) μ / λ).
#[test]
fn intervals_of_confidence_contain_the_truth_of_a_queue() {
    // Service 1.25 ms on average, one arrival each millisecond and a half: neighbours resemble each other much.
    let (mean, interval) = (1.25_f64, 1.0 / 0.6);
    let mut root = 0.5_f64;
    for _ in 0..200 {
        root = (-(1.0 - root) * interval / mean).exp();
    }
    let truth = mean / (1.0 - root);
    let median = truth * 2.0_f64.ln();
    let (mut of_mean, mut of_median, mut naive) = (0, 0, 0);
    const RUNS: u64 = 32;
    for seed in 0..RUNS {
        let summary = summarise(seed, 12, 600, |_, random| {
            exponential(random, Duration::from_nanos(1_250_000))
        });
        let latency = summary.results().cycle_latency_ms.unwrap();
        let covers = |low: Option<f64>, high: Option<f64>, truth: f64| {
            usize::from(low.unwrap() * 0.999 <= truth && truth <= high.unwrap() * 1.001)
        };
        of_mean += covers(latency.mean.low, latency.mean.high, truth);
        let found = latency.percentile(50.0).unwrap();
        of_median += covers(found.low, found.high, median);
        let error = 1.96 * latency.deviation / (latency.count as f64).sqrt();
        naive += covers(
            Some(latency.mean.value - error),
            Some(latency.mean.value + error),
            truth,
        );
        assert!(latency.effective_count < latency.count as f64);
    }
    let share = |covered: usize| covered as f64 / RUNS as f64;
    assert!(share(of_mean) >= 0.875, "mean: {}", share(of_mean));
    assert!(share(of_median) >= 0.875, "median: {}", share(of_median));
    // What the intervals would be worth without the correction.
    assert!(share(naive) < 0.75, "naive: {}", share(naive));
}

#[test]
fn throughput_and_errors_are_those_of_the_schedule() {
    let results = summarise(3, 20, 1_000, |_, random| {
        exponential(random, Duration::from_micros(100))
    })
    .results();
    assert_eq!(
        (results.cycles, results.requests, results.rows, results.samples),
        (20_000, 20_000, 20_000, 20)
    );
    assert_eq!(results.cycles_per_s.value, 1_000.0);
    assert_eq!(results.functions["read"].cycles, 20_000);
    assert_eq!(results.functions["read"].errors, results.cycle_errors);
    let errors = results.cycle_errors["timeout"];
    assert!((5..40).contains(&errors), "{errors}");
    assert_eq!(results.statements["SELECT v FROM t WHERE k = ?"].requests, 20_000);
    assert!((results.client.cpu_share.unwrap() - 0.01).abs() < 1e-9);
    assert_eq!(results.client.warning, None);
}

#[test]
fn warm_up_counts_for_nothing() {
    let mut summary = Summary::on_cores(1);
    queue(
        4,
        4,
        100,
        |at, _| Duration::from_millis(if at < Duration::from_secs(2) { 5 } else { 1 }),
        |mut sample| {
            sample.warm_up = sample.start_s < 2.0;
            summary.add(&sample);
        },
    );
    let results = summary.results();
    assert_eq!((results.samples, results.cycles, results.elapsed_s), (2, 200, 2.0));
    assert!(percentile(&results.service_time_ms, 100.0) < 1.01);
}

#[test]
fn a_busy_client_is_said() {
    let busy = |cpu_s: f64, busiest_worker: f64| {
        let mut summary = Summary::on_cores(4);
        let sample = Sample {
            duration_s: 1.0,
            cpu_s: Some(cpu_s),
            busiest_worker: Some(busiest_worker),
            ..Sample::default()
        };
        (0..3).for_each(|_| summary.add(&sample));
        summary.results().client.warning.unwrap_or_default()
    };
    assert_eq!(busy(1.0, 0.5), "");
    assert!(busy(1.0, 0.97).contains("97 %") && busy(1.0, 0.97).contains("-t"));
    assert!(busy(3.9, 0.5).contains("98 % of its cores"), "{}", busy(3.9, 0.5));
}

/// A day in samples of a second takes no more than an hour does.
#[test]
fn more_than_two_to_the_31_cycles_overflow_nothing() {
    let mut one = None;
    queue(
        5,
        1,
        1_000,
        |_, random| exponential(random, Duration::from_micros(100)),
        |sample| one = Some(sample),
    );
    let mut sample = one.unwrap();
    // Doubled 24 times: 16 billion cycles a second.
    for _ in 0..24 {
        let copy = sample.clone();
        sample.add(&copy);
    }
    let mut summary = Summary::on_cores(2);
    (0..100).for_each(|_| summary.add(&sample));
    let results = summary.results();
    assert_eq!(results.cycles, 100_000 << 24);
    let latency = results.cycle_latency_ms.unwrap();
    assert_eq!(latency.count, results.cycles);
    let p99 = latency.percentile(99.99).unwrap();
    assert!(p99.low.unwrap() <= p99.value && p99.value <= p99.high.unwrap());
    assert!(p99.high.unwrap() < 2.0 && results.cycles_per_s.value == 1_000.0 * f64::from(1 << 24));
}

/// A short run whose latencies resemble their neighbours, now and then with a burst, in one or several workers.
fn correlated(random: &mut StdRng) -> Results {
    let phi: f64 = [0.0, 0.5, 0.9, 0.99, 0.999][random.random_range(0..5)];
    let spread: f64 = random.random_range(0.05..2.5);
    let samples = random.random_range(1..14_u32);
    let start = Instant::now();
    let workers = random.random_range(1..3);
    let mut workers: Vec<(Recorder, f64)> = (0..workers)
        .map(|_| (Recorder::new(&["a".into(), "b".into()], start), 0.0))
        .collect();
    let mut summary = Summary::on_cores(2);
    for sample in 1..=samples {
        let begun = start + Duration::from_secs(1) * (sample - 1);
        let burst = if random.random_bool(0.1) { 100.0 } else { 1.0 };
        let chunks = workers.iter_mut().map(|(recorder, level)| {
            let statement = recorder.statement("select");
            for _ in 0..random.random_range(0..80) {
                *level = phi * *level + (1.0 - phi * phi).sqrt() * (random.random::<f64>() * 3.4 - 1.7);
                let started = begun + Duration::from_micros(random.random_range(0..900_000));
                let ended = started + Duration::from_micros(300).mul_f64(burst * (spread * *level).exp());
                let late = if random.random_bool(0.5) { 0 } else { 700 };
                let scheduled = started - Duration::from_micros(late).min(started - start);
                recorder.request_started(started);
                recorder.request(statement, started, ended, 1, 0, Ok(()));
                recorder.cycle(FunctionId(random.random_range(0..2)), scheduled, started, ended, Ok(()));
                recorder.metric("below", -random.random::<f64>());
            }
            let length = if sample == samples {
                random.random_range(0.01..1.0)
            } else {
                1.0
            };
            recorder.take(begun + Duration::from_secs_f64(length))
        });
        let chunks: Vec<_> = chunks.collect();
        summary.add(&Sample::merge(chunks, Some(Duration::from_millis(20))));
    }
    summary.results()
}

fn holds(what: &str, value: f64, low: Option<f64>, high: Option<f64>, least: f64) {
    assert!(value.is_finite(), "{what}: {value}");
    assert!(
        low.is_none_or(|low| least <= low && low <= value),
        "{what}: {low:?} … {value}"
    );
    assert!(high.is_none_or(|high| value <= high), "{what}: {value} … {high:?}");
}

/// Every number with an interval, wherever it stands.
fn numbers_hold(path: &str, value: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(number) = fields.get("value") {
                let end = |name: &str| fields.get(name).and_then(Value::as_f64);
                let least = if path.contains("below") { f64::MIN } else { 0.0 };
                holds(
                    path,
                    number.as_f64().unwrap_or(f64::NAN),
                    end("low"),
                    end("high"),
                    least,
                );
            }
            fields
                .iter()
                .for_each(|(name, field)| numbers_hold(&format!("{path}/{name}"), field));
        }
        Value::Array(parts) => parts.iter().for_each(|part| numbers_hold(path, part)),
        _ => {}
    }
}

/// Whatever was measured: an interval holds its value, and nothing that is counted or timed is below 0.
#[test]
fn intervals_hold_their_values_and_nothing_below_zero() {
    for seed in 0..27 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut report = |runs: usize| {
            let runs = (0..runs).map(|_| {
                let results = correlated(&mut random);
                numbers_hold(&format!("seed {seed}: "), &serde_json::to_value(&results).unwrap());
                Run {
                    results,
                    complete: true,
                }
            });
            Report {
                path: "made-up.json".into(),
                config: RunConfig::default(),
                runs: runs.collect(),
            }
        };
        let (own, baseline) = (report(1 + seed as usize % 3), report(1 + seed as usize / 3 % 3));
        for one in compared(&own, Some(&baseline)) {
            let what = format!(
                "seed {seed}: {:?} {} {}",
                one.quantity.scope, one.quantity.name, one.quantity.statistic
            );
            let least = if one.quantity.name == "metric" { f64::MIN } else { 0.0 };
            let check = |Estimate { value, low, high, .. }: Estimate| holds(&what, value, low, high, least);
            check(one.quantity.estimate);
            one.baseline.into_iter().for_each(check);
            if let Some(comparison) = one.comparison
                && let Some(change) = comparison.change
            {
                holds(&what, change, comparison.low, comparison.high, -1.0);
            }
        }
    }
}
