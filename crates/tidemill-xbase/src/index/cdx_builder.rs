//! Builds a CDX file in one go: keys are sorted, and packed into pages that are full.
//!
//! Pages are packed and placed as Harbour's DBFCDX does it when it makes an index over a table: its files come out byte for
//! byte. A leaf is closed when the next key does not fit, a branch when it has all the keys that it can have; a page takes the
//! next free place when it is begun.
//!
//! Not here: the keys, which come from who evaluates expressions; sorting outside of memory; and files with pages longer than
//! 512 bytes.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::cdx::{
    BRANCH_HEADER, HARBOUR, HEADER_LEN, KEY_LEN_MAX, LEAF_HEADER, NAME_LEN, OPTION_COMPACT, OPTION_COMPOUND,
    OPTION_CUSTOM, OPTION_DIRECTORY, OPTION_FOR, OPTION_UNIQUE, PAGE_LEN,
};
use super::collation::Collation;
use super::key::{KeyCodec, KeyEncoding, KeyOrder, KeyType};
use super::tag::Tag;

/// What a new order is.
#[derive(Debug, Clone)]
pub struct OrderSpec {
    name: String,
    expression: String,
    key_type: KeyType,
    key_len: usize,
    condition: Option<String>,
    is_unique: bool,
    is_descending: bool,
    is_custom: bool,
    collation: Collation,
}

impl OrderSpec {
    /// An ascending order of every record.
    pub fn new(name: impl Into<String>, expression: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            expression: expression.into(),
            key_type: KeyType::Character,
            key_len: 0,
            condition: None,
            is_unique: false,
            is_descending: false,
            is_custom: false,
            collation: Collation::binary(),
        }
    }

    /// The type of the keys, and the length of each: 8 for numbers (4 for integers), dates and times, 1 for logicals, up to
    /// 240 for text. [`build_index`](crate::build_index) takes them from the expression.
    #[must_use]
    pub fn keys(mut self, key_type: KeyType, key_len: usize) -> Self {
        (self.key_type, self.key_len) = (key_type, key_len);
        self
    }

    /// The FOR expression that chose the records. Default: none.
    #[must_use]
    pub fn condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Keeps only the first record of each key. Default: false.
    #[must_use]
    pub fn unique(mut self, is_unique: bool) -> Self {
        self.is_unique = is_unique;
        self
    }

    /// From the highest key to the lowest. Default: false.
    #[must_use]
    pub fn descending(mut self, is_descending: bool) -> Self {
        self.is_descending = is_descending;
        self
    }

    /// Keys are added and dropped by the program alone. Default: false.
    #[must_use]
    pub fn custom(mut self, is_custom: bool) -> Self {
        self.is_custom = is_custom;
        self
    }

    /// How text is sorted. Default: by bytes.
    #[must_use]
    pub fn collation(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_custom(&self) -> bool {
        self.is_custom
    }

    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }

    pub(crate) fn for_expression(&self) -> Option<&str> {
        self.condition.as_deref()
    }
}

impl From<&Tag> for OrderSpec {
    /// An order as one that is there, its keys of another type than text without their type.
    fn from(tag: &Tag) -> Self {
        Self {
            condition: tag.condition.clone(),
            is_unique: tag.is_unique,
            is_descending: tag.is_descending,
            is_custom: tag.is_custom,
            ..Self::new(&tag.name, &tag.expression).keys(tag.key_type.unwrap_or(KeyType::Character), tag.key_len)
        }
    }
}

/// Makes the bytes of a CDX file, order by order.
#[derive(Debug)]
pub struct CdxBuilder {
    file: Vec<u8>,
    codepage: CodePage,
    record_count: u32,
    names: Vec<(Vec<u8>, u32)>,
}

