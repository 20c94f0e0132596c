//! Tags of an MDX that are made and dropped while the table is open, against a sorted list.

use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::index::{Direction, End, KeyValue, OrderSpec};
use tidemill_xbase::{Error, KeySettings, OpenMode, OpenOptions, Table, TableIndex};

use crate::mdx_upkeep::{copy_with, open, values};

/// What keys are made of, and how many bytes of the record they are, from where.
const KEYS: [(&str, usize, usize); 4] = [
    ("CODE", 1, 6),
    ("SUBSTR(CODE,2,2)+UPPER(CODE)", 1, 6),
    ("NUM", 7, 9),
    ("DAY", 16, 8),
];

#[test]
fn tags_made_and_dropped_in_any_order_hold_what_a_sorted_list_does() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let (_folder, path) = copy_with(&[]);
        let mut table = open(&path, mode);
        let mut other = (mode == OpenMode::Shared).then(|| open(&path, mode));
        let mut specs: Vec<(OrderSpec, Made)> = Vec::new();
        let others: Vec<_> = table
            .orders()
            .map(|tag| tag.name.clone())
            .filter(|name| name != "CODE")
            .collect();
        for name in &others {
            table.drop_order(name).unwrap();
        }
        let (mut seed, mut turns) = (41_u32, 0);
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        for turn in 0..90_u32 {
            let what = format!("{mode:?}, turn {turn}");
            match next(6) {
                0 if specs.len() > 1 => {
                    let (spec, _) = specs.remove(next(u32::try_from(specs.len()).unwrap()) as usize);
                    table.drop_order(spec.name()).unwrap();
                }
                1 | 2 => {
                    table.append_values(&values(turn)).unwrap();
                    let record = 1 + next(300);
                    if mode == OpenMode::Shared {
                        assert!(table.lock_record(record).is_ok(), "{what}");
                    }
                    table.replace(record, &values(turn + 500)).unwrap();
                    if mode == OpenMode::Shared {
                        table.unlock_all().unwrap();
                    }
                    specs.retain(|(_, made)| !made.is_unique || table.drop_order(&made.name).is_err());
                }
                3 if !specs.is_empty() => {
                    // The same name with another key.
                    let at = next(u32::try_from(specs.len()).unwrap()) as usize;
                    let made = Made::new(&specs[at].1.name, &mut next);
                    table
                        .replace_order_in(path.with_extension("mdx"), &made.spec())
                        .unwrap();
                    specs[at] = (made.spec(), made);
                }
                _ if specs.len() < 12 => {
                    let made = Made::new(&format!("T{turn}"), &mut next);
                    table.create_order(&made.spec()).unwrap();
                    specs.push((made.spec(), made));
                }
                _ => {}
            }
            if let Some(other) = &mut other {
                // Who has the table open, too, finds the tags that there are now.
                other.append_values(&values(turn + 2000)).unwrap();
                other.unlock_all().unwrap();
                assert_eq!(other.orders().count(), specs.len() + 1, "{what}");
                specs.retain(|(_, made)| !made.is_unique || table.drop_order(&made.name).is_err());
            }
            table.sync().unwrap();
            let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
            let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
                .unwrap()
                .unwrap();
            assert_eq!(index.verify(&table).unwrap(), [], "{what}");
            for (_, made) in &specs {
                made.check(&path, &index, &what);
            }
            turns += specs.len();
        }
        assert!(turns > 300, "{turns}");
    }
}

#[test]
fn the_last_tag_takes_the_mdx_with_it_and_the_table_is_changed_without_one() {
    let (_folder, path) = copy_with(&[]);
    let mut table = open(&path, OpenMode::Exclusive);
    let names: Vec<String> = table.orders().map(|tag| tag.name.clone()).collect();
    for name in &names {
        assert!(path.with_extension("mdx").exists());
        table.drop_order(name).unwrap();
    }
    assert!(!path.with_extension("mdx").exists());
    assert_eq!(table.orders().count(), 0);
    table.append_values(&values(1)).unwrap();
    drop(table);
    assert_eq!(
        std::fs::read(&path).unwrap()[28],
        0,
        "the header names no production index"
    );
    open(&path, OpenMode::Shared).append_values(&values(2)).unwrap();
}

