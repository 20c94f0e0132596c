//! The ranges of every scheme are those that the kernel showed while Harbour held them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidemill_xbase::{LockRange, LockScheme, OpenOptions, Table};

#[test]
fn every_range_is_the_one_harbour_locked() {
    let shown: Value = serde_json::from_str(&std::fs::read_to_string(corpus("locks.json")).unwrap()).unwrap();
    let mut seen = 0;
    for (driver, table) in [("DBFCDX", "ord_cdx.dbf"), ("DBFNTX", "ord_ntx.dbf")] {
        let table = Table::open(corpus(table), &OpenOptions::new()).unwrap();
        for (index, scheme) in LockScheme::ALL.into_iter().enumerate() {
            let name = ["CLIPPER", "COMIX", "VFP", "HB32", "HB64", "CLIPPER2"][index];
            let shown = &shown[format!("{driver}/{name}")];
            // DBFNTX took the ranges of scheme 6 where it was asked for Comix.
            let scheme = match (driver, scheme) {
                ("DBFNTX", LockScheme::Comix) => LockScheme::Clipper2,
                _ => scheme,
            };
            assert_eq!(
                shown["scheme"],
                LockScheme::ALL.iter().position(|s| *s == scheme).unwrap() + 1
            );
            let locks = scheme.table(table.header());
            assert_eq!(range(&shown["record_1"]), locks.record(1), "{driver}/{name}");
            assert_eq!(range(&shown["record_5"]), locks.record(5), "{driver}/{name}");
            assert_eq!(range(&shown["file"]), locks.file(), "{driver}/{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn the_header_never_shares_a_byte_with_the_records() {
    let table = Table::open(corpus("ord_cdx.dbf"), &OpenOptions::new()).unwrap();
    for scheme in LockScheme::ALL {
        let locks = scheme.table(table.header());
        assert!(!locks.header().overlaps(&locks.file()), "{scheme:?}");
        assert!(locks.file().overlaps(&locks.record(1)), "{scheme:?}");
        assert_eq!(locks.record(9).byte_len(), 1);
    }
}

#[test]
fn readers_of_an_index_take_slots_that_its_writer_takes_all() {
    for scheme in LockScheme::ALL {
        let index = scheme.index();
        for slot in [0, 1, 17, 0xFFFF, 0x1_0000, u64::MAX] {
            let (read, write) = (index.read(slot), index.write());
            assert!(read.start >= write.start && read.end <= write.end, "{scheme:?} {slot}");
        }
        assert_eq!(index.write().byte_len(), index.pool() + 1);
        assert_eq!(index.read(0) == index.read(1), index.pool() == 0, "{scheme:?}");
    }
    assert_eq!(
        LockScheme::Comix.index().write(),
        LockRange {
            start: 0xFFFE_FFFF,
            end: 0xFFFF_FFFF
        }
    );
    assert_eq!(
        LockScheme::Vfp.index().write(),
        LockRange {
            start: 0x7FFF_FFFE,
            end: 0x7FFF_FFFE
        }
    );
}

/// The POSIX lock among the lines of /proc/locks.
fn range(lines: &Value) -> LockRange {
    let line = lines
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line[0] == "POSIX")
        .unwrap();
    let byte = |at: usize| line[at].as_str().unwrap().parse().unwrap();
    LockRange {
        start: byte(3),
        end: byte(4),
    }
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(name)
}
