//! Orders that follow the changes of their table.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::Environment;
use tidemill_xbase::expression::RecordBytes;
use tidemill_xbase::index::{Direction, Index, IndexDialect, IndexOptions, KeyValue, OrderSpec};
use tidemill_xbase::{
    BuildOptions, CivilDate, CodePage, CreateOptions, EditOptions, Error, FieldSpec, KeySettings, OpenMode,
    OpenOptions, OrderKeys, Table, TableEditor, TableIndex, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// The generator that the golden files were made with: its product was a double.
struct Harbour(f64);

impl Harbour {
    fn rnd(&mut self, below: i64) -> i64 {
        self.0 = (self.0 * 1_103_515_245.0 + 12_345.0) % 2_147_483_648.0;
        (self.0 / 65_536.0) as i64 % below
    }

    fn word(&mut self, most: i64) -> String {
        let letters = 1 + self.rnd(most);
        (0..letters)
            .map(|_| {
                let base = if self.rnd(4) == 0 { b'A' } else { b'a' };
                char::from(base + u8::try_from(self.rnd(26)).unwrap())
            })
            .collect()
    }

    fn code(&mut self) -> String {
        let mut letter = || char::from(b'A' + u8::try_from(self.rnd(6)).unwrap());
        let (first, second) = (letter(), letter());
        format!("{first}{second}{}.", self.rnd(10))
    }

    fn amount(&mut self) -> Value<'static> {
        Value::Decimal {
            unscaled: i128::from(self.rnd(30_000) - 15_000),
            scale: 2,
        }
    }

    fn row(&mut self, id: i64) -> Row {
        let mut values = vec![(0, Value::Integer(id))];
        let name = if self.rnd(20) == 0 {
            String::new()
        } else {
            self.word(15)
        };
        let code = self.code();
        if self.rnd(25) != 0 {
            values.push((3, self.amount()));
        }
        if self.rnd(15) != 0 {
            // Days from 1999-01-01.
            values.push((4, Value::Date(10_592 + i32::try_from(self.rnd(4000)).unwrap())));
        }
        values.push((5, Value::Logical(self.rnd(2) == 0)));
        (name, code, values, self.rnd(12) == 0)
    }
}

