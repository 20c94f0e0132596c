//! The command lines that stand in the documents, run as a reader would: in their order, in one folder, by a shell.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::{Cassandra, ClickHouse, MariaDb, Postgres, S3, corpus_bytes, npm_package};

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
    drop(folder.run(&["tour", "--load-test", "0"]).done());
}

/// A command of a document.
#[derive(Debug)]
struct Step {
    command: String,
    /// The exit code that the document names (`# exits with 1`), else 0.
    exits_with: i32,
    /// The output that the document shows below the command.
    shown: Option<String>,
}

/// The commands in the blocks of a document that are called `sh`, each with the lines that it continues on. A block called
/// `text` that follows shows what the last of them prints.
fn steps(document: &str) -> Vec<Step> {
    let text = read(document);
    let mut steps: Vec<Step> = Vec::new();
    let (mut block, mut last_block, mut continues) = (None, "", false);
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            if let Some(ended) = block.take() {
                last_block = ended;
                continue;
            }
            if kind == "text"
                && last_block == "sh"
                && let Some(step) = steps.last_mut()
            {
                step.shown = Some(String::new());
            }
            block = Some(kind);
            continue;
        }
        match block {
            Some("sh") if continues => {
                let step = steps.last_mut().expect("a line before");
                step.command.push('\n');
                step.command.push_str(line);
            }
            Some("sh") if !line.is_empty() && !line.starts_with('#') => {
                let exits_with = line.split_once("# exits with ").map_or(0, |(_, code)| {
                    let digits = code.split(|c: char| !c.is_ascii_digit()).next();
                    digits.and_then(|code| code.parse().ok()).expect("an exit code")
                });
                steps.push(Step {
                    command: line.to_owned(),
                    exits_with,
                    shown: None,
                });
            }
            Some("text") if last_block == "sh" => {
                if let Some(shown) = steps.last_mut().and_then(|step| step.shown.as_mut()) {
                    shown.push_str(line);
                    shown.push('\n');
                }
            }
            // What stands between two blocks parts them.
            None if !line.is_empty() => last_block = "",
            _ => {}
        }
        continues = block == Some("sh") && line.ends_with('\\');
    }
    steps
}

