//! Typed rows from and to a real server, ClickHouse 18.16.1.

use std::{collections::BTreeMap, time::Duration};

use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use tidemill_clickhouse::{
    Error, blocking,
    client::{Client, Options},
};
use tidemill_testkit::ClickHouse;

/// A client with one connection: what leaves it in the middle of something shows.
fn options(server: &ClickHouse) -> Options {
    let mut options = Options::new(&server.native().to_string()).unwrap();
    options.pool_size = 1;
    options
}

async fn client(server: &ClickHouse) -> Client {
    Client::with_options(options(server)).await.expect("a connection")
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Tide {
    id: u64,
    place: String,
    height: Option<f64>,
}

fn tide(id: u64) -> Tide {
    Tide {
        id,
        place: format!("place {id}"),
        height: (!id.is_multiple_of(3)).then_some(id as f64),
    }
}

const TIDES: &str =
    "CREATE TABLE tides (height Nullable(Float64), id UInt64, place String, d UInt8 DEFAULT 7) ENGINE = Memory";

#[tokio::test]
async fn rows_that_were_inserted_are_fetched() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client.execute(TIDES).await.unwrap();

    let tides: Vec<Tide> = (0..100_000).map(tide).collect();
    let mut insert = client.insert_rows("tides");
    for tide in &tides {
        insert.write(tide).await.unwrap();
    }
    let summary = insert.finish().await.unwrap();
    assert_eq!((summary.rows, summary.blocks), (100_000, 2));

    let sql = "SELECT * FROM tides ORDER BY id";
    let found: Vec<Tide> = client.query_as(sql).fetch_all().await.unwrap();
    assert_eq!(found, tides);
    let cursor = client.query_as::<Tide>(sql).await.unwrap();
    assert_eq!(cursor.stream().schema().unwrap().fields().len(), 4);
    let found: Vec<Tide> = cursor.into_stream().try_collect().await.unwrap();
    assert_eq!(found, tides);

    let mut cursor = client
        .query(sql)
        .setting("max_block_size", 1000_u64)
        .rows()
        .fetch()
        .await
        .unwrap();
    let mut next = 0;
    while let Some((height, id, place, d)) = cursor.next().await.unwrap() {
        let row = Tide { id, place, height };
        assert_eq!((row, d), (tide(next), 7_u8));
        next += 1;
    }
    assert_eq!(next, 100_000);
    assert!(cursor.stream().progress().rows >= 100_000);
    assert_eq!(cursor.into_summary().profile.unwrap().rows, 100_000);
}

