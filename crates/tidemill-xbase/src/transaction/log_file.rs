//! The file of the log: two headers, of which the newer counts, then groups one behind another.
//!
//! Layout: docs/formats/tidemill-log.md. A group counts once it is there as a whole and its checksum is right; what is
//! behind the first group that is not was never acknowledged, and the next group is written over it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::group::{GROUP_MAGIC, Group, PART_MAGIC};
use super::payload::GROUP_HEADER;
use super::replacement::{REPLACEMENT_MAGIC, Replacement};
use crate::error::{Error, Result};
use crate::storage::{DataFile, Storage};

/// What each header begins with, before the version.
pub(super) const MAGIC: [u8; 7] = *b"TDMLOG\x00";
/// The version that is written. Version 1 had groups of one kind, and files elsewhere.
const VERSION: u8 = 2;
/// The length of a header in bytes.
const HEADER: usize = 32;
/// Where the two headers are: in two sectors, so that a write that is torn leaves the other one.
const HEADERS: [u64; 2] = [0, 512];
/// Where the first group is.
pub(super) const GROUPS: u64 = 1024;

#[derive(Debug)]
pub(super) struct LogFile {
    file: DataFile,
    end: u64,
    next_sequence: u64,
    /// Which header is written next.
    next_header: usize,
}

impl LogFile {
    /// Opens a log, or begins one in an empty file, and returns the groups in it. `room` is what the file takes of the disk.
    pub(super) fn open(path: &Path, storage: Arc<dyn Storage>, room: Room) -> Result<(Self, Vec<Logged>)> {
        let file = DataFile::new(path, Box::new(storage));
        let found = Found::read(&file, room)?;
        let mut log = Self {
            file,
            end: found.end,
            next_sequence: found.first_sequence.wrapping_add(found.groups.len() as u64),
            next_header: found.header.map_or(0, |header| 1 - header),
        };
        if found.header.is_none() {
            log.restart()?;
        }
        Ok((log, found.groups))
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// How many bytes of groups there are.
    pub(super) fn len(&self) -> u64 {
        self.end - GROUPS
    }

    /// Writes a group behind the others. If that fails, the log is as before, unless the error says otherwise.
    pub(super) fn append(&mut self, group: &impl Encode, durable: bool) -> Result<(), AppendError> {
        let bytes = group.encode(self.next_sequence).map_err(|expected| {
            let why = format!("{}: a transaction needs {expected}", self.path().display());
            AppendError::Undone(Error::Misuse(why))
        })?;
        let written = self.file.write(self.end, &bytes);
        let written = written.and_then(|()| if durable { self.file.sync() } else { Ok(()) });
        match written {
            Ok(()) => {
                self.end += bytes.len() as u64;
                self.next_sequence = self.next_sequence.wrapping_add(1);
                Ok(())
            }
            Err(e) => Err(match self.file.set_len(self.end).and_then(|()| self.file.sync()) {
                Ok(()) => AppendError::Undone(e),
                Err(_) => AppendError::Unknown(e),
            }),
        }
    }

    /// Takes the last group back, of which `end` is the beginning.
    pub(super) fn take_back(&mut self, len: u64) -> Result<()> {
        self.file.set_len(GROUPS + len)?;
        self.file.sync()?;
        self.end = GROUPS + len;
        self.next_sequence = self.next_sequence.wrapping_sub(1);
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Forgets all groups, and what is behind them, if there is any of it.
    pub(super) fn forget(&mut self) -> Result<()> {
        if self.file.len()? == GROUPS {
            Ok(())
        } else {
            self.restart()
        }
    }

    /// Forgets all groups.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.restart_without_sync()?;
        self.file.sync()
    }

    /// Forgets all groups; a power cut may bring them back.
    pub(super) fn restart_without_sync(&mut self) -> Result<()> {
        // Groups with lower numbers than the header's do not count, should the cut below not reach the disk.
        let mut header = [0; HEADER];
        header[..7].copy_from_slice(&MAGIC);
        header[7] = VERSION;
        header[8..16].copy_from_slice(&self.next_sequence.to_le_bytes());
        let sum = crc32c::crc32c(header.get(..28).unwrap_or_default());
        header[28..].copy_from_slice(&sum.to_le_bytes());
        let at = HEADERS.get(self.next_header).copied().unwrap_or_default();
        self.file.write(at, &header)?;
        self.file.set_len(GROUPS)?;
        self.next_header = 1 - self.next_header;
        self.end = GROUPS;
        Ok(())
    }
}

/// A group of a log.
#[derive(Debug)]
pub(super) enum Logged {
    Changes(Group),
    Replacement(Replacement),
}

/// What a log can hold.
pub(super) trait Encode {
    /// The group as it stands in the log, its header first.
    ///
    /// # Errors
    /// What cannot be written, in words.
    fn encode(&self, sequence: u64) -> Result<Vec<u8>, &'static str>;
}

/// The kinds of groups.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Group,
    Part,
    Replacement,
}

