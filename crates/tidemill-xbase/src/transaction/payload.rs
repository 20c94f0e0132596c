//! The bytes of a group in a log: a header with a checksum, then numbers, paths and pieces.

use std::path::{Path, PathBuf};

/// The length of a group's header in bytes.
pub(super) const GROUP_HEADER: usize = 24;

/// What a group would have to say, and what it says.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: &'static str,
    /// Counted from the group's first byte.
    pub(super) at: u64,
    pub(super) expected: String,
    pub(super) found: String,
}

/// A group as it stands in the log: its header, then what `fill` adds.
///
/// # Errors
/// As `fill`.
pub(super) fn framed(
    magic: [u8; 4],
    sequence: u64,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), &'static str>,
) -> Result<Vec<u8>, &'static str> {
    let mut out = vec![0; GROUP_HEADER];
    fill(&mut out)?;
    let payload = (out.len() - GROUP_HEADER) as u64;
    if let Some((head, _)) = out.split_first_chunk_mut::<GROUP_HEADER>() {
        head[..4].copy_from_slice(&magic);
        head[8..16].copy_from_slice(&sequence.to_le_bytes());
        head[16..].copy_from_slice(&payload.to_le_bytes());
    }
    let sum = crc32c::crc32c(out.get(8..).unwrap_or_default());
    if let Some(slot) = out.get_mut(4..8) {
        slot.copy_from_slice(&sum.to_le_bytes());
    }
    Ok(out)
}

/// Adds a path behind its length.
///
/// # Errors
/// What cannot be written, in words.
pub(super) fn put_path(out: &mut Vec<u8>, path: &Path) -> Result<(), &'static str> {
    let path = path_bytes(path)?;
    let len = u16::try_from(path.len()).map_err(|_| "a path of at most 65535 bytes")?;
    out.extend(len.to_le_bytes());
    out.extend_from_slice(path);
    Ok(())
}

/// A count in four bytes.
pub(super) fn count(n: usize) -> Result<[u8; 4], &'static str> {
    let n = u32::try_from(n).map_err(|_| "fewer than 2^32 pieces")?;
    Ok(n.to_le_bytes())
}

/// What is left of a payload.
pub(super) struct Rest<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Rest<'a> {
    pub(super) fn of(payload: &'a [u8]) -> Self {
        Self {
            bytes: payload,
            len: payload.len(),
        }
    }

    /// # Errors
    /// When something is left.
    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(self.fault("group", "its end".to_owned(), format!("{left} bytes more"))),
        }
    }

    /// A path behind its length in two bytes.
    pub(super) fn path(&mut self) -> Result<PathBuf, Fault> {
        let len = u16::from_le_bytes(self.array("length of a path")?);
        let path = self.take("path", usize::from(len))?;
        path_of(path).ok_or_else(|| {
            let found = String::from_utf8_lossy(path).into_owned();
            self.fault("path", "a path of this system".to_owned(), found)
        })
    }

    pub(super) fn take(&mut self, what: &'static str, n: usize) -> Result<&'a [u8], Fault> {
        let Some((taken, rest)) = self.bytes.split_at_checked(n) else {
            let left = format!("{} bytes, then the end of the group", self.bytes.len());
            return Err(self.fault(what, format!("{n} bytes"), left));
        };
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N)?);
        Ok(array)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(super) fn fault(&self, what: &'static str, expected: String, found: String) -> Fault {
        Fault {
            what,
            at: (GROUP_HEADER + self.len - self.bytes.len()) as u64,
            expected,
            found,
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path may have no bytes")]
fn path_bytes(path: &Path) -> Result<&[u8], &'static str> {
    use std::os::unix::ffi::OsStrExt;
    Ok(path.as_os_str().as_bytes())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere bytes may be no path")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Result<&[u8], &'static str> {
    path.to_str().map(str::as_bytes).ok_or("a path in Unicode")
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}
