//! Conditions that the optimiser solves for their columns, and values that are richer than the types of their parts: the answers over
//! Parquet, whose statistics it knows, are those of reckoning by hand.

use std::fs;

use tidemill_sql::{CopyOptions, Session, SessionOptions};

use crate::destination;
use crate::statements::csv;

const ROWS: &str = "id,g,p,d,day\n13,b,3.20,0.1,2024-01-31\n9,a,3.30,0.9,2024-02-01\n11,b,3.50,1.0,1969-12-31\n20,a,3.90,2.5,2262-04-12\n7,b,-3.90,3.6,1500-01-01\n";

/// A session over `t.parquet`.
async fn session(folder: &std::path::Path) -> Session {
    fs::write(folder.join("t.csv"), ROWS).expect("written");
    let session = Session::new(SessionOptions::default().dir(folder));
    let rows = "SELECT id, g, CAST(p AS DECIMAL(10, 2)) AS p, CAST(d AS DOUBLE) AS d, CAST(day AS DATE) AS day, \
                CAST(day AS TIMESTAMP) AS moment FROM 't.csv'";
    let made = destination(&folder.join("t.parquet"));
    let copied = session.copy_query(rows, &made, &CopyOptions::default(), |_| {}).await;
    assert_eq!(copied.expect("copied").rows, 5);
    fs::remove_file(folder.join("t.csv")).expect("removed");
    session
}

async fn check(rows: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path()).await;
    for (sql, expected) in rows {
        let found = csv(&session, sql).await;
        assert_eq!(found.trim_end().replace('\n', " "), *expected, "{sql}");
    }
}

#[tokio::test]
async fn rows_that_share_a_quotient_are_sorted() {
    check(&[
        ("SELECT id FROM t WHERE id / 7 = 1 ORDER BY id", "7 9 11 13"),
        ("SELECT id FROM t WHERE (id + 1) / 7 = 1 ORDER BY id", "7 9 11"),
        ("SELECT id FROM t WHERE -(id / 7) = -1 ORDER BY id DESC", "13 11 9 7"),
        ("SELECT id FROM t WHERE id / 7 IN (1) ORDER BY id", "7 9 11 13"),
        ("SELECT id FROM t WHERE id / 7 BETWEEN 1 AND 1 ORDER BY id", "7 9 11 13"),
        (
            "SELECT id FROM (SELECT id, id / 7 AS q FROM t) x WHERE q = 1 ORDER BY id",
            "7 9 11 13",
        ),
        (
            "SELECT id FROM (SELECT id FROM t WHERE id / 7 = 1) x ORDER BY id DESC LIMIT 2",
            "13 11",
        ),
        (
            "SELECT id, row_number() OVER (ORDER BY id) FROM t WHERE id / 7 = 1 ORDER BY id",
            "7,1 9,2 11,3 13,4",
        ),
        (
            "SELECT d FROM t WHERE CAST(d AS INTEGER) = 0 ORDER BY d DESC",
            "0.9 0.1",
        ),
        (
            "SELECT id / 7 AS q, COUNT(*) FROM t GROUP BY id / 7 ORDER BY q",
            "1,4 2,1",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_cast_that_cuts_is_not_taken_from_a_condition() {
    check(&[
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS INT) = 3", "4"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS INT) > 3", "0"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS INT) <> 3", "1"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS INT) BETWEEN 3 AND 3", "4"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS INT) IN (3, -3)", "5"),
        (
            "SELECT COUNT(*) FROM (SELECT CAST(p AS INT) AS k FROM t) x WHERE k = 3",
            "4",
        ),
        ("SELECT SUM(CASE WHEN CAST(p AS INT) = 3 THEN 1 ELSE 0 END) FROM t", "4"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS DECIMAL(10, 0)) = 4", "2"),
        ("SELECT COUNT(*) FROM t WHERE CAST(p AS DECIMAL(12, 4)) = 3.5", "1"),
        (
            "SELECT a.id FROM t a JOIN t b ON CAST(a.p AS INT) = b.id - 10 ORDER BY a.id",
            "7 9 11 13 20",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_date_and_hours_are_a_moment() {
    check(&[
        (
            "SELECT day + INTERVAL '36 hours', day - INTERVAL '1 hour' FROM t WHERE id = 13",
            "2024-02-01T12:00:00,2024-01-30T23:00:00",
        ),
        ("SELECT day + INTERVAL '1 day', day - INTERVAL '1 month' FROM t WHERE id = 9", "2024-02-02,2024-01-01"),
        ("SELECT INTERVAL '90 minutes' + day FROM t WHERE id = 9", "2024-02-01T01:30:00"),
        ("SELECT id FROM t WHERE day - INTERVAL '1 hour' < DATE '2024-02-01' AND day > DATE '2024-01-01' ORDER BY id", "9 13"),
    ])
    .await;
}

#[tokio::test]
async fn moments_of_any_year_can_be_written() {
    check(&[
        ("SELECT COUNT(*) FROM t WHERE moment < '9999-01-01'", "5"),
        ("SELECT id FROM t WHERE moment < TIMESTAMP '1677-01-01 00:00:00'", "7"),
        (
            "SELECT id FROM t WHERE moment BETWEEN '2262-04-12' AND '9999-12-31 23:59:59.999999'",
            "20",
        ),
        (
            "SELECT id FROM t WHERE moment IN ('1500-01-01', '2024-01-31') ORDER BY id",
            "7 13",
        ),
        (
            "SELECT TIMESTAMP '9999-01-01 23:59' FROM t WHERE id = 9",
            "9999-01-01T23:59:00",
        ),
        (
            "SELECT CAST('1500-01-01T23:59' AS TIMESTAMP) FROM t WHERE id = 9",
            "1500-01-01T23:59:00",
        ),
        (
            "SELECT CAST('9999-01-01' AS TIMESTAMP) FROM t WHERE id = 9",
            "9999-01-01T00:00:00",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_decimal_and_a_number_with_a_point_are_a_decimal() {
    check(&[
        (
            "SELECT CAST('123456789012345678.91' AS DECIMAL(20, 2)) + 0.01 FROM t WHERE id = 9",
            "123456789012345678.92",
        ),
        ("SELECT p * 1.19, 100.5 - p FROM t WHERE id = 9", "3.9270,97.20"),
        ("SELECT SUM(p * 1.1) FROM t", "11.000"),
    ])
    .await;
}

#[tokio::test]
async fn the_least_number_has_no_opposite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path()).await;
    for (data_type, less) in [
        ("TINYINT", "id - 135"),
        ("SMALLINT", "id - 32775"),
        ("INT", "id - 2147483655"),
        ("BIGINT", "id - 8 - 9223372036854775807"),
    ] {
        let sql = format!("SELECT -a FROM (SELECT CAST({less} AS {data_type}) AS a FROM t) x");
        let answer = match session.query(&sql).await {
            Ok(answer) => answer.collect().await.map(drop),
            Err(error) => Err(error),
        };
        let error = answer.expect_err(&sql).to_string();
        assert!(error.to_lowercase().contains("overflow"), "{error}");
    }
    assert_eq!(
        csv(&session, "SELECT -id FROM t WHERE -id < -12 ORDER BY id").await,
        "-13\n-20\n"
    );
}
