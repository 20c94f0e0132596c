//! Groups, joins and first rows that ClickHouse, PostgreSQL, MariaDB and SQLite make themselves: the same rows as ours over the same tables.

use std::collections::BTreeMap;
use std::path::Path;

use tidemill_sql::{CopyOptions, Error, Session, SessionOptions};
use tidemill_testkit::{Chance, ClickHouse, MariaDb, Postgres, Python};

use crate::clickhouse::{file, fill_facts, table, text};
use crate::modern_clickhouse::ModernClickHouse;

/// One of a list.
fn one<'a>(chance: &mut Chance, of: &[&'a str]) -> &'a str {
    of[chance.below(of.len())]
}

/// Columns that tell groups apart on the server as here.
const KEYS: &[&str] = &["i", "u", "ni", "s", "ns", "e", "ne", "d", "nd", "t", "m", "nm"];
/// Columns in the same order there as here.
const ORDERED: &[&str] = &["i", "u", "ni", "s", "ns", "d", "nd", "t", "m", "nm"];
/// Columns whose sums are exact, and their averages too.
const NUMBERS: &[&str] = &["id", "i", "ni", "m", "nm"];
const CONDITIONS: &[&str] = &[
    "",
    "",
    " WHERE i > 0",
    " WHERE ns IS NOT NULL",
    " WHERE ni BETWEEN -40 AND 40 AND s <> ''",
    " WHERE id < 0",
    " WHERE f > 1",
];
/// Columns of both tables that are of one type.
const SHARED: &[&str] = &["i", "ni", "s", "ns", "d", "nd", "t", "m"];

fn value_of_group(chance: &mut Chance) -> String {
    match chance.below(7) {
        0 => "COUNT(*)".to_owned(),
        1 => format!("COUNT({})", one(chance, &["ni", "ns", "nd", "f", "s"])),
        2 => format!("COUNT(DISTINCT {})", one(chance, KEYS)),
        3 => format!("MIN({})", one(chance, &[ORDERED, &["f", "e"]].concat())),
        4 => format!("MAX({})", one(chance, ORDERED)),
        5 => format!("AVG({})", one(chance, NUMBERS)),
        _ => format!("SUM({})", one(chance, &[NUMBERS, &["u"]].concat())),
    }
}

fn values_of_group(chance: &mut Chance) -> String {
    let count = 1 + chance.below(3);
    let values = (0..count).map(|place| format!("{} AS v{place}", value_of_group(chance)));
    values.collect::<Vec<_>>().join(", ")
}

fn keys(chance: &mut Chance) -> String {
    let first = one(chance, &[KEYS, &["f"]].concat());
    match chance.below(3) {
        0 => {
            let second = one(chance, KEYS);
            if first == second {
                first.to_owned()
            } else {
                format!("{first}, {second}")
            }
        }
        _ => first.to_owned(),
    }
}

/// A join of few rows of a file with `FACTS`.
fn lookup(chance: &mut Chance) -> String {
    let key = one(chance, SHARED);
    let few = one(
        chance,
        &[
            "'few.arrow'",
            "(SELECT * FROM 'few.arrow' WHERE id > 200)",
            "(SELECT * FROM 'few.arrow' WHERE id < 0)",
        ],
    );
    match chance.below(5) {
        0 => format!("SELECT a.id, w.id AS other FROM FACTS a JOIN {few} w ON a.{key} = w.{key}"),
        1 => {
            let second = one(chance, SHARED);
            format!(
                "SELECT a.id, w.id AS other FROM {few} w JOIN FACTS a ON a.{key} = w.{key} AND a.{second} = w.{second}"
            )
        }
        2 => format!("SELECT w.id, COUNT(a.id) AS n FROM {few} w LEFT JOIN FACTS a ON a.{key} = w.{key} GROUP BY w.id"),
        3 => {
            let is_not = one(chance, &["", "NOT "]);
            format!("SELECT w.id FROM {few} w WHERE {is_not}EXISTS (SELECT 1 FROM FACTS WHERE FACTS.{key} = w.{key})")
        }
        _ => format!("SELECT id, {key} FROM FACTS WHERE {key} IN (SELECT {key} FROM {few} w)"),
    }
}

