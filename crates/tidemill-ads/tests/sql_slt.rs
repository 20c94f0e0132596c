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
//! A line `parameters 5|abc|NULL` before a statement gives values: whole numbers, `TRUE`, `NULL`, else text. `TIDEMILL_SLT=update` writes the
//! answers anew; who does so reads them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use tidemill_ads::sql::{Answer, Clock, Error, FolderTables, Prepared, Rows, Statements, Value};

/// 2024-01-31 13:05:09, an hour before universal time.
fn clock() -> Clock {
    Clock {
        local: 1_706_706_309_000,
        utc_offset: 3_600_000,
    }
}

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
    let mut tables = FolderTables::new(folder.path()).clock(clock);
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

fn answer(
    statements: &Statements,
    sql: &str,
    tables: &mut FolderTables,
    parameters: &[Value],
) -> Result<Answer, Error> {
    match statements.run(sql, tables, parameters)? {
        // What a live cursor shows, as rows.
        Answer::Live(_) => Prepared::new(sql, tables)?.run_static(tables, parameters),
        answer => Ok(answer),
    }
}

fn lines_of(rows: &Rows) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in &rows.batches {
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = batch.columns().iter().map(|column| cell(column, row)).collect();
            lines.push(cells.join("|"));
        }
    }
    lines
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_owned();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Decimal128(..) => column.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value(row);
            days(i64::from(date))
        }
        DataType::Time32(_) => clock_text(i64::from(column.as_primitive::<Time32MillisecondType>().value(row))),
        DataType::Timestamp(..) => {
            let ms = column.as_primitive::<TimestampMillisecondType>().value(row);
            format!(
                "{} {}",
                days(ms.div_euclid(86_400_000)),
                clock_text(ms.rem_euclid(86_400_000))
            )
        }
        DataType::Binary => column
            .as_binary::<i32>()
            .value(row)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        other => panic!("a column of the type {other}"),
    }
}

/// A day as SQL writes it, by counting years and months.
fn days(mut days: i64) -> String {
    let (mut year, mut month) = (1970, 1);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |year: i64, month: i64| match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    while days < 0 {
        (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        days += length(year, month);
    }
    while days >= length(year, month) {
        days -= length(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn clock_text(ms: i64) -> String {
    format!("{:02}:{:02}:{:02}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60)
}
