//! Queries that a process left running that is gone.

use std::{
    env,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use tidemill_clickhouse::{
    Error,
    client::{Client, Options},
};
use tidemill_testkit::ClickHouse;

async fn connect(server: &ClickHouse, more: &str) -> Client {
    let url = format!("clickhouse://{}/default?pool_size=1{more}", server.native());
    Client::connect(&url).await.expect("a client")
}

async fn count(client: &Client, table: &str) -> u64 {
    let sql = format!("SELECT count() FROM {table}");
    client.query_as(sql).fetch_one().await.expect("a count")
}

/// Inserts for ever, until it is killed.
#[tokio::test]
async fn a_process_that_inserts() {
    let Ok(url) = env::var("TIDEMILL_TEST_INSERTS_INTO") else {
        return;
    };
    let options: Options = url.parse().unwrap();
    let client = Client::with_options(options).await.unwrap();
    let insert = client
        .insert("filled")
        .query_id("load of filled/1")
        .rows_per_block(20_000);
    let mut insert = insert.setting("min_insert_block_size_rows", 1_u64).await.unwrap();
    loop {
        let rows: ArrayRef = Arc::new((0..20_000).collect::<UInt64Array>());
        insert
            .write(&RecordBatch::try_from_iter([("n", rows)]).unwrap())
            .await
            .unwrap();
    }
}

/// Killed in the middle of its insert. Behind the call no row is added any more, though the server has not read all that came.
#[tokio::test]
async fn the_insert_of_a_dead_process_is_ended_before_it_is_counted() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    let wait = Duration::from_secs(30);
    let hello = client.server().await.unwrap();
    assert!(hello.is_at_least(18, 16) && hello.is_at_least(1, 54) && !hello.is_at_least(22, 2));
    assert_eq!(
        client
            .end_queries("load of filled/", wait)
            .await
            .expect("nothing to do"),
        0
    );
    client
        .execute("CREATE TABLE filled (n UInt64) ENGINE = MergeTree ORDER BY n")
        .await
        .unwrap();
    let itself = || {
        let mut itself = Command::new(env::current_exe().unwrap());
        itself.args(["--exact", "predecessor::a_process_that_inserts"]);
        let url = format!("clickhouse://{}/default", server.native());
        itself.env("TIDEMILL_TEST_INSERTS_INTO", url);
        itself.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut ended = 0;
    for round in 1..=3 {
        let before = count(&client, "filled").await;
        let mut child = itself();
        while count(&client, "filled").await < before + 50_000 {
            assert_eq!(child.try_wait().unwrap(), None);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if round == 3 {
            // Alive, and nothing that 18.16 could stop: it is waited for in vain.
            let ended = client.end_queries("load of filled/", Duration::from_millis(300)).await;
            assert!(matches!(ended, Err(Error::Timeout { .. })), "{ended:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        ended += client.end_queries("load of filled/", wait).await.expect("an end");
        let stored = count(&client, "filled").await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(count(&client, "filled").await, stored);
    }
    assert!(ended >= 1, "none of them was still running");
    // Names are bytes, not patterns: this one is left alone.
    let other = connect(&server, "").await;
    let mut running = other
        .query("SELECT number FROM system.numbers")
        .query_id("load of filled%")
        .await
        .unwrap();
    assert!(running.next().await.unwrap().is_some());
    assert_eq!(
        client
            .end_queries("load of filled/", wait)
            .await
            .expect("nothing to do"),
        0
    );
    assert_eq!(client.end_queries("load_of_", wait).await.expect("nothing to do"), 0);
    assert!(running.next().await.unwrap().is_some());
    drop(running);
    let error = client.end_queries("", wait).await.expect_err("all queries");
    assert!(matches!(error, Error::Option { .. }), "{error:?}");
}

/// One of two servers is not there: what its queries do nobody knows.
#[tokio::test]
async fn a_server_that_cannot_be_asked_is_an_error() {
    let Some(server) = ClickHouse::need() else { return };
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut options: Options = format!("clickhouse://{},{nobody}", server.native()).parse().unwrap();
    options.connect_rounds = 1;
    let client = Client::with_options(options).await.expect("one of them");
    let ended = client.end_queries("load/", Duration::from_secs(5)).await;
    assert!(
        matches!(ended, Err(Error::Io { .. } | Error::Timeout { .. })),
        "{ended:?}"
    );
}
