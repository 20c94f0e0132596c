//! Reading chunks: block headers taken out, hashes verified, and the search for the next sound chunk after damage.
//!
//! What counts as one skipped region follows the C++ library (google/riegeli, `riegeli/records/chunk_reader.cc`): damaged
//! chunk data lose that chunk, since its header still tells where the next one begins; a damaged header loses everything up
//! to the next block header that points at a chunk; an incomplete chunk at the end of the file is told apart as truncation.
//!
//! Data of a chunk that no block header interrupts are lent from memory, or from the window of the file, as they are.
//!
//! The size of a file is taken once; a file that grows meanwhile is read up to its old end.

mod recovery;
mod seek;

use std::{fs::File, path::Path};

use crate::{
    Error, ReaderOptions, Result,
    block_header::{
        BLOCK_HEADER_SIZE, BLOCK_SIZE, BlockHeader, add_with_overhead, block_begin, distance_without_overhead,
        is_possible_chunk_boundary, remaining_in_block, remaining_in_block_header,
    },
    chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType},
    codec::Scratch,
    error::{Corrupt, Damage, FileName},
    foreign_file::foreign_file,
    hash::hash,
    source::{BytesSource, FileSource, Source},
    tfrecord::is_tfrecord,
    window::{MAX_PIECE, Window},
};

/// Reads the chunks of a file one after another, or from any position on.
///
/// ```
/// use tidemill_riegeli::{ChunkReader, ChunkType, RecordWriter, WriterOptions};
///
/// let file = RecordWriter::new(Vec::new(), WriterOptions::new())?.close()?;
/// let mut chunks = ChunkReader::from_bytes(&file)?;
/// let chunk = chunks.next_chunk()?.expect("a signature");
/// assert_eq!(chunk.header.chunk_type, ChunkType::FileSignature);
/// assert_eq!((chunk.begin, chunk.end), (0, 64));
/// assert!(chunks.next_chunk()?.is_none());
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct ChunkReader<S> {
    source: Window<S>,
    file: FileName,
    /// Where the current chunk begins: the one to be read next. May lie after the end after recovery.
    pos: u64,
    /// The header of the chunk at `pos`, once read.
    header: Option<ChunkHeader>,
    /// Why reading does not continue at `pos`.
    stopped: Option<Stop>,
    /// Data of a chunk that a block header interrupts.
    joined: Scratch,
    last: Option<LastChunk>,
    max_chunk_size: u64,
}

/// A chunk with verified hashes.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Where the chunk begins.
    pub begin: u64,
    /// Where the next chunk begins.
    pub end: u64,
    /// Its header.
    pub header: ChunkHeader,
    /// Its data, without block headers and padding.
    pub data: &'a [u8],
}

/// The chunk that was read last.
#[derive(Clone, Copy)]
struct LastChunk {
    begin: u64,
    end: u64,
    header: ChunkHeader,
    data: DataPlace,
}

/// Where the data of a chunk are.
#[derive(Clone, Copy)]
enum DataPlace {
    Joined,
    /// In the source, in one piece from here on.
    Source {
        begin: u64,
        size: usize,
    },
}

/// Why reading a chunk stopped.
enum Stop {
    /// The file ends here.
    End(u64),
    Damage {
        damage: Damage,
        offset: u64,
        recovery: Recovery,
    },
    Limit(Damage),
    /// Not kept: the next call tries again.
    Io(Error),
}

/// Where to continue after damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// A chunk is believed to begin here.
    HaveChunk(u64),
    /// Look for a chunk from the next block header after this position.
    FindChunk(u64),
}

impl ChunkReader<FileSource> {
    /// Opens the file at `path`. Of the options only the limit matters.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: &ReaderOptions) -> Result<Self> {
        let name = FileName::new(path.as_ref());
        let file = open_file(path.as_ref(), &name)?;
        Self::named(FileSource::new(file), name, options.max_chunk_size)
    }
}

impl<B: AsRef<[u8]>> ChunkReader<BytesSource<B>> {
    /// Reads a file in memory, with default options.
    ///
    /// # Errors
    /// None, so far.
    pub fn from_bytes(bytes: B) -> Result<Self> {
        Self::new(BytesSource(bytes), &ReaderOptions::new())
    }
}