/// Name, code, the other values, and whether the record is deleted.
type Row = (String, String, Vec<(usize, Value<'static>)>, bool);

fn fields() -> [FieldSpec; 6] {
    [
        FieldSpec::new("ID", 'N', 8, 0),
        FieldSpec::new("NAME", 'C', 15, 0),
        FieldSpec::new("CODE", 'C', 4, 0),
        FieldSpec::new("NUM", 'N', 10, 2),
        FieldSpec::new("DAT", 'D', 8, 0),
        FieldSpec::new("LOG", 'L', 1, 0),
    ]
}

fn orders() -> Vec<OrderSpec> {
    vec![
        OrderSpec::new("T_NAME", "NAME"),
        OrderSpec::new("T_CODE", "CODE"),
        OrderSpec::new("T_CODEU", "CODE").unique(true),
        OrderSpec::new("T_NUM", "NUM").descending(true),
        OrderSpec::new("T_DAT", "DAT"),
        OrderSpec::new("T_FOR", "UPPER(NAME)").condition("NUM > 0"),
    ]
}

#[test]
fn the_changes_that_harbour_made_give_the_orders_that_harbour_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("upd_cdx.dbf");
    TableWriter::create(&path, &fields(), &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for order in orders() {
        table.create_order(&order).unwrap();
    }
    let mut random = Harbour(99.0);
    for n in 1..=3000 {
        let choice = random.rnd(10);
        if choice < 5 || table.record_count() < 50 {
            let (name, code, mut values, is_deleted) = random.row(n);
            values.extend([(1, Value::Text(&name)), (2, Value::Text(&code))]);
            let record = table.append_values(&values).unwrap();
            if is_deleted {
                table.delete(record).unwrap();
            }
            continue;
        }
        let record = 1 + u32::try_from(random.rnd(table.record_count().into())).unwrap();
        if choice < 9 {
            let (name, amount, code) = (random.word(15), random.amount(), random.code());
            let values = [(1, Value::Text(&name)), (3, amount), (2, Value::Text(&code))];
            table.replace(record, &values).unwrap();
        } else if table.is_deleted(record).unwrap() {
            table.recall(record).unwrap();
        } else {
            table.delete(record).unwrap();
        }
    }
    let golden = fs::read(corpus("upd_cdx.dbf")).unwrap();
    let header_len = usize::from(u16::from_le_bytes([golden[8], golden[9]]));
    let stride = table.header().record_len as usize;
    assert_eq!(table.record_count(), 1595);
    for record in 1..=table.record_count() {
        let expected = &golden[header_len + (record as usize - 1) * stride..][..stride];
        assert_eq!(table.record_bytes(record).unwrap(), expected, "record {record}");
    }
    table.sync().unwrap();
    let made = Index::open(folder.path().join("upd_cdx.cdx"), &IndexOptions::new()).unwrap();
    let golden = Index::open(corpus("upd_cdx.cdx"), &IndexOptions::new()).unwrap();
    let mut entries = 0;
    for tag in golden.tags() {
        let order = table.order(&tag.name).unwrap();
        let (key_type, collation) = (order.keys().key_type(), Default::default());
        let walk = |index: &Index| -> Vec<(Vec<u8>, u32)> {
            let order = index.order(&tag.name, key_type, &collation).unwrap();
            assert_eq!(
                index
                    .verify(std::slice::from_ref(&order), Some(table.record_count()))
                    .unwrap(),
                []
            );
            let walk = order.walk(Direction::Forward).map(Result::unwrap);
            walk.map(|entry| (entry.key().to_vec(), entry.recno())).collect()
        };
        let (made, golden) = (walk(&made), walk(&golden));
        assert!(
            made == golden,
            "{}: {} entries, not {}",
            tag.name,
            made.len(),
            golden.len()
        );
        entries += made.len();
    }
    assert_eq!(entries, 7279, "entries of all six orders");
}

/// A table with six orders in a format, open once or, beside others, twice.
struct Indexed {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
    editors: Vec<TableEditor>,
    settings: KeySettings,
}

impl Indexed {
    fn new(dialect: IndexDialect, mode: OpenMode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.dbf");
        TableWriter::create(&path, &fields(), &CreateOptions::new(TODAY))
            .unwrap()
            .finish()
            .unwrap();
        let settings = KeySettings::new(CodePage::Cp437);
        let table = Table::open(&path, &OpenOptions::new()).unwrap();
        let files: Vec<PathBuf> = match dialect {
            IndexDialect::Cdx => {
                let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
                for order in orders() {
                    table.create_order(&order).unwrap();
                }
                vec![folder.path().join("t.cdx")]
            }
            IndexDialect::Nsx => {
                let file = folder.path().join("t.nsx");
                build_index(&file, &table, &orders(), &settings).unwrap();
                vec![file]
            }
            _ => orders()
                .iter()
                .map(|order| {
                    let file = folder.path().join(order.name()).with_extension("ntx");
                    build_index(&file, &table, std::slice::from_ref(order), &settings).unwrap();
                    file
                })
                .collect(),
        };
        let options = EditOptions::new(TODAY).mode(mode);
        let open = |_| {
            let mut editor = TableEditor::open(&path, &options).unwrap();
            if dialect != IndexDialect::Cdx {
                files.iter().for_each(|file| editor.open_index(file).unwrap());
            }
            assert_eq!(editor.orders().count(), 6);
            editor
        };
        let editors = (0..if mode == OpenMode::Shared { 2 } else { 1 }).map(open).collect();
        Self {
            folder,
            files,
            editors,
            settings,
        }
    }

    fn table(&self) -> Table {
        Table::open(self.folder.path().join("t.dbf"), &OpenOptions::new()).unwrap()
    }

    /// Every order has the keys of its records, and that of unique ones the entries given.
    fn check(&mut self, unique: &BTreeSet<(Vec<u8>, u32)>, why: &str) {
        for editor in &mut self.editors {
            editor.flush().unwrap();
        }
        let table = self.table();
        let mut orders = 0;
        for file in &self.files {
            let index = TableIndex::open(file, &table, &self.settings).unwrap();
            assert_eq!(index.verify(&table).unwrap(), [], "{why}");
            for order in index.orders() {
                orders += 1;
                if order.order().tag().is_unique {
                    let walk = order.order().walk(Direction::Forward).map(Result::unwrap);
                    let found: BTreeSet<_> = walk.map(|entry| (entry.key().to_vec(), entry.recno())).collect();
                    assert_eq!(found, *unique, "{why}");
                }
            }
        }
        assert_eq!(orders, 6);
    }
}

/// Changes a table at random, and looks at its orders after every sixty changes.
fn check_upkeep(dialect: IndexDialect, mode: OpenMode, seed: u32) {
    let mut indexed = Indexed::new(dialect, mode);
    let layout = indexed.table();
    let keys = OrderKeys::compile("CODE", None, dialect, layout.fields(), &indexed.settings).unwrap();
    let key = |record: u32, bytes: &[u8]| keys.key(&RecordBytes::new(&layout, record, bytes)).unwrap().unwrap();
    let mut unique: BTreeSet<(Vec<u8>, u32)> = BTreeSet::new();
    let add = |unique: &mut BTreeSet<(Vec<u8>, u32)>, entry: (Vec<u8>, u32)| {
        if unique
            .range((entry.0.clone(), 0)..)
            .next()
            .is_none_or(|first| first.0 != entry.0)
        {
            unique.insert(entry);
        }
    };
    let mut random = Harbour(f64::from(seed % 100_000));
    for change in 1..=600 {
        let why = format!("{dialect:?} {mode:?} seed {seed}, change {change}");
        let at = usize::try_from(random.rnd(indexed.editors.len() as i64)).unwrap();
        let editor = &mut indexed.editors[at];
        let count = editor.refresh().unwrap();
        let choice = random.rnd(20);
        if choice < 6 || count < 5 {
            let (name, code, mut values, _) = random.row(change);
            values.extend([(1, Value::Text(&name)), (2, Value::Text(&code))]);
            let record = editor.append_values(&values).unwrap();
            add(
                &mut unique,
                (key(record, &editor.record_bytes(record).unwrap()), record),
            );
            editor.unlock_all().unwrap();
        } else if choice == 6 {
            let rows: Vec<_> = (0..1 + random.rnd(40)).map(|_| random.row(change)).collect();
            for record in editor.append_batch(&batch(&rows)).unwrap() {
                add(
                    &mut unique,
                    (key(record, &editor.record_bytes(record).unwrap()), record),
                );
            }
        } else if choice == 7 && mode == OpenMode::Exclusive && random.rnd(4) == 0 {
            if random.rnd(3) == 0 {
                editor.zap().unwrap();
            } else {
                editor.pack().unwrap();
            }
            unique.clear();
            for record in 1..=editor.record_count() {
                add(
                    &mut unique,
                    (key(record, &editor.record_bytes(record).unwrap()), record),
                );
            }
        } else {
            let record = 1 + u32::try_from(random.rnd(count.into())).unwrap();
            editor.lock_records([record]).unwrap();
            let before = key(record, &editor.record_bytes(record).unwrap());
            match choice {
                8..15 => {
                    let (name, amount, code) = (random.word(15), random.amount(), random.code());
                    let values = [(1, Value::Text(&name)), (3, amount), (2, Value::Text(&code))];
                    let changed = 1 + usize::try_from(random.rnd(3)).unwrap();
                    editor.replace(record, &values[..changed]).unwrap();
                }
                15..18 => editor.delete(record).unwrap(),
                _ => editor.recall(record).unwrap(),
            }
            let after = key(record, &editor.record_bytes(record).unwrap());
            if before != after {
                unique.remove(&(before, record));
                add(&mut unique, (after, record));
            }
            editor.unlock_all().unwrap();
        }
        if change % 60 == 0 {
            indexed.check(&unique, &why);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn random_changes_of_a_table_leave_every_order_as_its_records_give_it(seed: u32) {
        for dialect in [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx] {
            for mode in [OpenMode::Exclusive, OpenMode::Shared] {
                check_upkeep(dialect, mode, seed);
            }
        }
    }
}

/// Rows as columns.
fn batch(rows: &[Row]) -> RecordBatch {
    let of = |field: usize| {
        let given = move |row: &Row| row.2.iter().find(|(at, _)| *at == field).map(|(_, value)| *value);
        rows.iter().map(given)
    };
    let integers = of(0).map(|value| match value {
        Some(Value::Integer(id)) => Some(id),
        _ => None,
    });
    let amounts = of(3).map(|value| match value {
        Some(Value::Decimal { unscaled, .. }) => Some(unscaled),
        _ => None,
    });
    let days = of(4).map(|value| match value {
        Some(Value::Date(day)) => Some(day),
        _ => None,
    });
    let flags = of(5).map(|value| match value {
        Some(Value::Logical(flag)) => Some(flag),
        _ => None,
    });
    let amounts: Decimal128Array = amounts.collect();
    let columns: [(&str, ArrayRef); 6] = [
        ("ID", Arc::new(integers.collect::<Int64Array>())),
        (
            "NAME",
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.0))),
        ),
        (
            "CODE",
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.1))),
        ),
        ("NUM", Arc::new(amounts.with_precision_and_scale(12, 2).unwrap())),
        ("DAT", Arc::new(days.collect::<Date32Array>())),
        ("LOG", Arc::new(flags.collect::<BooleanArray>())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn a_table_that_changed_without_its_index_is_noticed_when_it_is_opened() {
    let mut indexed = Indexed::new(IndexDialect::Cdx, OpenMode::Exclusive);
    for id in 1..=10 {
        indexed.editors[0].append_values(&[(0, Value::Integer(id))]).unwrap();
    }
    indexed.editors.clear();
    let path = indexed.folder.path().join("t.dbf");
    let options = EditOptions::new(TODAY);
    let alone = || TableEditor::open(&path, &options.clone().production_index(false)).unwrap();
    alone().append().unwrap();
    let stale = |found: u64, records: u32, mode: OpenMode| match TableEditor::open(&path, &options.clone().mode(mode)) {
        Err(Error::StaleIndex {
            path,
            order,
            entries,
            records: there,
        }) => {
            assert!(path.ends_with("t.cdx") && order == "T_CODE");
            assert_eq!((entries, there), (found, records));
        }
        other => panic!("{other:?}"),
    };
    stale(10, 11, OpenMode::Exclusive);
    stale(10, 11, OpenMode::Shared);
    let mut table = alone();
    for record in [3, 4, 5] {
        table.delete(record).unwrap();
    }
    table.pack().unwrap();
    drop(table);
    stale(10, 8, OpenMode::Exclusive);
    stale(10, 8, OpenMode::Shared);
    alone()
        .reindex(indexed.folder.path().join("t.cdx"), &indexed.settings)
        .unwrap();
    let mut reader = TableEditor::open(&path, &options.mode(OpenMode::ReadOnly)).unwrap();
    assert_eq!(reader.order("T_NAME").unwrap().order().key_count().unwrap(), 8);
}

#[test]
fn orders_are_made_and_dropped_in_the_production_index() {
    let mut indexed = Indexed::new(IndexDialect::Cdx, OpenMode::Exclusive);
    let cdx = indexed.folder.path().join("t.cdx");
    let path = indexed.folder.path().join("t.dbf");
    let mut random = Harbour(7.0);
    let flag = || fs::read(&path).unwrap()[28];
    assert_eq!(flag(), 1);
    let table = &mut indexed.editors[0];
    for id in 1..=500 {
        let (name, code, mut values, _) = random.row(id);
        values.extend([(1, Value::Text(&name)), (2, Value::Text(&code))]);
        table.append_values(&values).unwrap();
    }
    let length = || fs::metadata(&cdx).unwrap().len();
    let mut lengths = vec![length()];
    for round in 0..8 {
        for order in ["T_NAME", "T_FOR", "T_CODEU"] {
            table.drop_order(order).unwrap();
        }
        assert!(matches!(table.drop_order("T_NAME"), Err(Error::Misuse(_))));
        table.append_values(&[(1, Value::Text("Zoe"))]).unwrap();
        for order in orders()
            .iter()
            .filter(|order| ["T_NAME", "T_FOR", "T_CODEU"].contains(&order.name()))
        {
            table.create_order(order).unwrap();
            assert!(table.create_order(order).is_err(), "twice");
        }
        table.flush().unwrap();
        let layout = Table::open(&path, &OpenOptions::new()).unwrap();
        let index = TableIndex::open(&cdx, &layout, &indexed.settings).unwrap();
        assert_eq!(index.verify(&layout).unwrap(), [], "round {round}");
        assert_eq!(index.orders().len(), 6);
        lengths.push(length());
    }
    // New orders take the pages of the old ones.
    assert!(lengths[1..].iter().all(|len| *len == lengths[1]), "{lengths:?}");
    let sought = table.order("t_for").unwrap();
    let (layout, tag) = (Arc::new(indexed.table()), sought.order().tag());
    let environment = Environment::new(layout.codepage());
    let chosen = Filter::new(tag.condition.as_deref().unwrap(), &layout, &environment).unwrap();
    let chosen = chosen.bitmap(&layout).unwrap().count();
    assert_eq!(sought.order().key_count().unwrap(), u64::from(chosen));
    assert!(matches!(indexed.editors[0].order("NONE"), Err(Error::Misuse(_))));
    for order in orders() {
        indexed.editors[0].drop_order(order.name()).unwrap();
    }
    assert!(!cdx.exists());
    assert_eq!((flag(), indexed.editors[0].orders().count()), (0, 0));
    let none = OrderSpec::new("BAD", "NAME + ID");
    assert!(matches!(
        indexed.editors[0].create_order(&none),
        Err(Error::Order { .. })
    ));
    assert!(!cdx.exists());
}

#[test]
fn orders_are_made_and_dropped_in_an_nsx() {
    let mut indexed = Indexed::new(IndexDialect::Nsx, OpenMode::Exclusive);
    let table = &mut indexed.editors[0];
    for id in 1..=300 {
        table
            .append_values(&[(0, Value::Integer(id)), (1, Value::Text("abc"))])
            .unwrap();
    }
    let file = indexed.files[0].clone();
    let settings = indexed.settings.clone();
    let check = |table: &mut TableEditor, orders: usize| {
        table.flush().unwrap();
        let layout = Table::open(table.path(), &OpenOptions::new()).unwrap();
        let index = TableIndex::open(&file, &layout, &settings).unwrap();
        assert_eq!(
            (index.orders().len(), index.verify(&layout).unwrap()),
            (orders, Vec::new())
        );
    };
    for round in 0..3 {
        table.drop_order("T_CODE").unwrap();
        table.append_values(&[(0, Value::Integer(9))]).unwrap();
        check(table, 5);
        table.create_order_in(&file, &OrderSpec::new("T_CODE", "CODE")).unwrap();
        table
            .append_values(&[(0, Value::Integer(round)), (2, Value::Text("X"))])
            .unwrap();
        check(table, 6);
        assert!(table.create_order_in(&file, &OrderSpec::new("t_code", "CODE")).is_err());
    }
    assert!(matches!(
        table.create_order_in("other.nsx", &OrderSpec::new("A", "ID")),
        Err(Error::Misuse(_))
    ));
    let too_many = (0..50).map(|number| table.create_order_in(&file, &OrderSpec::new(format!("N{number}"), "ID")));
    assert_eq!(too_many.filter(Result::is_ok).count(), 44);
    check(table, 50);
    let ntx = Indexed::new(IndexDialect::Ntx, OpenMode::Exclusive);
    let (mut editors, files) = (ntx.editors, ntx.files);
    let second = editors[0].create_order_in(&files[0], &OrderSpec::new("SECOND", "ID"));
    assert!(matches!(second, Err(Error::Order { .. })));
}

#[test]
fn entries_of_a_custom_order_are_the_programs() {
    for dialect in [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx] {
        let mut indexed = Indexed::new(dialect, OpenMode::Exclusive);
        let path = indexed
            .folder
            .path()
            .join("own")
            .with_extension(format!("{dialect:?}").to_lowercase());
        let own = OrderSpec::new("OWN", "CODE").custom(true);
        build_index(&path, &indexed.table(), std::slice::from_ref(&own), &indexed.settings).unwrap();
        let table = &mut indexed.editors[0];
        table.open_index(&path).unwrap();
        assert!(table.open_index(&path).is_err(), "twice");
        for code in ["B", "A", "C"] {
            table.append_values(&[(2, Value::Text(code))]).unwrap();
        }
        assert!(table.add_custom_key("own", 3, None).unwrap());
        assert!(
            table
                .add_custom_key("own", 1, Some(&KeyValue::Character(b"X")))
                .unwrap()
        );
        assert!(!table.drop_custom_key("own", 2, None).unwrap());
        assert!(table.add_custom_key("own", 2, None).unwrap());
        table.replace(2, &[(2, Value::Text("Q"))]).unwrap();
        assert!(table.add_custom_key("T_CODE", 2, None).is_err());
        assert!(table.add_custom_key("own", 4, None).is_err());
        assert!(table.add_custom_key("own", 2, Some(&KeyValue::Integer(1))).is_err());
        let walk = |table: &mut TableEditor| -> Vec<u32> {
            let order = table.order("OWN").unwrap();
            order
                .order()
                .walk(Direction::Forward)
                .map(|entry| entry.unwrap().recno())
                .collect()
        };
        assert_eq!(walk(table), [2, 3, 1], "{dialect:?}");
        assert!(table.drop_custom_key("own", 3, None).unwrap());
        assert_eq!(walk(table), [2, 1]);
        assert!(table.close_index(&path).unwrap());
        assert!(!table.close_index(&path).unwrap());
    }
}

#[test]
fn a_record_whose_key_cannot_be_made_is_not_written() {
    let mut indexed = Indexed::new(IndexDialect::Ntx, OpenMode::Exclusive);
    let path = indexed.folder.path().join("square.ntx");
    build_index(
        &path,
        &indexed.table(),
        &[OrderSpec::new("SQUARE", "ID * ID")],
        &indexed.settings,
    )
    .unwrap();
    let table = &mut indexed.editors[0];
    table.open_index(&path).unwrap();
    let (small, large) = ([(0, Value::Integer(3))], [(0, Value::Integer(99_999_999))]);
    table.append_values(&small).unwrap();
    let before = fs::read(table.path()).unwrap();
    for error in [
        table.append_values(&large).unwrap_err(),
        table.replace(1, &large).unwrap_err(),
    ] {
        let is_named = |error: &Error| matches!(error, Error::Order { order, .. } if order == "SQUARE");
        assert!(is_named(&error), "{error}");
    }
    assert_eq!((table.record_count(), fs::read(table.path()).unwrap()), (1, before));
    table.append_values(&small).unwrap();
    assert_eq!(table.order("SQUARE").unwrap().order().key_count().unwrap(), 2);
}

#[test]
fn an_order_that_is_stopped_is_not_there_and_little_memory_makes_the_same() {
    let (indexed, path) = indexed_with_many();
    let cdx = fs::read(&indexed.files[0]).unwrap();
    let stopping = BuildOptions::new().progress(|order, progress| {
        assert_eq!((order, progress.keys), ("MORE", 4096));
        ControlFlow::Break(())
    });
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).build(stopping)).unwrap();
    let more = OrderSpec::new("MORE", "NAME");
    assert!(matches!(table.create_order(&more), Err(Error::Cancelled)));
    table.flush().unwrap();
    assert!(fs::read(&indexed.files[0]).unwrap() == cdx);
    drop(table);

    let little = EditOptions::new(TODAY).build(BuildOptions::new().memory_limit(20_000));
    let mut table = TableEditor::open(&path, &little).unwrap();
    table.create_order(&more).unwrap();
    assert!(matches!(table.create_order(&more), Err(Error::Order { .. })), "twice");
    drop(table);
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let index = TableIndex::open(&indexed.files[0], &table, &indexed.settings).unwrap();
    assert_eq!((index.orders().len(), index.verify(&table).unwrap()), (7, Vec::new()));
}

