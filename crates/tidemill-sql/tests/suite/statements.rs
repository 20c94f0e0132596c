//! Statements over files, seen from outside: names, order, formats, errors.

use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use tidemill_sql::{Error, Session, SessionOptions};

const PEOPLE: &str = "id,Name,city\n1,Ada,London\n2,Béla,Győr\n3,Çiğdem,İzmir\n4,,\n";
const VISITS: &str =
    "{\"PERSON\":1,\"DAY\":\"2024-02-28\"}\n{\"PERSON\":3,\"DAY\":\"2024-02-29\"}\n{\"PERSON\":1,\"DAY\":null}\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("people.csv"), PEOPLE).expect("written");
    fs::write(folder.path().join("VISITS.jsonl"), VISITS).expect("written");
    folder
}

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder))
}

pub(crate) async fn answer(session: &Session, sql: &str) -> Vec<RecordBatch> {
    let answer = match session.query(sql).await {
        Ok(answer) => answer,
        Err(error) => panic!("{sql}: {error}"),
    };
    answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The answer as CSV without its header.
pub(crate) async fn csv(session: &Session, sql: &str) -> String {
    csv_of(&answer(session, sql).await)
}

/// As [`csv`].
pub(crate) fn csv_of(batches: &[RecordBatch]) -> String {
    let mut out = Vec::new();
    let mut writer = arrow_csv::WriterBuilder::new().with_header(false).build(&mut out);
    for batch in batches {
        writer.write(batch).expect("written");
    }
    drop(writer);
    String::from_utf8(out).expect("UTF-8")
}

#[tokio::test]
async fn tables_of_several_formats_are_joined_under_one_session() {
    let folder = folder();
    let session = session(folder.path());
    for sql in [
        "SELECT P.NAME, COUNT(*) AS Visits FROM people p JOIN visits v ON V.person = p.ID GROUP BY name ORDER BY VISITS DESC",
        "SELECT people.name, COUNT(*) AS Visits FROM 'people.csv' JOIN [visits.jsonl] ON person = id GROUP BY Name ORDER BY 2 DESC",
    ] {
        assert_eq!(csv(&session, sql).await, "Ada,2\nÇiğdem,1\n", "{sql}");
    }
    let batches = answer(&session, "SELECT NAME, ID AS Number FROM people").await;
    let schema = batches[0].schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["Name", "Number"]);
}

#[tokio::test]
async fn a_column_of_an_inner_table_may_have_the_name_of_an_outer_one() {
    let folder = folder();
    fs::write(folder.path().join("seats.csv"), "People,p,person\n7,8,1\n9,10,3\n").expect("written");
    let session = session(folder.path());
    for sql in [
        "SELECT name FROM people WHERE EXISTS (SELECT 1 FROM seats WHERE seats.person = people.id) ORDER BY id",
        "SELECT name FROM people p WHERE NOT NOT EXISTS (SELECT 1 FROM seats WHERE seats.person = P.id) ORDER BY id",
        "SELECT p.name FROM people p WHERE (SELECT SUM(s.people) FROM seats s WHERE s.person = p.id) > 0 ORDER BY p.id",
    ] {
        assert_eq!(csv(&session, sql).await, "Ada\nÇiğdem\n", "{sql}");
    }
}

