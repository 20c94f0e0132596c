//! CDX files that are built from keys: those of Harbour byte for byte, and any other so that its reader gets the keys back.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tidemill_xbase::index::{
    Collation, Direction, Index, IndexBuilder, IndexDialect, IndexOptions, KeyType, OrderSpec, Tag,
};
use tidemill_xbase::{CodePage, Error};

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
        let mut builder = IndexBuilder::new(IndexDialect::Cdx, records, CodePage::Cp437);
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
            add(&mut builder, &spec, entries).unwrap();
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
fn nsx_files_that_harbour_built_come_out_byte_for_byte_where_pages_are_used() {
    let golden = bytes("ord_nsx.nsx");
    let index = Index::from_bytes(golden.clone(), IndexDialect::Nsx, &IndexOptions::new()).unwrap();
    let mut builder = IndexBuilder::new(IndexDialect::Nsx, 600, CodePage::Cp437);
    for tag in index.tags() {
        let (spec, entries) = remade(&index, tag, &Collation::binary());
        add(&mut builder, &spec, entries).unwrap();
    }
    let built = builder.finish().unwrap();
    let mut golden = golden;
    for page in golden.chunks_mut(1024).filter(|page| matches!(page[0], 2 | 3)) {
        // Where a last key was moved to the next leaf it is left behind what is used.
        let used = usize::from(u16::from_le_bytes([page[4], page[5]]));
        page[used..].fill(0);
    }
    assert_eq!(first_difference(&built, &golden), None);
}

#[test]
fn ntx_files_that_harbour_built_come_out_but_for_what_lies_behind_the_keys() {
    let mut files: Vec<String> = std::fs::read_dir(corpus(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".ntx") || name.ends_with(".ntx.zst"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 1 + 22 + 2 * 7);
    let mut pages_alike = (0, 0);
    for file in files {
        let golden = bytes(file.trim_end_matches(".zst"));
        let index = Index::from_bytes(golden.clone(), IndexDialect::Ntx, &IndexOptions::new()).unwrap();
        let collation = match file.split(['n', '_']).next().unwrap() {
            "cp850de" => Collation::national("de", CodePage::Cp850).unwrap(),
            "cp850es" => Collation::national("es", CodePage::Cp850).unwrap(),
            "cp1252de" => Collation::national("de", CodePage::Cp1252).unwrap(),
            "cp1252es" => Collation::national("es", CodePage::Cp1252).unwrap(),
            _ => Collation::binary(),
        };
        let tag = &index.tags()[0];
        let (spec, entries) = remade(&index, tag, &collation);
        let mut builder = IndexBuilder::new(IndexDialect::Ntx, 70_000, CodePage::Cp437);
        add(&mut builder, &spec, entries).unwrap();
        assert!(
            add(&mut builder, &spec, [(vec![b' '; tag.key_len], 1)]).is_err(),
            "a second order"
        );
        let built = builder.finish().unwrap();
        assert_eq!(built.len(), golden.len(), "{file}");
        assert_eq!(
            first_difference(&built[..1024], &golden[..1024]),
            None,
            "header of {file}"
        );
        for (page, golden) in built.chunks(1024).zip(golden.chunks(1024)).skip(1) {
            assert_eq!(items(page, tag.key_len), items(golden, tag.key_len), "{file}");
            pages_alike.0 += usize::from(page == golden);
            pages_alike.1 += 1;
        }
    }
    // The others share keys with the page before them, or were used before.
    assert_eq!(pages_alike, (1305, 1364));
}

#[test]
fn keys_that_take_more_memory_than_allowed_give_the_same_file() {
    let golden = bytes("big_cdx.cdx");
    let index = Index::from_bytes(golden, IndexDialect::Cdx, &IndexOptions::new()).unwrap();
    let tag = index.tags().iter().find(|tag| tag.name == "T_CODE").unwrap();
    for dialect in [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx] {
        for is_unique in [false, true] {
            let (spec, entries) = remade(&index, tag, &Collation::binary());
            let spec = spec.unique(is_unique).descending(true);
            let build = |limit: usize| {
                let mut builder = IndexBuilder::new(dialect, 70_000, CodePage::Cp437);
                let reports = Arc::new(Mutex::new(Vec::new()));
                let told = Arc::clone(&reports);
                let mut keys = builder
                    .keys(&spec)
                    .unwrap()
                    .memory_limit(limit)
                    .progress(move |progress| {
                        told.lock().unwrap().push((progress.keys, progress.total));
                        ControlFlow::Continue(())
                    });
                for (key, recno) in &entries {
                    keys.push(key, *recno).unwrap();
                }
                builder.add(&spec, keys).unwrap();
                let reports = std::mem::take(&mut *reports.lock().unwrap());
                assert_eq!(reports.len(), 2 * (70_000 / 4096), "{reports:?}");
                assert_eq!(reports.last(), Some(&(69_632, Some(70_000))));
                builder.finish().unwrap()
            };
            let (in_memory, in_runs) = (build(1 << 30), build(100_000));
            assert!(in_memory == in_runs, "{dialect:?}");
        }
    }
}

#[test]
fn an_order_that_is_stopped_leaves_no_trace_in_the_file() {
    for dialect in [IndexDialect::Cdx, IndexDialect::Nsx] {
        let spec = |name: &str| OrderSpec::new(name, "C").keys(KeyType::Character, 4);
        let mut builder = IndexBuilder::new(dialect, 9000, CodePage::Cp437);
        let mut first = builder.keys(&spec("FIRST")).unwrap();
        first.push(b"abcd", 1).unwrap();
        builder.add(&spec("FIRST"), first).unwrap();
        let mut stopped = builder
            .keys(&spec("STOPPED"))
            .unwrap()
            .progress(|progress| match progress.total {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            });
        for recno in 1..=9000 {
            stopped.push(format!("{recno:04}").as_bytes(), recno).unwrap();
        }
        assert!(matches!(builder.add(&spec("STOPPED"), stopped), Err(Error::Cancelled)));
        let index = Index::from_bytes(builder.finish().unwrap(), dialect, &IndexOptions::new()).unwrap();
        assert_eq!(index.tags().len(), 1);
        assert_eq!(index.verify(&[], Some(9000)).unwrap(), []);
    }
}

/// What an NTX page says: each item's page below, and its record and key but for the last item.
fn items(page: &[u8], key_len: usize) -> Vec<(u32, u32, &[u8])> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes(page[at..at + 2].try_into().unwrap()));
    let u32_at = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().unwrap());
    let count = u16_at(0);
    (0..=count)
        .map(|slot| u16_at(2 + 2 * slot))
        .enumerate()
        .map(|(slot, at)| match slot < count {
            true => (u32_at(at), u32_at(at + 4), &page[at + 8..at + 8 + key_len]),
            false => (u32_at(at), 0, &[][..]),
        })
        .collect()
}

