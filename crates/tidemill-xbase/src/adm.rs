//! ADM: the memos of an ADT. The header has the number of the next free block and the length of a block, both of four bytes and
//! big-endian; values lie at their block without a head or a mark at their end, and their length is in the record.
//!
//! Learned from 37 files that Advantage wrote. Block lengths are 8 to 32,768 ("Memo Files (ADM)" in the Advantage help, which also
//! has the default for new files, 256; most files at hand have 8). docs/formats/adt.md has the layout.

use crate::error::{Error, Result};
use crate::header::u32_at;
use crate::memo::Fault;
use crate::source::Source;

/// Where the header has the length of a block.
const BLOCK_SIZE_AT: u64 = 4;
/// Where the values of a new file begin.
pub(crate) const DATA_AT: u64 = 2048;
/// The length of a block of a new file.
pub(crate) const BLOCK_SIZE: u32 = 8;

/// The length of a block, by the first bytes of a file.
pub(crate) fn block_size(source: &Source, head: &[u8]) -> Result<u32> {
    let size = head
        .get(4..)
        .and_then(<[u8]>::first_chunk)
        .map(|size| u32::from_be_bytes(*size));
    let expected = "8 to 32768 bytes";
    match size {
        Some(size @ 8..=32_768) => Ok(size),
        Some(size) => Err(Error::corrupt(
            source.path(),
            "block size",
            BLOCK_SIZE_AT,
            expected,
            size.to_string(),
        )),
        None => Err(Error::corrupt(
            source.path(),
            "memo header",
            0,
            "at least 8 bytes with the block size",
            format!("{} bytes", source.len()),
        )),
    }
}

/// The block and the length that a field has; `None` for no value.
pub(crate) fn pointer(cell: &[u8]) -> Result<Option<(u64, Option<u32>)>, Fault> {
    let (Some(block), Some(len)) = (u32_at(cell, 0), u32_at(cell, 4)) else {
        let found = format!("{} bytes", cell.len());
        return Err(Fault::new(0, "a block and a length in 9 bytes", found));
    };
    match (len, cell.get(8)) {
        (0, _) => Ok(None),
        (_, Some(0)) => Ok(Some((u64::from(block), Some(len)))),
        (_, last) => Err(Fault::new(
            0,
            "a zero behind the block and the length",
            last.map_or("nothing".to_owned(), |last| format!("{last:02x}")),
        )),
    }
}
