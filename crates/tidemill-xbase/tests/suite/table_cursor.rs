//! A cursor over a table: what Harbour walks with SET DELETED ON, and every other way against a naive list.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::{Direction, End, Key, KeyValue};
use tidemill_xbase::{Bitmap, KeySettings, OpenOptions, Place, Table, TableCursor, TableIndex, TableOrder};

#[test]
fn undeleted_records_come_in_the_order_in_which_harbour_shows_them() {
    let mut walked = 0;
    let json: Json = serde_json::from_slice(&std::fs::read(corpus("deleted_on.json")).unwrap()).unwrap();
    for name in ["ord_cdx", "ord_nsx", "ord_ntx"] {
        for (tag, recnos) in json[name].as_object().unwrap() {
            let expected: Vec<u32> = recnos
                .as_array()
                .unwrap()
                .iter()
                .map(|recno| recno.as_u64().unwrap().try_into().unwrap())
                .collect();
            let (table, index) = open(name, tag);
            let mut cursor = TableCursor::new(&table);
            cursor.set_records(Some(set(&table, "!DELETED()").into())).unwrap();
            cursor.set_order(index.order(tag)).unwrap();
            assert_eq!(forward(&mut cursor), expected, "{name} {tag}");
            assert_eq!(
                backward(&mut cursor),
                expected.iter().rev().copied().collect::<Vec<_>>()
            );
            walked += 1;
        }
    }
    assert_eq!(walked, 9);
}

#[test]
fn every_way_is_that_of_a_list() {
    let (table, index) = open("ord_cdx", "");
    let mut random = Random(7);
    let sets = [
        None,
        Some("!DELETED()"),
        Some("NUM > 0"),
        Some("ID > 600"),
        Some("ID = 300"),
    ];
    let orders = [
        None,
        Some("T_NAME"),
        Some("T_CODED"),
        Some("T_FOR"),
        Some("T_CODEU"),
        Some("T_NUMD"),
    ];
    for order in orders {
        let order = order.map(|name| index.order(name).unwrap());
        for condition in sets {
            for is_bounded in [false, true] {
                if is_bounded && order.is_none() {
                    continue;
                }
                let place = format!(
                    "{:?} {condition:?} {is_bounded}",
                    order.map(|order| order.order().to_string())
                );
                let records = condition.map(|condition| set(&table, condition));
                let mut cursor = TableCursor::new(&table);
                cursor.set_order(order).unwrap();
                cursor.set_records(records.clone().map(Arc::new)).unwrap();
                let mut list = list(&table, order, records.as_ref());
                if let Some(order) = order.filter(|_| is_bounded) {
                    let all: Vec<_> = order.order().walk(Direction::Forward).map(Result::unwrap).collect();
                    let (top, bottom) = (&all[all.len() / 4], &all[all.len() / 2]);
                    let [top, bottom] = [top, bottom].map(|entry| Key::raw(entry.key()));
                    let mut bounded = order.order().cursor();
                    bounded.set_scope(Some(top.clone()), Some(bottom.clone()));
                    let inside: Vec<u32> = bounded.walk(Direction::Forward).map(|e| e.unwrap().recno()).collect();
                    list.retain(|recno| inside.contains(recno));
                    cursor.set_scope(Some(top), Some(bottom)).unwrap();
                }
                // Before it is followed a set is walked by its bits, and after that past the other entries.
                for follows in [false, true] {
                    if follows {
                        cursor.follow(&table, order).unwrap();
                    }
                    check_skips(&mut cursor, &list, &mut random, &place);
                }
                cursor.follow(&table, order).unwrap();
                assert_eq!(forward(&mut cursor), list, "{place}");
                let reversed: Vec<u32> = list.iter().rev().copied().collect();
                assert_eq!(backward(&mut cursor), reversed, "{place}");
                assert_eq!(cursor.count().unwrap(), list.len() as u64, "{place}");
                check_skips(&mut cursor, &list, &mut random, &place);
                check_numbers(&mut cursor, &list, &place);
            }
        }
    }
}

/// Skips from records of the list and from outside of it.
fn check_skips(cursor: &mut TableCursor, list: &[u32], random: &mut Random, place: &str) {
    for _ in 0..60 {
        let count = random.below(50) as i64 - 25;
        let at = random.below(list.len() as u64 + 2) as i64 - 1;
        match usize::try_from(at) {
            Err(_) => {
                cursor.go_first().unwrap();
                cursor.skip(-1).unwrap();
                assert_eq!(cursor.place(), Place::Before, "{place}");
            }
            Ok(at) if at < list.len() => assert!(cursor.go_to(list[at])),
            Ok(_) => {
                cursor.go_last().unwrap();
                cursor.skip(1).unwrap();
                assert_eq!(cursor.place(), Place::Behind, "{place}");
            }
        }
        let to = (at + count).clamp(-1, list.len() as i64);
        let expected = match usize::try_from(to) {
            _ if count == 0 && at < 0 => Place::Before,
            Err(_) => Place::Before,
            Ok(to) => list.get(to).map_or(Place::Behind, |recno| Place::Record(*recno)),
        };
        let went = cursor.skip(count).unwrap();
        assert_eq!(cursor.place(), expected, "{place}: {count} from {at}");
        if let Some(at) = usize::try_from(at).ok().filter(|at| *at < list.len()) {
            let last = to.clamp(0, list.len() as i64 - 1);
            assert_eq!(went, last - at as i64, "{place}: {count} from {at}");
        }
    }
}

