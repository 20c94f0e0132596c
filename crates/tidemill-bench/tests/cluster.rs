//! Load tests of a cluster of two nodes, one of which stands still or dies.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::{
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use common::{Bench, Ran};
use tidemill_testkit::Cassandra;

/// Every row is on both nodes.
const WORKLOAD: &str = r#"
pub async fn schema(ctx) {
    ctx.execute("CREATE KEYSPACE two WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}").await?;
    ctx.execute("CREATE TABLE two.t (id bigint PRIMARY KEY, text text)").await?;
    Ok(())
}

pub async fn prepare(ctx) {
    ctx.load_cycle_count = 1000;
    ctx.prepare("read", "SELECT text FROM two.t WHERE id = ?").await?;
    ctx.prepare("write", "INSERT INTO two.t (id, text) VALUES (?, 'text')").await?;
    Ok(())
}

pub async fn load(ctx, i) {
    ctx.execute_prepared("write", [i]).await
}

pub async fn read(ctx, i) {
    ctx.execute_prepared("read", [i % 1000]).await
}

pub async fn write(ctx, i) {
    ctx.execute_prepared("write", [i % 1000]).await
}
"#;

/// A run of nine seconds, 200 cycles a second, which has begun to measure.
fn begin(bench: &Bench, report: &str, arguments: &[&str]) -> Child {
    let run = [
        "run",
        "w.rn",
        "-d",
        "9s",
        "-r",
        "200",
        "-s",
        "500ms",
        "--consistency",
        "one",
        "-q",
        "-o",
        report,
    ];
    let mut command = bench.command(&[&run[..], arguments].concat());
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while std::fs::read_to_string(bench.file(report)).map_or(0, |text| text.lines().count()) < 3 {
        sleep(Duration::from_millis(50));
    }
    running
}

/// The longest that a cycle took from its schedule, in milliseconds, of a run that ended without errors.
fn longest(bench: &Bench, report: &str, running: Child) -> f64 {
    Ran::from(running.wait_with_output().unwrap()).good();
    let results = &bench.results(report)[0];
    assert!(
        results["cycle_errors"].is_null(),
        "{report}: {}",
        results["cycle_errors"]
    );
    let cycles = results["cycles"].as_u64().unwrap();
    assert!((1_780..=1_820).contains(&cycles), "{report}: {cycles}");
    let percentiles = results["cycle_latency_ms"]["percentiles"].as_array().unwrap();
    let longest = percentiles.last().unwrap();
    assert_eq!(longest["percent"], 100.0);
    longest["value"].as_f64().unwrap()
}

#[test]
fn a_node_that_stands_still_or_dies_does_not_end_a_run() {
    let Some([first, second]) = Cassandra::need_two() else {
        return;
    };
    let bench = Bench::new(first.native().to_string());
    bench.write("w.rn", WORKLOAD);
    bench.run(&["schema", "w.rn"]).good();
    // The second node hears of the schema when it has heard of the first.
    let begun = Instant::now();
    while bench.run(&["load", "w.rn"]).code != Some(0) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the nodes do not agree");
        sleep(Duration::from_millis(500));
    }

    let still = |report: &str, arguments: &[&str]| {
        let running = begin(&bench, report, arguments);
        second.pause(true).unwrap();
        sleep(Duration::from_secs(3));
        second.pause(false).unwrap();
        longest(&bench, report, running)
    };
    let waited = still("waits.json", &["-f", "read"]);
    assert!(waited > 2_000.0, "half of the reads wait for the node: {waited}");
    let speculated = still("speculates.json", &["-f", "read", "--speculate-after", "100ms"]);
    assert!(speculated < 1_500.0, "the other node is asked: {speculated}");

    // Requests that were on their way to it are sent to the other when they are told to be.
    let running = begin(
        &bench,
        "dies.json",
        &["-f", "read", "-f", "write", "--retry-on-all-errors"],
    );
    drop(second);
    longest(&bench, "dies.json", running);
}
