//! Work areas as programs use them: filters, orders, relations, locks, transactions and structures together.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use tidemill_ads::{
    AreaId, Connection, Counted, Customize, ErrorCode, IndexOptions, OptimizationLevel, OrderId, SeekKey, SeekKind,
    Settings, TableOptions, TableType,
};

const FIELDS: &str = "ID,Numeric,6,0;NAME,Character,8;DAY,Date;NOTE,Memo";

/// A connection to a folder of its own.
struct Shop {
    folder: TempDir,
    connection: Connection,
    settings: Settings,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path()).unwrap();
        let settings = Settings::default();
        Self {
            folder,
            connection,
            settings,
        }
    }

    /// A table of `count` records with the names `n0` to `n9` in turn, an order by name and one by number.
    fn table(&mut self, name: &str, count: u32) -> (AreaId, OrderId, OrderId) {
        let settings = &self.settings;
        let options = TableOptions::default();
        let area = self.connection.create_table(name, FIELDS, &options, settings).unwrap();
        for id in 1..=count {
            self.append(area, id, &format!("n{}", id % 10));
        }
        let known = self.connection.area(area).unwrap();
        let make = |name, expression| (None, name, expression, None, IndexOptions::default());
        let [by_name, by_id] =
            [make("NAME", "NAME"), make("ID", "ID")].map(|(file, name, expression, condition, options)| {
                known
                    .create_index(file, name, expression, condition, &options, &self.settings)
                    .unwrap()
            });
        (area, by_name, by_id)
    }

    fn append(&mut self, area: AreaId, id: u32, name: &str) {
        self.connection.append(area, &self.settings).unwrap();
        let known = self.connection.area(area).unwrap();
        known.set_number(0, id.into()).unwrap();
        known.set_text(1, name.as_bytes(), &self.settings).unwrap();
        known.write_record().unwrap();
    }

    fn walk(&mut self, area: AreaId, order: Option<OrderId>) -> Vec<u32> {
        let mut records = Vec::new();
        self.connection.go_top(area, order, &self.settings).unwrap();
        while !self.connection.area(area).unwrap().is_eof() {
            records.push(self.connection.area(area).unwrap().record_number().unwrap());
            self.connection.skip(area, order, 1, &self.settings).unwrap();
        }
        records
    }

    fn record(&mut self, area: AreaId) -> u32 {
        self.connection.area(area).unwrap().record_number().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn filters_deleted_records_scopes_and_directions_go_together() {
    let mut shop = Shop::new();
    let (area, by_name, by_id) = shop.table("t", 50);
    for record in [5, 15, 16] {
        shop.connection.go_to(area, record, &shop.settings).unwrap();
        shop.connection.area(area).unwrap().set_deleted(true).unwrap();
    }
    shop.settings.show_deleted = false;
    let settings = shop.settings.clone();
    shop.connection
        .area(area)
        .unwrap()
        .set_filter("ID <= 40", &settings)
        .unwrap();
    shop.connection
        .area(area)
        .unwrap()
        .set_aof("ID > 10", &settings)
        .unwrap();
    let shown: Vec<u32> = (11..=40).filter(|id| ![15, 16].contains(id)).collect();
    assert_eq!(shop.walk(area, None), shown);
    assert_eq!(shop.walk(area, Some(by_id)), shown);
    let mut by_names = shown.clone();
    by_names.sort_by_key(|id| (id % 10, *id));
    assert_eq!(shop.walk(area, Some(by_name)), by_names);

    let known = shop.connection.area(area).unwrap();
    known.set_direction(by_name, true).unwrap();
    known.set_scope(by_name, true, SeekKey::Text(b"n7"), &settings).unwrap();
    known
        .set_scope(by_name, false, SeekKey::Text(b"n5"), &settings)
        .unwrap();
    let within: Vec<u32> = by_names
        .iter()
        .rev()
        .copied()
        .filter(|id| (5..=7).contains(&(id % 10)))
        .collect();
    assert_eq!(shop.walk(area, Some(by_name)), within);
    let connection = &mut shop.connection;
    let counted = |connection: &mut Connection, what| connection.count(area, Some(by_name), what, &settings).unwrap();
    assert_eq!(counted(connection, Counted::Shown), within.len() as u64);
    assert_eq!(counted(connection, Counted::InScope), 15);
    assert_eq!(counted(connection, Counted::All), 50);
    for (number, record) in (1..).zip(&within) {
        connection.go_number(area, Some(by_name), number, &settings).unwrap();
        assert_eq!(connection.area(area).unwrap().record_number().unwrap(), *record);
        assert_eq!(
            connection
                .number(area, Some(by_name), Counted::Shown, &settings)
                .unwrap(),
            number
        );
    }
    assert!(
        connection
            .seek(area, by_name, SeekKey::Text(b"n6"), SeekKind::Hard, &settings)
            .unwrap()
    );
    assert_eq!(connection.area(area).unwrap().record_number().unwrap(), 36);
    assert!(
        !connection
            .seek(area, by_name, SeekKey::Text(b"n3"), SeekKind::Soft, &settings)
            .unwrap()
    );
    assert!(connection.area(area).unwrap().is_eof());
}

#[test]
fn a_filter_by_bitmaps_follows_what_is_written_and_changed_by_hand() {
    let mut shop = Shop::new();
    let (area, by_name, _) = shop.table("t", 30);
    let settings = shop.settings.clone();
    let known = shop.connection.area(area).unwrap();
    known.set_aof("NAME = 'n3'", &settings).unwrap();
    assert_eq!(known.aof_level().unwrap(), OptimizationLevel::Full);
    assert_eq!(
        known.evaluate_aof("SUBSTR(NAME, 2) = '3'", &settings).unwrap(),
        OptimizationLevel::None
    );
    assert_eq!(shop.walk(area, None), [3, 13, 23]);
    shop.append(area, 31, "n3");
    shop.connection.go_to(area, 13, &settings).unwrap();
    shop.connection
        .area(area)
        .unwrap()
        .set_text(1, b"other", &settings)
        .unwrap();
    shop.connection.go_to(area, 7, &settings).unwrap();
    shop.connection
        .area(area)
        .unwrap()
        .set_text(1, b"n3", &settings)
        .unwrap();
    shop.connection.area(area).unwrap().write_record().unwrap();
    assert_eq!(shop.walk(area, None), [3, 7, 23, 31]);
    assert_eq!(shop.walk(area, Some(by_name)), [3, 7, 23, 31]);
    let known = shop.connection.area(area).unwrap();
    known.customize_aof(Customize::Add, &[1]).unwrap();
    known.customize_aof(Customize::Remove, &[23]).unwrap();
    assert_eq!(
        known.customize_aof(Customize::Add, &[32]).unwrap_err().code(),
        ErrorCode::InvalidRecordNumber
    );
    assert_eq!(shop.walk(area, Some(by_name)), [1, 3, 7, 31]);
    shop.connection.area(area).unwrap().refresh_aof().unwrap();
    assert_eq!(shop.walk(area, None), [3, 7, 23, 31]);
    let wrong = shop
        .connection
        .area(area)
        .unwrap()
        .set_aof("NAME", &settings)
        .unwrap_err();
    assert_eq!(wrong.code(), ErrorCode::InvalidExpression);
    assert_eq!(shop.walk(area, None).len(), 4);
}

#[test]
fn a_filter_by_bitmaps_shows_what_others_append_and_once_refreshed_what_they_change() {
    let mut shop = Shop::new();
    let (made, _, _) = shop.table("t", 20);
    shop.connection.close_table(made).unwrap();
    let settings = shop.settings.clone();
    let [mine, other] = [(); 2].map(|()| {
        shop.connection
            .open_table("t", &TableOptions::default(), &settings)
            .unwrap()
    });
    let known = shop.connection.area(mine).unwrap();
    known.set_aof("NAME = 'n3'", &settings).unwrap();
    assert_eq!(shop.walk(mine, None), [3, 13]);
    shop.append(other, 21, "n4");
    shop.append(other, 22, "n3");
    shop.connection.go_to(other, 13, &settings).unwrap();
    let known = shop.connection.area(other).unwrap();
    known.lock_record(13).unwrap();
    known.set_text(1, b"gone", &settings).unwrap();
    known.write_record().unwrap();
    assert_eq!(shop.walk(mine, None), [3, 13, 22]);
    shop.connection.area(mine).unwrap().refresh_aof().unwrap();
    assert_eq!(shop.walk(mine, None), [3, 22]);
}

#[test]
fn related_areas_follow_by_order_by_number_and_within_a_scope() {
    let mut shop = Shop::new();
    let (parent, _, _) = shop.table("parent", 20);
    let (child, by_name, _) = shop.table("child", 40);
    let (other, _, _) = shop.table("other", 10);
    let settings = shop.settings.clone();
    let connection = &mut shop.connection;
    connection
        .set_relation(parent, (child, Some(by_name)), "NAME", true, &settings)
        .unwrap();
    connection
        .set_relation(child, (other, None), "ID - 10", false, &settings)
        .unwrap();
    let cycle = connection
        .set_relation(other, (parent, None), "1", false, &settings)
        .unwrap_err();
    assert_eq!(cycle.code(), ErrorCode::CyclicRelation);
    connection.go_to(parent, 12, &settings).unwrap();
    assert_eq!(shop.record(child), 2);
    assert_eq!(shop.walk(child, Some(by_name)), [2, 12, 22, 32]);
    shop.connection.go_to(parent, 15, &settings).unwrap();
    shop.connection.skip(child, Some(by_name), 1, &settings).unwrap();
    assert_eq!((shop.record(child), shop.record(other)), (15, 5));
    shop.connection.go_to(parent, 0, &settings).unwrap();
    assert!(shop.connection.area(child).unwrap().is_eof());
    shop.connection.clear_relations(parent).unwrap();
    shop.connection.go_to(child, 1, &settings).unwrap();
    shop.connection.go_top(parent, None, &settings).unwrap();
    assert_eq!(shop.record(child), 1);
}

#[test]
fn a_transaction_is_kept_or_taken_back_over_all_tables_and_leaves_no_log() {
    let mut shop = Shop::new();
    let (stock, by_name, _) = shop.table("stock", 10);
    let (sold, _, _) = shop.table("sold", 0);
    let settings = shop.settings.clone();
    shop.connection
        .area(stock)
        .unwrap()
        .set_aof("NAME = 'n1'", &settings)
        .unwrap();
    let ended = shop.connection.commit_transaction().unwrap_err();
    assert_eq!(ended.code(), ErrorCode::TransactionOutOfSequence);

    shop.connection.begin_transaction(&settings).unwrap();
    shop.append(stock, 11, "n1");
    shop.append(sold, 1, "lamp");
    let packing = shop.connection.pack(stock, &settings).unwrap_err();
    assert_eq!(packing.code(), ErrorCode::IllegalCommandDuringTransaction);
    assert_eq!(shop.walk(stock, None), [1, 11]);
    shop.connection.rollback_transaction().unwrap();
    assert_eq!((shop.walk(stock, None), shop.walk(sold, None)), (vec![1], vec![]));

    shop.connection.begin_transaction(&settings).unwrap();
    shop.append(sold, 1, "lamp");
    shop.connection.create_savepoint("first").unwrap();
    shop.append(sold, 2, "chair");
    shop.append(stock, 11, "n1");
    shop.connection.rollback_to_savepoint("FIRST").unwrap();
    let unknown = shop.connection.rollback_to_savepoint("second").unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::NotFound);
    shop.append(stock, 12, "n1");
    shop.connection.commit_transaction().unwrap();
    assert!(!shop.connection.is_in_transaction());
    assert_eq!(
        (shop.walk(stock, Some(by_name)), shop.walk(sold, None)),
        (vec![1, 11], vec![1])
    );

    let folder = shop.folder.path().to_owned();
    shop.connection.begin_transaction(&settings).unwrap();
    shop.append(sold, 3, "never");
    shop.connection.end_transactions().unwrap();
    assert_eq!(shop.walk(sold, None), [1]);
    drop(shop.connection);
    let names = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let logs: Vec<_> = names
        .filter(|name| name.to_string_lossy().ends_with(".tmlog"))
        .collect();
    assert!(logs.is_empty(), "{logs:?}");
    let mut again = Connection::open(&folder).unwrap();
    let area = again
        .open_table("SOLD", &TableOptions::default().read_only(), &settings)
        .unwrap();
    assert_eq!(again.area(area).unwrap().text(1, &settings).unwrap(), &b"lamp    "[..]);
}

