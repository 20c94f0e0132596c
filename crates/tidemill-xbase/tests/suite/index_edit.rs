//! Entries that go in and out of orders of every format, against a sorted list of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::CodePage;
use tidemill_xbase::index::{
    Collation, Direction, IndexBuilder, IndexDialect, IndexEditor, IndexOptions, KeyType, OrderSpec,
};

/// An order as it should be: keys in stored form and records, under what decides between equal keys.
struct Model {
    entries: BTreeMap<(Vec<u8>, u64), u32>,
    is_unique: bool,
    is_descending: bool,
    /// Equal keys lie in the order of their records, and not as they came.
    is_sorted: bool,
    arrived: u64,
}

impl Model {
    fn insert(&mut self, key: &[u8], recno: u32) -> bool {
        let first = self.entries.range((key.to_vec(), 0)..).next();
        if self.is_unique && first.is_some_and(|((found, _), _)| found == key) {
            return false;
        }
        self.arrived += 1;
        let tie = if self.is_sorted { recno.into() } else { self.arrived };
        self.entries.insert((key.to_vec(), tie), recno).is_none()
    }

    /// In the order of a walk: equal keys of a descending order run backwards where its tree is walked backwards.
    fn walk(&self) -> Vec<(Vec<u8>, u32)> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|((key, _), recno)| (key.clone(), *recno))
            .collect();
        if self.is_descending {
            entries.reverse();
            if !self.is_sorted {
                entries.chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::reverse);
            }
        }
        entries
    }
}

/// Random numbers; the seed is in the name of the case that fails.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

const RECORDS: u32 = 200_000;

/// Changes one order at random and compares it with the model after each hundred changes.
fn check_random(path: &Path, tag: &str, key_type: KeyType, alphabet: &[u8], seed: u64, changes: usize) {
    let options = IndexOptions::new();
    let mut index = IndexEditor::open(path, &options).unwrap();
    let order = index.order(tag, key_type, &Collation::binary()).unwrap();
    let known = index.tags()[order].clone();
    let mut model = Model {
        entries: BTreeMap::new(),
        is_unique: known.is_unique,
        is_descending: known.is_descending,
        is_sorted: path
            .extension()
            .is_some_and(|extension| extension == "cdx" || extension == "nsx"),
        arrived: 0,
    };
    let walk = |index: &mut IndexEditor| -> Vec<(Vec<u8>, u32)> {
        let reader = index.reader().unwrap();
        let order = reader.order(tag, key_type, &Collation::binary()).unwrap();
        let mut findings = reader.verify(std::slice::from_ref(&order), Some(RECORDS)).unwrap();
        // Pages that an MDX, an NDX or an IDX does not need any more are in no list.
        findings.retain(|finding| !finding.is_note() || path.extension().is_some_and(|extension| extension == "cdx"));
        assert_eq!(findings, [], "seed {seed}");
        let entries = order.walk(Direction::Forward);
        entries
            .map(|entry| entry.map(|entry| (entry.key().to_vec(), entry.recno())).unwrap())
            .collect()
    };
    for (key, recno) in walk(&mut index) {
        assert!(model.insert(&key, recno));
    }
    let mut random = Random(seed);
    // Grow, shrink until nothing is left, and grow again.
    let mut grows = 7;
    for change in 0..changes {
        if change % (changes / 4) == 0 {
            grows = [8, 3, 0, 9][change / (changes / 4) % 4];
        }
        if random.next(10) < grows {
            let own = random.next(known.key_len) + 1;
            let key: Vec<u8> = (0..known.key_len)
                .map(|at| match (at < own, key_type) {
                    (true, _) => alphabet[random.next(alphabet.len())],
                    (false, KeyType::Character) => b' ',
                    (false, _) => 0,
                })
                .collect();
            let recno = match random.next(4) {
                0 => 1 + random.next(RECORDS as usize) as u32,
                _ => 1 + random.next(700) as u32,
            };
            // A record is in an order once.
            if !model.entries.values().any(|known| *known == recno) {
                assert_eq!(
                    index.insert(order, &key, recno).unwrap(),
                    model.insert(&key, recno),
                    "seed {seed}, change {change}"
                );
            }
        } else if !model.entries.is_empty() {
            let entries: Vec<_> = model.entries.keys().cloned().collect();
            let place = &entries[random.next(entries.len())];
            let recno = model.entries.remove(place).unwrap();
            assert!(!index.remove(order, &place.0, RECORDS + 1).unwrap());
            assert!(
                index.remove(order, &place.0, recno).unwrap(),
                "seed {seed}, change {change}"
            );
        }
        if change % 100 == 99 || change + 1 == changes {
            let (found, expected) = (walk(&mut index), model.walk());
            assert!(
                found == expected,
                "seed {seed}, change {change}: {} entries, not {}, or others",
                found.len(),
                expected.len()
            );
        }
    }
}

