//! Transactions over tables with memos: all of it, none of it, and what others see meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_xbase::aggregate::Selected;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, ColumnCache, Columns, CreateOptions, Deleted, Durability, EditOptions, Error, FieldSpec, KeySettings,
    LockRequest, LockSubject, LogOptions, OpenMode, OpenOptions, Scan, Sharing, Table, TableEditor, TableIndex,
    TableWriter, TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};
const DURABILITIES: [Durability; 4] = [
    Durability::Commit,
    Durability::Group(1),
    Durability::Group(3),
    Durability::None,
];

#[test]
fn a_rolled_back_transaction_leaves_every_byte_and_a_committed_one_every_change() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        for durability in DURABILITIES {
            let shop = Shop::new();
            let log = shop.log(durability);
            let (mut stock, mut sold) = (shop.edit(&log, "stock", mode), shop.edit(&log, "sold", mode));
            stock
                .append_values(&[(0, Value::Text("lamp")), (1, Value::Text("a lamp"))])
                .unwrap();
            stock
                .append_values(&[(0, Value::Text("desk")), (1, Value::Text("a desk"))])
                .unwrap();
            log.checkpoint().unwrap();
            let before = shop.bytes();
            let change = |stock: &mut TableEditor, sold: &mut TableEditor| {
                stock.lock_records([1, 2]).unwrap();
                stock.delete(1).unwrap();
                stock.replace(2, &[(1, Value::Text(&"long ".repeat(100)))]).unwrap();
                let record = sold
                    .append_values(&[(0, Value::Text("lamp")), (1, Value::Text("sold"))])
                    .unwrap();
                assert_eq!((record, sold.record_count()), (1, 1));
                assert!(stock.is_deleted(1).unwrap());
                assert_eq!(&sold.record_bytes(1).unwrap()[1..5], b"lamp");
            };
            for dropped in [false, true] {
                let transaction = log.begin().unwrap();
                change(&mut stock, &mut sold);
                assert_eq!(shop.bytes(), before);
                if dropped {
                    drop(transaction);
                } else {
                    transaction.rollback().unwrap();
                }
                assert_eq!(shop.bytes(), before, "{mode:?} {durability:?}");
                assert_eq!((stock.record_count(), sold.record_count()), (2, 0));
                assert!(!stock.is_deleted(1).unwrap());
            }
            let transaction = log.begin().unwrap();
            change(&mut stock, &mut sold);
            transaction.commit().unwrap();
            assert_eq!(sold.record_count(), 1);
            assert!(stock.is_deleted(1).unwrap());
            drop((stock, sold));
            assert_eq!(
                shop.rows("stock"),
                ["*lamp|a lamp".to_owned(), format!(" desk|{}", "long ".repeat(100))]
            );
            assert_eq!(shop.rows("sold"), [" lamp|sold"]);
        }
    }
}

