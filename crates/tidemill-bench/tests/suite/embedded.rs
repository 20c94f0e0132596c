//! Runs against tables in this process: the whole way from the command line to the report.

use std::time::{Duration, Instant};

use crate::common::{Bench, Ran};

const SCRIPT: &str = r#"
const ROWS = latte::param!("rows", 100);
pub async fn schema(ctx) {
    ctx.execute("CREATE TABLE t (id Integer, name Char(10), price Numeric(8,2), day Date, yes Logical)").await?;
    ctx.execute("CREATE INDEX id ON t (id)").await?;
}
pub async fn erase(ctx) { ctx.execute("DELETE FROM t").await?; }
pub async fn prepare(ctx) {
    ctx.load_cycle_count = ROWS;
    ctx.prepare("insert", "INSERT INTO t (id, name, price, yes) VALUES (:id, :Name, :price, :yes)").await?;
    ctx.prepare("read", "SELECT id, name, price, yes FROM t WHERE id = ?").await?;
}
pub async fn load(ctx, i) {
    ctx.execute_prepared("insert", #{ id: i, Name: `row ${i}`, price: i as f64 / 4.0, yes: i % 2 == 0 }).await
}
pub async fn run(ctx, i) {
    let n = i % ROWS;
    let rows = ctx.execute_prepared_with_result("read", [n]).await?;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].id, n);
    assert_eq!(rows[0].name.trim_end(), `row ${n}`);
    assert_eq!(rows[0].yes, n % 2 == 0);
    ctx.execute_prepared_with_validation("read", [n], [1]).await?;
    ctx.execute_prepared_with_validation("read", [-1], [0, 0, "nobody"]).await?;
    ctx.execute_with_validation("SELECT * FROM t", [ROWS]).await?;
    ctx.execute_with_validation("SELECT COUNT(*) FROM t", [ROWS, "counted"]).await?;
    assert_eq!(ctx.execute_with_result("SELECT COUNT(*) AS n FROM t").await?[0].n, ROWS);
}
"#;

fn bench(address: &str) -> Bench {
    let bench = Bench::new(address);
    bench.write("w.rn", SCRIPT);
    bench
}

#[test]
fn schema_load_and_run_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(&format!("xbase:{}?durability=none", folder.path().display()));
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["load", "w.rn", "-t", "2"]).good();
    // Erased and loaded again, there are as many as before.
    bench.run(&["load", "w.rn", "-q"]).good();
    let ran = bench
        .run(&["run", "w.rn", "-d", "50", "-t", "2", "-p", "4", "-o", "r.json"])
        .good();
    assert!(ran.out.contains("Cycles/s"), "{}", ran.out);
    let results = &bench.results("r.json")[0];
    assert_eq!(results["cycles"], 50);
    assert_eq!(results["requests"], 300);
    assert_eq!(results["statements"]["read"]["requests"], 150);
    assert_eq!(results["statements"]["read"]["rows"], 100);
    assert_eq!(results["statements"]["unprepared"]["requests"], 150);
    bench
        .run(&["run", "w.rn", "-d", "1", "-f", "load", "-o", "r.json"])
        .good();
}

#[test]
fn tables_in_memory_are_made_by_the_run_itself() {
    let bench = bench("mem:");
    bench
        .run(&["run", "w.rn", "-d", "20", "-t", "2", "-P", "rows=10", "-o", "r.json"])
        .good();
    bench.run(&["load", "w.rn"]).good();
    let ran = bench.run(&["schema", "w.rn"]).good();
    assert!(ran.err.contains("What is in memory ends here"), "{}", ran.err);
}

