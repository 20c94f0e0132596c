//! Files that PostgreSQL wrote.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use tidemill_postgres::{Error, Type, copy_of_rows, rows_of_copy};
use tidemill_testkit::corpus_bytes;

fn columns() -> Vec<(String, Type)> {
    let array = |element| Type::Array(Box::new(element));
    let types = [
        Type::Bool,
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Oid,
        Type::Float4,
        Type::Float8,
        Type::Numeric(Some((10, 2))),
        Type::Numeric(Some((50, 20))),
        Type::Numeric(None),
        Type::Text,
        Type::Bpchar(Some(5)),
        Type::Jsonb,
        Type::Bytea,
        Type::Date,
        Type::Time,
        Type::Timestamp,
        Type::TimestampTz,
        Type::Interval,
        Type::Uuid,
        array(Type::Int4),
        array(Type::Text),
    ];
    let named = types.into_iter().enumerate();
    named.map(|(number, typ)| (format!("c{number}"), typ)).collect()
}

fn row(batch: &RecordBatch, row: usize) -> Vec<String> {
    let cells = batch.columns().iter();
    cells
        .map(|column| array_value_to_string(column, row).unwrap())
        .collect()
}

#[test]
fn values_are_those_that_the_server_was_given() {
    let bytes = corpus_bytes("postgres/copies/types.copy");
    let batch = rows_of_copy(&columns(), &bytes, bytes.len()).unwrap();
    assert_eq!(batch.num_rows(), 3);
    assert_eq!(
        row(&batch, 0),
        [
            "true",
            "-1",
            "2",
            "-3",
            "4",
            "1.5",
            "-2.25",
            "12345.67",
            "-0.00000000000000000001",
            "123456789.000120",
            "é\u{1f642}",
            "ab",
            "{\"a\": 1}",
            "00ff",
            "2024-02-29",
            "23:59:59.999999",
            "1969-12-31T23:59:59.999999",
            "2024-07-01T10:00:00Z",
            "12 mons 2 days 3 hours 4 mins 5.600000000 secs",
            "67e5504410b1426f9247bb680e5fe0c8",
            "[1, , 3]",
            "[a, b c, ]",
        ]
    );
    assert_eq!(
        row(&batch, 1),
        [
            "false",
            "-32768",
            "-2147483648",
            "-9223372036854775808",
            "4294967295",
            "NaN",
            "-inf",
            "-99999999.99",
            "999999999999999999999999999999.99999999999999999999",
            "NaN",
            "",
            "",
            "[]",
            "",
            "-0043-03-15",
            "00:00:00",
            "-4712-01-01T00:00:00",
            "9999-12-31T23:59:59.999999Z",
            "-1 mons",
            "00000000000000000000000000000000",
            "[]",
            "[]",
        ]
    );
    assert!(batch.columns().iter().all(|column| column.is_null(2)));
}

#[test]
fn what_is_written_is_what_the_server_writes() {
    let bytes = corpus_bytes("postgres/copies/types.copy");
    let columns = columns();
    let types: Vec<Type> = columns.iter().map(|(_, typ)| typ.clone()).collect();
    let batch = rows_of_copy(&columns, &bytes, 7).unwrap();
    let written = copy_of_rows(&batch, &types).unwrap();
    assert_eq!(rows_of_copy(&columns, &written, 64).unwrap(), batch);
    // The blanks of char(5) are the server's.
    let without = |bytes: &[u8], sought: &[u8], by: &[u8]| {
        let at = bytes.windows(sought.len()).position(|window| window == sought);
        at.map_or_else(
            || bytes.to_vec(),
            |at| [&bytes[..at], by, &bytes[at + sought.len()..]].concat(),
        )
    };
    let bytes = without(&bytes, b"\0\0\0\x05ab   ", b"\0\0\0\x02ab");
    let bytes = without(&bytes, b"\0\0\0\x05     ", b"\0\0\0\0");
    assert_eq!(written, bytes);
    let empty = corpus_bytes("postgres/copies/empty.copy");
    let batch = rows_of_copy(&columns, &empty, 64).unwrap();
    assert_eq!((batch.num_rows(), copy_of_rows(&batch, &types).unwrap()), (0, empty));
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_an_error() {
    let bytes = corpus_bytes("postgres/copies/types.copy");
    for end in 0..bytes.len() {
        let error = rows_of_copy(&columns(), &bytes[..end], 64).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{end}: {error}");
    }
    let columns = columns();
    let types: Vec<Type> = columns.iter().map(|(_, typ)| typ.clone()).collect();
    for place in 0..bytes.len() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let mut bent = bytes.clone();
            bent[place] = byte;
            // An error, or rows that are written so that they are read again.
            let Ok(rows) = rows_of_copy(&columns, &bent, bent.len()) else {
                continue;
            };
            if let Ok(written) = copy_of_rows(&rows, &types) {
                let again = rows_of_copy(&columns, &written, 64).unwrap();
                assert_eq!(copy_of_rows(&again, &types).unwrap(), written, "{place} {byte}");
            }
        }
    }
}
