//! Cells of Cassandra's columns, as the protocol has them: what is decoded makes a sound array, and is encoded so that it is decoded
//! to the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_cql::{CollectionType, ColumnType, NativeType, array_of_cells, cells_of_array};

/// A type of each kind; the first byte of an input chooses one.
fn types() -> Vec<ColumnType<'static>> {
    let native = ColumnType::Native;
    let collection = |typ| ColumnType::Collection { frozen: true, typ };
    let mut types: Vec<_> = [
        NativeType::Ascii,
        NativeType::BigInt,
        NativeType::Blob,
        NativeType::Boolean,
        NativeType::Date,
        NativeType::Decimal,
        NativeType::Double,
        NativeType::Duration,
        NativeType::Float,
        NativeType::Inet,
        NativeType::Int,
        NativeType::SmallInt,
        NativeType::Text,
        NativeType::Time,
        NativeType::Timestamp,
        NativeType::Timeuuid,
        NativeType::TinyInt,
        NativeType::Uuid,
        NativeType::Varint,
    ]
    .map(native)
    .into();
    let list = collection(CollectionType::List(Box::new(native(NativeType::Int))));
    let map = CollectionType::Map(Box::new(native(NativeType::Text)), Box::new(list.clone()));
    types.push(collection(map));
    types.push(collection(CollectionType::Set(Box::new(native(NativeType::Varint)))));
    types.push(ColumnType::Tuple(vec![native(NativeType::Duration), list.clone()]));
    types.push(ColumnType::Vector {
        typ: Box::new(native(NativeType::Float)),
        dimensions: 3,
    });
    types.push(ColumnType::Vector {
        typ: Box::new(native(NativeType::Text)),
        dimensions: 2,
    });
    types.push(list);
    types
}

/// Lengths of 32 bits, each with its bytes; one below 0 is NULL.
fn cells(mut bytes: &[u8]) -> Vec<Option<&[u8]>> {
    let mut cells = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = i32::from_be_bytes(*length);
        let (cell, rest) = match usize::try_from(length) {
            Ok(length) => {
                let (cell, rest) = rest.split_at(length.min(rest.len()));
                (Some(cell), rest)
            }
            Err(_) => (None, rest),
        };
        cells.push(cell);
        bytes = rest;
    }
    cells
}

fuzz_target!(|input: &[u8]| {
    let Some((chosen, bytes)) = input.split_first() else {
        return;
    };
    let types = types();
    let typ = &types[usize::from(*chosen) % types.len()];
    let Ok(array) = array_of_cells(typ, cells(bytes)) else {
        return;
    };
    array.to_data().validate_full().expect("a sound array");
    // Cassandra refuses durations whose parts have different signs, and so does the encoder.
    let Ok(written) = cells_of_array(typ, &array) else {
        return;
    };
    let again = array_of_cells(typ, written.iter().map(Option::as_deref)).expect("what was written");
    let twice = cells_of_array(typ, &again).expect("what was decoded");
    assert_eq!(written, twice);
});
