//! Records by their number in the file.
//!
//! Riegeli/records files have no such index; the chunk headers say how many records each chunk has, and reading them once
//! makes one: 16 bytes for each chunk with records. ArrayRecord files have one.
//!
//! Records that damage in chunk data takes away are counted, since the data are not read.

use crate::{RecordPosition, Source, array_record::ArrayRecordReader};

/// Where the records of a file are, by their numbers from 0.
///
/// ```
/// use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};
///
/// let mut writer = RecordWriter::new(Vec::new(), WriterOptions::new().chunk_size(100))?;
/// for number in 0..1_000 {
///     writer.write_record(format!("record {number}").as_bytes())?;
/// }
/// let mut reader = RecordReader::from_bytes(writer.close()?)?;
/// let index = reader.index_records()?;
/// assert_eq!(index.len(), 1_000);
/// reader.seek(index.position(777).expect("a record"))?;
/// assert_eq!(reader.read_record()?, Some(&b"record 777"[..]));
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordIndex {
    /// For each chunk with records the number of its first one, and where it begins.
    chunks: Vec<(u64, u64)>,
    len: u64,
    /// The largest mean record length of any chunk, or 0 if it is unknown.
    mean_length: u64,
}

/// Where the same records are.
impl PartialEq for RecordIndex {
    fn eq(&self, other: &Self) -> bool {
        (&self.chunks, self.len) == (&other.chunks, other.len)
    }
}

impl Eq for RecordIndex {}

impl RecordIndex {
    /// Returns the index of an ArrayRecord file, which has one, for a [`RecordReader`](crate::RecordReader) of the file.
    pub fn of_array_record<S: Source>(reader: &ArrayRecordReader<S>) -> Self {
        let mut index = Self::default();
        for (begin, records) in (0..reader.num_chunks()).filter_map(|chunk| reader.chunk(chunk)) {
            index.push(begin, records.end.saturating_sub(records.start), 0);
        }
        index
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the largest mean record length of any chunk, in bytes; `None` if chunk headers were not read.
    pub fn mean_length(&self) -> Option<u64> {
        (self.mean_length > 0).then_some(self.mean_length)
    }

    /// Returns where a record is, `None` when there are not as many.
    pub fn position(&self, record: u64) -> Option<RecordPosition> {
        if record >= self.len {
            return None;
        }
        let behind = self.chunks.partition_point(|&(first, _)| first <= record);
        let &(first, begin) = self.chunks.get(behind.checked_sub(1)?)?;
        Some(RecordPosition::new(begin, record - first))
    }

    /// Adds the chunk that begins at `begin`, after those before.
    pub(crate) fn push(&mut self, begin: u64, num_records: u64, decoded_size: u64) {
        if let Some(mean_length) = decoded_size.checked_div(num_records) {
            self.mean_length = self.mean_length.max(mean_length);
            self.chunks.push((self.len, begin));
            self.len = self.len.saturating_add(num_records);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_those_of_counting(counts in prop::collection::vec(0..5_u64, 0..50)) {
            let mut index = RecordIndex::default();
            let mut expected = Vec::new();
            for (chunk, &count) in counts.iter().enumerate() {
                let begin = chunk as u64 * 100;
                index.push(begin, count, 7 * count);
                expected.extend((0..count).map(|record| RecordPosition::new(begin, record)));
            }
            prop_assert_eq!(index.len(), expected.len() as u64);
            prop_assert_eq!(index.is_empty(), expected.is_empty());
            prop_assert_eq!(index.mean_length(), (!expected.is_empty()).then_some(7));
            let found: Vec<_> = (0..index.len()).filter_map(|record| index.position(record)).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(index.position(index.len()), None);
        }
    }
}
