//! Sessions as drivers use them: values of parameters, transactions that span statements, rows that are put in, tables that are lent.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader, StringArray};
use tidemill_ads::sql::{
    Analytical, AnalyticalQuery, Error as SqlError, Rows, StatementOptions, TableScan, TableSource, Value,
};
use tidemill_ads::{Connection, ErrorCode, Settings};
use tidemill_sql::{Error, Ingest, Session, SessionOptions, is_query, stoppable};

use crate::statements::csv;

async fn shop() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for sql in [
        "CREATE TABLE orders ( id Integer, cust Integer, paid Date )",
        "CREATE INDEX id ON orders ( id )",
        "CREATE TABLE customers ( cust Integer, name Char(8) )",
        "INSERT INTO orders ( id, cust ) VALUES ( 1, 1 ), ( 2, 1 ), ( 3, 2 )",
        "INSERT INTO customers VALUES ( 1, 'Ada' ), ( 2, 'Bob' )",
    ] {
        csv(&session, sql).await;
    }
    (folder, session)
}

async fn count(session: &Session, sql: &str, values: &[Value]) -> usize {
    let answer = session
        .query_with(sql, values)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer
        .collect()
        .await
        .expect("rows")
        .iter()
        .map(RecordBatch::num_rows)
        .sum()
}

const JOIN: &str = "SELECT o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust";

#[tokio::test]
async fn a_change_that_nobody_waits_for_or_that_is_stopped_is_taken_back() {
    let (_folder, session) = shop().await;
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).expect("a batch");
    let batches = std::iter::once(Ok(batch.clone()));
    let made = session.ingest("many", Ingest::Create, batch.schema(), batches).await;
    assert_eq!(made.expect("made"), 100_000);
    let (change, wait) = ("UPDATE many SET n = n + 1000000", Duration::from_millis(1));

    let left = tokio::time::timeout(wait, session.query(change)).await;
    assert!(left.is_err(), "it was done in {wait:?}");
    // Who changes it next waits until that is taken back.
    csv(&session, "UPDATE many SET n = 7 WHERE n = 0").await;
    assert_eq!(count(&session, "SELECT n FROM many WHERE n >= 1000000", &[]).await, 0);

    let begun = Instant::now();
    let stopped = stoppable(move || begun.elapsed() > wait, session.query(change)).await;
    let error = stopped.map(drop).expect_err("it is stopped");
    assert!(
        matches!(&error, Error::Ads(error) if error.code() == ErrorCode::StatementStopped),
        "{error}"
    );
    assert_eq!(count(&session, "SELECT n FROM many WHERE n >= 1000000", &[]).await, 0);
    let done = stoppable(|| false, session.query(change)).await;
    drop(done.expect("nobody stops it"));
    assert_eq!(
        count(&session, "SELECT n FROM many WHERE n >= 1000000", &[]).await,
        100_000
    );
}

#[tokio::test]
async fn parameters_have_values_in_every_lane() {
    let (_folder, session) = shop().await;
    let (one, name) = (Value::Integer(1), Value::Text("Ada".to_owned()));
    assert_eq!(
        count(
            &session,
            "SELECT * FROM orders WHERE cust = ?",
            std::slice::from_ref(&one)
        )
        .await,
        2
    );
    let join = format!("{JOIN} WHERE o.id > :id AND c.name = :name AND :id = 1");
    assert_eq!(count(&session, &join, &[one.clone(), name]).await, 1);
    let few = session
        .query_with(&join, &[one])
        .await
        .map(drop)
        .expect_err("one is missing");
    assert!(
        few.to_string().contains("2 parameters, and 1 values were given"),
        "{few}"
    );
}

