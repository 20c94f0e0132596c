//! What is decoded is encoded again, for any type, any values, any revision, and any part of a batch.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, cast::AsArray};
use arrow_select::take::take;
use proptest::prelude::*;
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, DataType, Revision,
    source::{BufferSource, SliceSource},
};

fn decode(bytes: &[u8], revision: Revision) -> Block {
    BlockDecoder::default()
        .decode_blocking(&mut SliceSource::new(bytes), revision)
        .expect("a block")
}

fn encode(block: &Block, revision: Revision) -> Vec<u8> {
    encode_by(BlockEncoder::default(), block, revision)
}

fn encode_by(encoder: BlockEncoder, block: &Block, revision: Revision) -> Vec<u8> {
    let mut bytes = Vec::new();
    encoder.encode(block, revision, &mut bytes).expect("a block");
    bytes
}

/// A dictionary that has each value of `array` twice.
fn repeated(array: &ArrayRef) -> ArrayRef {
    let rows = i32::try_from(array.len()).expect("few rows");
    let keys: Int32Array = (0..rows).chain((0..rows).rev()).collect();
    Arc::new(DictionaryArray::try_new(keys, Arc::clone(array)).expect("a dictionary"))
}

/// The values of an array without regard to how it holds them.
fn values(array: &ArrayRef) -> String {
    let options = arrow_cast::display::FormatOptions::default().with_null("NULL");
    let formatter = arrow_cast::display::ArrayFormatter::try_new(array, &options).expect("a formatter");
    (0..array.len())
        .map(|row| format!("{}\n", formatter.value(row)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bytes_come_back(text in crate::any_type::any_type(), rows in 0_usize..40, seed in any::<u64>()) {
        let types = [text.parse::<DataType>().expect("a type")];
        let bytes = crate::generate::file(&types, rows, seed);
        let block = decode(&bytes, Revision::FILE);
        prop_assert_eq!(&block.types[..], &types[..]);
        block.batch.column(0).to_data().validate_full().expect("a sound array");
        prop_assert_eq!(encode(&block, Revision::FILE), bytes.clone());

        let mut shared = BufferSource::new(bytes);
        let shared = BlockDecoder::default().decode_blocking(&mut shared, Revision::FILE).expect("a block");
        prop_assert_eq!(encode(&shared, Revision::FILE), encode(&block, Revision::FILE));
    }

    #[test]
    fn every_revision_has_the_same_values(text in crate::any_type::any_type(), rows in 1_usize..20, seed in any::<u64>()) {
        let types = [text.parse::<DataType>().expect("a type")];
        let block = decode(&crate::generate::file(&types, rows, seed), Revision::FILE);
        for revision in [54032, 54336, 54337, 54404, 54405, 54453, 54454, 54473, 54480, 54491, 54492].map(Revision) {
            let back = decode(&encode(&block, revision), revision);
            prop_assert_eq!(values(back.batch.column(0)), values(block.batch.column(0)), "{}", revision);
        }
    }

    #[test]
    fn every_form_has_the_same_values(text in crate::any_type::any_type(), rows in 1_usize..20, seed in any::<u64>()) {
        let types = [text.parse::<DataType>().expect("a type")];
        let mut block = decode(&crate::generate::file(&types, rows, seed), Revision::FILE);
        let encoder = BlockEncoder { sparse_from: Some(0.0), replicated: true, ..BlockEncoder::default() };
        for revision in [54453, 54464, 54482, 54483, 54492].map(Revision) {
            let back = decode(&encode_by(encoder, &block, revision), revision);
            prop_assert_eq!(values(back.batch.column(0)), values(block.batch.column(0)), "{}", revision);
        }
        let array = block.batch.column(0);
        // A dictionary already.
        prop_assume!(array.as_any_dictionary_opt().is_none());
        let repeated = repeated(array);
        let dictionary = repeated.as_any_dictionary();
        let expected = take(dictionary.values(), dictionary.keys(), None).expect("rows");
        block.batch = RecordBatch::try_from_iter_with_nullable([("c0", repeated, true)]).expect("a batch");
        for (encoder, revision) in [(encoder, 54492), (encoder, 54481), (BlockEncoder::default(), 54492)] {
            let revision = Revision(revision);
            let back = decode(&encode_by(encoder, &block, revision), revision);
            prop_assert_eq!(values(back.batch.column(0)), values(&expected), "{}", revision);
        }
    }

    #[test]
    fn a_part_of_a_batch_is_written_as_that_part(
        text in crate::any_type::any_type(),
        rows in 1_usize..20,
        seed in any::<u64>(),
        cut in (0_usize..20, 0_usize..20),
    ) {
        let types = [text.parse::<DataType>().expect("a type")];
        let mut block = decode(&crate::generate::file(&types, rows, seed), Revision::FILE);
        let begin = cut.0.min(rows);
        block.batch = block.batch.slice(begin, cut.1.min(rows - begin));
        for revision in [Revision::FILE, Revision::NEWEST] {
            let back = decode(&encode(&block, revision), revision);
            prop_assert_eq!(values(back.batch.column(0)), values(block.batch.column(0)));
        }
    }
}

#[test]
fn several_columns_and_none() {
    let types = ["UInt8", "String", "Array(Int8)"].map(|text| text.parse::<DataType>().expect("a type"));
    let bytes = crate::generate::file(&types, 3, 7);
    let block = decode(&bytes, Revision::FILE);
    assert_eq!(block.batch.num_columns(), 3);
    assert_eq!(encode(&block, Revision::FILE), bytes);

    let empty = Block::new(RecordBatch::new_empty(std::sync::Arc::new(
        arrow_schema::Schema::empty(),
    )))
    .expect("a block");
    for revision in [Revision::FILE, Revision::NEWEST] {
        assert_eq!(decode(&encode(&empty, revision), revision), empty);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_bytes_are_an_error_or_another_sound_block(
        text in crate::any_type::any_type(),
        rows in 1_usize..10,
        seed in any::<u64>(),
        newest in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0), Just(1), Just(0xFF)]), 1..6),
    ) {
        let types = [text.parse::<DataType>().expect("a type")];
        let mut bytes = crate::generate::file(&types, rows, seed);
        let revision = if newest { Revision::NEWEST } else { Revision::FILE };
        bytes = encode(&decode(&bytes, Revision::FILE), revision);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut decoder = BlockDecoder::default();
        decoder.limits.memory = 1 << 20;
        if let Ok(block) = decoder.decode_blocking(&mut SliceSource::new(&bytes), revision) {
            for column in block.batch.columns() {
                column.to_data().validate_full().expect("a sound array");
            }
            // Rows of no bytes may be more than it would be wise to write.
            prop_assume!(block.rows() < 1 << 20);
            let again = decode(&encode(&block, revision), revision);
            prop_assert_eq!(&again.types, &block.types);
            let sparse = BlockEncoder { sparse_from: Some(0.0), replicated: true, ..BlockEncoder::default() };
            let bytes = encode_by(sparse, &block, revision);
            let again = decode(&bytes, revision);
            prop_assert_eq!(encode_by(sparse, &again, revision), bytes);
        }
    }
}
