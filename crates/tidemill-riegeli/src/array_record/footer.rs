//! The footer and the postscript: where the chunks are.
//!
//! Source: google/array_record, `cpp/layout.proto`; the version and the magic number are in `cpp/array_record_writer.cc`.

use prost::Message;

use super::ending::far_end_of_footer;
use crate::{
    ChunkReader, Error, ReaderOptions, Result, SkippedRegion, Source,
    block_header::BLOCK_SIZE,
    chunk_decoder::ChunkDecoder,
    error::{ArrayRecordProblem, Damage},
    record_values::RecordSlices,
};

pub(super) const VERSION: u32 = 1;
pub(super) const MAGIC: u64 = 0x7193_0e70_4fda_e05e;
/// How often the postscript is in its chunk.
pub(super) const POSTSCRIPT_COPIES: usize = 3;

/// A record of the footer chunk: a chunk of records.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ArrayRecordFooter {
    #[prost(uint64, optional, tag = "1")]
    pub(super) chunk_offset: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) decoded_data_size: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) num_records: Option<u64>,
}

/// The first record of the footer chunk.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RiegeliFooterMetadata {
    #[prost(message, optional, tag = "1")]
    pub(super) array_record_metadata: Option<ArrayRecordMetadata>,
}

/// What the footer says of the file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ArrayRecordMetadata {
    #[prost(uint32, optional, tag = "1")]
    pub(super) version: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) num_chunks: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) num_records: Option<u64>,
    #[prost(string, optional, tag = "4")]
    pub(super) writer_options: Option<String>,
}

/// A record of the postscript chunk.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RiegeliPostscript {
    #[prost(uint64, optional, tag = "1")]
    pub(super) footer_offset: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) magic: Option<u64>,
}

/// Where the chunks of records are, and how many each has.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) footer_offset: u64,
    /// The number of records up to the end of each chunk.
    pub(super) ends: Vec<u64>,
    pub(super) chunk_offsets: Vec<u64>,
    /// The number of records in every chunk, but for the last one, if that is the same.
    pub(super) group_size: Option<u64>,
    pub(super) writer_options: Option<String>,
}

