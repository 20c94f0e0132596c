//! Runs against a real Cassandra 5.0: one node for all tests here.

use std::fmt::Write as _;

use crate::common::Bench;
use tidemill_testkit::{Cassandra, NoStorage, Reply};

/// One test, since a node takes a while to start; each part is a function.
#[test]
fn a_real_cassandra() {
    let Some(node) = Cassandra::need() else { return };
    let address = node.native().to_string();
    latte_scripts_run(&address);
    every_type_binds_and_comes_back(&address);
    values_that_do_not_fit_are_named(&address);
    pages_batches_and_options(&address);
    crate::common::bundled_workloads_run(&format!("cql://{address}"));
    failures_are_counted_alike(&node);
    a_server_comes_back(&node);
    the_node_goes_away(node);
}

/// A script in the shape of Latte's own: positional and named parameters, `?` as the last expression, `db` for `ctx`.
fn latte_scripts_run(address: &str) {
    let bench = Bench::new(address);
    bench.write(
        "w.rn",
        r#"
        const ROW_COUNT = latte::param!("rows", 100000);
        const INSERT = "insert";
        const READ = "read";
        const KEYSPACE = "shape";
        const TABLE = "basic";
        pub async fn schema(db) {
            db.execute(`CREATE KEYSPACE IF NOT EXISTS ${KEYSPACE} \
                WITH REPLICATION = { 'class' : 'SimpleStrategy', 'replication_factor' : 1 }`).await?;
            db.execute(`DROP TABLE IF EXISTS ${KEYSPACE}.${TABLE}`).await?;
            db.execute(`CREATE TABLE IF NOT EXISTS ${KEYSPACE}.${TABLE}(id bigint PRIMARY KEY, data text)`).await?;
        }
        pub async fn erase(db) { db.execute(`TRUNCATE TABLE ${KEYSPACE}.${TABLE}`).await }
        pub async fn prepare(db) {
            db.load_cycle_count = ROW_COUNT;
            db.prepare(INSERT, `INSERT INTO ${KEYSPACE}.${TABLE}(id, data) VALUES (:id, :data)`).await?;
            db.prepare(READ, `SELECT * FROM ${KEYSPACE}.${TABLE} WHERE id = :id`).await?;
            assert_eq!(latte::target(), "cql");
            assert_eq!(db.get_datacenters(), ["datacenter1"]);
        }
        pub async fn load(db, i) { db.execute_prepared(INSERT, [i, "Lorem ipsum"]).await? }
        pub async fn run(db, i) { db.execute_prepared(READ, [latte::hash(i) % ROW_COUNT]).await? }
        pub async fn write(db, i) { db.execute_prepared(INSERT, #{ id: i, data: "foo", unused: 1 }).await? }
        "#,
    );
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["load", "w.rn", "-P", "rows=500"]).good();
    let line = [
        "run",
        "w.rn",
        "-P",
        "rows=500",
        "-p",
        "64",
        "-t",
        "2",
        "-d",
        "2000",
        "-f",
        "run:0.8,write:0.2",
        "-o",
        "r.json",
    ];
    bench.run(&line).good();
    let results = &bench.results("r.json")[0];
    assert_eq!(results["requests"], 2000);
    let statements = &results["statements"];
    let requests = |name: &str| statements[name]["requests"].as_u64().unwrap();
    assert_eq!(requests("read") + requests("insert"), 2000);
    // Every read finds its row, and an insert gives none.
    assert_eq!(statements["read"]["rows"].as_u64().unwrap(), requests("read"));
}

fn every_type_binds_and_comes_back(address: &str) {
    let bench = Bench::new(address);
    bench.write(
        "w.rn",
        r#"
        use latte::*;
        struct Point { x, y }
        const COLUMNS = ["i8", "i16", "i32", "i64", "f32", "f64", "yes", "t", "a", "b", "u", "tu", "ip", "ip6", "d", "tm", "ts",
            "dur", "vi", "de", "l", "s", "m", "tup", "pt", "v", "vt", "n", "nested"];
        pub async fn schema(ctx) {
            ctx.execute("CREATE KEYSPACE IF NOT EXISTS shape WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await?;
            ctx.execute("DROP TABLE IF EXISTS shape.types").await?;
            ctx.execute("DROP TABLE IF EXISTS shape.counters").await?;
            ctx.execute("CREATE TYPE IF NOT EXISTS shape.point (x int, y double)").await?;
            ctx.execute("CREATE TABLE IF NOT EXISTS shape.types (k bigint PRIMARY KEY, i8 tinyint, i16 smallint, i32 int, i64 bigint, f32 float,
                f64 double, yes boolean, t text, a ascii, b blob, u uuid, tu timeuuid, ip inet, ip6 inet, d date, tm time, ts timestamp,
                dur duration, vi varint, de decimal, l list<int>, s set<text>, m map<text, bigint>, tup tuple<int, text>,
                pt frozen<point>, v vector<float, 3>, vt vector<text, 2>, n int, nested list<frozen<map<int, frozen<point>>>>)").await?;
            ctx.execute("CREATE TABLE IF NOT EXISTS shape.counters (k bigint PRIMARY KEY, c counter)").await?;
        }
        pub async fn prepare(ctx) {
            let names = join(COLUMNS, ", ");
            let marks = join(vector(COLUMNS.len(), |n| "?"), ", ");
            let named = join(vector(COLUMNS.len(), |n| `:${COLUMNS[n]}`), ", ");
            ctx.prepare("insert", `INSERT INTO shape.types (k, ${names}) VALUES (?, ${marks})`).await?;
            ctx.prepare("named", `INSERT INTO shape.types (k, ${names}) VALUES (:k, ${named})`).await?;
            ctx.prepare("read", "SELECT * FROM shape.types WHERE k = ?").await?;
            ctx.prepare("count", "UPDATE shape.counters SET c = c + ? WHERE k = ?").await?;
            ctx.prepare("counted", "SELECT c FROM shape.counters WHERE k = ?").await?;
        }
        pub async fn run(ctx, i) {
            let values = [1,
                -128, -32768, 2147483647, -9223372036854775807, 0.5, 1.25, true, "grüße", "ascii", blob(1, 20), uuid(1),
                "474ecf70-4fea-11ef-8eba-801023456789", "10.0.0.1", "::1", "2024-12-31", "23:59:59.125", "2024-12-31T23:59:59Z",
                "1y2mo3d4h", "-170141183460469231731687303715884105729", "-12.345", [3, 1, 2], ["b", "a"], #{"one": 1, "two": 2},
                (7, "seven"), Point { x: 3, y: 4.5 }, [1.0, 2.5, -3.0], ["short", text(1, 200)], None,
                [[(1, #{ x: 1, y: 1.0 })], [(2, #{ x: 2 })]]];
            ctx.execute_prepared("insert", values).await?;
            let rows = ctx.execute_prepared_with_result("read", [1]).await?;
            let row = rows[0];
            assert_eq!(row.i8, -128);
            assert_eq!(row.i16, -32768);
            assert_eq!(row.i32, 2147483647);
            assert_eq!(row.i64, -9223372036854775807);
            assert_eq!(row.f32, 0.5);
            assert_eq!(row.f64, 1.25);
            assert_eq!(row.yes, true);
            assert_eq!(row.t, "grüße");
            assert_eq!(row.a, "ascii");
            assert_eq!(row.b, blob(1, 20));
            assert_eq!(row.u, `${uuid(1)}`);
            assert_eq!(row.tu, "474ecf70-4fea-11ef-8eba-801023456789");
            assert_eq!(row.ip, "10.0.0.1");
            assert_eq!(row.ip6, "::1");
            assert_eq!(row.d, 20088 + 2147483648);
            assert_eq!(row.tm, 86399125000000);
            assert_eq!(row.ts, 1735689599000);
            assert_eq!(row.dur, #{ months: 14, days: 3, nanoseconds: 14400000000000 });
            assert_eq!(row.vi, "-170141183460469231731687303715884105729");
            assert_eq!(row.de, "-12.345");
            assert_eq!(row.l, [3, 1, 2]);
            assert_eq!(row.s, ["a", "b"]);
            assert_eq!(row.m, [("one", 1), ("two", 2)]);
            assert_eq!(row.tup, (7, "seven"));
            assert_eq!(row.pt, #{ x: 3, y: 4.5 });
            assert_eq!(row.v, [1.0, 2.5, -3.0]);
            assert_eq!(row.vt, ["short", text(1, 200)]);
            assert!(is_none(row.n));
            assert_eq!(row.nested[0], [(1, #{ x: 1, y: 1.0 })]);
            assert!(is_none(row.nested[1][0].1.y));

            // Numbers for what also has a text, and numbers in place of floats.
            ctx.execute_prepared("named", #{ k: 2, d: 2147483648, tm: 1, ts: 5, vi: 300, de: 7, f64: 3, f32: 2, tup: [1, None],
                m: [("x", 9)], b: [1, 2, 255], dur: #{ days: 2 },
                v: b"\x00\x00\x80\x3f\x00\x00\x20\x40\x00\x00\x40\xc0" }).await?;
            let row = ctx.execute_prepared_with_result("read", [2]).await?[0];
            assert_eq!((row.d, row.tm, row.ts, row.vi, row.de, row.f64, row.f32), (2147483648, 1, 5, 300, "7", 3.0, 2.0));
            assert_eq!(row.b, b"\x01\x02\xff");
            // The floats of a file, four bytes each.
            assert_eq!(row.v, [1.0, 2.5, -3.0]);
            assert!(is_none(row.tup.1) && is_none(row.i32));

            // What an object does not have stays as it is; NULL takes it away.
            ctx.execute_prepared("named", #{ k: 1, i8: 5, i16: None, i32: () }).await?;
            let row = ctx.execute_prepared_with_result("read", [1]).await?[0];
            assert_eq!((row.i8, row.i64), (5, -9223372036854775807));
            assert!(is_none(row.i16) && is_none(row.i32));

            ctx.execute_prepared("count", [5, 1]).await?;
            ctx.execute_prepared("count", [-2, 1]).await?;
            assert_eq!(ctx.execute_prepared_with_result("counted", [1]).await?[0].c, 3);
        }
        "#,
    );
    bench.run(&["schema", "w.rn"]).good();
    bench.run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"]).good();
}

fn values_that_do_not_fit_are_named(address: &str) {
    let bench = Bench::new(address);
    let script = r#"
        pub async fn prepare(ctx) { ctx.prepare("q", "INSERT INTO shape.types (k, @COLUMN) VALUES (:k, :value)").await?; }
        pub async fn run(ctx, i) { ctx.execute_prepared("q", [1, @VALUE]).await?; }"#;
    let mut checks = String::new();
    for (column, value, why) in [
        ("i8", "128", "parameter value: 128 is no tinyint"),
        ("i16", "\"x\"", "parameter value: \"x\" is no smallint"),
        ("i32", "1 << 40", "is no int"),
        ("i64", "1.5", "1.5 is no bigint"),
        ("yes", "1", "1 is no boolean"),
        ("a", "\"ü\"", "is no ascii"),
        ("u", "\"no uuid\"", "is no uuid"),
        ("ip", "\"300.1.1.1\"", "is no inet"),
        ("d", "\"2024-13-01\"", "is no date"),
        ("d", "-1", "is no date"),
        ("tm", "86400000000000", "is no time"),
        ("ts", "\"yesterday\"", "is no timestamp"),
        ("dur", "\"1x\"", "is no duration"),
        ("dur", "#{ weeks: 1 }", "is no duration"),
        ("vi", "\"12a\"", "is no varint"),
        ("de", "\"1.2.3\"", "is no decimal"),
        ("l", "[1, \"x\"]", "\"x\" is no int"),
        ("m", "[(1, 2)]", "1 is no text"),
        ("m", "[1]", "is no map<text, bigint>"),
        ("tup", "(1, \"a\", 3)", "is no tuple<int, text>"),
        ("pt", "#{ z: 1 }", "the type point has no field z"),
        ("pt", "5", "is no point"),
        ("v", "[1.0]", "vector<float, 3> wants 3 items, found 1"),
        ("v", "[1.0, None, 2.0]", "a vector holds no NULL"),
        ("v", "b\"1234567890123\"", "vector<float, 3> wants 12 bytes, found 13"),
        ("b", "[256]", "is no blob"),
        ("n", "|x| x", "is no int"),
    ] {
        writeln!(
            checks,
            "ctx.prepare(\"q\", \"INSERT INTO shape.types (k, {column}) VALUES (:k, :value)\").await?;
             match ctx.execute_prepared(\"q\", [1, {value}]).await {{
                 Err(e) => if e.kind() != \"parameters\" || !`${{e}}`.contains({why:?}) {{ return Err(e); }},
                 Ok(_) => return Err(`{column} takes what is wrong`),
             }}"
        )
        .unwrap();
    }
    bench.write("w.rn", &format!("pub async fn run(ctx, i) {{\n{checks}\n}}"));
    assert_eq!(
        bench.run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"]).code,
        Some(1)
    );
    let results = &bench.results("r.json")[0];
    assert!(results.get("cycle_errors").is_none(), "{results}");
    assert_eq!(results["request_errors"]["parameters"], 27);
    bench.write("w.rn", &script.replace("@COLUMN", "n").replace("[1, @VALUE]", "[1]"));
    bench
        .run(&["run", "w.rn", "-d", "1"])
        .fails(2, "the statement has 2 parameters, found 1 values");
    bench.write("w.rn", &script.replace("@COLUMN", "nothing").replace("@VALUE", "1"));
    bench
        .run(&["run", "w.rn", "-d", "1"])
        .fails(2, "function prepare failed: refused: ");
}

fn pages_batches_and_options(address: &str) {
    let bench = Bench::new(address);
    bench.write(
        "w.rn",
        r#"
        pub async fn schema(ctx) {
            ctx.execute("DROP TABLE IF EXISTS shape.pages").await?;
            ctx.execute("CREATE TABLE IF NOT EXISTS shape.pages (p int, c int, PRIMARY KEY (p, c))").await?;
        }
        pub async fn prepare(ctx) {
            ctx.prepare_with("insert", "INSERT INTO shape.pages (p, c) VALUES (?, ?)", #{consistency: "ONE", idempotent: true}).await?;
            ctx.prepare_with("all", "SELECT * FROM shape.pages WHERE p = 1", #{page_size: 7, timeout: "3s"}).await?;
            ctx.prepare_with("lwt", "INSERT INTO shape.pages (p, c) VALUES (?, ?) IF NOT EXISTS", #{serial_consistency: "SERIAL"}).await?;
            assert!(ctx.prepare_with("x", "SELECT * FROM shape.pages", #{consistency: "most"}).await.is_err());
        }
        pub async fn run(ctx, i) {
            for kind in ["logged", "unlogged"] {
                let keys = [];
                let rows = [];
                for c in 0..50 { keys.push("insert"); rows.push([1, c]); }
                ctx.batch_prepared_with(keys, rows, kind).await?;
            }
            assert_eq!(ctx.execute_prepared_with_result("all", []).await?.len(), 50);
            ctx.execute_prepared_with_validation("all", [], [50]).await?;
            ctx.execute_prepared("lwt", (2, 1)).await?;
            assert!(ctx.batch_prepared_with(["insert"], [[1, 1]], "counter").await.is_err());
        }
        "#,
    );
    bench.run(&["schema", "w.rn"]).good();
    let line = [
        "run",
        "w.rn",
        "-d",
        "1",
        "-w",
        "0",
        "-o",
        "r.json",
        "--page-size",
        "3",
        "--compression",
        "lz4",
        "-c",
        "2",
    ];
    assert_eq!(bench.run(&line).code, Some(1));
    let results = &bench.results("r.json")[0];
    // A request is one, however many pages it has.
    assert_eq!(results["statements"]["all"]["requests"], 2);
    assert_eq!(results["statements"]["all"]["rows"], 100);
    bench.write("w.rn", "pub async fn run(ctx, i) {}");
    bench
        .run(&["run", "w.rn", "--consistency", "most"])
        .fails(2, "there is no consistency \"most\"");
    bench
        .run(&["run", "w.rn", "--serial-consistency", "one"])
        .fails(2, "serial or local_serial");
    bench
        .run(&["run", "w.rn", "--ssl", "--ssl-cert", "x.pem"])
        .fails(2, "go together");
    bench
        .run(&["run", "w.rn", "--ssl", "--ssl-ca", "x.pem", "--ssl-peer-verification"])
        .fails(2, "x.pem");
}

/// Inserts that no server stores: `run` needs no machine, `machine` does.
fn unstored(node: &Cassandra) -> (NoStorage, Bench) {
    let endpoint = NoStorage::start(node.native(), "shape.unstored").unwrap();
    let bench = Bench::new(endpoint.address().to_string());
    bench.write(
        "w.rn",
        "pub async fn schema(ctx) { ctx.execute(\"CREATE TABLE IF NOT EXISTS shape.unstored (a bigint PRIMARY KEY)\").await?; }
         pub async fn prepare(ctx) {
             ctx.prepare_with(\"i\", \"INSERT INTO shape.unstored (a) VALUES (?)\", #{timeout: \"500ms\"}).await?;
             ctx.prepare_with(\"j\", \"INSERT INTO shape.unstored (a) VALUES (?) \", #{timeout: \"500ms\", idempotent: true}).await?;
         }
         pub async fn run(ctx, i) { ctx.execute_prepared(\"i\", [i]).await?; }
         pub async fn twice(ctx, i) { ctx.execute_prepared(\"j\", [i]).await?; }
         pub async fn machine_twice(ctx, i) { if i >= 0 { ctx.execute_prepared(\"j\", [i]).await?; } }
         pub async fn machine(ctx, i) { if i >= 0 { ctx.execute_prepared(\"i\", [i]).await?; } }",
    );
    bench.run(&["schema", "w.rn"]).good();
    (endpoint, bench)
}

/// What a server does wrong is retried and counted in the same way, whether a machine runs the function or not.
fn failures_are_counted_alike(node: &Cassandra) {
    let (endpoint, bench) = unstored(node);
    for function in ["run", "machine"] {
        let run = |cycles: &str, retries: &str| {
            let line = ["run", "w.rn", "-w", "0", "-f", function, "-d", cycles, "-o", "r.json"];
            let retries = ["--retries", retries, "--retry-delay", "1ms"];
            let before = endpoint.answered();
            let ran = bench.run(&[line.as_slice(), &retries].concat());
            (ran, endpoint.answered() - before)
        };
        endpoint.reply(Reply::Void);
        let before = endpoint.answered_past_driver();
        let (ran, answered) = run("20000", "0");
        ran.good();
        let past_driver = endpoint.answered_past_driver() - before;
        assert_eq!((answered, past_driver), (20_000, 20_000), "{function}");
        assert_eq!(bench.results("r.json")[0]["statements"]["i"]["requests"], 20_000);

        // Too much to do, as the server says.
        endpoint.reply(Reply::Error(0x1001));
        let (ran, answered) = run("10", "2");
        assert_eq!((ran.code, answered), (Some(1), 30), "{function}: {}", ran.err);
        let results = &bench.results("r.json")[0];
        assert_eq!(results["cycle_errors"]["overloaded"], 10);
        assert_eq!(results["statements"]["i"]["requests"], 10);
        assert_eq!(results["statements"]["i"]["retries"], 20);

        endpoint.reply(Reply::Silence);
        let (ran, answered) = run("7", "1");
        assert_eq!((ran.code, answered), (Some(1), 14), "{function}: {}", ran.err);
        let results = &bench.results("r.json")[0];
        assert_eq!(results["cycle_errors"]["timeout"], 7);
        assert!(results["elapsed_s"].as_f64().unwrap() >= 1.0);

        // What a cluster says now and then is counted, whatever its number, with the first of its words: a server error, one of
        // truncating, of the protocol, and one that nobody knows.
        for code in [0x0000, 0x1003, 0x000a, 0x7777] {
            endpoint.reply(Reply::Error(code));
            let (ran, answered) = run("10", "0");
            let context = format!("{function}, {code:#x}: {}", ran.err);
            // Sent once, though the statement may be sent again: neither this program nor the driver does.
            assert_eq!((ran.code, answered), (Some(1), 10), "{context}");
            let results = &bench.results("r.json")[0];
            assert_eq!(results["cycle_errors"]["server"], 10, "{context}");
            assert_eq!(results["retries"], 0, "{context}");
            let text = results["error_texts"]["server"].as_str().unwrap();
            assert!(text.contains("told"), "{text}");
            assert!(
                ran.out.contains("the first error of each kind") && ran.out.contains("told"),
                "{}",
                ran.out
            );
        }
        // What the driver sends again is counted: it has leave to for a statement that does no harm twice.
        let idempotent = if function == "run" { "twice" } else { "machine_twice" };
        let line = ["run", "w.rn", "-w", "0", "-f", idempotent, "-d", "10", "-o", "r.json"];
        for (more, resent) in [("--retries=1", 10), ("--retries=0", 0)] {
            endpoint.reply(Reply::Error(0x1003));
            let before = endpoint.answered();
            let ran = bench.run(&[&line[..], &[more]].concat());
            assert_eq!(
                (ran.code, endpoint.answered() - before),
                (Some(1), 10 + resent),
                "{idempotent}: {}",
                ran.err
            );
            assert_eq!(bench.results("r.json")[0]["retries"], resent, "{idempotent} {more}");
        }

        // An invalid statement ends the run.
        endpoint.reply(Reply::Error(0x2200));
        run("1", "3").0.fails(2, "refused: Database returned an error");
    }
}

/// A server that goes away and comes back is found again.
fn a_server_comes_back(node: &Cassandra) {
    let (endpoint, bench) = unstored(node);
    for function in ["run", "machine"] {
        let line = [
            "run", "w.rn", "-d", "6s", "-r", "500", "-w", "0", "-s", "500ms", "-f", function, "-o", "r.json",
        ];
        let begin = endpoint.answered();
        let running = bench
            .command(&line)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while endpoint.answered() < begin + 500 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        endpoint.go_down();
        std::thread::sleep(std::time::Duration::from_millis(500));
        endpoint.come_back();
        let ran = crate::common::Ran::from(running.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(1), "{function}: {}", ran.err);
        let results = &bench.results("r.json")[0];
        let errors = results["cycle_errors"]["connection"].as_u64().unwrap();
        let answered = endpoint.answered() - begin;
        assert!(
            errors > 0 && answered > 1_200,
            "{function}: {errors} errors, {answered} answers"
        );
    }
}

/// A node that dies in mid-run is counted, and the run goes on to its end.
fn the_node_goes_away(node: Cassandra) {
    let bench = Bench::new(node.native().to_string());
    bench.write(
        "w.rn",
        "pub async fn prepare(ctx) { ctx.prepare(\"q\", \"SELECT * FROM system.local\").await?; }
         pub async fn run(ctx, i) { ctx.execute_prepared(\"q\", []).await?; }",
    );
    let mut command = bench.command(&[
        "run", "w.rn", "-d", "4s", "-r", "200", "-w", "0", "-s", "500ms", "-o", "r.json",
    ]);
    let running = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while std::fs::read_to_string(bench.file("r.json")).map_or(0, |text| text.lines().count()) < 3 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    drop(node);
    let ran = crate::common::Ran::from(running.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let results = &bench.results("r.json")[0];
    let errors = results["cycle_errors"]["connection"].as_u64().unwrap();
    let cycles = results["cycles"].as_u64().unwrap();
    assert!(errors > 0 && errors < cycles, "{errors} of {cycles}");
    assert!(results["elapsed_s"].as_f64().unwrap() > 3.5);
}
