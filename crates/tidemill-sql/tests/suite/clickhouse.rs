//! Tables of a real ClickHouse server, 18.16.1: read, filled, made.

use std::fmt::Write;
use std::io::Read as _;
use std::net::Shutdown;
use std::path::Path;

use arrow_array::RecordBatch;
use tidemill_sql::{CopyOptions, Error, Location, ServerUrl, Session, SessionOptions, TableOptions, Verify};
use tidemill_testkit::ClickHouse;

use crate::destination;

/// The answer to a statement as CSV, header and all.
pub(crate) async fn answer(session: &Session, sql: &str) -> String {
    let answer = session
        .query(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    text(&answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// Rows as CSV, header and all.
pub(crate) fn text(batches: &[RecordBatch]) -> String {
    let mut out = Vec::new();
    {
        let mut writer = arrow_csv::WriterBuilder::new().build(&mut out);
        for batch in batches {
            writer.write(batch).expect("written");
        }
    }
    String::from_utf8(out).expect("UTF-8")
}

/// A session to which the server's default database is `db`.
fn session(server: &ClickHouse, folder: &Path) -> Session {
    let database = format!("clickhouse://default@{}/default", server.native());
    Session::new(SessionOptions::default().dir(folder).attach("db", database))
}

/// A server that is stopped closes its connections in good order: that is no answer, and may pass.
#[tokio::test]
async fn a_connection_that_the_server_closes_is_lost() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.shutdown(Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    let session = Session::new(SessionOptions::default());
    let sql = format!("SELECT * FROM 'clickhouse://default@127.0.0.1:{port}/default/t'");
    let error = session.query(&sql).await.err().expect("an error");
    assert!(error.to_string().contains("closed"), "{error}");
    assert!(error.is_of_connection(), "{error:?}");
}

pub(crate) async fn table(session: &Session, name: &str) -> Location {
    session.locate(name).await.expect("a table of the database")
}

pub(crate) fn file(folder: &Path, name: &str) -> Location {
    destination(&folder.join(name))
}

fn run(server: &ClickHouse, sql: &str) {
    server.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn making() -> CopyOptions {
    CopyOptions {
        table: TableOptions {
            create: true,
            ..TableOptions::default()
        },
        ..CopyOptions::default()
    }
}

/// A table of every type that conditions are told of, with the values at which they may differ.
pub(crate) fn fill_facts(run: &dyn Fn(&str)) {
    run(
        "CREATE TABLE facts (id UInt32, i Int8, u UInt64, ni Nullable(Int32), f Float64, s String, ns Nullable(String), \
         e Enum8('low' = 1, 'high' = -5), ne Nullable(Enum8('low' = 1, 'high' = 2)), d Date, nd Nullable(Date), t DateTime, \
         m Decimal(9, 2), nm Nullable(Decimal(18, 4)), x FixedString(3)) ENGINE = MergeTree ORDER BY id",
    );
    let floats = ["0", "-0.", "1.5", "-1.5", "nan", "inf", "-inf", "2", "1e300"];
    let texts = [
        "",
        "a",
        "ab",
        "b%",
        "it\\'s",
        "back\\\\slash",
        "new\\nline",
        "größe",
        "Größe",
    ];
    let mut rows = String::from("INSERT INTO facts VALUES ");
    for id in 0..200_i64 {
        let pick = |list: &[&str], step: i64| list[usize::try_from(id * step).expect("small") % list.len()].to_owned();
        let or_null = |text: String, step: i64| if id % step == 0 { "NULL".to_owned() } else { text };
        let _ = write!(
            rows,
            "({id}, {}, {}, {}, {}, '{}', {}, '{}', {}, {}, {}, toDateTime({}), '{}.{:02}', {}, '{}'),",
            (id * 37) % 256 - 128,
            if id % 9 == 0 { u64::MAX } else { id as u64 * 1_000_003 },
            or_null((id - 100).to_string(), 5),
            pick(&floats, 1),
            pick(&texts, 1),
            or_null(format!("'{}'", pick(&texts, 2)), 3),
            pick(&["low", "high"], 1),
            or_null(format!("'{}'", pick(&["low", "high"], 1)), 4),
            format_args!("toDate({})", id * 240),
            or_null(format!("toDate({})", 17_000 + id), 7),
            1_500_000_000 + id * 3_600,
            id * 5 - 300,
            id % 100,
            or_null(format!("'{}.0625'", id - 50), 6),
            pick(&["abc", "a\\0\\0", "zz"], 1),
        );
    }
    run(rows.trim_end_matches(','));
}

/// Conditions, and whether nothing of them is left to do here.
const CONDITIONS: &[(&str, bool)] = &[
    ("i < 5", true),
    ("-5 <= i", true),
    ("i = 127 OR i = -128", true),
    ("u = 18446744073709551615", true),
    ("u > 9223372036854775807", true),
    ("ni IS NULL", true),
    ("ni IS NOT NULL AND ni <> 7", true),
    ("NOT (ni > 3)", true),
    ("ni BETWEEN -10 AND 10", true),
    ("ni NOT BETWEEN -10 AND 10", true),
    ("ni IN (1, 2, 3, 4, 5, 99)", true),
    ("ni NOT IN (1, 2, 3, 4, 5, 99)", true),
    ("f > 1", false),
    ("f <= 0", false),
    ("f < 0", false),
    ("f = 0", false),
    ("f <> 0", false),
    ("f >= 1.5", false),
    ("f = -1.5", false),
    ("f > 1.4999", false),
    ("f BETWEEN 0.75 AND 1.5", false),
    ("f < 0.1 OR f = 1.5", false),
    ("NOT (f < 2)", false),
    ("s = 'ab'", true),
    ("s = ''", true),
    ("s > 'a' AND s <= 'b%'", true),
    ("s = 'it''s'", true),
    ("s = 'back\\slash'", true),
    ("s IN ('new\nline', 'größe')", true),
    ("s LIKE 'a%'", true),
    ("s NOT LIKE '%e'", true),
    ("s LIKE '%r%'", true),
    ("s LIKE 'gr_ße'", false),
    ("s LIKE 'b\\%'", false),
    ("s ILIKE 'G%'", false),
    ("ns = 'a'", true),
    ("ns <> 'a'", true),
    ("NOT (ns LIKE 'a%')", true),
    ("NOT (ns = 'a' AND ni > 0)", true),
    ("ns IS NULL OR ni < 0", true),
    ("e = 'low'", true),
    ("e <> 'low'", true),
    ("e = 'nowhere'", true),
    ("e > 'high'", true),
    ("ne = 'high'", false),
    ("ne IS NULL", true),
    ("d = DATE '1970-01-01'", true),
    ("d < DATE '1990-06-15'", true),
    ("d > DATE '2104-01-01'", true),
    ("d > DATE '1969-12-31'", false),
    ("d < DATE '2150-01-01'", false),
    ("nd BETWEEN DATE '2016-08-01' AND DATE '2016-09-30'", true),
    ("t >= TIMESTAMP '2017-07-15T00:00:00Z'", true),
    ("t < TIMESTAMP '1960-01-01T00:00:00Z'", false),
    ("m = 1.05", true),
    ("m < -100.00", true),
    ("nm >= 12.0625", true),
    ("nm IN (1.0625, 2.0625, 3.0625, 4.0625)", true),
    ("x = X'616263'", false),
    ("i > ni", false),
];

/// Conditions on what the server computes, which come to it later.
const COMPUTED: [&str; 3] = [
    "i + 1 > 5",
    "length(s) > 3",
    "NOT (EXTRACT(MONTH FROM d) = 3 OR i * 2 < ni)",
];

#[tokio::test]
async fn conditions_mean_the_same_on_the_server() {
    let Some(server) = ClickHouse::need() else { return };
    fill_facts(&|sql| run(&server, sql));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    let copied = session
        .copy(
            &table(&session, "db.facts").await,
            &file(folder.path(), "facts.arrow"),
            &CopyOptions::default(),
            |_| {},
        )
        .await
        .expect("copied");
    assert_eq!(copied.rows, 200);

    let mut checked: Vec<(String, bool)> = CONDITIONS
        .iter()
        .map(|(text, exact)| ((*text).to_owned(), *exact))
        .collect();
    checked.extend(COMPUTED.iter().map(|text| ((*text).to_owned(), !text.contains("ni"))));
    // All pairs of neighbours at three distances, joined and turned over.
    for distance in [1, 5, 17] {
        for (index, (left, left_exact)) in CONDITIONS.iter().enumerate() {
            let (right, right_exact) = CONDITIONS[(index + distance) % CONDITIONS.len()];
            checked.push((format!("({left}) OR NOT ({right})"), *left_exact && right_exact));
        }
    }
    for (condition, exact) in checked {
        let ask = |table: &str| format!("SELECT id FROM {table} WHERE {condition} ORDER BY id");
        let expected = answer(&session, &ask("'facts.arrow'")).await;
        assert_eq!(answer(&session, &ask("db.facts")).await, expected, "{condition}");
        let plan = session
            .explain(&format!("SELECT id FROM db.facts WHERE {condition}"))
            .await
            .expect("a plan");
        assert_eq!(!plan.contains("FilterExec"), exact, "{condition}: {plan}");
        assert!(!exact || plan.contains(" WHERE "), "{condition}: {plan}");
    }
}

#[tokio::test]
async fn columns_limits_and_counts_are_asked_of_the_server() {
    let Some(server) = ClickHouse::need() else { return };
    fill_facts(&|sql| run(&server, sql));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    for (sql, asked) in [
        (
            "SELECT s, id FROM db.facts WHERE i > 0 LIMIT 3",
            "SELECT `id`, `s` FROM `default`.`facts` WHERE `i` > 0 LIMIT 3",
        ),
        (
            "SELECT COUNT(*) FROM db.facts",
            "SELECT count(*) FROM `default`.`facts`\n",
        ),
        (
            "SELECT COUNT(*) FROM db.facts WHERE d = DATE '1970-01-01'",
            "SELECT count(*) FROM `default`.`facts` WHERE `d` = toDate('1970-01-01')",
        ),
        ("SELECT COUNT(*) FROM (SELECT id FROM db.facts LIMIT 7) few", "LIMIT 7"),
    ] {
        let plan = session.explain(sql).await.expect("a plan");
        assert!(plan.contains(asked), "{sql}: {plan}");
    }
    assert_eq!(answer(&session, "SELECT COUNT(*) AS n FROM db.facts").await, "n\n200\n");
    assert_eq!(
        answer(&session, "SELECT COUNT(*) AS n FROM db.facts WHERE id >= 100").await,
        "n\n100\n"
    );
    assert_eq!(
        answer(
            &session,
            "SELECT COUNT(*) AS n FROM (SELECT id FROM db.facts LIMIT 7) few"
        )
        .await,
        "n\n7\n"
    );
    assert_eq!(
        answer(&session, "SELECT id FROM db.facts WHERE id >= 5 AND f <> 0 LIMIT 2").await,
        "id\n5\n6\n"
    );
    // More rows than a batch without columns has.
    let many = format!("'clickhouse://{}/system/numbers'", server.native());
    let sql = format!("SELECT COUNT(*) AS n FROM (SELECT number FROM {many} LIMIT 3000000) few");
    assert_eq!(answer(&session, &sql).await, "n\n3000000\n");
}

#[tokio::test]
async fn a_join_reaches_across_a_server_and_a_file() {
    let Some(server) = ClickHouse::need() else { return };
    fill_facts(&|sql| run(&server, sql));
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("names.csv"), "id,name\n3,three\n5,five\n500,none\n").expect("written");
    let session = session(&server, folder.path());
    let sql = "SELECT n.name, f.e FROM names n JOIN db.facts f ON f.id = n.id ORDER BY n.id";
    assert_eq!(answer(&session, sql).await, "name,e\nthree,high\nfive,high\n");
}

#[tokio::test]
async fn tables_are_made_filled_and_replaced() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    let csv = folder.path().join("people.csv");
    std::fs::write(&csv, "id,name,born\n1,Ada,1971-12-10\n2,Béla,\n3,,1999-01-01\n").expect("written");
    let (source, people) = (
        Location::existing(&csv).expect("a table"),
        table(&session, "db.people").await,
    );

    let missing = session.copy(&source, &people, &CopyOptions::default(), |_| {}).await;
    let missing = missing.expect_err("there is no such table").to_string();
    assert!(
        missing.contains("people") && missing.contains("has no tables"),
        "{missing}"
    );

    let mut rows = 0;
    let options = making();
    let copy = session.plan_copy(&source, &people, &options).await.expect("planned");
    let told: Vec<String> = copy.columns().iter().map(|column| column.to.clone()).collect();
    let copied = copy.run(|now| rows = now.rows).await.expect("made");
    assert_eq!((copied.rows, rows), (3, 3));
    // A server of this age has no Date32.
    let made = server.query("SELECT type FROM system.columns WHERE table = 'people'");
    assert_eq!(made.expect("types").lines().collect::<Vec<_>>(), told);
    assert!(told.contains(&"Nullable(Date)".to_owned()), "{told:?}");
    let expected = answer(&session, "SELECT * FROM people ORDER BY id").await;
    assert_eq!(answer(&session, "SELECT * FROM db.people ORDER BY id").await, expected);

    assert_eq!(answer(&session, "SELECT * FROM db.PEOPLE ORDER BY id").await, expected);
    let missing = session
        .query("SELECT * FROM db.persons")
        .await
        .map(drop)
        .expect_err("no such table");
    assert!(missing.to_string().contains("the database has people"), "{missing}");

    let again = session.copy(&source, &people, &making(), |_| {}).await;
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
    let added = session
        .copy(&source, &people, &CopyOptions::default(), |_| {})
        .await
        .expect("added");
    assert_eq!(added.rows, 3);
    assert_eq!(answer(&session, "SELECT COUNT(*) AS n FROM db.people").await, "n\n6\n");
    let mut options = making();
    options.overwrite = true;
    options.table.engine = "Memory".to_owned();
    session
        .copy(&source, &people, &options, |_| {})
        .await
        .expect("replaced");
    assert_eq!(answer(&session, "SELECT * FROM db.people ORDER BY id").await, expected);
    assert_eq!(server.query("SHOW TABLES").expect("tables").trim(), "people");
    assert!(
        server
            .query("SHOW CREATE TABLE people")
            .expect("the table")
            .contains("Memory")
    );

    // An engine that keeps fewer rows than it is given: none.
    let mut forgetting = options.clone();
    forgetting.table.engine = "Null".to_owned();
    let nowhere = table(&session, "db.nowhere").await;
    let copied = session.copy(&source, &nowhere, &forgetting, |_| {}).await;
    assert_eq!(copied.expect("made").rows, 3);
    server.query("DROP TABLE nowhere").expect("dropped");

    options.table.engine = "MergeTree".to_owned();
    options.table.order_by = "(idd)".to_owned();
    let wrong = session
        .copy(&source, &people, &options, |_| {})
        .await
        .expect_err("no such column");
    assert!(wrong.to_string().contains("idd"), "{wrong}");
    assert_eq!(answer(&session, "SELECT * FROM db.people ORDER BY id").await, expected);
}

#[tokio::test]
async fn copies_are_compared_by_checksums_and_gone_on_with() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    let lines = |rows: std::ops::RangeInclusive<u32>| {
        rows.fold("id,name,at\n".to_owned(), |text, id| {
            text + &format!("{id},n{},2024-02-29T01:02:{:02}\n", id % 7, id % 60)
        })
    };
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        Location::existing(&path).expect("a table")
    };
    let whole = file("whole.csv", lines(1..=30_000));
    let begun = file("begun.csv", lines(1..=11_000));
    let other = file("other.csv", lines(2..=11_001));
    let there = table(&session, "db.steps").await;
    let full = CopyOptions {
        verify: Verify::Full,
        ..making()
    };
    let resumed = CopyOptions {
        resume: true,
        ..full.clone()
    };
    // A table that is not there is begun under its own name, and one that is whole needs nothing.
    for (source, rows) in [(&begun, 11_000), (&whole, 19_000), (&whole, 0)] {
        let copied = session.copy(source, &there, &resumed, |_| {}).await.expect("copied");
        assert_eq!((copied.rows, copied.compared_columns), (rows, Some(3)));
    }
    assert_eq!(
        answer(&session, "SELECT COUNT(*) AS n FROM db.steps").await,
        "n\n30000\n"
    );
    let shorter = session.copy(&begun, &there, &resumed, |_| {}).await;
    assert!(matches!(shorter, Err(Error::RowCount { .. })), "{shorter:?}");

    server.query("DROP TABLE steps").expect("dropped");
    session.copy(&other, &there, &full, |_| {}).await.expect("copied");
    let different = session.copy(&whole, &there, &resumed, |_| {}).await;
    assert!(matches!(different, Err(Error::Checksum { .. })), "{different:?}");
    assert_eq!(
        answer(&session, "SELECT COUNT(*) AS n FROM db.steps").await,
        "n\n11000\n"
    );
    // Rows that were there before are no part of a copy that adds some.
    let adding = CopyOptions {
        verify: Verify::Full,
        ..CopyOptions::default()
    };
    let copied = session.copy(&begun, &there, &adding, |_| {}).await.expect("added");
    assert_eq!((copied.rows, copied.compared_columns), (11_000, Some(3)));
}

