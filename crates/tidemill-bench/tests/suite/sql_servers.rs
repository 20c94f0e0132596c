//! Runs against a real PostgreSQL, and against SQLite in this process.

use std::time::{Duration, Instant};

use crate::common::{Bench, a_statement_fails};
use tidemill_testkit::Postgres;

const SCRIPT: &str = r#"
pub async fn schema(ctx) {
    ctx.execute("DROP TABLE IF EXISTS t").await?;
    ctx.execute("CREATE TABLE t (id bigint PRIMARY KEY, name text, f double precision, n integer, b BYTES)").await?;
}
pub async fn erase(ctx) { ctx.execute("DELETE FROM t").await?; }
pub async fn prepare(ctx) {
    ctx.load_cycle_count = 20;
    ctx.prepare("insert", "INSERT INTO t (id, name, f, n, b) VALUES (?, ?, ?, ?, ?)").await?;
    ctx.prepare("named", "INSERT INTO t (id, name) VALUES (:id, :name)").await?;
    ctx.prepare("read", "SELECT id, name, f, n, b FROM t WHERE id = ?").await?;
}
pub async fn load(ctx, i) {
    ctx.execute_prepared("insert", (i, `it's ${i}`, 0.5, None, latte::blob(i, 4))).await
}
pub async fn run(ctx, i) {
    let n = i % 20;
    let rows = ctx.execute_prepared_with_result("read", [n]).await?;
    assert_eq!(rows.len(), 1);
    let row = rows[0];
    assert_eq!((row.id, row.name, row.f, row.b), (n, `it's ${n}`, 0.5, latte::blob(n, 4)));
    assert!(latte::is_none(row.n));
    ctx.execute_with_validation("SELECT id FROM t WHERE id < 20", [20]).await?;
}
pub async fn batch(ctx, i) {
    ctx.batch_prepared(["named", "named"], [#{ id: 1000 + i, name: "x" }, #{ name: "y", id: 2000 + i }]).await?;
    // The second is there already, so the first is not written either.
    assert!(ctx.batch_prepared(["named", "named"], [[9000, "x"], [1000 + i, "y"]]).await.is_err());
    ctx.execute_with_validation("SELECT id FROM t WHERE id >= 9000", [0]).await?;
    ctx.execute_with_validation(`SELECT id FROM t WHERE id IN (${1000 + i}, ${2000 + i})`, [2]).await?;
}
"#;

fn statements_run(bench: &Bench, bytes: &str) {
    bench.write("w.rn", &SCRIPT.replace("BYTES", bytes));
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["load", "w.rn"]).good();
    let line = ["run", "w.rn", "-d", "40", "-p", "4", "-t", "2", "-o", "r.json"];
    bench.run(&line).good();
    assert_eq!(bench.results("r.json")[0]["statements"]["read"]["rows"], 40);
    let line = [
        "run", "w.rn", "-d", "5", "-p", "1", "-f", "batch", "-w", "0", "-o", "r.json",
    ];
    // Refused batches are errors of requests that the script knows of, and not of cycles.
    let ran = bench.run(&line);
    assert_eq!(bench.results("r.json")[0]["cycles"], 5, "{}", ran.err);
}

/// The run's results, of a cycle that times out and is tried once more.
fn times_out(bench: &Bench, statement: &str) {
    let script = format!(
        "pub async fn run(ctx, i) {{ if i == 0 {{ ctx.execute({statement:?}).await?; }} else {{ ctx.execute(\"SELECT 1\").await?; }} }}"
    );
    bench.write("w.rn", &script);
    let line = [
        "run",
        "w.rn",
        "-d",
        "3",
        "-w",
        "0",
        "-o",
        "r.json",
        "--request-timeout",
        "300ms",
        "-p",
        "1",
        "--retries",
        "1",
        "--retry-delay",
        "1ms",
    ];
    let begin = Instant::now();
    assert_eq!(bench.run(&line).code, Some(1));
    assert!(begin.elapsed() < Duration::from_secs(20));
    let results = &bench.results("r.json")[0];
    assert_eq!(
        (&results["cycle_errors"]["timeout"], &results["retries"]),
        (&1.into(), &1.into())
    );
    assert_eq!(results["cycles"], 3);
}

#[test]
fn a_real_postgres() {
    let Some(mut server) = Postgres::need() else { return };
    let bench = Bench::new(server.url());
    statements_run(&bench, "bytea");
    for (statement, parameters, why) in [
        (
            "SELECT $1::bigint",
            "[\"x\"]",
            "parameter $1: expected bigint, found ::std::string::String",
        ),
        (
            "SELECT :id::smallint",
            "#{id: 70000}",
            "parameter $1 (id): expected smallint, found",
        ),
        ("SELECT ?::date", "[\"noon\"]", "SQLSTATE 22007"),
        ("SELECT ?::int", "[]", "the statement has 1 parameters, found 0 values"),
        ("SELECT nothing FROM nowhere", "[]", "SQLSTATE 42P01"),
    ] {
        let ran = a_statement_fails(&bench, statement, parameters, why);
        assert!(!ran.err.contains("sesame"), "{}", ran.err);
    }
    times_out(&bench, "SELECT pg_sleep(30)");
    let waiting = server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()");
    assert_eq!(waiting.unwrap().trim(), "0");
    crate::common::bundled_workloads_run(&server.url());
    crate::common::the_server_dies_and_comes_back(&bench, "SELECT pg_sleep(0.07)", || server.restart().unwrap());
    let report = std::fs::read_to_string(bench.file("died.json")).unwrap();
    assert!(!report.contains("sesame") && report.contains("PostgreSQL"), "{report}");
}

#[test]
fn sqlite_in_this_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let bench = Bench::new(format!("sqlite:{}", file.display()));
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    bench.run(&["run", "w.rn", "-d", "1"]).fails(2, "there is no such file");
    assert!(!file.exists());
    statements_run(&bench, "blob");
    for (statement, parameters, why) in [
        (
            "SELECT :a",
            "#{a: [1]}",
            "parameter 1 (a): expected an integer, a float, a text, bytes, a truth value or None, found",
        ),
        ("SELECT ?", "[]", "the statement has 1 parameters, found 0 values"),
        ("SELECT nothing FROM nowhere", "[]", "SQLITE_ERROR"),
        ("INSERT INTO t (id) VALUES (?)", "[1]", "SQLITE_CONSTRAINT_PRIMARYKEY"),
    ] {
        a_statement_fails(&bench, statement, parameters, why);
    }
    times_out(
        &bench,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    );
    crate::common::bundled_workloads_run(&format!("sqlite:{}?busy_timeout=5s", file.display()));
    busy_is_counted(&bench, &file);
}

/// Another program has the lock: requests are tried again, then counted.
fn busy_is_counted(bench: &Bench, file: &std::path::Path) {
    let other = rusqlite::Connection::open(file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { ctx.execute(\"DELETE FROM t\").await?; }",
    );
    let line = [
        "run",
        "w.rn",
        "-d",
        "2",
        "-w",
        "0",
        "-o",
        "r.json",
        "--retries",
        "1",
        "--retry-delay",
        "1ms",
    ];
    let ran = bench.run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let results = &bench.results("r.json")[0];
    assert_eq!(
        (&results["cycle_errors"]["locked"], &results["retries"]),
        (&2.into(), &2.into())
    );
    assert!(
        ran.out.contains("SQLITE_BUSY") || ran.err.contains("SQLITE_BUSY"),
        "{}",
        ran.out
    );
}
