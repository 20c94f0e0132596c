//! MDX: the index of dBASE IV, dBASE 5 and dBASE 7, which holds many orders. A B+ tree to each, whose branches hold keys that part
//! the pages below.
//!
//! Layout: the description of MDX files by Erik Bachmann ("Xbase File Format Description"), that of the header of a dBASE 7 tag by
//! the units of TDbf (`dbf_idxfile.pas`), and the files of the Borland Database Engine that come with Delphi's examples. A page
//! number counts 512 bytes; a page of a tree is a block of several such, as many as the header says. A page holds the number of its
//! keys, the page that was made before it, and the entries: record, or page of lower keys, and the key, in a multiple of four
//! bytes. On a branch the page of the highest keys follows; on a leaf there are zeros in its place, and that is all that tells them
//! apart.
//!
//! A descending order is stored descending. Equal keys of all files seen lie in record order, and no document says that they must.
//! Numbers are decimals, and dates doubles (see [`dbase_key`](super::dbase_key)).
//!
//! The header of the file names the first free page, and each free page the next one, where a page of a tree has the page that was made
//! before it: so CodeBase and version 4 of Xbase64 keep them. The page behind the end of the file ends the list as 0 does.
//!
//! Not here: how each language driver sorts text.

use crate::codepage::CodePage;

use super::bplus_packer::Packed;
use super::dbase_key;
use super::key::KeyType;
use super::order_spec::OrderSpec;
use super::page::{
    Branches, Counters, DECIMAL_LEN, Fault, KeyBytes, KeyForm, NUMBER, Node, PageFormat, PageWriter, TagChange, bytes,
    put, put_u16, put_u32, u16_le, u32_le,
};
use super::tag::{HeaderText, Tag};

/// What a page number counts.
pub(super) const PAGE_UNIT: u64 = 512;
/// The fixed part of the file's header.
pub(super) const HEADER_LEN: usize = 544;
/// The header of the file, with the list of tags, where there is no tag.
pub(super) const FILE_HEADER_LEN: u64 = 2048;
/// What is read of a tag's header.
pub(super) const TAG_HEADER_LEN: usize = 1024;

const VERSION_DBASE4: u8 = 2;
const VERSION_DBASE7: u8 = 3;
/// The most pages of 512 bytes in a block (`SET MBLOCK`).
const BLOCK_MAX: usize = 63;
pub(super) const TAGS_MAX: usize = 47;
const TAG_ITEM: usize = 32;
const TAG_ITEM_DBASE7: usize = 48;
const NAME_LEN: usize = 11;
const NAME_LEN_DBASE7: usize = 33;
const KEY_LEN_MAX: usize = 240;
const EXPRESSION_LEN: usize = 221;
/// Number of keys and the page before.
const PAGE_HEADER: usize = 8;
const POINTER: usize = 4;

const FORMAT_DESCENDING: u8 = 0x08;
const FORMAT_DISTINCT: u8 = 0x20;
const FORMAT_UNIQUE: u8 = 0x40;

/// How the pages of one file are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mdx {
    page_len: usize,
    /// The bytes of an item in the list of tags.
    item_len: usize,
}

impl Mdx {
    /// The layout, and how many tags there are.
    pub(super) fn from_header(header: &[u8]) -> Result<(Self, usize), Fault> {
        let version = header.first().copied().unwrap_or_default();
        if !matches!(version, VERSION_DBASE4 | VERSION_DBASE7) {
            return Err(Fault::new(
                0,
                "version",
                "02 or 03 of an MDX file",
                format!("{version:02X}"),
            ));
        }
        let (pages, page_len) = (u16_le(header, 20)?, u16_le(header, 22)?);
        if !(1..=BLOCK_MAX).contains(&pages) {
            return Err(Fault::new(20, "pages in a block", format!("1 to {BLOCK_MAX}"), pages));
        }
        if page_len != pages * PAGE_UNIT as usize {
            let expected = (pages * PAGE_UNIT as usize).to_string();
            return Err(Fault::new(22, "bytes in a block", expected, page_len));
        }
        let item_len = usize::from(header.get(26).copied().unwrap_or_default());
        if item_len != TAG_ITEM && (item_len, version) != (TAG_ITEM_DBASE7, VERSION_DBASE7) {
            return Err(Fault::new(
                26,
                "length of an item in the list of tags",
                "32, or 48 in dBASE 7",
                item_len,
            ));
        }
        let count = u16_le(header, 28)?;
        if count > TAGS_MAX {
            return Err(Fault::new(28, "number of tags", format!("at most {TAGS_MAX}"), count));
        }
        Ok((Self { page_len, item_len }, count))
    }

