//! Tables that others take the place of, cut off at every call of the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use tempfile::TempDir;

use super::{Disk, LogOptions, TheDisk, TransactionLog, pending_logs, recover};
use crate::alteration::Alteration;
use crate::error::{Error, Result};
use crate::field_spec::FieldSpec;
use crate::header::CivilDate;
use crate::index::OrderSpec;
use crate::orders::{KeySettings, TableIndex, build_index};
use crate::scan::Scan;
use crate::storage::Storage;
use crate::table::{OpenOptions, Table};
use crate::table_editor::{EditOptions, TableEditor};
use crate::table_set::{Existing, TableSet};
use crate::table_writer::{CreateOptions, TableWriter};
use crate::value::Value;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Nothing goes any more, as when the process dies.
    Crash,
    /// This call fails, and later ones succeed.
    Once,
    /// This call and all later ones fail, and the program goes on.
    ForGood,
}

/// The real disk, which fails at a chosen call: a write, a change of a length, bringing a file or a folder to the disk, a renaming,
/// a removal.
#[derive(Debug, Clone)]
struct FailingDisk {
    calls: Arc<Mutex<u64>>,
    at: u64,
    fault: Fault,
}

#[derive(Debug)]
struct FailingFile {
    disk: FailingDisk,
    file: Arc<File>,
}

impl FailingDisk {
    fn new(at: u64, fault: Fault) -> Self {
        let calls = Arc::default();
        Self { calls, at, fault }
    }

    fn calls(&self) -> u64 {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let call = *calls;
        *calls += 1;
        let fails = match self.fault {
            Fault::None => false,
            Fault::Once => call == self.at,
            Fault::Crash | Fault::ForGood => call >= self.at,
        };
        match fails {
            true => Err(io::Error::other("the disk failed")),
            false => Ok(()),
        }
    }

    fn call_on(&self, path: &Path) -> Result<()> {
        self.call().map_err(|e| Error::io(path, "change", e))
    }
}

impl Disk for FailingDisk {
    fn storage(&self, _path: &Path, file: Arc<File>) -> Arc<dyn Storage> {
        let disk = self.clone();
        Arc::new(FailingFile { disk, file })
    }

    fn sync_folder(&self, folder: &Path) -> Result<()> {
        self.call_on(folder)?;
        TheDisk.sync_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.call_on(to)?;
        TheDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.call_on(path)?;
        TheDisk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> Result<()> {
        self.call_on(path)?;
        TheDisk.remove_folder(path)
    }
}

impl Storage for FailingFile {
    fn len(&self) -> io::Result<u64> {
        Storage::len(&self.file)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Err(e) = self.disk.call() {
            // Half of it is there all the same.
            self.file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(e);
        }
        self.file.write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.call()?;
        Storage::set_len(&self.file, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call()
    }
}

/// A table with so many records that say where they are from, and what belongs to it.
#[derive(Debug, Clone, Copy)]
struct Made {
    records: usize,
    has_memo: bool,
    has_index: bool,
    word: &'static str,
}

impl Made {
    fn make(self, path: &Path) {
        let mut fields = vec![FieldSpec::new("NAME", 'C', 12, 0)];
        if self.has_memo {
            fields.push(FieldSpec::new("NOTE", 'M', 10, 0));
        }
        TableWriter::create(path, &fields, &CreateOptions::new(TODAY))
            .unwrap()
            .finish()
            .unwrap();
        let mut table = TableEditor::open(path, &EditOptions::new(TODAY)).unwrap();
        for n in 0..self.records {
            let (name, note) = (format!("{}{n}", self.word), format!("{} note {n}", self.word).repeat(9));
            let values = [(0, Value::Text(&name)), (1, Value::Text(&note))];
            table.append_values(&values[..1 + usize::from(self.has_memo)]).unwrap();
        }
        table.sync().unwrap();
        drop(table);
        if self.has_index {
            let table = Table::open(path, &OpenOptions::new()).unwrap();
            let settings = KeySettings::new(table.codepage());
            build_index(
                path.with_extension("cdx"),
                &table,
                &[OrderSpec::new("NAME", "NAME")],
                &settings,
            )
            .unwrap();
        }
    }
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A folder as it is before a change, and what is done in it.
struct Place {
    folder: TempDir,
    before: Files,
}

impl Place {
    fn new(old: Option<Made>) -> Self {
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let mut place = Self {
            folder,
            before: Files::new(),
        };
        if let Some(old) = old {
            old.make(&place.table());
        }
        place.before = place.files();
        place
    }

    fn table(&self) -> PathBuf {
        self.folder.path().join("people.dbf")
    }

    /// What is in the folder, but for logs and drafts.
    fn files(&self) -> Files {
        let entries = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap());
        let entries = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("people"));
        entries
            .map(|entry| (entry.file_name().into(), std::fs::read(entry.path()).unwrap()))
            .collect()
    }

