//! What statements cost over the reference table: 100,000 records of ID N(8), TAG C(4), AMT N(8,2), in a file that is open for reading, with
//! its columns warm. Each question is asked many times by its text, from the cache of statements, and the median and the least time are
//! told beside the limit of the issue.
//!
//! `cargo bench -p tidemill-ads --bench sql [-- rows]`

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use tidemill_ads::sql::{Answer, ConnectionTables, Prepared, StatementOptions, Statements, Tables, Value};
use tidemill_ads::{Connection, Settings};
use tidemill_xbase::Access;

/// A question, its limit in milliseconds for 100,000 records, and how many rows its answer has.
const QUESTIONS: &[(&str, f64)] = &[
    ("SELECT COUNT(*) FROM bench", 0.06),
    ("SELECT COUNT(*) FROM bench WHERE TAG = 'AAAA'", 0.15),
    ("SELECT SUM(AMT), AVG(AMT), MIN(AMT), MAX(AMT) FROM bench", 0.2),
    ("SELECT TAG, COUNT(*) FROM bench GROUP BY TAG", 0.25),
    ("SELECT ID, AMT FROM bench ORDER BY AMT DESC LIMIT 10", 0.4),
    ("SELECT DISTINCT TAG FROM bench", 0.25),
    ("SELECT COUNT(*) FROM bench WHERE AMT BETWEEN 100 AND 500", 0.25),
    ("SELECT {static} * FROM bench WHERE ID = 50000", 0.02),
    ("SELECT COUNT(*) FROM bench WHERE ID BETWEEN 10000 AND 20000", 0.2),
    ("SELECT {static} * FROM bench WHERE ID BETWEEN 10000 AND 20000", 0.2),
    ("SELECT TAG FROM bench GROUP BY TAG HAVING COUNT(*) > 100", 0.3),
    ("SELECT COUNT(*) FROM bench WHERE AMT * 2 > 100", f64::NAN),
    ("SELECT TAG, SUM(AMT) FROM bench GROUP BY TAG ORDER BY 2 DESC", f64::NAN),
    ("SELECT ID + 1, UPPER(TAG) FROM bench WHERE TAG = 'AAAA'", f64::NAN),
];

fn main() {
    let rows = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bench.dbf"), table(rows)).expect("a table");
    {
        let mut connection = Connection::open(folder.path()).expect("a connection");
        let (settings, options) = (Settings::default(), StatementOptions::default());
        let mut tables = connection.tables(&settings, &options);
        let prepared = Prepared::new("CREATE INDEX id ON bench ( ID )", &mut tables).expect("a statement");
        prepared.run(&mut tables, &[]).expect("an index");
    }
    // The racy-stamp rule keeps nothing of a file that was written just now.
    std::thread::sleep(Duration::from_millis(50));
    for access in [Access::Positional, Access::Mapped] {
        println!("{rows} records, {access:?}: median (least) ms, limit");
        questions(folder.path(), access);
    }
    point(folder.path());
    inserts(folder.path());
}

fn questions(folder: &Path, access: Access) {
    let mut connection = Connection::open(folder).expect("a connection");
    let (settings, options) = (
        Settings::default(),
        StatementOptions {
            access,
            ..StatementOptions::default()
        },
    );
    let mut tables = connection.tables(&settings, &options);
    let statements = Statements::default();
    for (sql, limit) in QUESTIONS {
        let first = Instant::now();
        let count = rows_of(statements.run(sql, &mut tables, &[]).expect(sql));
        let first = first.elapsed();
        let mut times: Vec<Duration> = (0..201)
            .map(|_| {
                let begin = Instant::now();
                black_box(rows_of(statements.run(sql, &mut tables, &[]).expect(sql)));
                begin.elapsed()
            })
            .collect();
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, least) = (ms(times[times.len() / 2]), ms(times[0]));
        let note = if median > *limit { "OVER" } else { "" };
        println!(
            "{median:9.4} ({least:.4}) {limit:6.2} {note:4} first {:8.3}  {count:6} rows  {sql}",
            ms(first)
        );
    }
}