#[test]
fn what_one_connection_locks_another_waits_for_or_is_refused() {
    let mut shop = Shop::new();
    let (area, ..) = shop.table("t", 5);
    shop.connection.close_table(area).unwrap();
    let settings = shop.settings.clone();
    let (mut one, mut two) = (
        Connection::open(shop.folder.path()).unwrap(),
        Connection::open(shop.folder.path()).unwrap(),
    );
    let shared = TableOptions::default();
    let (first, second) = (
        one.open_table("t", &shared, &settings).unwrap(),
        two.open_table("t", &shared, &settings).unwrap(),
    );
    let refused = one.open_table("t", &shared.clone().exclusive(), &settings).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FileInUse);

    one.area(first).unwrap().lock_record(2).unwrap();
    assert_eq!(
        two.area(second).unwrap().lock_record(2).unwrap_err().code(),
        ErrorCode::LockFailed
    );
    assert_eq!(
        two.area(second).unwrap().lock_table().unwrap_err().code(),
        ErrorCode::LockFailed
    );
    assert_eq!(one.area(first).unwrap().locked_records(), [2]);
    one.area(first).unwrap().unlock_table().unwrap();
    two.area(second).unwrap().lock_record(2).unwrap();
    two.area(second).unwrap().unlock_record(2).unwrap();

    // The first change of a record locks it, and writing gives the lock back.
    one.go_to(first, 3, &settings).unwrap();
    one.area(first).unwrap().set_text(1, b"changed", &settings).unwrap();
    two.go_to(second, 3, &settings).unwrap();
    assert_eq!(
        two.area(second)
            .unwrap()
            .set_text(1, b"too", &settings)
            .unwrap_err()
            .code(),
        ErrorCode::LockFailed
    );
    assert_eq!(two.area(second).unwrap().text(1, &settings).unwrap(), &b"n3      "[..]);
    one.area(first).unwrap().write_record().unwrap();
    two.area(second).unwrap().set_text(1, b"too", &settings).unwrap();
    two.area(second).unwrap().write_record().unwrap();
    let order = one.area(first).unwrap().order_named("name").unwrap();
    assert!(
        one.seek(first, order, SeekKey::Text(b"too"), SeekKind::Hard, &settings)
            .unwrap()
    );
    assert_eq!(one.area(first).unwrap().record_number().unwrap(), 3);

    two.append(second, &settings).unwrap();
    two.area(second).unwrap().write_record().unwrap();
    one.go_bottom(first, None, &settings).unwrap();
    assert_eq!(one.area(first).unwrap().record_number().unwrap(), 6);
    assert_eq!(
        one.pack(first, &settings).unwrap_err().code(),
        ErrorCode::TableNotExclusive
    );
}

