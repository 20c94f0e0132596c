//! A writer that is killed again and again: nothing that it was told is committed is lost, and nothing else is there.
//!
//! `TIDEMILL_KILL_ROUNDS` says how often. Default: 500.

#![cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, Durability, EditOptions, FieldSpec, KeySettings, LogOptions, OpenMode, OpenOptions, Scan,
    Table, TableEditor, TableIndex, TableWriter, TransactionLog, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const FOLDER: &str = "TIDEMILL_XBASE_KILL_FOLDER";
const ROUND: &str = "TIDEMILL_XBASE_KILL_ROUND";
const TABLES: [&str; 2] = ["orders", "lines"];

#[test]
fn a_killed_writer_loses_nothing_that_it_was_told_is_committed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write_until_killed(Path::new(&folder), std::env::var(ROUND).unwrap().parse().unwrap());
    }
    let rounds: u32 = std::env::var("TIDEMILL_KILL_ROUNDS").map_or(500, |rounds| rounds.parse().unwrap());
    let (mut recovered, mut committed) = (0, 0);
    let mut folder = shop();
    let mut told = 0;
    for round in 0..rounds {
        if round % 25 == 24 {
            folder = shop();
            told = 0;
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "transaction_kill::a_killed_writer_loses_nothing_that_it_was_told_is_committed",
                "--nocapture",
            ])
            .env(FOLDER, folder.path())
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "ready"), "round {round}");
        // Anywhere in a transaction: some take 50 µs, others wait for the disk.
        std::thread::sleep(Duration::from_micros(u64::from(round) * 7919 % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = told;
        for line in lines.filter(|line| !line.is_empty()) {
            told = line.parse().unwrap();
        }
        committed += told - before;
        let log = TransactionLog::open(folder.path().join("shop.tmlog"), &LogOptions::new()).unwrap();
        recovered += log.recovered();
        drop(log);
        let found = TABLES.map(|name| numbers(&table(folder.path(), name)));
        let [orders, lines] = &found;
        assert!(
            (told..=told + 1).contains(&(orders.len() as i64)),
            "round {round}: told {told}, found {}",
            orders.len()
        );
        assert_eq!(orders, lines, "round {round}");
        assert!(orders.iter().copied().eq(1..=orders.len() as i64), "round {round}");
        told = orders.len() as i64;
    }
    println!("{rounds} rounds: {committed} transactions told, {recovered} recovered from the log");
    // A busy machine commits little in a round.
    assert!(committed > i64::from(rounds) / 10 && recovered > 0);
}

/// One transaction after another, each with the next number in both tables, told once it is committed.
fn write_until_killed(folder: &Path, round: u32) -> ! {
    let durability = [Durability::Commit, Durability::Group(5), Durability::None][round as usize % 3];
    let mode = [OpenMode::Exclusive, OpenMode::Shared][round as usize / 3 % 2];
    let log = LogOptions::new().durability(durability).checkpoint_bytes(20_000);
    let log = TransactionLog::open(folder.join("shop.tmlog"), &log).unwrap();
    let options = EditOptions::new(TODAY).mode(mode).log(&log);
    let mut tables = TABLES.map(|name| TableEditor::open(table(folder, name), &options).unwrap());
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready").unwrap();
    out.flush().unwrap();
    for number in i64::from(tables[0].record_count()) + 1.. {
        let mut transaction = log.begin().unwrap();
        let note = format!("{number} ").repeat(1 + usize::try_from(number).unwrap() % 90);
        for table in &mut tables {
            let savepoint = transaction.savepoint().unwrap();
            table
                .append_values(&[(0, Value::Integer(-1)), (1, Value::Text(&note))])
                .unwrap();
            transaction.rollback_to(savepoint).unwrap();
            let record = table.append_values(&[(0, Value::Integer(0))]).unwrap();
            table
                .replace(record, &[(0, Value::Integer(number)), (1, Value::Text(&note))])
                .unwrap();
            if record > 1 {
                table.lock_record(1).unwrap();
                table.replace(1, &[(1, Value::Text(&note))]).unwrap();
            }
        }
        transaction.commit().unwrap();
        writeln!(out, "{number}").unwrap();
        out.flush().unwrap();
    }
    unreachable!("more transactions than numbers");
}

/// The numbers of all records, once the table is found sound and every memo is its record's own.
fn numbers(path: &Path) -> Vec<i64> {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    assert_eq!(table.verify().unwrap().damage, []);
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()));
    assert_eq!(index.unwrap().unwrap().verify(&table).unwrap(), []);
    let mut numbers = Vec::new();
    let mut notes = Vec::new();
    for batch in table.scan(Scan::new()).unwrap().map(Result::unwrap) {
        numbers.extend(batch.column(0).as_primitive::<Int64Type>().iter().map(Option::unwrap));
        notes.extend(
            batch
                .column(1)
                .as_string::<i32>()
                .iter()
                .map(|note| note.unwrap().to_owned()),
        );
    }
    let last = numbers.len() as i64;
    for (number, note) in numbers.iter().zip(&notes) {
        // The note of the first record is that of the last transaction.
        let of = if *number == 1 { last } else { *number };
        assert_eq!(*note, format!("{of} ").repeat(1 + usize::try_from(of).unwrap() % 90));
    }
    numbers
}

fn shop() -> TempDir {
    let folder = TempDir::new().unwrap();
    let fields = [FieldSpec::new("NUMBER", 'N', 10, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    for name in TABLES {
        let table = TableWriter::create(table(folder.path(), name), &fields, &CreateOptions::new(TODAY));
        table.unwrap().finish().unwrap();
        let path = self::table(folder.path(), name);
        let table = Table::open(&path, &OpenOptions::new()).unwrap();
        let orders = [
            OrderSpec::new("NUMBER", "NUMBER"),
            OrderSpec::new("MIXED", "PADR(RIGHT(STR(NUMBER * 7919), 3), 80)").condition("NUMBER % 7 # 0"),
        ];
        let settings = KeySettings::new(table.codepage());
        build_index(path.with_extension("cdx"), &table, &orders, &settings).unwrap();
    }
    folder
}

fn table(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("dbf")
}
