//! Tables that several connections read, each a part, from ClickHouse 18.16.1.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arrow_array::{cast::AsArray, types::UInt64Type};
use tidemill_clickhouse::{
    Compression, Error,
    client::{Client, Options, PartedBy},
};
use tidemill_testkit::{Chdb, ClickHouse};

const ROWS: u64 = 30_000;

/// Every row's number, and how often it came.
async fn read(client: &Client, table: &str, connections: usize) -> (HashMap<u64, u32>, PartedBy, usize) {
    let mut stream = client
        .read_table(table)
        .columns(["n"])
        .connections(connections)
        .stream()
        .await
        .unwrap();
    let mut seen = HashMap::new();
    while let Some(batch) = stream.next().await.unwrap() {
        for n in batch.column(0).as_primitive::<UInt64Type>().values() {
            *seen.entry(*n).or_default() += 1;
        }
    }
    // It stays at its end.
    assert!(stream.next().await.unwrap().is_none());
    assert!(stream.summaries().iter().all(|summary| summary.received_bytes > 0));
    (seen, stream.parted_by().clone(), stream.summaries().len())
}

#[tokio::test]
async fn parts_of_a_table_are_disjoint_and_complete() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options: Options = format!("clickhouse://{}/?parallel=4&pool_size=8", server.native())
        .parse()
        .unwrap();
    options.compression = Compression::None;
    let client = Client::with_options(options).await.unwrap();
    assert_eq!(client.options().parallel, 4);

    // A table by its columns beside `n`, its engine, and the key that it is divided by.
    let key = |name: &str| Some(PartedBy::Key(name.to_owned()));
    let zone = "DateTime('Europe/Berlin')";
    for (columns, values, engine, expected) in [
        ("", "", "MergeTree ORDER BY n", key("n")),
        (
            ", `a b` String",
            ", toString(number % 700)",
            "MergeTree ORDER BY (`a b`, n)",
            key("a b"),
        ),
        (
            ", s FixedString(3)",
            ", toFixedString(unhex(concat(hex(toUInt8(number % 251)), '0027')), 3)",
            "MergeTree ORDER BY s",
            key("s"),
        ),
        // An hour that comes twice.
        (
            &format!(", t {zone}"),
            ", toDateTime(1729983600 + number)",
            "MergeTree ORDER BY t",
            key("t"),
        ),
        (
            ", d Date",
            ", toDate(number % 50)",
            "MergeTree PARTITION BY d ORDER BY (d, n)",
            key("d"),
        ),
        (
            ", u UUID",
            ", toUUID(concat('00000000-0000-0000-0000-0000000', toString(number + 10000)))",
            "MergeTree ORDER BY u",
            key("u"),
        ),
        // No key that could divide it.
        (
            ", x Nullable(UInt8)",
            ", if(number % 3 = 0, NULL, number % 200)",
            "MergeTree ORDER BY tuple()",
            None,
        ),
        (
            ", f Float64",
            ", if(number % 3 = 0, nan, number / 7)",
            "MergeTree ORDER BY f",
            None,
        ),
        ("", "", "MergeTree ORDER BY n % 10", None),
        (", c UInt8", ", 7", "MergeTree ORDER BY c", None),
        ("", "", "Log", None),
        // All kinds of columns that are hashed.
        (
            ", e Enum8('a' = 0, 'b' = 1), g Enum16('x' = 500), f Float32, h FixedString(2), d DateTime, i Int16, b Date",
            ", if(number % 2 = 0, 'a', 'b'), 'x', nan, 'hh', toDateTime(number), toInt16(-7), toDate(number % 9)",
            "Log",
            None,
        ),
        ("", "", "Memory", None),
    ] {
        client.execute("DROP TABLE IF EXISTS t").await.unwrap();
        client
            .execute(format!("CREATE TABLE t (n UInt64{columns}) ENGINE = {engine}"))
            .await
            .unwrap();
        let (none, ..) = read(&client, "t", 5).await;
        assert!(none.is_empty());
        let filled = format!("INSERT INTO t SELECT number{values} FROM system.numbers LIMIT {ROWS}");
        client.execute(filled).await.unwrap();
        for connections in [1, 2, 5, 100] {
            let (seen, by, parts) = read(&client, "default.t", connections).await;
            assert!(
                seen.len() == ROWS as usize && seen.values().all(|count| *count == 1),
                "{engine} by {by:?}"
            );
            if connections > 1 {
                match &expected {
                    Some(expected) => assert_eq!(by, *expected, "{engine}"),
                    None => assert!(matches!(by, PartedBy::Hash(_)), "{engine}: {by:?}"),
                }
            }
            assert!(parts <= connections.min(8), "{parts} of {connections}");
            assert!(connections == 1 || parts > 1, "{engine}");
        }
        // What is asked of a table goes with its parts.
        let count = client
            .read_table("t")
            .columns(["n"])
            .condition("n < 100 -- and no more")
            .connections(3);
        let mut stream = count.stream().await.unwrap();
        let mut rows = 0;
        while let Some(batch) = stream.next().await.unwrap() {
            rows += batch.num_rows();
        }
        assert_eq!(rows, 100, "{engine}");
    }
    distributed(&client, &server).await;
    while_rows_come(&client).await;
    errors_end_all_parts(&client).await;
    what_came_is_counted(&client).await;
}

