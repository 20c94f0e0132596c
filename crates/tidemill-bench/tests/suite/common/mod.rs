//! A workload in a folder of its own, and the program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

pub(crate) struct Bench {
    folder: TempDir,
    address: String,
}

impl Bench {
    pub(crate) fn new(address: impl Into<String>) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: address.into(),
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    /// `command`, its arguments up to a script in the folder, and the address behind them.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_to(arguments, &self.address)
    }

    /// The same with another address.
    pub(crate) fn command_to(&self, arguments: &[&str], address: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill-bench"));
        command
            .current_dir(self.folder.path())
            .env_remove("LATTE_WORKLOAD_PATH")
            .args(arguments)
            .arg(address)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// The results of the report that a run wrote to `name`.
    pub(crate) fn results(&self, name: &str) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.file(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter_map(|line| line.get("results").cloned())
            .collect()
    }
}

/// Restarts a server in a run of 8 seconds whose requests take 70 milliseconds by this statement. The run goes on, with errors. Its report is
/// `died.json`.
pub(crate) fn the_server_dies_and_comes_back(bench: &Bench, statement: &str, restart: impl FnOnce()) {
    bench.write(
        "w.rn",
        &format!("pub async fn run(ctx, i) {{ ctx.execute(\"{statement}\").await?; }}"),
    );
    // At 50 a second some are under way whenever it dies.
    let timing = [
        "-d",
        "8s",
        "-r",
        "50",
        "-p",
        "4",
        "-w",
        "0",
        "-s",
        "500ms",
        "--request-timeout",
        "1s",
    ];
    let running = bench
        .command(&[&["run", "w.rn", "-o", "died.json"][..], &timing].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while std::fs::read_to_string(bench.file("died.json")).map_or(0, |text| text.lines().count()) < 3 {
        std::thread::sleep(Duration::from_millis(50));
    }
    restart();
    let ran = Ran::from(running.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let results = &bench.results("died.json")[0];
    let (cycles, errors) = (results["cycles"].as_u64().unwrap(), &results["cycle_errors"]);
    let failed: u64 = errors.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert!(failed > 0 && failed < cycles, "{errors} of {cycles}");
}

/// Runs a workload of one prepared statement, which fails.
pub(crate) fn a_statement_fails(bench: &Bench, statement: &str, parameters: &str, why: &str) -> Ran {
    bench.write(
        "w.rn",
        &format!(
            "pub async fn prepare(ctx) {{ ctx.prepare(\"q\", {statement:?}).await?; }}\n\
             pub async fn run(ctx, i) {{ ctx.execute_prepared(\"q\", {parameters}).await?; }}"
        ),
    );
    bench
        .run(&["run", "w.rn", "-d", "1", "-w", "0", "-o", "r.json"])
        .fails(2, why)
}

/// Runs the workloads that come with the program, by their names; the tables are small.
pub(crate) fn bundled_workloads_run(address: &str) {
    let bench = Bench::new(address);
    let run = |command: &str, workload: &str, more: &[&str]| {
        let sizes = ["-P", "rows=200", "-P", "sensors=7", "-P", "accounts=30"];
        bench.run(&[&[command, workload], more, &sizes].concat())
    };
    bench.run(&["run", "empty.rn", "-d", "1000", "-o", "r.json"]).good();
    let functions = [
        ("key_value.rn", "read:0.8,write:0.2"),
        ("time_series.rn", "latest:0.5,write:0.5"),
        ("ledger.rn", "run:0.5,balance:0.3,pay:0.2"),
    ];
    for (workload, functions) in functions {
        if address != "mem:" {
            run("schema", workload, &[]).good();
            run("load", workload, &[]).good();
        }
        run("run", workload, &["-d", "120", "-f", functions, "-o", "r.json"]).good();
        let results = &bench.results("r.json")[0];
        assert_eq!(results["cycles"], 120, "{workload}");
        for (reads, rows_least) in [("read", 1), ("latest", 2), ("balance", 1)] {
            let read = &results["statements"][reads];
            if let Some(requests) = read["requests"].as_u64() {
                let rows = read["rows"].as_u64().unwrap();
                assert!(requests > 20 && rows >= rows_least * requests, "{workload}: {read}");
            }
        }
    }
    // Before and after payments there is as much money; of `mem:` nothing is left of them.
    run(
        "run",
        "ledger.rn",
        &["-f", "audit", "-d", "1", "-w", "0", "-o", "r.json"],
    )
    .good();
    let more = ["-f", "audit", "-d", "1", "-w", "0", "-o", "r.json", "-P", "accounts=31"];
    if address != "mem:" {
        bench
            .run(&[&["run", "ledger.rn"][..], &more].concat())
            .fails(2, "and there was 3100");
    }
}

/// What a program left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn fails(self, code: i32, why: &str) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        assert!(self.err.contains(why), "expected {why:?} in\n{}", self.err);
        self
    }
}