    /// The first free page in the header; 0 for none.
    pub(super) fn first_free(header: &[u8]) -> Result<u32, Fault> {
        u32_le(header, 36)
    }

    /// Where an item of the list of tags is, and how long it is.
    pub(super) fn item(self, at: usize) -> (u64, usize) {
        // The item before the first one is as long as those of dBASE IV, whatever the others are.
        let begin = HEADER_LEN + (self.item_len - TAG_ITEM) + at * self.item_len;
        (begin as u64, self.item_len)
    }

    /// The bytes of a name in the list of tags, the last of which is a NUL.
    fn name_len(self) -> usize {
        match self.item_len {
            TAG_ITEM_DBASE7 => NAME_LEN_DBASE7,
            _ => NAME_LEN,
        }
    }

    /// The name of a tag, and the page of its header.
    pub(super) fn listed(self, item: &[u8], text: HeaderText) -> Result<(String, u32), Fault> {
        let name = text.read(item.get(4..4 + self.name_len()).unwrap_or_default());
        if name.is_empty() {
            return Err(Fault::new(4, "name of a tag", "a text", "none"));
        }
        Ok((name, u32_le(item, 0)?))
    }

    /// The tag whose header this is.
    pub(super) fn tag(self, name: String, header: &[u8], text: HeaderText) -> Result<Tag, Fault> {
        let [format, letter]: [u8; 2] = bytes(header, 8)?;
        let stored_len = u16_le(header, 12)?;
        let (key_type, form, key_len) = match letter {
            b'C' => (KeyType::Character, KeyForm::Plain, stored_len),
            b'N' | b'F' => (KeyType::Number, KeyForm::Decimal, NUMBER),
            b'D' => (KeyType::Date, KeyForm::Double, NUMBER),
            other => return Err(Fault::new(9, "key type", "C, N, F or D", format!("{other:02X}"))),
        };
        let expected = match form {
            KeyForm::Plain if (1..=KEY_LEN_MAX).contains(&stored_len) => stored_len,
            KeyForm::Plain => return Err(Fault::new(12, "key length", format!("1 to {KEY_LEN_MAX}"), stored_len)),
            KeyForm::Double => NUMBER,
            KeyForm::Decimal => DECIMAL_LEN,
        };
        if stored_len != expected {
            return Err(Fault::new(
                12,
                "key length",
                format!("{expected} of type {}", key_type.letter()),
                stored_len,
            ));
        }
        let entry_len = u16_le(header, 18)?;
        if entry_len != entry(stored_len) {
            return Err(Fault::new(
                18,
                "length of an entry",
                entry(stored_len).to_string(),
                entry_len,
            ));
        }
        if PAGE_HEADER + 2 * entry_len + POINTER > self.page_len {
            let expected = format!("two entries in {} bytes", self.page_len);
            return Err(Fault::new(18, "length of an entry", expected, entry_len));
        }
        let part = |at: usize| header.get(at..at + EXPRESSION_LEN).unwrap_or_default();
        let expression = text.read(part(24));
        if expression.is_empty() {
            return Err(Fault::new(24, "key expression", "a text", "none"));
        }
        let condition = match header.get(245) {
            Some(0) | None => String::new(),
            Some(_) => text.read(part(CONDITION_AT)),
        };
        Ok(Tag {
            condition: (!condition.is_empty()).then_some(condition),
            // Not every program that sets the bit sets the byte.
            is_unique: format & FORMAT_UNIQUE != 0 || header.get(23).is_some_and(|unique| *unique != 0),
            is_distinct: format & FORMAT_DISTINCT != 0,
            is_descending: format & FORMAT_DESCENDING != 0,
            key_type: Some(key_type),
            form,
            ..Tag::new(name, expression, key_len, u32_le(header, 0)?)
        })
    }

