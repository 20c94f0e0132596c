//! Every order that Harbour wrote is walked, sought in and bounded as Harbour does it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use md5::{Digest, Md5};
use serde_json::Value;
use tidemill_xbase::CodePage;
use tidemill_xbase::index::{
    Collation, Direction, End, Entry, Index, IndexDialect, IndexOptions, Key, KeyType, KeyValue, Order,
};

/// The national tables: JSON, code page, language.
const NATIONAL: [(&str, CodePage, Option<&str>); 7] = [
    ("cp437", CodePage::Cp437, None),
    ("cp850de", CodePage::Cp850, Some("de")),
    ("cp850es", CodePage::Cp850, Some("es")),
    ("cp1252de", CodePage::Cp1252, Some("de")),
    ("cp1252es", CodePage::Cp1252, Some("es")),
    ("cp866", CodePage::Cp866, Some("ru")),
    ("cp1251", CodePage::Cp1251, Some("ru")),
];

#[test]
fn every_order_is_what_harbour_walks_seeks_and_counts() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 22 * 3 + 6 + 1 + 7 * 4);
    for golden in &goldens {
        golden.check_header();
        golden.check_walks();
        golden.check_numbers();
        golden.check_seeks();
        golden.check_scopes();
    }
}

#[test]
fn the_keys_are_the_values_that_harbour_shows() {
    let mut checked = 0;
    // DBFNTX and DBFNSX index the same rows by the same expressions.
    let shown: HashMap<(String, u32), Value> = orders("ord_cdx")
        .iter()
        .flat_map(|order| keys(order).collect::<Vec<_>>())
        .collect();
    for golden in goldens() {
        let own: HashMap<(String, u32), Value> = keys(&golden.json).collect();
        let all = if golden.name.starts_with("ord_") { &shown } else { &own };
        for entry in golden.order.walk(Direction::Forward) {
            let entry = entry.unwrap();
            let Some(expected) = all.get(&(golden.tag(), entry.recno())) else {
                continue;
            };
            let value = golden.order.value(entry.key()).unwrap();
            let (value, expected) = (shown_as(&value), expected.clone());
            match (value.as_f64(), expected.as_f64()) {
                (Some(value), Some(expected)) => {
                    assert!((value - expected).abs() < 1e-9, "{golden}: {value} {expected}")
                }
                _ => assert_eq!(value, expected, "{golden} record {}", entry.recno()),
            }
            assert_eq!(
                golden
                    .order
                    .stored_key(&golden.order.value(entry.key()).unwrap())
                    .unwrap(),
                entry.key(),
                "{golden}: the key of the value"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * (19 * 600 + 294 + 237 + 202) + 4 * 1595 + 236 + 663 + 25);
}

#[test]
fn trees_of_70_000_records_are_walked_both_ways() {
    for (name, file) in [("big_cdx", "big_cdx.cdx"), ("big_ntx", "big_ntx_CODE.ntx")] {
        let index = big(file);
        let json: Value = serde_json::from_slice(&std::fs::read(corpus(&format!("{name}.json"))).unwrap()).unwrap();
        for json in json["orders"].as_array().unwrap() {
            let golden = Golden::new(name, &index, json, &Collation::binary());
            let forward: Vec<u32> = golden.walk(Direction::Forward).iter().map(Entry::recno).collect();
            let list: String = forward.iter().map(|recno| format!("{recno},")).collect();
            let md5: String = Md5::digest(list).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(md5, json["recnos_md5_of_comma_terminated_list"], "{golden}");
            let mut backward: Vec<u32> = golden.walk(Direction::Backward).iter().map(Entry::recno).collect();
            assert_eq!(
                backward.len() as u64,
                json["backward_count"].as_u64().unwrap(),
                "{golden}"
            );
            backward.reverse();
            assert_eq!(backward, forward, "{golden}");
            let mut cursor = golden.order.cursor();
            assert_eq!(cursor.key_count().unwrap(), 70_000);
            for sample in json["samples_keyno_recno_key"].as_array().unwrap() {
                let [number, recno] = [0, 1].map(|i| sample[i].as_u64().unwrap());
                assert!(cursor.go_key_no(number).unwrap(), "{golden} {number}");
                assert_eq!(cursor.recno().map(u64::from), Some(recno), "{golden} {number}");
                assert_eq!(cursor.key_no().unwrap(), Some(number), "{golden}");
                let mut other = golden.order.cursor();
                assert!(
                    other
                        .seek_record(cursor.key().unwrap(), cursor.recno().unwrap())
                        .unwrap()
                );
                assert_eq!(other.key_no().unwrap(), Some(number), "{golden}");
            }
            golden.check_seeks();
            golden.check_scopes();
        }
    }
}

#[test]
fn a_small_cache_gives_the_same_order() {
    let options = IndexOptions::new().cache_bytes(1_000);
    for (file, dialect) in [
        ("ord_cdx.cdx", IndexDialect::Cdx),
        ("ord_nsx.nsx", IndexDialect::Nsx),
        ("ord_ntx_NAME.ntx", IndexDialect::Ntx),
    ] {
        let bytes = std::fs::read(corpus(file)).unwrap();
        let open = |options: &IndexOptions| {
            let index = Index::from_bytes(bytes.clone(), dialect, options).unwrap();
            index.order("T_NAME", KeyType::Character, &Collation::binary()).unwrap()
        };
        let list = |order: &Arc<Order>| -> Vec<u32> {
            order
                .walk(Direction::Backward)
                .map(|entry| entry.unwrap().recno())
                .collect()
        };
        assert_eq!(list(&open(&options)), list(&open(&IndexOptions::new())), "{file}");
    }
}

#[test]
fn unique_skips_stop_at_the_first_entry_of_each_key() {
    for golden in goldens() {
        let all = golden.walk(Direction::Forward);
        let mut firsts: Vec<u32> = Vec::new();
        for (i, entry) in all.iter().enumerate() {
            if i == 0 || all[i - 1].key() != entry.key() {
                firsts.push(entry.recno());
            }
        }
        for direction in [Direction::Forward, Direction::Backward] {
            let mut cursor = golden.order.cursor();
            let mut seen = Vec::new();
            let mut is_in = match direction {
                Direction::Forward => cursor.go_first().unwrap(),
                Direction::Backward => {
                    assert!(cursor.go_last().unwrap());
                    // The last key's first entry is where the walk begins.
                    let key = Key::raw(cursor.key().unwrap());
                    cursor.seek(&key, End::First, false).unwrap()
                }
            };
            while is_in {
                seen.push(cursor.recno().unwrap());
                is_in = cursor.skip_unique(direction).unwrap();
            }
            if direction == Direction::Backward {
                seen.reverse();
            }
            assert_eq!(seen, firsts, "{golden} {direction:?}");
        }
    }
}

#[test]
fn cursors_stay_at_their_ends_and_come_back() {
    let index = Index::open(corpus("ord_cdx.cdx"), &IndexOptions::new()).unwrap();
    let order = index.order("t_code", KeyType::Character, &Collation::binary()).unwrap();
    let mut cursor = order.cursor();
    assert_eq!(
        (cursor.recno(), cursor.key_no().unwrap(), cursor.is_behind()),
        (None, None, false)
    );
    assert!(!cursor.go_previous().unwrap());
    assert!(cursor.go_next().unwrap());
    assert_eq!((cursor.recno(), cursor.key_no().unwrap()), (Some(204), Some(1)));
    assert_eq!(cursor.skip(700).unwrap(), 599);
    assert!(cursor.is_behind() && !cursor.go_next().unwrap());
    assert!(cursor.go_previous().unwrap());
    assert_eq!(cursor.key_no().unwrap(), Some(600));
    assert_eq!(cursor.skip(-10).unwrap(), 10);
    assert_eq!(cursor.key_no().unwrap(), Some(590));
    assert!(!cursor.go_key_no(0).unwrap() && !cursor.is_behind());
    assert!(!cursor.go_key_no(601).unwrap() && cursor.is_behind());

    cursor.set_scope(Some(Key::raw("BB")), Some(Key::raw("BB")));
    assert_eq!(cursor.scope(), (Some(&Key::raw("BB")), Some(&Key::raw("BB"))));
    let count = cursor.key_count().unwrap();
    assert_eq!(cursor.walk(Direction::Forward).count() as u64, count);
    assert!(cursor.go_key_no(count).unwrap());
    assert!(!cursor.go_next().unwrap() && cursor.is_behind());
    // A hard seek outside the scope finds nothing; a soft one before it ends at its first entry.
    assert!(!cursor.seek(&Key::raw("AA0"), End::First, false).unwrap() && cursor.is_behind());
    assert!(!cursor.seek(&Key::raw("AA0"), End::First, true).unwrap());
    assert_eq!(cursor.key_no().unwrap(), Some(1));
    cursor.set_scope(Some(Key::raw("X")), None);
    assert!(!cursor.go_first().unwrap());
    assert_eq!(
        (cursor.key_count().unwrap(), cursor.walk(Direction::Backward).count()),
        (0, 0)
    );
}

#[test]
fn the_wrong_collation_is_an_error_and_no_wrong_answer() {
    for file in ["cp850de.cdx", "cp850den_t.ntx"] {
        let index = Index::open(corpus(file), &IndexOptions::new()).unwrap();
        let order = index.order("T_TXT", KeyType::Character, &Collation::binary()).unwrap();
        let error = order
            .walk(Direction::Forward)
            .find_map(Result::err)
            .unwrap()
            .to_string();
        assert!(error.contains("keys in order, under the collation given"), "{error}");
    }
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let index = Index::open(corpus("ord_nsx.nsx"), &IndexOptions::new()).unwrap();
    let binary = Collation::binary();
    let error = index
        .order("T_NONE", KeyType::Character, &binary)
        .unwrap_err()
        .to_string();
    assert!(error.contains("T_NONE") && error.contains("T_NAME"), "{error}");
    let error = index
        .order("T_NUM", KeyType::Character, &binary)
        .unwrap_err()
        .to_string();
    assert!(error.contains("type N"), "{error}");
    let order = index.order("T_NUM", KeyType::Number, &binary).unwrap();
    assert!(order.key(&KeyValue::Character(b"1")).is_err());
    let mut several = std::fs::read(corpus("ord_ntx_ID.ntx")).unwrap();
    several[1] = 0x80;
    let error = Index::from_bytes(several, IndexDialect::Ntx, &IndexOptions::new()).unwrap_err();
    assert!(matches!(error, tidemill_xbase::Error::Unsupported { .. }), "{error}");
    assert!(
        Index::open(corpus("ord_cdx.dbf"), &IndexOptions::new())
            .unwrap_err()
            .to_string()
            .contains(".cdx")
    );
}

struct Golden {
    name: String,
    index: Arc<Index>,
    order: Arc<Order>,
    json: Value,
}

impl std::fmt::Display for Golden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.tag())
    }
}

