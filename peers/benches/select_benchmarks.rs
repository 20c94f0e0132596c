//! How much processor time, time on the wall and memory do ClickHouse's clients need for the same answers and inserts?
//!
//! Data: small questions (1000 rows of 3 numbers, 100 of 10, 10,000 of 1), an answer of 100 million numbers uncompressed and
//! by LZ4 and ZSTD, and inserts of 10 million rows of (UInt64, String of 8 to 20 bytes) into a table that keeps nothing. The
//! rows of an insert are made once, a block of 65,536 that is sent again and again: what is measured is the client, not the
//! making of rows. klickhouse's client takes its rows away, so its block is copied each time.
//!
//! Each run is a process of its own against one ClickHouse 18.16.1 on the loopback; the contenders take turns, and the median
//! of the rounds counts. Of a small question, what a process takes that asks nothing is taken away.
//!
//! Run: `cargo bench --bench select_benchmarks [-- WORD]`, of the questions that have the word. The server has to be
//! installed by `cargo xtask provision`; ch-go takes part where there is Go.

use std::{collections::HashMap, env, error::Error, path::PathBuf, process::Command, time::Duration};

use tidemill_peers::{
    clickhouse::{self, CREATE_TABLE, Compression, OfficialClient, Small, Work, ch_go},
    process::{self, MEASURE, Program, Usage},
};
use tidemill_testkit::{ClickHouse, Installation, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [first, rest @ ..] if first == MEASURE => process::in_between(rest),
        [first, name, native, http, work @ ..] if first == CONTENDER => {
            let work: Work = work.join(" ").parse()?;
            let rows = clickhouse::run(name, native, http, work)?;
            if rows == work.rows() {
                Ok(())
            } else {
                Err(format!("{rows} rows instead of {}", work.rows()).into())
            }
        }
        words => compare(words.first().map_or("", String::as_str)),
    }
}

fn compare(word: &str) -> Result<(), Box<dyn Error>> {
    let contest = Contest::new()?;
    for small in [Small::Rows1000, Small::Columns10, Small::Rows10000] {
        let question = format!("small: {} rows of {} columns", small.rows(), small.columns());
        if question.contains(word) {
            let contenders = [
                "tidemill",
                "tidemill-threads",
                "tidemill-blocking",
                "socket",
                "klickhouse",
                "clickhouse-arrow",
                "clickhouse-http",
                "ch-go",
                "clickhouse client",
            ];
            let (without, _) = contest.run(&contenders, Work::Small(small, 0));
            let (mut usages, failures) = contest.run(&contenders, Work::Small(small, QUESTIONS));
            for (name, usage) in &mut usages {
                let start = without.get(name).copied().unwrap_or_default();
                usage.cpu = usage.cpu.saturating_sub(start.cpu) / QUESTIONS;
                usage.wall = usage.wall.saturating_sub(start.wall) / QUESTIONS;
            }
            print(
                &format!("{question}, microseconds each"),
                1e6,
                &contenders,
                &usages,
                &failures,
            );
            let limit = Usage {
                cpu: Duration::from_micros(40),
                ..Usage::default()
            };
            gate("processor, of 40 µs", 1.0, usages.get("tidemill"), Some(&limit));
            gate(
                "processor, of the bare socket",
                2.0,
                usages.get("tidemill"),
                usages.get("socket"),
            );
        }
    }
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let question = format!("select: 100 million numbers, {compression}, milliseconds");
        if question.contains(word) {
            let contenders: &[&str] = match compression {
                Compression::None => &[
                    "tidemill",
                    "clickhouse-arrow",
                    "clickhouse-http",
                    "ch-go",
                    "clickhouse client",
                ],
                Compression::Lz4 => &[
                    "tidemill",
                    "lz4",
                    "klickhouse",
                    "clickhouse-arrow",
                    "clickhouse-http",
                    "ch-go",
                    "clickhouse client",
                ],
                Compression::Zstd => &["tidemill", "clickhouse client"],
            };
            let (usages, failures) = contest.run(contenders, Work::Select(compression));
            print(&question, 1e3, contenders, &usages, &failures);
            let ours = usages.get("tidemill");
            match compression {
                Compression::None => gate("processor, of ch-go", 1.0, ours, usages.get("ch-go")),
                Compression::Lz4 => {
                    gate("processor, of bare LZ4", 1.15, ours, usages.get("lz4"));
                    gate(
                        "processor, of clickhouse client",
                        1.0,
                        ours,
                        usages.get("clickhouse client"),
                    );
                }
                Compression::Zstd => {}
            }
            gate_of_wall(contenders, &usages);
            if let Some(ours) = ours {
                println!("  gate: peak of memory below 16 MB: {}", met(ours.peak < 16_000_000));
            }
        }
    }
    for compression in [Compression::None, Compression::Lz4] {
        let question = format!("insert: 10 million rows, {compression}, milliseconds");
        if question.contains(word) {
            let contenders = [
                "tidemill",
                "klickhouse",
                "clickhouse-arrow",
                "clickhouse-http",
                "ch-go",
                "clickhouse client",
            ];
            let (usages, failures) = contest.run(&contenders, Work::Insert(compression));
            print(&question, 1e3, &contenders, &usages, &failures);
            gate("processor, of ch-go", 0.9, usages.get("tidemill"), usages.get("ch-go"));
        }
    }
    Ok(())
}

