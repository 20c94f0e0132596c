//! Tables of a MariaDB server: filled so that its own client reads the same, and read as it has filled them.

use std::time::Duration;

use tidemill_sql::{CopyOptions, Error, Location, ServerUrl, Session, SessionOptions, TableOptions};
use tidemill_testkit::{Chance, MariaDb, corpus};

use crate::clickhouse::file;
use crate::sqlite::{calls, creating, error, fill};
use crate::statements::csv;

pub(crate) fn query(server: &MariaDb, statements: &str) -> String {
    server
        .query(statements)
        .unwrap_or_else(|error| panic!("{statements}: {error}"))
}

fn table(server: &MariaDb, name: &str) -> Location {
    let database = ServerUrl::new(&server.url()).expect("a database");
    Location::server(database.with_table(name)).expect("a table")
}

/// The columns and indexes that a table has.
fn described(server: &MariaDb, name: &str) -> String {
    query(server, &format!("SHOW CREATE TABLE {name}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_read_by_mariadb_and_comes_back_the_same() {
    let Some(server) = MariaDb::need() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("my", server.url()));
    fill(&session).await;
    let (source, there) = (
        session.locate("orders.dbf").await.expect("a table"),
        table(&server, "ORDERS"),
    );
    let options = CopyOptions {
        table: TableOptions {
            create: true,
            primary_key: Some("id".to_owned()),
            ..TableOptions::default()
        },
        ..creating()
    };
    let copied = session.copy(&source, &there, &options, |_| {}).await;
    assert_eq!(copied.expect("copied").rows, 3);
    assert_eq!(
        query(
            &server,
            "SELECT id, name, total, paid + 0, day, note FROM orders ORDER BY 1"
        ),
        "1\tAda\t1200.50\t1\t2024-02-29\tfirst\n2\tZoë\t-0.05\t0\t1899-12-31\t\n3\t\t0.00\t1\t0001-01-01\tit's\n"
    );
    let made = described(&server, "orders");
    for part in [
        "`total` decimal(14,2)",
        "`name` varchar(20)",
        "PRIMARY KEY (`id`)",
        "`note` longtext",
    ] {
        assert!(made.contains(part), "{part}: {made}");
    }
    let again = session.copy(&source, &there, &options, |_| {}).await;
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
    let replaced = CopyOptions {
        overwrite: true,
        ..options
    };
    let copied = session.copy(&source, &there, &replaced, |_| {}).await;
    copied.expect("replaced");
    assert_eq!(query(&server, "SHOW TABLES"), "orders\n");

    let all = "SELECT * FROM orders ORDER BY id";
    let expected = csv(&session, all).await;
    assert_eq!(csv(&session, &all.replace("orders", "my.orders")).await, expected);
    for back in ["back.parquet", "back.dbf"] {
        let to = crate::destination(&folder.path().join(back));
        let copied = session.copy(&there, &to, &creating(), |_| {}).await;
        copied.expect("copied back");
        assert_eq!(
            csv(&session, &all.replace("orders", &format!("'{back}'"))).await,
            expected
        );
    }

    // What fails leaves the table as it was, and an append is one too.
    let bad = "SELECT 1 AS id, 'x' AS name UNION ALL SELECT 1, 'y'";
    let failed = session.copy_query(bad, &there, &CopyOptions::default(), |_| {}).await;
    let failed = failed.expect_err("a key twice").to_string();
    assert!(
        failed.contains("Duplicate entry") && !failed.contains("sesame"),
        "{failed}"
    );
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM my.orders").await, "3\n");
    let added = "INSERT INTO my.orders (id, name) SELECT id + 10, name FROM orders";
    csv(&session, added).await;
    assert_eq!(
        csv(&session, "SELECT COUNT(*), COUNT(note), SUM(id) FROM my.orders").await,
        "6,3,42\n"
    );

    let url = ServerUrl::new(&server.url()).expect("a database");
    let answer = session
        .ask_server(&url, "SET @n = 2; SELECT count(*) * @n AS n FROM orders")
        .await;
    let rows = answer.expect("an answer").collect().await.expect("rows");
    assert_eq!(rows[0].num_rows(), 1);
    let changed = session.ask_server(&url, "DELETE FROM orders WHERE id > 10").await;
    assert_eq!(
        changed.expect("done").changed().and_then(|changed| changed.rows),
        Some(3)
    );
    csv(&session, "TRUNCATE TABLE my.orders").await;
    assert_eq!(query(&server, "SELECT count(*) FROM orders"), "0\n");
    csv(&session, "DROP TABLE my.orders").await;
    let message = error(&session, "SELECT * FROM my.orders").await;
    assert!(
        message.contains("no such table") && !message.contains("sesame"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_counts_counts_on_and_names_stay_as_comments() {
    let Some(server) = MariaDb::need() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (session, source) = calls(folder.path()).await;
    let mut options = creating();
    options.table.primary_key = Some("no".to_owned());
    let copied = session.copy(&source, &table(&server, "CALLS"), &options, |_| {}).await;
    assert_eq!(copied.expect("copied").rows, 2);
    query(&server, "INSERT INTO calls (caller) VALUES ('Joan')");
    let made = described(&server, "calls");
    assert!(made.contains("AUTO_INCREMENT COMMENT 'NO'"), "{made}");
    assert!(made.contains("COMMENT='CALLS'"), "{made}");
    assert!(query(&server, "SELECT MAX(no) FROM calls").contains('3'));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_found_in_any_case_and_whole_databases_are_attached() {
    let Some(server) = MariaDb::need() else { return };
    query(
        &server,
        "CREATE TABLE `Customer List` (`No` int, `Ship to` text); INSERT INTO `Customer List` VALUES (1, 'York'), (2, NULL); \
         CREATE VIEW towns AS SELECT `Ship to` AS town FROM `Customer List`",
    );
    let url = server.url();
    let session = Session::new(SessionOptions::default().attach("my", url.replace("mysql://", "mariadb://")));
    let listed = format!("SELECT \"Ship to\" FROM '{url}/customer%20list' WHERE no = 1");
    assert_eq!(csv(&session, &listed).await, "York\n");
    assert_eq!(
        csv(&session, "SELECT COUNT(*), COUNT(town) FROM my.Towns").await,
        "2,1\n"
    );
    let tables = session.tables_of(&ServerUrl::new(&url).expect("a database")).await;
    let tables = tables.expect("tables");
    let names: Vec<_> = tables.iter().map(Location::table_name).collect();
    assert_eq!(names, ["Customer List", "towns"]);
}

/// A table of every type that conditions are told of, with the values at which they may differ.
pub(crate) const FACTS: &str = r"
SET time_zone = '+00:00';
CREATE TABLE facts (id bigint PRIMARY KEY, i int NOT NULL, u bigint unsigned, ni smallint, s varchar(20) COLLATE utf8mb4_general_ci NOT NULL,
    ns char(20) CHARACTER SET utf8mb3, e enum('x','X','y','') COLLATE utf8mb4_bin, ne varchar(5) CHARACTER SET latin1, d date NOT NULL, nd date,
    t datetime(6), m decimal(9, 2) NOT NULL, nm decimal(20, 4), f double, l longtext, b bit(1), y year, ts timestamp(3) NULL,
    r float, h tinyint unsigned, KEY (s), KEY (ns), KEY (ne), KEY (d), KEY (ts), KEY (nm));
INSERT INTO facts
WITH RECURSIVE ids AS (SELECT 0 AS id UNION ALL SELECT id + 1 FROM ids WHERE id < 599)
SELECT id, id % 7 - 3, CAST(1 AS unsigned) << (id % 50), IF(id % 5 > 0, id % 101 - 50, NULL),
    ELT(id % 10 + 1, '', 'a', 'A', 'a ', 'é', 'É', 'ß', 'it''s', '日本', 'zz'),
    IF(id % 4 > 0, ELT(id % 9 + 1, '', 'a', 'A', 'b\\c', 'é', 'É', 'ß', 'it''s', '日本'), NULL),
    ELT(id % 4 + 1, 'x', 'X', 'y', ''), IF(id % 6 > 0, ELT(id % 4 + 1, 'p', 'P', 'é', 'É'), NULL),
    DATE'1969-12-20' + INTERVAL (id % 30) DAY, IF(id % 3 > 0, DATE'1969-12-20' + INTERVAL (id % 11) DAY, NULL),
    TIMESTAMP'1969-12-30 12:00:00.000001' + INTERVAL (id % 50) HOUR, (id % 13 - 6) / 4.0,
    IF(id % 7 > 0, (id % 17) / 100.0, NULL),
    ELT(id % 8 + 1, 0e0, -0e0, 1.5e0, -1.5e0, 1e300, 0.1e0, 5e-324, NULL),
    CONCAT(REPEAT('x', IF(id % 2, 1100, 3)), id % 3), id % 3 = 0, 1990 + id % 20,
    TIMESTAMP'1999-12-31 23:00:00.125' + INTERVAL (id % 5) HOUR, (id % 9 - 4) / 10, id % 256
FROM ids;
CREATE TABLE near LIKE facts;
INSERT INTO near SELECT * FROM facts WHERE id % 3 = 1;
";

/// The values that a column is compared with, as SQL has them.
const COMPARED: &[(&str, &[&str])] = &[
    ("id", &["0", "300", "-1", "9223372036854775807"]),
    ("i", &["0", "-3", "3", "2.5"]),
    ("u", &["0", "1", "-1", "576460752303423488"]),
    ("ni", &["0", "-50", "40000"]),
    ("h", &["0", "255", "256", "-1"]),
    ("s", &["''", "'a'", "'A'", "'a '", "'é'", "'日本'", "'it''s'", "'\\'"]),
    ("ns", &["''", "'a'", "'b\\c'", "'ß'", "'😀'"]),
    ("e", &["''", "'x'", "'X'", "'z'"]),
    ("ne", &["'p'", "'É'", "'日本'", "'p '"]),
    ("l", &["'xxx0'", "'y'"]),
    ("d", &["DATE '1969-12-25'", "DATE '0001-01-01'", "DATE '9999-12-31'"]),
    ("nd", &["DATE '1969-12-20'", "DATE '1970-01-01'"]),
    (
        "t",
        &[
            "TIMESTAMP '1969-12-31 12:00:00.000001'",
            "TIMESTAMP '1970-01-01 00:00:00'",
        ],
    ),
    (
        "ts",
        &[
            "TIMESTAMP '2000-01-01 00:00:00.125'",
            "TIMESTAMP '1900-01-01 00:00:00'",
            "TIMESTAMP '2200-01-01 00:00:00'",
        ],
    ),
    ("m", &["0", "0.25", "-1.5", "1.005"]),
    ("nm", &["0.01", "0.1600", "1e0"]),
    ("f", &["0.0", "-0.0", "1.5", "0.1", "1e300", "5e-324"]),
    ("r", &["0.1", "-0.4", "0"]),
    ("y", &["1999", "99", "0"]),
];
const SIGNS: &[&str] = &["=", "<>", "<", "<=", ">", ">="];
const TEXTS: &[&str] = &["s", "ns", "e", "ne", "l"];
const PATTERNS: &[&str] = &["'a%'", "'%a'", "'%é%'", "'A'", "'%\\%'", "'a_'", "'%'", "'x%'", "'%本'"];

fn one<'a>(chance: &mut Chance, of: &[&'a str]) -> &'a str {
    of[chance.below(of.len())]
}

fn condition(chance: &mut Chance, depth: usize) -> String {
    if depth > 0 && chance.below(2) == 0 {
        let (left, right) = (condition(chance, depth - 1), condition(chance, depth - 1));
        return match chance.below(3) {
            0 => format!("NOT ({left})"),
            1 => format!("({left} AND {right})"),
            _ => format!("({left} OR {right})"),
        };
    }
    let (column, values) = COMPARED[chance.below(COMPARED.len())];
    let not = one(chance, &["", "", "NOT "]);
    match chance.below(7) {
        0 => format!("{column} {not}IN ({}, {})", one(chance, values), one(chance, values)),
        1 => format!(
            "{column} {not}BETWEEN {} AND {}",
            one(chance, values),
            one(chance, values)
        ),
        2 => format!("{column} IS {not}NULL"),
        3 => format!("{} {not}LIKE {}", one(chance, TEXTS), one(chance, PATTERNS)),
        4 => format!("{not}b"),
        _ => format!("{column} {} {}", one(chance, SIGNS), one(chance, values)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conditions_mean_the_same_on_the_server() {
    let Some(server) = MariaDb::need() else { return };
    query(&server, FACTS);
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("my", server.url()));
    let copied = session
        .copy(
            &table(&server, "facts"),
            &file(folder.path(), "facts.arrow"),
            &CopyOptions::default(),
            |_| {},
        )
        .await;
    assert_eq!(copied.expect("copied").rows, 600);
    let (mut chance, mut pushed) = (Chance::of(11), 0);
    for _ in 0..400 {
        let condition = condition(&mut chance, 2);
        let sql =
            |place: &str| format!("SELECT COUNT(*) AS n, SUM(id) AS ids, MIN(l) AS l FROM {place} WHERE {condition}");
        let (here, there) = (sql("'facts.arrow'"), sql("my.facts"));
        let plan = session.explain(&there).await.expect("a plan");
        pushed += usize::from(plan.contains(" WHERE "));
        let expected = csv(&session, &here).await;
        assert_eq!(csv(&session, &there).await, expected, "{condition}\n{plan}");
    }
    assert!(pushed > 250, "{pushed} conditions went to the server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_limits_and_counts_are_asked_of_the_server() {
    let Some(server) = MariaDb::need() else { return };
    query(&server, FACTS);
    let session = Session::new(SessionOptions::default().attach("my", server.url()));
    for (sql, asked) in [
        (
            "SELECT i FROM my.facts WHERE s = 'a'",
            "SELECT `i` FROM `shop`.`facts` WHERE (`s` = 'a' AND CAST(`s` AS BINARY) = _binary'a')",
        ),
        (
            "SELECT COUNT(*) FROM my.facts WHERE ne LIKE 'p%'",
            "CAST(CONVERT(`ne` USING utf8mb4) AS BINARY) LIKE _binary'p%'",
        ),
        ("SELECT i FROM my.facts LIMIT 7", " LIMIT 7"),
        ("SELECT i FROM my.facts LIMIT 7 OFFSET 3", "LIMIT 7 OFFSET 3"),
        (
            "SELECT id FROM my.facts ORDER BY ni DESC NULLS FIRST LIMIT 3",
            "ORDER BY `ni` IS NULL DESC, `ni` DESC LIMIT 3",
        ),
        (
            "SELECT s, SUM(m) FROM my.facts GROUP BY s",
            "GROUP BY CAST(`s` AS BINARY)",
        ),
    ] {
        let plan = session.explain(sql).await.expect(sql);
        assert!(plan.contains(asked), "{sql}: {plan}");
        assert!(!plan.contains("sesame"), "{plan}");
    }
    // Longer texts than the server sorts by stay here, and so do floating-point numbers.
    for sql in [
        "SELECT l, COUNT(*) FROM my.facts GROUP BY l",
        "SELECT f, COUNT(*) FROM my.facts GROUP BY f",
        "SELECT SUM(f) FROM my.facts",
        "SELECT id FROM my.facts ORDER BY l LIMIT 3",
    ] {
        let plan = session.explain(sql).await.expect(sql);
        let (_, asked) = plan.split_once("query=").expect("a query");
        let is_pushed = ["GROUP BY", "LIMIT", "sum("].iter().any(|word| asked.contains(word));
        assert!(!is_pushed, "{sql}: {plan}");
    }
    assert_eq!(csv(&session, "SELECT COUNT(DISTINCT l) FROM my.facts").await, "6\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_is_an_error_with_its_place() {
    let Some(server) = MariaDb::need() else { return };
    query(
        &server,
        "CREATE TABLE narrow (n tinyint, m decimal(4,1), s varchar(3), d date NOT NULL DEFAULT '2000-01-01'); \
         INSERT INTO narrow VALUES (1, 1.5, 'abc', '2000-01-01'); SET sql_mode = ''; CREATE TABLE days (n int, d date); \
         INSERT INTO days VALUES (1, '2024-02-29'), (2, '0000-00-00'); CREATE USER reader IDENTIFIED BY 'open/sesame?'; \
         GRANT SELECT ON shop.* TO reader",
    );
    let session = Session::new(SessionOptions::default().attach("my", server.url()));
    for (insert, named) in [
        ("INSERT INTO my.narrow (n) SELECT 300", ["column n", "300"]),
        ("INSERT INTO my.narrow (m) SELECT 0.25", ["column m", "0.25"]),
        (
            "INSERT INTO my.narrow (s) SELECT 'abcd'",
            ["column s", "at most 3 letters, found \"abcd\""],
        ),
        ("INSERT INTO my.narrow (x) SELECT 1", ["x", "no such column"]),
        (
            "INSERT INTO my.narrow (d) SELECT CAST(NULL AS DATE)",
            ["column d", "NULL"],
        ),
    ] {
        let message = error(&session, insert).await;
        assert!(named.iter().all(|part| message.contains(part)), "{insert}: {message}");
        assert!(!message.contains("sesame"), "{message}");
    }
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM my.narrow").await, "1\n");

    let message = error(&session, "SELECT * FROM my.days").await;
    assert!(
        message.contains("row 2, column d") && message.contains("unrepresentable=null"),
        "{message}"
    );
    let lenient = format!(
        "SELECT COUNT(*), COUNT(d) FROM '{}/days?unrepresentable=null' WHERE d IS NULL",
        server.url()
    );
    assert_eq!(csv(&session, &lenient).await, "1,0\n");

    // Rights that are missing are the server's to tell, and nothing is left of what was begun.
    let reader = server.url().replace(MariaDb::USER.0, "reader");
    let session = Session::new(SessionOptions::default().attach("my", reader.clone()));
    for sql in [
        "INSERT INTO my.narrow (n) SELECT 1",
        "DROP TABLE my.narrow",
        "TRUNCATE TABLE my.narrow",
    ] {
        let message = error(&session, sql).await;
        assert!(
            message.contains("denied") && message.contains("narrow"),
            "{sql}: {message}"
        );
        assert!(!message.contains("sesame"), "{message}");
    }
    let to = ServerUrl::new(&reader).expect("a database").with_table("fresh");
    let to = Location::server(to).expect("a table");
    let failed = session.copy_query("SELECT 1 AS n", &to, &creating(), |_| {}).await;
    assert!(
        failed
            .expect_err("no right")
            .to_string()
            .contains("CREATE command denied")
    );
    let wrong = format!("SELECT * FROM '{}/narrow'", reader.replace("open%2F", "shut%2F"));
    let message = error(&session, &wrong).await;
    assert!(
        message.contains("Access denied") && !message.contains("shut"),
        "{message}"
    );
    assert_eq!(query(&server, "SHOW TABLES"), "days\nnarrow\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_in_mid_copy_has_the_old_table_or_the_new_one() {
    let Some(mut server) = MariaDb::need() else { return };
    query(
        &server,
        "CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (1), (2)",
    );
    let url = server.url();
    for milliseconds in [30, 200, 600] {
        let session = Session::new(SessionOptions::default());
        let there = table(&server, "numbers");
        let options = CopyOptions {
            overwrite: true,
            ..creating()
        };
        let copying = tokio::spawn(async move {
            let rows = "SELECT value AS n FROM generate_series(1, 400000)";
            session
                .copy_query(rows, &there, &options, |_| {})
                .await
                .map(|copied| copied.rows)
        });
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        server.restart().expect("started again");
        let copied = copying.await.expect("no panic");
        let found = query(&server, "SELECT count(*) FROM numbers");
        match &copied {
            Ok(400_000) => assert_eq!(found, "400000\n"),
            Ok(rows) => panic!("{rows} rows"),
            // The answer to the renaming may be lost.
            Err(error) => {
                assert!(["2\n", "400000\n"].contains(&found.as_str()), "{found}: {error}");
                assert!(!error.to_string().contains("sesame"), "{error}");
            }
        }
        let session = Session::new(SessionOptions::default().attach("my", url.clone()));
        let counted = csv(&session, "SELECT COUNT(*) FROM my.numbers").await;
        assert_eq!(counted, found);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn xbase_tables_of_every_type_come_back() {
    let Some(server) = MariaDb::need() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("my", server.url()));
    // A table of Advantage may have longer names than there are here.
    let source = Location::existing(&corpus("adt/types.adt")).expect("a table");
    let refused = session
        .copy(&source, &table(&server, "long"), &creating(), |_| {})
        .await;
    let refused = refused.expect_err("a name of 128 letters").to_string();
    assert!(refused.contains("whose name has 128 letters"), "{refused}");
    for (number, name) in ["xbase/types_cdx.dbf", "xbase/types_vfp.dbf"].iter().enumerate() {
        let source = Location::existing(&corpus(name)).expect(name);
        let there = table(&server, &format!("t{number}"));
        let copied = session.copy(&source, &there, &creating(), |_| {}).await;
        let rows = copied.unwrap_or_else(|error| panic!("{name}: {error}")).rows;
        assert!(rows > 0, "{name}");
        // Added once more, and replaced by the same, as rows of a table that is there.
        session
            .copy(&source, &there, &CopyOptions::default(), |_| {})
            .await
            .expect(name);
        assert_eq!(
            query(&server, &format!("SELECT count(*) FROM t{number}")),
            format!("{}\n", 2 * rows)
        );
        let replaced = CopyOptions {
            overwrite: true,
            ..creating()
        };
        session.copy(&source, &there, &replaced, |_| {}).await.expect(name);
        let back = crate::destination(&folder.path().join(format!("t{number}.parquet")));
        let copied = session.copy(&there, &back, &creating(), |_| {}).await;
        assert_eq!(copied.expect(name).rows, rows, "{name}");
        // And from there to the server again.
        let again = table(&server, &format!("again{number}"));
        let copied = session.copy(&back, &again, &creating(), |_| {}).await;
        assert_eq!(copied.expect(name).rows, rows, "{name}");
        let same = format!("CHECKSUM TABLE t{number}, again{number} EXTENDED");
        let sums = query(&server, &same);
        let sums: Vec<&str> = sums
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(_, sum)| sum)
            .collect();
        assert_eq!(sums[0], sums[1], "{name}");
    }
}
