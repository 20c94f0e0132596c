//! Text of typed rows beside the text that ClickHouse of today makes of the same values, both ways.

use std::fs;

use serde::Serialize;
use serde_json::{Value, json};
use tidemill_clickhouse::{
    BlockDecoder, BlockEncoder, Result, Revision,
    rows::{BlockRows, RowsBuilder},
    source::SliceSource,
};
use tidemill_testkit::Chdb;

const SETTINGS: &str = "allow_experimental_variant_type=1, allow_experimental_dynamic_type=1, allow_experimental_json_type=1, \
                        allow_experimental_qbit_type=1, enable_time_time64_type=1, allow_suspicious_variant_types=1, \
                        allow_suspicious_low_cardinality_types=1";

/// The rows of a query's answer.
fn rows(chdb: &mut Chdb, query: &str) -> Vec<Vec<Value>> {
    let answer = chdb.query(&format!("{query} SETTINGS {SETTINGS}"), "Native");
    let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
    let block = BlockDecoder::default()
        .decode_blocking(&mut SliceSource::new(&answer), Revision::FILE)
        .expect("a block");
    let rows = BlockRows::new(&block).expect("columns");
    rows.iter()
        .collect::<Result<_>>()
        .unwrap_or_else(|error| panic!("{query}: {error}"))
}

#[test]
fn text_of_values_is_that_of_clickhouse() {
    let Some(mut chdb) = Chdb::need() else { return };
    let values = [
        "reinterpretAsInt256(SHA256(toString(number)))",
        "reinterpretAsUInt256(SHA256(toString(number)))",
        "toDecimal256(number * -12345.678, 40)",
        "toDecimal32(number - 3, 3)",
        "toDecimal128(number / 7, 11)",
        "toDate(number * 3000)",
        "toDate32(number * 6000 - 25567)",
        "reinterpretAsUUID(MD5(toString(number)))",
        "toIPv4(toUInt32(sipHash64(number)))",
        "toIPv4(number)",
        "CAST(if(number % 2 = 0, 'a', 'b c'), 'Enum16(\\'a\\' = -1000, \\'b c\\' = 1000)')",
        "toTime((toInt64(number) - 3) * 123456)",
        "toTime64((toInt64(number) - 3) * 123456.789, 5)",
        "toLowCardinality(toString(number))",
    ];
    for value in values {
        let query = format!("SELECT {value} AS x, toString(x) FROM numbers(20) WHERE x = x");
        let found = rows(&mut chdb, &query);
        assert_eq!(found.len(), 20, "{value}");
        for row in found {
            // ClickHouse leaves out the zeros at the end of a decimal's fraction.
            let text = row[0].as_str().unwrap_or_default();
            let text = match row[1].as_str() {
                Some(other) if value.contains("Decimal") && text.contains('.') && text != other => {
                    text.trim_end_matches('0').trim_end_matches('.')
                }
                _ => text,
            };
            assert_eq!(text, row[1], "{value}");
        }
    }
    for precision in 0..=9 {
        let value = format!("toDateTime64((toInt64(number) - 3) * 123456789.123456789, {precision}, 'UTC')");
        let query = format!("SELECT {value} AS x, replace(toString(x), ' ', 'T') || 'Z' FROM numbers(20)");
        for row in rows(&mut chdb, &query) {
            assert_eq!(row[0], row[1], "{value}");
        }
    }
}

#[test]
fn values_that_clickhouse_made_have_their_shapes() {
    let Some(mut chdb) = Chdb::need() else { return };
    for (sql, expected) in [
        (
            "'{\"a\": {\"b\": 1}, \"c\": [1, 2]}'::JSON",
            json!({"a.b": 1, "c": [1, 2]}),
        ),
        ("'{\"a\": 5}'::JSON(a UInt8, b String)", json!({"a": 5, "b": ""})),
        ("map('a', 1::Variant(String, UInt8))", json!({"a": 1})),
        (
            "[CAST(materialize(1), 'Dynamic'), CAST('x', 'Dynamic'), CAST(NULL, 'Dynamic')]",
            json!([1, "x", null]),
        ),
        (
            "tuple(1 AS a, NULL AS b)::Tuple(a UInt8, b Nullable(String))",
            json!({"a": 1, "b": null}),
        ),
        ("(1, 2)::Point", json!([1.0, 2.0])),
        ("[[(1, 2)]]::Polygon", json!([[[1.0, 2.0]]])),
        ("[1, 2]::QBit(Float32, 2)", json!([1.0, 2.0])),
        ("toInt128(-5)", json!(-5)),
        ("[]", json!([])),
        ("INTERVAL 3 DAY", json!(3)),
        ("1.5::BFloat16", json!(1.5)),
    ] {
        assert_eq!(
            rows(&mut chdb, &format!("SELECT {sql}, 0")),
            [[expected, json!(0)]],
            "{sql}"
        );
    }
}

