//! Copies between formats, seen from outside.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, TimestampMicrosecondArray};
use tidemill_sql::{CopyOptions, Error, FileOptions, Location, Session, SessionOptions, Verify};
use tidemill_testkit::corpus_bytes;

use crate::destination;
use crate::statements::csv;

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder))
}

async fn rows(session: &Session, file: &Path) -> Vec<String> {
    // JSON tells no order of columns.
    let sql = format!("SELECT id, name, born FROM \"{}\"", file.display());
    let batches = session
        .query(&sql)
        .await
        .expect("planned")
        .collect()
        .await
        .expect("answered");
    let mut out = Vec::new();
    let mut writer = arrow_csv::WriterBuilder::new().with_header(true).build(&mut out);
    for batch in &batches {
        writer.write(batch).expect("written");
    }
    drop(writer);
    String::from_utf8(out)
        .expect("UTF-8")
        .lines()
        .map(str::to_owned)
        .collect()
}

fn source(folder: &Path) -> Location {
    let path = folder.join("people.csv");
    fs::write(&path, "ID,NAME,BORN\n1,Ada,1815-12-10\n2,Béla,\n3,,1999-01-01\n").expect("written");
    Location::existing(&path).expect("a location")
}

#[tokio::test]
async fn a_table_is_the_same_in_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    let source = source(folder.path());
    let expected = rows(&session, source.file().expect("a file")).await;
    assert_eq!(expected.len(), 4);
    for extension in [
        "parquet", "arrow", "csv", "jsonl", "json", "tsv", "riegeli", "dbf", "native",
    ] {
        let copy = folder.path().join("copy").with_extension(extension);
        let mut steps = 0;
        let copied = session
            .copy(&source, &destination(&copy), &of_all_days(), |progress| {
                steps += 1;
                assert!(progress.rows <= 3);
            })
            .await
            .unwrap_or_else(|error| panic!("{extension}: {error}"));
        assert_eq!(copied.rows, 3, "{extension}");
        assert!(steps > 0 && copied.bytes > 0 && copied.source_bytes > 0, "{extension}");
        assert_eq!(rows(&session, &copy).await, expected, "{extension}");
        fs::remove_file(&copy).expect("removed");
        // Fields are as wide as the longest text.
        assert!(!copy.with_extension("fpt").exists());
    }
    assert_eq!(leftovers(folder.path()), ["people.csv"]);
}

#[tokio::test]
async fn decimals_of_few_digits_become_narrow_and_come_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for sql in [
        "CREATE TABLE prices ( a Numeric(5,2), b Numeric(12,3), c Numeric(20,4) )",
        "INSERT INTO prices VALUES ( 12.25, -3456789.125, 123456789012345.0625 ), ( -9.99, 0.001, 0 )",
    ] {
        csv(&session, sql).await;
    }
    let source = Location::existing(&folder.path().join("prices.dbf")).expect("a location");
    let copy = folder.path().join("copy.native");
    let copied = session
        .copy(&source, &destination(&copy), &in_full(), |_| {})
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((copied.rows, copied.compared_columns), (2, Some(3)));
    let back = "SELECT a, b, c FROM 'copy.native'";
    let expected = "12.25,-3456789.125,123456789012345.0625\n-9.99,0.001,0.0000\n";
    assert_eq!(csv(&session, back).await, expected);
}

#[tokio::test]
async fn an_answer_is_copied_like_a_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    source(folder.path());
    let file = folder.path().join("names.parquet");
    let sql = "SELECT name, LENGTH(name) AS letters FROM people WHERE name IS NOT NULL";
    let copied = session
        .copy_query(sql, &destination(&file), &CopyOptions::default(), |_| {})
        .await
        .expect("copied");
    assert_eq!(copied.rows, 2);
    let batches = session
        .query("SELECT * FROM names")
        .await
        .expect("planned")
        .collect()
        .await
        .expect("answered");
    assert_eq!(
        format!("{:?}", batches[0].column(1)),
        "PrimitiveArray<Int32>\n[\n  3,\n  4,\n]"
    );
    assert_eq!(batches[0].schema().field(0).name(), "NAME");
}

#[tokio::test]
async fn a_destination_that_is_there_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    let source = source(folder.path());
    let file = folder.path().join("copy.csv");
    fs::write(&file, "mine").expect("written");
    let refused = session
        .copy(&source, &destination(&file), &CopyOptions::default(), |_| {})
        .await;
    assert!(matches!(refused, Err(Error::Exists { .. })));
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");

    let options = CopyOptions {
        overwrite: true,
        ..CopyOptions::default()
    };
    session
        .copy(&source, &destination(&file), &options, |_| {})
        .await
        .expect("replaced");
    assert_eq!(rows(&session, &file).await.len(), 4);
}

