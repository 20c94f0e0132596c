//! Orders of an ADI: walked, sought, bounded, checked and made anew.

use std::sync::Arc;

use serde_json::Value;
use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::{
    Collation, Direction, End, Index, IndexDialect, IndexFault, IndexOptions, KeyType, KeyValue, OrderSpec,
};
use tidemill_xbase::{CodePage, Error, KeySettings, OpenOptions, Table, TableIndex, build_index, production_path};

use super::{bytes, corpus};

fn table() -> Arc<Table> {
    Arc::new(Table::open(corpus("orders.adt"), &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap())
}

fn settings() -> KeySettings {
    KeySettings::new(CodePage::Cp1252)
}

fn golden() -> Vec<Value> {
    serde_json::from_slice(&bytes("orders.orders.json")).unwrap()
}

fn records(order: &Value) -> Vec<u32> {
    let records = order["records"].as_array().unwrap().iter();
    records
        .map(|record| u32::try_from(record.as_u64().unwrap()).unwrap())
        .collect()
}

/// Whether an order holds what the script says.
fn check(index: &TableIndex, golden: &[Value]) {
    assert_eq!(index.orders().len(), golden.len());
    for expected in golden {
        let name = expected["tag"].as_str().unwrap();
        let order = index.order(name).unwrap();
        let tag = order.order().tag();
        assert_eq!(tag.expression, expected["expression"].as_str().unwrap(), "{name}");
        assert_eq!(
            tag.condition.as_deref().unwrap_or_default(),
            expected["condition"].as_str().unwrap()
        );
        assert_eq!(tag.is_candidate, expected["unique"].as_bool().unwrap(), "{name}");
        assert_eq!(tag.is_descending, expected["descending"].as_bool().unwrap(), "{name}");
        assert_eq!(tag.key_len as u64, expected["key_len"].as_u64().unwrap(), "{name}");
        for direction in [Direction::Forward, Direction::Backward] {
            let walked = order.order().walk(direction).map(|entry| entry.unwrap().recno());
            let mut walked: Vec<u32> = walked.collect();
            if direction == Direction::Backward {
                walked.reverse();
            }
            assert_eq!(walked, records(expected), "{name}");
        }
    }
}

#[test]
fn orders_are_walked_and_every_key_is_that_of_its_record() {
    let table = table();
    assert_eq!(production_path(&table).unwrap(), Some(corpus("orders.adi")));
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    assert_eq!(
        (index.index().dialect(), index.index().page_len()),
        (IndexDialect::Adi, 512)
    );
    check(&index, &golden());
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn an_index_is_made_as_it_was_by_numbers_and_by_names() {
    let folder = tempfile::tempdir().unwrap();
    let (table, golden) = (table(), golden());
    for by_name in [false, true] {
        let path = folder.path().join(format!("{by_name}.adi"));
        let specs: Vec<OrderSpec> = golden
            .iter()
            .map(|order| {
                let text = |key: &str| {
                    let text = order[key].as_str().unwrap().to_owned();
                    let named = [
                        ("F10", "Big"),
                        ("F11", "AT"),
                        ("F1", "order no"),
                        ("F2", "Customer"),
                        ("F3", "City"),
                        ("F4", "DAY"),
                        ("F5", "Price"),
                        ("F6", "Weight"),
                        ("F7", "Paid"),
                        ("F8", "Sent"),
                        ("F9", "Count"),
                    ];
                    named
                        .iter()
                        .filter(|_| by_name)
                        .fold(text, |text, (number, name)| text.replace(number, name))
                };
                let spec = OrderSpec::new(order["tag"].as_str().unwrap(), text("expression"))
                    .candidate(order["unique"].as_bool().unwrap())
                    .descending(order["descending"].as_bool().unwrap());
                match text("condition") {
                    none if none.is_empty() => spec,
                    condition => spec.condition(condition),
                }
            })
            .collect();
        build_index(&path, &table, &specs, &settings()).unwrap();
        let index = TableIndex::open(&path, &table, &settings()).unwrap();
        check(&index, &golden);
        assert_eq!(index.verify(&table).unwrap(), []);
    }
}

#[test]
fn keys_are_sought_and_bounded() {
    let table = table();
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    let seek = |order: &str, value: KeyValue<'_>, end: End| {
        let order = index.order(order).unwrap().order();
        let mut cursor = order.cursor();
        cursor
            .seek(&order.key(&value).unwrap(), end, false)
            .unwrap()
            .then(|| cursor.recno().unwrap())
    };
    assert_eq!(seek("NUMBER", KeyValue::Integer(228), End::First), Some(228));
    // A deleted record has no key.
    assert_eq!(seek("NUMBER", KeyValue::Integer(200), End::First), None);
    for (order, field, value) in [
        ("COUNT", 8, KeyValue::Integer(-3)),
        ("PRICE", 4, KeyValue::Number(0.0)),
        ("PAID", 6, KeyValue::Logical(true)),
        ("CUSTOMER", 1, KeyValue::Character(b"Smith")),
        ("CITY AND DAY", 2, KeyValue::Character(b"paris")),
    ] {
        let golden = super::Golden::of("orders");
        let matches = |found: &Value| match value {
            KeyValue::Integer(value) => found.as_i64() == Some(value),
            KeyValue::Number(_) => found.as_str() == Some("0.0000"),
            KeyValue::Logical(value) => found.as_bool() == Some(value),
            KeyValue::Character(text) => {
                let begin = std::str::from_utf8(text).unwrap();
                let folded = |text: &str| {
                    if order == "CUSTOMER" {
                        text.to_owned()
                    } else {
                        text.to_lowercase()
                    }
                };
                found.as_str().is_some_and(|found| folded(found).starts_with(begin))
            }
            _ => false,
        };
        let mut expected = Vec::new();
        for (row, number) in golden.rows.iter().zip(1_u32..) {
            if matches(&row[field]) && !golden.deleted.contains(&u64::from(number)) {
                expected.push(number);
            }
        }
        let (first, last) = (seek(order, value, End::First), seek(order, value, End::Last));
        assert_eq!(first.is_some(), !expected.is_empty(), "{order}");
        for found in [first, last].into_iter().flatten() {
            assert!(expected.contains(&found), "{order} {found}");
        }
    }
}

#[test]
fn filters_are_answered_from_orders_as_from_the_records() {
    let table = table();
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let environment = Environment::new(CodePage::Cp1252);
    let deleted: Vec<u32> = super::Golden::of("orders")
        .deleted
        .iter()
        .map(|record| *record as u32)
        .collect();
    for (condition, level) in [
        ("Count = 3", OptimizationLevel::Full),
        ("Count < 0", OptimizationLevel::Full),
        ("Count <> 3", OptimizationLevel::Full),
        (".NOT. Count < 0", OptimizationLevel::Full),
        (".NOT. (Count < 0 .OR. Customer = 'Smith')", OptimizationLevel::Full),
        ("Count > 2 .AND. Count <= 9", OptimizationLevel::Full),
        ("Customer = 'Smith'", OptimizationLevel::Full),
        ("Customer < 'Smith'", OptimizationLevel::Full),
        (".NOT. Customer >= 'Smith'", OptimizationLevel::Full),
        ("Price < 0", OptimizationLevel::Full),
        ("Paid", OptimizationLevel::Full),
        (".NOT. Paid", OptimizationLevel::Full),
        ("Day >= CTOD('01/01/2015')", OptimizationLevel::Full),
        (".NOT. Day >= CTOD('01/01/2015')", OptimizationLevel::Full),
        ("Big > 0 .AND. Weight > 100", OptimizationLevel::Part),
        ("City = 'Paris'", OptimizationLevel::Full),
        ("Count > 2 .OR. Digits = '7'", OptimizationLevel::None),
    ] {
        let condition = condition.replace("Digits = '7'", "Digits = 7");
        let filter = Filter::new(&condition, &table, &environment).unwrap();
        let (found, expected) = (
            filter.bitmap_by(&table, &orders).unwrap(),
            filter.bitmap(&table).unwrap(),
        );
        for record in (1..=table.record_count()).filter(|record| !deleted.contains(record)) {
            assert_eq!(
                found.contains(record),
                expected.contains(record),
                "{condition}: record {record}"
            );
        }
        assert_eq!(filter.level(&table, &orders), level, "{condition}");
    }
}

#[test]
fn what_is_not_known_of_an_index_is_told() {
    let table = table();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.adi");
    for (expression, said) in [
        ("Digits", "Numeric"),
        ("Nowhere", "NOWHERE"),
        ("City;", "column"),
        ("REPLICATE(Customer,20)", "242"),
    ] {
        let error = build_index(&path, &table, &[OrderSpec::new("T", expression)], &settings()).unwrap_err();
        let text = std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source())
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ");
        assert!(
            matches!(error, Error::Order { .. }) && text.contains(said),
            "{expression}: {text}"
        );
    }
    // An index of words is passed over, and said to be one.
    let mut bent = bytes("orders.adi");
    let header = 512 * 3;
    bent[header + 14] |= 0x10;
    std::fs::write(&path, &bent).unwrap();
    let index = Index::open(&path, &IndexOptions::new()).unwrap();
    assert!(index.tags().iter().any(|tag| tag.is_full_text && tag.name == "NUMBER"));
    let (known, unknown) = TableIndex::open_known(&path, &table, &settings()).unwrap();
    assert_eq!((known.orders().len(), unknown.len()), (golden().len() - 1, 1));
}

