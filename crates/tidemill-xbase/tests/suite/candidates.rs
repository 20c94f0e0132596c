//! Candidate indexes of Visual FoxPro tables: no two records get one key in, whoever tries and however.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::{Direction, Index, IndexOptions, KeyValue, OrderSpec};
use tidemill_xbase::{
    Alteration, CivilDate, CodePage, CreateOptions, Dialect, EditOptions, Error, FieldSpec, KeySettings, LogOptions,
    OpenMode, OpenOptions, Table, TableEditor, TableIndex, TableWriter, TransactionLog, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// A table of Visual FoxPro with a code, a name that can be NULL and a number, in a folder of its own.
struct Shop {
    folder: TempDir,
    path: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stock.dbf");
        let fields = [
            FieldSpec::new("CODE", 'C', 6, 0),
            FieldSpec::new("NAME", 'C', 8, 0).nullable(true),
            FieldSpec::new("NUM", 'N', 6, 0),
        ];
        let options = CreateOptions {
            format: Dialect::VisualFoxPro,
            ..CreateOptions::new(TODAY)
        };
        TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
        Self { folder, path }
    }

    /// With records of these codes, and a candidate index of them beside an order by number.
    fn of(codes: &[&str]) -> Self {
        let shop = Self::new();
        let mut table = shop.alone();
        for code in codes {
            table.append_values(&values(code)).unwrap();
        }
        table.create_order(&by_code()).unwrap();
        table.create_order(&OrderSpec::new("NUM", "NUM")).unwrap();
        shop
    }

    fn alone(&self) -> TableEditor {
        TableEditor::open(&self.path, &EditOptions::new(TODAY)).unwrap()
    }

    fn shared(&self) -> TableEditor {
        TableEditor::open(&self.path, &EditOptions::new(TODAY).mode(OpenMode::Shared)).unwrap()
    }

    fn index(&self) -> PathBuf {
        self.path.with_extension("cdx")
    }

    /// What the files hold.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    }

    /// The options in the header of the order by code.
    fn options(&self) -> u8 {
        let bytes = std::fs::read(self.index()).unwrap();
        bytes[self.header() + 14]
    }

    fn header(&self) -> usize {
        let bytes = std::fs::read(self.index()).unwrap();
        let text = bytes.chunks_exact(512).position(|page| page.starts_with(b"CODE\0"));
        (text.expect("the key's text begins the second half of the header") - 1) * 512
    }

    /// The codes of the order with their records, which `verify` has nothing against.
    fn entries(&self) -> Vec<(String, u32)> {
        let table = Table::open(&self.path, &OpenOptions::new()).unwrap();
        let index = TableIndex::open(self.index(), &table, &KeySettings::new(table.codepage())).unwrap();
        assert_eq!(index.verify(&table).unwrap(), []);
        let order = index.order("CODE").expect("the order");
        assert!(order.order().tag().is_candidate && !order.order().tag().is_custom);
        let entries = order.order().walk(Direction::Forward).map(Result::unwrap);
        entries
            .map(|entry| (String::from_utf8_lossy(entry.key()).trim().to_owned(), entry.recno()))
            .collect()
    }
}

fn by_code() -> OrderSpec {
    OrderSpec::new("CODE", "CODE").candidate(true)
}

fn values(code: &str) -> [(usize, Value<'_>); 2] {
    [(0, Value::Text(code)), (1, Value::Text("n"))]
}

fn entry(code: &str, record: u32) -> (String, u32) {
    (code.to_owned(), record)
}

/// The record that was refused and the one that has its key.
fn duplicate<T: std::fmt::Debug>(result: Result<T, Error>) -> (u32, u32) {
    let Err(Error::Order { order, source, .. }) = result else {
        panic!("{result:?}");
    };
    let Error::DuplicateKey { record, holder } = *source else {
        panic!("order {order}: {source}");
    };
    (record, holder)
}

fn is_null_key<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Order { source, .. }) if matches!(**source, Error::NullKey { .. }))
}

