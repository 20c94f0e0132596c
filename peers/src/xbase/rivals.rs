//! Statements run by DuckDB with two threads and by SQLite, each over its own storage.

use std::{path::Path, time::Duration};

use tidemill_testkit::Python;

use super::{
    Spread,
    abi::Outcome,
    abi_sql::{Found, SqlLine, Workload},
};

/// A table for the rivals.
pub(super) struct RivalTable {
    pub(super) name: &'static str,
    /// Its rows, with a header.
    pub(super) csv: String,
    /// The columns as DuckDB makes them of those of the file.
    pub(super) columns: &'static str,
    /// The column that is indexed.
    pub(super) indexed: Option<&'static str>,
}

/// Runs workloads, whose answers must be ours.
pub(super) fn ask(
    tables: &[RivalTable],
    workloads: &[Workload],
    repeats: usize,
    folder: &Path,
    ours: &[Found],
) -> Outcome<Vec<SqlLine>> {
    let python = Python::find(&["duckdb==2.0.0"])?;
    let (mut listed, mut asked) = (String::new(), String::new());
    for table in tables {
        let csv = folder.join(table.name).with_extension("csv");
        std::fs::write(&csv, &table.csv)?;
        let (name, columns, indexed) = (table.name, table.columns, table.indexed.unwrap_or_default());
        listed += &format!("{name}\t{}\t{columns}\t{indexed}\n", csv.display());
    }
    for workload in workloads {
        asked += &format!("{}\n", workload.sql);
    }
    let (tables, texts) = (folder.join("tables.tsv"), folder.join("workloads.txt"));
    std::fs::write(&tables, listed)?;
    std::fs::write(&texts, asked)?;
    let answers = python.run(SCRIPT, &[&tables, &texts, Path::new(&repeats.to_string())]);
    let mut lines = Vec::new();
    for answer in answers.lines() {
        let parts: Vec<&str> = answer.split('\t').collect();
        let [engine, at, times, count, texts] = parts[..] else {
            return Err(format!("{answer:?} is no answer").into());
        };
        let at: usize = at.parse()?;
        let (workload, (our_count, our_texts)) = (workloads[at], &ours[at]);
        let theirs: Vec<&str> = texts.split('|').collect();
        if count.parse::<usize>()? != *our_count || !alike(&theirs, our_texts) {
            return Err(format!(
                "{}: {engine} finds {count} {theirs:?}, and we {our_count} {our_texts:?}",
                workload.sql
            )
            .into());
        }
        let times = times.split(',').map(|ns| ns.parse().map(Duration::from_nanos));
        lines.push(SqlLine {
            name: workload.name.to_owned(),
            engine: engine.to_owned(),
            warm: Spread::of(times.collect::<Result<_, _>>()?),
            first: None,
            limit_ms: None,
        });
    }
    Ok(lines)
}

/// Whether texts are the same, numbers to four digits.
fn alike(theirs: &[&str], ours: &[String]) -> bool {
    let same = |(one, two): (&&str, &String)| match (one.parse::<f64>(), two.parse::<f64>()) {
        (Ok(one), Ok(two)) => (one - two).abs() <= 0.006,
        _ => *one == two.as_str(),
    };
    theirs.len() == ours.len() && theirs.iter().zip(ours).all(same)
}

const SCRIPT: &str = r#"
import sqlite3, sys, time
import duckdb
tables, asked, repeats = sys.argv[1:]
statements = open(asked).read().splitlines()

def report(engine, execute, at, sql):
    def run():
        rows = execute(sql).fetchall()
        return len(rows), [value for row in rows[:10] for value in row]
    count, values = run()
    times = []
    for _ in range(int(repeats)):
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    print(engine, at, ",".join(map(str, times)), count, "|".join(map(str, values)), sep="\t")

duck, lite = duckdb.connect(), sqlite3.connect(":memory:")
duck.execute("SET threads = 2")
for line in open(tables).read().splitlines():
    name, csv, columns, indexed = line.split("\t")
    duck.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM read_csv(?)", [csv])
    answer = duck.execute(f"SELECT * FROM {name}")
    names = [column[0] for column in answer.description]
    lite.execute(f"CREATE TABLE {name} ({', '.join(names)})")
    plain = lambda value: float(value) if hasattr(value, "as_tuple") else value
    rows = ([plain(value) for value in row] for row in answer.fetchall())
    lite.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(names))})", rows)
    if indexed:
        for engine in (duck, lite):
            engine.execute(f"CREATE INDEX {name}_{indexed} ON {name} ({indexed})")
lite.execute("ANALYZE")
for at, sql in enumerate(statements):
    report("DuckDB " + duckdb.__version__, duck.execute, at, sql)
    report("SQLite " + sqlite3.sqlite_version, lite.execute, at, sql)
"#;