impl CdxBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub fn new(record_count: u32, codepage: CodePage) -> Self {
        Self {
            // The first page of the directory stands right behind the header, whatever comes later.
            file: vec![0; HEADER_LEN + PAGE_LEN],
            codepage,
            record_count,
            names: Vec::new(),
        }
    }

    /// Adds an order with the given keys, each of the order's key length, and their records, in any order. The keys are
    /// sorted in memory.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a name or an expression that the file cannot hold, a name that is there already, a key of
    /// another length, a record that the table does not have, and a file that grows beyond 4 GiB.
    pub fn add<K: AsRef<[u8]>>(
        &mut self,
        order: &OrderSpec,
        entries: impl IntoIterator<Item = (K, u32)>,
    ) -> Result<()> {
        let refuse = |why: String| Err(Error::Misuse(format!("order {}: {why}", order.name)));
        let (key_type, len) = (order.key_type, order.key_len);
        let codec = KeyCodec {
            key_type,
            len,
            encoding: KeyEncoding::Binary,
        }
        .check(&order.name)?;
        if !(1..=KEY_LEN_MAX).contains(&len) {
            return refuse(format!("keys of {len} bytes, not 1 to {KEY_LEN_MAX}"));
        }
        let mut name = self.encode(order, &order.name.to_uppercase())?;
        if name.is_empty() || name.len() > NAME_LEN {
            return refuse(format!("a name of {} bytes, not 1 to {NAME_LEN}", name.len()));
        }
        name.resize(NAME_LEN, b' ');
        if self.names.iter().any(|(known, _)| *known == name) {
            return refuse("is there already".to_owned());
        }
        let header = self.header(order)?;
        let (mut keys, mut recnos) = (Vec::new(), Vec::new());
        for (key, recno) in entries {
            let key = key.as_ref();
            if key.len() != len {
                return refuse(format!("a key of {} bytes, not {len}", key.len()));
            }
            if recno == 0 || recno > self.record_count {
                return refuse(format!("record {recno} of a table of {}", self.record_count));
            }
            keys.extend_from_slice(key);
            recnos.push(recno);
        }
        let sorting = KeyOrder::new(key_type, &order.collation, false);
        let mut sorted: Vec<(&[u8], u32)> = keys.chunks_exact(len).zip(recnos).collect();
        sorted.sort_unstable_by(|a, b| sorting.compare(a.0, b.0).then(a.1.cmp(&b.1)));
        if order.is_unique {
            sorted.dedup_by(|a, b| sorting.compare(a.0, b.0).is_eq());
        }
        let at = self.file.len();
        self.file.extend_from_slice(&header);
        let place =
            |at: usize| u32::try_from(at).map_err(|_| Error::Misuse("a CDX file of more than 4 GiB".to_owned()));
        let mut packer = Packer::new(&mut self.file, None, len, codec.trail(), self.record_count);
        for (key, recno) in sorted {
            packer.add(key, recno);
        }
        let root = place(packer.finish())?;
        place(self.file.len())?;
        put(&mut self.file, at, &root.to_le_bytes());
        self.names.push((name, place(at)?));
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a file that grows beyond 4 GiB.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.names.sort_unstable();
        let last = self.names.iter().map(|(_, header)| *header).max().unwrap_or_default();
        let mut packer = Packer::new(&mut self.file, Some(HEADER_LEN), NAME_LEN, b' ', last);
        for (name, header) in &self.names {
            packer.add(name, *header);
        }
        let root = packer.finish();
        let root = u32::try_from(root).map_err(|_| Error::Misuse("a CDX file of more than 4 GiB".to_owned()))?;
        let options = OPTION_DIRECTORY | OPTION_COMPOUND | OPTION_COMPACT;
        let mut header = header_page(NAME_LEN, options, false, &[], &[]);
        put(&mut header, 0, &root.to_le_bytes());
        put(&mut header, 20, &HARBOUR);
        put(&mut self.file, 0, &header);
        Ok(self.file)
    }

    fn header(&self, order: &OrderSpec) -> Result<Vec<u8>> {
        let expression = self.encode(order, &order.expression)?;
        let condition = self.encode(order, order.condition.as_deref().unwrap_or_default())?;
        // Both texts end in a NUL.
        let room = HEADER_LEN - PAGE_LEN - 2;
        if expression.is_empty() || expression.len() + condition.len() > room {
            let found = expression.len() + condition.len();
            return Err(Error::Misuse(format!(
                "order {}: expressions of {found} bytes, not 1 to {room}",
                order.name
            )));
        }
        let mut options = OPTION_COMPACT | OPTION_COMPOUND;
        for (is_set, option) in [
            (order.is_unique, OPTION_UNIQUE),
            (order.is_custom, OPTION_CUSTOM),
            (!condition.is_empty(), OPTION_FOR),
        ] {
            options |= if is_set { option } else { 0 };
        }
        Ok(header_page(
            order.key_len,
            options,
            order.is_descending,
            &expression,
            &condition,
        ))
    }

    fn encode(&self, order: &OrderSpec, text: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.codepage.encode(text, &mut bytes) {
            Ok(()) if !bytes.contains(&0) => Ok(bytes),
            Ok(()) => Err(Error::Misuse(format!("order {}: a text with a NUL", order.name))),
            Err(c) => Err(Error::Misuse(format!(
                "order {}: {} has no {c:?}",
                order.name, self.codepage
            ))),
        }
    }
}

