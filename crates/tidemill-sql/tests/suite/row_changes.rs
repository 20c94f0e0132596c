//! UPDATE and DELETE of a server's rows: each row becomes what the same condition and values give over a copy of the table.

use std::collections::BTreeMap;
use std::path::Path;

use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};
use tidemill_testkit::{MariaDb, Postgres, Python};

use crate::push_down::{POSTGRES, SQLITE};
use crate::sqlite::error;
use crate::statements::csv;

/// Columns, what they become, and which rows.
const UPDATES: [(&str, &str, &str); 14] = [
    ("ni", "7", "id = 3"),
    ("ni", "NULL", "i < 0 AND ns IS NOT NULL"),
    ("ni", "-5", "s = 'it''s' OR e IN ('x', 'X')"),
    ("ns", "'b\\c '' \"é\" 日本'", "id BETWEEN 10 AND 40"),
    ("ns", "''", "ns IS NULL"),
    ("ns", "NULL", "NOT (s = 'a')"),
    ("nd", "DATE '2024-02-29'", "d < DATE '1969-12-25'"),
    ("nd", "NULL", "nd IS NOT NULL AND id > 300"),
    ("m", "-3", "i = 1 AND id > 100"),
    ("i", "0", "u > 1000000"),
    ("i", "i", "id < 50"),
    ("e", "'y'", "ne IN ('p', 'a')"),
    ("ne", "'x'", "id IN (SELECT id FROM db.near WHERE i > 1)"),
    ("f", "2.5", "id = 599"),
];

/// What PostgreSQL and MariaDB do too: SQLite has no decimals, and texts among its numbers.
const COMPUTED: [(&str, &str, &str); 4] = [
    ("m", "1.25", "m < 0"),
    ("i", "i + 1", "id > 20"),
    ("ni", "ni * 2 - i", "id < 300"),
    ("ni", "id - 300", "ni IS NULL"),
];

const DELETES: [&str; 5] = [
    "id = 7",
    "s = 'ß' AND i > 0",
    "nd IS NULL AND ni < 0",
    "id IN (1, 2, 3) OR d = DATE '1970-01-01'",
    "id > 300 AND id IN (SELECT id FROM db.near WHERE i = 2)",
];

const COLUMNS: [&str; 14] = [
    "id", "i", "u", "ni", "s", "ns", "e", "ne", "d", "nd", "t", "m", "nm", "f",
];

/// The rows of a query by the first of their columns.
async fn by_id(session: &Session, sql: &str) -> BTreeMap<u32, String> {
    let rows = csv(session, sql).await;
    let rows = rows.lines().map(|row| row.split_once(',').unwrap_or((row, "")));
    rows.map(|(id, rest)| (id.parse().expect("an id"), rest.to_owned()))
        .collect()
}

