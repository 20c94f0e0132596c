//! What a file says about its records.

use prost::Message;

use super::RecordReader;
use crate::{
    ChunkReader, ChunkType, Error, RecordType, RecordsMetadata, Result, Source, chunk_decoder::decode_metadata,
    source::SourceRef,
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
            let limit = self.options.max_chunk_size;
            let metadata = if self.supports_random_access() {
                let file = self.chunks.file().clone();
                let mut chunks = ChunkReader::named(SourceRef(self.chunks.source()), file, limit)?;
                read_metadata(&mut chunks, limit)
            } else if self.chunks.pos() == 0 {
                let metadata = read_metadata(&mut self.chunks, limit);
                self.leave_chunk();
                metadata
            } else {
                return Err(Error::Io {
                    file: self.chunks.file().clone(),
                    action: "read the metadata of a stream behind its beginning",
                    source: std::io::ErrorKind::Unsupported.into(),
                });
            };
            let metadata = match metadata {
                Err(Error::Corrupt(_)) if !self.options.recovery.is_fail() => Some(Vec::new()),
                result => result?,
            };
            self.metadata = Some(metadata);
        }
        Ok(self.metadata.as_ref().and_then(Option::as_deref))
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

fn read_metadata<S: Source>(chunks: &mut ChunkReader<S>, limit: u64) -> Result<Option<Vec<u8>>> {
    // The first chunk is a file signature, or reading it fails.
    if chunks.next_chunk()?.is_none() {
        return Ok(None);
    }
    match chunks.peek_header()? {
        None => return Ok(None),
        Some(header) if header.chunk_type != ChunkType::FileMetadata => {
            return Ok(Some(Vec::new()));
        }
        Some(_) => {}
    }
    let file = chunks.file().clone();
    let Some(chunk) = chunks.next_chunk()? else {
        return Ok(None);
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    decode_metadata(&chunk.header, chunk.data, limit)
        .map(Some)
        .map_err(|damage| damage.at(&file, chunk.begin, chunk.end))
}