    fn reset(&self) {
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => std::fs::remove_dir_all(path).unwrap(),
                false => std::fs::remove_file(path).unwrap(),
            }
        }
        for (name, bytes) in &self.before {
            std::fs::write(self.folder.path().join(name), bytes).unwrap();
        }
    }

    fn draft(&self, new: Made) -> PathBuf {
        let draft = self.folder.path().join(".tidemill-draft");
        std::fs::create_dir(&draft).unwrap();
        new.make(&draft.join("people.dbf"));
        draft
    }

    /// What readers find: rows with notes, once they are found sound.
    fn read(&self) -> Result<Vec<(String, String)>> {
        let table = Arc::new(Table::open(self.table(), &OpenOptions::new())?);
        assert_eq!(table.verify()?.damage, []);
        if let Some(index) = TableIndex::production(&table, &KeySettings::new(table.codepage()))? {
            assert_eq!(index.verify(&table)?, []);
        }
        let mut rows = Vec::new();
        for batch in table.scan(Scan::new())? {
            let batch = batch?;
            let text = |column: usize, row| match column < batch.num_columns() {
                true => batch.column(column).as_string::<i32>().value(row).to_owned(),
                false => String::new(),
            };
            rows.extend((0..batch.num_rows()).map(|row| (text(0, row), text(1, row))));
        }
        Ok(rows)
    }

    /// Does something with a disk that fails at each of its calls, in each way; it leaves what was, or what is to be. Returns how
    /// many faults were tried.
    fn check(&self, what: &str, work: impl Fn(&Self, &Arc<dyn Disk>) -> Result<()>) -> u64 {
        let run = |at, fault| {
            self.reset();
            let disk = FailingDisk::new(at, fault);
            let done = work(self, &(Arc::new(disk.clone()) as Arc<dyn Disk>));
            (done, disk.calls())
        };
        self.reset();
        let old_rows = self.read().ok();
        let (done, calls) = run(0, Fault::None);
        done.unwrap();
        let (after, new_rows) = (self.files(), self.read().unwrap());
        assert_ne!(after, self.before);
        let left = std::fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(left, after.len(), "{what}: nothing stays behind");
        let (mut was_old, mut was_new, mut was_told) = (0, 0, 0);
        for fault in [Fault::Crash, Fault::Once, Fault::ForGood] {
            for at in 0..calls {
                let (done, _) = run(at, fault);
                let here = format!("{what}: {fault:?} at call {at} of {calls}: {done:?}");
                let is_old = |files: &Files| *files == self.before;
                match &done {
                    Ok(()) => assert_eq!(self.files(), after, "{here}"),
                    Err(Error::Unknown(_)) => {}
                    Err(_) if fault == Fault::Crash => {}
                    Err(_) => assert!(is_old(&self.files()), "{here}"),
                }
                match self.read() {
                    Ok(rows) => assert!(rows == new_rows || Some(&rows) == old_rows.as_ref(), "{here}"),
                    Err(Error::Pending(_)) => was_told += 1,
                    Err(e) => assert!(old_rows.is_none() && is_old(&self.files()), "{here}: {e}"),
                }
                let recovered = recover(self.folder.path()).unwrap_or_else(|e| panic!("{here}: {e}"));
                let found = self.files();
                assert!(
                    is_old(&found) || found == after,
                    "{here}: {recovered:?}: {:?}",
                    found.keys()
                );
                was_old += u64::from(is_old(&found));
                was_new += u64::from(found == after);
                assert_eq!(pending_logs(self.folder.path()).unwrap(), [], "{here}");
                if let Err(e) = self.read() {
                    assert!(old_rows.is_none() && is_old(&found), "{here}: {e}");
                }
            }
        }
        println!("{what}: {calls} calls, {was_old} times old, {was_new} times new, {was_told} times readers were told");
        assert!(
            was_old > 5 && was_new > 5 && was_told > 0,
            "{what}: {was_old} {was_new} {was_told}"
        );
        3 * calls
    }
}

const OLD: Made = Made {
    records: 7,
    has_memo: true,
    has_index: true,
    word: "old",
};
const PLAIN: Made = Made {
    has_memo: false,
    has_index: false,
    ..OLD
};

#[test]
fn a_set_of_files_is_replaced_as_one_whatever_fails() {
    let (whole, plain) = (
        Made {
            word: "new",
            records: 3,
            ..OLD
        },
        Made {
            word: "new",
            records: 3,
            ..PLAIN
        },
    );
    let mut faults = 0;
    for (old, new) in [
        (Some(OLD), whole),
        (Some(OLD), plain),
        (Some(PLAIN), whole),
        (Some(PLAIN), plain),
        (None, whole),
    ] {
        let existing = if old.is_some() {
            Existing::Replace
        } else {
            Existing::Refuse
        };
        let place = Place::new(old);
        faults += place.check(&format!("{old:?} by {new:?}"), |place, disk| {
            let draft = place.draft(new);
            TableSet::of(place.table()).publish_on(&draft, existing, disk).map(drop)
        });
    }
    assert!(faults > 150, "{faults}");
}

