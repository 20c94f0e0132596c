//! Faults, kills and signals around the program as it ships, for as long as one likes.
//!
//! Each test goes on for `TIDEMILL_SOAK_SECONDS` (3, so that every run of the tests has some of it; `cargo xtask soak` gives more) and
//! begins at another place each time, by a seed that it prints when something fails. A table with memos and an index is one thing: after
//! each fault it is the old one or the new one, as a whole.

#![cfg(target_os = "linux")]

mod served;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidemill_testkit::{Chance, soak_time};

/// What changes the table `people`, and what it makes of its notes.
const CHANGES: [(&str, &[&str], &str); 5] = [
    (
        "copy",
        &["copy", "src.dbf", "people.dbf", "--overwrite", "--lossy"],
        "new",
    ),
    (
        "update",
        &[
            "sql",
            "UPDATE people SET note = CONCAT('new ', TRIM(CONVERT(id, SQL_CHAR)))",
        ],
        "new",
    ),
    ("delete", &["sql", "DELETE FROM people WHERE id > 20"], "first twenty"),
    ("reindex", &["reindex", "people.dbf"], "old"),
    ("create index", &["sql", "CREATE INDEX other ON people (id)"], "old"),
];

const ROWS: usize = 60;

/// Tables to be changed, made once.
struct Base(TempDir);

impl Base {
    fn make() -> Self {
        let base = Self(tempfile::tempdir().expect("a folder"));
        for (table, word) in [("people", "old"), ("src", "new")] {
            let values: Vec<String> = (1..=ROWS).map(|id| format!("({id}, '{word} {id}')")).collect();
            for sql in [
                format!("CREATE TABLE {table} (id Integer, note Memo)"),
                format!("INSERT INTO {table} VALUES {}", values.join(", ")),
                format!("CREATE INDEX id ON {table} (id)"),
            ] {
                done(&tidemill(base.0.path(), &["sql", &sql]).output().expect("started"));
            }
        }
        base
    }

    /// The same tables in a folder of their own.
    fn copied(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for entry in fs::read_dir(self.0.path()).expect("listed").flatten() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
        }
        folder
    }
}

