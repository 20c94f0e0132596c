//! MDX, NDX and IDX files: those of the corpus, which were laid out by hand, and those that are made here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::{
    Collation, Direction, End, Index, IndexBuilder, IndexDialect, IndexFault, IndexOptions, Key, KeyType, KeyValue,
    Order, OrderSpec,
};
use tidemill_xbase::{CodePage, Error, KeySettings, OpenOptions, Table, TableIndex, build_index, production_path};

/// The indexes of `hand.dbf`, and how many entries each order has.
const HAND: [(&str, &[(&str, usize)]); 7] = [
    (
        "hand.mdx",
        &[
            ("CODE", 300),
            ("NUM", 300),
            ("NUMDOWN", 300),
            ("DAY", 300),
            ("UNI", 0),
            ("PLUS", 0),
        ],
    ),
    ("hand_code.ndx", &[("hand_code", 300)]),
    ("hand_num.ndx", &[("hand_num", 300)]),
    ("hand_day.ndx", &[("hand_day", 300)]),
    ("hand_code.idx", &[("hand_code", 300)]),
    ("hand_num.idx", &[("hand_num", 300)]),
    ("hand_day.idx", &[("hand_day", 300)]),
];

#[test]
fn files_that_were_laid_out_by_hand_have_the_keys_of_their_records() {
    let table = hand();
    for (name, orders) in HAND {
        let index = open(name, &table);
        assert_eq!(index.verify(&table).unwrap(), [], "{name}");
        let found: Vec<_> = index
            .orders()
            .iter()
            .map(|order| order.order().tag().name.clone())
            .collect();
        let expected: Vec<_> = orders.iter().map(|(order, _)| (*order).to_owned()).collect();
        assert_eq!(found, expected);
        for ((_, count), order) in orders.iter().zip(index.orders()) {
            let order = order.order();
            let forward = walked(order, Direction::Forward);
            assert!(*count == 0 || forward.len() == *count, "{order}: {}", forward.len());
            let mut backward = walked(order, Direction::Backward);
            backward.reverse();
            assert_eq!(forward, backward, "{order}");
            let mut cursor = order.cursor();
            for (place, (key, recno)) in forward.iter().enumerate() {
                assert!(cursor.seek_record(key, *recno).unwrap(), "{order} {recno}");
                assert_eq!(cursor.key_no().unwrap(), Some(place as u64 + 1), "{order} {recno}");
                assert!(cursor.go_key_no(place as u64 + 1).unwrap());
                assert_eq!(cursor.recno(), Some(*recno), "{order}");
                for end in [End::First, End::Last] {
                    assert!(cursor.seek(&Key::raw(&key[..]), end, false).unwrap(), "{order} {recno}");
                    let equal: Vec<_> = forward.iter().filter(|entry| entry.0 == *key).collect();
                    let wanted = if end == End::First {
                        equal[0]
                    } else {
                        equal[equal.len() - 1]
                    };
                    assert_eq!(cursor.recno(), Some(wanted.1), "{order} {recno}");
                }
            }
            assert_eq!(order.key_count().unwrap(), forward.len() as u64, "{order}");
        }
    }
}