#[tokio::test]
async fn columns_of_a_series_are_columns_in_expressions() {
    let folder = folder();
    let session = session(folder.path());
    for (sql, expected) in [
        (
            "SELECT value * 3 AS v FROM generate_series(1, 3) WHERE value > 1",
            "6\n9\n",
        ),
        (
            "SELECT -g.Value AS v FROM generate_series(1, 2) g ORDER BY VALUE DESC",
            "-2\n-1\n",
        ),
        (
            "SELECT SUM(value) AS v FROM range(0, 4) WHERE value IN (SELECT id FROM people)",
            "6\n",
        ),
        (
            "SELECT name FROM people, generate_series(2, 3) n WHERE n.value = people.id ORDER BY id",
            "Béla\nÇiğdem\n",
        ),
        // A name for the table is one for the column, too.
        (
            "SELECT n * 3 AS v FROM generate_series(1, 3) AS n WHERE n > 1",
            "6\n9\n",
        ),
        (
            "SELECT name FROM people, generate_series(2, 3) n WHERE N.n = people.id ORDER BY n DESC",
            "Çiğdem\nBéla\n",
        ),
        (
            "SELECT CAST(day AS DATE) AS v FROM generate_series(DATE '2024-02-28', DATE '2024-03-01', INTERVAL '1 day') AS day",
            "2024-02-28\n2024-02-29\n2024-03-01\n",
        ),
        (
            "SELECT CAST(at AS VARCHAR) AS v FROM generate_series(TIMESTAMP '2024-02-28 22:00', CAST('2024-02-29 02:00:00' AS TIMESTAMP), INTERVAL '4 hours') AS at",
            "2024-02-28 22:00:00\n2024-02-29 02:00:00\n",
        ),
        ("SELECT v FROM generate_series(1, 2) AS n(v) ORDER BY v DESC", "2\n1\n"),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn a_time_is_the_same_text_whichever_table_it_is_from() {
    let folder = folder();
    let session = session(folder.path());
    fs::write(
        folder.path().join("csv_times.csv"),
        "at\n2024-02-29T12:30:00\n2024-03-01T00:00:00.25\n",
    )
    .expect("written");
    csv(&session, "CREATE TABLE dbf_times.dbf (at Timestamp)").await;
    csv(&session, "INSERT INTO dbf_times SELECT at FROM csv_times").await;
    for table in ["csv_times", "dbf_times"] {
        for text in [
            "CAST(at AS VARCHAR)",
            "CAST(at AS VARCHAR) || ''",
            "CAST(MAX(at) AS VARCHAR)",
        ] {
            let sql = format!("SELECT {text} AS v FROM {table} GROUP BY at ORDER BY at LIMIT 1");
            assert_eq!(csv(&session, &sql).await, "2024-02-29 12:30:00\n", "{sql}");
        }
    }
    let sql = "SELECT CAST(at AS VARCHAR) AS v FROM csv_times ORDER BY 1 DESC LIMIT 1";
    assert_eq!(csv(&session, sql).await, "2024-03-01 00:00:00.250\n");
    // The engine's own casts too.
    let sql = "SELECT 'at ' || at AS v, CONCAT(at, '') AS w FROM csv_times ORDER BY at LIMIT 1";
    assert_eq!(csv(&session, sql).await, "at 2024-02-29 12:30:00,2024-02-29 12:30:00\n");
}

#[tokio::test]
async fn rows_come_in_the_order_of_the_table() {
    let folder = folder();
    let rows: String = (0..100_000).map(|row| format!("{row}\n")).collect();
    fs::write(folder.path().join("numbers.csv"), format!("n\n{rows}")).expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()).threads(4));
    let mut expected = 0;
    for batch in answer(&session, "SELECT n, n * 2 AS twice FROM numbers WHERE n % 3 = 0").await {
        for row in batch.column(0).as_primitive::<arrow_array::types::Int64Type>().values() {
            assert_eq!(*row, expected);
            expected += 3;
        }
    }
    assert_eq!(expected, 100_002);
}