#[tokio::test]
async fn a_transaction_spans_statements_and_lanes() {
    let (folder, session) = shop().await;
    let other = Session::new(SessionOptions::default().dir(folder.path()));
    session.set_autocommit(false).await.expect("a connection");
    assert!(!session.autocommit());
    csv(&session, "DELETE FROM orders WHERE id = 1").await;
    csv(&session, "INSERT INTO orders ( id, cust ) VALUES ( 4, 2 )").await;
    for sql in [JOIN, "SELECT id FROM orders"] {
        assert_eq!(count(&session, sql, &[]).await, 3);
    }
    assert_eq!(csv(&session, &format!("{JOIN} WHERE o.id > 3")).await, "4,Bob\n");
    assert_eq!(csv(&other, &format!("{JOIN} WHERE o.id > 3")).await, "");
    session.rollback().await.expect("taken back");
    assert_eq!(
        csv(&session, &format!("{JOIN} ORDER BY o.id")).await,
        "1,Ada\n2,Ada\n3,Bob\n"
    );
    csv(&session, "DELETE FROM orders WHERE id = 1").await;
    session.commit().await.expect("committed");
    assert_eq!(count(&other, JOIN, &[]).await, 2);
    // Neither has anything to do now.
    session.commit().await.expect("nothing");
    session.rollback().await.expect("nothing");
    csv(&session, "DELETE FROM orders").await;
    drop(session);
    assert_eq!(count(&other, JOIN, &[]).await, 2);
}

#[tokio::test]
async fn queries_with_joins_go_into_other_statements() {
    let (_folder, session) = shop().await;
    csv(
        &session,
        "SELECT o.id, c.name INTO named FROM orders o JOIN customers c ON c.cust = o.cust",
    )
    .await;
    csv(
        &session,
        "INSERT INTO named SELECT o.id + 10, c.name FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id = 3",
    )
    .await;
    assert_eq!(
        csv(&session, "SELECT id, name FROM named ORDER BY id").await,
        "1,Ada\n2,Ada\n3,Bob\n13,Bob\n"
    );
    let script = "DECLARE n Integer; n = 2;
        SELECT c.name FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id = n + 1;";
    assert_eq!(csv(&session, script).await, "Bob\n");
}

fn rows(ids: &[i64], names: &[&str]) -> RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from(names.to_vec()));
    let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    RecordBatch::try_from_iter([("name", names), ("cust", ids)]).expect("a batch")
}

async fn ingest(session: &Session, table: &str, mode: Ingest, batch: RecordBatch) -> Result<u64, Error> {
    session
        .ingest(table, mode, batch.schema(), [Ok(batch)].into_iter())
        .await
}

#[tokio::test]
async fn rows_are_put_into_tables_by_the_names_of_columns() {
    let (_folder, session) = shop().await;
    let batch = || rows(&[3, 4], &["Cleo", "Dan"]);
    assert_eq!(
        ingest(&session, "customers", Ingest::Append, batch())
            .await
            .expect("rows"),
        2
    );
    assert_eq!(
        csv(&session, "SELECT cust, name FROM customers WHERE cust > 2").await,
        "3,Cleo\n4,Dan\n"
    );
    let there = ingest(&session, "customers", Ingest::Create, batch()).await;
    assert!(matches!(there, Err(Error::Exists { .. })));
    let missing = ingest(&session, "nothing", Ingest::Append, batch()).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })));
    let long = ingest(
        &session,
        "customers",
        Ingest::Append,
        rows(&[5, 6], &["Eve", "much too long"]),
    )
    .await;
    assert!(matches!(long, Err(Error::Ads(_))));
    assert_eq!(count(&session, "SELECT * FROM customers", &[]).await, 4);
    for table in ["new", "new.parquet"] {
        assert_eq!(
            ingest(&session, table, Ingest::CreateAppend, batch())
                .await
                .expect("rows"),
            2
        );
    }
    let parquet = ingest(&session, "new.parquet", Ingest::Append, batch()).await;
    assert!(matches!(parquet, Err(Error::Unsupported { .. })));
    assert_eq!(
        ingest(&session, "new.parquet", Ingest::Replace, rows(&[1], &["x"]))
            .await
            .expect("rows"),
        1
    );
    assert_eq!(csv(&session, "SELECT * FROM 'new.parquet'").await, "x,1\n");
    let all = session.all_tables().await.expect("a list");
    let names: Vec<&str> = all
        .iter()
        .flat_map(|(_, tables)| tables)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["customers", "new.dbf", "new.parquet", "orders"]);
}

/// Keeps the scans that an engine asks for.
#[derive(Debug, Default)]
struct Watched {
    scans: Mutex<Vec<TableScan>>,
    query: Mutex<Option<Arc<AnalyticalQuery>>>,
}

impl Analytical for Watched {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, SqlError> {
        *self.query.lock().expect("no panic") = Some(query);
        Ok(Rows {
            columns: Vec::new(),
            batches: Vec::new(),
        })
    }
}

struct Lent(Arc<Watched>, Arc<AnalyticalQuery>);