#[test]
fn locks_of_a_transaction_end_with_it() {
    let mut shop = Shop::new();
    let (area, ..) = shop.table("t", 5);
    shop.connection.close_table(area).unwrap();
    let settings = shop.settings.clone();
    let mut other = Connection::open(shop.folder.path()).unwrap();
    let shared = TableOptions::default();
    let own = shop.connection.open_table("t", &shared, &settings).unwrap();
    let others = other.open_table("t", &shared, &settings).unwrap();
    for is_kept in [true, false] {
        shop.connection.area(own).unwrap().lock_record(1).unwrap();
        shop.connection.begin_transaction(&settings).unwrap();
        shop.connection.area(own).unwrap().lock_record(2).unwrap();
        match is_kept {
            true => shop.connection.commit_transaction().unwrap(),
            false => shop.connection.rollback_transaction().unwrap(),
        }
        let known = shop.connection.area(own).unwrap();
        assert_eq!(known.locked_records(), [1]);
        other.area(others).unwrap().lock_record(2).unwrap();
        let refused = shop.connection.area(own).unwrap().lock_record(2).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::LockFailed);
        other.area(others).unwrap().unlock_record(2).unwrap();
        shop.connection.area(own).unwrap().unlock_record(1).unwrap();

        shop.connection.begin_transaction(&settings).unwrap();
        shop.connection.area(own).unwrap().lock_table().unwrap();
        match is_kept {
            true => shop.connection.commit_transaction().unwrap(),
            false => shop.connection.rollback_transaction().unwrap(),
        }
        assert!(!shop.connection.area(own).unwrap().is_table_locked());
        shop.connection.go_to(own, 3, &settings).unwrap();
        let known = shop.connection.area(own).unwrap();
        known.set_text(1, b"alone", &settings).unwrap();
        known.write_record().unwrap();
    }
}

