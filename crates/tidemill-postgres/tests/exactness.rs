//! Values that a column of a real server does not hold exactly are errors, and those that it does are stored as they are.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, TimestampMicrosecondBuilder};
use arrow_array::types::IntervalMonthDayNano;
use arrow_array::*;
use tidemill_postgres::{Client, Error, Fill, IfThere, Options};
use tidemill_testkit::Postgres;

async fn client(server: &Postgres) -> Client {
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    Client::connect(options).await.unwrap()
}

/// Adds one value to a column of the table `t`.
async fn added(client: &Client, column: &str, value: ArrayRef) -> Result<u64, Error> {
    let table = client.table(None, "t").await.unwrap();
    let mut fill = Fill::begin(client, &table, &[column.to_owned()], IfThere::Append).await?;
    fill.write(&RecordBatch::try_from_iter([(column, value)]).unwrap())
        .await?;
    fill.finish().await
}

/// Adds values one after another to a table that is empty before each. What is expected is what the server shows of the column then, or
/// behind `!` a part of the error.
async fn check(server: &Postgres, columns: &str, values: Vec<(&str, ArrayRef, &str)>) {
    let client = client(server).await;
    server.psql(&format!("CREATE TABLE t ({columns})")).unwrap();
    for (column, value, expected) in values {
        let result = added(&client, column, Arc::clone(&value)).await;
        match (result, expected.strip_prefix('!')) {
            (Ok(_), None) => {
                let found = server.psql(&format!("SELECT {column} FROM t")).unwrap();
                assert_eq!(found.trim_end_matches('\n'), expected, "{column}: {value:?}");
            }
            (Err(error @ Error::Value { .. }), Some(named)) => {
                let error = error.to_string();
                for part in [named, "row 1", &format!("column {column}")] {
                    assert!(error.contains(part), "{column}: {error}");
                }
            }
            (result, _) => panic!("{column}: {value:?}: {result:?}, expected {expected}"),
        }
        server.psql("TRUNCATE t").unwrap();
    }
}

