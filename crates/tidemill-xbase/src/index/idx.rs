//! IDX: FoxBASE's and FoxPro's index of one order that is not compact. A B+ tree whose branches repeat the last key below.
//!
//! Layout: "Index File Structure (.idx)" of the FoxPro documentation. Pages have 512 bytes and are named by their offsets. A page
//! holds its attributes (1 root, 2 leaf), the number of its keys, its left and right neighbour, and the entries: the key, and in
//! **big-endian** order the record, or the page below. Numbers and dates are doubles whose bytes sort, as in a CDX.
//!
//! An IDX that is compact is a CDX of one order whose header is that of the file: [`cdx`](super::cdx) reads it.

use crate::codepage::CodePage;

use super::order_spec::OrderSpec;
use super::page::{
    Branches, Counters, Fault, KeyBytes, NO_PAGE, Node, PageFormat, PageWriter, bytes, put, put_u16, put_u32, u16_le,
    u32_le,
};
use super::tag::{HeaderText, Tag};

/// Bytes in a page, the header too.
pub(super) const PAGE_LEN: usize = 512;

const OPTIONS_AT: usize = 14;
const OPTION_UNIQUE: u8 = 0x01;
const OPTION_FOR: u8 = 0x08;
pub(super) const OPTION_COMPACT: u8 = 0x20;
pub(super) const OPTION_COMPOUND: u8 = 0x40;
const KEY_LEN_MAX: usize = 240;
/// FoxPro makes no longer keys.
const NEW_KEY_LEN_MAX: usize = 100;
const EXPRESSION_LEN: usize = 220;
const PAGE_HEADER: usize = 12;
const ROOT: usize = 1;
const LEAF: usize = 2;
const ATTRIBUTES_MAX: usize = 3;

/// The options in a header, of which [`OPTION_COMPACT`] and [`OPTION_COMPOUND`] say how the file is to be read.
pub(super) fn options(header: &[u8]) -> u8 {
    header.get(OPTIONS_AT).copied().unwrap_or_default()
}

/// The first free page in the header; all ones for none.
pub(super) fn first_free(header: &[u8]) -> Result<u32, Fault> {
    u32_le(header, 4)
}

/// How the pages are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Idx;

impl Idx {
    /// The one tag, under the name of the file.
    pub(super) fn tag(name: String, header: &[u8], text: HeaderText) -> Result<Tag, Fault> {
        let options = options(header);
        if options & !(OPTION_UNIQUE | OPTION_FOR) != 0 {
            return Err(Fault::new(
                OPTIONS_AT,
                "index options",
                "01 and 08",
                format!("{options:02X}"),
            ));
        }
        let key_len = u16_le(header, 12)?;
        if !(1..=KEY_LEN_MAX).contains(&key_len) {
            return Err(Fault::new(12, "key length", format!("1 to {KEY_LEN_MAX}"), key_len));
        }
        let part = |at: usize| header.get(at..at + EXPRESSION_LEN).unwrap_or_default();
        let expression = text.read(part(16));
        if expression.is_empty() {
            return Err(Fault::new(16, "key expression", "a text", "none"));
        }
        let condition = match options & OPTION_FOR {
            0 => String::new(),
            _ => text.read(part(236)),
        };
        Ok(Tag {
            condition: (!condition.is_empty()).then_some(condition),
            is_unique: options & OPTION_UNIQUE != 0,
            ..Tag::new(name, expression, key_len, u32_le(header, 0)?)
        })
    }

    /// The header of a new file without its root, and its keys.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for what the header cannot hold.
    pub(super) fn header(
        order: &OrderSpec,
        codepage: CodePage,
        trail: u8,
    ) -> crate::error::Result<(Vec<u8>, KeyBytes)> {
        let keys = KeyBytes::plain(order.key_len, trail);
        if !(1..=NEW_KEY_LEN_MAX).contains(&keys.len) {
            return Err(order.refuse_key_len(NEW_KEY_LEN_MAX));
        }
        if order.is_descending {
            return Err(order.refuse("an IDX that is not compact has no descending order"));
        }
        let expression = order.encode(codepage, &order.expression)?;
        let condition = order.encode(codepage, order.condition.as_deref().unwrap_or_default())?;
        let room = EXPRESSION_LEN - 1;
        if expression.is_empty() || expression.len().max(condition.len()) > room {
            let found = expression.len().max(condition.len());
            return Err(order.refuse(&format!("an expression of {found} bytes, not 1 to {room}")));
        }
        let mut options = if order.is_unique { OPTION_UNIQUE } else { 0 };
        options |= if condition.is_empty() { 0 } else { OPTION_FOR };
        let mut header = vec![0; PAGE_LEN];
        put_u32(&mut header, 4, NO_PAGE);
        put_u16(&mut header, 12, keys.len);
        // FoxPro writes the signature 1.
        put(&mut header, OPTIONS_AT, &[options, 1]);
        put(&mut header, 16, &expression);
        put(&mut header, 236, &condition);
        Ok((header, keys))
    }