#[test]
fn the_header_says_it_as_visual_foxpro_does_and_it_is_read_so() {
    let shop = Shop::of(&["A", "B"]);
    assert_eq!(shop.options(), 0x64);
    assert_eq!(shop.entries(), [entry("A", 1), entry("B", 2)]);
    let mut table = shop.alone();
    table.drop_order("CODE").unwrap();
    table.create_order(&by_code().condition("!DELETED()")).unwrap();
    drop(table);
    assert_eq!(shop.options(), 0x6C);

    // A file of Visual FoxPro has no signature of Harbour's, and counts of keys where Harbour has lengths.
    let mut bytes = std::fs::read(shop.index()).unwrap();
    bytes[16..24].fill(0);
    bytes[shop.header() + 16..][..16].copy_from_slice(&[2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    std::fs::write(shop.index(), &bytes).unwrap();
    assert_eq!(shop.entries().len(), 2);
    assert_eq!(duplicate(shop.alone().append_values(&values("B"))), (3, 2));

    // The index alone does not know what table it is of: there, and with Harbour's lengths, it is the mark of a custom order.
    let alone = Index::open(shop.index(), &IndexOptions::new()).unwrap();
    assert!(alone.tags().iter().any(|tag| tag.is_custom && !tag.is_candidate));
    let header = shop.header();
    bytes[header + 16..header + 32].fill(0);
    bytes[header + 16..header + 20].copy_from_slice(&[0, 4, 0, 2]);
    std::fs::write(shop.index(), &bytes).unwrap();
    let options = IndexOptions::new().table_dialect(Dialect::VisualFoxPro);
    let custom = Index::open(shop.index(), &options).unwrap();
    assert!(custom.tags().iter().any(|tag| tag.is_custom && !tag.is_candidate));
    assert!(shop.alone().append_values(&values("B")).is_ok());
}

#[test]
fn only_the_cdx_of_a_visual_foxpro_table_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.dbf");
    let fields = [FieldSpec::new("CODE", 'C', 6, 0)];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut old = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert!(old.create_order(&by_code()).is_err());
    drop(old);
    assert!(!path.with_extension("cdx").exists());

    let shop = Shop::new();
    let table = Table::open(&shop.path, &OpenOptions::new()).unwrap();
    let build = |name: &str, order: OrderSpec| {
        let settings = KeySettings::new(CodePage::Cp1252);
        build_index(shop.folder.path().join(name), &table, &[order], &settings)
    };
    assert!(build("stock.ntx", by_code()).is_err());
    assert!(build("stock.nsx", by_code()).is_err());
    assert!(build("other.cdx", by_code().unique(true)).is_err());
    assert!(build("other.cdx", by_code().custom(true)).is_err());
    build("other.cdx", by_code()).unwrap();
}

#[test]
fn a_second_record_with_a_key_is_refused_and_nothing_is_changed() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let shop = Shop::of(&["A", "B", "C"]);
        let mut table = TableEditor::open(&shop.path, &EditOptions::new(TODAY).mode(mode)).unwrap();
        table.lock_records([1, 2, 3]).unwrap();
        table.flush().unwrap();
        let before = shop.files();
        assert_eq!(duplicate(table.append_values(&values("B"))), (4, 2));
        assert_eq!(duplicate(table.append_complete(&values("B"))), (4, 2));
        assert_eq!(
            duplicate(table.replace(3, &[(0, Value::Text("A")), (2, Value::Integer(7))])),
            (3, 1)
        );
        let bytes = table.record_bytes(1).unwrap();
        assert_eq!(duplicate(table.replace_bytes(3, &bytes, &[])), (3, 1));
        assert_eq!(duplicate(table.append_batch(&batch(&["D", "E", "D"]))), (6, 4));
        assert_eq!(duplicate(table.append_batch(&batch(&["D", "B"]))), (5, 2));
        table.flush().unwrap();
        assert!(shop.files() == before, "{mode:?}");
        assert_eq!(table.record_count(), 3);

        // Its own key, another one, and one that has become free.
        table
            .replace(3, &[(0, Value::Text("C")), (2, Value::Integer(7))])
            .unwrap();
        table.replace(3, &[(0, Value::Text("D"))]).unwrap();
        table.replace(2, &[(0, Value::Text("C"))]).unwrap();
        table.append_values(&values("B")).unwrap();
        table.append_batch(&batch(&["X", "Y"])).unwrap();
        drop(table);
        let expected = [("A", 1), ("B", 4), ("C", 2), ("D", 3), ("X", 5), ("Y", 6)];
        assert_eq!(shop.entries(), expected.map(|(code, record)| entry(code, record)));
    }
}

