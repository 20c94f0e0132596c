#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrow_array::cast::AsArray;
use arrow_schema::Schema;
use proptest::prelude::*;

use super::*;
use crate::arrow_type;

/// Columns of every form of values.
fn types() -> Vec<Type> {
    let names = [
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
        "char(3)",
        "jsonb",
        "bytea",
        "date",
        "time",
        "timestamp",
        "interval",
        "uuid",
        "integer[]",
        "text[]",
    ];
    names.iter().map(|name| Type::named(name).unwrap()).collect()
}

fn decoder(types: &[Type], unrepresentable: Unrepresentable) -> Decoder {
    let fields = types
        .iter()
        .enumerate()
        .map(|(index, typ)| arrow_type::field(&format!("c{index}"), typ, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Decoder::new(schema, types, "t".to_owned(), unrepresentable).unwrap()
}

/// The values of one row, as they are sent.
fn fields() -> Vec<Vec<u8>> {
    let number = [0_i16, 0, 0, 2].map(i16::to_be_bytes).concat();
    let list = |items: &[&[u8]]| {
        let count = i32::try_from(items.len()).unwrap();
        let mut bytes = [1, 0, 23, count, 1].map(i32::to_be_bytes).concat();
        for item in items {
            bytes.extend(i32::try_from(item.len()).unwrap().to_be_bytes());
            bytes.extend(*item);
        }
        bytes
    };
    vec![
        vec![1],
        7_i16.to_be_bytes().to_vec(),
        8_i32.to_be_bytes().to_vec(),
        9_i64.to_be_bytes().to_vec(),
        10_u32.to_be_bytes().to_vec(),
        1.5_f32.to_be_bytes().to_vec(),
        2.5_f64.to_be_bytes().to_vec(),
        number.clone(),
        number.clone(),
        number,
        "é".as_bytes().to_vec(),
        b"a  ".to_vec(),
        b"\x01{}".to_vec(),
        vec![0, 255],
        (-1_i32).to_be_bytes().to_vec(),
        1_i64.to_be_bytes().to_vec(),
        (-1_i64).to_be_bytes().to_vec(),
        [0; 16].to_vec(),
        [7; 16].to_vec(),
        list(&[&1_i32.to_be_bytes(), &2_i32.to_be_bytes()]),
        list(&[b"x", b""]),
    ]
}

fn copied(rows: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut bytes = [SIGNATURE, &[0; 8]].concat();
    for row in rows {
        bytes.extend(i16::try_from(row.len()).unwrap().to_be_bytes());
        for field in row {
            bytes.extend(i32::try_from(field.len()).unwrap().to_be_bytes());
            bytes.extend(field);
        }
    }
    bytes.extend((-1_i16).to_be_bytes());
    bytes
}

fn decoded(types: &[Type], bytes: &[u8], size: usize) -> Result<RecordBatch> {
    let mut decoder = decoder(types, Unrepresentable::Error);
    for piece in bytes.chunks(size) {
        decoder.feed(piece)?;
    }
    decoder.finish()?;
    decoder.batch()
}

#[test]
fn rows_come_in_any_pieces() {
    let bytes = copied(&[fields(), fields()]);
    let whole = decoded(&types(), &bytes, bytes.len()).unwrap();
    assert_eq!(whole.num_rows(), 2);
    assert_eq!(whole.column(10).as_string::<i32>().value(1), "é");
    assert_eq!(whole.column(11).as_string::<i32>().value(1), "a");
    for size in [1, 2, 3, 7, 50, 100] {
        assert_eq!(decoded(&types(), &bytes, size).unwrap(), whole, "{size}");
    }
}

#[test]
fn what_is_cut_off_at_any_byte_is_an_error() {
    let bytes = copied(&[fields(), fields()]);
    for end in 0..bytes.len() {
        let error = decoded(&types(), &bytes[..end], 64).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{end}: {error}");
    }
}

#[test]
fn lengths_of_gigabytes_allocate_nothing() {
    for length in [i32::MAX, -2, i32::MIN, (1 << 30) + 1] {
        let row = [2_i16.to_be_bytes().as_slice(), &length.to_be_bytes(), b"abc"].concat();
        let bytes = [SIGNATURE, &[0; 8], &row].concat();
        let error = decoded(&types()[..2], &bytes, 64).unwrap_err().to_string();
        assert!(error.contains("1 GiB") && error.contains("c0"), "{error}");
    }
    // An array of as many items.
    let list = [1, 0, 23, i32::MAX, 1].map(i32::to_be_bytes).concat();
    let bytes = copied(&[vec![list]]);
    let error = decoded(&[Type::named("integer[]").unwrap()], &bytes, 64)
        .unwrap_err()
        .to_string();
    assert!(error.contains("item 1 of 2147483647"), "{error}");
    // A header's extension.
    let bytes = [SIGNATURE, &[0; 4], &i32::MAX.to_be_bytes()].concat();
    let error = decoded(&types(), &bytes, 64).unwrap_err().to_string();
    assert!(error.contains("64 KiB"), "{error}");
}

#[test]
fn values_that_are_none_name_row_and_column() {
    let int = Type::Int4;
    for (typ, value, named) in [
        (int.clone(), vec![1, 2], "4 bytes"),
        (Type::Bool, vec![2], "0 or 1"),
        (Type::Text, vec![0xff], "UTF-8"),
        (Type::Jsonb, b"\x02{}".to_vec(), "version 1"),
        (Type::Date, i32::MAX.to_be_bytes().to_vec(), "infinity"),
        (Type::Timestamp, i64::MIN.to_be_bytes().to_vec(), "-infinity"),
        (Type::Timestamp, (i64::MAX - 1).to_be_bytes().to_vec(), "294247"),
        (Type::Time, 86_400_000_000_i64.to_be_bytes().to_vec(), "24:00"),
        (Type::Numeric(Some((4, 2))), crate::numeric::NAN_BYTES.to_vec(), "NaN"),
        (
            Type::Numeric(Some((4, 2))),
            [1_i16, 0, 0, 0, 100].map(i16::to_be_bytes).concat(),
            "4 digits",
        ),
        (Type::Interval, [i64::MAX.to_be_bytes(), [0; 8]].concat(), "nanoseconds"),
        (
            Type::Array(Box::new(int.clone())),
            [2, 0, 23, 1, 1, 1, 1].map(i32::to_be_bytes).concat(),
            "2 dimensions",
        ),
        (Type::Array(Box::new(int)), vec![0; 5], "an array"),
    ] {
        let bytes = copied(&[vec![value.clone()]]);
        let error = decoded(std::slice::from_ref(&typ), &bytes, 64).unwrap_err();
        let Error::Value { row: 1, column, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(column, "c0");
        assert!(error.to_string().contains(named), "{typ}: {error}");
        let mut lenient = decoder(&[typ], Unrepresentable::Null);
        if let Ok(()) = lenient.feed(&bytes) {
            let batch = lenient.batch().unwrap();
            assert_eq!(batch.column(0).null_count(), 1, "{error}");
            assert!(
                error.to_string().contains("no value") || error.to_string().contains("dimensions"),
                "{error}"
            );
        } else {
            assert!(!error.to_string().contains("unrepresentable=null"), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bent_bytes_are_errors_or_rows(
        bends in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        size in 1_usize..200,
    ) {
        let mut bytes = copied(&[fields(), fields()]);
        for (at, byte) in bends {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(batch) = decoded(&types(), &bytes, size) {
            prop_assert!(batch.num_rows() <= 2);
        }
    }

    #[test]
    fn any_bytes_are_errors_or_rows(bytes in proptest::collection::vec(any::<u8>(), 0..300), size in 1_usize..50) {
        let bytes = [SIGNATURE, &[0; 8], &bytes].concat();
        let _ = decoded(&types()[..1], &bytes, size);
    }
}
