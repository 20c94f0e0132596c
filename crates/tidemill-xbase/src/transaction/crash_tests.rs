//! A disk that fails at a chosen moment, and a workload that is cut off at each one.
//!
//! `TIDEMILL_CRASH_SEEDS` says how many workloads are tried in each way to run them. Default: 1.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use arrow_array::cast::AsArray;
use tempfile::TempDir;

use super::pending::recover_on;
use super::{Disk, Durability, LogOptions, TheDisk, TransactionLog};
use crate::error::{Error, Result};
use crate::field_spec::FieldSpec;
use crate::header::CivilDate;
use crate::index::OrderSpec;
use crate::orders::{KeySettings, TableIndex, build_index};
use crate::scan::{Deleted, Scan};
use crate::storage::Storage;
use crate::table::{OpenOptions, Table};
use crate::table_editor::{EditOptions, OpenMode, TableEditor};
use crate::table_writer::{CreateOptions, TableWriter};
use crate::value::Value;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const TABLES: [&str; 2] = ["stock", "sold"];

/// How the disk fails at one step; a step is a write, a change of a length, or bringing a file to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Nothing goes any more.
    Crash,
    /// This step fails half way, and later ones succeed.
    Once,
    /// From here on nothing grows, for this many steps.
    Full(u64),
}

/// What is left of writes that were not brought to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All: only the process died.
    All,
    Nothing,
    /// Some sectors of some.
    Sectors,
}

#[derive(Debug, Clone)]
struct FaultyDisk {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    files: BTreeMap<PathBuf, Content>,
    steps: u64,
    fault_at: u64,
    fault: Fault,
    crashed: bool,
}

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    on_disk: Vec<u8>,
    since: Vec<Op>,
}

#[derive(Debug, Clone)]
enum Op {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    path: PathBuf,
    /// Keeps its locks.
    _file: Arc<File>,
}

impl FaultyDisk {
    fn new(fault_at: u64, fault: Fault) -> Self {
        let inner = Inner {
            files: BTreeMap::new(),
            steps: 0,
            fault_at,
            fault,
            crashed: false,
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Puts into the real files what the crash left.
    fn leave(&self, left: Left, random: &mut Random) {
        for (path, content) in &self.inner().files {
            let mut bytes = content.on_disk.clone();
            match left {
                Left::Nothing => {}
                Left::All => bytes.clone_from(&content.now),
                Left::Sectors => content.since.iter().for_each(|op| op.tear(&mut bytes, random)),
            }
            put(path, &bytes);
        }
    }
}

impl Disk for FaultyDisk {
    fn storage(&self, path: &Path, file: Arc<File>) -> Arc<dyn Storage> {
        self.inner().files.entry(path.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(path).unwrap();
            Content {
                now: bytes.clone(),
                on_disk: bytes,
                since: Vec::new(),
            }
        });
        Arc::new(FaultyFile {
            disk: self.clone(),
            path: path.to_owned(),
            _file: file,
        })
    }

    fn sync_folder(&self, _folder: &Path) -> Result<()> {
        Ok(())
    }

    fn rename(&self, _from: &Path, to: &Path) -> Result<()> {
        unreachable!("{}: nothing is replaced here", to.display())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let mut inner = self.inner();
        if inner.crashed {
            return Err(Error::io(path, "remove", io::Error::other("the machine is off")));
        }
        inner.files.remove(path);
        TheDisk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> Result<()> {
        unreachable!("{}: nothing is replaced here", path.display())
    }
}

impl Op {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, data) => {
                let at = usize::try_from(*offset).unwrap();
                bytes.resize(bytes.len().max(at + data.len()), 0);
                bytes[at..at + data.len()].copy_from_slice(data);
            }
            Self::SetLen(len) => bytes.resize(usize::try_from(*len).unwrap(), 0),
        }
    }

    /// The first half of a write; of a change of the length, nothing.
    fn half(&self) -> Self {
        match self {
            Self::Write(offset, data) => Self::Write(*offset, data[..data.len() / 2].to_vec()),
            Self::SetLen(_) => Self::Write(0, Vec::new()),
        }
    }

    fn tear(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        match self {
            Self::SetLen(_) if random.below(2) == 0 => self.apply(bytes),
            Self::SetLen(_) => {}
            Self::Write(offset, data) => {
                let start = usize::try_from(*offset).unwrap();
                if random.below(3) == 0 && bytes.len() < start + data.len() {
                    // The length got to the disk, the bytes did not.
                    bytes.resize(start + data.len(), 0);
                }
                let mut at = 0;
                while at < data.len() {
                    let next = ((start + at) / 512 + 1) * 512 - start;
                    let next = next.min(data.len());
                    if random.below(2) == 0 {
                        Self::Write(offset + at as u64, data[at..next].to_vec()).apply(bytes);
                    }
                    at = next;
                }
            }
        }
    }
}

