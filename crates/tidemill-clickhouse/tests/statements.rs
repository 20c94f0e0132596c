//! Statements that a server waits on, goes on with, or does not end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, cast::AsArray};
use tidemill_clickhouse::{Error, client::Client};
use tidemill_testkit::ClickHouse;

async fn connect(server: &ClickHouse, more: &str) -> Client {
    let url = format!("clickhouse://{}/default?pool_size=1{more}", server.native());
    Client::connect(&url).await.expect("a client")
}

async fn count(client: &Client, table: &str) -> u64 {
    let sql = format!("SELECT count() FROM {table}");
    client.query_as(sql).fetch_one().await.expect("a count")
}

#[tokio::test]
async fn an_insert_with_its_rows_in_the_text_is_refused_at_once() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    client
        .execute("CREATE TABLE t (n UInt64, s String) ENGINE = Memory")
        .await
        .unwrap();
    let begin = Instant::now();
    for sql in [
        "INSERT INTO t VALUES (9, 'x')",
        "INSERT INTO t VALUES",
        "INSERT INTO t (n) VALUES (1), (2)",
        "INSERT INTO t FORMAT CSV\n9,x\n",
        "INSERT INTO t FORMAT JSONEachRow {\"n\": 9}",
        "-- rows\n insert into t values (1, 'select')",
    ] {
        let asked = [
            client.execute(sql).await.map(drop),
            client.query(sql).collect().await.map(drop),
        ];
        for error in asked.map(|asked| asked.expect_err(sql)) {
            assert!(matches!(error, Error::Unsupported { .. }), "{sql}: {error:?}");
            assert!(error.to_string().contains("`insert`"), "{error}");
        }
    }
    // The one connection goes on, and other statements that begin so are what they were.
    client
        .execute("INSERT INTO t SELECT 5, 'five'")
        .await
        .expect("rows that the server has");
    client
        .execute("INSERT INTO t SELECT n, s FROM t WHERE n > 7")
        .await
        .expect("no rows");
    let error = client
        .execute("INSERT INTO nowhere VALUES (1)")
        .await
        .expect_err("no such table");
    assert!(matches!(error, Error::Server(_)), "{error:?}");
    assert_eq!(count(&client, "t").await, 1);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

/// 18.16 sleeps to the end, whoever asks it to stop.
#[tokio::test]
async fn a_deadline_is_kept_when_the_server_does_not_stop() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    let begin = Instant::now();
    let asked = client
        .query("SELECT sleep(3)")
        .deadline(Duration::from_millis(500))
        .execute()
        .await;
    let took = begin.elapsed();
    assert!(matches!(asked, Err(Error::Timeout { .. })), "{asked:?}");
    assert!(
        took >= Duration::from_millis(500) && took < Duration::from_millis(1500),
        "{took:?}"
    );

    let client = connect(&server, "&deadline=0.3").await;
    let begin = Instant::now();
    let asked = client.execute("SELECT count() FROM system.numbers").await;
    assert!(matches!(asked, Err(Error::Timeout { .. })), "{asked:?}");
    assert!(begin.elapsed() < Duration::from_millis(1500), "{:?}", begin.elapsed());
    assert_eq!(count(&client, "system.one").await, 1);
}

#[tokio::test]
async fn what_is_collected_has_a_bound() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "&collect_limit=1000000").await;
    let sql = |rows: u64| format!("SELECT number FROM system.numbers LIMIT {rows}");
    let collected = [
        client.query(sql(10_000_000)).collect().await.map(drop),
        client.query_as::<u64>(sql(10_000_000)).fetch_all().await.map(drop),
    ];
    for collected in collected {
        let error = collected.expect_err("80 MB");
        assert!(matches!(error, Error::Limit { limit: 1_000_000, .. }), "{error:?}");
        assert!(error.to_string().contains("collect_limit"), "{error}");
    }
    assert_eq!(
        client
            .query_as::<u64>(sql(10_000))
            .fetch_all()
            .await
            .expect("80 kB")
            .len(),
        10_000
    );
    let batches = client
        .query(sql(1_000_000))
        .collect_limit(u64::MAX)
        .collect()
        .await
        .expect("8 MB");
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1_000_000);
}

#[tokio::test]
async fn strings_that_are_no_text_are_read_where_the_option_says_so() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    let sql = "SELECT unhex('D1CEC4') AS s";
    let error = client.query(sql).collect().await.expect_err("no text");
    assert!(error.to_string().contains("`binary_strings=true`"), "{error}");
    let client = connect(&server, "&binary_strings=true").await;
    let batches = client.query(sql).collect().await.expect("bytes");
    assert_eq!(batches[0].column(0).as_binary::<i32>().value(0), b"\xd1\xce\xc4");
}