    /// The number of keys of a page, and the page of the highest ones below a branch; 0 on a leaf.
    fn count(self, page: &[u8], keys: KeyBytes) -> Result<(usize, u32), Fault> {
        let (count, room) = (u32_le(page, 0)?, self.room(keys));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > room {
            return Err(Fault::new(0, "number of keys", format!("at most {room}"), count));
        }
        // A leaf may be so full that nothing follows.
        let highest = u32_le(page, PAGE_HEADER + count * entry(keys.stored_len())).unwrap_or_default();
        Ok((count, highest))
    }

    /// How many entries a page has room for.
    fn room(self, keys: KeyBytes) -> usize {
        (self.page_len - PAGE_HEADER) / entry(keys.stored_len())
    }
}

/// The length of an entry.
fn entry(stored_len: usize) -> usize {
    (POINTER + stored_len).next_multiple_of(4)
}

impl PageFormat for Mdx {
    fn page_len(&self) -> usize {
        self.page_len
    }

    fn page_unit(&self) -> u64 {
        PAGE_UNIT
    }

    fn page_alignment(&self) -> u64 {
        PAGE_UNIT
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
        let (count, highest) = self.count(page, keys)?;
        let is_leaf = highest == 0;
        let mut node = Node::new(keys.len, count);
        node.made_behind = u32_le(page, 4)?;
        let (entry_len, stored_len) = (entry(keys.stored_len()), keys.stored_len());
        let entries = page.get(PAGE_HEADER..).unwrap_or_default();
        for (slot, bytes) in entries.chunks_exact(entry_len).take(count).enumerate() {
            let number = u32_le(bytes, 0)?;
            let stored = bytes.get(POINTER..POINTER + stored_len).unwrap_or_default();
            if !dbase_key::push(&mut node, keys.form, stored, if is_leaf { number } else { 0 }) {
                let at = PAGE_HEADER + slot * entry_len + POINTER;
                return Err(Fault::new(at, "key", "a number", stored.escape_ascii()));
            }
            if !is_leaf {
                node.children.push(number);
            }
        }
        if !is_leaf {
            node.children.push(highest);
        }
        Ok(node)
    }

    fn leaf_len(&self, page: &[u8], keys: KeyBytes) -> Result<Option<usize>, Fault> {
        let (count, highest) = self.count(page, keys)?;
        Ok((highest == 0).then_some(count))
    }

    fn next_free(&self, page: &[u8]) -> Option<u32> {
        u32_le(page, 4).ok()
    }
}

impl PageWriter for Mdx {
    fn leaf_room(&self) -> usize {
        self.page_len - PAGE_HEADER
    }

    fn entry_len(&self, keys: KeyBytes, _before: Option<&[u8]>, _key: &[u8]) -> usize {
        entry(keys.stored_len())
    }

    fn recno_len(&self, _keys: KeyBytes, _recno_max: u32) -> usize {
        0
    }

    fn branch_room(&self, keys: KeyBytes) -> usize {
        (self.page_len - PAGE_HEADER - POINTER) / entry(keys.stored_len())
    }

    fn encode(&self, node: &Node, keys: KeyBytes, _is_root: bool, _before: Option<&[u8]>, page: &mut [u8]) {
        let entry_len = entry(keys.stored_len());
        put_u32(page, 0, u32::try_from(node.len()).unwrap_or_default());
        put_u32(page, 4, node.made_behind);
        for (slot, key) in node.keys().enumerate() {
            let at = PAGE_HEADER + slot * entry_len;
            let number = match node.children.get(slot) {
                Some(child) => *child,
                None => node.recno(slot),
            };
            put_u32(page, at, number);
            put(page, at + POINTER, dbase_key::stored(keys.form, key).as_bytes());
        }
        if let Some(highest) = node.children.get(node.len()) {
            put_u32(page, PAGE_HEADER + node.len() * entry_len, *highest);
        }
    }

    fn encode_free(&self, next: u32, page: &mut [u8]) {
        put_u32(page, 4, next);
    }

    fn root_at(&self, header: u64) -> u64 {
        header
    }

    fn counters_len(&self) -> usize {
        40
    }

    // dBASE's own way to notice what others have changed is not documented.
    fn counts_changes(&self) -> bool {
        false
    }

    fn tag_counters_len(&self) -> usize {
        256
    }