impl TableSource for Lent {
    fn schema(&self, table: &str) -> Result<arrow_schema::SchemaRef, SqlError> {
        self.1.schema(table)
    }

    fn scan(&self, scan: &TableScan) -> Result<Box<dyn RecordBatchReader + Send>, SqlError> {
        self.0.scans.lock().expect("no panic").push(scan.clone());
        self.1.scan(scan)
    }
}

/// What the engine asks of the tables that a query names, and how many rows it answers.
async fn scans(folder: &std::path::Path, sql: &str) -> (Vec<TableScan>, usize) {
    let watched = Arc::<Watched>::default();
    let query = {
        let mut connection = Connection::open(folder).expect("a folder");
        connection.set_analytical(Some(watched.clone()));
        let (settings, options) = (Settings::default(), StatementOptions::default());
        let _ = connection.execute(sql, &[], &settings, &options);
        watched
            .query
            .lock()
            .expect("no panic")
            .take()
            .expect("a query for the engine")
    };
    let session = Session::new(SessionOptions::default());
    let text = query.text().to_owned();
    let mut runs = Vec::new();
    // The second time by the plan of the first.
    for _ in 0..2 {
        let lent = Lent(watched.clone(), Arc::clone(&query));
        let answer = session.query_lent(&text, Arc::new(lent)).await;
        let batches = answer
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
            .collect()
            .await
            .expect("rows");
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let mut scans = std::mem::take(&mut *watched.scans.lock().expect("no panic"));
        scans.sort_by(|a, b| a.table.cmp(&b.table));
        runs.push((scans, rows));
    }
    let again = runs.pop().expect("two runs");
    assert_eq!(runs.pop().as_ref(), Some(&again), "{sql}");
    again
}

#[tokio::test]
async fn statements_that_are_asked_again_see_what_became_of_their_tables() {
    let (folder, session) = shop().await;
    let ordered = format!("{JOIN} WHERE o.id > ? ORDER BY o.id");
    let after = |least: i64| {
        let (session, ordered) = (&session, &ordered);
        async move { count(session, ordered, &[Value::Integer(least)]).await }
    };
    assert_eq!((after(0).await, after(0).await, after(1).await), (3, 3, 2));
    csv(&session, "INSERT INTO orders ( id, cust ) VALUES ( 4, 2 )").await;
    assert_eq!((after(0).await, after(3).await), (4, 1));
    let all = "SELECT o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust ORDER BY o.id";
    assert_eq!(csv(&session, all).await, "1,Ada\n2,Ada\n3,Bob\n4,Bob\n");
    // Columns of other types and in other places.
    csv(&session, "DROP TABLE customers").await;
    csv(&session, "CREATE TABLE customers ( name Numeric(4,1), cust Integer )").await;
    csv(&session, "INSERT INTO customers VALUES ( 1.5, 2 )").await;
    assert_eq!(csv(&session, all).await, "3,1.5\n4,1.5\n");
    // A table of another format under the same name.
    csv(&session, "DROP TABLE customers").await;
    ingest(&session, "customers.parquet", Ingest::Create, rows(&[1], &["Cleo"]))
        .await
        .expect("rows");
    assert_eq!(csv(&session, all).await, "1,Cleo\n2,Cleo\n");
    std::fs::remove_file(folder.path().join("customers.parquet")).expect("removed");
    assert!(session.query(all).await.is_err());
    // A number that is drawn anew, and the time.
    csv(&session, "CREATE TABLE customers ( cust Integer )").await;
    csv(&session, "INSERT INTO customers VALUES ( 1 )").await;
    for changing in ["RAND()", "NOW()"] {
        let sql = format!("SELECT {changing} FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id = 1");
        let first = csv(&session, &sql).await;
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_ne!(csv(&session, &sql).await, first, "{sql}");
    }
}

