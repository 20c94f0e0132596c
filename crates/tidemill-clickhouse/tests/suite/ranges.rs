//! Values that the reader of a block would show as others.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Date32Array, DictionaryArray, DurationSecondArray, Int32Array, ListArray, MapArray, RecordBatch,
    StringArray, StructArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    builder::Date32Builder,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field};
use tidemill_clickhouse::{
    BlockEncoder, BlockError, Calendar, DataType, Error, NativeReader, NativeWriter, Revision, client::Client,
};
use tidemill_testkit::{Chdb, ClickHouse};

fn encode(data_type: &str, array: ArrayRef, encoder: BlockEncoder) -> Result<Vec<u8>, Error> {
    let batch = RecordBatch::try_from_iter([("at", array)]).expect("a batch");
    let types = [data_type.parse::<DataType>().expect("a type")];
    let mut bytes = Vec::new();
    encoder.encode_batch(&batch, &types, Revision::NEWEST, &mut bytes)?;
    Ok(bytes)
}

fn by(calendar: Calendar) -> BlockEncoder {
    BlockEncoder {
        calendar,
        ..BlockEncoder::default()
    }
}

fn refusal(error: Error) -> BlockError {
    match error {
        Error::Block(error) => *error,
        other => panic!("{other:?}"),
    }
}

fn dates(days: &[i32]) -> ArrayRef {
    Arc::new(Date32Array::from(days.to_vec()))
}

/// 1850-01-01, and 2400-01-01.
const OLD: i32 = -43_829;
const FAR: i32 = 157_054;

#[test]
fn what_a_version_cannot_show_is_refused_with_row_value_and_range() {
    let seconds = |ticks: i64| Arc::new(TimestampSecondArray::from(vec![0, ticks])) as ArrayRef;
    let millis = |ticks: i64| Arc::new(TimestampMillisecondArray::from(vec![0, ticks])) as ArrayRef;
    let nanos = |ticks: i64| Arc::new(TimestampNanosecondArray::from(vec![0, ticks])) as ArrayRef;
    let durations = |ticks: i64| Arc::new(DurationSecondArray::from(vec![0, ticks])) as ArrayRef;
    for (data_type, array, calendar, value, range) in [
        (
            "Date",
            dates(&[0, OLD]),
            Calendar::ANY,
            "1850-01-01",
            "1970-01-01 to 2149-06-06",
        ),
        (
            "Date32",
            dates(&[0, OLD]),
            Calendar::UNTIL_2299,
            "1850-01-01",
            "1900-01-01 to 2299-12-31",
        ),
        (
            "Date32",
            dates(&[0, FAR]),
            Calendar::UNTIL_2299,
            "2400-01-01",
            "1900-01-01 to 2299-12-31",
        ),
        (
            "Date32",
            dates(&[0, -20_000]),
            Calendar::UNTIL_2283,
            "1915-03-31",
            "1925-01-01 to 2283-11-11",
        ),
        (
            "Date32",
            dates(&[0, -719_529]),
            Calendar::UNTIL_9999,
            "-0001-12-31",
            "0000-01-01 to 9999-12-31",
        ),
        (
            "Date32",
            dates(&[0, 2_932_897]),
            Calendar::UNTIL_9999,
            "10000-01-01",
            "0000-01-01 to 9999-12-31",
        ),
        (
            "DateTime",
            seconds(-1),
            Calendar::ANY,
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z",
        ),
        (
            "DateTime64(0)",
            seconds(-2_208_988_801),
            Calendar::UNTIL_2299,
            "1899-12-31T23:59:59Z",
            "1900-01-01T00:00:00Z to 2299-12-31T23:59:59Z",
        ),
        (
            "DateTime64(3)",
            millis(10_413_792_000_000),
            Calendar::UNTIL_2299,
            "2300-01-01T00:00:00.000Z",
            "2299-12-31T23:59:59.999Z",
        ),
        (
            "DateTime64(2)",
            millis(10_413_792_000_000),
            Calendar::UNTIL_2299,
            "2300-01-01T00:00:00.000Z",
            "2299-12-31T23:59:59.999Z",
        ),
        (
            "DateTime64(9)",
            nanos(-2_208_988_800_000_000_001),
            Calendar::UNTIL_2299,
            "1899-12-31T23:59:59.999999999Z",
            "1900-01-01T00:00:00.000000000Z to 2262-04-11T23:47:16.854775807Z",
        ),
        (
            "DateTime64(3)",
            millis(-1),
            Calendar::UNTIL_2106,
            "1969-12-31T23:59:59.999Z",
            "1970-01-01T00:00:00.000Z to 2106-02-06T23:59:59.999Z",
        ),
        (
            "Time",
            durations(3_000_000_000),
            Calendar::ANY,
            "833333:20:00",
            "to 596523:14:07",
        ),
        (
            "Time",
            durations(-3_600_000),
            Calendar::UNTIL_9999,
            "-1000:00:00",
            "-999:59:59 to 999:59:59",
        ),
        (
            "Time64(0)",
            durations(3_600_000),
            Calendar::UNTIL_9999,
            "1000:00:00",
            "-999:59:59 to 999:59:59",
        ),
    ] {
        for (data_type, array) in [
            (data_type.to_owned(), Arc::clone(&array)),
            (format!("Nullable({data_type})"), array),
        ] {
            let error = encode(&data_type, array, by(calendar)).expect_err(&data_type);
            let text = error.to_string();
            let refusal = refusal(error);
            assert_eq!(
                (refusal.column.as_str(), refusal.row, refusal.found.as_str()),
                ("at", Some(1), value),
                "{data_type}"
            );
            assert!(refusal.expected.contains(range), "{text}");
            assert!(text.starts_with("column `at`, row 1: "), "{text}");
            assert!(text.contains("CAST"), "{text}");
        }
    }
}

