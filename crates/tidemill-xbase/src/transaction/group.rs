//! One committed transaction in the log: which bytes of which files it changed, before and after.
//!
//! Layout: docs/formats/tidemill-log.md. What was there before is kept too: redo only needs what comes after, but it must
//! not write over what another program did in the meantime, and a commit that the disk has no room for is taken back.

use std::path::PathBuf;

use super::log_file::Encode;
use super::payload::{Fault, Rest, count, framed, put_path};
use crate::lock::LockRange;

/// What a group of a transaction begins with.
pub(super) const GROUP_MAGIC: [u8; 4] = *b"TDMG";
/// What the part of a transaction begins with that changes files of several folders.
pub(super) const PART_MAGIC: [u8; 4] = *b"TDMF";

/// Longer ranges are logged in pieces, since a piece counts its bytes in 32 bits.
const PIECE: usize = 1 << 24;
const SHARED: u8 = 1;

/// All that one transaction changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Where else the transaction is, if this is not all of it.
    pub(super) part: Option<Part>,
    pub(super) files: Vec<FileChange>,
}

/// What makes the logs of several folders one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The same in all of them.
    pub(super) transaction: [u8; 16],
    /// The other folders, from the log's own on where that is possible.
    pub(super) others: Vec<PathBuf>,
}

/// What a transaction changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    /// In the log's folder, by its name alone; logs of version 1 may say more, which is refused.
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

impl Encode for Group {
    fn encode(&self, sequence: u64) -> Result<Vec<u8>, &'static str> {
        let magic = if self.part.is_some() { PART_MAGIC } else { GROUP_MAGIC };
        framed(magic, sequence, |out| {
            if let Some(part) = &self.part {
                out.extend(part.transaction);
                out.extend(count(part.others.len())?);
                part.others.iter().try_for_each(|folder| put_path(out, folder))?;
            }
            out.extend(count(self.files.len())?);
            self.files.iter().try_for_each(|file| file.put(out))
        })
    }
}

impl Group {
    /// The group whose payload, without its header, is `payload`; `is_part` says with which magic.
    pub(super) fn decode(payload: &[u8], is_part: bool) -> Result<Self, Fault> {
        let mut rest = Rest::of(payload);
        let mut group = Self::default();
        if is_part {
            let mut part = Part {
                transaction: rest.array("number of the transaction")?,
                others: Vec::new(),
            };
            for _ in 0..rest.u32("number of other folders")? {
                part.others.push(rest.path()?);
            }
            group.part = Some(part);
        }
        for _ in 0..rest.u32("number of files")? {
            group.files.push(FileChange::take(&mut rest)?);
        }
        rest.end()?;
        Ok(group)
    }
}

impl FileChange {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), &'static str> {
        out.push(if self.shared { SHARED } else { 0 });
        put_path(out, &self.path)?;
        out.extend(self.old_len.to_le_bytes());
        out.extend(self.new_len.to_le_bytes());
        out.extend(count(self.locks.len())?);
        for range in &self.locks {
            out.extend(range.start.to_le_bytes());
            out.extend(range.end.to_le_bytes());
        }
        out.extend(count(self.pieces.len())?);
        for piece in &self.pieces {
            out.extend(piece.offset.to_le_bytes());
            out.extend(count(piece.before.len())?);
            out.extend(count(piece.after.len())?);
            out.extend_from_slice(&piece.before);
            out.extend_from_slice(&piece.after);
        }
        Ok(())
    }

    fn take(rest: &mut Rest<'_>) -> Result<Self, Fault> {
        let flags = rest.array::<1>("file")?;
        let mut file = Self {
            path: rest.path()?,
            shared: flags == [SHARED],
            old_len: rest.u64("length before")?,
            new_len: rest.u64("length after")?,
            locks: Vec::new(),
            pieces: Vec::new(),
        };
        for _ in 0..rest.u32("number of locks")? {
            let (start, end) = (rest.u64("lock")?, rest.u64("lock")?);
            if start > end {
                return Err(rest.fault("lock", format!("an end from {start} on"), end.to_string()));
            }
            file.locks.push(LockRange { start, end });
        }
        for _ in 0..rest.u32("number of pieces")? {
            file.pieces.push(Piece::take(rest)?);
        }
        Ok(file)
    }

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

impl Piece {
    fn take(rest: &mut Rest<'_>) -> Result<Self, Fault> {
        let offset = rest.u64("place of a piece")?;
        let (before, after) = (rest.u32("length before")?, rest.u32("length after")?);
        if before > after || offset.checked_add(u64::from(after)).is_none() {
            let expected = format!("at most {after} bytes before, within 2^64 bytes");
            return Err(rest.fault("piece", expected, format!("{before} at byte {offset}")));
        }
        let (before, after) = (
            rest.take("piece", before as usize)?,
            rest.take("piece", after as usize)?,
        );
        Ok(Self {
            offset,
            before: before.to_vec(),
            after: after.to_vec(),
        })
    }

    /// Where it ends.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.after.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::payload::GROUP_HEADER;
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

    fn part() -> impl Strategy<Value = Option<Part>> {
        prop::option::of(
            (any::<[u8; 16]>(), vec("[a-z/.]{1,20}", 1..4)).prop_map(|(transaction, others)| Part {
                transaction,
                others: others.into_iter().map(PathBuf::from).collect(),
            }),
        )
    }

    proptest! {
        #[test]
        fn a_group_is_read_as_it_was_written_and_not_if_it_is_cut(part in part(), files in vec(file(), 0..4)) {
            let is_part = part.is_some();
            let group = Group { part, files };
            let bytes = group.encode(7).unwrap();
            let payload = &bytes[GROUP_HEADER..];
            prop_assert_eq!(&Group::decode(payload, is_part).unwrap(), &group);
            for cut in 0..payload.len() {
                prop_assert!(Group::decode(&payload[..cut], is_part).is_err(), "cut at {}", cut);
            }
            prop_assert!(Group::decode(&[payload, &[0]].concat(), is_part).is_err());
        }

        #[test]
        fn groups_of_any_bytes_are_read_or_refused(part in part(), files in vec(file(), 1..3), flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), noise in vec(any::<u8>(), 0..200)) {
            let is_part = part.is_some();
            let mut bytes = Group { part, files }.encode(0).unwrap()[GROUP_HEADER..].to_vec();
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for bytes in [bytes, noise] {
                if let Ok(group) = Group::decode(&bytes, is_part) {
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