fn text(text: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![text]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bits_are_neither_cut_nor_filled_up() {
    let Some(server) = Postgres::need() else { return };
    server.psql("CREATE DOMAIN flags AS bit(4)").unwrap();
    check(
        &server,
        "b bit(4), v varbit(3), w varbit, l bit(2)[], d flags",
        vec![
            ("b", text("1010"), "1010"),
            ("b", text("xA"), "1010"),
            ("b", text("101"), "!bit(4)"),
            ("b", text("10101"), "!\"10101\""),
            ("b", text("1012"), "!\"1012\""),
            ("b", Arc::new(Int32Array::from(vec![1010])), "1010"),
            ("v", text("11"), "11"),
            ("v", text("11111"), "!varbit(3)"),
            ("w", text("11111"), "11111"),
            ("l", text("{10,NULL,\"01\"}"), "{10,NULL,01}"),
            ("l", text("[3:3]={10}"), "[3:3]={10}"),
            ("l", text("{10,011}"), "!\"011\""),
            ("d", text("1001"), "1001"),
            ("d", text("10011"), "!bit(4)"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_are_not_rounded() {
    let Some(server) = Postgres::need() else { return };
    server.psql("CREATE DOMAIN second AS timestamp(0)").unwrap();
    let at = |micros| Arc::new(TimestampMicrosecondArray::from(vec![micros])) as ArrayRef;
    let time = |micros| Arc::new(Time64MicrosecondArray::from(vec![micros])) as ArrayRef;
    let list = |micros: [i64; 2]| {
        let mut list = ListBuilder::new(TimestampMicrosecondBuilder::new());
        micros.iter().for_each(|micros| list.values().append_value(*micros));
        list.values().append_null();
        list.append(true);
        Arc::new(list.finish()) as ArrayRef
    };
    let interval = |months, days, nanos| {
        let value = IntervalMonthDayNano::new(months, days, nanos);
        Arc::new(IntervalMonthDayNanoArray::from(vec![value])) as ArrayRef
    };
    const SECOND: i64 = 1_000_000_000;
    check(
        &server,
        "t0 timestamp(0), t3 timestamp(3), t timestamp, z timestamptz(0), c time(0), cz timetz(0), ct timetz, i interval(0),
         im interval minute, id interval day, iy interval year, iym interval year to month, ids interval day to second(1),
         l timestamp(0)[], lz timetz(1)[], d second, host inet",
        vec![
            ("t0", at(-1_000_000), "1969-12-31 23:59:59"),
            ("t0", at(600_000), "!with 0 digits behind the second, found 600000 µs"),
            ("t0", at(-400_000), "!600000 µs"),
            ("t0", text("2024-01-01 10:00:00.6"), "!600000 µs"),
            ("t3", at(600_000), "1970-01-01 00:00:00.6"),
            ("t3", at(600_500), "!with 3 digits"),
            ("t", at(600_001), "1970-01-01 00:00:00.600001"),
            ("z", at(500_000), "!with 0 digits"),
            ("c", time(1_000_000), "00:00:01"),
            ("c", time(86_399_600_000), "!600000 µs"),
            ("cz", text("10:00:00.00+02"), "10:00:00+02"),
            ("cz", text("10:00:00.6+02"), "!with 0 digits"),
            ("ct", text("10:00:00.123456+02"), "10:00:00.123456+02"),
            ("ct", text("10:00:00.1234567+02"), "!with 6 digits"),
            ("i", interval(1, 2, 3 * SECOND), "1 mon 2 days 00:00:03"),
            ("i", interval(0, 0, SECOND / 2), "!with 0 digits behind the second, found 500000 µs"),
            ("i", Arc::new(DurationMillisecondArray::from(vec![-1])), "!with 0 digits"),
            ("im", interval(0, 0, 60 * SECOND), "00:01:00"),
            ("im", interval(0, 0, 61 * SECOND), "!whole minutes"),
            ("id", interval(14, 3, 0), "1 year 2 mons 3 days"),
            ("id", interval(0, 3, SECOND), "!whole days"),
            ("iy", interval(24, 0, 0), "2 years"),
            ("iy", interval(25, 0, 0), "!whole years"),
            ("iym", interval(25, 0, 0), "2 years 1 mon"),
            ("iym", interval(25, 1, 0), "!whole months"),
            ("ids", interval(25, 1, SECOND / 10), "2 years 1 mon 1 day 00:00:00.1"),
            ("ids", interval(0, 0, SECOND / 100), "!with 1 digit behind"),
            ("l", list([0, 1_000_000]), "{\"1970-01-01 00:00:00\",\"1970-01-01 00:00:01\",NULL}"),
            ("l", list([0, 1_600_000]), "!600000 µs"),
            ("lz", text("{10:00:00.1+00}"), "{10:00:00.1+00}"),
            ("lz", text("{\"10:00:00.1+00\", 10:00:00.15+00}"), "!with 1 digit behind"),
            ("d", at(600_000), "!with 0 digits"),
        ],
    )
    .await;
    // Beside a column that is cast, rows go through another table.
    let rows = RecordBatch::try_from_iter([("t0", at(600_000)), ("host", text("10.0.0.1"))]).unwrap();
    let client = client(&server).await;
    let table = client.table(None, "t").await.unwrap();
    let names = ["t0".to_owned(), "host".to_owned()];
    let mut fill = Fill::begin(&client, &table, &names, IfThere::Append).await.unwrap();
    let error = fill.write(&rows).await.unwrap_err().to_string();
    assert!(error.contains("column t0") && error.contains("600000 µs"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blanks_and_parts_of_a_cent_are_not_cut_off() {
    let Some(server) = Postgres::need() else { return };
    check(
        &server,
        "v varchar(3), c char(3), l varchar(3)[], m money, ms money[]",
        vec![
            ("v", text("é  "), "é  "),
            ("v", text("abc  "), "!at most 3 characters"),
            ("l", Arc::new(list_of_texts(["a", "abc "])), "!at most 3 characters"),
            ("c", text("abc  "), "abc"),
            ("m", text("12.34"), "$12.34"),
            ("m", text("-1234.500"), "-$1,234.50"),
            ("m", text("-$1,234.50"), "-$1,234.50"),
            ("m", text("($1.50)"), "-$1.50"),
            ("m", text("12.345"), "!\"12.345\""),
            ("m", text("$1,012.345"), "!two digits behind the point"),
            ("m", Arc::new(Float64Array::from(vec![0.125])), "!\"0.125\""),
            ("ms", text("{\"$1,000.50\",12.30}"), "{\"$1,000.50\",$12.30}"),
            ("ms", text("{1.125,12.30}"), "!\"1.125\""),
        ],
    )
    .await;
}

/// `lc_monetary` says which sign is the point of a text; a number has one point wherever it goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_is_the_same_amount_of_money_on_every_server() {
    let Some(server) = Postgres::need() else { return };
    if server.psql("SET lc_monetary = 'de_DE.UTF-8'").is_err() {
        eprintln!("not tested: this system has no locale de_DE.UTF-8");
        return;
    }
    server
        .psql("ALTER DATABASE postgres SET lc_monetary = 'de_DE.UTF-8'")
        .unwrap();
    check(&server, "m money", vec![("m", text("12.34"), "12,34 €")]).await;
}

fn list_of_texts(texts: [&str; 2]) -> ListArray {
    let mut list = ListBuilder::new(builder::StringBuilder::new());
    texts.iter().for_each(|text| list.values().append_value(text));
    list.append(true);
    list.finish()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_of_bytes_is_read_as_the_server_shows_it() {
    let Some(server) = Postgres::need() else { return };
    check(
        &server,
        "b bytea, l bytea[]",
        vec![
            ("b", text("\\x00FF"), "\\x00ff"),
            ("b", text("\\x 00 ff"), "\\x00ff"),
            ("b", text("\\x"), "\\x"),
            ("b", text("\\x0"), "!\\\\x0"),
            ("b", text("\\x0g"), "!pairs of hexadecimal digits"),
            ("b", text("\\x+1"), "!pairs of hexadecimal digits"),
            ("b", text("é\\x00"), "\\xc3a95c783030"),
            ("b", text("\\001"), "\\x5c303031"),
            ("b", text(""), "\\x"),
            (
                "l",
                Arc::new(list_of_texts(["\\x01", "1"])),
                "{\"\\\\x01\",\"\\\\x31\"}",
            ),
        ],
    )
    .await;
}
