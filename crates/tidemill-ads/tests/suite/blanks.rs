//! Blanks as values and as NULL ([`StatementOptions::blanks`]): generated statements are answered by SQLite too (Python's module `sqlite3`),
//! over values where blanks are values and over NULL where they are NULL; and every function of the page is tried over a blank.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;

use crate::rivals::{Random, answers};
use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::sql::{Answer, ConnectionTables, Error, Kind, Prepared, StatementOptions};
use tidemill_ads::{Connection, Durability, Settings, TableType};
use tidemill_xbase::Blank;

const PAGE: &str = include_str!("../../../../docs/ads/sql-functions.md");

/// Reads statements, one a line; runs them; writes the rows of each between lines of dashes. A MERGE is its condition, what it does to
/// rows that fulfil it, and what it does where there is none.
const SCRIPT: &str = r"
import sqlite3, sys
db = sqlite3.connect(':memory:')
for line in sys.stdin:
    line = line.rstrip('\n')
    if line.startswith('MERGE\t'):
        _, condition, update, insert = line.split('\t')
        found = db.execute('SELECT COUNT(*) FROM t WHERE ' + condition).fetchone()[0]
        db.execute(update if found else insert)
        continue
    rows = db.execute(line).fetchall()
    if line.startswith('SELECT'):
        for row in rows:
            print('|'.join('NULL' if v is None else v if isinstance(v, str) else '%.6f' % v for v in row))
        print('--')
";

/// What blanks are in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mode {
    blanks: Blank,
    table_type: TableType,
}

impl Mode {
    fn is_null(self) -> bool {
        self.blanks == Blank::Null
    }

    fn options(self) -> (Settings, StatementOptions) {
        let (settings, mut options) = with_the_clock();
        options.blanks = self.blanks;
        options.table.table_type = self.table_type;
        options.durability = Durability::None;
        (settings, options)
    }

    /// The SQL literal that stands for a blank field in SQLite.
    fn blank(self, column: &str) -> &'static str {
        match (self.blanks, column) {
            (Blank::Null, _) => "NULL",
            (_, "d") => "''",
            _ => "0",
        }
    }

    /// What of a statement only ADS SQL knows, as SQLite has it: `is_null(n)`, `ifnull(n, x)`, `is_empty(n)`, `shown(d)`, `null(n)`, each written with
    /// `@` before it and `~` behind.
    fn for_sqlite(self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('@') {
            let (call, after) = behind.split_once('~').expect("an end");
            let (name, inner) = call.split_once('(').expect("a call");
            let inner = inner.strip_suffix(')').expect("a call");
            let (column, other) = inner.split_once(", ").unwrap_or((inner, ""));
            let (blank, is_cdx) = (self.blank(column), self.table_type == TableType::Cdx);
            written.push_str(before);
            let _ = match name {
                "is_null" if self.is_null() || !is_cdx => write!(written, "({column} IS NULL)"),
                "is_null" => write!(written, "({column} = {blank})"),
                "ifnull" if self.is_null() || !is_cdx => write!(written, "IFNULL({column}, {other})"),
                "ifnull" => write!(written, "IFNULL(NULLIF({column}, {blank}), {other})"),
                "is_empty" if column == "d" && self.is_null() => write!(written, "(d IS NULL)"),
                "is_empty" if column == "d" => write!(written, "(d = '')"),
                "is_empty" => write!(written, "(IFNULL({column}, 0) = 0)"),
                "shown" => write!(written, "NULLIF({column}, '')"),
                "null" => write!(written, "{blank}"),
                other => panic!("{other}"),
            };
            rest = after;
        }
        written + rest
    }

    /// The same for ADS SQL.
    fn for_ads(self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('@') {
            let (call, after) = behind.split_once('~').expect("an end");
            let (name, inner) = call.split_once('(').expect("a call");
            let inner = inner.strip_suffix(')').expect("a call");
            written.push_str(before);
            let _ = match name {
                "is_null" => write!(written, "({inner} IS NULL)"),
                "ifnull" => write!(written, "IFNULL({inner})"),
                "is_empty" => write!(written, "EMPTY({inner})"),
                "shown" => write!(written, "{inner}"),
                // A field of Visual FoxPro that was made without NULL takes none.
                "null" => write!(
                    written,
                    "{}",
                    match (self.is_null() || self.table_type == TableType::Cdx, inner) {
                        (true, _) => "NULL",
                        (false, "d") => "CTOD('')",
                        (false, "f") => "FALSE",
                        _ => "0",
                    }
                ),
                other => panic!("{other}"),
            };
            rest = after;
        }
        written + rest
    }
}

