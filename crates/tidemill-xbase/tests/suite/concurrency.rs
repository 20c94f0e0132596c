//! Several processes append to, change, lock and read the same tables, with transactions and without: nothing is lost or torn.
//!
//! `TIDEMILL_CONCURRENCY_SECONDS` says for how long. Default: 3.

#![cfg(target_os = "linux")]
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, Durability, EditOptions, FieldSpec, KeySettings, LockRequest, LogOptions, OpenMode,
    OpenOptions, Scan, Table, TableEditor, TableIndex, TableWriter, TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const TEST: &str = "concurrency::processes_that_share_tables_lose_and_tear_nothing";
const FOLDER: &str = "TIDEMILL_XBASE_CONCURRENCY_FOLDER";
const ROLE: &str = "TIDEMILL_XBASE_CONCURRENCY_ROLE";
const SECONDS: &str = "TIDEMILL_CONCURRENCY_SECONDS";
const ACCOUNTS: u32 = 12;
const OPENING: i64 = 1000;
const ROLES: [&str; 5] = ["plain 1", "logged 2", "logged 3", "unsteady 4", "reader 5"];

#[test]
fn processes_that_share_tables_lose_and_tear_nothing() {
    if let (Some(folder), Ok(role)) = (std::env::var_os(FOLDER), std::env::var(ROLE)) {
        let (role, id) = role.split_once(' ').unwrap();
        let process = Process::new(Path::new(&folder), role, id.parse().unwrap());
        let (appended, moved) = if role == "reader" {
            process.read()
        } else {
            process.write()
        };
        println!("did {appended} {moved}");
        return;
    }
    let folder = TempDir::new().unwrap();
    create(folder.path());
    let children: Vec<(Child, _)> = ROLES.iter().map(|role| start(folder.path(), role)).collect();
    let (mut appended, mut moved) = (BTreeMap::new(), 0);
    for ((mut child, lines), role) in children.into_iter().zip(ROLES) {
        let said = lines.lines().map(Result::unwrap).filter_map(|line| {
            let counts = line.strip_prefix("did ")?.split_once(' ')?;
            Some((counts.0.parse::<i64>().unwrap(), counts.1.parse::<u32>().unwrap()))
        });
        let did = said.last();
        assert!(child.wait().unwrap().success(), "{role}");
        let (entries, transfers) = did.unwrap();
        assert!(entries > 0 && transfers > 0, "{role} did nothing");
        println!("{role}: {entries} records, {transfers} transfers or reads");
        if !role.starts_with("reader") {
            appended.insert(role[role.len() - 1..].parse::<i64>().unwrap(), entries);
            moved += transfers;
        }
    }
    let (accounts, journal) = (rows(folder.path(), "accounts"), rows(folder.path(), "journal"));
    assert_eq!(accounts.len(), ACCOUNTS as usize);
    assert_eq!(
        accounts.iter().map(|row| row.number).sum::<i64>(),
        i64::from(ACCOUNTS) * OPENING
    );
    let versions: i64 = accounts.iter().map(|row| row.writer).sum();
    assert_eq!(
        versions,
        2 * i64::from(moved),
        "each transfer counts on in both accounts"
    );
    for (writer, entries) in appended {
        let numbers = journal.iter().filter(|row| row.writer == writer).map(|row| row.number);
        assert!(numbers.eq(1..=entries), "writer {writer} was told of {entries} records");
    }
    assert!(journal.iter().all(|row| row.note == note(row.writer, row.number)));
}

/// One of the processes.
struct Process {
    log: Option<TransactionLog>,
    accounts: TableEditor,
    journal: TableEditor,
    role: String,
    id: i64,
    until: Instant,
    random: u64,
}

