//! Tables of a PostgreSQL server: filled so that psql reads the same, and read as psql has filled them.

use tidemill_sql::{CopyOptions, Error, Location, ServerUrl, Session, SessionOptions, TableOptions};
use tidemill_testkit::Postgres;

use crate::sqlite::{calls, creating, error, fill};
use crate::statements::csv;

fn psql(server: &Postgres, statements: &str) -> String {
    server
        .psql(statements)
        .unwrap_or_else(|error| panic!("{statements}: {error}"))
}

fn table(server: &Postgres, name: &str) -> Location {
    let database = ServerUrl::new(&server.url()).expect("a database");
    Location::server(database.with_table(name)).expect("a table")
}

#[tokio::test]
async fn a_copy_is_read_by_psql_and_comes_back_the_same() {
    let Some(server) = Postgres::need() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("pg", server.url()));
    fill(&session).await;
    let (source, there) = (
        session.locate("orders.dbf").await.expect("a table"),
        table(&server, "orders"),
    );
    let options = CopyOptions {
        table: TableOptions {
            create: true,
            primary_key: Some("id".to_owned()),
            ..TableOptions::default()
        },
        ..creating()
    };
    assert_eq!(
        session
            .copy(&source, &there, &options, |_| {})
            .await
            .expect("copied")
            .rows,
        3
    );
    assert_eq!(
        psql(&server, "SELECT * FROM orders ORDER BY 1"),
        "1|Ada|1200.50|t|2024-02-29|first\n2|Zoë|-0.05|f|1899-12-31|\n3||0.00|t|0001-01-01|it's\n"
    );
    let described = "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute \
                     WHERE attrelid = 'orders'::regclass AND attnum > 0; SELECT indexdef FROM pg_indexes WHERE tablename = 'orders'";
    let described = psql(&server, described);
    assert!(described.contains("total numeric(14,2)"), "{described}");
    assert!(
        described.contains("UNIQUE INDEX") && described.contains("(id)"),
        "{described}"
    );
    let again = session.copy(&source, &there, &options, |_| {}).await;
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
    let replaced = CopyOptions {
        overwrite: true,
        ..options
    };
    session
        .copy(&source, &there, &replaced, |_| {})
        .await
        .expect("replaced");

    let all = "SELECT * FROM orders ORDER BY id";
    let expected = csv(&session, all).await;
    assert_eq!(csv(&session, &all.replace("orders", "pg.orders")).await, expected);
    let back = crate::destination(&folder.path().join("back.parquet"));
    session
        .copy(&there, &back, &CopyOptions::default(), |_| {})
        .await
        .expect("copied back");
    assert_eq!(csv(&session, &all.replace("orders", "'back.parquet'")).await, expected);

    // What fails leaves the table as it was, and an append is one too.
    let bad = "SELECT 1 AS id, 'x' AS name UNION ALL SELECT 1, 'y'";
    let failed = session.copy_query(bad, &there, &CopyOptions::default(), |_| {}).await;
    let failed = failed.expect_err("a key twice").to_string();
    assert!(failed.contains("23505") && !failed.contains("sesame"), "{failed}");
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM pg.orders").await, "3\n");
    csv(
        &session,
        "INSERT INTO pg.orders (id, name) SELECT id + 10, name FROM orders",
    )
    .await;
    assert_eq!(
        csv(&session, "SELECT COUNT(*), COUNT(note), SUM(id) FROM pg.orders").await,
        "6,3,42\n"
    );

    let url = ServerUrl::new(&server.url()).expect("a database");
    let answer = session
        .ask_server(&url, "SELECT count(*) AS n FROM orders")
        .await
        .expect("an answer");
    assert_eq!(answer.collect().await.expect("rows")[0].num_rows(), 1);
    let changed = session
        .ask_server(&url, "DELETE FROM orders WHERE id > 10")
        .await
        .expect("done");
    assert_eq!(changed.changed().and_then(|changed| changed.rows), Some(3));
    csv(&session, "DROP TABLE pg.orders").await;
    let message = error(&session, "SELECT * FROM pg.orders").await;
    assert!(
        message.contains("no such table") && !message.contains("sesame"),
        "{message}"
    );
}

