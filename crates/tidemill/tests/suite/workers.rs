//! `tidemill worker`, asked by `tidemill sql --workers`.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::{Folder, Run};
use crate::serve::certificates::{authority, identity};

const GROUPED: &str = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM 'data/part-*.jsonl' GROUP BY k ORDER BY k";

/// Half a million rows in four files of 5 MB.
fn events() -> Folder {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.file("data")).expect("made");
    for file in 0..4 {
        let mut rows = String::new();
        for row in 0..125_000 {
            let id = file * 125_000 + row;
            writeln!(rows, "{{\"id\":{id},\"k\":{},\"v\":{}}}", id % 31, id % 1_009).expect("text");
        }
        std::fs::write(folder.file(&format!("data/part-{file}.jsonl")), rows).expect("written");
    }
    folder
}

/// A worker, which ends with this.
struct Worker {
    child: Child,
    address: String,
    /// A worker that cannot say what it does ends.
    _lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Worker {
    fn new(folder: &Folder, args: &[&str]) -> Self {
        let args = [&["worker", "data", "--listen", "127.0.0.1:0"], args].concat();
        let mut child = folder.command(&args).stdout(Stdio::piped()).spawn().expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let line = lines.next().expect("a line").expect("UTF-8");
        let address = line.strip_prefix("Worker      tidemill sql --workers ");
        let address = address.and_then(|rest| rest.strip_suffix(" …")).expect("an address");
        Self {
            address: address.to_owned(),
            child,
            _lines: lines,
        }
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn addresses(workers: &[Worker]) -> String {
    let addresses: Vec<&str> = workers.iter().map(|worker| worker.address.as_str()).collect();
    addresses.join(",")
}

#[test]
fn a_worker_that_dies_or_hangs_costs_a_retry_and_not_the_statement() {
    let folder = events();
    let alone = folder.run(&["sql", GROUPED, "--format", "csv"]).done();
    let workers: Vec<Worker> = (0..4).map(|_| Worker::new(&folder, &[])).collect();
    let together = addresses(&workers);
    let args = ["sql", GROUPED, "--format", "csv", "--workers", &together];
    let run = folder.run(&args);
    assert_eq!(run.stderr, "");
    assert_eq!(run.done(), alone);
    let plan = folder
        .run(&["sql", "--explain", GROUPED, "--workers", &together])
        .done();
    assert!(plan.contains("WorkerScan"), "{plan}");

    // In the midst of a statement.
    let command = folder
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = command.expect("started");
    std::thread::sleep(Duration::from_millis(150));
    workers[0].signal("-KILL");
    assert_eq!(Run::of(child.wait_with_output().expect("ended")).done(), alone);

    // Before a statement: one is gone, another does not answer.
    workers[1].signal("-STOP");
    let began = Instant::now();
    let run = folder.run(&args);
    assert!(began.elapsed() < Duration::from_secs(60));
    for gone in &workers[..2] {
        assert!(
            run.stderr.contains(&format!("worker {}: ", gone.address)),
            "{}",
            run.stderr
        );
    }
    assert_eq!(run.done(), alone);

    // In the midst of a statement one hangs: it is noticed by its silence.
    let command = folder
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = command.expect("started");
    std::thread::sleep(Duration::from_millis(5_150));
    workers[2].signal("-STOP");
    assert_eq!(Run::of(child.wait_with_output().expect("ended")).done(), alone);
}

#[test]
fn workers_let_in_who_has_the_token_and_a_certificate() {
    let folder = events();
    let known = authority(&folder, "authority");
    identity(&folder, "worker", &known);
    identity(&folder, "ann", &known);
    identity(&folder, "eve", &authority(&folder, "other"));
    std::fs::write(folder.file("token"), "0123456789abcdef0123456789abcdef\n").expect("written");
    std::fs::write(folder.file("wrong"), "fedcba9876543210fedcba9876543210\n").expect("written");
    std::fs::write(folder.file("short"), "abc\n").expect("written");
    let guarded = [
        "--token-file",
        "token",
        "--tls-cert",
        "worker.pem",
        "--tls-key",
        "worker.key",
        "--tls-client-ca",
        "authority.pem",
        "--ca",
        "authority.pem",
    ];
    let workers: Vec<Worker> = (0..2).map(|_| Worker::new(&folder, &guarded)).collect();
    // The certificate is one of localhost.
    let addresses = addresses(&workers).replace("127.0.0.1", "localhost");
    let ask = |more: &[&str]| {
        let args = ["sql", GROUPED, "--format", "csv", "--workers", &addresses];
        folder.run(&[&args, more].concat())
    };
    let ann = [
        "--workers-ca",
        "authority.pem",
        "--workers-cert",
        "ann.pem",
        "--workers-key",
        "ann.key",
    ];
    let alone = folder.run(&["sql", GROUPED, "--format", "csv"]).done();
    assert_eq!(
        ask(&[&ann[..], &["--workers-token-file", "token"]].concat()).done(),
        alone
    );
    for (more, told) in [
        (
            [&ann[..], &["--workers-token-file", "wrong"]].concat(),
            "asks for a token",
        ),
        (ann.to_vec(), "asks for a token"),
        ([&ann[..], &["--workers-token-file", "short"]].concat(), "at least 16"),
        (vec!["--workers-token-file", "token"], "ertificate|UnknownIssuer"),
        (
            vec!["--workers-ca", "authority.pem", "--workers-token-file", "token"],
            "ertificate|connection closed|broken pipe",
        ),
        (
            vec![
                "--workers-ca",
                "authority.pem",
                "--workers-cert",
                "eve.pem",
                "--workers-key",
                "eve.key",
                "--workers-token-file",
                "token",
            ],
            "ertificate|UnknownCA|DecryptError|connection closed|broken pipe",
        ),
    ] {
        let said = ask(&more).failed();
        assert!(told.split('|').any(|told| said.contains(told)), "{more:?}: {said}");
    }
    let refused = folder.run(&["worker", "data", "--listen", "0.0.0.0:0"]).failed();
    assert!(refused.contains("--token-file or --tls-client-ca"), "{refused}");
    let refused = folder.run(&["worker", "none"]).failed();
    assert!(refused.contains("none"), "{refused}");
}
