//! The footer of an ArrayRecord file, for readers that do not go by it.

use super::RecordReader;
use crate::{
    ChunkReader, Error, ReaderOptions, Result, SkippedRegion, Source,
    array_record::{ChunkOfRecords, disagreements, footer_offset, is_index},
};

impl<S: Source> RecordReader<S> {
    /// Returns where the footer of an ArrayRecord file begins, at which this reader ends by
    /// [`ReaderOptions::stop_at_footer`](crate::ReaderOptions::stop_at_footer); `None` for other files, for streams, and without
    /// the option.
    pub fn footer_offset(&self) -> Option<u64> {
        self.footer
    }

    /// Passes over the chunks from now on that are a footer or a postscript by what is in them.
    pub(crate) fn pass_index(&mut self) {
        self.passes_index = true;
    }

    /// Returns whether the current chunk is to be passed over.
    pub(super) fn is_at_index(&self) -> bool {
        self.passes_index && is_index(self.records(), self.chunk_begin)
    }

    /// Returns where the footer begins, whatever the options; `None` for other files and for streams.
    pub(crate) fn find_footer(&self) -> Result<Option<u64>> {
        match self.supports_random_access() {
            true => find_footer(&mut self.chunks_again()?, &self.options),
            false => Ok(None),
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

/// Returns where the footer begins, `None` without the postscript of an ArrayRecord file.
pub(super) fn find_footer<S: Source>(chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<Option<u64>> {
    match footer_offset(chunks, options) {
        Ok(offset) => Ok(Some(offset)),
        Err(Error::ArrayRecord { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
