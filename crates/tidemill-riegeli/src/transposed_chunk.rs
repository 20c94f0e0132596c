//! Transposed chunks: messages taken apart by field, and a state machine that puts them together again.
//!
//! File metadata are stored this way, as a single record, so both directions are needed even where records are in simple
//! chunks. Sources: google/riegeli, `riegeli/chunk_encoding/transpose_internal.h` (the reserved identifiers and subtypes),
//! `transpose_decoder.cc` (the layout of the chunk, the meaning of a transition byte) and `transpose_encoder.cc` (how states
//! are laid out, which decides the bytes written).
//!
//! The chunk data are: the compression type; the size of the header and the header (compressed); the buckets; the transitions
//! (compressed). The header holds: number of buckets and of buffers; size of each bucket; size of each buffer; number of
//! states; tag of each state; next state of each state, increased by the number of states when the transition is implicit;
//! subtypes of the varint states; buffer of each state that has one; first state.
//!
//! Which records share a chunk is not decided here.

mod buckets;
mod decoder;
mod encoder;
mod field_sink;
mod header;
mod included_fields;
mod jump;
mod message_fields;
mod message_nodes;
mod node;
mod pair_table;
mod run;
mod state_machine;
mod tag_sequence;
mod value_buffer;

pub use decoder::field_sizes::{FieldSize, FieldSizes};
pub(crate) use decoder::{TransposedDecoder, decode_record};
pub(crate) use encoder::{TransposedEncoder, encode_record};
pub(crate) use field_sink::{Choice, FieldSink};
pub(crate) use header::Kind;
pub(crate) use included_fields::IncludedFields;

/// Identifiers below 8, where no protobuf tag can be.
mod message_id {
    pub(super) const NO_OP: u32 = 0;
    pub(super) const NON_PROTO: u32 = 1;
    pub(super) const START_OF_SUBMESSAGE: u32 = 2;
    pub(super) const START_OF_MESSAGE: u32 = 3;
    /// The parent of top-level fields. Never stored.
    pub(super) const ROOT: u32 = 4;
}

/// The wire types of protobuf, and the one that ends a submessage.
mod wire_type {
    pub(super) const VARINT: u32 = 0;
    pub(super) const FIXED64: u32 = 1;
    pub(super) const LENGTH_DELIMITED: u32 = 2;
    pub(super) const START_GROUP: u32 = 3;
    pub(super) const END_GROUP: u32 = 4;
    pub(super) const FIXED32: u32 = 5;
    pub(super) const END_OF_SUBMESSAGE: u32 = 6;
}

/// Stands for a number that does not exist, in lists that would be too long if it did.
const NONE: u32 = u32::MAX;

/// A varint state holds the length of its values minus one, or from here on a value itself.
const VARINT_INLINE: u8 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{codec::Compression, varint::write_varint64};

    fn field(tag: u64, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_varint64(tag, &mut out);
        out.extend_from_slice(value);
        out
    }

    fn submessage(number: u64, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_varint64(number << 3 | 2, &mut out);
        write_varint64(content.len() as u64, &mut out);
        out.extend_from_slice(content);
        out
    }

    fn records() -> Vec<Vec<u8>> {
        let leaf = [field(8, &[1]), field(16, &[0x96, 1]), field(29, &[1, 2, 3, 4])].concat();
        let mut deep = leaf.clone();
        for number in 1..130 {
            deep = submessage(number % 7 + 1, &deep);
        }
        let many: Vec<u8> = (0..400_u64)
            .flat_map(|i| [submessage(i % 90 + 1, &leaf), field(i % 90 * 8 + 8 + 720, &[5])].concat())
            .collect();
        let groups = [field(11, &[]), field(8, &[200, 1]), field(25, &[0; 8]), field(12, &[])].concat();
        vec![
            vec![],
            field(8, &[0]),
            leaf.clone(),
            submessage(2, &leaf),
            submessage(2, b"not a message"),
            submessage(2, b""),
            [
                submessage(1, &leaf),
                submessage(1, &leaf),
                submessage(3, &submessage(1, &leaf)),
            ]
            .concat(),
            leaf.repeat(50),
            deep,
            many,
            groups,
            // Not messages: an unclosed group, a long form of a number, field number 0, text.
            field(11, &[]),
            field(8, &[0x80, 0]),
            field(2, &[0]),
            b"text, not a message".to_vec(),
        ]
    }

    #[test]
    fn records_come_back() {
        for compression in [
            Compression::None,
            Compression::brotli(6),
            Compression::zstd(3),
            Compression::Snappy,
        ] {
            for record in records() {
                let data = encode_record(&record, compression).expect("encodes");
                let found = decode_record(&data, record.len() as u64, 1 << 20);
                assert_eq!(found.as_ref(), Ok(&record), "{compression:?}");
            }
        }
    }

    #[test]
    fn damage_is_found() {
        for record in records().into_iter().filter(|record| record.len() < 2_000) {
            let data = encode_record(&record, Compression::None).expect("encodes");
            let size = record.len() as u64;
            for cut in 0..data.len() {
                let found = decode_record(&data[..cut], size, 1 << 20);
                assert_ne!(found.as_ref(), Ok(&record), "cut to {cut} of {} bytes", data.len());
            }
            assert!(decode_record(&data, size + 1, 1 << 20).is_err());
            for at in 0..data.len() {
                for bit in 0..8 {
                    let mut flipped = data.clone();
                    flipped[at] ^= 1 << bit;
                    // Whatever comes out has the size that the chunk header says.
                    if let Ok(found) = decode_record(&flipped, size, 1 << 20) {
                        assert_eq!(found.len() as u64, size);
                    }
                }
            }
        }
    }
}