/// Groups of values that are computed of a row.
fn computed(chance: &mut Chance, condition: &str) -> String {
    let day = one(chance, &["d", "nd", "t"]);
    let of_moment = if day == "t" { chance.below(3) } else { 3 };
    match chance.below(5) {
        0 | 1 => {
            let period = match of_moment {
                0 => one(chance, &["hour", "minute", "second"]),
                _ => one(chance, &["day", "week", "month", "quarter", "year"]),
            };
            let key = format!("date_trunc('{period}', {day})");
            format!("SELECT {key} AS k, COUNT(*) AS n, SUM(id) AS total FROM FACTS{condition} GROUP BY {key}")
        }
        2 => {
            let part = match of_moment {
                0 => one(chance, &["HOUR", "MINUTE"]),
                _ => one(chance, &["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY"]),
            };
            let key = format!("EXTRACT({part} FROM {day})");
            format!(
                "SELECT {key} AS k, MIN(d) AS first, COUNT(DISTINCT CAST(t AS DATE)) AS days FROM FACTS{condition} GROUP BY {key}"
            )
        }
        3 => {
            let key = one(
                chance,
                &[
                    "CASE WHEN ni > 0 THEN 'up' WHEN ni IS NULL THEN s ELSE 'it''s' END",
                    "CASE WHEN NOT (ni > 0 OR s = 'a') THEN ni END",
                    "CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' END",
                    "COALESCE(ns, s)",
                    "char_length(ns)",
                    "i * 3 - 2",
                    "ni + i",
                ],
            );
            let value = one(
                chance,
                &[
                    "SUM(CASE WHEN i > 0 THEN m ELSE 0 END)",
                    "COUNT(*) FILTER (WHERE ns IN ('a', 'é') OR i BETWEEN -1 AND 1)",
                    "AVG(m) FILTER (WHERE ni < 0)",
                    "SUM(m * i)",
                    "SUM(m + nm)",
                    "MAX(id - i)",
                    "COUNT(DISTINCT date_trunc('month', d))",
                    "MIN(date_trunc('week', nd))",
                ],
            );
            format!("SELECT {key} AS k, {value} AS v, COUNT(*) AS n FROM FACTS{condition} GROUP BY {key}")
        }
        _ => {
            let kept = one(
                chance,
                &[
                    "EXTRACT(MONTH FROM d) = 1",
                    "char_length(s) > 1 AND i IS NOT NULL",
                    "NOT (EXTRACT(DOW FROM nd) IN (1, 2) OR i + ni > 3)",
                    "CASE WHEN i > 0 THEN ni ELSE i END > 0",
                ],
            );
            format!("SELECT COUNT(*) AS n, SUM(id) AS total FROM FACTS WHERE {kept}")
        }
    }
}

