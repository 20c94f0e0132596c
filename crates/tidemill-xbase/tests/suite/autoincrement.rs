//! Autoincrement fields that callers give values: the counter goes on behind the greatest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch, StringArray};
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, LogOptions, OpenMode, TableEditor, TableWriter,
    TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 25,
};

fn made(folder: &Path, format: Dialect) -> PathBuf {
    let path = folder.join(format!("{format:?}.dbf"));
    let fields = [
        FieldSpec::new("NAME", 'C', 4, 0),
        FieldSpec::new("ID", 'I', 4, 0).autoincrement(true),
    ];
    let mut create = CreateOptions::new(TODAY);
    create.format = format;
    TableWriter::create(&path, &fields, &create).unwrap().finish().unwrap();
    path
}

fn id(table: &TableEditor, record: u32) -> i32 {
    let bytes = table.record_bytes(record).unwrap();
    i32::from_le_bytes(bytes[5..9].try_into().unwrap())
}

fn ids(table: &TableEditor) -> Vec<i32> {
    (1..=table.record_count()).map(|record| id(table, record)).collect()
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Value(_)))
}

#[test]
fn the_counter_goes_on_behind_what_was_given() {
    let folder = TempDir::new().unwrap();
    for format in [Dialect::VisualFoxPro, Dialect::FoxPro2] {
        for mode in [OpenMode::Exclusive, OpenMode::Shared] {
            let path = made(folder.path(), format);
            let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode)).unwrap();
            let given = |number| [(1, Value::Integer(number))];
            assert!(is_refused(table.append_values(&given(100))));
            table.enforce_autoincrement(false);
            table.append_values(&given(100)).unwrap();
            assert_eq!(table.take_counted(), None);
            table.append().unwrap();
            assert_eq!(table.take_counted(), Some(101));
            // One that was given before, and less than any.
            table.append_values(&given(101)).unwrap();
            table.append_values(&given(-7)).unwrap();
            table.append().unwrap();
            assert_eq!(ids(&table), [100, 101, 101, -7, 102]);
            // Changed, by a value and by the bytes of a record.
            table.lock_records([1, 2]).unwrap();
            table.replace(1, &given(200)).unwrap();
            table.replace(2, &[(0, Value::Text("b"))]).unwrap();
            table.append().unwrap();
            let mut bytes = table.record_bytes(2).unwrap();
            bytes[5..9].copy_from_slice(&300_i32.to_le_bytes());
            table.replace_bytes(2, &bytes, &[]).unwrap();
            table.append().unwrap();
            assert_eq!(ids(&table), [200, 300, 101, -7, 102, 201, 301]);
            // As from now on, so for other handles.
            table.enforce_autoincrement(true);
            table.unlock_all().unwrap();
            table.lock_records([3]).unwrap();
            assert!(is_refused(table.replace(3, &given(1))));
            bytes[5..9].copy_from_slice(&900_i32.to_le_bytes());
            table.replace_bytes(3, &bytes, &[]).unwrap();
            assert_eq!(id(&table, 3), 101);
            table.flush().unwrap();
            drop(table);
            let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode)).unwrap();
            table.append().unwrap();
            assert_eq!(ids(&table).last(), Some(&302));
        }
    }
}

#[test]
fn rows_of_a_batch_have_their_own_values_or_the_next() {
    let folder = TempDir::new().unwrap();
    let path = made(folder.path(), Dialect::VisualFoxPro);
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let names = Arc::new(StringArray::from(vec!["a", "b", "c", "d"]));
    let numbers = Arc::new(Int32Array::from(vec![None, Some(50), None, Some(3)]));
    let batch = RecordBatch::try_from_iter_with_nullable([("NAME", names as _, true), ("ID", numbers as _, true)]);
    let batch = batch.unwrap();
    assert!(is_refused(table.append_batch(&batch)));
    table.enforce_autoincrement(false);
    table.append_batch(&batch).unwrap();
    table.append().unwrap();
    assert_eq!(ids(&table), [1, 50, 51, 3, 52]);
}

#[test]
fn a_counter_at_its_end_refuses_to_count_and_takes_what_is_given() {
    let folder = TempDir::new().unwrap();
    let path = made(folder.path(), Dialect::VisualFoxPro);
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    table.enforce_autoincrement(false);
    table.append_values(&[(1, Value::Integer(i32::MAX.into()))]).unwrap();
    assert!(is_refused(table.append()));
    assert!(is_refused(table.append_values(&[(1, Value::Integer(1 << 31))])));
    table.append_values(&[(1, Value::Integer(2))]).unwrap();
    assert_eq!(ids(&table), [i32::MAX, 2]);
}

#[test]
fn what_is_rolled_back_was_not_counted() {
    let folder = TempDir::new().unwrap();
    let path = made(folder.path(), Dialect::VisualFoxPro);
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &LogOptions::new()).unwrap();
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared).log(&log);
    let mut table = TableEditor::open(&path, &options).unwrap();
    table.enforce_autoincrement(false);
    let transaction = log.begin().unwrap();
    table.append_values(&[(1, Value::Integer(70))]).unwrap();
    transaction.rollback().unwrap();
    table.append().unwrap();
    assert_eq!(ids(&table), [1]);
}