#[test]
fn what_an_mdx_cannot_have_is_refused_before_anything_is_written() {
    let (_folder, path) = copy_with(&[]);
    let mdx = path.with_extension("mdx");
    let mut table = open(&path, OpenMode::Exclusive);
    table.sync().unwrap();
    let before = std::fs::read(&mdx).unwrap();
    let mut refused = |spec: OrderSpec, why: &str| {
        let is_there = table.orders().any(|tag| tag.name == spec.name());
        let made = match is_there {
            true => table.replace_order_in(&mdx, &spec),
            false => table.create_order(&spec),
        };
        let error = made.unwrap_err();
        let cause = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(matches!(error, Error::Order { .. }), "{error}");
        assert!(cause.contains(why), "{cause}");
        table.sync().unwrap();
        assert!(std::fs::read(&mdx).unwrap() == before, "{why}");
    };
    for name in ["CODE", "NEW"] {
        refused(OrderSpec::new(name, "DELETED()"), "no keys of type L");
        refused(OrderSpec::new(name, "NO_SUCH_FIELD"), "NO_SUCH_FIELD");
        refused(OrderSpec::new(name, "REPLICATE(CODE,20)"), "keys of 120 bytes");
        refused(OrderSpec::new(name, "CODE").custom(true), "no custom orders");
        refused(OrderSpec::new(name, "CODE").candidate(true), "no candidate indexes");
        let long = vec!["CODE"; 50].join("+");
        refused(
            OrderSpec::new(name, format!("LEFT({long},8)")),
            "an expression of 257 bytes",
        );
    }
    refused(OrderSpec::new("A_LONG_NAME", "CODE"), "a name of 11 bytes");
    let error = table.create_order(&OrderSpec::new("code", "CODE")).unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("already exists")
    );
}

/// What was asked for.
struct Made {
    name: String,
    key: usize,
    is_some: bool,
    is_unique: bool,
    is_descending: bool,
}

impl Made {
    fn new(name: &str, next: &mut impl FnMut(u32) -> u32) -> Self {
        Self {
            name: name.to_owned(),
            key: next(4) as usize,
            is_some: next(3) == 0,
            is_unique: next(4) == 0,
            is_descending: next(2) == 0,
        }
    }

    fn spec(&self) -> OrderSpec {
        let spec = OrderSpec::new(&*self.name, KEYS[self.key].0)
            .unique(self.is_unique)
            .descending(self.is_descending);
        match self.is_some {
            true => spec.condition("NUM > 0"),
            false => spec,
        }
    }

    /// Walks the tag, and seeks every key of it.
    fn check(&self, path: &Path, index: &TableIndex, what: &str) {
        let what = format!("{what}: {} {:?}", self.name, self.spec());
        let (expected, order) = (self.sorted(path), index.order(&self.name).unwrap().order());
        let walked = order.walk(Direction::Forward).map(|entry| entry.unwrap().recno());
        let walked: Vec<u32> = walked.collect();
        // Equal keys may be in any order.
        let key_of = |recno: u32| expected.iter().find(|(_, known)| *known == recno).map(|(key, _)| key);
        assert!(
            walked
                .iter()
                .map(|recno| key_of(*recno))
                .eq(expected.iter().map(|(key, _)| Some(key))),
            "{what}"
        );
        if KEYS[self.key].0 != "CODE" {
            return;
        }
        let mut cursor = order.cursor();
        for (key, _) in &expected {
            let Key::Text(text) = key else { panic!("{what}") };
            let sought = order.key(&KeyValue::Character(text)).unwrap();
            assert!(cursor.seek(&sought, End::First, false).unwrap(), "{what}");
            assert_eq!(key_of(cursor.recno().unwrap()), Some(key), "{what}");
        }
    }

    /// The keys and records that the tag is to have.
    fn sorted(&self, path: &Path) -> Vec<(Key, u32)> {
        let table = std::fs::read(path).unwrap();
        let number = |at: usize, len: usize| {
            let bytes: Vec<u8> = table[at..at + len].iter().rev().copied().collect();
            bytes
                .iter()
                .fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
        };
        let (records, first, len) = (number(4, 4), number(8, 2), number(10, 2));
        let (_, begin, width) = KEYS[self.key];
        let mut keys = Vec::new();
        for recno in 1..=records {
            let record = &table[first + (recno - 1) * len..first + recno * len];
            let text = String::from_utf8(record[begin..begin + width].to_vec()).unwrap();
            let num = std::str::from_utf8(&record[7..16])
                .unwrap()
                .trim()
                .parse::<f64>()
                .unwrap_or(0.0);
            if self.is_some && num <= 0.0 {
                continue;
            }
            let key = match self.key {
                0 => Key::Text(text.into_bytes()),
                1 => Key::Text(format!("{}{}", &text[1..3], text.to_uppercase()).into_bytes()),
                2 => Key::Number((num * 100.0).round() as i64),
                // A blank date comes last.
                _ => Key::Number(text.trim().parse().unwrap_or(i64::MAX)),
            };
            keys.push((key, u32::try_from(recno).unwrap()));
        }
        keys.sort();
        if self.is_unique {
            keys.dedup_by(|(a, _), (b, _)| a == b);
        }
        if self.is_descending {
            keys.reverse();
        }
        keys
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(Vec<u8>),
    Number(i64),
}
