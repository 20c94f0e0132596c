//! A log is bytes in a folder that anybody may have put there: which are obeyed, who does it, and what readers are told.

#![cfg(target_os = "linux")]
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, Durability, EditOptions, Error, FieldSpec, LogContents, LogOptions, OpenMode,
    OpenOptions, Scan, Table, TableEditor, TableWriter, TransactionLog, Value, pending_logs, recover, recover_folders,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// A folder with a table, and a file of the user beside the folder.
struct Folder {
    root: TempDir,
}

impl Folder {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        std::fs::create_dir(root.path().join("data")).unwrap();
        let folder = Self { root };
        std::fs::write(folder.victim(), b"precious configuration").unwrap();
        let table = folder.path("people.dbf");
        let fields = [FieldSpec::new("NAME", 'C', 8, 0)];
        TableWriter::create(&table, &fields, &CreateOptions::new(TODAY))
            .unwrap()
            .finish()
            .unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("data").join(name)
    }

    fn victim(&self) -> PathBuf {
        self.root.path().join("victim.conf")
    }

    fn log(&self) -> PathBuf {
        self.path("tidemill-1-1.tmlog")
    }

    fn people(&self) -> PathBuf {
        self.path("people.dbf")
    }

    /// Leaves a log as the death of a process does that had committed a record, and returns it.
    fn crash(&self) -> Vec<u8> {
        let before = std::fs::read(self.people()).unwrap();
        let log = TransactionLog::open(self.log(), &LogOptions::new().durability(Durability::Group(9))).unwrap();
        let mut table = TableEditor::open(self.people(), &EditOptions::new(TODAY).log(&log)).unwrap();
        table.append_values(&[(0, Value::Text("ann"))]).unwrap();
        let bytes = std::fs::read(self.log()).unwrap();
        drop((table, log));
        std::fs::write(self.people(), before).unwrap();
        std::fs::write(self.log(), &bytes).unwrap();
        bytes
    }

    /// All that is there, links as what they are.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let regular = entries.chain([self.victim()]).filter(|path| path.is_file());
        let mut files: Vec<_> = regular
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    }
}

/// A change of a file as a forger writes it.
struct Change {
    name: Vec<u8>,
    lens: (u64, u64),
    pieces: Vec<(u64, Vec<u8>, Vec<u8>)>,
}

impl Change {
    fn of(name: &str) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            lens: (0, 4),
            pieces: vec![(0, Vec::new(), b"evil".to_vec())],
        }
    }

    /// A change that passes whatever the file has: it is cut, and then written.
    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0];
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend(&self.name);
        out.extend(self.lens.0.to_le_bytes());
        out.extend(self.lens.1.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend((self.pieces.len() as u32).to_le_bytes());
        for (offset, before, after) in &self.pieces {
            out.extend(offset.to_le_bytes());
            out.extend((before.len() as u32).to_le_bytes());
            out.extend((after.len() as u32).to_le_bytes());
            out.extend(before);
            out.extend(after);
        }
        out
    }
}

fn log_of(version: u8, groups: &[Vec<Change>]) -> Vec<u8> {
    let mut log = b"TDMLOG\0".to_vec();
    log.push(version);
    log.resize(28, 0);
    log.extend(crc32c::crc32c(&log).to_le_bytes());
    log.resize(1024, 0);
    for (sequence, changes) in (0u64..).zip(groups) {
        let mut payload = (changes.len() as u32).to_le_bytes().to_vec();
        changes.iter().for_each(|change| payload.extend(change.bytes()));
        let mut rest = sequence.to_le_bytes().to_vec();
        rest.extend((payload.len() as u64).to_le_bytes());
        rest.extend(payload);
        log.extend(b"TDMG");
        log.extend(crc32c::crc32c(&rest).to_le_bytes());
        log.extend(rest);
    }
    log
}

