//! Functions of other things: bytes as text, identifiers, who is asking.

use arrow_array::{Int64Array, StringArray};

use super::{Body, Call, Function, Gives, argument, columns, nulls, run_kernel, session};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value};
use crate::sql::vector::Vector;

const TEXT: Gives = Gives::Is(Type::Text(0));

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    session("APPLICATIONID", Type::Text(0), |session| Value::Text(session.application.to_owned())),
    columns("BASE64DECODE", "C", Gives::Is(Type::Bytes), |call, a| bytes_of(call, a, decoded)),
    columns("BASE64ENCODE", "*", TEXT, |call, a| text_of(call, a, encoded)),
    columns("CHAR2HEX", "C", Gives::Is(Type::Bytes), |call, a| bytes_of(call, a, from_hex)),
    session("DATABASE", Type::Text(0), |session| Value::Text(session.database.to_owned())),
    columns("DESCEND", "C", Gives::TextOf(0), |call, a| {
        let texts = argument(a, 0).texts(call.rows);
        let page = call.session.environment.codepage();
        let is_of_page = |row: usize| page.encode(texts.stored(row), &mut Vec::new()).is_ok();
        match (0..call.rows).all(is_of_page) {
            true => run_kernel("DESCEND(T1)", &[argument(a, 0).clone()], call.rows, call.session),
            false => Err(Error::new(Kind::Value, format!("DESCEND() takes texts of {page} alone"))),
        }
    }),
    columns("DIFFERENCE", "CC", Gives::Is(Type::Integer), |call, a| {
        let code = |place: usize| run_kernel("SOUNDEX(T1)", &[argument(a, place).clone()], call.rows, call.session);
        let (left, right) = (code(0)?, code(1)?);
        let (left, right) = (left.texts(call.rows), right.texts(call.rows));
        let same = |row: usize| left.stored(row).chars().zip(right.stored(row).chars()).filter(|(a, b)| a == b).count();
        let values = (0..call.rows).map(|row| i64::try_from(same(row)).unwrap_or(0));
        Ok(Vector::Integer(Int64Array::new(values.collect(), nulls(a))))
    }),
    columns("HEX2CHAR", "*", TEXT, |call, a| text_of(call, a, |bytes| bytes.iter().map(|byte| format!("{byte:02X}")).collect())),
    Function { name: "NEWID", takes: "", gives: Gives::Is(Type::Bytes), body: Body::Volatile(|call, _| {
        let ids: Vec<[u8; 16]> = (0..call.rows).map(|_| new_id(call)).collect();
        Ok(Vector::Bytes(arrow_array::BinaryArray::from_iter_values(ids)))
    }) },
    Function { name: "NEWIDSTRING", takes: "[C", gives: Gives::Is(Type::Text(38)), body: Body::Volatile(|call, a| {
        let form = a.first().map(|form| form.value(0).to_text().to_ascii_uppercase()).unwrap_or_default();
        let ids = (0..call.rows).map(|_| id_text(&new_id(call), &form));
        Ok(Vector::Text(StringArray::from_iter_values(ids.collect::<Result<Vec<_>>>()?), 0))
    }) },
    session("USER", Type::Text(0), |session| Value::Text(session.user.to_owned())),
    session("LASTAUTOINC", Type::Integer, |session| session.last_autoincrement.map_or(Value::Null, Value::Integer)),
];

fn bytes_in(value: Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes,
        other => other.to_text().into_owned().into_bytes(),
    }
}

fn text_of(call: &Call<'_>, arguments: &[Vector], text: impl Fn(&[u8]) -> String) -> Result<Vector> {
    let vector = argument(arguments, 0);
    let texts = (0..call.rows).map(|row| match vector.value(row) {
        Value::Null => None,
        value => Some(text(&bytes_in(value))),
    });
    Ok(Vector::Text(texts.collect(), 0))
}

fn bytes_of(call: &Call<'_>, arguments: &[Vector], bytes: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Vector> {
    let vector = argument(arguments, 0);
    let mut made = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        made.push(match vector.value(row) {
            Value::Null => None,
            value => {
                let text = value.to_text();
                let wrong = || Error::new(Kind::Value, format!("{}() cannot read {text:?}", call.name));
                Some(bytes(text.trim()).ok_or_else(wrong)?)
            }
        });
    }
    Ok(Vector::Bytes(made.iter().map(Option::as_deref).collect()))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with `=` at the end (RFC 4648, section 4).
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (word >> (18 - 6 * place)) & 63;
            let is_there = place <= chunk.len();
            let letter = ALPHABET
                .get(usize::try_from(digit).unwrap_or(0))
                .copied()
                .unwrap_or(b'=');
            text.push(char::from(if is_there { letter } else { b'=' }));
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text
        .trim_end_matches('=')
        .bytes()
        .map(|letter| ALPHABET.iter().position(|known| *known == letter))
        .map(|place| place.and_then(|place| u32::try_from(place).ok()))
        .collect();
    let mut bytes = Vec::new();
    for chunk in digits?.chunks(4) {
        let digit = |place: usize| chunk.get(place).copied().unwrap_or(0);
        let word = digit(0) << 18 | digit(1) << 12 | digit(2) << 6 | digit(3);
        let [_, a, b, c] = word.to_be_bytes();
        match chunk.len() {
            4 => bytes.extend([a, b, c]),
            3 => bytes.extend([a, b]),
            2 => bytes.push(a),
            _ => return None,
        }
    }
    Some(bytes)
}

/// A random identifier (RFC 9562, version 4).
fn new_id(call: &Call<'_>) -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(call.session.now).to_be_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half());
    id[8..].copy_from_slice(&half());
    id[6] = (id[6] & 0x0F) | 0x40;
    id[8] = (id[8] & 0x3F) | 0x80;
    id
}

fn id_text(id: &[u8; 16], form: &str) -> Result<String> {
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut dashed = String::with_capacity(36);
    for (place, c) in hex.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            dashed.push('-');
        }
        dashed.push(c);
    }
    Ok(match form {
        "" | "D" | "DELIMITED" => dashed,
        "N" | "NUMBERS" => hex,
        "B" | "BRACKETED" => format!("[{dashed}]"),
        "P" | "PARENTHESIS" => format!("({dashed})"),
        "C" | "CURLYBRACES" => format!("{{{dashed}}}"),
        "M" | "MIME" => encoded(id),
        "F" | "FILE" => encoded(id).trim_end_matches('=').replace('+', "-").replace('/', "_"),
        other => return Err(Error::new(Kind::Value, format!("NEWIDSTRING() knows no form {other}"))),
    })
}
