//! The client against a real server, ClickHouse 18.16.1.

use std::{sync::Arc, time::Duration};

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, UInt8Array, UInt64Array,
    cast::AsArray,
    types::{UInt8Type, UInt64Type},
};
use tidemill_clickhouse::{
    Block, Compression, DataType, Error,
    client::{CancelHandle, Client, Options, QueryStream},
};
use tidemill_testkit::ClickHouse;

const ALL: [Compression; 5] = [
    Compression::None,
    Compression::Checksum,
    Compression::Lz4,
    Compression::Lz4Hc(4),
    Compression::Zstd(1),
];

fn options(server: &ClickHouse) -> Options {
    Options::new(&server.native().to_string()).unwrap()
}

async fn client(server: &ClickHouse) -> Client {
    Client::with_options(options(server)).await.expect("a connection")
}

async fn count(client: &Client, sql: &str) -> u64 {
    let batches = client.query(sql).collect().await.expect("an answer");
    batches[0].column(0).as_primitive::<UInt64Type>().value(0)
}

/// All rows of all batches of the first column.
async fn numbers(mut stream: QueryStream) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    while let Some(batch) = stream.next().await? {
        numbers.extend(batch.column(0).as_primitive::<UInt64Type>().values());
    }
    Ok(numbers)
}

fn server_code(error: &Error) -> Option<i32> {
    match error {
        Error::Server(exception) => Some(exception.code),
        _ => None,
    }
}

#[tokio::test]
async fn queries_are_answered_by_every_compression() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client.ping().await.unwrap();
    let hello = client.server().await.unwrap();
    assert_eq!(
        (hello.version_major, hello.version_minor, hello.revision.0),
        (18, 16, 54412)
    );
    assert_eq!(hello.name, "ClickHouse");

    for compression in ALL {
        let sql = "SELECT number, toString(number) AS text FROM system.numbers LIMIT 200000";
        let mut stream = client.query(sql).compression(compression).await.unwrap();
        assert_eq!(stream.schema().unwrap().field(1).name(), "text");
        let mut next = 0;
        while let Some(batch) = stream.next().await.unwrap() {
            let texts = batch.column(1).as_string::<i32>();
            for (number, text) in batch.column(0).as_primitive::<UInt64Type>().values().iter().zip(texts) {
                assert_eq!(*number, next);
                assert_eq!(text.unwrap(), next.to_string());
                next += 1;
            }
        }
        assert_eq!(next, 200_000, "{compression}");
        assert!(stream.progress().rows >= 200_000);
        assert_eq!(stream.summary().profile.unwrap().rows, 200_000);
    }
}

#[tokio::test]
async fn totals_extremes_settings_and_logs_come_beside_the_rows() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;

    let sql = "SELECT number % 3 AS k, count() AS n FROM system.numbers WHERE 1 GROUP BY k WITH TOTALS";
    let sql = sql.replace("system.numbers", "(SELECT number FROM system.numbers LIMIT 10)");
    let request = client
        .query(&sql)
        .setting("extremes", true)
        .setting("max_block_size", 5_u64);
    let mut stream = request.setting("send_logs_level", "trace").await.unwrap();
    let mut rows = 0;
    while let Some(batch) = stream.next().await.unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 3);
    let summary = stream.summary();
    let totals = summary.totals.as_ref().expect("totals");
    assert_eq!(totals.column(1).as_primitive::<UInt64Type>().value(0), 10);
    let extremes = summary.extremes.as_ref().expect("extremes");
    assert_eq!(extremes.column(0).as_primitive::<UInt8Type>().values(), &[0, 2]);

    // Settings of every kind reach a server that must be told their kinds.
    let sql = "SELECT value FROM system.settings WHERE name IN ('max_threads', 'totals_mode', 'totals_auto_threshold') \
               ORDER BY name";
    let request = client
        .query(sql)
        .setting("max_threads", 3_u64)
        .setting("totals_mode", "before_having");
    let batches = request.setting("totals_auto_threshold", 0.25).collect().await.unwrap();
    let values: Vec<_> = batches[0].column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(values, ["3", "0.25", "before_having"]);

    let unknown = client
        .query("SELECT 1")
        .setting("no_such_setting", 1_u64)
        .collect()
        .await
        .unwrap_err();
    assert_eq!(server_code(&unknown), Some(115));
}

