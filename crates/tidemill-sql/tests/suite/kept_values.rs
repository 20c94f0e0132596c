//! Values, columns and names that are kept, or told where they are not.

use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};

use crate::statements::{answer, csv};

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder))
}

async fn made(session: &Session, folder: &Path, sql: &str, file: &str) {
    let file = Location::new_file(&folder.join(file)).expect("a file");
    let copied = session.copy_query(sql, &file, &CopyOptions::default(), |_| {}).await;
    copied.expect(sql);
}

async fn refusal(session: &Session, sql: &str) -> String {
    let answer = match session.query(sql).await {
        Ok(answer) => answer.collect().await.map(drop),
        Err(error) => Err(error),
    };
    answer.expect_err(sql).to_string()
}

#[tokio::test]
async fn files_of_one_table_have_the_columns_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    {
        let format = "parquet";
        let pattern = |name: &str| format!("'{name}_*.{format}'");
        for (file, sql) in [
            ("sales_1", "SELECT '2024-01' AS month, 100 AS amount"),
            (
                "sales_2",
                "SELECT '2024-02' AS month, CAST(99.99 AS DOUBLE) AS amount, 5 AS discount",
            ),
            ("sales_3", "SELECT 7 AS discount"),
            (
                "time_1",
                "SELECT arrow_cast(TIMESTAMP '2024-01-01 10:00:00', 'Timestamp(Millisecond, None)') AS t",
            ),
            (
                "time_2",
                "SELECT arrow_cast(TIMESTAMP '2024-01-01 10:00:00.000001', 'Timestamp(Microsecond, None)') AS t",
            ),
            ("dec_1", "SELECT CAST(1.5 AS DECIMAL(10, 1)) AS d"),
            ("dec_2", "SELECT CAST(2.75 AS DECIMAL(5, 2)) AS d"),
            ("flag_1", "SELECT TRUE AS f"),
            ("flag_2", "SELECT 7 AS f"),
            ("text_1", "SELECT 'a' AS c"),
            ("text_2", "SELECT 7 AS c"),
        ] {
            made(&session, folder.path(), sql, &format!("{file}.{format}")).await;
        }
        let sql = format!(
            "SELECT month, amount, discount FROM {} ORDER BY month NULLS LAST",
            pattern("sales")
        );
        assert_eq!(
            csv(&session, &sql).await,
            "2024-01,100.0,\n2024-02,99.99,5\n,,7\n",
            "{format}"
        );
        let sql = format!("SELECT SUM(amount) AS s FROM {} WHERE amount > 99.5", pattern("sales"));
        assert_eq!(csv(&session, &sql).await, "199.99\n", "{format}");
        let sql = format!("SELECT COUNT(DISTINCT t) AS n FROM {}", pattern("time"));
        assert_eq!(csv(&session, &sql).await, "2\n", "{format}");
        let sql = format!("SELECT SUM(d) AS s FROM {}", pattern("dec"));
        assert_eq!(csv(&session, &sql).await, "4.25\n", "{format}");
        for (name, says) in [
            ("flag", "f are of Boolean and Int64"),
            ("text", "c are of Utf8 and Int64"),
        ] {
            let error = refusal(&session, &format!("SELECT * FROM {}", pattern(name))).await;
            assert!(
                error.contains(says) && error.contains(&format!("{name}_2.{format}")),
                "{error}"
            );
        }
    }
}

/// The reader of Arrow files takes the columns of the first.
#[tokio::test]
async fn arrow_files_of_one_table_have_the_same_columns() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    for (file, sql) in [
        ("a_1", "SELECT 1 AS n"),
        ("a_2", "SELECT 2 AS n"),
        ("b_1", "SELECT 1 AS n"),
        ("b_2", "SELECT 2.5 AS n, 3 AS m"),
    ] {
        made(&session, folder.path(), sql, &format!("{file}.arrow")).await;
    }
    assert_eq!(csv(&session, "SELECT SUM(n) AS s FROM 'a_*.arrow'").await, "3\n");
    let error = refusal(&session, "SELECT * FROM 'b_*.arrow'").await;
    assert!(error.contains("b_2.arrow, which have other columns"), "{error}");
}