fn cut(name: &str) -> Vec<Change> {
    let mut change = Change::of(name);
    (change.lens, change.pieces) = ((1 << 40, 0), Vec::new());
    vec![change]
}

fn within_a_second<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(1)).unwrap()
}

fn rows(path: &Path) -> Result<usize, Error> {
    let table = Arc::new(Table::open(path, &OpenOptions::new())?);
    table.scan(Scan::new())?.map(|batch| Ok(batch?.num_rows())).sum()
}

/// Nothing obeys the log in the folder, it stays, and what it does not name is read and written as ever.
fn check_refused(folder: &Folder, file: &str, expected: &str) {
    let before = folder.files();
    let refusals = [
        recover(folder.path("")).unwrap_err(),
        TransactionLog::open(folder.log(), &LogOptions::new()).unwrap_err(),
    ];
    for refused in refusals {
        let text = refused.to_string();
        assert!(matches!(refused, Error::RefusedLog(_)), "{text}");
        assert!(text.contains(&folder.log().display().to_string()), "{text}");
        assert!(
            text.contains(file) && text.contains(expected),
            "{file}, {expected}: {text}"
        );
    }
    let pending = pending_logs(folder.path("")).unwrap();
    assert!(pending[0].refused.as_ref().unwrap().contains(expected), "{pending:?}");
    assert_eq!(rows(&folder.people()).unwrap(), 0);
    TableEditor::open(folder.people(), &EditOptions::new(TODAY)).unwrap();
    assert_eq!(folder.files(), before);
}

#[test]
fn a_log_names_plain_files_of_tables_in_its_own_folder_or_is_refused() {
    let folder = Folder::new();
    let absolute = folder.victim().display().to_string();
    std::fs::create_dir(folder.path("sub")).unwrap();
    std::fs::write(folder.path("sub/t.dbf"), b"of another folder").unwrap();
    std::fs::write(folder.path("notes.txt"), b"of the user").unwrap();
    for name in [
        "../victim.conf",
        absolute.as_str(),
        "sub/t.dbf",
        "./people.dbf",
        "..",
        "",
    ] {
        std::fs::write(folder.log(), log_of(1, &[cut(name), vec![Change::of(name)]])).unwrap();
        check_refused(
            &folder,
            name,
            "expected the name of a file in the log's own folder, found a path",
        );
    }
    for name in ["notes.txt", "none", "t.cpg", "tidemill-1-1.tmlog"] {
        std::fs::write(folder.log(), log_of(2, &[cut(name), vec![Change::of(name)]])).unwrap();
        check_refused(
            &folder,
            name,
            "expected a table, a memo file or an index, found the extension",
        );
    }
}

#[test]
fn a_log_changes_no_link_and_no_file_that_has_another_name() {
    let folder = Folder::new();
    let target = folder.path("t.dbf");
    let write = || std::fs::write(folder.log(), log_of(2, &[cut("t.dbf"), vec![Change::of("t.dbf")]])).unwrap();
    write();
    symlink(folder.victim(), &target).unwrap();
    check_refused(&folder, "t.dbf", "expected a regular file, found");
    std::fs::remove_file(&target).unwrap();
    std::fs::hard_link(folder.victim(), &target).unwrap();
    check_refused(&folder, "t.dbf", "expected a file of one name, found one of 2 names");
    std::fs::remove_file(&target).unwrap();
    nix::unistd::mkfifo(&target, nix::sys::stat::Mode::S_IRWXU).unwrap();
    check_refused(&folder, "t.dbf", "expected a regular file, found");
    std::fs::remove_file(&target).unwrap();
    // Such a file is in no transaction either, or a crash would not be recovered from.
    std::fs::hard_link(folder.people(), folder.path("again.dbf")).unwrap();
    let log = TransactionLog::beside_tables(&LogOptions::new());
    let refused = TableEditor::open(folder.people(), &EditOptions::new(TODAY).log(&log)).unwrap_err();
    assert!(refused.to_string().contains("it has 2 names (hard links)"), "{refused}");
}

