//! What is written here is read by ClickHouse of today, and what it writes is read here.

use std::{fs, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeListArray,
    Float32Array, Int8Array, Int32Array, Int64Array, LargeListArray, LargeStringArray, ListArray, NullArray,
    RecordBatch, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray, UInt8Array, UInt16Array,
    UInt64Array, UnionArray,
    builder::{FixedSizeListBuilder, Float32Builder, MapBuilder, StringBuilder, UInt64Builder},
    types::{Int32Type, UInt8Type},
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field, UnionFields};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use tidemill_clickhouse::{Block, BlockDecoder, BlockEncoder, DataType, NativeWriter, Revision, source::SliceSource};
use tidemill_testkit::{Chdb, corpus_bytes};

const SETTINGS: &str = "allow_experimental_variant_type=1, allow_experimental_dynamic_type=1, allow_experimental_json_type=1, \
                        allow_experimental_qbit_type=1, enable_time_time64_type=1, allow_suspicious_low_cardinality_types=1, \
                        allow_suspicious_variant_types=1, allow_experimental_nullable_tuple_type=1";

/// What ClickHouse answers when it reads a file.
fn read_by_clickhouse(chdb: &mut Chdb, bytes: &[u8], format: &str, settings: &str) -> Vec<u8> {
    let path = chdb.folder().join("file.native");
    fs::write(&path, bytes).expect("a file");
    let query = format!(
        "SELECT * FROM file('{}', Native) SETTINGS {SETTINGS}{settings}",
        path.display()
    );
    chdb.query(&query, format).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn answers_come_back_from_clickhouse_unchanged() {
    let Some(mut chdb) = Chdb::need() else { return };
    let queries = String::from_utf8(corpus_bytes("clickhouse/native/queries.tsv")).expect("text");
    for line in queries.lines() {
        let mut parts = line.split('\t');
        let (name, query) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let settings = parts.next().map(|settings| format!(", {settings}")).unwrap_or_default();
        let answer = chdb.query(&format!("{query} SETTINGS {SETTINGS}{settings}"), "Native");
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        if answer.is_empty() {
            continue;
        }
        let mut decoder = BlockDecoder::default();
        if name == "string_bytes" {
            decoder.strings = tidemill_clickhouse::arrow_type::StringType::Binary;
        }
        let block = decoder.decode_blocking(&mut SliceSource::new(&answer), Revision::FILE);
        let block = block.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut written = Vec::new();
        BlockEncoder::default()
            .encode(&block, Revision::FILE, &mut written)
            .expect("a block");
        let back = read_by_clickhouse(&mut chdb, &written, "Native", &settings);
        assert!(back == answer, "{name}:\n{answer:?}\n{back:?}");
    }
}

#[test]
fn blocks_of_any_type_come_back_from_clickhouse_unchanged() {
    let Some(mut chdb) = Chdb::need() else { return };
    let mut runner = TestRunner::deterministic();
    for seed in 1..=60 {
        let text = crate::any_type::any_type()
            .new_tree(&mut runner)
            .expect("a type")
            .current();
        let types = [text.parse::<DataType>().expect("a type")];
        let bytes = crate::generate::file(&types, 17, seed);
        let block = BlockDecoder::default()
            .decode_blocking(&mut SliceSource::new(&bytes), Revision::FILE)
            .expect("a block");
        let mut written = Vec::new();
        BlockEncoder::default()
            .encode(&block, Revision::FILE, &mut written)
            .expect("a block");
        let back = read_by_clickhouse(&mut chdb, &written, "Native", "");
        let back = BlockDecoder::default()
            .decode_blocking(&mut SliceSource::new(&back), Revision::FILE)
            .expect("a block");
        assert_eq!(shown(&back), shown(&block), "{text}");
    }
}

/// Types and values, without regard to where null values have which bytes.
fn shown(block: &Block) -> String {
    let options = arrow_cast::display::FormatOptions::default().with_null("NULL");
    let column = block.batch.column(0);
    let formatter = arrow_cast::display::ArrayFormatter::try_new(column, &options).expect("a formatter");
    let rows: String = (0..column.len())
        .map(|row| format!("{}\n", formatter.value(row)))
        .collect();
    format!("{:?}\n{rows}", block.types).replace("DateTime64(4, Some(\"UTC\"))", "DateTime64(4)")
}

#[test]
fn arrays_of_many_forms_are_read_by_clickhouse() {
    let Some(mut chdb) = Chdb::need() else { return };
    for (data_type, array, expected) in arrays() {
        let types = [data_type.parse::<DataType>().expect("a type")];
        let batch = RecordBatch::try_from_iter([("c", array)]).expect("a batch");
        let mut file = NativeWriter::new(Vec::new());
        file.write_batch(&batch, &types)
            .unwrap_or_else(|error| panic!("{data_type}: {error}"));
        let answer = read_by_clickhouse(&mut chdb, &file.into_inner(), "TabSeparatedWithNamesAndTypes", "");
        let answer = String::from_utf8(answer).expect("text");
        let (_, rest) = answer.split_once('\n').expect("a line of names");
        let (found, rows) = rest.split_once('\n').expect("a line of types");
        assert_eq!(found.replace("\\'", "'"), types[0].to_string());
        assert_eq!(
            rows.trim_end_matches('\n').split('\n').collect::<Vec<_>>(),
            expected,
            "{data_type}"
        );
    }
}

/// A part of an array.
fn part(array: &dyn Array, begin: usize, length: usize) -> ArrayRef {
    array.slice(begin, length)
}

/// A type, an array to be written as it, and what ClickHouse shows.
fn arrays() -> Vec<(&'static str, ArrayRef, Vec<&'static str>)> {
    let nulls = || Some(NullBuffer::from(vec![true, false]));
    let item = |data_type| Arc::new(Field::new("item", data_type, false));
    let text = |values: [&str; 2]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let dictionary = |keys: Vec<Option<u8>>, values: Vec<Option<&str>>| {
        Arc::new(DictionaryArray::<UInt8Type>::new(
            keys.into(),
            Arc::new(StringArray::from(values)),
        )) as ArrayRef
    };
    let mut maps = MapBuilder::new(None, StringBuilder::new(), UInt64Builder::new());
    maps.keys().append_value("a");
    maps.values().append_value(1);
    maps.append(true).expect("a map");
    maps.append(true).expect("a map");
    let mut vectors =
        FixedSizeListBuilder::new(Float32Builder::new(), 2).with_field(Field::new("item", ArrowType::Float32, false));
    vectors.values().append_slice(&[1.0, -2.5]);
    vectors.append(true);
    let members = [
        (3, Arc::new(Field::new("text", ArrowType::Utf8, true))),
        (5, Arc::new(Field::new("number", ArrowType::UInt64, false))),
    ];
    let sparse = UnionArray::try_new(
        UnionFields::from_iter(members),
        vec![5, 3, 3].into(),
        None,
        vec![
            Arc::new(StringArray::from(vec![None, Some("x"), None])),
            Arc::new(UInt64Array::from(vec![7, 0, 0])),
        ],
    )
    .expect("a union");
    let sparse: ArrayRef = Arc::new(sparse);
    vec![
        (
            "String",
            Arc::new(LargeStringArray::from(vec!["a", "ü"])),
            vec!["a", "ü"],
        ),
        (
            "String",
            Arc::new(StringViewArray::from(vec!["a", "a longer one than twelve"])),
            vec!["a", "a longer one than twelve"],
        ),
        (
            "Nullable(String)",
            Arc::new(BinaryArray::from(vec![Some(b"a".as_slice()), None])),
            vec!["a", "\\N"],
        ),
        ("LowCardinality(String)", text(["b", "b"]), vec!["b", "b"]),
        (
            "LowCardinality(Nullable(String))",
            Arc::new(StringArray::from(vec![None, Some(""), Some("x")])),
            vec!["\\N", "", "x"],
        ),
        (
            "LowCardinality(UInt64)",
            Arc::new(UInt64Array::from(vec![7, 0, 7])),
            vec!["7", "0", "7"],
        ),
        (
            "LowCardinality(String)",
            dictionary(vec![Some(1), Some(0)], vec![Some("a"), Some("b")]),
            vec!["b", "a"],
        ),
        (
            "LowCardinality(Nullable(String))",
            dictionary(vec![Some(0), Some(1), None], vec![Some(""), None]),
            vec!["", "\\N", "\\N"],
        ),
        (
            "LowCardinality(String)",
            dictionary(vec![Some(1), Some(1), Some(0)], vec![Some("a"), Some("b")]).slice(1, 2),
            vec!["b", "a"],
        ),
        (
            "Array(UInt64)",
            Arc::new(LargeListArray::new(
                item(ArrowType::UInt64),
                OffsetBuffer::from_lengths([1, 2]),
                Arc::new(UInt64Array::from(vec![1, 2, 3])),
                None,
            )),
            vec!["[1]", "[2,3]"],
        ),
        (
            "Array(Nullable(Int32))",
            part(
                &ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![None, Some(2)])]),
                1,
                1,
            ),
            vec!["[NULL,2]"],
        ),
        (
            "Array(Float32)",
            part(
                &FixedSizeListArray::new(
                    item(ArrowType::Float32),
                    2,
                    Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0])),
                    None,
                ),
                1,
                1,
            ),
            vec!["[3,4]"],
        ),
        ("QBit(Float32, 2)", Arc::new(vectors.finish()), vec!["[1,-2.5]"]),
        (
            "Map(String, UInt64)",
            Arc::new(maps.finish()) as ArrayRef,
            vec!["{'a':1}", "{}"],
        ),
        (
            "Tuple(a UInt8, b String)",
            Arc::new(StructArray::from(vec![
                (
                    item(ArrowType::UInt8),
                    Arc::new(UInt8Array::from(vec![1, 2])) as ArrayRef,
                ),
                (item(ArrowType::Utf8), text(["x", "y"])),
            ])),
            vec!["(1,'x')", "(2,'y')"],
        ),
        (
            "Tuple()",
            Arc::new(StructArray::new_empty_fields(2, None)),
            vec!["()", "()"],
        ),
        ("Variant(String, UInt64)", Arc::clone(&sparse), vec!["7", "x", "\\N"]),
        ("Dynamic", sparse, vec!["7", "x", "\\N"]),
        ("Enum8('a' = 1, 'b' = 2)", text(["b", "a"]), vec!["b", "a"]),
        (
            "Nullable(Enum16('a' = 1))",
            dictionary(vec![Some(0), None], vec![Some("a")]),
            vec!["a", "\\N"],
        ),
        (
            "Date",
            part(&Date32Array::new(vec![65535, -1].into(), nulls()), 0, 1),
            vec!["2149-06-06"],
        ),
        (
            "Nullable(Date)",
            Arc::new(Date32Array::new(vec![0, -1].into(), nulls())),
            vec!["1970-01-01", "\\N"],
        ),
        (
            "DateTime64(6, 'UTC')",
            Arc::new(TimestampMicrosecondArray::from(vec![1_500_000])),
            vec!["1970-01-01 00:00:01.500000"],
        ),
        (
            "Decimal(38, 2)",
            Arc::new(
                Decimal128Array::from(vec![-1234])
                    .with_precision_and_scale(20, 2)
                    .expect("digits"),
            ),
            vec!["-12.34"],
        ),
        ("Nullable(Nothing)", Arc::new(NullArray::new(2)), vec!["\\N", "\\N"]),
        (
            "Bool",
            part(&BooleanArray::from(vec![true, false, true]), 1, 2),
            vec!["false", "true"],
        ),
        (
            "JSON",
            text(["{\"a\": [1, {\"b\": null}]}", "{}"]),
            vec!["{\"a\":[1,{}]}", "{}"],
        ),
        (
            "BFloat16",
            Arc::new(Float32Array::from(vec![1.0, 1.003, f32::NAN])),
            vec!["1", "1", "nan"],
        ),
        (
            "IPv4",
            Arc::new(arrow_array::UInt32Array::from(vec![0xC0A8_0001])),
            vec!["192.168.0.1"],
        ),
        ("Int8", part(&Int8Array::from(vec![1, 2, 3]), 1, 1), vec!["2"]),
        (
            "Nullable(Int64)",
            part(&Int64Array::from(vec![Some(1), None]), 1, 1),
            vec!["\\N"],
        ),
        (
            "SimpleAggregateFunction(max, UInt16)",
            Arc::new(UInt16Array::from(vec![9])),
            vec!["9"],
        ),
        (
            "Array(Nothing)",
            Arc::new(ListArray::new(
                item(ArrowType::Null).as_ref().clone().with_nullable(true).into(),
                OffsetBuffer::from_lengths([0, 0]),
                Arc::new(NullArray::new(0)),
                None,
            )),
            vec!["[]", "[]"],
        ),
        ("Int32", Arc::new(Int32Array::from(vec![-1])), vec!["-1"]),
    ]
}
