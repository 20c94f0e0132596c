//! Databases of SQLite: read as Python's own module writes them, and filled so that it reads the same.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use tidemill_sql::{CopyOptions, Error, Location, Session, SessionOptions, TableOptions, Verify};
use tidemill_testkit::Python;

use crate::statements::csv;

/// A session over a folder, with its `shop.db` as `db`.
fn session(folder: &Path) -> Session {
    let database = format!("sqlite:{}", folder.join("shop.db").display());
    Session::new(SessionOptions::default().dir(folder).attach("db", database))
}

fn table(folder: &Path, name: &str) -> Location {
    let url = format!("sqlite:{}/{name}", folder.join("shop.db").display());
    Location::destination(&url).expect("a table")
}

pub(crate) fn creating() -> CopyOptions {
    let table = TableOptions {
        create: true,
        ..TableOptions::default()
    };
    CopyOptions {
        table,
        verify: Verify::Full,
        ..CopyOptions::default()
    }
}

/// A table of two records, whose field NO counts by itself.
pub(crate) async fn calls(folder: &Path) -> (Session, Location) {
    let session = Session::new(SessionOptions::default().dir(folder));
    for statement in [
        "CREATE TABLE CALLS (NO AutoInc, Caller Char(8))",
        "INSERT INTO calls (caller) VALUES ('Ada'), ('Grace')",
    ] {
        let answer = session.query(statement).await.expect(statement);
        answer.collect().await.expect(statement);
    }
    let table = session.locate("calls").await.expect("a table");
    (session, table)
}

pub(crate) async fn error(session: &Session, sql: &str) -> String {
    let answered = match session.query(sql).await {
        Ok(answer) => answer.collect().await.map(|_| ()),
        Err(error) => Err(error),
    };
    answered.expect_err(sql).to_string()
}

