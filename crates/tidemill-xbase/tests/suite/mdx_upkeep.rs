//! The MDX of a dBASE table, and NDX and IDX files, while the table's records change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::index::{Direction, Finding, Index, IndexOptions, KeyValue, OrderSpec};
use tidemill_xbase::{
    CivilDate, CodePage, EditOptions, Error, KeySettings, LogOptions, OpenMode, OpenOptions, Table, TableEditor,
    TableIndex, TransactionLog, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

const SINGLE: [&str; 6] = [
    "hand_code.ndx",
    "hand_num.ndx",
    "hand_day.ndx",
    "hand_code.idx",
    "hand_num.idx",
    "hand_day.idx",
];

#[test]
fn orders_follow_records_that_are_appended_changed_deleted_and_packed() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let (_folder, path) = copy();
        let mut table = open(&path, mode);
        for single in SINGLE {
            table.open_index(path.with_file_name(single)).unwrap();
        }
        if mode == OpenMode::Shared {
            table.lock_file().unwrap();
        }
        for turn in 0..150_u32 {
            table.append_values(&values(turn)).unwrap();
            let record = 1 + (turn * 7) % 300;
            table.replace(record, &values(turn + 1000)).unwrap();
            match turn % 5 {
                0 => table.delete(record).unwrap(),
                1 => table.recall(1 + turn % 300).unwrap(),
                _ => {}
            }
        }
        let by_code = table.order("CODE").unwrap();
        let mut cursor = by_code.order().cursor();
        let key = by_code.order().key(&KeyValue::Character(b"z149")).unwrap();
        assert!(cursor.seek(&key, tidemill_xbase::index::End::First, false).unwrap());
        assert_eq!(cursor.recno(), Some(450));
        drop((cursor, by_code));
        table.sync().unwrap();
        drop(table);
        check(&path, 450);
        // They are fresh, and open again.
        let mut table = open(&path, OpenMode::Exclusive);
        for single in SINGLE {
            table.open_index(path.with_file_name(single)).unwrap();
        }
        let left = table.pack().unwrap();
        assert!(left < 430, "{left}");
        table.sync().unwrap();
        drop(table);
        check(&path, left);
        let mut table = open(&path, OpenMode::Exclusive);
        table.zap().unwrap();
        table.append_values(&values(3)).unwrap();
        drop(table);
        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
            .unwrap()
            .unwrap();
        assert_eq!(index.verify(&table).unwrap(), []);
        assert_eq!(index.order("CODE").unwrap().order().key_count().unwrap(), 1);
    }
}

#[test]
fn two_programs_see_each_others_entries() {
    let (_folder, path) = copy();
    let (mut one, mut other) = (open(&path, OpenMode::Shared), open(&path, OpenMode::Shared));
    for turn in 0..60 {
        let (writer, reader) = if turn % 2 == 0 {
            (&mut one, &mut other)
        } else {
            (&mut other, &mut one)
        };
        let record = writer.append_values(&values(turn)).unwrap();
        assert_eq!(record, 301 + turn);
        let order = reader.order("NUM").unwrap();
        assert_eq!(
            order.order().walk(Direction::Forward).map(Result::unwrap).count(),
            301 + turn as usize
        );
        let mut held = reader.order("CODE").unwrap();
        reader.hold_order(&mut held).unwrap();
        assert_eq!(held.order().key_count().unwrap(), 301 + u64::from(turn));
        reader.release_orders().unwrap();
    }
    drop((one, other));
    check(&path, 360);
}

