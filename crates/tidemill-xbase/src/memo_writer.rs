//! Appends values to a new memo file, in every dialect that is read.
//!
//! Blocks are written one after another and never reused. Layouts: docs/formats/xbase-memo.md.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::adm;
use crate::error::{Error, Result};
use crate::memo::MemoDialect;
use crate::memo_editor::MemoPlace;
use crate::regular_file;

#[derive(Debug)]
pub(crate) struct MemoWriter {
    path: PathBuf,
    file: BufWriter<File>,
    dialect: MemoDialect,
    block_size: u64,
    next_block: u32,
}

impl MemoWriter {
    /// Makes a file that is not there yet.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Io`].
    pub(crate) fn create(path: &Path, dialect: MemoDialect, block_size: u64) -> Result<Self> {
        let file = regular_file::create(path)?;
        let mut writer = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            dialect,
            block_size,
            next_block: first_block(dialect, block_size),
        };
        writer.write(&header(dialect, block_size, writer.next_block))?;
        Ok(writer)
    }

    /// Writes a value and returns its place.
    ///
    /// # Errors
    /// `Ok(Err(…))` says what the value would have to be, when the format cannot hold it.
    pub(crate) fn append(&mut self, value: &[u8], text: bool) -> Result<Result<MemoPlace, &'static str>> {
        let block = self.next_block;
        let frame = match Frame::new(self.dialect, value, text) {
            Ok(frame) => frame,
            Err(expected) => return Ok(Err(expected)),
        };
        let bytes = frame.byte_len();
        let size = self.block_size;
        let blocks = bytes.div_ceil(size);
        let Some(next) = u32::try_from(blocks).ok().and_then(|b| block.checked_add(b)) else {
            return Ok(Err("a place within the memo file's 2^32 blocks"));
        };
        let padding = blocks * size - bytes;
        for part in frame.parts() {
            self.write(part)?;
        }
        if padding > 0 {
            let last = match self.dialect {
                MemoDialect::FptFlex => FLEX_LAST,
                _ => 0,
            };
            io::copy(&mut io::repeat(0).take(padding - 1), &mut self.file)
                .map_err(|e| Error::io(&self.path, "write", e))?;
            self.write(&[last])?;
        }
        self.next_block = next;
        Ok(Ok(MemoPlace {
            block,
            len: frame.len_in_record(),
        }))
    }

    pub(crate) fn dialect(&self) -> MemoDialect {
        self.dialect
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(|e| Error::io(&self.path, "write", e))?;
        self.write(&header(self.dialect, self.block_size, self.next_block))?;
        self.file.flush().map_err(|e| Error::io(&self.path, "write", e))?;
        self.file
            .get_ref()
            .sync_all()
            .map_err(|e| Error::io(&self.path, "sync", e))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .map_err(|e| Error::io(&self.path, "write", e))
    }
}

/// The file of no memos.
pub(crate) fn empty(dialect: MemoDialect) -> Vec<u8> {
    empty_of(dialect, block_size(dialect))
}

/// The file of no memos, with blocks of a size of their own.
pub(crate) fn empty_of(dialect: MemoDialect, block_size: u64) -> Vec<u8> {
    header(dialect, block_size, first_block(dialect, block_size))
}

fn first_block(dialect: MemoDialect, block_size: u64) -> u32 {
    u32::try_from(header_len(dialect).div_ceil(block_size)).unwrap_or(1)
}

/// Everything before the first block.
fn header(dialect: MemoDialect, block_size: u64, next_block: u32) -> Vec<u8> {
    let len = u64::from(first_block(dialect, block_size)) * block_size;
    let mut header = vec![0; usize::try_from(len).unwrap_or(512)];
    let size = u16::try_from(block_size).unwrap_or_default();
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(slot) = header.get_mut(at..at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    };
    match dialect {
        MemoDialect::Dbt3 => {
            put(0, &next_block.to_le_bytes());
            put(16, &[3]);
        }
        MemoDialect::Dbt4 => {
            put(0, &next_block.to_le_bytes());
            put(20, &size.to_le_bytes());
        }
        MemoDialect::Smt => {
            put(0, &next_block.to_le_bytes());
            put(4, &u32::from(size).to_le_bytes());
            put(8, b"SIxMemo");
        }
        MemoDialect::Fpt | MemoDialect::FptSix | MemoDialect::FptFlex => {
            put(0, &next_block.to_be_bytes());
            put(6, &size.to_be_bytes());
        }
        MemoDialect::Adm => {
            put(0, &next_block.to_be_bytes());
            put(4, &u32::from(size).to_be_bytes());
        }
    }
    match dialect {
        MemoDialect::FptSix => put(8, b"SIxMemo"),
        // No directory of free space yet: its two places stay zero.
        MemoDialect::FptFlex => put(512, b"FlexFile3\x03"),
        _ => {}
    }
    header
}