impl<S: Source> ChunkReader<S> {
    /// Reads `source` from the beginning. Of the options only the limit matters.
    ///
    /// # Errors
    /// [`Error::Io`] when the source does not tell its size.
    pub fn new(source: S, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::default(), options.max_chunk_size)
    }

    /// Reads `source` from the beginning. A chunk may take at most `max_chunk_size` bytes of memory.
    pub(crate) fn named(source: S, file: FileName, max_chunk_size: u64) -> Result<Self> {
        let source = Window::new(source).map_err(|source| Error::Io {
            file: file.clone(),
            action: "tell the size of the file",
            source,
        })?;
        Ok(Self {
            source,
            file,
            pos: 0,
            header: None,
            stopped: None,
            joined: Scratch::default(),
            last: None,
            max_chunk_size,
        })
    }

    /// Returns where the next chunk begins.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Returns the size of the file, `None` for a stream whose end was not reached yet.
    pub fn size(&self) -> Option<u64> {
        self.source.size()
    }

    /// Returns whether the reader can go to any position: not in a stream.
    pub fn supports_random_access(&self) -> bool {
        !self.source.is_stream()
    }

    /// Returns the name that errors give the file.
    pub(crate) fn file(&self) -> &FileName {
        &self.file
    }

    /// Returns the path of the file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    /// Makes the file end at `end`, which must be the end of a chunk.
    pub(crate) fn truncate(&mut self, end: u64) {
        self.source.truncate(end);
    }

    /// Returns the source.
    pub(crate) fn source(&self) -> &S {
        self.source.source()
    }

    /// Returns the data of the chunk that was read last; empty when the reader has looked elsewhere since.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        match self.last {
            Some(LastChunk {
                data: DataPlace::Source { begin, size },
                ..
            }) => self.source.peek(begin, size),
            Some(_) => self.joined.as_slice(),
            None => &[],
        }
    }

    /// Returns whether the file begins as a Riegeli/records file does, or at the position where it is: `false` at the end of
    /// the file. Does not move the reader.
    ///
    /// # Errors
    /// As [`Self::peek_header`].
    pub fn check_file_format(&mut self) -> Result<bool> {
        Ok(self.peek_header()?.is_some())
    }

    /// Returns whether there is nothing in the file but a beginning of `bytes` and zeros.
    pub(crate) fn is_blank_behind(&mut self, bytes: &[u8]) -> Result<bool> {
        let same = self.piece(0, bytes.len())?.iter().zip(bytes);
        let mut pos = same.take_while(|(found, byte)| found == byte).count() as u64;
        loop {
            let piece = self.piece(pos, MAX_PIECE)?;
            if piece.is_empty() || piece.iter().any(|&byte| byte != 0) {
                return Ok(piece.is_empty());
            }
            pos += piece.len() as u64;
        }
    }

    fn piece(&mut self, pos: u64, length: usize) -> Result<&[u8]> {
        self.source.get(pos, length).map_err(|source| Error::Io {
            file: self.file.clone(),
            action: "read the file",
            source,
        })
    }

    /// Returns the header of the next chunk, `None` at the end of the file. A file that ends inside the header is at its end,
    /// and [`Self::truncation`] tells of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], the same on every call until [`Self::recover`] succeeds; [`Error::Io`].
    pub fn peek_header(&mut self) -> Result<Option<ChunkHeader>> {
        if self.stopped.is_some() {
            return self.stopped_again();
        }
        if let Some(header) = self.header {
            return Ok(Some(header));
        }
        match self.read_header() {
            Ok(header) => {
                self.header = Some(header);
                Ok(Some(header))
            }
            Err(stop) => self.stop(stop),
        }
    }

    /// Reads the next chunk, `None` at the end of the file. The chunk is lent until the next call.
    ///
    /// # Errors
    /// [`Error::Corrupt`], the same on every call until [`Self::recover`] succeeds; [`Error::Limit`]; [`Error::Io`].
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>> {
        self.last = None;
        let Some(header) = self.peek_header()? else {
            return Ok(None);
        };
        let begin = self.pos;
        match self.read_data(&header) {
            Ok((end, data)) => {
                self.jump(end);
                self.last = Some(LastChunk {
                    begin,
                    end,
                    header,
                    data,
                });
                Ok(self.last_chunk())
            }
            Err(stop) => self.stop(stop),
        }
    }

    /// Returns the chunk that [`Self::next_chunk`] returned.
    pub(crate) fn last_chunk(&self) -> Option<Chunk<'_>> {
        self.last.map(|last| Chunk {
            begin: last.begin,
            end: last.end,
            header: last.header,
            data: self.data(),
        })
    }

    /// Skips the next chunk by its header and returns the header, `None` at the end of the file. The data are not read, so
    /// their hash is not verified.
    ///
    /// # Errors
    /// As [`Self::peek_header`].
    pub fn skip_chunk(&mut self) -> Result<Option<ChunkHeader>> {
        self.last = None;
        let Some(header) = self.peek_header()? else {
            return Ok(None);
        };
        let end = header.chunk_end(self.pos);
        let reached = self.reach(end)?;
        if reached < end {
            return self.stop(Stop::End(reached));
        }
        self.jump(end);
        Ok(Some(header))
    }

    /// Returns [`Error::Truncated`] when the file ended inside the current chunk.
    pub fn truncation(&self) -> Option<Error> {
        let end = match self.stopped {
            Some(Stop::End(end)) if end > self.pos => end,
            _ => return None,
        };
        let complete_header = distance_without_overhead(self.pos, end) >= CHUNK_HEADER_SIZE as u64;
        Some(Error::Truncated {
            file: self.file.clone(),
            chunk_begin: self.pos,
            found: end - self.pos,
            expected: self
                .header
                .filter(|_| complete_header)
                .map(|header| header.chunk_end(self.pos) - self.pos),
        })
    }

    /// Makes the chunk at `pos` the next one.
    pub(crate) fn jump(&mut self, pos: u64) {
        self.pos = pos;
        self.header = None;
        self.stopped = None;
        self.last = None;
    }

    /// Turns what stopped reading into the answer of a call, and keeps it for the next call.
    fn stop<T>(&mut self, stop: Stop) -> Result<Option<T>> {
        if let Stop::Io(error) = stop {
            return Err(error);
        }
        if let Stop::Damage { .. } = stop {
            self.header = None;
        }
        self.stopped = Some(stop);
        self.stopped_again()
    }

    fn stopped_again<T>(&self) -> Result<Option<T>> {
        match &self.stopped {
            Some(Stop::Damage { damage, offset, .. }) => Err(Error::Corrupt(Box::new(Corrupt {
                file: self.file.clone(),
                chunk_begin: self.pos,
                offset: *offset,
                damage: damage.clone(),
            }))),
            Some(Stop::Limit(damage)) => Err(damage.clone().at(&self.file, self.pos, self.pos)),
            Some(Stop::End(_) | Stop::Io(_)) | None => Ok(None),
        }
    }

    fn read_header(&mut self) -> Result<ChunkHeader, Stop> {
        if self.source.size().is_some_and(|size| self.pos >= size) {
            return Err(Stop::End(self.pos));
        }
        if !is_possible_chunk_boundary(self.pos) {
            return Err(Stop::Damage {
                damage: Damage::ChunkBoundary,
                offset: self.pos,
                recovery: Recovery::FindChunk(self.pos),
            });
        }
        let mut src = self.pos;
        let mut bytes = [0; CHUNK_HEADER_SIZE];
        let mut filled = 0;
        let mut interrupted_by = None;
        while filled < CHUNK_HEADER_SIZE {
            if remaining_in_block_header(src) > 0 {
                let block = block_begin(src);
                let block_header = self.read_block_header(&mut src);
                let block_header = block_header.map_err(|stop| self.name_foreign_file(stop))?;
                self.check_beginning(block, &block_header, src)?;
                interrupted_by = Some((block, block_header));
            }
            let length = room_in_block(src, CHUNK_HEADER_SIZE - filled);
            self.read(&mut src, &mut bytes[filled..filled + length])?;
            filled += length;
        }
        let header = ChunkHeader::from_bytes(&bytes);
        let find = |damage| Stop::Damage {
            damage,
            offset: src,
            recovery: Recovery::FindChunk(src),
        };
        let computed = ChunkHeader::hash_of(&bytes);
        if header.header_hash != computed {
            return Err(find(Damage::ChunkHeaderHash {
                stored: header.header_hash,
                computed,
            }));
        }
        if let Some((block, block_header)) = interrupted_by {
            self.check_end(block, &block_header, header.chunk_end(self.pos), src)?;
        }
        if self.pos == 0
            && (header.chunk_type != ChunkType::FileSignature
                || header.data_size != 0
                || header.num_records != 0
                || header.decoded_data_size != 0)
        {
            return Err(find(Damage::MissingSignature));
        }
        Ok(header)
    }

    /// Says what the file is, where damage at its beginning comes from its being another one.
    fn name_foreign_file(&mut self, stop: Stop) -> Stop {
        let what = match (self.pos, self.source.get(0, BLOCK_HEADER_SIZE)) {
            (0, Ok(bytes)) if is_tfrecord(bytes) => Some("a TFRecord file"),
            (0, Ok(bytes)) => foreign_file(bytes),
            _ => None,
        };
        match (stop, what) {
            (Stop::Damage { offset, recovery, .. }, Some(what)) => Stop::Damage {
                damage: Damage::ForeignFile { what },
                offset,
                recovery,
            },
            (stop, _) => stop,
        }
    }

    /// Reads the data of the chunk at `pos` and returns the end of the chunk and where the data are.
    fn read_data(&mut self, header: &ChunkHeader) -> Result<(u64, DataPlace), Stop> {
        let end = header.chunk_end(self.pos);
        let complete = self.source.size().is_none_or(|size| end <= size);
        if complete && header.data_size > self.max_chunk_size {
            return Err(Stop::Limit(Damage::TooLarge {
                what: "the data",
                limit: self.max_chunk_size,
                found: header.data_size,
            }));
        }
        let begin = add_with_overhead(self.pos, CHUNK_HEADER_SIZE as u64);
        let data = match usize::try_from(header.data_size) {
            Ok(size) if complete && size <= uninterrupted(begin) => {
                let piece = self
                    .source
                    .get(begin, size)
                    .map_err(|source| read_error(&self.file, source))?;
                if piece.len() < size {
                    return Err(Stop::End(begin + piece.len() as u64));
                }
                DataPlace::Source { begin, size }
            }
            _ => {
                self.join_data(begin, end, header.data_size, complete)?;
                DataPlace::Joined
            }
        };
        // What follows the data is padding. A file that ends in it ends in this chunk.
        let reached = match self.source.size() {
            Some(size) => size.min(end),
            None if add_with_overhead(begin, header.data_size) >= end => end,
            None => self.reach(end).map_err(Stop::Io)?,
        };
        if reached < end {
            return Err(Stop::End(reached));
        }
        let bytes = match data {
            DataPlace::Source { begin, size } => self.source.peek(begin, size),
            DataPlace::Joined => self.joined.as_slice(),
        };
        let computed = hash(bytes);
        if computed != header.data_hash {
            return Err(Stop::Damage {
                damage: Damage::ChunkDataHash {
                    stored: header.data_hash,
                    computed,
                },
                offset: end,
                recovery: Recovery::HaveChunk(end),
            });
        }
        Ok((end, data))
    }

    /// Collects `left` bytes of data from `src` on, taking block headers out. Data of a chunk that the file cannot hold
    /// (`complete` is false) are walked for their block headers only.
    fn join_data(&mut self, mut src: u64, chunk_end: u64, mut left: u64, complete: bool) -> Result<(), Stop> {
        self.joined.clear();
        if complete
            && self.source.size().is_some()
            && let Ok(size) = usize::try_from(left)
        {
            // The file has them all, so there is no need to grow bit by bit, as for a stream.
            self.joined.room(size);
        }
        while left > 0 {
            if remaining_in_block_header(src) > 0 {
                let block = block_begin(src);
                let block_header = self.read_block_header(&mut src)?;
                self.check_beginning(block, &block_header, src)?;
                self.check_end(block, &block_header, chunk_end, src)?;
            }
            let length = room_in_block(src, usize::try_from(left).unwrap_or(usize::MAX));
            if complete {
                let room = self.joined.room(length);
                let read = self.source.read(src, &mut room[..length]);
                let read = read.map_err(|source| read_error(&self.file, source))?;
                src += read as u64;
                if read < length {
                    return Err(Stop::End(src));
                }
                self.joined.advance(length);
            } else {
                src = src.saturating_add(length as u64);
                match self.source.size() {
                    Some(size) if src > size => return Err(Stop::End(size)),
                    _ => {}
                }
            }
            left -= length as u64;
        }
        Ok(())
    }

    /// Reads the rest of the block header that `src` is before or in.
    fn read_block_header(&mut self, src: &mut u64) -> Result<BlockHeader, Stop> {
        let block = block_begin(*src);
        let mut bytes = [0; BLOCK_HEADER_SIZE];
        self.read(src, &mut bytes)?;
        let header = BlockHeader::from_bytes(&bytes);
        let computed = header.computed_hash();
        if header.header_hash != computed {
            return Err(Stop::Damage {
                damage: Damage::BlockHeaderHash {
                    stored: header.header_hash,
                    computed,
                },
                offset: block + BLOCK_HEADER_SIZE as u64,
                recovery: Recovery::FindChunk(*src),
            });
        }
        Ok(header)
    }

    fn check_beginning(&self, block: u64, header: &BlockHeader, src: u64) -> Result<(), Stop> {
        if header.previous_chunk == block - self.pos {
            return Ok(());
        }
        Err(Stop::Damage {
            damage: Damage::BlockHeaderDisagrees {
                block,
                which: "beginning",
                expected: self.pos,
                found: block.wrapping_sub(header.previous_chunk),
            },
            offset: src,
            // A chunk that ends in this block is believed; otherwise the next block header tells more.
            recovery: if header.next_chunk <= BLOCK_SIZE {
                Recovery::HaveChunk(block + header.next_chunk)
            } else {
                Recovery::FindChunk(src)
            },
        })
    }

    fn check_end(&self, block: u64, header: &BlockHeader, chunk_end: u64, src: u64) -> Result<(), Stop> {
        if header.next_chunk == chunk_end - block {
            return Ok(());
        }
        Err(Stop::Damage {
            damage: Damage::BlockHeaderDisagrees {
                block,
                which: "end",
                expected: chunk_end,
                found: block.wrapping_add(header.next_chunk),
            },
            offset: src,
            recovery: Recovery::FindChunk(src),
        })
    }

    /// Fills the small piece `out` from `src` on and moves `src` after it.
    #[inline]
    fn read(&mut self, src: &mut u64, out: &mut [u8]) -> Result<(), Stop> {
        let bytes = self.source.get(*src, out.len());
        let bytes = bytes.map_err(|source| read_error(&self.file, source))?;
        *src += bytes.len() as u64;
        if bytes.len() < out.len() {
            return Err(Stop::End(*src));
        }
        out.copy_from_slice(bytes);
        Ok(())
    }

    /// Returns `pos`, or the end of the file if that is before `pos`.
    fn reach(&mut self, pos: u64) -> Result<u64> {
        self.source.reach(pos).map_err(|source| Error::Io {
            file: self.file.clone(),
            action: "read the file",
            source,
        })
    }
}

/// Opens the file at `path` for reading.
pub(crate) fn open_file(path: &Path, name: &FileName) -> Result<File> {
    File::open(path).map_err(|source| Error::Io {
        file: name.clone(),
        action: "open the file",
        source,
    })
}

/// Creates the file, or empties it.
pub(crate) fn create_file(path: &Path, name: &FileName) -> Result<File> {
    File::create(path).map_err(|source| Error::Io {
        file: name.clone(),
        action: "create the file",
        source,
    })
}

fn read_error(file: &FileName, source: std::io::Error) -> Stop {
    Stop::Io(Error::Io {
        file: file.clone(),
        action: "read the file",
        source,
    })
}

/// Returns how many bytes there are from `src` to the next block header.
fn uninterrupted(src: u64) -> usize {
    match remaining_in_block_header(src) {
        // At most 64 KiB.
        0 => (remaining_in_block(src) as usize).min(MAX_PIECE),
        _ => 0,
    }
}

/// Returns how many of `wanted` bytes come before the next block header.
fn room_in_block(src: u64, wanted: usize) -> usize {
    let room = match remaining_in_block(src) {
        0 => BLOCK_SIZE,
        room => room,
    };
    // At most 64 KiB.
    wanted.min(room as usize)
}