#[test]
fn a_transaction_that_is_rolled_back_leaves_the_mdx_as_it_was() {
    let (folder, path) = copy();
    let before = std::fs::read(path.with_extension("mdx")).unwrap();
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &LogOptions::new()).unwrap();
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode).log(&log)).unwrap();
        let transaction = log.begin().unwrap();
        for turn in 0..40 {
            table.append_values(&values(turn)).unwrap();
        }
        assert_eq!(table.order("CODE").unwrap().order().key_count().unwrap(), 340);
        transaction.rollback().unwrap();
        assert_eq!(table.order("CODE").unwrap().order().key_count().unwrap(), 300);
        drop(table);
        log.checkpoint().unwrap();
        assert!(std::fs::read(path.with_extension("mdx")).unwrap() == before);
    }
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).log(&log)).unwrap();
    let transaction = log.begin().unwrap();
    for single in SINGLE {
        table.open_index(path.with_file_name(single)).unwrap();
    }
    table.append_values(&values(9)).unwrap();
    transaction.commit().unwrap();
    drop(table);
    log.checkpoint().unwrap();
    drop(log);
    check(&path, 301);
}

#[test]
fn a_file_is_made_anew_with_its_orders_and_what_its_header_says() {
    let (_folder, path) = copy();
    for name in ["hand.mdx"].iter().chain(&SINGLE) {
        let index = path.with_file_name(name);
        let sound = Index::open(&index, &IndexOptions::new()).unwrap().tags().to_vec();
        let old = std::fs::read(&index).unwrap();
        let mut bent = old.clone();
        // Some keys of every page are others.
        for at in (4096..bent.len()).step_by(509) {
            bent[at] ^= 0x55;
        }
        std::fs::write(&index, &bent).unwrap();
        let options = EditOptions::new(TODAY).production_index(false);
        let mut table = TableEditor::open(&path, &options).unwrap();
        table.reindex(&index, &KeySettings::new(CodePage::Cp437)).unwrap();
        drop(table);
        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        let made = TableIndex::open(&index, &table, &KeySettings::new(table.codepage())).unwrap();
        assert_eq!(made.verify(&table).unwrap(), [], "{name}");
        for (made, old) in made.index().tags().iter().zip(&sound) {
            let facts = |tag: &tidemill_xbase::index::Tag| {
                let texts = (tag.name.clone(), tag.expression.clone(), tag.condition.clone());
                (texts, tag.is_unique, tag.is_descending, tag.key_type, tag.key_len)
            };
            assert_eq!(facts(made), facts(old), "{name}");
        }
        let new = std::fs::read(&index).unwrap();
        if *name == "hand.mdx" {
            assert_eq!(new[..28], old[..28], "the name of the table, the length of blocks");
        }
        if name.ends_with("idx") {
            assert_eq!(new[14], old[14], "whether it is compact");
        }
    }
}

#[test]
fn records_do_not_change_without_the_mdx_that_the_header_names() {
    let (_folder, path) = copy();
    let before = std::fs::read(&path).unwrap();
    let options = EditOptions::new(TODAY).production_index(false);
    let mut table = TableEditor::open(&path, &options).unwrap();
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err().to_string();
        assert!(
            error.contains("hand.mdx, which would not follow changes; move that file away"),
            "{error}"
        );
    };
    refused(table.append_values(&values(1)).map(drop));
    refused(table.replace(1, &values(1)));
    refused(table.delete(1));
    refused(table.pack().map(drop));
    refused(table.zap());
    // Once it is open, it follows.
    table.open_index(path.with_extension("mdx")).unwrap();
    table.append_values(&values(1)).unwrap();
    table.close_index(path.with_extension("mdx")).unwrap();
    refused(table.delete(1));
    drop(table);
    assert_ne!(std::fs::read(&path).unwrap(), before);
    check(&path, 301);
    // A CDX of the table's name would take the place of the MDX.
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(table.codepage());
    let orders = [OrderSpec::new("CODE", "CODE")];
    let error = build_index(path.with_extension("cdx"), &table, &orders, &settings).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("would take the place of its production index"),
        "{error}"
    );
    build_index(path.with_file_name("other.cdx"), &table, &orders, &settings).unwrap();
    let mut table = open(&path, OpenMode::Exclusive);
    table.append_values(&values(2)).unwrap();
    drop(table);
    check(&path, 302);
}