/// What a table takes into columns of other types is compared as what it is there.
#[tokio::test]
async fn text_is_compared_as_what_a_table_takes_it_for() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    run(
        &server,
        "CREATE TABLE tides (at DateTime('UTC'), height Decimal(9, 2), gauge Int32, place String) ENGINE = Memory",
    );
    let path = folder.path().join("tides.jsonl");
    let lines = [
        r#"{"at":"2024-02-29 01:02:03","height":"5.5","gauge":"007","place":"Deal"}"#,
        r#"{"at":"2024-02-29T01:02:04Z","height":"-0.25","gauge":"12","place":"Rye"}"#,
    ];
    std::fs::write(&path, lines.join("\n")).expect("written");
    let source = Location::existing(&path).expect("a table");
    let options = CopyOptions {
        verify: Verify::Full,
        ..CopyOptions::default()
    };
    let there = table(&session, "db.tides").await;
    for rows in [2, 4] {
        let copied = session.copy(&source, &there, &options, |_| {}).await.expect("copied");
        assert_eq!((copied.rows, copied.compared_columns), (2, Some(4)));
        assert_eq!(
            answer(&session, "SELECT COUNT(*) AS n FROM db.tides").await,
            format!("n\n{rows}\n")
        );
    }
}

/// A copy that is killed leaves a table, which the next one drops when nobody can be at work on it.
#[test]
fn what_killed_copies_left_is_dropped() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let seconds = |time: std::time::SystemTime| {
        let since = time.duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        format!("{:08x}", since.as_secs())
    };
    let now = std::time::SystemTime::now();
    let hours = |hours: u64| std::time::Duration::from_secs(hours * 3600);
    let old = format!("t_tidemill_{}_0123456789abcdef", seconds(now - hours(2)));
    let new = format!("t_tidemill_{}_0123456789abcdef", seconds(now));
    let busy = format!("t_tidemill_{}_fedcba9876543210", seconds(now - hours(3)));
    let other = format!("u_tidemill_{}_0123456789abcdef", seconds(now - hours(2)));
    for name in [&old, &new, &busy, &other] {
        run(&server, &format!("CREATE TABLE {name} (a Int8) ENGINE = Memory"));
    }
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a\n1\n").expect("written");
    let source = Location::existing(&path).expect("a table");
    let there = runtime.block_on(table(&session, "db.t"));
    let running = format!("SELECT sleepEachRow(1), '{busy}' FROM system.numbers LIMIT 3");
    std::thread::scope(|scope| {
        scope.spawn(|| run(&server, &running));
        let named = format!(
            "SELECT count() FROM system.processes WHERE query LIKE '%sleepEach%{}%'",
            &busy[..20]
        );
        while server.query(&named).expect("counted").trim() != "2" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let copied = runtime.block_on(session.copy(&source, &there, &making(), |_| {}));
        assert_eq!(copied.expect("copied").rows, 1);
    });
    let tables = server.query("SHOW TABLES").expect("tables");
    let mut tables: Vec<&str> = tables.lines().collect();
    tables.sort_unstable();
    let mut left = vec!["t", &new, &busy, &other];
    left.sort_unstable();
    assert_eq!(tables, left);
    // They are no tables of anybody else.
    let database = ServerUrl::new(&format!("clickhouse://default@{}/default", server.native())).expect("a database");
    let seen = runtime.block_on(session.tables_of(&database)).expect("tables");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(
        session.notes().iter().any(|note| note.contains(&new)),
        "{:?}",
        session.notes()
    );
}

