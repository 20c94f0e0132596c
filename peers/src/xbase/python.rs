//! DuckDB by its Python wheel, its own storage, one thread; and dbfread.

use std::{path::Path, time::Duration};

use tidemill_testkit::Python;

use super::{Line, Question, Reference, Spread};

const PACKAGES: [&str; 2] = ["duckdb==2.0.0", "dbfread==2.0.7"];

/// Puts the questions of SQL to DuckDB, and a sum to dbfread.
///
/// # Errors
///
/// Why there is no such Python, or what an answer was that is not the right one.
pub fn ask(reference: &Reference, repeats: usize, folder: &Path) -> Result<Vec<Line>, Box<dyn std::error::Error>> {
    let python = Python::find(&PACKAGES)?;
    let (csv, dbf) = (folder.join("reference.csv"), folder.join("reference.dbf"));
    std::fs::write(&csv, reference.csv())?;
    std::fs::write(&dbf, &reference.dbf)?;
    let questions: Vec<String> = Question::SQL
        .into_iter()
        .filter_map(|q| Some(format!("{:?}\t{}", q, q.sql()?)))
        .collect();
    let asked = folder.join("questions.tsv");
    std::fs::write(&asked, questions.join("\n"))?;
    let count = repeats.to_string();
    let answers = python.run(SCRIPT, &[&csv, &dbf, &asked, Path::new(&count)]);
    let mut lines = Vec::new();
    for answer in answers.lines() {
        let parts: Vec<&str> = answer.split('\t').collect();
        let [engine, name, times, answer] = parts[..] else {
            return Err(format!("{answer:?} is no answer").into());
        };
        let question = Question::SQL
            .into_iter()
            .find(|question| format!("{question:?}") == name);
        let question = question.ok_or_else(|| format!("{name} was not asked"))?;
        let numbers: Vec<i64> = answer.split(',').map(str::parse).collect::<Result<_, _>>()?;
        if numbers != reference.answer(question) {
            return Err(format!("{engine} {name}: {numbers:?}").into());
        }
        let times = times.split(',').map(|ns| ns.parse().map(Duration::from_nanos));
        lines.push(Line {
            question,
            filter: None,
            engine: engine.to_owned(),
            times: Spread::of(times.collect::<Result<_, _>>()?),
            units: reference.rows.len(),
            calls: 0,
            note: String::new(),
        });
    }
    Ok(lines)
}

const SCRIPT: &str = r#"
import sys, time
import duckdb, dbfread
csv, dbf, asked, repeats = sys.argv[1:]
repeats = int(repeats)

def report(engine, name, repeats, run):
    answer = run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    numbers = ",".join(str(int(value)) for row in answer for value in row)
    print(engine, name, ",".join(map(str, times)), numbers, sep="\t")

connection = duckdb.connect()
connection.execute("SET threads = 1")
connection.execute("CREATE TABLE t AS SELECT ID::INTEGER AS ID, TAG, CENTS::INTEGER AS CENTS FROM read_csv(?)", [csv])
for line in open(asked):
    name, sql = line.rstrip("\n").split("\t")
    report("DuckDB " + duckdb.__version__, name, repeats, lambda: connection.execute(sql).fetchall())

def total():
    cents = [round(record["AMT"] * 100) for record in dbfread.DBF(dbf)]
    return [(sum(cents), len(cents), min(cents), max(cents))]

report("dbfread 2.0.7", "Sum", 1, total)
"#;
