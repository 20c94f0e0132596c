//! CDX: FoxPro's compound, compact index. Leaves share what keys have in common; branches repeat the last key below.
//!
//! Layout: "Compact Index File Structure (.idx)" and "Compound Index File Structure (.cdx)" of the FoxPro documentation;
//! the collation of Harbour's header (signature `RCHB`, large pages) from its `hbrddcdx.h`. The file's own header is the
//! header of a tree of names: each entry's "record" is the offset of a tag's header.
//!
//! How a change is counted and free pages are listed: `hb_cdxIndexUnLockWrite` and `hb_cdxIndexPutAvailPage` in
//! Harbour's `dbfcdx1.c`.
//!
//! Option 04 means two things. Visual FoxPro says with it that an order is a candidate or primary index (the indexes of primary
//! keys that it wrote have 64 where others have 60; CodeBase's `r4candidate` is the same bit); SIx, Comix and Harbour say that an
//! order is custom. It is a candidate index in the file of a Visual FoxPro table, unless the tag's header has the lengths of header
//! and page (16, 18) that Harbour writes, and nothing behind them (to 32), where Visual FoxPro counts keys.
//!
//! Option 02 says in such a file that keys can be NULL: each then has one byte more, in front, 80 before a value and 00 for NULL,
//! whose other bytes are zeros. Learned from the indexes of X#'s Northwind, which Visual FoxPro wrote.
//!
//! The name of a collation (`GENERAL`, `PINYIN`) at 494 and the version 5 of a BINARY index at 15 were learned from files that Visual
//! FoxPro 9 wrote (FoxBin2Prg's test data, xtet2008's tools); CodeBase names the first field `sortSeq`.
//!
//! Not here: the type of the keys, which the file does not say.

use std::ops::Range;

use super::adi;
use super::page::{
    Branches, Counters, Fault, KeyBytes, NO_PAGE, NUMBER, Node, PageFormat, PageWriter, bytes, own_len, put, put_u16,
    put_u32, shared_len, u16_le, u32_le,
};
use super::tag::{HeaderText, Tag};
use super::word_options;

/// The header of a file or of a tag.
pub(super) const HEADER_LEN: usize = 1024;
/// The length of a name in the directory of tags.
pub(super) const NAME_LEN: usize = 10;

pub(super) const PAGE_LEN: usize = 512;
const PAGE_LEN_MAX: usize = 8192;
pub(super) const BRANCH_HEADER: usize = 12;
pub(super) const LEAF_HEADER: usize = 24;
/// The longest key of a page of 512 bytes; with longer pages two must fit into a branch.
pub(super) const KEY_LEN_MAX: usize = 240;
pub(super) const HARBOUR: [u8; 4] = *b"RCHB";
const LARGE: u8 = 0x21;

/// The version of a BINARY index, at 15 of the header of a tag. Others of Visual FoxPro have 1, and 2 with a collation.
const BITMAP: u8 = 0x05;
/// Where the header of a tag names the collation of its keys.
pub(super) const COLLATION_AT: usize = 494;
const COLLATION_LEN: usize = 8;
/// Where the expressions of a tag begin.
pub(super) const TEXTS: usize = 512;
/// The collation by bytes.
const MACHINE: &str = "MACHINE";

const ATTRIBUTE_LEAF: usize = 2;
/// With the bit 4, which Visual FoxPro sets in the pages of an index that it has made in one go. What it says is not documented;
/// such pages are packed as all others, and those that are changed here lose it.
const ATTRIBUTE_MAX: usize = 7;

pub(super) const OPTION_UNIQUE: u8 = 0x01;
pub(super) const OPTION_CUSTOM: u8 = 0x04;
/// The same bit, in the files of Visual FoxPro.
pub(super) const OPTION_CANDIDATE: u8 = 0x04;
/// Visual FoxPro: the key expression can be NULL. To Harbour such an order is temporary.
pub(super) const OPTION_NULLABLE: u8 = 0x02;
pub(super) const OPTION_FOR: u8 = 0x08;
/// An index of full-text search: in an ADI, and in a CDX whose tag has the options of one.
pub(super) const OPTION_FULL_TEXT: u8 = 0x10;
pub(super) const OPTION_COMPACT: u8 = 0x20;
pub(super) const OPTION_COMPOUND: u8 = 0x40;
pub(super) const OPTION_DIRECTORY: u8 = 0x80;

