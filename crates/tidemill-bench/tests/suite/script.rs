//! Scripts: what they can do, and how those are stopped that do wrong. Nothing here needs a server.

use std::time::Instant;

use crate::common::{Bench, Ran};

fn run(script: &str, arguments: &[&str]) -> (Bench, Ran) {
    let bench = Bench::new("mem:");
    bench.write("w.rn", script);
    let mut all = vec!["run", "w.rn", "-w", "0", "-q", "-o", "r.json"];
    if !arguments.contains(&"-d") {
        all.extend(["-d", "5"]);
    }
    all.extend(arguments);
    let ran = bench.run(&all);
    (bench, ran)
}

/// Runs `checks` once as the body of `run`.
#[track_caller]
fn holds(checks: &str) {
    let (_, ran) = run(
        &format!("use latte::*;\npub async fn run(ctx, i) {{\n{checks}\n}}"),
        &["-d", "1"],
    );
    ran.good();
}

#[test]
fn the_functions_of_latte_give_what_they_promise() {
    holds(
        r#"
        assert_eq!(hash(7), hash(7));
        assert!(hash(7) != hash(8) && hash(7) >= 0 && hash2(1, 2) != hash2(2, 1));
        for n in 0..100 {
            assert!(hash_range(n, 10) >= 0 && hash_range(n, 10) < 10);
            let x = uniform(n, 2.0, 3.0);
            assert!(x >= 2.0 && x < 3.0);
        }
        assert_eq!(hash_select(3, ["only"]), "only");
        assert_eq!(blob(1, 16).len(), 16);
        assert_eq!(blob(1, 16), blob(1, 16));
        assert_eq!(text(5, 9).len(), 9);
        assert_eq!(text(5, 9), text(5, 9));
        assert_eq!(vector(3, |n| n * n), [0, 1, 4]);
        assert_eq!(join(["a", "b"], "-"), "a-b");
        assert_eq!(uniform_vec(1, 4, 0.0, 1.0).len(), 4);
        assert_eq!(normal_vec(1, 4, 0.0, 1.0).len(), 4);
        assert_eq!(normal(1, 5.0, 2.0), normal(1, 5.0, 2.0));
        assert!(now_timestamp() > 1600000000);
        assert_eq!(uuid(1), uuid(1));
        assert!(uuid(1) != uuid(2));
        assert_eq!(`${uuid(1)}`.len(), 36);
        assert!(is_none(None) && !is_none(Some(1)) && !is_none(1));
        assert_eq!((300).to_i8(), None);
        assert_eq!((-128).to_i8(), Some(-128));
        assert_eq!((1.9).to_i32(), 1);
        assert_eq!((7).clamp(0, 5), 5);
        assert_eq!((-1.0).clamp(0.0, 5.0), 0.0);
        assert_eq!(target(), "xbase");
        assert!(ctx.elapsed_secs() >= 0.0);
        assert_eq!(ctx.get_datacenters().len(), 0);
        "#,
    );
}

#[test]
fn normal_values_have_their_mean_and_deviation() {
    holds(
        r#"
        let sum = 0.0;
        let squares = 0.0;
        for n in 0..10000 {
            let x = normal(n, 10.0, 3.0);
            sum += x;
            squares += (x - 10.0) * (x - 10.0);
        }
        let mean = sum / 10000.0;
        let variance = squares / 10000.0;
        assert!(mean > 9.9 && mean < 10.1, "{mean}");
        assert!(variance > 8.6 && variance < 9.4, "{variance}");
        "#,
    );
}