#[test]
fn a_log_can_be_taken_up_and_laid_down_while_a_table_is_open() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let shop = Shop::new();
        let path = shop.path("stock");
        let edit = EditOptions::new(TODAY);
        let mut stock = TableEditor::open(&path, &edit).unwrap();
        stock
            .append_values(&[(0, Value::Text("lamp")), (1, Value::Text("a lamp"))])
            .unwrap();
        stock.create_order(&OrderSpec::new("ITEM", "ITEM")).unwrap();
        drop(stock);
        let mut stock = TableEditor::open(&path, &edit.mode(mode)).unwrap();
        let log = shop.log(Durability::Commit);
        let keys = |stock: &mut TableEditor| stock.order("ITEM").unwrap().order().key_count().unwrap();
        for round in 0..3 {
            let (count, before) = (stock.record_count(), shop.bytes());
            let index_before = std::fs::read(path.with_extension("cdx")).unwrap();
            stock.lock_record(1).unwrap();
            stock.use_log(Some(&log)).unwrap();
            let transaction = log.begin().unwrap();
            stock
                .append_values(&[(0, Value::Text("desk")), (1, Value::Text("a desk"))])
                .unwrap();
            stock.replace(1, &[(1, Value::Text(&"long ".repeat(100)))]).unwrap();
            stock.replace(1, &[(0, Value::Text("zinc"))]).unwrap();
            assert_eq!(keys(&mut stock), u64::from(count) + 1, "{mode:?}");
            assert!(matches!(stock.use_log(None), Err(Error::Misuse(_))));
            transaction.rollback().unwrap();
            assert!(std::fs::read(path.with_extension("cdx")).unwrap() == index_before);
            assert_eq!(
                (stock.record_count(), keys(&mut stock)),
                (count, count.into()),
                "{mode:?} {round}"
            );
            stock.use_log(None).unwrap();
            assert!(shop.bytes() == before, "{mode:?}");
            // What was rolled back is not taken for what is there, although it was written last.
            stock.replace(1, &[(1, Value::Text("after"))]).unwrap();
            assert!(stock.record_bytes(1).unwrap().starts_with(b" lamp "), "{mode:?}");

            stock
                .append_values(&[(0, Value::Text("chair")), (1, Value::Text("straight"))])
                .unwrap();
            stock.flush().unwrap();
            assert_eq!(rows(&path).len(), count as usize + 1, "{mode:?}");
            stock.use_log(Some(&log)).unwrap();
            let transaction = log.begin().unwrap();
            stock
                .append_values(&[(0, Value::Text("table")), (1, Value::Text("logged"))])
                .unwrap();
            transaction.commit().unwrap();
            stock.use_log(None).unwrap();
            stock.unlock_all().unwrap();
            assert_eq!(rows(&path).len(), count as usize + 2, "{mode:?}");
            assert_eq!(keys(&mut stock), u64::from(count) + 2, "{mode:?}");
        }
        drop(stock);
        let table = Table::open(&path, &OpenOptions::new()).unwrap();
        let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
            .unwrap()
            .unwrap();
        assert_eq!(index.verify(&table).unwrap(), []);
    }
}

#[test]
fn a_table_that_takes_up_the_log_in_a_transaction_is_rolled_back_with_it() {
    let shop = Shop::new();
    let before = shop.rows("stock");
    let log = shop.log(Durability::Commit);
    let transaction = log.begin().unwrap();
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared);
    let mut stock = TableEditor::open(shop.path("stock"), &options).unwrap();
    let count = stock.record_count();
    stock.use_log(Some(&log)).unwrap();
    stock.append_values(&[]).unwrap();
    assert_eq!(stock.record_count(), count + 1);
    transaction.rollback().unwrap();
    assert_eq!(stock.refresh().unwrap(), count);
    stock.use_log(None).unwrap();
    drop(stock);
    assert_eq!(shop.rows("stock"), before);
}

#[test]
fn handles_of_one_log_share_the_locks_of_its_transaction_and_readers_do_not_stand_in_the_way() {
    let shop = Shop::new();
    let log = shop.log(Durability::Commit);
    let path = shop.path("stock");
    let mut first = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    first.create_order(&OrderSpec::new("ITEM", "ITEM")).unwrap();
    first.append_values(&[(0, Value::Text("lamp"))]).unwrap();
    drop(first);
    let reader = shop.edit(&log, "stock", OpenMode::ReadOnly);
    let mut one = shop.edit(&log, "stock", OpenMode::Shared);
    let mut two = shop.edit(&log, "stock", OpenMode::Shared);
    one.lock_record(1).unwrap();
    assert!(matches!(two.lock_record(1), Err(Error::Locked(_))));
    one.unlock_all().unwrap();

    let transaction = log.begin().unwrap();
    one.append_values(&[(0, Value::Text("desk"))]).unwrap();
    two.refresh().unwrap();
    two.append_values(&[(0, Value::Text("chair"))]).unwrap();
    one.lock_record(1).unwrap();
    two.lock_record(1).unwrap();
    two.replace(1, &[(0, Value::Text("bulb"))]).unwrap();
    assert_eq!(two.order("ITEM").unwrap().order().key_count().unwrap(), 3);
    let alone = EditOptions::new(TODAY)
        .mode(OpenMode::Shared)
        .lock_timeout(Duration::ZERO);
    let mut stranger = TableEditor::open(&path, &alone.clone().production_index(false)).unwrap();
    assert!(matches!(stranger.lock_record(1), Err(Error::Locked(_))));
    drop(one);
    assert!(matches!(stranger.lock_record(1), Err(Error::Locked(_))));
    transaction.commit().unwrap();
    stranger.lock_record(1).unwrap();
    assert!(matches!(two.lock_record(1), Err(Error::Locked(_))));
    drop((two, reader, stranger));
    assert_eq!(shop.rows("stock").len(), 3);
    assert!(shop.rows("stock").first().unwrap().contains("bulb"));
}

