//! Several processes on one table: locks that the kernel shows, refuses and grants later, and appends that none loses.

#![cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, EditOptions, Error, FieldSpec, LockHolder, LockScheme, LockSubject, OpenMode,
    OpenOptions, Scan, Table, TableEditor, TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

#[test]
fn the_kernel_shows_the_ranges_of_every_scheme() {
    let (_folder, path) = table();
    let inode = std::fs::metadata(&path).unwrap().ino();
    let shown = |kind: &str, range: String| {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        let line = format!(":{inode} {range}");
        all.lines().any(|l| l.contains(kind) && l.ends_with(&line))
    };
    for scheme in LockScheme::ALL {
        let mut editor = TableEditor::open(&path, &shared(0).scheme(scheme)).unwrap();
        let ranges = scheme.table(editor.header());
        let text = |range: tidemill_xbase::LockRange| format!("{} {}", range.start, range.end);
        assert!(shown("FLOCK  ADVISORY  READ", "0 EOF".to_owned()));
        editor.lock_record(5).unwrap();
        assert!(shown("OFDLCK ADVISORY  WRITE", text(ranges.record(5))), "{scheme:?}");
        editor.lock_file().unwrap();
        assert!(!shown("OFDLCK", text(ranges.record(5))), "{scheme:?}");
        assert!(shown("OFDLCK ADVISORY  WRITE", text(ranges.file())), "{scheme:?}");
        editor.unlock_all().unwrap();
        assert!(!shown("OFDLCK", text(ranges.file())), "{scheme:?}");
    }
    let _alone = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert!(shown("FLOCK  ADVISORY  WRITE", "0 EOF".to_owned()));
}

#[test]
fn records_that_somebody_fills_are_told_from_those_that_are_there() {
    for scheme in LockScheme::ALL {
        let (_folder, path) = table();
        let filled = |from: u32| {
            let table = Table::open(&path, &OpenOptions::default()).unwrap();
            (table.record_count(), table.filled_records(from).unwrap())
        };
        let (count, _) = filled(0);
        let mut editor = TableEditor::open(&path, &shared(0).scheme(scheme)).unwrap();
        let first = editor.append().unwrap();
        let second = editor.append().unwrap();
        assert_eq!((first, second), (count + 1, count + 2));
        assert_eq!(filled(0), (count + 2, count), "{scheme:?}");
        assert_eq!(filled(count), (count + 2, count), "{scheme:?}");
        // Behind the lock nothing is looked for.
        assert_eq!(filled(count + 2), (count + 2, count + 2), "{scheme:?}");
        editor.unlock_record(first).unwrap();
        assert_eq!(filled(0), (count + 2, count + 1), "{scheme:?}");
        editor.unlock_all().unwrap();
        assert_eq!(filled(0), (count + 2, count + 2), "{scheme:?}");
        editor.lock_record(3).unwrap();
        assert_eq!((filled(0).1, filled(2).1, filled(3).1), (2, 2, count + 2), "{scheme:?}");
    }
}

/// The count in the header is for programs that go by it, and for who opens the table alone.
#[test]
fn whoever_writes_the_header_counts_what_others_have_appended() {
    let (_folder, path) = table();
    let (mut one, mut other) = (
        TableEditor::open(&path, &shared(0)).unwrap(),
        TableEditor::open(&path, &shared(0)).unwrap(),
    );
    let count = one.record_count();
    let in_header = || {
        let bytes = std::fs::read(&path).unwrap();
        u32::from_le_bytes(bytes[4..8].try_into().unwrap())
    };
    for _ in 0..3 {
        let record = other.append().unwrap();
        other.unlock_record(record).unwrap();
    }
    assert_eq!((one.record_count(), in_header()), (count, count + 3));
    one.lock_record(1).unwrap();
    one.delete(1).unwrap();
    one.flush().unwrap();
    assert_eq!((one.record_count(), in_header()), (count + 3, count + 3));
    // One that is appended goes behind those of others.
    let record = other.append().unwrap();
    other.unlock_record(record).unwrap();
    let behind = one.append().unwrap();
    assert_eq!((behind, in_header()), (count + 5, count + 5));
    one.unlock_all().unwrap();
    drop((one, other));
    let alone = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert_eq!(alone.record_count(), count + 5);
}