#[test]
fn the_ends_of_a_range_are_in_it_and_null_rows_may_have_anything() {
    for (calendar, days) in [
        (Calendar::UNTIL_2283, [-16_436, 114_635]),
        (Calendar::UNTIL_2299, [-25_567, 120_529]),
        (Calendar::UNTIL_9999, [-719_528, 2_932_896]),
        (Calendar::ANY, [i32::MIN, i32::MAX]),
    ] {
        encode("Date32", dates(&days), by(calendar)).expect("both ends");
    }
    for data_type in ["Nullable(Date32)", "Nullable(Date)"] {
        let nulls = NullBuffer::from(vec![true, false]);
        let array = Date32Array::new(vec![5, FAR].into(), Some(nulls));
        encode(data_type, Arc::new(array), by(Calendar::UNTIL_2299)).expect("a null");
    }
}

/// Two rows, of which only the second has a wrong date.
#[test]
fn the_row_is_told_wherever_the_value_is_in_it() {
    let item = || Arc::new(Field::new("item", ArrowType::Date32, true));
    let list = ListArray::new(
        item(),
        OffsetBuffer::new(vec![0, 2, 4].into()),
        dates(&[1, 2, 3, FAR]),
        None,
    );
    let (key, value) = (
        Field::new("key", ArrowType::Int32, false),
        Field::new("value", ArrowType::Date32, false),
    );
    let pairs = StructArray::try_new(
        vec![key, value].into(),
        vec![Arc::new(Int32Array::from(vec![1, 2, 3])), dates(&[1, 2, FAR])],
        None,
    )
    .expect("pairs");
    let entries = Arc::new(Field::new("entries", pairs.data_type().clone(), false));
    let map = MapArray::new(entries, OffsetBuffer::new(vec![0, 2, 3].into()), pairs, None, false);
    let keys = Int32Array::from(vec![1, 0]);
    let dictionary = DictionaryArray::new(keys.clone(), dates(&[FAR, 3]));
    let mut sparse = Date32Builder::new();
    sparse.append_slice(&[0, FAR]);
    let tuple = StructArray::from(vec![(
        Arc::new(Field::new("d", ArrowType::Date32, false)),
        dates(&[0, FAR]),
    )]);
    for (data_type, array, encoder) in [
        ("Array(Date32)", Arc::new(list) as ArrayRef, by(Calendar::UNTIL_2299)),
        ("Map(Int32, Date32)", Arc::new(map), by(Calendar::UNTIL_2299)),
        ("Tuple(d Date32)", Arc::new(tuple), by(Calendar::UNTIL_2299)),
        (
            "LowCardinality(Date32)",
            Arc::new(dictionary.clone()),
            by(Calendar::UNTIL_2299),
        ),
        (
            "LowCardinality(Nullable(Date32))",
            Arc::new(dictionary.clone()),
            by(Calendar::UNTIL_2299),
        ),
        (
            "Date32",
            Arc::new(sparse.finish()),
            BlockEncoder {
                sparse_from: Some(0.1),
                ..by(Calendar::UNTIL_2299)
            },
        ),
        ("Date32", Arc::new(dictionary), by(Calendar::UNTIL_2299)),
    ] {
        let refusal = refusal(encode(data_type, array, encoder).expect_err(data_type));
        assert_eq!(
            (refusal.row, refusal.found.as_str()),
            (Some(1), "2400-01-01"),
            "{data_type}"
        );
    }
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let refusal = refusal(encode("Enum8('a' = 1)", names, BlockEncoder::default()).expect_err("no such name"));
    assert_eq!((refusal.row, refusal.found.as_str()), (Some(1), "\"b\""));
}