impl FaultyFile {
    fn step(&self, op: Option<Op>) -> io::Result<()> {
        let mut inner = self.disk.inner();
        if inner.crashed {
            return Err(io::Error::other("the machine is off"));
        }
        let step = inner.steps;
        inner.steps += 1;
        let (at, fault) = (inner.fault_at, inner.fault);
        let content = inner.files.get_mut(&self.path).unwrap();
        let grows = match &op {
            Some(Op::Write(offset, data)) => offset + data.len() as u64 > content.now.len() as u64,
            Some(Op::SetLen(len)) => *len > content.now.len() as u64,
            None => false,
        };
        let fails = match fault {
            Fault::None => false,
            Fault::Crash | Fault::Once => step == at,
            Fault::Full(steps) => (at..at + steps).contains(&step) && grows,
        };
        let done = if fails { op.as_ref().map(Op::half) } else { op.clone() };
        if let Some(op) = &done {
            op.apply(&mut content.now);
        }
        match op {
            None if fault == Fault::Crash && fails => {}
            // The write under way may get to the disk as a whole or in parts.
            Some(op) => content
                .since
                .push(if fails && fault != Fault::Crash { op.half() } else { op }),
            None if !fails => {
                let Content { on_disk, since, .. } = content;
                since.drain(..).for_each(|op| op.apply(on_disk));
            }
            // A system that fails to write may forget what it had to write and succeed the next time.
            None => content.since.clear(),
        }
        if fails {
            inner.crashed = fault == Fault::Crash;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

impl Storage for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.inner().files[&self.path].now.len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let inner = self.disk.inner();
        let at = usize::try_from(offset).unwrap();
        let found = inner.files[&self.path].now.get(at..at + buf.len());
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.step(Some(Op::Write(offset, bytes.to_vec())))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.step(Some(Op::SetLen(len)))
    }

    fn sync(&self) -> io::Result<()> {
        self.step(None)
    }
}

/// Gives a file these bytes without cutting it to nothing first, which some file systems take for a reason to write it to
/// the disk at once.
fn put(path: &Path, bytes: &[u8]) {
    let file = Arc::new(
        File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .unwrap(),
    );
    Storage::write_all_at(&file, bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

/// SplitMix64.
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Row {
    deleted: bool,
    name: String,
    note: String,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { deleted, name, note } = self;
        write!(
            f,
            "{name} {:?}*{}{}",
            note.get(..1),
            note.len(),
            if *deleted { " deleted" } else { "" }
        )
    }
}

/// The rows of all tables.
type Rows = [Vec<Row>; 2];

/// What a run did and what it may have done.
#[derive(Debug)]
struct History {
    /// The committed states, the one before the first transaction included.
    committed: Vec<Rows>,
    /// The state that a commit without an answer would have made.
    asked: Option<Rows>,
    steps: u64,
}

/// One way to run the workload.
#[derive(Debug, Clone, Copy)]
struct Setting {
    seed: u64,
    mode: OpenMode,
    durability: Durability,
}

/// The two tables in a folder, as a run finds them.
struct Shop {
    folder: TempDir,
    /// Whether each has a folder of its own, and so a log of its own.
    is_spread: bool,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Shop {
    fn new(is_spread: bool) -> Self {
        let mut shop = Self {
            folder: tempfile::tempdir().unwrap(),
            is_spread,
            files: BTreeMap::new(),
        };
        let fields = [FieldSpec::new("NAME", 'C', 12, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
        for name in TABLES {
            let path = shop.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let table = TableWriter::create(&path, &fields, &CreateOptions::new(TODAY));
            table.unwrap().finish().unwrap();
            let table = Table::open(&path, &OpenOptions::new()).unwrap();
            // Long keys, so that few records make several pages.
            let orders = [
                OrderSpec::new("NAME", "PADR(UPPER(NAME), 120)"),
                OrderSpec::new("THERE", "NAME").condition("!DELETED()"),
            ];
            let settings = KeySettings::new(table.codepage());
            build_index(path.with_extension("cdx"), &table, &orders, &settings).unwrap();
            for path in [path.with_extension("fpt"), path.with_extension("cdx"), path] {
                shop.files.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
        shop
    }

    fn reset(&self) {
        for (path, bytes) in &self.files {
            put(path, bytes);
        }
        for folder in self.folders() {
            let logs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "tmlog"));
            logs.for_each(|log| std::fs::remove_file(log).unwrap());
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        let folder = if self.is_spread { name } else { "" };
        self.folder.path().join(folder).join(name).with_extension("dbf")
    }

    fn folders(&self) -> Vec<PathBuf> {
        TABLES
            .map(|name| self.path(name).parent().unwrap().canonicalize().unwrap())
            .to_vec()
    }

    fn open_log(&self, disk: &FaultyDisk, options: &LogOptions) -> Result<TransactionLog> {
        let disk = Arc::new(disk.clone());
        match self.is_spread {
            true => Ok(TransactionLog::beside_tables_on(disk, options)),
            false => TransactionLog::open_on(disk, &self.log(), options),
        }
    }

    /// Recovers what a crash left, and returns how many transactions that were.
    fn recover(&self, disk: &FaultyDisk) -> Result<usize> {
        if !self.is_spread {
            return Ok(self.open_log(disk, &LogOptions::new())?.recovered());
        }
        let recovered = recover_on(disk, &self.folders(), Duration::ZERO, |_| true)?;
        Ok(recovered.iter().map(|log| log.transactions).sum())
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("shop.tmlog")
    }

    /// Runs the workload until it ends or the disk fails for good.
    fn run(&self, setting: Setting, disk: &FaultyDisk) -> History {
        self.reset();
        let mut history = History {
            committed: vec![Rows::default()],
            asked: None,
            steps: 0,
        };
        let done = self.work(setting, disk, &mut history);
        if disk.inner().fault == Fault::None {
            done.unwrap();
        }
        history.steps = disk.inner().steps;
        history
    }

    fn work(&self, setting: Setting, disk: &FaultyDisk, history: &mut History) -> Result<()> {
        let options = LogOptions::new().durability(setting.durability).checkpoint_bytes(3000);
        let log = self.open_log(disk, &options)?;
        let edit = EditOptions::new(TODAY)
            .mode(setting.mode)
            .lock_timeout(Duration::ZERO)
            .log(&log);
        let mut tables = Vec::new();
        for name in TABLES {
            tables.push(TableEditor::open(self.path(name), &edit)?);
        }
        let mut random = Random(setting.seed);
        for _ in 0..10 {
            let mut rows = history.committed.last().unwrap().clone();
            // The random numbers must be the same whether an earlier transaction failed or not.
            let mut random = Random(random.next());
            let done = if random.below(5) == 0 {
                let table = usize::from(random.below(2) == 0);
                let done = change(&mut tables[table], &mut rows[table], setting.mode, &mut random);
                history.asked = Some(rows.clone());
                tables[table].unlock_all()?;
                done.map(|()| true)
            } else {
                transact(&log, &mut tables, &mut rows, setting.mode, &mut random, history)
            };
            match done {
                Ok(true) => history.committed.push(rows),
                Ok(false) => {}
                // What failed is as if it had not been; what comes next finds a sound state, or hears that there is none.
                Err(Error::Io { .. }) if !disk.inner().crashed => {}
                Err(e) => return Err(e),
            }
            history.asked = None;
            for (table, rows) in tables.iter().zip(history.committed.last().unwrap()) {
                assert_eq!(table.record_count() as usize, rows.len());
            }
        }
        Ok(())
    }

    /// The rows as a reader finds them, once both tables are found sound.
    fn rows(&self) -> Rows {
        TABLES.map(|name| {
            let table = Arc::new(Table::open(self.path(name), &OpenOptions::new()).unwrap());
            assert_eq!(table.verify().unwrap().damage, [], "{name}");
            let index = TableIndex::production(&table, &KeySettings::new(table.codepage()));
            assert_eq!(index.unwrap().unwrap().verify(&table).unwrap(), [], "{name}");
            let read = |deleted| table.scan(Scan::new().deleted(deleted)).unwrap().map(Result::unwrap);
            let mut rows = Vec::new();
            for batch in read(Deleted::Include) {
                let (names, notes) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
                rows.extend((0..batch.num_rows()).map(|i| (names.value(i).to_owned(), notes.value(i).to_owned())));
            }
            let flags = std::fs::read(self.path(name)).unwrap();
            let (header, stride) = (table.header().header_len as usize, table.header().record_len as usize);
            let flag = |i: usize| flags[header + i * stride] == b'*';
            let rows = rows.into_iter().enumerate().map(|(i, (name, note))| Row {
                deleted: flag(i),
                name,
                note,
            });
            rows.collect()
        })
    }
}

/// A transaction of some changes to both tables; false when nothing came of it.
fn transact(
    log: &TransactionLog,
    tables: &mut [TableEditor],
    rows: &mut Rows,
    mode: OpenMode,
    random: &mut Random,
    history: &mut History,
) -> Result<bool> {
    let mut transaction = log.begin()?;
    let mut changed = false;
    for _ in 0..1 + random.below(4) {
        let table = usize::from(random.below(2) == 0);
        let kept = rows.clone();
        let savepoint = transaction.savepoint()?;
        change(&mut tables[table], &mut rows[table], mode, random)?;
        if random.below(4) == 0 {
            transaction.rollback_to(savepoint)?;
            *rows = kept;
        } else {
            changed = true;
        }
    }
    if random.below(5) == 0 {
        transaction.rollback()?;
        return Ok(false);
    }
    history.asked = Some(rows.clone());
    transaction.commit()?;
    Ok(changed)
}

/// One change to a table and, before that is tried, to its rows.
fn change(table: &mut TableEditor, rows: &mut Vec<Row>, mode: OpenMode, random: &mut Random) -> Result<()> {
    let what = random.below(10);
    let text = |random: &mut Random, longest| {
        let letter = char::from(b'a' + u8::try_from(random.below(26)).unwrap());
        letter
            .to_string()
            .repeat(usize::try_from(1 + random.below(longest)).unwrap())
    };
    let (name, note) = (text(random, 12), text(random, 1500));
    let picked = usize::try_from(random.below(rows.len().max(1) as u64)).unwrap();
    let record = u32::try_from(picked).unwrap() + 1;
    if rows.is_empty() || what < 4 {
        rows.push(Row {
            deleted: false,
            name: name.clone(),
            note: note.clone(),
        });
        return table
            .append_values(&[(0, Value::Text(&name)), (1, Value::Text(&note))])
            .map(drop);
    }
    table.lock_record(record)?;
    match what {
        4 | 5 => {
            rows[picked].note.clone_from(&note);
            table.replace(record, &[(1, Value::Text(&note))])
        }
        6 => {
            rows[picked].name.clone_from(&name);
            table.replace(record, &[(0, Value::Text(&name))])
        }
        7 => {
            rows[picked].deleted = false;
            table.recall(record)
        }
        8 if random.below(3) == 0 && mode == OpenMode::Exclusive => {
            rows.clear();
            table.zap()
        }
        _ => {
            rows[picked].deleted = true;
            table.delete(record)
        }
    }
}

/// The states that may be found after a crash.
fn allowed(history: &History, setting: Setting, left: Left) -> Vec<&Rows> {
    let lost = match setting.durability {
        Durability::Group(most) if left != Left::All && setting.mode == OpenMode::Exclusive => most as usize,
        _ => 0,
    };
    let last = history.committed.len() - 1;
    history.committed[last.saturating_sub(lost)..]
        .iter()
        .chain(&history.asked)
        .collect()
}

fn check_crashes(setting: Setting, lefts: &[Left]) -> u64 {
    check_crashes_of(&Shop::new(false), setting, lefts)
}

fn check_crashes_of(shop: &Shop, setting: Setting, lefts: &[Left]) -> u64 {
    let steps = shop.run(setting, &FaultyDisk::new(0, Fault::None)).steps;
    let last = shop.run(setting, &FaultyDisk::new(u64::MAX, Fault::None));
    let mut recovered = 0;
    assert!(steps > 20 && last.committed.len() > 3);
    for at in 0..steps {
        for left in lefts {
            let mut random = Random(setting.seed ^ at);
            let disk = FaultyDisk::new(at, Fault::Crash);
            let history = shop.run(setting, &disk);
            disk.leave(*left, &mut random);
            // Recovering may be cut off too.
            for _ in 0..random.below(3) {
                let disk = FaultyDisk::new(random.below(12), Fault::Crash);
                let _ = shop.recover(&disk);
                disk.leave(*left, &mut random);
            }
            let disk = FaultyDisk::new(0, Fault::None);
            recovered += shop.recover(&disk).unwrap() as u64;
            disk.leave(Left::Nothing, &mut random);
            let (found, allowed) = (shop.rows(), allowed(&history, setting, *left));
            assert!(
                allowed.contains(&&found),
                "{setting:?}, crash at step {at} of {steps}, {left:?} left: found {found:?}, allowed {allowed:?}"
            );
        }
    }
    recovered
}

fn seeds(from: u64) -> std::ops::Range<u64> {
    let count = std::env::var("TIDEMILL_CRASH_SEEDS").map_or(1, |count| count.parse().unwrap());
    from..from + count
}

const ALL: [Left; 3] = [Left::All, Left::Nothing, Left::Sectors];

#[test]
fn a_crash_at_every_step_leaves_exactly_what_was_committed() {
    for seed in seeds(100) {
        for mode in [OpenMode::Exclusive, OpenMode::Shared] {
            let durability = Durability::Commit;
            assert!(check_crashes(Setting { seed, mode, durability }, &ALL) > 10);
        }
    }
}

#[test]
fn a_crash_of_a_transaction_over_two_folders_leaves_all_of_it_or_nothing() {
    let shop = Shop::new(true);
    for seed in seeds(300) {
        for (mode, durability) in [
            (OpenMode::Exclusive, Durability::Commit),
            (OpenMode::Shared, Durability::Commit),
            (OpenMode::Exclusive, Durability::Group(3)),
        ] {
            assert!(check_crashes_of(&shop, Setting { seed, mode, durability }, &ALL) > 10);
        }
    }
}

#[test]
fn one_folder_of_two_is_not_recovered_alone() {
    let shop = Shop::new(true);
    let setting = Setting {
        seed: 300,
        mode: OpenMode::Exclusive,
        durability: Durability::Commit,
    };
    let steps = shop.run(setting, &FaultyDisk::new(0, Fault::None)).steps;
    let (mut refused, folders) = (0, shop.folders());
    for at in 0..steps {
        let disk = FaultyDisk::new(at, Fault::Crash);
        let history = shop.run(setting, &disk);
        disk.leave(Left::Nothing, &mut Random(0));
        for (alone, other) in [(0, 1), (1, 0)] {
            let disk = FaultyDisk::new(0, Fault::None);
            if let Err(e) = recover_on(&disk, &folders[alone..=alone], Duration::ZERO, |_| true) {
                assert!(
                    e.to_string()
                        .contains(&format!("together with {}", folders[other].display())),
                    "{e}"
                );
                refused += 1;
            }
            disk.leave(Left::Nothing, &mut Random(0));
        }
        let disk = FaultyDisk::new(0, Fault::None);
        shop.recover(&disk).unwrap();
        disk.leave(Left::Nothing, &mut Random(0));
        let (found, allowed) = (shop.rows(), allowed(&history, setting, Left::Nothing));
        assert!(
            allowed.contains(&&found),
            "crash at step {at}: found {found:?}, allowed {allowed:?}"
        );
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_crash_of_a_group_commit_loses_whole_commits_and_no_more_than_allowed() {
    for seed in seeds(200) {
        let durability = Durability::Group(3);
        let mode = OpenMode::Exclusive;
        assert!(check_crashes(Setting { seed, mode, durability }, &ALL) > 10);
    }
    let (seed, mode, durability) = (10, OpenMode::Shared, Durability::Group(3));
    assert!(check_crashes(Setting { seed, mode, durability }, &ALL) > 10);
}

#[test]
fn without_durability_the_death_of_the_process_still_loses_nothing() {
    for (seed, mode) in [(11, OpenMode::Exclusive), (12, OpenMode::Shared)] {
        let durability = Durability::None;
        assert!(check_crashes(Setting { seed, mode, durability }, &[Left::All]) > 10);
    }
}

#[test]
fn what_failed_to_get_to_the_disk_once_is_not_believed_to_be_there_later() {
    for (seed, mode) in [(16, OpenMode::Exclusive), (17, OpenMode::Shared)] {
        let durability = Durability::Commit;
        let setting = Setting { seed, mode, durability };
        let shop = Shop::new(false);
        let steps = shop.run(setting, &FaultyDisk::new(0, Fault::None)).steps;
        for at in 0..steps {
            let disk = FaultyDisk::new(at, Fault::Once);
            let history = shop.run(setting, &disk);
            disk.leave(Left::Nothing, &mut Random(0));
            let disk = FaultyDisk::new(0, Fault::None);
            shop.recover(&disk).unwrap();
            disk.leave(Left::Nothing, &mut Random(0));
            let (found, allowed) = (shop.rows(), allowed(&history, setting, Left::Nothing));
            assert!(
                allowed.contains(&&found),
                "{setting:?}, step {at} of {steps} failed: found {found:?}, allowed {allowed:?}"
            );
        }
    }
}

#[test]
fn a_full_disk_and_a_write_that_fails_leave_everything_as_it_was() {
    let mut refused = 0;
    for (seed, durability) in [
        (10, Durability::Commit),
        (11, Durability::Group(3)),
        (12, Durability::None),
    ] {
        for mode in [OpenMode::Exclusive, OpenMode::Shared] {
            let setting = Setting { seed, mode, durability };
            let shop = Shop::new(false);
            let sound = shop.run(setting, &FaultyDisk::new(0, Fault::None));
            for at in 0..sound.steps {
                for fault in [Fault::Once, Fault::Full(2), Fault::Full(u64::MAX / 2)] {
                    let disk = FaultyDisk::new(at, fault);
                    let history = shop.run(setting, &disk);
                    refused += usize::from(history.committed.len() < sound.committed.len());
                    disk.leave(Left::All, &mut Random(0));
                    let disk = FaultyDisk::new(0, Fault::None);
                    shop.recover(&disk).unwrap();
                    disk.leave(Left::Nothing, &mut Random(0));
                    let found = shop.rows();
                    let allowed = history
                        .committed
                        .iter()
                        .rev()
                        .take(1)
                        .chain(&history.asked)
                        .collect::<Vec<_>>();
                    assert!(
                        allowed.contains(&&found),
                        "{setting:?}, {fault:?} at step {at}: found {found:?}, allowed {allowed:?}"
                    );
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
