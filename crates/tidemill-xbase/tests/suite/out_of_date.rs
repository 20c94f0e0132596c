//! Indexes that are sound and whose table was changed without them: told from damage, with counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::index::{Finding, OrderSpec, OutOfDate};
use tidemill_xbase::{
    CivilDate, CreateOptions, EditOptions, FieldSpec, KeySettings, OpenOptions, Table, TableEditor, TableIndex,
    TableWriter, Value, build_index,
};

use super::nullable_keys::index_of;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 12,
    day: 1,
};

/// A table of ten numbers with an index.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.dbf");
    let fields = [FieldSpec::new("N", 'N', 4, 0), FieldSpec::new("A", 'C', 4, 0)];
    let options = CreateOptions::new(TODAY);
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = editor(&path);
    for number in 1..=10 {
        editor.append_values(&[(0, Value::Integer(number))]).unwrap();
    }
    drop(editor);
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let orders = [
        OrderSpec::new("ALL", "N"),
        OrderSpec::new("EVEN", "N").condition("N % 2 = 0"),
        OrderSpec::new("A", "A"),
    ];
    let settings = KeySettings::new(table.codepage());
    build_index(path.with_extension("cdx"), &table, &orders, &settings).unwrap();
    path
}

/// One that leaves the index alone.
fn editor(path: &Path) -> TableEditor {
    TableEditor::open(path, &EditOptions::new(TODAY).production_index(false)).unwrap()
}

fn findings(path: &Path) -> Vec<Finding> {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    let cdx = path.with_extension("cdx");
    let index = TableIndex::open(&cdx, &table, &KeySettings::new(table.codepage())).unwrap();
    index.verify(&table).unwrap()
}

fn said(findings: &[Finding], tag: &str) -> Option<String> {
    OutOfDate::of(findings, tag).map(|found| found.to_string())
}

#[test]
fn a_table_that_was_changed_without_its_index_is_told_from_damage() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    assert_eq!(findings(&path), []);
    assert_eq!(said(&[], "ALL"), None);

    let mut changed = editor(&path);
    changed.replace(3, &[(0, Value::Integer(77))]).unwrap();
    changed.replace(4, &[(0, Value::Integer(5))]).unwrap();
    for number in 11..=15 {
        changed.append_values(&[(0, Value::Integer(number))]).unwrap();
    }
    drop(changed);
    let found = findings(&path);
    assert!(found.iter().all(Finding::is_out_of_date), "{found:?}");
    assert_eq!(
        said(&found, "ALL").unwrap(),
        "out of date: 5 keys missing, 2 keys not those of their records; the first is that of record 3"
    );
    // Records that the condition leaves out are not counted.
    assert_eq!(
        said(&found, "EVEN").unwrap(),
        "out of date: 2 keys missing, 1 key surplus; the first is that of record 4"
    );
    let of_even = found.iter().filter(|finding| finding.tag.as_deref() == Some("EVEN"));
    let of_even: Vec<_> = of_even.map(|finding| finding.what.to_string()).collect();
    assert_eq!(of_even[1], "no keys of 2 records from 12 to 14");
    assert_eq!(
        said(&found, "A").unwrap(),
        "out of date: 5 keys missing; the first is that of record 11"
    );
}

#[test]
fn keys_of_records_that_a_table_does_not_have_are_surplus() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let mut emptied = TableEditor::open(
        &path,
        &EditOptions::new(TODAY)
            .production_index(false)
            .mode(tidemill_xbase::OpenMode::Exclusive),
    )
    .unwrap();
    emptied.zap().unwrap();
    emptied.append_values(&[(0, Value::Integer(12))]).unwrap();
    drop(emptied);
    let found = findings(&path);
    assert_eq!(
        said(&found, "ALL").unwrap(),
        "out of date: 9 keys surplus, 1 key not that of its record; the first is that of record 1"
    );
    assert_eq!(
        said(&found, "EVEN").unwrap(),
        "out of date: 1 key missing, 5 keys surplus; the first is that of record 1"
    );
}

#[test]
fn a_key_that_was_left_behind_is_surplus() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let mut keys: Vec<(Vec<u8>, u8)> = vec![(b"    ".to_vec(), 5)];
    keys.extend((1..=10).map(|record| (b"    ".to_vec(), record)));
    keys.remove(5);
    keys.push((b"x   ".to_vec(), 5));
    keys.sort();
    std::fs::write(path.with_extension("cdx"), index_of("A", 0x60, 4, &keys)).unwrap();
    let found = findings(&path);
    assert_eq!(
        said(&found, "V").unwrap(),
        "out of date: 1 key surplus; the first is that of record 5"
    );
}

#[test]
fn keys_out_of_order_are_damage() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let mut keys: Vec<(Vec<u8>, u8)> = (1..=9).map(|record| (b"    ".to_vec(), record)).collect();
    keys.insert(3, (b"x   ".to_vec(), 10));
    std::fs::write(path.with_extension("cdx"), index_of("A", 0x60, 4, &keys)).unwrap();
    let found = findings(&path);
    assert!(found.iter().any(|finding| !finding.is_out_of_date()), "{found:?}");
    assert_eq!(said(&found, "V"), None);
}

#[test]
fn a_file_of_one_order_whose_fields_the_table_does_not_have_is_of_another_table() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let idx = path.with_extension("idx");
    let made = Table::open(&path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(made.codepage());
    build_index(&idx, &made, &[OrderSpec::new("X", "N")], &settings).unwrap();
    let other = folder.path().join("other.dbf");
    let options = CreateOptions::new(TODAY);
    let fields = [FieldSpec::new("B", 'C', 4, 0)];
    TableWriter::create(&other, &fields, &options)
        .unwrap()
        .finish()
        .unwrap();
    let other = Arc::new(Table::open(&other, &OpenOptions::new()).unwrap());
    let opened = [
        TableIndex::open(&idx, &other, &settings).unwrap(),
        TableIndex::open_known(&idx, &other, &settings).unwrap().0,
    ];
    for index in opened {
        let found = index.verify(&other).unwrap();
        assert!(found.iter().all(Finding::is_unknown), "{found:?}");
    }
}
