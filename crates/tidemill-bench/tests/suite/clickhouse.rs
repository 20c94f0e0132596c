//! Runs against a real ClickHouse.

use crate::common::Bench;
use tidemill_testkit::ClickHouse;

#[test]
fn a_real_clickhouse() {
    let Some(mut server) = ClickHouse::need() else { return };
    let address = format!("clickhouse://default@{}/default", server.native());
    statements_insert_and_select(&address);
    what_it_cannot_do_is_said(&address);
    crate::common::bundled_workloads_run(&address);
    the_server_dies_and_comes_back(&mut server, &address);
}

fn statements_insert_and_select(address: &str) {
    let bench = Bench::new(address);
    bench.write(
        "w.rn",
        r#"
        pub async fn schema(ctx) {
            assert_eq!(latte::target(), "clickhouse");
            ctx.execute("DROP TABLE IF EXISTS t").await?;
            ctx.execute("CREATE TABLE t (id Int64, name String, f Float64, n Nullable(Int32), a Array(UInt8), u UUID, d Date) ENGINE = Memory").await?;
        }
        pub async fn prepare(ctx) {
            ctx.load_cycle_count = 20;
            ctx.prepare("insert", "INSERT INTO t (id, name, f, n, a, u, d) VALUES (?, ?, ?, ?, ?, ?, ?)").await?;
            ctx.prepare("named", "INSERT INTO t (id, name) VALUES").await?;
            ctx.prepare("read", "SELECT id, name, f, n, a, toString(u) AS u, d FROM t WHERE id = ? AND name = ?").await?;
        }
        pub async fn load(ctx, i) {
            ctx.execute_prepared("insert", (i, `it's ${i}`, 0.5, None, [1, 2], latte::uuid(i), "2024-12-31")).await
        }
        pub async fn run(ctx, i) {
            let n = i % 20;
            let rows = ctx.execute_prepared_with_result("read", [n, `it's ${n}`]).await?;
            assert_eq!(rows.len(), 1);
            let row = rows[0];
            assert_eq!((row.id, row.name, row.f, row.a), (n, `it's ${n}`, 0.5, [1, 2]));
            assert!(latte::is_none(row.n));
            assert_eq!(row.u, `${latte::uuid(n)}`);
            assert_eq!(row.d, "2024-12-31");
            ctx.execute_with_validation("SELECT number FROM system.numbers LIMIT 100000", [100000]).await?;
        }
        pub async fn batch(ctx, i) {
            ctx.batch_prepared(["named", "named"], [#{ id: 1000 + i, name: "x" }, #{ name: "y", id: 2000 + i }]).await?;
            ctx.batch_prepared_with(["insert"], [[3000 + i, "z", 1.0, 4, [], "00000000-0000-0000-0000-000000000001", 0]], "unlogged").await?;
            ctx.execute_with_validation(`SELECT id FROM t WHERE id IN (${1000 + i}, ${2000 + i}, ${3000 + i})`, [3]).await?;
        }
        "#,
    );
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["load", "w.rn", "--concurrency", "4"]).good();
    bench
        .run(&["run", "w.rn", "-d", "40", "-p", "4", "-t", "2", "-o", "r.json"])
        .good();
    assert_eq!(bench.results("r.json")[0]["statements"]["read"]["rows"], 40);
    bench
        .run(&[
            "run", "w.rn", "-d", "5", "-p", "1", "-f", "batch", "-w", "0", "-o", "r.json",
        ])
        .good();
}

fn what_it_cannot_do_is_said(address: &str) {
    let bench = Bench::new(address);
    for (prepare, parameters, why) in [
        (
            "\"q\", \"SELECT ?\"",
            "[]",
            "the statement has 1 parameters, found 0 values",
        ),
        ("\"q\", \"SELECT ?\"", "[|x| x]", "no literal for a value"),
        (
            "\"q\", \"INSERT INTO t (id, name) VALUES\"",
            "[1]",
            "the INSERT has 2 columns, found 1 values",
        ),
        (
            "\"q\", \"INSERT INTO t (id, name) VALUES\"",
            "#{ id: 1, nam: 2 }",
            "the INSERT has no column nam",
        ),
        ("\"q\", \"INSERT INTO t (id) VALUES\"", "[\"x\"]", "parameters: "),
        (
            "\"q\", \"INSERT INTO t (id) VALUES\"",
            "5",
            "a row is a list, a tuple or an object",
        ),
        ("\"q\", \"SELECT ? + {a:UInt8}\"", "[]", "either ? or {name:Type}"),
        ("\"q\", \"SELECT nothing FROM nowhere WHERE 1 = ?\"", "[1]", "refused: "),
    ] {
        bench.write(
            "w.rn",
            &format!(
                "pub async fn prepare(ctx) {{ ctx.prepare({prepare}).await?; }}\n\
                 pub async fn run(ctx, i) {{ ctx.execute_prepared(\"q\", {parameters}).await?; }}"
            ),
        );
        bench
            .run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"])
            .fails(2, why);
    }
    for (call, why) in [
        (
            "prepare_with(\"q\", \"SELECT 1\", #{consistency: \"ONE\"})",
            "unsupported: ClickHouse has no consistency",
        ),
        (
            "prepare_with(\"q\", \"SELECT 1\", #{page_size: 5})",
            "unsupported: ClickHouse has no pages",
        ),
        // The server of the tests is of 2018.
        (
            "prepare(\"q\", \"SELECT {a:UInt8}\")",
            "has no parameters {name:Type}; use ?",
        ),
    ] {
        bench.write(
            "w.rn",
            &format!("pub async fn prepare(ctx) {{ ctx.{call}.await?; }}\npub async fn run(ctx, i) {{}}"),
        );
        bench.run(&["run", "w.rn", "-d", "1"]).fails(2, why);
    }
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { ctx.execute(\"SELECT sleep(3)\").await?; }",
    );
    let line = [
        "run",
        "w.rn",
        "-d",
        "1",
        "-w",
        "0",
        "-o",
        "r.json",
        "--request-timeout",
        "300ms",
        "--retries",
        "1",
        "--retry-delay",
        "1ms",
    ];
    assert_eq!(bench.run(&line).code, Some(1));
    let results = &bench.results("r.json")[0];
    assert_eq!(
        (&results["cycle_errors"]["timeout"], &results["retries"]),
        (&1.into(), &1.into())
    );
    bench
        .run(&["run", "w.rn", "--compression", "snappy"])
        .fails(2, "expected lz4");
}

fn the_server_dies_and_comes_back(server: &mut ClickHouse, address: &str) {
    let bench = Bench::new(address);
    crate::common::the_server_dies_and_comes_back(&bench, "SELECT sleep(0.07)", || server.restart().unwrap());
    // The last sample is good again.
    let text = std::fs::read_to_string(bench.file("died.json")).unwrap();
    let samples: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let full = samples
        .iter()
        .filter_map(|line| line.get("sample"))
        .rfind(|sample| sample["duration_s"].as_f64().unwrap() > 0.4);
    let last = full.unwrap();
    assert!(last["functions"]["run"].get("errors").is_none(), "{last}");
}
