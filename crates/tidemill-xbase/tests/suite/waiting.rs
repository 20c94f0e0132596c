//! Changes of a table that nobody else has open: what is in the file when.

use std::path::{Path, PathBuf};

use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, EditOptions, FieldSpec, OpenMode, OpenOptions, Table, TableEditor, TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 22,
};

/// A table of three records with memos.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.dbf");
    let fields = [FieldSpec::new("NAME", 'C', 20, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    let mut create = CreateOptions::new(TODAY);
    create.format = tidemill_xbase::Dialect::FoxPro2;
    TableWriter::create(&path, &fields, &create).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for name in ["one", "two", "three"] {
        editor
            .append_values(&[(0, Value::Text(name)), (1, Value::Text(name))])
            .unwrap();
    }
    path
}

fn change(editor: &mut TableEditor) -> u32 {
    editor
        .replace(2, &[(0, Value::Text("second")), (1, Value::Text("a note"))])
        .unwrap();
    editor.delete(3).unwrap();
    editor
        .append_values(&[(0, Value::Text("waits")), (1, Value::Text("a memo"))])
        .unwrap()
}

/// The records and memos, read by an editor.
fn seen(editor: &TableEditor) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records = 1..=editor.record_count();
    let shown = records.map(|record| {
        let bytes = editor.record_bytes(record).unwrap();
        let memo = editor.memo_bytes(record, &bytes, 1).unwrap();
        (bytes, memo)
    });
    shown.collect()
}

#[test]
fn changes_are_seen_at_once_and_written_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let files = || [&path, &path.with_extension("fpt")].map(|file| std::fs::read(file).unwrap());
    type Write = fn(TableEditor);
    let ways: [(&str, Write); 4] = [
        ("flushed", |mut editor| editor.flush().unwrap()),
        ("synchronised", |mut editor| editor.sync().unwrap()),
        ("closed", drop),
        ("indexed", |mut editor| {
            editor.create_order(&OrderSpec::new("NAME", "NAME")).unwrap();
            assert_eq!(
                Table::open(editor.path(), &OpenOptions::new()).unwrap().record_count(),
                editor.record_count()
            );
        }),
    ];
    for (way, write) in ways {
        let before = files();
        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        let count = change(&mut editor);
        assert_eq!(files(), before, "{way}");
        let table = std::sync::Arc::new(editor.table().unwrap());
        assert_eq!(
            (table.record_count(), table.deleted_count().unwrap()),
            (count, 1),
            "{way}"
        );
        assert_eq!(files(), before, "{way}: looking writes nothing");
        drop(table);
        let expected = seen(&editor);
        write(editor);
        let again = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        assert_eq!(seen(&again), expected, "{way}");
    }
}

#[test]
fn no_more_waits_than_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let in_file = || Table::open(&path, &OpenOptions::new()).unwrap().record_count();
    let options = EditOptions::new(TODAY).waiting_bytes(2000);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    let mut most = 0;
    for _ in 0..200 {
        let missing = editor.append().unwrap() - in_file();
        most = most.max(missing);
    }
    assert!(
        (2..=2000 / editor.header().record_len).contains(&most),
        "{most} records waited"
    );
    drop(editor);
    for options in [options.clone().waiting_bytes(0), options.mode(OpenMode::Shared)] {
        let mut editor = TableEditor::open(&path, &options).unwrap();
        editor.lock_record(1).unwrap();
        let name = format!("{:?}", editor.record_count());
        editor.replace(1, &[(0, Value::Text(&name))]).unwrap();
        let found = std::fs::read(&path).unwrap();
        assert!(found.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
        editor.append().unwrap();
        drop(editor);
    }
}

#[test]
fn what_waits_is_written_before_a_log_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let log =
        tidemill_xbase::TransactionLog::open(folder.path().join("log"), &tidemill_xbase::LogOptions::new()).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let count = change(&mut editor);
    editor.use_log(Some(&log)).unwrap();
    assert_eq!(Table::open(&path, &OpenOptions::new()).unwrap().record_count(), count);
    let transaction = log.begin().unwrap();
    editor.append().unwrap();
    transaction.rollback().unwrap();
    editor.use_log(None).unwrap();
    assert_eq!(editor.record_count(), count);
    // Without it changes wait again.
    let before = std::fs::read(&path).unwrap();
    editor.append().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    editor.flush().unwrap();
    assert_eq!(
        Table::open(&path, &OpenOptions::new()).unwrap().record_count(),
        count + 1
    );
}
