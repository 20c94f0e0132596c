//! The footer of an ArrayRecord file, for readers that do not go by it.

use super::RecordReader;
use crate::{
    Error, Result, SkippedRegion, Source,
    array_record::{ChunkOfRecords, Ending, IndexChunk, LostPostscript, disagreements, find_ending, may_be_index},
    chunk_decoder::ChunkDecoder,
};

impl<S: Source> RecordReader<S> {
    /// Returns where the footer of an ArrayRecord file begins, at which this reader ends by
    /// [`ReaderOptions::stop_at_footer`](crate::ReaderOptions::stop_at_footer), whether its postscript is there or lost; `None` for
    /// other files, for streams before their footer was met, and without the option.
    pub fn footer_offset(&self) -> Option<u64> {
        self.ending.footer()
    }

    /// Passes over the chunks from now on that are a footer or a postscript by what is in them.
    pub(crate) fn pass_index(&mut self) {
        self.passes_index = true;
    }

    /// Returns whether the current chunk is to be passed over.
    pub(super) fn is_at_index(&mut self) -> bool {
        self.passes_index && {
            let index = IndexChunk::of(self.records(), self.chunk_begin);
            self.note_index(index, self.chunk_begin, self.next_chunk_begin())
        }
    }

    /// Returns whether a chunk that was read, but not decoded, is to be passed over.
    pub(super) fn is_index(&mut self) -> bool {
        let Some(chunk) = self
            .chunks
            .last_chunk()
            .filter(|chunk| self.passes_index && may_be_index(&chunk.header))
        else {
            return false;
        };
        let limit = self.options.decoded_limit(self.chunks.size(), chunk.data.len());
        let mut decoder = ChunkDecoder::default();
        // What is wrong with it is found again.
        let index = match decoder.decode(&chunk.header, chunk.data, limit) {
            Ok(()) => IndexChunk::of(decoder.records(chunk.data), chunk.begin),
            Err(_) => None,
        };
        let (begin, end) = (chunk.begin, chunk.end);
        self.note_index(index, begin, end)
    }

    /// Notes what the chunk from `begin` to `end` is of an index, and returns whether it is anything.
    fn note_index(&mut self, index: Option<IndexChunk>, begin: u64, end: u64) -> bool {
        match index {
            None => return false,
            Some(IndexChunk::Footer) => {
                self.ending = Ending::NoPostscript(LostPostscript {
                    footer: begin,
                    footer_end: end,
                    size: end,
                    postscript: None,
                    is_elsewhere: false,
                });
            }
            Some(IndexChunk::Postscript) => {
                if let Ending::NoPostscript(lost) = &mut self.ending {
                    lost.postscript = Some(begin);
                }
            }
        }
        true
    }

    /// Returns where the records end, whatever the options; with the file for streams.
    pub(crate) fn find_ending(&self) -> Result<Ending> {
        match self.supports_random_access() {
            true => find_ending(&mut self.chunks_again()?, &self.options),
            false => Ok(Ending::File),
        }
    }

    /// Returns the postscript that is missing, if this reader ends at the footer before it.
    pub(super) fn lost_postscript(&self) -> Option<LostPostscript> {
        let Ending::NoPostscript(mut lost) = self.ending else {
            return None;
        };
        lost.size = self.chunks.size().unwrap_or_default().max(lost.size);
        (self.options.chunks.end > lost.footer && !lost.is_found()).then_some(lost)
    }

    /// Returns what keeps the end of the records from being known: the postscript is missing, or the end of the file damaged.
    pub(super) fn ending_error(&self) -> Option<Error> {
        match &self.ending {
            Ending::Unknown(corrupt) => Some(Error::Corrupt(corrupt.clone())),
            _ => self.lost_postscript().map(|lost| lost.error(self.file())),
        }
    }

    /// Returns where the footer disagrees with the chunks that were read before it.
    pub(crate) fn footer_disagreements(&self, footer: u64, read: &[ChunkOfRecords]) -> Result<Vec<SkippedRegion>> {
        let mut chunks = self.chunks_again()?;
        disagreements(&mut chunks, &self.options, footer, read, &self.skipped)
    }

    /// Decodes the next chunk of records, and returns where it is and what it has; `None` at the end. For readers without
    /// threads.
    pub(crate) fn verify_chunk(&mut self) -> Result<Option<ChunkOfRecords>> {
        if !self.next_records()? {
            return Ok(None);
        }
        self.index = self.records().len();
        Ok(self.chunks.last_chunk().map(|chunk| ChunkOfRecords {
            begin: chunk.begin,
            end: chunk.end,
            num_records: self.decoder.num_records(),
            decoded_data_size: chunk.header.decoded_data_size,
        }))
    }
}