/// A statement over `FACTS` and `NEAR`.
fn statement(chance: &mut Chance) -> String {
    let condition = one(chance, CONDITIONS);
    match chance.below(17) {
        13..=16 => computed(chance, condition),
        0 => format!("SELECT {} FROM FACTS{condition}", values_of_group(chance)),
        1 | 2 => {
            let keys = keys(chance);
            format!(
                "SELECT {keys}, {} FROM FACTS{condition} GROUP BY {keys}",
                values_of_group(chance)
            )
        }
        3 => format!("SELECT DISTINCT {} FROM FACTS{condition}", keys(chance)),
        4 => {
            let direction = one(
                chance,
                &["", " DESC", " NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST"],
            );
            let offset = one(chance, &["", "", " OFFSET 7"]);
            let key = one(chance, &[ORDERED, &["f"]].concat());
            format!(
                "SELECT id, {key}, s AS word FROM FACTS{condition} ORDER BY {key}{direction}, id LIMIT {}{offset}",
                1 + chance.below(40)
            )
        }
        5 => {
            let (key, near) = (
                one(chance, SHARED),
                one(chance, &["", " WHERE ni > 0", " WHERE id < 0"]),
            );
            let is_there = match chance.below(4) {
                0 => format!("NOT EXISTS (SELECT 1 FROM NEAR WHERE NEAR.{key} = FACTS.{key})"),
                1 => format!("{key} NOT IN (SELECT {key} FROM NEAR{near})"),
                _ => format!("{key} IN (SELECT {key} FROM NEAR{near})"),
            };
            format!("SELECT COUNT(*) AS n, SUM(id) AS total FROM FACTS WHERE {is_there}")
        }
        6 => {
            let (key, by) = (one(chance, SHARED), one(chance, KEYS));
            let kind = one(chance, &["", "", "LEFT ", "RIGHT "]);
            format!(
                "SELECT b.{by}, COUNT(*) AS n, MAX(a.s) AS highest, COUNT(b.id) AS found FROM FACTS a \
                 {kind}JOIN NEAR b ON a.{key} = b.{key} GROUP BY b.{by}"
            )
        }
        7 => {
            let (key, near, by) = (one(chance, SHARED), one(chance, SHARED), one(chance, KEYS));
            format!(
                "SELECT c.{by}, COUNT(DISTINCT a.id) AS n, SUM(a.m) AS total FROM FACTS a JOIN NEAR b ON a.{key} = b.{key} \
                 JOIN NEAR c ON b.{near} = c.{near} GROUP BY c.{by}"
            )
        }
        8 => {
            let (key, kept) = (one(chance, KEYS), chance.below(40));
            let having = match chance.below(4) {
                0 => format!("SUM(id) >= {}", kept * 300),
                1 => format!("COUNT(ni) > {kept} AND {kept} > COUNT(DISTINCT i)"),
                2 => format!("MIN(m) < 0.25 AND COUNT(*) <> {kept}"),
                _ => format!("COUNT(*) > {kept}"),
            };
            format!(
                "SELECT {key}, COUNT(*) AS n, MAX(id) AS highest FROM FACTS{condition} GROUP BY {key} HAVING {having}"
            )
        }
        9 => {
            let key = one(chance, KEYS);
            format!(
                "SELECT {key}, COUNT(*) AS n, SUM(id) AS total FROM (SELECT {key}, id FROM FACTS{condition} UNION ALL \
                 SELECT {key}, id FROM NEAR) AS both_tables GROUP BY {key}"
            )
        }
        10 | 11 => lookup(chance),
        _ => {
            let key = one(chance, ORDERED);
            format!("SELECT {key}, COUNT(*) AS n FROM FACTS{condition} GROUP BY {key} ORDER BY n DESC, {key} LIMIT 4")
        }
    }
}

