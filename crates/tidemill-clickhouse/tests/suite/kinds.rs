//! Serializations over those of the types: sparse and replicated columns, and variants in granules.
//!
//! No client that runs here sends them, so these bytes are made by hand, after ClickHouse's `SerializationInfo.cpp`,
//! `SerializationSparse.cpp`, `SerializationReplicated.cpp` and `SerializationVariant.cpp`. The encoder has to write the same.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array, RecordBatch,
    StringArray, StructArray, UInt8Array, UInt64Array, cast::AsArray, types::Int32Type,
};
use tidemill_clickhouse::{BlockDecoder, BlockEncoder, Calendar, Error, Result, Revision, source::SliceSource};

/// Bytes of a block of one column.
struct Bytes(Vec<u8>);

impl Bytes {
    /// The beginning of a block of one column with a serialization of its own.
    fn column(rows: u8, data_type: &str) -> Self {
        Self(vec![0, 1, rows]).string("c").string(data_type).u8(1)
    }

    fn u8(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    fn all(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u64(self, number: u64) -> Self {
        self.all(&number.to_le_bytes())
    }

    fn varint(mut self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.u8(number as u8)
    }

    fn string(self, text: &str) -> Self {
        self.u8(text.len() as u8).all(text.as_bytes())
    }

    /// The last of the counts before values.
    fn end(self, defaults: u64) -> Self {
        self.varint(defaults | 1 << 62)
    }

    fn decode_at(&self, revision: u64) -> Result<ArrayRef> {
        let mut source = SliceSource::new(&self.0);
        let block = BlockDecoder::default().decode_blocking(&mut source, Revision(revision))?;
        Ok(block.batch.column(0).clone())
    }

    fn decode(&self) -> Result<ArrayRef> {
        self.decode_at(54483)
    }

    /// Checks the array, and that every part of the bytes is too short.
    fn check(&self, expected: &dyn Array) {
        assert_eq!(*self.decode().expect("a block"), *expected);
        for length in 0..self.0.len() {
            let cut = Self(self.0[..length].to_vec());
            assert!(
                matches!(cut.decode(), Err(Error::Truncated { .. })),
                "cut off at byte {length}"
            );
        }
    }

    /// [`Bytes::check`], and that `written` is written as these bytes.
    fn check_both(&self, data_type: &str, written: ArrayRef, expected: &dyn Array) {
        self.check(expected);
        let found = encode(EVERY_KIND, data_type, &written, Revision(54483));
        assert_eq!(found.escape_ascii().to_string(), self.0[..].escape_ascii().to_string());
    }

    fn refused(&self, message: &str) {
        let error = self.decode().expect_err("a refusal").to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// A block of the column `c`.
fn encode(encoder: BlockEncoder, data_type: &str, array: &ArrayRef, revision: Revision) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", Arc::clone(array), true)]).expect("a batch");
    let types = [data_type.parse().expect("a type")];
    let mut bytes = Vec::new();
    let encoded = encoder.encode_batch(&batch, &types, revision, &mut bytes);
    encoded.unwrap_or_else(|error| panic!("{data_type}: {error}"));
    // Information about the block has fields here that `Bytes` leaves out.
    let begin = bytes
        .windows(3)
        .position(|bytes| bytes == [b'c', data_type.len() as u8, data_type.as_bytes()[0]]);
    let begin = begin.expect("the column's name") - 3;
    bytes.splice(..begin, [0]).for_each(drop);
    bytes
}

/// Every column in another form than its type's that can have one.
const EVERY_KIND: BlockEncoder = BlockEncoder {
    calendar: Calendar::ANY,
    sparse_from: Some(0.0),
    replicated: true,
};
const SPARSE: u8 = 1;
const REPLICATED: u8 = 4;
const COMBINATION: u8 = 5;

#[test]
fn sparse_numbers() {
    let bytes = Bytes::column(7, "UInt64")
        .u8(SPARSE)
        .varint(2)
        .varint(0)
        .end(3)
        .u64(5)
        .u64(6);
    let array = UInt64Array::from(vec![0, 0, 5, 6, 0, 0, 0]);
    bytes.check_both("UInt64", Arc::new(array.clone()), &array);
}

#[test]
fn a_sparse_column_of_defaults_only() {
    let bytes = Bytes::column(3, "UInt64").u8(SPARSE).end(3);
    let array = UInt64Array::from(vec![0, 0, 0]);
    bytes.check_both("UInt64", Arc::new(array.clone()), &array);
}

#[test]
fn a_sparse_column_that_ends_with_a_value() {
    let bytes = Bytes::column(2, "UInt8").u8(SPARSE).varint(1).end(0).u8(9);
    let array = UInt8Array::from(vec![0, 9]);
    bytes.check_both("UInt8", Arc::new(array.clone()), &array);
}

#[test]
fn sparse_values_of_other_types() {
    let text = Bytes::column(3, "String").u8(SPARSE).varint(1).end(1).string("ebb");
    let array = StringArray::from(vec!["", "ebb", ""]);
    text.check_both("String", Arc::new(array.clone()), &array);
    let bool = Bytes::column(3, "Bool").u8(SPARSE).varint(0).end(2).u8(1);
    let array = BooleanArray::from(vec![true, false, false]);
    bool.check_both("Bool", Arc::new(array.clone()), &array);
    let fixed = Bytes::column(2, "FixedString(2)")
        .u8(SPARSE)
        .varint(1)
        .end(0)
        .all(b"ab");
    let array = FixedSizeBinaryArray::try_from_iter([[0, 0], *b"ab"].iter()).expect("values");
    fixed.check_both("FixedString(2)", Arc::new(array.clone()), &array);
}

#[test]
fn sparse_strings_behind_offsets() {
    let bytes = Bytes::column(3, "String")
        .u8(SPARSE)
        .varint(0)
        .varint(1)
        .end(0)
        .u64(3)
        .u64(4)
        .all(b"ebbx");
    let array = bytes.decode_at(54492).expect("a block");
    assert_eq!(*array, StringArray::from(vec!["ebb", "", "x"]) as StringArray);
}

#[test]
fn sparse_nullable_values_have_no_null_map() {
    let bytes = Bytes::column(4, "Nullable(UInt64)")
        .u8(SPARSE)
        .varint(1)
        .varint(1)
        .end(0)
        .u64(0)
        .u64(7);
    let array = UInt64Array::from(vec![None, Some(0), None, Some(7)]);
    bytes.check_both("Nullable(UInt64)", Arc::new(array.clone()), &array);
}

#[test]
fn elements_of_a_tuple_have_kinds_of_their_own() {
    let bytes = Bytes::column(2, "Tuple(UInt8, UInt8)")
        .u8(0)
        .u8(0)
        .u8(SPARSE)
        .all(&[1, 2])
        .varint(1)
        .end(0)
        .u8(9);
    let array = bytes.decode().expect("a block");
    let tuple: &StructArray = array.as_struct();
    assert_eq!(**tuple.column(0), UInt8Array::from(vec![1, 2]) as UInt8Array);
    assert_eq!(**tuple.column(1), UInt8Array::from(vec![0, 9]) as UInt8Array);
    let half = BlockEncoder {
        sparse_from: Some(0.5),
        ..BlockEncoder::default()
    };
    assert_eq!(encode(half, "Tuple(UInt8, UInt8)", &array, Revision(54483)), bytes.0);
    let point = Bytes::column(2, "Point").u8(0).u8(0).u8(SPARSE);
    let point = point.all(&1_f64.to_le_bytes()).all(&2_f64.to_le_bytes()).end(2);
    let array = point.decode().expect("a block");
    assert_eq!(
        **array.as_struct().column(1),
        Float64Array::from(vec![0.0, 0.0]) as Float64Array
    );
    assert_eq!(encode(half, "Point", &array, Revision(54483)), point.0);
}

#[test]
fn replicated_values() {
    let bytes = Bytes::column(4, "String")
        .u8(REPLICATED)
        .varint(4)
        .u8(1)
        .all(&[1, 0, 0, 1])
        .varint(2)
        .string("a")
        .string("bc");
    let dictionary = dictionary(&[1, 0, 0, 1], Arc::new(StringArray::from(vec!["a", "bc"])));
    bytes.check_both("String", dictionary, &StringArray::from(vec!["bc", "a", "a", "bc"]));
    let wide = Bytes::column(2, "Int32")
        .u8(REPLICATED)
        .varint(2)
        .u8(8)
        .u64(0)
        .u64(0)
        .varint(1)
        .all(&[7, 0, 0, 0]);
    wide.check(&Int32Array::from(vec![7, 7]));
    let lists = Bytes::column(2, "Array(Int32)")
        .u8(REPLICATED)
        .varint(2)
        .u8(1)
        .all(&[0, 0])
        .varint(1)
        .u64(1)
        .all(&[7, 0, 0, 0]);
    let lists = lists.decode().expect("a block");
    assert_eq!(lists.as_list::<i32>().offsets().to_vec(), [0, 1, 2]);
    assert_eq!(
        **lists.as_list::<i32>().values(),
        Int32Array::from(vec![7, 7]) as Int32Array
    );
}

#[test]
fn replicated_sparse_values() {
    let stack = Bytes::column(3, "UInt8").u8(COMBINATION).varint(3).all(&[0, 1, 3]);
    let bytes = stack.varint(3).u8(1).all(&[1, 0, 1]).varint(2).varint(1).end(0).u8(9);
    bytes.check(&UInt8Array::from(vec![9, 0, 9]));
}

fn dictionary(keys: &[i32], values: ArrayRef) -> ArrayRef {
    Arc::new(DictionaryArray::<Int32Type>::try_new(keys.to_vec().into(), values).expect("a dictionary"))
}

#[test]
fn an_encoder_is_told_what_to_write_in_another_form() {
    let is_sparse = |encoder, data_type, array: &ArrayRef, revision| {
        let bytes = encode(encoder, data_type, array, Revision(revision));
        bytes.starts_with(&Bytes::column(array.len() as u8, data_type).u8(SPARSE).0)
    };
    let from = |share| BlockEncoder {
        sparse_from: Some(share),
        ..BlockEncoder::default()
    };
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![0, 1, 0, 0]));
    assert!(is_sparse(from(0.75), "UInt64", &numbers, 54465));
    assert!(!is_sparse(from(0.76), "UInt64", &numbers, 54465));
    assert!(!is_sparse(BlockEncoder::default(), "UInt64", &numbers, 54465));
    assert!(!is_sparse(from(0.75), "UInt64", &numbers, 54464));
    let nulls: ArrayRef = Arc::new(UInt64Array::from(vec![None, Some(0), None, None]));
    assert!(is_sparse(from(0.75), "Nullable(UInt64)", &nulls, 54483));
    assert!(!is_sparse(from(0.75), "Nullable(UInt64)", &nulls, 54482));
    // Not a default: its sign would be lost.
    let negative: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 1.0]));
    assert!(!is_sparse(from(0.1), "Float64", &negative, 54492));

    let repeated = dictionary(&[1, 0, 0, 1, 1], Arc::new(UInt64Array::from(vec![7, 8])));
    let replicated = |encoder, revision| {
        let bytes = encode(encoder, "UInt64", &repeated, Revision(revision));
        bytes.starts_with(&Bytes::column(5, "UInt64").u8(REPLICATED).0)
    };
    assert!(replicated(EVERY_KIND, 54482));
    assert!(!replicated(EVERY_KIND, 54481));
    assert!(!replicated(BlockEncoder::default(), 54482));
    for (encoder, revision) in [
        (EVERY_KIND, 54482),
        (EVERY_KIND, 54481),
        (BlockEncoder::default(), 54032),
    ] {
        let bytes = encode(encoder, "UInt64", &repeated, Revision(revision));
        let decoded = Bytes(bytes).decode_at(revision).expect("a block");
        assert_eq!(*decoded, UInt64Array::from(vec![8, 7, 7, 8, 8]) as UInt64Array);
    }
}

