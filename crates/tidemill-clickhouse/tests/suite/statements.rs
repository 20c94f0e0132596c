//! Statements that a server waits on, goes on with, or does not end.

use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, cast::AsArray};
use tidemill_clickhouse::{Error, client::Client, sql_text::Identifier};
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
async fn rows_in_the_text_of_an_insert_are_stored() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    let create = "CREATE TABLE t (n UInt64, s String, at DateTime, d Nullable(Date), a Array(UInt8) DEFAULT [7]) ENGINE = Memory";
    client.execute(create).await.unwrap();
    for sql in [
        "INSERT INTO t VALUES (1, 'it\\'s', '2024-01-01 12:00:00', NULL, [1, 2]), (2, '', toDateTime(1704110400), today() - today() + \
         toDate('2024-02-29'), arrayMap(x -> x + 1, [1])) ;",
        "-- rows\n insert into t (n, s) values (3, 'select')",
        "INSERT INTO t FORMAT CSV\n4,\"a,\"\"b\",2024-01-01 12:00:00,\\N,\"[3]\"\n",
        "INSERT INTO t (n, s) FORMAT TSV\n5\ta\\tb\n",
        "INSERT INTO t FORMAT CSVWithNames\ns,n\nnamed,6\n",
        "INSERT INTO t FORMAT JSONEachRow {\"s\": \"\\u00e9\", \"n\": 7, \"a\": [1]}",
    ] {
        client
            .execute(sql)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    // As a query, too.
    let batches = client.query("INSERT INTO t (n) VALUES (8)").collect().await.unwrap();
    assert!(batches.is_empty());
    let rows = "SELECT n, s, toString(at), toString(d), a FROM t ORDER BY n";
    type Row = (u64, String, String, Option<String>, Vec<u8>);
    let rows: Vec<Row> = client.query_as(rows).fetch_all().await.expect("the rows");
    let noon = "2024-01-01 12:00:00";
    let none = "0000-00-00 00:00:00";
    let expected = [
        (1, "it's", noon, None, vec![1, 2]),
        (2, "", noon, Some("2024-02-29"), vec![2]),
        (3, "select", none, None, vec![7]),
        (4, "a,\"b", noon, None, vec![3]),
        (5, "a\tb", none, None, vec![7]),
        (6, "named", none, None, vec![7]),
        (7, "é", none, None, vec![1]),
        (8, "", none, None, vec![7]),
    ];
    let expected = expected.map(|(n, s, at, d, a)| (n, s.to_owned(), at.to_owned(), d.map(str::to_owned), a));
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn a_text_of_rows_is_stored_whole_or_not_at_all() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    client
        .execute("CREATE TABLE t (n UInt8, s String) ENGINE = Memory")
        .await
        .unwrap();
    let many: String = (0..70_000).map(|row| format!("({}, 'x'),", row % 200)).collect();
    let begin = Instant::now();
    for (sql, told) in [
        ("INSERT INTO t VALUES".to_owned(), "an INSERT without rows"),
        ("INSERT INTO t FORMAT Parquet PAR1".to_owned(), "format Parquet"),
        ("INSERT INTO t VALUES (9, 'x'), (10".to_owned(), "row 1 of the INSERT"),
        (
            format!("INSERT INTO t VALUES {many} (256, 'x')"),
            "row 70000, column `n` of type UInt8: 256 does not fit",
        ),
        (
            "INSERT INTO t VALUES (1, 'x'), (2)".to_owned(),
            "row 1: 1 values for 2 columns",
        ),
        ("INSERT INTO t VALUES (1, 'x'), (nowhere(), 'x')".to_owned(), "nowhere"),
        ("INSERT INTO t VALUES (toUInt16(300), 'x')".to_owned(), "300"),
        ("INSERT INTO t (m) VALUES (1)".to_owned(), "m"),
        ("INSERT INTO t FORMAT CSV\n1,x\n,y\n".to_owned(), "an empty field"),
    ] {
        let asked = [
            client.execute(&sql).await.map(drop),
            client.query(&sql).collect().await.map(drop),
        ];
        for error in asked.map(|asked| asked.expect_err(&sql)) {
            assert!(error.to_string().contains(told), "{sql:.60}: {error}");
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
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// 18.16 has no parameters: their values are put into the text.
#[tokio::test]
async fn values_take_their_places_in_the_text() {
    let Some(server) = ClickHouse::need() else { return };
    let client = connect(&server, "").await;
    client
        .execute(r"CREATE TABLE `a \`?` (n UInt64, s String) ENGINE = Memory")
        .await
        .unwrap();
    let awkward = "it's \\ \n\t\0 \\N ? -- {n:UInt8} /* ü */";
    let insert = client.query("INSERT INTO ? SELECT ?, ?").bind(Identifier("a `?"));
    insert.bind(-7_i64 + 8).bind(awkward).execute().await.unwrap();
    let insert = client
        .query("INSERT INTO ? VALUES (?, ?), (?, '?')")
        .bind(Identifier("a `?"));
    insert.bind(2).bind(awkward).bind(u64::MAX).execute().await.unwrap();
    let sql = "SELECT n, s = ?, toTypeName(?), x FROM ? ARRAY JOIN ? AS x WHERE n IN ? AND n - ? > 0 ORDER BY n";
    let request = client.query(sql).bind(awkward).bind(1.0).bind(Identifier("a `?"));
    let request = request.bind(["a", "'"]).bind((1, 2)).bind(-1);
    let rows: Vec<(u64, bool, String, String)> = request.rows().fetch_all().await.unwrap();
    let expected = [(1, "a"), (1, "'"), (2, "a"), (2, "'")];
    assert_eq!(
        rows,
        expected.map(|(n, x)| (n, true, "Float64".to_owned(), x.to_owned()))
    );
    let error = client
        .query("SELECT ?, ?")
        .bind(1)
        .execute()
        .await
        .expect_err("one is missing");
    assert!(matches!(error, Error::Option { .. }), "{error:?}");

    let sql = "SELECT s, {n:UInt64}, toTypeName({n:UInt64}), {x:Nullable(UInt8)}, {a:Array(String)} FROM {t:Identifier} \
               WHERE s = {s:String} LIMIT {n:UInt64}";
    let request = client
        .query(sql)
        .parameter("n", 1)
        .null_parameter("x")
        .parameter("t", "a `?");
    let request = request.parameter("s", awkward).parameter("a", r"['it\'s']");
    let row: (String, u64, String, Option<u8>, Vec<String>) = request.rows().fetch_one().await.unwrap();
    assert_eq!(
        row,
        (
            awkward.to_owned(),
            1,
            "UInt64".to_owned(),
            None,
            vec!["it's".to_owned()]
        )
    );
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
    // By the first rows of each answer, over the same connection.
    let client = connect(&server, "&binary_strings=auto").await;
    for (s, n, types) in [
        ("unhex('D1CEC4')", "'text'", ["Binary", "Utf8"]),
        ("'text'", "unhex('D1')", ["Utf8", "Binary"]),
        ("unhex('D1')", "toNullable(unhex('D1'))", ["Binary", "Binary"]),
        ("''", "NULL", ["Utf8", "Null"]),
    ] {
        let mut answer = client
            .query(format!("SELECT {s} AS s, {n} AS n"))
            .await
            .expect("an answer");
        let schema = answer.schema().expect("columns");
        let found: Vec<_> = schema
            .fields()
            .iter()
            .map(|field| field.data_type().to_string())
            .collect();
        assert_eq!(found, types, "{s}, {n}");
        while let Some(batch) = answer.next().await.expect("rows") {
            assert_eq!(batch.schema(), schema);
        }
    }
    let later = "SELECT if(number > 100000, unhex('D1'), 'text') FROM system.numbers LIMIT 200000";
    let error = client
        .query(later)
        .collect()
        .await
        .expect_err("the first rows were text");
    assert!(error.to_string().contains("`binary_strings=true`"), "{error}");
}