#[test]
fn savepoints_nest_and_each_can_be_gone_back_to() {
    let shop = Shop::new();
    let log = shop.log(Durability::Commit);
    let mut table = shop.edit(&log, "stock", OpenMode::Exclusive);
    let append = |table: &mut TableEditor, name: &str| {
        table
            .append_values(&[(0, Value::Text(name)), (1, Value::Text(name))])
            .unwrap();
    };
    let mut transaction = log.begin().unwrap();
    append(&mut table, "one");
    let first = transaction.savepoint().unwrap();
    append(&mut table, "two");
    let second = transaction.savepoint().unwrap();
    append(&mut table, "three");
    table.delete(1).unwrap();
    transaction.rollback_to(second).unwrap();
    assert_eq!(table.record_count(), 2);
    append(&mut table, "four");
    transaction.rollback_to(second).unwrap();
    append(&mut table, "five");
    let third = transaction.savepoint().unwrap();
    table.replace(1, &[(1, Value::Text("changed"))]).unwrap();
    transaction.release(third).unwrap();
    assert!(matches!(transaction.rollback_to(third), Err(Error::Misuse(_))));
    assert_eq!(table.record_count(), 3);
    transaction.rollback_to(first).unwrap();
    assert!(matches!(transaction.rollback_to(second), Err(Error::Misuse(_))));
    assert!(matches!(transaction.release(second), Err(Error::Misuse(_))));
    assert_eq!(table.record_count(), 1);
    append(&mut table, "six");
    transaction.commit().unwrap();
    let mut other = log.begin().unwrap();
    assert!(matches!(other.rollback_to(first), Err(Error::Misuse(_))));
    drop(other);
    drop(table);
    assert_eq!(shop.rows("stock"), [" one|one", " six|six"]);
}

#[test]
fn scans_of_the_own_table_see_the_transaction_and_others_do_not() {
    let shop = Shop::new();
    let log = shop.log(Durability::Group(100));
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let mut table = shop.edit(&log, "stock", mode);
        let before = table.record_count() as usize;
        let seen = |table: &mut TableEditor| shown(&Arc::new(table.table().unwrap()));
        let transaction = log.begin().unwrap();
        let record = table
            .append_values(&[(0, Value::Text("lamp")), (1, Value::Text("note"))])
            .unwrap();
        assert_eq!(seen(&mut table)[before..], [" lamp|note"]);
        assert_eq!(shop.rows("stock").len(), before);
        table
            .replace(record, &[(1, Value::Text(&"long ".repeat(200)))])
            .unwrap();
        table.delete(record).unwrap();
        assert_eq!(seen(&mut table)[before..], [format!("*lamp|{}", "long ".repeat(200))]);
        transaction.rollback().unwrap();
        assert_eq!(seen(&mut table).len(), before);
        table.append_values(&[(1, Value::Text("kept"))]).unwrap();
        let now = table.table().unwrap();
        assert!(!now.is_current().unwrap());
        assert_eq!(shown(&Arc::new(now))[before..], [" |kept"]);
        // Alone, others see a group commit only later.
        let visible = before + usize::from(mode == OpenMode::Shared);
        assert_eq!(shop.rows("stock").len(), visible, "{mode:?}");
    }
    assert_eq!(shop.rows("stock"), [" |kept", " |kept"]);
}

#[test]
fn what_is_kept_of_columns_follows_the_own_transaction() {
    let shop = Shop::new();
    let log = shop.log(Durability::Group(100));
    let mut table = shop.edit(&log, "stock", OpenMode::Exclusive);
    table.append().unwrap();
    table.append().unwrap();
    let seen = Arc::new(table.table().unwrap());
    let columns = Columns::new(&seen, &ColumnCache::new(1 << 20), Sharing::Exclusive).unwrap();
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 2);
    let transaction = log.begin().unwrap();
    table.delete(1).unwrap();
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 1);
    transaction.rollback().unwrap();
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 2);
}

