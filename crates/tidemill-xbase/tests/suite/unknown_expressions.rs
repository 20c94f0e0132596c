//! Tags whose expressions do not compile: of fields that have another name here, and of functions that are not known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::aof::{Filter, FilterOrders};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::{Direction, End, Finding, KeyValue, OrderSpec};
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Table,
    TableEditor, TableIndex, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 29,
};

#[test]
fn a_tag_that_does_not_compile_keeps_no_other_from_being_used() {
    for (dialect, extension) in [
        (Dialect::VisualFoxPro, "cdx"),
        (Dialect::FoxPro2, "cdx"),
        (Dialect::Dbase4, "mdx"),
    ] {
        let folder = TempDir::new().unwrap();
        let path = table(folder.path(), dialect, extension, "UPPER(NAME)", "UPPER(NAMF)");
        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        let settings = KeySettings::of_index(&path.with_extension(extension), None, &table);
        let index = TableIndex::production(&table, &settings).unwrap().unwrap();
        let findings = index.verify(&table).unwrap();
        assert!(
            findings.iter().all(Finding::is_unknown) && findings.len() == 1,
            "{findings:?}"
        );
        assert!(findings[0].to_string().contains("NAMF"), "{}", findings[0]);

        // It is walked as it is stored, and nothing is looked for in it.
        let bad = index.order("BAD").unwrap();
        assert!(!bad.keys().are_known());
        let records: Vec<_> = bad
            .order()
            .walk(Direction::Forward)
            .map(|e| e.unwrap().recno())
            .collect();
        assert_eq!(records, [2, 1, 3], "{dialect}");
        assert!(bad.order().key(&KeyValue::Character(b"A")).is_err());
        let good = index.order("GOOD").unwrap().order();
        let mut cursor = good.cursor();
        assert!(
            cursor
                .seek(&good.key(&KeyValue::Integer(2)).unwrap(), End::First, false)
                .unwrap()
        );
        assert_eq!(cursor.recno(), Some(2));
        let orders = FilterOrders::new(&table, index.orders()).unwrap();
        let filter = Filter::new("ID >= 2", &table, &Environment::new(table.codepage())).unwrap();
        assert_eq!(
            filter.bitmap_by(&table, &orders).unwrap(),
            filter.bitmap(&table).unwrap()
        );

        // Programs that read and those that write have all orders.
        for mode in [OpenMode::ReadOnly, OpenMode::Shared, OpenMode::Exclusive] {
            let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode)).unwrap();
            assert_eq!(editor.orders().count(), 2);
            let order = editor.order("BAD").unwrap();
            assert_eq!(order.order().walk(Direction::Forward).count(), 3);
            assert!(editor.order("GOOD").unwrap().keys().are_known());
        }
    }
}

#[test]
fn what_would_leave_a_tag_stale_that_does_not_compile_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = table(
        folder.path(),
        Dialect::VisualFoxPro,
        "cdx",
        "UPPER(NAME)",
        "UPPER(NAMF)",
    );
    let before = std::fs::read(path.with_extension("cdx")).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let is_told = |e: Error| {
        let cause = std::error::Error::source(&e)
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(cause.contains("NAMF"), "{e}: {cause}");
    };
    is_told(editor.append_values(&[(0, Value::Integer(4))]).unwrap_err());
    is_told(editor.replace(1, &[(0, Value::Integer(4))]).unwrap_err());
    is_told(editor.pack().unwrap_err());
    // What stays as it is is no change, and no expression here asks whether a record is deleted.
    editor.replace(1, &[(0, Value::Integer(1))]).unwrap();
    editor.delete(1).unwrap();
    assert_eq!(editor.record_count(), 3);
    drop(editor);
    assert_eq!(std::fs::read(path.with_extension("cdx")).unwrap(), before);

    // Without it, records are changed as ever.
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    editor.drop_order("BAD").unwrap();
    editor.append_values(&[(0, Value::Integer(4))]).unwrap();
    editor.replace(1, &[(0, Value::Integer(9))]).unwrap();
    drop(editor);
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()));
    assert_eq!(index.unwrap().unwrap().verify(&table).unwrap(), []);
}

#[test]
fn a_condition_that_asks_for_deleted_records_keeps_them_from_being_deleted() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), Dialect::VisualFoxPro, "cdx", "NAME+DTOS(DATE())", "");
    let bad = OrderSpec::new("BAD", "UPPER(NAME)").condition("!DELETED()");
    make(&path, "cdx", &[bad]);
    bend(&path.with_extension("cdx"), b"UPPER(NAME)", b"UPPER(NAMF)");
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert!(editor.delete(1).is_err());
}

#[test]
fn the_container_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.dbf");
    let mut options = CreateOptions::new(TODAY);
    (options.format, options.long_names) = (Dialect::VisualFoxPro, true);
    // Which of the short names is meant cannot be told without it.
    let fields = ["customerNumber", "customerNumberOld"].map(|name| FieldSpec::new(name, 'N', 5, 0));
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for number in [3, 1, 2] {
        editor.append_values(&[(0, Value::Integer(number))]).unwrap();
    }
    drop(editor);
    make(&path, "cdx", &[OrderSpec::new("N", "customerNumber")]);
    let verified = || {
        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        let settings = KeySettings::of_index(&path.with_extension("cdx"), None, &table);
        let index = TableIndex::production(&table, &settings).unwrap().unwrap();
        assert_eq!(index.order("N").unwrap().order().walk(Direction::Forward).count(), 3);
        index.verify(&table).unwrap()
    };
    assert_eq!(verified(), []);
    for extension in ["dbc", "dct", "dcx"] {
        let _ = std::fs::remove_file(path.with_extension(extension));
    }
    let findings = verified();
    assert!(findings.len() == 1 && findings[0].is_unknown(), "{findings:?}");
    let told = findings[0].to_string();
    assert!(told.contains("CUSTOMERNUMBER") && told.contains("t.dbc"), "{told}");
}

/// A table of three records with the orders GOOD and BAD, whose expression is another one afterwards.
fn table(folder: &Path, dialect: Dialect, extension: &str, expression: &str, other: &str) -> PathBuf {
    let path = folder.join("t.dbf");
    let mut options = CreateOptions::new(TODAY);
    options.format = dialect;
    let fields = [FieldSpec::new("ID", 'N', 5, 0), FieldSpec::new("NAME", 'C', 4, 0)];
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for (id, name) in [(1, "bb"), (2, "aa"), (3, "cc")] {
        editor
            .append_values(&[(0, Value::Integer(id)), (1, Value::Text(name))])
            .unwrap();
    }
    drop(editor);
    if !other.is_empty() {
        make(
            &path,
            extension,
            &[OrderSpec::new("GOOD", "ID"), OrderSpec::new("BAD", expression)],
        );
        bend(&path.with_extension(extension), expression.as_bytes(), other.as_bytes());
    }
    path
}

fn make(path: &Path, extension: &str, orders: &[OrderSpec]) {
    let table = Table::open(path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(table.codepage());
    build_index(path.with_extension(extension), &table, orders, &settings).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[28] |= 1;
    std::fs::write(path, bytes).unwrap();
}

fn bend(path: &Path, from: &[u8], to: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    let places: Vec<_> = bytes
        .windows(from.len())
        .enumerate()
        .filter(|(_, w)| *w == from)
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    std::fs::write(path, bytes).unwrap();
}
