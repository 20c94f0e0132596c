//! What one table answers, the same rows in another kind of table answer too.

use std::fs;

use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};

use crate::statements::csv;

/// Statements, and the answers to those that are not compared alone.
const STATEMENTS: [(&str, Option<&str>); 28] = [
    (
        "SELECT n + '1' AS a, n * '0.5' AS b, CASE n WHEN '2' THEN 'two' END AS c, NULLIF(n, '3') AS d FROM @ WHERE n <> '1.5' ORDER BY n",
        Some("2,0.5,,1\n3,1.0,two,2\n4,1.5,,\n"),
    ),
    (
        "SELECT n FROM @ WHERE n = '2' OR n IN ('3', '+4') OR n BETWEEN '0.5' AND '1' ORDER BY n",
        Some("1\n2\n3\n"),
    ),
    (
        "SELECT COUNT(*) AS c FROM @ a JOIN @ b ON a.n = b.n WHERE a.n > '1' AND (a.n > 2) = 'f'",
        Some("1\n"),
    ),
    (
        "SELECT n, div(n, 2) AS d, width_bucket(n, 1, 3, 2) AS w, LTRIM(name, 'A') AS l FROM @ ORDER BY n",
        Some("1,0,1,da\n2,1,2,Bob\n3,1,3,da\n"),
    ),
    (
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS p, to_char(MAX(day), 'Q') AS q, EXTRACT(WEEK FROM MIN(day)) AS w FROM @",
        Some("2,2,1\n"),
    ),
    (
        "SELECT name, SUM(n) AS s FROM @ GROUP BY ROLLUP(name) ORDER BY name NULLS LAST",
        Some("Ada,4\nBob,2\n,6\n"),
    ),
    (
        "SELECT UPPER(name) AS u, SUM(n) AS s FROM @ GROUP BY ROLLUP(UPPER(name)) ORDER BY u NULLS LAST",
        Some("ADA,4\nBOB,2\n,6\n"),
    ),
    (
        "SELECT name, n, COUNT(*) AS c FROM @ GROUP BY CUBE(name, n) ORDER BY name NULLS LAST, n NULLS LAST",
        None,
    ),
    (
        "SELECT name, GROUPING(name) AS g, COUNT(*) AS c FROM @ GROUP BY GROUPING SETS ((name), ()) ORDER BY g, name",
        Some("Ada,0,2\nBob,0,1\n,1,3\n"),
    ),
    (
        "SELECT n, CAST(day + INTERVAL '1' DAY AS VARCHAR) AS t FROM @ WHERE n = 1",
        None,
    ),
    (
        "SELECT n FROM @ WHERE day > DATE '2024-03-01' - INTERVAL '1' MONTH ORDER BY n",
        Some("2\n3\n"),
    ),
    (
        "SELECT n, EXTRACT(DOW FROM day) AS d, EXTRACT(DOY FROM day) AS y FROM @ ORDER BY n",
        Some("1,1,1\n2,6,34\n3,1,127\n"),
    ),
    (
        "SELECT string_agg(name, ';' ORDER BY n) AS names FROM @",
        Some("Ada;Bob;Ada\n"),
    ),
    (
        "SELECT name, string_agg(CAST(n AS VARCHAR), ',' ORDER BY n) AS ns FROM @ GROUP BY name ORDER BY name",
        Some("Ada,\"1,3\"\nBob,2\n"),
    ),
    ("SELECT n FROM @ WHERE n = ANY(ARRAY[1, 3]) ORDER BY n", Some("1\n3\n")),
    ("SELECT array_length(ARRAY[n, 2]) AS l FROM @ WHERE n = 1", Some("2\n")),
    ("SELECT n::text AS t FROM @ WHERE n = 1", Some("1\n")),
    (
        "SELECT to_char(day, 'DD.MM.YYYY') AS t FROM @ ORDER BY n",
        Some("01.01.2024\n03.02.2024\n06.05.2024\n"),
    ),
    (
        "SELECT to_char(day, 'FMDD Mon \"of\" YY') AS t FROM @ WHERE n = 3",
        Some("6 May of 24\n"),
    ),
    (
        "SELECT to_char(day, '%Y/%m') AS t FROM @ WHERE n = 1",
        Some("2024/01\n"),
    ),
    (
        "SELECT COUNT(*) AS c FROM @ WHERE day = to_date('06/05/2024', 'DD/MM/YYYY')",
        Some("1\n"),
    ),
    ("SELECT n FROM @ WHERE name SIMILAR TO 'A%' ORDER BY n", Some("1\n3\n")),
    ("SELECT COUNT(*) FILTER (WHERE name = 'Ada') AS c FROM @", Some("2\n")),
    (
        "SELECT n, lag(n) OVER (ORDER BY n) AS l FROM @ ORDER BY n",
        Some("1,\n2,1\n3,2\n"),
    ),
    (
        "SELECT date_trunc('month', day) = DATE '2024-02-01' AS t FROM @ ORDER BY n",
        None,
    ),
    ("SELECT n FROM @ ORDER BY name DESC, n DESC LIMIT 2", Some("2\n3\n")),
    (
        "SELECT a.n FROM @ AS a JOIN @ AS b ON a.n = b.n + 1 ORDER BY a.n",
        Some("2\n3\n"),
    ),
    (
        "SELECT name, COUNT(*) AS c FROM @ GROUP BY name HAVING COUNT(*) > 1",
        Some("Ada,2\n"),
    ),
];

#[tokio::test]
async fn each_kind_of_table_gives_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "n,name,day\n1,Ada,2024-01-01\n2,Bob,2024-02-03\n3,Ada,2024-05-06\n";
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let from = Location::existing(&folder.path().join("rows.csv")).unwrap();
    let tables = ["rows.csv", "rows.dbf", "rows.adt", "rows.parquet", "rows.arrow"];
    for table in &tables[1..] {
        let to = Location::new_file(&folder.path().join(table)).unwrap();
        session.copy(&from, &to, &CopyOptions::default(), |_| {}).await.unwrap();
    }
    let mut wrong = Vec::new();
    for (statement, expected) in STATEMENTS {
        let first = csv(&session, &statement.replace('@', "'rows.csv'")).await;
        if let Some(expected) = expected
            && first != expected
        {
            wrong.push(format!("{statement}: {first}"));
        }
        for table in &tables[1..] {
            let answer = csv(&session, &statement.replace('@', &format!("'{table}'"))).await;
            if answer.to_lowercase() != first.to_lowercase() {
                wrong.push(format!("{statement}: of {table}: {answer}, and of rows.csv: {first}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (statement, says) in [
        (
            "SELECT to_char(day, 'W') FROM 'rows.csv'",
            "W in the pattern 'W' of to_char",
        ),
        (
            "SELECT to_char(day, 'DD MONTH') FROM 'rows.dbf'",
            "MONTH in the pattern",
        ),
    ] {
        let error = session.query(statement).await.err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(says)), "{error:?}");
    }
}