impl Random {
    fn number(&mut self) -> String {
        self.of(&["0", "-2", "3", "5", "-0.5", "2.25", "7", "1"]).to_owned()
    }

    fn day(&mut self) -> String {
        format!("'2024-0{}-1{}'", 1 + self.below(3), self.below(3))
    }

    fn value_of(&mut self, column: &str) -> String {
        match column {
            "d" => self.day(),
            "f" => self.of(&["TRUE", "FALSE"]).to_owned(),
            "q" => self.of(&["0", "-2", "3", "5"]).to_owned(),
            _ => self.number(),
        }
    }

    fn blank_condition(&mut self, depth: u32) -> String {
        let column = self.of(&["n", "q", "d", "f"]);
        let number = self.of(&["n", "q"]);
        let operator = self.of(&["=", "<", ">=", "<>", ">", "<="]);
        match self.below(if depth == 0 { 12 } else { 17 }) {
            0 | 1 => format!("{number} {operator} {}", self.number()),
            2 => format!("{} {operator} {number}", self.number()),
            3 => format!("d {operator} {}", self.day()),
            4 => self
                .of(&["f", "f = TRUE", "f = FALSE", "f <> TRUE", "NOT f"])
                .to_owned(),
            5 => format!(
                "{number} BETWEEN {} AND {}",
                self.of(&["-3", "0", "1"]),
                self.of(&["0", "2.5", "9"])
            ),
            6 => format!("d BETWEEN {} AND {}", self.day(), self.day()),
            7 => format!("{number} IN ({}, {}, 3)", self.number(), self.number()),
            8 => format!("@is_null({column})~"),
            9 => format!("@is_empty({})~", self.of(&["n", "q", "d"])),
            10 => format!("n {operator} q"),
            11 => format!("@ifnull(n, {})~ {operator} q * 2", self.number()),
            12 | 13 => format!("NOT ({})", self.blank_condition(depth - 1)),
            14 | 15 => format!(
                "({} AND {})",
                self.blank_condition(depth - 1),
                self.blank_condition(depth - 1)
            ),
            _ => format!(
                "({} OR {})",
                self.blank_condition(depth - 1),
                self.blank_condition(depth - 1)
            ),
        }
    }

    fn blank_query(&mut self) -> String {
        let condition = self.blank_condition(3);
        let (column, key) = (self.of(&["n", "q"]), self.of(&["n", "q", "f", "tag"]));
        let descending = self.of(&["", " DESC"]);
        match self.below(12) {
            0 => format!(
                "SELECT COUNT(*), COUNT(n), SUM(n), AVG(n), MIN(n), MAX(n), COUNT(q), SUM(q) FROM t WHERE {condition}"
            ),
            1 => "SELECT COUNT(*), COUNT(n), COUNT(d), COUNT(f), SUM(q), AVG(q), MIN(q), MAX(q) FROM t".to_owned(),
            2 => format!("SELECT @shown(MIN(d))~, @shown(MAX(d))~, COUNT(d), COUNT(f) FROM t WHERE {condition}"),
            3 => format!(
                "SELECT {key}, COUNT(*), COUNT({column}), SUM({column}), MIN({column}) FROM t WHERE {condition} GROUP BY {key} ORDER BY 1{descending}"
            ),
            4 => format!(
                "SELECT {key}, @shown(MAX(d))~, COUNT(*) FROM t WHERE {condition} GROUP BY {key} HAVING COUNT({column}) > 1 ORDER BY 1{descending}"
            ),
            5 => format!("SELECT DISTINCT {column}, f FROM t WHERE {condition} ORDER BY 1{descending}, 2"),
            6 => format!(
                "SELECT {column} FROM t WHERE {condition} ORDER BY {column}{descending} LIMIT {}",
                self.below(40)
            ),
            7 => format!(
                "SELECT {column} FROM t ORDER BY {column}{descending} LIMIT {}",
                self.below(200)
            ),
            8 => format!("SELECT id, n, q, @shown(d)~, f FROM t WHERE {condition} ORDER BY d{descending}, n, id"),
            9 => format!(
                "SELECT id, n + 1, -q, n * q, @ifnull(n, 7)~, CASE WHEN n > q THEN 1 WHEN n <= q THEN 2 ELSE 3 END, COALESCE(@ifnull(q, NULL)~, -1), ABS(n) FROM t WHERE {condition} ORDER BY id"
            ),
            10 => format!("SELECT COUNT(DISTINCT n), COUNT(DISTINCT d), COUNT(DISTINCT f) FROM t WHERE {condition}"),
            _ => format!("SELECT id, n FROM t WHERE {column} = {}", self.of(&["0", "3", "5"])),
        }
    }