#[tokio::test]
async fn a_field_that_counts_counts_on_and_names_stay_as_comments() {
    let Some(server) = Postgres::need() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (session, source) = calls(folder.path()).await;
    let there = table(&server, "CALLS");
    let copied = session.copy(&source, &there, &creating(), |_| {}).await;
    assert_eq!(copied.expect("copied").rows, 2);
    let added = "INSERT INTO calls (caller) VALUES ('Joan') RETURNING no";
    assert_eq!(psql(&server, added), "3\n");
    let comments = "SELECT obj_description('calls'::regclass), col_description('calls'::regclass, 1)";
    assert_eq!(psql(&server, comments), "CALLS|NO\n");
}

#[tokio::test]
async fn names_are_found_in_any_case_and_in_other_schemas() {
    let Some(server) = Postgres::need() else { return };
    psql(
        &server,
        "CREATE SCHEMA books; CREATE TABLE books.\"Customer List\" (\"No\" int, \"Ship to\" text); \
         INSERT INTO books.\"Customer List\" VALUES (1, 'York'), (2, NULL); CREATE VIEW towns AS SELECT \"Ship to\" AS town FROM books.\"Customer List\"",
    );
    let session = Session::new(SessionOptions::default().attach("pg", server.url()));
    let url = server.url();
    let (place, settings) = url.split_once('?').unwrap_or((&url, ""));
    let listed = format!("SELECT \"Ship to\" FROM '{place}/books/customer%20list?{settings}' WHERE no = 1");
    assert_eq!(csv(&session, &listed).await, "York\n");
    assert_eq!(
        csv(&session, "SELECT COUNT(*), COUNT(town) FROM pg.Towns").await,
        "2,1\n"
    );
    let database = ServerUrl::new(&url.replace("postgres://", "postgresql://")).expect("a database");
    let tables = session.tables_of(&database).await.expect("tables");
    assert_eq!(tables.iter().map(Location::table_name).collect::<Vec<_>>(), ["towns"]);
}

#[tokio::test]
async fn bytes_are_taken_as_the_server_writes_them_and_bits_keep_their_length() {
    let Some(server) = Postgres::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    psql(
        &server,
        "CREATE TABLE w (b bytea, n numeric); CREATE TABLE bits (v bit(8)); INSERT INTO bits VALUES ('10101010')",
    );
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("pg", server.url()));
    let w = table(&server, "w");
    for (sql, column, expected) in [
        ("SELECT '\\x00ff' AS b", "b", "\\x00ff\n"),
        ("SELECT 'abc' AS b", "b", "\\x616263\n"),
        ("SELECT 12345678901234567890.5 AS n", "n", "12345678901234567890.5\n"),
    ] {
        let copied = session.copy_query(sql, &w, &CopyOptions::default(), |_| {}).await;
        copied.expect(sql);
        let stored = psql(&server, &format!("SELECT {column} FROM w; TRUNCATE w"));
        assert_eq!(stored, expected, "{sql}");
    }
    for sql in [
        "INSERT INTO pg.w VALUES ('\\x00ff', 1)",
        "INSERT INTO pg.w (n, b) VALUES (1, '\\x00ff')",
    ] {
        session.query(sql).await.expect(sql).collect().await.expect(sql);
        assert_eq!(psql(&server, "SELECT b FROM w; TRUNCATE w"), "\\x00ff\n", "{sql}");
    }
    let sql = "INSERT INTO pg.w (n) VALUES (1234567890123456.78)";
    session.query(sql).await.expect(sql).collect().await.expect(sql);
    assert_eq!(psql(&server, "SELECT n FROM w"), "1234567890123456.78\n");
    let from = session.locate("pg.bits").await.expect("a table");
    let to = table(&server, "copied");
    session.copy(&from, &to, &creating(), |_| {}).await.expect("copied");
    assert_eq!(
        server.psql("SELECT v FROM copied").expect("read").trim_end(),
        "10101010"
    );
}