/// A value with what its dialect puts around it.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    dialect: MemoDialect,
    head: [u8; 8],
    head_len: usize,
    value: &'a [u8],
    tail: &'static [u8],
}

impl<'a> Frame<'a> {
    /// # Errors
    /// What the value would have to be, when the dialect cannot hold it.
    pub(crate) fn new(dialect: MemoDialect, value: &'a [u8], text: bool) -> Result<Self, &'static str> {
        const TOO_LONG: &str = "less than 4 GiB";
        let len = u32::try_from(value.len()).map_err(|_| TOO_LONG)?;
        let (first, second, head_len, tail): (_, _, _, &[u8]) = match dialect {
            MemoDialect::Dbt3 if value.contains(&0x1A) => return Err("a text without 1a, which would end it"),
            MemoDialect::Dbt3 => ([0; 4], [0; 4], 0, &[0x1A, 0x1A]),
            MemoDialect::Dbt4 => {
                let len = len.checked_add(8).ok_or(TOO_LONG)?;
                ([0xFF, 0xFF, 0x08, 0x00], len.to_le_bytes(), 8, &[])
            }
            MemoDialect::Smt | MemoDialect::Adm => ([0; 4], [0; 4], 0, &[]),
            MemoDialect::Fpt | MemoDialect::FptSix | MemoDialect::FptFlex => {
                (u32::from(text).to_be_bytes(), len.to_be_bytes(), 8, &[])
            }
        };
        let mut head = [0; 8];
        head[..4].copy_from_slice(&first);
        head[4..].copy_from_slice(&second);
        Ok(Self {
            dialect,
            head,
            head_len,
            value,
            tail,
        })
    }

    /// The length that is kept in the record, where the file has none.
    pub(crate) fn len_in_record(&self) -> Option<u32> {
        let is_in_record = matches!(self.dialect, MemoDialect::Smt | MemoDialect::Adm);
        is_in_record.then_some(u32::try_from(self.value.len()).ok()?)
    }

    /// The bytes in the file, without what fills the last block.
    pub(crate) fn byte_len(&self) -> u64 {
        self.parts().iter().map(|part| part.len() as u64).sum()
    }

    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        self.parts().iter().for_each(|part| out.extend_from_slice(part));
    }

    fn parts(&self) -> [&[u8]; 3] {
        [
            self.head.get(..self.head_len).unwrap_or_default(),
            self.value,
            self.tail,
        ]
    }
}

/// dBASE knows no other than 512; 64 is FoxPro's own default, 32 that of SMT (`include/hbrddfpt.h` of Harbour).
pub(crate) fn block_size(dialect: MemoDialect) -> u64 {
    match dialect {
        MemoDialect::Dbt3 | MemoDialect::Dbt4 => 512,
        MemoDialect::Smt => 32,
        MemoDialect::Adm => adm::BLOCK_SIZE.into(),
        MemoDialect::Fpt | MemoDialect::FptSix | MemoDialect::FptFlex => 64,
    }
}

/// The header of FlexFile has a second half (`FPTHEADER` in `include/hbrddfpt.h` of Harbour).
fn header_len(dialect: MemoDialect) -> u64 {
    match dialect {
        MemoDialect::FptFlex => 1024,
        MemoDialect::Adm => adm::DATA_AT,
        _ => 512,
    }
}

/// What Harbour has in the last byte of a block of FlexFile (corpus/xbase/memo_fptflex.fpt).
const FLEX_LAST: u8 = 0xAF;