/// As pandas and PyArrow write what has two columns of a name.
#[tokio::test]
async fn no_column_is_lost_for_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    fs::write(folder.path().join("l.csv"), "id,x\n1,a\n").unwrap();
    fs::write(folder.path().join("r.csv"), "id,ref\n77,1\n").unwrap();
    let joined = "SELECT * FROM l JOIN r ON l.id = r.ref";
    for format in ["parquet", "arrow", "jsonl", "csv", "riegeli"] {
        let file = format!("joined.{format}");
        made(&session, folder.path(), joined, &file).await;
        let sql = format!("SELECT id, x, id_2, ref FROM '{file}'");
        assert_eq!(csv(&session, &sql).await, "1,a,77,1\n", "{format}");
    }
    let batch: RecordBatch = answer(&session, joined).await.remove(0);
    let file = fs::File::create(folder.path().join("twice.arrow")).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let error = refusal(&session, "SELECT * FROM 'twice.arrow'").await;
    assert!(
        error.contains("twice.arrow") && error.contains("two columns id"),
        "{error}"
    );
}

#[tokio::test]
async fn decimals_equal_the_floating_point_numbers_that_are_written_so() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    fs::write(
        folder.path().join("f.csv"),
        "id,amt\n1,1234567.89\n2,0.07\n3,99999999.99\n4,123456789.01\n",
    )
    .unwrap();
    let exact = "SELECT id, CAST(amt AS DECIMAL(12, 2)) AS amt FROM f";
    made(&session, folder.path(), exact, "d.parquet").await;
    for (sql, expected) in [
        (
            "SELECT COUNT(*) AS n FROM f JOIN d.parquet AS d ON f.id = d.id AND f.amt = d.amt",
            "4\n",
        ),
        ("SELECT COUNT(*) AS n FROM f JOIN d.parquet AS d USING (id, amt)", "4\n"),
        (
            "SELECT COUNT(*) AS n FROM f WHERE amt = CAST(1234567.89 AS DECIMAL(12, 2))",
            "1\n",
        ),
        ("SELECT COUNT(*) AS n FROM d.parquet WHERE amt = 1234567.89", "1\n"),
        (
            "SELECT COUNT(*) AS n FROM d.parquet WHERE amt IN (0.07, 99999999.99, 5)",
            "2\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM d.parquet WHERE amt BETWEEN 0.07 AND 1234567.89",
            "2\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM d.parquet WHERE amt < CAST(0.08 AS DOUBLE)",
            "1\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM d.parquet WHERE amt IN (SELECT amt FROM f)",
            "4\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM d.parquet WHERE amt < CAST('NaN' AS DOUBLE)",
            "4\n",
        ),
        ("SELECT COUNT(*) AS n FROM d.parquet WHERE amt < 2e30", "4\n"),
        (
            "SELECT COUNT(*) AS n FROM (SELECT amt FROM d.parquet EXCEPT SELECT amt FROM f) AS q",
            "0\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT amt FROM d.parquet INTERSECT SELECT amt FROM f) AS q",
            "4\n",
        ),
        (
            "SELECT MAX(amt) AS n FROM (SELECT amt FROM d.parquet UNION ALL SELECT amt FROM f) AS q",
            "123456789.01\n",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT amt FROM d.parquet UNION SELECT amt FROM f) AS q",
            "4\n",
        ),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
    let plan = session
        .explain("SELECT id FROM d.parquet WHERE amt = 0.07")
        .await
        .unwrap();
    assert!(!plan.contains("CAST(amt"), "{plan}");
}