#[test]
fn an_index_that_has_not_followed_is_refused() {
    let (folder, path) = copy();
    let mdx = path.with_extension("mdx");
    std::fs::rename(&mdx, folder.path().join("kept")).unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    table.append_values(&values(1)).unwrap();
    drop(table);
    std::fs::rename(folder.path().join("kept"), &mdx).unwrap();
    let stale = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap_err();
    assert!(matches!(stale, Error::StaleIndex { .. }), "{stale}");
    let options = EditOptions::new(TODAY).production_index(false);
    let mut table = TableEditor::open(&path, &options).unwrap();
    table.reindex(&mdx, &KeySettings::new(CodePage::Cp437)).unwrap();
    drop(table);
    open(&path, OpenMode::Shared).append_values(&values(2)).unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let index = TableIndex::open(&mdx, &table, &KeySettings::new(table.codepage())).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn what_dbase_alone_can_keep_current_is_refused() {
    // A number of more digits than a double has, and a tag that refuses repeated keys.
    let (_folder, path) = copy();
    let mut table = std::fs::read(&path).unwrap();
    // The width of NUM, and one less of DAY's bytes for it.
    table[32 + 32 + 16] = 17;
    table[32 + 64 + 16] = 0;
    std::fs::write(&path, &table).unwrap();
    let error = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap_err();
    assert!(
        error.to_string().contains("field NUM have more than 15 digits"),
        "{error}"
    );
    TableEditor::open(&path, &EditOptions::new(TODAY).mode(OpenMode::ReadOnly)).unwrap();

    let (_folder, path) = copy();
    let mdx = path.with_extension("mdx");
    let mut bytes = std::fs::read(&mdx).unwrap();
    let header = u32::from_le_bytes(bytes[544..548].try_into().unwrap()) as usize * 512;
    bytes[header + 8] |= 0x20;
    std::fs::write(&mdx, &bytes).unwrap();
    let error = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap_err();
    assert!(
        error.to_string().contains("refuse repeated keys are not changed"),
        "{error}"
    );
    let options = EditOptions::new(TODAY).production_index(false);
    let mut table = TableEditor::open(&path, &options).unwrap();
    let error = table.reindex(&mdx, &KeySettings::new(CodePage::Cp437)).unwrap_err();
    assert!(error.to_string().contains("rebuild it with dBASE 7"), "{error}");
    assert!(std::fs::read(&mdx).unwrap() == bytes);
}

/// The table of the corpus and its indexes, in a folder of their own.
fn copy() -> (TempDir, PathBuf) {
    copy_with(&SINGLE)
}

/// The table of the corpus with its MDX and other files, in a folder of their own.
pub(crate) fn copy_with(others: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase");
    for name in ["hand.dbf", "hand.mdx"].iter().chain(others) {
        std::fs::copy(corpus.join(name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join("hand.dbf");
    (folder, path)
}

pub(crate) fn open(path: &Path, mode: OpenMode) -> TableEditor {
    TableEditor::open(path, &EditOptions::new(TODAY).mode(mode)).unwrap()
}

pub(crate) fn values(turn: u32) -> Vec<(usize, Value<'static>)> {
    let mut values = vec![
        (0, Value::Text(format!("z{turn:03}").leak())),
        (
            1,
            Value::Decimal {
                unscaled: i128::from(turn * 37 % 900) * 25 - 9000,
                scale: 2,
            },
        ),
    ];
    if !turn.is_multiple_of(4) {
        values.push((2, Value::Date(11_000 + (turn * 13 % 800) as i32)));
    }
    values
}

/// Every key of the indexes is that of its record.
fn check(path: &Path, records: u32) {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    assert_eq!(table.record_count(), records);
    let settings = KeySettings::new(table.codepage());
    for name in ["hand.mdx"].iter().chain(&SINGLE) {
        let index = TableIndex::open(path.with_file_name(name), &table, &settings).unwrap();
        let first = &index.orders()[0];
        if first.order().key_count().unwrap() != u64::from(records) && *name != "hand.mdx" {
            // It was not open.
            continue;
        }
        let mut findings = index.verify(&table).unwrap();
        findings.retain(|finding: &Finding| !finding.is_note());
        assert_eq!(findings, [], "{name}");
    }
}
