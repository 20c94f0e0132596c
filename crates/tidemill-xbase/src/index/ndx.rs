//! NDX: the index of dBASE III, one order to a file. A B+ tree whose branches hold keys that part the pages below.
//!
//! Layout: the description of NDX files in "dBASE file structures" by Ashton-Tate, as Erik Bachmann's "Xbase File Format
//! Description" repeats it, and `XBase::Index` of Perl's DBD::XBase. Pages have 512 bytes and are counted. A page holds the number
//! of its keys and the entries: page of lower keys, record, and the key, in a multiple of four bytes. A leaf has 0 for every page, a
//! branch 0 for every record, and behind its keys the page of the highest ones.
//!
//! The header says whether keys are text; that of numbers and of dates are doubles (see [`dbase_key`](super::dbase_key)), and which
//! of them the expression says. There are no descending orders and no FOR.

use crate::codepage::CodePage;

use super::dbase_key;
use super::key::KeyType;
use super::order_spec::OrderSpec;
use super::page::{
    Branches, Counters, Fault, KeyBytes, KeyForm, NUMBER, Node, PageFormat, PageWriter, put, put_u16, put_u32, u16_le,
    u32_le,
};
use super::tag::{HeaderText, Tag};

/// Bytes in a page, the header too.
pub(super) const PAGE_LEN: usize = 512;

const KEY_LEN_MAX: usize = 240;
/// dBASE makes no longer keys and expressions.
const NEW_KEY_LEN_MAX: usize = 100;
const EXPRESSION_LEN_MAX: usize = 220;
const EXPRESSION_AT: usize = 24;
/// The number of keys.
const PAGE_HEADER: usize = 4;
/// Page and record before a key.
const POINTERS: usize = 8;

/// How the pages are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ndx;

impl Ndx {
    /// The one tag, under the name of the file.
    pub(super) fn tag(name: String, header: &[u8], text: HeaderText) -> Result<Tag, Fault> {
        let stored_len = u16_le(header, 12)?;
        if !(1..=KEY_LEN_MAX).contains(&stored_len) {
            return Err(Fault::new(12, "key length", format!("1 to {KEY_LEN_MAX}"), stored_len));
        }
        let (key_type, form) = match u16_le(header, 16)? {
            0 => (Some(KeyType::Character), KeyForm::Plain),
            1 if stored_len == NUMBER => (None, KeyForm::Double),
            1 => return Err(Fault::new(12, "key length", "8 of numbers and dates", stored_len)),
            other => return Err(Fault::new(16, "key type", "0 or 1", other)),
        };
        let entry_len = u16_le(header, 18)?;
        if entry_len != entry(stored_len) {
            return Err(Fault::new(
                18,
                "length of an entry",
                entry(stored_len).to_string(),
                entry_len,
            ));
        }
        let keys_max = u16_le(header, 14)?;
        let room = (PAGE_LEN - PAGE_HEADER) / entry_len;
        if keys_max == 0 || keys_max > room {
            return Err(Fault::new(14, "keys in a page", format!("1 to {room}"), keys_max));
        }
        let expression = text.read(header.get(EXPRESSION_AT..PAGE_LEN).unwrap_or_default());
        if expression.is_empty() {
            return Err(Fault::new(EXPRESSION_AT, "key expression", "a text", "none"));
        }
        Ok(Tag {
            is_unique: header.get(23).is_some_and(|unique| *unique != 0),
            key_type,
            form,
            ..Tag::new(name, expression, stored_len, u32_le(header, 0)?)
        })
    }

    /// The header of a new file without its root, and its keys.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for what the header cannot hold.
    pub(super) fn header(order: &OrderSpec, codepage: CodePage) -> crate::error::Result<(Vec<u8>, KeyBytes)> {
        let (form, trail) = match order.key_type {
            KeyType::Character => (KeyForm::Plain, b' '),
            KeyType::Number | KeyType::Date => (KeyForm::Double, 0),
            other => return Err(order.refuse(&format!("an NDX has no keys of type {}", other.letter()))),
        };
        if !(1..=NEW_KEY_LEN_MAX).contains(&order.key_len) {
            return Err(order.refuse_key_len(NEW_KEY_LEN_MAX));
        }
        if order.is_descending || order.condition.is_some() {
            return Err(order.refuse("an NDX has neither descending orders nor FOR"));
        }
        let expression = order.encode(codepage, &order.expression)?;
        if !(1..=EXPRESSION_LEN_MAX).contains(&expression.len()) {
            let found = expression.len();
            return Err(order.refuse(&format!(
                "an expression of {found} bytes, not 1 to {EXPRESSION_LEN_MAX}"
            )));
        }
        let keys = KeyBytes {
            form,
            ..KeyBytes::plain(order.key_len, trail)
        };
        let entry_len = entry(keys.stored_len());
        let mut header = vec![0; PAGE_LEN];
        put_u16(&mut header, 12, keys.stored_len());
        put_u16(&mut header, 14, (PAGE_LEN - PAGE_HEADER - 4) / entry_len);
        put_u16(&mut header, 16, (form == KeyForm::Double).into());
        put_u16(&mut header, 18, entry_len);
        put(&mut header, 23, &[order.is_unique.into()]);
        put(&mut header, EXPRESSION_AT, &expression);
        Ok((header, keys))
    }

