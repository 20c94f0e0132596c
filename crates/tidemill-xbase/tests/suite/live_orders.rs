//! Orders that are read while their table changes, and records that are given as bytes.

use std::path::PathBuf;

use tempfile::TempDir;
use tidemill_xbase::index::{Direction, OrderSpec};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, EditOptions, Error, FieldSpec, KeySettings, OpenMode, TableEditor, TableOrder,
    TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

#[test]
fn an_order_shows_what_this_handle_and_others_have_changed_since() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let (_folder, path) = table();
        let options = EditOptions::new(TODAY).mode(mode);
        let mut table = TableEditor::open(&path, &options).unwrap();
        let mut order = table.order("NAME").unwrap();
        assert_eq!(names(&mut table, &mut order), (vec![2, 3, 1], false));
        table.lock_record(1).unwrap();
        table.replace(1, &[(0, Value::Text("aaa"))]).unwrap();
        assert_eq!(names(&mut table, &mut order), (vec![1, 2, 3], true), "{mode:?}");
        assert_eq!(names(&mut table, &mut order), (vec![1, 2, 3], false), "{mode:?}");
        table.append_values(&[(0, Value::Text("b"))]).unwrap();
        table.unlock_all().unwrap();
        assert_eq!(names(&mut table, &mut order), (vec![1, 4, 2, 3], true), "{mode:?}");
        if mode == OpenMode::Shared {
            let mut other = TableEditor::open(&path, &options).unwrap();
            other.lock_record(1).unwrap();
            other.replace(1, &[(0, Value::Text("zzz"))]).unwrap();
            assert_eq!(names(&mut table, &mut order), (vec![4, 2, 3, 1], true));
        }
        let index = path.with_extension("cdx");
        assert!(table.close_index(&index).unwrap());
        let closed = table.hold_order(&mut order);
        assert!(matches!(closed, Err(Error::Misuse(_))), "{closed:?}");
    }
}

#[test]
fn bytes_replace_a_record_and_leave_its_memos_alone() {
    let (_folder, path) = table();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    table.replace(2, &[(1, Value::Text("a memo"))]).unwrap();
    let before = table.record_bytes(2).unwrap();
    assert_eq!(table.memo_bytes(2, &before, 1).unwrap(), b"a memo");
    let mut bytes = table.blank_record();
    table.encode(2, &mut bytes, 0, Value::Text("new")).unwrap();
    table.replace_bytes(2, &bytes, &[]).unwrap();
    let after = table.record_bytes(2).unwrap();
    assert_eq!(after[1..11], *b"new       ");
    assert_eq!(after[11..], before[11..]);
    table
        .replace_bytes(2, &bytes, &[(1, Value::Text("longer than it was"))])
        .unwrap();
    assert_eq!(
        table.memo_bytes(2, &table.record_bytes(2).unwrap(), 1).unwrap(),
        b"longer than it was"
    );
    assert_eq!(table.memo_bytes(1, &table.record_bytes(1).unwrap(), 1).unwrap(), b"");
    assert!(matches!(table.memo_bytes(2, &before, 0), Err(Error::Misuse(_))));
    let mut read = vec![0; bytes.len()];
    table.read_record(2, &mut read).unwrap();
    assert_eq!(read, table.record_bytes(2).unwrap());
    let mut order = table.order("NAME").unwrap();
    assert_eq!(names(&mut table, &mut order).0, [3, 1, 2]);

    for wrong in [&bytes[1..], &[&bytes[..], b" "].concat()] {
        assert!(matches!(table.replace_bytes(2, wrong, &[]), Err(Error::Misuse(_))));
    }
    let memo = table.encode(2, &mut bytes, 1, Value::Text("memo"));
    assert!(matches!(memo, Err(Error::Misuse(_))), "{memo:?}");
    assert!(matches!(table.read_record(9, &mut read), Err(Error::Misuse(_))));
}