#[test]
fn an_order_gives_way_to_another_of_its_name_or_stays_as_it_was() {
    let (indexed, path) = indexed_with_many();
    let cdx = fs::read(&indexed.files[0]).unwrap();
    let stopping = BuildOptions::new().progress(|_, _| ControlFlow::Break(()));
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).build(stopping)).unwrap();
    let tags: Vec<_> = table.orders().map(|tag| tag.name.clone()).collect();
    let other = OrderSpec::new(&tags[0], "SUBSTR(NAME, 3)");
    assert!(matches!(
        table.replace_order_in(&indexed.files[0], &other),
        Err(Error::Cancelled)
    ));
    drop(table);
    assert!(fs::read(&indexed.files[0]).unwrap() == cdx);

    // Who is told can stop it while keys are taken in, and no more when the old order is gone.
    let late = BuildOptions::new().progress(|_, progress| match progress.total {
        None => ControlFlow::Continue(()),
        Some(_) => ControlFlow::Break(()),
    });
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).build(late)).unwrap();
    table.replace_order_in(&indexed.files[0], &other).unwrap();
    assert_eq!(
        table.order(&tags[0]).unwrap().order().tag().expression,
        "SUBSTR(NAME, 3)"
    );
    table.append_values(&[(1, Value::Text("N-more"))]).unwrap();
    drop(table);
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let index = TableIndex::open(&indexed.files[0], &table, &indexed.settings).unwrap();
    assert_eq!(
        (index.orders().len(), index.verify(&table).unwrap()),
        (tags.len(), Vec::new())
    );
}