#[tokio::test]
async fn one_row_is_fetched_and_the_connection_is_free_again() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    let endless = "SELECT number FROM system.numbers";
    for _ in 0..3 {
        assert_eq!(client.query_as::<u64>(endless).fetch_one().await.unwrap(), 0);
        assert_eq!(client.query_as::<(u8,)>("SELECT 1").fetch_one().await.unwrap(), (1,));
        let none = client.query_as::<u64>("SELECT number FROM system.numbers WHERE 0");
        assert_eq!(none.clone().fetch_optional().await.unwrap(), None);
        assert!(matches!(none.fetch_one().await, Err(Error::RowNotFound)));
        let text: Option<String> = client.query_as("SELECT 'a'").fetch_optional().await.unwrap();
        assert_eq!(text.as_deref(), Some("a"));
        let null: Option<u8> = client.query_as("SELECT NULL").fetch_one().await.unwrap();
        assert_eq!(null, None);
    }
    let limited = client.query_as::<String>("SELECT value FROM system.settings WHERE name = 'max_threads'");
    let value = limited
        .with(|request| request.setting("max_threads", 3_u64))
        .fetch_one()
        .await
        .unwrap();
    assert_eq!(value, "3");
    let wrong = client.query_as::<u8>("SELECT throwIf(1)").fetch_one().await;
    assert!(matches!(wrong, Err(Error::Server(_))), "{wrong:?}");
    // Rows that do not fit are told one by one; those around them are there.
    let mut cursor = client
        .query_as::<u8>("SELECT number + 254 AS n FROM system.numbers LIMIT 4")
        .await
        .unwrap();
    assert_eq!(cursor.next().await.unwrap(), Some(254));
    assert_eq!(cursor.next().await.unwrap(), Some(255));
    let error = cursor.next().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 2, column `n` of type UInt64, u8 in Rust: invalid value: integer `256`, expected u8"
    );
    assert!(cursor.next().await.is_err());
    assert_eq!(cursor.next().await.unwrap(), None);
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
enum Kind {
    Spring,
    Neap,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Everything {
    i: (i8, i16, i32, i64),
    u8: u8,
    u64: u64,
    f32: f32,
    f64: f64,
    string: String,
    bytes: Vec<u8>,
    fixed: [u8; 3],
    date: String,
    time: String,
    zoned: u32,
    uuid: String,
    kind: Kind,
    wide_kind: Option<i16>,
    list: Vec<Vec<Option<String>>>,
    #[serde(rename = "nested.a")]
    nested: Vec<u8>,
    decimal: String,
    units: i128,
    float: f64,
    low: String,
}

#[tokio::test]
async fn every_type_of_the_server_goes_there_and_back() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    let create = "CREATE TABLE t (i Tuple(Int8, Int16, Int32, Int64), u8 UInt8, u64 UInt64, f32 Float32, f64 Float64, \
                  string String, bytes String, fixed FixedString(3), date Date, time DateTime, zoned DateTime('Asia/Tokyo'), \
                  uuid UUID, kind Enum8('Spring' = 1, 'Neap' = -1), wide_kind Nullable(Enum16('a' = 1000)), \
                  list Array(Array(Nullable(String))), nested Nested(a UInt8), decimal Decimal(9, 2), \
                  units Decimal(38, 3), float Decimal(18, 4), low LowCardinality(String)) ENGINE = Memory";
    let request = client
        .query(create)
        .setting("allow_experimental_low_cardinality_type", true);
    request.execute().await.unwrap();
    let row = |number: u8| Everything {
        i: (i8::MIN, i16::MAX, i32::MIN, i64::MAX),
        u8: number,
        u64: u64::MAX,
        f32: 1.5,
        f64: -0.1,
        string: "Gezeiten über Null".to_owned(),
        bytes: vec![0xFF, number, 0xFE],
        fixed: [number, 0, 0xFF],
        date: "2100-02-28".to_owned(),
        time: "2016-02-29T06:28:15Z".to_owned(),
        zoned: 946_684_800,
        uuid: "61f0c404-5cb3-11e7-907b-a6006ad3dba0".to_owned(),
        kind: if number == 1 { Kind::Spring } else { Kind::Neap },
        wide_kind: (number == 1).then_some(1000),
        list: vec![vec![Some("a".to_owned()), None], vec![]],
        nested: vec![number, 1],
        decimal: "-12.50".to_owned(),
        units: -123_456_789,
        float: 0.1,
        low: format!("low {}", number % 2),
    };
    let mut insert = client.insert_rows("t");
    for number in 1..=5 {
        insert.write(&row(number)).await.unwrap();
    }
    assert_eq!(insert.finish().await.unwrap().rows, 5);
    let found: Vec<Everything> = client.query_as("SELECT * FROM t").fetch_all().await.unwrap();
    assert_eq!(found, (1..=5).map(row).collect::<Vec<_>>());

