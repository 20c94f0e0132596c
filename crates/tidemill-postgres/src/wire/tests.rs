#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use proptest::prelude::*;

use super::*;

fn text_of(typ: &str, value: &str) -> Result<String> {
    let typ = Type::named(typ).unwrap();
    let batch = parameters(&[(typ.clone(), ValueFormat::Text, Some(value.as_bytes()))])?;
    let rows = WireRows::new(&batch, &[(typ, ValueFormat::Text)])?;
    let mut text = Vec::new();
    assert!(rows.write_text(0, 0, &mut text)?);
    Ok(String::from_utf8(text).unwrap())
}

#[test]
fn values_have_the_text_of_the_server() {
    for (typ, value, expected) in [
        ("boolean", "true", "t"),
        ("boolean", "off", "f"),
        ("smallint", "-32768", "-32768"),
        ("bigint", "9223372036854775807", "9223372036854775807"),
        ("real", "0.1", "0.1"),
        ("real", "1234567", "1.234567e+06"),
        ("double precision", "100000000000000", "100000000000000"),
        ("double precision", "1e15", "1e+15"),
        ("double precision", "0.0001", "0.0001"),
        ("double precision", "0.00001", "1e-05"),
        ("double precision", "-1234.5", "-1234.5"),
        ("double precision", "-0", "-0"),
        ("double precision", "NaN", "NaN"),
        ("double precision", "-inf", "-Infinity"),
        ("numeric(10,2)", "-1234.5", "-1234.50"),
        ("date", "0001-01-01", "0001-01-01"),
        ("date", "2000-02-29", "2000-02-29"),
        ("date", "9999-12-31", "9999-12-31"),
        ("time", "23:59:59.5", "23:59:59.5"),
        ("timestamp", "1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"),
        (
            "timestamp with time zone",
            "2024-07-01T12:00:00+02:00",
            "2024-07-01 10:00:00+00",
        ),
        (
            "uuid",
            "67E5504410B1426F9247BB680E5FE0C8",
            "67e55044-10b1-426f-9247-bb680e5fe0c8",
        ),
        ("bytea", "\\x00fF", "\\x00ff"),
        ("bytea", "a\\\\b\\001", "\\x615c6201"),
        ("text", "", ""),
        ("jsonb", "{\"a\": 1}", "{\"a\": 1}"),
    ] {
        assert_eq!(text_of(typ, value).unwrap(), expected, "{typ} {value}");
    }
    for (typ, value) in [
        ("integer", "1.5"),
        ("integer", "2147483648"),
        ("date", "yesterday"),
        ("bytea", "\\xabc"),
        ("bytea", "\\9"),
        ("uuid", "1"),
    ] {
        let error = text_of(typ, value).unwrap_err().to_string();
        assert!(error.contains("$1"), "{typ} {value}: {error}");
    }
}

#[test]
fn types_have_numbers_of_the_catalogue() {
    for name in [
        "boolean",
        "smallint",
        "integer",
        "bigint",
        "oid",
        "real",
        "double precision",
        "numeric",
        "text",
        "varchar",
        "name",
        "xml",
        "json",
        "jsonb",
        "bytea",
        "date",
        "time",
        "timestamp",
        "timestamp with time zone",
        "interval",
        "uuid",
    ] {
        for name in [name.to_owned(), format!("{name}[]")] {
            let typ = Type::named(&name).unwrap();
            assert_eq!(Type::of_oid(typ.oid()), Some(typ), "{name}");
        }
    }
    assert_eq!(Type::Numeric(Some((10, 2))).modifier(), 655_366);
    assert_eq!(Type::Varchar(Some(20)).modifier(), 24);
}

#[test]
fn parameters_of_the_wrong_size_are_refused() {
    for bytes in [&b""[..], b"\0\0\0", b"\0\0\0\0\0"] {
        assert!(parameters(&[(Type::Int4, ValueFormat::Binary, Some(bytes))]).is_err());
    }
    let values = parameters(&[
        (Type::Int4, ValueFormat::Binary, Some(b"\0\0\0\x07")),
        (Type::Text, ValueFormat::Text, None),
    ]);
    let values = values.unwrap();
    assert_eq!((values.num_rows(), values.column(1).null_count()), (1, 1));
}

proptest! {
    #[test]
    fn numbers_and_days_are_read_back(float in any::<f64>(), days in -700_000_i64..2_921_939) {
        let mut shown = Vec::new();
        text::push(&Type::Float8, &float.to_be_bytes(), &mut shown).unwrap();
        let read: f64 = std::str::from_utf8(&shown).unwrap().parse().unwrap();
        prop_assert!(read == float || (read.is_nan() && float.is_nan()));
        let mut shown = Vec::new();
        text::push(&Type::Date, &i32::try_from(days).unwrap().to_be_bytes(), &mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        prop_assert_eq!(text_of("date", &shown).unwrap(), shown);
    }

    #[test]
    fn no_bytes_are_worse_than_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40), oid in 16_u32..3000) {
        if let Some(typ) = Type::of_oid(oid) {
            let _ = text::push(&typ, &bytes, &mut Vec::new());
            for format in [ValueFormat::Text, ValueFormat::Binary] {
                let _ = parameters(&[(typ.clone(), format, Some(&bytes))]);
            }
        }
    }
}
