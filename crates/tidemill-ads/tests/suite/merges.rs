//! Generated MERGE, UPDATE … FROM and DELETE … FROM, beside a model over SQLite (Python's module `sqlite3`) that takes the rows of the source one
//! behind the other, with blanks as values and as NULL.

use std::fmt::Write as _;
use std::process::Command;

use crate::rivals::{Random, answers};
use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::sql::{Answer, Prepared};
use tidemill_ads::{Connection, Durability, TableType};
use tidemill_xbase::Blank;

/// A line is what is done, and its parts, with tabs between them; `:c` is a column of the source's row. A MERGE has a source, a condition, what an
/// UPDATE sets and the values that an INSERT gives, each of which may be empty. UPDATE and DELETE change a row once.
const MODEL: &str = r"
import re, sqlite3, sys
db = sqlite3.connect(':memory:')
for line in sys.stdin:
    what, *parts = line.rstrip('\n').split('\t')
    if what == 'RUN':
        db.execute(parts[0])
        continue
    if what == 'SHOW':
        for row in db.execute(parts[0]):
            print('|'.join('NULL' if v is None else v if isinstance(v, str) else '%.6f' % v for v in row))
        print('--')
        continue
    source, condition, setting, insert = parts
    rows = db.execute('SELECT id, tag, n, q, d FROM ' + source + ' ORDER BY rowid').fetchall() if source else [()]
    done = set()
    for row in rows:
        values = dict(zip(['id', 'tag', 'n', 'q', 'd'], row))
        found = [r[0] for r in db.execute('SELECT rowid FROM t WHERE ' + condition, values)]
        if found:
            if what != 'MERGE':
                found = [r for r in found if r not in done]
                done.update(found)
            for record in found if what != 'DELETE' and setting else []:
                db.execute('UPDATE t SET ' + setting + ' WHERE rowid = %d' % record, values)
            if what == 'DELETE':
                for record in found:
                    db.execute('DELETE FROM t WHERE rowid = %d' % record)
        elif insert:
            db.execute('INSERT INTO t ' + insert, values)
";

impl Random {
    /// The names of the columns that are not blank, and their values.
    fn record(&mut self) -> (Vec<&'static str>, Vec<String>) {
        let mut values = vec![("id", self.below(25).to_string())];
        values.push(("tag", format!("'{}'", self.of(&["A", "B", "CC"]))));
        if self.below(4) > 0 {
            values.push(("n", self.of(&["0", "-1.5", "2", "7.25"]).to_owned()));
        }
        if self.below(4) > 0 {
            values.push(("q", self.of(&["0", "1", "2", "3"]).to_owned()));
        }
        if self.below(4) > 0 {
            values.push(("d", format!("'2024-01-0{}'", 1 + self.below(3))));
        }
        values.into_iter().unzip()
    }

    /// A condition, for ADS SQL and for the model.
    fn match_condition(&mut self) -> (String, String) {
        let first = self.of(&[
            "t.id = s.id",
            "t.id = s.id",
            "s.id = t.id",
            "t.id = s.id AND t.q > s.q",
            "t.id = s.id AND t.n <= s.n",
            "t.id = s.id + 1",
            "t.d = s.d AND t.id < 5",
            "t.q = s.q AND t.id < 4",
            "t.tag = s.tag AND t.id = 3",
            "t.id = s.id AND (t.d < s.d OR t.q <> s.q)",
            "t.id = s.id AND NOT t.q = 1",
        ]);
        both(first)
    }

    fn setting(&mut self) -> (String, String) {
        let set = self.of(&[
            "n = s.n",
            "q = s.q",
            "d = s.d",
            "tag = s.tag",
            "q = 3 - s.q, d = s.d",
            "n = s.n - s.q",
            "n = s.q, q = 1",
            "n = 1",
        ]);
        both(set)
    }

    fn insert(&mut self) -> (String, String) {
        let insert = self.of(&[
            "( id, n ) VALUES ( s.id, s.n )",
            "( id, tag, n, q, d ) VALUES ( s.id, s.tag, s.n, s.q, s.d )",
            "( id, q ) VALUES ( s.id + 1, 2 )",
            "VALUES ( s.id, 'new', s.q, s.q, s.d )",
        ]);
        both(insert)
    }
}

/// A text about the target `t` and the source `s`, for ADS SQL and for the model.
fn both(text: &str) -> (String, String) {
    (text.to_owned(), text.replace("s.", ":"))
}

/// Numbers with as many digits as the model writes.
fn plain(line: &str) -> String {
    let cells = line.split('|').map(|cell| match cell.parse::<f64>() {
        Ok(number) => format!("{number:.6}"),
        Err(_) => cell.to_owned(),
    });
    cells.collect::<Vec<_>>().join("|").replace("-0.000000", "0.000000")
}

