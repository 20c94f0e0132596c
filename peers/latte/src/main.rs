//! `tidemill-bench` and Latte on the same workload, in turns: prepared inserts of one bigint with 256 under way in one thread, and a function
//! that does nothing. What counts is the processor time of the whole process, its start and its report with it.
//!
//! `cargo run --release -p tidemill-peers-latte [-- ROUNDS [INSERTS]]`. The programs are found on `PATH`, or named by `LATTE`
//! (`cargo install latte-cli --version 0.29.0 --locked`) and `TIDEMILL_BENCH`; the server is that of `cargo xtask provision`.

#[path = "../../src/process.rs"]
mod process;

use std::{
    env,
    error::Error,
    fs,
    path::Path,
    process::{Command, ExitCode},
};

use process::{MEASURE, Program, Usage, in_between, measure};
use tidemill_testkit::{Cassandra, NoStorage};

/// What is asked of both.
struct Question<'a> {
    name: &'a str,
    address: String,
    script: &'a Path,
    calls: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == MEASURE => in_between(rest),
        _ => compare(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let number = |at: usize, default: u64| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (rounds, inserts) = (number(0, 5)?, number(1, 1_000_000)?);
    let Some(node) = Cassandra::need() else {
        return Err("there is no Cassandra".into());
    };
    let endpoint = NoStorage::start(node.native(), "INSERT INTO tidemill_peers.basic")?;
    let folder = tempfile::tempdir()?;
    let (insert, empty) = (folder.path().join("insert.rn"), folder.path().join("empty.rn"));
    fs::write(&insert, INSERT)?;
    fs::write(&empty, EMPTY)?;
    let schema = Command::new(ours())
        .arg("schema")
        .arg(&insert)
        .arg(node.native().to_string())
        .status()?;
    if !schema.success() {
        return Err("the table was not made".into());
    }
    let questions = [
        Question {
            name: "insert, no-storage endpoint",
            address: endpoint.address().to_string(),
            script: &insert,
            calls: inserts,
        },
        Question {
            name: "insert, Cassandra",
            address: node.native().to_string(),
            script: &insert,
            calls: inserts,
        },
        Question {
            name: "empty function",
            address: node.native().to_string(),
            script: &empty,
            calls: 3_000_000,
        },
    ];
    println!(
        "{:<30} {:<16} {:>9} {:>7} {:>9} {:>8} {:>6}   (medians of {rounds} rounds)",
        "", "", "µs a call", "ratio", "calls/s", "peak MB", "least"
    );
    for question in &questions {
        let mut usages = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (program, usages) in [latte(), ours()].into_iter().zip(&mut usages) {
                usages.push(ask(&program, question, folder.path())?);
            }
        }
        let mut first = None;
        for (name, usages) in ["latte", "tidemill-bench"].into_iter().zip(&usages) {
            let per_call = |cpu: f64| cpu * 1e6 / question.calls as f64;
            let cpu = per_call(median(usages, |usage| usage.cpu.as_secs_f64()));
            let least = usages
                .iter()
                .map(|usage| usage.cpu.as_secs_f64())
                .fold(f64::INFINITY, f64::min);
            println!(
                "{:<30} {name:<16} {cpu:>9.3} {:>7.2} {:>9.0} {:>8.1} {:>6.3}",
                question.name,
                cpu / *first.get_or_insert(cpu),
                question.calls as f64 / median(usages, |usage| usage.wall.as_secs_f64()),
                median(usages, |usage| usage.peak as f64) / 1e6,
                per_call(least),
            );
        }
    }
    println!("the endpoint answered {} inserts", endpoint.answered());
    Ok(())
}

/// One run of a program, in a folder of its own for its report.
fn ask(program: &str, question: &Question<'_>, folder: &Path) -> Result<Usage, Box<dyn Error>> {
    let report = folder.join("report.json");
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(question.script)
        .args(["-q", "-p", "256", "-t", "1", "-d"])
        .arg(question.calls.to_string())
        .arg("-o")
        .arg(&report)
        .arg(&question.address);
    let usage = measure(&Program { command, input: None }).map_err(|error| format!("{program}: {error}"))?;
    fs::remove_file(report)?;
    Ok(usage)
}

fn median(usages: &[Usage], of: impl Fn(&Usage) -> f64) -> f64 {
    let mut all: Vec<f64> = usages.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn latte() -> String {
    env::var("LATTE").unwrap_or_else(|_| "latte".to_owned())
}

fn ours() -> String {
    env::var("TIDEMILL_BENCH").unwrap_or_else(|_| "tidemill-bench".to_owned())
}

const INSERT: &str = r#"
const INSERT = "insert";

pub async fn schema(db) {
    db.execute("CREATE KEYSPACE IF NOT EXISTS tidemill_peers
        WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await?;
    db.execute("CREATE TABLE IF NOT EXISTS tidemill_peers.basic (id bigint PRIMARY KEY)").await?;
}

pub async fn prepare(db) {
    db.prepare(INSERT, "INSERT INTO tidemill_peers.basic (id) VALUES (:id)").await?;
}

pub async fn run(db, i) {
    db.execute_prepared(INSERT, [i]).await?
}
"#;

const EMPTY: &str = "pub async fn run(db, i) {}";