/// The server, and how each contender is started.
struct Contest {
    server: ClickHouse,
    official: OfficialClient,
    ch_go: Option<PathBuf>,
    _folder: tempfile::TempDir,
}

impl Contest {
    fn new() -> Result<Self, Box<dyn Error>> {
        let installation = Installation::find(Server::ClickHouse)?;
        let server = ClickHouse::start(&installation)?;
        server.query(CREATE_TABLE)?;
        let folder = tempfile::tempdir()?;
        let ch_go = ch_go::build(folder.path()).unwrap_or_else(|error| {
            println!("ch-go: {error}");
            None
        });
        Ok(Self {
            server,
            official: OfficialClient::new(&installation, folder.path().to_owned())?,
            ch_go,
            _folder: folder,
        })
    }

    /// The medians of those that could do the work, and why the others could not.
    fn run<'a>(&self, contenders: &[&'a str], work: Work) -> (HashMap<&'a str, Usage>, HashMap<&'a str, String>) {
        let mut runs: HashMap<&str, Vec<Usage>> = HashMap::new();
        let mut out: HashMap<&str, String> = HashMap::new();
        for _ in 0..ROUNDS {
            for name in contenders.iter().copied() {
                if out.contains_key(name) {
                    continue;
                }
                match self.measure(name, work) {
                    Ok(usage) => runs.entry(name).or_default().push(usage),
                    Err(error) => {
                        runs.remove(name);
                        out.insert(name, error.to_string());
                    }
                }
            }
        }
        let medians = runs.into_iter().map(|(name, runs)| (name, median(&runs)));
        (medians.collect(), out)
    }

    /// What the work took. That all rows of an insert came is the server's word, not the client's.
    fn measure(&self, name: &str, work: Work) -> Result<Usage, Box<dyn Error>> {
        let program = self.program(name, work)?;
        let before = self.inserted_rows()?;
        let usage = process::measure(&program)?;
        if let Work::Insert(_) = work {
            let rows = self.inserted_rows()? - before;
            if rows != work.rows() {
                return Err(format!("{rows} rows came to the server instead of {}", work.rows()).into());
            }
        }
        Ok(usage)
    }

    fn inserted_rows(&self) -> Result<u64, Box<dyn Error>> {
        let answer = self
            .server
            .query("SELECT sum(value) FROM system.events WHERE event = 'InsertedRows'")?;
        Ok(answer.trim().parse()?)
    }

    fn program(&self, name: &str, work: Work) -> Result<Program, Box<dyn Error>> {
        let (native, http) = (self.server.native().to_string(), self.server.http().to_string());
        let mut command = match (name, &self.ch_go) {
            ("clickhouse client", _) => return self.official.program(&native, work),
            ("ch-go", None) => return Err("there is no Go".into()),
            ("ch-go", Some(program)) => {
                let mut command = Command::new(program);
                command.arg(&native);
                command
            }
            _ => {
                let mut command = Command::new(env::current_exe()?);
                command.args([CONTENDER, name, &native, &http]);
                command
            }
        };
        command.args(work.to_string().split(' '));
        Ok(Program { command, input: None })
    }
}

