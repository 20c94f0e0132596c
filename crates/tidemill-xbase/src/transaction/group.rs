//! One committed transaction in the log: which bytes of which files it changed, before and after.
//!
//! Layout: docs/formats/tidemill-log.md. What was there before is kept too: redo only needs what comes after, but it must
//! not write over what another program did in the meantime, and a commit that the disk has no room for is taken back.

use std::path::{Path, PathBuf};

use crate::lock::LockRange;

/// What a group begins with.
pub(super) const GROUP_MAGIC: [u8; 4] = *b"TDMG";
/// The length of a group's header in bytes.
pub(super) const GROUP_HEADER: usize = 24;

/// Longer ranges are logged in pieces, since a piece counts its bytes in 32 bits.
const PIECE: usize = 1 << 24;
const SHARED: u8 = 1;

/// All that one transaction changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) files: Vec<FileChange>,
}

/// What a transaction changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    /// Within the log's folder where that is possible, so that a folder can be moved as a whole.
    pub(super) path: PathBuf,
    /// Whether others had the file open.
    pub(super) shared: bool,
    pub(super) old_len: u64,
    pub(super) new_len: u64,
    /// What was locked while the transaction changed the file.
    pub(super) locks: Vec<LockRange>,
    pub(super) pieces: Vec<Piece>,
}

/// Neighbouring bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: u64,
    /// As long as `after`, or shorter where the file ended.
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

/// What a group would have to say, and what it says.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: &'static str,
    /// Counted from the group's first byte.
    pub(super) at: u64,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Group {
    /// The group as it stands in the log, its header first.
    ///
    /// # Errors
    /// What cannot be written, in words.
    pub(super) fn encode(&self, sequence: u64) -> Result<Vec<u8>, &'static str> {
        let mut out = vec![0; GROUP_HEADER];
        out.extend(count(self.files.len())?);
        for file in &self.files {
            out.push(if file.shared { SHARED } else { 0 });
            let path = path_bytes(&file.path)?;
            let len = u16::try_from(path.len()).map_err(|_| "a path of at most 65535 bytes")?;
            out.extend(len.to_le_bytes());
            out.extend_from_slice(path);
            out.extend(file.old_len.to_le_bytes());
            out.extend(file.new_len.to_le_bytes());
            out.extend(count(file.locks.len())?);
            for range in &file.locks {
                out.extend(range.start.to_le_bytes());
                out.extend(range.end.to_le_bytes());
            }
            out.extend(count(file.pieces.len())?);
            for piece in &file.pieces {
                out.extend(piece.offset.to_le_bytes());
                out.extend(count(piece.before.len())?);
                out.extend(count(piece.after.len())?);
                out.extend_from_slice(&piece.before);
                out.extend_from_slice(&piece.after);
            }
        }
        let payload = (out.len() - GROUP_HEADER) as u64;
        if let Some((head, _)) = out.split_first_chunk_mut::<GROUP_HEADER>() {
            head[..4].copy_from_slice(&GROUP_MAGIC);
            head[8..16].copy_from_slice(&sequence.to_le_bytes());
            head[16..].copy_from_slice(&payload.to_le_bytes());
        }
        let sum = crc32c::crc32c(out.get(8..).unwrap_or_default());
        if let Some(slot) = out.get_mut(4..8) {
            slot.copy_from_slice(&sum.to_le_bytes());
        }
        Ok(out)
    }

    /// The group whose payload, without its header, is `payload`.
    pub(super) fn decode(payload: &[u8]) -> Result<Self, Fault> {
        let mut rest = Rest {
            bytes: payload,
            len: payload.len(),
        };
        let files = rest.u32("number of files")?;
        let mut group = Self::default();
        for _ in 0..files {
            group.files.push(rest.file()?);
        }
        match rest.bytes.len() {
            0 => Ok(group),
            left => Err(rest.fault("group", "its end".to_owned(), format!("{left} bytes more"))),
        }
    }
}

impl FileChange {
    /// Notes that bytes change; neither side is longer than memory allows, so it is cut where counts would not fit.
    pub(super) fn push(&mut self, offset: u64, before: &[u8], after: &[u8]) {
        for (at, after) in (0..).step_by(PIECE).zip(after.chunks(PIECE)) {
            let before = before.get(at..).unwrap_or_default();
            let before = before.get(..after.len().min(before.len())).unwrap_or_default();
            self.pieces.push(Piece {
                offset: offset + at as u64,
                before: before.to_vec(),
                after: after.to_vec(),
            });
        }
    }
}

fn count(n: usize) -> Result<[u8; 4], &'static str> {
    let n = u32::try_from(n).map_err(|_| "fewer than 2^32 pieces")?;
    Ok(n.to_le_bytes())
}

