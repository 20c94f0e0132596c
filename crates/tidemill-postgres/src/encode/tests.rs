#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;

use super::*;
use crate::arrow_type;
use crate::decode::Decoder;
use crate::options::Unrepresentable;

/// What a column of a type has of an array, or why it has not.
fn written(array: ArrayRef, typ: &str) -> Result<ArrayRef, String> {
    let typ = Type::named(typ).unwrap();
    let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
    let target = Target {
        name: "c".to_owned(),
        typ: typ.clone(),
        is_nullable: true,
        limit: None,
    };
    let mut bytes = HEADER.to_vec();
    encode(&batch, &[target], "t", 0, &mut bytes).map_err(|error| error.to_string())?;
    bytes.extend(TRAILER);
    let schema = Arc::new(Schema::new(vec![arrow_type::field("c", &typ, true)]));
    let mut decoder = Decoder::new(schema, &[typ], "t".to_owned(), Unrepresentable::Error).unwrap();
    decoder.feed(&bytes).unwrap();
    decoder.finish().unwrap();
    Ok(Arc::clone(decoder.batch().unwrap().column(0)))
}

fn check(array: ArrayRef, typ: &str, expected: &str) {
    let found = written(Arc::clone(&array), typ);
    let text = |array: &ArrayRef, row| match array.is_null(row) {
        true => "NULL".to_owned(),
        false => arrow_cast::display::array_value_to_string(array, row).unwrap(),
    };
    let found = found.map(|found| {
        (0..found.len())
            .map(|row| text(&found, row))
            .collect::<Vec<_>>()
            .join(" ")
    });
    match (found, expected.strip_prefix('!')) {
        (Ok(found), None) => assert_eq!(found, expected, "{:?} to {typ}", array.data_type()),
        (Err(error), Some(named)) => assert!(error.contains(named) && error.contains("column c"), "{typ}: {error}"),
        (found, _) => panic!("{:?} to {typ}: {found:?}, expected {expected}", array.data_type()),
    }
}

fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

#[test]
fn numbers_are_written_exactly_or_not_at_all() {
    let wide = || Arc::new(Int64Array::from(vec![Some(1), None, Some(40_000)])) as ArrayRef;
    check(wide(), "bigint", "1 NULL 40000");
    check(wide(), "integer", "1 NULL 40000");
    check(wide(), "smallint", "!row 3");
    check(wide(), "numeric(5,0)", "1 NULL 40000");
    check(wide(), "numeric(5,1)", "!40000");
    check(wide(), "double precision", "1.0 NULL 40000.0");
    check(wide(), "text", "1 NULL 40000");
    check(
        Arc::new(UInt64Array::from(vec![u64::MAX])),
        "bigint",
        "!18446744073709551615",
    );
    check(
        Arc::new(UInt64Array::from(vec![u64::MAX])),
        "numeric",
        "18446744073709551615",
    );
    check(
        Arc::new(Int64Array::from(vec![(1 << 53) + 1])),
        "double precision",
        "!9007199254740993",
    );
    check(Arc::new(Float64Array::from(vec![2.0, -0.0])), "integer", "2 0");
    check(Arc::new(Float64Array::from(vec![2.5])), "integer", "!2.5");
    check(Arc::new(Float64Array::from(vec![1e300])), "bigint", "!whole number");
    check(Arc::new(Float64Array::from(vec![f64::NAN])), "bigint", "!NaN");
    check(Arc::new(Float64Array::from(vec![0.1])), "real", "!0.1");
    check(
        Arc::new(Float64Array::from(vec![0.5, f64::INFINITY])),
        "real",
        "0.5 inf",
    );
    check(Arc::new(Float64Array::from(vec![0.1])), "numeric(3,1)", "0.1");
    check(
        Arc::new(Float64Array::from(vec![1e21, f64::NAN])),
        "numeric",
        "1000000000000000000000 NaN",
    );
    check(
        Arc::new(Float64Array::from(vec![f64::INFINITY])),
        "numeric(3,1)",
        "!inf",
    );
    let decimal = |precision, scale, values: Vec<i128>| {
        let array = Decimal128Array::from(values).with_precision_and_scale(precision, scale);
        Arc::new(array.unwrap()) as ArrayRef
    };
    check(decimal(10, 2, vec![-1250, 5]), "numeric(10,2)", "-12.50 0.05");
    check(decimal(10, 2, vec![-1250]), "numeric(10,1)", "-12.5");
    check(decimal(10, 2, vec![-1255]), "numeric(10,1)", "!-1255e-2");
    check(decimal(10, 2, vec![1200]), "integer", "12");
    check(decimal(10, 2, vec![1250]), "integer", "!1250e-2");
    check(decimal(10, 2, vec![125]), "real", "1.25");
    check(decimal(10, -2, vec![125]), "numeric(5,0)", "12500");
    check(texts(&["12", " -7 "]), "integer", "12 -7");
    check(texts(&["12.0"]), "integer", "!\"12.0\"");
    check(texts(&["1.50", "-2e2", "NaN"]), "numeric", "1.50 -200 NaN");
    check(texts(&["1.555"]), "numeric(4,2)", "!1.555");
    check(texts(&["1e1000000000"]), "numeric", "!1e1000000000");
    check(texts(&["1e400"]), "double precision", "!1e400");
    check(texts(&["1e400000"]), "numeric", "!1e400000");
    check(texts(&["", "x"]), "numeric", "!\"\"");
}

