//! What copies from store to store cost: megabytes of the xBase table for each second of processor time of `tidemill copy`, kernel
//! time with it, and on the wall. `cargo bench -p tidemill -p tidemill-sql --bench pairs [RECORDS]` (1,600,000); stores whose servers
//! are not there are left out. Beside the copies stand the limits that they have in common: reading the table, and its columns
//! uncompressed.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a panic is how a benchmark fails")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::{Cassandra, ClickHouse};

#[path = "../tests/suite/big_table.rs"]
mod big_table;

/// Cassandra takes rows one by one.
const CASSANDRA_SHARE: u32 = 10;

fn main() {
    let records = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let records: u32 = records.unwrap_or(1_600_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    big_table::write(&folder.path().join("big.dbf"), records);
    big_table::write(&folder.path().join("some.dbf"), records / CASSANDRA_SHARE);
    println!("{records} records; MB of the table a second of processor time, and on the wall");
    let bench = Bench { folder: folder.path() };
    bench.run(
        "read",
        "big.dbf",
        &[
            "sql",
            "SELECT MAX(ID), MAX(NAME), MAX(AMOUNT), MAX(BORN), MAX(NOTE) FROM big",
        ],
    );
    for copy in [
        "big.arrow",
        "big.riegeli",
        "big.parquet",
        "big.csv",
        "big.jsonl",
        "big.native",
    ] {
        bench.copy("big.dbf", copy, &[]);
    }
    bench.copy("big.dbf", "plain.riegeli", &["--riegeli", "uncompressed"]);
    for source in [
        "big.arrow",
        "plain.riegeli",
        "big.riegeli",
        "big.parquet",
        "big.csv",
        "big.native",
    ] {
        bench.copy(source, "back.dbf", &["--overwrite"]);
    }
    if let Some(server) = ClickHouse::need() {
        let table = format!("clickhouse://default@{}/default/big", server.native());
        let lz4 = format!("{table}?compression=lz4");
        bench.copy("big.dbf", &table, &["--create"]);
        bench.copy("big.dbf", &lz4, &["--create", "--overwrite"]);
        bench.copy("big.riegeli", &table, &["--create", "--overwrite"]);
        bench.copy(&table, "back.dbf", &["--overwrite"]);
        bench.copy(&lz4, "back.dbf", &["--overwrite"]);
        bench.copy(&table, "back.riegeli", &["--overwrite"]);
    }
    if let Some(node) = Cassandra::need() {
        let client = format!("cql://{}", node.native());
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (options, _) = tidemill_cql::Options::parse(&client).expect("a URL");
            let client = tidemill_cql::Client::connect(options).await.expect("a client");
            let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
            let keyspace = format!("CREATE KEYSPACE ks WITH replication = {replication}");
            client.execute(&keyspace).await.expect("made");
        });
        let table = format!("{client}/ks/some");
        bench.copy("some.dbf", &table, &["--create", "--primary-key", "ID"]);
        bench.copy(&table, "back.dbf", &["--overwrite"]);
    }
}

struct Bench<'f> {
    folder: &'f Path,
}

impl Bench<'_> {
    fn copy(&self, source: &str, destination: &str, options: &[&str]) {
        let arguments = [&["copy", source, destination, "--lossy"], options].concat();
        let table = if source.contains("some") || destination.contains("some") {
            "some.dbf"
        } else {
            "big.dbf"
        };
        self.run(
            &format!("{} → {}", named(source), named(destination)),
            table,
            &arguments,
        );
    }

    fn run(&self, name: &str, table: &str, arguments: &[&str]) {
        let bytes = std::fs::metadata(self.folder.join(table)).expect("the table").len();
        let (before, begin) = (children_time(), Instant::now());
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill"));
        command.current_dir(self.folder).args(arguments);
        let output = command.stdin(Stdio::null()).output().expect("started");
        let (spent, wall) = (children_time() - before, begin.elapsed());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64().max(0.01);
        println!("{name:40} {:8.0} {:8.0}", rate(spent), rate(wall));
    }
}

/// A place without what differs from run to run.
fn named(place: &str) -> String {
    match place.split_once("://") {
        Some((kind, rest)) => match rest.split_once('?') {
            Some((_, options)) => format!("{kind} ({options})"),
            None => kind.to_owned(),
        },
        None => place.to_owned(),
    }
}

/// `cutime` and `cstime` of proc_pid_stat(5): the processor time of children that have ended, in hundredths of a second.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("read");
    let (_, fields) = stat.rsplit_once(") ").expect("a line");
    let fields = fields.split(' ').skip(13).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}
