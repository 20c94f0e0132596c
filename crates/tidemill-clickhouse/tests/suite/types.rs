//! The pages `docs/formats/clickhouse-types.md` and `clickhouse-native.md` and the code say the same.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_cast::{cast, display::array_value_to_string};
use arrow_schema::{DataType as ArrowType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use tidemill_clickhouse::{
    Block, DataType, Error, NativeReader, NativeWriter,
    arrow_type::{self, EXTENSION_NAME, StringType},
};

fn field(text: &str) -> Field {
    let data_type: DataType = text.parse().unwrap_or_else(|error| panic!("{error}"));
    arrow_type::field("c", &data_type, StringType::Utf8)
}

#[test]
fn the_page_says_what_types_become() {
    let page = include_str!("../../../../docs/formats/clickhouse-types.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 50, "{} rows", rows.len());
    for row in rows {
        let [clickhouse, arrow, extension, _] = row[..] else {
            panic!("four columns: {row:?}")
        };
        let field = field(clickhouse.trim_matches('`'));
        // Words instead of a type where it would be long, or differs between blocks.
        if arrow.starts_with('`') && arrow.matches('`').count() == 2 && !arrow.contains("` of") {
            assert_eq!(field.data_type().to_string(), arrow.trim_matches('`'), "{clickhouse}");
        }
        let found = match field.extension_type_name() {
            None => "",
            Some(EXTENSION_NAME) => "ext",
            Some(name) => name,
        };
        assert_eq!(found, extension.trim_matches('`'), "{clickhouse}");
        assert_eq!(
            arrow_type::data_type(&field).expect("a type").to_string(),
            clickhouse.trim_matches('`')
        );
    }
}

#[test]
fn the_example_is_what_the_page_says_it_is() {
    let page = include_str!("../../../../docs/formats/clickhouse-native.md");
    let dump = page
        .split_once("```hexdump\n")
        .expect("a hexdump")
        .1
        .split("```")
        .next()
        .unwrap_or_default();
    let digits = dump.lines().flat_map(|line| line[10..57].split_whitespace());
    let bytes: Vec<u8> = digits
        .map(|digits| u8::from_str_radix(digits, 16).expect("a byte"))
        .collect();
    let mut blocks = NativeReader::new(bytes.as_slice());
    let block = blocks.next().expect("a block").expect("no error");
    assert!(blocks.next().is_none());
    let types: Vec<String> = block.types.iter().map(DataType::to_string).collect();
    assert_eq!(types, ["UInt16", "Nullable(String)", "Array(LowCardinality(String))"]);
    let rows = (0..3).map(|row| {
        let shown = |column| array_value_to_string(block.batch.column(column), row).expect("a value");
        [shown(0), shown(1), shown(2)].join("|")
    });
    assert_eq!(rows.collect::<Vec<_>>(), ["1|ebb|[a, b]", "2||[]", "3|flow|[a]"]);

    let mut again = NativeWriter::new(Vec::new());
    again.write(&block).expect("a block");
    assert_eq!(again.into_inner(), bytes);
}

#[test]
fn every_type_of_clickhouse_has_a_row() {
    let page = include_str!("../../../../docs/formats/clickhouse-types.md");
    for name in [
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "Int128",
        "Int256",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "UInt128",
        "UInt256",
        "Float32",
        "Float64",
        "BFloat16",
        "Bool",
        "String",
        "FixedString",
        "Date",
        "Date32",
        "DateTime",
        "DateTime64",
        "Time",
        "Time64",
        "IntervalNanosecond",
        "UUID",
        "IPv4",
        "IPv6",
        "Enum8",
        "Enum16",
        "Decimal",
        "Array",
        "Nullable",
        "Tuple",
        "Nested",
        "Map",
        "LowCardinality",
        "Nothing",
        "Point",
        "Ring",
        "LineString",
        "MultiLineString",
        "Polygon",
        "MultiPolygon",
        "Geometry",
        "Variant",
        "Dynamic",
        "JSON",
        "QBit",
        "SimpleAggregateFunction",
        "AggregateFunction",
    ] {
        assert!(
            page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}(")),
            "{name}"
        );
    }
}

#[test]
fn arrow_types_without_an_extension_have_a_type_of_clickhouse() {
    for (arrow, nullable, expected) in [
        (ArrowType::LargeUtf8, true, "Nullable(String)"),
        (ArrowType::BinaryView, false, "String"),
        (
            ArrowType::Timestamp(TimeUnit::Microsecond, None),
            true,
            "Nullable(DateTime64(6))",
        ),
        (
            ArrowType::Timestamp(TimeUnit::Second, Some("UTC".into())),
            false,
            "DateTime64(0, 'UTC')",
        ),
        (
            ArrowType::new_list(ArrowType::Int32, true),
            true,
            "Array(Nullable(Int32))",
        ),
        (
            ArrowType::new_fixed_size_list(ArrowType::Float32, 3, false),
            false,
            "Array(Float32)",
        ),
        (
            ArrowType::Dictionary(Box::new(ArrowType::UInt8), Box::new(ArrowType::Utf8)),
            true,
            "LowCardinality(Nullable(String))",
        ),
        (
            ArrowType::Struct(vec![Field::new("a", ArrowType::Null, true)].into()),
            false,
            "Tuple(a Nullable(Nothing))",
        ),
        (ArrowType::Duration(TimeUnit::Millisecond), false, "IntervalMillisecond"),
        (ArrowType::Decimal128(9, 2), false, "Decimal(9, 2)"),
    ] {
        let found = arrow_type::data_type(&Field::new("c", arrow, nullable)).expect("a type");
        assert_eq!(found.to_string(), expected);
    }
}

#[test]
fn arrow_types_that_clickhouse_lacks_are_named() {
    for arrow in [
        ArrowType::Float16,
        ArrowType::Time64(TimeUnit::Nanosecond),
        ArrowType::Decimal128(9, -2),
        ArrowType::FixedSizeBinary(0),
        ArrowType::Date64,
    ] {
        let error = arrow_type::data_type(&Field::new("c", arrow.clone(), false)).expect_err("no such type");
        assert!(matches!(error, Error::Unsupported { .. }));
        let expected = format!(
            "column `c` of Arrow type {arrow} cannot be exchanged: ClickHouse has no such type; cast the column"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn strings_can_be_bytes() {
    let data_type: DataType = "Array(LowCardinality(Nullable(String)))".parse().expect("a type");
    let field = arrow_type::field("c", &data_type, StringType::Binary);
    assert_eq!(field.data_type().to_string(), "List(Dictionary(Int32, Binary))");
    assert_eq!(arrow_type::data_type(&field).expect("a type"), data_type);
}

/// Texts of types, a few levels deep.
fn any_type() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "Int8",
        "UInt64",
        "Int128",
        "Int256",
        "Float32",
        "BFloat16",
        "Bool",
        "String",
        "FixedString(3)",
        "Date",
        "Date32",
        "DateTime",
        "DateTime('UTC')",
        "DateTime64(3)",
        "DateTime64(4, 'UTC')",
        "DateTime64(9, 'Fixed/UTC+01:00:00')",
        "Time",
        "Time64(2)",
        "IntervalDay",
        "IntervalSecond",
        "UUID",
        "IPv4",
        "IPv6",
        "Enum8('a' = 1)",
        "Decimal(7, 3)",
        "Decimal(40, 0)",
        "LowCardinality(String)",
        "LowCardinality(Nullable(UUID))",
        "Nullable(UUID)",
        "Nullable(Date)",
        "Nullable(Nothing)",
        "Nothing",
        "Point",
        "MultiPolygon",
        "Geometry",
        "Dynamic",
        "Dynamic(max_types=0)",
        "JSON",
        "JSON(a UInt8)",
        "QBit(BFloat16, 8)",
        "AggregateFunction(sum, UInt8)",
        "SimpleAggregateFunction(max, Nullable(Date))",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|item| format!("Array({item})")),
            inner.clone().prop_map(|item| format!("Tuple(`1` {item})")),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("Tuple({})", items.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("Nested(a {a}, `b.c` {b})")),
            (inner.clone(), inner).prop_map(|(key, value)| format!("Map({key}, {value})")),
        ]
    })
}