    /// Writes the root and the number of pages into the header of a file.
    pub(super) fn put_tree(file: &mut [u8], root: u32) {
        let pages = file.len() / PAGE_LEN;
        put_u32(file, 0, root);
        put_u32(file, 4, u32::try_from(pages).unwrap_or(u32::MAX));
    }

    fn count(page: &[u8], keys: KeyBytes) -> Result<usize, Fault> {
        let (count, room) = (u16_le(page, 0)?, (PAGE_LEN - PAGE_HEADER) / entry(keys.stored_len()));
        if count > room {
            return Err(Fault::new(0, "number of keys", format!("at most {room}"), count));
        }
        Ok(count)
    }

    fn is_leaf(page: &[u8]) -> Result<bool, Fault> {
        Ok(u32_le(page, PAGE_HEADER)? == 0)
    }
}

/// The length of an entry.
fn entry(stored_len: usize) -> usize {
    (POINTERS + stored_len).next_multiple_of(4)
}

impl PageFormat for Ndx {
    fn page_len(&self) -> usize {
        PAGE_LEN
    }

    fn page_unit(&self) -> u64 {
        PAGE_LEN as u64
    }

    fn branches(&self) -> Branches {
        Branches::Partings
    }

    fn ties_are_sorted(&self) -> bool {
        false
    }

    fn descends_in_file(&self) -> bool {
        true
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, _before: Option<&[u8]>) -> Result<Node, Fault> {
        let (count, is_leaf) = (Self::count(page, keys)?, Self::is_leaf(page)?);
        let (entry_len, stored_len) = (entry(keys.stored_len()), keys.stored_len());
        let mut node = Node::new(keys.len, count);
        for slot in 0..count {
            let at = PAGE_HEADER + slot * entry_len;
            let (below, recno) = (u32_le(page, at)?, u32_le(page, at + 4)?);
            if is_leaf != (below == 0) {
                return Err(Fault::new(at, "page below", "one for each key or for none", below));
            }
            let key_at = at + POINTERS;
            let stored = page.get(key_at..key_at + stored_len).unwrap_or_default();
            if !dbase_key::push(&mut node, keys.form, stored, if is_leaf { recno } else { 0 }) {
                return Err(Fault::new(key_at, "key", "a number", stored.escape_ascii()));
            }
            if !is_leaf {
                node.children.push(below);
            }
        }
        if !is_leaf {
            let at = PAGE_HEADER + count * entry_len;
            match u32_le(page, at)? {
                0 => return Err(Fault::new(at, "page of the highest keys", "a page", 0)),
                highest => node.children.push(highest),
            }
        }
        Ok(node)
    }

    fn leaf_len(&self, page: &[u8], keys: KeyBytes) -> Result<Option<usize>, Fault> {
        let count = Self::count(page, keys)?;
        Ok(Self::is_leaf(page)?.then_some(count))
    }

    fn next_free(&self, _page: &[u8]) -> Option<u32> {
        None
    }
}

impl PageWriter for Ndx {
    fn leaf_room(&self) -> usize {
        // What follows the last key of a leaf is 0, too.
        PAGE_LEN - PAGE_HEADER - 4
    }

    fn entry_len(&self, keys: KeyBytes, _before: Option<&[u8]>, _key: &[u8]) -> usize {
        entry(keys.stored_len())
    }

    fn recno_len(&self, _keys: KeyBytes, _recno_max: u32) -> usize {
        0
    }

    fn branch_room(&self, keys: KeyBytes) -> usize {
        (PAGE_LEN - PAGE_HEADER - 4) / entry(keys.stored_len())
    }

    fn encode(&self, node: &Node, keys: KeyBytes, _is_root: bool, _before: Option<&[u8]>, page: &mut [u8]) {
        let entry_len = entry(keys.stored_len());
        put_u16(page, 0, node.len());
        for (slot, key) in node.keys().enumerate() {
            let at = PAGE_HEADER + slot * entry_len;
            put_u32(page, at, node.children.get(slot).copied().unwrap_or_default());
            put_u32(page, at + 4, node.recno(slot));
            put(page, at + POINTERS, dbase_key::stored(keys.form, key).as_bytes());
        }
        if let Some(highest) = node.children.get(node.len()) {
            put_u32(page, PAGE_HEADER + node.len() * entry_len, *highest);
        }
    }

    fn encode_free(&self, _next: u32, _page: &mut [u8]) {}

    fn root_at(&self, header: u64) -> u64 {
        header
    }

    fn counts_changes(&self) -> bool {
        false
    }

    fn lists_free_pages(&self) -> bool {
        false
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: 0,
            end: Some(u32_le(header, 4)?),
        })
    }

    fn write_counters(&self, counters: Counters, _is_shared: bool, header: &mut [u8]) {
        put_u32(header, 4, counters.end.unwrap_or_default());
    }
}