const MADE: &str = r#"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript('''
CREATE TABLE Types (id INTEGER PRIMARY KEY, b BOOLEAN, r REAL, m DECIMAL(8,2), t TEXT, x BLOB, d DATE, at TIMESTAMP, z TIMESTAMPTZ, c TIME, any);
INSERT INTO Types VALUES (1, 1, 1.5, 12.30, 'é', x'00ff', '2024-02-29', '2024-02-29 13:05:59.25', '2024-02-29T13:05:59+02:00', '13:05', 7);
INSERT INTO Types VALUES (2, 0, 3, 12, '', x'', '0001-01-01', '1969-12-31', '1970-01-01 00:00:00Z', '23:59:59.5', 2.5);
INSERT INTO Types (id) VALUES (3);
CREATE TABLE habits (n INTEGER, d DATE, at DATETIME, a TEXT, empty TEXT, "a ""b"" c" INT);
INSERT INTO habits VALUES (1, '01/02/2024', 1700000000, 'x', NULL, 1), ('', '2024-01-02', 1700000001, 5, NULL, 2);
CREATE VIEW totals AS SELECT b, count(*) AS n, sum(m) AS total FROM Types GROUP BY b;
CREATE TABLE late (n INTEGER);
WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 3000) INSERT INTO late SELECT n FROM k;
UPDATE late SET n = 'none' WHERE n = 2500;
''')
"#;

fn made(folder: &Path) -> Option<()> {
    let python = Python::need(&[])?;
    let _made = python.run(MADE, &[&folder.join("shop.db")]);
    Some(())
}

#[tokio::test]
async fn columns_are_of_the_types_that_are_declared_where_the_values_keep_to_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(()) = made(folder.path()) else { return };
    let session = session(folder.path());
    assert_eq!(
        csv(&session, "SELECT * FROM db.types ORDER BY id").await,
        "1,true,1.5,12.30,é,00ff,2024-02-29,2024-02-29T13:05:59.250,2024-02-29T11:05:59Z,13:05:00,7.0\n\
         2,false,3.0,12.00,,,0001-01-01,1969-12-31T00:00:00,1970-01-01T00:00:00Z,23:59:59.500,2.5\n\
         3,,,,,,,,,,\n"
    );
    assert_eq!(
        csv(&session, "SELECT * FROM db.habits").await,
        "1,01/02/2024,1700000000,x,,1\n,2024-01-02,1700000001,5,,2\n"
    );
    assert_eq!(
        csv(&session, "SELECT b, n FROM db.totals ORDER BY n, b").await,
        ",1\nfalse,1\ntrue,1\n"
    );
    let condition = "SELECT id FROM db.types WHERE (b OR d < DATE '1000-01-01') AND t LIKE '%é%' AND r > 1.25";
    assert_eq!(csv(&session, condition).await, "1\n");
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_with_its_row_unless_asked_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(()) = made(folder.path()) else { return };
    let session = session(folder.path());
    for sql in [
        "SELECT n FROM db.late",
        "SELECT SUM(n) FROM db.late",
        "SELECT MAX(n) FROM db.late",
    ] {
        let message = error(&session, sql).await;
        assert!(message.contains("expected Int64, found "), "{message}");
        assert!(message.contains("?values=text"), "{message}");
    }
    assert!(error(&session, "SELECT n FROM db.late").await.contains("row 2500"));
    let path = folder.path().join("shop.db");
    let late = |values: &str| format!("\"sqlite:{}/late?values={values}\"", path.display());
    let sum = format!("SELECT COUNT(*), COUNT(n), SUM(n) FROM {}", late("null"));
    assert_eq!(csv(&session, &sum).await, "3000,2999,4499000\n");
    let texts = format!("SELECT n FROM {} WHERE n > '9' ORDER BY n DESC LIMIT 2", late("text"));
    assert_eq!(csv(&session, &texts).await, "none\n999\n");
    let message = error(&session, &format!("SELECT n FROM {}", late("all"))).await;
    assert!(message.contains("values=strict"), "{message}");
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(()) = made(folder.path()) else { return };
    let session = session(folder.path());
    let message = error(&session, "SELECT * FROM db.orders").await;
    assert!(message.contains("Types"), "{message}");
    let elsewhere = Session::new(SessionOptions::default().attach("db", "sqlite:not-there.db"));
    let message = error(&elsewhere, "SELECT * FROM db.orders").await;
    assert!(message.contains("there is no file not-there.db"), "{message}");
    assert!(!Path::new("not-there.db").exists());
    std::fs::write(
        folder.path().join("text.db"),
        "no database, and more than an empty file",
    )
    .expect("written");
    let text = format!("sqlite:{}", folder.path().join("text.db").display());
    let elsewhere = Session::new(SessionOptions::default().attach("db", text));
    let message = error(&elsewhere, "SELECT * FROM db.orders").await;
    assert!(message.contains("not a database"), "{message}");
}

/// Rows of every type that a table of SQLite takes.
pub(crate) async fn fill(session: &Session) {
    csv(
        session,
        "CREATE TABLE orders (id Integer, name Char(20), total Numeric(12, 2), paid Logical, day Date, note Memo)",
    )
    .await;
    csv(
        session,
        "INSERT INTO orders VALUES (1, 'Ada', 1200.50, True, '2024-02-29', 'first'), (2, 'Zoë', -0.05, False, '1899-12-31', ''), \
         (3, '', 0, True, '0001-01-01', 'it''s')",
    )
    .await;
}

const READ: &str = r#"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT sql FROM sqlite_schema WHERE name = 'orders'").fetchone()[0])
for row in db.execute('SELECT *, typeof(TOTAL) FROM orders ORDER BY 1'):
    print(row)
print(db.execute('PRAGMA integrity_check').fetchone()[0])
"#;

#[tokio::test]
async fn a_copy_is_read_by_sqlite_itself_and_comes_back_the_same() {
    let Some(python) = Python::need(&[]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path());
    fill(&session).await;
    let (source, there) = (
        session.locate("orders.dbf").await.expect("a table"),
        table(folder.path(), "orders"),
    );
    let copied = session
        .copy(&source, &there, &creating(), |_| {})
        .await
        .expect("copied");
    assert_eq!(copied.rows, 3);
    assert_eq!(
        python.run(READ, &[&folder.path().join("shop.db")]),
        "CREATE TABLE \"orders\" (\"ID\" INTEGER, \"NAME\" TEXT, \"TOTAL\" DECIMAL(14, 2), \"PAID\" BOOLEAN, \"DAY\" DATE, \"NOTE\" TEXT)\n\
         (1, 'Ada', 1200.5, 1, '2024-02-29', 'first', 'real')\n\
         (2, 'Zoë', -0.05, 0, '1899-12-31', '', 'real')\n\
         (3, '', 0, 1, '0001-01-01', \"it's\", 'integer')\n\
         ok\n"
    );
    let again = session.copy(&source, &there, &creating(), |_| {}).await;
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");

    let options = CopyOptions {
        overwrite: true,
        ..creating()
    };
    session.copy(&source, &there, &options, |_| {}).await.expect("replaced");
    let all = "SELECT * FROM orders ORDER BY id";
    let expected = csv(&session, all).await;
    assert_eq!(csv(&session, &all.replace("orders", "db.orders")).await, expected);
    let back = crate::destination(&folder.path().join("back.parquet"));
    session
        .copy(&there, &back, &CopyOptions::default(), |_| {})
        .await
        .expect("copied back");
    assert_eq!(csv(&session, &all.replace("orders", "'back.parquet'")).await, expected);
}

#[tokio::test]
async fn a_copy_that_fails_leaves_the_database_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path());
    fill(&session).await;
    let (values, rows) = (
        Float64Array::from(vec![0.5, f64::NAN]),
        Schema::new(vec![Field::new("root", DataType::Float64, true)]),
    );
    let batch = RecordBatch::try_new(Arc::new(rows), vec![Arc::new(values)]).expect("a batch");
    let mut writer = FileWriter::try_new(
        File::create(folder.path().join("nan.arrow")).expect("made"),
        &batch.schema(),
    )
    .expect("a file");
    writer.write(&batch).and_then(|()| writer.finish()).expect("written");
    let bad = session.locate("nan.arrow").await.expect("a table");
    let there = table(folder.path(), "numbers");
    let failed = session.copy(&bad, &there, &creating(), |_| {}).await.expect_err("NaN");
    assert!(failed.to_string().contains("column root: row 2: NaN: "), "{failed}");
    assert!(!folder.path().join("shop.db").exists(), "an empty database is left");

    let orders = session.locate("orders.dbf").await.expect("a table");
    session
        .copy(&orders, &there, &creating(), |_| {})
        .await
        .expect("copied");
    let options = CopyOptions {
        overwrite: true,
        ..creating()
    };
    session.copy(&bad, &there, &options, |_| {}).await.expect_err("NaN");
    assert_eq!(
        csv(&session, "SELECT COUNT(*), MIN(name) FROM db.numbers").await,
        "3,\n"
    );
}

#[tokio::test]
async fn statements_insert_truncate_and_drop() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path());
    fill(&session).await;
    let source = session.locate("orders.dbf").await.expect("a table");
    session
        .copy(&source, &table(folder.path(), "orders"), &creating(), |_| {})
        .await
        .expect("copied");
    csv(&session, "INSERT INTO db.orders SELECT * FROM orders WHERE id > 1").await;
    csv(
        &session,
        "INSERT INTO db.orders (id, name) SELECT id + 10, name FROM db.orders WHERE id = 1",
    )
    .await;
    assert_eq!(csv(&session, "SELECT COUNT(*), SUM(id) FROM db.orders").await, "6,22\n");
    let database = tidemill_sql::ServerUrl::new(&format!("sqlite:{}", folder.path().join("shop.db").display()));
    let database = database.expect("a database");
    let answer = session.ask_server(
        &database,
        "DELETE FROM orders WHERE id > 10; SELECT count(*) AS n, 1.5 AS r FROM orders",
    );
    let rows = answer.await.expect("an answer").collect().await.expect("rows");
    assert_eq!(
        (
            rows.len(),
            rows[0].num_rows(),
            rows[0].schema().field(1).name().as_str()
        ),
        (1, 1, "r")
    );
    let changed = session
        .ask_server(&database, "UPDATE orders SET name = 'x' WHERE id = 2")
        .await
        .expect("done");
    assert_eq!(changed.changed().and_then(|changed| changed.rows), Some(2));
    csv(&session, "DROP TABLE db.orders").await;
    assert!(error(&session, "SELECT * FROM db.orders").await.contains("no tables"));
}

/// SQLite deletes the rows of a table that is dropped, and with them those that refer to them.
#[tokio::test]
async fn rows_that_refer_to_a_table_outlive_it() {
    const SHOP: &str = r#"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript('''
