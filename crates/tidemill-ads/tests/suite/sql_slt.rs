//! Statements and their answers, as text: `slt/*.slt`, each file in a folder of its own.
//!
//! ```text
//! statement ok | statement count N | statement error PART OF THE MESSAGE
//! INSERT …
//!
//! query [rowsort]
//! SELECT …
//! ----
//! a|1|NULL
//! ```
//!
//! A line `tables cdx` before the first statement has tables of FoxPro 2 made, not those of Visual FoxPro, and `tables adt` those of Advantage. A line `parameters 5|abc|NULL` before a statement gives values: whole numbers, `TRUE`, `NULL`, else text. `TIDEMILL_SLT=update` writes the
//! answers anew; who does so reads them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::sql::{Answer, ConnectionTables, Error, Prepared, Rows, Statements, Streamed, Value};
use tidemill_ads::{Connection, TableType};

#[test]
fn statements_answer_as_their_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let entries = std::fs::read_dir(&folder).expect("the folder of tests");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "slt"));
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    let only = std::env::var("TIDEMILL_SLT_FILE").ok();
    let mut wrong = String::new();
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        wrong.push_str(&run(&file));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs a file and returns what was wrong.
fn run(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a test");
    let updates = std::env::var("TIDEMILL_SLT").is_ok_and(|mode| mode == "update");
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, mut options) = with_the_clock();
    if text.lines().any(|line| line == "tables cdx") {
        options.table.table_type = TableType::Cdx;
    }
    if text.lines().any(|line| line == "tables adt") {
        options.table.table_type = TableType::Adt;
    }
    let mut tables = connection.tables(&settings, &options);
    let statements = Statements::default();
    let (mut wrong, mut written) = (String::new(), String::new());
    let mut lines = text.lines().enumerate().peekable();
    let mut parameters = Vec::new();
    while let Some((number, line)) = lines.next() {
        let _ = writeln!(written, "{line}");
        if let Some(values) = line.strip_prefix("parameters ") {
            parameters = values.split('|').map(value).collect();
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        if !matches!(words.first(), Some(&"statement" | &"query")) {
            continue;
        }
        let mut sql = String::new();
        while let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty() && *line != "----") {
            let _ = writeln!(sql, "{line}");
            let _ = writeln!(written, "{line}");
        }
        let answer = answer(
            &statements,
            sql.trim_end(),
            &mut tables,
            &std::mem::take(&mut parameters),
        );
        let mut complain = |what: String| {
            let _ = writeln!(
                wrong,
                "{}:{}: {what}\n  {}",
                file.display(),
                number + 1,
                sql.replace('\n', "\n  ")
            );
        };
        match (words.as_slice(), answer) {
            (["statement", "ok"], Ok(_)) => {}
            (["statement", "count", wanted], Ok(Answer::Changed(count))) => {
                if wanted.parse() != Ok(count) {
                    complain(format!("{count} records were changed"));
                }
            }
            (["statement", "error", part @ ..], Err(error)) => {
                let (part, message) = (part.join(" "), error.to_string());
                if !message.contains(&part) {
                    complain(format!("another error: {message}"));
                }
            }
            (["query", rest @ ..], Ok(Answer::Rows(rows))) => {
                let mut found = lines_of(&rows);
                if rest.contains(&"rowsort") {
                    found.sort();
                }
                let mut expected = Vec::new();
                if lines.next_if(|(_, line)| *line == "----").is_some() {
                    while let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty()) {
                        expected.push(line.to_owned());
                    }
                }
                let _ = writeln!(written, "----");
                found.iter().for_each(|line| {
                    let _ = writeln!(written, "{line}");
                });
                if found != expected && !updates {
                    complain(format!(
                        "expected\n{}\nfound\n{}",
                        expected.join("\n"),
                        found.join("\n")
                    ));
                }
            }
            (_, Ok(other)) => complain(format!("another answer: {other:?}")),
            (_, Err(error)) => complain(format!("an error: {error}")),
        }
    }
    if updates {
        std::fs::write(file, written).expect("a test written");
    }
    wrong
}

fn value(text: &str) -> Value {
    match text {
        "NULL" => Value::Null,
        "TRUE" => Value::Logical(true),
        text => text
            .parse()
            .map_or_else(|_| Value::Text(text.to_owned()), Value::Integer),
    }
}

/// The answer, as rows where it is a live cursor. A SELECT is asked in each way that there is, and the answers must be the same.
fn answer(
    statements: &Statements,
    sql: &str,
    tables: &mut ConnectionTables<'_>,
    parameters: &[Value],
) -> Result<Answer, Error> {
    let answer = statements.run(sql, tables, parameters)?;
    let is_select = sql
        .trim_start()
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
    match answer {
        Answer::Changed(_) | Answer::Done => return Ok(answer),
        Answer::Live(_) if !is_select => return Prepared::new(sql, tables)?.run_static(tables, parameters),
        _ if !is_select => return Ok(answer),
        _ => {}
    }
    let prepared = Arc::new(Prepared::new(sql, tables)?);
    let in_memory = prepared.run_static(tables, parameters)?;
    let (Answer::Rows(rows), Streamed::Rows(stream)) = (&in_memory, prepared.stream(tables, parameters)?) else {
        panic!("{sql}: no rows");
    };
    let schema = rows.batches.first().expect("a batch").schema();
    assert_eq!(
        (stream.columns(), stream.schema()),
        (rows.columns.as_slice(), &schema),
        "{sql}"
    );
    if let Answer::Live(live) = &answer {
        let names = rows.columns.iter().map(|column| &column.name);
        assert!(live.columns.iter().map(|(name, _)| name).eq(names), "{sql}");
    }
    let columns = stream.columns().to_vec();
    let batches = stream.collect::<Result<Vec<_>, _>>()?;
    if !sql.contains("RAND") {
        assert_eq!(lines_of(&Rows { columns, batches }), lines_of(rows), "{sql}");
    }
    Ok(in_memory)
}