impl Index {
    /// Reads the postscript and the footer.
    pub(super) fn read<S: Source>(chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<Self> {
        Self::read_with(chunks, options, |_| {})
    }

    /// Reads the postscript and the footer, and calls `visit` with what the footer says of each chunk.
    fn read_with<S: Source>(
        chunks: &mut ChunkReader<S>,
        options: &ReaderOptions,
        visit: impl FnMut(&ArrayRecordFooter),
    ) -> Result<Self> {
        let footer_offset = read_postscript(chunks, options)?;
        if let Some(end) = far_end_of_footer(chunks, footer_offset)? {
            let problem = ArrayRecordProblem::BehindFooter { end };
            let file = chunks.file().clone();
            return Err(Error::ArrayRecord { file, problem });
        }
        Self::read_at(chunks, options, footer_offset, visit)
    }

    /// Reads the footer at `footer_offset`, as [`Self::read_with`] does.
    fn read_at<S: Source>(
        chunks: &mut ChunkReader<S>,
        options: &ReaderOptions,
        footer_offset: u64,
        visit: impl FnMut(&ArrayRecordFooter),
    ) -> Result<Self> {
        let mut decoder = ChunkDecoder::default();
        let file = chunks.file().clone();
        let records = decode(chunks, &mut decoder, footer_offset, options)?;
        Self::from_records(records, footer_offset, visit).map_err(|problem| Error::ArrayRecord { file, problem })
    }

    /// Reads the records of the footer.
    fn from_records(
        records: RecordSlices<'_>,
        footer_offset: u64,
        mut visit: impl FnMut(&ArrayRecordFooter),
    ) -> Result<Self, ArrayRecordProblem> {
        let metadata = records
            .try_get(0)
            .and_then(|record| RiegeliFooterMetadata::decode(record).ok());
        let metadata = metadata.and_then(|metadata| metadata.array_record_metadata);
        let metadata = metadata.ok_or(ArrayRecordProblem::Footer { record: 0 })?;
        if metadata.version != Some(VERSION) {
            return Err(ArrayRecordProblem::Version {
                found: metadata.version,
            });
        }
        let num_chunks = records.len().saturating_sub(1);
        let mut index = Self {
            footer_offset,
            ends: Vec::with_capacity(num_chunks),
            chunk_offsets: Vec::with_capacity(num_chunks),
            group_size: None,
            writer_options: metadata.writer_options,
        };
        for record in 1..=num_chunks {
            let damaged = || ArrayRecordProblem::Footer { record };
            let footer = records
                .try_get(record)
                .and_then(|record| ArrayRecordFooter::decode(record).ok());
            let footer = footer.ok_or_else(damaged)?;
            visit(&footer);
            let offset = footer.chunk_offset.filter(|&offset| {
                offset < footer_offset && index.chunk_offsets.last().is_none_or(|&before| before < offset)
            });
            let before = index.ends.last().copied().unwrap_or_default();
            let end = footer.num_records.and_then(|count| before.checked_add(count));
            index.chunk_offsets.push(offset.ok_or_else(damaged)?);
            index.ends.push(end.ok_or_else(damaged)?);
        }
        for (what, by_metadata, found) in [
            ("chunks", metadata.num_chunks, num_chunks as u64),
            ("records", metadata.num_records, index.num_records()),
        ] {
            if by_metadata != Some(found) {
                return Err(ArrayRecordProblem::Count {
                    what,
                    expected: by_metadata.unwrap_or_default(),
                    found,
                });
            }
        }
        index.group_size = index.common_group_size();
        Ok(index)
    }

    pub(super) fn num_records(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Returns the number of the chunk that has the record, and the number of the record in it.
    pub(super) fn find(&self, record: u64) -> Option<(usize, u64)> {
        if record >= self.num_records() {
            return None;
        }
        let chunk = match self.group_size {
            Some(size) => usize::try_from(record / size).ok()?,
            None => self.ends.partition_point(|&end| end <= record),
        };
        Some((chunk, record - self.begin(chunk)?))
    }

    /// Returns the number of records before the chunk.
    pub(super) fn begin(&self, chunk: usize) -> Option<u64> {
        match chunk.checked_sub(1) {
            None => Some(0),
            Some(before) => self.ends.get(before).copied(),
        }
    }

    fn common_group_size(&self) -> Option<u64> {
        let size = self.ends.first().copied().filter(|&size| size > 0)?;
        let (last, others) = self.ends.split_last()?;
        let full = others
            .iter()
            .zip(1..)
            .all(|(&end, count)| size.checked_mul(count) == Some(end));
        let last_size = last - others.last().copied().unwrap_or_default();
        (full && (1..=size).contains(&last_size)).then_some(size)
    }
}

/// A chunk of records, as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkOfRecords {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) num_records: u64,
    pub(crate) decoded_data_size: u64,
}

/// Compares the footer, which begins at `footer`, with the chunks before it that were read, in their order, and returns what
/// disagrees. What lies in one of the `skipped` regions is known to be damaged.
///
/// # Errors
/// [`Error::Limit`], [`Error::Unsupported`] and [`Error::Io`] of the footer.
pub(crate) fn disagreements<S: Source>(
    chunks: &mut ChunkReader<S>,
    options: &ReaderOptions,
    footer: u64,
    read: &[ChunkOfRecords],
    skipped: &[SkippedRegion],
) -> Result<Vec<SkippedRegion>> {
    let is_skipped = |pos: u64| skipped.iter().any(|region| (region.begin..region.end).contains(&pos));
    let postscript = chunks.size().unwrap_or_default().saturating_sub(BLOCK_SIZE).max(footer);
    let of_footer = |why: String| SkippedRegion {
        begin: footer,
        end: postscript,
        why,
    };
    let mut entries = Vec::new();
    match Index::read_at(chunks, options, footer, |entry| entries.push(entry.clone())) {
        Ok(_) => {}
        Err(Error::ArrayRecord { problem, .. }) => return Ok(vec![of_footer(problem.to_string())]),
        Err(Error::Corrupt(_)) if is_skipped(footer) => return Ok(Vec::new()),
        Err(Error::Corrupt(corrupt)) => return Ok(vec![of_footer(corrupt.damage.to_string())]),
        Err(error) => return Err(error),
    }
    let mut found = Vec::new();
    let mut left = read.iter().peekable();
    let unlisted = |chunk: &ChunkOfRecords| SkippedRegion {
        begin: chunk.begin,
        end: chunk.end,
        why: "its footer does not have this chunk of records".to_owned(),
    };
    for entry in &entries {
        let offset = entry.chunk_offset.unwrap_or_default();
        let (num_records, size) = (
            entry.num_records.unwrap_or_default(),
            entry.decoded_data_size.unwrap_or_default(),
        );
        while let Some(chunk) = left.next_if(|chunk| chunk.begin < offset) {
            found.push(unlisted(chunk));
        }
        let Some(chunk) = left.next_if(|chunk| chunk.begin == offset) else {
            if num_records > 0 && !is_skipped(offset) {
                found.push(of_footer(format!(
                    "its footer has a chunk of records at byte {offset}, where none begins"
                )));
            }
            continue;
        };
        for (what, expected, found_here) in [
            ("records of a chunk", num_records, chunk.num_records),
            ("bytes of records of a chunk", size, chunk.decoded_data_size),
        ] {
            if expected != found_here {
                let problem = ArrayRecordProblem::Count {
                    what,
                    expected,
                    found: found_here,
                };
                found.push(SkippedRegion {
                    begin: chunk.begin,
                    end: chunk.end,
                    why: problem.to_string(),
                });
            }
        }
    }
    found.extend(left.map(unlisted));
    Ok(found)
}

/// A chunk that is no record by what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexChunk {
    Footer,
    Postscript,
}

