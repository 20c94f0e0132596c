//! Load tests of nodes that lie and never come to an end.

use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};
use hostile_node::Hostile;

#[path = "../../../tidemill-cql/tests/hostile_node/mod.rs"]
mod hostile_node;

/// What is prepared with parameters would not be executed: the nodes prepare everything as a statement without any. The first function goes
/// past the driver without a machine, the second with one, the others by the driver.
const WORKLOAD: &str = r#"
pub async fn prepare(ctx) {
    ctx.prepare("read", "SELECT a FROM ks.t").await?;
}

pub async fn run(ctx, i) {
    ctx.execute_prepared("read", []).await
}

pub async fn machine(ctx, i) {
    if i >= 0 {
        ctx.execute_prepared("read", []).await?;
    }
}

pub async fn rows(ctx, i) {
    ctx.execute_prepared_with_result("read", []).await?;
}

pub async fn batch(ctx, i) {
    ctx.batch_prepared(["read", "read"], [[], []]).await
}
"#;

/// The most memory that a process had, in kibibytes, by what the system says while it runs.
fn peak(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let peak = line.and_then(|line| line.split_whitespace().nth(1));
    peak.and_then(|peak| peak.parse().ok()).unwrap_or_default()
}

/// What a run of a tenth of a second leaves, how long it took, and the most memory that it had.
fn run(bench: &Bench, node: SocketAddr, function: &str) -> (Ran, Duration, u64) {
    run_with(bench, node, function, "300ms")
}

/// The same with another limit of a request.
fn run_with(bench: &Bench, node: SocketAddr, function: &str, timeout: &str) -> (Ran, Duration, u64) {
    let limits = [
        "--connect-timeout",
        "300ms",
        "--request-timeout",
        timeout,
        "--retries",
        "0",
    ];
    let report = format!("{}.json", node.port());
    let length = ["-d", "100ms", "-w", "0", "-p", "2", "-q", "-o", &report];
    let arguments = [&["run", "w.rn", "-f", function][..], &limits, &length].concat();
    let begin = Instant::now();
    let mut process = bench
        .command_to(&arguments, &node.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut most = 0;
    while process.try_wait().unwrap().is_none() {
        most = most.max(peak(&process));
        assert!(begin.elapsed() < Duration::from_secs(20), "it does not end");
        sleep(Duration::from_millis(2));
    }
    let took = begin.elapsed();
    (Ran::from(process.wait_with_output().unwrap()), took, most)
}

/// A run is in time and in little memory, whatever the node says; `ordinary` is the memory of one whose node says nothing.
fn check(bench: &Bench, address: SocketAddr, what: &str, function: &str, ordinary: u64) {
    let (ran, took, most) = run(bench, address, function);
    let what = format!(
        "{what}, {function}: {took:?}, {most} KiB, usually {ordinary}\n{}\n{}",
        ran.out, ran.err
    );
    // Some lies are not told from an answer, such as a frame behind one: then the run is as any other.
    assert!(matches!(ran.code, Some(0..=2)), "{what}");
    assert!(ran.code != Some(2) || ran.err.contains("error: "), "{what}");
    // Two sessions connect, which may take two limits each, one prepares, and a request is given up.
    assert!(took < Duration::from_secs(6), "{what}");
    assert!(most < ordinary + (64 << 10), "{what}");
}

/// Some seconds: each kind of lie is three processes, few at a time, since other tests measure times.
#[test]
fn nodes_that_lie_end_a_load_test_or_are_counted_in_time_and_in_little_memory() {
    const AT_ONCE: usize = 4;
    let bench = Bench::new("");
    bench.write("w.rn", WORKLOAD);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let start = |node: Hostile| runtime.block_on(node.start(|bytes| bytes));
    let kinds = hostile_node::kinds();
    let silent = kinds.iter().find(|node| node.what == "nothing").unwrap();
    let (ran, _, ordinary) = run(&bench, start(silent.clone().good_at_first()), "rows");
    // Nobody answers: a counted failure.
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("timeout"), "{}", ran.out);
    assert!(ordinary > 0);
    // By the limit of all pages, or of one where the machine is busy: in any case it ends.
    let endless = start(Hostile::without_a_last_page());
    let (ran, took, most) = run_with(&bench, endless, "rows", "30ms");
    let what = format!("{took:?}, {most} KiB\n{}\n{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(1), "{what}");
    assert!(ran.out.contains("timeout"), "{what}");
    assert!(took < Duration::from_secs(8) && most < ordinary + (64 << 10), "{what}");
    let mut runs = Vec::new();
    let mut functions = ["rows", "run", "machine", "batch"].into_iter().cycle();
    for node in kinds {
        let what = node.what;
        runs.push((start(node.clone()), what, "run"));
        for function in functions.by_ref().take(2) {
            runs.push((start(node.clone().good_at_first()), what, function));
        }
    }
    for some in runs.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            for (address, what, function) in some {
                let bench = &bench;
                scope.spawn(move || check(bench, *address, what, function, ordinary));
            }
        });
    }
}