#[test]
fn rows_that_are_not_as_expected_follow_the_strategy() {
    let bench = bench("mem:");
    let script = SCRIPT.replace("[1]).await?", "[2, \"two\"]).await?");
    bench.write("w.rn", &script);
    let line = ["run", "w.rn", "-d", "3", "-w", "0", "-o", "r.json"];
    bench
        .run(&line)
        .fails(2, "validation: expected 2 rows, found 1 (two): SELECT id, name");
    let ignore = [&line[..], &["--validation-strategy", "ignore"]].concat();
    assert_eq!(bench.run(&ignore).code, Some(1));
    let results = &bench.results("r.json")[0];
    assert_eq!(results["request_errors"]["validation"], 3);
    assert!(results.get("cycle_errors").is_none());
    let retry = [
        &line[..],
        &[
            "--validation-strategy",
            "retry",
            "--retries",
            "2",
            "--retry-delay",
            "1ms",
        ],
    ]
    .concat();
    bench.run(&retry).fails(2, "expected 2 rows");
    assert_eq!(bench.results("r.json")[0]["retries"].as_u64().unwrap() % 2, 0);
}

#[test]
fn batches_are_transactions() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        r#"
        pub async fn schema(ctx) { ctx.execute("CREATE TABLE t (id Integer)").await?; }
        pub async fn prepare(ctx) {
            ctx.prepare("insert", "INSERT INTO t (id) VALUES (?)").await?;
            ctx.prepare("wrong", "INSERT INTO t (id) VALUES (?)").await?;
        }
        pub async fn run(ctx, i) {
            ctx.batch_prepared(["insert", "insert"], [[1], [2]]).await?;
            assert!(ctx.batch_prepared(["insert", "wrong"], [[3], ["no number"]]).await.is_err());
            assert_eq!(ctx.execute_with_result("SELECT id FROM t").await?.len(), 2);
            ctx.batch_prepared_with(["insert", "insert"], [[4], [5]], "unlogged").await?;
            assert_eq!(ctx.execute_with_result("SELECT id FROM t").await?.len(), 4);
            for wrong in [ctx.batch_prepared([], []).await, ctx.batch_prepared(["insert"], []).await,
                          ctx.batch_prepared(["none"], [[1]]).await,
                          ctx.batch_prepared_with(["insert"], [[1]], "odd").await,
                          ctx.batch_prepared_with(["insert"], [[1]], "counter").await] {
                assert!(wrong.is_err());
            }
        }
        "#,
    );
    assert_eq!(
        bench.run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"]).code,
        Some(1)
    );
    assert!(bench.results("r.json")[0].get("cycle_errors").is_none());
}