#[test]
fn texts_and_bytes() {
    check(texts(&["é", ""]), "varchar(9)", "é ");
    check(texts(&["a\0b"]), "text", "!byte 1");
    check(
        Arc::new(StringViewArray::from(vec!["long enough not to be inlined"])),
        "text",
        "long enough not to be inlined",
    );
    check(Arc::new(LargeStringArray::from(vec!["{}"])), "jsonb", "{}");
    let dictionary: DictionaryArray<Int8Type> = vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect();
    check(Arc::new(dictionary), "text", "a NULL b a");
    let empty: DictionaryArray<Int8Type> = vec![None::<&str>].into_iter().collect();
    check(Arc::new(empty), "text", "NULL");
    let runs: RunArray<Int32Type> = vec![Some("a"), Some("a"), None, Some("b")].into_iter().collect();
    check(Arc::new(runs), "text", "a a NULL b");
    check(Arc::new(NullArray::new(2)), "integer", "NULL NULL");
    check(Arc::new(BooleanArray::from(vec![true, false])), "boolean", "true false");
    check(texts(&["T", "no"]), "boolean", "true false");
    check(texts(&["perhaps"]), "boolean", "!perhaps");
    check(Arc::new(BinaryArray::from(vec![b"\0\xff".as_slice()])), "bytea", "00ff");
    check(Arc::new(BinaryArray::from(vec![b"a".as_slice()])), "text", "!Binary");
    check(texts(&["a", "\\x00FF", "\\x"]), "bytea", "61 00ff ");
    check(texts(&["\\x0"]), "bytea", "!\\\\x0");
    check(Arc::new(Int32Array::from(vec![1])), "bytea", "!Int32");
    check(
        texts(&["67e55044-10b1-426f-9247-bb680e5fe0c8"]),
        "uuid",
        "67e5504410b1426f9247bb680e5fe0c8",
    );
    check(texts(&["67e55044-10b1-426f-9247-bb680e5fe0c"]), "uuid", "!uuid");
}