#[test]
fn texts_come_from_files_and_resources() {
    let bench = Bench::new("mem:");
    bench.write("words.txt", "one two\nthree,four\n\n");
    bench.write(
        "w.rn",
        r#"
        pub async fn run(ctx, i) {
            assert_eq!(fs::read_to_string("words.txt")?.len(), 20);
            assert_eq!(fs::read_lines("words.txt")?, ["one two", "three,four", ""]);
            assert_eq!(fs::read_words("words.txt")?, ["one", "two", "three", "four"]);
            let lines = fs::read_split_lines_iter("words.txt", [",", -1, true, true])?;
            let found = [];
            while let Some(line) = lines.next() {
                found.push(line?.len());
            }
            assert_eq!(found, [1, 2, 0]);
            for name in ["adventures", "careers", "companies", "jobdescription", "lastnames", "lorem_ipsum_full",
                         "names", "numbers", "types5", "variable_words"] {
                let file = `${name}.txt`;
                assert!(fs::read_resource_words(file)?.len() > 0 || name == "numbers");
                assert!(fs::read_resource_lines(file)?.len() >= 5);
                assert!(fs::read_resource_to_string(file)?.len() > 10);
            }
        }
        "#,
    );
    bench.run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"]).good();
    bench.write("lines.tsv", "a\tbc\r\nd\te f \n\ng\th");
    bench.write(
        "w.rn",
        r#"
        pub async fn run(ctx, i) {
            // Untrimmed pieces and separators are all the bytes there are.
            let sizes = [];
            let lines = fs::read_split_lines_iter("lines.tsv", ["\t", 1, false, false])?;
            while let Some(line) = lines.next() {
                let line = line?;
                let size = line.len() - 1;
                for piece in line { size += piece.len(); }
                sizes.push(size);
            }
            assert_eq!(sizes, [6, 7, 1, 3]);
            let lines = fs::read_split_lines_iter("lines.tsv", ["\t", 1])?;
            assert_eq!(lines.next().unwrap()?, ["a", "bc"]);
            assert_eq!(lines.next().unwrap()?, ["d", "e f"]);
        }
        "#,
    );
    bench.run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"]).good();
    for call in [
        "read_to_string(\"no.txt\")",
        "read_lines(\"no.txt\")",
        "read_words(\"no.txt\")",
        "read_split_lines_iter(\"no.txt\", [])",
        "open_binary(\"no.txt\")",
    ] {
        let (_, ran) = run(&format!("pub async fn run(ctx, i) {{ fs::{call}?; }}"), &[]);
        ran.fails(2, "no.txt: No such file");
    }
    let (_, ran) = run(
        "pub async fn run(ctx, i) { fs::read_resource_lines(\"no.txt\")?; }",
        &[],
    );
    ran.fails(2, "there is no resource no.txt");
}