#[test]
fn a_table_that_is_open_is_not_created_anew() {
    let (_folder, path) = table();
    let files = || [&path, &path.with_extension("fpt")].map(|path| std::fs::read(path).unwrap());
    let before = files();
    let create = || {
        let fields = [FieldSpec::new("OTHER", 'C', 3, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
        TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
    };
    for mode in [OpenMode::Shared, OpenMode::Exclusive, OpenMode::ReadOnly] {
        let _open = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode)).unwrap();
        let refused = create().map(drop);
        assert!(
            matches!(&refused, Err(Error::Locked(refused)) if refused.subject == LockSubject::Open),
            "{refused:?}"
        );
        assert!(files() == before);
    }
    // A process that another test starts has the open files of this one until it begins its program.
    let deadline = Instant::now() + Duration::from_secs(10);
    let created = loop {
        match create() {
            Err(Error::Locked(_)) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            created => break created,
        }
    };
    created.unwrap().finish().unwrap();
    assert_eq!(Table::open(&path, &OpenOptions::new()).unwrap().fields().len(), 2);
}

#[test]
fn locks_of_another_process_are_seen_without_being_taken() {
    if let Some(mut role) = Role::of_this_process() {
        let mut editor = TableEditor::open(&role.path, &shared(0)).unwrap();
        editor.append().unwrap();
        role.tell("appended");
        role.wait();
        return;
    }
    let (_folder, path) = table();
    let before = Table::open(&path, &OpenOptions::default()).unwrap().record_count();
    let mut child = Role::start("sharing::locks_of_another_process_are_seen_without_being_taken", &path);
    child.expect("appended");
    let table = Table::open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(
        (table.record_count(), table.filled_records(0).unwrap()),
        (before + 1, before)
    );
    child.end();
    let table = Table::open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(table.filled_records(0).unwrap(), before + 1);
}

#[test]
fn another_process_is_refused_until_the_lock_is_given_back() {
    if let Some(mut role) = Role::of_this_process() {
        let mut editor = TableEditor::open(&role.path, &shared(0)).unwrap();
        editor.lock_record(1).unwrap();
        role.tell("locked");
        role.wait();
        return;
    }
    let (_folder, path) = table();
    let mut child = Role::start(
        "sharing::another_process_is_refused_until_the_lock_is_given_back",
        &path,
    );
    child.expect("locked");
    let mut editor = TableEditor::open(&path, &shared(30)).unwrap();
    let Err(Error::Locked(refused)) = editor.lock_record(1) else {
        panic!("the record is locked")
    };
    assert_eq!(
        (refused.subject, refused.holder),
        (LockSubject::Record(1), LockHolder::Unknown)
    );
    assert!(refused.waited >= Duration::from_millis(30));
    assert!(
        refused.to_string().contains("record 1 is locked by another process"),
        "{refused}"
    );
    editor.lock_record(2).unwrap();

    let mut patient = TableEditor::open(&path, &shared(20_000)).unwrap();
    let began = Instant::now();
    let asking = std::thread::spawn(move || {
        patient.lock_record(1).unwrap();
        began.elapsed()
    });
    std::thread::sleep(Duration::from_millis(50));
    child.tell("go on");
    assert!(asking.join().unwrap() >= Duration::from_millis(50));
    child.end();
}