#[test]
fn deleted_records_keep_their_keys_unless_the_condition_leaves_them_out() {
    let shop = Shop::of(&["A", "B"]);
    let mut table = shop.alone();
    table.delete(1).unwrap();
    assert_eq!(duplicate(table.append_values(&values("A"))), (3, 1));

    table.drop_order("CODE").unwrap();
    table.create_order(&by_code().condition("!DELETED()")).unwrap();
    table.append_values(&values("A")).unwrap();
    assert_eq!(duplicate(table.recall(1)), (1, 3));
    assert!(table.is_deleted(1).unwrap());
    table.delete(3).unwrap();
    table.recall(1).unwrap();
    drop(table);
    assert_eq!(shop.entries(), [entry("A", 1), entry("B", 2)]);
}

#[test]
fn no_key_is_null() {
    let shop = Shop::of(&["A", "B"]);
    let mut table = shop.alone();
    table.replace(1, &[(1, Value::Null)]).unwrap();
    table.flush().unwrap();
    let before = shop.files();
    let by_name = OrderSpec::new("BYNAME", "UPPER(NAME)").candidate(true);
    assert!(is_null_key(&table.create_order(&by_name)));
    assert!(shop.files() == before);
    table.replace(1, &[(1, Value::Text(""))]).unwrap();
    table.create_order(&by_name).unwrap();
    assert!(is_null_key(&table.replace(2, &[(1, Value::Null)])));
    assert!(is_null_key(&table.append_values(&[(0, Value::Text("C"))])));
    // A blank one is a key as any other.
    assert_eq!(duplicate(table.replace(2, &[(1, Value::Text(""))])), (2, 1));
    assert_eq!(table.record_count(), 2);
}

#[test]
fn it_is_not_made_over_two_records_of_one_key() {
    let shop = Shop::new();
    let mut table = shop.alone();
    for code in ["A", "B", "A"] {
        table.append_values(&values(code)).unwrap();
    }
    table.flush().unwrap();
    let before = shop.files();
    assert_eq!(duplicate(table.create_order(&by_code())), (3, 1));
    assert!(shop.files() == before, "no index at first");

    table.create_order(&OrderSpec::new("CODE", "NUM")).unwrap();
    table.flush().unwrap();
    let before = shop.files();
    assert_eq!(
        duplicate(table.create_order(&OrderSpec::new("ALSO", "CODE").candidate(true))),
        (3, 1)
    );
    assert_eq!(duplicate(table.replace_order_in(shop.index(), &by_code())), (3, 1));
    assert!(shop.files() == before, "an order of the name stays");
    table.delete(3).unwrap();
    table.pack().unwrap();
    table.replace_order_in(shop.index(), &by_code()).unwrap();
    drop(table);
    assert_eq!(shop.entries(), [entry("A", 1), entry("B", 2)]);
}

#[test]
fn it_stays_one_when_the_table_is_reindexed_packed_altered_and_zapped() {
    let shop = Shop::of(&["A", "B", "C"]);
    let mut table = shop.alone();
    let is_refused = |table: &mut TableEditor| {
        assert_eq!(duplicate(table.append_values(&values("C"))).0, table.record_count() + 1);
    };
    table
        .reindex(shop.index(), &KeySettings::new(CodePage::Cp1252))
        .unwrap();
    is_refused(&mut table);
    table.delete(1).unwrap();
    table.pack().unwrap();
    is_refused(&mut table);
    let wider = Alteration::of(table.fields()).change_field("CODE", FieldSpec::new("CODE", 'C', 9, 0));
    table.alter(&wider.unwrap()).unwrap();
    is_refused(&mut table);
    drop(table);
    assert_eq!(shop.options(), 0x64);
    assert_eq!(shop.entries(), [entry("B", 1), entry("C", 2)]);
    let mut table = shop.alone();
    table.zap().unwrap();
    table.append_values(&values("C")).unwrap();
    is_refused(&mut table);
    drop(table);
    assert_eq!(shop.options(), 0x64);
}

#[test]
fn a_structure_that_gives_two_records_one_key_is_refused_before_anything_is_changed() {
    let shop = Shop::new();
    let mut table = shop.alone();
    for number in [1, 2] {
        table
            .append_values(&[(0, Value::Text("A")), (2, Value::Integer(number))])
            .unwrap();
    }
    table
        .create_order(&OrderSpec::new("BOTH", "CODE + STR(NUM)").candidate(true))
        .unwrap();
    table.flush().unwrap();
    let before = shop.files();
    // Renaming lets CODE be what NUM was.
    let blank = Alteration::of(table.fields()).drop_field("NUM").unwrap();
    let blank = blank.add_field(FieldSpec::new("NUM", 'N', 6, 0));
    assert_eq!(duplicate(table.alter(&blank)), (2, 1));
    assert!(shop.files() == before);
    assert_eq!(table.fields().len(), 3);
    table
        .append_values(&[(0, Value::Text("A")), (2, Value::Integer(3))])
        .unwrap();
}