#[tokio::test]
async fn a_copy_that_fails_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    source(folder.path());
    let file = folder.path().join("copy.parquet");
    let sql = "SELECT 10 / (id - 3) FROM people";
    session
        .copy_query(sql, &destination(&file), &CopyOptions::default(), |_| {})
        .await
        .expect_err("division by zero");
    let nowhere = folder.path().join("no/such/folder/copy.csv");
    let error = session
        .copy_query(
            "SELECT 1 AS one",
            &destination(&nowhere),
            &CopyOptions::default(),
            |_| {},
        )
        .await;
    assert!(error.expect_err("no folder").to_string().contains("no/such/folder"));
    assert_eq!(leftovers(folder.path()), ["people.csv"]);
}

fn leftovers(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn in_full() -> CopyOptions {
    CopyOptions {
        verify: Verify::Full,
        ..of_all_days()
    }
}

/// Days of before 1900 are in every format.
fn of_all_days() -> CopyOptions {
    CopyOptions {
        file: FileOptions {
            wide_dates: true,
            ..FileOptions::default()
        },
        ..CopyOptions::default()
    }
}

#[tokio::test]
async fn every_column_is_compared_by_its_checksum() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    let source = source(folder.path());
    for extension in ["parquet", "arrow", "riegeli", "native"] {
        let copy = folder.path().join("copy").with_extension(extension);
        let copied = session
            .copy(&source, &destination(&copy), &in_full(), |_| {})
            .await
            .unwrap_or_else(|error| panic!("{extension}: {error}"));
        assert_eq!(copied.compared_columns, Some(3), "{extension}");
        // A copy of records is compared by their bytes.
        if extension == "riegeli" {
            let again = folder.path().join("again.riegeli");
            let from = Location::existing(&copy).expect("a location");
            let copied = session.copy(&from, &destination(&again), &in_full(), |_| {}).await;
            assert_eq!(copied.expect("copied").compared_columns, Some(0));
        }
    }
    // A NULL text is an empty one in an xBase table, and checksums say so.
    let table = folder.path().join("copy.dbf");
    let error = session.copy(&source, &destination(&table), &in_full(), |_| {}).await;
    let error = error.expect_err("refused");
    assert!(
        matches!(&error, Error::Checksum { column, .. } if column == "NAME"),
        "{error}"
    );
    assert!(!table.exists());
    let error = session
        .copy(
            &source,
            &destination(&folder.path().join("copy.csv")),
            &in_full(),
            |_| {},
        )
        .await;
    assert!(matches!(error, Err(Error::Unsupported { .. })));
}

#[tokio::test]
async fn what_a_type_would_lose_is_told_first_and_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    let times = arrow_array::RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        (
            "at",
            Arc::new(TimestampMicrosecondArray::from(vec![1_767_323_045_678_901])),
        ),
    ]);
    let times = times.expect("columns");
    let source = folder.path().join("times.arrow");
    let file = fs::File::create(&source).expect("made");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &times.schema()).expect("begun");
    writer.write(&times).expect("written");
    writer.finish().expect("finished");
    let source = Location::existing(&source).expect("a location");
    let table = destination(&folder.path().join("times.dbf"));
    let options = CopyOptions::default();
    let copy = session.plan_copy(&source, &table, &options).await.expect("planned");
    let lost: Vec<_> = copy.columns().iter().map(|column| column.loss.is_some()).collect();
    assert_eq!(lost, [false, true]);
    let error = copy.run(|_| {}).await.expect_err("refused");
    let said = error.to_string();
    assert!(
        matches!(error, Error::Lossy { .. }) && said.contains("at: ") && said.contains("--lossy"),
        "{said}"
    );
    assert_eq!(leftovers(folder.path()), ["times.arrow"]);
    let options = CopyOptions {
        lossy: true,
        verify: Verify::Full,
        ..CopyOptions::default()
    };
    let copied = session.copy(&source, &table, &options, |_| {}).await.expect("copied");
    assert_eq!((copied.rows, copied.compared_columns), (1, Some(1)));
}

