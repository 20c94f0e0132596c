//! Blocks that lie, and batches that do not fit their types: errors that say so, in little memory and time.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal256Array, DictionaryArray, Int32Array, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, TimestampSecondArray, UInt8Array,
    types::{Int32Type, UInt8Type},
};
use arrow_buffer::i256;
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, DataType, Error, Limits, NativeReader, Result, Revision, source::SliceSource,
};

fn decode(bytes: &[u8]) -> Result<Block> {
    BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = varint(text.len() as u64);
    bytes.extend(text.as_bytes());
    bytes
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A block of one column `c`.
fn column(rows: u64, data_type: &str, values: &[u8]) -> Vec<u8> {
    [varint(1), varint(rows), string("c"), string(data_type), values.to_vec()].concat()
}

fn refused(bytes: &[u8], message: &str) {
    let error = decode(bytes).expect_err(message).to_string();
    assert_eq!(error, message);
}

#[test]
fn counts_are_bounded() {
    let limit = i32::MAX;
    refused(
        &[varint(1 << 20), varint(1)].concat(),
        "the number of columns is 1048576, more than the limit of 65536",
    );
    refused(
        &[varint(1), varint(1 << 31)].concat(),
        &format!("the number of rows is 2147483648, more than the limit of {limit}"),
    );
    refused(
        &[0xFF; 10],
        "the number of columns, at byte 10 of the block: expected a number of 64 bits, found more bits",
    );
    refused(
        &[varint(1), varint(1), varint(1 << 40)].concat(),
        "the name of a column is 1099511627776, more than the limit of 1048576",
    );
}

#[test]
fn lengths_are_checked_before_memory_is_set_aside() {
    let rows = (1 << 31) - 1;
    for data_type in [
        "UInt64",
        "Int256",
        "FixedString(16777215)",
        "Array(UInt8)",
        "Nullable(String)",
        "UUID",
        "Tuple()",
        "Enum8('a' = 1)",
    ] {
        // Of a slice it is known how much is left; a reader is read until it ends.
        assert!(decode(&column(rows, data_type, &[0; 64])).is_err(), "{data_type}");
        let bytes = column(rows, data_type, &[0; 64]);
        let error = NativeReader::new(bytes.as_slice())
            .next()
            .expect("a block")
            .expect_err("too short");
        assert!(
            matches!(error, Error::Truncated { .. } | Error::Limit { .. }),
            "{data_type}: {error}"
        );
    }
}

#[test]
fn memory_is_bounded() {
    let decoder = BlockDecoder {
        limits: {
            let mut limits = Limits::default();
            limits.memory = 1 << 20;
            limits
        },
        ..BlockDecoder::default()
    };
    let bytes = column(1 << 20, "UInt64", &vec![0; 8 << 20]);
    let error = decoder
        .decode_blocking(&mut SliceSource::new(&bytes), Revision::FILE)
        .expect_err("too much");
    assert_eq!(
        error.to_string(),
        "memory of a block is 8388608, more than the limit of 1048576"
    );
}

#[test]
fn offsets_are_in_order_and_in_range() {
    let ends = |ends: &[u64]| ends.iter().flat_map(|end| end.to_le_bytes()).collect::<Vec<_>>();
    refused(
        &column(2, "Array(UInt8)", &ends(&[3, 2])),
        "column `c`: offsets, at byte 33 of the block: expected ends in order, found an end before that of the row before, in row 1",
    );
    refused(
        &column(1, "Array(UInt8)", &ends(&[1 << 40])),
        "values of one column of a block is 1099511627776, more than the limit of 2147483647",
    );
    refused(
        &column(2, "Map(String, UInt8)", &ends(&[1 << 63, 1])),
        "column `c`: offsets, at byte 39 of the block: expected ends in order, found an end before that of the row before, in row 1",
    );
}

#[test]
fn dictionaries_hold_together() {
    let dictionary = |flags: u64, keys: &[u8], rows: u64, indexes: &[u8]| {
        let parts = [
            &1_u64.to_le_bytes(),
            &flags.to_le_bytes()[..],
            &2_u64.to_le_bytes(),
            keys,
            &rows.to_le_bytes(),
            indexes,
        ];
        column(2, "LowCardinality(String)", &parts.concat())
    };
    assert!(decode(&dictionary(0x600, b"\0\x01a", 2, &[1, 0])).is_ok());
    let error = decode(&dictionary(0x600, b"\0\x01a", 2, &[1, 2]))
        .expect_err("no such value")
        .to_string();
    assert!(error.contains("expected less than the dictionary's size, 2"), "{error}");
    let error = decode(&dictionary(0x600, b"\0\x01a", 3, &[1, 1, 1]))
        .expect_err("too many")
        .to_string();
    assert!(
        error.contains("the number of indexes, at byte 62 of the block: expected 2, found 3"),
        "{error}"
    );
    let error = decode(&dictionary(0x700, b"\0\x01a", 2, &[1, 0]))
        .expect_err("a global dictionary")
        .to_string();
    assert!(
        error.contains("expected values in the block itself, found 0x700"),
        "{error}"
    );
    let error = decode(&dictionary(0x604, b"\0\x01a", 2, &[1, 0]))
        .expect_err("no such width")
        .to_string();
    assert!(error.contains("expected a width of indexes, found 0x604"), "{error}");
    let version = column(1, "LowCardinality(String)", &2_u64.to_le_bytes());
    refused(
        &version,
        "column `c`: the version of a dictionary, at byte 35 of the block: expected 1, found 2",
    );
}

#[test]
fn deep_types_do_not_overflow_the_stack() {
    let nested = |depth: usize| format!("{}UInt8{}", "Array(".repeat(depth), ")".repeat(depth));
    let deep = nested(DataType::MAX_DEPTH - 1);
    let mut values = 1_u64.to_le_bytes().repeat(DataType::MAX_DEPTH - 1);
    values.push(7);
    let bytes = column(1, &deep, &values);
    let block = decode(&bytes).expect("a block");
    let mut again = Vec::new();
    BlockEncoder::default()
        .encode(&block, Revision::FILE, &mut again)
        .expect("a block");
    assert_eq!(again, bytes);
    let error = decode(&column(1, &nested(10_000), &[]))
        .expect_err("too deep")
        .to_string();
    assert!(error.contains("types nest too deeply"), "{error}");

    // The same with prefixes, and with types that come in prefixes.
    let variants = format!("{}String{}", "Array(Variant(UInt8, ".repeat(40), "))".repeat(40));
    assert_eq!(
        decode(&column(1, &variants, &[0; 1 << 12]))
            .expect("an empty list")
            .rows(),
        1
    );
    let mut dynamic = Vec::new();
    for _ in 0..10_000 {
        dynamic.extend([3_u64.to_le_bytes().to_vec(), varint(1), string("Dynamic")].concat());
    }
    let error = decode(&column(1, "Dynamic", &dynamic))
        .expect_err("too deep")
        .to_string();
    assert_eq!(error, "depth of types is 129, more than the limit of 128");
}

#[test]
fn names_of_numbers_are_needed() {
    refused(
        &column(2, "Enum8('a' = 1)", &[1, 2]),
        "column `c`: an enumeration, at byte 21 of the block: expected a number with a name, found 2 in row 1",
    );
}

#[test]
fn text_is_utf8() {
    let error = decode(&column(1, "String", &[2, 0xFF, 0xFE]))
        .expect_err("no text")
        .to_string();
    assert!(
        error.starts_with(
            "column `c`: strings, at byte 14 of the block: expected UTF-8; with the option `binary_strings=true`"
        ),
        "{error}"
    );
}

#[test]
fn states_of_unknown_length_are_refused() {
    refused(
        &column(1, "AggregateFunction(stochasticLinearRegression, UInt64)", &[0; 8]),
        "a state of stochasticLinearRegression, UInt64, whose length only ClickHouse knows, cannot be exchanged: select finalizeAggregation() of it, or its hex() as text",
    );
}

#[test]
fn what_does_not_fit_its_type_is_not_written() {
    let decimal = |number| {
        Arc::new(
            Decimal256Array::from(vec![number])
                .with_precision_and_scale(39, 0)
                .expect("digits"),
        )
    };
    let dictionary: DictionaryArray<UInt8Type> = vec![Some("a"), None].into_iter().collect();
    let cases: Vec<(&str, ArrayRef, &str)> = vec![
        (
            "UInt8",
            Arc::new(UInt8Array::from(vec![Some(1), None])),
            "no NULL in a column of UInt8, found NULL",
        ),
        (
            "UInt8",
            Arc::new(Int32Array::from(vec![1])),
            "expected UInt8, found Int32",
        ),
        (
            "String",
            Arc::new(StringArray::from(vec![None, Some("a")])),
            "no NULL in a column of String, found NULL",
        ),
        (
            "String",
            Arc::new(Int32Array::from(vec![1])),
            "expected a string type, found Int32",
        ),
        (
            "LowCardinality(String)",
            Arc::new(dictionary),
            "no NULL in a column of LowCardinality(String), found NULL",
        ),
        (
            "Date",
            Arc::new(Date32Array::from(vec![0, 65536])),
            "row 1: a date, at byte 9 of the block: expected 1970-01-01 to 2149-06-06, which Date holds",
        ),
        (
            "DateTime",
            Arc::new(TimestampSecondArray::from(vec![-1])),
            "found 1969-12-31T23:59:59Z",
        ),
        (
            "DateTime64(4)",
            Arc::new(TimestampMicrosecondArray::from(vec![100, 101])),
            "found 1970-01-01T00:00:00.000101Z",
        ),
        (
            "DateTime64(3)",
            Arc::new(TimestampMicrosecondArray::from(vec![1])),
            "found Timestamp(µs)",
        ),
        (
            "Int128",
            decimal(i256::MAX),
            "expected Int128, found 578960446186580977117854925043439539266",
        ),
        ("UInt128", decimal(i256::MINUS_ONE), "expected UInt128, found -1"),
        (
            "Enum8('a' = 1)",
            Arc::new(StringArray::from(vec!["b"])),
            "expected one of its names, found \"b\"",
        ),
        (
            "Array(UInt8)",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])])),
            "expected UInt8, found Int32",
        ),
        (
            "Array(Int32)",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([None])])),
            "no NULL in a column of Int32",
        ),
        (
            "Tuple(a UInt8)",
            Arc::new(StructArray::new_empty_fields(1, None)),
            "expected Struct of 1 fields, found Struct()",
        ),
        (
            "Decimal(9, 2)",
            Arc::new(Int64Array::from(vec![1])),
            "expected Decimal32(9, 2), found Int64",
        ),
        (
            "Variant(String, UInt8)",
            Arc::new(Int64Array::from(vec![1])),
            "expected Union, found Int64",
        ),
        (
            "FixedString(2)",
            Arc::new(StringArray::from(vec!["a"])),
            "expected FixedSizeBinary(2), found Utf8",
        ),
    ];
    for (data_type, array, message) in cases {
        let batch = RecordBatch::try_from_iter_with_nullable([("c", array, true)]).expect("a batch");
        let types = [data_type.parse().expect("a type")];
        let error = BlockEncoder::default().encode_batch(&batch, &types, Revision::FILE, &mut Vec::new());
        let error = error.expect_err(data_type).to_string();
        assert!(
            error.starts_with("column `c`") && error.contains(message),
            "{data_type}: {error}"
        );
    }
    let batch = RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
    let error = BlockEncoder::default().encode_batch(&batch, &[DataType::Int8], Revision::FILE, &mut Vec::new());
    assert_eq!(
        error.expect_err("a type too many").to_string(),
        "option `types`: expected 0 types, one for each column, found 1"
    );
}

#[test]
fn information_about_a_block() {
    let decode = |bytes: &[u8]| BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::NEWEST);
    let bytes = [1, 1, 2, 5, 0, 0, 0, 3, 2, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0];
    let block = decode(&bytes).expect("a block");
    assert!(block.info.is_overflows);
    assert_eq!(
        (block.info.bucket_number, &block.info.out_of_order_buckets[..]),
        (5, &[7, 8][..])
    );
    let mut again = Vec::new();
    BlockEncoder::default()
        .encode(&block, Revision::NEWEST, &mut again)
        .expect("a block");
    assert_eq!(again, bytes);
    for (bytes, message) in [
        (
            &[4][..],
            "information about a block, at byte 1 of the block: expected field 1, 2 or 3, or the end, found 4",
        ),
        (
            &[1, 0].repeat(16)[..],
            "information about a block, at byte 32 of the block: expected its end, found more fields",
        ),
        (&[1], "the data end in information about a block, after 1 bytes"),
    ] {
        assert_eq!(decode(bytes).expect_err("no information").to_string(), message);
    }
}