#[test]
fn times() {
    check(
        Arc::new(Date32Array::from(vec![0, -719_528])),
        "date",
        "1970-01-01 0000-01-01",
    );
    check(Arc::new(Date32Array::from(vec![i32::MAX])), "date", "!5874897");
    check(Arc::new(Date32Array::from(vec![i32::MIN])), "date", "!4714");
    check(Arc::new(Date64Array::from(vec![-86_400_000])), "date", "1969-12-31");
    check(Arc::new(Date64Array::from(vec![1])), "date", "!1000");
    check(texts(&["2024-02-29"]), "date", "2024-02-29");
    check(texts(&["2023-02-29"]), "date", "!2023-02-29");
    check(Arc::new(Time32SecondArray::from(vec![86_399])), "time", "23:59:59");
    check(Arc::new(Time64NanosecondArray::from(vec![1])), "time", "!microseconds");
    check(texts(&["01:02:03.5"]), "time", "01:02:03.500");
    check(
        Arc::new(TimestampMillisecondArray::from(vec![-1])),
        "timestamp",
        "1969-12-31T23:59:59.999",
    );
    check(
        Arc::new(TimestampNanosecondArray::from(vec![1])),
        "timestamp",
        "!microseconds",
    );
    check(
        Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
        "timestamp",
        "!64 bits",
    );
    check(
        Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN])),
        "timestamp",
        "!294276",
    );
    let zoned = |zone: &str| Arc::new(TimestampSecondArray::from(vec![0]).with_timezone(zone)) as ArrayRef;
    check(zoned("UTC"), "timestamp", "1970-01-01T00:00:00");
    check(zoned("+02:00"), "timestamp", "!Timestamp");
    check(zoned("+02:00"), "timestamp with time zone", "1970-01-01T00:00:00Z");
    check(
        texts(&["2024-07-01T12:00:00+02:00"]),
        "timestamp with time zone",
        "2024-07-01T10:00:00Z",
    );
    check(
        texts(&["2024-07-01T12:00:00+02:00"]),
        "timestamp",
        "!without a time zone",
    );
    check(Arc::new(Date32Array::from(vec![1])), "timestamp", "1970-01-02T00:00:00");
    check(
        Arc::new(DurationSecondArray::from(vec![61])),
        "interval",
        "1 mins 1.000000000 secs",
    );
    check(Arc::new(IntervalYearMonthArray::from(vec![13])), "interval", "13 mons");
}

#[test]
fn lists() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    check(Arc::new(list.clone()), "integer[]", "[1, ] NULL []");
    check(Arc::new(list.slice(2, 1)), "numeric(3,1)[]", "[]");
    check(Arc::new(list.slice(0, 1)), "text[]", "[1, ]");
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        vec![Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])],
        2,
    );
    check(Arc::new(fixed.slice(1, 1)), "bigint[]", "[3, 4]");
    check(Arc::new(list), "text", "!List");
}

#[test]
fn a_column_without_null_refuses_it() {
    let batch =
        RecordBatch::try_from_iter([("c", Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef)]).unwrap();
    let target = Target {
        name: "c".to_owned(),
        typ: Type::Int4,
        is_nullable: false,
        limit: None,
    };
    let error = encode(&batch, &[target], "t", 10, &mut Vec::new())
        .unwrap_err()
        .to_string();
    assert!(error.contains("row 12") && error.contains("NULL"), "{error}");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        numbers in proptest::collection::vec(any::<Option<i64>>(), 1..20),
        words in proptest::collection::vec(proptest::option::of("[^\0]*"), 1..20),
        decimals in proptest::collection::vec(proptest::option::of(-99_999_999_999_999_999_i128..=99_999_999_999_999_999), 1..20),
    ) {
        let decimals = Decimal128Array::from(decimals).with_precision_and_scale(17, 5).unwrap();
        let microseconds = TimestampMicrosecondArray::from(
            numbers.iter().map(|number| number.map(|number| number / 50)).collect::<Vec<_>>());
        for (array, typ) in [
            (Arc::new(Int64Array::from(numbers)) as ArrayRef, "bigint"),
            (Arc::new(StringArray::from(words)), "text"),
            (Arc::new(decimals), "numeric(17,5)"),
            (Arc::new(microseconds), "timestamp"),
        ] {
            prop_assert_eq!(&written(Arc::clone(&array), typ).unwrap(), &array);
        }
    }
}

#[test]
fn every_column_type_takes_its_own_arrays() {
    for typ in [
        "boolean",
        "smallint",
        "integer",
        "bigint",
        "oid",
        "real",
        "double precision",
        "numeric(10,2)",
        "numeric(50,2)",
        "numeric",
        "text",
        "varchar(9)",
        "char(3)",
        "json",
        "jsonb",
        "bytea",
        "date",
        "time",
        "timestamp",
        "timestamp with time zone",
        "interval",
        "uuid",
        "text[]",
        "inet",
    ] {
        let typ = Type::named(typ).unwrap();
        let array = new_empty_array(&arrow_type::data_type(&typ));
        assert!(accepts(&array, &typ), "{typ}");
    }
    let field = Field::new("f", DataType::Timestamp(TimeUnit::Second, None), true);
    let nested = StructArray::from(vec![(
        Arc::new(field),
        Arc::new(TimestampSecondArray::from(vec![1])) as ArrayRef,
    )]);
    assert!(!accepts(&nested, &Type::Text));
}
