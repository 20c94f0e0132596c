//! Databases behind ADBC drivers: SQLite's from the Arrow project, and DuckDB's own library.

use std::path::{Path, PathBuf};

use tidemill_sql::{CopyOptions, Error, Location, ServerUrl, Session, SessionOptions};
use tidemill_testkit::{Python, npm_package};

use crate::sqlite::{creating, error, fill};
use crate::statements::csv;

/// The drivers of SQLite and of DuckDB.
fn libraries() -> Option<[PathBuf; 2]> {
    let python = Python::need(&["adbc-driver-sqlite==1.13.0"])?;
    let path = python.run(
        "import adbc_driver_sqlite; print(adbc_driver_sqlite._driver_path())",
        &[],
    );
    let duckdb = npm_package("@duckdb/node-bindings-linux-x64@1.5.6-r.1")?;
    Some([PathBuf::from(path.trim()), duckdb.join("libduckdb.so")])
}

/// The URLs of an empty database of each driver.
fn databases(folder: &Path) -> Option<[String; 2]> {
    let [sqlite, duckdb] = libraries()?;
    Some([
        format!("adbc:driver={};uri={}/shop.db", sqlite.display(), folder.display()),
        format!("duckdb:{}/shop.duckdb?driver={}", folder.display(), duckdb.display()),
    ])
}

fn table(database: &str, name: &str) -> Location {
    Location::server(ServerUrl::new(database).expect("a database").with_table(name)).expect("a table")
}

#[tokio::test]
async fn a_table_goes_into_a_database_by_its_driver_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(databases) = databases(folder.path()) else {
        return;
    };
    for database in databases {
        let session = Session::new(SessionOptions::default().dir(folder.path()).attach("db", &database));
        fill(&session).await;
        let (source, there) = (
            session.locate("orders.dbf").await.expect("a table"),
            table(&database, "orders"),
        );
        let options = CopyOptions {
            verify: tidemill_sql::Verify::Counts,
            ..creating()
        };
        let query = "SELECT id, name, CAST(total AS DOUBLE) AS total, note FROM orders";
        let copied = session.copy_query(query, &there, &options, |_| {}).await;
        assert_eq!(copied.expect("copied").rows, 3, "{database}");
        let again = session.copy_query(query, &there, &options, |_| {}).await;
        assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
        let _ = source;

        assert_eq!(
            csv(&session, "SELECT * FROM db.Orders ORDER BY id").await,
            "1,Ada,1200.5,first\n2,Zoë,-0.05,\n3,,0.0,it's\n"
        );
        let some = "SELECT name FROM db.orders WHERE id BETWEEN 2 AND 3 AND note IS NOT NULL AND name <> ''";
        assert_eq!(csv(&session, some).await, "Zoë\n");
        let plan = session.explain(some).await.expect("a plan");
        assert!(
            plan.contains("AdbcScan") && plan.contains(">= 2") && plan.contains("IS NOT NULL"),
            "{plan}"
        );
        assert!(!plan.contains("<> ''\""), "{plan}");
        let joined = "SELECT o.name, d.total FROM orders o JOIN db.orders d ON d.id = o.id WHERE d.total > 0";
        assert_eq!(csv(&session, joined).await, "Ada,1200.5\n");
        assert_eq!(csv(&session, "SELECT COUNT(*) FROM db.orders").await, "3\n");

        csv(
            &session,
            "INSERT INTO db.orders (id, name) SELECT id + 10, name FROM orders",
        )
        .await;
        assert_eq!(
            csv(&session, "SELECT COUNT(*), COUNT(note), SUM(id) FROM db.orders").await,
            "6,3,42\n"
        );
        let replaced = CopyOptions {
            overwrite: true,
            ..options.clone()
        };
        session
            .copy_query(query, &there, &replaced, |_| {})
            .await
            .expect("replaced");
        assert_eq!(csv(&session, "SELECT COUNT(*) FROM db.orders").await, "3\n");

        let url = ServerUrl::new(&database).expect("a database");
        let tables = session.tables_of(&url).await.expect("tables");
        assert_eq!(
            tables.iter().map(|table| table.table_name()).collect::<Vec<_>>(),
            ["orders"]
        );
        let answer = session
            .ask_server(&url, "SELECT count(*) AS n FROM orders")
            .await
            .expect("an answer");
        assert_eq!(answer.collect().await.expect("rows")[0].num_rows(), 1);
        csv(&session, "DROP TABLE db.orders").await;
        let message = error(&session, "SELECT * FROM db.orders").await;
        assert!(message.contains("the driver lists no tables"), "{message}");
        csv(&session, "DROP TABLE orders").await;
    }
}

#[tokio::test]
async fn a_copy_that_fails_leaves_the_table_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(databases) = databases(folder.path()) else {
        return;
    };
    for database in databases {
        let session = Session::new(SessionOptions::default().dir(folder.path()).attach("db", &database));
        fill(&session).await;
        let there = table(&database, "orders");
        let options = CopyOptions {
            overwrite: true,
            verify: tidemill_sql::Verify::Counts,
            ..creating()
        };
        session
            .copy_query("SELECT id, name FROM orders", &there, &options, |_| {})
            .await
            .expect("copied");
        // A position cannot be kept there, so nothing is sent.
        let source = session.locate("orders.dbf").await.expect("a table");
        let followed = session.follow(&source, &there, &options).await;
        assert!(matches!(followed, Err(Error::Unsupported { .. })), "{database}");
        let bad = "SELECT id, CAST(name AS INT) AS name FROM orders";
        session
            .copy_query(bad, &there, &options, |_| {})
            .await
            .expect_err("no number");
        assert_eq!(
            csv(&session, "SELECT name FROM db.orders ORDER BY id LIMIT 1").await,
            "Ada\n",
            "{database}"
        );
        csv(&session, "DROP TABLE orders").await;
    }
}

#[tokio::test]
async fn a_driver_that_cannot_be_had_is_said_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (database, said) in [
        ("adbc:driver=/no/such/lib.so;uri=x", "/no/such/lib.so"),
        ("adbc:uri=x;password=geheim", "without a driver"),
    ] {
        let session = Session::new(SessionOptions::default().dir(folder.path()).attach("db", database));
        let message = error(&session, "SELECT * FROM db.orders").await;
        assert!(message.contains(said) && !message.contains("geheim"), "{message}");
    }
}