fn median(runs: &[Usage]) -> Usage {
    let middle = |mut values: Vec<u128>| {
        values.sort_unstable();
        u64::try_from(values[values.len() / 2]).unwrap_or(u64::MAX)
    };
    Usage {
        cpu: Duration::from_nanos(middle(runs.iter().map(|run| run.cpu.as_nanos()).collect())),
        wall: Duration::from_nanos(middle(runs.iter().map(|run| run.wall.as_nanos()).collect())),
        peak: middle(runs.iter().map(|run| run.peak.into()).collect()),
    }
}

/// A table of all contenders, with the ratios to the first, or with what became of them.
fn print(
    question: &str,
    per_second: f64,
    contenders: &[&str],
    usages: &HashMap<&str, Usage>,
    failures: &HashMap<&str, String>,
) {
    println!("\n{question}");
    println!(
        "{:<20} {:>10} {:>8} {:>10} {:>8} {:>9}",
        "", "processor", "ratio", "wall", "ratio", "peak MB"
    );
    let first = contenders
        .first()
        .and_then(|name| usages.get(name))
        .copied()
        .unwrap_or_default();
    for name in contenders {
        let Some(usage) = usages.get(name) else {
            println!(
                "{name:<20} {:>10} {}",
                "-",
                failures.get(name).map_or("", String::as_str)
            );
            continue;
        };
        println!(
            "{name:<20} {:>10.1} {:>8.2} {:>10.1} {:>8.2} {:>9.1}",
            usage.cpu.as_secs_f64() * per_second,
            usage.cpu.as_secs_f64() / first.cpu.as_secs_f64(),
            usage.wall.as_secs_f64() * per_second,
            usage.wall.as_secs_f64() / first.wall.as_secs_f64(),
            usage.peak as f64 / 1e6,
        );
    }
}

/// Whether our processor time is at most `limit` of theirs.
fn gate(what: &str, limit: f64, ours: Option<&Usage>, theirs: Option<&Usage>) {
    if let (Some(ours), Some(theirs)) = (ours, theirs) {
        let ratio = ours.cpu.as_secs_f64() / theirs.cpu.as_secs_f64();
        println!("  gate: {what} at most {limit}: {ratio:.2}, {}", met(ratio <= limit));
    }
}

/// Whether our time on the wall is not above the best rival's.
fn gate_of_wall(contenders: &[&str], usages: &HashMap<&str, Usage>) {
    let rivals = contenders.iter().filter(|name| !["tidemill", "lz4"].contains(name));
    let best = rivals.filter_map(|name| usages.get(name)).map(|usage| usage.wall).min();
    if let (Some(ours), Some(best)) = (usages.get("tidemill"), best) {
        let ratio = ours.wall.as_secs_f64() / best.as_secs_f64();
        println!(
            "  gate: wall, of the best rival at most 1: {ratio:.2}, {}",
            met(ratio <= 1.0)
        );
    }
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "NOT met" }
}

/// The first argument of a contender that is a part of this program.
const CONTENDER: &str = "contender";
const ROUNDS: usize = 5;
const QUESTIONS: u32 = 2000;
