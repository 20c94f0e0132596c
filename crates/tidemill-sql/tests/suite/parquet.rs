//! Parquet files: what their columns say of themselves.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions, with_uuids_as_text};
use tidemill_testkit::corpus;

use crate::destination;
use crate::statements::csv;

/// Parquet has no such types; the Arrow metadata of its columns keep them.
#[tokio::test]
async fn types_of_clickhouse_come_back_through_parquet() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for name in ["ip", "int_big", "time", "uuid", "enum", "date_time64"] {
        let native = Location::existing(&corpus(format!("clickhouse/native/{name}.native"))).expect(name);
        let parquet = destination(&folder.path().join(format!("{name}.parquet")));
        let again = folder.path().join(format!("{name}.native"));
        let options = CopyOptions::default();
        session.copy(&native, &parquet, &options, |_| ()).await.expect(name);
        let parquet = Location::existing(parquet.file().expect("a file")).expect(name);
        session
            .copy(&parquet, &destination(&again), &options, |_| ())
            .await
            .expect(name);
        let again = Location::existing(&again).expect(name);
        let fields = async |table: &Location| session.schema(table).await.expect(name).fields().clone();
        assert_eq!(fields(&again).await, fields(&native).await, "{name}");
        let rows = async |table: &Location| {
            let batches = session
                .read(table, None)
                .await
                .expect(name)
                .collect()
                .await
                .expect(name);
            batches
                .iter()
                .flat_map(|batch| batch.columns().to_vec())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&again).await, rows(&native).await, "{name}");
    }
}

/// Written by programs that know nothing of Arrow.
#[tokio::test]
async fn uuids_of_parquet_are_uuids() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let schema = "message m { required fixed_len_byte_array(16) u (UUID); required fixed_len_byte_array(16) b; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = fs::File::create(folder.path().join("u.parquet")).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    while let Some(mut column) = group.next_column().expect("a column") {
        let value = FixedLenByteArray::from((0..16).collect::<Vec<u8>>());
        let typed = column.typed::<FixedLenByteArrayType>();
        typed.write_batch(&[value], None, None).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("closed");
    writer.close().expect("closed");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let batches = session
        .query("SELECT * FROM 'u.parquet'")
        .await
        .expect("a query")
        .collect()
        .await;
    let batches = batches.expect("rows");
    let texts = with_uuids_as_text(&batches[0]).expect("a batch");
    assert_eq!(
        texts.column(0).as_string::<i32>().value(0),
        "00010203-0405-0607-0809-0a0b0c0d0e0f"
    );
    assert_eq!(
        texts.column(1).as_fixed_size_binary().value(0),
        (0..16).collect::<Vec<u8>>()
    );
}

/// Least and greatest values in a Parquet file leave out NaN, which is greater than all numbers here.
#[tokio::test]
async fn nan_is_found_as_in_every_other_format() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("l.jsonl"),
        "{\"f\":1.5,\"i\":1}\n{\"f\":\"NaN\",\"i\":2}\n{\"f\":-2.5,\"i\":3}\n",
    )
    .expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let rows = "SELECT CAST(f AS DOUBLE) AS f, i FROM l";
    let parquet = destination(&folder.path().join("p.parquet"));
    session
        .copy_query(rows, &parquet, &CopyOptions::default(), |_| ())
        .await
        .expect("copied");
    let lines = format!("({rows}) AS l");
    for question in [
        "SELECT MAX(f) AS n FROM {t}",
        "SELECT MIN(f) AS n FROM {t}",
        "SELECT MAX(f) AS n FROM {t} WHERE f IS NOT NULL",
        "SELECT COUNT(*) AS n FROM {t} WHERE f > 5",
        "SELECT COUNT(*) AS n FROM {t} WHERE f NOT BETWEEN -10 AND 10",
        "SELECT i FROM {t} WHERE f > 5 AND i < 3",
        "SELECT i FROM {t} ORDER BY f DESC LIMIT 1",
        "SELECT MAX(i) AS n FROM {t} WHERE i > 1",
        "SELECT i FROM {t} WHERE f < 0",
        "SELECT i FROM {t} WHERE 1.5 = f OR f <= -2.5 ORDER BY i",
        "SELECT COUNT(*) AS n FROM {t} WHERE f = CAST('NaN' AS DOUBLE)",
        "SELECT COUNT(*) AS n FROM {t} WHERE f <= CAST('NaN' AS DOUBLE) AND 100 < f",
    ] {
        let of_parquet = csv(&session, &question.replace("{t}", "p")).await;
        let of_lines = csv(&session, &question.replace("{t}", &lines)).await;
        assert_eq!(of_parquet, of_lines, "{question}");
    }
    assert_eq!(csv(&session, "SELECT i FROM p WHERE f > 5").await, "2\n");
}
