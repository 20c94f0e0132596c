//! Where a file can be continued.
//!
//! The C++ library writes at the end of the file whatever is there, and advises padding to 64 KiB for files that may be torn
//! (google/riegeli, `riegeli/records/record_writer.h`, `set_padding`). Here the end is looked at, by the block headers and
//! chunk headers of its last 64 KiB:
//!
//! - after a complete chunk writing continues;
//! - a chunk that the file ends in is cut off: no flush has returned that it was part of, and no reader could return it;
//! - a file with a part of its signature and zeros, which a crash may leave of a new one, starts again;
//! - behind anything else that cannot be followed to the end nothing is cut off. Padding up to the next block boundary makes
//!   what is appended readable after the damage.
//!
//! Data hashes are not verified.

use crate::{
    ChunkReader, Error, Result, Source,
    block_header::{BLOCK_HEADER_SIZE, BlockHeader, block_begin},
    chunk_header::{CHUNK_HEADER_SIZE, ChunkHeader, ChunkType},
    error::{Corrupt, Damage},
    hash::hash,
};

/// Where writing continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of the file.
    Whole,
    /// Here, at the end of the last complete chunk, when what follows is cut off.
    Torn(u64),
    /// At the end of the file, behind padding up to a block boundary.
    Damaged,
}

/// Size of the signature: its block header and its chunk header.
const SIGNATURE_SIZE: usize = BLOCK_HEADER_SIZE + CHUNK_HEADER_SIZE;

/// Finds the end of the file that `chunks` reads. It must have random access.
///
/// # Errors
/// [`Error::Corrupt`] when the file does not begin as a Riegeli/records file does; [`Error::Io`].
pub(super) fn find_end<S: Source>(chunks: &mut ChunkReader<S>) -> Result<End> {
    let size = chunks.size().unwrap_or_default();
    if size == 0 {
        return Ok(End::Whole);
    }
    if size < SIGNATURE_SIZE as u64 || matches!(chunks.check_file_format(), Err(Error::Corrupt(_))) {
        // What a crash leaves of a new file may have its size and nothing else.
        if chunks.is_blank_behind(&signature())? {
            return Ok(End::Torn(0));
        }
        return Err(Error::Corrupt(Box::new(Corrupt {
            file: chunks.file().clone(),
            chunk_begin: 0,
            offset: 0,
            damage: Damage::MissingSignature,
        })));
    }
    // A block header that the file ends in, or before, belongs to what is before it.
    let block = block_begin(size);
    let probe = match size - block <= BLOCK_HEADER_SIZE as u64 && block > 0 {
        true => block - 1,
        false => size,
    };
    match follow(chunks, probe) {
        Ok(end) if end == size => Ok(End::Whole),
        Ok(end) => Ok(End::Torn(end)),
        Err(Error::Corrupt(_)) => Ok(End::Damaged),
        Err(error) => Err(error),
    }
}

/// Returns the end of the last complete chunk, found from a position before.
fn follow<S: Source>(chunks: &mut ChunkReader<S>, probe: u64) -> Result<u64> {
    chunks.seek_to_chunk_before(probe)?;
    while chunks.skip_chunk()?.is_some() {}
    let end = chunks.pos();
    // The block headers in what there is of the incomplete chunk must agree with it.
    chunks.seek(end)?;
    chunks.next_chunk()?;
    Ok(end)
}

fn signature() -> [u8; SIGNATURE_SIZE] {
    let header = ChunkHeader::new(ChunkType::FileSignature, 0, hash(b""), 0, 0);
    let mut bytes = [0; SIGNATURE_SIZE];
    bytes[..BLOCK_HEADER_SIZE].copy_from_slice(&BlockHeader::new(0, SIGNATURE_SIZE as u64).to_bytes());
    bytes[BLOCK_HEADER_SIZE..].copy_from_slice(&header.to_bytes());
    bytes
}
