//! Appends values to a new memo file: DBT of dBASE III and IV, FPT of FoxPro.
//!
//! Blocks are written one after another and never reused. Layouts: docs/formats/xbase-memo.md.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::memo::MemoDialect;

#[derive(Debug)]
pub(crate) struct MemoWriter {
    path: PathBuf,
    file: BufWriter<File>,
    dialect: MemoDialect,
    next_block: u32,
}

impl MemoWriter {
    const HEADER: u64 = 512;

    pub(crate) fn create(path: &Path, dialect: MemoDialect) -> Result<Self> {
        let file = File::create(path).map_err(|e| Error::io(path, "create", e))?;
        let next_block = u32::try_from(Self::HEADER / block_size(dialect)).unwrap_or(1);
        let mut writer = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            dialect,
            next_block,
        };
        writer.header()?;
        Ok(writer)
    }

    /// Writes a value and returns its block.
    ///
    /// # Errors
    /// `Ok(Err(…))` says what the value would have to be, when the format cannot hold it.
    pub(crate) fn append(&mut self, value: &[u8], text: bool) -> Result<Result<u32, &'static str>> {
        let block = self.next_block;
        let frame = match Frame::new(self.dialect, value, text) {
            Ok(frame) => frame,
            Err(expected) => return Ok(Err(expected)),
        };
        let bytes = frame.byte_len();
        let size = block_size(self.dialect);
        let blocks = bytes.div_ceil(size);
        let Some(next) = u32::try_from(blocks).ok().and_then(|b| block.checked_add(b)) else {
            return Ok(Err("a place within the memo file's 2^32 blocks"));
        };
        let padding = usize::try_from(blocks * size - bytes).unwrap_or(0);
        for part in frame.parts() {
            self.write(part)?;
        }
        self.write([0; 512].get(..padding).unwrap_or_default())?;
        self.next_block = next;
        Ok(Ok(block))
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(|e| Error::io(&self.path, "write", e))?;
        self.header()?;
        self.file.flush().map_err(|e| Error::io(&self.path, "write", e))?;
        self.file
            .get_ref()
            .sync_all()
            .map_err(|e| Error::io(&self.path, "sync", e))
    }

    fn header(&mut self) -> Result<()> {
        let mut header = [0u8; Self::HEADER as usize];
        let size = u16::try_from(block_size(self.dialect)).unwrap_or_default();
        match self.dialect {
            MemoDialect::Dbt3 | MemoDialect::Dbt4 => {
                header[..4].copy_from_slice(&self.next_block.to_le_bytes());
                if self.dialect == MemoDialect::Dbt4 {
                    header[20..22].copy_from_slice(&size.to_le_bytes());
                } else {
                    header[16] = 3;
                }
            }
            _ => {
                header[..4].copy_from_slice(&self.next_block.to_be_bytes());
                header[6..8].copy_from_slice(&size.to_be_bytes());
            }
        }
        self.write(&header)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .map_err(|e| Error::io(&self.path, "write", e))
    }
}

/// A value with what its dialect puts around it.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
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
            MemoDialect::Smt => ([0; 4], [0; 4], 0, &[]),
            MemoDialect::Fpt | MemoDialect::FptSix | MemoDialect::FptFlex => {
                (u32::from(text).to_be_bytes(), len.to_be_bytes(), 8, &[])
            }
        };
        let mut head = [0; 8];
        head[..4].copy_from_slice(&first);
        head[4..].copy_from_slice(&second);
        Ok(Self {
            head,
            head_len,
            value,
            tail,
        })
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

/// dBASE knows no other than 512; 64 is FoxPro's own default.
fn block_size(dialect: MemoDialect) -> u64 {
    match dialect {
        MemoDialect::Dbt3 | MemoDialect::Dbt4 => 512,
        _ => 64,
    }
}