/// A header without its root. The key's text begins the pool, that of the condition follows.
fn header_page(key_len: usize, options: u8, is_descending: bool, expression: &[u8], condition: &[u8]) -> Vec<u8> {
    let mut header = vec![0; HEADER_LEN];
    let texts = PAGE_LEN;
    let (key_text, for_text) = (expression.len() + 1, condition.len() + 1);
    for (at, number) in [
        (12, key_len),
        (16, HEADER_LEN),
        (18, PAGE_LEN),
        (502, usize::from(is_descending)),
        (504, key_text),
        (506, for_text),
        (510, key_text),
    ] {
        put_u16(&mut header, at, number);
    }
    put(&mut header, 14, &[options, 1]);
    put(&mut header, texts, expression);
    put(&mut header, texts + key_text, condition);
    header
}

/// Packs sorted keys into the pages of one tree.
struct Packer<'a> {
    file: &'a mut Vec<u8>,
    /// A place that is kept for the first page.
    first_page: Option<usize>,
    key_len: usize,
    trail: u8,
    count_bits: u32,
    recno_bits: u32,
    /// The bytes of a leaf's entry.
    width: usize,
    /// The open page of each level, leaves first.
    levels: Vec<OpenPage>,
    last: Vec<u8>,
    last_recno: u32,
}

struct OpenPage {
    at: usize,
    left: usize,
    count: usize,
    /// What has been written of the entries.
    entries: Vec<u8>,
    /// A leaf's texts: they grow from the page's end, the last one first.
    texts: Vec<u8>,
    /// A branch's last record.
    last_recno: u32,
}

/// No page.
const NONE: usize = 0xFFFF_FFFF;

impl<'a> Packer<'a> {
    fn new(file: &'a mut Vec<u8>, first_page: Option<usize>, key_len: usize, trail: u8, last_recno: u32) -> Self {
        let count_bits = usize::BITS - key_len.leading_zeros();
        // Three bytes hold the counts of keys to 240 bytes, and at least 8 bits of the record.
        let mut width = 3;
        let recno_bits = |width: u32| 8 * width - 2 * count_bits;
        while u64::from(last_recno) >= 1 << recno_bits(width) {
            width += 1;
        }
        Self {
            file,
            first_page,
            key_len,
            trail,
            count_bits,
            recno_bits: recno_bits(width),
            width: width as usize,
            levels: Vec::new(),
            last: Vec::new(),
            last_recno: 0,
        }
    }

