//! How fast does a condition become a bitmap, and how fast are fields added up and grouped?
//!
//! Data: 100,000 and 1,000,000 records of 21 bytes, mapped: ID N(8,0), TAG C(4) one of 26, AMT N(8,2), one record in a hundred
//! deleted. Question: the processor time of one pass, beside two limits that are measured in the same run: summing the
//! bytes as words of 64 bits, and a loop written by hand for the one question. Shortest of 31.
//!
//! `cargo bench -p tidemill-xbase --bench filter`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidemill_xbase::aggregate::{Selected, Top};
use tidemill_xbase::aof::{Filter, FilterOrders, OrderedRecords};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{Access, ColumnCache, Columns, KeySettings, OpenOptions, Sharing, Table, TableIndex, build_index};

const STRIDE: usize = 21;

fn main() {
    for rows in [100_000, 1_000_000] {
        let bytes = table_bytes(rows);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), &bytes).expect("a written file");
        let options = OpenOptions::new().access(Access::Mapped);
        let table = Arc::new(Table::open(file.path(), &options).expect("a table"));
        let environment = Environment::new(table.codepage());
        let body = &bytes[bytes.len() - rows * STRIDE..];
        let read = shortest(|| {
            let words = body.as_chunks::<8>().0.iter();
            black_box(words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word))));
        });
        report(rows, "limit: every byte as words", read, read);
        let by_hand = shortest(|| {
            let bits = body.chunks(64 * STRIDE).map(|records| {
                let records = records.chunks_exact(STRIDE).enumerate();
                records.fold(0, |word, (i, record)| word | u64::from(&record[9..13] == b"AAAA") << i)
            });
            black_box(bits.collect::<Vec<u64>>());
        });
        report(rows, "limit: TAG by hand", by_hand, read);
        for condition in [
            "TAG = 'AAAA'",
            "UPPER(TAG) = 'AAAA'",
            "TAG >= 'DDDD' .AND. TAG <= 'FFFF'",
            ".NOT. DELETED()",
            "AMT > 500",
            "AMT >= 100 .AND. AMT <= 500",
            "ID >= 10000 .AND. ID <= 20000",
            "TAG = 'AAAA' .AND. AMT < 100 .OR. DELETED()",
            "'AA' $ TAG",
            "AMT * 2 > ID",
        ] {
            let filter = Filter::new(condition, &table, &environment).expect("a filter");
            let time = shortest(|| {
                black_box(filter.bitmap(&table).expect("a bitmap"));
            });
            report(rows, condition, time, read);
        }
        aggregates(rows, &table, read);
        by_orders(rows, &table, &environment, read);
    }
}

