//! Load tests of a cluster of two nodes: whom a request is sent to, and what happens when one stands still or dies.

use std::{
    process::{Child, Stdio},
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::common::{Bench, Ran};
use scylla::{client::session_builder::SessionBuilder, policies::host_filter::AllowListHostFilter};
use tidemill_testkit::Cassandra;

/// Every row is on both nodes.
const WORKLOAD: &str = r#"
pub async fn schema(ctx) {
    ctx.execute("CREATE KEYSPACE IF NOT EXISTS two WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}").await?;
    ctx.execute("CREATE TABLE IF NOT EXISTS two.t (id bigint PRIMARY KEY, text text)").await?;
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

/// How many reads of a table of `near` a node was asked for by clients, and how many it answered from its own rows.
fn reads(node: &Cassandra, table: &str) -> (i64, i64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let count = async |view: &str| {
        let only = AllowListHostFilter::new([node.native()]).unwrap();
        let builder = SessionBuilder::new()
            .known_node_addr(node.native())
            .host_filter(Arc::new(only));
        let cql = format!(
            "SELECT count FROM system_views.{view}_read_latency WHERE keyspace_name = 'near' AND table_name = '{table}'"
        );
        let rows = builder.build().await.unwrap().query_unpaged(cql, ()).await.unwrap();
        let rows = rows.into_rows_result().unwrap();
        rows.maybe_first_row::<(i64,)>().unwrap().map_or(0, |(count,)| count)
    };
    runtime.block_on(async { (count("coordinator").await, count("local").await) })
}

/// The same, each row on one of the nodes.
const NEAR: &str = r#"
const KEY = latte::param!("key", 0);

pub async fn schema(ctx) {
    ctx.execute("CREATE KEYSPACE IF NOT EXISTS near WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await?;
    ctx.execute("CREATE TABLE IF NOT EXISTS near.t (id bigint PRIMARY KEY)").await?;
    ctx.execute("CREATE TABLE IF NOT EXISTS near.two (a text, b bigint, PRIMARY KEY ((a, b)))").await?;
    Ok(())
}

pub async fn prepare(ctx) {
    ctx.prepare("read", "SELECT id FROM near.t WHERE id = ?").await?;
    ctx.prepare("read_named", "SELECT a FROM near.two WHERE b = :b AND a = :a").await?;
    Ok(())
}

pub async fn read(ctx, i) {
    ctx.execute_prepared("read", [KEY]).await
}

// Not of the shape that is run without a machine.
pub async fn named(ctx, i) {
    if i >= 0 {
        ctx.execute_prepared("read_named", #{ a: "a b", b: KEY }).await?;
    }
}
"#;

#[test]
fn a_cluster_of_two_nodes() {
    let Some([first, second]) = Cassandra::need_two() else {
        return;
    };
    let bench = Bench::new(first.native().to_string());
    bench.write("w.rn", WORKLOAD);
    bench.write("near.rn", NEAR);
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["schema", "near.rn"]).good();
    // The second node hears of the schema when it has heard of the first.
    let begun = Instant::now();
    while bench.run(&["load", "w.rn"]).code != Some(0) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the nodes do not agree");
        sleep(Duration::from_millis(500));
    }
    requests_are_sent_to_a_node_that_has_their_rows(&bench, [&first, &second]);
    a_node_that_stands_still_or_dies_does_not_end_a_run(&bench, second);
}

fn requests_are_sent_to_a_node_that_has_their_rows(bench: &Bench, nodes: [&Cassandra; 2]) {
    // Past the driver, and by it.
    for lane in [&[][..], &["--speculate-after", "10s"]] {
        for (function, table) in [("read", "t"), ("named", "two")] {
            let before = nodes.map(|node| reads(node, table));
            for key in 0..4 {
                let key = format!("key={key}");
                let run = [
                    "run", "near.rn", "-f", function, "-P", &key, "-d", "100", "-w", "0", "-q",
                ];
                bench
                    .run(&[&run[..], &["-o", "near.json", "--consistency", "one"], lane].concat())
                    .good();
            }
            let read = [0, 1].map(|node| {
                let (asked, answered) = reads(nodes[node], table);
                (asked - before[node].0, answered - before[node].1)
            });
            let what = format!("{function} {lane:?}: asked and answered {read:?}");
            assert_eq!(read[0].0 + read[1].0, 400, "{what}");
            assert!(read.iter().all(|(asked, answered)| asked == answered), "{what}");
            assert!(read.iter().all(|(asked, _)| *asked > 0), "{what}: take other keys");
        }
    }
}

fn a_node_that_stands_still_or_dies_does_not_end_a_run(bench: &Bench, second: Cassandra) {
    let still = |report: &str, arguments: &[&str]| {
        let running = begin(bench, report, arguments);
        second.pause(true).unwrap();
        sleep(Duration::from_secs(3));
        second.pause(false).unwrap();
        longest(bench, report, running)
    };
    let waited = still("waits.json", &["-f", "read"]);
    assert!(waited > 2_000.0, "half of the reads wait for the node: {waited}");
    let speculated = still("speculates.json", &["-f", "read", "--speculate-after", "100ms"]);
    assert!(speculated < 1_500.0, "the other node is asked: {speculated}");

    // Requests that were on their way to it are sent to the other when they are told to be.
    let running = begin(
        bench,
        "dies.json",
        &["-f", "read", "-f", "write", "--retry-on-all-errors"],
    );
    drop(second);
    longest(bench, "dies.json", running);
}