#[tokio::test]
async fn exceptions_are_errors_and_the_connection_goes_on() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 1;
    let client = Client::with_options(options).await.unwrap();

    let syntax = client.query("SELEKT 1").await.unwrap_err();
    assert_eq!(server_code(&syntax), Some(62), "{syntax:?}");
    // This server has no roles.
    let role = client.query("SELECT 1").role("reader").await.unwrap_err();
    assert_eq!(server_code(&role), Some(62), "{role:?}");
    // In the middle of the rows: a stream that ends early is an error.
    let sql = "SELECT throwIf(number = 100000) FROM system.numbers";
    let request = client
        .query(sql)
        .setting("max_block_size", 1000_u64)
        .setting("send_logs_level", "error");
    let mut stream = request.await.unwrap();
    let error = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended"),
            Err(error) => break error,
        }
    };
    let Error::Server(exception) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(exception.code, 395);
    assert!(exception.name.contains("Exception") && !exception.stack_trace.is_empty());
    assert!(!stream.summary().logs.is_empty(), "lines of the log");
    drop(stream);
    assert_eq!(count(&client, "SELECT count() FROM system.one").await, 1);

    let wrong_user = "clickhouse://nobody:secret@".to_owned() + &server.native().to_string();
    for refused in [
        Client::connect(&wrong_user).await.map(drop),
        client
            .query("SELECT 1")
            .user("nobody", "secret")
            .unwrap()
            .execute()
            .await
            .map(drop),
        client.insert("t").user("nobody", "secret").unwrap().await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(server_code(&refused), Some(192), "{refused:?}");
        assert!(!format!("{refused} {refused:?}").contains("secret"));
    }
}

#[tokio::test]
async fn inserted_rows_are_there() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client
        .execute("CREATE TABLE t (id UInt64, name String, x Nullable(Float64), d UInt8 DEFAULT 7) ENGINE = Memory")
        .await
        .unwrap();
    let batch = |begin: u64, rows: u64| {
        let ids = UInt64Array::from_iter_values(begin..begin + rows);
        let names = StringArray::from_iter_values((begin..begin + rows).map(|id| format!("name {id}")));
        let x = Float64Array::from_iter((begin..begin + rows).map(|id| (id % 3 != 0).then_some(id as f64)));
        // Not in the table's order.
        RecordBatch::try_from_iter([
            ("x", Arc::new(x) as ArrayRef),
            ("name", Arc::new(names)),
            ("id", Arc::new(ids)),
        ])
        .unwrap()
    };
    for compression in ALL {
        client.execute("DROP TABLE t").await.unwrap();
        client
            .execute("CREATE TABLE t (id UInt64, name String, x Nullable(Float64), d UInt8 DEFAULT 7) ENGINE = Memory")
            .await
            .unwrap();
        let insert = client.insert("t").columns(["id", "name", "x"]).compression(compression);
        let mut insert = insert.rows_per_block(10_000).await.unwrap();
        assert_eq!(
            insert.types().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["UInt64", "String", "Nullable(Float64)"]
        );
        insert.write(&batch(0, 3)).await.unwrap();
        insert.write(&batch(3, 35_000)).await.unwrap();
        insert.write(&batch(35_003, 0)).await.unwrap();
        insert.write(&batch(35_003, 5)).await.unwrap();
        let summary = insert.finish().await.unwrap();
        assert_eq!((summary.rows, summary.blocks), (35_008, 5), "{compression}");

        let sql = "SELECT count(), sum(id), sum(x), sum(d), countIf(name = concat('name ', toString(id))) FROM t";
        let answer = client.query(sql).collect().await.unwrap();
        let columns: Vec<_> = [0, 1, 3, 4]
            .map(|at| answer[0].column(at).as_primitive::<UInt64Type>().value(0))
            .into();
        assert_eq!(columns, [35_008, 35_008 * 35_007 / 2, 7 * 35_008, 35_008]);
    }
}

