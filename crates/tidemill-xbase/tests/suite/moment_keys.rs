//! Orders of moments, as Visual FoxPro writes their keys: to the second.
//!
//! The keys are those of public files that Visual FoxPro wrote; the bytes here are laid out by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::aof::{Filter, FilterOrders};
use tidemill_xbase::expression::{Environment, parse};
use tidemill_xbase::index::{Direction, End, IndexBuilder, IndexDialect, KeyType, KeyValue, OrderSpec};
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, FieldSpec, KeySettings, OpenOptions, Table, TableEditor,
    TableIndex, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 29,
};
const DAY_MS: i64 = 86_400_000;
/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;

/// Julian day, milliseconds, and the key that Visual FoxPro has of them.
const MOMENTS: [(i64, i64, u64); 8] = [
    (2_451_837, 44_523_999, 0xc142_b4be_c1f6_23a6),
    (2_452_012, 43_420_000, 0xc142_b516_4053_6fe1),
    (2_452_012, 66_921_999, 0xc142_b516_6324_c9c4),
    (2_452_012, 69_717_000, 0xc142_b516_6748_d15a),
    (2_452_019, 39_704_000, 0xc142_b519_bad2_1c10),
    (2_452_019, 54_778_000, 0xc142_b519_d127_104f),
    (2_460_122, 52_519_999, 0xc142_c4ed_4dce_b240),
    (2_449_662, 0, 0xc142_b07f_0000_0000),
];

#[test]
fn keys_of_moments_are_those_of_visual_foxpro() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let cdx = path.with_extension("cdx");
    let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let settings = KeySettings::new(opened.codepage());
    build_index(&cdx, &opened, &[OrderSpec::new("AT", "AT")], &settings).unwrap();
    assert_eq!(keys(&cdx, &opened, &settings), {
        let mut keys: Vec<_> = (1..).zip(MOMENTS).map(|(recno, (.., key))| (key, recno)).collect();
        keys.sort_unstable();
        keys
    });
    // What is not half a second away is the same moment in the index.
    let index = TableIndex::open(&cdx, &opened, &settings).unwrap();
    let order = index.order("AT").unwrap().order();
    for ms in [43_419_500, 43_420_000, 43_420_499] {
        let key = order.key(&KeyValue::Timestamp(Some(unix_ms(2_452_012, ms)))).unwrap();
        let mut cursor = order.cursor();
        assert!(cursor.seek(&key, End::First, false).unwrap(), "{ms}");
        assert_eq!(cursor.recno(), Some(2), "{ms}");
    }
    let key = order
        .key(&KeyValue::Timestamp(Some(unix_ms(2_452_012, 43_420_500))))
        .unwrap();
    assert!(!order.cursor().seek(&key, End::First, false).unwrap());
}

#[test]
fn a_moment_that_is_changed_leaves_no_entry_behind() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let cdx = path.with_extension("cdx");
    let mut keys: Vec<_> = (1..).zip(MOMENTS).map(|(recno, (.., key))| (key, recno)).collect();
    // One of a double that FoxPro has not stored.
    keys[4].0 -= 1;
    write(&cdx, &path, keys);
    let opened = Table::open(&path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::of_index(&cdx, None, &opened);
    assert_eq!(
        TableIndex::open(&cdx, &opened, &settings)
            .unwrap()
            .verify(&opened)
            .unwrap(),
        []
    );

    let options = EditOptions::new(TODAY).production_index(false);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    editor.open_index_with(&cdx, &settings).unwrap();
    for recno in 1..=8 {
        editor
            .replace(recno, &[(0, Value::Timestamp(unix_ms(2_460_000, 1000)))])
            .unwrap();
    }
    drop(editor);
    let changed = Table::open(&path, &OpenOptions::new()).unwrap();
    let index = TableIndex::open(&cdx, &changed, &settings).unwrap();
    assert_eq!(index.verify(&changed).unwrap(), []);
    assert_eq!(index.order("AT").unwrap().order().walk(Direction::Forward).count(), 8);
}