    fn count_tag_change(&self, change: TagChange, header: &mut [u8]) {
        let pages = u32_le(header, 4).unwrap_or_default();
        let made = change.pages * (self.page_len as u64 / PAGE_UNIT) as u32;
        put_u32(header, 4, pages.saturating_add(made));
        if let Some(counter) = header.get_mut(20) {
            *counter = counter.wrapping_add(1);
        }
        put(header, 246, &[1]);
        if change.last != 0 {
            put_u32(header, 252, change.last);
        }
    }

    fn read_counters(&self, header: &[u8]) -> Result<Counters, Fault> {
        Ok(Counters {
            first_free: Self::first_free(header)?,
            end: Some(u32_le(header, 32)?),
        })
    }

    fn write_counters(&self, counters: Counters, _is_shared: bool, header: &mut [u8]) {
        put_u32(header, 32, counters.end.unwrap_or_default());
        put_u32(header, 36, counters.first_free);
    }
}

/// What a new file has, or one that is made anew.
#[derive(Debug, Clone)]
pub(super) struct MdxFile {
    pub(super) layout: Mdx,
    /// The header of the file without what depends on its tags.
    header: Vec<u8>,
}

impl MdxFile {
    /// A production index of dBASE IV.
    pub(super) fn new() -> Self {
        let mut header = vec![0; HEADER_LEN];
        put(&mut header, 0, &[VERSION_DBASE4]);
        put_u16(&mut header, 20, PAGE_LEN / PAGE_UNIT as usize);
        put_u16(&mut header, 22, PAGE_LEN);
        put(&mut header, 24, &[1, TAGS_MAX as u8 + 1, TAG_ITEM as u8]);
        put(&mut header, 529, &[1]);
        let layout = Mdx {
            page_len: PAGE_LEN,
            item_len: TAG_ITEM,
        };
        Self { layout, header }
    }

    /// A file whose header begins as that of another one.
    pub(super) fn like(header: &[u8]) -> Result<Self, Fault> {
        let (layout, _) = Mdx::from_header(header)?;
        let header = header.get(..HEADER_LEN).unwrap_or_default().to_vec();
        Ok(Self { layout, header })
    }

    /// Where the header ends and the first tag begins.
    pub(super) fn header_len(&self) -> usize {
        // Behind the last item that there can be.
        let (end, _) = self.layout.item(TAGS_MAX);
        let least = usize::try_from(end).unwrap_or_default();
        least.max(FILE_HEADER_LEN as usize).next_multiple_of(PAGE_UNIT as usize)
    }

    /// Writes the header of a file of so many bytes.
    pub(super) fn put_header(&self, file: &mut [u8], tags: &[ListedTag]) {
        let pages = file.len() as u64 / PAGE_UNIT;
        put(file, 0, &self.header);
        put_u32(file, 32, u32::try_from(pages).unwrap_or(u32::MAX));
        // No page is free.
        put(file, 36, &[0; 8]);
        let items: Vec<_> = tags.iter().map(|tag| self.layout.new_item(tag)).collect();
        self.layout.put_list(items, file);
    }