#[tokio::test]
async fn expressions_over_other_stores_are_the_engines() {
    let folder = folder();
    fs::write(folder.path().join("n.csv"), "n,t\n1,a\n2,b \n4,b\n").expect("written");
    let session = session(folder.path());
    for (sql, expected) in [
        ("SELECT AVG(n) FROM n", "2.3333333333333335\n"),
        ("SELECT AVG(n) OVER () AS a FROM n LIMIT 1", "2.3333333333333335\n"),
        ("SELECT n FROM n WHERE t = 'b '", "2\n"),
        ("SELECT n FROM n WHERE t IN ('b ', 'x')", "2\n"),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn columns_may_come_twice() {
    let folder = folder();
    let session = session(folder.path());
    for (sql, names, rows) in [
        (
            "SELECT id, ID, city AS id FROM people WHERE id < 2",
            "id id id",
            "1,1,London\n",
        ),
        (
            "SELECT *, p.*, id + 1 AS id FROM people p WHERE id = 1",
            "id Name city id Name city id",
            "1,Ada,London,1,Ada,London,2\n",
        ),
        (
            "SELECT DISTINCT city AS x, city AS x FROM people WHERE id < 3 ORDER BY x DESC",
            "x x",
            "London,London\nGyőr,Győr\n",
        ),
        (
            "SELECT id, COUNT(*), id FROM people GROUP BY id HAVING id > 3",
            "id EXPR id",
            "4,1,4\n",
        ),
        (
            "SELECT id, id FROM people WHERE id = 1 UNION ALL SELECT id, id FROM people WHERE id = 2 ORDER BY 1",
            "id id",
            "1,1\n2,2\n",
        ),
        (
            "WITH w AS (SELECT id, name FROM people) SELECT a.id, b.id, a.id FROM w a JOIN w b ON a.id = b.id WHERE b.id = 2",
            "id id id",
            "2,2,2\n",
        ),
    ] {
        // A plan that is kept has the names too.
        for _ in 0..2 {
            let answered = session
                .query(sql)
                .await
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
            let schema = answered.schema();
            let found: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            assert_eq!(found.join(" "), names, "{sql}");
            drop(answered);
            assert_eq!(csv(&session, sql).await, rows, "{sql}");
        }
    }
}

#[tokio::test]
async fn group_concat_is_the_engines_too() {
    let folder = folder();
    let session = session(folder.path());
    for (sql, expected) in [
        (
            "SELECT GROUP_CONCAT(name ORDER BY id DESC SEPARATOR '; ') FROM people",
            "Çiğdem; Béla; Ada\n",
        ),
        (
            "SELECT GROUP_CONCAT(id ORDER BY id) FROM people WHERE id < 4",
            "\"1,2,3\"\n",
        ),
        ("SELECT GROUP_CONCAT(name) FROM people WHERE id > 4", "\"\"\n"),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn errors_name_what_was_asked_for_and_what_to_try() {
    let folder = folder();
    let session = session(folder.path());
    for (sql, says) in [
        ("SELECT * FROM poeple", "has VISITS, people"),
        ("SELECT nam FROM people", "column nam not found; did you mean Name?"),
        ("SELECT * FROM people; DROP TABLE people", "copy writes new tables"),
        ("SELECT * FROM people; SELECT", "expected "),
        ("DELETE FROM people", "copy writes new tables"),
        ("SELECT * FROM 'gone.dbf'", "table gone.dbf not found; "),
        ("SELECT id / 0 FROM people", "ivide by zero"),
        (
            "SELECT id, (SELECT COUNT(*) FROM people q WHERE q.id < p.id) FROM people p",
            "is not supported here: write it as a join",
        ),
    ] {
        let error = match session.query(sql).await {
            Err(error) => error,
            Ok(answer) => answer.collect().await.expect_err(sql),
        };
        assert!(error.to_string().contains(says), "{sql}: {error}");
    }
}

#[tokio::test]
async fn thousands_of_conditions_are_an_answer() {
    let folder = folder();
    let session = session(folder.path());
    let conditions: Vec<String> = (0..3_000).map(|number| format!("id = {number}")).collect();
    let sql = format!("SELECT COUNT(*) FROM people WHERE {}", conditions.join(" OR "));
    let counted = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(csv(&session, &sql))
        })
        .expect("a thread")
        .join()
        .expect("no overflow");
    assert_eq!(counted, "4\n");
}

#[tokio::test]
async fn a_file_without_its_format_in_the_name_is_refused_with_the_known_ones() {
    let folder = folder();
    fs::write(folder.path().join("letter.txt"), "Dear Sir").expect("written");
    let error = match session(folder.path()).query("SELECT * FROM 'letter.txt'").await {
        Err(error @ Error::NotATable { .. }) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("no error"),
    };
    assert!(error.contains("letter.txt") && error.contains(".dbf"), "{error}");
}

#[tokio::test]
async fn statements_that_need_more_memory_than_they_have_write_to_files() {
    let folder = folder();
    let mut numbers = String::from("n,t\n");
    for n in 0..300_000_u64 {
        // Every number once, in no order.
        let n = n * 7_919 % 300_000;
        numbers += &format!("{n},text of number {n}\n");
    }
    fs::write(folder.path().join("numbers.csv"), numbers).expect("written");
    let bounded = |bytes| Session::new(SessionOptions::default().dir(folder.path()).threads(1).memory(bytes));
    let sorted = "SELECT n, t FROM numbers ORDER BY t DESC, n";
    let grouped = "SELECT t, COUNT(*) AS c FROM numbers GROUP BY t ORDER BY t LIMIT 5";
    for sql in [sorted, grouped] {
        let free = csv(&session(folder.path()), sql).await;
        assert_eq!(csv(&bounded(12 << 20), sql).await, free, "{sql}");
        let batches = match bounded(64 << 10).query(sql).await {
            Ok(answer) => answer.collect().await,
            Err(error) => Err(error),
        };
        let error = batches.expect_err("too little memory").to_string();
        assert!(error.contains("Resources exhausted"), "{error}");
    }
    let joined = "SELECT a.n, b.t FROM numbers a JOIN numbers b ON a.n = b.n ORDER BY b.t DESC, a.n";
    let free = csv(&session(folder.path()), joined).await;
    let bounded = Session::new(SessionOptions::default().dir(folder.path()).threads(2).memory(32 << 20));
    assert!(bounded.explain(joined).await.expect("a plan").contains("SortMergeJoin"));
    assert_eq!(csv(&bounded, joined).await, free);
}
