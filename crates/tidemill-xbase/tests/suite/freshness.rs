//! What opening a table for changes notices of an index that has not followed it.

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::index::{IndexDialect, OrderSpec};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Table,
    TableEditor, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const DIALECTS: [IndexDialect; 3] = [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx];

#[derive(Debug, Clone)]
enum Step {
    Append(i64),
    Replace(u32, i64),
    Delete(u32),
    Pack,
    Zap,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..9000i64).prop_map(Step::Append),
        8 => (1..200u32, 0..9000i64).prop_map(|(record, number)| Step::Replace(record, number)),
        4 => (1..200u32).prop_map(Step::Delete),
        1 => Just(Step::Pack),
        1 => Just(Step::Zap),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_index_that_follows_is_fresh_and_one_that_missed_appended_records_is_not(
        steps in prop::collection::vec(step(), 0..150),
        dialect in prop::sample::select(DIALECTS.to_vec()),
        missed in 1..5u32,
    ) {
        let table = Folder::new(dialect, &orders(dialect));
        let mut editor = table.open(OpenMode::Exclusive).unwrap();
        for step in steps {
            let has = |editor: &TableEditor, record: u32| record <= editor.record_count();
            match step {
                Step::Append(number) => assert!(editor.append_values(&values(number)).unwrap() > 0),
                Step::Replace(record, number) if has(&editor, record) => {
                    editor.replace(record, &values(number)).unwrap();
                }
                Step::Delete(record) if has(&editor, record) => editor.delete(record).unwrap(),
                Step::Pack => assert!(editor.pack().unwrap() <= 200),
                Step::Zap => editor.zap().unwrap(),
                _ => {}
            }
        }
        drop(editor);
        for mode in [OpenMode::Exclusive, OpenMode::Shared, OpenMode::ReadOnly] {
            drop(table.open(mode).unwrap());
        }
        let mut alone = table.alone();
        for _ in 0..missed {
            alone.append_values(&values(7)).unwrap();
        }
        drop(alone);
        for mode in [OpenMode::Exclusive, OpenMode::Shared, OpenMode::ReadOnly] {
            prop_assert!(matches!(table.open(mode), Err(Error::StaleIndex { .. })), "{mode:?}");
        }
    }
}

#[test]
fn an_index_of_records_that_are_gone_is_noticed() {
    for dialect in DIALECTS {
        for (gone, is_zapped) in [(1, false), (900, false), (0, true)] {
            let table = Folder::new(dialect, &orders(dialect));
            let mut editor = table.open(OpenMode::Exclusive).unwrap();
            for number in 1..=1500 {
                editor.append_values(&values(number)).unwrap();
            }
            drop(editor);
            let mut alone = table.alone();
            if is_zapped {
                alone.zap().unwrap();
            }
            for record in 1..=gone {
                alone.delete(record).unwrap();
            }
            alone.pack().unwrap();
            drop(alone);
            let stale = table.open(OpenMode::Exclusive);
            assert!(
                matches!(stale, Err(Error::StaleIndex { .. })),
                "{dialect:?} {gone}: {stale:?}"
            );
        }
    }
}

#[test]
fn what_was_found_of_files_at_rest_is_not_believed_of_changed_ones() {
    for dialect in DIALECTS {
        let table = Folder::new(dialect, &orders(dialect));
        let mut editor = table.open(OpenMode::Exclusive).unwrap();
        for number in 1..=300 {
            editor.append_values(&values(number)).unwrap();
        }
        drop(editor);
        // Files that changed just now are not remembered.
        let rest = || std::thread::sleep(Duration::from_millis(60));
        let counted = |records: u64| {
            let mut editor = table.open(OpenMode::Shared).unwrap();
            let name = editor.orders().next().unwrap().name.clone();
            assert_eq!(
                editor.order(&name).unwrap().order().key_count().unwrap(),
                records,
                "{dialect:?}"
            );
        };
        rest();
        counted(300);
        counted(300);
        table
            .open(OpenMode::Exclusive)
            .unwrap()
            .append_values(&values(7))
            .unwrap();
        counted(301);
        rest();
        counted(301);
        let mut alone = table.alone();
        match dialect {
            IndexDialect::Cdx => alone.replace(301, &values(8)).unwrap(),
            // Where equal keys are in no order, entries are only counted.
            _ => assert!(alone.append_values(&values(8)).unwrap() > 0),
        }
        drop(alone);
        let is_stale = matches!(table.open(OpenMode::Shared), Err(Error::StaleIndex { .. }));
        assert!(is_stale, "{dialect:?}");
    }
}

#[test]
fn orders_of_some_records_are_looked_at_too() {
    let condition = [OrderSpec::new("SOME", "NUM").condition("NUM > 5")];
    let unique = [OrderSpec::new("KINDS", "NUM").unique(true)];
    for (orders, missed, is_noticed) in [
        (&condition, 9, true),
        // It would not be in the order anyway.
        (&condition, 3, false),
        // Another record may have stood for it.
        (&unique, 9, false),
    ] {
        let table = Folder::new(IndexDialect::Cdx, orders);
        let mut editor = table.open(OpenMode::Exclusive).unwrap();
        for number in 1..=20 {
            editor.append_values(&values(number)).unwrap();
        }
        drop(editor);
        table.alone().append_values(&values(missed)).unwrap();
        let opened = table.open(OpenMode::Exclusive);
        assert_eq!(opened.is_err(), is_noticed, "{opened:?}");
        drop(opened);
        table.alone().zap().unwrap();
        assert!(matches!(table.open(OpenMode::Exclusive), Err(Error::StaleIndex { .. })));
    }
}

