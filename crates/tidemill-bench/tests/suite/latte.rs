//! What Latte 0.29 itself wrote is read as it means it, and its scripts get the values that it gives them.

use crate::common::Bench;
use tidemill_bench::{
    report::Report,
    stats::{Latencies, Results},
};
use tidemill_testkit::{corpus, corpus_bytes};

/// The words of the line of Latte's `show` that begins with `name`, behind the first line that begins with `section`: of the
/// baseline and of the report.
fn shown(section: &str, name: &str) -> [f64; 2] {
    let text = String::from_utf8(corpus_bytes("bench/latte/paced.txt")).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with(section)).skip(1);
    let mut lines = lines.filter_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(' '));
    let line = lines.next().unwrap_or_else(|| panic!("{section}: {name}"));
    let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('[')).collect();
    let mut numbers = words.split(|word| *word == "±");
    let [first, second] = match (numbers.next().unwrap(), numbers.next()) {
        // Without errors: one behind the other.
        ([first, second, ..], _) => [first, second],
        ([first], Some([_, second])) => [first, second],
        other => panic!("{section}: {name}: {other:?}"),
    };
    [first.parse().unwrap(), second.parse().unwrap()]
}

fn results() -> [Results; 2] {
    ["latte_full", "latte_paced"].map(|name| {
        let path = corpus(format!("bench/reports/{name}.json"));
        let mut latencies = Latencies::default();
        let mut cycles = 0;
        let report = Report::read(&path, &mut |_, sample| {
            cycles += sample.cycles();
            latencies.add(&sample.cycle_latencies());
            Ok(())
        });
        let results = report.unwrap().runs.remove(0).results;
        assert_eq!((results.cycles, cycles), (cycles, latencies.count()));
        results
    })
}

#[test]
fn numbers_of_latte_s_reports_are_those_that_it_shows() {
    let results = results();
    let near = |what: &str, found: [f64; 2], expected: [f64; 2], unit: f64| {
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= unit / 2.0 + 1e-9,
                "{what}: {found}, {expected} by Latte"
            );
        }
    };
    let of = |get: &dyn Fn(&Results) -> f64| [get(&results[0]), get(&results[1])];
    for (name, percentile) in [
        ("Min", 0.0),
        ("25", 25.0),
        ("50", 50.0),
        ("75", 75.0),
        ("90", 90.0),
        ("95", 95.0),
        ("98", 98.0),
        ("99", 99.0),
        ("99.9", 99.9),
        ("99.99", 99.99),
        ("Max", 100.0),
    ] {
        let found = of(&|results| {
            let times = results.service_time_ms.as_ref().unwrap();
            times.percentile(percentile).unwrap().value
        });
        near(name, found, shown("CYCLE LATENCY", name), 0.001);
    }
    let mean = of(&|results| results.service_time_ms.as_ref().unwrap().mean.value);
    near("mean", mean, shown("SUMMARY", "Cycle latency"), 0.001);
    let mean = of(&|results| results.request_latency_ms.as_ref().unwrap().mean.value);
    near("requests", mean, shown("SUMMARY", "Request latency"), 0.001);
    near(
        "cycles",
        of(&|results| results.cycles as f64),
        shown("SUMMARY", "Cycles"),
        0.0,
    );
    near(
        "elapsed",
        of(&|results| results.elapsed_s),
        shown("SUMMARY", "Elapsed time"),
        0.001,
    );
}

#[test]
fn values_of_a_script_are_those_that_latte_gives_it() {
    let bench = Bench::new("mem:");
    let script = corpus("bench/values/values.rn");
    let ran = bench.run(&[
        "run",
        script.to_str().unwrap(),
        "-d",
        "1",
        "-w",
        "0",
        "-q",
        "-o",
        "r.json",
    ]);
    let printed = ran.good().out;
    let lines: Vec<&str> = printed.lines().collect();
    let expected = String::from_utf8(corpus_bytes("bench/values/latte.txt")).unwrap();
    assert_eq!(expected.lines().count(), 70);
    for line in expected.lines() {
        assert!(lines.contains(&line), "not printed: {line}");
    }
}