/// A prepared point SELECT, and parsing alone.
fn point(folder: &Path) {
    let mut connection = Connection::open(folder).expect("a connection");
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    let sql = "SELECT {static} ID, TAG, AMT FROM bench WHERE ID = ?";
    let prepared = Prepared::new(sql, &mut tables).expect("a statement");
    let each = |count: u32, mut work: Box<dyn FnMut(u32) + '_>| {
        work(0);
        let begin = Instant::now();
        (0..count).for_each(&mut *work);
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(count)
    };
    let asked = each(
        20_000,
        Box::new(|n| {
            let id = Value::Integer(i64::from(n * 7919 % 100_000 + 1));
            black_box(prepared.run(&mut tables, &[id]).expect("an answer"));
        }),
    );
    println!("prepared point SELECT: {asked:.2} µs (limit 10)");
    let parsed = each(
        2_000,
        Box::new(|_| {
            drop(black_box(
                tidemill_ads::sql::parse(black_box(sql)).expect("a statement"),
            ))
        }),
    );
    println!("parsing it: {parsed:.2} µs");
}

fn inserts(folder: &Path) {
    let mut connection = Connection::open(folder).expect("a connection");
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    let run = |tables: &mut ConnectionTables<'_>, sql: &str| {
        let prepared = Prepared::new(sql, tables).expect(sql);
        prepared.run(tables, &[]).expect(sql)
    };
    run(
        &mut tables,
        "CREATE TABLE filled ( ID Integer, TAG Char(4), AMT Numeric(8,2) )",
    );
    let prepared = Prepared::new("INSERT INTO filled VALUES ( ?, ?, ? )", &mut tables).expect("a statement");
    tables.begin().expect("a transaction");
    let begin = Instant::now();
    let count = 20_000_u32;
    for n in 0..count {
        let values = [
            Value::Integer(i64::from(n)),
            Value::Text("AAAA".to_owned()),
            Value::Decimal {
                unscaled: i128::from(n),
                scale: 2,
            },
        ];
        prepared.run(&mut tables, &values).expect("an insertion");
    }
    let inserted = begin.elapsed();
    tables.commit().expect("a commit");
    let whole = begin.elapsed();
    println!(
        "prepared INSERT in a transaction: {:.0} a second ({:.0} with the commit; limit 100,000)",
        f64::from(count) / inserted.as_secs_f64(),
        f64::from(count) / whole.as_secs_f64()
    );
}

fn rows_of(answer: Answer) -> usize {
    match answer {
        Answer::Rows(rows) => rows.count(),
        other => panic!("{other:?}"),
    }
}

/// The reference table: amounts and tags by a linear congruential generator.
fn table(rows: u32) -> Vec<u8> {
    let mut bytes = vec![3, 124, 1, 31];
    bytes.extend(rows.to_le_bytes());
    bytes.extend([129, 0, 21, 0]);
    bytes.resize(32, 0);
    for (name, letter, width, decimals) in [(b"ID\0", b'N', 8, 0), (b"TAG", b'C', 4, 0), (b"AMT", b'N', 8, 2)] {
        let mut field = [0; 32];
        field[..3].copy_from_slice(name);
        (field[11], field[16], field[17]) = (letter, width, decimals);
        bytes.extend(field);
    }
    bytes.push(0x0D);
    let mut random = 12_345_u32;
    let mut text = String::new();
    for id in 1..=rows {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let tag = char::from(b'A' + u8::try_from((random >> 16) % 26).expect("a letter"));
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let cents = (random >> 8) % 99_999;
        text.clear();
        let _ = write!(text, " {id:8}{tag}{tag}{tag}{tag}{:5}.{:02}", cents / 100, cents % 100);
        bytes.extend(text.as_bytes());
    }
    bytes.push(0x1A);
    bytes
}
