//! Changing values of a memo file in place.
//!
//! As the original programs do, a value that needs no more blocks than the old one goes where that was, and any other
//! gets new blocks at the end. The data are written before the header that counts them, so that a failure in between
//! leaves a sound file. Layouts: docs/formats/xbase-memo.md.
//!
//! Blocks that a longer value leaves behind are not entered into the lists of free blocks that SIx, FlexFile and
//! dBASE IV keep, nor are those lists drawn from; packing the table wins the room back.

use std::path::Path;
use std::time::Duration;

use crate::adm;
use crate::error::{Error, Result};
use crate::header::u32_at;
use crate::lock::{LockKind, LockScheme, LockSubject};
use crate::memo::{Memo, MemoDialect};
use crate::memo_writer::{Frame, block_size};
use crate::storage::DataFile;
use crate::transaction::{KeptLocks, TransactionLog};

#[derive(Debug)]
pub(crate) struct MemoEditor {
    file: DataFile,
    dialect: MemoDialect,
    block_size: u64,
    /// Taken around each change where others have the file open too.
    locks: Option<(KeptLocks, LockScheme, Duration)>,
}

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoPlace {
    pub(crate) block: u32,
    /// The length, where it is kept in the record.
    pub(crate) len: Option<u32>,
}

impl MemoPlace {
    /// Writes the pointer into the cell of a record.
    pub(crate) fn put(self, dialect: MemoDialect, cell: &mut [u8]) {
        let Self { block, len } = self;
        let width = cell.len();
        let pointer = match (width, dialect) {
            (4, _) => block.to_le_bytes().to_vec(),
            // Type 1 is text; SIx keeps bytes under the same type.
            (_, MemoDialect::Smt) => [
                &[1, 0][..],
                &len.unwrap_or_default().to_le_bytes(),
                &block.to_le_bytes(),
            ]
            .concat(),
            (_, MemoDialect::Adm) => [&block.to_le_bytes()[..], &len.unwrap_or_default().to_le_bytes(), &[0]].concat(),
            _ => format!("{block:>width$}").into_bytes(),
        };
        if pointer.len() == width {
            cell.copy_from_slice(&pointer);
        }
    }
}

impl MemoEditor {
    pub(crate) fn new(memo: &Memo, file: DataFile) -> Self {
        Self {
            file,
            dialect: memo.dialect(),
            block_size: u64::from(memo.block_size()),
            locks: None,
        }
    }

    /// An editor of a file that was just made by a [`MemoWriter`](crate::memo_writer::MemoWriter).
    pub(crate) fn created(file: DataFile, dialect: MemoDialect) -> Self {
        Self {
            file,
            dialect,
            block_size: block_size(dialect),
            locks: None,
        }
    }

    /// Another editor of the same file.
    pub(crate) fn beside(&self) -> Self {
        self.like(self.file.clone())
    }

    /// Locks the file around each change from now on.
    pub(crate) fn share(&mut self, locks: KeptLocks, scheme: LockScheme, timeout: Duration) {
        self.locks = Some((locks, scheme, timeout));
    }

    /// Lets the locks be kept by a log's transactions, or by none.
    pub(crate) fn use_log(&mut self, log: Option<&TransactionLog>) {
        if let Some((locks, ..)) = &mut self.locks {
            locks.use_log(log);
        }
    }

    /// Locks the file until [`MemoEditor::unlock`]. Alone, nothing needs a lock.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Io`].
    pub(crate) fn lock(&self) -> Result<()> {
        self.locks.as_ref().map_or(Ok(()), |(locks, scheme, timeout)| {
            locks.lock(LockSubject::Memo, scheme.memo(), LockKind::Exclusive, *timeout)
        })
    }

    fn unlock(&self) -> Result<()> {
        self.locks
            .as_ref()
            .map_or(Ok(()), |(locks, ..)| locks.unlock(LockSubject::Memo))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&self) -> &DataFile {
        &self.file
    }

    pub(crate) fn dialect(&self) -> MemoDialect {
        self.dialect
    }

