//! What files, folders, servers and signals may not do to the program.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::{HostileHttp, Misbehaviour};

use crate::big_table;
use crate::run::{Folder, Run};

/// How long it takes at most to end at a signal or a limit, where other tests keep the processors busy: alone it is 0.4 s.
const BUSY: Duration = Duration::from_secs(4);

/// Runs a command, and kills it if it is not done in time. Gives what came of it, how long it took, and its peak of memory in bytes.
pub(crate) fn watched(command: &mut Command, patience: Duration) -> (Run, Duration, u64) {
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        peak = peak_resident(child.id()).unwrap_or(0).max(peak);
        if started.elapsed() > patience {
            child.kill().expect("killed");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = started.elapsed();
    (Run::of(child.wait_with_output().expect("ended")), took, peak)
}

fn peak_resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

#[test]
fn a_silent_web_server_is_not_waited_for_by_the_minute() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    // Connections are taken by the system, and nobody answers.
    let folder = Folder::with(&[]);
    let sql = format!("SELECT * FROM 'http://{address}/rows.csv'");
    let (run, took, _) = watched(&mut folder.command(&["sql", &sql]), Duration::from_secs(90));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(took < Duration::from_secs(50), "{took:?}: {}", run.stderr);
    assert!(run.stderr.contains("/rows.csv"), "{}", run.stderr);
}

#[test]
fn stores_that_break_their_promises_are_errors() {
    let folder = Folder::with(&[]);
    let patience = Duration::from_secs(20);
    for (misbehaviour, table, told) in [
        (
            Misbehaviour::Short,
            "http://HOST/a.csv",
            "told 8000 bytes before and tells 10 now|Requested 0..8000, got 0..10",
        ),
        (
            Misbehaviour::FalseLength,
            "http://HOST/a.csv",
            "more memory|--max-memory|not done after|Requested 0..65536, got",
        ),
        (
            Misbehaviour::Longer,
            "http://HOST/a.csv",
            "more than 1000 bytes|Content-Length|Requested 0..",
        ),
        (Misbehaviour::Drip, "http://HOST/a.csv", "not done after"),
        (Misbehaviour::Silent, "http://HOST/a.csv", "not done after"),
        (
            Misbehaviour::EndlessPage,
            "s3://b/logs/*.csv",
            "more than 16777216 bytes",
        ),
        (
            Misbehaviour::EndlessPages,
            "s3://b/logs/*.csv",
            "pages|not done after|more than",
        ),
        (Misbehaviour::Escapes, "http://HOST/a.csv", "403"),
    ] {
        let server = HostileHttp::start(misbehaviour).expect("a server");
        let (host, table) = (
            server.address().to_string(),
            table.replace("HOST", &server.address().to_string()),
        );
        let mut command = folder.command(&[
            "copy",
            &table,
            "out.parquet",
            "--verify",
            "full",
            "--timeout",
            "6",
            "--max-memory",
            "300M",
        ]);
        command
            .env("AWS_ENDPOINT", format!("http://{host}"))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "k")
            .env("AWS_SECRET_ACCESS_KEY", "s");
        let (run, took, peak) = watched(&mut command, patience);
        assert!(took < Duration::from_secs(12), "{misbehaviour:?}: {took:?}");
        assert!(peak < 600 << 20, "{misbehaviour:?}: {peak} bytes");
        let said = run.failed();
        assert!(
            told.split('|').any(|told| said.contains(told)),
            "{misbehaviour:?}: {said}"
        );
        assert!(!said.contains('\x1b'), "{said:?}");
        let left: Vec<_> = fs::read_dir(folder.path()).expect("listed").collect();
        assert!(left.is_empty(), "{misbehaviour:?} leaves {left:?}");
    }
}

#[test]
fn a_list_with_many_attributes_is_read_in_time() {
    let server = HostileHttp::start(Misbehaviour::ManyAttributes).expect("a server");
    let folder = Folder::with(&[]);
    let mut command = folder.command(&["sql", "SELECT COUNT(*) FROM 's3://b/logs/*.csv'", "--timeout", "30"]);
    command
        .env("AWS_ENDPOINT", format!("http://{}", server.address()))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "k")
        .env("AWS_SECRET_ACCESS_KEY", "s");
    // The object itself is a list as well, so that the command fails; what counts is how long the list took.
    let (run, took, _) = watched(&mut command, Duration::from_secs(40));
    assert!(took < Duration::from_secs(25), "{took:?}: {}", run.stderr);
}

