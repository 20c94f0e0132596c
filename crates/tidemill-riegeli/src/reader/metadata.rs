//! What a file says about its records.

use std::ops::Range;

use prost::Message;

use super::RecordReader;
use crate::{
    ChunkReader, ChunkType, Error, ReaderOptions, RecordType, RecordsMetadata, Result, SkippedRegion, Source,
    chunk_decoder::decode_metadata,
};

impl<S: Source> RecordReader<S> {
    /// Returns the serialized metadata: empty if the file has none, and `None` if it ends before there could be any. Does not
    /// move the reader. The metadata of a stream must be asked for before its first record.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering, which gives empty metadata; [`Error::Limit`]; [`Error::Io`], also for a stream
    /// that was read from.
    pub fn metadata(&mut self) -> Result<Option<&[u8]>> {
        if self.metadata.is_none() {
            let metadata = match self.read_metadata() {
                Err(Error::Corrupt(_)) if !self.options.recovery.is_fail() => Some((Vec::new(), 0..0)),
                result => result?,
            };
            self.metadata = Some(metadata);
        }
        let metadata = self.metadata.as_ref().and_then(Option::as_ref);
        Ok(metadata.map(|(metadata, _)| &metadata[..]))
    }

    /// Returns where the chunk of the metadata is, once these were read; `None` when there are none.
    pub fn metadata_place(&self) -> Option<Range<u64>> {
        let metadata = self.metadata.as_ref().and_then(Option::as_ref);
        metadata
            .map(|(_, place)| place.clone())
            .filter(|place| !place.is_empty())
    }

    /// Reads the metadata, and returns where their chunk is: nowhere, if there are none.
    fn read_metadata(&mut self) -> Result<Option<(Vec<u8>, Range<u64>)>> {
        if self.supports_random_access() {
            let file = self.chunks.file().clone();
            let source = self.chunks.source();
            let mut chunks = ChunkReader::named(source, file, self.options.max_chunk_size)?;
            read_metadata(&mut chunks, &self.options)
        } else if self.chunks.pos() == 0 {
            let metadata = read_metadata(&mut self.chunks, &self.options);
            self.leave_chunk();
            metadata
        } else {
            Err(Error::Io {
                file: self.chunks.file().clone(),
                action: "read the metadata of a stream past its beginning",
                source: std::io::ErrorKind::Unsupported.into(),
            })
        }
    }

    /// Returns what is wrong with the metadata, though the hashes of their chunk are sound. For a reader at its beginning that
    /// recovers.
    pub(crate) fn metadata_damage(&mut self) -> Result<Option<SkippedRegion>> {
        let (bytes, place) = match self.read_metadata() {
            Ok(metadata) => metadata.unwrap_or_default(),
            Err(Error::Corrupt(corrupt)) => {
                return Ok(Some(SkippedRegion {
                    begin: corrupt.chunk_begin,
                    end: corrupt.offset,
                    why: corrupt.damage.to_string(),
                }));
            }
            // Chunks are read, too, and tell of it.
            Err(Error::Truncated { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.metadata = Some(Some((bytes, place.clone())));
        match self.record_type() {
            Err(Error::Metadata { problem, .. }) => Ok(Some(SkippedRegion {
                begin: place.start,
                end: place.end,
                why: format!("metadata: {problem}"),
            })),
            other => other.map(|_| None),
        }
    }

    /// Returns the metadata as a message, empty if there are none.
    ///
    /// # Errors
    /// As [`Self::metadata`]; [`Error::Metadata`] when they are not a `RecordsMetadata`.
    pub fn records_metadata(&mut self) -> Result<RecordsMetadata> {
        let metadata = RecordsMetadata::decode(self.metadata()?.unwrap_or_default());
        metadata.map_err(|error| self.metadata_error(format!("not a RecordsMetadata message: {error}")))
    }

    /// Returns the protobuf type of the records and its descriptors, `None` when the metadata do not name one or have no
    /// descriptors.
    ///
    /// # Errors
    /// As [`Self::records_metadata`]; [`Error::Metadata`] also when the descriptors do not have the type.
    pub fn record_type(&mut self) -> Result<Option<RecordType>> {
        let record_type = self.records_metadata()?.record_type();
        match &record_type {
            Some(found) if found.message().is_none() => {
                Err(self.metadata_error(format!("the descriptors do not have the record type {}", found.name)))
            }
            _ => Ok(record_type),
        }
    }

    fn metadata_error(&self, problem: String) -> Error {
        Error::Metadata {
            file: self.chunks.file().clone(),
            problem,
        }
    }
}

fn read_metadata<S: Source>(
    chunks: &mut ChunkReader<S>,
    options: &ReaderOptions,
) -> Result<Option<(Vec<u8>, Range<u64>)>> {
    // The first chunk is a file signature, or reading it fails.
    if chunks.next_chunk()?.is_none() {
        return Ok(None);
    }
    match chunks.peek_header()? {
        None => return Ok(None),
        Some(header) if header.chunk_type != ChunkType::FileMetadata => {
            return Ok(Some((Vec::new(), 0..0)));
        }
        Some(_) => {}
    }
    let (file, size) = (chunks.file().clone(), chunks.size());
    let Some(chunk) = chunks.next_chunk()? else {
        return Ok(None);
    };
    let limit = options.decoded_limit(size, chunk.data.len());
    decode_metadata(&chunk.header, chunk.data, limit)
        .map(|metadata| Some((metadata, chunk.begin..chunk.end)))
        .map_err(|damage| damage.at(&file, chunk.begin, chunk.end))
}