#[test]
fn a_change_that_is_refused_in_a_transaction_takes_only_itself_back() {
    let shop = Shop::new();
    let log = shop.log(Durability::Commit);
    let mut table = shop.edit(&log, "stock", OpenMode::Exclusive);
    let transaction = log.begin().unwrap();
    table
        .append_values(&[(0, Value::Text("kept")), (1, Value::Text("kept"))])
        .unwrap();
    let memo_len = |table: &TableEditor| std::fs::metadata(table.path().with_extension("fpt")).unwrap().len();
    let before = memo_len(&table);
    let refused = table.append_values(&[(1, Value::Text("note")), (0, Value::Text("much too long"))]);
    assert!(matches!(refused, Err(Error::Value(_))));
    assert!(matches!(
        table.replace(1, &[(0, Value::Integer(1))]),
        Err(Error::Value(_))
    ));
    assert_eq!(table.record_count(), 1);
    assert!(matches!(table.pack(), Err(Error::Misuse(_))));
    assert!(matches!(log.begin(), Err(Error::Misuse(_))));
    transaction.commit().unwrap();
    assert!(memo_len(&table) > before);
    let outside = table.append_values(&[(1, Value::Text("note")), (0, Value::Text("much too long"))]);
    assert!(matches!(outside, Err(Error::Value(_))));
    drop(table);
    assert_eq!(shop.rows("stock"), [" kept|kept"]);
}

#[test]
fn zapping_is_rolled_back_and_packing_goes_on_behind_a_log() {
    let shop = Shop::new();
    let log = shop.log(Durability::Group(10));
    let mut table = shop.edit(&log, "stock", OpenMode::Exclusive);
    for name in ["one", "two", "three"] {
        table
            .append_values(&[(0, Value::Text(name)), (1, Value::Text(name))])
            .unwrap();
    }
    let transaction = log.begin().unwrap();
    table.zap().unwrap();
    assert_eq!(table.record_count(), 0);
    table
        .append_values(&[(0, Value::Text("alone")), (1, Value::Text("alone"))])
        .unwrap();
    transaction.rollback().unwrap();
    assert_eq!(table.record_count(), 3);
    table.delete(2).unwrap();
    assert_eq!(table.pack().unwrap(), 2);
    table
        .append_values(&[(0, Value::Text("four")), (1, Value::Text("four"))])
        .unwrap();
    drop(table);
    assert_eq!(shop.rows("stock"), [" one|one", " three|three", " four|four"]);

    let mut table = shop.edit(&log, "stock", OpenMode::Exclusive);
    let transaction = log.begin().unwrap();
    table.zap().unwrap();
    table
        .append_values(&[(0, Value::Text("alone")), (1, Value::Text("alone"))])
        .unwrap();
    transaction.commit().unwrap();
    drop(table);
    assert_eq!(shop.rows("stock"), [" alone|alone"]);
}

#[test]
fn locks_last_until_the_end_of_the_transaction_that_took_them() {
    for commits in [true, false] {
        let shop = Shop::new();
        let (log, other_log) = (
            shop.log(Durability::Commit),
            shop.log_at("other.tmlog", Durability::Commit),
        );
        let mut table = shop.edit(&log, "stock", OpenMode::Shared);
        let first = table.append().unwrap();
        table.append().unwrap();
        table.unlock_all().unwrap();
        table.lock_record(first).unwrap();

        let mut other = shop.edit(&other_log, "stock", OpenMode::Shared);
        let transaction = log.begin().unwrap();
        table.lock_record(2).unwrap();
        table.delete(2).unwrap();
        table.unlock_record(2).unwrap();
        let third = table.append().unwrap();
        table.unlock_record(third).unwrap();
        table.unlock_record(first).unwrap();
        // Neither the change nor the appended record shows, and nobody else gets in between.
        assert_eq!(other.refresh().unwrap(), 2);
        assert!(!other.is_deleted(2).unwrap());
        for record in [first, 2, third] {
            assert!(matches!(other.lock_record(record), Err(Error::Locked(_))), "{record}");
        }
        assert!(matches!(other.append(), Err(Error::Locked(_))));
        if commits {
            transaction.commit().unwrap();
        } else {
            transaction.rollback().unwrap();
        }
        assert_eq!(other.refresh().unwrap(), if commits { 3 } else { 2 });
        assert_eq!(other.is_deleted(2).unwrap(), commits);
        other.lock_records([first, 2, third]).unwrap();
        assert!(other.append().unwrap() > 2);
    }
}

