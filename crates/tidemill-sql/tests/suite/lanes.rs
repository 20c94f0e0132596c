//! Each query of ADS SQL's own tests, answered by its lanes and by the engine: the same columns, types, rows and faults.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use tidemill_sql::{Error, Session, SessionOptions};

/// A query as rows of text, with the columns and their types first.
async fn lines(session: &Session, sql: &str) -> Result<Vec<String>, Error> {
    let answer = session.query(sql).await?;
    let schema = answer.schema();
    let batches = answer.collect().await?;
    let columns = schema.fields().iter();
    let columns: Vec<String> = columns
        .map(|field| format!("{} {}", field.name(), field.data_type()))
        .collect();
    let mut rows: Vec<String> = batches.iter().flat_map(rows_of).collect();
    rows.sort();
    rows.insert(0, columns.join("|"));
    Ok(rows)
}

fn rows_of(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let columns = batch.columns().iter();
    let columns: Vec<_> = columns
        .map(|column| ArrayFormatter::try_new(column, &options).expect("a format"))
        .collect();
    let row = |row: usize| {
        columns
            .iter()
            .map(|column| column.value(row).to_string())
            .collect::<Vec<_>>()
            .join("|")
    };
    (0..batch.num_rows()).map(row).collect()
}

/// An error in the words of ADS, which tell its kind too.
fn of_ads(error: &Error) -> String {
    match error {
        Error::Ads(inner) => inner.to_string(),
        other => other.to_string(),
    }
}

/// A fault of a statement that begins so many characters into a text, in its second line.
fn fault(error: &Error, before: usize) -> String {
    let text = of_ads(error);
    let Some((fault, place)) = text.split_once(" -- Location of error in the SQL statement is: ") else {
        return text;
    };
    let numbers: Vec<usize> = place
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [offset, line, column] = numbers[..] else {
        panic!("{place}");
    };
    let (offset, line) = (offset - before, line - usize::from(before > 0));
    format!("{fault} at {offset} ({line}, {column})")
}

/// What makes a statement one for the engine.
const WITH: &str = "WITH q AS (\n";

/// The statements of a file and whether each is a query.
fn statements(file: &Path) -> Vec<(bool, String)> {
    let text = std::fs::read_to_string(file).expect("a test");
    let mut statements = Vec::new();
    let mut has_parameters = false;
    for block in text.split("\n\n") {
        let mut lines = block.lines().filter(|line| !line.starts_with('#')).peekable();
        while let Some(line) = lines.next() {
            has_parameters |= line.starts_with("parameters ");
            let is_query = line.starts_with("query");
            if !is_query && !line.starts_with("statement") {
                continue;
            }
            let mut sql = Vec::new();
            while let Some(line) = lines.next_if(|line| *line != "----") {
                sql.push(line);
            }
            if !std::mem::take(&mut has_parameters) {
                statements.push((is_query, sql.join("\n")));
            }
            break;
        }
    }
    statements
}

#[tokio::test]
async fn whichever_lane_answers_columns_types_rows_and_faults_are_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tidemill-ads/tests/slt");
    let (mut compared, mut wrong) = (0, Vec::new());
    for name in ["select", "group", "rivals", "change", "script"] {
        let place = tempfile::tempdir().expect("a folder");
        let session = Session::new(SessionOptions::default().dir(place.path()));
        for (_, sql) in statements(&folder.join(name).with_extension("slt")) {
            let is_select = sql
                .trim_start()
                .get(..6)
                .is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
            let by_lanes = lines(&session, &sql).await;
            // What is no query, is another each time, or is answered by one lane alone.
            let has = |part: &str| sql.contains(part);
            if !is_select
                || has(" INTO ")
                || has("people a, people b")
                || has("RAND")
                || has("system.")
                || has("START AT")
            {
                continue;
            }
            if matches!(&by_lanes, Err(Error::Parse { .. })) {
                continue;
            }
            // A common table expression is for the engine.
            let by_engine = lines(&session, &format!("{WITH}{sql}\n) SELECT * FROM q")).await;
            compared += 1;
            match (by_lanes, by_engine) {
                (Ok(lanes), Ok(engine)) if lanes == engine => {}
                (Err(lanes), Err(engine)) if fault(&lanes, 0) == fault(&engine, WITH.len()) => {}
                (lanes, engine) => wrong.push(format!(
                    "{name}: {sql}\n  lanes  {}\n  engine {}",
                    said(&lanes),
                    said(&engine)
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 50, "{compared}");
}

fn said(answer: &Result<Vec<String>, Error>) -> String {
    match answer {
        Ok(lines) => lines.join("\n         "),
        Err(error) => format!("error: {error}"),
    }
}
