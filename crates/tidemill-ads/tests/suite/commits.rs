//! What statements see of the commits of others: all of one, or nothing of it.

#![cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type};
use arrow_array::{Array, RecordBatch};
use tidemill_ads::sql::{Answer, Prepared, StatementOptions, Streamed};
use tidemill_ads::{Connection, Durability, Settings};

const RECORDS: i64 = 16_384;
const FOLDER: &str = "TIDEMILL_ADS_COMMITS_FOLDER";
const TEST: &str = "commits::readers_see_all_of_a_commit_or_nothing_of_it";

#[test]
fn readers_see_all_of_a_commit_or_nothing_of_it() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let torn = read_until(Path::new(&folder), &AtomicBool::new(false), &AtomicU64::new(0));
        // Whoever reads in the other process ends it; what it saw until then is told at once.
        std::process::exit(i32::from(torn.is_some()));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Connection::open(folder.path()).unwrap();
    let made = |sql: &str| run(&mut Connection::open(folder.path()).unwrap(), sql);
    made("CREATE TABLE t ( n Integer, pad Char(200) )");
    made("INSERT INTO t VALUES ( 1, 'x' )");
    while count(&run(&mut writer, "SELECT COUNT(*) FROM t")) < RECORDS {
        run(&mut writer, "INSERT INTO t SELECT n, pad FROM t");
    }
    let (stop, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut child = Reader::start(folder.path());
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| read_until(folder.path(), &stop, &reads)))
            .collect();
        let begun = Instant::now();
        let mut commits = 0;
        while (begun.elapsed() < Duration::from_secs(4) || commits < 5) && child.0.try_wait().unwrap().is_none() {
            commits += 1;
            run(&mut writer, &format!("UPDATE t SET n = {}", 1 + commits % 2));
        }
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), None, "{commits} commits");
        }
        let reads = reads.load(Ordering::Relaxed);
        println!("{commits} commits, {reads} reads");
        assert!(reads >= 20, "{commits} commits, {reads} reads");
    });
    assert!(
        child.0.try_wait().unwrap().is_none(),
        "the other process saw a part of a commit"
    );
}

/// Reads until it is stopped, and returns what it saw of a commit in part.
fn read_until(folder: &Path, stop: &AtomicBool, reads: &AtomicU64) -> Option<String> {
    let mut connection = Connection::open(folder).unwrap();
    while !stop.load(Ordering::Relaxed) {
        for sql in [
            "SELECT COUNT(*) FROM t WHERE n = 1",
            "SELECT COUNT(*) FROM t WHERE n = 1 AND pad = 'x'",
        ] {
            let ones = count(&run(&mut connection, sql));
            if ones != 0 && ones != RECORDS {
                return Some(format!("{sql}: {ones}"));
            }
        }
        let sums = run(&mut connection, "SELECT MIN(n), MAX(n) FROM t");
        if integer(&sums, 0) != integer(&sums, 1) {
            return Some(format!("from {} to {}", integer(&sums, 0), integer(&sums, 1)));
        }
        let mut seen: Vec<i64> = streamed(&mut connection, "SELECT n FROM t");
        seen.dedup();
        if seen.len() != 1 {
            return Some(format!("rows that change {} times", seen.len()));
        }
        reads.fetch_add(4, Ordering::Relaxed);
    }
    None
}

struct Reader(Child);

impl Reader {
    fn start(folder: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST])
            .env(FOLDER, folder)
            .stdout(std::process::Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn options() -> StatementOptions {
    StatementOptions {
        durability: Durability::None,
        ..StatementOptions::default()
    }
}

fn run(connection: &mut Connection, sql: &str) -> Vec<RecordBatch> {
    let (settings, options) = (Settings::default(), options());
    let mut tables = connection.tables(&settings, &options);
    let prepared = Prepared::new(sql, &mut tables).unwrap();
    match prepared.run_static(&mut tables, &[]).unwrap() {
        Answer::Rows(rows) => rows.batches,
        _ => Vec::new(),
    }
}

fn streamed(connection: &mut Connection, sql: &str) -> Vec<i64> {
    let (settings, options) = (Settings::default(), options());
    let mut tables = connection.tables(&settings, &options);
    let prepared = Arc::new(Prepared::new(sql, &mut tables).unwrap());
    let Streamed::Rows(rows) = prepared.stream(&mut tables, &[]).unwrap() else {
        panic!("rows")
    };
    let batches: Vec<_> = rows.map(Result::unwrap).collect();
    let values = batches.iter().flat_map(|batch| integers(batch.column(0)));
    values.collect()
}

fn count(batches: &[RecordBatch]) -> i64 {
    integer(batches, 0)
}

fn integer(batches: &[RecordBatch], column: usize) -> i64 {
    integers(batches[0].column(column))[0]
}

fn integers(column: &dyn Array) -> Vec<i64> {
    if let Some(column) = column.as_primitive_opt::<Int32Type>() {
        return column.values().iter().map(|value| i64::from(*value)).collect();
    }
    if let Some(column) = column.as_primitive_opt::<Decimal128Type>() {
        return column
            .values()
            .iter()
            .map(|value| i64::try_from(*value).unwrap())
            .collect();
    }
    column.as_primitive::<arrow_array::types::Int64Type>().values().to_vec()
}