impl IndexChunk {
    /// Returns what the chunk at `begin`, which has these records, is of an index; `None` if it has records of its own.
    pub(crate) fn of(records: RecordSlices<'_>, begin: u64) -> Option<Self> {
        let first = records.try_get(0)?;
        if records.len() == POSTSCRIPT_COPIES && records.iter().all(|copy| copy == first) {
            let footer = footer_of(first).filter(|&offset| offset < begin);
            return footer.map(|_| Self::Postscript);
        }
        // What other records rarely begin with is looked at first.
        let is_footer = RiegeliFooterMetadata::decode(first)
            .is_ok_and(|metadata| metadata.array_record_metadata.is_some())
            && Index::from_records(records, begin, |_| {}).is_ok();
        is_footer.then_some(Self::Footer)
    }
}

/// Returns where the footer begins by a record of the postscript, `None` if it is none.
fn footer_of(record: &[u8]) -> Option<u64> {
    let postscript = RiegeliPostscript::decode(record).ok()?;
    postscript.footer_offset.filter(|_| postscript.magic == Some(MAGIC))
}

/// Returns where the footer begins, by the postscript.
pub(super) fn read_postscript<S: Source>(chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<u64> {
    let file = chunks.file().clone();
    let problem = |problem| Error::ArrayRecord { file, problem };
    let size = chunks.size().unwrap_or_default();
    let Some(pos) = size.checked_sub(BLOCK_SIZE).filter(|pos| pos % BLOCK_SIZE == 0) else {
        return Err(problem(ArrayRecordProblem::Size { found: size }));
    };
    let mut decoder = ChunkDecoder::default();
    let records = match decode(chunks, &mut decoder, pos, options) {
        Ok(records) => records,
        Err(Error::Io { file, action, source }) => return Err(Error::Io { file, action, source }),
        Err(_) => return Err(problem(ArrayRecordProblem::NoPostscript { offset: pos })),
    };
    let offset = records.try_get(0).and_then(footer_of).filter(|&offset| offset < pos);
    offset.ok_or_else(|| problem(ArrayRecordProblem::NoPostscript { offset: pos }))
}

/// Decodes the chunk at `pos`.
pub(super) fn decode<'a, S: Source>(
    chunks: &'a mut ChunkReader<S>,
    decoder: &'a mut ChunkDecoder,
    pos: u64,
    options: &ReaderOptions,
) -> Result<RecordSlices<'a>> {
    chunks.seek(pos)?;
    let (file, size) = (chunks.file().clone(), chunks.size());
    match chunks.next_chunk()? {
        Some(chunk) => {
            let limit = options.decoded_limit(size, chunk.data.len());
            let decoded = decoder.decode(&chunk.header, chunk.data, limit);
            decoded.map_err(|damage| damage.at(&file, chunk.begin, chunk.end))?;
        }
        None => {
            let damage = Damage::Invalid {
                what: "chunk: the file ends in it",
            };
            return Err(damage.at(&file, pos, pos));
        }
    }
    let chunks = &*chunks;
    Ok(decoder.records(chunks.data()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(counts: &[u64]) -> Index {
        let ends = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        let mut index = Index {
            footer_offset: 0,
            ends: ends.collect(),
            chunk_offsets: Vec::new(),
            group_size: None,
            writer_options: None,
        };
        index.group_size = index.common_group_size();
        index
    }

    #[test]
    fn records_are_found_by_their_numbers_whether_groups_are_equal_or_not() {
        for (counts, group_size) in [
            (&[][..], None),
            (&[5], Some(5)),
            (&[3, 3, 3], Some(3)),
            (&[3, 3, 1], Some(3)),
            (&[3, 1, 3], None),
            (&[1, 2], None),
            (&[0, 2, 0, 1], None),
            (&[2, 2, 0], None),
        ] {
            let index = index(counts);
            assert_eq!(index.group_size, group_size, "{counts:?}");
            let expected: Vec<_> = (0..)
                .zip(counts)
                .flat_map(|(chunk, &count)| (0..count).map(move |record| Some((chunk, record))))
                .chain([None, None])
                .collect();
            let found: Vec<_> = (0..expected.len() as u64).map(|record| index.find(record)).collect();
            assert_eq!(found, expected, "{counts:?}");
        }
    }
}
