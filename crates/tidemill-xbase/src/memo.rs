//! Memo files: the long texts and blobs that a record only points at.
//!
//! A field holds a block number, as ten digits or four bytes; the block's place is its number times the block size. What
//! stands there differs by dialect: text up to 0x1A (DBT of dBASE III), a header of eight bytes with a length (DBT of
//! dBASE IV, FPT), or nothing but the value, whose length stands in the record (SMT). docs/formats/xbase-memo.md has the
//! layouts and their sources.
//!
//! This module reads; `memo_writer` appends, and `memo_editor` changes values. Free lists are only walked by `verify`.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::adm;
use crate::beside::belonging;
use crate::digits::trim;
use crate::error::{Error, Result};
use crate::header::{Dialect, Header, u16_at, u32_at};
use crate::source::{Access, Source};

/// What wrote a memo file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoDialect {
    /// DBT of dBASE III and Clipper: blocks of 512 bytes, text ended by 0x1A.
    Dbt3,
    /// DBT of dBASE IV and later: a length before each value.
    Dbt4,
    /// FPT of FoxPro and Harbour.
    Fpt,
    /// FPT with SIx's list of free blocks in its header.
    FptSix,
    /// FPT with FlexFile's directory of free space.
    FptFlex,
    /// SMT of SIx: the length is in the record.
    Smt,
    /// ADM of Advantage: the length is in the record, and what is free is listed in the header.
    Adm,
}

impl fmt::Display for MemoDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dbt3 => "DBT of dBASE III",
            Self::Dbt4 => "DBT of dBASE IV",
            Self::Fpt => "FPT",
            Self::FptSix => "FPT of SIx",
            Self::FptFlex => "FPT of FlexFile",
            Self::Smt => "SMT",
            Self::Adm => "ADM",
        })
    }
}

/// The memo file of a table.
#[derive(Debug)]
pub struct Memo {
    source: Source,
    dialect: MemoDialect,
    block_size: u32,
}

impl Memo {
    pub(crate) fn open(path: &Path, access: Access, header: &Header) -> Result<Self> {
        Self::named(Source::open(path, access)?, header)
    }

    /// A memo file of the family that its name tells.
    pub(crate) fn named(source: Source, header: &Header) -> Result<Self> {
        let extension = source
            .path()
            .extension()
            .and_then(OsStr::to_str)
            .unwrap_or_default()
            .to_ascii_lowercase();
        let family = match extension.as_str() {
            "dbt" => Family::Dbt,
            "smt" => Family::Smt,
            "adm" | "am" => Family::Adm,
            _ => Family::Fpt,
        };
        Self::new(source, family, header)
    }

    /// A memo file in memory, of the family that tables with this header use.
    pub(crate) fn from_bytes(bytes: Vec<u8>, header: &Header) -> Result<Self> {
        let family = Family::of(header.dialect).first().copied().unwrap_or(Family::Fpt);
        Self::new(Source::from_bytes("memory.memo", bytes), family, header)
    }