#[tokio::test]
async fn what_does_not_fit_a_table_is_refused() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    assert_eq!(server_code(&client.insert("nowhere").await.unwrap_err()), Some(60));

    client
        .execute("CREATE TABLE t (id UInt64, name String) ENGINE = Memory")
        .await
        .unwrap();
    let id: ArrayRef = Arc::new(UInt64Array::from(vec![1]));
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let mut insert = client.insert("t").await.unwrap();
    for wrong in [
        vec![("id", Arc::clone(&id))],
        vec![("id", Arc::clone(&id)), ("name", Arc::clone(&id))],
        vec![
            ("id", Arc::clone(&id)),
            ("name", Arc::clone(&name)),
            ("more", Arc::clone(&name)),
        ],
    ] {
        let refused = insert.write(&RecordBatch::try_from_iter(wrong).unwrap()).await;
        assert!(matches!(refused, Err(Error::Block(_))), "{refused:?}");
    }
    let right = RecordBatch::try_from_iter([("id", Arc::clone(&id)), ("name", name)]).unwrap();
    insert.write(&right).await.unwrap();
    assert_eq!(insert.finish().await.unwrap().rows, 1);
    assert_eq!(count(&client, "SELECT count() FROM t").await, 1);

    // A null where the table has none is found in the second row: the insert fails, and nothing of it is stored.
    let mut insert = client.insert("t").columns(["id"]).await.unwrap();
    let null = RecordBatch::try_from_iter([("id", Arc::new(UInt64Array::from(vec![Some(5), None])) as ArrayRef)]);
    insert.write(&null.unwrap()).await.unwrap();
    assert!(matches!(insert.finish().await, Err(Error::Block(_))));
    assert_eq!(count(&client, "SELECT count() FROM t").await, 1);

    // An insert that is dropped stores nothing that was not sent.
    let mut insert = client.insert("t").await.unwrap();
    insert.write(&right).await.unwrap();
    drop(insert);
    assert_eq!(count(&client, "SELECT count() FROM t").await, 1);
}

#[tokio::test]
async fn queries_are_cancelled_by_handle_by_deadline_and_by_drop() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 1;
    let client = Client::with_options(options).await.unwrap();
    let endless = "SELECT number FROM system.numbers";
    let silent = "SELECT count() FROM system.numbers";
    let running =
        "SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%processes%'";

    for sql in [endless, silent] {
        let request = client.query(sql).deadline(Duration::from_millis(300));
        let ended = match request.await {
            Ok(stream) => numbers(stream).await.map(drop),
            Err(error) => Err(error),
        };
        assert!(
            matches!(
                ended,
                Err(Error::Timeout {
                    action: "the query",
                    ..
                })
            ),
            "{ended:?}"
        );
        assert_eq!(count(&client, running).await, 0);
    }

    let stream = client.query(endless).await.unwrap();
    let handle = stream.cancel_handle();
    let reading = tokio::spawn(numbers(stream));
    tokio::time::sleep(Duration::from_millis(100)).await;
    handle.cancel();
    assert!(matches!(reading.await.unwrap(), Err(Error::Cancelled)));
    assert_eq!(count(&client, running).await, 0);

    // The one connection of the pool is free again, though nobody read to the end.
    let mut stream = client.query(endless).await.unwrap();
    assert!(stream.next().await.unwrap().is_some());
    drop(stream);
    assert_eq!(count(&client, running).await, 0);

    // A handle from before the query is sent, while nothing but progress comes.
    let handle = CancelHandle::new();
    let reading = tokio::spawn(client.query(silent).cancelled_by(&handle).execute());
    tokio::time::sleep(Duration::from_millis(100)).await;
    handle.cancel();
    assert!(matches!(reading.await.unwrap(), Err(Error::Cancelled)));

    // What would have ended a query early says nothing to what comes behind it over the same connection.
    for request in [client.query("SELECT 1"), client.query(endless)] {
        let handle = CancelHandle::new();
        let ended = request.deadline(Duration::from_millis(200)).cancelled_by(&handle);
        let _ = ended.execute().await;
        handle.cancel();
        tokio::time::sleep(Duration::from_millis(300)).await;
        client.ping().await.unwrap();
    }

    let id = "to be killed";
    let reading = tokio::spawn(client.query(endless).query_id(id).into_future_stream());
    let other = Client::with_options(options_of(&client)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    other.kill_query(id).await.unwrap();
    let ended = reading.await.unwrap();
    assert_eq!(ended.as_ref().err().and_then(server_code), Some(394), "{ended:?}");
}

fn options_of(client: &Client) -> Options {
    client.options().clone()
}

trait IntoFutureStream {
    fn into_future_stream(self) -> impl Future<Output = Result<Vec<u64>, Error>> + Send + 'static;
}