    fn add(&mut self, key: &[u8], recno: u32) {
        let trailing = key.iter().rev().take_while(|byte| **byte == self.trail).count();
        let room = self.key_len - trailing;
        let mut shared = key
            .iter()
            .zip(&self.last)
            .take(room)
            .take_while(|(a, b)| a == b)
            .count();
        let free = self
            .levels
            .first()
            .map(|leaf| PAGE_LEN - LEAF_HEADER - leaf.count * self.width - leaf.texts.len());
        if free.is_none_or(|free| free < self.key_len - shared - trailing + self.width) {
            shared = 0;
            let last = std::mem::take(&mut self.last);
            self.begin_page(0, &last, self.last_recno);
        }
        let own = key.get(shared..self.key_len - trailing).unwrap_or_default();
        let counts = (trailing << self.count_bits | shared) as u64;
        let packed = u64::from(recno) | counts << (8 * self.width as u32 - 2 * self.count_bits);
        if let Some(leaf) = self.levels.first_mut() {
            leaf.entries
                .extend_from_slice(packed.to_le_bytes().get(..self.width).unwrap_or_default());
            leaf.texts.splice(0..0, own.iter().copied());
            leaf.count += 1;
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.last_recno = recno;
    }

    /// The place of the root.
    fn finish(mut self) -> usize {
        if self.levels.is_empty() {
            self.begin_page(0, &[], 0);
        }
        let last = std::mem::take(&mut self.last);
        let mut level = 0;
        loop {
            let at = self.levels.get(level).map_or(0, |page| page.at);
            let is_root = level + 1 == self.levels.len();
            if !is_root {
                self.add_branch(level + 1, &last, self.last_recno, at);
            }
            self.close_page(level, NONE, is_root);
            if is_root {
                return at;
            }
            level += 1;
        }
    }

    fn add_branch(&mut self, level: usize, key: &[u8], recno: u32, below: usize) {
        let most = (PAGE_LEN - BRANCH_HEADER) / (self.key_len + 8);
        if self.levels.get(level).is_none_or(|page| page.count >= most) {
            let (last, last_recno) = self.levels.get(level).map_or((Vec::new(), 0), |page| {
                let begin = (page.count - 1) * (self.key_len + 8);
                (
                    page.entries
                        .get(begin..begin + self.key_len)
                        .unwrap_or_default()
                        .to_vec(),
                    page.last_recno,
                )
            });
            self.begin_page(level, &last, last_recno);
        }
        if let Some(page) = self.levels.get_mut(level) {
            page.entries.extend_from_slice(key);
            page.entries.extend_from_slice(&recno.to_be_bytes());
            page.entries.extend_from_slice(&(below as u32).to_be_bytes());
            page.last_recno = recno;
            page.count += 1;
        }
    }

    /// Begins a page on a level. The one that was open there gets an entry in the branch above.
    fn begin_page(&mut self, level: usize, last: &[u8], last_recno: u32) {
        let at = self.first_page.take().unwrap_or_else(|| {
            let at = self.file.len();
            self.file.resize(at + PAGE_LEN, 0);
            at
        });
        let before = self.levels.get(level).map(|page| page.at);
        if let Some(before) = before {
            self.add_branch(level + 1, last, last_recno, before);
            self.close_page(level, at, false);
        }
        let page = OpenPage {
            at,
            left: before.unwrap_or(NONE),
            count: 0,
            entries: Vec::new(),
            texts: Vec::new(),
            last_recno: 0,
        };
        match self.levels.get_mut(level) {
            Some(open) => *open = page,
            None => self.levels.push(page),
        }
    }

    fn close_page(&mut self, level: usize, right: usize, is_root: bool) {
        let Some(open) = self.levels.get(level) else { return };
        let mut page = vec![0; PAGE_LEN];
        put_u16(&mut page, 0, usize::from(is_root) + if level == 0 { 2 } else { 0 });
        put_u16(&mut page, 2, open.count);
        put(&mut page, 4, &(open.left as u32).to_le_bytes());
        put(&mut page, 8, &(right as u32).to_le_bytes());
        if level == 0 {
            let count_mask = (1_u32 << self.count_bits) - 1;
            // The bits of a record may be more than 32, those of its mask not.
            let recno_mask = u32::MAX >> 32_u32.saturating_sub(self.recno_bits);
            put_u16(
                &mut page,
                12,
                PAGE_LEN - LEAF_HEADER - open.entries.len() - open.texts.len(),
            );
            put(&mut page, 14, &recno_mask.to_le_bytes());
            let bits = [self.recno_bits, self.count_bits, self.count_bits];
            let [recno, shared, trailing] = bits.map(|bits| bits as u8);
            put(
                &mut page,
                18,
                &[
                    count_mask as u8,
                    count_mask as u8,
                    recno,
                    shared,
                    trailing,
                    self.width as u8,
                ],
            );
            put(&mut page, LEAF_HEADER, &open.entries);
            put(&mut page, PAGE_LEN - open.texts.len(), &open.texts);
        } else {
            put(&mut page, BRANCH_HEADER, &open.entries);
        }
        put(self.file, open.at, &page);
    }
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + new.len()) {
        place.copy_from_slice(new);
    }
}

/// Numbers within a page: they are less than 65536.
fn put_u16(bytes: &mut [u8], at: usize, number: usize) {
    put(bytes, at, &(number as u16).to_le_bytes());
}
