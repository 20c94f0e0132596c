//! NSX: the index of HiPer-SIx, as Harbour's DBFNSX reads and writes it. A B-tree of several tags; keys of branches are
//! written whole, keys of leaves share their beginning with the key before and are run-length packed.
//!
//! Layout: the description at the head of `hbrddnsx.h` of Harbour, and the files of the corpus. The key before the first
//! one of a leaf stands in a branch above it, so that a leaf can be decoded only on the way down.
//!
//! How keys are packed, changes counted and free pages listed: `hb_nsxLeafPutKey`, `hb_nsxIndexHeaderSave` and
//! `hb_nsxPageFree` in Harbour's `dbfnsx1.c`.

use crate::codepage::CodePage;
use crate::error::Result;

use super::key::KeyType;
use super::order_spec::OrderSpec;
use super::page::{
    Branches, Counters, Fault, KeyBytes, NO_PAGE, Node, PageFormat, PageWriter, bytes, own_len, put, put_u16, put_u32,
    shared_len, u16_le, u32_le,
};
use super::tag::{HeaderText, Tag};

/// Bytes in a page, the headers too.
pub(super) const PAGE_LEN: usize = 1024;

const TAGS_MAX: usize = 50;
const TAG_ITEM: usize = 16;
pub(super) const NAME_LEN: usize = 12;
const FILE_HEADER: usize = 14;
const KEY_LEN_MAX: usize = 250;
const EXPRESSION_LEN: usize = 256;
const BRANCH_HEADER: usize = 8;
const LEAF_HEADER: usize = 6;
const ROOT: u8 = 1;
const LEAF: u8 = 2;
/// Kind of a free page.
const FREE: u8 = b'f';
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

impl Nsx {
    /// The layout of files to 4 GiB.
    pub(super) fn small() -> Self {
        Self { is_large: false }
    }

    /// The name of a new order as the header lists it.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a name that is too long or there already, and a full list.
    pub(super) fn name<'a>(
        order: &OrderSpec,
        codepage: CodePage,
        known: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>> {
        let mut name = order.encode(codepage, &order.name.to_uppercase())?;
        if name.is_empty() || name.len() >= NAME_LEN {
            return Err(order.refuse(&format!("a name of {} bytes, not 1 to {}", name.len(), NAME_LEN - 1)));
        }
        name.resize(NAME_LEN, 0);
        for (count, known) in known.enumerate() {
            if known == name {
                return Err(order.refuse("already exists"));
            }
            if count + 1 == TAGS_MAX {
                return Err(order.refuse(&format!("the file has its {TAGS_MAX} orders already")));
            }
        }
        Ok(name)
    }

    /// The header of a new order without its root.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for what the header cannot hold.
    pub(super) fn tag_header(order: &OrderSpec, codepage: CodePage) -> Result<Vec<u8>> {
        let len = order.key_len;
        if !(1..=KEY_LEN_MAX).contains(&len) {
            return Err(order.refuse_key_len(KEY_LEN_MAX));
        }
        let expression = order.encode(codepage, &order.expression)?;
        let condition = order.encode(codepage, order.condition.as_deref().unwrap_or_default())?;
        if expression.is_empty() || expression.len().max(condition.len()) >= EXPRESSION_LEN {
            let found = expression.len().max(condition.len());
            let most = EXPRESSION_LEN - 1;
            return Err(order.refuse(&format!("an expression of {found} bytes, not 1 to {most}")));
        }
        let key_type = match order.key_type {
            KeyType::Number => 0x08,
            KeyType::Date => 0x20,
            KeyType::Timestamp => 0x40,
            KeyType::Logical => 0x80,
            KeyType::Character => 0x400,
        };
        let mut header = vec![0; PAGE_LEN];
        put(
            &mut header,
            0,
            &[SIGNATURE, if order.is_custom { FLAG_NO_UPDATE } else { 0 }],
        );
        put_u16(&mut header, 6, key_type);
        put_u16(&mut header, 8, len);
        put_u16(&mut header, 10, order.is_unique.into());
        put_u16(&mut header, 12, order.is_descending.into());
        put(&mut header, 14, &expression);
        put(&mut header, 14 + EXPRESSION_LEN, &condition);
        Ok(header)
    }