    /// Writes a value, over the old one when it fits there, and returns its place.
    ///
    /// # Errors
    /// `Ok(Err(…))` says what the value would have to be, when the format cannot hold it.
    pub(crate) fn replace(
        &self,
        old: Option<MemoPlace>,
        value: &[u8],
        text: bool,
    ) -> Result<Result<MemoPlace, &'static str>> {
        let frame = match Frame::new(self.dialect, value, text) {
            Ok(frame) => frame,
            Err(expected) => return Ok(Err(expected)),
        };
        self.lock()?;
        let written = self.write(old, &frame);
        self.unlock()?;
        written
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    fn write(&self, old: Option<MemoPlace>, frame: &Frame<'_>) -> Result<Result<MemoPlace, &'static str>> {
        let needed = frame.byte_len().div_ceil(self.block_size);
        let len = frame.len_in_record();
        if let Some(old) = old
            && needed <= self.blocks_of(old)?
        {
            let mut bytes = Vec::new();
            frame.write_to(&mut bytes);
            self.put(old.block, needed, &bytes)?;
            return Ok(Ok(MemoPlace { block: old.block, len }));
        }
        let mut bytes = Vec::new();
        frame.write_to(&mut bytes);
        Ok(self.append(&bytes)?.map(|block| MemoPlace { block, len }))
    }

    /// Writes a value with all that its dialect puts around it to the end of the file and returns its block.
    ///
    /// # Errors
    /// `Ok(Err(…))` says what the value would have to be, when the format cannot hold it.
    pub(crate) fn append(&self, framed: &[u8]) -> Result<Result<u32, &'static str>> {
        let counter = self.end_counter()?;
        let end = self.file.len()?.div_ceil(self.block_size).max(u64::from(counter.value));
        let blocks = (framed.len() as u64).div_ceil(self.block_size);
        let (Ok(block), Ok(next)) = (u32::try_from(end), u32::try_from(end + blocks)) else {
            return Ok(Err("a place within the memo file's 2^32 blocks"));
        };
        self.put(block, blocks, framed)?;
        self.file.write(counter.offset, &self.number(next))?;
        Ok(Ok(block))
    }

    /// A value with all that its dialect puts around it; `None` where there is no value.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn framed(&self, place: MemoPlace) -> Result<Option<Vec<u8>>> {
        let start = u64::from(place.block) * self.block_size;
        let left = self.file.len()?.saturating_sub(start);
        let len = match self.bytes_of(place)? {
            Some(len) if len <= left => len,
            _ => return Ok(None),
        };
        let Ok(len) = usize::try_from(len) else {
            return Ok(None);
        };
        let mut bytes = vec![0; len];
        self.file.read("memo", start, &mut bytes)?;
        if self.dialect == MemoDialect::Dbt3 {
            bytes.push(0x1A);
        }
        Ok(Some(bytes))
    }

    /// An editor of a file that gets this one's header and no values.
    pub(crate) fn emptied(&self, file: DataFile) -> Result<Self> {
        file.write(0, &self.empty_header()?)?;
        Ok(self.like(file))
    }

    /// This editor, once its file has another name.
    pub(crate) fn moved(self, file: DataFile) -> Self {
        self.like(file)
    }

    /// Removes all values. Memo files of FlexFile keep them, since their directory of free space would have to go too.
    pub(crate) fn zap(&self) -> Result<()> {
        if self.dialect == MemoDialect::FptFlex {
            return Ok(());
        }
        let header = self.empty_header()?;
        self.file.write(0, &header)?;
        self.file.set_len(header.len() as u64)
    }

    fn like(&self, file: DataFile) -> Self {
        Self {
            file,
            dialect: self.dialect,
            block_size: self.block_size,
            locks: None,
        }
    }

    /// The header of a file without values, with no list of free blocks.
    fn empty_header(&self) -> Result<Vec<u8>> {
        let values_at = match self.dialect {
            MemoDialect::Adm => adm::DATA_AT,
            _ => HEADER,
        };
        let mut header = vec![0; usize::try_from(self.file.len()?.min(values_at)).unwrap_or_default()];
        self.file.read("memo header", 0, &mut header)?;
        let header_len = values_at.div_ceil(self.block_size) * self.block_size;
        header.resize(usize::try_from(header_len).unwrap_or(header.len()), 0);
        let first = u32::try_from(header_len / self.block_size).unwrap_or(1);
        if let Some(slot) = header.get_mut(..4) {
            slot.copy_from_slice(&self.number(first));
        }
        let lists_at = match self.dialect {
            MemoDialect::FptSix => 18,
            MemoDialect::Adm => 8,
            _ => header.len(),
        };
        if let Some(free) = header.get_mut(lists_at..) {
            free.fill(0);
        }
        Ok(header)
    }

    fn number(&self, number: u32) -> [u8; 4] {
        match self.dialect {
            MemoDialect::Dbt3 | MemoDialect::Dbt4 | MemoDialect::Smt => number.to_le_bytes(),
            _ => number.to_be_bytes(),
        }
    }

    fn put(&self, block: u32, blocks: u64, framed: &[u8]) -> Result<()> {
        let mut bytes = framed.to_vec();
        bytes.resize(usize::try_from(blocks * self.block_size).unwrap_or(bytes.len()), 0);
        self.file.write(u64::from(block) * self.block_size, &bytes)
    }

    /// How many blocks a value has; 0 where no value can be.
    fn blocks_of(&self, place: MemoPlace) -> Result<u64> {
        let left = self
            .file
            .len()?
            .saturating_sub(u64::from(place.block) * self.block_size);
        let bytes = self.bytes_of(place)?.filter(|bytes| *bytes <= left);
        Ok(bytes.unwrap_or_default().div_ceil(self.block_size))
    }

    /// How many bytes a value has with what is around it (of two ends of a text, the first counts); `None` for a pointer to
    /// where no value can be.
    fn bytes_of(&self, place: MemoPlace) -> Result<Option<u64>> {
        let start = u64::from(place.block) * self.block_size;
        let left = self.file.len()?.saturating_sub(start);
        let mut head = [0; 8];
        Ok(match self.dialect {
            _ if start < HEADER || left == 0 => None,
            MemoDialect::Smt | MemoDialect::Adm => place.len.map(u64::from),
            MemoDialect::Dbt3 => self.end_of_text(start, left)?,
            _ if left < 8 => None,
            MemoDialect::Dbt4 => {
                self.file.read("memo", start, &mut head)?;
                let marked = head.starts_with(&[0xFF, 0xFF, 0x08, 0x00]);
                u32_at(&head, 4).filter(|len| marked && *len >= 8).map(u64::from)
            }
            _ => {
                self.file.read("memo", start, &mut head)?;
                head.last_chunk().map(|b| u64::from(u32::from_be_bytes(*b)) + 8)
            }
        })
    }

    fn end_of_text(&self, start: u64, left: u64) -> Result<Option<u64>> {
        let (mut block, mut at) = ([0; 512], 0);
        while at < left {
            let step = usize::try_from((left - at).min(512)).unwrap_or(512);
            let part = block.get_mut(..step).unwrap_or_default();
            self.file.read("memo", start + at, part)?;
            if let Some(end) = part.iter().position(|b| *b == 0x1A) {
                return Ok(Some(at + end as u64 + 1));
            }
            at += 512;
        }
        Ok(None)
    }

    /// The number that says where new blocks begin: in the header, and behind the last free block of dBASE IV, whose list
    /// ends at a block beyond the file.
    fn end_counter(&self) -> Result<Counter> {
        let blocks = self.file.len()?.div_ceil(self.block_size);
        let mut offset = 0;
        for _ in 0..=blocks {
            let mut bytes = [0; 4];
            self.file.read("next free block", offset, &mut bytes)?;
            let value = match self.dialect {
                MemoDialect::Dbt3 | MemoDialect::Dbt4 | MemoDialect::Smt => u32::from_le_bytes(bytes),
                _ => u32::from_be_bytes(bytes),
            };
            if self.dialect != MemoDialect::Dbt4 || u64::from(value) >= blocks {
                return Ok(Counter { offset, value });
            }
            offset = u64::from(value) * self.block_size;
        }
        let expected = "a list of free blocks with an end";
        Err(Error::corrupt(
            self.file.path(),
            "next free block",
            0,
            expected,
            "a loop",
        ))
    }
}