/// Tables over tables of other servers, and functions that are tables. The clusters are the testkit's; the shards of `two_shards` are databases.
async fn distributed(client: &Client, server: &ClickHouse) {
    let n = || vec!["n".to_owned()];
    let half = ROWS / 2;
    for sql in [
        "DROP TABLE IF EXISTS t".to_owned(),
        "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS index_granularity = 128".to_owned(),
        format!("INSERT INTO t SELECT number FROM system.numbers LIMIT {ROWS}"),
        "CREATE DATABASE east".to_owned(),
        "CREATE DATABASE west".to_owned(),
        "CREATE TABLE east.t (n UInt64) ENGINE = MergeTree ORDER BY n".to_owned(),
        "CREATE TABLE west.t (n UInt64) ENGINE = MergeTree ORDER BY n".to_owned(),
        format!("INSERT INTO east.t SELECT number FROM system.numbers LIMIT {half}"),
        format!("INSERT INTO west.t SELECT number + {half} FROM system.numbers LIMIT {half}"),
        "CREATE TABLE over_one (n UInt64) ENGINE = Distributed(one_shard, default, t)".to_owned(),
        "CREATE TABLE over_two (n UInt64) ENGINE = Distributed(two_shards, '', t)".to_owned(),
    ] {
        client.execute(sql).await.unwrap();
    }
    for (table, expected) in [
        ("t".to_owned(), PartedBy::Key("n".to_owned())),
        ("over_one".to_owned(), PartedBy::Key("n".to_owned())),
        ("over_two".to_owned(), PartedBy::Hash(n())),
        (
            format!("remote('{}', default, t)", server.native()),
            PartedBy::Hash(n()),
        ),
        ("cluster(one_shard, default, t)".to_owned(), PartedBy::Hash(n())),
    ] {
        let mut stream = client.read_table(&table).connections(4).stream().await.unwrap();
        assert_eq!(*stream.parted_by(), expected, "{table}");
        let mut seen = vec![0; ROWS as usize];
        while let Some(batch) = stream.next().await.unwrap() {
            for n in batch.column(0).as_primitive::<UInt64Type>().values() {
                seen[usize::try_from(*n).unwrap()] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count == 1), "{table}");
        assert_eq!(stream.summaries().len(), 4, "{table}");
        // By the key each connection has the server read its part of the table, and else all of it.
        let read: u64 = stream.summaries().iter().map(|summary| summary.progress.rows).sum();
        match expected {
            PartedBy::Key(_) => assert!(read < ROWS + 8 * 128, "{table}: {read}"),
            _ => assert!(read >= 4 * ROWS, "{table}: {read}"),
        }
    }
}