#[tokio::test]
async fn deleted_records_keep_their_marks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for statement in [
        "CREATE TABLE t (ID Integer, NAME Char(5))",
        "INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t VALUES (2, 'b')",
        "INSERT INTO t VALUES (3, 'c')",
        "DELETE FROM t WHERE id = 2",
    ] {
        session
            .query(statement)
            .await
            .expect("done")
            .collect()
            .await
            .expect("done");
    }
    let count = async |session: &Session, sql: &str| {
        let batches = session
            .query(sql)
            .await
            .expect("planned")
            .collect()
            .await
            .expect("answered");
        arrow_cast::display::array_value_to_string(batches[0].column(0), 0).expect("a number")
    };
    let with_deleted = Session::new(
        SessionOptions::default()
            .dir(folder.path())
            .deleted(tidemill_xbase::Deleted::Include),
    );
    let table = Location::existing(&folder.path().join("t.dbf")).expect("a location");
    let parquet = folder.path().join("t.parquet");
    let again = folder.path().join("again.dbf");
    with_deleted
        .copy(&table, &destination(&parquet), &in_full(), |_| {})
        .await
        .expect("copied");
    assert_eq!(
        count(&session, "SELECT COUNT(*) FROM \"t.parquet\" WHERE _deleted").await,
        "1"
    );
    let from = Location::existing(&parquet).expect("a location");
    session
        .copy(&from, &destination(&again), &in_full(), |_| {})
        .await
        .expect("copied");
    assert_eq!(count(&session, "SELECT COUNT(*) FROM again").await, "2");
    assert_eq!(count(&with_deleted, "SELECT COUNT(*) FROM again").await, "3");
    // Without them a copy has neither the records nor the column.
    let without = folder.path().join("without.parquet");
    session
        .copy(&table, &destination(&without), &in_full(), |_| {})
        .await
        .expect("copied");
    let schema = session
        .schema(&Location::existing(&without).expect("a location"))
        .await
        .expect("a schema");
    assert_eq!(schema.fields().len(), 2);
}

/// Values of LowCardinality lie within others, and each block has a dictionary of its own: an Arrow file has one of a column.
#[tokio::test]
async fn columns_of_low_cardinality_go_into_arrow_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = session(folder.path());
    for name in [
        "low_cardinality",
        "array_low_cardinality",
        "variant_low_cardinality",
        "low_cardinality_wide",
    ] {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        let twice = folder.path().join(format!("{name}.native"));
        fs::write(&twice, [bytes.clone(), bytes].concat()).expect("written");
        let twice = Location::existing(&twice).expect(name);
        let arrow = folder.path().join(format!("{name}.arrow"));
        let copied = session
            .copy(&twice, &destination(&arrow), &CopyOptions::default(), |_| ())
            .await;
        assert!(copied.expect(name).rows > 0, "{name}");
        let arrow = Location::existing(&arrow).expect(name);
        let rows = async |table: &Location| {
            let batches = session
                .read(table, None)
                .await
                .expect(name)
                .collect()
                .await
                .expect(name);
            let rows = batches.iter().flat_map(|batch| {
                let column = Arc::clone(batch.column(0));
                (0..batch.num_rows())
                    .map(move |row| arrow_cast::display::array_value_to_string(&column, row).expect("a text"))
            });
            rows.collect::<Vec<_>>()
        };
        assert_eq!(rows(&arrow).await, rows(&twice).await, "{name}");
    }
}

#[tokio::test]
async fn values_with_line_breaks_come_back_from_csv_files_of_all_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path());
    // More than a buffer, and more than what is read by several threads.
    for rows in [10, 20_000, 260_000] {
        let line = |row: usize| format!("{{\"id\": {row}, \"note\": \"first, line\\nsecond \\\"{row}\\\"\\n\"}}\n");
        let lines = folder.path().join(format!("notes{rows}.jsonl"));
        fs::write(&lines, (0..rows).map(line).collect::<String>()).expect("written");
        let (from, to) = (
            Location::existing(&lines).expect("a table"),
            destination(&folder.path().join(format!("notes{rows}.csv"))),
        );
        let copied = session.copy(&from, &to, &CopyOptions::default(), |_| {}).await;
        assert_eq!(copied.expect("copied").rows, rows as u64);
        let ask = |extension: &str| {
            format!(
                "SELECT count(*) AS n, sum(id) AS ids, sum(length(note)) AS letters, max(note) AS last \
                 FROM 'notes{rows}.{extension}'"
            )
        };
        let found = csv(&session, &ask("csv")).await;
        assert_eq!(found, csv(&session, &ask("jsonl")).await);
    }
}

#[tokio::test]
async fn what_empty_text_and_null_become_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = "{\"n\":1,\"a\":null,\"b\":\"x\"}\n{\"n\":2,\"a\":\"\",\"b\":null}\n{\"n\":3,\"a\":null,\"b\":\"y\"}\n";
    std::fs::write(folder.path().join("n.jsonl"), rows).expect("written");
    for (copy, expected) in [
        (
            "n.dbf",
            &[
                "column a: NULL became empty text in 2 rows",
                "column b: NULL became empty text in 1 row",
            ][..],
        ),
        ("n.adt", &["column a: empty text became NULL in 1 row"]),
        ("n.xlsx", &["column a: empty text became NULL in 1 row"]),
        ("n.csv", &[]),
        ("n.parquet", &[]),
    ] {
        let session = session(folder.path());
        let source = session.locate("n.jsonl").await.expect("a table");
        let copy = destination(&folder.path().join(copy));
        let copied = session.copy(&source, &copy, &CopyOptions::default(), |_| {}).await;
        assert_eq!(copied.expect("copied").rows, 3);
        let expected: Vec<String> = expected.iter().map(|line| format!("{copy}: {line}")).collect();
        assert_eq!(session.notes(), expected, "{copy}");
    }
}