/// The answer to a statement, or that a sum of it is beyond its type.
async fn answer_or_overflow(session: &Session, sql: &str) -> String {
    let rows = match session.query(sql).await {
        Ok(answer) => answer.collect().await,
        Err(error) => Err(error),
    };
    let is_overflow = |error: &Error| {
        let words = error.to_string();
        words.contains("a SUM is beyond") || words.contains("out of range")
    };
    match rows {
        Ok(batches) => text(&batches),
        Err(error) if is_overflow(&error) => "a sum is beyond its type".to_owned(),
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// Compares 480 statements over tables of a server with the same over their copies. Returns how often each operation went to the server.
async fn compare(database: String, folder: &Path) -> BTreeMap<&'static str, usize> {
    let session = Session::new(SessionOptions::default().dir(folder).attach("db", database));
    for name in ["facts", "near"] {
        let (from, to) = (
            table(&session, &format!("db.{name}")).await,
            file(folder, &format!("{name}.arrow")),
        );
        let copied = session.copy(&from, &to, &CopyOptions::default(), |_| {}).await;
        assert!(copied.expect(name).rows > 0);
    }
    let few = "SELECT * FROM 'facts.arrow' WHERE id % 50 = 1";
    let (to, options) = (file(folder, "few.arrow"), CopyOptions::default());
    let few = session.copy_query(few, &to, &options, |_| {}).await;
    assert!(few.expect("few rows").rows > 3);
    let (mut chance, mut pushed) = (Chance::of(7), BTreeMap::new());
    for _ in 0..480 {
        let statement = statement(&mut chance);
        let over = |facts: &str, near: &str| {
            let named = statement.replace("FACTS.", "facts.").replace("NEAR.", "near.");
            named.replace("FACTS", facts).replace("NEAR", near)
        };
        let sql = over("db.facts", "db.near");
        let mut found = answer_or_overflow(&session, &sql).await;
        let mut expected = answer_or_overflow(&session, &over("'facts.arrow'", "'near.arrow'")).await;
        if !statement.contains("ORDER BY") {
            for rows in [&mut found, &mut expected] {
                let mut lines: Vec<&str> = rows.lines().collect();
                lines.sort_unstable();
                *rows = lines.join("\n");
            }
        }
        let plan = session.explain(&sql).await.expect("a plan");
        assert_eq!(found, expected, "{sql}\n{plan}");
        let is_done = !plan.contains("AggregateExec") && !plan.contains("HashJoinExec");
        for (word, operation) in [
            (" GROUP BY ", "group"),
            (" LIMIT ", "first"),
            (" IN (SELECT ", "semi"),
            (" INNER JOIN ", "join"),
            (" LEFT JOIN ", "outer"),
        ] {
            if is_done && plan.contains(word) {
                *pushed.entry(operation).or_default() += 1;
            }
        }
        let is_computed = ["date_trunc(", "EXTRACT(", "CASE ", "FILTER ", "char_length("];
        if is_done && !plan.contains("FilterExec") && is_computed.iter().any(|word| statement.contains(word)) {
            *pushed.entry("computed").or_default() += 1;
        }
        if plan.contains("KeyLookup:") {
            *pushed.entry("lookup").or_default() += 1;
        }
        if is_done && statement.contains(" HAVING ") && !plan.contains("FilterExec") {
            *pushed.entry("having").or_default() += 1;
        }
        if is_done && plan.contains(" UNION ALL ") && !plan.contains("UnionExec") {
            *pushed.entry("union").or_default() += 1;
        }
    }
    pushed
}

fn fill(run: &dyn Fn(&str)) {
    fill_facts(run);
    run("CREATE TABLE near ENGINE = MergeTree ORDER BY id AS SELECT * FROM facts WHERE id % 3 = 1");
}

fn check(pushed: &BTreeMap<&str, usize>) {
    let least = [
        ("group", 60),
        ("first", 30),
        ("semi", 15),
        ("join", 12),
        ("outer", 12),
        ("having", 12),
        ("union", 12),
        ("lookup", 25),
    ];
    check_counts(pushed, &least);
}

fn check_counts(pushed: &BTreeMap<&str, usize>, least: &[(&str, usize)]) {
    for &(operation, least) in least {
        let count = pushed.get(operation).copied().unwrap_or_default();
        assert!(
            count >= least,
            "{operation} went to the server {count} times: {pushed:?}"
        );
    }
}

#[tokio::test]
async fn what_an_old_server_makes_is_the_same() {
    let Some(server) = ClickHouse::need() else { return };
    fill(&|sql| {
        server.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("clickhouse://default@{}/default", server.native());
    check_with_computed(&compare(database, folder.path()).await);
}

#[tokio::test]
async fn what_a_server_of_today_makes_is_the_same() {
    let Some(server) = ModernClickHouse::need() else { return };
    fill(&|sql| server.run(sql));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("clickhouse://default@{}/default", server.address());
    check_with_computed(&compare(database, folder.path()).await);
}

/// That what is computed of a row goes to the server too.
fn check_with_computed(pushed: &BTreeMap<&str, usize>) {
    check(pushed);
    check_counts(pushed, &[("computed", 90)]);
}

/// The same columns as those of ClickHouse.
pub(crate) const POSTGRES: &str = r#"
CREATE COLLATION words (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE facts (id bigint PRIMARY KEY, i integer NOT NULL, u bigint, ni smallint, s text COLLATE words NOT NULL, ns varchar(20), e varchar(5),
    ne text, d date NOT NULL, nd date, t timestamp, m numeric(9, 2) NOT NULL, nm numeric(20, 4), f double precision);
INSERT INTO facts
SELECT id, id % 7 - 3, 1::bigint << (id % 50)::int, CASE WHEN id % 5 > 0 THEN id % 101 - 50 END,
    (ARRAY['', 'a', 'A', 'a ', 'é', 'É', 'ß', 'it''s', '日本', 'zz'])[id % 10 + 1],
    CASE WHEN id % 4 > 0 THEN (ARRAY['', 'a', 'A', 'b\c', 'é', 'É', 'ß', 'it''s', '日本'])[id % 9 + 1] END,
    (ARRAY['x', 'X', 'y', ''])[id % 4 + 1], CASE WHEN id % 6 > 0 THEN (ARRAY['p', 'P', 'q'])[id % 3 + 1] END,
    date '1969-12-20' + (id % 30)::int, CASE WHEN id % 3 > 0 THEN date '1969-12-20' + (id % 11)::int END,
    timestamp '1969-12-30 12:00:00.000001' + (id % 50) * interval '1 hour', (id % 13 - 6) / 4.0,
    CASE WHEN id % 7 > 0 THEN (id % 17) / 100.0 END,
    (ARRAY['0', '-0', '1.5', '-1.5', '1e300', '0.1', '5e-324', 'Infinity', '-Infinity', 'NaN', NULL])[id % 11 + 1]::float8
FROM generate_series(0, 599) AS ids(id);
CREATE TABLE near (LIKE facts);
INSERT INTO near SELECT * FROM facts WHERE id % 3 = 1;
"#;

#[tokio::test]
async fn what_postgresql_makes_is_the_same() {
    let Some(server) = Postgres::need() else { return };
    server.psql(POSTGRES).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pushed = compare(server.url(), folder.path()).await;
    check_with_computed(&pushed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_mariadb_makes_is_the_same() {
    let Some(server) = MariaDb::need() else { return };
    server
        .query(crate::mysql::FACTS)
        .unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pushed = compare(server.url(), folder.path()).await;
    check(&pushed);
}

/// The same columns as those of ClickHouse, as Python's own SQLite stores them.
pub(crate) const SQLITE: &str = r#"
import sqlite3, sys, datetime
db = sqlite3.connect(sys.argv[1])
db.execute('CREATE TABLE facts (id INTEGER PRIMARY KEY, i INTEGER, u BIGINT, ni INT, s TEXT, ns VARCHAR(20) COLLATE NOCASE, e TEXT COLLATE RTRIM, '
           'ne TEXT, d DATE, nd DATE, t DATETIME, m DECIMAL(9, 2), nm DECIMAL(9, 2), f REAL)')
words = ['', 'a', 'A', 'a ', 'é', 'É', 'ß', "it's", '日本', 'zz']
floats = [0.0, -0.0, 1.5, -1.5, 1e300, 0.1, 5e-324, float('inf'), -float('inf'), None]
day = lambda n: str(datetime.date(1969, 12, 20) + datetime.timedelta(days=n))
for id in range(600):
    null = lambda value, of: None if id % of == 0 else value
    db.execute('INSERT INTO facts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)', (
        id, id % 7 - 3, 1 << (id % 50), null(id % 101 - 50, 5), words[id % 10], null(words[id % 9], 4), words[id % 4], null(words[id % 3], 6),
        day(id % 30), null(day(id % 11), 3), day(id % 5) + ' 12:00:0%d' % (id % 10), (id % 13 - 6) / 4, null(id % 17 / 100, 7), floats[id % 10]))
db.execute("CREATE TABLE near (id INTEGER PRIMARY KEY, i INTEGER, u BIGINT, ni INT, s TEXT COLLATE NOCASE, ns VARCHAR(20), e TEXT, ne TEXT, d DATE, nd DATE, "
           "t DATETIME, m DECIMAL(9, 2), nm DECIMAL(9, 2), f REAL)")
db.execute('INSERT INTO near SELECT * FROM facts WHERE id % 3 = 1')
db.commit()
"#;

#[tokio::test]
async fn what_sqlite_makes_is_the_same() {
    let Some(python) = Python::need(&[]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shop.db");
    let _made = python.run(SQLITE, &[&path]);
    let pushed = compare(format!("sqlite:{}", path.display()), folder.path()).await;
    check_counts(
        &pushed,
        &[
            ("group", 40),
            ("first", 20),
            ("semi", 10),
            ("join", 4),
            ("having", 6),
            ("union", 6),
            ("lookup", 5),
        ],
    );
}