#[test]
fn tables_are_made_changed_copied_and_found() {
    let mut shop = Shop::new();
    let (area, by_name, _) = shop.table("Orders", 12);
    let settings = shop.settings.clone();
    shop.connection.go_to(area, 4, &settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    known.set_text(3, b"a long memo", &settings).unwrap();
    known.set_text(2, b"01/31/2024", &settings).unwrap();
    known.write_record().unwrap();
    assert_eq!(
        known.set_text(1, b"much too long", &settings).unwrap_err().code(),
        ErrorCode::DataTooLong
    );
    assert_eq!(
        known.set_text(2, b"02/30/2024", &settings).unwrap_err().code(),
        ErrorCode::InvalidDay
    );
    assert_eq!(
        (known.julian_in(2).unwrap(), known.memo(3).unwrap()),
        (2_460_341, b"a long memo".to_vec())
    );

    known.set_aof("NAME = 'n4' .OR. NAME = 'n5'", &settings).unwrap();
    let copy = shop.path("copy.dbf");
    shop.connection
        .copy_table(area, Some(by_name), &copy, Counted::Shown, &settings)
        .unwrap();
    let copied = shop
        .connection
        .open_table("COPY", &TableOptions::default(), &settings)
        .unwrap();
    assert_eq!(shop.walk(copied, None), [1, 2]);
    shop.connection.go_top(copied, None, &settings).unwrap();
    assert_eq!(shop.connection.area(copied).unwrap().memo(3).unwrap(), b"a long memo");
    shop.connection.close_table(copied).unwrap();
    assert_eq!(shop.connection.find_files("*O?Y.DBF", &settings).unwrap(), ["copy.dbf"]);
    let (added, dropped, changed) = ("PRICE,Numeric,9,2", "DAY", "NAME,TITLE,Character,20");
    let options = TableOptions::default();
    shop.connection
        .restructure_table("copy", (added, dropped, changed), &options, &settings)
        .unwrap();
    let copied = shop.connection.open_table("copy", &options, &settings).unwrap();
    let known = shop.connection.area(copied).unwrap();
    let names: Vec<&str> = known.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["ID", "TITLE", "NOTE", "PRICE"]);
    assert_eq!(known.text(1, &settings).unwrap(), &b"n4                  "[..]);
    let missing = shop.connection.open_table("nothing", &options, &settings).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::FileNotFound);
}

