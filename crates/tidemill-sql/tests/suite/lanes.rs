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
        let options = SessionOptions::default().dir(place.path());
        let (session, leaves_sorts) = (
            Session::new(options.clone()),
            Session::new(options.most_sorted(Some(0))),
        );
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
            let wherever_it_is_sorted = lines(&leaves_sorts, &sql).await;
            // Of a transaction the other session sees nothing.
            if name != "change" && said(&wherever_it_is_sorted) != said(&by_lanes) {
                wrong.push(format!(
                    "{name}: {sql}\n  lanes  {}\n  sorted {}",
                    said(&by_lanes),
                    said(&wherever_it_is_sorted)
                ));
            }
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

/// Large sorts and groups are the planner's, which has threads and spills; what a kernel answers stays, and so does what belongs to a
/// transaction.
#[tokio::test]
async fn large_sorts_and_groups_are_left_to_the_planner() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = SessionOptions::default().dir(place.path());
    let session = Session::new(folder.clone().most_sorted(Some(3)));
    lines(
        &session,
        "CREATE TABLE t (id INTEGER, tag CHAR(4), amount NUMERIC(8,2))",
    )
    .await
    .expect("a table");
    for id in 1..=6 {
        let row = format!("INSERT INTO t VALUES ({id}, 'T{}', {id}.50)", id % 2);
        lines(&session, &row).await.expect("a row");
    }
    lines(&session, "CREATE INDEX id ON t (id)").await.expect("an index");
    let is_left = |plan: Result<Vec<String>, Error>| plan.expect("a plan").join("\n").contains("physical_plan");
    for (sql, expected) in [
        ("SELECT id, COUNT(*) AS n FROM t GROUP BY id", true),
        ("SELECT id FROM t ORDER BY amount, id", true),
        ("SELECT DISTINCT id, tag FROM t", true),
        ("SELECT COUNT(DISTINCT id) AS n FROM t", true),
        ("SELECT id, COUNT(*) AS n FROM t WHERE id > 2 GROUP BY id", true),
        // What is left by the index is little.
        ("SELECT id, COUNT(*) AS n FROM t WHERE id > 4 GROUP BY id", false),
        ("SELECT COUNT(*) AS n, SUM(amount) AS s FROM t", false),
        ("SELECT tag, SUM(amount) AS s FROM t GROUP BY tag", false),
        ("SELECT id FROM t ORDER BY amount DESC LIMIT 2", false),
        ("SELECT id FROM t", false),
    ] {
        let plan = lines(&session, &format!("EXPLAIN {sql}")).await;
        assert_eq!(is_left(plan), expected, "{sql}");
        let other = Session::new(folder.clone().most_sorted(None));
        let answers = (lines(&session, sql).await, lines(&other, sql).await);
        assert_eq!(answers.0.expect(sql), answers.1.expect(sql), "{sql}");
    }
    lines(&session, "BEGIN TRANSACTION").await.expect("begun");
    lines(&session, "INSERT INTO t VALUES (7, 'T1', 7.50)")
        .await
        .expect("a row");
    let grouped = lines(&session, "SELECT id, COUNT(*) AS n FROM t GROUP BY id").await;
    assert_eq!(grouped.expect("rows").len(), 8, "its own row is seen");
    lines(&session, "ROLLBACK").await.expect("rolled back");
}
