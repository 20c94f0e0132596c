//! Tables of a real server, read.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_select::concat::concat_batches;
use tidemill_postgres::{BatchLimits, Client, Error, Options, Read, TableKind, Unrepresentable};
use tidemill_testkit::Postgres;

async fn client(server: &Postgres, query: &str) -> Client {
    let (options, _) = Options::parse(&format!("{}?timeout=20{query}", server.url())).unwrap();
    Client::connect(options).await.unwrap()
}

async fn read(client: &Client, query: &str) -> Result<RecordBatch, Error> {
    let mut read = Read::begin(client, "t", query, None).await?;
    let mut batches = Vec::new();
    while let Some(batch) = read.next().await? {
        batches.push(batch);
    }
    Ok(concat_batches(read.schema(), &batches).unwrap())
}

fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
    let column = batch.column(column);
    let text = |row| match column.is_null(row) {
        true => "NULL".to_owned(),
        false => array_value_to_string(column, row).unwrap(),
    };
    (0..column.len()).map(text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_each_type() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server, "").await;
    server
        .psql(
            "CREATE TYPE mood AS ENUM ('glad', 'Sad one'); CREATE DOMAIN price AS numeric(8,2) CHECK (VALUE >= 0);
             CREATE DOMAIN code AS varchar(5);",
        )
        .unwrap();
    let rows = [
        ("true", "Boolean", "true"),
        ("(-32768)::int2", "Int16", "-32768"),
        ("2147483647", "Int32", "2147483647"),
        ("'-9223372036854775808'::int8", "Int64", "-9223372036854775808"),
        ("4294967295::oid", "UInt32", "4294967295"),
        ("1.5::float4", "Float32", "1.5"),
        ("'NaN'::float8", "Float64", "NaN"),
        ("(-12345.67)::numeric(10,2)", "Decimal128(10, 2)", "-12345.67"),
        ("12000000::numeric(10,-3)", "Decimal128(13, 0)", "12000000"),
        ("0.00012::numeric(3,5)", "Decimal128(5, 5)", "0.00012"),
        (
            "99999999999999999999999999999999999999::numeric(38)",
            "Decimal128(38, 0)",
            "99999999999999999999999999999999999999",
        ),
        (
            "(-0.1)::numeric(60,30)",
            "Decimal256(60, 30)",
            "-0.100000000000000000000000000000",
        ),
        ("123456789.000120::numeric", "Utf8", "123456789.000120"),
        ("0.000000000000123::numeric", "Utf8", "0.000000000000123"),
        ("1e20::numeric", "Utf8", "100000000000000000000"),
        ("'NaN'::numeric", "Utf8", "NaN"),
        ("1.25::price", "Decimal128(8, 2)", "1.25"),
        ("'é\u{1f642}'::text", "Utf8", "é\u{1f642}"),
        ("'abc'::code", "Utf8", "abc"),
        ("'ab'::char(5)", "Utf8", "ab"),
        ("'pg_class'::name", "Utf8", "pg_class"),
        ("'Sad one'::mood", "Utf8", "Sad one"),
        ("'{\"a\":  1}'::json", "Utf8", "{\"a\":  1}"),
        ("'{\"a\":  1}'::jsonb", "Utf8", "{\"a\": 1}"),
        ("'<a/>'::xml", "Utf8", "<a/>"),
        ("'\\x00ff'::bytea", "Binary", "00ff"),
        ("date '2024-02-29'", "Date32", "2024-02-29"),
        ("date '0044-03-15 BC'", "Date32", "-0043-03-15"),
        ("time '23:59:59.999999'", "Time64(µs)", "23:59:59.999999"),
        (
            "timestamp '1969-12-31 23:59:59.999999'",
            "Timestamp(µs)",
            "1969-12-31T23:59:59.999999",
        ),
        (
            "timestamptz '2024-07-01 12:00+02'",
            "Timestamp(µs, \"UTC\")",
            "2024-07-01T10:00:00Z",
        ),
        (
            "interval '1 year 2 months 3 days 04:05:06.7'",
            "Interval(MonthDayNano)",
            "14 mons 3 days 4 hours 5 mins 6.700000000 secs",
        ),
        (
            "'67e55044-10b1-426f-9247-bb680e5fe0c8'::uuid",
            "FixedSizeBinary(16)",
            "67e5504410b1426f9247bb680e5fe0c8",
        ),
        ("array[1, NULL, 3]", "List(Int32)", "[1, , 3]"),
        ("'{}'::text[]", "List(Utf8)", "[]"),
        ("array[1.5, 2]::numeric(4,1)[]", "List(Decimal128(4, 1))", "[1.5, 2.0]"),
        ("array['Sad one']::mood[]", "List(Utf8)", "[Sad one]"),
        (
            "array[1.25]::price[]::numeric(8,2)[]",
            "List(Decimal128(8, 2))",
            "[1.25]",
        ),
        ("NULL::int4", "Int32", "NULL"),
        ("'?'", "Utf8", "?"),
    ];
    for (sql, data_type, expected) in rows {
        let batch = read(&client, &format!("SELECT {sql} AS c -- the value")).await.unwrap();
        let found = batch.schema().field(0).data_type().to_string();
        assert_eq!(
            (found.as_str(), texts(&batch, 0)),
            (data_type, vec![expected.to_owned()]),
            "{sql}"
        );
    }
    for (sql, named) in [
        ("date 'infinity'", "infinity"),
        ("timestamp '-infinity'", "-infinity"),
        ("timestamptz '294276-01-01'", "294247"),
        ("time '24:00'", "24:00"),
        ("'NaN'::numeric(4,2)", "NaN"),
        ("'{{1,2},{3,4}}'::int[]", "2 dimensions"),
        ("'192.168.0.1/24'::inet", "cast it to text"),
    ] {
        let query = format!("SELECT 1 AS n, {sql} AS c");
        let error = read(&client, &query).await.unwrap_err().to_string();
        assert!(error.contains(named) && error.contains("column c"), "{error}");
        assert!(named.starts_with("cast") || error.contains("row 1"), "{error}");
    }
    // The connections of reads that failed are not asked again.
    let batch = read(&client, "SELECT 1").await.unwrap();
    assert_eq!(batch.num_rows(), 1);

    let mut options = client.options().clone();
    options.unrepresentable = Unrepresentable::Null;
    let lenient = Client::connect(options).await.unwrap();
    let batch = read(
        &lenient,
        "SELECT date 'infinity', 'NaN'::numeric(4,2) UNION ALL SELECT '2000-01-01', 1::numeric(4,2)",
    )
    .await
    .unwrap();
    assert_eq!(texts(&batch, 0), ["NULL", "2000-01-01"]);
    assert_eq!(texts(&batch, 1), ["NULL", "1.00"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_found_and_described() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server, "").await;
    server
        .psql(
            "CREATE SCHEMA \"Shop \"\"x\"; CREATE TABLE \"Shop \"\"x\".\"Orders\" (
                \"Id\" bigint GENERATED ALWAYS AS IDENTITY, place varchar(20) NOT NULL, at timestamptz DEFAULT now(), host inet, ranges int4range[],
                twice int GENERATED ALWAYS AS (length(place) * 2) STORED, gone int, PRIMARY KEY (place, \"Id\"));
             ALTER TABLE \"Shop \"\"x\".\"Orders\" DROP COLUMN gone;
             INSERT INTO \"Shop \"\"x\".\"Orders\" (place, at, host, ranges) VALUES ('Riga', '2024-01-01 00:00Z', '10.0.0.1', '{[1\\,3)}');
             CREATE VIEW public.\"ORDERS\" AS SELECT * FROM \"Shop \"\"x\".\"Orders\"; CREATE TABLE two (a int); CREATE TABLE \"TWO\" (b int);
             CREATE TABLE three (); INSERT INTO three DEFAULT VALUES; INSERT INTO three DEFAULT VALUES",
        )
        .unwrap();
    let schema = Some("Shop \"x");
    let table = client.table(schema, "orders").await.unwrap();
    assert_eq!((table.name.as_str(), table.kind), ("Orders", TableKind::Table));
    assert_eq!(table.primary_key, ["place", "Id"]);
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| {
            (
                column.name.as_str(),
                column.declared.as_str(),
                column.is_nullable,
                column.is_generated,
                column.is_identity,
                column.has_default,
            )
        })
        .collect();
    assert_eq!(
        columns,
        [
            ("Id", "bigint", false, false, true, false),
            ("place", "character varying(20)", false, false, false, false),
            ("at", "timestamp with time zone", true, false, false, true),
            ("host", "inet", true, false, false, false),
            ("ranges", "int4range[]", true, false, false, false),
            ("twice", "integer", true, true, false, true),
        ]
    );
    let query = table.select(&[1, 3, 4, 5]);
    let projected = std::sync::Arc::new(table.schema().project(&[1, 3, 4, 5]).unwrap());
    let mut rows = Read::begin(&client, "orders", &query, Some(&projected)).await.unwrap();
    let batch = rows.next().await.unwrap().unwrap();
    assert_eq!(batch.schema(), projected);
    let found: Vec<String> = (0..4).map(|column| texts(&batch, column).remove(0)).collect();
    assert_eq!(found, ["Riga", "10.0.0.1", "{\"[1,3)\"}", "8"]);
    assert!(rows.next().await.unwrap().is_none());

    let view = client.table(None, "Orders").await.unwrap();
    assert_eq!(
        (view.kind, view.columns.len(), view.primary_key.len()),
        (TableKind::View, 6, 0)
    );
    assert_eq!(client.table(None, "TWO").await.unwrap().columns[0].name, "b");
    let error = client.table(None, "Two").await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let error = client.table(schema, "nothing").await.unwrap_err().to_string();
    assert!(error.contains("there are Orders"), "{error}");
    assert_eq!(client.tables(None).await.unwrap(), ["ORDERS", "TWO", "three", "two"]);

    let rows = read(&client, "SELECT FROM three").await.unwrap();
    assert_eq!((rows.num_columns(), rows.num_rows()), (0, 2));

    // The table is changed between the plan and the read.
    server.psql("ALTER TABLE two ALTER a TYPE text").unwrap();
    let stale = std::sync::Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
        "a",
        arrow_schema::DataType::Int32,
        true,
    )]));
    let error = Read::begin(&client, "two", "SELECT a FROM two", Some(&stale))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("column a: reading text as Int32"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_come_in_batches_and_a_dropped_read_is_cancelled() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server, "&application_name=reader").await;
    let query = "SELECT n, repeat('x', (n % 50)::int) FROM generate_series(1, 100000::bigint) n";
    let limits = BatchLimits {
        rows: 1000,
        bytes: 10_000,
    };
    let mut rows = Read::begin(&client, "t", query, None)
        .await
        .unwrap()
        .with_limits(limits);
    let (mut sum, mut count) = (0, 0);
    while let Some(batch) = rows.next().await.unwrap() {
        assert!(batch.num_rows() <= 1000 && batch.get_array_memory_size() < 60_000);
        let numbers = batch.column(0).as_primitive::<arrow_array::types::Int64Type>();
        sum += numbers.values().iter().sum::<i64>();
        count += batch.num_rows();
    }
    assert_eq!((count, sum), (100_000, 100_000 * 100_001 / 2));

    let running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader' AND state = 'active'";
    for query in ["SELECT generate_series(1, 1000000000)", "SELECT pg_sleep(600)"] {
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

async fn until(server: &Postgres, query: &str, expected: &str) {
    let begun = Instant::now();
    while server.psql(query).unwrap() != expected {
        assert!(begun.elapsed() < Duration::from_secs(20), "{query}: not {expected}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_or_is_silent_is_an_error() {
    let Some(mut server) = Postgres::need() else { return };
    let (options, _) = Options::parse(&format!("{}?timeout=3", server.url())).unwrap();
    let client = Client::connect(options).await.unwrap();
    let error = Read::begin(&client, "slow", "SELECT pg_sleep(60)", None)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    let mut rows = Read::begin(&client, "long", "SELECT generate_series(1, 1000000000)", None)
        .await
        .unwrap();
    rows.next().await.unwrap().unwrap();
    server.restart().unwrap();
    let error = loop {
        match rows.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end of rows that did not come"),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(
            error,
            Error::Broken { .. } | Error::Server { .. } | Error::Timeout { .. }
        ),
        "{error}"
    );
    // Connections that died with the server are not asked again.
    assert_eq!(read(&client, "SELECT 1").await.unwrap().num_rows(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_have_the_servers_words() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server, "").await;
    let error = read(&client, "SELECT 1 FROM nowhere").await.unwrap_err();
    assert_eq!(error.sqlstate(), Some("42P01"));
    let server_error = error.server().unwrap();
    assert_eq!(
        (server_error.position, server_error.message.contains("nowhere")),
        (Some(15), true)
    );
    // It fails among its rows.
    let error = read(&client, "SELECT 10 / (5 - n) FROM generate_series(1, 9) n")
        .await
        .unwrap_err();
    assert_eq!(error.sqlstate(), Some("22012"));
    let error = read(&client, "SELECT lenght('x')").await.unwrap_err().to_string();
    assert!(
        error.contains("42883") && error.contains("might need to add explicit type casts"),
        "{error}"
    );
    assert_eq!(read(&client, "SELECT 1").await.unwrap().num_rows(), 1);
}