#[test]
fn an_index_that_others_read_in_their_transaction_is_not_changed_meanwhile() {
    let shop = Shop::new();
    let (log, other_log) = (shop.log(Durability::None), shop.log_at("other.tmlog", Durability::None));
    let mut alone = shop.edit(&log, "stock", OpenMode::Exclusive);
    alone.create_order(&OrderSpec::new("ITEM", "ITEM")).unwrap();
    drop(alone);
    let (mut one, mut two) = (
        shop.edit(&log, "stock", OpenMode::Shared),
        shop.edit(&other_log, "stock", OpenMode::Shared),
    );
    let (first, second) = (log.begin().unwrap(), other_log.begin().unwrap());
    let entries = |table: &mut TableEditor| table.order("ITEM").map(|order| order.order().key_count().unwrap());
    assert_eq!(entries(&mut two).unwrap(), 0);
    // What the one has seen, the other does not change before it ends.
    let refused = one.append_values(&[(0, Value::Text("lamp"))]).unwrap_err();
    let Error::Locked(refused) = refused else {
        panic!("{refused}")
    };
    assert_eq!(refused.subject, LockSubject::Index);
    assert_eq!(one.record_count(), 0);
    drop(second);
    one.append_values(&[(0, Value::Text("lamp"))]).unwrap();
    assert_eq!(entries(&mut one).unwrap(), 1);
    assert!(matches!(entries(&mut two), Err(Error::Locked(_))));
    first.commit().unwrap();
    assert_eq!(entries(&mut two).unwrap(), 1);
}

#[test]
fn a_table_that_is_closed_in_a_transaction_is_committed_with_it() {
    let shop = Shop::new();
    let log = shop.log(Durability::Commit);
    let other_log = shop.log_at("other.tmlog", Durability::Commit);
    let mut table = shop.edit(&log, "stock", OpenMode::Shared);
    let transaction = log.begin().unwrap();
    table.append_values(&[(0, Value::Text("one"))]).unwrap();
    drop(table);
    let mut other = shop.edit(&other_log, "stock", OpenMode::Shared);
    assert!(matches!(other.append(), Err(Error::Locked(_))));
    transaction.commit().unwrap();
    assert_eq!(other.append().unwrap(), 2);
    drop(other);
    assert_eq!(shop.rows("stock"), [" one|", " |"]);
    shop.edit(&log, "stock", OpenMode::Exclusive);
}

#[test]
fn waiting_in_a_circle_is_refused_at_once_and_locks_taken_together_never_meet_it() {
    let shop = Shop::new();
    let logs = [shop.log(Durability::None), shop.log_at("other.tmlog", Durability::None)];
    let options = |log: &TransactionLog| {
        let patient = EditOptions::new(TODAY).mode(OpenMode::Shared);
        patient.lock_timeout(Duration::from_secs(30)).log(log)
    };
    let open = |log: &TransactionLog, name: &str| TableEditor::open(shop.path(name), &options(log)).unwrap();
    // Whichever table comes first in the order, one of the two asks against it.
    let (mut a1, mut b1) = (open(&logs[0], "stock"), open(&logs[0], "sold"));
    let (mut a2, mut b2) = (open(&logs[1], "stock"), open(&logs[1], "sold"));
    let (one, two) = (logs[0].begin().unwrap(), logs[1].begin().unwrap());
    a1.append().unwrap();
    b2.append().unwrap();
    let waits = std::thread::spawn(move || {
        let done = b1.append().map(drop);
        drop(one);
        (a1, b1, done.is_ok())
    });
    let done = a2.append().is_ok();
    drop(two);
    let (mut a1, mut b1, other_done) = waits.join().unwrap();
    assert_ne!(done, other_done, "the one that asks against the order gives way");

    // Both orders of asking, many times, and nobody is refused.
    let log = logs[1].clone();
    let second = std::thread::spawn(move || {
        for _ in 0..30 {
            let mut transaction = log.begin().unwrap();
            let requests = [
                LockRequest::new(&mut b2).appends().memos(),
                LockRequest::new(&mut a2).appends().memos(),
            ];
            transaction.lock(requests).unwrap();
            for table in [&mut b2, &mut a2] {
                table.append_values(&[(1, Value::Text("two"))]).unwrap();
            }
            transaction.commit().unwrap();
        }
    });
    for _ in 0..30 {
        let mut transaction = logs[0].begin().unwrap();
        let requests = [
            LockRequest::new(&mut a1).appends().memos(),
            LockRequest::new(&mut b1).appends().memos(),
        ];
        transaction.lock(requests).unwrap();
        for table in [&mut a1, &mut b1] {
            table.append_values(&[(1, Value::Text("one"))]).unwrap();
        }
        transaction.commit().unwrap();
    }
    second.join().unwrap();
    drop((a1, b1));
    for name in ["stock", "sold"] {
        let rows = shop.rows(name);
        assert_eq!(rows.iter().filter(|row| row.ends_with("|one")).count(), 30);
        assert_eq!(rows.iter().filter(|row| row.ends_with("|two")).count(), 30);
    }
}