#[test]
fn a_blank_record_has_no_key_before_it_is_filled_or_finished() {
    let shop = Shop::of(&["A"]);
    let (mut one, mut two) = (shop.shared(), shop.shared());
    let blank = |table: &mut TableEditor| {
        let mut bytes = table.blank_record();
        table.append_record(&mut bytes).unwrap()
    };
    // Both are about to fill theirs.
    let (first, second) = (blank(&mut one), blank(&mut two));
    assert_eq!((first, second), (2, 3));
    // Others open the table meanwhile, and when a program has died there.
    drop(shop.shared());
    one.replace(first, &values("B")).unwrap();
    assert_eq!(duplicate(two.replace(second, &values("B"))), (3, 2));
    two.finish_appended(second).unwrap();
    let third = blank(&mut one);
    assert_eq!(duplicate(one.finish_appended(third)), (4, 3));
    // Given up: the record is deleted, and has no key.
    one.delete(third).unwrap();
    one.unlock_all().unwrap();
    two.replace(second, &values("C")).unwrap();
    two.unlock_all().unwrap();
    let fourth = blank(&mut two);
    two.finish_appended(fourth).unwrap();
    one.refresh().unwrap();
    one.lock_record(third).unwrap();
    assert_eq!(duplicate(one.recall(third)), (4, 5));
    one.unlock_all().unwrap();
    drop((one, two));
    let expected = [("", 5), ("A", 1), ("B", 2), ("C", 3)];
    assert_eq!(shop.entries(), expected.map(|(code, record)| entry(code, record)));

    // Making the index anew takes in what was given up, as in ADS.
    let mut table = shop.alone();
    let before = shop.files();
    let reindexed = table.reindex(shop.index(), &KeySettings::new(CodePage::Cp1252));
    assert_eq!(duplicate(reindexed), (5, 4));
    assert!(shop.files() == before);
    table.pack().unwrap();
    table
        .reindex(shop.index(), &KeySettings::new(CodePage::Cp1252))
        .unwrap();
    drop(table);
    assert_eq!(shop.entries().len(), 4);
}

/// How far the orders answer a condition on the code, as a pass over the records does, and what they know of code B.
fn answered(shop: &Shop) -> (OptimizationLevel, Option<Vec<u32>>) {
    let table = Arc::new(Table::open(&shop.path, &OpenOptions::new()).unwrap());
    let index = TableIndex::open(shop.index(), &table, &KeySettings::new(table.codepage())).unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let environment = Environment::new(table.codepage());
    let mut levels = ["CODE = 'B'", "CODE > 'A'", "CODE <> 'B'", "CODE = ''", "!DELETED()"].map(|text| {
        let filter = Filter::new(text, &table, &environment).unwrap();
        let found = filter.bitmap_by(&table, &orders).unwrap();
        assert_eq!(found, filter.bitmap(&table).unwrap(), "{text}");
        filter.level(&table, &orders)
    });
    let whole = index.order("CODE").expect("the order").order();
    let has_each = whole.has_each(table.record_count()).unwrap();
    assert!(!whole.has_each(table.record_count() + 1).unwrap());
    // None has the flag of deletion.
    assert_eq!(levels[4], OptimizationLevel::None);
    levels[4] = levels[0];
    assert_eq!(levels, [levels[0]; 5]);
    let known = orders
        .records_with(&table, 0, &KeyValue::Character(b"B     "), 9)
        .unwrap();
    assert_eq!(known.is_some(), levels[0] == OptimizationLevel::Full);
    assert!(has_each || known.is_none());
    (levels[0], known)
}

