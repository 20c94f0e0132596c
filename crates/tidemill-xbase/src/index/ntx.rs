//! NTX: Clipper's index, one order to a file. A B-tree whose keys are written whole, in pages of 1024 bytes.
//!
//! Layout: the header and page structures that Clipper's technical documentation gives for NTX files, and `hbrddntx.h` of
//! Harbour for what it adds (tag name, FOR expression, the bits of the first two bytes). A page begins with the number of
//! keys and the offsets of its items; an item is the page of lower keys, the record and the key; one item more than keys
//! holds the page of the highest.
//!
//! A descending order is stored descending. Equal keys lie in record order only where the header's bit says so. Changes are
//! counted in the header's second word (`hb_ntxTagHeaderSave` in Harbour's `dbfntx1.c`); a free page names the next one where
//! its first item has a page. Not here: Harbour's and CLIP's files of several orders (CTX), which are refused.

use crate::codepage::CodePage;
use crate::error::Result;

use super::order_spec::OrderSpec;
use super::page::{
    Branches, Counters, Fault, KeyBytes, Node, PageFormat, PageWriter, put, put_u16, put_u32, u16_le, u32_le,
};
use super::tag::{HeaderText, Tag};

/// Bytes in a page, the header too.
pub(super) const PAGE_LEN: usize = 1024;

const KEY_LEN_MAX: usize = 256;
const EXPRESSION_LEN: usize = 256;
const NAME_LEN: usize = 12;

const FLAG_FOR: usize = 0x0001;
const FLAG_CUSTOM: usize = 0x0020;
const FLAG_SORTED_RECORDS: usize = 0x0100;
const FLAG_LARGE: usize = 0x0200;
const FLAG_COMPOUND: usize = 0x8000;
const FLAGS: usize = 0x07FF;
const FLAGS_CLIPPER: usize = 0x0006;
const FLAGS_OLD: usize = 0x0003;

/// The first page of the list of free ones in the header; 0 or all ones for none.
pub(super) fn first_free(header: &[u8]) -> Result<u32, Fault> {
    u32_le(header, 8)
}

/// Whether the header is that of a file of several orders (CTX).
pub(super) fn is_compound(header: &[u8]) -> bool {
    u16_le(header, 0).is_ok_and(|flags| flags & FLAG_COMPOUND != 0)
}

/// How the pages of one file are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ntx {
    flags: usize,
    keys_max: usize,
    item_len: usize,
}

impl Ntx {
    /// The layout and the one tag; `stem` names it where the file does not.
    pub(super) fn from_header(header: &[u8], stem: String, text: HeaderText) -> Result<(Self, Tag), Fault> {
        let flags = u16_le(header, 0)?;
        if flags & !FLAGS != 0 || (flags & FLAGS_CLIPPER != FLAGS_CLIPPER && flags != FLAGS_OLD) {
            return Err(Fault::new(
                0,
                "flags",
                "those of an NTX file (0006)",
                format!("{flags:04X}"),
            ));
        }
        let (item_len, key_len) = (u16_le(header, 12)?, u16_le(header, 14)?);
        if key_len == 0 || key_len > KEY_LEN_MAX {
            return Err(Fault::new(14, "key length", format!("1 to {KEY_LEN_MAX}"), key_len));
        }
        if item_len != key_len + 8 {
            return Err(Fault::new(12, "item length", (key_len + 8).to_string(), item_len));
        }
        let decimals = u16_le(header, 16)?;
        let decimals = u8::try_from(decimals)
            .ok()
            .filter(|decimals| usize::from(*decimals) < key_len || *decimals == 0)
            .ok_or_else(|| Fault::new(16, "decimals", format!("fewer than {key_len}"), decimals))?;
        let keys_max = u16_le(header, 18)?;
        // Behind the count stand one offset more than keys, and as many items.
        let room = (PAGE_LEN - 2) / (item_len + 2) - 1;
        if keys_max == 0 || keys_max > room {
            return Err(Fault::new(18, "keys in a page", format!("1 to {room}"), keys_max));
        }
        let part = |at: usize, len: usize| header.get(at..at + len).unwrap_or_default();
        let expression = text.read(part(22, EXPRESSION_LEN));
        if expression.is_empty() {
            return Err(Fault::new(22, "key expression", "a text", "none"));
        }
        let condition = match flags & FLAG_FOR {
            0 => String::new(),
            _ => text.read(part(282, EXPRESSION_LEN)),
        };
        let name = text.read(part(538, 12));
        let name = if name.is_empty() { stem } else { name };
        let tag = Tag {
            condition: (!condition.is_empty()).then_some(condition),
            is_unique: header.get(278) != Some(&0),
            is_descending: header.get(280) != Some(&0),
            is_custom: flags & FLAG_CUSTOM != 0 || header.get(550) != Some(&0),
            decimals: Some(decimals),
            ..Tag::new(name, expression, key_len, u32_le(header, 4)?)
        };
        let layout = Self {
            flags,
            keys_max,
            item_len,
        };
        Ok((layout, tag))
    }
}

impl PageFormat for Ntx {
    fn page_len(&self) -> usize {
        PAGE_LEN
    }

    fn page_unit(&self) -> u64 {
        if self.flags & FLAG_LARGE != 0 {
            PAGE_LEN as u64
        } else {
            1
        }
    }

    fn branches(&self) -> Branches {
        Branches::Entries
    }

    fn ties_are_sorted(&self) -> bool {
        self.flags & FLAG_SORTED_RECORDS != 0
    }