#[test]
fn what_tables_cannot_do_is_said_when_it_is_prepared() {
    for (prepare, why) in [
        (
            r#"ctx.prepare_with("a", "SELECT 1 FROM t", #{consistency: "ONE"}).await?"#,
            "unsupported: statements over tables",
        ),
        (
            r#"ctx.prepare_with("a", "SELECT 1 FROM t", #{colour: 1}).await?"#,
            "a statement has no option colour",
        ),
        (
            r#"ctx.prepare_with("a", "SELECT 1 FROM t", #{page_size: 0}).await?"#,
            "a number above 0 is expected",
        ),
        (r#"ctx.prepare("a", "SELECT nothing FROM").await?"#, "refused"),
        (
            r#"ctx.prepare("a", "SELECT * FROM t JOIN t u ON t.id = u.id").await?; ctx.execute("SELECT * FROM t JOIN t u ON t.id = u.id").await?"#,
            "unsupported",
        ),
    ] {
        let bench = Bench::new("mem:");
        bench.write(
            "w.rn",
            &format!(
                "pub async fn schema(ctx) {{ ctx.execute(\"CREATE TABLE t (id Integer)\").await?; }}\n\
                 pub async fn prepare(ctx) {{ {prepare}; }}\npub async fn run(ctx, i) {{}}"
            ),
        );
        bench.run(&["run", "w.rn", "-d", "1"]).fails(2, why);
    }
    let bench = Bench::new("mem:");
    let script = "pub async fn schema(ctx) { ctx.execute(\"CREATE TABLE t (id Integer)\").await?; }
        pub async fn prepare(ctx) { ctx.prepare(\"q\", \"SELECT * FROM t WHERE id = ?\").await?; }
        pub async fn run(ctx, i) { ctx.execute_prepared(\"q\", PARAMETERS).await? }";
    for (parameters, why) in [
        ("[]", "the statement has 1 parameters, found 0 values"),
        ("(1, 2)", "the statement has 1 parameters, found 2 values"),
        ("5", "parameters are a list, a tuple, an object or a struct"),
        ("[[1]]", "a table's field holds no"),
    ] {
        bench.write("w.rn", &script.replace("PARAMETERS", parameters));
        bench.run(&["run", "w.rn", "-d", "1"]).fails(2, why);
    }
    bench.write("w.rn", &script.replace("\"q\", PARAMETERS", "\"none\", []"));
    bench
        .run(&["run", "w.rn", "-d", "1"])
        .fails(2, "no statement was prepared as \"none\"");
}

#[test]
fn functions_share_cycles_by_weight() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        "pub async fn a(ctx, i) {}\npub async fn b(ctx, i) {}\npub async fn c(ctx, i) {}\n",
    );
    let line = [
        "run",
        "w.rn",
        "-d",
        "20000",
        "-o",
        "r.json",
        "-f",
        "a:0.2",
        "-f",
        "b:0.8,c:0",
    ];
    bench.run(&line).good();
    let functions = &bench.results("r.json")[0]["functions"];
    let cycles = |name: &str| functions[name]["cycles"].as_u64().unwrap_or(0);
    // Four deviations of a binomial distribution.
    assert!(cycles("a").abs_diff(4000) < 4 * 57, "{}", cycles("a"));
    assert_eq!(cycles("a") + cycles("b"), 20_000);
    assert_eq!(cycles("c"), 0);
    bench
        .run(&["run", "w.rn", "-f", "a:0"])
        .fails(2, "no function has a weight above 0");
    bench.run(&["run", "w.rn", "-f", "d"]).fails(2, "no function d");
}

#[test]
fn numbers_of_cycles_begin_and_end_as_they_are_told() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { assert!(i >= 10 && i < 13); ctx.record_metric(\"i\", i); }",
    );
    let line = [
        "run",
        "w.rn",
        "-d",
        "9",
        "-w",
        "0",
        "--start-cycle",
        "10",
        "--end-cycle",
        "13",
        "-o",
        "r.json",
    ];
    bench.run(&line).good();
    let metric = &bench.results("r.json")[0]["metrics"]["i"];
    assert_eq!(
        (&metric["min"], &metric["max"], &metric["mean"]["value"]),
        (&10.0.into(), &12.0.into(), &11.0.into())
    );
    bench
        .run(&["run", "w.rn", "--start-cycle", "3", "--end-cycle", "3"])
        .fails(2, "must be above the first");
}

#[test]
fn a_rate_is_kept_and_late_cycles_count_their_wait() {
    let bench = Bench::new("mem:");
    // The script stalls once for about 200 ms: at 500 a second, the 100 cycles that were due meanwhile waited for it.
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { if i == 250 { let start = ctx.elapsed_secs(); while ctx.elapsed_secs() < start + 0.2 {} } }",
    );
    let line = [
        "run", "w.rn", "-d", "2s", "-r", "500", "-p", "4", "-w", "0", "-o", "r.json", "-s", "500ms",
    ];
    bench.run(&line).good();
    let results = &bench.results("r.json")[0];
    let cycles = results["cycles"].as_u64().unwrap();
    assert!(cycles.abs_diff(1000) <= 2, "{cycles}");
    let percentile = |kind: &str, name: &str| {
        let all = results[kind]["percentiles"].as_array().unwrap();
        let found = all
            .iter()
            .find(|p| p["percent"] == serde_json::json!(name.parse::<f64>().unwrap()));
        found.unwrap_or_else(|| panic!("{all:?}"))["value"].as_f64().unwrap()
    };
    // A tenth of the cycles waited, evenly from 0 to 200 ms: a share x of all waited more than 200 (1 - 10 x) ms.
    let theory = |share: f64| 200.0 * (1.0 - 10.0 * share);
    for (name, share) in [("95", 0.05), ("98", 0.02), ("99", 0.01)] {
        let found = percentile("cycle_latency_ms", name);
        assert!(
            (found - theory(share)).abs() < 30.0,
            "p{name}: {found}, {}",
            theory(share)
        );
    }
    assert!(percentile("service_time_ms", "99") < 20.0);
}

/// Throughput is over the time that the run was to take, not until its last cycle ended.
#[test]
fn low_rates_are_measured_as_they_are() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) {}\npub async fn slow(ctx, i) { if i < 0 {} }",
    );
    for function in ["run", "slow"] {
        for extent in ["1500ms", "6"] {
            for threads in ["1", "4"] {
                let line = [
                    "run", "w.rn", "-r", "4", "-d", extent, "-t", threads, "-w", "0", "-s", "400ms",
                ];
                bench
                    .run(&[&line[..], &["-f", function, "-q", "-o", "r.json"]].concat())
                    .good();
                let results = &bench.results("r.json")[0];
                let what = format!("{function} {extent} {threads}: {results}");
                assert_eq!(results["cycles"], 6, "{what}");
                let rate = results["cycles_per_s"]["value"].as_f64().unwrap();
                assert!((3.9..=4.001).contains(&rate), "{what}");
                assert!(results["elapsed_s"].as_f64().unwrap() > 1.499, "{what}");
                // Three of 0.4 s, and what is left.
                assert_eq!(results["samples"], 4, "{what}");
            }
        }
    }
}