/// The longest key of pages of a length.
pub(super) fn key_len_max(page_len: usize) -> usize {
    match page_len {
        PAGE_LEN => KEY_LEN_MAX,
        longer => (longer - BRANCH_HEADER) / 2 - 8,
    }
}

/// The first page of the list of free ones in the header; 0 or all ones for none.
pub(super) fn first_free(header: &[u8]) -> Result<u32, Fault> {
    u32_le(header, 4)
}

/// Whether the header has a key expression, which that of a directory of tags does not have.
pub(super) fn has_expression(header: &[u8]) -> bool {
    header.get(TEXTS).is_some_and(|first| *first != 0)
}

/// How the pages of one file are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cdx {
    page_len: usize,
    /// Whether pages go by number, instead of by offset.
    by_number: bool,
    /// Whether it is an ADI.
    is_adi: bool,
}

impl Cdx {
    /// From the header of an ADI.
    pub(super) fn from_adi_header(header: &[u8]) -> Result<Self, Fault> {
        // Old files leave the length out.
        let page_len = match u16_le(header, 18)? {
            0 => PAGE_LEN,
            len => len,
        };
        if !page_len.is_power_of_two() || !(PAGE_LEN..=PAGE_LEN_MAX).contains(&page_len) {
            let expected = "0, or a power of two from 512 to 8192";
            return Err(Fault::new(18, "page length", expected, page_len));
        }
        Ok(Self::adi(page_len))
    }

    /// That of an ADI of pages of this length.
    pub(super) fn adi(page_len: usize) -> Self {
        Self {
            page_len,
            by_number: true,
            is_adi: true,
        }
    }

    /// From the header of the file.
    pub(super) fn from_header(header: &[u8]) -> Result<Self, Fault> {
        let signature: [u8; 4] = bytes(header, 20)?;
        let mut reversed = signature;
        reversed.reverse();
        if signature != HARBOUR && reversed != HARBOUR {
            return Ok(Self {
                page_len: PAGE_LEN,
                by_number: false,
                is_adi: false,
            });
        }
        let (header_len, page_len) = (u16_le(header, 16)?, u16_le(header, 18)?);
        if header_len != HEADER_LEN {
            return Err(Fault::new(16, "header length", HEADER_LEN.to_string(), header_len));
        }
        if !page_len.is_power_of_two() || !(PAGE_LEN..=PAGE_LEN_MAX).contains(&page_len) {
            return Err(Fault::new(
                18,
                "page length",
                "a power of two from 512 to 8192",
                page_len,
            ));
        }
        Ok(Self {
            page_len,
            by_number: header.get(15) == Some(&LARGE),
            is_adi: false,
        })
    }

    /// The root and the length of the names in the directory of tags.
    pub(super) fn directory(self, header: &[u8]) -> Result<(u32, usize), Fault> {
        let options = header.get(14).copied().unwrap_or_default();
        if options & OPTION_COMPACT == 0 {
            return Err(Fault::new(
                14,
                "index options",
                "the bit of a compact index (20)",
                format!("{options:02X}"),
            ));
        }
        let (len, expected) = (u16_le(header, 12)?, self.name_len());
        if len != expected {
            return Err(Fault::new(12, "length of tag names", expected.to_string(), len));
        }
        Ok((u32_le(header, 0)?, len))
    }