#[test]
fn a_table_is_packed_with_its_memos_and_index_as_one_whatever_fails() {
    let mut faults = 0;
    for old in [OLD, PLAIN, Made { has_memo: false, ..OLD }] {
        let mut place = Place::new(Some(old));
        let mut table = TableEditor::open(place.table(), &EditOptions::new(TODAY)).unwrap();
        table.delete(2).unwrap();
        table.delete(5).unwrap();
        table.sync().unwrap();
        drop(table);
        place.before = place.files();
        faults += place.check(&format!("packing {old:?}"), |place, disk| {
            let mut table = TableEditor::open(place.table(), &EditOptions::new(TODAY)).unwrap();
            assert_eq!(table.pack_on(disk)?, 5);
            assert_eq!(table.record_count(), 5);
            Ok(())
        });
    }
    assert!(faults > 90, "{faults}");
}

#[test]
fn a_table_is_zapped_with_its_memos_and_index_as_one_whatever_fails() {
    let mut faults = 0;
    for old in [OLD, PLAIN, Made { has_memo: false, ..OLD }] {
        faults += Place::new(Some(old)).check(&format!("zapping {old:?}"), |place, disk| {
            let mut table = TableEditor::open(place.table(), &EditOptions::new(TODAY)).unwrap();
            table.zap_on(disk)?;
            assert_eq!(table.record_count(), 0);
            Ok(())
        });
    }
    assert!(faults > 90, "{faults}");
}

#[test]
fn a_table_gets_another_structure_with_its_memos_and_index_as_one_whatever_fails() {
    type Alter = fn(Alteration) -> Result<Alteration>;
    let cases: [(Made, Alter); 4] = [
        (OLD, |of| Ok(of.add_field(FieldSpec::new("EXTRA", 'C', 5, 0)))),
        (OLD, |of| of.drop_field("NOTE")),
        (PLAIN, |of| Ok(of.add_field(FieldSpec::new("NOTE", 'M', 10, 0)))),
        (Made { has_memo: false, ..OLD }, |of| {
            of.change_field("NAME", FieldSpec::new("NAME", 'C', 20, 0))
        }),
    ];
    let mut faults = 0;
    for (old, change) in cases {
        faults += Place::new(Some(old)).check(&format!("altering {old:?}"), |place, disk| {
            let mut table = TableEditor::open(place.table(), &EditOptions::new(TODAY)).unwrap();
            let alteration = change(Alteration::of(table.fields())).unwrap();
            table.alter_on(&alteration, disk)?;
            assert_eq!(table.record_count(), 7);
            Ok(())
        });
    }
    assert!(faults > 120, "{faults}");
}

#[test]
fn a_commit_that_nobody_knows_of_says_so_and_what_to_do() {
    let place = Place::new(Some(PLAIN));
    let (mut unknown, mut calls) = (0, u64::MAX);
    let mut at = 0;
    while at < calls {
        place.reset();
        let fault = if calls == u64::MAX { Fault::None } else { Fault::ForGood };
        let disk = FailingDisk::new(at, fault);
        let log = TransactionLog::beside_tables_on(Arc::new(disk.clone()), &LogOptions::new());
        let mut table = TableEditor::open(place.table(), &EditOptions::new(TODAY).log(&log)).unwrap();
        let appended = table.append_values(&[(0, Value::Text("more"))]);
        if fault == Fault::None {
            appended.unwrap();
            calls = disk.calls();
            continue;
        }
        at += 1;
        drop((table, log));
        let (is_done, is_unknown) = (appended.is_ok(), matches!(appended, Err(Error::Unknown(_))));
        if is_unknown {
            unknown += 1;
            let said = appended.unwrap_err().to_string();
            assert!(
                said.starts_with("it is unknown whether a transaction is committed"),
                "{said}"
            );
            assert!(
                said.contains("recover the folder of") && said.contains(".tmlog"),
                "{said}"
            );
        } else if appended.is_err() {
            assert_eq!(place.files(), place.before, "{appended:?}");
        }
        recover(place.folder.path()).unwrap();
        let rows = place.read().unwrap().len();
        let expected = if is_done {
            8..=8
        } else {
            7..=7 + usize::from(is_unknown)
        };
        assert!(expected.contains(&rows), "{rows} at call {at}");
    }
    assert!(unknown > 1 && calls > 4, "{unknown} of {calls}");
}