    /// The name of a tag as the list has it.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a name that is too long or there already, and a list that has its `most` tags.
    pub(super) fn name<'a>(
        &self,
        order: &OrderSpec,
        codepage: CodePage,
        known: impl Iterator<Item = &'a [u8]>,
        most: usize,
    ) -> crate::error::Result<Vec<u8>> {
        let name = order.encode(codepage, &order.name.to_uppercase())?;
        let longest = self.layout.name_len() - 1;
        if name.is_empty() || name.len() > longest {
            return Err(order.refuse(&format!("a name of {} bytes, not 1 to {longest}", name.len())));
        }
        let mut count = 0;
        for known in known {
            if known == name {
                return Err(order.refuse("already exists"));
            }
            count += 1;
        }
        if count >= most {
            return Err(order.refuse(&format!("the file has its {most} orders already")));
        }
        Ok(name)
    }

    /// The header of a tag without its root, and its keys.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for what the header cannot hold.
    pub(super) fn tag_header(
        &self,
        order: &OrderSpec,
        codepage: CodePage,
    ) -> crate::error::Result<(Vec<u8>, KeyBytes)> {
        let (letter, form, trail) = match order.key_type {
            KeyType::Character => (b'C', KeyForm::Plain, b' '),
            KeyType::Number => (b'N', KeyForm::Decimal, 0),
            KeyType::Date => (b'D', KeyForm::Double, 0),
            other => return Err(order.refuse(&format!("an MDX has no keys of type {}", other.letter()))),
        };
        let keys = KeyBytes {
            form,
            ..KeyBytes::plain(order.key_len, trail)
        };
        let entry_len = entry(keys.stored_len());
        if !(1..=NEW_KEY_LEN_MAX).contains(&order.key_len) {
            return Err(order.refuse_key_len(NEW_KEY_LEN_MAX));
        }
        if order.is_custom {
            return Err(order.refuse("an MDX has no custom orders"));
        }
        let expression = order.encode(codepage, &order.expression)?;
        let condition = order.encode(codepage, order.condition.as_deref().unwrap_or_default())?;
        let room = EXPRESSION_LEN - 1;
        if expression.is_empty() || expression.len().max(condition.len()) > room {
            let found = expression.len().max(condition.len());
            return Err(order.refuse(&format!("an expression of {found} bytes, not 1 to {room}")));
        }
        if !condition.is_empty() && self.layout.page_len < CONDITION_AT + EXPRESSION_LEN {
            return Err(order.refuse("a block of 512 bytes has no room for a FOR"));
        }
        let mut header = vec![0; self.layout.page_len];
        let is_field = expression
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
        let mut format = if is_field { FORMAT_FIELD } else { 0 };
        format |= if order.is_descending { FORMAT_DESCENDING } else { 0 };
        format |= if order.is_unique { FORMAT_UNIQUE } else { 0 };
        let language = self.header.get(31).copied().unwrap_or_default();
        put(&mut header, 8, &[format, letter, 0, language]);
        put_u16(&mut header, 12, keys.stored_len());
        put_u16(&mut header, 14, self.layout.room(keys));
        put_u16(&mut header, 16, (order.key_type == KeyType::Date).into());
        put_u16(&mut header, 18, entry_len);
        put(&mut header, 20, &[2, 0, 0, order.is_unique.into()]);
        put(&mut header, 24, &expression);
        put(&mut header, 245, &[u8::from(!condition.is_empty()), 1]);
        put(&mut header, 257, self.header.get(44..47).unwrap_or_default());
        put(&mut header, 480, &[1]);
        put(&mut header, CONDITION_AT, &condition);
        Ok((header, keys))
    }

    /// Writes where the tree of a tag is into its header, which is at `at` of the file.
    pub(super) fn put_tree(&self, header: &mut [u8], tree: Packed, tree_len: usize) {
        put_u32(header, 0, tree.root);
        put_u32(
            header,
            4,
            u32::try_from(tree_len / PAGE_UNIT as usize).unwrap_or(u32::MAX),
        );
        put_u32(header, 248, tree.first);
        put_u32(header, 252, tree.last);
    }
}

/// What the list says of a new tag.
#[derive(Debug, Clone)]
pub(super) struct ListedTag {
    pub(super) name: Vec<u8>,
    /// The page of its header.
    pub(super) page: u32,
    pub(super) format: u8,
    pub(super) letter: u8,
}

impl ListedTag {
    /// A tag whose header is at `page`.
    pub(super) fn new(name: Vec<u8>, page: u32, header: &[u8]) -> Self {
        let [format, letter] = [8, 9].map(|at| header.get(at).copied().unwrap_or_default());
        Self {
            name,
            page,
            format,
            letter,
        }
    }
}

/// The list of tags, whose items are kept as they are.
impl Mdx {
    /// How many tags the list has room for in a file whose headers of tags and pages may begin at any place behind
    /// [`FILE_HEADER_LEN`]. Files that are made here have room for all that there can be.
    pub(super) fn list_room(self) -> usize {
        let (begin, len) = self.item(0);
        let room = usize::try_from(FILE_HEADER_LEN - begin).unwrap_or_default() / len;
        room.min(TAGS_MAX)
    }

    /// The bytes of the header that so many items of the list reach to.
    pub(super) fn list_end(self, tags: usize) -> usize {
        let (end, _) = self.item(tags);
        usize::try_from(end).unwrap_or(usize::MAX)
    }