#[test]
fn copies_keep_every_digit_of_every_kind_of_value() {
    let mut shop = Shop::new();
    let settings = shop.settings.clone();
    let fields = "D,Double;N,Numeric,16,4;I,LongLong;Y,Money;T,TimeStamp;C,Character,6;M,Memo;L,Logical";
    let options = TableOptions {
        table_type: tidemill_ads::TableType::Vfp,
        ..TableOptions::default()
    };
    let [from, to] =
        ["from", "to"].map(|name| shop.connection.create_table(name, fields, &options, &settings).unwrap());
    shop.connection.append(from, &settings).unwrap();
    let known = shop.connection.area(from).unwrap();
    known.set_number(0, 1.0 / 3.0).unwrap();
    known.set_text(1, b"12345678901.2345", &settings).unwrap();
    known.set_integer(2, i64::MAX).unwrap();
    known.set_decimal(3, i128::from(i64::MAX), 4).unwrap();
    known.set_julian(4, 2_460_341).unwrap();
    known.set_milliseconds(4, 12_345_678).unwrap();
    known.set_text(5, b"abc", &settings).unwrap();
    known.set_text(6, b"memo", &settings).unwrap();
    known.set_logical(7, true).unwrap();
    known.write_record().unwrap();
    shop.connection
        .copy_contents((from, None), to, Counted::All, &settings)
        .unwrap();
    shop.connection.go_top(from, None, &settings).unwrap();
    shop.connection.go_top(to, None, &settings).unwrap();
    for field in 0..8 {
        let [own, copied] = [from, to].map(|area| {
            let known = shop.connection.area(area).unwrap();
            match field {
                6 => known.memo(field).unwrap(),
                _ => known.raw_bytes(field).unwrap().to_vec(),
            }
        });
        assert_eq!(copied, own, "field {field}");
    }
}