#[test]
fn files_of_bytes_are_read_from_where_they_stand() {
    let bench = Bench::new("mem:");
    let mut bytes = Vec::new();
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(u32::MAX.to_be_bytes());
    for number in [1.5_f32, -2.0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend((-7_i64).to_be_bytes());
    bytes.extend((-3_i32).to_le_bytes());
    bytes.extend(513_u16.to_le_bytes());
    bytes.extend(0.1_f64.to_be_bytes());
    bytes.push(200);
    bytes.extend(b"end");
    std::fs::write(bench.file("data.bin"), &bytes).unwrap();
    bench.write(
        "w.rn",
        r#"
        pub async fn run(ctx, i) {
            let file = fs::open_binary("data.bin")?;
            assert_eq!(file.len(), 42);
            assert_eq!(file.read_u32(fs::LE)?, 2);
            assert_eq!(file.read_u32("be")?, 4294967295);
            assert_eq!(file.read_f32_vec(fs::LE, 2)?, [1.5, -2.0]);
            assert_eq!(file.read_i64(fs::BE)?, -7);
            assert_eq!(file.read_i32(fs::LE)?, -3);
            assert_eq!(file.read_u16(fs::LE)?, 513);
            assert_eq!(file.read_f64(fs::BE)?, 0.1);
            assert_eq!(file.read_u8()?, 200);
            assert_eq!(String::from_utf8(file.read_bytes(3)?)?, "end");
            assert_eq!(file.position(), 42);
            file.seek(8)?;
            assert_eq!(file.read_f32(fs::LE)?, 1.5);
            file.skip(-12)?;
            assert_eq!(file.read_u32_vec(fs::LE, 1)?, [2]);
            file.seek(42)?;
            file.seek(0)?;
            for wrong in [file.seek(43), file.seek(-1), file.skip(-1), file.skip(43), file.read_u32("middle"),
                          file.read_bytes(43), file.read_bytes(-1), file.read_f64_vec(fs::LE, 6),
                          file.read_i32_vec(fs::LE, 9223372036854775807), file.read_f32_vec(fs::LE, -1)] {
                let why = match wrong { Err(why) => `${why}`, Ok(_) => return Err("it was taken") };
                if !why.contains("data.bin: ") { return Err(why); }
            }
            assert_eq!(file.position(), 0);
            file.seek(40)?;
            return file.read_u32(fs::LE);
        }
        "#,
    );
    let line = ["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"];
    bench
        .run(&line)
        .fails(2, "data.bin: expected 1 values of 4 bytes at byte 40, found 2 bytes");
    // What is read counts as the script's memory.
    std::fs::write(bench.file("data.bin"), vec![0; 3 << 20]).unwrap();
    bench.write(
        "w.rn",
        "pub async fn run(ctx, i) { fs::open_binary(\"data.bin\")?.read_bytes(3145728)?; }",
    );
    bench.run(&line).good();
    bench
        .run(&[&line[..], &["--memory-limit", "2"]].concat())
        .fails(2, "one call may hold");
}

#[test]
fn a_missing_field_is_called_by_its_name() {
    for (expression, why) in [
        ("row.nothing", "function run: there is no field nothing in row"),
        ("[row][0] . nothing", "there is no field nothing in [row][0]"),
        ("ctx.data.queries", "there is no field queries in ctx.data"),
    ] {
        let (_, ran) = run(
            &format!("pub async fn run(ctx, i) {{ let row = #{{ a: 1 }}; {expression} }}"),
            &[],
        );
        ran.fails(2, why);
    }
}

#[test]
fn parameters_become_constants() {
    let script = r#"
        const ROWS = latte::param!("rows", 5);
        const NAME = latte::param!("name", "none");
        const SHARE = latte::param!("share", 0.5);
        const LIST = latte::param!("list", [1]);
        pub async fn run(ctx, i) { return Err(`${ROWS} ${NAME} ${SHARE} ${LIST[0]}`); }
    "#;
    run(script, &[]).1.fails(2, "5 none 0.5 1");
    run(
        script,
        &[
            "-P",
            "rows=7",
            "-P",
            "name=\"quoted\"",
            "-P",
            "share=-1.5",
            "-P",
            "list=[9]",
        ],
    )
    .1
    .fails(2, "7 quoted -1.5 9");
    // Shells eat quotes.
    run(script, &["-P", "name=bare"]).1.fails(2, "5 bare 0.5 1");
    run(script, &["-P", "name=two words"]).1.fails(2, "5 two words 0.5 1");
}

#[test]
fn a_library_beside_the_script_is_part_of_it() {
    let bench = Bench::new("mem:");
    bench.write("lib.rn", "pub const FROM_LIB = 42;\npub fn twice(n) { n * 2 }\n");
    bench.write("common.rn", "pub fn thrice(n) { n * 3 }\n");
    bench.write(
        "w.rn",
        "mod common;\npub async fn run(ctx, i) { assert_eq!(twice(FROM_LIB), 84); assert_eq!(common::thrice(2), 6); }\n",
    );
    bench.run(&["run", "w.rn", "-d", "1", "-o", "r.json"]).good();
}

#[test]
fn workloads_are_looked_for() {
    let bench = Bench::new("mem:");
    std::fs::create_dir(bench.file("elsewhere")).unwrap();
    bench.write("elsewhere/w.rn", "pub async fn run(ctx, i) {}\n");
    let arguments = ["run", "w.rn", "-d", "1", "-o", "r.json"];
    bench.run(&arguments).fails(2, "w.rn");
    let mut command = bench.command(&arguments);
    command.env("LATTE_WORKLOAD_PATH", bench.file("elsewhere"));
    Ran::from(command.output().unwrap()).good();
}

#[test]
fn errors_of_compilation_come_before_connecting_and_name_their_lines() {
    let bench = Bench::new("xbase:/no/such/folder");
    bench.write("w.rn", "pub async fn run(ctx, i) {\n    let x = nothing;\n}\n");
    // The folder is wrong too; a script that does not compile against a target that is there says so first.
    let bench_there = Bench::new("mem:");
    bench_there.write("w.rn", "pub async fn run(ctx, i) {\n    let x = nothing;\n}\n");
    let ran = bench_there.run(&["run", "w.rn"]);
    ran.fails(2, "w.rn:2:13");
    bench.run(&["run", "w.rn"]).fails(2, "it is no folder");
    let (_, ran) = run("pub async fn run(ctx, i) { (", &[]);
    ran.fails(2, "w.rn");
    let (_, ran) = run("pub async fn other(ctx, i) {}", &[]);
    ran.fails(2, "the script has no function run");
}

#[test]
fn a_panic_ends_the_run_with_its_line() {
    for (body, why) in [
        ("let x = 0;\nlet y = 1 / x;", "w.rn:3:9: function run: Division by zero"),
        ("let v = [];\nlet y = v[i];", "w.rn:3:"),
        ("panic!(\"at last\");", "at last"),
        ("latte::hash_range(i, 0);", "the range must not be empty"),
        ("latte::hash_select(i, []);", "the collection is empty"),
        ("latte::blob(i, -1);", "a length of -1"),
        ("latte::text(i, 1 << 40);", "a length of 1099511627776"),
        ("latte::normal(i, 0.0, -1.0);", "normal"),
        ("latte::uniform(i, 1.0, 0.0);", "uniform"),
        ("latte::uniform(i, -1.7e308, 1.7e308);", "too wide"),
        ("latte::uniform_vec(i, 1, -1.7e308, 1.7e308);", "too wide"),
        ("latte::uniform_vec(i, 1, 2.0, 2.0);", "not greater than the minimum"),
        ("(1).clamp(3, 2);", "clamp"),
        ("ctx.set_report_field(\"a\", \"b\");", "set_report_field"),
        ("ctx.get_partition_idx(\"none\", 1).await;", "there is no preset"),
    ] {
        let (bench, ran) = run(&format!("pub async fn run(ctx, i) {{\n{body}\n}}"), &[]);
        ran.fails(2, why).fails(2, "w.rn:");
        assert_eq!(bench.results("r.json")[0]["cycle_errors"]["stopped"], 1, "{body}");
    }
}

#[test]
fn a_script_without_end_is_stopped_with_its_line() {
    let endless = "pub async fn run(ctx, i) {\n    let n = 0;\n    loop {\n        n += 1;\n    }\n}";
    let start = Instant::now();
    let (_, ran) = run(endless, &["--instruction-limit", "100000"]);
    ran.fails(2, "w.rn:4:9: function run: more than 100000 instructions");
    let greedy = "pub async fn run(ctx, i) {\n    let v = [];\n    loop {\n        v.push(\"0123456789\");\n    }\n}";
    let (_, ran) = run(greedy, &["--memory-limit", "4"]);
    ran.fails(2, "w.rn:4:").fails(2, "one call may hold 4194304 bytes");
    let inner =
        "async fn deep(n) {\n    loop {\n        n += 1;\n    }\n}\npub async fn run(ctx, i) {\n    deep(i).await\n}";
    let (_, ran) = run(inner, &["--instruction-limit", "100000"]);
    ran.fails(2, "w.rn:7:").fails(2, "more than 100000 instructions");
    assert!(start.elapsed().as_secs() < 30);
}

#[test]
fn an_error_that_is_returned_ends_the_run_and_one_that_is_not_does_not() {
    let (_, ran) = run(
        "pub async fn run(ctx, i) { ctx.execute(\"SELECT * FROM nowhere\").await?; }",
        &[],
    );
    ran.fails(2, "function run failed: refused: ")
        .fails(2, "SELECT * FROM nowhere");
    let (bench, ran) = run(
        "pub async fn run(ctx, i) { let _ = ctx.execute(\"SELECT * FROM nowhere\").await; }",
        &[],
    );
    // Requests failed, so the exit code is not 0; cycles did not.
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let results = &bench.results("r.json")[0];
    assert_eq!(results["request_errors"]["refused"], 5);
    assert_eq!(results["cycles"], 5);
    let (_, ran) = run("pub async fn run(ctx, i) { Err(\"my own\") }", &[]);
    ran.fails(2, "my own");
    let caught = r#"pub async fn run(ctx, i) {
        match ctx.execute("SELECT * FROM nowhere").await {
            Err(e) => { assert_eq!(e.kind(), "refused"); assert!(`${e}`.contains("nowhere")); }
            Ok(_) => panic!("an error"),
        }
    }"#;
    assert_eq!(run(caught, &[]).1.code, Some(1));
}