    /// A statement that changes records, for ADS SQL and for SQLite.
    fn change(&mut self, mode: Mode, next: u64) -> (String, String) {
        let condition = self.blank_condition(2);
        let column = self.of(&["n", "q", "d", "f"]);
        let value = match self.below(4) {
            0 => format!("@null({column})~"),
            1 if column == "n" => "q".to_owned(),
            1 if column == "q" => "q + 1".to_owned(),
            _ => self.value_of(column),
        };
        let few = format!("id <= {} AND {condition}", 20 + self.below(60));
        match self.below(4) {
            0 => {
                let text = format!("DELETE FROM t WHERE id = {} AND {condition}", 1 + self.below(next));
                (mode.for_ads(&text), mode.for_sqlite(&text))
            }
            1 => {
                let text = format!("UPDATE t SET {column} = {value} WHERE {few}");
                (mode.for_ads(&text), mode.for_sqlite(&text))
            }
            _ => {
                let update = format!("{column} = {value}");
                let insert = format!(
                    "INSERT INTO t ( id, tag, n, q, d, f ) VALUES ( {next}, 'M', @null(n)~, 5, @null(d)~, TRUE )"
                );
                let inserted = insert.strip_prefix("INSERT INTO t ").expect("an INSERT");
                let ads = format!(
                    "MERGE t ON ({few}) WHEN MATCHED THEN UPDATE SET {update} WHEN NOT MATCHED THEN INSERT {inserted}"
                );
                let sqlite = format!("MERGE\t{few}\tUPDATE t SET {update} WHERE {few}\t{insert}");
                (mode.for_ads(&ads), mode.for_sqlite(&sqlite))
            }
        }
    }
}

/// Numbers with as many digits as the other side writes.
fn plain(line: &str) -> String {
    let cells = line.split('|').map(|cell| match (cell, cell.parse::<f64>()) {
        (_, Ok(number)) => format!("{number:.6}"),
        ("true", _) => "1.000000".to_owned(),
        ("false", _) => "0.000000".to_owned(),
        ("''", _) => String::new(),
        _ => cell.to_owned(),
    });
    cells.collect::<Vec<_>>().join("|").replace("-0.000000", "0.000000")
}

fn answered_alike(mode: Mode, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = mode.options();
    let mut tables = connection.tables(&settings, &options);
    let mut random = Random(seed);
    let mut run = |sql: &str| {
        let prepared = Prepared::new(sql, &mut tables).unwrap_or_else(|e| panic!("{mode:?}, seed {seed}: {sql}: {e}"));
        prepared
            .run_static(&mut tables, &[])
            .unwrap_or_else(|e| panic!("{mode:?}, seed {seed}: {sql}: {e}"))
    };
    let mut script = "CREATE TABLE t ( id INTEGER, tag TEXT, n REAL, q INTEGER, d TEXT, f INTEGER )\n".to_owned();
    run("CREATE TABLE t ( id Integer, tag Char(4), n Numeric(6,2), q Numeric(4,0), d Date, f Logical )");
    let mut rows = Vec::new();
    for id in 1..=100 {
        let tag = random.of(&["AA", "B", "", "C"]);
        let (mut names, mut values) = (String::new(), String::new());
        let mut told = format!("{id}, '{tag}'");
        for column in ["n", "q", "d", "f"] {
            let is_blank = random.below(3) == 0;
            let value = random.value_of(column);
            let _ = match is_blank {
                true => write!(told, ", {}", mode.blank(column)),
                false => write!(told, ", {value}").and_then(|()| {
                    let _ = write!(names, ", {column}");
                    write!(values, ", {value}")
                }),
            };
        }
        // What is not given is blank.
        run(&format!(
            "INSERT INTO t ( id, tag{names} ) VALUES ( {id}, '{tag}'{values} )"
        ));
        rows.push(format!("({told})"));
    }
    let _ = writeln!(script, "INSERT INTO t VALUES {}", rows.join(", "));
    let mut statements = Vec::new();
    let mut next = 101;
    for round in 0..130 {
        if round % 13 == 12 {
            let (ads, sqlite) = random.change(mode, next);
            next += 1;
            let _ = writeln!(script, "{sqlite}");
            statements.push(ads);
            let all = "SELECT id, tag, n, q, @shown(d)~, f FROM t ORDER BY id";
            let _ = writeln!(script, "{}", mode.for_sqlite(all));
            statements.push(mode.for_ads(all));
        } else {
            let query = random.blank_query();
            let _ = writeln!(script, "{}", mode.for_sqlite(&query));
            statements.push(mode.for_ads(&query));
        }
    }
    let mut python = Command::new("python3");
    let mut answers = answers(python.args(["-c", SCRIPT]), script).into_iter();
    let half = statements.len() / 2;
    for (place, statement) in statements.iter().enumerate() {
        if place == half {
            // The other half with orders to answer from.
            for column in ["id", "n", "q", "d", "f"] {
                run(&format!("CREATE INDEX by_{column} ON t ( {column} )"));
            }
        }
        if let Answer::Rows(rows) = run(statement) {
            let found: Vec<String> = lines_of(&rows).iter().map(|line| plain(line)).collect();
            let expected = answers.next().expect("an answer of SQLite");
            // Without ORDER BY rows come as they lie in the table, here and there.
            assert_eq!(found, expected, "{mode:?}, seed {seed}, statement {place}: {statement}");
        }
    }
    assert_eq!(answers.next(), None);
}