    fn descends_in_file(&self) -> bool {
        true
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, _before: Option<&[u8]>) -> Result<Node, Fault> {
        let count = self.count(page)?;
        let mut node = Node::new(keys.len, count);
        let mut children = Vec::with_capacity(count + 1);
        for slot in 0..=count {
            let at = item(page, slot)?;
            children.push(u32_le(page, at)?);
            if slot == count {
                break;
            }
            let key = page
                .get(at + 8..at + 8 + keys.len)
                .ok_or_else(|| Fault::new(2 + 2 * slot, "offset of an item", "an item within the page", at))?;
            node.push(key, u32_le(page, at + 4)?);
        }
        match children.iter().position(|child| *child == 0) {
            None => node.children = children,
            Some(_) if children.iter().all(|child| *child == 0) => {}
            Some(slot) => {
                return Err(Fault::new(
                    2 + 2 * slot,
                    "page below",
                    "one for each item or for none",
                    0,
                ));
            }
        }
        Ok(node)
    }

    fn leaf_len(&self, page: &[u8], _keys: KeyBytes) -> Result<Option<usize>, Fault> {
        let count = self.count(page)?;
        for slot in 0..=count {
            if u32_le(page, item(page, slot)?)? != 0 {
                return Ok(None);
            }
        }
        Ok(Some(count))
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, item(page, 0).ok()?).ok()
    }
}

impl PageWriter for Ntx {
    fn leaf_room(&self) -> usize {
        self.keys_max
    }

    fn entry_len(&self, _keys: KeyBytes, _before: Option<&[u8]>, _key: &[u8]) -> usize {
        1
    }

    fn recno_len(&self, _keys: KeyBytes, _recno_max: u32) -> usize {
        0
    }

    fn branch_room(&self, _keys: KeyBytes) -> usize {
        self.keys_max
    }

    fn encode(&self, node: &Node, _keys: KeyBytes, _is_root: bool, _before: Option<&[u8]>, page: &mut [u8]) {
        put_u16(page, 0, node.len());
        self.put_offsets(page);
        for slot in 0..=node.len() {
            let at = self.item(slot);
            put_u32(page, at, node.children.get(slot).copied().unwrap_or_default());
            if slot < node.len() {
                put_u32(page, at + 4, node.recno(slot));
                put(page, at + 8, node.key(slot));
            }
        }
    }

    fn encode_free(&self, next: u32, page: &mut [u8]) {
        self.put_offsets(page);
        put_u32(page, self.item(0), next);
    }

    fn root_at(&self, header: u64) -> u64 {
        header + 4
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: first_free(header)?,
            end: None,
        })
    }

    fn write_counters(&self, counters: Counters, _is_shared: bool, header: &mut [u8]) {
        let version = u16_le(header, 2).unwrap_or_default();
        put_u16(header, 2, version + 1);
        put_u32(header, 8, counters.first_free);
    }
}

impl Ntx {
    /// The layout of a new file, and its header without the root.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for what the header cannot hold.
    pub(super) fn for_order(order: &OrderSpec, codepage: CodePage) -> Result<(Self, Vec<u8>)> {
        let len = order.key_len;
        if !(1..=KEY_LEN_MAX).contains(&len) {
            return Err(order.refuse_key_len(KEY_LEN_MAX));
        }
        let expression = order.encode(codepage, &order.expression)?;
        let condition = order.encode(codepage, order.condition.as_deref().unwrap_or_default())?;
        let name = order.encode(codepage, &order.name.to_uppercase())?;
        for (text, what, most) in [
            (&expression, "key expression", EXPRESSION_LEN),
            (&condition, "FOR expression", EXPRESSION_LEN),
            (&name, "name", NAME_LEN),
        ] {
            if text.len() >= most {
                return Err(order.refuse(&format!("a {what} of {} bytes, not 1 to {}", text.len(), most - 1)));
            }
        }
        if expression.is_empty() || name.is_empty() {
            return Err(order.refuse("has no key expression, or no name"));
        }
        let item_len = len + 8;
        // Clipper and Harbour make it an even number.
        let keys_max = ((PAGE_LEN - 2) / (item_len + 2) - 1) & !1;
        let mut flags = FLAGS_CLIPPER;
        flags |= if condition.is_empty() { 0 } else { FLAG_FOR };
        flags |= if order.is_custom { FLAG_CUSTOM } else { 0 };
        let layout = Self {
            flags,
            keys_max,
            item_len,
        };
        let mut header = vec![0; PAGE_LEN];
        for (at, number) in [
            (0, flags),
            (2, 1),
            (12, item_len),
            (14, len),
            (16, order.decimals.into()),
            (18, keys_max),
            (20, keys_max / 2),
            (278, order.is_unique.into()),
            (280, order.is_descending.into()),
            (550, order.is_custom.into()),
        ] {
            put_u16(&mut header, at, number);
        }
        put(&mut header, 22, &expression);
        put(&mut header, 282, &condition);
        put(&mut header, 538, &name);
        Ok((layout, header))
    }

    /// The offsets of the items, of which there is one more than keys.
    fn put_offsets(self, page: &mut [u8]) {
        for slot in 0..=self.keys_max {
            put_u16(page, 2 + 2 * slot, self.item(slot));
        }
    }

    /// Where an item is written.
    fn item(self, slot: usize) -> usize {
        2 * (self.keys_max + 2) + slot * self.item_len
    }

    fn count(self, page: &[u8]) -> Result<usize, Fault> {
        let count = u16_le(page, 0)?;
        if count > self.keys_max {
            return Err(Fault::new(
                0,
                "number of keys",
                format!("at most {}", self.keys_max),
                count,
            ));
        }
        Ok(count)
    }
}

/// The offset of an item, behind the count and the offsets.
fn item(page: &[u8], slot: usize) -> Result<usize, Fault> {
    u16_le(page, 2 + 2 * slot)
}