#[test]
fn a_log_belongs_to_one_process_at_a_time() {
    let shop = Shop::new();
    let log = shop.log(Durability::Commit);
    let options = LogOptions::new().lock_timeout(Duration::ZERO);
    assert!(matches!(
        TransactionLog::open(log.paths().remove(0), &options),
        Err(Error::Locked(_))
    ));
    drop(log);
    std::fs::write(shop.folder.path().join("no.tmlog"), [7; 100]).unwrap();
    let refused = TransactionLog::open(shop.folder.path().join("no.tmlog"), &options).unwrap_err();
    assert!(matches!(refused, Error::Corrupt(_)), "{refused}");
}

/// Two tables with memos in a folder.
struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let shop = Self { folder };
        let fields = [FieldSpec::new("ITEM", 'C', 8, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
        for name in ["stock", "sold"] {
            let table = TableWriter::create(shop.path(name), &fields, &CreateOptions::new(TODAY));
            table.unwrap().finish().unwrap();
        }
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name).with_extension("dbf")
    }

    fn log(&self, durability: Durability) -> TransactionLog {
        self.log_at("shop.tmlog", durability)
    }

    fn log_at(&self, name: &str, durability: Durability) -> TransactionLog {
        TransactionLog::open(self.folder.path().join(name), &LogOptions::new().durability(durability)).unwrap()
    }

    fn edit(&self, log: &TransactionLog, name: &str, mode: OpenMode) -> TableEditor {
        let options = EditOptions::new(TODAY)
            .mode(mode)
            .lock_timeout(Duration::from_millis(20));
        TableEditor::open(self.path(name), &options.log(log)).unwrap()
    }

    /// The bytes of all tables and memo files.
    fn bytes(&self) -> Vec<Vec<u8>> {
        let of = |name| [self.path(name), self.path(name).with_extension("fpt")];
        let files = [of("stock"), of("sold")];
        files
            .as_flattened()
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect()
    }

    /// The deletion flag and the values of every record, once the table is found sound.
    fn rows(&self, name: &str) -> Vec<String> {
        rows(&self.path(name))
    }
}

fn rows(path: &Path) -> Vec<String> {
    shown(&Arc::new(Table::open(path, &OpenOptions::new()).unwrap()))
}

fn shown(table: &Arc<Table>) -> Vec<String> {
    assert_eq!(table.verify().unwrap().damage, []);
    let read = |deleted| -> Vec<RecordBatch> {
        table
            .scan(Scan::new().deleted(deleted))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let shown = |batches: Vec<RecordBatch>, flag: char| -> Vec<(char, String)> {
        let cell = |batch: &RecordBatch, row, column| array_value_to_string(batch.column(column), row).unwrap();
        let rows = |batch: &RecordBatch| -> Vec<_> {
            (0..batch.num_rows())
                .map(|row| (flag, format!("{}|{}", cell(batch, row, 0), cell(batch, row, 1))))
                .collect()
        };
        batches.iter().flat_map(rows).collect()
    };
    let mut left = shown(read(Deleted::Skip), ' ').into_iter().peekable();
    let all = shown(read(Deleted::Include), '*');
    let flags = all
        .into_iter()
        .map(|(_, row)| match left.next_if(|(_, kept)| *kept == row) {
            Some(_) => format!(" {row}"),
            None => format!("*{row}"),
        });
    flags.collect()
}