#[test]
fn cycles_that_could_not_begin_are_counted() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { let start = ctx.elapsed_secs(); while ctx.elapsed_secs() < start + 0.02 {} }
         pub async fn empty(ctx, i) {}",
    );
    for (function, rate, due) in [("run", "200", 100), ("empty", "100000000", 50_000_000)] {
        let line = [
            "run", "w.rn", "-d", "500ms", "-p", "3", "-t", "2", "-w", "0", "-o", "r.json",
        ];
        let ran = bench.run(&[&line[..], &["-f", function, "-r", rate]].concat()).good();
        let results = &bench.results("r.json")[0];
        let unstarted = results["unstarted_cycles"].as_u64().unwrap();
        assert_eq!(results["cycles"].as_u64().unwrap() + unstarted, due, "{results}");
        let warning = format!("warning: {unstarted} cycles were due that could not begin");
        assert!(ran.out.contains(&warning), "{}", ran.out);
        let page = bench.file("page.html").display().to_string();
        let mut export = std::process::Command::new(env!("CARGO_BIN_EXE_tidemill-bench"));
        let report = bench.file("r.json").display().to_string();
        let export = export
            .args(["export", "--html", &report, "-o", &page])
            .output()
            .unwrap();
        Ran::from(export).good();
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&warning["warning: ".len()..]), "{page}");
        let ran = bench.run(&[&line[..], &["-f", function, "-r", rate, "--format", "csv"]].concat());
        assert!(
            ran.err.contains("could not begin") && ran.out.contains(",unstarted_cycles,"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn calls_that_nobody_awaits_are_warned_of() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        r#"
        pub async fn schema(ctx) { ctx.execute("CREATE TABLE t (id Integer)").await?; }
        pub async fn prepare(ctx) { ctx.prepare("q", "SELECT id FROM t WHERE id = ?").await?; }
        pub async fn returned(ctx, i) { ctx.execute_prepared("q", [i]) }
        pub async fn dropped(ctx, i) { ctx.execute_prepared("q", [i]); ctx.execute_with_result("SELECT id FROM t"); }
        async fn own(ctx, i) { ctx.execute_prepared("q", [i]).await }
        pub async fn owned(ctx, i) { own(ctx, i) }
        pub async fn good(ctx, i) { let a = ctx.execute_prepared("q", [i]); ctx.execute_prepared("q", [i]).await?; a.await }
        "#,
    );
    for (function, expected) in [
        ("returned", serde_json::json!({"execute_prepared": 20})),
        (
            "dropped",
            serde_json::json!({"execute_prepared": 20, "execute_with_result": 20}),
        ),
        ("owned", serde_json::json!({"a function of the script": 20})),
        ("good", serde_json::Value::Null),
    ] {
        let ran = bench
            .run(&["run", "w.rn", "-d", "20", "-t", "2", "-f", function, "-o", "r.json"])
            .good();
        let found = &bench.results("r.json")[0]["unawaited_calls"];
        assert_eq!(found, &expected, "{function}");
        assert_eq!(
            ran.out.contains("is an .await missing?"),
            !expected.is_null(),
            "{}",
            ran.out
        );
    }
    bench.write(
        "w.rn",
        "pub async fn prepare(ctx) { ctx.execute(\"SELECT 1\"); }\npub async fn run(ctx, i) {}",
    );
    let ran = bench.run(&["run", "w.rn", "-d", "1", "-o", "r.json"]).good();
    assert!(
        ran.err.contains("1 calls of execute in prepare were not awaited"),
        "{}",
        ran.err
    );
}

