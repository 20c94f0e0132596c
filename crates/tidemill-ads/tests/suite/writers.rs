//! Two who change one table: none waits for what the other keeps only while it waits, and no change is lost.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_ads::sql::{Answer, Prepared, StatementOptions, Value};
use tidemill_ads::{Connection, Durability, Executed, Settings, TableOptions, TableType};

const TEST: &str = "writers::two_writers_of_a_table_do_not_stop_each_other";
const WRITER: &str = "TIDEMILL_WRITER_OF";
const TYPES: [TableType; 3] = [TableType::Cdx, TableType::Vfp, TableType::Adt];
const CHANGES: i64 = 200;
/// Far more than they need; each of them would wait a second for most of the other's changes.
const WITHIN: Duration = Duration::from_secs(30);

#[test]
fn two_writers_of_a_table_do_not_stop_each_other() {
    if let Ok(whose) = std::env::var(WRITER) {
        let parts: Vec<&str> = whose.split('|').collect();
        let table_type = TYPES[parts[1].parse::<usize>().unwrap()];
        return write(Path::new(parts[0]), table_type, parts[2].parse().unwrap());
    }
    for (at, table_type) in TYPES.into_iter().enumerate() {
        for ids in [[1, 2], [3, 3]] {
            for in_processes in [false, true] {
                check(at, table_type, ids, in_processes);
            }
        }
    }
}

fn check(at: usize, table_type: TableType, ids: [i64; 2], in_processes: bool) {
    let what = format!("{table_type:?}, records {ids:?}, in processes: {in_processes}");
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    let options = options(table_type);
    run(
        &mut connection,
        "CREATE TABLE t ( id Integer PRIMARY KEY, n Integer, note Memo )",
        &[],
        &options,
    );
    for id in 1..=40 {
        run(
            &mut connection,
            "INSERT INTO t VALUES ( :id, 0, '' )",
            &[Value::Integer(id)],
            &options,
        );
    }
    let begun = Instant::now();
    if in_processes {
        let mut writers = ids.map(|id| Process::start(folder.path(), at, id));
        for writer in &mut writers {
            assert!(writer.0.wait().unwrap().success(), "{what}");
        }
    } else {
        std::thread::scope(|scope| {
            let place = folder.path();
            let writers = ids.map(|id| scope.spawn(move || write(place, table_type, id)));
            writers.into_iter().for_each(|writer| writer.join().unwrap());
        });
    }
    let took = begun.elapsed();
    assert!(took < WITHIN, "{what}: {took:?}");
    for id in ids {
        let expected = CHANGES * ids.iter().filter(|other| **other == id).count() as i64;
        let sql = "UPDATE t SET n = n + 0 WHERE id = :id AND n = :n";
        let found = run(
            &mut connection,
            sql,
            &[Value::Integer(id), Value::Integer(expected)],
            &options,
        );
        assert!(matches!(found, Executed::Changed(1)), "{what}: {id}: {found:?}");
    }
}

/// Changes a record again and again.
fn write(folder: &Path, table_type: TableType, id: i64) {
    let (mut connection, options) = (Connection::open(folder).unwrap(), options(table_type));
    let settings = settings();
    let mut tables = connection.tables(&settings, &options);
    let sql = "UPDATE t SET n = n + 1 WHERE id = :id";
    let prepared = Prepared::new(sql, &mut tables).unwrap();
    for _ in 0..CHANGES {
        let done = prepared.run_static(&mut tables, &[Value::Integer(id)]).unwrap();
        assert!(matches!(done, Answer::Changed(1)), "{done:?}");
    }
}

fn settings() -> Settings {
    Settings {
        lock_timeout: Duration::from_secs(5),
        ..Settings::default()
    }
}

fn options(table_type: TableType) -> StatementOptions {
    StatementOptions {
        durability: Durability::None,
        table: TableOptions {
            table_type,
            ..TableOptions::default()
        },
        ..StatementOptions::default()
    }
}

fn run(connection: &mut Connection, sql: &str, values: &[Value], options: &StatementOptions) -> Executed {
    let done = connection.execute(sql, values, &settings(), options);
    done.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

struct Process(Child);

impl Process {
    fn start(folder: &Path, table_type: usize, id: i64) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST])
            .env(WRITER, format!("{}|{table_type}|{id}", folder.display()))
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
