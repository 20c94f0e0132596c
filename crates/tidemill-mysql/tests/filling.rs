//! Tables of a real server, made and filled.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use tidemill_mysql::{Client, Error, Fill, IfThere, NewIndex, NewTable, Options, Read};
use tidemill_testkit::MariaDb;

async fn client(server: &MariaDb) -> Client {
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    Client::connect(options).await.unwrap()
}

async fn read(client: &Client, query: &str, schema: Option<&Arc<Schema>>) -> RecordBatch {
    let mut read = Read::begin(client, "t", query, schema).await.unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = read.next().await.unwrap() {
        batches.push(batch);
    }
    concat_batches(read.schema(), &batches).unwrap()
}

fn same(found: &RecordBatch, expected: &RecordBatch) {
    for (index, (found, expected)) in found.columns().iter().zip(expected.columns()).enumerate() {
        assert_eq!(found, expected, "column {index}");
    }
}

fn batch(begin: i32, rows: i32) -> RecordBatch {
    let numbers = Int32Array::from_iter_values(begin..begin + rows);
    let names = StringArray::from_iter((begin..begin + rows).map(|n| (n % 3 != 0).then(|| format!("n{n}"))));
    RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(numbers) as ArrayRef, false),
        ("Name", Arc::new(names), true),
    ])
    .unwrap()
}

/// Both ways of sending rows.
async fn in_both_ways(server: &MariaDb, check: impl AsyncFn(Client)) {
    for local_infile in [1, 0] {
        server
            .query(&format!(
                "SET GLOBAL local_infile = {local_infile}; DROP DATABASE shop; CREATE DATABASE shop"
            ))
            .unwrap();
        check(client(server).await).await;
    }
}

const DRAFTS: &str =
    "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE 't\\_%'";