#[test]
fn blanks_that_are_null_are_null_in_every_lane() {
    for (seed, table_type) in [(20_261, TableType::Cdx), (20_262, TableType::Vfp)] {
        let blanks = Blank::Null;
        answered_alike(Mode { blanks, table_type }, seed);
    }
}

#[test]
fn blanks_that_are_values_are_values_in_every_lane() {
    for (seed, table_type) in [(20_263, TableType::Cdx), (20_264, TableType::Vfp)] {
        let blanks = Blank::Zero;
        answered_alike(Mode { blanks, table_type }, seed);
    }
}

#[test]
fn a_statement_of_one_mode_is_bound_anew_in_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let mode = |blanks| Mode {
        blanks,
        table_type: TableType::Cdx,
    };
    let (settings, zero) = mode(Blank::Zero).options();
    let (_, null) = mode(Blank::Null).options();
    let mut tables = connection.tables(&settings, &zero);
    run("CREATE TABLE t ( id Integer, n Numeric(4,0) )", &mut tables).expect("a table");
    run("INSERT INTO t ( id ) VALUES ( 1 )", &mut tables).expect("a record");
    let bound = Prepared::new("SELECT n FROM t WHERE n < 1", &mut tables).expect("a statement");
    let count = |answer: Answer| match answer {
        Answer::Rows(rows) => rows.count(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        count(
            bound
                .run(&mut tables, &[])
                .and_then(|_| bound.run_static(&mut tables, &[]))
                .expect("rows")
        ),
        1
    );
    let mut tables = connection.tables(&settings, &null);
    let fault = bound.run_static(&mut tables, &[]).expect_err("another structure");
    assert_eq!(*fault.kind(), Kind::StructureChanged);
    assert_eq!(count(run("SELECT n FROM t WHERE n < 1", &mut tables).expect("rows")), 0);
    assert_eq!(
        count(run("SELECT n FROM t WHERE n IS NULL", &mut tables).expect("rows")),
        1
    );
    let mut tables = connection.tables(&settings, &zero);
    assert_eq!(count(bound.run_static(&mut tables, &[]).expect("rows")), 1);
}

fn run(sql: &str, tables: &mut ConnectionTables<'_>) -> Result<Answer, Error> {
    Prepared::new(sql, tables)?.run_static(tables, &[])
}

/// An example of the page with one of its literals cut out.
struct Cut {
    before: String,
    literal: String,
    behind: String,
    column_type: &'static str,
}

impl Cut {
    fn is_for_null(&self) -> bool {
        let names = ["COALESCE", "IFNULL", "ISNULL"];
        // The last one is given as it is.
        names.iter().any(|name| self.before.starts_with(name)) && self.behind != ")"
    }
}