/// Conditions and orders are kept, and the file is mapped: all must follow what happens to the table.
#[test]
fn a_filter_that_is_set_again_shows_the_table_as_it_is_now() {
    let mut shop = Shop::new();
    let (area, by_name, _) = shop.table("again", 40);
    let shown = |shop: &mut Shop, condition: &str| {
        let known = shop.connection.area(area).unwrap();
        known.set_aof(condition, &shop.settings).unwrap();
        shop.walk(area, None).len()
    };
    let (named, dated) = ("NAME = 'n3'", "NAME = 'n3' .AND. EMPTY(DAY)");
    for condition in [named, dated, named] {
        assert_eq!(shown(&mut shop, condition), 4, "{condition}");
    }
    shop.append(area, 41, "n3");
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (5, 5));
    shop.connection.go_to(area, 1, &shop.settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    known.set_text(1, b"n3", &shop.settings).unwrap();
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (6, 6));

    // The same text under another setting is another condition.
    assert_eq!(shown(&mut shop, "NAME = 'n'"), 41);
    shop.settings.exact = true;
    assert_eq!(shown(&mut shop, "NAME = 'n'"), 0);
    shop.settings.exact = false;
    assert_eq!(shown(&mut shop, "NAME = 'n'"), 41);

    let known = shop.connection.area(area).unwrap();
    known.delete_index(by_name).unwrap();
    assert_eq!(shown(&mut shop, named), 6);
    let level = |shop: &mut Shop| shop.connection.area(area).unwrap().aof_level().unwrap();
    assert_eq!(level(&mut shop), OptimizationLevel::None);
    let known = shop.connection.area(area).unwrap();
    known
        .create_index(None, "NAME", "NAME", None, &IndexOptions::default(), &shop.settings)
        .unwrap();
    assert_eq!(
        (shown(&mut shop, named), level(&mut shop)),
        (6, OptimizationLevel::Full)
    );

    shop.connection.begin_transaction(&shop.settings).unwrap();
    shop.append(area, 42, "n3");
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (7, 7));
    shop.connection.rollback_transaction().unwrap();
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (6, 6));

    shop.connection.go_to(area, 1, &shop.settings).unwrap();
    shop.connection.area(area).unwrap().set_deleted(true).unwrap();
    shop.connection.pack(area, &shop.settings).unwrap();
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (5, 5));
    shop.connection.zap(area, &shop.settings).unwrap();
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (0, 0));
    for id in 0..40 {
        shop.append(area, id, "n3");
    }
    assert_eq!((shown(&mut shop, dated), shown(&mut shop, named)), (40, 40));
}