/// Against what the server itself answers: its numbers without a scale, and its intervals.
#[tokio::test]
async fn numbers_without_a_scale_and_intervals_have_the_order_of_the_server() {
    let Some(server) = Postgres::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    psql(
        &server,
        "CREATE TABLE v (id int, g int, n numeric, m numeric, i interval); INSERT INTO v VALUES
         (1, 1, 9, 10.5, '36 hours'), (2, 1, 10.50, 9, '1 day'), (3, 1, -2.5, -10, '1 month'), (4, 2, 100000000000000000000000000000000000000000000.1, 1, '29 days'),
         (5, 2, 'NaN', 'NaN', '31 days'), (6, 2, NULL, 2, NULL), (7, 3, 0.000000000000000000000000000000000000000000001, 0, '-1 hour'),
         (8, 3, 1.50, 1.5, '24 hours')",
    );
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("pg", server.url()));
    for sql in [
        "SELECT id FROM v WHERE n > 9 ORDER BY id",
        "SELECT id FROM v WHERE n >= 9 AND n < 10.6 ORDER BY id",
        "SELECT id FROM v WHERE 2 > n ORDER BY id",
        "SELECT id FROM v WHERE n = 10.5 ORDER BY id",
        "SELECT id FROM v WHERE n <> 1.5 ORDER BY id",
        "SELECT id FROM v WHERE n = '10.500' ORDER BY id",
        "SELECT id FROM v WHERE n IN (1.5, 9, 77) ORDER BY id",
        "SELECT id FROM v WHERE n NOT IN (1.5, 9, 77) ORDER BY id",
        "SELECT id FROM v WHERE n BETWEEN -3 AND 1.5 ORDER BY id",
        "SELECT id FROM v WHERE n > m ORDER BY id",
        "SELECT id FROM v WHERE n = m ORDER BY id",
        "SELECT id FROM v WHERE n > id ORDER BY id",
        "SELECT id FROM v WHERE n IS NULL ORDER BY id",
        "SELECT id FROM v ORDER BY n NULLS FIRST, id",
        "SELECT id FROM v ORDER BY n DESC NULLS LAST, id",
        "SELECT id FROM v ORDER BY m DESC NULLS LAST LIMIT 3",
        "SELECT id, n FROM v WHERE n IS NOT NULL AND id <> 5 ORDER BY n DESC LIMIT 2",
        "SELECT min(n), max(n), min(m), max(m) FROM v WHERE id <> 5",
        "SELECT g, min(n), max(n), count(n) FROM v GROUP BY g ORDER BY g",
        "SELECT max(n), min(n), sum(n) FROM v WHERE id = 99",
        "SELECT sum(n), sum(m) FROM v WHERE id <> 5",
        "SELECT g, sum(n) FROM v WHERE id <> 4 GROUP BY g ORDER BY g",
        "SELECT sum(n) FROM v",
        "SELECT id, sum(m) OVER (ORDER BY id ROWS 1 PRECEDING) FROM v WHERE id < 4 ORDER BY id",
        "SELECT id, rank() OVER (ORDER BY n DESC) FROM v WHERE n IS NOT NULL ORDER BY id",
        "SELECT a.id, b.id FROM v a JOIN v b ON a.n = b.m ORDER BY 1, 2",
        "SELECT a.id, b.id FROM v a JOIN v b ON a.n < b.m AND a.g = b.g ORDER BY 1, 2",
        "SELECT id FROM v WHERE n IN (SELECT m FROM v) ORDER BY id",
        "SELECT id FROM v WHERE n NOT IN (SELECT m FROM v WHERE id < 3) ORDER BY id",
        "SELECT id FROM v WHERE id IN (SELECT m FROM v) ORDER BY id",
        "SELECT id FROM v WHERE n = (SELECT max(n) FROM v WHERE id < 4) ORDER BY id",
        "SELECT CASE WHEN n > 9 THEN 'more' ELSE 'less' END FROM v WHERE n IS NOT NULL ORDER BY id",
        "SELECT id FROM v ORDER BY i NULLS LAST, id",
        "SELECT id FROM v WHERE i >= INTERVAL '1 day' ORDER BY id",
        "SELECT a.id, b.id FROM v a JOIN v b ON a.i = b.i ORDER BY 1, 2",
        "SELECT v.id FROM v WHERE i = (SELECT max(i) FROM v) ORDER BY id",
    ] {
        let told = psql(&server, sql).replace('|', ",");
        let here = csv(
            &session,
            &sql.replace("FROM v", "FROM pg.v").replace("JOIN v", "JOIN pg.v"),
        )
        .await;
        assert_eq!(here, told, "{sql}");
    }
}
