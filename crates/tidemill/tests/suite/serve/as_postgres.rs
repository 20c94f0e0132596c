//! Statements beside PostgreSQL: the same names of columns and the same rows, but for those whose reason is written down.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tidemill_testkit::Postgres;

use super::Served;
use crate::run::Folder;

const STATEMENTS: &str = include_str!("as_postgres.sql");

const TABLES: &str = "
    CREATE TABLE customers (cust_no int, name varchar(20), city varchar(20));
    CREATE TABLE orders (order_no int, cust_no int, day date, total numeric(10, 2), paid boolean, note varchar(20));
    CREATE TABLE events (id int, at timestamp, amount double precision);
    INSERT INTO customers VALUES (1, 'Ann', 'York'), (2, 'Olav', 'Oslo'), (3, 'Mia', 'York');
    INSERT INTO orders VALUES
        (1, 1, '2024-02-29', 10.5, true, 'late'),
        (2, 2, '2024-03-01', 20, false, NULL),
        (3, 2, '2024-03-04', 30.25, true, 'gift'),
        (4, 1, '2023-12-31', 12, false, NULL);
    INSERT INTO events VALUES
        (1, '2024-02-29 12:30:00', 1.5),
        (2, '2024-02-29 12:45:30.25', 2.25),
        (3, '2024-03-01 00:00:00', -4);
";

/// A statement, and why it differs over a table of a format.
struct Asked<'t> {
    statement: &'t str,
    /// The formats over which it differs, as `dbf` and `parquet`.
    differs: Vec<&'t str>,
}

/// The statements of the file. `--! dbf parquet: why` stands before one that differs.
fn asked() -> Vec<Asked<'static>> {
    let (mut all, mut differs) = (Vec::new(), Vec::new());
    for line in STATEMENTS.lines() {
        if let Some(formats) = line.strip_prefix("--! ") {
            let (formats, why) = formats.split_once(": ").expect("formats and a reason");
            assert!(!why.is_empty(), "{line}");
            differs = formats.split(' ').collect();
        } else if !line.starts_with("--") {
            let differs = std::mem::take(&mut differs);
            all.push(Asked {
                statement: line,
                differs,
            });
        }
    }
    all
}

/// What psql shows of each statement, as CSV; an error is the empty text.
fn answers(place: &str, statements: &[Asked<'_>]) -> Vec<String> {
    let mut text = "\\pset format csv\n\\pset null NULL\n".to_owned();
    for (number, asked) in statements.iter().enumerate() {
        text += &format!("\\echo @@{number}\n{};\n", asked.statement);
    }
    let mut psql = Command::new("psql")
        .args(["-X", "-q", "-d", place])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("psql, which postgresql-client has");
    let mut input = psql.stdin.take().expect("piped");
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()).expect("written"));
    let output = psql.wait_with_output().expect("ended");
    writing.join().expect("written");
    let mut parts: BTreeMap<usize, String> = BTreeMap::new();
    let mut number = None;
    for line in String::from_utf8(output.stdout).expect("UTF-8").lines() {
        match line.strip_prefix("@@").and_then(|rest| rest.parse().ok()) {
            Some(begun) => number = Some(begun),
            None => {
                let part = parts.entry(number.expect("a number")).or_default();
                *part += line;
                part.push('\n');
            }
        }
    }
    (0..statements.len())
        .map(|number| parts.remove(&number).unwrap_or_default())
        .collect()
}

#[test]
fn statements_give_the_rows_of_postgresql() {
    let Some(server) = Postgres::need() else { return };
    drop(server.psql(TABLES).expect("tables"));
    let statements = asked();
    let expected = answers(&server.url(), &statements);
    let failed = expected.iter().zip(&statements).filter(|(answer, _)| answer.is_empty());
    let failed: Vec<_> = failed.map(|(_, asked)| asked.statement).collect();
    assert!(failed.is_empty(), "PostgreSQL refuses {failed:?}");
    for (format, options) in [
        ("parquet", &[][..]),
        ("dbf", &["--to-dialect", "visual-foxpro", "--lossy"]),
    ] {
        let folder = Folder::with(&[]);
        std::fs::create_dir(folder.file("tables")).expect("made");
        for table in ["customers", "orders", "events"] {
            let (from, to) = (format!("{}/{table}", server.url()), format!("tables/{table}.{format}"));
            let args: Vec<&str> = ["copy", &from, &to]
                .into_iter()
                .chain(options.iter().copied())
                .collect();
            drop(folder.run(&args).done());
        }
        let served = Served::with(folder, &["tables"]);
        let place = format!("host=127.0.0.1 port={} user=ann dbname=tidemill", served.port());
        let found = answers(&place, &statements);
        let mut wrong = Vec::new();
        for ((asked, expected), found) in statements.iter().zip(&expected).zip(found) {
            let is_same = *expected == found;
            if is_same == asked.differs.contains(&format) {
                let what = if is_same { "is the same" } else { "differs" };
                wrong.push(format!("{} {what}\n{expected}---\n{found}", asked.statement));
            }
        }
        assert!(wrong.is_empty(), "over {format}:\n{}", wrong.join("\n"));
    }
}
