//! Rows of Rust values for every type: into blocks, through `FORMAT Native`, and out of blocks.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    net::{Ipv4Addr, Ipv6Addr},
};

use proptest::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, DataType, Error, Result, Revision, RowError,
    arrow_type::StringType,
    rows::{BlockRows, RowsBuilder},
    source::SliceSource,
};

fn builder(columns: &[(&str, &str)]) -> RowsBuilder {
    let columns = columns
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.parse().expect("a type")));
    RowsBuilder::new(columns).expect("columns")
}

/// What a server would send back of the block.
fn sent_back(block: &Block) -> Block {
    let mut bytes = Vec::new();
    BlockEncoder::default()
        .encode(block, Revision::FILE, &mut bytes)
        .expect("encoded");
    decode(&bytes)
}

fn decode(bytes: &[u8]) -> Block {
    let decoder = BlockDecoder {
        strings: StringType::Binary,
        ..BlockDecoder::default()
    };
    decoder
        .decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)
        .expect("decoded")
}

/// Writes values to a column of this type, and reads them.
fn there_and_back<T: Serialize, U: DeserializeOwned>(data_type: &str, values: &[T]) -> Result<Vec<U>> {
    let mut rows = builder(&[("c", data_type)]);
    for value in values {
        rows.push(&(value,))?;
    }
    let block = sent_back(&rows.finish()?);
    BlockRows::new(&block)?
        .iter()
        .map(|row| row.map(|(value,)| value))
        .collect()
}

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(data_type: &str, values: &[T]) {
    let found: Vec<T> = there_and_back(data_type, values).unwrap_or_else(|error| panic!("{data_type}: {error}"));
    assert_eq!(found, values, "{data_type}");
}