#[test]
fn conditions_are_looked_up_in_one_that_has_every_record_and_in_no_other() {
    use OptimizationLevel::{Full, None};
    let shop = Shop::of(&["A", "B", "C"]);
    assert_eq!(answered(&shop), (Full, Some(vec![2])));
    let mut table = shop.alone();
    // A deleted record keeps its key.
    table.delete(2).unwrap();
    table.append_values(&values("D")).unwrap();
    table.flush().unwrap();
    assert_eq!(answered(&shop), (Full, Some(vec![2])));
    // One that was given up has none.
    let mut bytes = table.blank_record();
    let given_up = table.append_record(&mut bytes).unwrap();
    table.delete(given_up).unwrap();
    table.flush().unwrap();
    assert_eq!(answered(&shop), (None, Option::None));
    table.pack().unwrap();
    assert_eq!(answered(&shop), (Full, Some(vec![])));
    // Nor has a second one of a key.
    table.append_values(&values("B")).unwrap();
    table.enforce_candidates(false);
    table.append_values(&values("B")).unwrap();
    table.flush().unwrap();
    assert_eq!(answered(&shop), (None, Option::None));
    table.replace(5, &values("E")).unwrap();
    table.flush().unwrap();
    assert_eq!(answered(&shop), (Full, Some(vec![4])));
    // A condition may leave records out, though it does not.
    table.drop_order("CODE").unwrap();
    table.create_order(&by_code().condition("!DELETED()")).unwrap();
    table.flush().unwrap();
    assert_eq!(answered(&shop), (None, Option::None));
}

#[test]
fn a_duplicate_of_another_program_can_be_deleted_and_given_another_key() {
    let shop = Shop::of(&["A", "B"]);
    // Without its index, as by a program that does not know it.
    let options = EditOptions::new(TODAY).production_index(false);
    let mut blind = TableEditor::open(&shop.path, &options).unwrap();
    blind.replace(1, &values("B")).unwrap();
    drop(blind);
    let mut table = shop.alone();
    assert_eq!(duplicate(table.replace(1, &[(2, Value::Integer(1))])), (1, 2));
    table.delete(1).unwrap();
    table.replace(1, &values("C")).unwrap();
    table.recall(1).unwrap();
    assert_eq!(duplicate(table.replace(2, &values("C"))), (2, 1));
}

#[test]
fn nothing_is_refused_where_it_is_not_to_be_enforced() {
    let shop = Shop::of(&["A", "B"]);
    let mut table = shop.alone();
    table.enforce_candidates(false);
    table.append_values(&values("B")).unwrap();
    table.replace(1, &[(0, Value::Text("B"))]).unwrap();
    let again = |table: &mut TableEditor| table.reindex(shop.index(), &KeySettings::new(CodePage::Cp1252));
    assert_eq!(duplicate(again(&mut table)), (2, 1));
    table.enforce_candidates(true);
    assert_eq!(duplicate(table.append_values(&values("B"))), (4, 2));
    assert_eq!(duplicate(table.replace(3, &[(2, Value::Integer(5))])), (3, 2));
    table.replace(3, &[(0, Value::Text("C"))]).unwrap();
    table.replace(1, &[(0, Value::Text("A"))]).unwrap();
    drop(table);
    assert_eq!(shop.entries(), [entry("A", 1), entry("B", 2), entry("C", 3)]);
}

#[test]
fn a_transaction_holds_its_keys_until_its_end() {
    let shop = Shop::of(&["A"]);
    let log = TransactionLog::open(shop.folder.path().join("log"), &LogOptions::new()).unwrap();
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared);
    let mut table = TableEditor::open(&shop.path, &options.clone().log(&log)).unwrap();
    let impatient = options.clone().lock_timeout(std::time::Duration::ZERO);
    let mut other = TableEditor::open(&shop.path, &impatient).unwrap();
    for is_committed in [false, true] {
        let transaction = log.begin().unwrap();
        let record = table.append_values(&values("B")).unwrap();
        assert_eq!(duplicate(table.append_values(&values("B"))), (record + 1, record));
        // What was refused has taken nothing back.
        table.append_values(&values("C")).unwrap();
        other.lock_record(1).unwrap();
        let refused = other.replace(1, &values("B"));
        assert!(matches!(refused, Err(Error::Locked(_))), "{refused:?}");
        other.unlock_all().unwrap();
        match is_committed {
            true => transaction.commit().unwrap(),
            false => transaction.rollback().unwrap(),
        }
        table.unlock_all().unwrap();
    }
    other.lock_record(1).unwrap();
    assert_eq!(duplicate(other.replace(1, &values("B"))), (1, 2));
    other.unlock_all().unwrap();
    assert_eq!(duplicate(table.append_values(&values("C"))), (4, 3));
    log.checkpoint().unwrap();
    drop(table);
    assert_eq!(shop.entries(), [entry("A", 1), entry("B", 2), entry("C", 3)]);
}

const ROLE: &str = "TIDEMILL_XBASE_CANDIDATES";
const PROCESSES: usize = 4;
const KEYS: u32 = 300;

