//! What does it cost to keep indexes current, and to make them?
//!
//! Data: a table of 100,000 records, ID N(8,0) from 1 on, TAG C(4) of 26 values, AMT N(8,2) at random, 21 bytes a record, in a
//! folder for temporary files. Questions: CREATE INDEX on each field, from opening the table to the file under its name, on the
//! disk; records appended a second with no index and with orders on all three fields, one by one and in batches of 10,000,
//! buffered (open exclusively, flushed at the end), and beside others (locked, written and unlocked each; 20,000 records);
//! opening the table with its orders; one entry put in at random and one taken out at random, beside making the same order in
//! one go. CPU time of this thread, the least of five runs.
//!
//! `cargo bench -p tidemill-xbase --bench index_changes`

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};
use tidemill_xbase::index::{
    Collation, Direction, Index, IndexBuilder, IndexDialect, IndexEditor, IndexOptions, KeyType, OrderSpec,
};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, EditOptions, FieldSpec, KeySettings, OpenMode, OpenOptions, Table, TableEditor,
    TableWriter, Value, build_index,
};

const ROWS: u32 = 100_000;
const SHARED_ROWS: u32 = 20_000;
const OPENINGS: u32 = 50;
const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ref.dbf");
    let orders = || {
        [
            OrderSpec::new("ID", "ID"),
            OrderSpec::new("TAG", "TAG"),
            OrderSpec::new("AMT", "AMT"),
        ]
    };
    let rows = rows();

    let append = |with_orders: bool, mode: OpenMode| {
        drop(empty(&path, if with_orders { orders().to_vec() } else { Vec::new() }));
        let options = EditOptions::new(TODAY).mode(mode);
        let mut table = TableEditor::open(&path, &options).expect("a table");
        seconds(|| {
            let count = if mode == OpenMode::Shared { SHARED_ROWS } else { ROWS } as usize;
            for (id, tag, amount) in rows.iter().take(count) {
                let amount = Value::Decimal {
                    unscaled: (*amount).into(),
                    scale: 2,
                };
                table
                    .append_values(&[(0, Value::Integer(*id)), (1, Value::Text(tag)), (2, amount)])
                    .expect("a record");
                table.unlock_all().expect("its lock");
            }
            table.flush().expect("a flush");
        })
    };
    let bare = least(|| append(false, OpenMode::Exclusive));
    report("append, no index", bare, ROWS);
    let kept = least(|| append(true, OpenMode::Exclusive));
    report("append, three orders", kept, ROWS);
    let shared = least(|| append(false, OpenMode::Shared));
    report("append beside others, no index", shared, SHARED_ROWS);
    let shared = least(|| append(true, OpenMode::Shared));
    report("append beside others, three orders", shared, SHARED_ROWS);

    let batches: Vec<RecordBatch> = rows.chunks(10_000).map(batch).collect();
    for with_orders in [false, true] {
        let batched = least(|| {
            let mut table = empty(&path, if with_orders { orders().to_vec() } else { Vec::new() });
            seconds(|| {
                for batch in &batches {
                    table.append_batch(batch).expect("records");
                }
                table.flush().expect("a flush");
            })
        });
        let what = if with_orders {
            "append in batches, three orders"
        } else {
            "append in batches, no index"
        };
        report(what, batched, ROWS);
    }
    // The table that is left is indexed next.
    let _ = append(true, OpenMode::Exclusive);

    let open = least(|| {
        seconds(|| {
            for _ in 0..OPENINGS {
                drop(TableEditor::open(&path, &EditOptions::new(TODAY)).expect("a table"));
            }
        })
    });
    report("open the table and its three orders", open, OPENINGS);

    let settings = KeySettings::new(CodePage::Cp437);
    let made = folder.path().join("made.cdx");
    for order in orders() {
        let name = order.name().to_owned();
        let order = [order];
        let create = least(|| {
            seconds(|| {
                let table = Table::open(&path, &OpenOptions::new()).expect("a table");
                build_index(&made, &table, &order, &settings).expect("an index");
            })
        });
        report(&format!("CREATE INDEX on {name}, whole, on the disk"), create, ROWS);
    }

    for (dialect, name) in [
        (IndexDialect::Cdx, "cdx"),
        (IndexDialect::Ntx, "ntx"),
        (IndexDialect::Nsx, "nsx"),
    ] {
        let index = Index::open(&made, &IndexOptions::new()).expect("an index");
        let amounts = index
            .order("AMT", KeyType::Number, &Collation::binary())
            .expect("an order");
        // As text, so that every format can have them; shuffled by the record.
        let mut entries: Vec<(Vec<u8>, u32)> = amounts
            .walk(Direction::Forward)
            .map(|entry| {
                let entry = entry.expect("an entry");
                (entry.key().to_vec(), entry.recno())
            })
            .collect();
        entries.sort_by_key(|(_, recno)| recno.wrapping_mul(2_654_435_761));
        let order = OrderSpec::new("T", "X").keys(KeyType::Character, 8);
        let build = |entries: &[(Vec<u8>, u32)]| {
            let mut builder = IndexBuilder::new(dialect, ROWS, CodePage::Cp437);
            let mut keys = builder.keys(&order).expect("a sorter");
            for (key, recno) in entries {
                keys.push(key, *recno).expect("a key");
            }
            builder.add(&order, keys).expect("an order");
            builder.finish().expect("a file")
        };
        let bulk = least(|| seconds(|| drop(black_box(build(&entries)))));
        report(&format!("{name}: built in one go"), bulk, ROWS);
        let path = folder.path().join("changed").with_extension(name);
        let (mut least_in, mut least_out) = (f64::MAX, f64::MAX);
        for _ in 0..RUNS {
            std::fs::write(&path, build(&[])).expect("a file");
            let mut index = IndexEditor::open(&path, &IndexOptions::new()).expect("an index");
            let at = index
                .order("T", KeyType::Character, &Collation::binary())
                .expect("an order");
            least_in = least_in.min(seconds(|| {
                for (key, recno) in &entries {
                    assert!(index.insert(at, key, *recno).expect("an entry"));
                }
                index.flush().expect("a flush");
            }));
            least_out = least_out.min(seconds(|| {
                for (key, recno) in &entries {
                    assert!(index.remove(at, key, *recno).expect("an entry"));
                }
                index.flush().expect("a flush");
            }));
        }
        report(&format!("{name}: put in at random"), least_in, ROWS);
        report(&format!("{name}: taken out at random"), least_out, ROWS);
    }
}