    /// The tag whose header this is, of a table that has candidate indexes or not.
    pub(super) fn tag(self, name: String, header: &[u8], text: HeaderText, has_candidates: bool) -> Result<Tag, Fault> {
        let options = header.get(14).copied().unwrap_or_default();
        let is_of_fox = has_candidates && !self.is_of_harbour(header);
        let is_candidate = match self.is_adi {
            true => options & OPTION_UNIQUE != 0,
            false => is_of_fox && options & OPTION_CANDIDATE != 0,
        };
        let (key_len, key_len_max) = (u16_le(header, 12)?, self.key_len_max());
        if key_len == 0 || key_len > key_len_max {
            return Err(Fault::new(12, "key length", format!("1 to {key_len_max}"), key_len));
        }
        let pool = header.get(512..HEADER_LEN).unwrap_or_default();
        let (for_at, mut for_len) = (u16_le(header, 504)?, u16_le(header, 506)?);
        let (key_at, mut key_len_text) = (u16_le(header, 508)?, u16_le(header, 510)?);
        // Some programs leave a length out: the text then ends at a NUL, which `text` looks for anyway.
        if key_len_text == 0 {
            key_len_text = pool.len().saturating_sub(key_at);
        }
        let for_at = if for_at == 0 && key_at == 0 && for_len != 0 {
            key_len_text
        } else {
            for_at
        };
        if for_len == 0 {
            for_len = pool.len().saturating_sub(for_at);
        }
        let part = |at: usize, len: usize, what| {
            pool.get(at..at.saturating_add(len))
                .ok_or_else(|| Fault::new(504, what, "a text within 512 bytes", format!("{len} bytes at {at}")))
        };
        let expression = text.read(part(key_at, key_len_text, "place of the key expression")?);
        if expression.is_empty() {
            return Err(Fault::new(512, "key expression", "a text", "none"));
        }
        let condition = text.read(part(for_at, for_len, "place of the FOR expression")?);
        for (what, text) in [("key expression", &expression), ("FOR expression", &condition)] {
            if let Some(found) = text.chars().find(|c| c.is_control() && !c.is_whitespace()) {
                return Err(Fault::new(
                    512,
                    what,
                    "a text that can be read",
                    format!("{found:?} in it"),
                ));
            }
        }
        let has_words = options & OPTION_FULL_TEXT != 0;
        let full_text = match has_words {
            true => word_options::read(header, u16_le(header, 506)? + u16_le(header, 510)?, text)?,
            false => None,
        };
        Ok(Tag {
            condition: (!condition.is_empty()).then_some(condition),
            is_unique: options & OPTION_UNIQUE != 0 && !self.is_adi,
            is_descending: u16_le(header, 502)? != 0,
            is_candidate,
            collation: self.collation(header).filter(|_| !self.is_adi),
            is_bitmap: header.get(15) == Some(&BITMAP) && !self.is_of_harbour(header) && !self.is_adi,
            is_full_text: has_words && (self.is_adi || full_text.is_some()),
            full_text: full_text.map(Box::new),
            trail: header.get(15).copied().filter(|_| self.is_adi),
            is_nullable: is_of_fox && options & OPTION_NULLABLE != 0 && key_len > 1,
            is_custom: options & OPTION_CUSTOM != 0 && !is_candidate,
            ignores_case: !self.is_adi && matches!(header.get(15), Some(0x01 | &LARGE)) && header.get(501) == Some(&1),
            ..Tag::new(name, expression, key_len, u32_le(header, 0)?)
        })
    }
}

impl Cdx {
    /// Lets the pages of a tree, which were packed for another place, name each other where they go now.
    pub(super) fn move_tree(pages: &mut [u8], page_len: usize, key_len: usize, moved: impl Fn(u32) -> u32) {
        for page in pages.chunks_exact_mut(page_len) {
            for at in [4, 8] {
                if let Some(sibling) = u32_le(page, at).ok().filter(|sibling| *sibling != NO_PAGE) {
                    put_u32(page, at, moved(sibling));
                }
            }
            let attributes = u16_le(page, 0).unwrap_or_default();
            if attributes & ATTRIBUTE_LEAF != 0 {
                continue;
            }
            for entry in 0..u16_le(page, 2).unwrap_or_default() {
                let at = BRANCH_HEADER + entry * (key_len + 8) + key_len + 4;
                if let Ok(child) = bytes(page, at) {
                    put(page, at, &moved(u32::from_be_bytes(child)).to_be_bytes());
                }
            }
        }
    }

