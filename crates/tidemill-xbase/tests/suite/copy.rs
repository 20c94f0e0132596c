//! Copies of tables: the same structure, the same records, and nothing of the place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, Deleted, Durability, EditOptions, Error, LogOptions, OpenOptions, Scan, Table, TableEditor,
    TransactionLog,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

#[test]
fn a_copy_of_every_golden_has_its_records_and_an_empty_one_its_structure() {
    for golden in goldens() {
        let folder = TempDir::new().unwrap();
        let (table, rows) = read(&golden);
        let (whole, empty) = (folder.path().join("WHOLE.DBF"), folder.path().join("empty.dbf"));
        assert_eq!(table.copy_to(&whole).unwrap(), table.record_count(), "{golden:?}");
        table.copy_structure(&empty).unwrap();
        let (copied, found) = read(&whole);
        assert_eq!(found, rows, "{golden:?}");
        assert_eq!(copied.fields(), table.fields());
        assert_eq!(copied.deleted_count().unwrap(), table.deleted_count().unwrap());
        assert!(!copied.header().production_index);
        let (structure, none) = read(&empty);
        // Whether a field that is exempt from code page translation is one of text, its values tell.
        let described = |table: &Table| {
            let fields = table.fields().iter().map(|field| {
                let place = (field.offset, field.width, field.decimals, field.nullable);
                (field.name.clone(), field.letter, place, field.binary)
            });
            fields.collect::<Vec<_>>()
        };
        assert_eq!((described(&structure), none.num_rows()), (described(&table), 0));
        assert_eq!(
            structure.memo().map(|memo| memo.dialect()),
            table.memo().map(|memo| memo.dialect())
        );

        // Both take records.
        for (path, before) in [(&whole, table.record_count()), (&empty, 0)] {
            let mut editor = TableEditor::open(path, &EditOptions::new(TODAY)).unwrap();
            assert_eq!(editor.append().unwrap(), before + 1);
            drop(editor);
            assert_eq!(read(path).1.num_rows(), before as usize + 1);
        }
        // Nothing is overwritten, and nothing half is left.
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        assert!(matches!(table.copy_to(&whole), Err(Error::Exists { .. })));
        std::fs::write(folder.path().join("third.dbf"), b"mine").unwrap();
        assert!(matches!(
            table.copy_structure(folder.path().join("third.dbf")),
            Err(Error::Exists { .. })
        ));
        assert_eq!(files(), before + 1, "{golden:?}");
        assert_eq!(std::fs::read(folder.path().join("third.dbf")).unwrap(), b"mine");
    }
}

#[test]
fn a_copy_has_what_the_own_transaction_has_changed() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("first.dbf"), folder.path().join("second.dbf"));
    read(&corpus().join("memo_fpt32.dbf")).0.copy_to(&first).unwrap();
    let log = LogOptions::new().durability(Durability::Group(9));
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &log).unwrap();
    let mut table = TableEditor::open(&first, &EditOptions::new(TODAY).log(&log)).unwrap();
    let transaction = log.begin().unwrap();
    let appended = table.append().unwrap();
    assert_eq!(table.table().unwrap().copy_to(&second).unwrap(), appended);
    transaction.rollback().unwrap();
    assert_eq!(read(&second).1.num_rows(), appended as usize);
    assert_eq!(read(&first).1.num_rows(), appended as usize - 1);
}

/// A table that is found sound, and all its rows.
fn read(path: &Path) -> (Arc<Table>, RecordBatch) {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    assert_eq!(table.verify().unwrap().damage, [], "{}", path.display());
    let scan = table.scan(Scan::new().deleted(Deleted::Include)).unwrap();
    let batches: Vec<_> = scan.map(Result::unwrap).collect();
    let rows = arrow_select::concat::concat_batches(&table.schema(), &batches).unwrap();
    (table, rows)
}

fn goldens() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "dbf") && !path.ends_with("big_cdx.dbf"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 26, "{paths:?}");
    paths
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase")
}