const RUNS: usize = 5;

/// IDs ascend, tags are of 26 values, amounts are random.
fn rows() -> Vec<(i64, String, i64)> {
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    (1..=i64::from(ROWS))
        .map(|id| {
            let letter = char::from(b'A' + u8::try_from(next(26)).unwrap_or_default());
            (id, String::from_iter([letter; 4]), i64::from(next(100_000)))
        })
        .collect()
}

fn batch(rows: &[(i64, String, i64)]) -> RecordBatch {
    let amounts = Decimal128Array::from_iter_values(rows.iter().map(|row| i128::from(row.2)));
    let columns: [(&str, ArrayRef); 3] = [
        (
            "ID",
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))),
        ),
        (
            "TAG",
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.1))),
        ),
        (
            "AMT",
            Arc::new(amounts.with_precision_and_scale(10, 2).expect("decimals")),
        ),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// An empty table with these orders.
fn empty(path: &Path, orders: Vec<OrderSpec>) -> TableEditor {
    let _ = std::fs::remove_file(path.with_extension("cdx"));
    let fields = [
        FieldSpec::new("ID", 'N', 8, 0),
        FieldSpec::new("TAG", 'C', 4, 0),
        FieldSpec::new("AMT", 'N', 8, 2),
    ];
    TableWriter::create(path, &fields, &CreateOptions::new(TODAY))
        .and_then(TableWriter::finish)
        .expect("a table");
    let mut table = TableEditor::open(path, &EditOptions::new(TODAY)).expect("a table");
    for order in orders {
        table.create_order(&order).expect("an order");
    }
    table
}

fn least(mut run: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

fn seconds(run: impl FnOnce()) -> f64 {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    run();
    match (cpu, cpu_seconds()) {
        (Some(begin), Some(end)) => end - begin,
        _ => start.elapsed().as_secs_f64(),
    }
}

/// How long this thread has run, where the system says it (Linux).
fn cpu_seconds() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = statistics.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

fn report(what: &str, seconds: f64, count: u32) {
    println!(
        "{what:<44} {:>9.3} ms {:>9.1} ns each {:>11.0} a second",
        seconds * 1e3,
        seconds * 1e9 / f64::from(count),
        f64::from(count) / seconds
    );
}