/// What it takes to build an order again.
fn remade(index: &Index, tag: &Tag, collation: &Collation) -> (OrderSpec, Vec<(Vec<u8>, u32)>) {
    let order = index.order(&tag.name, key_type(tag), collation).unwrap();
    let entries = order.walk(Direction::Backward).map(|entry| {
        let entry = entry.unwrap();
        (entry.key().to_vec(), entry.recno())
    });
    let spec = OrderSpec::from(tag)
        .keys(key_type(tag), tag.key_len)
        .collation(collation.clone());
    (spec, entries.collect())
}

fn first_difference(built: &[u8], golden: &[u8]) -> Option<String> {
    let at = (0..golden.len().max(built.len())).find(|at| built.get(*at) != golden.get(*at))?;
    let near = |bytes: &[u8]| bytes.iter().skip(at / 16 * 16).take(32).copied().collect::<Vec<_>>();
    Some(format!("at {at}: {:x?} is not {:x?}", near(built), near(golden)))
}

#[test]
fn what_a_file_cannot_hold_is_refused() {
    let text = |name: &str, expression: &str, len| OrderSpec::new(name, expression).keys(KeyType::Character, len);
    let mut builder = IndexBuilder::new(IndexDialect::Cdx, 9, CodePage::Cp437);
    add(&mut builder, &text("TAG", "NAME", 4), [(b"abcd", 1)]).unwrap();
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
        let error = add(&mut builder, &spec, [(key, recno)]).unwrap_err().to_string();
        assert!(error.contains(why), "{error} does not say {why}");
    }
    let index = Index::from_bytes(builder.finish().unwrap(), IndexDialect::Cdx, &IndexOptions::new()).unwrap();
    assert_eq!(index.tags().len(), 1);
    assert_eq!(index.verify(&[], Some(9)).unwrap(), []);
}

#[test]
fn more_tags_than_a_page_of_names_holds_are_found() {
    let mut builder = IndexBuilder::new(IndexDialect::Cdx, 1, CodePage::Cp437);
    for number in 0..300 {
        let spec = OrderSpec::new(format!("T{number}"), "NAME").keys(KeyType::Character, 3);
        add(&mut builder, &spec, (number % 2 == 0).then_some((b"abc", 1))).unwrap();
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
        let mut builder = IndexBuilder::new(IndexDialect::Cdx, records, CodePage::Cp437);
        add(&mut builder, &spec, expected.clone()).unwrap();
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

/// Adds an order with all of its entries.
fn add<K: AsRef<[u8]>>(
    builder: &mut IndexBuilder,
    order: &OrderSpec,
    entries: impl IntoIterator<Item = (K, u32)>,
) -> Result<(), Error> {
    let mut keys = builder.keys(order)?;
    for (key, recno) in entries {
        keys.push(key.as_ref(), recno)?;
    }
    builder.add(order, keys)
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