#[test]
fn a_key_that_is_not_its_records_is_found() {
    let table = table();
    let mut bent = bytes("orders.adt");
    let (header, stride) = (table.header().header_len as usize, table.header().record_len as usize);
    // The count of record 7, and the deletion of record 9.
    let count = table.fields()[8].offset;
    bent[header + 6 * stride + count] ^= 1;
    bent[header + 8 * stride] |= 1;
    let bent = Arc::new(Table::from_bytes(bent, None, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let index = TableIndex::open(corpus("orders.adi"), &bent, &settings()).unwrap();
    let findings = index.verify(&bent).unwrap();
    let wrong = |tag: &str, recno: u32| {
        findings.iter().any(|finding| {
            finding.tag.as_deref() == Some(tag)
                && matches!(&finding.what, IndexFault::WrongKey { recno: found, .. } if *found == recno)
        })
    };
    assert!(
        wrong("COUNT", 7) && !wrong("CUSTOMER", 7) && wrong("CUSTOMER", 9),
        "{findings:?}"
    );
}

#[test]
fn an_index_cut_anywhere_or_bent_never_panics() {
    let (table, whole) = (table(), bytes("orders.adi"));
    let look = |bytes: Vec<u8>| {
        let Ok(index) = Index::from_bytes(bytes, IndexDialect::Adi, &IndexOptions::new()) else {
            return;
        };
        for tag in index.tags() {
            for key_type in [KeyType::Character, KeyType::Number] {
                if let Ok(order) = index.order(&tag.name, key_type, &Collation::binary()) {
                    let _ = order.walk(Direction::Forward).take(1000).filter(Result::is_ok).count();
                }
            }
        }
        if let Ok(index) = TableIndex::of(index, &table, &settings()) {
            let _ = index.verify(&table).unwrap();
        }
    };
    for cut in (0..1600).step_by(7).chain((1600..whole.len()).step_by(1997)) {
        look(whole[..cut].to_vec());
    }
    let seed = 93;
    let mut random = crate::tables::Random::new(seed);
    for _ in 0..60 {
        let mut bent = whole.clone();
        for _ in 0..=random.below(3) {
            let page = random.below(bent.len() as u64 / 512) * 512;
            let reach = if random.below(2) == 0 { 32 } else { 512 };
            let at = usize::try_from(page + random.below(reach)).unwrap();
            bent[at] = *random.pick(&[0, 1, 2, 3, 0x20, 0x7F, 0x80, 0xFF]);
        }
        look(bent);
    }
}