fn tidemill(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

#[track_caller]
fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The rows of `people`, once what a program left is recovered.
fn rows(folder: &Path) -> String {
    done(&tidemill(folder, &["recover", "."]).output().expect("started"));
    let rows = tidemill(folder, &["cat", "people.dbf", "--format", "csv"]).output();
    done(&rows.expect("started"))
}

fn expected(notes: &str) -> String {
    let (word, last) = match notes {
        "first twenty" => ("old", 20),
        word => (word, ROWS),
    };
    let rows: Vec<String> = (1..=last).map(|id| format!("{id},{word} {id}\n")).collect();
    format!("ID,NOTE\n{}", rows.concat())
}

/// That the table is the old one or the new one, as a whole, with its index; new where the change was told as done.
fn check(folder: &Path, notes: &str, ended: &Output, what: &str) {
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    if ended.status.success() {
        let read = tidemill(folder, &["cat", "people.dbf"]).output().expect("started");
        let why = String::from_utf8_lossy(&read.stderr).into_owned();
        assert!(read.status.success(), "{what}: told as done, and not to be read: {why}");
    }
    let found = rows(folder);
    let is_new = found == expected(notes);
    assert!(
        is_new || found == expected("old"),
        "{what}: neither old nor new: {found}\n{said}"
    );
    assert!(is_new || !ended.status.success(), "{what}: told as done, and not there");
    let verified = tidemill(folder, &["verify", "people.dbf"]).output().expect("started");
    assert!(
        verified.status.success(),
        "{what}: {}{said}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

/// For how long a test goes on where nothing else is said.
const TIME: Duration = Duration::from_secs(3);

/// Builds the library that lets calls fail.
fn faults() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soak/faults.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    (folder, library)
}

#[test]
fn a_call_that_fails_or_is_the_last_leaves_the_old_table_or_the_new_one() {
    /// Kills, EIO, ENOSPC.
    const HOW: [&str; 3] = ["0", "5", "28"];
    let begun = Instant::now();
    let (base, (_folder, library)) = (Base::make(), faults());
    let mut chance = Chance::new("faults");
    let faulty = |folder: &Path, args: &[&str], at: usize, how: &str, count: Option<&Path>| {
        let mut command = tidemill(folder, args);
        command
            .env("LD_PRELOAD", &library)
            .env("FAULT_FOLDER", folder)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_HOW", how);
        if let Some(count) = count {
            command.env("FAULT_COUNT", count);
        }
        command.output().expect("started")
    };
    // How many calls each change takes.
    let counts = CHANGES.map(|(name, args, notes)| {
        let folder = base.copied();
        let counted = library.with_file_name("count");
        let ended = faulty(folder.path(), args, 0, "0", Some(&counted));
        done(&ended);
        check(folder.path(), notes, &ended, name);
        let calls: usize = fs::read_to_string(&counted)
            .expect("a count")
            .trim()
            .parse()
            .expect("a number");
        assert!(calls > 3, "{name} changes files by {calls} calls");
        calls
    });
    let mut points = 0;
    while begun.elapsed() < soak_time(TIME) {
        let change = chance.below(CHANGES.len());
        let (name, args, notes) = CHANGES[change];
        let (at, how) = (chance.below(counts[change]) + 1, HOW[chance.below(HOW.len())]);
        let folder = base.copied();
        let ended = faulty(folder.path(), args, at, how, None);
        check(
            folder.path(),
            notes,
            &ended,
            &format!("{name}, call {at} of {}, error {how}", counts[change]),
        );
        points += 1;
    }
    println!("{points} faults in {:?}", begun.elapsed());
}

#[test]
fn a_change_that_is_reported_as_done_can_be_read_whichever_call_failed() {
    let (base, (_folder, library)) = (Base::make(), faults());
    let (name, args, notes) = CHANGES[4];
    let counted = library.with_file_name("count");
    for at in 1.. {
        let folder = base.copied();
        let mut command = tidemill(folder.path(), args);
        command.env("LD_PRELOAD", &library).env("FAULT_FOLDER", folder.path());
        command.env("FAULT_AT", at.to_string()).env("FAULT_HOW", "5");
        command.env("FAULT_COUNT", &counted);
        let ended = command.output().expect("started");
        check(folder.path(), notes, &ended, &format!("{name}, call {at}, error 5"));
        let calls = fs::read_to_string(&counted).expect("a count");
        if at > calls.trim().parse::<usize>().expect("a number") {
            break;
        }
    }
}

#[test]
fn a_program_that_is_killed_leaves_the_old_table_or_the_new_one() {
    let begun = Instant::now();
    let base = Base::make();
    let mut chance = Chance::new("kills");
    let mut kills = 0;
    while begun.elapsed() < soak_time(TIME) {
        let (name, args, notes) = CHANGES[chance.below(CHANGES.len())];
        let folder = base.copied();
        let mut child = tidemill(folder.path(), args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        std::thread::sleep(Duration::from_micros(chance.below(40_000) as u64));
        let _ = child.kill();
        let ended = child.wait_with_output().expect("ended");
        check(folder.path(), notes, &ended, name);
        kills += 1;
    }
    println!("{kills} kills in {:?}", begun.elapsed());
}

#[test]
fn a_replacement_that_was_cut_off_is_told_by_every_command_and_recovered() {
    let (base, (_folder, library)) = (Base::make(), faults());
    let (_, copy, notes) = CHANGES[0];
    let run = |folder: &Path, args: &[&str]| tidemill(folder, args).output().expect("started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The first call behind which the log says what takes whose place.
    let cut_off = (1..500).find_map(|at| {
        let folder = base.copied();
        let mut command = tidemill(folder.path(), copy);
        command.env("LD_PRELOAD", &library).env("FAULT_FOLDER", folder.path());
        command.env("FAULT_AT", at.to_string()).env("FAULT_HOW", "0");
        command.output().expect("started");
        let told = run(folder.path(), &["recover", "--dry-run", "."]);
        (!told.stdout.is_empty()).then_some((folder, text(&told.stdout)))
    });
    let (folder, told) = cut_off.expect("a copy that was cut off");
    assert!(told.contains("people.dbf") && told.contains("people.fpt"), "{told}");
    for args in [
        &["cat", "people.dbf"][..],
        &["inspect", "people.dbf"],
        &["verify", "people.dbf"],
        &["sql", "SELECT * FROM people"],
    ] {
        let ended = run(folder.path(), args);
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        assert!(
            text(&ended.stderr).contains("recover the folder first"),
            "{args:?}: {}",
            text(&ended.stderr)
        );
    }
    // It hides no other table of the folder.
    let verified = run(folder.path(), &["verify", "."]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(text(&verified.stdout).contains("src.dbf: 60 records, no damage"));
    assert!(text(&verified.stderr).contains("tidemill recover writes them"));
    assert_eq!(rows(folder.path()), expected(notes));
    done(&run(folder.path(), &["verify", "."]));
}
