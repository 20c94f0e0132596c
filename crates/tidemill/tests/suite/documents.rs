//! The command lines that stand in the documents, run as a reader would: in their order, in one folder, by a shell.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::{Cassandra, ClickHouse, S3, corpus_bytes};

use crate::run::{Folder, Run};

/// A workload that makes the documents' keyspace of Cassandra, empty.
const KEYSPACE: &str = r#"
pub async fn schema(db) {
    db.execute("DROP KEYSPACE IF EXISTS shop").await?;
    db.execute("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await?;
}
"#;

/// The tables and files that the documents name.
fn things(folder: &Folder) {
    let sql = |statement: &str| drop(folder.run(&["sql", statement]).done());
    sql(
        "CREATE TABLE orders (id Integer, order_no Integer, cust_no Integer, city Char(20), year Integer, total Double)",
    );
    sql("CREATE TABLE customers (cust_no Integer, name Char(20), city Char(20))");
    sql("INSERT INTO customers VALUES (1, 'Ann', 'York'), (2, 'Olav', 'Oslo')");
    sql(
        "INSERT INTO orders VALUES (1, 1, 1, 'York', 2024, 10), (2, 2, 2, 'Oslo', 2024, 20), (3, 3, 2, 'Oslo', 2023, 30)",
    );
    sql("CREATE INDEX order_no ON orders (order_no)");
    fs::create_dir(folder.file("books")).expect("made");
    fs::copy(folder.file("customers.dbf"), folder.file("books/customers.dbf")).expect("copied");
    let events = corpus_bytes("riegeli/cpp/nested.transpose_zstd.riegeli");
    fs::write(folder.file("events.riegeli"), events).expect("written");
    let damaged = corpus_bytes("riegeli/cpp/bad.zstd_two_regions.riegeli");
    fs::write(folder.file("broken.riegeli"), damaged).expect("written");
}

/// The lines of a document's code blocks that call the program, each with those that it goes on in, without comments.
fn commands(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
    let mut commands = Vec::new();
    let (mut is_code, mut goes_on) = (false, false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if goes_on && let Some(last) = commands.last_mut() {
            *last = format!("{last}\n{line}");
        } else if is_code && line.starts_with("tidemill ") {
            commands.push(line.to_owned());
        }
        goes_on = is_code && line.ends_with('\\');
    }
    commands
}

/// The servers that the documents' URLs stand for.
struct Servers {
    clickhouse: ClickHouse,
    cassandra: Cassandra,
    store: S3,
}

impl Servers {
    fn put_into(&self, command: &str) -> String {
        let clickhouse = format!("clickhouse://default@{}/", self.clickhouse.native());
        let cassandra = format!("cql://{}/", self.cassandra.native());
        let mut command = command.replace("clickhouse://me@host/", &clickhouse);
        for host in ["cql://host/", "cql://localhost/"] {
            command = command.replace(host, &cassandra);
        }
        command
    }

    fn shell(&self, folder: &Folder, command: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_tidemill"));
        let programs = program.parent().expect("a folder").display();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec {command}"));
        shell.current_dir(folder.path()).stdin(Stdio::null());
        shell.env("PATH", path).envs(self.store.variables());
        shell
    }

    fn run(&self, folder: &Folder, command: &str) -> Run {
        Run::of(self.shell(folder, command).output().expect("started"))
    }

    /// Runs a command that goes on for ever until it tells that rows were copied, and interrupts it.
    fn run_for_a_while(&self, folder: &Folder, command: &str) -> Run {
        let mut shell = self.shell(folder, command);
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = shell.spawn().expect("started");
        let mut stderr = running.stderr.take().expect("a pipe");
        let (mut said, begun) = (Vec::new(), Instant::now());
        let mut byte = [0];
        while !String::from_utf8_lossy(&said).contains("rows, as far as") {
            let read = stderr.read(&mut byte).expect("read");
            assert!(
                read > 0 && begun.elapsed() < Duration::from_secs(60),
                "{}",
                String::from_utf8_lossy(&said)
            );
            said.extend_from_slice(&byte);
        }
        let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
        assert!(interrupt.expect("kill").success());
        Run::of(running.wait_with_output().expect("ended"))
    }
}

#[test]
fn the_commands_of_the_documents_work_in_their_order() {
    let (Some(clickhouse), Some(cassandra), Some(store)) = (ClickHouse::need(), Cassandra::need(), S3::need()) else {
        return;
    };
    let servers = Servers {
        clickhouse,
        cassandra,
        store,
    };
    let mut wrong = Vec::new();
    for document in ["README.md", "docs/cql.md"] {
        // What one document has made does not lie in the way of the next.
        let folder = Folder::with(&[]);
        things(&folder);
        for database in ["shop", "test"] {
            servers
                .clickhouse
                .query(&format!("CREATE DATABASE IF NOT EXISTS {database}"))
                .expect("made");
        }
        fs::write(folder.file("keyspace.rn"), KEYSPACE).expect("written");
        let node = servers.cassandra.native().to_string();
        folder.run(&["bench", "schema", "keyspace.rn", &node]).done();
        let put = "tidemill copy events.riegeli s3://bucket/events.riegeli --overwrite";
        assert_eq!(servers.run(&folder, put).code, Some(0));
        let commands = commands(document);
        assert!(commands.len() > 1, "{document}: {commands:?}");
        for command in commands {
            let (mut typed, mut expected) = (servers.put_into(&command), Some(0));
            // Load tests are run by their own document's test.
            if typed.starts_with("tidemill bench") || typed.contains("tidemill-tour") {
                continue;
            }
            if typed.starts_with("tidemill tour") {
                typed = typed.replace("tidemill tour", "tidemill tour --load-test 1");
            }
            if typed.starts_with("tidemill salvage") {
                expected = Some(1);
            }
            let run = match typed.contains("--follow") {
                true => {
                    expected = Some(130);
                    servers.run_for_a_while(&folder, &typed)
                }
                false => servers.run(&folder, &typed),
            };
            if run.code != expected {
                wrong.push(format!(
                    "{document}: {command}\n  exits with {:?}: {}",
                    run.code,
                    run.stderr.trim_end()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the README shows of the tour, but for its times, is what the tour prints.
#[test]
fn the_tour_prints_what_the_readme_shows() {
    let folder = Folder::with(&[]);
    let printed = folder.run(&["tour", "--load-test", "1"]).done();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let shown = readme
        .split("```\n")
        .find(|block| block.contains("── What is in them?"));
    let lines = shown.expect("a block").lines();
    let is_timed = |line: &str| line.contains(" s (") || line.ends_with(" s") || line.contains(" in all)");
    let is_left_out = |line: &str| line.starts_with('[') || line.ends_with(" ms)");
    let mut compared = 0;
    for line in lines.filter(|line| !line.is_empty() && !is_timed(line) && !is_left_out(line)) {
        // The README's tour is of the usual length.
        let line = line.replace("--duration 10s", "--duration 1s");
        assert!(printed.contains(&line), "not printed: {line}\n{printed}");
        compared += 1;
    }
    assert!(compared > 20, "{compared} lines");
}