/// What is left of a payload.
struct Rest<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Rest<'a> {
    fn file(&mut self) -> Result<FileChange, Fault> {
        let flags = self.array::<1>("file")?;
        let path_len = u16::from_le_bytes(self.array("length of a path")?);
        let path = self.take("path", usize::from(path_len))?;
        let path = path_of(path).ok_or_else(|| {
            let found = String::from_utf8_lossy(path).into_owned();
            self.fault("path", "a path of this system".to_owned(), found)
        })?;
        let mut file = FileChange {
            path,
            shared: flags == [SHARED],
            old_len: self.u64("length before")?,
            new_len: self.u64("length after")?,
            locks: Vec::new(),
            pieces: Vec::new(),
        };
        for _ in 0..self.u32("number of locks")? {
            let (start, end) = (self.u64("lock")?, self.u64("lock")?);
            if start > end {
                return Err(self.fault("lock", format!("an end from {start} on"), end.to_string()));
            }
            file.locks.push(LockRange { start, end });
        }
        for _ in 0..self.u32("number of pieces")? {
            file.pieces.push(self.piece()?);
        }
        Ok(file)
    }

    fn piece(&mut self) -> Result<Piece, Fault> {
        let offset = self.u64("place of a piece")?;
        let (before, after) = (self.u32("length before")?, self.u32("length after")?);
        if before > after || offset.checked_add(u64::from(after)).is_none() {
            let expected = format!("at most {after} bytes before, within 2^64 bytes");
            return Err(self.fault("piece", expected, format!("{before} at byte {offset}")));
        }
        let (before, after) = (
            self.take("piece", before as usize)?,
            self.take("piece", after as usize)?,
        );
        Ok(Piece {
            offset,
            before: before.to_vec(),
            after: after.to_vec(),
        })
    }

    fn take(&mut self, what: &'static str, n: usize) -> Result<&'a [u8], Fault> {
        let Some((taken, rest)) = self.bytes.split_at_checked(n) else {
            let left = format!("{} bytes, then the end of the group", self.bytes.len());
            return Err(self.fault(what, format!("{n} bytes"), left));
        };
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N)?);
        Ok(array)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn fault(&self, what: &'static str, expected: String, found: String) -> Fault {
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn piece() -> impl Strategy<Value = Piece> {
        (any::<u32>(), vec(any::<u8>(), 1..40), any::<prop::sample::Index>()).prop_map(|(offset, after, before)| {
            Piece {
                offset: offset.into(),
                before: after[..before.index(after.len() + 1)].to_vec(),
                after,
            }
        })
    }

    fn file() -> impl Strategy<Value = FileChange> {
        let lock = (any::<u32>(), any::<u32>()).prop_map(|(start, len)| LockRange {
            start: start.into(),
            end: u64::from(start) + u64::from(len),
        });
        let lens = any::<(bool, u64, u64)>();
        ("[a-z/.]{1,20}", lens, vec(lock, 0..4), vec(piece(), 0..4)).prop_map(
            |(path, (shared, old_len, new_len), locks, pieces)| FileChange {
                path: path.into(),
                shared,
                old_len,
                new_len,
                locks,
                pieces,
            },
        )
    }

    proptest! {
        #[test]
        fn a_group_is_read_as_it_was_written_and_not_if_it_is_cut(files in vec(file(), 0..4)) {
            let group = Group { files };
            let bytes = group.encode(7).unwrap();
            let payload = &bytes[GROUP_HEADER..];
            prop_assert_eq!(&Group::decode(payload).unwrap(), &group);
            for cut in 0..payload.len() {
                prop_assert!(Group::decode(&payload[..cut]).is_err(), "cut at {}", cut);
            }
            prop_assert!(Group::decode(&[payload, &[0]].concat()).is_err());
        }

        #[test]
        fn groups_of_any_bytes_are_read_or_refused(files in vec(file(), 1..3), flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), noise in vec(any::<u8>(), 0..200)) {
            let mut bytes = Group { files }.encode(0).unwrap()[GROUP_HEADER..].to_vec();
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for bytes in [bytes, noise] {
                if let Ok(group) = Group::decode(&bytes) {
                    prop_assert!(group.files.iter().flat_map(|f| &f.pieces).all(|p| p.before.len() <= p.after.len()));
                }
            }
        }
    }

    #[test]
    fn long_ranges_are_cut_into_pieces() {
        let mut change = FileChange {
            path: "a".into(),
            shared: false,
            old_len: 0,
            new_len: 0,
            locks: Vec::new(),
            pieces: Vec::new(),
        };
        let (before, after) = (vec![1; PIECE + 1], vec![2; 2 * PIECE + 5]);
        change.push(100, &before, &after);
        let shape: Vec<_> = change
            .pieces
            .iter()
            .map(|p| (p.offset, p.before.len(), p.after.len()))
            .collect();
        let piece = PIECE as u64;
        assert_eq!(
            shape,
            [(100, PIECE, PIECE), (100 + piece, 1, PIECE), (100 + 2 * piece, 0, 5)]
        );
    }
}
