//! Nodes that lie and never come to an end, and nodes whose lies are cut and changed by chance.
//!
//! The tests are one: they look at the memory of the process.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;
use hostile_node::Hostile;
use tidemill_cql::{Client, Error, Options};
use tidemill_testkit::{Chance, soak_time};

mod hostile_node;

/// In kibibytes: what is in use, or the most that was ever taken, whether it was used or not.
fn memory(which: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(which)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// How long connecting may take, and a request.
const LIMIT: Duration = Duration::from_millis(400);

/// What comes of asking such a node for its tables.
async fn ask(
    node: Hostile,
    change: impl Fn(Vec<u8>) -> Vec<u8> + Clone + Send + 'static,
) -> Result<Vec<String>, Error> {
    let address = node.start(change).await;
    let (mut options, _) = Options::parse(&format!("cql://ann:secret@{address}/shop")).unwrap();
    options.connect_timeout = LIMIT;
    options.timeout = LIMIT;
    // The driver bears it when nothing is told of the cluster, and asks for the rows all the same.
    Client::connect(options).await?.tables("shop").await
}

#[tokio::test]
async fn nodes_that_lie_end_in_an_error_in_time_and_in_little_memory() {
    for node in hostile_node::kinds() {
        let (what, told) = (node.what, node.told);
        let (begin, before, taken) = (Instant::now(), memory("VmRSS:"), memory("VmPeak:"));
        let error = ask(node, |bytes| bytes).await.expect_err(what);
        let took = begin.elapsed();
        let more = memory("VmRSS:").saturating_sub(before);
        let reserved = memory("VmPeak:").saturating_sub(taken);
        assert!(took < 3 * LIMIT, "{what}: {error} after {took:?}");
        assert!(more < 64 << 10, "{what}: {more} KiB more");
        assert!(reserved < 256 << 10, "{what}: {reserved} KiB reserved");
        assert!(error.to_string().contains(told), "{what}: {error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{what}: {error:?}");
    }
    lies_by_chance().await;
}

/// Some at a time, until the time is over.
async fn lies_by_chance() {
    const AT_ONCE: usize = 8;
    let mut chance = Chance::new("nodes that lie");
    let kinds = hostile_node::kinds();
    let (start, before, taken) = (Instant::now(), memory("VmRSS:"), memory("VmPeak:"));
    let mut asked = 0;
    while start.elapsed() < soak_time(Duration::from_millis(500)) {
        let lies = (0..AT_ONCE).map(|_| {
            let node = kinds[chance.below(kinds.len())].clone();
            let what = node.what;
            let own = Arc::new(Mutex::new(Chance::of(chance.below(usize::MAX))));
            async move {
                let begin = Instant::now();
                let change = move |bytes| own.lock().unwrap().damaged(bytes);
                let answer = ask(node, change).await;
                (what, answer, begin.elapsed())
            }
        });
        for (what, answer, took) in join_all(lies).await {
            // Eight share the machine, with whatever else is on it.
            assert!(
                took < 3 * LIMIT + Duration::from_secs(1),
                "{what}: {answer:?} after {took:?}"
            );
            assert!(!format!("{answer:?}").contains("secret"), "{what}: {answer:?}");
        }
        asked += AT_ONCE;
        let more = memory("VmRSS:").saturating_sub(before);
        let reserved = memory("VmPeak:").saturating_sub(taken);
        assert!(more < 64 << 10, "{more} KiB more after {asked} nodes");
        assert!(reserved < 256 << 10, "{reserved} KiB reserved after {asked} nodes");
    }
    println!("{asked} nodes in {:?}", start.elapsed());
}