fn check_numbers(cursor: &mut TableCursor, list: &[u32], place: &str) {
    for (number, recno) in (1_u64..).zip(list).step_by(37) {
        assert!(cursor.go_number(number).unwrap(), "{place}");
        assert_eq!(cursor.place(), Place::Record(*recno), "{place} {number}");
        assert!(cursor.go_to(*recno));
        assert_eq!(cursor.number().unwrap(), Some(number), "{place} {recno}");
    }
    for number in [0, list.len() as u64 + 1, u64::MAX] {
        assert!(!cursor.go_number(number).unwrap(), "{place}");
        assert_eq!(
            (cursor.place(), cursor.number().unwrap()),
            (Place::Behind, None),
            "{place}"
        );
    }
}

#[test]
fn a_set_of_which_records_change_is_walked_as_it_is_now() {
    let (table, index) = open("ord_cdx", "");
    let order = index.order("T_NAME").unwrap();
    let mut random = Random(11);
    let mut records = set(&table, "NUM > 0");
    let mut cursor = TableCursor::new(&table);
    cursor.set_order(Some(order)).unwrap();
    cursor.set_records(Some(records.clone().into())).unwrap();
    for round in 0..40 {
        for _ in 0..10 {
            let record = random.below(600) as u32 + 1;
            let is_member = random.below(2) == 0;
            records.set(record, is_member);
            cursor.set_member(record, is_member);
        }
        let list = list(&table, Some(order), Some(&records));
        assert_eq!(forward(&mut cursor), list, "{round}");
        let by_key = |recno: u32| {
            order
                .order()
                .walk(Direction::Forward)
                .find(|e| e.as_ref().unwrap().recno() == recno)
        };
        let sought = by_key(list[round]).unwrap().unwrap();
        let key = Key::raw(sought.key());
        assert!(cursor.seek(&key, End::First, false).unwrap(), "{round}");
        let same = |recno: &&u32| by_key(**recno).unwrap().unwrap().key() == sought.key();
        assert_eq!(cursor.record(), list.iter().find(same).copied(), "{round}");
        check_skips(&mut cursor, &list, &mut random, "changed");
        check_numbers(&mut cursor, &list, "changed");
    }
}

#[test]
fn another_order_keeps_the_record() {
    let (table, index) = open("ord_cdx", "");
    let mut cursor = TableCursor::new(&table);
    assert_eq!(cursor.place(), Place::Record(1));
    let orders = ["T_NAME", "T_NUMD", "T_FOR", "T_CODEU", "T_ID"].map(|name| index.order(name).unwrap());
    for recno in [1, 7, 300, 599, 600] {
        assert!(cursor.go_to(recno));
        for order in orders {
            cursor.set_order(Some(order)).unwrap();
            assert_eq!(cursor.place(), Place::Record(recno));
            // A record that the order has not got goes on where its key would stand.
            let entries: Vec<_> = order.order().walk(Direction::Forward).map(Result::unwrap).collect();
            let next = match entries.iter().position(|entry| entry.recno() == recno) {
                Some(at) => entries.get(at + 1),
                None => {
                    let key = key_of(&table, order, recno);
                    let is_descending = order.order().tag().is_descending;
                    entries.iter().find(|entry| match is_descending {
                        false => (entry.key(), entry.recno()) > (&key, recno),
                        true => (entry.key(), entry.recno()) < (&key, recno),
                    })
                }
            };
            cursor.skip(1).unwrap();
            let expected = next.map_or(Place::Behind, |entry| Place::Record(entry.recno()));
            assert_eq!(cursor.place(), expected, "{recno} in {}", order.order());
            cursor.go_to(recno);
        }
        cursor.set_order(None).unwrap();
        cursor.skip(-1).unwrap();
        assert_eq!(cursor.record(), recno.checked_sub(1).filter(|recno| *recno > 0));
    }
}

