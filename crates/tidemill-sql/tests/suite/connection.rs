//! What the statements of a session leave for the next: transactions, temporary tables, views, and rows that go from store to store.

use arrow_array::RecordBatch;
use tidemill_sql::{Error, Session, SessionOptions};

use crate::statements::csv;

async fn session(folder: &tempfile::TempDir) -> Session {
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "CREATE TABLE t ( id Integer, name Char(8) )").await;
    csv(&session, "INSERT INTO t VALUES ( 1, 'Ada' ), ( 2, 'Bob' )").await;
    session
}

async fn refused(session: &Session, sql: &str) -> Error {
    session.query(sql).await.map(drop).expect_err(sql)
}

fn files(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_transaction_that_a_text_begins_goes_on_in_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(&folder).await;
    let other = Session::new(SessionOptions::default().dir(folder.path()));
    for end in ["ROLLBACK WORK", "COMMIT WORK"] {
        csv(&session, "BEGIN TRANSACTION").await;
        csv(&session, "DELETE FROM t WHERE id = 1").await;
        assert_eq!(csv(&session, "SELECT COUNT(*) FROM t").await, "1\n");
        assert_eq!(csv(&other, "SELECT COUNT(*) FROM t").await, "2\n", "before {end}");
        csv(&session, end).await;
    }
    assert_eq!(csv(&other, "SELECT COUNT(*) FROM t").await, "1\n");
    // What nobody has committed goes with the session.
    csv(&session, "BEGIN TRANSACTION").await;
    csv(&session, "DELETE FROM t").await;
    drop(session);
    assert_eq!(csv(&other, "SELECT COUNT(*) FROM t").await, "1\n");
    drop(other);
    assert_eq!(files(&folder), ["t.dbf"]);
}

#[tokio::test]
async fn temporary_tables_and_views_are_those_of_a_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(&folder).await;
    let other = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "SELECT id, name AS a_long_name INTO #kept FROM t").await;
    csv(&session, "CREATE VIEW v AS SELECT id FROM t WHERE id > 1").await;
    assert_eq!(
        csv(&session, "SELECT a_long_name FROM #kept WHERE id = 2").await,
        "Bob\n"
    );
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM v").await, "1\n");
    let join = "SELECT t.name FROM t JOIN #kept k ON k.id = t.id JOIN v ON v.id = t.id";
    assert_eq!(csv(&session, join).await, "Bob\n");
    refused(&other, "SELECT * FROM #kept").await;
    refused(&other, "SELECT * FROM v").await;
    assert!(
        !files(&folder).iter().any(|name| name.contains("kept")),
        "{:?}",
        files(&folder)
    );
}

#[tokio::test]
async fn each_statement_of_a_text_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(&folder).await;
    let answers = session
        .query_all("SELECT id FROM t; UPDATE t SET name = 'Cleo' WHERE id = 2; SELECT name FROM t WHERE id = 2")
        .await
        .expect("answers");
    let changed: Vec<_> = answers
        .iter()
        .map(|answer| answer.changed().map(|changed| changed.rows))
        .collect();
    assert_eq!(changed, [None, Some(Some(1)), None]);
    let mut rows = Vec::new();
    for answer in answers {
        let batches = answer.collect().await.expect("rows");
        rows.push(batches.iter().map(RecordBatch::num_rows).sum::<usize>());
    }
    assert_eq!(rows, [2, 1, 1]);
    assert_eq!(
        csv(&session, "DECLARE @n Integer; SET @n = 3; SELECT @n FROM system.iota;").await,
        "3\n"
    );
}

