//! Numbers that have no room in their type: an error, or a wider type, and never other numbers.

use std::fs;
use std::path::Path;

use arrow_schema::DataType;
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};

use crate::statements::csv;

const LARGEST: &str = "a,b,c,u\n1,9223372036854775807,-9223372036854775808,1\n2,1,-1,2\n1,,,\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("largest.csv"), LARGEST).expect("written");
    folder
}

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder))
}

async fn refusal(session: &Session, sql: &str) -> String {
    let answer = match session.query(sql).await {
        Ok(answer) => answer.collect().await.map(drop),
        Err(error) => Err(error),
    };
    match answer {
        Ok(()) => panic!("{sql}: {}", csv(session, sql).await),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_overflows_is_an_error() {
    let folder = folder();
    let session = session(folder.path());
    for sql in [
        "SELECT SUM(b) FROM largest",
        "SELECT SUM(c) FROM largest",
        "SELECT SUM(DISTINCT b) FROM largest",
        "SELECT SUM(b) FROM largest GROUP BY u > 0",
        "SELECT SUM(b) OVER (ORDER BY a) FROM largest",
        "SELECT SUM(b) OVER (ORDER BY a ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM largest",
        "SELECT SUM(b + 1) OVER (ORDER BY a) FROM largest",
        "SELECT LAG(b * 2) OVER (ORDER BY a) FROM largest",
        "SELECT x.a FROM largest x JOIN largest y ON x.a = y.a AND x.b + y.a > y.b",
        "SELECT x.a FROM largest x JOIN largest y ON x.b + y.a < y.c",
        "SELECT b + 1 FROM largest",
        "SELECT c - 1 FROM largest",
        "SELECT b * 2 FROM largest",
        "SELECT a FROM largest WHERE b + 1 < 0",
        "SELECT MAX(b + a) FROM largest",
        "SELECT b + a, COUNT(*) FROM largest GROUP BY b + a",
        "SELECT a FROM largest ORDER BY b + a",
        "SELECT CAST(a AS INT) + CAST(2147483647 AS INT) FROM largest",
        "SELECT 9223372036854775807 + 1 FROM largest",
        "SELECT 1 - (-9223372036854775807 - 1) FROM largest",
        "SELECT 4294967296 * 4294967296 AS n FROM largest",
        "SELECT SUM(CAST(b AS DECIMAL(38, 0)) * 9000000000000000000) FROM largest CROSS JOIN (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)",
    ] {
        let refusal = refusal(&session, sql).await;
        assert!(refusal.to_lowercase().contains("overflow"), "{sql}: {refusal}");
    }
    let refusal = refusal(&session, "SELECT SUM(b) FROM largest").await;
    assert!(refusal.contains("DECIMAL(38, 0)"), "{refusal}");
}

#[tokio::test]
async fn what_has_room_is_right() {
    let folder = folder();
    let session = session(folder.path());
    for (sql, expected) in [
        // The sum has room, though those on the way may not.
        ("SELECT SUM(b + c) FROM largest", "-1\n"),
        (
            "SELECT SUM(n) FROM (SELECT b AS n FROM largest UNION ALL SELECT c FROM largest)",
            "-1\n",
        ),
        (
            "SELECT u, SUM(n) FROM (SELECT u, b AS n FROM largest UNION ALL SELECT 1, c FROM largest) GROUP BY u ORDER BY u NULLS LAST",
            "1,-2\n2,1\n,\n",
        ),
        (
            "SELECT SUM(CAST(b AS DECIMAL(38, 0))) FROM largest",
            "9223372036854775808\n",
        ),
        ("SELECT SUM(b) FROM largest WHERE a = 2", "1\n"),
        ("SELECT SUM(b) FROM largest WHERE a = 3", "\"\"\n"),
        (
            "SELECT SUM(DISTINCT a), SUM(a), SUM(a) FILTER (WHERE u = 2) FROM largest",
            "3,4,2\n",
        ),
        ("SELECT a, SUM(u) FROM largest GROUP BY a ORDER BY a", "1,1\n2,2\n"),
        (
            "SELECT SUM(a) OVER (ORDER BY u NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM largest ORDER BY u NULLS LAST",
            "1\n3\n3\n",
        ),
        (
            "SELECT SUM(u) OVER (ORDER BY u NULLS FIRST ROWS CURRENT ROW) FROM largest ORDER BY u NULLS FIRST",
            "\"\"\n1\n2\n",
        ),
        (
            "SELECT a + 1, SUM(a + 1) OVER (ORDER BY u NULLS LAST), a FROM largest ORDER BY u NULLS LAST",
            "2,2,1\n3,5,2\n2,7,1\n",
        ),
        ("SELECT arrow_typeof(SUM(a)) FROM largest", "Int64\n"),
        (
            "SELECT 9223372036854775806 + 1 FROM largest WHERE u = 1",
            "9223372036854775807\n",
        ),
        (
            "SELECT -9223372036854775807 - 1 FROM largest WHERE u = 1",
            "-9223372036854775808\n",
        ),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn numbers_of_json_keep_their_digits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let wide = "{\"n\":9007199254740993,\"l\":[1]}\n{\"n\":18446744073709551616,\"l\":[-9223372036854775809]}\n";
    fs::write(folder.path().join("wide.jsonl"), wide).expect("written");
    let session = session(folder.path());
    let table = Location::existing(&folder.path().join("wide.jsonl")).unwrap();
    let columns = session.schema(&table).await.unwrap();
    assert_eq!(columns.field(0).data_type(), &DataType::Decimal128(38, 0));
    assert_eq!(
        csv(&session, "SELECT n FROM wide").await,
        "9007199254740993\n18446744073709551616\n"
    );
    assert_eq!(
        csv(
            &session,
            "SELECT SUM(n), SUM(e) FROM (SELECT n, unnest(l) AS e FROM wide)"
        )
        .await,
        "18455751272964292609,-9223372036854775808\n"
    );

    // A smaller file would be read whole to tell the columns.
    let pad = "x".repeat(900);
    // Found when 10,000 records have told that the column is one of whole numbers.
    for (late, at) in [("2.7", "n"), ("9223372036854775808", "n"), ("[1,2.5]", "l")] {
        let mut lines = format!("{{\"n\":1,\"l\":[2],\"pad\":\"{pad}\"}}\n").repeat(10_000);
        let line = match at {
            "n" => format!("{{\"n\":{late},\"l\":[]}}\n"),
            _ => format!("{{\"n\":1,\"l\":{late}}}\n"),
        };
        lines.push_str(&line);
        fs::write(folder.path().join("late.jsonl"), lines).expect("written");
        let refusal = refusal(&session, "SELECT n, l FROM late").await;
        assert!(
            refusal.contains("late.jsonl") && refusal.contains("line 10001"),
            "{late}: {refusal}"
        );
    }
    // The same number in another form.
    let lines = format!("{{\"n\":1,\"pad\":\"{pad}\"}}\n").repeat(10_000) + "{\"n\":2.0}\n{\"n\":3e2}\n";
    fs::write(folder.path().join("late.jsonl"), lines).expect("written");
    assert_eq!(csv(&session, "SELECT SUM(n) FROM late").await, "10302\n");
}

#[tokio::test]
async fn floating_point_numbers_go_round_by_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    let lines = "{\"x\":1.5}\n{\"x\":\"NaN\"}\n{\"x\":\"Infinity\"}\n{\"x\":\"-Infinity\"}\n{\"x\":null}\n";
    fs::write(folder.path().join("in.jsonl"), lines).expect("written");
    for (from, to) in [("in.jsonl", "in.parquet"), ("in.parquet", "out.jsonl")] {
        let from = Location::existing(&folder.path().join(from)).unwrap();
        let to = Location::new_file(&folder.path().join(to)).unwrap();
        let options = CopyOptions::default();
        assert_eq!(session.copy(&from, &to, &options, |_| {}).await.unwrap().rows, 5);
    }
    assert_eq!(fs::read_to_string(folder.path().join("out.jsonl")).unwrap(), lines);
    let sorted = csv(&session, "SELECT x FROM out ORDER BY x NULLS LAST").await;
    assert_eq!(sorted, "-inf\n1.5\ninf\nNaN\n\"\"\n");
}