#[test]
fn passwords_are_shown_by_no_command() {
    let folder = Folder::with(&[]);
    for url in [
        "https://u:geheim@127.0.0.1:1/x.csv",
        "clickhouse://u:geheim@127.0.0.1:1/d/t",
        "clickhouse://u:ge heim@127.0.0.1:1/d/t",
        "clickhouse://u@127.0.0.1:1/d/t?Password=geheim",
        "clickhouse://odd:p@ss:w/o%rd geheim#?&@127.0.0.1:1/d/t",
        "mysql://u:geheim@127.0.0.1:1/x",
        "postgres://u:geheim@127.0.0.1:1/x",
        "s3://u:geheim@bucket/x.csv?X-Amz-Signature=geheim",
    ] {
        let attached = format!("t={url}");
        let selected = format!("SELECT * FROM [{url}]");
        for args in [
            &["cat", url][..],
            &["copy", url, "x.parquet"],
            &["copy", "nothing.csv", url],
            &["inspect", url],
            &["verify", url],
            &["sql", &selected],
            &["sql", "--explain", &selected],
            &["sql", "SELECT * FROM t", "--attach", &attached],
            &["sql", "SELECT 1", "--server", url],
            &["sql", "SELECT 1", "--dir", url, "--nonsense", url],
            &["bench", "run", "missing.rn", url],
        ] {
            let mut command = folder.command(args);
            command
                .env("AWS_ENDPOINT", "http://127.0.0.1:1")
                .env("RUST_LOG", "trace");
            let (run, _, _) = watched(&mut command, Duration::from_secs(20));
            let shown = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
            assert!(!shown.contains("heim"), "{args:?} shows {shown}");
        }
    }
}

#[test]
fn a_terminal_obeys_nothing_of_a_file() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("esc.csv"), "a\x1b]0;title\x07,b\n\x1b[2Jx,y\n").expect("written");
    for args in [
        &["cat", "esc.csv", "--format", "table"][..],
        &["cat", "esc.csv", "--format", "markdown"],
        &["inspect", "esc.csv"],
        &["verify", "bad\x1b[2J.dbf"],
        &["sql", "SELECT \"\x1b[2J\" FROM 'esc.csv'"],
    ] {
        let run = folder.run(args);
        let shown = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
        assert!(
            !shown.contains('\x1b') && !shown.contains('\x07'),
            "{args:?}: {shown:?}"
        );
        assert!(shown.contains("\\x1b"), "{args:?}: {shown:?}");
    }
    // What goes to another program is as it is in the file.
    let csv = folder.run(&["cat", "esc.csv", "--format", "csv"]).done();
    assert!(csv.contains("\x1b[2Jx,y"), "{csv:?}");
}

#[test]
fn only_our_own_output_may_be_closed() {
    let folder = Folder::with(&[]);
    folder.run(&["verify", "Broken pipe.dbf"]).failed();
    // A server that goes away in the middle of an INSERT is an error: tidemill-sql's tests have it.
    let mut child = folder
        .command(&["tour", "--out", "t", "--load-test", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("a letter");
    drop(stdout);
    let ended = child.wait_with_output().expect("ended");
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// Waits until a file is in the making.
fn wait_for_draft(folder: &Folder, child: &mut Child) {
    let begun = Instant::now();
    let is_draft = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(".tidemill-") || name.ends_with(".new")
        })
    };
    while !fs::read_dir(folder.path()).expect("listed").any(is_draft) {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "the copy ended before it began"
        );
        assert!(begun.elapsed() < Duration::from_secs(20), "no draft");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn signals_end_a_copy_within_a_second_and_leave_nothing() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 400_000);
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut child = folder
            .command(&["copy", "BIG.DBF", "x.riegeli", "--riegeli", "brotli:11"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        wait_for_draft(&folder, &mut child);
        let told = Instant::now();
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        let ended = child.wait().expect("ended");
        assert!(told.elapsed() < BUSY, "{signal}: {:?}", told.elapsed());
        assert_eq!((ended.code(), ended.signal()), (Some(code), None), "{signal}");
        let left: Vec<_> = fs::read_dir(folder.path())
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(left, ["BIG.DBF"], "{signal}");
    }
}