impl Process {
    fn new(folder: &Path, role: &str, id: i64) -> Self {
        let options = EditOptions::new(TODAY).lock_timeout(Duration::from_secs(60));
        let (mut options, mut log) = (options.mode(OpenMode::Shared), None);
        match role {
            "plain" => {}
            "reader" => options = options.mode(OpenMode::ReadOnly),
            _ => {
                let durability = if id % 2 == 0 {
                    Durability::None
                } else {
                    Durability::Commit
                };
                let own = folder.join(format!("{id}.tmlog"));
                log = Some(TransactionLog::open(own, &LogOptions::new().durability(durability)).unwrap());
                options = options.log(log.as_ref().unwrap());
            }
        }
        let open = |name| TableEditor::open(path(folder, name), &options).unwrap();
        let seconds: f64 = std::env::var(SECONDS).map_or(3.0, |seconds| seconds.parse().unwrap());
        Self {
            log,
            accounts: open("accounts"),
            journal: open("journal"),
            role: role.to_owned(),
            id,
            until: Instant::now() + Duration::from_secs_f64(seconds),
            random: id.unsigned_abs(),
        }
    }

    /// Moves amounts between accounts and notes each in the journal, in one transaction where there is a log.
    fn write(mut self) -> (i64, u32) {
        let (mut appended, mut moved) = (0, 0);
        while Instant::now() < self.until {
            let from = self.below(ACCOUNTS) + 1;
            let to = (from + self.below(ACCOUNTS - 1)) % ACCOUNTS + 1;
            let amount = i64::from(self.below(20));
            let entry = note(self.id, appended + 1);
            let values = [
                (0, Value::Integer(self.id)),
                (1, Value::Integer(appended + 1)),
                (2, Value::Text(&entry)),
            ];
            let Some(log) = self.log.clone() else {
                self.accounts.lock_records([from, to]).unwrap();
                self.transfer(from, to, amount);
                self.accounts.unlock_all().unwrap();
                let record = self.journal.append_values(&values).unwrap();
                self.journal.unlock_record(record).unwrap();
                (appended, moved) = (appended + 1, moved + 1);
                continue;
            };
            let mut transaction = log.begin().unwrap();
            let requests = [
                LockRequest::new(&mut self.journal).appends().memos(),
                LockRequest::new(&mut self.accounts).records([from, to]),
            ];
            transaction.lock(requests).unwrap();
            let savepoint = transaction.savepoint().unwrap();
            for last in [false, true] {
                self.transfer(from, to, amount);
                self.journal.append_values(&values).unwrap();
                if !last {
                    transaction.rollback_to(savepoint).unwrap();
                }
            }
            if self.role == "unsteady" && self.below(2) == 0 {
                transaction.rollback().unwrap();
            } else {
                transaction.commit().unwrap();
                (appended, moved) = (appended + 1, moved + 1);
            }
        }
        (appended, moved)
    }

    fn transfer(&mut self, from: u32, to: u32, amount: i64) {
        for (record, change) in [(from, -amount), (to, amount)] {
            let (version, balance) = whole(&self.accounts.record_bytes(record).unwrap());
            let mark = mark(version + 1);
            let values = [
                (0, Value::Integer(version + 1)),
                (1, Value::Integer(balance + change)),
                (3, Value::Text(&mark)),
            ];
            self.accounts.replace(record, &values).unwrap();
        }
    }

    /// Reads accounts under their locks, which must be whole, all of them under one lock, and the journal under none.
    fn read(mut self) -> (i64, u32) {
        let (mut entries, mut reads) = (0, 0);
        let folder = self.accounts.path().parent().unwrap().to_owned();
        while Instant::now() < self.until {
            let record = self.below(ACCOUNTS) + 1;
            self.accounts.lock_record(record).unwrap();
            whole(&self.accounts.record_bytes(record).unwrap());
            self.accounts.unlock_all().unwrap();
            if reads % 8 == 0 {
                self.accounts.lock_file().unwrap();
                let records = (1..=ACCOUNTS).map(|record| whole(&self.accounts.record_bytes(record).unwrap()).1);
                assert_eq!(records.sum::<i64>(), i64::from(ACCOUNTS) * OPENING);
                self.accounts.unlock_all().unwrap();
            }
            let table = Arc::new(Table::open(path(&folder, "journal"), &OpenOptions::new()).unwrap());
            assert!(
                i64::from(table.record_count()) >= entries,
                "the journal never becomes shorter"
            );
            entries = i64::from(table.record_count());
            let scanned = table.scan(Scan::new().projection(vec![0, 1])).unwrap();
            assert_eq!(
                scanned.map(|batch| batch.unwrap().num_rows() as i64).sum::<i64>(),
                entries
            );
            reads += 1;
        }
        (entries, reads)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.random >> 33).unwrap() % n
    }
}