    /// The length of names in the directory of tags.
    fn name_len(self) -> usize {
        if self.is_adi { adi::NAME_LEN } else { NAME_LEN }
    }

    /// The longest key: two fit into a branch.
    pub(super) fn key_len_max(self) -> usize {
        match self.is_adi {
            true => (self.page_len - BRANCH_HEADER) / 2 - 8,
            false => key_len_max(self.page_len),
        }
    }

    /// The collation that FoxPro names in the header of a tag.
    fn collation(self, header: &[u8]) -> Option<String> {
        let name = header.get(COLLATION_AT..COLLATION_AT + COLLATION_LEN)?;
        let name = name
            .split(|byte| *byte == 0)
            .next()
            .unwrap_or_default()
            .trim_ascii_end();
        let is_name = name.first().is_some_and(u8::is_ascii_uppercase)
            && name
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let name = std::str::from_utf8(name)
            .ok()
            .filter(|_| is_name && !self.is_of_harbour(header))?;
        (name != MACHINE).then(|| name.to_owned())
    }

    /// The number of keys of a leaf; `None` for a branch.
    fn leaf_count(page: &[u8]) -> Result<Option<usize>, Fault> {
        let attributes = u16_le(page, 0)?;
        if attributes > ATTRIBUTE_MAX {
            return Err(Fault::new(0, "attributes", "0 to 7", attributes));
        }
        if attributes & ATTRIBUTE_LEAF == 0 {
            return Ok(None);
        }
        let count = u16_le(page, 2)?;
        let width = usize::from(page.get(23).copied().unwrap_or_default());
        if count > 0 && LEAF_HEADER + count.saturating_mul(width.max(1)) > page.len() {
            return Err(Fault::new(2, "number of keys", "what fits into the page", count));
        }
        Ok(Some(count))
    }

    /// Whether Harbour has written the header of a tag.
    fn is_of_harbour(self, header: &[u8]) -> bool {
        let lengths = [16, 18].map(|at| u16_le(header, at).unwrap_or_default());
        lengths == [HEADER_LEN, self.page_len] && header.get(20..32) == Some(&[0; 12])
    }
}

impl PageFormat for Cdx {
    fn page_len(&self) -> usize {
        self.page_len
    }

    fn page_unit(&self) -> u64 {
        if self.by_number { self.page_len as u64 } else { 1 }
    }

    fn branches(&self) -> Branches {
        Branches::Copies
    }

    fn ties_are_sorted(&self) -> bool {
        true
    }

    fn descends_in_file(&self) -> bool {
        false
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, _before: Option<&[u8]>) -> Result<Node, Fault> {
        let siblings = Some([u32_le(page, 4)?, u32_le(page, 8)?]);
        let mut node = match Self::leaf_count(page)? {
            Some(count) => decode_leaf(page, count, keys)?,
            None => decode_branch(page, keys)?,
        };
        node.siblings = siblings;
        Ok(node)
    }

    fn leaf_len(&self, page: &[u8], _keys: KeyBytes) -> Result<Option<usize>, Fault> {
        Self::leaf_count(page)
    }

    fn leaf_records(&self, page: &[u8], records: &mut Vec<u32>) -> Result<bool, Fault> {
        let Some(count) = Self::leaf_count(page)? else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        let layout = LeafLayout::read(page)?;
        let entries = page.get(LEAF_HEADER..LEAF_HEADER + count * layout.width);
        records.reserve(count);
        match layout.width {
            3 => layout.records::<3>(entries.unwrap_or_default(), records),
            4 => layout.records::<4>(entries.unwrap_or_default(), records),
            width => {
                let entries = entries.unwrap_or_default().chunks_exact(width);
                records.extend(entries.map(|entry| layout.recno(first_bytes(entry))));
            }
        }
        Ok(true)
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, 0).ok()
    }
}

impl PageWriter for Cdx {
    fn leaf_room(&self) -> usize {
        self.page_len - LEAF_HEADER
    }

    fn entry_len(&self, keys: KeyBytes, before: Option<&[u8]>, key: &[u8]) -> usize {
        let own = own_len(key, keys.trail);
        own - before.map_or(0, |before| shared_len(before, key).min(own))
    }