impl IntoFutureStream for tidemill_clickhouse::client::Request {
    async fn into_future_stream(self) -> Result<Vec<u64>, Error> {
        numbers(self.await?).await
    }
}

#[tokio::test]
async fn external_tables_are_sent_along() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    let ids: ArrayRef = Arc::new(UInt64Array::from_iter_values((0..1000).map(|n| n * 2)));
    let block = Block::new(RecordBatch::try_from_iter([("id", ids)]).unwrap()).unwrap();
    let sql = "SELECT count() FROM (SELECT number FROM system.numbers LIMIT 100) WHERE number IN wanted";
    for compression in ALL {
        let request = client.query(sql).external_table("wanted", block.clone());
        let answer = request.compression(compression).collect().await.unwrap();
        assert_eq!(answer[0].column(0).as_primitive::<UInt64Type>().value(0), 50);
    }
}

#[tokio::test]
async fn types_of_the_server_go_in_and_come_out() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    // Each is written from the server's own expression, read, inserted into a table, and compared by the server.
    for (data_type, expression) in [
        ("UInt8", "toUInt8(number)"),
        ("UInt16", "toUInt16(number * 67)"),
        ("UInt32", "toUInt32(number * 4294967)"),
        ("UInt64", "number * 18446744073709551"),
        ("Int8", "toInt8(number - 100)"),
        ("Int16", "toInt16(number * -32)"),
        ("Int32", "toInt32(number * -2147483)"),
        ("Int64", "toInt64(number) * -1000000007"),
        ("Float32", "toFloat32(number / 3)"),
        ("Float64", "number / 7"),
        ("String", "concat('text ', toString(number))"),
        ("FixedString(5)", "toFixedString(toString(number % 100), 5)"),
        ("Date", "toDate(number * 49)"),
        ("DateTime", "toDateTime(number * 1000003)"),
        (
            "DateTime('Europe/Moscow')",
            "toDateTime(number * 1000003, 'Europe/Moscow')",
        ),
        (
            "UUID",
            "toUUID(concat('00000000-0000-0000-0000-0000000', toString(10000 + number)))",
        ),
        (
            "Enum8('a' = -1, 'b' = 2)",
            "CAST(if(number % 2, 'a', 'b') AS Enum8('a' = -1, 'b' = 2))",
        ),
        (
            "Enum16('x' = 1000, 'y' = 3)",
            "CAST(if(number % 2, 'x', 'y') AS Enum16('x' = 1000, 'y' = 3))",
        ),
        ("Array(UInt64)", "arrayMap(x -> toUInt64(x), range(number % 10))"),
        ("Array(Array(String))", "[[toString(number)], [], ['a', 'b']]"),
        ("Array(Nullable(String))", "[NULL, toString(number)]"),
        ("Nullable(UInt8)", "if(number % 3 = 0, NULL, toUInt8(number))"),
        ("Nullable(Date)", "if(number % 3 = 0, NULL, toDate(number))"),
        (
            "Nullable(FixedString(3))",
            "if(number % 3 = 0, NULL, toFixedString(toString(number % 100), 3))",
        ),
        (
            "Nullable(UUID)",
            "if(number % 3 = 0, NULL, toUUID(concat('00000000-0000-0000-0000-0000000', toString(10000 + number))))",
        ),
        (
            "Nullable(Decimal(9, 3))",
            "if(number % 3 = 0, NULL, toDecimal32(number, 3))",
        ),
        ("Nullable(Float64)", "if(number % 3 = 0, NULL, number / 7)"),
        ("Tuple(UInt8, String)", "(toUInt8(number), toString(number))"),
        (
            "Tuple(UInt8, Array(UInt16))",
            "(toUInt8(number), [toUInt16(number), toUInt16(7)])",
        ),
        (
            "Array(FixedString(2))",
            "[toFixedString('ab', 2), toFixedString(toString(number % 10), 2)]",
        ),
        ("Array(Date)", "[toDate(number), toDate(0)]"),
        (
            "Array(Enum8('a' = -1, 'b' = 2))",
            "[CAST(if(number % 2, 'a', 'b') AS Enum8('a' = -1, 'b' = 2))]",
        ),
        ("Decimal(9, 3)", "toDecimal32(number, 3)"),
        ("Decimal(18, 5)", "toDecimal64(number, 5)"),
        ("Decimal(38, 10)", "toDecimal128(number, 10)"),
        ("LowCardinality(String)", "toLowCardinality(toString(number % 7))"),
        (
            "LowCardinality(Nullable(String))",
            "toLowCardinality(if(number % 5, toString(number % 7), NULL))",
        ),
        ("LowCardinality(UInt64)", "toLowCardinality(toUInt64(number % 7))"),
        ("LowCardinality(Date)", "toLowCardinality(toDate(number % 7))"),
        (
            "LowCardinality(FixedString(2))",
            "toLowCardinality(toFixedString(toString(number % 7), 2))",
        ),
        (
            "Array(LowCardinality(String))",
            "[toLowCardinality(toString(number % 3)), toLowCardinality('x')]",
        ),
    ] {
        for compression in [Compression::None, Compression::Lz4] {
            let context = format!("{data_type} by {compression}");
            let create = format!("CREATE TABLE v (number UInt64, v {data_type}) ENGINE = Memory");
            let create = client
                .query(create)
                .setting("allow_experimental_low_cardinality_type", true);
            create.execute().await.expect(&context);
            let sql = format!("SELECT number, {expression} AS v FROM (SELECT number FROM system.numbers LIMIT 1000)");
            let mut stream = client.query(&sql).compression(compression).await.expect(&context);
            let mut insert = client.insert("v").compression(compression).await.expect(&context);
            while let Some(batch) = stream.next().await.expect(&context) {
                insert.write(&batch).await.expect(&context);
            }
            assert_eq!(insert.finish().await.expect(&context).rows, 1000);
            let sql = format!("SELECT countIf(toString(v) = toString({expression})) FROM v");
            let sql = if data_type.starts_with("Array") || data_type.starts_with("Tuple") {
                format!("SELECT countIf(v = {expression}) FROM v")
            } else if data_type.contains("Nullable") {
                format!("SELECT countIf(v = {expression}) + countIf(isNull(v) AND isNull({expression})) FROM v")
            } else {
                sql
            };
            let equal = match data_type {
                // The server cannot compare these with nulls inside.
                "Array(Nullable(String))" => {
                    count(
                        &client,
                        "SELECT countIf(isNull(v[1]) AND v[2] = toString(number)) FROM v",
                    )
                    .await
                }
                _ => count(&client, &sql).await,
            };
            assert_eq!(equal, 1000, "{context}");
            client.execute("DROP TABLE v").await.unwrap();
        }
    }
}

