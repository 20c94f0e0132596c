//! What a transaction costs: appending 20,000 records of 45 bytes with a memo of 40, alone, in a folder in memory where there is
//! one, so that the processor is measured and not the disk. Three orders follow in the last rows.
//!
//! `cargo bench -p tidemill-xbase --bench transaction`: records per second of processor time, the best of five.

#![expect(clippy::print_stdout, reason = "a benchmark reports")]

use std::hint::black_box;
use std::time::Duration;

use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, Durability, EditOptions, FieldSpec, LogOptions, TableEditor, TableWriter, TransactionLog,
    Value,
};

const RECORDS: u32 = 20_000;
const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// Its name, how many records make a transaction (`None` without a log), and whether orders follow.
type Way = (&'static str, Option<(u32, Durability)>, bool);

const WAYS: [Way; 7] = [
    ("no log", None, false),
    ("one transaction", Some((RECORDS, Durability::Commit)), false),
    ("1000 records a transaction", Some((1000, Durability::Commit)), false),
    ("10 records a transaction", Some((10, Durability::Commit)), false),
    (
        "10 records a transaction, groups of 100",
        Some((10, Durability::Group(100))),
        false,
    ),
    ("three orders, no log", None, true),
    (
        "three orders, 1000 records a transaction",
        Some((1000, Durability::Commit)),
        true,
    ),
];

fn main() {
    for (name, way, ordered) in WAYS {
        let best = (0..5).map(|_| run(way, ordered)).min().unwrap_or_default();
        let rate = f64::from(RECORDS) / best.as_secs_f64();
        println!("{name:45} {:>9.1} ms  {rate:>10.0} records/s", best.as_secs_f64() * 1e3);
    }
}

fn run(way: Option<(u32, Durability)>, ordered: bool) -> Duration {
    let folder = tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new());
    let folder = folder.expect("a folder");
    let path = folder.path().join("t.dbf");
    let fields = [
        FieldSpec::new("NUMBER", 'N', 10, 0),
        FieldSpec::new("NAME", 'C', 24, 0),
        FieldSpec::new("NOTE", 'M', 10, 0),
    ];
    let writer = TableWriter::create(&path, &fields, &CreateOptions::new(TODAY)).expect("a table");
    writer.finish().expect("a table");
    let mut options = EditOptions::new(TODAY);
    let log = way.map(|(_, durability)| {
        let options = LogOptions::new().durability(durability);
        TransactionLog::open(folder.path().join("t.tmlog"), &options).expect("a log")
    });
    if let Some(log) = &log {
        options = options.log(log);
    }
    let mut table = TableEditor::open(&path, &options).expect("a table");
    if ordered {
        for (name, expression) in [
            ("NUMBER", "NUMBER"),
            ("NAME", "UPPER(NAME)"),
            ("BOTH", "STR(NUMBER)+NAME"),
        ] {
            table.create_order(&OrderSpec::new(name, expression)).expect("an order");
        }
    }
    let each = way.map_or(RECORDS, |(each, _)| each);
    let began = processor_time();
    for first in (0..RECORDS).step_by(each as usize) {
        let transaction = log.as_ref().map(|log| log.begin().expect("a transaction"));
        for number in first..first + each {
            let name = format!("name {}", number.wrapping_mul(2_654_435_761));
            let values = [
                (0, Value::Integer(number.into())),
                (1, Value::Text(&name)),
                (2, Value::Text("a note of forty characters, more or less")),
            ];
            black_box(table.append_values(&values)).expect("a record");
        }
        if let Some(transaction) = transaction {
            transaction.commit().expect("a commit");
        }
    }
    table.sync().expect("a table");
    processor_time().saturating_sub(began)
}

/// What this thread has had of the processor (Linux, proc(5)), so that a busy machine does not count.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}
