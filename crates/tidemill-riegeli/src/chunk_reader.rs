//! Reading chunks: block headers taken out, hashes verified, and the search for the next sound chunk behind damage.
//!
//! What counts as one skipped region follows the C++ library (google/riegeli, `riegeli/records/chunk_reader.cc`): damaged
//! chunk data lose that chunk, since its header still tells where the next one begins; a damaged header loses everything up
//! to the next block header that points at a chunk; an incomplete chunk at the end of the file is told apart as truncation.
//!
//! The size of the file is taken once; a file that grows meanwhile is read up to its old end.

use std::{io, path::Path};

use crate::{
    Error, Result, SkippedRegion,
    block_header::{
        BLOCK_HEADER_SIZE, BLOCK_SIZE, BlockHeader, block_begin, distance_without_overhead, is_possible_chunk_boundary,
        remaining_in_block, remaining_in_block_header,
    },
    chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType},
    codec::Scratch,
    error::{Corrupt, Damage, FileName},
    hash::hash,
    source::Source,
};

const WINDOW: usize = 128 << 10;
const SMALL_WINDOW: usize = 4 << 10;

/// Reads the chunks of a file one after another.
pub struct ChunkReader<S> {
    source: Window<S>,
    file: FileName,
    /// Where the current chunk begins: the one to be read next. May lie behind the end after recovery.
    pos: u64,
    /// The header of the chunk at `pos`, once read.
    header: Option<ChunkHeader>,
    /// How far reading of the chunk at `pos` came when the file ended inside of it.
    truncated_at: Option<u64>,
    recovery: Recovery,
    data: Scratch,
    /// Beginning, end and header of the chunk that `data` are of.
    last: Option<(u64, u64, ChunkHeader)>,
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

/// Where to go on after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    Impossible,
    /// A chunk is believed to begin here.
    HaveChunk(u64),
    /// Look for a chunk from the next block header behind this position.
    FindChunk(u64),
}

impl<S: Source> ChunkReader<S> {
    /// Reads `source` from the beginning. A chunk may take at most `max_chunk_size` bytes of memory.
    ///
    /// # Errors
    /// [`Error::Io`] when the source does not tell its size.
    pub(crate) fn new(source: S, file: FileName, max_chunk_size: u64) -> Result<Self> {
        let size = source.size().map_err(|source| Error::Io {
            file: file.clone(),
            action: "tell the size of the file",
            source,
        })?;
        Ok(Self {
            source: Window::new(source, size),
            file,
            pos: 0,
            header: None,
            truncated_at: None,
            recovery: Recovery::Impossible,
            data: Scratch::default(),
            last: None,
            max_chunk_size,
        })
    }

    /// Returns where the next chunk begins.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Returns the size of the file.
    pub fn size(&self) -> u64 {
        self.source.size
    }

    /// Returns the name that errors give the file.
    pub(crate) fn file(&self) -> &FileName {
        &self.file
    }

    /// Returns the path of the file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    /// Returns the source.
    pub(crate) fn source(&self) -> &S {
        &self.source.source
    }

