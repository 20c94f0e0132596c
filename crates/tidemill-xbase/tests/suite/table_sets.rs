//! Tables that are replaced with all that belongs to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, EditOptions, Error, Existing, FieldSpec, KeySettings, OpenOptions, Scan, Table,
    TableEditor, TableIndex, TableSet, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// A table of so many records whose notes say the word of the table.
fn make(path: &Path, word: &str, records: u32, has_memo: bool) {
    let fields = [FieldSpec::new("NAME", 'C', 12, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    let fields = &fields[..1 + usize::from(has_memo)];
    TableWriter::create(path, fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut table = TableEditor::open(path, &EditOptions::new(TODAY)).unwrap();
    for _ in 0..records {
        let values = [(0, Value::Text(word)), (1, Value::Text(word))];
        table.append_values(&values[..fields.len()]).unwrap();
    }
}

fn index(path: &Path) {
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

fn draft(folder: &Path, word: &str, records: u32, has_memo: bool) -> TempDir {
    let draft = tempfile::Builder::new()
        .prefix(TableSet::DRAFT)
        .tempdir_in(folder)
        .unwrap();
    make(&draft.path().join("people.dbf"), word, records, has_memo);
    draft
}

/// The words of all names and notes.
fn words(path: &Path) -> Result<Vec<(String, String)>, Error> {
    let table = Arc::new(Table::open(path, &OpenOptions::new())?);
    let mut words = Vec::new();
    for batch in table.scan(Scan::new())? {
        let batch = batch?;
        let (names, notes) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        words.extend((0..batch.num_rows()).map(|row| (names.value(row).to_owned(), notes.value(row).to_owned())));
    }
    Ok(words)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nothing_of_the_old_table_stays_beside_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.dbf");
    make(&path, "old", 3, true);
    index(&path);
    std::fs::write(folder.path().join("people.cpg"), "cp1252").unwrap();
    std::fs::write(folder.path().join("people.txt"), "of the user").unwrap();
    let set = TableSet::of(&path);
    let draft = draft(folder.path(), "new", 2, false);
    let bytes = std::fs::metadata(draft.path().join("people.dbf")).unwrap().len();
    assert_eq!(set.publish(draft.path(), Existing::Replace).unwrap(), bytes);
    assert_eq!(names(folder.path()), ["people.dbf", "people.txt"]);
    // It can be changed, with an index of its own.
    index(&path);
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    table.replace(1, &[(0, Value::Text("again"))]).unwrap();
    drop(table);
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn what_is_refused_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.dbf");
    let draft = draft(folder.path(), "new", 2, true);
    let set = TableSet::of(&path);
    let check = |existing, expected: &str| {
        let before = names(folder.path());
        let refused = set.publish(draft.path(), existing).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        assert_eq!(names(folder.path()), before);
        assert_eq!(names(draft.path()), ["people.dbf", "people.fpt"]);
    };
    std::fs::write(folder.path().join("people.cdx"), "a stranger's").unwrap();
    check(Existing::Refuse, "people.cdx already exists");
    std::fs::remove_file(folder.path().join("people.cdx")).unwrap();
    std::fs::create_dir(folder.path().join("people.fpt")).unwrap();
    check(Existing::Replace, "people.fpt already exists");
    std::fs::remove_dir(folder.path().join("people.fpt")).unwrap();
    make(&path, "old", 1, true);
    check(Existing::Refuse, "people.dbf already exists");
    let open = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    check(Existing::Replace, "people.dbf: ");
    drop(open);

    let elsewhere = tempfile::tempdir().unwrap();
    let far = self::draft(elsewhere.path(), "new", 2, true);
    for (from, expected) in [
        (far.path(), "a draft is a folder beside its table"),
        (elsewhere.path(), "a draft is a folder beside its table"),
    ] {
        let refused = set.publish(from, Existing::Replace).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    let empty = tempfile::Builder::new()
        .prefix(TableSet::DRAFT)
        .tempdir_in(folder.path())
        .unwrap();
    let refused = set.publish(empty.path(), Existing::Replace).unwrap_err().to_string();
    assert!(refused.contains("the draft has no table"), "{refused}");
    assert_eq!(words(&path).unwrap(), [("old".to_owned(), "old".to_owned())]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_table_is_replaced_and_what_it_leads_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("people.dbf"), folder.path().join("victim.conf"));
    std::fs::write(&victim, b"precious").unwrap();
    for name in ["people.dbf", "people.fpt", "people.cdx"] {
        std::os::unix::fs::symlink(&victim, folder.path().join(name)).unwrap();
    }
    let draft = draft(folder.path(), "new", 2, true);
    TableSet::of(&path).publish(draft.path(), Existing::Replace).unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    assert_eq!(words(&path).unwrap().len(), 2);
    assert_eq!(names(folder.path()), ["people.dbf", "people.fpt", "victim.conf"]);
}

#[test]
fn readers_find_the_old_table_or_the_new_one_and_its_own_notes_while_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("people.dbf");
    make(&path, "w0", 5, true);
    let is_done = AtomicBool::new(false);
    let read = std::thread::scope(|scope| {
        let reader = || {
            let mut read = 0;
            while !is_done.load(Ordering::Relaxed) {
                let words = words(&path).unwrap();
                let (first, _) = &words[0];
                assert_eq!(words.len(), 5);
                assert!(
                    words.iter().all(|(name, note)| name == first && note == first),
                    "{words:?}"
                );
                read += 1;
            }
            read
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        let set = TableSet::of(&path);
        for n in 1..60 {
            let draft = draft(folder.path(), &format!("w{n}"), 5, true);
            set.publish(draft.path(), Existing::Replace).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(read.iter().all(|read| *read > 5), "{read:?}");
    assert_eq!(names(folder.path()), ["people.dbf", "people.fpt"]);
}

#[test]
fn what_has_no_table_belongs_to_somebody_else() {
    let folder = tempfile::tempdir().unwrap();
    let set = TableSet::of(folder.path().join("people.dbf"));
    assert_eq!(set.replaced(Existing::Replace).unwrap(), [] as [PathBuf; 0]);
    let notes = folder.path().join("people.fpt");
    std::fs::write(&notes, "somebody's notes").unwrap();
    let refused = set.replaced(Existing::Replace).unwrap_err();
    assert!(matches!(refused, Error::Exists { path } if path == notes));
    std::fs::write(set.table(), "a table").unwrap();
    assert_eq!(set.replaced(Existing::Replace).unwrap().len(), 2);
    assert!(set.replaced(Existing::Refuse).is_err());
}