    /// The header of a new file that ends at `end`: names of orders and the pages of their headers.
    pub(super) fn file_header(names: &[(Vec<u8>, u32)], end: u32) -> Vec<u8> {
        let mut header = vec![0; PAGE_LEN];
        put(&mut header, 0, &[SIGNATURE]);
        put_u16(&mut header, 2, names.len());
        // Harbour counts a change for each order that it adds.
        put_u16(&mut header, 4, names.len());
        put_u32(&mut header, 6, NO_PAGE);
        put_u32(&mut header, 10, end);
        Self::list(names, &mut header);
        header
    }

    /// The names of a header's orders and the pages of their headers.
    pub(super) fn listed(header: &[u8]) -> Vec<(Vec<u8>, u32)> {
        let count = u16_le(header, 2).unwrap_or_default().min(TAGS_MAX);
        let items = header.get(FILE_HEADER..).unwrap_or_default().chunks_exact(TAG_ITEM);
        let listed = items.take(count).map(|item| {
            let (name, page) = item.split_at(NAME_LEN);
            (name.to_vec(), u32_le(page, 0).unwrap_or_default())
        });
        listed.collect()
    }

    /// Writes the list of orders into a header.
    pub(super) fn list(names: &[(Vec<u8>, u32)], header: &mut [u8]) {
        put_u16(header, 2, names.len());
        put(header, FILE_HEADER, &[0; TAGS_MAX * TAG_ITEM]);
        for (slot, (name, page)) in names.iter().enumerate() {
            let at = FILE_HEADER + slot * TAG_ITEM;
            put(header, at, name);
            put_u32(header, at + NAME_LEN, *page);
        }
    }
}

impl Nsx {
    /// The number of keys of a leaf; `None` for a branch.
    fn leaf_count(page: &[u8]) -> Result<Option<usize>, Fault> {
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
}

impl PageFormat for Nsx {
    fn page_len(&self) -> usize {
        PAGE_LEN
    }

    fn page_unit(&self) -> u64 {
        if self.is_large { PAGE_LEN as u64 } else { 1 }
    }

    fn branches(&self) -> Branches {
        Branches::Entries
    }

    fn ties_are_sorted(&self) -> bool {
        true
    }

    fn descends_in_file(&self) -> bool {
        false
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, before: Option<&[u8]>) -> Result<Node, Fault> {
        match Self::leaf_count(page)? {
            Some(count) => decode_leaf(page, count, keys, before.unwrap_or_default()),
            None => decode_branch(page, keys),
        }
    }

    fn leaf_len(&self, page: &[u8], _keys: KeyBytes) -> Result<Option<usize>, Fault> {
        Self::leaf_count(page)
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, 6).ok()
    }
}

impl PageWriter for Nsx {
    fn leaf_room(&self) -> usize {
        PAGE_LEN - LEAF_HEADER
    }

    fn entry_len(&self, keys: KeyBytes, before: Option<&[u8]>, key: &[u8]) -> usize {
        let shared = before.map_or(0, |before| shared_len(before, key));
        if shared == key.len() {
            return 1;
        }
        2 + packed_len(key.get(shared..).unwrap_or_default(), keys.trail)
    }

    fn recno_len(&self, _keys: KeyBytes, recno_max: u32) -> usize {
        recno_len(recno_max)
    }

    fn branch_room(&self, keys: KeyBytes) -> usize {
        (PAGE_LEN - BRANCH_HEADER) / (keys.len + 8)
    }