    fn recno_len(&self, keys: KeyBytes, recno_max: u32) -> usize {
        EntryBits::new(keys.len, recno_max).width
    }

    fn branch_room(&self, keys: KeyBytes) -> usize {
        (self.page_len - BRANCH_HEADER) / (keys.len + 8)
    }

    fn encode(&self, node: &Node, keys: KeyBytes, is_root: bool, _before: Option<&[u8]>, page: &mut [u8]) {
        let leaf = if node.is_leaf() { ATTRIBUTE_LEAF } else { 0 };
        put_u16(page, 0, usize::from(is_root) + leaf);
        put_u16(page, 2, node.len());
        let [left, right] = node.siblings.unwrap_or([NO_PAGE; 2]);
        put_u32(page, 4, left);
        put_u32(page, 8, right);
        if node.is_leaf() {
            encode_leaf(node, keys, page);
        } else {
            let mut at = BRANCH_HEADER;
            for (slot, child) in node.children.iter().enumerate() {
                put(page, at, node.key(slot));
                put(page, at + keys.len, &node.recno(slot).to_be_bytes());
                put(page, at + keys.len + 4, &child.to_be_bytes());
                at += keys.len + 8;
            }
        }
    }

    fn encode_free(&self, next: u32, page: &mut [u8]) {
        put_u32(page, 0, next);
    }

    fn root_at(&self, header: u64) -> u64 {
        header
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: first_free(header)?,
            end: None,
        })
    }

    fn write_counters(&self, counters: Counters, is_shared: bool, header: &mut [u8]) {
        put_u32(header, 4, counters.first_free);
        if let (true, Ok(version)) = (is_shared, bytes(header, 8)) {
            put(header, 8, &u32::from_be_bytes(version).wrapping_add(1).to_be_bytes());
        }
    }
}

/// How many bits record, shared and trailing counts take in the entries of a leaf, and the bytes of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryBits {
    pub(super) recno: u32,
    /// Of each of the two counts.
    pub(super) count: u32,
    pub(super) width: usize,
}

impl EntryBits {
    /// The narrowest for keys of a length and records to `recno_max`. Counts take as many bits as the length; three bytes
    /// leave a record at least 8 bits beside counts to 240.
    pub(super) fn new(key_len: usize, recno_max: u32) -> Self {
        let count = usize::BITS - key_len.leading_zeros();
        let mut width = match count {
            0..=8 => 3,
            9..=12 => 4,
            _ => 5,
        };
        while u64::from(recno_max) >= 1 << (8 * width - 2 * count) {
            width += 1;
        }
        Self {
            recno: 8 * width - 2 * count,
            count,
            width: width as usize,
        }
    }

    /// Writes offsets 14 to 23 of a leaf.
    pub(super) fn put(self, page: &mut [u8]) {
        // The bits of a record may be more than 32, those of its mask not.
        put_u32(page, 14, u32::MAX >> 32_u32.saturating_sub(self.recno));
        let mask = (1_u32 << self.count) - 1;
        let masks = if self.count <= 8 { mask | mask << 8 } else { mask };
        put(page, 18, &(masks as u16).to_le_bytes());
        let [recno, count] = [self.recno, self.count].map(|bits| bits as u8);
        put(page, 20, &[recno, count, count, self.width as u8]);
    }

    /// Record and counts in the first bytes of a number.
    pub(super) fn pack(self, recno: u32, shared: usize, trailing: usize) -> [u8; 8] {
        let counts = (trailing << self.count | shared) as u64;
        (u64::from(recno) | counts << (8 * self.width as u32 - 2 * self.count)).to_le_bytes()
    }
}