/// Each literal of an example that a field whose blank can be NULL could hold.
fn cuts(example: &str) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut push = |from: usize, to: usize, column_type: &'static str| {
        cuts.push(Cut {
            before: example[..from].to_owned(),
            literal: example[from..to].to_owned(),
            behind: example[to..].to_owned(),
            column_type,
        });
    };
    let bytes = example.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match bytes[at] {
            b'\'' => {
                let end = at + 1 + example[at + 1..].find('\'').expect("an end");
                let text = &example[at + 1..end];
                if text.len() == 10 && text.starts_with("20") {
                    push(at, end + 1, "Date");
                }
                at = end + 1;
            }
            b'{' => {
                let end = at + example[at..].find('}').expect("an end");
                match &example[at + 1..at + 3] {
                    "d " => push(at, end + 1, "Date"),
                    "ts" => push(at, end + 1, "Timestamp"),
                    _ => {}
                }
                at = end + 1;
            }
            byte if byte.is_ascii_digit() && (at == 0 || !is_word(bytes[at - 1])) => {
                let len = bytes[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
                    .count();
                let is_argument = !example[..at].contains("SQL_") || example.starts_with("TIMESTAMPADD");
                if is_argument && len <= 10 {
                    push(at, at + len, "Numeric(16,5)");
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    cuts
}

#[test]
fn every_function_takes_a_blank_for_what_the_mode_says() {
    let rows = PAGE
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| function"));
    let examples = rows.filter_map(|line| line.split(" | ").nth(1)?.trim().strip_prefix('`')?.strip_suffix('`'));
    let cuts: Vec<Cut> = examples.flat_map(cuts).collect();
    assert!(cuts.len() > 60, "{}", cuts.len());
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (mut wrong, mut known) = (Vec::new(), HashMap::new());
    let named = |place: usize| format!("a{place}");
    for (table_type, table) in [(TableType::Cdx, "cdx"), (TableType::Vfp, "vfp")] {
        for blanks in [Blank::Zero, Blank::Null] {
            let (settings, options) = Mode { blanks, table_type }.options();
            let mut tables = connection.tables(&settings, &options);
            let mut run = |sql: &str| {
                let answer = Prepared::new(sql, &mut tables).and_then(|prepared| prepared.run_static(&mut tables, &[]));
                match answer {
                    Ok(Answer::Rows(rows)) => lines_of(&rows).iter().map(|line| plain(line)).collect::<Vec<_>>(),
                    Ok(_) => Vec::new(),
                    Err(error) => vec![format!("{:?}", error.kind())],
                }
            };
            if blanks == Blank::Zero {
                let cdx = |cut: &Cut| match (cut.column_type, table_type) {
                    // FoxPro 2 has no moments.
                    ("Timestamp", TableType::Cdx) => "Date",
                    (other, _) => other,
                };
                let columns: Vec<String> = cuts
                    .iter()
                    .enumerate()
                    .map(|(place, cut)| format!("{} {}", named(place), cdx(cut)))
                    .collect();
                assert_eq!(
                    run(&format!("CREATE TABLE {table} ( {} )", columns.join(", "))),
                    [""; 0]
                );
                let values: Vec<&str> = cuts.iter().map(|cut| cut.literal.as_str()).collect();
                assert_eq!(
                    run(&format!("INSERT INTO {table} VALUES ( {} )", values.join(", "))),
                    [""; 0]
                );
                assert_eq!(run(&format!("INSERT INTO {table} ( a0 ) VALUES ( DEFAULT )")), [""; 0]);
            }
            for (place, cut) in cuts.iter().enumerate() {
                if cut.column_type == "Timestamp" && table_type == TableType::Cdx {
                    continue;
                }
                let blank = match (blanks, cut.column_type) {
                    (Blank::Null, _) => "NULL",
                    // These take a blank for NULL in tables of xBase.
                    _ if table_type == TableType::Cdx && cut.is_for_null() => "NULL",
                    (_, "Numeric(16,5)") => "CAST(0 AS SQL_NUMERIC(16,5))",
                    (_, "Timestamp") => "CAST('' AS SQL_TIMESTAMP)",
                    _ => "CAST('' AS SQL_DATE)",
                };
                let literal = match cut.column_type {
                    "Numeric(16,5)" => format!("CAST({} AS SQL_NUMERIC(16,5))", cut.literal),
                    _ => cut.literal.clone(),
                };
                let mut over = |operand: &str| {
                    let sql = format!("SELECT {}{operand}{} FROM system.iota", cut.before, cut.behind);
                    known.entry(sql).or_insert_with_key(|sql| run(sql)).clone()
                };
                let expected = [over(&literal), over(blank)].concat();
                let found = run(&format!(
                    "SELECT {}{}{} FROM {table}",
                    cut.before,
                    named(place),
                    cut.behind
                ));
                if found != expected {
                    let what = format!("{}[{}]{}", cut.before, cut.literal, cut.behind);
                    wrong.push(format!(
                        "{table_type:?}, {blanks:?}: {what} gives {found:?}, not {expected:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of each type: a table of records 1 (blank), 2 (nothing, as it is written) and 3 (a value), and which of them fulfil a condition where blanks
/// are NULL.
#[test]
fn every_type_has_its_blank() {
    let types = [
        ("Numeric(8,2)", "0", "5.25", true),
        ("Integer", "0", "7", false),
        ("Money", "0", "2.5", false),
        ("Double", "0", "0.5", false),
        ("Logical", "FALSE", "TRUE", true),
        ("Date", "NULL", "'2024-02-29'", true),
        ("Timestamp", "NULL", "{ts '2024-02-29 10:11:12'}", true),
        ("Char(5)", "''", "'x'", false),
        ("Memo", "NULL", "'note'", false),
        ("Numeric(8,2) NULL", "0", "5.25", true),
        ("Date NULL", "NULL", "'2024-02-29'", true),
        ("Char(5) NULL", "''", "'x'", true),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let mode = Mode {
        blanks: Blank::Null,
        table_type: TableType::Vfp,
    };
    let (settings, options) = mode.options();
    let mut tables = connection.tables(&settings, &options);
    let mut wrong = Vec::new();
    for (place, (type_of, nothing, value, has_blank)) in types.into_iter().enumerate() {
        let table = format!("t{place}");
        let mut run = |sql: &str| run(sql, &mut tables).unwrap_or_else(|error| panic!("{sql}: {error}"));
        run(&format!("CREATE TABLE {table} ( id Integer, c {type_of} )"));
        run(&format!("INSERT INTO {table} ( id ) VALUES ( 1 )"));
        // NULL itself is nothing that such a field takes.
        let given = match nothing {
            "NULL" if !type_of.ends_with("NULL") => "DEFAULT",
            other => other,
        };
        run(&format!("INSERT INTO {table} VALUES ( 2, {given} ), ( 3, {value} )"));
        let is_nothing_null = nothing == "NULL";
        let known: Vec<i32> = match (has_blank, is_nothing_null) {
            (true, true) => vec![3],
            (true, false) => vec![2, 3],
            (false, _) => vec![1, 2, 3],
        };
        let null: Vec<i32> = (1..=3).filter(|id| !known.contains(id)).collect();
        let empty: Vec<i32> = known.iter().copied().filter(|id| *id != 3).collect();
        for is_indexed in [false, true] {
            if is_indexed && type_of.starts_with("Memo") {
                continue;
            }
            if is_indexed {
                run(&format!("CREATE INDEX c ON {table} ( c )"));
            }
            for (condition, expected) in [
                ("c IS NULL".to_owned(), &null),
                ("c IS NOT NULL".to_owned(), &known),
                (format!("c <> {value}"), &empty),
                (format!("NOT c = {value}"), &empty),
                (format!("c = {value} OR NOT c = {value}"), &known),
                (
                    format!("c IN ( {value} ) OR c IS NULL"),
                    &[null.as_slice(), &[3]].concat(),
                ),
                (format!("NOT ( c IS NULL OR c = {value} )"), &empty),
            ] {
                let Answer::Rows(rows) = run(&format!("SELECT id FROM {table} WHERE {condition} ORDER BY id")) else {
                    panic!("no rows")
                };
                let mut expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
                expected.sort();
                let found = lines_of(&rows);
                if found != expected {
                    wrong.push(format!(
                        "{type_of}, {is_indexed}: {condition} gives {found:?}, not {expected:?}"
                    ));
                }
            }
            let Answer::Rows(rows) = run(&format!("SELECT COUNT(c), COUNT(DISTINCT c) FROM {table}")) else {
                panic!("no rows")
            };
            let distinct = usize::from(!empty.is_empty()) + 1;
            let expected = format!("{}|{distinct}", known.len());
            if lines_of(&rows) != [expected.clone()] {
                wrong.push(format!("{type_of}: counts {:?}, not {expected}", lines_of(&rows)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
