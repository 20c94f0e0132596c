//! Generated statements over a generated table, answered here, by SQLite (Python's module `sqlite3`) and by DuckDB.
//!
//! Differences that are meant: a division gives a double here, so there is none; blanks of a DBF are 0 and the empty text, so the
//! table has no NULL.

use std::fmt::Write as _;
use std::process::Command;

use crate::rivals::{Random, answers};
use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::Connection;
use tidemill_ads::sql::{Answer, Prepared};
use tidemill_testkit::Python;

/// Reads statements, one a line; runs them; writes the rows of each between lines of dashes.
const SCRIPT: &str = r"
import sys
if sys.argv[1] == 'duckdb':
    import duckdb
    db = duckdb.connect()
else:
    import sqlite3
    db = sqlite3.connect(':memory:')
    db.execute('PRAGMA case_sensitive_like = ON')
for line in sys.stdin:
    rows = db.execute(line).fetchall()
    if line.startswith('SELECT'):
        for row in rows:
            print('|'.join('NULL' if v is None else v if isinstance(v, str) else '%.6f' % v for v in row))
        print('--')
";

impl Random {
    fn condition(&mut self, depth: u32) -> String {
        let number = self.below(400);
        let cents = self.below(10_000);
        match self.below(if depth == 0 { 8 } else { 11 }) {
            0 => format!("id {} {number}", self.of(&["=", "<", ">=", "<>", ">", "<="])),
            1 => format!("amt {} {}.{:02}", self.of(&["<", ">=", "="]), cents / 100, cents % 100),
            2 => format!(
                "tag {} '{}'",
                self.of(&["=", "<", ">=", "<>"]),
                self.of(&["AAAA", "BB", "C", "DDDDX", ""])
            ),
            3 => format!("amt BETWEEN {}.5 AND {}", cents / 200, cents / 100),
            4 => format!("qty IN ({}, {}, 3)", number % 10, number % 7),
            5 => format!("tag LIKE '{}'", self.of(&["A%", "%B", "_B%", "C", "%"])),
            6 => format!("amt * 2 > qty + {number}"),
            7 => format!("tag IN ('AAAA', '{}')", self.of(&["BB", "none"])),
            8 => format!("NOT ({})", self.condition(depth - 1)),
            9 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
        }
    }

    fn query(&mut self) -> String {
        let condition = self.condition(2);
        match self.below(8) {
            0 => format!("SELECT COUNT(*), SUM(amt), MIN(amt), MAX(qty), AVG(qty) FROM t WHERE {condition}"),
            1 => format!("SELECT tag, COUNT(*), SUM(amt), MAX(id) FROM t WHERE {condition} GROUP BY tag ORDER BY tag"),
            2 => format!(
                "SELECT tag, qty, COUNT(*) FROM t WHERE {condition} GROUP BY tag, qty HAVING COUNT(*) > 1 ORDER BY tag, qty"
            ),
            3 => format!("SELECT DISTINCT tag, qty FROM t WHERE {condition} ORDER BY 1, 2"),
            4 => format!(
                "SELECT id, amt FROM t WHERE {condition} ORDER BY amt DESC, id LIMIT {}",
                self.below(20)
            ),
            5 => format!("SELECT id, tag, amt FROM t WHERE {condition} ORDER BY id"),
            6 => format!(
                "SELECT id, CASE WHEN qty > 5 THEN amt + qty WHEN qty = 0 THEN -1 ELSE amt - 0.25 END, qty * 3 - id FROM t WHERE {condition} ORDER BY id"
            ),
            _ => format!("SELECT COUNT(DISTINCT tag), COUNT(DISTINCT qty), SUM(qty * amt) FROM t WHERE {condition}"),
        }
    }
}

/// Numbers with as many digits as the other side writes.
fn plain(line: &str) -> String {
    let cells = line.split('|').map(|cell| match cell.parse::<f64>() {
        Ok(number) => format!("{number:.6}"),
        Err(_) if cell == "''" => String::new(),
        Err(_) => cell.to_owned(),
    });
    cells.collect::<Vec<_>>().join("|").replace("-0.000000", "0.000000")
}

#[test]
fn generated_queries_are_answered_as_sqlite_answers_them() {
    let python = Command::new("python3");
    answered_alike("sqlite", python, ["INTEGER", "TEXT", "INTEGER", "REAL"]);
}

#[test]
fn generated_queries_are_answered_as_duckdb_answers_them() {
    let Some(python) = Python::need(&["duckdb==2.0.0"]) else {
        return;
    };
    answered_alike(
        "duckdb",
        python.command(),
        ["INTEGER", "VARCHAR", "INTEGER", "DECIMAL(8,2)"],
    );
}

fn answered_alike(engine: &str, mut python: Command, [id, tag, qty, amt]: [&str; 4]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = with_the_clock();
    let mut tables = connection.tables(&settings, &options);
    let seed = 20_241_121;
    let mut random = Random(seed);
    let mut run = |sql: &str| {
        let prepared = Prepared::new(sql, &mut tables).unwrap_or_else(|e| panic!("seed {seed}: {sql}: {e}"));
        prepared
            .run_static(&mut tables, &[])
            .unwrap_or_else(|e| panic!("seed {seed}: {sql}: {e}"))
    };
    let mut script = format!("CREATE TABLE t ( id {id}, tag {tag}, qty {qty}, amt {amt} )\n");
    run("CREATE TABLE t ( id Integer, tag Char(4), qty Integer, amt Numeric(8,2) )");
    for id in 1..=300 {
        let (tag, qty, cents) = (
            random.of(&["AAAA", "BB", "C", "ABAB", "", "bb"]),
            random.below(9),
            random.below(10_000),
        );
        let row = format!(
            "INSERT INTO t VALUES ( {id}, '{tag}', {qty}, {}.{:02} )",
            cents / 100,
            cents % 100
        );
        run(&row);
        let _ = writeln!(script, "{row}");
    }
    let queries: Vec<String> = (0..400).map(|_| random.query()).collect();
    for query in &queries {
        let _ = writeln!(script, "{query}");
    }
    let mut answers = answers(python.args(["-c", SCRIPT, engine]), script).into_iter();
    for (place, query) in queries.iter().enumerate() {
        if place == queries.len() / 2 {
            // The other half with orders to answer from.
            run("CREATE INDEX by_id ON t ( id )");
            run("CREATE INDEX by_tag ON t ( tag )");
        }
        let Answer::Rows(rows) = run(query) else {
            panic!("seed {seed}: {query} gives no rows");
        };
        let found: Vec<String> = lines_of(&rows).iter().map(|line| plain(line)).collect();
        let expected = answers.next().expect("an answer of the other");
        assert_eq!(found, expected, "{engine}, seed {seed}: {query}");
    }
}