fn changed_alike(blanks: Blank, table_type: TableType, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, mut options) = with_the_clock();
    (options.blanks, options.table.table_type) = (blanks, table_type);
    options.durability = Durability::None;
    let mut tables = connection.tables(&settings, &options);
    let mut random = Random(seed);
    let what = format!("{blanks:?}, {table_type:?}, seed {seed}");
    let mut run = |sql: &str| {
        let answer = Prepared::new(sql, &mut tables).and_then(|prepared| prepared.run_static(&mut tables, &[]));
        answer.unwrap_or_else(|e| panic!("{what}: {sql}: {e}"))
    };
    // What is not given is blank.
    let defaults = match blanks {
        Blank::Null => ["NULL", "NULL"],
        _ => ["0", "''"],
    };
    let mut script = String::new();
    for table in ["t", "s"] {
        run(&format!(
            "CREATE TABLE {table} ( id Integer, tag Char(3), n Numeric(8,2), q Numeric(4,0), d Date )"
        ));
        let [number, date] = defaults;
        let _ = writeln!(
            script,
            "RUN\tCREATE TABLE {table} ( id INTEGER, tag TEXT DEFAULT '', n REAL DEFAULT {number}, q INTEGER DEFAULT {number}, d TEXT DEFAULT {date} )"
        );
    }
    run("CREATE INDEX id ON t ( id )");
    let mut statements = Vec::new();
    for round in 0..45 {
        let fresh = match round {
            0 => "t",
            _ if round % 5 == 0 => "s",
            _ => "",
        };
        if !fresh.is_empty() || round == 1 {
            let fresh = if fresh.is_empty() { "s" } else { fresh };
            let clear = format!("DELETE FROM {fresh}");
            let _ = writeln!(script, "RUN\t{clear}");
            statements.push(clear);
            for _ in 0..(if fresh == "t" { 15 } else { 6 }) {
                let (columns, values) = random.record();
                let insert = format!(
                    "INSERT INTO {fresh} ( {} ) VALUES ( {} )",
                    columns.join(", "),
                    values.join(", ")
                );
                let _ = writeln!(script, "RUN\t{insert}");
                statements.push(insert);
            }
        }
        let ((on, condition), (set, setting), (insert, inserted)) =
            (random.match_condition(), random.setting(), random.insert());
        let (has_update, has_insert) = match random.below(4) {
            0 => (true, false),
            1 => (false, true),
            _ => (true, true),
        };
        match random.below(6) {
            0 => {
                statements.push(format!("UPDATE t SET {set} FROM t INNER JOIN s ON {on}"));
                let _ = writeln!(script, "UPDATE\ts\t{condition}\t{setting}\t");
            }
            1 if random.below(4) == 0 => {
                statements.push(format!("DELETE FROM t FROM t INNER JOIN s ON {on}"));
                let _ = writeln!(script, "DELETE\ts\t{condition}\t\t");
            }
            _ => {
                let mut merge = format!("MERGE INTO t USING s ON ( {on} )");
                if has_update {
                    let _ = write!(merge, " WHEN MATCHED THEN UPDATE SET {set}");
                }
                if has_insert {
                    let _ = write!(merge, " WHEN NOT MATCHED THEN INSERT {insert}");
                }
                statements.push(merge);
                let setting = if has_update { setting.as_str() } else { "" };
                let inserted = if has_insert { inserted.as_str() } else { "" };
                let _ = writeln!(script, "MERGE\ts\t{condition}\t{setting}\t{inserted}");
            }
        }
        let show = "SELECT id, tag, n, q, d FROM t ORDER BY id, tag, n, q, d";
        statements.push(show.to_owned());
        let _ = writeln!(script, "SHOW\t{}", show.replacen("q, d", "q, NULLIF(d, '')", 1));
    }
    let mut python = Command::new("python3");
    let mut answers = answers(python.args(["-c", MODEL]), script).into_iter();
    let mut before = String::new();
    for statement in &statements {
        if let Answer::Rows(rows) = run(statement) {
            let mut found: Vec<String> = lines_of(&rows).iter().map(|line| plain(line)).collect();
            let mut expected = answers.next().expect("an answer of the model");
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{what}: {before}");
        }
        before.clone_from(statement);
    }
}

#[test]
fn generated_merges_do_what_a_model_does() {
    changed_alike(Blank::Zero, TableType::Cdx, 20_271);
    changed_alike(Blank::Zero, TableType::Vfp, 20_272);
}

#[test]
fn generated_merges_do_what_a_model_does_where_blanks_are_null() {
    changed_alike(Blank::Null, TableType::Cdx, 20_273);
    changed_alike(Blank::Null, TableType::Vfp, 20_274);
}