async fn until(server: &MariaDb, query: &str, expected: &str) {
    let begun = Instant::now();
    while server.query(query).unwrap() != expected {
        assert!(begun.elapsed() < Duration::from_secs(20), "{query}: not {expected}");
        // The server's list of transactions is as old as the last look at it, for 0.1 s.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_made_replaced_emptied_and_added_to() {
    let Some(server) = MariaDb::need() else { return };
    in_both_ways(&server, async |client| {
        let mut new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
        new.primary_key = vec!["n".to_owned()];
        new.indexes = vec![NewIndex {
            columns: vec!["Name".to_owned(), "n".to_owned()],
            is_unique: false,
        }];
        let mut fill = Fill::create(&client, None, "t", &new).await.unwrap();
        for begin in [0, 20_000] {
            fill.write(&batch(begin, 20_000)).await.unwrap();
        }
        assert_eq!(client.tables(None).await.unwrap().len(), 1);
        assert!(matches!(client.table(None, "t").await, Err(Error::NotFound { .. })));
        assert_eq!(fill.finish().await.unwrap(), 40_000);
        assert_eq!(client.tables(None).await.unwrap(), ["t"]);
        let count = "SELECT count(*), sum(n), count(Name), count(DISTINCT Name) FROM t";
        assert_eq!(server.query(count).unwrap(), "40000\t799980000\t26666\t26666\n");
        let indexes = "SELECT group_concat(CONCAT(INDEX_NAME, '.', COLUMN_NAME) ORDER BY INDEX_NAME, SEQ_IN_INDEX)
            FROM information_schema.STATISTICS WHERE TABLE_NAME = 't'";
        assert_eq!(server.query(indexes).unwrap(), "Name.Name,Name.n,PRIMARY.n\n");
        let table = client.table(None, "t").await.unwrap();
        assert_eq!(table.primary_key, ["n"]);
        let error = Fill::create(&client, None, "t", &new).await.unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");

        let columns = ["Name".to_owned(), "n".to_owned()];
        let mut fill = Fill::begin(&client, &table, &columns, IfThere::Append).await.unwrap();
        fill.write(&batch(40_000, 10).project(&[1, 0]).unwrap()).await.unwrap();
        assert_eq!(fill.finish().await.unwrap(), 10);
        assert_eq!(server.query("SELECT count(*) FROM t").unwrap(), "40010\n");

        let mut fill = Fill::begin(&client, &table, &[], IfThere::Update).await.unwrap();
        let changed = StringArray::from(vec!["changed", "added"]);
        let numbers = Int32Array::from(vec![7, 40_010]);
        let changed = RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef), ("Name", Arc::new(changed))]);
        fill.write(&changed.unwrap()).await.unwrap();
        assert_eq!(fill.finish().await.unwrap(), 2);
        let found = "SELECT count(*), max(IF(n = 7, Name, NULL)) FROM t";
        assert_eq!(server.query(found).unwrap(), "40011\tchanged\n");
        server.query("DELETE FROM t WHERE n = 40010").unwrap();

        // Of rows of which one has a key that is there nothing is left.
        let mut fill = Fill::begin(&client, &table, &[], IfThere::Append).await.unwrap();
        fill.write(&batch(50_000, 10)).await.unwrap();
        fill.write(&batch(5, 1)).await.unwrap();
        let error = fill.finish().await.unwrap_err();
        assert!(error.to_string().contains("Duplicate entry '5'"), "{error}");
        until(&server, "SELECT count(*) FROM t", "40010\n").await;

        let mut fill = Fill::begin(&client, &table, &[], IfThere::Empty).await.unwrap();
        fill.write(&batch(0, 7)).await.unwrap();
        assert_eq!(server.query("SELECT count(*) FROM t").unwrap(), "40010\n");
        fill.finish().await.unwrap();
        assert_eq!(server.query("SELECT count(*) FROM t").unwrap(), "7\n");

        let mut fill = Fill::replace(&client, Some("shop"), "t", &new).await.unwrap();
        fill.write(&batch(0, 3)).await.unwrap();
        assert_eq!(server.query("SELECT count(*) FROM t").unwrap(), "7\n");
        drop(fill);
        until(&server, DRAFTS, "0\n").await;
        server.query("CREATE VIEW v AS SELECT * FROM t").unwrap();
        let mut fill = Fill::replace(&client, Some("shop"), "t", &new).await.unwrap();
        fill.write(&batch(0, 4)).await.unwrap();
        fill.finish().await.unwrap();
        assert_eq!(server.query("SELECT count(*) FROM v").unwrap(), "4\n");
        assert_eq!(client.tables(None).await.unwrap(), ["t", "v"]);
        let error = Fill::replace(&client, None, "v", &new).await.unwrap_err().to_string();
        assert!(error.contains("no table"), "{error}");
        // What refers to the old table keeps it.
        server
            .query("CREATE TABLE child (n int, FOREIGN KEY (n) REFERENCES t (n))")
            .unwrap();
        let error = Fill::replace(&client, None, "t", &new).await.unwrap_err().to_string();
        assert!(error.contains("shop.child"), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_type_is_written_as_it_was_read() {
    let Some(server) = MariaDb::need() else { return };
    in_both_ways(&server, async |client| {
        server
            .query(
                "SET time_zone = '+00:00';
                 CREATE TABLE types (n int PRIMARY KEY, a tinyint unsigned, b mediumint, c bigint unsigned, d decimal(65,30), e float, f double,
                    g bit(1), h bit(64), i year, j date, k time(6), l datetime(6), m timestamp(3) NULL, o char(3), p varchar(20) CHARACTER SET latin1,
                    q mediumtext, r binary(2), s varbinary(300), t longblob, u enum('1','b\\\\','щ'), v set('x','y'), w json, x uuid, y inet6, z point);
                 INSERT INTO types VALUES
                    (1, 255, -8388608, 18446744073709551615, -99999999999999999999999999999999999.999999999999999999999999999999, 16777216, 0.1,
                        b'1', 18446744073709551615, 2155, '0001-01-01', '-838:59:59', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999', 'żó',
                        'Ä€', 'tab\\t line\\n back\\\\ quote\\' nul\\0 \\\\N', x'000a', x'00095c0a0d27ff', repeat(x'ff', 1000), 'b\\\\', 'x,y', '{\"a\": \"\\\\n\"}',
                        uuid(), '::1', ST_PointFromText('POINT(1 2)')),
                    (2, 0, 8388607, 0, 1e-30, 3.4028234663852886e38, 5e-324, b'0', 0, 0, '9999-12-31', '838:59:58.999999', '1000-01-01', '1970-01-01 00:00:01',
                        '', '', '', x'5c5c', '', '', '1', '', '[]', uuid(), '::', ST_PointFromText('POINT(-1 0.1)')),
                    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL);
                 CREATE TABLE again LIKE types",
            )
            .unwrap();
        let table = client.table(None, "types").await.unwrap();
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let query = format!("{} ORDER BY n", table.select(&all));
        let rows = read(&client, &query, Some(&table.schema())).await;

        let again = client.table(None, "again").await.unwrap();
        let mut fill = Fill::begin(&client, &again, &[], IfThere::Append).await.unwrap();
        fill.write(&rows).await.unwrap();
        assert_eq!(fill.finish().await.unwrap(), 3);
        let query = format!("{} ORDER BY n", again.select(&all));
        same(&read(&client, &query, Some(&table.schema())).await, &rows);
        let checksum = |table: &str| {
            let text = server.query(&format!("CHECKSUM TABLE {table}")).unwrap();
            text.split_once('\t').unwrap().1.to_owned()
        };
        assert_eq!(checksum("types"), checksum("again"));

        // A table that is made for the rows has the same types.
        let new = NewTable::of_schema(&table.schema()).unwrap();
        let mut fill = Fill::create(&client, None, "made", &new).await.unwrap();
        fill.write(&rows).await.unwrap();
        fill.finish().await.unwrap();
        let made = client.table(None, "made").await.unwrap();
        let types = |table: &tidemill_mysql::Table| table.columns.iter().map(|column| column.typ.clone()).collect::<Vec<_>>();
        // JSON is a longtext there.
        assert_eq!(types(&made), types(&table));
        let query = format!("{} ORDER BY n", made.select(&all));
        same(&read(&client, &query, Some(&table.schema())).await, &rows);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_cut_rounded_or_taken_for_another_value() {
    let Some(server) = MariaDb::need() else { return };
    in_both_ways(&server, async |client| {
        server
            .query(
                "CREATE TABLE t (i tinyint, u int unsigned, d decimal(5,2), f float, c varchar(3), l text CHARACTER SET latin1, e enum('a','b'),
                    s set('a','b'), b binary(2), v varbinary(2), y year, m time(3), w datetime, q timestamp NULL, k int NOT NULL DEFAULT 7, j json)",
            )
            .unwrap();
        let table = client.table(None, "t").await.unwrap();
        let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
        let bytes = |bytes: &[u8]| Arc::new(BinaryArray::from(vec![bytes])) as ArrayRef;
        for (column, value, named) in [
            ("i", Arc::new(Int64Array::from(vec![128])) as ArrayRef, "127"),
            ("i", text("1.5"), "1.5"),
            ("u", Arc::new(Int32Array::from(vec![-1])), "-1"),
            ("d", text("1000"), "1000"),
            ("d", Arc::new(Float64Array::from(vec![0.125])), "0.125"),
            ("f", Arc::new(Float64Array::from(vec![0.1])), "0.1"),
            ("f", Arc::new(Float32Array::from(vec![f32::NAN])), "NaN"),
            ("c", text("four"), "at most 3 letters"),
            ("l", text("ż"), "ż"),
            ("e", text("2"), "one of a, b"),
            ("e", text("A"), "one of a, b"),
            ("s", text("a,c"), "some of a, b"),
            ("b", bytes(b"a"), "2 bytes"),
            ("v", bytes(b"abc"), "column 'v'"),
            ("y", Arc::new(Int16Array::from(vec![1900])), "1901"),
            ("m", Arc::new(DurationMicrosecondArray::from(vec![1])), "3 digits"),
            ("m", text("839:00:00"), "838:59:59"),
            ("w", text("2024-02-29 00:00:00.5"), "0 digits"),
            ("w", text("2023-02-29 00:00:00"), "2023-02-29"),
            ("q", Arc::new(TimestampSecondArray::from(vec![0])), "1970-01-01 00:00:01"),
            ("q", Arc::new(TimestampSecondArray::from(vec![1_i64 << 31])), "for column 'q'"),
            ("q", Arc::new(TimestampSecondArray::from(vec![1_i64 << 32])), "2038-01-19"),
            ("k", Arc::new(Int32Array::from(vec![None])), "NULL"),
            ("j", text("{"), "j"),
            ("none", text(""), "there are i, u"),
        ] {
            let result = async {
                let mut fill = Fill::begin(&client, &table, &[column.to_owned()], IfThere::Append).await?;
                fill.write(&RecordBatch::try_from_iter([(column, value)]).unwrap()).await?;
                fill.finish().await
            };
            let error = result.await.expect_err(column).to_string();
            let server_words = (named == "ż" || column == "q") && error.contains("Incorrect");
            assert!((error.contains(named) || server_words) && error.contains("shop.t"), "{column}: {error}");
        }
        until(&server, "SELECT count(*) FROM t", "0\n").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_texts_and_rows_without_columns() {
    let Some(server) = MariaDb::need() else { return };
    in_both_ways(&server, async |client| {
        let schema = Schema::new(vec![
            Field::new("code", DataType::Utf8, false),
            Field::new("note", DataType::LargeUtf8, true),
            Field::new("is", DataType::Boolean, true),
        ]);
        let mut new = NewTable::of_schema(&schema).unwrap();
        new.primary_key = vec!["code".to_owned()];
        let note = |is_unique| NewIndex {
            columns: vec!["note".to_owned()],
            is_unique,
        };
        new.indexes = vec![note(false), note(true)];
        let rows = |codes: [&str; 2], notes: [&str; 2]| {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(StringArray::from(codes.to_vec())),
                Arc::new(LargeStringArray::from(notes.to_vec())),
                Arc::new(BooleanArray::from(vec![Some(true), None])),
            ];
            RecordBatch::try_new(Arc::new(schema.clone()), columns).unwrap()
        };
        // Letters of either case are different.
        let mut fill = Fill::create(&client, None, "codes", &new).await.unwrap();
        fill.write(&rows(["a", "A"], ["x", "X"])).await.unwrap();
        fill.finish().await.unwrap();
        assert_eq!(
            server
                .query("SELECT code, note, `is` + 0 FROM codes ORDER BY code")
                .unwrap(),
            "A\tX\tNULL\na\tx\t1\n"
        );
        // An index that cannot be made leaves the old table.
        let mut fill = Fill::replace(&client, None, "codes", &new).await.unwrap();
        fill.write(&rows(["a", "b"], ["x", "x"])).await.unwrap();
        let error = fill.finish().await.unwrap_err();
        assert_eq!(error.code(), Some(1062), "{error}");
        assert_eq!(server.query("SELECT count(*) FROM codes").unwrap(), "2\n");
        until(
            &server,
            "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'",
            "1\n",
        )
        .await;
        let error = Fill::create(&client, None, "none", &NewTable::default())
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("without columns"), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_as_long_as_the_server_takes() {
    let Some(server) = MariaDb::need() else { return };
    server.query("SET GLOBAL max_allowed_packet = 1 << 20").unwrap();
    in_both_ways(&server, async |client| {
        let long = |length: usize| {
            let texts = StringArray::from(vec!["'".repeat(length), "short".to_owned(), "x".repeat(length)]);
            RecordBatch::try_from_iter([("s", Arc::new(texts) as ArrayRef)]).unwrap()
        };
        let new = NewTable::of_schema(&long(1).schema()).unwrap();
        let mut fill = Fill::create(&client, None, "t", &new).await.unwrap();
        fill.write(&long(500_000)).await.unwrap();
        fill.write(&long(300_000)).await.unwrap();
        assert_eq!(fill.finish().await.unwrap(), 6);
        assert_eq!(server.query("SELECT sum(length(s)) FROM t").unwrap(), "1600010\n");
        let mut fill = Fill::replace(&client, None, "t", &new).await.unwrap();
        let written = fill.write(&long(1_000_000)).await;
        let takes_files = server.query("SELECT @@local_infile").unwrap() == "1\n";
        match written {
            Ok(()) if takes_files => assert_eq!(fill.finish().await.unwrap(), 3),
            Err(error) if !takes_files => assert!(error.to_string().contains("max_allowed_packet"), "{error}"),
            other => panic!("{other:?}"),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fill_that_is_cut_off_leaves_the_old_table() {
    let Some(mut server) = MariaDb::need() else { return };
    for local_infile in [1, 0] {
        server
            .query(&format!(
                "SET GLOBAL local_infile = {local_infile}; DROP DATABASE shop; CREATE DATABASE shop; USE shop;
                 CREATE TABLE t (n int PRIMARY KEY, Name text); INSERT INTO t VALUES (1, 'old')"
            ))
            .unwrap();
        let client = client(&server).await;
        let new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
        let table = client.table(None, "t").await.unwrap();
        for way in 0..4 {
            server
                .query(&format!("SET GLOBAL local_infile = {local_infile}"))
                .unwrap();
            let begun = match way {
                0 => Fill::replace(&client, None, "t", &new).await,
                1 => Fill::begin(&client, &table, &[], IfThere::Empty).await,
                2 => Fill::begin(&client, &table, &[], IfThere::Append).await,
                _ => Fill::begin(&client, &table, &[], IfThere::Update).await,
            };
            let mut fill = begun.unwrap();
            fill.write(&batch(10, 30_000)).await.unwrap();
            server.restart().unwrap();
            let result = async {
                fill.write(&batch(50_000, 30_000)).await?;
                fill.finish().await
            };
            let error = result.await.unwrap_err();
            assert!(matches!(error, Error::Broken { .. } | Error::Server { .. }), "{error}");
            assert_eq!(server.query("SELECT * FROM t").unwrap(), "1\told\n", "{way}");
        }
        // A client that goes away, in the middle of what it sends.
        for way in 0..3 {
            let filler = client.clone();
            let (new, table) = (new.clone(), table.clone());
            let (told, filled) = tokio::sync::oneshot::channel();
            let task = tokio::spawn(async move {
                let begun = match way {
                    0 => Fill::replace(&filler, None, "t", &new).await,
                    1 => Fill::begin(&filler, &table, &[], IfThere::Empty).await,
                    _ => Fill::begin(&filler, &table, &[], IfThere::Append).await,
                };
                let mut fill = begun.unwrap();
                fill.write(&batch(10, 100_000)).await.unwrap();
                told.send(()).unwrap();
                std::future::pending::<()>().await;
            });
            filled.await.unwrap();
            task.abort();
            until(&server, DRAFTS, "0\n").await;
            until(&server, "SELECT count(*) FROM information_schema.INNODB_TRX", "0\n").await;
            assert_eq!(server.query("SELECT * FROM t").unwrap(), "1\told\n", "{way}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_without_transactions_and_roles_without_rights() {
    let Some(server) = MariaDb::need() else { return };
    server
        .query(
            "CREATE TABLE old (n int, Name text, PRIMARY KEY (n)) ENGINE=MyISAM; INSERT INTO old VALUES (1, 'x');
             CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'r'; GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        )
        .unwrap();
    let owner = client(&server).await;
    let table = owner.table(None, "old").await.unwrap();
    for there in [IfThere::Empty, IfThere::Update] {
        let error = Fill::begin(&owner, &table, &[], there).await.unwrap_err().to_string();
        assert!(error.contains("MyISAM"), "{error}");
    }
    let mut fill = Fill::begin(&owner, &table, &[], IfThere::Append).await.unwrap();
    fill.write(&batch(10, 5)).await.unwrap();
    assert_eq!(fill.finish().await.unwrap(), 5);
    let url = format!("mysql://reader:r@{}/shop", server.address());
    let reader = Client::connect(Options::parse(&url).unwrap().0).await.unwrap();
    let new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
    let error = Fill::create(&reader, None, "mine", &new).await.unwrap_err();
    assert_eq!(error.sqlstate(), Some("42000"), "{error}");
    assert!(Fill::begin(&reader, &table, &[], IfThere::Append).await.is_err());
}

/// A program that is killed leaves a table, which the next fill drops when nobody can be at work on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_killed_programs_left_is_dropped() {
    let Some(server) = MariaDb::need() else { return };
    let name = |table: &str, hours: u64, number: u32| {
        let made = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
        let since = made.duration_since(std::time::UNIX_EPOCH).unwrap();
        format!("{table}_tidemill_{:016x}_{number:x}", since.as_nanos())
    };
    let (old, new, busy, other) = (name("t", 2, 0), name("t", 0, 1), name("t", 3, 2), name("u", 2, 3));
    for table in [&old, &new, &busy, &other] {
        server.query(&format!("CREATE TABLE `{table}` (n int)")).unwrap();
    }
    let client = client(&server).await;
    let new_table = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
    let lock = format!("SELECT GET_LOCK('{busy}', 0), SLEEP(3)");
    std::thread::scope(|scope| {
        scope.spawn(|| server.query(&lock).unwrap());
        let held = format!("SELECT IS_FREE_LOCK('{busy}')");
        while server.query(&held).unwrap().trim() != "0" {
            std::thread::sleep(Duration::from_millis(20));
        }
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut fill = Fill::create(&client, None, "t", &new_table).await.unwrap();
                fill.write(&batch(0, 9)).await.unwrap();
                // What is being made is locked.
                let locked = "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_NAME LIKE 't\\_tidemill\\_%' AND IS_FREE_LOCK(TABLE_NAME) = 0";
                assert_eq!(server.query(locked).unwrap().trim(), "2");
                assert_eq!(fill.finish().await.unwrap(), 9);
            });
        });
    });
    let mut left = vec!["t", &new, &busy, &other];
    left.sort_unstable();
    let found = server.query("SHOW TABLES FROM shop").unwrap();
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    assert_eq!(found, left);
}