impl Golden {
    fn new(name: &str, index: &Arc<Index>, json: &Value, collation: &Collation) -> Self {
        let key_type = match json["keytype"].as_str().unwrap() {
            "C" => KeyType::Character,
            "N" => KeyType::Number,
            "D" => KeyType::Date,
            "L" => KeyType::Logical,
            other => panic!("a type that the test does not know: {other}"),
        };
        Self {
            name: name.to_owned(),
            index: Arc::clone(index),
            order: index.order(json["tag"].as_str().unwrap(), key_type, collation).unwrap(),
            json: json.clone(),
        }
    }

    fn tag(&self) -> String {
        self.json["tag"].as_str().unwrap().to_owned()
    }

    fn check_header(&self) {
        let tag = self.order.tag();
        assert_eq!(tag.name, self.json["tag"], "{self}");
        assert_eq!(tag.expression, self.json["expr"], "{self}");
        assert_eq!(tag.condition.as_deref().unwrap_or_default(), self.json["for"], "{self}");
        assert_eq!(tag.is_unique, self.json["unique"], "{self}");
        assert_eq!(tag.is_descending, self.json["descend"], "{self}");
        assert_eq!(tag.key_len, self.json["keysize"], "{self}");
        assert!(!tag.is_custom && !tag.ignores_case, "{self}");
        if self.index.dialect() == IndexDialect::Ntx {
            assert_eq!(tag.decimals.unwrap(), self.json["keydec"], "{self}");
        }
    }