#[tokio::test]
async fn many_queries_share_the_pool() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 4;
    let client = Client::with_options(options).await.unwrap();
    let queries = (0..40_u64).map(|n| {
        let client = client.clone();
        tokio::spawn(async move { count(&client, &format!("SELECT toUInt64({n})")).await })
    });
    for (n, query) in (0..).zip(queries.collect::<Vec<_>>()) {
        assert_eq!(query.await.unwrap(), n);
    }
    let connections = "SELECT value FROM system.metrics WHERE metric = 'TCPConnection'";
    let answer = client.query(connections).collect().await.unwrap();
    let connections = answer[0]
        .column(0)
        .as_primitive::<arrow_array::types::Int64Type>()
        .value(0);
    assert!((1..=4).contains(&connections), "{connections} connections");
}

#[tokio::test]
async fn a_batch_of_any_arrow_type_that_fits_is_taken() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    client
        .execute("CREATE TABLE t (a UInt8, b Int32) ENGINE = Memory")
        .await
        .unwrap();
    let mut insert = client.insert("default.t").await.unwrap();
    for _ in 0..3 {
        let columns = [
            ("a", Arc::new(UInt8Array::from(vec![1, 2])) as ArrayRef),
            ("b", Arc::new(Int32Array::from(vec![-1, -2]))),
        ];
        insert
            .write(&RecordBatch::try_from_iter(columns).unwrap())
            .await
            .unwrap();
    }
    let summary = insert.finish().await.unwrap();
    assert_eq!((summary.rows, summary.blocks), (6, 1));
    assert_eq!(count(&client, "SELECT toUInt64(-sum(b)) FROM t").await, 9);
}