#[test]
fn a_record_that_another_program_is_appending_does_not_make_an_index_stale() {
    let table = Folder::new(IndexDialect::Cdx, &orders(IndexDialect::Cdx));
    let mut other = table.options(OpenMode::Shared).production_index(false);
    other = other.lock_timeout(Duration::from_millis(20));
    let mut other = TableEditor::open(table.path("t.dbf"), &other).unwrap();
    other.append_values(&values(1)).unwrap();
    drop(table.open(OpenMode::Shared).unwrap());
    other.unlock_all().unwrap();
    assert!(matches!(table.open(OpenMode::Shared), Err(Error::StaleIndex { .. })));
}

#[test]
#[cfg(target_os = "linux")]
fn a_stale_index_leaves_the_lock_of_all_records_whole() {
    use std::os::unix::fs::MetadataExt;

    let table = Folder::new(IndexDialect::Cdx, &orders(IndexDialect::Cdx));
    table.alone().append_values(&values(1)).unwrap();
    let inode = std::fs::metadata(table.path("t.dbf")).unwrap().ino();
    // The kernel's, for it alone would let another process in.
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        let of_table = |line: &&str| line.contains("OFDLCK") && line.contains(&format!(":{inode} "));
        let ranges = |line: &str| line.split_once(" ADVISORY").map(|(_, lock)| lock.to_owned());
        all.lines().filter(of_table).filter_map(ranges).collect::<Vec<_>>()
    };
    let shared = table.options(OpenMode::Shared).production_index(false);
    let mut editor = TableEditor::open(table.path("t.dbf"), &shared).unwrap();
    editor.lock_file().unwrap();
    let locked = locks();
    assert_eq!(locked.len(), 1, "{locked:?}");
    let opened = editor.open_index(table.path("t.cdx"));
    assert!(matches!(opened, Err(Error::StaleIndex { .. })), "{opened:?}");
    assert_eq!(locks(), locked);
}

#[test]
fn keys_in_another_order_than_the_collation_says_are_an_error_with_order_and_page() {
    let german = KeySettings::language(CodePage::Cp850, "de").unwrap();
    let folder = Folder::new(IndexDialect::Cdx, &[]);
    let options = CreateOptions::new(TODAY);
    let path = folder.path("names.dbf");
    let writer = TableWriter::create(&path, &[FieldSpec::new("NAME", 'C', 12, 0)], &options).unwrap();
    writer.finish().unwrap();
    let page = OpenOptions::new().codepage(CodePage::Cp850);
    let options = EditOptions::new(TODAY).open(page.clone());
    let mut editor = TableEditor::open(&path, &options.clone().keys(german.clone())).unwrap();
    for name in ["Zorn", "Ärger", "Adler", "Bär", "Österreich", "Ofen"] {
        editor.append_values(&[(0, Value::Text(name))]).unwrap();
    }
    editor.create_order(&OrderSpec::new("BYNAME", "NAME")).unwrap();
    drop(editor);
    drop(TableEditor::open(&path, &options.clone().keys(german)).unwrap());
    let error = TableEditor::open(&path, &options.keys(KeySettings::new(CodePage::Cp850))).unwrap_err();
    let Error::Order { order, source, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(order, "BYNAME");
    let source = source.to_string();
    for part in [
        "index page at 2",
        "names.cdx",
        "under the collation given (that of bytes)",
    ] {
        assert!(source.contains(part), "{source}");
    }
}

fn orders(dialect: IndexDialect) -> Vec<OrderSpec> {
    let by_number = OrderSpec::new("NUMBERS", "NUM");
    match dialect {
        IndexDialect::Ntx => vec![by_number],
        _ => vec![
            OrderSpec::new("KINDS", "NAME"),
            by_number,
            OrderSpec::new("DOWN", "NUM").descending(true),
            OrderSpec::new("SOME", "NUM").condition("NUM > 5"),
            OrderSpec::new("ONCE", "NAME").unique(true),
        ],
    }
}

fn values(number: i64) -> [(usize, Value<'static>); 2] {
    let name = ["one", "two", "three"][usize::try_from(number).unwrap() % 3];
    [(0, Value::Text(name)), (1, Value::Integer(number))]
}

/// A folder with an empty table and an index.
struct Folder {
    folder: TempDir,
    index: PathBuf,
}

impl Folder {
    fn new(dialect: IndexDialect, orders: &[OrderSpec]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.dbf");
        let fields = [FieldSpec::new("NAME", 'C', 6, 0), FieldSpec::new("NUM", 'N', 6, 0)];
        TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
            .unwrap()
            .finish()
            .unwrap();
        let index = match dialect {
            IndexDialect::Cdx => "t.cdx",
            IndexDialect::Ntx => "t.ntx",
            _ => "t.nsx",
        };
        let index = folder.path().join(index);
        if !orders.is_empty() {
            let table = Table::open(&path, &OpenOptions::new()).unwrap();
            build_index(&index, &table, orders, &KeySettings::new(table.codepage())).unwrap();
        }
        Self { folder, index }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self, mode: OpenMode) -> EditOptions {
        EditOptions::new(TODAY).mode(mode)
    }

    /// The table with its index.
    fn open(&self, mode: OpenMode) -> Result<TableEditor, Error> {
        let mut table = TableEditor::open(self.path("t.dbf"), &self.options(mode).production_index(false))?;
        table.open_index(&self.index)?;
        Ok(table)
    }

    /// The table without its index.
    fn alone(&self) -> TableEditor {
        let options = self.options(OpenMode::Exclusive).production_index(false);
        TableEditor::open(self.path("t.dbf"), &options).unwrap()
    }
}