#[test]
fn failures_that_a_script_signals_follow_the_strategy() {
    let script = "pub async fn run(ctx, i) { if i == 2 { ctx.signal_failure(\"wrong row\").await?; } }";
    run(script, &[]).1.fails(2, "signalled: wrong row");
    let (bench, ran) = run(script, &["--validation-strategy", "ignore"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let results = &bench.results("r.json")[0];
    assert_eq!(
        (&results["cycles"], &results["cycle_errors"]["signalled"]),
        (&5.into(), &1.into())
    );
    run(
        script,
        &[
            "--validation-strategy",
            "retry",
            "--retries",
            "2",
            "--retry-delay",
            "1ms",
        ],
    )
    .1
    .fails(2, "signalled: wrong row");
}

#[test]
fn data_of_prepare_reaches_every_worker() {
    let script = r#"
        pub async fn prepare(ctx) {
            ctx.data.words = ["a", "b"];
            ctx.data.nested = #{ "pair": (1, Some("x")), "none": None, "bytes": b"xyz", "id": latte::uuid(3) };
            ctx.load_cycle_count = 3;
            ctx.load_cycle_count += 4;
        }
        pub async fn run(ctx, i) {
            assert_eq!(ctx.data.words, ["a", "b"]);
            assert_eq!(ctx.data.nested.pair.0, 1);
            assert!(latte::is_none(ctx.data.nested.none));
            assert_eq!(ctx.data.nested.bytes, b"xyz");
            assert_eq!(ctx.data.nested.id, latte::uuid(3));
            assert_eq!(ctx.data.functions_to_invoke[0].0, "run");
            assert_eq!(ctx.load_cycle_count, 7);
        }
        pub async fn load(ctx, i) {}
    "#;
    run(script, &["-t", "2", "-d", "100"]).1.good();
    for (data, why) in [
        ("|x| x", "cannot be given to workers"),
        ("deep(200)", "more than 100 deep, or holds itself"),
    ] {
        let script = format!(
            "fn deep(n) {{ if n == 0 {{ [] }} else {{ [deep(n - 1)] }} }} pub async fn prepare(ctx) {{ ctx.data.it = {data}; }} pub async fn run(ctx, i) {{}}"
        );
        run(&script, &[]).1.fails(2, why);
    }
}

#[test]
fn metrics_of_the_script_are_in_the_report() {
    let script = r#"
        pub async fn prepare(ctx) { ctx.declare_metric("recall", "higher"); ctx.set_report_field("model", "m1"); }
        pub async fn run(ctx, i) { ctx.record_metric("recall", i); ctx.record_metric("share", 0.5); }
    "#;
    let (bench, ran) = run(script, &[]);
    ran.good();
    let results = &bench.results("r.json")[0];
    assert_eq!(results["metrics"]["recall"]["count"], 5);
    assert_eq!(results["metrics"]["recall"]["max"], 4.0);
    assert_eq!(results["metrics"]["share"]["mean"]["value"], 0.5);
    assert!(
        std::fs::read_to_string(bench.file("r.json"))
            .unwrap()
            .contains("\"model\":\"m1\"")
    );
    run(
        "pub async fn prepare(ctx) { ctx.record_metric(\"x\", 1); } pub async fn run(ctx, i) {}",
        &[],
    )
    .1
    .fails(2, "record_metric");
    run(
        "pub async fn prepare(ctx) { ctx.declare_metric(\"x\", \"sideways\"); } pub async fn run(ctx, i) {}",
        &[],
    )
    .1
    .fails(2, "sideways");
}

#[test]
fn partitions_have_the_sizes_of_their_preset() {
    holds(
        r#"
        let seen = #{};
        ctx.init_partition_row_distribution_preset("p", 100, 5, "50:1,50:3").await?;
        for n in 0..100 {
            let partition = ctx.get_partition_info("p", n).await;
            assert_eq!(partition.idx, ctx.get_partition_idx("p", n).await);
            let key = `${partition.idx}`;
            let count = if latte::is_none(seen.get(key)) { 0 } else { seen[key].0 };
            seen[key] = (count + 1, partition.rows_num);
            partition.idx += 10;
        }
        for (key, pair) in seen.iter() {
            assert_eq!(pair.0, pair.1);
        }
        Ok(())
        "#,
    );
    holds(
        r#"
        let wrong = ctx.init_partition_row_distribution_preset("p", 100, 5, "50:1").await;
        assert!(wrong.is_err());
        "#,
    );
}

#[test]
fn errors_are_logged_where_it_is_asked_for() {
    let bench = Bench::new("mem:");
    bench.write(
        "w.rn",
        r#"pub async fn run(ctx, i) { ctx.execute("SELECT * FROM nowhere").await?; }"#,
    );
    let run = ["run", "w.rn", "-d", "3", "-w", "0", "-o", "r.json"];
    let logs = || {
        let files = std::fs::read_dir(bench.file("."))
            .unwrap()
            .map(|file| file.unwrap().path());
        files
            .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
            .count()
    };
    assert_ne!(bench.run(&run).code, Some(0));
    assert_eq!(logs(), 0, "nobody asked for a log");
    assert_ne!(bench.run(&[&["--enable-logging"], &run[..]].concat()).code, Some(0));
    assert_eq!(logs(), 1);
    std::fs::create_dir(bench.file("logs")).unwrap();
    let mut command = bench.command(&[&run[..], &["--log-file", "bad.log"]].concat());
    command.env("LATTE_LOG_DIR", "logs");
    assert_ne!(command.output().unwrap().status.code(), Some(0));
    let log = std::fs::read_to_string(bench.file("logs/bad.log")).unwrap();
    assert!(
        log.contains("WARN") && log.contains("nowhere") && log.contains("function=\"run\""),
        "{log}"
    );
    bench
        .run(&[&["--log-dir", "not/there"], &run[..]].concat())
        .fails(2, "not/there");
}

/// What is not the workload's own is nobody's to show, unless the user named it or said so.
#[test]
fn a_workload_reads_its_own_folder_and_what_was_named() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "open sesame").unwrap();
    let secret = secret.to_str().unwrap();
    for (call, more) in [
        ("read_to_string", ""),
        ("read_lines", ""),
        ("read_words", ""),
        ("read_split_lines_iter", ", []"),
        ("open_binary", ""),
    ] {
        let script = format!(
            "const FILE = latte::param!(\"file\", \"none\");
             pub async fn run(ctx, i) {{ fs::{call}(\"{secret}\"{more})?; }}"
        );
        let (_, ran) = run(&script, &["-d", "1"]);
        let ran = ran.fails(2, "--allow-files");
        assert!(!ran.err.contains("sesame"), "{}", ran.err);
        run(&script, &["-d", "1", "--allow-files"]).1.good();
        run(&script, &["-d", "1", "-P", &format!("file={secret}")]).1.good();
    }
    let (_, ran) = run("pub async fn run(ctx, i) { fs::read_lines(\"w.rn\")?; }", &["-d", "1"]);
    ran.good();
}

#[test]
fn passwords_of_addresses_are_not_shown() {
    // Nobody listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for address in [
        format!("cql://ann:hunter5@{free}"),
        format!("ann:hunter5@{free}"),
        format!("cql://ann:hunter5@{free}/keyspace"),
        format!("cql://ann:hun/hunter5@{free}"),
        format!("clickhouse://ann:hunter5@{free}"),
        format!("clickhouse://{free}?password=hunter5"),
        format!("https://ann:hunter5@{free}"),
    ] {
        let bench = Bench::new(&address);
        bench.write("w.rn", "pub async fn run(ctx, i) {}");
        let ran = bench.run(&["run", "w.rn", "-d", "1", "--request-timeout", "1s", "-o", "r.json"]);
        assert_eq!(ran.code, Some(2), "{address}: {}", ran.err);
        let report = std::fs::read_to_string(bench.file("r.json")).unwrap_or_default();
        for text in [&ran.out, &ran.err, &report] {
            assert!(!text.contains("hunter5"), "{address}: {text}");
        }
    }
}
