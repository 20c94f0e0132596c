//! What a run prints in the layout of Latte's fork, as programs read it that were written for that.
//!
//! The readers here look for what scylla-cluster-tests looks for (`parse_final_output` of `sdcm/stress/latte_thread.py` and `LatteExporter` of
//! `sdcm/loader.py`): a label or unit and a number that ends with a blank.

use std::os::unix::process::CommandExt as _;

use crate::common::{Bench, Ran};

/// The throughput, the 99th percentile and the mean of latencies.
#[derive(Debug, Default, PartialEq)]
struct Final {
    throughput: Option<u64>,
    p99: Option<f64>,
    mean: Option<f64>,
}

/// The number at the beginning, if it is one and ends with a blank.
fn number(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    (rest.starts_with(char::is_whitespace) && !number.is_empty()).then_some(number)
}

fn read_final(out: &str) -> Final {
    let mut found = Final::default();
    for line in out.rsplit("SUMMARY STATS").next().unwrap().lines() {
        let text = line.trim_start();
        if text.starts_with("Throughput")
            && let Some((_, rest)) = text.split_once("[op/s]")
        {
            found.throughput = number(rest).and_then(|number| number.parse().ok());
        } else if let Some(rest) = line.split_once(" 99 ").filter(|(blank, _)| blank.trim().is_empty()) {
            found.p99 = number(rest.1)
                .filter(|number| number.contains('.'))
                .and_then(|number| number.parse().ok());
        } else if let Some(rest) = text
            .strip_prefix("Request latency")
            .or_else(|| text.strip_prefix("Mean resp. time"))
        {
            let rest = rest.trim_start();
            let rest = rest.strip_prefix("[ms]").unwrap_or(rest);
            found.mean = number(rest)
                .filter(|number| number.contains('.'))
                .and_then(|number| number.parse().ok());
        }
    }
    found
}

/// The samples: lines of numbers alone, behind a time in brackets where the log has one.
fn read_samples(out: &str) -> Vec<Vec<f64>> {
    let columns = |line: &str| -> Option<Vec<f64>> {
        let line = line.split_once(']').map_or(line, |(_, rest)| rest);
        line.split_whitespace().map(|column| column.parse().ok()).collect()
    };
    let lines = out.lines().filter_map(columns);
    // Of shorter ones, such as the elapsed time, the reader says that it cannot use them, as it does of Latte's own.
    lines.filter(|columns| columns.len() == 12).collect()
}

fn check(bench: &Bench, ran: &Ran) {
    let results = &bench.results("r.json")[0];
    let found = read_final(&ran.out);
    let latency = &results["request_latency_ms"];
    let p99 = latency["percentiles"].as_array().unwrap();
    let p99 = p99.iter().find(|one| one["percent"] == 99.0).unwrap();
    let near = |found: Option<f64>, value: &serde_json::Value| {
        let value = value.as_f64().unwrap();
        assert!(
            (found.unwrap() - value).abs() <= 0.000_51,
            "{found:?} for {value}\n{}",
            ran.out
        );
    };
    let throughput = results["cycles_per_s"]["value"].as_f64().unwrap();
    assert_eq!(found.throughput, Some(throughput.round() as u64), "{}", ran.out);
    near(found.p99, &p99["value"]);
    near(found.mean, &latency["mean"]["value"]);
    let samples = read_samples(&ran.out);
    assert!(samples.len() >= 2, "{}", ran.out);
    let mut cycles = 0.0;
    for sample in &samples {
        cycles += sample[1];
        assert_eq!(sample[2], 0.0);
        assert!(sample[4..].is_sorted(), "{sample:?}");
    }
    assert_eq!(cycles, 600.0);
}

#[test]
fn programs_that_read_the_fork_find_their_numbers() {
    let bench = Bench::new("mem:");
    let arguments = [
        "run",
        "key_value.rn",
        "-q",
        "-d",
        "600",
        "-s",
        "200",
        "-P",
        "rows=50",
        "-o",
        "r.json",
    ];
    let ran = bench.run(&[&arguments[..], &["--layout", "latte"]].concat()).good();
    check(&bench, &ran);
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_tidemill-bench"))
        .args(["show", "--layout", "latte"])
        .arg(bench.file("r.json"))
        .output()
        .unwrap();
    let shown = Ran::from(shown).good();
    assert_eq!(read_final(&shown.out), read_final(&ran.out));

    // A program that is called so prints so.
    let mut named = bench.command(&arguments);
    check(
        &bench,
        &Ran::from(named.arg0("/usr/local/bin/latte").output().unwrap()).good(),
    );
    let mut named = bench.command(&[&arguments[..], &["--layout", "full"]].concat());
    let full = Ran::from(named.arg0("latte").output().unwrap()).good();
    assert_eq!(read_final(&full.out), Final::default());
    bench
        .run(&[&arguments[..], &["--layout", "latte", "--format", "csv"]].concat())
        .fails(2, "cannot be used with");
}
