//! Columns of numbers that lie in memory as Arrow wants them are not copied.

use arrow_array::{Array, ArrowPrimitiveType, cast::AsArray, types};
use arrow_buffer::Buffer;
use tidemill_clickhouse::{BlockDecoder, NativeReader, Revision, source::BufferSource};

/// A file of one column of 1000 rows, whose values begin so many bytes behind the beginning.
fn file(data_type: &str, values: &[u8], begin: usize) -> Vec<u8> {
    // A column, 1000 rows in two bytes, and the lengths of two texts.
    let name = "n".repeat(begin - 5 - data_type.len());
    let mut bytes = vec![1, 0xe8, 0x07, u8::try_from(name.len()).unwrap()];
    bytes.extend(name.bytes());
    bytes.push(u8::try_from(data_type.len()).unwrap());
    bytes.extend(data_type.bytes());
    assert_eq!(bytes.len(), begin);
    bytes.extend(values);
    bytes
}

/// Whether the values of the column are the bytes of the input, in their place.
fn is_shared<T: ArrowPrimitiveType>(data_type: &str, begin: usize) -> bool {
    let values: Vec<u8> = (0..1000 * size_of::<T::Native>())
        .map(|at| at.to_le_bytes()[0])
        .collect();
    // Memory of Arrow begins at a multiple of 64.
    let input = Buffer::from_slice_ref(file(data_type, &values, begin));
    assert_eq!(input.as_ptr().align_offset(64), 0);
    let expected = input.as_ptr().wrapping_add(begin);

    let mut source = BufferSource::new(input.clone());
    let block = BlockDecoder::default()
        .decode_blocking(&mut source, Revision::FILE)
        .unwrap();
    let array = block.batch.column(0).as_primitive::<T>();
    let found = array.values().inner();
    assert_eq!(found.as_slice(), values, "{data_type} at {begin}");

    // A reader of files does the same.
    let read = NativeReader::from_source(BufferSource::new(input.clone()))
        .next()
        .unwrap()
        .unwrap();
    let read = read.batch.column(0).to_data().buffers()[0].as_ptr();
    let is_shared = found.as_ptr() == expected;
    assert_eq!(read == expected, is_shared);
    is_shared
}

#[test]
fn aligned_numbers_are_those_of_the_input() {
    assert!(is_shared::<types::UInt64Type>("UInt64", 64));
    assert!(is_shared::<types::UInt64Type>("UInt64", 72));
    assert!(is_shared::<types::Int32Type>("Int32", 60));
    assert!(is_shared::<types::UInt16Type>("UInt16", 62));
    assert!(is_shared::<types::Float64Type>("Float64", 80));
    assert!(is_shared::<types::UInt8Type>("UInt8", 61));
}

#[test]
fn others_are_copied() {
    for begin in [61, 62, 63, 65, 66, 67, 68] {
        assert!(!is_shared::<types::UInt64Type>("UInt64", begin), "{begin}");
    }
    assert!(!is_shared::<types::Int32Type>("Int32", 62));
}

/// The memory of the input is kept for as long as a column needs it.
#[test]
fn a_column_keeps_the_input() {
    let values: Vec<u8> = (0..8000).map(|at: usize| at.to_le_bytes()[0]).collect();
    let input = Buffer::from_slice_ref(file("UInt64", &values, 64));
    let mut source = BufferSource::new(input.clone());
    let block = BlockDecoder::default()
        .decode_blocking(&mut source, Revision::FILE)
        .unwrap();
    drop((source, input));
    assert_eq!(
        block
            .batch
            .column(0)
            .as_primitive::<types::UInt64Type>()
            .values()
            .inner()
            .as_slice(),
        values
    );
}
