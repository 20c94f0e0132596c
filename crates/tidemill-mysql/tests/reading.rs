//! Tables of a real server, found and read.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat_batches;
use tidemill_mysql::{BatchLimits, Client, Error, Options, Read, TableKind};
use tidemill_testkit::MariaDb;

async fn client(server: &MariaDb, query: &str) -> Client {
    let (options, _) = Options::parse(&format!("{}?timeout=20{query}", server.url())).unwrap();
    Client::connect(options).await.unwrap()
}

async fn read(client: &Client, query: &str) -> Result<RecordBatch, Error> {
    let mut read = Read::begin(client, "t", query, None).await?;
    let mut batches = Vec::new();
    while let Some(batch) = read.next().await? {
        batches.push(batch);
    }
    Ok(concat_batches(read.schema(), &batches)?)
}

fn shown(column: &dyn Array) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(column, &options).unwrap();
    (0..column.len()).map(|row| formatter.value(row).to_string()).collect()
}

/// Declarations, what is inserted, and what is read: the Arrow type, and how it shows the values.
const TYPES: &[(&str, &[&str], &str, &[&str])] = &[
    ("tinyint", &["-128", "127"], "Int8", &["-128", "127"]),
    ("tinyint unsigned", &["0", "255"], "UInt8", &["0", "255"]),
    ("boolean", &["true", "2"], "Int8", &["1", "2"]),
    ("smallint", &["-32768", "32767"], "Int16", &["-32768", "32767"]),
    ("smallint unsigned", &["65535"], "UInt16", &["65535"]),
    ("mediumint", &["-8388608", "8388607"], "Int32", &["-8388608", "8388607"]),
    ("mediumint unsigned", &["16777215"], "UInt32", &["16777215"]),
    (
        "int",
        &["-2147483648", "2147483647"],
        "Int32",
        &["-2147483648", "2147483647"],
    ),
    (
        "int(8) unsigned zerofill",
        &["7", "4294967295"],
        "UInt32",
        &["7", "4294967295"],
    ),
    (
        "bigint",
        &["-9223372036854775808", "9223372036854775807"],
        "Int64",
        &["-9223372036854775808", "9223372036854775807"],
    ),
    (
        "bigint unsigned",
        &["18446744073709551615"],
        "UInt64",
        &["18446744073709551615"],
    ),
    (
        "decimal(5,2)",
        &["-999.99", "0.1", "0"],
        "Decimal128(5, 2)",
        &["-999.99", "0.10", "0.00"],
    ),
    (
        "decimal(10,0) unsigned",
        &["9999999999"],
        "Decimal128(10, 0)",
        &["9999999999"],
    ),
    (
        "decimal(38,38)",
        &["-0.99999999999999999999999999999999999999"],
        "Decimal128(38, 38)",
        &["-0.99999999999999999999999999999999999999"],
    ),
    (
        "decimal(65,30)",
        &[
            "-99999999999999999999999999999999999.999999999999999999999999999999",
            "1e-30",
        ],
        "Decimal256(65, 30)",
        &[
            "-99999999999999999999999999999999999.999999999999999999999999999999",
            "0.000000000000000000000000000001",
        ],
    ),
    (
        "float",
        &["16777217", "3.4028234663852886e38", "-1.5"],
        "Float32",
        &["16777216.0", "3.4028235e38", "-1.5"],
    ),
    (
        "double",
        &["0.1", "1.7976931348623157e308", "5e-324"],
        "Float64",
        &["0.1", "1.7976931348623157e308", "5e-324"],
    ),
    ("bit(1)", &["b'1'", "b'0'"], "Boolean", &["true", "false"]),
    ("bit(9)", &["b'100000001'", "0"], "UInt64", &["257", "0"]),
    (
        "bit(64)",
        &["18446744073709551615"],
        "UInt64",
        &["18446744073709551615"],
    ),
    ("year", &["1901", "2155", "0"], "Int16", &["1901", "2155", "0"]),
    (
        "date",
        &["'1000-01-01'", "'9999-12-31'", "'0001-01-01'"],
        "Date32",
        &["1000-01-01", "9999-12-31", "0001-01-01"],
    ),
    (
        "time",
        &["'-838:59:59'", "'23:59:59'", "'0'"],
        "Duration(µs)",
        &["-PT3020399S", "PT86399S", "P0D"],
    ),
    (
        "time(6)",
        &["'838:59:58.999999'", "'-00:00:00.000001'"],
        "Duration(µs)",
        &["PT3020398.999999S", "-PT0.000001S"],
    ),
    (
        "datetime",
        &["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"],
        "Timestamp(µs)",
        &["1000-01-01T00:00:00", "9999-12-31T23:59:59"],
    ),
    (
        "datetime(6)",
        &["'2024-02-29 23:59:59.999999'", "'1969-12-31 23:59:59.5'"],
        "Timestamp(µs)",
        &["2024-02-29T23:59:59.999999", "1969-12-31T23:59:59.500"],
    ),
    (
        "datetime(3)",
        &["'2024-02-29 00:00:00.125'"],
        "Timestamp(µs)",
        &["2024-02-29T00:00:00.125"],
    ),
    (
        "timestamp null",
        &["'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"],
        "Timestamp(µs, \"UTC\")",
        &["1970-01-01T00:00:01Z", "2038-01-19T03:14:07Z"],
    ),
    (
        "timestamp(6) null",
        &["'2024-07-01 12:00:00.000001'"],
        "Timestamp(µs, \"UTC\")",
        &["2024-07-01T12:00:00.000001Z"],
    ),
    ("char(5)", &["'ab '", "'żółw'", "''"], "Utf8", &["ab", "żółw", ""]),
    ("char(5) character set latin1", &["'Äöß€'"], "Utf8", &["Äöß€"]),
    ("varchar(100) character set utf16", &["'𝄞 x'"], "Utf8", &["𝄞 x"]),
    ("varchar(9) character set sjis", &["'ソース'"], "Utf8", &["ソース"]),
    ("varchar(100) character set cp1251", &["'Привет'"], "Utf8", &["Привет"]),
    ("varchar(20) character set utf8mb3", &["'ab '"], "Utf8", &["ab "]),
    ("tinytext", &["'x'"], "Utf8", &["x"]),
    ("text", &["'😀'"], "Utf8", &["😀"]),
    ("longtext", &["repeat('ab', 3)"], "Utf8", &["ababab"]),
    ("binary(3)", &["x'01ff'"], "Binary", &["01ff00"]),
    ("varbinary(9)", &["x'00ff0a'", "''"], "Binary", &["00ff0a", ""]),
    ("blob", &["x'deadbeef'"], "Binary", &["deadbeef"]),
    ("enum('a','b''c','щ')", &["'b''c'", "3"], "Utf8", &["b'c", "щ"]),
    ("set('a','b','c')", &["'c,a'", "''"], "Utf8", &["a,c", ""]),
    ("json", &["'{\"a\": [1, 2]}'"], "Utf8", &["{\"a\": [1, 2]}"]),
    (
        "uuid",
        &["'67e55044-10b1-426f-9247-bb680e5fe0c8'"],
        "Utf8",
        &["67e55044-10b1-426f-9247-bb680e5fe0c8"],
    ),
    ("inet6", &["'2001:db8::1'"], "Utf8", &["2001:db8::1"]),
    ("inet4", &["'10.0.0.1'"], "Utf8", &["10.0.0.1"]),
    (
        "point",
        &["ST_PointFromText('POINT(1 2)')"],
        "Binary",
        &["000000000101000000000000000000f03f0000000000000040"],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_type_is_read() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    let mut script = "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES';".to_owned();
    let columns: Vec<String> = TYPES
        .iter()
        .enumerate()
        .map(|(index, (declared, ..))| format!("`c{index}` {declared}"))
        .collect();
    script += &format!("CREATE TABLE types (n int PRIMARY KEY, {});", columns.join(", "));
    for row in 0..3 {
        let values = TYPES
            .iter()
            .map(|(_, values, ..)| values.get(row).copied().unwrap_or("NULL"));
        script += &format!(
            "INSERT INTO types VALUES ({row}, {});",
            values.collect::<Vec<_>>().join(", ")
        );
    }
    server.query(&script).unwrap();
    let table = client.table(None, "types").await.unwrap();
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let query = format!("{} ORDER BY n", table.select(&all));
    // What the table declares, and what a result tells, is the same type.
    let mut told = Read::begin(&client, "types", &query, Some(&table.schema()))
        .await
        .unwrap();
    let batch = told.next().await.unwrap().unwrap();
    for (index, (declared, _, data_type, expected)) in TYPES.iter().enumerate() {
        let (column, field) = (batch.column(index + 1), batch.schema_ref().field(index + 1));
        assert_eq!(field.data_type().to_string(), *data_type, "{declared}");
        let mut expected: Vec<&str> = expected.to_vec();
        expected.resize(3, "NULL");
        assert_eq!(shown(column), expected, "{declared}");
    }
    let untold = read(&client, &query).await.unwrap();
    assert_eq!(untold.columns(), batch.columns());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expressions_have_types_too() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    server
        .query("CREATE TABLE n (i int, d decimal(10,2)); INSERT INTO n VALUES (1, 2.5), (2, 3.5), (NULL, NULL)")
        .unwrap();
    for (expression, data_type, expected) in [
        ("count(*)", "Int64", "3"),
        ("sum(i)", "Decimal128(32, 0)", "3"),
        ("sum(d)", "Decimal128(32, 2)", "6.00"),
        ("avg(d)", "Decimal128(14, 6)", "3.000000"),
        ("max(i)", "Int32", "2"),
        ("i IS NULL", "Int32", "0"),
        ("NULL", "Utf8", "NULL"),
        ("'ä'", "Utf8", "ä"),
        ("x'ff'", "Binary", "ff"),
        ("1.5", "Decimal128(2, 1)", "1.5"),
        ("1e0", "Float64", "1.0"),
        ("18446744073709551615", "UInt64", "18446744073709551615"),
        ("date '2024-02-29'", "Date32", "2024-02-29"),
        (
            "timestamp '2024-02-29 01:02:03.5'",
            "Timestamp(µs)",
            "2024-02-29T01:02:03.500",
        ),
        ("cast(d as double)", "Float64", "2.5"),
        ("concat(i, 'x')", "Utf8", "1x"),
        ("@@time_zone", "Utf8", "+00:00"),
    ] {
        let batch = read(&client, &format!("SELECT {expression} AS e FROM n")).await;
        let batch = batch.unwrap_or_else(|error| panic!("{expression}: {error}"));
        let column = batch.column(0);
        assert_eq!(column.data_type().to_string(), data_type, "{expression}");
        assert_eq!(
            shown(column).first().map(String::as_str),
            Some(expected),
            "{expression}"
        );
    }
    let wide: Vec<String> = (0..1000).map(|n| format!("{n} AS c{n}")).collect();
    let batch = read(&client, &format!("SELECT {}", wide.join(", "))).await.unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (1, 1000));
    assert_eq!(
        read(&client, "SELECT * FROM n WHERE i = 7").await.unwrap().num_rows(),
        0
    );
    // A value longer than a packet.
    server.query("SET GLOBAL max_allowed_packet = 64 << 20").unwrap();
    let client = client_of(&server).await;
    let batch = read(&client, "SELECT repeat('x', 40000000) AS e, 7 AS n")
        .await
        .unwrap();
    assert_eq!(batch.column(0).as_string::<i32>().value(0).len(), 40_000_000);
}