#[tokio::test]
async fn numbers_are_the_digits_that_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    fs::write(folder.path().join("one.csv"), "n\n1\n").unwrap();
    for (sql, expected) in [
        ("SELECT 1234567890123456.78 AS d FROM one", "1234567890123456.78\n"),
        (
            "SELECT 12345678901234567890.5 AS d FROM one",
            "12345678901234567890.5\n",
        ),
        (
            "SELECT 123456789012345678901234567890 AS d FROM one",
            "123456789012345678901234567890\n",
        ),
        (
            "SELECT -0.12345678901234567890 AS d FROM one",
            "-0.12345678901234567890\n",
        ),
        ("SELECT 18446744073709551615 AS d FROM one", "18446744073709551615\n"),
        ("SELECT 1.5 AS d FROM one", "1.5\n"),
    ] {
        assert_eq!(csv(&session, sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn keys_of_json_are_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let line = |n: usize| format!("{{\"v\":{n},\"o\":{{\"a\":1}},\"pad\":\"{}\"}}\n", "x".repeat(900));
    let many: String = (0..10_000).map(line).collect();
    let late = "{\"v\":10000,\"o\":{\"a\":1},\"pad\":\"\",\"note\":\"important\"}\n";
    let nested = "{\"v\":10000,\"o\":{\"a\":1,\"b\":2},\"pad\":\"\"}\n";
    fs::write(folder.path().join("small.jsonl"), format!("{{\"v\":1}}\n{late}")).unwrap();
    fs::write(folder.path().join("late.jsonl"), format!("{many}{late}")).unwrap();
    fs::write(folder.path().join("nested.jsonl"), format!("{many}{nested}")).unwrap();
    assert_eq!(
        csv(&session, "SELECT v, note FROM 'small.jsonl' ORDER BY v").await,
        "1,\n10000,important\n"
    );
    for (file, key) in [("late.jsonl", "no key note"), ("nested.jsonl", "no key b")] {
        let error = refusal(&session, &format!("SELECT * FROM '{file}'")).await;
        assert!(error.contains("line 10001") && error.contains(key), "{error}");
        let counted = csv(&session, &format!("SELECT COUNT(v) AS n FROM '{file}'")).await;
        assert_eq!(counted, "10001\n");
    }
}

#[tokio::test]
async fn json_has_times_with_all_their_digits() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let times = "t,u\n2024-01-01 10:00:00.000004,10:00:00.5\n2024-01-01 10:00:00,10:00:00.000000007\n";
    fs::write(folder.path().join("t.csv"), times).unwrap();
    let sql = "SELECT t, arrow_cast(u, 'Time64(Nanosecond)') AS u FROM t";
    made(&session, folder.path(), sql, "t.jsonl").await;
    assert_eq!(
        fs::read_to_string(folder.path().join("t.jsonl")).unwrap(),
        "{\"t\":\"2024-01-01T10:00:00.000004\",\"u\":\"10:00:00.500\"}\n\
         {\"t\":\"2024-01-01T10:00:00.000\",\"u\":\"10:00:00.000000007\"}\n"
    );
}

#[tokio::test]
async fn new_tables_are_what_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    fs::write(folder.path().join("l.csv"), "id,x\n1,a\n").unwrap();
    for (sql, says) in [
        (
            "CREATE TABLE 'out.csv' (a INTEGER)",
            "out.csv: making a table in this format",
        ),
        ("CREATE TABLE 'x.parquet' (a INTEGER)", "use tidemill copy"),
        (
            "SELECT id INTO 'y.parquet' FROM l",
            "y.parquet: making a table in this format",
        ),
    ] {
        let error = refusal(&session, sql).await;
        assert!(error.contains(says), "{error}");
    }
    session.query("CREATE TABLE z AS SELECT * FROM l").await.unwrap();
    assert_eq!(csv(&session, "SELECT * FROM z.dbf").await, "1,a\n");
    for name in ["out.csv", "x.parquet", "y.parquet"] {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
}