#[test]
fn programs_without_a_runtime_wait_instead() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 1;
    let client = tidemill_clickhouse::blocking::Client::with_options(options).unwrap();
    client.execute("CREATE TABLE t (id UInt64) ENGINE = Memory").unwrap();
    let mut insert = client.insert("t").unwrap();
    let ids: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..100_000));
    insert
        .write(&RecordBatch::try_from_iter([("id", ids)]).unwrap())
        .unwrap();
    assert_eq!(insert.finish().unwrap().rows, 100_000);

    let mut stream = client
        .query_with("SELECT id FROM t", |request| request.setting("max_threads", 1_u64))
        .unwrap();
    let rows: usize = stream.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 100_000);
    assert_eq!(stream.summary().profile.unwrap().rows, 100_000);
    assert!(stream.next().is_none());
    drop(stream);

    // The one connection is free again when a stream is dropped in the middle.
    let mut endless = client.query("SELECT number FROM system.numbers").unwrap();
    assert!(endless.next().unwrap().is_ok());
    drop(endless);
    let handle = {
        let stream = client.query("SELECT number FROM system.numbers").unwrap();
        let handle = stream.cancel_handle();
        handle.cancel();
        let ended = stream.map(|batch| batch.map(drop)).find(Result::is_err);
        assert!(matches!(ended, Some(Err(Error::Cancelled))));
        handle
    };
    assert!(handle.is_cancelled());
    client.ping().unwrap();
    assert!(client.query("SELEKT").is_err());

    let mut insert = client.insert("t").unwrap();
    assert_eq!((insert.types(), insert.query_id().len()), (&[DataType::UInt64][..], 36));
    insert.cancel_handle().cancel();
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![1]));
    insert
        .write(&RecordBatch::try_from_iter([("id", ids)]).unwrap())
        .unwrap();
    assert!(matches!(insert.flush(), Err(Error::Cancelled)));
    drop(insert);
    let rows: u64 = client.query_as("SELECT count() FROM t").fetch_one().unwrap();
    assert_eq!(rows, 100_000);
}

#[test]
fn the_server_knows_who_asks() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.client_name = "the ferry".to_owned();
    let client = tidemill_clickhouse::blocking::Client::with_options(options).unwrap();
    let (user, password) = ClickHouse::GUARDED;
    let guarded = client.as_user(user, password).unwrap();
    let asked = "SELECT user, client_name, client_version_major, client_version_minor, client_hostname != '' \
                 FROM system.processes WHERE query_id = ";
    for (client, user) in [(&client, "default"), (&guarded, user)] {
        let id = format!("who-{user}");
        let row: (String, String, u64, u64, bool) = client
            .query_as(format!("{asked}'{id}'"))
            .with(|request| request.query_id(&id))
            .fetch_one()
            .unwrap();
        assert_eq!(row, (user.to_owned(), "the ferry".to_owned(), 0, 1, true));
    }
    assert_eq!(guarded.options().user, user);
    assert_eq!(guarded.server().unwrap().name, "ClickHouse");

    let endless = guarded.query("SELECT number FROM system.numbers").unwrap();
    // Read meanwhile: a server that nobody takes rows from hears of nothing.
    let killing = std::thread::spawn({
        let (guarded, id) = (guarded.clone(), endless.query_id().to_owned());
        move || guarded.kill_query(&id)
    });
    assert!(matches!(
        endless.map(|batch| batch.map(drop)).find(Result::is_err),
        Some(Err(Error::Server(_)))
    ));
    killing.join().expect("no panic").unwrap();

    let strange = client.as_user(user, "close/sesame").unwrap();
    let refused = strange.query("SELECT 1").expect_err("a wrong password");
    assert_eq!(server_code(&refused), Some(193), "{refused}");
    assert!(!format!("{refused:?}").contains("sesame"), "{refused:?}");
}

/// It would read and write texts in its own time zone.
#[tokio::test]
async fn a_server_that_knows_no_time_zone_of_sessions_says_so() {
    let Some(server) = ClickHouse::need() else { return };
    let client = client(&server).await;
    let request = client.query("SELECT 1").session_time_zone("Asia/Tokyo");
    let error = request.execute().await.expect_err("an unknown setting");
    assert_eq!(server_code(&error), Some(115), "{error:?}");
    let insert = client.insert("t").session_time_zone("Asia/Tokyo").await;
    assert_eq!(server_code(&insert.expect_err("an unknown setting")), Some(115));
    assert_eq!(count(&client, "SELECT toUInt64(7)").await, 7);
}