#[test]
fn packing_can_be_stopped_and_leaves_table_and_index_as_they_were() {
    let (indexed, path) = indexed_with_many();
    let files = || [fs::read(&path).unwrap(), fs::read(&indexed.files[0]).unwrap()];
    let open = |stops_at: &'static str| {
        let build = BuildOptions::new().progress(move |order, _| match order.is_empty() == stops_at.is_empty() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        TableEditor::open(&path, &EditOptions::new(TODAY).build(build)).unwrap()
    };
    let mut table = open("");
    table.delete(17).unwrap();
    table.flush().unwrap();
    let before = files();
    assert!(matches!(table.pack(), Err(Error::Cancelled)));
    table.flush().unwrap();
    assert!(files() == before);
    drop(table);
    // While the orders are made nothing has moved either.
    assert!(matches!(open("its orders").pack(), Err(Error::Cancelled)));
    assert!(files() == before);

    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert_eq!(table.pack().unwrap(), 8999);
    drop(table);
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let index = TableIndex::open(&indexed.files[0], &table, &indexed.settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), Vec::new());
}

/// A table of 9000 records with a CDX, closed.
fn indexed_with_many() -> (Indexed, PathBuf) {
    let mut indexed = Indexed::new(IndexDialect::Cdx, OpenMode::Exclusive);
    for id in 0..9000 {
        let name = format!("N{:05}", (id * 7919) % 9000);
        let values = [(0, Value::Integer(id)), (1, Value::Text(&name))];
        indexed.editors[0].append_values(&values).unwrap();
    }
    indexed.editors.clear();
    let path = indexed.folder.path().join("t.dbf");
    (indexed, path)
}

