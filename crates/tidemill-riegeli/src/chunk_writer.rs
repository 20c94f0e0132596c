//! Writing chunks: block headers put in at every 64 KiB, and the padding that chunks need.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Chunk" and "Padding chunk"; how far padding reaches when a
//! header does not fit is in `riegeli/records/chunk_writer.cc`.

use std::io::{self, Write};

use crate::{
    Chunk, Compression, EncodedChunk, Error, FileName, Result,
    block_header::{BlockHeader, chunk_end, distance_without_overhead, is_possible_chunk_boundary, remaining_in_block},
    chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType},
    hash::hash_parts,
    transposed_chunk,
};

/// Zeros to pad with.
static ZEROS: [u8; 4096] = [0; 4096];

/// Writes chunks as they are.
///
/// ```
/// use tidemill_riegeli::{ChunkReader, ChunkWriter, RecordReader, RecordWriter, WriterOptions};
///
/// let mut writer = RecordWriter::new(Vec::new(), WriterOptions::new())?;
/// writer.write_record(b"a record")?;
/// let file = writer.close()?;
///
/// let mut chunks = ChunkReader::from_bytes(&file)?;
/// let mut copy = ChunkWriter::new(Vec::new(), 0)?;
/// while let Some(chunk) = chunks.next_chunk()? {
///     copy.copy_chunk(&chunk)?;
/// }
/// assert_eq!(copy.into_dest(), file);
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct ChunkWriter<W> {
    dest: W,
    pos: u64,
}

impl<W: Write> ChunkWriter<W> {
    /// Writes to `dest`, whose next byte is at `pos` of the file. Fills the rest of a block header that `pos` is in. The first
    /// chunk of a file must be its signature.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(dest: W, pos: u64) -> Result<Self> {
        Self::at(dest, pos).map_err(write_error)
    }

    /// Returns where the next chunk begins.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Writes a chunk that was read, wherever it was.
    ///
    /// # Errors
    /// [`Error::Io`]. What was written of the chunk is not taken back.
    pub fn copy_chunk(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        self.write_hashed_chunk(&chunk.header, &[chunk.data])
            .map_err(write_error)
    }

    /// Writes a chunk that was made of records.
    ///
    /// # Errors
    /// [`Error::Io`]. What was written of the chunk is not taken back.
    pub fn write_chunk(&mut self, chunk: &EncodedChunk<'_>) -> Result<()> {
        self.write_encoded_chunk(chunk).map_err(write_error)
    }

    /// Writes the signature, with which a file begins.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_signature(&mut self) -> Result<()> {
        self.write_parts(ChunkType::FileSignature, &[], 0, 0)
            .map_err(write_error)
    }

    /// Writes file metadata, a serialized [`RecordsMetadata`](crate::RecordsMetadata), which come right behind the signature.
    /// [`ChunkDecoder::decode_metadata`](crate::ChunkDecoder::decode_metadata) reads them.
    ///
    /// ```
    /// use prost::Message;
    /// use tidemill_riegeli::{ChunkWriter, Compression, RecordReader, RecordsMetadata};
    ///
    /// let metadata = RecordsMetadata {
    ///     file_comment: Some("no records".to_owned()),
    ///     ..Default::default()
    /// };
    /// let mut chunks = ChunkWriter::new(Vec::new(), 0)?;
    /// chunks.write_signature()?;
    /// chunks.write_metadata(&metadata.encode_to_vec(), Compression::default())?;
    /// let mut reader = RecordReader::from_bytes(chunks.into_dest())?;
    /// assert_eq!(reader.records_metadata()?, metadata);
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a codec fails, for want of memory; [`Error::Io`]. What was written of the chunk is not taken back.
    pub fn write_metadata(&mut self, metadata: &[u8], compression: Compression) -> Result<()> {
        let data = transposed_chunk::encode_record(metadata, compression)
            .map_err(|damage| damage.at(&FileName::default(), self.pos, self.pos))?;
        self.write_parts(ChunkType::FileMetadata, &[&data], 0, metadata.len() as u64)
            .map_err(write_error)
    }

    /// Writes a padding chunk up to a multiple of `padding`, or the next one that leaves room for it; nothing if the position
    /// is one already.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn pad(&mut self, padding: u64) -> Result<()> {
        self.write_padding(padding).map_err(write_error)
    }

    /// Returns what is written to.
    pub fn dest(&self) -> &W {
        &self.dest
    }

    /// Ends writing. Nothing is flushed.
    pub fn into_dest(self) -> W {
        self.dest
    }
}

impl<W: Write> ChunkWriter<W> {
    pub(crate) fn at(dest: W, pos: u64) -> io::Result<Self> {
        let mut writer = Self { dest, pos };
        if !is_possible_chunk_boundary(pos) {
            let length = remaining_in_block(pos);
            writer.write_zeros(length)?;
        }
        Ok(writer)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.dest.flush()
    }

    pub(crate) fn dest_mut(&mut self) -> &mut W {
        &mut self.dest
    }

    pub(crate) fn write_encoded_chunk(&mut self, chunk: &EncodedChunk<'_>) -> io::Result<()> {
        self.write_parts(
            chunk.chunk_type,
            &chunk.parts,
            chunk.num_records,
            chunk.decoded_data_size,
        )
    }

    /// Writes a chunk whose data are `parts` one after another.
    pub(crate) fn write_parts(
        &mut self,
        chunk_type: ChunkType,
        parts: &[&[u8]],
        num_records: u64,
        decoded_data_size: u64,
    ) -> io::Result<()> {
        let data_size = parts.iter().map(|part| part.len() as u64).sum();
        let header = ChunkHeader::new(chunk_type, data_size, hash_parts(parts), num_records, decoded_data_size);
        self.write_hashed_chunk(&header, parts)
    }

