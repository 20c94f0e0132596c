//! Chunks without messages: their records lie one behind the other in a buffer, the last one first, and can be lent from there.

use std::ops::Range;

use crate::{
    transposed_chunk::{
        buckets::Buckets,
        header::{Kind, State},
    },
    varint::read_varint32,
};

/// Returns where the records, of `size` bytes in all, are in the bytes of the buckets, and fills `limits` with where each ends
/// from there on. `None` when the chunk, whose one state is `state`, must be run over: for its records, or to tell what is
/// wrong with it.
pub(super) fn find(
    state: State,
    transitions: &[u8],
    buckets: &Buckets,
    data: &[u8],
    (num_records, size): (usize, usize),
    limits: &mut Vec<usize>,
) -> Option<Range<usize>> {
    // The lengths of the records are in the last buffer.
    let lengths = buckets.num_buffers().checked_sub(1)?;
    let values = buckets.buffer(state.buffer as usize);
    if state.kind != Kind::NonProto
        || state.buffer as usize == lengths
        || size > values.len()
        || num_records != visits(transitions)?
    {
        return None;
    }
    let lengths = buckets.bytes(data).get(buckets.buffer(lengths))?;
    if read_limits(lengths, num_records, limits) != Some(size) {
        limits.clear();
        return None;
    }
    Some(values.start..values.start + size)
}

/// Appends where each record ends, and returns where the last one does.
fn read_limits(mut lengths: &[u8], num_records: usize, limits: &mut Vec<usize>) -> Option<usize> {
    limits.reserve(num_records.min(lengths.len()));
    let mut end = 0_usize;
    for _ in 0..num_records {
        let (length, behind) = read_varint32(lengths)?;
        end = end.checked_add(length as usize)?;
        limits.push(end);
        lengths = behind;
    }
    Some(end)
}

/// Returns how often transitions between a state and itself visit it, `None` when they lead elsewhere.
fn visits(transitions: &[u8]) -> Option<usize> {
    // At most four for each byte, of which there are at most as many as fit memory.
    transitions.iter().try_fold(1_usize, |visits, &byte| {
        (byte < 4).then(|| visits.saturating_add(usize::from(byte) + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::Compression,
        error::Damage,
        transposed_chunk::{TransposedDecoder, TransposedEncoder},
    };

    const LIMIT: usize = 1 << 20;

    fn records() -> Vec<Vec<u8>> {
        let text = |number: usize| format!("{{\"number\": {number}}}").repeat(1 + number % 15).into_bytes();
        (0..50).map(text).collect()
    }

    fn encode(records: &[Vec<u8>], compression: Compression) -> (Vec<u8>, u64) {
        let mut encoder = TransposedEncoder::new(compression, u64::MAX);
        records.iter().for_each(|record| encoder.add_record(record));
        encoder.encode().expect("encodes");
        (encoder.encoded_parts().concat(), encoder.decoded_data_size())
    }

    #[test]
    fn records_that_are_no_messages_are_lent_from_the_chunk() {
        let records = records();
        for count in [1, 2, 3, 4, 5, 9, 50] {
            for compression in [Compression::None, Compression::zstd(3), Compression::Snappy] {
                let (data, size) = encode(&records[..count], compression);
                let mut decoder = TransposedDecoder::default();
                let decoded = decoder.decode(&data, count as u64, size, None, LIMIT);
                assert_eq!(decoded, Ok(()), "{count} records, {compression:?}");
                assert!(decoder.out.is_empty(), "nothing is written out");
                let found = decoder.records(&data);
                assert!(found.iter().eq(records[..count].iter().map(Vec::as_slice)));
                assert_eq!(found.try_get(count), None);
                if compression == Compression::None {
                    let place = found.get(count - 1).as_ptr_range();
                    assert!(data.as_ptr_range().contains(&place.start), "{count} records");
                }
            }
        }
    }

    #[test]
    fn a_message_among_them_makes_a_run_necessary() {
        let mut records = records();
        records.insert(7, vec![8, 1]);
        let (data, size) = encode(&records, Compression::None);
        let mut decoder = TransposedDecoder::default();
        decoder.decode(&data, 51, size, None, LIMIT).expect("sound");
        assert!(!decoder.out.is_empty());
        assert!(decoder.records(&data).iter().eq(records.iter().map(Vec::as_slice)));
    }

    #[test]
    fn chunks_that_do_not_add_up_are_refused() {
        let (data, size) = encode(&records(), Compression::None);
        let mut decoder = TransposedDecoder::default();
        let mut check = |num_records, size, expected: Damage| {
            let found = decoder.decode(&data, num_records, size, None, LIMIT);
            assert_eq!(found, Err(expected), "{num_records} records, {size} bytes");
            assert!(decoder.records(&data).is_empty());
        };
        check(
            51,
            size,
            Damage::Mismatch {
                what: "number of records",
                expected: 51,
                found: 50,
            },
        );
        check(
            49,
            size,
            Damage::Invalid {
                what: "number of records",
            },
        );
        check(
            50,
            size + 1,
            Damage::Mismatch {
                what: "size of the decoded data",
                expected: size + 1,
                found: size,
            },
        );
        check(
            50,
            size - 1,
            Damage::Invalid {
                what: "size of the decoded data: there are more",
            },
        );
    }

    #[test]
    fn transitions_that_lead_elsewhere_are_no_visits() {
        assert_eq!(visits(&[]), Some(1));
        assert_eq!(visits(&[3, 0, 2]), Some(9));
        assert_eq!(visits(&[3, 4]), None);
    }
}