/// Changes an order of keys of which few have room in a page.
fn check_long(seed: u64, len: usize) {
    for dialect in ["cdx", "ntx", "nsx", "mdx", "ndx"] {
        let len = if matches!(dialect, "mdx" | "ndx") {
            len.min(100)
        } else {
            len
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long").with_extension(dialect);
        let dialect = IndexDialect::from_path(&path).unwrap();
        let mut builder = IndexBuilder::new(dialect, 9, CodePage::Cp437);
        let order = OrderSpec::new("T", "C").keys(KeyType::Character, len);
        builder.add(&order, builder.keys(&order).unwrap()).unwrap();
        std::fs::write(&path, builder.finish().unwrap()).unwrap();
        let tag = if dialect == IndexDialect::Ndx { "long" } else { "T" };
        check_random(&path, tag, KeyType::Character, b"ab", seed, 1200);
    }
}

#[test]
fn a_leaf_that_becomes_three_pages_at_once_leaves_no_branch_overfull() {
    check_long(11_304_682_330_592_749_574, 216);
}

#[test]
fn equal_keys_keep_the_order_in_which_they_came_when_a_leaf_between_them_goes() {
    check_long(862_796_328_421_786_989, 235);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn random_changes_of_a_cdx_give_what_a_sorted_list_gives(seed: u64) {
        for (tag, key_type) in [
            ("T_NAME", KeyType::Character),
            ("T_CODEU", KeyType::Character),
            ("T_NUM", KeyType::Number),
        ] {
            let (_folder, path) = copy("upd_cdx.cdx");
            check_random(&path, tag, key_type, b"ab \xFF", seed, 4000);
        }
    }

    #[test]
    fn random_changes_of_long_keys_give_what_a_sorted_list_gives(seed: u64, len in 60_usize..=240) {
        check_long(seed, len);
    }

    #[test]
    fn random_changes_of_an_ntx_give_what_a_sorted_list_gives(seed: u64) {
        for (file, tag, key_type) in [
            ("ord_ntx_NAME.ntx", "T_NAME", KeyType::Character),
            ("ord_ntx_CODEU.ntx", "T_CODEU", KeyType::Character),
            ("ord_ntx_CODED.ntx", "T_CODED", KeyType::Character),
            ("ord_ntx_COMP.ntx", "T_COMP", KeyType::Character),
        ] {
            let (_folder, path) = copy(file);
            check_random(&path, tag, key_type, b"ab ", seed, 3000);
        }
    }

    #[test]
    fn random_changes_of_indexes_of_dbase_and_foxbase_give_what_a_sorted_list_gives(seed: u64) {
        for (file, tag, key_type) in [
            ("hand.mdx", "CODE", KeyType::Character),
            ("hand.mdx", "NUMDOWN", KeyType::Number),
            ("hand.mdx", "DAY", KeyType::Date),
            ("hand.mdx", "UNI", KeyType::Character),
            ("hand_code.ndx", "hand_code", KeyType::Character),
            ("hand_num.ndx", "hand_num", KeyType::Number),
            ("hand_code.idx", "hand_code", KeyType::Character),
            ("hand_num.idx", "hand_num", KeyType::Number),
        ] {
            let (_folder, path) = copy(file);
            // As the first byte of a double, the two are those of small numbers.
            let alphabet: &[u8] = if key_type == KeyType::Character { b"ab \xFF" } else { b"\xBF\xC0" };
            check_random(&path, tag, key_type, alphabet, seed, 600);
        }
    }

    #[test]
    fn random_changes_of_an_nsx_give_what_a_sorted_list_gives(seed: u64) {
        for (tag, key_type) in [
            ("T_NAME", KeyType::Character),
            ("T_CODEU", KeyType::Character),
            ("T_CODED", KeyType::Character),
            ("T_NUMD", KeyType::Number),
            ("T_COMP", KeyType::Character),
        ] {
            let (_folder, path) = copy("ord_nsx.nsx");
            check_random(&path, tag, key_type, b"ab \xFF", seed, 3000);
        }
    }
}

/// A file of the corpus in a folder of its own.
fn copy(file: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../corpus/xbase")
            .join(file),
        &path,
    )
    .unwrap();
    (folder, path)
}
