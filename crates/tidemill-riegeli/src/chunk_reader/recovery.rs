//! Continuing after damage.
//!
//! Source: google/riegeli, `riegeli/records/chunk_reader.cc`, `Recover`.

use super::{ChunkReader, Recovery, Stop};
use crate::{
    Result, SkippedRegion, Source,
    block_header::{is_possible_chunk_boundary, remaining_in_block},
};

impl<S: Source> ChunkReader<S> {
    /// Moves past the damage that the last call failed with, or the chunk that is larger than the limit, and returns the region
    /// left out. `None` when the last call did not fail, or failed for another reason.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn recover(&mut self) -> Result<Option<SkippedRegion>> {
        let (why, recovery) = match (&self.stopped, &self.header) {
            (Some(Stop::Damage { damage, recovery, .. }), _) => (damage.to_string(), *recovery),
            (Some(Stop::Limit(damage)), Some(header)) => {
                (damage.to_string(), Recovery::HaveChunk(header.chunk_end(self.pos)))
            }
            _ => return Ok(None),
        };
        let begin = self.pos;
        let end = self.go_behind(recovery)?;
        Ok(Some(SkippedRegion {
            begin: begin.min(end),
            end,
            why,
        }))
    }

    /// Moves to where reading can continue, and returns the end of the region left out.
    fn go_behind(&mut self, mut recovery: Recovery) -> Result<u64> {
        loop {
            match recovery {
                Recovery::HaveChunk(pos) => {
                    let reached = self.reach(pos)?;
                    self.jump(pos);
                    if reached < pos {
                        return Ok(reached);
                    }
                    if is_possible_chunk_boundary(pos) {
                        return Ok(pos);
                    }
                    recovery = Recovery::FindChunk(pos);
                }
                Recovery::FindChunk(pos) => {
                    let block = pos.saturating_add(remaining_in_block(pos));
                    let reached = self.reach(block)?;
                    self.jump(block);
                    if reached < block {
                        return Ok(reached);
                    }
                    let mut src = block;
                    match self.read_block_header(&mut src) {
                        Ok(header) if header.previous_chunk == 0 => return Ok(block),
                        Ok(header) => {
                            let next = block.saturating_add(header.next_chunk);
                            if !is_possible_chunk_boundary(next) {
                                recovery = Recovery::FindChunk(next);
                                continue;
                            }
                            let reached = self.reach(next)?;
                            self.jump(next);
                            return Ok(reached);
                        }
                        Err(Stop::Damage { recovery: again, .. }) => recovery = again,
                        Err(Stop::Io(error)) => return Err(error),
                        // The file ends in the block header: it is found truncated when reading continues.
                        Err(Stop::End(_) | Stop::Limit(_)) => return Ok(block),
                    }
                }
            }
        }
    }
}
