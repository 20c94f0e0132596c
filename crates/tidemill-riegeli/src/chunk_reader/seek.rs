//! Moving to a chunk: by its position, or by any position in it, with the help of block headers.
//!
//! Source: google/riegeli, `riegeli/records/chunk_reader.cc`, `Seek` and `SeekToChunk`. What a call finds is where the C++
//! library would be; damage on the way is an error that [`ChunkReader::recover`] passes.

use super::{ChunkReader, Recovery, Stop};
use crate::{
    Result, Source,
    block_header::{block_begin, is_possible_chunk_boundary},
    error::Damage,
};

/// Which chunk a position stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Containing,
    Before,
    After,
}

impl<S: Source> ChunkReader<S> {
    /// Makes the chunk at `pos` the next one. `pos` may be the end of the file.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when `pos` is past the end or no chunk can begin there;
    /// [`Error::Io`](crate::Error::Io).
    pub fn seek(&mut self, pos: u64) -> Result<()> {
        self.jump(pos);
        let reached = self.reach(pos)?;
        if reached < pos {
            return self.fail(past_end(pos, reached));
        }
        if !is_possible_chunk_boundary(pos) {
            return self.fail(Stop::Damage {
                damage: Damage::ChunkBoundary,
                offset: pos,
                recovery: Recovery::FindChunk(pos),
            });
        }
        Ok(())
    }

    /// Goes to the chunk that holds the record which `pos` stands for: the chunk's beginning plus the number of the record in
    /// it. After the last record of a chunk, that is the next chunk.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when `pos` is past the end, and for damage on the way;
    /// [`Error::Io`](crate::Error::Io).
    pub fn seek_to_chunk_containing(&mut self, pos: u64) -> Result<()> {
        self.seek_to_chunk(pos, Which::Containing)
    }

    /// Goes to the last chunk that begins at `pos` or before.
    ///
    /// # Errors
    /// As [`Self::seek_to_chunk_containing`].
    pub fn seek_to_chunk_before(&mut self, pos: u64) -> Result<()> {
        self.seek_to_chunk(pos, Which::Before)
    }

    /// Goes to the first chunk that begins at `pos` or behind, or to the end of the file.
    ///
    /// # Errors
    /// As [`Self::seek_to_chunk_containing`].
    pub fn seek_to_chunk_after(&mut self, pos: u64) -> Result<()> {
        self.seek_to_chunk(pos, Which::After)
    }

    fn seek_to_chunk(&mut self, pos: u64, which: Which) -> Result<()> {
        let is_damaged = matches!(self.stopped, Some(Stop::Damage { .. }));
        if self.pos == pos && !is_damaged {
            self.last = None;
            return Ok(());
        }
        let block = block_begin(pos);
        let mut next = None;
        if self.pos < pos && !is_damaged {
            // The block header is not needed when the current chunk, or the one after it, leads there.
            match self.try_current(pos, which)? {
                Some(None) => return Ok(()),
                Some(Some(end)) => next = Some(end).filter(|&end| end >= block),
                None => return self.fail(past_end(pos, self.end_seen())),
            }
        }
        let begin = match next {
            Some(begin) => begin,
            None => match self.chunk_at_block(block, pos, which)? {
                Some(begin) => begin,
                None => return Ok(()),
            },
        };
        self.jump(begin);
        loop {
            let reached = self.reach(self.pos)?;
            if reached < self.pos {
                return self.fail(past_end(pos, reached));
            }
            if self.pos >= pos {
                return Ok(());
            }
            match self.try_current(pos, which)? {
                Some(None) => return Ok(()),
                Some(Some(end)) => self.jump(end),
                None => return self.fail(past_end(pos, self.end_seen())),
            }
        }
    }

    /// Looks at the current chunk, which begins before `pos`: `Some(None)` when it is the one, `Some(end)` when another must
    /// be looked for from its end on, `None` at the end of the file.
    fn try_current(&mut self, pos: u64, which: Which) -> Result<Option<Option<u64>>> {
        let Some(header) = self.peek_header()? else {
            return Ok(None);
        };
        let end = header.chunk_end(self.pos);
        let found = match which {
            Which::Containing => self.pos.saturating_add(header.num_records) > pos,
            Which::Before => end > pos,
            Which::After => false,
        };
        self.last = None;
        Ok(Some(Some(end).filter(|_| !found)))
    }

    /// Returns the chunk to begin the walk to `pos` at, by the block header at `block`. `None` when the reader is there.
    fn chunk_at_block(&mut self, block: u64, pos: u64, which: Which) -> Result<Option<u64>> {
        self.jump(block);
        let reached = self.reach(block)?;
        if reached < block {
            return self.fail(past_end(pos, reached)).map(|()| None);
        }
        let mut src = block;
        let header = match self.read_block_header(&mut src) {
            Ok(header) => header,
            // The file ends at the block boundary, and so does a chunk.
            Err(Stop::End(end)) if end == block && block >= pos => return Ok(None),
            Err(Stop::End(end)) => return self.fail(past_end(pos, end)).map(|()| None),
            Err(stop) => return self.fail(stop).map(|()| None),
        };
        if header.previous_chunk == 0 {
            return Ok(Some(block));
        }
        let next = block.saturating_add(header.next_chunk);
        let begin = match which {
            Which::Containing | Which::Before if next > pos => block.checked_sub(header.previous_chunk),
            _ => Some(next),
        };
        match begin.filter(|&begin| is_possible_chunk_boundary(begin)) {
            Some(begin) => Ok(Some(begin)),
            None => self
                .fail(Stop::Damage {
                    damage: Damage::BlockHeaderDisagrees {
                        block,
                        which: if begin == Some(next) { "end" } else { "beginning" },
                        expected: block,
                        found: begin.unwrap_or_else(|| block.wrapping_sub(header.previous_chunk)),
                    },
                    offset: src,
                    recovery: Recovery::FindChunk(src),
                })
                .map(|()| None),
        }
    }

    fn end_seen(&self) -> u64 {
        match self.stopped {
            Some(Stop::End(end)) => end,
            _ => self.source.size().unwrap_or(self.pos),
        }
    }

    /// Keeps `stop` and returns the error that it is.
    fn fail(&mut self, stop: Stop) -> Result<()> {
        self.stop::<()>(stop).map(|_| ())
    }
}

fn past_end(pos: u64, size: u64) -> Stop {
    Stop::Damage {
        damage: Damage::PastEnd { size },
        offset: pos,
        recovery: Recovery::FindChunk(size),
    }
}
