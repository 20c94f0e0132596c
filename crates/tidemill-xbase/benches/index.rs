//! How fast are orders sought in and walked?
//!
//! Data: the index files of the corpus with 70,000 entries, in memory; every page is decoded before the clock starts,
//! except for `first walk`. Question: how much CPU time one seek of a random key takes, one entry of a walk, going to a
//! random number, and the sorting and packing of one key. Beside them a binary search in a sorted array of the same keys.
//! Mean of half a second each.
//!
//! `cargo bench -p tidemill-xbase --bench index`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidemill_xbase::CodePage;
use tidemill_xbase::index::{
    Collation, Direction, End, Index, IndexBuilder, IndexDialect, IndexOptions, Key, KeyType, Order, OrderSpec,
};

const SEEKS: usize = 100_000;

fn main() {
    for (file, dialect, tag, key_type) in [
        ("big_cdx.cdx", IndexDialect::Cdx, "T_ID", KeyType::Number),
        ("big_cdx.cdx", IndexDialect::Cdx, "T_CODE", KeyType::Character),
        ("big_ntx_CODE.ntx", IndexDialect::Ntx, "T_CODE", KeyType::Character),
    ] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/");
        let packed = std::fs::File::open(format!("{path}{file}.zst")).expect("the file of the corpus");
        let bytes = zstd::decode_all(packed).expect("a whole file");
        let open = || {
            let index = Index::from_bytes(bytes.clone(), dialect, &IndexOptions::new()).expect("an index");
            index.order(tag, key_type, &Collation::binary()).expect("an order")
        };
        let order: Arc<Order> = open();
        let entries: Vec<(Vec<u8>, u32)> = order
            .walk(Direction::Forward)
            .map(|entry| {
                entry
                    .map(|entry| (entry.key().to_vec(), entry.recno()))
                    .expect("an entry")
            })
            .collect();
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % entries.len()
        };
        let picks: Vec<usize> = (0..SEEKS).map(|_| next()).collect();
        let keys: Vec<Key> = picks.iter().map(|pick| Key::raw(entries[*pick].0.as_slice())).collect();
        let mut cursor = order.cursor();

        let limit = mean(|| {
            for key in &keys {
                black_box(entries.partition_point(|entry| entry.0.as_slice() < key.as_bytes()));
            }
        });
        report(file, tag, "binary search in an array", limit, SEEKS);
        let seeks = mean(|| {
            for key in &keys {
                assert!(cursor.seek(key, End::First, false).expect("a seek"));
                black_box(cursor.recno());
            }
        });
        report(file, tag, "random seek", seeks, SEEKS);
        let seeks = mean(|| {
            for pick in &picks {
                let (key, recno) = &entries[*pick];
                assert!(cursor.seek_record(key, *recno).expect("a seek"));
            }
        });
        report(file, tag, "seek of a record", seeks, SEEKS);
        let walk = mean(|| {
            let mut count = 0;
            cursor.set_scope(None, None);
            while cursor.go_next().expect("a move") {
                count += usize::from(cursor.recno().is_some());
            }
            assert_eq!(count, entries.len());
        });
        report(file, tag, "walk by cursor", walk, entries.len());
        let walk = mean(|| {
            assert_eq!(
                order.walk(Direction::Backward).map(Result::unwrap).count(),
                entries.len()
            )
        });
        report(file, tag, "walk backward by iterator", walk, entries.len());
        let first = mean(|| {
            assert_eq!(
                open().walk(Direction::Forward).map(Result::unwrap).count(),
                entries.len()
            )
        });
        report(file, tag, "open and first walk", first, entries.len());
        let count = mean(|| assert_eq!(open().key_count().expect("a count"), entries.len() as u64));
        report(file, tag, "open and count", count, 1);
        let jumps = mean(|| {
            for pick in &picks {
                assert!(cursor.go_key_no(*pick as u64 + 1).expect("a move"));
            }
        });
        report(file, tag, "go to a number", jumps, SEEKS);
        let mut by_record = entries.clone();
        by_record.sort_by_key(|entry| entry.1);
        let spec = OrderSpec::new(tag, "X").keys(key_type, order.tag().key_len);
        let build = mean(|| {
            let mut builder = IndexBuilder::new(IndexDialect::Cdx, 70_000, CodePage::Cp437);
            let entries = by_record.iter().map(|(key, recno)| (key, *recno));
            let mut keys = builder.keys(&spec).expect("a type");
            for (key, recno) in entries {
                keys.push(key, recno).expect("a key");
            }
            builder.add(&spec, keys).expect("an order");
            black_box(builder.finish().expect("a file"));
        });
        report(file, tag, "build a CDX of the keys", build, entries.len());
    }
}

/// The mean of as many runs as half a second has.
fn mean(mut run: impl FnMut()) -> f64 {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut runs = 0;
    while start.elapsed() < Duration::from_millis(500) {
        run();
        runs += 1;
    }
    let seconds = match (cpu, cpu_seconds()) {
        (Some(begin), Some(end)) => end - begin,
        _ => start.elapsed().as_secs_f64(),
    };
    seconds / f64::from(runs)
}

/// How long this thread has run, where the system says it (Linux).
fn cpu_seconds() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = statistics.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

fn report(file: &str, tag: &str, what: &str, seconds: f64, count: usize) {
    println!(
        "{file:<18} {tag:<7} {what:<28} {:>10.1} ns",
        seconds * 1e9 / count as f64
    );
}