#[test]
fn a_warm_up_keeps_the_rate() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let line = ["run", "w.rn", "-r", "50", "-w", "1s", "-d", "5", "-o", "r.json"];
    bench.run(&line).good();
    let text = std::fs::read_to_string(bench.file("r.json")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let warm_up: Vec<_> = lines.filter(|line| line["sample"]["warm_up"] == true).collect();
    assert_eq!(warm_up.len(), 1);
    assert_eq!(warm_up[0]["sample"]["functions"]["run"]["cycles"], 50);
}

#[test]
fn workers_prepare_what_cannot_be_copied() {
    let bench = Bench::new("mem:");
    bench.write("rows.bin", "0123456789");
    bench.write(
        "w.rn",
        r#"
        pub async fn schema(ctx) { ctx.execute("CREATE TABLE t (id Integer)").await?; }
        pub async fn prepare(ctx) {
            ctx.data.file = "rows.bin";
            ctx.load_cycle_count = 10;
            ctx.init_partition_row_distribution_preset("main", 100, 5, "50:1,50:3").await?;
            ctx.set_partition_batch_size("main", 4).await?;
        }
        pub async fn prepare_worker(ctx) {
            ctx.data.open = fs::open_binary(ctx.data.file)?;
            ctx.prepare("insert", "INSERT INTO t (id) VALUES (?)").await?;
        }
        pub async fn load(ctx, i) { run(ctx, i).await; }
        pub async fn run(ctx, i) {
            ctx.data.open.seek(i % 10)?;
            assert_eq!(ctx.data.open.read_u8()?, 48 + i % 10);
            let batch = ctx.get_partition_batch("main", i).await?;
            assert!(batch.rows.len() >= 1 && batch.rows.len() <= 4);
            for row in batch.rows {
                assert_eq!(ctx.get_partition_info("main", row).await.idx, batch.idx);
                ctx.execute_prepared("insert", [row]).await?;
            }
        }
        "#,
    );
    let ran = bench
        .run(&["run", "w.rn", "-d", "30", "-t", "3", "-o", "r.json"])
        .good();
    assert!(
        ran.err.contains("batches of at most 4 rows have every row once"),
        "{}",
        ran.err
    );
    bench.run(&["load", "w.rn", "-t", "2"]).good();
    for (hook, why) in [
        (
            "ctx.record_metric(\"m\", 1)",
            "record_metric is for the functions that are measured",
        ),
        ("ctx.set_report_field(\"a\", \"b\")", "set_report_field is for schema"),
        ("ctx.declare_metric(\"m\", \"lower\")", "declare_metric is for schema"),
        ("return Err(\"no\")", "function prepare_worker failed: no"),
    ] {
        bench.write(
            "w.rn",
            &format!("pub async fn prepare_worker(ctx) {{ {hook}; }}\npub async fn run(ctx, i) {{}}"),
        );
        bench.run(&["run", "w.rn", "-d", "1"]).fails(2, why);
    }
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { ctx.get_partition_batch(\"none\", i).await?; }",
    );
    bench
        .run(&["run", "w.rn", "-d", "1"])
        .fails(2, "there is no preset \"none\"");
}

#[test]
fn a_run_that_is_too_slow_is_ended() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let start = Instant::now();
    let line = [
        "run", "w.rn", "-r", "50", "-d", "60s", "-s", "100ms", "-o", "r.json", "--repeat", "3",
    ];
    let ran = bench.run(&[&line[..], &["--abort-below", "60", "--abort-after", "500ms"]].concat());
    let ran = ran.fails(
        1,
        "error: The run was ended, since its throughput was below --abort-below",
    );
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(ran.out.contains("warning: the run was ended: "), "{}", ran.out);
    let results = bench.results("r.json");
    assert_eq!(
        (results.len(), &results[0]["aborted"]["below_per_s"]),
        (1, &60.0.into())
    );
    // What is fast enough goes on.
    let line = [
        "run",
        "w.rn",
        "-r",
        "50",
        "-d",
        "1s",
        "-s",
        "100ms",
        "-o",
        "r.json",
        "--abort-below",
        "5",
    ];
    bench.run(&[&line[..], &["--abort-after", "500ms"]].concat()).good();
}