/// Aggregates with an empty cache, and with one that holds them.
fn aggregates(rows: usize, table: &Arc<Table>, read: Duration) {
    type Question = (&'static str, fn(&Columns));
    let questions: [Question; 5] = [
        ("count", |columns| {
            black_box(columns.count(Selected::Undeleted).expect("a count"));
        }),
        ("sum, min, max of AMT", |columns| {
            black_box(columns.summary(2, Selected::Undeleted).expect("a sum"));
        }),
        ("group by TAG", |columns| {
            black_box(columns.groups(1, None, Selected::Undeleted).expect("groups"));
        }),
        ("group by TAG, sum of AMT", |columns| {
            black_box(columns.groups(1, Some(2), Selected::Undeleted).expect("groups"));
        }),
        ("top 10 of AMT", |columns| {
            black_box(columns.top(2, 10, Top::Greatest, Selected::Undeleted).expect("a list"));
        }),
    ];
    let columns = || Columns::new(table, &ColumnCache::new(64 << 20), Sharing::Exclusive).expect("columns");
    for (name, run) in questions {
        let first = shortest_of(31, || {
            let columns = columns();
            let begin = Instant::now();
            run(&columns);
            begin.elapsed()
        });
        report(rows, name, first, read);
        let columns = columns();
        run(&columns);
        let again = shortest(|| run(&columns));
        report(rows, &format!("{name}, again"), again, read);
    }
}

/// Filters that orders answer, and walks through their records.
fn by_orders(rows: usize, table: &Arc<Table>, environment: &Environment, read: Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bench.cdx");
    let specs = ["ID", "TAG", "AMT"].map(|field| OrderSpec::new(field, field));
    let settings = KeySettings::new(table.codepage());
    build_index(&path, table, &specs, &settings).expect("an index");
    let open = || TableIndex::open(&path, table, &settings).expect("an index");
    for condition in [
        "TAG = 'AAAA'",
        "ID >= 10000 .AND. ID <= 20000",
        "AMT >= 100 .AND. AMT <= 500",
    ] {
        let filter = Filter::new(condition, table, environment).expect("a filter");
        let index = open();
        let orders = FilterOrders::new(table, index.orders()).expect("orders");
        let first = shortest_of(7, || {
            // Its pages are decoded anew, and counting them is not part of it.
            let index = open();
            let orders = FilterOrders::new(table, index.orders()).expect("orders");
            let begin = Instant::now();
            black_box(filter.bitmap_by(table, &orders).expect("a bitmap"));
            begin.elapsed()
        });
        report(rows, &format!("{condition} by order, first"), first, read);
        let time = shortest(|| {
            black_box(filter.bitmap_by(table, &orders).expect("a bitmap"));
        });
        report(rows, &format!("{condition} by order"), time, read);
        let set = filter.bitmap_by(table, &orders).expect("a bitmap");
        let walk = shortest(|| {
            let mut at = set.first();
            while let Some(recno) = at {
                at = set.skip(black_box(recno), 1);
            }
        });
        report(set.count() as usize, "  walk", walk, read);
        for name in ["ID", "AMT"] {
            let first = shortest_of(7, || {
                let index = open();
                let order = index.order(name).expect("an order").order();
                let begin = Instant::now();
                let ordered = OrderedRecords::new(&set, order).expect("a walk");
                black_box(ordered.iter().count());
                begin.elapsed()
            });
            report(
                set.count() as usize,
                &format!("  walk along {name}, first"),
                first,
                read,
            );
            let order = index.order(name).expect("an order").order();
            let walk = shortest(|| {
                let ordered = OrderedRecords::new(&set, order).expect("a walk");
                let mut at = ordered.first();
                while let Some(recno) = at {
                    at = ordered.skip(black_box(recno), 1);
                }
            });
            report(set.count() as usize, &format!("  walk along {name}"), walk, read);
        }
    }
}

/// The reference table.
fn table_bytes(rows: usize) -> Vec<u8> {
    let mut bytes = vec![0x03, 124, 1, 31];
    bytes.extend(u32::try_from(rows).expect("few rows").to_le_bytes());
    bytes.extend([129, 0, 21, 0]);
    bytes.resize(32, 0);
    for (name, letter, width, decimals) in [("ID", b'N', 8, 0), ("TAG", b'C', 4, 0), ("AMT", b'N', 8, 2)] {
        let mut descriptor = [0; 32];
        descriptor[..name.len()].copy_from_slice(name.as_bytes());
        (descriptor[11], descriptor[16], descriptor[17]) = (letter, width, decimals);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    let mut random = 1_u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    for id in 1..=rows {
        let flag = if next() % 100 == 0 { '*' } else { ' ' };
        let tag = char::from(b'A' + u8::try_from(next() % 26).expect("a letter"));
        let amount = f64::from(next() % 100_000) / 100.0;
        bytes.extend(format!("{flag}{id:8}{tag}{tag}{tag}{tag}{amount:8.2}").as_bytes());
    }
    bytes
}

fn shortest_of(count: usize, run: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(run).take(count).min().unwrap_or_default()
}

fn shortest(mut run: impl FnMut()) -> Duration {
    let one = |run: &mut dyn FnMut()| {
        let begin = Instant::now();
        run();
        begin.elapsed()
    };
    (0..31).map(|_| one(&mut run)).min().unwrap_or_default()
}

fn report(rows: usize, what: &str, time: Duration, read: Duration) {
    let us = time.as_secs_f64() * 1e6;
    let (per_row, ratio) = (us * 1e3 / rows as f64, time.as_secs_f64() / read.as_secs_f64());
    println!("{rows:8} rows  {what:44} {us:9.1} us  {per_row:6.2} ns a record  {ratio:6.2}");
}