fn encode_leaf(node: &Node, keys: KeyBytes, page: &mut [u8]) {
    let bits = EntryBits::new(keys.len, node.recno_max());
    bits.put(page);
    let (mut at, mut text_at) = (LEAF_HEADER, page.len());
    let mut before: &[u8] = &[];
    for (slot, key) in node.keys().enumerate() {
        let own = own_len(key, keys.trail);
        let shared = shared_len(before, key).min(own);
        let packed = bits.pack(node.recno(slot), shared, keys.len - own);
        put(page, at, packed.get(..bits.width).unwrap_or_default());
        at += bits.width;
        // What is written fits: the tree has counted.
        let text = key.get(shared..own).unwrap_or_default();
        text_at = text_at.saturating_sub(text.len());
        put(page, text_at, text);
        before = key;
    }
    put_u16(page, 12, text_at.saturating_sub(at));
}

/// How the entries of a leaf are packed: offsets 14 to 23 say how many bits record, shared and trailing counts take.
#[derive(Debug, Clone, Copy)]
struct LeafLayout {
    /// The bytes of an entry, 1 to 8.
    width: usize,
    bits: [u32; 3],
    masks: [u64; 3],
}

impl LeafLayout {
    fn read(page: &[u8]) -> Result<Self, Fault> {
        let [recno_bits, shared_bits, trail_bits, width]: [u8; 4] = bytes(page, 20)?;
        let bits = [recno_bits, shared_bits, trail_bits].map(u32::from);
        let width = usize::from(width);
        if !(1..=8).contains(&width)
            || bits.iter().sum::<u32>() as usize > 8 * width
            || bits.iter().any(|bits| *bits > 40)
        {
            let found = format!("{}, {}, {} bits in {width} bytes", bits[0], bits[1], bits[2]);
            return Err(Fault::new(
                20,
                "widths of an entry",
                "up to 40 bits each in 1 to 8 bytes",
                found,
            ));
        }
        let masks = bits.map(|bits| (1_u64 << bits) - 1);
        let written = [
            u64::from(u32_le(page, 14)?),
            u64::from(bytes::<1>(page, 18)?[0]),
            u64::from(bytes::<1>(page, 19)?[0]),
        ];
        // The widths may be more than the masks in the header have room for.
        let masks_written = match shared_bits {
            0..=8 => [masks[0] & 0xFFFF_FFFF, masks[1] & 0xFF, masks[2] & 0xFF],
            // The mask of a long count takes the place of both.
            _ => [masks[0] & 0xFFFF_FFFF, masks[1] & 0xFF, masks[1] >> 8 & 0xFF],
        };
        if masks_written != written {
            let found = format!("{:X}, {:X}, {:X}", written[0], written[1], written[2]);
            let expected = format!("{:X}, {:X}, {:X} as their widths say", masks[0], masks[1], masks[2]);
            return Err(Fault::new(14, "masks of an entry", expected, found));
        }
        Ok(Self { width, bits, masks })
    }

    /// Tells each key of a leaf, until that is not taken: how many bytes it shares with the key before, where its own bytes are, at
    /// most as many as the rest of a key, and its record.
    #[inline]
    fn each_key(
        self,
        page: &[u8],
        count: usize,
        keys: KeyBytes,
        mut take: impl FnMut(usize, Range<usize>, u32) -> bool,
    ) -> Result<(), Fault> {
        let Self { width, bits, masks } = self;
        // `leaf_len` has seen that the entries are within the page.
        let entries_end = LEAF_HEADER + count * width;
        let shift = 8 * width as u32 - bits[1] - bits[2];
        let mut text_begin = page.len();
        let entries = page.get(LEAF_HEADER..entries_end).unwrap_or_default();
        for (slot, entry) in entries.chunks_exact(width).enumerate() {
            let at = LEAF_HEADER + slot * width;
            let packed = first_bytes(entry);
            let counts = packed.checked_shr(shift).unwrap_or_default();
            let shared = if slot == 0 { 0 } else { (counts & masks[1]) as usize };
            let trailing = ((counts >> bits[1]) & masks[2]) as usize;
            let Some(own) = keys.len.checked_sub(shared + trailing) else {
                let (expected, found) = (keys.len, format!("{shared} shared and {trailing} trailing"));
                return Err(Fault::new(at, "key", format!("at most {expected} bytes"), found));
            };
            let Some(begin) = text_begin.checked_sub(own).filter(|begin| *begin >= entries_end) else {
                let expected = format!("{own} bytes before {text_begin}");
                return Err(Fault::new(at, "key", expected, "the entries"));
            };
            if !take(shared, begin..text_begin, self.recno(packed)) {
                return Err(Fault::new(at, "key", "bytes shared with the key before", "no such key"));
            }
            text_begin = begin;
        }
        Ok(())
    }

