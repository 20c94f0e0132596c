//! Statements of the user's own on a real server.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::Duration;

use arrow_cast::display::array_value_to_string;
use tidemill_postgres::{Answer, Client, Error, Options, Session};
use tidemill_testkit::Postgres;

/// Rows as texts, columns apart by `|`, or the number of changed rows.
async fn shown(answer: Answer) -> Result<String, Error> {
    let mut rows = match answer {
        Answer::Changed(None) => return Ok("done".to_owned()),
        Answer::Changed(Some(changed)) => return Ok(format!("{changed} changed")),
        Answer::Rows(rows) => rows,
    };
    let names: Vec<String> = rows
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let mut lines = vec![names.join("|")];
    while let Some(batch) = rows.next().await? {
        for row in 0..batch.num_rows() {
            let cells = batch
                .columns()
                .iter()
                .map(|column| array_value_to_string(column, row).unwrap());
            lines.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    Ok(lines.join(" / "))
}

async fn run(session: &Session, text: &str) -> Result<String, Error> {
    shown(session.run(text).await?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_statement_is_answered() {
    let Some(server) = Postgres::need() else { return };
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    let client = Client::connect(options).await.unwrap();
    let session = client.session().await.unwrap();
    for (text, expected) in [
        ("CREATE TABLE t (n int, host inet, at timestamptz)", "done"),
        (
            "INSERT INTO t VALUES (1, '10.0.0.1', '2024-01-01 00:00Z'), (2, NULL, NULL)",
            "2 changed",
        ),
        (
            "UPDATE t SET n = n + 1 RETURNING n, at",
            "n|at / 2|2024-01-01T00:00:00Z / 3|",
        ),
        (
            "WITH gone AS (DELETE FROM t WHERE n = 3 RETURNING n) SELECT * FROM gone",
            "n / 3",
        ),
        ("SELECT n, host, n AS n FROM t ORDER BY n", "n|host|n / 2|10.0.0.1/32|2"),
        ("TABLE t LIMIT 0", "n|host|at"),
        ("SHOW server_encoding", "server_encoding / UTF8"),
        ("EXPLAIN (COSTS off) SELECT 1", "QUERY PLAN / Result"),
        (
            "SET application_name = 'x'; SHOW application_name",
            "application_name / x",
        ),
        ("SELECT 1; SELECT ';' AS c; -- the end", "c / ;"),
        ("SELECT pg_sleep(0)", "pg_sleep / "),
        ("DO $$ BEGIN PERFORM 1; END $$", "done"),
        (
            "BEGIN; DELETE FROM t; ROLLBACK; SELECT count(*), sum(n), avg(n) FROM t",
            "count|sum|avg / 1|2|2.0000000000000000",
        ),
        ("", "done"),
        ("SELECT", " / "),
    ] {
        assert_eq!(run(&session, text).await.unwrap(), expected, "{text}");
    }
    for (text, named) in [
        ("SELECT 1; SELEC 2; CREATE TABLE never ()", "42601"),
        ("SELECT * FROM \"T\"", "42P01"),
        ("UPDATE t SET n = n RETURNING host", "cast it to text"),
        ("COPY t TO STDOUT", "COPY from and to the client"),
        ("SELECT $1::int", "0 values for 1 parameters"),
    ] {
        let error = run(&session, text).await.unwrap_err().to_string();
        assert!(error.contains(named), "{text}: {error}");
    }
    assert_eq!(server.psql("SELECT to_regclass('never') IS NULL").unwrap(), "t\n");
    for (text, values, expected) in [
        (
            "SELECT $1::int + 1 AS c, $2::text AS d, $3::timestamptz AS e",
            vec![Some("41"), None, Some("2024-01-01 01:00+01")],
            "c|d|e / 42||2024-01-01T00:00:00Z",
        ),
        ("SELECT host FROM t WHERE n = $1", vec![Some("2")], "host / 10.0.0.1/32"),
        ("INSERT INTO t (n) VALUES ($1)", vec![Some("7")], "1 changed"),
    ] {
        let answer = session.run_with(text, &values).await.unwrap();
        assert_eq!(shown(answer).await.unwrap(), expected, "{text}");
    }
    let error = session.run_with("SELECT $1::int", &[Some("x")]).await;
    let error = match error {
        Ok(answer) => shown(answer).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.sqlstate(), Some("22P02"));
    assert_eq!(client.execute("DELETE FROM t").await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_nobody_wants_are_stopped_and_the_session_goes_on() {
    let Some(server) = Postgres::need() else { return };
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    let session = Client::connect(options).await.unwrap().session().await.unwrap();
    run(&session, "SET application_name = 'kept'").await.unwrap();
    let Answer::Rows(mut rows) = session.run("SELECT generate_series(1, 1000000000) AS n").await.unwrap() else {
        panic!("no rows")
    };
    assert_eq!(rows.next().await.unwrap().unwrap().num_rows(), 8192);
    drop(rows);
    let limit = Duration::from_secs(20);
    // The wish to stop may come when the next statement runs already.
    let answer = tokio::time::timeout(limit, async {
        loop {
            match run(&session, "SHOW application_name").await {
                Err(error) if error.sqlstate() == Some("57014") => {}
                answer => break answer.unwrap(),
            }
        }
    });
    assert_eq!(answer.await.unwrap(), "application_name / kept");
}
