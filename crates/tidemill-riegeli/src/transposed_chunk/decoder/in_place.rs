//! Chunks without messages: their records are a bucket, one after the other and the last one first, and can be lent from there.

use crate::{
    record_values::read_short_limits,
    transposed_chunk::header::{Kind, State},
    varint::read_varint32,
};

/// Returns how many records the only state of a chunk makes, `None` when it makes something else, or transitions lead elsewhere.
pub(super) fn visits(state: State, transitions: &[u8]) -> Option<usize> {
    let only_records = state.kind == Kind::NonProto && !state.implicit;
    // Two bits count further visits.
    let count = |visits: usize, &byte| (byte < 4).then(|| visits.saturating_add(usize::from(byte) + 1));
    transitions.iter().try_fold(1, count).filter(|_| only_records)
}

/// Appends where each record ends by the `lengths` of them, and returns where the last one does. `None` when there are too few.
pub(super) fn read_limits(mut lengths: &[u8], num_records: usize, limits: &mut Vec<usize>) -> Option<usize> {
    if let Some(end) = read_short_limits(lengths, num_records as u64, limits) {
        return Some(end);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::Compression,
        error::Damage,
        transposed_chunk::{TransposedDecoder, decoder::tests::encoded},
    };

    const LIMIT: usize = 1 << 20;

    fn records() -> Vec<Vec<u8>> {
        let text = |number: usize| format!("{{\"number\": {number}}}").repeat(1 + number % 15).into_bytes();
        (0..50).map(text).collect()
    }

    #[test]
    fn records_that_are_no_messages_are_borrowed_from_the_chunk() {
        let records = records();
        for count in [1, 2, 3, 4, 5, 9, 50] {
            for compression in [Compression::None, Compression::zstd(3), Compression::Snappy] {
                let (data, size) = encoded(&records[..count], compression);
                let mut decoder = TransposedDecoder::default();
                let decoded = decoder.decode(&data, count as u64, size, None, LIMIT, u64::MAX);
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
        let (data, size) = encoded(&records, Compression::None);
        let mut decoder = TransposedDecoder::default();
        decoder.decode(&data, 51, size, None, LIMIT, u64::MAX).expect("sound");
        assert!(!decoder.out.is_empty());
        assert!(decoder.records(&data).iter().eq(records.iter().map(Vec::as_slice)));
    }

    #[test]
    fn chunks_that_do_not_add_up_are_refused() {
        let (data, size) = encoded(&records(), Compression::None);
        let mut decoder = TransposedDecoder::default();
        let mut check = |num_records, size, expected: Damage| {
            let found = decoder.decode(&data, num_records, size, None, LIMIT, u64::MAX);
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
    fn only_as_much_is_decompressed_as_is_asked_for() {
        // More than a block of Zstandard. A brace is a group that does not end.
        let text = |number: u32| {
            format!("{{{:08x}", number.wrapping_mul(2_654_435_761))
                .repeat(3)
                .into_bytes()
        };
        let records: Vec<Vec<u8>> = (0..30_000).map(text).collect();
        let (data, size) = encoded(&records, Compression::zstd(3));
        let count = records.len() as u64;
        let mut decoder = TransposedDecoder::default();
        for wanted in [count - 1, 20_000, 4_000, 0] {
            let decoded = decoder.decode(&data, count, size, None, LIMIT, wanted);
            assert_eq!(decoded, Ok(()), "from {wanted} on");
            let available = decoder.available();
            assert!(available.contains(&wanted) && available.end == count);
            assert_eq!(available.start == 0, wanted < 1_000, "from {wanted} on");
            for index in (available.start..count).step_by(997) {
                let index = usize::try_from(index).expect("small");
                assert_eq!(decoder.records(&data).get(index), records[index]);
            }
            for more in [available.start / 2, u64::MAX] {
                decoder.extend(&data, more).expect("sound");
                assert!(decoder.available().start <= more);
            }
            assert_eq!(decoder.available(), 0..count);
            assert!(decoder.records(&data).iter().eq(records.iter().map(Vec::as_slice)));
        }
    }

    #[test]
    fn transitions_that_lead_elsewhere_are_no_visits() {
        let state = State {
            kind: Kind::NonProto,
            tag: 0,
            buffer: 0,
            next: 0,
            implicit: false,
        };
        assert_eq!(visits(state, &[]), Some(1));
        assert_eq!(visits(state, &[3, 0, 2]), Some(9));
        assert_eq!(visits(state, &[3, 4]), None);
        let other = State {
            kind: Kind::StartOfMessage,
            ..state
        };
        assert_eq!(visits(other, &[0]), None);
        assert_eq!(
            visits(
                State {
                    implicit: true,
                    ..state
                },
                &[0]
            ),
            None
        );
    }
}
