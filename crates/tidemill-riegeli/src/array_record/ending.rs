//! Where the records of a file end: before the footer of an ArrayRecord file, or with the file.
//!
//! The postscript tells, in the last 64 KiB. A file that lost it, as a download that broke off does, is known by its footer: that
//! is the last chunk with records, or the last but one before a postscript, and says of each chunk before it where it begins and
//! how many records it has. What was cut off before the footer has nothing that a Riegeli/records file does not have: it is read
//! as one, and nothing can tell that its last chunk is not the last one that was written.

use super::footer::{IndexChunk, POSTSCRIPT_COPIES, decode, read_postscript};
use crate::{
    ChunkHeader, ChunkReader, ChunkType, Error, FileName, ReaderOptions, Result, SkippedRegion, Source,
    block_header::{BLOCK_SIZE, block_begin},
    chunk_decoder::ChunkDecoder,
    error::{Corrupt, Damage},
};

/// Where the records of a file end.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    /// With the file.
    File,
    /// At the footer, which a sound postscript leads to.
    Footer(u64),
    /// At a footer without a sound postscript after it.
    NoPostscript(LostPostscript),
    /// The end of the file is damaged, and whether there was an index is not known.
    Unknown(Box<Corrupt>),
}

/// An ArrayRecord file that ends without its postscript.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostPostscript {
    pub(crate) footer: u64,
    /// Where the chunk of the footer ends.
    pub(crate) footer_end: u64,
    /// The size of the file; the end of the footer as long as it is not known.
    pub(crate) size: u64,
    /// Where a postscript of a stream begins, which is sound if the stream ends a block behind.
    pub(crate) postscript: Option<u64>,
    /// Whether there is a sound postscript, but so far after the footer that it is the one of another file.
    pub(crate) is_elsewhere: bool,
}

impl Ending {
    /// Returns where the footer begins, if there is one.
    pub(crate) fn footer(&self) -> Option<u64> {
        match self {
            Self::Footer(footer) => Some(*footer),
            Self::NoPostscript(lost) => Some(lost.footer),
            Self::File | Self::Unknown(_) => None,
        }
    }
}

impl LostPostscript {
    /// Returns whether there was a postscript where the file turned out to end.
    pub(crate) fn is_found(&self) -> bool {
        self.postscript.and_then(|begin| begin.checked_add(BLOCK_SIZE)) == Some(self.size)
    }

    fn damage(&self) -> Damage {
        if self.is_elsewhere {
            return Damage::BehindFooter {
                footer: self.footer,
                size: self.size,
            };
        }
        Damage::NoPostscript {
            footer: self.footer,
            size: self.size,
        }
    }

    pub(crate) fn error(&self, file: &FileName) -> Error {
        self.damage().at(file, self.footer, self.footer_end)
    }

    /// Returns what the file lost, as damage that recovery leaves out.
    pub(crate) fn region(&self) -> SkippedRegion {
        SkippedRegion {
            begin: self.footer_end.min(self.size),
            end: self.size,
            why: self.damage().to_string(),
        }
    }
}

/// Finds where the records end, and leaves the reader, which must have random access, where it was.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn find_ending<S: Source>(chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<Ending> {
    let pos = chunks.pos();
    let ending = match read_postscript(chunks, options) {
        Ok(footer) => match far_end_of_footer(chunks, footer)? {
            None => Ok(Ending::Footer(footer)),
            Some(footer_end) => Ok(Ending::NoPostscript(LostPostscript {
                footer,
                footer_end,
                size: chunks.size().unwrap_or_default(),
                postscript: None,
                is_elsewhere: true,
            })),
        },
        Err(Error::ArrayRecord { .. }) => look_for_footer(chunks, options),
        Err(error) => Err(error),
    };
    chunks.jump(pos);
    ending
}