#[test]
fn keys_of_memos_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memo.dbf");
    let fields = [FieldSpec::new("TEXT", 'M', 10, 0)];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let error = table.create_order(&OrderSpec::new("T", "LEFT(TEXT, 10)")).unwrap_err();
    assert!(matches!(error, Error::Order { .. }), "{error}");
    assert!(!path.with_extension("cdx").exists());
}

#[test]
fn a_broken_page_stops_the_change_and_leaves_the_table_as_it_was() {
    for dialect in [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx] {
        let mut indexed = Indexed::new(dialect, OpenMode::Exclusive);
        let row = |id: i64| [(0, Value::Integer(id)), (2, Value::Text("A"))];
        for id in 1..=2000 {
            indexed.editors[0].append_values(&row(id)).unwrap();
        }
        indexed.editors.clear();
        let path = indexed.folder.path().join("t.dbf");
        let mut table = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
        for file in &indexed.files {
            table.open_index(file).unwrap();
            // What was read when the file was opened is not read again; every page is.
            let mut bytes = fs::read(file).unwrap();
            for page in bytes.chunks_mut(512).skip(2) {
                page[..2].fill(0xFF);
            }
            fs::write(file, bytes).unwrap();
        }
        let before = fs::read(&path).unwrap();
        let error = table.append_values(&row(2001)).unwrap_err();
        let is_named =
            |error: &Error| matches!(error, Error::Corrupt(corrupt) if indexed.files.contains(&corrupt.path));
        assert!(is_named(&error) && error.to_string().contains("page at"), "{error}");
        let error = table.replace(7, &[(2, Value::Text("B"))]).unwrap_err().to_string();
        assert!(error.contains("reindex"), "{error}");
        assert_eq!(table.record_count(), 2000);
        assert!(fs::read(&path).unwrap() == before, "{dialect:?}");
    }
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
