//! ANY and ALL in the list of a SELECT and in ON: what the analytical engine is given for them has the truth values of SQL, as SQLite
//! (Python's module `sqlite3`) finds out.

use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::rivals::answers;
use tidemill_ads::sql::{Analytical, AnalyticalQuery, Error, Kind, Rows, StatementOptions};
use tidemill_ads::{Connection, Settings};

/// Keeps the text of a query.
#[derive(Debug, Default)]
struct Listener(Mutex<String>);

impl Analytical for Listener {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, Error> {
        query.text().clone_into(&mut self.0.lock().unwrap());
        Err(Error::new(Kind::Stopped, "it was listened to"))
    }
}

const A: [(i64, Option<i64>); 5] = [(1, Some(1)), (2, Some(5)), (3, Some(9)), (4, None), (5, Some(2))];
const B: [(i64, Option<i64>); 6] = [
    (1, Some(2)),
    (2, Some(5)),
    (2, Some(5)),
    (3, None),
    (4, Some(1)),
    (4, None),
];

/// Whether a row of B is taken for a row of A, by their numbers.
type Takes = fn(i64, i64) -> bool;

/// Which rows of B a subquery takes for a row of A.
const CONDITIONS: [(&str, Takes); 5] = [
    ("", |_, _| true),
    (" WHERE b.id < 3", |_, b| b < 3),
    (" WHERE b.id > 9", |_, _| false),
    (" WHERE b.id = a.id", |a, b| a == b),
    (" WHERE b.id <> a.id AND b.id = 2", |a, b| b != a && b == 2),
];

fn compared(operator: &str, x: i64, y: i64) -> bool {
    match operator {
        "<" => x < y,
        "<=" => x <= y,
        ">" => x > y,
        ">=" => x >= y,
        "=" => x == y,
        _ => x != y,
    }
}

/// The truth value of a quantified comparison; `None` for unknown.
fn truth(operator: &str, is_all: bool, x: Option<i64>, values: &[Option<i64>]) -> Option<bool> {
    let each = values.iter().map(|y| Some(compared(operator, x?, (*y)?)));
    let each: Vec<Option<bool>> = each.collect();
    match each.contains(&Some(!is_all)) {
        true => Some(!is_all),
        false if each.contains(&None) => None,
        false => Some(is_all),
    }
}

fn shown(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "1",
        Some(false) => "0",
        None => "None",
    }
}

#[test]
fn any_and_all_are_written_out_where_engines_have_no_plan_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    let listener = Arc::<Listener>::default();
    connection.set_analytical(Some(listener.clone()));
    let (settings, options) = (Settings::default(), StatementOptions::default());
    for table in ["a ( id Integer, v Integer )", "b ( id Integer, w Integer )"] {
        let sql = format!("CREATE TABLE {table}");
        connection.execute(&sql, &[], &settings, &options).unwrap();
    }
    let mut asked = |sql: &str| {
        let run = connection.execute(sql, &[], &settings, &options);
        assert!(run.is_err(), "{sql} was not given to the engine");
        std::mem::take(&mut *listener.0.lock().unwrap())
    };
    let (mut texts, mut expected) = (Vec::new(), Vec::new());
    for operator in ["<", "<=", ">", ">=", "=", "<>"] {
        for (quantifier, is_all) in [("ANY", false), ("SOME", false), ("ALL", true)] {
            for (condition, takes) in CONDITIONS {
                for distinct in ["", "DISTINCT "] {
                    let test = format!("a.v {operator} {quantifier} ( SELECT {distinct}w FROM b{condition} )");
                    let of = |(id, v): &(i64, Option<i64>)| {
                        let values: Vec<_> = B.iter().filter(|(b, _)| takes(*id, *b)).map(|(_, w)| *w).collect();
                        truth(operator, is_all, *v, &values)
                    };
                    texts.push(asked(&format!("SELECT id, {test} FROM a ORDER BY id")));
                    let list = A.iter().map(|row| format!("{}|{}", row.0, shown(of(row))));
                    expected.push(list.collect::<Vec<_>>());
                    texts.push(asked(&format!(
                        "SELECT a.id FROM a LEFT JOIN b c ON c.id = 1 AND {test} WHERE c.id IS NOT NULL ORDER BY 1"
                    )));
                    let joined = A.iter().filter(|row| of(row) == Some(true));
                    expected.push(joined.map(|row| row.0.to_string()).collect());
                }
            }
        }
    }
    let mut script = String::from("import sqlite3\ndb = sqlite3.connect(':memory:')\n");
    script.push_str("db.execute('CREATE TABLE a (id, v)')\ndb.execute('CREATE TABLE b (id, w)')\n");
    let row =
        |(id, value): &(i64, Option<i64>)| format!("({id}, {})", value.map_or("None".to_owned(), |v| v.to_string()));
    for (table, rows) in [("a", &A[..]), ("b", &B[..])] {
        let rows: Vec<String> = rows.iter().map(row).collect();
        script.push_str(&format!(
            "db.executemany('INSERT INTO {table} VALUES (?, ?)', [{}])\n",
            rows.join(", ")
        ));
    }
    for text in &texts {
        script.push_str(&format!(
            "for r in db.execute({text:?}): print('|'.join(str(v) for v in r))\nprint('--')\n"
        ));
    }
    let answers = answers(&mut Command::new("python3"), script);
    assert_eq!(answers.len(), texts.len());
    for ((text, expected), found) in texts.iter().zip(&expected).zip(&answers) {
        assert_eq!(found, expected, "{text}");
        assert!(!text.contains(" ANY") && !text.contains(" ALL"), "{text}");
    }

    // What is left to the engine.
    for test in [
        "v > ANY ( SELECT MAX(w) FROM b )",
        "v > ALL ( SELECT TOP 1 w FROM b )",
        "v > ALL ( SELECT w FROM b GROUP BY w )",
        "v > ANY ( SELECT w FROM b UNION SELECT id FROM b )",
        "v > ANY ( SELECT w FROM b WHERE w > ALL ( SELECT v FROM a ) )",
    ] {
        let text = asked(&format!("SELECT {test} FROM a"));
        assert!(text.contains("ANY") || text.contains("ALL"), "{text}");
    }
    for change in [
        "UPDATE a SET v = CASE WHEN v > ALL ( SELECT w FROM b ) THEN 1 ELSE 2 END",
        "INSERT INTO a VALUES ( 1, CASE WHEN 3 > ALL ( SELECT w FROM b ) THEN 1 ELSE 2 END )",
    ] {
        let text = asked(change);
        assert!(text.contains("MAX(w)") && !text.contains("ALL"), "{text}");
    }
    let text = asked("SELECT id FROM a WHERE v > ANY ( SELECT w FROM b )");
    assert!(text.contains("ANY"), "{text}");
}