impl Kind {
    fn of(magic: [u8; 4]) -> Option<Self> {
        match magic {
            GROUP_MAGIC => Some(Self::Group),
            PART_MAGIC => Some(Self::Part),
            REPLACEMENT_MAGIC => Some(Self::Replacement),
            _ => None,
        }
    }

    fn decode(self, payload: &[u8]) -> Result<Logged, super::payload::Fault> {
        match self {
            Self::Group => Group::decode(payload, false).map(Logged::Changes),
            Self::Part => Group::decode(payload, true).map(Logged::Changes),
            Self::Replacement => Replacement::decode(payload).map(Logged::Replacement),
        }
    }
}

/// How many bytes of the disk a file takes, where that is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room(Option<u64>);

impl Room {
    /// For bytes in memory.
    pub(super) const UNKNOWN: Self = Self(None);

    /// # Errors
    /// [`Error::Io`].
    pub(super) fn of(path: &Path, file: &File) -> Result<Self> {
        let found = file.metadata().map_err(|e| Error::io(path, "read", e))?;
        Ok(Self(allocated(&found)))
    }

    /// # Errors
    /// [`Error::Corrupt`] when groups up to the one at `at` claim so many bytes that the file cannot have them.
    fn check(self, path: &Path, at: u64, claimed: u64) -> Result<()> {
        /// Small files may lie in their inode, and others be compressed.
        const SMALL: u64 = 16 << 20;
        const COMPRESSION: u64 = 16;
        match self.0 {
            Some(taken) if claimed > SMALL.saturating_add(taken.saturating_mul(COMPRESSION)) => {
                let expected = format!("groups of about the {taken} bytes that the file takes of the disk");
                Err(Error::corrupt(
                    path,
                    "length of a group",
                    at + 16,
                    expected,
                    format!("{claimed} bytes"),
                ))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere nobody knows")]
fn allocated(found: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::blocks(found).saturating_mul(512))
}

#[cfg(not(unix))]
fn allocated(_found: &Metadata) -> Option<u64> {
    None
}

/// What a log has.
#[derive(Debug)]
pub(super) struct Found {
    /// Which header counts; `None` for a log that was only being created.
    header: Option<usize>,
    pub(super) first_sequence: u64,
    /// The groups that count, in order.
    pub(super) groups: Vec<Logged>,
    /// Where they end.
    pub(super) end: u64,
}

impl Found {
    /// # Errors
    /// [`Error::Corrupt`] when the file is no log, has a sound group that says impossible things, or one that claims far more
    /// bytes than the file takes of the disk.
    pub(super) fn read(file: &DataFile, room: Room) -> Result<Self> {
        let len = file.len()?;
        let mut area = vec![0; usize::try_from(len.min(GROUPS)).unwrap_or_default()];
        file.read("log header", 0, &mut area)?;
        let headers = HEADERS.iter().enumerate().filter_map(|(slot, at)| {
            let sequence = header(area.get(usize::try_from(*at).ok()?..)?)?;
            Some((sequence, slot))
        });
        let newest = headers.max();
        if newest.is_none() {
            // A crash can cut the first header short, or leave zeros of it; nothing was acknowledged before it was there.
            let begun = area.iter().zip(&MAGIC).all(|(found, magic)| found == magic)
                && area
                    .get(MAGIC.len())
                    .is_none_or(|version| (1..=VERSION).contains(version));
            if len > GROUPS || !(begun || area.iter().all(|byte| *byte == 0)) {
                let found = area.get(..8).unwrap_or(&area).escape_ascii().to_string();
                let expected = "a Tidemill log, version 1 or 2";
                return Err(Error::corrupt(file.path(), "log header", 0, expected, found));
            }
        }
        let mut found = Self {
            header: newest.map(|(_, slot)| slot),
            first_sequence: newest.map_or(0, |(sequence, _)| sequence),
            groups: Vec::new(),
            end: GROUPS,
        };
        while let Some((group, group_len)) = found.next(file, len, room)? {
            found.groups.push(group);
            found.end += group_len;
        }
        Ok(found)
    }

    /// How many bytes the groups take.
    pub(super) fn byte_len(&self) -> u64 {
        self.end - GROUPS
    }

    /// The next group and its length; `None` where no sound one follows.
    fn next(&self, file: &DataFile, len: u64, room: Room) -> Result<Option<(Logged, u64)>> {
        let left = len.saturating_sub(self.end);
        let mut head = [0; GROUP_HEADER];
        if self.header.is_none() || left < head.len() as u64 {
            return Ok(None);
        }
        file.read("group header", self.end, &mut head)?;
        let (sequence, payload_len) = (u64_at(&head, 8), u64_at(&head, 16));
        let expected = self.first_sequence.wrapping_add(self.groups.len() as u64);
        let kind = head.first_chunk::<4>().copied().and_then(Kind::of);
        let fits = payload_len <= left - head.len() as u64;
        let Some(kind) = kind.filter(|_| sequence == expected && fits) else {
            return Ok(None);
        };
        // What a file claims and what it has are two things where it is sparse.
        room.check(file.path(), self.end, (self.end - GROUPS).saturating_add(payload_len))?;
        let mut payload = Vec::new();
        let size = usize::try_from(payload_len).ok();
        let size = size.filter(|size| payload.try_reserve_exact(*size).is_ok());
        let size = size.ok_or_else(|| Error::io(file.path(), "read", io::ErrorKind::OutOfMemory.into()))?;
        payload.resize(size, 0);
        file.read("group", self.end + head.len() as u64, &mut payload)?;
        let sum = crc32c::crc32c_append(crc32c::crc32c(head.get(8..).unwrap_or_default()), &payload);
        if head.get(4..8) != Some(&sum.to_le_bytes()) {
            return Ok(None);
        }
        // A right sum over a wrong group is no torn write: another program or version wrote it.
        let group = kind.decode(&payload).map_err(|fault| {
            let at = self.end + fault.at;
            Error::corrupt(file.path(), fault.what, at, fault.expected, fault.found)
        })?;
        Ok(Some((group, head.len() as u64 + payload_len)))
    }
}

/// A group that did not get into the log.
#[derive(Debug)]
pub(super) enum AppendError {
    /// The log is as it was before.
    Undone(Error),
    /// Nobody knows whether the group is in the log until it is opened again.
    Unknown(Error),
}

/// The number of the first group that counts, where a header is sound.
fn header(bytes: &[u8]) -> Option<u64> {
    let header = bytes.first_chunk::<HEADER>()?;
    let sum = crc32c::crc32c(header.get(..28)?);
    let is_known = header.starts_with(&MAGIC) && (1..=VERSION).contains(header.get(MAGIC.len())?);
    let sound = is_known && header.get(28..) == Some(&sum.to_le_bytes());
    sound.then(|| u64_at(header, 8))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |b| u64::from_le_bytes(*b))
}
