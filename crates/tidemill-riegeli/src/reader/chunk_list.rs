//! What chunks a file has, by their headers.

use super::RecordReader;
use crate::{
    ChunkHeader, ChunkReader, ChunkType, CompressionType, Error, FieldSizes, RecordIndex, Result, Source,
    block_header::add_with_overhead, chunk_decoder::ChunkDecoder, chunk_header::CHUNK_HEADER_SIZE, source::BytesSource,
};

/// A chunk, by its header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkSummary {
    /// Where it begins.
    pub begin: u64,
    /// Where the next one begins.
    pub end: u64,
    /// What it holds.
    pub chunk_type: ChunkType,
    /// Its codec: the first byte of the data of simple, transposed and metadata chunks. `None` for other chunks, and for
    /// codecs that are not known.
    pub compression: Option<CompressionType>,
    /// Its number of records.
    pub num_records: u64,
    /// Bytes of data, block headers not counted.
    pub data_size: u64,
    /// Sum of the record sizes.
    pub decoded_data_size: u64,
}

impl<S: Source> RecordReader<S> {
    /// Counts the records that [`read_record`](Self::read_record) gives, by the chunk headers, without reading chunk data. Does not
    /// move the reader.
    ///
    /// # Errors
    /// Unless recovering: [`Error::Corrupt`] and [`Error::Truncated`], also for what [`close`](Self::close) tells of the end of the
    /// file. [`Error::Io`], also for a stream. Damage in chunk data is not seen.
    pub fn count_records(&mut self) -> Result<u64> {
        let mut count = 0_u64;
        self.scan_headers(|_, header| {
            count = count.saturating_add(header.num_records);
            Ok(())
        })?
        .map_or(Ok(count), Err)
    }

    /// Lists by the chunk headers where which records are, without reading chunk data. Does not move the reader.
    ///
    /// # Errors
    /// As [`Self::count_records`].
    pub fn index_records(&mut self) -> Result<RecordIndex> {
        let mut index = RecordIndex::default();
        self.scan_headers(|begin, header| {
            index.push(begin, header.num_records, header.decoded_data_size);
            Ok(())
        })?
        .map_or(Ok(index), Err)
    }

    /// Tells where the last of the chunks ends that are whole, of those that begin in the next `bytes` bytes from the first chunk of
    /// this reader. Another program may be about to write the one after it. Does not move the reader.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`], also for a stream.
    pub fn end_of_chunks(&self, bytes: u64) -> Result<u64> {
        let mut chunks = self.chunks_again()?;
        let limit = chunks.pos().saturating_add(bytes);
        while chunks.pos() < limit && chunks.skip_chunk()?.is_some() {}
        Ok(chunks.pos())
    }

    /// Describes the chunks of the file. Chunk data are not read but for the first byte. Does not move the reader.
    ///
    /// # Errors
    /// As [`Self::count_records`].
    pub fn list_chunks(&mut self) -> Result<Vec<ChunkSummary>> {
        let mut list = Vec::new();
        let source = self.chunks.source();
        // What can be described of a file that ends early is described.
        let _truncation = self.scan_headers(|begin, header| {
            let compression = compression_type(source, begin, &header);
            list.push(ChunkSummary {
                begin,
                end: header.chunk_end(begin),
                chunk_type: header.chunk_type,
                compression,
                num_records: header.num_records,
                data_size: header.data_size,
                decoded_data_size: header.decoded_data_size,
            });
            Ok(())
        })?;
        Ok(list)
    }

    /// Adds up what each field of the messages takes in the transposed chunks of the file, which are read for it. Does not move
    /// the reader.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Truncated`] unless recovering, which leaves damaged chunks out; [`Error::Limit`];
    /// [`Error::Io`], also for a stream.
    pub fn field_sizes(&mut self) -> Result<FieldSizes> {
        let size = self.size();
        let mut chunks = self.chunks_again()?;
        if let Some(size) = self.size() {
            chunks.truncate(size);
        }
        let recovering = !self.options.recovery.is_fail();
        let mut decoder = ChunkDecoder::default();
        let mut sizes = FieldSizes::new();
        loop {
            // Other chunks are passed by their headers.
            let passed = match chunks.peek_header() {
                Ok(Some(header)) if header.chunk_type != ChunkType::Transposed => chunks.skip_chunk().map(|_| ()),
                Ok(_) => match chunks.next_chunk() {
                    Ok(Some(chunk)) => {
                        let limit = self.options.decoded_limit(size, chunk.data.len());
                        let (begin, end) = (chunk.begin, chunk.end);
                        match decoder.add_field_sizes(&chunk.header, chunk.data, limit, &mut sizes) {
                            Err(damage) if !recovering => return Err(damage.at(chunks.file(), begin, end)),
                            _ => Ok(()),
                        }
                    }
                    Ok(None) => {
                        let truncation = chunks.truncation().filter(|_| !recovering);
                        return truncation.map_or(Ok(sizes), Err);
                    }
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = passed
                && (!recovering || !matches!(error, Error::Corrupt(_)) || chunks.recover()?.is_none())
            {
                return Err(error);
            }
        }
    }

    /// Returns a reader of the same chunks, from the first of them on.
    pub(super) fn chunks_again(&self) -> Result<ChunkReader<&S>> {
        let file = self.chunks.file().clone();
        let mut chunks = ChunkReader::named(self.chunks.source(), file, self.options.max_chunk_size)?;
        // The data may end before the source does, at the footer of an ArrayRecord file.
        if let Some(size) = self.chunks.size() {
            chunks.truncate(size);
        }
        chunks.jump(self.options.chunks.start);
        Ok(chunks)
    }

    /// Visits the chunk headers. Returns what is wrong with the end of the file, if anything is and unless recovering.
    fn scan_headers(&self, mut visit: impl FnMut(u64, ChunkHeader) -> Result<()>) -> Result<Option<Error>> {
        let mut chunks = self.chunks_again()?;
        if let Some(size) = self.size() {
            chunks.truncate(size);
        }
        let recovering = !self.options.recovery.is_fail();
        loop {
            let begin = chunks.pos();
            match chunks.skip_chunk() {
                Ok(Some(header)) => visit(begin, header)?,
                Ok(None) => {
                    let error = self.ending_error().or_else(|| chunks.truncation());
                    return Ok(error.filter(|_| !recovering));
                }
                Err(error) if recovering && matches!(error, Error::Corrupt(_)) => {
                    if chunks.recover()?.is_none() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn compression_type<S: Source>(source: &S, begin: u64, header: &ChunkHeader) -> Option<CompressionType> {
    let has_one = matches!(
        header.chunk_type,
        ChunkType::Simple | ChunkType::Transposed | ChunkType::FileMetadata
    );
    if !has_one || header.data_size == 0 {
        return None;
    }
    // The byte is the last one of a section that is one byte longer than the header.
    let pos = add_with_overhead(begin, CHUNK_HEADER_SIZE as u64 + 1) - 1;
    let mut byte = [0];
    let read = match source.bytes() {
        Some(bytes) => BytesSource(bytes).read_at(pos, &mut byte),
        None => source.read_at(pos, &mut byte),
    };
    match read {
        Ok(1) => CompressionType::from_byte(byte[0]).ok(),
        _ => None,
    }
}