async fn check(database: String, folder: &Path, updates: &[(&str, &str, &str)]) {
    let session = Session::new(SessionOptions::default().dir(folder).attach("db", database));
    let remember = || async {
        let options = CopyOptions {
            overwrite: true,
            ..CopyOptions::default()
        };
        let source = session.locate("db.facts").await.expect("a table");
        let copy = Location::destination(folder.join("old.parquet").to_str().expect("UTF-8")).expect("a file");
        session.copy(&source, &copy, &options, |_| {}).await.expect("copied");
    };
    for (column, value, condition) in updates {
        remember().await;
        let update = format!("UPDATE db.facts SET {column} = {value} WHERE {condition}");
        let others: Vec<_> = COLUMNS
            .iter()
            .filter(|other| *other != column && **other != "id")
            .copied()
            .collect();
        let others = format!("SELECT id, {} FROM", others.join(", "));
        let (others_before, before) = (
            by_id(&session, &format!("{others} old")).await,
            by_id(&session, &format!("SELECT id, {column} FROM old")).await,
        );
        let new = by_id(&session, &format!("SELECT id, {value} FROM old WHERE {condition}")).await;
        assert!(
            !new.is_empty() && new.len() < 600,
            "{update} changes {} rows",
            new.len()
        );
        let changed = csv(&session, &update).await;
        // MariaDB does not count rows that keep their value.
        assert!(
            changed.trim().parse::<usize>().expect("a number") <= new.len(),
            "{update}: {changed}"
        );
        let after = by_id(&session, &format!("SELECT id, {column} FROM db.facts")).await;
        let expected = before
            .into_iter()
            .map(|(id, old)| (id, new.get(&id).cloned().unwrap_or(old)));
        let same = |one: &str, other: &str| match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => one == other || (one.is_nan() && other.is_nan()),
            _ => one == other,
        };
        for (id, expected) in expected {
            assert!(
                same(&after[&id], &expected),
                "{update}: {id} is {} instead of {expected}",
                after[&id]
            );
        }
        assert_eq!(
            by_id(&session, &format!("{others} db.facts")).await,
            others_before,
            "{update}"
        );
    }
    for condition in DELETES {
        remember().await;
        let delete = format!("DELETE FROM db.facts WHERE {condition}");
        let mut expected = by_id(&session, "SELECT * FROM old").await;
        let gone = by_id(&session, &format!("SELECT id FROM old WHERE {condition}")).await;
        expected.retain(|id, _| !gone.contains_key(id));
        assert_eq!(csv(&session, &delete).await.trim(), gone.len().to_string(), "{delete}");
        assert!(!gone.is_empty() && gone.len() < 600, "{delete}");
        assert_eq!(by_id(&session, "SELECT * FROM db.facts").await, expected, "{delete}");
    }
    // What the server would not do exactly is not done.
    let before = by_id(&session, "SELECT * FROM db.facts").await;
    for (statement, part) in [
        ("DELETE FROM db.facts WHERE UPPER(s) = 'A'", "--server"),
        ("DELETE FROM db.facts WHERE f < 1.5", "--server"),
        ("UPDATE db.facts SET ns = UPPER(s)", "--server"),
        ("UPDATE db.facts SET m = 1.255 WHERE id > 0", "1.255"),
        ("UPDATE db.facts SET nothing = 1", "no such column"),
        ("UPDATE db.facts SET i = 1, I = 2 WHERE id = 8", "given two values"),
        ("UPDATE db.facts SET d = 'tomorrow'", "tomorrow"),
        ("UPDATE db.facts SET d = 5", "is not Date32"),
        (
            "UPDATE db.facts SET i = o.i FROM db.facts f JOIN old o ON o.id = f.id",
            "UPDATE",
        ),
    ] {
        let refused = error(&session, statement).await;
        assert!(refused.contains(part), "{statement}: {refused}");
    }
    assert_eq!(by_id(&session, "SELECT * FROM db.facts").await, before);
    assert_eq!(
        csv(&session, "UPDATE db.facts SET ni = 1, ns = 'one'").await.trim(),
        before.len().to_string()
    );
    assert_eq!(csv(&session, "SELECT DISTINCT ni, ns FROM db.facts").await, "1,one\n");
    assert_eq!(
        csv(&session, "DELETE FROM db.facts").await.trim(),
        before.len().to_string()
    );
}

#[tokio::test]
async fn postgresql_changes_the_rows_that_a_query_finds() {
    let Some(server) = Postgres::need() else { return };
    server.psql(POSTGRES).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    check(server.url(), folder.path(), &[&UPDATES[..], &COMPUTED].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_changes_the_rows_that_a_query_finds() {
    let Some(server) = MariaDb::need() else { return };
    server
        .query(crate::mysql::FACTS)
        .unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    check(server.url(), folder.path(), &[&UPDATES[..], &COMPUTED].concat()).await;
}

#[tokio::test]
async fn sqlite_changes_the_rows_that_a_query_finds() {
    let Some(python) = Python::need(&[]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = folder.path().join("facts.db");
    let _made = python.run(SQLITE, &[&database]);
    check(format!("sqlite:{}", database.display()), folder.path(), &UPDATES).await;
}

#[tokio::test]
async fn sqlite_refuses_what_a_constraint_would_make_of_a_change() {
    let Some(python) = Python::need(&[]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shop.db");
    let made = "import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table, conflict in [('replaced', 'REPLACE'), ('ignored', 'IGNORE')]:
    db.execute('CREATE TABLE %s (id INTEGER PRIMARY KEY, n INTEGER UNIQUE ON CONFLICT %s)' % (table, conflict))
    db.execute('INSERT INTO %s VALUES (1, 1), (2, 2), (3, 3)' % table)
db.commit()
";
    let _made = python.run(made, &[&path]);
    let database = format!("sqlite:{}", path.display());
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("db", database));
    for table in ["replaced", "ignored"] {
        let refused = error(&session, &format!("UPDATE db.{table} SET n = 2 WHERE id < 3")).await;
        assert!(refused.contains("UNIQUE"), "{refused}");
        assert_eq!(
            csv(&session, &format!("SELECT * FROM db.{table} ORDER BY id")).await,
            "1,1\n2,2\n3,3\n"
        );
    }
    // A script goes its way statement by statement.
    let script = "UPDATE db.ignored SET n = 7 WHERE id = 1; DELETE FROM db.ignored WHERE id = 2; SELECT n FROM db.ignored ORDER BY id";
    assert_eq!(csv(&session, script).await, "7\n3\n");
}