#[test]
fn nulls_of_a_dictionary_are_a_value_of_their_own() {
    let keys = vec![Some(0), None, Some(1), None, Some(0), Some(2)];
    // The last value is null as well.
    let values = Arc::new(StringArray::from(vec![Some("a"), Some("bc"), None]));
    let array: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::try_new(keys.into(), values).expect("a dictionary"));
    let expected = StringArray::from(vec![Some("a"), None, Some("bc"), None, Some("a"), None]);
    let bytes = Bytes(encode(EVERY_KIND, "Nullable(String)", &array, Revision(54483)));
    assert!(
        bytes
            .0
            .starts_with(&Bytes::column(6, "Nullable(String)").u8(REPLICATED).0)
    );
    bytes.check(&expected);
    // A part of it, in which a null is the only value.
    let bytes = Bytes(encode(
        EVERY_KIND,
        "Nullable(String)",
        &array.slice(1, 1),
        Revision(54483),
    ));
    bytes.check(&expected.slice(1, 1));
}

#[test]
fn what_does_not_fit_is_refused_in_any_form() {
    let refused = |data_type: &str, array: ArrayRef, message: &str| {
        let batch = RecordBatch::try_from_iter_with_nullable([("c", array, true)]).expect("a batch");
        let types = [data_type.parse().expect("a type")];
        let error = EVERY_KIND.encode_batch(&batch, &types, Revision::NEWEST, &mut Vec::new());
        let error = error.expect_err("a refusal").to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(
        "UInt64",
        Arc::new(Int32Array::from(vec![0, 0])),
        "expected UInt64, found Int32",
    );
    refused("UInt64", Arc::new(UInt64Array::from(vec![Some(0), None])), "found NULL");
    let keys = vec![Some(0), None, Some(0)];
    let values = Arc::new(UInt64Array::from(vec![7]));
    let array = DictionaryArray::<Int32Type>::try_new(keys.into(), values).expect("a dictionary");
    refused("UInt64", Arc::new(array), "found NULL");
    refused(
        "Tuple(UInt8)",
        Arc::new(UInt8Array::from(vec![0])),
        "expected Struct of 1 fields",
    );
}

#[test]
fn variants_in_granules() {
    let begin = || {
        Bytes(vec![0, 1, 5])
            .string("c")
            .string("Variant(String, UInt8)")
            .u8(0)
            .u64(1)
    };
    let bytes = begin()
        .varint(3)
        .u8(1)
        .u8(1)
        .varint(2)
        .u8(0)
        .all(&[0, 255])
        .string("x")
        .all(&[7, 8, 9]);
    let array = bytes.decode().expect("a block");
    let variants = array
        .as_any()
        .downcast_ref::<arrow_array::UnionArray>()
        .expect("a union");
    assert_eq!(variants.type_ids().to_vec(), [1, 1, 1, 0, 2]);
    assert_eq!(*variants.value(2), UInt8Array::from(vec![9]) as UInt8Array);
    begin().varint(6).refused("6, more than the limit of 5");
    begin().varint(0).refused("expected some, found none");
    begin().varint(5).u8(2).refused("expected 0 or 1, found 2");
    begin()
        .varint(5)
        .u8(1)
        .u8(2)
        .refused("expected less than 2, or 255, found 2");
}

#[test]
fn what_does_not_hold_together_is_refused() {
    let sparse = || Bytes::column(3, "UInt8").u8(SPARSE);
    sparse().varint(3).refused("expected 3 rows, found row 3");
    sparse().end(2).refused("expected 3 rows, found row 2");
    sparse().varint(u64::MAX >> 2).refused("expected 3 rows");
    let replicated = || Bytes::column(3, "UInt8").u8(REPLICATED);
    replicated()
        .varint(2)
        .refused("the number of indexes, at byte 14 of the block: expected 3, found 2");
    replicated()
        .varint(3)
        .u8(3)
        .refused("expected 1, 2, 4 or 8 bytes, found 3");
    replicated()
        .varint(3)
        .u8(1)
        .all(&[0, 1, 0])
        .varint(1)
        .u8(9)
        .refused("the number of values, 1, found another");
    Bytes::column(3, "UInt8")
        .u8(2)
        .refused("set enable_parallel_blocks_marshalling to 0");
    Bytes::column(3, "UInt8").u8(6).refused("expected 0 to 5, found 6");
}

#[test]
fn few_bytes_do_not_take_much_memory() {
    let rows = (1_u64 << 31) - 1;
    let begin = |data_type: &str| Bytes(vec![0, 1]).varint(rows).string("c").string(data_type).u8(1);
    begin("UInt64").u8(SPARSE).end(rows).refused("memory of a block is");
    begin("Variant(UInt8)")
        .u8(0)
        .u64(1)
        .varint(rows)
        .u8(1)
        .refused("memory of a block is");
    let text = "x".repeat(100);
    let mut bytes = Bytes(vec![0, 1])
        .varint(1 << 20)
        .string("c")
        .string("FixedString(16777215)")
        .u8(1)
        .u8(SPARSE);
    bytes = bytes.end(1 << 20);
    bytes.refused("memory of a block is");
    let mut bytes = Bytes(vec![0, 1])
        .varint(1 << 24)
        .string("c")
        .string("String")
        .u8(1)
        .u8(REPLICATED);
    bytes = bytes
        .varint(1 << 24)
        .u8(1)
        .all(&vec![0; 1 << 24])
        .varint(1)
        .string(&text);
    bytes.refused("memory of a block is");
}