    fn encode(&self, node: &Node, keys: KeyBytes, is_root: bool, before: Option<&[u8]>, page: &mut [u8]) {
        let root = if is_root { ROOT } else { 0 };
        put_u16(page, 2, node.len());
        if !node.is_leaf() {
            put(page, 0, &[root, 4]);
            let mut at = BRANCH_HEADER;
            put_u32(page, 4, node.children.first().copied().unwrap_or_default());
            for (slot, child) in node.children.iter().skip(1).enumerate() {
                put_u32(page, at, *child);
                put_u32(page, at + 4, node.recno(slot));
                put(page, at + 8, node.key(slot));
                at += keys.len + 8;
            }
            return;
        }
        let recno_len = recno_len(node.recno_max());
        put(page, 0, &[root | LEAF, recno_len as u8]);
        let mut at = LEAF_HEADER;
        let mut before = before;
        let mut packed = Vec::with_capacity(keys.len);
        for (slot, key) in node.keys().enumerate() {
            let recno = node.recno(slot).to_le_bytes();
            put(page, at, recno.get(..recno_len).unwrap_or_default());
            at += recno_len;
            let shared = before.map_or(0, |before| shared_len(before, key));
            before = Some(key);
            if shared == keys.len {
                put(page, at, &[recno_len as u8 + 1]);
                at += 1;
                continue;
            }
            pack(key.get(shared..).unwrap_or_default(), keys.trail, &mut packed);
            // A length of 256 is written as 0.
            put(page, at, &[(recno_len + 2 + packed.len()) as u8, shared as u8]);
            put(page, at + 2, &packed);
            at += 2 + packed.len();
        }
        put_u16(page, 4, at);
    }

    fn encode_free(&self, next: u32, page: &mut [u8]) {
        put(page, 0, &[FREE]);
        put_u32(page, 6, next);
    }

    fn root_at(&self, header: u64) -> u64 {
        header + 2
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: first_free(header)?,
            end: Some(u32_le(header, 10)?),
        })
    }

    fn write_counters(&self, counters: Counters, _is_shared: bool, header: &mut [u8]) {
        let version = u16_le(header, 4).unwrap_or_default();
        put_u16(header, 4, version + 1);
        put_u32(header, 6, counters.first_free);
        put_u32(header, 10, counters.end.unwrap_or_default());
    }
}

/// The bytes of a record in a leaf whose highest record this is.
fn recno_len(recno_max: u32) -> usize {
    match recno_max {
        0..0x1_0000 => 2,
        0x1_0000..0x100_0000 => 3,
        _ => 4,
    }
}

fn packed_len(own: &[u8], trail: u8) -> usize {
    let mut len = 0;
    match for_each_run(own, trail, |count, byte| len += run_len(count, byte)) {
        true if len < own.len() => len,
        true => own.len(),
        false => 0,
    }
}

/// What a leaf keeps of a key behind the bytes that it shares: runs, or all of it where they are no shorter.
fn pack(own: &[u8], trail: u8, packed: &mut Vec<u8>) {
    packed.clear();
    let has_own = for_each_run(own, trail, |count, byte| match run_len(count, byte) {
        1 => packed.push(byte),
        2 => packed.extend_from_slice(&[RUN, 1]),
        _ => packed.extend_from_slice(&[RUN, count as u8, byte]),
    });
    if has_own && packed.len() >= own.len() {
        packed.clear();
        packed.extend_from_slice(own);
    }
}

fn run_len(count: usize, byte: u8) -> usize {
    match (count, byte) {
        (1, RUN) => 2,
        (1, _) => 1,
        _ => 3,
    }
}

/// Gives the runs of a key without its end to `give`: of two equal bytes for the one that marks runs, of four for others;
/// single bytes are runs of one. `false` when nothing is left of the key.
fn for_each_run(own: &[u8], trail: u8, mut give: impl FnMut(usize, u8)) -> bool {
    let own = own.get(..own_len(own, trail)).unwrap_or_default();
    let mut rest = own;
    while let Some(byte) = rest.first().copied() {
        let equal = rest.iter().take_while(|other| **other == byte).count();
        let least = if byte == RUN { 2 } else { 4 };
        let count = if equal >= least { equal } else { 1 };
        give(count, byte);
        rest = rest.get(count..).unwrap_or_default();
    }
    !own.is_empty()
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_has_the_length_that_was_counted_and_comes_back(own in prop::collection::vec(prop_oneof![Just(0xFF), Just(b' '), Just(b'a'), any::<u8>()], 1..250)) {
            let mut packed = Vec::new();
            pack(&own, b' ', &mut packed);
            prop_assert_eq!(packed.len(), packed_len(&own, b' '));
            let mut out = Vec::new();
            if packed.len() == own.len() {
                out.extend_from_slice(&packed);
            } else {
                prop_assert_eq!(unpack(&packed, own.len(), &mut out), Some(()));
                out.resize(own.len(), b' ');
            }
            prop_assert_eq!(out, own);
        }
    }

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
