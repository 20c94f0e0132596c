//! Tables of a cluster of two nodes: whom a scan asks, and what it does when one is gone.
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::value::CqlValue;
use tidemill_cql::{Client, Options, Rows, Scan};
use tidemill_testkit::Cassandra;

const ROWS: u64 = 4_000;

/// The first value of what a node answers itself.
async fn asked(node: &Cassandra, cql: &str) -> Option<CqlValue> {
    let address = NodeIdentifier::NodeAddress(node.native());
    let profile =
        ExecutionProfile::builder().load_balancing_policy(SingleTargetLoadBalancingPolicy::new(address, None));
    let session = SessionBuilder::new()
        .known_node_addr(node.native())
        .default_execution_profile_handle(profile.build().into_handle())
        .build()
        .await
        .unwrap();
    let answer = session
        .query_unpaged(cql, ())
        .await
        .unwrap()
        .into_rows_result()
        .unwrap();
    answer.maybe_first_row::<(CqlValue,)>().unwrap().map(|(value,)| value)
}

/// How many ranges of `near.t` a node was asked for.
async fn scans(node: &Cassandra) -> i64 {
    let latency = "SELECT count FROM system_views.coordinator_scan_latency";
    let cql = format!("{latency} WHERE keyspace_name = 'near' AND table_name = 't'");
    asked(node, &cql).await.and_then(|count| count.as_bigint()).unwrap_or(0)
}

async fn connect(node: &Cassandra, consistency: &str) -> Client {
    let url = format!("cql://{}/?in_flight=1&consistency={consistency}", node.native());
    let (options, _) = Options::parse(&url).unwrap();
    Client::connect(options).await.unwrap()
}

/// Waits until both nodes have taken the same schema in: its version is the last that a node writes of a change,
/// behind the rows of `system_schema`.
async fn agreed(nodes: [&Cassandra; 2]) {
    let version = "SELECT schema_version FROM system.local";
    while asked(nodes[0], version).await != asked(nodes[1], version).await {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Writes rows, which may be written twice: for a while one node can take the other, which has just started, for one that
/// is gone.
async fn write(client: &Client, cql: &str) {
    let since = Instant::now();
    while let Err(error) = client.execute(cql).await {
        assert!(since.elapsed() < Duration::from_secs(60), "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn filled(nodes: [&Cassandra; 2], keyspace: &str, copies: u32) -> Scan {
    let client = connect(nodes[0], "one").await;
    client
        .execute(&format!(
            "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
        ))
        .await
        .unwrap();
    client
        .execute(&format!("CREATE TABLE {keyspace}.t (id bigint PRIMARY KEY)"))
        .await
        .unwrap();
    agreed(nodes).await;
    // One that knows where the copies are from its beginning, and that has every copy acknowledged: with fewer, a node
    // that takes the other for gone keeps its rows back.
    let client = connect(nodes[0], "all").await;
    for id in (0..ROWS).step_by(50) {
        let rows = (id..id + 50).map(|id| format!("INSERT INTO {keyspace}.t (id) VALUES ({id}); "));
        let batch = format!("BEGIN UNLOGGED BATCH {}APPLY BATCH", rows.collect::<String>());
        write(&client, &batch).await;
    }
    let client = connect(nodes[0], "one").await;
    let table = Arc::new(client.table(keyspace, "t").await.unwrap());
    Scan::new(table, &[0], Rows::All).unwrap()
}

async fn rows(scan: &Scan) -> tidemill_cql::Result<u64> {
    let (mut batches, mut rows) = (scan.batches(), 0);
    while let Some(batch) = batches.next().await? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

#[tokio::test]
async fn ranges_are_read_from_their_replicas_and_from_others_when_these_are_gone() {
    let Some([first, second]) = Cassandra::need_two() else {
        return;
    };
    let near = filled([&first, &second], "near", 1).await;
    // The first half of the ring is the second node's.
    let mut batches = near.batches();
    for _ in 0..5 {
        assert!(batches.next().await.unwrap().is_some());
    }
    let counts = (scans(&first).await, scans(&second).await);
    assert!(counts.0 == 0 && counts.1 >= 5, "{counts:?}");
    drop(batches);
    assert_eq!((rows(&near).await.unwrap(), near.count().await.unwrap()), (ROWS, ROWS));
    let counts = (scans(&first).await, scans(&second).await);
    assert!(counts.0 >= 32 && counts.1 >= 32, "{counts:?}");

    let both = filled([&first, &second], "both", 2).await;
    assert_eq!(rows(&both).await.unwrap(), ROWS);
    drop(second);
    // Until the first node notices, it may itself wait for the one that is gone, which is an error.
    let since = Instant::now();
    while let Err(error) = rows(&both).await {
        assert!(since.elapsed() < Duration::from_secs(120), "{error}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!((rows(&both).await.unwrap(), both.count().await.unwrap()), (ROWS, ROWS));
}
