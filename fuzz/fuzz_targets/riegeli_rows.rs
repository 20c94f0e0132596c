//! Typed rows from bytes: records as u32 length (little endian) and bytes, decoded as rows of one column of each type.

#![no_main]

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::rows::RowDecoder;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let types = [
        DataType::Utf8,
        DataType::Binary,
        DataType::Boolean,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt64,
        DataType::Float64,
        DataType::Decimal128(12, 2),
        DataType::Decimal128(30, 4),
        DataType::Date32,
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Millisecond, None),
    ];
    let fields = types
        .into_iter()
        .enumerate()
        .map(|(index, kind)| Field::new(format!("c{index}"), kind, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
});

fuzz_target!(|input: &[u8]| {
    let all: Vec<usize> = (0..SCHEMA.fields().len()).collect();
    let mut decoder = RowDecoder::new(&SCHEMA, &all).expect("every type has a mapping");
    let (mut rest, mut rows) = (input, 0);
    while let Some((length, behind)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length))
            .unwrap_or(usize::MAX)
            .min(behind.len());
        let (record, behind) = behind.split_at(length);
        rows += usize::from(decoder.push(record).is_ok());
        rest = behind;
    }
    // A record that is refused leaves no trace in the columns.
    assert_eq!(decoder.finish().expect("columns of equal length").num_rows(), rows);
});
