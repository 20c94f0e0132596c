//! What opening a log makes of what a crash left, and of what others did in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, Durability, EditOptions, Error, FieldSpec, LogOptions, OpenOptions, Table,
    TableEditor, TableWriter, TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const GROUPS_AT: usize = 1024;

#[test]
fn a_log_that_is_cut_at_any_byte_gives_the_transactions_that_are_whole() {
    let crash = Crash::new();
    let log = crash.log_bytes();
    let states: Vec<_> = crash.states.iter().collect();
    let mut seen = [0; 4];
    for cut in (0..GROUPS_AT).step_by(31).chain(GROUPS_AT..log.len()) {
        crash.reset();
        std::fs::write(crash.log(), &log[..cut]).unwrap();
        let opened = TransactionLog::open(crash.log(), &LogOptions::new()).unwrap();
        let recovered = opened.recovered();
        drop(opened);
        assert_eq!(&&crash.table_bytes(), &states[recovered], "cut at {cut}");
        seen[recovered] += 1;
    }
    assert!(
        seen[0] > 100 && seen[1] > 50 && seen[2] > 50 && seen[3] == 0,
        "{seen:?}"
    );
}

#[test]
fn recovering_twice_gives_the_same_as_once() {
    let crash = Crash::new();
    let log = crash.log_bytes();
    for round in 0..3 {
        std::fs::write(crash.log(), &log).unwrap();
        let opened = TransactionLog::open(crash.log(), &LogOptions::new()).unwrap();
        assert_eq!(opened.recovered(), 3, "{round}");
        drop(opened);
        assert_eq!(crash.table_bytes(), crash.states[3]);
    }
    let opened = TransactionLog::open(crash.log(), &LogOptions::new()).unwrap();
    assert_eq!(opened.recovered(), 0);
}

#[test]
fn a_table_that_somebody_changed_since_is_left_alone_and_the_log_too() {
    let crash = Crash::new();
    let stride = crash.states[0][0].len() - 97;
    assert_eq!(stride, 1, "the table was empty, and its header has 97 bytes");
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, &str); 4] = [
        // Another record where the log would append.
        (
            |table| table.splice(97.., *b" other   .........\x1a").for_each(drop),
            "byte 99 is 74",
        ),
        (|table| table[4] = 9, "byte 4 is 09"),
        (|table| table.truncate(50), "is the end of the file"),
        (|table| table[1] = 1, "byte 1 is 01"),
    ];
    for (change, why) in changes {
        crash.reset();
        let mut changed = crash.states[0][0].clone();
        change(&mut changed);
        std::fs::write(crash.table(), &changed).unwrap();
        let before = crash.table_bytes();
        let log = crash.log_bytes();
        let refused = TransactionLog::open(crash.log(), &LogOptions::new()).unwrap_err();
        let Error::Recovery(facts) = &refused else {
            panic!("{refused}")
        };
        assert_eq!((&facts.log, &facts.path), (&crash.log(), &crash.table()));
        assert!(facts.why.contains(why), "{refused}");
        assert_eq!((crash.table_bytes(), crash.log_bytes()), (before, log));
    }
    std::fs::remove_file(crash.table()).unwrap();
    let refused = TransactionLog::open(crash.log(), &LogOptions::new()).unwrap_err();
    assert!(matches!(refused, Error::Recovery(_)));
    assert!(
        refused.to_string().contains("it is not there; put the file back"),
        "{refused}"
    );
    std::fs::write(crash.table(), &crash.states[0][0]).unwrap();
    assert_eq!(
        TransactionLog::open(crash.log(), &LogOptions::new())
            .unwrap()
            .recovered(),
        3
    );
    assert_eq!(crash.table_bytes(), crash.states[3]);
}

#[test]
fn a_log_that_cannot_be_recovered_is_discarded_and_says_what_is_lost() {
    let crash = Crash::new();
    let options = LogOptions::new().lock_timeout(Duration::from_millis(10));
    let mut changed = crash.states[0][0].clone();
    changed[1] = 1;
    std::fs::write(crash.table(), &changed).unwrap();
    let before = crash.table_bytes();
    assert!(matches!(
        TransactionLog::open(crash.log(), &options),
        Err(Error::Recovery(_))
    ));
    let lost = TransactionLog::discard(crash.log(), &options).unwrap();
    assert_eq!(lost.transactions.len(), 3);
    let files = &lost.transactions[0].files;
    assert!(files.iter().any(|file| file.path == Path::new("t.dbf")), "{files:?}");
    assert_eq!(crash.table_bytes(), before);
    let log = TransactionLog::open(crash.log(), &options).unwrap();
    assert_eq!(log.recovered(), 0);
    assert_eq!(crash.table_bytes(), before);
    // Not one that is in use, nor what is no log.
    assert!(matches!(
        TransactionLog::discard(crash.log(), &options),
        Err(Error::Locked(_))
    ));
    drop(log);
    assert_eq!(TransactionLog::discard(crash.log(), &options).unwrap().transactions, []);
    let table = TransactionLog::discard(crash.table(), &options);
    assert!(matches!(table, Err(Error::Corrupt(_))), "{table:?}");
    assert_eq!(crash.table_bytes(), before);
    let none = TransactionLog::discard(crash.log().with_extension("none"), &options);
    assert!(matches!(none, Err(Error::Io { .. })), "{none:?}");
}

