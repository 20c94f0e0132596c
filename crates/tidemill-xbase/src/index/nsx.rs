//! NSX: the index of HiPer-SIx, as Harbour's DBFNSX reads and writes it. A B-tree of several tags; keys of branches are
//! written whole, keys of leaves share their beginning with the key before and are run-length packed.
//!
//! Layout: the description at the head of `hbrddnsx.h` of Harbour, and the files of the corpus. The key before the first
//! one of a leaf stands in a branch above it, so that a leaf can be decoded only on the way down.
//!
//! Not here: writing.

use super::key::KeyType;
use super::page::{Fault, KeyBytes, Node, PageFormat, bytes, u16_le, u32_le};
use super::tag::{HeaderText, Tag};

/// Bytes in a page, the headers too.
pub(super) const PAGE_LEN: usize = 1024;

const TAGS_MAX: usize = 50;
const TAG_ITEM: usize = 16;
const NAME_LEN: usize = 12;
const FILE_HEADER: usize = 14;
const KEY_LEN_MAX: usize = 250;
const EXPRESSION_LEN: usize = 256;
const BRANCH_HEADER: usize = 8;
const LEAF_HEADER: usize = 6;
const LEAF: u8 = 2;
const NODE_MAX: u8 = 3;
const SIGNATURE: u8 = b'i';
const SIGNATURE_LARGE: u8 = b'I';
const FLAG_NO_UPDATE: u8 = 0x08;
/// Begins a run: the byte itself when 01 follows, else a length and the byte that is repeated.
const RUN: u8 = 0xFF;

/// The first page of the list of free ones in the header; 0 or all ones for none.
pub(super) fn first_free(header: &[u8]) -> Result<u32, Fault> {
    u32_le(header, 6)
}

/// How the pages of one file are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nsx {
    is_large: bool,
}

impl Nsx {
    /// The layout, and the name and header page of each tag.
    pub(super) fn from_header(header: &[u8], text: HeaderText) -> Result<(Self, Vec<(String, u32)>), Fault> {
        let [signature, flags]: [u8; 2] = bytes(header, 0)?;
        if !matches!(signature, SIGNATURE | SIGNATURE_LARGE) || flags != 0 {
            let found = format!("{signature:02X} {flags:02X}");
            return Err(Fault::new(0, "signature", "69 00 or 49 00", found));
        }
        let count = u16_le(header, 2)?;
        if count > TAGS_MAX {
            return Err(Fault::new(2, "number of tags", format!("at most {TAGS_MAX}"), count));
        }
        let items = header.get(FILE_HEADER..).unwrap_or_default();
        let mut tags = Vec::with_capacity(count);
        for item in items.chunks_exact(TAG_ITEM).take(count) {
            let (name, page) = item.split_at(NAME_LEN);
            tags.push((text.read(name), u32_le(page, 0)?));
        }
        let is_large = signature == SIGNATURE_LARGE;
        Ok((Self { is_large }, tags))
    }

    /// The tag whose header page this is.
    pub(super) fn tag(self, name: String, header: &[u8], text: HeaderText) -> Result<Tag, Fault> {
        let [signature, flags]: [u8; 2] = bytes(header, 0)?;
        if signature != SIGNATURE {
            return Err(Fault::new(0, "signature of a tag", "69", format!("{signature:02X}")));
        }
        let key_type = match u16_le(header, 6)? {
            0x02 | 0x08 => KeyType::Number,
            0x20 => KeyType::Date,
            0x40 => KeyType::Timestamp,
            0x80 => KeyType::Logical,
            0x400 => KeyType::Character,
            other => {
                return Err(Fault::new(
                    6,
                    "key type",
                    "2, 8, 20, 40, 80 or 400",
                    format!("{other:X}"),
                ));
            }
        };
        let key_len = u16_le(header, 8)?;
        if key_len == 0 || key_len > KEY_LEN_MAX {
            return Err(Fault::new(8, "key length", format!("1 to {KEY_LEN_MAX}"), key_len));
        }
        let flag = |at, what| match u16_le(header, at)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Fault::new(at, what, "0 or 1", other)),
        };
        let part = |at: usize| header.get(at..at + EXPRESSION_LEN).unwrap_or_default();
        let expression = text.read(part(14));
        if expression.is_empty() {
            return Err(Fault::new(14, "key expression", "a text", "none"));
        }
        let condition = text.read(part(14 + EXPRESSION_LEN));
        Ok(Tag {
            condition: (!condition.is_empty()).then_some(condition),
            is_unique: flag(10, "uniqueness")?,
            is_descending: flag(12, "direction")?,
            is_custom: flags & FLAG_NO_UPDATE != 0,
            key_type: Some(key_type),
            ..Tag::new(name, expression, key_len, u32_le(header, 2)?)
        })
    }
}

impl PageFormat for Nsx {
    fn page_len(&self) -> usize {
        PAGE_LEN
    }

    fn page_unit(&self) -> u64 {
        if self.is_large { PAGE_LEN as u64 } else { 1 }
    }

    fn branches_hold_entries(&self) -> bool {
        true
    }

    fn ties_are_sorted(&self) -> bool {
        true
    }

    fn descends_in_file(&self) -> bool {
        false
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, before: Option<&[u8]>) -> Result<Node, Fault> {
        match self.leaf_len(page)? {
            Some(count) => decode_leaf(page, count, keys, before.unwrap_or_default()),
            None => decode_branch(page, keys),
        }
    }