/// Python's `fcntl.lockf` takes POSIX locks, as Harbour does, and the kernel names their owner.
#[test]
fn the_holder_of_a_posix_lock_is_named() {
    let (_folder, path) = table();
    let at = LockScheme::Vfp
        .table(Table::open(&path, &OpenOptions::new()).unwrap().header())
        .record(1);
    let program = "import fcntl, sys\n\
        f = open(sys.argv[1], 'r+b')\n\
        fcntl.lockf(f, fcntl.LOCK_EX, 1, int(sys.argv[2]))\n\
        print('locked', flush=True)\n\
        sys.stdin.readline()";
    let mut command = Command::new("python3");
    command.args(["-c", program]).arg(&path).arg(at.start.to_string());
    let mut child = Role::spawn(&mut command);
    child.expect("locked");
    let mut editor = TableEditor::open(&path, &shared(0)).unwrap();
    let Err(Error::Locked(refused)) = editor.lock_record(1) else {
        panic!("the record is locked")
    };
    assert_eq!(refused.holder, LockHolder::Process(child.child.id()));
    child.end();
    editor.lock_record(1).unwrap();
}

#[test]
fn processes_that_append_at_once_lose_no_record_and_no_memo() {
    const EACH: usize = 150;
    if let Some(mut role) = Role::of_this_process() {
        let mut editor = TableEditor::open(&role.path, &shared(60_000)).unwrap();
        let id = std::process::id();
        for n in 0..EACH {
            let (name, note) = (format!("{id}-{n}"), format!("note {id}-{n} ").repeat(1 + n % 20));
            let values = [(0, Value::Text(&name)), (1, Value::Text(&note))];
            let record = editor.append_values(&values).unwrap();
            editor.unlock_record(record).unwrap();
        }
        role.tell("done");
        return;
    }
    let (_folder, path) = table();
    let before = Table::open(&path, &OpenOptions::new()).unwrap().record_count() as usize;
    let start = || {
        Role::start(
            "sharing::processes_that_append_at_once_lose_no_record_and_no_memo",
            &path,
        )
    };
    let mut children = [start(), start(), start()];
    let mut expected = Vec::new();
    for child in &mut children {
        child.expect("done");
        let id = child.child.id();
        expected.extend((0..EACH).map(|n| (format!("{id}-{n}"), format!("note {id}-{n} ").repeat(1 + n % 20))));
    }
    children.into_iter().for_each(Role::end);
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    assert!(table.verify().unwrap().damage.is_empty());
    assert_eq!(table.record_count() as usize, before + expected.len());
    let mut found = Vec::new();
    for batch in table.scan(Scan::new()).unwrap() {
        let batch = batch.unwrap();
        let (names, notes) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        found.extend((0..batch.num_rows()).map(|i| (names.value(i).to_owned(), notes.value(i).to_owned())));
    }
    let mut found = found.split_off(before);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// A second process that runs the same test with another part to play.
struct Role {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

/// What the second process knows.
struct ChildRole {
    path: PathBuf,
}

impl Role {
    const VARIABLE: &'static str = "TIDEMILL_XBASE_TEST_TABLE";

    fn of_this_process() -> Option<ChildRole> {
        std::env::var_os(Self::VARIABLE).map(|path| ChildRole { path: path.into() })
    }

    fn start(test: &str, table: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", test, "--nocapture"])
            .env(Self::VARIABLE, table);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn expect(&mut self, word: &str) {
        let found = self
            .lines
            .by_ref()
            .lines()
            .map(Result::unwrap)
            .any(|line| line.ends_with(word));
        assert!(found, "the other process ended without {word:?}");
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl ChildRole {
    fn tell(&mut self, word: &str) {
        println!("{word}");
    }

    fn wait(&mut self) {
        std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    }
}

fn shared(timeout_ms: u64) -> EditOptions {
    EditOptions::new(TODAY)
        .mode(OpenMode::Shared)
        .lock_timeout(Duration::from_millis(timeout_ms))
}

/// A table with ten records.
fn table() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.dbf");
    let fields = [FieldSpec::new("NAME", 'C', 20, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    // Shared: a process that another test starts keeps this handle open for a moment, and an exclusive one would then be
    // in the way.
    let mut editor = TableEditor::open(&path, &shared(5_000)).unwrap();
    for _ in 0..10 {
        editor.append().unwrap();
    }
    drop(editor);
    (folder, path)
}