    fn new(source: Source, family: Family, header: &Header) -> Result<Self> {
        let mut window = Vec::new();
        let probe = usize::try_from(source.len().min(522)).unwrap_or(522);
        let head = source.read("memo header", 0, probe, &mut window)?;
        let short = || {
            let found = format!("{} bytes", source.len());
            Error::corrupt(
                source.path(),
                "memo header",
                0,
                "at least 8 bytes with the block size",
                found,
            )
        };
        let by_version = match header.dialect {
            Dialect::Dbase4 | Dialect::Dbase5 | Dialect::Dbase7 => MemoDialect::Dbt4,
            _ => MemoDialect::Dbt3,
        };
        // Programs write one kind under the name or the version byte of another: the file's own bytes decide.
        let kind = match family {
            Family::Dbt => looks_like(&source, head).unwrap_or(by_version),
            _ => by_version,
        };
        let family = match kind {
            MemoDialect::Fpt => Family::Fpt,
            _ => family,
        };
        let (dialect, block_size) = match family {
            Family::Dbt if kind == MemoDialect::Dbt4 => {
                // dBASE IV leaves 0 where the size is the one of dBASE III.
                let size = u16_at(head, 20).ok_or_else(short)?;
                (MemoDialect::Dbt4, if size == 0 { 512 } else { u32::from(size) })
            }
            Family::Dbt => (MemoDialect::Dbt3, 512),
            Family::Smt => (MemoDialect::Smt, u32_at(head, 4).ok_or_else(short)?),
            Family::Adm => (MemoDialect::Adm, adm::block_size(&source, head)?),
            Family::Fpt => {
                let size = head
                    .get(6..)
                    .and_then(<[u8]>::first_chunk)
                    .map(|b| u16::from_be_bytes(*b))
                    .ok_or_else(short)?;
                let dialect = if head.get(512..).is_some_and(|b| b.starts_with(b"FlexFile3")) {
                    MemoDialect::FptFlex
                } else if head.get(8..).is_some_and(|b| b.starts_with(b"SIxMemo")) {
                    MemoDialect::FptSix
                } else {
                    MemoDialect::Fpt
                };
                let size = match size {
                    // SET BLOCKSIZE TO 0 means single bytes to Visual FoxPro; others fall back to Harbour's default.
                    0 if header.dialect == Dialect::VisualFoxPro => 1,
                    0 => 64,
                    _ => u32::from(size),
                };
                (dialect, size)
            }
        };
        if block_size == 0 {
            return Err(Error::corrupt(source.path(), "block size", 4, "at least 1", "0"));
        }
        Ok(Self {
            source,
            dialect,
            block_size,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// What wrote it.
    pub fn dialect(&self) -> MemoDialect {
        self.dialect
    }

    /// The unit of block numbers, in bytes.
    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn is_current(&self) -> Result<bool> {
        self.source.is_current()
    }

    /// The length of the file in bytes, when it was opened.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// Walks the list of free blocks of a dBASE IV file and returns what is wrong with it.
    ///
    /// Source: dBASE IV DBT structure: a free block holds the number of the next one and its own length in blocks; the
    /// list ends at a block that is the file's end.
    pub(crate) fn free_list_fault(&self) -> Option<Fault> {
        if self.dialect != MemoDialect::Dbt4 {
            return None;
        }
        let blocks = self.source.len().div_ceil(u64::from(self.block_size));
        let mut window = Vec::new();
        let mut block = self
            .source
            .read("free list", 0, 4, &mut window)
            .ok()
            .and_then(|b| u32_at(b, 0))
            .map(u64::from)?;
        // A list without a loop visits each block once at most.
        for _ in 0..=blocks {
            if block >= blocks {
                return None;
            }
            let offset = block * u64::from(self.block_size);
            let next = self
                .source
                .read("free block", offset, 8, &mut window)
                .ok()
                .and_then(|b| u32_at(b, 0))
                .map(u64::from)?;
            if next == block {
                return Some(Fault::new(
                    offset,
                    "a free block that points to another",
                    format!("block {block} pointing at itself"),
                ));
            }
            block = next;
        }
        Some(Fault::new(0, "a list of free blocks with an end", "a loop"))
    }
}

/// What a file under the name of a DBT is by its first blocks; `None` where these do not say it.
fn looks_like(source: &Source, head: &[u8]) -> Option<MemoDialect> {
    let number = |at: usize| head.get(at..)?.first_chunk::<4>().copied();
    let first = number(512)?;
    let big = |bytes: [u8; 4]| u64::from(u32::from_be_bytes(bytes));
    let blocks = |size: u64| source.len().div_ceil(size.max(1));
    let fpt_size = u64::from(u16::from_be_bytes(*head.get(6..)?.first_chunk()?));
    // An FPT counts its blocks big-endian, and begins with one of text or of a picture.
    if fpt_size > 0 && number(0).is_some_and(|next| (1..=blocks(fpt_size)).contains(&big(next))) && big(first) <= 2 {
        return Some(MemoDialect::Fpt);
    }
    let size = u16_at(head, 20)?;
    if first == DBT4_MARK && matches!(size, 0 | 512) {
        return Some(MemoDialect::Dbt4);
    }
    // A block of dBASE IV that is free has the number of the next one; text is a larger number than any.
    let is_text = u64::from(u32::from_le_bytes(first)) > blocks(512);
    (size == 0 && is_text).then_some(MemoDialect::Dbt3)
}

/// What a memo of dBASE IV begins with.
const DBT4_MARK: [u8; 4] = [0xFF, 0xFF, 0x08, 0x00];

/// The name of the memo file that belongs to `table`, and the names that were tried, when it is not there.
pub(crate) fn find(table: &Path, dialect: Dialect) -> std::result::Result<PathBuf, String> {
    belonging(table, &extensions(table, dialect))
}

/// The families of memo files, by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Dbt,
    Fpt,
    Smt,
    Adm,
}

impl Family {
    /// The families that tables of a dialect use, the usual one first.
    fn of(dialect: Dialect) -> &'static [Self] {
        match dialect {
            Dialect::Adt => &[Self::Adm],
            Dialect::FoxPro2 | Dialect::VisualFoxPro => &[Self::Fpt, Self::Dbt, Self::Smt],
            Dialect::Six => &[Self::Smt, Self::Fpt, Self::Dbt],
            _ => &[Self::Dbt, Self::Fpt, Self::Smt],
        }
    }
}

fn extensions(table: &Path, dialect: Dialect) -> Vec<String> {
    let own = table.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut list = Vec::new();
    // Visual FoxPro's own tables have memos under names of their own; those beside a container are of the table of its name.
    if own == "dbc" {
        return vec!["dct".to_owned()];
    }
    if own.len() == 3 && own.ends_with('x') {
        list.push(format!("{}t", own.get(..2).unwrap_or_default()));
    }
    list.extend(Family::of(dialect).iter().map(|family| match family {
        Family::Dbt => "dbt".to_owned(),
        Family::Fpt => "fpt".to_owned(),
        Family::Smt => "smt".to_owned(),
        Family::Adm if own == "add" => "am".to_owned(),
        Family::Adm => "adm".to_owned(),
    }));
    list
}

/// What is wrong with a memo, and where in the memo file.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) offset: u64,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Fault {
    pub(crate) fn new(offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            offset,
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Reads memos in the order of the records, which is mostly the order in the file, through one window.
#[derive(Debug, Default)]
pub(crate) struct MemoReader {
    window: Vec<u8>,
    start: u64,
}

impl MemoReader {
    /// What is read at once: small memos lie side by side.
    const WINDOW: u64 = 64 << 10;

    /// Appends the value that `cell` points at. Nothing for an empty pointer.
    ///
    /// # Errors
    /// What is wrong with the pointer or with the memo; `out` is then as before.
    pub(crate) fn read(&mut self, memo: &Memo, cell: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let (block, len) = match memo.dialect.pointer(cell)? {
            None => return Ok(()),
            Some(pointer) => pointer,
        };
        let offset = block.saturating_mul(u64::from(memo.block_size));
        let end = memo.source.len();
        if offset >= end {
            return Err(Fault::new(
                offset,
                format!("a memo within the file's {end} bytes"),
                format!("a pointer to block {block}"),
            ));
        }
        let length = match (len, memo.dialect) {
            (Some(len), _) => (offset, u64::from(len)),
            (None, MemoDialect::Dbt3) => return self.read_terminated(memo, offset, out),
            (None, MemoDialect::Dbt4) => {
                let head = self.bytes(memo, offset, 8)?;
                if head.first_chunk() != Some(&DBT4_MARK) {
                    return Err(Fault::new(
                        offset,
                        "ff ff 08 00, the mark of a dBASE IV memo",
                        hex(head.get(..4)),
                    ));
                }
                let total = u32_at(head, 4).unwrap_or_default();
                let len = total
                    .checked_sub(8)
                    .ok_or_else(|| Fault::new(offset + 4, "a length of at least 8", total.to_string()))?;
                (offset + 8, u64::from(len))
            }
            (None, _) => {
                let head = self.bytes(memo, offset, 8)?;
                let len = head
                    .get(4..)
                    .and_then(<[u8]>::first_chunk)
                    .map(|b| u32::from_be_bytes(*b))
                    .unwrap_or_default();
                (offset + 8, u64::from(len))
            }
        };
        self.append(memo, length.0, length.1, out)
    }

    /// Appends `len` bytes at `offset`, without any header.
    pub(crate) fn append(&mut self, memo: &Memo, offset: u64, len: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let left = memo.source.len().saturating_sub(offset);
        if len > left {
            return Err(Fault::new(
                offset,
                format!("at most {left} bytes, the rest of the file"),
                format!("a memo of {len} bytes"),
            ));
        }
        out.extend_from_slice(self.bytes(memo, offset, len)?);
        Ok(())
    }

    fn read_terminated(&mut self, memo: &Memo, offset: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let before = out.len();
        let mut at = offset;
        while at < memo.source.len() {
            let step = (memo.source.len() - at).min(512);
            let bytes = self.bytes(memo, at, step)?;
            if let Some(end) = bytes.iter().position(|b| *b == 0x1A) {
                out.extend_from_slice(bytes.get(..end).unwrap_or_default());
                return Ok(());
            }
            out.extend_from_slice(bytes);
            at += step;
        }
        // Zeros up to the file's end have ended it, too.
        let len = out.len() - before;
        let text = out.get(before..).unwrap_or_default();
        let kept = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if kept < len {
            out.truncate(before + kept);
            return Ok(());
        }
        out.truncate(before);
        Err(Fault::new(
            offset,
            "a text ended by 1a",
            "none before the end of the file",
        ))
    }

    /// `len` bytes that are known to lie within the file.
    fn bytes<'a>(&'a mut self, memo: &'a Memo, offset: u64, len: u64) -> Result<&'a [u8], Fault> {
        let source = &memo.source;
        let fault = |e: Error| Fault::new(offset, format!("{len} bytes"), e.to_string());
        let want =
            usize::try_from(len).map_err(|_| Fault::new(offset, "a length that fits in memory", len.to_string()))?;
        let inside = offset >= self.start && offset + len <= self.start + self.window.len() as u64;
        if source.lends() || (!inside && len > Self::WINDOW) {
            self.start = offset;
            return source.read("memo", offset, want, &mut self.window).map_err(fault);
        }
        if !inside {
            let left = source.len().saturating_sub(offset);
            let step = usize::try_from(left.min(Self::WINDOW)).unwrap_or(want);
            self.start = offset;
            if let Err(e) = source.read("memo", offset, step, &mut self.window) {
                self.window.clear();
                return Err(fault(e));
            }
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        let slice = self.window.get(from..).and_then(|rest| rest.get(..want));
        slice.ok_or_else(|| Fault::new(offset, format!("{len} bytes"), "the end of the file"))
    }
}

impl MemoDialect {
    /// The name of the memo file of a new table. In upper case if the table's is: the programs that read it tell cases apart.
    pub(crate) fn beside(self, table: &Path) -> PathBuf {
        let is_upper = table.extension().is_some_and(|extension| extension == "DBF");
        table.with_extension(match (self, is_upper) {
            (Self::Dbt3 | Self::Dbt4, false) => "dbt",
            (Self::Dbt3 | Self::Dbt4, true) => "DBT",
            (Self::Smt, false) => "smt",
            (Self::Smt, true) => "SMT",
            (Self::Adm, _) => match table.extension().and_then(OsStr::to_str) {
                Some("ADT") => "ADM",
                Some("add") => "am",
                Some("ADD") => "AM",
                _ => "adm",
            },
            (_, false) => "fpt",
            (_, true) => "FPT",
        })
    }

    /// The block that a field points at, and the value's length where the field has it; `None` for an empty memo.
    pub(crate) fn pointer(self, cell: &[u8]) -> Result<Option<(u64, Option<u32>)>, Fault> {
        // Blanks mixed with NULs are a number where the pointer is binary: block 32 is a blank and three NULs.
        if self == Self::Adm {
            return adm::pointer(cell);
        }
        if cell.iter().all(|b| *b == b' ') || cell.iter().all(|b| *b == 0) {
            return Ok(None);
        }
        if let Some(block) = cell.first_chunk::<4>().filter(|_| cell.len() == 4) {
            return Ok(Some((u64::from(u32::from_le_bytes(*block)), None)));
        }
        if self == Self::Smt {
            let (len, block) = (u32_at(cell, 2), u32_at(cell, 6));
            return match (len, block) {
                (Some(0), _) => Ok(None),
                (Some(len), Some(block)) => Ok(Some((u64::from(block), Some(len)))),
                _ => Err(Fault::new(
                    0,
                    "type, length and block in 10 bytes",
                    format!("{} bytes", cell.len()),
                )),
            };
        }
        let digits = trim(cell);
        let number = digits
            .iter()
            .try_fold(0u64, |n, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')));
        match number {
            // Nothing but blanks and NULs adds up to 0 too.
            Some(0) => Ok(None),
            Some(block) if digits.len() <= 10 => Ok(Some((block, None))),
            _ => Err(Fault::new(
                0,
                "a block number",
                format!("{:?}", String::from_utf8_lossy(cell)),
            )),
        }
    }
}

fn hex(bytes: Option<&[u8]>) -> String {
    bytes
        .unwrap_or_default()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}