#[test]
fn a_file_has_what_every_server_shows_unless_told_otherwise() {
    let batch = |days: &[i32]| RecordBatch::try_from_iter([("born", dates(days))]).expect("a batch");
    let types = [DataType::Date32];
    let mut file = NativeWriter::new(Vec::new());
    file.write_batch(&batch(&[1, 2]), &types).expect("dates of these days");
    let error = file.write_batch(&batch(&[3, OLD]), &types).expect_err("an old date");
    assert!(error.to_string().starts_with("column `born`, row 3: "), "{error}");
    file.write_batch(&batch(&[3]), &types)
        .expect("nothing of the block was written");
    let blocks: Vec<_> = NativeReader::new(file.into_inner().as_slice())
        .map(|block| block.expect("a block").rows())
        .collect();
    assert_eq!(blocks, [2, 1]);

    let mut wide = NativeWriter::new(Vec::new()).with_encoder(by(Calendar::UNTIL_9999));
    wide.write_batch(&batch(&[OLD]), &types).expect("a reader of today");
}

/// ClickHouse of today shows the ends of its range as they are, and what is behind them as the ends.
#[test]
fn clickhouse_of_today_shows_the_range_that_it_is_told_to_have() {
    let Some(mut chdb) = Chdb::need() else { return };
    let mut shown = |days: &[i32]| {
        let batch = RecordBatch::try_from_iter([("d", dates(days))]).expect("a batch");
        let mut file = NativeWriter::new(Vec::new()).with_encoder(BlockEncoder::default());
        file.write_batch(&batch, &[DataType::Date32]).expect("any dates");
        let path = chdb.folder().join("d.native");
        std::fs::write(&path, file.into_inner()).expect("a file");
        let query = format!("SELECT toString(d) FROM file('{}', Native)", path.display());
        String::from_utf8(chdb.query(&query, "TabSeparated").expect("an answer")).expect("text")
    };
    assert_eq!(
        shown(&[-719_528, OLD, FAR, 2_932_896]),
        "0000-01-01\n1850-01-01\n2400-01-01\n9999-12-31\n"
    );
    assert_eq!(shown(&[-719_529, 2_932_897]), "0000-01-01\n9999-12-31\n");
}

#[tokio::test]
async fn a_server_without_date32_says_so_in_dates() {
    let Some(server) = ClickHouse::need() else { return };
    let client = Client::connect(&format!("clickhouse://{}", server.native()))
        .await
        .expect("a client");
    client
        .execute("CREATE TABLE people (born Date) ENGINE = Memory")
        .await
        .expect("a table");
    let mut insert = client.insert("people").await.expect("an insert");
    let batch = |days: &[i32]| RecordBatch::try_from_iter([("born", dates(days))]).expect("a batch");
    insert.write(&batch(&[0, 1])).await.expect("dates");
    insert.flush().await.expect("dates");
    insert.write(&batch(&[3, OLD])).await.expect("seen when it is sent");
    let error = insert.flush().await.expect_err("an old date");
    let text = error.to_string();
    assert!(text.starts_with("column `born`, row 3: a date"), "{text}");
    assert!(
        text.contains("1970-01-01 to 2106-02-07") && text.contains("found 1850-01-01"),
        "{text}"
    );
    drop(insert);

    // The last days that it shows as they are, and the next ones.
    let at = |second: i64| Arc::new(TimestampSecondArray::from(vec![second])) as ArrayRef;
    client
        .execute("CREATE TABLE times (at DateTime) ENGINE = Memory")
        .await
        .expect("a table");
    let day = (49_710, "2106-02-07");
    let second = (4_294_943_999, "2106-02-06 23:59:59");
    for (table, column, last, next) in [
        ("people", "born", (dates(&[day.0]), day.1), dates(&[day.0 + 1])),
        ("times", "at", (at(second.0), second.1), at(second.0 + 1)),
    ] {
        let write = async |array: ArrayRef| {
            let mut insert = client.insert(table).await?;
            let batch = RecordBatch::try_from_iter([(column, array)])?;
            insert.write(&batch).await?;
            insert.finish().await
        };
        write(last.0).await.expect(column);
        let sql = format!("SELECT toString({column}) FROM {table} ORDER BY {column} DESC LIMIT 1");
        let shown = client.query_as::<String>(sql).fetch_all().await.expect("text");
        assert_eq!(shown, [last.1]);
        refusal(write(next).await.expect_err(column));
    }
}