    fn recno(self, packed: u64) -> u32 {
        u32::try_from(packed & self.masks[0]).unwrap_or(u32::MAX)
    }

    /// The records of entries of `WIDTH` bytes, at most four.
    fn records<const WIDTH: usize>(self, entries: &[u8], records: &mut Vec<u32>) {
        let mask = self.recno(u64::MAX);
        let entries = entries.as_chunks::<WIDTH>().0.iter();
        records.extend(entries.map(|entry| {
            let mut packed = [0; 4];
            packed.iter_mut().zip(entry).for_each(|(to, from)| *to = *from);
            u32::from_le_bytes(packed) & mask
        }));
    }
}

/// Up to eight bytes as a number.
fn first_bytes(bytes: &[u8]) -> u64 {
    let mut packed = [0; 8];
    packed.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(packed)
}

/// The entries follow the header of a leaf; what is left of the keys grows from the page's end towards them.
fn decode_leaf(page: &[u8], count: usize, keys: KeyBytes) -> Result<Node, Fault> {
    let mut node = Node::new(keys.len, count);
    if count == 0 {
        return Ok(node);
    }
    let layout = LeafLayout::read(page)?;
    if keys.len != NUMBER {
        layout.each_key(page, count, keys, |shared, own, recno| {
            let own = page.get(own).unwrap_or_default();
            node.push_packed(&[], shared, own, keys.trail, recno)
        })?;
        return Ok(node);
    }
    let (mut last, trail) = (0, u64::from_ne_bytes([keys.trail; NUMBER]));
    layout.each_key(page, count, keys, |shared, own, recno| {
        // Behind the header of a leaf there are eight bytes before the end of any key.
        let bytes = page.get(own.end - NUMBER..own.end).and_then(<[u8]>::first_chunk);
        let own_bits = u64::from_be_bytes(bytes.copied().unwrap_or_default()) & behind(NUMBER - own.len());
        let behind_own = behind(shared + own.len());
        let shift = behind_own.count_ones();
        last = last & !behind(shared) | own_bits.checked_shl(shift).unwrap_or(0) | trail & behind_own;
        node.push_number(last, recno);
        true
    })?;
    Ok(node)
}

/// The bits of a key of eight bytes that lie behind the first of its bytes.
fn behind(bytes: usize) -> u64 {
    u64::MAX.checked_shr(8 * bytes as u32).unwrap_or(0)
}

