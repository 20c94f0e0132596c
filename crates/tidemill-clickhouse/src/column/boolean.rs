//! `Bool`: a byte for each value, 0 or 1. Also the null maps of `Nullable`, which have the same form.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, cast::AsArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::{Input, Output};
use crate::Result;

pub(super) async fn read(input: &mut Input<'_>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let bytes = input.bytes(rows, 1, "booleans").await?;
    Ok(Arc::new(BooleanArray::new(pack(bytes.as_slice()), nulls)))
}

pub(super) fn write(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    let booleans = array
        .as_boolean_opt()
        .ok_or_else(|| output.array_type("Boolean", array.data_type()))?;
    unpack(output.bytes, booleans.values(), 0);
    Ok(())
}

/// A bit for each byte, set where the byte is not 0.
pub(super) fn pack(bytes: &[u8]) -> BooleanBuffer {
    let mut bits = Vec::with_capacity(bytes.len().div_ceil(8));
    let (chunks, rest) = bytes.as_chunks::<8>();
    bits.extend(chunks.iter().map(|chunk| pack8(*chunk)));
    if !rest.is_empty() {
        let mut chunk = [0; 8];
        chunk.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        bits.push(pack8(chunk));
    }
    BooleanBuffer::new(bits.into(), 0, bytes.len())
}

/// A byte for each bit, 1 where it is not `zero`.
pub(super) fn unpack(bytes: &mut Vec<u8>, bits: &BooleanBuffer, zero: u8) {
    let chunks = bits.bit_chunks();
    let invert = LOW * u64::from(zero);
    bytes.reserve(bits.len() + 64);
    let end = bytes.len() + bits.len();
    for chunk in chunks.iter().chain([chunks.remainder_bits()]) {
        bytes.extend(
            chunk
                .to_le_bytes()
                .into_iter()
                .flat_map(|bits| (unpack8(bits) ^ invert).to_le_bytes()),
        );
    }
    bytes.truncate(end);
}

/// The low bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;

/// A byte for each bit, the lowest first: 0 or 1.
fn unpack8(bits: u8) -> u64 {
    // In each byte the bit of its position, which then moves to the top.
    let word = (LOW * u64::from(bits)) & 0x8040_2010_0804_0201;
    ((word + LOW * 0x7F) >> 7) & LOW
}

fn pack8(bytes: [u8; 8]) -> u8 {
    let word = u64::from_le_bytes(bytes);
    // The low bit of each byte: whether any bit of the byte is set.
    let word = if word & !LOW == 0 {
        word
    } else {
        ((word | (word & !(LOW << 7)).wrapping_add(LOW * 0x7F)) >> 7) & LOW
    };
    // Each product bit of the top byte is one of the eight low bits.
    word.wrapping_mul(0x0102_0408_1020_4080).to_be_bytes()[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_say_which_bytes_are_not_zero(bytes in prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..150)) {
            let expected: Vec<bool> = bytes.iter().map(|byte| *byte != 0).collect();
            let bits = pack(&bytes);
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), expected.clone());
            for begin in 0..bytes.len() {
                let mut unpacked = vec![7];
                unpack(&mut unpacked, &bits.slice(begin, bytes.len() - begin), 1);
                let expected = expected[begin..].iter().map(|bit| u8::from(!bit));
                prop_assert_eq!(unpacked, [7].into_iter().chain(expected).collect::<Vec<_>>());
            }
        }
    }
}