/// Where values begin at the earliest.
const HEADER: u64 = 512;

/// A block number within the memo file.
struct Counter {
    offset: u64,
    value: u32,
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use super::*;

    fn dbase4(blocks: &[(usize, [u32; 2])], len: usize) -> (tempfile::NamedTempFile, MemoEditor) {
        let mut bytes = vec![0u8; len];
        bytes[20..22].copy_from_slice(&512u16.to_le_bytes());
        for (at, numbers) in blocks {
            for (i, number) in numbers.iter().enumerate() {
                bytes[at + 4 * i..][..4].copy_from_slice(&number.to_le_bytes());
            }
        }
        let named = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(named.path(), &bytes).unwrap();
        let file = Arc::new(File::options().read(true).write(true).open(named.path()).unwrap());
        let editor = MemoEditor {
            file: DataFile::new(named.path(), Box::new(file)),
            dialect: MemoDialect::Dbt4,
            block_size: 512,
            locks: None,
        };
        (named, editor)
    }

    #[test]
    fn the_list_of_free_blocks_of_dbase_iv_ends_behind_what_is_appended() {
        // Block 2 is free, and the list goes on at block 4, the end of the file.
        let (named, editor) = dbase4(&[(0, [2, 0]), (1024, [4, 1])], 2048);
        let place = editor.replace(None, &[b'x'; 600], true).unwrap().unwrap();
        assert_eq!(place.block, 4);
        let bytes = std::fs::read(named.path()).unwrap();
        assert_eq!(bytes.len(), 6 * 512);
        assert_eq!(u32_at(&bytes, 0), Some(2));
        assert_eq!(u32_at(&bytes, 1024), Some(6));
        assert_eq!(
            editor.replace(Some(place), &[b'y'; 1016], true).unwrap().unwrap().block,
            4
        );
        assert_eq!(
            editor.replace(Some(place), &[b'z'; 1017], true).unwrap().unwrap().block,
            6
        );
    }

    #[test]
    fn a_list_of_free_blocks_in_a_circle_is_an_error() {
        let (_named, editor) = dbase4(&[(0, [2, 0]), (1024, [3, 1]), (1536, [2, 1])], 2048);
        assert!(matches!(editor.replace(None, b"x", true), Err(Error::Corrupt(_))));
    }
}