#[tokio::test]
async fn rows_go_from_any_store_into_xbase_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(&folder).await;
    std::fs::write(folder.path().join("p.csv"), "who,number\nDan,7\nEva,8\n").expect("written");
    assert_eq!(csv(&session, "INSERT INTO t SELECT number, who FROM p").await, "2\n");
    assert_eq!(
        csv(&session, "INSERT INTO t (name) SELECT who FROM p.csv WHERE number = 8").await,
        "1\n"
    );
    assert_eq!(
        csv(&session, "SELECT id, name FROM t").await,
        "1,Ada\n2,Bob\n7,Dan\n8,Eva\n0,Eva\n"
    );
    // Within a transaction they are taken back with it.
    csv(&session, "BEGIN TRANSACTION").await;
    csv(&session, "INSERT INTO t SELECT number, who FROM p").await;
    csv(&session, "ROLLBACK WORK").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM t").await, "5\n");
    // Rows of another store go into a temporary table, and from there into every statement: in a text, or one by one.
    csv(&session, "SELECT number, who AS a_long_name INTO #p FROM p").await;
    csv(
        &session,
        "INSERT INTO #p SELECT number + 10, who FROM p.csv WHERE number = 7",
    )
    .await;
    assert_eq!(
        csv(&session, "SELECT number, a_long_name FROM #p").await,
        "7,Dan\n8,Eva\n17,Dan\n"
    );
    csv(&session, "DELETE FROM t WHERE id IN (SELECT number FROM #p)").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM t").await, "3\n");
    let text = "SELECT * INTO #q FROM p;\n DELETE FROM t WHERE name IN (SELECT who FROM #q); SELECT id FROM t; SELECT who FROM p";
    assert_eq!(session.query_all(text).await.expect("answers").len(), 4);
    assert_eq!(csv(&session, "SELECT id FROM t").await, "1\n2\n");
    assert_eq!(
        csv(&session, "SELECT id FROM t; SELECT who FROM p WHERE number = 8").await,
        "Eva\n"
    );
    refused(&session, "SELECT * INTO #p FROM p").await;
    csv(&session, "SELECT * INTO kept FROM p").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM kept").await, "2\n");
    for (sql, part) in [
        (
            "INSERT INTO p SELECT id, name FROM t",
            "p.csv: adding rows to a file that is not of xBase",
        ),
        (
            "DELETE FROM t WHERE id IN (SELECT number FROM p)",
            "by the rows of p, which is not of xBase",
        ),
        (
            "UPDATE t SET name = (SELECT MAX(who) FROM p)",
            "by the rows of p, which is not of xBase",
        ),
        ("INSERT INTO t SELECT who FROM p", "rows of 1 columns for 2 columns"),
    ] {
        let error = refused(&session, sql).await.to_string();
        assert!(error.contains(part), "{sql}: {error}");
    }
}

#[tokio::test]
async fn tables_are_listed_described_and_emptied() {
    let folder = tempfile::tempdir().expect("a folder");
    let attached = tempfile::tempdir().expect("a folder");
    std::fs::write(attached.path().join("lines.csv"), "no,text\n1,a\n").expect("written");
    session(&folder).await;
    let options = SessionOptions::default().dir(folder.path());
    let session = Session::new(options.attach("pq", attached.path().to_string_lossy()));
    assert_eq!(csv(&session, "SELECT text FROM pq.lines").await, "a\n");
    assert_eq!(csv(&session, "SHOW TABLES").await, "pq,lines\npublic,t\n");
    assert_eq!(csv(&session, "SHOW SCHEMAS").await, "pq\npublic\n");
    for name in ["t", "t.dbf", "\"t.dbf\""] {
        let described = csv(&session, &format!("DESCRIBE {name}")).await;
        assert_eq!(described, "ID,Int32,YES\nNAME,Utf8,YES\n", "{name}");
    }
    assert_eq!(
        csv(&session, "SHOW COLUMNS FROM pq.lines").await,
        "no,Int64,YES\ntext,Utf8,YES\n"
    );
    for sql in ["DESCRIBE nope", "SHOW COLUMNS FROM pq.nope"] {
        let error = refused(&session, sql).await;
        assert!(matches!(error, Error::NotFound { .. }), "{sql}: {error}");
    }
    assert_eq!(
        csv(
            &session,
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'pq'"
        )
        .await,
        "2\n"
    );
    assert_eq!(csv(&session, "SELECT name FROM t WHERE name ILIKE 'b%'").await, "Bob\n");
    assert_eq!(
        csv(
            &session,
            "SELECT EXISTS (SELECT 1 FROM t WHERE id = 2), NOT EXISTS (SELECT 1 FROM t)"
        )
        .await,
        "true,false\n"
    );
    csv(&session, "TRUNCATE TABLE t").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) FROM t").await, "0\n");
    let error = refused(&session, "TRUNCATE TABLE pq.lines").await.to_string();
    assert!(error.contains("TRUNCATE TABLE"), "{error}");
    let missing = Session::new(SessionOptions::default().attach("x", "/nowhere/y.parquet"));
    assert!(matches!(missing.check_attached(), Err(Error::NotFound { .. })));
    session.check_attached().expect("all are there");
}