#[test]
fn a_field_that_is_given_bytes_is_not_null() {
    let mut shop = Shop::new();
    let options = TableOptions {
        table_type: tidemill_ads::TableType::Vfp,
        ..TableOptions::default()
    };
    let fields = "NAME,C:N,6;AMT,N:N,8,2;CODE,V:N,6";
    let area = shop
        .connection
        .create_table("raw", fields, &options, &shop.settings)
        .unwrap();
    shop.connection.append(area, &shop.settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    for (field, bytes, shown) in [(0, "ab", "ab    "), (1, "    1.50", "    1.50"), (2, "x", "x")] {
        known.set_null(field).unwrap();
        assert!(known.is_null(field).unwrap(), "{field}");
        known.set_empty(field).unwrap();
        assert!(!known.is_null(field).unwrap(), "{field}");
        known.set_raw(field, bytes.as_bytes()).unwrap();
        assert!(!known.is_null(field).unwrap(), "{field}");
        assert_eq!(known.text(field, &shop.settings).unwrap(), shown.as_bytes(), "{field}");
        let refused = known.set_raw(field, b"123456789").unwrap_err();
        assert_eq!(refused.code(), ErrorCode::DataTooLong);
    }
    known.write_record().unwrap();
    assert!((0..3).all(|field| !known.is_null(field).unwrap()));
}

#[test]
fn national_orders_stay_national_when_they_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase");
    for name in ["cp850de.dbf", "cp850de.cdx"] {
        fs::copy(format!("{corpus}/{name}"), folder.path().join(name)).unwrap();
    }
    let connection = Connection::open(folder.path()).unwrap();
    let mut shop = Shop {
        folder,
        connection,
        settings,
    };
    let options = TableOptions::default().exclusive();
    let area = shop.connection.open_table("cp850de", &options, &shop.settings).unwrap();
    let orders: Vec<OrderId> = shop.connection.area(area).unwrap().orders().collect();
    let before: Vec<_> = orders.iter().map(|order| shop.walk(area, Some(*order))).collect();
    assert!(before.iter().any(|walk| !walk.is_sorted()));
    let known = shop.connection.area(area).unwrap();
    known
        .set_scope(orders[0], true, SeekKey::Text(b"H"), &shop.settings)
        .unwrap();
    let bounded = shop.walk(area, Some(orders[0]));
    assert!(bounded.len() < before[0].len());

    shop.connection.area(area).unwrap().reindex(&shop.settings).unwrap();
    assert_eq!(shop.walk(area, Some(orders[0])), bounded);
    shop.connection
        .area(area)
        .unwrap()
        .clear_scope(orders[0], true)
        .unwrap();
    for (order, before) in orders.iter().zip(&before) {
        assert_eq!(&shop.walk(area, Some(*order)), before);
    }
    shop.connection.close_table(area).unwrap();
    let area = shop.connection.open_table("cp850de", &options, &shop.settings).unwrap();
    let orders: Vec<OrderId> = shop.connection.area(area).unwrap().orders().collect();
    let after: Vec<_> = orders.iter().map(|order| shop.walk(area, Some(*order))).collect();
    assert_eq!(after, before);
}

