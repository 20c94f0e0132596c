//! The page `docs/formats/clickhouse-types.md` and the code say the same.

use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use proptest::prelude::*;
use tidemill_clickhouse::{
    DataType, Error,
    arrow_type::{self, EXTENSION_NAME, StringType},
};

fn field(text: &str) -> Field {
    let data_type: DataType = text.parse().unwrap_or_else(|error| panic!("{error}"));
    arrow_type::field("c", &data_type, StringType::Utf8)
}

#[test]
fn the_page_says_what_types_become() {
    let page = include_str!("../../../docs/formats/clickhouse-types.md");
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
fn every_type_of_clickhouse_has_a_row() {
    let page = include_str!("../../../docs/formats/clickhouse-types.md");
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
