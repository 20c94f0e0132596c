//! `tidemill-bench` and Latte on the same workload, in turns: prepared inserts of one bigint with 256 under way, in one thread and in two, and
//! a function that does nothing. What counts is the processor time of the whole process, its start and its report with it. A single insert
//! is what a start takes. What Latte does not do is asked of `tidemill-bench` alone: more inserts (memory is to stay what it was), small
//! questions to ClickHouse, look-ups in `mem:`.
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
use tidemill_testkit::{Cassandra, ClickHouse, NoStorage};

/// What is asked of both.
struct Question<'a> {
    name: &'a str,
    address: String,
    script: &'a Path,
    calls: u64,
    /// Calls under way in a thread, and threads.
    slots: (u32, u32),
    /// Whether Latte is asked too.
    is_shared: bool,
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
    let [insert, empty, question] = ["insert.rn", "empty.rn", "question.rn"].map(|name| folder.path().join(name));
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
    let clickhouse = ClickHouse::need();
    let one = |name, address: &dyn ToString, script, calls| Question {
        name,
        address: address.to_string(),
        script,
        calls,
        slots: (256, 1),
        is_shared: true,
    };
    let (endpoint_address, node_address) = (endpoint.address(), node.native());
    let mut questions = vec![
        one("insert, no-storage endpoint", &endpoint_address, &insert, inserts),
        Question {
            slots: (256, 2),
            ..one("the same, two threads", &endpoint_address, &insert, inserts)
        },
        one("insert, Cassandra", &node_address, &insert, inserts),
        one("empty function", &node_address, &empty, 3 * inserts),
        one("a single insert", &endpoint_address, &insert, 1),
        Question {
            is_shared: false,
            ..one("five times the inserts", &endpoint_address, &insert, 5 * inserts)
        },
        Question {
            is_shared: false,
            slots: (16, 1),
            ..one("look-ups in mem:", &"mem:", Path::new("key_value.rn"), inserts)
        },
    ];
    if let Some(server) = &clickhouse {
        fs::write(&question, QUESTION)?;
        let address = format!("clickhouse://{}", server.native());
        questions.push(Question {
            is_shared: false,
            slots: (16, 1),
            ..one("small SELECT, ClickHouse", &address, &question, inserts / 20)
        });
    }
    println!(
        "{:<30} {:<16} {:>9} {:>7} {:>9} {:>9} {:>8} {:>6}   (medians of {rounds} rounds)",
        "", "", "µs a call", "ratio", "wall s", "calls/s", "peak MB", "least"
    );
    for question in &questions {
        let mut usages = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (number, (program, usages)) in [latte(), ours()].into_iter().zip(&mut usages).enumerate() {
                if number > 0 || question.is_shared {
                    usages.push(ask(&program, question, folder.path())?);
                }
            }
        }
        let mut first = None;
        let asked = ["latte", "tidemill-bench"].into_iter().zip(&usages);
        for (name, usages) in asked.filter(|(_, usages)| !usages.is_empty()) {
            let per_call = |cpu: f64| cpu * 1e6 / question.calls as f64;
            let cpu = per_call(median(usages, |usage| usage.cpu.as_secs_f64()));
            let least = usages
                .iter()
                .map(|usage| usage.cpu.as_secs_f64())
                .fold(f64::INFINITY, f64::min);
            let wall = median(usages, |usage| usage.wall.as_secs_f64());
            println!(
                "{:<30} {name:<16} {cpu:>9.3} {:>7.2} {wall:>9.3} {:>9.0} {:>8.1} {:>6.3}",
                question.name,
                cpu / *first.get_or_insert(cpu),
                question.calls as f64 / wall,
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
    // Latte leaves its log where it runs.
    command
        .current_dir(folder)
        .arg("run")
        .arg(question.script)
        .arg("-q")
        .args(["-p", &question.slots.0.to_string(), "-t", &question.slots.1.to_string()])
        .args(["-d", &question.calls.to_string()])
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

const QUESTION: &str = r#"
pub async fn prepare(db) {
    db.prepare("question", "SELECT number FROM system.numbers WHERE number >= ? LIMIT 1").await?;
}

pub async fn run(db, i) {
    db.execute_prepared("question", [i % 100]).await?
}
"#;