CREATE TABLE Customers (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES customers (id));
CREATE TABLE orders (id INTEGER, cust INTEGER REFERENCES customers (id) ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO Customers VALUES (1, NULL), (2, 1);
INSERT INTO orders VALUES (10, 1), (11, 2);
''')
"#;
    let folder = tempfile::tempdir().expect("a folder");
    let Some(python) = Python::need(&[]) else { return };
    let _made = python.run(SHOP, &[&folder.path().join("shop.db")]);
    let session = session(folder.path());
    std::fs::write(folder.path().join("new.csv"), "id,boss\n2,2\n3,\n").expect("written");
    let source = session.locate("new.csv").await.expect("a file");
    let customers = table(folder.path(), "customers");
    for resume in [false, true] {
        let options = CopyOptions {
            overwrite: true,
            resume,
            ..creating()
        };
        let copied = session.copy(&source, &customers, &options, |_| {}).await;
        assert_eq!(copied.expect("copied").rows, 2);
        assert_eq!(
            csv(&session, "SELECT * FROM db.orders ORDER BY id").await,
            "10,1\n11,2\n"
        );
        assert_eq!(
            csv(&session, "SELECT * FROM db.customers ORDER BY id").await,
            "2,2\n3,\n"
        );
    }
    for sql in ["DROP TABLE db.customers", "TRUNCATE TABLE db.customers"] {
        let message = error(&session, sql).await;
        assert!(message.contains("orders refers to"), "{message}");
    }
    for sql in [
        "DROP TABLE db.orders",
        "TRUNCATE TABLE db.customers",
        "DROP TABLE db.customers",
    ] {
        let answer = session.query(sql).await.expect(sql);
        answer.collect().await.expect(sql);
    }
}

#[tokio::test]
async fn groups_that_are_only_counted_are_counted_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (session, from) = calls(folder.path()).await;
    let to = format!("sqlite:{}/calls", folder.path().join("shop.db").display());
    let to = Location::destination(&to).expect("a table");
    session.copy(&from, &to, &creating(), |_| {}).await.expect("copied");
    let counted = format!("SELECT COUNT(*) AS n FROM (SELECT DISTINCT no, caller FROM '{to}') AS q");
    assert_eq!(csv(&session, &counted).await, "2\n");
    let grouped = format!("SELECT COUNT(*) AS n FROM (SELECT caller, SUM(no) AS s FROM '{to}' GROUP BY caller) AS q");
    assert_eq!(csv(&session, &grouped).await, "2\n");
}

#[tokio::test]
async fn a_column_of_null_alone_goes_into_any_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(()) = made(folder.path()) else { return };
    let session = session(folder.path());
    csv(&session, "INSERT INTO db.habits (n, d, at) VALUES (7, NULL, NULL)").await;
    csv(&session, "INSERT INTO db.habits (n, d, at) SELECT 8, NULL, NULL").await;
    let found = csv(
        &session,
        "SELECT n, d, at FROM db.habits WHERE n IN ('7', '8') ORDER BY n",
    )
    .await;
    assert_eq!(found, "7,,\n8,,\n");
}

/// A transaction of this program's tables cannot take back what a server has done.
#[tokio::test]
async fn a_table_of_a_server_is_not_changed_within_a_transaction() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(()) = made(folder.path()) else { return };
    let session = session(folder.path());
    for change in [
        "DELETE FROM db.late",
        "UPDATE db.late SET n = 1",
        "INSERT INTO db.late VALUES (1)",
        "DROP TABLE db.late",
        "TRUNCATE TABLE db.late",
    ] {
        csv(&session, "BEGIN").await;
        let refused = error(&session, change).await;
        assert!(
            refused.contains("changing a table of a server within a transaction"),
            "{refused}"
        );
        csv(&session, "ROLLBACK").await;
    }
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM db.late").await, "3000\n");
    // Where every change is part of a transaction until it is ended, those of servers are made at once, and stay.
    csv(&session, "CREATE TABLE here (n Integer)").await;
    session.set_autocommit(false).await.expect("set");
    csv(&session, "INSERT INTO here VALUES (1)").await;
    csv(&session, "DELETE FROM db.types WHERE id = 3").await;
    session.rollback().await.expect("taken back");
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM here").await, "0\n");
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM db.types").await, "2\n");
}