/// Returns where the chunk of the footer ends, if that is farther from the postscript than padding takes: then files were put one
/// after another, and the postscript of the last one has the place of a footer in its own file. What is wrong with the footer itself is
/// for others to find.
pub(super) fn far_end_of_footer<S: Source>(chunks: &mut ChunkReader<S>, footer: u64) -> Result<Option<u64>> {
    let postscript = chunks.size().unwrap_or_default().saturating_sub(BLOCK_SIZE);
    let header = match chunks.seek(footer).and_then(|()| chunks.peek_header()) {
        Err(error @ Error::Io { .. }) => return Err(error),
        header => header.ok().flatten(),
    };
    let end = header.map(|header| header.chunk_end(footer));
    Ok(end.filter(|end| postscript.saturating_sub(*end) >= BLOCKS_BEHIND_FOOTER * BLOCK_SIZE))
}

/// Looks for a footer among the last chunks of a file without a sound postscript.
fn look_for_footer<S: Source>(chunks: &mut ChunkReader<S>, options: &ReaderOptions) -> Result<Ending> {
    let size = chunks.size().unwrap_or_default();
    let mut damage = None;
    let last = last_chunks_of_records(chunks, size, &mut damage)?;
    for (begin, header) in last.into_iter().flatten() {
        let mut found = None;
        if may_be_index(&header) {
            let mut decoder = ChunkDecoder::default();
            match decode(chunks, &mut decoder, begin, options) {
                Ok(records) => found = IndexChunk::of(records, begin),
                Err(Error::Corrupt(corrupt)) => _ = damage.get_or_insert(corrupt),
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        match found {
            Some(IndexChunk::Footer) => {
                return Ok(Ending::NoPostscript(LostPostscript {
                    footer: begin,
                    footer_end: header.chunk_end(begin),
                    size,
                    postscript: None,
                    is_elsewhere: false,
                }));
            }
            // The footer is before it.
            _ if header.num_records == POSTSCRIPT_COPIES as u64 => {}
            _ => break,
        }
    }
    Ok(damage.map_or(Ending::File, Ending::Unknown))
}

/// Returns the last two chunks with records, the last one first, of those that begin in the last blocks of the file or reach
/// into them.
fn last_chunks_of_records<S: Source>(
    chunks: &mut ChunkReader<S>,
    size: u64,
    damage: &mut Option<Box<Corrupt>>,
) -> Result<[Option<(u64, ChunkHeader)>; 2]> {
    let last_block = block_begin(size.saturating_sub(1));
    for blocks in BLOCKS_BEHIND_FOOTER..=BLOCKS_BEHIND_FOOTER + MORE_BLOCKS {
        let block = last_block.saturating_sub(blocks * BLOCK_SIZE);
        // Not from the chunk where the reader is.
        chunks.jump(size);
        match chunks.seek_to_chunk_before(block) {
            Ok(()) => break,
            Err(Error::Corrupt(corrupt)) => _ = damage.get_or_insert(corrupt),
            Err(error) => return Err(error),
        }
        if block == 0 {
            break;
        }
    }
    let mut last = [None, None];
    loop {
        let begin = chunks.pos();
        match chunks.skip_chunk() {
            Ok(Some(header)) if header.num_records > 0 => last = [Some((begin, header)), last[0]],
            Ok(Some(_)) => {}
            Ok(None) => return Ok(last),
            Err(Error::Corrupt(corrupt)) => {
                damage.get_or_insert(corrupt);
                if chunks.recover()?.is_none() {
                    return Ok(last);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether a chunk may be a footer or a postscript by its header: their records are short.
pub(crate) fn may_be_index(header: &ChunkHeader) -> bool {
    let limit = header
        .num_records
        .saturating_mul(LONGEST_ENTRY)
        .saturating_add(LONGEST_METADATA);
    header.chunk_type == ChunkType::Simple && header.decoded_data_size <= limit
}

/// A footer is followed by the padding before the postscript, less than two blocks, and by the block of that.
const BLOCKS_BEHIND_FOOTER: u64 = 2;
/// How many blocks before are tried when the header of a block is damaged.
const MORE_BLOCKS: u64 = 2;

/// Three numbers with their tags.
const LONGEST_ENTRY: u64 = 33;
/// The first record of a footer has the options of its writer as text.
const LONGEST_METADATA: u64 = 4 << 10;
