//! Copies between formats, seen from outside.

use std::fs;
use std::path::Path;

use tidemill_sql::{CopyOptions, Error, Location, Session, SessionOptions};

use crate::destination;

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
            .copy(&source, &destination(&copy), &CopyOptions::default(), |progress| {
                steps += 1;
                assert!(progress.rows <= 3);
            })
            .await
            .unwrap_or_else(|error| panic!("{extension}: {error}"));
        assert_eq!(copied.rows, 3, "{extension}");
        assert!(steps > 0 && copied.bytes > 0 && copied.source_bytes > 0, "{extension}");
        assert_eq!(rows(&session, &copy).await, expected, "{extension}");
        fs::remove_file(&copy).expect("removed");
        // The text of a CSV file has no length, so its copy has memos.
        assert_eq!(fs::remove_file(copy.with_extension("fpt")).is_ok(), extension == "dbf");
    }
    assert_eq!(leftovers(folder.path()), ["people.csv"]);
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