    /// Returns the data of the chunk that was read last.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        self.data.as_slice()
    }

    /// Makes the chunk at `pos` the next one.
    pub(crate) fn seek(&mut self, pos: u64) {
        self.pos = pos;
        self.header = None;
        self.truncated_at = None;
        self.recovery = Recovery::Impossible;
    }

    /// Returns the header of the next chunk, `None` at the end of the file. A file that ends inside the header is at its end,
    /// and [`Self::truncation`] tells of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], the same on every call until [`Self::recover`] succeeds; [`Error::Io`].
    pub fn peek_header(&mut self) -> Result<Option<ChunkHeader>> {
        if let Some(header) = self.header {
            return Ok(Some(header));
        }
        self.truncated_at = None;
        match self.read_header() {
            Ok(header) => {
                self.header = Some(header);
                Ok(Some(header))
            }
            Err(stop) => self.stopped(stop),
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
            Ok(end) => {
                self.seek(end);
                self.last = Some((begin, end, header));
                Ok(self.last_chunk())
            }
            Err(stop) => self.stopped(stop),
        }
    }

    /// Returns the chunk that [`Self::next_chunk`] returned.
    pub(crate) fn last_chunk(&self) -> Option<Chunk<'_>> {
        let (begin, end, header) = self.last?;
        Some(Chunk {
            begin,
            end,
            header,
            data: self.data.as_slice(),
        })
    }

    /// Skips the next chunk by its header and returns the header, `None` at the end of the file. The data are not read, so
    /// their hash is not verified.
    ///
    /// # Errors
    /// As [`Self::peek_header`].
    pub fn skip_chunk(&mut self) -> Result<Option<ChunkHeader>> {
        let Some(header) = self.peek_header()? else {
            return Ok(None);
        };
        let end = header.chunk_end(self.pos);
        if end > self.source.size {
            self.truncated_at = Some(self.source.size);
            return Ok(None);
        }
        self.seek(end);
        Ok(Some(header))
    }

    /// Returns [`Error::Truncated`] when the file ended inside the current chunk.
    pub fn truncation(&self) -> Option<Error> {
        let end = self.truncated_at?;
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

    /// Goes behind the damage that `error` of the last call told of, and returns the region left out. `None` when nothing
    /// can be done about it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn recover(&mut self, error: &Error) -> Result<Option<SkippedRegion>> {
        let begin = self.pos;
        let mut recovery = self.recovery;
        if recovery == Recovery::Impossible {
            return Ok(None);
        }
        let end = loop {
            match recovery {
                Recovery::HaveChunk(pos) => {
                    self.seek(pos);
                    if pos > self.source.size {
                        break self.source.size;
                    }
                    if is_possible_chunk_boundary(pos) {
                        break pos;
                    }
                    recovery = Recovery::FindChunk(pos);
                }
                Recovery::FindChunk(pos) => {
                    let block = pos.saturating_add(remaining_in_block(pos));
                    self.seek(block);
                    if block > self.source.size {
                        break self.source.size;
                    }
                    let mut src = block;
                    match self.read_block_header(&mut src) {
                        Ok(header) if header.previous_chunk == 0 => break block,
                        Ok(header) => {
                            let next = block.saturating_add(header.next_chunk);
                            if !is_possible_chunk_boundary(next) {
                                recovery = Recovery::FindChunk(next);
                                continue;
                            }
                            self.seek(next);
                            break next.min(self.source.size);
                        }
                        Err(Stop::Damage { recovery: again, .. }) => recovery = again,
                        // The file ends in the block header: it is found truncated when reading goes on.
                        Err(Stop::End(_)) => break block,
                        Err(Stop::Io(error)) => return Err(error),
                        Err(Stop::Limit(_)) | Err(Stop::Boundary) => break block,
                    }
                }
                Recovery::Impossible => return Ok(None),
            }
        };
        Ok(Some(error.skipped_region(begin, end)))
    }

    /// Turns what stopped reading into the answer of a call, and remembers how to go on.
    fn stopped<T>(&mut self, stop: Stop) -> Result<Option<T>> {
        let chunk_begin = self.pos;
        let (damage, offset, recovery) = match stop {
            Stop::End(at) => {
                self.truncated_at = Some(at).filter(|&at| at > self.pos);
                return Ok(None);
            }
            Stop::Io(error) => return Err(error),
            Stop::Limit(damage) => return Err(damage.at(&self.file, chunk_begin, chunk_begin)),
            Stop::Boundary => (Damage::ChunkBoundary, self.pos, Recovery::FindChunk(self.pos)),
            Stop::Damage {
                damage,
                offset,
                recovery,
            } => (damage, offset, recovery),
        };
        self.header = None;
        self.recovery = recovery;
        Err(Error::Corrupt(Box::new(Corrupt {
            file: self.file.clone(),
            chunk_begin,
            offset,
            damage,
        })))
    }

    fn read_header(&mut self) -> Result<ChunkHeader, Stop> {
        if self.pos >= self.source.size {
            return Err(Stop::End(self.pos));
        }
        if !is_possible_chunk_boundary(self.pos) {
            return Err(Stop::Boundary);
        }
        let mut src = self.pos;
        let mut bytes = [0; CHUNK_HEADER_SIZE];
        let mut filled = 0;
        let mut interrupted_by = None;
        while filled < CHUNK_HEADER_SIZE {
            if remaining_in_block_header(src) > 0 {
                let block = block_begin(src);
                let block_header = self.read_block_header(&mut src)?;
                self.check_beginning(block, &block_header, src)?;
                interrupted_by = Some((block, block_header));
            }
            let length = room_in_block(src, CHUNK_HEADER_SIZE - filled);
            self.source
                .read(&self.file, &mut src, &mut bytes[filled..filled + length])?;
            filled += length;
        }
        let header = ChunkHeader::from_bytes(&bytes);
        let find = |damage| Stop::Damage {
            damage,
            offset: src,
            recovery: Recovery::FindChunk(src),
        };
        let computed = header.computed_hash();
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

    /// Reads the data of the chunk at `pos` and returns the end of the chunk.
    fn read_data(&mut self, header: &ChunkHeader) -> Result<u64, Stop> {
        let end = header.chunk_end(self.pos);
        if end <= self.source.size && header.data_size > self.max_chunk_size {
            return Err(Stop::Limit(Damage::TooLarge {
                what: "the data",
                limit: self.max_chunk_size,
                found: header.data_size,
            }));
        }
        let mut src = crate::block_header::add_with_overhead(self.pos, CHUNK_HEADER_SIZE as u64);
        // Data of a chunk that the file cannot hold are walked for their block headers only.
        let complete = end <= self.source.size;
        self.data.clear();
        let mut left = header.data_size;
        while left > 0 {
            if remaining_in_block_header(src) > 0 {
                let block = block_begin(src);
                let block_header = self.read_block_header(&mut src)?;
                self.check_beginning(block, &block_header, src)?;
                self.check_end(block, &block_header, end, src)?;
            }
            let length = room_in_block(src, usize::try_from(left).unwrap_or(usize::MAX));
            if complete {
                let room = self.data.room(length);
                self.source.read(&self.file, &mut src, &mut room[..length])?;
                self.data.advance(length);
            } else {
                src = src.saturating_add(length as u64);
                if src > self.source.size {
                    return Err(Stop::End(self.source.size));
                }
            }
            left -= length as u64;
        }
        if !complete {
            return Err(Stop::End(self.source.size));
        }
        let computed = hash(self.data.as_slice());
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
        Ok(end)
    }

    /// Reads the rest of the block header that `src` is before or in.
    fn read_block_header(&mut self, src: &mut u64) -> Result<BlockHeader, Stop> {
        let block = block_begin(*src);
        let mut bytes = [0; BLOCK_HEADER_SIZE];
        self.source.read(&self.file, src, &mut bytes)?;
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
}

/// Why reading a chunk stopped.
enum Stop {
    /// The file ends here.
    End(u64),
    /// No chunk can begin at the position.
    Boundary,
    Damage {
        damage: Damage,
        offset: u64,
        recovery: Recovery,
    },
    Limit(Damage),
    Io(Error),
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

/// A source behind a window: small reads come out of one larger read.
struct Window<S> {
    source: S,
    size: u64,
    buffer: Vec<u8>,
    begin: u64,
    length: usize,
}

impl<S: Source> Window<S> {
    fn new(source: S, size: u64) -> Self {
        Self {
            source,
            size,
            buffer: Vec::new(),
            begin: 0,
            length: 0,
        }
    }

    /// Fills `out` from `pos` on and moves `pos` behind it.
    fn read(&mut self, file: &FileName, pos: &mut u64, out: &mut [u8]) -> Result<(), Stop> {
        let mut filled = 0;
        while filled < out.len() {
            let left = &mut out[filled..];
            let read = self.read_some(*pos, left).map_err(|source| {
                Stop::Io(Error::Io {
                    file: file.clone(),
                    action: "read the file",
                    source,
                })
            })?;
            if read == 0 {
                return Err(Stop::End(*pos));
            }
            filled += read;
            *pos += read as u64;
        }
        Ok(())
    }

    fn read_some(&mut self, pos: u64, out: &mut [u8]) -> io::Result<usize> {
        let buffered = pos
            .checked_sub(self.begin)
            .and_then(|offset| usize::try_from(offset).ok())
            .and_then(|offset| self.buffer[..self.length].get(offset..))
            .unwrap_or_default();
        if !buffered.is_empty() {
            let length = buffered.len().min(out.len());
            out[..length].copy_from_slice(&buffered[..length]);
            return Ok(length);
        }
        // Sequential reads fetch a large window; a jump fetches what a header needs.
        let sequential = pos == self.begin + self.length as u64;
        let wanted = if sequential { WINDOW } else { SMALL_WINDOW };
        if out.len() >= wanted {
            let read = self.source.read_at(pos, out)?;
            self.begin = pos + read as u64;
            self.length = 0;
            return Ok(read);
        }
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        self.length = 0;
        self.begin = pos;
        self.length = self.source.read_at(pos, &mut self.buffer[..wanted])?.min(wanted);
        let length = self.length.min(out.len());
        out[..length].copy_from_slice(&self.buffer[..length]);
        Ok(length)
    }
}