    /// Writes the root and the length into the header of a file.
    pub(super) fn put_tree(file: &mut [u8], root: u32) {
        let len = u32::try_from(file.len()).unwrap_or(u32::MAX);
        put_u32(file, 0, root);
        put_u32(file, 8, len);
    }

    /// Whether a page is a leaf, and the number of its keys.
    fn count(page: &[u8], keys: KeyBytes) -> Result<(bool, usize), Fault> {
        let attributes = u16_le(page, 0)?;
        if attributes > ATTRIBUTES_MAX {
            return Err(Fault::new(0, "attributes", "0 to 3", attributes));
        }
        let (is_leaf, count, room) = (attributes & LEAF != 0, u16_le(page, 2)?, room(keys));
        if count > room || (count == 0 && !is_leaf) {
            let least = usize::from(!is_leaf);
            return Err(Fault::new(2, "number of keys", format!("{least} to {room}"), count));
        }
        Ok((is_leaf, count))
    }
}

/// How many entries a page has room for.
fn room(keys: KeyBytes) -> usize {
    (PAGE_LEN - PAGE_HEADER) / (keys.len + 4)
}

impl PageFormat for Idx {
    fn page_len(&self) -> usize {
        PAGE_LEN
    }

    fn page_unit(&self) -> u64 {
        1
    }

    fn branches(&self) -> Branches {
        Branches::Bounds
    }

    fn ties_are_sorted(&self) -> bool {
        false
    }

    fn descends_in_file(&self) -> bool {
        false
    }

    fn decode(&self, page: &[u8], keys: KeyBytes, _before: Option<&[u8]>) -> Result<Node, Fault> {
        let (is_leaf, count) = Self::count(page, keys)?;
        let mut node = Node::new(keys.len, count);
        node.siblings = Some([u32_le(page, 4)?, u32_le(page, 8)?]);
        let entries = page.get(PAGE_HEADER..).unwrap_or_default();
        for entry in entries.chunks_exact(keys.len + 4).take(count) {
            let (key, number) = entry.split_at(keys.len);
            let number = u32::from_be_bytes(bytes(number, 0)?);
            node.push(key, if is_leaf { number } else { 0 });
            if !is_leaf {
                node.children.push(number);
            }
        }
        Ok(node)
    }

    fn leaf_len(&self, page: &[u8], keys: KeyBytes) -> Result<Option<usize>, Fault> {
        let (is_leaf, count) = Self::count(page, keys)?;
        Ok(is_leaf.then_some(count))
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, 4).ok()
    }
}

impl PageWriter for Idx {
    fn leaf_room(&self) -> usize {
        PAGE_LEN - PAGE_HEADER
    }

    fn entry_len(&self, keys: KeyBytes, _before: Option<&[u8]>, _key: &[u8]) -> usize {
        keys.len + 4
    }

    fn recno_len(&self, _keys: KeyBytes, _recno_max: u32) -> usize {
        0
    }

    fn branch_room(&self, keys: KeyBytes) -> usize {
        room(keys)
    }

    fn encode(&self, node: &Node, keys: KeyBytes, is_root: bool, _before: Option<&[u8]>, page: &mut [u8]) {
        let root = if is_root { ROOT } else { 0 };
        put_u16(page, 0, root + if node.is_leaf() { LEAF } else { 0 });
        put_u16(page, 2, node.len());
        let [left, right] = node.siblings.unwrap_or([NO_PAGE; 2]);
        put_u32(page, 4, left);
        put_u32(page, 8, right);
        let mut at = PAGE_HEADER;
        for (slot, key) in node.keys().enumerate() {
            let number = node.children.get(slot).copied().unwrap_or_else(|| node.recno(slot));
            put(page, at, key);
            put(page, at + keys.len, &number.to_be_bytes());
            at += keys.len + 4;
        }
    }

    fn encode_free(&self, next: u32, page: &mut [u8]) {
        put_u32(page, 4, next);
    }

    fn root_at(&self, header: u64) -> u64 {
        header
    }

    fn counts_changes(&self) -> bool {
        false
    }

    // How FoxPro links the pages that it has freed is not documented: its list is left alone.
    fn lists_free_pages(&self) -> bool {
        false
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: NO_PAGE,
            end: Some(u32_le(header, 8)?),
        })
    }

    fn write_counters(&self, counters: Counters, _is_shared: bool, header: &mut [u8]) {
        put_u32(header, 8, counters.end.unwrap_or_default());
    }
}
