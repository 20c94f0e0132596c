//! Runs that come to rest once they have a wanted record. The last record of a chunk comes first, so those after the wanted one
//! are there too, and those before are left until they are asked for.

use super::TransposedDecoder;
use crate::{
    error::Damage,
    transposed_chunk::{
        field_sink::Records,
        run::{Input, SLACK},
    },
};

/// What a run over a chunk continues with, besides what the decoder keeps anyway.
#[derive(Clone, Copy)]
pub(super) struct Resting {
    /// Where the transitions begin and end in the chunk data, when they are not compressed.
    pub(super) transitions: Option<(usize, usize)>,
    /// How much of the output the run may use.
    pub(super) room: usize,
}

impl TransposedDecoder {
    /// Runs on until the record of number `wanted` is there, or all are when there is none.
    pub(super) fn go_on(&mut self, resting: Resting, data: &[u8], wanted: u64) -> Result<(), Damage> {
        let room = resting.room;
        let transitions = match resting.transitions {
            Some((start, end)) => data.get(start..end).unwrap_or_default(),
            None => self.transitions.as_slice(),
        };
        self.run.rest_at(wanted);
        let (bytes, cursors) = self.buckets.bytes_and_cursors(data);
        let input = Input {
            nodes: &self.nodes,
            jumps: &[],
            transitions,
            bytes,
            cursors,
        };
        let out = self.out.get_mut(..room).unwrap_or_default();
        self.limits.clear();
        self.run.proceed(input, out, &mut Records)?;
        let begin = match self.run.transition == transitions.len() {
            true => {
                let begin = self.run.finish(&mut self.limits)?;
                if begin != SLACK {
                    self.limits.clear();
                    return Err(Damage::Mismatch {
                        what: "size of the decoded data",
                        expected: (room - SLACK) as u64,
                        found: (room - begin) as u64,
                    });
                }
                begin
            }
            false => {
                self.resting = Some(resting);
                self.run.records_so_far(&mut self.limits)?
            }
        };
        self.written = begin..room;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{codec::Compression, transposed_chunk::decoder::tests::encoded};

    const LIMIT: usize = 1 << 20;

    /// Messages with a number, a text and a submessage, and some records that are no messages.
    fn records() -> Vec<Vec<u8>> {
        let record = |number: u8| match number % 13 {
            5 => b"{no message}".to_vec(),
            7 => Vec::new(),
            _ => {
                let mut record = vec![8, number % 128, 18, number % 5];
                record.extend(std::iter::repeat_n(b'a' + number % 26, usize::from(number % 5)));
                record.extend([26, 2, 8, number % 3]);
                record
            }
        };
        (0..200).map(record).collect()
    }

    #[test]
    fn records_are_put_together_as_they_are_asked_for() {
        let records = records();
        let count = records.len() as u64;
        for compression in [Compression::None, Compression::zstd(3)] {
            let (data, size) = encoded(&records, compression);
            let mut decoder = TransposedDecoder::default();
            for wanted in [
                &[199][..],
                &[0],
                &[u64::MAX],
                &[198, 197, 150, 199, 20, 1, 0],
                &[120, 200],
            ] {
                for (place, &index) in wanted.iter().enumerate() {
                    match place {
                        0 => decoder.decode(&data, count, size, None, LIMIT, index),
                        _ => decoder.extend(&data, index),
                    }
                    .expect("sound");
                    let available = decoder.available();
                    assert_eq!(available.end, count);
                    assert!(
                        available.start <= index && (available.start == 0 || index < count),
                        "{index}"
                    );
                    assert!(available.start > 0 || index < 20 || index >= count, "{index}");
                    for index in available {
                        let index = usize::try_from(index).expect("small");
                        assert_eq!(decoder.records(&data).get(index), records[index]);
                    }
                }
            }
        }
    }

    #[test]
    fn damage_before_the_wanted_record_is_found_when_it_is_reached() {
        let records = records();
        let count = records.len() as u64;
        let (data, size) = encoded(&records, Compression::None);
        let mut decoder = TransposedDecoder::default();
        for (count, size) in [
            (count, size - 1),
            (count, size + 1),
            (count - 1, size),
            (count + 1, size),
        ] {
            let decoded = decoder.decode(&data, count, size, None, LIMIT, u64::MAX);
            let damage = decoded.expect_err("does not add up");
            assert!(decoder.available().is_empty());
            decoder
                .decode(&data, count, size, None, LIMIT, count - 1)
                .expect("the end is sound");
            let last = usize::try_from(count - 1).expect("small");
            assert_eq!(decoder.records(&data).get(last), records[199]);
            assert_eq!(decoder.extend(&data, 0), Err(damage));
            assert!(decoder.available().is_empty());
        }
    }

    #[test]
    fn no_list_is_made_of_records_that_there_cannot_be() {
        let (data, size) = encoded(&records(), Compression::None);
        let mut decoder = TransposedDecoder::default();
        let count = 1 << 40;
        assert!(decoder.decode(&data, count, size, None, LIMIT, count - 1).is_err());
        assert!(decoder.limits.capacity() < 1 << 16);
    }
}