#[test]
fn values_are_sought_and_bound_scopes() {
    let table = hand();
    let index = open("hand.mdx", &table);
    let order = |name| index.order(name).unwrap().order();
    let numbers: Vec<f64> = walked(order("NUM"), Direction::Forward)
        .iter()
        .map(|(key, _)| match order("NUM").value(key) {
            Some(KeyValue::Number(number)) => number,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(numbers.is_sorted() && numbers[0] < 0.0 && numbers.contains(&0.0));
    let down: Vec<_> = walked(order("NUMDOWN"), Direction::Forward);
    assert!(down.is_sorted_by(|a, b| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)));
    let key = |number| order("NUM").key(&KeyValue::Number(number)).unwrap();
    for (low, high) in [(-50.0, 50.0), (0.0, 0.0), (1000.0, 2000.0), (-200.0, -150.25)] {
        let mut cursor = order("NUM").cursor();
        cursor.set_scope(Some(key(low)), Some(key(high)));
        let expected = numbers.iter().filter(|number| (low..=high).contains(*number)).count();
        assert_eq!(cursor.key_count().unwrap(), expected as u64, "{low} {high}");
        let mut cursor = order("NUMDOWN").cursor();
        cursor.set_scope(Some(key(high)), Some(key(low)));
        assert_eq!(cursor.key_count().unwrap(), expected as u64, "{high} {low}");
    }
    let mut cursor = order("CODE").cursor();
    assert!(
        cursor
            .seek(
                &order("CODE").key(&KeyValue::Character(b"C")).unwrap(),
                End::First,
                false
            )
            .unwrap()
    );
    assert!(cursor.key().unwrap().starts_with(b"C"));
    let days = walked(order("DAY"), Direction::Forward);
    let blank = order("DAY").key(&KeyValue::Date(None)).unwrap();
    let mut cursor = order("DAY").cursor();
    assert!(cursor.seek(&blank, End::First, false).unwrap());
    assert_eq!(
        cursor.key_no().unwrap(),
        Some(300 - 27 + 1),
        "blank days are the last ones"
    );
    assert_eq!(order("DAY").value(&days[299].0), Some(KeyValue::Date(None)));
}

#[test]
fn filters_are_answered_from_the_orders_as_from_the_records() {
    let table = hand();
    let mut answered = 0;
    for name in [
        "hand.mdx",
        "hand_code.ndx",
        "hand_num.ndx",
        "hand_day.ndx",
        "hand_day.idx",
    ] {
        let orders = FilterOrders::new(&table, open(name, &table).orders()).unwrap();
        for condition in [
            "NUM = 0",
            "NUM <> 0",
            "NUM < -12.5",
            "NUM >= 12.5 .AND. NUM < 100",
            "NUM > 0",
            "CODE = 'C'",
            "CODE > 'C'",
            "UPPER(CODE) = 'A'",
            "DAY = {^2001-03-01}",
            "DAY <> {^2001-03-01}",
            "DAY < {^2001-03-01}",
            "DAY <= {^2001-03-01}",
            "DAY > {^2001-03-01}",
            "DAY >= {^2001-03-01}",
            "DAY >= {^2001-03-01} .AND. DAY < {^2001-06-01}",
            "EMPTY(DAY)",
        ] {
            let filter = Filter::new(condition, &table, &Environment::new(table.codepage())).unwrap();
            let expected = filter.bitmap(&table).unwrap();
            assert_eq!(
                filter.bitmap_by(&table, &orders).unwrap(),
                expected,
                "{name}: {condition}"
            );
            answered += u32::from(filter.level(&table, &orders) == OptimizationLevel::Full);
        }
    }
    assert!(answered >= 30, "{answered}");
}

#[test]
fn the_production_index_of_a_dbase_table_is_its_mdx() {
    let table = hand();
    let found = production_path(&table).unwrap().unwrap();
    assert_eq!(found.file_name().unwrap(), "hand.mdx");
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    assert_eq!((index.index().dialect(), index.orders().len()), (IndexDialect::Mdx, 6));
    let tag = index.order("plus").unwrap().order().tag();
    assert_eq!(
        (tag.condition.as_deref(), tag.key_type),
        (Some("NUM > 0"), Some(KeyType::Number))
    );
    assert!(index.order("UNI").unwrap().order().tag().is_unique);
    assert!(index.order("NUMDOWN").unwrap().order().tag().is_descending);
}

#[test]
fn what_is_made_of_the_records_has_the_entries_of_the_files_by_hand() {
    let table = hand();
    let settings = KeySettings::new(table.codepage());
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in HAND {
        let old = open(name, &table);
        let path = folder.path().join(name);
        let orders: Vec<_> = old.index().tags().iter().map(OrderSpec::from).collect();
        build_index(&path, &table, &orders, &settings).unwrap();
        let new = TableIndex::open(&path, &table, &settings).unwrap();
        assert_eq!(new.verify(&table).unwrap(), [], "{name}");
        for (old, new) in old.orders().iter().zip(new.orders()) {
            let (old, new) = (old.order(), new.order());
            assert_eq!(
                walked(new, Direction::Forward),
                walked(old, Direction::Forward),
                "{new}"
            );
            let facts = |order: &Order| {
                let tag = order.tag();
                let kinds = (tag.is_unique, tag.is_descending, tag.key_type);
                (tag.name.clone(), tag.expression.clone(), tag.condition.clone(), kinds)
            };
            assert_eq!(facts(new), facts(old));
        }
    }
}

#[test]
fn trees_of_every_size_are_made_and_walked() {
    for dialect in [IndexDialect::Mdx, IndexDialect::Ndx, IndexDialect::Idx] {
        for (key_type, key_len) in [(KeyType::Character, 100), (KeyType::Character, 3), (KeyType::Number, 8)] {
            for count in [0, 1, 2, 4, 5, 9, 10, 13, 27, 64, 65, 129, 700] {
                let spec = OrderSpec::new("T", "X").keys(key_type, key_len);
                let mut builder = IndexBuilder::new(dialect, count, CodePage::Cp437);
                let mut keys = builder.keys(&spec).unwrap();
                let codec = |recno: u32| -> Vec<u8> {
                    let number = recno.wrapping_mul(2_654_435_761) % 700;
                    match key_type {
                        KeyType::Number => sortable(f64::from(number) - 350.5),
                        _ => format!("{number:03}")
                            .into_bytes()
                            .into_iter()
                            .cycle()
                            .take(key_len)
                            .collect(),
                    }
                };
                (1..=count).for_each(|recno| keys.push(&codec(recno), recno).unwrap());
                builder.add(&spec, keys).unwrap();
                let index = Index::from_bytes(builder.finish().unwrap(), dialect, &IndexOptions::new()).unwrap();
                let tag = index.tags()[0].name.clone();
                let order = index.order(&tag, key_type, &Collation::binary()).unwrap();
                assert_eq!(
                    index.verify(std::slice::from_ref(&order), Some(count)).unwrap(),
                    [],
                    "{dialect:?} {count}"
                );
                let mut expected: Vec<_> = (1..=count).map(|recno| (codec(recno), recno)).collect();
                expected.sort();
                assert_eq!(
                    walked(&order, Direction::Forward),
                    expected,
                    "{dialect:?} {key_len} {count}"
                );
                assert_eq!(order.key_count().unwrap(), u64::from(count));
            }
        }
    }
}

#[test]
fn files_cut_anywhere_give_an_error_or_the_right_answer() {
    for (name, orders) in HAND {
        let whole = std::fs::read(corpus(name)).unwrap();
        let dialect = IndexDialect::from_path(Path::new(name)).unwrap();
        let expected = answers(&whole, dialect, orders).unwrap();
        for cut in (0..whole.len()).filter(|cut| *cut < 1200 || cut % 1021 == 0 || cut % 512 < 2) {
            if let Ok(answers) = answers(&whole[..cut], dialect, orders) {
                assert_eq!(answers, expected, "{name} cut at {cut}");
                assert!(cut > 2048, "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn every_byte_of_headers_and_pages_may_be_wrong() {
    for (name, orders) in HAND {
        let whole = std::fs::read(corpus(name)).unwrap();
        let dialect = IndexDialect::from_path(Path::new(name)).unwrap();
        let is_looked_at = |at: &usize| match at % 512 {
            _ if *at < 32 || (544..580).contains(at) => true,
            in_page => (at / 512).is_multiple_of(3) && matches!(in_page, 0 | 4 | 8 | 13 | 300),
        };
        for at in (0..whole.len()).filter(is_looked_at) {
            for flip in [0x01, 0xFF] {
                let mut bent = whole.clone();
                bent[at] ^= flip;
                // An error or an answer, and an end.
                let _ = answers(&bent, dialect, orders);
                if let Ok(index) = Index::from_bytes(bent, dialect, &IndexOptions::new()) {
                    index.verify(&[], Some(300)).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_key_that_is_another_and_one_that_stands_elsewhere_are_found() {
    let table = hand();
    let settings = KeySettings::new(table.codepage());
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(corpus("hand_code.ndx")).unwrap();
    let write = |bytes: &[u8]| {
        let path = folder.path().join("bent.ndx");
        std::fs::write(&path, bytes).unwrap();
        TableIndex::open(&path, &table, &settings)
            .unwrap()
            .verify(&table)
            .unwrap()
    };
    // The first key of the first leaf: it comes before all others, whatever its last letter is.
    let mut bent = whole.clone();
    bent[512 + 4 + 8 + 5] = b'x';
    let found = write(&bent);
    assert!(
        matches!(found[..], [ref one] if matches!(one.what, IndexFault::WrongKey { .. })),
        "{found:?}"
    );
    // The first key of the second leaf becomes one of the first.
    let mut bent = whole.clone();
    bent[1024 + 4 + 8..1024 + 4 + 14].copy_from_slice(b"A     ");
    let found = write(&bent);
    assert!(
        found
            .iter()
            .any(|finding| matches!(finding.what, IndexFault::BeforeBranchKey { .. })),
        "{found:?}"
    );
    // The key of a branch comes before the last one below it.
    let root = u32::from_le_bytes(whole[..4].try_into().unwrap()) as usize * 512;
    let mut bent = whole.clone();
    bent[root + 4 + 8..root + 4 + 14].copy_from_slice(b"A     ");
    let found = write(&bent);
    assert!(
        found
            .iter()
            .any(|finding| matches!(finding.what, IndexFault::BehindBranchKey { .. })),
        "{found:?}"
    );
}

#[test]
fn a_key_of_a_branch_behind_that_of_the_branch_above_is_found() {
    let mut bent = std::fs::read(corpus("hand.mdx")).unwrap();
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let header = 512 * number(&bent, 544);
    let root = 512 * number(&bent, header);
    let branch = 512 * number(&bent, root + 8);
    let (count, entry) = (number(&bent, branch), 12);
    let last = branch + 8 + (count - 1) * entry;
    bent[last + 4..last + 10].copy_from_slice(b"zzzzzz");
    // The page behind it is empty, so that nothing in it is out of order.
    let highest = 512 * number(&bent, last + entry);
    bent[highest..highest + 12].fill(0);
    let index = Index::from_bytes(bent, IndexDialect::Mdx, &IndexOptions::new()).unwrap();
    let order = index.order("CODE", KeyType::Character, &Collation::binary()).unwrap();
    assert!(order.walk(Direction::Forward).any(|entry| entry.is_err()));
    let found = index.verify(&[order], None).unwrap();
    assert!(
        found
            .iter()
            .any(|finding| matches!(finding.what, IndexFault::BeforeBranchKey { .. })),
        "{found:?}"
    );
}

#[test]
fn a_type_that_keys_are_not_of_is_refused() {
    let index = Index::open(corpus("hand.mdx"), &IndexOptions::new()).unwrap();
    for (tag, key_type) in [
        ("NUM", KeyType::Character),
        ("CODE", KeyType::Number),
        ("DAY", KeyType::Number),
    ] {
        let refused = index.order(tag, key_type, &Collation::binary());
        assert!(matches!(refused, Err(Error::Misuse(_))), "{tag}: {refused:?}");
    }
    let index = Index::open(corpus("hand_num.ndx"), &IndexOptions::new()).unwrap();
    let refused = index.order("hand_num", KeyType::Character, &Collation::binary());
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let check = |dialect, spec: OrderSpec, expected: &str| {
        let mut builder = IndexBuilder::new(dialect, 1, CodePage::Cp437);
        let added = builder.keys(&spec).and_then(|keys| builder.add(&spec, keys));
        let error = added.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let text = |name: &str| OrderSpec::new(name, "X").keys(KeyType::Character, 4);
    check(
        IndexDialect::Mdx,
        text("A_NAME_TOO_LONG"),
        "a name of 15 bytes, not 1 to 10",
    );
    check(
        IndexDialect::Mdx,
        text("T").keys(KeyType::Character, 101),
        "keys of 101 bytes",
    );
    check(IndexDialect::Mdx, text("T").keys(KeyType::Logical, 1), "type L");
    check(IndexDialect::Mdx, text("T").custom(true), "no custom orders");
    check(IndexDialect::Ndx, text("T").descending(true), "neither descending");
    check(IndexDialect::Ndx, text("T").condition("X = 1"), "neither descending");
    check(
        IndexDialect::Idx,
        text("T").keys(KeyType::Character, 241),
        "keys of 241 bytes",
    );
    let spec = OrderSpec::new("T", "X".repeat(221)).keys(KeyType::Character, 4);
    check(IndexDialect::Mdx, spec, "an expression of 221 bytes");
}

fn hand() -> Arc<Table> {
    Arc::new(Table::open(corpus("hand.dbf"), &OpenOptions::new()).unwrap())
}

fn open(name: &str, table: &Table) -> TableIndex {
    TableIndex::open(corpus(name), table, &KeySettings::new(table.codepage())).unwrap()
}

fn walked(order: &Arc<Order>, direction: Direction) -> Vec<(Vec<u8>, u32)> {
    let entries = order.walk(direction).map(Result::unwrap);
    entries.map(|entry| (entry.key().to_vec(), entry.recno())).collect()
}

/// What every order of a file answers: its entries both ways, and the number of them.
fn answers(bytes: &[u8], dialect: IndexDialect, orders: &[(&str, usize)]) -> Result<Vec<Vec<u32>>, Error> {
    let index = Index::from_bytes(bytes.to_vec(), dialect, &IndexOptions::new())?;
    let mut answers = Vec::new();
    for (at, _) in orders.iter().enumerate() {
        let Some(tag) = index
            .tags()
            .get(at)
            .map(|tag| (tag.name.clone(), tag.key_type, tag.key_len))
        else {
            return Err(Error::Misuse("fewer orders".to_owned()));
        };
        let key_type = tag.1.unwrap_or(if tag.2 == 8 {
            KeyType::Number
        } else {
            KeyType::Character
        });
        let order = index.order(&tag.0, key_type, &Collation::binary())?;
        for direction in [Direction::Forward, Direction::Backward] {
            let entries: Result<Vec<_>, _> = order.walk(direction).collect();
            answers.push(entries?.iter().map(tidemill_xbase::index::Entry::recno).collect());
        }
        order.key_count()?;
        let mut cursor = order.cursor();
        cursor.seek(&Key::raw(b"D".to_vec()), End::First, true)?;
        answers.push(cursor.recno().into_iter().collect());
    }
    Ok(answers)
}

/// A double as a key whose bytes sort.
fn sortable(number: f64) -> Vec<u8> {
    let bits = number.to_bits();
    let sign = 1 << 63;
    (if bits & sign == 0 { bits | sign } else { !bits })
        .to_be_bytes()
        .to_vec()
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(name)
}
