//! Simple chunks: the sizes of the records, then their bytes one after another, both perhaps compressed.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Simple chunk with records".
//!
//! The encoder is fed straight into the section buffers; the decoder returns records borrowed from the decompressed section, or from
//! the chunk data themselves when they are not compressed.

use std::ops::Range;

use crate::{
    codec::{Compression, CompressionType, Compressor, Decompressor, Scratch, Section, Size},
    error::Damage,
    record_values::{Order, RecordSlices, RecordValues, read_short_limits},
    varint::{read_varint64, varint64_bytes, write_varint64},
};

/// Smaller chunks take Snappy hardly longer than it takes to have them come from another processor's cache.
const DEAR_SNAPPY_CHUNK: u64 = 32 << 10;

/// Collects the records of a chunk.
pub(crate) struct SimpleEncoder {
    compressor: Compressor,
    sizes: Vec<u8>,
    values: Section,
    num_records: u64,
    /// What comes before the values.
    head: Vec<u8>,
}

impl SimpleEncoder {
    /// `size_hint` is what the record values are expected to grow to, if that is known.
    pub(crate) fn new(compression: Compression, size_hint: Option<u64>) -> Self {
        Self {
            compressor: Compressor::new(compression),
            sizes: Vec::new(),
            values: Section::new(size_hint),
            num_records: 0,
            head: Vec::new(),
        }
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compressor.compression()
    }

    /// Sets what the record values are expected to grow to. There are none yet.
    pub(crate) fn set_size_hint(&mut self, size_hint: Option<u64>) {
        self.values.set_size_hint(size_hint);
    }

    /// Returns how many bytes its buffers have.
    pub(crate) fn memory(&self) -> usize {
        self.sizes.capacity() + self.head.capacity() + self.values.memory()
    }

    #[inline]
    pub(crate) fn add_record(&mut self, record: &[u8]) {
        self.compressor.push(record, &mut self.values);
        write_varint64(record.len() as u64, &mut self.sizes);
        self.num_records += 1;
    }

    pub(crate) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        let before = self.values.size();
        for part in parts {
            self.compressor.push(part, &mut self.values);
        }
        write_varint64(self.values.size() - before, &mut self.sizes);
        self.num_records += 1;
    }

    /// Adds `records`, which end at `limits`, to an empty chunk. Leaves anything in `records`.
    pub(crate) fn add_records(&mut self, records: &mut Vec<u8>, limits: &[usize]) {
        debug_assert_eq!(self.num_records, 0);
        let mut start = 0;
        let takes_all = self.compressor.take_all(records, &mut self.values);
        for &limit in limits {
            if !takes_all {
                self.compressor.push(&records[start..limit], &mut self.values);
            }
            write_varint64((limit - start) as u64, &mut self.sizes);
            start = limit;
        }
        self.num_records += limits.len() as u64;
    }

    #[inline]
    pub(crate) fn num_records(&self) -> u64 {
        self.num_records
    }

    pub(crate) fn decoded_data_size(&self) -> u64 {
        self.values.size()
    }

    pub(crate) fn encode(&mut self) -> Result<(), Damage> {
        let compression = self.compressor.compression();
        if compression == Compression::None {
            self.encode_sizes();
            return Ok(());
        }
        self.head.clear();
        self.head.push(compression.compression_type().to_byte());
        self.compressor.finish(&mut self.values)?;
        // The size of the compressed sizes precedes them and is known only afterwards.
        let start = self.head.len();
        self.compressor.append(&self.sizes, None, &mut self.head)?;
        let section = self.head.len() - start;
        let (bytes, length) = varint64_bytes(section as u64);
        self.head.splice(start..start, bytes.into_iter().take(length));
        self.compressor.append_size(self.values.size(), &mut self.head);
        Ok(())
    }

    /// Makes all of the data but the values, which are not compressed.
    fn encode_sizes(&mut self) {
        self.head.clear();
        self.head.push(CompressionType::None.to_byte());
        write_varint64(self.sizes.len() as u64, &mut self.head);
        self.head.extend_from_slice(&self.sizes);
    }

    /// Returns the parts of the data of a chunk of one record, which is lent, not copied. No other one was added. `None` when
    /// records are compressed.
    pub(crate) fn encode_alone<'a>(&'a mut self, record: &'a [u8]) -> Option<[&'a [u8]; 2]> {
        debug_assert_eq!(self.num_records, 0);
        if self.compressor.compression() != Compression::None {
            return None;
        }
        write_varint64(record.len() as u64, &mut self.sizes);
        self.encode_sizes();
        self.sizes.clear();
        Some([&self.head, record])
    }

    /// Returns the parts of the data that [`Self::encode`] made.
    pub(crate) fn encoded_parts(&self) -> [&[u8]; 2] {
        [&self.head, self.compressor.finished(&self.values)]
    }

    /// Returns whether the chunk is dear enough to encode for a thread.
    pub(crate) fn pays_threads(&self) -> bool {
        match self.compressor.compression() {
            // The hash takes less than waking a thread up.
            Compression::None => false,
            Compression::Snappy | Compression::SnappyDense => self.values.size() >= DEAR_SNAPPY_CHUNK,
            Compression::Brotli { .. } | Compression::Zstd { .. } => true,
        }
    }

    /// Swaps the parts of the data that [`Self::encode`] made for memory to use instead.
    pub(crate) fn swap_encoded(&mut self, [head, values]: &mut [Vec<u8>; 2]) {
        std::mem::swap(&mut self.head, head);
        std::mem::swap(self.compressor.finished_mut(&mut self.values), values);
    }

    pub(crate) fn clear(&mut self) {
        self.sizes.clear();
        self.compressor.clear(&mut self.values);
        self.num_records = 0;
    }
}