#[tokio::test]
async fn rows_are_inserted_by_statements() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    server
        .query("CREATE TABLE tides (at DateTime('UTC'), height Decimal(9, 2), place String DEFAULT 'here', day Date) ENGINE = Memory")
        .expect("made");
    let values = "VALUES (TIMESTAMP '2024-05-01T06:12:00', 3.25, DATE '2024-05-01')";
    let sql = format!("INSERT INTO db.tides (at, height, day) {values}");
    assert_eq!(answer(&session, &sql).await, "rows\n1\n");
    // By place, not by name.
    let sql = "INSERT INTO db.tides SELECT at, height + 1 AS place, 'there' AS height, day FROM db.tides";
    assert_eq!(answer(&session, sql).await, "rows\n1\n");
    assert_eq!(
        answer(&session, "SELECT * FROM db.tides ORDER BY height").await,
        "at,height,place,day\n2024-05-01T06:12:00Z,3.25,here,2024-05-01\n2024-05-01T06:12:00Z,4.25,there,2024-05-01\n"
    );

    for (rows, says) in [
        (
            "(at) VALUES (TIMESTAMP '2024-05-01T06:12:00.250')",
            "row 1: 2024-05-01T06:12:00.250",
        ),
        ("(at) VALUES (TIMESTAMP '1950-05-01T06:12:00')", "at"),
        ("(height) VALUES (1.25), (1.255)", "row 2: 1.255"),
        ("(height) VALUES (12345678.5)", "height"),
        ("(day) VALUES (DATE '1969-12-31')", "day"),
        ("(day) VALUES (NULL)", "day"),
        ("(nothing) VALUES (1)", "nothing"),
        ("(at, day) VALUES (1)", "rows of 1 columns for 2 columns"),
    ] {
        let refused = session.query(&format!("INSERT INTO db.tides {rows}")).await;
        let refused = refused.map(drop).expect_err(rows).to_string();
        assert!(refused.contains(says), "{rows}: {refused}");
    }
    assert_eq!(answer(&session, "SELECT COUNT(*) AS n FROM db.tides").await, "n\n2\n");

    let making = TableOptions {
        create: true,
        ..TableOptions::default()
    };
    let database = format!("clickhouse://{}/default", server.native());
    let session = Session::new(SessionOptions::default().attach("db", database).making(making));
    for expected in ["n\n2\n", "n\n4\n"] {
        let sql = "INSERT INTO db.heights (at, height) SELECT at, height FROM db.tides";
        assert_eq!(answer(&session, sql).await, "rows\n2\n");
        assert_eq!(answer(&session, "SELECT COUNT(*) AS n FROM db.heights").await, expected);
    }

    let to_a_file = session.query("INSERT INTO 'x.csv' VALUES (1)").await;
    assert!(to_a_file.map(drop).is_err());
}