/// The script stalls once for 400 ms: 200 cycles were due meanwhile, and are left out but for those of the last 10 ms.
#[test]
fn a_stall_is_not_made_up_for_where_that_is_not_wanted() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { if i == 50 { let start = ctx.elapsed_secs(); while ctx.elapsed_secs() < start + 0.4 {} } }",
    );
    let line = [
        "run",
        "w.rn",
        "-r",
        "500",
        "-d",
        "1s",
        "-w",
        "0",
        "-s",
        "100ms",
        "-o",
        "r.json",
        "--no-catch-up",
    ];
    let ran = bench.run(&line).good();
    let results = &bench.results("r.json")[0];
    let cycles = results["cycles"].as_u64().unwrap();
    assert_eq!(cycles + results["unstarted_cycles"].as_u64().unwrap(), 500, "{results}");
    assert!(cycles <= 320, "{cycles}");
    assert!(ran.out.contains("cycles were due that could not begin"), "{}", ran.out);
}

#[test]
fn an_interrupted_run_prints_and_saves_what_it_measured() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let mut command = bench.command(&["run", "w.rn", "-d", "60s", "-r", "100", "-o", "r.json", "-s", "200ms"]);
    let start = Instant::now();
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let report = bench.file("r.json");
    while std::fs::read_to_string(&report).map_or(0, |text| text.lines().count()) < 4 {
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(start.elapsed() < Duration::from_secs(40));
    assert!(bench.results("r.json")[0]["cycles"].as_u64().unwrap() > 10);
    assert!(ran.out.contains("Cycles/s"));
}

#[test]
fn runs_are_repeated_and_compared() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    bench
        .run(&["run", "w.rn", "-d", "100", "--repeat", "3", "-o", "a.json"])
        .good();
    assert_eq!(bench.results("a.json").len(), 3);
    let line = [
        "run", "w.rn", "-d", "100", "-o", "b.json", "-b", "a.json", "--format", "jsonl",
    ];
    let ran = bench.run(&line).good();
    for row in ran.out.lines() {
        serde_json::from_str::<serde_json::Value>(row).unwrap();
    }
    bench.run(&["run", "w.rn", "-b", "none.json"]).fails(2, "none.json");
    assert!(!bench.file("c.json").exists());
}

#[test]
fn addresses_that_mean_nothing_are_refused() {
    for (address, why) in [
        ("xbase:/no/such/folder", "it is no folder"),
        (
            "xbase:/tmp?durability=maybe",
            "expected durability=commit, group or none",
        ),
        ("ftp://host", "expected host[:port]"),
        ("mem", "found mem without its colon"),
        ("clickhouse://host:port", "port"),
        ("cql://127.0.0.1:1", "cannot connect to cql://127.0.0.1:1"),
        ("clickhouse://127.0.0.1:1", "cannot connect"),
    ] {
        let bench = Bench::new(address);
        bench.write("w.rn", "pub async fn run(ctx, i) {}");
        bench.run(&["run", "w.rn", "-d", "1"]).fails(2, why);
    }
}

#[test]
fn bundled_workloads_run() {
    crate::common::bundled_workloads_run("mem:");
    let folder = tempfile::tempdir().unwrap();
    crate::common::bundled_workloads_run(&format!("xbase:{}", folder.path().display()));
}