/// Decodes chunks one after another into the same buffers.
#[derive(Default)]
pub(crate) struct SimpleDecoder {
    decompressor: Decompressor,
    sizes: Scratch,
    values: RecordValues,
}

impl SimpleDecoder {
    /// Returns the records that are available, of the chunk that was decoded from `data`.
    #[inline]
    pub(crate) fn records<'a>(&'a self, data: &'a [u8]) -> RecordSlices<'a> {
        self.values.records(data)
    }

    /// Returns the records that are available: all of them, unless only the first ones were wanted.
    pub(crate) fn available(&self) -> Range<u64> {
        self.values.available()
    }

    /// Makes the records up to that of number `index` available. `data` are those that the chunk was decoded from.
    pub(crate) fn extend(&mut self, data: &[u8], index: u64) -> Result<(), Damage> {
        self.values.extend(&mut self.decompressor, data, index)
    }

    /// Decodes `data` of a chunk whose header says `num_records` and `decoded_data_size`. No section may grow beyond `limit`
    /// bytes. After an error there are no records. Those after the record of number `wanted` may be left to
    /// [`Self::extend`].
    pub(crate) fn decode(
        &mut self,
        data: &[u8],
        num_records: u64,
        decoded_data_size: u64,
        limit: usize,
        wanted: u64,
    ) -> Result<(), Damage> {
        let limits = self.values.start(Order::FirstToLast);
        let decoded_size = usize::try_from(decoded_data_size)
            .ok()
            .filter(|&size| size <= limit)
            .ok_or(Damage::TooLarge {
                what: "the decoded data",
                limit: limit as u64,
                found: decoded_data_size,
            })?;
        let (compression, sizes, values) = sections(data)?;
        let sizes = match compression {
            CompressionType::None => sizes,
            _ => {
                // A record size takes at most ten bytes.
                let bound = usize::try_from(num_records.saturating_mul(10)).unwrap_or(usize::MAX);
                let size = Size::AtMost(bound.min(limit));
                self.decompressor
                    .decompress(compression, sizes, size, &mut self.sizes)?;
                self.sizes.as_slice()
            }
        };
        if let Err(damage) = read_limits(sizes, num_records, decoded_size, limits) {
            self.values.clear();
            return Err(damage);
        }
        if compression == CompressionType::None && values.len() != decoded_size {
            self.values.clear();
            return Err(Damage::Mismatch {
                what: "size of the record values",
                expected: decoded_data_size,
                found: values.len() as u64,
            });
        }
        let section = data.len() - values.len()..data.len();
        self.values
            .decode(&mut self.decompressor, compression, data, section, wanted)
    }
}