/// Three records with an order by name: `mno`, `ccc`, `hij`.
fn table() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let fields = [FieldSpec::new("NAME", 'C', 10, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    let options = CreateOptions::new(TODAY);
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let keys = KeySettings::new(CodePage::Cp437);
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).keys(keys)).unwrap();
    for name in ["mno", "ccc", "hij"] {
        table.append_values(&[(0, Value::Text(name))]).unwrap();
    }
    table.create_order(&OrderSpec::new("NAME", "NAME")).unwrap();
    table.sync().unwrap();
    (folder, path)
}

/// The records in the order, and whether it was another one than before.
fn names(table: &mut TableEditor, order: &mut TableOrder) -> (Vec<u32>, bool) {
    let is_new = table.hold_order(order).unwrap();
    let entries = order.order().walk(Direction::Forward);
    let records = entries.map(|entry| entry.unwrap().recno()).collect();
    table.release_orders().unwrap();
    (records, is_new)
}

#[test]
fn orders_that_another_handle_makes_and_drops_are_followed() {
    let (_folder, path) = table();
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared);
    let mut table = TableEditor::open(&path, &options).unwrap();
    let mut other = TableEditor::open(&path, &options).unwrap();
    let mut by_name = table.order("NAME").unwrap();
    let relisted = table.orders_relisted();
    // An order that no change of this handle had touched before.
    other.create_order(&OrderSpec::new("LAST", "RIGHT(NAME, 5)")).unwrap();
    table.lock_record(2).unwrap();
    table.replace(2, &[(0, Value::Text("north"))]).unwrap();
    let record = table.append_values(&[(0, Value::Text("south"))]).unwrap();
    table.unlock_all().unwrap();
    assert!(table.orders_relisted() > relisted);
    let shown = names(&mut table, &mut by_name).0;
    assert_eq!(shown.len(), usize::try_from(record).unwrap());
    for handle in [&mut table, &mut other] {
        for tag in ["LAST", "NAME"] {
            let mut order = handle.order(tag).unwrap();
            assert_eq!(names(handle, &mut order).0.len(), shown.len(), "{tag}");
        }
    }
    let mut by_last = table.order("LAST").unwrap();
    let layout = std::sync::Arc::new(table.table().unwrap());
    let settings = KeySettings::new(layout.codepage());
    let verified = |path: &PathBuf| {
        let index = tidemill_xbase::TableIndex::open(path.with_extension("cdx"), &layout, &settings).unwrap();
        assert_eq!(index.verify(&layout).unwrap(), []);
        index.orders().len()
    };
    assert_eq!(verified(&path), 2);

    // The first of the two goes, so that the other has its place.
    other.drop_order("LAST").unwrap();
    other.create_order(&OrderSpec::new("AGAIN", "NAME + 'x'")).unwrap();
    assert!(matches!(table.hold_order(&mut by_last), Err(Error::Misuse(_))));
    assert!(matches!(table.order("LAST"), Err(Error::Misuse(_))));
    table.lock_record(1).unwrap();
    table.replace(1, &[(0, Value::Text("west"))]).unwrap();
    table.delete(1).unwrap();
    table.unlock_all().unwrap();
    assert_eq!(names(&mut table, &mut by_name).0.len(), shown.len());
    assert!(table.order("AGAIN").is_ok());
    assert_eq!(verified(&path), 2);
    table.drop_order("AGAIN").unwrap();
    assert!(matches!(other.order("AGAIN"), Err(Error::Misuse(_))));
    assert_eq!(verified(&path), 1);
}

#[test]
fn an_order_that_the_file_cannot_hold_leaves_the_one_of_its_name_there() {
    let (_folder, path) = table();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let cdx = path.with_extension("cdx");
    for (expression, why) in [
        ("REPLICATE(NAME, 30)", "keys of 300 bytes"),
        (&*format!("LEFT(NAME{}, 8)", "+NAME".repeat(120)), "expressions of"),
    ] {
        let refused = table
            .replace_order_in(&cdx, &OrderSpec::new("NAME", expression))
            .unwrap_err();
        let cause = std::error::Error::source(&refused).unwrap().to_string();
        assert!(cause.contains(why), "{cause}");
        let mut order = table.order("NAME").unwrap();
        assert_eq!(names(&mut table, &mut order).0, [2, 3, 1]);
    }
}