    /// The items of the list in a header that has them whole.
    pub(super) fn items(self, header: &[u8], tags: usize) -> Vec<Vec<u8>> {
        let items = (0..tags).map(|at| {
            let (begin, end) = (self.list_end(at), self.list_end(at + 1));
            header.get(begin..end).unwrap_or_default().to_vec()
        });
        items.collect()
    }

    /// The name in an item of the list.
    pub(super) fn item_name(self, item: &[u8]) -> &[u8] {
        let name = item.get(4..4 + self.name_len()).unwrap_or_default();
        name.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    pub(super) fn new_item(self, tag: &ListedTag) -> Vec<u8> {
        let mut item = vec![0; self.item_len];
        let end = 4 + self.name_len();
        put_u32(&mut item, 0, tag.page);
        put(&mut item, 4, &tag.name);
        put(&mut item, end, &[tag.format & FORMAT_FIELD]);
        put(&mut item, end + 4, &[2, tag.letter]);
        item
    }

    /// Writes the list and the number of its items into a header that has room for it, and zeros over what is left of a longer list.
    pub(super) fn put_list(self, mut items: Vec<Vec<u8>>, header: &mut [u8]) {
        let old = u16_le(header, 28).unwrap_or_default();
        for left in items.len()..old.max(items.len()) {
            put(header, self.list_end(left), &vec![0; self.item_len]);
        }
        put_u16(header, 28, items.len());
        // Later versions of dBASE, and the Borland Database Engine, have the number of the next tag here.
        if header.get(30).is_some_and(|next| *next != 0) {
            put(header, 30, &[u8::try_from(items.len() + 1).unwrap_or(u8::MAX)]);
        }
        let threads = threads(&items.iter().map(|item| self.item_name(item)).collect::<Vec<_>>());
        for (at, (item, thread)) in items.iter_mut().zip(threads).enumerate() {
            put(item, 5 + self.name_len(), &thread);
            put(header, self.list_end(at), item);
        }
    }

    /// Names the pages anew of a tree that was packed for another place, and of the header before it.
    pub(super) fn move_tag(self, tag: &mut [u8], keys: KeyBytes, moved: impl Fn(u32) -> u32) {
        let (header, tree) = tag.split_at_mut(self.page_len.min(tag.len()));
        let put_moved = |bytes: &mut [u8], at: usize| {
            if let Some(page) = u32_le(bytes, at).ok().filter(|page| *page != 0) {
                put_u32(bytes, at, moved(page));
            }
        };
        for at in [0, 248, 252] {
            put_moved(header, at);
        }
        for page in tree.chunks_exact_mut(self.page_len) {
            put_moved(page, 4);
            let Ok((count, highest)) = self.count(page, keys) else {
                continue;
            };
            if highest != 0 {
                (0..=count).for_each(|slot| put_moved(page, PAGE_HEADER + slot * entry(keys.stored_len())));
            }
        }
    }
}

/// The numbers, from 1, of the tags whose names come before and behind each one, and of the one above it: a tree of names, in which
/// a tag takes the place where it is looked for.
fn threads(names: &[&[u8]]) -> Vec<[u8; 3]> {
    let mut threads = vec![[0; 3]; names.len()];
    for (new, name) in names.iter().enumerate().skip(1) {
        let (mut above, number) = (0, new as u8 + 1);
        // No path is longer than the tags that there are.
        for _ in 0..new {
            let is_behind = names.get(above).is_some_and(|known| name > known);
            let Some(next) = threads
                .get_mut(above)
                .and_then(|thread| thread.get_mut(usize::from(is_behind)))
            else {
                break;
            };
            if *next == 0 {
                *next = number;
                break;
            }
            above = usize::from(*next) - 1;
        }
        if let Some([_, _, place]) = threads.get_mut(new) {
            *place = above as u8 + 1;
        }
    }
    threads
}

/// The pages of a new file have as many bytes as dBASE's do unless told otherwise.
const PAGE_LEN: usize = 1024;
/// dBASE makes no longer keys.
const NEW_KEY_LEN_MAX: usize = 100;
const CONDITION_AT: usize = 762;
const FORMAT_FIELD: u8 = 0x10;
