#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type};
use arrow_schema::Schema;
use proptest::prelude::*;

use super::*;
use crate::arrow_type;

fn definition(wire: u8, length: u32, decimals: u8) -> ColumnDefinition {
    ColumnDefinition {
        name: "c".to_owned(),
        character_set: 45,
        length,
        wire,
        flags: 0,
        decimals,
    }
}

fn decoder(definitions: &[ColumnDefinition], unrepresentable: Unrepresentable) -> Decoder {
    let fields = definitions
        .iter()
        .map(|definition| arrow_type::field(&definition.name, &definition.typ(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Decoder::new(schema, definitions, "t".to_owned(), unrepresentable).unwrap()
}

fn all_kinds() -> Vec<ColumnDefinition> {
    let wires = [
        wire::TINY,
        wire::LONG,
        wire::DOUBLE,
        wire::NEWDECIMAL,
        wire::VAR_STRING,
        wire::DATE,
        wire::DATETIME,
        wire::TIME,
        wire::BIT,
    ];
    wires.map(|wire| definition(wire, 12, 2)).to_vec()
}

fn row() -> Vec<u8> {
    let mut row = vec![0, 0, 0, 7];
    row.extend_from_slice(&(-2_i32).to_le_bytes());
    row.extend_from_slice(&1.5_f64.to_le_bytes());
    row.extend_from_slice(b"\x06-12.30\x03abc");
    row.extend_from_slice(b"\x04\xe8\x07\x02\x1d");
    row.extend_from_slice(b"\x0b\xe8\x07\x02\x1d\x17\x3b\x3b\x40\x42\x0f\x00");
    row.extend_from_slice(b"\x08\x01\x01\0\0\0\x02\x03\x04\x01\x05");
    // A second has less than a million microseconds.
    let at = row.len() - 11 - 4;
    row[at..at + 4].copy_from_slice(&999_999_u32.to_le_bytes());
    row
}

#[test]
fn a_row_is_taken_and_every_shorter_or_longer_one_is_refused() {
    let mut whole = decoder(&all_kinds(), Unrepresentable::Error);
    let row = row();
    whole.row(&row).unwrap();
    let batch = whole.batch().unwrap();
    assert_eq!(batch.column(1).as_primitive::<Int32Type>().value(0), -2);
    assert_eq!(batch.column(3).as_primitive::<Decimal128Type>().value(0), -1230);
    assert_eq!(batch.column(4).as_string::<i32>().value(0), "abc");
    for end in 0..row.len() {
        let mut cut = decoder(&all_kinds(), Unrepresentable::Error);
        assert!(cut.row(&row[..end]).is_err(), "{end}");
    }
    let mut longer = decoder(&all_kinds(), Unrepresentable::Error);
    assert!(longer.row(&[row.as_slice(), b"x"].concat()).is_err());
}

#[test]
fn lengths_beyond_the_row_are_refused() {
    for length in [
        &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..],
        &[0xfd, 0xff, 0xff, 0xff],
        &[0xff],
        &[0xfb],
    ] {
        let mut decoder = decoder(&[definition(wire::VAR_STRING, 10, 0)], Unrepresentable::Error);
        let error = decoder.row(&[b"\0\0", length].concat()).unwrap_err();
        assert!(matches!(error, Error::Value { .. }), "{error}");
    }
}

#[test]
fn days_that_are_none_are_errors_or_null() {
    let zero = [0, 0, 0];
    let half = [0, 0, 4, 0xe8, 7, 5, 0];
    for row in [zero.as_slice(), &half] {
        let columns = [definition(wire::DATE, 10, 0)];
        let error = decoder(&columns, Unrepresentable::Error)
            .row(row)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("-00") && error.contains("unrepresentable=null"),
            "{error}"
        );
        let mut decoder = decoder(&columns, Unrepresentable::Null);
        decoder.row(row).unwrap();
        assert_eq!(decoder.batch().unwrap().column(0).null_count(), 1);
    }
}

proptest! {
    #[test]
    fn no_bytes_are_more_than_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = decoder(&all_kinds(), Unrepresentable::Error).row(&bytes);
        let _ = ColumnDefinition::parse(&bytes);
        let _ = crate::handshake::Greeting::parse(&bytes);
    }

    #[test]
    fn bent_rows_are_taken_or_refused(at in 0_usize..64, byte in any::<u8>()) {
        let mut row = row();
        let at = at % row.len();
        row[at] = byte;
        let _ = decoder(&all_kinds(), Unrepresentable::Null).row(&row);
    }
}