#[tokio::test]
async fn xbase_tables_and_records_come_back_from_the_server() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    let rows = "SELECT 'Überseehafen' AS NAME, CAST(12.50 AS DECIMAL(9, 2)) AS PRICE, DATE '2001-02-03' AS DAY, true AS OPEN, 7 AS N, 1.25e0 AS W \
                UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, 0.5e0 UNION ALL SELECT '', CAST(-0.01 AS DECIMAL(9, 2)), DATE '2105-12-31', false, -1, -2.5e0";
    for extension in ["dbf", "riegeli"] {
        let first = file(folder.path(), &format!("first.{extension}"));
        session
            .copy_query(rows, &first, &CopyOptions::default(), |_| {})
            .await
            .expect("made");
        let there = table(&session, &format!("db.from_{extension}")).await;
        session
            .copy(&first, &there, &making(), |_| {})
            .await
            .expect("copied there");
        let second = file(folder.path(), &format!("second.{extension}"));
        // Servers of this age have no logical type: it is a number there.
        let sql = format!(
            "SELECT \"NAME\", \"PRICE\", \"DAY\", \"OPEN\" = 1 AS \"OPEN\", \"N\", \"W\" FROM db.from_{extension}"
        );
        session
            .copy_query(&sql, &second, &CopyOptions::default(), |_| {})
            .await
            .expect("copied back");
        let ask = |name: &str| format!("SELECT * FROM '{name}.{extension}' ORDER BY PRICE");
        assert_eq!(
            answer(&session, &ask("second")).await,
            answer(&session, &ask("first")).await,
            "{extension}"
        );
    }
}

