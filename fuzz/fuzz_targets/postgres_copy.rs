//! Copies in PostgreSQL's binary format: the rows are the same however the bytes are cut, and are written so that they are read as the same
//! again.
//!
//! The columns are those of the files in `corpus/postgres/copies`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_postgres::{Type, copy_of_rows, rows_of_copy};

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
    types
        .into_iter()
        .enumerate()
        .map(|(number, typ)| (format!("c{number}"), typ))
        .collect()
}

fuzz_target!(|bytes: &[u8]| {
    let columns = columns();
    let types: Vec<Type> = columns.iter().map(|(_, typ)| typ.clone()).collect();
    let whole = rows_of_copy(&columns, bytes, bytes.len());
    let cut = rows_of_copy(&columns, bytes, bytes.len() % 61 + 1);
    assert_eq!(whole.is_ok(), cut.is_ok());
    let (Ok(whole), Ok(cut)) = (whole, cut) else { return };
    assert_eq!(whole, cut);
    // NULs in texts are read and not written: a server sends none.
    if let Ok(written) = copy_of_rows(&whole, &types) {
        let again = rows_of_copy(&columns, &written, written.len()).expect("rows that were written");
        assert_eq!(copy_of_rows(&again, &types).expect("a copy of the same rows"), written);
    }
});