#[test]
fn a_table_that_another_program_has_is_recovered_once_it_lets_go() {
    let crash = Crash::new();
    std::fs::remove_file(crash.log()).unwrap();
    let other = TableEditor::open(crash.table(), &EditOptions::new(TODAY)).unwrap();
    std::fs::write(crash.log(), &crash.log).unwrap();
    let options = LogOptions::new().lock_timeout(Duration::from_millis(10));
    assert!(matches!(
        TransactionLog::open(crash.log(), &options),
        Err(Error::Locked(_))
    ));
    drop(other);
    assert_eq!(TransactionLog::open(crash.log(), &options).unwrap().recovered(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_log_is_refused_or_gives_whole_transactions(flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let crash = Crash::new();
        let mut log = crash.log_bytes();
        for (at, byte) in flips {
            let at = at.index(log.len());
            log[at] = byte;
        }
        std::fs::write(crash.log(), &log).unwrap();
        let recovered = match TransactionLog::open(crash.log(), &LogOptions::new()) {
            Ok(log) => log.recovered(),
            Err(Error::Corrupt(_)) => 0,
            Err(e) => return Err(TestCaseError::fail(e.to_string())),
        };
        prop_assert_eq!(&crash.table_bytes(), &crash.states[recovered]);
    }
}

/// A folder in memory where there is one: nothing here depends on a disk, and bringing files to it takes its time.
fn scratch() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// A folder as the death of a process left it: three transactions are in the log and not in the table.
struct Crash {
    folder: TempDir,
    log: Vec<u8>,
    /// The table and its memo file before and after each transaction.
    states: Vec<[Vec<u8>; 2]>,
}

impl Crash {
    fn new() -> Self {
        let fields = [FieldSpec::new("NAME", 'C', 8, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
        let mut options = CreateOptions::new(TODAY);
        options.format = Dialect::Dbase3;
        let living = scratch();
        let path = living.path().join("t.dbf");
        TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
        let files =
            |path: &Path| [path.to_owned(), path.with_extension("dbt")].map(|path| std::fs::read(path).unwrap());
        let mut crash = Self {
            folder: scratch(),
            log: Vec::new(),
            states: vec![files(&path)],
        };
        let logged = living.path().join("t.tmlog");
        let group = LogOptions::new().durability(Durability::Group(1000));
        let log = TransactionLog::open(&logged, &group).unwrap();
        let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).log(&log)).unwrap();
        let text = |text| [(0, Value::Text(text)), (1, Value::Text(text))];
        let mut logs = Vec::new();
        for step in 0..3 {
            let transaction = log.begin().unwrap();
            match step {
                0 => drop(table.append_values(&text("one")).unwrap()),
                1 => table.replace(1, &text("again")).unwrap(),
                _ => {
                    table.append_values(&text("two")).unwrap();
                    table.delete(1).unwrap();
                }
            }
            transaction.commit().unwrap();
            assert_eq!(files(&path), crash.states[0], "a group commit leaves the files alone");
            logs.push(std::fs::read(&logged).unwrap());
        }
        drop((table, log));
        crash.log = logs[2].clone();
        // Each state is what its log makes of the first.
        for log in logs {
            crash.reset();
            std::fs::write(crash.log(), log).unwrap();
            TransactionLog::open(crash.log(), &LogOptions::new()).unwrap();
            let table = Arc::new(Table::open(crash.table(), &OpenOptions::new()).unwrap());
            assert_eq!(table.verify().unwrap().damage, []);
            crash.states.push(crash.table_bytes());
        }
        assert_eq!(files(&path), crash.states[3]);
        crash.reset();
        crash
    }

    fn reset(&self) {
        for (path, bytes) in [self.table(), self.table().with_extension("dbt")]
            .iter()
            .zip(&self.states[0])
        {
            std::fs::write(path, bytes).unwrap();
        }
        std::fs::write(self.log(), &self.log).unwrap();
    }

    fn table(&self) -> PathBuf {
        self.folder.path().join("t.dbf")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("t.tmlog")
    }

    fn table_bytes(&self) -> [Vec<u8>; 2] {
        [self.table(), self.table().with_extension("dbt")].map(|path| std::fs::read(path).unwrap())
    }

    fn log_bytes(&self) -> Vec<u8> {
        std::fs::read(self.log()).unwrap()
    }
}