    fn leaf_len(&self, page: &[u8]) -> Result<Option<usize>, Fault> {
        let [kind, recno_len]: [u8; 2] = bytes(page, 0)?;
        if kind > NODE_MAX {
            return Err(Fault::new(0, "kind of page", "0 to 3", kind));
        }
        if kind & LEAF == 0 {
            return Ok(None);
        }
        let count = u16_le(page, 2)?;
        // An entry is a record and a length at least.
        if count * (usize::from(recno_len) + 1) > PAGE_LEN - LEAF_HEADER {
            return Err(Fault::new(2, "number of keys", "what fits into the page", count));
        }
        Ok(Some(count))
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, 6).ok()
    }
}

fn decode_branch(page: &[u8], keys: KeyBytes) -> Result<Node, Fault> {
    let count = u16_le(page, 2)?;
    let width = keys.len + 8;
    let items = page.get(BRANCH_HEADER..).unwrap_or_default();
    if count.saturating_mul(width) > items.len() {
        let expected = format!("at most {}", items.len() / width);
        return Err(Fault::new(2, "number of keys", expected, count));
    }
    let mut node = Node::new(keys.len, count);
    node.children.push(u32_le(page, 4)?);
    for item in items.chunks_exact(width).take(count) {
        let (numbers, key) = item.split_at(8);
        node.push(key, u32_le(numbers, 4)?);
        node.children.push(u32_le(numbers, 0)?);
    }
    Ok(node)
}

fn decode_leaf(page: &[u8], count: usize, keys: KeyBytes, before: &[u8]) -> Result<Node, Fault> {
    let recno_len = usize::from(page.get(1).copied().unwrap_or_default());
    let used = u16_le(page, 4)?;
    let entries = page
        .get(LEAF_HEADER..used)
        .ok_or_else(|| Fault::new(4, "used bytes", format!("{LEAF_HEADER} to {PAGE_LEN}"), used))?;
    let mut node = Node::new(keys.len, count);
    let mut left = Entries { entries, at: 0 };
    if count > 0 && !(1..=4).contains(&recno_len) {
        return Err(Fault::new(1, "bytes of a record number", "1 to 4", recno_len));
    }
    let mut unpacked = Vec::with_capacity(keys.len);
    for _ in 0..count {
        let at = LEAF_HEADER + left.at;
        let mut recno = [0; 4];
        for (to, from) in recno.iter_mut().zip(left.take(recno_len)?) {
            *to = *from;
        }
        let recno = u32::from_le_bytes(recno);
        let len = usize::from(left.byte()?);
        unpacked.clear();
        let shared = if len == recno_len + 1 {
            keys.len
        } else {
            // A key of 250 bytes and a record of 4 make a length of 256, which is written as 0.
            let len = if len == 0 { 256 } else { len };
            let own = len
                .checked_sub(recno_len + 2)
                .ok_or_else(|| Fault::new(at, "length of an entry", format!("at least {}", recno_len + 1), len))?;
            let shared = usize::from(left.byte()?);
            let own = left.take(own)?;
            let room = keys
                .len
                .checked_sub(shared)
                .filter(|room| own.len() <= *room)
                .ok_or_else(|| Fault::new(at, "key", format!("at most {} bytes", keys.len), shared + own.len()))?;
            if own.len() == room {
                unpacked.extend_from_slice(own);
            } else {
                unpack(own, room, &mut unpacked).ok_or_else(|| {
                    Fault::new(at, "packed key", format!("at most {room} bytes"), "more, or half a run")
                })?;
            }
            shared
        };
        if !node.push_packed(before, shared, &unpacked, keys.trail, recno) {
            return Err(Fault::new(
                at,
                "key",
                format!("{shared} bytes of the key before"),
                "no such key",
            ));
        }
    }
    if left.at != entries.len() {
        let found = format!("{} bytes in {count} keys", left.at);
        return Err(Fault::new(4, "used bytes", entries.len().to_string(), found));
    }
    Ok(node)
}

/// Undoes the run-length packing; `None` when a run is cut or the key gets longer than `room`.
fn unpack(packed: &[u8], room: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut bytes = packed.iter().copied();
    while let Some(byte) = bytes.next() {
        let (count, byte) = match byte {
            RUN => match bytes.next()? {
                1 => (1, RUN),
                count => (usize::from(count), bytes.next()?),
            },
            byte => (1, byte),
        };
        let len = out.len() + count;
        if len > room {
            return None;
        }
        out.resize(len, byte);
    }
    Some(())
}

/// What is left of a leaf's entries.
struct Entries<'a> {
    entries: &'a [u8],
    at: usize,
}

impl<'a> Entries<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let taken = self.entries.get(self.at..self.at + len).ok_or_else(|| {
            Fault::new(
                LEAF_HEADER + self.at,
                "entry",
                format!("{len} bytes"),
                "the end of the used bytes",
            )
        })?;
        self.at += len;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        self.take(1).map(|bytes| bytes.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_unpacked_within_their_room() {
        for (packed, room, expected) in [
            (&b"ab"[..], 2, Some(&b"ab"[..])),
            (b"a\xFF\x03xb", 5, Some(b"axxxb")),
            (b"\xFF\x01", 1, Some(b"\xFF")),
            (b"\xFF\x02\xFF", 4, Some(b"\xFF\xFF")),
            (b"a\xFF\x03xb", 4, None),
            (b"a\xFF", 4, None),
            (b"a\xFF\x03", 4, None),
        ] {
            let mut out = Vec::new();
            let fits = unpack(packed, room, &mut out);
            assert_eq!(fits.map(|()| out.as_slice()), expected);
        }
    }
}