async fn client_of(server: &MariaDb) -> Client {
    client(server, "").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_that_arrow_does_not_have_are_errors_or_null() {
    let Some(server) = MariaDb::need() else { return };
    server
        .query(
            "SET sql_mode = 'ALLOW_INVALID_DATES'; CREATE TABLE d (n int, d date, t datetime(6), s timestamp NULL, f date NOT NULL);
             INSERT INTO d VALUES (1, '2024-01-02', '2024-01-02', '2024-01-02', '2024-01-02'), (2, '0000-00-00', NULL, NULL, '2024-01-02'),
                (3, '2024-02-00', NULL, NULL, '2024-01-02'), (4, NULL, '0000-00-00', NULL, '2024-01-02'),
                (5, NULL, NULL, '0000-00-00', '2024-01-02'), (6, '2023-02-31', NULL, NULL, '2024-01-02'), (7, NULL, NULL, NULL, '0000-00-00')",
        )
        .unwrap();
    let strict = client(&server, "").await;
    for (n, named) in [
        (2, "0000-00-00"),
        (3, "2024-02-00"),
        (4, "0000-00-00"),
        (5, "0000-00-00"),
        (6, "2023-02-31"),
    ] {
        let error = read(&strict, &format!("SELECT * FROM d WHERE n IN (1, {n}) ORDER BY n"))
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(named) && text.contains("row 2") && text.contains("unrepresentable=null"),
            "{text}"
        );
    }
    let lenient = client(&server, "&unrepresentable=null").await;
    let batch = read(&lenient, "SELECT d, t, s FROM d ORDER BY n").await.unwrap();
    let nulls: Vec<usize> = batch.columns().iter().map(|column| column.null_count()).collect();
    assert_eq!(nulls, [6, 6, 6]);
    // A column that takes no NULL has none.
    let table = lenient.table(None, "d").await.unwrap();
    let mut read = Read::begin(&lenient, "d", &table.select(&[0, 1, 2, 3, 4]), Some(&table.schema()))
        .await
        .unwrap();
    let error = loop {
        match read.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a day that is none"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("column f"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_described() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    server
        .query(
            "CREATE TABLE `Or``ders` (id bigint unsigned AUTO_INCREMENT, `part no` varchar(20) NOT NULL DEFAULT 'x', price decimal(8,2),
                twice decimal(9,2) AS (price * 2) STORED, odd int AS (id % 2) VIRTUAL, PRIMARY KEY (`part no`, id), KEY (id)) ENGINE=InnoDB;
             CREATE VIEW v AS SELECT id FROM `Or``ders`; CREATE DATABASE other; CREATE TABLE other.t (n int)",
        )
        .unwrap();
    let table = client.table(None, "or`DERS").await.unwrap();
    assert_eq!((table.name.as_str(), table.kind), ("Or`ders", TableKind::Table));
    assert_eq!(table.primary_key, ["part no", "id"]);
    assert_eq!(table.engine.as_deref(), Some("InnoDB"));
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| {
            let flags = (
                column.is_nullable,
                column.is_generated,
                column.is_auto_increment,
                column.has_default,
            );
            (column.name.as_str(), column.declared.as_str(), flags)
        })
        .collect();
    assert_eq!(
        columns,
        [
            ("id", "bigint(20) unsigned", (false, false, true, true)),
            ("part no", "varchar(20)", (false, false, false, true)),
            ("price", "decimal(8,2)", (true, false, false, true)),
            ("twice", "decimal(9,2)", (true, true, false, true)),
            ("odd", "int(11)", (true, true, false, true)),
        ]
    );
    assert_eq!(table.schema().field(1).metadata()["mysql.type"], "varchar(20)");
    assert_eq!(client.table(None, "v").await.unwrap().kind, TableKind::View);
    assert_eq!(
        client.table(Some("other"), "t").await.unwrap().quoted_name(),
        "`other`.`t`"
    );
    assert_eq!(client.tables(None).await.unwrap(), ["Or`ders", "v"]);
    let error = client.table(None, "nowhere").await.unwrap_err().to_string();
    assert!(
        error.contains("shop.nowhere") && error.contains("Or`ders, v"),
        "{error}"
    );
    let (options, _) = Options::parse(&server.url().replace("/shop", "/")).unwrap();
    let nowhere = Client::connect(options).await.unwrap();
    assert!(matches!(
        nowhere.table(None, "v").await,
        Err(Error::NotFound { kind: "database", .. })
    ));
    assert!(nowhere.table(Some("shop"), "v").await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_rows_come_in_bounded_batches() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    let query = "SELECT seq AS n, repeat('x', seq % 50) AS s FROM seq_1_to_1000000";
    let limits = BatchLimits {
        rows: 1000,
        bytes: 20_000,
    };
    let mut rows = Read::begin(&client, "t", query, None)
        .await
        .unwrap()
        .with_limits(limits);
    let (mut sum, mut count) = (0, 0);
    while let Some(batch) = rows.next().await.unwrap() {
        assert!(batch.num_rows() <= 1000 && batch.get_array_memory_size() < 100_000);
        sum += batch
            .column(0)
            .as_primitive::<UInt64Type>()
            .values()
            .iter()
            .sum::<u64>();
        count += batch.num_rows();
    }
    assert_eq!((count, sum), (1_000_000, 500_000_500_000));
    assert!(rows.next().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_read_is_cancelled() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    let running = "SELECT count(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%seq_1_to_100000000%' AND ID <> connection_id()";
    for query in [
        "SELECT seq FROM seq_1_to_1000000000",
        "SELECT sum(sleep(seq)) FROM seq_1_to_1000000000",
    ] {
        let reader = client.clone();
        let task = tokio::spawn(async move {
            let mut rows = Read::begin(&reader, "t", query, None).await.unwrap();
            rows.next().await.unwrap();
            std::future::pending::<()>().await;
        });
        until(&server, running, "1\n").await;
        task.abort();
        until(&server, running, "0\n").await;
    }
}

async fn until(server: &MariaDb, query: &str, expected: &str) {
    let begun = Instant::now();
    while server.query(query).unwrap() != expected {
        assert!(begun.elapsed() < Duration::from_secs(20), "{query}: not {expected}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_or_is_silent_is_an_error() {
    let Some(mut server) = MariaDb::need() else { return };
    let (options, _) = Options::parse(&format!("{}?timeout=2", server.url())).unwrap();
    let client = Client::connect(options).await.unwrap();
    let error = Read::begin(&client, "slow", "SELECT sleep(60)", None).await;
    let error = match error {
        Ok(mut read) => read.next().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    for way in ["dies", "is silent"] {
        let mut rows = Read::begin(&client, "long", "SELECT seq FROM seq_1_to_1000000000", None)
            .await
            .unwrap();
        rows.next().await.unwrap().unwrap();
        match way {
            "dies" => server.restart().unwrap(),
            _ => server.pause(true).unwrap(),
        }
        let error = loop {
            match rows.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the end of rows that did not come"),
                Err(error) => break error,
            }
        };
        server.pause(false).unwrap();
        assert!(
            matches!(error, Error::Broken { .. } | Error::Timeout { .. }),
            "{way}: {error}"
        );
        assert!(rows.next().await.unwrap().is_none());
        // Connections that died with the server are not asked again.
        assert_eq!(read(&client, "SELECT 1").await.unwrap().num_rows(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_have_the_servers_words() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    let error = read(&client, "SELECT 1 FROM nowhere").await.unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (Some(1146), Some("42S02")));
    assert!(error.server().unwrap().message.contains("nowhere"));
    // It fails among its rows.
    let query = "SELECT seq, if(seq < 50000, 1, (SELECT 1 UNION SELECT seq)) FROM seq_1_to_100000";
    let error = read(&client, query).await.unwrap_err();
    assert_eq!(error.code(), Some(1242), "{error}");
    let error = read(&client, "SET @x = 1").await.unwrap_err().to_string();
    assert!(error.contains("gives none"), "{error}");
    assert_eq!(read(&client, "SELECT 1").await.unwrap().num_rows(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_changes_between_plan_and_read_is_told() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    server.query("CREATE TABLE t (n int, s varchar(9))").unwrap();
    let table = client.table(None, "t").await.unwrap();
    assert_eq!(table.schema().field(0).data_type(), &DataType::Int32);
    server.query("ALTER TABLE t MODIFY n datetime").unwrap();
    let read = Read::begin(&client, "t", &table.select(&[0, 1]), Some(&table.schema())).await;
    let error = read.unwrap_err().to_string();
    assert!(error.contains("column n") && error.contains("changed"), "{error}");
    let table = client.table(None, "t").await.unwrap();
    assert_eq!(
        table.schema().field(0).data_type(),
        &DataType::Timestamp(TimeUnit::Microsecond, None)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_of_a_call_are_read() {
    let Some(server) = MariaDb::need() else { return };
    let client = client(&server, "").await;
    server
        .query("DELIMITER //\nCREATE PROCEDURE two() BEGIN SELECT 7 AS a; SELECT 'x' AS b, 2 AS c; END //\n")
        .unwrap();
    let batch = read(&client, "CALL two()").await.unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (1, 1));
    let batch = read(&client, "SELECT count(*) FROM seq_1_to_10").await.unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(0), 10);
}