    fn walk(&self, direction: Direction) -> Vec<Entry> {
        self.order.walk(direction).map(Result::unwrap).collect()
    }

    fn check_walks(&self) {
        let forward: Vec<u32> = self.walk(Direction::Forward).iter().map(Entry::recno).collect();
        let expected: Vec<u32> = serde_json::from_value(self.json["recnos"].clone()).unwrap();
        assert_eq!(forward, expected, "{self}");
        let mut backward: Vec<u32> = self.walk(Direction::Backward).iter().map(Entry::recno).collect();
        assert_eq!(backward.len(), self.json["backward_count"], "{self}");
        backward.reverse();
        assert_eq!(backward, expected, "{self}");
    }

    fn check_numbers(&self) {
        assert_eq!(self.order.key_count().unwrap(), self.json["keycount"], "{self}");
        let (mut walking, mut jumping) = (self.order.cursor(), self.order.cursor());
        let mut number = 0;
        while walking.go_next().unwrap() {
            number += 1;
            assert_eq!(walking.key_no().unwrap(), Some(number), "{self}");
            assert!(jumping.go_key_no(number).unwrap(), "{self} {number}");
            assert_eq!(jumping.recno(), walking.recno(), "{self} {number}");
            assert!(
                jumping
                    .seek_record(walking.key().unwrap(), walking.recno().unwrap())
                    .unwrap(),
                "{self} {number}"
            );
            assert_eq!(jumping.key_no().unwrap(), Some(number), "{self}");
            assert!(
                !jumping.seek_record(walking.key().unwrap(), 70_001).unwrap() && jumping.is_behind(),
                "{self}"
            );
        }
    }