/// A look-up is remembered with its file, and answers as one that is not.
#[tokio::test]
async fn look_ups_that_are_asked_again_see_what_became_of_their_table() {
    let (folder, session) = shop().await;
    let writer = Session::new(SessionOptions::default().dir(folder.path()));
    // Changes of a moment ago keep a file from being remembered.
    let settle = || std::thread::sleep(Duration::from_millis(250));
    let sql = "SELECT cust FROM orders WHERE id = 2";
    let asked = async |answer: &str| {
        for _ in 0..2 {
            assert_eq!(csv(&session, sql).await, answer);
            settle();
            for _ in 0..3 {
                assert_eq!(csv(&session, sql).await, answer);
            }
        }
    };
    asked("1\n").await;
    csv(&writer, "UPDATE orders SET cust = 9 WHERE id = 2").await;
    asked("9\n").await;
    session.set_autocommit(false).await.expect("set");
    csv(&session, "UPDATE orders SET cust = 5 WHERE id = 2").await;
    asked("5\n").await;
    assert_eq!(csv(&writer, sql).await, "9\n");
    session.rollback().await.expect("taken back");
    session.set_autocommit(true).await.expect("set");
    asked("9\n").await;
    let given = "SELECT cust FROM orders WHERE id = :id";
    for _ in 0..3 {
        assert_eq!(count(&session, given, &[Value::Integer(3)]).await, 1);
        assert_eq!(count(&session, given, &[Value::Integer(4)]).await, 0);
        assert!(session.query_with(given, &[]).await.is_err());
        assert!(
            session
                .query_with(given, &[Value::Integer(3), Value::Integer(3)])
                .await
                .is_err()
        );
    }
    csv(&writer, "DELETE FROM orders WHERE id = 2").await;
    asked("").await;
    csv(&writer, "INSERT INTO orders ( id, cust ) VALUES ( 2, 7 )").await;
    asked("7\n").await;
    // Its index is gone, and then another table has the name.
    std::fs::remove_file(folder.path().join("orders.cdx")).expect("removed");
    asked("7\n").await;
    csv(&writer, "DROP TABLE orders").await;
    csv(&writer, "CREATE TABLE orders ( cust Char(3), id Integer )").await;
    csv(&writer, "INSERT INTO orders VALUES ( 'x', 2 )").await;
    csv(&writer, "CREATE INDEX id ON orders ( id )").await;
    asked("x\n").await;
    csv(&writer, "DROP TABLE orders").await;
    settle();
    assert!(session.query(sql).await.is_err());
    std::fs::write(folder.path().join("orders.csv"), "id,cust\n2,Cleo\n").expect("written");
    asked("Cleo\n").await;
}

#[tokio::test]
async fn columns_and_conditions_reach_tables_that_are_lent() {
    let (folder, _session) = shop().await;
    let scan = |table: &str, columns: &[usize], filter: Option<&str>| TableScan {
        table: table.to_owned(),
        columns: columns.to_vec(),
        filter: filter.map(str::to_owned),
        limit: None,
    };
    let sql =
        "SELECT o.id FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id BETWEEN 2 AND 3 AND c.name <> 'Ada'";
    let (asked, rows) = scans(folder.path(), sql).await;
    let expected = [
        scan("customers", &[0], Some("(\"NAME\" <> 'Ada')")),
        scan("orders", &[0, 1], Some("(\"ID\" >= 2) AND (\"ID\" <= 3)")),
    ];
    assert_eq!((asked.as_slice(), rows), (&expected[..], 1));
    // What is an expression of ADS SQL is told as it was written.
    let sql =
        "SELECT COUNT(*) FROM orders o, customers c WHERE c.cust = o.cust AND LENGTH( c.name ) = 3 AND EMPTY( o.paid )";
    let (asked, rows) = scans(folder.path(), sql).await;
    let filters: Vec<&str> = asked.iter().filter_map(|scan| scan.filter.as_deref()).collect();
    assert_eq!(filters.len(), 2, "{filters:?}");
    assert!(
        filters[0].contains("LENGTH(\"NAME\") = 3") && filters[1].contains("EMPTY(\"PAID\")"),
        "{filters:?}"
    );
    assert_eq!(rows, 1);
}

#[test]
fn queries_are_told_from_changes() {
    for (sql, expected) in [
        ("SELECT 1", true),
        ("WITH a AS ( SELECT 1 ) SELECT * FROM a", true),
        ("EXPLAIN SELECT 1", true),
        ("SELECT a.x FROM a FULL OUTER JOIN b USING (x)", true),
        ("SELECT * INTO t FROM u", false),
        ("INSERT INTO t VALUES ( 1 )", false),
        ("BEGIN TRANSACTION; COMMIT;", false),
    ] {
        assert_eq!(is_query(sql).expect("SQL"), expected, "{sql}");
    }
    assert!(is_query("SELEC 1").is_err());
}