/// Each process tries to append every key, in an order of its own: each key gets in once, by whoever is first.
#[test]
fn of_several_processes_one_gets_a_key_in() {
    if let Some(role) = std::env::var_os(ROLE) {
        let role = role.into_string().unwrap();
        let (step, path) = role.split_once(' ').unwrap();
        println!("won {}", append_all(Path::new(path), step.parse().unwrap()));
        return;
    }
    let shop = Shop::of(&[]);
    let children: Vec<_> = [1, 7, 11, 13]
        .iter()
        .map(|step| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "candidates::of_several_processes_one_gets_a_key_in",
                    "--nocapture",
                ])
                .env(ROLE, format!("{step} {}", shop.path.display()))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    assert_eq!(children.len(), PROCESSES);
    let mut won = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix("won "));
        won += line.unwrap().parse::<u32>().unwrap();
    }
    assert_eq!(won, KEYS);
    let entries = shop.entries();
    assert_eq!(entries.len(), KEYS as usize);
    assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!(
        Table::open(&shop.path, &OpenOptions::new()).unwrap().record_count(),
        KEYS
    );
}

/// How many of the keys this process got in.
fn append_all(path: &Path, step: u32) -> u32 {
    let mut table = TableEditor::open(path, &EditOptions::new(TODAY).mode(OpenMode::Shared)).unwrap();
    let mut won = 0;
    for turn in 0..KEYS {
        let code = format!("K{}", turn * step % KEYS);
        match table.append_values(&values(&code)) {
            Ok(record) => {
                table.unlock_record(record).unwrap();
                won += 1;
            }
            refused => _ = duplicate(refused),
        }
    }
    won
}

fn batch(codes: &[&str]) -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("CODE", Arc::new(StringArray::from(codes.to_vec()))),
        ("NAME", Arc::new(StringArray::from(vec!["n"; codes.len()]))),
        ("NUM", Arc::new(Int64Array::from(vec![0; codes.len()]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[derive(Debug, Clone)]
enum Step {
    Append(u8),
    Replace(u8, u8),
    Delete(u8),
    Recall(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<u8>().prop_map(Step::Append),
        any::<(u8, u8)>().prop_map(|(record, code)| Step::Replace(record, code)),
        any::<u8>().prop_map(Step::Delete),
        any::<u8>().prop_map(Step::Recall),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// With the condition and without it: what a map of keys allows is done, and nothing else.
    #[test]
    fn it_allows_what_a_map_of_keys_allows(steps in prop::collection::vec(step(), 1..80), with_condition: bool) {
        let shop = Shop::new();
        let mut table = shop.alone();
        let order = match with_condition {
            true => by_code().condition("!DELETED()"),
            false => by_code(),
        };
        table.create_order(&order).unwrap();
        // Each record's code, and whether it is deleted.
        let mut records: Vec<(u8, bool)> = Vec::new();
        for step in steps {
            let at = |record: u8| usize::from(record) % records.len().max(1);
            let name = |code: u8| format!("C{}", code % 24);
            let (changed, done): (Option<(usize, (u8, bool))>, _) = match step {
                Step::Append(code) => {
                    (Some((records.len(), (code % 24, false))), table.append_values(&values(&name(code))).map(drop))
                }
                _ if records.is_empty() => continue,
                Step::Replace(record, code) => {
                    let place = at(record);
                    let done = table.replace(place as u32 + 1, &[(0, Value::Text(&name(code)))]);
                    (Some((place, (code % 24, records[place].1))), done)
                }
                Step::Delete(record) => {
                    (Some((at(record), (records[at(record)].0, true))), table.delete(at(record) as u32 + 1))
                }
                Step::Recall(record) => {
                    (Some((at(record), (records[at(record)].0, false))), table.recall(at(record) as u32 + 1))
                }
            };
            let (place, new) = changed.unwrap();
            let counts = |(_, is_deleted): &(u8, bool)| !with_condition || !is_deleted;
            let is_free = !counts(&new) || !records.iter().enumerate().any(|(other, known)| {
                other != place && counts(known) && known.0 == new.0
            });
            prop_assert_eq!(done.is_ok(), is_free, "{:?}", done);
            if is_free {
                match records.get_mut(place) {
                    Some(record) => *record = new,
                    None => records.push(new),
                }
            } else {
                duplicate(done);
            }
        }
        drop(table);
        let mut expected: Vec<_> = records.iter().zip(1..).filter(|((_, is_deleted), _)| !with_condition || !is_deleted)
            .map(|((code, _), record)| entry(&format!("C{code}"), record)).collect();
        expected.sort();
        prop_assert_eq!(shop.entries(), expected);
    }
}
