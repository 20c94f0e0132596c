//! Texts of types whose values `generate` can make.

use proptest::prelude::*;

/// Texts of types, a few levels deep.
pub(crate) fn any_type() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
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
        "FixedString(3)",
        "Date",
        "Date32",
        "DateTime",
        "DateTime64(3)",
        "DateTime64(4, 'UTC')",
        "Time",
        "Time64(5)",
        "IntervalDay",
        "UUID",
        "IPv4",
        "IPv6",
        "Enum8('a' = -1, 'b' = 2)",
        "Enum16('a' = -1000, 'b' = 1000)",
        "Decimal(9, 2)",
        "Decimal(18, 2)",
        "Decimal(38, 2)",
        "Decimal(76, 2)",
    ])
    .prop_map(str::to_owned);
    let leaf = prop_oneof![
        5 => plain.clone(),
        2 => plain.prop_map(|inner| format!("Nullable({inner})")),
        1 => prop::sample::select(vec![
            "LowCardinality(String)",
            "LowCardinality(Nullable(String))",
            "LowCardinality(UInt16)",
            "LowCardinality(Nullable(Date))",
            "Point",
            "Nothing",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|item| format!("Array({item})")),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|items| format!("Tuple({})", items.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("Tuple(a {a}, b {b})")),
            inner.clone().prop_map(|value| format!("Map(String, {value})")),
            Just("Variant(Array(String), Int8, String)".to_owned()),
        ]
    })
}