#[test]
fn every_kind_of_value_goes_over_to_tables_of_other_types() {
    let mut shop = Shop::new();
    let options = TableOptions {
        table_type: TableType::Vfp,
        ..TableOptions::default()
    };
    let fields = "C,Character,8;N,Numeric,8,2;I,Integer;D,Double,8,3;Y,Money;DAY,Date;T,Timestamp;L,Logical;M,Memo;V,VarCharFox,6";
    let area = shop
        .connection
        .create_table("all", fields, &options, &shop.settings)
        .unwrap();
    shop.connection.append(area, &shop.settings).unwrap();
    shop.connection.append(area, &shop.settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    for (field, text) in [
        (0, "text"),
        (1, "-12.34"),
        (2, "-2147483648"),
        (3, "1.125"),
        (8, "a memo"),
        (9, "v"),
    ] {
        known.set_text(field, text.as_bytes(), &shop.settings).unwrap();
    }
    known.set_decimal(4, 123_456_789_012_345, 4).unwrap();
    for field in [5, 6] {
        known.set_julian(field, 2_451_545).unwrap();
    }
    known.set_milliseconds(6, 3_661_000).unwrap();
    known.set_logical(7, true).unwrap();
    known.write_record().unwrap();

    let texts = |shop: &mut Shop, name: &str, table_type| {
        let options = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        let area = shop.connection.open_table(name, &options, &shop.settings).unwrap();
        shop.connection.go_to(area, 2, &shop.settings).unwrap();
        let known = shop.connection.area(area).unwrap();
        let letters: String = known.fields().iter().map(|field| field.letter).collect();
        let texts: Vec<String> = (0..known.fields().len())
            .map(|field| String::from_utf8(known.text(field, &shop.settings).unwrap().into_owned()).unwrap())
            .map(|text| text.trim().to_owned())
            .collect();
        (letters, texts.join("|"))
    };
    let expected = "text|-12.34|-2147483648|1.125000|12345678901.2345|01/01/2000|01/01/2000 01:01:01 AM|T|a memo|v";
    for (table_type, letters) in [
        (TableType::Ntx, "CNNNNDCLMC"),
        (TableType::Cdx, "CNNNNDCLMC"),
        (TableType::Vfp, "CNIBYDTLMV"),
    ] {
        let name = format!("{table_type:?}");
        let path = shop.path(&format!("{name}.dbf"));
        shop.connection
            .convert_table(area, None, &path, table_type, Counted::All, &shop.settings)
            .unwrap();
        let (found, values) = texts(&mut shop, &name, table_type);
        assert_eq!(found, letters, "{name}");
        let expected = match table_type {
            // A double is shown with two decimals.
            TableType::Vfp => expected.replace("1.125000", "1.12"),
            _ => expected.to_owned(),
        };
        assert_eq!(values, expected, "{name}");
    }
}

#[test]
fn copies_go_in_the_order_and_leave_out_what_is_not_meant() {
    let mut shop = Shop::new();
    let (area, by_name, _) = shop.table("all", 30);
    shop.connection.go_to(area, 7, &shop.settings).unwrap();
    shop.connection.area(area).unwrap().set_deleted(true).unwrap();
    let hidden = Settings {
        show_deleted: false,
        ..shop.settings.clone()
    };
    let known = shop.connection.area(area).unwrap();
    known.set_filter("ID > 10", &shop.settings).unwrap();
    for is_top in [true, false] {
        known
            .set_scope(by_name, is_top, SeekKey::Text(b"n7"), &shop.settings)
            .unwrap();
    }
    let cases = [
        ("a", None, Counted::All, shop.settings.clone(), (1..=30).collect()),
        (
            "b",
            None,
            Counted::All,
            hidden.clone(),
            (1..=30).filter(|id| *id != 7).collect(),
        ),
        ("c", None, Counted::Shown, shop.settings.clone(), (11..=30).collect()),
        (
            "d",
            Some(by_name),
            Counted::InScope,
            shop.settings.clone(),
            vec![7, 17, 27],
        ),
        ("e", Some(by_name), Counted::InScope, hidden, vec![17, 27]),
        ("f", Some(by_name), Counted::Shown, shop.settings.clone(), vec![17, 27]),
    ];
    for (name, order, counted, settings, expected) in cases {
        let path = shop.path(&format!("{name}.dbf"));
        shop.connection
            .copy_table(area, order, &path, counted, &settings)
            .unwrap();
        let options = TableOptions::default();
        let copy = shop.connection.open_table(name, &options, &shop.settings).unwrap();
        let records = shop.walk(copy, None);
        let ids: Vec<u32> = records
            .into_iter()
            .map(|record| {
                shop.connection.go_to(copy, record, &shop.settings).unwrap();
                let id = shop.connection.area(copy).unwrap().integer_in(0).unwrap();
                u32::try_from(id).unwrap()
            })
            .collect();
        assert_eq!(ids, expected, "{name}");
    }
    shop.connection.begin_transaction(&shop.settings).unwrap();
    let path = shop.path("g.dbf");
    let refused = shop
        .connection
        .copy_table(area, None, &path, Counted::All, &shop.settings);
    assert_eq!(refused.unwrap_err().code(), ErrorCode::IllegalCommandDuringTransaction);
}

#[test]
fn a_table_that_the_transaction_has_changed_is_opened_and_cloned_in_it() {
    let mut shop = Shop::new();
    let (made, _, _) = shop.table("t", 3);
    shop.connection.close_table(made).unwrap();
    let settings = shop.settings.clone();
    let options = TableOptions::default();
    let first = shop.connection.open_table("t", &options, &settings).unwrap();
    shop.connection.begin_transaction(&settings).unwrap();
    shop.append(first, 4, "n4");
    let second = shop.connection.open_table("t", &options, &settings).unwrap();
    let clone = shop.connection.clone_table(first, &settings).unwrap();
    shop.append(second, 5, "n5");
    for area in [first, second, clone] {
        let by_name = shop.connection.area(area).unwrap().order_named("NAME").unwrap();
        assert_eq!(shop.walk(area, Some(by_name)), [1, 2, 3, 4, 5]);
    }
    shop.connection.rollback_transaction().unwrap();
    for area in [first, second, clone] {
        assert_eq!(shop.walk(area, None), [1, 2, 3]);
    }
}