proptest! {
    #[test]
    fn a_field_leads_back_to_its_type(text in any_type()) {
        let data_type: DataType = text.parse().expect("a type");
        for strings in [StringType::Utf8, StringType::Binary] {
            let field = arrow_type::field("c", &data_type, strings);
            prop_assert_eq!(arrow_type::data_type(&field).expect("a type"), data_type.clone());
        }
    }
}

/// Columns whose metadata names a type are written as that type, in whichever Arrow type they come back from a file.
#[test]
fn metadata_names_the_type_whatever_became_of_the_column() {
    let ints: ArrayRef = Arc::new(Int64Array::from(vec![Some(86_399), None, Some(0)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]));
    let bytes = |width: usize| -> ArrayRef {
        let values = [Some(vec![7; width]), None, Some(vec![255; width])];
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), width.try_into().unwrap())
                .unwrap(),
        )
    };
    for (text, array, others) in [
        (
            "Nullable(Time)",
            &ints,
            vec![ArrowType::Int64, ArrowType::Duration(TimeUnit::Millisecond)],
        ),
        (
            "Nullable(Time64(6))",
            &ints,
            vec![ArrowType::Duration(TimeUnit::Nanosecond)],
        ),
        (
            "Nullable(DateTime('UTC'))",
            &ints,
            vec![ArrowType::Timestamp(TimeUnit::Nanosecond, None)],
        ),
        (
            "Nullable(DateTime64(2, 'UTC'))",
            &ints,
            vec![ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))],
        ),
        ("Nullable(IPv4)", &ints, vec![ArrowType::UInt32, ArrowType::Int64]),
        (
            "Nullable(Int128)",
            &ints,
            vec![ArrowType::Decimal256(76, 0), ArrowType::Decimal128(38, 0)],
        ),
        ("Nullable(IntervalMonth)", &ints, vec![ArrowType::Int32]),
        (
            "Nullable(Decimal(9, 2))",
            &ints,
            vec![ArrowType::Decimal128(9, 2), ArrowType::Decimal256(9, 2)],
        ),
        ("Nullable(UUID)", &bytes(16), vec![ArrowType::FixedSizeBinary(16)]),
        (
            "Nullable(IPv6)",
            &bytes(16),
            vec![ArrowType::Binary, ArrowType::BinaryView],
        ),
        (
            "Nullable(Int256)",
            &bytes(32),
            vec![ArrowType::Binary, ArrowType::BinaryView],
        ),
        ("Nullable(UInt256)", &bytes(32), vec![ArrowType::FixedSizeBinary(32)]),
        (
            "Nullable(FixedString(4))",
            &bytes(4),
            vec![ArrowType::FixedSizeBinary(4)],
        ),
        (
            "Nullable(Enum8('a' = 1, 'b' = -2))",
            &texts,
            vec![ArrowType::Utf8View, ArrowType::LargeUtf8],
        ),
    ] {
        let own = field(text);
        let there = match cast(array, own.data_type()) {
            Ok(array) => array,
            // Units of two digits, for which hundredths are the next finer ones.
            Err(error) => panic!("{text}: {error}"),
        };
        let write = |array: ArrayRef, field: Field| {
            let field = field.with_data_type(array.data_type().clone());
            let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap();
            let mut writer = NativeWriter::new(Vec::new());
            writer.write(&Block::new(batch)?)?;
            Ok::<_, Error>(writer.into_inner())
        };
        let ticks = match text.contains("64(2") {
            true => cast(
                &cast(&there, &ArrowType::Timestamp(TimeUnit::Second, None)).unwrap(),
                own.data_type(),
            )
            .unwrap(),
            false => there,
        };
        let expected = write(ticks.clone(), own.clone()).unwrap_or_else(|error| panic!("{text}: {error}"));
        for other in others {
            let array = cast(&ticks, &other).unwrap_or_else(|error| panic!("{text}: {error}"));
            let written = write(array, own.clone()).unwrap_or_else(|error| panic!("{text} from {other}: {error}"));
            assert_eq!(written, expected, "{text} from {other}");
        }
    }
    // What would lose something is refused: a fraction, a number out of range, digits.
    for (text, array) in [
        (
            "DateTime('UTC')",
            Arc::new(TimestampMillisecondArray::from(vec![1500])) as ArrayRef,
        ),
        ("IPv4", Arc::new(Int64Array::from(vec![1_i64 << 32]))),
        ("IPv4", Arc::new(StringArray::from(vec!["1.2.3.4"]))),
        ("Time", Arc::new(Float64Array::from(vec![1.5]))),
        ("DateTime('UTC')", Arc::new(Int64Array::from(vec![1]))),
        ("String", Arc::new(Int64Array::from(vec![1]))),
        ("FixedString(4)", Arc::new(BinaryArray::from(vec![&b"five5"[..]]))),
    ] {
        let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
        let mut writer = NativeWriter::new(Vec::new());
        let error = writer.write_batch(&batch, &[text.parse().unwrap()]).expect_err(text);
        assert!(matches!(error, Error::Block(_)), "{text}: {error:?}");
        assert!(writer.into_inner().is_empty());
    }
}
