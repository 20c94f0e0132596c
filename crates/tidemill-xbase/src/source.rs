//! Where the bytes of a file come from: positional reads, a mapping, memory, or what a transaction makes of a file.
//!
//! Positional reads are the default because another program may shorten a table while it is read: a read behind the end
//! is then an error, where a mapped page would kill the process. This module knows nothing about formats.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use memmap2::Mmap;

use crate::error::{Error, Result};
use crate::regular_file;
use crate::stamp::FileStamp;
use crate::storage::{DataFile, Storage};

/// How a file's bytes are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Positional reads into an owned window: right for a table that others may write to. Default.
    #[default]
    Positional,
    /// The file is mapped: right for files that nobody changes meanwhile. A file that is shortened while it is mapped
    /// ends the process (SIGBUS).
    Mapped,
}

#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    len: u64,
    stamp: Option<FileStamp>,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(Arc<File>),
    /// As its editor sees it.
    Edited(Arc<dyn Storage>),
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl Source {
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self> {
        let file = regular_file::open_to_read(path)?;
        Self::of_open(path, Arc::new(file), access)
    }

    /// A file that is open already.
    pub(crate) fn of_open(path: &Path, file: Arc<File>, access: Access) -> Result<Self> {
        let meta = file.metadata().map_err(|e| Error::io(path, "open", e))?;
        if meta.is_dir() {
            return Err(Error::io(path, "open", io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let bytes = match access {
            Access::Mapped if meta.len() > 0 => Bytes::Mapped(map(&file).map_err(|e| Error::io(path, "map", e))?),
            _ => Bytes::File(file),
        };
        Ok(Self {
            path: path.to_owned(),
            len: meta.len(),
            stamp: Some(FileStamp::new(&meta, SystemTime::now())),
            bytes,
        })
    }

    /// A file that is open for changes, as it is seen there.
    pub(crate) fn edited(file: &DataFile) -> Result<Self> {
        Ok(Self {
            path: file.path().to_owned(),
            len: file.len()?,
            stamp: None,
            bytes: Bytes::Edited(Arc::clone(file.storage())),
        })
    }

    pub(crate) fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            path: PathBuf::from(name),
            len: bytes.len() as u64,
            stamp: None,
            bytes: Bytes::Memory(bytes),
        }
    }

    /// The same file, of which other bytes are seen than it has.
    pub(crate) fn seen_as(self, bytes: Vec<u8>) -> Self {
        Self {
            len: bytes.len() as u64,
            bytes: Bytes::Memory(bytes),
            ..self
        }
    }

    /// Whether its path leads to no other file, which took its place.
    pub(crate) fn is_at_its_path(&self) -> bool {
        let there = FileStamp::of(&self.path).ok();
        let both = self.stamp.as_ref().zip(there.as_ref());
        both.is_none_or(|(own, there)| own.is_of_file(there))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The length when the file was opened or measured again.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Takes the length as it is now for the file's length.
    pub(crate) fn measure_again(&mut self) -> Result<()> {
        self.len = self.len_now()?;
        Ok(())
    }

    /// The length now, which another program may have changed.
    pub(crate) fn len_now(&self) -> Result<u64> {
        match &self.bytes {
            Bytes::File(file) => Ok(file.metadata().map_err(|e| Error::io(&self.path, "read", e))?.len()),
            Bytes::Edited(storage) => storage.len().map_err(|e| Error::io(&self.path, "read", e)),
            Bytes::Mapped(_) | Bytes::Memory(_) => Ok(self.len),
        }
    }

    /// Whether these are bytes that an editor may change at any time.
    pub(crate) fn is_edited(&self) -> bool {
        matches!(self.bytes, Bytes::Edited(_))
    }

    /// What the file looks like whose bytes are read: when it was opened, or now under an editor. `None` for bytes that are no file's.
    pub(crate) fn stamp(&self) -> Option<FileStamp> {
        match &self.bytes {
            Bytes::Edited(storage) => storage.stamp(),
            _ => self.stamp.clone(),
        }
    }

    /// Whether the bytes are in memory, and no file has them.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.bytes, Bytes::Memory(_))
    }

    /// Whether it is a file whose stamp was taken when it was opened.
    pub(crate) fn has_stamp(&self) -> bool {
        self.stamp.is_some()
    }

    /// What the file that the path names looks like now; `None` for bytes in memory.
    pub(crate) fn stamp_now(&self) -> Result<Option<FileStamp>> {
        if self.stamp.is_none() {
            return Ok(None);
        }
        let meta = std::fs::metadata(&self.path).map_err(|e| Error::io(&self.path, "read", e))?;
        Ok(Some(FileStamp::new(&meta, SystemTime::now())))
    }

    /// Whether the path certainly still names the bytes that were opened.
    pub(crate) fn is_current(&self) -> Result<bool> {
        let Some(stamp) = &self.stamp else {
            return Ok(!self.is_edited());
        };
        let meta = std::fs::metadata(&self.path).map_err(|e| Error::io(&self.path, "read", e))?;
        Ok(stamp.vouches_for(&FileStamp::new(&meta, SystemTime::now())))
    }

    /// Whether [`Source::read`] lends the file's own bytes, so that large windows cost nothing.
    pub(crate) fn lends(&self) -> bool {
        matches!(self.bytes, Bytes::Mapped(_) | Bytes::Memory(_))
    }

    /// Exactly `len` bytes at `offset`: lent where they are in memory, else read into `window`, which is reused.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the file ends before, [`Error::Io`] when it cannot be read.
    pub(crate) fn read<'a>(
        &'a self,
        what: impl fmt::Display,
        offset: u64,
        len: usize,
        window: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let left = self.len.saturating_sub(offset);
        if len as u64 > left {
            return Err(self.too_short(what, offset, len, left));
        }
        match &self.bytes {
            Bytes::Mapped(map) => slice(map, offset, len).ok_or_else(|| self.too_short(what, offset, len, left)),
            Bytes::Memory(all) => slice(all, offset, len).ok_or_else(|| self.too_short(what, offset, len, left)),
            Bytes::File(file) => self.read_into(what, offset, len, window, |buf| read_exact_at(file, buf, offset)),
            Bytes::Edited(storage) => {
                self.read_into(what, offset, len, window, |buf| storage.read_exact_at(buf, offset))
            }
        }
    }

    fn read_into<'a>(
        &self,
        what: impl fmt::Display,
        offset: u64,
        len: usize,
        window: &'a mut Vec<u8>,
        read: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> Result<&'a [u8]> {
        window.resize(len, 0);
        match read(window) {
            Ok(()) => Ok(window),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                let left = self.len_now()?.saturating_sub(offset);
                Err(self.too_short(what, offset, len, left))
            }
            Err(e) => Err(Error::io(&self.path, "read", e)),
        }
    }

    #[cold]
    fn too_short(&self, what: impl fmt::Display, offset: u64, len: usize, left: u64) -> Error {
        Error::corrupt(
            &self.path,
            what.to_string(),
            offset,
            format!("{len} bytes"),
            format!("{left} bytes, then the end of the file"),
        )
    }
}

fn slice(all: &[u8], offset: u64, len: usize) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    all.get(start..start.checked_add(len)?)
}

#[expect(
    unsafe_code,
    reason = "mapping a file is the only way to decode it without copying it first"
)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and private to `Source`, which lends it only as `&[u8]` within its own lifetime.
    // The bytes may change if another program writes to the file; decoders check every value they derive from them and
    // keep no reference across two reads. Shortening the file is documented at `Access::Mapped`, which is opt-in.
    unsafe { Mmap::map(file) }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buf, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buf.is_empty() {
        match file.seek_read(buf, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buf = buf.get_mut(n..).unwrap_or_default();
                offset += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
