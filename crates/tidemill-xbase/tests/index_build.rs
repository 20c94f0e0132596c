//! CDX files that are built from keys: those of Harbour byte for byte, and any other so that its reader gets the keys back.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tidemill_xbase::CodePage;
use tidemill_xbase::index::{
    CdxBuilder, Collation, Direction, Index, IndexDialect, IndexOptions, KeyType, OrderSpec, Tag,
};

#[test]
fn files_that_harbour_built_come_out_byte_for_byte() {
    let german = || Collation::national("de", CodePage::Cp850).unwrap();
    for (file, records, collation) in [
        ("ord_cdx.cdx", 600, Collation::binary()),
        ("big_cdx.cdx", 70_000, Collation::binary()),
        ("cp437.cdx", 323, Collation::binary()),
        ("cp850de.cdx", 323, german()),
    ] {
        let golden = bytes(file);
        let index = Index::from_bytes(golden.clone(), IndexDialect::Cdx, &IndexOptions::new()).unwrap();
        let mut builder = CdxBuilder::new(records, CodePage::Cp437);
        for tag in index.tags() {
            let order = index.order(&tag.name, key_type(tag), &collation).unwrap();
            let entries = order.walk(Direction::Backward).map(|entry| {
                let entry = entry.unwrap();
                (entry.key().to_vec(), entry.recno())
            });
            let mut spec = OrderSpec::new(&tag.name, &tag.expression)
                .keys(key_type(tag), tag.key_len)
                .unique(tag.is_unique)
                .descending(tag.is_descending)
                .custom(tag.is_custom)
                .collation(collation.clone());
            if let Some(condition) = &tag.condition {
                spec = spec.condition(condition);
            }
            builder.add(&spec, entries).unwrap();
        }
        let built = builder.finish().unwrap();
        if let Some(at) = (0..golden.len()).find(|at| built.get(*at) != golden.get(*at)) {
            let near = |bytes: &[u8]| bytes.iter().skip(at / 16 * 16).take(32).copied().collect::<Vec<_>>();
            panic!(
                "{file} differs at {at}: {:x?} is not {:x?}",
                near(&built),
                near(&golden)
            );
        }
        assert_eq!(built.len(), golden.len(), "{file}");
    }
}

#[test]
fn what_a_file_cannot_hold_is_refused() {
    let text = |name: &str, expression: &str, len| OrderSpec::new(name, expression).keys(KeyType::Character, len);
    let mut builder = CdxBuilder::new(9, CodePage::Cp437);
    builder.add(&text("TAG", "NAME", 4), [(b"abcd", 1)]).unwrap();
    for (spec, key, recno, why) in [
        (text("tag", "NAME", 4), &b"abcd"[..], 1, "already"),
        (OrderSpec::new("T2", "N").keys(KeyType::Number, 9), b"abcd", 1, "type N"),
        (text("T2", "C", 241), b"abcd", 1, "241"),
        (text("A name too long", "C", 4), b"abcd", 1, "15"),
        (text("T2", "", 4), b"abcd", 1, "expressions of 0"),
        (text("T2", &"x".repeat(511), 4), b"abcd", 1, "511"),
        (text("T2", "€", 4), b"abcd", 1, "cp437"),
        (text("T2", "C", 4), b"abc", 1, "3 bytes"),
        (text("T2", "C", 4), b"abcd", 10, "record 10"),
        (text("T2", "C", 4), b"abcd", 0, "record 0"),
    ] {
        let error = builder.add(&spec, [(key, recno)]).unwrap_err().to_string();
        assert!(error.contains(why), "{error} does not say {why}");
    }
    let index = Index::from_bytes(builder.finish().unwrap(), IndexDialect::Cdx, &IndexOptions::new()).unwrap();
    assert_eq!(index.tags().len(), 1);
    assert_eq!(index.verify(&[], Some(9)).unwrap(), []);
}

#[test]
fn more_tags_than_a_page_of_names_holds_are_found() {
    let mut builder = CdxBuilder::new(1, CodePage::Cp437);
    for number in 0..300 {
        let spec = OrderSpec::new(format!("T{number}"), "NAME").keys(KeyType::Character, 3);
        builder.add(&spec, (number % 2 == 0).then_some((b"abc", 1))).unwrap();
    }
    let index = Index::from_bytes(builder.finish().unwrap(), IndexDialect::Cdx, &IndexOptions::new()).unwrap();
    assert_eq!(index.tags().len(), 300);
    assert_eq!(index.verify(&[], Some(1)).unwrap(), []);
    for number in 0..300 {
        let order = index
            .order(&format!("t{number}"), KeyType::Character, &Collation::binary())
            .unwrap();
        assert_eq!(order.key_count().unwrap(), 1 - number % 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_keys_come_back_in_order(
        len in prop_oneof![1_usize..20, 200_usize..=240],
        seeds in prop::collection::vec((any::<u64>(), 0_usize..12), 0..700),
        wide in any::<bool>(),
        is_unique in any::<bool>(),
    ) {
        // Few letters, so that keys share their beginnings, and blanks at their ends.
        let key = |seed: u64, own: usize| -> Vec<u8> {
            (0..len).map(|i| if i < own { b" ab\xFF"[(seed >> (2 * i % 62)) as usize & 3] } else { b' ' }).collect()
        };
        let records = if wide { 400_000_000 } else { 700 };
        let mut expected: Vec<(Vec<u8>, u32)> =
            seeds.iter().zip(0..).map(|((seed, own), i)| (key(*seed, *own), records - i)).collect();
        let spec = OrderSpec::new("T", "X").keys(KeyType::Character, len).unique(is_unique);
        let mut builder = CdxBuilder::new(records, CodePage::Cp437);
        builder.add(&spec, expected.clone()).unwrap();
        let index = Index::from_bytes(builder.finish().unwrap(), IndexDialect::Cdx, &IndexOptions::new()).unwrap();
        let order = index.order("T", KeyType::Character, &Collation::binary()).unwrap();
        prop_assert_eq!(index.verify(std::slice::from_ref(&order), Some(records)).unwrap(), []);
        expected.sort();
        if is_unique {
            expected.dedup_by(|a, b| a.0 == b.0);
        }
        let read: Vec<(Vec<u8>, u32)> = order.walk(Direction::Forward).map(|entry| {
            let entry = entry.unwrap();
            (entry.key().to_vec(), entry.recno())
        }).collect();
        prop_assert_eq!(read, expected);
    }
}

fn key_type(tag: &Tag) -> KeyType {
    match tag.name.as_str() {
        "T_NUM" | "T_NUMD" | "T_ID" | "T_YEAR" | "T_AMT" => KeyType::Number,
        "T_DAT" | "T_DATD" => KeyType::Date,
        "T_LOG" => KeyType::Logical,
        _ => KeyType::Character,
    }
}

fn bytes(file: &str) -> Vec<u8> {
    let packed = corpus(&format!("{file}.zst"));
    if packed.exists() {
        return zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
    }
    std::fs::read(corpus(file)).unwrap()
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