#[test]
fn the_highest_rate_that_keeps_a_latency_is_found() {
    let bench = Bench::new("mem:");
    // A cycle takes 1 ms of the one thread there is, so some 1000 a second are possible.
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { let start = ctx.elapsed_secs(); while ctx.elapsed_secs() < start + 0.001 {} }",
    );
    let line = [
        "run",
        "w.rn",
        "--find-max",
        "--p99",
        "100ms",
        "-d",
        "300ms",
        "-s",
        "100ms",
        "-p",
        "8",
        "-o",
        "r.json",
        "-q",
    ];
    let ran = bench.run(&line).good();
    let results = &bench.results("r.json")[0];
    let rate = results["cycles_per_s"]["value"].as_f64().unwrap();
    assert!((50.0..=1000.0).contains(&rate), "{rate}: {}", ran.err);
    assert!(ran.err.contains("in 3 of 3 more runs"), "{}", ran.err);
    assert!(
        ran.err.contains("in 46 runs at most of 300ms each: 13.8s..."),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("The rate that one run in two keeps lies between "),
        "{}",
        ran.err
    );
    let line = [
        "run",
        "w.rn",
        "--find-max",
        "--p99",
        "1us",
        "-d",
        "100ms",
        "-p",
        "8",
        "-o",
        "r.json",
        "-q",
    ];
    let ran = bench.run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("No rate from 1/s on keeps a p99 of 0.001 ms"),
        "{}",
        ran.err
    );
    bench.run(&["run", "w.rn", "--find-max"]).fails(2, "--p99");
}

#[test]
fn histograms_are_logged_and_served_while_the_run_goes() {
    use std::io::{Read as _, Write as _};
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("127.0.0.1:{port}");
    let line = [
        "run",
        "w.rn",
        "-d",
        "3s",
        "-r",
        "100",
        "-s",
        "100ms",
        "--hdrfile",
        "r.hdr",
        "--prometheus",
        &address,
        "-o",
        "r.json",
    ];
    let running = bench
        .command(&line)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut answer = String::new();
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(25));
        let Ok(mut stream) = std::net::TcpStream::connect(&address) else {
            continue;
        };
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        answer.clear();
        stream.read_to_string(&mut answer).unwrap();
        if answer.contains("function=\"run\"") {
            break;
        }
    }
    assert!(answer.contains("function=\"run\""), "{answer}");
    Ran::from(running.wait_with_output().unwrap()).good();
    let log = std::fs::read_to_string(bench.file("r.hdr")).unwrap();
    assert!(
        log.lines().filter(|line| line.starts_with("Tag=fn--run,")).count() >= 20,
        "{log}"
    );
    bench
        .run(&["run", "w.rn", "-d", "1", "--prometheus", "nonsense"])
        .fails(2, "nonsense");
}

/// Whoever reads the output of a run may stop reading; the report is written all the same.
#[test]
fn a_closed_pipe_ends_no_run() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let mut command = bench.command(&["run", "w.rn", "-r", "100", "-d", "600ms", "-s", "50ms", "-o", "r.json"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("Saved report") && !ran.err.contains("panicked"),
        "{}",
        ran.err
    );
    let results = &bench.results("r.json")[0];
    let unstarted = results.get("unstarted_cycles").and_then(serde_json::Value::as_u64);
    assert_eq!(
        results["cycles"].as_u64().unwrap() + unstarted.unwrap_or(0),
        60,
        "{results}"
    );
}

#[test]
fn runs_start_at_an_agreed_time() {
    let bench = Bench::new("mem:");
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    let at = chrono::Utc::now() + chrono::TimeDelta::seconds(2);
    let start = Instant::now();
    bench
        .run(&["run", "w.rn", "-d", "1", "-o", "r.json", "--start-at", &at.to_rfc3339()])
        .good();
    assert!(start.elapsed() >= Duration::from_millis(1900), "{:?}", start.elapsed());
    bench
        .run(&["run", "w.rn", "-d", "1", "--start-at", "noon"])
        .fails(2, "expected a time");
}