#[tokio::test]
async fn bytes_are_stored_as_they_are_and_short_texts_are_filled_up() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(&server, folder.path());
    server
        .query("CREATE TABLE codes (s String, x FixedString(3)) ENGINE = MergeTree ORDER BY s")
        .expect("made");
    let codes = table(&session, "db.codes").await;
    for (rows, count) in [
        ("SELECT X'D1CE00' AS s, 'ab' AS x UNION ALL SELECT X'41', 'abc'", 2),
        ("SELECT 'z' AS s, X'FF' AS x", 1),
    ] {
        let copied = session.copy_query(rows, &codes, &CopyOptions::default(), |_| {}).await;
        assert_eq!(copied.expect("copied").rows, count);
    }
    let stored = server
        .query("SELECT hex(s), hex(x) FROM codes ORDER BY s")
        .expect("read");
    assert_eq!(stored, "41\t616263\n7A\tFF0000\nD1CE00\t616200\n");
    let made = table(&session, "db.made").await;
    let copied = session
        .copy_query("SELECT X'D1CE00' AS s", &made, &making(), |_| {})
        .await;
    assert_eq!(copied.expect("copied").rows, 1);
    assert_eq!(server.query("SELECT hex(s) FROM made").expect("read"), "D1CE00\n");
    let long = "SELECT X'42' AS s, 'abcd' AS x";
    let refused = session.copy_query(long, &codes, &CopyOptions::default(), |_| {}).await;
    let refused = refused.expect_err("too long").to_string();
    assert!(refused.contains("row 1: abcd has more than 3 bytes"), "{refused}");
}