    fn check_seeks(&self) {
        let mut cursor = self.order.cursor();
        for seek in self.json["seeks"].as_array().unwrap() {
            let key = self.key(&seek[0]).unwrap();
            let end = if seek[2] == true { End::Last } else { End::First };
            let found = cursor.seek(&key, end, seek[1] == true).unwrap();
            assert_eq!(
                (found, cursor.is_behind()),
                (seek[3] == true, seek[5] == true),
                "{self} {seek}"
            );
            if !cursor.is_behind() {
                assert_eq!(cursor.recno().unwrap(), seek[4], "{self} {seek}");
            }
        }
    }

    fn check_scopes(&self) {
        let mut cursor = self.order.cursor();
        for scope in self.json["scopes"].as_array().unwrap() {
            cursor.set_scope(self.key(&scope[0]), self.key(&scope[1]));
            assert_eq!(cursor.key_count().unwrap(), scope[2], "{self} {scope}");
            let recnos: Vec<u32> = cursor
                .walk(Direction::Forward)
                .map(|entry| entry.unwrap().recno())
                .collect();
            match scope[3].as_array() {
                Some(expected) => assert_eq!(&recnos, expected, "{self}"),
                None => assert_eq!(recnos.len(), scope[3], "{self}"),
            }
            let mut back: Vec<u32> = cursor
                .walk(Direction::Backward)
                .map(|entry| entry.unwrap().recno())
                .collect();
            back.reverse();
            assert_eq!(back, recnos, "{self}");
            assert!(cursor.go_last().unwrap());
            assert_eq!(cursor.recno().unwrap(), scope[4], "{self}");
            assert_eq!(cursor.key_no().unwrap(), Some(recnos.len() as u64), "{self}");
        }
    }

    fn key(&self, json: &Value) -> Option<Key> {
        if json.is_null() {
            return None;
        }
        let bytes;
        let value = match json {
            Value::String(text) => KeyValue::Character(text.as_bytes()),
            Value::Bool(value) => KeyValue::Logical(*value),
            Value::Number(number) => KeyValue::Number(number.as_f64().unwrap()),
            _ => match json["hex"].as_str() {
                Some(hex) => {
                    bytes = (0..hex.len())
                        .step_by(2)
                        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
                        .collect::<Vec<_>>();
                    KeyValue::Character(&bytes)
                }
                None => KeyValue::Date(days(json["d"].as_str().unwrap())),
            },
        };
        Some(self.order.key(&value).unwrap())
    }
}