/// Writes a value, and reads another form of it.
#[track_caller]
fn reads<T: Serialize, U: DeserializeOwned + PartialEq + Debug>(data_type: &str, value: T, expected: U) {
    let found: Vec<U> = there_and_back(data_type, &[value]).unwrap_or_else(|error| panic!("{data_type}: {error}"));
    assert_eq!(found, [expected], "{data_type}");
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn numbers_are_every_type_that_has_them() {
    check("Int8", &[i8::MIN, 0, i8::MAX]);
    check("Int16", &[i16::MIN, i16::MAX]);
    check("Int32", &[i32::MIN, i32::MAX]);
    check("Int64", &[i64::MIN, i64::MAX]);
    check("UInt8", &[0_u64, 255]);
    check("UInt16", &[u16::MAX]);
    check("UInt32", &[u32::MAX]);
    check("UInt64", &[u64::MAX]);
    check("Int128", &[i128::MIN, -1, i128::MAX]);
    check("UInt128", &[0, u128::MAX]);
    check("Int256", &[i128::MIN, i128::MAX]);
    check("UInt256", &[0, u128::MAX]);
    check("Int256", &[format!("-{}", POWER_OF_255), "0".to_owned(), text("-1")]);
    check("UInt256", &[text(MAX_OF_256), text("7")]);
    check("UInt128", &[u128::MAX.to_string()]);
    check("Float32", &[f32::MIN, 0.1]);
    check("Float64", &[f64::MAX, -0.0]);
    check("BFloat16", &[1.5_f32]);
    check("Bool", &[true, false]);
    check("UInt8", &[true, false]);
    check("Bool", &[0_u8, 1]);
    check("IntervalMonth", &[-3_i64]);
    check("IntervalSecond", &[86_400_i64]);
    reads("UInt8", 7_i64, 7.0_f64);
    reads("Int256", -7, -7.0_f64);
    reads("Nothing", (), ());
}

#[test]
fn text_and_bytes_keep_what_they_are() {
    check("String", &[text(""), text("Gezeiten\0ü")]);
    check("String", &[vec![0xFF_u8, 0, 0xC3], vec![]]);
    check("LowCardinality(String)", &[text("a"), text("b"), text("a")]);
    check(
        "LowCardinality(Nullable(String))",
        &[Some(text("a")), None, Some(text(""))],
    );
    check("LowCardinality(UInt16)", &[7_u16, 8, 7]);
    check("FixedString(4)", &[*b"tide", [0xFF, 0, 1, 2]]);
    reads("FixedString(6)", "tide", text("tide\0\0"));
    reads("String", 'ü', 'ü');
    check("JSON", &[text(r#"{"a":1}"#)]);
    let refused = there_and_back::<_, String>("String", &[[0xFF_u8, 0xFE].as_slice()]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "row 0, column `c` of type String, alloc::string::String in Rust: \
         invalid value: bytes that are not UTF-8, expected a string"
    );
}

#[test]
fn times_are_text_and_numbers() {
    check("Date", &[text("1970-01-01"), text("2149-06-06")]);
    check("Date", &[0_u16, 65_535]);
    check("Date32", &[text("1900-01-01"), text("2299-12-31")]);
    reads("Date32", "1969-12-31", -1_i32);
    check(
        "DateTime",
        &[text("1970-01-01T00:00:00Z"), text("2106-02-07T06:28:15Z")],
    );
    check("DateTime('Asia/Tokyo')", &[u32::MAX]);
    reads(
        "DateTime('Asia/Tokyo')",
        "2000-01-01 09:00:00+09:00",
        text("2000-01-01T00:00:00Z"),
    );
    check("DateTime64(3)", &[text("1969-12-31T23:59:59.999Z")]);
    reads("DateTime64(3)", "1969-12-31T23:59:59.999Z", -1_i64);
    check("DateTime64(4, 'UTC')", &[text("2262-04-11T23:47:16.1234Z")]);
    check("DateTime64(9)", &[i64::MAX, i64::MIN]);
    check("Time", &[text("-999:59:59"), text("00:00:01")]);
    reads("Time", -1, text("-00:00:01"));
    check("Time64(5)", &[text("999:59:59.99999"), text("-00:00:00.00001")]);
    reads("Time64(5)", "00:00:00.00002", 2_i64);
}

#[test]
fn decimals_are_text_floats_and_units() {
    check("Decimal(9, 2)", &[text("-9999999.99"), text("0.05")]);
    check("Decimal(18, 0)", &[text("-999999999999999999")]);
    check("Decimal(38, 10)", &[text("0.0000000001")]);
    check(
        "Decimal(76, 76)",
        &[format!("0.{}", "9".repeat(76)), format!("-0.{:0<76}", "1")],
    );
    reads("Decimal(9, 2)", "12.5", 1250_i32);
    reads("Decimal(38, 2)", 1250_i128, text("12.50"));
    check("Decimal(18, 4)", &[0.1_f64, -12.5]);
    reads("Decimal(9, 1)", 1.1_f32, text("1.1"));
    for wrong in ["1.234", "10000000", "", ".", "1e3", "NaN"] {
        let refused = there_and_back::<_, String>("Decimal(9, 2)", &[wrong]);
        assert!(matches!(refused, Err(Error::Row(_))), "{wrong}: {refused:?}");
    }
}

#[test]
fn addresses_identifiers_and_enumerations_are_text_and_numbers() {
    let uuid = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";
    check("UUID", &[text(uuid)]);
    reads(
        "UUID",
        uuid,
        [
            0x61_u8, 0xF0, 0xC4, 0x04, 0x5C, 0xB3, 0x11, 0xE7, 0x90, 0x7B, 0xA6, 0x00, 0x6A, 0xD3, 0xDB, 0xA0,
        ],
    );
    check("UUID", &[[7_u8; 16]]);
    check("IPv4", &[Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST]);
    reads("IPv4", Ipv4Addr::LOCALHOST, 0x7F00_0001_u32);
    reads("IPv4", Ipv4Addr::LOCALHOST, [127_u8, 0, 0, 1]);
    check("IPv6", &[Ipv6Addr::LOCALHOST]);
    reads("IPv6", Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST.to_ipv6_mapped());

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Tide {
        Ebb,
        Flow,
    }
    for data_type in [
        "Enum8('ebb' = -1, 'flow' = 2)",
        "Enum16('ebb' = -1, 'flow' = 2)",
        "String",
    ] {
        check(data_type, &[Tide::Flow, Tide::Ebb]);
    }
    reads("Enum8('ebb' = -1, 'flow' = 2)", Tide::Ebb, -1);
    reads("Enum16('ebb' = -1, 'flow' = 2)", 2, text("flow"));
    check("Nullable(Enum8('ebb' = -1, 'flow' = 2))", &[Some(Tide::Flow), None]);
    assert!(there_and_back::<_, String>("Enum8('ebb' = -1)", &["flow"]).is_err());
}

#[test]
fn lists_tuples_and_maps_nest() {
    check("Array(UInt8)", &[vec![1_u8, 2], vec![], vec![3]]);
    check(
        "Array(Array(Nullable(String)))",
        &[vec![vec![Some(text("a")), None], vec![]], vec![]],
    );
    check("Array(UInt16)", &[[1_u16, 2, 3]]);
    check("Tuple(UInt8, String)", &[(1_u8, text("a"))]);
    check(
        "Map(String, UInt64)",
        &[BTreeMap::from([(text("a"), 1_u64), (text("b"), 2)]), BTreeMap::new()],
    );
    check(
        "Map(UInt8, Array(String))",
        &[vec![(1_u8, vec![text("x")]), (1, vec![])]],
    );
    check("QBit(Float32, 3)", &[[1.0_f32, 2.0, 3.0]]);
    check("Point", &[(1.0_f64, 2.0_f64)]);
    check("Polygon", &[vec![vec![(0.0_f64, 0.0_f64), (1.0, 1.0)]]]);
    check("SimpleAggregateFunction(sum, UInt64)", &[7_u64]);

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Part {
        b: Option<String>,
        a: u8,
    }
    let part = |a| Part { b: Some(text("x")), a };
    check("Tuple(a UInt8, b Nullable(String))", &[part(1), part(2)]);
    check(
        "Nested(a UInt8, b Nullable(String))",
        &[vec![part(1), Part { b: None, a: 3 }], vec![]],
    );
    reads(
        "Tuple(a UInt8, b UInt8)",
        BTreeMap::from([("b", 2), ("a", 1)]),
        (1_u8, 2_u8),
    );
    reads(
        "Tuple(UInt8, UInt8)",
        (1, 2),
        BTreeMap::from([(text("1"), 1), (text("2"), 2)]),
    );
    assert!(there_and_back::<_, (u8,)>("Tuple(UInt8, UInt8)", &[(1, 2)]).is_err());
    assert!(there_and_back::<_, (u8, u8)>("Tuple(UInt8, UInt8)", &[(1, 2, 3)]).is_err());
    assert!(there_and_back::<_, [u8; 2]>("Array(UInt8)", &[[1, 2, 3]]).is_err());
    assert!(there_and_back::<_, [f32; 2]>("QBit(Float32, 2)", &[[1.0]]).is_err());
}

#[test]
fn variants_are_what_the_row_has() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    enum Named {
        String(String),
        UInt8(u8),
        #[serde(rename = "Array(String)")]
        Strings(Vec<String>),
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
        Text(String),
        List(Vec<String>),
    }
    let variant = "Variant(Array(String), String, UInt8)";
    check(
        variant,
        &[
            Some(Named::UInt8(7)),
            None,
            Some(Named::Strings(vec![text("a")])),
            Some(Named::String(text("b"))),
        ],
    );
    check(
        variant,
        &[Untagged::Text(text("a")), Untagged::List(vec![]), Untagged::Number(1)],
    );
    // What has no member of its own goes to the first that takes it.
    reads("Variant(Date, UInt64)", 5_i16, 5_u64);
    reads("Variant(Date, UInt64)", "2000-01-01", text("2000-01-01"));
    reads("Variant(Date, String)", "2000-01-01", Some(json!("2000-01-01")));

    check(
        "Dynamic",
        &[
            Some(json!(1)),
            Some(json!("a")),
            None,
            Some(json!(-1)),
            Some(json!(1.5)),
            Some(json!(true)),
        ],
    );
    check(
        "Dynamic",
        &[Named::Strings(vec![text("a"), text("b")]), Named::UInt8(1)],
    );
}

#[test]
fn objects_of_json_are_their_paths() {
    // Version 3 of JSON: two paths, each a flattened Dynamic of one type, and NULL in the second row of `b.c`.
    let mut bytes = b"\x01\x02\x01j\x04JSON".to_vec();
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend(b"\x02\x01a\x03b.c");
    for name in [&b"\x05Int64"[..], &b"\x06String"[..]] {
        bytes.extend(3_u64.to_le_bytes());
        bytes.push(1);
        bytes.extend(name);
    }
    bytes.extend([0, 0]);
    bytes.extend([7_i64.to_le_bytes(), 8_i64.to_le_bytes()].concat());
    bytes.extend(b"\x00\x01\x02hi");
    let block = decode(&bytes);
    let rows = BlockRows::new(&block).unwrap();
    let found: Vec<(Value,)> = rows.iter().map(Result::unwrap).collect();
    assert_eq!(found, [(json!({"a": 7, "b.c": "hi"}),), (json!({"a": 8}),)]);

    #[derive(Debug, Deserialize, PartialEq)]
    struct Object {
        a: u8,
        #[serde(rename = "b.c")]
        c: Option<String>,
    }
    let second = Object { a: 8, c: None };
    assert_eq!(rows.row::<(Object,)>(1).unwrap().0, second);
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Two {
    a: u8,
    b: String,
}

#[test]
fn objects_are_made_of_what_has_names() {
    #[derive(Serialize)]
    struct Tide {
        place: &'static str,
        heights: Vec<Option<f32>>,
    }
    #[derive(Serialize)]
    enum Event {
        Ebb(u8),
        Flow(u8, bool),
        Tide { height: u8 },
    }
    let tide = Tide {
        place: "a \"b\"",
        heights: vec![Some(1.5), None],
    };
    reads("JSON", tide, text(r#"{"place":"a \"b\"","heights":[1.5,null]}"#));
    reads("JSON", BTreeMap::from([("a", 1), ("b", 2)]), text(r#"{"a":1,"b":2}"#));
    reads("JSON", BTreeMap::<String, u8>::new(), text("{}"));
    let events = [Event::Ebb(1), Event::Flow(2, true), Event::Tide { height: 3 }];
    let texts = [r#"{"Ebb":1}"#, r#"{"Flow":[2,true]}"#, r#"{"Tide":{"height":3}}"#];
    for (event, expected) in events.into_iter().zip(texts) {
        reads("JSON", event, text(expected));
    }
    reads(
        "Variant(JSON, UInt8)",
        Some(BTreeMap::from([("a", 1)])),
        Some(text(r#"{"a":1}"#)),
    );
    let mut rows = builder(&[("j", "JSON")]);
    let error = row_error(rows.push(&(BTreeMap::from([(1, 2)]),)));
    assert_eq!(error.problem, "the keys of JSON are text");
    row_error(rows.push(&(vec![1_u16],)));
    rows.push(&(BTreeMap::from([("a", [1])]),)).expect("a row");
    assert_eq!(rows.finish().expect("a block").rows(), 1);
}

#[test]
fn a_variant_may_have_a_dictionary() {
    check(
        "Variant(LowCardinality(String), UInt8)",
        &[Some(text("a")), None, Some(text("a"))],
    );
    check(
        "Variant(Array(LowCardinality(Nullable(String))), UInt8)",
        &[vec![Some(text("a")), None]],
    );
}

fn row_error(result: Result<impl Debug>) -> RowError {
    match result {
        Err(Error::Row(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn columns_are_matched_by_name_or_by_position() {
    let mut rows = builder(&[("b", "String"), ("more", "Int8"), ("a", "UInt64")]);
    for number in 0..3_u64 {
        rows.push(&(number.to_string(), -1, number)).unwrap();
    }
    let block = rows.finish().unwrap();
    let rows = BlockRows::new(&block).unwrap();
    let two = |number: u8| Two {
        a: number,
        b: number.to_string(),
    };
    assert_eq!(
        rows.iter::<Two>().collect::<Result<Vec<_>>>().unwrap(),
        [two(0), two(1), two(2)]
    );
    assert_eq!(rows.row::<(&str, i8, u8)>(1).unwrap(), ("1", -1, 1));
    assert_eq!(rows.row::<Value>(2).unwrap(), json!({"a": 2, "b": "2", "more": -1}));

    // A field that is missing, other names for fields, and parts of structs.
    #[derive(Debug, Deserialize, PartialEq)]
    struct Other {
        #[serde(alias = "a")]
        number: u8,
        none: Option<u8>,
        #[serde(default)]
        zero: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    let other: Vec<Other> = rows.iter().collect::<Result<_>>().unwrap();
    let rest = BTreeMap::from([(text("b"), json!("2")), (text("more"), json!(-1))]);
    let third = Other {
        number: 2,
        none: None,
        zero: 0,
        rest,
    };
    assert_eq!(other[2], third);

    // Two columns for one field: by position it would take the wrong one.
    #[derive(Debug, Deserialize, PartialEq)]
    struct Twice {
        #[serde(alias = "b")]
        a: Value,
        more: i8,
    }
    for row in rows.iter::<Twice>() {
        let error = row_error(row);
        assert!(error.problem.contains("duplicate field"), "{error}");
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct Missing {
        a: u8,
        absent: u8,
    }
    let error = row_error(rows.row::<Missing>(0));
    assert_eq!((error.column.as_str(), error.row), ("absent", 0));
    assert_eq!(error.problem, "there is no such column");
    assert!(matches!(rows.row::<Two>(3), Err(Error::RowNotFound)));
    let error = row_error(rows.row::<(u8, u8)>(0));
    assert_eq!(error.problem, "there are 3 columns for 2 elements");
    assert!(rows.row::<u8>(0).is_err());
}

#[test]
fn a_visitor_that_only_takes_names_gets_names() {
    #[derive(Debug)]
    struct ByHand(u8);

    impl<'de> Deserialize<'de> for ByHand {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = ByHand;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a row by names")
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<ByHand, A::Error> {
                    let mut found = 0;
                    while let Some((_, value)) = map.next_entry::<String, u8>()? {
                        found += value;
                    }
                    Ok(ByHand(found))
                }
            }
            deserializer.deserialize_struct("ByHand", &["a"], Visitor)
        }
    }

    let mut rows = builder(&[("a", "UInt8")]);
    (0..5_u8).for_each(|number| rows.push(&number).unwrap());
    let block = rows.finish().unwrap();
    let found: Vec<ByHand> = BlockRows::new(&block).unwrap().iter().collect::<Result<_>>().unwrap();
    assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn what_does_not_fit_a_rust_type_is_said_with_row_and_column() {
    let mut rows = builder(&[("a", "Nullable(UInt64)"), ("b", "String")]);
    for value in [Some(1), Some(300), None, Some(2)] {
        rows.push(&(value, "x")).unwrap();
    }
    let block = rows.finish().unwrap();
    let rows = BlockRows::new(&block).unwrap();
    let found: Vec<Result<Two>> = rows.iter().collect();
    assert!(found[0].is_ok() && found[3].is_ok(), "the rows around them");
    let [Err(large), Err(null)] = &found[1..3] else {
        panic!("{found:?}")
    };
    assert_eq!(
        large.to_string(),
        "row 1, column `a` of type Nullable(UInt64), u8 in Rust: invalid value: integer `300`, expected u8"
    );
    assert_eq!(
        null.to_string(),
        "row 2, column `a` of type Nullable(UInt64), u8 in Rust: invalid type: NULL, expected u8"
    );
    let error = row_error(rows.row::<(Option<String>, String)>(0));
    assert_eq!(error.rust_type, "core::option::Option<alloc::string::String>");
    assert_eq!(error.problem, "invalid type: integer `1`, expected a string");
}

#[test]
fn a_row_that_does_not_fit_leaves_nothing_behind() {
    let columns = [
        ("a", "UInt8"),
        ("b", "Array(Map(String, Nullable(Int16)))"),
        ("c", "Tuple(x Array(String), y Variant(Array(UInt8), String, UInt8))"),
        ("d", "Date"),
    ];
    let row = |a: i32, map: Value, y: Value, d: &str| json!({"a": a, "b": [{"k": 1}, map], "c": {"x": ["s", "t"], "y": y}, "d": d});
    let good = row(1, json!({"l": null}), json!([1, 2]), "2000-01-01");
    let bad = [
        (row(-1, json!({}), json!(1), "2000-01-01"), "a"),
        (row(1, json!({"l": 1, "m": 70_000}), json!(1), "2000-01-01"), "b"),
        (row(1, json!({}), json!([1, 2, 300]), "2000-01-01"), "c"),
        (row(1, json!({}), json!([1, 2]), "2000-02-30"), "d"),
        (row(1, json!({}), json!("s"), "1969-12-31"), "d"),
        (row(1, json!({}), Value::Null, ""), "d"),
        (json!({"a": 1, "c": {"x": [], "y": 1}, "d": "2000-01-01"}), "b"),
        (json!({"a": 1, "b": [], "c": {"x": []}, "d": "2000-01-01"}), "c"),
        (json!({"a": 1, "z": 1}), "z"),
    ];
    let mut with = builder(&columns);
    let mut without = builder(&columns);
    for (wrong, column) in &bad {
        with.push(&good).unwrap();
        without.push(&good).unwrap();
        let rows = with.len() as u64;
        let error = row_error(with.push(wrong));
        assert_eq!((error.column.as_str(), error.row), (*column, rows), "{error}");
        assert_eq!(with.len(), without.len());
    }
    with.push(&good).unwrap();
    without.push(&good).unwrap();
    let (with, without) = (with.finish().unwrap(), without.finish().unwrap());
    assert_eq!(with, without);
    let back = sent_back(&with);
    let rows: Vec<Value> = BlockRows::new(&back).unwrap().iter().collect::<Result<_>>().unwrap();
    assert_eq!(rows, vec![good; bad.len() + 1]);
}

#[test]
fn a_variant_that_does_not_fit_leaves_nothing_behind() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    enum Named {
        #[serde(rename = "Array(UInt8)")]
        Numbers(Vec<u16>),
    }
    let mut rows = builder(&[("c", "Variant(Array(UInt8), String)")]);
    rows.push(&Named::Numbers(vec![1])).unwrap();
    assert!(rows.push(&Named::Numbers(vec![2, 3, 300])).is_err());
    rows.push(&Named::Numbers(vec![4])).unwrap();
    let block = sent_back(&rows.finish().unwrap());
    let found: Vec<Named> = BlockRows::new(&block).unwrap().iter().collect::<Result<_>>().unwrap();
    assert_eq!(found, [Named::Numbers(vec![1]), Named::Numbers(vec![4])]);
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Everything {
    byte: i8,
    number: u64,
    wide: i128,
    float: f64,
    flag: bool,
    text: String,
    bytes: Vec<u8>,
    maybe: Option<String>,
    low: Option<String>,
    list: Vec<Option<i32>>,
    lists: Vec<Vec<String>>,
    pair: (u16, String),
    map: BTreeMap<String, Vec<u32>>,
    part: Option<i64>,
    address: Ipv6Addr,
    days: u16,
    ticks: i64,
}

const EVERYTHING: [(&str, &str); 17] = [
    ("ticks", "DateTime64(9, 'UTC')"),
    ("byte", "Int8"),
    ("number", "UInt64"),
    ("wide", "Int128"),
    ("float", "Float64"),
    ("flag", "Bool"),
    ("text", "String"),
    ("bytes", "String"),
    ("maybe", "Nullable(String)"),
    ("low", "LowCardinality(Nullable(String))"),
    ("list", "Array(Nullable(Int32))"),
    ("lists", "Array(Array(LowCardinality(String)))"),
    ("pair", "Tuple(UInt16, String)"),
    ("map", "Map(String, Array(UInt32))"),
    ("part", "Nullable(Int64)"),
    ("address", "IPv6"),
    ("days", "Date"),
];

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = (any::<i8>(), any::<u64>(), any::<i128>(), -1e300..1e300, any::<bool>());
    let texts = (
        ".{0,9}",
        any::<Vec<u8>>(),
        proptest::option::of(".{0,3}"),
        proptest::option::of("[ab]"),
    );
    let list = prop::collection::vec(any::<Option<i32>>(), 0..4);
    let lists = prop::collection::vec(prop::collection::vec("[a-c]{0,2}", 0..3), 0..3);
    let map = prop::collection::btree_map(".{0,2}", prop::collection::vec(any::<u32>(), 0..3), 0..3);
    let others = (
        any::<u16>(),
        ".{0,3}",
        map,
        any::<Option<i64>>(),
        any::<u128>(),
        any::<u16>(),
        any::<i64>(),
    );
    (numbers, texts, list, lists, others).prop_map(|(numbers, texts, list, lists, others)| Everything {
        byte: numbers.0,
        number: numbers.1,
        wide: numbers.2,
        float: numbers.3,
        flag: numbers.4,
        text: texts.0,
        bytes: texts.1,
        maybe: texts.2,
        low: texts.3,
        list,
        lists,
        pair: (others.0, others.1),
        map: others.2,
        part: others.3,
        address: others.4.into(),
        days: others.5,
        ticks: others.6,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_that_were_written_are_read(rows in prop::collection::vec(everything(), 0..20)) {
        let mut builder = builder(&EVERYTHING);
        for row in &rows {
            builder.push(row).unwrap();
        }
        let block = sent_back(&builder.finish().unwrap());
        let found: Vec<Everything> = BlockRows::new(&block).unwrap().iter().collect::<Result<_>>().unwrap();
        prop_assert_eq!(found, rows);
    }

    /// Any column of any type: what is read as whatever it is, is written as the same.
    #[test]
    fn values_of_every_type_are_read_as_what_they_are(
        types in prop::collection::vec(crate::any_type::any_type(), 1..4),
        rows in 0_usize..20,
        seed: u64,
    ) {
        let types: Vec<DataType> = types.iter().map(|text| text.parse().unwrap()).collect();
        let block = decode(&crate::generate::file(&types, rows, seed));
        let columns = types.iter().enumerate().map(|(index, data_type)| (format!("c{index}"), data_type.clone()));
        let mut again = RowsBuilder::new(columns).unwrap();
        let read = BlockRows::new(&block).unwrap();
        let mut once = Vec::new();
        for row in read.iter::<Whatever>() {
            let row = row.unwrap();
            match again.push(&row) {
                Ok(()) => once.push(row),
                // Bytes by chance may be more than a type's bounds, which only writing knows.
                Err(error) => {
                    let error = row_error(Err::<(), _>(error));
                    let is_bounded = ["Date", "Time", "Decimal"].iter().any(|name| error.data_type.contains(name));
                    prop_assert!(is_bounded && error.problem.contains("does not fit"), "{}", error);
                }
            }
        }
        let again = sent_back(&again.finish().unwrap());
        let twice: Vec<Whatever> = BlockRows::new(&again).unwrap().iter().collect::<Result<_>>().unwrap();
        prop_assert_eq!(format!("{twice:?}"), format!("{once:?}"));
    }
}

/// A value that takes what comes, and gives it back.
#[derive(Clone, Debug)]
enum Whatever {
    Null,
    Bool(bool),
    Signed(i128),
    Unsigned(u128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Whatever>),
    Map(Vec<(Whatever, Whatever)>),
}

impl Serialize for Whatever {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Signed(value) => serializer.serialize_i128(*value),
            Self::Unsigned(value) => serializer.serialize_u128(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::List(value) => serializer.collect_seq(value),
            Self::Map(value) => serializer.collect_map(value.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Whatever {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        macro_rules! takes {
            ($($method:ident($kind:ty) = $variant:ident;)*) => {$(
                fn $method<E>(self, value: $kind) -> Result<Whatever, E> {
                    Ok(Whatever::$variant(value.into()))
                }
            )*};
        }
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Whatever;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("anything")
            }

            fn visit_unit<E>(self) -> Result<Whatever, E> {
                Ok(Whatever::Null)
            }

            takes! {
                visit_bool(bool) = Bool;
                visit_i64(i64) = Signed;
                visit_i128(i128) = Signed;
                visit_u64(u64) = Unsigned;
                visit_u128(u128) = Unsigned;
                visit_f64(f64) = Float;
                visit_str(&str) = Text;
                visit_bytes(&[u8]) = Bytes;
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Whatever, A::Error> {
                let mut found = Vec::new();
                while let Some(value) = list.next_element()? {
                    found.push(value);
                }
                Ok(Whatever::List(found))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Whatever, A::Error> {
                let mut found = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    found.push(pair);
                }
                Ok(Whatever::Map(found))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

const POWER_OF_255: &str = "57896044618658097711785492504343953926634992332820282019728792003956564819968";
const MAX_OF_256: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