fn read(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// A shell that finds the program, in the folder.
fn shell(folder: &Folder, command: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_tidemill"));
    let programs = program.parent().expect("a folder").display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell.current_dir(folder.path()).stdin(Stdio::null()).env("PATH", path);
    // DuckDB as it is installed in a system.
    if let Some(duckdb) = npm_package("@duckdb/node-bindings-linux-x64@1.5.6-r.1") {
        shell.env("LD_LIBRARY_PATH", duckdb);
    }
    shell
}

/// Which lines of what is shown are not printed, in their order. `…` stands for lines that are left out.
fn not_printed(shown: &str, run: &Run) -> Vec<String> {
    let printed = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
    let mut printed = printed.lines().map(str::trim_end);
    let mut missing = Vec::new();
    for line in shown.lines().map(str::trim_end) {
        if line != "…" && !line.is_empty() && !printed.any(|found| found == line) {
            missing.push(line.to_owned());
            break;
        }
    }
    missing
}

/// Runs the commands of a document in their order; those that need what is not there are left out. What went wrong.
fn run_page(document: &str, servers: Option<&Servers>) -> Vec<String> {
    // What one document has made does not lie in the way of the next.
    let folder = Folder::with(&[]);
    if MADE_TABLES.contains(&document) {
        things(&folder);
    }
    if let Some(servers) = servers {
        servers.empty(&folder);
    }
    let steps = steps(document);
    assert!(!steps.is_empty(), "{document} has no commands");
    let mut wrong = Vec::new();
    for step in steps {
        let mut command = step.command.clone();
        // Load tests are run by their own document's test.
        if command.starts_with("tidemill bench") {
            continue;
        }
        let needs_server = command.contains("://") || command.contains("--follow");
        command = match servers {
            Some(servers) => servers.put_into(&command),
            None if needs_server => continue,
            None => command,
        };
        if !command.contains("--load-test") {
            command = command.replace("tidemill tour", "tidemill tour --load-test 1");
        }
        if step.shown.as_ref().is_some_and(|shown| shown.starts_with('┌')) {
            // As on a terminal.
            command = command.replacen("tidemill sql", "tidemill sql --format table", 1);
        }
        let (run, exits_with) = match servers {
            Some(servers) if command.contains("--follow") => (servers.run_for_a_while(&folder, &command), 130),
            Some(servers) => (servers.run(&folder, &command), step.exits_with),
            None => (
                Run::of(shell(&folder, &command).output().expect("started")),
                step.exits_with,
            ),
        };
        if run.code != Some(exits_with) {
            wrong.push(format!(
                "{document}: {}\n  exits with {:?}: {}",
                step.command,
                run.code,
                run.stderr.trim_end()
            ));
        }
        for line in step.shown.iter().flat_map(|shown| not_printed(shown, &run)) {
            wrong.push(format!(
                "{document}: {}\n  does not print {line:?}, but {}{}",
                step.command,
                String::from_utf8_lossy(&run.stdout),
                run.stderr
            ));
        }
    }
    wrong
}

/// The documents with commands.
const PAGES: [&str; 14] = [
    "README.md",
    "docs/tutorial.md",
    "docs/recipes.md",
    "docs/formats/csv.md",
    "docs/formats/excel.md",
    "docs/sqlite.md",
    "docs/mysql.md",
    "docs/postgres.md",
    "docs/drivers.md",
    "docs/troubleshooting.md",
    "docs/sql-dialects.md",
    "docs/types.md",
    "docs/exit-codes.md",
    "docs/cql.md",
];

/// Those whose commands name tables and files of the reader's.
const MADE_TABLES: [&str; 2] = ["README.md", "docs/cql.md"];

/// The servers that the documents' URLs stand for.
struct Servers {
    clickhouse: ClickHouse,
    cassandra: Cassandra,
    mariadb: MariaDb,
    postgres: Postgres,
    store: S3,
}

impl Servers {
    fn put_into(&self, command: &str) -> String {
        let clickhouse = format!("clickhouse://default@{}/", self.clickhouse.native());
        let cassandra = format!("cql://{}/", self.cassandra.native());
        let mut command = command.replace("clickhouse://me@host/", &clickhouse);
        command = command.replace("mysql://me@host/shop", &self.mariadb.url());
        command = command.replace("postgres://me@host/shop", &self.postgres.url());
        for host in ["cql://host/", "cql://localhost/"] {
            command = command.replace(host, &cassandra);
        }
        command
    }

    fn shell(&self, folder: &Folder, command: &str) -> Command {
        let mut shell = shell(folder, &format!("exec {command}"));
        shell.envs(self.store.variables());
        shell
    }

    fn run(&self, folder: &Folder, command: &str) -> Run {
        Run::of(self.shell(folder, command).output().expect("started"))
    }

    /// The databases that the documents name, without tables, and the object that they read.
    fn empty(&self, folder: &Folder) {
        for database in ["shop", "test"] {
            for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
                let done = self.clickhouse.query(&format!("{statement} {database}"));
                done.expect("a database");
            }
        }
        let emptied = self.mariadb.query("DROP DATABASE shop; CREATE DATABASE shop");
        emptied.expect("an empty database");
        let emptied = self.postgres.psql("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        emptied.expect("an empty database");
        fs::write(folder.file("keyspace.rn"), KEYSPACE).expect("written");
        let node = self.cassandra.native().to_string();
        folder.run(&["bench", "schema", "keyspace.rn", &node]).done();
        let events = corpus_bytes("riegeli/cpp/nested.transpose_zstd.riegeli");
        fs::write(folder.file("an_object.riegeli"), events).expect("written");
        let put = "tidemill copy an_object.riegeli s3://bucket/events.riegeli --overwrite";
        assert_eq!(self.run(folder, put).code, Some(0));
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
    let wrong: Vec<String> = PAGES.iter().flat_map(|page| run_page(page, None)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_commands_of_the_documents_work_with_servers() {
    let (Some(clickhouse), Some(cassandra), Some(mariadb), Some(postgres), Some(store)) = (
        ClickHouse::need(),
        Cassandra::need(),
        MariaDb::need(),
        Postgres::need(),
        S3::need(),
    ) else {
        return;
    };
    let servers = Servers {
        clickhouse,
        cassandra,
        mariadb,
        postgres,
        store,
    };
    let pages = PAGES.iter().filter(|page| {
        let needs = |step: Step| step.command.contains("://") || step.command.contains("--follow");
        steps(page).into_iter().any(needs)
    });
    let wrong: Vec<String> = pages.flat_map(|page| run_page(page, Some(&servers))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `cargo xtask command-line` writes the page.
#[test]
fn the_reference_has_what_every_command_prints_as_its_help() {
    let page = read("docs/command-line.md");
    let mut listed = vec![String::from("tidemill")];
    let mut sections = Vec::new();
    let old = |name: &str| format!("docs/command-line.md is old ({name}): run cargo xtask command-line");
    for section in page.split("\n## `").skip(1) {
        let (name, text) = section.split_once("`\n\n```text\n").expect("a name and a block");
        let shown = text.split_once("\n```").expect("the end of a block").0;
        let mut help = Command::new(env!("CARGO_BIN_EXE_tidemill"));
        help.args(name.split(' ').skip(1)).arg("--help");
        help.env_clear().env("COLUMNS", "80");
        let printed = Run::of(help.stdin(Stdio::null()).output().expect("started")).done();
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        assert!(printed.join("\n") == shown, "{}", old(name));
        let commands = printed.iter().skip_while(|line| **line != "Commands:").skip(1);
        for line in commands.take_while(|line| !line.is_empty()) {
            let below = line.strip_prefix("  ").and_then(|line| line.split(' ').next());
            if let Some(below) = below.filter(|below| !["", "help"].contains(below)) {
                listed.push(format!("{name} {below}"));
            }
        }
        sections.push(name.to_owned());
    }
    listed.sort();
    sections.sort();
    assert!(sections == listed, "{}", old("a command"));
}

/// What the README shows of the tour, but for its times, is what the tour prints.
#[test]
fn the_tour_prints_what_the_readme_shows() {
    let folder = Folder::with(&[]);
    let printed = folder.run(&["tour", "--load-test", "1"]).done();
    let readme = read("README.md");
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
