//! Writing chunks: block headers put in at every 64 KiB, and the padding that chunks need.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Chunk" and "Padding chunk"; how far padding reaches when a
//! header does not fit is in `riegeli/records/chunk_writer.cc`.

use std::io::{self, ErrorKind, IoSlice, Write};

use crate::{
    Chunk, Compression, EncodedChunk, Error, FileName, Result,
    block_header::{
        BLOCK_SIZE, BlockHeader, chunk_end, distance_without_overhead, is_possible_chunk_boundary, remaining_in_block,
    },
    chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType},
    hash::hash_parts,
    transposed_chunk,
};

/// Zeros to pad with.
static ZEROS: [u8; 4096] = [0; 4096];

/// Memory and buffers copy what they get, and the C library has the processor copy 2,112 bytes or more by one instruction, behind
/// which nothing else is begun: the next records are not fetched from memory meanwhile.
const PIECE: usize = 2_048;

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
    /// Whether the destination may take several pieces at once.
    takes_pieces: bool,
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

    /// Writes file metadata, a serialized [`RecordsMetadata`](crate::RecordsMetadata), which come directly after the signature.
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
        let mut writer = Self {
            dest,
            pos,
            takes_pieces: true,
        };
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
            self.write_bytes(now)?;
            self.pos += now.len() as u64;
            section = later;
        }
        Ok(())
    }

    /// Writes a block at most, in pieces if the destination takes several at once.
    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = match bytes.len().div_ceil(PIECE) {
            ..=1 => bytes,
            2 => self.write_pieces::<2>(bytes)?,
            _ => self.write_pieces::<{ BLOCK_SIZE as usize / PIECE }>(bytes)?,
        };
        self.dest.write_all(left)
    }

    /// Writes `bytes`, up to `N` pieces by a call. What is left is returned: nothing, or all from where the destination showed that it
    /// takes one piece at a time, which would be many calls.
    fn write_pieces<'a, const N: usize>(&mut self, mut bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        while self.takes_pieces && bytes.len() > PIECE {
            let mut pieces = [IoSlice::new(&[]); N];
            let places = pieces.iter_mut().zip(bytes.chunks(PIECE));
            let count = places.map(|(place, piece)| *place = IoSlice::new(piece)).count();
            match self.dest.write_vectored(&pieces[..count]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.takes_pieces = written != PIECE;
                    bytes = bytes.get(written..).ok_or_else(too_many)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
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

fn too_many() -> io::Error {
    io::Error::other("the destination says that it took more bytes than it got")
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

    /// Takes so many bytes by each call, of several pieces or of the first one.
    struct Slow {
        taken: Vec<u8>,
        at_once: usize,
        takes_pieces: bool,
        calls: usize,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = if self.takes_pieces { pieces.len() } else { 1 };
            let all: Vec<u8> = pieces[..count].iter().flat_map(|piece| piece.to_vec()).collect();
            let taken = all.len().min(self.at_once);
            self.taken.extend_from_slice(&all[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_is_written_however_little_is_taken_at_once() {
        let data: Vec<u8> = (0..70_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let write =
            |writer: &mut dyn FnMut(&[u8])| [0, 1, 2_048, 2_049, 4_096, 5_000, 70_000].map(|n| writer(&data[..n]));
        let mut expected = ChunkWriter::new(Vec::new(), 0).expect("memory");
        write(&mut |data| expected.write_parts(ChunkType::Simple, &[data], 1, 0).expect("memory"));
        let expected = expected.into_dest();
        for takes_pieces in [false, true] {
            for (at_once, most_calls) in [(usize::MAX, 60), (4_096, 220), (2_048, 330), (1_000, 700), (50, 4_000)] {
                let slow = Slow {
                    taken: Vec::new(),
                    at_once,
                    takes_pieces,
                    calls: 0,
                };
                let mut chunks = ChunkWriter::new(slow, 0).expect("memory");
                write(&mut |data| chunks.write_parts(ChunkType::Simple, &[data], 1, 0).expect("memory"));
                let slow = chunks.into_dest();
                assert!(
                    slow.taken == expected,
                    "{at_once} bytes at once, pieces: {takes_pieces}"
                );
                let calls = slow.calls;
                assert!(
                    calls <= most_calls,
                    "{calls} calls, {at_once} bytes at once, pieces: {takes_pieces}"
                );
            }
        }
    }

    #[test]
    fn a_destination_that_takes_nothing_or_too_much_is_an_error() {
        struct Wrong(usize);
        impl Write for Wrong {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                // The signature and headers are taken.
                Ok(if bytes.len() < 100 { bytes.len() } else { self.0 })
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for (taken, kind) in [(0, ErrorKind::WriteZero), (100_000, ErrorKind::Other)] {
            let mut chunks = ChunkWriter::new(Wrong(taken), 0).expect("taken");
            let data = [&[7; 5_000][..]];
            let written = chunks.write_parts(ChunkType::Simple, &data, 1, 0);
            assert_eq!(written.map_err(|error| error.kind()), Err(kind));
        }
    }

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
            // 65,540 to 65,560 are in or directly after a block header.
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