    let sql = "SELECT toString(zoned), hex(bytes), toString(uuid), toString(units), toString(time, 'UTC'), toString(kind) FROM t \
               WHERE u8 = 1";
    let said: [String; 6] = client.query_as(sql).fetch_one().await.unwrap();
    let expected = [
        "2000-01-01 09:00:00",
        "FF01FE",
        "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
        "-123456.789",
        "2016-02-29 06:28:15",
        "Spring",
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn rows_that_do_not_fit_are_refused_and_the_others_inserted() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client.execute(TIDES).await.unwrap();

    let mut insert = client.insert_rows::<BTreeMap<&str, i64>>("tides");
    let row = |id| BTreeMap::from([("id", id), ("d", 1)]);
    insert.write(&row(1)).await.unwrap();
    let error = insert.write(&row(-1)).await.unwrap_err();
    let expected = "row 1, column `id` of type UInt64, i64 in Rust: -1 does not fit UInt64";
    assert_eq!(error.to_string(), expected);
    assert!(
        matches!(insert.write(&BTreeMap::from([("id", 2)])).await, Err(Error::Row(_))),
        "a column is missing"
    );
    let more = BTreeMap::from([("id", 2), ("d", 2), ("place", 2)]);
    assert!(
        matches!(insert.write(&more).await, Err(Error::Row(_))),
        "a column too many"
    );
    insert.write(&row(3)).await.unwrap();
    assert_eq!(insert.finish().await.unwrap().rows, 2);
    let found: Vec<(u64, u8, String)> = client
        .query_as("SELECT id, d, place FROM tides ORDER BY id")
        .fetch_all()
        .await
        .unwrap();
    assert_eq!(found, [(1, 1, String::new()), (3, 1, String::new())]);

    let mut tuples = client.insert("tides").columns(["place", "id"]).rows::<(&str, u64)>();
    tuples.write(&("x", 9)).await.unwrap();
    assert_eq!(tuples.finish().await.unwrap().rows, 1);
    assert_eq!(client.insert_rows::<Tide>("tides").finish().await.unwrap().rows, 0);
    let nowhere = client.insert_rows("nowhere").write(&tide(1)).await;
    assert!(matches!(nowhere, Err(Error::Server(_))), "{nowhere:?}");
    // Dropped: nothing is stored, and the connection is not used again.
    let mut dropped = client.insert_rows("tides");
    dropped.write(&tide(1)).await.unwrap();
    drop(dropped);
    let count: u64 = client.query_as("SELECT count() FROM tides").fetch_one().await.unwrap();
    assert_eq!(count, 3);
}

/// Waits until the table has so many rows.
async fn wait_for(client: &Client, rows: u64) {
    for _ in 0..200 {
        let count: u64 = client.query_as("SELECT count() FROM tides").fetch_one().await.unwrap();
        if count == rows {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no {rows} rows in four seconds");
}

#[tokio::test]
async fn the_clock_sends_what_waits_while_the_writer_is_idle() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    let other = self::client(&server).await;
    client.execute(TIDES).await.unwrap();

    // The server stores each block as it comes.
    let request = client
        .insert("tides")
        .setting("min_insert_block_size_rows", 1_u64)
        .setting("min_insert_block_size_bytes", 1_u64);
    let mut patient = request.clone().rows();
    patient.write(&tide(0)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    wait_for(&other, 0).await;
    patient.finish().await.unwrap();
    wait_for(&other, 1).await;

    let mut insert = request.clone().interval(Duration::from_millis(100)).rows();
    for id in 1..4 {
        insert.write(&tide(id)).await.unwrap();
        wait_for(&other, id + 1).await;
    }
    tokio::time::sleep(Duration::from_millis(250)).await;
    insert.write(&tide(4)).await.unwrap();
    let summary = insert.finish().await.unwrap();
    assert_eq!((summary.rows, summary.blocks), (4, 4));
    wait_for(&other, 5).await;
}

#[tokio::test]
async fn what_the_clock_fails_at_is_told_by_the_next_call() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client.execute(TIDES).await.unwrap();
    let mut insert = client.insert("tides").interval(Duration::from_millis(100)).rows();
    insert.write(&tide(1)).await.unwrap();
    drop(server);
    // The first block may go into the void; the second finds the connection closed.
    let mut told = Vec::new();
    for id in 2..40 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        told.extend(insert.write(&tide(id)).await.err());
        if told.len() == 2 {
            break;
        }
    }
    assert!(
        matches!(
            told.first(),
            Some(Error::Io { .. } | Error::Closed { .. } | Error::Truncated { .. })
        ),
        "{told:?}"
    );
    assert!(matches!(told.get(1), Some(Error::Closed { .. })), "{told:?}");
    assert!(insert.finish().await.is_err());
}

#[test]
fn the_blocking_facade_has_rows_and_the_clock() {
    let Some(server) = ClickHouse::need() else { return };
    let client = blocking::Client::with_options(options(&server)).unwrap();
    let other = blocking::Client::with_options(options(&server)).unwrap();
    client.execute(TIDES).unwrap();
    let mut insert = client.insert_rows_with("tides", |request| {
        request
            .setting("min_insert_block_size_rows", 1_u64)
            .setting("min_insert_block_size_bytes", 1_u64)
            .interval(Duration::from_millis(100))
    });
    insert.write(&tide(0)).unwrap();
    let count = || other.query_as::<u64>("SELECT count() FROM tides").fetch_one().unwrap();
    let is_there = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        count() == 1
    });
    assert!(is_there, "the row was not sent");
    insert.write(&tide(1)).unwrap();
    insert.flush().unwrap();
    insert.write(&tide(2)).unwrap();
    assert_eq!(insert.finish().unwrap().rows, 3);

    let sql = "SELECT * FROM tides ORDER BY id";
    assert_eq!(
        client.query_as::<Tide>(sql).fetch_all().unwrap(),
        [tide(0), tide(1), tide(2)]
    );
    let mut cursor = client.query_as::<Tide>(sql).fetch().unwrap();
    assert_eq!(cursor.next().unwrap().unwrap(), tide(0));
    assert_eq!(cursor.stream().unwrap().schema().unwrap().fields().len(), 4);
    assert_eq!(cursor.map(Result::unwrap).collect::<Vec<_>>(), [tide(1), tide(2)]);
    let endless = client.query_as::<u64>("SELECT number FROM system.numbers");
    assert_eq!(endless.fetch().unwrap().next().unwrap().unwrap(), 0);
    let none = client.query_as::<Tide>("SELECT * FROM tides WHERE 0");
    assert_eq!(none.fetch_optional().unwrap(), None);
    let none = client.query_as::<Tide>("SELECT * FROM tides WHERE 0");
    assert!(matches!(none.fetch_one(), Err(Error::RowNotFound)));
}