#[test]
fn what_is_sought_is_found_among_the_records_that_are_shown() {
    let (table, index) = open("ord_cdx", "");
    let order = index.order("T_CODE").unwrap();
    let entries: Vec<(Vec<u8>, u32)> = order
        .order()
        .walk(Direction::Forward)
        .map(|entry| entry.map(|entry| (entry.key().to_vec(), entry.recno())).unwrap())
        .collect();
    let shown = set(&table, "ID % 5 = 0");
    let visible: Vec<&(Vec<u8>, u32)> = entries.iter().filter(|(_, recno)| shown.contains(*recno)).collect();
    let mut cursor = TableCursor::new(&table);
    cursor.set_order(Some(order)).unwrap();
    cursor.set_records(Some(shown.into())).unwrap();
    let (mut found, mut missed) = (0, 0);
    for (key, _) in &entries {
        for len in 0..=key.len() {
            let sought = &key[..len];
            let begins = |entry: &&&(Vec<u8>, u32)| entry.0.starts_with(sought);
            let key = order.order().key(&KeyValue::Character(sought)).unwrap();
            for (end, hit, soft) in [
                (
                    End::First,
                    visible.iter().find(begins),
                    visible.iter().find(|entry| &entry.0[..] >= sought),
                ),
                (
                    End::Last,
                    visible.iter().rev().find(begins),
                    visible.iter().rev().find(|entry| &entry.0[..] < sought),
                ),
            ] {
                assert_eq!(cursor.seek(&key, end, false).unwrap(), hit.is_some());
                assert_eq!(cursor.record(), hit.map(|entry| entry.1), "{sought:?} {end:?}");
                assert_eq!(cursor.seek(&key, end, true).unwrap(), hit.is_some());
                assert_eq!(
                    cursor.record(),
                    hit.or(soft).map(|entry| entry.1),
                    "{sought:?} {end:?} soft"
                );
                found += u32::from(hit.is_some());
                missed += u32::from(hit.is_none());
            }
        }
    }
    assert!(found > 1000 && missed > 100, "{found} {missed}");
    cursor.set_order(None).unwrap();
    let error = cursor.seek(&Key::raw(*b"A"), End::First, true).unwrap_err().to_string();
    assert!(error.contains("ord_cdx.dbf"), "{error}");
    assert!(cursor.set_scope(None, None).is_err());
    assert!(cursor.set_records(Some(Bitmap::new(599).into())).is_err());
}

fn list(table: &Table, order: Option<&TableOrder>, records: Option<&Bitmap>) -> Vec<u32> {
    let all: Vec<u32> = match order {
        None => (1..=table.record_count()).collect(),
        Some(order) => order
            .order()
            .walk(Direction::Forward)
            .map(|entry| entry.unwrap().recno())
            .collect(),
    };
    all.into_iter()
        .filter(|recno| records.is_none_or(|set| set.contains(*recno)))
        .collect()
}

fn forward(cursor: &mut TableCursor) -> Vec<u32> {
    let mut found = Vec::new();
    cursor.go_first().unwrap();
    while let Some(recno) = cursor.record() {
        found.push(recno);
        cursor.skip(1).unwrap();
    }
    assert_eq!(cursor.place(), Place::Behind);
    found
}

fn backward(cursor: &mut TableCursor) -> Vec<u32> {
    let mut found = Vec::new();
    let is_there = cursor.go_last().unwrap();
    while let Some(recno) = cursor.record() {
        found.push(recno);
        cursor.skip(-1).unwrap();
    }
    assert_eq!(cursor.place(), if is_there { Place::Before } else { Place::Behind });
    found
}

fn key_of(table: &Table, order: &TableOrder, recno: u32) -> Vec<u8> {
    let bytes = std::fs::read(table.path()).unwrap();
    let (header, stride) = (table.header().header_len as usize, table.header().record_len as usize);
    let at = header + (recno as usize - 1) * stride;
    let condition_free = TableIndex::production(table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    // T_NAME and T_CODE have the same keys without a condition.
    let name = match order.order().tag().expression.as_str() {
        "NAME" => "T_NAME",
        _ => "T_CODE",
    };
    let keys = condition_free.order(name).unwrap().keys().clone();
    let record = tidemill_xbase::expression::RecordBytes::new(table, recno, &bytes[at..at + stride]);
    keys.key(&record).unwrap().unwrap()
}

fn set(table: &Arc<Table>, condition: &str) -> Bitmap {
    let environment = Environment::new(table.codepage());
    Filter::new(condition, table, &environment)
        .unwrap()
        .bitmap(table)
        .unwrap()
}

/// A table with the index that has the tag: NTX files have one.
fn open(name: &str, tag: &str) -> (Arc<Table>, TableIndex) {
    let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &OpenOptions::new()).unwrap());
    let path = match name {
        "ord_ntx" => corpus(&format!("ord_ntx_{}.ntx", &tag[2..])),
        _ => corpus(&format!("{name}.{}", &name[4..])),
    };
    let index = TableIndex::open(path, &table, &KeySettings::new(table.codepage())).unwrap();
    (table, index)
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