    /// Writes a chunk whose header is known. Its data are `parts` one after another.
    pub(crate) fn write_hashed_chunk(&mut self, header: &ChunkHeader, parts: &[&[u8]]) -> io::Result<()> {
        let begin = self.pos;
        let end = header.chunk_end(begin);
        self.write_section(begin, end, &header.to_bytes())?;
        for part in parts {
            self.write_section(begin, end, part)?;
        }
        while self.pos < end {
            self.write_block_header(begin, end)?;
            let length = (end - self.pos).min(room_in_block(self.pos));
            self.write_zeros(length)?;
        }
        Ok(())
    }

    /// Writes a padding chunk up to a multiple of `padding`, or the next one that leaves room for it; nothing if the position
    /// is one already.
    pub(crate) fn write_padding(&mut self, padding: u64) -> io::Result<()> {
        let end = position_after_padding(self.pos, padding)
            .ok_or_else(|| io::Error::other("padding goes beyond the last position of a file"))?;
        if end == self.pos {
            return Ok(());
        }
        let begin = self.pos;
        let data_size = distance_without_overhead(begin, end) - CHUNK_HEADER_SIZE as u64;
        let too_large = || io::Error::other(format!("padding of {data_size} bytes does not fit memory"));
        let size = usize::try_from(data_size).map_err(|_| too_large())?;
        let mut zeros = Vec::new();
        zeros.try_reserve_exact(size).map_err(|_| too_large())?;
        zeros.resize(size, 0);
        debug_assert_eq!(chunk_end(begin, data_size + CHUNK_HEADER_SIZE as u64, 0), end);
        self.write_parts(ChunkType::Padding, &[&zeros], 0, 0)
    }

    fn write_section(&mut self, begin: u64, end: u64, mut section: &[u8]) -> io::Result<()> {
        while !section.is_empty() {
            self.write_block_header(begin, end)?;
            let room = usize::try_from(room_in_block(self.pos)).unwrap_or(usize::MAX);
            let (now, later) = section.split_at(room.min(section.len()));
            self.dest.write_all(now)?;
            self.pos += now.len() as u64;
            section = later;
        }
        Ok(())
    }

    /// Writes a block header if one is due.
    fn write_block_header(&mut self, begin: u64, end: u64) -> io::Result<()> {
        if remaining_in_block(self.pos) == 0 {
            let bytes = BlockHeader::new(self.pos - begin, end - self.pos).to_bytes();
            self.dest.write_all(&bytes)?;
            self.pos += bytes.len() as u64;
        }
        Ok(())
    }

    fn write_zeros(&mut self, mut length: u64) -> io::Result<()> {
        while length > 0 {
            let now = usize::try_from(length).unwrap_or(usize::MAX).min(ZEROS.len());
            self.dest.write_all(&ZEROS[..now])?;
            self.pos += now as u64;
            length -= now as u64;
        }
        Ok(())
    }
}

fn write_error(source: io::Error) -> Error {
    Error::Io {
        file: FileName::default(),
        action: "write the file",
        source,
    }
}

/// Behind a block header, so never 0.
fn room_in_block(pos: u64) -> u64 {
    remaining_in_block(pos)
}

/// Returns the end of the padding chunk at `pos`, or `pos` when none is needed. `None` when no position is as large.
fn position_after_padding(pos: u64, padding: u64) -> Option<u64> {
    if padding <= 1 || pos.is_multiple_of(padding) {
        return Some(pos);
    }
    let mut length = padding - pos % padding;
    while length < CHUNK_HEADER_SIZE as u64 {
        length = length.checked_add(padding)?;
    }
    let mut end = pos.checked_add(length)?;
    while !is_possible_chunk_boundary(end) || distance_without_overhead(pos, end) < CHUNK_HEADER_SIZE as u64 {
        end = end.checked_add(padding)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_leaves_room_for_its_header() {
        // (position, padding, end)
        for (pos, padding, end) in [
            (1_000, 1, Some(1_000)),
            (1_000, 1_000, Some(1_000)),
            (1_000, 4_096, Some(4_096)),
            (961, 1_000, Some(2_000)),
            (960, 1_000, Some(1_000)),
            (65_500, 65_536, Some(131_072)),
            // 65,540 to 65,560 are in or right behind a block header.
            (65_491, 10, Some(65_570)),
            (64, u64::MAX, Some(u64::MAX)),
            (u64::MAX - 20, 1 << 63, None),
        ] {
            assert_eq!(
                position_after_padding(pos, padding),
                end,
                "{pos} to a multiple of {padding}"
            );
        }
    }

    #[test]
    fn chunks_are_interrupted_by_block_headers() {
        let mut writer = ChunkWriter::new(Vec::new(), 0).expect("memory");
        writer.write_signature().expect("memory");
        assert_eq!(writer.pos(), 64);
        let data = vec![1; 70_000];
        writer
            .write_parts(ChunkType::Simple, &[&data[..10], &data[10..]], 3, 70_000)
            .expect("memory");
        let file = writer.into_dest();
        assert_eq!(file.len(), 64 + 40 + 70_000 + 24);
        let header: [u8; 24] = std::array::from_fn(|i| file[65_536 + i]);
        assert_eq!(
            BlockHeader::from_bytes(&header),
            BlockHeader::new(65_536 - 64, 70_128 - 65_536)
        );
    }
}
