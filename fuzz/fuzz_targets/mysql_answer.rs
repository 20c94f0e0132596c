//! Answers of MySQL and MariaDB to prepared statements: the rows are the same however the bytes are cut.
//!
//! As it is, an answer is seldom one behind a change, since each packet has its length and its number. So the bytes are taken for packets
//! without numbers too, which are given theirs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_mysql::rows_of_answer;

fuzz_target!(|bytes: &[u8]| {
    compare(bytes);
    compare(&numbered(bytes));
});

fn compare(answer: &[u8]) {
    let whole = rows_of_answer(answer, answer.len());
    let cut = rows_of_answer(answer, answer.len() % 61 + 1);
    assert_eq!(whole.is_ok(), cut.is_ok());
    if let (Ok(whole), Ok(cut)) = (whole, cut) {
        assert_eq!(whole, cut);
    }
}

/// The packets of an answer with the numbers that they should have.
fn numbered(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut rest, mut number) = (Vec::new(), bytes, 1_u8);
    while let Some((&[a, b, _, _], behind)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([a, b])).min(behind.len());
        let (payload, behind) = behind.split_at(length);
        let [a, b, ..] = length.to_le_bytes();
        out.extend_from_slice(&[a, b, 0, number]);
        out.extend_from_slice(payload);
        (rest, number) = (behind, number.wrapping_add(1));
    }
    out
}