/// Sends a signal.
fn tell(signal: &str, child: &Child) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
}

#[test]
fn a_change_that_a_signal_ends_says_how_it_ended_and_leaves_no_file() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 1_600_000);
    let statements = [
        "ALTER TABLE big ADD COLUMN y CHAR(10)",
        "ALTER TABLE big ADD COLUMN x CHAR(10)",
    ];
    for (command, signal, code) in [
        (&["sql", statements[0]][..], "-TERM", 143),
        (&["sql", statements[1]], "-INT", 130),
        (&["reindex", "BIG.DBF"], "-TERM", 143),
    ] {
        let statement = command[1];
        let mut files = vec!["BIG.DBF"];
        if command[0] == "reindex" {
            folder.run(&["sql", "CREATE INDEX id ON big (id)"]).done();
            files.insert(0, "BIG.cdx");
        }
        let before = fs::read(folder.file(files[0])).expect("read");
        let mut child = folder
            .command(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        wait_for_draft(&folder, &mut child);
        tell(signal, &child);
        let run = Run::of(child.wait_with_output().expect("ended"));
        assert_eq!(run.code, Some(code), "{statement}: {}", run.stderr);
        assert!(
            ["nothing of it is left", "was done before", "is not known whether"]
                .iter()
                .any(|told| run.stderr.contains(told)),
            "{statement}: {}",
            run.stderr
        );
        let left: Vec<_> = fs::read_dir(folder.path())
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let is_draft = |name: &String| name.starts_with(".tidemill-") || name.ends_with(".new");
        assert!(!left.iter().any(is_draft), "{statement}: {left:?}");
        if run.stderr.contains("nothing of it is left") {
            let mut left = left;
            left.sort();
            files.sort_unstable();
            assert_eq!(left, files, "{statement}");
            assert!(fs::read(folder.file(files[0])).expect("read") == before, "{statement}");
        }
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 400_000);
    let program = folder.command(&[]);
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" copy --quiet BIG.DBF x.riegeli"])
        .arg(program.get_program())
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    wait_for_draft(&folder, &mut child);
    tell("-HUP", &child);
    Run::of(child.wait_with_output().expect("ended")).done();
    assert!(folder.file("x.riegeli").is_file());
}

#[test]
fn time_and_memory_have_limits() {
    let folder = Folder::with(&[]);
    let big = "SELECT COUNT(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b WHERE a.value + b.value = -1";
    let (run, took, _) = watched(
        &mut folder.command(&["sql", big, "--timeout", "0.5"]),
        Duration::from_secs(20),
    );
    assert!(took < BUSY, "{took:?}");
    assert!(run.failed().contains("not done after 500ms"));

    let sorted = "SELECT value, RANDOM() AS r FROM generate_series(1, 100000000) ORDER BY r";
    let (run, _, peak) = watched(
        &mut folder.command(&["sql", sorted, "--max-memory", "200M"]),
        Duration::from_secs(60),
    );
    let said = run.failed();
    assert!(said.contains("more than 200.00 MiB of memory"), "{said}");
    assert!(peak < 600 << 20, "{peak}");
}

