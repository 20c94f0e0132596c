//! `docs/sql-dialects.md`: expressions that mean one thing over xBase tables and another elsewhere, as the page has them, and those that
//! mean the same.

use tidemill_sql::{CopyOptions, Session, SessionOptions};

use crate::statements::csv_of;

const PAGE: &str = include_str!("../../../../docs/sql-dialects.md");

/// A table of one row, as a DBF and as Parquet.
async fn session(folder: &std::path::Path) -> Session {
    let session = Session::new(SessionOptions::default().dir(folder));
    for sql in [
        "CREATE TABLE x (word CHAR(8), pieces NUMERIC(20, 0), price NUMERIC(8, 2), paid LOGICAL)",
        "INSERT INTO x VALUES ('hello', 5, 2.50, TRUE)",
    ] {
        session.query(sql).await.expect(sql).collect().await.expect(sql);
    }
    let (from, to) = (folder.join("x.dbf"), folder.join("y.parquet"));
    let from = session.locate(&from.display().to_string()).await.expect("the table");
    let (to, options) = (crate::destination(&to), CopyOptions::default());
    session.copy(&from, &to, &options, |_| {}).await.expect("copied");
    session
}

/// What an expression gives over a table; `an error` for one.
async fn value(session: &Session, expression: &str, table: &str) -> String {
    let sql = format!("SELECT {expression} AS v FROM {table}");
    let rows = match session.query(&sql).await {
        Ok(answer) => answer.collect().await,
        Err(_) => return "an error".to_owned(),
    };
    rows.map_or_else(|_| "an error".to_owned(), |rows| csv_of(&rows).trim_end().to_owned())
}

/// The expressions of the page with what they give over xBase tables and over others.
fn differences() -> Vec<[String; 3]> {
    let mut rows = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| expression |"))
        .skip(2);
    let rows = rows.by_ref().take_while(|line| line.starts_with('|'));
    let rows = rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [expressions, xbase, others] = cells.as_slice() else {
            panic!("{row}");
        };
        let expressions: Vec<&str> = expressions.split('`').skip(1).step_by(2).collect();
        // One result is that of all.
        let results = |cell: &str| -> Vec<String> {
            let given: Vec<&str> = match cell {
                "NULL" | "empty" => vec![""],
                "an error" | "an error: use `CONCAT`" => vec!["an error"],
                given => given.split('`').skip(1).step_by(2).collect(),
            };
            let given = given.iter().cycle().take(expressions.len());
            given.map(|result| (*result).to_owned()).collect()
        };
        let (xbase, others) = (results(xbase), results(others));
        let expressions = expressions.into_iter().map(str::to_owned);
        let rows = expressions.zip(xbase).zip(others);
        rows.map(|((expression, xbase), others)| [expression, xbase, others])
            .collect::<Vec<_>>()
    });
    rows.collect()
}

#[tokio::test]
async fn expressions_of_the_page_give_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path()).await;
    let rows = differences();
    assert!(rows.len() > 15, "{rows:?}");
    for [expression, xbase, others] in rows {
        for (table, expected) in [("x", xbase), ("y", others)] {
            let given = value(&session, &expression, table).await;
            let given = given.trim_matches('"').trim_end_matches(".0");
            assert_eq!(given, expected, "{expression} over {table}");
        }
    }
}

#[tokio::test]
async fn conversions_and_functions_of_ads_are_known_over_every_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path()).await;
    for (expression, expected) in [
        ("CONVERT(pieces, SQL_CHAR)", "5"),
        ("CONVERT(price, SQL_VARCHAR(3))", "2.5"),
        ("CONVERT(word, SQL_CHAR(2))", "he"),
        ("CAST('12.345' AS SQL_NUMERIC(8,2))", "12.35"),
        ("CAST(word AS SQL_BINARY)", "68656c6c6f"),
        ("CAST(word AS BINARY)", "68656c6c6f"),
        ("CONVERT('2024-01-31', SQL_DATE)", "2024-01-31"),
        ("EMPTY(word)", "false"),
        ("EMPTY(pieces)", "false"),
        ("EMPTY(NULLIF(pieces, 5))", "true"),
        ("RAND(1) < 1", "true"),
        ("IFNULL(pieces, 0)", "5"),
        ("IFNULL(NULLIF(pieces, 5), 0)", "0"),
    ] {
        for table in ["x", "y"] {
            assert_eq!(
                value(&session, expression, table).await,
                expected,
                "{expression} over {table}"
            );
        }
    }
}
