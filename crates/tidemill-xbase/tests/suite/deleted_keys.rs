//! New records whose key a deleted record has.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, KeySettings, LogOptions, OpenMode, OpenOptions,
    Table, TableEditor, TableIndex, TableWriter, TransactionLog, Value, build_index,
};

const DAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 30,
};

/// A table of three records with an id, a name and a memo, whose id is a candidate key.
fn table(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("t.dbf");
    let fields = [
        FieldSpec::new("ID", 'N', 6, 0),
        FieldSpec::new("NAME", 'C', 5, 0),
        FieldSpec::new("NOTE", 'M', 10, 0),
    ];
    let mut options = CreateOptions::new(DAY);
    options.format = Dialect::VisualFoxPro;
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(DAY).mode(OpenMode::Exclusive)).unwrap();
    for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let values = [(0, Value::Integer(id)), (1, Value::Text(name)), (2, Value::Text("old"))];
        editor.append_values(&values).unwrap();
    }
    drop(editor);
    let opened = Table::open(&path, &OpenOptions::new()).unwrap();
    let orders = [
        OrderSpec::new("ID", "ID").candidate(true),
        OrderSpec::new("NAME", "NAME"),
    ];
    let settings = KeySettings::new(opened.codepage());
    build_index(path.with_extension("cdx"), &opened, &orders, &settings).unwrap();
    path
}

fn open(path: &Path, mode: OpenMode) -> TableEditor {
    let mut editor = TableEditor::open(path, &EditOptions::new(DAY).mode(mode)).unwrap();
    if editor.orders_of_files().next().is_none() {
        editor.open_index(path.with_extension("cdx")).unwrap();
    }
    editor
}

fn rows(path: &Path) -> Vec<String> {
    let editor = TableEditor::open(path, &EditOptions::new(DAY).mode(OpenMode::Shared)).unwrap();
    let records = 1..=editor.record_count();
    let text = |record| {
        let bytes = editor.record_bytes(record).unwrap();
        let note = editor.memo_bytes(record, &bytes, 2).unwrap();
        let fields = String::from_utf8_lossy(&bytes[..12]).into_owned();
        format!("{fields}|{}", String::from_utf8_lossy(&note))
    };
    records.map(text).collect()
}

fn is_duplicate_of(error: &Error, record: u32) -> bool {
    let source = match error {
        Error::Order { source, .. } => &**source,
        error => error,
    };
    matches!(source, Error::DuplicateKey { holder, .. } if *holder == record)
}

fn verified(path: &Path) {
    let table = Table::open(path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(table.codepage());
    let index = TableIndex::open(path.with_extension("cdx"), &table, &settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn a_new_record_takes_the_place_of_a_deleted_one_with_its_key() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let mut editor = open(&path, mode);
        editor.lock_record(2).unwrap();
        editor.delete(2).unwrap();
        editor.unlock_record(2).unwrap();
        let new = [
            (0, Value::Integer(2)),
            (1, Value::Text("new")),
            (2, Value::Text("note")),
        ];
        // Not unless it is asked for.
        let refused = editor.append_complete(&new).unwrap_err();
        assert!(is_duplicate_of(&refused, 2), "{refused:?}");
        editor.reuse_deleted(true);
        assert_eq!(editor.append_complete(&new).unwrap(), 2);
        // What is there keeps its key.
        let refused = editor.append_complete(&[(0, Value::Integer(3))]).unwrap_err();
        assert!(is_duplicate_of(&refused, 3), "{refused:?}");
        drop(editor);
        assert_eq!(
            rows(&path),
            ["      1a    |old", "      2new  |note", "      3c    |old"]
        );
        verified(&path);
    }
}

#[test]
fn rows_of_a_batch_take_places_and_are_appended_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let mut editor = open(&path, OpenMode::Exclusive);
    let batch = |ids: [i64; 3]| {
        let columns: [(&str, ArrayRef); 3] = [
            ("ID", Arc::new(Int64Array::from(ids.to_vec()))),
            ("NAME", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
            ("NOTE", Arc::new(StringArray::from(vec![None::<&str>; 3]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    for record in [1, 3] {
        editor.delete(record).unwrap();
    }
    editor.append_rows(&batch([4, 3, 1]), &[]).unwrap_err();
    editor.reuse_deleted(true);
    assert_eq!(editor.append_rows(&batch([4, 3, 1]), &[]).unwrap(), 3);
    drop(editor);
    let expected = ["      1z    |", "      2b    |old", "      3y    |", "      4x    |"];
    assert_eq!(rows(&path), expected);
    verified(&path);

    // In a transaction a place that was taken is given back.
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &LogOptions::new()).unwrap();
    let transaction = log.begin().unwrap();
    let options = EditOptions::new(DAY).mode(OpenMode::Exclusive).log(&log);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    editor.reuse_deleted(true);
    editor.delete(2).unwrap();
    assert_eq!(editor.append_rows(&batch([5, 2, 6]), &[]).unwrap(), 3);
    transaction.rollback().unwrap();
    drop(editor);
    assert_eq!(rows(&path), expected);
    verified(&path);
}