#[test]
fn small_files_do_not_become_large_in_memory() {
    let folder = Folder::with(&[]);
    let line = format!("{{\"a\": \"{}\"}}\n", "x".repeat(120_000_000));
    fs::write(folder.file("line.jsonl"), &line).expect("written");
    for (name, told) in [
        ("large.parquet", "bytes expand to 120000"),
        ("line.jsonl", "line.jsonl: the record at byte 0 is longer than 32 MiB"),
        (
            "packed.jsonl.gz",
            "packed.jsonl.gz: the record at byte 0 is longer than 32 MiB",
        ),
    ] {
        if name != "line.jsonl" {
            drop(folder.run(&["copy", "line.jsonl", name, "--max-memory", "4G"]).done());
        }
        let question = format!("SELECT length(a) AS n FROM '{name}'");
        let mut command = folder.command(&["sql", &question]);
        let (run, took, peak) = watched(&mut command, Duration::from_secs(20));
        let said = run.failed();
        assert!(
            said.contains(told) && said.contains("--max-memory SIZE allows more"),
            "{name}: {said}"
        );
        assert!(
            said.contains(name) && took < BUSY && peak < 200 << 20,
            "{name}: {took:?}, {peak}, {said}"
        );
        let answer = folder.run(&["sql", &question, "--max-memory", "4G", "--format", "csv"]);
        assert_eq!(answer.done(), "n\n120000000\n", "{name}");
    }
}

/// Rows of a megabyte each, which take some kilobytes in their files, and rows of very many columns.
#[test]
fn batches_of_long_rows_stay_small() {
    const ROWS: usize = 600;
    let folder = Folder::with(&[]);
    let line = format!("{{\"a\": \"{}\"}}\n", "x".repeat(1_000_000));
    fs::write(folder.file("lines.jsonl"), line.repeat(ROWS)).expect("written");
    let names: Vec<String> = (0..10_000).map(|column| format!("c{column}")).collect();
    let values = names.join(",").replace('c', "");
    fs::write(folder.file("wide.csv"), format!("{}\n{values}\n", names.join(","))).expect("written");
    for name in ["same.parquet", "same.jsonl.gz", "same.riegeli"] {
        let (run, _, peak) = watched(&mut folder.command(&["copy", "lines.jsonl", name]), BUSY * 10);
        drop(run.done());
        assert!(peak < 250 << 20, "writing {name}: {peak}");
        let longest = format!("SELECT MAX(LENGTH(a)) AS n FROM '{name}'");
        let none = format!("SELECT a FROM '{name}' WHERE LENGTH(a) < 5");
        let commands = [
            &["sql", &none][..],
            &["copy", name, "copy.parquet", "--overwrite"],
            &["sql", &longest],
        ];
        for command in commands {
            let (run, _, peak) = watched(&mut folder.command(command), BUSY * 10);
            drop(run.done());
            assert!(peak < 200 << 20, "{command:?}: {peak}");
        }
    }
    // Files that do not say how long their rows are.
    let as_records = "SELECT CAST(a AS BYTEA) AS record FROM 'same.parquet'";
    for (name, column, rows) in [
        ("same.csv.gz", "a", "same.parquet"),
        ("same.tfrecord.gz", "record", as_records),
        ("same.adt", "a", "same.parquet"),
    ] {
        let (run, _, _) = watched(&mut folder.command(&["copy", rows, name]), BUSY * 10);
        drop(run.done());
        let longest = format!("SELECT MAX(LENGTH({column})) AS n FROM '{name}'");
        // By the planner, as a join is: the lanes of ADS SQL hold columns.
        let longest = format!("WITH w AS ({longest}) SELECT n FROM w");
        let (run, _, peak) = watched(&mut folder.command(&["sql", &longest]), BUSY * 10);
        drop(run.done());
        let memos = fs::metadata(folder.file("same.adm")).map_or(0, |memos| memos.len());
        assert!(peak < (200 << 20) + memos, "{name}: {peak}");
    }
    // The encoders of a column of Parquet take 25 KB and more before they have a value.
    let (run, _, peak) = watched(
        &mut folder.command(&["copy", "--quiet", "wide.csv", "wide.parquet"]),
        BUSY * 10,
    );
    drop(run.done());
    assert!(peak < 150 << 20, "{peak}");
}