#[test]
fn a_log_that_claims_more_than_it_has_is_refused() {
    let folder = Folder::new();
    let mut grows = Change::of("people.dbf");
    grows.lens = (0, 1 << 40);
    let mut behind = Change::of("people.dbf");
    behind.pieces[0].0 = 1 << 40;
    for change in [grows, behind] {
        std::fs::write(folder.log(), log_of(2, &[vec![change]])).unwrap();
        let before = folder.files();
        assert!(matches!(recover(folder.path("")), Err(Error::RefusedLog(_))));
        // It names the table, so what is in that nobody can say.
        assert!(matches!(rows(&folder.people()), Err(Error::Pending(_))));
        let written = TableEditor::open(folder.people(), &EditOptions::new(TODAY));
        assert!(matches!(written, Err(Error::RefusedLog(_))), "{written:?}");
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn a_sparse_log_is_an_error_and_not_the_end() {
    let folder = Folder::new();
    let mut log = log_of(2, &[vec![Change::of("people.dbf")]]);
    log[1040..1048].copy_from_slice(&(1u64 << 40).to_le_bytes());
    std::fs::write(folder.log(), &log).unwrap();
    std::fs::File::options()
        .write(true)
        .open(folder.log())
        .unwrap()
        .set_len(1 << 41)
        .unwrap();
    let (data, path, people) = (folder.path(""), folder.log(), folder.people());
    within_a_second(move || {
        let found = "length of a group at byte 1040: expected groups of about the";
        let refused = recover(&data).unwrap_err();
        assert!(refused.to_string().contains(found), "{refused}");
        assert!(TransactionLog::open(&path, &LogOptions::new()).is_err());
        assert!(LogContents::read(&path).is_err());
        let pending = pending_logs(&data).unwrap();
        assert!(pending[0].refused.as_ref().unwrap().contains(found), "{pending:?}");
        let told = rows(&people).unwrap_err();
        assert!(told.to_string().contains("or cannot be read"), "{told}");
    });
}

#[test]
fn what_is_no_file_is_no_log_and_nobody_waits_for_it() {
    let folder = Folder::new();
    let outside = folder.root.path().join("outside");
    std::fs::write(&outside, log_of(2, &[cut("people.dbf")])).unwrap();
    let before = folder.files();
    for kind in ["pipe", "link", "folder"] {
        match kind {
            "pipe" => nix::unistd::mkfifo(&folder.log(), nix::sys::stat::Mode::S_IRWXU).unwrap(),
            "link" => symlink(&outside, folder.log()).unwrap(),
            _ => std::fs::create_dir(folder.log()).unwrap(),
        }
        let (data, people) = (folder.path(""), folder.people());
        within_a_second(move || {
            assert!(matches!(recover(&data), Err(Error::RefusedLog(_))), "{kind}");
            assert_eq!(rows(&people).unwrap(), 0, "{kind}");
            TableEditor::open(&people, &EditOptions::new(TODAY)).unwrap();
            assert_eq!(pending_logs(&data).unwrap().len(), 1, "{kind}");
        });
        match kind {
            "folder" => std::fs::remove_dir(folder.log()).unwrap(),
            _ => std::fs::remove_file(folder.log()).unwrap(),
        }
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn a_file_that_is_only_called_so_is_left_alone() {
    let folder = Folder::new();
    std::fs::write(folder.path("empty.tmlog"), b"").unwrap();
    std::fs::write(folder.path("team.tmlog"), b"what the team did").unwrap();
    let before = folder.files();
    assert_eq!(recover(folder.path("")).unwrap(), []);
    assert_eq!(pending_logs(folder.path("")).unwrap(), []);
    assert_eq!(rows(&folder.people()).unwrap(), 0);
    TableEditor::open(folder.people(), &EditOptions::new(TODAY)).unwrap();
    assert_eq!(folder.files(), before);
}

#[test]
fn a_log_of_somebody_else_is_refused_and_so_are_his_tables() {
    if !nix::unistd::geteuid().is_root() {
        // Only root gives files away.
        return;
    }
    let folder = Folder::new();
    let log = folder.crash();
    chown(folder.log(), Some(12345), None).unwrap();
    let check = |expected: &str| {
        let refused = recover(folder.path("")).unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
        assert_eq!(std::fs::read(folder.log()).unwrap(), log);
        assert!(matches!(rows(&folder.people()), Err(Error::Pending(_))));
    };
    check("expected a log of the user or of the folder's owner (user 0), found user 12345");
    chown(folder.path(""), Some(12345), None).unwrap();
    check("expected a file of the log's owner (user 12345), found one of user 0");
    chown(folder.people(), Some(12345), None).unwrap();
    assert_eq!(recover(folder.path("")).unwrap().len(), 1);
    assert_eq!(rows(&folder.people()).unwrap(), 1);
}

#[test]
fn readers_are_told_of_what_is_not_finished_and_writers_finish_it() {
    let folder = Folder::new();
    let log = folder.crash();
    let before = folder.files();
    let told = rows(&folder.people()).unwrap_err();
    let said = format!(
        "{}: {} has committed changes that are not in the table yet; recover the folder first, or open the table for writing",
        folder.people().display(),
        folder.log().display()
    );
    assert_eq!(told.to_string(), said);
    let lenient = Table::open(folder.people(), &OpenOptions::new().recover(true));
    assert!(
        matches!(lenient, Err(Error::Pending(_))),
        "what a crash left is no damage"
    );
    let read_only = EditOptions::new(TODAY).mode(OpenMode::ReadOnly);
    assert!(matches!(
        TableEditor::open(folder.people(), &read_only),
        Err(Error::Pending(_))
    ));
    let despite = Table::open(folder.people(), &OpenOptions::new().despite_pending(true)).unwrap();
    assert_eq!(despite.record_count(), 0);
    let pending = pending_logs(folder.path("")).unwrap();
    let [one] = pending.as_slice() else {
        panic!("{pending:?}")
    };
    assert_eq!(
        (&one.path, one.files.as_slice()),
        (&folder.log(), [folder.people()].as_slice())
    );
    assert_eq!((one.groups, one.bytes), (1, log.len() as u64 - 1024));
    assert!(!one.in_use && one.refused.is_none() && one.other_folders.is_empty());
    assert_eq!(folder.files(), before, "reading writes nothing");

    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        std::fs::remove_file(folder.log()).unwrap_or_default();
        folder.crash();
        let table = TableEditor::open(folder.people(), &EditOptions::new(TODAY).mode(mode)).unwrap();
        assert_eq!(table.record_count(), 1);
        drop(table);
        assert_eq!(rows(&folder.people()).unwrap(), 1);
        assert_eq!(pending_logs(folder.path("")).unwrap(), []);
        assert!(!folder.log().exists());
        std::fs::write(folder.people(), &before[0].1).unwrap();
    }
    folder.crash();
    let recovered = recover(folder.path("")).unwrap();
    assert_eq!(
        (recovered[0].transactions, recovered[0].files.as_slice()),
        (1, [folder.people()].as_slice())
    );
    assert_eq!(rows(&folder.people()).unwrap(), 1);
}

#[test]
fn the_log_of_a_living_process_is_its_own() {
    let folder = Folder::new();
    let log = TransactionLog::open(folder.log(), &LogOptions::new().durability(Durability::Group(9))).unwrap();
    let mut table = TableEditor::open(folder.people(), &EditOptions::new(TODAY).log(&log)).unwrap();
    table.append_values(&[(0, Value::Text("ann"))]).unwrap();
    assert_eq!(rows(&folder.people()).unwrap(), 0, "not yet in the file");
    assert!(pending_logs(folder.path("")).unwrap()[0].in_use);
    assert_eq!(recover(folder.path("")).unwrap(), []);
    log.checkpoint().unwrap();
    assert_eq!(rows(&folder.people()).unwrap(), 1);
}

#[test]
fn one_log_that_is_refused_keeps_no_other_from_being_recovered() {
    let folder = Folder::new();
    folder.crash();
    std::fs::write(folder.path("a.tmlog"), log_of(2, &[cut("../victim.conf")])).unwrap();
    assert!(matches!(recover(folder.path("")), Err(Error::RefusedLog(_))));
    assert_eq!(rows(&folder.people()).unwrap(), 1);
    assert_eq!(std::fs::read(folder.victim()).unwrap(), b"precious configuration");
}

/// Two folders, a table in each, and what a crash left of one transaction over both.
struct Two {
    root: TempDir,
}

impl Two {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let two = Self { root };
        for folder in ["a", "b"] {
            std::fs::create_dir(two.folder(folder)).unwrap();
            let fields = [FieldSpec::new("NAME", 'C', 8, 0)];
            let table = TableWriter::create(two.table(folder), &fields, &CreateOptions::new(TODAY));
            table.unwrap().finish().unwrap();
        }
        two
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn table(&self, folder: &str) -> PathBuf {
        self.folder(folder).join("t.dbf")
    }

    /// The logs of a transaction that appends a record to both tables, which are as before.
    fn crash(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let log = TransactionLog::beside_tables(&LogOptions::new());
        let options = EditOptions::new(TODAY).log(&log);
        let mut tables = ["a", "b"].map(|folder| TableEditor::open(self.table(folder), &options).unwrap());
        let before = ["a", "b"].map(|folder| std::fs::read(self.table(folder)).unwrap());
        assert!(log.paths().is_empty(), "no log before there is something to write");
        let transaction = log.begin().unwrap();
        for table in &mut tables {
            table.append_values(&[(0, Value::Text("ann"))]).unwrap();
        }
        transaction.commit().unwrap();
        let logs = log.paths();
        assert_eq!(logs.len(), 2);
        // Emptying a log cuts it off and writes the other header; this puts both back.
        let logs: Vec<_> = logs
            .into_iter()
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        drop((tables, log));
        for (folder, bytes) in ["a", "b"].iter().zip(before) {
            std::fs::write(self.table(folder), bytes).unwrap();
        }
        logs
    }
}

#[test]
fn logs_lie_with_their_tables_and_go_when_they_are_done() {
    let two = Two::new();
    let logs = two.crash();
    assert_eq!(
        logs[0].0.parent().unwrap(),
        std::fs::canonicalize(two.folder("a")).unwrap()
    );
    assert_eq!(
        logs[1].0.parent().unwrap(),
        std::fs::canonicalize(two.folder("b")).unwrap()
    );
    for (path, bytes) in &logs {
        assert!(!path.exists(), "{}", path.display());
        assert!(LogContents::from_bytes(bytes.clone()).unwrap().transactions.is_empty());
    }
    assert!(recover_folders([two.folder("a"), two.folder("b")]).unwrap().is_empty());
}

#[test]
fn a_log_that_was_only_begun_is_nothing_to_recover() {
    let folder = Folder::new();
    let log = folder.path("tidemill-0123456789abcdef.tmlog");
    for bytes in [&b""[..], b"TDMLOG", &[0; 1024]] {
        std::fs::write(&log, bytes).unwrap();
        assert_eq!(pending_logs(folder.path("")).unwrap(), [], "{} bytes", bytes.len());
        assert!(recover(folder.path("")).unwrap().is_empty());
    }
    std::fs::write(&log, [b'x'; 2000]).unwrap();
    assert!(pending_logs(folder.path("")).unwrap()[0].refused.is_some());
}
