//! Statements that need what others left on their connection.

use tidemill_clickhouse::{Error, blocking, client::Client};
use tidemill_testkit::ClickHouse;

const THREADS: &str = "SELECT value FROM system.settings WHERE name = 'max_threads'";

#[tokio::test]
async fn a_session_keeps_tables_and_settings_and_is_never_replaced() {
    let Some(mut server) = ClickHouse::need() else { return };
    let client = Client::connect(&format!("clickhouse://{}/default", server.native()))
        .await
        .unwrap();
    let (session, other) = (client.session().await.unwrap(), client.session().await.unwrap());
    for text in [
        "CREATE TEMPORARY TABLE wanted (id UInt64)",
        "INSERT INTO wanted VALUES (3), (toUInt64(5))",
        "SET max_threads = 7",
    ] {
        session
            .execute(text)
            .await
            .unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    // A row that is left unread, an error and an insert of batches change nothing.
    let mut numbers = session.query("SELECT number FROM system.numbers").await.unwrap();
    numbers.next().await.unwrap();
    drop(numbers);
    let error = session.execute("SELECT nothing").await.expect_err("no such column");
    assert!(matches!(error, Error::Server(_)), "{error:?}");
    let mut insert = session.insert_rows::<(u64,)>("wanted");
    insert.write(&(8,)).await.unwrap();
    insert.finish().await.unwrap();
    for _ in 0..20 {
        let sum: u64 = session
            .query_as("SELECT sum(id) FROM wanted")
            .fetch_one()
            .await
            .unwrap();
        let threads: String = session.query_as(THREADS).fetch_one().await.unwrap();
        assert_eq!((sum, threads.as_str()), (16, "7"));
    }
    for outside in [&client, &other] {
        let threads: String = outside.query_as(THREADS).fetch_one().await.unwrap();
        assert_ne!(threads, "7");
        outside.execute("SELECT count() FROM wanted").await.unwrap_err();
    }
    let error = other.execute("SELEC 1").await.expect_err("no statement");
    assert!(matches!(error, Error::Server(_)), "{error:?}");
    // This server takes what comes behind the text for a packet that does not belong there, and closes the connection.
    let error = other.execute("SELECT 1").await.expect_err("no session");
    assert!(error.to_string().contains("begin a new session"), "{error}");

    server.restart().unwrap();
    for text in [
        THREADS,
        "SELECT 1",
        "INSERT INTO wanted VALUES (1)",
        "SET max_threads = 1",
    ] {
        let error = session.execute(text).await.expect_err(text);
        assert!(
            matches!(error, Error::Closed { .. } | Error::Io { .. }),
            "{text}: {error:?}"
        );
    }
    let error = session.execute("SELECT 1").await.expect_err("no session");
    assert!(error.to_string().contains("begin a new session"), "{error}");
    client.execute("SELECT 1").await.expect("another connection");
}

#[test]
fn a_blocking_session_keeps_tables() {
    let Some(server) = ClickHouse::need() else { return };
    let client = blocking::Client::connect(&format!("clickhouse://{}/default", server.native())).unwrap();
    let session = client.session().unwrap();
    session.execute("CREATE TEMPORARY TABLE wanted (id UInt64)").unwrap();
    session.execute("INSERT INTO wanted VALUES (3)").unwrap();
    let count: u64 = session.query_as("SELECT count() FROM wanted").fetch_one().unwrap();
    assert_eq!(count, 1);
    client.execute("SELECT count() FROM wanted").unwrap_err();
}