#[test]
fn rows_that_were_written_are_read_by_clickhouse() {
    let Some(mut chdb) = Chdb::need() else { return };
    for (data_type, value, expected) in [
        (
            "Int256",
            json!("-57896044618658097711785492504343953926634992332820282019728792003956564819968"),
            None,
        ),
        ("UInt128", json!(u64::MAX), None),
        ("Decimal(76, 3)", json!("-1.234"), None),
        ("Date32", json!("2299-12-31"), None),
        (
            "DateTime64(4, 'UTC')",
            json!("2024-02-29T23:59:59.1234Z"),
            Some("2024-02-29 23:59:59.1234"),
        ),
        (
            "DateTime",
            json!("2000-01-01T09:00:00+09:00"),
            Some("2000-01-01 00:00:00"),
        ),
        ("Time", json!("-123:45:06"), None),
        ("Time64(3)", json!("00:00:00.125"), None),
        ("UUID", json!("61f0c404-5cb3-11e7-907b-a6006ad3dba0"), None),
        ("IPv4", json!("192.168.0.1"), None),
        ("IPv6", json!("2001:db8::1"), None),
        ("Enum8('a' = 1, 'b' = 2)", json!("b"), None),
        ("LowCardinality(Nullable(String))", json!("x"), None),
        (
            "Array(LowCardinality(String))",
            json!(["x", "y", "x"]),
            Some("['x','y','x']"),
        ),
        ("Map(String, Array(UInt8))", json!({"k": [1, 2]}), Some("{'k':[1,2]}")),
        (
            "Tuple(a UInt8, b Nullable(String))",
            json!({"b": null, "a": 3}),
            Some("(3,NULL)"),
        ),
        ("Nested(a UInt8, b String)", json!([[1, "x"]]), Some("[(1,'x')]")),
        ("Variant(Array(UInt8), String)", json!([1, 2]), Some("[1,2]")),
        ("Dynamic", json!(7), None),
        ("JSON", json!("{\"a\":1}"), None),
        (
            "JSON(a UInt8)",
            json!({"a": 7, "b": {"c": [1, "x"], "d": "\u{e9}\n"}, "e": null}),
            Some("{\"a\":7,\"b\":{\"c\":[1,\"x\"],\"d\":\"\u{e9}\\n\"}}"),
        ),
        ("Array(JSON)", json!([{"a": 1}, {}]), Some("['{\"a\":1}','{}']")),
        ("Variant(JSON, UInt8)", json!({"a": 1}), None),
        ("Variant(LowCardinality(String), UInt8)", json!("x"), None),
        (
            "Variant(Array(LowCardinality(Nullable(String))), UInt8)",
            json!(["x", null, "x"]),
            Some("['x',NULL,'x']"),
        ),
        ("Point", json!([1, 2]), Some("(1,2)")),
        ("Polygon", json!([[[1, 2], [3, 4]]]), Some("[[(1,2),(3,4)]]")),
        ("QBit(Float32, 2)", json!([1, 2]), Some("[1,2]")),
        ("IntervalMonth", json!(5), None),
        ("SimpleAggregateFunction(sum, UInt64)", json!(9), None),
    ] {
        let plain = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let columns = [("c".to_owned(), data_type.parse().expect("a type"))];
        let mut rows = RowsBuilder::new(columns).expect("columns");
        rows.push(&Row { c: &value })
            .unwrap_or_else(|error| panic!("{data_type}: {error}"));
        let mut bytes = Vec::new();
        let block = rows.finish().expect("a block");
        BlockEncoder::default()
            .encode(&block, Revision::FILE, &mut bytes)
            .expect("encoded");
        let path = chdb.folder().join("rows.native");
        fs::write(&path, bytes).expect("a file");
        let query = format!(
            "SELECT c, toTypeName(c) FROM file('{}', Native) SETTINGS {SETTINGS}",
            path.display()
        );
        let read = chdb
            .query(&query, "TSVRaw")
            .unwrap_or_else(|error| panic!("{data_type}: {error}"));
        let expected = format!("{}\t{data_type}\n", expected.unwrap_or(&plain));
        // Types of several elements are written in lines.
        let read = String::from_utf8_lossy(&read).replace("\n    ", " ").replace("( ", "(");
        assert_eq!(read, expected, "{data_type}");
    }
}

#[derive(Serialize)]
struct Row<'a> {
    c: &'a Value,
}
