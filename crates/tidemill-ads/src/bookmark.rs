//! Bookmarks: places of records that programs keep as bytes, and compare.

use std::cmp::Ordering;

use crate::error::{Error, ErrorCode, Result};

/// The place of a record in a table, or in an order.
///
/// As bytes it is the record's number, the length of the key, and the key as the order stores it, so that whoever gets them
/// back can tell how long they are; numbers are little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// The number of the record.
    pub record: u32,
    /// Its key, which is empty in the order of the file.
    pub key: Vec<u8>,
}

/// How many bytes there are before the key.
const HEAD: usize = 6;
/// No key is longer: those of NTX files have 256 bytes at most, those of CDX files 240.
const LONGEST_KEY: usize = 256;

impl Bookmark {
    /// The bytes of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.record.to_le_bytes().to_vec();
        bytes.extend(u16::try_from(self.key.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend_from_slice(&self.key);
        bytes
    }

    /// How many bytes a bookmark with a key of so many bytes has.
    pub fn len_of(key_len: usize) -> usize {
        HEAD + key_len
    }

    /// Reads one by what `read` gives for a length: as many bytes from the beginning. It is asked for no more than a bookmark with the
    /// longest key has, whatever the bytes are.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidBookmark`] for fewer bytes than were asked for, for a key that is longer than keys are, and for record 0;
    /// that of `read`.
    pub fn read<'a>(read: impl Fn(usize) -> Result<&'a [u8]>) -> Result<Self> {
        let short = || Error::new(ErrorCode::InvalidBookmark, "a bookmark is longer than these bytes");
        let head = read(HEAD)?;
        let (record, rest) = head.split_first_chunk().ok_or_else(short)?;
        let len = rest.first_chunk().map(|len| usize::from(u16::from_le_bytes(*len)));
        let len = len.ok_or_else(short)?;
        if len > LONGEST_KEY {
            let what = format!("no key has {len} bytes, as these would say of a bookmark");
            return Err(Error::new(ErrorCode::InvalidBookmark, what));
        }
        let end = HEAD + len;
        let key = read(end)?.get(HEAD..end).ok_or_else(short)?;
        let record = u32::from_le_bytes(*record);
        match record {
            0 => Err(Error::new(ErrorCode::InvalidBookmark, "the bookmark is of no record")),
            record => Ok(Self {
                record,
                key: key.to_vec(),
            }),
        }
    }

    /// Which of two comes first: by key if both have one, then by number. Text is compared by its bytes.
    pub fn compare(&self, other: &Self) -> Ordering {
        let keys = match self.key.is_empty() || other.key.is_empty() {
            true => Ordering::Equal,
            false => self.key.cmp(&other.key),
        };
        keys.then(self.record.cmp(&other.record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookmarks_come_back_and_are_compared() {
        let mark = |record, key: &[u8]| Bookmark {
            record,
            key: key.to_vec(),
        };
        for bookmark in [mark(1, b""), mark(u32::MAX, b"key"), mark(7, &[0; 240])] {
            let bytes = bookmark.to_bytes();
            assert_eq!(bytes.len(), Bookmark::len_of(bookmark.key.len()));
            let read = |len: usize| Ok(bytes.get(..len).unwrap_or(&bytes));
            assert_eq!(Bookmark::read(read).unwrap(), bookmark);
            for cut in 0..bytes.len() {
                let short = |len: usize| Ok(&bytes[..len.min(cut)]);
                assert_eq!(Bookmark::read(short).unwrap_err().code(), ErrorCode::InvalidBookmark);
            }
        }
        let garbage = [b'x'; HEAD];
        let read = |len: usize| {
            assert!(len <= HEAD + LONGEST_KEY, "{len} bytes are asked for");
            Ok(&garbage[..])
        };
        assert_eq!(Bookmark::read(read).unwrap_err().code(), ErrorCode::InvalidBookmark);
        let nowhere = mark(0, b"").to_bytes();
        let read = |len: usize| Ok(&nowhere[..len]);
        assert_eq!(Bookmark::read(read).unwrap_err().code(), ErrorCode::InvalidBookmark);
        for (one, other, expected) in [
            (mark(2, b"a"), mark(1, b"b"), Ordering::Less),
            (mark(2, b"b"), mark(1, b"b"), Ordering::Greater),
            (mark(2, b""), mark(3, b"a"), Ordering::Less),
            (mark(3, b"a"), mark(3, b"a"), Ordering::Equal),
        ] {
            assert_eq!(one.compare(&other), expected);
        }
    }
}