/// A branch: each key whole, then record and page in big-endian order.
fn decode_branch(page: &[u8], keys: KeyBytes) -> Result<Node, Fault> {
    let count = u16_le(page, 2)?;
    let width = keys.len + 8;
    let entries = page.get(BRANCH_HEADER..).unwrap_or_default();
    if count == 0 || count.saturating_mul(width) > entries.len() {
        let expected = format!("1 to {}", entries.len() / width);
        return Err(Fault::new(2, "number of keys", expected, count));
    }
    let mut node = Node::new(keys.len, count);
    node.children.reserve_exact(count);
    for entry in entries.chunks_exact(width).take(count) {
        let (key, numbers) = entry.split_at(keys.len);
        let [recno, child] = [bytes(numbers, 0)?, bytes(numbers, 4)?].map(u32::from_be_bytes);
        node.push(key, recno);
        node.children.push(child);
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CDX: Cdx = Cdx {
        page_len: PAGE_LEN,
        by_number: false,
        is_adi: false,
    };

    #[test]
    fn keys_of_eight_bytes_are_unpacked_as_they_were_packed() {
        for trail in [0, b' '] {
            let keys = KeyBytes::plain(NUMBER, trail);
            let filled = [trail; NUMBER];
            let of = |begin: &[u8]| {
                let mut key = filled;
                key[..begin.len()].copy_from_slice(begin);
                key
            };
            let mut all = vec![filled, filled, *b"12345678", *b"12345678", *b"12345679", *b"12345XYZ"];
            for len in 1..=NUMBER {
                all.extend([
                    of(&b"2bcdefgh"[..len]),
                    of(&b"2bcdXfgh"[..len]),
                    of(&b"3~~~~~~~"[..len]),
                ]);
            }
            for chosen in [&all[..], &all[2..3], &all[1..2]] {
                let mut node = Node::new(NUMBER, chosen.len());
                chosen.iter().zip(7..).for_each(|(key, recno)| node.push(key, recno));
                let mut page = vec![0; PAGE_LEN];
                CDX.encode(&node, keys, false, None, &mut page);
                let found = CDX.decode(&page, keys, None).unwrap();
                assert_eq!(found.keys().collect::<Vec<_>>(), chosen, "{trail}");
                assert_eq!(found.records(), node.records());
            }
        }
    }

    #[test]
    fn the_records_of_a_leaf_are_those_that_decoding_it_finds() {
        for (key_len, recno_max) in [
            (1, 9),
            (4, 0xFFFF),
            (8, 1 << 18),
            (20, 1 << 24),
            (240, u32::MAX),
            (240, 1 << 30),
        ] {
            for count in [0, 1, 2, 7] {
                let keys = KeyBytes::plain(key_len, b' ');
                let mut node = Node::new(key_len, count);
                for slot in 0..count {
                    let last = recno_max / (count as u32) * (slot as u32 + 1);
                    node.push(&vec![b'a' + slot as u8; key_len], last);
                }
                let mut page = vec![0; PAGE_LEN];
                // Seven keys of 240 bytes that share nothing have no room.
                let text: usize = node.keys().map(|key| key.len()).sum();
                if text + LEAF_HEADER + 8 * count > PAGE_LEN {
                    continue;
                }
                CDX.encode(&node, keys, false, None, &mut page);
                let mut records = vec![77];
                assert!(CDX.leaf_records(&page, &mut records).unwrap());
                assert_eq!(records[1..], *node.records(), "{key_len} {recno_max} {count}");
                assert_eq!(CDX.decode(&page, keys, None).unwrap().records(), node.records());
                for at in 0..24 {
                    for flip in [1, 2, 4, 0x80, 0xFF] {
                        let mut bent = page.clone();
                        bent[at] ^= flip;
                        let mut records = Vec::new();
                        let read = CDX.leaf_records(&bent, &mut records);
                        if let (Ok(true), Ok(decoded)) = (read, CDX.decode(&bent, keys, None)) {
                            assert_eq!(records, decoded.records(), "{at} {flip}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pages_of_visual_foxpro_have_a_bit_more() {
        let keys = KeyBytes::plain(4, 0);
        let mut leaf = Node::new(4, 2);
        (1..=2).for_each(|recno: u32| leaf.push(&recno.to_be_bytes(), recno));
        let mut branch = Node::new(4, 1);
        branch.push(&2_u32.to_be_bytes(), 2);
        branch.children.push(1024);
        for node in [leaf, branch] {
            let mut page = vec![0; PAGE_LEN];
            CDX.encode(&node, keys, true, None, &mut page);
            page[0] |= 4;
            let found = CDX.decode(&page, keys, None).unwrap();
            assert_eq!((found.is_leaf(), found.records()), (node.is_leaf(), node.records()));
            page[0] = 8;
            assert!(CDX.decode(&page, keys, None).is_err());
        }
    }

    #[test]
    fn a_leaf_cut_anywhere_has_no_records() {
        let keys = KeyBytes::plain(4, b' ');
        let mut node = Node::new(4, 60);
        (1..=60).for_each(|recno: u32| node.push(&recno.to_be_bytes(), recno));
        let mut page = vec![0; PAGE_LEN];
        CDX.encode(&node, keys, false, None, &mut page);
        let entries_end = LEAF_HEADER + 60 * 3;
        for cut in 0..entries_end {
            assert!(CDX.leaf_records(&page[..cut], &mut Vec::new()).is_err(), "{cut}");
        }
    }
}
