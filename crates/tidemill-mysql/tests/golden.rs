//! Answers that MariaDB sent.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use tidemill_mysql::{Error, rows_of_answer};
use tidemill_testkit::corpus_bytes;

#[test]
fn values_are_those_that_the_server_was_given() {
    let bytes = corpus_bytes("mysql/answers/types.answer");
    let batch = rows_of_answer(&bytes, bytes.len()).unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (3, 25));
    let options = FormatOptions::default().with_null("NULL");
    let row = |row: usize| -> Vec<String> {
        let columns = batch.columns().iter();
        columns
            .map(|column| {
                ArrayFormatter::try_new(column, &options)
                    .unwrap()
                    .value(row)
                    .to_string()
            })
            .collect()
    };
    assert_eq!(
        row(0),
        [
            "1",
            "-128",
            "18446744073709551615",
            "8388607",
            "-12.50",
            "0.00000000000000000001",
            "1.5",
            "0.1",
            "true",
            "257",
            "1999",
            "2024-02-29",
            "-PT3020398.999999S",
            "2024-02-29T23:59:59.999999",
            "2024-07-01T12:00:00.125Z",
            "ab",
            "Äöß",
            "😀",
            "{\"a\": [1, 2]}",
            "00ff0a",
            "deadbeef",
            "b",
            "a,b",
            "2001:db8::1",
            "000000000101000000000000000000f03f0000000000000040",
        ]
    );
    assert_eq!(
        row(1)[11..15],
        ["0001-01-01", "P0D", "1000-01-01T00:00:00", "1970-01-01T00:00:01Z"]
    );
    assert!(row(2)[1..].iter().all(|value| value == "NULL"));
    let empty = corpus_bytes("mysql/answers/empty.answer");
    let empty = rows_of_answer(&empty, 7).unwrap();
    assert_eq!((empty.num_rows(), empty.schema()), (0, batch.schema()));
    let refused = rows_of_answer(&corpus_bytes("mysql/answers/refused.answer"), 7).unwrap_err();
    assert_eq!(refused.code(), Some(1242), "{refused}");
}

#[test]
fn an_answer_that_is_cut_is_an_error_and_one_in_pieces_is_the_same() {
    let bytes = corpus_bytes("mysql/answers/types.answer");
    let whole = rows_of_answer(&bytes, bytes.len()).unwrap();
    for piece in [1, 2, 3, 7, 100] {
        assert_eq!(rows_of_answer(&bytes, piece).unwrap(), whole);
    }
    for end in 0..bytes.len() {
        let error = rows_of_answer(&bytes[..end], 64).unwrap_err();
        assert!(matches!(error, Error::Broken { .. }), "{end}: {error}");
    }
}

#[test]
fn an_answer_that_is_bent_is_no_panic() {
    let bytes = corpus_bytes("mysql/answers/types.answer");
    for at in 0..bytes.len() {
        for by in [1, 0x80, 0xff] {
            let mut bent = bytes.clone();
            bent[at] ^= by;
            drop(rows_of_answer(&bent, 4096));
        }
    }
}