/// Splits chunk data into the compression type, the sizes and the values.
fn sections(data: &[u8]) -> Result<(CompressionType, &[u8], &[u8]), Damage> {
    let (&byte, rest) = data.split_first().ok_or(Damage::Invalid {
        what: "compression type",
    })?;
    let compression = CompressionType::from_byte(byte)?;
    let (size, rest) = read_varint64(rest).ok_or(Damage::Invalid {
        what: "size of the record sizes",
    })?;
    usize::try_from(size)
        .ok()
        .and_then(|size| rest.split_at_checked(size))
        .map(|(sizes, values)| (compression, sizes, values))
        .ok_or(Damage::Mismatch {
            what: "size of the record sizes",
            expected: rest.len() as u64,
            found: size,
        })
}

fn read_limits(mut sizes: &[u8], num_records: u64, decoded_size: usize, limits: &mut Vec<usize>) -> Result<(), Damage> {
    if read_short_limits(sizes, num_records, limits) == Some(decoded_size) {
        return Ok(());
    }
    limits.clear();
    // Every size takes a byte, so there are no more records than bytes left.
    limits.reserve(usize::try_from(num_records).unwrap_or(usize::MAX).min(sizes.len()));
    let mut limit = 0_usize;
    for _ in 0..num_records {
        let (size, rest) = read_varint64(sizes).ok_or(Damage::Invalid { what: "record size" })?;
        limit = usize::try_from(size)
            .ok()
            .and_then(|size| limit.checked_add(size))
            .filter(|&limit| limit <= decoded_size)
            .ok_or(Damage::Mismatch {
                what: "sum of the record sizes",
                expected: decoded_size as u64,
                found: (limit as u64).saturating_add(size),
            })?;
        limits.push(limit);
        sizes = rest;
    }
    if !sizes.is_empty() {
        return Err(Damage::Invalid {
            what: "record sizes: bytes are left over",
        });
    }
    if limit != decoded_size {
        return Err(Damage::Mismatch {
            what: "sum of the record sizes",
            expected: decoded_size as u64,
            found: limit as u64,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(compression: Compression, records: &[&[u8]]) -> (Vec<u8>, u64) {
        let mut encoder = SimpleEncoder::new(compression, Some(1 << 20));
        for record in records {
            encoder.add_record(record);
        }
        encoder.encode().expect("encodes");
        (encoder.encoded_parts().concat(), encoder.decoded_data_size())
    }

    #[test]
    fn the_layout_of_an_uncompressed_chunk() {
        let (data, size) = encode(Compression::None, &[b"ab", b"", b"c"]);
        assert_eq!(data, b"\0\x03\x02\x00\x01abc");
        assert_eq!(size, 3);
    }

    #[test]
    fn chunks_that_do_not_add_up_are_refused() {
        let mut decoder = SimpleDecoder::default();
        let mut check = |data: &[u8], num_records, size, expected: Damage| {
            assert_eq!(
                decoder.decode(data, num_records, size, 1 << 20, u64::MAX),
                Err(expected),
                "{data:?}"
            );
            assert!(decoder.records(data).is_empty());
        };
        let sum = |expected, found| Damage::Mismatch {
            what: "sum of the record sizes",
            expected,
            found,
        };
        check(
            b"",
            0,
            0,
            Damage::Invalid {
                what: "compression type",
            },
        );
        check(b"x\0", 0, 0, Damage::UnknownCompression { byte: b'x' });
        check(
            b"\0",
            0,
            0,
            Damage::Invalid {
                what: "size of the record sizes",
            },
        );
        check(
            b"\0\x02\x01",
            1,
            1,
            Damage::Mismatch {
                what: "size of the record sizes",
                expected: 1,
                found: 2,
            },
        );
        check(b"\0\x01\x01a", 2, 1, Damage::Invalid { what: "record size" });
        check(
            b"\0\x02\x01\x00a",
            1,
            1,
            Damage::Invalid {
                what: "record sizes: bytes are left over",
            },
        );
        check(b"\0\x01\x02ab", 1, 1, sum(1, 2));
        check(b"\0\x01\x01a", 1, 2, sum(2, 1));
        check(
            b"\0\x01\x01ab",
            1,
            1,
            Damage::Mismatch {
                what: "size of the record values",
                expected: 1,
                found: 2,
            },
        );
        check(
            b"\0\x00",
            0,
            2 << 20,
            Damage::TooLarge {
                what: "the decoded data",
                limit: 1 << 20,
                found: 2 << 20,
            },
        );
    }

    #[test]
    fn cut_chunks_are_refused() {
        let records: Vec<&[u8]> = vec![b"alpha", b"", b"beta, beta, beta, beta, beta, beta"];
        for compression in [
            Compression::None,
            Compression::brotli(6),
            Compression::zstd(3),
            Compression::Snappy,
        ] {
            let (data, size) = encode(compression, &records);
            let mut decoder = SimpleDecoder::default();
            decoder.decode(&data, 3, size, 1 << 20, u64::MAX).expect("decodes");
            let found: Vec<&[u8]> = (0..3).map(|index| decoder.records(&data).get(index)).collect();
            assert_eq!(found, records, "{compression:?}");
            for cut in 0..data.len() {
                assert!(
                    decoder.decode(&data[..cut], 3, size, 1 << 20, u64::MAX).is_err(),
                    "{compression:?} cut to {cut}"
                );
            }
        }
    }

    #[test]
    fn records_become_available_as_they_are_wanted() {
        let records: Vec<Vec<u8>> = (0..3_000_u32)
            .map(|number| number.to_string().repeat(60).into_bytes())
            .collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        for compression in [Compression::zstd(3), Compression::brotli(1), Compression::None] {
            let (data, size) = encode(compression, &slices);
            let mut decoder = SimpleDecoder::default();
            let mut decode = |wanted: &[u64]| {
                decoder.decode(&data, 3_000, size, 1 << 30, wanted[0]).expect("decodes");
                for &wanted in wanted {
                    decoder.extend(&data, wanted).expect("decodes");
                    let found = decoder.records(&data);
                    assert!(found.len() as u64 > wanted.min(2_999));
                    assert!(found.iter().zip(&records).all(|(found, record)| found == record));
                }
                decoder.available().end
            };
            assert_eq!(decode(&[u64::MAX]), 3_000);
            assert_eq!(decode(&[10, 5, 10, 2_000, 7, u64::MAX, 3]), 3_000);
            let first = decode(&[0]);
            assert_eq!(first == 3_000, compression != Compression::zstd(3), "{compression:?}");
            assert_eq!(decode(&[2_999]), 3_000);
        }
    }

    #[test]
    fn damage_behind_the_wanted_record_is_found_when_it_is_reached() {
        let records: Vec<Vec<u8>> = (0..40_000_u32)
            .map(|number| (number ^ 0x5a5a).to_string().into_bytes())
            .collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let (sound, size) = encode(Compression::zstd(3), &slices);
        let mut decoder = SimpleDecoder::default();
        for (what, data) in [
            ("cut", sound[..sound.len() - 1].to_vec()),
            ("more", [&sound[..], &[0]].concat()),
            ("cut in the middle", sound[..sound.len() * 3 / 4].to_vec()),
        ] {
            assert!(
                decoder.decode(&data, 40_000, size, 1 << 30, u64::MAX).is_err(),
                "{what}"
            );
            decoder
                .decode(&data, 40_000, size, 1 << 30, 10)
                .expect("the beginning is sound");
            assert_eq!(decoder.records(&data).get(10), records[10]);
            assert!(decoder.extend(&data, 39_999).is_err(), "{what}");
            assert!(decoder.available().is_empty());
        }
    }
}