#[tokio::test]
async fn passwords_are_in_no_error_and_no_plan() {
    let Some(server) = ClickHouse::need() else { return };
    let session = Session::new(SessionOptions::default());
    let place = server.native();
    for sql in [
        format!("SELECT * FROM 'clickhouse://default:opensesame@{place}/system/one'"),
        "SELECT * FROM 'clickhouse://default:opensesame@127.0.0.1:1/system/one?connect_timeout=0.2'".to_owned(),
        format!("SELECT * FROM 'clickhouse://default:opensesame@{place}/system'"),
        format!("SELECT * FROM 'clickhouse://default:opensesame@{place}/system/one?secure=7'"),
        format!("SELECT nothing FROM 'clickhouse://default:opensesame@{place}/system/one'"),
        format!("SELECT FROM FROM 'clickhouse://default:opensesame@{place}/system/one' x y"),
    ] {
        let error = session.query(&sql).await.map(drop).expect_err(&sql);
        let text = format!("{error} {error:?}");
        assert!(!text.contains("opensesame"), "{text}");
    }
    for place in [
        format!("clickhouse://ferrywoman:open%2Fsesame%3F@{place}/system/one?max_threads=1"),
        format!("clickhouse://{place}/system/one?user=ferrywoman&password=open%2Fsesame%3F&max_threads=1"),
    ] {
        let plan = session
            .explain(&format!("SELECT * FROM '{place}'"))
            .await
            .expect("a plan");
        assert!(
            plan.contains("ClickHouseScan") && plan.contains("max_threads"),
            "{plan}"
        );
        assert!(!plan.contains("sesame"), "{plan}");
    }
}
