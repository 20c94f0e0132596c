//! Writes that fail half way, and the order in which files are brought to the disk.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::field_spec::FieldSpec;
use crate::storage::Storage;
use crate::table::OpenOptions;
use crate::table_writer::{CreateOptions, TableWriter};
use crate::value::Value;
use crate::waiting_writes::WaitingWrites;

pub(super) const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// A file of which a write stops half way, as on a full disk, and the ones after it do nothing; the later ones succeed.
#[derive(Debug)]
pub(super) struct Faulty {
    file: Arc<File>,
    writes: Arc<AtomicU64>,
    fails: Range<u64>,
}

impl Storage for Faulty {
    fn len(&self) -> io::Result<u64> {
        Storage::len(&self.file)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        Storage::read_exact_at(&self.file, buf, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let write = self.writes.fetch_add(1, Ordering::Relaxed);
        if !self.fails.contains(&write) {
            return Storage::write_all_at(&self.file, bytes, offset);
        }
        if write == self.fails.start {
            Storage::write_all_at(&self.file, &bytes[..bytes.len() / 2], offset)?;
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let writes = self.writes.load(Ordering::Relaxed);
        if writes > self.fails.start && writes < self.fails.end {
            self.writes.fetch_add(1, Ordering::Relaxed);
            return Err(io::ErrorKind::StorageFull.into());
        }
        Storage::set_len(&self.file, len)
    }

    fn sync(&self) -> io::Result<()> {
        Storage::sync(&self.file)
    }
}

/// A table of three records with memos, changed through files that share one count of writes.
pub(super) fn faulty(folder: &Path, fails: Range<u64>, waits: bool) -> (TableEditor, Vec<PathBuf>) {
    let path = folder.join("t.dbf");
    let fields = [FieldSpec::new("NAME", 'C', 20, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for text in ["one", "two", "three"] {
        editor
            .append_values(&[(0, Value::Text(text)), (1, Value::Text(&text.repeat(50)))])
            .unwrap();
    }
    editor.flush().unwrap();
    let writes = Arc::default();
    let wrap = |path: &Path| {
        let file = Arc::new(File::options().read(true).write(true).open(path).unwrap());
        let (writes, fails) = (Arc::clone(&writes), fails.clone());
        let faulty = Faulty { file, writes, fails };
        match waits {
            true => DataFile::new(path, Box::new(WaitingWrites::over(faulty))),
            false => DataFile::new(path, Box::new(faulty)),
        }
    };
    editor.file = wrap(&path);
    let memo_path = path.with_extension("fpt");
    editor.memo = editor.memo.take().map(|memo| memo.moved(wrap(&memo_path)));
    (editor, vec![path, memo_path])
}

#[test]
fn a_write_that_fails_half_way_leaves_every_record_as_it_was() {
    let long = "four".repeat(100);
    let mut failures = 0;
    for fail_at in 0..6 {
        for change in 0..4 {
            let folder = tempfile::tempdir().unwrap();
            let (mut editor, paths) = faulty(folder.path(), fail_at..fail_at + 1, false);
            let before = std::fs::read(&paths[0]).unwrap();
            let values = [(0, Value::Text("four")), (1, Value::Text(&long))];
            let result = match change {
                0 => editor.append_values(&values).map(drop),
                1 => editor.replace(2, &values),
                2 => editor.delete(3),
                _ => editor.append().map(drop),
            };
            if result.is_ok() {
                continue;
            }
            failures += 1;
            assert!(matches!(result, Err(Error::Io { .. })), "{result:?}");
            assert_eq!(editor.record_count(), 3);
            drop(editor);
            assert_eq!(
                std::fs::read(&paths[0]).unwrap(),
                before,
                "change {change}, write {fail_at}"
            );
            let table = Arc::new(Table::open(&paths[0], &OpenOptions::new()).unwrap());
            assert!(table.verify().unwrap().damage.is_empty());
        }
    }
    assert!(failures >= 8, "{failures}");
}

/// A file that notes when it is brought to the disk.
#[derive(Debug)]
struct Noted {
    file: Arc<File>,
    name: &'static str,
    notes: Arc<std::sync::Mutex<Vec<&'static str>>>,
    fails: bool,
}

impl Storage for Noted {
    fn len(&self) -> io::Result<u64> {
        Storage::len(&self.file)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        Storage::read_exact_at(&self.file, buf, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.notes.lock().unwrap().push("write");
        Storage::write_all_at(&self.file, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Storage::set_len(&self.file, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.notes.lock().unwrap().push(self.name);
        if self.fails {
            Err(io::ErrorKind::Other.into())
        } else {
            Ok(())
        }
    }
}

#[test]
fn sync_writes_the_header_and_brings_memos_to_the_disk_before_the_records_that_point_at_them() {
    for failing in [None, Some("memo"), Some("table")] {
        let folder = tempfile::tempdir().unwrap();
        let (mut editor, paths) = faulty(folder.path(), u64::MAX..u64::MAX, false);
        let notes = Arc::default();
        let note = |path: &Path, name| {
            let storage = Noted {
                file: Arc::new(File::options().read(true).write(true).open(path).unwrap()),
                name,
                notes: Arc::clone(&notes),
                fails: failing == Some(name),
            };
            DataFile::new(path, Box::new(storage))
        };
        editor.file = note(&paths[0], "table");
        editor.memo = editor.memo.take().map(|memo| memo.moved(note(&paths[1], "memo")));
        editor.append().unwrap();
        notes.lock().unwrap().clear();
        let synced = editor.sync();
        assert_eq!(synced.is_ok(), failing.is_none());
        let expected = if failing == Some("memo") {
            &["write", "memo"][..]
        } else {
            &["write", "memo", "table"]
        };
        assert_eq!(*notes.lock().unwrap(), expected);
    }
}