/// Every golden order but the big ones.
fn goldens() -> Vec<Golden> {
    let mut all = Vec::new();
    let binary = Collation::binary();
    let open = |file: &str| Arc::new(Index::open(corpus(file), &IndexOptions::new()).unwrap());
    for (name, file) in [
        ("ord_cdx", "ord_cdx.cdx"),
        ("ord_nsx", "ord_nsx.nsx"),
        ("upd_cdx", "upd_cdx.cdx"),
        ("types_vfp", "types_vfp.cdx"),
    ] {
        let index = open(file);
        let orders = orders(name);
        assert_eq!(index.tags().len(), orders.len());
        all.extend(orders.iter().map(|json| Golden::new(name, &index, json, &binary)));
    }
    for json in orders("ord_ntx") {
        let index = open(&format!(
            "ord_ntx_{}.ntx",
            json["tag"].as_str().unwrap().trim_start_matches("T_")
        ));
        all.push(Golden::new("ord_ntx", &index, &json, &binary));
    }
    for (name, page, language) in NATIONAL {
        let collation = language
            .map_or(Ok(Collation::binary()), |language| Collation::national(language, page))
            .unwrap();
        let index = open(&format!("{name}.cdx"));
        all.extend(
            orders(name)
                .iter()
                .map(|json| Golden::new(name, &index, json, &collation)),
        );
        let name = format!("{name}n");
        for json in orders(&name) {
            let file = if json["tag"] == "T_TXT" { "t" } else { "u" };
            all.push(Golden::new(
                &name,
                &open(&format!("{name}_{file}.ntx")),
                &json,
                &collation,
            ));
        }
    }
    all
}

fn orders(name: &str) -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(corpus(&format!("{name}.orders.json"))).unwrap()).unwrap()
}

/// What Harbour shows as the key of each record.
fn keys(order: &Value) -> impl Iterator<Item = ((String, u32), Value)> {
    let tag = order["tag"].as_str().unwrap().to_owned();
    let recnos = order["recnos"].as_array().unwrap().clone();
    let keys = order["keys"].as_array().cloned().unwrap_or_default();
    recnos
        .into_iter()
        .zip(keys)
        .map(move |(recno, key)| ((tag.clone(), u32::try_from(recno.as_u64().unwrap()).unwrap()), key))
}

fn shown_as(value: &KeyValue<'_>) -> Value {
    match value {
        KeyValue::Character(text) => match text.iter().all(|byte| (32..127).contains(byte)) {
            true => Value::from(String::from_utf8(text.to_vec()).unwrap()),
            false => serde_json::json!({"hex": text.iter().map(|byte| format!("{byte:02X}")).collect::<String>()}),
        },
        KeyValue::Number(number) => Value::from(*number),
        KeyValue::Logical(value) => Value::from(*value),
        KeyValue::Date(None) => serde_json::json!({"d": "        "}),
        KeyValue::Date(Some(days)) => {
            let date = arrow_array::temporal_conversions::date32_to_datetime(*days).unwrap();
            serde_json::json!({"d": date.format("%Y%m%d").to_string()})
        }
        other => panic!("{other:?}"),
    }
}

/// Days since 1970-01-01 of YYYYMMDD.
fn days(text: &str) -> Option<i32> {
    use arrow_array::types::Date32Type;
    let date = format!("{}-{}-{}", text.get(..4)?, text.get(4..6)?, text.get(6..8)?);
    <Date32Type as arrow_cast::parse::Parser>::parse(&date)
}

fn big(file: &str) -> Arc<Index> {
    let bytes = zstd::decode_all(std::fs::File::open(corpus(&format!("{file}.zst"))).unwrap()).unwrap();
    let dialect = IndexDialect::from_path(Path::new(file)).unwrap();
    Arc::new(Index::from_bytes(bytes, dialect, &IndexOptions::new()).unwrap())
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