/// Rows that are inserted while the table is read come once or not at all, and those from before come.
async fn while_rows_come(client: &Client) {
    for engine in ["MergeTree ORDER BY k", "Log"] {
        client.execute("DROP TABLE IF EXISTS w").await.unwrap();
        client
            .execute(format!("CREATE TABLE w (n UInt64, k UInt64) ENGINE = {engine}"))
            .await
            .unwrap();
        let filled = format!("INSERT INTO w SELECT number, cityHash64(number) % 1000 FROM system.numbers LIMIT {ROWS}");
        client.execute(filled).await.unwrap();
        let is_done = Arc::new(AtomicBool::new(false));
        let writer = tokio::spawn({
            let (client, is_done) = (client.clone(), Arc::clone(&is_done));
            async move {
                let mut begin = ROWS;
                while !is_done.load(Ordering::Relaxed) {
                    let sql = format!(
                        "INSERT INTO w SELECT number + {begin}, cityHash64(number + {begin}) % 1000 FROM system.numbers LIMIT 500"
                    );
                    client.execute(sql).await.unwrap();
                    begin += 500;
                }
                begin
            }
        });
        for _ in 0..5 {
            let (seen, ..) = read(client, "w", 4).await;
            assert!((0..ROWS).all(|n| seen.get(&n) == Some(&1)), "{engine}");
            assert!(seen.values().all(|count| *count == 1), "{engine}");
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(writer.await.unwrap() > ROWS);
    }
}

async fn errors_end_all_parts(client: &Client) {
    let missing = client
        .read_table("no_such_table")
        .connections(3)
        .stream()
        .await
        .unwrap_err();
    assert!(matches!(missing, Error::Server(_)), "{missing}");
    // One part fails, behind its first rows.
    let bad = client
        .read_table("t")
        .columns(["n", "throwIf(n = 29999)"])
        .connections(3);
    let mut stream = bad.stream().await.unwrap();
    let error = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a part failed"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("throwIf"), "{error}");
    assert!(stream.next().await.is_err());
    // The pool is whole.
    let (seen, ..) = read(client, "t", 4).await;
    assert_eq!(seen.len(), ROWS as usize);
}

async fn what_came_is_counted(client: &Client) {
    let sql = "SELECT number FROM system.numbers LIMIT 100000";
    for (compression, range) in [
        (Compression::None, 800_000..840_000),
        (Compression::Lz4, 100_000..600_000),
    ] {
        let summary = client.query(sql).compression(compression).execute().await.unwrap();
        assert!(
            range.contains(&summary.received_bytes),
            "{compression:?}: {}",
            summary.received_bytes
        );
    }
    let small = client.execute("SELECT 1").await.unwrap().received_bytes;
    assert!((10..2000).contains(&small), "{small}");
}

/// Conditions by which 18.16 divides a table divide it on a server of today.
#[test]
fn parts_mean_the_same_today() {
    let Some(mut chdb) = Chdb::need() else { return };
    let key = "CAST('350' AS UInt64)";
    let text = "CAST('a\\'\\x00' AS String)";
    for (column, conditions) in [
        ("number % 1000", [format!("k < {key}"), format!("NOT (k < {key})")]),
        ("toString(number)", [format!("k < {text}"), format!("NOT (k < {text})")]),
        (
            "number",
            ["cityHash64(k) % 2 = 0".to_owned(), "cityHash64(k) % 2 = 1".to_owned()],
        ),
    ] {
        let counts = conditions.map(|condition| {
            let sql = format!("SELECT count() FROM (SELECT {column} AS k FROM numbers(10000)) WHERE {condition}");
            let answer = String::from_utf8(chdb.query(&sql, "TSV").unwrap()).unwrap();
            answer.trim().parse::<u64>().unwrap()
        });
        assert_eq!(counts.iter().sum::<u64>(), 10_000, "{column}");
    }
}