/// Version and balance of an account, whose mark at the end says the version again.
fn whole(record: &[u8]) -> (i64, i64) {
    let text = |from: usize, to: usize| std::str::from_utf8(&record[from..to]).unwrap().trim();
    let version = text(1, 11).parse().unwrap();
    assert_eq!(text(31, 281), mark(version), "a torn record");
    (version, text(11, 21).parse().unwrap())
}

fn mark(version: i64) -> String {
    format!("{version:010}").repeat(25)
}

fn note(writer: i64, number: i64) -> String {
    format!("{writer}/{number} ").repeat(1 + usize::try_from(number).unwrap() % 60)
}

#[derive(Debug)]
struct Row {
    /// In the accounts, the version.
    writer: i64,
    number: i64,
    note: String,
}

fn rows(folder: &Path, name: &str) -> Vec<Row> {
    let table = Arc::new(Table::open(path(folder, name), &OpenOptions::new()).unwrap());
    assert_eq!(table.verify().unwrap().damage, [], "{name}");
    if let Some(index) = TableIndex::production(&table, &KeySettings::new(table.codepage())).unwrap() {
        assert_eq!(index.verify(&table).unwrap(), [], "{name}");
    }
    let mut rows = Vec::new();
    for batch in table.scan(Scan::new()).unwrap().map(Result::unwrap) {
        let number = |column: usize| batch.column(column).as_primitive::<Int64Type>();
        let (writers, numbers, notes) = (number(0), number(1), batch.column(2).as_string::<i32>());
        rows.extend((0..batch.num_rows()).map(|i| Row {
            writer: writers.value(i),
            number: numbers.value(i),
            note: notes.value(i).to_owned(),
        }));
    }
    rows
}

fn create(folder: &Path) {
    let field = |name, letter, width| FieldSpec::new(name, letter, width, 0);
    let structures = [
        (
            "accounts",
            vec![
                field("VERSION", 'N', 10),
                field("BALANCE", 'N', 10),
                field("NOTE", 'M', 10),
                field("MARK", 'C', 250),
            ],
        ),
        (
            "journal",
            vec![
                field("WRITER", 'N', 10),
                field("NUMBER", 'N', 10),
                field("NOTE", 'M', 10),
            ],
        ),
    ];
    for (name, fields) in structures {
        let writer = TableWriter::create(path(folder, name), &fields, &CreateOptions::new(TODAY));
        writer.unwrap().finish().unwrap();
    }
    let alone = EditOptions::new(TODAY);
    let mut journal = TableEditor::open(path(folder, "journal"), &alone).unwrap();
    for (name, expression) in [("ENTRY", "STR(WRITER)+STR(NUMBER)"), ("LAST", "RIGHT(STR(NUMBER), 1)")] {
        journal.create_order(&OrderSpec::new(name, expression)).unwrap();
    }
    drop(journal);
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared);
    let mut accounts = TableEditor::open(path(folder, "accounts"), &options).unwrap();
    for _ in 0..ACCOUNTS {
        let mark = mark(0);
        let values = [
            (0, Value::Integer(0)),
            (1, Value::Integer(OPENING)),
            (3, Value::Text(&mark)),
        ];
        accounts.append_values(&values).unwrap();
    }
}

fn start(folder: &Path, role: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", TEST, "--nocapture"])
        .env(FOLDER, folder)
        .env(ROLE, role);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("dbf")
}