/// Records of which each has another key are rows of very many columns.
#[test]
fn batches_of_many_columns_stay_small() {
    let folder = Folder::with(&[]);
    for (name, keys) in [("some.jsonl", 5_000), ("nested.jsonl", 5_000), ("many.jsonl", 110_000)] {
        let line = |key: usize| match name {
            "nested.jsonl" => format!("{{\"a\": {{\"k{key}\": 1}}}}\n"),
            _ => format!("{{\"k{key}\": 1}}\n"),
        };
        fs::write(folder.file(name), (0..keys).map(line).collect::<String>()).expect("written");
    }
    for (command, most) in [
        (&["verify", "some.jsonl"][..], 200),
        (&["copy", "--quiet", "some.jsonl", "some.csv"], 450),
        (&["verify", "some.csv"], 200),
        (&["verify", "nested.jsonl"], 200),
    ] {
        let (run, _, peak) = watched(&mut folder.command(command), BUSY * 10);
        drop(run.done());
        assert!(peak < most << 20, "{command:?}: {peak}");
    }
    let (run, _, peak) = watched(&mut folder.command(&["copy", "many.jsonl", "many.csv"]), BUSY * 10);
    let said = run.failed();
    assert!(
        said.contains("many.jsonl") && said.contains("more than 100000 different keys"),
        "{said}"
    );
    assert!(peak < 200 << 20, "{peak}");
}

/// A view may make values that stand nowhere in the file.
#[test]
fn values_of_views_stay_small() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("t.csv"), "n\n1\n").expect("written");
    drop(folder.run(&["copy", "t.csv", "sqlite:made.db//t", "--create"]).done());
    let view = "CREATE VIEW large AS SELECT hex(zeroblob(150000000)) AS a";
    drop(folder.run(&["sql", "--server", "sqlite:made.db", view]).done());
    let (run, _, peak) = watched(&mut folder.command(&["cat", "sqlite:made.db/large"]), BUSY * 10);
    let said = run.failed();
    assert!(
        said.contains("made.db/large") && said.contains("longer than 64 MiB"),
        "{said}"
    );
    assert!(peak < 200 << 20, "{peak}");
}

/// Asks a statement that is too long for an argument.
fn asked(folder: &Folder, sql: &str) -> Run {
    folder.fed(&["sql", "-"], sql)
}

#[test]
fn long_statements_are_answered_or_refused() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("people.jsonl"), "{\"id\": 1}\n{\"id\": 9000}\n").expect("written");
    let many =
        |count: usize, op: &str, term: &dyn Fn(usize) -> String| (0..count).map(term).collect::<Vec<_>>().join(op);
    for sql in [
        format!("SELECT {} AS a", many(20_000, "+", &|_| "1".to_owned())),
        format!("SELECT {} AS a", many(50_000, "||", &|_| "'a'".to_owned())),
        format!(
            "SELECT COUNT(*) AS n FROM people WHERE {}",
            many(20_000, " AND ", &|id| format!("id<>{id}"))
        ),
    ] {
        let said = asked(&folder, &sql).failed();
        assert!(said.to_lowercase().contains("more than") && said.len() < 2000, "{said}");
    }
    let begun = Instant::now();
    let sql = format!(
        "SELECT COUNT(*) AS n FROM people WHERE {}",
        many(3000, " AND ", &|id| format!("id<>{id}"))
    );
    assert_eq!(asked(&folder, &sql).done(), "{\"n\":1}\n");
    let sql = format!(
        "SELECT COUNT(*) AS n FROM people WHERE {}",
        many(3000, " OR ", &|id| format!("id={id}"))
    );
    assert_eq!(asked(&folder, &sql).done(), "{\"n\":1}\n");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn types_that_a_format_has_not_are_refused_by_name() {
    for file in ["variant", "geometry", "dynamic", "json"] {
        let folder = Folder::with(&[&format!("clickhouse/native/{file}.native")]);
        let from = format!("{file}.native");
        for to in ["parquet", "csv", "jsonl", "arrow", "dbf", "riegeli"] {
            let run = folder.run(&["copy", &from, &format!("out.{to}")]);
            match run.code {
                Some(0) => {}
                Some(2) => {
                    assert!(run.stderr.contains("column "), "{file} to {to}: {}", run.stderr);
                    assert!(!run.stderr.contains("a defect"), "{file} to {to}: {}", run.stderr);
                }
                code => panic!("{file} to {to}: {code:?}: {}", run.stderr),
            }
        }
    }
}