#[test]
fn keys_to_the_millisecond_stay_so() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let cdx = path.with_extension("cdx");
    let exact = |(julian, ms, _): (i64, i64, u64)| (julian as f64 + ms as f64 / DAY_MS as f64).to_bits() | 1 << 63;
    write(
        &cdx,
        &path,
        (1..)
            .zip(MOMENTS)
            .map(|(recno, moment)| (exact(moment), recno))
            .collect(),
    );
    let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let settings = KeySettings::of_index(&cdx, None, &opened);
    assert_eq!(
        TableIndex::open(&cdx, &opened, &settings)
            .unwrap()
            .verify(&opened)
            .unwrap(),
        []
    );
    let before = keys(&cdx, &opened, &settings);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.reindex(&cdx, &settings).unwrap();
    drop(editor);
    assert_eq!(keys(&cdx, &opened, &settings), before);
}

#[test]
fn a_filter_by_days_is_exact_at_the_end_of_a_day() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path());
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    editor
        .append_values(&[(0, Value::Timestamp(unix_ms(2_452_011, DAY_MS - 1)))])
        .unwrap();
    drop(editor);
    let cdx = path.with_extension("cdx");
    let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let settings = KeySettings::new(opened.codepage());
    build_index(&cdx, &opened, &[OrderSpec::new("AT", "AT")], &settings).unwrap();
    let index = TableIndex::open(&cdx, &opened, &settings).unwrap();
    let orders = FilterOrders::new(&opened, index.orders()).unwrap();
    let environment = Environment::new(opened.codepage());
    for condition in ["AT >= {^2001-04-12}", "AT < {^2001-04-12}", "AT = {^2001-04-11}"] {
        let condition = parse(condition).unwrap();
        let filter = Filter::from_syntax(&condition, &opened, &environment).unwrap();
        let expected = filter.bitmap(&opened).unwrap();
        assert_eq!(filter.bitmap_by(&opened, &orders).unwrap(), expected, "{condition}");
    }
}

fn unix_ms(julian: i64, ms: i64) -> i64 {
    (julian - EPOCH) * DAY_MS + ms
}

/// A table of Visual FoxPro with the moments.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("moments.dbf");
    let fields = [FieldSpec::new("AT", 'T', 8, 0)];
    let mut options = CreateOptions::new(TODAY);
    options.format = Dialect::VisualFoxPro;
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for (julian, ms, _) in MOMENTS {
        editor
            .append_values(&[(0, Value::Timestamp(unix_ms(julian, ms)))])
            .unwrap();
    }
    path
}

/// The keys of the order, with their records.
fn keys(cdx: &Path, table: &Arc<Table>, settings: &KeySettings) -> Vec<(u64, u32)> {
    let index = TableIndex::open(cdx, table, settings).unwrap();
    let entries = index.order("AT").unwrap().order().walk(Direction::Forward);
    let entry =
        |entry: tidemill_xbase::index::Entry| (u64::from_be_bytes(entry.key().try_into().unwrap()), entry.recno());
    entries.map(|found| entry(found.unwrap())).collect()
}

/// An index file with these keys.
fn write(cdx: &Path, table: &Path, mut entries: Vec<(u64, u32)>) {
    entries.sort_unstable();
    let opened = Table::open(table, &OpenOptions::new()).unwrap();
    let mut builder = IndexBuilder::new(IndexDialect::Cdx, opened.record_count(), opened.codepage());
    let order = OrderSpec::new("AT", "AT").keys(KeyType::Timestamp, 8);
    let mut keys = builder.keys(&order).unwrap();
    for (key, recno) in entries {
        keys.push(&key.to_be_bytes(), recno).unwrap();
    }
    builder.add(&order, keys).unwrap();
    std::fs::write(cdx, builder.finish().unwrap()).unwrap();
}
